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
bad=$(mktemp) || exit 1
printf 'foliot: 1\nname: bad\ndt: 0\nbodies: [{name: ball}]\n' >"$bad"
message=$("$examples/read_scene" "$bad" 2>&1)
expect "a bad file is refused with status 78" '^78$' $?
expect "and with its place" "^$bad:3:5: dt: " "$message"
rm "$bad"
expect "a callback keeps its energy to 1e-10" '^energy 0\.1300000000[0-9]*, at the start 0\.1300000000' \
    "$("$examples/callback")"
expect "a callback's orbit crosses the section" '^ +[0-9.]+ +-?0\.[0-9]+ +-?0\.[0-9]+$' "$("$examples/callback")"

expect "rules count what a host's commands spawn" '^6 bodies, 5 crates have landed, digest ' "$("$examples/commands")"
expect "the same at every run" "^$("$examples/commands")$" "$("$examples/commands")"

events=$("$examples/step_events")
expect "a host of 20 frames a second sees each of its crates" '^20 crates asked for, 19 are there, 1 was refused, 0 events dropped$' "$events"
expect "and each landing, with its speed" '^tick +[0-9]+: crate 19 has landed at [0-9.]+ m/s$' "$events"
expect "the same at every run" "^$(tail -n 1 <<<"$events")$" "$("$examples/step_events")"

session=$("$examples/snapshot_session")
expect "a snapshot session has a player" '^server: player 0 joined: alice' "$session"
expect "who pushes the crate, as the client sees it" '^tick [0-9. ]+  crate at x 5\.[0-9]+ m  alice at x 4\.[0-9]+ m$' \
    "$(grep '^tick' <<<"$session" | tail -n 1)"
expect "the same snapshots at every run" "^$(tail -n 1 <<<"$session")$" "$("$examples/snapshot_session")"
expect "and by UDP" '^[0-9]+ snapshots, ' "$("$examples/snapshot_session" --udp)"

# Every statement of C in the page about lockstep stands in the example, however the two break their lines.
statements() { sed 's,//.*,,' | tr -d ' \t\n' | sed 's/[;{},]/&\n/g'; }
missing=$(comm -23 <(sed -n '/^```c$/,/^```$/{s/^```$/;/;/^```c$/!p}' docs/how-to/own-simulation.md | statements | sort -u) \
    <(statements <examples/lockstep.c | sort -u))
expect "docs/how-to/own-simulation.md quotes the example" '^$' "$missing"

# A game of one's own: tested, hosted, recorded, verified; and with faults planted.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
played=$("$examples/lockstep" "$folder/match.foliot")
expect "a sound game ends with status 0" '^0$' $?
for test in replay sync serialisation perturbation; do
    expect "a sound game passes the $test test" "^$test +passed +[1-9]" "$played"
done
for player in 0 1 2; do
    expect "player $player steps to the same bits" \
        "^player-$player: 29[0-9] ticks stepped, 2[89][0-9] compared, 0 divergences$" "$played"
done
expect "its recording verifies" '/match.foliot: match, 300 ticks$' "$played"
played=$("$examples/lockstep" --plant-fault "$folder/fault.foliot")
expect "planted faults end with status 3" '^3$' $?
expect "a field that is not saved is named" '^ +field +cooldown$' "$played"
expect "what nobody broke passes" '^replay +passed' "$played"
expect "a copy that computes wrongly is found" 'player 2 \(player-1\): DIVERGED at tick 150$' "$played"
for line in 'stage +move' 'part +unit 7' 'field +vx' 'distance +1'; do
    expect "and the report has its $line" "^  $line\$" "$played"
done
expect "the others play on" '^player-2: .* 0 divergences$' "$played"
replay=${BUILD:-build}/foliot-replay
expect "info says what was recorded" 'simulation +org.example.skirmish, version 1 of its rules' \
    "$("$replay" info "$folder/match.foliot")"
verdict=$("$replay" verify --json "$folder/match.foliot" 2>"$folder/err")
expect "verify cannot, with status 5" '^5$' $?
expect "and says so" '"verdict":"unsupported"' "$verdict"
expect "and whose it is" 'org.example.skirmish version 1' "$(cat "$folder/err")"
exit $failed
