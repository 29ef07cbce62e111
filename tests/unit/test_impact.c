// SPDX-License-Identifier: MIT
// test_impact.c: impacts of boxes and capsules, one step at a time and without the solver: found
// when a search through the poses of the step finds them, never passed by, and with impulses that
// keep momentum and angular momentum and give no energy. SEED=.
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shapes.h"
#include "slots.h"
#include "sim/state/body.h"
#include "sim/ccd/impact.h"
#include "sim/solver/solver.h"
#include "sim/solver/solver.h"
#include "sim/integrator/rotation.h"

static const foliot_host nobody;

// A body with mass 1 (0: it stays where it is) and its shape's inertia.
static void put(foliot_world *world, uint32_t slot, const shaped *s, double mass,
                double restitution, double friction)
{
    foliot_body_definition body = foliot_body_definition_default();
    body.mass = mass > 0 ? mass : 1;
    body.is_static = mass == 0;
    body.shape = s->shape;
    memcpy(body.position, s->x, sizeof body.position);
    memcpy(body.orientation, s->q, sizeof body.orientation);
    body.restitution = restitution;
    body.friction = friction;
    foliot__body_write(world, slot, &body, s->x, 0);
}

static void moves(foliot_world *world, uint32_t i, const double v[3], const double w[3])
{
    foliot__velocity_x(world)[i] = v[0];
    foliot__velocity_y(world)[i] = v[1];
    foliot__velocity_z(world)[i] = v[2];
    foliot__angular_velocity_x(world)[i] = w[0];
    foliot__angular_velocity_y(world)[i] = w[1];
    foliot__angular_velocity_z(world)[i] = w[2];
}

// Free motion over the step; its pair of bodies 0 and 1.
static foliot__ccd begin(foliot__step *step)
{
    foliot_world *world = step->world;
    foliot__paths_begin(step);
    foliot__v3 x = foliot__position(world), v = foliot__velocity(world);
    for (uint32_t i = 0; i < step->count; i++) {
        x.x[i] += v.x[i] * step->dt;
        x.y[i] += v.y[i] * step->dt;
        x.z[i] += v.z[i] * step->dt;
    }
    foliot__rotate(step, 2);
    foliot__ccd ccd = foliot__ccd_of(step);
    foliot__find_paths(&ccd.collider);
    foliot__find_pairs(&ccd.collider);
    ccd.collider.counts->pairs = 1;
    ccd.collider.pairs[0] = (foliot__body_pair){0, 1};
    return ccd;
}

static foliot__step step_of(foliot_world *world, double dt)
{
    return (foliot__step){.world = world, .host = &nobody, .dt = dt, .count = 2, .time_end = dt};
}

static shaped pose_at(const foliot__collider *c, const shaped *s, uint32_t i, double time)
{
    shaped at = *s;
    vec3_store(foliot__path_at(c, i, time).x, at.x);
    quat_store(foliot__orientation_at(c, foliot__sweep_of(c, i), time), at.q);
    return at;
}

static foliot_world *two_bodies(void)
{
    foliot_world *world = shape_world(2);
    world->scene.rotates = 1;
    return world;
}

static void random_vector(foliot__rng *rng, double size, double v[3])
{
    for (int k = 0; k < 3; k++)
        v[k] = shape_between(rng, -size, size);
}

static const uint32_t kinds[3] = {FOLIOT_SHAPE_SPHERE, FOLIOT_SHAPE_CAPSULE, FOLIOT_SHAPE_BOX};

// -- when

TEST(the_time_is_that_of_a_search_through_the_poses)
{
    foliot__rng rng = foliot__rng_seeded(check_seed(20263));
    foliot_world *world = two_bodies();
    uint32_t met = 0, missed = 0;
    for (int i = 0; i < 120; i++) {
        shaped s[2];
        for (uint32_t b = 0; b < 2; b++) {
            double v[3], w[3];
            s[b] = shape_random(&rng, kinds[(i + b * (i / 3)) % 3], 0.5);
            random_vector(&rng, 0.4, s[b].x);
            s[b].x[0] += b ? 0.9 : -0.9;
            random_vector(&rng, 60, v);
            v[0] = b ? -60 : 60;
            random_vector(&rng, 40, w);
            put(world, b, &s[b], 1, 1, 0);
            moves(world, b, v, w);
        }
        foliot__step step = step_of(world, 1.0 / 60);
        foliot__ccd ccd = begin(&step);
        foliot__toi m;
        bool is = foliot__time_of_impact(&ccd.collider, 0, 1, 0, &m);
        met += is;
        missed += !is;
        double end = is ? m.time : step.dt;
        for (int t = 0; t < 24; t++) {
            double time = end * t / 24;
            shaped a = pose_at(&ccd.collider, &s[0], 0, time),
                   b = pose_at(&ccd.collider, &s[1], 1, time);
            check_below(-2e-3, shape_gap(&a, &b, &rng));
        }
        if (!is)
            continue;
        shaped a = pose_at(&ccd.collider, &s[0], 0, m.time),
               b = pose_at(&ccd.collider, &s[1], 1, m.time);
        double normal[3], at[3], on_b[3];
        vec3_store(m.normal, normal);
        vec3_store(vec3_add(vec3_of(a.x), m.arm_a), at);
        vec3_store(vec3_add(vec3_of(b.x), m.arm_b), on_b);
        check_near(shape_gap_along(&a, &b, normal), 0, 2e-3);
        for (int k = 0; k < 3; k++)
            check_near(at[k], on_b[k], 1e-5);
        check_below(shape_outside(&a, at), 2e-3);
        check_below(shape_outside(&b, at), 2e-3);
        check_below(0, m.speed);
    }
    printf("%u meet, %u do not\n", met, missed);
    check_gt(met, 30);
    check_gt(missed, 20);
    foliot_world_destroy(world);
}

static shaped plate(void)
{
    return (shaped){.shape = {.kind = FOLIOT_SHAPE_BOX, .half = {3, 3, 0.005}}, .q = {1, 0, 0, 0}};
}

// Above the plate after the step, whatever falls on it at 300 m/s and however it turns.
TEST(a_plate_of_a_centimetre_is_not_passed)
{
    foliot__rng rng = foliot__rng_seeded(check_seed(20263));
    foliot_world *world = two_bodies();
    shaped floor = plate();
    for (int i = 0; i < 300; i++) {
        shaped s = shape_random(&rng, kinds[i % 3], 0.1);
        double v[3], w[3];
        random_vector(&rng, 0.2, s.x);
        s.x[2] = shape_between(&rng, 0.3, 4.5);
        random_vector(&rng, 20, v);
        v[2] = -300;
        random_vector(&rng, 50, w);
        put(world, 0, &floor, 0, 0, 0.5);
        put(world, 1, &s, 1, i % 2 ? 0.5 : 0, 0.5);
        moves(world, 1, v, w);
        foliot__step step = step_of(world, 1.0 / 60);
        foliot__ccd ccd = begin(&step);
        check_below(foliot__position_z(world)[1], 0); // it would pass
        foliot__run_impacts(&ccd);
        shaped after = s;
        foliot_body_state b = slot_state(world, 1);
        memcpy(after.x, b.position, sizeof after.x);
        memcpy(after.q, b.orientation, sizeof after.q);
        check_below(0, after.x[2]);
        const double up[3] = {0, 0, 1};
        check_below(-0.3 * shape_smallest(&s) - 0.005, shape_gap_along(&floor, &after, up));
    }
    foliot_world_destroy(world);
}

// A rod that turns about a point next to the plate would come out on its other side.
TEST(a_plate_is_not_passed_by_turning)
{
    foliot__rng rng = foliot__rng_seeded(check_seed(20263));
    foliot_world *world = two_bodies();
    shaped floor = plate();
    for (int i = 0; i < 100; i++) {
        bool box = i % 2;
        shaped rod = {.shape = {.kind = box ? FOLIOT_SHAPE_BOX : FOLIOT_SHAPE_CAPSULE,
                                .radius = 0.02,
                                .half = {0.02, 0.02, 0.5}}};
        double tilt = shape_between(&rng, 0.3, 0.6), spin = shape_between(&rng, 70, 90);
        // Lies along x outside of the plate, its end over it by a part of its length.
        rod.q[0] = cos(M_PI / 4 + tilt / 2);
        rod.q[2] = sin(M_PI / 4 + tilt / 2);
        rod.x[0] = -3.2;
        const double v[3] = {0, 0, 0}, w[3] = {0, -spin, 0};
        put(world, 0, &floor, 0, 0, 0.5);
        put(world, 1, &rod, 1, 0.3, 0.5);
        moves(world, 1, v, w);
        foliot__step step = step_of(world, 1.0 / 60);
        foliot__ccd ccd = begin(&step);
        foliot__toi m;
        bool would = foliot__time_of_impact(&ccd.collider, 0, 1, 0, &m);
        assert_true(would);
        foliot__run_impacts(&ccd);
        foliot_body_state b = slot_state(world, 1);
        // The end over the plate is on the side that it came from.
        const double out[3] = {0, 0, 0.5};
        double end[3];
        shape_turned(b.orientation, out, end);
        double side = b.position[0] + end[0] > -3 ? b.position[2] + end[2] : 0;
        const double *q = rod.q;
        double before[3];
        shape_turned(q, out, before);
        check_below(-0.03, side * (before[2] < 0 ? -1 : 1));
    }
    foliot_world_destroy(world);
}

// -- what

typedef struct sums {
    double energy, momentum[3], spin[3];
} sums;

static sums sums_of(const foliot_world *world)
{
    foliot_invariants v = foliot_world_get_invariants(world, NULL);
    sums s = {.energy = v.kinetic};
    memcpy(s.momentum, v.momentum, sizeof s.momentum);
    memcpy(s.spin, v.angular_momentum, sizeof s.spin);
    return s;
}

TEST(impulses_keep_what_must_be_kept)
{
    foliot__rng rng = foliot__rng_seeded(check_seed(20263));
    foliot_world *world = two_bodies();
    uint32_t met = 0;
    for (int i = 0; i < 3000; i++) {
        shaped a = shape_random(&rng, kinds[i % 3], 1), b = shape_random(&rng, kinds[i / 3 % 3], 1);
        double v[3], w[3], n[3];
        random_vector(&rng, 1, n);
        shape_unit(n);
        double way = -shape_gap_along(&a, &b, n) * 0.8; // they overlap, or nearly
        for (int k = 0; k < 3; k++)
            b.x[k] = n[k] * way;
        bool smooth = i % 2;
        double e = smooth ? 1 : shape_between(&rng, 0, 1),
               friction = smooth ? 0 : shape_between(&rng, 0, 2);
        put(world, 0, &a, shape_between(&rng, 0.3, 3), e, friction);
        put(world, 1, &b, shape_between(&rng, 0.3, 3), e, friction);
        for (uint32_t k = 0; k < 2; k++) {
            random_vector(&rng, 9, v);
            random_vector(&rng, 9, w);
            moves(world, k, v, w);
        }
        foliot__step step = step_of(world, 1e-9); // so short that nothing turns
        foliot__ccd ccd = begin(&step);
        foliot__toi m;
        if (!foliot__time_of_impact(&ccd.collider, 0, 1, 0, &m))
            continue;
        met++;
        sums before = sums_of(world);
        foliot__run_impacts(&ccd);
        sums after = sums_of(world);
        check_below(after.energy, before.energy * (1 + 1e-9));
        if (smooth)
            check_near(after.energy, before.energy, 1e-7 * before.energy);
        for (int k = 0; k < 3; k++) {
            check_near(after.momentum[k], before.momentum[k], 1e-12);
            check_near(after.spin[k], before.spin[k], 1e-6); // it turns for a nanosecond
        }
    }
    printf("%u meet\n", met);
    check_gt(met, 500);
    foliot_world_destroy(world);
}

TEST(a_flat_fall_bounces_by_its_restitution)
{
    foliot_world *world = two_bodies();
    shaped floor = plate();
    static const foliot_shape shapes[2] = {
        {.kind = FOLIOT_SHAPE_BOX, .half = {0.5, 0.3, 0.2}},
        {.kind = FOLIOT_SHAPE_CAPSULE, .radius = 0.2, .half = {0, 0, 0.7}},
    };
    for (int i = 0; i < 2; i++) {
        shaped s = {.shape = shapes[i], .x = {0.1, 0.2, 0.3}, .q = {1, 0, 0, 0}};
        if (i == 1)
            s.q[0] = s.q[1] = sqrt(0.5); // lies
        const double v[3] = {0, 0, -10}, w[3] = {0, 0, 0};
        put(world, 0, &floor, 0, 0, 0.5);
        put(world, 1, &s, 1, 0.6, 0.5);
        moves(world, 1, v, w);
        foliot__step step = step_of(world, 1.0 / 60);
        foliot__ccd ccd = begin(&step);
        foliot__run_impacts(&ccd);
        foliot_body_state b = slot_state(world, 1);
        check_near(b.velocity[2], 6, 1e-6);
        check_near(b.velocity[0], 0, 1e-6);
        for (int k = 0; k < 3; k++)
            check_near(b.angular_velocity[k], 0, 1e-5);
        // Down to the plate, up again for the rest of the step.
        double low = 0.205, time = (0.3 - low) / 10;
        check_near(b.position[2], low + 6 * (1.0 / 60 - time), 1e-2 * 0.2);
    }
    foliot_world_destroy(world);
}

// Coulomb's friction within the collision: mu times its impulse, where mu is the square root of the
// product.
TEST(a_blow_rubs_by_the_friction_of_both)
{
    foliot_world *world = two_bodies();
    shaped floor = plate();
    shaped ball = {.shape = {.kind = FOLIOT_SHAPE_SPHERE, .radius = 0.2},
                   .x = {-0.1, 0, 0.3},
                   .q = {1, 0, 0, 0}};
    const double v[3] = {20, 0, -10}, w[3] = {0, 0, 0};
    put(world, 0, &floor, 0, 0, 0.8);
    put(world, 1, &ball, 1, 0.6, 0.05);
    moves(world, 1, v, w);
    foliot__step step = step_of(world, 1.0 / 60);
    foliot__ccd ccd = begin(&step);
    foliot__run_impacts(&ccd);
    foliot_body_state b = slot_state(world, 1);
    double impulse = 1.6 * 10, rubbed = 0.2 * impulse;
    check_near(b.velocity[2], 6, 1e-6);
    check_near(b.velocity[0], 20 - rubbed, 1e-6);
    check_near(b.angular_velocity[1], rubbed * 0.2 / (0.4 * 0.2 * 0.2),
               0.01); // it begins to roll; what touches is near
    foliot_world_destroy(world);
}

TEST(what_rests_is_no_impact)
{
    foliot_world *world = two_bodies();
    shaped floor = plate(), s = {.shape = {.kind = FOLIOT_SHAPE_BOX, .half = {0.5, 0.3, 0.2}},
                                 .x = {0, 0, 0.2049},
                                 .q = {1, 0, 0, 0}};
    const double v[3] = {9, 0, 0}, w[3] = {0, 0, 1};
    put(world, 0, &floor, 0, 0.9, 0.5);
    put(world, 1, &s, 1, 0.9, 0.5);
    moves(world, 1, v, w); // it slides and turns, flat
    foliot__step step = step_of(world, 1.0 / 60);
    foliot__ccd ccd = begin(&step);
    foliot__toi m;
    ccd.collider.paths.restitution_threshold[1] = 0.1;
    assert_false(foliot__time_of_impact(&ccd.collider, 0, 1, 0, &m));
    foliot_world_destroy(world);
}
