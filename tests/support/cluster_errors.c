// SPDX-License-Identifier: MIT
// cluster_errors.c: how far the first client's samples are from the server's state at the times
// that they show.
#include "cluster.h"
#include "slots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#define ERRORS_MAX 65536 // kept for the quantiles

void cluster_errors_open(cluster *c)
{
    cluster_errors *e = c->errors = calloc(1, sizeof *e);
    FOLIOT_ASSERT(e);
    e->distances = calloc(ERRORS_MAX, sizeof *e->distances);
    e->turns = calloc(ERRORS_MAX, sizeof *e->turns);
    FOLIOT_ASSERT(e->distances && e->turns);
}

void cluster_errors_close(cluster *c)
{
    if (!c->errors)
        return;
    free(c->errors->distances);
    free(c->errors->turns);
    free(c->errors);
}

void cluster_errors_remember(cluster *c, uint64_t tick)
{
    const foliot_world *world = foliot_server_get_world(c->server, "main");
    cluster_errors *e = c->errors;
    uint64_t at = tick % CLUSTER_HISTORY;
    for (uint32_t b = 0; b < CLUSTER_BODIES; b++) {
        foliot_body_state state = slot_state(world, b);
        memcpy(e->positions[at][b], state.position, sizeof state.position);
        memcpy(e->orientations[at][b], state.orientation, sizeof state.orientation);
    }
}

// Where a body was between two ticks: Catmull and Rom's cubic through four ticks, good to 0.01 mm
// here.
static double position_of(const cluster_errors *e, uint64_t tick, double u, uint32_t b, int k)
{
    double p[4];
    for (int i = 0; i < 4; i++)
        p[i] = e->positions[(tick + (uint64_t)i - 1) % CLUSTER_HISTORY][b][k];
    double m1 = (p[2] - p[0]) / 2, m2 = (p[3] - p[1]) / 2, u2 = u * u, u3 = u2 * u;
    return (2 * u3 - 3 * u2 + 1) * p[1] + (u3 - 2 * u2 + u) * m1 + (3 * u2 - 2 * u3) * p[2] +
           (u3 - u2) * m2;
}

// The angle to the orientation between two ticks: spins are steady here, so the arc is a great
// circle's.
static double turn_error(const cluster_errors *e, uint64_t tick, double u, uint32_t b,
                         const double shown[4])
{
    const double *p = e->orientations[tick % CLUSTER_HISTORY][b],
                 *q = e->orientations[(tick + 1) % CLUSTER_HISTORY][b];
    double dot = 0, along = 0, norm = 0;
    for (int k = 0; k < 4; k++)
        dot += p[k] * q[k];
    double angle = acos(fmin(1, fabs(dot))), sine = sin(angle);
    for (int k = 0; k < 4; k++) {
        double t = sine > 1e-9
                       ? (sin((1 - u) * angle) * p[k] + copysign(sin(u * angle), dot) * q[k]) / sine
                       : p[k];
        along += t * shown[k];
        norm += (t - shown[k]) * (t - shown[k]);
    }
    // From the chord, which is exact where the angle is small.
    double chord = along < 0 ? sqrt(fmax(0, 4 - norm)) : sqrt(norm);
    return 4 * asin(fmin(1, chord / 2)) * 57.29577951308232;
}

void cluster_errors_compare(cluster *c, const foliot_sample *sample)
{
    cluster_errors *e = c->errors;
    uint64_t tick = (uint64_t)sample->render_tick;
    double u = sample->render_tick - (double)tick;
    if (tick < 1 || tick + 2 > c->seen_tick)
        return;
    for (uint32_t b = 0; b < CLUSTER_BODIES; b++) {
        double square = 0, jump = 0;
        for (int k = 0; k < 3; k++) {
            double error = sample->bodies[b].position[k] - position_of(e, tick, u, b, k);
            double change = error - e->last[b][k];
            e->last[b][k] = error;
            square += error * error;
            jump += change * change;
        }
        if (e->has_last)
            e->jump_max = fmax(e->jump_max, sqrt(jump));
        e->square += square;
        e->max = fmax(e->max, sqrt(square));
        double turn = turn_error(e, tick, u, b, sample->bodies[b].orientation);
        e->turn_square += turn * turn;
        e->turns[e->count % ERRORS_MAX] = (float)turn;
        e->distances[e->count++ % ERRORS_MAX] = (float)sqrt(square);
    }
    e->has_last = true;
}

static double rms(double square, uint64_t count)
{
    return count ? sqrt(square / (double)count) : 0;
}

double cluster_error_rms(const cluster *c)
{
    return rms(c->errors->square, c->errors->count);
}

double cluster_turn_rms(const cluster *c)
{
    return rms(c->errors->turn_square, c->errors->count);
}

static int by_size(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

static double quantile(const cluster_errors *e, float *errors, double share)
{
    uint64_t count = e->count < ERRORS_MAX ? e->count : ERRORS_MAX;
    if (count == 0)
        return 0;
    qsort(errors, count, sizeof *errors, by_size);
    return errors[(uint64_t)((double)(count - 1) * share)];
}

double cluster_error_quantile(cluster *c, double share)
{
    return quantile(c->errors, c->errors->distances, share);
}

double cluster_turn_quantile(cluster *c, double share)
{
    return quantile(c->errors, c->errors->turns, share);
}
