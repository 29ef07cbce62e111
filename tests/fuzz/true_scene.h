// SPDX-License-Identifier: MIT
// true_scene.h: scenes that an honest server would send, with their bytes and the first states of
// their worlds. For the fuzzer of the client, which changes bytes of them. A header, since a fuzzer
// is one file and the library.
#ifndef FOLIOT_FUZZ_TRUE_SCENE_H
#define FOLIOT_FUZZ_TRUE_SCENE_H

#include "status.h"
#include "foliot/foliot.h"

#define SCENES 3
#define STATES 4 // of each scene's world, every STATE_TICKS
#define STATE_TICKS 5
#define SCENE_BYTES 4096
#define STATE_BYTES (256u << 10)
#define BODIES 64

typedef struct true_scene {
    foliot_scene scene;
    uint8_t bytes[SCENE_BYTES], states[STATES][STATE_BYTES];
    size_t length, state_lengths[STATES];
    foliot_snapshot_format format;
} true_scene;

static true_scene scenes[SCENES];
static foliot_body_definition bodies[BODIES];

static void save_states(true_scene *s)
{
    foliot_world *world;
    demand(foliot_world_create(&s->scene, &world, NULL));
    for (int i = 0; i < STATES; i++) {
        // In front of it the players' sequences, all 0.
        size_t head = 4 * (size_t)s->scene.players.limit;
        demand(foliot_world_capture(world, s->states[i] + head, STATE_BYTES - head,
                                    &s->state_lengths[i]));
        s->state_lengths[i] += head;
        for (int t = 0; t < STATE_TICKS; t++)
            demand(foliot_world_step(world, NULL, 0, NULL));
    }
    foliot_world_destroy(world);
}

static void make_scene(true_scene *s, const char *name, uint32_t count, uint32_t players)
{
    s->scene = foliot_scene_default();
    s->scene.name = name;
    s->scene.dt = 0.02;
    s->scene.integrator = FOLIOT_INTEGRATOR_VELOCITY_VERLET;
    s->scene.substeps = 1;
    s->scene.bodies = bodies;
    s->scene.body_count = count;
    s->scene.players.limit = players;
    demand(foliot_scene_encode(&s->scene, s->bytes, sizeof s->bytes, &s->length));
    s->format = foliot_snapshot_format_default(&s->scene);
    save_states(s);
}

static void make_true_scenes(void)
{
    for (int i = 0; i < BODIES; i++) {
        bodies[i] = foliot_body_definition_default();
        bodies[i].shape.kind = i % 2 ? FOLIOT_SHAPE_SPHERE : FOLIOT_SHAPE_BOX;
        bodies[i].shape.radius = 0.5;
        bodies[i].shape.half[0] = bodies[i].shape.half[1] = bodies[i].shape.half[2] = 0.5;
        bodies[i].position[0] = 1.5 * i;
        bodies[i].velocity[0] = i % 3;
        bodies[i].name = i == 1 ? "one" : NULL;
    }
    make_scene(&scenes[0], "two", 2, 3);
    make_scene(&scenes[1], "many", 20, 1);
    make_scene(&scenes[2], "none", 1, 0);
}

#endif
