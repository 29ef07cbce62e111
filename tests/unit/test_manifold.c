// SPDX-License-Identifier: MIT
// test_manifold.c: where two shapes touch, against what their support functions say: along a unit
// vector n the gap is (lowest of b) - (highest of a), and the true one is the greatest over all n,
// which is searched for from hundreds of directions. The normal must reach it, points must lie on
// both shapes, nothing may depend on which shape comes first, on the vector unit or on the company
// in the batch. SEED=. ONLY=: a pattern of names, as in ONLY=vector_units*.
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/rng.h"
#include "sim/collide/collide.h"
#include "sim/collide/manifold.h"
#include "sim/collide/manifold_box.h"
#include "shapes.h"

static foliot__manifold touch(foliot_world *world, const shaped *a, const shaped *b, float reach)
{
    foliot__manifold m;
    memset(&m, 0xa5, sizeof m);
    const float reaches[2] = {reach / 2, reach / 2};
    const foliot__body_pair pair = {0, 1};
    shape_place(world, 0, a);
    shape_place(world, 1, b);
    foliot__find_manifolds(world, &pair, 1, reaches, &m);
    return m;
}

// -- checks

static void check_points(const shaped *a, const shaped *b, const foliot__manifold *m,
                         double tolerance)
{
    bool plane_a = a->shape.kind == FOLIOT_SHAPE_PLANE,
         plane_b = b->shape.kind == FOLIOT_SHAPE_PLANE;
    for (uint32_t i = 0; i < m->count; i++) {
        const foliot__manifold_point *p = &m->point[i];
        double at[3], half = fabs(p->gap) / 2 + tolerance;
        for (int k = 0; k < 3; k++) {
            at[k] = plane_a ? b->x[k] + p->arm_b[k] : a->x[k] + p->arm_a[k];
            if (!plane_a && !plane_b)
                check_near(b->x[k] + p->arm_b[k], at[k], tolerance);
        }
        if (!plane_a)
            check_below(shape_outside(a, at), half);
        if (!plane_b)
            check_below(shape_outside(b, at), half);
        assert_true(i == 0 || m->point[i - 1].feature < p->feature);
    }
}

static double deepest(const foliot__manifold *m)
{
    double gap = INFINITY;
    for (uint32_t i = 0; i < m->count; i++)
        gap = fmin(gap, m->point[i].gap);
    return gap;
}

typedef struct tally {
    uint32_t pairs, overlapping, points, missed;
} tally;

static void check_pair(foliot_world *world, foliot__rng *rng, const shaped *a, const shaped *b,
                       double size, tally *t)
{
    const double reach = 0.05 * size, fine = 1e-5 * size;
    double small = fmin(shape_smallest(a), shape_smallest(b)), preference = small / 100 + fine;
    bool boxes = a->shape.kind == FOLIOT_SHAPE_BOX && b->shape.kind == FOLIOT_SHAPE_BOX;
    foliot__manifold m = touch(world, a, b, (float)reach);
    double best = shape_gap(a, b, rng);
    t->pairs++;
    t->overlapping += best < 0;
    t->points += m.count;
    check_le(m.count, 4);
    if (m.count == 0) {
        // Boxes that pass each other's corners at a distance may be seen later.
        t->missed += boxes && best <= reach && best > 0;
        double gap = boxes ? best
                           : shape_distance(b->shape.kind == FOLIOT_SHAPE_BOX ? a : b,
                                            b->shape.kind == FOLIOT_SHAPE_BOX ? b : a);
        if (gap < (boxes ? -fine : reach - preference))
            fail_msg("nothing where the gap is %g (reach %g)", gap, reach);
        return;
    }
    const double n[3] = {m.normal[0], m.normal[1], m.normal[2]};
    check_near(shape_dot(n, n), 1, 1e-5);
    double along = shape_gap_along(a, b, n);
    check_below(deepest(&m), reach * 1.0001);
    check_below(best, reach + fine);
    if (best < 0 || !boxes)
        check_below(best - along, preference);
    check_below(along - fine, deepest(&m)); // nothing is deeper than the shapes are
    if (!boxes)
        check_below(fabs(deepest(&m) - along), preference);
    check_points(a, b, &m, boxes ? preference : small / 20 + fine);
}

static void check_kinds(uint32_t kind_a, uint32_t kind_b)
{
    foliot__rng rng = foliot__rng_seeded(check_seed(20261) + kind_a * 16 + kind_b);
    foliot_world *world = shape_world(2);
    tally t = {0};
    for (int i = 0; i < 1500; i++) {
        double size = pow(10, shape_between(&rng, -3, 3));
        shaped a = shape_random(&rng, kind_a, size), b = shape_random(&rng, kind_b, size);
        for (int k = 0; k < 3; k++)
            a.x[k] = size * shape_between(&rng, -100, 100);
        shape_bring_near(&rng, &a, &b, size);
        check_pair(world, &rng, &a, &b, size, &t);
    }
    printf("%u pairs, %u overlap, %u points, %u missed\n", t.pairs, t.overlapping, t.points,
           t.missed);
    check_gt(t.overlapping, 500);
    check_lt(t.missed, 100);
    foliot_world_destroy(world);
}

#define KINDS(name, a, b)                                                                          \
    TEST(name)                                                                                     \
    {                                                                                              \
        check_kinds(FOLIOT_SHAPE_##a, FOLIOT_SHAPE_##b);                                           \
    }
KINDS(spheres_touch_where_they_are_nearest, SPHERE, SPHERE)
KINDS(a_sphere_and_a_capsule, SPHERE, CAPSULE)
KINDS(a_sphere_and_a_box, SPHERE, BOX)
KINDS(capsules, CAPSULE, CAPSULE)
KINDS(a_box_and_a_capsule, BOX, CAPSULE)
KINDS(boxes, BOX, BOX)

static void check_plane(uint32_t kind)
{
    foliot__rng rng = foliot__rng_seeded(check_seed(20261) + kind);
    foliot_world *world = shape_world(2);
    uint32_t points = 0;
    for (int i = 0; i < 1500; i++) {
        double size = pow(10, shape_between(&rng, -3, 3)), reach = 0.05 * size;
        shaped s = shape_random(&rng, kind, size),
               plane = {.shape = {.kind = FOLIOT_SHAPE_PLANE}, .q = {1}};
        double n[3], back[3];
        for (int k = 0; k < 3; k++)
            n[k] = shape_between(&rng, -1, 1);
        shape_unit(n);
        plane.shape.offset = shape_between(&rng, -5, 5) * size;
        double height = size * shape_between(&rng, -0.3, 0.1);
        for (int k = 0; k < 3; k++) {
            plane.shape.normal[k] = n[k];
            plane.x[k] = size; // has no say
            back[k] = -n[k];
        }
        for (int k = 0; k < 3; k++)
            s.x[k] = n[k] * (plane.shape.offset + height + shape_support(&s, back));
        bool first = foliot__rng_below(&rng, 2);
        foliot__manifold m = touch(world, first ? &plane : &s, first ? &s : &plane, (float)reach);
        assert_true((m.count > 0) == (height <= reach * 0.99999) ||
                    fabs(height - reach) < 1e-4 * size);
        points += m.count;
        if (m.count == 0)
            continue;
        check_near(deepest(&m), height, 1e-5 * size);
        for (int k = 0; k < 3; k++) {
            check_near(m.normal[k], first ? n[k] : -n[k], 1e-6);
            for (uint32_t p = 0; p < m.count; p++)
                check_near(first ? m.point[p].arm_a[k] : m.point[p].arm_b[k], 0, 0);
        }
        check_points(first ? &plane : &s, first ? &s : &plane, &m, 1e-5 * size);
        for (uint32_t p = 0; p < m.count;
             p++) { // halfway between the two; of a sphere on its surface
            const float *arm = first ? m.point[p].arm_b : m.point[p].arm_a;
            double at[3] = {s.x[0] + arm[0], s.x[1] + arm[1], s.x[2] + arm[2]};
            double share = s.shape.kind == FOLIOT_SHAPE_SPHERE ? 1 : 0.5;
            check_near(shape_dot(n, at) - plane.shape.offset, share * m.point[p].gap, 1e-5 * size);
        }
    }
    check_gt(points, 1000);
    foliot_world_destroy(world);
}

TEST(all_shapes_lie_on_planes)
{
    check_plane(FOLIOT_SHAPE_SPHERE);
    check_plane(FOLIOT_SHAPE_CAPSULE);
    check_plane(FOLIOT_SHAPE_BOX);
}

TEST(which_comes_first_does_not_matter)
{
    static const uint32_t kinds[3] = {FOLIOT_SHAPE_SPHERE, FOLIOT_SHAPE_CAPSULE, FOLIOT_SHAPE_BOX};
    foliot__rng rng = foliot__rng_seeded(check_seed(20261));
    foliot_world *world = shape_world(2);
    uint32_t same = 0, all = 0;
    for (int i = 0; i < 3000; i++) {
        shaped a = shape_random(&rng, kinds[i % 3], 1), b = shape_random(&rng, kinds[i / 3 % 3], 1);
        shape_bring_near(&rng, &a, &b, 1);
        foliot__manifold ab = touch(world, &a, &b, 0.05f), ba = touch(world, &b, &a, 0.05f);
        all++;
        double n[3] = {ab.normal[0] + ba.normal[0], ab.normal[1] + ba.normal[1],
                       ab.normal[2] + ba.normal[2]};
        if (ab.count != ba.count || (ab.count && shape_dot(n, n) > 1e-6))
            continue; // two axes within the tolerance: either may win
        same++;
        if (ab.count)
            check_near(deepest(&ab), deepest(&ba), 1e-5);
    }
    printf("%u of %u the same\n", same, all);
    check_gt(same, all * 98 / 100);
    foliot_world_destroy(world);
}

static shaped cube(double x, double y, double z, double half)
{
    return (shaped){.shape = {.kind = FOLIOT_SHAPE_BOX, .half = {half, half, half}},
                    .x = {x, y, z},
                    .q = {1, 0, 0, 0}};
}

// The four corners of what flush faces have in common, whatever the rounding.
TEST(flush_faces_have_four_lasting_points)
{
    foliot__rng rng = foliot__rng_seeded(check_seed(20261));
    foliot_world *world = shape_world(2);
    static const double offsets[][2] = {{0, 0}, {0.5, 0}, {0, -0.5}, {0.5, 0.5}, {-0.25, 0.7}};
    for (size_t o = 0; o < sizeof offsets / sizeof *offsets; o++) {
        foliot__manifold first = {0};
        for (int i = 0; i < 200; i++) {
            shaped a = cube(3, 4, 0, 0.5), b = cube(3 + offsets[o][0], 4 + offsets[o][1], 1, 0.5);
            for (int k = 0; k < 3; k++) {
                b.x[k] += shape_between(&rng, -1e-5, 1e-5);
                b.q[1 + k] = shape_between(&rng, -1e-5, 1e-5);
            }
            foliot__manifold m = touch(world, &a, &b, 0.01f);
            assert_int_equal(m.count, 4);
            check_near(m.normal[2], 1, 1e-4);
            double low[2] = {9, 9}, high[2] = {-9, -9};
            for (uint32_t p = 0; p < 4; p++) {
                check_near(m.point[p].gap, 0, 1e-4);
                for (int k = 0; k < 2; k++) {
                    low[k] = fmin(low[k], m.point[p].arm_a[k]);
                    high[k] = fmax(high[k], m.point[p].arm_a[k]);
                }
                if (i > 0)
                    assert_int_equal(m.point[p].feature, first.point[p].feature);
            }
            for (int k = 0; k < 2; k++)
                check_near(high[k] - low[k], 1 - fabs(offsets[o][k]), 0.003);
            first = m;
        }
    }
    foliot_world_destroy(world);
}

TEST(features_last_while_boxes_creep)
{
    foliot__rng rng = foliot__rng_seeded(check_seed(20261));
    foliot_world *world = shape_world(2);
    uint32_t kept = 0, all = 0;
    for (int i = 0; i < 300; i++) {
        shaped a = shape_random(&rng, FOLIOT_SHAPE_BOX, 1),
               b = shape_random(&rng, FOLIOT_SHAPE_BOX, 1);
        shape_bring_near(&rng, &a, &b, 1);
        foliot__manifold last = touch(world, &a, &b, 0.02f);
        for (int step = 0; step < 20; step++) {
            for (int k = 0; k < 3; k++) {
                b.x[k] += shape_between(&rng, -1e-6, 1e-6);
                b.q[1 + k] += shape_between(&rng, -1e-6, 1e-6);
            }
            foliot__manifold m = touch(world, &a, &b, 0.02f);
            for (uint32_t p = 0; p < last.count; p++, all++)
                for (uint32_t r = 0; r < m.count; r++)
                    kept += m.point[r].feature == last.point[p].feature;
            last = m;
        }
    }
    printf("%u of %u features kept\n", kept, all);
    check_gt(all, 2000);
    check_gt(kept, all * 995 / 1000);
    foliot_world_destroy(world);
}

static bool finite3(const float v[3])
{
    return isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]);
}

// Coincident, degenerate, parallel, inside one another: a unit normal and finite points.
TEST(degenerate_poses_are_sound)
{
    static const uint32_t kinds[3] = {FOLIOT_SHAPE_SPHERE, FOLIOT_SHAPE_CAPSULE, FOLIOT_SHAPE_BOX};
    foliot__rng rng = foliot__rng_seeded(check_seed(20261));
    foliot_world *world = shape_world(2);
    for (int i = 0; i < 4000; i++) {
        shaped s[2];
        for (int k = 0; k < 2; k++) {
            s[k] = shape_random(&rng, kinds[foliot__rng_below(&rng, 3)], k ? 1 : 4);
            if (s[k].shape.kind == FOLIOT_SHAPE_CAPSULE && i % 3 == 0)
                s[k].shape.half[2] = 0;
            if (foliot__rng_below(&rng, 2)) {
                static const double upright[4] = {1, 0, 0, 0};
                memcpy(s[k].q, upright, sizeof upright);
            }
        }
        int axis = (int)foliot__rng_below(&rng, 6); // else coincident
        if (axis < 3)
            s[1].x[axis] = foliot__rng_below(&rng, 2) ? 1e-20 : 0.25;
        foliot__manifold m = touch(world, &s[0], &s[1], 0.01f);
        check_gt(m.count, 0);
        double n[3] = {m.normal[0], m.normal[1], m.normal[2]};
        check_near(shape_dot(n, n), 1, 1e-5);
        for (uint32_t p = 0; p < m.count; p++) {
            assert_true(finite3(m.point[p].arm_a));
            assert_true(finite3(m.point[p].arm_b));
            check_below(m.point[p].gap, 0);
            check_below(-20, m.point[p].gap);
        }
    }
    foliot_world_destroy(world);
}

// -- batches

static void check_same(const foliot__manifold *m, const foliot__manifold *n)
{
    assert_int_equal(m->count, n->count);
    if (m->count)
        assert_memory_equal(m->normal, n->normal, sizeof m->normal);
    for (uint32_t i = 0; i < m->count; i++)
        assert_memory_equal(&m->point[i], &n->point[i], sizeof m->point[i]);
}

TEST(company_in_the_batch_changes_nothing)
{
    enum { BODIES = 60, PAIRS = 500 };
    static const uint32_t kinds[4] = {FOLIOT_SHAPE_SPHERE, FOLIOT_SHAPE_CAPSULE, FOLIOT_SHAPE_BOX,
                                      FOLIOT_SHAPE_BOX};
    foliot__rng rng = foliot__rng_seeded(check_seed(20261));
    foliot_world *world = shape_world(BODIES);
    static foliot__body_pair pairs[PAIRS];
    static foliot__manifold all[PAIRS], one;
    float reach[BODIES];
    for (uint32_t i = 0; i < BODIES; i++) {
        shaped s = shape_random(&rng, kinds[i % 4], i % 12 == 0 ? 60 : 1);
        for (int k = 0; k < 3; k++)
            s.x[k] = shape_between(&rng, -1.5, 1.5);
        shape_place(world, i, &s);
        reach[i] = 0.02f;
    }
    for (uint32_t k = 0; k < PAIRS; k++) {
        uint32_t a = foliot__rng_below(&rng, BODIES - 1);
        pairs[k] = (foliot__body_pair){a, a + 1 + foliot__rng_below(&rng, BODIES - 1 - a)};
    }
    foliot__find_manifolds(world, pairs, PAIRS, reach, all);
    for (uint32_t k = 0; k < PAIRS; k++) {
        foliot__find_manifolds(world, &pairs[k], 1, reach, &one);
        assert_int_equal(all[k].a, pairs[k].a);
        assert_int_equal(all[k].b, pairs[k].b);
        check_same(&all[k], &one);
    }
    foliot_world_destroy(world);
}

static void fill_batch(foliot__rng *rng, foliot__box_batch *in)
{
    for (int l = 0; l < FOLIOT__BOX_LANES; l++) {
        shaped a = shape_random(rng, FOLIOT_SHAPE_BOX, 1),
               b = shape_random(rng, FOLIOT_SHAPE_BOX, 1);
        shape_bring_near(rng, &a, &b, 0.3);
        for (int k = 0; k < 4; k++) {
            in->q_a[k][l] = a.q[k];
            in->q_b[k][l] = b.q[k];
        }
        for (int k = 0; k < 3; k++) {
            in->half_a[k][l] = a.shape.half[k];
            in->half_b[k][l] = b.shape.half[k];
            in->d[k][l] = b.x[k] - a.x[k];
        }
        in->distance_max[l] = 0.05;
    }
}

TEST(vector_units_give_the_same_bits)
{
#if defined(__x86_64__)
    if (foliot__cpu_simd() == FOLIOT__SIMD_BASE)
        skip();
    foliot__rng rng = foliot__rng_seeded(check_seed(20261));
    static foliot__manifold m[2][FOLIOT__BOX_LANES];
    foliot__manifold *out[2][FOLIOT__BOX_LANES];
    for (int l = 0; l < FOLIOT__BOX_LANES; l++) {
        out[0][l] = &m[0][l];
        out[1][l] = &m[1][l];
    }
    // Rounding to binary32 hides one other bit of binary64 in all but one pair of ten thousand.
    for (int i = 0; i < 40000; i++) {
        foliot__box_batch in;
        fill_batch(&rng, &in);
        bool fine = i % 2;
        (fine ? foliot__boxes_fine_base : foliot__boxes_base)(&in, FOLIOT__BOX_LANES, out[0]);
        (fine ? foliot__boxes_fine_avx2 : foliot__boxes_avx2)(&in, FOLIOT__BOX_LANES, out[1]);
        for (int l = 0; l < FOLIOT__BOX_LANES; l++)
            check_same(&m[0][l], &m[1][l]);
        if (foliot__cpu_simd() != FOLIOT__SIMD_AVX512)
            continue;
        (fine ? foliot__boxes_fine_avx512 : foliot__boxes_avx512)(&in, FOLIOT__BOX_LANES, out[1]);
        for (int l = 0; l < FOLIOT__BOX_LANES; l++)
            check_same(&m[0][l], &m[1][l]);
    }
#else
    skip();
#endif
}
