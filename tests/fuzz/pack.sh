#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pack.sh NAME FILE...: adds inputs to the corpus of fuzz_NAME, tests/fuzz/corpus/NAME.tar, under their own names. An
# input of the same name is replaced, one of the same bytes left out. The archive depends on nothing but its inputs.
set -eu
archive=$(dirname "$0")/corpus/${1:?a corpus}.tar
shift
inputs=$(mktemp -d)
trap 'rm -r "$inputs"' EXIT
if [ -f "$archive" ]; then tar -C "$inputs" -xf "$archive"; fi
if [ $# != 0 ]; then cp -- "$@" "$inputs"; fi
(cd "$inputs" && md5sum -- * | sort | awk 'known[$1]++ { print $2 }' | xargs -r rm --)
tar -C "$inputs" -cf "$archive" -b 1 --format=ustar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner \
    --mode=644 --transform='s,^\./,,' --no-recursion $(cd "$inputs" && LC_ALL=C ls)
tar -tf "$archive" | wc -l
