// SPDX-License-Identifier: MIT
// test_tunnel.c: fast things and thin ones, through the whole of a step. Boxes, capsules and
// spheres of any orientation and spin are shot at plates and planes of any orientation: none is
// ever behind what it was shot at, whether it bounces or not. A box that falls flat rises by its
// restitution and never gains energy. SEED=.
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "scene_builder.h"
#include "status.h"
#include "slots.h"

#define SHOTS 80
#define G 9.81

static double between(foliot__rng *rng, double low, double high)
{
    return low + (high - low) * foliot__rng_unit(rng);
}

static void direction(foliot__rng *rng, double n[3])
{
    double length = 0;
    while (length < 0.1 || length > 1) {
        for (int k = 0; k < 3; k++)
            n[k] = between(rng, -1, 1);
        length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    }
    for (int k = 0; k < 3; k++)
        n[k] /= length;
}

// A shape at `distance` before the origin, flying at it against n or nearly.
static uint32_t shoot(scene_builder *y, foliot__rng *rng, int kind, const double n[3],
                      double distance, double speed)
{
    double a = between(rng, 0.03, 0.15), b = between(rng, 0.03, 0.15), c = between(rng, 0.03, 0.15);
    double axis[3], x[3], v[3];
    for (int k = 0; k < 3; k++) {
        x[k] = n[k] * distance;
        v[k] = -n[k] * speed + between(rng, -0.05, 0.05) * speed;
    }
    uint32_t i = kind == 0   ? builder_add_ball(y, 1, a, x[0], x[1], x[2])
                 : kind == 1 ? builder_add_capsule(y, 1, a, b, x[0], x[1], x[2])
                             : builder_add_box(y, 1, a, b, c, x[0], x[1], x[2]);
    builder_set_velocity(y, v[0], v[1], v[2]);
    direction(rng, axis);
    double spin = between(rng, 0, 80);
    builder_set_spin(y, spin * axis[1], spin * axis[2], spin * axis[0]);
    if (kind > 0)
        builder_turn(y, axis[0], axis[1], axis[2], between(rng, -3, 3));
    return i;
}

// How far the body's centre is before a wall through `at`.
static double before(const foliot_world *world, uint32_t i, const double at[3], const double n[3])
{
    foliot_body_state s = slot_state(world, i);
    return (s.position[0] - at[0]) * n[0] + (s.position[1] - at[1]) * n[1] +
           (s.position[2] - at[2]) * n[2];
}

TEST(nothing_passes_a_plate)
{
    foliot__rng rng = foliot__rng_seeded(check_seed(20265));
    for (int shot = 0; shot < SHOTS; shot++) {
        scene_builder y = builder_new(shot % 5 ? FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER
                                               : FOLIOT_INTEGRATOR_VELOCITY_VERLET);
        double n[3], axis[3] = {0, 0, 1}, angle = 0;
        const double none[3] = {0, 0, 0};
        direction(&rng, n); // from z to n about their cross product
        double across = sqrt(n[0] * n[0] + n[1] * n[1]);
        if (across > 1e-9) {
            axis[0] = -n[1] / across, axis[1] = n[0] / across, axis[2] = 0;
            angle = acos(n[2]);
        }
        builder_add_box(&y, 0, 4, 4, 0.005, 0, 0, 0);
        builder_turn(&y, axis[0], axis[1], axis[2], angle);
        uint32_t i = shoot(&y, &rng, shot % 3, n, between(&rng, 0.8, 3), between(&rng, 20, 400));
        builder_set_material(&y, shot % 2 ? 0.4 : 0, shot % 4 < 2 ? 0 : 0.6);
        foliot_world *world = builder_create_world(&y);
        for (int tick = 0; tick < 30; tick++) {
            run_ticks(world, 1);
            check_gt(before(world, i, none, n), 0);
        }
        assert_int_equal(foliot_world_get_counters(world)->frozen_bodies, 0);
        foliot_world_destroy(world);
        builder_free(&y);
    }
}

TEST(nothing_passes_a_plane)
{
    foliot__rng rng = foliot__rng_seeded(check_seed(20265));
    for (int shot = 0; shot < SHOTS; shot++) {
        scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
        double n[3];
        const double none[3] = {0, 0, 0};
        direction(&rng, n);
        for (int k = 0; k < 3; k++)
            y.scene.gravity[k] = -G * n[k];
        builder_add_plane(&y, n[0], n[1], n[2], 0);
        uint32_t i = shoot(&y, &rng, shot % 3, n, between(&rng, 0.8, 3), between(&rng, 20, 400));
        builder_set_material(&y, shot % 2 ? 0.4 : 0, shot % 4 < 2 ? 0 : 0.6);
        foliot_world *world = builder_create_world(&y);
        for (int tick = 0; tick < 60; tick++) {
            run_ticks(world, 1);
            check_gt(before(world, i, none, n), 0.02); // the least half extent is 0.03
        }
        foliot_world_destroy(world);
        builder_free(&y);
    }
}

// Two plates that can move and turn, of a centimetre, thrown at each other.
TEST(plates_do_not_pass_each_other)
{
    foliot__rng rng = foliot__rng_seeded(check_seed(20265));
    for (int shot = 0; shot < SHOTS; shot++) {
        scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
        double speed = between(&rng, 5, 200), e = shot % 2 ? 0.5 : 0;
        for (int k = 0; k < 2; k++) {
            builder_add_box(&y, 1 + k, 0.5, 0.5, 0.005, 0, 0, k ? 0.7 : -0.7);
            builder_turn(&y, 1, 0, 0, between(&rng, -0.2, 0.2));
            builder_set_velocity(&y, 0, 0, k ? -speed : speed);
        }
        builder_set_material(&y, 0.3, e);
        foliot_world *world = builder_create_world(&y);
        double closing = 2 * speed;
        for (int tick = 0; tick < 20; tick++) {
            run_ticks(world, 1);
            foliot_body_state low = slot_state(world, 0), high = slot_state(world, 1);
            check_gt(high.position[2], low.position[2]);
            closing = low.velocity[2] - high.velocity[2];
        }
        check_lt(closing, 2 * speed); // they met
        foliot_world_destroy(world);
        builder_free(&y);
    }
}

static void restore_from(foliot_world *to, const foliot_world *from)
{
    size_t length = 0;
    demand(foliot_world_capture(from, NULL, 0, &length));
    uint8_t *bytes = malloc(length);
    assert_int_equal(foliot_world_capture(from, bytes, length, &length), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_world_restore(to, bytes, length), FOLIOT_STATUS_OK);
    free(bytes);
}

// Rods, needles and sheets, much longer than what they are shot at is thick: the first end that
// strikes throws the rest about faster than any substep can follow. A world restored amid that has
// the same future.
TEST(long_things_do_not_pass_a_plate)
{
    foliot__rng rng = foliot__rng_seeded(check_seed(20265));
    const double speeds[3] = {100, 500, 900};
    for (int round = 0; round < 4; round++) {
        scene_builder y = builder_new(round % 2 ? FOLIOT_INTEGRATOR_VELOCITY_VERLET
                                                : FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
        for (int n = 0; n < SHOTS; n++) {
            double axis[3], speed = speeds[n % 3], away = between(&rng, 1.2, 3.2);
            builder_add_box(&y, 0, 0.005, 4, 4, 0, 20 * n, 0);
            if (n % 4 == 3)
                builder_add_capsule(&y, 0.1, 0.001, 0.3, -away, 20 * n, 0);
            else if (n % 4 == 2)
                builder_add_box(&y, 0.1, 0.2, 0.2, 0.002, -away, 20 * n, 0);
            else
                builder_add_box(&y, 0.1, 0.01, 0.01, 0.5, -away, 20 * n, 0);
            direction(&rng, axis);
            builder_turn(&y, axis[0], axis[1], axis[2], between(&rng, -3, 3));
            // One after the other: compilers draw arguments of one call in different orders.
            double vz = between(&rng, -0.03, 0.03) * speed;
            double vy = between(&rng, -0.03, 0.03) * speed;
            builder_set_velocity(&y, speed, vy, vz);
            if (n % 2) {
                double wz = between(&rng, -100, 100), wy = between(&rng, -100, 100);
                builder_set_spin(&y, between(&rng, -100, 100), wy, wz);
            }
        }
        builder_set_material(&y, round < 2 ? 0.5 : 0, 0);
        foliot_world *world = builder_create_world(&y), *other = builder_create_world(&y);
        for (int tick = 0; tick < 8; tick++) {
            restore_from(other, world);
            run_ticks(world, 1);
            run_ticks(other, 1);
            assert_true(foliot_digest_equal(foliot_world_get_digest(world),
                                            foliot_world_get_digest(other)));
            for (uint32_t n = 0; n < SHOTS; n++) {
                const double *x = slot_state(world, 2 * n + 1).position;
                bool beside = fabs(x[1] - 20.0 * n) > 3.4 ||
                              fabs(x[2]) > 3.4; // it may have gone round the plate
                assert_true(x[0] < 0 || beside);
            }
        }
        foliot_world_destroy(world);
        foliot_world_destroy(other);
        builder_free(&y);
    }
}

static double energy_of(const foliot_world *world)
{
    foliot_invariants sums = foliot_world_get_invariants(world, NULL);
    return sums.kinetic + sums.potential;
}

TEST(a_flat_box_rises_by_its_restitution)
{
    const double restitutions[3] = {0.3, 0.6, 0.9};
    for (int k = 0; k < 3; k++) {
        double e = restitutions[k], top = 0;
        scene_builder y = builder_new(FOLIOT_INTEGRATOR_VELOCITY_VERLET);
        y.scene.gravity[2] = -G;
        builder_add_box(&y, 2, 0.4, 0.3, 0.1, 0, 0, 1.1);
        builder_add_plane(&y, 0, 0, 1, 0);
        builder_set_material(&y, 0.5, e);
        foliot_world *world = builder_create_world(&y);
        double energy = energy_of(world);
        bool rose = false;
        for (int tick = 0; tick < 300; tick++) {
            run_ticks(world, 1);
            foliot_body_state s = slot_state(world, 0);
            double now = energy_of(world);
            check_le(now, energy + 1e-6 * 2 * G);
            energy = fmin(energy, now);
            rose |= s.velocity[2] > 0.5;
            if (rose && top == 0 && s.velocity[2] <= 0)
                top = s.position[2] - 0.1 + s.velocity[2] * s.velocity[2] / (2 * G);
        }
        printf("e %.1f: rises to %.5f, e^2 is %.5f\n", e, top, e * e);
        check_near(top, e * e, 0.01 * e * e);
        check_near(slot_state(world, 0).position[2], 0.1, k == 2 ? 0.5 : 1e-3);
        foliot_world_destroy(world);
        builder_free(&y);
    }
}
