#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tier: check
# Goal: docs/benchmarks.json has the newest results of every bench, when and where each was measured, and the page has
# the rows of its template, with goals that were missed; what failed or is not there is named. Method: scripts/bench.sh
# in a separate folder, where programs print fixed figures.
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
json() { # NAME EXPRESSION: what holds for the file, d
    report "$1" "$(python3 -c 'import json, sys; d = json.load(open("docs/benchmarks.json"))["benches"]
sys.exit(not eval(sys.argv[1]))' "$2"; echo $?)" "$(cat docs/benchmarks.json)"
}

bench match_sizes 'siege: an impulse in a recording' 18
bench seal 'sealing, all' 2
cat >tests/bench/goals.txt <<'END'
# bench | case | what | bound
match_sizes|*: an impulse in *|value<=|2400
seal|sealing*|ratio<=|0.1
seal|opening*|value<=|1
END
cat >tests/bench/page.md.in <<'END'
# Page
@MACHINE@
@ an impulse | match_sizes | siege: an impulse in a recording
@ sealing | seal | sealing, all
END
export PROC_STAT=/dev/null
bash "$script" build seal >out 2>&1
has "one of two is on the page, with its goal that it missed" '^| sealing | ratio ≤ 0.1, \*missed\* | 2.00 B | rival: 4.00 | 0.500 |$'
has "the other one is not measured" '^| an impulse | | not measured | | |$'
report "a goal of no case is named" "$(grep -q '^a goal of no case: seal|opening\*' out && ! grep -q 'no case: match' out; echo $?)" "$(cat out)"
report "the table has figures and goals" "$(grep -qE '^seal +sealing, all +2 +B +rival +4 +0.5 +ratio<= 0.1  missed$' out; echo $?)" "$(cat out)"
bash "$script" build match_sizes >out 2>&1
has "with the other one it has both" '^| an impulse | ≤ 2,400 B | 18.0 B | rival: 4.00 | 0.500 |$'
sed -i 's/"value":18,/"value":-nan,/' build/bench/match_sizes
bash "$script" build match_sizes >out 2>&1
json "a figure that is no number is left out" '"value" not in d["match_sizes"]["results"][0]'
sed -i 's/"value":-nan,/"value":18,/' build/bench/match_sizes
bash "$script" build match_sizes >out 2>&1
cp docs/benchmarks.json before
rm -r build/bench/results
bash "$script" build match_sizes >out 2>&1
differ=$(diff <(sed 's/"load": [0-9.]*//' before) <(sed 's/"load": [0-9.]*//' docs/benchmarks.json))
report "another build keeps what it has not measured" $? "$differ"
json "with what a bench is about" 'd["seal"]["about"] == "What seal costs."'
json "with its figures" 'd["match_sizes"]["results"] == [{"case": "siege: an impulse in a recording", "value": 18,
    "unit": "B", "opponent": "rival", "opponent_value": 4, "ratio": 0.5}]'
json "and when and where each was measured" 'all(b["date"][:2] == "20" and b["commit"] and "cores" in b["machine"]
    and b["load"] >= 0 for b in d.values())'
json "a host that took nothing is not named" '"stolen_percent" not in d["match_sizes"]'
echo 'cpu 100 0 100 800 0 0 0 10 0 0' >stat
bench match_sizes 'siege: an impulse in a recording' 2500
sed -i "2i echo 'cpu 150 0 150 860 0 0 0 50 0 0' >stat" build/bench/match_sizes
bench seal 'sealing, all' 3
PROC_STAT=stat bash "$script" build match_sizes >out 2>&1
json "but one that did" 'd["match_sizes"]["stolen_percent"] == 20'
has "a goal that is missed is marked" '≤ 2,400 B, \*missed\* | 2,500 B'
json "what was not measured again stays" 'd["seal"]["results"][0]["value"] == 2'
bench seal 'sealing, all' 4 7
bash "$script" build >out 2>&1
report "a bench that fails is an error" "$([ $? = 1 ]; echo $?)"
report "and is named" "$(grep -q '^failed: seal$' out; echo $?)" "$(cat out)"
json "in the file too" 'd["seal"]["failed"] and "failed" not in d["match_sizes"]'
bash "$script" build nosuch >out 2>&1
report "a bench that there is not is an error" "$([ $? = 2 ] && grep -q 'no bench nosuch; there are: match_sizes seal' out; echo $?)" "$(cat out)"

cd "${script%/scripts/*}" || exit 1
mkdir -p "$tree/own/tests" "$tree/own/docs" && cp -r tests/bench "$tree/own/tests" && cp docs/benchmarks.json "$tree/own/docs"
(cd "$tree/own" && python3 "${script%/*}/bench_page.py" results)
report "the page in the tree is that of its file and its template" "$(cmp -s "$tree/own/BENCHMARKS.md" BENCHMARKS.md; echo $?)" \
    "$(diff BENCHMARKS.md "$tree/own/BENCHMARKS.md" | head -n 20)"
report "all of its rows are measured" "$(! grep -q 'not measured' BENCHMARKS.md; echo $?)"
exit $failed
