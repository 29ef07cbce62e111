#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# fuzz.sh FOLDER SECONDS FUZZER...: runs each over its seed corpus (tests/fuzz/corpus/NAME.tar, where there is one) and
# SECONDS more. A corpus without a fuzzer counts as a failure, and so does a list of no fuzzers.
set -u
folder=$1 seconds=$2
shift 2
passed=0 failed=0
mkdir -p "$folder/found"
one() {
    local fuzzer=$1 name archive seeds
    name=$(basename "$fuzzer")
    archive=tests/fuzz/corpus/${name#fuzz_}.tar seeds=$folder/seeds/$name
    rm -rf "$seeds"
    mkdir -p "$folder/corpus/$name" "$seeds"
    [ ! -f "$archive" ] || tar -C "$seeds" -xf "$archive" || return
    "$fuzzer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$folder/found/$name-" "$folder/corpus/$name" "$seeds" \
        >"$folder/$name.log" 2>&1
}
# Two at a time. A `wait` for all would forget how each of them ended.
finish() {
    local pid=$1 name=$2
    if wait "$pid"; then
        passed=$((passed + 1))
        echo "ok - $name $(grep -o 'number_of_executed_units: .*' "$folder/$name.log")"
    else
        failed=$((failed + 1))
        echo "not ok - $name"
        tail -n 30 "$folder/$name.log"
    fi
}
if [ $# = 0 ]; then
    failed=1
    echo "not ok - there is no fuzzer"
fi
for archive in tests/fuzz/corpus/*.tar; do
    corpus=$(basename "$archive" .tar)
    if [ ! -f "tests/fuzz/fuzz_$corpus.c" ]; then echo "$corpus"; fi
done >"$folder/orphans"
while read -r corpus; do
    failed=$((failed + 1))
    echo "not ok - no fuzzer reads tests/fuzz/corpus/$corpus.tar"
done <"$folder/orphans"
while [ $# -gt 0 ]; do
    one "$1" &
    first=$!
    second=""
    if [ $# -gt 1 ]; then
        one "$2" &
        second=$!
    fi
    finish "$first" "$(basename "$1")"
    [ -z "$second" ] || finish "$second" "$(basename "$2")"
    shift $(($# > 1 ? 2 : 1))
done
[ -z "${RESULTS:-}" ] || echo "$passed $failed" >>"$RESULTS"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
