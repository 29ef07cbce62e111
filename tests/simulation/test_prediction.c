// SPDX-License-Identifier: MIT
// test_prediction.c: own controls act at once, what was guessed rightly is exact to the bit, and
// what was guessed wrongly is put right. A server and its clients in one process on a virtual
// clock. The predicted state of every tick is kept, and compared with the server's.
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "../../client/lib/internal.h"
#include "net/transport.h"
#include "status.h"

#define FRAME (1.0 / 60)

static unsigned join(arena *a, const char *network)
{
    foliot_client_config config = foliot_client_config_default();
    config.predicts = true;
    return arena_join(a, network, &config);
}

// What a client predicted, by tick, until it was found wrong.
typedef struct forecast {
    foliot_digest digests[ARENA_HISTORY];
    uint64_t ticks[ARENA_HISTORY]; // that the digest is of; 0: none
    uint64_t rollbacks, confirmed;
    uint64_t compared, different;
} forecast;

static void look_at(arena *a, unsigned client, forecast *f)
{
    const foliot_simulation *predicted = foliot_client_get_predicted(a->clients[client]),
                            *here = foliot_client_get_simulation(a->clients[client]);
    const foliot__prediction *p = a->clients[client]->predictor.worlds;
    if (!predicted || !here)
        return;
    if (!foliot__prediction_holds(p) || p->rollbacks != f->rollbacks)
        memset(f->ticks, 0, sizeof f->ticks);
    f->rollbacks = p->rollbacks;
    for (uint64_t t = f->confirmed + 1; t <= foliot_simulation_get_tick(here); t++)
        if (f->ticks[t % ARENA_HISTORY] == t) {
            f->compared++;
            f->different += !foliot_digest_equal(f->digests[t % ARENA_HISTORY],
                                                 a->history[t % ARENA_HISTORY]);
        }
    f->confirmed = foliot_simulation_get_tick(here);
    uint64_t tick = foliot_simulation_get_tick(predicted);
    check_le(tick, f->confirmed + a->clients[client]->config.rollback_ticks_max);
    if (!foliot__prediction_holds(p))
        return;
    f->digests[tick % ARENA_HISTORY] = foliot_simulation_get_digest(predicted);
    f->ticks[tick % ARENA_HISTORY] = tick;
}

// One update of everybody, and then a picture.
static void run_frames(arena *a, unsigned client, double seconds, forecast *f)
{
    foliot_sample sample;
    uint64_t step = a->step_ns;
    a->step_ns = 16666667;
    for (int i = 0; i < seconds / FRAME; i++) {
        arena_run(a, FRAME);
        look_at(a, client, f);
        allow_failure(foliot_client_sample(a->clients[client], a->now_ns - a->step_ns, &sample));
    }
    a->step_ns = step;
}

static void alone_nothing_is_ever_corrected(void **state)
{
    (void)state;
    arena *a = arena_create(NULL);
    forecast f = {.confirmed = 0};
    join(a, "delay=50ms,jitter=0-20ms,seed=3");
    run_frames(a, 0, 4, &f); // the round trip is learnt
    uint64_t late = arena_seen(a, 0).inputs_late, rollbacks = arena_seen(a, 0).rollbacks;
    run_frames(a, 0, 20, &f);
    foliot_client_statistics seen = arena_seen(a, 0);
    print_message("%llu compared, %llu rollbacks, %llu corrections, %llu late, %g ticks ahead, key "
                  "to screen %.1f ms, at most %.1f\n",
                  (unsigned long long)f.compared, (unsigned long long)seen.rollbacks,
                  (unsigned long long)seen.corrections, (unsigned long long)seen.inputs_late,
                  seen.prediction_ticks, seen.key_to_screen_ms, seen.key_to_screen_max_ms);
    assert_int_equal(seen.inputs_late, late);
    assert_int_equal(seen.rollbacks, rollbacks);
    check_gt(f.compared, 1100);
    assert_int_equal(f.different, 0);
    assert_true(arena_agrees(a, 0));
    assert_true(arena_is_honest(a));
    arena_destroy(a);
}

static void others_are_put_right(void **state)
{
    (void)state;
    arena *a = arena_create(NULL);
    forecast f = {.confirmed = 0};
    join(a, "delay=50ms,jitter=0-20ms,loss=5%,seed=3");
    join(a, "delay=50ms,jitter=0-20ms,loss=5%,seed=4");
    run_frames(a, 0, 30, &f);
    foliot_client_statistics seen = arena_seen(a, 0);
    print_message("%llu compared, %llu rollbacks, %llu corrections (%llu own), %llu late, %g ticks "
                  "ahead, key to screen %.1f ms, at most %.1f\n",
                  (unsigned long long)f.compared, (unsigned long long)seen.rollbacks,
                  (unsigned long long)seen.corrections, (unsigned long long)seen.corrections_own,
                  (unsigned long long)seen.inputs_late, seen.prediction_ticks,
                  seen.key_to_screen_ms, seen.key_to_screen_max_ms);
    check_gt(seen.rollbacks, 20);
    check_gt(f.compared, 500);
    assert_int_equal(f.different, 0);
    assert_true(arena_agrees(a, 0));
    assert_true(arena_is_honest(a));
    arena_destroy(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_nothing_is_ever_corrected),
        cmocka_unit_test(others_are_put_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
