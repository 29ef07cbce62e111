// SPDX-License-Identifier: MIT
// harness.mjs: a web server for a folder, a browser, and tests that are counted. Everything is on
// the loopback and ends with the run.
import { appendFileSync, createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join, normalize } from "node:path";

const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };

// Serves a folder as a plain file server does: no header but the type. The pages bring the rest.
export function serve(folder, extra = new Map()) {
    const server = createServer((request, response) => {
        const path = normalize(new URL(request.url, "http://x").pathname);
        const file = extra.get(path) ?? join(folder, path === "/" ? "index.html" : path);
        if (Buffer.isBuffer(file)) return response.end(file);
        const known = path.split("/").includes("..") ? null : statSync(file, { throwIfNoEntry: false });
        if (!known?.isFile()) return response.writeHead(404).end("no such file");
        response.writeHead(200, { "Content-Type": TYPES[extname(file)] ?? "application/octet-stream" });
        createReadStream(file).pipe(response);
    });
    return new Promise((resolve) =>
        server.listen(0, "127.0.0.1", () => resolve({ url: `http://127.0.0.1:${server.address().port}`, server })));
}

// The renderer: software, unless GL names another one of ANGLE (vulkan, gl-egl).
const software = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"];
const gpu = (angle) => [`--use-angle=${angle}`, "--ignore-gpu-blocklist", "--enable-features=Vulkan", "--disable-vulkan-surface"];

export async function launch(modules) {
    const { chromium } = createRequire(modules + "/")("playwright-core");
    const args = ["--no-sandbox", "--use-gl=angle", "--disable-background-networking", ...(process.env.GL ? gpu(process.env.GL) : software)];
    return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args, headless: true });
}

let passed = 0, failed = 0;
export function fail(why) {
    throw new Error(why);
}
export function check(holds, why) {
    if (!holds) fail(why);
}
export async function test(name, body) {
    if (!name.includes(process.env.ONLY ?? "")) return;
    const begin = performance.now();
    let limit;
    try {
        const late = new Promise((_, no) => (limit = setTimeout(() => no(new Error("not done in 120 s")), 120000)));
        await Promise.race([body(), late]);
        passed++;
        console.log(`ok      ${name} (${((performance.now() - begin) / 1000).toFixed(1)} s)`);
    } catch (error) {
        failed++;
        console.log(`FAILED  ${name}: ${error.message}`);
    } finally {
        clearTimeout(limit);
    }
}

// A test that SHORT=1 leaves out, since it takes long.
export async function longTest(name, body) {
    if (!process.env.SHORT) return test(name, body);
    if (name.includes(process.env.ONLY ?? "")) console.log(`left out ${name}: it takes long`);
}
export function end() {
    if (process.env.RESULTS) appendFileSync(process.env.RESULTS, `${passed} ${failed}\n`);
    console.log(`${passed} passed, ${failed} failed`);
    return failed === 0 ? 0 : 1;
}

// Waits until a function of the page gives something true. (playwright's own makes the page
// evaluate text, which its rules forbid.)
export async function until(page, f, argument = null, seconds = 30) {
    for (const end = performance.now() + seconds * 1000; performance.now() < end;) {
        const got = await page.evaluate(f, argument);
        if (got) return got;
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const shown = await page.evaluate(() => document.body.innerText.slice(0, 300));
    throw new Error(`waited ${seconds} s for ${f}; the page says: ${shown}`);
}

// The link of a page that watches, unless it says otherwise: a page steps as soon as it can.
const watching = (url) => (/#(name|session|token)=(?!.*step=)/.test(url) ? `${url}&step=0` : url);

// A page whose complaints are kept: a script that fails, or what its own rules forbid.
export async function open(browser, url, options = {}) {
    const context = await browser.newContext({ viewport: { width: 1000, height: 640 }, ...options });
    const page = await context.newPage();
    page.complaints = [];
    page.on("pageerror", (error) => page.complaints.push(String(error)));
    page.on("console", (message) => {
        if (message.type() === "error" && !/favicon/.test(message.text() + message.location().url)) page.complaints.push(message.text());
    });
    await page.goto(watching(url));
    return page;
}

// Runs before the scripts of a session's page: window.firstShown is when the first frame with
// bodies was presented, in ms from the begin of the navigation. The browser tells when a text was;
// so one is put into that frame.
export function watchFirst() {
    const seen = new MutationObserver(() => {
        if (!document.body?.dataset.bodies) return;
        seen.disconnect();
        new PerformanceObserver((list) => (window.firstShown = Math.round(list.getEntries()[0].renderTime))).observe({ type: "element", buffered: true });
        const text = document.getElementById("about");
        text.textContent ||= ".";
        text.setAttribute("elementtiming", "first");
    });
    seen.observe(document, { attributes: true, subtree: true, attributeFilter: ["data-bodies"] });
}
