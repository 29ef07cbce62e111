// SPDX-License-Identifier: MIT
// tick_log.h: inputs and commands by tick, in any order, each tick once. The server keeps closed
// ticks in one and players' inputs for future ticks in another; a client keeps the ticks that it
// received. All memory is allocated on creation.
#ifndef FOLIOT_WIRE_TICK_LOG_H
#define FOLIOT_WIRE_TICK_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/command.h"
#include "foliot/status.h"
#include "wire/message.h"

#define FOLIOT__NO_NODE UINT32_MAX

typedef struct foliot__tick_log {
    uint64_t first;          // the oldest tick that may be here
    uint64_t next;           // all of [first, next) are here
    uint64_t end;            // and none from here on
    uint32_t capacity, used; // ticks: a power of two; inputs held
    struct foliot__logged_tick {
        uint32_t node, count;
        bool here;
    } * ticks;
    struct foliot__logged_input {
        foliot_input input;
        uint32_t next;
    } * nodes;
    uint32_t node_count, free_node;
} foliot__tick_log;

// Room for `ticks` ticks (rounded up to a power of two) and `inputs` inputs in total.
foliot_status foliot__tick_log_init(foliot__tick_log *log, uint32_t ticks, uint32_t inputs);
void foliot__tick_log_free(foliot__tick_log *log);
// Empties the log; `first` is the next tick.
void foliot__tick_log_clear(foliot__tick_log *log, uint64_t first);

// FOLIOT_STATUS_AGAIN: here already, or older than the first. FOLIOT_STATUS_FULL: beyond the ticks
// or inputs that fit.
foliot_status foliot__tick_log_put(foliot__tick_log *log, uint64_t tick, const foliot_input *inputs,
                                   uint32_t count);
bool foliot__tick_log_has(const foliot__tick_log *log, uint64_t tick);
// How many inputs the tick has; those that fit are written. 0 if it is not here.
uint32_t foliot__tick_log_read(const foliot__tick_log *log, uint64_t tick, foliot_input *inputs,
                               uint32_t capacity);
// Other values for the inputs of a tick that is here, as many as it has.
void foliot__tick_log_rewrite(foliot__tick_log *log, uint64_t tick, const foliot_input *inputs);
// Drops ticks before `tick`.
void foliot__tick_log_forget(foliot__tick_log *log, uint64_t tick);

// -- commands by tick

// The commands of closed ticks as bytes: a lockstep server keeps them for peers, and a client
// assembles them before it steps. A ring; overwritten ticks are forgotten. Bytes of a tick
// (docs/reference/protocol.md, "Commands"): the first sequence, then for each command its source
// and its canonical bytes.

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
