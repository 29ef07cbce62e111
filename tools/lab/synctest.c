// SPDX-License-Identifier: MIT
// synctest.c: runs one scene through the harness: whether it is fit for lockstep, replay and
// rollback as this build computes it.
#include "synctest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

#define TICKS_DEFAULT 600
#define PLAYERS_DEFAULT 4
#define TEXT_BYTES 16384

uint32_t lab_synctest_inputs(void *user, uint64_t tick, foliot_input *inputs, uint32_t capacity)
{
    lab_synctest_source *s = user;
    const foliot_input *list = NULL;
    uint32_t count = 0;
    const char *message = NULL;
    if (!lab_inputs_at(s->inputs, tick, &list, &count, &message)) {
        s->problem = message;
        return 0;
    }
    if (count <= capacity && count > 0)
        memcpy(inputs, list, sizeof *inputs * count);
    return count;
}

foliot_status lab_synctest_commands(void *user, uint64_t tick, foliot_command_list *list)
{
    lab_synctest_source *s = user;
    foliot_tick_inputs in;
    foliot_status status = FOLIOT_STATUS_OK;
    if (s->rules) {
        in.commands = tick < s->rules->ticks ? s->rules->lists[tick].commands : NULL;
        in.command_count = tick < s->rules->ticks ? s->rules->lists[tick].count : 0;
    } else if (!lab_commands_at(s->commands, tick, &in, &s->problem))
        return FOLIOT_STATUS_CORRUPT;
    for (uint32_t i = 0; i < in.command_count && status == FOLIOT_STATUS_OK; i++)
        status = foliot_command_list_append(list, &in.commands[i]);
    return status;
}

static uint8_t *setup_of(const foliot_scene *scene, size_t *length)
{
    *length = 0;
    foliot_status status = foliot_scene_encode(scene, NULL, 0, length);
    uint8_t *bytes = status == FOLIOT_STATUS_OK ? malloc(*length + 1) : NULL;
    if (bytes && foliot_scene_encode(scene, bytes, *length, length) == FOLIOT_STATUS_OK)
        return bytes;
    free(bytes);
    return NULL;
}

static void print_rules(const lab_rules_test *test)
{
    if (test->passed)
        printf("%-14s passed %9" PRIu64 " checks  restored rules give the same\n", "rules",
               test->checks);
    else
        printf("%-14s FAILED %9" PRIu64 " checks  %s\n", "rules", test->checks, test->text);
}

// One member more of the object that the harness has printed.
static void print_rules_json(char *object, const lab_rules_test *test)
{
    object[strlen(object) - 1] = 0; // its closing brace
    printf("%s,\"rules\":", object);
    foliot__json json = foliot__json_to(stdout);
    foliot__json_object(&json, NULL);
    foliot__json_bool(&json, "passed", test->passed);
    foliot__json_count(&json, "checks", test->checks);
    foliot__json_text(&json, "text", test->passed ? NULL : test->text);
    if (!test->passed)
        foliot__json_count(&json, "first_bad_tick", test->first_bad_tick);
    foliot__json_close(&json);
    printf("}\n");
}

static int print_result(const lab_context *context, const foliot_scene *scene,
                        const foliot_harness_result *result, const lab_rules_test *rules, bool json)
{
    char *text = malloc(TEXT_BYTES);
    if (!text)
        return lab_fail(context, FOLIOT__EXIT_ERROR, "no memory");
    if (!json)
        printf("%s, %s\n", scene->name ? scene->name : "scene",
               foliot_integrator_get_info(scene->integrator)->name);
    (json ? foliot_harness_print_json : foliot_harness_print_text)(result, text, TEXT_BYTES);
    if (json && rules)
        print_rules_json(text, rules);
    else
        printf("%s%s", text, json ? "\n" : "");
    if (!json && rules)
        print_rules(rules);
    free(text);
    return result->passed && (!rules || rules->passed) ? FOLIOT__EXIT_FINE : FOLIOT__EXIT_DIVERGED;
}

static uint32_t players_of(const lab_synctest_options *options, const foliot_scene *scene)
{
    if (options->players_given)
        return (uint32_t)options->players;
    return scene->players.limit < PLAYERS_DEFAULT ? scene->players.limit : PLAYERS_DEFAULT;
}

static int run_harness(const lab_context *context, const lab_synctest_options *options,
                       const foliot_scene *scene, lab_synctest_source *from)
{
    foliot_harness_result result;
    foliot_harness_config config = foliot_harness_config_default();
    uint8_t *setup = setup_of(scene, &config.setup_bytes);
    if (!setup)
        return lab_fail(context, FOLIOT__EXIT_ERROR, "no memory");
    config.kind = &foliot_world_kind;
    config.setup = setup;
    config.ticks = options->ticks ? options->ticks : TICKS_DEFAULT;
    config.seed = options->seed;
    config.players = players_of(options, scene);
    if (from->inputs) {
        config.inputs = lab_synctest_inputs;
        config.inputs_user = from;
    }
    if (from->commands || from->rules) {
        config.commands = lab_synctest_commands;
        config.commands_user = from;
    }
    foliot_status status = foliot_harness_run(&config, &result);
    free(setup);
    if (from->problem)
        return lab_fail(context, FOLIOT__EXIT_CORRUPT, "%s", from->problem);
    if (status != FOLIOT_STATUS_OK)
        return lab_fail(context, FOLIOT__EXIT_ERROR, "the step from tick %" PRIu64 ": %s",
                        result.ticks, foliot_status_get_text(status));
    return print_result(context, scene, &result, from->rules, options->json);
}

// With inputs of its own: the harness asks for them again.
static int test_rules(const lab_context *context, const lab_synctest_options *options,
                      const foliot_scene *scene, lab_synctest_source *from, lab_rules_test *test)
{
    lab_inputs *inputs;
    int code = options->inputs ? lab_inputs_open(context, options->inputs, scene, &inputs)
                               : lab_inputs_draw(context, players_of(options, scene), options->seed,
                                                 scene, &inputs);
    if (code == 0)
        code = lab_rules_test_run(context, scene, inputs, from->commands, from->orders,
                                  options->ticks ? options->ticks : TICKS_DEFAULT, test);
    lab_inputs_close(inputs);
    return code;
}

int lab_synctest(const lab_context *context, const char *file, const lab_synctest_options *options)
{
    foliot_scene *scene;
    lab_synctest_source from = {0};
    lab_rules_test rules = {0};
    int code = lab_scene_open(context, file, options->integrator, 0, &scene);
    if (code)
        return code;
    if (options->players_given && options->players > scene->players.limit)
        code = foliot__options_wrong(context->program, context->arguments,
                                     "--players %" PRIu64 ": the scene takes %" PRIu32,
                                     options->players, scene->players.limit);
    if (code == 0)
        code = lab_inputs_open(context, options->inputs, scene, &from.inputs);
    if (code == 0)
        code = lab_commands_open(context, options->commands, scene, &from.commands);
    if (code == 0)
        code = lab_orders_open(context, options->orders, scene, &from.orders);
    if (code == 0 && scene->script_name && !options->no_rules) {
        code = test_rules(context, options, scene, &from, &rules);
        from.rules = &rules;
    }
    if (code == 0)
        code = run_harness(context, options, scene, &from);
    lab_rules_test_end(&rules);
    if (from.inputs)
        lab_inputs_close(from.inputs);
    lab_commands_close(from.commands);
    lab_orders_close(from.orders);
    foliot_scene_destroy(scene);
    return code;
}
