#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pages.sh BUILD FOLDER: writes the manual pages and reference/options.md to FOLDER, which is laid out as docs/. They are
# made of docs/man/NAME.1.in and docs/reference/options.md.in, and of what the programs in BUILD print of their tables:
# a line @SYNOPSIS@ or @OPTIONS@ of a manual page, and a line @NAME@ of options.md, name the places.
set -eu -o pipefail
build=${1:?build folder} folder=${2:?folder}
mkdir -p "$folder/man" "$folder/reference"

for template in docs/man/*.1.in; do
    name=$(basename "$template" .1.in)
    "$build/$name" --help-page mdoc | awk -v name="$name" '
        FILENAME == "-" { if (/^\.Sh (COMMANDS|OPTIONS)$/) rest = 1
                          if (rest) options = options $0 "\n"; else synopsis = synopsis $0 "\n"; next }
        FNR == 2 { print ".\\\" Written by `make pages` from " name ".1.in and the options of " name "." }
        $0 == "@SYNOPSIS@" { printf "%s", synopsis; next }
        $0 == "@OPTIONS@" { printf "%s", options; next }
        { print }' - "$template" >"$folder/man/$name.1.new"
    mv "$folder/man/$name.1.new" "$folder/man/$name.1"
done
while IFS= read -r line; do
    case $line in
    @*@) "$build/${line//@/}" --help-page markdown ;;
    *) printf '%s\n' "$line" ;;
    esac
done <docs/reference/options.md.in >"$folder/reference/options.md.new"
mv "$folder/reference/options.md.new" "$folder/reference/options.md"
