#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: ready scenes of spheres, boxes and ragdolls in lockstep with the real programs: three bots on a network that loses and
# reorders come to the bits of the recording.
set -u
. "$(dirname "$0")/setup.sh"
bots_play() { # SCENE: a recording of its own, in which three bots step and leave
    rm -f "$1.foliot"
    host "$1.yaml" --record "$1.foliot"
    "$client" 127.0.0.1:$port --clients 3 --bot random --seconds 10 --connect-timeout 60 --impair loss=5%,delay=20ms,jitter=0-40ms,seed=3 \
        --json >bots.out 2>bots.log
    bots=$?
    stop
    [ $bots = 0 ] && every ticks_compared '> 0' bots.out
}
for scene in marbles cubes ragdolls pyramid; do
    # The same steps at a pace that three clients keep on a busy machine: who does not, watches.
    cp "$scenes/$scene".* .
    sed -i 's/^tick_hz: .*/dt: 0.0166666666666666666\npace_hz: 8/' $scene.yaml
    # A machine that lets them wait for seconds breaks connections: they play once more then.
    bots_play $scene || bots_play $scene || bots_play $scene
    ok "$scene: three bots leave in order" test $bots = 0
    ok "$scene: their digests were compared" every ticks_compared '> 0' bots.out
    ok "$scene: and none differed" every divergences '== 0' bots.out
    ok "$scene: the recording verifies" "$replay" verify $scene.foliot
    for i in 1 2 3; do
        sed -n ${i}p bots.out >bot.out
        ok "$scene: bot $i ended with the recording's digest" \
            test "$(field digest bot.out)" = "$(digest_at $scene.foliot "$(field ticks bot.out)")"
    done
done
