#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: a server does not wait for whoever reads its log. Lines went to stderr from the loop that closes ticks: a pipe
# that was full stopped the game for everybody, and the server's end as well. Method: stderr is a pipe that is full from
# the start and read by nobody. The session must reach its last tick in time.
set -u
. "$(dirname "$0")/setup.sh"
mkfifo full
exec 9<>full
dd if=/dev/zero of=full bs=4096 count=1024 oflag=nonblock 2>/dev/null
for mode in snapshot lockstep; do
    : >server.out
    "$server" "$scenes/spacewar.yaml" --mode $mode --no-record --port 0 --ticks 480 --log-format json >server.out 2>full &
    server_pid=$!
    pids="$pids $server_pid"
    eventually listens
    port=$(sed -n 's/^listening on .*:\([0-9]*\)$/\1/p' server.out)
    timeout $LIMIT_SECONDS "$client" 127.0.0.1:$port --bot random --clients 3 --seconds 1 --json >bots.out 2>bots.log
    ok "three clients play in a $mode session whose log nobody reads" test $? = 0
    eventually gone $server_pid
    ok "and it ends by itself" test ! -d /proc/$server_pid
    ok "after its last tick" test "$(counter ticks)" = 480
done
exec 9>&-

# Its log is complete where somebody reads it, to the last line.
host "$scenes/spacewar.yaml" --no-record --ticks 60
wait $server_pid
ok "the last line arrives" event ended
