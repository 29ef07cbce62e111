#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: a program that may not have the descriptors or the memory that it needs says so, with an exit code that means
# it, and never ends by a signal; and its output never goes into one of its files where stdin, stdout or stderr is
# closed. Method: each program with `ulimit -n` from 3 to 24, with `ulimit -v` from 20 to 200 MB, and with each of the
# three closed.
set -u
. "$(dirname "$0")/setup.sh"
lab=$build/foliot-lab
scene=$scenes/spacewar.yaml

"$server" "$scene" --port 0 --tick-hz 500 --ticks 60 --record given.foliot >given.out 2>given.log
start "$scene" --port 0 --no-record
# One program under a limit, in a separate folder: its exit code, or what is wrong with how it ended.
limited() { # LIMIT VALUE NAME COMMAND...
    local limit=$1 value=$2 name=$3 rc
    shift 3
    mkdir -p "limits/$value.$name" && cd "limits/$value.$name" || return
    # The shell needs descriptors for redirections: it opens the files before the limit holds.
    (exec >out 2>err </dev/null; ulimit "$limit" "$value" || exit 1; exec timeout $LIMIT_SECONDS "$@") 2>/dev/null
    rc=$?
    [ $rc = 127 ] && grep -q 'shared libraries' err && rc=1 # the loader, before there is a program
    case $rc in
    0) echo worked ;;
    1 | 75) if [ -s err ]; then echo told; else echo " $name with $value: no sentence"; fi ;;
    *) echo " $name with $value: exit $rc" ;;
    esac >verdict
}
under_limit() { # LIMIT VALUE
    limited "$1" "$2" server "$server" "$scene" --port 0 --tick-hz 500 --ticks 20 --record out.foliot &
    limited "$1" "$2" threads "$server" "$scenes/billiards.yaml" --port 0 --tick-hz 500 --ticks 20 --no-record --threads 3 &
    cp given.foliot "given.$2.foliot"
    limited "$1" "$2" resume "$server" --resume "$work/given.$2.foliot" --port 0 --ticks 1 &
    limited "$1" "$2" client "$client" "127.0.0.1:$port" --bot idle --ticks 3 &
    limited "$1" "$2" lab "$lab" run "$scene" --ticks 20 --record out.foliot --csv out.csv &
    limited "$1" "$2" verify "$replay" verify --jobs 3 "$work/given.foliot" "$work/given.foliot" "$work/given.foliot" &
    limited "$1" "$2" compare "$replay" compare "$work/given.foliot" --with "$replay" &
}
rest() { # for all that were begun; the server goes on
    local job
    for job in $(jobs -p); do
        [ "$job" = "$server_pid" ] || wait "$job"
    done
}
check_runs() { # NAME WORKED-AT-LEAST TOLD-AT-LEAST
    rest
    cat limits/*/verdict >verdicts
    bad=$(grep -v '^[wt]' verdicts)
    ok "$1 ($(grep -c worked verdicts) work, $(grep -c told verdicts) say why not)$bad" \
        test -z "$bad" -a "$(grep -c worked verdicts)" -ge "$2" -a "$(grep -c told verdicts)" -ge "$3"
    rm -rf limits
}
for n in $(seq 3 14) 18 24; do
    under_limit -n "$n"
    [ $((n % 5)) != 0 ] || rest
done
check_runs "with 3 to 24 descriptors each program works or says why not" 40 20
sizes="20 30 36 40 46 52 60 80 200"
# A sanitizer's own memory has no place under such a limit.
nm "$build/libfoliot.a" 2>/dev/null | grep -qE '__(asan|tsan)_' && sizes=
for v in $sizes; do
    under_limit -v $((v * 1000))
    [ $((v % 4)) != 0 ] || rest
done
[ -z "$sizes" ] || check_runs "with 20 to 200 MB of memory as well" 30 5
exits "a server says that it lacks descriptors" 75 'may not have as many open files' \
    bash -c "ulimit -n 9; exec '$server' '$scene' --port 0 --no-record"
ok "and leaves no recording" test ! -e out.foliot

# Closed: 0, 1, 2 and all of them. The recording is of the server's descriptors the first one that is opened.
for closed in '<&-' '>&-' '2>&-' '<&- >&- 2>&-'; do
    rm -f closed.foliot
    eval "\"\$server\" \"\$scene\" --port 0 --tick-hz 500 --ticks 60 --record closed.foliot $closed" >closed.out 2>closed.log
    rc=$?
    "$replay" verify closed.foliot >verify.out 2>&1
    ok "a server with $closed records what it ran" test $rc = 0 -a "$(grep -c 'match: 60 ticks' verify.out)" = 1
    rm -f closed.foliot
    eval "\"\$lab\" run \"\$scene\" --ticks 60 --record closed.foliot $closed" >closed.out 2>closed.log
    "$replay" verify closed.foliot >verify.out 2>&1
    ok "and foliot-lab with $closed" grep -q 'match: 60 ticks' verify.out
    rm -f closed.foliot
    eval "\"\$replay\" trim given.foliot --out closed.foliot $closed" >closed.out 2>closed.log
    "$replay" verify closed.foliot >verify.out 2>&1
    ok "and foliot-replay with $closed" grep -q 'match: [0-9]* ticks' verify.out
    rm -f closed.json
    eval "timeout $LIMIT_SECONDS \"\$client\" 127.0.0.1:$port --bot idle --ticks 9 --trace closed.json $closed" >closed.out 2>closed.log
    ok "and foliot-client with $closed traces nothing else" awk '!/^{/ { bad = 1 } END { exit bad || !NR }' closed.json
done
