// SPDX-License-Identifier: MIT
// Goal: contacts take energy and never add any, however a body spins on them. Method: capsules and
// boxes of many shapes fall on a plane, or stand on it and spin; kinetic energy and that of height
// never rise above what they have been before by more than a small part of the start.
#include "check.h"

#include <math.h>
#include <stdio.h>

#include "text_world.h"

#define SECONDS 20
#define GRAVITY 9.81
#define MASS 0.5
#define BODY 1
#define CAPSULES 300
#define RADIUS 0.12 // and half length

static double random_in(uint64_t *seed, double low, double high)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * ldexp((double)(*seed >> 11), -53);
}

static void random_turn(uint64_t *seed, double q[4])
{
    for (int i = 0; i < 4; i++)
        q[i] = random_in(seed, -1, 1);
    double length = sqrt((q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]));
    for (int i = 0; i < 4; i++)
        q[i] /= length;
}

static double energy_of(const foliot_world *world)
{
    return foliot_world_get_invariants(world, NULL).kinetic +
           MASS * GRAVITY * state_of(world, BODY).position[2];
}

// A floor, and a body of 0.5 kg that turns at up to `spin`, about its own z if `upright`.
static foliot_world *fall(uint64_t seed, const char *shape, uint32_t substeps, bool upright)
{
    char text[2048];
    double r[12], q[4] = {1, 0, 0, 0}, w[3];
    for (int i = 0; i < 12; i++)
        r[i] = random_in(&seed, -1, 1);
    double tilt = 0.4 * r[0], spin = upright ? 60 * r[1] : 0;
    if (upright) {
        q[0] = cos(tilt / 2);
        q[1] = sin(tilt / 2);
    } else {
        random_turn(&seed, q);
    }
    w[0] = upright ? 0 : 20 * r[4];
    w[1] = upright ? -spin * sin(tilt) : 20 * r[5];
    w[2] = upright ? spin * cos(tilt) : 20 * r[6];
    snprintf(text, sizeof text,
             "foliot: 1\nname: fall\ntick_hz: 60\nsubsteps: %u\ngravity: [0, 0, -9.81]\nbodies:\n"
             "  - {name: floor, static: true, friction: 0.9, shape: {kind: plane}}\n"
             "  - {name: body, mass: %g, friction: %.17g, restitution: %.17g,"
             " position: [0, 0, %.17g], velocity: [%.17g, %.17g, 0],"
             " orientation: [%.17g, %.17g, %.17g, %.17g],"
             " angular_velocity: [%.17g, %.17g, %.17g], shape: %s}\n",
             substeps, MASS, 0.45 + 0.45 * r[7], upright ? 0 : fmax(0, 0.9 * r[8]),
             0.4 + 0.1 * r[9], 2 * r[10], 2 * r[11], q[0], q[1], q[2], q[3], w[0], w[1], w[2],
             shape);
    return text_world(text);
}

static void check_never_gains(foliot_world *world, double share)
{
    double start = energy_of(world), least = start;
    for (int tick = 0; tick < 60 * SECONDS; tick++) {
        step_ticks(world, 1);
        double energy = energy_of(world);
        assert_true(energy <= least + share * start);
        least = fmin(least, energy);
    }
    foliot_world_destroy(world);
}

static void check_shapes(const char *const *shapes, uint64_t count)
{
    static const uint32_t substeps[] = {4, 4, 2, 8};
    for (uint64_t seed = 0; seed < 64 * count; seed++)
        check_never_gains(
            fall(seed, shapes[seed % count], substeps[seed / count % 4], seed / count % 8 < 4),
            0.01);
}

TEST(boxes_never_gain_energy)
{
    static const char *const shapes[] = {
        "{kind: box, half: [0.1, 0.1, 0.1]}",
        "{kind: box, half: [0.08, 0.1, 0.2]}",
        "{kind: box, half: [0.2, 0.2, 0.04]}",
        "{kind: box, half: [0.05, 0.05, 0.25]}",
    };
    check_shapes(shapes, 4);
}

// Capsules that fall on a floor, each alone. In a world of many, the contacts of all are found
// again within a tick when one leaves its bounds.
static foliot_world *falling_capsules(uint64_t seed)
{
    size_t capacity = 512 * (CAPSULES + 1), n;
    char *text = malloc(capacity);
    assert_non_null(text);
    n = (size_t)snprintf(text, capacity,
                         "foliot: 1\nname: capsules\ntick_hz: 60\ngravity: [0, 0, -9.81]\nbodies:\n"
                         "  - {name: floor, static: true, friction: 0.7, shape: {kind: plane}}\n");
    for (int k = 0; k < CAPSULES; k++) {
        double q[4], r[7];
        random_turn(&seed, q);
        for (int i = 0; i < 7; i++)
            r[i] = random_in(&seed, -1, 1);
        n += (size_t)snprintf(text + n, capacity - n,
                              "  - {name: c%d, mass: %g, position: [%d, %d, %.17g],"
                              " orientation: [%.17g, %.17g, %.17g, %.17g],"
                              " velocity: [%.17g, %.17g, -1.5],"
                              " angular_velocity: [%.17g, %.17g, %.17g],"
                              " shape: {kind: capsule, radius: %g, half_length: %g}}\n",
                              k, MASS, k % 20 * 1000, k / 20 * 1000, 0.6 + 0.35 * r[0], q[0], q[1],
                              q[2], q[3], 3 * r[1], 3 * r[2], 24 * r[4], 24 * r[5], 24 * r[6],
                              RADIUS, RADIUS);
    }
    foliot_world *world = text_world(text);
    free(text);
    return world;
}

// A cylinder as long as its diameter, and two halves of a ball.
static double energy_of_capsule(const foliot_world *world, uint32_t slot)
{
    const double r2 = RADIUS * RADIUS, cylinder = MASS * 0.6, ball = MASS * 0.4;
    const double along = cylinder * r2 / 2 + ball * 0.4 * r2;
    const double across = cylinder * (r2 / 4 + r2 / 3) + ball * (0.4 + 1 + 0.75) * r2;
    foliot_body_state s = state_of(world, slot);
    const double *q = s.orientation, *w = s.angular_velocity, *v = s.velocity;
    double spin = 2 * (q[1] * q[3] + q[0] * q[2]) * w[0] + 2 * (q[2] * q[3] - q[0] * q[1]) * w[1] +
                  (1 - 2 * (q[1] * q[1] + q[2] * q[2])) * w[2];
    double w2 = (w[0] * w[0] + w[1] * w[1]) + w[2] * w[2];
    double v2 = (v[0] * v[0] + v[1] * v[1]) + v[2] * v[2];
    return 0.5 * (MASS * v2 + along * spin * spin + across * (w2 - spin * spin)) +
           MASS * GRAVITY * s.position[2];
}

TEST(falling_capsules_never_gain_energy)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        foliot_world *world = falling_capsules(seed);
        double start[CAPSULES], least[CAPSULES];
        for (uint32_t k = 0; k < CAPSULES; k++)
            start[k] = least[k] = energy_of_capsule(world, BODY + k);
        for (int tick = 0; tick < 60 * SECONDS; tick++) {
            step_ticks(world, 1);
            for (uint32_t k = 0; k < CAPSULES; k++) {
                double energy = energy_of_capsule(world, BODY + k);
                assert_true(energy <= least[k] + 0.02 * start[k]);
                least[k] = fmin(least[k], energy);
            }
        }
        foliot_world_destroy(world);
    }
}
