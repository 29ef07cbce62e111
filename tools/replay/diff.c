// SPDX-License-Identifier: MIT
// diff.c: foliot-replay diff: two recordings side by side. The recorded data are compared first
// (scene, inputs, commands, orders, messages, digests); then both are replayed to the first tick
// whose states differ, where body and field are found.
#include "checks.h"
#include "tool.h"

#include "base/json.h"
#include "base/text.h"
#include "divergence/divergence.h"
#include "recording/replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool json_wanted;

const foliot__option diff_options[] = {
    {"json", NULL, FOLIOT__OPTION_FLAG, &json_wanted, .help = "prints one JSON object on stdout"},
    SIMULATION_OPTION{0}};

typedef struct pair {
    foliot_replay *a, *b;
    const foliot_replay_summary *one, *other;
    char scene[128]; // how scene or run differ as a whole, or empty
    difference inputs, commands, orders, messages;
    bool digests;            // whether any differ
    uint64_t length;         // ticks that both have
    foliot_divergence found; // if `digests`
    // If no replay of this build gives a state of that tick: the difference in the first later
    // keyframe that both recorded.
    foliot_divergence recorded;
    foliot_status status;
} pair;

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

// The state of that tick in a recording; NULL if it has none.
static foliot_step_trace *recorded_at(foliot_replay *replay, uint64_t tick)
{
    size_t length;
    foliot_simulation state = {0};
    foliot_step_trace *trace = NULL;
    const uint8_t *keyframe = foliot_replay_get_keyframe(replay, tick, &length);
    if (!keyframe || foliot__replay_new(replay, &state) != FOLIOT_STATUS_OK)
        return NULL;
    if (foliot_simulation_restore(&state, keyframe, length) == FOLIOT_STATUS_OK &&
        foliot_step_trace_create(&trace) == FOLIOT_STATUS_OK) {
        foliot_step_trace_reset(trace, tick);
        if (foliot_step_trace_capture_held(trace, &state) != FOLIOT_STATUS_OK) {
            foliot_step_trace_destroy(trace);
            trace = NULL;
        }
    }
    foliot_simulation_destroy(&state);
    return trace;
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
        uint8_t a[16], b[16];
        uint32_t count = foliot_replay_get_digest(p->a, tick, a),
                 other = foliot_replay_get_digest(p->b, tick, b);
        uint32_t both = count < other ? count : other;
        if (memcmp(a, b, both) != 0) {
            p->digests = true;
            p->found = (foliot_divergence){.tick = tick, .body = FOLIOT_NO_BODY};
        } else if (tick < last) {
            p->status = differences_of_tick(p->a, p->b, tick, &p->inputs, &p->commands, &p->orders);
        }
    }
    // For the ticks that were compared: after different states everything may differ.
    if (p->status == FOLIOT_STATUS_OK)
        p->status =
            differences_of_messages(p->a, p->b, p->digests ? p->found.tick : last, &p->messages);
    if (p->digests) { // part and field at that tick, by each recording's own replay
        foliot_step_trace *a = trace_at(p->a, p->found.tick), *b = trace_at(p->b, p->found.tick);
        if (a && b)
            foliot_step_trace_compare(a, b, &p->found);
        foliot_step_trace_destroy(a);
        foliot_step_trace_destroy(b);
    }
    if (p->digests && !p->found.part_known) {
        for (uint64_t tick = p->found.tick; tick <= last && !p->recorded.part_known; tick++) {
            foliot_step_trace *a = recorded_at(p->a, tick), *b = a ? recorded_at(p->b, tick) : NULL;
            p->recorded = (foliot_divergence){.tick = tick, .body = FOLIOT_NO_BODY};
            if (a && b)
                foliot_step_trace_compare(a, b, &p->recorded);
            foliot_step_trace_destroy(a);
            foliot_step_trace_destroy(b);
        }
        if (p->recorded.tick == p->found.tick && p->recorded.part_known) {
            p->found = p->recorded; // it is of that very tick
            p->recorded = (foliot_divergence){0};
        }
    }
}

static bool is_same(const pair *p)
{
    return !p->scene[0] && !p->inputs.found && !p->commands.found && !p->orders.found &&
           !p->messages.found && !p->digests && p->one->last_tick == p->other->last_tick;
}

// The tick and the kind of difference: "other_input": "player 3, axes".
static void put_difference(foliot__json *json, const char *name, const difference *found)
{
    char key[40];
    snprintf(key, sizeof key, "first_other_%s", name);
    foliot__json_count_if(json, key, found->found, found->tick);
    snprintf(key, sizeof key, "other_%s", name);
    foliot__json_text(json, key, found->found ? found->text : NULL);
}

static void put_json(const pair *p)
{
    foliot_divergence_labels names = tool_names(NULL, p->one, &p->found, "first", "second");
    foliot__json json = foliot__json_to(stdout);
    foliot__json_object(&json, NULL);
    foliot__json_bool(&json, "same", is_same(p));
    foliot__json_text(&json, "scene", p->scene[0] ? p->scene : NULL);
    foliot__json_count(&json, "ticks", p->length);
    put_difference(&json, "input", &p->inputs);
    put_difference(&json, "command", &p->commands);
    put_difference(&json, "order", &p->orders);
    put_difference(&json, "message", &p->messages);
    foliot__divergence_put(&json, p->digests ? &p->found : NULL, &names);
    foliot__json_object(&json, "keyframes");
    names = tool_names(NULL, p->one, &p->recorded, "first", "second");
    foliot__divergence_put(&json, p->recorded.part_known ? &p->recorded : NULL, &names);
    foliot__json_line(&json);
}

static void put_text(const pair *p, const char *one, const char *other)
{
    char title[600];
    if (p->scene[0])
        printf("%s\n", p->scene);
    const struct {
        const char *name;
        const difference *found;
    } kinds[] = {{"inputs", &p->inputs},
                 {"commands", &p->commands},
                 {"orders", &p->orders},
                 {"messages", &p->messages}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].found->found)
            printf("%s differ first in tick %" PRIu64 ": %s\n", kinds[i].name, kinds[i].found->tick,
                   kinds[i].found->text);
    if (p->one->last_tick != p->other->last_tick)
        printf("they end at ticks %" PRIu64 " and %" PRIu64 "\n", p->one->last_tick,
               p->other->last_tick);
    snprintf(title, sizeof title, "%.250s and %.250s", one, other);
    foliot_divergence_labels names = tool_names(title, p->one, &p->found, "first", "second");
    if (p->digests)
        tool_report(stdout, &p->found, &names);
    if (p->recorded.part_known) {
        names = tool_names("the first keyframes after it", p->one, &p->recorded, "first", "second");
        tool_report(stdout, &p->recorded, &names);
    }
    if (!p->digests && p->length)
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
        char name[2][FOLIOT_NAME_BYTES];
        if (p.one->first_tick != p.other->first_tick)
            snprintf(p.scene, sizeof p.scene, "they begin at ticks %" PRIu64 " and %" PRIu64,
                     p.one->first_tick, p.other->first_tick);
        else if (strcmp(p.one->integrator, p.other->integrator) != 0)
            snprintf(p.scene, sizeof p.scene, "integrators %s and %s", p.one->integrator,
                     p.other->integrator);
        else if (p.one->dt != p.other->dt)
            snprintf(p.scene, sizeof p.scene, "dt %.17g and %.17g", p.one->dt, p.other->dt);
        else if (p.one->seed != p.other->seed)
            snprintf(p.scene, sizeof p.scene, "seeds %" PRIu64 " and %" PRIu64, p.one->seed,
                     p.other->seed);
        else if (p.a->header.scene_bytes != p.b->header.scene_bytes ||
                 memcmp(p.a->header.scene, p.b->header.scene, p.a->header.scene_bytes) != 0)
            snprintf(
                p.scene, sizeof p.scene,
                p.one->scene ? "the scenes \"%.40s\" and \"%.40s\" differ"
                             : "the setups of %.40s and %.40s differ",
                !p.one->scene ? p.one->kind
                              : foliot__text_clean(name[0], sizeof name[0], p.one->scene->name),
                !p.one->scene ? p.other->kind
                              : foliot__text_clean(name[1], sizeof name[1], p.other->scene->name));
        compare_ticks(&p);
        if (json_wanted)
            put_json(&p);
        else
            put_text(&p, file[0], file[1]);
        worst = is_same(&p) ? FOLIOT__EXIT_FINE : FOLIOT__EXIT_DIVERGED;
        worst = foliot__exit_worse(worst, tool_exit_of_part(foliot_replay_get_damage(p.a)->status));
        worst = foliot__exit_worse(worst, tool_exit_of_part(foliot_replay_get_damage(p.b)->status));
        tool_tell_damage(file[0], p.a);
        tool_tell_damage(file[1], p.b);
    }
    if (p.a)
        foliot_replay_close(p.a);
    if (p.b)
        foliot_replay_close(p.b);
    return worst;
}
