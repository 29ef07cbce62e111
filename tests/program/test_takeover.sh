#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: a service whose thread never comes back from its library costs no session a tick, another thread serves soon, the
# old one uses no processor time, and SIGTERM ends the server all the same. Method: hang.c, a shared object that is loaded
# before libwebsockets and loops in one of its functions while a file is there.
set -u
. "$(dirname "$0")/setup.sh"
scene=$scenes/spacewar.yaml
if nm "$build/libfoliot.a" 2>/dev/null | grep -qE '__(asan|tsan|ubsan)_'; then
    echo "skip: a sanitizer's library wants to be loaded first"
    exit 0
fi
${CC:-cc} -shared -fPIC -O1 -o libwebsockets_hang.so "$root/tests/program/hang.c" -ldl || echo "not ok - the fault cannot be compiled"
export HANG_FILE=$work/hang
fault=$work/libwebsockets_hang.so
hosts() { LD_PRELOAD=$fault start "$scene" --port 0 --no-record --http 127.0.0.1:0 --admin-socket "$work/admin" "$@"; }
http_port() { sed -n 's/^http on .*:\([0-9]*\)$/\1/p' server.out; }
alive() { [ "$(curl -s -m 2 "$url/livez")" = ok ]; }
metric() { curl -s -m 5 "$url/metrics" | awk -v name="$1" '$1 == name { print $2 }'; }
restarted() { [ "$(metric "$1")" = "$2" ]; }
hang() { # URL: of a request that never returns
    touch "$HANG_FILE"
    curl -s -m 1 "$1" >/dev/null
}
plays() { "$client" "127.0.0.1:$port" --bot idle --ticks 30 >client.out 2>&1; }
cpu() { awk '{ print $14 + $15 }' "/proc/$server_pid/stat"; } # hundredths of a second

hosts
url=http://127.0.0.1:$(http_port)
ok "the service answers" eventually alive
hang "$url/livez"
ok "then it does not" sh -c "! curl -s -m 1 $url/livez"
ok "and a client joins and plays all the same" plays
rm "$HANG_FILE"
ok "another thread has taken over" eventually alive
ok "which is counted" eventually restarted foliot_http_restarts_total 1
ok "and logged" logged 'thread hung'
ok "the Unix socket is served again, too" test "$(curl -s -m 10 --unix-socket "$work/admin" http://localhost/livez)" = ok
before=$(cpu)
sleep 2
after=$(cpu)
ok "the old thread uses no processor time: $((after - before)) of 200" test $((after - before)) -lt 120
hang "$url/livez"
rm "$HANG_FILE"
ok "it takes over once more" eventually alive
ok "which is counted, too" eventually restarted foliot_http_restarts_total 2
ok "and clients play" plays

hang "$url/livez" &
pids="$pids $!"
eventually test -e "$HANG_FILE"
sleep 0.3 # until the request is there: without it the server would end as ever
kill -TERM $server_pid
ok "SIGTERM ends a server whose service hangs" eventually gone $server_pid
wait $server_pid
ok "in order: exit code 0" test $? = 0
ok "with its counters" grep -q '^ticks' server.out
ok "and without its socket" test ! -e "$work/admin"
rm -f "$HANG_FILE"

# A thread that may hold a lock is not stopped.
mv libwebsockets_hang.so libother_hang.so
fault=$work/libother_hang.so
: >server.log
hosts
url=http://127.0.0.1:$(http_port)
ok "a service as ever" eventually alive
hang "$url/livez"
ok "one that hangs elsewhere is not replaced, which is logged" logged 'cannot be stopped'
ok "clients play" plays
kill -TERM $server_pid
ok "and SIGTERM ends the server" eventually gone $server_pid
wait $server_pid
ok "in order, too" test $? = 0
