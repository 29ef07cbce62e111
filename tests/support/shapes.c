// SPDX-License-Identifier: MIT
#include "shapes.h"

#include <math.h>
#include <string.h>

#include "sim/state/state.h"
#include "scene_builder.h"

double shape_between(foliot__rng *rng, double low, double high)
{
    return low + (high - low) * foliot__rng_unit(rng);
}

// -- the reference

double shape_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

void shape_unit(double v[3])
{
    double length = sqrt(shape_dot(v, v));
    for (int k = 0; k < 3; k++)
        v[k] /= length;
}

void shape_turned(const double q[4], const double v[3], double out[3])
{
    double t[3];
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        t[k] = 2 * (q[1 + i] * v[j] - q[1 + j] * v[i]);
    }
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        out[k] = v[k] + q[0] * t[k] + (q[1 + i] * t[j] - q[1 + j] * t[i]);
    }
}

// How far the shape goes from its centre along n. A plane's centre is the foot of its normal.
double shape_support(const shaped *s, const double n[3])
{
    double sum = s->shape.kind == FOLIOT_SHAPE_BOX ? 0 : s->shape.radius;
    for (int k = 0; k < 3; k++) {
        double e[3] = {0, 0, 0}, axis[3];
        e[k] = 1;
        shape_turned(s->q, e, axis);
        if (s->shape.kind == FOLIOT_SHAPE_BOX || (s->shape.kind == FOLIOT_SHAPE_CAPSULE && k == 2))
            sum += fabs(shape_dot(axis, n)) * s->shape.half[k];
    }
    return sum;
}

double shape_gap_along(const shaped *a, const shaped *b, const double n[3])
{
    const double back[3] = {-n[0], -n[1], -n[2]};
    double d[3] = {b->x[0] - a->x[0], b->x[1] - a->x[1], b->x[2] - a->x[2]};
    return shape_dot(d, n) - shape_support(a, n) - shape_support(b, back);
}

static double climb(const shaped *a, const shaped *b, double n[3], foliot__rng *rng)
{
    double best = shape_gap_along(a, b, n), size = 0.3;
    for (int i = 0; i < 400; i++) {
        double m[3];
        for (int k = 0; k < 3; k++)
            m[k] = n[k] + shape_between(rng, -size, size);
        shape_unit(m);
        double gap = shape_gap_along(a, b, m);
        if (gap > best) {
            best = gap;
            memcpy(n, m, sizeof m);
        } else {
            size *= 0.97;
        }
    }
    return best;
}

double shape_gap(const shaped *a, const shaped *b, foliot__rng *rng)
{
    double best = -INFINITY, n[3] = {0, 0, 1};
    for (int start = 0; start < 8; start++) {
        double top = -INFINITY;
        for (int i = 0; i < 40; i++) {
            double m[3];
            for (int k = 0; k < 3; k++)
                m[k] = shape_between(rng, -1, 1);
            shape_unit(m);
            double gap = shape_gap_along(a, b, m);
            if (gap > top) {
                top = gap;
                memcpy(n, m, sizeof m);
            }
        }
        best = fmax(best, climb(a, b, n, rng));
    }
    return best;
}

// Distance of a point from the shape's surface at most, 0 inside.
double shape_outside(const shaped *s, const double p[3])
{
    const double back[4] = {s->q[0], -s->q[1], -s->q[2], -s->q[3]};
    double d[3] = {p[0] - s->x[0], p[1] - s->x[1], p[2] - s->x[2]}, own[3], sum = 0;
    shape_turned(back, d, own);
    bool box = s->shape.kind == FOLIOT_SHAPE_BOX;
    for (int k = 0; k < 3; k++) {
        double half =
            box || (k == 2 && s->shape.kind == FOLIOT_SHAPE_CAPSULE) ? s->shape.half[k] : 0;
        double beyond = fmax(fabs(own[k]) - half, 0);
        sum += beyond * beyond;
    }
    return fmax(sqrt(sum) - (box ? 0 : s->shape.radius), 0);
}

// Distance of two shapes of which one is a sphere or a capsule, from points along its segment; no
// more than 0 where they overlap.
double shape_distance(const shaped *round, const shaped *other)
{
    double z[3] = {0, 0, 1}, axis[3], least = INFINITY;
    shape_turned(round->q, z, axis);
    double half = round->shape.kind == FOLIOT_SHAPE_CAPSULE ? round->shape.half[2] : 0;
    for (int i = -2000; i <= 2000; i++) {
        double p[3];
        for (int k = 0; k < 3; k++)
            p[k] = round->x[k] + axis[k] * half * i / 2000;
        least = fmin(least, shape_outside(other, p));
    }
    return least - round->shape.radius;
}

// -- worlds

shaped shape_random(foliot__rng *rng, uint32_t kind, double size)
{
    shaped s = {.shape = {.kind = kind, .radius = size * shape_between(rng, 0.2, 1)}};
    for (int k = 0; k < 3; k++)
        s.shape.half[k] = size * shape_between(rng, 0.2, 1);
    double length = 0;
    for (int k = 0; k < 4; k++) {
        s.q[k] = shape_between(rng, -1, 1);
        length += s.q[k] * s.q[k];
    }
    if (foliot__rng_below(rng, 4) == 0) { // stands straight, as most boxes do
        s.q[0] = length = 1;
        s.q[1] = s.q[2] = s.q[3] = 0;
    }
    for (int k = 0; k < 4; k++)
        s.q[k] /= sqrt(length);
    return s;
}

foliot_world *shape_world(uint32_t slots)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    for (uint32_t i = 0; i < slots; i++)
        builder_add_ball(&y, 1, 1, 4.0 * i, 0, 0);
    foliot_world *world = builder_create_world(&y);
    builder_free(&y);
    return world;
}

void shape_place(foliot_world *world, uint32_t i, const shaped *s)
{
    bool plane = s->shape.kind == FOLIOT_SHAPE_PLANE;
    const double *extent = plane ? s->shape.normal : s->shape.half;
    foliot__shape_kind(world)[i] = s->shape.kind;
    foliot__radius(world)[i] = s->shape.radius;
    foliot__half_x(world)[i] = extent[0];
    foliot__half_y(world)[i] = extent[1];
    foliot__half_z(world)[i] = extent[2];
    foliot__plane_offset(world)[i] = s->shape.offset;
    foliot__position_x(world)[i] = s->x[0];
    foliot__position_y(world)[i] = s->x[1];
    foliot__position_z(world)[i] = s->x[2];
    foliot__orientation_w(world)[i] = s->q[0];
    foliot__orientation_x(world)[i] = s->q[1];
    foliot__orientation_y(world)[i] = s->q[2];
    foliot__orientation_z(world)[i] = s->q[3];
}

// b so near a that they overlap by up to a part of their size, or are up to that apart.
void shape_bring_near(foliot__rng *rng, const shaped *a, shaped *b, double size)
{
    double n[3];
    for (int k = 0; k < 3; k++) {
        n[k] = shape_between(rng, -1, 1);
        b->x[k] = a->x[k];
    }
    shape_unit(n);
    double way = -shape_gap_along(a, b, n) + size * shape_between(rng, -0.5, 0.1);
    for (int k = 0; k < 3; k++)
        b->x[k] += n[k] * way;
}

double shape_smallest(const shaped *s)
{
    const double *h = s->shape.half;
    return s->shape.kind == FOLIOT_SHAPE_BOX ? fmin(fmin(h[0], h[1]), h[2]) : s->shape.radius;
}
