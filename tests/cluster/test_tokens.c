// SPDX-License-Identifier: MIT
// Goal: a token is the right to one player and reveals nothing about any other. Tokens used to be
// consecutive outputs of splitmix64, which can be inverted: one join revealed every earlier and
// later token, and the secret of the cookies. A token stayed the same for a player's whole life, so
// a theft went unnoticed, and a server that crashed knew only the first token. Method: clients of a
// real server over the transport in memory, which send the protocol's bytes. The recording is
// copied when a welcome is received, as a crash would leave it.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster.h"
#include "crypto/crypto.h"
#include "raw_client.h"
#include "status.h"
#include "world_simulation.h"

#define CLIENTS 8

static const foliot__token none;

typedef struct fixture {
    cluster *c;
    foliot_scene scene;
    foliot_body_definition body;
    char file[64], copy[64];
    foliot_recording *recording; // not the cluster's, which drains it
} fixture;

static void make_scene(fixture *i)
{
    static const double spawn[1][3] = {{0, 5, 0}};
    i->body = foliot_body_definition_default();
    i->body.mass = 1;
    i->body.velocity[0] = 1;
    i->scene = foliot_scene_default();
    i->scene.name = "drift";
    i->scene.dt = 1.0 / 60;
    i->scene.bodies = &i->body;
    i->scene.body_count = 1;
    i->scene.players.limit = 4;
    i->scene.players.body = foliot_body_definition_default();
    i->scene.players.body.mass = 1;
    i->scene.players.positions = spawn;
    i->scene.players.position_count = 1;
}

static void open_server(fixture *i, unsigned peers_max, foliot_world *world, bool lockstep)
{
    foliot_transport_config wire = foliot_transport_config_default();
    wire.peers_max = peers_max;
    cluster_serve(i->c, NULL, &wire);
    cluster_host(i->c, &(foliot_session_config){.name = "main",
                                                .scene = &i->scene,
                                                .world = world,
                                                .recording = i->recording,
                                                .pace_hz = 60,
                                                .mode = lockstep ? FOLIOT_SESSION_LOCKSTEP
                                                                 : FOLIOT_SESSION_SNAPSHOTS});
}

// As the disk is at this moment.
static void copy_file(void *user)
{
    const fixture *i = user;
    static char bytes[1 << 20];
    if (!i->recording)
        return;
    FILE *from = fopen(i->file, "rb"), *to = fopen(i->copy, "wb");
    assert_true(from);
    assert_true(to);
    size_t length = fread(bytes, 1, sizeof bytes, from);
    assert_int_equal(fwrite(bytes, 1, length, to), length);
    fclose(from);
    fclose(to);
}

static fixture *open_fixture(bool records, bool lockstep)
{
    fixture *i = calloc(1, sizeof *i);
    assert_non_null(i);
    foliot_world *world;
    make_scene(i);
    i->c = cluster_create(
        &(cluster_options){.world = CLUSTER_EMPTY, .welcomed = copy_file, .welcomed_user = i});
    assert_int_equal(foliot_world_create(&i->scene, &world, NULL), FOLIOT_STATUS_OK);
    snprintf(i->file, sizeof i->file, "/tmp/foliot-tokens-%d.foliot", (int)getpid());
    snprintf(i->copy, sizeof i->copy, "/tmp/foliot-tokens-%d-copy.foliot", (int)getpid());
    if (records) {
        foliot_recording_config config = foliot_recording_config_default();
        config.threaded = false;
        config.block_ticks = 600; // ten seconds: what is in the file sooner was written on purpose
        assert_int_equal(foliot_recording_open(i->file, WORLD_SIMULATION(world, &i->scene), &config,
                                               &i->recording),
                         FOLIOT_STATUS_OK);
        assert_int_equal(foliot_recording_drain(i->recording), FOLIOT_STATUS_OK);
    }
    open_server(i, CLIENTS, world, lockstep);
    return i;
}

static void close_fixture(fixture *i)
{
    cluster_destroy(i->c);
    if (i->recording)
        foliot_recording_abandon(i->recording);
    unlink(i->file);
    unlink(i->copy);
    free(i);
}

static bool same(foliot__token a, foliot__token b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

// -- what one token tells of others

static uint64_t undo_shift(uint64_t z, int by)
{
    uint64_t x = z;
    for (int i = 0; i < 64 / by; i++)
        x = z ^ (x >> by);
    return x;
}

// The state behind an output of splitmix64, by the inverses of its steps.
static uint64_t state_behind(uint64_t z)
{
    z = undo_shift(z, 31) * 0x319642b2d24d8ec3u;
    z = undo_shift(z, 27) * 0x96de1b173f119089u;
    return undo_shift(z, 30);
}

static uint64_t output_of(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

TEST(one_token_gives_no_other)
{
    fixture *i = open_fixture(false, false);
    foliot__token tokens[4];
    check_eq(state_behind(output_of(0x1234567890abcdefu)),
             0x1234567890abcdefu); // the attack works on what it is for
    for (int k = 0; k < 4; k++)
        tokens[k] = cluster_join_raw(i->c, none)->welcome.token;
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            for (int half = 0; half < 4; half++) {
                uint64_t from, to;
                memcpy(&from, tokens[a].bytes + 8 * (half & 1), 8);
                memcpy(&to, tokens[b].bytes + 8 * (half >> 1), 8);
                check_ne(from, 0);
                assert_true(from != to || (a == b && (half & 1) == half >> 1));
                for (int step = -8; step <= 8; step++)
                    if (step != 0)
                        check_ne(output_of(state_behind(from) +
                                           (uint64_t)(int64_t)step * 0x9e3779b97f4a7c15u),
                                 to);
            }
    close_fixture(i);
}

// -- rotation

TEST(every_resume_gives_another_token_and_a_theft_shows)
{
    fixture *i = open_fixture(false, false);
    raw_client *owner = cluster_join_raw(i->c, none);
    foliot__token first = owner->welcome.token;
    cluster_acknowledge_raw(i->c, owner);
    raw_client *thief =
        cluster_join_raw(i->c, first); // it has the player now, and the owner's token is spent
    assert_int_equal(thief->welcome.player, owner->welcome.player);
    assert_true(thief->welcome.resumed);
    assert_true(owner->lost);
    assert_false(same(thief->welcome.token, first));
    cluster_acknowledge_raw(i->c, thief);
    assert_int_equal(i->c->events[FOLIOT_SERVER_SPENT], 0);
    raw_client *back = cluster_join_raw(i->c, first);
    assert_int_not_equal(back->welcome.player, thief->welcome.player);
    assert_false(back->welcome.resumed);
    assert_int_equal(i->c->events[FOLIOT_SERVER_SPENT], 1);
    assert_int_equal(foliot_server_get_counters(i->c->server)->tokens_spent, 1);
    close_fixture(i);
}

TEST(the_old_token_holds_until_the_new_one_was_heard)
{
    fixture *i = open_fixture(false, false);
    raw_client *owner = cluster_join_raw(i->c, none);
    foliot__token first = owner->welcome.token;
    cluster_acknowledge_raw(i->c, owner);
    cluster_leave_raw(i->c, owner);
    raw_client *deaf = cluster_join_raw(i->c, first); // misses its welcome, and is lost
    cluster_leave_raw(i->c, deaf);
    raw_client *again = cluster_join_raw(i->c, first);
    assert_int_equal(again->welcome.player, owner->welcome.player);
    assert_true(again->welcome.resumed); // its changes continue
    cluster_acknowledge_raw(i->c, again);
    cluster_leave_raw(i->c, again);
    assert_int_not_equal(cluster_join_raw(i->c, first)->welcome.player, owner->welcome.player);
    assert_int_equal(cluster_join_raw(i->c, again->welcome.token)->welcome.player,
                     owner->welcome.player);
    close_fixture(i);
}

// -- the recording

static foliot_player_proof proof_of(foliot__token token)
{
    foliot_player_proof proof;
    foliot__one_way(&token, sizeof token, proof.bytes);
    return proof;
}

// The player 0 of the copy of the file.
static foliot_recorded_player recorded(const fixture *i)
{
    foliot_recording *recording;
    foliot_scene *scene;
    foliot_world *world;
    foliot_error error = {.text = ""};
    assert_int_equal(resume_world(i->copy, NULL, &recording, &scene, &world, &error),
                     FOLIOT_STATUS_OK);
    const foliot_resumption *about = foliot_recording_get_resumption(recording);
    assert_int_equal(about->player_count, 1);
    foliot_recorded_player player = about->players[0];
    foliot_recording_abandon(recording);
    foliot_world_destroy(world);
    foliot_scene_destroy(scene);
    return player;
}

static void resume_is_recorded_before_its_welcome(bool lockstep)
{
    static const foliot_player_proof nothing;
    fixture *i = open_fixture(true, lockstep);
    raw_client *owner = cluster_join_raw(i->c, none);
    foliot__token first = owner->welcome.token;
    if (!lockstep)
        cluster_acknowledge_raw(i->c, owner);
    cluster_leave_raw(i->c, owner);
    raw_client *back = cluster_join_raw(i->c, first);
    assert_true(back->welcome.resumed);
    foliot_recorded_player player = recorded(i); // the file as it was when the welcome came
    foliot_player_proof now = proof_of(back->welcome.token), before = proof_of(first);
    assert_memory_equal(&player.proof, &now, sizeof now);
    assert_memory_equal(&player.before, &before, sizeof before);
    if (!lockstep) {
        cluster_acknowledge_raw(i->c, back);
        cluster_run(i->c, 0.1);
        assert_int_equal(foliot_recording_flush(i->recording), FOLIOT_STATUS_OK);
        assert_int_equal(foliot_recording_drain(i->recording), FOLIOT_STATUS_OK);
        copy_file(i);
        player = recorded(i);
        assert_memory_equal(&player.proof, &now, sizeof now);
        assert_memory_equal(&player.before, &nothing,
                            sizeof nothing); // the new token was acknowledged
    }
    close_fixture(i);
}

TEST(a_token_is_recorded_before_its_welcome)
{
    resume_is_recorded_before_its_welcome(false);
}

TEST(in_lockstep_too)
{
    resume_is_recorded_before_its_welcome(true);
}

// The welcome is lost twice, then the server crashes: the acknowledged token holds, others need
// not.
TEST(an_unheard_token_does_not_replace_the_one_before_it)
{
    fixture *i = open_fixture(true, false);
    raw_client *owner = cluster_join_raw(i->c, none);
    foliot__token first = owner->welcome.token;
    cluster_acknowledge_raw(i->c, owner);
    cluster_leave_raw(i->c, owner);
    raw_client *deaf = cluster_join_raw(i->c, first);
    cluster_leave_raw(i->c, deaf);
    raw_client *again = cluster_join_raw(i->c, first);
    foliot_recorded_player player = recorded(i);
    foliot_player_proof now = proof_of(again->welcome.token), before = proof_of(first);
    assert_memory_equal(&player.proof, &now, sizeof now);
    assert_memory_equal(&player.before, &before, sizeof before);
    close_fixture(i);
}

TEST(heard_and_replaced_within_a_tick_are_recorded_in_order)
{
    fixture *i = open_fixture(true, false);
    raw_client *owner = cluster_join_raw(i->c, none);
    cluster_acknowledge_raw(i->c, owner);
    cluster_leave_raw(i->c, owner);
    raw_client *second = cluster_join_raw(i->c, owner->welcome.token);
    foliot__token t2 = second->welcome.token;
    raw_client *g = cluster_connect_raw(i->c);
    uint64_t ticks = foliot_server_get_counters(i->c->server)->ticks;
    while (foliot_server_get_counters(i->c->server)->ticks == ticks)
        cluster_run(i->c, 0.001);
    allow_failure(raw_client_acknowledge(second));
    foliot_transport_flush(second->wire, i->c->now_ns);
    cluster_run(i->c, 0.003);
    raw_client_hello(g, t2);
    foliot_transport_flush(g->wire, i->c->now_ns);
    cluster_run(i->c, 0.1);
    assert_true(g->welcomed);
    foliot_recorded_player player = recorded(i);
    foliot_player_proof now = proof_of(g->welcome.token), before = proof_of(t2);
    assert_memory_equal(&player.proof, &now, sizeof now);
    assert_memory_equal(&player.before, &before, sizeof before);
    close_fixture(i);
}

TEST(tokens_themselves_are_not_recorded)
{
    fixture *i = open_fixture(true, false);
    raw_client *owner = cluster_join_raw(i->c, none);
    cluster_acknowledge_raw(i->c, owner);
    cluster_leave_raw(i->c, owner);
    raw_client *back = cluster_join_raw(i->c, owner->welcome.token);
    static uint8_t bytes[1 << 20];
    FILE *file = fopen(i->copy, "rb");
    assert_non_null(file);
    size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    char hex[33];
    for (int k = 0; k < 16; k++)
        snprintf(hex + 2 * k, 3, "%02x", back->welcome.token.bytes[k]);
    assert_null(memmem(bytes, length, back->welcome.token.bytes, 8));
    assert_null(memmem(bytes, length, hex, 16));
    close_fixture(i);
}

// One address joins, is lost and joins again: the places that are kept for it count as its own.
TEST(one_address_takes_not_all_places)
{
    fixture *i = open_fixture(false, false);
    raw_client *mallory = cluster_connect_raw(i->c);
    for (int k = 0; k < 6; k++) {
        if (k > 0)
            raw_client_connect_again(mallory, i->c->now_ns);
        cluster_run(i->c, 0.01);
        raw_client_hello(mallory, none);
        cluster_run(i->c, 0.05);
        if (k % 2)
            cluster_leave_raw(i->c, mallory);
    }
    assert_int_equal(foliot_server_get_presence(i->c->server).players, 2);
    assert_int_equal(foliot_server_get_counters(i->c->server)->refusals_over_address, 4);
    cluster_join_raw(i->c, none);
    cluster_join_raw(i->c, none);
    close_fixture(i);
}

// -- connections

// A server of three connections: two players are here, one is away. A newcomer would take the place
// that he needs.
TEST(connections_are_kept_for_who_may_come_back)
{
    fixture *i = open_fixture(false, false);
    cluster_stop(i->c);
    open_server(i, 3, NULL, false);
    raw_client *away = cluster_join_raw(i->c, none);
    cluster_join_raw(i->c, none);
    cluster_join_raw(i->c, none);
    cluster_acknowledge_raw(i->c, away);
    cluster_leave_raw(i->c, away);
    raw_client *newcomer = cluster_connect_raw(i->c);
    raw_client_hello(newcomer, none);
    cluster_run(i->c, 0.1);
    assert_true(newcomer->lost);
    assert_true(!newcomer->welcomed);
    assert_int_equal(foliot_server_get_counters(i->c->server)->refusals_reserved, 1);
    assert_int_equal(cluster_join_raw(i->c, away->welcome.token)->welcome.player,
                     away->welcome.player);
    close_fixture(i);
}

// -- players that return

// Goal: a client that returns after its player was given up, and misses the welcome, asks again
// with the token of the old player. It used to get a new player each time, and the first one stayed
// as a ghost. Now the requested token names the player too, until its owner acknowledges the new
// one. Method: clients of a real server that send the protocol's bytes and choose what they
// receive.

// The token of a player that was here and is not any more.
static foliot__token token_of_the_gone(fixture *i)
{
    raw_client *g = cluster_join_raw(i->c, none);
    cluster_acknowledge_raw(i->c, g);
    cluster_leave_raw(i->c, g);
    cluster_run(i->c, 10.1);
    assert_int_equal(foliot_server_get_presence(i->c->server).players, 0);
    return g->welcome.token;
}

TEST(the_welcome_was_lost_and_no_ghost_stays)
{
    fixture *i = open_fixture(false, false);
    foliot__token token = token_of_the_gone(i);
    raw_client *deaf = cluster_join_raw(i->c, token);
    cluster_leave_raw(i->c, deaf);
    raw_client *again = cluster_join_raw(i->c, token);
    assert_int_equal(again->welcome.player, deaf->welcome.player);
    assert_int_equal(foliot_server_get_presence(i->c->server).players, 1);
    assert_int_equal(foliot_server_get_counters(i->c->server)->resumes, 1);
    // A new token each time, and the changes count from the first: the player is not the one
    // that was gone.
    assert_false(same(again->welcome.token, deaf->welcome.token) ||
                 same(again->welcome.token, token));
    assert_false(again->welcome.resumed);
    close_fixture(i);
}

TEST(a_connection_that_nobody_hears_makes_way)
{
    fixture *i = open_fixture(false, false);
    foliot__token token = token_of_the_gone(i);
    raw_client *deaf = cluster_join_raw(i->c, token);
    raw_client *again = cluster_join_raw(i->c, token);
    assert_int_equal(again->welcome.player, deaf->welcome.player);
    assert_true(deaf->lost);
    assert_true(!again->lost);
    assert_int_equal(foliot_server_get_presence(i->c->server).players, 1);
    assert_int_equal(foliot_server_get_presence(i->c->server).peers, 1);
    close_fixture(i);
}

// The old token does not reach the player with the new one, whether the player is connected or
// away.
TEST(the_old_token_is_worth_nothing_once_the_new_one_was_heard)
{
    fixture *i = open_fixture(false, false);
    foliot__token token = token_of_the_gone(i);
    raw_client *owner = cluster_join_raw(i->c, token);
    cluster_acknowledge_raw(i->c, owner);
    raw_client *other = cluster_join_raw(i->c, token);
    check_ne(other->welcome.player, owner->welcome.player);
    assert_true(!same(other->welcome.token, owner->welcome.token));
    assert_false(owner->lost);
    cluster_acknowledge_raw(i->c, other);
    cluster_leave_raw(i->c, owner);
    raw_client *third = cluster_join_raw(i->c, token);
    check_ne(third->welcome.player, owner->welcome.player);
    check_ne(third->welcome.player, other->welcome.player);
    raw_client *back = cluster_join_raw(i->c, owner->welcome.token);
    assert_int_equal(back->welcome.player, owner->welcome.player);
    close_fixture(i);
}

TEST(newcomers_without_a_token_are_never_one)
{
    fixture *i = open_fixture(false, false);
    raw_client *a = cluster_join_raw(i->c, none), *b = cluster_join_raw(i->c, none);
    check_ne(a->welcome.player, b->welcome.player);
    assert_false(a->lost);
    assert_int_equal(foliot_server_get_presence(i->c->server).players, 2);
    close_fixture(i);
}

// A peer that ended is reaped when the update ends: until then its player is not to be had.
TEST(a_player_who_said_goodbye_is_not_resumed_in_the_same_update)
{
    fixture *i = open_fixture(false, false);
    raw_client *first = cluster_join_raw(i->c, none);
    cluster_acknowledge_raw(i->c, first);
    raw_client *second = cluster_connect_raw(i->c);
    demand(raw_client_send(first, &(foliot__message){.kind = FOLIOT__BYE}));
    raw_client_hello(second, first->welcome.token);
    cluster_run(i->c, 0.1);
    assert_true(second->welcomed);
    assert_false(second->welcome.resumed);
    assert_int_equal(foliot_server_get_counters(i->c->server)->byes, 1);
    assert_int_equal(foliot_server_get_counters(i->c->server)->resumes, 0);
    assert_int_equal(foliot_server_get_presence(i->c->server).players, 1);
    close_fixture(i);
}
