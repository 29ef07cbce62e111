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

static void set_point(foliot__manifold *m, uint32_t at, const double arm_a[3],
                      const double arm_b[3], double gap, uint32_t feature)
{
    foliot__manifold_point *p = &m->point[at];
    for (int k = 0; k < 3; k++) {
        p->arm_a[k] = (float)arm_a[k];
        p->arm_b[k] = (float)arm_b[k];
    }
    p->gap = (float)gap;
    p->feature = feature;
}

// -- spheres with spheres and planes: most of a pile

static void collide_spheres(const foliot_world *world, double distance_max, foliot__manifold *m)
{
    foliot__v3 x = foliot__position(world);
    uint32_t a = m->a, b = m->b;
    const double d[3] = {x.x[b] - x.x[a], x.y[b] - x.y[a], x.z[b] - x.z[a]};
    double ra = foliot__radius(world)[a], rb = foliot__radius(world)[b], sum = ra + rb;
    double distance2 = foliot__vec3_dot(d, d), farthest = sum + distance_max;
    if (!(distance2 <= farthest * farthest))
        return;
    double distance = foliot__sqrt(distance2), gap = distance - sum;
    double n[3] = {0, 0, 1}; // at the same place: any direction will do
    if (distance > 0)
        for (int k = 0; k < 3; k++)
            n[k] = d[k] / distance;
    double arm_a[3], arm_b[3], half = gap / 2;
    for (int k = 0; k < 3; k++) {
        arm_a[k] = n[k] * (ra + half);
        arm_b[k] = -n[k] * (rb + half);
        m->normal[k] = (float)n[k];
    }
    set_point(m, 0, arm_a, arm_b, gap, 0);
    m->count = 1;
}

static void collide_sphere_plane(const foliot_world *world, uint32_t ball, uint32_t plane,
                                 double distance_max, foliot__manifold *m)
{
    static const double none[3];
    foliot__v3 x = foliot__position(world);
    const double n[3] = {foliot__half_x(world)[plane], foliot__half_y(world)[plane],
                         foliot__half_z(world)[plane]};
    const double at[3] = {x.x[ball], x.y[ball], x.z[ball]};
    double radius = foliot__radius(world)[ball];
    double gap = foliot__vec3_dot(n, at) - foliot__plane_offset(world)[plane] - radius;
    if (!(gap <= distance_max))
        return;
    bool first = ball == m->a;
    double arm[3];
    for (int k = 0; k < 3; k++) {
        arm[k] = -n[k] * radius; // not halfway: it rolls on its surface at any depth
        m->normal[k] = (float)(first ? -n[k] : n[k]);
    }
    set_point(m, 0, first ? arm : none, first ? none : arm, gap, 0);
    m->count = 1;
}

// -- all others

static void sort_points(foliot__shape_contact *t)
{
    for (uint32_t i = 1; i < t->count; i++) {
        struct foliot__shape_contact_point p = t->point[i];
        uint32_t at = i;
        for (; at > 0 && t->point[at - 1].feature > p.feature; at--)
            t->point[at] = t->point[at - 1];
        t->point[at] = p;
    }
}

static void store_manifold(foliot__shape_contact *t, const double d[3], bool plane, bool swapped,
                           foliot__manifold *m)
{
    sort_points(t);
    for (int k = 0; k < 3; k++)
        m->normal[k] = (float)(swapped ? -t->normal[k] : t->normal[k]);
    for (uint32_t i = 0; i < t->count; i++) {
        const struct foliot__shape_contact_point *p = &t->point[i];
        double other[3];
        for (int k = 0; k < 3; k++)
            other[k] = plane ? 0 : p->at[k] - d[k];
        set_point(m, i, swapped ? other : p->at, swapped ? p->at : other, p->gap, p->feature);
    }
    m->count = t->count;
}

static void collide_solids(const foliot_world *world, bool swapped, double distance_max,
                           foliot__manifold *m)
{
    foliot__solid s = foliot__solid_of(world, swapped ? m->b : m->a);
    foliot__solid o = foliot__solid_of(world, swapped ? m->a : m->b);
    const double d[3] = {o.x[0] - s.x[0], o.x[1] - s.x[1], o.x[2] - s.x[2]};
    foliot__shape_contact t = {.count = 0};
    if (o.kind == FOLIOT_SHAPE_PLANE)
        foliot__collide_plane(&s, &o, distance_max, &t);
    else if (o.kind == FOLIOT_SHAPE_BOX)
        foliot__collide_capsule_box(&s, &o, d, distance_max, &t);
    else
        foliot__collide_capsules(&s, &o, d, distance_max, &t);
    store_manifold(&t, d, o.kind == FOLIOT_SHAPE_PLANE, swapped, m);
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
            foliot__collide_boxes(world, pairs, boxes, waiting, speculative_distance, out);
            waiting = 0;
        }
    }
    foliot__collide_boxes(world, pairs, boxes, waiting, speculative_distance, out);
}
