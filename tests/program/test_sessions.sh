#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: foliot-server hosts a scene many times, as separate sessions; a slow one does not hold the others up; what
# cannot be hosted is refused with a sentence. Method: the real programs.
set -u
. "$(dirname "$0")/setup.sh"
scene=$scenes/spacewar.yaml

exits "more sessions than there may be" 2 'from 1 to 1024' "$server" "$scene" --sessions 1025
exits "one more than there may be" 2 'at most 1024 sessions' "$server" "$scene" --no-record --sessions 1024 --session "more=$scene"
exits "sessions of no scene" 2 'requires a SCENE' "$server" --sessions 3 --session "a=$scene"
exits "one recording for several" 2 'one file for one' "$server" "$scene" --sessions 2 --record a.foliot
exits "too many workers" 2 'from 1 to 256' "$server" "$scene" --workers 257
exits "a name that is there twice" 2 "two sessions named 'spacewar-2'" "$server" "$scene" --no-record --sessions 2 \
    --session "spacewar-2=$scene"

# Two separate recordings, and a player in one of them.
start "$scene" --sessions 2 --port 0 --ticks 240
"$client" "127.0.0.1:$port" --session spacewar-2 --name ann --bot random --ticks 60 >bot.out 2>bot.log
ok "a player joins the second by its name" test $? = 0
exits "and not one that is not there" 1 "no session 'spacewar-3'" "$client" "127.0.0.1:$port" --session spacewar-3 --bot idle --seconds 1
wait "$server_pid"
ok "each has its recording" test "$(ls spacewar-1-*.foliot spacewar-2-*.foliot 2>/dev/null | wc -l)" = 2
ok "both are whole" "$replay" verify spacewar-1-*.foliot spacewar-2-*.foliot
rm -f ./*.foliot

# Three worlds that are slower than real time, on two workers, next to a quick one: it has its ticks.
{
    printf 'foliot: 1\nname: slow\ntick_hz: 500\nforces:\n  - {kind: newton, constant: 1.0e-3, softening: 0.1}\nbodies:\n'
    for i in $(seq 0 2999); do
        echo "  - {mass: 1, position: [$((i % 20)), $((i / 20 % 20)), $((i / 400))]}"
    done
} >slow.yaml
start --session "a=slow.yaml" --session "b=slow.yaml" --session "c=slow.yaml" --session "quick=$scene" --workers 2 \
    --port 0 --no-record
timeout $LIMIT_SECONDS "$client" "127.0.0.1:$port" --session quick --bot idle --ticks 180 >quick.out 2>quick.log
ok "a quick session goes on beside slow ones" test $? = 0
kill -INT "$server_pid"
wait "$server_pid"
