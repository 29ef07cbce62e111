// SPDX-License-Identifier: MIT
// session_log.c: commands and orders by tick, found by bisection, and the journal of a session.
#include "recording/session_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "command/command.h"
#include "foliot/recording.h"

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

// -- the journal

// Notes come from a file and are not trusted; invalid ones are ignored.

void foliot__journal_player_text(char text[FOLIOT__NOTE_TEXT_BYTES], uint32_t player,
                                 foliot_player_proof proof, const char *name)
{
    char hex[2 * sizeof proof.bytes + 1];
    snprintf(text, FOLIOT__NOTE_TEXT_BYTES, "%" PRIu32 " %s %.*s", player,
             foliot__hex_print(hex, proof.bytes, sizeof proof.bytes), FOLIOT_NAME_BYTES - 1, name);
}

// The number that the text begins with; NULL: none of a player.
static foliot_recorded_player *player_of(foliot__journal *journal, const char *text,
                                         const char **rest)
{
    char *end;
    unsigned long player = strtoul(text, &end, 10);
    if (end == text || player >= FOLIOT_PLAYERS_MAX)
        return NULL;
    *rest = end;
    journal->players[player].player = (uint32_t)player;
    return &journal->players[player];
}

// " 0123..." and a space: 32 digits. Returns what follows; NULL: the text is not a proof.
static const char *parse_proof(const char *text, foliot_player_proof *proof)
{
    const char *end = text + 1 + 2 * sizeof proof->bytes;
    return *text == ' ' && foliot__hex_read(text + 1, proof->bytes, sizeof proof->bytes) &&
                   *end == ' '
               ? end + 1
               : NULL;
}

void foliot__journal_note(foliot__journal *journal, const foliot__recording_note *note)
{
    static const foliot_player_proof none;
    foliot_player_proof proof;
    if (strcmp(note->what, "session") == 0)
        foliot__text_clean(journal->session, FOLIOT_NAME_BYTES, note->text);
    if (strcmp(note->what, "mode") == 0)
        journal->lockstep = strcmp(note->text, "lockstep") == 0;
    bool is_player = strcmp(note->what, "player") == 0, is_token = strcmp(note->what, "token") == 0,
         acknowledges = strcmp(note->what, "heard") == 0;
    if (!is_player && !is_token && !acknowledges)
        return;
    const char *rest = NULL;
    foliot_recorded_player *p = player_of(journal, note->text, &rest);
    if (p && acknowledges)
        memset(&p->before, 0, sizeof p->before);
    const char *name = p && !acknowledges ? parse_proof(rest, &proof) : NULL;
    if (name && is_player) {
        *p = (foliot_recorded_player){.player = p->player, .proof = proof};
        foliot__text_clean(p->name, FOLIOT_NAME_BYTES, name);
    } else if (name) {
        // A proof that was never acknowledged is replaced, and the one before it still holds.
        if (memcmp(&p->before, &none, sizeof none) == 0)
            p->before = p->proof;
        p->proof = proof;
    }
}

void foliot__journal_input(foliot__journal *journal, const foliot_input *input)
{
    foliot_recorded_player *p = &journal->players[input->player];
    p->player = input->player;
    p->sequence = input->sequence;
    if (input->kind == FOLIOT_INPUT_JOIN)
        p->join_sequence = input->sequence;
    journal->here[input->player] =
        input->kind != FOLIOT_INPUT_LEAVE &&
        (journal->here[input->player] || input->kind == FOLIOT_INPUT_JOIN);
}

void foliot__journal_order(foliot__journal *journal, const foliot_order *order)
{
    if (order->kind == FOLIOT_ORDER_DROPPED)
        return; // of the host
    foliot_recorded_player *p = &journal->players[order->player];
    p->order_sequence = order->sequence;
    p->orders_aimed += order->kind == FOLIOT_ORDER_AIMED;
}

uint32_t foliot__journal_gather(foliot__journal *journal)
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < FOLIOT_PLAYERS_MAX; p++)
        if (journal->here[p])
            journal->players[count++] = journal->players[p];
    return count;
}
