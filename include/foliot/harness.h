// SPDX-License-Identifier: MIT
// harness.h: is a simulation fit for lockstep, replay and rollback? One call runs it through every
// test that finds hidden state, forgotten fields and truth that is not digested, and says where it
// went wrong first.
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

// X(name, what it says when it passes). Each compares with one run that nobody disturbs.
//   replay         a second instance, made of the same setup, given the same inputs: finds globals,
//                  clocks, chance, memory that was never written
//   sync           an instance that is rolled back to saved bytes and steps again, at every
//   distance:
//                  finds what `save` forgets and what `restore` leaves standing
//   serialisation  an instance restored from the undisturbed one before every tick: finds hidden
//   state;
//                  its saved bytes must be the same too
//   perturbation   one unit more in every number of every part, one bit flipped in the saved bytes:
//   finds
//                  truth that is not digested
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
    // Inputs of every tick in turn, ordered by (player, sequence); answers how many. NULL: seeded
    // ones of `players` players, who join, press, let go, leave and come again.
    uint32_t (*inputs)(void *user, uint64_t tick, foliot_input *inputs, uint32_t capacity);
    void *inputs_user;
    uint32_t players;
    uint64_t seed;
    uint32_t distances[FOLIOT_HARNESS_DISTANCES]; // of rolling back, in ticks; 0: none
    uint32_t perturb_every;                       // ticks from one perturbation test to the next
    uint32_t perturbations; // of numbers, and of bits, in each of them at most
} foliot_harness_config;

// 600 ticks, 4 players, distances 1, 2 and 8, 256 perturbations every 20 ticks. Kind and setup are
// to be filled in.
foliot_harness_config foliot_harness_config_default(void);

typedef struct foliot_harness_row {
    bool passed;
    uint64_t checks;              // comparisons made
    foliot_divergence divergence; // where it failed first: valid if not passed
    char text[256];               // what failed, in words; empty if passed
} foliot_harness_row;

typedef struct foliot_harness_result {
    const foliot_simulation_kind *kind;
    bool passed;          // all of them
    uint64_t ticks;       // run
    uint64_t inputs;      // given
    size_t saved_bytes;   // the most that were saved
    foliot_digest digest; // of the undisturbed run at its end
    foliot_harness_row row[FOLIOT_HARNESS_TEST_COUNT];
} foliot_harness_result;

// FOLIOT_STATUS_OK whenever there is a result, passed or not. FOLIOT_STATUS_INVALID: the config or
// the kind's table; else what an instance answered when it was made or stepped (then *result says
// how far it came), FOLIOT_STATUS_MEMORY.
foliot_status foliot_harness_run(const foliot_harness_config *config,
                                 foliot_harness_result *result);

const char *foliot_harness_test_get_name(foliot_harness_test test);
// A table for people; one JSON object for programs. As snprintf.
size_t foliot_harness_print_text(const foliot_harness_result *result, char *text, size_t capacity);
size_t foliot_harness_print_json(const foliot_harness_result *result, char *text, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
