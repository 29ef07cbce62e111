#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# test_examples.sh: the programs of examples/ run and print what they claim.
set -u
cd "$(dirname "$0")/../.." || exit 1
examples=${BUILD:-build}/examples
failed=0

# expect NAME TEXT ACTUAL: ACTUAL matches the regular expression TEXT.
expect() {
    if grep -qE "$2" <<<"$3"; then
        echo "ok - $1"
    else
        printf 'not ok - %s\n%s\n' "$1" "$3"
        failed=1
    fi
}

expect "a ball comes to rest on its radius" '^ 5\.0 s  0\.2000 m$' "$("$examples/step")"
expect "the same digest at every run" "^$("$examples/step" | tail -n 1)$" "$("$examples/step")"
expect "a text from memory runs" '^energy 39\.' "$("$examples/read_scene")"
expect "a file runs" '^planet ' "$("$examples/read_scene" scenes/kepler.yaml)"
expect "a bad file is refused with its place" '^tests/unit/scenes-bad/dt-zero.yaml:3:5: dt: must' \
    "$("$examples/read_scene" tests/unit/scenes-bad/dt-zero.yaml 2>&1)"
"$examples/read_scene" tests/unit/scenes-bad/dt-zero.yaml 2>/dev/null
expect "and with status 78" '^78$' $?
expect "a callback keeps its energy to 1e-10" '^energy 0\.1300000000[0-9]*, at the start 0\.1300000000' \
    "$("$examples/callback")"
expect "a callback's orbit crosses the section" '^ +[0-9.]+ +-?0\.[0-9]+ +-?0\.[0-9]+$' "$("$examples/callback")"
exit $failed
