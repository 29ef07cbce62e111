// SPDX-License-Identifier: MIT
// world_picture.c: see page.h.
#include "page.h"

#include <stdlib.h>

// As in viewer.c.
static uint32_t player_of(const foliot_world *world, uint32_t slot)
{
    static uint32_t last; // mostly the next slot is the next player's
    uint32_t count = foliot_world_get_players_max(world);
    for (uint32_t i = 1; i <= count; i++) {
        uint32_t p = (last + i) % count;
        if (foliot_body_id_get_slot(foliot_world_get_player_body(world, p)) == slot)
            return last = p;
    }
    return slot;
}

int web_world_picture(const foliot_world *world, uint32_t marked_body)
{
    uint32_t count = world ? foliot_world_get_body_count(world) : 0;
    if (!world || !web_instances_begin(count))
        return -1;
    for (uint32_t i = 0; i < count; i++) {
        if (foliot_world_get_body_id(world, i).value == 0)
            continue;
        foliot_body about = {.tag = 0};
        (void)!foliot_world_get_body(world, foliot_world_get_body_id(world, i), &about);
        web_body body = {.state =
                             foliot_world_get_body_state(world, foliot_world_get_body_id(world, i)),
                         .shape = about.shape,
                         .slot = i,
                         .tag = about.tag};
        body.player = body.state.flags & FOLIOT_BODY_PLAYER ? player_of(world, i) : i;
        body.marked = i == marked_body;
        web_instances_add(&body);
    }
    return (int)web_instances_end();
}

const double *web_world_positions(const foliot_world *world)
{
    static double *positions;
    static uint32_t capacity;
    uint32_t count = foliot_world_get_body_count(world);
    if (count > capacity) {
        double *larger = realloc(positions, (size_t)count * 3 * sizeof *positions);
        if (!larger)
            return NULL;
        positions = larger;
        capacity = count;
    }
    for (uint32_t i = 0; i < count; i++) {
        foliot_body_state state =
            foliot_world_get_body_state(world, foliot_world_get_body_id(world, i));
        bool alive = state.flags & FOLIOT_BODY_ALIVE;
        for (int k = 0; k < 3; k++)
            positions[3 * i + k] = alive ? state.position[k] : __builtin_nan("");
    }
    return positions;
}
