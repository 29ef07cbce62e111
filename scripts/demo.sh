#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# demo.sh BUILD: hosts a game, lets three bots play it over a bad network, and verifies the recording with its rules.
set -eu
build=${1:?folder of the programs}
game=games/katamari/katamari
seconds=20
network="loss=5%,jitter=0-100ms"
folder=$(mktemp -d "${TMPDIR:-/tmp}/foliot-demo.XXXXXX")
server=""
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
}
trap finish EXIT

# The game's rules are a text: the demo's copy has shorter rounds, and only one.
sed "s/^local ROUND_SECONDS = .*/local ROUND_SECONDS = $seconds/; s/^local BREAK_SECONDS = .*/local BREAK_SECONDS = 1/
    s/^local NEXT = .*/local NEXT = nil/" "$game.lua" >"$folder/katamari.lua"

echo "1. hosting $game.yaml on a free port of this machine, recorded; a round of $seconds seconds"
: >"$folder/server.txt" # the loop below may read it before the server opens it
"$build/foliot-server" --verbose "$game.yaml" --rules "$folder/katamari.lua" --port 0 --record "$folder/demo.foliot" \
    >"$folder/server.txt" 2>"$folder/server.log" &
server=$!
for _ in $(seq 200); do
    address=$(sed -n 's/^listening on //p' "$folder/server.txt")
    [ -z "$address" ] && kill -0 "$server" 2>/dev/null || break
    sleep 0.05
done
[ -n "$address" ] || { cat "$folder/server.log"; exit 1; }
echo "   it listens on $address"

echo "2. three bots play until the round ends, each over a network with $network"
"$build/foliot-client" "$address" --bot play --clients 3 --seconds $((3 * seconds)) --impair "$network" \
    >"$folder/clients.txt" 2>"$folder/clients.log" || { cat "$folder/clients.log"; exit 1; }
grep -E '^played|snapshots|network' "$folder/clients.txt" | sed 's/^/   /'

echo "3. the rules have ended the session, the recording is closed; the final score:"
wait "$server" || { cat "$folder/server.log"; exit 1; }
server=""
"$build/foliot-replay" export "$folder/demo.foliot" --what commands >"$folder/commands.txt"
sed -n 's/.*"command": "var", "key": "score\.\([^"]*\)", "integer": \([0-9]*\)}.*/\1 \2/p' "$folder/commands.txt" |
    awk '{ score[$1] = $2 } END { for (name in score) printf "   %5d  %s\n", score[name], name }' | sort -rn
sed -n 's/.*"command": "end", "reason": "\(.*\)"}$/   \1/p' "$folder/commands.txt"
grep -E '^(ticks|ticks_late|inputs|commands|messages|snapshots_sent) ' "$folder/server.txt" | sed 's/^/   /'

echo "4. every tick is stepped again and its digest compared; the rules run again and give the same commands"
"$build/foliot-replay" verify --rules "$folder/demo.foliot" >"$folder/verify.txt" || { cat "$folder/verify.txt"; exit 1; }
sed 's/^/   /' "$folder/verify.txt"

cat <<TEXT

It worked: the replay gave the same bits as the session, and its rules the same commands. Try next:
   $build/foliot-server $game.yaml   host it yourself, and in another terminal
   $build/foliot-client 127.0.0.1              join it: arrows push, space pulls, 1 repels, 2 jumps, Esc leaves
   make web && $build/foliot-server --web 8080 $game.yaml   host it for browsers too: it prints the link
   http://127.0.0.1:8080/recording.html        then drop $folder/demo.foliot there: the browser steps all of it, too
   $build/foliot-client 127.0.0.1 --bot play   or let a bot play against you
   $build/foliot-replay play $folder/demo.foliot   watch the bots
   $build/foliot-lab compare scenes/kepler.yaml --integrators rk4,yoshida4 --dt 1/20 --time 1000 --out kepler.svg   compares integrators over 160 orbits
   make help
TEXT
