// SPDX-License-Identifier: MIT
// workspace.h: how workspace tables are divided into arrays and keys in them sorted, and the part
// of the table `joint_workspace` that other folders read.
#ifndef FOLIOT_SIM_STATE_WORKSPACE_H
#define FOLIOT_SIM_STATE_WORKSPACE_H

#include <stddef.h>

#include "sim/state/state.h"

// -- the carver
//
// It divides a workspace table into arrays. Each array is aligned to a cache line. Without a
// base it only counts bytes, so one layout function gives both the size and the addresses. It
// counts in 64 bits everywhere: a size too large for the machine must not wrap to a small one.

typedef struct foliot__carver {
    char *base;  // NULL: only counts
    uint64_t at; // bytes handed out so far
} foliot__carver;

static inline void *foliot__carve(foliot__carver *from, uint64_t entries, size_t size)
{
    void *array = from->base ? from->base + (size_t)from->at : NULL;
    from->at += (entries * size + 63) & ~(uint64_t)63;
    return array;
}

// Sets `pointer` to an array of `entries` of what it points at.
#define FOLIOT__CARVE(from, pointer, entries)                                                      \
    ((pointer) = foliot__carve(from, entries, sizeof *(pointer)))

static inline foliot__v3 foliot__carve_v3(foliot__carver *from, size_t slots)
{
    foliot__v3 field;
    FOLIOT__CARVE(from, field.x, slots);
    FOLIOT__CARVE(from, field.y, slots);
    FOLIOT__CARVE(from, field.z, slots);
    return field;
}

// Slots of a world of `bodies_max` bodies: padded to whole lanes.
static inline size_t foliot__slots_of(uint32_t bodies_max)
{
    return (bodies_max + FOLIOT__LANES - 1) / FOLIOT__LANES * FOLIOT__LANES;
}

// -- joints
//
// Data on joints for other folders: whether there are any, and which pairs of bodies
// a joint excludes from collision. It is the first part of the table `joint_workspace`; the rest
// belongs to joint/.

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

// Whether the stages `collide` and `solve` have work: bodies may collide, or joints be fast, which
// the contact solver solves.
static inline bool foliot__uses_contact_solver(const foliot_world *world)
{
    return world->scene.collides || world->scene.fast_joints;
}

// Whether there are joints that are solved exactly. Known once the islands are.
static inline bool foliot__has_exact_joints(const foliot_world *world)
{
    return foliot__has_joints(world) &&
           (world->scene.fast_joints == 0 ||
            ((const uint32_t *)(const void *)foliot__joint_workspace(world))[FOLIOT__JOINTS_COUNT] >
                0);
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

// -- sorting
//
// Sorts keys in ascending order, in place. A heap: no memory, and no order of keys that makes it
// slow.

static inline void foliot__sift_down(uint64_t *keys, uint32_t at, uint32_t count)
{
    uint64_t down = keys[at];
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && keys[child] < keys[child + 1];
        if (keys[child] < down)
            break;
        keys[at] = keys[child];
    }
    keys[at] = down;
}

static inline void foliot__sort_keys(uint64_t *keys, uint32_t count)
{
    for (uint32_t k = count / 2; k-- > 0;)
        foliot__sift_down(keys, k, count);
    for (uint32_t end = count; end-- > 1;) {
        uint64_t last = keys[0];
        keys[0] = keys[end];
        keys[end] = last;
        foliot__sift_down(keys, 0, end);
    }
}

#endif
