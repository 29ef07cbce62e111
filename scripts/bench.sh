#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench.sh BUILD [NAME...]: runs the benches built under BUILD/bench (all, or those named), keeps their lines of JSON
# in BUILD/bench/results, and prints one table. BENCHMARKS.md is written from the results of all benches; of those that
# this build has not measured, the page keeps what it says of them: after a change those that it touches can be run
# alone. A bench that fails is named, and the exit status is 1.
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
    git diff --quiet HEAD -- . ":!BENCHMARKS.md" || echo "with local changes"
}
# Processor time that the host gave to others, and all, in jiffies.
stolen_and_all() {
    awk '$1 == "cpu" { for (i = 2; i <= 9; i++) all += $i; print $9 + 0, all }' "${PROC_STAT:-/proc/stat}" 2>/dev/null
}
# stolen_since BEFORE: a part of a sentence, from one per cent on.
stolen_since() {
    echo "$1 $(stolen_and_all)" | awk 'NF == 4 && $4 > $2 {
        share = 100 * ($3 - $1) / ($4 - $2)
        if (share >= 1) printf "; the host gave %.0f %% of the processors to others meanwhile", share
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
    echo "Measured $(date -u +%Y-%m-%d) at commit $(state_of_tree | paste -sd " "), $(processor), load $load when it began$(stolen_since "$before")." >"$results/$name.about"
    case " ${failed[*]-} " in *" $name "*) echo "This bench failed." >>"$results/$name.about" ;; esac
    mv "$results/$name.new" "$results/$name.jsonl"
    measured+=("$results/$name.jsonl")
done

# Goals: bench, case (* stands for its beginning), what is compared, bound.
targets='replay|replay-256|value>=|1000
replay|share-of-bare|value>=|0.97
replay|size-of-|value<=|1500
replay|seek-2h-cold-p99|value<=|20
replay|verify-1000-use|value>=|90
rules|lua, tags|value<=|0.3
rules|lua, tags and events|value<=|0.3
rules|c, tags|value<=|0.05
commands|10,000 impulses*|value<=|2
commands|100 spawned*|value<=|1.2
commands|a tick that removes*|value<=|10
commands|none given*|value<=|1.01
commands|resuming*|value<=|1
match_sizes|siege: an impulse in a recording|value<=|24
match_sizes|siege: a spawn at rest in a recording|value<=|40
history|901 cubes, few move, keep a tick|value<=|1
history|*ray at another tick|value<=|8
history|shown, round trip 100 ms, ten seeds: p99, worst|value<=|2
nbody|force-1000|value<=|0.7
nbody|rate-1000|ratio>=|3
springs|cloth-100000 bandwidth|ratio>=|0.5
digest|tumbling-256 per 256 bodies|value<=|1
digest|n-body 1000 share of a step|value<=|1
digest|spheres 901 share of a step|value<=|1
digest|spheres 5000 share of a step|value<=|1
snapshot_codec|901 cubes data set, bytes a snapshot|value<=|215
snapshot_codec|901 cubes data set, encode|value<=|25
snapshot_codec|cubes at rest, bytes a snapshot|value<=|12
sessions|*without players: share of a core each|value<=|0.1
sessions|*memory each|value<=|1.2
sessions|*creation of one|value<=|1
sessions|*with a player: lateness p99|value<=|5
operations|*a scrape of /metrics, median|value<=|5
operations|what admin calls add to the lateness of a tick, mean|value<=|0.1
operations|*last tick to the last end|value<=|1
operations|10,000 bodies: a recording begins in mid-session|value<=|16
web|128 browsers: a browser and snapshot|value<=|12
web|128 browsers: memory of one|value<=|24
channel|128 peers: a peer and snapshot|value<=|22
channel|128 peers: memory of one|value<=|150
channel|round trip 50 ms, loss 2 %, channel: playout delay|value<=|45
channel|round trip 50 ms, loss 2 %, channel: lateness p99.9|value<=|20
channel|round trip 50 ms, loss 5 %, channel: playout delay|value<=|50
seal|256 bytes, sealing|value<=|0.6
seal|256 bytes, opening|value<=|0.6
seal|bytes a datagram|value<=|24
forged|30000 datagrams/s: more of a core|value<=|10
forged|with: connections that were lost|value<=|0
fanout|spacewar, 16 clients: a client and snapshot|ratio<=|1.3
fanout|spacewar, 16 players: a client and snapshot|ratio<=|1.3
fanout|spacewar, 64 clients: a client and snapshot|ratio<=|1.3
fanout|spacewar, 64 players: a client and snapshot|ratio<=|1.3
fanout|spacewar, 256 clients: a client and snapshot|ratio<=|1.3
fanout|spacewar, 256 players: a client and snapshot|ratio<=|1.3
fanout|spacewar, 1000 clients: a client and snapshot|ratio<=|1.3
fanout|spacewar, 1000 players: a client and snapshot|ratio<=|1.3
fanout|spacewar, 16 clients, sealed: a client and snapshot|ratio<=|1.5
fanout|spacewar, 16 players, sealed: a client and snapshot|ratio<=|1.5
fanout|spacewar, 64 clients, sealed: a client and snapshot|ratio<=|1.5
fanout|spacewar, 64 players, sealed: a client and snapshot|ratio<=|1.5
fanout|spacewar, 256 clients, sealed: a client and snapshot|ratio<=|1.5
fanout|spacewar, 256 players, sealed: a client and snapshot|ratio<=|1.5
fanout|spacewar, 1000 clients, sealed: a client and snapshot|ratio<=|1.5
fanout|spacewar, 1000 players, sealed: a client and snapshot|ratio<=|1.5
fanout|marbles, 256 clients: a client and snapshot|ratio<=|1.5
fanout|marbles, 1000 clients: a client and snapshot|ratio<=|1.5
join|round trip 100 ms, loss 5 %: p95|value<=|500
heal|exact join to cubes in play: state|value<=|45
heal|exact join, 2 Mbit/s, loss 5 %: p95|value<=|800
heal|a bit flips, 1 Mbit/s, loss 5 %: watches, p95|value<=|250
heal|a bit flips, 1 Mbit/s, loss 5 %: steps again, p95|value<=|2000
netcode|loss 5 %, jitter 0-100 ms, ten seeds: delay|value<=|115
netcode|loss 5 %, jitter 0-100 ms, ten seeds: starved|value<=|0.1
netcode|loss 5 %, jitter 0-100 ms: snapshots used|value>=|94.5
tick_jitter|idle: ticks skipped|value<=|0
tick_jitter|beside a busy core: ticks skipped|value<=|0
tick_jitter|with 256 clients: ticks skipped|value<=|0
tick_jitter|answer while heavy steps run: p99|value<=|1000
resume|kill -9 to a tick served|value<=|1000
resume|time lost that was seen, most|value<=|50
simulation|64 bodies, 8 clients|value>=|50
lockstep|2 players, closed ticks, down|value<=|500
lockstep|16 players, closed ticks, down|value<=|700
lockstep|2 s each way, 25 % lost, any packet, most|value<=|90
lockstep|2 s each way, 25 % lost, divergences|value<=|0
rollback|round trip 100 ms, 5 % lost: key to own screen, most|value<=|17
rollback|round trip 200 ms, 5 % lost: key to own screen, most|value<=|17
rollback|round trip 100 ms, 5 % lost: own body corrected by > 1 mm, worst seed|value<=|1
rollback|round trip 100 ms, 5 % lost: own body, mean correction a frame, worst seed|value<=|0.7
rollback|round trip 100 ms, 5 % lost: own body, p99 correction a frame, worst seed|value<=|15
rollback|round trip 100 ms, 5 % lost: cubes that move, mean correction a frame|value<=|1.8
rollback|round trip 100 ms, 5 % lost: cubes that move, p99 correction a frame|value<=|50
rollback|round trip 100 ms, 5 % lost: other player, mean correction a frame|value<=|9
rollback|round trip 100 ms, 5 % lost: other player, p99 correction a frame|value<=|280
rollback|round trip 100 ms, 5 % lost: other player, largest correction in a frame|value<=|80
rollback|round trip 100 ms, 5 % lost: steps a frame, mean|value<=|2.3
rollback|round trip 100 ms, 5 % lost: steps a frame, most|value<=|5
rollback|round trip 100 ms, 5 % lost: frame, p99|value<=|4
rollback|round trip 100 ms, 5 % lost: early relay, share of bytes|value<=|15
rollback|alone, round trip 100 ms: own body, largest error|value<=|0
interest|staleness of what moves within 6 m, p99|value<=|3
interest|staleness of what moves within 12 m, p99|value<=|10
interest|staleness of what moves within 35 m, p99|value<=|60
interest|most that a watcher received in a second|value<=|256
interest|a watcher and packet, all of the server but the step|value<=|80
interest|a tick, all of the server but the step|value<=|5
interest|memory of a watcher beyond what is shared|value<=|64
copy|901 cubes, copy|value<=|100
rigid|grid|ratio<=|0.33
rigid|pile|ratio<=|0.42
rigid|pyramid|ratio<=|0.42
rigid|stack|ratio<=|0.42
rigid|spheres|ratio<=|0.42
rigid|pyramid, 2 threads|ratio<=|0.588
rigid|pyramid penetration, foliot|value<=|1.1
rigid|pyramid drift, foliot|value<=|1
rigid|grid copy|value<=|100
scenes|*: worst|ratio<=|1'

# Both tables read the lines of JSON by the functions of this program.
read_results='
function field(line, key,    at, rest) {
    at = index(line, "\"" key "\":")
    if (!at) return ""
    rest = substr(line, at + length(key) + 3)
    if (substr(rest, 1, 1) == "\"") { rest = substr(rest, 2); return substr(rest, 1, index(rest, "\"") - 1) }
    match(rest, /^[^,}]*/)
    rest = substr(rest, 1, RLENGTH)
    return rest == "null" ? "-" : rest
}
function named(c, pattern) {
    if (substr(pattern, 1, 1) != "*") return c == pattern
    pattern = substr(pattern, 2)
    return length(c) > length(pattern) && substr(c, length(c) - length(pattern) + 1) == pattern
}
function goal(b, c, value, ratio,    i, n, line, part, reached) {
    n = split(targets, line, "\n")
    for (i = 1; i <= n; i++) {
        split(line[i], part, "|")
        if (part[1] != b || !named(c, part[2])) continue
        if (part[3] == "value<=") reached = value + 0 <= part[4] + 0
        else if (part[3] == "value>=") reached = value + 0 >= part[4] + 0
        else if (part[3] == "ratio<=") reached = ratio + 0 <= part[4] + 0
        else reached = ratio + 0 >= part[4] + 0
        return part[3] " " part[4] (reached ? "" : "  missed")
    }
    return ""
}
'
awk -v targets="$targets" "$read_results"'
BEGIN {
    form = "%-14s %-56s %12s %-14s %-30s %12s %8s  %s\n"
    printf form, "bench", "case", "value", "unit", "opponent", "its value", "ratio", "goal"
}
{
    b = field($0, "bench"); c = field($0, "case"); v = field($0, "value"); r = field($0, "ratio")
    printf form, b, c, v, field($0, "unit"), field($0, "opponent"), field($0, "opponent_value"), r, goal(b, c, v, r)
}' "${measured[@]}"

# -- the page

# head_of_page: what the page is for, and where its figures come from.
head_of_page() {
    cat <<TEXT
# Benchmarks

This page has all figures of speed and size. \`make bench\` measures them and writes the page anew, \`make bench
ONLY="NAME..."\` some of them; do not edit it.

Compiled by $(gcc --version | head -n 1).

The ratio is our value divided by the opponent's, both measured in the same run: below 1 is better for times and
sizes, above 1 for rates. Ratios hold on other machines better than times do. Benches on a virtual clock
(\`lockstep\`, \`netcode\`) and those of accuracy and size give the same figures on every machine. A machine that was
busy when a bench began gives uncertain times.
A goal is a bound that a figure must keep; *missed* marks one that did not.
TEXT
}

# about_bench NAME: the first sentence of its source, as a line of text.
about_bench() {
    sed -n "2,12{/^\/\//!q; s/^\/\/ \\?//p}" "tests/bench/$1.c" | tr "\n" " " |
        sed -E "s/^[a-z_]+\.c: (.)/\U\1/; s/([^.])\. .*/\1./; s/ +$//" | fold -s -w 118 | sed "s/ *$//"
    echo
}

rows_of_bench() {
    awk -v targets="$targets" "$read_results"'
    BEGIN { print "| case | foliot | opponent | ratio | goal |\n|---|---|---|---|---|" }
    {
        b = field($0, "bench"); c = field($0, "case"); v = field($0, "value"); r = field($0, "ratio")
        o = field($0, "opponent"); bound = goal(b, c, v, r)
        sub(/^value/, "", bound); sub(/^ratio/, "ratio ", bound); sub(/  missed/, ", *missed*", bound)
        sub(/<=/, "≤", bound); sub(/>=/, "≥", bound)
        printf "| %s | %s %s | %s | %s | %s |\n", c, v, field($0, "unit"),
            o == "-" ? "" : o ": " field($0, "opponent_value"), r == "-" ? "" : r, bound
    }' "$results/$1.jsonl"
}

# kept_section NAME: what stands below the section's heading in the page as it was.
kept_section() {
    awk -v heading="## $1" '/^## / { inside = $0 == heading; next } inside && (begun || NF) { print; begun = 1 }' \
        BENCHMARKS.md 2>/dev/null
}

section_of_page() { # NAME
    local kept
    if [ ! -e "$results/$1.jsonl" ]; then
        kept=$(kept_section "$1")
        echo "${kept:-Not measured yet.}"
    elif [ -s "$results/$1.jsonl" ]; then
        about_bench "$1"
        echo
        cat "$results/$1.about"
        echo
        rows_of_bench "$1"
    fi
}

page=$(
    head_of_page
    for name in "${programs[@]}"; do
        section=$(section_of_page "$name")
        [ -z "$section" ] || printf "\n\n## %s\n\n%s\n" "$name" "$section"
    done
)
printf "%s\n" "$page" >BENCHMARKS.md

[ ${#failed[@]} = 0 ] || { echo "failed: ${failed[*]}" >&2; exit 1; }
