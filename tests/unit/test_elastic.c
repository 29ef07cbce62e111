// SPDX-License-Identifier: MIT
// Goal: impacts with restitution 1 and without friction keep the energy, whatever strikes: every
// corner of an impact, in every substep, of boxes with unequal moments. Method: a corner that
// strikes at the end of a substep; closed rooms of eight boxes, in which energy is a constant.
#include "check.h"

#include <math.h>
#include <stdio.h>

#include "text_world.h"

#define SECONDS 60

static double energy_of(const foliot_world *world)
{
    return foliot_world_get_invariants(world, NULL).kinetic;
}

// At 64 substeps a second corner strikes within a millionth of a substep's end.
TEST(every_corner_of_an_impact_bounces)
{
    for (uint32_t substeps = 8; substeps <= 128; substeps += 8) {
        char text[1024];
        snprintf(text, sizeof text,
                 "foliot: 1\nname: corner\ntick_hz: 60\nsubsteps: %u\nbodies:\n"
                 "  - {name: wall, static: true, position: [0, 0, 5], restitution: 1, friction: 0,"
                 " shape: {kind: box, half: [5, 5, 0.01]}}\n"
                 "  - {name: cube, mass: 1, restitution: 1, friction: 0,"
                 " position: [-3.54032858, 3.61497844, 4.73295285],"
                 " velocity: [7.17816185, -9.6852278, 10.835554],"
                 " orientation: [0.0439862391, -0.407291955, -0.725857992, 0.552547418],"
                 " angular_velocity: [195.766704, 8.96839393, 36.8021015],"
                 " shape: {kind: box, half: [0.1, 0.12, 0.15]}}\n",
                 substeps);
        foliot_world *world = text_world(text);
        double start = energy_of(world);
        step_ticks(world, 1);
        check_near(energy_of(world), start, 1e-3 * start);
        foliot_world_destroy(world);
    }
}

static double random_in(uint64_t *seed, double low, double high)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * ldexp((double)(*seed >> 11), -53);
}

// Six walls around a cube of 3 m, and a box in each eighth of it. Half extents: from `least` to
// 0.3.
static foliot_world *room(uint64_t seed, uint32_t substeps, double least)
{
    char text[8192];
    double middle = (0.3 + least) / 2, range = (0.3 - least) / 2;
    int n = snprintf(text, sizeof text,
                     "foliot: 1\nname: room\ntick_hz: 60\nsubsteps: %u\nbodies:\n", substeps);
    for (int k = 0; k < 6; k++) {
        double at[3] = {0, 0, 0}, half[3] = {2.5, 2.5, 2.5};
        at[k / 2] = k % 2 ? 2 : -2;
        half[k / 2] = 0.5;
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "  - {name: w%d, static: true, friction: 0, restitution: 1,"
                      " position: [%g, %g, %g], shape: {kind: box, half: [%g, %g, %g]}}\n",
                      k, at[0], at[1], at[2], half[0], half[1], half[2]);
    }
    for (int k = 0; k < 8; k++) {
        double r[16];
        for (int i = 0; i < 16; i++)
            r[i] = random_in(&seed, -1, 1);
        double length = sqrt((r[0] * r[0] + r[1] * r[1]) + (r[2] * r[2] + r[3] * r[3]));
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "  - {name: b%d, mass: %.17g, friction: 0, restitution: 1,"
                      " position: [%g, %g, %g], velocity: [%.17g, %.17g, %.17g],"
                      " angular_velocity: [%.17g, %.17g, %.17g],"
                      " orientation: [%.17g, %.17g, %.17g, %.17g],"
                      " shape: {kind: box, half: [%.17g, %.17g, %.17g]}}\n",
                      k, 1.75 + 1.25 * r[4], k & 1 ? -0.75 : 0.75, k & 2 ? -0.75 : 0.75,
                      k & 4 ? -0.75 : 0.75, 3 * r[5], 3 * r[6], 3 * r[7], 5 * r[8], 5 * r[9],
                      5 * r[10], r[0] / length, r[1] / length, r[2] / length, r[3] / length,
                      middle + range * r[11], middle + range * r[12], middle + range * r[13]);
    }
    return text_world(text);
}

static void check_a_minute(foliot_world *world)
{
    double start = energy_of(world);
    for (int k = 0; k < SECONDS; k++) {
        step_ticks(world, 60);
        check_near(energy_of(world), start, 0.01 * start);
    }
    foliot_world_destroy(world);
}

// A minute in each of 72 rooms, at 1 to 16 substeps.
TEST(rooms_keep_their_energy)
{
    static const uint32_t substeps[] = {1, 2, 4, 4, 4, 4, 8, 16};
    for (uint64_t seed = 0; seed < 72; seed++)
        check_a_minute(room(seed, substeps[seed % 8], 0.1));
}

// At one substep some of these turn faster than two radians a substep, which is the limit.
TEST(thin_boxes_keep_it_from_four_substeps_on)
{
    for (uint64_t seed = 0; seed < 16; seed++)
        check_a_minute(room(seed, seed % 4 ? 4 : 16, 0.02));
}
