// SPDX-License-Identifier: MIT
// query.c: rays, casts, overlaps and nearest points. It tests every body, first by its bounding
// ball in lanes, then exactly. It knows nothing of steps, and reads no table of the block but those
// of the bodies.
#include "foliot/query.h"

#include <string.h>

#include "sim/collide/manifold_box.h"
#include "sim/collide/shape.h"
#include "sim/math/simd.h"
#include "sim/state/past.h"

#define CAST_STEPS 64
#define CAST_NEAR 0x1p-20 // of the size of what moves

static bool filter_accepts(const foliot_world *world, const foliot_query_filter *filter,
                           uint32_t slot)
{
    if (!filter)
        return foliot__is_solid(world, slot);
    uint32_t category = foliot__category(world)[slot], mask = foliot__mask(world)[slot];
    bool has_shape = foliot__is_solid(world, slot) ||
                     (filter->sensors && (foliot__flags(world)[slot] & FOLIOT_BODY_SENSOR));
    return has_shape && (filter->category == 0 || (filter->category & mask)) &&
           (filter->mask == 0 || (filter->mask & category)) &&
           (!filter->accepts || filter->accepts(filter->user, foliot__body_id(world, slot)));
}

// As foliot__solid_of, in a view of a history too.
static foliot__solid solid_in(const foliot_world *world, uint32_t slot)
{
    foliot__solid s;
    double q[4];
    foliot__solid_shape(world, slot, &s);
    s.x = foliot__v3_get(foliot__position(world), slot);
    foliot__orientation_in(world, slot, q);
    s.axis = quat_axes(quat_of(q));
    return s;
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
    vec3 from, direction;
    double distance, radius;
} swept_ball;

// Whether the bounding balls of two bodies reach the swept ball.
static inline marks near_two(const foliot_world *world, const swept_ball *s, uint32_t first)
{
#define ROW(table) (*(const lanes *)(const void *)(foliot__##table(world) + first))
    const vec3 e = s->direction;
    lanes x = ROW(position_x) - s->from.x, y = ROW(position_y) - s->from.y;
    lanes z = ROW(position_z) - s->from.z;
    lanes along = (x * e.x + y * e.y) + z * e.z;
    along = (lanes)((marks)along & (along > 0));
    lanes end = {s->distance, s->distance};
    marks beyond = along > end;
    along = FOLIOT__SELECT(lanes, beyond, end, along);
    x -= along * e.x;
    y -= along * e.y;
    z -= along * e.z;
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
    vec3 from, direction; // as the shape stands at 0
    double distance;
} ray;

// Where a ray enters a shape, and the surface's normal there.
typedef struct entry {
    double distance;
    vec3 normal;
} entry;

static vec3 ray_point_at(const ray *r, double t)
{
    return vec3_add(r->from, vec3_scale(r->direction, t));
}

// A ray that starts inside enters at once.
static bool from_within(const ray *r, entry *at)
{
    *at = (entry){0, vec3_negate(r->direction)};
    return true;
}

static bool enter_ball(const ray *r, vec3 centre, double radius, entry *at)
{
    vec3 m = vec3_sub(r->from, centre);
    double along = vec3_dot(m, r->direction);
    vec3 across = vec3_sub(m, vec3_scale(r->direction, along));
    double inside2 = radius * radius - vec3_dot(across, across);
    if (inside2 < 0)
        return false;
    double t = -along - foliot__sqrt(inside2);
    if (t < 0 || t > r->distance)
        return false;
    vec3 out = vec3_add(m, vec3_scale(r->direction, t));
    *at = (entry){t, vec3_divide(out, radius)};
    return true;
}

static bool enter_sphere(const ray *r, double radius, entry *at)
{
    if (vec3_dot(r->from, r->from) <= radius * radius)
        return from_within(r, at);
    return enter_ball(r, (vec3){0, 0, 0}, radius, at);
}

static bool enter_box(const ray *r, const double half[3], entry *at)
{
    double enter = -1, leave = r->distance;
    double from[3], direction[3], normal[3] = {0, 0, 0};
    vec3_store(r->from, from);
    vec3_store(r->direction, direction);
    int face = 0;
    for (int k = 0; k < 3; k++) {
        double p = from[k], e = direction[k];
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
        return from_within(r, at);
    normal[face] = direction[face] < 0 ? 1 : -1;
    *at = (entry){enter, vec3_of(normal)};
    return true;
}

// The tube between the two balls of a capsule that stands along z.
static bool enter_tube(const ray *r, double radius, double half, entry *at)
{
    vec3 p = r->from, e = r->direction;
    double a = e.x * e.x + e.y * e.y, b = p.x * e.x + p.y * e.y;
    if (!(a > 0x1p-60))
        return false;
    double across = p.x * e.y - p.y * e.x, inside2 = radius * radius * a - across * across;
    if (inside2 < 0)
        return false;
    double t = (-b - foliot__sqrt(inside2)) / a, z = p.z + t * e.z;
    if (t < 0 || t > r->distance || !(foliot__absolute(z) <= half))
        return false;
    *at = (entry){t, {(p.x + t * e.x) / radius, (p.y + t * e.y) / radius, 0}};
    return true;
}

static bool enter_capsule(const ray *r, double radius, double half, entry *at)
{
    double z = foliot__clamp(r->from.z, -half, half);
    const vec3 off = {r->from.x, r->from.y, r->from.z - z};
    if (vec3_dot(off, off) <= radius * radius)
        return from_within(r, at);
    if (enter_tube(r, radius, half, at))
        return true;
    // A convex body is entered once: of the two balls' entries, the first is the capsule's.
    bool met = false;
    for (int end = -1; end <= 1; end += 2) {
        entry by_end;
        if (!enter_ball(r, (vec3){0, 0, end * half}, radius, &by_end) ||
            (met && by_end.distance >= at->distance))
            continue;
        met = true;
        *at = by_end;
    }
    return met;
}

static bool enter_plane(const ray *r, const foliot__solid *plane, entry *at)
{
    vec3 n = vec3_of(plane->half);
    double height = vec3_dot(n, r->from) - plane->offset, down = -vec3_dot(n, r->direction);
    if (height <= 0)
        return from_within(r, at);
    if (!(down > 0) || height > r->distance * down)
        return false;
    *at = (entry){height / down, n};
    return true;
}

static bool ray_meets(const ray *world_ray, const foliot__solid *s, entry *at)
{
    if (s->kind == FOLIOT_SHAPE_PLANE)
        return enter_plane(world_ray, s, at);
    const ray r = {.from = mat3_apply(s->axis, vec3_sub(world_ray->from, s->x)),
                   .direction = mat3_apply(s->axis, world_ray->direction),
                   .distance = world_ray->distance};
    bool met = s->kind == FOLIOT_SHAPE_BOX       ? enter_box(&r, s->half, at)
               : s->kind == FOLIOT_SHAPE_CAPSULE ? enter_capsule(&r, s->radius, s->half[2], at)
                                                 : enter_sphere(&r, s->radius, at);
    if (met)
        at->normal = mat3_apply_transposed(s->axis, at->normal);
    return met;
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
        }
    }
}

static void set_hit(foliot_query_hit *hit, foliot_body_id body, const entry *met, vec3 point)
{
    memset(hit, 0, sizeof *hit); // its padding, too
    hit->body = body;
    hit->distance = met->distance;
    vec3_store(met->normal, hit->normal);
    vec3_store(point, hit->point);
}

typedef struct collecting {
    const foliot_world *world;
    ray r;
    foliot_query_hit *hits; // ascending
    uint32_t capacity, kept, found;
    bool first_only;
} collecting;

static double test_ray(void *context, uint32_t slot)
{
    collecting *c = context;
    foliot__solid s = solid_in(c->world, slot);
    entry met;
    if (!ray_meets(&c->r, &s, &met))
        return c->r.distance;
    c->found++;
    // The hits are kept by distance. Slots ascend, so a hit at equal distance goes behind those
    // that are there.
    uint32_t at = c->kept;
    while (at > 0 && c->hits[at - 1].distance > met.distance)
        at--;
    if (at < c->capacity) {
        if (c->kept < c->capacity)
            c->kept++;
        for (uint32_t k = c->kept - 1; k > at; k--)
            c->hits[k] = c->hits[k - 1];
        set_hit(&c->hits[at], foliot__body_id(c->world, slot), &met,
                ray_point_at(&c->r, met.distance));
    }
    if (c->first_only)
        c->r.distance = c->hits[0].distance;
    return c->r.distance;
}

// A ray of that length, and the ball of that radius that is swept along it.
static swept_ball sweep_ball(const double from[3], const double direction[3], double distance,
                             double radius, ray *r)
{
    vec3 v = vec3_of(direction);
    *r = (ray){vec3_of(from), vec3_divide(v, vec3_length(v)), distance};
    return (swept_ball){r->from, r->direction, distance, radius};
}

bool foliot_world_cast_ray(const foliot_world *world, const double from[3],
                           const double direction[3], double distance,
                           const foliot_query_filter *filter, foliot_query_hit *hit)
{
    foliot_query_hit best;
    collecting c = {.world = world, .hits = &best, .capacity = 1, .first_only = true};
    swept_ball s = sweep_ball(from, direction, distance, 0, &c.r);
    test_candidates(world, &s, filter, test_ray, &c);
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
    swept_ball s = sweep_ball(from, direction, distance, 0, &c.r);
    test_candidates(world, &s, filter, test_ray, &c);
    return c.found;
}

// -- shapes

static foliot__solid solid_at(const foliot_shape *shape, const double position[3],
                              const double orientation[4], quat *q)
{
    bool point = shape->kind == FOLIOT_SHAPE_POINT;
    foliot__solid s = {.kind = point ? FOLIOT_SHAPE_SPHERE : shape->kind};
    bool box = shape->kind == FOLIOT_SHAPE_BOX, ball = shape->kind == FOLIOT_SHAPE_SPHERE;
    *q = quat_normalise(quat_of(orientation));
    s.axis = quat_axes(*q);
    s.x = vec3_of(position);
    if (box)
        vec3_store(vec3_of(shape->half), s.half);
    else if (!point && !ball)
        s.half[2] = shape->half[2];
    s.radius = box || point ? 0 : shape->radius;
    return s;
}

static double gap_to(const foliot__solid *s, vec3 x, const foliot__solid *o, vec3 *n)
{
    foliot__solid there;
    if (o->kind == FOLIOT_SHAPE_PLANE) {
        there = *s;
        there.x = x;
        s = &there;
    }
    return foliot__gap_of(s, o, vec3_sub(o->x, x), n);
}

typedef struct casting {
    const foliot_world *world;
    foliot__solid solid;
    quat q;
    double size;
    ray r;
    foliot_query_hit *hit;
    bool met;
} casting;

// Conservative advancement: along a direction that separates two convex bodies, the gap closes no
// faster than the motion's component along it.
static bool cast_meets(const casting *c, const foliot__solid *o, entry *met)
{
    double travelled = 0;
    vec3 n;
    for (int step = 0; step < CAST_STEPS; step++) {
        double gap = gap_to(&c->solid, ray_point_at(&c->r, travelled), o, &n);
        if (gap <= c->size * CAST_NEAR || step == CAST_STEPS - 1) {
            *met = (entry){travelled, vec3_negate(n)};
            return true;
        }
        double closing = vec3_dot(n, c->r.direction);
        if (!(closing > 0) || gap > (c->r.distance - travelled) * closing)
            return false;
        travelled += (gap - c->size * (CAST_NEAR / 2)) / closing;
    }
    return false;
}

// The middle of the points at which the two touch, where the cast shape is at `at`.
static vec3 contact_point(const casting *c, vec3 at, const foliot__solid *o, uint32_t slot)
{
    vec3 d = vec3_sub(o->x, at), sum = {0, 0, 0};
    double distance_max = c->size * (16 * CAST_NEAR);
    uint32_t count;
    if (c->solid.kind == FOLIOT_SHAPE_BOX && o->kind == FOLIOT_SHAPE_BOX) {
        foliot__manifold m;
        double q[4];
        foliot__orientation_in(c->world, slot, q);
        foliot__collide_box_pair(c->q, c->solid.half, quat_of(q), o->half, d, distance_max, &m);
        count = m.count;
        for (uint32_t i = 0; i < count; i++) {
            const float *arm = m.point[i].arm_a;
            sum = vec3_add(sum, (vec3){(double)arm[0], (double)arm[1], (double)arm[2]});
        }
    } else {
        foliot__solid there = c->solid;
        foliot__shape_contact t;
        there.x = at;
        const vec3 none = {0, 0, 0};
        bool swapped = foliot__collide_two(&there, o, d, distance_max, &t);
        count = t.count;
        for (uint32_t i = 0; i < count; i++)
            sum = vec3_add(sum, vec3_add(t.point[i].at, swapped ? d : none));
    }
    return vec3_add(at, count > 0 ? vec3_divide(sum, count) : sum);
}

static double test_cast(void *context, uint32_t slot)
{
    casting *c = context;
    foliot__solid o = solid_in(c->world, slot);
    entry met;
    if (!cast_meets(c, &o, &met) || (c->met && met.distance >= c->hit->distance))
        return c->r.distance;
    vec3 at = ray_point_at(&c->r, met.distance);
    set_hit(c->hit, foliot__body_id(c->world, slot), &met, contact_point(c, at, &o, slot));
    c->met = true;
    c->r.distance = met.distance;
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
    casting c = {.world = world, .hit = &best};
    c.solid = solid_at(shape, position, orientation, &c.q);
    c.size = c.solid.radius + vec3_length(vec3_of(c.solid.half));
    swept_ball s = sweep_ball(position, direction, distance, c.size, &c.r);
    test_candidates(world, &s, filter, test_cast, &c);
    if (c.met)
        *hit = best;
    return c.met;
}

typedef struct listing {
    const foliot_world *world;
    foliot__solid solid;
    foliot_body_id *bodies;
    uint32_t capacity, found;
} listing;

static double test_overlap(void *context, uint32_t slot)
{
    listing *l = context;
    foliot__solid o = solid_in(l->world, slot);
    vec3 n;
    if (!(gap_to(&l->solid, l->solid.x, &o, &n) <= 0))
        return 0;
    if (l->found < l->capacity)
        l->bodies[l->found] = foliot__body_id(l->world, slot);
    l->found++;
    return 0;
}

uint32_t foliot_world_overlap_shape(const foliot_world *world, const foliot_shape *shape,
                                    const double position[3], const double orientation[4],
                                    const foliot_query_filter *filter, foliot_body_id *bodies,
                                    uint32_t capacity)
{
    quat q;
    listing l = {.world = world, .bodies = bodies, .capacity = capacity};
    l.solid = solid_at(shape, position, orientation, &q);
    swept_ball s = {.from = l.solid.x,
                    .radius = l.solid.radius + vec3_length(vec3_of(l.solid.half))};
    test_candidates(world, &s, filter, test_overlap, &l);
    return l.found;
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
    vec3 n;
    double gap = gap_to(&c->point, c->point.x, &o, &n);
    if (!(gap <= c->distance) || (c->met && gap >= c->hit->distance))
        return 0;
    c->met = true;
    c->distance = gap;
    c->s->radius = foliot__larger(gap, 0);
    const entry met = {gap, vec3_negate(n)};
    set_hit(c->hit, foliot__body_id(c->world, slot), &met,
            vec3_add(c->point.x, vec3_scale(n, gap)));
    return 0;
}

bool foliot_world_find_nearest(const foliot_world *world, const double from[3], double distance,
                               const foliot_query_filter *filter, foliot_query_hit *hit)
{
    static const double upright[4] = {1, 0, 0, 0};
    static const foliot_shape none = {.kind = FOLIOT_SHAPE_POINT};
    foliot_query_hit best;
    swept_ball s = {.from = vec3_of(from), .radius = distance};
    seeking c = {.world = world, .s = &s, .distance = distance, .hit = &best};
    quat q;
    c.point = solid_at(&none, from, upright, &q);
    test_candidates(world, &s, filter, test_nearest, &c);
    if (c.met)
        *hit = best;
    return c.met;
}
