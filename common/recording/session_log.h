// SPDX-License-Identifier: MIT
// session_log.h: commands and orders that entered a session, tick by tick; its name and its
// players; orders written by hand. Most ticks have none and cost nothing.
#ifndef FOLIOT_RECORDING_SESSION_LOG_H
#define FOLIOT_RECORDING_SESSION_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pack.h"
#include "foliot/command.h"
#include "foliot/recording.h"
#include "foliot/rules.h"
#include "foliot/simulation.h"

// Items of one tick are neighbours.
typedef struct foliot__tick_run {
    uint64_t tick;
    uint32_t first, count;
} foliot__tick_run;

typedef struct foliot__tick_runs {
    foliot__tick_run *runs; // ascending ticks
    uint32_t count, capacity;
} foliot__tick_runs;

// All zero is an empty log.
typedef struct foliot__session_log {
    foliot_command_list commands;
    foliot__tick_runs command_runs;
    foliot_order *orders;
    uint32_t order_count, order_capacity;
    foliot__tick_runs order_runs;
} foliot__session_log;

void foliot__session_log_free(foliot__session_log *log);
void foliot__session_log_clear(foliot__session_log *log); // keeps the memory
// A command that was decoded from `bytes` bytes. `tick` is not before the last one's.
// FOLIOT_STATUS_MEMORY; FOLIOT_STATUS_FULL beyond FOLIOT_COMMANDS_MAX.
foliot_status foliot__session_log_command(foliot__session_log *log, uint64_t tick,
                                          const foliot_command *command, size_t bytes);
foliot_status foliot__session_log_order(foliot__session_log *log, uint64_t tick,
                                        const foliot_order *order);
// The commands of one tick; lent until the log changes. Returns how many there are.
uint32_t foliot__session_log_commands_at(const foliot__session_log *log, uint64_t tick,
                                         const foliot_command **commands);
uint32_t foliot__session_log_orders_at(const foliot__session_log *log, uint64_t tick,
                                       const foliot_order **orders);

// All records of one tick but its digest.
typedef struct foliot__recorded_tick {
    foliot_tick_inputs inputs;
    const foliot_order *orders;
    uint32_t order_count;
} foliot__recorded_tick;

// Whether a tick's commands may be recorded: each of them valid, of a known source, with sequences
// that grow; orders within their bounds, ordered by (player, sequence).
bool foliot__commands_recordable(const foliot_command *commands, uint32_t count);
bool foliot__orders_recordable(const foliot_order *orders, uint32_t count, uint32_t features);
// Whether it has the kind, the player and the length of an order of a recording with these features
// (bits of foliot_recording_feature).
bool foliot__order_valid(const foliot_order *order, uint32_t features);

// -- the journal

// Data of the session in a recording: its name and its players. They are notes, which a
// replay ignores. A server that resumes the recording recognises its players by them.

#define FOLIOT__NOTE_WHAT_BYTES 16
#define FOLIOT__NOTE_TEXT_BYTES 112 // longer ones are cut when they are read

typedef struct foliot__recording_note {
    uint64_t tick;
    char what[FOLIOT__NOTE_WHAT_BYTES], text[FOLIOT__NOTE_TEXT_BYTES];
} foliot__recording_note;

typedef struct foliot__journal {
    char session[FOLIOT_NAME_BYTES];
    bool lockstep;
    foliot_recorded_player players[FOLIOT_PLAYERS_MAX]; // by player
    bool here[FOLIOT_PLAYERS_MAX];
} foliot__journal;

void foliot__journal_note(foliot__journal *journal, const foliot__recording_note *note);
void foliot__journal_input(foliot__journal *journal, const foliot_input *input);
void foliot__journal_order(foliot__journal *journal, const foliot_order *order);
// Moves the players present to the front of `players`. Returns how many there are.
uint32_t foliot__journal_gather(foliot__journal *journal);
// The text of a "player" note, and with the name "" of a "token" note.
void foliot__journal_player_text(char text[FOLIOT__NOTE_TEXT_BYTES], uint32_t player,
                                 foliot_player_proof proof, const char *name);

// -- orders written by hand

// Orders, one a line, for rules that are run in the lab:
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
