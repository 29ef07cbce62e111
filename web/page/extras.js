// SPDX-License-Identifier: MIT
// extras.js: shows on demand: names over players, joints, contacts, details of a clicked body, and
// plots of the network and of a frame. It is loaded on demand, and so is details.wasm, which finds
// the contacts of the shown bodies.
import { Lines, onClick, pick, project } from "./lines.js";
import { Plot } from "./plot.js";
import { load } from "./wasm.js";

const NAMES_MAX = 64;
const PLOT_MS = 250, PLOTTED = 240; // a minute
const PLOTS = [["bandwidth, kB/s", (e) => e.rate], ["playout delay, ms", (e) => e.delay], ["a tick's step, ms", (e) => e.step], ["a frame's scripts, ms", (e) => e.cost]];

const JOINTS = 1, CONTACTS = 2, LINE_BYTES = 28; // as web/details.c has them
const NORMAL = 0.03; // a contact's, of the camera's distance

const make = (tag, id, parent) => Object.assign(parent.appendChild(document.createElement(tag)), { id });

// A contact's point is the middle of its segment.
function middles(lines) {
    const view = new DataView(lines.buffer, lines.byteOffset, lines.length), points = new Float32Array((lines.length / LINE_BYTES) * 3);
    for (let i = 0; i < points.length; i++) {
        const at = LINE_BYTES * Math.floor(i / 3) + 4 * (i % 3);
        points[i] = (view.getFloat32(at, true) + view.getFloat32(at + 12, true)) / 2;
    }
    return points;
}

export class Extras {
    constructor(painter, camera) {
        Object.assign(this, { painter, camera, shown: false, picked: -1, last: null, plotted: 0, bytes: 0, labels: [], details: null, contacts: new Float32Array(0) });
        const canvas = (this.canvas = document.getElementById("view")), main = canvas.parentElement, style = Object.assign(document.createElement("link"), { rel: "stylesheet", href: "tools.css" });
        document.head.append(style);
        this.names = make("div", "names", main);
        this.panel = make("aside", "details", main);
        const switches = make("p", "", this.panel);
        [this.joints, this.touches] = ["joints", "contacts"].map((name) => {
            const label = make("label", "", switches), box = Object.assign(make("input", "show-" + name, label), { type: "checkbox", checked: true });
            label.append(" " + name + " ");
            box.addEventListener("change", () => canvas.focus()); // keys are the player's again
            return box;
        });
        this.count = make("output", "contacts", switches);
        this.text = make("dl", "", this.panel);
        this.plots = PLOTS.map(([name, value]) => ({ value, plot: new Plot(make("canvas", "", this.panel), { series: [name], recent: PLOTTED, unit: "s", fromZero: true }) }));
        this.names.hidden = this.panel.hidden = true;
        this.lines = painter.gl ? new Lines(painter) : null; // a browser without WebGL shows the rest
        load("details.wasm").then((details) => (this.details = details), (error) => (this.count.textContent = `${error.message}.`));
        // For other scripts of the page, and its tests: the places of the shown contacts, three
        // numbers each.
        window.foliotContacts = () => Array.from(this.contacts);
        onClick(canvas, (x, y) => {
            if (!this.shown || !this.picture) return;
            const index = pick(this.picture, camera.view(), canvas, x, y);
            this.picked = index < 0 ? -1 : this.slots[index];
            this.last = null;
        });
    }

    toggle() {
        this.shown = !this.shown;
        this.names.hidden = this.panel.hidden = !this.shown;
    }

    // After each picture.
    draw(viewer, picture, about) {
        if (!this.shown) return;
        const { call } = viewer, now = performance.now();
        // Copies: views of the module's memory end when it grows.
        this.picture = { ...picture, instances: picture.instances.slice() };
        this.slots = new Uint32Array(call.memory.buffer, call.instance_slots(), picture.instances.length / 48).slice();
        this.connect(viewer);
        this.label(viewer, this.picture, about);
        if (now - this.plotted < PLOT_MS) return;
        this.plot(about, now);
        this.describe(viewer, now);
    }

    // Joints and contacts of the shown bodies. The module copies the shown state.
    connect(viewer) {
        const { call, bytes } = this.details ?? {}, at = call ? viewer.call.details() : 0;
        if (!at) return;
        const length = new DataView(viewer.call.memory.buffer).getUint32(at, true), room = call.room(length);
        if (!room) return;
        bytes(room, length).set(viewer.bytes(at, length));
        const what = (this.joints.checked && JOINTS) | (this.touches.checked && CONTACTS);
        const lines = call.draw(what, (this.camera.distance || 10) * NORMAL), contacts = call.contact_count();
        const drawn = bytes(call.lines(), LINE_BYTES * lines).slice();
        this.lines?.draw(drawn, lines - contacts);
        this.contacts = middles(drawn.subarray(LINE_BYTES * (lines - contacts)));
        const text = this.touches.checked ? `${contacts}${call.cut() ? " and more" : ""}` : "";
        if (this.count.textContent !== text) this.count.textContent = text;
        Object.assign(document.body.dataset, { joints: lines - contacts, contacts });
    }

    label(viewer, picture, about) {
        const names = new Set(Object.values(about.players ?? {})), floats = new Float32Array(picture.instances.buffer, picture.instances.byteOffset, picture.instances.length / 4);
        let used = 0;
        for (let i = 0; i < this.slots.length && names.size && used < Math.min(names.size, NAMES_MAX); i++) {
            const name = this.named(viewer, this.slots[i], about.tick);
            if (!names.has(name)) continue;
            const at = this.painter.camera && project(this.painter.camera, [floats[12 * i], floats[12 * i + 1], floats[12 * i + 2] + floats[12 * i + 9]], this.canvas);
            const span = (this.labels[used] ??= make("span", "", this.names));
            span.hidden = !at;
            if (at) span.style.transform = `translate(${at[0].toFixed(1)}px, ${at[1].toFixed(1)}px) translate(-50%, -140%)`;
            if (span.textContent !== name) span.textContent = name;
            used++;
        }
        for (const span of this.labels.slice(used)) span.hidden = true;
        document.body.dataset.labels = used;
    }

    // Names are updated four times a second, not in each frame.
    named(viewer, slot, tick) {
        if (this.known?.tick !== tick) this.known = { tick, names: new Map() };
        if (!this.known.names.has(slot)) this.known.names.set(slot, viewer.text(viewer.call.body_name(slot)));
        return this.known.names.get(slot);
    }

    plot(about, now) {
        const passed = (now - this.plotted) / 1000, rate = this.plotted && about.bytes >= this.bytes ? (about.bytes - this.bytes) / 1000 / passed : NaN; // another module begins at 0
        [this.plotted, this.bytes] = [now, about.bytes];
        const all = { rate, delay: about.delay_ms, step: about.kind === "stepper" ? about.step_ms : NaN, cost: Number(document.body.dataset.cost) };
        for (const { plot, value } of this.plots) {
            const v = value(all);
            plot.canvas.hidden = !Number.isFinite(v);
            if (Number.isFinite(v)) plot.push(now / 1000, [v]);
            plot.draw();
        }
    }

    describe(viewer, now) {
        const { call } = viewer, at = this.picked >= 0 ? call.body_position(this.picked) : 0;
        document.body.dataset.picked = this.picked;
        if (!at) {
            this.last = null;
            return this.text.replaceChildren(Object.assign(document.createElement("dd"), { textContent: "Click on a body." }));
        }
        const position = Array.from(new Float64Array(call.memory.buffer, at, 3)), before = this.last;
        this.last = { position, now };
        const speed = before ? Math.hypot(...position.map((p, k) => p - before.position[k])) / ((now - before.now) / 1000) : 0;
        const rows = [["body", `${viewer.text(call.body_name(this.picked)) || "#" + this.picked} (${this.picked})`], ["tag", call.body_tag(this.picked)],
            ["position", position.map((p) => p.toFixed(2)).join(", ")], ["speed", `${speed.toFixed(2)} a second`]];
        this.text.replaceChildren(...rows.flatMap(([k, v]) => [Object.assign(document.createElement("dt"), { textContent: k }), Object.assign(document.createElement("dd"), { textContent: v })]));
    }
}
