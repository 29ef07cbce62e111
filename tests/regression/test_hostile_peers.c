// SPDX-License-Identifier: MIT
// Goal: what a peer of a lockstep session can make the server do is bounded, however often it comes
// again. Plausible lies about digests began a search each; the relay of a silent peer was encoded
// anew for it, ever longer, with every tick; each join was sent 256 KiB at once; and a tick with
// more inputs than a packet holds never reached anybody. Method: hostile peers in memory on a
// virtual clock beside honest clients; counts of what was done, not times.
#include "../support/check.h"

#include <stdlib.h>

#include "bulky.h"
#include "foliot/client.h"
#include "foliot/server.h"
#include "hostile.h"

#define HOSTILE 32
#define HONEST 4
#define STEP_NS 2000000u
#define PACE_HZ 60
#define EVENTS (FOLIOT_SERVER_BEHIND + 1)

typedef struct siege {
    foliot_hub *hub;
    foliot_transport *host;
    foliot_server *server;
    foliot_simulation simulation;
    uint64_t now_ns;
    hostile enemies[HOSTILE];
    unsigned enemy_count;
    foliot_transport *wires[HONEST];
    foliot_client *clients[HONEST];
    unsigned client_count;
    uint64_t told[EVENTS];
} siege;

static foliot_transport *wire(siege *s)
{
    foliot_transport *t;
    foliot_transport_config config = foliot_transport_config_default();
    assert_int_equal(foliot_transport_create_memory(s->hub, &config, s->now_ns, &t),
                     FOLIOT_STATUS_OK);
    return t;
}

static siege *begin(void)
{
    siege *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->now_ns = 1000000000u;
    foliot_transport_config config = foliot_transport_config_default();
    config.bind = "127.0.0.1";
    config.port = 7777;
    config.peers_max = HOSTILE + HONEST + 8;
    config.joins_per_second = 1e6; // what the transport would put off is to hold without it, too
    assert_int_equal(foliot_hub_create(&s->hub), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_transport_create_memory(s->hub, &config, s->now_ns, &s->host),
                     FOLIOT_STATUS_OK);
    foliot_server_config server = foliot_server_config_default();
    server.transport = s->host;
    assert_int_equal(foliot_server_create(&server, s->now_ns, &s->server), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_simulation_create(bulky_kind(), "", 0, &s->simulation),
                     FOLIOT_STATUS_OK);
    foliot_session_config session = {.name = "main",
                                     .pace_hz = PACE_HZ,
                                     .mode = FOLIOT_SESSION_LOCKSTEP,
                                     .simulation = &s->simulation,
                                     .player_limit = 16};
    assert_int_equal(foliot_server_add_session(s->server, &session, s->now_ns), FOLIOT_STATUS_OK);
    return s;
}

static void end(siege *s)
{
    for (unsigned i = 0; i < s->enemy_count; i++)
        hostile_end(&s->enemies[i]);
    for (unsigned i = 0; i < s->client_count; i++) {
        foliot_client_destroy(s->clients[i]);
        foliot_transport_destroy(s->wires[i]);
    }
    foliot_server_destroy(s->server);
    foliot_simulation_destroy(&s->simulation);
    foliot_transport_destroy(s->host);
    foliot_hub_destroy(s->hub);
    free(s);
}

static hostile *attack(siege *s, hostile_kind kind, bool spectates)
{
    hostile *h = &s->enemies[s->enemy_count++];
    hostile_begin(h, kind, spectates, wire(s), 7777, s->now_ns);
    h->stepped = bulky_kind();
    return h;
}

static unsigned join(siege *s)
{
    unsigned i = s->client_count++;
    s->wires[i] = wire(s);
    foliot_client_config config = foliot_client_config_default();
    config.transport = s->wires[i];
    config.port = 7777;
    config.simulation = bulky_kind();
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
            s->told[event.kind]++;
        for (unsigned i = 0; i < s->enemy_count; i++)
            hostile_update(&s->enemies[i], s->now_ns);
        for (unsigned i = 0; i < s->client_count; i++)
            foliot_client_update(s->clients[i], s->now_ns);
    }
}

static const foliot_server_counters *counted(const siege *s)
{
    return foliot_server_get_counters(s->server);
}

// It is where the server is, and has been told of no difference.
static bool plays(const siege *s, unsigned client)
{
    foliot_client_statistics seen = foliot_client_get_statistics(s->clients[client]);
    return seen.newest_tick + 6 > foliot_simulation_get_tick(&s->simulation) &&
           seen.divergences == 0 && seen.reconnects == 0 &&
           seen.ticks_compared + 30 > seen.ticks_stepped;
}

static void a_liar_is_searched_three_times_however_often_it_comes(void **state)
{
    (void)state;
    siege *s = begin();
    unsigned client = join(s);
    const hostile *liar = attack(s, HOSTILE_LIAR, true);
    run(s, 20);
    print_message("# %llu searches, %llu differences, %llu of them told\n",
                  (unsigned long long)counted(s)->searches,
                  (unsigned long long)counted(s)->divergences,
                  (unsigned long long)s->told[FOLIOT_SERVER_DIVERGED]);
    check_ge(counted(s)->searches, 1);
    check_le(counted(s)->searches, 3);
    check_le(s->told[FOLIOT_SERVER_FOUND], 3);
    check_le(s->told[FOLIOT_SERVER_DIVERGED], 12);
    check_le(counted(s)->search_steps, 3 * 4 * PACE_HZ);
    check_gt(counted(s)->searches_put_off, 5);
    check_gt(liar->welcomes, 8);
    assert_true(plays(s, client));
    end(s);
}

// Each at an address of its own: the server's budget, and the others' turn.
static void many_liars_share_one_budget(void **state)
{
    (void)state;
    siege *s = begin();
    unsigned client = join(s);
    for (unsigned i = 0; i < 16; i++)
        attack(s, HOSTILE_LIAR, true);
    run(s, 20);
    check_le(counted(s)->searches, 4 + 10);
    assert_true(plays(s, client));
    end(s);
}

static void silent_spectators_are_sent_less_and_less_and_then_nothing(void **state)
{
    (void)state;
    siege *s = begin();
    unsigned client = join(s);
    for (unsigned i = 0; i < HOSTILE; i++) {
        attack(s, HOSTILE_SILENT, true);
        run(s, 0.07); // each begins with other ticks
    }
    run(s, 5);
    // Of a state that nobody acknowledges only a window is sent: these get no ticks.
    check_le(s->enemies[0].packets, 2); // copies of the welcome
    run(s, 12);
    for (unsigned i = 0; i < HOSTILE; i++)
        assert_true(s->enemies[i].gone);
    assert_int_equal(counted(s)->keyframes_stalled, HOSTILE);
    uint64_t ticks = counted(s)->ticks, encodes = counted(s)->relay_encodes;
    for (unsigned i = 0; i < HOSTILE; i++) {
        hostile *h = &s->enemies[i];
        hostile_begin(h, HOSTILE_DEAF, true, h->wire, 7777, s->now_ns);
        h->stepped = bulky_kind();
        run(s, 0.07);
    }
    for (unsigned i = 0; i < HOSTILE; i++)
        s->enemies[i].kind = HOSTILE_SILENT; // it has the whole state, and says nothing from now on
    uint64_t packets = s->enemies[0].packets;
    run(s, 8);
    packets = s->enemies[0].packets - packets;
    print_message("# %llu packets in 8 s to one that is silent; %.2f encodes a tick\n",
                  (unsigned long long)packets,
                  (double)(counted(s)->relay_encodes - encodes) /
                      (double)(counted(s)->ticks - ticks));
    check_lt(packets, 8 * PACE_HZ / 2);
    check_lt(counted(s)->relay_encodes - encodes, 8 * (counted(s)->ticks - ticks));
    run(s, 4);
    for (unsigned i = 0; i < HOSTILE; i++)
        assert_true(s->enemies[i].gone);
    assert_int_equal(counted(s)->peers_silent, HOSTILE);
    assert_true(plays(s, client));
    end(s);
}

// They talk, and acknowledge nothing: one packet serves them all.
static void deaf_spectators_are_sent_the_same(void **state)
{
    (void)state;
    siege *s = begin();
    unsigned client = join(s);
    for (unsigned i = 0; i < HOSTILE; i++) {
        attack(s, HOSTILE_DEAF, true);
        run(s, 0.07);
    }
    run(s, 10);
    uint64_t ticks = counted(s)->ticks, encodes = counted(s)->relay_encodes;
    run(s, 10);
    check_le(counted(s)->relay_encodes - encodes, 3 * (counted(s)->ticks - ticks));
    run(s, 125);
    check_gt(counted(s)->behind, 0); // the log has come round: they are given a state anew
    assert_true(plays(s, client));
    end(s);
}

static void a_storm_of_joins_is_sent_no_more_than_a_budget(void **state)
{
    (void)state;
    siege *s = begin();
    unsigned client = join(s);
    for (unsigned i = 0; i < 8; i++)
        attack(s, HOSTILE_STORM, true);
    run(s, 10);
    uint64_t welcomes = 0;
    for (unsigned i = 0; i < 8; i++)
        welcomes += s->enemies[i].welcomes;
    print_message("# %llu joins, %.2f MB of states\n", (unsigned long long)welcomes,
                  1e-6 * (double)counted(s)->keyframe_bytes_sent);
    check_gt(welcomes, 1000);
    check_lt(counted(s)->keyframe_bytes_sent, 10 * 8000000u + 400000u);
    assert_true(plays(s, client));
    unsigned late = join(s);
    run(s, 3);
    assert_true(plays(s, late));
    end(s);
}

static void a_tick_that_no_packet_holds_arrives(void **state)
{
    (void)state;
    siege *s = begin();
    unsigned client = join(s);
    run(s, 1);
    for (unsigned i = 0; i < 10; i++)
        attack(s, HOSTILE_HOARDER, false);
    run(s, 8);
    assert_true(plays(s, client));
    check_gt(counted(s)->ticks_too_large, 0);
    unsigned late = join(s);
    run(s, 2);
    assert_true(plays(s, late));
    end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_liar_is_searched_three_times_however_often_it_comes),
        cmocka_unit_test(many_liars_share_one_budget),
        cmocka_unit_test(silent_spectators_are_sent_less_and_less_and_then_nothing),
        cmocka_unit_test(deaf_spectators_are_sent_the_same),
        cmocka_unit_test(a_storm_of_joins_is_sent_no_more_than_a_budget),
        cmocka_unit_test(a_tick_that_no_packet_holds_arrives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
