#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: a server under Agones, with a stand-in for its SDK server that answers as the real one does: late, in pieces,
# again and again. Ready once it listens, alive as long as its ticks come, and gone in order, its recordings whole.
set -u
. "$(dirname "$0")/setup.sh"
command -v python3 >/dev/null || { echo "skip: no python3 for the SDK server's stand-in"; exit 0; }
sdk=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
game=$(python3 -c 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
sdk() { # OPTION...
    python3 "$root/tests/program/agones_sdk.py" $sdk --port $game "$@" >>asked 2>sdk.err &
    sdk_pid=$!
    pids="$pids $sdk_pid"
}
asked() { eventually has_lines asked "$@"; } # PATTERN [COUNT]

# The SDK server comes two seconds after the game server.
: >asked
export AGONES_SDK_HTTP_PORT=$sdk
(sleep 1.2; exec python3 "$root/tests/program/agones_sdk.py" $sdk --port $game >>asked 2>sdk.err) &
sdk_pid=$!
pids="$pids $sdk_pid"
start "$scenes/pendulum.yaml" --session two="$scenes/spacewar.yaml" --record unused.foliot 2>/dev/null && echo "not ok - --record of two sessions"
start "$scenes/pendulum.yaml" --session two="$scenes/spacewar.yaml" --ticks 900
ok "it waits for the SDK server, and takes the port that Agones gave it" test "$port" = "$game"
ok "it says that it is ready, once" asked 'POST /ready \{\}'
ok "and that it is alive, with a body" asked 'POST /health \{\}' 4
logged 'agones: local is Ready'
asked 'POST /health \{\}' 5
ok "the watch says so: read from pieces, told once" test "$(grep -c 'agones: local is Ready' server.log)" = 1
curl -s -X POST -d '{}' http://127.0.0.1:$sdk/allocate >/dev/null 2>&1 || python3 -c '
import urllib.request, sys
urllib.request.urlopen(urllib.request.Request("http://127.0.0.1:%s/allocate" % sys.argv[1], b"{}"))' $sdk
ok "an allocation is seen" logged 'agones: local is Allocated'
ok "every session that ends is taken off the counter" asked 'PATCH /v1beta1/counters/sessions \{"countDiff":"-1"\}' 2
wait $server_pid
ok "it ends in order" test $? = 0
ok "and says last that it is gone" grep -q 'POST /shutdown' <(tail -n 1 asked)
"$replay" verify --json pendulum-*.foliot two-*.foliot >verify.out
ok "its recordings are whole" test "$(grep -c '"verdict":"match"' verify.out)" = 2

# The SDK server dies and comes back; the game continues, and all pending reports are made.
: >asked
start "$scenes/spacewar.yaml" --no-record --port 0
ok "an option for the port wins" test "$port" != "$game"
asked 'POST /ready'
kill -9 $sdk_pid
wait $sdk_pid 2>/dev/null
logged 'SDK server does not answer'
sleep 1.5 # in which it is asked more than once
ok "without the SDK server the game goes on" kill -0 $server_pid
ok "and the log says so once" test "$(grep -c 'SDK server does not answer' server.log)" = 1
: >asked
sdk
ok "it is told again that the server is alive" asked 'POST /health' 2
ok "and watched again" asked 'GET /watch'
ok "which the log says too" logged 'answers again'
kill -TERM $server_pid
wait $server_pid
ok "SIGTERM ends it" test $? = 0

# A simulation that is stuck is not alive: the loop itself is stopped here.
: >asked
start "$scenes/spacewar.yaml" --no-record
asked 'POST /health' 2
kill -STOP $server_pid
sleep 2 # for what was on its way
before=$(grep -c 'POST /health' asked)
sleep 2
ok "a stopped process is not alive" test "$(grep -c 'POST /health' asked)" = "$before"
kill -CONT $server_pid
stop
kill $sdk_pid
wait $sdk_pid 2>/dev/null

# The command for its recordings takes longer than two periods: the server is alive until then.
: >asked
sdk
start "$scenes/pendulum.yaml" --record slow.foliot --ticks 5 --on-recording 'sleep 6'
wait $server_pid
ok "a server that hands its recordings on is alive" \
    awk '/POST \/health/ { last = $1 } /POST \/shutdown/ { gone = $1 } END { exit !(gone && gone - last < 3) }' asked
kill $sdk_pid
wait $sdk_pid 2>/dev/null

# The answer to an allocation is where players find the server: tokens name that, and not the address of its pod.
sdk --address 203.0.113.9
"$build/foliotctl" key arena.key
start "$scenes/spacewar.yaml" --no-record --key arena.key
"$build/foliotctl" token --key arena.key --server "203.0.113.9:$game" >ada.token
ok "a token for the address of Agones lets in" timeout $LIMIT_SECONDS "$client" "127.0.0.1:$port" --token ada.token --bot idle --ticks 5
"$build/foliotctl" token --key arena.key --server "203.0.113.10:$game" >bob.token
exits "and none for another one" 1 'for another server' "$client" "127.0.0.1:$port" --token bob.token --bot idle --ticks 5
stop
kill $sdk_pid

# Nonsense instead of an SDK server.
exits "a port that is none" 2 'AGONES_SDK_HTTP_PORT' env AGONES_SDK_HTTP_PORT=sdk "$server" "$scenes/pendulum.yaml"
unset AGONES_SDK_HTTP_PORT
start "$scenes/pendulum.yaml" --no-record --port 0 --ticks 3
wait $server_pid
ok "outside of Agones nobody is asked" test $? = 0
