// SPDX-License-Identifier: MIT
// cases.c: scenes as canonical bytes, so that a target needs no YAML. READY_SCENES names a file of
// them, written by tests/determinism/embed.c; without it the probes are all there is.
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct ready_scene {
    const char *name;
    const unsigned char *bytes;
    size_t length;
} ready_scene;

#ifdef READY_SCENES
#include READY_SCENES
#else
static const ready_scene ready_scenes[1];
static const unsigned ready_scene_count = 0;
#endif

_Noreturn static void give_up(const char *what, foliot_status status)
{
    fprintf(stderr, "cases: %s: %s\n", what, foliot_status_get_text(status));
    exit(1);
}

unsigned cases_scene_count(void)
{
    return FOLIOT__PROBE_COUNT + ready_scene_count;
}

static foliot_scene *decoded(const char *name, const unsigned char *bytes, size_t length)
{
    foliot_scene *scene = NULL;
    foliot_status status = foliot_scene_decode(bytes, length, &scene);
    if (status != FOLIOT_STATUS_OK)
        give_up(name, status);
    return scene;
}

foliot_scene *cases_scene(unsigned index)
{
    if (index >= FOLIOT__PROBE_COUNT) {
        const ready_scene *ready = &ready_scenes[index - FOLIOT__PROBE_COUNT];
        return decoded(ready->name, ready->bytes, ready->length);
    }
    // Through its bytes too: so the codec is part of what must agree.
    static foliot__probe probe;
    foliot__probe_make(&probe, (foliot__probe_kind)index);
    size_t length = 0;
    foliot_status status = foliot_scene_encode(&probe.scene, NULL, 0, &length);
    unsigned char *bytes = status == FOLIOT_STATUS_OK ? malloc(length) : NULL;
    if (!bytes)
        give_up(probe.scene.name, FOLIOT_STATUS_MEMORY);
    status = foliot_scene_encode(&probe.scene, bytes, length, &length);
    if (status != FOLIOT_STATUS_OK)
        give_up(probe.scene.name, status);
    foliot_scene *scene = decoded(probe.scene.name, bytes, length);
    free(bytes);
    return scene;
}

uint64_t cases_ticks(const foliot_scene *scene)
{
    uint64_t work = (uint64_t)(scene->body_count + 1) * scene->substeps;
    uint64_t ticks = 2000 / work;
    return ticks < 4 ? 4 : ticks > 120 ? 120 : ticks;
}

foliot_world *cases_world(foliot_scene *scene, foliot_integrator integrator)
{
    scene->integrator = integrator;
    if (foliot_scene_check(scene, NULL) != FOLIOT_STATUS_OK)
        return NULL;
    foliot_world *world = NULL;
    foliot_status status = foliot_world_create(scene, &world);
    if (status != FOLIOT_STATUS_OK)
        give_up(scene->name, status);
    return world;
}

void cases_step(foliot_world *world, const foliot_scene *scene)
{
    foliot_input inputs[FOLIOT__PROBE_INPUTS];
    uint32_t count = foliot__probe_inputs(scene, foliot_world_get_tick(world), inputs);
    foliot_status status = foliot_world_step(world, inputs, count, NULL);
    if (status != FOLIOT_STATUS_OK)
        give_up(scene->name, status);
}
