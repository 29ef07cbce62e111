// SPDX-License-Identifier: MIT
// trust.mjs: who is let in by a page: links with tokens, good for one page, and passwords, with real
// servers, keys and links of foliotctl.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { check, open, test, until } from "./harness.mjs";
import { host } from "./sessions.mjs";

const PLAYING = "2", REFUSED = "3";
const small = { viewport: { width: 640, height: 400 } };
const inState = (page, state) => until(page, (s) => document.body.dataset.state === s, state);
const sentence = async (page) => {
    await inState(page, REFUSED);
    const text = await page.textContent("#message");
    console.log(`        ${text}`);
    return text;
};

export async function trust(browser, build, shots) {
    const folder = mkdtempSync(join(tmpdir(), "foliot-trust-"));
    const ctl = (...words) => execFileSync(resolve(build, "foliotctl"), words, { encoding: "utf8" }).trim();
    const key = join(folder, "key"), other = join(folder, "other"), word = join(folder, "word");
    ctl("key", key);
    ctl("key", other);
    writeFileSync(word, "a night in may\n", { mode: 0o600 });

    await test("a link with a token is good for one page, which comes back with it", async () => {
        const server = await host(build, "scenes/cubes.yaml", ["--key", key]);
        try {
            const link = (...words) => ctl("token", "--key", key, "--link", server.url, ...words);
            const ann = await open(browser, link("--client", "7") + "&name=ann", small);
            await inState(ann, PLAYING);
            check(!(await ann.evaluate(() => location.href)).includes("token"), "the token is out of the address bar");
            await ann.reload();
            await inState(ann, PLAYING);

            const shared = link() + "&name=ben";
            const ben = await open(browser, shared, small);
            await inState(ben, PLAYING);
            const thief = await open(browser, shared, small);
            check(/used before/.test(await sentence(thief)), "the link is good for one");
            if (shots) await thief.screenshot({ path: `${shots}/trust-used.png` });

            const bare = await open(browser, server.url + "#name=cyd", small);
            check(/personal link/.test(await sentence(bare)), "no token");
            const broken = await open(browser, link().slice(0, -40) + "&name=cyd", small);
            check(/does not know/.test(await sentence(broken)), "a broken token");
            const strange = await open(browser, ctl("token", "--key", other, "--link", server.url) + "&name=cyd", small);
            check(/does not know/.test(await sentence(strange)), "a token of another key");
            const late = link("--seconds", "1") + "&name=cyd";
            await new Promise((done) => setTimeout(done, 2100));
            check(/expired/.test(await sentence(await open(browser, late, small))), "an expired token");

            const watcher = await open(browser, link("--role", "spectator"), small);
            await until(watcher, () => document.body.dataset.player === "-1");
            check(await ann.evaluate(() => document.body.dataset.state) === PLAYING, "ann still plays");
            for (const page of [ann, ben, watcher]) check(page.complaints.length === 0, page.complaints.join("; "));
            for (const page of [ann, ben, thief, bare, broken, strange, watcher]) await page.context().close();
            check(!server.log.includes("foliot-token"), "no token is in the log");
        } finally {
            await server.stop();
        }
    });

    await test("a password is asked for, and a wrong one is said", async () => {
        const server = await host(build, "scenes/cubes.yaml", ["--password", word]);
        try {
            const page = await open(browser, server.url + "#name=ann", small);
            check(/asks for a password/.test(await sentence(page)), "it is asked for");
            await page.fill("#password", "a night in june");
            if (shots) await page.screenshot({ path: `${shots}/trust-password.png` });
            await page.click("#play");
            await until(page, () => /password is wrong/.test(document.getElementById("message").textContent));
            await page.fill("#password", "a night in may");
            await page.click("#play");
            await inState(page, PLAYING);
            check(page.complaints.length === 0, page.complaints.join("; "));
            await page.context().close();
        } finally {
            await server.stop();
        }
    });

    rmSync(folder, { recursive: true, force: true });
}
