#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: a scene whose steps take minutes makes no program deaf. A lockstep client and a replayed recording step what
# others made; SIGINT and SIGTERM waited for the step's end. Now they end it, say so, give the terminal back and exit
# with 1, and a client gives up by itself where steps take more than --step-limit. Method: a real server whose scene is
# pairwise gravity in 1024 substeps of a scheme of order 8, signals sent in the first step, and the exit code. The
# recording is of one step of some seconds.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

heavy() { # SUBSTEPS ROWS
    cat <<END
foliot: 1
name: heavy
dt: 0.01
pace_hz: 10
substeps: $1
integrator: kahan-li8
forces:
  - {kind: newton, constant: 1e-9, softening: 0.5}
bodies:
  - {name: b, mass: 1, grid: {rows: $2, columns: 100, right: [1, 0, 0], down: [0, 1, 0]}}
players: {limit: 8}
END
}
# Until the program whose pid is in FILE (pid.out) has computed for 0.3 s: it is in its first step then.
busy() {
    local file=${1:-pid.out} pid ticks
    eventually has_computed "$file"
}
has_computed() { # FILE
    local pid ticks
    pid=$(cat "$1" 2>/dev/null)
    [ -n "$pid" ] || return
    # After the name in brackets the fields 12 and 13 are the processor time, in ticks of 10 ms.
    ticks=$(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null | awk '{ print $12 + $13 }')
    [ "${ticks:-0}" -ge 30 ]
}
# Sends SIGNAL to the program whose pid is in pid.out: how it exits. The shell that waits for it writes its exit code
# into code.out. A step takes minutes of processor time, many times the limit.
told() { # SIGNAL...
    local signal
    for signal; do kill -"$signal" "$(cat pid.out)"; sleep 0.15; done # sooner it is the first once more
    eventually test -s code.out || kill -9 "$(cat pid.out)"
    code=$(cat code.out)
}
run() { # COMMAND...
    rm -f pid.out code.out
    (sh -c 'echo $$ >pid.out; exec "$@"' sh "$@" >prog.out 2>prog.log; echo $? >code.out) 2>/dev/null &
    pids="$pids $!"
}
in_a_terminal() { # COMMAND
    rm -f pid.out code.out
    (TERM=xterm script -qec "stty cols 90 rows 24; sh -c 'echo \$\$ >pid.out; exec $1'; echo \$? >code.out" /dev/null <keys >prog.out 2>&1) 2>/dev/null &
    pids="$pids $!"
}
ended_with() { # CODE: it ended with that, in the middle of the step
    [ "$code" = "$1" ] || { echo "exit $code"; return 1; }
}

mkfifo keys # of which none is pressed
exec 7<>keys
heavy 1024 60 >heavy.yaml
host heavy.yaml --no-record
for signal in INT TERM; do
    run "$client" 127.0.0.1:$port --bot idle --json
    busy
    told $signal
    ok "a client in the middle of a step ends for SIG$signal" ended_with 1
    ok "and says so" grep -q "ended by SIG$signal in the middle of stepping the server's scene" prog.log
done
run "$client" 127.0.0.1:$port --bot idle --step-limit 0.5
eventually test -s code.out
ok "a client gives up where steps take more than they may" sh -c '
    [ "$(cat code.out)" = 1 ] && grep -q "has taken more than 0.5 s of processor time at once" prog.log'
if command -v script >/dev/null; then
    in_a_terminal "$client 127.0.0.1:$port"
    busy
    told TERM
    ok "with a terminal it ends as well" ended_with 1
    ok "and gives it back" eventually grep -q $'\033\\[?1049l' prog.out
fi
kill -9 $server_pid
wait $server_pid 2>/dev/null

host "$scenes/spacewar.yaml" --no-record
run "$client" 127.0.0.1:$port --bot idle --json --trace shown
eventually test -s shown
told TERM
ok "where steps are short it leaves in order" ended_with 0
ok "with its report" grep -q '"outcome":"played"' prog.out
rm -f shown
run "$client" 127.0.0.1:$port --bot idle --json --trace shown
eventually test -s shown
kill -TERM "$(cat pid.out)" && kill -TERM "$(cat pid.out)" # as timeout(1) does: itself, and then its group
told
ok "a signal that comes twice at once is one" ended_with 0
ok "and loses no report" grep -q '"outcome":"played"' prog.out
stop

heavy 24 50 >slow.yaml
if command -v script >/dev/null && "$build/foliot-lab" run slow.yaml --ticks 1 --record slow.foliot >lab.out 2>lab.log; then
    in_a_terminal "$replay play slow.foliot"
    busy
    told INT
    ok "a recording that plays a step of seconds ends for SIGINT" ended_with 1
    ok "and gives the terminal back" eventually grep -q $'\033\\[?1049l' prog.out
fi
[ -f slow.foliot ] || "$build/foliot-lab" run slow.yaml --ticks 1 --record slow.foliot >lab.out 2>lab.log
run "$replay" compare slow.foliot --with "sh -c 'echo \$\$ >other.out; exec $replay \"\$@\"' sh"
busy other.out
told TERM
ok "whoever ends a comparison ends the other build's replay too" eventually sh -c '! kill -0 "$(cat other.out)" 2>/dev/null || ps -o stat= -p "$(cat other.out)" | grep -q ^Z' # dead, whoever buries it
run "$build/foliot-lab" run heavy.yaml --ticks 1
busy
told TERM TERM
ok "foliot-lab run ends in the middle of a step when it is told twice" ended_with 1
