// SPDX-License-Identifier: MIT
// test_sctp.c: SCTP packets inside a data channel, of a peer that means harm: what is let through
// to usrsctp, chunk by chunk, and an association that goes on afterwards. Without the filter the
// first test never ends. Method: two associations in this process (tests/fuzz/fuzz_sctp.c).
#include "check.h"

#include <stdio.h>
#include <unistd.h>

#include "corpus.h"
#include "foliot/transport.h"

#define LLVMFuzzerTestOneInput fuzz_sctp_one
#include "../fuzz/fuzz_sctp.c"
#undef LLVMFuzzerTestOneInput

#define SECOND_NS ((uint64_t)1000000000u)

// Both ends are open, and messages still come through both ways.
static void check_works(void)
{
    assert_true(is_open());
    uint64_t before = messages;
    for (int i = 0; i < 5; i++) {
        talk(1);
        open_both();
    }
    check_ge(messages, before + 5);
}

static void open_channel(void)
{
    dial();
    open_both();
    check_works();
}

TEST(an_init_with_an_empty_parameter_does_not_stop_an_open_channel)
{
    static const uint8_t init[24] = {1, 0, 0, 24, 1, 2, 3, 4, 0,    1, 0, 0,
                                     0, 1, 0, 1,  0, 0, 0, 1, 0x80, 0, 0, 0};
    open_channel();
    inject(NO_TAG, init, sizeof init);
    check_works();
    dial(); // and not one that opens
    inject(NO_TAG, init, sizeof init);
    open_both();
    check_works();
    hang_up();
}

// Gap blocks that usrsctp would walk TSN by TSN, 480 times 65,535 of them.
TEST(long_gaps_cost_nothing)
{
    static uint8_t sack[16 + 4 * 480];
    static const uint8_t head[16] = {
        3, 0, sizeof sack >> 8, sizeof sack & 255, 255, 255, 255, 254, 0, 1, 0, 0, 1, 480 - 256};
    memcpy(sack, head, sizeof head);
    for (size_t i = 0; i < 480; i++)
        memcpy(sack + 16 + 4 * i, "\0\2\xff\xff", 4);
    open_channel();
    talk(1);
    talk(1);
    uint64_t begun_ns = cpu_ns();
    for (int i = 0; i < 200; i++)
        inject(RELATIVE, sack, sizeof sack);
    check_le(cpu_ns() - begun_ns, 100000000u); // without the filter, 1.1 s
    check_works();
    hang_up();
}

// -- the size of packets

// A turn of both ends every 20 ms.
static void turn(uint64_t *now_ns, int steps)
{
    for (int i = 0; i < steps; i++) {
        *now_ns += 20000000u;
        foliot__sctp_probe(victim.sctp, *now_ns);
        deliver(&victim, &peer);
        foliot__sctp_tick(20);
        deliver(&peer, &victim);
    }
}

// Before each turn, a message of the largest packet.
static void stream(uint64_t *now_ns, int steps)
{
    static const uint8_t message[FOLIOT_PACKET_BYTES_MAX];
    for (int i = 0; i < steps; i++) {
        foliot__sctp_send(victim.sctp, message, sizeof message, *now_ns);
        turn(now_ns, 1);
    }
}

typedef struct found {
    size_t path_bytes;
    uint32_t bytes, packets; // packets: of one message
} found;

TEST(packets_are_as_large_as_one_that_arrived)
{
    static const found paths[] = {{528, 528, 3},   {630, 528, 3},   {640, 640, 3},
                                  {700, 640, 3},   {800, 768, 2},   {1000, 1000, 2},
                                  {1190, 1100, 2}, {1200, 1200, 2}, {1240, 1232, 2},
                                  {1265, 1265, 1}, {1472, 1265, 1}};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        uint64_t now_ns = SECOND_NS;
        path_bytes = paths[i].path_bytes;
        open_channel();
        uint64_t before = messages;
        stream(&now_ns, 200);
        check_eq(messages, before + 200); // nothing is lost meanwhile
        check_eq(foliot__sctp_get_datagram_bytes(victim.sctp), paths[i].bytes);
        uint64_t packets = victim.packets;
        stream(&now_ns, 50);
        check_eq(victim.packets - packets, 50 * paths[i].packets);
        check_eq(victim.lost, 0u);
        check_le(victim.probes, 40u);
        hang_up();
    }
    path_bytes = SIZE_MAX;
}

// usrsctp skips what is lost by the real clock: that messages go on is in test_channel.c.
TEST(a_path_that_becomes_smaller_is_found_and_so_is_a_larger_one)
{
    uint64_t now_ns = SECOND_NS;
    open_channel();
    stream(&now_ns, 100);
    check_eq(foliot__sctp_get_datagram_bytes(victim.sctp), FOLIOT__SCTP_DATAGRAM_BYTES);
    path_bytes = 700;
    turn(&now_ns, 250);
    check_eq(foliot__sctp_get_datagram_bytes(victim.sctp), 640u);
    path_bytes = SIZE_MAX;
    turn(&now_ns, 3200);
    check_eq(foliot__sctp_get_datagram_bytes(victim.sctp), FOLIOT__SCTP_DATAGRAM_BYTES);
    foliot__sctp_move(victim.sctp); // of another path nothing is known
    check_eq(foliot__sctp_get_datagram_bytes(victim.sctp), FOLIOT__PATH_BYTES_MIN);
    stream(&now_ns, 100);
    check_eq(foliot__sctp_get_datagram_bytes(victim.sctp), FOLIOT__SCTP_DATAGRAM_BYTES);
    hang_up();
}

TEST(nothing_is_larger_than_allowed)
{
    static const uint32_t most[] = {FOLIOT__PATH_BYTES_MIN, 700, FOLIOT__PATH_BYTES_MAX};
    for (size_t i = 0; i < sizeof most / sizeof most[0]; i++) {
        uint64_t now_ns = SECOND_NS, before = messages;
        datagram_bytes = most[i];
        path_bytes = most[i]; // and what is larger would be lost
        open_channel();
        before = messages;
        stream(&now_ns, 3200);
        check_eq(messages, before + 3200);
        check_eq(foliot__sctp_get_datagram_bytes(victim.sctp), most[i]);
        check_le(victim.probed + FOLIOT__DTLS_OVER_BYTES, most[i]);
        check_eq(victim.probes > 0, most[i] > FOLIOT__PATH_BYTES_MIN);
        hang_up();
    }
    datagram_bytes = FOLIOT__SCTP_DATAGRAM_BYTES;
    path_bytes = SIZE_MAX;
}

// Answers to probes of any number and size: only a probe's own size counts, and few probes leave.
TEST(answers_that_lie_about_sizes_count_for_nothing)
{
    uint8_t beat[20] = {FOLIOT__CHUNK_HEARTBEAT_ACK, 0, 0, 20, 0, 1, 0, 16};
    uint64_t now_ns = SECOND_NS;
    path_bytes = FOLIOT__PATH_BYTES_MIN; // none of the probes arrives
    open_channel();
    stream(&now_ns, 5);
    check_gt(victim.probes, 0u);
    for (unsigned number = 0; number < 65536; number += number < 64 ? 1 : 251) {
        static const uint16_t sizes[] = {0, 1, 529, 640, 1265, 1266, 1472, 65535};
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            beat[16] = (uint8_t)(number >> 8);
            beat[17] = (uint8_t)number;
            beat[18] = (uint8_t)(sizes[i] >> 8);
            beat[19] = (uint8_t)sizes[i];
            inject(RELATIVE, beat, sizeof beat);
        }
    }
    check_eq(foliot__sctp_get_datagram_bytes(victim.sctp), FOLIOT__PATH_BYTES_MIN);
    uint32_t probes = victim.probes;
    for (int i = 0; i < 500; i++) { // and each probe of the last ones is answered
        stream(&now_ns, 1);
        memcpy(beat + 18, victim.probe + 10, 2);
        for (uint8_t number = 0; number < 8; number++) {
            beat[16] = 0;
            beat[17] = (uint8_t)-number;
            inject(RELATIVE, beat, sizeof beat);
        }
    }
    check_le(victim.probes - probes, 100u); // in 10 s
    path_bytes = SIZE_MAX;
    check_works();
    hang_up();
}

// -- the filter

#define SOURCE 0x12, 0x34, 0x13, 0x88
#define HEAD SOURCE, 1, 2, 3, 4, 0, 0, 0, 0
#define HEAD_INIT SOURCE, 0, 0, 0, 0, 0, 0, 0, 0
#define INIT_REST 9, 9, 9, 9, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1
#define DATA_CHUNK 0, 7, 0, 17, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 53, 'x', 0, 0, 0
#define SACK_CHUNK 3, 0, 0, 16, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0
#define BEAT_CHUNK 4, 0, 0, 12, 0, 1, 0, 8, 1, 2, 3, 4

typedef struct sample {
    const char *name;
    bool opening;
    int kept; // bytes; 0: nothing
    int length;
    uint8_t bytes[128];
} sample;
#define BYTES(...)                                                                                 \
    sizeof((uint8_t[]){__VA_ARGS__}),                                                              \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static const sample samples[] = {
    {"data", false, 32, BYTES(HEAD, DATA_CHUNK)},
    {"two of them", false, 52, BYTES(HEAD, DATA_CHUNK, DATA_CHUNK)},
    {"data without bytes", false, 0, BYTES(HEAD, 0, 7, 0, 16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 53)},
    {"ordered data", false, 0,
     BYTES(HEAD, 0, 3, 0, 17, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 53, 'x', 0, 0, 0)},
    {"another stream", false, 0,
     BYTES(HEAD, 0, 7, 0, 17, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 53, 'x', 0, 0, 0)},
    {"sack", false, 28, BYTES(HEAD, SACK_CHUNK)},
    {"sack and data", false, 48, BYTES(HEAD, SACK_CHUNK, DATA_CHUNK)},
    {"data and sack", false, 0, BYTES(HEAD, DATA_CHUNK, SACK_CHUNK)},
    {"two sacks", false, 0, BYTES(HEAD, SACK_CHUNK, SACK_CHUNK)},
    {"a gap", false, 32, BYTES(HEAD, 3, 0, 0, 20, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 3)},
    {"a gap from 0", false, 0,
     BYTES(HEAD, 3, 0, 0, 20, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 3)},
    {"a gap backwards", false, 0,
     BYTES(HEAD, 3, 0, 0, 20, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 3, 0, 2)},
    {"a long gap", false, 0,
     BYTES(HEAD, 3, 0, 0, 20, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 4, 1)},
    {"gaps that overlap", false, 0,
     BYTES(HEAD, 3, 0, 0, 24, 0, 0, 0, 1, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2, 0, 3, 0, 3, 0, 4)},
    {"more gaps than bytes", false, 0,
     BYTES(HEAD, 3, 0, 0, 16, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0)},
    {"heartbeat", false, 24, BYTES(HEAD, BEAT_CHUNK)},
    {"two heartbeats", false, 0, BYTES(HEAD, BEAT_CHUNK, BEAT_CHUNK)},
    {"heartbeat of another length", false, 0, BYTES(HEAD, 4, 0, 0, 12, 0, 1, 0, 4, 1, 2, 3, 4)},
    {"abort loses its reason", false, 16, BYTES(HEAD, 6, 0, 0, 12, 0, 12, 0, 8, 1, 2, 3, 4)},
    {"abort with an empty cause", false, 0, BYTES(HEAD, 6, 0, 0, 12, 0, 12, 0, 0, 1, 2, 3, 4)},
    {"shutdown", false, 20, BYTES(HEAD, 7, 0, 0, 8, 0, 0, 0, 1)},
    {"short shutdown", false, 0, BYTES(HEAD, 7, 0, 0, 4)},
    {"cookie acknowledged", false, 16, BYTES(HEAD, 11, 0, 0, 4)},
    {"forward loses its streams", false, 20, BYTES(HEAD, 192, 0, 0, 12, 0, 0, 0, 1, 0, 0, 0, 1)},
    {"error", false, 0, BYTES(HEAD, 9, 0, 0, 8, 0, 6, 0, 4)},
    {"ecn echo", false, 0, BYTES(HEAD, 12, 0, 0, 8, 0, 0, 0, 1)},
    {"auth and data", false, 32, BYTES(HEAD, 15, 0, 0, 8, 0, 0, 0, 1, DATA_CHUNK)},
    {"nr-sack", false, 0,
     BYTES(HEAD, 16, 0, 0, 20, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)},
    {"i-data", false, 0,
     BYTES(HEAD, 64, 7, 0, 20, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 53)},
    {"asconf-ack", false, 0, BYTES(HEAD, 128, 0, 0, 8, 0, 0, 0, 1)},
    {"packet dropped", false, 0, BYTES(HEAD, 129, 0, 0, 8, 0, 0, 0, 1)},
    {"re-config and data", false, 32, BYTES(HEAD, 130, 0, 0, 8, 0, 13, 0, 4, DATA_CHUNK)},
    {"asconf", false, 0, BYTES(HEAD, 193, 0, 0, 8, 0, 0, 0, 1)},
    {"i-forward", false, 0, BYTES(HEAD, 194, 0, 0, 8, 0, 0, 0, 1)},
    {"pad", false, 28, BYTES(HEAD, SACK_CHUNK, 132, 0, 0, 4)},
    {"init when open", false, 0, BYTES(HEAD_INIT, 1, 0, 0, 20, INIT_REST)},
    {"init", true, 32, BYTES(HEAD_INIT, 1, 0, 0, 20, INIT_REST)},
    {"init with a tag", true, 0, BYTES(HEAD, 1, 0, 0, 20, INIT_REST)},
    {"data without a tag", true, 0, BYTES(HEAD_INIT, DATA_CHUNK)},
    {"init and more", true, 0, BYTES(HEAD_INIT, 1, 0, 0, 20, INIT_REST, 11, 0, 0, 4)},
    {"init with an empty parameter", true, 0, BYTES(HEAD_INIT, 1, 0, 0, 24, INIT_REST, 0, 5, 0, 0)},
    {"init with a parameter that ends outside", true, 0,
     BYTES(HEAD_INIT, 1, 0, 0, 24, INIT_REST, 0, 5, 0, 8)},
    {"init loses all parameters but one", true, 36,
     BYTES(HEAD_INIT, 1, 0, 0, 40, INIT_REST, 0x80, 8, 0, 6, 0xc0, 0x82, 0, 0, 0xc0, 0, 0, 4, 0, 5,
           0, 8, 127, 0, 0, 1)},
    {"init-ack without a cookie", true, 0, BYTES(HEAD, 2, 0, 0, 20, INIT_REST)},
    {"init-ack", true, 40, BYTES(HEAD, 2, 0, 0, 28, INIT_REST, 0, 7, 0, 8, 1, 2, 3, 4)},
    {"init-ack when open", false, 0, BYTES(HEAD, 2, 0, 0, 28, INIT_REST, 0, 7, 0, 8, 1, 2, 3, 4)},
    {"a chunk of no length", false, 0, BYTES(HEAD, 0, 7, 0, 0)},
    {"a chunk that ends outside", false, 0, BYTES(HEAD, 0, 7, 0, 40, 0, 0, 0, 1)},
    {"a length that is no multiple of 4", false, 0, BYTES(HEAD, 7, 0, 0, 8, 0, 0, 0, 1, 0)},
    {"another port", false, 0, BYTES(0x13, 0x88, 0x13, 0x88, 1, 2, 3, 4, 0, 0, 0, 0, 11, 0, 0, 4)},
};

TEST(chunks_are_let_through_where_they_are_due)
{
    uint8_t kept[FOLIOT__SCTP_FILTER_BYTES_MAX];
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        const sample *s = &samples[i];
        foliot__sctp_due due = {.source = 0x1234, .destination = 5000, .opening = s->opening};
        size_t bytes = foliot__sctp_filter(&due, s->bytes, (size_t)s->length, kept);
        if (bytes != (size_t)s->kept)
            fail_msg("%s: %zu bytes, not %d", s->name, bytes, s->kept);
        if (bytes > 0) { // and what is kept is kept again
            uint8_t again[FOLIOT__SCTP_FILTER_BYTES_MAX];
            assert_int_equal(foliot__sctp_filter(&due, kept, bytes, again), bytes);
            assert_memory_equal(again, kept, bytes);
        }
    }
}

TEST(only_the_cookie_that_opened_it_comes_again)
{
    const uint8_t first[] = {HEAD, 10, 0, 0, 8, 1, 2, 3, 4},
                  other[] = {HEAD, 10, 0, 0, 8, 1, 2, 3, 5};
    uint8_t kept[FOLIOT__SCTP_FILTER_BYTES_MAX];
    foliot__sctp_due due = {.source = 0x1234, .destination = 5000, .opening = true};
    assert_int_equal(foliot__sctp_filter(&due, first, sizeof first, kept), sizeof first);
    due.opening = false;
    assert_int_equal(foliot__sctp_filter(&due, other, sizeof other, kept), 0);
    assert_int_equal(foliot__sctp_filter(&due, first, sizeof first, kept), sizeof first);
    due.opening = true; // and a handshake has an end
    uint32_t passed = 0;
    for (uint32_t i = 0; i < 2 * FOLIOT__SCTP_HANDSHAKES_MAX; i++)
        passed += foliot__sctp_filter(&due, other, sizeof other, kept) > 0;
    check_le(passed, FOLIOT__SCTP_HANDSHAKES_MAX);
}

TEST(seeds_of_the_fuzzer_hold)
{
    check_ge(corpus_run("sctp", fuzz_sctp_one, 40), 7);
}

int main(void)
{
    alarm(100); // where a library loops, the test ends by this signal
    return check_run(NULL, NULL);
}
