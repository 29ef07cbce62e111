// SPDX-License-Identifier: MIT
// wasm.js: loads a module of foliot and gives access to its functions, its memory, and texts in and
// out. The modules are built for WASI and need little of it: their output goes to the console.

const decoder = new TextDecoder();
const encoder = new TextEncoder();
const BAD_DESCRIPTOR = 8;

function wasi(memory) {
    let line = "";
    return {
        fd_close: () => 0,
        fd_fdstat_get: () => BAD_DESCRIPTOR,
        fd_pread: () => BAD_DESCRIPTOR,
        fd_seek: () => BAD_DESCRIPTOR,
        proc_exit: (code) => {
            throw new Error("the module ended with " + code);
        },
        fd_write(descriptor, parts, count, written) {
            const view = new DataView(memory().buffer);
            let total = 0;
            for (let i = 0; i < count; i++) {
                const at = view.getUint32(parts + 8 * i, true);
                const length = view.getUint32(parts + 8 * i + 4, true);
                line += decoder.decode(new Uint8Array(memory().buffer, at, length));
                total += length;
            }
            view.setUint32(written, total, true);
            const lines = line.split("\n");
            line = lines.pop();
            lines.forEach((text) => console.error(text));
            return 0;
        },
    };
}

async function fetched(url, imports) {
    const response = await fetch(url);
    if (!response.ok)
        throw new Error(`${url}: ${response.status} ${response.statusText}`);
    const { instance } = response.headers.get("Content-Type") === "application/wasm"
        ? await WebAssembly.instantiateStreaming(response, imports)
        : await WebAssembly.instantiate(await response.arrayBuffer(), imports);
    return instance;
}

// `source`: its address, or a compiled module. `page` has the functions that the module calls.
export async function load(source, page = {}) {
    let memory = null;
    const print_real = (value, at) => void encoder.encodeInto(value + "\0", new Uint8Array(memory.buffer, at)); // the viewer's libc has no such numbers
    const imports = { wasi_snapshot_preview1: wasi(() => memory), math: Math, page: { print_real, ...page } };
    const instance = await (typeof source === "string" ? fetched(source, imports) : WebAssembly.instantiate(source, imports));
    const call = instance.exports;
    memory = call.memory;
    call._initialize();
    return {
        call,
        bytes: (at, length) => new Uint8Array(memory.buffer, at, length),
        text(at) {
            const all = new Uint8Array(memory.buffer, at);
            return decoder.decode(all.subarray(0, all.indexOf(0)));
        },
        json(at) {
            return JSON.parse(this.text(at));
        },
        // Writes bytes or text to the module's input block. Returns their number.
        put(at, what) {
            const source = typeof what === "string" ? encoder.encode(what) : what;
            new Uint8Array(memory.buffer, at, source.length).set(source);
            return source.length;
        },
        // The instances to draw, in memory until the module's next call.
        picture(count) {
            return {
                instances: new Uint8Array(memory.buffer, call.instances(), count * 48),
                counts: Array.from(new Uint32Array(memory.buffer, call.instance_counts(), 3)),
            };
        },
    };
}
