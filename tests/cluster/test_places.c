// SPDX-License-Identifier: MIT
// test_places.c: places of players in a full session. Goal: a player whose client was killed holds
// its place as long as it may come back, and no longer; nobody takes the place of one who plays,
// neighbours behind one address included. Method: a session of four places on a virtual clock.
// Clients that are not updated any more are as silent as killed ones.
#include "check.h"

#include "cluster.h"

#define KEPT_S 10 // reconnect_ms, the default

// Time in memory alone: no transport notices that a client is gone.
static cluster *open_cluster(bool bridged)
{
    return cluster_create(&(cluster_options){
        .world = CLUSTER_SPRINGS, .step_ns = 4000000, .bridged = bridged, .idle = true});
}

static foliot_client_state state_of(const cluster *c, unsigned i)
{
    return foliot_client_get_state(c->clients[i]);
}

// A client that connects over the bridge, whose clients have odd numbers.
static unsigned join_from(cluster *c, uint64_t address_key, const foliot_peer_identity *identity)
{
    c->bridge.address_key = address_key;
    c->bridge.identity = identity;
    if (c->client_count % 2 == 0)
        c->asleep[cluster_spectator(c, NULL)] = true;
    unsigned i = cluster_player(c, NULL);
    cluster_run(c, 0.5);
    return i;
}

static uint64_t yielded(const cluster *c)
{
    return foliot_server_get_counters(c->server)->places_yielded;
}

TEST(a_silent_place_is_given_away_as_soon_as_nobody_may_return)
{
    cluster *c = open_cluster(false);
    for (int i = 0; i < 4; i++)
        cluster_player(c, NULL);
    cluster_run(c, 1);
    c->asleep[1] = c->asleep[3] = true; // kill -9
    cluster_run(c, KEPT_S - 1);
    unsigned early = cluster_player(c, NULL);
    cluster_run(c, 0.5);
    check_eq(state_of(c, early), FOLIOT_CLIENT_REFUSED);
    check_eq(yielded(c), 0);
    cluster_run(c, 1);
    unsigned first = cluster_player(c, NULL), second = cluster_player(c, NULL);
    cluster_run(c, 0.5);
    check_eq(state_of(c, first), FOLIOT_CLIENT_PLAYING);
    check_eq(state_of(c, second), FOLIOT_CLIENT_PLAYING);
    check_eq(yielded(c), 2);
    cluster_run(c, 20);
    unsigned third = cluster_player(c, NULL);
    cluster_run(c, 0.5);
    check_eq(state_of(c, third), FOLIOT_CLIENT_REFUSED);
    check_eq(state_of(c, 0), FOLIOT_CLIENT_PLAYING);
    check_eq(state_of(c, 2), FOLIOT_CLIENT_PLAYING);
    check_eq(foliot_server_get_presence(c->server).players, 4);
    check_eq(yielded(c), 2);
    cluster_destroy(c);
}

// After a debugger or a lid the newest packets of the players wait behind a newcomer's hello.
TEST(a_server_that_was_held_gives_no_place_away)
{
    cluster *c = open_cluster(false);
    for (int i = 0; i < 4; i++)
        cluster_player(c, NULL);
    cluster_run(c, 1);
    unsigned newcomer = cluster_player(c, NULL);
    while (state_of(c, newcomer) != FOLIOT_CLIENT_JOINING)
        cluster_run(c, 0.004);
    const uint64_t before = foliot_server_get_counters(c->server)->refusals;
    c->now_ns += 15000000000;
    for (unsigned i = 0; i < 4; i++)
        c->asleep[i] = true; // until the hello was read
    cluster_run(c, 0.2);
    check_eq(foliot_server_get_counters(c->server)->refusals, before + 1);
    check_eq(yielded(c), 0);
    cluster_destroy(c);
}

// A pause does not count, whether the transport notices before it or while it lasts that a client
// is gone. All have one address, which may have two places.
TEST(a_pause_keeps_places)
{
    for (int before = 0; before < 2; before++) {
        cluster *c = cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS,
                                                       .step_ns = 4000000,
                                                       .enet = true,
                                                       .idle = true,
                                                       .reconnect_ms = 2000 * KEPT_S});
        cluster_player(c, NULL);
        cluster_player(c, NULL);
        cluster_run(c, 1);
        c->asleep[1] = true;
        cluster_run(c, before ? KEPT_S + 1 : 2);
        check_eq(foliot_server_get_presence(c->server).absent, before ? 1 : 0);
        assert_int_equal(foliot_server_pause_session(c->server, "main", true, c->now_ns),
                         FOLIOT_STATUS_OK);
        cluster_run(c, 3 * KEPT_S);
        assert_int_equal(foliot_server_pause_session(c->server, "main", false, c->now_ns),
                         FOLIOT_STATUS_OK);
        unsigned newcomer = cluster_player(c, NULL);
        cluster_run(c, 5);
        check_eq(state_of(c, newcomer), FOLIOT_CLIENT_REFUSED);
        check_eq(yielded(c), 0);
        check_eq(foliot_server_get_presence(c->server).absent, 1);
        cluster_run(c, 2 * KEPT_S);
        check_eq(foliot_server_get_presence(c->server).absent, 0);
        cluster_destroy(c);
    }
}

// An address has two of four places.
TEST(neighbours_take_no_place_of_those_who_play)
{
    cluster *c = open_cluster(true);
    unsigned a = join_from(c, 77, NULL), b = join_from(c, 77, NULL);
    unsigned other = join_from(c, 88, NULL);
    check_eq(state_of(c, a), FOLIOT_CLIENT_PLAYING);
    check_eq(state_of(c, b), FOLIOT_CLIENT_PLAYING);
    c->asleep[other] = true;
    cluster_run(c, KEPT_S + 1);
    unsigned third = join_from(c, 77, NULL); // it may not have that of another address
    check_eq(state_of(c, third), FOLIOT_CLIENT_REFUSED);
    check_eq(yielded(c), 0);
    c->asleep[b] = true;
    cluster_run(c, KEPT_S - 1);
    check_eq(state_of(c, join_from(c, 77, NULL)), FOLIOT_CLIENT_REFUSED);
    cluster_run(c, 1);
    check_eq(state_of(c, join_from(c, 77, NULL)), FOLIOT_CLIENT_PLAYING);
    check_eq(state_of(c, a), FOLIOT_CLIENT_PLAYING);
    check_eq(yielded(c), 1);
    cluster_destroy(c);
}

TEST(a_client_of_tokens_follows_itself_at_once)
{
    const foliot_peer_identity one = {.security = FOLIOT_SECURITY_TOKEN, .token.client = 1},
                               two = {.security = FOLIOT_SECURITY_TOKEN, .token.client = 2};
    cluster *c = open_cluster(true);
    unsigned killed = join_from(c, 77, &one);
    for (uint64_t host = 78; host < 81; host++)
        check_eq(state_of(c, join_from(c, host, NULL)), FOLIOT_CLIENT_PLAYING);
    check_eq(state_of(c, join_from(c, 81, &one)), FOLIOT_CLIENT_REFUSED); // the first one plays
    c->asleep[killed] = true;
    cluster_run(c, 2.1);
    check_eq(state_of(c, join_from(c, 82, &two)), FOLIOT_CLIENT_REFUSED);
    check_eq(yielded(c), 0);
    check_eq(state_of(c, join_from(c, 83, &one)), FOLIOT_CLIENT_PLAYING);
    check_eq(yielded(c), 1);
    cluster_destroy(c);
}
