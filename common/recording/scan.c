// SPDX-License-Identifier: MIT
// scan.c: reads a whole recording without stepping it: every checksum, every record, all counts,
// and the index of keyframes where no closing block has one. Also checks the bytes of a keyframe
// against its digest, and creates the instances for that. It never restores into the replayed
// world, so that a false state never reaches it.
#include "base/array.h"
#include "recording/block_content.h"
#include "recording/replay.h"

#include "sim/world/layout.h"
#include "sim/world/state_io.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// -- instances

void foliot__replay_damaged(foliot_replay *replay, const foliot_damage *damage)
{
    if (replay->damage.status == FOLIOT_STATUS_OK)
        replay->damage = *damage;
}

foliot_status foliot__replay_new(const foliot_replay *replay, foliot_simulation *simulation)
{
    const foliot_simulation_kind *kind = replay->kind;
    void *self = NULL;
    *simulation = (foliot_simulation){kind, NULL, replay->header.scene, replay->header.scene_bytes};
    if (!kind)
        return FOLIOT_STATUS_UNSUPPORTED;
    foliot_hosted_world *hosted = NULL;
    foliot_status status;
    if (replay->scene) {
        // The setup alone does not give the recorded capacities.
        hosted = calloc(1, sizeof *hosted);
        if (!hosted)
            return FOLIOT_STATUS_MEMORY;
        *hosted = (foliot_hosted_world){.scene = replay->scene, .host = replay->host};
        status = foliot__world_create(&replay->capacities, replay->scene, &hosted->world);
        self = hosted;
    } else {
        status = kind->create(kind->user, simulation->setup, simulation->setup_bytes, &self);
    }
    if (status == FOLIOT_STATUS_OK)
        simulation->self = self;
    else
        free(hosted);
    return status;
}

foliot_status foliot__replay_probe(foliot_replay *replay)
{
    return replay->probe.self ? FOLIOT_STATUS_OK : foliot__replay_new(replay, &replay->probe);
}

foliot_hosted_world *foliot__replay_hosted(const foliot_replay *replay)
{
    return replay->scene ? replay->simulation.self : NULL;
}

// -- keyframes

// The digest of a keyframe's bytes.
static foliot_status digest_of(foliot_replay *replay, const foliot__recording_content *content,
                               foliot_digest *digest)
{
    const foliot__buffer *state = &content->keyframe.state;
    if (replay->outline)
        return foliot__captured_digest(replay->outline, state->bytes, state->length, digest);
    if (!replay->kind->digest) {
        *digest = foliot_digest_compute(state->bytes, state->length);
        return FOLIOT_STATUS_OK;
    }
    // A kind with a digest function needs an instance to compute it.
    if (foliot__replay_probe(replay) != FOLIOT_STATUS_OK)
        return FOLIOT_STATUS_MEMORY; // another was created from this setup before
    foliot_status status = foliot_simulation_restore(&replay->probe, state->bytes, state->length);
    if (status == FOLIOT_STATUS_OK)
        *digest = foliot_simulation_get_digest(&replay->probe);
    return status;
}

size_t foliot__replay_state_bytes_max(const foliot_replay *replay)
{
    return replay->outline ? replay->world_bytes : FOLIOT_SIMULATION_BYTES_MAX;
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
    const foliot__block_keyframe *keyframe = &content->keyframe;
    bool packed = keyframe->packed;
    foliot_status status =
        foliot__recording_content_unpack(content, foliot__replay_state_bytes_max(replay));
    // A build without zstd cannot start from such a keyframe: there is nothing to check.
    if (status == FOLIOT_STATUS_UNSUPPORTED)
        return FOLIOT_STATUS_OK;
    bool unpacked = status == FOLIOT_STATUS_OK;
    if (unpacked)
        status = digest_of(replay, content, &digest);
    if (status == FOLIOT_STATUS_MEMORY)
        return status;
    if (status == FOLIOT_STATUS_OK) {
        foliot__recording_digest_bytes(digest, bytes);
        bool agrees = memcmp(bytes, keyframe->digest, sizeof bytes) == 0;
        bool rules_agree = true;
        if (keyframe->has_rules) {
            digest = foliot__recording_rules_digest(foliot__recording_digest_of(keyframe->digest),
                                                    keyframe->rules.bytes, keyframe->rules.length);
            foliot__recording_digest_bytes(digest, bytes);
            rules_agree = memcmp(bytes, keyframe->rules_digest, sizeof bytes) == 0;
        }
        if (agrees && rules_agree)
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

// -- the scan

typedef struct scanning {
    foliot_replay *replay;
    foliot_replay_summary *about;
    foliot__block_reader reader;
    foliot__recording_content content;
    uint8_t joined[FOLIOT_PLAYERS_MAX / 8];
    uint32_t keyframes; // so far
    bool index_made;    // the replay's index was empty, and is filled here
} scanning;

static void count_block(scanning *s)
{
    const foliot__recording_content *content = &s->content;
    foliot_replay_counts *counts = &s->about->counts;
    counts->blocks++;
    counts->keyframes += content->has_keyframe;
    counts->inputs += content->inputs.input_count;
    counts->commands += content->session.commands.count;
    counts->orders += content->session.order_count;
    counts->messages += content->messages.count;
    for (uint32_t i = 0; i < content->digests.count; i++)
        counts->digests += content->digests.records[i].count;
    counts->input_bytes += content->sizes.inputs;
    counts->command_bytes += content->sizes.commands;
    counts->order_bytes += content->sizes.orders;
    counts->digest_bytes += content->sizes.digests;
    counts->keyframe_bytes += content->sizes.keyframes;
    counts->header_bytes += content->sizes.header;
    counts->other_bytes += content->sizes.other;
    counts->notes += content->notes.count;
    counts->records_unknown += content->unknown;
    s->about->last_tick = content->tick;
    for (uint32_t i = 0; i < content->notes.count; i++)
        foliot__journal_note(s->replay->journal, &content->notes.items[i]);
    const foliot__input_log *log = &s->content.inputs;
    for (size_t i = 0; i < log->input_count; i++) {
        const foliot_input *input = &log->inputs[i];
        foliot__journal_input(s->replay->journal, input);
        uint8_t bit = (uint8_t)(1u << (input->player % 8));
        if (input->kind != FOLIOT_INPUT_JOIN || (s->joined[input->player / 8] & bit))
            continue;
        s->joined[input->player / 8] |= bit;
        counts->players++;
    }
    for (uint32_t i = 0; i < content->session.order_count; i++)
        foliot__journal_order(s->replay->journal, &content->session.orders[i]);
}

static foliot_status contradiction(const scanning *s, foliot_damage *damage, const char *what)
{
    return foliot__damage_set(damage, FOLIOT_STATUS_CORRUPT, s->content.number, s->content.offset,
                              "%s", what);
}

static foliot_status scan_blocks(scanning *s, foliot_damage *damage)
{
    foliot_replay *replay = s->replay;
    const foliot__recording_content *content = &s->content;
    foliot__recording_header header = {0};
    foliot_status status =
        foliot__block_reader_begin(&s->reader, &s->replay->source, &header, &s->content, damage);
    foliot__recording_header_free(&header);
    while (status == FOLIOT_STATUS_OK) {
        if (s->content.has_keyframe)
            status = foliot__replay_check_keyframe(s->replay, &s->content, damage);
        if (status != FOLIOT_STATUS_OK)
            break;
        count_block(s);
        if (content->has_keyframe && s->index_made) {
            if (!foliot__array_grow(&replay->index, replay->index_count, &replay->index_capacity,
                                    64, sizeof *replay->index))
                return FOLIOT_STATUS_MEMORY;
            replay->index[replay->index_count][0] = content->tick;
            replay->index[replay->index_count++][1] = content->offset;
        } else if (content->has_keyframe) {
            // The index is the closing block's: it must name exactly the keyframes that are there.
            uint32_t k = s->keyframes;
            if (k >= replay->index_count || replay->index[k][0] != content->tick ||
                replay->index[k][1] != content->offset)
                return contradiction(s, damage,
                                     "a keyframe that the closing block's index does not name");
        } else if (content->number == 1) {
            // Every recording begins with a keyframe; restarting needs it.
            return contradiction(s, damage, "the first keyframe is missing");
        }
        s->keyframes += content->has_keyframe;
        if (content->has_closing) {
            bool same =
                content->index_count == replay->index_count && s->keyframes == replay->index_count;
            for (uint32_t i = 0; same && i < content->index_count; i++)
                same = content->index[i][0] == replay->index[i][0] &&
                       content->index[i][1] == replay->index[i][1];
            if (!same)
                return contradiction(s, damage,
                                     "its index does not name the keyframes that are there");
            s->about->closed = true;
            s->about->final_digest = foliot__recording_digest_of(content->closing_digest);
        } else {
            replay->cut_offset = s->reader.offset;
            replay->cut_number = s->reader.number;
        }
        replay->whole_bytes = s->reader.offset;
        status = foliot__block_reader_next(&s->reader, &s->content, damage);
    }
    return status == FOLIOT_STATUS_NOT_FOUND ? FOLIOT_STATUS_OK : status;
}

foliot_status foliot_replay_scan(foliot_replay *replay)
{
    scanning *s = calloc(1, sizeof *s);
    foliot__journal *journal = calloc(1, sizeof *journal);
    if (!s || !journal) {
        free(s);
        free(journal);
        return FOLIOT_STATUS_MEMORY;
    }
    free(replay->journal);
    replay->journal = journal;
    foliot_replay_summary about = replay->about;
    foliot_damage damage = {0};
    about.counts = (foliot_replay_counts){0};
    about.closed = false;
    about.last_tick = about.first_tick;
    s->replay = replay;
    s->about = &about;
    s->index_made = !replay->about.closed;
    if (s->index_made)
        replay->index_count = 0;
    foliot_status status = scan_blocks(s, &damage);
    foliot__recording_content_free(&s->content);
    free(s);
    replay->about = about;
    if (status != FOLIOT_STATUS_OK && damage.status != FOLIOT_STATUS_OK)
        foliot__replay_damaged(replay, &damage);
    return status;
}
