#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# install.sh: `make install` into an empty folder, then a program built against what was installed.
set -eu
cd "$(dirname "$0")/.."
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
make install PREFIX=/usr DESTDIR="$root" >/dev/null
cat >"$root/user.c" <<'C'
#include <foliot/foliot.h>
#include <stdio.h>
int main(void)
{
    const char *part = "";
    foliot_status status = foliot_self_test(&part);
    printf("%s %s %s\n", foliot_get_version(), foliot_status_get_name(status), part ? part : "");
    return status != FOLIOT_STATUS_OK;
}
C
export PKG_CONFIG_PATH=$root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
# shellcheck disable=SC2046 # one word an option
gcc -o "$root/shared" "$root/user.c" $(pkg-config --cflags --libs foliot)
LD_LIBRARY_PATH=$root/usr/lib "$root/shared"
# shellcheck disable=SC2046
gcc -o "$root/static" "$root/user.c" $(pkg-config --cflags foliot) "$root/usr/lib/libfoliot.a" -lyaml -lxxhash -lsodium -lzstd -lm -pthread
"$root/static"
# Every example against the installed copy; the one with a game of its own plays a match.
for example in examples/*.c; do
    # shellcheck disable=SC2046
    gcc -std=gnu11 -ffp-contract=off -o "$root/$(basename "$example" .c)" "$example" $(pkg-config --cflags --libs foliot)
done
LD_LIBRARY_PATH=$root/usr/lib "$root/lockstep" "$root/match.foliot"
for program in "$root"/usr/bin/foliot-*; do "$program" --version; done
