// SPDX-License-Identifier: MIT
// test_playout.c: the adaptive interpolation delay, against arrivals drawn from networks: what it
// costs in delay and how often it is starved, over many seeds, from the first snapshot on.
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../client/lib/step/prediction_view.h"
#include "../../client/lib/step/stepper.h"
#include "../../client/lib/watch/playout.h"
#include "base/rng.h"
#include "small_scene.h"
#include "status.h"

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

// -- buffer: what is sampled between snapshots and beyond the newest, for bodies that fly and
// turn freely, so that the exact motion is known. Snapshots are put in as they are captured; the
// wire has its own tests.

#define DT (1.0 / 60)
#define LAST 40 // tick of the newest snapshot

typedef struct fixture {
    small_scene small;
    foliot_world *world;
    foliot__snapshot_buffer buffer;
} fixture;

// Bodies at x = 0, 10, 20, ..., of speed 2, which turn about different axes.
static const double spins[][3] = {{0, 0, 0},  {0, 0, 3}, {-5, 0, 0},
                                  {2, -2, 1}, {0, 9, 0}, {0, 0, 0.2}};
#define BODIES (sizeof spins / sizeof spins[0])

static void open_fixture(fixture *y)
{
    *y = (fixture){.small = small(FOLIOT_INTEGRATOR_VELOCITY_VERLET, DT)};
    for (uint32_t i = 0; i < BODIES; i++) {
        small_body(&y->small, 1, 10.0 * i, 2);
        y->small.body[i].shape.kind = FOLIOT_SHAPE_SPHERE;
        y->small.body[i].shape.radius = 0.5;
        memcpy(y->small.body[i].angular_velocity, spins[i], sizeof spins[i]);
    }
    y->small.scene.bodies = y->small.body;
    assert_int_equal(foliot_world_create(&y->small.scene, &y->world, NULL), FOLIOT_STATUS_OK);
    foliot_snapshot_format format = foliot_snapshot_format_default(&y->small.scene);
    assert_int_equal(foliot__buffer_init(&y->buffer, &format, DT, 0), FOLIOT_STATUS_OK);
}

static void close_fixture(fixture *y)
{
    foliot__buffer_close(&y->buffer);
    foliot_world_destroy(y->world);
}

// Every `every` ticks, up to tick LAST.
static void fill(fixture *y, uint32_t every)
{
    for (uint64_t tick = 1; tick <= LAST; tick++) {
        demand(foliot_world_step(y->world, NULL, 0, NULL));
        if (tick % every == 0)
            assert_true(foliot__buffer_put(&y->buffer, y->world));
    }
}

// The angle in radians between where a body has turned to and where it would be.
static double off(const foliot_body_state *state, const double spin[3], double time)
{
    double rate = sqrt(spin[0] * spin[0] + spin[1] * spin[1] + spin[2] * spin[2]);
    double w = cos(rate * time / 2), dot = w * state->orientation[0];
    for (int k = 0; k < 3 && rate > 0; k++)
        dot += sin(rate * time / 2) * spin[k] / rate * state->orientation[k + 1];
    return 2 * acos(fmin(fabs(dot), 1));
}

static void check_sample(fixture *y, double tick, bool starved, double angle_max,
                         double spin_error_max)
{
    foliot_sample sample;
    assert_int_equal(foliot__buffer_sample(&y->buffer, tick, 15, &sample), FOLIOT_STATUS_OK);
    assert_int_equal(sample.starved, starved);
    assert_int_equal(sample.count, BODIES);
    for (uint32_t i = 0; i < sample.count; i++) {
        check_near(sample.bodies[i].position[0], 10.0 * i + 2 * DT * tick, 0.01);
        check_below(off(&sample.bodies[i], spins[i], tick * DT), angle_max);
        for (int k = 0; k < 3; k++)
            check_near(sample.bodies[i].angular_velocity[k], spins[i][k], spin_error_max);
    }
}

TEST(between_two_snapshots_bodies_fly_and_turn)
{
    fixture y;
    open_fixture(&y);
    fill(&y, 2);
    for (double tick = 20; tick < LAST;
         tick += 0.37) // half a degree is what a snapshot rounds away
        check_sample(&y, tick, false, 0.012, 0.3);
    close_fixture(&y);
}

TEST(beyond_the_newest_they_go_on_turning)
{
    fixture y;
    open_fixture(&y);
    fill(&y, 1);
    for (double tick = LAST; tick < LAST + 12; tick += 0.5)
        check_sample(&y, tick, true, 0.012 + 0.005 * (tick - LAST), 0.2);
    close_fixture(&y);
}

// One that is gone, and another in its place, has no past to turn from.
TEST(a_new_body_in_a_slot_is_not_turned)
{
    fixture y;
    foliot_sample sample;
    open_fixture(&y);
    fill(&y, 1);
    foliot_snapshot *newest = (foliot_snapshot *)(uintptr_t)foliot__buffer_newest(&y.buffer);
    newest->bodies[1].generation++;
    assert_int_equal(foliot__buffer_sample(&y.buffer, LAST + 10, 15, &sample), FOLIOT_STATUS_OK);
    check_below(off(&sample.bodies[1], spins[1], LAST * DT), 0.012);
    check_eq(sample.bodies[1].angular_velocity[2], 0);
    check_below(off(&sample.bodies[2], spins[2], (LAST + 10) * DT), 0.06);
    close_fixture(&y);
}

// Half a snapshot after the other, as where every second piece is lost: what is complete is not
// given up for them.
TEST(the_newest_that_is_complete_stays)
{
    fixture y;
    open_fixture(&y);
    fill(&y, 1);
    for (uint32_t tick = LAST + 1; tick < LAST + 1000; tick++) {
        // no baseline, one body; the first of two pieces, without any body
        const uint8_t half[] = {
            (uint8_t)tick, (uint8_t)(tick >> 8), 0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0};
        uint64_t complete;
        assert_int_equal(foliot__buffer_receive(&y.buffer, half, sizeof half, &complete),
                         FOLIOT__TAKEN_PIECE);
    }
    assert_non_null(foliot__buffer_newest(&y.buffer));
    assert_int_equal(foliot__buffer_newest(&y.buffer)->tick, LAST);
    close_fixture(&y);
}

static void step_and_put(fixture *y, uint64_t ticks)
{
    for (uint64_t i = 0; i < ticks; i++)
        demand(foliot_world_step(y->world, NULL, 0, NULL));
    assert_true(foliot__buffer_put(&y->buffer, y->world));
}

static double off_y(fixture *y, double tick, uint32_t body)
{
    foliot_sample sample;
    assert_int_equal(foliot__buffer_sample(&y->buffer, tick, 15, &sample), FOLIOT_STATUS_OK);
    return sample.bodies[body].position[1];
}

// All fly along x; what comes after a guess says that two are elsewhere and turned otherwise, and
// one of them is new.
TEST(what_was_guessed_wrongly_is_set_right_within_some_frames)
{
    fixture y;
    foliot_sample sample;
    open_fixture(&y);
    fill(&y, 1);
    check_sample(&y, LAST + 6, true, 0.05, 0.2);
    step_and_put(&y, 12);
    foliot_snapshot *newest = (foliot_snapshot *)(uintptr_t)foliot__buffer_newest(&y.buffer);
    double aside = 120 * y.buffer.format.position_step;
    for (uint32_t i = 0; i < 2; i++) {
        newest->bodies[i].position[1] += 120;
        memcpy(newest->bodies[i].orientation, newest->bodies[3].orientation,
               sizeof newest->bodies[3].orientation);
        newest->bodies[i].largest = newest->bodies[3].largest;
    }
    newest->bodies[1].generation++;
    double first =
        off_y(&y, LAST + 6.01,
              0); // half of the way is done, and half a turn; what was shown was none of it
    check_near(first, 0, 0.05 * aside);
    check_near(off_y(&y, LAST + 6.02, 1), 0, 1e-9); // nothing is known of what lies between
    assert_int_equal(foliot__buffer_sample(&y.buffer, LAST + 6.03, 15, &sample), FOLIOT_STATUS_OK);
    check_below(off(&sample.bodies[0], spins[0], 0), 0.05);
    double before = first;
    for (double tick = LAST + 6.5; tick < LAST + 12; tick += 0.5) {
        double now = off_y(&y, tick, 0);
        check_ge(now, before);
        check_lt(now - before, 0.2 * aside); // never all at once, never back
        before = now;
    }
    check_near(before, aside, 0.15 * aside);
    step_and_put(&y, 12);
    step_and_put(&y, 2);
    check_sample(&y, LAST + 25, false, 0.02, 0.3);
    check_eq(y.buffer.smoothing.weight, 0);
    close_fixture(&y);
}

// Statistics are asked for once a frame: a snapshot is hashed once, and the next one again.
TEST(a_snapshot_is_hashed_once)
{
    fixture y;
    open_fixture(&y);
    assert_true(foliot_digest_equal(foliot__buffer_digest(&y.buffer), (foliot_digest){0, 0}));
    fill(&y, 1);
    foliot_snapshot *newest = (foliot_snapshot *)(uintptr_t)foliot__buffer_newest(&y.buffer);
    foliot_digest hashed = foliot__buffer_digest(&y.buffer);
    assert_true(foliot_digest_equal(hashed, foliot_snapshot_get_digest(newest)));
    newest->bodies[1].generation++;
    assert_true(foliot_digest_equal(foliot__buffer_digest(&y.buffer), hashed));
    for (int i = 0; i < 2 * FOLIOT__BUFFER_ENTRIES; i++) { // entries are used again
        demand(foliot_world_step(y.world, NULL, 0, NULL));
        assert_true(foliot__buffer_put(&y.buffer, y.world));
        hashed = foliot_snapshot_get_digest(foliot__buffer_newest(&y.buffer));
        assert_true(foliot_digest_equal(foliot__buffer_digest(&y.buffer), hashed));
    }
    close_fixture(&y);
}

// -- prediction parts: the clock and the events of a client that predicts, alone: the clock
// runs smoothly, jumps where it must and keeps to the limit of guesses; an event is given once,
// whichever world has it first.

#define TICK_NS 16666667.0

static void run(foliot__prediction_clock *clock, double *now_ns, double ahead, double lag,
                uint32_t ticks, foliot__prediction_clock_aim aim)
{
    for (uint32_t i = 0; i < ticks; i++) {
        *now_ns += TICK_NS;
        aim.input = *now_ns / TICK_NS + ahead;
        aim.confirmed = (uint64_t)(*now_ns / TICK_NS - lag);
        foliot__prediction_clock_update(clock, (uint64_t)*now_ns, TICK_NS, &aim);
    }
}

TEST(the_clock_turns_slowly)
{
    const foliot__prediction_clock_aim aim = {.ticks_max = 16};
    foliot__prediction_clock clock = {0};
    double now_ns = 1e11;
    run(&clock, &now_ns, 5, 3, 60, aim);
    assert_true(fabs(clock.input - now_ns / TICK_NS - 5) < 0.01);
    double before = foliot__prediction_clock_shown(&clock);
    for (int i = 0; i < 200; i++) { // four ticks more are asked for
        run(&clock, &now_ns, 9, 3, 1, aim);
        double shown = foliot__prediction_clock_shown(&clock);
        check_gt(shown - before, 0.9);
        check_lt(shown - before, 1.11);
        before = shown;
    }
    assert_true(fabs(clock.input - now_ns / TICK_NS - 9) < 0.1);
    run(&clock, &now_ns, 40, 3, 1, aim); // far off: at once
    assert_true(fabs(clock.input - now_ns / TICK_NS - 40) < 0.01);
    assert_true(foliot__prediction_clock_input_tick(&clock) >= (uint64_t)clock.input);
}

TEST(the_delay_keeps_the_limit)
{
    foliot__prediction_clock_aim aim = {.ticks_max = 16};
    foliot__prediction_clock clock = {0};
    double now_ns = 1e11;
    run(&clock, &now_ns, 5, 5, 100, aim);
    assert_true(clock.delay == 0);
    run(&clock, &now_ns, 25, 5, 1, aim);
    run(&clock, &now_ns, 25, 5, 2000, aim);
    check_gt(foliot__prediction_clock_shown(&clock) - (now_ns / TICK_NS - 5), 14);
    check_lt(foliot__prediction_clock_shown(&clock) - (now_ns / TICK_NS - 5), 17);
    aim.input_delay = 20;
    run(&clock, &now_ns, 5, 5, 2000, aim);
    assert_true(fabs(clock.delay - 20) < 0.5);
}

// A page that joins is held up for a second, and later for another: closed ticks wait then.
TEST(a_host_that_is_held_up_acts_at_once_again)
{
    const foliot__prediction_clock_aim aim = {.ticks_max = 16};
    foliot__prediction_clock clock = {0};
    double now_ns = 1e11;
    run(&clock, &now_ns, 5, 80, 1, aim);
    run(&clock, &now_ns, 5, 5, 30, aim);
    check_lt(clock.delay, 0.01);
    for (int i = 0; i < 3; i++) {
        now_ns += 60 * TICK_NS;
        run(&clock, &now_ns, 5, 65, 1, aim);
        run(&clock, &now_ns, 5, 5, 100, aim);
        check_lt(clock.delay, 0.01);
    }
}

static foliot_client_event hit(uint64_t tick, uint32_t a, uint32_t b)
{
    return (foliot_client_event){.kind = FOLIOT_CLIENT_HIT, .tick = tick, .slot = a, .value = b};
}

TEST(an_event_is_given_once)
{
    foliot__prediction_events events = {0};
    foliot_client_event e = hit(100, 1, 2), cancelled;
    assert_int_equal(foliot__prediction_events_open(&events), FOLIOT_STATUS_OK);
    assert_true(foliot__prediction_events_predict(&events, &e));
    assert_true(e.predicted);
    uint64_t identity = e.identity;
    assert_true(identity > 0);
    e = hit(103, 1, 2); // the shadow has it later
    assert_false(foliot__prediction_events_predict(&events, &e));
    e = hit(102, 1, 2);
    assert_false(foliot__prediction_events_confirm(&events, &e));
    e = hit(100, 1, 3); // others
    assert_true(foliot__prediction_events_predict(&events, &e));
    assert_true(e.identity != identity);
    identity = e.identity;
    e = hit(104, 4, 5); // nobody predicted it
    assert_true(foliot__prediction_events_confirm(&events, &e));
    assert_false(e.predicted);
    assert_false(foliot__prediction_events_cancel(&events, 108, &cancelled));
    assert_true(foliot__prediction_events_cancel(&events, 109, &cancelled));
    assert_int_equal(cancelled.kind, FOLIOT_CLIENT_CANCELLED);
    assert_true(cancelled.identity == identity);
    assert_false(foliot__prediction_events_cancel(&events, 120, &cancelled));
    e = hit(130, 1, 2); // again, much later
    assert_true(foliot__prediction_events_predict(&events, &e));
    for (uint32_t i = 0; i < 3 * FOLIOT__PREDICTED_EVENTS; i++) { // more than are remembered
        e = hit(140, i, i + 1);
        assert_true(foliot__prediction_events_predict(&events, &e));
    }
    foliot__prediction_events_clear(&events);
    assert_false(foliot__prediction_events_cancel(&events, 1000, &cancelled));
    foliot__prediction_events_close(&events);
}
