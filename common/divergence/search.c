// SPDX-License-Identifier: MIT
// search.c: the divergence search, both sides: which request comes next, and the response to one.
// Bytes in, bytes out: it does no I/O. It trusts nothing that comes from the other side; a search
// ends after FOLIOT_SEARCH_BYTES_MAX bytes, whatever the other side sends.
#include "divergence/state_layers.h"

#include "base/bytes.h"

#include <string.h>

// Requests, little-endian: the letter, u64 tick, and for RANGE u8 layer, u32 part
// (FOLIOT__ALL_PARTS: the parts themselves), u32 first entry, u32 entries per group.
// Responses: CHAIN: u64. LAYERS: u16 mask of the layers present, u64 for each of them. RANGE: u32
// entry count, u8 group count, u64 for each group: a hash, or the bits of a field if a group is
// one.
enum request_kind {
    REQUEST_CHAIN = 'C',
    REQUEST_LAYERS = 'L',
    REQUEST_RANGE = 'R',
};

enum phase { PHASE_CHAIN, PHASE_TRACE, PHASE_LAYERS, PHASE_PARTS, PHASE_FIELDS };

// -- the requesting side: start

void foliot_search_begin(foliot_search *search, uint64_t tick)
{
    *search = (foliot_search){.state = FOLIOT_SEARCH_NEEDS_TRACE,
                              .phase = PHASE_TRACE,
                              .found = {.tick = tick, .body = FOLIOT_NO_BODY}};
}

void foliot_search_begin_chain(foliot_search *search, uint64_t first, uint64_t last,
                               const uint64_t *chain)
{
    *search = (foliot_search){.state = FOLIOT_SEARCH_REQUESTS,
                              .phase = PHASE_CHAIN,
                              .first = first,
                              .last = last,
                              .low = first,
                              .high = last + 1,
                              .chain = chain,
                              .found = {.tick = last, .body = FOLIOT_NO_BODY}};
}

uint64_t foliot_search_get_tick(const foliot_search *search)
{
    return search->found.tick;
}

bool foliot__search_has_layers(const foliot_search *search)
{
    return search->phase > PHASE_LAYERS;
}

void foliot_search_set_trace(foliot_search *search, const foliot_step_trace *ours)
{
    if (search->state != FOLIOT_SEARCH_NEEDS_TRACE)
        return;
    search->trace = ours;
    search->phase = PHASE_LAYERS;
    search->state = FOLIOT_SEARCH_REQUESTS;
}

// -- the requesting side: requests

// The last tick is requested first: usually the runs agree there, and the search ends.
static uint64_t chain_tick(const foliot_search *search)
{
    return search->end_asked ? search->low + (search->high - search->low) / 2 : search->last;
}

static uint32_t requested_part(const foliot_search *search)
{
    return search->phase == PHASE_FIELDS ? search->found.part : FOLIOT__ALL_PARTS;
}

size_t foliot_search_get_request(const foliot_search *search,
                                 uint8_t request[FOLIOT_SEARCH_REQUEST_BYTES_MAX])
{
    if (search->state != FOLIOT_SEARCH_REQUESTS)
        return 0;
    foliot__writer w = foliot__writer_of(request, FOLIOT_SEARCH_REQUEST_BYTES_MAX);
    foliot__write_u8(&w, search->phase == PHASE_CHAIN    ? REQUEST_CHAIN
                         : search->phase == PHASE_LAYERS ? REQUEST_LAYERS
                                                         : REQUEST_RANGE);
    foliot__write_u64(&w, search->phase == PHASE_CHAIN ? chain_tick(search) : search->found.tick);
    if (search->phase > PHASE_LAYERS) {
        foliot__write_u8(&w, search->layer);
        foliot__write_u32(&w, requested_part(search));
        foliot__write_u32(&w, search->entry);
        foliot__write_u32(&w, search->group);
    }
    return w.at;
}

// -- the requesting side: responses

static void handle_chain(foliot_search *search, foliot__reader *r)
{
    uint64_t tick = chain_tick(search), theirs = foliot__read_u64(r);
    if (theirs == search->chain[tick - search->first])
        search->low = tick + 1;
    else
        search->high = tick;
    search->end_asked = true;
    if (search->low < search->high)
        return;
    search->found.tick = search->low;
    search->phase = PHASE_TRACE;
    search->state = search->low > search->last ? FOLIOT_SEARCH_EQUAL : FOLIOT_SEARCH_NEEDS_TRACE;
}

static const foliot__trace_layer *layer_of(const foliot_search *search)
{
    return &search->trace->layer[search->layer];
}

static void begin_phase(foliot_search *search, enum phase phase)
{
    search->phase = (uint8_t)phase;
    search->entry = 0;
    search->total = foliot__layer_entries(layer_of(search), requested_part(search));
    search->group = foliot__tree_group(search->total);
}

static void handle_layers(foliot_search *search, foliot__reader *r)
{
    uint32_t there = foliot__read_u16(r);
    uint32_t other = FOLIOT__LAYERS_MAX;
    for (uint32_t i = 0; i < FOLIOT__LAYERS_MAX; i++) {
        const foliot__trace_layer *ours = &search->trace->layer[i];
        if (!(there >> i & 1))
            continue;
        bool differs = foliot__read_u64(r) != foliot__layer_digest(ours) && ours->taken;
        if (differs && other == FOLIOT__LAYERS_MAX)
            other = i;
    }
    if (other == FOLIOT__LAYERS_MAX) { // whatever differs is in no part
        search->state = FOLIOT_SEARCH_FOUND;
        return;
    }
    search->layer = (uint8_t)other;
    foliot__divergence_stage(&search->found, search->trace, other);
    begin_phase(search, PHASE_PARTS);
}

static uint32_t group_count(uint32_t total, uint32_t first, uint32_t group)
{
    uint64_t left = total > first ? (uint64_t)total - first : 0;
    uint64_t count = (left + group - 1) / group;
    return count < FOLIOT__TREE_FANOUT ? (uint32_t)count : FOLIOT__TREE_FANOUT;
}

// The first group that differs becomes the search's entry, and *value the hash that they gave.
// False if none differs.
static bool first_other(foliot_search *search, foliot__reader *r, uint32_t groups, uint32_t theirs,
                        uint64_t *value)
{
    const foliot__trace_layer *layer = layer_of(search);
    uint32_t part = requested_part(search), ours = foliot__layer_entries(layer, part);
    bool found = false;
    uint32_t place = search->entry;
    for (uint32_t i = 0; i < FOLIOT__TREE_FANOUT; i++) {
        uint64_t at = search->entry + (uint64_t)i * search->group;
        uint32_t first = at < UINT32_MAX ? (uint32_t)at : UINT32_MAX;
        bool here = at < ours, there = at < theirs;
        uint64_t bits = i < groups ? foliot__read_u64(r) : 0;
        if (found || (!here && !there) ||
            (here && there && bits == foliot__layer_hash(layer, part, first, search->group)))
            continue;
        found = true;
        place = (uint32_t)at;
        *value = bits;
    }
    search->entry = place;
    return found;
}

static void handle_range(foliot_search *search, foliot__reader *r)
{
    uint32_t theirs = foliot__read_u32(r), groups = foliot__read_u8(r);
    uint64_t value = 0;
    if (r->status != FOLIOT_STATUS_OK ||
        groups != group_count(theirs, search->entry, search->group)) {
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
        return;
    }
    if (theirs > search->total && search->entry == 0 &&
        foliot__tree_group(theirs) > search->group) { // they have more: repeat with wider groups
        foliot__read_bytes(r, 8 * (size_t)groups);
        search->total = theirs;
        search->group = foliot__tree_group(theirs);
        return;
    }
    if (!first_other(search, r, groups, theirs, &value)) {
        search->state =
            FOLIOT_SEARCH_FOUND; // wrong hashes, or a collision: the result so far is kept
        return;
    }
    if (search->group > 1) {
        search->group /= FOLIOT__TREE_FANOUT;
        return;
    }
    if (search->phase == PHASE_PARTS) {
        foliot__divergence_part(&search->found, search->trace, search->layer, search->entry);
        begin_phase(search, PHASE_FIELDS);
        if (search->total == 0) // ours has no such part: their response gives its number of fields
            search->group = 1;
        return;
    }
    foliot__divergence_field(
        &search->found, search->trace, search->layer, search->entry,
        foliot__layer_hash(layer_of(search), search->found.part, search->entry, 1), value);
    search->state = FOLIOT_SEARCH_FOUND;
}

foliot_status foliot_search_handle_response(foliot_search *search, const uint8_t *response,
                                            size_t length)
{
    uint8_t request[FOLIOT_SEARCH_REQUEST_BYTES_MAX];
    if (search->state != FOLIOT_SEARCH_REQUESTS)
        return FOLIOT_STATUS_INVALID;
    foliot__reader r = foliot__reader_of(response, length);
    search->exchanged += (uint32_t)(foliot_search_get_request(search, request) + length);
    search->request_count++;
    if (search->phase == PHASE_CHAIN)
        handle_chain(search, &r);
    else if (search->phase == PHASE_LAYERS)
        handle_layers(search, &r);
    else
        handle_range(search, &r);
    if (r.status != FOLIOT_STATUS_OK || r.at != length) {
        search->state = FOLIOT_SEARCH_FAILED;
        return FOLIOT_STATUS_CORRUPT;
    }
    // A consistent tree ends long before this limit; an inconsistent one is cut off here.
    if (search->state == FOLIOT_SEARCH_REQUESTS &&
        search->exchanged + FOLIOT_SEARCH_REQUEST_BYTES_MAX + FOLIOT_SEARCH_RESPONSE_BYTES_MAX >
            FOLIOT_SEARCH_BYTES_MAX)
        search->state = search->phase == PHASE_CHAIN ? FOLIOT_SEARCH_FAILED : FOLIOT_SEARCH_FOUND;
    return FOLIOT_STATUS_OK;
}

// -- the responding side

foliot_status foliot_search_respond(const foliot_search_responder *responder,
                                    const uint8_t *request, size_t length,
                                    uint8_t response[FOLIOT_SEARCH_RESPONSE_BYTES_MAX],
                                    size_t *response_length, uint64_t *tick)
{
    foliot__reader r = foliot__reader_of(request, length);
    foliot__writer w = foliot__writer_of(response, FOLIOT_SEARCH_RESPONSE_BYTES_MAX);
    uint8_t kind = foliot__read_u8(&r);
    uint64_t requested = foliot__read_u64(&r);
    if (r.status != FOLIOT_STATUS_OK || length > FOLIOT_SEARCH_REQUEST_BYTES_MAX)
        return FOLIOT_STATUS_CORRUPT;
    *tick = requested;
    if (kind == REQUEST_CHAIN) {
        if (!responder->chain || requested < responder->first || requested > responder->last)
            return FOLIOT_STATUS_NOT_FOUND;
        foliot__write_u64(&w, responder->chain[requested - responder->first]);
    } else if (kind == REQUEST_LAYERS || kind == REQUEST_RANGE) {
        if (!responder->trace || responder->trace->tick != requested)
            return FOLIOT_STATUS_AGAIN;
        if (kind == REQUEST_LAYERS) {
            uint16_t there = 0;
            for (uint32_t i = 0; i < FOLIOT__LAYERS_MAX; i++)
                there |= (uint16_t)((responder->trace->layer[i].taken ? 1u : 0u) << i);
            foliot__write_u16(&w, there);
            for (uint32_t i = 0; i < FOLIOT__LAYERS_MAX; i++)
                if (responder->trace->layer[i].taken)
                    foliot__write_u64(&w, foliot__layer_digest(&responder->trace->layer[i]));
        } else {
            uint32_t index = foliot__read_u8(&r), part = foliot__read_u32(&r);
            uint32_t first = foliot__read_u32(&r), group = foliot__read_u32(&r);
            if (r.status != FOLIOT_STATUS_OK || index >= FOLIOT__LAYERS_MAX || group == 0)
                return FOLIOT_STATUS_CORRUPT;
            const foliot__trace_layer *layer = &responder->trace->layer[index];
            uint32_t total = foliot__layer_entries(layer, part);
            uint32_t groups = group_count(total, first, group);
            foliot__write_u32(&w, total);
            foliot__write_u8(&w, (uint8_t)groups);
            for (uint32_t i = 0; i < groups; i++)
                foliot__write_u64(&w, foliot__layer_hash(layer, part, first + i * group, group));
        }
    } else {
        return FOLIOT_STATUS_CORRUPT;
    }
    if (r.at != length)
        return FOLIOT_STATUS_CORRUPT;
    *response_length = w.at;
    return FOLIOT_STATUS_OK;
}
