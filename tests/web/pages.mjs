// SPDX-License-Identifier: MIT
// pages.mjs: what a person meets besides the game itself: sentences where something is not as it
// was wished, keys that stay the player's, a gamepad, a picture of a phone's size.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check, open, test, until } from "./harness.mjs";
import { atRest, host } from "./sessions.mjs";
import { SCENE } from "./steppers.mjs";

const small = { viewport: { width: 480, height: 360 } };
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const onItsSide = { ...phone, viewport: { width: 844, height: 390 } };
const position = (page) => until(page, () => document.body.dataset.position);
const clean = (page) => check(page.complaints.length === 0, page.complaints.join("; "));
const said = (page, id, word) => until(page, ([i, w]) => document.getElementById(i).textContent.includes(w) && document.getElementById(i).textContent, [id, word]);

// Waits beyond a navigation, too.
async function beyond(page, f) {
    for (let i = 0; i < 20; i++) {
        try {
            return await until(page, f);
        } catch (error) {
            if (!/destroyed|navigat/.test(error.message)) throw error;
        }
    }
}

// Drops files on a page, or one that cannot be read.
const drop = (page, files) => page.evaluate((all) => {
    const event = new Event("drop", { cancelable: true });
    const list = all.map(([name, bytes]) => (bytes ? new File([new Uint8Array(bytes)], name)
        : { name, size: 4096, arrayBuffer: () => Promise.reject(new DOMException("A requested file or directory could not be found.", "NotFoundError")) }));
    Object.defineProperty(event, "dataTransfer", { value: { files: list } });
    dispatchEvent(event);
}, files);

const dropLink = (page, link) => page.evaluate((url) => {
    const event = new Event("drop", { cancelable: true });
    const getData = (type) => (type === "text/uri-list" ? `${new URL(url, location.href)}\r\n` : "");
    Object.defineProperty(event, "dataTransfer", { value: { files: [], types: ["text/uri-list"], getData } });
    dispatchEvent(event);
}, link);

// Buttons and texts are on the screen, from side to side.
async function fits(page, what) {
    const out = await page.evaluate(() => [...document.querySelectorAll("button, a, input, select, td, #message p, aside")]
        .filter((e) => e.checkVisibility() && e.type !== "file").map((e) => [e.id || e.textContent || e.tagName, e.getBoundingClientRect()])
        .filter(([, b]) => b.width > 0 && (b.left < -1 || b.right > innerWidth + 1)).map(([name, b]) => `${name} ${b.left.toFixed(0)} to ${b.right.toFixed(0)}`));
    check(out.length === 0, `${what}: ${out.join("; ")}`);
}
const apart = (page, one, two) => page.evaluate(([a, b]) => {
    const [p, q] = [a, b].map((s) => document.querySelector(s).getBoundingClientRect());
    return p.right <= q.left || q.right <= p.left || p.bottom <= q.top || q.bottom <= p.top;
}, [one, two]);

export async function pages(browser, site, build, shots) {
    const folder = mkdtempSync(join(tmpdir(), "foliot-pages-")), scene = join(folder, "floor.yaml");
    writeFileSync(scene, SCENE);
    const withServer = async (what, body) => {
        const server = await host(build, what);
        try {
            await body(server);
        } finally {
            await server.stop();
        }
    };

    await test("a gamepad pushes; keys are the player's after a click on a button; who leaves is told so", () =>
        withServer(scene, async ({ url }) => {
            const page = await open(browser, url + "#name=ann", small), began = (await position(page)).split(",").map(Number);
            await page.evaluate(() => (navigator.getGamepads = () => [null, { connected: true, axes: [0, -1], buttons: [] }]));
            await until(page, (p) => Math.hypot(...document.body.dataset.position.split(",").map((x, k) => x - p[k])) > 0.5, began);
            await page.evaluate(() => (navigator.getGamepads = () => []));
            await page.click("#more");
            await until(page, () => document.getElementById("details")?.checkVisibility());
            await page.keyboard.press("Space");
            await page.keyboard.press("Enter");
            check(await page.evaluate(() => document.activeElement.id) === "say", "Enter talks");
            check(await page.isVisible("#details"), "a space pulls, and presses no button");
            await page.click("#leave");
            check(await said(page, "message", "left") === "You have left.", await page.textContent("#message"));
            check(await page.textContent("#figures") === "", await page.textContent("#figures"));
            clean(page);
            await page.context().close();
        }));

    await test("keys alone: Enter follows a link and sends what is composed; a key that is held acts once", () =>
        withServer(scene, async ({ url }) => {
            const page = await open(browser, url + "#name=ann", small);
            await position(page);
            await until(page, () => !document.getElementById("say").hidden);
            for (let i = 0; i < 4; i++) await page.keyboard.down("KeyN"); // as a keyboard repeats it
            await page.keyboard.up("KeyN");
            await until(page, () => document.getElementById("details")?.checkVisibility());
            await page.keyboard.press("Enter");
            await page.keyboard.type("half a w");
            await page.evaluate(() => document.getElementById("say").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true })));
            check(await page.inputValue("#say") === "half a w", "it is sent while it is composed");
            await page.keyboard.type("ord");
            await page.keyboard.press("Enter");
            await said(page, "said", "half a word");
            await page.focus("header a[href='scene.html']");
            await page.keyboard.press("Enter");
            await page.waitForURL("**/scene.html*", { timeout: 10000 });
            clean(page);
            await page.context().close();
        }));

    await test("what cannot be sent is said, and stays to be shortened", () =>
        withServer(scene, async ({ url }) => {
            const page = await open(browser, url + "#name=ann", small), long = "ä".repeat(200);
            await until(page, () => !document.getElementById("say").hidden);
            await page.keyboard.press("Enter");
            await page.fill("#say", long);
            await page.keyboard.press("Enter");
            await said(page, "said", "too long");
            check(await page.inputValue("#say") === long, await page.inputValue("#say"));
            await page.evaluate(() => {
                for (let i = 0; i < 300; i++) {
                    document.getElementById("say").value = "again";
                    document.getElementById("say").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
                }
            });
            await said(page, "said", "try again");
            clean(page);
            await page.context().close();
        }));

    await test("details that come late, or not at all, come once", () =>
        withServer(scene, async ({ url }) => {
            const page = await open(browser, url + "#name=ann", small), thrown = [];
            let asked = 0, release;
            const held = new Promise((done) => (release = done));
            page.on("pageerror", (error) => thrown.push(String(error)));
            await position(page);
            await until(page, () => !document.getElementById("talk").hidden);
            await page.route("**/extras.js", async (route) => {
                if (++asked === 1) await held;
                route.continue();
            });
            for (let i = 0; i < 3; i++) await page.click("#more");
            release();
            await until(page, () => document.getElementById("details")?.checkVisibility());
            const count = await page.evaluate(() => document.querySelectorAll("#details").length);
            check(count === 1, `${count} panels`);
            check(!thrown.length, thrown.join("; "));
            await page.context().close();
        }));

    await test("bandwidth is not below zero when another module begins to count", () =>
        withServer(scene, async ({ url }) => {
            const page = await open(browser, "about:blank", { viewport: { width: 800, height: 500 } });
            await page.addInitScript(() => {
                const write = CanvasRenderingContext2D.prototype.fillText;
                window.written = new Set();
                CanvasRenderingContext2D.prototype.fillText = function (text, ...more) {
                    if (this.canvas === document.querySelector("#details canvas")) window.written.add(text);
                    return write.call(this, text, ...more);
                };
            });
            await page.goto(url + "#name=ann&step=0");
            await until(page, () => !document.getElementById("step").hidden);
            await page.click("#more");
            await until(page, () => window.written.has("bandwidth, kB/s"));
            await page.waitForTimeout(1500); // what was received is more than the other module begins with
            await page.click("#step");
            await until(page, () => document.body.dataset.kind === "stepper");
            await page.waitForTimeout(1000);
            const below = await page.evaluate(() => [...window.written].filter((text) => /^-/.test(text)));
            check(below.length === 0, `the plot goes down to ${below.join(", ")} kB/s`);
            clean(page);
            await page.context().close();
        }));

    await test("another link in the same tab is followed", () =>
        withServer(scene, async ({ url }) => {
            const page = await open(browser, url + "#name=ann", small);
            await until(page, () => document.body.dataset.player === "0");
            await page.evaluate(() => (location.hash = "#watch=1"));
            await beyond(page, () => document.body.dataset.player === "-1");
            await page.goto(`${url}lobby.html`);
            await page.evaluate(() => (location.hash = "#name=ben"));
            await beyond(page, () => /index\.html/.test(location.pathname) && document.body.dataset.state === "2");
            await page.goto(`${site.url}/lab.html#pause=1`);
            await until(page, () => document.body.dataset.made);
            await page.evaluate(() => (location.hash = "#scene=pendulum&pause=1"));
            await beyond(page, () => document.title === "foliot: the lab, pendulum");
            clean(page);
            await page.context().close();
        }));

    await test("a Mac that tells of no key that was released beside Meta pushes no more", () =>
        withServer(scene, async ({ url }) => {
            const page = await open(browser, url + "#name=ann", small), began = (await position(page)).split(",").map(Number);
            const key = (kind, code, name) => page.evaluate(([k, c, n]) => document.getElementById("view").dispatchEvent(new KeyboardEvent(k, { code: c, key: n, bubbles: true })), [kind, code, name]);
            await key("keydown", "KeyW", "w");
            await until(page, (p) => Math.hypot(...document.body.dataset.position.split(",").map((x, k) => x - p[k])) > 0.5, began);
            await key("keydown", "MetaLeft", "Meta");
            await key("keyup", "MetaLeft", "Meta");
            await atRest(page);
            clean(page);
            await page.context().close();
        }));

    await test("a refusal is a sentence for who has no command line", () =>
        withServer("scenes/pendulum.yaml", async ({ url }) => {
            const page = await open(browser, url + "#name=ann", small), text = await said(page, "message", "watched");
            console.log(`        ${text}`);
            check(/^[A-Z].*\.$/.test(text) && !text.includes("--"), text);
            await page.context().close();
        }));

    await test("who has no mouse types a name, and plays", () =>
        withServer(scene, async ({ url }) => {
            const page = await open(browser, url, small);
            await until(page, () => !document.getElementById("join").hidden);
            await page.keyboard.type("eve");
            await page.keyboard.press("Enter");
            await said(page, "said", "eve is here");
            clean(page);
            await page.context().close();
        }));

    await test("a server that is gone before somebody plays is said to be", async () => {
        const server = await host(build, scene), page = await open(browser, server.url, small);
        await until(page, () => !document.getElementById("join").hidden);
        await server.stop();
        await page.click("#play");
        const text = await said(page, "message", "answer");
        console.log(`        ${text}`);
        check(/^[A-Z][^:]*: [^:.]*[.?]$/.test(text) && !/\d/.test(text), text);
        await page.context().close();
    });

    await test("what is said about the end is read beside the form, at every size", () =>
        withServer("scenes/pendulum.yaml", async ({ url }) => {
            for (const [name, size] of [["a phone", phone], ["a phone on its side", onItsSide], ["a page that is zoomed", { viewport: { width: 640, height: 360 } }]]) {
                const page = await open(browser, url + "#name=ann", size);
                await said(page, "message", "watched");
                check(await apart(page, "#message p", "#join"), `${name}: the form lies over the sentence`);
                await page.click("#more");
                await until(page, () => document.getElementById("details")?.checkVisibility());
                const over = await page.evaluate(() => ["#message p", "#play"].filter((what) => {
                    const box = document.querySelector(what).getBoundingClientRect();
                    for (let x = box.left + 2; x < box.right; x += 8) {
                        document.getElementById("message").style.pointerEvents = "auto";
                        const top = document.elementFromPoint(x, (box.top + box.bottom) / 2);
                        if (!top?.closest("#message, #join")) return true;
                    }
                    return false;
                }));
                check(over.length === 0, `${name}: the details lie over ${over}`);
                if (shots) await page.screenshot({ path: `${shots}/over-${name.replaceAll(" ", "-")}.png` });
                await page.context().close();
            }
        }));

    await test("without WebGL there are the details, all but the picture", () =>
        withServer(scene, async ({ url }) => {
            const page = await open(browser, "about:blank", small);
            await page.addInitScript(() => {
                const get = HTMLCanvasElement.prototype.getContext;
                HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
                    return kind === "webgl2" ? null : get.call(this, kind, ...more);
                };
            });
            await page.goto(url + "#name=ann&step=0");
            await position(page);
            await page.click("#more");
            await until(page, () => document.body.dataset.contacts === "4");
            clean(page);
            await page.context().close();
        }));

    await test("recordings that cannot be read, and links elsewhere, are said", async () => {
        const page = await open(browser, `${site.url}/recording.html?file=kepler.foliot`, small);
        await until(page, () => document.body.dataset.verdict === "match");
        await drop(page, [["a folder"]]);
        console.log(`        ${await said(page, "verdict", "a folder cannot be read")}`);
        check(await page.isVisible("#drop"), "what was shown before is covered");
        await drop(page, [["picture.png", [137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]]);
        await said(page, "verdict", "not a recording");
        check(await page.isVisible("#drop"), "what was shown before is covered");
        await page.goto(`${site.url}/recording.html?file=https://game.example/a.foliot`);
        console.log(`        ${await said(page, "verdict", "another site")}`);
        for (const [name, word] of [["spacewar.foliot", "Match"], ["https://game.example/a.foliot", "another site"]]) {
            await dropLink(page, name);
            await said(page, "verdict", word);
        }
        clean(page);
        await page.context().close();
    });

    await test("files of which one comes late: the last one that was opened is shown, and nothing of the others", async () => {
        const page = await open(browser, `${site.url}/recording.html?file=cubes.foliot`, small);
        await until(page, () => document.body.dataset.verdict === "match");
        await page.click("#play");
        await page.evaluate(() => {
            const event = new Event("drop", { cancelable: true });
            const late = { name: "late.foliot", size: 9, arrayBuffer: () => new Promise((done) => (window.give = () => done(new ArrayBuffer(9)))) };
            Object.defineProperty(event, "dataTransfer", { value: { files: [late] } });
            dispatchEvent(event);
        });
        check(await said(page, "verdict", "Reading"), "it says that it reads");
        check(await page.textContent("#play") === "Play", "nothing plays");
        check(await page.textContent("#tick") === "", "no tick is shown: " + await page.textContent("#tick"));
        await page.setInputFiles("#file", "tests/golden/kepler.foliot");
        check(await page.evaluate(() => document.getElementById("file").value) === "", "the same file can be chosen again");
        await page.evaluate(() => window.give());
        await until(page, () => document.body.dataset.verdict === "match");
        check(await page.textContent("#name") === "kepler.foliot", await page.textContent("#name"));
        clean(page);
        await page.context().close();
    });

    await test("what is no scene, and links to what there is not, are said", async () => {
        const page = await open(browser, `${site.url}/scene.html#example=nowhere`, small);
        await said(page, "problem", "no example 'nowhere'");
        await drop(page, [["picture.png", [137, 80, 78, 71]]]);
        console.log(`        ${await said(page, "problem", "picture.png is no scene")}`);
        await drop(page, [["a.foliot", [1, 2]]]);
        await said(page, "problem", "a.foliot is a recording");
        for (const [hash, word] of [["scene=nowhere", "no scene 'nowhere'"], ["integrators=rk4,foo", "no integrator 'foo'"]]) {
            await page.goto("about:blank");
            await page.goto(`${site.url}/lab.html#${hash}`);
            await said(page, "problem", word);
        }
        clean(page);
        await page.context().close();
    });

    await test("every page fits a phone", () =>
        withServer(scene, async ({ url }) => {
            for (const path of ["", "lobby.html", "recording.html", "scene.html", "lab.html", "#name=ann&step=1"]) {
                const page = await open(browser, url + path, phone), name = path.match(/\w+/)?.[0] ?? "join";
                if (name === "lobby") await until(page, () => document.querySelector("#sessions a"));
                if (name === "name") {
                    await position(page);
                    await until(page, () => document.getElementById("figures").textContent);
                    await page.click("#more");
                    await until(page, () => document.body.dataset.contacts === "4" && document.querySelector("#details canvas"));
                    for (const what of ["#pads", "#talk"]) check(await apart(page, "#details", what), `the details lie over ${what}`);
                }
                await fits(page, name);
                if (shots) await page.screenshot({ path: `${shots}/phone-${name}.png` });
                clean(page);
                await page.context().close();
            }
        }));

    await test("a phone on its side shows the scene's name whole", () =>
        withServer(scene, async ({ url }) => {
            const page = await open(browser, `${url}/#name=ann`, onItsSide);
            await position(page);
            await until(page, () => document.getElementById("figures").textContent);
            await fits(page, "on its side");
            const { text, room, needs, height } = await page.evaluate(() => {
                const about = document.getElementById("about");
                return { text: about.textContent, room: about.clientWidth, needs: about.scrollWidth, height: document.querySelector("header").offsetHeight };
            });
            console.log(`        '${text}': ${needs} of ${room} px, a header of ${height} px`);
            check(text && needs <= room, `the header cuts '${text}': ${room} of ${needs} px`);
            check(height < 60, `the header is ${height} px high`);
            if (shots) await page.screenshot({ path: `${shots}/phone-on-its-side.png` });
            clean(page);
            await page.context().close();
        }));
    rmSync(folder, { recursive: true });
}
