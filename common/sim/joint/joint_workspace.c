// SPDX-License-Identifier: MIT
// joint_workspace.c: where the arrays of the table `joint_workspace` lie. Its first part is
// foliot__joint_table, which state/ knows.
#include "sim/joint/joint_internal.h"

static uint64_t lay_out(foliot__joints *j, char *base, size_t slots, size_t count)
{
    foliot__carver from = {base, 0};
    size_t bodies = slots < 2 * count ? slots : 2 * count;
    j->table = foliot__joint_table_carve(&from, count);
    FOLIOT__CARVE(&from, j->joints, count);
    FOLIOT__CARVE(&from, j->bodies, bodies);
    FOLIOT__CARVE(&from, j->islands, bodies);
    FOLIOT__CARVE(&from, j->body_of, slots);
    FOLIOT__CARVE(&from, j->head, slots);
    FOLIOT__CARVE(&from, j->next, 2 * count);
    FOLIOT__CARVE(&from, j->listed, count);
    FOLIOT__CARVE(&from, j->taken, count);
    FOLIOT__CARVE(&from, j->waiting, count);
    for (int i = 0; i < 5; i++)
        FOLIOT__CARVE(&from, j->loop[i], count * FOLIOT__ROWS);
    return from.at;
}

uint64_t foliot__joint_workspace_bytes(const foliot_world_config *config)
{
    foliot__joints j;
    size_t slots = foliot__slots_of(config->bodies_max);
    return config->joints_max ? lay_out(&j, NULL, slots, config->joints_max) : 0;
}

foliot__joints foliot__joints_of(const foliot_world *world)
{
    foliot__joints j;
    lay_out(&j, (char *)foliot__joint_workspace(world), world->capacity.slots,
            world->capacity.joints);
    return j;
}
