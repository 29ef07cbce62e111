// SPDX-License-Identifier: MIT
// test_net.c: parts of common/net without a peer: addresses, the packet filter, the path's largest
// datagram.
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "net/address.h"
#include "net/path_mtu.h"
#include "net/raw_datagram.h"
#include "text_world.h"

// -- address: Goal: addresses of both IP families (common/net/address.h): what is read is what is
// printed, and what counts as one address for limits. Method: examples of each kind.

static foliot__net_address read_one(const char *text)
{
    foliot__net_address address;
    assert_true(foliot__net_address_read(text, 7777, &address));
    return address;
}

static uint64_t key(const char *text)
{
    foliot__net_address address = read_one(text);
    return foliot__net_address_host_key(&address);
}

TEST(what_is_printed_is_what_was_read)
{
    static const char *const pairs[][2] = {
        {"192.0.2.1", "192.0.2.1:7777"},         {"::1", "[::1]:7777"},
        {"2001:DB8:0::1", "[2001:db8::1]:7777"}, {"::ffff:192.0.2.1", "192.0.2.1:7777"},
        {"fe80::1%1", "[fe80::1%lo]:7777"},
    };
    char text[FOLIOT__ADDRESS_TEXT_BYTES];
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        foliot__net_address address = read_one(pairs[i][0]);
        foliot__net_address_print(&address, text, sizeof text);
        assert_string_equal(text, pairs[i][1]);
    }
}

TEST(what_is_no_address_is_refused)
{
    static const char *const bad[] = {
        "",      "localhost",    "192.0.2",  "192.0.2.1.1", "[::1]",
        "::1::", "fe80::1%none", "fe80::1%", "1:2",         "2001:db8::g",
        ":"};
    foliot__net_address address = {.port = 5};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(foliot__net_address_read(bad[i], 7777, &address));
    check_eq(address.port, 5);
}

TEST(a_socket_address_survives_the_way_there_and_back)
{
    static const char *const texts[] = {"192.0.2.1", "2001:db8::1", "fe80::2%1"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        foliot__socket_address socket;
        foliot__net_address address = read_one(texts[i]);
        socklen_t bytes = foliot__net_address_to_socket(&address, &socket);
        foliot__net_address back = foliot__net_address_of_socket(&socket);
        check_eq(bytes, i == 0 ? sizeof socket.four : sizeof socket.six);
        assert_true(foliot__net_address_same(&address, &back));
    }
}

TEST(a_network_of_ipv6_counts_as_one_address)
{
    check_eq(key("2001:db8:0:1::1"), key("2001:db8:0:1:ffff::2"));
    check_ne(key("2001:db8:0:1::1"), key("2001:db8:0:2::1"));
    check_ne(key("192.0.2.1"), key("192.0.2.2"));
    check_eq(key("::ffff:192.0.2.1"), key("192.0.2.1")); // not through the other family
    check_ne(key("::1"), 0u);
    check_ne(key("0.0.0.0"), 0u);
}

TEST(the_loopback_is_known_in_both_families)
{
    static const char *const here[] = {"127.0.0.1", "127.9.9.9", "::1"};
    static const char *const elsewhere[] = {"128.0.0.1", "::2", "::", "1::1"};
    for (size_t i = 0; i < sizeof here / sizeof here[0]; i++) {
        foliot__net_address address = read_one(here[i]);
        assert_true(foliot__net_address_is_loopback(&address));
    }
    for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++) {
        foliot__net_address address = read_one(elsewhere[i]);
        assert_false(foliot__net_address_is_loopback(&address));
    }
}

// -- filter: which bodies let each other through: by category, mask and group, in contacts, in
// impacts of fast bodies, against planes, when sleepers wake, and in queries.

#define HEAD "foliot: 1\nname: t\ntick_hz: 60\ngravity: [0, 0, -9.81]\n"
#define BALL "shape: {kind: sphere, radius: 0.2}"
#define SLAB "shape: {kind: box, half: [2, 2, 0.1]}"

// A ball above a slab: whether it has come to rest on it.
static bool rests(const char *of_slab, const char *of_ball)
{
    char text[512];
    snprintf(text, sizeof text,
             HEAD "bodies:\n"
                  "  - {static: true, position: [0, 0, -9], " SLAB "}\n"
                  "  - {static: true, " SLAB ", filter: {%s}}\n"
                  "  - {position: [0, 0, 0.4], " BALL ", filter: {%s}}\n",
             of_slab, of_ball);
    foliot_world *world = text_world(text);
    step_ticks(world, 60);
    bool on_top = state_of(world, 2).position[2] > 0;
    foliot_world_destroy(world);
    return on_top;
}

TEST(both_masks_must_admit_the_other)
{
    assert_true(rests("", ""));
    assert_true(rests("category: 2", "category: 4"));
    assert_true(rests("category: 2, mask: 4", "category: 4, mask: 2"));
    assert_true(rests("category: 6, mask: 12", "category: 8, mask: 2"));
    assert_false(rests("category: 2, mask: 4", "category: 1, mask: 2"));
    assert_false(rests("category: 2, mask: 1", "category: 1, mask: 4"));
    assert_false(rests("mask: 0", ""));
    assert_false(rests("category: 0x80000000", "mask: 0x7fffffff"));
}

TEST(a_group_decides_before_the_masks)
{
    assert_true(rests("mask: 0, group: 3", "mask: 0, group: 3"));
    assert_false(rests("group: -3", "group: -3"));
    assert_true(rests("group: -3", "group: -4"));
    assert_true(rests("group: 3", "group: -3"));
    assert_false(rests("mask: 0, group: 3", "group: 4"));
    assert_false(rests("group: -2147483648", "group: -2147483648"));
}

// Sixteen balls on one place above a floor, of which pairs of one parity meet.
TEST(pairs_of_dynamic_bodies_and_planes_are_filtered)
{
    foliot_world *world =
        text_world(HEAD "bodies:\n"
                        "  - {static: true, shape: {kind: plane}, filter: {category: 1, mask: 1}}\n"
                        "  - {position: [0, 0, 0.2], " BALL "}\n"
                        "  - {position: [0, 0, 0.2], " BALL ", filter: {category: 3, mask: 1}}\n"
                        "  - {position: [5, 0, 0.2], " BALL ", filter: {category: 2, mask: 2}}\n"
                        "  - {position: [9, 0, 0.2], " BALL ", filter: {category: 3, mask: 1}}\n"
                        "  - {position: [9, 0, 0.7], " BALL ", filter: {category: 2, mask: 2}}\n");
    step_ticks(world, 60);
    check_near(state_of(world, 3).position[2], 0.2 - 9.81 / 2, 0.1); // through the floor
    check_near(state_of(world, 4).position[2], 0.2, 0.01);           // on it
    check_near(state_of(world, 5).position[2], 0.7 - 9.81 / 2, 0.1); // through both
    foliot_world_destroy(world);
}

// Whether a bullet at 600 m/s is stopped by a thin wall.
static bool stopped(const char *of_bullet)
{
    char text[512];
    snprintf(text, sizeof text,
             "foliot: 1\nname: t\ntick_hz: 60\nbodies:\n"
             "  - {static: true, shape: {kind: box, half: [0.01, 2, 2]}, filter: {category: 2}}\n"
             "  - {position: [-5, 0, 0], velocity: [600, 0, 0], " BALL ", filter: {%s}}\n",
             of_bullet);
    foliot_world *world = text_world(text);
    uint32_t hits = 0, count;
    for (int t = 0; t < 4; t++) {
        step_ticks(world, 1);
        foliot_world_get_hit_events(world, &count);
        hits += count;
    }
    bool before = state_of(world, 1).position[0] < 0;
    assert_int_equal(before, hits > 0);
    foliot_world_destroy(world);
    return before;
}

TEST(impacts_are_filtered_too)
{
    assert_true(stopped(""));
    assert_true(stopped("mask: 2"));
    assert_false(stopped("mask: 1"));
}

// A ball that bounces off a wall finds what it may meet on its new path: the near pair only.
TEST(new_paths_after_an_impact_are_filtered)
{
    foliot_world *world = text_world(
        "foliot: 1\nname: t\ntick_hz: 60\nbodies:\n"
        "  - {static: true, position: [2, 0, 0], shape: {kind: box, half: [0.1, 2, 2]}}\n"
        "  - {position: [1, 0, 0], velocity: [240, 0, 0], restitution: 1, friction: 0, " BALL "}\n"
        "  - {static: true, position: [0, 0, 0], shape: {kind: box, half: [0.1, 2, 2]},\n"
        "     filter: {category: 2, mask: 2}}\n");
    step_ticks(world, 1);
    check_near(state_of(world, 1).velocity[0], -240, 1e-6);
    check_near(state_of(world, 1).position[0], 1.7 - (4 - 0.7), 1e-3);
    foliot_world_destroy(world);
}

TEST(what_passes_through_a_sleeper_does_not_wake_it)
{
    foliot_world *world =
        text_world(HEAD "sleep: true\nbodies:\n"
                        "  - {static: true, shape: {kind: plane}, filter: {category: 3}}\n"
                        "  - {position: [0, 0, 0.2], " BALL ", filter: {category: 1, mask: 1}}\n"
                        "  - {position: [0, 0, 30], " BALL ", filter: {category: 2, mask: 2}}\n");
    for (int t = 0; t < 240; t++) {
        step_ticks(world, 1);
        bool asleep = state_of(world, 1).flags & FOLIOT_BODY_ASLEEP;
        assert_true(t < 60 || asleep);
    }
    assert_true(state_of(world, 2).position[2] < 0.25); // it came down to where the sleeper is
    foliot_world_destroy(world);
}

static bool odd(void *user, foliot_body_id body)
{
    ++*(uint32_t *)user;
    return foliot_body_id_get_slot(body) % 2;
}

static uint32_t overlapping(const foliot_world *world, const foliot_query_filter *filter)
{
    static const double place[3], upright[4] = {1, 0, 0, 0};
    static const foliot_shape all = {.kind = FOLIOT_SHAPE_SPHERE, .radius = 5};
    return foliot_world_overlap_shape(world, &all, place, upright, filter, NULL, 0);
}

TEST(queries_ask_by_category_and_mask)
{
    foliot_world *world = text_world(HEAD "bodies:\n"
                                          "  - {" BALL "}\n"
                                          "  - {" BALL ", filter: {category: 2}}\n"
                                          "  - {" BALL ", filter: {category: 6, mask: 1}}\n"
                                          "  - {" BALL ", sensor: true, filter: {category: 2}}\n");
    foliot_query_filter filter = {.mask = 0};
    assert_int_equal(overlapping(world, NULL), 3);
    assert_int_equal(overlapping(world, &filter), 3);
    filter.sensors = true;
    assert_int_equal(overlapping(world, &filter), 4);
    filter.mask = 2;
    assert_int_equal(overlapping(world, &filter), 3);
    filter.sensors = false;
    assert_int_equal(overlapping(world, &filter), 2);
    filter.category = 2; // which the third does not admit
    assert_int_equal(overlapping(world, &filter), 1);
    filter.category = 1;
    assert_int_equal(overlapping(world, &filter), 2);
    uint32_t asked = 0;
    filter.accepts = odd;
    filter.user = &asked;
    assert_int_equal(overlapping(world, &filter), 1);
    assert_int_equal(asked, 2); // of those that the masks admit
    foliot_query_hit hit;
    static const double from[3] = {-9, 0, 0}, direction[3] = {1, 0, 0};
    filter = (foliot_query_filter){.mask = 4};
    assert_true(foliot_world_cast_ray(world, from, direction, 20, &filter, &hit));
    assert_int_equal(foliot_body_id_get_slot(hit.body), 2);
    filter.mask = 8;
    assert_false(foliot_world_cast_ray(world, from, direction, 20, &filter, &hit));
    foliot_world_destroy(world);
}

// Bodies of a world without filters have category 1.
TEST(queries_of_plain_worlds_have_the_defaults)
{
    foliot_world *world = text_world(HEAD "bodies: [{" BALL "}]\n");
    foliot_query_filter filter = {.mask = 1, .category = 8};
    assert_int_equal(overlapping(world, &filter), 1);
    filter.mask = 2;
    assert_int_equal(overlapping(world, &filter), 0);
    foliot_world_destroy(world);
}

// -- path mtu: how large a datagram may be is found, whatever the path takes, also when that
// changes; and few probes leave. Method: a path with a limit, a round trip and losses, in steps of
// 20 ms; then fragments, in any order, twice, cut and forged.

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
