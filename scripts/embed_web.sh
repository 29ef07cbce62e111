#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# embed_web.sh FOLDER OUT.c: writes a table of the files in FOLDER, gzipped, for foliot-server; an empty one where there
# is no FOLDER. OUT.c changes with every byte of a file.
set -eu
folder=$1 out=$2
packed=$(dirname "$out")/web-packed
mkdir -p "$packed"
type_of() { # NAME
    case $1 in
    *.html) echo "text/html; charset=utf-8" ;;
    *.js | *.mjs) echo "text/javascript; charset=utf-8" ;;
    *.css) echo "text/css; charset=utf-8" ;;
    *.json) echo "application/json" ;;
    *.yaml | *.csv) echo "text/plain; charset=utf-8" ;;
    *.wasm) echo "application/wasm" ;;
    *.svg) echo "image/svg+xml" ;;
    *.png) echo "image/png" ;;
    *) echo "application/octet-stream" ;;
    esac
}
{
    echo "// Written by scripts/embed_web.sh."
    echo '#include "web/web.h"'
    table=""
    number=0
    while IFS= read -r file; do
        [ -n "$file" ] || continue
        name=${file#"$folder"/}
        tag=$(sha256sum "$file" | cut -c 1-16)
        [ -e "$packed/$tag" ] || gzip -9nc "$file" >"$packed/$tag"
        number=$((number + 1))
        printf '__asm__(".section .rodata\\n.balign 16\\nweb_%d:\\n.incbin \\"%s\\"\\nweb_%d_end:\\n.byte 0\\n.previous\\n");\n' \
            "$number" "$packed/$tag" "$number"
        printf 'extern const unsigned char web_%d[] __attribute__((visibility("hidden")));\n' "$number"
        entry=$(printf '"%s", web_%d, %d, true, "\\"%s\\""},' "$(type_of "$name")" "$number" \
            "$(stat -c %s "$packed/$tag")" "$tag")
        table="$table    {\"/$name\", $entry
"
        [ "$name" != index.html ] || table="$table    {\"/\", $entry
"
    done <<EOF
$([ ! -d "$folder" ] || find "$folder" -type f -not -name '.*' | LC_ALL=C sort)
EOF
    printf 'const foliot__http_file foliot__web_embedded[] = {\n%s    {0}};\n' "$table"
} >"$out.new"
mv "$out.new" "$out"
