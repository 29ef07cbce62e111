// SPDX-License-Identifier: MIT
// board.js: shows the variables of a session: the scoreboard, and the clock. It is loaded after the
// first pictures, with its style sheet, if a session has variables.
const $ = (id) => document.getElementById(id);

// Variables that begin with "score." are the scoreboard; without any, all are shown.
function showScores({ vars, players }) {
    const nameOf = (key) => (Object.hasOwn(players, key) ? players[key] : key);
    const scores = vars.filter(([key]) => key.startsWith("score."));
    const rows = (scores.length ? scores.map(([key, value]) => [nameOf(key.slice(6)), value]) : vars).slice(0, 12);
    if (scores.length) rows.sort((a, b) => b[1] - a[1]);
    $("board").hidden = rows.length === 0;
    $("board").querySelector("tbody").replaceChildren(...rows.map((row) => {
        const tr = document.createElement("tr");
        for (const text of row) tr.insertCell().textContent = text;
        return tr;
    }));
}

// The variable "clock" is seconds, shown large, with "phase" next to it, unless that is "play".
function showClock(about) {
    const vars = Object.fromEntries(about.vars), counts = Number.isInteger(vars.clock);
    const seconds = Math.max(0, Math.min(vars.clock, 5999)), phase = vars.phase && vars.phase !== "play" ? String(vars.phase) : "";
    const time = counts ? `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}` : "";
    $("clock").hidden = !time && !phase;
    $("clock").textContent = [time, phase].filter(Boolean).join(" ");
    $("clock").classList.toggle("last", counts && seconds <= 10);
}

// Returns the function that shows them, once the style sheet is loaded.
export function load() {
    const sheet = Object.assign(document.createElement("link"), { rel: "stylesheet", href: "board.css" });
    document.head.append(sheet);
    return new Promise((done) => {
        sheet.onload = sheet.onerror = () => done((about) => {
            showScores(about);
            showClock(about);
        });
    });
}
