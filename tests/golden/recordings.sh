#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recordings.sh: writes tests/golden/NAME.foliot for every ready scene: 120 ticks, with two players where it has any, and
# games/NAME/NAME.foliot for every game. A recording that still verifies stays as it is: that recordings of older builds
# are read is what they are kept for. So it writes where a scene is new, or where the simulation has changed
# ("make golden").
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
written=0
record() { # NAME SCENE
    local file=tests/golden/$1.foliot inputs=
    if [ -e "$file" ] && "$build/foliot-replay" verify "$file" >/dev/null 2>&1; then return; fi
    grep -q '^players:' "$2" && inputs="--inputs tests/golden/players.txt"
    [ -e "${2%.yaml}.jsonl" ] && inputs="$inputs --commands ${2%.yaml}.jsonl"
    rm -f "$file"
    # shellcheck disable=SC2086 # two words or none
    "$build/foliot-lab" run "$2" --ticks 120 $inputs --record "$file" --json >/dev/null
    written=$((written + 1))
}
for scene in scenes/*.yaml; do
    [ "$scene" = scenes/city.yaml ] && continue # 10,000 bodies
    record "$(basename "$scene" .yaml)" "$scene"
done
# Games, with their rules and three drawn players; shorter where there are many bodies.
game() { # NAME TICKS
    local file=games/$1/$1.foliot
    if [ -e "$file" ] && "$build/foliot-replay" verify --rules "$file" >/dev/null 2>&1; then return; fi
    rm -f "$file"
    "$build/foliot-lab" run "games/$1/$1.yaml" --ticks "$2" --players 3 --seed 5 --record "$file" --json >/dev/null
    written=$((written + 1))
}
game katamari 240
game sumo 600
game siege 600
game duel 900
record session tests/golden/session.yaml
echo "wrote $written of $(find tests/golden games -name '*.foliot' | wc -l) recordings; the others verify"
