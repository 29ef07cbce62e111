#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tier: check
# Goal: the page of figures is made of the newest results of every bench, says when each was measured, and marks goals that
# were missed; what failed or is not there is named.
# Method: scripts/bench.sh in a folder of its own, where programs print fixed figures.
set -u
script=$(cd "$(dirname "$0")/../.." && pwd)/scripts/bench.sh
failed=0
report() { # NAME STATUS [TEXT]
    if [ "$2" = 0 ]; then echo "ok - $1"; else
        printf 'not ok - %s\n%s\n' "$1" "${3:-}"
        failed=1
    fi
}
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cd "$tree" || exit 1
mkdir -p build/bench tests/bench
bench() { # NAME CASE VALUE [STATUS]
    printf '#!/bin/sh\necho '\''{"bench":"%s","case":"%s","value":%s,"unit":"B","opponent":"rival","opponent_value":4,"ratio":0.5}'\''\nexit %d\n' \
        "$1" "$2" "$3" "${4:-0}" >"build/bench/$1"
    chmod +x "build/bench/$1"
    printf '// SPDX-License-Identifier: MIT\n// %s.c: what %s costs. More.\n' "$1" "$1" >"tests/bench/$1.c"
}
has() { # NAME PATTERN
    report "$1" "$(grep -q -- "$2" BENCHMARKS.md; echo $?)" "$(cat BENCHMARKS.md)"
}

bench match_sizes 'siege: an impulse in a recording' 18
bench seal whatever 2
export PROC_STAT=/dev/null
bash "$script" build seal >out 2>&1
report "one of two is on the page" "$(grep -q '^| whatever | 2 B ' BENCHMARKS.md; echo $?)" "$(cat BENCHMARKS.md)"
report "which says that the other one is not measured" "$(grep -A 2 '^## match_sizes$' BENCHMARKS.md | grep -q '^Not measured yet\.$'; echo $?)" "$(cat BENCHMARKS.md)"
bash "$script" build match_sizes >out 2>&1
report "with the other one it has both" "$(! grep -q 'Not measured' BENCHMARKS.md; echo $?)" "$(cat BENCHMARKS.md)"
cp BENCHMARKS.md before
rm -r build/bench/results
bash "$script" build match_sizes >out 2>&1
differ=$(diff <(sed 's/, load .*//' before) <(sed 's/, load .*//' BENCHMARKS.md))
report "another build keeps what it has not measured" $? "$differ"
has "with what a bench is about" '^What seal costs\.$'
has "with its figures, and the goal that is kept" '^| siege: an impulse in a recording | 18 B | rival: 4 | 0.5 | ≤ 24 |$'
report "and when each was measured" "$([ "$(grep -c '^Measured 20.* at commit .*, load ' BENCHMARKS.md)" = 2 ]; echo $?)" "$(cat BENCHMARKS.md)"
report "a host that took nothing is not named" "$(! grep -q 'the host gave' BENCHMARKS.md; echo $?)" "$(cat BENCHMARKS.md)"
echo 'cpu 100 0 100 800 0 0 0 10 0 0' >stat
bench match_sizes 'siege: an impulse in a recording' 25
sed -i "2i echo 'cpu 150 0 150 860 0 0 0 50 0 0' >stat" build/bench/match_sizes
bench seal whatever 3
PROC_STAT=stat bash "$script" build match_sizes >out 2>&1
has "but one that did" 'when it began; the host gave 20 % of the processors to others meanwhile\.$'
has "a goal that is missed is marked" '≤ 24, \*missed\*'
has "what was not measured again stays" '^| whatever | 2 B '
bench seal whatever 4 7
bash "$script" build >out 2>&1
report "a bench that fails is an error" "$([ $? = 1 ]; echo $?)"
report "and is named" "$(grep -q '^failed: seal$' out; echo $?)" "$(cat out)"
has "in the page too" '^This bench failed\.$'
bash "$script" build nosuch >out 2>&1
report "a bench that there is not is an error" "$([ $? = 2 ] && grep -q 'no bench nosuch; there are: match_sizes seal' out; echo $?)" "$(cat out)"
exit $failed
