#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: each game of games/ is played by bots over a bad network, its rules run to the end, something happens in it that
# its variables show, and its recording verifies together with its rules. Method: real programs on the loopback.
set -u
. "$(dirname "$0")/setup.sh"
if ! pkg-config --exists lua5.4; then echo "skip: this machine has no Lua"; exit 0; fi
network="loss=5%,jitter=0-60ms"
play() { # GAME: three bots play until the condition below holds; the recording is GAME.foliot, the log server.log
    local game=$1 bots
    : >server.log
    start "$root/games/$game/$game.yaml" --port 0 --record "$game.foliot" || return 1
    "$client" 127.0.0.1:"$port" --bot play --clients 3 --seconds 600 --connect-timeout 60 --impair "$network" >"$game.out" 2>"$game.log" &
    bots=$!
    pids="$pids $bots"
    of_player joined 3
    eventually happened "$game"
    kill -TERM "$bots"
    wait "$bots"
    kill -INT "$server_pid"
    wait "$server_pid"
    export_commands "$game"
}
export_commands() { "$replay" export "$1.foliot" --what commands >"$1.commands" 2>export.log; } # GAME
happened() { # GAME: all of it, in what is recorded so far
    sleep 0.5
    export_commands "$1"
    "$1_happened"
}
var_count() { # GAME PATTERN: how many commands set a variable to something that matches
    grep '"command": "var"' "$1.commands" | grep -cE "$2"
}
rules_match() { # GAME
    "$replay" verify --rules "$1.foliot" >verify.out 2>&1 && grep -q 'rules match: [1-9]' verify.out
}
goes_on() { # GAME: what holds for all games
    ok "$1 is played" play "$1"
    ok "$1: three bots joined" test "$(counter joins)" = 3
    ok "$1: its rules were not stopped" test "$(counter rules_stopped)" = 0
    ok "$1: and nothing says so" sh -c "! grep -i 'rules.*stopped' server.log"
    ok "$1: its rules and its bits match" rules_match "$1"
}

are_won() { test "$(var_count katamari '"score\.[^"]*", "integer": [1-9]')" -gt 3; }
clock_runs() { test "$(var_count katamari '"key": "clock", "integer": 11[0-9]')" -ge 3; }
katamari_happened() { are_won && clock_runs; }
goes_on katamari
ok "katamari: cubes are won" are_won
ok "katamari: the clock runs" clock_runs
have_scores() { test "$(var_count sumo '"key": "score\.')" -ge 3; }
have_wrestlers() { test "$(grep -c '"command": "spawn"' sumo.commands)" -ge 3; }
sumo_happened() { have_scores && have_wrestlers; }
goes_on sumo
ok "sumo: all have a score" have_scores
ok "sumo: all have a wrestler" have_wrestlers
were_thrown() { test "$(grep '"command": "spawn"' siege.commands | grep -c '"prototype": 0')" -ge 3; }
counts_down() { test "$(var_count siege '"key": "ammo\.[^"]*", "integer": [0-3]}')" -ge 3; }
siege_happened() { were_thrown && counts_down; }
goes_on siege
ok "siege: stones were thrown" were_thrown
ok "siege: ammunition counts down" counts_down
were_fired() { test "$(var_count duel '"key": "shots", "integer": [1-9]')" -ge 3; }
did_hit() { test "$(var_count duel '"key": "hits", "integer": [1-9]')" -ge 1; }
is_aimed() { test "$("$replay" export duel.foliot --what orders 2>/dev/null | grep -c '"aimed"')" -ge 1; }
duel_happened() { were_fired && did_hit && is_aimed; }
goes_on duel
ok "duel: shots were fired" were_fired
ok "duel: some hit" did_hit
ok "duel: what was aimed at is recorded" is_aimed
