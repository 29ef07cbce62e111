// SPDX-License-Identifier: MIT
// buffer.c: a ring of snapshots by tick, and the sampling between two of them. Pieces arrive in any
// order, twice or never. Invariant: only a complete snapshot is sampled or used as a baseline.
#include "buffer.h"
#include "sim/math/vec3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

// Ticks between the two snapshots from which a spin is computed: enough that rounding matters
// little, and so few that no body makes half a turn.
#define SPIN_TICKS 4u
#define SPIN_TICKS_MAX 12u
#define SMOOTHING_SHARE                                                                            \
    0.2 // of the time that is extrapolated at most: an offset falls to 1/e in it

foliot_status foliot__buffer_init(foliot__snapshot_buffer *buffer,
                                  const foliot_snapshot_format *format, double dt, uint64_t tick)
{
    memset(buffer, 0, sizeof *buffer);
    buffer->format = *format;
    buffer->dt = dt;
    buffer->newest = tick;
    buffer->capacity = FOLIOT__BUFFER_ENTRIES;
    for (int i = 0; i < FOLIOT__BUFFER_ENTRIES; i++)
        buffer->entries[i].snapshot.tick = UINT64_MAX;
    buffer->restored_tick[0] = buffer->restored_tick[1] = buffer->guessed_from = UINT64_MAX;
    return foliot_snapshot_coder_create(format, &buffer->coder);
}

void foliot__buffer_close(foliot__snapshot_buffer *buffer)
{
    for (int i = 0; i < FOLIOT__BUFFER_ENTRIES; i++) {
        free(buffer->entries[i].snapshot.bodies);
        free(buffer->entries[i].have);
    }
    foliot_snapshot_coder_destroy(buffer->coder);
    free(buffer->bodies);
    free(buffer->guess);
    foliot__error_smoothing_close(&buffer->smoothing);
    free(buffer->restored[0]);
    free(buffer->restored[1]);
    memset(buffer, 0, sizeof *buffer);
}

static foliot__entry *find_entry(const foliot__snapshot_buffer *buffer, uint64_t tick)
{
    for (int i = 0; i < buffer->capacity; i++)
        if (buffer->entries[i].snapshot.tick == tick)
            return (foliot__entry *)(uintptr_t)&buffer->entries[i];
    return NULL;
}

// The oldest entry, to be replaced; NULL if the new tick is older than all. The newest complete one
// stays: it was acknowledged, and the server may use it as a baseline.
static foliot__entry *oldest_entry(foliot__snapshot_buffer *buffer, uint64_t tick)
{
    foliot__entry *entry = NULL;
    for (int i = 0; i < buffer->capacity; i++) {
        foliot__entry *e = &buffer->entries[i];
        if (e->snapshot.tick == UINT64_MAX)
            return e;
        if ((!entry || e->snapshot.tick < entry->snapshot.tick) &&
            !(buffer->has_newest && e->snapshot.tick == buffer->newest))
            entry = e;
    }
    return entry->snapshot.tick < tick ? entry : NULL;
}

// -- memory

static size_t bodies_bytes(uint32_t count)
{
    return (size_t)count * sizeof(foliot_snapshot_body);
}

static size_t shown_bytes(uint32_t count)
{
    return (size_t)count * (4 * sizeof(foliot_body_state) + sizeof(foliot__smoothing_offset));
}

static void release_entry(foliot__snapshot_buffer *buffer, foliot__entry *entry)
{
    buffer->entries_bytes -= bodies_bytes(entry->snapshot.capacity);
    free(entry->snapshot.bodies);
    entry->snapshot = (foliot_snapshot){.tick = UINT64_MAX};
    entry->complete = false;
}

static uint64_t bytes_allowed(const foliot__snapshot_buffer *buffer)
{
    uint64_t earned = buffer->received < FOLIOT__BUFFER_BYTES_MAX
                          ? buffer->received * FOLIOT__BUFFER_BYTES_A_BYTE
                          : UINT64_MAX / 2;
    uint64_t allowed = earned + FOLIOT__BUFFER_BYTES_FREE;
    return allowed < FOLIOT__BUFFER_BYTES_MAX ? allowed : FOLIOT__BUFFER_BYTES_MAX;
}

// Evicts old snapshots until `bytes` more are within the limit: the oldest first, but neither the
// newest nor the one to come nor its baseline.
static void evict_until_fits(foliot__snapshot_buffer *buffer, size_t bytes,
                             const foliot__entry *entry, const foliot__entry *base)
{
    while (buffer->entries_bytes + shown_bytes(buffer->shown_capacity) + bytes >
           bytes_allowed(buffer)) {
        foliot__entry *oldest = NULL;
        for (int i = 0; i < buffer->capacity; i++) {
            foliot__entry *e = &buffer->entries[i];
            bool newest = buffer->has_newest && e->snapshot.tick == buffer->newest;
            if (e->snapshot.bodies && e != entry && e != base && !newest &&
                (!oldest || e->snapshot.tick + 1 < oldest->snapshot.tick + 1))
                oldest = e; // (an empty entry has tick UINT64_MAX and comes first)
        }
        if (!oldest)
            return;
        release_entry(buffer, oldest);
        buffer->dropped++;
    }
}

// Room for `count` bodies in the entry, whose content is lost.
static bool reserve_entry(foliot__snapshot_buffer *buffer, foliot__entry *entry, uint32_t count,
                          const foliot__entry *base)
{
    uint32_t wanted = count ? count : 1;
    if (entry->snapshot.capacity < wanted || entry->snapshot.capacity / 4 > wanted) {
        if (entry->snapshot.bodies)
            release_entry(buffer, entry);
        evict_until_fits(buffer, bodies_bytes(wanted), entry, base);
        entry->snapshot.bodies = calloc(wanted, sizeof *entry->snapshot.bodies);
        entry->snapshot.capacity = entry->snapshot.bodies ? wanted : 0;
        buffer->entries_bytes += bodies_bytes(entry->snapshot.capacity);
    }
    if (!entry->have)
        entry->have = calloc(FOLIOT__PIECES_MAX / 64, sizeof *entry->have);
    if (count > buffer->shown_max)
        buffer->shown_max = count;
    return entry->snapshot.bodies && entry->have;
}

static bool grow_states(foliot_body_state **states, uint32_t from, uint32_t to)
{
    if (!foliot__array_resize(states, to, sizeof **states))
        return false;
    memset(*states + from, 0, (size_t)(to - from) * sizeof **states);
    return true;
}

// The memory for samples is reserved at the first sample: a whole snapshot has arrived by then.
static bool reserve_samples(foliot__snapshot_buffer *buffer)
{
    uint32_t from = buffer->shown_capacity, to = buffer->shown_max;
    if (to <= from)
        return true;
    if (shown_bytes(to) > bytes_allowed(buffer)) {
        buffer->dropped++;
        return false;
    }
    if (!grow_states(&buffer->bodies, from, to) || !grow_states(&buffer->restored[0], from, to) ||
        !grow_states(&buffer->restored[1], from, to) || !grow_states(&buffer->guess, from, to) ||
        foliot__error_smoothing_grow(&buffer->smoothing, from, to) != FOLIOT_STATUS_OK)
        return false;
    buffer->shown_capacity = to;
    return true;
}

static foliot__entry *open_entry(foliot__snapshot_buffer *buffer, const foliot_snapshot_head *head,
                                 const foliot__entry *base)
{
    foliot__entry *entry = oldest_entry(buffer, head->tick);
    if (!entry || entry == base || !reserve_entry(buffer, entry, head->bodies, base))
        return NULL;
    entry->snapshot.tick = head->tick;
    entry->snapshot.count = head->bodies;
    entry->pieces = head->pieces;
    entry->pieces_here = 0;
    entry->bodies_here = 0;
    entry->complete = entry->used = false;
    memset(entry->have, 0, FOLIOT__PIECES_MAX / 8);
    return entry;
}

static void complete_entry(foliot__snapshot_buffer *buffer, foliot__entry *entry)
{
    entry->complete = true;
    if (!buffer->has_newest || entry->snapshot.tick > buffer->newest)
        buffer->newest = entry->snapshot.tick;
    buffer->has_newest = true;
}

// -- pieces

foliot__taken foliot__buffer_receive(foliot__snapshot_buffer *buffer, const uint8_t *bytes,
                                     size_t length, uint64_t *tick)
{
    foliot_snapshot_head head;
    if (foliot_snapshot_decode_head(bytes, length, buffer->newest, &head) != FOLIOT_STATUS_OK ||
        head.pieces > FOLIOT__PIECES_MAX || head.bodies > buffer->format.bodies_max)
        return FOLIOT__TAKEN_MALFORMED;
    foliot__entry *entry = find_entry(buffer, head.tick), *base = NULL;
    if (entry &&
        (entry->complete || entry->pieces != head.pieces || entry->snapshot.count != head.bodies ||
         (entry->have[head.piece / 64] >> head.piece % 64 & 1)))
        return FOLIOT__TAKEN_STALE;
    if (head.has_baseline) {
        base = find_entry(buffer, head.baseline_tick);
        if (!base || !base->complete)
            return FOLIOT__TAKEN_NO_BASELINE;
    }
    if (!entry)
        entry = open_entry(buffer, &head, base);
    if (!entry || entry == base)
        return FOLIOT__TAKEN_STALE;
    buffer->decoded += head.count;
    if (foliot_snapshot_decode(buffer->coder, bytes, length, head.tick,
                               base ? &base->snapshot : NULL, &entry->snapshot,
                               &head) != FOLIOT_STATUS_OK)
        return FOLIOT__TAKEN_MALFORMED;
    entry->have[head.piece / 64] |= (uint64_t)1 << head.piece % 64;
    entry->bodies_here += head.count;
    if (++entry->pieces_here < entry->pieces)
        return FOLIOT__TAKEN_PIECE;
    if (entry->bodies_here != entry->snapshot.count) { // the pieces belong to different snapshots
        release_entry(buffer, entry);
        return FOLIOT__TAKEN_MALFORMED;
    }
    complete_entry(buffer, entry);
    *tick = head.tick;
    return FOLIOT__TAKEN_SNAPSHOT;
}

foliot_snapshot *foliot__buffer_open(foliot__snapshot_buffer *buffer, uint64_t tick, uint32_t count)
{
    const foliot_snapshot_head head = {.tick = tick, .pieces = 1, .bodies = count};
    foliot__entry *entry = find_entry(buffer, tick) ? NULL : open_entry(buffer, &head, NULL);
    return entry ? &entry->snapshot : NULL;
}

void foliot__buffer_complete(foliot__snapshot_buffer *buffer, uint64_t tick)
{
    complete_entry(buffer, find_entry(buffer, tick));
}

const foliot_snapshot *foliot__buffer_newest(const foliot__snapshot_buffer *buffer)
{
    const foliot__entry *entry = buffer->has_newest ? find_entry(buffer, buffer->newest) : NULL;
    return entry ? &entry->snapshot : NULL;
}

// -- sampling

// The bodies of a snapshot, dequantised into one of two places; the other place is kept.
static const foliot_body_state *dequantised_states(foliot__snapshot_buffer *buffer,
                                                   const foliot_snapshot *s,
                                                   const foliot_snapshot *other)
{
    int place = 0;
    for (int i = 0; i < 2; i++) {
        if (buffer->restored_tick[i] == s->tick)
            return buffer->restored[i];
        if (buffer->restored_tick[i] == other->tick)
            place = 1 - i;
    }
    for (uint32_t i = 0; i < s->count; i++)
        buffer->restored[place][i] =
            foliot_snapshot_dequantise(&buffer->format, &s->bodies[i], buffer->dt);
    buffer->restored_tick[place] = s->tick;
    return buffer->restored[place];
}

static void extrapolate_states(const foliot__snapshot_buffer *buffer, const foliot_snapshot *from,
                               double ticks, foliot_body_state *states)
{
    // Spins are computed from this snapshot and the newest that is old enough.
    const foliot_snapshot *was = NULL;
    for (int i = 0; buffer->format.rotates && i < buffer->capacity; i++) {
        const foliot__entry *e = &buffer->entries[i];
        if (e->complete && e->snapshot.tick != UINT64_MAX &&
            e->snapshot.tick + SPIN_TICKS <= from->tick && (!was || e->snapshot.tick > was->tick))
            was = &e->snapshot;
    }
    if (was && from->tick - was->tick > SPIN_TICKS_MAX)
        was = NULL;
    double apart = was ? (double)(from->tick - was->tick) : 0;
    for (uint32_t i = 0; i < from->count; i++)
        states[i] = foliot__extrapolate_body(&buffer->format, buffer->dt,
                                             was && i < was->count ? &was->bodies[i] : NULL,
                                             &from->bodies[i], apart, ticks);
}

// The snapshots from which a tick is sampled.
typedef struct known {
    const foliot_snapshot *is, *next; // interpolated between the two; `next` NULL: extrapolated
    double tick;                      // that can be shown: clamped to the known ticks
    bool guessed;                     // extrapolated
} known;

static known look_up_tick(foliot__snapshot_buffer *buffer, double tick, double extrapolate_ticks)
{
    foliot__entry *before = NULL, *after = NULL; // complete ones: at or before the tick, and after
    for (int i = 0; i < buffer->capacity; i++) {
        foliot__entry *e = &buffer->entries[i];
        if (!e->complete || e->snapshot.tick == UINT64_MAX)
            continue;
        double t = (double)e->snapshot.tick;
        if (t <= tick && (!before || e->snapshot.tick > before->snapshot.tick))
            before = e;
        if (t > tick && (!after || e->snapshot.tick < after->snapshot.tick))
            after = e;
    }
    if (before && after) {
        before->used = after->used = true;
        return (known){&before->snapshot, &after->snapshot, tick, false};
    }
    if (before) {
        double t = (double)before->snapshot.tick;
        return (known){&before->snapshot, NULL, t + fmin(tick - t, extrapolate_ticks), true};
    }
    return after ? (known){&after->snapshot, NULL, (double)after->snapshot.tick, false}
                 : (known){0};
}

static void fill_states(foliot__snapshot_buffer *buffer, const known *k, foliot_body_state *states)
{
    double t0 = (double)k->is->tick;
    if (!k->next) {
        extrapolate_states(buffer, k->is, k->tick - t0, states);
        return;
    }
    double ticks = (double)k->next->tick - t0;
    const foliot_body_state *from = dequantised_states(buffer, k->is, k->next),
                            *to = dequantised_states(buffer, k->next, k->is);
    for (uint32_t i = 0; i < k->is->count; i++) {
        static const foliot_snapshot_body none;
        const foliot_snapshot_body *b = i < k->next->count ? &k->next->bodies[i] : &none;
        states[i] = foliot__interpolate_body(&buffer->format, buffer->dt, &k->is->bodies[i], b,
                                             &from[i], &to[i], ticks, (k->tick - t0) / ticks);
    }
}

static bool body_is_continuous(const foliot__snapshot_buffer *buffer, const foliot_snapshot *a,
                               const foliot_snapshot *b, uint32_t i)
{
    return i < a->count && i < b->count &&
           foliot__is_continuous(&buffer->format, &a->bodies[i], &b->bodies[i],
                                 (double)b->tick - (double)a->tick);
}

// The last sample was extrapolated, and now the correct state is known. Every body that moved
// continuously gets the difference as an offset that fades.
static void smooth_correction(foliot__snapshot_buffer *buffer, const known *now,
                              double extrapolate_ticks)
{
    const foliot__entry *was = find_entry(buffer, buffer->guessed_from);
    known then = look_up_tick(buffer, buffer->smoothing.tick, extrapolate_ticks);
    if (!was || !then.is || then.tick < buffer->smoothing.tick ||
        now->is->tick < was->snapshot.tick) {
        buffer->smoothing.weight = 0; // too long ago: bodies jump
        return;
    }
    fill_states(buffer, &then, buffer->guess);
    for (uint32_t i = 0; i < now->is->count; i++) {
        bool on = i < then.is->count && body_is_continuous(buffer, &was->snapshot, now->is, i) &&
                  (!now->next || body_is_continuous(buffer, now->is, now->next, i));
        foliot__error_smoothing_set(&buffer->smoothing, i, on ? &buffer->bodies[i] : NULL,
                                    &buffer->guess[i]);
    }
    buffer->smoothing.weight = 1;
}

foliot_status foliot__buffer_sample(foliot__snapshot_buffer *buffer, double tick,
                                    double extrapolate_ticks, foliot_sample *sample)
{
    known now = look_up_tick(buffer, tick, extrapolate_ticks);
    if (!now.is)
        return FOLIOT_STATUS_AGAIN;
    if (!reserve_samples(buffer))
        return FOLIOT_STATUS_AGAIN;
    if (buffer->guessed_from != UINT64_MAX && buffer->newest != buffer->guessed_from)
        smooth_correction(buffer, &now, extrapolate_ticks);
    fill_states(buffer, &now, buffer->bodies);
    foliot__error_smoothing_fade(&buffer->smoothing, now.tick, SMOOTHING_SHARE * extrapolate_ticks);
    for (uint32_t i = 0; i < now.is->count && buffer->smoothing.weight > 0; i++)
        if (now.is->bodies[i].flags & FOLIOT_SNAPSHOT_ALIVE)
            foliot__error_smoothing_apply(&buffer->smoothing, i, &buffer->bodies[i]);
    buffer->guessed_from = now.guessed ? now.is->tick : UINT64_MAX;
    *sample = (foliot_sample){.render_tick = now.tick,
                              .count = now.is->count,
                              .bodies = buffer->bodies,
                              .starved = !now.next && now.guessed};
    return FOLIOT_STATUS_OK;
}

static void show_change(foliot__snapshot_buffer *buffer, const known *k, uint32_t slot, bool there,
                        foliot_sample *sample)
{
    const foliot_snapshot_body *body =
        there && k->next && slot < k->next->count ? &k->next->bodies[slot] : NULL;
    if (!body && slot >= sample->count)
        return;
    while (sample->count <= slot) // `bodies` has room for those of every snapshot
        buffer->bodies[sample->count++] = (foliot_body_state){.orientation = {1, 0, 0, 0}};
    foliot_body_state *state = &buffer->bodies[slot];
    if (!body) {
        *state = (foliot_body_state){.orientation = {1, 0, 0, 0}};
        return;
    }
    *state = foliot_snapshot_dequantise(&buffer->format, body, buffer->dt);
    double back = ((double)k->next->tick - k->tick) * buffer->dt;
    vec3 way = vec3_scale(vec3_of(state->velocity), back);
    vec3_store(vec3_sub(vec3_of(state->position), way), state->position);
}

void foliot__buffer_show_changes(foliot__snapshot_buffer *buffer, const uint64_t *changed,
                                 uint64_t newest, const uint32_t *there, uint32_t slots,
                                 foliot_sample *sample)
{
    known k = look_up_tick(buffer, sample->render_tick, 0);
    if (!k.is || (double)k.is->tick > sample->render_tick)
        return;
    for (uint32_t slot = 0; slot < slots && newest > k.is->tick; slot++)
        if (changed[slot] > k.is->tick && (double)changed[slot] <= sample->render_tick)
            show_change(buffer, &k, slot, there[slot] != FOLIOT_NO_BODY, sample);
}

foliot_digest foliot__buffer_digest(const foliot__snapshot_buffer *buffer)
{
    foliot__entry *e = foliot__buffer_newest(buffer) ? find_entry(buffer, buffer->newest) : NULL;
    if (!e)
        return (foliot_digest){0, 0};
    if (!e->hashed || e->hashed_tick != e->snapshot.tick) {
        e->hashed = true;
        e->hashed_tick = e->snapshot.tick;
        e->digest = foliot_snapshot_get_digest(&e->snapshot);
    }
    return e->digest;
}
