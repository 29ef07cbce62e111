// SPDX-License-Identifier: MIT
// prepare.c: what a world remembers besides its state is rebuilt here. Results do not depend on it.
#include "sim/world/prepare.h"

#include "sim/constraint/constraint.h"
#include "sim/force/force.h"
#include "sim/solver/contact_solver.h"
#include "sim/state/body.h"
#include "sim/state/contact_cache.h"
#include "sim/state/joint_table.h"

void foliot__world_prepare(foliot_world *world)
{
    for (uint32_t i = 0; i < world->body_count; i++)
        foliot__body_refresh(world, i);
    foliot__bodies_count(world);
    foliot__force_prepare(world);
    foliot__contact_prepare(world);
    foliot__constraint_prepare(world);
    foliot__joints_changed(world);
    world->acceleration_valid = world->sensors.valid = 0;
    world->reported.event_count = 0;
    world->input.links_changed = world->input.forces_changed = 0;
}

void foliot__world_prepare_changed(foliot_world *world)
{
    foliot__contact_end_changes(world);
    if (world->digests.definition_dirty)
        foliot__bodies_count(world);
    if (world->input.links_changed)
        foliot__constraint_prepare(world);
    if (world->input.forces_changed)
        foliot__force_prepare(world);
    world->input.links_changed = world->input.forces_changed = 0;
}
