// SPDX-License-Identifier: MIT
// Goal: who comes back after his player was given up, and does not hear the welcome, asks again
// with the token of the one that is gone. He was given another player each time, and the first
// stood there as a ghost. The token that a player was asked for with now names it too, but only
// until its owner has shown that he heard the new one. Method: clients of a real server who speak
// the protocol's bytes, and hear or overhear what they like.
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

typedef struct inn {
    simulation *s;
    client clients[WIRES];
    int count;
} inn;

static void hear(inn *i)
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

static void let_pass(inn *i, double seconds)
{
    for (double end = 1e-9 * (double)i->s->now_ns + seconds; 1e-9 * (double)i->s->now_ns < end;) {
        simulation_run(i->s, 0.01);
        hear(i);
    }
}

static const foliot__token none;

static bool same(foliot__token a, foliot__token b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static client *connect_client(inn *i)
{
    client *g = &i->clients[i->count++];
    foliot_transport_config config = foliot_transport_config_default();
    assert_int_equal(foliot_transport_create_memory(i->s->hub, &config, i->s->now_ns, &g->wire),
                     FOLIOT_STATUS_OK);
    assert_int_equal(foliot_transport_connect(g->wire, "127.0.0.1", 7777, i->s->now_ns, &g->peer),
                     FOLIOT_STATUS_OK);
    let_pass(i, 0.05);
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

static client *come(inn *i, foliot__token token)
{
    client *g = connect_client(i);
    send_hello(g, token);
    let_pass(i, 0.1);
    assert_true(g->welcomed);
    return g;
}

// The first word of its inputs: it has heard the welcome.
static void play(inn *i, client *g)
{
    uint8_t bytes[FOLIOT_SNAPSHOT_PIECE_BYTES];
    foliot__input_packet packet = {.newest_snapshot = FOLIOT__NO_TICK,
                                   .tick = (uint32_t)g->welcome.tick};
    size_t length = foliot__input_packet_encode(&packet, bytes);
    assert_int_equal(
        foliot_transport_send(g->wire, g->peer, FOLIOT_DELIVERY_UNRELIABLE, bytes, length),
        FOLIOT_STATUS_OK);
    let_pass(i, 0.05);
}

static void go(inn *i, client *g)
{
    foliot_transport_disconnect(g->wire, g->peer, 0, true);
    let_pass(i, 0.05);
}

static inn open_inn(void)
{
    return (inn){.s = simulation_create()};
}

static void close_inn(inn *i)
{
    for (int g = 0; g < i->count; g++)
        foliot_transport_destroy(i->clients[g].wire);
    simulation_destroy(i->s);
}

// The token of a player that was here and is not any more.
static foliot__token token_of_the_gone(inn *i)
{
    client *g = come(i, none);
    play(i, g);
    go(i, g);
    let_pass(i, 10.1);
    assert_int_equal(foliot_server_get_presence(i->s->server).players, 0);
    return g->welcome.token;
}

static void the_welcome_was_lost_and_no_ghost_stays(void **state)
{
    (void)state;
    inn i = open_inn();
    foliot__token token = token_of_the_gone(&i);
    client *deaf = come(&i, token);
    go(&i, deaf);
    client *again = come(&i, token);
    assert_int_equal(again->welcome.player, deaf->welcome.player);
    assert_int_equal(foliot_server_get_presence(i.s->server).players, 1);
    assert_int_equal(foliot_server_get_counters(i.s->server)->resumes, 1);
    // A new token each time, and his changes count from the first on: the player is not the one
    // that was gone.
    assert_false(same(again->welcome.token, deaf->welcome.token) ||
                 same(again->welcome.token, token));
    assert_false(again->welcome.resumed);
    close_inn(&i);
}

static void a_connection_that_nobody_hears_makes_way(void **state)
{
    (void)state;
    inn i = open_inn();
    foliot__token token = token_of_the_gone(&i);
    client *deaf = come(&i, token);
    client *again = come(&i, token);
    assert_int_equal(again->welcome.player, deaf->welcome.player);
    assert_true(deaf->lost);
    assert_true(!again->lost);
    assert_int_equal(foliot_server_get_presence(i.s->server).players, 1);
    assert_int_equal(foliot_server_get_presence(i.s->server).peers, 1);
    close_inn(&i);
}

// Who holds the new token is not to be had for the old one, be it while he plays or while he is
// away.
static void the_old_token_is_worth_nothing_once_the_new_one_was_heard(void **state)
{
    (void)state;
    inn i = open_inn();
    foliot__token token = token_of_the_gone(&i);
    client *owner = come(&i, token);
    play(&i, owner);
    client *other = come(&i, token);
    check_ne(other->welcome.player, owner->welcome.player);
    assert_true(!same(other->welcome.token, owner->welcome.token));
    assert_false(owner->lost);
    play(&i, other);
    go(&i, owner);
    client *third = come(&i, token);
    check_ne(third->welcome.player, owner->welcome.player);
    check_ne(third->welcome.player, other->welcome.player);
    client *back = come(&i, owner->welcome.token);
    assert_int_equal(back->welcome.player, owner->welcome.player);
    close_inn(&i);
}

static void newcomers_without_a_token_are_never_one(void **state)
{
    (void)state;
    inn i = open_inn();
    client *a = come(&i, none), *b = come(&i, none);
    check_ne(a->welcome.player, b->welcome.player);
    assert_false(a->lost);
    assert_int_equal(foliot_server_get_presence(i.s->server).players, 2);
    close_inn(&i);
}

// A peer that ended is reaped when the update ends: until then its player is not to be had.
static void a_player_who_said_goodbye_is_not_resumed_in_the_same_update(void **state)
{
    (void)state;
    inn i = open_inn();
    client *first = come(&i, none);
    play(&i, first);
    client *second = connect_client(&i);
    send_message(first, &(foliot__message){.kind = FOLIOT__BYE});
    send_hello(second, first->welcome.token);
    let_pass(&i, 0.1);
    assert_true(second->welcomed);
    assert_false(second->welcome.resumed);
    assert_int_equal(foliot_server_get_counters(i.s->server)->byes, 1);
    assert_int_equal(foliot_server_get_counters(i.s->server)->resumes, 0);
    assert_int_equal(foliot_server_get_presence(i.s->server).players, 1);
    close_inn(&i);
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
