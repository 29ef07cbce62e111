// SPDX-License-Identifier: MIT
// sessions.mjs: the page of a session, with real servers: join, play by keys and by touch, see the
// world move, talk, leave and come back, survive what a network and a stranger do.
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { SCENE } from "./steppers.mjs";
import { check, longTest, open, test, until, watchFirst } from "./harness.mjs";

// A server on free ports. Gives the page's address, and what it printed.
export async function host(build, scene, options = [], http = "127.0.0.1:0") {
    const folder = mkdtempSync(join(tmpdir(), "foliot-web-"));
    const child = spawn(process.env.SERVER ?? resolve(build, "foliot-server"), ["--web", http, "--port", "0", "--verbose", ...options, ...(scene ? [resolve(scene)] : [])], { cwd: folder });
    process.on("exit", () => child.exitCode ?? child.kill("SIGKILL")); // whatever became of its test
    const server = { log: "", folder, child, stopped: new Promise((done) => child.on("exit", done)) };
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (server.log += text));
    for (let i = 0; i < 300 && !/in a browser: (\S+)/.test(server.log) && child.exitCode === null; i++)
        await new Promise((done) => setTimeout(done, 50));
    server.url = server.log.match(/in a browser: (\S+)/)?.[1];
    server.stop = async (signal = "SIGTERM") => {
        child.kill(signal);
        await server.stopped;
        rmSync(folder, { recursive: true, force: true });
    };
    if (!server.url) {
        await server.stop();
        throw new Error("no server: " + server.log);
    }
    return server;
}

const CALM_MS = 2000;
const PLAYING = "2", REFUSED = "3", CLOSED = "4";
const data = (page) => page.evaluate(() => ({ ...document.body.dataset }));
const inState = (page, state) => until(page, (s) => document.body.dataset.state === s, state);
const drawn = (page) => until(page, () => document.body.dataset.bodies);
const own = async (page) => (await until(page, () => document.body.dataset.position)).split(",").map(Number);
// The place to write is loaded after the first pictures.
export async function say(page, text) {
    await until(page, () => !document.getElementById("say").hidden);
    await page.keyboard.press("Enter");
    await page.keyboard.type(text);
    await page.keyboard.press("Enter");
}
// Until the own body is shown where it was for a second.
export const atRest = (page) => until(page, () => {
    const { position, was, since } = document.body.dataset, now = performance.now();
    if (!position) return false;
    if (position !== was) Object.assign(document.body.dataset, { was: position, since: now });
    return position === was && now - since > 1000;
}, null, 60);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
async function withServer(build, scene, body, options) {
    const server = await host(build, scene, options);
    try {
        await body(server);
    } finally {
        await server.stop();
    }
}
const distance = (a, b) => Math.hypot(...a.map((x, k) => x - b[k]));
const clean = (page) => check(page.complaints.length === 0, page.complaints.join("; "));

// In the page: the contrast (WCAG) of a text, whether black or white is drawn behind it.
function leastContrast(id) {
    const { color, backgroundColor } = getComputedStyle(document.getElementById(id));
    const [ink, ground] = [color, backgroundColor].map((text) => text.match(/[\d.]+/g).map(Number)), alpha = ground[3] ?? 1;
    const light = (rgb) => [0.2126, 0.7152, 0.0722].reduce((sum, part, i) => sum + part * (rgb[i] / 255) ** 2.2, 0.05);
    const ratio = (a, b) => Math.max(a, b) / Math.min(a, b);
    return Math.min(...[0, 255].map((behind) => ratio(light(ink), light([0, 1, 2].map((i) => ground[i] * alpha + behind * (1 - alpha))))));
}

export async function sessions(browser, build, shots) {
    const small = { viewport: { width: 640, height: 400 } };

    await test("a link is enough: join, push by keys, talk, leave, come back", () =>
        withServer(build, "scenes/cubes.yaml", async ({ url }) => {
            const page = await open(browser, "about:blank", small);
            await page.addInitScript(watchFirst);
            await pause(CALM_MS); // the browser opens its own window, which is not the page's
            await page.goto(url + "#name=ann&step=0");
            await inState(page, PLAYING);
            await drawn(page);
            const first = await until(page, () => window.firstShown);
            const began = await own(page);
            await page.keyboard.down("KeyW");
            await until(page, (p) => Math.hypot(...document.body.dataset.position.split(",").map((x, k) => x - p[k])) > 1, began);
            await page.keyboard.up("KeyW");
            await say(page, "hello wasd");
            await until(page, () => /<ann> hello wasd/.test(document.getElementById("said").textContent));
            if (shots) await page.screenshot({ path: `${shots}/session-cubes.png` });
            await page.click("#leave");
            await inState(page, CLOSED);
            await page.click("#play");
            await inState(page, PLAYING);
            clean(page);
            await page.click("#more");
            await until(page, () => document.body.dataset.labels === "1");
            const { frames, cost } = await data(page);
            console.log(`        first frame with bodies shown after ${first} ms, ${frames} frames/s, ${cost} ms of JavaScript a frame`);
            await page.context().close();
        }));

    // The scene may come after the first snapshot, which it did at most opens but the first two.
    await test("the first picture has the bodies' shapes", () =>
        withServer(build, "scenes/cubes.yaml", async ({ url }) => {
            for (let i = 0; i < 4; i++) {
                const page = await open(browser, "about:blank", small);
                await page.addInitScript(() => {
                    const drawn = WebGL2RenderingContext.prototype.drawArraysInstanced;
                    window.meshes = [];
                    WebGL2RenderingContext.prototype.drawArraysInstanced = function (mode, first, vertices, count) {
                        if (count > 500) window.meshes.push(vertices);
                        return drawn.call(this, mode, first, vertices, count);
                    };
                });
                await page.goto(url + "#name=ann&step=0");
                await drawn(page);
                const meshes = await page.evaluate(() => window.meshes);
                check(meshes.every((vertices) => vertices === 36), `900 boxes have meshes of ${meshes} vertices`);
                await page.context().close();
            }
        }));

    await test("two pages see each other; one pushes by touch; what both show is the same", () =>
        withServer(build, "scenes/cubes.yaml", async ({ url }) => {
            const ann = await open(browser, url + "#name=ann", { ...small, hasTouch: true, isMobile: true });
            const ben = await open(browser, url + "#name=ben", small);
            for (const page of [ann, ben]) await drawn(page);
            await until(ann, () => /ben is here/.test(document.getElementById("said").textContent));
            const began = await own(ann);
            await until(ann, () => !document.getElementById("pads").hidden); // comes behind the first pictures
            const stick = await ann.locator("#stick").boundingBox();
            check(stick, "a page that is touched has a stick");
            await ann.mouse.move(stick.x + stick.width / 2, stick.y + stick.height / 2);
            await ann.mouse.down();
            await ann.mouse.move(stick.x + stick.width / 2, stick.y + 4);
            await until(ann, (p) => Math.hypot(...document.body.dataset.position.split(",").map((x, k) => x - p[k])) > 0.5, began);
            if (shots) await ann.screenshot({ path: `${shots}/session-touch.png` });
            await ann.mouse.up();
            await atRest(ann);
            const slot = (await data(ann)).own;
            const there = await ben.evaluate((s) => window.foliotPosition(s), slot);
            check(there && distance(there, await own(ann)) < 0.05, `ann is at ${await own(ann)}, ben sees ${there}`);
            for (const page of [ann, ben]) {
                clean(page);
                await page.context().close();
            }
        }));

    await test("software that still draws a picture is asked for no other", () =>
        withServer(build, "scenes/cubes.yaml", async ({ url }) => {
            const page = await open(browser, "about:blank", small);
            await page.addInitScript(() => {
                const gl = WebGL2RenderingContext.prototype, { drawArraysInstanced, getSyncParameter } = gl;
                Object.assign(window, { draws: 0, asked: 0, held: true });
                gl.drawArraysInstanced = function (...all) {
                    window.draws++;
                    return drawArraysInstanced.apply(this, all);
                };
                gl.getSyncParameter = function (...all) {
                    window.asked++;
                    return window.held ? gl.UNSIGNALED : getSyncParameter.apply(this, all);
                };
            });
            await page.goto(url + "#name=ann&step=0");
            await drawn(page);
            const draws = await page.evaluate(() => window.draws);
            await page.evaluate(() => (window.asked = 0));
            await until(page, () => window.asked > 20);
            check((await page.evaluate(() => window.draws)) === draws, "it draws the next picture");
            await page.evaluate(() => (window.held = false));
            await until(page, (n) => window.draws > n, draws);
            clean(page);
            await page.context().close();
        }));

    await test("a spectator watches, and has nothing to push with", () =>
        withServer(build, "scenes/cubes.yaml", async ({ url }) => {
            const page = await open(browser, url + "#watch=1", small);
            await drawn(page);
            const { player } = await until(page, () => document.body.dataset.player && { ...document.body.dataset });
            check(player === "-1", "player " + player);
            check(!(await page.isVisible("#say")), "nothing to talk with");
            clean(page);
            await page.context().close();
        }));

    await test("a game talks to its players, who talk to it; who watches reads what all say", () =>
        withServer(build, "games/siege/siege.yaml", async ({ url }) => {
            const watcher = await open(browser, url + "#watch=1", small);
            await drawn(watcher);
            const page = await open(browser, url + "#name=ann&step=0", small);
            const read = (p, what) => until(p, (w) => document.getElementById("said").textContent.includes(w), what);
            // A page that is without a connection misses what is sent to it, as on a machine that stops for seconds: then `text` is sent again.
            const sent = async (text, p, seen, argument) => {
                await p.evaluate(() => {
                    window.lost = 0;
                    new MutationObserver(() => (window.lost += document.body.dataset.state !== "2")).observe(document.body, { attributeFilter: ["data-state"] });
                });
                for (;;) {
                    await inState(p, PLAYING);
                    const lost = await p.evaluate(() => window.lost);
                    await say(page, text);
                    try {
                        return await until(p, seen, argument);
                    } catch (error) {
                        if ((await p.evaluate(() => window.lost)) === lost) throw error;
                    }
                }
            };
            const ammo = () => until(page, () => [...document.querySelectorAll("#board tr")].find((row) => row.cells[0].textContent === "ammo.ann")?.cells[1].textContent);
            await read(page, "Throw stones at the other tower");
            const before = Number(await ammo());
            await page.evaluate(() => { // a stone is given back after a while: whoever looks later does not see it gone
                window.fewest = Infinity;
                new MutationObserver(() => {
                    for (const row of document.querySelectorAll("#board tr"))
                        if (row.cells[0].textContent === "ammo.ann") window.fewest = Math.min(window.fewest, Number(row.cells[1].textContent));
                }).observe(document.getElementById("board"), { childList: true, subtree: true, characterData: true });
            });
            await sent("/throw 1 0 1", page, (stones) => window.fewest < stones, before);
            for (const p of [page, watcher]) await sent("hello", p, (line) => document.getElementById("said").textContent.includes(line), "ann: hello");
            check(!/throw 1/.test(await page.textContent("#said")), "an order is no chat");
            for (const p of [page, watcher]) {
                clean(p);
                await p.context().close();
            }
        }));

    await test("a game's scoreboard, tags as colours, which are those of the players", () =>
        withServer(build, "games/katamari/katamari.yaml", async ({ url }) => {
            const page = await open(browser, "about:blank", small);
            await page.addInitScript(() => {
                const put = WebGL2RenderingContext.prototype.bufferSubData;
                WebGL2RenderingContext.prototype.bufferSubData = function (...all) {
                    window.drawn = all[2].slice();
                    return put.apply(this, all);
                };
            });
            await page.goto(url + "#name=ann&step=0");
            await drawn(page);
            await until(page, () => document.querySelectorAll("#board tr").length > 0);
            await until(page, () => Number(document.querySelector("#board tr").cells[1].textContent) > 2); // it has fallen onto some
            const colours = await page.evaluate(() => {
                const floats = new Float32Array(window.drawn.buffer), words = new Uint32Array(window.drawn.buffer), seen = { player: [], cubes: new Map() };
                for (let i = 0; i < floats.length; i += 12) {
                    if (Math.abs(floats[i + 7] - 0.75) < 0.01) seen.player.push(words[i + 11]);
                    else if (Math.abs(floats[i + 7] - 0.2) < 0.01) seen.cubes.set(words[i + 11], (seen.cubes.get(words[i + 11]) ?? 0) + 1);
                }
                return { player: seen.player, cubes: [...seen.cubes] };
            });
            check(colours.player.length === 1 && colours.cubes.some(([colour]) => colour === colours.player[0]), JSON.stringify(colours));
            await until(page, () => document.getElementById("clock").textContent);
            const ratio = await page.evaluate(leastContrast, "clock");
            check(ratio > 4.5, `the clock's contrast may be ${ratio.toFixed(1)}`);
            if (shots) await page.screenshot({ path: `${shots}/session-katamari.png` });
            clean(page);
            await page.context().close();
        }));

    await test("a game that gives players their bodies: the page knows who plays, and follows its own", () =>
        withServer(build, "games/sumo/sumo.yaml", async ({ url }) => {
            const ann = await open(browser, url + "#name=ann", small);
            await until(ann, () => /, 1 player$/.test(document.getElementById("about").textContent));
            const ben = await open(browser, url + "#name=ben", small);
            await until(ann, () => /ben is here/.test(document.getElementById("said").textContent));
            for (const page of [ann, ben]) {
                await until(page, () => /, 2 players$/.test(document.getElementById("about").textContent));
                await own(page);
            }
            check((await data(ann)).own !== (await data(ben)).own, "each has a body of its own");
            for (const page of [ann, ben]) {
                clean(page);
                await page.context().close();
            }
        }));

    await test("details: names, joints, plots, and what a clicked body is", () =>
        withServer(build, "scenes/ragdolls.yaml", async ({ url }) => {
            const page = await open(browser, url + "#watch=1", small);
            await drawn(page);
            await page.click("#more");
            await until(page, () => Number(document.body.dataset.joints) > 0);
            const box = await page.locator("#view").boundingBox();
            for (let i = 0; i < 49 && !(Number((await data(page)).picked) >= 0); i++) {
                await page.mouse.click(box.x + box.width * (0.2 + 0.1 * (i % 7)), box.y + box.height * (0.2 + 0.1 * Math.floor(i / 7)));
                await pause(400);
            }
            await until(page, () => /speed/.test(document.getElementById("details").textContent));
            if (shots) await page.screenshot({ path: `${shots}/session-details.png` });
            clean(page);
            await page.context().close();
        }));

    await test("where a session sends what is near alone, the page loads the tables that it needs", () =>
        withServer(build, "scenes/cubes.yaml", async ({ url }) => {
            const page = await open(browser, url + "#name=ann", small);
            const began = await own(page);
            await page.keyboard.down("KeyW");
            await until(page, (p) => Math.hypot(...document.body.dataset.position.split(",").map((x, k) => x - p[k])) > 1, began);
            const loaded = await page.evaluate(() => performance.getEntriesByType("resource").filter((e) => e.name.endsWith("/tables.bin")).length);
            check(loaded === 1, `tables were loaded ${loaded} times`);
            clean(page);
            await page.context().close();
        }, ["--interest", "8"]));

    await test("tables that do not come, or are something else, are asked for again", () =>
        withServer(build, "scenes/cubes.yaml", async ({ url }) => {
            const page = await open(browser, "about:blank", small), thrown = [];
            let asked = 0;
            page.on("pageerror", (error) => thrown.push(error.message));
            await page.route("**/tables.bin", (route) => // of a proxy that has lost its server
                ++asked === 1 ? route.fulfill({ status: 502, body: Buffer.alloc(1 << 20, 0xff) }) : asked === 2 ? route.abort() : route.continue());
            await page.goto(url + "#name=ann&step=0");
            await own(page);
            check(asked === 3, `tables were asked for ${asked} times`);
            check(!thrown.length, thrown.join("; "));
            await page.context().close();
        }, ["--interest", "8"]));

    await test("a session that there is not is refused with a sentence", () =>
        withServer(build, "scenes/pendulum.yaml", async ({ url }) => {
            const page = await open(browser, url + "#name=ann&session=nowhere", small);
            await inState(page, REFUSED);
            const text = await page.textContent("#message");
            console.log(`        ${text}`);
            check(/nowhere|no such|session/.test(text), text);
            await page.context().close();
        }));

    await longTest("a hidden tab stays in the session", () =>
        withServer(build, "scenes/cubes.yaml", async ({ url, child }) => {
            const page = await open(browser, url + "#name=ann", small);
            await drawn(page);
            await page.evaluate(() => (window.requestAnimationFrame = () => 0)); // as in a hidden tab
            await pause(12000);
            check((await data(page)).state === PLAYING, "state " + (await data(page)).state);
            check(child.exitCode === null, "the server runs");
            await page.context().close();
        }));

    await test("where another scene follows the page says so, and plays it", async () => {
        const folder = mkdtempSync(join(tmpdir(), "foliot-next-"));
        writeFileSync(`${folder}/round.yaml`, SCENE.replace("bodies:", "limits: {commands_max: 16}\nscript: {lua: round.lua}\nbodies:"));
        writeFileSync(`${folder}/round.lua`, `function on_order(player, text)
            command["end"] {reason = "round over", next = "round.yaml"}
        end\n`);
        try {
            await withServer(build, `${folder}/round.yaml`, async ({ url }) => {
                const page = await open(browser, url + "#name=ann", small);
                await own(page);
                await page.evaluate(() => {
                    window.told = new Set();
                    new MutationObserver(() => window.told.add(document.getElementById("message").textContent)).observe(document.getElementById("message"), { childList: true, subtree: true });
                });
                await say(page, "/over");
                await until(page, () => /round over/.test(document.getElementById("said").textContent));
                await until(page, () => !document.getElementById("message").textContent);
                await own(page);
                const told = await page.evaluate(() => [...window.told].filter(Boolean).join("; "));
                check(told === "The next scene begins …", told);
                clean(page);
                await page.context().close();
            });
        } finally {
            rmSync(folder, { recursive: true, force: true });
        }
    });

    await test("a server is killed and resumed; the page goes on as the same player", async () => {
        const first = await host(build, "scenes/cubes.yaml");
        const page = await open(browser, first.url + "#name=ann", small);
        await drawn(page);
        await pause(3000);
        const { player, own: slot } = await data(page);
        first.child.kill("SIGKILL");
        await first.stopped;
        await until(page, () => /Trying again/.test(document.getElementById("message").textContent));
        const recording = readdirSync(first.folder).find((f) => f.endsWith(".foliot"));
        const second = await host(build, null, ["--resume", join(first.folder, recording)], new URL(first.url).host);
        try {
            await page.evaluate(() => delete document.body.dataset.tick);
            await until(page, () => document.body.dataset.tick);
            const after = await data(page);
            check(after.state === PLAYING && after.player === player, `player ${after.player}, state ${after.state}`);
            check(!(await page.textContent("#message")), await page.textContent("#message"));
            await until(page, (s) => document.body.dataset.own === s, slot);
            const began = await own(page);
            await page.keyboard.down("KeyD");
            await until(page, (p) => Math.hypot(...document.body.dataset.position.split(",").map((x, k) => x - p[k])) > 0.5, began);
        } finally {
            await second.stop();
            rmSync(first.folder, { recursive: true, force: true });
        }
        await page.context().close();
    });
}
