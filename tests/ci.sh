#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# ci.sh test|test-all|nightly: runs the parts of that target. ci.sh sum FOLDER...: adds the counts of earlier runs.
# Each part writes its log and its counts into $BUILD/ci/TARGET. A part that ends badly without counting a failure
# counts as one, and so does a part that never ended. The last line is "N passed, N failed".
set -u
cd "$(dirname "$0")/.."
target=${1:?target}
build=${BUILD:-build}

# The sum over folders of results; failure if anything failed.
print_sum() {
    local folder
    for folder in "$@"; do
        cat "$folder/counts" "$folder/unfinished" 2>/dev/null
        [ -e "$folder/counts" ] || echo "0 1" # it never ran
    done | awk '{ passed += $1; failed += $2 } END { printf "%d passed, %d failed\n", passed, failed; exit failed > 0 }'
}
if [ "$target" = sum ]; then
    shift
    print_sum "$@"
    exit
fi

out=$build/ci/$target
rm -rf "$out"
mkdir -p "$out"
echo "0 1" >"$out/unfinished" # counts until the last part has ended
jobs=$(nproc)
export WERROR=1

# part NAME COMMAND...: runs it, adds its counts, shows what went wrong.
part() {
    local name=$1 begin=$SECONDS rc passed failed cpu TIMEFORMAT='%U %S'
    shift
    RESULTS=$(realpath "$out")/$name.counts
    export RESULTS
    : >"$RESULTS"
    { time "$@" >"$out/$name.log" 2>&1 </dev/null; } 2>"$out/$name.seconds"
    rc=$?
    cpu=$(awk '{ printf "%d", $1 + $2 + 0.5 }' "$out/$name.seconds")
    read -r passed failed < <(awk '{ p += $1; f += $2 } END { print p + 0, f + 0 }' "$RESULTS")
    if [ "$rc" != 0 ] && [ "$failed" = 0 ]; then failed=1; fi
    if [ "$rc" = 0 ] && [ "$passed" = 0 ] && [ "$failed" = 0 ]; then passed=1; fi
    if [ "$failed" != 0 ] && [ "$rc" = 0 ]; then rc="0 in spite of failures"; fi
    echo "$passed $failed" >>"$out/counts"
    if [ "$failed" = 0 ]; then
        printf '%-12s %5d passed  %4d s, %4d s of processors\n' "$name" "$passed" $((SECONDS - begin)) "$cpu"
    else
        printf '%-12s %5d passed, %d FAILED (exit %s)  %4d s, %4d s of processors\n' "$name" "$passed" "$failed" "$rc" \
            $((SECONDS - begin)) "$cpu"
        grep -aE '^FAILED|^seed [0-9]+: FAILED|error:|warning:|not ok - |    \|' "$out/$name.log" | cut -c 1-160 | head -n 40
        tail -n 3 "$out/$name.log" | cut -c 1-160
    fi
}
# Parts that run in a second lane, one after the other. Their output is shown when they are joined.
beside() { # COMMAND...: `part ...`, or a function that runs some
    "$@" >"$out/beside.said" &
    beside_pid=$!
}
join_beside() {
    wait "$beside_pid" || echo "0 1" >>"$out/counts"
    cat "$out/beside.said"
}

in_make() { make -j"$jobs" BUILD="$build" "$@"; }
nice_make() { nice -n 10 make -j"$jobs" BUILD="$build" "$@"; }
# Packages first, in one go: the parts then find them there.
packages() {
    [ "${DEPS:-yes}" = no ] || scripts/install-deps.sh "$@"
}
# simulate SEEDS: each is a test. By a virtual clock: it may take its time.
simulate() {
    nice_make "$build/tests/cluster/simulate" || return
    nice_make simulate SEEDS="$1" | tee "$out/simulate.txt"
    local rc=${PIPESTATUS[0]}
    sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$out/simulate.txt" >>"$RESULTS"
    return "$rc"
}

case $target in
test)
    part packages packages build test format clang
    part build in_make all build-check build-test
    part check in_make check
    beside part programs make BUILD="$build" run-test
    part determinism nice_make determinism-quick
    part simulate simulate 300
    join_beside
    ;;
test-all)
    # Two lanes keep both processors at work. In one is what waits for clocks, and all that is in $build itself; in the
    # other what computes, in separate builds, at a lower priority: those that use one processor at the end come first.
    # The build with clang's sanitizers is the one whose warnings are errors, and that fuzzers are linked from.
    waiting() {
        part programs in_make run-all
        part web in_make test-web SHORT=1
        part install in_make test-install
    }
    part packages packages build test clang valgrind fuzz package matrix-short web web-test site
    part build in_make all build-all "$build/determinism/ready_scenes.h" "$build/tests/cluster/simulate"
    beside waiting
    part determinism nice_make determinism-left
    part simulate simulate 301-600
    part valgrind nice_make test-valgrind
    part build-asan nice_make build-asan
    join_beside
    part asan in_make test-asan
    part tsan in_make test-tsan
    part fuzz in_make fuzz-short
    ;;
nightly)
    part packages packages build test fuzz matrix web web-test deploy deb manifests image prometheus
    part determinism in_make determinism
    part simulate simulate 10000
    part damage in_make damage
    part planted in_make planted
    part asan in_make test-asan LONG=1
    part alarms env BUILD="$build" LONG=1 tests/run.sh tests/golden/test_alarms.sh
    part soak in_make soak
    part prometheus env BUILD="$build" SCRAPE_SECONDS=60 tests/run.sh tests/program/test_prometheus.sh
    part slurm in_make test-slurm
    part deb in_make test-deb
    part web in_make test-web LONG=1
    part manifests in_make test-manifests
    part image in_make test-image
    part fuzz in_make fuzz FUZZ_SECONDS="${FUZZ_SECONDS:-600}"
    ;;
*)
    echo "ci.sh: no target '$target'" >&2
    exit 2
    ;;
esac
rm "$out/unfinished"
print_sum "$out"
