// SPDX-License-Identifier: MIT
// Goal: a saved state that is being sent is not overwritten. Spectators that never acknowledged one
// of more than 256 KiB held all of them without end; once the log of ticks had come round, a
// newcomer found no state, took over the inputs that an earlier player of the same place had left
// for ticks to come, and all of these were written into an array for one tick. Method: a real
// server and hostile peers over ENet on loopback, on a clock of our own, so that minutes pass in a
// second.
#include "../support/check.h"

#include <stdlib.h>

#include "bulky.h"
#include "foliot/client.h"
#include "foliot/server.h"
#include "hostile.h"

#define HOSTILE 24
#define HONEST 8
#define STEP_NS 10000000u
#define PACE_HZ 20 // the log of ticks comes round after 102 s
#define PLAYERS 2

typedef struct siege {
    foliot_transport *host;
    foliot_server *server;
    foliot_simulation simulation;
    uint64_t now_ns;
    hostile enemies[HOSTILE];
    bool present[HOSTILE], returns; // returns: an enemy that was dropped comes back
    foliot_transport *wires[HONEST];
    foliot_client *clients[HONEST];
    unsigned client_count;
    uint64_t dropped; // events
} siege;

static foliot_transport *wire(siege *s, const char *network)
{
    foliot_transport *t;
    foliot_transport_config config = foliot_transport_config_default();
    assert_int_equal(foliot_impairment_parse(network, &config.send, NULL, 0), FOLIOT_STATUS_OK);
    config.receive = config.send;
    assert_int_equal(foliot_transport_create_enet(&config, s->now_ns, &t), FOLIOT_STATUS_OK);
    return t;
}

static siege *begin(void)
{
    siege *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->now_ns = 1000000000u;
    foliot_transport_config config = foliot_transport_config_default();
    config.bind = "127.0.0.1";
    config.peers_max = HOSTILE + HONEST + 8;
    assert_int_equal(foliot_transport_create_enet(&config, s->now_ns, &s->host), FOLIOT_STATUS_OK);
    foliot_server_config server = foliot_server_config_default();
    server.transport = s->host;
    server.reconnect_ms = 500;
    assert_int_equal(foliot_server_create(&server, s->now_ns, &s->server), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_simulation_create(bulky_kind(), "", 0, &s->simulation),
                     FOLIOT_STATUS_OK);
    foliot_session_config session = {.name = "main",
                                     .pace_hz = PACE_HZ,
                                     .mode = FOLIOT_SESSION_LOCKSTEP,
                                     .simulation = &s->simulation,
                                     .player_limit = PLAYERS};
    assert_int_equal(foliot_server_add_session(s->server, &session, s->now_ns), FOLIOT_STATUS_OK);
    return s;
}

static void end(siege *s)
{
    for (unsigned i = 0; i < HOSTILE; i++)
        if (s->present[i])
            hostile_end(&s->enemies[i]);
    for (unsigned i = 0; i < s->client_count; i++) {
        foliot_client_destroy(s->clients[i]);
        foliot_transport_destroy(s->wires[i]);
    }
    foliot_server_destroy(s->server);
    foliot_simulation_destroy(&s->simulation);
    foliot_transport_destroy(s->host);
    free(s);
}

static hostile *attack(siege *s, unsigned i, hostile_kind kind, bool spectates)
{
    hostile *h = &s->enemies[i];
    foliot_transport *t = s->present[i] ? h->wire : wire(s, "loss=0%");
    hostile_begin(h, kind, spectates, t, foliot_transport_get_port(s->host), s->now_ns);
    h->stepped = bulky_kind();
    s->present[i] = true;
    return h;
}

static unsigned join(siege *s, const char *network, bool spectates)
{
    unsigned i = s->client_count++;
    check_lt(i, HONEST);
    s->wires[i] = wire(s, network);
    foliot_client_config config = foliot_client_config_default();
    config.transport = s->wires[i];
    config.port = foliot_transport_get_port(s->host);
    config.simulation = bulky_kind();
    config.spectates = spectates;
    assert_int_equal(foliot_client_create(&config, s->now_ns, &s->clients[i]), FOLIOT_STATUS_OK);
    return i;
}

static void run(siege *s, double seconds)
{
    foliot_server_event event;
    for (uint64_t stop = s->now_ns + (uint64_t)(seconds * 1e9); s->now_ns < stop;
         s->now_ns += STEP_NS) {
        foliot_server_update(s->server, s->now_ns);
        while (foliot_server_poll(s->server, &event))
            s->dropped += event.kind == FOLIOT_SERVER_DROPPED;
        for (unsigned i = 0; i < HOSTILE; i++) {
            if (!s->present[i])
                continue;
            hostile_update(&s->enemies[i], s->now_ns);
            if (s->enemies[i].gone && s->returns)
                attack(s, i, s->enemies[i].kind, s->enemies[i].spectates);
        }
        for (unsigned i = 0; i < s->client_count; i++)
            foliot_client_update(s->clients[i], s->now_ns);
    }
}

// It steps what the server steps, and is no more than this behind: its network's way, and some
// ticks.
static bool is_there(const siege *s, unsigned client, double behind_s)
{
    const foliot_simulation *simulation = foliot_client_get_simulation(s->clients[client]);
    return simulation && (double)foliot_simulation_get_tick(simulation) + behind_s * PACE_HZ >
                             (double)foliot_simulation_get_tick(&s->simulation);
}

// Seconds until it is; -1: not in time.
static double until_there(siege *s, unsigned client, double behind_s, double at_most)
{
    uint64_t from = s->now_ns;
    while (!is_there(s, client, behind_s) && 1e-9 * (double)(s->now_ns - from) < at_most)
        run(s, 1e-9 * STEP_NS);
    return is_there(s, client, behind_s) ? 1e-9 * (double)(s->now_ns - from) : -1;
}

static const foliot_server_counters *counted(const siege *s)
{
    return foliot_server_get_counters(s->server);
}

static void four_silent_spectators_do_not_bring_a_server_down(void **state)
{
    (void)state;
    siege *s = begin();
    hostile *crammer = attack(s, 0, HOSTILE_CRAMMER, false);
    run(s, 1);
    assert_true(crammer->state_whole);
    assert_int_equal(crammer->welcome.player, 0);
    hostile_leave(crammer, s->now_ns);
    for (unsigned i = 1; i <= 4; i++) {
        attack(s, i, HOSTILE_SILENT, true);
        run(s, 2.1);
    }
    assert_int_equal(foliot_server_get_presence(s->server).players,
                     0); // its place is free, its inputs were for ticks to come
    run(s, 112);
    unsigned client = join(s, "loss=0%", false);
    check_ge(until_there(s, client, 0.3, 3), 0);
    assert_int_equal(foliot_client_get_player(s->clients[client]), 0);
    assert_int_equal(counted(s)->keyframes_unsaved, 0);
    check_gt(counted(s)->keyframes_stalled, 0);
    assert_int_equal(s->dropped, 4);
    for (unsigned i = 1; i <= 4; i++)
        assert_true(s->enemies[i].gone);
    run(s, 1);
    foliot_client_statistics seen = foliot_client_get_statistics(s->clients[client]);
    check_gt(seen.ticks_compared, 0);
    check_eq(seen.divergences, 0);
    end(s);
}

// Some acknowledge nothing, some a byte now and then; whoever is dropped comes back at once.
static void whoever_holds_states_keeps_nobody_out(void **state)
{
    (void)state;
    siege *s = begin();
    s->returns = true;
    for (unsigned i = 0; i < HOSTILE; i++) {
        attack(s, i, i % 2 ? HOSTILE_TRICKLE : HOSTILE_SILENT, true);
        run(s, 0.7);
    }
    double longest = 0;
    for (unsigned i = 0; i < HONEST; i++) {
        unsigned client = join(s, "delay=20ms", i % 4 != 0);
        double seconds = until_there(s, client, 0.3, 20);
        check_ge(seconds, 0);
        longest = seconds > longest ? seconds : longest;
        run(s, 4.3);
    }
    check_below(longest, 3);
    assert_int_equal(counted(s)->keyframes_unsaved, 0);
    check_gt(counted(s)->keyframes_taken_back, 5);
    print_message("# the longest of %u joins took %.2f s, %llu were dropped\n", HONEST, longest,
                  (unsigned long long)s->dropped);
    check_gt(s->dropped, 0);
    for (unsigned i = 0; i < HONEST; i++)
        assert_true(is_there(s, i, 0.3));
    assert_int_equal(counted(s)->divergences, 0);
    end(s);
}

// 256 kbit/s, a twentieth lost, a round trip of two seconds: nobody is taken for one who holds a
// state.
static void a_slow_network_is_given_its_time(void **state)
{
    (void)state;
    siege *s = begin();
    s->returns = true;
    for (unsigned i = 0; i < 6; i++) {
        attack(s, i, HOSTILE_SILENT, true);
        run(s, 2.1);
    }
    unsigned client = join(s, "rate=256kbit,loss=5%,delay=1000ms,seed=5", true);
    double seconds = until_there(s, client, 3, 80);
    print_message("# a state of %u bytes took %.1f s\n", BULKY_BYTES, seconds);
    check_gt(seconds, 0);
    assert_int_equal(foliot_client_get_statistics(s->clients[client]).reconnects, 0);
    end(s);
}

static void where_there_is_no_state_newcomers_may_try_again(void **state)
{
    (void)state;
    siege *s = begin();
    bulky_refuses_to_save(true);
    run(s, 112);
    hostile *first = attack(s, 0, HOSTILE_CRAMMER, false);
    run(s, 0.5);
    assert_int_equal(first->refused.reason, FOLIOT__REFUSE_BUSY);
    assert_true(first->refused.again);
    assert_int_equal(first->welcomes, 0);
    assert_int_equal(foliot_server_get_presence(s->server).players, 0);
    bulky_refuses_to_save(false);
    run(s, 3);
    hostile *second = attack(s, 1, HOSTILE_CRAMMER, false);
    run(s, 1);
    assert_true(second->state_whole);
    end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_silent_spectators_do_not_bring_a_server_down),
        cmocka_unit_test(whoever_holds_states_keeps_nobody_out),
        cmocka_unit_test(a_slow_network_is_given_its_time),
        cmocka_unit_test(where_there_is_no_state_newcomers_may_try_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
