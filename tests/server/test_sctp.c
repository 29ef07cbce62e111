// SPDX-License-Identifier: MIT
// test_sctp.c: SCTP packets inside a data channel, of a peer that means harm: what is let through
// to usrsctp, chunk by chunk, and an association that goes on afterwards. Without the filter the
// first test never ends. Method: two associations in this process (tests/fuzz/fuzz_sctp.c).
#include "check.h"

#include "rtc/present.h"

#if FOLIOT__RTC_PRESENT

#include <stdio.h>
#include <unistd.h>

#include "corpus.h"

#define LLVMFuzzerTestOneInput fuzz_sctp_one
#include "../fuzz/fuzz_sctp.c"
#undef LLVMFuzzerTestOneInput

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

static void an_init_with_an_empty_parameter_does_not_stop_an_open_channel(void **state)
{
    (void)state;
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
static void long_gaps_cost_nothing(void **state)
{
    (void)state;
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

static void chunks_are_let_through_where_they_are_due(void **state)
{
    (void)state;
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

static void only_the_cookie_that_opened_it_comes_again(void **state)
{
    (void)state;
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

static void seeds_of_the_fuzzer_hold(void **state)
{
    (void)state;
    check_ge(corpus_run("sctp", fuzz_sctp_one, 40), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_init_with_an_empty_parameter_does_not_stop_an_open_channel),
        cmocka_unit_test(long_gaps_cost_nothing),
        cmocka_unit_test(chunks_are_let_through_where_they_are_due),
        cmocka_unit_test(only_the_cookie_that_opened_it_comes_again),
        cmocka_unit_test(seeds_of_the_fuzzer_hold),
    };
    alarm(100); // where a library loops, the test ends by this signal
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) // this build has no data channels
{
    return 0;
}

#endif
