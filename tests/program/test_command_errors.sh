#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# test_command_errors.sh: mistakes on the command line end in one sentence that names the program, says what is wrong and suggests a name only
# where it is close; an unreachable server is reported at once and given up after a bounded time. Method: the programs, with mistakes.
set -u
. "$(dirname "$0")/setup.sh"
lab=$build/foliot-lab scene=$scenes/spacewar.yaml

exits "a bot that is neither a kind nor a file" 1 '^foliot-client: --bot x: .*idle, random, circle.*No such file' "$client" 127.0.0.1:1 --bot x
exits "a client's name of 80 characters" 2 '^foliot-client: --name .*at most 63 bytes' "$client" 127.0.0.1:1 --name "$(printf '%080d' 0)"
exits "a session's name of 80 characters" 2 '^foliot-client: --session .*at most 63 bytes' "$client" 127.0.0.1:1 --session "$(printf '%080d' 0)"
exits "a scene that is not there, in the lab" 78 '^foliot-lab run: nowhere.yaml: cannot be opened: No such file' "$lab" run nowhere.yaml
exits "a scene that is not there, in the server" 78 'nowhere.yaml: cannot be opened: No such file' "$server" nowhere.yaml
exits "a folder in place of a scene" 78 'cannot be opened: Is a directory' "$lab" run .
exits "inputs that are not there" 1 '^foliot-lab run: nowhere.txt: No such file' "$lab" run "$scene" --ticks 1 --inputs nowhere.txt
exits "a time shorter than a tick" 2 'the nearest is [0-9.]* \(1 tick\)' "$lab" run "$scene" --time 1e-5
for command in info verify play "state --tick 1" "export --csv" "trim --out x.foliot" "compare --with true" serve; do
    # shellcheck disable=SC2086 # words
    exits "foliot-replay ${command%% *} of no file" 1 "^foliot-replay ${command%% *}: nowhere.foliot: No such file" "$replay" $command nowhere.foliot
done
exits "foliot-replay diff of no files" 1 '^foliot-replay diff: nowhere.foliot: No such file' "$replay" diff nowhere.foliot nowhere.foliot
exits "a list of files that is not there" 78 '^foliot-replay verify: nowhere.txt: No such file' "$replay" verify --files-from nowhere.txt
exits "an integrator with a slip" 2 "^foliot-lab run: .*'velocity-verlte'; did you mean 'velocity-verlet'" "$lab" run "$scene" --integrator velocity-verlte
exits "an integrator that is nothing like another" 2 "no integrator 'qqqqqqqq'" "$lab" run "$scene" --integrator qqqqqqqq
ok "suggests nothing" sh -c '! grep -qE "did you mean|nearest" err'
exits "the server, of the same" 2 "no integrator 'qqqqqqqq'" "$server" "$scene" --integrator qqqqqqqq
ok "suggests nothing either" sh -c '! grep -qE "did you mean|nearest" err'
for program in "$server" "$client" "$lab" "$replay"; do
    "$program" --help >help.out 2>&1
    ok "$(basename "$program") --help says once what may be repeated" sh -c '! grep -i "repeatable.*repeatable" help.out'
done
"$server" --help >help.out
ok "what may be repeated is marked" grep -q 'one more session (repeatable)$' help.out

# A port of the loopback where nobody listens.
begun=$(date +%s%N)
exits "nobody there" 75 'foliot-client: no answer from 127.0.0.1:1 ' "$client" 127.0.0.1:1 --bot idle --connect-timeout 1
took=$((($(date +%s%N) - begun) / 1000000))
ok "is given up after the time asked for" [ "$took" -ge 900 ]
ok "and what it does is said first" sh -c "head -n 1 err | grep -q '^foliot-client: connecting to 127.0.0.1:1 '"
exits "nobody there for a spectator" 75 'no answer from 127.0.0.1:1 ' "$client" 127.0.0.1:1 --spectate --json --connect-timeout 4
ok "who waits for long is told so" sh -c "grep -q 'no answer .* yet' err"
ok "JSON has the reason, alone on stdout" sh -c "[ \"\$(wc -l <out)\" = 1 ] && grep -q '\"outcome\":\"lost\",\"reason\":\"no answer from 127.0.0.1:1 ' out"
exits "a time to connect of nothing" 2 'from 0.1 to 3600' "$client" 127.0.0.1:1 --connect-timeout 0

# A server that dies in the middle, and comes back on the same port.
start "$scene" --port 0 --no-record
"$client" "127.0.0.1:$port" --bot idle --seconds 600 --connect-timeout 60 >back.out 2>back.err &
client_pid=$!
pids="$pids $client_pid"
of_player joined
kill -9 $server_pid
wait $server_pid 2>/dev/null
start "$scene" --port "$port" --no-record
ok "a lost connection is reported while it reconnects" \
    eventually has_lines back.err "^foliot-client: the connection to 127.0.0.1:$port was lost; reconnecting"
ok "and so is its return" eventually has_lines back.err "^foliot-client: reconnected to 127.0.0.1:$port\$"
stop 2>/dev/null
