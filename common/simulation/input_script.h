// SPDX-License-Identifier: MIT
// input_script.h: inputs written by hand, one a line, for the lab and for bots that play from a
// file:
//
//     # tick player what      x y z turn  buttons
//     0      0      join
//     30     0      control   0 0 127 0
//     90     0      control   0 0 0 -64   0x1
//     600    0      leave
//
// An input of tick t is given to the step from t to t + 1. Controls are held until the player's
// next line; axes are -127..127, buttons may be left out (0). Lines stand in order of tick; within
// a tick they are ordered by player, and a player's lines keep their order. Each player's sequence
// counts its lines.
#ifndef FOLIOT_SIMULATION_INPUT_SCRIPT_H
#define FOLIOT_SIMULATION_INPUT_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

#include "foliot/command.h"
#include "foliot/status.h"

typedef struct foliot__input_script {
    uint64_t *ticks; // of inputs[i], never falling
    foliot_input *inputs;
    uint32_t count;
} foliot__input_script;

// `message` gets "FILE:LINE:COLUMN: sentence" (or "FILE: sentence"). FOLIOT_STATUS_IO,
// FOLIOT_STATUS_INVALID, FOLIOT_STATUS_MEMORY; on FOLIOT_STATUS_OK free with
// foliot__input_script_free.
foliot_status foliot__input_script_read(const char *file, foliot__input_script *script,
                                        char *message, size_t message_bytes);
foliot_status foliot__input_script_parse(const char *text, size_t length, const char *name,
                                         foliot__input_script *script, char *message,
                                         size_t message_bytes);
// Inputs of one tick, in the order that foliot_world_step wants.
uint32_t foliot__input_script_at(const foliot__input_script *script, uint64_t tick,
                                 const foliot_input **inputs);
void foliot__input_script_free(foliot__input_script *script);

#endif
