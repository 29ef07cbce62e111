#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: a simulation of one's own, as a module, is hosted, joined, recorded, resumed, verified and drawn by the
# programs; a build that computes otherwise is refused or found; what is no such module is refused with a sentence.
# Method: examples/modules/ring.c and variants of it, real programs on the loopback.
set -u
. "$(dirname "$0")/setup.sh"
module() { # NAME FLAG...: ring.c compiled with other flags, as ./NAME.so
    local name=$1
    shift
    ${CC:-gcc} -O1 -shared -fPIC -I"$root/include" "$@" "$root/examples/modules/ring.c" -o "$name.so"
}
module ring
module early -DRING_FAULT=30       # computes otherwise within the known-answer run
module later -DRING_FAULT=100      # computes otherwise behind it
module much_later -DRING_FAULT=400 # the same, with time to join before
sed 's/\.version = 1/.version = 2/' "$root/examples/modules/ring.c" >newer.c
${CC:-gcc} -shared -fPIC -I"$root/include" newer.c -o newer.so

# A match of two bots, killed in the middle.
printf 'nodes 16\nplayers 3\nseed 9\n' >ring.txt
start ring.txt --simulation ring.so --allow-modules --port 0 --record match.foliot
ok "the simulation is named" grep -q "^session 'ring' in lockstep: org.example.ring version 1 at 60 Hz, room for 3 players" server.out
at=$port
"$client" 127.0.0.1:$port --simulation ./ring.so --name ada --bot random --seconds 600 --connect-timeout 60 --json --trace ada.trace >ada.out 2>ada.log &
ada=$!
"$client" 127.0.0.1:$port --simulation ring.so --name bob --bot circle --seconds 600 --connect-timeout 60 --impair loss=5%,delay=20ms --json >bob.out 2>bob.log &
bob=$!
pids="$pids $ada $bob"
of_player joined 2
durable match.foliot 120
kill -9 $server_pid
wait $server_pid 2>/dev/null
start --resume match.foliot --simulation ring.so --allow-modules --port $at
tick=$(sed -n 's/^resumed at tick \([0-9]*\)$/\1/p' server.out)
ok "it goes on from tick ${tick:-?}" test "${tick:-0}" -ge 120
of_player resumed 2
durable match.foliot $((${tick:-0} + 120))
stop; server_exit=$? # the clients end with it
wait $ada; ada_exit=$?
wait $bob; bob_exit=$?
ok "both clients played to their end" test $ada_exit = 0 -a $bob_exit = 0
ok "and found the server again by themselves" test "$(field reconnects ada.out)" -ge 1 -a "$(field reconnects bob.out)" -ge 1
ok "nobody diverged" test "$(field divergences ada.out)" = 0 -a "$(field divergences bob.out)" = 0
ok "their ticks were compared" test "$(field ticks_compared ada.out)" -gt 30
ok "the server ends in order" test $server_exit = 0
ok "and says how to check the recording" grep -q 'foliot-replay verify match.foliot --simulation' server.out
ok "they came back as who they were" test "$(events resumed)" -ge 2
ok "the render time never went back" awk -F'"render_tick":' '{ t = $2 + 0; if (t < last) exit 1; last = t } END { exit NR < 100 }' ada.trace
ok "between two states" grep -q '"fraction":0\.[0-9]*[1-9][0-9]*,"starved":false,"before_bytes":[1-9][0-9]*,"after_bytes":[1-9]' ada.trace

# The verdicts of foliot-replay on it.
"$replay" verify --simulation ring.so --json match.foliot >verify.out
ok "the recording verifies from end to end" grep -q '"verdict":"match"' verify.out
ok "with two players" test "$(field players verify.out)" = 2
"$replay" info --simulation ring.so match.foliot >info.out
ok "info asks the module" grep -q 'module *ring: 60 ticks a second, up to 3 players' info.out
"$replay" play --simulation ring.so --frame --tick 100 match.foliot >play.out
ok "play draws what the module draws" grep -qE '^[.O1-3]{16} *$' play.out
"$replay" state --simulation ring.so --tick 100 match.foliot >state.out
ok "state has parts and fields" test "$(grep -cE '^(ring|player [0-2]|node [0-9]+)$' state.out)" = 20
"$replay" state --simulation ring.so --tick 100 --json match.foliot >state.json
ok "also as JSON" grep -qE '"parts":\[\{"part":"ring","index":null,"fields":\{"tick":100,' state.json
"$replay" export --simulation ring.so --csv --every 50 match.foliot >parts.csv
ok "export writes them as rows" grep -qE '^50,player,1,score,[0-9]+$' parts.csv
"$replay" trim --simulation ring.so --from 60 --to 120 --out part.foliot match.foliot
"$replay" verify --simulation ring.so part.foliot >verify.out
ok "trim cuts a part that verifies" grep -q 'match: 60 ticks' verify.out
"$replay" diff --simulation ring.so match.foliot match.foliot >diff.out
ok "diff finds it equal to itself" test $? = 0
exits "without its module nobody replays it" 5 'org.example.ring version 1' "$replay" verify match.foliot
exits "a world is none of it" 5 'a recording of a world' "$replay" verify --simulation ring.so "$root/tests/golden/pendulum.foliot"
exits "nor a recording of another version" 5 'version 1 of the rules .* these are version 2' "$replay" verify --simulation newer.so match.foliot
exits "bodies are not exported" 2 'only worlds have bodies' "$replay" export --simulation ring.so --csv --what bodies match.foliot
perturb() { "$replay" verify --simulation ring.so --json --perturb "$1" match.foliot >perturb.out 2>err; } # FAULT
finds() { # FAULT TICK FIELD DISTANCE
    perturb "$1"
    ok "a fault $1 is found" test $? = 3
    ok "and named" grep -q "\"first_bad_tick\":$2,.*\"field\":\"$3\",\"ulps\":$4," perturb.out
}
finds "30:player 1:score:1" 30 "player 1 score" 1
finds "70:ring:random:-1" 70 "ring random" 1
finds "100:byte:72:1" 100 "player 0 score" 1 # 6 numbers of the ring and 3 before it, of 8 bytes each; then the score
exits "a state that the module refuses" 2 'refuses' "$replay" verify --simulation ring.so --perturb 100:byte:17:1 match.foliot
exits "a byte behind the state" 2 'no such byte' "$replay" verify --simulation ring.so --perturb 100:byte:99999:1 match.foliot
exits "no such part" 2 'no such part' "$replay" verify --simulation ring.so --perturb 100:0:position.x:1 match.foliot
exits "no such field" 2 'no such field' "$replay" verify --simulation ring.so --perturb 100:ring:x:1 match.foliot
exits "no such tick" 2 'no such tick' "$replay" verify --simulation ring.so --perturb 99999:ring:at:1 match.foliot
for wrong in x 100:ring:at:0 100:ring:at 100/finish:ring:at:1 0:ring:at:1 100::at:1 100:ring::1; do
    exits "a fault '$wrong'" 2 'perturb' "$replay" verify --simulation ring.so --perturb "$wrong" match.foliot
done
exits "a view is of worlds" 2 'draws its own' "$replay" play --simulation ring.so --frame --view top match.foliot
exits "compare wants another build" 2 'with' "$replay" compare --simulation ring.so match.foliot
exits "of a module that is named" 2 'simulation' "$replay" compare --with-simulation ring.so match.foliot
exits "and that is there" 1 'none.so' "$replay" compare --simulation ring.so --with-simulation none.so match.foliot
exits "a module that is missing, for replay" 1 'none.so' "$replay" verify --simulation none.so match.foliot

# A fault: in the file, and in what a build computes.
cp match.foliot bit.foliot
flip bit.foliot $(($(stat -c %s bit.foliot) / 2))
"$replay" verify --simulation ring.so bit.foliot >bit.out 2>&1
ok "a byte that changed in the file is found" test $? = 4
"$replay" verify --simulation later.so match.foliot >later.out 2>&1
ok "a build that computes otherwise is found" test $? = 3
ok "at the tick where it does" grep -q 'DIVERGED at tick 100' later.out
ok "and the advice is for modules" grep -q 'compare.*--with-simulation' later.out
"$replay" compare --simulation ring.so --with-simulation later.so --json match.foliot >compare.out
ok "which compare finds" test $? = 3
ok "by tick, stage, part, field and distance" \
    grep -q '"first_bad_tick":100,"stage":"finish","body":null,"field":"player 0 score","ulps":1,' compare.out
"$replay" compare --simulation ring.so --with "$replay" --json match.foliot >compare.out
ok "the same module agrees in another process" test $? = 0 -a "$(field fingerprints_equal compare.out)" = true
for name in ring later; do # the same session by two builds, without players
    "$server" --simulation $name.so --allow-modules --port 0 --record $name.foliot --ticks 310 >host.out 2>host.log
done
for name in ring later; do
    "$replay" diff --simulation $name.so --json ring.foliot later.foliot >diff.out
    ok "diff by $name.so names the tick, and part and field in the keyframes behind it" grep -q \
        '"first_bad_tick":100,"stage":null,"body":null,"field":null,.*"keyframes":{"first_bad_tick":300,.*"field":"player 0 score","ulps":1}' diff.out
done

# In a live match: refused by the fingerprint, or found and named.
: >server.log
LOG_FORMAT=text start --simulation ring.so --allow-modules --port 0 --no-record
exits "another build is refused by its fingerprint" 5 'computes differently from this server' \
    "$client" 127.0.0.1:$port --simulation early.so --bot idle --seconds 1
exits "so is another version" 5 'steps org.example.ring, version 1; you step org.example.ring, version 2' \
    "$client" 127.0.0.1:$port --simulation newer.so --bot idle --seconds 1
exits "and foliot's own world" 5 'you step foliot.world' "$client" 127.0.0.1:$port --bot idle --seconds 1
stop
: >server.log
LOG_FORMAT=text start --simulation ring.so --allow-modules --port 0 --no-record
timeout $LIMIT_SECONDS "$client" 127.0.0.1:$port --simulation much_later.so --bot idle --seconds 600 --connect-timeout 60 --divergence-ends >later.out 2>later.log
ok "a build that computes otherwise later on diverges" test $? = 3
diverged() { grep -q 'DIVERGED at tick 400' "$1" && grep -q 'player 0' "$1" && grep -q 'score' "$1"; }
ok "and tick, part and field are named" diverged later.log
ok "by the server too" diverged server.log
logged 'our state .*-server.foliot'
stop
for side in server client; do
    state=$(sed -n "s/^  our state  \(.*-$side.foliot\)$/\1/p" server.log later.log)
    "$replay" verify --simulation $([ $side = server ] && echo ring.so || echo much_later.so) --json "$state" >verify.out
    ok "the state of the $side is in a file, that step by step, and verifies" grep -q '"ticks":1,.*"verdict":"match"' verify.out
    "$replay" state --simulation ring.so --tick 400 --json "$state" >$side.state
done
ok "before and after it, with what differs" test "$(cat server.state client.state | grep -o '"index":0,"fields":{"here":[01],"presses":0,"leans":1,"score":[0-9]*' | sort -u | wc -l)" = 2

# A client with a fault of the user's choice; the other computes as it should.
: >server.log
LOG_FORMAT=text start --simulation ring.so --allow-modules --port 0 --no-record
timeout $LIMIT_SECONDS "$client" 127.0.0.1:$port --simulation ring.so --bot idle --clients 2 --ticks 450 --connect-timeout 60 --divergence-ends --perturb "400:player 1:score:5" >fault.out 2>fault.log
ok "a fault in a client is found" test $? = 3
planted() { grep -q 'DIVERGED at tick 400' "$1" && grep -q 'player 1' "$1" && grep -qE 'distance +5$' "$1"; }
ok "with tick, part and distance" planted fault.log
ok "once, in the first client" test "$(grep -c 'DIVERGED' fault.log)" = 1
stop
exits "a fault that is none" 2 'perturb' "$client" 127.0.0.1:9 --simulation ring.so --bot idle --perturb 30:ring

# The harness: the module restores, rolls back, and leaves nothing out of its state.
lab=$build/foliot-lab
"$lab" synctest ring.txt --simulation ring.so --ticks 200 >lab.out
ok "it passes the harness" test $? = 0
ok "all four tests of it" test "$(grep -c ' passed ' lab.out)" = 4
sed 's|r->ring\[LAPS\] += node == 0;|static uint64_t global; r->ring[LAPS] += ++global % 9 == 0;|' "$root/examples/modules/ring.c" >global.c
${CC:-gcc} -shared -fPIC -I"$root/include" global.c -o global.so
"$lab" synctest --simulation global.so >lab.out
ok "a state outside of the instance is found" test $? = 3
printf '1 0 join\n5 0 control 127 0 0 0\n30 0 leave\n' >inputs.txt
ok "inputs of a file are tried" "$lab" synctest --simulation ring.so --inputs inputs.txt --ticks 60 --json
ok "and those of a recording" "$lab" synctest --simulation ring.so --inputs match.foliot --ticks 60 --json
exits "a file of inputs that is not there" 1 'x: ' "$lab" synctest --simulation ring.so --inputs x
"$lab" synctest --simulation ring.so --ticks 60 --test sync --distances 3,5 --json >lab.out
ok "one test alone, over other distances" test $? = 0 -a "$(grep -o '"skipped":true' lab.out | wc -l)" = 3 \
    -a "$(grep -o '"test":"sync","passed":true,"checks":120,"skipped":false' lab.out | wc -l)" = 1
"$lab" synctest --simulation ring.so --ticks 60 --test perturbation --perturbations 10 --perturb-every 30 --json >lab.out
ok "with as many perturbations as are asked for" grep -q '"test":"perturbation","passed":true,"checks":40,"skipped":false' lab.out
exits "a test that there is not" 2 'serialisation' "$lab" synctest --simulation ring.so --test none
exits "rules, of which a module has none" 2 'is for worlds' "$lab" synctest --simulation ring.so --test rules
# Orders become the commands that the module makes of them: the second turn undoes the first.
printf '10 1 game turn\n20 0 game other\n30 2 game turn\n' >orders.txt
printf '{"tick": 10, "command": "var", "key": "turned", "integer": 1}\n{"tick": 30, "command": "var", "key": "turned", "integer": 0}\n' >turns.jsonl
for way in "" "--orders orders.txt" "--commands turns.jsonl"; do # shellcheck disable=SC2086
    "$lab" synctest --simulation ring.so --ticks 60 $way --json | sed -n 's/.*"digest":"\([0-9a-f]*\)".*/\1/p'
done >digests.out
ok "orders of a file are what the module makes of them" test "$(sort -u digests.out | wc -l)" = 2 -a "$(sed -n 2p digests.out)" = "$(sed -n 3p digests.out)"
ok "and those of a recording" "$lab" synctest --simulation ring.so --orders match.foliot --inputs match.foliot --ticks 60 --json
sed 's|, *\.order = order|, .order = NULL|; s|\.order = order|.order = NULL|' "$root/examples/modules/ring.c" >mute.c
${CC:-gcc} -shared -fPIC -I"$root/include" mute.c -o mute.so 2>mute.log
exits "orders to a module that takes none" 78 'takes no orders' "$lab" synctest --simulation ./mute.so --orders orders.txt
for wrong in 0 257 1,2,3,4,5 1, , x 1x; do
    exits "distances of '$wrong'" 2 'distances' "$lab" synctest --simulation ring.so --distances "$wrong"
done
crash() { # NAME PATTERN CODE: ring.c with CODE behind the line that is like PATTERN
    sed "s@$2@&\n    $3@" "$root/examples/modules/ring.c" | sed '1i #include <signal.h>' >"$1.c"
    ${CC:-gcc} -shared -fPIC -I"$root/include" "$1.c" -o "$1.so"
}
crash segv 'ring \*r = self, next = \*r;' 'if (r->ring[TICK] == 31) *(volatile int *)8 = 1;'
exits "a crash ends the program by its signal" 139 'SIGSEGV' "$lab" synctest --simulation segv.so --ticks 60
ok "and test and tick are named" grep -qE '"serialisation", tick 30$' err
exits "also in another test" 139 '"sync", tick 31$' "$lab" synctest --simulation segv.so --ticks 60 --test sync
crash abrt 'r->ring\[TICK\]++;' 'if (r->ring[TICK] == 201) raise(SIGABRT);'
exits "so does one in the undisturbed run" 134 'SIGABRT.*"undisturbed run", tick 200$' "$lab" synctest --simulation abrt.so --test replay
timeout $LIMIT_SECONDS "$lab" synctest --simulation abrt.so --test replay --json >lab.out 2>err
ok "as JSON, too" grep -qx '{"crashed":"SIGABRT","test":"undisturbed run","tick":200}' lab.out
crash early_abrt 'r->ring\[TICK\]++;' 'if (r->ring[TICK] == 21) raise(SIGABRT);'
exits "and one at loading" 134 '"known-answer run", tick 20$' "$lab" synctest --simulation early_abrt.so
crash deep 'ring \*r = self, next = \*r;' 'volatile char large[200000]; large[0] = 1; if (r->ring[TICK] > 5) return restore(self, bytes, length) + large[0];'
exits "a stack that is used up is one" 139 'SIGSEGV' "$lab" synctest --simulation deep.so
sed 's/r->ring\[TICK\]++;//' "$root/examples/modules/ring.c" >stands.c
${CC:-gcc} -shared -fPIC -I"$root/include" stands.c -o stands.so
sed 's/r->ring\[TICK\]++;/r->ring[TICK] += r->ring[TICK] < 100;/' "$root/examples/modules/ring.c" >stops.c
${CC:-gcc} -shared -fPIC -I"$root/include" stops.c -o stops.so
exits "a tick that stands has a sentence" 78 'from tick 0.* returns 0.* 1$' "$lab" synctest --simulation stands.so
exits "also where it stands behind the known-answer run" 1 'from tick 100.* returns 100.* 101$' "$lab" synctest --simulation stops.so
exits "a replay does not wait for it" 1 'tick' "$replay" verify --simulation stops.so match.foliot
exits "nor a search" 1 'tick' "$replay" state --simulation stops.so --tick 110 match.foliot
exits "nor a comparison" 1 'tick' "$replay" compare --simulation stops.so --with-simulation ring.so match.foliot
exits "nor an export" 1 'tick' "$replay" export --simulation stops.so --csv match.foliot
timeout $LIMIT_SECONDS "$server" --simulation stops.so --allow-modules --port 0 --record stops.foliot --log-format json >stops.out 2>stops.log
ok "its session ends with an error" test $? = 1
ok "which has a status" grep -q '"event":"step-failed".*"status":"MISCOUNTED"' stops.log
"$replay" verify --simulation ring.so --json stops.foliot >verify.out
ok "and a recording up to there" grep -q '"ticks":100,.*"verdict":"match"' verify.out
exits "an integrator is of worlds" 2 'is for worlds' "$lab" synctest --simulation ring.so --integrator rk4
exits "too many players" 2 'takes 3' "$lab" synctest ring.txt --simulation ring.so --players 9
exits "no module, for the lab" 78 'none.so' "$lab" synctest --simulation none.so
exits "no scene" 2 'a SCENE is missing' "$lab" synctest

# The recording of a crash is not overwritten.
start --simulation ring.so --allow-modules --port 0 --record crash.foliot
durable crash.foliot 0
kill -9 $server_pid
wait $server_pid 2>/dev/null
start --simulation ring.so --allow-modules --port 0 --record crash.foliot --ticks 5
wait $server_pid
ok "an unfinished recording is kept" test -s crash.foliot.unfinished

# Modules that are none.
host_with() { "$server" --simulation "$1" --allow-modules --port 0 --no-record; }
export -f host_with
export server
refused() { # NAME FILE PATTERN
    exits "$1" 78 "$3" bash -c "host_with $2"
    exits "$1, for a client" 78 "$3" "$client" 127.0.0.1:9 --simulation "$2"
}
sed 's/FOLIOT_SIMULATION_ABI [0-9]*u/FOLIOT_SIMULATION_ABI 99u/' "$root/include/foliot/simulation.h" >other.h
sed 's|<foliot/simulation.h>|"other.h"|' "$root/examples/modules/ring.c" >other.c
${CC:-gcc} -shared -fPIC -I"$root/include" -I. other.c -o other.so
sed 's|^    uint32_t abi; .*|&\n    uint64_t more[4];|' "$root/include/foliot/simulation.h" >other.h
${CC:-gcc} -shared -fPIC -I"$root/include" -I. other.c -o larger.so
abi=$(sed -n 's/^#define FOLIOT_SIMULATION_ABI \([0-9]*\)u.*/\1/p' "$root/include/foliot/simulation.h")
echo "const unsigned foliot_simulation_entry = $abi;" | ${CC:-gcc} -shared -fPIC -x c - -o small.so
echo "const unsigned foliot_simulation_entry[2] = {$abi, 0};" | ${CC:-gcc} -shared -fPIC -x c - -o short.so
size=$(printf '#include <foliot/simulation.h>\nint size = sizeof(foliot_simulation_module);\n' | ${CC:-gcc} -S -I"$root/include" -x c - -o - | awk '/\.long/ { print $2 }')
echo "const unsigned foliot_simulation_entry[2] = {$abi, $size};" | ${CC:-gcc} -shared -fPIC -x c - -o cut.so
sed 's/\.step = step,//' "$root/examples/modules/ring.c" >lacks.c
${CC:-gcc} -shared -fPIC -I"$root/include" lacks.c -o lacks.so
sed 's/"org.example.ring"/"foliot.world"/' "$root/examples/modules/ring.c" >name.c
${CC:-gcc} -shared -fPIC -I"$root/include" name.c -o name.so
sed 's/terms->pace_hz = from\[4\]/terms->pace_hz = 0/' "$root/examples/modules/ring.c" >pace.c
${CC:-gcc} -shared -fPIC -I"$root/include" pace.c -o pace.so
${CC:-gcc} -shared -fPIC -x c /dev/null -o empty.so
echo 'int main;' >text.so
: >nothing.so
mkfifo pipe.so
mkdir folder.so
refused "a module that is missing" none.so 'none.so: No such file'
refused "one of another ABI" other.so 'another ABI'
refused "one of another size" larger.so 'another ABI'
refused "one whose entry has one word" small.so 'too small'
refused "one whose entry names no size" short.so 'another ABI'
refused "one whose entry is cut" cut.so 'too small'
refused "one without an entry" empty.so 'exports no foliot_simulation_entry'
refused "one without a step" lacks.so 'lacks a name or a function'
refused "one that calls itself foliot's world" name.so "foliot's own world"
sed -e 's/\.name = "org.example.ring"/.fingerprint = fixed, &/' \
    -e 's/^static const foliot_simulation_kind kind/static foliot_digest fixed(void) { return (foliot_digest){1, 2}; }\n&/' stands.c >owns.c
${CC:-gcc} -shared -fPIC -I"$root/include" owns.c -o owns.so
refused "one whose tick stands" stands.so 'from tick 0.* returns 0.* 1$'
refused "one with its own fingerprint whose tick stands" owns.so 'from tick 0.* returns 0.* 1$'
refused "a text" text.so 'cannot be loaded as a module'
refused "an empty file" nothing.so 'cannot be loaded as a module'
refused "a pipe" pipe.so 'not a regular file'
refused "a folder" folder.so 'directory|folder'
exits "one that asks for no pace" 78 'asks for 0 ticks' bash -c 'host_with pace.so'
sed 's/^limits: .*/limits: {speed_max: 100, commands_max: 64}/' "$scenes/spacewar.yaml" >game.yaml
exits "rules from a pipe, too" 78 'not a regular file' "$server" game.yaml --rules pipe.so --allow-modules --port 0 --no-record
exits "a module without --allow-modules" 78 'allow-modules permits' "$server" --simulation ring.so --port 0 --no-record
echo 'nodes many' >wrong.txt
exits "a configuration that is wrong" 78 "wrong.txt: 'nodes many' is no line" "$server" wrong.txt --simulation ring.so --allow-modules --port 0 --no-record
exits "a configuration that is missing" 78 'none.txt' "$server" none.txt --simulation ring.so --allow-modules --port 0 --no-record
for option in "--rules x.lua" "--integrator rk4" "--snapshot-hz 20" "--mode snapshot"; do
    # shellcheck disable=SC2086
    exits "$option is of worlds" 2 'is for worlds' "$server" --simulation ring.so --allow-modules $option --port 0 --no-record
done
exits "a match of another version is not resumed" 78 'these are version 2' "$server" --resume match.foliot --simulation newer.so --allow-modules --port 0
exits "nor a world by it" 78 'a recording of a world' "$server" --resume "$root/tests/golden/pendulum.foliot" --simulation ring.so --allow-modules --port 0
exits "nor by a build that computes otherwise" 5 'fingerprint' "$server" --resume match.foliot --simulation early.so --allow-modules --port 0
exits "nor without its module" 5 'org.example.ring' "$server" --resume match.foliot --port 0
"$replay" verify --simulation ring.so match.foliot >verify.out
ok "the recording is as it was" grep -q 'match' verify.out
