// SPDX-License-Identifier: MIT
// divergence.h: finds where two runs of one simulation first differ, reports it, and tests whether
// a simulation is deterministic.
//
// The search goes down a tree: tick, stage, group of parts, part, group of fields, field. One side
// sends requests, the other responds; at most FOLIOT_SEARCH_BYTES_MAX bytes are exchanged, however
// large the states are. There is no I/O here: requests and responses are bytes that the caller
// carries. Replay, compare and lockstep share this search and this report.
//
// Threads: an object is used by one thread at a time.
#ifndef FOLIOT_DIVERGENCE_H
#define FOLIOT_DIVERGENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/command.h"
#include "foliot/scene.h"
#include "foliot/simulation.h"
#include "foliot/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Where two runs first differ. The *_known flags say which members are valid. Names live as long as
// the simulation's kind.
typedef struct foliot_divergence {
    uint64_t tick;
    bool stage_known, part_known, field_known;
    uint32_t stage; // number in the simulation; of a world a foliot_stage
    const char *stage_name;
    uint32_t part; // number at that place
    const char *group;
    uint64_t index; // in its group
    uint32_t body;  // slot, where the part is a body of a world; else FOLIOT_NO_BODY
    uint32_t field; // number in the part; of a body a foliot_field, or beyond: its definition
    const char *field_name; // NULL: it has no name
    foliot_value_type type;
    uint64_t expected,
        actual;    // bit patterns, if field_known: the requesting side's and the other's
    uint64_t ulps; // distance of the two in representable values; of integers, their difference
    uint32_t parts, fields; // how many differ at this place; 0: not counted
    // Only the tick is known: the server repeated its own step from a saved state and got a
    // different result. A saved state lacks something that the step uses, or the step depends on
    // more than the state.
    bool not_repeated;
} foliot_divergence;

// A fault that is injected into the state of tick `tick`, after `stage` of the step to it.
typedef struct foliot_perturbation {
    uint64_t tick;
    foliot_stage stage;
    uint32_t body;
    foliot_field field;
    int64_t ulps;
} foliot_perturbation;

// The distance of two values in representable numbers, or in units for integers. -0 and 0 are
// neighbours.
uint64_t foliot_value_get_distance(foliot_value_type type, uint64_t a, uint64_t b);
// The value `by` representable numbers (or units) further.
uint64_t foliot_value_advance(foliot_value_type type, uint64_t bits, int64_t by);

// -- the state of one side through one step

// The fields of all parts after every stage of the step that produced a tick, and those that the
// run itself held at that tick. The two can differ: a step that is repeated for the search may not
// reproduce the fault.
typedef struct foliot_step_trace foliot_step_trace;

FOLIOT_MUST_CHECK foliot_status
foliot_step_trace_create(foliot_step_trace **trace); // FOLIOT_STATUS_MEMORY
void foliot_step_trace_destroy(foliot_step_trace *trace);
// Empties the trace for another tick and keeps its memory.
void foliot_step_trace_reset(foliot_step_trace *trace, uint64_t tick);
// Steps `simulation` from the tick before, and captures its parts after each stage. The status of
// the step; FOLIOT_STATUS_MEMORY.
FOLIOT_MUST_CHECK foliot_status foliot_step_trace_step(foliot_step_trace *trace,
                                                       foliot_simulation *simulation,
                                                       const foliot_tick_inputs *tick);
// Captures the parts of `simulation` as they are now: what the run held. FOLIOT_STATUS_MEMORY.
FOLIOT_MUST_CHECK foliot_status foliot_step_trace_capture_held(foliot_step_trace *trace,
                                                               const foliot_simulation *simulation);
// Captures the parts of `simulation` after one stage, for hosts with their own stage hooks.
// FOLIOT_STATUS_MEMORY; FOLIOT_STATUS_INVALID: the simulation has no such stage.
FOLIOT_MUST_CHECK foliot_status foliot_step_trace_capture_stage(
    foliot_step_trace *trace, uint32_t stage, const foliot_simulation *simulation);
uint64_t foliot_step_trace_get_tick(const foliot_step_trace *trace);

// For when both sides are at hand: finds the first stage, part and field that differ, and how many
// differ there. False: none.
bool foliot_step_trace_compare(const foliot_step_trace *expected, const foliot_step_trace *actual,
                               foliot_divergence *divergence);

// -- the search

#define FOLIOT_SEARCH_REQUEST_BYTES_MAX 24
#define FOLIOT_SEARCH_RESPONSE_BYTES_MAX 160
#define FOLIOT_SEARCH_BYTES_MAX 2048 // of a whole search, both ways

typedef enum foliot_search_state {
    FOLIOT_SEARCH_REQUESTS,    // foliot_search_get_request has a request
    FOLIOT_SEARCH_NEEDS_TRACE, // call foliot_search_set_trace with the trace of
                               // foliot_search_get_tick
    FOLIOT_SEARCH_FOUND,       // `found` is the report, as far as it is known
    FOLIOT_SEARCH_EQUAL,       // the two sides agree in all that was compared
    FOLIOT_SEARCH_FAILED,      // the responses make no sense, or were too many
} foliot_search_state;

// The requesting side. One of the two functions below begins it; members from `first` on are
// private.
typedef struct foliot_search {
    foliot_search_state state;
    uint32_t exchanged; // bytes both ways so far
    uint32_t request_count;
    foliot_divergence found;
    uint64_t first, last, low, high; // ticks
    const uint64_t *chain;
    const foliot_step_trace *trace;
    uint8_t phase; // foliot_search_phase
    uint8_t layer;
    bool end_asked;
    uint32_t entry, group, total; // of parts or fields
} foliot_search;

// Begins a search at a known tick, as in lockstep, where every digest is compared.
void foliot_search_begin(foliot_search *search, uint64_t tick);
// Begins a search for the first of the ticks first .. last. chain[t - first] is the
// foliot_digest_chain of all digests up to t; the array is lent until the search ends.
void foliot_search_begin_chain(foliot_search *search, uint64_t first, uint64_t last,
                               const uint64_t *chain);
// The chain's next value; before the first digest it is 0.
uint64_t foliot_digest_chain(uint64_t before, foliot_digest digest);

uint64_t foliot_search_get_tick(const foliot_search *search);
// Gives this side's trace of that tick; lent until the search ends.
void foliot_search_set_trace(foliot_search *search, const foliot_step_trace *ours);
// Writes the request and returns its length; 0 unless the state is REQUESTS.
size_t foliot_search_get_request(const foliot_search *search,
                                 uint8_t request[FOLIOT_SEARCH_REQUEST_BYTES_MAX]);
// Takes the response: hostile bytes. FOLIOT_STATUS_CORRUPT: the search has failed.
FOLIOT_MUST_CHECK foliot_status foliot_search_handle_response(foliot_search *search,
                                                              const uint8_t *response,
                                                              size_t length);

// The responding side. `chain` and `trace` may be NULL.
typedef struct foliot_search_responder {
    const uint64_t *chain; // as in foliot_search_begin_chain
    uint64_t first, last;
    const foliot_step_trace *trace;
} foliot_search_responder;
// Writes the response to a request: hostile bytes, FOLIOT_STATUS_CORRUPT. FOLIOT_STATUS_AGAIN: the
// trace of *tick is needed; call again with it. FOLIOT_STATUS_NOT_FOUND: no chain reaches the tick.
FOLIOT_MUST_CHECK foliot_status foliot_search_respond(
    const foliot_search_responder *responder, const uint8_t *request, size_t length,
    uint8_t response[FOLIOT_SEARCH_RESPONSE_BYTES_MAX], size_t *response_length, uint64_t *tick);

// -- the report

// The words of a report. All may be NULL.
typedef struct foliot_divergence_labels {
    const char *title;             // first words: a file's name, "session main, player 3"
    const char *part;              // the part's own name: a body's in its scene
    const char *expected, *actual; // "recorded" and "replayed", "server" and "client"
    const char *unknown;           // printed where no field is known: how to find it
    double dt;                     // of a tick, to print the time; 0: no time is printed
} foliot_divergence_labels;

// Several lines for people; one JSON object for programs. They return the length of the whole text,
// and write what fits into `capacity` bytes with a closing zero, as snprintf does. `labels` may be
// NULL.
size_t foliot_divergence_print_text(const foliot_divergence *divergence,
                                    const foliot_divergence_labels *labels, char *text,
                                    size_t capacity);
size_t foliot_divergence_print_json(const foliot_divergence *divergence,
                                    const foliot_divergence_labels *labels, char *text,
                                    size_t capacity);
// The part for people: `body 3`, `player 0`, `world`.
size_t foliot_divergence_print_part(const foliot_divergence *divergence, char *text,
                                    size_t capacity);

// -- the harness
//
// The harness tests whether a simulation is fit for lockstep, replay and rollback.
//
// One call runs the simulation through four tests, which find hidden state, forgotten fields and
// state that is not in the digest. It reports the first fault and its place.

// X(name, the report when it passes). Each test compares with one undisturbed run.
//   replay         A second instance of the same setup gets the same inputs. Finds globals,
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
    uint32_t skipped;       // tests to skip: bits 1 << foliot_harness_test
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
    // The test whose instance is called now; FOLIOT_HARNESS_TEST_COUNT: the undisturbed run. With
    // `ticks` it shows where a simulation crashed; signal handlers may read both.
    foliot_harness_test running;
    foliot_error error; // why there is no result; its status is FOLIOT_STATUS_OK where there is one
    foliot_harness_row row[FOLIOT_HARNESS_TEST_COUNT];
} foliot_harness_result;

// FOLIOT_STATUS_OK whenever there is a result, passed or not. FOLIOT_STATUS_INVALID: the config or
// the kind's table; or a step that is not one tick. FOLIOT_STATUS_MEMORY; else the status that an
// instance returned from `create` or `step`: then *result shows how far it got.
FOLIOT_MUST_CHECK foliot_status foliot_harness_run(const foliot_harness_config *config,
                                                   foliot_harness_result *result);

const char *foliot_harness_test_get_name(foliot_harness_test test);
// A table for people; one JSON object for programs. They return the length of the whole text, and
// write what fits into `capacity` bytes with a closing zero, as snprintf does.
size_t foliot_harness_print_text(const foliot_harness_result *result, char *text, size_t capacity);
size_t foliot_harness_print_json(const foliot_harness_result *result, char *text, size_t capacity);

// -- the report of a lockstep session
//
// The report on a client whose state differs from the server's in a lockstep session.
//
// Server and client locate the divergence with the search above, and each reports it with its own
// state before and after the step that diverged.

// All pointers belong to the server or client that returned the report, and are valid until its
// next update.
typedef struct foliot_divergence_report {
    const char *session;
    uint32_t player;              // FOLIOT_NO_PLAYER: a spectator
    const char *name;             // of the player or the spectator
    foliot_divergence divergence; // expected: the server's; actual: the client's
    uint32_t exchanged;           // bytes of requests and responses
    // Captured states before and after the step that produced that tick, its inputs and commands;
    // NULL where they are not known.
    const uint8_t *before, *after;
    size_t before_bytes, after_bytes;
    const foliot_input *inputs;
    uint32_t input_count;
    const foliot_command *commands;
    uint32_t command_count;
    // The simulation, and the setup of an instance.
    const foliot_simulation_kind *kind;
    const void *setup;
    size_t setup_bytes;
} foliot_divergence_report;

// Writes a recording of that one tick for foliot-replay: `state` prints it, and `compare`
// reproduces the divergence between two builds. FOLIOT_STATUS_INVALID if the states are not known;
// FOLIOT_STATUS_IO; statuses of the kind's `create` and `restore`.
FOLIOT_MUST_CHECK foliot_status
foliot_divergence_report_write(const foliot_divergence_report *found, const char *file);

// Writes a file name that is not taken yet: SESSION-divergence-TICK-PLAYER-SIDE.foliot, where
// `side` is "server" or "client".
void foliot_divergence_report_name_file(const foliot_divergence_report *found, const char *side,
                                        char *file, size_t capacity);
// The report for people, and as one JSON object; as snprintf. `scene` gives bodies their names; may
// be NULL.
size_t foliot_divergence_report_print_text(const foliot_divergence_report *found,
                                           const foliot_scene *scene, char *text, size_t capacity);
size_t foliot_divergence_report_print_json(const foliot_divergence_report *found,
                                           const foliot_scene *scene, char *text, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
