#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# debian-sources.sh FOLDER: puts the C sources of libyaml and of zstd's decoder into FOLDER/libyaml and FOLDER/zstd, for
# the modules in WebAssembly: Debian has these libraries for the machine alone. They are the source packages of
# Debian 12, which apt fetches and checks; the digests here make sure that every build has the same bytes.
# With WEB_SOURCES=PATH the two archives are taken from that folder, and nothing is fetched.
set -eu
out=${1:?folder}
libyaml=libyaml_0.2.5.orig.tar.gz libyaml_version=0.2.5-1
libyaml_sha256=fa240dbf262be053f3898006d502d514936c818e422afdcf33921c63bed9bf2e
zstd=libzstd_1.5.4+dfsg2.orig.tar.xz zstd_version=1.5.4+dfsg2-5
zstd_sha256=8cf4bbb65e77ec348d052c8d6230eba66d435bddf64c8b5be2fcb16880c19953
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d "$out/.fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Separate lists, next to the machine's: those seldom have source packages, and only root may change them.
fetch() {
    mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
    uri=$(apt-get indextargets --format '$(REPO_URI) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
        awk '$2 == "main" && $1 ~ /\/debian\/?$/ { print $1; exit }')
    cat >"$work/debian.sources" <<EOF
Types: deb-src
URIs: ${uri:-http://deb.debian.org/debian}
Suites: bookworm
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
EOF
    apt() {
        (cd "$work" && apt-get -q -o Dir::Etc::sourcelist="$work/debian.sources" -o Dir::Etc::sourceparts=/dev/null \
            -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" -o APT::Sandbox::User= \
            -o Acquire::Languages=none -o Acquire::Retries=2 "$@" </dev/null) >>"$work/log" 2>&1
    }
    echo "fetching the sources of libyaml and zstd" >&2
    apt update && apt --download-only source "libyaml=$libyaml_version" "libzstd=$zstd_version" || {
        cat "$work/log" >&2
        echo "debian-sources.sh: the sources of libyaml and zstd cannot be fetched; WEB_SOURCES=FOLDER names a folder" \
            "that has $libyaml and $zstd" >&2
        exit 1
    }
}
unpack() { # ARCHIVE SHA256 NAME PATHS...
    archive=$1 sha256=$2 name=$3
    shift 3
    echo "$sha256  $from/$archive" | sha256sum --check --quiet - || {
        echo "debian-sources.sh: $from/$archive is another file than the one that this build is for" >&2
        exit 1
    }
    mkdir "$work/$name"
    tar --no-same-owner --strip-components=1 -xf "$from/$archive" -C "$work/$name" --wildcards "$@"
    rm -rf "${out:?}/$name"
    mv "$work/$name" "$out/$name"
}
from=${WEB_SOURCES:-}
[ -n "$from" ] || { fetch && from=$work; }
unpack "$libyaml" "$libyaml_sha256" libyaml '*/src/*.[ch]' '*/include/yaml.h' '*/License'
unpack "$zstd" "$zstd_sha256" zstd '*/lib/common/*.[ch]' '*/lib/decompress/*.[ch]' '*/lib/zstd*.h' '*/LICENSE'
