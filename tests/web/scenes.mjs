// SPDX-License-Identifier: MIT
// scenes.mjs: the page of a scene: every example computes what foliot-lab computes, and faults of a
// text are reported in the same words, at the same line and column.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { check, longTest, open, test, until } from "./harness.mjs";

const TICKS = 150;
const clean = (page) => check(page.complaints.length === 0, page.complaints.join("; "));
const data = (page) => page.evaluate(() => ({ ...document.body.dataset }));
const goTo = async (page, tick) => {
    await page.fill("#goal", String(tick));
    await page.press("#goal", "Enter");
    await until(page, (t) => document.body.dataset.tick === String(t), tick, 100);
};
const digestOf = (build, scene, ticks, more = []) => {
    const run = spawnSync(resolve(build, "foliot-lab"), ["run", scene, "--ticks", String(ticks), "--json", ...more], { encoding: "utf8", maxBuffer: 1 << 28 });
    check(run.status === 0, `foliot-lab: ${run.stderr}`);
    return JSON.parse(run.stdout).digest;
};

// Texts that are no scene: YAML that libyaml refuses, keys, ranges, combinations, files.
const HEAD = "foliot: 1\nname: x\ndt: 0.01\n";
const WRONG = [
    "", "foliot: 1\nname: [x\n", "foliot: 1\n\tname: x\n", `${HEAD}bodies:\n  - {mass: -1}\n`, `${HEAD}bodies: []\nbodies: []\n`,
    `${HEAD}bodies:\n  - {name: a, mass: 1}\n  - {name: a, mass: 1}\n`, `${HEAD}integrator: leapfrg\nbodies: [{mass: 1}]\n`,
    `${HEAD}gravty: [0, 0, -9]\nbodies: [{mass: 1}]\n`, `${HEAD}bodies: [{mass: 1, position: [0, ä, 0]}]\n`, "name: &x y\n", "%YAML 1.1\n---\nfoliot: 1\n",
    `${HEAD}bodies:\n  - {csv: nothing.csv}\n`, `${HEAD}bodies:\n  - {csv: ../x.csv}\n`, "a: b: c\n", "\"unfinished\n", `# ÄÖÜ\n${HEAD}bodies: [{mass: 1e999}]\n`,
    `${HEAD}bodies:\n  - {csv: table.csv}\n`, "{foliot: 1, name: x, dt: 0.01, bodies: [{mass: 1}]\n", `${HEAD}bodies: [{mass: 1, shape: {kind: sphere}}]\n`,
];
const TABLE = "mass,position.x\n1,0\n1,zero\n";

export async function scenes(browser, site, build, shots) {
    const folder = mkdtempSync(join(tmpdir(), "foliot-web-"));
    process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

    await longTest("every example computes what foliot-lab computes", async () => {
        const page = await open(browser, `${site.url}/scene.html#pause=1`);
        await until(page, () => document.body.dataset.digest);
        for (const file of readdirSync("scenes").filter((f) => f.endsWith(".yaml"))) {
            const name = file.slice(0, -5), ticks = /city|pyramid|pile/.test(name) ? 30 : TICKS;
            const { read } = await data(page);
            await page.selectOption("#example", name);
            await until(page, (r) => Number(document.body.dataset.read) > Number(r) && document.body.dataset.tick === "0", read);
            check((await data(page)).status === "0", `${name}: ${await page.textContent("#problem")}`);
            await goTo(page, ticks);
            const { digest, step } = await data(page), native = digestOf(build, `scenes/${file}`, ticks);
            check(digest === native, `${name} at tick ${ticks}: ${digest} in the page, ${native} here`);
            if (process.env.VERBOSE) console.log(`        ${name}: ${step} ms a tick`);
            if (shots && /kepler|pile|chain|cloth/.test(name)) await page.screenshot({ path: `${shots}/scene-${name}.png` });
        }
        clean(page);
        await page.context().close();
    });

    await test("what is wrong with a scene is said as foliot-lab says it, with line and column", async () => {
        const page = await open(browser, `${site.url}/scene.html#pause=1`);
        await until(page, () => document.body.dataset.digest);
        writeFileSync(join(folder, "table.csv"), TABLE);
        for (const text of WRONG) {
            writeFileSync(join(folder, "wrong.yaml"), text);
            const native = spawnSync(resolve(build, "foliot-lab"), ["check", "wrong.yaml"], { cwd: folder, encoding: "utf8" }).stderr.trim();
            const { read } = await data(page);
            const files = [{ name: "wrong.yaml", mimeType: "", buffer: Buffer.from(text) }];
            if (text.includes("table.csv")) files.unshift({ name: "table.csv", mimeType: "", buffer: Buffer.from(TABLE) });
            await page.setInputFiles("#file", files);
            await until(page, (r) => Number(document.body.dataset.read) > Number(r), read);
            const said = (await page.textContent("#problem")).replace(/\. Open that file too, or drop it here\.$/, "");
            check(said === native, `in the page: ${said}\n        foliot-lab:  ${native}`);
            const place = native.match(/^wrong\.yaml:(\d+):(\d+):/), { line, column } = await data(page);
            check(!place || (line === place[1] && column === place[2]), `${line}:${column} for ${native}`);
        }
        if (shots) await page.screenshot({ path: `${shots}/scene-wrong.png` });
        clean(page);
        await page.context().close();
    });

    await test("a scene is written, run, played, looked into", async () => {
        const page = await open(browser, `${site.url}/scene.html#example=wrecking-ball`, { viewport: { width: 1280, height: 800 } });
        await until(page, () => Number(document.body.dataset.tick) > 40); // it plays at once
        await until(page, () => Number(document.body.dataset.lines) > 0); // its joints are
        await page.check("#contacts");
        await page.click("#play");
        const box = await page.locator("#view").boundingBox();
        for (let i = 0; i < 64 && !(await page.isVisible("#body")); i++) {
            await page.mouse.click(box.x + box.width * (0.2 + 0.08 * (i % 8)), box.y + box.height * (0.05 + 0.08 * Math.floor(i / 8)));
            await page.waitForTimeout(100);
        }
        await until(page, () => /speed/.test(document.getElementById("body").textContent));
        if (shots) await page.screenshot({ path: `${shots}/scene-joints.png` });
        await page.fill("#text", `${HEAD}gravity: [0, 0, -10]\nbodies: [{name: stone, mass: 2, position: [0, 0, 5]}]\n`);
        await until(page, () => /1 body/.test(document.getElementById("problem").textContent));
        await goTo(page, 10);
        writeFileSync(join(folder, "stone.yaml"), await page.inputValue("#text"));
        check((await data(page)).digest === digestOf(build, join(folder, "stone.yaml"), 10), "another digest");
        await page.selectOption("#integrator", "rk4");
        await until(page, () => /rk4/.test(document.getElementById("problem").textContent));
        await goTo(page, 20);
        check((await data(page)).digest === digestOf(build, join(folder, "stone.yaml"), 20, ["--integrator", "rk4"]), "another digest under rk4");
        clean(page);
        await page.context().close();
    });

    await test("orbits, pendulums and ragdolls are seen: large enough, in view, with trails and joints, behind no panel", async () => {
        const decoder = await browser.newPage();
        for (const [example, trail] of [["kepler", true], ["solar-system", true], ["double-pendulum", true], ["ragdoll", false]]) {
            const page = await open(browser, `${site.url}/scene.html#example=${example}`, { viewport: { width: 1280, height: 800 } });
            await until(page, () => Number(document.body.dataset.tick) > 200);
            await page.click("#play");
            await page.waitForTimeout(3000); // the camera glides to where it shall be
            const view = await page.evaluate(() => window.foliotView()), box = await page.locator("#view").boundingBox();
            const panel = await page.locator("#energy").boundingBox();
            check(panel.y >= box.y + box.height - 1, `${example}: the panel hides the picture`);
            check((view.trail > 20) === trail, `${example}: trails of ${view.trail} parts`);
            check(example !== "double-pendulum" || (await data(page)).lines !== "0", "no rods are drawn");
            const image = (await page.screenshot({ clip: box })).toString("base64");
            const sizes = await decoder.evaluate(async ({ image, view, box }) => {
                const bitmap = await createImageBitmap(await (await fetch("data:image/png;base64," + image)).blob());
                const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
                context.drawImage(bitmap, 0, 0);
                return view.positions.map((p) => {
                    const [x, y, , w] = [0, 1, 2, 3].map((r) => view.matrix[r] * p[0] + view.matrix[4 + r] * p[1] + view.matrix[8 + r] * p[2] + view.matrix[12 + r]);
                    const at = [((x / w + 1) / 2) * box.width, ((1 - y / w) / 2) * box.height];
                    if (at.some((v, k) => v < 3 || v > [box.width, box.height][k] - 3)) return -1;
                    const { data } = context.getImageData(Math.round(at[0]) - 4, Math.round(at[1]) - 4, 9, 9);
                    let count = 0;
                    for (let i = 0; i < data.length; i += 4) count += Math.max(...[184, 204, 227].map((s, k) => Math.abs(data[i + k] - s))) > 40 ? 1 : 0;
                    return count;
                });
            }, { image, view, box });
            check(sizes.every((s) => s >= 8), `${example}: bodies have ${sizes} pixels that are not the sky's (-1: out of view)`);
            clean(page);
            await page.context().close();
        }
        await decoder.close();
    });

    await test("a run to a tick is stopped by Play; text is moved within the editor, and not lost", async () => {
        const page = await open(browser, `${site.url}/scene.html#pause=1`);
        await until(page, () => document.body.dataset.digest);
        await page.fill("#goal", "900000000");
        await page.press("#goal", "Enter");
        await until(page, () => Number(document.body.dataset.tick) > 0);
        for (let i = 0; i < 2; i++) await page.click("#play");
        await page.waitForTimeout(500); // what was asked for is answered
        const { tick, read } = await data(page);
        await page.waitForTimeout(500);
        check((await data(page)).tick === tick, `it runs on, from ${tick} to ${(await data(page)).tick}`);
        const prevented = await page.evaluate(() => ["dragover", "drop"].map((kind) => {
            const dataTransfer = new DataTransfer();
            dataTransfer.setData("text/plain", "mass: 1");
            return !document.getElementById("text").dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }));
        }));
        check(!prevented.some(Boolean), `a text's drop is taken from the editor: ${prevented}`);
        check((await data(page)).read === read, "nor is the scene read anew");
        const asked = [];
        page.on("dialog", (dialog) => {
            asked.push(dialog.type());
            dialog.accept();
        });
        await page.reload();
        check(asked.length === 0, "nothing was written: " + asked);
        await until(page, () => document.body.dataset.digest);
        await page.click("#text");
        await page.keyboard.type("# mine");
        await page.reload();
        check(asked.join() === "beforeunload", "what was written is lost without a question");
        clean(page);
        await page.context().close();
    });

    await test("the lab shows several integrators beside each other, their errors as foliot-lab has them", async () => {
        const page = await open(browser, `${site.url}/lab.html#scene=kepler&end=300&speed=4`, { viewport: { width: 1280, height: 800 } });
        await until(page, () => document.body.dataset.tick === "300");
        const errors = JSON.parse((await data(page)).errors);
        check(Object.keys(errors).length === 4, JSON.stringify(errors));
        for (const [name, error] of Object.entries(errors)) {
            const { stdout } = spawnSync(resolve(build, "foliot-lab"), ["run", "scenes/kepler.yaml", "--ticks", "300", "--json", "--integrator", name], { encoding: "utf8" });
            check(JSON.parse(stdout).energy_error_max === error, `${name}: ${error} in the page, ${JSON.parse(stdout).energy_error_max} here`);
        }
        if (shots) await page.screenshot({ path: `${shots}/lab.png` });
        const said = () => page.evaluate(() => document.getElementById("orbits").textContent);
        await page.fill("#dt", "1/0");
        await page.press("#dt", "Enter");
        await until(page, () => /a tick's length is a number above 0/.test(document.getElementById("orbits").textContent));
        await page.fill("#dt", "0.1");
        await page.press("#dt", "Enter");
        await until(page, () => /^dt 0.1/.test(document.getElementById("about").textContent));
        await page.selectOption("#scene", "stiff-spring"); // and a refusal of the scene is shown in its place
        await page.check("input[value=reversible-leapfrog]");
        await until(page, () => document.querySelectorAll("#orbits figure").length === 5);
        check((await said()).length > 0, "captions");
        clean(page);
        await page.context().close();
    });
}
