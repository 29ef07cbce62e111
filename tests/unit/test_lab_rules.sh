#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# test_lab_rules.sh: foliot-lab with scenes that have rules: what a run records is what the rules give, and synctest
# names the tick at which a script uses what it does not save.
set -u
cd "$(dirname "$0")/../.." || exit 1
if ! pkg-config --exists lua5.4; then echo "skip: this machine has no Lua"; exit 0; fi
lab=${BUILD:-build}/foliot-lab
replay=${BUILD:-build}/foliot-replay
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
check() { # NAME COMMAND...
    local name=$1
    shift
    if "$@"; then
        echo "ok - $name"
    else
        echo "not ok - $name"
        failed=1
    fi
}
# says CODE PATTERN ARGUMENTS...: foliot-lab ends with the code and has printed that.
says() {
    local wanted=$1 pattern=$2
    shift 2
    "$lab" "$@" >"$work/out" 2>&1 </dev/null
    local code=$?
    [ "$code" = "$wanted" ] && grep -Eq -- "$pattern" "$work/out" && return
    echo "  '$*' ended with $code, wanted $wanted: $(head -n 3 "$work/out")"
    return 1
}
# A scene of two bodies with the script that comes on stdin.
game() {
    cat >"$work/$1.lua"
    sed "s/^script: .*/script: {lua: $1.lua}/; s/^name: .*/name: $1/" games/siege/siege.yaml >"$work/$1.yaml"
}

records_what_rules_give() {
    says 0 '"commands_refused"' run "games/$1/$1.yaml" --ticks 200 --players 3 --seed 9 --record "$work/$1.foliot" --json &&
        "$replay" verify --rules "$work/$1.foliot" | grep -Eq ': rules match: [1-9][0-9]+ commands'
}
for name in siege sumo; do
    check "what a run of $name records is what its rules give" records_what_rules_give $name
    check "synctest restores the rules of $name at every tick" says 0 '^rules +passed +150 checks' \
        synctest "games/$name/$name.yaml" --ticks 150
done
check "--no-rules leaves them out" says 0 '"commands_refused":0' run games/siege/siege.yaml --ticks 20 --no-rules --record "$work/none.foliot" --json
has_no_rules() { "$replay" verify --rules "$work/none.foliot" | grep -q 'the session had no rules'; }
check "and out of the recording" has_no_rules
has_no_row() { says 0 'perturbation' synctest games/siege/siege.yaml --ticks 20 --no-rules && ! grep -q '^rules' "$work/out"; }
check "and out of synctest" has_no_row

game local_counter <<'END'
local count = 0
function on_tick()
    count = count + 1
    if count == 7 then set_var('late', 1) end
end
END
check "a command by a local variable is found" says 3 '^rules +FAILED +7 checks  tick 7: command 1: .*"late".*restored rules no more' \
    synctest "$work/local_counter.yaml" --ticks 20 --players 0
check "and in JSON" says 3 '"rules":\{"passed":false,"checks":7,.*"first_bad_tick":7\}\}$' \
    synctest "$work/local_counter.yaml" --ticks 20 --players 0 --json
well_formed() { awk -f tests/support/json.awk "$work/out"; }
check "which is well formed" well_formed

game local_state <<'END'
local count = 0
function on_tick()
    count = count + 1
    state.count = count // 5
end
END
check "a saved state by a local variable is found" says 3 '^rules +FAILED .* tick 5: the saved state differs' \
    synctest "$work/local_state.yaml" --ticks 20 --players 0

game local_message <<'END'
local count = 0
function on_tick()
    count = count + 1
    message(nil, 'tick ' .. count % 3)
end
END
check "a message by a local variable is found" says 3 '^rules +FAILED .* tick [12]: a message differs' \
    synctest "$work/local_message.yaml" --ticks 20 --players 0

game fails <<'END'
function on_tick()
    if world.tick() == 9 then error('nine') end
end
END
game listener <<'END'
state = {said = ''}
function on_join(player, name) state.said = state.said .. name .. player end
function on_order(player, text) state.said = state.said .. ' ' .. text .. #text set_var('said', state.said) end
END
cat >"$work/orders.txt" <<'END'
# what players say
5 1 joined eve
9 1 game   fire
9 1 bytes 7f01

12 1 left
END
hears() {
    says 0 '"rules_refused"|"commands_refused":0' run "$work/listener.yaml" --ticks 20 --orders "$work/orders.txt" --record "$work/said.foliot" --json &&
        "$replay" export --what commands "$work/said.foliot" | tail -n 1 | grep -qF '"text": "eve1 fire4 \u007f\u00012"'
}
check "rules hear the orders of a file" hears
holds_orders() { "$replay" export --what orders "$work/said.foliot" | grep -qF '{"tick":9,"player":1,"sequence":3,"kind":"game","bytes":"7f01"}'; }
check "and a recording has them" holds_orders
again() {
    says 0 commands_refused run "$work/listener.yaml" --ticks 20 --orders "$work/said.foliot" --record "$work/again.foliot" --json &&
        "$replay" diff "$work/said.foliot" "$work/again.foliot" >/dev/null && "$replay" verify --rules "$work/again.foliot" | grep -q 'rules match: 2 commands'
}
check "and may take the place of the file" again
check "synctest gives them, too" says 0 '^rules +passed +20 checks' synctest "$work/listener.yaml" --ticks 20 --players 0 --orders "$work/orders.txt"
echo '5 99 chat hello' >"$work/wrong.txt"
check "an order of a player who cannot be is named with its place" says 78 'wrong.txt:1:3: player 99 does not exist: the scene' \
    run "$work/listener.yaml" --ticks 5 --orders "$work/wrong.txt"

check "rules that stop are named in a run" says 0 'rules stopped +fails.lua:2: nine' run "$work/fails.yaml" --ticks 20
check "and fail a synctest" says 3 'tick 9: fails.lua:2: nine' synctest "$work/fails.yaml" --ticks 20 --players 0
check "players beyond the scene's limit are refused" says 2 'the scene takes 8' run games/siege/siege.yaml --players 9
check "drawn and written inputs exclude each other" says 2 'exclude each other' run games/siege/siege.yaml --players 2 --inputs tests/golden/players.txt
exit $failed
