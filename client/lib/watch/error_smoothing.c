// SPDX-License-Identifier: MIT
// error_smoothing.c: offsets that fade (error_smoothing.h).
#include "error_smoothing.h"
#include "sim/math/vec3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define WEIGHT_MIN 0.004 // a difference of 100 steps is then below half of one

static const foliot__smoothing_offset none = {.turn = {1, 0, 0, 0}};

foliot_status foliot__error_smoothing_grow(foliot__error_smoothing *smoothing, uint32_t from,
                                           uint32_t to)
{
    if (!foliot__array_resize(&smoothing->offsets, to, sizeof *smoothing->offsets))
        return FOLIOT_STATUS_MEMORY;
    for (uint32_t i = from; i < to; i++)
        smoothing->offsets[i] = none;
    return FOLIOT_STATUS_OK;
}

void foliot__error_smoothing_close(foliot__error_smoothing *smoothing)
{
    free(smoothing->offsets);
    *smoothing = (foliot__error_smoothing){0};
}

void foliot__error_smoothing_fade(foliot__error_smoothing *smoothing, double tick, double ticks)
{
    if (smoothing->weight > 0 && tick > smoothing->tick)
        smoothing->weight *= exp((smoothing->tick - tick) / ticks);
    if (smoothing->weight < WEIGHT_MIN)
        smoothing->weight = 0;
    smoothing->tick = tick;
}

static void quat_product(const double a[4], const double b[4], double q[4])
{
    const double result[4] = {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
                              a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
                              a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
                              a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
    memcpy(q, result, sizeof result);
}

// A share of a turn: the chord, normalised, which goes the same way as the arc.
static void share_of_turn(const double turn[4], double share, double result[4])
{
    double sign = turn[0] < 0 ? -1 : 1, square = 0;
    for (int i = 0; i < 4; i++) {
        result[i] = (i == 0 ? 1 - share : 0) + share * sign * turn[i];
        square += result[i] * result[i];
    }
    for (int i = 0; i < 4; i++)
        result[i] /= sqrt(square); // at least 1/2: the two ends are less than half a turn apart
}

void foliot__error_smoothing_set(foliot__error_smoothing *smoothing, uint32_t body,
                                 const foliot_body_state *shown, const foliot_body_state *known)
{
    foliot__smoothing_offset *offset = &smoothing->offsets[body];
    if (!shown) {
        *offset = none;
        return;
    }
    vec3_store(vec3_sub(vec3_of(shown->position), vec3_of(known->position)), offset->position);
    const double back[4] = {known->orientation[0], -known->orientation[1], -known->orientation[2],
                            -known->orientation[3]};
    quat_product(shown->orientation, back, offset->turn);
}

void foliot__error_smoothing_apply(const foliot__error_smoothing *smoothing, uint32_t body,
                                   foliot_body_state *state)
{
    const foliot__smoothing_offset *offset = &smoothing->offsets[body];
    double turn[4];
    if (smoothing->weight == 0)
        return;
    vec3 moved = vec3_scale(vec3_of(offset->position), smoothing->weight);
    vec3_store(vec3_add(vec3_of(state->position), moved), state->position);
    share_of_turn(offset->turn, smoothing->weight, turn);
    quat_product(turn, state->orientation, state->orientation);
}
