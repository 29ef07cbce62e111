// SPDX-License-Identifier: MIT
// check.mjs FILE...: checks manifests against the types of kubernetes-models and agones.d.ts, unknown fields included, and
// shows that each check can fail: every key of every manifest is misspelt once. "ok - " and "not ok - " lines.
import { readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import ts from "typescript";
import { parseAllDocuments } from "yaml";
import { Job } from "kubernetes-models/batch/v1";

const kinds = { Job: "IJob", Fleet: "IFleet", FleetAutoscaler: "IFleetAutoscaler", GameServerAllocation: "IGameServerAllocation" };
const free = new Set(["labels", "annotations", "matchLabels", "limits", "requests", "counters", "lists"]); // keys are anybody's
const lines = ['import { IJob } from "kubernetes-models/batch/v1"; import { IFleet, IFleetAutoscaler, IGameServerAllocation } from "./agones";'];
const cases = []; // of lines.length
const say = (fine, name) => console.log((fine ? "ok - " : "not ok - ") + name);

function add(name, manifest, wrong) {
  cases[lines.length] = { name, wrong };
  lines.push(`export const m${lines.length}: ${kinds[manifest.kind]} = ${JSON.stringify(manifest)};`);
}

// Calls `visit` with a copy in which one key is misspelt, for every key.
function misspell(root, visit, at = root, path = []) {
  for (const key of Object.keys(at)) {
    const here = [...path, key];
    if (!Array.isArray(at)) {
      const copy = structuredClone(root);
      const holder = path.reduce((o, k) => o[k], copy);
      holder[key + "x"] = holder[key];
      delete holder[key];
      visit(here.join("."), copy);
    }
    if (at[key] && typeof at[key] === "object" && !free.has(key)) misspell(root, visit, at[key], here);
  }
}

for (const file of process.argv.slice(2))
  for (const document of parseAllDocuments(readFileSync(file, "utf8"))) {
    const manifest = document.toJS();
    const name = basename(file) + ": " + manifest.kind;
    if (!kinds[manifest.kind]) { say(false, name + " has no type here"); continue; }
    add(name, manifest, false);
    misspell(manifest, (path, copy) => path !== "kind" && add(`${name}: ${path} misspelt`, copy, true));
    if (manifest.kind === "Job") {
      try { new Job(manifest).validate(); say(true, name + " has values that Kubernetes takes"); }
      catch (e) { say(false, name + ": " + e.message); }
    }
  }

writeFileSync("manifests.ts", lines.join("\n") + "\n");
const program = ts.createProgram(["manifests.ts"], { strict: true, noEmit: true, skipLibCheck: true, module: ts.ModuleKind.ESNext,
  target: ts.ScriptTarget.ES2022, moduleResolution: ts.ModuleResolutionKind.Bundler, types: [] });
const found = [];
for (const d of ts.getPreEmitDiagnostics(program)) {
  const line = d.file ? d.file.getLineAndCharacterOfPosition(d.start).line : 0;
  const text = ts.flattenDiagnosticMessageText(d.messageText, " ");
  if (!d.file || !d.file.fileName.endsWith("manifests.ts") || !cases[line]) { say(false, "the types are read: " + text); process.exit(1); }
  found[line] = text;
}
let planted = 0, missed = [];
cases.forEach((c, line) => {
  if (!c.wrong) say(!found[line], c.name + " has the fields that its API has" + (found[line] ? ": " + found[line] : ""));
  else { planted++; if (!found[line]) missed.push(c.name); }
});
say(planted > 50 && missed.length === 0, `each of ${planted} misspelt keys is found` + (missed.length ? ", but for " + missed.join(", ") : ""));
