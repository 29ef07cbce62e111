// SPDX-License-Identifier: MIT
// rules.c: foliot-replay verify --rules: runs the session's rules again on the replayed world, with
// the recorded inputs and orders. Their output must match the recording: every command, and their
// state at every keyframe.
#include "checks.h"

#include "base/clock.h"
#include "rules/rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct run {
    foliot_replay *replay;
    const foliot_replay_summary *about;
    foliot_rules *rules;
    rules_allowance allowance;
    rules_counts counts;
    uint64_t since_ns, took_ns; // of the thread's clock; by the rules so far
    char stop[600];             // that the host's clock or memory stopped them
    uint64_t drop_tick;         // of the first callback that it dropped
    char *text;
    size_t text_bytes;
} run;

// -- comparing

static const char *kind_name(const foliot_command *command)
{
    return foliot_command_kind_get_info(command->kind)->name;
}

// Whether recorded command number `index` of the tick equals that of the rules.
static bool same_command(run *r, uint64_t tick, uint32_t index, const foliot_command *recorded,
                         const foliot_command *given)
{
    if (!recorded || !given) {
        snprintf(r->text, r->text_bytes, "tick %" PRIu64 ", command %u: %s %s, and %s", tick,
                 index + 1, recorded ? kind_name(recorded) : kind_name(given),
                 recorded ? "was recorded" : "is given now",
                 recorded ? "the rules give none now" : "none was recorded");
        return false;
    }
    if (recorded->kind != given->kind) {
        snprintf(r->text, r->text_bytes, "tick %" PRIu64 ", command %u: recorded %s, given now %s",
                 tick, index + 1, kind_name(recorded), kind_name(given));
        return false;
    }
    const char *field = command_differing_field(recorded, given);
    if (!field)
        return true;
    char was[400], is[400];
    foliot_command_print_json(recorded, was, sizeof was);
    foliot_command_print_json(given, is, sizeof is);
    snprintf(r->text, r->text_bytes,
             "tick %" PRIu64 ", command %u, field %s: recorded %s, given now %s", tick, index + 1,
             field, was, is);
    return false;
}

static rules_result compare_commands(run *r, uint64_t tick)
{
    const foliot_command *recorded;
    const foliot_command_list *given = foliot_rules_get_commands(r->rules);
    uint32_t count, at = 0, index = 0;
    if (foliot_replay_get_commands(r->replay, tick, &recorded, &count) != FOLIOT_STATUS_OK)
        return RULES_MATCH; // nothing was recorded behind the last tick
    for (; at < count || index < given->count; at++) {
        if (at < count && recorded[at].source != FOLIOT_COMMAND_SOURCE_RULES)
            continue;
        if (!same_command(r, tick, index, at < count ? &recorded[at] : NULL,
                          index < given->count ? &given->commands[index] : NULL))
            return RULES_DIFFER;
        index++;
        r->counts.commands++;
    }
    return RULES_MATCH;
}

static rules_result compare_state(run *r, uint64_t tick)
{
    size_t recorded_bytes, length = 0;
    const uint8_t *recorded = foliot_replay_get_rules_state(r->replay, tick, &recorded_bytes);
    if (!recorded)
        return RULES_MATCH;
    uint8_t *bytes = malloc(recorded_bytes + 1);
    if (!bytes)
        return RULES_FAILED;
    foliot_status status = foliot_rules_save(r->rules, NULL, 0, &length);
    if (status == FOLIOT_STATUS_OK && length == recorded_bytes)
        status = foliot_rules_save(r->rules, bytes, recorded_bytes, &length);
    size_t at = 0;
    bool same = status == FOLIOT_STATUS_OK && length == recorded_bytes;
    while (same && at < length && bytes[at] == recorded[at])
        at++;
    free(bytes);
    if (same && at == length)
        return RULES_MATCH;
    snprintf(r->text, r->text_bytes,
             same ? "tick %" PRIu64 ": the saved state of the rules differs at byte %zu of %zu"
                  : "tick %" PRIu64 ": the saved state of the rules has %zu bytes now, not %zu",
             tick, same ? at : length, recorded_bytes);
    return RULES_DIFFER;
}

// -- running them again

static uint64_t cpu_ns(void)
{
    return foliot__clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

// Whether the rules drop what the recording does, and no host lets them continue after the last
// drop.
static rules_result compare_drops(run *r, const foliot_rules_view *view, bool stops, bool stopped)
{
    uint32_t recorded = 0;
    const uint32_t drops = foliot_rules_get_drops(r->rules)->order_count;
    for (uint32_t i = 0; i < view->order_count; i++)
        recorded += view->orders[i].kind == FOLIOT_ORDER_DROPPED;
    r->drop_tick = r->counts.drops == 0 && drops > 0 ? view->tick : r->drop_tick;
    r->counts.drops += drops;
    if (drops != recorded) {
        snprintf(r->text, r->text_bytes,
                 "tick %" PRIu64 ": callbacks were dropped at %" PRIu32
                 " places as recorded, and at %" PRIu32 " now",
                 view->tick, recorded, drops);
        return RULES_DIFFER;
    }
    if (stops && !stopped && view->tick < r->about->last_tick) {
        snprintf(r->text, r->text_bytes,
                 "tick %" PRIu64 ": the rules continued where a host stops them: %s", view->tick,
                 foliot_rules_get_problem(r->rules));
        return RULES_DIFFER;
    }
    return RULES_MATCH;
}

static rules_result run_tick(run *r)
{
    uint64_t before = foliot_replay_get_tick(r->replay);
    foliot_rules_view view = {.scene = r->about->scene, .recorded = true};
    if (foliot_replay_step(r->replay) != FOLIOT_STATUS_OK)
        return RULES_FAILED;
    view.world = foliot_replay_get_world(r->replay);
    view.tick = before + 1;
    if (foliot_replay_get_inputs(r->replay, before, &view.inputs, &view.input_count) !=
            FOLIOT_STATUS_OK ||
        foliot_replay_get_orders(r->replay, before, &view.orders, &view.order_count) !=
            FOLIOT_STATUS_OK)
        return RULES_FAILED;
    r->since_ns = cpu_ns();
    const bool ran = !*foliot_rules_get_problem(r->rules);
    foliot_status status = foliot_rules_tick(r->rules, &view);
    (void)status; // stopped rules give no commands, and were recorded as stopped
    // For drops in too many ticks in a row, as the host did.
    const bool stops = ran && foliot__rules_stopped_by_host(r->rules) &&
                       foliot_rules_get_drops(r->rules)->order_count > 0;
    // At a keyframe, rules may stop because their state cannot be saved. Rules that the host
    // stopped, for its clock or its memory, run on here: they are stopped where the recording says.
    uint64_t tick = before + 1;
    size_t length, needed;
    const uint8_t *recorded = foliot_replay_get_rules_state(r->replay, tick, &length);
    bool stopped = false;
    if (recorded && (stops || !*foliot_rules_get_problem(r->rules))) {
        status = foliot_rules_save(r->rules, NULL, 0, &needed);
        stopped = foliot__rules_saved_by_host(r->rules, recorded, length);
    }
    rules_result result = compare_drops(r, &view, stops, stopped);
    if (result == RULES_MATCH && recorded && (stops || !*foliot_rules_get_problem(r->rules))) {
        if (stopped) {
            status = foliot_rules_restore(r->rules, recorded, length);
            snprintf(r->stop, sizeof r->stop, "the host stopped them at tick %" PRIu64 ": %s", tick,
                     foliot_rules_get_problem(r->rules));
        }
        (void)status; // compare_state says what differs
    }
    if (result == RULES_MATCH)
        result = compare_commands(r, tick);
    if (result == RULES_MATCH)
        result = compare_state(r, tick);
    r->took_ns += cpu_ns() - r->since_ns;
    uint64_t ticks = tick - r->about->first_tick;
    if (result != RULES_MATCH || r->took_ns <= r->allowance.start_ns ||
        (r->took_ns - r->allowance.start_ns) / (ticks + 1) <= r->allowance.tick_ns)
        return result;
    snprintf(r->text, r->text_bytes,
             "not comparable: after tick %" PRIu64 " the rules have taken %.1f s, more than a "
             "session leaves them",
             tick, 1e-9 * (double)r->took_ns);
    return RULES_NOT_COMPARABLE;
}

static rules_result run_all(run *r)
{
    uint64_t first = r->about->first_tick;
    size_t length;
    const uint8_t *saved = foliot_replay_get_rules_state(r->replay, first, &length);
    // At tick 0 rules need no state. Behind it they begin where there is one.
    while (!saved && r->about->first_tick > 0 && first < r->about->last_tick)
        saved = foliot_replay_get_rules_state(r->replay, ++first, &length);
    if (!saved && r->about->first_tick > 0) {
        snprintf(r->text, r->text_bytes, "not comparable: no keyframe has the state of the rules");
        return RULES_NOT_COMPARABLE;
    }
    r->counts.first_tick = first;
    if (foliot_replay_seek(r->replay, first) != FOLIOT_STATUS_OK)
        return RULES_FAILED;
    saved = foliot_replay_get_rules_state(r->replay, first, &length);
    if (saved && foliot_rules_restore(r->rules, saved, length) != FOLIOT_STATUS_OK) {
        snprintf(r->text, r->text_bytes, "the rules refuse their state at tick %" PRIu64, first);
        return RULES_NOT_COMPARABLE;
    }
    rules_result result = compare_commands(r, first);
    while (result == RULES_MATCH && foliot_replay_get_tick(r->replay) < r->about->last_tick)
        result = run_tick(r);
    return result;
}

static rules_result open_rules(run *r)
{
    const foliot_replay_summary *about = r->about;
    if (!about->rules_name[0] || !about->scene) {
        snprintf(r->text, r->text_bytes, "the session had no rules");
        return RULES_NOT_COMPARABLE;
    }
    if (!about->rules_text || about->rules_text_bytes == 0) {
        snprintf(r->text, r->text_bytes,
                 "not comparable: the rules '%s' are machine code, which the recording lacks",
                 about->rules_name);
        return RULES_NOT_COMPARABLE;
    }
    char problem[400];
    foliot_status status =
        foliot__rules_create_script(about->rules_text, about->rules_text_bytes, about->rules_name,
                                    false, about->scene, &r->rules, problem, sizeof problem);
    if (status == FOLIOT_STATUS_OK)
        return RULES_MATCH;
    snprintf(r->text, r->text_bytes, "not comparable: %s", problem);
    return RULES_NOT_COMPARABLE;
}

rules_result rules_verify(foliot_replay *replay, rules_allowance allowance, char *text,
                          size_t text_bytes, rules_counts *counts)
{
    run r = {.replay = replay,
             .about = foliot_replay_get_summary(replay),
             .allowance = allowance,
             .text = text,
             .text_bytes = text_bytes};
    snprintf(text, text_bytes, "the recording cannot be replayed");
    rules_result result = open_rules(&r);
    if (result == RULES_MATCH) {
        result = run_all(&r);
        foliot_rules_destroy(r.rules);
    }
    if (counts)
        *counts = r.counts;
    if (result != RULES_MATCH)
        return result;
    size_t length = 0;
    text[0] = 0;
    if (r.counts.first_tick > r.about->first_tick) {
        result = RULES_PART;
        snprintf(text, text_bytes,
                 "they cannot be compared before tick %" PRIu64
                 ": no keyframe has their state up to there",
                 r.counts.first_tick);
        length = strlen(text);
    }
    if (r.counts.drops)
        snprintf(text + length, text_bytes - length,
                 "%sthe host dropped callbacks at %" PRIu64 " places, first at tick %" PRIu64,
                 length ? "; " : "", r.counts.drops, r.drop_tick);
    length = strlen(text);
    if (r.stop[0])
        snprintf(text + length, text_bytes - length, "%s%s", length ? "; " : "", r.stop);
    return result;
}
