// SPDX-License-Identifier: MIT
// lockstep.h: the report on a client whose state differs from the server's in a lockstep session.
//
// Server and client find the place by the search of divergence.h and each report it, with their own
// state before and after the step that diverged.
#ifndef FOLIOT_LOCKSTEP_H
#define FOLIOT_LOCKSTEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/divergence.h"
#include "foliot/input.h"
#include "foliot/scene.h"
#include "foliot/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Everything that it points to belongs to the server or client that gave it, until its next update.
typedef struct foliot_divergence_report {
    const char *session;
    uint32_t player;              // FOLIOT_NO_PLAYER: a spectator
    const char *name;             // of the player or the spectator
    foliot_divergence divergence; // expected: the server's; actual: the client's
    uint32_t exchanged;           // bytes of requests and responses
    // Captured states before and after the step that gave that tick, its inputs and commands; NULL
    // where they are not known.
    const uint8_t *before, *after;
    size_t before_bytes, after_bytes;
    const foliot_input *inputs;
    uint32_t input_count;
    const foliot_command *commands;
    uint32_t command_count;
    // The simulation, and what an instance of it is made from.
    const foliot_simulation_kind *kind;
    const void *setup;
    size_t setup_bytes;
} foliot_divergence_report;

// Writes a recording of that one tick for foliot-replay: `state` shows it, and `compare` finds it
// again between two builds. FOLIOT_STATUS_INVALID if the states are not known; FOLIOT_STATUS_IO;
// statuses of the kind's `create` and `restore`.
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
