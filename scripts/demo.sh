#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# demo.sh BUILD: hosts a session, lets three bots play it over a bad network, and verifies the recording.
set -eu
build=${1:?folder of the programs}
scene=scenes/cubes.yaml
network="loss=5%,jitter=0-100ms"
folder=$(mktemp -d "${TMPDIR:-/tmp}/foliot-demo.XXXXXX")
server=""
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
}
trap finish EXIT

echo "1. hosting $scene on a free port of this machine, recorded"
: >"$folder/server.txt" # the loop below may read it before the server opens it
"$build/foliot-server" "$scene" --port 0 --record "$folder/demo.foliot" >"$folder/server.txt" 2>"$folder/server.log" &
server=$!
for _ in $(seq 200); do
    address=$(sed -n 's/^listening on //p' "$folder/server.txt")
    [ -z "$address" ] && kill -0 "$server" 2>/dev/null || break
    sleep 0.05
done
[ -n "$address" ] || { cat "$folder/server.log"; exit 1; }
echo "   it listens on $address"

echo "2. three bots play for ten seconds, each over a network with $network"
"$build/foliot-client" "$address" --bot random --clients 3 --seconds 10 --impair "$network" >"$folder/clients.txt"
sed 's/^/   /' "$folder/clients.txt"

echo "3. the host stops (Ctrl-C), the recording is closed"
kill -INT "$server"
wait "$server" || true
server=""
grep -E '^(ticks|ticks_late|inputs|inputs_late|joins|snapshots_sent) ' "$folder/server.txt" | sed 's/^/   /'

echo "4. every tick is stepped again and its digest compared"
"$build/foliot-replay" verify "$folder/demo.foliot" | sed 's/^/   /'
"$build/foliot-replay" verify "$folder/demo.foliot" >/dev/null

cat <<TEXT

It worked: the replay gave the same bits as the session. Try next:
   $build/foliot-server $scene             host it yourself, and in another terminal
   $build/foliot-client 127.0.0.1              join it: arrows push, space pulls, 1 repels, 2 jumps, Esc leaves
   $build/foliot-replay play $folder/demo.foliot   watch the bots
   $build/foliot-lab compare scenes/kepler.yaml --integrators rk4,yoshida4 --dt 1/100 --out kepler.svg   compares integrators
   make help
TEXT
