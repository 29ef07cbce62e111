// SPDX-License-Identifier: MIT
// rules.c: an instance of rules: its output in the last tick, its random stream, and its state as
// bytes. It calls the rules and bounds their output; it knows no language and no network.
//
// Invariant: stopped rules hold a problem and have no output.
#include "rules/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "base/rng.h"
#include "base/text.h"

#define SAVE_VERSION 1
#define MESSAGES_MAX 64
#define PROBLEM_BYTES 512
#define REASON_BYTES FOLIOT_VAR_TEXT_BYTES
#define LATE_TICKS_MAX 100          // in a row, in which the host dropped something
#define HOST_DROPS_MAX 4            // in a tick: in each of its three parts, and of all orders
#define LATE_SAVES_MAX 8            // in a row, that the host did not finish
#define SEED_OF_RULES 0x73656c7572u // keeps their stream apart from others of the scene's seed

typedef struct message {
    uint32_t player;
    bool reliable;
    uint16_t length;
    uint8_t bytes[FOLIOT_MESSAGE_BYTES_MAX];
} message;

typedef struct kick {
    uint32_t player;
    bool passes;
    char reason[REASON_BYTES];
} kick;

typedef struct refusal {
    uint32_t player, count;
} refusal;

// The values are saved. Rules that the host stopped may continue in a rerun: its memory and its
// clock are not recorded.
enum { RUNNING, STOPPED, STOPPED_BY_HOST, RUNNING_LATE };

// Drops by the host's clock and memory, and of orders that exceed their player's bytes.
typedef struct host_drops {
    bool reruns;                               // the tick is of a recording
    uint64_t given[FOLIOT_ORDERS_DROPPED_MAX]; // checks at which a rerun drops
    uint32_t given_count;
    bool late;                       // the host dropped something in this tick
    bool orders_late;                // orders took all the time that they have
    uint32_t late_ticks, late_saves; // in a row
    const char *save_late;           // why the last save of the tick failed; NULL if it did not
    bool save_whole;                 // the save that runs takes the time that it needs
} host_drops;

struct foliot_rules {
    const foliot_rules_kind *kind;
    const foliot_scene *scene;
    void *self;
    foliot__rng rng;
    foliot_command_list commands;
    message messages[MESSAGES_MAX];
    uint32_t message_count;
    kick *kicks;
    uint32_t kick_count, kick_capacity;
    bool open;       // the rules run: they may give commands and the rest
    bool no_memory;  // for a kick, which returns no status
    uint8_t stopped; // RUNNING, STOPPED or STOPPED_BY_HOST
    bool by_host;    // failures from here on count as stops by the host
    host_drops host;
    refusal *refusals; // of the last tick, by player
    uint32_t refusal_count, refusal_capacity;
    foliot_rules_drops drops; // of the last tick
    char drop[PROBLEM_BYTES]; // why the first of them was
    char problem[PROBLEM_BYTES];
    foliot_history *history; // NULL: the rules do not look back
    uint64_t tick;           // of the last view
    uint16_t *aims;          // with a history, of each player: FOLIOT_ORDER_AIMED
    uint8_t *saved;          // the bytes of the whole instance, until something changes it
    size_t saved_length;
    const char *script;
    size_t script_length;
};

static void clear_given(foliot_rules *rules)
{
    foliot_command_list_clear(&rules->commands);
    rules->message_count = 0;
    rules->kick_count = 0;
    rules->no_memory = false;
    rules->refusal_count = 0;
}

static void clear_results(foliot_rules *rules)
{
    clear_given(rules);
    rules->drops.count = rules->drops.order_count = 0;
    rules->drops.why = rules->drop;
    rules->drop[0] = 0;
}

static void forget_saved(foliot_rules *rules)
{
    free(rules->saved);
    rules->saved = NULL;
    rules->saved_length = 0;
}

// Stops the rules for good. An empty `problem` becomes the sentence of the status. Drops by the
// host earlier in this tick are kept: a rerun of the tick must drop the same callbacks.
static void stop(foliot_rules *rules, foliot_status status, const char *problem)
{
    clear_given(rules);
    forget_saved(rules);
    rules->stopped = rules->by_host ? STOPPED_BY_HOST : STOPPED;
    foliot__text_clean(rules->problem, sizeof rules->problem, problem);
    if (!rules->problem[0]) // nothing of it can be shown
        snprintf(rules->problem, sizeof rules->problem, "%s", foliot_status_get_text(status));
}

// -- what rules do

foliot_status foliot_rules_command(foliot_rules *rules, const foliot_command *command)
{
    if (!rules->open || !foliot_command_valid(command, NULL))
        return FOLIOT_STATUS_INVALID;
    foliot_command copy = *command;
    copy.sequence = 0;
    copy.source = FOLIOT_COMMAND_SOURCE_RULES;
    size_t bytes = foliot_command_encode(&copy, NULL, 0);
    if (rules->commands.count >= rules->scene->commands_max ||
        bytes > FOLIOT_COMMAND_TICK_BYTES_MAX - rules->commands.encoded_bytes)
        return FOLIOT_STATUS_FULL;
    return foliot_command_list_append(&rules->commands, &copy);
}

foliot_status foliot_rules_message(foliot_rules *rules, uint32_t player, const void *bytes,
                                   size_t length, bool reliable)
{
    if (!rules->open || length > FOLIOT_MESSAGE_BYTES_MAX ||
        (player != FOLIOT_TO_ALL && player >= FOLIOT_PLAYERS_MAX))
        return FOLIOT_STATUS_INVALID;
    if (rules->message_count == MESSAGES_MAX)
        return FOLIOT_STATUS_FULL;
    message *m = &rules->messages[rules->message_count++];
    *m = (message){.player = player, .reliable = reliable, .length = (uint16_t)length};
    if (length)
        memcpy(m->bytes, bytes, length);
    return FOLIOT_STATUS_OK;
}

// The first reason for a player counts.
static void add_kick(foliot_rules *rules, uint32_t player, bool passes, const char *reason)
{
    if (!rules->open || player >= FOLIOT_PLAYERS_MAX)
        return;
    for (uint32_t i = 0; i < rules->kick_count; i++)
        if (rules->kicks[i].player == player)
            return;
    if (!foliot__array_grow(&rules->kicks, rules->kick_count, &rules->kick_capacity, 8,
                            sizeof *rules->kicks)) {
        rules->no_memory = true;
        return;
    }
    kick *k = &rules->kicks[rules->kick_count++];
    k->player = player;
    k->passes = passes;
    foliot__text_clean(k->reason, sizeof k->reason, reason ? reason : "");
}

void foliot_rules_kick(foliot_rules *rules, uint32_t player, const char *reason)
{
    add_kick(rules, player, false, reason);
}

void foliot__rules_dismiss(foliot_rules *rules, uint32_t player, const char *reason)
{
    add_kick(rules, player, true, reason);
}

bool foliot__rules_kick_passes(const foliot_rules *rules, uint32_t index)
{
    return index < rules->kick_count && rules->kicks[index].passes;
}

void foliot_rules_refuse_order(foliot_rules *rules, uint32_t player)
{
    if (!rules->open || player >= FOLIOT_PLAYERS_MAX)
        return;
    refusal *last = rules->refusal_count ? &rules->refusals[rules->refusal_count - 1] : NULL;
    if (last && last->player == player) {
        last->count++;
        return;
    }
    if (!foliot__array_grow(&rules->refusals, rules->refusal_count, &rules->refusal_capacity, 8,
                            sizeof *rules->refusals))
        return; // they are only counted
    rules->refusals[rules->refusal_count++] = (refusal){player, 1};
}

void foliot_rules_drop(foliot_rules *rules, const char *why)
{
    if (!rules->open)
        return;
    rules->drops.count++;
    if (!rules->drop[0])
        foliot__text_clean(rules->drop, sizeof rules->drop, why);
}

// -- what the host left out

bool foliot__rules_reruns(const foliot_rules *rules)
{
    return rules->host.reruns;
}

uint64_t foliot__rules_get_next_drop(const foliot_rules *rules)
{
    const uint32_t next = rules->drops.order_count;
    return next < rules->host.given_count ? rules->host.given[next] : UINT64_MAX;
}

bool foliot__rules_may_drop_alone(const foliot_rules *rules)
{
    return rules->drops.order_count < FOLIOT_ORDERS_DROPPED_MAX - HOST_DROPS_MAX;
}

void foliot__rules_drop_at(foliot_rules *rules, uint64_t check)
{
    foliot_rules_drops *drops = &rules->drops;
    rules->host.late |= !(check & (FOLIOT__RULES_ALONE | FOLIOT__RULES_ORDERS));
    rules->host.orders_late |= (check & FOLIOT__RULES_ORDERS) != 0;
    FOLIOT_ASSERT(drops->order_count < FOLIOT_ORDERS_DROPPED_MAX);
    foliot_order *order = &drops->orders[drops->order_count];
    *order = (foliot_order){.player = FOLIOT_PLAYERS_MAX,
                            .sequence = drops->order_count++,
                            .kind = FOLIOT_ORDER_DROPPED,
                            .length = FOLIOT_ORDER_DROPPED_BYTES};
    foliot__writer w = foliot__writer_of(order->bytes, sizeof order->bytes);
    foliot__write_u64(&w, check);
}

void foliot__rules_save_late(foliot_rules *rules, const char *why)
{
    rules->host.save_late = why;
}

const char *foliot__rules_why_save_late(const foliot_rules *rules)
{
    return rules->host.save_late;
}

bool foliot__rules_saves_whole(const foliot_rules *rules)
{
    return rules->host.save_whole;
}

bool foliot__rules_stopped_by_host(const foliot_rules *rules)
{
    return rules->stopped == STOPPED_BY_HOST;
}

// Takes the host's orders, which are the last ones, out of the view.
static void read_dropped(foliot_rules *rules, foliot_rules_view *view)
{
    host_drops *host = &rules->host;
    uint32_t end = view->order_count, first = end;
    while (first > 0 && view->orders[first - 1].kind == FOLIOT_ORDER_DROPPED)
        first--;
    view->order_count = first;
    host->given_count = 0;
    for (; host->reruns && first < end && host->given_count < FOLIOT_ORDERS_DROPPED_MAX; first++) {
        foliot__reader r = foliot__reader_of(view->orders[first].bytes, view->orders[first].length);
        host->given[host->given_count++] = foliot__read_u64(&r);
    }
}

void foliot__rules_stop_by_host(foliot_rules *rules)
{
    rules->by_host = true;
}

uint64_t foliot_rules_draw(foliot_rules *rules)
{
    return foliot__rng_u64(&rules->rng);
}

// -- what players saw

double foliot_rules_get_aimed_tick(const foliot_rules *rules, uint32_t player)
{
    uint64_t oldest = rules->history ? foliot_history_get_oldest(rules->history) : rules->tick;
    if (!rules->aims || player >= rules->scene->players.limit)
        return (double)rules->tick;
    double tick = (double)rules->tick - (double)rules->aims[player] / FOLIOT_AIM_PARTS;
    return tick > (double)oldest ? tick : (double)oldest;
}

void foliot_rules_aim(foliot_rules *rules, const foliot_order *order)
{
    if (!rules->aims || order->player >= rules->scene->players.limit)
        return;
    if (order->kind == FOLIOT_ORDER_AIMED && order->length == FOLIOT_ORDER_AIMED_BYTES)
        rules->aims[order->player] = (uint16_t)(order->bytes[0] | order->bytes[1] << 8);
    else if (order->kind == FOLIOT_ORDER_JOINED || order->kind == FOLIOT_ORDER_LEFT)
        rules->aims[order->player] = 0;
}

// Orders stand by player: the first aims of each are those that its controls had, the last ones
// stay.
static void apply_aims(foliot_rules *rules, const foliot_rules_view *view, bool first)
{
    uint32_t taken = UINT32_MAX;
    for (uint32_t i = 0; rules->aims && i < view->order_count; i++) {
        const foliot_order *order = &view->orders[i];
        if (first && order->player == taken)
            continue;
        foliot_rules_aim(rules, order);
        taken = order->kind == FOLIOT_ORDER_AIMED ? order->player : taken;
    }
}

void foliot__rules_set_script(foliot_rules *rules, const char *script, size_t length)
{
    rules->script = script;
    rules->script_length = length;
}

// -- instances

foliot_status foliot_rules_create(const foliot_rules_kind *kind, const foliot_scene *scene,
                                  foliot_rules **rules, char *problem, size_t problem_bytes)
{
    if (problem_bytes)
        problem[0] = 0;
    if (!kind->name || !kind->name[0] || strlen(kind->name) >= FOLIOT_NAME_BYTES)
        return FOLIOT_STATUS_INVALID;
    foliot_rules *made = calloc(1, sizeof *made);
    if (!made)
        return FOLIOT_STATUS_MEMORY;
    made->kind = kind;
    made->scene = scene;
    made->rng = foliot__rng_seeded(scene->seed ^ SEED_OF_RULES);
    made->drops.why = made->drop;
    foliot_status status = FOLIOT_STATUS_OK;
    if (scene->script.history_ticks > 0) {
        made->aims = calloc(scene->players.limit + 1u, sizeof *made->aims);
        status = made->aims
                     ? foliot_history_create(scene, scene->script.history_ticks, &made->history)
                     : FOLIOT_STATUS_MEMORY;
    }
    if (status != FOLIOT_STATUS_OK) {
        made->kind = NULL;
        foliot_rules_destroy(made);
        return status;
    }
    made->open = true;
    status = kind->create(kind->user, scene, made, &made->self, problem, problem_bytes);
    made->open = false;
    if (status != FOLIOT_STATUS_OK) {
        if (problem_bytes)
            foliot__text_mend(problem);
        made->kind = NULL; // there is nothing of its to destroy
        foliot_rules_destroy(made);
        return status;
    }
    if (made->no_memory) {
        foliot_rules_destroy(made);
        return FOLIOT_STATUS_MEMORY;
    }
    *rules = made;
    return FOLIOT_STATUS_OK;
}

void foliot_rules_destroy(foliot_rules *rules)
{
    if (!rules)
        return;
    if (rules->kind && rules->kind->destroy)
        rules->kind->destroy(rules->self);
    foliot_command_list_destroy(&rules->commands);
    foliot_history_destroy(rules->history);
    free(rules->aims);
    free(rules->kicks);
    free(rules->refusals);
    free(rules->saved);
    free(rules);
}

// A script that is too slow for its host in every tick would run only a part of its callbacks. A
// tick whose time the orders of players took says nothing of the script: they must not stop it.
static foliot_status count_late(foliot_rules *rules, char *problem, size_t problem_bytes)
{
    if (!rules->host.late)
        rules->host.late_ticks = 0;
    else if (!rules->host.orders_late)
        rules->host.late_ticks++;
    if (rules->host.late_ticks < LATE_TICKS_MAX)
        return FOLIOT_STATUS_OK;
    rules->by_host = true;
    snprintf(problem, problem_bytes, "%d ticks in a row had callbacks dropped: %.400s",
             LATE_TICKS_MAX, rules->drop);
    return FOLIOT_STATUS_INVALID;
}

foliot_status foliot_rules_tick(foliot_rules *rules, const foliot_rules_view *view)
{
    if (rules->stopped) {
        clear_results(rules);
        return FOLIOT_STATUS_OK;
    }
    char problem[PROBLEM_BYTES] = "";
    clear_results(rules);
    forget_saved(rules);
    foliot_rules_view seen = *view;
    rules->host.reruns = view->recorded;
    rules->host.late = rules->host.orders_late = false;
    rules->host.save_late = NULL;
    read_dropped(rules, &seen);
    foliot_status status = FOLIOT_STATUS_OK;
    rules->tick = view->tick;
    // Rules of a simulation that is not a world have no past.
    if (rules->history && view->world)
        status = foliot_history_append(rules->history, view->world);
    if (status != FOLIOT_STATUS_OK)
        snprintf(problem, sizeof problem, "the world has more bodies than the scene's history");
    seen.history = view->world ? rules->history : NULL;
    apply_aims(rules, view, true);
    if (status == FOLIOT_STATUS_OK) {
        rules->open = true;
        status = rules->kind->tick(rules->self, &seen, rules, problem, sizeof problem);
        rules->open = false;
    }
    apply_aims(rules, view, false);
    if (status == FOLIOT_STATUS_OK && rules->no_memory)
        status = FOLIOT_STATUS_MEMORY;
    if (status == FOLIOT_STATUS_OK)
        status = count_late(rules, problem, sizeof problem);
    if (status != FOLIOT_STATUS_OK)
        stop(rules, status, problem);
    return status;
}

const foliot_command_list *foliot_rules_get_commands(const foliot_rules *rules)
{
    return &rules->commands;
}

bool foliot_rules_get_message(const foliot_rules *rules, uint32_t index,
                              foliot_rules_message_out *out)
{
    if (index >= rules->message_count)
        return false;
    const message *m = &rules->messages[index];
    *out = (foliot_rules_message_out){m->player, m->reliable, m->bytes, m->length};
    return true;
}

bool foliot_rules_get_kick(const foliot_rules *rules, uint32_t index, uint32_t *player,
                           const char **reason)
{
    if (index >= rules->kick_count)
        return false;
    *player = rules->kicks[index].player;
    *reason = rules->kicks[index].reason;
    return true;
}

bool foliot_rules_get_refused(const foliot_rules *rules, uint32_t index, uint32_t *player,
                              uint32_t *count)
{
    if (index >= rules->refusal_count)
        return false;
    *player = rules->refusals[index].player;
    *count = rules->refusals[index].count;
    return true;
}

const foliot_rules_drops *foliot_rules_get_drops(const foliot_rules *rules)
{
    return &rules->drops;
}

const char *foliot_rules_get_problem(const foliot_rules *rules)
{
    return rules->problem;
}

const char *foliot_rules_get_name(const foliot_rules *rules)
{
    return rules->kind->name;
}

uint32_t foliot_rules_get_version(const foliot_rules *rules)
{
    return rules->kind->version;
}

const char *foliot_rules_get_script(const foliot_rules *rules, size_t *length)
{
    *length = rules->script_length;
    return rules->script;
}

// -- save and restore
//
// u8 SAVE_VERSION; u8 and that many bytes: the kind's name; u32 its version; u8 1 if they were
// stopped, 2 if the host's memory or clock did it; if so, u16 and that many bytes: the problem, and
// nothing else. u8 3 and a u8: the host dropped something in that many ticks in a row, up to now;
// 0: in none. Then four u64 of the random stream; u32 and that many commands; u32 and that many
// bytes of the rules' own. Rules that look back add u64 tick; u16 for each player: its aim; u32 and
// that many bytes: the history.

// The rules' own bytes, which the caller frees; NULL with `problem` if they cannot be saved.
static uint8_t *save_self(foliot_rules *rules, size_t *length, char *problem, size_t problem_bytes)
{
    size_t capacity = FOLIOT_RULES_STATE_BYTES_MAX, needed; // saving twice takes twice the time
    uint8_t *bytes = NULL;
    for (;;) {
        uint8_t *more = realloc(bytes, capacity);
        if (!more)
            break;
        bytes = more;
        needed = rules->kind->save
                     ? rules->kind->save(rules->self, bytes, capacity, problem, problem_bytes)
                     : 0;
        if (needed == SIZE_MAX)
            break;
        if (needed > FOLIOT_RULES_STATE_BYTES_MAX) {
            snprintf(problem, problem_bytes, "the state of the rules takes %zu bytes; at most %u",
                     needed, (unsigned)FOLIOT_RULES_STATE_BYTES_MAX);
            break;
        }
        if (needed <= capacity) {
            *length = needed;
            return bytes;
        }
        capacity = needed;
    }
    free(bytes);
    return NULL;
}

typedef struct saved_bytes {
    uint8_t *bytes;
    size_t length;
} saved_bytes;

// Without bytes in the writer: counts them.
static void write_all(foliot__writer *w, const foliot_rules *rules, const saved_bytes *self,
                      const saved_bytes *past)
{
    const foliot_command_list *list = &rules->commands;
    size_t length = strlen(rules->kind->name);
    foliot__write_u8(w, SAVE_VERSION);
    foliot__write_u8(w, (uint8_t)length);
    foliot__write_bytes(w, rules->kind->name, length);
    foliot__write_u32(w, rules->kind->version);
    bool late = !rules->stopped && rules->host.late_ticks > 0;
    foliot__write_u8(w, late ? RUNNING_LATE : rules->stopped);
    if (late)
        foliot__write_u8(w, (uint8_t)rules->host.late_ticks);
    if (rules->stopped) {
        length = strlen(rules->problem);
        foliot__write_u16(w, (uint16_t)length);
        foliot__write_bytes(w, rules->problem, length);
        return;
    }
    for (int i = 0; i < 4; i++)
        foliot__write_u64(w, rules->rng.state[i]);
    foliot__write_u32(w, list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        size_t left = w->bytes ? w->capacity - w->at : 0;
        w->at +=
            foliot_command_encode(&list->commands[i], w->bytes ? w->bytes + w->at : NULL, left);
    }
    foliot__write_u32(w, (uint32_t)self->length);
    foliot__write_bytes(w, self->bytes, self->length);
    if (!rules->history)
        return;
    foliot__write_u64(w, rules->tick);
    for (uint32_t p = 0; p < rules->scene->players.limit; p++)
        foliot__write_u16(w, rules->aims[p]);
    foliot__write_u32(w, (uint32_t)past->length);
    foliot__write_bytes(w, past->bytes, past->length);
}

// Fills rules->saved.
static foliot_status save_all(foliot_rules *rules)
{
    char problem[PROBLEM_BYTES] = "";
    saved_bytes self = {0}, past = {0};
    if (!rules->stopped) {
        rules->host.save_whole = rules->host.save_late != NULL;
        rules->host.save_late = NULL;
        self.bytes = save_self(rules, &self.length, problem, sizeof problem);
        if (rules->host.save_late && ++rules->host.late_saves < LATE_SAVES_MAX)
            return FOLIOT_STATUS_AGAIN;
        if (self.bytes)
            rules->host.late_saves = 0;
        if (!self.bytes) {
            rules->by_host |= rules->host.save_late != NULL;
            stop(rules, problem[0] ? FOLIOT_STATUS_INVALID : FOLIOT_STATUS_MEMORY, problem);
            return FOLIOT_STATUS_INVALID;
        }
    }
    foliot_status status = FOLIOT_STATUS_OK;
    if (rules->history && !rules->stopped) {
        status = foliot_history_capture(rules->history, NULL, 0, &past.length);
        past.bytes = status == FOLIOT_STATUS_OK ? malloc(past.length) : NULL;
        status = past.bytes
                     ? foliot_history_capture(rules->history, past.bytes, past.length, &past.length)
                     : FOLIOT_STATUS_MEMORY;
    }
    foliot__writer count = foliot__writer_of(NULL, 0);
    if (status == FOLIOT_STATUS_OK) {
        write_all(&count, rules, &self, &past);
        rules->saved = malloc(count.at);
    }
    if (rules->saved) {
        foliot__writer w = foliot__writer_of(rules->saved, count.at);
        write_all(&w, rules, &self, &past);
        FOLIOT_ASSERT(w.status == FOLIOT_STATUS_OK && w.at == count.at);
        rules->saved_length = count.at;
    }
    free(self.bytes);
    free(past.bytes);
    return rules->saved ? FOLIOT_STATUS_OK : FOLIOT_STATUS_MEMORY;
}

foliot_status foliot_rules_save(foliot_rules *rules, void *bytes, size_t capacity, size_t *length)
{
    if (!rules->saved) {
        foliot_status status = save_all(rules);
        if (status != FOLIOT_STATUS_OK)
            return status;
    }
    if (bytes && capacity < rules->saved_length)
        return FOLIOT_STATUS_FULL;
    if (bytes)
        memcpy(bytes, rules->saved, rules->saved_length);
    *length = rules->saved_length;
    return FOLIOT_STATUS_OK;
}

// Whether the bytes are of this kind of rules and of a version that is known.
static bool read_head(foliot__reader *r, const foliot_rules *rules)
{
    uint8_t version = foliot__read_u8(r);
    size_t length = foliot__read_u8(r);
    const uint8_t *name = foliot__read_bytes(r, length);
    uint32_t kind_version = foliot__read_u32(r);
    if (r->status != FOLIOT_STATUS_OK)
        return false;
    if (version != SAVE_VERSION || length != strlen(rules->kind->name) ||
        memcmp(name, rules->kind->name, length) != 0 || kind_version != rules->kind->version)
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    return r->status == FOLIOT_STATUS_OK;
}

static void read_commands(foliot__reader *r, const foliot_rules *rules, foliot_command_list *list)
{
    uint32_t count = foliot__read_u32(r);
    if (count > rules->scene->commands_max)
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    for (uint32_t i = 0; i < count && r->status == FOLIOT_STATUS_OK; i++) {
        size_t taken = 0;
        foliot_status status =
            foliot_command_list_decode(list, r->bytes + r->at, r->length - r->at, &taken);
        if (status != FOLIOT_STATUS_OK) {
            foliot__reader_fail(r, status == FOLIOT_STATUS_NEWER ? FOLIOT_STATUS_CORRUPT : status);
            return;
        }
        list->commands[i].sequence = 0;
        list->commands[i].source = FOLIOT_COMMAND_SOURCE_RULES;
        r->at += taken;
    }
    if (list->encoded_bytes > FOLIOT_COMMAND_TICK_BYTES_MAX)
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
}

static foliot_status restore_stopped(foliot_rules *rules, foliot__reader *r, uint8_t stopped)
{
    char problem[PROBLEM_BYTES] = "";
    size_t length = foliot__read_u16(r);
    const uint8_t *text = foliot__read_bytes(r, length);
    if (r->status != FOLIOT_STATUS_OK)
        return r->status;
    if (length == 0 || length >= sizeof problem || foliot__reader_left(r) != 0)
        return FOLIOT_STATUS_CORRUPT;
    memcpy(problem, text, length);
    rules->by_host = stopped == STOPPED_BY_HOST;
    clear_results(rules);
    stop(rules, FOLIOT_STATUS_INVALID, problem);
    return FOLIOT_STATUS_OK;
}

static foliot_status restore_running(foliot_rules *rules, foliot__reader *r, bool late)
{
    uint8_t late_ticks = late ? foliot__read_u8(r) : 0;
    if (late && r->status == FOLIOT_STATUS_OK && (late_ticks == 0 || late_ticks >= LATE_TICKS_MAX))
        return FOLIOT_STATUS_CORRUPT;
    foliot__rng rng;
    foliot_command_list commands = {0};
    for (int i = 0; i < 4; i++)
        rng.state[i] = foliot__read_u64(r);
    read_commands(r, rules, &commands);
    uint32_t length = foliot__read_u32(r);
    const uint8_t *self = foliot__read_bytes(r, length);
    uint64_t tick = rules->history ? foliot__read_u64(r) : 0;
    size_t players = rules->history ? rules->scene->players.limit : 0;
    const uint8_t *aims = foliot__read_bytes(r, 2 * players);
    uint32_t past_length = rules->history ? foliot__read_u32(r) : 0;
    const uint8_t *past = foliot__read_bytes(r, past_length);
    foliot_status status = r->status;
    if (status == FOLIOT_STATUS_OK &&
        (length > FOLIOT_RULES_STATE_BYTES_MAX || foliot__reader_left(r) != 0 ||
         (!rules->kind->restore && length)))
        status = FOLIOT_STATUS_CORRUPT;
    foliot_history *history = NULL;
    if (status == FOLIOT_STATUS_OK && rules->history)
        status = foliot_history_create(rules->scene, rules->scene->script.history_ticks, &history);
    if (history && status == FOLIOT_STATUS_OK)
        status = foliot_history_restore(history, past, past_length);
    if (status == FOLIOT_STATUS_OK && rules->kind->restore)
        status = rules->kind->restore(rules->self, self, length);
    if (status != FOLIOT_STATUS_OK) {
        foliot_history_destroy(history);
        foliot_command_list_destroy(&commands);
        return status;
    }
    foliot_history_destroy(rules->history);
    rules->history = history;
    rules->tick = tick;
    for (size_t p = 0; p < players; p++)
        rules->aims[p] = (uint16_t)(aims[2 * p] | aims[2 * p + 1] << 8);
    clear_results(rules);
    forget_saved(rules);
    foliot_command_list_destroy(&rules->commands);
    rules->commands = commands;
    rules->rng = rng;
    rules->stopped = RUNNING;
    rules->by_host = false;
    rules->host.late_ticks = late_ticks;
    rules->host.save_late = NULL;
    rules->problem[0] = 0;
    return FOLIOT_STATUS_OK;
}

bool foliot__rules_saved_by_host(const foliot_rules *rules, const void *bytes, size_t length)
{
    foliot__reader r = foliot__reader_of(bytes, length);
    return read_head(&r, rules) && foliot__read_u8(&r) == STOPPED_BY_HOST &&
           r.status == FOLIOT_STATUS_OK;
}

foliot_status foliot_rules_restore(foliot_rules *rules, const void *bytes, size_t length)
{
    foliot__reader r = foliot__reader_of(bytes, length);
    if (!read_head(&r, rules))
        return r.status;
    uint8_t stopped = foliot__read_u8(&r);
    if (r.status != FOLIOT_STATUS_OK || stopped > RUNNING_LATE)
        return r.status != FOLIOT_STATUS_OK ? r.status : FOLIOT_STATUS_CORRUPT;
    return stopped == STOPPED || stopped == STOPPED_BY_HOST
               ? restore_stopped(rules, &r, stopped)
               : restore_running(rules, &r, stopped == RUNNING_LATE);
}
