// SPDX-License-Identifier: MIT
// diff.c: foliot-replay diff: two recordings side by side. What was recorded is compared first
// (scene, inputs, digests); then both are replayed to the first tick that differs, where body and
// field are found.
#include "tool.h"

#include "base/json.h"
#include "base/text.h"
#include "recording/divergence.h"
#include "recording/replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool json_wanted;

const foliot__option diff_options[] = {
    {"json", NULL, FOLIOT__OPTION_FLAG, &json_wanted, .help = "one JSON object on stdout"}, {0}};

typedef struct pair {
    foliot_replay *a, *b;
    const foliot_replay_summary *one, *other;
    char scene[128];                   // how scene or run differ as a whole, or empty
    bool inputs, commands, digests;    // whether any differ:
    uint64_t input_tick, command_tick; // the first tick whose inputs, whose commands differ
    uint64_t length;                   // ticks that both have
    foliot_divergence found;           // if `digests`
    foliot_status status;
} pair;

static void compare_headers(pair *p)
{
    char name[2][FOLIOT_NAME_BYTES];
    if (p->one->first_tick != p->other->first_tick)
        snprintf(p->scene, sizeof p->scene, "they begin at ticks %" PRIu64 " and %" PRIu64,
                 p->one->first_tick, p->other->first_tick);
    else if (strcmp(p->one->integrator, p->other->integrator) != 0)
        snprintf(p->scene, sizeof p->scene, "integrators %s and %s", p->one->integrator,
                 p->other->integrator);
    else if (p->one->dt != p->other->dt)
        snprintf(p->scene, sizeof p->scene, "dt %.17g and %.17g", p->one->dt, p->other->dt);
    else if (p->one->seed != p->other->seed)
        snprintf(p->scene, sizeof p->scene, "seeds %" PRIu64 " and %" PRIu64, p->one->seed,
                 p->other->seed);
    else if (p->a->header.scene_bytes != p->b->header.scene_bytes ||
             memcmp(p->a->header.scene, p->b->header.scene, p->a->header.scene_bytes) != 0)
        snprintf(p->scene, sizeof p->scene, "the scenes \"%.40s\" and \"%.40s\" differ",
                 foliot__text_clean(name[0], sizeof name[0], p->one->scene->name),
                 foliot__text_clean(name[1], sizeof name[1], p->other->scene->name));
}

static bool same_inputs(pair *p, uint64_t tick)
{
    const foliot_input *a, *b;
    uint32_t count, other;
    p->status = foliot_replay_get_inputs(p->a, tick, &a, &count);
    if (p->status == FOLIOT_STATUS_OK)
        p->status = foliot_replay_get_inputs(p->b, tick, &b, &other);
    if (p->status != FOLIOT_STATUS_OK)
        return true;
    bool same = count == other;
    for (uint32_t i = 0; same && i < count; i++)
        same = a[i].player == b[i].player && a[i].sequence == b[i].sequence &&
               a[i].kind == b[i].kind && a[i].buttons == b[i].buttons &&
               memcmp(a[i].axes, b[i].axes, sizeof a[i].axes) == 0;
    return same;
}

static bool same_command(const foliot_command *a, const foliot_command *b)
{
    uint8_t bytes[2][1024];
    size_t length = foliot_command_encode(a, bytes[0], sizeof bytes[0]);
    return a->sequence == b->sequence && a->source == b->source &&
           foliot_command_encode(b, bytes[1], sizeof bytes[1]) == length &&
           memcmp(bytes[0], bytes[1], length) == 0;
}

static bool same_commands(pair *p, uint64_t tick)
{
    const foliot_command *a, *b;
    uint32_t count, other;
    p->status = foliot_replay_get_commands(p->a, tick, &a, &count);
    if (p->status == FOLIOT_STATUS_OK)
        p->status = foliot_replay_get_commands(p->b, tick, &b, &other);
    if (p->status != FOLIOT_STATUS_OK)
        return true;
    bool same = count == other;
    for (uint32_t i = 0; same && i < count; i++)
        same = same_command(&a[i], &b[i]);
    return same;
}

static bool same_digest(pair *p, uint64_t tick)
{
    uint8_t a[16], b[16];
    uint32_t count = foliot_replay_get_digest(p->a, tick, a),
             other = foliot_replay_get_digest(p->b, tick, b);
    uint32_t both = count < other ? count : other;
    return memcmp(a, b, both) == 0;
}

static foliot_step_trace *trace_at(foliot_replay *replay, uint64_t tick)
{
    foliot_step_trace *trace = NULL;
    if (foliot_replay_seek(replay, tick) != FOLIOT_STATUS_OK ||
        foliot_step_trace_create(&trace) != FOLIOT_STATUS_OK)
        return NULL;
    foliot_step_trace_reset(trace, tick);
    if (foliot_step_trace_capture_held(trace, foliot_replay_get_simulation(replay)) ==
        FOLIOT_STATUS_OK)
        return trace;
    foliot_step_trace_destroy(trace);
    return NULL;
}

// Part and field at the first tick that differs, by each recording's own replay.
static void find_first_field(pair *p)
{
    foliot_step_trace *a = trace_at(p->a, p->found.tick), *b = trace_at(p->b, p->found.tick);
    if (a && b)
        foliot_step_trace_compare(a, b, &p->found);
    foliot_step_trace_destroy(a);
    foliot_step_trace_destroy(b);
}

static void compare_ticks(pair *p)
{
    uint64_t first = p->one->first_tick;
    uint64_t last =
        p->one->last_tick < p->other->last_tick ? p->one->last_tick : p->other->last_tick;
    if (first != p->other->first_tick)
        return;
    p->length = last - first;
    for (uint64_t tick = first; tick <= last && !p->digests && p->status == FOLIOT_STATUS_OK;
         tick++) {
        if (!same_digest(p, tick)) {
            p->digests = true;
            p->found = (foliot_divergence){.tick = tick, .body = FOLIOT_NO_BODY};
            break;
        }
        if (tick < last && !p->inputs && !same_inputs(p, tick)) {
            p->inputs = true;
            p->input_tick = tick;
        }
        if (tick < last && !p->commands && !same_commands(p, tick)) {
            p->commands = true;
            p->command_tick = tick;
        }
    }
    if (p->digests)
        find_first_field(p);
}

static void put_json(const pair *p)
{
    foliot_divergence_labels names = tool_names(NULL, p->one, &p->found, "first", "second");
    foliot__json json = foliot__json_to(stdout);
    foliot__json_object(&json, NULL);
    foliot__json_bool(&json, "same",
                      !p->scene[0] && !p->inputs && !p->commands && !p->digests &&
                          p->one->last_tick == p->other->last_tick);
    foliot__json_text(&json, "scene", p->scene[0] ? p->scene : NULL);
    foliot__json_count(&json, "ticks", p->length);
    if (p->inputs)
        foliot__json_count(&json, "first_other_input", p->input_tick);
    else
        foliot__json_null(&json, "first_other_input");
    if (p->commands)
        foliot__json_count(&json, "first_other_command", p->command_tick);
    else
        foliot__json_null(&json, "first_other_command");
    foliot__divergence_put(&json, p->digests ? &p->found : NULL, &names);
    foliot__json_close(&json);
    foliot__json_line(&json);
}

static void put_text(const pair *p, const char *one, const char *other)
{
    char title[600];
    if (p->scene[0])
        printf("%s\n", p->scene);
    if (p->inputs)
        printf("inputs differ first in tick %" PRIu64 "\n", p->input_tick);
    if (p->commands)
        printf("commands differ first in tick %" PRIu64 "\n", p->command_tick);
    if (p->one->last_tick != p->other->last_tick)
        printf("they end at ticks %" PRIu64 " and %" PRIu64 "\n", p->one->last_tick,
               p->other->last_tick);
    snprintf(title, sizeof title, "%.250s and %.250s", one, other);
    foliot_divergence_labels names = tool_names(title, p->one, &p->found, "first", "second");
    if (p->digests)
        tool_report(stdout, &p->found, &names);
    else if (p->length)
        printf("the states of their %" PRIu64 " common ticks are the same\n", p->length);
}

int diff_command(const foliot__program *program, const foliot__arguments *arguments)
{
    int code, worst;
    (void)program;
    char **file = arguments->operands;
    pair p = {.a = tool_open(file[0], &code)};
    p.b = tool_open(file[1], &worst);
    worst = foliot__exit_worse(worst, code);
    if (p.a && p.b) {
        p.one = foliot_replay_get_summary(p.a);
        p.other = foliot_replay_get_summary(p.b);
        compare_headers(&p);
        compare_ticks(&p);
        if (json_wanted)
            put_json(&p);
        else
            put_text(&p, file[0], file[1]);
        bool same = !p.scene[0] && !p.inputs && !p.commands && !p.digests &&
                    p.one->last_tick == p.other->last_tick;
        worst = same ? FOLIOT__EXIT_FINE : FOLIOT__EXIT_DIVERGED;
        worst = foliot__exit_worse(worst, tool_exit_of(foliot_replay_get_damage(p.a)->status));
        worst = foliot__exit_worse(worst, tool_exit_of(foliot_replay_get_damage(p.b)->status));
        tool_tell_damage(file[0], p.a);
        tool_tell_damage(file[1], p.b);
    }
    if (p.a)
        foliot_replay_close(p.a);
    if (p.b)
        foliot_replay_close(p.b);
    return worst;
}
