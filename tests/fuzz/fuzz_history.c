// SPDX-License-Identifier: MIT
// fuzz_history.c: any bytes as the past of a world. They are refused and change nothing; or they
// are the one encoding of that past, every tick of it can be shown and asked, and it goes on.
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "foliot/foliot.h"
#include "slots.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HISTORY_FUZZ_TICKS 4
#define HISTORY_FUZZ_BODIES 3

static foliot_history *history_fuzz_open(const foliot_scene *scene)
{
    foliot_history *history;
    FOLIOT_ASSERT(foliot_history_create(scene, HISTORY_FUZZ_TICKS, &history) == FOLIOT_STATUS_OK);
    return history;
}

static bool history_fuzz_finite(double x)
{
    return x - x == 0;
}

// Every body has a place and a turn; rays through all of it end.
static void history_fuzz_look(foliot_history *history)
{
    static const double from[3] = {-3, 0.1, 0.2}, direction[3] = {1, 0.01, 0.02};
    double oldest = (double)foliot_history_get_oldest(history);
    for (int i = 0; i < 12; i++) { // a tick may be so late that a double has no fraction left
        const foliot_world *view = foliot_history_view(history, oldest - 0.5 + 0.375 * i);
        foliot_query_hit hit;
        for (uint32_t b = 0; view && b < foliot_world_get_body_count(view); b++) {
            foliot_body_state state = slot_state(view, b);
            for (int k = 0; k < 4 && slot_alive(view, b); k++)
                FOLIOT_ASSERT(history_fuzz_finite(state.orientation[k]) &&
                              (k == 3 || history_fuzz_finite(state.position[k])));
        }
        if (view && foliot_world_cast_ray(view, from, direction, 100, NULL, &hit))
            FOLIOT_ASSERT(hit.distance >= 0 && hit.distance <= 100);
    }
}

// Steps of a world of the scene follow it, or restart it.
static void history_fuzz_go_on(foliot_history *history, const foliot_scene *scene)
{
    foliot_world *world;
    FOLIOT_ASSERT(foliot_world_create(scene, &world, NULL) == FOLIOT_STATUS_OK);
    for (int i = 0; i < 2 * HISTORY_FUZZ_TICKS; i++) {
        FOLIOT_ASSERT(foliot_world_step(world, NULL, 0, NULL) == FOLIOT_STATUS_OK);
        FOLIOT_ASSERT(foliot_history_append(history, world) == FOLIOT_STATUS_OK);
    }
    const foliot_world *view = foliot_history_view(history, 2 * HISTORY_FUZZ_TICKS);
    foliot_body_state was = slot_state(world, 1), is = slot_state(view, 1);
    for (int k = 0; k < 3; k++) {
        double off = was.position[k] - is.position[k];
        FOLIOT_ASSERT(off < 0x1p-14 && off > -0x1p-14);
    }
    foliot_world_destroy(world);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    foliot_body_definition bodies[HISTORY_FUZZ_BODIES];
    foliot_scene scene = foliot_scene_default();
    for (int i = 0; i < HISTORY_FUZZ_BODIES; i++) {
        bodies[i] = foliot_body_definition_default();
        bodies[i].shape = (foliot_shape){.kind = FOLIOT_SHAPE_BOX, .half = {0.2, 0.3, 0.4}};
        bodies[i].position[0] = i;
    }
    bodies[0].is_static = true;
    bodies[1].velocity[1] = 0.5;
    scene.name = "fuzz";
    scene.dt = 1.0 / 64;
    scene.bodies = bodies;
    scene.body_count = HISTORY_FUZZ_BODIES;
    scene.bodies_max = HISTORY_FUZZ_BODIES + 1;
    scene.commands_max = 4;
    foliot_history *history = history_fuzz_open(&scene), *untouched = history_fuzz_open(&scene);
    size_t length = 0, empty = 0;
    FOLIOT_ASSERT(foliot_history_capture(untouched, NULL, 0, &empty) == FOLIOT_STATUS_OK);
    foliot_status status = foliot_history_restore(history, data, size);
    FOLIOT_ASSERT(foliot_history_capture(history, NULL, 0, &length) == FOLIOT_STATUS_OK);
    uint8_t *bytes = malloc(length);
    FOLIOT_ASSERT(bytes);
    FOLIOT_ASSERT(foliot_history_capture(history, bytes, length, &length) == FOLIOT_STATUS_OK);
    if (status == FOLIOT_STATUS_OK) {
        FOLIOT_ASSERT(length == size && memcmp(bytes, data, size) == 0);
        history_fuzz_look(history);
        history_fuzz_go_on(history, &scene);
    } else {
        FOLIOT_ASSERT(status == FOLIOT_STATUS_TRUNCATED || status == FOLIOT_STATUS_CORRUPT);
        FOLIOT_ASSERT(length == empty);
    }
    free(bytes);
    foliot_history_destroy(history);
    foliot_history_destroy(untouched);
    return 0;
}
