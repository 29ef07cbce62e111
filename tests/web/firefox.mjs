// SPDX-License-Identifier: MIT
// firefox.mjs: recordings in Firefox, driven over its own protocol (Marionette: numbered JSON
// messages, each after its length), since playwright-core drives a patched Firefox alone.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check, test } from "./harness.mjs";
import { GOLDEN } from "./recordings.mjs";
import { host } from "./sessions.mjs";
import { counted, SCENE } from "./steppers.mjs";

export const FIREFOX = process.env.FIREFOX ?? "/usr/bin/firefox-esr";
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const freePort = () => new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
        const { port } = server.address();
        server.close(() => done(port));
    });
});

async function dial(port, child) {
    for (let i = 0; i < 300 && child.exitCode === null; i++) {
        const socket = await new Promise((done) => {
            const s = connect(port, "127.0.0.1", () => done(s));
            s.on("error", () => done(null));
        });
        if (socket) return socket;
        await pause(100);
    }
    throw new Error("Firefox does not listen");
}

export async function launchFirefox() {
    const profile = mkdtempSync(join(tmpdir(), "foliot-firefox-"));
    const port = await freePort();
    writeFileSync(join(profile, "user.js"), Object.entries({
        "marionette.port": port, "webgl.force-enabled": true, "browser.shell.checkDefaultBrowser": false,
        "datareporting.policy.dataSubmissionEnabled": false, "app.update.enabled": false, "network.captive-portal-service.enabled": false,
        "network.connectivity-service.enabled": false, "browser.safebrowsing.update.enabled": false,
    }).map(([key, value]) => `user_pref(${JSON.stringify(key)}, ${JSON.stringify(value)});\n`).join(""));
    const child = spawn(FIREFOX, ["--headless", "--marionette", "--no-remote", "--profile", profile, "about:blank"], { stdio: "ignore" });
    process.on("exit", () => child.exitCode ?? child.kill("SIGKILL"));
    const exited = new Promise((done) => child.on("exit", done));
    const socket = await dial(port, child);
    const waiting = new Map();
    let number = 0, rest = Buffer.alloc(0);
    socket.on("data", (bytes) => {
        rest = Buffer.concat([rest, bytes]);
        for (let colon; (colon = rest.indexOf(":")) > 0;) {
            const end = colon + 1 + Number(rest.subarray(0, colon));
            if (rest.length < end) return;
            const message = JSON.parse(rest.subarray(colon + 1, end));
            rest = rest.subarray(end);
            if (!Array.isArray(message)) continue;
            const { yes, no } = waiting.get(message[1]);
            waiting.delete(message[1]);
            if (message[2]) no(new Error(message[2].message));
            else yes(message[3]);
        }
    });
    const command = (name, parameters = {}) => new Promise((yes, no) => {
        waiting.set(++number, { yes, no });
        const text = JSON.stringify([0, number, name, parameters]);
        socket.write(`${Buffer.byteLength(text)}:${text}`);
    });
    await command("WebDriver:NewSession");
    return {
        go: (url) => command("WebDriver:Navigate", { url }),
        evaluate: async (script) => (await command("WebDriver:ExecuteScript", { script: `return ${script}`, args: [] })).value,
        // Holds a key down; release() lets go of all.
        press: (key) => command("WebDriver:PerformActions", { actions: [{ type: "key", id: "keys", actions: [{ type: "keyDown", value: key }] }] }),
        release: () => command("WebDriver:ReleaseActions"),
        screenshot: async (file) => writeFileSync(file, Buffer.from((await command("WebDriver:TakeScreenshot", { full: false })).value, "base64")),
        async until(script, seconds = 40) {
            for (const end = performance.now() + seconds * 1000; performance.now() < end; await pause(100)) {
                const got = await this.evaluate(script);
                if (got) return got;
            }
            throw new Error(`waited for ${script}; the page says: ${await this.evaluate("document.body.innerText.slice(0, 300)")}`);
        },
        async stop() {
            command("Marionette:Quit", { flags: ["eForceQuit"] }).catch(() => {});
            await Promise.race([exited, pause(5000).then(() => child.kill("SIGKILL"))]);
            await exited;
            socket.destroy();
            rmSync(profile, { recursive: true, force: true });
        },
    };
}

export async function firefox(site, build, shots) {
    if (!existsSync(FIREFOX)) return console.log("        no Firefox here: its tests are left out");
    const browser = await launchFirefox();
    for (const name of GOLDEN ?? ["cubes", "ragdolls"])
        await test(`Firefox verifies ${name}.foliot`, async () => {
            await browser.go(`${site.url}/recording.html?file=${name}.foliot`);
            const verdict = await browser.until("document.body.dataset.verdict", 100);
            const text = await browser.evaluate("document.getElementById('verdict').textContent");
            console.log(`        ${text}`);
            check(verdict === "match", text);
            if (shots) await browser.screenshot(`${shots}/firefox-${name}.png`);
        });
    await test("Firefox plays: joins, pushes by keys, the world moves", async () => {
        const server = await host(build, "scenes/cubes.yaml");
        try {
            await browser.go(server.url + "#name=fox");
            await browser.until("document.body.dataset.state === '2' && document.body.dataset.position");
            const began = (await browser.evaluate("document.body.dataset.position")).split(",").map(Number);
            await browser.press("w");
            const far = `Math.hypot(...document.body.dataset.position.split(",").map((x, k) => x - [${began}][k])) > 1`;
            await browser.until(far, 60);
            await browser.release();
            const tick = Number(await browser.evaluate("document.body.dataset.tick"));
            await browser.until(`Number(document.body.dataset.tick) > ${tick + 30}`);
            console.log(`        ${(await browser.evaluate("document.getElementById('message').textContent")) || "with a picture"}`);
            if (shots) await browser.screenshot(`${shots}/firefox-session.png`);
        } finally {
            await server.stop();
        }
    });
    await test("Firefox steps: every digest is compared, a flipped bit is healed, a button watches", async () => {
        const folder = mkdtempSync(join(tmpdir(), "foliot-firefox-scene-"));
        writeFileSync(join(folder, "floor.yaml"), SCENE);
        const server = await host(build, join(folder, "floor.yaml"));
        try {
            await browser.go(server.url + "#name=fox&step=1");
            await browser.until("document.body.dataset.kind === 'stepper' && document.body.dataset.prediction === 'on'", 60);
            const began = (await browser.until("document.body.dataset.position")).split(",").map(Number);
            await browser.press("w");
            await browser.until(`Math.hypot(...document.body.dataset.position.split(",").map((x, k) => x - [${began}][k])) > 1`, 60);
            await browser.release();
            await browser.until("Number(document.body.dataset.compared) > 120", 60);
            if (!await browser.evaluate("document.body.dataset.divergences === '0'")) throw new Error("digests differ");
            const figures = await browser.evaluate("['compared', 'step', 'key', 'cost'].map((n) => n + ' ' + document.body.dataset[n]).join(', ')");
            console.log(`        ${figures}`);
            check(await browser.evaluate("window.foliotPerturb()") >= 0, "a body to flip a bit of");
            await browser.until("document.body.dataset.heals === '1' && document.body.dataset.prediction === 'on'", 60);
            if (shots) await browser.screenshot(`${shots}/firefox-steps.png`);
            await browser.evaluate("document.getElementById('step').click()");
            await browser.until("document.body.dataset.kind === 'watcher'", 60);
            await browser.go("about:blank"); // it leaves
        } finally {
            await server.stop();
            rmSync(folder, { recursive: true });
        }
        const { log } = server;
        check(counted(log, "ticks_compared") > 120 && counted(log, "divergences") === 1 && counted(log, "heals") === 1, log.slice(-3000));
    });
    await browser.stop();
}
