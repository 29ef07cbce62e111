#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recordings.sh: writes tests/golden/NAME.foliot for every ready scene: 120 ticks, with two players where it has any. A
# change of the simulation or of the format alone may use it ("make golden").
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
rm -f tests/golden/*.foliot
for scene in scenes/*.yaml; do
    name=$(basename "$scene" .yaml)
    inputs=
    grep -q '^players:' "$scene" && inputs="--inputs tests/golden/players.txt"
    # shellcheck disable=SC2086 # two words or none
    "$build/foliot-lab" run "$scene" --ticks 120 $inputs --record "tests/golden/$name.foliot" --json >/dev/null
done
# One that is called after its format: the others may be older.
cp tests/golden/spacewar.foliot tests/golden/format-3.foliot
echo "wrote $(find tests/golden -name '*.foliot' | wc -l) recordings"
