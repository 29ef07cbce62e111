// SPDX-License-Identifier: MIT
// manifold.c: chooses the routine for each pair of shapes and stores its result as a manifold.
// Pairs of boxes are gathered and computed several at a time. Each result goes to the place of its
// pair, so the order of work does not matter.
#include "sim/collide/manifold.h"

#include "sim/collide/shape.h"

// The first of a pair is the one of lower rank; a plane is never the first.
static int rank_of(uint32_t kind)
{
    switch (kind) {
    case FOLIOT_SHAPE_SPHERE:
        return 0;
    case FOLIOT_SHAPE_CAPSULE:
        return 1;
    case FOLIOT_SHAPE_BOX:
        return 2;
    default:
        return 3;
    }
}

static void set_point(foliot__manifold *m, uint32_t at, vec3 arm_a, vec3 arm_b, double gap,
                      uint32_t feature)
{
    m->point[at] = (foliot__manifold_point){
        .arm_a = {(float)arm_a.x, (float)arm_a.y, (float)arm_a.z},
        .arm_b = {(float)arm_b.x, (float)arm_b.y, (float)arm_b.z},
        .gap = (float)gap,
        .feature = feature,
    };
}

static void set_normal(foliot__manifold *m, vec3 n)
{
    m->normal[0] = (float)n.x;
    m->normal[1] = (float)n.y;
    m->normal[2] = (float)n.z;
}

// -- spheres with spheres and planes: most of a pile

static void collide_spheres(const foliot_world *world, double distance_max, foliot__manifold *m)
{
    foliot__v3 x = foliot__position(world);
    vec3 d = vec3_sub(foliot__v3_get(x, m->b), foliot__v3_get(x, m->a));
    double ra = foliot__radius(world)[m->a], rb = foliot__radius(world)[m->b], sum = ra + rb;
    double distance2 = vec3_dot(d, d), farthest = sum + distance_max;
    if (!(distance2 <= farthest * farthest))
        return;
    double distance = foliot__sqrt(distance2), gap = distance - sum, half = gap / 2;
    // At the same place any direction will do.
    vec3 n = distance > 0 ? vec3_divide(d, distance) : (vec3){0, 0, 1};
    set_normal(m, n);
    set_point(m, 0, vec3_scale(n, ra + half), vec3_scale(vec3_negate(n), rb + half), gap, 0);
    m->count = 1;
}

static void collide_sphere_plane(const foliot_world *world, uint32_t ball, uint32_t plane,
                                 double distance_max, foliot__manifold *m)
{
    const vec3 n = {foliot__half_x(world)[plane], foliot__half_y(world)[plane],
                    foliot__half_z(world)[plane]},
               none = {0, 0, 0};
    double radius = foliot__radius(world)[ball];
    double gap = vec3_dot(n, foliot__v3_get(foliot__position(world), ball)) -
                 foliot__plane_offset(world)[plane] - radius;
    if (!(gap <= distance_max))
        return;
    bool first = ball == m->a;
    vec3 arm =
        vec3_scale(vec3_negate(n), radius); // not halfway: it rolls on its surface at any depth
    set_normal(m, first ? vec3_negate(n) : n);
    set_point(m, 0, first ? arm : none, first ? none : arm, gap, 0);
    m->count = 1;
}

// -- all others

static void collide_solids(const foliot_world *world, bool swapped, double distance_max,
                           foliot__manifold *m)
{
    foliot__solid s = foliot__solid_of(world, swapped ? m->b : m->a);
    foliot__solid o = foliot__solid_of(world, swapped ? m->a : m->b);
    vec3 d = vec3_sub(o.x, s.x);
    foliot__shape_contact t = {.count = 0};
    bool plane = o.kind == FOLIOT_SHAPE_PLANE;
    if (plane)
        foliot__collide_plane(&s, &o, distance_max, &t);
    else if (o.kind == FOLIOT_SHAPE_BOX)
        foliot__collide_capsule_box(&s, &o, d, distance_max, &t);
    else
        foliot__collide_capsules(&s, &o, d, distance_max, &t);
    for (uint32_t i = 1; i < t.count; i++) { // ascending by feature
        struct foliot__shape_contact_point p = t.point[i];
        uint32_t at = i;
        for (; at > 0 && t.point[at - 1].feature > p.feature; at--)
            t.point[at] = t.point[at - 1];
        t.point[at] = p;
    }
    set_normal(m, swapped ? vec3_negate(t.normal) : t.normal);
    for (uint32_t i = 0; i < t.count; i++) {
        const struct foliot__shape_contact_point *p = &t.point[i];
        vec3 other = plane ? (vec3){0, 0, 0} : vec3_sub(p->at, d);
        set_point(m, i, swapped ? other : p->at, swapped ? p->at : other, p->gap, p->feature);
    }
    m->count = t.count;
}

// False for a pair of boxes, which are gathered.
static bool collide_one(const foliot_world *world, double distance_max, foliot__manifold *m)
{
    const uint32_t *kind = foliot__shape_kind(world);
    uint32_t a = kind[m->a], b = kind[m->b];
    m->count = 0;
    if (a == FOLIOT_SHAPE_BOX && b == FOLIOT_SHAPE_BOX)
        return false;
    if (a == FOLIOT_SHAPE_SPHERE && b == FOLIOT_SHAPE_SPHERE)
        collide_spheres(world, distance_max, m);
    else if (a == FOLIOT_SHAPE_SPHERE && b == FOLIOT_SHAPE_PLANE)
        collide_sphere_plane(world, m->a, m->b, distance_max, m);
    else if (a == FOLIOT_SHAPE_PLANE && b == FOLIOT_SHAPE_SPHERE)
        collide_sphere_plane(world, m->b, m->a, distance_max, m);
    else if (a != FOLIOT_SHAPE_PLANE || b != FOLIOT_SHAPE_PLANE)
        collide_solids(world, rank_of(a) > rank_of(b), distance_max, m);
    return true;
}

void foliot__find_manifolds(const foliot_world *world, const foliot__body_pair *pairs,
                            uint32_t count, const float *speculative_distance,
                            foliot__manifold *out)
{
    uint32_t boxes[FOLIOT__BOX_BATCH], waiting = 0;
    for (uint32_t k = 0; k < count; k++) {
        out[k].a = pairs[k].a;
        out[k].b = pairs[k].b;
        double near =
            (double)speculative_distance[pairs[k].a] + (double)speculative_distance[pairs[k].b];
        if (collide_one(world, near, &out[k]))
            continue;
        boxes[waiting++] = k;
        if (waiting == FOLIOT__BOX_BATCH) {
            foliot__collide_boxes(world, boxes, waiting, speculative_distance, out);
            waiting = 0;
        }
    }
    foliot__collide_boxes(world, boxes, waiting, speculative_distance, out);
}
