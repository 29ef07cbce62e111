// SPDX-License-Identifier: MIT
// test_game.c: what players and games say to each other, in a session of snapshots. Goal: orders
// reach the rules once and in order whatever the network does; everybody knows the same variables,
// tags and bodies; what is too much is refused and counted. Method: rules that count what they get
// (tests/support/game_rules.h), a server and clients in one process on a virtual clock.
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "game_rules.h"
#include "cluster.h"
#include "rules/rules.h"
#include "slots.h"

static int64_t var_of(const cluster *s, const char *key)
{
    foliot_var var = {.integer = 0};
    const foliot_world *world = foliot_server_get_world(s->server, "main");
    return world && foliot_world_get_var(world, key, &var) ? var.integer : 0;
}

static int64_t seen_var(const foliot_client *client, const char *key)
{
    foliot_var var = {.integer = -1};
    return foliot_client_get_var(client, key, &var) ? var.integer : -1;
}

static foliot_status order(cluster *s, unsigned client, const char *text)
{
    return foliot_client_order(s->clients[client], FOLIOT_ORDER_GAME, text, strlen(text), NULL);
}

// The next event of that kind; those before it are passed over.
static bool next_event(foliot_client *client, foliot_client_event_kind kind,
                       foliot_client_event *event)
{
    while (foliot_client_poll(client, event))
        if (event->kind == kind)
            return true;
    return false;
}

static const foliot_server_counters *counted(const cluster *s)
{
    return foliot_server_get_counters(s->server);
}

TEST(orders_arrive_once_and_in_order_with_loss)
{
    cluster *s =
        cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS, .rules = &game_rules_kind});
    for (unsigned i = 0; i < 3; i++)
        cluster_player(s, "loss=20%,delay=40ms,jitter=0-60ms,seed=5");
    cluster_run(s, 3);
    uint32_t numbers[3] = {0};
    for (int step = 0; step < 400; step++) {
        for (unsigned i = 0; i < 3; i++) {
            uint8_t bytes[5] = {'n'};
            uint32_t number = numbers[i] + 1;
            memcpy(bytes + 1, &number, sizeof number);
            if (foliot_client_order(s->clients[i], FOLIOT_ORDER_GAME, bytes, sizeof bytes, NULL) ==
                FOLIOT_STATUS_OK)
                numbers[i]++;
        }
        cluster_run(s, 0.05);
    }
    cluster_run(s, 10);
    assert_int_equal(var_of(s, "wrong"), 0);
    assert_int_equal(counted(s)->orders_refused, 0);
    assert_int_equal(counted(s)->orders, numbers[0] + numbers[1] + numbers[2]);
    for (unsigned i = 0; i < 3; i++) {
        check_gt(numbers[i], 300);
        assert_int_equal(foliot_client_get_statistics(s->clients[i]).orders_waiting, 0);
    }
    assert_int_equal(var_of(s, "joined"), 3);
    cluster_destroy(s);
}

// The connection breaks while orders are on their way: they come behind, none twice.
TEST(orders_outlast_a_lost_connection)
{
    cluster *s =
        cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS, .rules = &game_rules_kind});
    cluster_player(s, "delay=30ms");
    cluster_run(s, 1);
    uint32_t number = 0;
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 20; i++) {
            uint8_t bytes[5] = {'n'};
            number++;
            memcpy(bytes + 1, &number, sizeof number);
            assert_int_equal(
                foliot_client_order(s->clients[0], FOLIOT_ORDER_GAME, bytes, sizeof bytes, NULL),
                FOLIOT_STATUS_OK);
            if (i == 7)
                cluster_impair(s, 0, "loss=100%");
            cluster_run(s, 0.01);
        }
        cluster_run(s, 3);
        cluster_impair(s, 0, "delay=30ms");
        cluster_run(s, 4);
    }
    check_gt(foliot_client_get_statistics(s->clients[0]).reconnects, 4);
    assert_int_equal(var_of(s, "wrong"), 0);
    assert_int_equal(counted(s)->orders, 100);
    assert_int_equal(var_of(s, "joined"), 1);
    cluster_destroy(s);
}

TEST(everybody_knows_variables_tags_and_bodies)
{
    cluster *s =
        cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS, .rules = &game_rules_kind});
    cluster_player(s, "loss=5%,delay=20ms");
    cluster_spectator(s, "delay=5ms");
    cluster_run(s, 1);
    assert_int_equal(order(s, 0, "p"), FOLIOT_STATUS_OK);
    assert_int_equal(order(s, 0, "p"), FOLIOT_STATUS_OK);
    assert_int_equal(order(s, 0, "t*"), FOLIOT_STATUS_OK);
    for (int i = 0; i < 4; i++)
        assert_int_equal(order(s, 0, "s"), FOLIOT_STATUS_OK);
    cluster_run(s, 1);
    assert_int_equal(order(s, 0, "x"), FOLIOT_STATUS_OK);
    cluster_run(s, 2);
    cluster_spectator(s, "delay=5ms"); // late
    cluster_run(s, 1);
    const foliot_world *world = foliot_server_get_world(s->server, "main");
    assert_int_equal(var_of(s, "score"), 2);
    for (unsigned c = 0; c < 3; c++) {
        const foliot_client *client = s->clients[c];
        assert_int_equal(seen_var(client, "score"), 2);
        uint32_t vars = foliot_client_get_var_count(client);
        foliot_var var;
        assert_true(vars == 0 || foliot_world_get_var_at(world, vars - 1, &var));
        assert_false(foliot_world_get_var_at(world, vars, &var));
        assert_int_equal(foliot_client_get_tag(client, 0), '*');
        uint32_t spawned = 0;
        for (uint32_t slot = 0; slot < 200; slot++) {
            foliot_shape shape;
            uint32_t prototype = slot < foliot_world_get_body_count(world)
                                     ? slot_body(world, slot).prototype
                                     : FOLIOT_NO_BODY;
            assert_int_equal(foliot_client_get_prototype(client, slot), prototype);
            if (prototype == FOLIOT_NO_BODY)
                continue;
            spawned++;
            assert_int_equal(foliot_client_get_tag(client, slot), 1);
            assert_true(foliot_client_get_shape(client, slot, &shape));
            check_near(shape.radius, 0.25, 1e-9);
        }
        assert_int_equal(spawned, 3);
        assert_int_equal(foliot_client_get_statistics(client).pieces_malformed, 0);
    }
    foliot_client_event e;
    assert_true(next_event(s->clients[1], FOLIOT_CLIENT_VAR, &e));
    unsigned spawns = 0, ends = 0;
    while (foliot_client_poll(s->clients[1], &e)) {
        spawns += e.kind == FOLIOT_CLIENT_SPAWNED;
        ends += e.kind == FOLIOT_CLIENT_DESPAWNED;
    }
    assert_int_equal(spawns, 4);
    assert_int_equal(ends, 1);
    cluster_destroy(s);
}

TEST(chat_and_messages_come)
{
    foliot_client_event e;
    cluster *s =
        cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS, .rules = &game_rules_kind});
    cluster_player(s, "delay=5ms");
    cluster_player(s, "delay=5ms");
    cluster_run(s, 1);
    assert_int_equal(foliot_client_order(s->clients[0], FOLIOT_ORDER_CHAT, "hello", 5, NULL),
                     FOLIOT_STATUS_OK);
    assert_int_equal(order(s, 0, "mine"), FOLIOT_STATUS_OK);
    assert_int_equal(order(s, 0, "Many"), FOLIOT_STATUS_OK);
    cluster_run(s, 2);
    for (unsigned c = 0; c < 2; c++) {
        assert_true(next_event(s->clients[c], FOLIOT_CLIENT_JOINED, &e));
        char got[64] = "";
        while (next_event(s->clients[c], FOLIOT_CLIENT_MESSAGE, &e))
            strncat(got, (const char *)e.bytes, sizeof got - strlen(got) - 1);
        if (c == 0)
            assert_true(strstr(got, "mine"));
        else
            assert_null(strstr(got, "mine"));
        assert_true(strstr(got, ">hello"));
        assert_true(strstr(got, "Many"));
    }
    assert_int_equal(foliot_server_message(s->server, "main", FOLIOT_TO_ALL, "host", 4, true),
                     FOLIOT_STATUS_OK);
    cluster_run(s, 1);
    assert_true(next_event(s->clients[1], FOLIOT_CLIENT_MESSAGE, &e));
    assert_string_equal((const char *)e.bytes, "host");
    cluster_destroy(s);
}

TEST(chat_passes_without_rules)
{
    foliot_client_event e;
    cluster *s = cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS, .game = true});
    cluster_player(s, "delay=5ms");
    cluster_spectator(s, "delay=5ms");
    cluster_run(s, 1);
    assert_int_equal(foliot_client_order(s->clients[0], FOLIOT_ORDER_CHAT, "hi all", 6, NULL),
                     FOLIOT_STATUS_OK);
    cluster_run(s, 1);
    assert_true(next_event(s->clients[1], FOLIOT_CLIENT_CHAT, &e));
    assert_int_equal(e.player, 0);
    assert_string_equal((const char *)e.bytes, "hi all");
    assert_string_equal(foliot_client_get_name(s->clients[1], 0), "player");
    cluster_destroy(s);
}

TEST(a_client_refuses_what_a_server_would)
{
    uint8_t bytes[FOLIOT_ORDER_BYTES_MAX + 1] = {0};
    cluster *s =
        cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS, .rules = &game_rules_kind});
    cluster_player(s, "delay=5ms");
    cluster_spectator(s, "delay=5ms");
    foliot_client *player = s->clients[0];
    assert_int_equal(order(s, 0, "p"), FOLIOT_STATUS_AGAIN); // before the welcome
    cluster_run(s, 1);
    assert_int_equal(foliot_client_order(player, FOLIOT_ORDER_GAME, bytes, sizeof bytes, NULL),
                     FOLIOT_STATUS_INVALID);
    assert_int_equal(foliot_client_order(player, FOLIOT_ORDER_JOINED, "me", 2, NULL),
                     FOLIOT_STATUS_INVALID);
    assert_int_equal(foliot_client_order(player, FOLIOT_ORDER_CHAT, "\xff", 1, NULL),
                     FOLIOT_STATUS_INVALID);
    assert_int_equal(order(s, 1, "p"), FOLIOT_STATUS_INVALID); // a spectator
    for (int i = 0; i < FOLIOT_ORDERS_PER_SECOND_MAX; i++)
        assert_int_equal(order(s, 0, "p"), FOLIOT_STATUS_OK);
    assert_int_equal(order(s, 0, "p"), FOLIOT_STATUS_FULL);
    cluster_run(s, 1);
    assert_int_equal(order(s, 0, "p"), FOLIOT_STATUS_OK);
    cluster_run(s, 1);
    assert_int_equal(var_of(s, "score"), FOLIOT_ORDERS_PER_SECOND_MAX + 1);
    cluster_destroy(s);
}

TEST(a_host_gives_commands)
{
    uint32_t sequence = 0;
    cluster *s = cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS, .game = true});
    cluster_spectator(s, "delay=5ms");
    cluster_run(s, 1);
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_var);
    c.fields = FOLIOT_COMMAND_HAS(var, key) | FOLIOT_COMMAND_HAS(var, integer);
    c.as.var.key = "phase";
    for (uint32_t i = 0; i < 64; i++) {
        c.as.var.integer = i;
        assert_int_equal(foliot_server_command(s->server, "main", &c, &sequence), FOLIOT_STATUS_OK);
        assert_int_equal(sequence, i + 1);
    }
    assert_int_equal(foliot_server_command(s->server, "main", &c, NULL), FOLIOT_STATUS_FULL);
    c.source = FOLIOT_COMMAND_SOURCE_RULES;
    assert_int_equal(foliot_server_command(s->server, "main", &c, NULL), FOLIOT_STATUS_INVALID);
    assert_int_equal(foliot_server_command(s->server, "none", &c, NULL), FOLIOT_STATUS_NOT_FOUND);
    cluster_run(s, 0.5);
    assert_int_equal(seen_var(s->clients[0], "phase"), 63);
    c = foliot_command_default(FOLIOT_COMMAND_var);
    c.fields = FOLIOT_COMMAND_HAS(var, key);
    c.as.var.key = "phase";
    assert_int_equal(foliot_server_command(s->server, "main", &c, &sequence), FOLIOT_STATUS_OK);
    assert_int_equal(sequence, 65);
    cluster_run(s, 0.5);
    assert_int_equal(foliot_client_get_var_count(s->clients[0]), 0);
    assert_int_equal(counted(s)->commands, 65);
    cluster_destroy(s);
    s = cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS});
    assert_int_equal(foliot_server_command(s->server, "main", &c, NULL), FOLIOT_STATUS_UNSUPPORTED);
    cluster_destroy(s);
}

TEST(the_game_ends_its_session)
{
    foliot_client_event e;
    const char *next = NULL;
    cluster *s =
        cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS, .rules = &game_rules_kind});
    cluster_player(s, "delay=5ms");
    cluster_run(s, 1);
    assert_int_equal(order(s, 0, "E"), FOLIOT_STATUS_OK);
    cluster_run(s, 1);
    assert_int_equal(foliot_client_get_state(s->clients[0]), FOLIOT_CLIENT_CLOSED);
    assert_string_equal(foliot_client_get_reason(s->clients[0]), "somebody has won");
    assert_true(next_event(s->clients[0], FOLIOT_CLIENT_ENDED, &e));
    assert_string_equal((const char *)e.bytes, "somebody has won");
    assert_int_equal(s->events[FOLIOT_SERVER_GAME_ENDED], 1);
    assert_string_equal(s->last[FOLIOT_SERVER_GAME_ENDED].text, "somebody has won");
    assert_true(foliot_server_get_next(s->server, "main", &next));
    assert_string_equal(next, "");
    assert_true(foliot_server_get_done(s->server));
    assert_int_equal(foliot_server_get_presence(s->server).players, 0); // none who may come back
    cluster_destroy(s);
}

// Everybody plays on in the next scene, with rules and a score that begin again.
TEST(players_follow_to_the_next_scene)
{
    foliot_client_event e;
    const char *next = NULL;
    cluster *s =
        cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS, .rules = &game_rules_kind});
    for (unsigned i = 0; i < 3; i++)
        (i == 2 ? cluster_spectator : cluster_player)(s, "loss=5%,delay=20ms");
    cluster_run(s, 1);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(order(s, 0, "p"), FOLIOT_STATUS_OK);
        cluster_run(s, 1);
        assert_int_equal(var_of(s, "score"), 1);
        assert_int_equal(order(s, 1, "e"), FOLIOT_STATUS_OK);
        do {
            cluster_run(s, 0.001);
            assert_true(s->now_ns < 60000000000u);
        } while (s->events[FOLIOT_SERVER_GAME_ENDED] == (uint64_t)round);
        assert_true(foliot_server_get_next(s->server, "main", &next));
        assert_string_equal(next, "next.yaml");
        cluster_follow(s);
        cluster_run(s, 4);
        assert_int_equal(var_of(s, "joined"), 2);
        assert_int_equal(var_of(s, "score"), 0);
        for (unsigned i = 0; i < 3; i++) {
            assert_int_equal(foliot_client_get_state(s->clients[i]), FOLIOT_CLIENT_PLAYING);
            assert_int_equal(seen_var(s->clients[i], "score"), -1);
            assert_true(next_event(s->clients[i], FOLIOT_CLIENT_ENDED, &e));
            assert_true(foliot_client_get_name(s->clients[i], 0));
        }
    }
    assert_int_equal(counted(s)->refusals, 0);
    cluster_destroy(s);
}

static void end_the_game(cluster *s)
{
    const char *next = NULL;
    assert_int_equal(order(s, 1, "e"), FOLIOT_STATUS_OK);
    while (!foliot_server_get_next(s->server, "main", &next)) {
        cluster_run(s, 0.001);
        assert_true(s->now_ns < 60000000000u);
    }
}

// A large scene takes its time, and is opened in parallel with the loop that serves the peers.
TEST(players_wait_for_a_next_scene_that_is_being_opened)
{
    cluster *s =
        cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS, .rules = &game_rules_kind});
    for (unsigned i = 0; i < 3; i++)
        (i == 2 ? cluster_spectator : cluster_player)(s, "loss=5%,delay=20ms");
    cluster_run(s, 1);
    end_the_game(s);
    cluster_run(s, 3);
    cluster_player(s, "delay=20ms"); // a newcomer waits, too
    cluster_run(s, 1);
    for (unsigned i = 0; i < 4; i++)
        assert_int_not_equal(foliot_client_get_state(s->clients[i]), FOLIOT_CLIENT_PLAYING);
    cluster_follow(s);
    cluster_run(s, 2);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(foliot_client_get_state(s->clients[i]), FOLIOT_CLIENT_PLAYING);
    assert_int_equal(counted(s)->refusals, 0);
    cluster_destroy(s);
}

// A newcomer's hellos are left unanswered for longer than a silent peer may take to say one.
TEST(newcomers_wait_as_long_as_the_next_scene_may_take)
{
    cluster *s =
        cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS, .rules = &game_rules_kind});
    for (unsigned i = 0; i < 2; i++)
        cluster_player(s, "delay=20ms");
    cluster_run(s, 1);
    end_the_game(s);
    cluster_spectator(s, "delay=20ms");
    cluster_run(s, 0.95 * FOLIOT_SERVER_NEXT_MS / 1000);
    check_eq(foliot_client_get_state(s->clients[2]), FOLIOT_CLIENT_JOINING);
    cluster_follow(s);
    cluster_run(s, 2);
    for (unsigned i = 0; i < 3; i++)
        check_eq(foliot_client_get_state(s->clients[i]), FOLIOT_CLIENT_PLAYING);
    cluster_destroy(s);
}

TEST(who_waits_is_told_when_no_next_scene_comes)
{
    for (int silent = 0; silent < 2; silent++) {
        cluster *s =
            cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS, .rules = &game_rules_kind});
        for (unsigned i = 0; i < 2; i++)
            cluster_player(s, "delay=20ms");
        cluster_run(s, 1);
        end_the_game(s);
        cluster_run(s, 1);
        assert_int_equal(counted(s)->refusals, 0);
        if (silent) // a host that says nothing is not waited for any longer
            cluster_run(s, FOLIOT_SERVER_NEXT_MS / 1000.0);
        else
            foliot_server_give_up_next(s->server, "main");
        cluster_run(s, 1);
        for (unsigned i = 0; i < 2; i++) {
            assert_true(foliot_client_get_state(s->clients[i]) > FOLIOT_CLIENT_PLAYING);
            if (!silent)
                assert_non_null(strstr(foliot_client_get_reason(s->clients[i]), "is ending"));
        }
        cluster_destroy(s);
    }
}

static uint32_t dismissals; // that are left

// Dismisses those that join, for a reason that passes.
static foliot_status tick_busy(void *self, const foliot_rules_view *view, foliot_rules *rules,
                               char *problem, size_t problem_bytes)
{
    for (uint32_t i = 0; i < view->order_count; i++) {
        if (view->orders[i].kind != FOLIOT_ORDER_JOINED || dismissals == 0)
            continue;
        dismissals--;
        foliot__rules_dismiss(rules, view->orders[i].player, "too busy");
    }
    return game_rules_kind.tick(self, view, rules, problem, problem_bytes);
}

// Stepping and watching: a player whom the rules had no time for comes back by itself, later each
// time, and then is refused. One that is kicked does not.
TEST(who_is_dismissed_for_a_reason_that_passes_comes_back)
{
    foliot_rules_kind kind = game_rules_kind;
    kind.tick = tick_busy;
    for (int steps = 0; steps < 2; steps++)
        for (uint32_t times = 2; times < 200; times += 197) {
            cluster *s = cluster_create(
                &(cluster_options){.world = CLUSTER_SPRINGS, .rules = &kind, .snapshots = true});
            dismissals = times;
            unsigned a = steps ? cluster_kind(s, "delay=20ms", FOLIOT_PEER_STEPPER)
                               : cluster_player(s, "delay=20ms");
            cluster_run(s, 0.4);
            check_eq(foliot_client_get_state(s->clients[a]), FOLIOT_CLIENT_CONNECTING);
            check_eq(counted(s)->joins, 1);
            cluster_run(s, 5);
            if (times == 2) {
                check_eq(foliot_client_get_state(s->clients[a]), FOLIOT_CLIENT_PLAYING);
                check_eq(counted(s)->joins, 3);
                check_eq(foliot_server_get_presence(s->server).players, 1);
                assert_int_equal(order(s, a, "k"), FOLIOT_STATUS_OK);
                cluster_run(s, 15);
                check_eq(foliot_client_get_state(s->clients[a]), FOLIOT_CLIENT_CLOSED);
                check_eq(counted(s)->joins, 3);
            } else {
                cluster_run(s, 60);
                check_eq(foliot_client_get_state(s->clients[a]), FOLIOT_CLIENT_REFUSED);
                assert_true(foliot_client_get_retryable(s->clients[a]));
                assert_string_equal(foliot_client_get_reason(s->clients[a]), "too busy");
                check_ge(counted(s)->joins, 3);
                check_le(counted(s)->joins, 6);
                check_eq(foliot_server_get_presence(s->server).players, 0);
            }
            cluster_destroy(s);
        }
}

static void (*held_run)(void *job);
static void *held_job;

static void hold_step(void *user, void (*run)(void *job), void *job)
{
    (void)user;
    if (dismissals == 0 || held_run) {
        run(job);
        return;
    }
    held_run = run;
    held_job = job;
}

// Rules that did not see a player see none of its orders, though they came while they ran.
TEST(orders_of_who_is_dismissed_go_with_it)
{
    foliot_rules_kind kind = game_rules_kind;
    kind.tick = tick_busy;
    cluster *s = cluster_create(
        &(cluster_options){.world = CLUSTER_SPRINGS, .rules = &kind, .start = hold_step});
    cluster_player(s, NULL);
    while (foliot_server_get_presence(s->server).players == 0)
        cluster_run(s, 0.001);
    dismissals = 1; // in the step that begins now
    held_run = NULL;
    while (foliot_client_get_state(s->clients[0]) != FOLIOT_CLIENT_PLAYING || !held_run)
        cluster_run(s, 0.001);
    assert_int_equal(order(s, 0, "p"), FOLIOT_STATUS_OK);
    cluster_run(s, 0.01);
    check_eq(counted(s)->orders, 1);
    held_run(held_job);
    cluster_run(s, 0.3);
    check_eq(counted(s)->players_dismissed, 1);
    check_eq(counted(s)->orders_abandoned, 1);
    check_eq(var_of(s, "score"), 0);
    cluster_destroy(s);
}

TEST(rules_dismiss_players_and_may_fail)
{
    cluster *s =
        cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS, .rules = &game_rules_kind});
    cluster_player(s, "delay=5ms");
    cluster_player(s, "delay=5ms");
    cluster_run(s, 1);
    assert_int_equal(order(s, 0, "k"), FOLIOT_STATUS_OK);
    cluster_run(s, 1);
    assert_int_equal(foliot_client_get_state(s->clients[0]), FOLIOT_CLIENT_CLOSED);
    assert_string_equal(foliot_client_get_reason(s->clients[0]), "asked for it");
    assert_int_equal(var_of(s, "left"), 1);
    assert_int_equal(counted(s)->players_dismissed, 1);
    assert_int_equal(order(s, 1, "f"), FOLIOT_STATUS_OK);
    cluster_run(s, 1);
    assert_int_equal(counted(s)->rules_stopped, 1);
    uint64_t ticks = counted(s)->ticks;
    cluster_run(s, 1);
    check_gt(counted(s)->ticks, ticks + 50); // the session goes on
    assert_int_equal(foliot_client_get_state(s->clients[1]), FOLIOT_CLIENT_PLAYING);
    cluster_destroy(s);
}

// Spectators who are behind do not learn of the score before its time.
TEST(spectators_learn_late)
{
    cluster *s = cluster_create(&(cluster_options){
        .world = CLUSTER_SPRINGS, .rules = &game_rules_kind, .spectator_delay_s = 2});
    cluster_player(s, "delay=5ms");
    cluster_spectator(s, "delay=5ms");
    cluster_run(s, 5);
    assert_int_equal(order(s, 0, "p"), FOLIOT_STATUS_OK);
    cluster_run(s, 1);
    cluster_spectator(s, "delay=5ms"); // comes while it is not to be known
    cluster_run(s, 0.7);
    assert_int_equal(seen_var(s->clients[0], "score"), 1);
    assert_int_equal(seen_var(s->clients[1], "score"), -1);
    assert_int_equal(seen_var(s->clients[2], "score"), -1);
    cluster_run(s, 1);
    assert_int_equal(seen_var(s->clients[1], "score"), 1);
    assert_int_equal(seen_var(s->clients[2], "score"), 1);
    cluster_destroy(s);
}

static void set_tag(cluster *s, uint32_t slot, uint32_t tag)
{
    const foliot_world *world = foliot_server_get_world(s->server, "main");
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_set_body);
    c.fields = FOLIOT_COMMAND_HAS(set_body, body) | FOLIOT_COMMAND_HAS(set_body, tag);
    c.as.set_body.body = foliot_world_get_body_id(world, slot);
    c.as.set_body.tag = tag;
    assert_int_equal(foliot_server_command(s->server, "main", &c, NULL), FOLIOT_STATUS_OK);
}

// Tags: nothing where nothing changes, two bytes for one change, about one where many do.
TEST(tags_are_small)
{
    cluster *s = cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS, .game = true});
    cluster_spectator(s, "delay=5ms");
    cluster_run(s, 1);
    uint64_t before = counted(s)->update_bytes;
    cluster_run(s, 1);
    assert_int_equal(counted(s)->update_bytes, before);
    for (uint32_t i = 0; i < CLUSTER_BODIES; i++)
        set_tag(s, i, i + 1);
    cluster_run(s, 1);
    check_below(counted(s)->update_bytes - before, 16);
    for (uint32_t i = 0; i < CLUSTER_BODIES; i++)
        assert_int_equal(foliot_client_get_tag(s->clients[0], i), i + 1);
    before = counted(s)->update_bytes;
    set_tag(s, 7, 2);
    cluster_run(s, 1);
    assert_int_equal(counted(s)->update_bytes - before, 2);
    assert_int_equal(foliot_client_get_tag(s->clients[0], 7), 2);
    cluster_destroy(s);
}

// -- what is shown belongs to the render time

#define SLOTS 40

typedef struct timeline { // of the server, by tick
    bool alive[CLUSTER_HISTORY][SLOTS];
    uint32_t tags[CLUSTER_HISTORY];
    uint64_t tick;
} timeline;

static void command(cluster *s, const foliot_command *c)
{
    assert_int_equal(foliot_server_command(s->server, "main", c, NULL), FOLIOT_STATUS_OK);
}

// For the next tick: a variable and a tag that name it, and now and then a body comes or goes.
static void give_commands(cluster *s, uint64_t tick)
{
    const foliot_world *world = foliot_server_get_world(s->server, "main");
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_var);
    c.fields = FOLIOT_COMMAND_HAS(var, key) | FOLIOT_COMMAND_HAS(var, integer);
    c.as.var.key = "tick";
    c.as.var.integer = (int64_t)tick + 1;
    command(s, &c);
    set_tag(s, 0, (uint32_t)tick + 1);
    if (tick % 21 == 4 || tick % 21 == 11) { // each lives for longer than between two snapshots
        c = foliot_command_default(FOLIOT_COMMAND_spawn);
        c.fields = FOLIOT_COMMAND_HAS(spawn, prototype) | FOLIOT_COMMAND_HAS(spawn, position);
        c.as.spawn.position[2] = 50;
        command(s, &c);
    }
    for (uint32_t slot = CLUSTER_BODIES; slot < SLOTS && tick % 21 == 0; slot++) {
        if (slot >= foliot_world_get_body_count(world) ||
            slot_body(world, slot).prototype == FOLIOT_NO_BODY)
            continue;
        c = foliot_command_default(FOLIOT_COMMAND_despawn);
        c.fields = FOLIOT_COMMAND_HAS(despawn, body);
        c.as.despawn.body = foliot_world_get_body_id(world, slot);
        command(s, &c);
    }
}

static void note_tick(timeline *line, const foliot_world *world)
{
    uint64_t tick = foliot_world_get_tick(world), at = tick % CLUSTER_HISTORY;
    line->tick = tick;
    line->tags[at] = slot_body(world, 0).tag;
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        line->alive[at][slot] = slot < foliot_world_get_body_count(world) &&
                                (slot_state(world, slot).flags & FOLIOT_BODY_ALIVE);
}

static void compare_shown(cluster *s, const timeline *line, unsigned client, uint64_t *compared)
{
    foliot_sample sample;
    foliot_client *c = s->clients[client];
    if (foliot_client_sample(c, s->now_ns, &sample) != FOLIOT_STATUS_OK || sample.starved)
        return;
    uint64_t tick = (uint64_t)sample.render_tick, at = tick % CLUSTER_HISTORY;
    assert_int_equal(seen_var(c, "tick"), tick);
    assert_int_equal(foliot_client_get_tag(c, 0), line->tags[at]);
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        bool shown = slot < sample.count && (sample.bodies[slot].flags & FOLIOT_BODY_ALIVE);
        foliot_shape shape;
        if (shown != line->alive[at][slot])
            fail_msg("slot %u at %.3f: shown %d", slot, sample.render_tick, shown);
        if (slot >= CLUSTER_BODIES && shown) {
            assert_int_equal(foliot_client_get_prototype(c, slot), 0);
            assert_true(foliot_client_get_shape(c, slot, &shape));
            check_near(sample.bodies[slot].position[2], 50, 0.1);
        }
    }
    foliot_client_event e;
    while (foliot_client_poll(c, &e))
        check_below((double)e.tick, sample.render_tick + 1e-9);
    ++*compared;
}

TEST(all_that_is_shown_is_of_the_render_time)
{
    for (int round = 0; round < 2; round++) {
        static timeline line;
        uint64_t compared = 0;
        memset(&line, 0, sizeof line);
        cluster *s =
            round == 0 ? cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS, .game = true})
                       : cluster_create(&(cluster_options){
                             .world = CLUSTER_SPRINGS, .game = true, .snapshot_hz = 10});
        cluster_spectator(s, "delay=40ms,jitter=0-60ms,seed=3");
        for (int step = 0; step < 3000; step++) {
            const foliot_world *world = foliot_server_get_world(s->server, "main");
            if (foliot_world_get_tick(world) != line.tick) {
                note_tick(&line, world);
                give_commands(s, line.tick);
            }
            cluster_run(s, 0.002);
            if (step > 1000 && step % 3 == 0)
                compare_shown(s, &line, 0, &compared);
        }
        check_gt(compared, 500);
        assert_int_equal(foliot_client_get_statistics(s->clients[0]).pieces_malformed, 0);
        cluster_destroy(s);
    }
}

// -- joints

static bool same_joint(const foliot_constraint_definition *a, const foliot_constraint_definition *b)
{
    bool same = a->kind == b->kind && a->a == b->a && a->b == b->b;
    for (int k = 0; k < 3; k++)
        same = same && (float)a->anchor_a[k] == (float)b->anchor_a[k] &&
               (float)a->anchor_b[k] == (float)b->anchor_b[k];
    return same;
}

static void check_joints(const cluster *s, unsigned client, uint32_t whole)
{
    const foliot_world *world = foliot_server_get_world(s->server, "main");
    uint32_t count = foliot_world_get_joint_count(world), seen = 0;
    assert_true(foliot_client_get_joint_count(s->clients[client]) <= count);
    for (uint32_t i = 0; i < count + 3; i++) {
        foliot_constraint_definition shown;
        foliot_joint is = index_joint(world, i);
        bool there = !is.broken;
        assert_int_equal(foliot_client_get_joint(s->clients[client], i, &shown), there);
        if (there)
            assert_true(same_joint(&is.definition, &shown));
        seen += there;
    }
    assert_int_equal(seen, whole);
}

static void make_joint(cluster *s, uint32_t a, uint32_t b)
{
    const foliot_world *world = foliot_server_get_world(s->server, "main");
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_joint);
    c.fields = FOLIOT_COMMAND_HAS(joint, kind) | FOLIOT_COMMAND_HAS(joint, a) |
               FOLIOT_COMMAND_HAS(joint, anchor_a);
    c.as.joint.kind = FOLIOT_CONSTRAINT_BALL;
    c.as.joint.a = foliot_world_get_body_id(world, a);
    c.as.joint.anchor_a[0] = 0.25f;
    if (b != FOLIOT_NO_BODY) {
        c.fields |= FOLIOT_COMMAND_HAS(joint, b);
        c.as.joint.b = foliot_world_get_body_id(world, b);
    }
    command(s, &c);
}

// Joints that commands make are known to those who watch and those who come late, and so is what
// broke of them.
TEST(everybody_knows_joints)
{
    cluster *s = cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS, .game = true});
    cluster_spectator(s, "loss=5%,delay=20ms");
    cluster_run(s, 1);
    make_joint(s, 0, 1);
    make_joint(s, 2, FOLIOT_NO_BODY);
    make_joint(s, 3, 4);
    cluster_run(s, 1);
    check_joints(s, 0, 3);
    const foliot_world *world = foliot_server_get_world(s->server, "main");
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_break_joint);
    c.fields = FOLIOT_COMMAND_HAS(break_joint, joint);
    c.as.break_joint.joint = foliot_world_get_joint_id(world, 1);
    command(s, &c);
    cluster_run(s, 1);
    check_joints(s, 0, 2);
    cluster_spectator(s, "delay=5ms");
    cluster_run(s, 1);
    check_joints(s, 1, 2);
    make_joint(s, 5, 6); // into the place of the broken one
    cluster_run(s, 1);
    for (unsigned i = 0; i < 2; i++)
        check_joints(s, i, 3);
    cluster_destroy(s);
}
