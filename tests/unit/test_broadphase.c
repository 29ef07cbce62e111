// SPDX-License-Identifier: MIT
// test_broadphase.c: pairs of bodies that may touch, against looking at every pair: none that
// touches on its way is missed, none is listed whose bounds never meet, and the list is in order.
// Random scenes: SEED=.
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "sim/collide/collide.h"
#include "sim/math/vec3.h"
#include "sim/solver/solver.h"
#include "sim/solver/solver.h"
#include "scene_builder.h"
#include "slots.h"

static double between(foliot__rng *rng, double low, double high)
{
    return low + (high - low) * foliot__rng_unit(rng);
}

// Spheres of sizes over three decades, some of them still, some fast, and a few planes.
static foliot_world *random_world(scene_builder *y, foliot__rng *rng, uint32_t count, double room,
                                  double size_ratio)
{
    *y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    for (uint32_t i = 0; i < count; i++) {
        double px = between(rng, -room, room), py = between(rng, -room, room);
        double pz = between(rng, -room, room);
        double radius = 0.3 * pow(size_ratio, -foliot__rng_unit(rng));
        bool still = foliot__rng_below(rng, 10) == 0;
        builder_add_ball(y, still ? 0 : 1, radius, px, py, pz);
        double speed = foliot__rng_below(rng, 8) == 0 ? 200 : 3;
        double vx = between(rng, -speed, speed), vy = between(rng, -speed, speed);
        double vz = between(rng, -speed, speed);
        if (!still)
            builder_set_velocity(y, vx, vy, vz);
        if (foliot__rng_below(rng, 100) == 0) {
            double nx = between(rng, -1, 1), ny = between(rng, -1, 1);
            builder_add_plane(y, nx, ny, 1, between(rng, -room, room));
        }
    }
    return builder_create_world(y);
}

// Moves every body along its velocity, as a scheme would, and finds pairs.
static foliot__collider found(foliot__step *step)
{
    foliot_world *world = step->world;
    foliot__paths_begin(step);
    foliot__v3 x = foliot__position(world), v = foliot__velocity(world);
    for (uint32_t i = 0; i < step->count; i++) {
        x.x[i] += v.x[i] * step->dt;
        x.y[i] += v.y[i] * step->dt;
        x.z[i] += v.z[i] * step->dt;
    }
    foliot__collider c = foliot__collider_of(step);
    foliot__find_paths(&c);
    foliot__find_pairs(&c);
    return c;
}

static double distance2_at(const foliot__collider *c, uint32_t i, uint32_t j, double share)
{
    foliot__v3 x = foliot__position(c->world), s = c->paths.start;
    double d[3] = {
        (s.x[j] - s.x[i]) * (1 - share) + (x.x[j] - x.x[i]) * share,
        (s.y[j] - s.y[i]) * (1 - share) + (x.y[j] - x.y[i]) * share,
        (s.z[j] - s.z[i]) * (1 - share) + (x.z[j] - x.z[i]) * share,
    };
    return foliot__vec3_dot(d, d);
}

static bool spheres_touch(const foliot__collider *c, uint32_t i, uint32_t j)
{
    // Least of a parabola in the share of the step: three samples tell it.
    double f0 = distance2_at(c, i, j, 0), f1 = distance2_at(c, i, j, 1);
    double half = distance2_at(c, i, j, 0.5), bend = 2 * (f0 + f1 - 2 * half);
    double slope = f1 - f0 - bend, share = bend > 0 ? -slope / (2 * bend) : 0;
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    double radius = foliot__radius(c->world)[i] + foliot__radius(c->world)[j];
    return fmin(fmin(f0, f1), distance2_at(c, i, j, share)) <= radius * radius;
}

static bool plane_touches(const foliot__collider *c, uint32_t plane, uint32_t ball)
{
    foliot__v3 x = foliot__position(c->world), s = c->paths.start;
    double nx = foliot__half_x(c->world)[plane], ny = foliot__half_y(c->world)[plane];
    double nz = foliot__half_z(c->world)[plane], offset = foliot__plane_offset(c->world)[plane];
    double h0 = nx * s.x[ball] + ny * s.y[ball] + nz * s.z[ball] - offset;
    double h1 = nx * x.x[ball] + ny * x.y[ball] + nz * x.z[ball] - offset;
    return fmin(h0, h1) <= foliot__radius(c->world)[ball];
}

static bool must_be_listed(const foliot__collider *c, uint32_t i, uint32_t j)
{
    const double *inverse_mass = foliot__inverse_mass(c->world);
    if (inverse_mass[i] == 0 && inverse_mass[j] == 0)
        return false;
    const uint32_t *kind = foliot__shape_kind(c->world);
    if (kind[i] == FOLIOT_SHAPE_PLANE)
        return plane_touches(c, i, j);
    if (kind[j] == FOLIOT_SHAPE_PLANE)
        return plane_touches(c, j, i);
    return spheres_touch(c, i, j);
}

static bool may_be_listed(const foliot__collider *c, uint32_t i, uint32_t j)
{
    const uint32_t *kind = foliot__shape_kind(c->world);
    if (kind[i] == FOLIOT_SHAPE_PLANE || kind[j] == FOLIOT_SHAPE_PLANE)
        return true;
    foliot__bounds a = foliot__bounds_of(c, i, 0), b = foliot__bounds_of(c, j, 0);
    return foliot__bounds_meet(&a, &b);
}

static void compare(const foliot__collider *c, uint32_t *touching)
{
    uint32_t pairs = c->counts->pairs, k = 0;
    for (uint32_t i = 0; i < c->step->count; i++)
        for (uint32_t j = i + 1; j < c->step->count; j++) {
            bool listed = k < pairs && c->pairs[k].a == i && c->pairs[k].b == j;
            if (must_be_listed(c, i, j)) {
                (*touching)++;
                assert_true(listed);
            }
            if (listed) {
                assert_true(may_be_listed(c, i, j));
                k++;
            }
        }
    assert_int_equal(k, pairs); // all of them met in ascending order, none twice
}

static void try_worlds(uint32_t worlds, uint32_t count, double room, double size_ratio)
{
    foliot__rng rng = foliot__rng_seeded(check_seed(20260));
    uint32_t touching = 0;
    for (uint32_t n = 0; n < worlds; n++) {
        scene_builder y;
        foliot_world *world = random_world(&y, &rng, count, room, size_ratio);
        static const foliot_host no_host;
        foliot__step step = {.world = world,
                             .host = &no_host,
                             .dt = y.scene.dt,
                             .count = foliot_world_get_body_count(world)};
        foliot__collider c = found(&step);
        compare(&c, &touching);
        foliot_world_destroy(world);
        builder_free(&y);
    }
    check_gt(touching, worlds); // the scenes are not empty of what is tested
}

TEST(finds_every_pair_of_equal_spheres)
{
    try_worlds(10, 400, 3.2, 1);
}

TEST(finds_every_pair_of_mixed_spheres)
{
    try_worlds(10, 400, 1.5, 1000);
}

TEST(finds_pairs_far_from_the_origin_and_apart)
{
    // More cells between them than the grid has: the far ones share its last cells.
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    for (int k = 0; k < 6; k++) {
        double far = 1e9 * k;
        builder_add_ball(&y, 1, 0.5, far, -far, 2 * far);
        builder_add_ball(&y, 1, 0.5, far, -far, 2 * far + 0.9);
    }
    foliot_world *world = builder_create_world(&y);
    static const foliot_host no_host;
    foliot__step step = {.world = world,
                         .host = &no_host,
                         .dt = y.scene.dt,
                         .count = foliot_world_get_body_count(world)};
    foliot__collider c = found(&step);
    assert_int_equal(c.counts->pairs, 6);
    for (uint32_t k = 0; k < 6; k++) {
        assert_int_equal(c.pairs[k].a, 2 * k);
        assert_int_equal(c.pairs[k].b, 2 * k + 1);
    }
    foliot_world_destroy(world);
    builder_free(&y);
}

TEST(a_full_table_drops_by_rule_and_counts)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    builder_add_plane(&y, 0, 0, 1, 0);
    for (int k = 0; k < 20; k++)
        builder_add_ball(&y, 1, 1, 0.01 * k, 0, 0.5);
    y.scene.bodies = y.bodies;
    foliot_world_config config = foliot_world_config_default(&y.scene);
    config.contacts_max = 30;
    size_t bytes = foliot_world_config_get_bytes(&config);
    foliot_world *world = NULL;
    foliot_digest digest[2];
    for (int run = 0; run < 2; run++) {
        void *block = aligned_alloc(FOLIOT_WORLD_ALIGNMENT, bytes);
        assert_int_equal(foliot_world_init(block, bytes, &config, &y.scene, &world),
                         FOLIOT_STATUS_OK);
        run_ticks(world, 3);
        check_ge(foliot_world_get_counters(world)->contacts_dropped, 3 * (190 + 20 - 30) / 2);
        digest[run] = foliot_world_get_digest(world);
        // The floor is not what gives.
        for (uint32_t i = 1; i <= 20; i++)
            check_gt(slot_state(world, i).position[2], 0.5);
        free(block);
    }
    assert_true(foliot_digest_equal(digest[0], digest[1]));
    builder_free(&y);
}
