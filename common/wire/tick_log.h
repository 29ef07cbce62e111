// SPDX-License-Identifier: MIT
// tick_log.h: inputs by tick, in any order, each tick once. The server keeps closed ticks in one
// and players' inputs for future ticks in another; a client keeps the ticks that it received. All
// memory is allocated on creation.
#ifndef FOLIOT_WIRE_TICK_LOG_H
#define FOLIOT_WIRE_TICK_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/command.h"
#include "foliot/status.h"

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

#endif
