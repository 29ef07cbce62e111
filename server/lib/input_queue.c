// SPDX-License-Identifier: MIT
// input_queue.c: the inputs of one player until their tick is closed, in the order in which they
// act. input.c fills it with changes and stream.c with ticks; step.c empties it. Invariant: what
// came one way acts in the order in which it came. Knows no peers.
#include "player.h"

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
    // It waits behind the last one that came the same way, whatever its tick.
    entry.due = entry.tick;
    uint32_t at = queue->count;
    for (uint32_t i = 0; i < queue->count; i++)
        if (entry_at(queue, i)->way == entry.way && entry_at(queue, i)->due > entry.due)
            entry.due = entry_at(queue, i)->due;
    // Of one tick changes act before what came by tick.
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
