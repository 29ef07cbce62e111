// SPDX-License-Identifier: MIT
// constraint.c: distance constraints by position correction.
#include "sim/constraint.h"

size_t foliot__constraint_workspace_bytes(const foliot_world_config *config)
{
    (void)config;
    return 0;
}

void foliot__constraint_prepare(foliot_world *world)
{
    (void)world;
}

void foliot__solve_distances(const foliot__step *step)
{
    (void)step;
}
