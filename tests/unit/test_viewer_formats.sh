#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: no source of the page's viewer prints floating-point numbers by printf, whose small form in that module ends
# the page instead. Three files may: web/libc.c has another snprintf for them. Method: the build names the sources;
# each format in them is read. A source with such a format is planted and must be named.
set -u
cd "$(dirname "$0")/../.." || exit 1
ALLOWED='^(web/libc|common/base/json|common/base/text|common/command/command_print)\.c:'

formats() { # FILES...: lines with a conversion of a floating-point number
    grep -HnE '"[^"]*%[-+ #0-9.*]*[aefgAEFG][^"]*"' "$@"
}
sources=$(make -s --no-print-directory --eval='viewer-sources: ; @echo $(VIEWER_SOURCES)' viewer-sources)
case "$sources" in
*client/lib/shared/connection.c*) echo "ok - the build names the viewer's sources" ;;
*) echo "not ok - the build names the viewer's sources" ;;
esac
# shellcheck disable=SC2086 # one word each
found=$(formats $sources | grep -vE "$ALLOWED")
if [ -z "$found" ]; then
    echo "ok - none of them prints floating-point numbers"
else
    echo "not ok - none of them prints floating-point numbers"
    printf '%s\n' "$found"
fi
planted=$(mktemp)
trap 'rm -f "$planted"' EXIT
printf 'snprintf(text, sizeof text, "late by %%.1f s", seconds);\n' >"$planted"
if formats "$planted" >/dev/null; then
    echo "ok - a planted one is found"
else
    echo "not ok - a planted one is found"
fi
