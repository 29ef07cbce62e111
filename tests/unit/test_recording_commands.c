// SPDX-License-Identifier: MIT
// test_recording_commands.c: recordings with commands, orders, messages and the state of rules.
// Method: random ticks of a simulation that mixes all its inputs into one number
// (tests/support/tally.h). The recording must replay, seek, verify and compact to the same, refuse
// malformed ticks, and cost few bytes.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "command/command.h"
#include "commands.h"
#include "foliot/foliot.h"
#include "recording/recording.h"
#include "recording/format.h"
#include "recording/record_decoder.h"
#include "recording_fixture.h"
#include "status.h"
#include "tally.h"

#define TICKS 300
#define COMMANDS 6 // of a tick, at most
#define ORDERS 5

// The inputs of one tick.
typedef struct given {
    foliot_input inputs[2];
    foliot_command_list commands;
    foliot_order orders[ORDERS];
    uint32_t order_count;
    foliot_digest digest; // after the step
} given;

typedef struct session {
    foliot__rng rng;
    uint32_t sequence, order_sequences[4];
    given ticks[TICKS];
    char saved[64]; // the rules' state: how many ticks they have seen
    foliot_simulation simulation;
    foliot_recording *recording;
    recording_memory memory;
} session;

static session *s;

static int begin(void **state)
{
    (void)state;
    s = calloc(1, sizeof *s);
    s->rng = foliot__rng_seeded(5);
    return s ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < TICKS; i++)
        foliot_command_list_destroy(&s->ticks[i].commands);
    foliot_simulation_destroy(&s->simulation);
    recording_memory_free(&s->memory);
    free(s);
    return 0;
}

static uint32_t draw(uint32_t below)
{
    return (uint32_t)(foliot__rng_u64(&s->rng) % below);
}

static void draw_orders(given *g)
{
    for (uint32_t player = 0; player < 4 && g->order_count < ORDERS; player++) {
        if (draw(4))
            continue;
        foliot_order *order = &g->orders[g->order_count++];
        *order = (foliot_order){.player = player * 300,
                                .sequence = s->order_sequences[player],
                                .kind = (uint8_t)draw(4),
                                .length = (uint8_t)draw(FOLIOT_ORDER_BYTES_MAX + 1)};
        for (uint32_t i = 0; i < order->length; i++)
            order->bytes[i] = (uint8_t)draw(256);
        s->order_sequences[player] += draw(5) ? 1 : 3; // one that was refused leaves a gap
    }
}

static void draw_tick(uint64_t tick)
{
    given *g = &s->ticks[tick];
    for (uint32_t i = 0; i < 2; i++)
        g->inputs[i] = (foliot_input){.player = 5 * i, .sequence = (uint32_t)tick, .buttons = 1};
    for (uint32_t i = draw(3) ? 0 : draw(COMMANDS + 1); i > 0; i--) {
        foliot_command command = draw_command(&s->rng, draw(FOLIOT_COMMAND_KIND_COUNT));
        command.sequence = s->sequence;
        s->sequence += draw(5) ? 1 : 2;
        assert_int_equal(foliot_command_list_append(&g->commands, &command), FOLIOT_STATUS_OK);
    }
    draw_orders(g);
}

static foliot_tick_inputs inputs_of(const given *g)
{
    return (foliot_tick_inputs){g->inputs, 2, g->commands.commands, g->commands.count};
}

static foliot_status save_rules(void *user, void *bytes, size_t capacity, size_t *length)
{
    session *of = user;
    *length = strlen(of->saved);
    if (bytes && *length <= capacity)
        memcpy(bytes, of->saved, *length);
    return FOLIOT_STATUS_OK;
}

static foliot_recording_rules rules(void)
{
    return (foliot_recording_rules){.name = "siege",
                                    .version = 7,
                                    .text = "return 1",
                                    .text_bytes = 8,
                                    .build = "Lua 5.4.4",
                                    .save = save_rules,
                                    .user = s};
}

static void step_and_append(uint64_t tick)
{
    given *g = &s->ticks[tick];
    const foliot_tick_inputs in = inputs_of(g);
    assert_int_equal(foliot_simulation_step_tick(&s->simulation, &in), FOLIOT_STATUS_OK);
    g->digest = foliot_simulation_get_digest(&s->simulation);
    snprintf(s->saved, sizeof s->saved, "state of the rules at tick %u", (unsigned)tick + 1);
    if (tick % 10 == 3)
        assert_int_equal(
            foliot_recording_note_message(s->recording, FOLIOT_TO_ALL, true, "boo\0m", 5),
            FOLIOT_STATUS_OK);
    assert_int_equal(
        foliot_recording_append(s->recording, &s->simulation, &in, g->orders, g->order_count),
        FOLIOT_STATUS_OK);
}

static void record_to(const foliot_recording_sink *sink)
{
    foliot_recording_config config = recording_fixture_config(20, 100);
    const foliot_recording_rules about = rules();
    config.rules = &about;
    snprintf(s->saved, sizeof s->saved, "state of the rules at tick 0");
    assert_int_equal(foliot_simulation_create(tally_kind(true), "s", 1, &s->simulation),
                     FOLIOT_STATUS_OK);
    assert_int_equal(foliot_recording_open_sink(sink, &s->simulation, &config, &s->recording),
                     FOLIOT_STATUS_OK);
    for (uint64_t tick = 0; tick < TICKS; tick++) {
        draw_tick(tick);
        step_and_append(tick);
    }
    assert_int_equal(foliot_recording_close(s->recording, NULL), FOLIOT_STATUS_OK);
}

static void record(void)
{
    foliot_recording_sink sink = recording_memory_sink(&s->memory);
    record_to(&sink);
}

static foliot_replay *open_memory(bool takes)
{
    foliot_replay *replay;
    assert_int_equal(foliot_replay_open_bytes(s->memory.bytes, s->memory.length, tally_kind(takes),
                                              &replay, NULL),
                     FOLIOT_STATUS_OK);
    return replay;
}

static void check_orders(const foliot_order *orders, uint32_t count, const given *g)
{
    check_eq(count, g->order_count);
    for (uint32_t i = 0; i < count; i++) {
        check_eq(orders[i].player, g->orders[i].player);
        check_eq(orders[i].sequence, g->orders[i].sequence);
        check_eq(orders[i].kind, g->orders[i].kind);
        check_eq(orders[i].length, g->orders[i].length);
        assert_memory_equal(orders[i].bytes, g->orders[i].bytes, orders[i].length);
    }
}

static void check_all(foliot_replay *replay)
{
    for (uint64_t tick = 0; tick < TICKS; tick++) {
        const given *g = &s->ticks[tick];
        const foliot_command *commands;
        const foliot_order *orders;
        uint32_t count;
        assert_int_equal(foliot_replay_get_commands(replay, tick, &commands, &count),
                         FOLIOT_STATUS_OK);
        check_eq(count, g->commands.count);
        for (uint32_t i = 0; i < count; i++)
            assert_true(commands_equal(&commands[i], &g->commands.commands[i]));
        assert_int_equal(foliot_replay_get_orders(replay, tick, &orders, &count), FOLIOT_STATUS_OK);
        check_orders(orders, count, g);
    }
}

TEST_BETWEEN(everything_comes_back, begin, end)
{
    record();
    foliot_replay *replay = open_memory(true);
    const foliot_replay_summary *about = foliot_replay_get_summary(replay);
    assert_int_equal(foliot_replay_scan(replay), FOLIOT_STATUS_OK);
    uint64_t commands = 0, orders = 0;
    for (uint32_t i = 0; i < TICKS; i++) {
        commands += s->ticks[i].commands.count;
        orders += s->ticks[i].order_count;
    }
    check_eq(about->format, FOLIOT_RECORDING_FORMAT);
    check_eq(about->features, FOLIOT_RECORDING_SIMULATION | FOLIOT_RECORDING_RULES);
    check_gt(commands, 100);
    check_eq(about->counts.commands, commands);
    check_eq(about->counts.orders, orders);
    check_eq(about->counts.messages, TICKS / 10);
    check_gt(about->counts.command_bytes, commands * 3);
    check_gt(about->counts.order_bytes, orders * 4);
    check_all(replay);
    check_all(replay); // from the first keyframe again, which forgets all sequences
    foliot_replay_close(replay);
}

TEST_BETWEEN(rules_stand_in_the_header_and_beside_keyframes, begin, end)
{
    record();
    foliot_replay *replay = open_memory(true);
    const foliot_replay_summary *about = foliot_replay_get_summary(replay);
    assert_string_equal(about->rules_name, "siege");
    check_eq(about->rules_version, 7);
    check_eq(about->rules_text_bytes, 8);
    assert_string_equal(about->rules_text, "return 1");
    assert_string_equal(about->rules_build, "Lua 5.4.4");
    for (uint64_t tick = 0; tick <= TICKS; tick += 50) {
        char wanted[64];
        size_t length = 0;
        const uint8_t *bytes = foliot_replay_get_rules_state(replay, tick, &length);
        snprintf(wanted, sizeof wanted, "state of the rules at tick %u", (unsigned)tick);
        assert_int_equal(bytes != NULL, tick % 100 == 0);
        if (!bytes)
            continue;
        check_eq(length, strlen(wanted));
        assert_memory_equal(bytes, wanted, length);
    }
    foliot_replay_close(replay);
}

static foliot_verdict verify(bool takes)
{
    foliot_verdict verdict;
    foliot_replay *replay = open_memory(takes);
    assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_OK);
    foliot_replay_close(replay);
    return verdict;
}

TEST_BETWEEN(it_replays_and_seeks, begin, end)
{
    static const uint64_t places[] = {TICKS, 17, 100, 99, 101, 250, 1};
    record();
    check_eq(verify(true).status, FOLIOT_STATUS_OK);
    check_eq(verify(true).ticks, TICKS);
    foliot_replay *replay = open_memory(true);
    for (uint32_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        assert_int_equal(foliot_replay_seek(replay, places[i]), FOLIOT_STATUS_OK);
        foliot_digest digest = foliot_simulation_get_digest(foliot_replay_get_simulation(replay));
        assert_true(foliot_digest_equal(digest, s->ticks[places[i] - 1].digest));
    }
    foliot_replay_close(replay);
}

TEST_BETWEEN(a_kind_without_commands_does_not_take_it, begin, end)
{
    record();
    foliot_verdict verdict = verify(false);
    check_eq(verdict.status, FOLIOT_STATUS_CORRUPT);
    assert_non_null(strstr(verdict.damage.text, "refuses the inputs or commands of tick"));
}

// -- forging: a payload changed, its checksums made right

static uint32_t u32_at(const uint8_t *bytes)
{
    foliot__reader r = foliot__reader_of(bytes, 4);
    return foliot__read_u32(&r);
}

static void put_u32(uint8_t *bytes, uint32_t value)
{
    foliot__writer w = foliot__writer_of(bytes, 4);
    foliot__write_u32(&w, value);
}

static void mend(uint8_t *bytes, size_t length)
{
    for (size_t at = FOLIOT__RECORDING_START_BYTES; at < length;) {
        uint32_t payload = u32_at(bytes + at + 4);
        put_u32(bytes + at + 20,
                foliot__crc32c(0, bytes + at + FOLIOT__RECORDING_BLOCK_BYTES, payload));
        put_u32(bytes + at + 24, foliot__crc32c(0, bytes + at, 24));
        at += FOLIOT__RECORDING_BLOCK_BYTES + payload;
    }
}

// The canonical bytes of a command within the file; NULL if they are not there.
static uint8_t *find_command(const foliot_command *command)
{
    uint8_t bytes[1024];
    size_t length = foliot_command_encode(command, bytes, sizeof bytes);
    return memmem(s->memory.bytes, s->memory.length, bytes, length);
}

TEST_BETWEEN(a_forged_command_is_found, begin, end)
{
    record();
    for (uint64_t tick = 0; tick < TICKS; tick++)
        for (uint32_t i = 0; i < s->ticks[tick].commands.count; i++) {
            const foliot_command *command = &s->ticks[tick].commands.commands[i];
            if (command->kind != FOLIOT_COMMAND_gravity)
                continue;
            uint8_t *bytes = find_command(command);
            assert_non_null(bytes);
            bytes[2] ^= 1; // the lowest bit of its x
            mend(s->memory.bytes, s->memory.length);
            foliot_verdict verdict = verify(true);
            check_eq(verdict.status, FOLIOT_STATUS_DIVERGED);
            check_eq(verdict.divergence.tick, tick + 1);
            check_eq(verdict.ticks, tick);
            return;
        }
    fail_msg("no such command was drawn");
}

// A flipped bit in a block gives a status or another session, and nothing worse.
TEST_BETWEEN(flipped_bits_are_survived, begin, end)
{
    record();
    const uint64_t seed = foliot__rng_u64(&s->rng);
    foliot__rng rng = foliot__rng_seeded(seed);
    uint32_t refused = 0;
    for (int i = 0; i < 2000; i++) {
        uint64_t bit = foliot__rng_u64(&rng) % (8 * (s->memory.length - 100));
        uint8_t *bytes = malloc(s->memory.length);
        foliot_replay *replay = NULL;
        memcpy(bytes, s->memory.bytes, s->memory.length);
        bytes[100 + bit / 8] ^= (uint8_t)(1u << bit % 8);
        for (size_t at = FOLIOT__RECORDING_START_BYTES; at < s->memory.length;) {
            uint32_t length = u32_at(s->memory.bytes + at + 4); // whole block headers
            memcpy(bytes + at, s->memory.bytes + at, FOLIOT__RECORDING_BLOCK_BYTES);
            at += FOLIOT__RECORDING_BLOCK_BYTES + length;
        }
        mend(bytes, s->memory.length);
        foliot_status status =
            foliot_replay_open_bytes(bytes, s->memory.length, tally_kind(true), &replay, NULL);
        if (status == FOLIOT_STATUS_OK) {
            refused += foliot_replay_scan(replay) != FOLIOT_STATUS_OK;
            foliot_replay_close(replay);
        }
        free(bytes);
    }
    check_gt(refused, 100);
}

// -- refused ticks

TEST_BETWEEN(malformed_ticks_are_refused, begin, end)
{
    foliot_recording_sink sink = recording_memory_sink(&s->memory);
    foliot_recording_config config = recording_fixture_config(20, 100);
    assert_int_equal(foliot_simulation_create(tally_kind(true), "s", 1, &s->simulation),
                     FOLIOT_STATUS_OK);
    assert_int_equal(foliot_recording_open_sink(&sink, &s->simulation, &config, &s->recording),
                     FOLIOT_STATUS_OK);
    foliot_command commands[2] = {foliot_command_default(FOLIOT_COMMAND_end),
                                  foliot_command_default(FOLIOT_COMMAND_end)};
    foliot_order orders[2] = {{.player = 1, .sequence = 1}, {.player = 1, .sequence = 1}};
    foliot_tick_inputs in = {.commands = commands, .command_count = 2};
    const foliot_tick_inputs nothing = {0};
#define REFUSED(in, orders, count)                                                                 \
    check_eq(foliot_recording_append(s->recording, &s->simulation, in, orders, count),             \
             FOLIOT_STATUS_INVALID)
    assert_int_equal(foliot_simulation_step(&s->simulation, NULL, 0), FOLIOT_STATUS_OK);
    REFUSED(&in, NULL, 0); // sequences 0 and 0
    commands[1].sequence = 1;
    commands[1].source = 3;
    REFUSED(&in, NULL, 0);
    commands[1].source = 0;
    commands[1].fields = FOLIOT_COMMAND_HAS(end, reason); // NULL
    REFUSED(&in, NULL, 0);
    REFUSED(&nothing, orders, 2);
    orders[1].sequence = 2;
    orders[1].length = FOLIOT_ORDER_BYTES_MAX + 1;
    REFUSED(&nothing, orders, 2);
    orders[1].length = 0;
    orders[1].kind = 4;
    REFUSED(&nothing, orders, 2);
    orders[1].kind = 0;
    orders[1].player = FOLIOT_PLAYERS_MAX;
    REFUSED(&nothing, orders, 2);
    orders[1].player = 1;
    commands[1].fields = 0;
    assert_int_equal(foliot_recording_append(s->recording, &s->simulation, &in, orders, 2),
                     FOLIOT_STATUS_OK);
    check_eq(foliot_recording_note_message(s->recording, 0, false, "", 1001),
             FOLIOT_STATUS_INVALID);
    assert_int_equal(foliot_recording_end(s->recording), FOLIOT_STATUS_OK);
    check_eq(foliot_recording_note_message(s->recording, 0, false, "", 0), FOLIOT_STATUS_INVALID);
    assert_int_equal(foliot_recording_close(s->recording, NULL), FOLIOT_STATUS_OK);
}

// No writer announces them: the format and features of the file are the same.
TEST_BETWEEN(commands_orders_and_messages_may_come_to_any_recording, begin, end)
{
    foliot_recording_sink sink = recording_memory_sink(&s->memory);
    foliot_recording_config config = recording_fixture_config(20, 100);
    foliot_command command = foliot_command_default(FOLIOT_COMMAND_end);
    foliot_order order = {.player = 1};
    const foliot_tick_inputs in = {.commands = &command, .command_count = 1};
    assert_int_equal(foliot_simulation_create(tally_kind(true), "s", 1, &s->simulation),
                     FOLIOT_STATUS_OK);
    assert_int_equal(foliot_recording_open_sink(&sink, &s->simulation, &config, &s->recording),
                     FOLIOT_STATUS_OK);
    assert_int_equal(foliot_simulation_step_tick(&s->simulation, &in), FOLIOT_STATUS_OK);
    check_eq(foliot_recording_note_message(s->recording, 0, true, "x", 1), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_recording_append(s->recording, &s->simulation, &in, &order, 1),
                     FOLIOT_STATUS_OK);
    assert_int_equal(foliot_recording_close(s->recording, NULL), FOLIOT_STATUS_OK);
    foliot_replay *replay = open_memory(true);
    const foliot_replay_summary *about = foliot_replay_get_summary(replay);
    assert_int_equal(foliot_replay_scan(replay), FOLIOT_STATUS_OK);
    check_eq(about->features, FOLIOT_RECORDING_SIMULATION);
    check_eq(about->counts.commands, 1);
    check_eq(about->counts.orders, 1);
    check_eq(about->counts.messages, 1);
    foliot_replay_close(replay);
}

// -- entries by themselves

static foliot_status decode_commands(const char *bytes, size_t length)
{
    static foliot__session_known known;
    foliot__session_log log = {0};
    memset(&known, 0, sizeof known);
    foliot_status status =
        foliot__session_decode_commands(&known, &log, 10, 20, (const uint8_t *)bytes, length);
    foliot__session_log_free(&log);
    return status;
}
#define COMMANDS_OF(bytes) decode_commands(bytes, sizeof(bytes) - 1)

TEST(malformed_commands_are_damage)
{
    check_eq(COMMANDS_OF("\x00\x00\x0c\x00"), FOLIOT_STATUS_OK);
    check_eq(COMMANDS_OF("\x09\x00\x0c\x00"), FOLIOT_STATUS_OK);
    check_eq(COMMANDS_OF("\x0a\x00\x0c\x00"), FOLIOT_STATUS_CORRUPT); // beyond the block
    check_eq(COMMANDS_OF("\x05\x00\x0c\x00\x05\x00\x0c\x00"), FOLIOT_STATUS_CORRUPT);
    check_eq(COMMANDS_OF("\x80\x00\x00\x0c\x00"), FOLIOT_STATUS_CORRUPT); // a longer varint
    check_eq(COMMANDS_OF("\x00\x03\x0c\x00"), FOLIOT_STATUS_CORRUPT);     // source 3
    check_eq(COMMANDS_OF("\x00\x08\x0c\x00"), FOLIOT_STATUS_CORRUPT);     // the second is missing
    check_eq(COMMANDS_OF("\x00\x00\x0d\x00"), FOLIOT_STATUS_UNSUPPORTED); // a kind of tomorrow
    check_eq(COMMANDS_OF("\x00\x04\x00\x0c\x00\x00\x04\x00\x0c\x00"),
             FOLIOT_STATUS_CORRUPT); // sequence 0 twice in a tick
    check_eq(COMMANDS_OF("\x00\x04\x00\x0c\x00\x01\x04\x00\x0c\x00"), FOLIOT_STATUS_OK);
    check_eq(COMMANDS_OF("\x00\x0c\xff\xff\xff\xff\x0f\x0c\x00\x0c\x00"),
             FOLIOT_STATUS_CORRUPT); // sequences beyond 32 bits
}

static foliot_status decode_orders(const char *bytes, size_t length, uint32_t features)
{
    static foliot__session_known known;
    foliot__session_log log = {0};
    memset(&known, 0, sizeof known);
    foliot_status status = foliot__session_decode_orders(&known, &log, 10, 20,
                                                         (const uint8_t *)bytes, length, features);
    foliot__session_log_free(&log);
    return status;
}
#define ORDERS_OF(bytes) decode_orders(bytes, sizeof(bytes) - 1, 0)
#define AIMED_ORDERS_OF(bytes)                                                                     \
    decode_orders(bytes, sizeof(bytes) - 1, FOLIOT_RECORDING_RULES | FOLIOT_RECORDING_HISTORY)

TEST(malformed_orders_are_damage)
{
    check_eq(ORDERS_OF("\x00\x10\x02hi"), FOLIOT_STATUS_OK);
    check_eq(ORDERS_OF("\x00\x10\x03hi"), FOLIOT_STATUS_CORRUPT);
    check_eq(ORDERS_OF("\x0a\x10\x00"), FOLIOT_STATUS_CORRUPT);
    check_eq(ORDERS_OF("\x00\x1c\x00"), FOLIOT_STATUS_UNSUPPORTED);         // kind 6
    check_eq(ORDERS_OF("\x00\x80\x80\x01\x00"), FOLIOT_STATUS_CORRUPT);     // player 1024
    check_eq(ORDERS_OF("\x00\x10\xf1\x01"), FOLIOT_STATUS_CORRUPT);         // 241 bytes
    check_eq(ORDERS_OF("\x00\x10\x00\x00\x00\x00"), FOLIOT_STATUS_CORRUPT); // player 0 after 1
    check_eq(ORDERS_OF("\x00\x11\x05\x00\x00\x11\x05\x00"), FOLIOT_STATUS_CORRUPT); // 5 twice
    check_eq(ORDERS_OF("\x00\x11\x05\x00\x00\x10\x00"), FOLIOT_STATUS_OK);
    // With the feature `history`, what was aimed at: two bytes.
    check_eq(ORDERS_OF("\x00\x18\x02\x01\x02"), FOLIOT_STATUS_CORRUPT);
    check_eq(AIMED_ORDERS_OF("\x00\x18\x02\x01\x02"), FOLIOT_STATUS_OK);
    check_eq(AIMED_ORDERS_OF("\x00\x18\x03\x01\x02\x03"), FOLIOT_STATUS_CORRUPT);
    check_eq(AIMED_ORDERS_OF("\x00\x18\x01\x01"), FOLIOT_STATUS_CORRUPT);
    check_eq(AIMED_ORDERS_OF("\x00\x1c\x00"), FOLIOT_STATUS_UNSUPPORTED); // kind 6
    // A drop by the host has 8 bytes and player 1024.
    check_eq(AIMED_ORDERS_OF("\x00\x8a\x80\x01\x08\0\0\0\0\0\0\0\0"), FOLIOT_STATUS_OK);
    check_eq(ORDERS_OF("\x00\x8a\x80\x01\x08\0\0\0\0\0\0\0\0"), FOLIOT_STATUS_CORRUPT);
    check_eq(AIMED_ORDERS_OF("\x00\x8a\x80\x01\x07\0\0\0\0\0\0\0"), FOLIOT_STATUS_CORRUPT);
    check_eq(AIMED_ORDERS_OF("\x00\x1a\x08\0\0\0\0\0\0\0\0"), FOLIOT_STATUS_CORRUPT);
    check_eq(AIMED_ORDERS_OF("\x00\x80\x80\x01\x00"), FOLIOT_STATUS_CORRUPT);
    check_eq(AIMED_ORDERS_OF("\x00\x9a\x80\x01\x08\0\0\0\0\0\0\0\0"), FOLIOT_STATUS_CORRUPT);
}

// -- compaction

TEST_BETWEEN(compaction_keeps_everything, begin, end)
{
    char file[] = "/tmp/foliot-commands-XXXXXX";
    foliot_recording_config config = recording_fixture_config(3, 100);
    const foliot_recording_rules about = rules();
    foliot_replay *replay;
    foliot_verdict verdict;
    close(mkstemp(file));
    config.rules = &about;
    assert_int_equal(foliot_simulation_create(tally_kind(true), "s", 1, &s->simulation),
                     FOLIOT_STATUS_OK);
    assert_int_equal(foliot_recording_open(file, &s->simulation, &config, &s->recording),
                     FOLIOT_STATUS_OK);
    for (uint64_t tick = 0; tick < TICKS; tick++) {
        draw_tick(tick);
        step_and_append(tick);
    }
    assert_int_equal(foliot_recording_close(s->recording, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(foliot__recording_compact(file, 60, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_replay_open(file, tally_kind(true), &replay, NULL), FOLIOT_STATUS_OK);
    check_all(replay);
    assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_OK);
    check_eq(verdict.status, FOLIOT_STATUS_OK);
    const foliot_replay_summary *summary = foliot_replay_get_summary(replay);
    check_le(summary->counts.blocks, 15);
    check_eq(summary->counts.messages, TICKS / 10);
    foliot_replay_close(replay);
    unlink(file);
}

// -- sizes

// Bytes of a command on average, with everything that it brings: a recording with them less one
// without.
static double bytes_of_commands(foliot_command (*make)(uint32_t number), uint32_t a_tick)
{
    size_t lengths[2];
    for (int with = 0; with < 2; with++) {
        foliot_recording_config config = recording_fixture_config(60, 300);
        recording_memory memory = {0};
        foliot_recording_sink sink = recording_memory_sink(&memory);
        foliot_simulation simulation;
        foliot_recording *recording;
        uint32_t number = 0;
        assert_int_equal(foliot_simulation_create(tally_kind(true), "s", 1, &simulation),
                         FOLIOT_STATUS_OK);
        assert_int_equal(foliot_recording_open_sink(&sink, &simulation, &config, &recording),
                         FOLIOT_STATUS_OK);
        for (uint32_t tick = 0; tick < 600; tick++) {
            foliot_command commands[8];
            for (uint32_t i = 0; i < a_tick; i++, number++) {
                commands[i] = make(number);
                commands[i].sequence = number;
                commands[i].source = FOLIOT_COMMAND_SOURCE_RULES;
            }
            foliot_tick_inputs in = {.commands = commands, .command_count = with ? a_tick : 0};
            assert_int_equal(foliot_simulation_step_tick(&simulation, &in), FOLIOT_STATUS_OK);
            assert_int_equal(foliot_recording_append(recording, &simulation, &in, NULL, 0),
                             FOLIOT_STATUS_OK);
        }
        assert_int_equal(foliot_recording_close(recording, NULL), FOLIOT_STATUS_OK);
        foliot_simulation_destroy(&simulation);
        lengths[with] = memory.length;
        recording_memory_free(&memory);
    }
    return (double)(lengths[1] - lengths[0]) / (600.0 * a_tick);
}

static foliot_command make_impulse(uint32_t number)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_impulse);
    c.fields = FOLIOT_COMMAND_HAS(impulse, body) | FOLIOT_COMMAND_HAS(impulse, linear);
    c.as.impulse.body.value = foliot__command_id(number % 1000, number % 300);
    c.as.impulse.linear[0] = (float)number * 0.1f;
    return c;
}

static foliot_command make_spawn(uint32_t number)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_spawn);
    c.fields = FOLIOT_COMMAND_HAS(spawn, prototype) | FOLIOT_COMMAND_HAS(spawn, position) |
               FOLIOT_COMMAND_HAS(spawn, tag) | FOLIOT_COMMAND_HAS(spawn, ticket);
    c.as.spawn.position[2] = (float)number * 0.1f;
    c.as.spawn.tag = 0xff8000u + number;
    c.as.spawn.ticket = 100000 + number;
    return c;
}

TEST(commands_cost_few_bytes)
{
    check_le(bytes_of_commands(make_impulse, 1), 24.0);
    check_le(bytes_of_commands(make_impulse, 8), 18.0);
    check_le(bytes_of_commands(make_spawn, 1), 40.0);
}
