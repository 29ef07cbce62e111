// SPDX-License-Identifier: MIT
// message.c: messages to bytes and back. Packed by msgpack-c, read by our own cursor: msgpack-c's
// unpacker would allocate what a hostile header claims.
#include "wire/message.h"

#include <msgpack.h>

#include <string.h>

#include "base/bytes.h"
#include "base/text.h"
#include "base/unpack.h"

enum { HELLO_FIELDS = 11, WELCOME_FIELDS = 25 };

// -- packing

static int pack_write(void *user, const char *bytes, size_t count)
{
    foliot__write_bytes(user, bytes, count);
    return 0;
}

static void pack_text(msgpack_packer *p, const char *text)
{
    size_t length = strlen(text);
    msgpack_pack_str(p, length);
    msgpack_pack_str_body(p, text, length);
}

static void pack_bin(msgpack_packer *p, const void *bytes, size_t length)
{
    msgpack_pack_bin(p, length);
    msgpack_pack_bin_body(p, bytes, length);
}

static void pack_digest(msgpack_packer *p, foliot_digest digest)
{
    uint8_t bytes[16];
    foliot__writer w = foliot__writer_of(bytes, sizeof bytes);
    foliot__write_u64(&w, digest.low);
    foliot__write_u64(&w, digest.high);
    pack_bin(p, bytes, sizeof bytes);
}

static void pack_flag(msgpack_packer *p, bool flag)
{
    msgpack_pack_uint8(p, flag);
}

static void pack_hello(msgpack_packer *p, const foliot__hello_message *m)
{
    msgpack_pack_array(p, HELLO_FIELDS);
    msgpack_pack_uint8(p, FOLIOT__HELLO_MESSAGE);
    msgpack_pack_uint32(p, m->protocol);
    pack_text(p, m->session);
    pack_text(p, m->name);
    pack_flag(p, m->spectates);
    pack_bin(p, m->token.bytes, sizeof m->token.bytes);
    pack_digest(p, m->fingerprint);
    pack_text(p, m->build);
    pack_flag(p, m->forces);
    pack_text(p, m->simulation);
    msgpack_pack_uint32(p, m->rules);
}

static void pack_welcome(msgpack_packer *p, const foliot__welcome *m)
{
    msgpack_pack_array(p, WELCOME_FIELDS);
    msgpack_pack_uint8(p, FOLIOT__WELCOME);
    msgpack_pack_uint32(p, m->protocol);
    pack_text(p, m->session);
    pack_text(p, m->scene);
    pack_text(p, m->integrator);
    msgpack_pack_uint32(p, m->player);
    pack_bin(p, m->token.bytes, sizeof m->token.bytes);
    msgpack_pack_uint64(p, m->tick);
    msgpack_pack_double(p, m->dt);
    msgpack_pack_double(p, m->pace_hz);
    msgpack_pack_double(p, m->snapshot_hz);
    msgpack_pack_double(p, m->format.position_step);
    msgpack_pack_double(p, m->format.velocity_step);
    pack_flag(p, m->format.rotates);
    msgpack_pack_uint32(p, m->format.bodies_max);
    for (int k = 0; k < 3; k++)
        msgpack_pack_uint32(p, (uint32_t)m->format.acceleration[k]);
    msgpack_pack_uint32(p, m->format.damping);
    pack_flag(p, m->format.spins);
    msgpack_pack_uint32(p, m->scene_bytes);
    pack_digest(p, m->fingerprint);
    pack_flag(p, m->lockstep);
    msgpack_pack_uint32(p, m->input_delay);
    pack_flag(p, m->resumed);
}

static void pack_diverged(msgpack_packer *p, const foliot__diverged *m)
{
    const uint64_t numbers[] = {m->tick, m->index, m->expected, m->actual, m->ulps};
    for (int i = 0; i < 5; i++)
        msgpack_pack_uint64(p, numbers[i]);
    const uint32_t small[] = {m->part, m->field, m->type, m->body};
    for (int i = 0; i < 4; i++)
        msgpack_pack_uint32(p, small[i]);
    pack_text(p, m->stage);
    pack_text(p, m->group);
    pack_text(p, m->field_name);
    pack_flag(p, m->part_known);
    pack_flag(p, m->field_known);
}

static uint32_t lockstep_fields(foliot__message_kind kind)
{
    static const uint32_t fields[] = {
        [FOLIOT__KEYFRAME_PART] = 6, [FOLIOT__TICKS_PART] = 4, [FOLIOT__KEYFRAME_HEARD] = 3,
        [FOLIOT__QUESTION] = 4,      [FOLIOT__ANSWER] = 3,     [FOLIOT__DIVERGED] = 15,
    };
    return fields[kind];
}

static void pack_lockstep(msgpack_packer *p, const foliot__message *message)
{
    const foliot__keyframe_part *k = &message->as.keyframe_part;
    const foliot__ticks_part *t = &message->as.ticks_part;
    const foliot__search_message *s = &message->as.search;
    msgpack_pack_array(p, lockstep_fields(message->kind));
    msgpack_pack_uint8(p, (uint8_t)message->kind);
    if (message->kind == FOLIOT__KEYFRAME_PART) {
        msgpack_pack_uint64(p, k->tick);
        msgpack_pack_uint32(p, k->players);
        msgpack_pack_uint32(p, k->offset);
        msgpack_pack_uint32(p, k->total);
        pack_bin(p, k->bytes, k->length);
    } else if (message->kind == FOLIOT__TICKS_PART) {
        msgpack_pack_uint64(p, t->first);
        msgpack_pack_uint32(p, t->ticks);
        pack_bin(p, t->block, t->length);
    } else if (message->kind == FOLIOT__KEYFRAME_HEARD) {
        msgpack_pack_uint64(p, message->as.keyframe_heard.tick);
        msgpack_pack_uint32(p, message->as.keyframe_heard.offset);
    } else if (message->kind == FOLIOT__DIVERGED) {
        pack_diverged(p, &message->as.diverged);
    } else {
        msgpack_pack_uint32(p, s->number);
        if (message->kind == FOLIOT__QUESTION)
            msgpack_pack_uint64(p, s->first);
        pack_bin(p, s->bytes, s->length);
    }
}

static void pack_message(msgpack_packer *p, const foliot__message *message)
{
    switch (message->kind) {
    case FOLIOT__HELLO_MESSAGE:
        pack_hello(p, &message->as.hello);
        break;
    case FOLIOT__WELCOME:
        pack_welcome(p, &message->as.welcome);
        break;
    case FOLIOT__REFUSE:
        msgpack_pack_array(p, 4);
        msgpack_pack_uint8(p, FOLIOT__REFUSE);
        msgpack_pack_uint32(p, message->as.refuse.reason);
        pack_flag(p, message->as.refuse.again);
        pack_text(p, message->as.refuse.sentence);
        break;
    case FOLIOT__SCENE_PART:
        msgpack_pack_array(p, 4);
        msgpack_pack_uint8(p, FOLIOT__SCENE_PART);
        msgpack_pack_uint32(p, message->as.scene_part.offset);
        msgpack_pack_uint32(p, message->as.scene_part.total);
        pack_bin(p, message->as.scene_part.bytes, message->as.scene_part.length);
        break;
    case FOLIOT__PLAYER:
        msgpack_pack_array(p, 5);
        msgpack_pack_uint8(p, FOLIOT__PLAYER);
        msgpack_pack_uint32(p, message->as.player.player);
        pack_flag(p, message->as.player.joined);
        msgpack_pack_uint32(p, message->as.player.slot);
        pack_text(p, message->as.player.name);
        break;
    case FOLIOT__BYE:
        msgpack_pack_array(p, 2);
        msgpack_pack_uint8(p, FOLIOT__BYE);
        pack_text(p, message->as.bye.sentence);
        break;
    case FOLIOT__KEYFRAME_PART:
    case FOLIOT__TICKS_PART:
    case FOLIOT__KEYFRAME_HEARD:
    case FOLIOT__QUESTION:
    case FOLIOT__ANSWER:
    case FOLIOT__DIVERGED:
        pack_lockstep(p, message);
        break;
    default:
        break;
    }
}

foliot_status foliot__message_encode(const foliot__message *message, uint8_t *bytes,
                                     size_t capacity, size_t *length)
{
    foliot__writer w = foliot__writer_of(bytes, capacity);
    msgpack_packer p;
    msgpack_packer_init(&p, &w, pack_write);
    pack_message(&p, message);
    *length = w.at;
    return w.status;
}

// -- unpacking

static uint32_t take_u32(foliot__reader *r)
{
    uint64_t value = foliot__unpack_uint(r);
    if (value > UINT32_MAX)
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    return (uint32_t)value;
}

static bool take_flag(foliot__reader *r)
{
    uint64_t value = foliot__unpack_uint(r);
    if (value > 1)
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    return value == 1;
}

// Printable UTF-8 passes; control characters (C1 too: two bytes in UTF-8) and what is no UTF-8
// become '?', byte by byte. Too long is corrupt.
static void take_text(foliot__reader *r, char *text, size_t capacity)
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

static foliot_digest take_digest(foliot__reader *r)
{
    uint32_t length = 0;
    const uint8_t *bytes = foliot__unpack_bin(r, &length);
    if (!bytes || length != 16) {
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
        return (foliot_digest){0, 0};
    }
    foliot__reader inner = foliot__reader_of(bytes, length);
    uint64_t low = foliot__read_u64(&inner);
    return (foliot_digest){low, foliot__read_u64(&inner)};
}

static foliot__token take_token(foliot__reader *r)
{
    foliot__token token = {{0}};
    uint32_t length = 0;
    const uint8_t *bytes = foliot__unpack_bin(r, &length);
    if (bytes && length == sizeof token.bytes)
        memcpy(token.bytes, bytes, length);
    else
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    return token;
}

static double take_positive(foliot__reader *r)
{
    double value = foliot__unpack_f64(r);
    if (!(value > 0 && value < 1e300))
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    return value;
}

// A name beyond its room is none, but is told of: whoever sent it is refused with a sentence.
static void take_name(foliot__reader *r, char *name, size_t capacity, bool *too_long)
{
    foliot__reader before = *r;
    uint32_t length = 0;
    *too_long = foliot__unpack_str(r, &length) && length >= capacity;
    if (*too_long)
        return;
    *r = before;
    take_text(r, name, capacity);
}

// Of another protocol nothing but its number is known. How many fields were read.
static uint32_t take_hello(foliot__reader *r, foliot__hello_message *m)
{
    m->protocol = take_u32(r);
    if (m->protocol != FOLIOT_PROTOCOL)
        return 2;
    take_text(r, m->session, sizeof m->session);
    take_name(r, m->name, sizeof m->name, &m->name_too_long);
    m->spectates = take_flag(r);
    m->token = take_token(r);
    m->fingerprint = take_digest(r);
    take_text(r, m->build, sizeof m->build);
    m->forces = take_flag(r);
    take_text(r, m->simulation, sizeof m->simulation);
    m->rules = take_u32(r);
    return HELLO_FIELDS;
}

static void take_welcome(foliot__reader *r, foliot__welcome *m)
{
    m->protocol = take_u32(r);
    take_text(r, m->session, sizeof m->session);
    take_text(r, m->scene, sizeof m->scene);
    take_text(r, m->integrator, sizeof m->integrator);
    m->player = take_u32(r);
    m->token = take_token(r);
    m->tick = foliot__unpack_uint(r);
    m->dt = take_positive(r);
    m->pace_hz = take_positive(r);
    m->snapshot_hz = take_positive(r);
    m->format.position_step = take_positive(r);
    m->format.velocity_step = take_positive(r);
    m->format.rotates = take_flag(r);
    m->format.bodies_max = take_u32(r);
    for (int k = 0; k < 3; k++) {
        m->format.acceleration[k] = (int32_t)take_u32(r);
        if (m->format.acceleration[k] > FOLIOT_SNAPSHOT_ACCELERATION_MAX || m->format.acceleration[k] < -FOLIOT_SNAPSHOT_ACCELERATION_MAX)
            foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    }
    m->format.damping = take_u32(r);
    m->format.spins = take_flag(r);
    m->scene_bytes = take_u32(r);
    m->fingerprint = take_digest(r);
    m->lockstep = take_flag(r);
    m->input_delay = take_u32(r);
    m->resumed = take_flag(r);
    if (m->format.bodies_max > FOLIOT_BODIES_MAX || m->format.damping > 1 << 16)
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
}

static const uint8_t *take_bytes(foliot__reader *r, uint32_t *length, uint32_t most)
{
    const uint8_t *bytes = foliot__unpack_bin(r, length);
    if (*length > most)
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    return bytes;
}

static uint32_t take_keyframe_part(foliot__reader *r, foliot__keyframe_part *m)
{
    m->tick = foliot__unpack_uint(r);
    m->players = take_u32(r);
    m->offset = take_u32(r);
    m->total = take_u32(r);
    m->bytes = take_bytes(r, &m->length, FOLIOT__SCENE_PART_BYTES);
    if (m->players > FOLIOT_PLAYERS_MAX)
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    return 6;
}

static void take_diverged(foliot__reader *r, foliot__diverged *m)
{
    uint64_t *const numbers[] = {&m->tick, &m->index, &m->expected, &m->actual, &m->ulps};
    for (int i = 0; i < 5; i++)
        *numbers[i] = foliot__unpack_uint(r);
    uint32_t *const small[] = {&m->part, &m->field, &m->type, &m->body};
    for (int i = 0; i < 4; i++)
        *small[i] = take_u32(r);
    take_text(r, m->stage, sizeof m->stage);
    take_text(r, m->group, sizeof m->group);
    take_text(r, m->field_name, sizeof m->field_name);
    m->part_known = take_flag(r);
    m->field_known = take_flag(r);
    if (m->type > FOLIOT_VALUE_F64)
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
}

static uint32_t take_lockstep(foliot__reader *r, foliot__message *m)
{
    switch (m->kind) {
    case FOLIOT__KEYFRAME_PART:
        return take_keyframe_part(r, &m->as.keyframe_part);
    case FOLIOT__TICKS_PART:
        m->as.ticks_part.first = foliot__unpack_uint(r);
        m->as.ticks_part.ticks = take_u32(r);
        m->as.ticks_part.block = take_bytes(r, &m->as.ticks_part.length, FOLIOT__SCENE_PART_BYTES);
        return 4;
    case FOLIOT__KEYFRAME_HEARD:
        m->as.keyframe_heard.tick = foliot__unpack_uint(r);
        m->as.keyframe_heard.offset = take_u32(r);
        return 3;
    case FOLIOT__QUESTION:
    case FOLIOT__ANSWER:
        m->as.search.number = take_u32(r);
        if (m->kind == FOLIOT__QUESTION)
            m->as.search.first = foliot__unpack_uint(r);
        m->as.search.bytes = take_bytes(r, &m->as.search.length, FOLIOT__SEARCH_BYTES_MAX);
        return lockstep_fields(m->kind);
    case FOLIOT__DIVERGED:
        take_diverged(r, &m->as.diverged);
        return lockstep_fields(m->kind);
    default:
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
        return 0;
    }
}

static uint32_t take_fields(foliot__reader *r, foliot__message *m)
{
    switch (m->kind) {
    case FOLIOT__HELLO_MESSAGE:
        return take_hello(r, &m->as.hello);
    case FOLIOT__WELCOME:
        take_welcome(r, &m->as.welcome);
        return WELCOME_FIELDS;
    case FOLIOT__REFUSE:
        m->as.refuse.reason = take_u32(r);
        m->as.refuse.again = take_flag(r);
        take_text(r, m->as.refuse.sentence, sizeof m->as.refuse.sentence);
        return 4;
    case FOLIOT__SCENE_PART:
        m->as.scene_part.offset = take_u32(r);
        m->as.scene_part.total = take_u32(r);
        m->as.scene_part.bytes = take_bytes(r, &m->as.scene_part.length, FOLIOT__SCENE_PART_BYTES);
        return 4;
    case FOLIOT__PLAYER:
        m->as.player.player = take_u32(r);
        m->as.player.joined = take_flag(r);
        m->as.player.slot = take_u32(r);
        take_text(r, m->as.player.name, sizeof m->as.player.name);
        return 5;
    case FOLIOT__BYE:
        take_text(r, m->as.bye.sentence, sizeof m->as.bye.sentence);
        return 2;
    default:
        return take_lockstep(r, m);
    }
}

foliot_status foliot__message_decode(const uint8_t *bytes, size_t length, foliot__message *message)
{
    foliot__reader r = foliot__reader_of(bytes, length);
    memset(message, 0, sizeof *message);
    uint32_t fields = foliot__unpack_array(&r);
    message->kind = (foliot__message_kind)take_u32(&r);
    uint32_t expected = take_fields(&r, message);
    // A newer peer may send more fields; fewer are an error, and so is anything behind the array.
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
    return fields > 0 && foliot__unpack_uint(&r) == FOLIOT__HELLO_MESSAGE && r.status == FOLIOT_STATUS_OK;
}

// -- packets of our own

size_t foliot__input_packet_encode(const foliot__input_packet *packet,
                                   uint8_t bytes[FOLIOT_SNAPSHOT_PIECE_BYTES])
{
    foliot__writer w = foliot__writer_of(bytes, FOLIOT_SNAPSHOT_PIECE_BYTES);
    foliot__write_u8(&w, FOLIOT__INPUT_PACKET);
    foliot__write_u32(&w, packet->newest_snapshot);
    foliot__write_u32(&w, packet->tick);
    foliot__write_u32(&w, packet->sent_us);
    foliot__write_u8(&w, (uint8_t)packet->count);
    if (packet->count)
        foliot__write_u32(&w, packet->changes[0].sequence);
    for (uint32_t i = 0; i < packet->count; i++) {
        const foliot__change *c = &packet->changes[i];
        // A change may be meant for a later tick than the packet, where the clock was set back in
        // between: it is due now.
        uint32_t age = c->tick < packet->tick ? packet->tick - c->tick : 0;
        foliot__write_u16(&w, (uint16_t)(age < UINT16_MAX ? age : UINT16_MAX));
        foliot__write_bytes(&w, c->axes, sizeof c->axes);
        foliot__write_u16(&w, c->buttons);
    }
    return w.at;
}

foliot_status foliot__input_packet_decode(const uint8_t *bytes, size_t length,
                                          foliot__input_packet *packet)
{
    foliot__reader r = foliot__reader_of(bytes, length);
    if (foliot__read_u8(&r) != FOLIOT__INPUT_PACKET)
        foliot__reader_fail(&r, FOLIOT_STATUS_CORRUPT);
    packet->newest_snapshot = foliot__read_u32(&r);
    packet->tick = foliot__read_u32(&r);
    packet->sent_us = foliot__read_u32(&r);
    packet->count = foliot__read_u8(&r);
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
    packet->tick = foliot__read_u32(&r);
    packet->sequence = foliot__read_u32(&r);
    packet->slack_us = (int32_t)foliot__read_u32(&r);
    packet->late_changes = foliot__read_u32(&r);
    packet->echo_us = foliot__read_u32(&r);
    packet->held_us = foliot__read_u32(&r);
    return r.status;
}
