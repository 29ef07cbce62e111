// SPDX-License-Identifier: MIT
// test_path_mtu.c: how large a datagram may be is found, whatever the path takes, also when that
// changes; and few probes leave. Method: a path with a limit, a round trip and losses, in steps of
// 20 ms; then fragments, in any order, twice, cut and forged.
#include "check.h"

#include <string.h>

#include "base/rng.h"
#include "net/path_mtu.h"
#include "net/raw_datagram.h"

#define STEP_NS 20000000u
#define SECOND (1000000000u / STEP_NS)

typedef struct way {
    foliot__path_mtu path;
    uint64_t now_ns, round_trip_ns; // as it is expected
    uint64_t lag_ns;                // and what answers take more
    uint32_t limit, probes;
    double loss;
    bool sends_large;
    foliot__rng rng;
    struct {
        uint16_t number;
        uint32_t bytes;
        uint64_t at_ns;
    } back[64];
    uint32_t backs;
} way;

static way way_of(uint32_t limit, double loss)
{
    way w = {.now_ns = 1000000000u, .round_trip_ns = 50000000u, .limit = limit, .loss = loss};
    w.rng = foliot__rng_seeded(limit + 3);
    foliot__path_begin(&w.path, FOLIOT__PATH_BYTES_MAX, w.now_ns);
    return w;
}

static void run(way *w, uint32_t steps)
{
    for (uint32_t i = 0; i < steps; i++, w->now_ns += STEP_NS) {
        w->path.large |= w->sends_large;
        uint32_t size = foliot__path_probe(&w->path, w->now_ns, w->round_trip_ns);
        bool lost = size > w->limit || foliot__rng_unit(&w->rng) < w->loss;
        w->probes += size > 0;
        if (size > 0 && !lost && w->backs < 64) {
            w->back[w->backs].number = w->path.number;
            w->back[w->backs].bytes = size;
            w->back[w->backs++].at_ns = w->now_ns + w->round_trip_ns + w->lag_ns;
        }
        for (uint32_t k = 0; k < w->backs;) {
            if (w->back[k].at_ns > w->now_ns) {
                k++;
                continue;
            }
            foliot__path_answered(&w->path, w->back[k].number, w->back[k].bytes, w->now_ns);
            w->back[k] = w->back[--w->backs];
        }
        check_le(w->path.proven, w->path.bytes);
        check_ge(w->path.proven, FOLIOT__PATH_BYTES_MIN);
    }
}

TEST(sizes_are_found)
{
    static const uint32_t limits[] = {576, 700, 800, 950, 1100, 1199, 1200, 1231, 1232, 1500};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        for (int lossy = 0; lossy < 2; lossy++) {
            way w = way_of(limits[i], lossy ? 0.05 : 0);
            check_eq(w.path.bytes, FOLIOT__PATH_BYTES_START); // at first
            check_eq(w.path.proven, FOLIOT__PATH_BYTES_MIN);
            run(&w, 8 * SECOND);
            check_le(w.path.bytes, limits[i]);
            check_gt(w.path.proven + 140u, limits[i] < 1232 ? limits[i] : 1232);
            check_eq(w.path.proven, w.path.bytes);
            check_le(w.probes, 40);
            run(&w, 50 * SECOND); // and then there is quiet
            check_le(w.probes, 45);
        }
}

// Sizes that arrived are lost now, and later arrive again.
TEST(a_path_that_changes_is_noticed)
{
    way w = way_of(1500, 0);
    w.sends_large = true;
    run(&w, 10 * SECOND);
    check_eq(w.path.bytes, FOLIOT__PATH_BYTES_MAX);
    w.limit = 800;
    run(&w, 8 * SECOND);
    check_eq(w.path.bytes, 768);
    w.limit = 1500;
    run(&w, 65 * SECOND);
    check_eq(w.path.bytes, FOLIOT__PATH_BYTES_MAX);
    check_le(w.probes, 90); // one to confirm in two seconds
}

// A round trip of two seconds, taken for one of 20 ms until it is measured.
TEST(late_answers_count)
{
    for (int lossy = 0; lossy < 2; lossy++) {
        way w = way_of(1500, lossy ? 0.05 : 0);
        w.lag_ns = 2000000000u;
        w.round_trip_ns = 20000000u;
        run(&w, 8 * SECOND);
        check_eq(w.path.proven, FOLIOT__PATH_BYTES_MAX);
        check_eq(w.path.bytes, FOLIOT__PATH_BYTES_MAX);
        check_le(w.probes, 40);
    }
}

// A peer that never answers gets the smallest size, and few probes.
TEST(silence_costs_little)
{
    way w = way_of(0, 0);
    w.sends_large = true;
    run(&w, 600 * SECOND);
    check_eq(w.path.bytes, FOLIOT__PATH_BYTES_MIN);
    check_le(w.probes, 80);
}

// Answers to what was never asked, or before another path began, move nothing.
TEST(only_what_was_asked_counts)
{
    way w = way_of(0, 0);
    run(&w, 1);
    uint16_t number = w.path.number;
    for (uint32_t n = 0; n < 65536; n++)
        if ((uint16_t)n != number)
            foliot__path_answered(&w.path, (uint16_t)n, 1200, w.now_ns);
    foliot__path_answered(&w.path, number, 1199, w.now_ns);
    check_eq(w.path.proven, FOLIOT__PATH_BYTES_MIN);
    foliot__path_begin(&w.path, FOLIOT__PATH_BYTES_MAX, w.now_ns);
    run(&w, 1);
    foliot__path_answered(&w.path, number, 1200, w.now_ns);
    check_eq(w.path.proven, FOLIOT__PATH_BYTES_MIN);
    foliot__path_answered(&w.path, w.path.number, 1200, w.now_ns);
    check_eq(w.path.proven, 1200);
}

TEST(fragments_make_the_packet)
{
    uint8_t packet[FOLIOT_PACKET_BYTES_MAX],
        parts[FOLIOT__RAW_FRAGMENTS_MAX][FOLIOT_PACKET_BYTES_MAX];
    size_t lengths[FOLIOT__RAW_FRAGMENTS_MAX];
    foliot__rng rng = foliot__rng_seeded(5);
    foliot__reassembly r = {0};
    for (uint32_t turn = 0; turn < 3000; turn++) {
        size_t length = 512 + foliot__rng_below(&rng, FOLIOT_PACKET_BYTES_MAX - 511),
               got_length = 0;
        size_t room = 480 + foliot__rng_below(&rng, 32);
        for (size_t i = 0; i < length; i++)
            packet[i] = (uint8_t)foliot__rng_below(&rng, 256);
        uint32_t count = foliot__fragment_count(length, room);
        assert_in_range(count, 2, 3);
        for (uint32_t i = 0; i < count; i++) {
            lengths[i] = foliot__fragment_write(packet, length, (uint8_t)turn, i, count, parts[i]);
            check_le(lengths[i], room);
        }
        const uint8_t *got = NULL;
        uint32_t here = 0, whole = 0, from = foliot__rng_below(&rng, count);
        for (uint32_t k = 0; k < 2 * count; k++) { // each twice
            uint32_t i = (from + k) % count;
            const uint8_t *now;
            size_t now_length;
            assert_true(foliot__fragment_read(&r, parts[i], lengths[i], &now, &now_length));
            here++;
            if (!now)
                continue;
            got = now;
            got_length = now_length;
            whole++;
            check_eq(here, count);
            assert_int_equal(got_length, length);
            assert_memory_equal(got, packet, length);
        }
        check_eq(whole, 1u);
        const uint8_t *none;
        for (size_t cut = 0; cut < lengths[0]; cut += 7) // what was cut is none
            assert_false(foliot__fragment_read(&r, parts[0], cut, &none, &got_length));
        for (uint32_t i = 0; i < 20; i++) { // whatever the heads say, nothing is touched beyond
            memcpy(packet, parts[0], lengths[0]);
            for (uint32_t k = 1; k < 4; k++)
                packet[k] = (uint8_t)foliot__rng_below(&rng, 256);
            bool fine = foliot__fragment_read(&r, packet, lengths[0], &none, &got_length);
            if (fine && none)
                check_le(got_length, FOLIOT_PACKET_BYTES_MAX);
        }
    }
    check_eq(foliot__fragment_count(1200, 4), 0);
}
