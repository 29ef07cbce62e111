// SPDX-License-Identifier: MIT
// Goal: a chain with a heavy end gains no energy, whether contacts solve it or not. Method: the
// energy of a chain that falls over, with ends up to 10^6 times as heavy as its links.
#include "check.h"

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

static void a_chain_with_a_heavy_end_gains_no_energy(void **state)
{
    (void)state;
    check_chain("1e3", "");
    check_chain("1e5", "");
    check_chain("1e6", "");
}

static void nor_does_one_that_contacts_solve(void **state)
{
    (void)state;
    check_chain("1e3", BEAD);
    check_chain("1e5", BEAD);
    check_chain("1e6", BEAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_with_a_heavy_end_gains_no_energy),
        cmocka_unit_test(nor_does_one_that_contacts_solve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
