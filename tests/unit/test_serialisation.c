// SPDX-License-Identifier: MIT
// test_serialisation.c: no state is hidden. At every tick of every ready scene a second world is
// restored from what is captured of the first; both make the next step, and must have the same
// digest and the same bytes.
#include "check.h"

#include "foliot/foliot.h"
#include "simulation/input_script.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#define INPUTS_FILE "tests/golden/players.txt"

typedef struct pair {
    foliot_world *first, *second;
    uint8_t *bytes, *other;
    size_t length, capacity;
} pair;

static void capture(pair *p)
{
    assert_int_equal(foliot_world_capture(p->first, NULL, 0, &p->length), FOLIOT_STATUS_OK);
    if (p->length > p->capacity) {
        p->capacity = 2 * p->length;
        p->bytes = realloc(p->bytes, p->capacity);
        p->other = realloc(p->other, p->capacity);
        assert_true(p->bytes);
        assert_true(p->other);
    }
    assert_int_equal(foliot_world_capture(p->first, p->bytes, p->capacity, &p->length),
                     FOLIOT_STATUS_OK);
}

static void step_both(pair *p, const char *name, const foliot__input_script *script)
{
    const foliot_input *inputs = NULL;
    uint32_t count = 0;
    size_t length;
    uint64_t tick = foliot_world_get_tick(p->first);
    if (script)
        count = foliot__input_script_at(script, tick, &inputs);
    assert_int_equal(foliot_world_step(p->first, inputs, count, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_world_step(p->second, inputs, count, NULL), FOLIOT_STATUS_OK);
    if (!foliot_digest_equal(foliot_world_get_digest(p->first), foliot_world_get_digest(p->second)))
        fail_msg("%s: a world restored at tick %d has another future", name, (int)tick);
    capture(p);
    assert_int_equal(foliot_world_capture(p->second, p->other, p->capacity, &length),
                     FOLIOT_STATUS_OK);
    assert_int_equal(length, p->length);
    assert_memory_equal(p->bytes, p->other, length);
}

// Large scenes for fewer ticks: the same work for each.
static uint64_t ticks_for(const foliot_scene *scene)
{
    uint64_t ticks = 60000 / (scene->body_count + 1);
    return ticks < 40 ? 40 : ticks > 400 ? 400 : ticks;
}

static void check_scene(const char *file, const foliot__input_script *script)
{
    foliot_scene *scene;
    foliot_error error;
    pair p = {0};
    if (foliot_scene_read(file, &scene, &error) != FOLIOT_STATUS_OK)
        fail_msg("%s", error.text);
    assert_int_equal(foliot_world_create(scene, &p.first, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_world_create(scene, &p.second, NULL), FOLIOT_STATUS_OK);
    capture(&p);
    for (uint64_t tick = 0; tick < ticks_for(scene); tick++) {
        assert_int_equal(foliot_world_restore(p.second, p.bytes, p.length), FOLIOT_STATUS_OK);
        step_both(&p, scene->name, scene->players.limit ? script : NULL);
    }
    foliot_world_destroy(p.first);
    foliot_world_destroy(p.second);
    foliot_scene_destroy(scene);
    free(p.bytes);
    free(p.other);
}

TEST(a_restored_world_has_the_same_future)
{
    glob_t scenes;
    foliot__input_script script;
    char message[512];
    assert_int_equal(foliot__input_script_read(INPUTS_FILE, &script, message, sizeof message),
                     FOLIOT_STATUS_OK);
    assert_int_equal(glob("scenes/*.yaml", 0, NULL, &scenes), 0);
    for (size_t i = 0; i < scenes.gl_pathc; i++)
        if (!strstr(scenes.gl_pathv[i], "city")) // large, and of nothing that others have not
            check_scene(scenes.gl_pathv[i], &script);
    check_ge(scenes.gl_pathc, 10);
    globfree(&scenes);
    foliot__input_script_free(&script);
}
