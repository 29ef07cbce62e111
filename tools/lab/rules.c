// SPDX-License-Identifier: MIT
// rules.c: the rules of a scene's script, run with a scene: their commands of one tick enter the
// next step, after the commands of a file.
#include "lab.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/rng.h"
#include "rules/rules.h"

#define AIM_TICKS 12 // that a player is shown the past by, at most

struct lab_rules {
    foliot_rules *rules;
    const foliot_scene *scene;
    foliot_command_list list; // of the tick that was asked for last
    uint32_t sequence;        // of the last command that was given
    uint64_t lost;            // commands that a tick had no room for
    bool dropped;             // it was reported that a callback was
    foliot_recording_rules recorded;
};

int lab_rules_make(const lab_context *context, const foliot_scene *scene, foliot_rules **rules)
{
    char problem[512];
    if (scene->script.kind != FOLIOT_SCRIPT_LUA)
        return lab_fail(context, FOLIOT__EXIT_SCENE,
                        "the scene's rules are a module, %s: use --no-rules", scene->script.name);
    // A run has no deadline, and another one gives the same.
    foliot_status status =
        foliot__rules_create_script(scene->script.text, scene->script.bytes, scene->script.name,
                                    false, scene, rules, problem, sizeof problem);
    if (status == FOLIOT_STATUS_OK)
        return FOLIOT__EXIT_FINE;
    return lab_fail(context,
                    status == FOLIOT_STATUS_INVALID ? FOLIOT__EXIT_SCENE : FOLIOT__EXIT_ERROR,
                    "%s%s", problem, status == FOLIOT_STATUS_UNSUPPORTED ? ": use --no-rules" : "");
}

int lab_rules_open(const lab_context *context, const foliot_scene *scene, lab_rules **out)
{
    *out = NULL;
    if (!scene->script.name)
        return FOLIOT__EXIT_FINE;
    lab_rules *rules = calloc(1, sizeof *rules);
    if (!rules)
        return lab_fail(context, FOLIOT__EXIT_ERROR, "no memory");
    rules->scene = scene;
    int code = lab_rules_make(context, scene, &rules->rules);
    if (code)
        lab_rules_close(rules);
    else
        *out = rules;
    return code;
}

void lab_rules_close(lab_rules *rules)
{
    if (!rules)
        return;
    foliot_rules_destroy(rules->rules);
    foliot_command_list_destroy(&rules->list);
    free(rules);
}

// As on a server: commands for which the tick has no room are left out. False without memory.
static bool add(lab_rules *rules, const foliot_command *from, uint32_t count, bool of_file)
{
    for (uint32_t i = 0; i < count; i++) {
        foliot_command command = from[i];
        if (of_file && command.source == FOLIOT_COMMAND_SOURCE_RULES)
            continue; // of a recording: they are given again
        command.sequence = rules->sequence + 1;
        size_t bytes = foliot_command_encode(&command, NULL, 0);
        if (rules->list.count >= rules->scene->commands_max ||
            rules->list.encoded_bytes + bytes > FOLIOT_COMMAND_TICK_BYTES_MAX) {
            rules->lost++;
            continue;
        }
        if (foliot_command_list_append(&rules->list, &command) != FOLIOT_STATUS_OK)
            return false;
        rules->sequence++;
    }
    return true;
}

bool lab_rules_at(lab_rules *rules, foliot_tick_inputs *in, const char **message)
{
    if (!rules)
        return true;
    const foliot_command_list *given = foliot_rules_get_commands(rules->rules);
    foliot_command_list_clear(&rules->list);
    if (!add(rules, in->commands, in->command_count, true) ||
        !add(rules, given->commands, given->count, false)) {
        *message = "no memory";
        return false;
    }
    in->commands = rules->list.commands;
    in->command_count = rules->list.count;
    return true;
}

void lab_rules_tick(lab_rules *rules, const foliot_world *world, const foliot_tick_inputs *in,
                    const foliot_order *orders, uint32_t order_count)
{
    if (!rules)
        return;
    foliot_rules_view view = {.scene = rules->scene,
                              .world = world,
                              .tick = foliot_world_get_tick(world),
                              .inputs = in->inputs,
                              .input_count = in->input_count,
                              .orders = orders,
                              .order_count = order_count,
                              .recorded = true}; // nothing is dropped for this machine's sake
    foliot_status status = foliot_rules_tick(rules->rules, &view);
    (void)status; // stopped rules give nothing; lab_rules_problem says why
    const foliot_rules_drops *drops = foliot_rules_get_drops(rules->rules);
    if (drops->count > 0 && !rules->dropped) {
        rules->dropped = true;
        fprintf(stderr, "foliot-lab: tick %" PRIu64 ": a callback of the rules was dropped: %s\n",
                view.tick, drops->why);
    }
}

// -- orders

void lab_said_free(lab_said *said)
{
    free(said->orders);
    *said = (lab_said){0};
}

static bool says_aim(const lab_said *said, uint32_t player)
{
    for (uint32_t i = 0; i < said->count; i++)
        if (said->orders[i].kind == FOLIOT_ORDER_AIMED && said->orders[i].player == player)
            return true;
    return false;
}

bool lab_say(lab_said *said, const foliot_scene *scene, uint64_t tick, const foliot_tick_inputs *in,
             const foliot_order *given, uint32_t given_count)
{
    bool draws = scene && scene->script.history_ticks > 0;
    uint32_t most = given_count + (draws ? in->input_count : 0);
    if (!foliot__array_reserve(&said->orders, &said->capacity, most, most, sizeof *said->orders))
        return false;
    if (given_count)
        memcpy(said->orders, given, given_count * sizeof *given);
    said->count = given_count;
    for (uint32_t i = 0; draws && i < in->input_count; i++) {
        const foliot_input *input = &in->inputs[i];
        if (input->kind == FOLIOT_INPUT_CONTROL && !says_aim(said, input->player)) {
            // Without a network the player sees the world with a random delay, as on a client.
            foliot__rng rng = foliot__rng_seeded(tick << 16 | input->player);
            uint32_t aim = foliot__rng_below(&rng, AIM_TICKS * FOLIOT_AIM_PARTS);
            said->orders[said->count++] =
                (foliot_order){.player = input->player,
                               .sequence = (uint32_t)tick,
                               .kind = FOLIOT_ORDER_AIMED,
                               .length = FOLIOT_ORDER_AIMED_BYTES,
                               .bytes = {(uint8_t)aim, (uint8_t)(aim >> 8)}};
        }
    }
    return true;
}

const char *lab_rules_problem(const lab_rules *rules)
{
    return rules ? foliot_rules_get_problem(rules->rules) : "";
}

uint64_t lab_rules_lost(const lab_rules *rules)
{
    return rules ? rules->lost : 0;
}

static foliot_status save(void *user, void *bytes, size_t capacity, size_t *length)
{
    return foliot_rules_save(((lab_rules *)user)->rules, bytes, capacity, length);
}

const foliot_recording_rules *lab_rules_recorded(lab_rules *rules)
{
    if (!rules)
        return NULL;
    rules->recorded = (foliot_recording_rules){.name = foliot_rules_get_name(rules->rules),
                                               .text = rules->scene->script.text,
                                               .text_bytes = rules->scene->script.bytes,
                                               .save = save,
                                               .user = rules};
    return &rules->recorded;
}
