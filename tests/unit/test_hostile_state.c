// SPDX-License-Identifier: MIT
// Goal: what follows a state that foliot_world_restore takes can be restored as well. A forged
// state of time-corrected-verlet whose sum of steps, or whose last step, was the largest that is
// taken was followed by one that was not: a recording or a late joiner went on from it, and nobody
// could come after. Method: numbers of a true state are replaced by the largest and the smallest
// there are; where the world takes it, it is stepped, captured and restored into another one, tick
// by tick.
#include "check.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../client/lib/shared/internal.h"
#include "../support/recording_fixture.h"
#include "base/bytes.h"
#include "foliot/foliot.h"
#include "foliot/scene.h"
#include "status.h"

#define STEPS 3
#define ROUNDS 400

static const double extremes[] = {0,
                                  -0.0,
                                  0x1p40,
                                  -0x1p40,
                                  0x1.fffffffffffffp39,
                                  -0x1.fffffffffffffp39,
                                  1,
                                  -1,
                                  0x1p-40,
                                  0x1p100,
                                  1e-300,
                                  1e300,
                                  0x1p-1074,
                                  0x1.fffffffffffffp1023,
                                  0x1p41,
                                  0x1p22};

static void put_f64(uint8_t *bytes, double value)
{
    foliot__writer w = foliot__writer_of(bytes, 8);
    foliot__write_f64(&w, value);
}

static uint8_t *captured(const foliot_world *world, size_t *length)
{
    demand(foliot_world_capture(world, NULL, 0, length));
    uint8_t *bytes = malloc(*length);
    assert_int_equal(foliot_world_capture(world, bytes, *length, length), FOLIOT_STATUS_OK);
    return bytes;
}

static foliot_world *new_world(const recording_fixture *fixture)
{
    foliot_world *world = NULL;
    assert_int_equal(foliot_world_create(&fixture->scene, &world, NULL), FOLIOT_STATUS_OK);
    return world;
}

// True where the state was taken; then what follows it must be.
static bool follow(const recording_fixture *fixture, foliot_world *world, const uint8_t *state,
                   size_t length)
{
    if (foliot_world_restore(world, state, length) != FOLIOT_STATUS_OK)
        return false;
    for (int step = 0; step < STEPS; step++) {
        size_t count;
        assert_int_equal(foliot_world_step(world, NULL, 0, NULL), FOLIOT_STATUS_OK);
        uint8_t *bytes = captured(world, &count);
        foliot_world *other = new_world(fixture);
        assert_int_equal(foliot_world_restore(other, bytes, count), FOLIOT_STATUS_OK);
        assert_true(
            foliot_digest_equal(foliot_world_get_digest(other), foliot_world_get_digest(world)));
        foliot_world_destroy(other);
        free(bytes);
    }
    return true;
}

static void fixture_of(recording_fixture *fixture, foliot_integrator integrator)
{
    recording_fixture_init(fixture, 3, 0, integrator, 5);
    if (integrator == FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG)
        return;
    fixture->scene.force_count = 3; // no drag
}

// A simulation of 2^41 s is an honest one, and can be gone on with.
TEST(long_runs_can_be_gone_on_with)
{
    recording_fixture fixture;
    fixture_of(&fixture, FOLIOT_INTEGRATOR_TIME_CORRECTED_VERLET);
    fixture.scene.force_count = 0;
    fixture.scene.dt = 0x1p39;
    for (uint32_t i = 0; i < fixture.scene.body_count; i++)
        memset(fixture.bodies[i].velocity, 0, sizeof fixture.bodies[i].velocity);
    foliot_world *world = new_world(&fixture);
    for (int tick = 0; tick < 4; tick++)
        assert_int_equal(foliot_world_step(world, NULL, 0, NULL), FOLIOT_STATUS_OK);
    check_bits(foliot_world_get_time(world), 0x1p41);
    size_t length;
    uint8_t *bytes = captured(world, &length);
    assert_true(follow(&fixture, world, bytes, length));
    free(bytes);
    foliot_world_destroy(world);
    fixture.scene.dt = 0x1p40;
    foliot_error problem;
    assert_int_not_equal(foliot_scene_check(&fixture.scene, &problem), FOLIOT_STATUS_OK);
    recording_fixture_free(&fixture);
}

TEST(extremes_anywhere)
{
    foliot__rng rng = foliot__rng_seeded(check_seed(20260712));
    uint32_t taken = 0, tried = 0;
    for (int id = 1; id < FOLIOT_INTEGRATOR_COUNT; id++) {
        recording_fixture fixture;
        foliot_error problem;
        if (!foliot_integrator_get_info((foliot_integrator)id))
            continue;
        fixture_of(&fixture, (foliot_integrator)id);
        if (foliot_scene_check(&fixture.scene, &problem) != FOLIOT_STATUS_OK) {
            recording_fixture_free(&fixture);
            continue;
        }
        foliot_world *world = new_world(&fixture);
        assert_int_equal(foliot_world_step(world, NULL, 0, NULL), FOLIOT_STATUS_OK);
        size_t length;
        uint8_t *bytes = captured(world, &length), *changed = malloc(length);
        for (int round = 0; round < ROUNDS; round++) {
            memcpy(changed, bytes, length);
            for (uint32_t n = 1 + foliot__rng_below(&rng, 3); n > 0; n--) {
                size_t word = foliot__rng_below(&rng, (uint32_t)(length / 8));
                double value =
                    extremes[foliot__rng_below(&rng, sizeof extremes / sizeof extremes[0])];
                put_f64(changed + 8 * word, value);
            }
            tried++;
            taken += follow(&fixture, world, changed, length);
        }
        free(changed);
        free(bytes);
        foliot_world_destroy(world);
        recording_fixture_free(&fixture);
    }
    print_message("%u of %u states were taken\n", taken, tried);
    check_gt(taken, 100);
}

// -- hostile numbers: Goal: numbers that a peer or a file chooses give figures that there can be,
// and a null pointer is not moved, which was undefined behaviour. Method: the two places are given
// such numbers; the sanitizer's build ends where something is undefined.

TEST(counts_of_a_hostile_server)
{
    static const struct {
        uint32_t sent;
        uint64_t arrived, lost;
    } cases[] = {{21, 20, 1}, {0, 20, 0}, {UINT32_MAX, 0, UINT32_MAX}, {3, UINT64_MAX, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        foliot_client *client = calloc(1, sizeof *client);
        client->join.state = FOLIOT__WELCOME_PRESENT;
        client->loss.counted = cases[i].sent;
        client->loss.arrived = client->loss.arrived_counted = cases[i].arrived;
        client->statistics.snapshots_received = cases[i].arrived / 2;
        foliot_client_statistics seen = foliot_client_get_statistics(client);
        assert_int_equal(seen.snapshots_expected - seen.snapshots_received, cases[i].lost);
        assert_true(seen.loss >= 0 && seen.loss <= 1);
        foliot__client_keep_figures(client);
        assert_int_equal(client->loss.lost_before, cases[i].lost);
        free(client);
    }
}

TEST(no_bytes_of_nothing)
{
    foliot__reader r = foliot__reader_of(NULL, 0);
    assert_null(foliot__read_bytes(&r, 0));
    assert_int_equal(r.status, FOLIOT_STATUS_OK);
    assert_null(foliot__read_bytes(&r, 1));
    assert_int_equal(r.status, FOLIOT_STATUS_TRUNCATED);
}

// -- restore bounds: Goal: whatever saved state a world accepts, every state that it steps to from
// there is accepted too. A state at the bounds was taken whose successor lay beyond them: a server
// that resumed from it could write no keyframe that restores. Method: states captured from true
// runs, some bytes of them put to the bounds and beyond, restored and stepped.

#define STATE_BYTES_MAX 4096
#define LAB_TIME 40 // docs/reference/state.md
#define LAB_DT 48

typedef struct place {
    foliot_body_definition bodies[2];
    foliot_force_definition spring;
    foliot_scene scene;
    foliot_world *world, *other;
    uint8_t bytes[STATE_BYTES_MAX];
    size_t length;
} place;

static void capture(place *p, const foliot_world *world)
{
    assert_int_equal(foliot_world_capture(world, p->bytes, sizeof p->bytes, &p->length),
                     FOLIOT_STATUS_OK);
}

static void open_place(place *p, foliot_integrator integrator)
{
    *p = (place){0};
    p->bodies[0] = p->bodies[1] = foliot_body_definition_default();
    p->bodies[1].position[0] = 1.3;
    p->spring = foliot_force_definition_default(FOLIOT_FORCE_SPRING);
    p->spring.a = 0;
    p->spring.b = 1;
    p->spring.as.spring.stiffness = 7.1;
    p->scene = foliot_scene_default();
    p->scene.name = "bounds";
    p->scene.dt = 0.02;
    p->scene.integrator = integrator;
    p->scene.bodies = p->bodies;
    p->scene.body_count = 2;
    p->scene.forces = &p->spring;
    p->scene.force_count = 1;
    assert_int_equal(foliot_world_create(&p->scene, &p->world, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_world_create(&p->scene, &p->other, NULL), FOLIOT_STATUS_OK);
    for (int i = 0; i < STEPS; i++)
        assert_int_equal(foliot_world_step(p->world, NULL, 0, NULL), FOLIOT_STATUS_OK);
    capture(p, p->world);
}

static void close_place(place *p)
{
    foliot_world_destroy(p->world);
    foliot_world_destroy(p->other);
}

static void put(place *p, size_t at, double value)
{
    uint64_t bits = foliot__f64_bits(value);
    for (int k = 0; k < 8; k++)
        p->bytes[at + (size_t)k] = (uint8_t)(bits >> (8 * k));
}

// Puts the state into the world and steps; every state on the way goes into the other one, and both
// agree.
static void go_on(place *p)
{
    assert_int_equal(foliot_world_restore(p->world, p->bytes, p->length), FOLIOT_STATUS_OK);
    for (int i = 0; i < STEPS; i++) {
        capture(p, p->world);
        assert_int_equal(foliot_world_restore(p->other, p->bytes, p->length), FOLIOT_STATUS_OK);
        assert_int_equal(foliot_world_step(p->world, NULL, 0, NULL), FOLIOT_STATUS_OK);
        assert_int_equal(foliot_world_step(p->other, NULL, 0, NULL), FOLIOT_STATUS_OK);
        assert_true(foliot_digest_equal(foliot_world_get_digest(p->world),
                                        foliot_world_get_digest(p->other)));
    }
    capture(p, p->world);
    assert_int_equal(foliot_world_restore(p->other, p->bytes, p->length), FOLIOT_STATUS_OK);
}

TEST(a_clock_at_its_bound_goes_on_to_states_that_restore)
{
    static const double times[] = {0, 1, 0x1p40, 0x1p41, 0x1p60, DBL_MAX};
    static const double steps[] = {0, 0x1p-1074, 1, 0x1p40};
    place p;
    open_place(&p, FOLIOT_INTEGRATOR_TIME_CORRECTED_VERLET);
    for (size_t t = 0; t < sizeof times / sizeof *times; t++)
        for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
            put(&p, LAB_TIME, times[t]);
            put(&p, LAB_DT, steps[s]);
            go_on(&p);
        }
    close_place(&p);
}

TEST(long_steps_lead_to_states_that_restore)
{
    place p;
    open_place(&p, FOLIOT_INTEGRATOR_TIME_CORRECTED_VERLET);
    for (int i = 0; i < 4; i++)
        assert_int_equal(foliot_world_step_dt(p.world, 0x1p39, NULL), FOLIOT_STATUS_OK);
    capture(&p, p.world);
    go_on(&p);
    close_place(&p);
}

TEST(a_clock_that_no_step_leads_to_is_refused)
{
    static const struct {
        size_t at;
        double value;
    } bad[] = {{LAB_TIME, -1},
               {LAB_DT, -1},
               {LAB_DT, 0x1p41},
               {LAB_TIME, (double)__builtin_inf()},
               {LAB_DT, (double)__builtin_inf()},
               {LAB_TIME, (double)__builtin_nan("")},
               {LAB_DT, (double)__builtin_nan("")}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        place p;
        open_place(&p, FOLIOT_INTEGRATOR_TIME_CORRECTED_VERLET);
        foliot_digest before = foliot_world_get_digest(p.world);
        put(&p, bad[i].at, bad[i].value);
        assert_int_equal(foliot_world_restore(p.world, p.bytes, p.length), FOLIOT_STATUS_CORRUPT);
        assert_true(foliot_digest_equal(foliot_world_get_digest(p.world), before));
        close_place(&p);
    }
}

TEST(no_other_scheme_has_the_laboratorys_clock)
{
    static const size_t at[] = {LAB_TIME, LAB_DT};
    for (int i = 0; i < 2; i++) {
        place p;
        open_place(&p, FOLIOT_INTEGRATOR_VELOCITY_VERLET);
        go_on(&p);
        put(&p, at[i], 0.02);
        assert_int_equal(foliot_world_restore(p.world, p.bytes, p.length), FOLIOT_STATUS_CORRUPT);
        close_place(&p);
    }
}
