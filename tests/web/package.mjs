// SPDX-License-Identifier: MIT
// package.mjs BUILD TARBALL MODULES: installs the package foliot in an empty folder, as a stranger
// would, and runs what its README shows: a recording with every digest, worlds that compute what
// foliot-lab computes, a session. MODULES has the package ws, for a node without WebSocket.
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { argv, exit } from "node:process";
import { check, end, test } from "./harness.mjs";
import { host } from "./sessions.mjs";

const [build, tarball, modules] = argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "foliot-npm-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

// Runs a script in that folder. Gives what it prints, as JSON.
function run(script, ...values) {
    writeFileSync(join(folder, "script.mjs"), script);
    const done = spawnSync(process.execPath, ["script.mjs", ...values], { cwd: folder, encoding: "utf8", timeout: 100000 });
    check(done.status === 0, `it ended with ${done.status}: ${done.stderr}`);
    check(done.stderr === "", `it complains: ${done.stderr}`);
    return JSON.parse(done.stdout);
}
const native = (scene, ticks, ...more) => JSON.parse(execFileSync(resolve(build, "foliot-lab"), ["run", scene, "--ticks", String(ticks), "--json", ...more], { encoding: "utf8", maxBuffer: 1 << 28 }));

await test("the package is installed from its tarball", async () => {
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "stranger", private: true, type: "module" }));
    const { status, stderr } = spawnSync("npm", ["install", "--offline", "--no-audit", "--no-fund", "--loglevel=error", resolve(tarball)], { cwd: folder, encoding: "utf8" });
    check(status === 0, stderr);
    const about = JSON.parse(readFileSync(join(folder, "node_modules/foliot/package.json")));
    check(about.version !== "0.0.0", "version " + about.version);
    const types = readFileSync(join(folder, "node_modules/foliot/index.d.ts"), "utf8");
    const exported = run(`import * as all from "foliot"; console.log(JSON.stringify(Object.entries(all).map(([name, value]) => [name,
        Object.getOwnPropertyNames(value.prototype ?? {}), Object.getOwnPropertyNames(value)])));`);
    for (const [name, members, statics] of exported) {
        check(new RegExp(`export (class|function) ${name}\\b`).test(types), `${name} has no type`);
        for (const member of [...members, ...statics].filter((m) => !["constructor", "prototype", "length", "name", "caller", "arguments", "stackTraceLimit", "captureStackTrace"].includes(m)))
            check(new RegExp(`\\b${member}[(:]`).test(types), `${name}.${member} has no type`);
    }
});

await test("a recording is verified with every digest, and sought", async () => {
    copyFileSync("tests/golden/ragdolls.foliot", join(folder, "ragdolls.foliot"));
    const { verdict, summary, told, before, after, at } = run(`
        import { readFile } from "node:fs/promises";
        import { Recording } from "foliot";
        const recording = await Recording.open(await readFile("ragdolls.foliot"));
        let told = 0;
        const verdict = recording.verify(() => told++), { summary } = recording;
        recording.seek(100);
        const before = recording.digest, at = recording.positions().length;
        recording.seek(summary.last_tick);
        recording.seek(100);
        console.log(JSON.stringify({ verdict, summary, told, before, after: recording.digest, at }));`);
    check(verdict.matches && verdict.ticks === summary.last_tick - summary.first_tick && told === verdict.ticks, JSON.stringify(verdict));
    check(summary.digests > 0 && before === after && before.length === 32 && at > 0, `${before} and ${after}`);
    const wrong = run(`import { Recording } from "foliot";
        const bytes = new Uint8Array(1000);
        console.log(JSON.stringify(await Recording.open(bytes).then(() => "open", (e) => [e.name, e.message])));`);
    check(wrong[0] === "FoliotError" && /not a recording/.test(wrong[1]), wrong);
});

await test("worlds step as foliot-lab's do, with files, players, captured states", async () => {
    for (const file of ["kepler.yaml", "marbles.yaml", "marbles.csv", "spacewar.yaml"]) copyFileSync(`scenes/${file}`, join(folder, file));
    const got = run(`
        import { readFile } from "node:fs/promises";
        import { World, SceneError, integrators } from "foliot";
        const kepler = await readFile("kepler.yaml", "utf8"), out = {};
        const world = await World.create(kepler, { name: "kepler.yaml" });
        world.step(200);
        out.kepler = [world.tick, world.digest, world.energy, world.body(0).position];
        const state = world.capture();
        world.step(50);
        const later = world.digest;
        world.restore(state);
        world.step(50);
        out.restored = later === world.digest;
        const rk4 = await World.create(kepler, { integrator: "rk4", dt: "1/32" });
        rk4.step(100);
        out.rk4 = rk4.digest;
        const marbles = await World.create(await readFile("marbles.yaml", "utf8"), { files: { "marbles.csv": await readFile("marbles.csv") } });
        marbles.step(40);
        out.marbles = marbles.digest;
        const spacewar = await World.create(await readFile("spacewar.yaml", "utf8"));
        const before = spacewar.slots;
        spacewar.input({ player: 0, kind: "join" });
        spacewar.step();
        out.joined = [before, spacewar.slots];
        const quiet = spacewar.digest;
        spacewar.input({ player: 0, axes: [1, 0, 0, 0] });
        spacewar.step(10);
        out.moved = quiet !== spacewar.digest;
        out.wrong = await World.create("foliot: 1\\nname: x\\ndt: 1\\nbodies: [{mass: -1}]\\n", { name: "x.yaml" }).catch((e) => [e instanceof SceneError, e.line, e.column, e.message]);
        out.missing = await World.create(await readFile("marbles.yaml", "utf8")).catch((e) => e.missing);
        out.integrators = (await integrators()).length;
        console.log(JSON.stringify(out));`);
    const kepler = native("scenes/kepler.yaml", 200);
    check(got.kepler[1] === kepler.digest && got.kepler[2] === kepler.energy && String(got.kepler[3]) === String(kepler.bodies[0].position), JSON.stringify(got.kepler));
    check(got.rk4 === native("scenes/kepler.yaml", 100, "--integrator", "rk4", "--dt", "1/32").digest, "another digest under rk4");
    check(got.marbles === native("scenes/marbles.yaml", 40).digest, "another digest of marbles");
    check(got.restored && got.moved && got.joined[1] > got.joined[0], JSON.stringify(got));
    check(got.wrong[0] === true && got.wrong[1] === 4 && /^x\.yaml:4:\d+: bodies\[0\]\.mass/.test(got.wrong[3]), JSON.stringify(got.wrong));
    check(got.missing === "marbles.csv" && got.integrators > 20, JSON.stringify([got.missing, got.integrators]));
});

await test("a session is joined, played and left", async () => {
    const server = await host(build, "scenes/cubes.yaml");
    try {
        const got = run(`
            import { createRequire } from "node:module";
            import { Session } from "foliot";
            const [link, modules] = process.argv.slice(2);
            const { WebSocket } = createRequire(modules + "/")("ws");
            const until = async (f) => {
                for (let i = 0; i < 600; i++) {
                    const got = f();
                    if (got) return got;
                    await new Promise((done) => setTimeout(done, 50));
                }
                throw new Error("waited for " + f);
            };
            const none = globalThis.WebSocket ? "" : await Session.join(link).catch((e) => e.message);
            const session = await Session.join(link, { name: "ann", WebSocket });
            await until(() => session.sample() && session.about().own >= 0);
            const { own } = session.about(), began = session.position(own);
            session.setInput({ axes: [1, 0, 0, 0] });
            const moved = await until(() => { const p = session.position(own); return p && p[0] - began[0] > 1 && p; });
            session.say("hello");
            const said = [];
            await until(() => (said.push(...session.events()), said.find((e) => e.kind === "chat")));
            const { count } = session.sample(), about = session.about();
            const over = await session.leave();
            const refused = await Session.join(link, { session: "nowhere", WebSocket }).catch((e) => e.message);
            console.log(JSON.stringify({ none, began, moved, said, count, about, over, refused }));`, server.url, modules);
        check(got.count > 800 && got.about.scene === "cubes", JSON.stringify(got.about));
        check(got.said.some((e) => e.kind === "chat" && e.text === "hello" && e.from === "ann"), JSON.stringify(got.said));
        check(got.over.state === "closed" && /nowhere/.test(got.refused), JSON.stringify([got.over, got.refused]));
        check(!got.none || /WebSocket/.test(got.none), got.none);
    } finally {
        await server.stop();
    }
});
exit(end());
