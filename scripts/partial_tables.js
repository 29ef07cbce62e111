#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// partial_tables.js PRIORS.h OUT: the tables of common/wire/partial_priors.h for the viewer, which loads them when it
// needs them. OUT is tables.bin, their numbers in two bytes each, or a header that declares them as one struct.
const fs = require("fs");
const [, , priors, out] = process.argv;
const text = fs.readFileSync(priors, "utf8");
if (out.endsWith(".bin")) {
    const numbers = text.match(/\{[\d,\s]+\}/g).join().match(/\d+/g);
    fs.writeFileSync(out, new Uint8Array(new Uint16Array(numbers).buffer));
} else {
    const tables = [...text.matchAll(/^static const (uint16_t (\w+)[^=\n]*?) *=/gm)];
    fs.writeFileSync(out, text.match(/^(#define|enum|#include).*$/gm).join("\n") +
        `\nextern struct web_tables {\n${tables.map(t => `    ${t[1]};\n`).join("")}} web_tables;\n` +
        tables.map(t => `#define ${t[2]} (web_tables.${t[2]})\n`).join(""));
}
