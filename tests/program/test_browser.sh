#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: foliot-server --web prints its link, serves the page, or one that says what is missing, with the headers that
# protect it, and refuses what is foreign. Method: the real program and curl; peers by WebSocket: test_web.c.
set -u
. "$(dirname "$0")/setup.sh"
scene=$scenes/spacewar.yaml
get() { curl -sS -m 10 "$@"; } # ARGUMENT...
status() { get -o /dev/null -w '%{http_code}' "$@"; }
http_port() { sed -n 's/^http on .*:\([0-9]*\)$/\1/p' server.out; }
counted() { # NAME AT-LEAST: the metrics, which are renewed every second, do
    curl -s -m 10 "http://127.0.0.1:$(http_port)/metrics" >metrics.out
    [ "$(awk -v name="$1" '$1 == name { print $2 }' metrics.out)" -ge "$2" ] 2>/dev/null
}
web_port() { sed -nE 's#^(in a browser: http://|web: listening on )127.0.0.1:([0-9]+)[/,].*#\2#p' server.out; }

exits "a port that is none" 2 'ADDRESS' "$server" "$scene" --port 0 --no-record --web 99999
exits "an address that is none" 2 'ADDRESS' "$server" "$scene" --port 0 --no-record --web example.com:80
exits "anybody, unless it is said" 2 '\-\-insecure' "$server" "$scene" --port 0 --no-record --web 0.0.0.0:0
start "$scene" --port 0 --no-record --web 0 --http 0 --http-host game.example
web=$(web_port) url=http://127.0.0.1:$(web_port)
exits "a busy port" 75 "port $web on 127.0.0.1: Address already in use" "$server" "$scene" --port 0 --no-record --web "$web"
get -i "$url/" >page.out
ok "the page" grep -q '^HTTP/1.1 200' page.out
hash=$(sed -n 's/^<script>\(.*\)<\/script>$/\1/p' "$root/web/page/index.html" | tr -d '\n' | openssl dgst -sha256 -binary | openssl base64)
ok "nothing but its own" grep -q "^content-security-policy: default-src 'none'; script-src 'self' 'wasm-unsafe-eval' 'sha256-$hash'; connect-src 'self'" page.out
ok "and the page says the same of itself" grep -qF "'sha256-$hash'" "$root/web/page/index.html"
ok "no guessing of types" grep -q '^x-content-type-options: nosniff' page.out
ok "isolated" grep -q '^cross-origin-opener-policy: same-origin' page.out
ok "its text" sh -c "curl -s --compressed $url/ | grep -qi '<title>'"
ok "probes are on another port" test "$(status "$url/metrics")" = 404
ok "a name that is told" test "$(status -H 'Host: game.example' "$url/")" = 200
ok "another name" test "$(status -H 'Host: evil.example' "$url/")" = 421
ok "another site" test "$(status -H 'Origin: http://evil.example' "$url/")" = 403
if [ -e "$build/web/viewer.wasm" ]; then
    ok "WebAssembly by its type" sh -c "curl -s -I $url/viewer.wasm | grep -qi '^content-type: application/wasm'"
    ok "a page that is known is not sent again" test "$(status -H "If-None-Match: $(sed -n 's/^etag: \(.*\)\r/\1/p' page.out)" "$url/")" = 304
fi
curl -s --http1.1 -m 5 -H 'Connection: Upgrade' -H 'Upgrade: websocket' -H 'Sec-WebSocket-Version: 13' \
    -H 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==' -H 'Sec-WebSocket-Protocol: foliot.1' "$url/ws" >/dev/null 2>&1
ok "a socket is in the metrics" eventually counted foliot_web_sockets_opened_total 1
ok "so are requests of another host, of another site" counted foliot_web_requests_refused_total 2
ok "and data channels, where there are any" grep -q '^foliot_channels_offers_total 0$' metrics.out
if command -v promtool >/dev/null; then
    ok "promtool finds nothing wrong" sh -c 'promtool check metrics <metrics.out >promtool.out 2>&1 && [ ! -s promtool.out ]'
fi
"$client" "127.0.0.1:$port" --bot idle --ticks 60 >client.out 2>&1
ok "players by UDP are not disturbed" test $? = 0
stop
ok "it ends in order" test $? = 0

# A link that leads nowhere is none.
if [ -e "$build/web/index.html" ]; then ok "the link is printed" grep -q "^in a browser: $url/$" server.out
else
    ok "without the page there is no link" sh -c '! grep -q "http://" server.out'
    ok "and the server says what builds it" grep -q '^web: listening on 127.0.0.1:[0-9]*, without the page.*make web' server.out
fi

# Two modules of the code are a character's upper and lower half.
ok "no picture in a file" sh -c "! grep -q '[█▀▄]' server.out"
if command -v script >/dev/null && [ -e "$build/web/index.html" ]; then
    for web in 0 0.0.0.0:0; do # what no other device reaches has no picture for phones
        TERM=xterm script -qec "sh -c 'echo \$\$ >pid; exec $server $scene --port 0 --no-record --web $web --insecure'" /dev/null </dev/null >terminal.out 2>&1 &
        pids="$pids $!"
        eventually has_lines terminal.out 'in a browser: ' && eventually has_lines terminal.out '^sandbox|no sandbox'
        if grep -q 'in a browser: http://127' terminal.out; then
            ok "no picture of a link to this machine alone ($web)" sh -c "! grep -q '[█▀▄]' terminal.out"
        else
            ok "a link for phones, as a picture, in a terminal" has_lines terminal.out '█.*▄.*█' 12
        fi
        kill -TERM "$(cat pid)"
        wait $!
    done
fi
