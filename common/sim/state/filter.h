// SPDX-License-Identifier: MIT
// filter.h: which bodies let each other through.
#ifndef FOLIOT_SIM_STATE_FILTER_H
#define FOLIOT_SIM_STATE_FILTER_H

#include "sim/state/state.h"

typedef struct foliot__filter {
    uint32_t category, mask, group;
} foliot__filter;

static inline foliot__filter foliot__filter_of(const foliot_world *world, uint32_t slot)
{
    return (foliot__filter){foliot__category(world)[slot], foliot__mask(world)[slot],
                            foliot__group(world)[slot]};
}

// Whether two filters let their bodies collide (scene.h).
static inline bool foliot__filters_match(foliot__filter a, foliot__filter b)
{
    if (a.group != 0 && a.group == b.group)
        return (int32_t)a.group > 0;
    return (a.category & b.mask) && (b.category & a.mask);
}

// The same of two bodies, from the tick's commands on.
static inline bool foliot__may_touch(const foliot_world *world, uint32_t i, uint32_t j)
{
    return world->counts.filtered == 0 ||
           foliot__filters_match(foliot__filter_of(world, i), foliot__filter_of(world, j));
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
