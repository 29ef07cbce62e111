#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tier: check
# Goal: every test runs somewhere, and once; what is known of a test's time is of a test that exists.
# Method: tests/tiers.sh against the files; then each rule of it in a separate folder.
set -u
cd "$(dirname "$0")/../.." || exit 1
failed=0
report() { # NAME STATUS [TEXT]
    if [ "$2" = 0 ]; then echo "ok - $1"; else
        printf 'not ok - %s\n%s\n' "$1" "${3:-}"
        failed=1
    fi
}

files=$(find tests -mindepth 2 -name 'test_*.c' -o -mindepth 2 -name 'test_*.sh' | sort)
listed=$(tests/tiers.sh | sed 's|^[a-z]*/||' | sort)
report "every test is in exactly one tier" "$([ "$files" = "$listed" ]; echo $?)" "$(diff <(echo "$files") <(echo "$listed"))"
others=$(tests/tiers.sh | grep -vE '^(check|test|all)/')
report "there is no other tier" "$([ -z "$others" ]; echo $?)" "$others"
gone=$(awk '!/^#/ { print $3 }' tests/times.txt | while read -r path; do [ -f "$path" ] || echo "$path"; done)
report "every recorded time is of a test that exists" "$([ -z "$gone" ]; echo $?)" "$gone"

unplaced=$(tests/cluster/planted.sh --places)
report "every planted fault finds its line" $? "$unplaced"

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/tests/unit"
cp tests/tiers.sh "$tree/tests/"
touch "$tree"/tests/unit/test_{new,slow,slowest}.c "$tree/tests/unit/test_new.sh"
printf '// Tier: all\n' >"$tree/tests/unit/test_tagged.c"
printf '1.50 4.00 tests/unit/test_slow.c\n20.00 20.00 tests/unit/test_slowest.c\n' >"$tree/tests/times.txt"
now=$("$tree/tests/tiers.sh" | tr '\n' ' ')
wanted="all/tests/unit/test_slowest.c test/tests/unit/test_slow.c check/tests/unit/test_new.c all/tests/unit/test_tagged.c test/tests/unit/test_new.sh "
report "a time or a tag moves a test, and the slowest come first" "$([ "$now" = "$wanted" ]; echo $?)" "$now"
exit $failed
