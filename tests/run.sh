#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh TEST...: runs test programs and scripts in the given order, JOBS at a time (2). Those of tests/program run in
# parallel with them, two at a time: they wait for clocks more than they compute. A program prints TAP: a plan "1..N" for
# each group of tests and a line "ok 1 - NAME" or "not ok 1 - NAME" for each test; a script prints "ok - NAME" and
# "not ok - NAME" lines. A test that ends badly without naming a failed test counts as one failure. So does one that
# names no test at all unless it says "skip", a program that runs fewer tests than it planned, and a script that calls
# what does not exist. To be given no test is a failure.
# RESULTS=FILE: the counts are appended there. TIMES=FILE: the seconds are written there. Last line: "N passed, N failed".
set -u
logs=${BUILD:-build}/test-logs
mkdir -p "$logs"
export logs

run_one() {
    local test=$1 log passed failed planned skipped rc word=ok begin=$SECONDS
    log=$logs/$(echo "$test" | tr '/' '-').log
    local run=(timeout "${TEST_TIMEOUT:-900}")
    case $test in
    *.sh) run+=(bash "$test") ;;
    *) run+=(${TEST_WRAPPER:-} "$test") ;; # not quoted: the wrapper and its options
    esac
    local TIMEFORMAT='%U %S %R'
    { time CMOCKA_MESSAGE_OUTPUT=TAP "${run[@]}" >"$log" 2>&1 </dev/null; } 2>"$log.seconds"
    rc=$?
    case $test in
    *.sh)
        passed=$(grep -ac '^ok - ' "$log")
        failed=$(grep -ac 'not ok - ' "$log") # anywhere: what was printed before may lack its end of line
        if [ "$failed" = 0 ]; then
            failed=$(grep -acE '\.sh: line [0-9]+: .*(command not found|unbound variable|syntax error)' "$log")
        fi
        ;;
    *)
        planned=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' "$log" | awk '{ n += $1 } END { print n + 0 }')
        passed=$(grep -ac '^ok [0-9]* - ' "$log")
        skipped=$(grep -acE '^(not )?ok [0-9]+ # SKIP ' "$log")
        failed=$(grep -aE 'not ok [0-9]+ - ' "$log" | wc -l) # anywhere: what was printed before may lack its end of line
        if [ "$failed" = 0 ] && [ "$planned" != $((passed + skipped)) ]; then failed=1; fi
        ;;
    esac
    if [ "$rc" != 0 ] && [ "$failed" = 0 ]; then failed=1; fi
    if [ "$rc" = 0 ] && [ "$passed" = 0 ] && [ "$failed" = 0 ] && ! grep -aq '^skip' "$log"; then failed=1; fi
    if [ "$passed" = 0 ]; then word=skipped; fi
    echo "$passed $failed" >"$log.count"
    if [ "$failed" = 0 ]; then
        printf '%-7s %-60s %4d passed  %3d s\n' "$word" "$test" "$passed" $((SECONDS - begin))
    else
        printf 'FAILED  %-60s %4d passed, %d failed (exit %d)\n' "$test" "$passed" "$failed" "$rc"
        {
            grep -aE -A 5 'not ok |does not hold|error: |ERROR: |\.sh: line ' "$log" | head -n 24
            echo "... $log"
            tail -n 3 "$log"
        } | cut -c 1-160 | sed 's/^/    | /'
    fi
}
export -f run_one

served=() computed=()
for test in "$@"; do
    rm -f "$logs/$(echo "$test" | tr '/' '-')".log*
    case $test in
    tests/program/*.sh) served+=("$test") ;;
    *) computed+=("$test") ;;
    esac
done
[ ${#served[@]} = 0 ] || [ -n "${TIMES:-}" ] || printf '%s\0' "${served[@]}" | xargs -0 -n 1 -P 2 bash -c 'run_one "$0"' &
[ ${#computed[@]} = 0 ] || printf '%s\0' "${computed[@]}" | xargs -0 -n 1 -P "${JOBS:-2}" nice -n 5 bash -c 'run_one "$0"'
wait
if [ -n "${TIMES:-}" ]; then # one after the other, so that each is measured alone
    for test in "${served[@]}"; do run_one "$test"; done
fi

passed=0 failed=0
[ $# != 0 ] || failed=1
for test in "$@"; do
    # A test that left no count was ended from outside.
    p=0 f=1
    read -r p f 2>/dev/null <"$logs/$(echo "$test" | tr '/' '-').log.count"
    passed=$((passed + p)) failed=$((failed + f))
done
if [ -n "${TIMES:-}" ]; then
    {
        echo '# processor seconds, seconds, test; by `make times`'
        for test in "$@"; do
            read -r user system wall <"$logs/$(echo "$test" | tr '/' '-').log.seconds"
            case $test in
            *.sh) source=$test ;;
            *) source=${test#"${BUILD:-build}/"}.c ;;
            esac
            echo "$user $system $wall $source"
        done | awk '{ printf "%.2f %.2f %s\n", $1 + $2, $3, $4 }' | sort -k 3
    } >"$TIMES"
fi
[ -z "${RESULTS:-}" ] || echo "$passed $failed" >>"$RESULTS"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
