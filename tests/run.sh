#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh TEST...: runs test programs and scripts, JOBS at a time (2), the slow ones first, and beside them those of
# tests/server, one at a time: they wait for clocks more than they compute. Counts. A program is a cmocka one
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
# So that no core is idle at the end. Whatever is not here follows as it was given.
slow="test_alarms.sh test_threads test_session test_known_results test_joint test_replay test_recording_corpus test_contact
    test_query test_damage test_serialisation test_degenerate test_crash test_lockstep test_lockstep_network test_recording
    test_recordings.sh test_transport test_lab.sh test_ready_scenes"
in_turn() {
    printf '%s\n' "$@" | awk -v slow="$slow" '
        BEGIN { count = split(slow, names, /[ \n]+/); for (i = 1; i <= count; i++) rank[names[i]] = i }
        { name = $0; sub(/.*\//, "", name); printf "%d\t%s\n", name in rank ? rank[name] : count + 1, $0 }' |
        sort -s -n -k 1,1 | cut -f 2 | tr '\n' '\0'
}
served=() computed=()
for test in "$@"; do
    case $test in
    tests/server/*.sh) served+=("$test") ;;
    *) computed+=("$test") ;;
    esac
done
[ ${#served[@]} = 0 ] || printf '%s\0' "${served[@]}" | xargs -0 -n 1 bash -c 'one "$0"' &
[ ${#computed[@]} = 0 ] || in_turn "${computed[@]}" | xargs -0 -n 1 -P "${JOBS:-2}" nice -n 5 bash -c 'one "$0"'
wait
passed=0 failed=0
for count in "$logs"/*.count; do
    [ -e "$count" ] || continue
    read -r p f <"$count"
    passed=$((passed + p)) failed=$((failed + f))
done
[ -z "${RESULTS:-}" ] || echo "$passed $failed" >>"$RESULTS"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
