// SPDX-License-Identifier: MIT
// lockstep.h: what a server or a client in lockstep knows of a divergence once it was searched for:
// where it is, and its own state on both sides of the step that gave it.
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

typedef struct foliot_divergence_report {
    const char *session;
    uint32_t player;              // UINT32_MAX: a spectator
    const char *name;             // of the player or the spectator
    foliot_divergence divergence; // expected: the server's; actual: the client's
    uint32_t exchanged;           // bytes of questions and answers
    // Saved states, before the step that gave that tick and after it, and its inputs; NULL if they
    // are not known.
    const uint8_t *before, *after;
    size_t before_bytes, after_bytes;
    const foliot_input *inputs;
    uint32_t input_count;
} foliot_divergence_report;

// As a recording of that one tick, for foliot-replay: `state` shows it, and `compare` finds it
// again between two builds. Of our world alone. FOLIOT_STATUS_INVALID if the states are not known.
foliot_status foliot_divergence_report_write(const foliot_divergence_report *found,
                                             const foliot_scene *scene, const char *file);

// A file name for it that is not taken yet: SESSION-divergence-TICK-PLAYER-SIDE.foliot, `side`
// being "server" or "client".
void foliot_divergence_report_name_file(const foliot_divergence_report *found, const char *side,
                                        char *file, size_t capacity);
// The report for people, and one JSON object; `scene` names bodies and may be NULL. As snprintf.
size_t foliot_divergence_report_print_text(const foliot_divergence_report *found,
                                           const foliot_scene *scene, char *text, size_t capacity);
size_t foliot_divergence_report_print_json(const foliot_divergence_report *found,
                                           const foliot_scene *scene, char *text, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
