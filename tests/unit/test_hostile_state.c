// SPDX-License-Identifier: MIT
// Goal: what follows a state that foliot_world_restore takes can be restored as well. A forged
// state of time-corrected-verlet whose sum of steps, or whose last step, was the largest that is
// taken was followed by one that was not: a recording or a late joiner went on from it, and nobody
// could come after. Method: numbers of a true state are replaced by the largest and the smallest
// there are; where the world takes it, it is stepped, captured and restored into another one, tick
// by tick.
#include "../support/check.h"
#include "../support/recording_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
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
