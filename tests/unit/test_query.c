// SPDX-License-Identifier: MIT
// test_query.c: rays, casts, overlaps and nearest points, against walking along the ray by the
// distance to the nearest surface (which is computed from points alone), and against looking at
// every body. SEED=.
#include "check.h"
#include "pace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foliot/query.h"
#include "shapes.h"
#include "sim/state/state.h"

#define ROUNDS (PACE_SLOW ? 50 : 150) // of the two whose judge takes most of the time

enum { BODIES = 61 };

typedef struct setting {
    foliot__rng rng;
    foliot_world *world;
    shaped body[BODIES];
} setting;

static void random_point(foliot__rng *rng, double size, double p[3])
{
    for (int k = 0; k < 3; k++)
        p[k] = shape_between(rng, -size, size);
}

static setting *set_up(bool plane)
{
    static const uint32_t kinds[3] = {FOLIOT_SHAPE_SPHERE, FOLIOT_SHAPE_CAPSULE, FOLIOT_SHAPE_BOX};
    static setting s;
    s.rng = foliot__rng_seeded(check_seed(20262));
    s.world = shape_world(BODIES);
    for (uint32_t i = 0; i < BODIES; i++) {
        s.body[i] = shape_random(&s.rng, kinds[i % 3], i % 7 == 0 ? 4 : 1);
        random_point(&s.rng, 8, s.body[i].x);
        if (plane && i == 30) {
            s.body[i].shape =
                (foliot_shape){.kind = FOLIOT_SHAPE_PLANE, .normal = {0.6, 0, 0.8}, .offset = -9};
        }
        shape_place(s.world, i, &s.body[i]);
    }
    return &s;
}

static double outside_of(const shaped *s, const double p[3])
{
    if (s->shape.kind == FOLIOT_SHAPE_PLANE)
        return fmax(shape_dot(s->shape.normal, p) - s->shape.offset, 0);
    return shape_outside(s, p);
}

// By steps no longer than the distance to the body; infinite where it is missed.
static double walk(const shaped *s, const double from[3], const double direction[3], double far,
                   double radius)
{
    double way = 0;
    for (int i = 0; i < 4000 && way <= far; i++) {
        double p[3];
        for (int k = 0; k < 3; k++)
            p[k] = from[k] + way * direction[k];
        double gap = outside_of(s, p) - radius;
        if (gap < 1e-10)
            return way;
        way += gap;
    }
    return INFINITY;
}

TEST(rays_meet_what_a_walk_along_them_meets)
{
    setting *s = set_up(true);
    uint32_t met = 0;
    for (int i = 0; i < 2000; i++) {
        double from[3], to[3], n[3], far = shape_between(&s->rng, 1, 40);
        random_point(&s->rng, 20, from);
        random_point(&s->rng, 8, to);
        for (int k = 0; k < 3; k++)
            n[k] = to[k] - from[k];
        const double long_way[3] = {7 * n[0], 7 * n[1], 7 * n[2]};
        shape_unit(n);
        double first = INFINITY;
        uint32_t count = 0, body = 0, doubtful = 0;
        for (uint32_t b = 0; b < BODIES; b++) {
            double way = walk(&s->body[b], from, n, far, 0);
            doubtful += fabs(way - far) < 1e-6;
            count += way <= far;
            if (way < first) {
                first = way;
                body = b;
            }
        }
        foliot_query_hit hit = {.body = {12345}}, all[BODIES];
        bool is = foliot_world_cast_ray(s->world, from, long_way, far, NULL, &hit);
        if (doubtful == 0)
            assert_int_equal(is, first <= far);
        if (!is) {
            assert_int_equal(foliot_body_id_get_slot(hit.body), 12345);
            continue;
        }
        met++;
        check_near(hit.distance, first, 1e-5);
        if (first > 0)
            assert_int_equal(foliot_body_id_get_slot(hit.body), body);
        check_near(shape_dot(hit.normal, hit.normal), 1, 1e-12);
        if (first > 0) { // out of the surface
            double above[3];
            for (int k = 0; k < 3; k++) {
                check_near(hit.point[k], from[k] + n[k] * hit.distance, 1e-12);
                above[k] = hit.point[k] + 1e-3 * hit.normal[k];
            }
            check_near(outside_of(&s->body[body], above), 1e-3, 1e-6);
            check_below(outside_of(&s->body[body], hit.point), 1e-9);
        }
        uint32_t found =
            foliot_world_cast_ray_all(s->world, from, long_way, far, NULL, all, BODIES);
        if (doubtful == 0) { // grazing rays are for rounding to judge
            check_le(found, count + 1);
            check_ge(found + 1, count);
        }
        check_bits(all[0].distance, hit.distance);
        assert_int_equal(all[0].body.value, hit.body.value);
        for (uint32_t k = 1; k < found; k++)
            assert_true(all[k - 1].distance < all[k].distance ||
                        (all[k - 1].distance == all[k].distance &&
                         all[k - 1].body.value < all[k].body.value));
        foliot_query_hit few[3];
        assert_int_equal(foliot_world_cast_ray_all(s->world, from, long_way, far, NULL, few, 3),
                         found);
        for (uint32_t k = 0; k < found && k < 3; k++)
            assert_int_equal(few[k].body.value, all[k].body.value);
        assert_int_equal(foliot_world_cast_ray_all(s->world, from, long_way, far, NULL, NULL, 0),
                         found);
    }
    printf("%u of 2000 rays meet something\n", met);
    check_gt(met, 800);
    check_lt(met, 2000);
    foliot_world_destroy(s->world);
}

static bool odd(void *user, foliot_body_id body)
{
    uint32_t *last = user, slot = foliot_body_id_get_slot(body);
    assert_true(*last == UINT32_MAX || slot > *last); // ascending, each once
    *last = slot;
    return slot % 2 == 1;
}

TEST(filters_leave_bodies_out)
{
    setting *s = set_up(false);
    for (int i = 0; i < 300; i++) {
        double from[3], to[3];
        random_point(&s->rng, 20, from);
        random_point(&s->rng, 8, to);
        const double n[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
        foliot_query_hit all[BODIES], some[BODIES];
        uint32_t last = UINT32_MAX, kept = 0;
        const foliot_query_filter filter = {.accepts = odd, .user = &last};
        uint32_t count = foliot_world_cast_ray_all(s->world, from, n, 99, NULL, all, BODIES);
        uint32_t fewer = foliot_world_cast_ray_all(s->world, from, n, 99, &filter, some, BODIES);
        for (uint32_t k = 0; k < count; k++)
            if (foliot_body_id_get_slot(all[k].body) % 2 == 1)
                assert_memory_equal(&all[k], &some[kept++], sizeof *all);
        assert_int_equal(kept, fewer);
        last = UINT32_MAX;
        foliot_query_hit hit;
        assert_int_equal(foliot_world_cast_ray(s->world, from, n, 99, &filter, &hit), fewer > 0);
        if (fewer > 0)
            assert_memory_equal(&hit, &some[0], sizeof hit);
    }
    foliot_world_destroy(s->world);
}

TEST(a_cast_sphere_stops_where_it_touches)
{
    setting *s = set_up(true);
    static const double upright[4] = {1, 0, 0, 0};
    uint32_t met = 0;
    for (int i = 0; i < 600; i++) {
        double from[3], n[3], radius = shape_between(&s->rng, 0.01, 1), first = INFINITY;
        const foliot_shape ball = {.kind = FOLIOT_SHAPE_SPHERE, .radius = radius};
        random_point(&s->rng, 12, from);
        random_point(&s->rng, 1, n);
        shape_unit(n);
        for (uint32_t b = 0; b < BODIES; b++)
            first = fmin(first, walk(&s->body[b], from, n, 20, radius));
        foliot_query_hit hit;
        bool is = foliot_world_cast_shape(s->world, &ball, from, upright, n, 20, NULL, &hit);
        if (!isfinite(first) || fabs(first - 20) < 1e-4) {
            assert_true(!is || hit.distance > 19.9 || !isfinite(first));
            continue;
        }
        assert_true(is);
        met++;
        check_near(hit.distance, first, 1e-3); // where it only grazes
        double at[3];
        for (int k = 0; k < 3; k++)
            at[k] = from[k] + hit.distance * n[k];
        double gap = outside_of(&s->body[foliot_body_id_get_slot(hit.body)], at) - radius;
        check_below(gap, 2e-6 * radius + 1e-9);
        if (hit.distance > 0)
            check_below(outside_of(&s->body[foliot_body_id_get_slot(hit.body)], hit.point), 1e-5);
    }
    check_gt(met, 200);
    foliot_world_destroy(s->world);
}

static shaped moved(const shaped *s, const double n[3], double way)
{
    shaped m = *s;
    for (int k = 0; k < 3; k++)
        m.x[k] += way * n[k];
    return m;
}

// Boxes and capsules: on the way there is a gap to everything, and at its end there is none to
// speak of.
TEST(casts_stop_before_they_overlap)
{
    setting *s = set_up(false);
    uint32_t met = 0;
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t kind = i % 2 ? FOLIOT_SHAPE_BOX : FOLIOT_SHAPE_CAPSULE;
        shaped mover = shape_random(&s->rng, kind, 1);
        double n[3];
        random_point(&s->rng, 14, mover.x);
        random_point(&s->rng, 1, n);
        shape_unit(n);
        foliot_query_hit hit = {.distance = 30};
        bool is =
            foliot_world_cast_shape(s->world, &mover.shape, mover.x, mover.q, n, 30, NULL, &hit);
        met += is && hit.distance > 0;
        for (double way = 0; way < hit.distance && hit.distance > 0; way += 3) {
            shaped there = moved(&mover, n, fmin(way, hit.distance - 1e-3));
            for (uint32_t b = 0; b < BODIES; b += 5)
                check_below(-1e-3, shape_gap(&there, &s->body[b], &s->rng));
        }
        if (!is || hit.distance == 0)
            continue;
        shaped there = moved(&mover, n, hit.distance);
        check_near(shape_gap(&there, &s->body[foliot_body_id_get_slot(hit.body)], &s->rng), 0,
                   2e-2);
        double along =
            shape_gap_along(&s->body[foliot_body_id_get_slot(hit.body)], &there, hit.normal);
        check_near(along, 0, 1e-5);
        check_below(shape_outside(&s->body[foliot_body_id_get_slot(hit.body)], hit.point), 1e-4);
        check_below(shape_outside(&there, hit.point), 1e-4);
    }
    check_gt(met, (PACE_SLOW ? 2 : 25));
    foliot_world_destroy(s->world);
}

TEST(overlaps_are_those_of_every_body)
{
    setting *s = set_up(true);
    uint32_t all = 0;
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t kind = i % 3 == 0   ? FOLIOT_SHAPE_SPHERE
                        : i % 3 == 1 ? FOLIOT_SHAPE_BOX
                                     : FOLIOT_SHAPE_CAPSULE;
        shaped probe = shape_random(&s->rng, kind, 2);
        random_point(&s->rng, 10, probe.x);
        foliot_body_id slots[BODIES], few[2];
        uint32_t at = 0;
        uint32_t count = foliot_world_overlap_shape(s->world, &probe.shape, probe.x, probe.q, NULL,
                                                    slots, BODIES);
        assert_int_equal(
            foliot_world_overlap_shape(s->world, &probe.shape, probe.x, probe.q, NULL, few, 2),
            count);
        for (uint32_t k = 0; k < count && k < 2; k++)
            assert_int_equal(few[k].value, slots[k].value);
        for (uint32_t b = 0; b < BODIES; b++) {
            bool listed = at < count && foliot_body_id_get_slot(slots[at]) == b;
            at += listed;
            double gap = 0;
            if (s->body[b].shape.kind == FOLIOT_SHAPE_PLANE) {
                const double *up = s->body[b].shape.normal, down[3] = {-up[0], -up[1], -up[2]};
                gap =
                    shape_dot(up, probe.x) - s->body[b].shape.offset - shape_support(&probe, down);
            } else {
                gap = shape_gap(&probe, &s->body[b], &s->rng);
            }
            if (fabs(gap) > 0.01)
                assert_int_equal(listed, gap < 0);
        }
        assert_int_equal(at, count);
        all += count;
    }
    check_gt(all, (PACE_SLOW ? 12 : 60));
    foliot_world_destroy(s->world);
}

TEST(the_nearest_surface_is_the_nearest)
{
    setting *s = set_up(true);
    for (int i = 0; i < 1000; i++) {
        double from[3], least = INFINITY;
        random_point(&s->rng, 12, from);
        for (uint32_t b = 0; b < BODIES; b++)
            least = fmin(least, outside_of(&s->body[b], from));
        foliot_query_hit hit;
        assert_int_equal(foliot_world_find_nearest(s->world, from, 1, NULL, &hit), least <= 1);
        if (least > 0.01) {
            assert_true(foliot_world_find_nearest(s->world, from, least * 1.001, NULL, &hit));
            assert_false(foliot_world_find_nearest(s->world, from, least * 0.999, NULL, &hit));
        }
        if (!foliot_world_find_nearest(s->world, from, 100, NULL, &hit))
            fail();
        check_near(fmax(hit.distance, 0), least, 1e-9);
        double way = 0;
        for (int k = 0; k < 3; k++)
            way += (hit.point[k] - from[k]) * (hit.point[k] - from[k]);
        check_near(sqrt(way), fabs(hit.distance), 1e-9);
        check_below(outside_of(&s->body[foliot_body_id_get_slot(hit.body)], hit.point), 1e-9);
        double above[3];
        for (int k = 0; k < 3; k++)
            above[k] = hit.point[k] + 1e-4 * hit.normal[k];
        check_near(outside_of(&s->body[foliot_body_id_get_slot(hit.body)], above), 1e-4, 1e-7);
    }
    foliot_world_destroy(s->world);
}

TEST(dead_bodies_and_points_are_not_there)
{
    static const double from[3] = {-9, 0, 0}, way[3] = {1, 0, 0};
    foliot_world *world = shape_world(3); // at x = 0, 4, 8
    foliot_query_hit hit;
    assert_true(foliot_world_cast_ray(world, from, way, 99, NULL, &hit));
    assert_int_equal(foliot_body_id_get_slot(hit.body), 0);
    check_near(hit.distance, 8, 1e-14);
    foliot__flags(world)[0] &= ~(uint32_t)FOLIOT_BODY_ALIVE;
    assert_true(foliot_world_cast_ray(world, from, way, 99, NULL, &hit));
    assert_int_equal(foliot_body_id_get_slot(hit.body), 1);
    foliot__shape_kind(world)[1] = FOLIOT_SHAPE_POINT;
    assert_true(foliot_world_cast_ray(world, from, way, 99, NULL, &hit));
    assert_int_equal(foliot_body_id_get_slot(hit.body), 2);
    assert_false(foliot_world_cast_ray(world, from, way, 15.9, NULL, &hit));
    foliot_world_destroy(world);
}

TEST(a_question_changes_nothing)
{
    setting *s = set_up(true);
    size_t bytes = foliot_world_get_bytes(s->world);
    void *before = malloc(bytes);
    assert_non_null(before);
    memcpy(before, s->world, bytes);
    static const double from[3] = {-20, 0, 0}, way[3] = {1, 0.1, 0}, upright[4] = {1, 0, 0, 0};
    const foliot_shape box = {.kind = FOLIOT_SHAPE_BOX, .half = {1, 1, 1}};
    foliot_query_hit hits[BODIES];
    foliot_body_id slots[BODIES];
    foliot_world_cast_ray_all(s->world, from, way, 99, NULL, hits, BODIES);
    foliot_world_cast_shape(s->world, &box, from, upright, way, 99, NULL, hits);
    foliot_world_overlap_shape(s->world, &box, from, upright, NULL, slots, BODIES);
    foliot_world_find_nearest(s->world, from, 99, NULL, hits);
    assert_memory_equal(before, s->world, bytes);
    free(before);
    foliot_world_destroy(s->world);
}
