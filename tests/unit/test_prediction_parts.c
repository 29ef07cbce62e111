// SPDX-License-Identifier: MIT
// test_prediction_parts.c: the clock and the events of a client that predicts, alone: the clock
// runs smoothly, jumps where it must and keeps to the limit of guesses; an event is given once,
// whichever world has it first.
#include "check.h"

#include <math.h>

#include "../../client/lib/step/prediction_view.h"

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
