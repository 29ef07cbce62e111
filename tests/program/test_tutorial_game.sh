#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: docs/tutorial-game.md works as it stands: its two files are taken from the page, and its commands are run in
# their order. The port is a free one, the bots play for a shorter time, the client that wants a terminal is left out.
set -u
. "$(dirname "$0")/setup.sh"
page=$root/docs/tutorial-game.md
lab=$build/foliot-lab
mkdir bin
for program in server client replay lab; do ln -s "$build/foliot-$program" bin/; done
PATH=$work/bin:$PATH
sed -n '/^```yaml/,/^```/p' "$page" | grep -v '^```' >arena.yaml
sed -n '/^```lua/,/^```/p' "$page" | grep -v '^```' >arena.lua
sed -n 's/^    \$ //p' "$page" >commands
ok "the page has its files and commands" test "$(wc -l <commands)" -ge 11 -a -s arena.yaml -a -s arena.lua

score() { # FILE: the sum of what was scored last
    "$replay" export "$1" --what commands | sed -n 's/.*"key": "score\.\([^"]*\)", "integer": \([0-9]*\).*/\1 \2/p' |
        awk '{ last[$1] = $2 } END { for (name in last) sum += last[name]; print sum + 0 }'
}
while read -r command; do
    case $command in
    foliot-server\ check*) ok "$command" sh -c "$command >check.out 2>check.log && grep -q 'fine' check.out" ;;
    foliot-server\ --resume*)
        # shellcheck disable=SC2086 # words
        start ${command#foliot-server } --port 0
        ok "$command" test $? = 0
        durable arena.foliot $(($(last_tick arena.foliot) + 60))
        stop
        after=$(score arena.foliot)
        ok "the score is still there: $before, $after" test "$after" -ge "$before"
        ok "the rules went on" grep -q 'arena.lua' server.out
        ;;
    foliot-server*)
        # shellcheck disable=SC2086 # words
        start ${command#foliot-server } --port 0
        ok "$command" test $? = 0
        ;;
    foliot-client*--name*) ;;
    foliot-client*)
        here=${command/127.0.0.1/127.0.0.1:$port}
        ok "$command" sh -c "${here/--seconds 10/--seconds 6} >client.out 2>client.log"
        ;;
    "kill -9 SERVER")
        has_score() { [ "$(score arena.foliot)" -gt 0 ] 2>/dev/null; }
        eventually has_score 2>score.log
        kill -9 "$server_pid"
        wait "$server_pid" 2>/dev/null
        before=$(score arena.foliot)
        ok "something was scored: $before" test "$before" -gt 0
        ;;
    foliot-replay\ verify*) ok "$command" sh -c "$command >verify.out 2>verify.log && grep -q 'rules match' verify.out" ;;
    *synctest\ broken*) ok "$command" sh -c "! $command >broken.out 2>broken.log && grep -q 'rules *FAILED' broken.out" ;;
    *synctest*) ok "$command" sh -c "$command >sync.out 2>sync.log && grep -q 'rules *passed' sync.out" ;;
    *\>broken*) ok "$command" sh -c "$command" && test -s broken.lua ;;
    *) ok "$command" sh -c "$command >other.out 2>other.log" ;;
    esac
done <commands
