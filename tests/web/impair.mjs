// SPDX-License-Identifier: MIT
// impair.mjs: a network of TCP's with loss and delay, between a page and its server, in user space:
// the kernel of a test machine has no netem, and browsers' own throttling leaves open WebSockets
// out.
//
// A lost packet of TCP is not lost to who reads: it comes later, and all that follows waits for it.
// So a connection is cut into segments, each of which is lost with the given chance, and then comes
// after a retransmission: a round trip and the three later segments that tell the sender of it, or
// the time-out of 200 ms, whichever is sooner; a retransmission is lost with the same chance, and
// the next one waits twice as long. The figures leave out that loss slows down a sender with much
// data; a session sends little.
import { connect, createServer } from "node:net";

const SEGMENT = 1448;
const TIMEOUT_MS = 200;

// The same numbers in every run (mulberry32).
function random(seed) {
    return () => {
        seed = (seed + 0x6d2b79f5) | 0;
        let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
}

// `network`: loss from 0 to 1, delay_ms one way; it may change while connections are open. Returns
// the port to connect to, how many segments passed and were lost, and close().
export async function impair(port, network, seed = 1) {
    const draw = random(seed);
    const sockets = new Set();
    const counts = { passed: 0, lost: 0 };
    const lateness = () => {
        let ms = network.delay_ms;
        for (let wait = Math.min(TIMEOUT_MS, 2 * network.delay_ms + 50); draw() < network.loss; wait = Math.max(2 * wait, TIMEOUT_MS)) {
            counts.lost++;
            ms += wait;
        }
        counts.passed++;
        return ms;
    };
    const pass = (from, to) => {
        const queue = []; // timers of Node keep no order among themselves
        let last = 0, ended = false;
        const drain = () => {
            while (queue.length && queue[0].due <= performance.now() + 1) {
                const { piece } = queue.shift();
                to.destroyed || ended || to.write(piece);
            }
            if (queue.length) setTimeout(drain, queue[0].due - performance.now());
        };
        sockets.add(from);
        from.setNoDelay(true);
        from.on("data", (bytes) => {
            for (let at = 0; at < bytes.length; at += SEGMENT) {
                const piece = bytes.subarray(at, at + SEGMENT);
                last = Math.max(last, performance.now() + lateness()); // in order
                queue.push({ due: last, piece });
                if (queue.length === 1) setTimeout(drain, last - performance.now());
            }
        });
        from.on("close", () => setTimeout(() => {
            ended = true;
            sockets.delete(from);
            to.destroy();
        }, Math.max(0, last - performance.now()) + network.delay_ms));
        from.on("error", () => from.destroy());
    };
    const server = createServer((near) => {
        const far = connect(port, "127.0.0.1");
        pass(near, far);
        pass(far, near);
    });
    await new Promise((done) => server.listen(0, "127.0.0.1", done));
    return {
        counts, port: server.address().port,
        close: () => (server.close(), sockets.forEach((s) => s.destroy())),
    };
}
