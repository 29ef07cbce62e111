// SPDX-License-Identifier: MIT
// input.c: the inputs of one player until their tick is closed, in the order in which they act.
// Changes of controls are received here, inputs by tick in stream.c; step.c empties the queue.
// Receiving only enqueues: nothing here touches the world. Invariant: inputs of one way act in
// order.
#include <string.h>

#include "fanout.h"
#include "player.h"
#include "session.h"

// -- the queue

static foliot__queued_input *entry_at(foliot__input_queue *queue, uint32_t index)
{
    return &queue->entries[(queue->first + index) % FOLIOT__INPUTS_QUEUED];
}

bool foliot__input_queue_add(foliot__input_queue *queue, const foliot__queued_input *input)
{
    static const uint32_t limits[] = {[FOLIOT__INPUT_BY_CHANGE] = FOLIOT__CHANGES_HELD,
                                      [FOLIOT__INPUT_BY_TICK] =
                                          FOLIOT__LATE_HELD + FOLIOT__INPUTS_A_TICK};
    foliot__queued_input entry = *input;
    if (queue->counts[entry.way] == limits[entry.way])
        return false;
    // It waits behind the last input of the same way, whatever its tick.
    entry.due = entry.tick;
    uint32_t at = queue->count;
    for (uint32_t i = 0; i < queue->count; i++)
        if (entry_at(queue, i)->way == entry.way && entry_at(queue, i)->due > entry.due)
            entry.due = entry_at(queue, i)->due;
    // Within a tick changes act before inputs by tick.
    for (; at > 0; at--) {
        const foliot__queued_input *before = entry_at(queue, at - 1);
        if (before->due < entry.due || (before->due == entry.due && before->way <= entry.way))
            break;
        *entry_at(queue, at) = *before;
    }
    *entry_at(queue, at) = entry;
    queue->count++;
    queue->counts[entry.way]++;
    return true;
}

bool foliot__input_queue_pop(foliot__input_queue *queue, uint64_t tick, foliot__queued_input *input)
{
    if (queue->count == 0 || entry_at(queue, 0)->due > tick)
        return false;
    *input = *entry_at(queue, 0);
    queue->first = (queue->first + 1) % FOLIOT__INPUTS_QUEUED;
    queue->count--;
    queue->counts[input->way]--;
    return true;
}

void foliot__input_queue_show(foliot__input_queue *queue, uint64_t shown)
{
    for (uint32_t i = 0; i < queue->count; i++)
        if (entry_at(queue, i)->way == FOLIOT__INPUT_BY_TICK)
            entry_at(queue, i)->shown = shown;
}

void foliot__input_queue_drop(foliot__input_queue *queue, foliot__input_way way)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < queue->count; i++)
        if (entry_at(queue, i)->way != way)
            *entry_at(queue, left++) = *entry_at(queue, i);
    queue->count = left;
    queue->counts[way] = 0;
}

// -- changes

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

void foliot__input_receive(foliot__session *session, foliot__peer *peer,
                           const foliot__input_packet *packet)
{
    foliot_server *server = session->server;
    if (peer->input.arrived_ns == 0) // the welcome arrived, which was sent before all snapshots
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
            FOLIOT__BASELINE_ACKNOWLEDGED) // the first had several copies
            foliot__fanout_acknowledge(session, peer, packet->newest_snapshot);
        peer->snapshots.baseline = FOLIOT__BASELINE_ACKNOWLEDGED;
        peer->snapshots.baseline_tick = packet->newest_snapshot;
    }
    if (peer->player == FOLIOT_NO_PLAYER)
        return;
    foliot__player_slot *player = &session->players[peer->player];
    if (newer)
        player->input.shown_before = packet->shown;
    for (uint32_t i = 0; i < packet->count; i++) {
        const foliot__change *change = &packet->changes[i];
        // After a server's death a client's oldest change may not be the next expected one.
        if (player->input.gap && change->sequence > player->input.next_sequence &&
            change->sequence - player->input.next_sequence <= FOLIOT__GAP_MAX)
            player->input.next_sequence = change->sequence;
        if (change->sequence < player->input.next_sequence)
            server->counters.inputs_repeated++;
        else if (change->sequence == player->input.next_sequence)
            hold_change(session, player, change);
        player->input.gap = false;
    }
}
