// SPDX-License-Identifier: MIT
// main.mjs MODULES BUILD [SCREENSHOTS]: tests the pages in a real browser. MODULES is the folder where
// playwright-core is installed. `make test-web` calls it.
// ONLY=WORDS runs the tests whose names hold these words; SHORT=1 leaves out those that take long.
// CHROMIUM=FILE is another browser than /usr/bin/chromium; GL=vulkan or gl-egl draws on a GPU.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { argv, exit } from "node:process";
import { gzipSync } from "node:zlib";
import { channels } from "./channels.mjs";
import { contacts } from "./contacts.mjs";
import { figures } from "./figures.mjs";
import { firefox } from "./firefox.mjs";
import { check, end, launch, serve, test } from "./harness.mjs";
import { sessions } from "./sessions.mjs";
import { scenes } from "./scenes.mjs";
import { APART, damagedFiles, recordings } from "./recordings.mjs";
import { steppers } from "./steppers.mjs";
import { lobby } from "./lobby.mjs";
import { networks } from "./networks.mjs";
import { pages } from "./pages.mjs";
import { trust } from "./trust.mjs";

async function sizes(folder) {
    const kilobytes = (...files) => files.reduce((sum, f) => sum + gzipSync(readFileSync(`${folder}/${f}`), { level: 9 }).length, 0) / 1000;
    await test("the page of a session is at most 80 kB gzipped, the replayer 340 more", async () => {
        const page = kilobytes("index.html", "style.css", "session.js", "channel.js", "controls.js", "draw.js", "wasm.js", "viewer.wasm");
        const replayer = kilobytes("recording.html", "recording.js", "follow.js", "replay_worker.js", "replayer.wasm");
        const stepper = kilobytes("stepper.js", "stepper.wasm");
        console.log(`        ${page.toFixed(1)} kB, and ${replayer.toFixed(1)} kB; to step ${stepper.toFixed(1)} kB`);
        check(page <= 80 && replayer <= 340, "too large");
    });
}

const [modules, build, shots] = argv.slice(2);
const files = damagedFiles();
const extra = new Map(readdirSync("tests/golden").filter((f) => f.endsWith(".foliot")).map((f) => ["/" + f, "tests/golden/" + f]));
const made = mkdtempSync(join(tmpdir(), "foliot-web-"));
process.on("exit", () => rmSync(made, { recursive: true, force: true }));
writeFileSync(`${made}/apart.yaml`, APART);
execFileSync(`${build}/foliot-lab`, ["run", `${made}/apart.yaml`, "--ticks", "400", "--record", `${made}/apart.foliot`], { stdio: "ignore" });
extra.set("/apart.foliot", `${made}/apart.foliot`);
execFileSync(`${build}/foliot-lab`, ["run", "scenes/spacewar.yaml", "--ticks", "6000", "--record", `${made}/long.foliot`], { stdio: "ignore" });
extra.set("/long.foliot", `${made}/long.foliot`);
extra.set("/forged.foliot", files.get("forged"));
const site = await serve(`${build}/web`, extra);
site.files = files;
await sizes(`${build}/web`);
const browser = await launch(modules);
await recordings(browser, site, shots);
await scenes(browser, site, build, shots);
await sessions(browser, build, shots);
await contacts(browser, build, shots);
await figures(browser, build, shots);
await steppers(browser, build, shots);
await lobby(browser, build, shots);
await pages(browser, site, build, shots);
await networks(browser, build, modules, shots);
await trust(browser, build, shots);
await firefox(site, build, shots);
await channels(browser, build);
await browser.close();
site.server.close();
exit(end());
