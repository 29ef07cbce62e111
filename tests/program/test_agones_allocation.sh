#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: an allocation by Agones that names a scene is acted on, once: its session is hosted and can be joined, whoever
# allocated learns so or why not, and a server goes when its one session has ended, or waits for others. Method: a
# stand-in for the SDK server, whose events repeat and whose labels and annotations are as long as Kubernetes lets them
# be.
set -u
. "$(dirname "$0")/setup.sh"
command -v python3 >/dev/null || { echo "skip: no python3 for the SDK server's stand-in"; exit 0; }
sdk=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
export AGONES_SDK_HTTP_PORT=$sdk
sdk() { # OPTION...
    : >asked
    python3 "$root/tests/program/agones_sdk.py" "$sdk" "$@" >>asked 2>sdk.err &
    sdk_pid=$!
    pids="$pids $sdk_pid"
}
asked() { eventually has_lines asked "$@"; } # PATTERN [COUNT]
allocate() { # SCENE SESSION
    python3 -c 'import urllib.request, sys, json
body = {"foliot/scene": sys.argv[2], "foliot/session": sys.argv[3]}
urllib.request.urlopen(urllib.request.Request("http://127.0.0.1:%s/test/allocate" % sys.argv[1], json.dumps(body).encode()))' "$sdk" "$1" "$2"
}
ended() { # waits for the server; its exit status
    eventually gone "$server_pid"
    kill -9 "$server_pid" 2>/dev/null
    wait "$server_pid" 2>/dev/null
}

# One session a process: the server has none until it is allocated, and ends with it.
sdk --counter -1
: >server.log
start --scenes "$scenes" --port 0 --ticks 600
ok "a server without a session is ready" asked 'POST /ready'
allocate spacewar 'match "7"'
ok "the allocation's session is hosted" logged "match .*7.*: hosts 'spacewar'"
ok "whoever allocated is told" asked 'PUT /metadata/annotation {"key":"foliot-session","value":"match ..7.."}'
timeout $LIMIT_SECONDS "$client" "127.0.0.1:$port" --session 'match "7"' --bot idle --ticks 60 --json >bot.out 2>bot.log
ok "and it can be joined" grep -q '"outcome":"played"' bot.out
ended
ok "the server ends with its session" test $? = 0
ok "and says last that it is gone" grep -q 'POST /shutdown' <(tail -n 1 asked)
ok "events that repeat host it once" test "$(grep -c "hosts 'spacewar'" server.log)" = 1
"$replay" verify --json match*.foliot >verify.out
ok "its recording is whole" grep -q '"verdict":"match"' verify.out
kill "$sdk_pid"; wait "$sdk_pid" 2>/dev/null

# A scene that is not there: a sentence, an answer, and the way free for another server.
sdk --counter -1
: >server.log
start --scenes "$scenes" --port 0
asked 'POST /ready'
allocate ../spacewar m1
ok "a path is no scene" logged "cannot be hosted: 'scene' is the name of a file"
ok "whoever allocated is told why" asked 'PUT /metadata/annotation {"key":"foliot-problem","value":".scene. is the name'
ended
ok "a server that can host nothing ends" test $? = 0
ok "and asks for its shutdown" grep -q 'POST /shutdown' <(tail -n 1 asked)
kill "$sdk_pid"; wait "$sdk_pid" 2>/dev/null

# Several sessions a process, counted by Agones.
sdk --counter 5
: >server.log
start --scenes "$scenes" --port 0 --ticks 300
asked 'POST /ready'
allocate spacewar red
logged "red: hosts"
allocate pendulum blue
ok "another allocation, another session" logged "blue: hosts 'pendulum'"
ok "what has ended is taken off the counter" asked 'PATCH /v1beta1/counters/sessions \{"countDiff":"-1"\}' 2
ok "and the server is ready again, after the last" asked 'POST /ready' 2
allocate nothing green
ok "a scene that is not there ends nothing" logged "green: the scene 'nothing' cannot be hosted"
ok "and is taken off the counter too" asked 'PATCH /v1beta1/counters/sessions' 3
ok "the server goes on" kill -0 "$server_pid"
allocate spacewar red
ok "a name may be used again" logged "red: hosts" 2
kill -TERM "$server_pid"
ended
ok "SIGTERM ends it" test $? = 0
"$replay" verify --json red-*.foliot blue-*.foliot >verify.out
ok "all recordings are whole" test "$(grep -c '"verdict":"match"' verify.out)" = 3

# Without a folder of scenes there is nothing to host: the scene that was given stays.
: >server.log
start "$scenes/pendulum.yaml" --no-record --port 0
allocate spacewar x
ok "a server without --scenes says so" logged 'started without --scenes DIR'
kill -TERM "$server_pid"
ended
ok "and goes on until it is ended" test $? = 0
unset AGONES_SDK_HTTP_PORT
exits "outside of Agones --scenes wants the admin API" 2 'or Agones' "$server" --scenes "$scenes" --port 0
