#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: twenty spectators of a session in either mode are shown what was two seconds ago, and not the end, which players see.
set -u
. "$(dirname "$0")/setup.sh"
for mode in lockstep snapshot; do
    start "$scenes/spacewar.yaml" --no-record --spectators 20 --spectator-delay 2 --ticks 480 --mode $mode --port 0
    "$client" 127.0.0.1:$port --clients 2 --bot random --seconds 600 --json >bots.out 2>bots.log &
    bots=$!
    pids="$pids $bots"
    "$client" 127.0.0.1:$port --spectate --clients 20 --bot idle --seconds 600 --json >spectators.out 2>spectators.log
    ok "$mode: twenty spectators leave in order" test $? = 0
    wait $bots
    ok "$mode: and the players" test $? = 0
    wait $server_pid
    ok "$mode: there were twenty" test "$(wc -l <spectators.out)" = 20
    ok "$mode: players saw the end" every ticks '> 400' bots.out
    ok "$mode: spectators did not, but what was before" every ticks '<= 360' spectators.out
    ok "$mode: nor less" every ticks '> 150' spectators.out
    ok "$mode: and none of them differed" every divergences '== 0' spectators.out
done
