#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# ci.sh: everything that `make test` runs, in turn, with one count at the end. Each part writes its log under
# build/ci and its counts into build/ci/results; a part that ends badly without counting a failure counts
# as one. The longer forms of the last parts are targets of their own: determinism, fuzz, damage.
set -u
cd "$(dirname "$0")/.."
out=build/ci
mkdir -p "$out"
results=$out/results
: >"$results"
export RESULTS=$PWD/$results
jobs=$(nproc)

# part NAME COMMAND...: runs it, shows its last lines if it failed.
part() {
    local name=$1 begin=$SECONDS before after rc
    shift
    before=$(wc -l <"$results")
    "$@" >"$out/$name.log" 2>&1 </dev/null
    rc=$?
    after=$(wc -l <"$results")
    if [ "$rc" != 0 ] && ! tail -n "+$((before + 1))" "$results" | grep -qv ' 0$'; then
        echo "0 1" >>"$results"
    elif [ "$rc" = 0 ] && [ "$before" = "$after" ]; then
        echo "1 0" >>"$results"
    fi
    printf '%-28s %s  %4d s\n' "$name" "$([ "$rc" = 0 ] && echo ok || echo "FAILED (exit $rc)")" $((SECONDS - begin))
    [ "$rc" = 0 ] || { grep -aE 'FAILED|not ok|error:|warning:|    \|' "$out/$name.log" | head -n 60; tail -n 25 "$out/$name.log"; }
}

for group in build test fuzz matrix-short; do scripts/install-deps.sh $group >>"$out/deps.log" 2>&1 || tail -n 5 "$out/deps.log"; done
export WERROR=1
part unit make -j"$jobs" test-unit
# The whole system under a thousand seeds: each is a test.
simulate() {
    make -j"$jobs" build/tests/simulation/simulate || return
    make simulate SEEDS=1000 >"$out/simulate.txt"
    local rc=$?
    cat "$out/simulate.txt"
    sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$out/simulate.txt" >>"$RESULTS"
    return $rc
}
part simulate simulate
part clang-build make -j"$jobs" BUILD=build/clang CC=clang all tests
part asan make -j"$jobs" test-asan
part tsan make -j"$jobs" test-tsan
part valgrind make -j"$jobs" test-valgrind
part determinism make -j"$jobs" determinism-short
part fuzz make -j"$jobs" fuzz-short
part install tests/install.sh

awk '{ passed += $1; failed += $2 } END { printf "%d passed, %d failed\n", passed, failed; exit failed > 0 }' "$results"
