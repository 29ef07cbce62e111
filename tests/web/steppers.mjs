// SPDX-License-Identifier: MIT
// steppers.mjs: a page that steps the world itself: the server compares its digests, own keys act
// before any answer can have come, a flipped bit is healed, and what cannot be stepped is watched.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { check, longTest, open, test, until } from "./harness.mjs";
import { atRest, host } from "./sessions.mjs";

const small = { viewport: { width: 320, height: 240 } }; // software draws it
const data = (page) => page.evaluate(() => ({ ...document.body.dataset }));
const clean = (page) => check(page.complaints.length === 0, page.complaints.join("; "));
const predicts = (page) => until(page, () => document.body.dataset.kind === "stepper" && document.body.dataset.prediction === "on");

// A page to whose module every step seems to take `step_ms`, however busy this machine is.
async function openTimed(browser, url, step_ms = 0) {
    const page = await open(browser, "about:blank", small);
    await page.addInitScript((ms) => {
        const start = WebAssembly.instantiateStreaming;
        let clock = 0;
        WebAssembly.instantiateStreaming = (response, imports) => {
            if (imports.page.clock) imports.page = { ...imports.page, clock: () => (clock += ms) };
            return start(response, imports);
        };
    }, step_ms);
    await page.goto(url);
    return page;
}

// A connection whose bytes come `ms` later, in both directions. Gives its port.
async function delay(port, ms) {
    const sockets = new Set();
    const server = createServer((near) => {
        const far = connect(port, "127.0.0.1");
        for (const [from, to] of [[near, far], [far, near]]) {
            sockets.add(from);
            from.setNoDelay(true);
            from.on("data", (bytes) => setTimeout(() => to.write(bytes), ms));
            from.on("close", () => setTimeout(() => to.destroy(), ms));
            from.on("error", () => to.destroy());
        }
    });
    await new Promise((done) => server.listen(0, "127.0.0.1", done));
    return { port: server.address().port, close: () => (server.close(), sockets.forEach((s) => s.destroy())) };
}

async function withServer(build, scene, options, body) {
    const server = await host(build, scene, options);
    try {
        await body(server);
    } finally {
        await server.stop();
    }
    return server.log;
}
export const counted = (log, name) => Number(log.match(new RegExp(`^${name}\\s+(\\d+)$`, "m"))?.[1] ?? NaN);

// Frames and milliseconds from a key until the own body is shown elsewhere.
const press = (page, code) => page.evaluate((key) => new Promise((done) => {
    const was = document.body.dataset.position, began = performance.now();
    let frames = 0;
    const look = () => {
        if (document.body.dataset.position !== was) return done([frames, performance.now() - began]);
        frames++;
        requestAnimationFrame(look);
    };
    window.dispatchEvent(new KeyboardEvent("keydown", { code: key }));
    requestAnimationFrame(look);
}), code);

// A box that players push over a floor: hardly any work, on whatever machine.
export const SCENE = `foliot: 1
name: floor
tick_hz: 60
gravity: [0, 0, -9.81]
bodies:
  - {name: floor, static: true, shape: {kind: plane}, friction: 0.6}
players:
  limit: 4
  spawn: {mass: 1, shape: {kind: box, half: [0.5, 0.5, 0.5]}, friction: 0.3, positions: [[0, 0, 0.6], [3, 0, 0.6]]}
  controls: {kind: thrust, force: 30}
`;

export async function steppers(browser, build, shots) {
    const folder = mkdtempSync(join(tmpdir(), "foliot-steppers-"));
    const scene = join(folder, "floor.yaml");
    writeFileSync(scene, SCENE);
    try {
        await all(browser, build, shots, scene);
    } finally {
        rmSync(folder, { recursive: true });
    }
}

async function all(browser, build, shots, scene) {
    await test("a page steps, beside one that watches; the server compares every digest", async () => {
        const log = await withServer(build, "scenes/cubes.yaml", [], async ({ url }) => {
            const ben = await open(browser, url + "#name=ben&step=0", small);
            await until(ben, () => document.body.dataset.bodies);
            const ann = await openTimed(browser, url + "#name=ann&step=1"); // joins a world that moves
            await predicts(ann);
            await ann.keyboard.down("KeyW");
            await ben.keyboard.down("KeyS");
            await until(ann, () => Number(document.body.dataset.compared) > 120);
            if (shots) await ann.screenshot({ path: `${shots}/session-steps.png` });
            await ann.keyboard.up("KeyW");
            await ben.keyboard.up("KeyS");
            await atRest(ann);
            const { own, position, divergences } = await data(ann);
            const here = position.split(",").map(Number), there = await ben.evaluate((s) => window.foliotPosition(Number(s)), own);
            check(there && Math.hypot(...here.map((x, k) => x - there[k])) < 0.05, `ann is at ${here}, ben sees ${there}`);
            check(divergences === "0", divergences + " divergences");
            for (const page of [ann, ben]) clean(page);
            for (const page of [ann, ben]) await page.context().close();
        });
        check(counted(log, "ticks_compared") > 120 && counted(log, "divergences") === 0, log.slice(-3000));
    });

    await test("a page steps by itself, unless its link says no", () =>
        withServer(build, scene, [], async ({ url }) => {
            const ann = await openTimed(browser, url + "#name=ann"), ben = await openTimed(browser, url + "#name=ben&step=0");
            await predicts(ann);
            await until(ben, () => document.body.dataset.frames);
            check(await ben.evaluate(() => document.body.dataset.kind !== "stepper"), "ben steps");
            clean(ann);
            for (const page of [ann, ben]) await page.context().close();
        }));

    await test("own keys act before any answer can have come from a server 100 ms away", () =>
        withServer(build, scene, [], async ({ url }) => {
            const slow = await delay(Number(new URL(url).port), 50);
            try {
                const page = await openTimed(browser, `http://127.0.0.1:${slow.port}/#name=ann&step=1`);
                const took = [];
                const atOnce = () => took.some(([n, ms]) => n <= 2 && ms < 100);
                for (let i = 0; i < 12 && !atOnce(); i++) { // a busy machine is farther away than it should be
                    const key = ["KeyW", "KeyS"][i % 2];
                    await predicts(page);
                    await atRest(page);
                    took.push(await press(page, key));
                    await page.evaluate((code) => window.dispatchEvent(new KeyboardEvent("keyup", { code })), key);
                }
                const text = took.map(([n, ms]) => `${n} frames, ${ms.toFixed(0)} ms`).join("; ");
                console.log(`        ${text}`);
                check(atOnce(), text);
                clean(page);
                await page.context().close();
            } finally {
                slow.close();
            }
        }));

    await test("a flipped bit is found and healed; the page steps again", async () => {
        const log = await withServer(build, "scenes/cubes.yaml", [], async ({ url }) => {
            const page = await openTimed(browser, url + "#name=ann&step=1");
            await predicts(page);
            await until(page, () => Number(document.body.dataset.compared) > 30);
            check((await page.evaluate(() => window.foliotPerturb())) >= 0, "a body to flip a bit of");
            await until(page, () => Number(document.body.dataset.heals) === 1);
            await predicts(page);
            const { compared } = await data(page);
            await until(page, (n) => Number(document.body.dataset.compared) > Number(n) + 60, compared);
            check((await data(page)).divergences === "1", (await data(page)).divergences + " divergences");
            clean(page);
            await page.context().close();
        });
        check(counted(log, "heals") === 1 && counted(log, "divergences") === 1, log.slice(-3000));
    });

    await test("a button makes the same player step, and watch again", async () => {
        const log = await withServer(build, scene, [], async ({ url }) => {
            const page = await openTimed(browser, url + "#name=ann&step=0");
            await until(page, () => document.body.dataset.position);
            await page.keyboard.down("KeyW");
            await until(page, () => Math.abs(document.body.dataset.position.split(",")[1]) > 1);
            await page.click("#step");
            await predicts(page);
            await until(page, () => Math.abs(document.body.dataset.position.split(",")[1]) > 5); // pushed on
            await page.keyboard.up("KeyW");
            await page.click("#step");
            await until(page, () => document.body.dataset.kind === "watcher");
            await page.click("#step");
            await predicts(page);
            const said = await page.evaluate(() => document.getElementById("said").innerText);
            check(said.match(/is here/g).length === 1, `who was there is told again: ${said}`);
            clean(page);
            await page.context().close();
        });
        check(counted(log, "joins") === 1 && counted(log, "resumes") === 1 && counted(log, "kind_changes") >= 2, log.slice(-6000));
    });

    await longTest("with a link of one's own the button goes on as the same player", async () => {
        const key = join(scene, "../key"), ctl = (...words) => execFileSync(resolve(build, "foliotctl"), words, { encoding: "utf8" }).trim();
        ctl("key", key);
        const log = await withServer(build, scene, ["--key", key], async ({ url }) => {
            const page = await openTimed(browser, ctl("token", "--key", key, "--link", url) + "&name=ann");
            await until(page, () => document.body.dataset.position);
            await page.click("#step");
            await predicts(page);
            const said = await page.evaluate(() => document.getElementById("said").innerText);
            check(said.match(/is here/g).length === 1, `who was there is told again: ${said}`);
            clean(page);
            await page.context().close();
        });
        check(counted(log, "joins") === 1 && counted(log, "resumes") === 1, log.slice(-6000));
    });

    await longTest("where a step takes too long the page watches, and says so", () =>
        withServer(build, "scenes/spacewar.yaml", [], async ({ url }) => {
            const page = await openTimed(browser, url + "#name=ann&step=1", 6);
            await until(page, () => document.body.dataset.slow === "true" && document.body.dataset.kind === "watcher");
            const text = await until(page, () => document.getElementById("said").textContent.match(/A step takes.*watches\./)?.[0]);
            console.log(`        ${text}`);
            clean(page);
            await page.context().close();
        }));

    await test("where nobody may step the page watches, and says so", () =>
        withServer(build, "scenes/cubes.yaml", ["--interest", "20,5,256"], async ({ url }) => {
            const page = await open(browser, url + "#name=ann", small);
            const push = async (key) => {
                const began = await until(page, () => document.body.dataset.position);
                await page.keyboard.down(key);
                await until(page, (p) => Math.hypot(...document.body.dataset.position.split(",").map((x, k) => x - p.split(",")[k])) > 0.5, began);
                await page.keyboard.up(key);
            };
            await atRest(page);
            for (const key of ["KeyW", "KeyS", "KeyA"]) await push(key);
            const before = await page.evaluate(() => document.querySelectorAll("#said .event").length);
            check((await data(page)).kind === undefined, "it steps already");
            await page.click("#step");
            await until(page, (count) => document.body.dataset.kind === "watcher" && document.querySelectorAll("#said .event").length > count, before);
            await atRest(page);
            await push("KeyW"); // the server takes what the player gives now for newer than before
            clean(page);
            await page.context().close();
        }));
}
