// SPDX-License-Identifier: MIT
// test_playout.c: the adaptive interpolation delay, against arrivals drawn from networks: what it
// costs in delay and how often it is starved, over many seeds, from the first snapshot on.
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "../../client/lib/watch/playout.h"
#include "base/rng.h"

#define HZ 60.0
#define SECONDS 120.0
#define SEEDS 12
#define ARRIVALS_MAX 7200 // SECONDS * HZ

typedef struct arrival {
    double at_ns;
    uint64_t tick;
} arrival;

typedef struct outcome {
    double delay_ms, starved;
} outcome;

static int by_time(const void *a, const void *b)
{
    double x = ((const arrival *)a)->at_ns, y = ((const arrival *)b)->at_ns;
    return (x > y) - (x < y);
}

static size_t draw(uint64_t seed, double loss, double jitter_ms, arrival *arrivals)
{
    foliot__rng rng = foliot__rng_seeded(seed);
    size_t count = 0;
    for (uint64_t tick = 1; (double)tick < SECONDS * HZ; tick++) {
        double lost = foliot__rng_unit(&rng), jitter = foliot__rng_unit(&rng);
        if (lost >= loss)
            arrivals[count++] = (arrival){(double)tick * 1e9 / HZ + jitter * jitter_ms * 1e6, tick};
    }
    qsort(arrivals, count, sizeof *arrivals, by_time);
    return count;
}

static outcome play(uint64_t seed, double loss, double jitter_ms)
{
    static arrival arrivals[ARRIVALS_MAX];
    size_t count = draw(seed, loss, jitter_ms, arrivals), next = 0;
    foliot__playout p;
    double newest = 0, delay = 0;
    unsigned samples = 0, starved = 0;
    foliot__playout_init(&p, 1e9 / HZ, 0.001, 0, 1500e6);
    for (uint64_t ms = 1; ms < SECONDS * 1e3; ms++) {
        for (; next < count && arrivals[next].at_ns <= (double)ms * 1e6; next++) {
            foliot__playout_arrived(&p, ms * 1000000u, arrivals[next].tick, true, 0);
            newest = fmax(newest, (double)arrivals[next].tick);
        }
        if (!p.started || ms % 16)
            continue;
        samples++;
        starved += foliot__playout_render(&p, ms * 1000000u) >= newest;
        delay += foliot__playout_delay_ms(&p);
    }
    return (outcome){delay / samples, (double)starved / samples};
}

TEST(five_percent_loss_and_100_ms_of_jitter_cost_115_ms)
{
    outcome sum = {0, 0}, worst = {0, 0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        outcome o = play(seed, 0.05, 100);
        sum.delay_ms += o.delay_ms / SEEDS;
        sum.starved += o.starved / SEEDS;
        worst.delay_ms = fmax(worst.delay_ms, o.delay_ms);
        worst.starved = fmax(worst.starved, o.starved);
    }
    print_message("mean: delay %.1f ms, starved %.3f %%; worst: %.1f ms, %.3f %%\n", sum.delay_ms,
                  100 * sum.starved, worst.delay_ms, 100 * worst.starved);
    check_below(sum.delay_ms, 114.5);
    check_below(sum.starved, 0.001);
    check_below(worst.delay_ms, 120.5);
    check_below(worst.starved, 0.0015);
}

TEST(a_quiet_network_costs_little_more_than_a_tick)
{
    outcome o = play(1, 0, 1);
    check_below(o.delay_ms, 21);
    check_below(o.starved, 1e-9);
}

// Never back, and never more than five per cent faster or slower than the clock.
TEST(the_render_time_keeps_its_pace)
{
    foliot__playout p;
    foliot__rng rng = foliot__rng_seeded(3);
    double before = 0;
    foliot__playout_init(&p, 1e9 / HZ, 0.001, 0, 1500e6);
    for (uint64_t tick = 1; tick < 3000; tick++) {
        uint64_t now = (uint64_t)((double)tick * 1e9 / HZ);
        if (foliot__rng_unit(&rng) > 0.2)
            foliot__playout_arrived(&p, now, tick, true, 0);
        if (!p.started)
            continue;
        double render = foliot__playout_render(&p, now);
        if (before > 0 && p.snaps == 0) {
            check_below(render - before, 1.0501);
            check_below(0.9499, render - before);
        }
        before = render;
    }
    assert_int_equal(p.snaps, 0);
}

// A host that stood still for most of a second is waited for, but not for minutes.
TEST(one_long_stop_is_forgotten_soon)
{
    foliot__playout p;
    double after_5_s = 0;
    foliot__playout_init(&p, 1e9 / HZ, 0.001, 0, 1500e6);
    for (uint64_t tick = 1; tick < 60 * HZ; tick++) {
        double now = (double)tick / HZ;
        foliot__playout_arrived(&p, (uint64_t)(1e9 * (now > 20 && now < 20.9 ? 20.9 : now)), tick,
                                true, 0);
        foliot__playout_render(&p, (uint64_t)(1e9 * (now > 20 && now < 20.9 ? 20.9 : now)));
        if (now < 25)
            after_5_s = foliot__playout_delay_ms(&p);
    }
    check_below(500, after_5_s);
    check_below(foliot__playout_delay_ms(&p), 250);
}

// The delay in milliseconds `after_s` behind the first snapshot of a quiet network. Snapshots of
// the join come `queued_ms` late, and those behind it less and less: the queue drains in half a
// second. One before them may be taken for too early.
static double delay_after(double after_s, double queued_ms, double early_ms)
{
    foliot__playout p;
    foliot__rng rng = foliot__rng_seeded(5);
    double last = 0, before = -HZ;
    foliot__playout_init(&p, 1e9 / HZ, 0.001, 0, 1500e6);
    if (early_ms > 0)
        foliot__playout_arrived(&p, (uint64_t)(1e9 + 1e9 / HZ - early_ms * 1e6), 1, false, 0);
    for (uint64_t tick = 2; (double)tick < after_s * HZ; tick++) {
        double queued = queued_ms * fmax(0, 1 - (double)tick / (0.5 * HZ)),
               at = 1e9 + (double)tick * 1e9 / HZ + (queued + foliot__rng_unit(&rng)) * 1e6;
        foliot__playout_arrived(&p, (uint64_t)(last = fmax(at, last)), tick, true, 0);
        double render = foliot__playout_render(&p, (uint64_t)last);
        check_below(before, render + 1e-9);
        before = render;
    }
    return foliot__playout_delay_ms(&p);
}

// The queue of a join is caught up in the first second, and does not stay in the delay.
TEST(a_join_is_no_measure_of_the_network)
{
    static const double after_s[] = {1.2, 2, 5};
    for (int i = 0; i < 3; i++) {
        double quiet = delay_after(after_s[i], 0, 0);
        print_message(
            "after %.1f s: %.1f ms; behind 140 ms of queue %.1f ms, an early one %.1f ms\n",
            after_s[i], quiet, delay_after(after_s[i], 140, 0), delay_after(after_s[i], 0, 64));
        check_below(delay_after(after_s[i], 140, 0), quiet + 20);
        check_below(delay_after(after_s[i], 0, 64), quiet + 5);
    }
}

typedef struct change {
    double delay_ms, pace; // at the end, and the fastest, as a share of the clock's
    unsigned starved;
} change;

// After `at_s` by a path where packets wait for lost ones before them, five seconds by another one,
// where they do not. Some of the first path come long after those of the second.
static change change_path(double at_s)
{
    foliot__playout p;
    foliot__rng rng = foliot__rng_seeded(6);
    change c = {0, 0, 0};
    double step = 1e9 / HZ, now = 0, before_ns = 0, render = 0;
    foliot__playout_init(&p, step, 0.001, 0, 1500e6);
    for (uint64_t tick = 6; (double)tick < (at_s + 5) * HZ; tick++) {
        bool changed = (double)tick > at_s * HZ, lost = foliot__rng_unit(&rng) < 0.05;
        double sent = 1e9 + (double)tick * step, before = render;
        if (changed && lost)
            continue;
        before_ns = now;
        now = changed ? sent : fmax(now, sent + 120e6 * lost);
        foliot__playout_arrived(&p, (uint64_t)now, tick, true, changed);
        if (changed && tick % 3 == 0)
            foliot__playout_arrived(&p, (uint64_t)now, tick - 5, true, 0);
        render = foliot__playout_render(&p, (uint64_t)now);
        if (changed && now - before_ns > step / 2)
            c.pace = fmax(c.pace, (render - before) / ((now - before_ns) / step));
        c.starved += changed && render >= (double)tick;
    }
    c.delay_ms = foliot__playout_delay_ms(&p);
    return c;
}

// Beyond the join's first second without haste.
TEST(a_path_that_was_left_is_forgotten)
{
    for (double at_s = 0.5; at_s < 30; at_s *= 3) {
        change c = change_path(at_s);
        print_message("changed after %.1f s: %.1f ms, fastest %.2f, starved %u times\n", at_s,
                      c.delay_ms, c.pace, c.starved);
        check_below(c.delay_ms, 60);
        check_below(c.pace, at_s < 1 ? 1.51 : 1.051);
        assert_int_equal(c.starved, 0);
    }
}

// A server that stands still for a minute goes on later: that is where its ticks are from then on.
TEST(a_pause_is_forgotten_at_once)
{
    foliot__playout p;
    double newest = 0;
    unsigned starved = 0;
    foliot__playout_init(&p, 1e9 / HZ, 0.001, 0, 1500e6);
    for (uint64_t frame = 1; frame < 80 * HZ; frame++) {
        uint64_t now = (uint64_t)((double)frame * 1e9 / HZ);
        double tick = (double)frame - (frame > 70 * HZ ? 60 * HZ : 0);
        if (frame <= 10 * HZ || frame > 70 * HZ)
            foliot__playout_arrived(&p, now, (uint64_t)(newest = tick), true, 0);
        double render = foliot__playout_render(&p, now);
        starved += frame > 71 * HZ && render >= newest;
    }
    assert_int_equal(starved, 0);
    check_below(foliot__playout_delay_ms(&p), 50);
}
