// SPDX-License-Identifier: MIT
// prediction_view.c: interpolation and smoothing of predicted worlds (prediction_view.h).
#include "prediction_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sim/math/vec3.h"

#define FADE_TICKS 8.0      // until a correction is down to 1/e, if it is not large ...
#define FADE_JUMPS 2.0      // ... so that no frame moves a body by more than this many `jump`
#define FADE_OWN_TICKS 3.0  // of the own body, which its player feels
#define JUMP_SECONDS 0.5    // in the scene's unit of time: nothing that moves is off by more
#define CORRECTION_MIN 1e-3 // in the scene's unit of length: smaller ones are not counted

void foliot__prediction_view_close(foliot__prediction_view *view)
{
    for (int i = 0; i < 4; i++)
        free(view->ticks[i / 2][i % 2].bodies);
    free(view->shown);
    foliot__error_smoothing_close(&view->smoothing);
    foliot__error_smoothing_close(&view->own);
    *view = (foliot__prediction_view){0};
}

void foliot__prediction_view_restart(foliot__prediction_view *view)
{
    for (int i = 0; i < 4; i++)
        view->ticks[i / 2][i % 2].tick = UINT64_MAX;
    view->smoothing.weight = view->own.weight = 0;
}

static bool grow(foliot__prediction_view *view, uint32_t wanted)
{
    uint32_t capacity = wanted + wanted / 8 + 16;
    if (wanted <= view->capacity)
        return true;
    for (int i = 0; i < 4; i++) {
        foliot__predicted_tick *t = &view->ticks[i / 2][i % 2];
        if (!foliot__array_resize(&t->bodies, capacity, sizeof *t->bodies))
            return false;
    }
    if (!foliot__array_resize(&view->shown, capacity, sizeof *view->shown) ||
        foliot__error_smoothing_grow(&view->smoothing, view->capacity, capacity) !=
            FOLIOT_STATUS_OK ||
        foliot__error_smoothing_grow(&view->own, view->own.offsets ? 1 : 0, 1) != FOLIOT_STATUS_OK)
        return false;
    view->capacity = capacity;
    return true;
}

foliot_status foliot__prediction_view_append(foliot__prediction_view *view, uint32_t line,
                                             const foliot_world *world)
{
    foliot__predicted_tick *ticks = view->ticks[line], before = ticks[0];
    uint32_t count = foliot_world_get_body_count(world);
    if (!grow(view, count)) {
        ticks[0].tick = ticks[1].tick = UINT64_MAX;
        return FOLIOT_STATUS_MEMORY;
    }
    before = ticks[0];
    ticks[0] = ticks[1];
    ticks[1] = before;
    ticks[1].tick = foliot_world_get_tick(world);
    ticks[1].count = count;
    for (uint32_t i = 0; i < count; i++) {
        foliot_body_id body = foliot_world_get_body_id(world, i);
        ticks[1].bodies[i] =
            (foliot__predicted_body){foliot_world_get_body_state(world, body), body};
    }
    if (ticks[0].tick + 1 != ticks[1].tick)
        ticks[0].tick = UINT64_MAX;
    return FOLIOT_STATUS_OK;
}

// Whether both are states of one body, and near enough that it was not teleported.
static bool is_continuous(const foliot__prediction_view *view, const foliot__predicted_body *a,
                          const foliot__predicted_body *b, double time)
{
    double moved = 0, speed = 0;
    for (int k = 0; k < 3; k++) {
        double d = b->state.position[k] - a->state.position[k];
        moved += d * d;
        speed += fmax(fabs(a->state.velocity[k]), fabs(b->state.velocity[k]));
    }
    return (a->state.flags & b->state.flags & FOLIOT_BODY_ALIVE) && a->id.value == b->id.value &&
           sqrt(moved) <= speed * time + view->jump;
}

static double distance(const foliot_body_state *a, const foliot_body_state *b)
{
    return vec3_length(vec3_sub(vec3_of(a->position), vec3_of(b->position)));
}

// -- sampling

// The cubic with the given ends and end velocities (Hermite).
static void blend(const foliot_body_state *a, const foliot_body_state *b, double dt, double u,
                  foliot_body_state *state)
{
    double u2 = u * u, u3 = u2 * u, norm = 0, dot = 0;
    for (int k = 0; k < 3; k++) {
        state->position[k] = (2 * u3 - 3 * u2 + 1) * a->position[k] +
                             (u3 - 2 * u2 + u) * dt * a->velocity[k] +
                             (3 * u2 - 2 * u3) * b->position[k] + (u3 - u2) * dt * b->velocity[k];
        state->velocity[k] = (1 - u) * a->velocity[k] + u * b->velocity[k];
        state->angular_velocity[k] = (1 - u) * a->angular_velocity[k] + u * b->angular_velocity[k];
    }
    for (int k = 0; k < 4; k++)
        dot += a->orientation[k] * b->orientation[k];
    for (int k = 0; k < 4; k++) { // the chord: within a tick the arc is as good as one
        state->orientation[k] =
            (1 - u) * a->orientation[k] + (dot < 0 ? -u : u) * b->orientation[k];
        norm += state->orientation[k] * state->orientation[k];
    }
    for (int k = 0; k < 4; k++)
        state->orientation[k] /= sqrt(norm); // at least 1/2
}

// The position of a tick between the last two of a line: 0 to 1.
static double share_of(const foliot__prediction_view *view, uint32_t line, double tick)
{
    const foliot__predicted_tick *ticks = view->ticks[line];
    double u = 1 - ((double)ticks[1].tick - tick);
    return ticks[0].tick == UINT64_MAX ? 1 : fmin(fmax(u, 0), 1);
}

static foliot_body_state body_between(const foliot__prediction_view *view, uint32_t line,
                                      uint32_t i, double u)
{
    const foliot__predicted_tick *before = &view->ticks[line][0];
    const foliot__predicted_body *b = &view->ticks[line][1].bodies[i];
    foliot_body_state state = b->state;
    if (u < 1 && i < before->count && is_continuous(view, &before->bodies[i], b, 4 * view->dt))
        blend(&before->bodies[i].state, &b->state, view->dt, u, &state);
    return state;
}

// -- corrections

typedef struct replacement {
    uint32_t from, to; // lines
    double share_from, share_to;
} replacement;

// The rest of earlier corrections is part of the shown state. Returns the size of the error.
static double correct_body(const foliot__prediction_view *view, const replacement *r, uint32_t i,
                           foliot__error_smoothing *smoothing, uint32_t index)
{
    const foliot__predicted_tick *was = &view->ticks[r->from][1], *is = &view->ticks[r->to][1];
    foliot_body_state known = body_between(view, r->to, i, r->share_to), shown;
    if (i >= was->count || !is_continuous(view, &was->bodies[i], &is->bodies[i], JUMP_SECONDS)) {
        foliot__error_smoothing_set(smoothing, index, NULL, &known);
        return 0;
    }
    shown = body_between(view, r->from, i, r->share_from);
    foliot__error_smoothing_apply(smoothing, index, &shown);
    foliot__error_smoothing_set(smoothing, index, &shown, &known);
    return distance(&shown, &known);
}

static void fade(foliot__prediction_view *view, double tick)
{
    foliot__error_smoothing_fade(&view->smoothing, tick, fmax(view->fade_ticks, FADE_TICKS));
    foliot__error_smoothing_fade(&view->own, tick, FADE_OWN_TICKS);
}

void foliot__prediction_view_replace(foliot__prediction_view *view, uint32_t from, uint32_t to,
                                     double tick, uint32_t own)
{
    const foliot__predicted_tick *was = &view->ticks[from][1], *is = &view->ticks[to][1];
    replacement r = {from, to, share_of(view, from, tick), share_of(view, to, tick)};
    double farthest = 0;
    if (was->tick != is->tick || is->tick == UINT64_MAX) {
        view->smoothing.weight = view->own.weight = 0; // nothing to compare: bodies jump
        return;
    }
    bool moved = false, moved_own = false;
    for (uint32_t i = 0; i < is->count && i < was->count; i++) {
        bool apart = distance(&was->bodies[i].state, &is->bodies[i].state) > CORRECTION_MIN;
        moved |= apart;
        moved_own |= apart && i == own;
    }
    view->corrections += moved;
    view->corrections_own += moved_own;
    fade(view, tick);
    for (uint32_t i = 0; i < is->count; i++)
        if (i == own)
            correct_body(view, &r, i, &view->own, 0);
        else
            farthest = fmax(farthest, correct_body(view, &r, i, &view->smoothing, i));
    view->fade_ticks = fmax(FADE_TICKS, farthest / (FADE_JUMPS * view->jump));
    view->smoothing.weight = view->own.weight = 1;
}

bool foliot__prediction_view_sample(foliot__prediction_view *view, uint32_t line, double tick,
                                    uint32_t own, foliot_sample *sample)
{
    const foliot__predicted_tick *before = &view->ticks[line][0], *now = &view->ticks[line][1];
    if (now->tick == UINT64_MAX)
        return false;
    double last = (double)now->tick, first = before->tick == UINT64_MAX ? last : last - 1;
    tick = fmin(fmax(tick, first), last);
    fade(view, tick);
    for (uint32_t i = 0; i < now->count; i++) {
        foliot_body_state *state = &view->shown[i];
        *state = body_between(view, line, i, share_of(view, line, tick));
        if (!(state->flags & FOLIOT_BODY_ALIVE) || (state->flags & FOLIOT_BODY_STATIC))
            continue;
        if (i == own)
            foliot__error_smoothing_apply(&view->own, 0, state);
        else
            foliot__error_smoothing_apply(&view->smoothing, i, state);
    }
    *sample = (foliot_sample){.render_tick = tick, .count = now->count, .bodies = view->shown};
    return true;
}

// -- events

// Linear scans on purpose: the ring is small, and most steps have no event.

foliot_status foliot__prediction_events_open(foliot__prediction_events *events)
{
    if (!events->ring)
        events->ring = calloc(FOLIOT__PREDICTED_EVENTS, sizeof *events->ring);
    return events->ring ? FOLIOT_STATUS_OK : FOLIOT_STATUS_MEMORY;
}

void foliot__prediction_events_close(foliot__prediction_events *events)
{
    free(events->ring);
    *events = (foliot__prediction_events){.identities = events->identities};
}

void foliot__prediction_events_clear(foliot__prediction_events *events)
{
    for (uint32_t i = 0; i < FOLIOT__PREDICTED_EVENTS; i++)
        events->ring[i].event.identity = 0;
}

// The event of the same kind about the same objects. `open`: one that waits for its confirmation.
static foliot__predicted_event *find(foliot__prediction_events *events,
                                     const foliot_client_event *event, bool open)
{
    for (uint32_t i = 0; i < FOLIOT__PREDICTED_EVENTS; i++) {
        foliot__predicted_event *p = &events->ring[i];
        const foliot_client_event *e = &p->event;
        uint64_t apart = e->tick > event->tick ? e->tick - event->tick : event->tick - e->tick;
        if (e->identity && e->kind == event->kind && e->slot == event->slot &&
            e->value == event->value && apart <= FOLIOT__EVENT_TICKS && !(open && p->confirmed))
            return p;
    }
    return NULL;
}

static void add(foliot__prediction_events *events, foliot_client_event *event, bool confirmed)
{
    event->identity = ++events->identities;
    event->predicted = !confirmed;
    events->ring[events->next] = (foliot__predicted_event){*event, confirmed};
    events->next = (events->next + 1) % FOLIOT__PREDICTED_EVENTS;
}

bool foliot__prediction_events_predict(foliot__prediction_events *events,
                                       foliot_client_event *event)
{
    if (find(events, event, false))
        return false;
    add(events, event, false);
    return true;
}

bool foliot__prediction_events_confirm(foliot__prediction_events *events,
                                       foliot_client_event *event)
{
    foliot__predicted_event *open = find(events, event, true);
    if (open) {
        open->confirmed = true;
        return false;
    }
    if (event->kind == FOLIOT_CLIENT_HIT && find(events, event, false))
        return false; // the same bodies again: one sound
    add(events, event, true);
    return true;
}

bool foliot__prediction_events_cancel(foliot__prediction_events *events, uint64_t tick,
                                      foliot_client_event *event)
{
    for (uint32_t i = 0; events->ring && i < FOLIOT__PREDICTED_EVENTS; i++) {
        foliot__predicted_event *e = &events->ring[i];
        if (!e->event.identity || e->event.tick + FOLIOT__EVENT_TICKS >= tick)
            continue;
        *event = e->event;
        bool confirmed = e->confirmed;
        e->event.identity = 0;
        if (confirmed)
            continue; // nobody asks for it any more
        event->kind = FOLIOT_CLIENT_CANCELLED;
        return true;
    }
    return false;
}

// -- the clock

#define JUMP_TICKS 8   // with a larger error the clock is set again
#define GAIN 0.05      // of the error, in a tick
#define FASTER_MAX 0.1 // inputs would come late
#define SLOWER_MAX 0.05
#define AHEAD_TICKS 60 // that the mean is over
#define SAMPLE_TICKS 2 // that one sample counts for, at most
#define DELAY_MAX 256

static double turn(double off, double passed)
{
    return fmin(fmax(off * fmin(GAIN * passed, 1), -SLOWER_MAX * passed), FASTER_MAX * passed);
}

void foliot__prediction_clock_update(foliot__prediction_clock *clock, uint64_t now_ns,
                                     double tick_ns, const foliot__prediction_clock_aim *aim)
{
    double passed = clock->known ? (double)(now_ns - clock->now_ns) / tick_ns : 0;
    double now = clock->input + passed, off = aim->input - now;
    bool begins = !clock->known || fabs(off) > JUMP_TICKS;
    clock->passed = passed;
    clock->now_ns = now_ns;
    clock->input = begins ? aim->input : now + turn(off, passed);
    clock->known = true;
    // If the worlds would run too far ahead of the confirmed one, inputs are shown later. A host
    // that was held up has closed ticks waiting: neither the first update nor one after a pause
    // shows how far ahead the worlds run. A delay that is not needed is given up at once.
    double ahead = ceil(clock->input) + 1 - (double)aim->confirmed;
    double counts = fmin(passed, SAMPLE_TICKS);
    clock->seen = begins ? 0 : fmin(clock->seen + counts, AHEAD_TICKS);
    if (begins)
        clock->ahead = ahead;
    else if (counts > 0)
        clock->ahead += (ahead - clock->ahead) * counts / clock->seen;
    double delay = fmax(aim->input_delay, clock->ahead - aim->ticks_max);
    delay = fmin(delay, DELAY_MAX);
    begins |= clock->delay > delay + JUMP_TICKS;
    clock->delay = begins ? delay : clock->delay + turn(delay - clock->delay, passed);
}

uint64_t foliot__prediction_clock_input_tick(const foliot__prediction_clock *clock)
{
    return clock->input > 0 ? (uint64_t)ceil(clock->input) : 0;
}

double foliot__prediction_clock_shown(const foliot__prediction_clock *clock)
{
    return fmax(clock->input + 1 - clock->delay, 0);
}
