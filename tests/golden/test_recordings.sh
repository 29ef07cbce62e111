#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: recordings that were made once verify with this build: every ready scene and game, to the
# last bit; the rules of games give what was recorded. That the alarm rings is seen by a fault of one ulp in each of them.
set -u
cd "$(dirname "$0")/../.." || exit 1
replay=${BUILD:-build}/foliot-replay
missing=0
for scene in scenes/*.yaml; do
    [ "$scene" = scenes/city.yaml ] && continue # 10,000 bodies
    [ -e "tests/golden/$(basename "$scene" .yaml).foliot" ] || { echo "no golden recording of $scene"; missing=1; }
done
[ "$missing" = 0 ] && echo "ok - every ready scene has a golden recording" || echo "not ok - every ready scene has a golden recording"
for scene in games/*/*.yaml; do
    [ -e "${scene%.yaml}.foliot" ] || { echo "not ok - ${scene%.yaml} has a golden recording"; continue; }
    lua=1
    pkg-config --exists lua5.4 || lua=0
    said=$("$replay" verify --rules "${scene%.yaml}.foliot")
    if [ "$lua" = 1 ]; then
        grep -q ': rules match: [0-9]* commands' <<<"$said" && echo "ok - the rules of ${scene%.yaml} give its commands" ||
            echo "not ok - the rules of ${scene%.yaml} give its commands: $said"
    fi
done
for file in tests/golden/*.foliot games/*/*.foliot; do
    name=$(basename "$file" .foliot)
    "$replay" verify "$file" >/dev/null && echo "ok - $name verifies" || echo "not ok - $name verifies"
    "$replay" verify "$file" --json --perturb 77:0:velocity.x:1 | grep -q '"verdict":"diverged".*"first_bad_tick":77,"stage":"finish".*"field":"velocity.x","ulps":1,' &&
        echo "ok - a fault in $name is found" || echo "not ok - a fault in $name is found"
done
