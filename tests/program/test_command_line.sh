#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: what foliot-server and foliot-client cannot do they refuse with a sentence and the exit code that it means, and leave
# nothing behind; what a crash left is not written over.
set -u
. "$(dirname "$0")/setup.sh"
scene=$scenes/spacewar.yaml
refused() { exits "$@"; ok "and leaves no recording" sh -c '! ls ./*.foliot >/dev/null 2>&1'; }

LOG_FORMAT=text start "$scene" --port 0 --no-record
refused "a busy port" 75 "port $port .*busy" "$server" "$scene" --port "$port"
refused "an address that is none" 2 'not an IPv4' "$server" "$scene" --bind 300.1.1.1
refused "a second session of one name" 2 "two sessions" "$server" --session "a=$scene" --session "a=$scene"
refused "an integrator that does not admit contacts" 78 'these fit' "$server" "$scenes/cubes.yaml" --integrator rk4
refused "a scene that is not there" 78 '^nowhere.yaml: cannot be opened' "$server" nowhere.yaml
refused "one to be checked that is not there" 78 '^nowhere.yaml: cannot be opened' "$server" check nowhere.yaml
refused "two recordings after one --resume" 2 'several are --resume a.foliot --resume b.foliot' "$server" --resume a.foliot b.foliot
refused "one recording twice" 2 'twice' "$server" --resume a.foliot --resume a.foliot
refused "no scene" 2 'name a SCENE' "$server"
refused "a command that is misspelt" 2 "no command 'chek'; did you mean 'check'" "$server" chek "$scene"
refused "two scenes" 2 'one operand too many' "$server" "$scene" "$scene"
refused "two ways to record" 2 'exclude' "$server" "$scene" --record a.foliot --no-record
refused "a mode that there is not" 2 'snapshot or lockstep' "$server" "$scene" --mode peer
refused "a pace of nothing" 2 'from 0.01 to 100000' "$server" "$scene" --tick-hz 0
refused "a pace that nobody keeps" 2 'from 0.01 to 100000' "$server" "$scene" --tick-hz 1e9 --no-record
refused "an address of another machine" 1 'no such address' "$server" "$scene" --bind 192.0.2.1 --insecure
refused "a session's name with control characters" 2 'control characters' "$server" --session "$(printf 'a\033[31m')=$scene"
refused "a session's name that is too long" 2 'at most 63 bytes' "$server" --session "$(printf '%070d' 0)=$scene"
refused "a file's name that would be cut" 2 '511 bytes' "$server" "$scene" --port 0 --record "$(printf '%0600d' 0)"
refused "a key of an impairment twice" 2 'once' "$server" "$scene" --port 0 --no-record --impair loss=1%,loss=2%
refused "--help with a value" 2 'takes no value' "$server" "$scene" --help=1
refused "more threads than there may be" 2 'from 1 to 256' "$server" "$scene" --threads 257
refused "an impairment of no sense" 2 'share' "$server" "$scene" --impair loss=200%
"$build/foliotctl" key key >/dev/null 2>&1
for wrong in "--record nowhere/a.foliot" "--recordings nowhere" "--resume-all nowhere" "--resume nowhere" "--bans nowhere/bans" \
    "--rules nowhere.lua" "--config nowhere" "--key nowhere" "--password nowhere" "--sign nowhere" "--used-tokens nowhere/used --key key" \
    "--scenes nowhere --http 0 --admin-token token" "--admin-token nowhere --http 0" "--simulation nowhere.so --allow-modules"; do
    case $wrong in --resume* | --simulation*) own= ;; *) own=$scene ;; esac
    # shellcheck disable=SC2086 # words
    refused "$wrong" 78 'nowhere.*No such file' "$server" $own --port 0 $wrong
done
for bad in 0 -3 nan 35, ,5 35,5,256,1 35,40 35,0 35,5,31 35,5,100001 35,5,1.5 1e10 35x ' 35' inf 0x; do
    refused "an interest of $bad" 2 'FAR.*NEAR' "$server" "$scene" --port 0 --no-record "--interest=$bad"
done
refused "an interest in lockstep" 2 'is for --mode snapshot' "$server" "$scene" --port 0 --no-record --interest 35 --mode lockstep
echo 'dear ada' >letter
refused "a file that is no recording" 78 'letter: exists already, and is not a recording' "$server" "$scene" --port 0 --record letter
refused "a full disk" 75 'full' "$server" "$scene" --port 0 --record /dev/full

exits "a token that is not there" 78 'nowhere: No such file' "$client" 127.0.0.1 --token nowhere
exits "a password that is not there" 78 'nowhere: No such file' "$client" 127.0.0.1 --password nowhere
exits "a key that is not there" 78 'nowhere: No such file' "$replay" verify --key nowhere nowhere.foliot
exits "a key of tokens that is not there" 78 'nowhere: No such file' "$build/foliotctl" token --key nowhere --server 127.0.0.1
exits "a session that is not there" 1 "no session 'two'" "$client" "127.0.0.1:$port" --session two --bot idle --seconds 1
exits "a name that is too long" 2 '63 bytes' "$client" "127.0.0.1:$port" --name "$(printf '%070d' 0)" --bot idle --seconds 1
exits "a host that is no host" 2 'HOST' "$client" 127.0.0.1:port --bot idle
exits "no IPv6 address" 1 "there is no such host" "$client" "[::g]:7777" --bot idle
exits "a circle that nobody sees" 2 'excludes --bot' "$client" "127.0.0.1:$port" --bot idle --interest
exits "prediction and none" 2 'exclude' "$client" "127.0.0.1:$port" --no-predict --input-delay 3
exits "too long a delay" 2 'input-delay' "$client" "127.0.0.1:$port" --input-delay 256
exits "two ends" 2 'exclude' "$client" "127.0.0.1:$port" --bot idle --seconds 1 --ticks 9
exits "a trace on a full disk" 75 'could not be written' "$client" "127.0.0.1:$port" --bot idle --ticks 9 --trace /dev/full
exits "a bot that is no file" 1 'No such file' "$client" "127.0.0.1:$port" --bot jumpy
exits "nobody there" 75 'no answer' "$client" 127.0.0.1:1 --bot idle --seconds 1
if command -v script >/dev/null; then # a terminal
    mkfifo keys
    exec 7<>keys
    script -qec "$client 127.0.0.1:1 --connect-timeout 3000" /dev/null <keys >terminal.out 2>&1 &
    terminal=$!
    pids="$pids $terminal"
    ok "who waits for an answer is told so" eventually has_lines terminal.out 'joining 127.0.0.1:1 '
    printf '\033' >&7
    ok "and Esc gives up" eventually gone $terminal
fi
"$client" "127.0.0.1:$port" --name "$(printf 'a\033[31mb\nc')" --bot idle --ticks 20 >plain.out 2>&1
kill -TERM "$server_pid"
kill -INT "$server_pid"
wait "$server_pid"
ok "two signals at once are one wish" grep -q "^ticks " server.out
ok "with --verbose it prints every counter" test "$(grep -cE '^[a-z_0-9]+ +[0-9]+$' server.out)" -ge 100
"$server" "$scenes/pendulum.yaml" --port 0 --no-record --ticks 5 >brief.out 2>/dev/null
ok "without it six" test "$(grep -cE '^[a-z_0-9]+ +[0-9]+$' brief.out)" = 6
ok "a player joins" has_lines server.log ' joined as player'
ok "a name without its control characters" sh -c '! grep -q "$(printf "\033")" server.log server.out'

start "$scenes/pendulum.yaml" --port 0 --no-record
exits "to play where nobody plays" 1 'can only be watched' "$client" "127.0.0.1:$port" --bot idle --seconds 1
ok "and the server says how to look on" grep -q "^join with: .*:$port --spectate$" server.out
kill -TERM "$server_pid"
wait "$server_pid"
start "$scenes/billiards.yaml" --port 0 --no-record
"$client" "127.0.0.1:$port" --bot idle --ticks 60 --trace trace.json >traced.out 2>&1
ok "what stands still is shown where the scene has it" \
    grep -q '"name":"cloth","position":\[0,0,0\],"orientation":\[1,0,0,0\]' trace.json
kill -TERM "$server_pid"
wait "$server_pid"

"$server" "$scene" --port 0 --ticks 30 --record match.foliot >first.out 2>&1
head -c -60 match.foliot >cut # without its end
cp cut match.foliot
"$server" "$scene" --port 0 --ticks 3 --record match.foliot >second.out 2>second.log
ok "what had not ended is kept" cmp match.foliot.unfinished cut
ok "and told of" grep -q 'kept as match.foliot.unfinished' second.log
ok "and the new one is whole" "$replay" verify match.foliot
"$server" "$scene" --port 0 --ticks 3 --record match.foliot >third.out 2>&1
ok "what had ended is written anew" test ! -e match.foliot.unfinished-2
# The preloaded library rounds upwards from the first: a step refuses to run so.
printf '#include <fenv.h>\n__attribute__((constructor)) static void up(void) { fesetround(FE_UPWARD); }\n' >round.c
${CC:-gcc} -shared -fPIC -o round.so round.c -lm
LD_PRELOAD=./round.so ASAN_OPTIONS=verify_asan_link_order=0 timeout $LIMIT_SECONDS "$server" "$scene" --port 0 --log-format json \
    --record failed.foliot >failed.out 2>failed.log
failed=$?
ok "a step that fails ends the session" test "$failed" = 1
ok "and is logged with its status, about no player" sh -c \
    "grep '\"event\":\"step-failed\"' failed.log | grep '\"status\":\"FLOATING_POINT\"' | grep -vq '\"player\"'"
ok "and its recording is closed" sh -c "'$replay' info failed.foliot | grep -q 'closed in order'"
"$server" "$scenes/solar-system.yaml" --port 0 --tick-hz 100 --ticks 3 --record days.foliot >days.out 2>days.log
ok "a scene in days keeps its step, whatever the pace" sh -c \
    "grep -q 'only the pace.* 10 day' days.log && grep -q 'at 100 Hz' days.out && '$replay' info days.foliot | grep -q 'dt 10,'"
"$server" "$scene" --port 0 --tick-hz 200 --ticks 3 --record seconds.foliot >seconds.out 2>seconds.log
ok "a scene in seconds has the step that goes with the pace" sh -c \
    "! grep -q 'only the pace' seconds.log && '$replay' info seconds.foliot | grep -q 'dt 0.0050*1*,'"
for change in "--integrator rk4" "--tick-hz 30" "--no-record"; do # shellcheck disable=SC2086
    exits "a session that goes on, with $change" 2 'for new sessions' "$server" --resume match.foliot --port 0 --ticks 4 $change
done
