// SPDX-License-Identifier: MIT
// harness.h: tests whether a simulation is fit for lockstep, replay and rollback.
//
// One call runs the simulation through four tests, which find hidden state, forgotten fields and
// state that is not in the digest, and says what went wrong first and where.
#ifndef FOLIOT_HARNESS_H
#define FOLIOT_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/divergence.h"
#include "foliot/simulation.h"

#ifdef __cplusplus
extern "C" {
#endif

// X(name, what is said when it passes). Each test compares with one undisturbed run.
//   replay         A second instance of the same setup is given the same inputs. Finds globals,
//                  clocks, random sources, memory that was never written.
//   sync           An instance is rolled back to captured bytes and steps again, over every
//                  distance. Finds what `capture` forgets and what `restore` leaves standing.
//   serialisation  An instance is restored from the undisturbed one before every tick. Finds hidden
//                  state. Its captured bytes must be equal too.
//   perturbation   Every number of every part is changed by one unit, and one bit is flipped in the
//                  captured bytes. Finds state that is not in the digest.
#define FOLIOT_HARNESS_TESTS(X)                                                                    \
    X(replay, "two runs from the start agree")                                                     \
    X(sync, "what was rolled back comes again")                                                    \
    X(serialisation, "a restored copy has the same future")                                        \
    X(perturbation, "the digest notices every change")

typedef enum foliot_harness_test {
#define FOLIOT_HARNESS_ENUM(name, text) FOLIOT_HARNESS_##name,
    FOLIOT_HARNESS_TESTS(FOLIOT_HARNESS_ENUM)
#undef FOLIOT_HARNESS_ENUM
        FOLIOT_HARNESS_TEST_COUNT
} foliot_harness_test;

#define FOLIOT_HARNESS_DISTANCES 4
#define FOLIOT_HARNESS_DISTANCE_MAX 256
#define FOLIOT_HARNESS_INPUTS_MAX 4096 // of one tick

typedef struct foliot_harness_config {
    const foliot_simulation_kind *kind;
    const void *setup;
    size_t setup_bytes;
    uint64_t ticks;
    // Called once a tick, in order: writes the inputs, ordered by (player, sequence), and returns
    // their number. NULL: inputs drawn from `seed` of `players` players, who join, press, release,
    // leave and come back.
    uint32_t (*inputs)(void *user, uint64_t tick, foliot_input *inputs, uint32_t capacity);
    void *inputs_user;
    uint32_t players;
    uint64_t seed;
    // Called after `inputs`: appends the commands of the tick, ordered by their sequences. An error
    // ends the run. NULL: there are none.
    foliot_status (*commands)(void *user, uint64_t tick, foliot_command_list *commands);
    void *commands_user;
    uint32_t distances[FOLIOT_HARNESS_DISTANCES]; // of rolling back, in ticks; 0: none
    uint32_t perturb_every;                       // ticks from one perturbation test to the next
    uint32_t perturbations; // of numbers, and of bits, in each of them at most
    uint32_t skipped;       // tests that are not run: bits 1 << foliot_harness_test
} foliot_harness_config;

// 600 ticks, 4 players, distances 1, 2 and 8, 256 perturbations every 20 ticks. The caller sets
// kind and setup.
foliot_harness_config foliot_harness_config_default(void);

typedef struct foliot_harness_row {
    bool passed;                  // or skipped
    bool skipped;                 // as the config demands
    uint64_t checks;              // comparisons made
    foliot_divergence divergence; // where it failed first: valid if not passed
    char text[256];               // what failed, in words; empty if passed
} foliot_harness_row;

typedef struct foliot_harness_result {
    const foliot_simulation_kind *kind;
    bool passed;          // all of them
    uint64_t ticks;       // run
    uint64_t inputs;      // given
    uint64_t commands;    // given
    size_t saved_bytes;   // the most that were captured
    foliot_digest digest; // of the undisturbed run at its end
    // The test whose instance is called now, FOLIOT_HARNESS_TEST_COUNT: the undisturbed run. With
    // `ticks` it says where a simulation crashed; handlers of signals may read both.
    foliot_harness_test running;
    char problem[256]; // why there is no result, where the status alone does not say it; else empty
    foliot_harness_row row[FOLIOT_HARNESS_TEST_COUNT];
} foliot_harness_result;

// FOLIOT_STATUS_OK whenever there is a result, passed or not. FOLIOT_STATUS_INVALID: the config or
// the kind's table; or a step that is not one tick. FOLIOT_STATUS_MEMORY; else what an instance
// returned from `create` or `step`: then *result says how far it came.
FOLIOT_MUST_CHECK foliot_status foliot_harness_run(const foliot_harness_config *config,
                                                   foliot_harness_result *result);

const char *foliot_harness_test_get_name(foliot_harness_test test);
// A table for people; one JSON object for programs. They return the length of the whole text, and
// write what fits into `capacity` bytes with a closing zero, as snprintf does.
size_t foliot_harness_print_text(const foliot_harness_result *result, char *text, size_t capacity);
size_t foliot_harness_print_json(const foliot_harness_result *result, char *text, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
