#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: watchers and steppers in one session of the real programs over ENet, in both modes. All that they see is what the
# recording replays to, and a client is healed while it plays.
set -u
. "$(dirname "$0")/setup.sh"

# FILE...: whether the digest that each client ended with is the recording's, of a stepper.
replayed() {
    local file
    for file in "$@"; do
        [ "$(digest_at match.foliot "$(field ticks "$file")")" = "$(field digest "$file")" ] || return 1
    done
}
is_kind() { # KIND FILE
    grep -q "\"kind\":\"$1\"" "$2"
}

for mode in snapshot lockstep; do
    rm -f match.foliot
    : >server.log
    start "$scenes/spacewar.yaml" --record match.foliot --mode $mode --port 0
    "$client" 127.0.0.1:$port --bot random --kind step --seconds 600 --connect-timeout 60 --impair delay=25ms,loss=5% --json >step.out 2>step.log &
    first=$!
    "$client" 127.0.0.1:$port --bot random --kind watch --seconds 600 --connect-timeout 60 --impair delay=25ms,loss=5% --json >watch.out 2>watch.log &
    second=$!
    "$client" 127.0.0.1:$port --bot random --seconds 600 --connect-timeout 60 --json >any.out 2>any.log &
    third=$!
    "$client" 127.0.0.1:$port --bot random --kind step --seconds 600 --connect-timeout 60 --perturb 240:rock-4:velocity.y:3 --json >healed.out 2>healed.log &
    fourth=$!
    pids="$pids $first $second $third $fourth"
    event joined 4 && event healed && durable match.foliot 360
    stop # the clients end with it
    wait $first && wait $second && wait $third && wait $fourth
    ok "$mode: all four play to the end" test $? = 0
    ok "$mode: who wished to step stepped" is_kind stepper step.out
    ok "$mode: who wished to watch watched" is_kind watcher watch.out
    ok "$mode: who wished nothing is as the session's mode says" is_kind \
        "$([ $mode = lockstep ] && echo stepper || echo watcher)" any.out
    ok "$mode: the stepper's digests were compared" every ticks_compared '> 60' step.out
    ok "$mode: and did not differ" every divergences '== 0' step.out
    ok "$mode: the watcher had snapshots" every snapshots_received '> 40' watch.out
    ok "$mode: a planted fault was healed" every heals '== 1' healed.out
    ok "$mode: its client steps at the end" is_kind stepper healed.out
    ok "$mode: the steppers had what the recording replays to" replayed step.out healed.out
    ok "$mode: the recording verifies" "$replay" verify match.foliot
done
exits "another kind is refused" 2 'watch or step' "$client" 127.0.0.1 --kind both
