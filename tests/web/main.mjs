// SPDX-License-Identifier: MIT
// main.mjs MODULES BUILD [SCREENSHOTS]: tests the pages in a real browser. MODULES is the folder where
// playwright-core is installed. `make test-web` calls it.
import { readdirSync } from "node:fs";
import { argv, exit } from "node:process";
import { end, launch, serve } from "./harness.mjs";
import { damagedFiles, recordings } from "./recordings.mjs";

const [modules, build, shots] = argv.slice(2);
const files = damagedFiles();
const extra = new Map(readdirSync("tests/golden").filter((f) => f.endsWith(".foliot")).map((f) => ["/" + f, "tests/golden/" + f]));
extra.set("/forged.foliot", files.get("forged"));
const site = await serve(`${build}/web`, extra);
site.files = files;
const browser = await launch(modules);
await recordings(browser, site, shots);
await browser.close();
site.server.close();
exit(end());
