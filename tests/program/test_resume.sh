#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: a server that is killed with kill -9, at any moment, is started again with --resume and goes on: clients that
# are still running find it by themselves and play on as the same players, and the recording verifies from end to end.
# Damaged files are salvaged, files of others refused.
set -u
. "$(dirname "$0")/setup.sh"
killed() {
    kill -9 $server_pid
    wait $server_pid 2>/dev/null
}

shown() { tail -n 2 "$1" 2>/dev/null | sed -n '1s/.*"render_tick":\([0-9]*\).*/\1/p'; } # TRACE: the newest tick that is in it
shows() { # TRACE TICK RECONNECTS LOG...: waits until the tick is shown and every client is there again
    local trace=$1 tick=$2 count=$3 log
    shift 3
    eventually is_shown "$trace" "$tick"
    for log; do eventually has_lines "$log" ': reconnected to' "$count"; done
}
is_shown() { [ "$(shown "$1")" -ge "$2" ] 2>/dev/null; } # TRACE TICK
# A match that dies twice, with two players in it who notice nothing but a pause.
start "$scenes/spacewar.yaml" --port 0 --record match.foliot
"$client" 127.0.0.1:$port --name ada --bot random --seconds 600 --connect-timeout 60 --json --trace ada.trace >ada.out 2>ada.log &
ada=$!
"$client" 127.0.0.1:$port --name bob --bot circle --seconds 600 --connect-timeout 60 --json >bob.out 2>bob.log &
bob=$!
pids="$pids $ada $bob"
at=$port
for life in 1 2; do
    shows ada.trace $((life * 100 - 50 + RANDOM % 40)) $((life - 1)) ada.log bob.log
    durable=$(last_tick match.foliot)
    killed
    [ $life = 2 ] || sleep 5 # several attempts of the clients fail, and do not count
    start --resume match.foliot --port $at
    ok "life $life: it listens at the same port again" test "$port" = "$at"
    tick=$(sed -n 's/^resumed at tick \([0-9]*\)$/\1/p' server.out)
    # How far that is behind what was shown is a matter of time: the bench "resume" says it.
    ok "life $life: goes on from tick ${tick:-?}, and from nothing before what was durable (${durable:-?})" \
        test "${tick:-0}" -ge "${durable:-1}" -a "${durable:-0}" -gt 0
done
shows ada.trace 250 2 ada.log bob.log
kill -TERM $server_pid # the clients end with it
wait $server_pid; server_exit=$?
wait $ada; ada_exit=$?
wait $bob; bob_exit=$?
ok "both clients played to their end" test $ada_exit = 0 -a $bob_exit = 0
ok "and found the server again by themselves" test "$(field reconnects ada.out)" = 2 -a "$(field reconnects bob.out)" = 2
ok "what was shown never went back" awk -F'"render_tick":' '{ t = $2 + 0; if (t < last) exit 1; last = t }' ada.trace
ok "the server ended in order" test $server_exit = 0
ok "both came back as who they were" test "$(events resumed)" -ge 4
"$replay" verify --json match.foliot >verify.out
ok "the recording verifies from end to end" grep -q '"verdict":"match"' verify.out
ok "with two players, who never joined anew" test "$(field players verify.out)" = 2 -a "$(events joined)" = 2

# Killed at random moments, many times, also while a block is being written: nothing durable is ever missing.
fine=yes last=0 mode="$scenes/spacewar.yaml --record storm.foliot"
for _ in $(seq 10); do
    start $mode --port 0 || fine="a server did not start"
    tick=$(sed -n 's/^resumed at tick \([0-9]*\)$/\1/p' server.out)
    [ "${tick:-0}" -ge "$last" ] || fine="tick $tick came after $last"
    last=${tick:-0} mode="--resume storm.foliot"
    durable storm.foliot $((last + 2))
    sleep "0.$((RANDOM % 25))"
    killed
done
ok "ten kills in a row: each life goes on where the last one ended ($fine, tick $last)" test "$fine" = yes -a "$last" -gt 10
start --resume storm.foliot --port 0 --ticks 20
wait $server_pid
"$replay" verify --json storm.foliot >verify.out
ok "and the file verifies" grep -q '"verdict":"match"' verify.out

# Several sessions in one process: all of them come back, under their names.
start --session red="$scenes/spacewar.yaml" --session blue="$scenes/billiards.yaml" --port 0
for name in red blue; do durable "$(compgen -G "$name-*.foliot")" 10; done
killed
start --resume red-*.foliot --resume blue-*.foliot --session new="$scenes/pendulum.yaml" --port 0
ok "sessions keep their names" test "$(grep -cE "^session '(red|blue|new)'" server.out)" = 3 -a "$(grep -c '^resumed at tick' server.out)" = 2
timeout $LIMIT_SECONDS "$client" 127.0.0.1:$port --session blue --bot idle --ticks 10 --json >blue.out 2>blue.log
ok "and can be joined" grep -q '"outcome":"played"' blue.out

# One writer a file.
exits "a file that a running server writes to is refused" 75 'another process is writing to it' "$server" --resume red-*.foliot --port 0
exits "also as a new recording" 75 'another process is writing to it' "$server" "$scenes/pendulum.yaml" --record "$(echo red-*.foliot)" --port 0 --ticks 1
kill -TERM $server_pid
wait $server_pid

: >server.log
# Lockstep stays lockstep without an option: bodies with joints, and two steppers.
start "$scenes/ragdolls.yaml" --mode lockstep --record step.foliot --port 0
"$client" 127.0.0.1:$port --name ada --bot random --seconds 600 --connect-timeout 60 --json >ada.out 2>ada.log &
ada=$!
"$client" 127.0.0.1:$port --name bob --bot random --seconds 600 --connect-timeout 60 --impair loss=5%,delay=40ms,seed=3 --json >bob.out 2>bob.log &
bob=$!
pids="$pids $ada $bob"
at=$port
of_player joined 2
durable step.foliot 100
killed
: >server.log
start --resume step.foliot --port $at
ok "a lockstep session is resumed in lockstep" grep -q 'in lockstep' server.out
of_player resumed 2
durable step.foliot 600 # seconds in which both are compared
kill -TERM $server_pid # the clients end with it
wait $server_pid
wait $ada; ada_exit=$?
wait $bob; bob_exit=$?
ok "both clients step on to their end" test $ada_exit = 0 -a $bob_exit = 0
ok "as who they were" test "$(events resumed)" -ge 2 -a "$(events joined)" = 0
ok "and to the server's bits" test "$(field divergences ada.out)$(field divergences bob.out)" = 00
ok "which were compared" test "$(field ticks_compared ada.out)" -gt 20 -a "$(field ticks_compared bob.out)" -gt 20
"$replay" verify --json step.foliot >verify.out
ok "and the recording verifies" grep -q '"verdict":"match"' verify.out

# A session that ended in order continues as well; damage is cut off with a sentence.
bytes=$(stat -c %s storm.foliot)
exits "a recording that ended in order goes on" 0 'had ended in order at tick [0-9]+' "$server" --resume storm.foliot --port 0 --ticks 5
# How long each life was decides where its blocks end: of two neighbouring bytes one at least is inside of a block.
for cut in $((bytes * 2 / 3)) $((bytes * 2 / 3 + 1)); do
    head -c $cut storm.foliot >cut.foliot
    cp cut.foliot try.foliot
    timeout $LIMIT_SECONDS "$server" --resume try.foliot --port 0 --ticks 1 >out 2>err
    grep -q 'ends with a whole block' err || break
done
exits "a cut file is salvaged" 0 'is whole up to tick [0-9]+; [0-9]+ bytes after it were cut off: block [0-9]+' "$server" --resume cut.foliot --port 0 --ticks 5
"$replay" verify --json cut.foliot >verify.out
ok "and verifies" grep -q '"verdict":"match"' verify.out
cp storm.foliot bit.foliot
flip bit.foliot $((bytes / 2))
cp bit.foliot bit.before
exits "a damaged one as well, and what was cut off is kept" 0 'cut off and kept in bit.foliot.cut-[0-9]+: block [0-9]+' "$server" --resume bit.foliot --port 0 --ticks 5
ok "to the last byte" cmp -s <(tail -c "$(stat -c %s bit.foliot.cut-*)" bit.before) bit.foliot.cut-*
"$replay" verify --json bit.foliot >verify.out
ok "and verifies too" grep -q '"verdict":"match"' verify.out
head -c 40 storm.foliot >scrap.foliot
exits "a scrap without a keyframe is refused" 4 'scrap.foliot: ' "$server" --resume scrap.foliot --port 0
exits "no file is refused" 78 'nothing.foliot: No such file' "$server" --resume nothing.foliot --port 0
exits "a SCENE beside --resume is wrong usage" 2 'takes one recording and no SCENE' "$server" "$scenes/pendulum.yaml" --resume storm.foliot

# Half of a match by each of two builds is nothing to verify.
if can_fuse; then
    ok "a server is built with contraction on" fused server
    cp storm.foliot storm.before
    exits "what another build has recorded is refused" 5 'fingerprint [0-9a-f]{32}, and this one has [0-9a-f]{32}' \
        ./server-fused --resume storm.foliot --port 0
    ok "and not touched" cmp -s storm.foliot storm.before
fi
