#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: a build that rounds otherwise watches where others step, and is found out at once if it comes in by force, while the
# others play on. A planted fault is found and healed. The client is linked with objects compiled with contraction.
set -u
. "$(dirname "$0")/setup.sh"
# How many ticks after the first that differed, or the player's own arrival, the server's log tells of it. (That it takes a tick and
# a round trip is tested on a virtual clock, in tests/cluster/test_lockstep.c.)
noticed() {
    awk '
        function number(key) { match($0, "\"" key "\":[0-9]+"); return substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) + 0 }
        /"event":"joined"/ { joined[number("player")] = number("tick") }
        /"event":"diverged"/ && !seen { # the server heals a peer, and one that computes otherwise differs again
            came = joined[number("player")]
            first = number("value") + 1
            late = number("tick") - (first > came ? first : came)
            seen = 1
        }
        END { print "# noticed " late " ticks later"; exit !(seen && late >= 0) }' server.log
}

host "$scenes/spacewar.yaml" --no-record
"$client" 127.0.0.1:$port --bot random --seconds 600 --connect-timeout 60 --perturb 300:rock-4:velocity.y:3 --impair delay=50ms --json >planted.out 2>planted.log &
planted=$!
pids="$pids $planted"
event healed && logged '"first_bad_tick"'
stop # the client ends with it
wait $planted
ok "a planted fault is noticed" noticed
ok "the report names tick, stage, body and field" grep -qE \
    '"first_bad_tick":300,"stage":"[a-z]+","body":"rock-4","field":"velocity.y","ulps":3' server.log
ok "its client is given the server's state, and steps again" every heals '== 1' planted.out
ok "as the log says" grep -q '"event":"healed"' server.log
rm -f spacewar-divergence-*

if can_fuse; then
    ok "a client is built with contraction on" fused client
    host "$scenes/spacewar.yaml" --record match.foliot
    ./client-fused 127.0.0.1:$port --bot idle --seconds 1 --json >watched.out 2>watched.log
    ok "it watches, by its fingerprint" grep -q '"kind":"watcher"' watched.out
    ok "and the server says why" logged '"event":"kind".*computes differently'
    "$client" 127.0.0.1:$port --bot random --seconds 600 --connect-timeout 60 --json >ada.out 2>ada.log &
    ada=$!
    pids="$pids $ada"
    timeout $LIMIT_SECONDS ./client-fused 127.0.0.1:$port --bot random --seconds 600 --connect-timeout 60 --force --divergence-ends --impair delay=50ms --json \
        >fused.out 2>fused.log
    ok "let in by force it is found out" test $? = 3
    durable match.foliot $(($(last_tick match.foliot) + 120)) # in which the other plays on
    stop
    wait $ada
    ok "and the other player plays on" test $? = 0
    ok "the report names tick, stage, body and field" grep -qE \
        '"first_bad_tick":[0-9]+,"stage":"[a-z]+","body":("[^"]+"|[0-9]+),"field":"(position|velocity)\.[xyz]","ulps":[1-9]' server.log
    ok "it was noticed after its arrival" noticed
    ok "ada's digests went on being compared" every ticks_compared '> 60' ada.out
    ok "and did not differ" every divergences '== 0' ada.out
    ok "both states are kept" test "$(ls spacewar-divergence-*-server.foliot spacewar-divergence-*-client.foliot | wc -l)" = 2
    ok "the server's state verifies" "$replay" verify spacewar-divergence-*-server.foliot
    ok "the session's recording verifies" "$replay" verify match.foliot
    host "$scenes/ragdolls.yaml" --no-record
    ./client-fused 127.0.0.1:$port --bot idle --seconds 4 --force --json >unfit.out 2>unfit.log
    ok "whose bodies have other inertia cannot begin, and watches" grep -q '"kind":"watcher"' unfit.out
    stop
    host "$scenes/spacewar.yaml" --no-record --no-force
    ./client-fused 127.0.0.1:$port --bot idle --seconds 1 --force --json >unforced.out 2>unforced.log
    ok "a server that wants nobody by force lets it watch" grep -q '"kind":"watcher"' unforced.out
    stop
fi
