#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh TEST...: runs test programs and scripts, two at a time, and counts. A program is a cmocka one
# (its closing lines are on stderr); a script prints "ok - NAME" and "not ok - NAME" lines. Whatever
# ends badly without naming a failed test counts as one failure. With RESULTS=FILE the counts are
# appended there. Last line: "N passed, N failed".
set -u
logs=${BUILD:-build}/test-logs
mkdir -p "$logs"
export logs
one() {
    local test=$1 log passed failed rc
    log=$logs/$(echo "$test" | tr '/' '-').log
    local begin=$SECONDS
    case $test in
    *.sh) timeout "${TEST_TIMEOUT:-900}" bash "$test" >"$log" 2>&1 </dev/null ;;
    *) timeout "${TEST_TIMEOUT:-900}" ${TEST_WRAPPER:-} "$test" >"$log" 2>&1 </dev/null ;;
    esac
    rc=$?
    case $test in
    *.sh)
        passed=$(grep -c '^ok - ' "$log")
        failed=$(grep -c '^not ok - ' "$log")
        ;;
    *)
        passed=$(grep -c '^\[       OK \]' "$log")
        failed=$(grep -cE '^\[  (FAILED|ERROR ) +\] [a-z_0-9]+$' "$log")
        # cmocka lists each failed test twice: once where it ran, once at the end.
        failed=$(grep -E '^\[  (FAILED|ERROR) *\] [A-Za-z_0-9]+$' "$log" | sort -u | wc -l)
        ;;
    esac
    if [ "$rc" != 0 ] && [ "$failed" = 0 ]; then failed=1; fi
    if [ "$rc" = 0 ] && [ "$passed" = 0 ] && [ "$failed" = 0 ] && ! grep -q '^skip' "$log"; then failed=1; fi
    echo "$passed $failed" >"$log.count"
    if [ "$failed" = 0 ]; then
        printf 'ok      %-60s %4d passed  %3d s\n' "$test" "$passed" $((SECONDS - begin))
    else
        printf 'FAILED  %-60s %4d passed, %d failed (exit %d)\n' "$test" "$passed" "$failed" "$rc"
        tail -n 40 "$log" | sed 's/^/    | /'
    fi
}
export -f one
rm -f "$logs"/*.count
printf '%s\0' "$@" | xargs -0 -n 1 -P "${JOBS:-2}" bash -c 'one "$0"'
passed=0 failed=0
for count in "$logs"/*.count; do
    [ -e "$count" ] || continue
    read -r p f <"$count"
    passed=$((passed + p)) failed=$((failed + f))
done
[ -z "${RESULTS:-}" ] || echo "$passed $failed" >>"$RESULTS"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
