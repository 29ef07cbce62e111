// SPDX-License-Identifier: MIT
// controls.h: what the controls that a player holds ask for.
#ifndef FOLIOT_SIM_STATE_CONTROLS_H
#define FOLIOT_SIM_STATE_CONTROLS_H

#include "sim/state/state.h"

// The slot that the player's controls drive, FOLIOT_NO_BODY if there is none: the body that its
// JOIN spawned, or the one that a command chose.
static inline uint32_t foliot__player_body(const foliot_world *world, uint32_t p)
{
    return foliot__driven(world)[p];
}

// Strength of the pull on bodies near the player, from the buttons held. Negative: a push. 0: none.
static inline double foliot__player_grip(const foliot_world *world, uint32_t p)
{
    const foliot__player *player = &foliot__players(world)[p];
    if (world->player.reach == 0 || foliot__player_body(world, p) == FOLIOT_NO_BODY)
        return 0;
    return (player->buttons & FOLIOT_BUTTON_PULL ? world->player.pull : 0) -
           (player->buttons & FOLIOT_BUTTON_PUSH ? world->player.push : 0);
}

#endif
