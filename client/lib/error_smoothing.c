// SPDX-License-Identifier: MIT
// error_smoothing.c: see settle.h.
#include "error_smoothing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WEIGHT_MIN 0.004 // a difference of 100 steps is then below half of one

static const foliot__offset none = {.turn = {1, 0, 0, 0}};

foliot_status foliot__settling_grow(foliot__settling *settling, uint32_t from, uint32_t to)
{
    foliot__offset *grown = realloc(settling->offsets, (size_t)to * sizeof *grown);
    if (!grown)
        return FOLIOT_STATUS_MEMORY;
    for (uint32_t i = from; i < to; i++)
        grown[i] = none;
    settling->offsets = grown;
    return FOLIOT_STATUS_OK;
}

void foliot__settling_close(foliot__settling *settling)
{
    free(settling->offsets);
    *settling = (foliot__settling){0};
}

void foliot__settling_fade(foliot__settling *settling, double tick, double ticks)
{
    if (settling->weight > 0 && tick > settling->tick)
        settling->weight *= exp((settling->tick - tick) / ticks);
    if (settling->weight < WEIGHT_MIN)
        settling->weight = 0;
    settling->tick = tick;
}

static void quat_product(const double a[4], const double b[4], double q[4])
{
    const double result[4] = {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
                              a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
                              a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
                              a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
    memcpy(q, result, sizeof result);
}

// A share of a turn: the chord, stretched to length one, which goes the same way as the arc.
static void share_of_turn(const double turn[4], double share, double part[4])
{
    double sign = turn[0] < 0 ? -1 : 1, square = 0;
    for (int i = 0; i < 4; i++) {
        part[i] = (i == 0 ? 1 - share : 0) + share * sign * turn[i];
        square += part[i] * part[i];
    }
    for (int i = 0; i < 4; i++)
        part[i] /= sqrt(square); // at least 1/2: the two ends are less than half a turn apart
}

void foliot__settling_take(foliot__settling *settling, uint32_t body,
                           const foliot_body_state *shown, const foliot_body_state *is)
{
    foliot__offset *offset = &settling->offsets[body];
    if (!shown) {
        *offset = none;
        return;
    }
    for (int k = 0; k < 3; k++)
        offset->position[k] = shown->position[k] - is->position[k];
    const double back[4] = {is->orientation[0], -is->orientation[1], -is->orientation[2],
                            -is->orientation[3]};
    quat_product(shown->orientation, back, offset->turn);
}

void foliot__settling_apply(const foliot__settling *settling, uint32_t body,
                            foliot_body_state *state)
{
    const foliot__offset *offset = &settling->offsets[body];
    double part[4];
    if (settling->weight == 0)
        return;
    for (int k = 0; k < 3; k++)
        state->position[k] += settling->weight * offset->position[k];
    share_of_turn(offset->turn, settling->weight, part);
    quat_product(part, state->orientation, state->orientation);
}
