// SPDX-License-Identifier: MIT
// lobby.mjs: the list of a server's sessions: as they come, with links to join and to watch, and the
// form that creates one for who has the admin token.
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { check, open, test, until } from "./harness.mjs";
import { host } from "./sessions.mjs";

const PLAYING = "2";
const small = { viewport: { width: 800, height: 500 } };
const TOKEN = "a-token-of-the-tests-0123456789";

export async function lobby(browser, build, shots) {
    await test("a list of sessions: created, joined, watched, as they change", async () => {
        const token = join(resolve(build), "lobby.token");
        writeFileSync(token, TOKEN, { mode: 0o600 });
        const server = await host(build, null, ["--http", "0", "--admin-token", token, "--scenes", resolve("scenes"), "--web-create", "--no-record"]);
        try {
            const page = await open(browser, server.url, small);
            await until(page, () => /No session is running/.test(document.getElementById("message").textContent));
            const create = async (name, scene, bearer) => {
                for (const [id, text] of [["name", name], ["scene", scene], ["token", bearer]]) await page.fill("#" + id, text);
                await page.click("#create button");
                await until(page, () => !/Creating|^$/.test(document.getElementById("created").textContent));
                return page.textContent("#created");
            };
            check(/token is wrong/.test(await create("arena", "cubes.yaml", "another-token-0123456789")), "a wrong token");
            check(/cannot be opened/.test(await create("arena", "nowhere.yaml", TOKEN)), "no such scene");
            page.complaints.length = 0; // the answers of 401 and 422, which Chromium complains of
            for (const [name, scene] of [["arena", "cubes.yaml"], ["a <b>bold name", "pendulum.yaml"], ["x".repeat(31), "pendulum.yaml"]]) {
                const created = await create(name, scene, TOKEN);
                check(/running/.test(created), created);
            }
            await until(page, () => document.querySelectorAll("#sessions tbody tr").length === 3);
            for (const width of [390, 500, 800]) {
                await page.setViewportSize({ width, height: 500 });
                const { right, high } = await page.evaluate(() => ({ right: document.querySelector("#sessions a:last-child").getBoundingClientRect().right,
                    high: document.querySelector("#sessions th:nth-child(3)").clientHeight }));
                check(right <= width && high < 60, `at ${width} px the links end at ${right}, and the head is ${high} px high`);
            }
            const tick = await page.textContent("tr[data-session=arena] td:nth-child(5)");
            await until(page, (t) => document.querySelector("tr[data-session=arena]").cells[4].textContent !== t, tick);
            check(await page.locator("#sessions b").count() === 0, "a name is text");
            if (shots) await page.screenshot({ path: `${shots}/lobby.png` });

            const [player] = await Promise.all([open(browser, server.url + "#session=arena&name=ann", small)]);
            await until(player, (s) => document.body.dataset.state === s, PLAYING);
            await until(page, () => /^1 of/.test(document.querySelector("tr[data-session=arena]").cells[2].textContent));
            await page.click("tr[data-session=arena] a:text('Watch')");
            await until(page, () => document.body.dataset.player === "-1" && document.body.dataset.bodies);
            check(page.complaints.length === 0, page.complaints.join("; "));
            for (const p of [page, player]) await p.context().close();
        } finally {
            await server.stop();
        }
    });

    await test("a server with one session has no list before it", async () => {
        const server = await host(build, "scenes/pendulum.yaml");
        try {
            const page = await open(browser, server.url + "#watch=1", small);
            await until(page, (s) => document.body.dataset.state === s, PLAYING);
            await page.goto(server.url + "lobby.html");
            await until(page, () => document.querySelectorAll("#sessions tbody tr").length === 1);
            check(!(await page.isVisible("#create")), "it creates none");
            await page.context().close();
        } finally {
            await server.stop();
        }
    });
}
