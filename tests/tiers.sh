#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tiers.sh: prints TIER/PATH for every test tests/*/test_*.c and tests/*/test_*.sh, the slowest first. A test is in
# exactly one tier:
#   check  `make check`: computes and waits for no clock
#   test   `make test`: runs the real programs, or takes longer
#   all    `make test-all`: takes longest
# A line "Tier: NAME" among a test's first 12 lines decides. Without it a script is in test, since scripts run programs
# that wait for clocks, and C is in check; a test whose processor seconds in tests/times.txt are beyond a tier's limit
# (CHECK_SECONDS, TEST_SECONDS) is in the next one. A test without a recorded time counts as quick.
# `make times` renews tests/times.txt: processor seconds, seconds, path; of one test at a time.
set -eu -o pipefail
cd "$(dirname "$0")/.."
awk -v check_seconds="${CHECK_SECONDS:-0.3}" -v test_seconds="${TEST_SECONDS:-1.8}" '
    FILENAME == "tests/times.txt" { if (!/^#/) { cpu[$3] = $1; wall[$3] = $2 } next }
    FNR <= 12 && match($0, /Tier: [a-z]+/) { tag[FILENAME] = substr($0, RSTART + 6, RLENGTH - 6) }
    FNR > 12 { nextfile }
    END {
        for (i = 2; i < ARGC; i++) {
            path = ARGV[i]
            if (path ~ /\*/) continue # a pattern that matches nothing
            tier = path ~ /\.sh$/ ? "test" : "check"
            if (tier == "check" && cpu[path] > check_seconds) tier = "test"
            if (tier == "test" && cpu[path] > test_seconds) tier = "all"
            if (path in tag) tier = tag[path]
            printf "%.2f\t%s/%s\n", wall[path], tier, path
        }
    }' tests/times.txt tests/*/test_*.c tests/*/test_*.sh | sort -s -r -n -k 1,1 | cut -f 2
