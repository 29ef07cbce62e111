#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: lockstep with the real programs over ENet on the loopback. Bots and a spectator behind a bad network step to the
# bits of the recording; a planted fault is found and named, and nobody is thrown out.
set -u
. "$(dirname "$0")/setup.sh"

# -- a session on a bad network -------------------------------------------------------------------------------
host "$scenes/spacewar.yaml" --record match.foliot --spectator-delay 1
"$client" 127.0.0.1:$port --clients 3 --bot random --seconds 6 --impair loss=10%,delay=40ms,jitter=0-60ms,seed=5 --json \
    >bots.out 2>bots.log &
bots=$!
pids="$pids $bots"
of_player joined 3
"$client" 127.0.0.1:$port --spectate --bot idle --seconds 4 --json >spectator.out 2>spectator.log
ok "a spectator leaves in order" test $? = 0
wait $bots
ok "three bots leave in order" test $? = 0
stop
ok "the server ends in order" test $? = 0
ok "every bot's digests were compared" every ticks_compared '> 60' bots.out
ok "and none differed" every divergences '== 0' bots.out
ok "every bot predicted" test "$(grep -c '"prediction":"on"' bots.out)" = 3
ok "and put others right" every rollbacks '> 0' bots.out
ok "a spectator predicts nothing" grep -q '"prediction":"off"' spectator.out
ok "a spectator who is behind watches" grep -q '"kind":"watcher"' spectator.out
ok "and sees what was" every snapshots_received '> 20' spectator.out
ok "no packet of closed ticks was above 90 bytes" every relay_bytes_max '<= 90' bots.out
ok "the server counted no divergence and no violation" test "$(counter divergences)$(awk '/^violations_/ { s += $2 } END { print s }' server.out)" = 00
ok "the recording verifies" "$replay" verify match.foliot
tick=$(field ticks bots.out | head -n 1)
ok "a bot's last digest is the recording's at that tick" \
    test "$(field digest bots.out | head -n 1)" = "$(digest_at match.foliot "$tick")"

# -- a planted fault ---------------------------------------------------------------------------------------------
LOG_FORMAT=text host "$scenes/spacewar.yaml" --no-record # the report as people read it
"$client" 127.0.0.1:$port --name ada --bot random --seconds 600 --connect-timeout 60 --json >ada.out 2>ada.log &
ada=$!
"$client" 127.0.0.1:$port --name bob --bot circle --seconds 600 --connect-timeout 60 --perturb 300/integrate:rock-4:velocity.y:3 --json >bob.out 2>bob.log &
bob=$!
pids="$pids $ada $bob"
logged '^ *distance ' && eventually has_lines bob.log '^ *our state '
stop # the clients end with it
wait $bob
ok "who diverges plays on" test $? = 0
wait $ada
ok "and so do the others" test $? = 0
ok "the server names body, field, stage and distance" sh -c '
    grep -q "DIVERGED at tick 300" server.log && grep -q "stage *integrate" server.log && grep -q "rock-4" server.log &&
    grep -q "field *velocity.y" server.log && grep -q "distance *3 ulps" server.log'
ok "it took at most 2 kB to find" test "$(sed -n 's/.* \([0-9]*\) bytes of requests.*/\1/p' server.log)" -le 2048
ok "the client was told the same" sh -c 'grep -q "DIVERGED at tick 300" bob.log && grep -q "field *velocity.y" bob.log'
ours=$(sed -n 's/^ *our state *//p' server.log) theirs=$(sed -n 's/^ *our state *//p' bob.log)
ok "the server's side is a recording that verifies" "$replay" verify "$ours"
"$replay" diff "$ours" "$theirs" >diff.out 2>&1
ok "and differs from the client's in that field" sh -c 'grep -q "rock-4" diff.out && grep -q "field *velocity.y" diff.out'
ok "ada's digests go on being compared" every ticks_compared '> 60' ada.out

# -- a server that dies ------------------------------------------------------------------------------------------
host "$scenes/spacewar.yaml" --record life.foliot
"$client" 127.0.0.1:$port --bot random --seconds 600 --connect-timeout 60 --json >survivor.out 2>survivor.log &
survivor=$!
pids="$pids $survivor"
of_player joined
durable life.foliot 90
kill -9 $server_pid
wait $server_pid 2>/dev/null
start --resume life.foliot --mode lockstep --port "$port"
of_player resumed
durable life.foliot 200
stop
wait $survivor
ok "a client plays on after kill -9 of its server" test $? = 0
ok "it reconnected, and its digests were compared again" sh -c 'grep -q "\"reconnects\":[1-9]" survivor.out'
ok "none differed" every divergences '== 0' survivor.out
ok "the recording verifies from end to end" "$replay" verify life.foliot

# -- the command line ----------------------------------------------------------------------------------------------
exits "another mode is no mode" 2 'snapshot or lockstep' "$server" "$scenes/spacewar.yaml" --mode rollback
exits "an input delay has a bound" 2 'input-delay' "$server" "$scenes/spacewar.yaml" --mode lockstep --input-delay 601
exits "a fault must be one" 2 'perturb' "$client" 127.0.0.1:1 --perturb nonsense
