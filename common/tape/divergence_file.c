// SPDX-License-Identifier: MIT
// divergence_file.c: the step in which two runs parted, as one of them took it, as a recording of one tick.
#include "foliot/lockstep.h"
#include "foliot/recording.h"
#include "foliot/world.h"

foliot_status foliot_divergence_write(const foliot_divergence_case *found, const foliot_scene *scene, const char *file)
{
    foliot_world *world = NULL;
    foliot_recording *recording = NULL;
    foliot_recording_config config = foliot_recording_default();
    config.threaded = false;
    config.keyframe_ticks = 1; // of both states: a digest alone would not say where they differ
    if (!found->before_bytes || !found->after_bytes || !scene)
        return FOLIOT_INVALID;
    foliot_status status = foliot_world_create(scene, &world);
    if (status != FOLIOT_OK)
        return status;
    status = foliot_world_restore(world, found->before, found->before_bytes);
    if (status == FOLIOT_OK)
        status = foliot_recording_create(file, scene, NULL, world, &config, &recording);
    if (status == FOLIOT_OK)
        status = foliot_world_restore(world, found->after, found->after_bytes);
    if (status == FOLIOT_OK)
        status = foliot_recording_append(recording, world, found->inputs, found->input_count);
    if (recording) {
        foliot_status closed = foliot_recording_close(recording, NULL);
        status = status == FOLIOT_OK ? closed : status;
    }
    foliot_world_destroy(world);
    return status;
}
