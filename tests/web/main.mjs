// SPDX-License-Identifier: MIT
// main.mjs MODULES BUILD [SCREENSHOTS]: tests the pages in a real browser. MODULES is the folder where
// playwright-core is installed. `make test-web` calls it.
// ONLY=WORDS runs the tests whose names hold these words.
import { readdirSync } from "node:fs";
import { argv, exit } from "node:process";
import { end, launch, serve } from "./harness.mjs";
import { sessions } from "./sessions.mjs";
import { damagedFiles, recordings } from "./recordings.mjs";

const [modules, build, shots] = argv.slice(2);
const files = damagedFiles();
const extra = new Map(readdirSync("tests/golden").filter((f) => f.endsWith(".foliot")).map((f) => ["/" + f, "tests/golden/" + f]));
extra.set("/forged.foliot", files.get("forged"));
const site = await serve(`${build}/web`, extra);
site.files = files;
const browser = await launch(modules);
await recordings(browser, site, shots);
await sessions(browser, build, shots);
await browser.close();
site.server.close();
exit(end());
