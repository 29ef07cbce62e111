// SPDX-License-Identifier: MIT
// text_world.h: worlds made from scenes as text, for tests that read like the scenes they run.
#ifndef FOLIOT_TESTS_TEXT_WORLD_H
#define FOLIOT_TESTS_TEXT_WORLD_H

#include "check.h"
#include "slots.h"

#include <stdlib.h>
#include <string.h>

#include "foliot/foliot.h"

static inline foliot_scene *text_scene(const char *text)
{
    foliot_scene *scene = NULL;
    foliot_error error;
    int status = foliot_scene_parse(text, strlen(text), "text", NULL, &scene, &error);
    if (status != FOLIOT_STATUS_OK)
        print_error("%s\n", error.text);
    assert_int_equal(status, FOLIOT_STATUS_OK);
    return scene;
}

static inline foliot_world *text_world(const char *text)
{
    foliot_scene *scene = text_scene(text);
    foliot_world *world = NULL;
    assert_int_equal(foliot_world_create(scene, &world, NULL), FOLIOT_STATUS_OK);
    foliot_scene_destroy(scene);
    return world;
}

static inline void step_ticks(foliot_world *world, uint32_t ticks)
{
    for (uint32_t k = 0; k < ticks; k++)
        assert_int_equal(foliot_world_step(world, NULL, 0, NULL), FOLIOT_STATUS_OK);
}

static inline foliot_body_state state_of(const foliot_world *world, uint32_t slot)
{
    return slot_state(world, slot);
}

static inline void check_same_digest(const foliot_world *a, const foliot_world *b)
{
    foliot_digest p = foliot_world_get_digest(a), q = foliot_world_get_digest(b);
    assert_true(p.low == q.low && p.high == q.high);
}

// A second world of the same scene in the state of `from`.
static inline foliot_world *restored(const foliot_world *from, const char *text)
{
    size_t length;
    assert_int_equal(foliot_world_capture(from, NULL, 0, &length), FOLIOT_STATUS_OK);
    uint8_t *bytes = malloc(length);
    assert_int_equal(foliot_world_capture(from, bytes, length, &length), FOLIOT_STATUS_OK);
    foliot_world *world = text_world(text);
    assert_int_equal(foliot_world_restore(world, bytes, length), FOLIOT_STATUS_OK);
    free(bytes);
    return world;
}

// Runs to `ticks`; a world restored at each `every` ticks has the same future to the bit.
static inline void check_restores(const char *text, uint32_t ticks, uint32_t every)
{
    foliot_world *world = text_world(text), *other = text_world(text);
    for (uint32_t t = 0; t < ticks; t++) {
        if (t % every == every / 2) {
            foliot_world_destroy(other);
            other = restored(world, text);
        }
        step_ticks(world, 1);
        step_ticks(other, 1);
        check_same_digest(world, other);
    }
    foliot_world_destroy(world);
    foliot_world_destroy(other);
}

#endif
