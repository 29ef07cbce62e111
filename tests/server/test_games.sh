#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: each game of games/ is played by bots over a bad network, its rules run to the end, something happens in it that
# its variables show, and its recording verifies together with its rules. Method: real programs on the loopback.
set -u
. "$(dirname "$0")/setup.sh"
if ! pkg-config --exists lua5.4; then echo "skip: this machine has no Lua"; exit 0; fi
network="loss=5%,jitter=0-60ms"
play() { # GAME SECONDS ARGUMENT...: three bots play; the session is recorded as GAME.foliot, its log is server.log
    local game=$1 seconds=$2
    shift 2
    : >server.log
    start "$root/games/$game/$game.yaml" --port 0 --record "$game.foliot" "$@" || return 1
    timeout 30 "$client" 127.0.0.1:"$port" --bot play --clients 3 --seconds "$seconds" --impair "$network" \
        >"$game.out" 2>"$game.log"
    # A signal after the game's own end would cut the recording off.
    grep -q 'the game has ended' server.log || kill -INT "$server_pid"
    wait "$server_pid"
    "$replay" export "$game.foliot" --what commands >"$game.commands"
}
var_count() { # GAME PATTERN: how many commands set a variable to something that matches
    grep '"command": "var"' "$1.commands" | grep -cE "$2"
}
rules_match() { # GAME
    "$replay" verify --rules "$1.foliot" >verify.out 2>&1 && grep -q 'rules match: [1-9]' verify.out
}
goes_on() { # GAME SECONDS: what holds for all games
    ok "$1 is played" play "$1" "$2"
    ok "$1: three bots joined" test "$(counter joins)" = 3
    ok "$1: its rules were not stopped" test "$(counter rules_stopped)" = 0
    ok "$1: and nothing says so" sh -c "! grep -i 'rules.*stopped' server.log"
    ok "$1: its rules and its bits match" rules_match "$1"
}

goes_on katamari 6
ok "katamari: cubes are won" test "$(var_count katamari '"score\.[^"]*", "integer": [1-9]')" -gt 3
ok "katamari: the clock runs" test "$(var_count katamari '"key": "clock", "integer": 11[0-9]')" -ge 3
goes_on sumo 8
ok "sumo: all have a score" test "$(var_count sumo '"key": "score\.')" -ge 3
ok "sumo: all have a wrestler" test "$(grep -c '"command": "spawn"' sumo.commands)" -ge 3
goes_on siege 8
ok "siege: stones were thrown" test "$(grep '"command": "spawn"' siege.commands | grep -c '"prototype": 0')" -ge 3
ok "siege: ammunition counts down" test "$(var_count siege '"key": "ammo\.[^"]*", "integer": [0-3]}')" -ge 3
goes_on duel 8
ok "duel: shots were fired" test "$(var_count duel '"key": "shots", "integer": [1-9]')" -ge 3
ok "duel: some hit" test "$(var_count duel '"key": "hits", "integer": [1-9]')" -ge 1
ok "duel: what was aimed at is recorded" test "$("$replay" export duel.foliot --what orders | grep -c '"aimed"')" -ge 10
