// SPDX-License-Identifier: MIT
// state_io_parts.c: the state one number at a time, with names that a divergence report can use.
// Every table that state_io.c digests appears here through the same list, so that every digested
// value has a name.
#include "sim/world/state_io.h"

#include <string.h>

#include "base/assert.h"
#include "sim/state/body.h"
#include "sim/world/state_format.h"

#define ITEM(text, kind, value)                                                                    \
    (foliot__state_entry)                                                                          \
    {                                                                                              \
        .name = (text), .type = FOLIOT__STATE_##kind, .digested = true, .bits = (value)            \
    }

static uint64_t foliot__bits_f32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static float foliot__value_f32(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

// -- which part it is

static uint32_t group_count(const foliot_world *world, foliot__state_group group)
{
    switch (group) {
    case FOLIOT__STATE_BODY:
        return world->body_count;
    case FOLIOT__STATE_PLAYER:
        return world->player.limit;
    case FOLIOT__STATE_CONSTRAINT:
        return world->constraint_count;
    case FOLIOT__STATE_CONTACT:
        return world->contact_count;
    case FOLIOT__STATE_SESSION:
        return 1;
    case FOLIOT__STATE_VARIABLE:
        return world->session.var_count;
    case FOLIOT__STATE_JOINT:
        return world->session.joint_count;
    case FOLIOT__STATE_END:
        return world->session.ended;
    default:
        return 1;
    }
}

uint32_t foliot__state_part_count(const foliot_world *world)
{
    uint32_t count = 0;
    for (unsigned group = 0; group < FOLIOT__STATE_GROUP_COUNT; group++)
        count += group_count(world, (foliot__state_group)group);
    return count;
}

foliot__state_group foliot__state_part(const foliot_world *world, uint32_t part, uint32_t *index)
{
    unsigned group = 0;
    for (; group < FOLIOT__STATE_GROUP_COUNT - 1; group++) {
        uint32_t count = group_count(world, (foliot__state_group)group);
        if (part < count)
            break;
        part -= count;
    }
    *index = part;
    return (foliot__state_group)group;
}

// -- bodies

// Motion, definition, tag.
enum {
    DEFINITION_FIELD = FOLIOT_FIELD_COUNT,
    TAG_FIELD = DEFINITION_FIELD + FOLIOT__STATE_DEFINITION_COUNT,
    BODY_FIELDS,
};
_Static_assert(BODY_FIELDS <= (int)FOLIOT__STATE_FIELDS_MAX,
               "a body has more fields than a report holds");

static uint32_t body_fields(const foliot_world *world, uint32_t slot, foliot__state_entry *fields)
{
    uint32_t count = 0;
#define FIELD(type, name, text)                                                                    \
    fields[count] = ITEM(text, type, foliot__bits_##type(foliot__##name(world)[slot]));            \
    fields[count++].digested = world->scene.state_fields >> FOLIOT_FIELD_##name & 1;
    FOLIOT_BODY_STATE(FIELD)
#undef FIELD
#define FIELD(type, name)                                                                          \
    fields[count++] = ITEM(#name, type, foliot__bits_##type(foliot__##name(world)[slot]));
    FOLIOT__BODY_DEFINITION(FIELD)
    FIELD(u32, tag)
#undef FIELD
    return count;
}

static void body_put(foliot_world *world, uint32_t slot, uint32_t field, uint64_t bits)
{
    if (field < FOLIOT_FIELD_COUNT) {
        (void)!foliot__slot_set_field(world, slot, (foliot_field)field, bits);
        return;
    }
    switch (field) {
#define CASE(type, name)                                                                           \
    case DEFINITION_FIELD + FOLIOT__DEFINITION_##name:                                             \
        foliot__##name(world)[slot] = foliot__value_##type(bits);                                  \
        break;
        FOLIOT__BODY_DEFINITION(CASE)
#undef CASE
    case TAG_FIELD:
        foliot__tag(world)[slot] = (uint32_t)bits;
        break;
    default:
        return;
    }
    foliot__bodies_count(world);
    world->digests.definition_dirty = world->digests.session_dirty = 1;
}

// -- the world itself

#define WORLD_FIELDS 8

static uint32_t world_fields(const foliot_world *world, foliot__state_entry *fields)
{
    const foliot__state_entry entries[WORLD_FIELDS] = {
        ITEM("tick", u64, world->tick),
        ITEM("generator.0", u64, world->rng.state[0]),
        ITEM("generator.1", u64, world->rng.state[1]),
        ITEM("generator.2", u64, world->rng.state[2]),
        ITEM("generator.3", u64, world->rng.state[3]),
        ITEM("lab_time", f64, foliot__f64_bits(world->lab.time)),
        ITEM("lab_dt", f64, foliot__f64_bits(world->lab.dt)),
        ITEM("contact_count", u32, world->contact_count),
    };
    memcpy(fields, entries, sizeof entries);
    return WORLD_FIELDS;
}

// The counts of slots and contacts are shown, and cannot be set: tables depend on them.
static void world_put(foliot_world *world, uint32_t field, uint64_t bits)
{
    if (field == 0)
        world->tick = bits;
    else if (field < 5)
        world->rng.state[field - 1] = bits;
    else if (field == 5)
        world->lab.time = foliot__f64_of(bits);
    else if (field == 6)
        world->lab.dt = foliot__f64_of(bits);
}

// -- the session, its variables, the joints that commands made

#define SESSION_FIELDS 6

static uint32_t session_fields(const foliot_world *world, foliot__state_entry *fields)
{
    const foliot__session_section *session = &world->session;
    const foliot__state_entry entries[SESSION_FIELDS] = {
        ITEM("gravity.x", f64, foliot__f64_bits(session->gravity[0])),
        ITEM("gravity.y", f64, foliot__f64_bits(session->gravity[1])),
        ITEM("gravity.z", f64, foliot__f64_bits(session->gravity[2])),
        ITEM("var_count", u32, session->var_count),
        ITEM("joint_count", u32, session->joint_count),
        ITEM("ended", u32, session->ended),
    };
    memcpy(fields, entries, sizeof entries);
    return SESSION_FIELDS;
}

// Counts are shown, and cannot be set: tables depend on them. The step uses a copy of gravity.
static void session_put(foliot_world *world, uint32_t field, uint64_t bits)
{
    if (field < 3)
        world->gravity[field] = world->session.gravity[field] = foliot__f64_of(bits);
    world->digests.session_dirty = 1;
}

// Bytes of text as words, the first byte lowest.
static uint32_t word_fields(const char *name, const void *text, uint32_t words,
                            foliot__state_entry *fields)
{
    const uint8_t *bytes = text;
    for (uint32_t k = 0; k < words; k++) {
        uint64_t word = 0;
        for (unsigned b = 0; b < 8; b++)
            word |= (uint64_t)bytes[8 * k + b] << (8 * b);
        fields[k] = ITEM(name, u64, word);
    }
    return words;
}

static void put_word(void *text, uint32_t word, uint64_t bits)
{
    uint8_t *bytes = text;
    for (unsigned b = 0; b < 8; b++)
        bytes[8 * word + b] = (uint8_t)(bits >> (8 * b));
}

#define KEY_WORDS (FOLIOT_VAR_KEY_BYTES / 8)
#define TEXT_WORDS (FOLIOT_VAR_TEXT_BYTES / 8)
#define VARIABLE_FIELDS (3 + KEY_WORDS + TEXT_WORDS)
#define JOINT_WORDS (FOLIOT__JOINT_RECORD_BYTES / 8)
#define END_WORDS (2 * TEXT_WORDS)

static uint32_t variable_fields(const foliot_world *world, uint32_t i, foliot__state_entry *fields)
{
    fields[0] = ITEM("type", u32, foliot__var_type(world)[i]);
    fields[1] = ITEM("changed", u32, foliot__var_changed(world)[i]);
    fields[2] = ITEM("value", u64, foliot__var_value(world)[i]);
    uint32_t count = 3 + word_fields("key", foliot__var_key_at(world, i), KEY_WORDS, fields + 3);
    return count + word_fields("text", foliot__var_text_at(world, i), TEXT_WORDS, fields + count);
}

static void variable_put(foliot_world *world, uint32_t i, uint32_t field, uint64_t bits)
{
    if (field == 0)
        foliot__var_type(world)[i] = (uint32_t)bits;
    else if (field == 1)
        foliot__var_changed(world)[i] = (uint32_t)bits;
    else if (field == 2)
        foliot__var_value(world)[i] = bits;
    else if (field < 3 + KEY_WORDS)
        put_word(foliot__var_key_at(world, i), field - 3, bits);
    else
        put_word(foliot__var_text_at(world, i), field - 3 - KEY_WORDS, bits);
    world->digests.session_dirty = 1;
}

// -- players

#define PLAYER_FIELDS (FOLIOT_AXIS_COUNT + 4)

static uint32_t player_fields(const foliot_world *world, uint32_t index,
                              foliot__state_entry *fields)
{
    static const char *const axis[FOLIOT_AXIS_COUNT] = {"axis.x", "axis.y", "axis.z", "axis.turn"};
    const foliot__player *player = &foliot__players(world)[index];
    for (uint32_t i = 0; i < FOLIOT_AXIS_COUNT; i++)
        fields[i] = ITEM(axis[i], i64, (uint64_t)(int64_t)player->axes[i]);
    fields[FOLIOT_AXIS_COUNT] = ITEM("body", u32, player->body);
    fields[FOLIOT_AXIS_COUNT + 1] = ITEM("buttons", u32, player->buttons);
    fields[FOLIOT_AXIS_COUNT + 2] = ITEM("joined", u32, player->joined);
    fields[FOLIOT_AXIS_COUNT + 3] = ITEM("driven", u32, foliot__driven(world)[index]);
    return PLAYER_FIELDS;
}

static void player_put(foliot_world *world, uint32_t index, uint32_t field, uint64_t bits)
{
    foliot__player *player = &foliot__players(world)[index];
    if (field < FOLIOT_AXIS_COUNT)
        player->axes[field] = (int8_t)((int)(bits & 127) - (int)(bits & 128));
    else if (field == FOLIOT_AXIS_COUNT)
        player->body = (uint32_t)bits;
    else if (field == FOLIOT_AXIS_COUNT + 1)
        player->buttons = (uint16_t)bits;
    else if (field == FOLIOT_AXIS_COUNT + 2)
        player->joined = (uint16_t)bits;
    else
        foliot__driven(world)[index] = (uint32_t)bits;
    world->digests.session_dirty = 1;
}

// -- contacts and constraints

enum {
#define COUNT(type, name) +1
    CONTACT_FIELDS = 0 FOLIOT__CONTACT_ROW(COUNT),
#undef COUNT
#define NUMBER(type, name) NUMBER_##name,
    NUMBER_BEFORE = -1,
    FOLIOT__CONTACT_ROW(NUMBER)
#undef NUMBER
};

static uint32_t contact_fields(const foliot_world *world, uint32_t index,
                               foliot__state_entry *fields)
{
    uint32_t count = 0;
#define FIELD(type, name)                                                                          \
    fields[count++] =                                                                              \
        ITEM("contact_" #name, type, foliot__bits_##type(foliot__contact(world)[index].name));
    FOLIOT__CONTACT_ROW(FIELD)
#undef FIELD
    return count;
}

static void contact_put(foliot_world *world, uint32_t index, uint32_t field, uint64_t bits)
{
    switch (field) {
#define CASE(type, name)                                                                           \
    case NUMBER_##name:                                                                            \
        foliot__contact(world)[index].name = foliot__value_##type(bits);                           \
        break;
        FOLIOT__CONTACT_ROW(CASE)
#undef CASE
    default:
        break;
    }
}

// Its state, and what it pushed with if it is a fast joint.
enum {
    CONSTRAINT_FIELDS = 1 + FOLIOT__JOINT_IMPULSES,
#define NUMBER(type, name) IMPULSE_##name,
    IMPULSE_BEFORE = 0,
    FOLIOT__JOINT_IMPULSE(NUMBER)
#undef NUMBER
};

static uint32_t constraint_fields(const foliot_world *world, uint32_t index,
                                  foliot__state_entry *fields)
{
    static const foliot__joint_warm none;
    const foliot__joint_warm *row =
        world->scene.fast_joints ? &foliot__joint_impulse(world)[index] : &none;
    uint32_t count = 1;
    fields[0] = ITEM("state", u32, foliot__constraint_state(world)[index]);
#define FIELD(type, name)                                                                          \
    fields[count] = ITEM("joint_" #name, type, foliot__bits_##type(row->name));                    \
    fields[count++].digested = world->scene.fast_joints != 0;
    FOLIOT__JOINT_IMPULSE(FIELD)
#undef FIELD
    return count;
}

static void constraint_put(foliot_world *world, uint32_t index, uint32_t field, uint64_t bits)
{
    if (field == 0) {
        foliot__constraint_state(world)[index] = (uint8_t)bits;
        world->digests.definition_dirty = 1;
        return;
    }
    if (world->scene.fast_joints == 0)
        return;
    switch (field) {
#define CASE(type, name)                                                                           \
    case IMPULSE_##name:                                                                           \
        foliot__joint_impulse(world)[index].name = foliot__value_##type(bits);                     \
        break;
        FOLIOT__JOINT_IMPULSE(CASE)
#undef CASE
    default:
        break;
    }
}

// -- any of them

uint32_t foliot__state_field_count(const foliot_world *world, uint32_t part)
{
    const uint32_t counts[FOLIOT__STATE_GROUP_COUNT] = {
        [FOLIOT__STATE_SLOTS] = 1,
        [FOLIOT__STATE_BODY] = BODY_FIELDS,
        [FOLIOT__STATE_WORLD] = WORLD_FIELDS,
        [FOLIOT__STATE_SESSION] = SESSION_FIELDS,
        [FOLIOT__STATE_PLAYER] = PLAYER_FIELDS,
        [FOLIOT__STATE_CONSTRAINT] = CONSTRAINT_FIELDS,
        [FOLIOT__STATE_CONTACT] = CONTACT_FIELDS,
        [FOLIOT__STATE_VARIABLE] = VARIABLE_FIELDS,
        [FOLIOT__STATE_JOINT] = JOINT_WORDS,
        [FOLIOT__STATE_END] = END_WORDS,
    };
    uint32_t index;
    return counts[foliot__state_part(world, part, &index)];
}

uint32_t foliot__state_fields_of(const foliot_world *world, uint32_t part,
                                 foliot__state_entry fields[FOLIOT__STATE_FIELDS_MAX])
{
    uint32_t index;
    switch (foliot__state_part(world, part, &index)) {
    case FOLIOT__STATE_SLOTS:
        fields[0] = ITEM("count", u32, world->body_count);
        return 1;
    case FOLIOT__STATE_BODY:
        return body_fields(world, index, fields);
    case FOLIOT__STATE_WORLD:
        return world_fields(world, fields);
    case FOLIOT__STATE_PLAYER:
        return player_fields(world, index, fields);
    case FOLIOT__STATE_CONTACT:
        return contact_fields(world, index, fields);
    case FOLIOT__STATE_SESSION:
        return session_fields(world, fields);
    case FOLIOT__STATE_VARIABLE:
        return variable_fields(world, index, fields);
    case FOLIOT__STATE_JOINT:
        return word_fields("word", foliot__joint_bytes_at(world, index), JOINT_WORDS, fields);
    case FOLIOT__STATE_END:
        return word_fields("text", world->session.end_reason, END_WORDS, fields);
    default:
        return constraint_fields(world, index, fields);
    }
}

void foliot__state_field_put(foliot_world *world, uint32_t part, uint32_t field, uint64_t bits)
{
    uint32_t index;
    switch (foliot__state_part(world, part, &index)) {
    case FOLIOT__STATE_BODY:
        body_put(world, index, field, bits);
        return;
    case FOLIOT__STATE_WORLD:
        world_put(world, field, bits);
        return;
    case FOLIOT__STATE_PLAYER:
        player_put(world, index, field, bits);
        return;
    case FOLIOT__STATE_CONTACT:
        contact_put(world, index, field, bits);
        return;
    case FOLIOT__STATE_SESSION:
        session_put(world, field, bits);
        return;
    case FOLIOT__STATE_VARIABLE:
        variable_put(world, index, field, bits);
        return;
    case FOLIOT__STATE_JOINT:
        put_word(foliot__joint_bytes_at(world, index), field, bits);
        world->digests.session_dirty = 1;
        return;
    case FOLIOT__STATE_END:
        put_word(world->session.end_reason, field, bits);
        world->digests.session_dirty = 1;
        return;
    case FOLIOT__STATE_CONSTRAINT:
        constraint_put(world, index, field, bits);
        return;
    default:
        return;
    }
}
