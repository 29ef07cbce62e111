// SPDX-License-Identifier: MIT
// rate_adaptation.c: adapts the rate of snapshots to a peer's network. If a queue grows on the
// path, the peer is sent only every second snapshot, every third and so on, until the queue has
// drained; then more again, step by step. A lag is a round trip plus the time in queues. The least
// lag of half a second excludes jitter and losses, but not a queue that does not drain. Uses only
// the peer's foliot__rate_adaptation.
#include "peer.h"

#define WINDOW_NS 500000000u
#define MORE_NS 200000000u         // above the least of the last windows: a queue has grown
#define MUCH_NS 500000000u         // ... long
#define CALM_NS 80000000u          // and below this it has not
#define INTERVAL_NS_MAX 300000000u // between two snapshots: fewer cannot be drawn any more
#define PATIENCE_NS_MIN 3000000000u
#define PATIENCE_NS_MAX 60000000000u

// By level: one of this many snapshots is sent.
static const uint32_t shares[] = {1, 2, 3, 4, 6, 8, 12, 16};
#define LEVELS (sizeof shares / sizeof shares[0])

static void keep_lag(foliot__rate_adaptation *t, uint64_t lag_ns)
{
    t->past_ns[t->past_next] = lag_ns;
    t->past_next = (t->past_next + 1) % FOLIOT__RATE_WINDOWS;
    if (t->past_count < FOLIOT__RATE_WINDOWS)
        t->past_count++;
}

// Each reduction delays the next attempt at a higher rate: a player notices an attempt that fails.
static void adapt_level(foliot__rate_adaptation *t, uint64_t now_ns, uint64_t period_ns)
{
    uint64_t lag = t->least_ns, least = lag;
    for (uint32_t i = 0; i < t->past_count; i++)
        least = t->past_ns[i] < least ? t->past_ns[i] : least;
    if (t->patience_ns == 0 || (t->level == 0 && now_ns - t->changed_ns > 2 * t->patience_ns))
        t->patience_ns = PATIENCE_NS_MIN; // all of them have gone through for long
    if (now_ns < t->rests_until_ns)
        return;
    uint64_t excess_ns = lag - least;
    if (excess_ns > MORE_NS) {
        for (uint32_t steps = excess_ns > MUCH_NS ? 2 : 1; steps > 0; steps--)
            if (t->level + 1 < LEVELS && shares[t->level + 1] * period_ns <= INTERVAL_NS_MAX)
                t->level++;
        t->patience_ns =
            t->patience_ns < PATIENCE_NS_MAX / 2 ? 2 * t->patience_ns : PATIENCE_NS_MAX;
        // The queue drains at half of the rate at which it filled.
        t->rests_until_ns = now_ns + WINDOW_NS + 2 * excess_ns;
        t->changed_ns = now_ns;
    } else if (t->level > 0 && excess_ns < CALM_NS && now_ns - t->changed_ns > t->patience_ns) {
        t->level--;
        t->rests_until_ns = now_ns + WINDOW_NS;
        t->changed_ns = now_ns;
    }
}

void foliot__rate_adaptation_begin(foliot__rate_adaptation *rate, uint64_t round_trip_ns)
{
    *rate = (foliot__rate_adaptation){0};
    keep_lag(rate, round_trip_ns);
}

void foliot__rate_adaptation_acknowledge(foliot__rate_adaptation *rate, uint64_t now_ns,
                                         uint64_t lag_ns, uint64_t period_ns)
{
    foliot__rate_adaptation *t = rate;
    if (t->window_ns == 0 ||
        now_ns - t->window_ns > 4 * (uint64_t)WINDOW_NS) { // it is new, or was silent
        t->window_ns = now_ns;
        t->least_ns = lag_ns;
        return;
    }
    if (lag_ns < t->least_ns)
        t->least_ns = lag_ns;
    if (now_ns - t->window_ns < WINDOW_NS)
        return;
    adapt_level(t, now_ns, period_ns);
    keep_lag(t, t->least_ns);
    t->window_ns = now_ns;
    t->least_ns = UINT64_MAX;
}

bool foliot__rate_adaptation_sends(foliot__rate_adaptation *rate, uint64_t tick, uint32_t every)
{
    uint64_t step = (uint64_t)shares[rate->level] * every;
    if (tick < rate->next_tick && rate->next_tick - tick <= step)
        return false;
    rate->next_tick =
        tick - tick % step + step; // the same ticks for all: one encoding goes to many
    return true;
}
