// SPDX-License-Identifier: MIT
// input.c: changes of players' controls in a session of snapshots, from their arrival until their
// tick is closed. Receiving enqueues: nothing here touches the world.
#include <string.h>

#include "fanout.h"
#include "player.h"
#include "session.h"

static void hold_change(foliot__session *session, foliot__player_slot *player,
                        const foliot__change *change)
{
    foliot_server_counters *counters = &session->server->counters;
    foliot__queued_input input = {.tick = change->tick,
                                  .shown = foliot__shown_of(change->tick, change->shown),
                                  .way = FOLIOT__INPUT_BY_CHANGE,
                                  .input = {.sequence = change->sequence,
                                            .kind = FOLIOT_INPUT_CONTROL,
                                            .buttons = change->buttons}};
    memcpy(input.input.axes, change->axes, sizeof input.input.axes);
    player->input.next_sequence++; // one that is dropped is not asked for again
    if ((int64_t)change->tick - (int64_t)session->tick <= FOLIOT__TICKS_AHEAD_MAX &&
        foliot__input_queue_add(&player->input.queue, &input))
        counters->inputs++;
    else
        counters->inputs_refused++;
}

// After a server's death the oldest change that a client still has may not be the next one.
static bool skips_gap(foliot__player_slot *player, const foliot__change *change)
{
    if (!player->input.gap || change->sequence - player->input.next_sequence > FOLIOT__GAP_MAX)
        return false;
    player->input.next_sequence = change->sequence;
    return true;
}

void foliot__input_receive(foliot__session *session, foliot__peer *peer,
                           const foliot__input_packet *packet)
{
    foliot_server *server = session->server;
    if (peer->input.arrived_ns == 0) // it has heard the welcome, which went ahead of all snapshots
        foliot__rate_adaptation_begin(&peer->rate, server->arrived_ns - peer->snapshots.greeted_ns);
    bool newer =
        peer->input.arrived_ns == 0 || (int32_t)(packet->sent_us - peer->input.echo_us) > 0;
    if (newer) {
        peer->input.arrived_ns = server->arrived_ns;
        peer->input.echo_us = packet->sent_us;
        peer->input.tick = packet->tick;
    }
    if (packet->newest_snapshot != FOLIOT__NO_TICK &&
        packet->newest_snapshot <= foliot__fanout_shown(session, peer) &&
        (peer->snapshots.baseline != FOLIOT__BASELINE_ACKNOWLEDGED ||
         packet->newest_snapshot > peer->snapshots.baseline_tick) &&
        foliot__fanout_find(session, packet->newest_snapshot)) {
        if (peer->snapshots.baseline ==
            FOLIOT__BASELINE_ACKNOWLEDGED) // of the first there were several copies
            foliot__fanout_acknowledge(session, peer, packet->newest_snapshot);
        peer->snapshots.baseline = FOLIOT__BASELINE_ACKNOWLEDGED;
        peer->snapshots.baseline_tick = packet->newest_snapshot;
    }
    if (peer->player == FOLIOT__NO_PLAYER)
        return;
    foliot__player_slot *player = &session->players[peer->player];
    if (newer)
        player->input.shown_before = packet->shown;
    for (uint32_t i = 0; i < packet->count; i++) {
        const foliot__change *change = &packet->changes[i];
        if (change->sequence < player->input.next_sequence)
            server->counters.inputs_repeated++;
        else if (change->sequence == player->input.next_sequence || skips_gap(player, change))
            hold_change(session, player, change);
        player->input.gap = false;
    }
}
