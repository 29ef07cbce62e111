// SPDX-License-Identifier: MIT
// test_protocol.c: docs/reference/protocol.md is enough to read what we send: a reader in Perl,
// written from the page alone, decodes packets of ours and finds the values that went in. Bodies
// rest, fly, turn, appear and go.
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "foliot/transport.h"
#include "wire/lockstep_message.h"
#include "wire/message.h"
#include "wire/partial_body.h"
#include "wire/partial_snapshot.h"
#include "wire/session_state.h"
#include "wire/tick_log.h"

#define BODIES 160
#define PARTS 8 // rounds of packets of some bodies
#define READER                                                                                     \
    "perl tests/unit/protocol_reader.pl docs/reference/protocol.md common/wire/snapshot_priors.h " \
    "common/wire/lockstep_priors.h common/wire/partial_priors.h"

static foliot__rng rng;
static FILE *packets, *expected;

static void put_packet(const char *what, const uint8_t *bytes, size_t length)
{
    fprintf(packets, "%s ", what);
    for (size_t i = 0; i < length; i++)
        fprintf(packets, "%02x", bytes[i]);
    fputc('\n', packets);
}

static int32_t around(uint32_t size)
{
    return (int32_t)foliot__rng_below(&rng, 2 * size + 1) - (int32_t)size;
}

// One body a while later: most rest, some fly on with a little noise, some jump, some come or go.
static void advance(const foliot_snapshot_format *f, uint32_t ticks, foliot_snapshot_body *b)
{
    foliot_snapshot_body was = *b;
    uint32_t fate = foliot__rng_below(&rng, 20);
    if (fate == 0) {
        *b = (foliot_snapshot_body){.generation = (uint8_t)(b->generation + 1)};
        return;
    }
    if (fate < 9 && (b->flags & FOLIOT_SNAPSHOT_ALIVE))
        return;
    b->flags = (uint8_t)(FOLIOT_SNAPSHOT_ALIVE |
                         (foliot__rng_below(&rng, 9) ? 0 : foliot__rng_below(&rng, 8) << 1));
    uint32_t size = 1u << foliot__rng_below(&rng, fate == 19 ? 27 : 9);
    for (int k = 0; k < 3; k++) {
        // Modulo 2^32, as the codec counts.
        uint32_t moved = (uint32_t)(b->velocity[k] / 16) * (uint32_t)ticks + (uint32_t)around(size);
        b->position[k] = (int32_t)((uint32_t)b->position[k] + moved);
        b->orientation[k] = (uint16_t)(((f->rotates ? b->orientation[k] + around(20) : 0)) & 511);
    }
    if (f->rotates && foliot__rng_below(&rng, 5) == 0)
        b->largest = foliot__rng_below(&rng, 4) & 3;
    foliot_snapshot_derive_motion(f, &was, ticks, b);
    if (foliot__rng_below(&rng, 3) == 0)
        for (int k = 0; k < 3; k++) {
            b->velocity[k] += around(100);
            b->spin[k] = (int16_t)(f->spins ? b->spin[k] + around(30) : 0);
        }
}

static void expect_body(uint64_t tick, uint32_t slot, const foliot_snapshot_body *b)
{
    fprintf(expected, "%" PRIu64 " %u %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d\n", tick, slot,
            b->flags, b->generation, b->position[0], b->position[1], b->position[2], b->velocity[0],
            b->velocity[1], b->velocity[2], b->largest, b->orientation[0], b->orientation[1],
            b->orientation[2], b->spin[0], b->spin[1], b->spin[2]);
}

static void put_items(foliot__partial_coder *coder, uint64_t tick,
                      const foliot__partial_item *items, uint32_t count)
{
    static foliot__partial_head head;
    uint8_t bytes[FOLIOT_PACKET_BYTES_MAX];
    uint32_t coded;
    for (uint32_t from = 0; from < count; from += coded) {
        head = (foliot__partial_head){head.sequence + 1, (uint32_t)tick};
        size_t length = foliot__partial_encode(coder, &head, items + from, count - from, bytes,
                                               sizeof bytes, &coded);
        check_gt(coded, 0);
        put_packet("packet", bytes, length);
        fprintf(expected, "partial %u %u\n", head.sequence, head.tick);
        for (uint32_t i = from; i < from + coded; i++)
            if (items[i].leaves)
                fprintf(expected, "%" PRIu64 " %u leaves\n", tick, items[i].slot);
            else
                expect_body(tick, items[i].slot, &items[i].body);
    }
}

// Some of the bodies a packet, each against any state that was sent, or none.
static void put_partial(const foliot_snapshot_format *f, uint64_t tick)
{
    static foliot_snapshot_body now[PARTS][BODIES];
    bool sent[PARTS][BODIES] = {{false}};
    uint64_t ticks[PARTS];
    foliot__partial_item items[BODIES];
    foliot__partial_coder *coder;
    assert_int_equal(foliot__partial_coder_create(f, &coder), FOLIOT_STATUS_OK);
    memset(now, 0, sizeof now);
    for (int p = 0; p < PARTS; p++) {
        uint32_t ago = p == PARTS - 1 ? 300 : 1 + foliot__rng_below(&rng, 9), count = 0;
        ticks[p] = tick += ago;
        for (uint32_t i = 0; i < BODIES; i++) {
            now[p][i] = now[p > 0 ? p - 1 : 0][i];
            advance(f, ago, &now[p][i]);
            if (foliot__rng_below(&rng, 3) == 0)
                continue;
            foliot__partial_item *item = &items[count++];
            *item = (foliot__partial_item){.slot = i * i, .body = now[p][i]};
            item->leaves = foliot__rng_below(&rng, 12) == 0;
            uint32_t then = foliot__rng_below(&rng, PARTS);
            if (!item->leaves && sent[then][i]) {
                item->base = &now[then][i];
                item->age = (uint32_t)(tick - ticks[then]);
                item->newest = true;
                for (int q = then + 1; q < p; q++)
                    item->newest = item->newest && !sent[q][i];
            }
            item->coarse = !item->leaves && foliot__rng_below(&rng, 2);
            if (item->coarse) {
                foliot__body_coarsen(f, &item->body);
                now[p][i] = item->body;
            }
            for (int q = 0; q < p && item->leaves; q++)
                sent[q][i] = false;
            sent[p][i] = !item->leaves;
        }
        put_items(coder, tick, items, count);
    }
    foliot__partial_coder_destroy(coder);
}

static void put_snapshot(foliot_snapshot_coder *coder, const foliot_snapshot *s,
                         const foliot_snapshot *base)
{
    foliot_snapshot_pieces pieces = {0};
    uint8_t packet[FOLIOT_PACKET_BYTES_MAX] = {FOLIOT__SNAPSHOT_PACKET};
    assert_int_equal(foliot_snapshot_encode(coder, s, base, &pieces), FOLIOT_STATUS_OK);
    for (uint32_t i = 0; i < pieces.count; i++) {
        size_t length = pieces.offsets[i + 1] - pieces.offsets[i];
        memcpy(packet + 1, pieces.bytes + pieces.offsets[i], length);
        put_packet("packet", packet, length + 1);
    }
    for (uint32_t i = 0; i < s->count; i++)
        expect_body(s->tick, i, &s->bodies[i]);
    foliot_snapshot_pieces_destroy(&pieces);
}

static void put_world(const foliot_snapshot_format *f, unsigned shift, uint64_t tick)
{
    foliot_snapshot_body a[BODIES] = {{{0}, {0}, {0}, {0}, 0, 0, 0}}, b[BODIES];
    foliot_snapshot_coder *coder;
    assert_int_equal(foliot_snapshot_coder_create(f, &coder), FOLIOT_STATUS_OK);
    fprintf(packets, "format %u %d %d %d %u %d %d\n", shift, f->acceleration[0], f->acceleration[1],
            f->acceleration[2], f->damping, f->rotates, f->spins);
    foliot_snapshot base = {.tick = tick, .count = BODIES - 20, .capacity = BODIES, .bodies = a},
                    s = base;
    s.bodies = b;
    for (uint32_t i = 0; i < base.count; i++)
        advance(f, 1, &a[i]);
    put_snapshot(coder, &base, NULL);
    for (int round = 0; round < 6; round++) {
        memcpy(b, a, sizeof b);
        s.tick = base.tick + (round == 4 ? 300 : 1 + foliot__rng_below(&rng, 12));
        s.count = BODIES - foliot__rng_below(&rng, 30);
        for (uint32_t i = s.count; i < BODIES; i++)
            b[i] = (foliot_snapshot_body){0};
        for (uint32_t i = 0; i < s.count; i++) {
            if (i >= base.count)
                b[i] = (foliot_snapshot_body){0};
            advance(f, (uint32_t)(s.tick - base.tick), &b[i]);
        }
        put_snapshot(coder, &s, &base);
        memcpy(a, b, sizeof a);
        base.tick = s.tick;
        base.count = s.count;
    }
    foliot_snapshot_coder_destroy(coder);
    put_partial(f, base.tick);
}

static void put_packets_of_ours(void)
{
    uint8_t bytes[FOLIOT__CONTROL_BYTES_MAX];
    foliot__input_packet input = {
        .newest_snapshot = 77,
        .tick = 90,
        .shown = 2305,
        .sent_us = UINT32_MAX,
        .count = 2,
        .changes = {{5, 80, {-128, 127, 0, 1}, 0x8001, 777}, {6, 89, {0}, 2, UINT16_MAX}}};
    put_packet("packet", bytes, foliot__input_packet_encode(&input, bytes));
    fprintf(expected, "input 77 90 2305 4294967295 2\nchange 5 80 -128 127 0 1 32769 777\n"
                      "change 6 89 0 0 0 0 2 65535\n");
    foliot__status_packet status = {41, 91, 6, -1500, 3, 1234567, 89};
    foliot__status_packet_encode(&status, bytes);
    put_packet("packet", bytes, FOLIOT__STATUS_PACKET_BYTES);
    fprintf(expected, "status 41 91 6 -1500 3 1234567 89\n");
    foliot__message m = {
        .kind = FOLIOT__REFUSE,
        .as.refuse = {FOLIOT__REFUSE_FULL, true, "the session is full, all 32 players are in"}};
    size_t length;
    assert_int_equal(foliot__message_encode(&m, bytes, sizeof bytes, &length), FOLIOT_STATUS_OK);
    put_packet("control", bytes, length);
    fprintf(expected, "control 3 3 1 the session is full, all 32 players are in\n");
    foliot__partial_acknowledge came = {9, 0xfffffffe00000003u, true, {-1, 70000, 0}};
    put_packet("packet", bytes, foliot__partial_acknowledge_encode(&came, bytes));
    fprintf(expected, "came 9 3 4294967294 -1 70000 0\n");
    came.has_focus = false;
    put_packet("packet", bytes, foliot__partial_acknowledge_encode(&came, bytes));
    fprintf(expected, "came 9 3 4294967294\n");
    m = (foliot__message){.kind = FOLIOT__WELCOME,
                          .as.welcome = {.protocol = 7,
                                         .session = "arena",
                                         .scene = "cubes",
                                         .integrator = "verlet",
                                         .player = 2,
                                         .token = {{1, 2, [15] = 0xfe}},
                                         .tick = 500,
                                         .dt = 0.25,
                                         .pace_hz = 60,
                                         .snapshot_hz = 20,
                                         .format = {0.5, 0.125, {0, 5, -7}, 65536, true, false, 40},
                                         .scene_bytes = 999,
                                         .fingerprint = {0x0102030405060708u, 0xff},
                                         .lockstep = true,
                                         .input_delay = 3,
                                         .resumed = true,
                                         .orders = 41,
                                         .watchable = true,
                                         .kind_reason = FOLIOT__KIND_FINGERPRINT,
                                         .near = 5,
                                         .far = 35.5}};
    assert_int_equal(foliot__message_encode(&m, bytes, sizeof bytes, &length), FOLIOT_STATUS_OK);
    put_packet("control", bytes, length);
    fprintf(expected, "control 2 7 arena cubes verlet 2 010200000000000000000000000000fe 500 0.25 "
                      "60 20 0.5 0.125 1 40 0 5 4294967289 65536 0 999 "
                      "0807060504030201ff00000000000000 1 3 1 41 1 2 5 35.5\n");
}

static foliot_input drawn_input(uint32_t player)
{
    foliot_input input = {.player = player, .kind = FOLIOT_INPUT_CONTROL};
    uint32_t kind = foliot__rng_below(&rng, 30);
    if (kind < 2) {
        input.kind = kind ? FOLIOT_INPUT_JOIN : FOLIOT_INPUT_LEAVE;
        return input;
    }
    for (int k = 0; k < FOLIOT_AXIS_COUNT; k++)
        input.axes[k] =
            (int8_t)(kind < 20 ? 127 * ((int)foliot__rng_below(&rng, 3) - 1) : around(127));
    input.buttons =
        (uint16_t)(kind & 1 ? foliot__rng_below(&rng, 65536) : foliot__rng_below(&rng, 2));
    return input;
}

static void expect_block(const foliot__block *block, uint64_t first)
{
    for (uint32_t i = 0; i < block->count; i++) {
        const foliot_input *in = &block->inputs[i];
        fprintf(expected, "  %" PRIu64 " %u", first + block->ages[i], in->player);
        if (in->kind == FOLIOT_INPUT_CONTROL)
            fprintf(expected, " %d %d %d %d %u\n", in->axes[0], in->axes[1], in->axes[2],
                    in->axes[3], in->buttons);
        else
            fprintf(expected, " %s\n", in->kind == FOLIOT_INPUT_LEAVE ? "leaves" : "joins");
    }
}

static void put_control(const foliot__message *m)
{
    uint8_t bytes[FOLIOT__CONTROL_BYTES_MAX];
    size_t length;
    assert_int_equal(foliot__message_encode(m, bytes, sizeof bytes, &length), FOLIOT_STATUS_OK);
    put_packet("control", bytes, length);
}

static void put_update(void *user, const uint8_t *bytes, size_t length)
{
    (void)user;
    put_control(&(foliot__message){
        .kind = FOLIOT__UPDATE,
        .as.update = {.tick = 77, .full = true, .bytes = bytes, .length = (uint32_t)length}});
}

static void put_records(void)
{
    foliot__update_writer *w = calloc(1, sizeof *w);
    assert_non_null(w);
    fprintf(packets, "bodies 1000\n");
    foliot__update_begin(w, 1000, put_update, NULL);
    foliot__update_var(
        w, &(foliot_var){.key = "score.ada", .type = FOLIOT_VAR_INTEGER, .integer = 1234567890123});
    foliot__update_var(w, &(foliot_var){.key = "clock", .type = FOLIOT_VAR_NUMBER, .number = 0.1});
    foliot__update_var(
        w, &(foliot_var){.key = "phase", .type = FOLIOT_VAR_TEXT, .text = "second half"});
    foliot__update_var_removed(w, "winner");
    foliot__update_tag(w, 3, 7);
    foliot__update_tag(w, 4, 300);
    foliot__update_tag(w, 700, UINT32_MAX);
    foliot__update_spawned(w, 130, 2, 5);
    foliot__update_despawned(w, 130);
    foliot__update_joint_made(w, 9,
                              &(foliot__known_joint){.kind = FOLIOT_CONSTRAINT_BALL,
                                                     .a = 7,
                                                     .b = 200,
                                                     .anchor_a = {0.5f, 0, -1},
                                                     .anchor_b = {0, 0.25f, 3}});
    foliot__update_joint_made(
        w, 130,
        &(foliot__known_joint){.kind = FOLIOT_CONSTRAINT_WELD, .a = 999, .b = FOLIOT_NO_BODY});
    foliot__update_joint_broken(w, 300);
    for (uint32_t slot = 20; slot < 30; slot++)
        foliot__update_tag(w, slot * slot, slot % 4 ? slot : 70000 + slot);
    foliot__update_tag(w, 999, 3);
    foliot__update_tag(w, 5, 1);
    foliot__update_gravity(w, (const double[3]){0, -0.5, -9.8125});
    foliot__update_end(w, "red has won", "");
    foliot__update_finish(w, false);
    free(w);
    fprintf(expected, "control 22 77 1\n  var score.ada 1234567890123\n  var clock "
                      "0.10000000000000001\n  var phase second half\n  var winner removed\n  tags "
                      "3=7 4=300 700=4294967295\n  spawned 130 2 5\n  despawned 130\n  joint "
                      "9 2 7 200 0.5 0 -1 0 0.25 3\n  joint 130 4 999 world 0 0 0 0 0 0\n"
                      "  joint-broken 300\n  tags 400=70020 441=21 484=22 529=23 576=70024 625=25 "
                      "676=26 729=27 784=70028 841=29 999=3\n  tags 5=1\n  gravity 0 -0.5 "
                      "-9.8125\n  end red has won \n");
}

static foliot_command impulse(void)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_impulse);
    c.fields = FOLIOT_COMMAND_HAS(impulse, body) | FOLIOT_COMMAND_HAS(impulse, linear);
    c.as.impulse.body.value = (uint64_t)1 << 32;
    c.as.impulse.linear[2] = 1;
    c.sequence = 1000;
    return c;
}

// Ticks 52, 53 and 57 of 50 to 60 have commands.
static void put_commands(void)
{
    uint8_t bytes[FOLIOT_PACKET_BYTES_MAX], runs[FOLIOT__COMMAND_RUNS_BYTES];
    uint64_t from = 50, end = 60;
    foliot__command_log log;
    foliot_command_list list = {0};
    foliot_command c = impulse();
    assert_int_equal(foliot_command_list_append(&list, &c), FOLIOT_STATUS_OK);
    foliot__command_log_init(&log, 64, SIZE_MAX);
    for (uint64_t tick = 52; tick < 58; tick += tick == 53 ? 4 : 1)
        assert_int_equal(foliot__command_log_put(&log, tick, &list), FOLIOT_STATUS_OK);
    foliot__relay relay = {.end = 60, .ticks = 10, .block = bytes, .runs = runs};
    relay.runs_length = foliot__command_runs(&log, &from, &end, true, runs);
    put_packet("packet", bytes, foliot__relay_encode(&relay, bytes));
    fprintf(expected, "relay 60 10\n  commands 52 53 57\n");
    put_control(
        &(foliot__message){.kind = FOLIOT__TICKS_PART,
                           .as.ticks_part = {.first = 50,
                                             .ticks = 10,
                                             .block = bytes,
                                             .commands = runs,
                                             .commands_length = (uint32_t)relay.runs_length}});
    fprintf(expected, "control 8 50 10\n  commands 52 53 57\n");
    const foliot__tick_commands *t = foliot__command_log_find(&log, 52);
    unsigned sum = 0;
    for (uint32_t i = 2; i < t->total; i++) // behind the sequence
        sum += t->bytes[i];
    sum += t->bytes[0] + t->bytes[1];
    put_control(&(foliot__message){
        .kind = FOLIOT__COMMANDS,
        .as.commands = {.tick = 52, .total = t->total, .bytes = t->bytes, .length = t->total}});
    fprintf(expected, "control 23 52 0 %u\n  from 1000 %u\n", t->total, sum);
    foliot__command_log_free(&log);
    foliot_command_list_destroy(&list);
}

static void put_games(void)
{
    static const uint8_t text[] = "hi \xc3\xab";
    put_control(&(foliot__message){.kind = FOLIOT__ORDER,
                                   .as.order = {.sequence = 42,
                                                .kind = FOLIOT_ORDER_CHAT,
                                                .bytes = text,
                                                .length = 5,
                                                .shown = (uint64_t)1 << 40}});
    fprintf(expected, "control 13 42 1 686920c3ab 1099511627776\n");
    put_control(
        &(foliot__message){.kind = FOLIOT__ORDER_ACKNOWLEDGE, .as.order_acknowledge.sequence = 42});
    fprintf(expected, "control 14 42\n");
    put_control(&(foliot__message){
        .kind = FOLIOT__MESSAGE,
        .as.message = {
            .tick = 99, .from = FOLIOT__FROM_PLAYER, .player = 3, .bytes = text, .length = 2}});
    fprintf(expected, "control 15 99 1 3 6869\n");
    put_records();
    put_commands();
}

static void put_lockstep(uint64_t first)
{
    static foliot__block block;
    uint8_t bytes[FOLIOT_PACKET_BYTES_MAX], inner[1000];
    block = (foliot__block){.ticks = 1 + foliot__rng_below(&rng, 300)};
    for (uint32_t age = 0; age < block.ticks; age++)
        for (uint32_t player = 0; player < 20; player++)
            for (uint32_t times = foliot__rng_below(&rng, 100) == 0 ? 1 + foliot__rng_below(&rng, 2)
                                                                    : 0;
                 times > 0; times--) {
                block.ages[block.count] = age;
                block.inputs[block.count++] = drawn_input(player);
            }
    size_t inner_length = foliot__block_encode(&block, inner, sizeof inner);
    if (inner_length == SIZE_MAX)
        return;
    foliot__relay relay = {.end = (uint32_t)(first + block.ticks),
                           .ticks = block.ticks,
                           .block = inner,
                           .block_length = inner_length};
    put_packet("packet", bytes, foliot__relay_encode(&relay, bytes));
    fprintf(expected, "relay %u %u\n", relay.end, relay.ticks);
    expect_block(&block, first);
    if (inner_length > 0) {
        foliot__early early = {(uint32_t)first, block.ticks, inner, inner_length};
        put_packet("packet", bytes, foliot__early_encode(&early, bytes));
        fprintf(expected, "early %u %u\n", early.first, early.ticks);
        expect_block(&block, first);
        put_packet("packet", (const uint8_t[]){FOLIOT__EARLY_PACKET}, 1);
        fprintf(expected, "asks for early inputs\n");
    }
    foliot__lockstep_input input = {
        .acks = {.next = (uint32_t)first, .count = 2, .runs = {{1, 200}, {16383, 3}}},
        .behind = foliot__rng_below(&rng, 1000),
        .digests = 0xff00000000000001u,
        .ahead = block.ticks + 6,
        .sent_ms = 65535,
        .shown = 4660,
        .state = 200,
        .back = 7,
        .ticks = block.ticks,
        .block = inner,
        .block_length = inner_length};
    put_packet("packet", bytes, foliot__lockstep_input_encode(&input, bytes));
    fprintf(expected, "step %u 1+200 16383+3 %u 01000000000000ff %u 65535 4660 200 7 %u\n",
            input.acks.next, input.behind, input.ahead, input.ticks);
    expect_block(&block, first);
    foliot__lockstep_status status = {.tick = 9,
                                      .acks = {.next = 5, .count = 1, .runs = {{2, 300}}},
                                      .checked = 8,
                                      .diverged = true,
                                      .stamp = 11,
                                      .slack_us = -5,
                                      .echo_ms = 12,
                                      .held_ms = 13,
                                      .late = 14,
                                      .missing = 15};
    put_packet("packet", bytes, foliot__lockstep_status_encode(&status, bytes));
    fprintf(expected, "standing 9 5 2+300 8 1 11 -5 12 13 14 15\n");
}

static void compare(const char *want_file, const char *got_file)
{
    char want[512], got[512];
    FILE *a = fopen(want_file, "r"), *b = fopen(got_file, "r");
    assert_non_null(a);
    assert_non_null(b);
    unsigned lines = 0;
    while (fgets(want, sizeof want, a)) {
        assert_non_null(fgets(got, sizeof got, b));
        assert_string_equal(got, want);
        lines++;
    }
    assert_null(fgets(got, sizeof got, b));
    check_gt(lines, 3000);
    print_message("%u lines agree\n", lines);
    fclose(a);
    fclose(b);
}

TEST(a_second_reader_finds_what_went_in)
{
    if (system("perl -e 1 2>/dev/null") != 0) {
        print_message("skipped: there is no perl\n");
        skip();
    }
    char folder[] = "/tmp/foliot-protocol-XXXXXX", names[3][64], command[512];
    assert_non_null(mkdtemp(folder));
    static const char *const parts[] = {"packets", "expected", "got"};
    for (int i = 0; i < 3; i++)
        snprintf(names[i], sizeof names[i], "%s/%s", folder, parts[i]);
    packets = fopen(names[0], "w");
    expected = fopen(names[1], "w");
    assert_true(packets);
    assert_true(expected);
    put_world(&(foliot_snapshot_format){0x1p-9, 0x1p-13, {0, 0, -1456}, 64881, true, true, BODIES},
              4, 100);
    put_world(&(foliot_snapshot_format){0x1p-9, 0x1p-11, {3, -357, 0}, 65536, true, false, BODIES},
              2, 70000);
    put_world(&(foliot_snapshot_format){0x1p-9, 0x1p-11, {0, 0, 0}, 65536, false, false, BODIES}, 2,
              200000);
    put_world(&(foliot_snapshot_format){0x1p-9, 0x1p-9, {0, 0, -90}, 30000, true, true, BODIES}, 0,
              300000);
    put_packets_of_ours();
    put_games();
    for (uint64_t i = 0; i < 40; i++)
        put_lockstep(1000 * i);
    fclose(packets);
    fclose(expected);
    snprintf(command, sizeof command, READER " < %s > %s", names[0], names[2]);
    assert_int_equal(system(command), 0);
    compare(names[1], names[2]);
    for (int i = 0; i < 3; i++)
        remove(names[i]);
    remove(folder);
}

int main(void)
{
    rng = foliot__rng_seeded(check_seed(1));
    return check_run(NULL, NULL);
}
