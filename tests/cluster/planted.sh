#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# planted.sh: what the seeds are worth. One fault after another is put into a copy of one source file of the server, the
# client, the wire or the recording; the simulation is linked with it and runs seeds until one fails. A fault that SEEDS
# (300) seeds do not find fails here. `planted.sh NAME...` tries those alone; `planted.sh --places` only checks that
# each fault finds its line. The seeds take some minutes and are not part of `make test`; the places are.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build} seeds=${SEEDS:-300} failed=0
places=false
if [ "${1:-}" = --places ]; then
    places=true
    shift
fi
$places || make -s BUILD="$build" "$build/tests/cluster/simulate" || exit 1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
only=" $* "

planted() { # NAME FILE SED-COMMAND
    local name=$1 file=$2
    [ "$only" = "  " ] || [[ $only == *" $name "* ]] || return
    mkdir -p "$tree/$(dirname "$file")"
    sed "$3" "$file" >"$tree/$file"
    if cmp -s "$file" "$tree/$file"; then
        echo "not ok - $name: found nothing to change in $file"
        failed=1
        return
    fi
    ! $places || return 0
    # The object stands before the library, whose own is then not looked at.
    if ! ${CC:-gcc} -w -O2 -g -std=gnu11 -ffp-contract=off -fno-math-errno -D_GNU_SOURCE -pthread -Iinclude -Icommon \
        -I"$(dirname "$file")" -c "$tree/$file" -o "$tree/planted.o" ||
        ! ${CC:-gcc} -o "$tree/simulate" "$build/obj/tests/cluster/simulate.o" "$tree/planted.o" "$build/support.a" \
            "$build/libfoliot.a" -lcmocka -luv -lncursesw -lyaml -lenet -lxxhash -lsodium -lzstd -llua5.4 -lm -latomic -pthread; then
        echo "not ok - $name: does not build"
        failed=1
        return
    fi
    "$tree/simulate" --until-failure "$seeds" >"$tree/out.txt" 2>&1
    local passed
    passed=$(sed -n 's/^\([0-9]*\) passed, .*/\1/p' "$tree/out.txt")
    if grep -aq FAILED "$tree/out.txt"; then
        printf 'ok - %-24s after %3s seeds: %s\n' "$name" "$((passed + 1))" \
            "$(sed -n 's/^seed \([0-9]*\): FAILED at [0-9.]* s: /seed \1: /p; s/^\(seed [0-9]*\): FAILED /\1: /p' "$tree/out.txt" | head -n 1)"
    else
        echo "not ok - $name: $passed seeds found nothing"
        failed=1
    fi
}

planted forgotten-player server/lib/player.c 's/player->token.proof = r->proof;//'
planted ghost-player server/lib/player.c 's/if (here \&\& (is_new || is_before))/if (here \&\& is_new)/'
planted deaf-after-resume server/lib/input.c 's/if (player->input.gap \&\&/if (false \&\&/'
planted player-for-ever server/lib/player.c 's/bool over = player->leaves ||.*;/bool over = player->leaves;/'
planted uncounted-input server/lib/step.c '/counters.inputs_abandoned +=$/,/;/d'
planted input-twice server/lib/input.c 's/server->counters.inputs_repeated++;/{ server->counters.inputs_repeated++; if (i == 0 \&\& packet->count > 1) { hold_change(session, player, change); player->next_sequence--; } }/'
planted unheard-baseline server/lib/input.c 's/baseline_tick = packet->newest_snapshot;/baseline_tick = session->snapshots.newest;/'
planted off-by-one-resend server/lib/lockstep.c 's/foliot__block_of_oldest(&l->log, from, to,/foliot__block_of_oldest(\&l->log, from + 1, to,/'
planted player-unrecorded server/lib/record.c 's/^        note(s, foliot_recording_note_player(/        if (false) &/'
planted garbage-kept common/recording/resume.c 's/sink->truncate(sink->user, replay->cut_offset) != 0/false/'
planted a-tick-too-few common/recording/resume.c 's/foliot_replay_get_tick(replay) < about->last_tick)/foliot_replay_get_tick(replay) + 1 < about->last_tick)/'
planted stale-joint-order common/sim/island/sleep.c 's/^    foliot__joints_changed(world);//'
planted early-acknowledgement client/lib/shared/stream.c 's/packet.newest_snapshot = c->buffer.has_newest ? c->buffer.newest/packet.newest_snapshot = c->buffer.has_newest ? c->buffer.newest + 1/'
planted tick-log-short common/wire/tick_log.c 's/for (uint64_t t = log->first; t < log->end \&\& t < tick; t++)/for (uint64_t t = log->first; t < log->end \&\& t <= tick; t++)/'
planted slot-leak server/lib/peer.c 's/^    peer->state = FOLIOT__PEER_ENDED;$/    if (peer->malformed == 0) peer->state = FOLIOT__PEER_ENDED;/'
planted peerless-player server/lib/server.c 's/played \&\& foliot__player_peer_lost(session, peer)/false/'
# Found by foes, tiny limits and harmful storage.
SEED_WITH=storage planted block-unchecked common/recording/block_reader.c 's/if (foliot__crc32c(0, \*payload, block->length) != block->payload_crc)/if (false)/'
planted token-in-part server/lib/player.c 's/return foliot__secrets_equal(a, b, sizeof \*a);/return ((a->bytes[0] ^ b->bytes[0]) \& 7) == 0;/'
planted places-of-one-address server/lib/player.c 's/return host != 0 \&\& held >= most;/return false;/'
planted storms-unlimited common/net/admission.c 's/if (!foliot__bucket_spend(&e->opens, a->burst, a->every_ns, now_ns))/if (false)/'
# Found by spectators that look everywhere.
SEED_WITH=looks planted focus-unlimited server/lib/interest.c 's/look->now_ns - v->focus_ns >= FOCUS_EVERY_NS/true/'
# Found by games, hosts and ends of sessions.
SEED_WITH=games,crashes planted order-twice server/lib/orders.c 's/^                                 .next = here + 1,/                                 .next = here ? here : 1,/'
SEED_WITH=orders planted orders-unlimited server/lib/orders.c 's/foliot__bucket_spend(&book->bucket/foliot__bucket_spend(\&(foliot__bucket){0}/'
SEED_WITH=games,crashes planted command-lost-at-resume server/lib/commands.c 's/^    if (game->rules)$/    if (game->rules \&\& session->tick > session->first_tick)/'
SEED_WITH=games,crashes planted cooldown-anew common/recording/resume.c 's/status = rules->restore(rules->user, bytes, length);/status = bytes ? FOLIOT_STATUS_OK : rules->restore(rules->user, bytes, length);/'
SEED_WITH=games,crashes planted rules-not-run-again common/recording/resume.c 's/status = tick_rules(r);/(void)tick_rules;/'
SEED_WITH=games planted late-joiner-untold server/lib/updates.c 's/foliot__update_state(&game->writer, known)/if (session->tick < session->first_tick + 60) &/'
SEED_WITH=games,ends,crashes planted next-without-header server/lib/record.c 's/^        note(s, begin(s, s->recording));/        if (!foliot__session_find(s->server, s->name)) &/'
SEED_WITH=games,ends planted next-not-followed server/lib/peer.c 's/.code = FOLIOT__DISCONNECT_NEXT/.for_good = true/'
SEED_WITH=games planted message-again server/lib/updates.c 's/^        send_group(session, ALL, false, delivery, packet, packet_length);/&\n        if (session->tick % 64 == 0) send_group(session, ALL, false, delivery, packet, packet_length);/'
[ $failed = 1 ] || ! $places || echo "ok - every planted fault finds its line"
exit $failed
