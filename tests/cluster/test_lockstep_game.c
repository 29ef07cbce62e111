// SPDX-License-Identifier: MIT
// test_lockstep_game.c: commands, orders and messages in lockstep. Goal: all who step have the
// server's state after every command, whatever the network loses and whenever they come; what is
// forged is counted. Method: rules that count what they get, bots on a virtual clock.
#include "check.h"

#include <string.h>

#include "cluster.h"
#include "game_rules.h"
#include "status.h"

static foliot_status order(cluster *a, unsigned client, const char *text)
{
    return foliot_client_order(a->clients[client], FOLIOT_ORDER_GAME, text, strlen(text), NULL);
}

static int64_t var_of(const cluster *a, const char *key)
{
    foliot_var var = {.integer = 0};
    const foliot_world *world = foliot_server_get_world(a->server, "main");
    return foliot_world_get_var(world, key, &var) ? var.integer : 0;
}

// Spawns, points, tags and ends of bodies, a few a second.
static void play(cluster *a, unsigned players, double seconds)
{
    static const char *const moves[] = {"s", "p", "s", "t*", "x", "m", "p", "M"};
    for (double at = 0; at < seconds; at += 0.1) {
        for (unsigned i = 0; i < players; i++)
            allow_failure(order(a, i, moves[foliot__rng_below(&a->rng, 8)]));
        cluster_run(a, 0.1);
    }
}

TEST(all_step_the_same_commands)
{
    cluster *a = cluster_create(&(cluster_options){.rules = &game_rules_kind, .input_delay = 3});
    cluster_player(a, "delay=20ms");
    cluster_player(a, "loss=20%,delay=40ms,jitter=0-60ms");
    cluster_spectator(a, "loss=5%,delay=10ms");
    cluster_run(a, 2);
    play(a, 2, 20);
    unsigned late = cluster_player(a, "loss=10%,delay=30ms"),
             watcher = cluster_spectator(a, "loss=10%,delay=30ms");
    play(a, 2, 20);
    cluster_run(a, 5);
    check_gt(cluster_get_counters(a)->commands, 400);
    check_gt(cluster_get_counters(a)->command_parts_sent, 400);
    assert_true(cluster_is_honest(a));
    assert_int_equal(var_of(a, "wrong"), 0);
    check_gt(var_of(a, "score"), 10);
    for (unsigned i = 0; i < a->client_count; i++) {
        foliot_client_statistics seen = cluster_get_statistics(a, i);
        foliot_var var;
        assert_true(cluster_agrees(a, i));
        assert_int_equal(seen.divergences, 0);
        assert_int_equal(seen.pieces_malformed, 0);
        check_gt(seen.ticks_compared, 900);
        assert_true(foliot_client_get_var(a->clients[i], "score", &var));
        assert_int_equal(var.integer, var_of(a, "score"));
        assert_int_equal(foliot_client_get_tag(a->clients[i], 0), '*');
    }
    foliot_client_event e;
    unsigned spawned = 0, points = 0, messages = 0;
    while (foliot_client_poll(a->clients[watcher], &e)) {
        spawned += e.kind == FOLIOT_CLIENT_SPAWNED;
        points += e.kind == FOLIOT_CLIENT_VAR && strcmp((const char *)e.bytes, "score") == 0;
        messages += e.kind == FOLIOT_CLIENT_MESSAGE;
    }
    check_gt(spawned, 5);
    check_gt(points, 5);
    check_gt(messages, 5);
    check_gt(cluster_get_statistics(a, late).ticks_stepped, 1000);
    cluster_destroy(a);
}

// Spectators who are behind watch, and see the commands of their time.
TEST(spectators_watch_late)
{
    cluster *a =
        cluster_create(&(cluster_options){.rules = &game_rules_kind, .spectator_delay_s = 2});
    cluster_player(a, "delay=20ms");
    unsigned watcher = cluster_spectator(a, "delay=20ms,loss=5%");
    cluster_run(a, 4);
    play(a, 1, 10);
    foliot_var var = {.integer = 0};
    assert_true(foliot_client_get_var(a->clients[watcher], "score", &var));
    check_below(var.integer, var_of(a, "score"));
    assert_int_equal(foliot_client_get_kind(a->clients[watcher]), FOLIOT_PEER_WATCHER);
    cluster_run(a, 4);
    assert_true(foliot_client_get_var(a->clients[watcher], "score", &var));
    assert_int_equal(var.integer, var_of(a, "score"));
    assert_true(cluster_is_honest(a));
    cluster_destroy(a);
}

TEST(a_tick_of_many_commands_comes_in_parts)
{
    char text[250];
    cluster *a = cluster_create(&(cluster_options){.rules = &game_rules_kind});
    cluster_player(a, "delay=20ms,loss=10%");
    cluster_run(a, 2);
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_var);
    c.fields = FOLIOT_COMMAND_HAS(var, key) | FOLIOT_COMMAND_HAS(var, text);
    c.as.var.text = text;
    for (int i = 0; i < 60; i++) { // 15 kB
        char key[8] = {'k', (char)('a' + i / 10), (char)('0' + i % 10)};
        c.as.var.key = key;
        assert_int_equal(foliot_server_command(a->server, "main", &c, NULL), FOLIOT_STATUS_OK);
    }
    cluster_run(a, 3);
    assert_int_equal(foliot_client_get_var_count(a->clients[0]), 61); // and who joined
    check_gt(cluster_get_counters(a)->command_parts_sent, 1);
    assert_true(cluster_agrees(a, 0));
    assert_true(cluster_is_honest(a));
    cluster_destroy(a);
}

TEST(the_game_ends_for_all)
{
    foliot_client_event e;
    bool ended = false;
    cluster *a = cluster_create(&(cluster_options){.rules = &game_rules_kind});
    cluster_player(a, "delay=20ms");
    cluster_run(a, 2);
    assert_int_equal(order(a, 0, "e"), FOLIOT_STATUS_OK);
    cluster_run(a, 0.9);
    assert_int_equal(a->events[FOLIOT_SERVER_GAME_ENDED], 1);
    assert_int_equal(foliot_client_get_state(a->clients[0]), FOLIOT_CLIENT_CLOSED);
    assert_string_equal(foliot_client_get_reason(a->clients[0]), "somebody has won");
    while (foliot_client_poll(a->clients[0], &e))
        ended |= e.kind == FOLIOT_CLIENT_ENDED;
    assert_true(ended);
    cluster_destroy(a);
}

// Queries answer for the shown time, not for what has been stepped since.
TEST(all_that_is_shown_is_of_the_render_time)
{
    cluster *a = cluster_create(&(cluster_options){.rules = &game_rules_kind, .input_delay = 3});
    unsigned watcher = cluster_spectator(a, "delay=40ms,jitter=0-60ms");
    uint64_t known = 0, compared = 0;
    for (int step = 0; step < 3000; step++) {
        uint64_t tick = foliot_world_get_tick(foliot_server_get_world(a->server, "main"));
        foliot_command c = foliot_command_default(FOLIOT_COMMAND_var);
        c.fields = FOLIOT_COMMAND_HAS(var, key) | FOLIOT_COMMAND_HAS(var, integer);
        c.as.var.key = "tick";
        c.as.var.integer = (int64_t)tick + 1;
        if (tick != known)
            assert_int_equal(foliot_server_command(a->server, "main", &c, NULL), FOLIOT_STATUS_OK);
        known = tick;
        cluster_run(a, 0.002);
        foliot_sample sample;
        foliot_var var;
        foliot_client_event e;
        foliot_client *client = a->clients[watcher];
        if (foliot_client_sample(client, a->now_ns, &sample) != FOLIOT_STATUS_OK ||
            sample.starved || step < 1000)
            continue;
        assert_true(foliot_client_get_var(client, "tick", &var));
        assert_int_equal(var.integer, (uint64_t)sample.render_tick);
        while (foliot_client_poll(client, &e))
            check_below((double)e.tick, sample.render_tick + 1e-9);
        compared++;
    }
    check_gt(compared, 500);
    cluster_destroy(a);
}
