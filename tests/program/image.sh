#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# image.sh: of `make nightly`. The container image, built from Debian's mirror alone (scripts/image.sh), is run: as a
# user that is not root, on a root file system that is read-only, with nothing to write but /recordings. Needs root and
# buildah.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$(mkdir -p "${BUILD:-build}" && cd "${BUILD:-build}" && pwd)
[ "$(id -u)" = 0 ] && command -v buildah >/dev/null && command -v debootstrap >/dev/null || { echo "skip: no root, buildah or debootstrap"; exit 0; }
work=$(mktemp -d)
export STORAGE_DRIVER=${STORAGE_DRIVER:-vfs} BUILDAH_ISOLATION=chroot
b() { buildah --root "$build/image/storage" --runroot "$build/image/run" "$@"; }
container= server=
cleanup() {
    [ -z "$server" ] || kill -9 "$server" 2>/dev/null
    [ -z "$container" ] || { umount "$work/root" 2>/dev/null; b umount "$container" >/dev/null; b rm "$container" >/dev/null; }
    rm -rf "$work"
}
trap cleanup EXIT
ok() { # NAME CONDITION...
    local name=$1
    shift
    if "$@" >"$work/out" 2>&1; then echo "ok - $name"; else echo "not ok - $name"; tail -n 15 "$work/out"; fi
}
if ! scripts/image.sh "$build" >"$work/build.log" 2>&1; then
    echo "not ok - the image is built"
    tail -n 15 "$work/build.log"
    exit 1
fi
echo "ok - the image is built"
config() { b inspect --type image localhost/foliot | python3 -c "import json, sys; print(json.load(sys.stdin)['OCIv1']['config'].get('$1'))"; }
ok "its user is not root" test "$(config User)" = 65532:65532
ok "it ends with SIGTERM" test "$(config StopSignal)" = SIGTERM
container=$(b from localhost/foliot)
mounted=$(b mount "$container")
ok "it has no compiler and no sources" sh -c "! ls '$mounted'/usr/bin/gcc '$mounted'/src 2>/dev/null"
# The folder as it would be run: read-only, but for a volume.
mkdir "$work/root" "$work/recordings"
chown 65532:65532 "$work/recordings"
run() { # ARGUMENT...: in a separate mount namespace, read-only but for the volume, as a user that is not root
    ${EXEC:-} unshare --mount --propagation private sh -c '
        mount --bind "$1" "$2" && mount -o remount,bind,ro "$2" && mount --bind "$3" "$2/recordings" && mount -t proc proc "$2/proc" || exit 99
        root=$2
        shift 3
        exec chroot --userspec=65532:65532 --groups= "$root" "$@"' sh "$mounted" "$work/root" "$work/recordings" "$@"
}
ok "nothing but the volume can be written" run /bin/sh -c '! touch /usr/x /tmp/x /x 2>/dev/null && touch /recordings/x && rm /recordings/x && test "$(id -u)" = 65532'
mapfile -t command < <(b inspect --type image localhost/foliot | python3 -c "
import json, sys
config = json.load(sys.stdin)['OCIv1']['config']
print('\n'.join(config['Entrypoint'] + config['Cmd']))")
EXEC=exec run "${command[@]}" --port=0 >"$work/server.out" 2>"$work/server.log" &
server=$!
for _ in $(seq 200); do grep -q '^listening' "$work/server.out" && break; kill -0 $server 2>/dev/null || break; sleep 0.1; done
ok "it serves, as its configuration says" grep -q '^listening' "$work/server.out"
sleep 1
kill -TERM $server # the shells were replaced: this is foliot-server
for _ in $(seq 150); do kill -0 $server 2>/dev/null || break; sleep 0.1; done
wait $server
ok "SIGTERM drains it, and it ends in order" test $? = 0
server=
cp "$work/server.out" "$work/server.log" "$build/image/"
ok "its recording is in the volume" sh -c "ls '$work'/recordings/*.foliot"
run "${command[@]}" --port=0 --ticks=30 >"$work/server.out" 2>&1
ok "the next start goes on with it, to its end" grep -q '^resumed at tick' "$work/server.out"
ok "and it verifies in the container" run /usr/bin/foliot-replay verify "/recordings/$(basename "$(ls "$work"/recordings/*.foliot)")"
