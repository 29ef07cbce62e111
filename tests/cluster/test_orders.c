// SPDX-License-Identifier: MIT
// test_orders.c: orders of hostile peers, and orders over a crash of the server. Goal: what no
// honest client sends is refused and counted, and nobody else notices; a resumed session's rules go
// on with score and orders. Method: raw connections that speak the protocol's bytes, and a server
// whose recording is resumed in the middle.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/pack.h"
#include "foliot/replay.h"
#include "game_rules.h"
#include "raw_client.h"
#include "cluster.h"
#include "status.h"
#include "wire/message.h"

static void raw_hello(cluster *s, raw_client *r, bool spectates)
{
    foliot__message m = {.kind = FOLIOT__HELLO_MESSAGE};
    m.as.hello.protocol = FOLIOT_PROTOCOL;
    m.as.hello.spectates = spectates;
    strcpy(m.as.hello.name, "mallory");
    allow_failure(raw_client_send(r, &m));
    cluster_run(s, 0.3);
    assert_true(r->welcomed);
}

static void raw_order(raw_client *r, uint32_t sequence, const char *text)
{
    foliot__message m = {.kind = FOLIOT__ORDER,
                         .as.order = {.sequence = sequence,
                                      .bytes = (const uint8_t *)text,
                                      .length = (uint32_t)strlen(text)}};
    allow_failure(raw_client_send(r, &m));
}

static int64_t var_of(const cluster *s, const char *key)
{
    foliot_var var = {.integer = 0};
    const foliot_world *world = foliot_server_get_world(s->server, "main");
    return world && foliot_world_get_var(world, key, &var) ? var.integer : 0;
}

static const foliot_server_counters *counted(const cluster *s)
{
    return foliot_server_get_counters(s->server);
}

TEST(orders_before_the_welcome_are_refused)
{
    cluster *s =
        cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS, .rules = &game_rules_kind});
    raw_client *r = cluster_connect_raw(s);
    for (uint32_t i = 1; i <= 5; i++)
        raw_order(r, i, "p");
    cluster_run(s, 0.3);
    assert_int_equal(counted(s)->orders_refused, 5);
    assert_int_equal(var_of(s, "score"), 0);
    cluster_destroy(s);
}

TEST(orders_of_spectators_are_refused)
{
    cluster *s =
        cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS, .rules = &game_rules_kind});
    raw_client *r = cluster_connect_raw(s);
    raw_hello(s, r, true);
    for (uint32_t i = 1; i <= 40; i++)
        raw_order(r, i, "p");
    cluster_run(s, 0.5);
    check_gt(counted(s)->orders_refused, 20);
    assert_int_equal(counted(s)->peers_dropped, 1); // it went on
    assert_true(r->lost);
    assert_int_equal(var_of(s, "score"), 0);
    cluster_destroy(s);
}

TEST(an_order_too_long_is_malformed)
{
    uint8_t bytes[300], body[FOLIOT_ORDER_BYTES_MAX + 1] = {'p'};
    cluster *s =
        cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS, .rules = &game_rules_kind});
    raw_client *r = cluster_connect_raw(s);
    raw_hello(s, r, false);
    foliot__buffer out = {.bytes = bytes, .capacity = sizeof bytes, .fixed = true};
    foliot__pack_array(&out, 4);
    foliot__pack_uint(&out, FOLIOT__ORDER);
    foliot__pack_uint(&out, r->next_order);
    foliot__pack_uint(&out, 0);
    foliot__pack_bin(&out, body, sizeof body);
    assert_false(out.failed);
    allow_failure(
        foliot_transport_send(r->wire, r->peer, FOLIOT_DELIVERY_RELIABLE, bytes, out.length));
    cluster_run(s, 0.3);
    assert_int_equal(counted(s)->messages_malformed, 1);
    assert_int_equal(counted(s)->orders, 0);
    raw_order(r, r->next_order, "p");
    cluster_run(s, 0.3);
    assert_int_equal(var_of(s, "score"), 1);
    cluster_destroy(s);
}

TEST(more_than_a_second_may_have_are_refused)
{
    cluster *s =
        cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS, .rules = &game_rules_kind});
    raw_client *r = cluster_connect_raw(s);
    raw_hello(s, r, false);
    cluster_run(s, 1);
    // It has been silent: what a network may have held back since the welcome comes too.
    for (int i = 0; i < 200; i++)
        raw_order(r, r->next_order++, "p");
    cluster_run(s, 0.2);
    check_gt(counted(s)->orders_refused, 100);
    check_below(counted(s)->orders, 90);
    assert_int_equal(counted(s)->orders + counted(s)->orders_refused, 200);
    uint64_t refused = counted(s)->orders_refused;
    cluster_run(s, 1);
    for (int i = 0; i < 33; i++)
        raw_order(r, r->next_order++, "p");
    cluster_run(s, 1);
    assert_in_range(counted(s)->orders_refused - refused, 0, 1);
    assert_int_equal(var_of(s, "score"), counted(s)->orders);
    assert_int_equal(var_of(s, "wrong"), 0); // what was refused is no hole
    cluster_destroy(s);
}

TEST(the_thirty_third_in_the_first_second_is_refused)
{
    cluster *s =
        cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS, .rules = &game_rules_kind});
    raw_client *r = cluster_connect_raw(s);
    foliot__message m = {.kind = FOLIOT__HELLO_MESSAGE};
    m.as.hello.protocol = FOLIOT_PROTOCOL;
    allow_failure(raw_client_send(r, &m));
    while (!r->welcomed)
        cluster_run(s, 0.005);
    for (int i = 0; i < 60; i++)
        raw_order(r, r->next_order++, "p");
    cluster_run(s, 0.05);
    assert_in_range(counted(s)->orders, FOLIOT_ORDERS_PER_SECOND_MAX, 34);
    assert_int_equal(counted(s)->orders_refused, 60 - counted(s)->orders);
    cluster_destroy(s);
}

// Whoever comes back with its token has what it had: coming again and again fills no bucket.
TEST(a_reconnection_gives_no_more_orders)
{
    cluster *s =
        cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS, .rules = &game_rules_kind});
    foliot__message m = {.kind = FOLIOT__HELLO_MESSAGE};
    m.as.hello.protocol = FOLIOT_PROTOCOL;
    double begun_s = (double)s->now_ns * 1e-9;
    for (int connection = 0; connection < 8; connection++) {
        raw_client *r = cluster_connect_raw(s);
        allow_failure(raw_client_send(r, &m));
        for (int i = 0; i < 100 && !r->welcomed; i++)
            cluster_run(s, 0.005);
        assert_true(r->welcomed);
        m.as.hello.token = r->welcome.token;
        for (int i = 0; i < 100; i++)
            raw_order(r, r->next_order++, "p");
        cluster_run(s, 0.05);
        cluster_drop_raw(r);
    }
    double passed_s = (double)s->now_ns * 1e-9 - begun_s;
    assert_int_equal(counted(s)->orders + counted(s)->orders_refused, 800);
    check_below((double)counted(s)->orders, 33 + 33 * passed_s);
    assert_int_equal(var_of(s, "joined"), 1);
    cluster_destroy(s);
}

TEST(forged_sequences_are_refused)
{
    cluster *s =
        cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS, .rules = &game_rules_kind});
    raw_client *r = cluster_connect_raw(s);
    raw_hello(s, r, false);
    raw_order(r, r->next_order, "p");
    raw_order(r, r->next_order, "p");     // twice
    raw_order(r, r->next_order + 5, "p"); // a hole
    raw_order(r, UINT32_MAX, "p");
    raw_order(r, 0, "p");
    raw_order(r, r->next_order + 1, "p");
    cluster_run(s, 0.5);
    assert_int_equal(counted(s)->orders, 2);
    assert_int_equal(counted(s)->orders_repeated, 2);
    assert_int_equal(counted(s)->orders_refused, 2);
    assert_int_equal(var_of(s, "score"), 2);
    cluster_destroy(s);
}

// Ticks that were not written are lost with the server, orders are not: they were not acknowledged.
TEST(a_resumed_game_goes_on)
{
    char file[64];
    uint32_t number = 0, points = 0;
    snprintf(file, sizeof file, "/tmp/foliot-orders-%d.foliot", (int)getpid());
    cluster *s = cluster_create(
        &(cluster_options){.world = CLUSTER_SPRINGS, .rules = &game_rules_kind, .record = file});
    cluster_player(s, "delay=20ms");
    cluster_spectator(s, "delay=20ms");
    cluster_run(s, 1.3);
    for (int crash = 0; crash < 4; crash++) {
        for (int i = 0; i < 30 + 7 * crash; i++) {
            uint8_t bytes[5] = {'n'};
            number++;
            memcpy(bytes + 1, &number, sizeof number);
            assert_int_equal(
                foliot_client_order(s->clients[0], FOLIOT_ORDER_GAME, bytes, sizeof bytes, NULL),
                FOLIOT_STATUS_OK);
            if (i % 3 == 0) {
                points++;
                assert_int_equal(
                    foliot_client_order(s->clients[0], FOLIOT_ORDER_GAME, "p", 1, NULL),
                    FOLIOT_STATUS_OK);
            }
            if (i == 0)
                assert_int_equal(
                    foliot_client_order(s->clients[0], FOLIOT_ORDER_GAME, "Mine", 4, NULL),
                    FOLIOT_STATUS_OK);
            cluster_run(s, 0.06);
        }
        cluster_crash(s, 1.1);
        cluster_run(s, 4);
        assert_int_equal(foliot_client_get_state(s->clients[0]), FOLIOT_CLIENT_PLAYING);
        assert_int_equal(var_of(s, "score"), points);
        assert_int_equal(var_of(s, "wrong"), 0);
        assert_int_equal(var_of(s, "joined"), 1);
        foliot_var var;
        assert_true(foliot_client_get_var(s->clients[1], "score", &var));
        assert_int_equal(var.integer, points);
        assert_int_equal(foliot_client_get_statistics(s->clients[0]).orders_waiting, 0);
    }
    cluster_destroy(s);
    foliot_replay *replay;
    assert_int_equal(foliot_replay_open(file, &foliot_world_kind, &replay, NULL), FOLIOT_STATUS_OK);
    allow_failure(foliot_replay_scan(replay));                       // it was never closed
    check_gt(foliot_replay_get_summary(replay)->counts.messages, 0); // messages next to the ticks
    foliot_replay_close(replay);
    unlink(file);
}
