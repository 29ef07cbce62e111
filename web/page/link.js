// SPDX-License-Identifier: MIT
// link.js: the proof that the page sends first if a server requires one: the token of its link, or
// a password. A token is valid for one page; with the secret that it sends along, the same page
// returns after a reload. Neither stays in the address bar, where others look.
const SIGNAL = 2;
const TOKEN = 1, PASSWORD = 2; // kinds of signals
const KEY = "foliot.link";
const encoder = new TextEncoder();

let token = "";
let secret = null;

const toHex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (b) => parseInt(b, 16));

// `given`: the text after the '#'; the token is removed from it.
export function takeLink(given) {
    let kept = ["", ""];
    try {
        kept = (sessionStorage.getItem(KEY) ?? " ").split(" ");
    } catch { /* a private window keeps nothing */ }
    token = given.get("token") ?? kept[0];
    if (!token) return;
    secret = token === kept[0] ? fromHex(kept[1]) : crypto.getRandomValues(new Uint8Array(32));
    try {
        sessionStorage.setItem(KEY, `${token} ${toHex(secret)}`);
        given.delete("token");
        history.replaceState(null, "", location.pathname + location.search + (given.toString() ? "#" + given : ""));
    } catch { /* then the link stays where it is */ }
}

const joined = (...parts) => {
    const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    parts.reduce((at, part) => (bytes.set(part, at), at + part.length), 0);
    return bytes;
};

// The first message; null: none.
export function proof(password) {
    if (password) return joined([SIGNAL, PASSWORD], encoder.encode(password));
    return token ? joined([SIGNAL, TOKEN], secret, encoder.encode(token)) : null;
}
