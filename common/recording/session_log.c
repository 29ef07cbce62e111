// SPDX-License-Identifier: MIT
// session_log.c: commands and orders by tick, found by bisection.
#include "recording/session_log.h"

#include "base/array.h"
#include "command/command.h"
#include "foliot/recording.h"

#include <stdlib.h>

void foliot__session_log_free(foliot__session_log *log)
{
    foliot_command_list_destroy(&log->commands);
    free(log->command_runs.runs);
    free(log->orders);
    free(log->order_runs.runs);
    *log = (foliot__session_log){0};
}

void foliot__session_log_clear(foliot__session_log *log)
{
    foliot_command_list_clear(&log->commands);
    log->command_runs.count = log->order_count = log->order_runs.count = 0;
}

// Room for one more run.
static bool reserve_run(foliot__tick_runs *runs)
{
    return foliot__array_grow(&runs->runs, runs->count, &runs->capacity, 16, sizeof *runs->runs);
}

// Counts what was put at `index`, with room for a run reserved.
static void extend_run(foliot__tick_runs *runs, uint64_t tick, uint32_t index)
{
    if (runs->count == 0 || runs->runs[runs->count - 1].tick != tick)
        runs->runs[runs->count++] = (foliot__tick_run){.tick = tick, .first = index};
    runs->runs[runs->count - 1].count++;
}

static const foliot__tick_run *find_run(const foliot__tick_runs *runs, uint64_t tick)
{
    uint32_t low = foliot__array_lower_bound(runs->runs, runs->count, sizeof *runs->runs, tick);
    return low < runs->count && runs->runs[low].tick == tick ? &runs->runs[low] : NULL;
}

foliot_status foliot__session_log_command(foliot__session_log *log, uint64_t tick,
                                          const foliot_command *command, size_t bytes)
{
    if (!reserve_run(&log->command_runs))
        return FOLIOT_STATUS_MEMORY;
    foliot_status status = foliot__command_list_append_decoded(&log->commands, command, bytes);
    if (status == FOLIOT_STATUS_OK)
        extend_run(&log->command_runs, tick, log->commands.count - 1);
    return status;
}

foliot_status foliot__session_log_order(foliot__session_log *log, uint64_t tick,
                                        const foliot_order *order)
{
    if (!reserve_run(&log->order_runs))
        return FOLIOT_STATUS_MEMORY;
    if (!foliot__array_grow(&log->orders, log->order_count, &log->order_capacity, 16,
                            sizeof *log->orders))
        return FOLIOT_STATUS_MEMORY;
    log->orders[log->order_count] = *order;
    extend_run(&log->order_runs, tick, log->order_count++);
    return FOLIOT_STATUS_OK;
}

uint32_t foliot__session_log_commands_at(const foliot__session_log *log, uint64_t tick,
                                         const foliot_command **commands)
{
    const foliot__tick_run *run = find_run(&log->command_runs, tick);
    *commands = run ? log->commands.commands + run->first : NULL;
    return run ? run->count : 0;
}

uint32_t foliot__session_log_orders_at(const foliot__session_log *log, uint64_t tick,
                                       const foliot_order **orders)
{
    const foliot__tick_run *run = find_run(&log->order_runs, tick);
    *orders = run ? log->orders + run->first : NULL;
    return run ? run->count : 0;
}

bool foliot__commands_recordable(const foliot_command *commands, uint32_t count)
{
    if (count > FOLIOT_COMMANDS_MAX)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!foliot_command_valid(&commands[i], NULL) ||
            commands[i].source >= FOLIOT__COMMAND_SOURCES ||
            (i && commands[i].sequence <= commands[i - 1].sequence))
            return false;
    return true;
}

bool foliot__order_valid(const foliot_order *order, uint32_t features)
{
    if (order->kind == FOLIOT_ORDER_DROPPED)
        return (features & FOLIOT_RECORDING_RULES) && order->player == FOLIOT_PLAYERS_MAX &&
               order->length == FOLIOT_ORDER_DROPPED_BYTES;
    if (order->player >= FOLIOT_PLAYERS_MAX)
        return false;
    if (order->kind == FOLIOT_ORDER_AIMED)
        return (features & FOLIOT_RECORDING_HISTORY) && order->length == FOLIOT_ORDER_AIMED_BYTES;
    return order->kind <= FOLIOT_ORDER_LEFT && order->length <= FOLIOT_ORDER_BYTES_MAX;
}

bool foliot__orders_recordable(const foliot_order *orders, uint32_t count, uint32_t features)
{
    for (uint32_t i = 0; i < count; i++) {
        const foliot_order *now = &orders[i], *before = i ? &orders[i - 1] : NULL;
        bool grows = !before || now->player > before->player ||
                     (now->player == before->player && now->sequence > before->sequence);
        if (!grows || !foliot__order_valid(now, features))
            return false;
    }
    return true;
}
