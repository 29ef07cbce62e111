// SPDX-License-Identifier: MIT
// prepare.c: what a world remembers besides its state is rebuilt here. Results do not depend on it.
#include "sim/world/prepare.h"

#include "sim/constraint/constraint.h"
#include "sim/force/force.h"
#include "sim/solver/contact_solver.h"
#include "sim/state/joint_table.h"

void foliot__world_prepare(foliot_world *world)
{
    for (uint32_t i = 0; i < world->body_count; i++)
        foliot__body_refresh(world, i);
    foliot__force_prepare(world);
    foliot__contact_prepare(world);
    foliot__constraint_prepare(world);
    foliot__joints_changed(world);
    world->acceleration_valid = world->sensed_valid = 0;
    world->event_count = 0;
}
