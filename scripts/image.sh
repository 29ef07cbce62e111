#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# image.sh BUILD [NAME]: builds the container image of deploy/container/Containerfile by buildah, NAME
# (localhost/foliot) and BUILD/image/oci. Its base is made here by debootstrap from Debian's mirror: no registry is
# needed. As root; without overlay file systems and user namespaces too.
set -eu
cd "$(dirname "$0")/.."
build=${1:?build folder} name=${2:-localhost/foliot}
mkdir -p "$build"
out=$(cd "$build" && pwd)/image
mkdir -p "$out"
export STORAGE_DRIVER=${STORAGE_DRIVER:-vfs} BUILDAH_ISOLATION=${BUILDAH_ISOLATION:-chroot}
b() { buildah --root "$out/storage" --runroot "$out/run" "$@"; }

# The base: what Debian calls slim, without pages that nobody reads in a container.
if ! b images --format '{{.Name}}' 2>/dev/null | grep -qx localhost/foliot-base; then
    mirror=$(sed -n 's/^ *\(deb\|URIs:\) .*\(https\?:[^ ]*\).*/\2/p; s/^URIs: *//p' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
        grep -v security | head -n 1)
    rm -rf "$out/root"
    debootstrap --variant=minbase --include=ca-certificates bookworm "$out/root" "${mirror:-http://deb.debian.org/debian}" >"$out/debootstrap.log" 2>&1 ||
        { tail -n 5 "$out/debootstrap.log" >&2; exit 1; }
    cp /etc/apt/sources.list "$out/root/etc/apt/" 2>/dev/null || true
    cp -r /etc/apt/sources.list.d /etc/apt/apt.conf.d "$out/root/etc/apt/" 2>/dev/null || true
    rm -rf "$out/root"/var/lib/apt/lists/* "$out/root"/var/cache/apt/*.bin "$out/root"/usr/share/doc/* "$out/root"/usr/share/man/*
    base=$(b from scratch)
    b add "$base" "$out/root" / >/dev/null
    b config --cmd /bin/bash "$base"
    b commit --rm "$base" localhost/foliot-base >/dev/null
    rm -rf "$out/root"
fi
# The files that git tracks, and nothing that was built.
rm -rf "$out/source" "$out/oci"
mkdir "$out/source"
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files -z --cached --others --exclude-standard | xargs -0 sh -c 'for f; do [ -e "$f" ] && printf "%s\0" "$f"; done' sh |
        tar --null -T - -cf - | tar -xf - -C "$out/source"
else
    tar -cf - --exclude="./$build" --exclude=./build . | tar -xf - -C "$out/source"
fi
b build --pull-never --build-arg BASE=localhost/foliot-base -f deploy/container/Containerfile -t "$name" "$out/source"
b push "$name" "oci:$out/oci:latest" >/dev/null
echo "image: $out/oci"
