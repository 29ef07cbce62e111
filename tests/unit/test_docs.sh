#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# test_docs.sh: pages name only links, paths, options and public functions that exist. docs_check.pl reads the pages; a
# page with one mistake of each kind shows that it finds them. Their prose: tests/tidy/pages.py.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# report NAME PROBLEMS
report() {
    if [ -z "$2" ]; then
        echo "ok - $1"
    else
        echo "not ok - $1"
        echo "$2" | sed 's/^/  /'
        failed=1
    fi
}

for program in server client replay lab; do
    [ -x "$build/foliot-$program" ] || continue
    "$build/foliot-$program" --help
    for command in $("$build/foliot-$program" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]\+\) .*/\1/p'); do
        "$build/foliot-$program" "$command" --help
    done
done >"$work/help"

mapfile -t pages < <(find ./*.md docs -name '*.md' | sed 's|^\./||' | sort)
report "there are pages" "$([ "${#pages[@]}" -ge 20 ] || echo "only ${#pages[@]}")"
for page in "${pages[@]}"; do
    report "$page" "$(perl tests/unit/docs_check.pl . "$work/help" "$page")"
done
report "every page is in the list of docs/README.md" "$(for page in "${pages[@]}"; do
    case $page in docs/README.md | docs/*) ;; *) continue ;; esac
    [ "$page" = docs/README.md ] || grep -qF "(${page#docs/})" docs/README.md || echo "$page"
done)"

picture=docs/images/game.png
report "README opens with a picture that moves, below 1 MB" "$(grep -qF "]($picture)" <(head -n 12 README.md) || echo "not at the top"
    grep -aq acTL $picture || echo "does not move"
    [ "$(wc -c <$picture)" -lt 1000000 ] || echo "too large")"

# finds NAME TEXT PROBLEM: a page with TEXT has PROBLEM and no other.
finds() {
    printf '# A page\n\nThis page is for a test.\n\n%s\n' "$2" >"$work/page.md"
    local found
    found=$(perl tests/unit/docs_check.pl "$work" "$work/help" page.md)
    report "finds $1" "$(grep -qE "$3" <<<"$found" && [ "$(wc -l <<<"$found")" = 1 ] || echo "found: $found")"
}
mkdir -p "$work/include/foliot"
echo 'int foliot_known(void);' >"$work/include/foliot/x.h"
finds "a dead link" 'See [there](nowhere.md).' 'leads nowhere: nowhere.md'
finds "a dead anchor" 'See [there](#nowhere).' 'no such place: #nowhere'
finds "a path that is not there" 'See `common/nowhere.c`.' 'no such path: common/nowhere.c'
finds "a header that is not there" 'See `foliot/nowhere.h`.' 'no such header: nowhere.h'
finds "a function that is not there" 'Call `foliot_unknown`, not `foliot_known`.' 'no such name: foliot_unknown'
echo '  --known' >>"$work/help"
finds "an option that is not there" 'Type foliot-lab --known --unknown-option.' 'no such option: --unknown-option'
exit $failed
