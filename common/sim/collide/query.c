// SPDX-License-Identifier: MIT
// query.c: rays, casts, overlaps and nearest points. It tests every body, first by its bounding
// ball in lanes, then exactly. It knows nothing of steps, and reads no table of the block but those
// of the bodies.
#include "sim/collide/query.h"

#include <string.h>

#include "sim/collide/manifold_box.h"
#include "sim/collide/shape.h"
#include "sim/math/simd.h"
#include "sim/state/past.h"

#define CAST_STEPS 64
#define CAST_NEAR 0x1p-20 // of the size of what moves

static bool bits_agree(const foliot_world *world, const foliot_query_filter *filter, uint32_t slot)
{
    uint32_t category = foliot__category(world)[slot], mask = foliot__mask(world)[slot];
    return (filter->category == 0 || (filter->category & mask)) &&
           (filter->mask == 0 || (filter->mask & category));
}

static bool filter_accepts(const foliot_world *world, const foliot_query_filter *filter,
                           uint32_t slot)
{
    if (!filter)
        return foliot__is_solid(world, slot);
    bool has_shape = foliot__is_solid(world, slot) ||
                     (filter->sensors && (foliot__flags(world)[slot] & FOLIOT_BODY_SENSOR));
    return has_shape && bits_agree(world, filter, slot) &&
           (!filter->accepts || filter->accepts(filter->user, slot));
}

// As foliot__solid_of, in a view of a history too.
static foliot__solid solid_in(const foliot_world *world, uint32_t slot)
{
    foliot__solid s;
    double q[4];
    foliot__solid_shape(world, slot, &s);
    s.x[0] = foliot__position_x(world)[slot];
    s.x[1] = foliot__position_y(world)[slot];
    s.x[2] = foliot__position_z(world)[slot];
    foliot__orientation_in(world, slot, q);
    foliot__quat_axes(q, s.axis);
    return s;
}

static void unit_of(const double v[3], double out[3])
{
    double length = foliot__vec3_length(v);
    for (int k = 0; k < 3; k++)
        out[k] = v[k] / length;
}

// -- balls around bodies

// Two doubles: every machine has such vectors. Wider ones would be split value by value where they
// are missing.
#define TWO 2
typedef double lanes FOLIOT__SIMD(double, TWO);
typedef int64_t marks FOLIOT__SIMD(int64_t, TWO);

// A swept ball: everything that may be met comes within `radius` of the segment from `from` to its
// end.
typedef struct swept_ball {
    double from[3], direction[3], distance, radius;
    bool done; // set by a test: no other body is of interest
} swept_ball;

// Whether the bounding balls of two bodies reach the swept ball.
static inline marks near_two(const foliot_world *world, const swept_ball *s, uint32_t first)
{
#define ROW(table) (*(const lanes *)(const void *)(foliot__##table(world) + first))
    lanes x = ROW(position_x) - s->from[0], y = ROW(position_y) - s->from[1];
    lanes z = ROW(position_z) - s->from[2];
    lanes along = (x * s->direction[0] + y * s->direction[1]) + z * s->direction[2];
    along = (lanes)((marks)along & (along > 0));
    lanes end = {s->distance, s->distance};
    marks beyond = along > end;
    along = FOLIOT__SELECT(lanes, beyond, end, along);
    x -= along * s->direction[0];
    y -= along * s->direction[1];
    z -= along * s->direction[2];
    lanes away2 = (x * x + y * y) + z * z;
    lanes hx = ROW(half_x), hy = ROW(half_y), hz = ROW(half_z), own = ROW(radius);
#undef ROW
    // (p + q)^2 <= 2 p^2 + 2 q^2 has no root in it; likewise for three.
    double other = s->radius, shares = (other > 0 ? 3 : 2) * (1 + 0x1p-40);
    return away2 <= shares * ((own * own + ((hx * hx + hy * hy) + hz * hz)) + other * other);
}

// Bit l: body first + l may be met. Planes have no bounding ball and are always tested.
static unsigned near_swept_ball(const foliot_world *world, const swept_ball *s, uint32_t first)
{
    const uint32_t *kind = foliot__shape_kind(world) + first;
    unsigned bits = 0;
    for (uint32_t l = 0; l < FOLIOT__LANES; l += TWO) {
        marks near = near_two(world, s, first + l);
        for (uint32_t k = 0; k < TWO; k++) {
            unsigned plane = kind[l + k] == FOLIOT_SHAPE_PLANE;
            bits |= (((unsigned)near[k] & 1u) | plane) << (l + k);
        }
    }
    return bits;
}

// -- rays

typedef struct ray {
    double from[3], direction[3]; // as the shape stands at 0
    double distance;
} ray;

// A ray that starts inside enters at once.
static bool from_within(const ray *r, double *distance, double normal[3])
{
    *distance = 0;
    for (int k = 0; k < 3; k++)
        normal[k] = -r->direction[k];
    return true;
}

static bool enter_ball(const ray *r, const double centre[3], double radius, double *distance,
                       double normal[3])
{
    double m[3], across2 = 0;
    for (int k = 0; k < 3; k++)
        m[k] = r->from[k] - centre[k];
    double along = foliot__vec3_dot(m, r->direction);
    for (int k = 0; k < 3; k++) {
        double across = m[k] - along * r->direction[k];
        across2 += across * across;
    }
    double inside2 = radius * radius - across2;
    if (inside2 < 0)
        return false;
    double t = -along - foliot__sqrt(inside2);
    if (t < 0 || t > r->distance)
        return false;
    *distance = t;
    for (int k = 0; k < 3; k++)
        normal[k] = (m[k] + t * r->direction[k]) / radius;
    return true;
}

static bool enter_sphere(const ray *r, double radius, double *distance, double normal[3])
{
    static const double centre[3];
    if (foliot__vec3_dot(r->from, r->from) <= radius * radius)
        return from_within(r, distance, normal);
    return enter_ball(r, centre, radius, distance, normal);
}

static bool enter_box(const ray *r, const double half[3], double *distance, double normal[3])
{
    double enter = -1, leave = r->distance;
    int face = -1;
    for (int k = 0; k < 3; k++) {
        double p = r->from[k], e = r->direction[k];
        if (e == 0) {
            if (foliot__absolute(p) > half[k])
                return false;
            continue;
        }
        double sign = e < 0 ? -1 : 1, in = (-sign * half[k] - p) / e,
               out = (sign * half[k] - p) / e;
        if (in > enter) {
            enter = in;
            face = k;
        }
        leave = foliot__smaller(leave, out);
    }
    if (enter > leave || leave < 0)
        return false;
    if (enter < 0)
        return from_within(r, distance, normal);
    *distance = enter;
    for (int k = 0; k < 3; k++)
        normal[k] = k != face ? 0 : r->direction[k] < 0 ? 1 : -1;
    return true;
}

// The tube between the two balls of a capsule that stands along z.
static bool enter_tube(const ray *r, double radius, double half, double *distance, double normal[3])
{
    const double *p = r->from, *e = r->direction;
    double a = e[0] * e[0] + e[1] * e[1], b = p[0] * e[0] + p[1] * e[1];
    if (!(a > 0x1p-60))
        return false;
    double across = p[0] * e[1] - p[1] * e[0], inside2 = radius * radius * a - across * across;
    if (inside2 < 0)
        return false;
    double t = (-b - foliot__sqrt(inside2)) / a, z = p[2] + t * e[2];
    if (t < 0 || t > r->distance || !(foliot__absolute(z) <= half))
        return false;
    *distance = t;
    normal[0] = (p[0] + t * e[0]) / radius;
    normal[1] = (p[1] + t * e[1]) / radius;
    normal[2] = 0;
    return true;
}

static bool enter_capsule(const ray *r, double radius, double half, double *distance,
                          double normal[3])
{
    double z = foliot__clamp(r->from[2], -half, half);
    const double off[3] = {r->from[0], r->from[1], r->from[2] - z};
    if (foliot__vec3_dot(off, off) <= radius * radius)
        return from_within(r, distance, normal);
    if (enter_tube(r, radius, half, distance, normal))
        return true;
    // A convex body is entered once: of the two balls' entries, the first is the capsule's.
    bool met = false;
    for (int end = -1; end <= 1; end += 2) {
        const double centre[3] = {0, 0, end * half};
        double t, n[3];
        if (!enter_ball(r, centre, radius, &t, n) || (met && t >= *distance))
            continue;
        met = true;
        *distance = t;
        for (int k = 0; k < 3; k++)
            normal[k] = n[k];
    }
    return met;
}

static bool enter_plane(const ray *r, const foliot__solid *plane, double *distance,
                        double normal[3])
{
    double height = foliot__vec3_dot(plane->half, r->from) - plane->offset;
    double down = -foliot__vec3_dot(plane->half, r->direction);
    if (height <= 0)
        return from_within(r, distance, normal);
    if (!(down > 0) || height > r->distance * down)
        return false;
    *distance = height / down;
    for (int k = 0; k < 3; k++)
        normal[k] = plane->half[k];
    return true;
}

static bool ray_meets(const ray *world_ray, const foliot__solid *s, foliot_query_hit *hit)
{
    if (s->kind == FOLIOT_SHAPE_PLANE)
        return enter_plane(world_ray, s, &hit->distance, hit->normal);
    ray r = {.distance = world_ray->distance};
    double d[3], n[3];
    for (int k = 0; k < 3; k++)
        d[k] = world_ray->from[k] - s->x[k];
    for (int k = 0; k < 3; k++) {
        r.from[k] = foliot__vec3_dot(s->axis[k], d);
        r.direction[k] = foliot__vec3_dot(s->axis[k], world_ray->direction);
    }
    bool met = s->kind == FOLIOT_SHAPE_BOX ? enter_box(&r, s->half, &hit->distance, n)
               : s->kind == FOLIOT_SHAPE_CAPSULE
                   ? enter_capsule(&r, s->radius, s->half[2], &hit->distance, n)
                   : enter_sphere(&r, s->radius, &hit->distance, n);
    if (!met)
        return false;
    for (int k = 0; k < 3; k++)
        hit->normal[k] = (n[0] * s->axis[0][k] + n[1] * s->axis[1][k]) + n[2] * s->axis[2][k];
    return true;
}

// -- tests of every body

// Calls `test` for the bodies that the filter accepts and that may be met, in ascending order. It
// returns the distance that is still of interest.
typedef double candidate_test(void *context, uint32_t slot);

static void test_candidates(const foliot_world *world, swept_ball *s,
                            const foliot_query_filter *filter, candidate_test *test, void *context)
{
    uint32_t count = world->body_count;
    for (uint32_t first = 0; first < count; first += FOLIOT__LANES) {
        for (unsigned bits = near_swept_ball(world, s, first); bits; bits &= bits - 1) {
            uint32_t i = first + (uint32_t)__builtin_ctz(bits);
            if (i < count && filter_accepts(world, filter, i))
                s->distance = test(context, i);
            if (s->done)
                return;
        }
    }
}

static foliot_query_hit hit_of(uint32_t slot)
{
    foliot_query_hit hit;
    memset(&hit, 0, sizeof hit); // its padding, too
    hit.body = slot;
    return hit;
}

static void set_point(foliot_query_hit *hit, const ray *r)
{
    for (int k = 0; k < 3; k++)
        hit->point[k] = r->from[k] + hit->distance * r->direction[k];
}

typedef struct collecting {
    const foliot_world *world;
    ray r;
    foliot_query_hit *hits; // ascending
    uint32_t capacity, kept, found;
    bool first_only;
} collecting;

static void insert_hit(collecting *c, const foliot_query_hit *hit)
{
    uint32_t at = c->kept;
    // Slots ascend, so a hit at equal distance goes behind those that are there.
    while (at > 0 && c->hits[at - 1].distance > hit->distance)
        at--;
    if (at == c->capacity)
        return;
    if (c->kept < c->capacity)
        c->kept++;
    for (uint32_t k = c->kept - 1; k > at; k--)
        c->hits[k] = c->hits[k - 1];
    c->hits[at] = *hit;
}

static double test_ray(void *context, uint32_t slot)
{
    collecting *c = context;
    foliot__solid s = solid_in(c->world, slot);
    foliot_query_hit hit = hit_of(slot);
    if (!ray_meets(&c->r, &s, &hit))
        return c->r.distance;
    set_point(&hit, &c->r);
    c->found++;
    insert_hit(c, &hit);
    if (c->first_only)
        c->r.distance = c->hits[0].distance;
    return c->r.distance;
}

static void collect_hits(collecting *c, const double from[3], const double direction[3],
                         double distance, const foliot_query_filter *filter)
{
    swept_ball s = {.distance = distance};
    unit_of(direction, s.direction);
    c->r.distance = distance;
    for (int k = 0; k < 3; k++) {
        s.from[k] = c->r.from[k] = from[k];
        c->r.direction[k] = s.direction[k];
    }
    test_candidates(c->world, &s, filter, test_ray, c);
}

bool foliot_world_cast_ray(const foliot_world *world, const double from[3],
                           const double direction[3], double distance,
                           const foliot_query_filter *filter, foliot_query_hit *hit)
{
    foliot_query_hit best;
    collecting c = {.world = world, .hits = &best, .capacity = 1, .first_only = true};
    collect_hits(&c, from, direction, distance, filter);
    if (c.kept > 0)
        *hit = best;
    return c.kept > 0;
}

uint32_t foliot_world_cast_ray_all(const foliot_world *world, const double from[3],
                                   const double direction[3], double distance,
                                   const foliot_query_filter *filter, foliot_query_hit *hits,
                                   uint32_t capacity)
{
    collecting c = {.world = world, .hits = hits, .capacity = capacity};
    collect_hits(&c, from, direction, distance, filter);
    return c.found;
}

// -- shapes

static foliot__solid solid_at(const foliot_shape *shape, const double position[3],
                              const double orientation[4], double q[4])
{
    bool point = shape->kind == FOLIOT_SHAPE_POINT;
    foliot__solid s = {.kind = point ? FOLIOT_SHAPE_SPHERE : shape->kind};
    bool box = shape->kind == FOLIOT_SHAPE_BOX, ball = shape->kind == FOLIOT_SHAPE_SPHERE;
    double n = foliot__sqrt((orientation[0] * orientation[0] + orientation[1] * orientation[1]) +
                            (orientation[2] * orientation[2] + orientation[3] * orientation[3]));
    for (int k = 0; k < 4; k++)
        q[k] = orientation[k] / n;
    foliot__quat_axes(q, s.axis);
    for (int k = 0; k < 3; k++) {
        s.x[k] = position[k];
        s.half[k] = point || ball || (!box && k < 2) ? 0 : shape->half[k];
    }
    s.radius = box || point ? 0 : shape->radius;
    return s;
}

static double gap_to(const foliot__solid *s, const double x[3], const foliot__solid *o, double n[3])
{
    const double d[3] = {o->x[0] - x[0], o->x[1] - x[1], o->x[2] - x[2]};
    if (o->kind != FOLIOT_SHAPE_PLANE)
        return foliot__gap_of(s, o, d, n);
    foliot__solid there = *s;
    for (int k = 0; k < 3; k++)
        there.x[k] = x[k];
    return foliot__gap_of(&there, o, d, n);
}

typedef struct casting {
    const foliot_world *world;
    foliot__solid solid;
    double q[4];
    double size;
    ray r;
    foliot_query_hit *hit;
    bool met;
} casting;

// Conservative advancement: along a direction that separates two convex bodies, the gap closes no
// faster than the motion's component along it.
static bool cast_meets(const casting *c, const foliot__solid *o, foliot_query_hit *hit,
                       double at[3])
{
    double travelled = 0, n[3];
    for (int step = 0; step < CAST_STEPS; step++) {
        for (int k = 0; k < 3; k++)
            at[k] = c->r.from[k] + travelled * c->r.direction[k];
        double gap = gap_to(&c->solid, at, o, n);
        if (gap <= c->size * CAST_NEAR || step == CAST_STEPS - 1) {
            hit->distance = travelled;
            for (int k = 0; k < 3; k++)
                hit->normal[k] = -n[k];
            return true;
        }
        double closing = foliot__vec3_dot(n, c->r.direction);
        if (!(closing > 0) || gap > (c->r.distance - travelled) * closing)
            return false;
        travelled += (gap - c->size * (CAST_NEAR / 2)) / closing;
    }
    return false;
}

// Sets the middle of the points at which the two touch.
static void set_contact_point(const casting *c, const double at[3], const foliot__solid *o,
                              foliot_query_hit *hit)
{
    const double d[3] = {o->x[0] - at[0], o->x[1] - at[1], o->x[2] - at[2]};
    double distance_max = c->size * (16 * CAST_NEAR), sum[3] = {0, 0, 0};
    uint32_t count;
    if (c->solid.kind == FOLIOT_SHAPE_BOX && o->kind == FOLIOT_SHAPE_BOX) {
        foliot__manifold m;
        double q[4];
        foliot__orientation_in(c->world, hit->body, q);
        foliot__collide_box_pair(c->q, c->solid.half, q, o->half, d, distance_max, &m);
        count = m.count;
        for (uint32_t i = 0; i < count; i++)
            for (int k = 0; k < 3; k++)
                sum[k] += (double)m.point[i].arm_a[k];
    } else {
        foliot__solid there = c->solid;
        foliot__shape_contact t;
        for (int k = 0; k < 3; k++)
            there.x[k] = at[k];
        bool swapped = foliot__collide_two(&there, o, d, distance_max, &t);
        count = t.count;
        for (uint32_t i = 0; i < count; i++)
            for (int k = 0; k < 3; k++)
                sum[k] += t.point[i].at[k] + (swapped ? d[k] : 0);
    }
    for (int k = 0; k < 3; k++)
        hit->point[k] = at[k] + (count > 0 ? sum[k] / count : 0);
}

static double test_cast(void *context, uint32_t slot)
{
    casting *c = context;
    foliot__solid o = solid_in(c->world, slot);
    foliot_query_hit hit = hit_of(slot);
    double at[3];
    if (!cast_meets(c, &o, &hit, at) || (c->met && hit.distance >= c->hit->distance))
        return c->r.distance;
    set_contact_point(c, at, &o, &hit);
    *c->hit = hit;
    c->met = true;
    c->r.distance = hit.distance;
    return c->r.distance;
}

bool foliot_world_cast_shape(const foliot_world *world, const foliot_shape *shape,
                             const double position[3], const double orientation[4],
                             const double direction[3], double distance,
                             const foliot_query_filter *filter, foliot_query_hit *hit)
{
    if (shape->kind == FOLIOT_SHAPE_POINT)
        return foliot_world_cast_ray(world, position, direction, distance, filter, hit);
    foliot_query_hit best;
    casting c = {.world = world, .hit = &best, .r.distance = distance};
    c.solid = solid_at(shape, position, orientation, c.q);
    swept_ball s = {.distance = distance};
    s.radius = c.solid.radius + foliot__vec3_length(c.solid.half);
    c.size = s.radius;
    unit_of(direction, s.direction);
    for (int k = 0; k < 3; k++) {
        s.from[k] = c.r.from[k] = position[k];
        c.r.direction[k] = s.direction[k];
    }
    test_candidates(world, &s, filter, test_cast, &c);
    if (c.met)
        *hit = best;
    return c.met;
}

typedef struct listing {
    const foliot_world *world;
    foliot__solid solid;
    uint32_t *slots;
    uint32_t capacity, found;
    bool *done; // not NULL: the first is enough
} listing;

static double test_overlap(void *context, uint32_t slot)
{
    listing *l = context;
    foliot__solid o = solid_in(l->world, slot);
    double n[3];
    if (!(gap_to(&l->solid, l->solid.x, &o, n) <= 0))
        return 0;
    if (l->found < l->capacity)
        l->slots[l->found] = slot;
    l->found++;
    if (l->done)
        *l->done = true;
    return 0;
}

static void list_overlaps(listing *l, const foliot_shape *shape, const double position[3],
                          const double orientation[4], const foliot_query_filter *filter,
                          bool first_only)
{
    double q[4];
    l->solid = solid_at(shape, position, orientation, q);
    swept_ball s = {.radius = l->solid.radius + foliot__vec3_length(l->solid.half)};
    l->done = first_only ? &s.done : NULL;
    for (int k = 0; k < 3; k++)
        s.from[k] = position[k];
    test_candidates(l->world, &s, filter, test_overlap, l);
}

uint32_t foliot_world_overlap_shape(const foliot_world *world, const foliot_shape *shape,
                                    const double position[3], const double orientation[4],
                                    const foliot_query_filter *filter, uint32_t *slots,
                                    uint32_t capacity)
{
    listing l = {.world = world, .slots = slots, .capacity = capacity};
    list_overlaps(&l, shape, position, orientation, filter, false);
    return l.found;
}

bool foliot__shape_overlaps(const foliot_world *world, const foliot_shape *shape,
                            const double position[3], const double orientation[4],
                            const foliot_query_filter *filter)
{
    listing l = {.world = world};
    list_overlaps(&l, shape, position, orientation, filter, true);
    return l.found > 0;
}

typedef struct seeking {
    const foliot_world *world;
    foliot__solid point; // a sphere of no size
    double distance;
    swept_ball *s;
    foliot_query_hit *hit;
    bool met;
} seeking;

static double test_nearest(void *context, uint32_t slot)
{
    seeking *c = context;
    foliot__solid o = solid_in(c->world, slot);
    double n[3], gap = gap_to(&c->point, c->point.x, &o, n);
    if (!(gap <= c->distance) || (c->met && gap >= c->hit->distance))
        return 0;
    c->met = true;
    c->distance = gap;
    c->s->radius = foliot__larger(gap, 0);
    *c->hit = hit_of(slot);
    c->hit->distance = gap;
    for (int k = 0; k < 3; k++) {
        c->hit->normal[k] = -n[k];
        c->hit->point[k] = c->point.x[k] + gap * n[k];
    }
    return 0;
}

bool foliot_world_find_nearest(const foliot_world *world, const double from[3], double distance,
                               const foliot_query_filter *filter, foliot_query_hit *hit)
{
    static const double upright[4] = {1, 0, 0, 0};
    static const foliot_shape none = {.kind = FOLIOT_SHAPE_POINT};
    foliot_query_hit best;
    swept_ball s = {.radius = distance};
    seeking c = {.world = world, .s = &s, .distance = distance, .hit = &best};
    double q[4];
    c.point = solid_at(&none, from, upright, q);
    for (int k = 0; k < 3; k++)
        s.from[k] = from[k];
    test_candidates(world, &s, filter, test_nearest, &c);
    if (c.met)
        *hit = best;
    return c.met;
}
