// SPDX-License-Identifier: MIT
// recordings.mjs: the page of a recording: every digest of whole recordings, one bit that is wrong
// found at its tick, damage reported in a sentence, and time in both directions.
import { readFileSync, readdirSync } from "node:fs";
import { check, open, test, until } from "./harness.mjs";

// LONG=1: every recording of tests/golden, in Firefox too.
export const GOLDEN = process.env.LONG ? readdirSync("tests/golden").filter((f) => f.endsWith(".foliot")).map((f) => f.slice(0, -7)) : null;

// Two bodies side by side, one of which flies off, and the other after it.
export const APART = `foliot: 1
name: apart
tick_hz: 60
bodies:
  - {name: slow, position: [0, 0, 0], velocity: [2, 0, 0], shape: {kind: sphere, radius: 0.2}}
  - {name: fast, position: [0, 1, 0], velocity: [3, 2, 0], shape: {kind: sphere, radius: 0.2}}
`;

const verdictOf = async (page) => {
    await until(page, () => document.body.dataset.verdict, null, 110);
    return page.evaluate(() => [document.body.dataset.verdict, document.getElementById("verdict").textContent]);
};

// The ticks of what foliot-replay prints for the same file are the page's.
export async function recordings(browser, site, shots) {
    for (const name of GOLDEN ?? ["cubes", "spacewar", "ragdolls", "billiards", "kepler"])
        await test(`${name}.foliot is verified, every digest`, async () => {
            const page = await open(browser, `${site.url}/recording.html?file=${name}.foliot`);
            const [verdict, text] = await verdictOf(page);
            check(verdict === "match", text);
            console.log(`        ${text}`);
            if (shots) await page.screenshot({ path: `${shots}/recording-${name}.png` });
            check(page.complaints.length === 0, page.complaints.join("; "));
            await page.context().close();
        });

    await test("a dropped file is opened, played, sought in both directions", async () => {
        const page = await open(browser, `${site.url}/recording.html`);
        if (shots) await page.screenshot({ path: `${shots}/recording-empty.png` });
        await page.setInputFiles("#file", "tests/golden/cubes.foliot");
        await verdictOf(page);
        const at = (tick) => until(page, (t) => document.body.dataset.tick === String(t), tick);
        const box = await page.locator("#line").boundingBox();
        await page.mouse.click(box.x + box.width / 2, box.y + 17);
        await until(page, () => Number(document.body.dataset.tick) > 10);
        await page.locator("#view").focus();
        await page.keyboard.press("Home");
        await at(0);
        for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowRight");
        await at(3);
        await page.keyboard.press("ArrowLeft");
        await at(2);
        await page.click("#play");
        await until(page, () => Number(document.body.dataset.tick) > 20);
        await page.click("#play");
        check(page.complaints.length === 0, page.complaints.join("; "));
        await page.context().close();
    });

    await test("bodies that fly off stay in view, and the camera does not jump", async () => {
        const page = await open(browser, `${site.url}/recording.html?file=apart.foliot`);
        await verdictOf(page);
        await until(page, () => window.foliotView()); // the other worker's, which may be slower
        await page.evaluate(() => {
            let before = window.foliotView();
            window.farthest = 0; // in a frame, as a share of the distance
            const look = () => {
                const now = window.foliotView();
                const moved = Math.hypot(...now.target.map((x, k) => x - before.target[k])) / before.distance;
                window.farthest = Math.max(window.farthest, moved, Math.abs(Math.log(now.distance / before.distance)));
                before = now;
                requestAnimationFrame(look);
            };
            look();
        });
        const seen = () => {
            const { matrix: m, positions } = window.foliotView();
            return positions.every((p) => {
                const [x, y, , w] = [0, 1, 2, 3].map((r) => m[r] * p[0] + m[4 + r] * p[1] + m[8 + r] * p[2] + m[12 + r]);
                return w > 0 && Math.abs(x) < w && Math.abs(y) < w;
            });
        };
        const { distance } = await page.evaluate(() => window.foliotView());
        await page.selectOption("#speed", "4");
        await page.click("#play");
        await until(page, () => document.body.dataset.tick === "400");
        await until(page, seen);
        const later = await page.evaluate(() => ({ ...window.foliotView(), farthest: window.farthest }));
        check(later.distance > 4 * distance, `from ${distance} to ${later.distance}`);
        check(later.farthest > 0 && later.farthest < 0.11, `moves ${later.farthest} in a frame`);
        if (shots) await page.screenshot({ path: `${shots}/recording-apart.png` });
        const closer = await page.evaluate(() => { // whoever looks closer decides
            document.getElementById("view").dispatchEvent(new WheelEvent("wheel", { deltaY: -300, cancelable: true }));
            return window.foliotView().distance;
        });
        await page.locator("#view").focus();
        await page.keyboard.press("Home");
        await until(page, () => document.body.dataset.tick === "0");
        check((await page.evaluate(() => window.foliotView())).distance === closer, "it stays");
        const swiped = await page.evaluate(() => { // a touchpad: as far as one notch of a wheel, in many steps
            for (let i = 0; i < 25; i++) document.getElementById("view").dispatchEvent(new WheelEvent("wheel", { deltaY: 4, cancelable: true }));
            return window.foliotView().distance;
        });
        check(Math.abs(Math.log(swiped / closer) - 0.12) < 0.01, `from ${closer} to ${swiped}`);
        check(page.complaints.length === 0, page.complaints.join("; "));
        await page.context().close();
    });

    await test("a long recording is sought from the nearest keyframe, which is compressed", async () => {
        const page = await open(browser, `${site.url}/recording.html?file=long.foliot`);
        await until(page, () => document.body.dataset.tick === "0");
        const box = await page.locator("#line").boundingBox();
        for (const share of [0.7, 0.4, 0.9]) { // forwards, and backwards
            await page.mouse.click(box.x + 6 + (box.width - 12) * share, box.y + 17);
            await until(page, (s) => Math.abs(Number(document.body.dataset.tick) - 6000 * s) < 20, share);
            const { tick, began } = await page.evaluate(() => ({ ...document.body.dataset }));
            check(began > 0 && tick - began >= 0 && tick - began < 600, `tick ${tick} was computed from tick ${began}`);
        }
        const marks = await page.evaluate(() => Number(document.body.dataset.keyframes));
        check(marks > 10, `${marks} keyframes on the time line`);
        check(page.complaints.length === 0, page.complaints.join("; "));
        await page.context().close();
    });

    await test("one digest that is wrong is found at its tick", async () => {
        const page = await open(browser, `${site.url}/recording.html?file=forged.foliot`);
        const [verdict, text] = await verdictOf(page);
        check(verdict === "differs" && text.includes(`tick ${WRONG_TICK}`), text);
        await page.click("#difference");
        await until(page, (t) => document.body.dataset.tick === String(t), WRONG_TICK);
        if (shots) await page.screenshot({ path: `${shots}/recording-differs.png` });
        await page.locator("#view").focus();
        for (const [key, tick] of [["End", 120], ["ArrowLeft", 119]]) { // beyond it, in both directions
            await page.keyboard.press(key);
            await until(page, (t) => document.body.dataset.tick === String(t), tick);
        }
        await page.context().close();
    });

    await test("a recording that was cut off is verified up to its end", async () => {
        const page = await open(browser, `${site.url}/recording.html`);
        await page.setInputFiles("#file", { name: "short", mimeType: "", buffer: site.files.get("short") });
        const [verdict, text] = await verdictOf(page);
        check(verdict === "unfinished" && /\b60 ticks match/.test(text), text);
        check(page.complaints.length === 0, page.complaints.join("; "));
        await page.context().close();
    });

    for (const [name, what, word] of [["flipped", "a flipped bit is found by its block's checksum", "block"],
        ["text", "a file that is no recording is refused with a sentence", "."]])
        await test(what, async () => {
            const page = await open(browser, `${site.url}/recording.html`);
            await page.setInputFiles("#file", { name, mimeType: "", buffer: site.files.get(name) });
            await until(page, () => document.getElementById("verdict").className === "damaged", null, 60);
            const text = await page.textContent("#verdict");
            console.log(`        ${text}`);
            check(text.includes(word), text);
            check(page.complaints.length === 0, page.complaints.join("; "));
            await page.context().close();
        });

    await test("a link to nothing is said", async () => {
        const page = await open(browser, `${site.url}/recording.html?file=nothing.foliot`);
        await until(page, () => /cannot be read/.test(document.getElementById("verdict").textContent));
        await page.context().close();
    });
}

function crc32c(bytes) {
    let crc = ~0;
    for (const byte of bytes) {
        crc ^= byte;
        for (let i = 0; i < 8; i++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
    }
    return ~crc >>> 0;
}

// Another first byte for the digest of tick WRONG_TICK, and the checksums that fit: what no
// checksum shows. The digests of the first block of ticks are one record, [4, first, every, each,
// bytes], of ticks 1, 2, 3 ...
const WRONG_TICK = 31;
function forgedDigest(whole) {
    const forged = Buffer.from(whole);
    const record = forged.indexOf(Buffer.from([0x95, 4, 1, 1]));
    const each = forged[record + 4], digests = record + (forged[record + 5] === 0xc4 ? 7 : 8); // bin 8 or bin 16
    const block = forged.lastIndexOf(forged.subarray(16, 20), record); // every block begins alike
    check(record > 0 && forged.readUIntBE(record + 6, digests - record - 6) > each * (WRONG_TICK - 1), "no such digest");
    forged[digests + each * (WRONG_TICK - 1)] ^= 1;
    const length = forged.readUInt32LE(block + 4);
    forged.writeUInt32LE(crc32c(forged.subarray(block + 28, block + 28 + length)), block + 20);
    forged.writeUInt32LE(crc32c(forged.subarray(block, block + 24)), block + 24);
    return forged;
}

export function damagedFiles() {
    const whole = readFileSync("tests/golden/cubes.foliot");
    const flipped = Buffer.from(whole);
    flipped[Math.floor(whole.length / 2)] ^= 1;
    const short = whole.subarray(0, whole.length - 300); // within the second block of 60 ticks
    return new Map([["flipped", flipped], ["short", short],
        ["forged", forgedDigest(whole)], ["text", Buffer.from("this is no recording\n".repeat(20))]]);
}
