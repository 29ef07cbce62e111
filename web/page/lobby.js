// SPDX-License-Identifier: MIT
// lobby.js: the live list of a server's sessions, with links that join or watch them, and a form
// that creates one if the server allows it. A link with a target continues there.
const EVERY_MS = 1000;
const $ = (id) => document.getElementById(id);

function goOn() {
    const given = new URLSearchParams(location.hash.slice(1));
    if (["session", "name", "watch", "token"].some((key) => given.has(key))) location.replace("index.html" + location.hash);
}
goOn();
addEventListener("hashchange", goOn);

function link(text, session, also) {
    const a = document.createElement("a");
    a.className = "button";
    a.textContent = text;
    a.href = "index.html#" + new URLSearchParams({ session, ...also });
    return a;
}

// Unchanged rows are kept, so that a link is not lost while it is clicked.
const rows = new Map();
function rowOf(session) {
    let row = rows.get(session.name);
    if (!row) {
        row = document.createElement("tr");
        for (let i = 0; i < 6; i++) row.insertCell();
        row.dataset.session = session.name;
        row.cells[0].textContent = session.name;
        rows.set(session.name, row);
    }
    const full = session.players >= session.player_limit;
    const texts = [session.scene, `${session.players} of ${session.player_limit}`, session.spectators,
        session.state === "running" ? session.tick : `${session.tick}, ${session.state}`];
    texts.forEach((text, i) => {
        if (row.cells[i + 1].textContent !== String(text)) row.cells[i + 1].textContent = text;
    });
    if (row.dataset.full !== String(full)) {
        row.dataset.full = full;
        row.cells[5].replaceChildren(...(full ? [] : [link("Join", session.name, {})]), " ", link("Watch", session.name, { watch: 1 }));
    }
    return row;
}

function show({ sessions, count, create }) {
    const shown = sessions.map(rowOf);
    for (const name of [...rows.keys()]) if (!sessions.some((s) => s.name === name)) rows.delete(name);
    const body = $("sessions").tBodies[0];
    if (shown.length !== body.rows.length || shown.some((row, i) => row !== body.rows[i])) body.replaceChildren(...shown);
    $("sessions").hidden = sessions.length === 0;
    $("create").hidden = !create;
    $("about").textContent = count === 1 ? "1 session" : `${count} sessions`;
    $("message").textContent = count === 0 ? "No session is running." : count > sessions.length ? `The first ${sessions.length} of ${count} are listed.` : "";
}

async function look() {
    try {
        const response = await fetch("sessions.json", { cache: "no-store" });
        const answer = await response.json();
        if (response.ok) show(answer);
        else $("message").textContent = sentence(answer.error ?? response.statusText);
    } catch {
        $("message").textContent = "The server does not answer. This page tries again.";
    }
    setTimeout(look, document.hidden ? 5 * EVERY_MS : EVERY_MS);
}

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (text.endsWith(".") ? "" : ".");

$("create").addEventListener("submit", async (event) => {
    event.preventDefault();
    const body = JSON.stringify({ name: $("name").value.trim(), scene: $("scene").value.trim() });
    $("created").textContent = "Creating …";
    try {
        const response = await fetch("v1/sessions", { method: "POST", body, headers: { authorization: "Bearer " + $("token").value } });
        const answer = await response.json();
        $("created").textContent = response.ok ? "It is running." : sentence(answer.error ?? response.statusText);
        if (response.ok) $("name").value = "";
    } catch {
        $("created").textContent = "The server does not answer.";
    }
});

look();
