// SPDX-License-Identifier: MIT
// channels.mjs: the second path of a session's page: a data channel carries what may be lost, the
// WebSocket all of it where UDP does not pass, and each takes over from the other.
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { FIREFOX, launchFirefox } from "./firefox.mjs";
import { check, open, test, until } from "./harness.mjs";
import { host } from "./sessions.mjs";

const small = { viewport: { width: 320, height: 200 } };
const onPath = (page, path, seconds = 60) => until(page, (p) => document.body.dataset.path === p && document.body.dataset.bodies, path, seconds);
async function withServer(build, options, body, web) {
    const server = await host(build, "scenes/spacewar.yaml", ["--no-record", ...options], web);
    try {
        await body(server);
    } finally {
        await server.stop();
    }
}

// Runs before the page's own scripts: keeps its connections, and changes answers on request.
function watchConnections() {
    const Own = RTCPeerConnection;
    window.connections = [];
    globalThis.RTCPeerConnection = class extends Own {
        constructor(...all) {
            super(...all);
            window.connections.push(this);
        }
        setRemoteDescription(answer) {
            return super.setRemoteDescription(window.changed ? { ...answer, sdp: window.changed(answer.sdp) } : answer);
        }
    };
}
async function openPage(browser, url, script) {
    const page = await open(browser, "about:blank", small);
    await page.addInitScript(watchConnections);
    if (script) await page.addInitScript(script);
    await page.goto(url + "#name=ann&step=0");
    return page;
}
const ended = (server, words) => new Promise((yes, no) => {
    const limit = setTimeout(() => (clearInterval(every), no(new Error("the server says: " + server.log))), 60000);
    const every = setInterval(() => words.test(server.log) && (clearInterval(every), clearTimeout(limit), yes()), 100);
});
const moved = async (page) => {
    const began = +(await until(page, () => document.body.dataset.tick));
    await until(page, (t) => +document.body.dataset.tick > t + 30, began);
};

// A UDP port before the server's, which loses larger datagrams both ways.
async function narrow(port, bytes) {
    const near = createSocket("udp4"), far = createSocket("udp4"), lost = { up: 0, down: 0 };
    let page;
    near.on("message", (datagram, from) => {
        page = from;
        datagram.length > bytes ? lost.up++ : far.send(datagram, port, "127.0.0.1");
    });
    far.on("message", (datagram) => datagram.length > bytes ? lost.down++ : near.send(datagram, page.port, page.address));
    for (const socket of [near, far]) await once(socket.bind(0, "127.0.0.1"), "listening");
    return { lost, port: near.address().port, close: () => (near.close(), far.close()) };
}

export async function channels(browser, build) {
    for (const bytes of [1100, 700])
        await test(`a data channel opens where ${bytes} bytes pass, and carries all snapshots`, async () => {
            const server = await host(build, "scenes/cubes.yaml", ["--no-record"]);
            const path = await narrow(+new URL(server.url).port, bytes);
            try {
                const page = await open(browser, "about:blank", small);
                await page.addInitScript(watchConnections);
                await page.addInitScript((port) => (window.changed = (sdp) => sdp.replace(/( udp \d+ \S+) \d+/g, "$1 " + port)), path.port);
                await page.goto(server.url + "#name=ann&step=0");
                await onPath(page, "channel");
                await moved(page);
                check(path.lost.up === 0 && path.lost.down > 0, `lost: ${path.lost.up} up, ${path.lost.down} down`);
                check(!/took too long/.test(server.log), server.log);
                await page.context().close();
            } finally {
                path.close();
                await server.stop();
            }
        });

    await test("snapshots come by a data channel; closed, the WebSocket goes on, and a new one opens", () =>
        withServer(build, [], async ({ url }) => {
            const page = await openPage(browser, url);
            await onPath(page, "channel");
            const received = () => page.evaluate(async () => {
                let messages = 0;
                for (const report of (await window.connections.at(-1).getStats()).values())
                    if (report.type === "data-channel") messages = report.messagesReceived;
                return messages;
            });
            const before = await received();
            await moved(page);
            check(await received() > before + 10, `${before} messages, then ${await received()}`);
            await page.evaluate(() => window.connections.at(-1).close());
            await onPath(page, "socket");
            await moved(page);
            await onPath(page, "channel"); // the page asks again
            check((await page.evaluate(() => document.body.dataset.state)) === "2", "the session held");
            check(page.complaints.length === 0, page.complaints.join("; "));
            await page.context().close();
        }));

    await test("where UDP does not pass the WebSocket carries all, and the server says why", () =>
        withServer(build, [], async (server) => {
            const page = await openPage(browser, server.url, () => (window.changed = (sdp) => sdp.replace(/( udp \d+ \S+) \d+/g, "$1 9")));
            await until(page, () => window.connections.length > 0 && document.body.dataset.bodies);
            await ended(server, /data channel ended.*UDP may be blocked/);
            await moved(page);
            await onPath(page, "socket");
            await page.context().close();
        }));

    await test("another server's certificate is not taken", () =>
        withServer(build, [], async (server) => {
            const page = await openPage(browser, server.url, () => (window.changed = (sdp) => sdp.replace(/(sha-256 )../, "$100")));
            await ended(server, /data channel ended/);
            await onPath(page, "socket");
            await page.context().close();
        }));

    await test("a server without data channels has players", () =>
        withServer(build, ["--webrtc", "off"], async ({ url }) => {
            const page = await openPage(browser, url);
            await until(page, () => window.connections.length > 0);
            await moved(page);
            await onPath(page, "socket");
            await page.context().close();
        }));

    const address = Object.values(networkInterfaces()).flat().find((a) => a.family === "IPv4" && !a.internal)?.address;
    if (!existsSync(FIREFOX) || !address)
        return console.log("        no Firefox here, or no address but the loopback's: its data channel is left out");
    await test("Firefox has a data channel", () =>
        withServer(build, ["--insecure"], async ({ url }) => {
            const firefox = await launchFirefox();
            try {
                // Without the page's picture: not every Firefox without a screen has WebGL 2.
                await firefox.go(url + "recording.html");
                await firefox.evaluate(`void import("./channel.js").then(({ Channel }) => {
                    const socket = new WebSocket("ws://" + location.host + "/ws", "foliot.1");
                    socket.binaryType = "arraybuffer";
                    window.channel = new Channel((kind, text) => socket.send(new Uint8Array([2, kind, ...new TextEncoder().encode(text)])), () => {});
                    socket.onmessage = ({ data }) => new Uint8Array(data)[0] === 2 && window.channel.take(new Uint8Array(data).subarray(1));
                    socket.onopen = () => window.channel.open();
                })`);
                await firefox.until("window.wrappedJSObject?.channel?.peer?.sctp?.state === 'connected' || window.channel?.peer?.sctp?.state === 'connected'", 80);
            } finally {
                await firefox.stop();
            }
        }, `${address}:0`));
}
