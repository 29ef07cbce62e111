// SPDX-License-Identifier: MIT
// resume.c: goes on with a recording that ended early. What is whole stays as it is, byte for byte;
// the rest is cut off, and a keyframe of the state there begins what is appended.
#include "tape/recording.h"
#include "tape/replay.h"

#include <stdlib.h>
#include <string.h>

// The state after the last whole block, checked against the digests since its keyframe.
static foliot_status reach_end(foliot_replay *replay)
{
    const foliot_replay_summary *about = foliot_replay_about(replay);
    uint64_t from = about->first_tick;
    for (uint32_t i = 0; i < replay->index_count; i++)
        if (replay->index[i][0] <= about->last_tick)
            from = replay->index[i][0];
    foliot_status status = foliot_replay_seek(replay, from);
    while (status == FOLIOT_OK && foliot_replay_tick(replay) < about->last_tick) {
        status = foliot_replay_step(replay);
        uint8_t recorded[16], ours[16];
        uint32_t count = foliot_replay_digest(replay, foliot_replay_tick(replay), recorded);
        foliot__tape_digest_bytes(foliot_world_digest(replay->world), ours);
        if (status == FOLIOT_OK && count && memcmp(recorded, ours, count) != 0)
            status = FOLIOT_DIVERGED;
    }
    return status;
}

static foliot_status take_index(foliot_recording *recording, const foliot_replay *replay)
{
    recording->index_capacity = replay->index_count + 1024;
    recording->index = malloc(sizeof *recording->index * recording->index_capacity);
    if (!recording->index)
        return FOLIOT_MEMORY;
    memcpy(recording->index, replay->index, sizeof *replay->index * replay->index_count);
    recording->index_count = replay->index_count;
    return FOLIOT_OK;
}

static foliot_status go_on(const char *file, const foliot_replay *replay,
                           const foliot_recording_config *config, foliot_recording **out)
{
    foliot_recording *recording;
    foliot_recording_sink sink;
    foliot_status status = foliot__recording_new(config, replay->world, &recording);
    if (status != FOLIOT_OK)
        return status;
    status = take_index(recording, replay);
    if (status == FOLIOT_OK)
        status = foliot__file_sink(file, false, &sink);
    if (status == FOLIOT_OK && sink.truncate(sink.user, replay->cut_offset) != 0) {
        sink.close(sink.user);
        status = FOLIOT_IO;
    }
    if (status == FOLIOT_OK) {
        recording->length = replay->cut_offset;
        recording->block_number = (uint32_t)replay->cut_number;
        status = foliot__recording_start(recording, &sink, replay->world, "resumed");
        if (status != FOLIOT_OK)
            sink.close(sink.user);
    }
    if (status != FOLIOT_OK)
        foliot__recording_free(recording);
    else
        *out = recording;
    return status;
}

// What is not whole is why one resumes; what this build cannot read, or a scene alone, is not.
static foliot_status resumable(const foliot_replay *replay, foliot_status scanned)
{
    if (scanned == FOLIOT_NEWER || scanned == FOLIOT_UNSUPPORTED || scanned == FOLIOT_MEMORY ||
        scanned == FOLIOT_IO)
        return scanned;
    return replay->index_count == 0 ? FOLIOT_CORRUPT : FOLIOT_OK;
}

foliot_status foliot_recording_resume(const char *file, const foliot_recording_config *config,
                                      foliot_recording **recording, foliot_scene **scene,
                                      foliot_world **world)
{
    foliot_replay *replay;
    foliot_status status = foliot_replay_open(file, &replay, NULL);
    if (status != FOLIOT_OK)
        return status == FOLIOT_TRUNCATED ? FOLIOT_CORRUPT : status;
    status = resumable(replay, foliot_replay_scan(replay));
    if (status == FOLIOT_OK)
        status = reach_end(replay);
    if (status == FOLIOT_OK)
        status = go_on(file, replay, config, recording);
    if (status == FOLIOT_OK) {
        *world = replay->world;
        *scene = replay->scene;
        replay->world = NULL;
        replay->scene = NULL;
    }
    foliot_replay_close(replay);
    return status;
}
