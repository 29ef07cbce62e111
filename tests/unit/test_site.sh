#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tier: all
# test_site.sh: the site of `make site` has every page of the tree, a page and a place for every public function, a search
# that knows them, and no dead link; a page with a dead link is an error.
set -u
cd "$(dirname "$0")/../.." || exit 1
command -v mkdocs >/dev/null || { echo "skip: mkdocs is not installed"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
report() { # NAME STATUS
    if [ "$2" = 0 ]; then echo "ok - $1"; else echo "not ok - $1"; failed=1; fi
}
failed=0
scripts/site.py "$work/site" >"$work/out" 2>&1
status=$?
[ $status = 0 ] || sed 's/^/  /' "$work/out"
report "the site is built, and its links lead somewhere" $status
html=$work/site/html
missing=
for page in *.md $(find docs games -name '*.md'); do
    built=${page%.md}.html
    [ -s "$html/$(sed 's/README.html$/index.html/' <<<"$built")" ] || missing="$missing $page"
done
report "every page is in it:${missing:- none is missing}" "$([ -z "$missing" ]; echo $?)"
missing=
for name in $(sed -nE 's/^[a-z].*[ *](foliot_[a-z0-9_]+)\(.*/\1/p' include/foliot/*.h | sort -u); do
    grep -qrF "id=\"$name\"" "$html/docs/reference/api" || missing="$missing $name"
done
report "every public function has a place:${missing:- none is missing}" "$([ -z "$missing" ]; echo $?)"
report "the search knows foliot_world_step" "$(grep -q '"docs/reference/api/world.html#foliot_world_step"' "$html/search/search_index.json"; echo $?)"
report "a list is a list" "$(! find "$html" -name '*.html' -exec perl -0777 -ne 'print "$ARGV\n" if /<p>[^<]*\n[*-] /' {} + | grep .; echo $?)"

mkdir "$work/tree"
cp -r scripts include docs games ./*.md "$work/tree"
for file in $(grep -ohE '\]\([^):# ]+' README.md | sed 's/](//' | grep '/'); do
    [ -e "$work/tree/$file" ] || { mkdir -p "$work/tree/$(dirname "$file")"; cp -r "$file" "$work/tree/$file"; }
done
echo 'See [there](nowhere.md) and [here](docs/GLOSSARY.md#nowhere).' >>"$work/tree/README.md"
"$work/tree/scripts/site.py" "$work/other" >"$work/out" 2>&1
report "dead links are errors" "$([ $? = 1 ] && grep -q '^index.html: leads nowhere: nowhere.md' "$work/out" &&
    grep -q '^index.html: no such place: docs/GLOSSARY.html#nowhere' "$work/out"; echo $?)"
exit $failed
