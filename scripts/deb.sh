#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# deb.sh BUILD VERSION: builds the four Debian packages of packaging/debian into BUILD/deb, from the files that git tracks or,
# without git, from all but BUILD. lintian's errors are errors.
set -eu
cd "$(dirname "$0")/.."
build=${1:?build folder} version=${2:?version}
mkdir -p "$build"
out=$(cd "$build" && pwd)/deb
tree=$out/foliot-$version
rm -rf "$out"
mkdir -p "$tree"
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files -z --cached --others --exclude-standard | xargs -0 sh -c 'for f; do [ -e "$f" ] && printf "%s\0" "$f"; done' sh |
        tar --null -T - -cf - | tar -xf - -C "$tree"
else
    tar -cf - --exclude="./$build" --exclude=./build . | tar -xf - -C "$tree"
fi
cp -r packaging/debian "$tree/debian"
scripts/debian-sources.sh "$tree/debian/web-sources" # for the pages
date=$(date -R -d "@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}")
cat >"$tree/debian/changelog" <<E2
foliot ($version) unstable; urgency=medium

  * See CHANGELOG.md.

 -- The foliot authors <foliot@example.org>  $date
E2
cd "$tree"
dpkg-buildpackage -us -uc -b -j"${JOBS:-$(nproc)}" >"$out/build.log" 2>&1 || {
    tail -n 40 "$out/build.log" >&2
    exit 1
}
cd "$out"
ls -- *.deb
lintian --tag-display-limit 0 --fail-on error --suppress-tags "${LINTIAN_SUPPRESS:-bad-distribution-in-changes-file}" foliot_*.changes
