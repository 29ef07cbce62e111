// SPDX-License-Identifier: MIT
// filter.h: which bodies let each other through.
#ifndef FOLIOT_SIM_STATE_FILTER_H
#define FOLIOT_SIM_STATE_FILTER_H

#include "sim/state/state.h"

// Whether the filters of two bodies agree (scene.h). Of an extended world alone.
static inline bool foliot__filters_agree(const foliot_world *world, uint32_t i, uint32_t j)
{
    const uint32_t *category = foliot__category(world), *mask = foliot__mask(world);
    uint32_t group = foliot__group(world)[i];
    if (group != 0 && group == foliot__group(world)[j])
        return (int32_t)group > 0;
    return (category[i] & mask[j]) && (category[j] & mask[i]);
}

// The same of any world.
static inline bool foliot__may_touch(const foliot_world *world, uint32_t i, uint32_t j)
{
    return !world->extended || foliot__filters_agree(world, i, j);
}

// A kinematic body that is not frozen.
static inline bool foliot__is_kinematic(const foliot_world *world, uint32_t slot)
{
    return (foliot__flags(world)[slot] & (FOLIOT_BODY_KINEMATIC | FOLIOT_BODY_FROZEN)) ==
           FOLIOT_BODY_KINEMATIC;
}

// ... that is on its way.
static inline bool foliot__is_carrier(const foliot_world *world, uint32_t slot)
{
    foliot__v3 v = foliot__velocity(world), w = foliot__angular_velocity(world);
    return foliot__is_kinematic(world, slot) &&
           (v.x[slot] != 0 || v.y[slot] != 0 || v.z[slot] != 0 || w.x[slot] != 0 ||
            w.y[slot] != 0 || w.z[slot] != 0);
}

#endif
