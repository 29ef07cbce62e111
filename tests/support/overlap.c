// SPDX-License-Identifier: MIT
// overlap.c: separating axes (Gottschalk, Lin and Manocha 1996) for boxes, the nearest point for
// spheres.
#include "overlap.h"

#include <math.h>
#include <stdlib.h>

// Columns: the body's axes in the world.
static void axes_of(const solid *s, double axis[3][3])
{
    const double *q = s->orientation;
    double w = q[0], x = q[1], y = q[2], z = q[3], n = w * w + x * x + y * y + z * z;
    const double rows[3][3] = {
        {w * w + x * x - y * y - z * z, 2 * (x * y + w * z), 2 * (x * z - w * y)},
        {2 * (x * y - w * z), w * w - x * x + y * y - z * z, 2 * (y * z + w * x)},
        {2 * (x * z + w * y), 2 * (y * z - w * x), w * w - x * x - y * y + z * z}};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            axis[k][i] = rows[k][i] / n;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double extent_along(const solid *s, const double axis[3][3], const double way[3])
{
    return s->half[0] * fabs(dot(axis[0], way)) + s->half[1] * fabs(dot(axis[1], way)) +
           s->half[2] * fabs(dot(axis[2], way));
}

static double boxes(const solid *a, const solid *b)
{
    double ua[3][3], ub[3][3], between[3], least = INFINITY;
    axes_of(a, ua);
    axes_of(b, ub);
    for (int k = 0; k < 3; k++)
        between[k] = b->position[k] - a->position[k];
    for (int n = 0; n < 15; n++) {
        double way[3];
        const double *u = n < 3 ? ua[n] : n < 6 ? ub[n - 3] : ua[(n - 6) / 3], *v = ub[n % 3];
        for (int k = 0; k < 3; k++) {
            int i = (k + 1) % 3, j = (k + 2) % 3;
            way[k] = n < 6 ? u[k] : u[i] * v[j] - u[j] * v[i];
        }
        double length = sqrt(dot(way, way));
        if (length < 1e-6) // parallel edges: the faces say it all
            continue;
        double depth =
            extent_along(a, ua, way) + extent_along(b, ub, way) - fabs(dot(between, way));
        least = fmin(least, depth / length);
    }
    return least;
}

static double box_and_sphere(const solid *box, const solid *ball)
{
    double axis[3][3], between[3], outside = 0, inside = INFINITY;
    axes_of(box, axis);
    for (int k = 0; k < 3; k++)
        between[k] = ball->position[k] - box->position[k];
    for (int k = 0; k < 3; k++) {
        double beyond = fabs(dot(axis[k], between)) - box->half[k];
        outside += beyond > 0 ? beyond * beyond : 0;
        inside = fmin(inside, -beyond);
    }
    return ball->radius + (outside > 0 ? -sqrt(outside) : inside);
}

double overlap_of(const solid *a, const solid *b)
{
    if (a->is_sphere != b->is_sphere)
        return a->is_sphere ? box_and_sphere(b, a) : box_and_sphere(a, b);
    if (!a->is_sphere)
        return boxes(a, b);
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += (b->position[k] - a->position[k]) * (b->position[k] - a->position[k]);
    return a->radius + b->radius - sqrt(sum);
}

typedef struct span {
    double begin, end; // along x
    const solid *solid;
} span;

static int by_begin(const void *a, const void *b)
{
    double x = ((const span *)a)->begin, y = ((const span *)b)->begin;
    return (x > y) - (x < y);
}

static double reach_of(const solid *s)
{
    return s->is_sphere ? s->radius : sqrt(dot(s->half, s->half));
}

// Spheres around the two overlap in y and z.
static bool near(const solid *a, const solid *b)
{
    double reach = reach_of(a) + reach_of(b);
    return fabs(a->position[1] - b->position[1]) <= reach &&
           fabs(a->position[2] - b->position[2]) <= reach;
}

double overlap_deepest(const solid *solids, uint32_t count)
{
    span *spans = malloc((count + 1) * sizeof *spans);
    double deepest = 0;
    for (uint32_t i = 0; i < count && spans; i++) {
        double x = solids[i].position[0], reach = reach_of(&solids[i]);
        spans[i] = (span){x - reach, x + reach, &solids[i]};
    }
    if (!spans)
        abort();
    qsort(spans, count, sizeof *spans, by_begin);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = i + 1; j < count && spans[j].begin <= spans[i].end; j++) {
            const solid *a = spans[i].solid, *b = spans[j].solid;
            if (!(a->is_static && b->is_static) && near(a, b))
                deepest = fmax(deepest, overlap_of(a, b));
        }
    free(spans);
    return deepest;
}
