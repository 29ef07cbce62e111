// SPDX-License-Identifier: MIT
// index.js: foliot for Node and browsers: worlds that step, recordings that are verified, sessions
// that are joined. Each object has a separate module, so that none sees another's memory.
import { load } from "./wasm.js";

const URLS = {
    worlds: new URL("./worlds.wasm", import.meta.url),
    replayer: new URL("./replayer.wasm", import.meta.url),
    viewer: new URL("./viewer.wasm", import.meta.url),
    tables: new URL("./tables.bin", import.meta.url),
};
const compiled = new Map();
const encoder = new TextEncoder();

async function read(url) {
    if (url.protocol === "file:") {
        const { readFile } = await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:fs/promises");
        return readFile(url);
    }
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
    return new Uint8Array(await response.arrayBuffer());
}

function instance(name, page) {
    if (!compiled.has(name)) {
        const promise = read(URLS[name]).then((bytes) => WebAssembly.compile(bytes));
        promise.catch(() => compiled.delete(name)); // the next one tries again
        compiled.set(name, promise);
    }
    return compiled.get(name).then((module) => load(module, page));
}

const toBytes = (what) => (typeof what === "string" ? encoder.encode(what) : what instanceof ArrayBuffer ? new Uint8Array(what) : new Uint8Array(what.buffer, what.byteOffset, what.byteLength));

// A foliot_status that is an error.
export class FoliotError extends Error {
    constructor(text, status) {
        super(text);
        this.name = "FoliotError";
        this.status = status;
    }
}

// The errors in a scene's text, in the words of foliot-lab.
export class SceneError extends FoliotError {
    constructor({ text, status, line, column, missing }) {
        super(text, status);
        this.name = "SceneError";
        Object.assign(this, { line, column, missing });
    }
}

// -- worlds

const KINDS = { control: 0, join: 1, leave: 2 };

// Gives `values` as texts with closing zeros in the module's memory, for as long as `f` runs.
function withBytes(module, values, f) {
    const all = [];
    try {
        for (const value of values) {
            const bytes = toBytes(value), at = module.call.allocate(bytes.length + 1);
            if (!at) throw new RangeError("there is not enough memory");
            all.push({ at, length: bytes.length });
            module.put(at, bytes);
            module.put(at + bytes.length, new Uint8Array(1));
        }
        return f(...all);
    } finally {
        for (const { at } of all) module.call.release(at);
    }
}

export class World {
    #module;

    static async create(text, { name = "scene.yaml", files = {}, integrator = "", dt = "" } = {}) {
        const module = await instance("worlds");
        for (const [file, content] of Object.entries(files)) {
            const bytes = toBytes(content), at = withBytes(module, [file], (n) => module.call.give_file(n.at, bytes.length));
            if (!at) throw new RangeError(`there is no room for ${file}`);
            module.put(at, bytes);
        }
        const made = withBytes(module, [text, name, integrator, String(dt)], (t, n, i, d) => module.json(module.call.make(t.at, t.length, n.at, i.at, d.at)));
        if (made.status !== 0) throw new SceneError(made);
        return new World(module, made.scene);
    }

    constructor(module, scene) {
        this.#module = module;
        this.scene = scene;
    }

    #check(status) {
        if (status !== 0) throw new FoliotError(this.#module.text(this.#module.call.status_text(status)), status);
    }

    step(ticks = 1) {
        this.#check(this.#module.call.step(0, ticks));
    }

    input({ player, kind = "control", axes = [0, 0, 0, 0], buttons = 0 }) {
        if (!(kind in KINDS)) throw new FoliotError(`an input is control, join or leave, not ${kind}`, -1);
        const [x = 0, y = 0, z = 0, turn = 0] = axes.map((a) => Math.round(Math.max(-1, Math.min(1, a)) * 127));
        this.#check(this.#module.call.input(0, player, KINDS[kind], x, y, z, turn, buttons));
    }

    command(command) {
        const { status, text } = withBytes(this.#module, [JSON.stringify(command)], (c) => this.#module.json(this.#module.call.command(0, c.at, c.length)));
        if (status !== 0) throw new FoliotError(text, status);
    }

    get tick() {
        return this.#module.call.tick(0);
    }
    get time() {
        return this.#module.call.time(0);
    }
    get energy() {
        return this.#module.call.energy(0);
    }
    get digest() {
        return this.#module.text(this.#module.call.digest(0));
    }
    get slots() {
        return this.#module.call.slots(0);
    }

    positions() {
        const at = this.#module.call.positions(0);
        return new Float64Array(this.#module.call.memory.buffer, at, 3 * this.slots).slice();
    }

    body(slot) {
        return this.#module.json(this.#module.call.body(0, slot));
    }

    about() {
        return this.#module.json(this.#module.call.about(0));
    }

    capture() {
        const { call } = this.#module, at = call.capture(0);
        if (!at) throw new RangeError("there is not enough memory");
        const length = new DataView(call.memory.buffer).getUint32(at, true), bytes = this.#module.bytes(at + 4, length).slice();
        call.release(at);
        return bytes;
    }

    restore(bytes) {
        this.#check(withBytes(this.#module, [bytes], (b) => this.#module.call.restore(0, b.at, b.length)));
    }
}

export async function integrators() {
    const module = await instance("worlds");
    return module.json(module.call.integrators());
}

// -- recordings

export class Recording {
    #module;
    #progress = null;

    static async open(content) {
        const bytes = toBytes(content), recording = new Recording();
        const module = await instance("replayer", { progress: (tick) => recording.#progress?.(tick) });
        const at = module.call.begin_file(bytes.length);
        if (!at) throw new RangeError("there is not enough memory for this recording");
        module.put(at, bytes);
        const summary = module.json(module.call.open());
        if (summary.status !== 0) throw new FoliotError(summary.text, summary.status);
        recording.#module = module;
        recording.summary = summary;
        return recording;
    }

    // In one go: it takes as long as the simulation does. Use a worker in a page.
    verify(progress = null) {
        this.#progress = progress;
        try {
            const verdict = this.#module.json(this.#module.call.verify());
            return { ...verdict, matches: verdict.status === 0 };
        } finally {
            this.#progress = null;
        }
    }

    seek(tick) {
        const { first_tick: first, last_tick: last } = this.summary;
        if (!(tick >= first && tick <= last)) throw new FoliotError(`tick ${tick} is not in the recording: ${first} to ${last}`, -1);
        while (this.#module.call.seek(Math.floor(tick), 1024, Infinity));
        if (this.tick !== Math.floor(tick)) throw new FoliotError(`the recording cannot be replayed beyond tick ${this.tick}`, -1);
    }

    get tick() {
        return this.#module.call.tick();
    }
    get digest() {
        return this.#module.text(this.#module.call.digest());
    }
    get slots() {
        return this.#module.call.slots();
    }

    positions() {
        const at = this.#module.call.positions();
        return new Float64Array(this.#module.call.memory.buffer, at, 3 * this.slots).slice();
    }
}

// -- sessions

const STATES = ["connecting", "joining", "playing", "refused", "closed", "lost"];
const PLAYING = 2;
const EVENTS = { 0: "joined", 1: "left", 6: "message", 7: "chat", 9: "ended" };
const UPDATE_MS = 20;
const EVENTS_MAX = 1000; // not taken yet
const REASON_BASE = 4000; // close codes from here on are reasons of the transport
const isRefusal = (code) => code >= 4005 && code <= 4009; // a token or password that is missing or wrong
const SIGNAL = 2, TOKEN = 1, PASSWORD = 2;
const CLOGGED_BYTES = 16384;

function addressOf(link) {
    const url = new URL(link), given = new URLSearchParams(url.hash.slice(1));
    const scheme = { "http:": "ws:", "https:": "wss:" }[url.protocol] ?? url.protocol;
    if (scheme !== "ws:" && scheme !== "wss:") throw new FoliotError(`${link} is not a link to a server`, -1);
    return { url: `${scheme}//${url.host}${url.pathname.endsWith("/ws") ? url.pathname : "/ws"}`, token: given.get("token") ?? "" };
}

export class Session {
    #module;
    #socket = null;
    #timer = null;
    #proof = null;
    #WebSocket;
    #url;
    #settle;
    #events = [];
    #refusal = "";
    #looks = false;

    // Resolves when the server has welcomed the player.
    static async join(link, { name = "player", session = "", spectates = false, token, password, WebSocket = globalThis.WebSocket } = {}) {
        if (!WebSocket) throw new FoliotError("there is no WebSocket here: pass one, such as that of the package ws, as the option WebSocket", -1);
        const self = new Session(), address = addressOf(link);
        self.#url = address.url;
        self.#WebSocket = WebSocket;
        self.#proof = proofOf(token ?? address.token, password);
        self.#module = await instance("viewer", self.#page());
        const { call } = self.#module, length = encoder.encode(name + session).length;
        if (length > 400) throw new FoliotError("that name or session is too long", -1);
        self.#module.put(call.block(), `${name}\0${session}\0`);
        const welcome = new Promise((yes, no) => (self.#settle = { yes, no }));
        self.closed = new Promise((yes) => (self.#settle.over = yes));
        self.state = STATES[0];
        const status = call.join(spectates ? 1 : 0, performance.now());
        if (status !== 0) throw new FoliotError("that name or session is too long", status);
        self.#timer = setInterval(() => self.update(), UPDATE_MS);
        await welcome;
        return self;
    }

    #page() {
        const module = () => this.#module;
        return {
            connect: () => {
                const own = (this.#socket = new this.#WebSocket(this.#url, "foliot.1"));
                own.binaryType = "arraybuffer";
                own.onopen = () => {
                    if (own !== this.#socket) return;
                    if (this.#proof) own.send(this.#proof);
                    module().call.opened();
                    this.update();
                };
                own.onmessage = ({ data }) => {
                    if (own !== this.#socket || typeof data === "string" || data.byteLength > module().call.block_bytes()) return;
                    module().put(module().call.block(), new Uint8Array(data));
                    module().call.received(data.byteLength);
                    this.update();
                };
                own.onerror = () => {}; // onclose follows
                own.onclose = ({ code, reason }) => {
                    if (own !== this.#socket) return;
                    this.#socket = null;
                    if (isRefusal(code)) return this.#end("refused", String(reason));
                    module().call.closed(code >= REASON_BASE ? code - REASON_BASE : 1);
                    setTimeout(() => this.update());
                };
            },
            want_tables: async () => { // a session with interest sends partial snapshots
                const bytes = await read(URLS.tables).catch(() => new Uint8Array(0)); // it asks again
                const at = module().call.tables(bytes.length);
                if (at) module().call.tables_come(module().put(at, bytes));
            },
            disconnect: (reason) => {
                const own = this.#socket;
                this.#socket = null;
                own?.close(REASON_BASE + Math.min(reason, 999));
            },
            send: (reliable, at, length) => {
                if (this.#socket?.readyState !== 1) return;
                if (!reliable && this.#socket.bufferedAmount > CLOGGED_BYTES) return; // it would only come late
                const bytes = new Uint8Array(length + 1);
                bytes[0] = reliable;
                bytes.set(module().bytes(at, length), 1);
                this.#socket.send(bytes);
            },
        };
    }

    #end(state, reason) {
        if (this.#timer === null) return;
        clearInterval(this.#timer);
        this.#timer = null;
        this.state = state;
        this.#refusal = reason;
        const own = this.#socket;
        this.#socket = null;
        own?.close();
        this.#settle.no(new FoliotError(reason || `the session is over: ${state}`, -1));
        this.#settle.over({ state, reason });
    }

    // Runs by itself; a caller that draws also calls it before `sample`.
    update() {
        if (this.#timer === null) return;
        const state = this.#module.call.update(performance.now());
        this.state = STATES[state];
        if (state > PLAYING) return this.#end(STATES[state], this.#module.json(this.#module.call.about()).reason);
        if (state !== PLAYING) return;
        this.#hear();
        this.#settle.yes();
    }

    // Events come with their picture, once samples are taken.
    #hear() {
        const { call } = this.#module;
        if (this.#looks) call.sample(performance.now());
        for (const { kind, ...event } of this.#module.json(call.events())) this.#events.push({ kind: EVENTS[kind], ...event });
        if (this.#events.length > EVENTS_MAX) this.#events.splice(0, this.#events.length - EVENTS_MAX);
    }

    // The current picture; null before the first one.
    sample() {
        if (this.state !== "playing") return null;
        this.#looks = true;
        const { call } = this.#module, count = call.sample(performance.now());
        if (count < 0) return null;
        const floats = new Float32Array(call.memory.buffer, call.instances(), 12 * count), slots = new Uint32Array(call.memory.buffer, call.instance_slots(), count).slice();
        const positions = new Float32Array(3 * count), orientations = new Float32Array(4 * count);
        for (let i = 0; i < count; i++) {
            positions.set(floats.subarray(12 * i, 12 * i + 3), 3 * i);
            orientations.set(floats.subarray(12 * i + 3, 12 * i + 7), 4 * i);
        }
        return { count, slots, positions, orientations };
    }

    // Details of the body in a slot, as exact as the snapshot; null: there is none.
    position(slot) {
        if (!this.sample()) return null;
        const at = this.#module.call.body_position(slot);
        return at ? Array.from(new Float64Array(this.#module.call.memory.buffer, at, 3)) : null;
    }

    setInput({ axes = [0, 0, 0, 0], buttons = 0 }) {
        const [x = 0, y = 0, z = 0, turn = 0] = axes.map((a) => Math.round(Math.max(-1, Math.min(1, a)) * 127));
        this.#module.call.set_input(x, y, z, turn, buttons);
    }

    say(text) {
        const { call } = this.#module, bytes = encoder.encode(text);
        const status = bytes.length > call.block_bytes() ? -1 : call.chat(this.#module.put(call.block(), bytes));
        if (status !== 0) throw new FoliotError("the text cannot be sent: it is too long, too often, or from a spectator", status);
    }

    events() {
        return this.#events.splice(0);
    }

    about() {
        return { ...this.#module.json(this.#module.call.about()), state: this.state, ...(this.#refusal ? { reason: this.#refusal } : {}) };
    }

    // Resolves when the server has confirmed it.
    leave() {
        if (this.#timer !== null) this.#module.call.leave(performance.now());
        this.update();
        return this.closed;
    }
}

function proofOf(token, password) {
    const joined = (...parts) => Uint8Array.from(parts.flatMap((part) => Array.from(part)));
    if (password) return joined([SIGNAL, PASSWORD], encoder.encode(password));
    if (!token) return null;
    return joined([SIGNAL, TOKEN], globalThis.crypto.getRandomValues(new Uint8Array(32)), encoder.encode(token));
}
