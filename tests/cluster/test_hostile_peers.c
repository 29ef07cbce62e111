// SPDX-License-Identifier: MIT
// Goal: what a peer of a lockstep session can make the server do is bounded, however often it comes
// again. Plausible lies about digests began a search each; the relay of a silent peer was encoded
// again for it, ever longer, with every tick; each join was sent 256 KiB at once; and a tick with
// more inputs than a packet holds never reached anybody. Method: hostile peers in memory on a
// virtual clock next to honest clients; counts of what was done, not times.
#include "../support/check.h"

#include "bulky.h"
#include "cluster.h"

#define HOSTILE CLUSTER_HOSTILE
#define STEP_NS 2000000u
#define PACE_HZ 60

// The limits of the transport are to hold without it, too.
static cluster *begin(void)
{
    return cluster_create(&(cluster_options){.kind = bulky_kind(),
                                             .players = 16,
                                             .idle = true,
                                             .pace_hz = PACE_HZ,
                                             .step_ns = STEP_NS,
                                             .joins_per_second = 1e6});
}

// It is where the server is, and no difference was reported to it.
static bool plays(const cluster *s, unsigned client)
{
    foliot_client_statistics seen = foliot_client_get_statistics(s->clients[client]);
    return seen.newest_tick + 6 > foliot_simulation_get_tick(&s->simulation) &&
           seen.divergences == 0 && seen.reconnects == 0 &&
           seen.ticks_compared + 30 > seen.ticks_stepped;
}

TEST(a_liar_is_searched_three_times_however_often_it_comes)
{
    cluster *s = begin();
    unsigned client = cluster_player(s, NULL);
    const hostile *liar = cluster_add_hostile(s, HOSTILE_LIAR, true);
    cluster_run(s, 20);
    print_message("# %llu searches, %llu differences, %llu of them told\n",
                  (unsigned long long)cluster_get_counters(s)->searches,
                  (unsigned long long)cluster_get_counters(s)->divergences,
                  (unsigned long long)s->events[FOLIOT_SERVER_DIVERGED]);
    check_ge(cluster_get_counters(s)->searches, 1);
    check_le(cluster_get_counters(s)->searches, 3);
    check_le(s->events[FOLIOT_SERVER_FOUND], 3);
    check_le(s->events[FOLIOT_SERVER_DIVERGED], 12);
    check_le(cluster_get_counters(s)->search_steps, 3 * 4 * PACE_HZ);
    check_gt(cluster_get_counters(s)->searches_put_off, 5);
    check_gt(liar->welcomes, 8);
    assert_true(plays(s, client));
    cluster_destroy(s);
}

// Each at another address: the server's budget, and the others' turn.
TEST(many_liars_share_one_budget)
{
    cluster *s = begin();
    unsigned client = cluster_player(s, NULL);
    for (unsigned i = 0; i < 16; i++)
        cluster_add_hostile(s, HOSTILE_LIAR, true);
    cluster_run(s, 20);
    check_le(cluster_get_counters(s)->searches, 4 + 10);
    assert_true(plays(s, client));
    cluster_destroy(s);
}

TEST(silent_spectators_are_sent_less_and_less_and_then_nothing)
{
    cluster *s = begin();
    unsigned client = cluster_player(s, NULL);
    for (unsigned i = 0; i < HOSTILE; i++) {
        cluster_add_hostile(s, HOSTILE_SILENT, true);
        cluster_run(s, 0.07); // each begins with other ticks
    }
    cluster_run(s, 5);
    // Only a window of an unacknowledged state is sent: these clients get no ticks.
    check_le(s->hostile[0].packets, 2); // copies of the welcome
    cluster_run(s, 12);
    for (unsigned i = 0; i < HOSTILE; i++)
        assert_true(s->hostile[i].gone);
    assert_int_equal(cluster_get_counters(s)->keyframes_stalled, HOSTILE);
    uint64_t ticks = cluster_get_counters(s)->ticks,
             encodes = cluster_get_counters(s)->relay_encodes;
    for (unsigned i = 0; i < HOSTILE; i++) {
        cluster_restart_hostile(s, i, HOSTILE_DEAF);
        cluster_run(s, 0.07);
    }
    for (unsigned i = 0; i < HOSTILE; i++)
        s->hostile[i].kind = HOSTILE_SILENT; // it has the whole state, and says nothing from now on
    uint64_t packets = s->hostile[0].packets;
    cluster_run(s, 8);
    packets = s->hostile[0].packets - packets;
    print_message("# %llu packets in 8 s to one that is silent; %.2f encodes a tick\n",
                  (unsigned long long)packets,
                  (double)(cluster_get_counters(s)->relay_encodes - encodes) /
                      (double)(cluster_get_counters(s)->ticks - ticks));
    check_lt(packets, 8 * PACE_HZ / 2);
    check_lt(cluster_get_counters(s)->relay_encodes - encodes,
             8 * (cluster_get_counters(s)->ticks - ticks));
    cluster_run(s, 4);
    for (unsigned i = 0; i < HOSTILE; i++)
        assert_true(s->hostile[i].gone);
    assert_int_equal(cluster_get_counters(s)->peers_silent, HOSTILE);
    assert_true(plays(s, client));
    cluster_destroy(s);
}

// They talk, and acknowledge nothing: one packet serves them all.
TEST(deaf_spectators_are_sent_the_same)
{
    cluster *s = begin();
    unsigned client = cluster_player(s, NULL);
    for (unsigned i = 0; i < HOSTILE; i++) {
        cluster_add_hostile(s, HOSTILE_DEAF, true);
        cluster_run(s, 0.07);
    }
    cluster_run(s, 10);
    uint64_t ticks = cluster_get_counters(s)->ticks,
             encodes = cluster_get_counters(s)->relay_encodes;
    cluster_run(s, 10);
    check_le(cluster_get_counters(s)->relay_encodes - encodes,
             3 * (cluster_get_counters(s)->ticks - ticks));
    cluster_run(s, 125);
    check_gt(cluster_get_counters(s)->behind,
             0); // the log has wrapped: they are given another state
    assert_true(plays(s, client));
    cluster_destroy(s);
}

TEST(a_storm_of_joins_is_sent_no_more_than_a_budget)
{
    cluster *s = begin();
    unsigned client = cluster_player(s, NULL);
    for (unsigned i = 0; i < 8; i++)
        cluster_add_hostile(s, HOSTILE_STORM, true);
    cluster_run(s, 10);
    uint64_t welcomes = 0;
    for (unsigned i = 0; i < 8; i++)
        welcomes += s->hostile[i].welcomes;
    print_message("# %llu joins, %.2f MB of states\n", (unsigned long long)welcomes,
                  1e-6 * (double)cluster_get_counters(s)->keyframe_bytes_sent);
    check_gt(welcomes, 1000);
    check_lt(cluster_get_counters(s)->keyframe_bytes_sent, 10 * 8000000u + 400000u);
    assert_true(plays(s, client));
    unsigned late = cluster_player(s, NULL);
    cluster_run(s, 3);
    assert_true(plays(s, late));
    cluster_destroy(s);
}

TEST(a_tick_that_no_packet_holds_arrives)
{
    cluster *s = begin();
    unsigned client = cluster_player(s, NULL);
    cluster_run(s, 1);
    for (unsigned i = 0; i < 10; i++)
        cluster_add_hostile(s, HOSTILE_HOARDER, false);
    cluster_run(s, 8);
    assert_true(plays(s, client));
    check_gt(cluster_get_counters(s)->ticks_too_large, 0);
    unsigned late = cluster_player(s, NULL);
    cluster_run(s, 2);
    assert_true(plays(s, late));
    cluster_destroy(s);
}
