// SPDX-License-Identifier: MIT
// test_buffer.c: what is sampled between snapshots and beyond the newest, for bodies that fly and
// turn freely, so that the exact motion is known. Snapshots are put in as they are captured; the
// wire has its own tests.
#include "small_scene.h"

#include <math.h>
#include <string.h>

#include "../../client/lib/step/stepper.h"
#include "status.h"

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
