#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# install-deps.sh GROUP: installs the Debian packages of a group that are missing; quick when none is. With DEPS=no it
# installs nothing and names what is missing.
set -eu
packages_of() { # GROUP
    case $1 in
    build) echo "gcc libc6-dev pkg-config libuv1-dev libenet-dev libmsgpack-dev libyaml-dev libxxhash-dev libncurses-dev libsodium-dev libzstd-dev liblua5.4-dev libwebsockets-dev libcurl4-openssl-dev libqrencode-dev libseccomp-dev libutf8proc-dev libssl-dev libusrsctp-dev" ;;
    test) echo "zstd libcmocka-dev curl openssl perl python3 python3-yaml" ;;
    format) echo "clang-format-14" ;;
    clang) echo "clang" ;;
    prometheus) echo "prometheus" ;;
    valgrind) echo "valgrind" ;;
    package) echo "g++ cmake zsh" ;;
    deb) echo "build-essential debhelper dpkg-dev fakeroot lintian debootstrap curl zsh" ;;
    deploy) echo "slurm-wlm munge parallel python3 python3-yaml systemd" ;;
    manifests) echo "nodejs $(command -v npm >/dev/null || echo npm)" ;;
    image) echo "buildah debootstrap python3" ;;
    fuzz) echo "clang libclang-rt-14-dev llvm-14" ;;
    web) echo "clang-19 lld-19 libclang-rt-19-dev-wasm32 wasi-libc libxxhash-dev nodejs esbuild xz-utils" ;;
    npm) echo "nodejs $(command -v npm >/dev/null || echo npm)" ;; # other packages of node bring npm along
    web-test) echo "chromium firefox-esr nodejs $(command -v npm >/dev/null || echo npm)" ;;
    site) echo "mkdocs python3" ;;
    bench) echo "python3 g++ libbullet-dev libode-dev libboost-dev xz-utils" ;;
    matrix-short)
        echo "clang lld libxxhash-dev gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross wasi-libc libclang-rt-14-dev-wasm32 clang-19 lld-19 libclang-rt-19-dev-wasm32 nodejs"
        ;;
    matrix)
        packages_of matrix-short
        echo "gcc-arm-linux-gnueabihf libc6-dev-armhf-cross gcc-arm-linux-gnueabi libc6-dev-armel-cross
            gcc-riscv64-linux-gnu libc6-dev-riscv64-cross gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross
            gcc-powerpc64-linux-gnu libc6-dev-ppc64-cross gcc-powerpc-linux-gnu libc6-dev-powerpc-cross
            gcc-mips64el-linux-gnuabi64 libc6-dev-mips64el-cross gcc-mips-linux-gnu libc6-dev-mips-cross
            gcc-sparc64-linux-gnu libc6-dev-sparc64-cross gcc-hppa-linux-gnu libc6-dev-hppa-cross
            gcc-i686-linux-gnu libc6-dev-i386-cross"
        ;;
    *)
        echo "install-deps.sh: no group '$1'" >&2
        exit 2
        ;;
    esac
}
: "${1:?group}"
packages=$(for group in "$@"; do packages_of "$group"; done)
missing=""
for package in $packages; do
    case "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)" in
    installed) ;;
    *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0
if [ "${DEPS:-}" = no ]; then
    echo "missing packages:$missing" >&2
    exit 1
fi
as_root=""
if [ "$(id -u)" != 0 ]; then
    as_root="sudo"
    command -v sudo >/dev/null || {
        echo "missing packages:$missing; install them as root: apt-get install$missing" >&2
        exit 1
    }
fi
echo "installing:$missing" >&2
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() { $as_root apt-get -q -o DPkg::Lock::Timeout=600 "$@" </dev/null >>"$log" 2>&1; }
# shellcheck disable=SC2086 # one word a package
install() { apt install -y --no-install-recommends $missing; }
install || { apt update && install; } || {
    cat "$log" >&2
    exit 1
}
