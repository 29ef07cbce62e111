// SPDX-License-Identifier: MIT
// keyframe_check.c: whether the bytes of a keyframe give the digest beside them. It never restores
// into the replayed world, so that a false state never reaches it.
#include "recording/block_content.h"
#include "recording/replay.h"

#include "sim/world/state_io.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// A kind with a digest function needs an instance to compute it.
static foliot_status probe_digest(foliot_replay *replay, const foliot__recording_content *content,
                                  foliot_digest *digest)
{
    if (foliot__replay_probe(replay) != FOLIOT_STATUS_OK)
        return FOLIOT_STATUS_MEMORY; // it was made of this setup before
    foliot_status status = foliot_simulation_restore(&replay->probe, content->keyframe.state.bytes,
                                                     content->keyframe.state.length);
    if (status == FOLIOT_STATUS_OK)
        *digest = foliot_simulation_get_digest(&replay->probe);
    return status;
}

static foliot_status digest_of(foliot_replay *replay, const foliot__recording_content *content,
                               foliot_digest *digest)
{
    if (replay->outline)
        return foliot__captured_digest(replay->outline, content->keyframe.state.bytes,
                                       content->keyframe.state.length, digest);
    if (replay->kind->digest)
        return probe_digest(replay, content, digest);
    *digest = foliot_digest_compute(content->keyframe.state.bytes, content->keyframe.state.length);
    return FOLIOT_STATUS_OK;
}

size_t foliot__replay_state_bytes_max(const foliot_replay *replay)
{
    return replay->outline ? replay->world_bytes : FOLIOT_SIMULATION_BYTES_MAX;
}

// Whether the state of rules next to the keyframe gives its digest.
static bool rules_agree(const foliot__recording_content *content)
{
    uint8_t bytes[16];
    if (!content->keyframe.has_rules)
        return true;
    foliot__recording_digest_bytes(
        foliot__recording_rules_digest(foliot__recording_digest_of(content->keyframe.digest),
                                       content->keyframe.rules.bytes,
                                       content->keyframe.rules.length),
        bytes);
    return memcmp(bytes, content->keyframe.rules_digest, sizeof bytes) == 0;
}

foliot_status foliot__replay_check_keyframe(foliot_replay *replay,
                                            foliot__recording_content *content,
                                            foliot_damage *damage)
{
    foliot_digest digest;
    uint8_t bytes[16];
    bool rules_false = false;
    // Nothing starts from a keyframe of a kind that is not known.
    if (!replay->outline && !replay->kind)
        return FOLIOT_STATUS_OK;
    bool packed = content->keyframe.packed;
    foliot_status status =
        foliot__recording_content_unpack(content, foliot__replay_state_bytes_max(replay));
    // A build without zstd starts from no such keyframe: there is nothing to check.
    if (status == FOLIOT_STATUS_UNSUPPORTED)
        return FOLIOT_STATUS_OK;
    bool unpacked = status == FOLIOT_STATUS_OK;
    if (unpacked)
        status = digest_of(replay, content, &digest);
    if (status == FOLIOT_STATUS_MEMORY)
        return status;
    if (status == FOLIOT_STATUS_OK) {
        foliot__recording_digest_bytes(digest, bytes);
        bool agrees = memcmp(bytes, content->keyframe.digest, sizeof bytes) == 0;
        if (agrees && rules_agree(content))
            return FOLIOT_STATUS_OK;
        rules_false = agrees;
    }
    if (rules_false)
        foliot__damage_set(damage, FOLIOT_STATUS_CORRUPT, content->number, content->offset,
                           "the state of the rules at tick %" PRIu64 " does not give its digest",
                           content->tick);
    else if (packed && !unpacked)
        foliot__damage_set(damage, FOLIOT_STATUS_CORRUPT, content->number, content->offset,
                           "the compressed bytes of the keyframe of tick %" PRIu64
                           " are malformed, or too many",
                           content->tick);
    else if (status == FOLIOT_STATUS_OK)
        foliot__damage_set(damage, FOLIOT_STATUS_CORRUPT, content->number, content->offset,
                           "the bytes of the keyframe of tick %" PRIu64 " do not give its digest",
                           content->tick);
    else
        foliot__damage_set(damage, FOLIOT_STATUS_CORRUPT, content->number, content->offset,
                           "the keyframe of tick %" PRIu64 " does not fit this %s (%s)",
                           content->tick, replay->scene ? "scene" : "simulation",
                           foliot_status_get_text(status));
    if (replay->damage.status == FOLIOT_STATUS_OK) {
        replay->keyframe_false = true;
        replay->keyframe_false_tick = content->tick;
    }
    return FOLIOT_STATUS_CORRUPT;
}
