// SPDX-License-Identifier: MIT
// recording_fixture.c: see recording_fixture.h.
#include "recording_fixture.h"

#include "base/assert.h"
#include "recording/block_reader.h"
#include "recording/encoder.h"
#include "status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// -- memory

static int64_t memory_write(void *user, const void *bytes, size_t count)
{
    recording_memory *memory = user;
    if (memory->limit && memory->length + count > memory->limit)
        count = memory->limit - memory->length; // a full disk takes what fits
    if (count == 0)
        return -ENOSPC;
    if (memory->length + count > memory->capacity) {
        memory->capacity = 2 * (memory->length + count);
        memory->bytes = realloc(memory->bytes, memory->capacity);
        FOLIOT_ASSERT(memory->bytes);
    }
    memcpy(memory->bytes + memory->length, bytes, count);
    memory->length += count;
    return (int64_t)count;
}

static int memory_sync(void *user)
{
    ((recording_memory *)user)->syncs++;
    return 0;
}

static int memory_truncate(void *user, uint64_t length)
{
    ((recording_memory *)user)->length = (size_t)length;
    return 0;
}

foliot_recording_sink recording_memory_sink(recording_memory *memory)
{
    return (foliot_recording_sink){
        .write = memory_write, .sync = memory_sync, .truncate = memory_truncate, .user = memory};
}

void recording_memory_free(recording_memory *memory)
{
    free(memory->bytes);
    *memory = (recording_memory){0};
}

// -- the scene

static double between(foliot__rng *rng, double low, double high)
{
    return low + (high - low) * foliot__rng_unit(rng);
}

static void add_body(recording_fixture *fixture, uint32_t i)
{
    foliot_body_definition *body = &fixture->bodies[i];
    *body = foliot_body_definition_default();
    body->mass = between(&fixture->rng, 0.5, 2);
    for (int k = 0; k < 3; k++)
        body->position[k] = between(&fixture->rng, -10, 10);
    for (int k = 0; k < 3; k++)
        body->velocity[k] = between(&fixture->rng, -1, 1);
}

static void add_spring(recording_fixture *fixture, uint32_t i, uint32_t bodies)
{
    foliot_force_definition *force = &fixture->forces[i];
    *force = foliot_force_definition_default(FOLIOT_FORCE_SPRING);
    force->a = i;
    force->b = i + 1 < bodies ? i + 1 : FOLIOT_NO_BODY;
    force->as.spring.stiffness = between(&fixture->rng, 5, 20);
    force->as.spring.length = 1;
}

void recording_fixture_init(recording_fixture *fixture, uint32_t bodies, uint32_t players,
                            foliot_integrator integrator, uint64_t seed)
{
    *fixture = (recording_fixture){
        .scene = foliot_scene_default(), .rng = foliot__rng_seeded(seed), .changes_hz = 4};
    bool lattice = integrator == FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG;
    fixture->bodies = calloc(bodies, sizeof *fixture->bodies);
    fixture->forces = calloc(bodies + 1, sizeof *fixture->forces);
    for (uint32_t i = 0; i < bodies; i++)
        add_body(fixture, i);
    for (uint32_t i = 0; i < bodies; i++)
        add_spring(fixture, i, bodies);
    fixture->forces[bodies] = foliot_force_definition_default(FOLIOT_FORCE_DRAG);
    fixture->forces[bodies].as.drag.linear = 0.05;
    foliot_scene *scene = &fixture->scene;
    scene->name = "yard";
    scene->dt = 1.0 / 60;
    scene->pace_hz = 60;
    scene->integrator = integrator;
    scene->seed = seed;
    scene->bodies = fixture->bodies;
    scene->body_count = bodies;
    scene->forces = fixture->forces;
    scene->force_count = bodies + !lattice; // which has no drag
    if (players == 0)
        return;
    for (int p = 0; p < 8; p++)
        fixture->spawns[p][0] = p;
    scene->players.limit = players;
    scene->players.body = foliot_body_definition_default();
    scene->players.positions = (const double(*)[3])fixture->spawns;
    scene->players.position_count = 8;
    scene->players.control = FOLIOT_CONTROL_THRUST;
    scene->players.force = 5;
}

void recording_fixture_free(recording_fixture *fixture)
{
    free(fixture->bodies);
    free(fixture->forces);
    fixture->bodies = NULL;
    fixture->forces = NULL;
}

foliot_world *recording_fixture_world(const recording_fixture *fixture)
{
    foliot_world *world = NULL;
    foliot_status status = foliot_world_create(&fixture->scene, &world, NULL);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK);
    return world;
}

// -- the players

// One key: an axis pushed one way, or let go of, or now and then a button.
static void press(recording_fixture *fixture, foliot_input *held)
{
    static const int8_t pushed[] = {-127, 0, 127};
    uint32_t key = foliot__rng_below(&fixture->rng, 10);
    if (key == 9)
        held->buttons ^= (uint16_t)(1u << foliot__rng_below(&fixture->rng, 4));
    else
        held->axes[key % 3] = pushed[foliot__rng_below(&fixture->rng, 3)];
}

static bool joins_or_leaves(recording_fixture *fixture, uint32_t p, uint64_t tick, bool leaves)
{
    if (!fixture->joined[p])
        return tick >= p && (tick == p || foliot__rng_below(&fixture->rng, 60) == 0);
    return leaves && foliot__rng_below(&fixture->rng, 300) == 0;
}

uint32_t recording_fixture_inputs(recording_fixture *fixture, uint64_t tick, bool leaves,
                                  foliot_input inputs[FOLIOT_PLAYERS_MAX])
{
    uint32_t count = 0;
    uint32_t every = (uint32_t)(60 / fixture->changes_hz + 0.5);
    for (uint32_t p = 0; p < fixture->scene.players.limit; p++) {
        foliot_input *held = &fixture->held[p];
        bool changed = false;
        if (joins_or_leaves(fixture, p, tick, leaves)) {
            *held = (foliot_input){
                .player = p, .kind = fixture->joined[p] ? FOLIOT_INPUT_LEAVE : FOLIOT_INPUT_JOIN};
            fixture->joined[p] = !fixture->joined[p];
            changed = true;
        } else if (fixture->joined[p]) {
            held->kind = FOLIOT_INPUT_CONTROL;
            changed = foliot__rng_below(&fixture->rng, every) == 0;
            if (changed)
                press(fixture, held);
            changed |= fixture->streams;
        }
        if (!changed)
            continue;
        held->sequence = fixture->sequence[p]++;
        inputs[count++] = *held;
    }
    return count;
}

// -- recordings

foliot_recording_config recording_fixture_config(uint32_t block_ticks, uint32_t keyframe_ticks)
{
    foliot_recording_config config = foliot_recording_config_default();
    config.block_ticks = block_ticks;
    config.keyframe_ticks = keyframe_ticks;
    config.threaded = false;
    return config;
}

void recording_fixture_record(recording_fixture *fixture, const foliot_recording_config *config,
                              uint64_t ticks, recording_memory *memory, foliot_digest *digests)
{
    foliot_input inputs[FOLIOT_PLAYERS_MAX];
    foliot_recording *recording;
    foliot_world *world = recording_fixture_world(fixture);
    foliot_recording_sink sink = recording_memory_sink(memory);
    foliot_status status = foliot_recording_open_sink(
        &sink, WORLD_SIMULATION(world, &fixture->scene), config, &recording);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK);
    if (digests)
        digests[0] = foliot_world_get_digest(world);
    for (uint64_t tick = 0; tick < ticks; tick++) {
        uint32_t count = recording_fixture_inputs(fixture, tick, true, inputs);
        status = foliot_world_step(world, inputs, count, NULL);
        FOLIOT_ASSERT(status == FOLIOT_STATUS_OK);
        status = foliot_recording_append(recording, WORLD_SIMULATION(world, NULL),
                                         TICK_INPUTS(inputs, count), NULL, 0);
        FOLIOT_ASSERT(status == FOLIOT_STATUS_OK);
        allow_failure(foliot_recording_drain(recording));
        if (digests)
            digests[tick + 1] = foliot_world_get_digest(world);
    }
    status = foliot_recording_close(recording, NULL);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK);
    foliot_world_destroy(world);
}

// -- keyframes whose bytes lie open

static void pack_state(foliot__buffer *out, const foliot__recording_content *content)
{
    foliot__pack_array(out, 5);
    foliot__pack_uint(out, FOLIOT__RECORDING_KEYFRAME);
    foliot__pack_uint(out, content->tick);
    foliot__pack_bin(out, content->keyframe.digest, sizeof content->keyframe.digest);
    foliot__pack_uint(out, FOLIOT__RECORDING_RAW);
    foliot__pack_bin(out, content->keyframe.state.bytes, (uint32_t)content->keyframe.state.length);
    if (!content->keyframe.has_rules)
        return;
    foliot__pack_array(out, 5);
    foliot__pack_uint(out, FOLIOT__RECORDING_STATE);
    foliot__pack_uint(out, content->tick);
    foliot__pack_uint(out, FOLIOT__RECORDING_RAW);
    foliot__pack_bin(out, content->keyframe.rules.bytes, (uint32_t)content->keyframe.rules.length);
    foliot__pack_bin(out, content->keyframe.rules_digest, sizeof content->keyframe.rules_digest);
}

static void put_block(recording_memory *out, const foliot__recording_content *content,
                      const void *payload, size_t length)
{
    uint8_t head[FOLIOT__RECORDING_BLOCK_BYTES];
    foliot__recording_block_frame(head, (uint32_t)content->number, content->tick, payload, length);
    memory_write(out, head, sizeof head);
    memory_write(out, payload, length);
}

void recording_memory_unpack(recording_memory *memory)
{
    foliot__byte_source source;
    foliot__block_reader *reader = calloc(1, sizeof *reader);
    foliot__recording_header header = {0};
    foliot__recording_content content = {0};
    recording_memory out = {0};
    uint64_t(*index)[2] = NULL, before;
    uint32_t keyframes = 0;
    foliot__byte_source_of(&source, memory->bytes, memory->length);
    demand(foliot__block_reader_begin(reader, &source, &header, &content, NULL));
    memory_write(&out, memory->bytes, (size_t)reader->offset);
    while (before = reader->offset,
           foliot__block_reader_next(reader, &content, NULL) == FOLIOT_STATUS_OK) {
        foliot__buffer payload = {0};
        if (content.has_keyframe) {
            index = realloc(index, (keyframes + 1) * sizeof *index);
            index[keyframes][0] = content.tick;
            index[keyframes++][1] = out.length;
            demand(foliot__recording_content_unpack(&content, FOLIOT_SIMULATION_BYTES_MAX));
            pack_state(&payload, &content);
        } else if (content.has_closing) {
            foliot__recording_encode_closing(&payload, content.tick,
                                             foliot__recording_digest_of(content.closing_digest),
                                             (const uint64_t(*)[2])index, keyframes, out.length);
        } else {
            before += FOLIOT__RECORDING_BLOCK_BYTES;
            foliot__pack_raw(&payload, memory->bytes + before, (size_t)(reader->offset - before));
        }
        put_block(&out, &content, payload.bytes, payload.length);
        foliot__buffer_free(&payload);
    }
    FOLIOT_ASSERT(reader->closed);
    foliot__recording_content_free(&content);
    foliot__recording_header_free(&header);
    free(reader);
    free(index);
    recording_memory_free(memory);
    *memory = out;
}
