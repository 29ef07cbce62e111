// SPDX-License-Identifier: MIT
// networks.mjs: the page of a session under what happens to pages: loss and delay, a renderer that
// is stopped, a tab that stays hidden, a server of another version. And what it shows is what a
// native client shows. LONG=1 hides the tab for a minute.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { check, launch, longTest, open, test, until } from "./harness.mjs";
import { impair } from "./impair.mjs";
import { host, say } from "./sessions.mjs";

const PLAYING = "2", REFUSED = "3";
const small = { viewport: { width: 320, height: 240 } }; // software draws it
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const data = (page) => page.evaluate(() => ({ ...document.body.dataset }));
const inState = (page, state) => until(page, (s) => document.body.dataset.state === s, state);
const clean = (page) => check(page.complaints.length === 0, page.complaints.join("; "));
const own = async (page) => (await until(page, () => document.body.dataset.position)).split(",").map(Number);
async function pushes(page, key) {
    const began = await own(page);
    await page.keyboard.down(key);
    await until(page, (p) => Math.hypot(...document.body.dataset.position.split(",").map((x, k) => x - p[k])) > 0.5, began);
    await page.keyboard.up(key);
}

// Kilobytes in memory.
const memory = (pid) => Number(readFileSync(`/proc/${pid}/status`, "utf8").match(/VmRSS:\s+(\d+)/)[1]);

async function withServer(build, scene, body, options) {
    const server = await host(build, scene, options);
    try {
        await body(server);
    } finally {
        await server.stop();
    }
}

// Samples of a native client next to the page: [render tick, x, y, z] of one body, many a frame.
function nativeSamples(build, port, slot) {
    const child = spawn(join(build, "tests/web/native_positions"), [String(port), String(slot)]);
    const samples = [];
    createInterface({ input: child.stdout }).on("line", (line) => samples.push(line.split(" ").map(Number)));
    process.on("exit", () => child.exitCode ?? child.kill("SIGKILL"));
    return { samples, stop: () => new Promise((done) => (child.on("exit", done), child.kill("SIGTERM"))) };
}

export async function networks(browser, build, modules, shots) {
    for (const percent of [2, 5])
        await longTest(`a session at 50 ms and ${percent} % loss both ways`, () =>
            withServer(build, "scenes/cubes.yaml", async ({ url }) => {
                const network = { loss: percent / 100, delay_ms: 25 };
                const proxy = await impair(Number(new URL(url).port), network, 7 + percent);
                const begin = performance.now();
                const page = await open(browser, `http://127.0.0.1:${proxy.port}/#name=ann`, small);
                await inState(page, PLAYING);
                await until(page, () => document.body.dataset.bodies);
                const seconds = (performance.now() - begin) / 1000;
                await pushes(page, "KeyW");
                await say(page, "over there");
                await until(page, () => /<ann> over there/.test(document.getElementById("said").textContent));
                const delays = [];
                for (let i = 0; i < 20; i++) {
                    await pause(500);
                    delays.push(Number((await page.textContent("#figures")).match(/delay (\d+) ms/)?.[1] ?? NaN));
                }
                delays.sort((a, b) => a - b);
                const { state } = await data(page);
                console.log(`        first picture after ${seconds.toFixed(1)} s; playout delay ${delays[10]} ms in the middle, ${delays[19]} at most; ` +
                    `${proxy.counts.lost} of ${proxy.counts.passed} segments lost`);
                check(state === PLAYING && proxy.counts.lost > 10, `state ${state}, ${proxy.counts.lost} lost`);
                check(delays[10] < 1500, "the delay");
                clean(page);
                await page.context().close();
                proxy.close();
            }, ["--webrtc", "off"])); // the data channel does not pass the proxy

    await longTest("a page that is stopped costs the server nothing, and comes back", () =>
        withServer(build, "scenes/cubes.yaml", async ({ url, child }) => {
            const other = await launch(modules); // a separate browser, whose pages all stop
            const renderers = [];
            try {
                const ann = await open(browser, url + "#name=ann", small);
                await inState(ann, PLAYING);
                const ben = await open(other, url + "#name=ben", small);
                await inState(ben, PLAYING);
                const { player } = await until(ben, () => document.body.dataset.player && { ...document.body.dataset });
                const session = await other.newBrowserCDPSession();
                const { processInfo } = await session.send("SystemInfo.getProcessInfo");
                renderers.push(...processInfo.filter((p) => p.type === "renderer").map((p) => p.id));
                check(renderers.length > 0, "no renderer found");
                await pause(2000);
                const tick = async () => Number((await data(ann)).tick);
                const before = { kb: memory(child.pid), tick: await tick(), ms: performance.now() };
                renderers.forEach((pid) => process.kill(pid, "SIGSTOP"));
                let most = before.kb;
                for (let i = 0; i < 28; i++) {
                    await pause(500);
                    most = Math.max(most, memory(child.pid));
                }
                const rate = ((await tick()) - before.tick) / ((performance.now() - before.ms) / 1000);
                console.log(`        ${((most - before.kb) / 1000).toFixed(1)} MB more at most, ${rate.toFixed(1)} ticks a second`);
                check(most - before.kb < 8000, `${before.kb} kB grew to ${most}`);
                check(rate > 55 && rate < 65, `${rate} ticks a second`);
                renderers.splice(0).forEach((pid) => process.kill(pid, "SIGCONT"));
                await ben.evaluate(() => delete document.body.dataset.tick);
                await until(ben, () => document.body.dataset.tick);
                check((await data(ben)).player === player, "it is the same player");
                await pushes(ben, "KeyD");
                await ann.context().close();
            } finally {
                renderers.forEach((pid) => process.kill(pid, "SIGCONT"));
                await other.close();
            }
        }));

    const hidden = process.env.LONG ? 60 : 15;
    await longTest(`a tab that is hidden for ${hidden} s, its timers slowed down, is in the session after it`, () =>
        withServer(build, "scenes/cubes.yaml", async ({ url }) => {
            const page = await open(browser, "about:blank", small);
            await page.addInitScript(() => { // as browsers do: no frames, timers once a second
                const raf = window.requestAnimationFrame.bind(window);
                const waiting = [];
                window.hide = (hides) => {
                    window.isHidden = hides;
                    Object.defineProperty(document, "hidden", { configurable: true, value: hides });
                    document.dispatchEvent(new Event("visibilitychange"));
                    if (!hides) waiting.splice(0).forEach((f) => raf(f));
                };
                window.requestAnimationFrame = (f) => (window.isHidden ? waiting.push(f) : raf(f));
                const every = window.setInterval.bind(window);
                window.setInterval = (f, ms) => {
                    let last = 0;
                    return every(() => {
                        if (window.isHidden && performance.now() - last < 1000) return;
                        last = performance.now();
                        f();
                    }, ms);
                };
            });
            await page.goto(url + "#name=ann&step=0");
            await inState(page, PLAYING);
            const { player } = await until(page, () => document.body.dataset.player && { ...document.body.dataset });
            await page.evaluate(() => window.hide(true));
            await pause(hidden * 1000);
            const after = await data(page);
            check(after.state === PLAYING && after.player === player, `state ${after.state}, player ${after.player}`);
            await page.evaluate(() => window.hide(false));
            await pushes(page, "KeyW");
            clean(page);
            await page.context().close();
        }));

    await test("a page of another version than its server says so", () =>
        withServer(build, "scenes/pendulum.yaml", async ({ url }) => {
            const page = await open(browser, "about:blank", small);
            for (const file of ["**/session.js", url])
                await page.route(file, async (route) => {
                    const response = await route.fetch();
                    await route.fulfill({ response, body: (await response.text()).replace("\"foliot.1\"", "\"foliot.0\"") });
                });
            await page.goto(url + "#watch=1");
            await inState(page, REFUSED);
            const text = await page.textContent("#message");
            console.log(`        ${text}`);
            check(/version/.test(text) && /reload/i.test(text), text);
            await page.context().close();
        }));

    await test("a page shows a body where a native client shows it, at the same tick", () =>
        withServer(build, "scenes/cubes.yaml", async ({ url, log }) => {
            const port = Number(log.match(/listening on \S+:(\d+)/)[1]);
            const page = await open(browser, url + "#name=ann", small);
            await inState(page, PLAYING);
            const { own: slot } = await until(page, () => document.body.dataset.own >= 0 && { ...document.body.dataset }); // -1 until its body is known
            const native = nativeSamples(build, port, slot);
            await until(page, () => document.body.dataset.bodies);
            for (let i = 0; i < 300 && native.samples.length < 100; i++) await pause(100);
            const shown = [], keys = ["KeyW", "KeyS"];
            // Moments in which it moves and the native client has two samples near: how far apart
            // the two show it.
            const apart = () => shown.flatMap(([x, y, z, tick]) => {
                const after = native.samples.findIndex((s) => s[0] >= tick);
                const [a, b] = [native.samples[after - 1], native.samples[after]], ticks = b?.[0] - a?.[0];
                if (!(ticks > 0 && ticks <= 0.5) || Math.hypot(...[1, 2, 3].map((k) => b[k] - a[k])) < 0.02 * ticks) return [];
                return [Math.hypot(...[x, y, z].map((p, k) => p - a[k + 1] - (tick - a[0]) / ticks * (b[k + 1] - a[k + 1])))];
            });
            // A busy machine lets either run out of snapshots; then it guesses, and there are fewer
            // that can be compared.
            const equal = () => apart().filter((off) => off < 0.0001).length;
            for (let i = 0; i < 60 || (i < 900 && equal() < 20); i++) {
                if (i % 40 === 0) {
                    if (i) await page.keyboard.up(keys[1]);
                    await page.keyboard.down(keys[0]);
                    keys.reverse();
                }
                shown.push(await page.evaluate((s) => [...(window.foliotPosition(s) ?? []), window.foliotTick()], slot));
                await pause(37);
            }
            await page.keyboard.up(keys[1]);
            await native.stop();
            const offs = apart().sort((a, b) => a - b), most = offs.at(-1);
            console.log(`        ${offs.length} moments, ${equal()} of them equal, ${(most * 1000).toFixed(1)} mm apart at most`);
            check(equal() >= 20 && most < 0.2, `${equal()} of ${offs.length} are equal, ${most} m apart`);
            clean(page);
            await page.context().close();
        }));
}
