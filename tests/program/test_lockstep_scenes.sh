#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: ready scenes of spheres, boxes and ragdolls in lockstep with the real programs: three bots on a network that
# loses and reorders come to the bits of the recording.
set -u
. "$(dirname "$0")/setup.sh"
metric() { awk -v name="foliot_$1_total" '$1 == name { print $2 }' metrics; } # NAME
# The bots compare three digests a tick. More than two for each tick of the session: every one of them has compared
# some, the last by 12 ticks, so that the result has reached it too.
all_compared() {
    curl -sf -m 10 "http://127.0.0.1:$http/metrics" >metrics &&
        [ "$(metric ticks)" -ge 60 ] && [ "$(metric ticks_compared)" -ge $((2 * $(metric ticks) + 12)) ]
}
LIMIT_SECONDS=300 # the machine may be busy
for scene in marbles cubes ragdolls pyramid; do
    # The same steps at a pace that three clients keep on a busy machine: who does not, watches.
    cp "$scenes/$scene".* .
    sed -i 's/^tick_hz: .*/dt: 0.0166666666666666666\npace_hz: 4/' $scene.yaml
    host $scene.yaml --record $scene.foliot --http 0
    http=$(sed -n 's/^http on .*:\([0-9]*\)$/\1/p' server.out)
    "$client" 127.0.0.1:$port --clients 3 --bot random --seconds 600 --connect-timeout 60 --impair loss=5%,delay=20ms,jitter=0-40ms,seed=3 \
        --json >bots.out 2>bots.log &
    bots=$!
    pids="$pids $bots"
    ok "$scene: their digests are compared" eventually all_compared
    stop
    wait $bots
    ok "$scene: three bots end with the session in order" test $? = 0
    ok "$scene: every one was told so" every ticks_compared '> 0' bots.out
    ok "$scene: and none differed" every divergences '== 0' bots.out
    ok "$scene: the recording verifies" "$replay" verify $scene.foliot
    for i in 1 2 3; do
        sed -n ${i}p bots.out >bot.out
        ok "$scene: bot $i ended with the recording's digest" \
            test "$(field digest bot.out)" = "$(digest_at $scene.foliot "$(field ticks bot.out)")"
    done
done
