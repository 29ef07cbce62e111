#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tier: all
# test_plot.sh: the axis of a plot of amounts begins at 0; others have a margin at both ends.
set -u
cd "$(dirname "$0")/../.." || exit 1
command -v node >/dev/null || { echo "skip: node is not installed"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp web/page/plot.js "$work/plot.mjs"
cat >"$work/try.mjs" <<'END'
import { Plot } from "./plot.mjs";
function ranges(values, options) {
    const plot = new Plot(null, { series: ["a"], ...options });
    values.forEach((value, i) => plot.push(i, [value]));
    return plot.range();
}
function check(name, good) { console.log(`${good ? "ok" : "not ok"} - ${name}`); }
const amounts = ranges([120, 125, 130], { fromZero: true }), none = ranges([0, 0], { fromZero: true });
check("amounts begin at 0", amounts[0] === 0 && amounts[1] > 130);
check("amounts of nothing have a height", none[0] === 0 && none[1] > 0);
const energy = ranges([120, 125, 130], {});
check("others do not", energy[0] > 100 && energy[0] < 120 && energy[1] > 130);
check("nor do those with negative values", ranges([-5, 5], { fromZero: true })[0] < -5);
END
node "$work/try.mjs" || echo "not ok - the script runs"
