// SPDX-License-Identifier: MIT
// truth_parts.c: the truth one number at a time, with its name: what a divergence report can point
// at. Every table that truth.c digests appears here through the same list, so that nothing digested
// is without a name.
#include "sim/truth.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "sim/body.h"

#define ITEM(text, kind, value)                                                                    \
    (foliot__truth_entry)                                                                          \
    {                                                                                              \
        .name = (text), .type = FOLIOT__TRUTH_##kind, .digested = true, .bits = (value)            \
    }

static uint64_t bits_f64(double value)
{
    return foliot__f64_bits(value);
}
static uint64_t bits_u32(uint32_t value)
{
    return value;
}
static uint64_t bits_u64(uint64_t value)
{
    return value;
}

// -- which part it is
// -------------------------------------------------------------------------------

uint32_t foliot__truth_part_count(const foliot_world *world)
{
    return world->body_count + 1 + world->player_limit + world->contact_count +
           world->constraint_count;
}

foliot__truth_of foliot__truth_part(const foliot_world *world, uint32_t part, uint32_t *index)
{
    const uint32_t counts[] = {world->body_count, 1, world->player_limit, world->contact_count};
    unsigned of = FOLIOT__TRUTH_BODY;
    while (of < FOLIOT__TRUTH_CONSTRAINT && part >= counts[of])
        part -= counts[of++];
    *index = part;
    return (foliot__truth_of)of;
}

// -- bodies
// -----------------------------------------------------------------------------------------

static foliot__truth_type body_type(uint32_t field)
{
    static const foliot__truth_type types[] = {
#define TYPE(type, name, text) FOLIOT__TRUTH_##type,
        FOLIOT_BODY_TRUTH(TYPE)
#undef TYPE
    };
    return types[field];
}

enum {
#define COUNT(type, name) +1
    DEFINITION_COUNT = 0 FOLIOT__BODY_DEFINITION(COUNT),
#undef COUNT
#define NUMBER(type, name) DEFINITION_##name,
    DEFINITION_FIRST = FOLIOT_FIELD_COUNT - 1,
    FOLIOT__BODY_DEFINITION(NUMBER)
#undef NUMBER
};

static foliot__truth_entry body_field(const foliot_world *world, uint32_t slot, uint32_t field)
{
    if (field < FOLIOT_FIELD_COUNT)
        return (foliot__truth_entry){
            .name = foliot_field_name((foliot_field)field),
            .type = body_type(field),
            .digested = world->truth_fields >> field & 1,
            .bits = foliot_world_field_bits(world, slot, (foliot_field)field),
        };
    switch (field) {
#define CASE(type, name)                                                                           \
    case DEFINITION_##name:                                                                        \
        return ITEM(#name, type, bits_##type(foliot__##name(world)[slot]));
        FOLIOT__BODY_DEFINITION(CASE)
#undef CASE
    default:
        return (foliot__truth_entry){.name = "none"};
    }
}

#define value_f64(bits) foliot__f64_of(bits)
#define value_u32(bits) ((uint32_t)(bits))
#define value_u64(bits) (bits)

static void body_put(foliot_world *world, uint32_t slot, uint32_t field, uint64_t bits)
{
    if (field < FOLIOT_FIELD_COUNT) {
        foliot_world_field_put(world, slot, (foliot_field)field, bits);
        return;
    }
    switch (field) {
#define CASE(type, name)                                                                           \
    case DEFINITION_##name:                                                                        \
        foliot__##name(world)[slot] = value_##type(bits);                                          \
        break;
        FOLIOT__BODY_DEFINITION(CASE)
#undef CASE
    default:
        return;
    }
    world->definition_dirty = 1;
}

// -- the world itself
// ------------------------------------------------------------------------------- The counts of
// bodies and contacts are shown; they are not to be put.

#define WORLD_FIELDS 9
#define WORLD_FIELDS_PUT 7

static foliot__truth_entry world_field(const foliot_world *world, uint32_t field)
{
    const foliot__truth_entry entries[WORLD_FIELDS] = {
        ITEM("tick", u64, world->tick),
        ITEM("generator.0", u64, world->rng.state[0]),
        ITEM("generator.1", u64, world->rng.state[1]),
        ITEM("generator.2", u64, world->rng.state[2]),
        ITEM("generator.3", u64, world->rng.state[3]),
        ITEM("lab_time", f64, foliot__f64_bits(world->lab_time)),
        ITEM("lab_dt", f64, foliot__f64_bits(world->lab_dt)),
        ITEM("body_count", u32, world->body_count),
        ITEM("contact_count", u32, world->contact_count),
    };
    return entries[field];
}

static void world_put(foliot_world *world, uint32_t field, uint64_t bits)
{
    if (field == 0)
        world->tick = bits;
    else if (field < 5)
        world->rng.state[field - 1] = bits;
    else if (field == 5)
        world->lab_time = foliot__f64_of(bits);
    else if (field == 6)
        world->lab_dt = foliot__f64_of(bits);
}

// -- players
// ----------------------------------------------------------------------------------------

#define PLAYER_FIELDS (FOLIOT_AXES + 3)

static foliot__truth_entry player_field(const foliot_world *world, uint32_t index, uint32_t field)
{
    static const char *const axis[FOLIOT_AXES] = {"axis.x", "axis.y", "axis.z", "axis.turn"};
    const foliot__player *player = &foliot__players(world)[index];
    if (field < FOLIOT_AXES)
        return ITEM(axis[field], i64, (uint64_t)(int64_t)player->axes[field]);
    if (field == FOLIOT_AXES)
        return ITEM("body", u32, player->body);
    return field == FOLIOT_AXES + 1 ? ITEM("buttons", u32, player->buttons)
                                    : ITEM("joined", u32, player->joined);
}

static void player_put(foliot_world *world, uint32_t index, uint32_t field, uint64_t bits)
{
    foliot__player *player = &foliot__players(world)[index];
    if (field < FOLIOT_AXES)
        player->axes[field] = (int8_t)((int)(bits & 127) - (int)(bits & 128));
    else if (field == FOLIOT_AXES)
        player->body = (uint32_t)bits;
    else if (field == FOLIOT_AXES + 1)
        player->buttons = (uint16_t)bits;
    else
        player->joined = (uint16_t)bits;
}

// -- contacts and constraints
// -------------------------------------------------------------------------

enum {
#define COUNT(type, name) +1
    CONTACT_FIELDS = 0 FOLIOT__CONTACT_TRUTH(COUNT),
#undef COUNT
#define NUMBER(type, name) NUMBER_##name,
    NUMBER_BEFORE = -1,
    FOLIOT__CONTACT_TRUTH(NUMBER)
#undef NUMBER
};

static foliot__truth_entry contact_field(const foliot_world *world, uint32_t index, uint32_t field)
{
    switch (field) {
#define CASE(type, name)                                                                           \
    case NUMBER_##name:                                                                            \
        return ITEM(#name, type, bits_##type(foliot__##name(world)[index]));
        FOLIOT__CONTACT_TRUTH(CASE)
#undef CASE
    default:
        return (foliot__truth_entry){.name = "none"};
    }
}

static void contact_put(foliot_world *world, uint32_t index, uint32_t field, uint64_t bits)
{
    switch (field) {
#define CASE(type, name)                                                                           \
    case NUMBER_##name:                                                                            \
        foliot__##name(world)[index] = value_##type(bits);                                         \
        break;
        FOLIOT__CONTACT_TRUTH(CASE)
#undef CASE
    default:
        break;
    }
}

// -- any of them
// ------------------------------------------------------------------------------------

uint32_t foliot__truth_field_count(const foliot_world *world, uint32_t part)
{
    static const uint32_t counts[] = {FOLIOT_FIELD_COUNT + DEFINITION_COUNT, WORLD_FIELDS,
                                      PLAYER_FIELDS, CONTACT_FIELDS, 1};
    uint32_t index;
    return counts[foliot__truth_part(world, part, &index)];
}

foliot__truth_entry foliot__truth_field(const foliot_world *world, uint32_t part, uint32_t field)
{
    uint32_t index;
    switch (foliot__truth_part(world, part, &index)) {
    case FOLIOT__TRUTH_BODY:
        return body_field(world, index, field);
    case FOLIOT__TRUTH_WORLD:
        return world_field(world, field);
    case FOLIOT__TRUTH_PLAYER:
        return player_field(world, index, field);
    case FOLIOT__TRUTH_CONTACT:
        return contact_field(world, index, field);
    default:
        return ITEM("broken", u32, foliot__constraint_broken(world)[index]);
    }
}

void foliot__truth_field_put(foliot_world *world, uint32_t part, uint32_t field, uint64_t bits)
{
    uint32_t index;
    switch (foliot__truth_part(world, part, &index)) {
    case FOLIOT__TRUTH_BODY:
        body_put(world, index, field, bits);
        return;
    case FOLIOT__TRUTH_WORLD:
        world_put(world, field, bits);
        return;
    case FOLIOT__TRUTH_PLAYER:
        player_put(world, index, field, bits);
        return;
    case FOLIOT__TRUTH_CONTACT:
        contact_put(world, index, field, bits);
        return;
    default:
        foliot__constraint_broken(world)[index] = (uint8_t)bits;
        world->definition_dirty = 1;
    }
}
