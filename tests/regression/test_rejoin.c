// SPDX-License-Identifier: MIT
// Goal: a client that returns after its player was given up, and misses the welcome, asks again
// with the token of the old player. It used to get a new player each time, and the first one stayed
// as a ghost. Now the requested token names the player too, until its owner acknowledges the new
// one. Method: clients of a real server that send the protocol's bytes and choose what they
// receive.
#include "../support/check.h"

#include <string.h>

#include "simulation.h"
#include "wire/message.h"

#define WIRES 8

typedef struct client {
    foliot_transport *wire;
    foliot_peer_id peer;
    bool connected, welcomed, lost;
    foliot__welcome welcome; // the last
} client;

typedef struct fixture {
    simulation *s;
    client clients[WIRES];
    int count;
} fixture;

static void receive_all(fixture *i)
{
    foliot_transport_event event;
    foliot__message m;
    for (int g = 0; g < i->count; g++) {
        client *it = &i->clients[g];
        while (foliot_transport_poll(it->wire, i->s->now_ns, &event)) {
            it->connected = it->connected || event.kind == FOLIOT_TRANSPORT_CONNECTED;
            it->lost = it->lost || event.kind == FOLIOT_TRANSPORT_DISCONNECTED;
            if (event.kind != FOLIOT_TRANSPORT_RECEIVED ||
                event.delivery != FOLIOT_DELIVERY_RELIABLE ||
                foliot__message_decode(event.bytes, event.length, &m) != FOLIOT_STATUS_OK ||
                m.kind != FOLIOT__WELCOME)
                continue;
            it->welcome = m.as.welcome;
            it->welcomed = true;
        }
    }
}

static void run_for(fixture *i, double seconds)
{
    for (double end = 1e-9 * (double)i->s->now_ns + seconds; 1e-9 * (double)i->s->now_ns < end;) {
        simulation_run(i->s, 0.01);
        receive_all(i);
    }
}

static const foliot__token none;

static bool same(foliot__token a, foliot__token b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static client *connect_client(fixture *i)
{
    client *g = &i->clients[i->count++];
    foliot_transport_config config = foliot_transport_config_default();
    assert_int_equal(foliot_transport_create_memory(i->s->hub, &config, i->s->now_ns, &g->wire),
                     FOLIOT_STATUS_OK);
    assert_int_equal(foliot_transport_connect(g->wire, "127.0.0.1", 7777, i->s->now_ns, &g->peer),
                     FOLIOT_STATUS_OK);
    run_for(i, 0.05);
    assert_true(g->connected);
    return g;
}

static void send_message(client *g, const foliot__message *m)
{
    uint8_t bytes[FOLIOT__CONTROL_BYTES_MAX];
    size_t length;
    assert_int_equal(foliot__message_encode(m, bytes, sizeof bytes, &length), FOLIOT_STATUS_OK);
    assert_int_equal(
        foliot_transport_send(g->wire, g->peer, FOLIOT_DELIVERY_RELIABLE, bytes, length),
        FOLIOT_STATUS_OK);
}

static void send_hello(client *g, foliot__token token)
{
    foliot__message m = {.kind = FOLIOT__HELLO_MESSAGE};
    m.as.hello.protocol = FOLIOT_PROTOCOL;
    m.as.hello.token = token;
    strcpy(m.as.hello.name, "guest");
    send_message(g, &m);
}

static client *join(fixture *i, foliot__token token)
{
    client *g = connect_client(i);
    send_hello(g, token);
    run_for(i, 0.1);
    assert_true(g->welcomed);
    return g;
}

// Sends an empty input packet, which acknowledges the welcome.
static void acknowledge_welcome(fixture *i, client *g)
{
    uint8_t bytes[FOLIOT_SNAPSHOT_PIECE_BYTES];
    foliot__input_packet packet = {.newest_snapshot = FOLIOT__NO_TICK,
                                   .tick = (uint32_t)g->welcome.tick};
    size_t length = foliot__input_packet_encode(&packet, bytes);
    assert_int_equal(
        foliot_transport_send(g->wire, g->peer, FOLIOT_DELIVERY_UNRELIABLE, bytes, length),
        FOLIOT_STATUS_OK);
    run_for(i, 0.05);
}

static void leave(fixture *i, client *g)
{
    foliot_transport_disconnect(g->wire, g->peer, 0, true);
    run_for(i, 0.05);
}

static fixture open_fixture(void)
{
    return (fixture){.s = simulation_create()};
}

static void close_fixture(fixture *i)
{
    for (int g = 0; g < i->count; g++)
        foliot_transport_destroy(i->clients[g].wire);
    simulation_destroy(i->s);
}

// The token of a player that was here and is not any more.
static foliot__token token_of_the_gone(fixture *i)
{
    client *g = join(i, none);
    acknowledge_welcome(i, g);
    leave(i, g);
    run_for(i, 10.1);
    assert_int_equal(foliot_server_get_presence(i->s->server).players, 0);
    return g->welcome.token;
}

static void the_welcome_was_lost_and_no_ghost_stays(void **state)
{
    (void)state;
    fixture i = open_fixture();
    foliot__token token = token_of_the_gone(&i);
    client *deaf = join(&i, token);
    leave(&i, deaf);
    client *again = join(&i, token);
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

static void a_connection_that_nobody_hears_makes_way(void **state)
{
    (void)state;
    fixture i = open_fixture();
    foliot__token token = token_of_the_gone(&i);
    client *deaf = join(&i, token);
    client *again = join(&i, token);
    assert_int_equal(again->welcome.player, deaf->welcome.player);
    assert_true(deaf->lost);
    assert_true(!again->lost);
    assert_int_equal(foliot_server_get_presence(i.s->server).players, 1);
    assert_int_equal(foliot_server_get_presence(i.s->server).peers, 1);
    close_fixture(&i);
}

// Who holds the new token is not to be had for the old one, be it while he plays or while he is
// away.
static void the_old_token_is_worth_nothing_once_the_new_one_was_heard(void **state)
{
    (void)state;
    fixture i = open_fixture();
    foliot__token token = token_of_the_gone(&i);
    client *owner = join(&i, token);
    acknowledge_welcome(&i, owner);
    client *other = join(&i, token);
    check_ne(other->welcome.player, owner->welcome.player);
    assert_true(!same(other->welcome.token, owner->welcome.token));
    assert_false(owner->lost);
    acknowledge_welcome(&i, other);
    leave(&i, owner);
    client *third = join(&i, token);
    check_ne(third->welcome.player, owner->welcome.player);
    check_ne(third->welcome.player, other->welcome.player);
    client *back = join(&i, owner->welcome.token);
    assert_int_equal(back->welcome.player, owner->welcome.player);
    close_fixture(&i);
}

static void newcomers_without_a_token_are_never_one(void **state)
{
    (void)state;
    fixture i = open_fixture();
    client *a = join(&i, none), *b = join(&i, none);
    check_ne(a->welcome.player, b->welcome.player);
    assert_false(a->lost);
    assert_int_equal(foliot_server_get_presence(i.s->server).players, 2);
    close_fixture(&i);
}

// A peer that ended is reaped when the update ends: until then its player is not to be had.
static void a_player_who_said_goodbye_is_not_resumed_in_the_same_update(void **state)
{
    (void)state;
    fixture i = open_fixture();
    client *first = join(&i, none);
    acknowledge_welcome(&i, first);
    client *second = connect_client(&i);
    send_message(first, &(foliot__message){.kind = FOLIOT__BYE});
    send_hello(second, first->welcome.token);
    run_for(&i, 0.1);
    assert_true(second->welcomed);
    assert_false(second->welcome.resumed);
    assert_int_equal(foliot_server_get_counters(i.s->server)->byes, 1);
    assert_int_equal(foliot_server_get_counters(i.s->server)->resumes, 0);
    assert_int_equal(foliot_server_get_presence(i.s->server).players, 1);
    close_fixture(&i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_welcome_was_lost_and_no_ghost_stays),
        cmocka_unit_test(a_connection_that_nobody_hears_makes_way),
        cmocka_unit_test(the_old_token_is_worth_nothing_once_the_new_one_was_heard),
        cmocka_unit_test(newcomers_without_a_token_are_never_one),
        cmocka_unit_test(a_player_who_said_goodbye_is_not_resumed_in_the_same_update),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
