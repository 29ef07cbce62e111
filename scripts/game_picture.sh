#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# game_picture.sh BUILD: hosts games/katamari, lets four bots play it over a bad network, and draws nine seconds of the
# recording as docs/images/game.png, the picture at the top of README.md.
set -eu
build=${1:?folder of the programs}
folder=$(mktemp -d)
server=""
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$folder"
}
trap finish EXIT

: >"$folder/server.txt"
"$build/foliot-server" games/katamari/katamari.yaml --port 0 --record "$folder/game.foliot" >"$folder/server.txt" \
    2>"$folder/server.log" &
server=$!
until address=$(sed -n 's/^listening on //p' "$folder/server.txt") && [ -n "$address" ]; do
    kill -0 "$server" || { cat "$folder/server.log" >&2; exit 1; }
    sleep 0.1
done
"$build/foliot-client" "$address" --bot play --clients 4 --seconds 14 --impair loss=5%,jitter=0-100ms >"$folder/clients.txt"
kill -INT "$server"
wait "$server"
server=""
"$build/foliot-replay" verify "$folder/game.foliot" >"$folder/verify.txt"
python3 scripts/draw_game.py "$build" "$folder/game.foliot" 180 720 docs/images/game.png
