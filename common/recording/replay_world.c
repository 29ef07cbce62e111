// SPDX-License-Identifier: MIT
// replay_world.c: worlds and other simulations as a recording's header describes them, at their
// start. Restores nothing and steps nothing.
#include "recording/replay.h"

#include "sim/world/layout.h"

void foliot__replay_damaged(foliot_replay *replay, const foliot_damage *damage)
{
    if (replay->damage.status == FOLIOT_STATUS_OK)
        replay->damage = *damage;
}

foliot_status foliot__replay_new_world(const foliot_replay *replay, foliot_world **world)
{
    return foliot__world_create(&replay->capacities, replay->scene, world);
}

foliot_status foliot__replay_new(const foliot_replay *replay, foliot_hosted_world *hosted,
                                 foliot_simulation *simulation)
{
    *simulation = (foliot_simulation){NULL, NULL, replay->header.scene, replay->header.scene_bytes};
    if (replay->foreign) {
        simulation->kind = replay->foreign;
        return replay->foreign->create(replay->foreign->user, simulation->setup,
                                       simulation->setup_bytes, &simulation->self);
    }
    if (replay->header.features & FOLIOT_RECORDING_SIMULATION)
        return FOLIOT_STATUS_UNSUPPORTED;
    *hosted = (foliot_hosted_world){.scene = replay->scene, .host = replay->host};
    simulation->kind = &foliot_world_kind;
    simulation->self = hosted;
    return foliot__replay_new_world(replay, &hosted->world);
}

void foliot__replay_drop(foliot_simulation *simulation)
{
    if (simulation->kind == &foliot_world_kind)
        foliot_world_destroy(((foliot_hosted_world *)simulation->self)->world);
    else
        foliot_simulation_destroy(simulation);
    *simulation = (foliot_simulation){0};
}

void foliot__replay_take_world(foliot_replay *replay)
{
    replay->hosted =
        (foliot_hosted_world){.world = replay->world, .scene = replay->scene, .host = replay->host};
    replay->simulation = (foliot_simulation){&foliot_world_kind, &replay->hosted,
                                             replay->header.scene, replay->header.scene_bytes};
}
