// SPDX-License-Identifier: MIT
// test_message.c: what is packed is unpacked; a message cut at any byte, of another type, or beyond
// a limit is refused; no control character of a peer's reaches a terminal.
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "wire/message.h"

static uint8_t bytes[FOLIOT__CONTROL_BYTES_MAX];

static const foliot__hello_message sample_hello = {.protocol = FOLIOT_PROTOCOL,
                                                   .session = "arena",
                                                   .name = "Ada",
                                                   .spectates = true,
                                                   .token = {"0123456789abcde"},
                                                   .fingerprint = {7, UINT64_MAX},
                                                   .build = "gcc",
                                                   .force_stepping = true,
                                                   .simulation = "foliot.world",
                                                   .rules = 2,
                                                   .kind = FOLIOT__KIND_STEPPER};
static const foliot__welcome sample_welcome = {
    .protocol = FOLIOT_PROTOCOL,
    .session = "arena",
    .scene = "cubes",
    .integrator = "verlet",
    .player = 3,
    .token = {{255, 0, 1, [15] = 128}},
    .tick = 1u << 30,
    .dt = 1.0 / 60,
    .pace_hz = 60,
    .snapshot_hz = 20,
    .format = {0x1p-9, 0x1p-11, {0, 5, -357}, 64881, true, false, 1000},
    .scene_bytes = 12345,
    .fingerprint = {1, 2},
    .lockstep = true,
    .input_delay = 3,
    .resumed = true,
    .watchable = true,
    .kind_reason = FOLIOT__KIND_FINGERPRINT,
    .near = 5,
    .far = 35};
static const foliot__diverged sample_diverged = {.tick = 900,
                                                 .index = 3,
                                                 .expected = UINT64_MAX,
                                                 .actual = 1,
                                                 .ulps = 2,
                                                 .part = 3,
                                                 .field = 4,
                                                 .type = FOLIOT_VALUE_F64,
                                                 .body = 3,
                                                 .stage = "solve",
                                                 .group = "body",
                                                 .field_name = "velocity.x",
                                                 .part_known = true};

static foliot__message sample(foliot__message_kind kind)
{
    static const uint8_t part[] = {1, 2, 3, 0, 255};
    foliot__message m;
    memset(&m, 0, sizeof m);
    m.kind = kind;
    switch (kind) {
    case FOLIOT__HELLO_MESSAGE:
        m.as.hello = sample_hello;
        break;
    case FOLIOT__WELCOME:
        m.as.welcome = sample_welcome;
        break;
    case FOLIOT__REFUSE:
        m.as.refuse = (foliot__refuse){FOLIOT__REFUSE_FULL, true, "the session is full"};
        break;
    case FOLIOT__SCENE_PART:
        m.as.scene_part = (foliot__scene_part){8192, 70000, part, sizeof part};
        break;
    case FOLIOT__PLAYER:
        m.as.player = (foliot__player_message){4, true, 77, "Zo\xc3\xab"};
        break;
    case FOLIOT__KEYFRAME_PART:
        m.as.keyframe_part =
            (foliot__keyframe_part){(uint64_t)1 << 40, 4, 8192, 70000, part, sizeof part, 300000};
        break;
    case FOLIOT__TICKS_PART:
        m.as.ticks_part = (foliot__ticks_part){(uint64_t)1 << 33, 90, part, sizeof part, part, 3};
        break;
    case FOLIOT__KEYFRAME_ACKNOWLEDGE:
        m.as.keyframe_acknowledge = (foliot__keyframe_acknowledge){(uint64_t)1 << 40, 65536};
        break;
    case FOLIOT__SEARCH_REQUEST:
        m.as.search.first = (uint64_t)1 << 35;
        // fall through
    case FOLIOT__SEARCH_RESPONSE:
        m.as.search.number = 7;
        m.as.search.bytes = part;
        m.as.search.length = sizeof part;
        break;
    case FOLIOT__DIVERGED:
        m.as.diverged = sample_diverged;
        break;
    case FOLIOT__ORDER:
        m.as.order = (foliot__order_message){77, FOLIOT_ORDER_CHAT, part, 5, (uint64_t)1 << 50};
        break;
    case FOLIOT__ORDER_ACKNOWLEDGE:
        m.as.order_acknowledge.sequence = 78;
        break;
    case FOLIOT__MESSAGE:
        m.as.message = (foliot__game_message){(uint64_t)1 << 40, FOLIOT__FROM_PLAYER, 3, part, 5};
        break;
    case FOLIOT__UPDATE:
        m.as.update = (foliot__update){(uint64_t)1 << 40, true, part, sizeof part};
        break;
    case FOLIOT__COMMANDS:
        m.as.commands = (foliot__commands_part){(uint64_t)1 << 40, 8192, 70000, part, sizeof part};
        break;
    case FOLIOT__KIND:
        m.as.kind = (foliot__kind_message){FOLIOT__KIND_WATCHER, (uint64_t)1 << 40, 70000,
                                           FOLIOT__KIND_DIVERGED};
        break;
    default:
        m.as.bye = (foliot__bye){"until later"};
        break;
    }
    return m;
}

static size_t encoded(const foliot__message *m)
{
    size_t length = 0;
    assert_int_equal(foliot__message_encode(m, bytes, sizeof bytes, &length), FOLIOT_STATUS_OK);
    return length;
}

// Where a message's bytes are; NULL: it has none.
static const uint8_t **bytes_in(foliot__message *m, uint32_t *length)
{
    switch (m->kind) {
    case FOLIOT__SCENE_PART:
        *length = m->as.scene_part.length;
        return &m->as.scene_part.bytes;
    case FOLIOT__KEYFRAME_PART:
        *length = m->as.keyframe_part.length;
        return &m->as.keyframe_part.bytes;
    case FOLIOT__TICKS_PART:
        *length = m->as.ticks_part.length;
        return &m->as.ticks_part.block;
    case FOLIOT__SEARCH_REQUEST:
    case FOLIOT__SEARCH_RESPONSE:
        *length = m->as.search.length;
        return &m->as.search.bytes;
    case FOLIOT__ORDER:
        *length = m->as.order.length;
        return &m->as.order.bytes;
    case FOLIOT__MESSAGE:
        *length = m->as.message.length;
        return &m->as.message.bytes;
    case FOLIOT__UPDATE:
        *length = m->as.update.length;
        return &m->as.update.bytes;
    case FOLIOT__COMMANDS:
        *length = m->as.commands.length;
        return &m->as.commands.bytes;
    default:
        return NULL;
    }
}

static foliot_status decoded(const uint8_t *from, size_t length, foliot__message *m)
{
    uint8_t *copy = malloc(length + !length); // sanitizers see a byte too far
    memcpy(copy, from, length);
    foliot_status status = foliot__message_decode(copy, length, m);
    uint32_t count;
    const uint8_t **inside = bytes_in(m, &count);
    if (status == FOLIOT_STATUS_OK && inside)
        *inside = from + (*inside - copy);
    if (status == FOLIOT_STATUS_OK && m->kind == FOLIOT__TICKS_PART)
        m->as.ticks_part.commands = from + (m->as.ticks_part.commands - copy);
    free(copy);
    return status;
}

TEST(every_message_comes_back)
{
    for (int kind = FOLIOT__HELLO_MESSAGE; kind <= FOLIOT__KIND; kind += kind == FOLIOT__MESSAGE ? 7
                                                                         : kind == FOLIOT__COMMANDS
                                                                             ? 2
                                                                             : 1) {
        foliot__message m = sample((foliot__message_kind)kind), got;
        size_t length = encoded(&m);
        assert_int_equal(decoded(bytes, length, &got), FOLIOT_STATUS_OK);
        uint32_t expected_count = 0, count = 0;
        const uint8_t **expected = bytes_in(&m, &expected_count), **inside = bytes_in(&got, &count);
        if (inside) {
            assert_int_equal(count, expected_count);
            assert_memory_equal(*inside, *expected, count);
            *inside = *expected;
        }
        static uint8_t again[FOLIOT__CONTROL_BYTES_MAX];
        size_t again_length = 0;
        assert_int_equal(foliot__message_encode(&got, again, sizeof again, &again_length),
                         FOLIOT_STATUS_OK);
        assert_int_equal(again_length, length);
        assert_memory_equal(again, bytes, length);
    }
    foliot__message m = sample(FOLIOT__WELCOME), got;
    assert_int_equal(decoded(bytes, encoded(&m), &got), FOLIOT_STATUS_OK);
    assert_int_equal(got.as.welcome.format.acceleration[2], -357);
    assert_int_equal(got.as.welcome.format.damping, 64881);
    assert_true(got.as.welcome.format.rotates);
    assert_true(!got.as.welcome.format.spins);
    assert_string_equal(got.as.welcome.integrator, "verlet");
}

TEST(a_cut_message_is_refused_at_every_byte)
{
    for (int kind = FOLIOT__HELLO_MESSAGE; kind <= FOLIOT__KIND; kind += kind == FOLIOT__MESSAGE ? 7
                                                                         : kind == FOLIOT__COMMANDS
                                                                             ? 2
                                                                             : 1) {
        foliot__message m = sample((foliot__message_kind)kind), got;
        size_t length = encoded(&m);
        for (size_t cut = 0; cut < length; cut++)
            assert_int_not_equal(decoded(bytes, cut, &got), FOLIOT_STATUS_OK);
        bytes[length] = 0; // and one too long
        assert_int_equal(decoded(bytes, length + 1, &got), FOLIOT_STATUS_CORRUPT);
    }
}

TEST(wrong_types_and_kinds_are_refused)
{
    static const uint8_t refused[][12] = {
        {0x92, 6, 5},                 // a bye whose sentence is a number
        {0x92, 0xa1, 'x', 0xa1, 'y'}, // a kind that is a text
        {0x92, 0, 0xa1, 'y'},
        {0x92, 13, 0xa1, 'y'},                   // kinds that there are not
        {0x91, 6},                               // too few fields
        {0x81, 6, 0xa1, 'y'},                    // a map
        {0xdd, 0xff, 0xff, 0xff, 0xff, 6},       // four thousand million fields
        {0x92, 6, 0xdb, 0xff, 0xff, 0xff, 0xff}, // a text as long
        {0x94, 3, 1, 2, 0xa1, 'x'},              // a refusal whose flag is 2
        {0xc0},
    };
    foliot__message got;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        for (size_t length = 1; length <= sizeof refused[i]; length++)
            assert_int_not_equal(decoded(refused[i], length, &got), FOLIOT_STATUS_OK);
    static const uint8_t more[] = {0x93, 6, 0xa1, 'y',
                                   0x92, 1, 2}; // a newer peer's further field passes
    assert_int_equal(decoded(more, sizeof more, &got), FOLIOT_STATUS_OK);
    assert_string_equal(got.as.bye.sentence, "y");
}

TEST(limits_hold)
{
    foliot__message m = sample(FOLIOT__WELCOME), got;
    m.as.welcome.format.bodies_max = FOLIOT_BODIES_MAX + 1;
    assert_int_equal(decoded(bytes, encoded(&m), &got), FOLIOT_STATUS_CORRUPT);
    m = sample(FOLIOT__WELCOME);
    m.as.welcome.format.damping = 65537;
    assert_int_equal(decoded(bytes, encoded(&m), &got), FOLIOT_STATUS_CORRUPT);
    m = sample(FOLIOT__WELCOME);
    m.as.welcome.format.acceleration[1] = -FOLIOT_SNAPSHOT_ACCELERATION_MAX - 1;
    assert_int_equal(decoded(bytes, encoded(&m), &got), FOLIOT_STATUS_CORRUPT);
    m = sample(FOLIOT__WELCOME);
    m.as.welcome.dt = 0;
    assert_int_equal(decoded(bytes, encoded(&m), &got), FOLIOT_STATUS_CORRUPT);
    static uint8_t big[FOLIOT__SCENE_PART_BYTES + 1];
    m = sample(FOLIOT__SCENE_PART);
    m.as.scene_part.bytes = big;
    m.as.scene_part.length = FOLIOT__SCENE_PART_BYTES;
    assert_int_equal(decoded(bytes, encoded(&m), &got), FOLIOT_STATUS_OK);
    m.as.scene_part.length++;
    assert_int_equal(decoded(bytes, encoded(&m), &got), FOLIOT_STATUS_CORRUPT);
    size_t length;
    m = sample(FOLIOT__HELLO_MESSAGE);
    assert_int_equal(foliot__message_encode(&m, bytes, 10, &length), FOLIOT_STATUS_FULL);
}

TEST(another_protocol_and_a_long_name_are_told_apart_from_nonsense)
{
    static const uint8_t later[] = {0x93, 1,    99,  0xc3,
                                    0x81, 0xa1, 'x', 0xc0}; // true and a map, where we have a text
    foliot__message m;
    assert_int_equal(foliot__message_decode(later, sizeof later, &m),
                     FOLIOT_STATUS_CORRUPT); // behind the array
    assert_int_equal(foliot__message_decode(later, sizeof later - 1, &m),
                     FOLIOT_STATUS_CORRUPT); // cut
    static const uint8_t other[] = {0x93, 1, FOLIOT_PROTOCOL + 1, 0xc3};
    assert_int_equal(foliot__message_decode(other, sizeof other, &m), FOLIOT_STATUS_OK);
    assert_int_equal(m.as.hello.protocol, FOLIOT_PROTOCOL + 1);

    size_t length;
    foliot__message named = sample(FOLIOT__HELLO_MESSAGE);
    memset(named.as.hello.name, 'N', FOLIOT_NAME_BYTES - 1);
    assert_int_equal(foliot__message_encode(&named, bytes, sizeof bytes, &length),
                     FOLIOT_STATUS_OK);
    uint8_t *at = memchr(bytes, 'N', length); // behind 0xd9 and the length
    memmove(at + 1, at, length - (size_t)(at - bytes));
    at[-1]++;
    assert_int_equal(foliot__message_decode(bytes, length + 1, &m), FOLIOT_STATUS_OK);
    assert_true(m.as.hello.name_too_long);
    assert_string_equal(m.as.hello.name, "");
    assert_int_equal(m.as.hello.rules, named.as.hello.rules);
}

TEST(names_are_printable)
{
    foliot__message m = sample(FOLIOT__PLAYER), got;
    strcpy(m.as.player.name, "a\x1b[2J\x7f\n\xc2\x9b"
                             "b\xc3\xa9");
    assert_int_equal(decoded(bytes, encoded(&m), &got), FOLIOT_STATUS_OK);
    assert_string_equal(got.as.player.name, "a?[2J????b\xc3\xa9");
    strcpy(m.as.player.name,
           "\x9b"
           "31m\xff\xe6\x97\xa5 end\xc2"); // a control sequence to a terminal of eight bits
    assert_int_equal(decoded(bytes, encoded(&m), &got), FOLIOT_STATUS_OK);
    assert_string_equal(got.as.player.name, "?31m?\xe6\x97\xa5 end?");
}

TEST(packets_come_back_and_are_refused_when_cut)
{
    static uint8_t packet[FOLIOT_SNAPSHOT_PIECE_BYTES];
    static foliot__input_packet input = {.newest_snapshot = FOLIOT__NO_TICK,
                                         .tick = 70000,
                                         .shown = 1234,
                                         .sent_us = 0xfffffff0u,
                                         .count = FOLIOT__INPUTS_A_PACKET},
                                got;
    for (uint32_t i = 0; i < input.count; i++)
        input.changes[i] = (foliot__change){.sequence = 9 + i,
                                            .tick = 70000 - 64 + i,
                                            .axes = {-128, 127},
                                            .buttons = 0x8001,
                                            .shown = (uint16_t)(7 * i)};
    size_t length = foliot__input_packet_encode(&input, packet);
    assert_int_equal(foliot__input_packet_decode(packet, length, 70001, &got), FOLIOT_STATUS_OK);
    assert_memory_equal(&got, &input, sizeof got);
    for (size_t cut = 0; cut < length; cut++)
        assert_int_not_equal(foliot__input_packet_decode(packet, cut, 70001, &got),
                             FOLIOT_STATUS_OK);
    memcpy(packet + 5, (const uint8_t[4]){64, 0, 0, 0},
           4); // a packet of tick 64: its first change is 64 ticks old
    assert_int_equal(foliot__input_packet_decode(packet, length, 70001, &got), FOLIOT_STATUS_OK);
    assert_int_equal(got.changes[0].tick, 0);
    packet[5] = 63; // older than the world
    assert_int_equal(foliot__input_packet_decode(packet, length, 70001, &got),
                     FOLIOT_STATUS_CORRUPT);
    packet[15] = FOLIOT__INPUTS_A_PACKET + 1;
    assert_int_equal(foliot__input_packet_decode(packet, length, 70001, &got),
                     FOLIOT_STATUS_CORRUPT);

    foliot__status_packet status = {7, 1, 2, -3, 4, 5, 6}, back;
    foliot__status_packet_encode(&status, packet);
    assert_int_equal(foliot__status_packet_decode(packet, FOLIOT__STATUS_PACKET_BYTES, &back),
                     FOLIOT_STATUS_OK);
    assert_memory_equal(&back, &status, sizeof back);
    for (size_t cut = 0; cut < FOLIOT__STATUS_PACKET_BYTES; cut++)
        assert_int_not_equal(foliot__status_packet_decode(packet, cut, &back), FOLIOT_STATUS_OK);
    packet[0] = FOLIOT__INPUT_PACKET;
    assert_int_equal(foliot__status_packet_decode(packet, FOLIOT__STATUS_PACKET_BYTES, &back),
                     FOLIOT_STATUS_CORRUPT);
}
