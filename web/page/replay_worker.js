// SPDX-License-Identifier: MIT
// replay_worker.js: re-simulates a recording outside of the page's thread. The page has two
// workers: one verifies the recording in one go, the other shows ticks, in slices, so that it soon
// receives the next request.
//
// In: {open: ArrayBuffer, verify: true or false}, {show: tick, marked: slot, trusted: tick}.
// Out: {opened}, {progress: tick}, {verdict}, {picture}, {failed}.
import { load } from "./wasm.js";

const SLICE_MS = 12;
const REPORT_MS = 60;

let module = null;
let wanted = null; // the tick to show
let trusted = Infinity; // up to here keyframes are what would be computed
let marked = -1; // the slot of a body that is drawn so that it is seen
let reported = 0;
let running = false;

const turn = new MessageChannel(); // a message to itself: a timer would wait 4 ms
turn.port1.onmessage = () => guarded(work);

function fail(error) {
    running = false;
    wanted = null;
    postMessage({ failed: error instanceof RangeError ? "there is not enough memory for this recording" : String(error.message || error) });
}

function guarded(f) {
    try {
        f();
    } catch (error) {
        fail(error);
    }
}

function wake() {
    if (running || !module) return;
    running = true;
    turn.port2.postMessage(0);
}

function open(buffer, verifies) {
    const { call } = module;
    const at = call.begin_file(buffer.byteLength);
    if (!at) throw new RangeError();
    module.put(at, new Uint8Array(buffer));
    const opened = module.json(call.open());
    postMessage({ opened });
    if (opened.status !== 0) return;
    if (verifies) postMessage({ verdict: module.json(call.verify()) });
    else wanted = opened.first_tick;
}

function sendPicture(arrived) {
    const count = module.call.picture(marked);
    if (count < 0) return;
    const { instances, counts } = module.picture(count);
    const copy = instances.slice();
    postMessage({ picture: { tick: module.call.tick(), began: module.call.began(), instances: copy, counts, arrived } }, [copy.buffer]);
}

function show() {
    const end = performance.now() + SLICE_MS;
    let more = 1;
    while (more && performance.now() < end) more = module.call.seek(wanted, 8, trusted);
    sendPicture(!more);
    if (!more) wanted = null;
}

function work() {
    running = false;
    if (wanted !== null) show();
    if (wanted !== null) wake();
}

function progress(tick) {
    const now = performance.now();
    if (now - reported < REPORT_MS) return;
    reported = now;
    postMessage({ progress: tick });
}

const loaded = load("replayer.wasm", { progress }).then((m) => (module = m), fail);

onmessage = async ({ data }) => {
    await loaded;
    if (!module) return;
    guarded(() => {
        if (data.open) open(data.open, data.verify);
        if (data.show !== undefined) wanted = data.show, marked = data.marked, trusted = data.trusted;
        wake();
    });
};
