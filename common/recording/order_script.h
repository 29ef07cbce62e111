// SPDX-License-Identifier: MIT
// order_script.h: orders written by hand, one a line, for rules that are run in the lab:
//
//     # tick player what text
//     20     0      joined eve
//     39     0      game throw 1 0 0.5
//     45     0      bytes 00ff07
//     60     0      chat hello, everybody
//     90     0      left
//
// An order of tick t is closed with the step from t to t + 1; rules see it after that step. The
// text is the rest of the line without blanks around it; `bytes` are hexadecimal digits of an order
// of the game. Lines stand in order of tick; within a tick they are ordered by player, and a
// player's lines keep their order. Each player's sequence counts its lines. Empty lines and those
// that begin with # are skipped.
#ifndef FOLIOT_RECORDING_ORDER_SCRIPT_H
#define FOLIOT_RECORDING_ORDER_SCRIPT_H

#include "base/pack.h"
#include "foliot/rules.h"

typedef struct foliot__scripted_order {
    uint64_t tick;
    size_t at; // in `bytes`
    uint32_t player, sequence;
    uint8_t kind, length;
} foliot__scripted_order;

typedef struct foliot__order_script {
    foliot__scripted_order *orders; // ticks never fall
    uint32_t count, capacity;
    foliot__buffer bytes;
    foliot_order *given; // of the last tick that was requested
    uint32_t given_capacity;
} foliot__order_script;

// Players are below `players`. `message` gets "FILE:LINE:COLUMN: sentence" (or "FILE: sentence").
// FOLIOT_STATUS_IO, FOLIOT_STATUS_INVALID, FOLIOT_STATUS_MEMORY; on FOLIOT_STATUS_OK free with
// foliot__order_script_free.
foliot_status foliot__order_script_read(const char *file, uint32_t players,
                                        foliot__order_script *script, char *message,
                                        size_t message_bytes);
foliot_status foliot__order_script_parse(const char *text, size_t length, const char *name,
                                         uint32_t players, foliot__order_script *script,
                                         char *message, size_t message_bytes);
// Those of one tick, as a recording wants them; valid until the next call. FOLIOT_STATUS_MEMORY.
foliot_status foliot__order_script_at(foliot__order_script *script, uint64_t tick,
                                      const foliot_order **orders, uint32_t *count);
void foliot__order_script_free(foliot__order_script *script);

#endif
