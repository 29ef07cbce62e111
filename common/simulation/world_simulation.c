// SPDX-License-Identifier: MIT
// world_simulation.c: the built-in world as a foliot_simulation. Parts and fields come from the
// lists that the digest is made of (common/sim/world/state_io.h).
#include "base/assert.h"
#include "foliot/simulation.h"

#include "sim/world/state_io.h"

#include <stdlib.h>

static foliot_status create(void *user, const void *setup, size_t setup_bytes, void **self)
{
    foliot_scene *scene;
    foliot_hosted_world *hosted = calloc(1, sizeof *hosted);
    if (!hosted)
        return FOLIOT_STATUS_MEMORY;
    foliot_status status = foliot_scene_decode(setup, setup_bytes, &scene);
    if (status == FOLIOT_STATUS_OK) {
        status = foliot_world_create(scene, &hosted->world, NULL);
        foliot_scene_destroy(scene);
    }
    if (status != FOLIOT_STATUS_OK) {
        free(hosted);
        return status;
    }
    if (user)
        hosted->host = *(const foliot_host *)user;
    *self = hosted;
    return FOLIOT_STATUS_OK;
}

static void destroy(void *self)
{
    foliot_hosted_world *hosted = self;
    foliot_world_destroy(hosted->world);
    free(hosted);
}

static const foliot_world *world_of(const void *self)
{
    return ((const foliot_hosted_world *)self)->world;
}

static uint64_t tick(const void *self)
{
    return foliot_world_get_tick(world_of(self));
}

static void after_stage(void *user, foliot_world *world, foliot_stage stage)
{
    const foliot_hosted_world *hosted = user;
    if (hosted->host.after_stage)
        hosted->host.after_stage(hosted->host.stage_user, world, stage);
    hosted->after_stage(hosted->stage_user, stage);
}

static foliot_status step_tick(void *self, const foliot_tick_inputs *tick_inputs)
{
    foliot_hosted_world *hosted = self;
    foliot_host host = hosted->host;
    if (hosted->after_stage) {
        host.after_stage = after_stage;
        host.stage_user = hosted;
    }
    return foliot_world_step_tick(hosted->world, tick_inputs, &host);
}

static foliot_status step(void *self, const foliot_input *inputs, uint32_t count)
{
    const foliot_tick_inputs tick_inputs = {.inputs = inputs, .input_count = count};
    return step_tick(self, &tick_inputs);
}

static size_t save(const void *self, void *bytes, size_t capacity)
{
    size_t length = 0;
    foliot_status status = foliot_world_capture(world_of(self), NULL, 0, &length);
    if (status == FOLIOT_STATUS_OK && bytes && length <= capacity)
        status = foliot_world_capture(world_of(self), bytes, capacity, &length);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK); // it fails for lack of room alone
    return length;
}

static foliot_status restore(void *self, const void *bytes, size_t length)
{
    foliot_hosted_world *hosted = self;
    return foliot_world_restore(hosted->world, bytes, length);
}

static void copy(void *self, const void *from)
{
    foliot_hosted_world *hosted = self;
    FOLIOT_ASSERT(foliot_world_get_bytes(hosted->world) == foliot_world_get_bytes(world_of(from)));
    foliot_world_copy(hosted->world, world_of(from));
}

static foliot_digest digest(const void *self)
{
    return foliot_world_get_digest(world_of(self));
}

static uint32_t part_count(const void *self)
{
    return foliot__state_part_count(world_of(self));
}

static void part(const void *self, uint32_t number, foliot_simulation_part *about)
{
    static const char *const groups[FOLIOT__STATE_GROUP_COUNT] = {
        [FOLIOT__STATE_SLOTS] = "slots",     [FOLIOT__STATE_BODY] = "body",
        [FOLIOT__STATE_WORLD] = "world",     [FOLIOT__STATE_PLAYER] = "player",
        [FOLIOT__STATE_CONTACT] = "contact", [FOLIOT__STATE_CONSTRAINT] = "constraint",
        [FOLIOT__STATE_SESSION] = "session", [FOLIOT__STATE_VARIABLE] = "variable",
        [FOLIOT__STATE_JOINT] = "joint",     [FOLIOT__STATE_END] = "end",
    };
    uint32_t index;
    foliot__state_group group = foliot__state_part(world_of(self), number, &index);
    bool alone = group == FOLIOT__STATE_SLOTS || group == FOLIOT__STATE_WORLD ||
                 group == FOLIOT__STATE_SESSION || group == FOLIOT__STATE_END;
    *about =
        (foliot_simulation_part){.group = groups[group],
                                 .index = alone ? FOLIOT_PART_ALONE : index,
                                 .field_count = foliot__state_field_count(world_of(self), number)};
}

static void fields(const void *self, uint32_t number, foliot_simulation_field *values)
{
    static const foliot_value_type types[] = {
        [FOLIOT__STATE_f64] = FOLIOT_VALUE_F64,
        [FOLIOT__STATE_f32] = FOLIOT_VALUE_U64, // its bits: distances are in ulps all the same
        [FOLIOT__STATE_i64] = FOLIOT_VALUE_I64, [FOLIOT__STATE_u32] = FOLIOT_VALUE_U64,
        [FOLIOT__STATE_u64] = FOLIOT_VALUE_U64,
    };
    foliot__state_entry entries[FOLIOT__STATE_FIELDS_MAX];
    uint32_t count = foliot__state_fields_of(world_of(self), number, entries);
    for (uint32_t i = 0; i < count; i++)
        values[i] = (foliot_simulation_field){.name = entries[i].name,
                                              .type = types[entries[i].type],
                                              .undigested = !entries[i].digested,
                                              .bits = entries[i].bits};
}

static void field_put(void *self, uint32_t number, uint32_t index, uint64_t bits)
{
    foliot_hosted_world *hosted = self;
    foliot__state_field_put(hosted->world, number, index, bits);
}

static void watch(void *self, void (*function)(void *user, uint32_t stage), void *user)
{
    foliot_hosted_world *hosted = self;
    hosted->after_stage = function;
    hosted->stage_user = user;
}

static const char *const stages[] = {
#define STAGE_NAME(name) #name,
    FOLIOT_STAGE_LIST(STAGE_NAME)
#undef STAGE_NAME
};

// Copies of the table may make worlds in another way; their instances are of one type.
const foliot_world *foliot_simulation_get_world(const foliot_simulation *simulation)
{
    bool world = simulation->self && simulation->kind->step_tick == step_tick;
    return world ? world_of(simulation->self) : NULL;
}

const foliot_simulation_kind foliot_world_kind = {
    .name = "foliot.world",
    .version = 1,
    .create = create,
    .destroy = destroy,
    .tick = tick,
    .step = step,
    .step_tick = step_tick,
    .capture = save,
    .restore = restore,
    .digest = digest,
    .fingerprint = foliot_get_fingerprint,
    .part_count = part_count,
    .part = part,
    .fields = fields,
    .set_field = field_put,
    .stages = stages,
    .stage_count = FOLIOT_STAGE_COUNT,
    .watch = watch,
    .copy = copy,
};
