// SPDX-License-Identifier: MIT
// joint_table.h: data on joints for other folders: whether there are any, and which pairs of bodies
// a joint excludes from collision. It is the first part of the table `joint_workspace`; the rest
// belongs to joint/.
#ifndef FOLIOT_SIM_STATE_JOINT_TABLE_H
#define FOLIOT_SIM_STATE_JOINT_TABLE_H

#include "sim/state/carver.h"

enum {
    FOLIOT__JOINTS_COUNT,
    FOLIOT__JOINTS_BODIES,
    FOLIOT__JOINTS_ISLANDS,
    FOLIOT__JOINTS_SEPARATE, // length of the list of pairs
    FOLIOT__JOINTS_RELAXING, // 1: rows are those of the substep's end already
    FOLIOT__JOINTS_COUNTS,
};

typedef struct foliot__joint_table {
    uint32_t *counts;   // by FOLIOT__JOINTS_*
    uint64_t *separate; // pairs that do not collide: ascending a << 32 | b, a < b
} foliot__joint_table;

static inline foliot__joint_table foliot__joint_table_carve(foliot__carver *from, size_t joints)
{
    foliot__joint_table table;
    FOLIOT__CARVE(from, table.counts, FOLIOT__JOINTS_COUNTS);
    FOLIOT__CARVE(from, table.separate, joints);
    return table;
}

static inline bool foliot__has_joints(const foliot_world *world)
{
    return world->scene.joints > 0;
}

// A body began or ceased to move, or a joint broke: joint/ finds its islands again before the next
// tick.
static inline void foliot__joints_changed(foliot_world *world)
{
    world->joints_ready = 0;
}

static inline uint64_t foliot__joint_pair_key(uint32_t a, uint32_t b)
{
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

// Whether a joint lets the two bodies pass through each other.
bool foliot__joints_separate(const foliot_world *world, uint32_t a, uint32_t b);

#endif
