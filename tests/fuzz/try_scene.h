// SPDX-License-Identifier: MIT
// try_scene.h: what must hold of every scene that came in, wherever it came from. For the scene
// fuzzers.
#ifndef FOLIOT_FUZZ_TRY_SCENE_H
#define FOLIOT_FUZZ_TRY_SCENE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "foliot/foliot.h"

// Small enough that a fuzzer may step it.
static inline bool try_scene_is_small(const foliot_scene *scene)
{
    return scene->body_count <= 64 && scene->force_count <= 256 && scene->constraint_count <= 256 &&
           scene->players.limit <= 16 && scene->players.position_count <= 64 &&
           scene->bodies_max <= 256 && scene->substeps <= 4 && scene->iterations_max <= 50 &&
           scene->constraint_iterations <= 20;
}

// A sound scene makes a world, and the world steps, whatever the numbers are.
static inline void try_world(const foliot_scene *scene)
{
    foliot_world *world = NULL;
    FOLIOT_ASSERT(foliot_world_create(scene, &world, NULL) == FOLIOT_STATUS_OK);
    foliot_input join = {.player = 0, .sequence = 1, .kind = FOLIOT_INPUT_JOIN};
    uint32_t joins = scene->players.limit > 0;
    for (int tick = 0; tick < 3; tick++)
        FOLIOT_ASSERT(foliot_world_step(world, &join, tick == 0 ? joins : 0, NULL) ==
                      FOLIOT_STATUS_OK);
    foliot_world_get_digest(world);
    foliot_world_destroy(world);
}

static inline void try_scene(const foliot_scene *scene, bool must_be_sound)
{
    foliot_error problem = {.text = ""};
    foliot_status status = foliot_scene_check(scene, &problem);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK || !must_be_sound);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK || problem.text[0]);
    if (status == FOLIOT_STATUS_OK && try_scene_is_small(scene))
        try_world(scene);
}

// The scene's bytes, decoded and encoded again, are the same.
static inline void try_bytes(const foliot_scene *scene, const uint8_t *expected,
                             size_t expected_length)
{
    size_t length = 0;
    FOLIOT_ASSERT(foliot_scene_encode(scene, NULL, 0, &length) == FOLIOT_STATUS_OK);
    FOLIOT_ASSERT(!expected || length == expected_length);
    uint8_t *bytes = malloc(length);
    FOLIOT_ASSERT(bytes && foliot_scene_encode(scene, bytes, length, &length) == FOLIOT_STATUS_OK);
    FOLIOT_ASSERT(!expected || memcmp(bytes, expected, length) == 0);
    foliot_scene *again = NULL;
    FOLIOT_ASSERT(foliot_scene_decode(bytes, length, &again) == FOLIOT_STATUS_OK);
    foliot_scene_destroy(again);
    free(bytes);
}

#endif
