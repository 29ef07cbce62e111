// SPDX-License-Identifier: MIT
// shape.h: shapes placed in the world, and what the files of geometry share. All in binary64.
#ifndef FOLIOT_SIM_COLLIDE_SHAPE_H
#define FOLIOT_SIM_COLLIDE_SHAPE_H

#include "sim/collide/collide.h"
#include "sim/collide/manifold.h"
#include "sim/math/vec3.h"

// A body's shape at its pose. Sphere: half is 0. Capsule: its segment is x +- half[2] axis[2].
typedef struct foliot__solid {
    vec3 x;
    mat3 axis;      // the body's axes in world axes
    double half[3]; // plane: its normal
    double radius;  // box: 0
    double offset;  // plane
    uint32_t kind;
} foliot__solid;

// Where two solids touch or nearly do. `at` is relative to the first's centre, halfway between the
// surfaces. Only the second may be a plane.
typedef struct foliot__shape_contact_point {
    vec3 at;
    double gap;
    uint32_t feature;
} foliot__shape_contact_point;

typedef struct foliot__shape_contact {
    vec3 normal; // unit, from the first to the second
    uint32_t count;
    foliot__shape_contact_point point[FOLIOT__POINTS];
} foliot__shape_contact;

// manifold_box.c: the manifolds of boxes listed in `which`, indices of out, in lanes.
#define FOLIOT__BOX_BATCH 64
void foliot__collide_boxes(const foliot_world *world, const uint32_t *which, uint32_t count,
                           const float *speculative_distance, foliot__manifold *out);

// shape.c: points of at most `distance_max` between the surfaces, in no
// order.
void foliot__collide_capsules(const foliot__solid *a, const foliot__solid *b, vec3 d,
                              double distance_max, foliot__shape_contact *t);
void foliot__collide_capsule_box(const foliot__solid *capsule, const foliot__solid *box, vec3 d,
                                 double distance_max, foliot__shape_contact *t);
void foliot__collide_plane(const foliot__solid *solid, const foliot__solid *plane,
                           double distance_max, foliot__shape_contact *t);

// Any two kinds but two boxes or two planes. d leads from a's centre to b's. Returns
// true if the two were swapped; *t is in that order then, too.
bool foliot__collide_two(const foliot__solid *a, const foliot__solid *b, vec3 d,
                         double distance_max, foliot__shape_contact *t);
// Finds points of at most `distance_max` between any two, with n a unit vector from a to b. Returns
// their number. Planes have arms, too. qa and qb are the orientations of boxes.
typedef struct foliot__near_point {
    vec3 arm_a, arm_b; // from the centres
    double gap;
} foliot__near_point;
uint32_t foliot__near_points(const foliot__solid *a, quat qa, const foliot__solid *b, quat qb,
                             vec3 d, double distance_max, vec3 *n,
                             foliot__near_point points[FOLIOT__POINTS]);
// The gap between any two, or a lower bound of it where they are apart, with a direction from a to
// b along which the gap is at least that.
double foliot__gap_of(const foliot__solid *a, const foliot__solid *b, vec3 d, vec3 *n);
double foliot__gap_of_boxes(const foliot__solid *a, const foliot__solid *b, vec3 d, vec3 *n);

// The shape of a slot, without its place.
static inline void foliot__solid_shape(const foliot_world *world, uint32_t slot, foliot__solid *s)
{
    s->kind = foliot__shape_kind(world)[slot];
    s->radius = s->kind == FOLIOT_SHAPE_BOX ? 0 : foliot__radius(world)[slot];
    bool extended = s->kind != FOLIOT_SHAPE_SPHERE;
    s->half[0] = extended ? foliot__half_x(world)[slot] : 0;
    s->half[1] = extended ? foliot__half_y(world)[slot] : 0;
    s->half[2] = extended ? foliot__half_z(world)[slot] : 0;
    s->offset = foliot__plane_offset(world)[slot];
}

static inline foliot__solid foliot__solid_of(const foliot_world *world, uint32_t slot)
{
    foliot__solid s;
    foliot__solid_shape(world, slot, &s);
    s.x = foliot__v3_get(foliot__position(world), slot);
    s.axis = quat_axes(foliot__quat_get(world, slot));
    return s;
}

// The square of the radius of a ball around the solid is at most twice this.
static inline double foliot__size2_of(const foliot__solid *s)
{
    vec3 half = vec3_of(s->half);
    return s->radius * s->radius + vec3_dot(half, half);
}

#endif
