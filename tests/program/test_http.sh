#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: the HTTP service answers probes and Prometheus, refuses every malformed or foreign request with a status or by
# closing, and neither slow nor many connections keep others out. promtool checks the metrics where it is installed.
set -u
. "$(dirname "$0")/setup.sh"
scene=$scenes/spacewar.yaml
get() { curl -sS -m 10 "$@"; } # ARGUMENT...
http_port() { sed -n 's/^http on .*:\([0-9]*\)$/\1/p' server.out; }
answers() { # NAME STATUS: of the probe
    ok "$1: $2" grep -qxE "$1 ($2)" probe.out
}

exits "a port that is none" 2 'ADDRESS' "$server" "$scene" --port 0 --no-record --http 99999
exits "an address that is none" 2 'ADDRESS' "$server" "$scene" --port 0 --no-record --http example.com:80
exits "names without a port" 2 '\-\-http-host: it requires --http' "$server" "$scene" --port 0 --no-record --http-host a
start "$scene" --port 0 --no-record --http 0 --http-host game.example
http=$(http_port) url=http://127.0.0.1:$(http_port)
exits "a busy port" 75 "port $http on 127.0.0.1: Address already in use" "$server" "$scene" --port 0 --no-record --http "$http"

ok "alive" test "$(get "$url/livez")" = ok
ok "ready" test "$(get "$url/readyz")" = ok
ok "the name of --http-host" test "$(get -H 'Host: GAME.example:80' "$url/livez")" = ok
"$client" "127.0.0.1:$port" --bot idle --ticks 90 >/dev/null 2>&1
value() { awk -v name="$1" '$1 == name { print $2 }' metrics.out; }
counts() { # NAME MORE-THAN: the metrics, which are renewed every second, do
    get "$url/metrics" >metrics.out
    [ "$(value "$1")" -gt "$2" ] 2>/dev/null
}
eventually counts foliot_joins_total 0 && eventually counts foliot_ticks_total 60
ok "one join was counted" test "$(value foliot_joins_total)" = 1
ok "ticks" test "$(value foliot_ticks_total)" -gt 60
ok "as many durations" test "$(value foliot_tick_duration_seconds_count)" -gt 60
# A lateness is counted when a step begins, a tick when it has ended.
begun=$(($(value foliot_tick_lateness_seconds_count) - $(value foliot_ticks_total)))
ok "as many latenesses as ticks, or one step more" test "$begun" -ge 0 -a "$begun" -le 1
ok "their sum is in seconds" awk -v sum="$(value foliot_tick_lateness_seconds_sum)" -v count="$(value foliot_tick_lateness_seconds_count)" 'BEGIN { exit !(sum > 0 && sum < count) }'
ok "in buckets that grow" sh -c "grep '^foliot_tick_lateness_seconds_bucket' metrics.out | awk '{ if (\$2 < last) exit 1; last = \$2 }'"
ok "no name of a player" sh -c '! grep -qE "[{][^}]*(player|name)" metrics.out'
if command -v promtool >/dev/null; then
    ok "promtool finds nothing wrong" sh -c 'promtool check metrics <metrics.out >promtool.out 2>&1 && [ ! -s promtool.out ]'
fi
get -D headers.out -o /dev/null "$url/livez"
for header in 'x-content-type-options: nosniff' "content-security-policy: default-src 'none'" 'cache-control: no-store'; do
    ok "header $header" grep -q "^$header" headers.out
done

perl "$root/tests/program/http_probe.pl" "$http" >probe.out
for refused in no-host:400 two-hosts:400 other-host:421 other-origin:403 garbage:400 http2:505 \
    http2-upgrade:200 long-header:431 many-headers:431 long-path:431 path-600:404 \
    no-such-path:404 zero-in-path:400 half-escape:400 no-utf8:404 chunked:501 no-length:405 negative-length:400 \
    huge-length:400 long-body:413 two-lengths:400 body-of-get:400 wrong-method:405 trace:501 \
    no-such-socket:404 own-origin:200 numeric-host:200 byte-by-byte:200 five-at-once:200 body-behind:200 body-behind-slowly:200 \
    get-with-body-behind:200 bare-line-feeds:400 folded:400 blank-before-colon:400 zero-in-header:400 http-1.0:200 \
    unknown-method:501 connect:501 expects-else:417 empty-line-before:200; do
    answers "${refused%%:*}" "${refused#*:}"
done
ok "all were asked" test "$(wc -l <probe.out)" = 41
perl "$root/tests/program/http_probe.pl" "$http" slow >slow.out
ok "64 slow connections are closed, and nobody waits for that" awk '{ exit !($2 == 64 && $4 > 0) }' slow.out
ok "and are counted" eventually counts foliot_http_connections_total 90
kill -TERM "$server_pid"
wait "$server_pid"
ok "the server ends in order with connections open" grep -q '^ticks ' server.out
