// SPDX-License-Identifier: MIT
// world_simulation.h: a world as a simulation, where a call takes one. Both live until the end of
// the block that they are written in.
#ifndef FOLIOT_TESTS_WORLD_SIMULATION_H
#define FOLIOT_TESTS_WORLD_SIMULATION_H

#include "foliot/recording.h"
#include "foliot/simulation.h"

#define WORLD_SIMULATION(of_world, of_scene)                                                       \
    (&(foliot_simulation){                                                                         \
        .kind = &foliot_world_kind,                                                                \
        .self = &(foliot_hosted_world){.world = (of_world), .scene = (foliot_scene *)(of_scene)}})
// The inputs of a tick, without commands.
#define TICK_INPUTS(some, some_count)                                                              \
    (&(foliot_tick_inputs){.inputs = (some), .input_count = (some_count)})

// foliot_recording_resume of any world; NULL where it fails.
static inline foliot_status resume_world(const char *file, const foliot_recording_config *config,
                                         foliot_recording **recording, foliot_scene **scene,
                                         foliot_world **world, foliot_error *error)
{
    foliot_hosted_world hosted = {0};
    foliot_simulation resumed = {.kind = &foliot_world_kind, .self = &hosted};
    foliot_status status = foliot_recording_resume(file, config, &resumed, recording, error);
    *scene = hosted.scene;
    *world = hosted.world;
    return status;
}

#endif
