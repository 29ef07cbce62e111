// SPDX-License-Identifier: MIT
// slots.h: the bodies of a world by their slots, and its joints by their indices: for tests that
// know which is which. A slot without a body reads as nothing.
#ifndef FOLIOT_TESTS_SLOTS_H
#define FOLIOT_TESTS_SLOTS_H

#include "foliot/world.h"

static inline foliot_body_state slot_state(const foliot_world *world, uint32_t slot)
{
    return foliot_world_get_body_state(world, foliot_world_get_body_id(world, slot));
}

static inline bool slot_alive(const foliot_world *world, uint32_t slot)
{
    return foliot_world_get_body_id(world, slot).value != 0;
}

static inline foliot_body slot_body(const foliot_world *world, uint32_t slot)
{
    foliot_body body = {.prototype = FOLIOT_NO_BODY};
    (void)!foliot_world_get_body(world, foliot_world_get_body_id(world, slot), &body);
    return body;
}

// How many bodies were in the slot before the present one.
static inline uint32_t slot_generation(const foliot_world *world, uint32_t slot)
{
    return (uint32_t)(foliot_world_get_body_id(world, slot).value >> 32) - 1;
}

static inline uint64_t slot_field(const foliot_world *world, uint32_t slot, foliot_field field)
{
    return foliot_world_get_field(world, foliot_world_get_body_id(world, slot), field);
}

static inline foliot_status slot_set_field(foliot_world *world, uint32_t slot, foliot_field field,
                                           uint64_t bits)
{
    return foliot_world_set_field(world, foliot_world_get_body_id(world, slot), field, bits);
}

static inline uint32_t player_slot(const foliot_world *world, uint32_t player)
{
    return foliot_body_id_get_slot(foliot_world_get_player_body(world, player));
}

// A joint that is not there counts as broken.
static inline foliot_joint index_joint(const foliot_world *world, uint32_t index)
{
    foliot_joint joint = {.broken = true};
    (void)!foliot_world_get_joint(world, foliot_world_get_joint_id(world, index), &joint);
    return joint;
}

#endif
