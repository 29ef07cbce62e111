// SPDX-License-Identifier: MIT
// Goal: chains keep their energy, and gain none with an end up to 10^6 times as heavy as their
// links, whether contacts solve them or not. Method: the energy of chains that fall over, hang on
// what moves, or float.
#include "check.h"

#include <math.h>
#include <stdio.h>

#include "text_world.h"

// The chain's own bodies let each other pass. The bead that touches its first link, without
// friction and without doing work, makes the contact solver solve the chain.
static void check_chain(const char *mass, const char *bead)
{
    char text[4096] = "foliot: 1\nname: chain\ntick_hz: 60\ngravity: [0, 0, -9.81]\nbodies:\n";
    for (int k = 0; k < 6; k++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "  - {name: b%d, mass: %s, position: [%g, 0, 3], filter: {group: -1}, friction: 0,"
                 " orientation: [0.70710678, 0, 0.70710678, 0],"
                 " shape: {kind: capsule, radius: 0.05, half_length: 0.13}}\n",
                 k, k < 5 ? "1" : mass, 0.2 + 0.4 * k);
    strcat(text, bead);
    strcat(text, "constraints:\n  - {kind: ball, a: b0, anchor: [0, 0, 3]}\n");
    for (int k = 0; k < 5; k++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "  - {kind: ball, a: b%d, b: b%d, anchor: [%g, 0, 3]}\n", k, k + 1, 0.4 + 0.4 * k);
    foliot_world *world = text_world(text);
    foliot_invariants start = foliot_world_get_invariants(world, NULL);
    for (int k = 0; k < 600; k++) {
        step_ticks(world, 1);
        foliot_invariants now = foliot_world_get_invariants(world, NULL);
        check_le((now.kinetic + now.potential) / (start.kinetic + start.potential), 1.005);
    }
    foliot_world_destroy(world);
}

#define BEAD                                                                                       \
    "  - {name: bead, static: true, friction: 0, position: [0, 0, 3],"                             \
    " shape: {kind: sphere, radius: 0.0199}}\n"

TEST(a_chain_with_a_heavy_end_gains_no_energy)
{
    check_chain("1e3", "");
    check_chain("1e5", "");
    check_chain("1e6", "");
}

TEST(nor_does_one_that_contacts_solve)
{
    check_chain("1e3", BEAD);
    check_chain("1e5", BEAD);
    check_chain("1e6", BEAD);
}

// -- chains of equal links, from random shapes

#define LINK 0.4

typedef struct chain {
    const char *integrator;
    uint32_t links;
    double end_mass; // of the last link; the others have 1 kg
    uint64_t seed;   // 0: level
    double speed;    // of what it hangs on, along x
    bool floats;     // without gravity, one end thrown
} chain;

// A random direction, by xorshift.
static void next_direction(uint64_t *seed, double out[3])
{
    double length = 0;
    while (!(length > 0.1)) {
        for (int k = 0; k < 3; k++) {
            *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
            out[k] = (double)(*seed >> 11) / 0x1p52 - 1;
        }
        length = sqrt((out[0] * out[0] + out[1] * out[1]) + out[2] * out[2]);
    }
    for (int k = 0; k < 3; k++)
        out[k] /= length;
}

static void write_links(const chain *c, char *bodies, char *joints)
{
    double at[3] = {0, 0, 3}, d[3] = {1, 0, 0};
    uint64_t seed = c->seed * 0x9E3779B97F4A7C15;
    for (uint32_t k = 0; k < c->links; k++) {
        if (c->seed)
            next_direction(&seed, d);
        double turn[3] = {1 + d[2], -d[1], d[0]}, length = sqrt(2 * (1 + d[2]));
        if (k > 0 || !c->floats)
            joints += sprintf(joints,
                              "  - {kind: ball, a: b%u, b: %s%u, anchor: [%.17g, %.17g, %.17g]}\n",
                              k, k ? "b" : "hook", k ? k - 1 : 0, at[0], at[1], at[2]);
        bodies +=
            sprintf(bodies,
                    "  - {name: b%u, mass: %g, position: [%.17g, %.17g, %.17g], orientation: "
                    "[%.17g, %.17g, %.17g, 0], velocity: [%g, %g, 0], filter: {group: -1}, "
                    "shape: {kind: capsule, radius: 0.05, half_length: 0.13}}\n",
                    k, k + 1 < c->links ? 1 : c->end_mass, at[0] + LINK / 2 * d[0],
                    at[1] + LINK / 2 * d[1], at[2] + LINK / 2 * d[2], turn[0] / length,
                    turn[1] / length, turn[2] / length, c->speed, c->floats && k == 0 ? 20.0 : 0.0);
        for (int i = 0; i < 3; i++)
            at[i] += LINK * d[i];
    }
}

static foliot_world *chain_world(const chain *c)
{
    static char text[32768], bodies[12288], joints[4096];
    bodies[0] = joints[0] = 0;
    write_links(c, bodies, joints);
    snprintf(text, sizeof text,
             "foliot: 1\nname: chain\ntick_hz: 60\nintegrator: %s\ngravity: [0, 0, %g]\nbodies:\n%s"
             "  - {name: hook0, kinematic: true, position: [0, 0, 3], velocity: [%g, 0, 0]}\n"
             "constraints:\n%s",
             c->integrator, c->floats ? 0.0 : -9.81, bodies, c->speed, joints);
    return text_world(text);
}

// Where the hook stands still.
static double energy_of(const foliot_world *world, const chain *c)
{
    foliot_invariants now = foliot_world_get_invariants(world, NULL);
    double sum = now.kinetic + now.potential;
    for (uint32_t k = 0; k < c->links; k++) {
        double mass = k + 1 < c->links ? 1 : c->end_mass;
        sum += mass * c->speed * (c->speed / 2 - state_of(world, k).velocity[0]);
    }
    return sum;
}

// Returns the greatest energy beyond the first, and sets the last; as shares of m g l.
static double run_chain(const chain *c, uint32_t seconds, double *last)
{
    foliot_world *world = chain_world(c);
    double scale = (c->links - 1 + c->end_mass) * 9.81 * LINK * c->links, most = 0;
    double start = energy_of(world, c);
    for (uint32_t k = 0; k < 60 * seconds; k++) {
        step_ticks(world, 1);
        double gain = (energy_of(world, c) - start) / scale;
        most = gain > most ? gain : most;
        *last = gain;
    }
    printf("%s, %u links, end %g, seed %d, speed %g: energy %+.2f %%, at most %+.2f %%\n",
           c->integrator, c->links, c->end_mass, (int)c->seed, c->speed, 100 * *last, 100 * most);
    foliot_world_destroy(world);
    return most;
}

static void check_kept(const chain *c)
{
    double last;
    check_le(run_chain(c, 20, &last), 0.01);
    check_le(fabs(last), 0.01);
}

TEST(chains_of_equal_links_keep_their_energy)
{
    static const uint32_t links[] = {3, 6, 10, 20};
    static const char *const schemes[] = {"semi-implicit-euler", "velocity-verlet"};
    for (int i = 0; i < 4; i++)
        for (int s = 0; s < 2; s++)
            for (uint64_t seed = 0; seed < 2; seed++)
                check_kept(&(chain){schemes[s], links[i], 1, seed, 0, false});
}

TEST(so_do_those_on_a_hook_that_moves)
{
    for (uint64_t seed = 0; seed < 3; seed++)
        check_kept(&(chain){"semi-implicit-euler", 10, 1, seed, 5, false});
}

TEST(heavy_ends_gain_nothing_from_any_shape)
{
    static const char *const schemes[] = {"semi-implicit-euler", "velocity-verlet"};
    for (int s = 0; s < 2; s++)
        for (uint32_t links = 6; links <= 10; links += 4)
            for (uint64_t seed = 0; seed < 4; seed++) {
                chain c = {schemes[s], links, 1e5, seed, 0, false};
                double last;
                check_le(run_chain(&c, 10, &last), 0.01);
            }
}

// Twenty links, one of them thrown across: whips with nothing to hold on to.
TEST(a_chain_that_floats_keeps_its_momentum)
{
    chain c = {"semi-implicit-euler", 20, 1, 1, 0, true};
    foliot_world *world = chain_world(&c);
    foliot_invariants start = foliot_world_get_invariants(world, NULL), now = start;
    for (int k = 0; k < 1200; k++) {
        step_ticks(world, 1);
        now = foliot_world_get_invariants(world, NULL);
        check_near(now.kinetic / start.kinetic, 1, 0.02);
    }
    for (int k = 0; k < 3; k++) {
        check_near(now.momentum[k], start.momentum[k], 1e-9);
        check_near(now.angular_momentum[k], start.angular_momentum[k], 0.1); // of 60
    }
    foliot_world_destroy(world);
}
