// SPDX-License-Identifier: MIT
// recording.c: the host's side of a recording: ticks become blocks, blocks go into the queue. Never
// waits, reads no clock, and counts everything that it loses. The writing side is drain.c.
#include "recording/recording.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "foliot/divergence.h"
#include "foliot/recording.h"
#include "foliot/world.h"
#include "sim/selftest/fingerprint.h"
#include "sim/world/layout.h"
#include "simulation/simulation.h"

#define QUEUE_BYTES_MIN 4096
#define LATE_KEYFRAMES_MAX 8 // one after the other, without a state of the rules

foliot_recording_config foliot_recording_config_default(void)
{
    return (foliot_recording_config){.block_ticks = 60,
                                     .keyframe_ticks = 300,
                                     .digest_ticks = 1,
                                     .digest_bytes = 4,
                                     .queue_bytes = 16u << 20,
                                     .threaded = true};
}

static bool config_valid(const foliot_recording_config *config)
{
    const foliot_recording_rules *rules = config->rules;
    return config->block_ticks >= 1 && config->block_ticks <= FOLIOT__RECORDING_BLOCK_TICKS_MAX &&
           config->digest_ticks >= 1 && config->digest_bytes >= 4 && config->digest_bytes <= 16 &&
           config->compact_ticks <= FOLIOT__RECORDING_BLOCK_TICKS_MAX &&
           config->queue_bytes >= QUEUE_BYTES_MIN &&
           (!rules || (rules->name && rules->name[0] && strlen(rules->name) < FOLIOT_NAME_BYTES &&
                       rules->text_bytes <= FOLIOT_RULES_SCRIPT_BYTES_MAX));
}

void foliot__recording_set_features(foliot_recording *recording, uint32_t features,
                                    const foliot_scene *scene)
{
    uint64_t most = FOLIOT__RECORDING_RULES_MAX;
    // A pose of a body in a tick takes at most 49 bytes, a definition 137.
    if (features & FOLIOT_RECORDING_HISTORY)
        most += (uint64_t)scene->script.history_ticks *
                foliot_world_config_default(scene).bodies_max * (49 + 137);
    recording->features = features;
    recording->rules_bytes_max = most < FOLIOT__RECORDING_RULES_HISTORY_MAX
                                     ? (uint32_t)most
                                     : FOLIOT__RECORDING_RULES_HISTORY_MAX;
    recording->encoder.session.no_rules = !(features & FOLIOT_RECORDING_RULES);
    if (recording->encoder.session.no_rules)
        recording->rules.save = NULL;
}

foliot_status foliot__recording_measure_rules(const foliot_recording_rules *rules, size_t *length)
{
    foliot_status status = rules->save(rules->user, NULL, 0, length);
    // If the save failed, the rules are stopped and can be saved; if it took too long, they run on.
    return status == FOLIOT_STATUS_OK || status == FOLIOT_STATUS_AGAIN
               ? status
               : rules->save(rules->user, NULL, 0, length);
}

// The state of the rules behind that of the simulation. Returns how many bytes it has. *late: it
// took too long. Without a first state the rules cannot continue from this file: that one may take
// the time that it needs.
static uint32_t capture_rules(foliot_recording *recording, bool *late)
{
    const foliot_recording_rules *rules = &recording->rules;
    foliot__buffer *capture = &recording->capture;
    size_t length = 0, room;
    if (!rules->save)
        return 0;
    foliot_status status = foliot__recording_measure_rules(rules, &length);
    if (status == FOLIOT_STATUS_AGAIN && !recording->rules_saved)
        status = foliot__recording_measure_rules(rules, &length);
    *late = status == FOLIOT_STATUS_AGAIN;
    if (status != FOLIOT_STATUS_OK || length > recording->rules_bytes_max ||
        !foliot__buffer_reserve(capture, capture->length + length))
        return 0;
    room = length;
    if (rules->save(rules->user, capture->bytes + capture->length, room, &length) !=
            FOLIOT_STATUS_OK ||
        length > room)
        return 0;
    capture->length += length;
    return (uint32_t)length;
}

foliot_status foliot__recording_new(const foliot_recording_config *config,
                                    const foliot_simulation *simulation, foliot_recording **out)
{
    foliot_recording_config defaults = foliot_recording_config_default();
    if (!config)
        config = &defaults;
    if (!config_valid(config))
        return FOLIOT_STATUS_INVALID;
    foliot_recording *recording = calloc(1, sizeof *recording);
    if (!recording)
        return FOLIOT_STATUS_MEMORY;
    uint64_t tick = foliot_simulation_get_tick(simulation);
    recording->config = *config;
    recording->drain.signer = config->signer;
    if (config->rules)
        recording->rules = *config->rules;
    recording->state.first_tick = recording->state.appended_tick = tick;
    recording->seen_tick = recording->keyframe_tick = recording->state.closed_tick = tick;
    recording->digest = foliot_simulation_get_digest(simulation);
    if (!foliot__recording_encoder_init(&recording->encoder, tick, config->digest_ticks,
                                        config->digest_bytes) ||
        foliot__simulation_save(simulation, &recording->capture) != FOLIOT_STATUS_OK) {
        foliot__recording_encoder_free(&recording->encoder);
        foliot__buffer_free(&recording->capture);
        free(recording);
        return FOLIOT_STATUS_MEMORY;
    }
    *out = recording;
    return FOLIOT_STATUS_OK;
}

void foliot__recording_free(foliot_recording *recording)
{
    foliot__recording_encoder_free(&recording->encoder);
    foliot__buffer_free(&recording->capture);
    foliot__drain_free(&recording->drain);
    free(recording->journal);
    free(recording);
}

// -- blocks

// Queues one block completely or not at all: if it does not fit, the recording stops.
static bool put_block(foliot_recording *recording, foliot__queued block,
                      const foliot__buffer *payload)
{
    foliot__drain *drain = &recording->drain;
    block.length = (uint32_t)payload->length;
    block.tick = recording->encoder.tick;
    block.digest = recording->digest;
    if (payload->failed || payload->length > FOLIOT__RECORDING_PAYLOAD_MAX - 256 ||
        !foliot__ring_put(&drain->ring, &block, sizeof block, payload->bytes, payload->length)) {
        recording->full = true;
        return false;
    }
    size_t used = foliot__ring_used(&drain->ring);
    if (used > recording->state.queued_bytes_max)
        recording->state.queued_bytes_max = used;
    recording->state.closed_tick = recording->encoder.tick;
    foliot__drain_wake(drain);
    return true;
}

bool foliot__recording_close_block(foliot_recording *recording)
{
    foliot__recording_encoder *encoder = &recording->encoder;
    size_t inputs, digests;
    if (encoder->tick == encoder->first_tick)
        return true;
    foliot__recording_encode_block(encoder, &inputs, &digests);
    if (!put_block(recording, (foliot__queued){.kind = FOLIOT__QUEUED_TICKS}, &encoder->payload))
        return false;
    recording->state.input_bytes += inputs;
    recording->state.digest_bytes += digests;
    return true;
}

// Closes the block of ticks, puts a keyframe of `simulation` into the queue, forgets the players.
static bool put_keyframe(foliot_recording *recording, const foliot_simulation *simulation,
                         const char *note)
{
    foliot__recording_encoder *encoder = &recording->encoder;
    foliot__buffer *payload = &recording->capture;
    if (!foliot__recording_close_block(recording))
        return false;
    if (foliot__simulation_save(simulation, &recording->capture) != FOLIOT_STATUS_OK) {
        recording->full = true;
        return false;
    }
    foliot__queued block = {.kind = FOLIOT__QUEUED_KEYFRAME};
    bool late = false;
    block.rules_bytes = capture_rules(recording, &late);
    size_t state_bytes = payload->length;
    if (note)
        foliot__recording_encode_note(payload, encoder->tick, note, "");
    block.note_bytes = (uint32_t)(payload->length - state_bytes);
    if (!put_block(recording, block, payload))
        return false;
    recording->keyframe_tick = encoder->tick;
    recording->rules_saved |= block.rules_bytes > 0;
    recording->keyframe_wanted =
        late && !recording->rules_saved && ++recording->late_keyframes < LATE_KEYFRAMES_MAX;
    foliot__recording_encoder_reset(encoder);
    return true;
}

// -- the life of a recording

// The start of the file and the header's block go straight to the sink: no tick waits for them, and
// the caller gets the error if the disk refuses.
static foliot_status write_start(foliot_recording *recording, const foliot_recording_sink *sink)
{
    uint8_t start[FOLIOT__RECORDING_START_BYTES], header[FOLIOT__RECORDING_BLOCK_BYTES];
    const foliot__buffer *payload = &recording->encoder.payload;
    if (payload->failed)
        return FOLIOT_STATUS_MEMORY;
    foliot__recording_start_write(start);
    foliot__recording_block_frame(header, 0, recording->encoder.tick, payload->bytes,
                                  payload->length);
    if (foliot__sink_write(sink, start, sizeof start) ||
        foliot__sink_write(sink, header, sizeof header) ||
        foliot__sink_write(sink, payload->bytes, payload->length))
        return FOLIOT_STATUS_IO;
    if (recording->drain.signer) {
        foliot__buffer block = {0};
        foliot__pack_raw(&block, header, sizeof header);
        foliot__pack_raw(&block, payload->bytes, payload->length);
        if (block.failed)
            return FOLIOT_STATUS_MEMORY;
        foliot__signed_chain_add(&recording->drain.chain, start, sizeof start);
        foliot__signed_chain_add(&recording->drain.chain, block.bytes, block.length);
        foliot__buffer_free(&block);
    }
    recording->drain.block_number = 1;
    recording->drain.length = sizeof start + sizeof header + payload->length;
    recording->drain.other_bytes = recording->drain.length;
    return FOLIOT_STATUS_OK;
}

// Encodes the header of a recording of a world. Its scene is the instance's, or decoded from the
// setup.
static foliot_status begin_world(foliot_recording *recording, const foliot_simulation *simulation)
{
    const foliot_hosted_world *hosted = simulation->self;
    const foliot_world_config capacities = foliot__world_capacities(hosted->world);
    foliot_scene *decoded = NULL;
    foliot_status status = FOLIOT_STATUS_OK;
    if (!hosted->scene)
        status = foliot_scene_decode(simulation->setup, simulation->setup_bytes, &decoded);
    if (status != FOLIOT_STATUS_OK)
        return status;
    const foliot_scene *scene = decoded ? decoded : hosted->scene;
    uint32_t features = recording->config.rules ? FOLIOT_RECORDING_RULES : 0;
    if (features && scene->script.history_ticks > 0)
        features |= FOLIOT_RECORDING_HISTORY;
    foliot__recording_set_features(recording, features, scene);

    foliot_digest fingerprint = recording->config.fingerprint;
    size_t length = 0;
    uint8_t *bytes = NULL;
    status = foliot_scene_encode(scene, NULL, 0, &length);
    if (status == FOLIOT_STATUS_OK && !(bytes = malloc(length)))
        status = FOLIOT_STATUS_MEMORY;
    if (status == FOLIOT_STATUS_OK)
        status = foliot_scene_encode(scene, bytes, length, &length);
    const foliot_integrator_info *integrator = foliot_integrator_get_info(scene->integrator);
    if (status == FOLIOT_STATUS_OK && (!integrator || length > FOLIOT__RECORDING_PAYLOAD_MAX / 2))
        status = FOLIOT_STATUS_INVALID;
    if (status == FOLIOT_STATUS_OK && !foliot__fingerprint_is_known(fingerprint)) {
        fingerprint = foliot__fingerprint_of_scene(scene);
        if (!foliot__fingerprint_is_known(fingerprint))
            status = FOLIOT_STATUS_MEMORY;
    }
    if (status == FOLIOT_STATUS_OK) {
        recording->encoder.payload.length = 0;
        foliot__recording_encode_head(&recording->encoder.payload,
                                      &(foliot__recording_head){
                                          .scene = bytes,
                                          .scene_bytes = (uint32_t)length,
                                          .integrator = integrator->name,
                                          .dt = scene->dt,
                                          .seed = scene->seed,
                                          .tick = recording->state.first_tick,
                                          .fingerprint = fingerprint,
                                          .capacities = &capacities,
                                          .features = recording->features,
                                          .rules = recording->config.rules,
                                      });
    }
    free(bytes);
    foliot_scene_destroy(decoded);
    return status;
}

static void begin_other(foliot_recording *recording, const foliot_simulation *simulation)
{
    foliot_digest fingerprint = recording->config.fingerprint;
    if ((fingerprint.high | fingerprint.low) == 0)
        fingerprint = foliot_simulation_kind_get_fingerprint(simulation->kind);
    foliot__recording_set_features(
        recording,
        FOLIOT_RECORDING_SIMULATION | (recording->config.rules ? FOLIOT_RECORDING_RULES : 0), NULL);
    recording->encoder.payload.length = 0;
    foliot__recording_encode_foreign_head(&recording->encoder.payload, simulation,
                                          recording->state.first_tick, fingerprint,
                                          recording->features, recording->config.rules);
}

foliot_status foliot_recording_open_sink(const foliot_recording_sink *sink,
                                         const foliot_simulation *simulation,
                                         const foliot_recording_config *config,
                                         foliot_recording **out)
{
    foliot_recording *recording;
    bool is_world = foliot_simulation_get_world(simulation) != NULL;
    if (!foliot_simulation_kind_valid(simulation->kind) ||
        simulation->setup_bytes > FOLIOT_SETUP_BYTES_MAX ||
        (!is_world && strcmp(simulation->kind->name, foliot_world_kind.name) == 0))
        return FOLIOT_STATUS_INVALID;
    foliot_status status = foliot__recording_new(config, simulation, &recording);
    if (status != FOLIOT_STATUS_OK)
        return status;
    if (is_world)
        status = begin_world(recording, simulation);
    else
        begin_other(recording, simulation);
    if (status == FOLIOT_STATUS_OK)
        status = write_start(recording, sink);
    if (status == FOLIOT_STATUS_OK)
        status = foliot__recording_start(recording, sink, simulation, NULL);
    if (status != FOLIOT_STATUS_OK)
        foliot__recording_free(recording);
    else
        *out = recording;
    return status;
}

foliot_status foliot__recording_start(foliot_recording *recording,
                                      const foliot_recording_sink *sink,
                                      const foliot_simulation *simulation, const char *note)
{
    // A queue that one keyframe fills could never take a second.
    size_t queue = recording->config.queue_bytes;
    size_t needed = 2 * (recording->capture.length + sizeof(foliot__queued) + 256 +
                         (recording->rules.save ? recording->rules_bytes_max : 0));
    foliot_status status =
        foliot__drain_start(&recording->drain, sink, &recording->config,
                            queue > needed ? queue : needed, recording->state.first_tick);
    if (status != FOLIOT_STATUS_OK) {
        recording->drain.sink.close = NULL; // stays the caller's
        foliot__drain_finish(&recording->drain, 0);
        return status;
    }
    put_keyframe(recording, simulation, note);
    return FOLIOT_STATUS_OK;
}

foliot_status foliot_recording_open(const char *file, const foliot_simulation *simulation,
                                    const foliot_recording_config *config,
                                    foliot_recording **recording)
{
    foliot_recording_sink sink;
    foliot_status status = foliot__file_sink(file, true, &sink);
    if (status != FOLIOT_STATUS_OK)
        return status;
    status = foliot_recording_open_sink(&sink, simulation, config, recording);
    if (status != FOLIOT_STATUS_OK)
        sink.close(sink.user);
    else
        (*recording)->drain.file = foliot__file_sink_path(&sink, file);
    return status;
}

foliot_status foliot__recording_status(const foliot_recording *recording)
{
    if (atomic_load(&recording->drain.stopped_errno))
        return FOLIOT_STATUS_IO;
    if (recording->skipped)
        return FOLIOT_STATUS_INVALID;
    return recording->full ? FOLIOT_STATUS_FULL : FOLIOT_STATUS_OK;
}

static bool recordable(const foliot_recording *recording, const foliot__recorded_tick *recorded)
{
    const foliot_tick_inputs *in = &recorded->inputs;
    for (uint32_t i = 0; i < in->input_count; i++)
        if (in->inputs[i].player >= FOLIOT_PLAYERS_MAX || in->inputs[i].kind > FOLIOT_INPUT_LEAVE)
            return false;
    if (in->command_count + recorded->order_count == 0)
        return true;
    uint32_t features = recording->features;
    if (recording->encoder.session.no_rules) // which leaves them out
        features |= FOLIOT_RECORDING_RULES | FOLIOT_RECORDING_HISTORY;
    return foliot__commands_recordable(in->commands, in->command_count) &&
           foliot__orders_recordable(recorded->orders, recorded->order_count, features);
}

foliot_status foliot_recording_append(foliot_recording *recording,
                                      const foliot_simulation *simulation,
                                      const foliot_tick_inputs *inputs, const foliot_order *orders,
                                      uint32_t order_count)
{
    const foliot__recorded_tick recorded = {inputs ? *inputs : (foliot_tick_inputs){0}, orders,
                                            order_count};
    uint64_t tick = foliot_simulation_get_tick(simulation);
    if (recording->ended || tick <= recording->seen_tick)
        return FOLIOT_STATUS_INVALID;
    if (tick > recording->seen_tick + 1) {
        // No tick can follow a missing one. The ticks appended before are written.
        if (foliot__recording_status(recording) == FOLIOT_STATUS_OK)
            recording->skipped = foliot__recording_close_block(recording);
    } else if (!recordable(recording, &recorded)) {
        return FOLIOT_STATUS_INVALID;
    }
    recording->seen_tick = tick;
    if (foliot__recording_status(recording) != FOLIOT_STATUS_OK)
        return foliot__recording_status(recording);
    recording->digest = foliot_simulation_get_digest(simulation);
    // Into the block in progress, or into the next one if that is at its limits.
    if (!foliot__recording_encode_tick(&recording->encoder, &recorded, recording->digest) &&
        !(foliot__recording_close_block(recording) &&
          foliot__recording_encode_tick(&recording->encoder, &recorded, recording->digest))) {
        recording->full = true;
        return foliot__recording_status(recording);
    }
    recording->state.appended_tick = tick;
    const foliot_recording_config *config = &recording->config;
    bool is_due =
        config->keyframe_ticks && tick - recording->keyframe_tick >= config->keyframe_ticks;
    if (is_due || recording->keyframe_wanted)
        put_keyframe(recording, simulation, NULL);
    else if (tick - recording->encoder.first_tick >= config->block_ticks)
        foliot__recording_close_block(recording);
    return foliot__recording_status(recording);
}

// -- notes and messages, which a replay does not need

foliot_status foliot__recording_note_text(foliot_recording *recording, const char *what,
                                          const char *text)
{
    if (recording->ended)
        return FOLIOT_STATUS_INVALID;
    if (foliot__recording_status(recording) == FOLIOT_STATUS_OK)
        foliot__recording_encode_note(&recording->encoder.notes, recording->encoder.tick, what,
                                      text);
    return foliot__recording_status(recording);
}

foliot_status foliot_recording_note_session(foliot_recording *recording, const char *name,
                                            bool lockstep)
{
    foliot__recording_note_text(recording, "mode", lockstep ? "lockstep" : "snapshot");
    return foliot__recording_note_text(recording, "session", name);
}

foliot_status foliot_recording_note_player(foliot_recording *recording, uint32_t player,
                                           const char *name, foliot_player_proof proof)
{
    char text[FOLIOT__NOTE_TEXT_BYTES];
    foliot__journal_player_text(text, player, proof, name);
    return foliot__recording_note_text(recording, "player", text);
}

foliot_status foliot_recording_note_token(foliot_recording *recording, uint32_t player,
                                          foliot_player_proof proof)
{
    char text[FOLIOT__NOTE_TEXT_BYTES];
    foliot__journal_player_text(text, player, proof, "");
    return foliot__recording_note_text(recording, "token", text);
}

foliot_status foliot_recording_note_acknowledged(foliot_recording *recording, uint32_t player)
{
    char text[FOLIOT__NOTE_TEXT_BYTES];
    snprintf(text, sizeof text, "%u", player);
    return foliot__recording_note_text(recording, "heard", text);
}

foliot_status foliot_recording_note_message(foliot_recording *recording, uint32_t player,
                                            bool reliable, const void *bytes, size_t length)
{
    if (recording->ended || length > FOLIOT_MESSAGE_BYTES_MAX)
        return FOLIOT_STATUS_INVALID;
    foliot__recording_encoder *encoder = &recording->encoder;
    if (foliot__recording_status(recording) != FOLIOT_STATUS_OK)
        return foliot__recording_status(recording);
    if (encoder->message_count == FOLIOT__RECORDING_NOTES_MAX &&
        !foliot__recording_close_block(recording))
        return foliot__recording_status(recording);
    if (encoder->message_count == FOLIOT__RECORDING_NOTES_MAX)
        return FOLIOT_STATUS_FULL; // all of one tick
    encoder->message_count++;
    foliot__recording_encode_message(&encoder->messages, encoder->tick + 1, player, reliable, bytes,
                                     (uint32_t)length);
    return FOLIOT_STATUS_OK;
}

// -- the host's calls

void foliot_recording_want_keyframe(foliot_recording *recording)
{
    recording->keyframe_wanted = true;
}

const foliot_resumption *foliot_recording_get_resumption(const foliot_recording *recording)
{
    return recording->journal ? &recording->resumption : NULL;
}

foliot_status foliot_recording_flush(foliot_recording *recording)
{
    if (foliot__recording_status(recording) == FOLIOT_STATUS_OK)
        foliot__recording_close_block(recording);
    return foliot__recording_status(recording);
}

foliot_status foliot_recording_drain(foliot_recording *recording)
{
    if (!recording->drain.threaded)
        foliot__drain_run(&recording->drain);
    return foliot__recording_status(recording);
}

foliot_status foliot_recording_wait(foliot_recording *recording, bool synced)
{
    foliot__drain_wait(&recording->drain, synced);
    return foliot__recording_status(recording);
}

foliot_recording_state foliot_recording_get_state(const foliot_recording *recording)
{
    foliot_recording_state state = recording->state;
    state.synced_tick = atomic_load(&recording->drain.synced_tick);
    state.written_tick = atomic_load(&recording->drain.written_tick);
    state.queued_bytes = foliot__ring_used(&recording->drain.ring);
    state.keyframe_bytes = atomic_load(&recording->drain.keyframe_bytes);
    state.other_bytes = atomic_load(&recording->drain.other_bytes);
    state.stopped = foliot__recording_status(recording);
    state.stopped_errno = atomic_load(&recording->drain.stopped_errno);
    // Blocks in a full queue are still written; blocks that wait for a refusing disk are not.
    if (state.stopped == FOLIOT_STATUS_IO)
        state.ticks_lost = recording->seen_tick - state.written_tick;
    else if (state.stopped != FOLIOT_STATUS_OK)
        state.ticks_lost = recording->seen_tick - state.closed_tick;
    return state;
}

foliot_status foliot_recording_end(foliot_recording *recording)
{
    if (recording->ended)
        return foliot__recording_status(recording);
    recording->ended = true;
    foliot__drain_wait(&recording->drain, false); // makes room for the last blocks
    if (foliot__recording_status(recording) == FOLIOT_STATUS_OK &&
        foliot__recording_close_block(recording)) {
        static const foliot__buffer nothing;
        foliot__drain_wait(&recording->drain, false);
        put_block(recording, (foliot__queued){.kind = FOLIOT__QUEUED_CLOSING}, &nothing);
    }
    foliot__drain_wait(&recording->drain, true);
    return foliot__recording_status(recording);
}

foliot_status foliot_recording_compact(foliot_recording *recording)
{
    foliot_status status = foliot_recording_end(recording);
    if (status != FOLIOT_STATUS_OK)
        return status;
    foliot__drain_finish(&recording->drain, recording->config.compact_ticks);
    return recording->drain.compaction;
}

static void free_recording(foliot_recording *recording)
{
    foliot__drain_finish(&recording->drain, 0);
    foliot__recording_free(recording);
}

foliot_status foliot_recording_close(foliot_recording *recording, foliot_recording_state *final)
{
    foliot_status status = foliot_recording_end(recording);
    if (final)
        *final = foliot_recording_get_state(recording);
    (void)!foliot_recording_compact(recording); // without it the file is complete
    free_recording(recording);
    return status;
}

void foliot_recording_abandon(foliot_recording *recording)
{
    free_recording(recording);
}

// -- a recording of one tick

// The step in which two runs diverged, as one of
// them computed it.

foliot_status foliot_divergence_report_write(const foliot_divergence_report *found,
                                             const char *file)
{
    foliot_simulation simulation = {0};
    foliot_recording *recording = NULL;
    const foliot_tick_inputs in = {found->inputs, found->input_count, found->commands,
                                   found->command_count};
    foliot_recording_config config = foliot_recording_config_default();
    config.threaded = false;
    config.keyframe_ticks = 1; // of both states: a digest alone would not say where they differ
    if (!found->before_bytes || !found->after_bytes || !found->kind)
        return FOLIOT_STATUS_INVALID;
    foliot_status status =
        foliot_simulation_create(found->kind, found->setup, found->setup_bytes, &simulation);
    if (status != FOLIOT_STATUS_OK)
        return status;
    status = foliot_simulation_restore(&simulation, found->before, found->before_bytes);
    if (status == FOLIOT_STATUS_OK)
        status = foliot_recording_open(file, &simulation, &config, &recording);
    if (status == FOLIOT_STATUS_OK)
        status = foliot_simulation_restore(&simulation, found->after, found->after_bytes);
    if (status == FOLIOT_STATUS_OK)
        status = foliot_recording_append(recording, &simulation, &in, NULL, 0);
    foliot_status closed = recording ? foliot_recording_close(recording, NULL) : status;
    foliot_simulation_destroy(&simulation);
    return status == FOLIOT_STATUS_OK ? closed : status;
}

void foliot_divergence_report_name_file(const foliot_divergence_report *found, const char *side,
                                        char *file, size_t capacity)
{
    char session[64], player[16] = "spectator", count[16] = "";
    snprintf(session, sizeof session, "%s", found->session);
    for (char *c = session; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
            *c = '-';
    if (found->player != FOLIOT_NO_PLAYER)
        snprintf(player, sizeof player, "%" PRIu32, found->player);
    for (int i = 2; i < 1000; i++) {
        snprintf(file, capacity, "%s-divergence-%" PRIu64 "-%s-%s%s.foliot", session,
                 found->divergence.tick, player, side, count);
        if (access(file, F_OK) != 0)
            return;
        snprintf(count, sizeof count, "-%d", i);
    }
}

#define TITLE_BYTES 160

static foliot_divergence_labels names_of(const foliot_divergence_report *found,
                                         const foliot_scene *scene, char title[TITLE_BYTES])
{
    uint32_t body = found->divergence.body;
    foliot_divergence_labels names = {
        .title = title, .expected = "server", .actual = "client", .dt = scene ? scene->dt : 0};
    if (found->player == FOLIOT_NO_PLAYER)
        snprintf(title, TITLE_BYTES, "session %s, spectator %s", found->session, found->name);
    else
        snprintf(title, TITLE_BYTES, "session %s, player %" PRIu32 " (%s)", found->session,
                 found->player, found->name);
    if (scene && found->divergence.part_known && body < scene->body_count)
        names.part = scene->bodies[body].name;
    return names;
}

size_t foliot_divergence_report_print_text(const foliot_divergence_report *found,
                                           const foliot_scene *scene, char *text, size_t capacity)
{
    char title[TITLE_BYTES];
    foliot_divergence_labels names = names_of(found, scene, title);
    return foliot_divergence_print_text(&found->divergence, &names, text, capacity);
}

size_t foliot_divergence_report_print_json(const foliot_divergence_report *found,
                                           const foliot_scene *scene, char *text, size_t capacity)
{
    char title[TITLE_BYTES];
    foliot_divergence_labels names = names_of(found, scene, title);
    return foliot_divergence_print_json(&found->divergence, &names, text, capacity);
}
