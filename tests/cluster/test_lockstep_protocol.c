// SPDX-License-Identifier: MIT
// test_lockstep_protocol.c: everything that a lockstep session sends, taken from the wire, and read
// by the reader in Perl that was written from docs/reference/protocol.md. It must find in each
// packet what our own decoders find, leave no byte over, and come to the same sums and chains of
// digests from the states' digests alone.
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "base/bytes.h"
#include "divergence/perturb.h"
#include "wire/lockstep_message.h"
#include "wire/message.h"

#define READER                                                                                     \
    "perl tests/unit/protocol_reader.pl docs/reference/protocol.md common/wire/snapshot_priors.h " \
    "common/wire/lockstep_priors.h common/wire/partial_priors.h"
#define KINDS 32

typedef struct capture {
    FILE *packets, *expected;
    unsigned seen[KINDS]; // by the kind of message or packet
    uint8_t letters[64];  // of questions, by number
} capture;

// -- what our decoders find

static void expect_block(capture *c, const uint8_t *bytes, size_t length, uint32_t ticks,
                         uint64_t first)
{
    static foliot__block block;
    assert_int_equal(foliot__block_decode(bytes, length, ticks, &block), FOLIOT_STATUS_OK);
    for (uint32_t i = 0; i < block.count; i++) {
        const foliot_input *in = &block.inputs[i];
        fprintf(c->expected, "  %" PRIu64 " %u", first + block.ages[i], in->player);
        if (in->kind == FOLIOT_INPUT_CONTROL)
            fprintf(c->expected, " %d %d %d %d %u\n", in->axes[0], in->axes[1], in->axes[2],
                    in->axes[3], in->buttons);
        else
            fprintf(c->expected, " %s\n", in->kind == FOLIOT_INPUT_LEAVE ? "leaves" : "joins");
    }
}

static void expect_runs(capture *c, const foliot__tick_acks *acks)
{
    for (uint32_t i = 0; i < acks->count; i++)
        fprintf(c->expected, " %u+%u", acks->runs[i].missing, acks->runs[i].here);
}

static void expect_input(capture *c, const uint8_t *bytes, size_t length)
{
    foliot__lockstep_input p;
    assert_int_equal(foliot__lockstep_input_decode(bytes, length, &p), FOLIOT_STATUS_OK);
    fprintf(c->expected, "step %u", p.acks.next);
    expect_runs(c, &p.acks);
    fprintf(c->expected, " %u ", p.behind);
    for (int i = 0; i < 8; i++)
        fprintf(c->expected, "%02x", (unsigned)(p.digests >> 8 * i & 255));
    fprintf(c->expected, " %u %u %u %u %u %u\n", p.ahead, p.sent_ms, p.shown, p.state, p.back,
            p.ticks);
    expect_block(c, p.block, p.block_length, p.ticks, p.acks.next + p.ahead + 1 - p.back - p.ticks);
}

static void expect_status(capture *c, const uint8_t *bytes, size_t length)
{
    foliot__lockstep_status p;
    assert_int_equal(foliot__lockstep_status_decode(bytes, length, &p), FOLIOT_STATUS_OK);
    fprintf(c->expected, "standing %u %u", p.tick, p.acks.next);
    expect_runs(c, &p.acks);
    fprintf(c->expected, " %u %d %u %d %u %u %u %u\n", p.checked, p.diverged, p.stamp, p.slack_us,
            p.echo_ms, p.held_ms, p.late, p.missing);
}

static void expect_packet(capture *c, const uint8_t *bytes, size_t length)
{
    foliot__relay relay;
    if (bytes[0] == FOLIOT__LOCKSTEP_INPUT_PACKET) {
        expect_input(c, bytes, length);
    } else if (bytes[0] == FOLIOT__LOCKSTEP_STATUS_PACKET) {
        expect_status(c, bytes, length);
    } else if (foliot__early_is_asked(bytes, length)) {
        fprintf(c->expected, "asks for early inputs\n");
    } else if (bytes[0] == FOLIOT__EARLY_PACKET) {
        foliot__early early;
        assert_int_equal(foliot__early_decode(bytes, length, &early), FOLIOT_STATUS_OK);
        fprintf(c->expected, "early %u %u\n", early.first, early.ticks);
        expect_block(c, early.block, early.block_length, early.ticks, early.first);
    } else {
        assert_int_equal(foliot__relay_decode(bytes, length, &relay), FOLIOT_STATUS_OK);
        fprintf(c->expected, "relay %u %u\n", relay.end, relay.ticks);
        expect_block(c, relay.block, relay.block_length, relay.ticks, relay.end - relay.ticks);
    }
}

static void expect_question(capture *c, const foliot__search_message *m)
{
    foliot__reader r = foliot__reader_of(m->bytes, m->length);
    uint8_t letter = c->letters[m->number % sizeof c->letters] = foliot__read_u8(&r);
    fprintf(c->expected, "control 10 %u %" PRIu64 "\n  asks %c %" PRIu64, m->number, m->first,
            letter, foliot__read_u64(&r));
    if (letter == 'R') {
        fprintf(c->expected, " %u", foliot__read_u8(&r));
        for (int i = 0; i < 3; i++)
            fprintf(c->expected, " %u", foliot__read_u32(&r));
    }
    fprintf(c->expected, "\n");
}

static void expect_answer(capture *c, const foliot__search_message *m)
{
    foliot__reader r = foliot__reader_of(m->bytes, m->length);
    uint8_t letter = c->letters[m->number % sizeof c->letters];
    fprintf(c->expected, "control 11 %u\n  %s", m->number, m->length ? "says" : "knows not");
    if (m->length && letter == 'L')
        fprintf(c->expected, " %u", foliot__read_u16(&r));
    if (m->length && letter == 'R') {
        fprintf(c->expected, " %u", foliot__read_u32(&r));
        fprintf(c->expected, " %u", foliot__read_u8(&r));
    }
    while (foliot__reader_left(&r) >= 8)
        fprintf(c->expected, " %016" PRIx64, foliot__read_u64(&r));
    fprintf(c->expected, "\n");
}

static void expect_diverged(capture *c, const foliot__diverged *d)
{
    fprintf(c->expected,
            "control 12 %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
            " %u %u %u %u %s %s %s %d %d\n",
            d->tick, d->index, d->expected, d->actual, d->ulps, d->part, d->field, d->type, d->body,
            d->stage, d->group, d->field_name, d->part_known, d->field_known);
}

// False: a message of other sections.
static bool expect_control(capture *c, const foliot__message *m)
{
    unsigned sum = 0;
    switch (m->kind) {
    case FOLIOT__KEYFRAME_PART:
        for (uint32_t i = 0; i < m->as.keyframe_part.length; i++)
            sum += m->as.keyframe_part.bytes[i];
        fprintf(c->expected, "control 7 %" PRIu64 " %u %u %u %u %u %u\n", m->as.keyframe_part.tick,
                m->as.keyframe_part.players, m->as.keyframe_part.offset, m->as.keyframe_part.total,
                m->as.keyframe_part.state_bytes, m->as.keyframe_part.length, sum);
        return true;
    case FOLIOT__TICKS_PART:
        fprintf(c->expected, "control 8 %" PRIu64 " %u\n", m->as.ticks_part.first,
                m->as.ticks_part.ticks);
        expect_block(c, m->as.ticks_part.block, m->as.ticks_part.length, m->as.ticks_part.ticks,
                     m->as.ticks_part.first);
        return true;
    case FOLIOT__KEYFRAME_ACKNOWLEDGE:
        fprintf(c->expected, "control 9 %" PRIu64 " %u\n", m->as.keyframe_acknowledge.tick,
                m->as.keyframe_acknowledge.offset);
        return true;
    case FOLIOT__SEARCH_REQUEST:
        expect_question(c, &m->as.search);
        return true;
    case FOLIOT__SEARCH_RESPONSE:
        expect_answer(c, &m->as.search);
        return true;
    case FOLIOT__DIVERGED:
        expect_diverged(c, &m->as.diverged);
        return true;
    case FOLIOT__KIND:
        fprintf(c->expected, "control 25 %u %" PRIu64 " %u %u\n", m->as.kind.kind, m->as.kind.tick,
                m->as.kind.sequence, m->as.kind.reason);
        return true;
    default:
        return false;
    }
}

static void take(void *user, unsigned from, foliot_delivery delivery, const uint8_t *bytes,
                 size_t length)
{
    static foliot__message m;
    capture *c = user;
    bool control =
        delivery == FOLIOT_DELIVERY_RELIABLE || foliot__message_is_control(bytes, length);
    if (control)
        assert_int_equal(foliot__message_decode(bytes, length, &m), FOLIOT_STATUS_OK);
    bool watched = !control && bytes[0] <= FOLIOT__STATUS_PACKET; // of section 3 and 4
    if (watched || (control && !expect_control(c, &m)))
        return;
    if (!control)
        expect_packet(c, bytes, length);
    c->seen[control ? (unsigned)m.kind : bytes[0]]++;
    fprintf(c->packets, "from %u\n%s ", from, control ? "control" : "packet");
    for (size_t i = 0; i < length; i++)
        fprintf(c->packets, "%02x", bytes[i]);
    fputc('\n', c->packets);
}

// -- a session with all that there is

// Loss, two players one of whom diverges and is healed, a late spectator.
static void play(capture *c, FILE *states)
{
    cluster_options options = {.tap = take, .tap_user = c};
    cluster *a = cluster_create(&options);
    static const foliot_host none;
    foliot_perturbation fault = {.tick = 300,
                                 .stage = FOLIOT_STAGE_integrate,
                                 .body = 2,
                                 .field = FOLIOT_FIELD_velocity_z,
                                 .ulps = 5};
    foliot__perturber perturber = {.fault = &fault};
    foliot_host host = foliot__perturbing_host(&none, &perturber);
    foliot_client_config config = foliot_client_config_default();
    config.step_host = &host;
    foliot_client_config predicts = foliot_client_config_default();
    predicts.predicts = true;
    cluster_join(a, "delay=30ms,loss=20%", &predicts);
    unsigned bad = cluster_join(a, "delay=60ms,loss=10%,jitter=0-50ms", &config);
    cluster_run(a, 3);
    cluster_spectator(a, "delay=20ms,loss=5%");
    cluster_run(a, 7);
    assert_int_equal(a->found_count, 1);
    for (uint64_t tick = 1; tick <= cluster_get_tick(a); tick++)
        fprintf(states, "state %" PRIu64 " %016" PRIx64 " %016" PRIx64 "\n", tick,
                a->history[tick].high, a->history[tick].low);
    fprintf(states, "astray %u %" PRIu64 "\n", bad, fault.tick);
    cluster_destroy(a);
}

static void compare(const char *want_file, const char *got_file)
{
    char want[4096], got[4096];
    unsigned lines = 0, sums = 0, links = 0;
    FILE *a = fopen(want_file, "r"), *b = fopen(got_file, "r");
    assert_true(a);
    assert_true(b);
    for (; fgets(want, sizeof want, a); lines++) {
        assert_non_null(fgets(got, sizeof got, b));
        assert_string_equal(got, want);
    }
    assert_non_null(fgets(got, sizeof got, b));
    assert_int_equal(sscanf(got, "compared %u sums, %u links", &sums, &links), 2);
    print_message("%u lines agree, %u sums of digests and %u links\n", lines, sums, links);
    check_gt(lines, 3000);
    check_gt(sums, 1000);
    check_gt(links, 0);
    fclose(a);
    fclose(b);
}

TEST(a_second_reader_finds_what_was_sent)
{
    if (system("perl -e 1 2>/dev/null") != 0) {
        print_message("skipped: there is no perl\n");
        skip();
    }
    char folder[] = "/tmp/foliot-captured-XXXXXX", names[4][64], command[512];
    static const char *const parts[] = {"states", "packets", "expected", "got"};
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 4; i++)
        snprintf(names[i], sizeof names[i], "%s/%s", folder, parts[i]);
    FILE *states = fopen(names[0], "w");
    capture c = {.packets = fopen(names[1], "w"), .expected = fopen(names[2], "w")};
    assert_true(states);
    assert_true(c.packets);
    assert_true(c.expected);
    play(&c, states);
    fclose(states);
    fclose(c.packets);
    fclose(c.expected);
    static const unsigned kinds[] = {7, 8, 9, 10, 11, 12, 19, 20, 21, 25, 26};
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        check_gt(c.seen[kinds[i]], 0);
    snprintf(command, sizeof command, "cat %s %s | " READER " > %s", names[0], names[1], names[3]);
    assert_int_equal(system(command), 0);
    compare(names[2], names[3]);
    for (int i = 0; i < 4; i++)
        remove(names[i]);
    remove(folder);
}
