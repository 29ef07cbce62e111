// SPDX-License-Identifier: MIT
// response.c: responds to the server's search for a divergence (foliot/divergence.h). It repeats
// the step in question from a checkpoint, a few ticks in each update, so that the game continues.
#include <stdio.h>
#include <string.h>

#include "lockstep.h"

// Begins to repeat the step to `tick` from the checkpoint.
static bool go_back_to(foliot__lockstep_client *l, uint64_t tick)
{
    if (!l->base.valid || tick <= l->base.tick || tick > l->tick)
        return false;
    foliot__lockstep_client_drop_case(l);
    foliot__rewind_begin(&l->search.rewind, &l->kind, l->simulation.setup,
                         l->simulation.setup_bytes, l->base.state.bytes, l->base.state.length,
                         tick);
    foliot_command_list commands = {0};
    for (uint64_t t = l->base.tick; t < tick; t++) {
        uint32_t count =
            foliot__tick_log_read(&l->log, t, l->step.inputs, FOLIOT__BLOCK_INPUTS_MAX);
        if (foliot__command_log_read(&l->commands, t, &commands) != FOLIOT_STATUS_OK)
            l->counts.malformed++; // left out, as in the step
        const foliot_tick_inputs inputs = {l->step.inputs, count, commands.commands,
                                           commands.count};
        foliot__rewind_give(&l->search.rewind, &inputs);
    }
    foliot_command_list_destroy(&commands);
    size_t place = l->kept.bytes ? tick % l->kept.ticks : 0;
    if (l->kept.bytes && l->tick - tick < l->kept.ticks && l->kept.lengths[place])
        foliot__rewind_hold(&l->search.rewind, l->kept.bytes + place * l->kept.stride,
                            l->kept.lengths[place]);
    return true;
}

// An empty response means that this client has none.
static size_t respond_now(foliot__lockstep_client *l,
                          uint8_t bytes[FOLIOT_SEARCH_RESPONSE_BYTES_MAX])
{
    uint64_t tick = 0, first = l->search.request_first, before = 0;
    size_t length = 0;
    foliot_search_responder a = {0};
    a.trace = l->search.rewind.finished ? l->search.rewind.trace : NULL;
    if (l->begun && first <= l->tick && first >= l->start &&
        l->tick - first < FOLIOT__CLIENT_TICKS) {
        // The chained digests of all states from `first` on.
        for (uint64_t t = first; t <= l->tick; t++)
            before = l->search.chain[t - first] =
                foliot_digest_chain(before, l->history[t % FOLIOT__CLIENT_TICKS]);
        a.chain = l->search.chain;
        a.first = first;
        a.last = l->tick;
    }
    foliot_status status = foliot_search_respond(&a, l->search.request, l->search.request_bytes,
                                                 bytes, &length, &tick);
    if (status == FOLIOT_STATUS_AGAIN && !l->search.going_back && go_back_to(l, tick)) {
        l->search.going_back = true;
        return SIZE_MAX;
    }
    return status == FOLIOT_STATUS_OK ? length : 0;
}

size_t foliot__lockstep_client_respond(foliot__lockstep_client *l,
                                       const foliot__search_message *request,
                                       uint8_t bytes[FOLIOT_SEARCH_RESPONSE_BYTES_MAX])
{
    l->search.going_back = false;
    // The server asks because the two differ. Its status may arrive after the server's state.
    l->diverged |= l->begun && request->first >= l->start;
    l->search.number = request->number;
    l->search.request_first = request->first;
    l->search.request_bytes =
        request->length < sizeof l->search.request ? request->length : sizeof l->search.request;
    memcpy(l->search.request, request->bytes, l->search.request_bytes);
    return respond_now(l, bytes);
}

size_t foliot__lockstep_client_go_back(foliot__lockstep_client *l, uint32_t steps,
                                       uint8_t bytes[FOLIOT_SEARCH_RESPONSE_BYTES_MAX])
{
    if (!l->search.going_back || !foliot__rewind_advance(&l->search.rewind, steps))
        return SIZE_MAX;
    size_t length = respond_now(l, bytes); // going_back is still set: it does not go back twice
    foliot_simulation_destroy(&l->search.rewind.simulation); // the trace answers from now on
    l->search.going_back = false;
    return length;
}

// The case keeps its numbers, but not its states and inputs: the next search uses their memory.
void foliot__lockstep_client_drop_case(foliot__lockstep_client *l)
{
    l->search.found.before = l->search.found.after = NULL;
    l->search.found.before_bytes = l->search.found.after_bytes = 0;
    l->search.found.inputs = NULL;
    l->search.found.commands = NULL;
    l->search.found.input_count = l->search.found.command_count = 0;
}

void foliot__lockstep_client_receive_diverged(foliot__lockstep_client *l,
                                              const foliot__diverged *found)
{
    const foliot__rewind *r = &l->search.rewind;
    foliot_divergence *d = &l->search.found.divergence;
    l->search.found_names = *found;
    l->search.found = (foliot_divergence_report){0};
    *d = (foliot_divergence){.tick = found->tick,
                             .index = found->index,
                             .expected = found->expected,
                             .actual = found->actual,
                             .ulps = found->ulps,
                             .part = found->part,
                             .field = found->field,
                             .type = (foliot_value_type)found->type,
                             .body = found->body,
                             .part_known = found->part_known,
                             .field_known = found->field_known};
    d->stage_known = found->stage[0] != 0;
    d->stage_name = d->stage_known ? l->search.found_names.stage : NULL;
    d->group = found->group[0] ? l->search.found_names.group : "part";
    d->field_name = found->field_name[0] ? l->search.found_names.field_name : NULL;
    if (r->finished && r->status == FOLIOT_STATUS_OK && r->tick == found->tick)
        foliot__rewind_describe(r, &l->search.found);
    l->search.has_report = true;
    l->search.divergences++;
    foliot__rewind_release(&l->search.rewind);
}
