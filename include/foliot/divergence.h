// SPDX-License-Identifier: MIT
// divergence.h: where two runs of one simulation part. One side asks, the other answers, down a
// tree: tick, stage, group of parts, part, group of fields, field. At most 2 kB go both ways,
// whatever the size of the states. No I/O: questions and answers are bytes that the caller carries.
// Replay, compare and lockstep use this one search and this one report.
#ifndef FOLIOT_DIVERGENCE_H
#define FOLIOT_DIVERGENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/simulation.h"
#include "foliot/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Where two runs differ first. What is not known is said so. Names live as long as the kind.
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
    const char *field_name; // NULL: it has none
    foliot_value_type type;
    uint64_t expected, actual; // bit patterns, if field_known: the asking side's and the other's
    uint64_t ulps; // distance of the two in representable values; of integers, their difference
    uint32_t parts, fields; // that differ at this place in all; 0: not counted
} foliot_divergence;

// Distance in representable values. -0 and 0 are neighbours.
uint64_t foliot_value_get_distance(foliot_value_type type, uint64_t a, uint64_t b);
// So many representable values (or units) on.
uint64_t foliot_value_advance(foliot_value_type type, uint64_t bits, int64_t by);

// -- one side's truth at one tick

// The numbers of all parts after every stage of the step that gave a tick, and those that the run
// itself held at that tick: after a step repeated for the search these two can differ, where what
// went wrong did not happen again.
typedef struct foliot_step_trace foliot_step_trace;

foliot_status foliot_step_trace_create(foliot_step_trace **truth);
void foliot_step_trace_destroy(foliot_step_trace *truth);
// Forgets all, for the truth of `tick`. Its memory is kept.
void foliot_step_trace_reset(foliot_step_trace *truth, uint64_t tick);
// Steps `simulation` from the tick before, and takes its parts after each stage.
foliot_status foliot_step_trace_step(foliot_step_trace *truth, foliot_simulation *simulation,
                                     const foliot_input *inputs, uint32_t count);
// The parts of `simulation` as they are now: what the run held. FOLIOT_STATUS_MEMORY.
foliot_status foliot_step_trace_capture_held(foliot_step_trace *truth,
                                             const foliot_simulation *simulation);
// The parts of `simulation` after one stage, for hosts with hooks of their own.
foliot_status foliot_step_trace_capture_stage(foliot_step_trace *truth, uint32_t stage,
                                              const foliot_simulation *simulation);
uint64_t foliot_step_trace_get_tick(const foliot_step_trace *truth);

// Both truths at hand: the first stage, part and field that differ, and how many do there. False:
// none.
bool foliot_step_trace_compare(const foliot_step_trace *expected, const foliot_step_trace *actual,
                               foliot_divergence *divergence);

// -- the search

#define FOLIOT_SEARCH_REQUEST_BYTES_MAX 24
#define FOLIOT_SEARCH_RESPONSE_BYTES_MAX 160
#define FOLIOT_SEARCH_BYTES_MAX 2048 // of a whole search, both ways

typedef enum foliot_search_state {
    FOLIOT_SEARCH_REQUESTS,    // foliot_search_get_request has a question
    FOLIOT_SEARCH_NEEDS_TRACE, // of foliot_search_get_tick: foliot_search_set_trace
    FOLIOT_SEARCH_FOUND,       // `found` is the report, as far as it is known
    FOLIOT_SEARCH_EQUAL,       // the two sides agree on all that was asked
    FOLIOT_SEARCH_FAILED,      // the other side's answers make no sense, or were too many
} foliot_search_state;

// The asking side. Begun by one of the two functions below; the rest is its own.
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

// The tick is known, as in lockstep, where digests are compared at every one.
void foliot_search_begin(foliot_search *search, uint64_t tick);
// It is one of first .. last: chain[t - first] is foliot_digest_chain of all digests up to t, and
// must stay where it is.
void foliot_search_begin_chain(foliot_search *search, uint64_t first, uint64_t last,
                               const uint64_t *chain);
uint64_t foliot_digest_chain(uint64_t before, foliot_digest digest); // before the first: 0

uint64_t foliot_search_get_tick(const foliot_search *search);
// Our truth of that tick; must stay until the search is over.
void foliot_search_set_trace(foliot_search *search, const foliot_step_trace *ours);
// The question, and how many bytes it has; 0 unless the state is ASKS.
size_t foliot_search_get_request(const foliot_search *search,
                                 uint8_t question[FOLIOT_SEARCH_REQUEST_BYTES_MAX]);
// Its answer: hostile bytes. FOLIOT_STATUS_CORRUPT: the search has failed.
foliot_status foliot_search_handle_response(foliot_search *search, const uint8_t *answer,
                                            size_t length);

// The answering side: what of it is there may be NULL. Questions are hostile bytes too:
// FOLIOT_STATUS_CORRUPT. FOLIOT_STATUS_AGAIN: the truth of *tick is wanted (then ask again).
// FOLIOT_STATUS_NOT_FOUND: no chain reaches it.
typedef struct foliot_search_responder {
    const uint64_t *chain; // as in foliot_search_begin_chain
    uint64_t first, last;
    const foliot_step_trace *trace;
} foliot_search_responder;
foliot_status foliot_search_respond(const foliot_search_responder *answerer,
                                    const uint8_t *question, size_t length,
                                    uint8_t answer[FOLIOT_SEARCH_RESPONSE_BYTES_MAX],
                                    size_t *answer_length, uint64_t *tick);

// -- the report

// Who is who in a report. All may be NULL.
typedef struct foliot_divergence_labels {
    const char *title;             // first words: a file's name, "session main, player 3"
    const char *part;              // the part's own name: a body's in its scene
    const char *expected, *actual; // "recorded" and "replayed", "server" and "client"
    const char *unknown;           // said where no field is known: how to come to know it
    double dt;                     // 0: no time is told
} foliot_divergence_labels;

// For people, several lines; and for programs, one JSON object. As snprintf: answers how many bytes
// there are, and writes what fits, with a zero.
size_t foliot_divergence_print_text(const foliot_divergence *divergence,
                                    const foliot_divergence_labels *names, char *text,
                                    size_t capacity);
size_t foliot_divergence_print_json(const foliot_divergence *divergence,
                                    const foliot_divergence_labels *names, char *text,
                                    size_t capacity);
// The part for people: `body 3`, `player 0`, `world`.
size_t foliot_divergence_print_part(const foliot_divergence *divergence, char *text,
                                    size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
