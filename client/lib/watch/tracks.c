// SPDX-License-Identifier: MIT
// tracks.c: the states of single bodies (tracks.h).
#include "tracks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "wire/lockstep_message.h"
#include "sim/math/vec3.h"

#define BYTES_FREE (32u << 20) // that may be held whatever has come ...
#define BYTES_A_BYTE 256       // ... and for each byte received
#define SPIN_TICKS_MAX 64      // between two states from which a spin is computed
#define SMOOTHING_TICKS 6.0    // an offset falls to 1/e in them
#define WEIGHT_MIN 0.004
#define STATES_FIRST 4

foliot_status foliot__tracks_create(const foliot_snapshot_format *format, double dt, uint64_t tick,
                                    foliot__tracks **out)
{
    foliot__tracks *t = calloc(1, sizeof *t);
    if (!t || foliot__partial_coder_create(format, &t->coder) != FOLIOT_STATUS_OK) {
        free(t);
        return FOLIOT_STATUS_MEMORY;
    }
    t->format = *format;
    t->dt = dt;
    t->newest = tick; // near which low bits are read
    *out = t;
    return FOLIOT_STATUS_OK;
}

void foliot__tracks_destroy(foliot__tracks *t)
{
    if (!t)
        return;
    for (uint32_t i = 0; i < t->capacity; i++)
        free(t->tracks[i].states);
    foliot__partial_coder_destroy(t->coder);
    free(t->tracks);
    free(t->bodies);
    free(t);
}

// -- memory

static bool may_hold(const foliot__tracks *t, size_t more)
{
    return t->bytes + more <= BYTES_FREE + t->received * BYTES_A_BYTE;
}

static bool reserve_slots(foliot__tracks *t, uint32_t count)
{
    if (count <= t->capacity)
        return true;
    uint32_t capacity = count + count / 4 + 64;
    if (capacity > t->format.bodies_max)
        capacity = t->format.bodies_max;
    size_t more = (capacity - t->capacity) * (sizeof *t->tracks + sizeof *t->bodies);
    if (!may_hold(t, more))
        return false;
    if (!foliot__array_resize(&t->tracks, capacity, sizeof *t->tracks) ||
        !foliot__array_resize(&t->bodies, capacity, sizeof *t->bodies))
        return false;
    for (uint32_t i = t->capacity; i < capacity; i++) {
        t->tracks[i] = (foliot__track){.guessed_from = UINT64_MAX};
        t->bodies[i] = (foliot_body_state){.orientation = {1, 0, 0, 0}};
    }
    t->capacity = capacity;
    t->bytes += more;
    return true;
}

// Room for one more; the oldest makes place if there are as many as are kept.
static bool reserve_state(foliot__tracks *t, foliot__track *track)
{
    if (track->count < track->capacity)
        return true;
    if (track->capacity == FOLIOT__PARTIAL_BASELINES) {
        memmove(track->states, track->states + 1, --track->count * sizeof *track->states);
        return true;
    }
    uint32_t capacity = track->capacity ? 2u * track->capacity : STATES_FIRST;
    size_t more = (capacity - track->capacity) * sizeof *track->states;
    if (!may_hold(t, more) ||
        !foliot__array_resize(&track->states, capacity, sizeof *track->states))
        return false;
    track->capacity = (uint8_t)capacity;
    t->bytes += more;
    return true;
}

// -- taking packets

static bool put_state(foliot__tracks *t, foliot__track *track, uint64_t tick,
                      const foliot_snapshot_body *body)
{
    if (!reserve_state(t, track))
        return false;
    uint32_t at = track->count;
    while (at > 0 && track->states[at - 1].tick > tick)
        at--;
    if (at > 0 && track->states[at - 1].tick == tick)
        return true;
    memmove(track->states + at + 1, track->states + at,
            (track->count - at) * sizeof *track->states);
    track->states[at] = (foliot__track_state){tick, *body};
    track->count++;
    return true;
}

static void forget_states(foliot__track *track, uint64_t tick)
{
    uint32_t gone = 0;
    while (gone < track->count && track->states[gone].tick <= tick)
        gone++;
    if (gone > 0) // there may be no states at all
        memmove(track->states, track->states + gone, (track->count - gone) * sizeof *track->states);
    track->count = (uint8_t)(track->count - gone);
    track->forgotten = tick;
    track->guessed_from = UINT64_MAX;
    track->weight = 0;
}

// The baseline of an item of the packet for `tick`. Sets the item's age if it names none.
static const foliot_snapshot_body *find_base(const foliot__track *track, uint64_t tick,
                                             foliot__partial_item *item)
{
    uint32_t at = track->count;
    if (!item->newest) {
        while (at > 0 && (item->age == 0 || item->age > tick ||
                          track->states[at - 1].tick != tick - item->age))
            at--;
        return at > 0 ? &track->states[at - 1].body : NULL;
    }
    while (at > 0 && track->states[at - 1].tick >= tick)
        at--;
    if (at == 0 || tick - track->states[at - 1].tick > FOLIOT__PARTIAL_AGE_MAX)
        return NULL;
    item->age = (uint32_t)(tick - track->states[at - 1].tick);
    return &track->states[at - 1].body;
}

static foliot__tracks_taken apply_item(foliot__tracks *t, foliot__partial_item *item, uint64_t tick)
{
    if (!reserve_slots(t, item->slot + 1)) {
        t->dropped++;
        return FOLIOT__TRACKS_NO_BASELINE;
    }
    foliot__track *track = &t->tracks[item->slot];
    t->count = item->slot >= t->count ? item->slot + 1 : t->count;
    if (item->leaves) {
        track->told = true;
        if (tick >= track->forgotten)
            forget_states(track, tick);
        return FOLIOT__TRACKS_TAKEN;
    }
    item->base = find_base(track, tick, item);
    if ((item->age > 0 || item->newest) && !item->base)
        return FOLIOT__TRACKS_NO_BASELINE;
    if (foliot__partial_body(t->coder, item) != FOLIOT_STATUS_OK)
        return FOLIOT__TRACKS_MALFORMED;
    track->told = true;
    t->decoded++;
    if (tick > track->forgotten && !put_state(t, track, tick, &item->body)) {
        t->dropped++;
        return FOLIOT__TRACKS_NO_BASELINE; // so that it is not acknowledged
    }
    return FOLIOT__TRACKS_TAKEN;
}

foliot__tracks_taken foliot__tracks_receive(foliot__tracks *t, const uint8_t *bytes, size_t length,
                                            uint64_t *tick)
{
    foliot__partial_head head;
    foliot__partial_item item;
    if (foliot__partial_begin(t->coder, bytes, length, &head) != FOLIOT_STATUS_OK)
        return FOLIOT__TRACKS_MALFORMED;
    *tick = foliot__tick_near(head.tick, t->newest);
    // It arrived before, or is too old to be acknowledged.
    uint32_t back = t->sequence - head.sequence, ahead = head.sequence - t->sequence;
    bool newer = t->sequence == 0 || (ahead > 0 && ahead <= UINT32_MAX / 2);
    if (!newer && (back == 0 || back > 64 || (t->before >> (back - 1) & 1)))
        return FOLIOT__TRACKS_STALE;
    foliot__partial_step step;
    while ((step = foliot__partial_next(t->coder, t->format.bodies_max, &item)) ==
           FOLIOT__PARTIAL_ITEM) {
        foliot__tracks_taken taken = apply_item(t, &item, *tick);
        if (taken != FOLIOT__TRACKS_TAKEN)
            return taken;
    }
    if (step == FOLIOT__PARTIAL_CORRUPT)
        return FOLIOT__TRACKS_MALFORMED;
    if (!newer) {
        t->before |= (uint64_t)1 << (back - 1);
    } else {
        if (t->sequence != 0) {
            t->before = ahead < 64 ? t->before << ahead : 0;
            t->before |= ahead <= 64 ? (uint64_t)1 << (ahead - 1) : 0;
        }
        t->sequence = head.sequence;
    }
    t->newest = !t->has_newest || *tick > t->newest ? *tick : t->newest;
    t->has_newest = true;
    return FOLIOT__TRACKS_TAKEN;
}

void foliot__tracks_acknowledge(const foliot__tracks *t, foliot__partial_acknowledge *packet)
{
    packet->newest = t->sequence;
    packet->before = t->before;
}

uint64_t foliot__tracks_newest_of(const foliot__tracks *t, uint32_t slot)
{
    const foliot__track *track = slot < t->capacity ? &t->tracks[slot] : NULL;
    return track && track->count > 0 ? track->states[track->count - 1].tick : UINT64_MAX;
}

// -- sampling

// The body at a tick, from the states known now. False: it is not there yet.
static bool state_at(const foliot__tracks *t, const foliot__track *track, double tick,
                     double extrapolate_ticks, foliot_body_state *state, uint64_t *guessed_from)
{
    uint32_t at = track->count;
    *guessed_from = UINT64_MAX;
    while (at > 0 && (double)track->states[at - 1].tick > tick)
        at--;
    if (at == 0)
        return false;
    const foliot__track_state *is = &track->states[at - 1];
    double since = tick - (double)is->tick;
    if (at < track->count) {
        const foliot__track_state *next = &track->states[at];
        double ticks = (double)(next->tick - is->tick);
        foliot_body_state from = foliot_snapshot_dequantise(&t->format, &is->body, t->dt),
                          to = foliot_snapshot_dequantise(&t->format, &next->body, t->dt);
        *state = foliot__interpolate_body(&t->format, t->dt, &is->body, &next->body, &from, &to,
                                          ticks, since / ticks);
        return true;
    }
    // Its spin is computed from this state and the one before.
    const foliot__track_state *was = at > 1 ? is - 1 : is;
    uint64_t apart = is->tick - was->tick;
    *state = foliot__extrapolate_body(&t->format, t->dt,
                                      apart > 0 && apart <= SPIN_TICKS_MAX ? &was->body : NULL,
                                      &is->body, (double)apart, fmin(since, extrapolate_ticks));
    *guessed_from = is->tick;
    return true;
}

// A wrongly extrapolated body is shown where it was, and glides to its correct place.
static void correct(foliot__tracks *t, foliot__track *track, double extrapolate_ticks,
                    const foliot_body_state *shown)
{
    foliot_body_state known;
    uint64_t from;
    foliot__error_smoothing s = {.offsets = &track->offset, .weight = 1};
    bool on = shown->flags != 0 && track->count > 1 &&
              state_at(t, track, t->shown, extrapolate_ticks, &known, &from) &&
              foliot__is_continuous(&t->format, &track->states[track->count - 2].body,
                                    &track->states[track->count - 1].body,
                                    (double)(track->states[track->count - 1].tick -
                                             track->states[track->count - 2].tick));
    if (on)
        foliot__error_smoothing_set(&s, 0, shown, &known);
    track->weight = on;
}

static void sample_track(foliot__tracks *t, foliot__track *track, double tick,
                         double extrapolate_ticks, foliot_body_state *body)
{
    foliot_body_state state;
    uint64_t from;
    if (track->guessed_from != UINT64_MAX && track->count > 0 &&
        track->states[track->count - 1].tick != track->guessed_from)
        correct(t, track, extrapolate_ticks, body);
    bool here = state_at(t, track, tick, extrapolate_ticks, &state, &from) && state.flags != 0;
    track->guessed_from = here ? from : UINT64_MAX;
    if (!here) {
        *body = (foliot_body_state){.orientation = {1, 0, 0, 0}};
        return;
    }
    track->weight *= tick > t->shown ? exp((t->shown - tick) / SMOOTHING_TICKS) : 1;
    if (track->weight < WEIGHT_MIN)
        track->weight = 0;
    const foliot__error_smoothing s = {.offsets = &track->offset, .weight = track->weight};
    foliot__error_smoothing_apply(&s, 0, &state);
    *body = state;
}

static void assume(const foliot_scene *scene, uint32_t slot, foliot_body_state *body)
{
    const foliot_body_definition *known = &scene->bodies[slot];
    double length = 0;
    *body = (foliot_body_state){.flags = FOLIOT_BODY_ALIVE};
    body->flags |= known->is_static ? FOLIOT_BODY_STATIC : 0;
    memcpy(body->position, known->position, sizeof body->position);
    for (int i = 0; i < 4; i++)
        length += known->orientation[i] * known->orientation[i];
    for (int i = 0; i < 4; i++)
        body->orientation[i] = known->orientation[i] / sqrt(length);
}

foliot_status foliot__tracks_sample(foliot__tracks *t, const foliot_scene *scene, double tick,
                                    double extrapolate_ticks, foliot_sample *sample)
{
    uint32_t known = scene ? scene->body_count : 0;
    if (!t->has_newest)
        return FOLIOT_STATUS_AGAIN;
    if (known <= t->format.bodies_max && reserve_slots(t, known))
        t->count = known > t->count ? known : t->count;
    double newest = (double)t->newest + extrapolate_ticks;
    bool starved = tick > (double)t->newest;
    tick = fmin(tick, newest);
    for (uint32_t i = 0; i < t->count; i++) {
        if (i < known && !t->tracks[i].told)
            assume(scene, i, &t->bodies[i]);
        else
            sample_track(t, &t->tracks[i], tick, extrapolate_ticks, &t->bodies[i]);
    }
    t->shown = tick;
    *sample = (foliot_sample){
        .render_tick = tick, .count = t->count, .bodies = t->bodies, .starved = starved};
    return FOLIOT_STATUS_OK;
}
