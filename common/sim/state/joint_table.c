// SPDX-License-Identifier: MIT
// joint_table.c: looks up pairs of bodies that a joint keeps from colliding. joint/ fills the list;
// while it is out of date, no pair is in it.
#include "sim/state/joint_table.h"

bool foliot__joints_separate(const foliot_world *world, uint32_t a, uint32_t b)
{
    if (!foliot__has_joints(world) || !world->joints_ready)
        return false;
    foliot__carver from = {(char *)foliot__joint_workspace(world), 0};
    foliot__joint_table table = foliot__joint_table_carve(&from, world->capacity.joints);
    uint64_t key = foliot__joint_pair_key(a, b);
    uint32_t count = table.counts[FOLIOT__JOINTS_SEPARATE], low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (table.separate[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && table.separate[low] == key;
}
