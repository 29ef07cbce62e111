// SPDX-License-Identifier: MIT
// world_worker.js: worlds outside of the page's thread: creates them from a scene's text and steps
// them. The page sends one request at a time; each answer has the request's number.
//
// In: {ask, make: {text, name, integrator, dt, base}}, {ask, give: {name, bytes}},
// {ask, advance: {worlds, ticks, limit, see}}, {ask, body: {world, slot}}, {ask, integrators},
// {ask, destroy: world}. Out: {ask, ...} or {ask, failed}.
import { load } from "./wasm.js";

const FILES_MAX = 64; // that one scene may name

let module = null;

const text = (value) => {
    const bytes = new TextEncoder().encode(value + "\0");
    const at = module.call.allocate(bytes.length);
    if (!at) throw new RangeError("there is not enough memory");
    module.put(at, bytes);
    return { at, length: bytes.length - 1 };
};
function withTexts(values, f) {
    const all = values.map(text);
    try {
        return f(all);
    } finally {
        for (const { at } of all) module.call.release(at);
    }
}

function give(name, bytes) {
    const at = withTexts([name], ([n]) => module.call.give_file(n.at, bytes.length));
    if (!at) throw new Error(`there is no room for ${name}`);
    module.put(at, bytes);
}

// Files next to an example are fetched when the scene needs them. The page must provide others.
async function make({ text: source, name, integrator = "", dt = "", base = "" }) {
    for (let i = 0; ; i++) {
        const made = withTexts([source, name, integrator, dt], ([s, n, w, d]) =>
            module.json(module.call.make(s.at, s.length, n.at, w.at, d.at)));
        if (made.status === 0 || !made.missing || !base || i === FILES_MAX) return made;
        const response = await fetch(new URL(made.missing, base));
        if (!response.ok) return made;
        give(made.missing, new Uint8Array(await response.arrayBuffer()));
    }
}

// Steps each world by the given ticks, or until the time is over. `see` names the data to return.
function advance({ worlds, ticks, limit = 30, see = {} }) {
    const { call } = module, end = performance.now() + limit;
    const chunk = Math.max(1, Math.min(ticks, see.chunk ?? 1)), times = worlds.map(() => 0), trails = worlds.map(() => []);
    let done = 0, status = 0;
    while (done < ticks && status === 0 && (done === 0 || performance.now() < end)) {
        const count = Math.min(chunk, ticks - done);
        worlds.forEach((world, i) => {
            const began = performance.now();
            status = status || call.step(world, count);
            times[i] += performance.now() - began;
            if (see.trail && status === 0) trails[i].push([call.time(world), call.energy(world), positions(world, see.trail)]);
        });
        if (status === 0) done += count;
    }
    const seen = worlds.map((world, i) => ({ ...look(world, see), ...(see.trail ? unfold(trails[i]) : {}) }));
    return { done, times, took: times.reduce((a, b) => a + b, 0), problem: status ? module.text(call.status_text(status)) : "", seen };
}

function positions(world, most) {
    const count = Math.min(module.call.slots(world), most), at = module.call.positions(world);
    return new Float64Array(module.call.memory.buffer, at, 3 * count).slice();
}
function unfold(samples) {
    const width = samples[0]?.[2].length ?? 0, trail = new Float64Array(width * samples.length);
    samples.forEach(([, , at], s) => trail.set(at.subarray(0, width), s * width));
    return { times: samples.map(([time]) => time), energies: samples.map(([, energy]) => energy), trail };
}

function look(world, see) {
    const { call } = module;
    const seen = { tick: call.tick(world), time: call.time(world), energy: call.energy(world) };
    if (see.digest) seen.digest = module.text(call.digest(world));
    if (see.about) seen.about = module.json(call.about(world));
    if (see.body >= 0) seen.body = module.json(call.body(world, see.body));
    if (see.positions) seen.positions = positions(world, Infinity);
    if (see.picture) {
        const count = call.picture(world, see.body ?? -1);
        if (count >= 0) {
            const { instances, counts } = module.picture(count);
            const slots = new Uint32Array(call.memory.buffer, call.instance_slots(), count).slice();
            seen.picture = { instances: instances.slice(), counts, slots, tick: seen.tick };
        }
        const lines = see.lines ? call.draw_lines(world, see.lines, see.length ?? 1) : 0;
        seen.lines = new Uint8Array(call.memory.buffer, call.lines(), 28 * lines).slice();
    }
    return seen;
}

async function answer(data) {
    const { call } = module;
    if (data.make) return { made: await make(data.make) };
    if (data.give) return give(data.give.name, new Uint8Array(data.give.bytes));
    if (data.advance) return { advanced: advance(data.advance) };
    if (data.integrators) return { integrators: module.json(call.integrators()) };
    if (data.destroy !== undefined) return call.destroy(data.destroy);
}

const loaded = load("worlds.wasm");
onmessage = async ({ data }) => {
    try {
        module = await loaded;
        const given = await answer(data);
        postMessage({ ask: data.ask, ...given });
    } catch (error) {
        postMessage({ ask: data.ask, failed: error instanceof RangeError ? "there is not enough memory for this" : String(error.message || error) });
    }
};
