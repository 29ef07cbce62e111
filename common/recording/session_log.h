// SPDX-License-Identifier: MIT
// session_log.h: commands and orders that entered a session, tick by tick. Most ticks have none and
// cost nothing.
#ifndef FOLIOT_RECORDING_SESSION_LOG_H
#define FOLIOT_RECORDING_SESSION_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/command.h"
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

#endif
