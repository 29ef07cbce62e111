#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# test_pages.sh: the manual pages and options.md in the tree are those that `make pages` writes from the templates and
# the options of the programs. groff, where there is one, finds no fault in a page; bash and zsh accept the completion.
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

report "pages are written" "$(scripts/pages.sh "$build" "$work" 2>&1)"
for page in "$work"/man/*.1 "$work/reference/options.md"; do
    page=${page#"$work/"}
    report "docs/$page is what 'make pages' writes" "$(diff -u "docs/$page" "$work/$page" 2>&1 | head -n 20)"
done
for program in "$build"/foliot-* "$build/foliotctl"; do
    [ -x "$program" ] && [ ! -d "$program" ] || continue
    name=$(basename "$program")
    if command -v groff >/dev/null && [ -f "$work/man/$name.1" ]; then
        report "groff accepts the page of $name" "$(groff -Tutf8 -wall -mandoc "$work/man/$name.1" 2>&1 >/dev/null)"
    fi
    for shell in bash zsh; do
        command -v $shell >/dev/null || continue
        "$program" --help-page $shell >"$work/$shell"
        report "$shell accepts the completion of $name" "$($shell -n "$work/$shell" 2>&1)"
    done
done
exit $failed
