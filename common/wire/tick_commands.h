// SPDX-License-Identifier: MIT
// tick_commands.h: the commands of closed ticks as bytes, by tick: a lockstep server keeps them for
// peers, and a client assembles them before it steps. A ring; overwritten ticks are forgotten.
// Bytes of a tick (docs/reference/protocol.md, "Commands"): the first sequence, then for each
// command its source and its canonical bytes.
#ifndef FOLIOT_WIRE_TICK_COMMANDS_H
#define FOLIOT_WIRE_TICK_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/command.h"
#include "wire/message.h"

typedef struct foliot__tick_commands {
    uint64_t tick;  // valid if `due`
    bool due;       // the tick has commands
    uint32_t total; // bytes; 0: not known yet
    uint32_t have;
    uint8_t *bytes;
} foliot__tick_commands;

typedef struct foliot__command_log {
    foliot__tick_commands *ring; // NULL: no tick has commands
    uint32_t capacity;
    size_t bytes, bytes_max; // held, and at most
} foliot__command_log;

// `capacity` ticks; the ring is allocated with the first commands.
void foliot__command_log_init(foliot__command_log *log, uint32_t capacity, size_t bytes_max);
void foliot__command_log_clear(foliot__command_log *log);
void foliot__command_log_free(foliot__command_log *log);
// NULL: the tick has none that are known.
const foliot__tick_commands *foliot__command_log_find(const foliot__command_log *log,
                                                      uint64_t tick);
static inline bool foliot__tick_commands_whole(const foliot__tick_commands *commands)
{
    return commands->total > 0 && commands->have == commands->total;
}
void foliot__command_log_forget(foliot__command_log *log, uint64_t tick); // that one's bytes

// All of a tick. FOLIOT_STATUS_MEMORY.
foliot_status foliot__command_log_put(foliot__command_log *log, uint64_t tick,
                                      const foliot_command_list *list);
// A part that has come, in order. False if it fits nothing that is known.
bool foliot__command_log_receive(foliot__command_log *log, const foliot__commands_part *part);
// Appends the commands of a whole tick to the list. Hostile bytes give a status.
foliot_status foliot__tick_commands_read(const foliot__tick_commands *commands,
                                         foliot_command_list *list);
// The commands of a tick as the whole list, which is empty if they cannot be read.
foliot_status foliot__command_log_read(const foliot__command_log *log, uint64_t tick,
                                       foliot_command_list *list);

// Which ticks of [from, end) have commands, as lengths of runs: without, with, without, ... Ticks
// behind the last run have none. If that takes more than FOLIOT__COMMAND_RUNS_BYTES, it covers
// fewer ticks from the front (*end is smaller) or from the back (*from is greater; for `newest`).
size_t foliot__command_runs(const foliot__command_log *log, uint64_t *from, uint64_t *end,
                            bool newest, uint8_t bytes[FOLIOT__COMMAND_RUNS_BYTES]);
// Marks the ticks of such runs. Hostile bytes give false; the runs before the wrong one are marked.
bool foliot__command_runs_read(foliot__command_log *log, uint64_t from, uint64_t end,
                               const uint8_t *bytes, size_t length);

#endif
