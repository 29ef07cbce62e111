// SPDX-License-Identifier: MIT
// figures.mjs: what a frame of a session's page costs, with 900 and with 10,000 bodies: the page's
// own part, measured where WebGL does nothing, and frames a second as they are drawn. Figures are
// printed, and no test fails for a busy machine: that there are frames is what is checked.
import { check, open, test, until } from "./harness.mjs";
import { host } from "./sessions.mjs";

const small = { viewport: { width: 640, height: 400 } };
const FRAMES = 120;

// In the page: keeps how long each frame took; with `blank` WebGL takes all calls and does nothing.
function watchFrames(blank) {
    const took = (window.framesTook = []), request = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (f) => request((t) => {
        const began = performance.now();
        f(t);
        if (document.body.dataset.bodies) took.push(performance.now() - began);
    });
    if (!blank) return;
    const context = {}, made = {}, all = Object.getOwnPropertyDescriptors(WebGL2RenderingContext.prototype);
    for (const [name, { value }] of Object.entries(all)) context[name] = typeof value === "function" ? () => made : value;
    context.isContextLost = () => false;
    const get = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
        return kind === "webgl2" ? context : get.call(this, kind, ...rest);
    };
}

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

async function look(browser, url, blank, frames, shot) {
    const page = await open(browser, "about:blank", small);
    await page.addInitScript(watchFrames, blank);
    await page.goto(url);
    await until(page, () => document.body.dataset.bodies, null, 60);
    await page.evaluate(() => void (window.framesTook.length = 0));
    const began = performance.now();
    await until(page, (n) => window.framesTook.length >= n, frames, 60);
    const seconds = (performance.now() - began) / 1000;
    const { took, data } = await page.evaluate(() => ({ took: window.framesTook, data: { ...document.body.dataset } }));
    const drawer = await page.evaluate(() => {
        const gl = document.createElement("canvas").getContext("webgl2"), about = gl?.getExtension?.("WEBGL_debug_renderer_info");
        return about ? gl.getParameter(about.UNMASKED_RENDERER_WEBGL) : "nothing";
    });
    check(page.complaints.length === 0, page.complaints.join("; "));
    if (shot) await page.screenshot({ path: shot });
    await page.context().close();
    return { took, data, drawer, rate: took.length / seconds };
}

export async function figures(browser, build, shots) {
    for (const [name, options, drawn] of [["cubes", [], FRAMES], ["city", [], 4], ["city", ["--interest", "35"], 4]])
        await test(`figures of a frame: ${name}${options.length ? ", what is near alone" : ""}`, async () => {
            const server = await host(build, `scenes/${name}.yaml`, options);
            try {
                const blank = await look(browser, server.url + "#name=ann", true, FRAMES);
                const real = await look(browser, server.url + "#name=ben", false, drawn, shots && `${shots}/figures-${name}${options.length}.png`);
                console.log(`        ${blank.data.bodies} bodies: ${median(blank.took).toFixed(2)} ms of JavaScript and WebAssembly a frame (least ${Math.min(...blank.took).toFixed(2)}); ` +
                    `${real.drawer} draws ${real.rate.toFixed(1)} frames/s at 640 x 400, ${real.data.cost} ms of scripts and ${real.data.drawing} ms within WebGL each`);
            } finally {
                await server.stop();
            }
        });
}
