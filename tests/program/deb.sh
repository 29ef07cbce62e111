#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# deb.sh: of `make nightly`. The four Debian packages in a clean chroot of bookworm: installed, run, removed, purged; nothing but
# recordings stays. Needs root and Debian's mirror.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$(cd "${BUILD:-build}" && pwd)
[ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null || { echo "skip: no root, or no debootstrap"; exit 0; }
ls "$build"/deb/*.deb >/dev/null 2>&1 || { echo "not ok - there are no packages: make deb"; exit 1; }
work=$(mktemp -d)
root=$work/root
cleanup() {
    for m in proc dev/null; do mountpoint -q "$root/$m" && umount "$root/$m"; done
    mountpoint -q "$root/proc" || rm -rf "$work"
}
trap cleanup EXIT
ok() { # NAME CONDITION...
    local name=$1
    shift
    if "$@" >"$work/out" 2>&1; then echo "ok - $name"; else echo "not ok - $name"; tail -n 15 "$work/out"; fi
}
mirror=$(sed -n 's/^ *\(deb\|URIs:\) .*\(https\?:[^ ]*\).*/\2/p; s/^URIs: *//p' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -v security | head -n 1)
debootstrap --variant=minbase bookworm "$root" "${mirror:-http://deb.debian.org/debian}" >"$work/log" 2>&1 || { echo "skip: no chroot of bookworm here: $(tail -n 1 "$work/log")"; exit 0; }
cp /etc/apt/sources.list "$root/etc/apt/" 2>/dev/null
cp -r /etc/apt/sources.list.d /etc/apt/apt.conf.d "$root/etc/apt/" 2>/dev/null
cp /etc/resolv.conf "$root/etc/" 2>/dev/null
in_root() { DEBIAN_FRONTEND=noninteractive LC_ALL=C chroot "$root" "$@"; }
in_root dpkg-query -W -f '${Package}\n' | sort >"$work/packages"
(cd "$root" && find etc usr lib var/lib -not -path '*/apt/*' -not -path '*/dpkg/*' | sort) >"$work/before"
mkdir "$root/debs"
cp "$build"/deb/*.deb "$root/debs"
in_root apt-get update >/dev/null 2>&1
ok "the packages are installed, with what they need" in_root sh -c 'apt-get install -y --no-install-recommends /debs/libfoliot0_*.deb /debs/libfoliot-dev_*.deb /debs/foliot-server_*.deb /debs/foliot-tools_*.deb'
ok "the server hosts and records" in_root sh -c 'cd /tmp && timeout 20 foliot-server /usr/share/foliot/scenes/pendulum.yaml --port 0 --ticks 30 --record a.foliot'
ok "the recording verifies" in_root foliot-replay verify /tmp/a.foliot
# With its pages for browsers.
chroot "$root" sh -c 'cd /tmp && exec foliot-server /usr/share/foliot/scenes/pendulum.yaml --port 0 --no-record --web 0' >"$work/web.out" 2>&1 &
web=$!
for _ in $(seq 100); do grep -q '^in a browser' "$work/web.out" && break; sleep 0.1; done
page=$(sed -n 's|^in a browser: \(http://[^ /]*\).*|\1|p' "$work/web.out")
ok "the server has its page for browsers" sh -c "curl -sS --compressed $page/ | grep -q '<script'"
ok "and what the page loads" sh -c "test \"\$(curl -sS -o /dev/null -w '%{http_code} %{size_download}' $page/viewer.wasm | awk '{ print (\$1 == 200 && \$2 > 10000) }')\" = 1"
kill $web
wait $web 2>/dev/null
ok "the lab runs" in_root foliot-lab integrators
ok "the unit and its example are there" test -f "$root/lib/systemd/system/foliot-server@.service" -a -f "$root/etc/foliot/example.conf"
ok "no service was started or enabled" sh -c "! ls '$root'/etc/systemd/system/*/foliot* 2>/dev/null"
ok "the shared library is found" in_root sh -c 'ldconfig -p | grep -q libfoliot.so.0'
mkdir -p "$root/var/lib/foliot/main"
cp "$root/tmp/a.foliot" "$root/var/lib/foliot/main/"
ok "the packages are removed" in_root apt-get remove -y libfoliot0 libfoliot-dev foliot-server foliot-tools
ok "the configuration stays" test -f "$root/etc/foliot/example.conf"
ok "and purged" in_root dpkg --purge foliot-server foliot-tools libfoliot0 libfoliot-dev
ok "then the configuration is gone" test ! -e "$root/etc/foliot"
ok "and recordings are not" test -f "$root/var/lib/foliot/main/a.foliot"
in_root apt-get autoremove --purge -y >/dev/null 2>&1
(cd "$root" && find etc usr lib var/lib -not -path '*/apt/*' -not -path '*/dpkg/*' | sort) >"$work/after"
ok "nothing of foliot is left" sh -c "! comm -13 '$work/before' '$work/after' | grep -v '^var/lib/foliot' | grep foliot"
