// SPDX-License-Identifier: MIT
// lab.js: one scene under several integrators next to each other: their orbits and the growth of
// their energy errors. All use the same dt and are at the same tick.
import { COLOURS, Plot } from "./plot.js";
import { Worlds } from "./worlds.js";

const $ = (id) => document.getElementById(id);
const SCENES = ["kepler", "figure-eight", "solar-system", "star-cluster", "pendulum", "double-pendulum", "two-springs", "stiff-spring", "spring-damper", "tumbling"];
const FIRST = ["explicit-euler", "semi-implicit-euler", "velocity-verlet", "rk4"]; // chosen at the start
const PANELS_MAX = 8;
const TRAIL_MAX = 1500; // samples that a panel shows
const SLICE_MS = 40, DRAW_MS = 60;

const worlds = new Worlds();
let info = [];
let runs = []; // {name, world, trail, energy0, error, worst, took, canvas, caption}
let scene = null, plot = null, text = "", base = "";
let made = 0, playing = false, busy = false, due = 0, tick = 0, last = 0, painted = 0;

const given = new URLSearchParams(location.hash.slice(1));
const exact = (v) => (v === 0 ? "0" : v.toExponential(2));

function tell(sentence) {
    $("problem").textContent = sentence;
    $("problem").className = "bad";
    $("problem").hidden = !sentence;
}

const chosen = () => [...$("integrators").querySelectorAll("input:checked")].map((i) => i.value);

function panel(name, problem) {
    const figure = document.createElement("figure"), caption = document.createElement("figcaption"), canvas = document.createElement("canvas");
    figure.append(caption, canvas);
    canvas.hidden = Boolean(problem);
    caption.textContent = problem ? `${name}: ${problem}` : name;
    $("orbits").append(figure);
    return { canvas, caption };
}

async function restart() {
    const mine = ++made, names = chosen();
    for (const { world } of runs) worlds.ask({ destroy: world });
    runs = [];
    due = tick = 0;
    scene = null;
    $("orbits").replaceChildren();
    tell(names.length ? "" : "Choose an integrator.");
    const begun = [];
    for (const integrator of names) {
        const answer = await worlds.make({ text, base, name: `${$("scene").value}.yaml`, integrator, dt: $("dt").value.trim() })
            .catch((error) => ({ status: -1, text: error.message }));
        if (mine !== made) {
            if (answer.status === 0) worlds.ask({ destroy: answer.world });
            for (const { world } of begun) worlds.ask({ destroy: world });
            return;
        }
        if (answer.status !== 0) {
            panel(integrator, answer.text);
            continue;
        }
        scene = answer.scene;
        begun.push({ name: integrator, info: info.find((i) => i.name === integrator), world: answer.world, trail: [], worst: 0, error: 0, took: 0, steps: 0, ...panel(integrator) });
    }
    if (!begun.length) return;
    runs = begun;
    const { seen } = await worlds.advance({ worlds: runs.map((r) => r.world), ticks: 0, see: { about: true, positions: true } });
    if (mine !== made) return;
    runs.forEach((run, i) => {
        run.energy0 = seen[i].energy;
        run.trail.push(seen[i].positions.slice(0, 96));
    });
    plot = new Plot($("plot"), { series: runs.map((r) => r.name), logarithmic: true, unit: scene.unit_time });
    $("what").textContent = seen[0].about.sinks ? `Change of the energy, which this scene does not conserve: ${seen[0].about.sinks}` : "Relative error of the energy";
    $("about").textContent = `dt ${Number(scene.dt.toPrecision(6))} ${scene.unit_time}, ${scene.bodies} ${scene.bodies === 1 ? "body" : "bodies"}`;
    document.body.dataset.made = mine;
    paint(true);
}

// -- time

const pace = () => (scene.pace_hz > 0 ? Math.max(10, Math.min(scene.pace_hz, 1000)) : 60) * Number($("speed").value);
const end = () => (/^\d{1,9}$/.test($("end").value.trim()) ? Number($("end").value) : Infinity);

async function advance(ticks) {
    const mine = made;
    busy = true;
    try {
        const chunk = Math.max(1, Math.ceil(ticks / 60));
        const answer = await worlds.advance({ worlds: runs.map((r) => r.world), ticks, limit: SLICE_MS, see: { about: true, chunk, trail: 32 } });
        if (mine !== made) return;
        take(answer);
    } catch (error) {
        setPlaying(false);
        tell(error.message + ".");
    } finally {
        busy = false;
    }
}

function take(answer) {
    tick = answer.seen[0].tick;
    due = Math.min(Math.max(0, due - answer.done), pace() / 10 + 1);
    const samples = answer.seen[0].energies.length;
    runs.forEach((run, i) => {
        const { energies, trail } = answer.seen[i];
        run.took += answer.times[i];
        run.steps += answer.done;
        const width = trail.length / Math.max(1, samples);
        for (let s = 0; s < samples; s++) run.trail.push(trail.subarray(s * width, (s + 1) * width));
        if (run.trail.length > TRAIL_MAX) run.trail.splice(0, run.trail.length - TRAIL_MAX);
        run.errors = Array.from(energies, (e) => (run.energy0 !== 0 ? Math.abs(e - run.energy0) / Math.abs(run.energy0) : Math.abs(e)));
        run.error = run.errors.at(-1) ?? run.error;
        for (const e of run.errors) if (!(e <= run.worst)) run.worst = e;
    });
    for (let s = 0; s < samples; s++)
        plot.push(answer.seen[0].times[s], runs.map((r) => r.errors[s]));
    if (answer.problem) tell(answer.problem + ".");
    if (answer.problem || tick >= end()) setPlaying(false);
    Object.assign(document.body.dataset, { tick, errors: JSON.stringify(Object.fromEntries(runs.map((r) => [r.name, r.worst]))) });
}

function setPlaying(on) {
    playing = on;
    $("play").textContent = on ? "Pause" : "Play";
}

// -- drawing

// The median of all panels: one that diverges does not affect the others.
function reach() {
    const each = runs.map((run) => {
        let far = 0;
        for (const sample of run.trail) for (let i = 0; i < sample.length; i++) if (Number.isFinite(sample[i])) far = Math.max(far, Math.abs(sample[i] - middle[i % 3]));
        return far;
    }).sort((a, b) => a - b);
    return each[Math.floor((each.length - 1) / 2)] || 1;
}
let middle = [0, 0, 0];

function paint(now) {
    if (!runs.length || (!now && performance.now() - painted < DRAW_MS)) return;
    painted = performance.now();
    const upright = scene.gravity.some((g) => g !== 0), [u, v] = upright ? [0, 2] : [0, 1];
    const scale = reach() * 1.1;
    runs.forEach((run, i) => {
        const { canvas } = run, ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
        if (!width) return;
        if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio), canvas.height = Math.round(height * ratio);
        const c = canvas.getContext("2d");
        c.setTransform(ratio, 0, 0, ratio, 0, 0);
        c.clearRect(0, 0, width, height);
        const half = Math.min(width, height) / 2;
        const x = (p) => width / 2 + ((p - middle[u]) / scale) * half, y = (p) => height / 2 - ((p - middle[v]) / scale) * half;
        c.fillStyle = "#c8cfda";
        c.fillRect(x(0) - 3, y(0), 7, 1);
        c.fillRect(x(0), y(0) - 3, 1, 7);
        const count = run.trail[0].length / 3;
        c.lineWidth = 1;
        for (let b = 0; b < count; b++) {
            c.strokeStyle = c.fillStyle = COLOURS[(count === 1 ? i : b) % COLOURS.length];
            c.beginPath();
            run.trail.forEach((sample, s) => (s ? c.lineTo(x(sample[3 * b + u]), y(sample[3 * b + v])) : c.moveTo(x(sample[3 * b + u]), y(sample[3 * b + v]))));
            c.stroke();
            const head = run.trail[run.trail.length - 1];
            c.beginPath();
            c.arc(x(head[3 * b + u]), y(head[3 * b + v]), 4, 0, 7);
            c.fill();
        }
        const each = run.steps ? `, ${((run.took / run.steps) * 1000).toFixed(1)} µs a tick` : "";
        run.caption.replaceChildren(Object.assign(document.createElement("b"), { textContent: run.name }),
            ` order ${run.info.order}${run.info.symplectic ? ", symplectic" : ""}${each}; energy ${exact(run.error)} off, at most ${exact(run.worst)}`);
        run.caption.title = run.info.summary;
    });
    plot.draw();
    $("tick").textContent = `tick ${tick}`;
}

function frame(now) {
    requestAnimationFrame(frame);
    const passed = Math.min(now - last, 100) / 1000;
    last = now;
    if (playing && runs.length && !busy) {
        due = Math.min(due + passed * pace(), end() - tick);
        if (due >= 1) advance(Math.floor(due));
    } else if (playing && runs.length) {
        due += passed * pace();
    }
    if (playing) paint(false);
}

// -- the page

async function openScene(name) {
    const url = new URL(`scenes/${name}.yaml`, location.href), response = await fetch(url);
    if (!response.ok) return tell(`${name}.yaml: ${response.status} ${response.statusText}.`);
    [text, base] = [await response.text(), url.href];
    $("scene").value = name;
    document.title = `foliot: the lab, ${name}`;
    await restart();
}

async function start() {
    info = (await worlds.ask({ integrators: true })).integrators;
    $("scene").append(...SCENES.map((s) => new Option(s, s)));
    const wished = given.get("integrators")?.split(",").filter(Boolean) ?? FIRST, known = wished.filter((w) => info.some((i) => i.name === w)), wanted = known.slice(0, PANELS_MAX);
    for (const { name, summary } of info) {
        const label = document.createElement("label"), box = document.createElement("input");
        Object.assign(box, { type: "checkbox", value: name, checked: wanted.includes(name) });
        label.append(box, ` ${name}`);
        label.title = summary;
        $("integrators").append(label);
    }
    $("dt").value = given.get("dt") ?? "";
    $("end").value = given.get("end") ?? "";
    $("integrators").addEventListener("change", (e) => {
        if (chosen().length > PANELS_MAX) {
            e.target.checked = false;
            return tell(`At most ${PANELS_MAX} side by side.`);
        }
        restart();
    });
    $("scene").addEventListener("change", (e) => openScene(e.target.value));
    $("dt").addEventListener("change", restart);
    $("again").addEventListener("click", restart);
    $("play").addEventListener("click", () => setPlaying(!playing));
    addEventListener("keydown", (e) => {
        if (e.key !== " " || /^(BUTTON|SELECT|INPUT|A)$/.test(e.target.tagName)) return;
        e.preventDefault();
        setPlaying(!playing);
    });
    addEventListener("resize", () => paint(true));
    addEventListener("hashchange", () => location.reload()); // another link, in the same tab
    const asked = given.get("scene") ?? "kepler", here = SCENES.includes(asked);
    await openScene(here ? asked : "kepler");
    const strange = wished.find((w) => !known.includes(w));
    if (!here) tell(`The lab has no scene '${asked}'; this is another one.`);
    else if (strange) tell(`There is no integrator '${strange}'.`);
    else if (known.length > PANELS_MAX) tell(`At most ${PANELS_MAX} side by side.`);
    if (given.has("speed")) $("speed").value = given.get("speed");
    setPlaying(!given.has("pause"));
    requestAnimationFrame(frame);
}

start().catch((error) => tell(`This page cannot start: ${error.message}.`));
