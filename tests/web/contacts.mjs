// SPDX-License-Identifier: MIT
// contacts.mjs: the contacts that a session's page shows on demand: as many as there are, where the
// bodies are shown, in a page that watches and in one that steps.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check, open, test, until } from "./harness.mjs";
import { atRest, host } from "./sessions.mjs";

const small = { viewport: { width: 480, height: 360 } }; // software draws it

// Bodies that touch the floor, and one that is near and does not. The player's body is a box, too.
const SCENE = `foliot: 1
name: contacts
tick_hz: 60
gravity: [0, 0, -9.81]
bodies:
  - {name: floor, static: true, shape: {kind: plane}, friction: 0.6}
  - {name: low, mass: 1, shape: {kind: box, half: [0.5, 0.5, 0.5]}, position: [6, 0, 0.5]}
  - {name: high, mass: 1, shape: {kind: box, half: [0.5, 0.5, 0.5]}, position: [6, 0, 1.5]}
  - {name: ball, mass: 1, shape: {kind: sphere, radius: 0.5}, position: [-6, 0, 0.5]}
  - {name: log, mass: 1, shape: {kind: capsule, radius: 0.4, half_length: 1}, orientation: [0.70710678, 0.70710678, 0, 0], position: [-9, 0, 0.4]}
  - {name: gate, static: true, sensor: true, shape: {kind: box, half: [1, 1, 1]}, position: [-6, 1.2, 0.5]}
  - {name: ghost, static: true, shape: {kind: box, half: [1, 1, 1]}, position: [6, 0, 1], filter: {category: 2, mask: 2}}
  - {name: shaft, mass: 1, shape: {kind: box, half: [0.5, 0.5, 0.5]}, position: [0, 8, 0.5], filter: {group: -3}}
  - {name: wheel, mass: 1, shape: {kind: box, half: [0.5, 0.5, 0.5]}, position: [0, 8.6, 0.5], filter: {group: -3}}
  - {name: door, mass: 1, shape: {kind: box, half: [0.5, 0.5, 0.5]}, position: [0, -8, 0.5]}
  - {name: wing, mass: 1, shape: {kind: box, half: [0.5, 0.5, 0.5]}, position: [0, -8.9, 0.5]}
constraints:
  - {kind: weld, a: door, b: wing}
players:
  limit: 2
  spawn: {mass: 1, shape: {kind: box, half: [0.5, 0.5, 0.5]}, friction: 0.3, positions: [[0, 0, 0.5], [3, 0, 0.5]]}
  controls: {kind: thrust, force: 30}
`;

// The own box, two stacked ones, a ball, a capsule that lies, two pairs that pass through each
// other.
const AT_REST = 4 + 4 + 4 + 1 + 2 + 8 + 8;

const points = (page) => page.evaluate(() => {
    const all = window.foliotContacts?.() ?? [];
    return Array.from({ length: all.length / 3 }, (_, i) => all.slice(3 * i, 3 * i + 3));
});
const shown = (page, count) => until(page, (n) => Number(document.body.dataset.contacts) === n, count);
const near = (all, [x, y, z], apart) => all.filter((p) => Math.hypot(p[0] - x, p[1] - y, p[2] - z) < apart);

// Each corner of the box's lowest face once, at the height of the floor.
function checkCorners(all, [x, y]) {
    for (const dx of [-0.5, 0.5])
        for (const dy of [-0.5, 0.5])
            check(near(all, [x + dx, y + dy, 0], 0.01).length === 1, `a corner at ${x + dx}, ${y + dy}: ${JSON.stringify(all)}`);
}

async function moving(page) {
    await page.keyboard.down("KeyW");
    const far = await until(page, () => {
        const [x, y, z] = document.body.dataset.position.split(",").map(Number), all = window.foliotContacts();
        const was = (window.was ??= [x, y]), moved = Math.hypot(x - was[0], y - was[1]);
        if (moved < 1) return false;
        const own = Array.from({ length: all.length / 3 }, (_, i) => all.slice(3 * i, 3 * i + 3)).filter((p) => Math.hypot(p[0] - x, p[1] - y) < 0.8 && p[2] < 0.05);
        return own.length && { count: own.length, off: Math.hypot(...[0, 1].map((k) => own.reduce((sum, p) => sum + p[k], 0) / own.length - [x, y][k])) };
    });
    await page.keyboard.up("KeyW");
    check(far.count === 4 && far.off < 0.01, `${far.count} contacts, ${far.off} off the body that moves`);
}

export async function contacts(browser, build, shots) {
    const folder = mkdtempSync(join(tmpdir(), "foliot-contacts-")), scene = join(folder, "contacts.yaml");
    writeFileSync(scene, SCENE);
    const withPage = async (hash, body) => {
        const server = await host(build, scene);
        try {
            const page = await open(browser, server.url + hash, small);
            await until(page, () => document.body.dataset.position);
            await atRest(page);
            await page.keyboard.press("n");
            await body(page);
            check(page.complaints.length === 0, page.complaints.join("; "));
            await page.context().close();
        } finally {
            await server.stop();
        }
    };

    await test("contacts of what is shown: a box at rest has four, at the height of the floor", () =>
        withPage("#name=ann", async (page) => {
            await shown(page, AT_REST);
            const all = await points(page);
            if (shots) await page.screenshot({ path: `${shots}/session-contacts.png` });
            checkCorners(all, (await page.evaluate(() => document.body.dataset.position)).split(",").map(Number));
            check(near(all, [6, 0, 1], 0.8).length === 4, "four between the boxes that are stacked");
            check(near(all, [-6, 0, 0], 0.1).length === 1, "one under the ball");
            check(near(all, [-9, 1, 0], 0.1).length === 1 && near(all, [-9, -1, 0], 0.1).length === 1, "one under each end of the capsule");
            check(all.every((p) => p[2] < 0.01 || Math.abs(p[2] - 1) < 0.01), "none in bodies that let each other through");
            await page.uncheck("#show-contacts");
            await shown(page, 0);
            await page.check("#show-contacts");
            await shown(page, AT_REST);
            await moving(page);
        }));

    await test("a page that steps shows the same contacts", () =>
        withPage("#name=ann&step=1", async (page) => {
            await until(page, () => document.body.dataset.kind === "stepper");
            await shown(page, AT_REST);
            checkCorners(await points(page), (await page.evaluate(() => document.body.dataset.position)).split(",").map(Number));
            await moving(page);
        }));
    rmSync(folder, { recursive: true });
}
