// SPDX-License-Identifier: MIT
// test_lockstep_network.c: lockstep on networks that nobody would play on: not a bit differs, and
// packets stay small.
#include "check.h"

#include <string.h>

#include "chain.h"
#include "cluster.h"
#include "game_rules.h"
#include "status.h"

TEST(ten_minutes_at_two_seconds_and_a_quarter_lost)
{
    cluster_options options = {.server_network = "delay=0ms"};
    cluster *a = cluster_create(&options);
    a->step_ns = 4000000;
    for (int i = 0; i < 4; i++)
        cluster_player(a, "delay=2000ms,loss=25%,seed=11");
    cluster_run(a, 600);
    for (unsigned i = 0; i < 4; i++) {
        foliot_client_statistics seen = cluster_get_statistics(a, i);
        print_message("relays %.1f B, p99 %.0f, max %.0f; inputs %.1f B, p99 %.0f, max %.0f; %llu "
                      "ticks compared, %llu stalls, "
                      "%llu late, %llu missing, %.0f ms round trip\n",
                      seen.relay_bytes_mean, seen.relay_bytes_p99, seen.relay_bytes_max,
                      seen.input_bytes_mean, seen.input_bytes_p99, seen.input_bytes_max,
                      (unsigned long long)seen.ticks_compared, (unsigned long long)seen.stalls,
                      (unsigned long long)seen.inputs_late, (unsigned long long)seen.inputs_missing,
                      seen.round_trip_ms);
        check_gt(seen.ticks_compared, 34000);
        assert_true(cluster_agrees(a, i));
        check_below(seen.relay_bytes_max, 90.5);
        check_below(seen.input_bytes_max, 90.5);
    }
    assert_int_equal(cluster_get_counters(a)->divergences, 0);
    assert_int_equal(a->events[FOLIOT_SERVER_VIOLATION], 0);
    assert_int_equal(cluster_get_counters(a)->messages_malformed, 0);
    check_gt(cluster_get_counters(a)->inputs, 3500);
    check_lt(cluster_get_counters(a)->inputs_late, cluster_get_counters(a)->inputs / 20);
    print_message("%llu inputs, %llu late\n", (unsigned long long)cluster_get_counters(a)->inputs,
                  (unsigned long long)cluster_get_counters(a)->inputs_late);
    cluster_destroy(a);
}

// Jitter, reordering, duplicates, bursts: drawn for each client.
TEST(any_network_gives_the_same_bits)
{
    cluster *a = cluster_create(NULL);
    a->step_ns = 2000000;
    cluster_player(a, "delay=30ms,jitter=0-200ms,seed=1");
    cluster_player(a, "loss=30%,burst=5,delay=10ms,seed=2");
    cluster_player(a, "reorder=20%,duplicate=20%,delay=60ms,jitter=0-30ms,seed=3");
    cluster_player(a, "rate=64kbit,delay=100ms,loss=5%,seed=4");
    cluster_spectator(a, "loss=60%,delay=300ms,jitter=0-300ms,seed=5");
    cluster_run(a, 90);
    for (unsigned i = 0; i < 5; i++) {
        foliot_client_statistics seen = cluster_get_statistics(a, i);
        print_message("%llu ticks compared, %llu stalls, %llu late, %llu missing, relays %.1f B\n",
                      (unsigned long long)seen.ticks_compared, (unsigned long long)seen.stalls,
                      (unsigned long long)seen.inputs_late, (unsigned long long)seen.inputs_missing,
                      seen.relay_bytes_mean);
        check_gt(seen.ticks_compared, 4500);
        assert_true(cluster_agrees(a, i));
    }
    assert_int_equal(cluster_get_counters(a)->divergences, 0);
    assert_int_equal(a->events[FOLIOT_SERVER_VIOLATION], 0);
    cluster_destroy(a);
}

// A player's controls reach the world in the tick that he meant, with the delay that all have.
TEST(the_input_delay_is_kept_by_all_who_can)
{
    cluster_options options = {.input_delay = 12};
    cluster *a = cluster_create(&options);
    static const char *const networks[] = {"delay=5ms", "delay=60ms", "delay=120ms"};
    for (int i = 0; i < 3; i++) {
        cluster_player(a, networks[i]);
        a->bots[i] = false;
    }
    cluster_run(a, 6);
    for (int i = 0; i < 3; i++) {
        int8_t axes[FOLIOT_AXIS_COUNT] = {50};
        uint64_t pressed = cluster_get_tick(a), player = foliot_client_get_player(a->clients[i]);
        foliot_client_set_input(a->clients[i], axes, 0);
        while (foliot_world_get_player_controls(foliot_server_get_world(a->server, "main"),
                                                (uint32_t)player)
                   .axes[0] != 50)
            cluster_run(a, 0.001);
        assert_in_range(cluster_get_tick(a) - pressed, 12, 14);
    }
    cluster_destroy(a);
}

// -- lockstep spectators: who comes late to a lockstep session, to play or to look on: from a
// saved state and the inputs since, any number, and nobody who plays waits for them. (Spectators
// who are behind step only what has no snapshots: of a world they watch,
// tests/cluster/test_mixed.c.)

TEST(a_late_joiner_catches_up_and_stalls_nobody)
{
    cluster *a = cluster_create(NULL);
    for (int i = 0; i < 3; i++)
        cluster_player(a, "delay=20ms,loss=2%");
    cluster_run(a, 61.5);
    uint64_t stalls = cluster_get_statistics(a, 0).stalls;
    foliot_client_config config = foliot_client_config_default();
    config.catch_up_ticks = 4;
    a->step_ns = 10000000;
    unsigned late = cluster_join(a, "delay=150ms,loss=10%", &config);
    cluster_run(a, 1.5);
    foliot_client_statistics seen = cluster_get_statistics(a, late);
    check_gt(seen.ticks_compared, 0);
    check_gt(seen.newest_tick + 20, cluster_get_tick(a));
    assert_int_equal(a->most_steps[late], 4); // faster than time, and no faster than it may
    cluster_run(a, 10);
    assert_true(cluster_agrees(a, late));
    assert_int_equal(cluster_get_statistics(a, 0).stalls, stalls);
    for (unsigned i = 0; i < 3; i++)
        assert_true(cluster_agrees(a, i));
    assert_true(cluster_is_honest(a));
    cluster_destroy(a);
}

TEST(spectators_see_what_was_and_stall_nobody)
{
    cluster_options options = {.spectator_delay_s = 5, .kind = chain_kind(CHAIN_NO_FAULT)};
    cluster *a = cluster_create(&options);
    cluster_player(a, "delay=20ms");
    cluster_player(a, "delay=30ms");
    cluster_run(a, 3);
    for (int i = 0; i < 20; i++)
        cluster_spectator(a, i < 15 ? "delay=40ms,loss=5%" : "delay=1000ms,loss=25%");
    cluster_run(a, 3);
    check_le(cluster_get_statistics(a, 2).newest_tick, cluster_get_tick(a) - 300);
    cluster_run(a, 14);
    for (unsigned i = 2; i < 22; i++) {
        foliot_client_statistics seen = cluster_get_statistics(a, i);
        assert_in_range(cluster_get_tick(a) - seen.newest_tick, 300, 300 + (i < 17 ? 8 : 80));
        check_gt(seen.ticks_compared, 400);
        assert_true(cluster_agrees(a, i));
    }
    assert_int_equal(cluster_get_statistics(a, 0).stalls, 0);
    assert_true(cluster_agrees(a, 0));
    assert_true(cluster_agrees(a, 1));
    check_gt(cluster_get_statistics(a, 0).newest_tick + 6, cluster_get_tick(a));
    // Encoded once for many: far fewer encodes than packets.
    check_lt(cluster_get_counters(a)->relay_encodes * 3, cluster_get_counters(a)->relays_sent);
    assert_true(cluster_is_honest(a));
    cluster_destroy(a);
}

// A hundred, who come within seconds, behind all kinds of networks; some leave. Two players notice
// nothing.
TEST(a_hundred_spectators_stall_nobody)
{
    static const char *const networks[] = {"delay=20ms,loss=2%", "delay=80ms,jitter=0-60ms,loss=5%",
                                           "delay=400ms,loss=20%", "loss=30%,burst=4,delay=10ms"};
    cluster_options options = {.spectator_delay_s = 2, .kind = chain_kind(CHAIN_NO_FAULT)};
    cluster *a = cluster_create(&options);
    a->step_ns = 4000000;
    cluster_player(a, "delay=20ms");
    cluster_player(a, "delay=35ms");
    cluster_run(a, 8);
    uint64_t late =
        cluster_get_statistics(a, 0).inputs_late + cluster_get_statistics(a, 1).inputs_late;
    uint64_t missing =
        cluster_get_statistics(a, 0).inputs_missing + cluster_get_statistics(a, 1).inputs_missing;
    for (unsigned i = 0; i < 100; i++) {
        cluster_spectator(a, networks[i % 4]);
        cluster_run(a, 0.02);
    }
    cluster_run(a, 4);
    for (unsigned i = 0; i < 10; i++)
        foliot_client_leave(a->clients[2 + 10 * i], a->now_ns);
    cluster_run(a, 6);
    unsigned there = 0;
    for (unsigned i = 2; i < 102; i++) {
        foliot_client_statistics seen = cluster_get_statistics(a, i);
        if (foliot_client_get_state(a->clients[i]) != FOLIOT_CLIENT_PLAYING)
            continue;
        there++;
        assert_in_range(cluster_get_tick(a) - seen.newest_tick, 120, 180);
        check_gt(seen.ticks_compared, 300);
        assert_true(cluster_agrees(a, i));
    }
    assert_int_equal(there, 90);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(cluster_get_statistics(a, i).stalls, 0);
        check_gt(cluster_get_statistics(a, i).newest_tick + 8, cluster_get_tick(a));
        assert_true(cluster_agrees(a, i));
    }
    assert_in_range(cluster_get_statistics(a, 0).inputs_late +
                        cluster_get_statistics(a, 1).inputs_late,
                    late, late + 1);
    assert_in_range(cluster_get_statistics(a, 0).inputs_missing +
                        cluster_get_statistics(a, 1).inputs_missing,
                    missing, missing + 2);
    print_message("%llu relays of %llu encodes\n",
                  (unsigned long long)cluster_get_counters(a)->relays_sent,
                  (unsigned long long)cluster_get_counters(a)->relay_encodes);
    assert_true(cluster_is_honest(a));
    cluster_destroy(a);
}

// -- lockstep game: commands, orders and messages in lockstep. Goal: all who step have the
// server's state after every command, whatever the network loses and whenever they come; what is
// forged is counted. Method: rules that count what they get, bots on a virtual clock.

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
