// SPDX-License-Identifier: MIT
// test_overlap.c: the measure of overlap that benches and tests judge engines by, on poses whose
// overlap is known from the formula, and on random ones against a search that shares nothing with
// it.
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "overlap.h"

static solid box(double hx, double hy, double hz, double x, double y, double z)
{
    return (solid){.half = {hx, hy, hz}, .position = {x, y, z}, .orientation = {1, 0, 0, 0}};
}

static solid ball(double radius, double x, double y, double z)
{
    return (solid){
        .is_sphere = true, .radius = radius, .position = {x, y, z}, .orientation = {1, 0, 0, 0}};
}

// About axis k.
static solid turned(solid s, int k, double angle)
{
    s.orientation[0] = cos(angle / 2);
    s.orientation[1 + k] = sin(angle / 2);
    return s;
}

TEST(known_overlaps)
{
    solid unit = box(0.5, 0.5, 0.5, 0, 0, 0), other = box(0.5, 0.5, 0.5, 0.2, 0, 0.99);
    check_near(overlap_of(&unit, &other), 0.01, 1e-15);
    other.position[2] = 1.25;
    check_near(overlap_of(&unit, &other), -0.25, 1e-15);
    // A cube on its edge on a face, and two crossed edges that touch.
    other = turned(box(0.5, 0.5, 0.5, 0, 0, 0.5 + sqrt(0.5) - 0.003), 0, M_PI / 4);
    check_near(overlap_of(&unit, &other), 0.003, 1e-14);
    solid low = turned(box(2, 0.5, 0.5, 0, 0, 0), 0, M_PI / 4);
    solid high = turned(box(0.5, 2, 0.5, 0, 0, 2 * sqrt(0.5) - 0.004), 1, M_PI / 4);
    check_near(overlap_of(&low, &high), 0.004, 1e-14);
    solid a = ball(0.3, 0, 0, 0), b = ball(0.4, 0, 0.6, 0), face = ball(0.3, 0.1, 0.79, 0);
    check_near(overlap_of(&a, &b), 0.1, 1e-15);
    check_near(overlap_of(&unit, &face), 0.01, 1e-15);
    solid corner = ball(0.3, 0.7, 0.7, 0.7), inside = ball(0.1, 0.4, 0, 0);
    check_near(overlap_of(&corner, &unit), 0.3 - sqrt(0.12), 1e-15);
    check_near(overlap_of(&inside, &unit), 0.2, 1e-15);
}

// The deepest of many pairs, static ones among themselves left out.
TEST(the_deepest_pair_is_found)
{
    solid all[100];
    for (int i = 0; i < 98; i++)
        all[i] = box(0.5, 0.5, 0.5, i % 10, (i / 10) % 10, 0);
    all[98] = box(9, 9, 1, 5, 5, -1.495);
    all[99] = box(9, 9, 1, 5, 5, -1.4);
    all[98].is_static = all[99].is_static = true;
    check_near(overlap_deepest(all, 99), 0.005, 1e-14);
    check_near(overlap_deepest(all, 100), 0.1, 1e-14);
    all[57].position[1] -= 0.25;
    check_near(overlap_deepest(all, 100), 0.25, 1e-14);
}

static void point_in_world(const solid *s, const double local[3], double out[3])
{
    const double *q = s->orientation;
    double t[3];
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        t[k] = 2 * (q[1 + i] * local[j] - q[1 + j] * local[i]);
    }
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        out[k] = s->position[k] + local[k] + q[0] * t[k] + (q[1 + i] * t[j] - q[1 + j] * t[i]);
    }
}

// Along any way at all, the supports of two boxes overlap by at least what overlap_of says, and
// along some way by hardly more.
TEST(no_way_parts_boxes_sooner)
{
    foliot__rng rng = foliot__rng_seeded(5);
    for (int round = 0; round < 60; round++) {
        solid s[2] = {box(0.5, 0.3, 0.7, 0, 0, 0), box(0.4, 0.6, 0.2, 0, 0, 0)};
        for (int n = 0; n < 2; n++) {
            double norm = 0;
            for (int k = 0; k < 4; k++)
                s[n].orientation[k] = foliot__rng_unit(&rng) - 0.5;
            for (int k = 0; k < 4; k++)
                norm += s[n].orientation[k] * s[n].orientation[k];
            for (int k = 0; k < 4; k++)
                s[n].orientation[k] /= sqrt(norm);
            for (int k = 0; k < 3; k++)
                s[n].position[k] = 0.6 * (foliot__rng_unit(&rng) - 0.5);
        }
        double told = overlap_of(&s[0], &s[1]), least = INFINITY;
        for (int n = 0; n < 20000; n++) {
            double way[3], top = -INFINITY, low = INFINITY, norm = 0;
            for (int k = 0; k < 3; k++) {
                way[k] = foliot__rng_unit(&rng) - 0.5;
                norm += way[k] * way[k];
            }
            for (int corner = 0; corner < 16; corner++) {
                const solid *of = &s[corner / 8];
                double local[3], at[3];
                for (int k = 0; k < 3; k++)
                    local[k] = corner >> k & 1 ? of->half[k] : -of->half[k];
                point_in_world(of, local, at);
                double along = (way[0] * at[0] + way[1] * at[1] + way[2] * at[2]) / sqrt(norm);
                top = corner < 8 ? fmax(top, along) : top;
                low = corner < 8 ? low : fmin(low, along);
            }
            least = fmin(least, top - low);
        }
        check_le(told, least + 1e-12);
        if (told > 0)
            check_near(told, least, 0.05);
    }
}
