// SPDX-License-Identifier: MIT
// worlds.c: see worlds.h.
#include "worlds.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/rng.h"
#include "foliot/scene.h"
#include "foliot/world.h"
#include "status.h"

#define KEPT 64
#define WARM_TICKS 30 // after the start, which is seldom seen
#define PLAYERS 2u
#define CHANGE_EVERY 15

static uint32_t inputs_of(foliot__rng *rng, uint32_t tick, uint32_t players, foliot_input *inputs)
{
    if (tick != 0 && tick % CHANGE_EVERY != 0)
        return 0;
    for (uint32_t p = 0; p < players; p++) {
        inputs[p] = (foliot_input){.player = p,
                                   .sequence = tick + 1,
                                   .kind = tick == 0 ? FOLIOT_INPUT_JOIN : FOLIOT_INPUT_CONTROL};
        for (int k = 0; k < FOLIOT_AXIS_COUNT; k++)
            inputs[p].axes[k] = (int8_t)(254 * foliot__rng_unit(rng) - 127);
        inputs[p].buttons = foliot__rng_unit(rng) < 0.2;
    }
    return players;
}

bool worlds_run(const char *scene_file, uint32_t ticks, uint32_t baseline,
                void (*seen)(void *user, const worlds_pair *pair), void *user)
{
    foliot_scene *scene;
    foliot_error error;
    foliot_world *world;
    foliot_input inputs[PLAYERS];
    FOLIOT_ASSERT(baseline < KEPT);
    if (foliot_scene_read(scene_file, &scene, &error) != FOLIOT_STATUS_OK ||
        foliot_world_create(scene, &world, NULL) != FOLIOT_STATUS_OK)
        return false;
    foliot_snapshot_format format = foliot_snapshot_format_default(scene);
    foliot_snapshot kept[KEPT] = {{0}};
    foliot__rng rng = foliot__rng_seeded(7);
    uint32_t players = scene->players.limit < PLAYERS ? scene->players.limit : PLAYERS;
    for (uint32_t i = 0; i < KEPT; i++)
        kept[i] = (foliot_snapshot){
            .capacity = format.bodies_max,
            .bodies = calloc(format.bodies_max + 1, sizeof(foliot_snapshot_body))};
    for (uint32_t tick = 0; tick < ticks + WARM_TICKS + baseline; tick++) {
        demand(foliot_world_step(world, inputs, inputs_of(&rng, tick, players, inputs), NULL));
        demand(foliot_snapshot_quantise(&format, world, &kept[tick % KEPT]));
        if (tick >= WARM_TICKS + baseline)
            seen(user,
                 &(worlds_pair){&format, &kept[(tick - baseline) % KEPT], &kept[tick % KEPT]});
    }
    for (uint32_t i = 0; i < KEPT; i++)
        free(kept[i].bodies);
    foliot_world_destroy(world);
    foliot_scene_destroy(scene);
    return true;
}
