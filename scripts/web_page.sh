#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# web_page.sh SOURCE OUT: a file of web/page as it is served. Scripts and styles lose comments and blanks, each by itself:
# what is imported keeps its name, and is loaded when it is wanted.
set -eu -o pipefail
source=$1 out=$2
mkdir -p "$(dirname "$out")"
case $source in
*.js) esbuild --minify --format=esm --target=es2020 --log-level=warning --banner:js='// SPDX-License-Identifier: MIT' "$source" |
    sed 's/^ *//' ;;
*.css) head -n 1 "$source" && esbuild --minify --loader=css --log-level=warning <"$source" ;;
*) cat "$source" ;;
esac >"$out.new"
mv "$out.new" "$out"
