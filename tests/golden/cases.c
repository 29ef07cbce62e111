// SPDX-License-Identifier: MIT
// cases.c: scenes as canonical bytes, so that a target needs no YAML. READY_SCENES names a file of
// them, written by tests/golden/embed.c; without it the probes are all there is.
#include "cases.h"
#include "commanded.h"
#include "heavy_rope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// The probes, and the scenes of commanded.h and heavy_rope.h.
enum { COMMANDED = FOLIOT__PROBE_COUNT, HEAVY_ROPE, BUILT_IN };

unsigned cases_scene_count(void)
{
    return BUILT_IN + ready_scene_count;
}

static foliot_scene *decoded(const char *name, const unsigned char *bytes, size_t length)
{
    foliot_scene *scene = NULL;
    foliot_status status = foliot_scene_decode(bytes, length, &scene);
    if (status != FOLIOT_STATUS_OK)
        give_up(name, status);
    return scene;
}

// Through its bytes too: so the codec is part of what must agree.
static foliot_scene *recoded(const foliot_scene *made)
{
    size_t length = 0;
    foliot_status status = foliot_scene_encode(made, NULL, 0, &length);
    unsigned char *bytes = status == FOLIOT_STATUS_OK ? malloc(length) : NULL;
    if (!bytes)
        give_up(made->name, FOLIOT_STATUS_MEMORY);
    status = foliot_scene_encode(made, bytes, length, &length);
    if (status != FOLIOT_STATUS_OK)
        give_up(made->name, status);
    foliot_scene *scene = decoded(made->name, bytes, length);
    free(bytes);
    return scene;
}

foliot_scene *cases_scene(unsigned index)
{
    static foliot__probe probe;
    static foliot_scene scene;
    static foliot_body_definition bodies[COMMANDED_BODIES], rope[HEAVY_ROPE_BODIES];
    static foliot_constraint_definition links[HEAVY_ROPE_LINKS];
    if (index >= BUILT_IN) {
        const ready_scene *ready = &ready_scenes[index - BUILT_IN];
        return decoded(ready->name, ready->bytes, ready->length);
    }
    if (index == COMMANDED) {
        commanded_make(&scene, bodies);
        return recoded(&scene);
    }
    if (index == HEAVY_ROPE) {
        heavy_rope_make(&scene, rope, links);
        return recoded(&scene);
    }
    foliot__probe_make(&probe, (foliot__probe_kind)index);
    return recoded(&probe.scene);
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
    foliot_status status = foliot_world_create(scene, &world, NULL);
    if (status != FOLIOT_STATUS_OK)
        give_up(scene->name, status);
    return world;
}

void cases_step(foliot_world *world, const foliot_scene *scene)
{
    foliot_input inputs[FOLIOT__PROBE_INPUTS];
    uint32_t count = foliot__probe_inputs(scene, foliot_world_get_tick(world), inputs);
    foliot_command commands[COMMANDED_MAX];
    bool commanded = scene->commands_max > 0 && strcmp(scene->name, "commanded") == 0;
    foliot_tick_inputs tick = {.inputs = inputs, .input_count = count, .commands = commands};
    tick.command_count = commanded ? commanded_commands(world, commands) : 0;
    foliot_status status = foliot_world_step_tick(world, &tick, NULL);
    if (status != FOLIOT_STATUS_OK)
        give_up(scene->name, status);
}
