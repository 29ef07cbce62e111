#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: what the packaged systemd unit refuses, the server does not need: with tokens, the admin API and pages for browsers on
# every interface, and with its own sandbox. Method: the unit's filter of system calls, set without systemd (in_unit.c).
set -u
. "$(dirname "$0")/setup.sh"
command -v systemd-analyze >/dev/null && command -v python3 >/dev/null || { echo "skip: no systemd-analyze or python3 here"; exit 0; }
if nm -D "$server" | grep -qE '__(asan|tsan|ubsan)_'; then
    echo "skip: sanitizers call what the unit refuses"
    exit 0
fi
systemd-analyze syscall-filter 2>/dev/null | python3 "$root/tests/program/unit_filter.py" "$root/deploy/systemd/foliot-server@.service" >filter
ok "the unit's filter is read" test "$(sed -n 2p filter | tr ',' '\n' | wc -l)" -gt 100
${CC:-gcc} -D_GNU_SOURCE "$root/tests/program/in_unit.c" -o in_unit -lseccomp
real=$server
printf '#!/bin/sh\nexec "%s" "%s" "%s" "%s" "$@"\n' "$PWD/in_unit" "$(sed -n 1p filter)" "$(sed -n 2p filter)" "$real" >unit
chmod +x unit
server=$PWD/unit
ok "what it refuses is refused" sh -c '! ./in_unit "$(sed -n 1p filter)" "$(sed -n 2p filter)" /usr/bin/chroot / /bin/true 2>/dev/null'

# As systemd hands a credential over: its mode shows the access list's mask.
mkdir credentials
"$build/foliotctl" key credentials/key
chmod 440 credentials/key && chmod 500 credentials
cp credentials/key arena.key && chmod 600 arena.key
mkdir state
start "$scenes/spacewar.yaml" --port 0 --bind 0.0.0.0 --key credentials/key --resume-all state --admin-socket ./socket --web 0.0.0.0:0 --drain-seconds 1
ok "the server starts" test -n "${port:-}"
[ -n "${port:-}" ] || { cat server.log; exit 1; }
if grep -q '^foliot-server: no sandbox' server.log; then
    echo "skip: $(cat server.log)"
else
    ok "with its sandbox" grep -q '^sandbox: system calls' server.out
    # Landlock is known here without the unit's filter, too.
    "$real" "$scenes/pendulum.yaml" --port 0 --no-record --ticks 1 >alone.out 2>&1
    ok "which is the same as without the unit" test "$(grep '^sandbox' server.out)" = "$(grep '^sandbox' alone.out)"
fi
ok "the admin API answers" sh -c 'curl -sS -m 10 --unix-socket socket http://localhost/v1/server | grep -q sessions'
ok "and its socket is the owner's" test "$(stat -c %a socket)" = 600
own=$(python3 -c 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(("192.0.2.1", 9)); print(s.getsockname()[0])' 2>/dev/null)
if [ -n "$own" ]; then
    ok "the page's address is one of this machine, not the loopback" grep -qE "^(in a browser: http://|web: listening on )$own:" server.out
    "$build/foliotctl" token --key arena.key --server "$own:$port" >own.token
    ok "a token for that address is good" timeout 20 "$client" "$own:$port" --token own.token --bot random --ticks 30 --json
else
    echo "skip: this machine has no address but the loopback"
fi
stop
ok "it drains in order" test $? = 0
ok "and its recording goes on" sh -c "timeout 20 ./unit --port 0 --resume-all state --ticks 30 >again.out 2>&1 && grep -q '^resumed at tick' again.out"
