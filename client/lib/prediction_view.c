// SPDX-License-Identifier: MIT
// prediction_view.c: interpolation and smoothing of predicted worlds (prediction_view.h).
#include "prediction_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FADE_TICKS 8.0      // until a correction is down to 1/e ...
#define FADE_OWN_TICKS 3.0  // ... and one of the own body, which its player feels
#define JUMP_SECONDS 0.5    // in the scene's unit of time: nothing that moves is off by more
#define CORRECTION_MIN 1e-3 // in the scene's unit of length: what is counted

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
        foliot__predicted_body *bodies = realloc(t->bodies, capacity * sizeof *bodies);
        if (!bodies)
            return false;
        t->bodies = bodies;
    }
    foliot_body_state *shown = realloc(view->shown, capacity * sizeof *shown);
    if (!shown)
        return false;
    view->shown = shown;
    if (foliot__error_smoothing_grow(&view->smoothing, view->capacity, capacity) !=
            FOLIOT_STATUS_OK ||
        foliot__error_smoothing_grow(&view->own, view->own.offsets ? 1 : 0, 1) != FOLIOT_STATUS_OK)
        return false;
    view->capacity = capacity;
    return true;
}

foliot_status foliot__prediction_view_take(foliot__prediction_view *view, uint32_t line,
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
    for (uint32_t i = 0; i < count; i++)
        ticks[1].bodies[i] = (foliot__predicted_body){foliot_world_get_body_state(world, i),
                                                      foliot_world_get_body_generation(world, i)};
    if (ticks[0].tick + 1 != ticks[1].tick)
        ticks[0].tick = UINT64_MAX;
    return FOLIOT_STATUS_OK;
}

// Both are states of one body, and not so far apart that it was put elsewhere.
static bool is_continuous(const foliot__prediction_view *view, const foliot__predicted_body *a,
                          const foliot__predicted_body *b, double time)
{
    double moved = 0, speed = 0;
    for (int k = 0; k < 3; k++) {
        double d = b->state.position[k] - a->state.position[k];
        moved += d * d;
        speed += fmax(fabs(a->state.velocity[k]), fabs(b->state.velocity[k]));
    }
    return (a->state.flags & b->state.flags & FOLIOT_BODY_ALIVE) &&
           a->generation == b->generation && sqrt(moved) <= speed * time + view->jump;
}

static double distance(const foliot_body_state *a, const foliot_body_state *b)
{
    double square = 0;
    for (int k = 0; k < 3; k++)
        square += (a->position[k] - b->position[k]) * (a->position[k] - b->position[k]);
    return sqrt(square);
}

// What is left of earlier corrections is part of what is shown.
static void correct_body(foliot__prediction_view *view, foliot__error_smoothing *smoothing,
                         uint32_t index, const foliot__predicted_body *was,
                         const foliot__predicted_body *is)
{
    foliot_body_state shown = was->state;
    foliot__error_smoothing_apply(smoothing, index, &shown);
    bool smooth = is_continuous(view, was, is, JUMP_SECONDS);
    foliot__error_smoothing_set(smoothing, index, smooth ? &shown : NULL, &is->state);
}

void foliot__prediction_view_replace(foliot__prediction_view *view, uint32_t from, uint32_t to,
                                     uint32_t own)
{
    static const foliot__predicted_body none;
    const foliot__predicted_tick *was = &view->ticks[from][1], *is = &view->ticks[to][1];
    bool moved = false, moved_own = false;
    if (was->tick != is->tick || is->tick == UINT64_MAX) {
        view->smoothing.weight = view->own.weight = 0; // nothing to compare: bodies jump
        return;
    }
    for (uint32_t i = 0; i < is->count; i++) {
        const foliot__predicted_body *before = i < was->count ? &was->bodies[i] : &none;
        bool apart = distance(&before->state, &is->bodies[i].state) > CORRECTION_MIN;
        moved |= apart;
        moved_own |= apart && i == own;
        correct_body(view, &view->smoothing, i, before, &is->bodies[i]);
        if (i == own)
            correct_body(view, &view->own, 0, before, &is->bodies[i]);
    }
    view->corrections += moved;
    view->corrections_own += moved_own;
    view->smoothing.weight = view->own.weight = 1;
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

static foliot_body_state body_between(const foliot__prediction_view *view,
                                      const foliot__predicted_tick *before,
                                      const foliot__predicted_tick *now, uint32_t i, double u)
{
    const foliot__predicted_body *b = &now->bodies[i];
    foliot_body_state state = b->state;
    if (u < 1 && i < before->count && is_continuous(view, &before->bodies[i], b, 4 * view->dt))
        blend(&before->bodies[i].state, &b->state, view->dt, u, &state);
    return state;
}

bool foliot__prediction_view_sample(foliot__prediction_view *view, uint32_t line, double tick,
                                    uint32_t own, foliot_sample *sample)
{
    const foliot__predicted_tick *before = &view->ticks[line][0], *now = &view->ticks[line][1];
    if (now->tick == UINT64_MAX)
        return false;
    double last = (double)now->tick, first = before->tick == UINT64_MAX ? last : last - 1;
    tick = fmin(fmax(tick, first), last);
    foliot__error_smoothing_fade(&view->smoothing, tick, FADE_TICKS);
    foliot__error_smoothing_fade(&view->own, tick, FADE_OWN_TICKS);
    for (uint32_t i = 0; i < now->count; i++) {
        foliot_body_state *state = &view->shown[i];
        *state = body_between(view, before, now, i, 1 - (last - tick));
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
