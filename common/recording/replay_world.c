// SPDX-License-Identifier: MIT
// replay_world.c: worlds and other simulations as a recording's header describes them, at their
// start. Restores nothing and steps nothing.
#include "recording/replay.h"

#include "sim/world/layout.h"

#include <stdlib.h>

void foliot__replay_damaged(foliot_replay *replay, const foliot_damage *damage)
{
    if (replay->damage.status == FOLIOT_STATUS_OK)
        replay->damage = *damage;
}

// With the recorded capacities, which the setup alone does not give.
static foliot_status create_world(const foliot_replay *replay, void **self)
{
    foliot_hosted_world *hosted = calloc(1, sizeof *hosted);
    if (!hosted)
        return FOLIOT_STATUS_MEMORY;
    *hosted = (foliot_hosted_world){.scene = replay->scene, .host = replay->host};
    foliot_status status = foliot__world_create(&replay->capacities, replay->scene, &hosted->world);
    if (status == FOLIOT_STATUS_OK)
        *self = hosted;
    else
        free(hosted);
    return status;
}

foliot_status foliot__replay_new(const foliot_replay *replay, foliot_simulation *simulation)
{
    const foliot_simulation_kind *kind = replay->kind;
    void *self = NULL;
    *simulation = (foliot_simulation){kind, NULL, replay->header.scene, replay->header.scene_bytes};
    if (!kind)
        return FOLIOT_STATUS_UNSUPPORTED;
    foliot_status status =
        replay->scene ? create_world(replay, &self)
                      : kind->create(kind->user, simulation->setup, simulation->setup_bytes, &self);
    if (status == FOLIOT_STATUS_OK)
        simulation->self = self;
    return status;
}

foliot_status foliot__replay_probe(foliot_replay *replay)
{
    return replay->probe.self ? FOLIOT_STATUS_OK : foliot__replay_new(replay, &replay->probe);
}

foliot_hosted_world *foliot__replay_hosted(const foliot_replay *replay)
{
    return replay->scene ? replay->simulation.self : NULL;
}
