// SPDX-License-Identifier: MIT
// Goal: a client that returns after its player was given up, and misses the welcome, asks again
// with the token of the old player. It used to get a new player each time, and the first one stayed
// as a ghost. Now the requested token names the player too, until its owner acknowledges the new
// one. Method: clients of a real server that send the protocol's bytes and choose what they
// receive.
#include "../support/check.h"

#include <string.h>

#include "raw_client.h"
#include "cluster.h"
#include "status.h"

#define WIRES 8

typedef struct fixture {
    cluster *s;
    raw_client clients[WIRES];
    int count;
} fixture;

static void run_for(fixture *i, double seconds)
{
    for (double end = 1e-9 * (double)i->s->now_ns + seconds; 1e-9 * (double)i->s->now_ns < end;) {
        cluster_run(i->s, 0.01);
        for (int g = 0; g < i->count; g++)
            raw_client_receive(&i->clients[g], i->s->now_ns);
    }
}

static const foliot__token none;

static bool same(foliot__token a, foliot__token b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static raw_client *connect_client(fixture *i)
{
    raw_client *g = &i->clients[i->count++];
    raw_client_connect(g, i->s->hub, i->s->now_ns);
    run_for(i, 0.05);
    assert_true(g->connected);
    return g;
}

static raw_client *join(fixture *i, foliot__token token)
{
    raw_client *g = connect_client(i);
    raw_client_hello(g, token);
    run_for(i, 0.1);
    assert_true(g->welcomed);
    return g;
}

static void acknowledge_welcome(fixture *i, raw_client *g)
{
    demand(raw_client_acknowledge(g));
    run_for(i, 0.05);
}

static void leave(fixture *i, raw_client *g)
{
    foliot_transport_disconnect(g->wire, g->peer, 0, true);
    run_for(i, 0.05);
}

static fixture open_fixture(void)
{
    return (fixture){.s = cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS})};
}

static void close_fixture(fixture *i)
{
    for (int g = 0; g < i->count; g++)
        foliot_transport_destroy(i->clients[g].wire);
    cluster_destroy(i->s);
}

// The token of a player that was here and is not any more.
static foliot__token token_of_the_gone(fixture *i)
{
    raw_client *g = join(i, none);
    acknowledge_welcome(i, g);
    leave(i, g);
    run_for(i, 10.1);
    assert_int_equal(foliot_server_get_presence(i->s->server).players, 0);
    return g->welcome.token;
}

TEST(the_welcome_was_lost_and_no_ghost_stays)
{
    fixture i = open_fixture();
    foliot__token token = token_of_the_gone(&i);
    raw_client *deaf = join(&i, token);
    leave(&i, deaf);
    raw_client *again = join(&i, token);
    assert_int_equal(again->welcome.player, deaf->welcome.player);
    assert_int_equal(foliot_server_get_presence(i.s->server).players, 1);
    assert_int_equal(foliot_server_get_counters(i.s->server)->resumes, 1);
    // A new token each time, and the changes count from the first: the player is not the one
    // that was gone.
    assert_false(same(again->welcome.token, deaf->welcome.token) ||
                 same(again->welcome.token, token));
    assert_false(again->welcome.resumed);
    close_fixture(&i);
}

TEST(a_connection_that_nobody_hears_makes_way)
{
    fixture i = open_fixture();
    foliot__token token = token_of_the_gone(&i);
    raw_client *deaf = join(&i, token);
    raw_client *again = join(&i, token);
    assert_int_equal(again->welcome.player, deaf->welcome.player);
    assert_true(deaf->lost);
    assert_true(!again->lost);
    assert_int_equal(foliot_server_get_presence(i.s->server).players, 1);
    assert_int_equal(foliot_server_get_presence(i.s->server).peers, 1);
    close_fixture(&i);
}

// The old token does not reach the player with the new one, whether the player is connected or
// away.
TEST(the_old_token_is_worth_nothing_once_the_new_one_was_heard)
{
    fixture i = open_fixture();
    foliot__token token = token_of_the_gone(&i);
    raw_client *owner = join(&i, token);
    acknowledge_welcome(&i, owner);
    raw_client *other = join(&i, token);
    check_ne(other->welcome.player, owner->welcome.player);
    assert_true(!same(other->welcome.token, owner->welcome.token));
    assert_false(owner->lost);
    acknowledge_welcome(&i, other);
    leave(&i, owner);
    raw_client *third = join(&i, token);
    check_ne(third->welcome.player, owner->welcome.player);
    check_ne(third->welcome.player, other->welcome.player);
    raw_client *back = join(&i, owner->welcome.token);
    assert_int_equal(back->welcome.player, owner->welcome.player);
    close_fixture(&i);
}

TEST(newcomers_without_a_token_are_never_one)
{
    fixture i = open_fixture();
    raw_client *a = join(&i, none), *b = join(&i, none);
    check_ne(a->welcome.player, b->welcome.player);
    assert_false(a->lost);
    assert_int_equal(foliot_server_get_presence(i.s->server).players, 2);
    close_fixture(&i);
}

// A peer that ended is reaped when the update ends: until then its player is not to be had.
TEST(a_player_who_said_goodbye_is_not_resumed_in_the_same_update)
{
    fixture i = open_fixture();
    raw_client *first = join(&i, none);
    acknowledge_welcome(&i, first);
    raw_client *second = connect_client(&i);
    demand(raw_client_send(first, &(foliot__message){.kind = FOLIOT__BYE}));
    raw_client_hello(second, first->welcome.token);
    run_for(&i, 0.1);
    assert_true(second->welcomed);
    assert_false(second->welcome.resumed);
    assert_int_equal(foliot_server_get_counters(i.s->server)->byes, 1);
    assert_int_equal(foliot_server_get_counters(i.s->server)->resumes, 0);
    assert_int_equal(foliot_server_get_presence(i.s->server).players, 1);
    close_fixture(&i);
}
