// SPDX-License-Identifier: MIT
// session.js: the page of a session: joins through a WebSocket, draws the client library's picture,
// sends the player's controls and chat. All decisions about the network are made in viewer.wasm;
// this file moves bytes. A hidden tab stays connected, since messages drive it too.
import { Channel } from "./channel.js";
import { Controls } from "./controls.js";
import { Camera, Painter } from "./draw.js";
import { load } from "./wasm.js";

const PLAYING = 2; // states of include/foliot/client.h
const OVER = 3; // and beyond: refused, closed, lost
const EVENT = { joined: 0, left: 1, message: 6, chat: 7, ended: 9 };
const SAID_MAX = 8;
const TOO_LONG = -1; // status of the library
const ABOUT_MS = 250;
// Further parts of the page, and its data channel, are loaded after the first pictures; or after
// this time, if there are none.
const CALM_MS = 1000;
const FIRST = 4;
const isRefusal = (code) => code >= 4005 && code <= 4009; // there was no proof, or a wrong one
const WANTS_PASSWORD = 4009;
const REASON_BASE = 4000; // close codes of a WebSocket from here on: reasons of the transport
const NEXT = 4301; // another scene follows
const UNRELIABLE = 0, SIGNAL = 2; // first bytes of messages
const THRUST = 1; // controls push along the world's axes

const $ = (id) => document.getElementById(id);
const now = () => performance.now();
const given = new URLSearchParams(location.hash.slice(1));

let viewer = null;
let socket = null;
let painter = null;
let camera = null;
let controls = null;
let state = -1;
let about = {};
let known = {}; // players whose presence was shown
let asked = 0; // when `about` was asked for
let follows = true;
let sent = "";
let link = null; // link.js, where there is something to show
let blind = ""; // why there is no picture
let played = false; // since the last join
let others = 0; // answers of a server that gives no socket
let closed = 0; // the code that the last socket was closed with
let refusal = ""; // why the server let the page in no further
let picture = 0;
let calm = false; // the first pictures are shown, and all else may come
let cost = 0, drawing = 0; // of a frame, ms: its scripts, and WebGL, which a slow machine does within its calls
let board = null; // the promise of board.js
let extras = null, loading = null; // extras.js, and the promise of it
let near = false; // the session sends each what is near alone
let stepper = null; // stepper.js and its module, once the player has wanted to step
const frames = [];

function message(text) {
    const p = $("message").firstElementChild;
    p.textContent = text;
    p.hidden = !text;
}

// A server that has a page but no socket; a server that is just starting has neither for a moment.
async function isOther() {
    const answer = await fetch("./", { cache: "no-store" }).catch(() => null);
    others = answer?.ok ? others + 1 : 0;
    return others > (played ? 2 : 0);
}

// -- the socket that the module requests, and the channel in addition to it

function take(bytes) {
    if (bytes.length > viewer.call.block_bytes()) return;
    viewer.put(viewer.call.block(), bytes);
    viewer.call.received(bytes.length);
    update();
}

const channel = new Channel((kind, text) => {
    if (socket?.readyState === WebSocket.OPEN) socket.send(new Uint8Array([SIGNAL, kind, ...new TextEncoder().encode(text)]));
}, take);

const page = {
    connect() {
        const own = (socket = window.early?.readyState < WebSocket.CLOSING ? window.early : new WebSocket(`ws${location.origin.slice(4)}/ws`, "foliot.1"));
        window.early = null; // of index.html, before this file was here
        own.binaryType = "arraybuffer";
        own.onopen = () => {
            if (own !== socket) return;
            own.was = true;
            others = 0;
            const first = link?.proof($("password").value);
            if (first) own.send(first);
            viewer.call.opened();
            update();
        };
        own.onmessage = ({ data }) => {
            if (own !== socket || typeof data === "string") return;
            const bytes = new Uint8Array(data);
            if (bytes[0] === SIGNAL) return channel.take(bytes.subarray(1));
            if (bytes[0] === UNRELIABLE) channel.flows = null;
            take(bytes);
        };
        own.onclose = async ({ code, reason }) => {
            if (own !== socket) return;
            socket = null;
            closed = code;
            channel.close();
            if (isRefusal(code)) return refuse(code, reason);
            if (!own.was && await isOther()) return refuse(code, "the server has another version: reload this page");
            if (socket) return; // joined again meanwhile
            viewer.call.closed(code >= REASON_BASE ? code - REASON_BASE : 1);
            setTimeout(update); // not within a call of the module
        };
        if (own.readyState === WebSocket.OPEN) queueMicrotask(own.onopen); // nor this
    },
    async want_tables() { // the session sends each what is near alone
        near = true;
        const to = viewer, tables = new Uint8Array(await fetch("tables.bin").then((r) => r.arrayBuffer()).catch(() => 0)); // it asks again
        const at = to.call.tables(tables.length);
        if (at) to.call.tables_come(to.put(at, tables));
    },
    disconnect(reason) {
        const own = socket;
        socket = null;
        channel.close();
        own?.close(REASON_BASE + Math.min(reason, 999));
    },
    send(reliable, at, length) {
        if (socket?.readyState !== WebSocket.OPEN) return;
        if (!reliable && (channel.send(viewer.bytes(at, length)) || socket.bufferedAmount > 16384)) return; // clogged: it would only come late
        const bytes = new Uint8Array(length + 1);
        bytes[0] = reliable;
        bytes.set(viewer.bytes(at, length), 1);
        socket.send(bytes);
    },
};

// -- the session

function update() {
    if (!viewer || state < 0 || state >= OVER) return;
    const before = state;
    if (state === PLAYING && !given.has("watch")) sendControls(); // first: for the tick that begins now
    state = viewer.call.update(now());
    document.body.dataset.state = state;
    if (state !== before) changed();
    if (state === PLAYING) for (const event of viewer.json(viewer.call.events())) hear(event);
    if (state !== PLAYING || calm) {
        if (now() - asked > ABOUT_MS) tell();
    } else if (picture > FIRST || now() - asked > CALM_MS) {
        calm = true;
        changed();
        tell();
        stepByDefault();
    } else if (picture === 0) {
        show(); // sooner than the next frame: the browser prepares what it draws with
    }
}

// Advice for the command line is left out.
const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1).replace(/( \(--\S+\))?([.?]?)$/, (all, option, mark) => mark || ".");

// The same proof would be refused again, so the client does not reconnect.
async function refuse(code, why) {
    refusal = sentence(why);
    state = OVER;
    document.body.dataset.state = state;
    changed();
    if (code !== WANTS_PASSWORD) return;
    link ??= await import("./link.js");
    $("secret").hidden = false;
    $("password").focus();
}

function changed() {
    const over = state >= OVER, plays = state === PLAYING, plain = !plays || given.has("watch");
    if (state < PLAYING && played) message(closed === NEXT ? "The next scene begins …" : "Connection lost. Trying again …");
    played ||= plays;
    if (plays) message(blind);
    if (plays && !calm) return void (asked = now());
    $("leave").hidden = over;
    $("step").hidden = $("say").hidden = $("pads").hidden = plain;
    $("talk").hidden = !plays;
    if (plays) channel.open();
    if (!over) return;
    about = viewer.json(viewer.call.about());
    message(refusal || sentence(about.reason === "left" ? "you have left" : about.reason || "the session is over"));
    $("about").textContent = $("figures").textContent = "";
    document.body.dataset.reason = refusal || about.reason;
    $("join").hidden = false;
    $("board").hidden = $("clock").hidden = true;
}

function say(text, kind) {
    const p = document.createElement("p");
    p.textContent = text;
    p.className = kind;
    $("said").append(p);
    while ($("said").children.length > SAID_MAX) $("said").firstChild.remove();
}

function hear(event) {
    if (event.kind === EVENT.chat) say(`<${event.from ?? "somebody"}> ${event.text}`, "chat"); // what the game says has no such name in front
    if (event.kind === EVENT.message && event.text) say(event.text, "event");
    if (event.kind === EVENT.joined && known[event.player] !== event.text) say(`${known[event.player] = event.text} is here`, "event");
    if (event.kind === EVENT.left && delete known[event.player]) say(`${event.text} has left`, "event");
    if (event.kind === EVENT.ended) say(`the session has ended: ${event.text}`, "event");
}

// Shows the session's variables, if it has any.
function showBoard() {
    if (!board && !about.vars.length) return;
    board ??= import("./board.js").then((all) => all.load());
    board.then((shows) => state === PLAYING && shows(about), () => (board = null)); // it is asked for again
}

function tell() {
    asked = now();
    about = viewer.json(viewer.call.about());
    if (about.state !== PLAYING) return;
    const players = Object.keys(about.players).length;
    $("about").textContent = `${about.scene}, ${players} ${players === 1 ? "player" : "players"}`;
    document.title = `foliot: ${about.scene}`;
    const rate = frames.filter((t) => t > asked - 1000).length;
    $("figures").textContent = `tick ${Math.floor(about.tick)}, ${viewer === stepper?.module ? stepper.describe(about, say) : `delay ${about.delay_ms.toFixed(0)} ms`}, ${rate} frames/s`;
    Object.assign(document.body.dataset, { tick: Math.floor(about.tick), player: about.player, own: about.own, frames: rate, drawing: drawing.toFixed(2), path: channel.flows ? "channel" : "socket" });
    showBoard();
}

// Controls are relative to the camera: converts them if they act along the world's axes.
function sendControls() {
    const { axes, buttons } = controls.read();
    let [right, forward] = axes;
    if (about.control === THRUST) {
        const c = Math.cos(camera.around), s = Math.sin(camera.around);
        [right, forward] = [-s * right - c * forward, c * right - s * forward];
    } else {
        [right, forward] = [forward, -right]; // a vessel's x is ahead, its y to the left
    }
    const long = Math.max(1, Math.abs(right), Math.abs(forward));
    const all = [right / long, forward / long, axes[2], axes[3]].map((a) => Math.round(a * 127));
    const text = all.join() + "," + buttons;
    if (text === sent) return;
    sent = text;
    viewer.call.set_input(...all, buttons);
}

// Names, joints, plots and the details of a body, which are loaded on demand.
function more() {
    loading ??= import("./extras.js").then((all) => (extras = new all.Extras(painter, camera)));
    loading.then(() => extras.toggle(), (error) => {
        loading = null;
        say(`${error.message}.`, "event");
    });
}

function frame() {
    requestAnimationFrame(frame);
    const began = now();
    update();
    show(began);
}

function show(began = now()) {
    if (state !== PLAYING || !painter || painter.busy()) return;
    const count = viewer.call.sample(now());
    if (count < 0) return;
    const shown = viewer.picture(count);
    camera.fit(shown);
    const own = new Float32Array(viewer.call.memory.buffer, viewer.call.own_position(), 4);
    if (own[3]) document.body.dataset.position = Array.from(own.subarray(0, 3), (x) => x.toFixed(3));
    if (follows && own[3]) camera.follow(own, 0.12);
    painter.draw(shown, camera.view());
    extras?.draw(viewer, shown, about);
    const share = picture && Math.max(0.05, 1 / picture); // the first one fits the camera
    cost += (now() - began - painter.spent - cost) * share;
    drawing += (painter.spent - drawing) * share;
    document.body.dataset.cost = cost.toFixed(2);
    if (picture++ === 0) document.body.dataset.first = Math.round(now());
    while (frames.length && frames[0] < now() - 1000) frames.shift();
    frames.push(now());
    document.body.dataset.bodies = count;
}

function join(watches, goesOn = false) {
    if (stepper) viewer = stepper.module;
    if (watches) given.set("watch", "1");
    else given.delete("watch");
    const name = $("name").value.trim() || "guest" + Math.floor(Math.random() * 1000);
    const at = viewer.call.block();
    const length = viewer.put(at, `${name}\0${$("session").value.trim()}\0`);
    if ($("password").value && !isSecureContext) {
        message("Over plain http others on the network could read the password. Use https.");
        return;
    }
    refusal = "";
    played = false;
    if (!goesOn) message("Connecting …");
    $("join").hidden = true;
    if (!goesOn) {
        $("said").replaceChildren();
        known = {};
        camera.distance = 0;
    }
    sent = "";
    state = 0;
    const status = length > 400 ? -1 : viewer.call.join(watches ? 1 : 0, now());
    if (status !== 0) {
        state = -1;
        message("That name or session is too long.");
        $("join").hidden = false;
        return;
    }
    $("view").focus();
    try {
        localStorage.setItem("foliot.name", name);
    } catch { /* a private window keeps nothing */ }
}

// Steps from now on, or watches again. A page that has only watched loads the stepping module,
// which continues as the same player.
async function toggle() {
    if (stepper) return stepper.toggle(about);
    $("step").disabled = true;
    try {
        const loaded = await import("./stepper.js").then((all) => all.load(page));
        const plays = state === PLAYING && viewer.call.hand_over();
        if (plays) loaded.take(viewer);
        stepper = loaded;
        if (plays) join(false, true);
    } finally {
        $("step").disabled = false;
    }
}

// Own keys act at once, unless the link turns that off. The stepper is loaded after the first
// pictures, and watches if a step is too expensive. It is not loaded in sessions with interest, nor
// on metered networks.
function stepByDefault() {
    if (stepper || near || given.has("watch") || given.get("step") === "0" || navigator.connection?.saveData) return;
    toggle().catch(() => {}); // the button tries again, and says why not
}

function bind() {
    $("join").addEventListener("submit", (e) => {
        e.preventDefault();
        join(false);
    });
    $("watch").addEventListener("click", () => join(true));
    $("leave").addEventListener("click", () => viewer.call.leave(now()));
    $("step").addEventListener("click", () => toggle().catch((error) => say(`${error.message}.`, "event")));
    $("say").addEventListener("keydown", (e) => {
        e.stopPropagation();
        if (e.isComposing || (e.key !== "Escape" && e.key !== "Enter")) return; // Enter takes what is composed, too
        const text = $("say").value.trim();
        const status = e.key === "Enter" && text ? viewer.call.chat(viewer.put(viewer.call.block(), text)) : 0;
        if (status) return say(status === TOO_LONG ? "That is too long to be sent." : "Not sent: try again in a moment.", "event");
        $("say").value = "";
        $("view").focus();
    });
    addEventListener("keydown", (e) => {
        if (/^(INPUT|BUTTON|A)$/.test(e.target.tagName) || e.repeat || e.ctrlKey || e.metaKey || e.altKey) return;
        if (e.key === "Enter" && !$("say").hidden) {
            e.preventDefault();
            $("say").focus();
        }
        if (e.code === "KeyV") follows = !follows;
        if (e.code === "KeyN") more();
    });
    $("more").addEventListener("click", more);
    addEventListener("hashchange", () => location.reload()); // another link, in the same tab
    document.querySelector("header").onmousedown = () => false; // a click leaves the keys to the player
    setInterval(update, 100); // where no frames are drawn
}

function keepsLink() {
    try {
        return sessionStorage.getItem("foliot.link") !== null;
    } catch {
        return false;
    }
}

// While the server answers: shaders take time to compile, and more when they draw first. This draws
// a box that is too far away to be visible.
function paint() {
    const box = new Float32Array(12);
    box.fill(1, 7, 10)[0] = 1e9;
    try {
        painter = new Painter($("view"));
        painter.draw({ instances: new Uint8Array(box.buffer), counts: [0, 1, 0] }, camera.view());
        painter.prepare();
    } catch (error) {
        painter = { busy() {}, draw() {}, spent: 0 };
        blind = `There is no picture: ${error.message}.`;
    }
}

async function start() {
    const loads = load("viewer.wasm", page);
    camera = new Camera($("view"));
    controls = new Controls($("stick"), $("pads"));
    try {
        $("name").value = given.get("name") ?? localStorage.getItem("foliot.name") ?? "";
    } catch { /* as above */ }
    $("session").value = given.get("session") ?? "";
    if (given.has("token") || keepsLink()) (link = await import("./link.js")).takeLink(given);
    viewer = await loads;
    if (given.get("step") === "1") await toggle().catch((error) => message(`${error.message}.`));
    bind();
    if (given.has("name") || given.has("watch")) await join(given.has("watch")); // its hello is on its way
    else {
        $("join").hidden = false;
        $("name").focus();
    }
    paint();
    requestAnimationFrame(frame);
}

// For other scripts of the page, and its tests: the shown place of the body in a slot; null:
// nowhere.
window.foliotPosition = (slot) => {
    if (state !== PLAYING || viewer.call.sample(now()) < 0) return null;
    const at = viewer.call.body_position(slot);
    return at ? Array.from(new Float64Array(viewer.call.memory.buffer, at, 3)) : null;
};

window.foliotTick = () => viewer.json(viewer.call.about()).tick; // of that picture

start().catch((error) => message(error.message + "."));
