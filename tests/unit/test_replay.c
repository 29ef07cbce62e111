// SPDX-License-Identifier: MIT
// test_replay.c: what was recorded comes back: every input, every state, forwards, backwards and by
// jumps. Recordings are made in memory from seeded scenes and players; SEED= gives another one.
#include "recording_fixture.h"
#include "check.h"
#include "status.h"
#include "slots.h"

#include <stdlib.h>
#include <string.h>

#define TICKS 500

typedef struct made {
    recording_fixture fixture;
    recording_memory memory;
    foliot_digest digests[TICKS + 1];
    foliot_replay *replay;
} made;

static made *make(foliot_integrator integrator, uint32_t players, bool streams,
                  uint32_t block_ticks, uint32_t keyframe_ticks)
{
    made *m = calloc(1, sizeof *m);
    foliot_recording_config config = recording_fixture_config(block_ticks, keyframe_ticks);
    recording_fixture_init(&m->fixture, 12, players, integrator, check_seed(20240611));
    m->fixture.streams = streams;
    recording_fixture_record(&m->fixture, &config, TICKS, &m->memory, m->digests);
    assert_int_equal(foliot_replay_open_bytes(m->memory.bytes, m->memory.length, &foliot_world_kind,
                                              &m->replay, NULL),
                     FOLIOT_STATUS_OK);
    return m;
}

static void drop(made *m)
{
    foliot_replay_close(m->replay);
    recording_memory_free(&m->memory);
    recording_fixture_free(&m->fixture);
    free(m);
}

static void same_state(const made *m, uint64_t tick)
{
    assert_int_equal(foliot_replay_get_tick(m->replay), tick);
    assert_true(foliot_digest_equal(foliot_world_get_digest(foliot_replay_get_world(m->replay)),
                                    m->digests[tick]));
}

static void inputs_come_back(bool streams)
{
    made *m = make(FOLIOT_INTEGRATOR_VELOCITY_VERLET, 6, streams, 37, 111);
    recording_fixture again;
    foliot_input expected[FOLIOT_PLAYERS_MAX];
    recording_fixture_init(&again, 12, 6, FOLIOT_INTEGRATOR_VELOCITY_VERLET, m->fixture.scene.seed);
    again.streams = streams;
    uint64_t total = 0;
    for (uint64_t tick = 0; tick < TICKS; tick++) {
        const foliot_input *inputs;
        uint32_t count, wanted = recording_fixture_inputs(&again, tick, true, expected);
        assert_int_equal(foliot_replay_get_inputs(m->replay, tick, &inputs, &count),
                         FOLIOT_STATUS_OK);
        assert_int_equal(count, wanted);
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(inputs[i].player, expected[i].player);
            assert_int_equal(inputs[i].sequence, expected[i].sequence);
            assert_int_equal(inputs[i].kind, expected[i].kind);
            assert_int_equal(inputs[i].buttons, expected[i].buttons);
            assert_memory_equal(inputs[i].axes, expected[i].axes, sizeof inputs[i].axes);
        }
        total += count;
    }
    assert_int_equal(foliot_replay_scan(m->replay), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_replay_get_summary(m->replay)->counts.inputs, total);
    assert_int_equal(foliot_replay_get_summary(m->replay)->counts.players, 6);
    assert_int_equal(foliot_replay_get_summary(m->replay)->counts.digests, TICKS);
    recording_fixture_free(&again);
    drop(m);
}

TEST(every_input_comes_back)
{
    inputs_come_back(false);
}

TEST(every_input_of_streaming_players_comes_back)
{
    inputs_come_back(true);
}

TEST(a_replay_has_every_state)
{
    made *m = make(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER, 4, false, 60, 150);
    for (uint64_t tick = 0; tick < TICKS; tick++) {
        same_state(m, tick);
        assert_int_equal(foliot_replay_step(m->replay), FOLIOT_STATUS_OK);
    }
    same_state(m, TICKS);
    assert_int_equal(foliot_replay_step(m->replay), FOLIOT_STATUS_NOT_FOUND);
    same_state(m, TICKS);
    drop(m);
}

TEST(seeks_reach_any_tick)
{
    made *m = make(FOLIOT_INTEGRATOR_VELOCITY_VERLET, 4, true, 7, 50);
    foliot__rng rng = foliot__rng_seeded(check_seed(20240611));
    for (int i = 0; i < 300; i++) {
        uint64_t tick = foliot__rng_below(&rng, TICKS + 1);
        assert_int_equal(foliot_replay_seek(m->replay, tick), FOLIOT_STATUS_OK);
        same_state(m, tick);
    }
    assert_int_equal(foliot_replay_seek(m->replay, TICKS + 1), FOLIOT_STATUS_NOT_FOUND);
    drop(m);
}

static void steps_back_are_exact(foliot_integrator integrator, uint32_t keyframe_ticks,
                                 bool streams)
{
    made *m = make(integrator, 3, streams, 60, keyframe_ticks);
    assert_int_equal(foliot_replay_seek(m->replay, TICKS), FOLIOT_STATUS_OK);
    for (uint64_t tick = TICKS; tick-- > 0;) {
        assert_int_equal(foliot_replay_step_back(m->replay), FOLIOT_STATUS_OK);
        same_state(m, tick);
    }
    assert_int_equal(foliot_replay_step_back(m->replay), FOLIOT_STATUS_NOT_FOUND);
    assert_int_equal(foliot_replay_step(m->replay), FOLIOT_STATUS_OK);
    same_state(m, 1);
    drop(m);
}

TEST(steps_back_from_keyframes)
{
    steps_back_are_exact(FOLIOT_INTEGRATOR_VELOCITY_VERLET, 50, false);
}

TEST(steps_back_by_the_inverse_step)
{
    steps_back_are_exact(FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG, 120, false);
    steps_back_are_exact(FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG, 0, true);
}

TEST(a_whole_recording_matches)
{
    foliot_verdict verdict;
    made *m = make(FOLIOT_INTEGRATOR_VELOCITY_VERLET, 4, false, 60, 150);
    assert_int_equal(foliot_replay_verify(m->replay, NULL, &verdict), FOLIOT_STATUS_OK);
    if (verdict.damage.text[0])
        print_message("%s\n", verdict.damage.text);
    assert_int_equal(verdict.status, FOLIOT_STATUS_OK);
    assert_int_equal(verdict.ticks, TICKS);
    assert_true(foliot_digest_equal(verdict.digest, m->digests[TICKS]));
    drop(m);
}

// One recording, one changed constant in the scene that replays it: the first digest must show it.
TEST(another_scene_diverges)
{
    foliot_verdict verdict;
    made *m = make(FOLIOT_INTEGRATOR_VELOCITY_VERLET, 0, false, 60, 150);
    foliot_world *world = recording_fixture_world(&m->fixture);
    // A recording whose inputs are lost in the second half: rebuilt without them.
    foliot_recording *recording;
    recording_memory other = {0};
    foliot_recording_sink sink = recording_memory_sink(&other);
    foliot_recording_config config = recording_fixture_config(60, 150);
    assert_int_equal(foliot_recording_open_sink(&sink, WORLD_SIMULATION(world, &m->fixture.scene),
                                                &config, &recording),
                     FOLIOT_STATUS_OK);
    for (uint64_t tick = 0; tick < 100; tick++) {
        if (tick == 70)
            (void)!slot_set_field(world, 3, FOLIOT_FIELD_position_y,
                                  slot_field(world, 3, FOLIOT_FIELD_position_y) + 1);
        demand(foliot_world_step(world, NULL, 0, NULL));
        demand(foliot_recording_append(recording, WORLD_SIMULATION(world, NULL), NULL, NULL, 0));
    }
    assert_int_equal(foliot_recording_close(recording, NULL), FOLIOT_STATUS_OK);
    foliot_replay *replay;
    assert_int_equal(
        foliot_replay_open_bytes(other.bytes, other.length, &foliot_world_kind, &replay, NULL),
        FOLIOT_STATUS_OK);
    assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_OK);
    assert_int_equal(verdict.status, FOLIOT_STATUS_DIVERGED);
    assert_int_equal(verdict.divergence.tick, 71);
    assert_int_equal(verdict.ticks, 70);
    foliot_replay_close(replay);
    recording_memory_free(&other);
    foliot_world_destroy(world);
    drop(m);
}

// 1,000 faults of a few ulps at random ticks, stages, bodies and fields: each found where it was
// put.
TEST(every_injected_fault_is_found_exactly)
{
    made *m = make(FOLIOT_INTEGRATOR_VELOCITY_VERLET, 4, false, 60, 150);
    foliot__rng rng = foliot__rng_seeded(check_seed(20240611) + 1);
    for (int i = 0; i < 1000; i++) {
        foliot_perturbation fault = {.tick = 1 + foliot__rng_below(&rng, TICKS)};
        fault.stage = (foliot_stage)foliot__rng_below(&rng, FOLIOT_STAGE_COUNT);
        fault.body = foliot__rng_below(&rng, 12);
        fault.field = (foliot_field)foliot__rng_below(&rng, FOLIOT_FIELD_previous_x);
        fault.ulps = foliot__rng_below(&rng, 2) ? 1 : -1;
        foliot_verdict verdict;
        assert_int_equal(foliot_replay_verify(m->replay, &fault, &verdict), FOLIOT_STATUS_OK);
        assert_int_equal(verdict.status, FOLIOT_STATUS_DIVERGED);
        const foliot_divergence *d = &verdict.divergence;
        if (d->tick != fault.tick || d->body != fault.body || d->field != fault.field)
            print_message("fault %d: tick %d stage %s body %d field %s\n", i, (int)fault.tick,
                          foliot_stage_get_name(fault.stage), (int)fault.body,
                          foliot_field_get_name(fault.field));
        assert_int_equal(d->tick, fault.tick);
        assert_true(d->stage_known);
        assert_true(d->field_known);
        assert_int_equal(d->stage, fault.stage);
        assert_int_equal(d->body, fault.body);
        assert_int_equal(d->field, fault.field);
        assert_int_equal(d->ulps, 1);
        assert_int_equal(d->parts, 1);
        assert_int_equal(d->fields, 1);
    }
    drop(m);
}
