#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench.sh BUILD [NAME...]: runs the benches built under BUILD/bench (all, or those named), keeps their lines of JSON
# in BUILD/bench/results, adds them to docs/benchmarks.json, prints one table, and writes BENCHMARKS.md. The figures of
# benches that this run does not measure stay. A bench that fails is named, and the exit status is 1.
set -u
build=${1:-build}
shift || true
bench=$build/bench
results=$bench/results
mkdir -p "$results"
programs=() failed=() measured=()
for program in "$bench"/*; do
    [ -f "$program" ] && [ -x "$program" ] && programs+=("${program##*/}")
done
[ $# != 0 ] || set -- "${programs[@]}"
for name in "$@"; do
    [ -x "$bench/$name" ] || { echo "there is no bench $name; there are: ${programs[*]}" >&2; exit 2; }
done

processor() {
    echo "$(sed -n "s/^model name[^:]*: //p" /proc/cpuinfo | head -n 1) with $(nproc) cores"
}
# state_of_tree: the commit that is measured.
state_of_tree() {
    git rev-parse --short HEAD 2>/dev/null || { echo unknown; return; }
    git diff --quiet HEAD -- . ":!BENCHMARKS.md" ":!docs/benchmarks.json" || echo "with local changes"
}
# Processor time that the host gave to others, and all, in jiffies.
stolen_and_all() {
    awk '$1 == "cpu" { for (i = 2; i <= 9; i++) all += $i; print $9 + 0, all }' "${PROC_STAT:-/proc/stat}" 2>/dev/null
}
# stolen_since BEFORE: a field of JSON, from one per cent on.
stolen_since() {
    echo "$1 $(stolen_and_all)" | awk 'NF == 4 && $4 > $2 {
        share = 100 * ($3 - $1) / ($4 - $2)
        if (share >= 1) printf ",\"stolen_percent\":%.0f", share
    }'
}
for name in "$@"; do
    echo "bench $name" >&2
    before=$(stolen_and_all)
    load=$(cut -d " " -f 1 /proc/loadavg)
    rm -f "$results/$name.jsonl"
    "$bench/$name" >"$results/$name.out" </dev/null || failed+=("$name")
    grep '^{' "$results/$name.out" >"$results/$name.new"
    rm "$results/$name.out"
    case " ${failed[*]-} " in *" $name "*) outcome=',"failed":true' ;; *) outcome= ;; esac
    printf '{"date":"%s","commit":"%s","machine":"%s","load":%s%s%s}\n' "$(date -u +%Y-%m-%d)" \
        "$(state_of_tree | paste -sd " ")" "$(processor)" "${load:-0}" "$(stolen_since "$before")" "$outcome" >"$results/$name.about"
    mv "$results/$name.new" "$results/$name.jsonl"
    measured+=("$name")
done

COMPILER=$(gcc --version | head -n 1) python3 "$(dirname "$0")/bench_page.py" "$results" "${measured[@]}"

[ ${#failed[@]} = 0 ] || { echo "failed: ${failed[*]}" >&2; exit 1; }
