// SPDX-License-Identifier: MIT
// shapes.h: shapes at poses, and what is true of them by their support functions alone: slow, plain
// and shared with no search that is tested against it.
#ifndef FOLIOT_TESTS_SHAPES_H
#define FOLIOT_TESTS_SHAPES_H

#include "base/rng.h"
#include "foliot/foliot.h"

typedef struct shaped {
    foliot_shape shape;
    double x[3], q[4];
} shaped;

double shape_between(foliot__rng *rng, double low, double high);
double shape_dot(const double a[3], const double b[3]);
void shape_unit(double v[3]);
void shape_turned(const double q[4], const double v[3], double out[3]); // from the body's axes

// How far the shape goes from its centre along n.
double shape_support(const shaped *s, const double n[3]);
// (Lowest of b) - (highest of a) along the unit vector n.
double shape_gap_along(const shaped *a, const shaped *b, const double n[3]);
// The greatest of those that a search from hundreds of directions finds: the gap, or a little less.
double shape_gap(const shaped *a, const shaped *b, foliot__rng *rng);
// How far a point is outside the shape, 0 within.
double shape_outside(const shaped *s, const double p[3]);
// Distance of two shapes, the first a sphere or a capsule; no more than 0 where they overlap.
double shape_distance(const shaped *round, const shaped *other);

shaped shape_random(foliot__rng *rng, uint32_t kind, double size); // at the origin
// Moves b so near to a that they overlap by up to half their size, or are a tenth apart at most.
void shape_bring_near(foliot__rng *rng, const shaped *a, shaped *b, double size);
double shape_smallest(const shaped *s);

// A world of spheres far from each other, and a body put in the place of one of them.
foliot_world *shape_world(uint32_t slots);
void shape_place(foliot_world *world, uint32_t slot, const shaped *s);

#endif
