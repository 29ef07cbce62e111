#!/usr/bin/env bash
# install-deps.sh GROUP: installs the Debian packages of that group that are missing; quick when none is.
set -eu
case "${1:?group}" in
build) packages="gcc libc6-dev pkg-config libuv1-dev libenet-dev libmsgpack-dev libyaml-dev libxxhash-dev libncurses-dev" ;;
test) packages="libcmocka-dev clang valgrind xz-utils" ;;
fuzz) packages="clang libclang-rt-14-dev llvm-14" ;;
bench) packages="g++ libbullet-dev libode-dev libboost-dev xz-utils" ;;
matrix-short) packages="clang lld gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user-static wasi-libc libclang-rt-14-dev-wasm32" ;;
matrix)
    "$0" matrix-short
    packages="gcc-arm-linux-gnueabihf gcc-arm-linux-gnueabi gcc-riscv64-linux-gnu gcc-powerpc64le-linux-gnu
        gcc-powerpc64-linux-gnu gcc-powerpc-linux-gnu gcc-mips64el-linux-gnuabi64 gcc-mips-linux-gnu
        gcc-sparc64-linux-gnu gcc-hppa-linux-gnu gcc-i686-linux-gnu"
    ;;
*)
    echo "install-deps.sh: no group '$1'" >&2
    exit 2
    ;;
esac
missing=""
for package in $packages; do
    case "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)" in
    installed) ;;
    *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0
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
install() {
    # shellcheck disable=SC2086 # one word a package
    $as_root apt-get -o DPkg::Lock::Timeout=600 install -y -q --no-install-recommends $missing </dev/null >&2
}
install || { $as_root apt-get -o DPkg::Lock::Timeout=600 update -q >&2 && install; }
