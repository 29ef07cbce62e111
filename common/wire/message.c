// SPDX-License-Identifier: MIT
// message.c: messages to bytes and back. One table of fields for each message serves both
// directions, so that they cannot differ. Packed and read by base/pack.h: msgpack-c's
// unpacker would allocate what a hostile header claims. Refuses what is out of range, too long or
// too short; fields that a newer peer adds at the end are skipped.
#include "wire/message.h"

#include <stddef.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/pack.h"
#include "base/text.h"

// -- fields

typedef enum field_type {
    FIELD_U32, // at most `most`
    FIELD_U64,
    FIELD_I32,      // as the u32 of its bits; its magnitude is at most `most`
    FIELD_POSITIVE, // a double
    FIELD_MEASURE,  // a double that is not negative
    FIELD_FLAG,     // 0 or 1
    FIELD_TEXT,     // of a char array of `most` bytes, closed by a zero there
    FIELD_NAME,  // the same; a text that is too long is left out, which a flag in a second member
                 // records
    FIELD_BYTES, // a pointer into the message; its length, at most `most`, is in a second member
    FIELD_TOKEN,
    FIELD_DIGEST,
} field_type;

typedef struct field {
    field_type type;
    size_t at, beside; // offsets in foliot__message
    uint32_t most;
} field;

#define AT(member) offsetof(foliot__message, as.member)
#define ROOM(member) sizeof(((foliot__message *)0)->as.member)
#define U32(member)                                                                                \
    {                                                                                              \
        FIELD_U32, AT(member), 0, UINT32_MAX                                                       \
    }
#define U32_MOST(member, most)                                                                     \
    {                                                                                              \
        FIELD_U32, AT(member), 0, most                                                             \
    }
#define U64(member)                                                                                \
    {                                                                                              \
        FIELD_U64, AT(member), 0, 0                                                                \
    }
#define I32(member, most)                                                                          \
    {                                                                                              \
        FIELD_I32, AT(member), 0, most                                                             \
    }
#define MEASURE(member)                                                                            \
    {                                                                                              \
        FIELD_MEASURE, AT(member), 0, 0                                                            \
    }
#define POSITIVE(member)                                                                           \
    {                                                                                              \
        FIELD_POSITIVE, AT(member), 0, 0                                                           \
    }
#define FLAG(member)                                                                               \
    {                                                                                              \
        FIELD_FLAG, AT(member), 0, 0                                                               \
    }
#define TEXT(member)                                                                               \
    {                                                                                              \
        FIELD_TEXT, AT(member), 0, ROOM(member)                                                    \
    }
#define NAME(member, too_long)                                                                     \
    {                                                                                              \
        FIELD_NAME, AT(member), AT(too_long), ROOM(member)                                         \
    }
#define BYTES(member, length, most)                                                                \
    {                                                                                              \
        FIELD_BYTES, AT(member), AT(length), most                                                  \
    }
#define TOKEN(member)                                                                              \
    {                                                                                              \
        FIELD_TOKEN, AT(member), 0, 0                                                              \
    }
#define DIGEST(member)                                                                             \
    {                                                                                              \
        FIELD_DIGEST, AT(member), 0, 0                                                             \
    }

static const field hello_fields[] = {
    U32(hello.protocol), // first: the other fields of another protocol are unknown
    TEXT(hello.session),        NAME(hello.name, hello.name_too_long),
    FLAG(hello.spectates),      TOKEN(hello.token),
    DIGEST(hello.fingerprint),  TEXT(hello.build),
    FLAG(hello.force_stepping), TEXT(hello.simulation),
    U32(hello.rules),           U32_MOST(hello.kind, FOLIOT__KIND_STEPPER),
};

static const field welcome_fields[] = {
    U32(welcome.protocol),
    TEXT(welcome.session),
    TEXT(welcome.scene),
    TEXT(welcome.integrator),
    U32(welcome.player),
    TOKEN(welcome.token),
    U64(welcome.tick),
    POSITIVE(welcome.dt),
    POSITIVE(welcome.pace_hz),
    POSITIVE(welcome.snapshot_hz),
    POSITIVE(welcome.format.position_step),
    POSITIVE(welcome.format.velocity_step),
    FLAG(welcome.format.rotates),
    U32_MOST(welcome.format.bodies_max, FOLIOT_BODIES_MAX),
    I32(welcome.format.acceleration[0], FOLIOT_SNAPSHOT_ACCELERATION_MAX),
    I32(welcome.format.acceleration[1], FOLIOT_SNAPSHOT_ACCELERATION_MAX),
    I32(welcome.format.acceleration[2], FOLIOT_SNAPSHOT_ACCELERATION_MAX),
    U32_MOST(welcome.format.damping, 1 << 16),
    FLAG(welcome.format.spins),
    U32(welcome.scene_bytes),
    DIGEST(welcome.fingerprint),
    FLAG(welcome.lockstep),
    U32(welcome.input_delay),
    FLAG(welcome.resumed),
    U32(welcome.orders),
    FLAG(welcome.watchable),
    U32_MOST(welcome.kind_reason, FOLIOT__KIND_IMPOSSIBLE),
    MEASURE(welcome.near),
    MEASURE(welcome.far),
};

static const field refuse_fields[] = {
    U32(refuse.reason),
    FLAG(refuse.again),
    TEXT(refuse.sentence),
};

static const field scene_part_fields[] = {
    U32(scene_part.offset),
    U32(scene_part.total),
    BYTES(scene_part.bytes, scene_part.length, FOLIOT__SCENE_PART_BYTES),
};

static const field player_fields[] = {
    U32(player.player),
    FLAG(player.joined),
    U32(player.slot),
    TEXT(player.name),
};

static const field bye_fields[] = {TEXT(bye.sentence)};

static const field keyframe_part_fields[] = {
    U64(keyframe_part.tick),
    U32_MOST(keyframe_part.players, FOLIOT_PLAYERS_MAX),
    U32(keyframe_part.offset),
    U32(keyframe_part.total),
    U32(keyframe_part.state_bytes),
    BYTES(keyframe_part.bytes, keyframe_part.length, FOLIOT__SCENE_PART_BYTES),
};

static const field ticks_part_fields[] = {
    U64(ticks_part.first),
    U32(ticks_part.ticks),
    BYTES(ticks_part.block, ticks_part.length, FOLIOT__SCENE_PART_BYTES),
    BYTES(ticks_part.commands, ticks_part.commands_length, FOLIOT__COMMAND_RUNS_BYTES),
};

static const field keyframe_acknowledge_fields[] = {
    U64(keyframe_acknowledge.tick),
    U32(keyframe_acknowledge.offset),
};

static const field question_fields[] = {
    U32(search.number),
    U64(search.first),
    BYTES(search.bytes, search.length, FOLIOT__SEARCH_BYTES_MAX),
};

static const field answer_fields[] = {
    U32(search.number),
    BYTES(search.bytes, search.length, FOLIOT__SEARCH_BYTES_MAX),
};

static const field diverged_fields[] = {
    U64(diverged.tick),        U64(diverged.index),
    U64(diverged.expected),    U64(diverged.actual),
    U64(diverged.ulps),        U32(diverged.part),
    U32(diverged.field),       U32_MOST(diverged.type, FOLIOT_VALUE_F64),
    U32(diverged.body),        TEXT(diverged.stage),
    TEXT(diverged.group),      TEXT(diverged.field_name),
    FLAG(diverged.part_known), FLAG(diverged.field_known),
};

static const field order_fields[] = {
    U32(order.sequence),
    U32_MOST(order.kind, FOLIOT_ORDER_CHAT),
    BYTES(order.bytes, order.length, FOLIOT_ORDER_BYTES_MAX),
    U64(order.shown),
};

static const field order_acknowledge_fields[] = {U32(order_acknowledge.sequence)};

static const field message_fields[] = {
    U64(message.tick),
    U32_MOST(message.from, FOLIOT__FROM_PLAYER),
    U32(message.player),
    BYTES(message.bytes, message.length, FOLIOT_MESSAGE_BYTES_MAX),
};

static const field update_fields[] = {
    U64(update.tick),
    FLAG(update.full),
    BYTES(update.bytes, update.length, FOLIOT__UPDATE_BYTES_MAX),
};

static const field commands_fields[] = {
    U64(commands.tick),
    U32(commands.offset),
    U32_MOST(commands.total, FOLIOT__TICK_COMMANDS_BYTES_MAX),
    BYTES(commands.bytes, commands.length, FOLIOT__SCENE_PART_BYTES),
};

static const field kind_fields[] = {
    U32_MOST(kind.kind, FOLIOT__KIND_STEPPER),
    U64(kind.tick),
    U32(kind.sequence),
    U32_MOST(kind.reason, FOLIOT__KIND_IMPOSSIBLE),
};

typedef struct layout {
    const field *fields;
    uint32_t count;
} layout;

#define LAYOUT(fields)                                                                             \
    {                                                                                              \
        fields, sizeof fields / sizeof *fields                                                     \
    }
static const layout layouts[] = {
    [FOLIOT__HELLO_MESSAGE] = LAYOUT(hello_fields),
    [FOLIOT__WELCOME] = LAYOUT(welcome_fields),
    [FOLIOT__REFUSE] = LAYOUT(refuse_fields),
    [FOLIOT__SCENE_PART] = LAYOUT(scene_part_fields),
    [FOLIOT__PLAYER] = LAYOUT(player_fields),
    [FOLIOT__BYE] = LAYOUT(bye_fields),
    [FOLIOT__KEYFRAME_PART] = LAYOUT(keyframe_part_fields),
    [FOLIOT__TICKS_PART] = LAYOUT(ticks_part_fields),
    [FOLIOT__KEYFRAME_ACKNOWLEDGE] = LAYOUT(keyframe_acknowledge_fields),
    [FOLIOT__SEARCH_REQUEST] = LAYOUT(question_fields),
    [FOLIOT__SEARCH_RESPONSE] = LAYOUT(answer_fields),
    [FOLIOT__DIVERGED] = LAYOUT(diverged_fields),
    [FOLIOT__ORDER] = LAYOUT(order_fields),
    [FOLIOT__ORDER_ACKNOWLEDGE] = LAYOUT(order_acknowledge_fields),
    [FOLIOT__MESSAGE] = LAYOUT(message_fields),
    [FOLIOT__UPDATE] = LAYOUT(update_fields),
    [FOLIOT__COMMANDS] = LAYOUT(commands_fields),
    [FOLIOT__KIND] = LAYOUT(kind_fields),
};
#define LAYOUT_COUNT (sizeof layouts / sizeof *layouts)

// -- packing

static void pack_field(foliot__buffer *out, const field *f, const foliot__message *message)
{
    const void *at = (const char *)message + f->at, *beside = (const char *)message + f->beside;
    switch (f->type) {
    case FIELD_U32:
    case FIELD_I32:
        foliot__pack_uint(out, *(const uint32_t *)at);
        break;
    case FIELD_U64:
        foliot__pack_uint(out, *(const uint64_t *)at);
        break;
    case FIELD_POSITIVE:
    case FIELD_MEASURE:
        foliot__pack_f64(out, *(const double *)at);
        break;
    case FIELD_FLAG:
        foliot__pack_uint(out, *(const bool *)at);
        break;
    case FIELD_TEXT:
    case FIELD_NAME:
        foliot__pack_str(out, at);
        break;
    case FIELD_BYTES:
        foliot__pack_bin(out, *(const uint8_t *const *)at, *(const uint32_t *)beside);
        break;
    case FIELD_TOKEN:
        foliot__pack_bin(out, at, sizeof(foliot__token));
        break;
    case FIELD_DIGEST: {
        const foliot_digest *digest = at;
        uint8_t digits[16];
        foliot__writer w = foliot__writer_of(digits, sizeof digits);
        foliot__write_u64(&w, digest->low);
        foliot__write_u64(&w, digest->high);
        foliot__pack_bin(out, digits, sizeof digits);
        break;
    }
    }
}

foliot_status foliot__message_encode(const foliot__message *message, uint8_t *bytes,
                                     size_t capacity, size_t *length)
{
    foliot__buffer out = {.bytes = bytes, .capacity = capacity, .fixed = true};
    FOLIOT_ASSERT(message->kind < LAYOUT_COUNT && layouts[message->kind].count > 0);
    const layout *l = &layouts[message->kind];
    foliot__pack_array(&out, l->count + 1);
    foliot__pack_uint(&out, message->kind);
    for (uint32_t i = 0; i < l->count; i++)
        pack_field(&out, &l->fields[i], message);
    *length = out.length;
    return out.failed ? FOLIOT_STATUS_FULL : FOLIOT_STATUS_OK;
}

// -- unpacking

static uint64_t unpack_at_most(foliot__reader *r, uint64_t most)
{
    uint64_t value = foliot__unpack_uint(r);
    if (value > most)
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    return value;
}

// Printable UTF-8 passes; control characters (C1 too: two bytes in UTF-8) and invalid UTF-8 become
// '?', byte by byte. A text that is too long is corrupt.
static void unpack_text(foliot__reader *r, char *text, size_t capacity)
{
    uint32_t length = 0;
    const char *from = foliot__unpack_str(r, &length);
    text[0] = 0;
    if (!from || length >= capacity) {
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
        return;
    }
    memcpy(text, from, length);
    text[length] = 0;
    for (size_t i = 0, bytes; i < length; i += bytes) {
        uint32_t c = 0;
        bytes = foliot__utf8_decode(text + i, &c);
        bool shown = bytes > 0 && foliot__printable(c);
        bytes = bytes ? bytes : 1;
        if (!shown)
            memset(text + i, '?', bytes);
    }
}

// Exactly `count` bytes, or NULL.
static const uint8_t *unpack_exactly(foliot__reader *r, uint32_t count)
{
    uint32_t length = 0;
    const uint8_t *bytes = foliot__unpack_bin(r, &length);
    if (bytes && length == count)
        return bytes;
    foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    return NULL;
}

static void unpack_field(foliot__reader *r, const field *f, foliot__message *message)
{
    void *at = (char *)message + f->at, *beside = (char *)message + f->beside;
    switch (f->type) {
    case FIELD_U32:
        *(uint32_t *)at = (uint32_t)unpack_at_most(r, f->most);
        break;
    case FIELD_U64:
        *(uint64_t *)at = foliot__unpack_uint(r);
        break;
    case FIELD_I32: {
        int32_t value = (int32_t)unpack_at_most(r, UINT32_MAX);
        if (value > (int64_t)f->most || value < -(int64_t)f->most)
            foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
        *(int32_t *)at = value;
        break;
    }
    case FIELD_POSITIVE:
    case FIELD_MEASURE: {
        double value = foliot__unpack_f64(r);
        bool good = f->type == FIELD_POSITIVE ? value > 0 : value >= 0;
        if (!good || !(value < 1e300))
            foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
        *(double *)at = value;
        break;
    }
    case FIELD_FLAG:
        *(bool *)at = unpack_at_most(r, 1) == 1;
        break;
    case FIELD_TEXT:
        unpack_text(r, at, f->most);
        break;
    case FIELD_NAME: {
        // A name that is too long is left out and reported, so that its sender is refused with a
        // reason.
        foliot__reader before = *r;
        uint32_t length = 0;
        bool too_long = foliot__unpack_str(r, &length) && length >= f->most;
        *(bool *)beside = too_long;
        if (!too_long) {
            *r = before;
            unpack_text(r, at, f->most);
        }
        break;
    }
    case FIELD_BYTES:
        *(const uint8_t **)at = foliot__unpack_bin(r, beside);
        if (*(const uint32_t *)beside > f->most)
            foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
        break;
    case FIELD_TOKEN: {
        const uint8_t *bytes = unpack_exactly(r, sizeof(foliot__token));
        if (bytes)
            memcpy(at, bytes, sizeof(foliot__token));
        break;
    }
    case FIELD_DIGEST: {
        foliot_digest *digest = at;
        const uint8_t *bytes = unpack_exactly(r, 16);
        if (!bytes)
            break;
        foliot__reader inner = foliot__reader_of(bytes, 16);
        digest->low = foliot__read_u64(&inner);
        digest->high = foliot__read_u64(&inner);
        break;
    }
    }
}

foliot_status foliot__message_decode(const uint8_t *bytes, size_t length, foliot__message *message)
{
    foliot__reader r = foliot__reader_of(bytes, length);
    memset(message, 0, sizeof *message);
    uint32_t fields = foliot__unpack_array(&r);
    message->kind = (foliot__message_kind)unpack_at_most(&r, UINT32_MAX);
    const layout *l = message->kind < LAYOUT_COUNT ? &layouts[message->kind] : &layouts[0];
    if (l->count == 0)
        foliot__reader_fail(&r, FOLIOT_STATUS_CORRUPT);
    uint32_t expected = l->count + 1; // the kind is one
    for (uint32_t i = 0; i + 1 < expected; i++) {
        unpack_field(&r, &l->fields[i], message);
        // The fields of another protocol's hello are not known.
        if (i == 0 && message->kind == FOLIOT__HELLO_MESSAGE &&
            message->as.hello.protocol != FOLIOT_PROTOCOL)
            expected = 2;
    }
    // A newer peer may send more fields; fewer are an error, and so are bytes after the array.
    for (uint32_t i = expected; i < fields && r.status == FOLIOT_STATUS_OK; i++)
        foliot__unpack_skip(&r);
    if (r.status == FOLIOT_STATUS_OK && (fields < expected || r.at != length))
        r.status = FOLIOT_STATUS_CORRUPT;
    return r.status;
}

bool foliot__message_is_hello(const uint8_t *bytes, size_t length)
{
    foliot__reader r = foliot__reader_of(bytes, length);
    uint32_t fields = foliot__unpack_array(&r);
    return fields > 0 && foliot__unpack_uint(&r) == FOLIOT__HELLO_MESSAGE &&
           r.status == FOLIOT_STATUS_OK;
}

// -- packets in own formats

#define ACKNOWLEDGES 0x80 // added to the count of changes: there is a newest snapshot

size_t foliot__input_packet_encode(const foliot__input_packet *packet,
                                   uint8_t bytes[FOLIOT_SNAPSHOT_PIECE_BYTES])
{
    foliot__writer w = foliot__writer_of(bytes, FOLIOT_SNAPSHOT_PIECE_BYTES);
    foliot__write_u8(&w, FOLIOT__INPUT_PACKET);
    bool acknowledges = packet->newest_snapshot != FOLIOT__NO_TICK;
    foliot__write_u32(&w, acknowledges ? (uint32_t)packet->newest_snapshot : 0);
    foliot__write_u32(&w, (uint32_t)packet->tick);
    foliot__write_u16(&w, packet->shown);
    foliot__write_u32(&w, packet->sent_us);
    foliot__write_u8(&w, (uint8_t)(packet->count | (acknowledges ? ACKNOWLEDGES : 0)));
    if (packet->count)
        foliot__write_u32(&w, packet->changes[0].sequence);
    for (uint32_t i = 0; i < packet->count; i++) {
        const foliot__change *c = &packet->changes[i];
        // A change may be for a later tick than the packet if the clock was set back in between: it
        // is due now.
        uint64_t age = c->tick < packet->tick ? packet->tick - c->tick : 0;
        foliot__write_u16(&w, (uint16_t)(age < UINT16_MAX ? age : UINT16_MAX));
        foliot__write_bytes(&w, c->axes, sizeof c->axes);
        foliot__write_u16(&w, c->buttons);
        foliot__write_u16(&w, c->shown);
    }
    return w.at;
}

foliot_status foliot__input_packet_decode(const uint8_t *bytes, size_t length, uint64_t near,
                                          foliot__input_packet *packet)
{
    foliot__reader r = foliot__reader_of(bytes, length);
    if (foliot__read_u8(&r) != FOLIOT__INPUT_PACKET)
        foliot__reader_fail(&r, FOLIOT_STATUS_CORRUPT);
    packet->newest_snapshot = foliot__tick_near(foliot__read_u32(&r), near);
    packet->tick = foliot__tick_near(foliot__read_u32(&r), near);
    packet->shown = foliot__read_u16(&r);
    packet->sent_us = foliot__read_u32(&r);
    packet->count = foliot__read_u8(&r);
    if (!(packet->count & ACKNOWLEDGES)) {
        if (packet->newest_snapshot != foliot__tick_near(0, near))
            foliot__reader_fail(&r, FOLIOT_STATUS_CORRUPT);
        packet->newest_snapshot = FOLIOT__NO_TICK;
    }
    packet->count &= ACKNOWLEDGES - 1;
    if (packet->count > FOLIOT__INPUTS_A_PACKET)
        foliot__reader_fail(&r, FOLIOT_STATUS_CORRUPT);
    uint32_t sequence = packet->count ? foliot__read_u32(&r) : 0;
    for (uint32_t i = 0; r.status == FOLIOT_STATUS_OK && i < packet->count; i++) {
        foliot__change *c = &packet->changes[i];
        c->sequence = sequence + i;
        uint32_t age = foliot__read_u16(&r);
        if (age > packet->tick)
            foliot__reader_fail(&r, FOLIOT_STATUS_CORRUPT);
        c->tick = packet->tick - age;
        const uint8_t *axes = foliot__read_bytes(&r, sizeof c->axes);
        if (axes)
            memcpy(c->axes, axes, sizeof c->axes);
        c->buttons = foliot__read_u16(&r);
        c->shown = foliot__read_u16(&r);
    }
    if (r.status == FOLIOT_STATUS_OK && r.at != length)
        r.status = FOLIOT_STATUS_CORRUPT;
    return r.status;
}

void foliot__status_packet_encode(const foliot__status_packet *packet,
                                  uint8_t bytes[FOLIOT__STATUS_PACKET_BYTES])
{
    foliot__writer w = foliot__writer_of(bytes, FOLIOT__STATUS_PACKET_BYTES);
    foliot__write_u8(&w, FOLIOT__STATUS_PACKET);
    foliot__write_u32(&w, packet->sent);
    foliot__write_u32(&w, packet->tick);
    foliot__write_u32(&w, packet->sequence);
    foliot__write_u32(&w, (uint32_t)packet->slack_us);
    foliot__write_u32(&w, packet->late_changes);
    foliot__write_u32(&w, packet->echo_us);
    foliot__write_u32(&w, packet->held_us);
}

foliot_status foliot__status_packet_decode(const uint8_t *bytes, size_t length,
                                           foliot__status_packet *packet)
{
    foliot__reader r = foliot__reader_of(bytes, length);
    if (foliot__read_u8(&r) != FOLIOT__STATUS_PACKET || length != FOLIOT__STATUS_PACKET_BYTES)
        foliot__reader_fail(&r, FOLIOT_STATUS_CORRUPT);
    packet->sent = foliot__read_u32(&r);
    packet->tick = foliot__read_u32(&r);
    packet->sequence = foliot__read_u32(&r);
    packet->slack_us = (int32_t)foliot__read_u32(&r);
    packet->late_changes = foliot__read_u32(&r);
    packet->echo_us = foliot__read_u32(&r);
    packet->held_us = foliot__read_u32(&r);
    return r.status;
}
