// SPDX-License-Identifier: MIT
// synctest.c: runs one scene through the harness: whether it is fit for lockstep, replay and
// rollback as this build computes it.
#include "lab.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TICKS_DEFAULT 600
#define PLAYERS_DEFAULT 4
#define TEXT_BYTES 16384

typedef struct source {
    lab_inputs *inputs;
    lab_commands *commands;
    const char *problem;
} source;

static uint32_t take_inputs(void *user, uint64_t tick, foliot_input *inputs, uint32_t capacity)
{
    source *s = user;
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

static foliot_status take_commands(void *user, uint64_t tick, foliot_command_list *list)
{
    source *s = user;
    foliot_tick_inputs in;
    foliot_status status = FOLIOT_STATUS_OK;
    if (!lab_commands_at(s->commands, tick, &in, &s->problem))
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

static int print_result(const lab_context *context, const foliot_scene *scene,
                        const foliot_harness_result *result, bool json)
{
    char *text = malloc(TEXT_BYTES);
    if (!text)
        return lab_fail(context, FOLIOT__EXIT_ERROR, "no memory");
    if (!json)
        printf("%s, %s\n", scene->name ? scene->name : "scene",
               foliot_integrator_get_info(scene->integrator)->name);
    (json ? foliot_harness_print_json : foliot_harness_print_text)(result, text, TEXT_BYTES);
    printf("%s%s", text, json ? "\n" : "");
    free(text);
    return result->passed ? FOLIOT__EXIT_FINE : FOLIOT__EXIT_DIVERGED;
}

static int run_harness(const lab_context *context, const lab_synctest_options *options,
                       const foliot_scene *scene, source *from)
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
    config.players =
        scene->players.limit < PLAYERS_DEFAULT ? scene->players.limit : PLAYERS_DEFAULT;
    if (options->players_given)
        config.players = (uint32_t)options->players;
    if (from->inputs) {
        config.inputs = take_inputs;
        config.inputs_user = from;
    }
    if (from->commands) {
        config.commands = take_commands;
        config.commands_user = from;
    }
    foliot_status status = foliot_harness_run(&config, &result);
    free(setup);
    if (from->problem)
        return lab_fail(context, FOLIOT__EXIT_CORRUPT, "%s", from->problem);
    if (status != FOLIOT_STATUS_OK)
        return lab_fail(context, FOLIOT__EXIT_ERROR, "the step from tick %" PRIu64 ": %s",
                        result.ticks, foliot_status_get_text(status));
    return print_result(context, scene, &result, options->json);
}

int lab_synctest(const lab_context *context, const char *file, const lab_synctest_options *options)
{
    foliot_scene *scene;
    source from = {0};
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
        code = run_harness(context, options, scene, &from);
    if (from.inputs)
        lab_inputs_close(from.inputs);
    lab_commands_close(from.commands);
    foliot_scene_destroy(scene);
    return code;
}
