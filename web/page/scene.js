// SPDX-License-Identifier: MIT
// scene.js: the page of a scene: its text, parsed while it is typed, its world, and its energy.
// world_worker.js does the work; there is no server.
import { Camera, Painter } from "./draw.js";
import { Follow } from "./follow.js";
import { Lines, onClick, pick } from "./lines.js";
import { Plot } from "./plot.js";
import { Worlds } from "./worlds.js";

const $ = (id) => document.getElementById(id);
const TYPING_MS = 350;
const SLICE_MS = 28;
const FILE_BYTES_MAX = 1 << 28;
const JOINTS = 1, CONTACTS = 2;
const TRAILED_MAX = 64; // bodies that have a trail, where the scene has no more
const TRAIL_MAX = 8192; // parts of all trails
const TRAIL_PART = 0.01; // of the camera's distance: a body that has gone less far has no new part
const LINE_BYTES = 28;
const DOTTED_MAX = 64; // joints that have dots at their ends: more of them would hide the bodies
const SKY = [184, 204, 227]; // what trails fade to

const worlds = new Worlds();
const plot = new Plot($("plot"), { series: ["total", "kinetic", "potential"] });
const given = new URLSearchParams(location.hash.slice(1));
let painter = null, camera = null, follow = null, over = null;
let trails = []; // of each body that has no shape: {slot, at: [[x, y, z], ...]}, the newest last
let name = "scene.yaml", base = "";
let world = null, scene = null;
let made = 0; // counts scenes: an answer about an older one is dropped
let busy = false, playing = false, stale = false;
let due = 0, goal = null, shown = null, body = -1;
let last = 0, seen = 0, followed = null, drawn = null, looked = "";
let edited = false; // and not saved
let sameView = false; // the text is a new version of what is shown

function tell(text, bad) {
    $("problem").textContent = text;
    $("problem").className = bad ? "bad" : "";
}

// -- the text

function number() {
    const count = $("text").value.split("\n").length;
    if (Number($("numbers").dataset.count) !== count) {
        $("numbers").textContent = Array.from({ length: count }, (_, i) => i + 1).join("\n") + "\n";
        $("numbers").dataset.count = count;
    }
    $("numbers").scrollTop = $("text").scrollTop;
}

// Columns count characters; the text area counts UTF-16 units.
function goTo(line, column) {
    const lines = $("text").value.split("\n"), row = lines[line - 1] ?? "";
    const start = lines.slice(0, line - 1).reduce((sum, l) => sum + l.length + 1, 0) + Array.from(row).slice(0, column - 1).join("").length;
    $("text").focus();
    $("text").setSelectionRange(start, start + Math.max(1, row.length - (start - lines.slice(0, line - 1).reduce((sum, l) => sum + l.length + 1, 0))));
    $("text").scrollTop = Math.max(0, (line - 5) * 18.85);
}

async function read() {
    const mine = ++made, wish = { text: $("text").value, name, base, integrator: $("integrator").value };
    let answer;
    try {
        answer = await worlds.make(wish);
    } catch (error) {
        answer = { status: -1, text: error.message + ".", line: 0 };
    }
    if (mine !== made) { // the text has changed since
        if (answer.status === 0) worlds.ask({ destroy: answer.world });
        return;
    }
    const problem = $("problem");
    Object.assign(document.body.dataset, { status: answer.status, line: answer.line ?? 0, column: answer.column ?? 0, read: mine });
    problem.onclick = answer.line ? () => goTo(answer.line, answer.column) : null;
    if (answer.status !== 0) return tell(answer.text + (answer.missing ? ". Open that file too, or drop it here." : ""), true);
    if (world !== null) worlds.ask({ destroy: world });
    world = answer.world;
    scene = answer.scene;
    tell(`${scene.bodies} ${scene.bodies === 1 ? "body" : "bodies"}, ${scene.integrator}, dt ${Number(scene.dt.toPrecision(6))} ${scene.unit_time}.` +
        (scene.rules ? " Its rules are not run here." : "") + (scene.players ? " It is played on a server." : ""));
    $("about").textContent = scene.name;
    document.title = `foliot: ${scene.name}`;
    plot.clear();
    [due, goal, shown, body] = [0, null, null, -1];
    $("body").hidden = true;
    trails = scene.bodies <= TRAILED_MAX ? scene.points.map((slot) => ({ slot, at: [] })) : [];
    if (!sameView) follow?.restart();
    sameView = true;
    stale = true;
}

let timer = 0;
function changed() {
    edited = true;
    number();
    clearTimeout(timer);
    timer = setTimeout(read, TYPING_MS);
}

function show(text, title, where) {
    $("text").value = text;
    $("text").scrollTop = 0;
    [name, base, edited, sameView] = [title, where, false, false];
    number();
    return read();
}

async function openFiles(list) {
    for (const file of list) {
        if (file.size > FILE_BYTES_MAX) return tell(`${file.name} is larger than a scene's files may be.`, true);
        if (!/\.(ya?ml|json|csv)$/i.test(file.name))
            return tell(/\.foliot$/i.test(file.name) ? `${file.name} is a recording: open it in the page of recordings.` : `${file.name} is no scene (.yaml, .json), and no table of one (.csv).`, true);
        if (/\.csv$/i.test(file.name)) await worlds.ask({ give: { name: file.name, bytes: await file.arrayBuffer() } }).catch((e) => tell(e.message + ".", true));
    }
    const scenes = [...list].filter((f) => /\.(ya?ml|json)$/i.test(f.name));
    if (scenes.length) await show(await scenes[0].text(), scenes[0].name, "");
    else await read();
    $("example").value = "";
}

async function openExample(example) {
    const url = new URL(`scenes/${example}.yaml`, location.href);
    const response = await fetch(url);
    if (!response.ok) return tell(`${example}.yaml: ${response.status} ${response.statusText}.`, true);
    history.replaceState(null, "", `#example=${example}`);
    $("example").value = example;
    await show(await response.text(), `${example}.yaml`, url.href);
}

// -- time

const pace = () => (scene.pace_hz > 0 ? scene.pace_hz : 60) * Number($("speed").value);
const wanted = () => (goal !== null ? Math.max(0, goal - (shown?.tick ?? 0)) : Math.floor(due));

// One request at a time; the next one contains the ticks that have become due meanwhile.
async function advance(ticks) {
    const mine = made;
    busy = true;
    stale = false;
    const lines = ($("joints").checked ? JOINTS : 0) | ($("contacts").checked ? CONTACTS : 0);
    const see = { picture: true, about: true, digest: true, body, lines, length: (camera?.distance || 10) * 0.03, chunk: goal !== null ? 8 : 1, trail: trails.length ? TRAILED_MAX : 0 };
    try {
        const answer = await worlds.advance({ worlds: [world], ticks, limit: SLICE_MS, see });
        if (mine !== made) return;
        take(answer);
    } catch (error) {
        setPlaying(false);
        goal = null;
        tell(error.message + ".", true);
    } finally {
        busy = false;
    }
}

function take(answer) {
    shown = answer.seen[0];
    if (goal !== null && shown.tick >= goal) goal = null;
    due = goal === null ? Math.min(Math.max(0, due - answer.done), 2 * pace() / 30 + 1) : 0; // what cannot be kept up with is let go
    if (answer.problem) {
        setPlaying(false);
        goal = null;
        tell(`Tick ${shown.tick}: ${answer.problem}.`, true);
    }
    if (shown.trail) grow(shown);
    const { about } = shown;
    plot.push(shown.time, [about.kinetic + about.potential, about.kinetic, about.potential]);
    plot.unit = scene.unit_time;
    plot.draw();
    $("sinks").textContent = "Energy" + (about.sinks ? `; not conserved: ${about.sinks}` : about.potential_complete ? "" : "; not all forces have a potential") +
        (about.frozen ? `; ${about.frozen} bodies are frozen, as their state left the range` : "");
    $("tick").textContent = `tick ${shown.tick}, ${Number(shown.time.toPrecision(6))} ${scene.unit_time}`;
    $("digest").textContent = shown.digest;
    Object.assign(document.body.dataset, { tick: shown.tick, digest: shown.digest, scene: scene.name, lines: (shown.lines?.length ?? 0) / 28, step: answer.done ? (answer.took / answer.done).toFixed(3) : "" });
    if (shown.body) describe(shown.body);
}

// Adds the positions since the last picture to the trails.
function grow({ trail, times }) {
    const width = times.length ? trail.length / times.length : 0, most = Math.floor(TRAIL_MAX / trails.length);
    const least = (camera?.distance || 10) * TRAIL_PART;
    for (const { slot, at } of trails)
        for (let i = 3 * slot; i + 2 < trail.length && 3 * slot < width; i += width) {
            const p = [trail[i], trail[i + 1], trail[i + 2]], q = at.at(-1);
            if (!q || Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]) > least) at.push(p);
            if (at.length > most) at.shift();
        }
}

// Joints and contacts, followed by the trails, each in its body's colour.
function segments() {
    const given = shown.lines ?? new Uint8Array(0), { instances, slots } = shown.picture;
    if (!$("trails").checked) return given;
    const parts = trails.reduce((sum, { at }) => sum + at.length, 0);
    const bytes = new Uint8Array(given.length + LINE_BYTES * parts), to = new DataView(bytes.buffer);
    const positions = new Float32Array(instances.buffer, instances.byteOffset, instances.length / 4);
    let place = given.length;
    bytes.set(given);
    for (const { slot, at } of trails) {
        const index = slots.indexOf(slot);
        if (index < 0) continue;
        const colour = instances.subarray(48 * index + 44, 48 * index + 47);
        at.forEach((p, n) => {
            const q = at[n + 1] ?? positions.subarray(12 * index, 12 * index + 3), fresh = n / at.length;
            for (let k = 0; k < 3; k++) {
                to.setFloat32(place + 4 * k, p[k], true);
                to.setFloat32(place + 12 + 4 * k, q[k], true);
                bytes[place + 24 + k] = SKY[k] + (colour[k] - SKY[k]) * fresh;
            }
            bytes[place + 27] = 255;
            place += LINE_BYTES;
        });
    }
    return bytes.subarray(0, place);
}

function describe(b) {
    const vector = (v) => v.map((x) => Number(x.toPrecision(5))).join(", "), speed = Math.hypot(...b.velocity);
    const rows = [["body", `${b.name} (${b.slot})`], ["shape", b.shape], ["mass", b.mass || "static"], ["tag", b.tag || ""], ["position", vector(b.position)],
        ["speed", Number(speed.toPrecision(5))], ["state", b.frozen ? "frozen" : b.asleep ? "asleep" : ""]];
    $("body").firstElementChild.replaceChildren(...rows.filter(([, v]) => v !== "").flatMap(([k, v]) => {
        const dt = document.createElement("dt"), dd = document.createElement("dd");
        dt.textContent = k;
        dd.textContent = v;
        return [dt, dd];
    }));
    $("body").hidden = false;
}

function setPlaying(on) {
    goal = null; // so does a run to a tick end
    playing = on && world !== null;
    $("play").textContent = playing ? "Pause" : "Play";
}

function frame(now) {
    requestAnimationFrame(frame);
    const since = now - last, passed = Math.min(since, 100) / 1000;
    last = now;
    if (playing && goal === null && scene) due += passed * pace();
    if (world !== null && !busy && (stale || wanted() > 0)) advance(wanted());
    if (!painter || !shown?.picture || document.hidden) return;
    if (shown !== followed) follow.see(shown.picture, followed ? now - seen : 0);
    if (shown !== followed) {
        follow.include(trails.flatMap(({ at }) => at));
        [followed, seen] = [shown, now];
    }
    follow.glide(since);
    const look = [camera.around, camera.above, camera.distance, ...camera.target, painter.canvas.clientWidth, painter.canvas.clientHeight].join();
    if (shown === drawn && look === looked) return painter.rest();
    painter.draw(shown.picture, camera.view());
    const parts = (shown.lines?.length ?? 0) / LINE_BYTES;
    over.draw(segments(), parts <= DOTTED_MAX ? parts : 0);
    [drawn, looked] = [shown, look];
}

// -- the page

function bindPicking() {
    onClick($("view"), (x, y) => {
        const index = shown?.picture ? pick(shown.picture, camera.view(), $("view"), x, y) : -1;
        body = index < 0 ? -1 : shown.picture.slots[index];
        $("body").hidden = body < 0;
        stale = true;
    });
}

function goToTick() {
    const tick = Number($("goal").value);
    if (!/^\d{1,9}$/.test($("goal").value.trim())) return tell("A tick is a whole number.", true);
    setPlaying(false);
    if (tick < (shown?.tick ?? 0)) return read().then(() => (goal = tick));
    goal = tick;
}

function bind() {
    $("text").addEventListener("input", changed);
    $("text").addEventListener("scroll", number);
    $("text").addEventListener("keydown", (e) => {
        if (e.key !== "Tab" || e.shiftKey || e.ctrlKey || e.altKey) return;
        e.preventDefault();
        document.execCommand("insertText", false, "  ");
    });
    $("example").addEventListener("change", (e) => e.target.value && openExample(e.target.value));
    $("file").addEventListener("change", (e) => {
        openFiles([...e.target.files]);
        e.target.value = ""; // the same ones can be opened again, when they have changed
    });
    $("save").addEventListener("click", () => {
        const a = document.createElement("a");
        a.href = URL.createObjectURL(new Blob([$("text").value], { type: "text/yaml" }));
        a.download = name;
        a.click();
        edited = false;
        setTimeout(() => URL.revokeObjectURL(a.href), 1000);
    });
    const isText = (e) => e.target === $("text") && !e.dataTransfer.types.includes("Files"); // which is moved within the editor
    addEventListener("dragover", (e) => {
        if (isText(e)) return;
        e.preventDefault();
        document.body.classList.add("over");
    });
    addEventListener("dragleave", () => document.body.classList.remove("over"));
    addEventListener("drop", (e) => {
        if (isText(e)) return;
        e.preventDefault();
        document.body.classList.remove("over");
        if (e.dataTransfer.files.length) openFiles(e.dataTransfer.files);
    });
    const step = (by) => {
        setPlaying(false);
        goal = (shown?.tick ?? 0) + by;
    };
    $("play").addEventListener("click", () => setPlaying(!playing));
    $("step").addEventListener("click", () => step(1));
    $("again").addEventListener("click", read);
    $("goal").addEventListener("keydown", (e) => e.key === "Enter" && goToTick());
    $("integrator").addEventListener("change", read);
    for (const id of ["joints", "contacts"]) $(id).addEventListener("change", () => (stale = true));
    $("trails").addEventListener("change", () => (drawn = null));
    addEventListener("keydown", (e) => {
        if (/^(BUTTON|SELECT|INPUT|TEXTAREA|A)$/.test(e.target.tagName)) return;
        const keys = { " ": () => setPlaying(!playing), ArrowRight: () => step(e.shiftKey ? 100 : 1), Home: read };
        if (!keys[e.key]) return;
        e.preventDefault();
        keys[e.key]();
    });
    addEventListener("beforeunload", (e) => edited && e.preventDefault()); // the browser asks
    addEventListener("hashchange", () => {
        const example = new URLSearchParams(location.hash.slice(1)).get("example");
        if (example && example !== $("example").value) openExample(example);
    });
}

async function start() {
    try {
        painter = new Painter($("view"));
        camera = new Camera($("view"));
        follow = new Follow(camera, $("view"));
        over = new Lines(painter);
    } catch (error) { // it runs all the same
        $("blind").textContent = `No picture: ${error.message}.`;
        $("blind").hidden = false;
    }
    bind();
    requestAnimationFrame(frame);
    const [examples, { integrators }] = await Promise.all([fetch("scenes/index.json").then((r) => r.json()), worlds.ask({ integrators: true })]);
    $("example").append(new Option("", ""), ...examples.map((e) => new Option(e, e)));
    $("integrator").append(...integrators.map((i) => new Option(i.name, i.name)));
    const example = given.get("example");
    await openExample(examples.includes(example) ? example : "double-pendulum");
    if (example && !examples.includes(example)) tell(`There is no example '${example}'; this is another one.`, true);
    if (!given.has("pause")) setPlaying(true);
    if (painter) bindPicking();
}

// For other scripts of the page, and its tests.
window.foliotView = () => shown?.picture && painter?.camera && ({ matrix: Array.from(painter.camera), trail: trails.reduce((sum, { at }) => sum + at.length, 0),
    positions: Array.from({ length: shown.picture.counts[0] + shown.picture.counts[1] }, (_, i) => Array.from(new Float32Array(shown.picture.instances.buffer, 48 * i, 3))) });

start().catch((error) => tell(`This page cannot start: ${error.message}.`, true));
