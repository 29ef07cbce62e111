// SPDX-License-Identifier: MIT
// recording.js: the page of a recording: opens a file, shows the verified range, any tick, and the
// place of the first difference. Two replay_worker.js do the work.
import { Camera, Painter } from "./draw.js";
import { Follow } from "./follow.js";

const BYTES_MAX = 1 << 30;
const $ = (id) => document.getElementById(id);
const canvas = $("view"), line = $("line");
const grouped = (n) => Number(n).toLocaleString("en");

let sources = 0; // that were opened
let shower = null;
let verifier = null;
let opened = null;
let verified = 0; // ticks up to here agree
let verdict = null;
let picture = null;
let playing = false;
let tick = 0; // that is shown, or on its way; fractional while it plays
let asked = null;
let last = 0;
let painter = null;
let camera = null;
let follow = null;
let seen = 0; // when the last picture came
let began = 0;
let drawn = null; // the picture that is on the canvas, and from where: it is drawn when it changes
let looked = "";

function say(text, kind) {
    $("verdict").textContent = text;
    $("verdict").className = kind || "";
    $("panel").hidden = false;
}

function describe(o) {
    const rows = [["scene", o.scene], ["integrator", o.integrator], ["tick length", o.dt + " (of the scene's time)"],
        ["ticks", `${grouped(o.first_tick)} to ${grouped(o.last_tick)}`], ["players", o.players], ["inputs", grouped(o.inputs)],
        ["commands", grouped(o.commands)], ["digests", grouped(o.digests)], ["keyframes", grouped(o.keyframes)],
        ["rules", o.rules], ["recorded by", o.build], ["size", grouped(o.bytes) + " bytes"]];
    $("summary").replaceChildren(...rows.filter(([, value]) => value !== undefined && value !== "").flatMap(([name, value]) => {
        const dt = document.createElement("dt"), dd = document.createElement("dd");
        dt.textContent = name;
        dd.textContent = value;
        return [dt, dd];
    }));
}

function take(o) {
    opened = o;
    if (o.status !== 0) {
        say(o.text + ".", "damaged");
        $("drop").hidden = false; // over what was shown before
        return;
    }
    describe(o);
    tick = o.first_tick;
    document.body.dataset.keyframes = o.keyframe_ticks.length;
    for (const id of ["play", "back", "forward"]) $(id).disabled = false;
    $("drop").hidden = true;
    say("Verifying …");
    canvas.focus();
}

// Scenes whose unit of time is no second play at 60 ticks a second.
function ticksPerSecond() {
    const rate = 1 / opened.dt;
    return rate >= 10 && rate <= 1000 ? rate : 60;
}

const progressText = () => `Verifying: tick ${grouped(verified)} of ${grouped(opened.last_tick)} …`;

function judge(v) {
    verdict = v;
    verified = opened.first_tick + v.ticks;
    const seconds = (performance.now() - began) / 1000;
    const speed = v.ticks / ticksPerSecond() / seconds;
    if (v.status === 0) {
        say(`Match: ${grouped(v.ticks)} ticks, ${grouped(opened.digests)} digests equal, in ${seconds.toFixed(1)} s (${speed.toFixed(0)} × real time).` +
            (opened.closed ? "" : " The recording was not closed."), "match");
    } else if (v.diverged_tick !== undefined) {
        say(`Differs first at tick ${grouped(v.diverged_tick)}` + (v.body >= 0 ? `, body ${v.body}.` : "."), "differs");
        $("report").textContent = v.report;
        $("report").hidden = false;
        $("difference").hidden = false;
    } else if (v.unfinished) {
        say(`Unfinished: it has no end, since it was being written or its writer was stopped. Its ${grouped(v.ticks)} ticks match.`, "match");
    } else {
        say(`${v.text || v.status_text}. The ${grouped(v.ticks)} ticks before it agree.`, "damaged");
    }
    document.body.dataset.verdict = v.status === 0 ? "match" : v.diverged_tick !== undefined ? "differs" : v.unfinished ? "unfinished" : "damaged";
    if (asked === null && opened.status === 0) seek(tick); // with the mark
}

function hear({ data }) {
    if (data.failed) {
        say("The replay has ended: " + data.failed + ".", "damaged");
        document.body.dataset.verdict = "failed";
    }
    if (data.progress !== undefined && opened) {
        verified = data.progress;
        say(progressText());
    }
    if (data.opened && !opened) take(data.opened);
    if (data.verdict) judge(data.verdict);
    if (data.picture) {
        picture = data.picture;
        follow.see(picture, performance.now() - seen);
        seen = performance.now();
        if (picture.arrived) asked = null;
        Object.assign(document.body.dataset, { tick: picture.tick, began: picture.began });
    }
    drawLine();
}

function newWorker() {
    const worker = new Worker("replay_worker.js", { type: "module" });
    worker.onmessage = hear;
    worker.onerror = (e) => say("The replay cannot be started: " + (e.message || "its files are missing") + ".", "damaged");
    return worker;
}

// Nothing is open while another file is read.
function clear(name) {
    shower?.terminate();
    verifier?.terminate();
    opened = verdict = picture = asked = null;
    verified = 0;
    setPlaying(false);
    follow.restart();
    delete document.body.dataset.verdict;
    $("report").hidden = $("difference").hidden = true;
    $("summary").replaceChildren();
    for (const id of ["play", "back", "forward"]) $(id).disabled = true;
    $("name").textContent = name;
    $("tick").textContent = "";
    document.title = "foliot: " + name;
    say("Reading …");
    drawLine();
}

function start(buffer) {
    shower = newWorker();
    verifier = newWorker();
    began = performance.now();
    shower.postMessage({ open: buffer.slice(0), verify: false });
    verifier.postMessage({ open: buffer, verify: true }, [buffer]);
}

async function openFile(file) {
    if (!file) return;
    await openSource(file.name, file.name, async () => fits(file.size) && file.arrayBuffer());
}

function fits(size) {
    if (size > BYTES_MAX) throw new Error(`it has ${grouped(size)} bytes, and this page reads files up to ${grouped(BYTES_MAX)}`);
    return true;
}

// The last requested picture is shown, whichever is read first.
async function openSource(source, name, read) {
    const mine = ++sources;
    clear(name);
    try {
        const buffer = await read();
        if (mine === sources) start(buffer);
    } catch (error) { // a folder, a file that is gone, one too large for this machine
        if (mine !== sources) return;
        say(`${source} cannot be read: ${error.message.replace(/\.$/, "")}.`, "damaged");
        $("drop").hidden = false; // over what was shown before
    }
}

const openLink = (url) => openSource(url, url.split("/").pop(), async () => {
    if (new URL(url, location.href).origin !== location.origin) throw new Error("it is on another site, and this page reads from its own alone; save it, and drop it here");
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
    fits(Number(response.headers.get("Content-Length")));
    return response.arrayBuffer();
});

// -- time

function seek(to) {
    if (!opened || opened.status !== 0) return;
    tick = Math.min(Math.max(to, opened.first_tick), opened.last_tick);
    asked = Math.floor(tick);
    shower.postMessage({ show: asked, marked: verdict?.body ?? -1, trusted: (verdict?.diverged_tick ?? Infinity) - 1 });
}

function setPlaying(on) {
    playing = on && opened?.status === 0;
    if (playing && tick >= opened.last_tick) tick = opened.first_tick;
    $("play").textContent = playing ? "Pause" : "Play";
}

function drawLine() {
    const scale = devicePixelRatio || 1, width = line.clientWidth, height = line.clientHeight;
    if (!width) return;
    if (line.width !== Math.round(width * scale)) line.width = Math.round(width * scale), line.height = Math.round(height * scale);
    const c = line.getContext("2d");
    c.setTransform(scale, 0, 0, scale, 0, 0);
    c.clearRect(0, 0, width, height);
    c.fillStyle = "#d9dfe8";
    c.fillRect(6, 13, width - 12, 8);
    if (!opened || opened.status !== 0) return;
    const x = (t) => 6 + ((width - 12) * (t - opened.first_tick)) / Math.max(1, opened.last_tick - opened.first_tick);
    c.fillStyle = verdict && verdict.status !== 0 ? "#d9a441" : "#3aa565";
    c.fillRect(6, 13, x(verdict?.diverged_tick ?? Math.max(verified, opened.first_tick)) - 6, 8);
    c.fillStyle = "#7d8a9d";
    for (const t of opened.keyframe_ticks) c.fillRect(x(t) - 0.5, 24, 1, 5);
    if (verdict?.diverged_tick !== undefined) {
        c.fillStyle = "#b3171d";
        c.fillRect(x(verdict.diverged_tick) - 1.5, 2, 3, 30);
    }
    c.fillStyle = "#1b2230";
    c.beginPath();
    c.arc(x(picture ? picture.tick : tick), 17, 6, 0, 7);
    c.fill();
    $("tick").textContent = `${grouped(picture ? picture.tick : 0)} / ${grouped(opened.last_tick)}`;
    for (const [name, value] of [["min", opened.first_tick], ["max", opened.last_tick], ["now", Math.floor(tick)]])
        line.setAttribute("aria-value" + name, value);
}

function frame(now) {
    const passed = Math.min(now - last, 100) / 1000;
    last = now;
    if (playing && asked === null) {
        const next = tick + passed * $("speed").value * ticksPerSecond();
        if (Math.floor(next) !== Math.floor(tick)) seek(next);
        else tick = next;
        if (tick >= opened.last_tick) setPlaying(false);
    }
    if (painter) follow.glide(passed * 1000);
    const look = [camera.around, camera.above, camera.distance, ...camera.target, canvas.clientWidth, canvas.clientHeight].join();
    if (painter && picture && !document.hidden && (picture !== drawn || look !== looked)) {
        painter.draw(picture, camera.view());
        drawn = picture;
        looked = look;
    } else {
        painter?.rest();
    }
    requestAnimationFrame(frame);
}

// -- the page

function bindLine() {
    const to = (e) => {
        const box = line.getBoundingClientRect();
        setPlaying(false);
        seek(Math.round(opened.first_tick + ((e.clientX - box.left - 6) / (box.width - 12)) * (opened.last_tick - opened.first_tick)));
    };
    line.addEventListener("pointerdown", (e) => {
        if (opened?.status !== 0) return;
        line.setPointerCapture(e.pointerId);
        to(e);
    });
    line.addEventListener("pointermove", (e) => e.buttons && opened?.status === 0 && to(e));
}

function bind() {
    $("file").addEventListener("change", (e) => {
        openFile(e.target.files[0]);
        e.target.value = ""; // the same one can be opened again, when it has changed
    });
    addEventListener("dragover", (e) => {
        e.preventDefault();
        document.body.classList.add("over");
    });
    addEventListener("dragleave", () => document.body.classList.remove("over"));
    addEventListener("drop", (e) => {
        e.preventDefault();
        document.body.classList.remove("over");
        const { files } = e.dataTransfer, url = files.length ? "" : e.dataTransfer.getData("text/uri-list").split(/[\r\n]/)[0];
        if (url) openLink(url);
        else openFile(files[0]);
    });
    const step = (by) => {
        setPlaying(false);
        seek(Math.floor(tick) + by);
    };
    $("play").addEventListener("click", () => setPlaying(!playing));
    $("back").addEventListener("click", () => step(-1));
    $("forward").addEventListener("click", () => step(1));
    $("difference").addEventListener("click", () => {
        setPlaying(false);
        seek(verdict.diverged_tick);
    });
    addEventListener("keydown", (e) => {
        if (!opened || opened.status !== 0 || /^(BUTTON|SELECT|INPUT|A)$/.test(e.target.tagName)) return;
        const far = e.shiftKey ? 100 : 1;
        const keys = { " ": () => setPlaying(!playing), ArrowLeft: () => step(-far), ArrowRight: () => step(far),
            Home: () => step(-Infinity), End: () => step(Infinity) };
        if (!keys[e.key]) return;
        e.preventDefault();
        keys[e.key]();
    });
    addEventListener("resize", drawLine);
    bindLine();
}

try {
    painter = new Painter(canvas);
} catch (error) { // it verifies all the same
    $("blind").textContent = `No picture: ${error.message}.`;
    $("blind").hidden = false;
}
camera = new Camera(canvas);
follow = new Follow(camera, canvas);
bind();
drawLine();
requestAnimationFrame(frame);
// For other scripts of the page, and its tests: the camera's position and target.
window.foliotView = () => picture && ({ target: camera.target, distance: camera.distance, matrix: Array.from(painter?.camera ?? []),
    positions: Array.from({ length: picture.counts[0] + picture.counts[1] }, (_, i) => Array.from(new Float32Array(picture.instances.buffer, 48 * i, 3))) });
const link = new URLSearchParams(location.search).get("file");
if (link) openLink(link);
