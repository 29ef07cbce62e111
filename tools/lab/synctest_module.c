// SPDX-License-Identifier: MIT
// synctest_module.c: runs a simulation that is no world, from a module, through the harness.
#include "synctest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "module/module.h"

#define TICKS_DEFAULT 600
#define PLAYERS_DEFAULT 4
#define TEXT_BYTES 16384

// What only worlds have; NULL: nothing of it is asked for.
static const char *of_worlds(const lab_synctest_options *options)
{
    return options->integrator                                    ? "integrator"
           : options->no_rules                                    ? "no-rules"
           : options->orders                                      ? "orders"
           : options->test && strcmp(options->test, "rules") == 0 ? "test rules"
                                                                  : NULL;
}

static int run_harness(const lab_context *context, const lab_synctest_options *options,
                       const foliot_harness_config *config, const lab_synctest_source *from)
{
    foliot_harness_result result;
    int code = lab_synctest_run(context, options, config, from, &result);
    if (code)
        return code;
    char *text = malloc(TEXT_BYTES);
    if (!text)
        return lab_fail(context, FOLIOT__EXIT_ERROR, "no memory");
    (options->json ? foliot_harness_print_json : foliot_harness_print_text)(&result, text,
                                                                            TEXT_BYTES);
    printf("%s%s", text, options->json ? "\n" : "");
    free(text);
    return result.passed ? FOLIOT__EXIT_FINE : FOLIOT__EXIT_DIVERGED;
}

// Inputs and commands from files. What the readers ask of a scene are its limits.
static int open_files(const lab_context *context, const lab_synctest_options *options,
                      uint32_t player_limit, foliot_harness_config *config,
                      lab_synctest_source *from)
{
    const foliot_scene limits = {.players.limit = player_limit,
                                 .commands_max = config->kind->step_tick ? FOLIOT_COMMANDS_MAX : 0};
    if (options->commands && limits.commands_max == 0)
        return lab_fail(context, FOLIOT__EXIT_SCENE, "%s: the simulation takes no commands",
                        options->commands);
    int code = lab_inputs_open(context, options->inputs, &limits, &from->inputs);
    if (code == 0)
        code = lab_commands_open(context, options->commands, &limits, &from->commands);
    if (from->inputs) {
        config->inputs = lab_synctest_inputs;
        config->inputs_user = from;
    }
    if (from->commands) {
        config->commands = lab_synctest_commands;
        config->commands_user = from;
    }
    return code;
}

int lab_synctest_module(const lab_context *context, const char *file,
                        const lab_synctest_options *options)
{
    char problem[512];
    uint8_t *setup = NULL;
    foliot_simulation_terms terms;
    foliot_harness_config config = foliot_harness_config_default();
    if (of_worlds(options))
        return foliot__options_wrong(context->program, context->arguments,
                                     "--%s is of worlds: --simulation names none",
                                     of_worlds(options));
    lab_synctest_watch(options);
    const foliot__module *module =
        foliot__module_load(options->simulation, problem, sizeof problem);
    if (!module)
        return lab_fail(context, FOLIOT__EXIT_SCENE, "%s: %s", options->simulation, problem);
    if (!foliot__module_configure(module, file, &setup, &config.setup_bytes, problem,
                                  sizeof problem) ||
        !foliot__module_describe(module, setup, config.setup_bytes, &terms, problem,
                                 sizeof problem)) {
        free(setup);
        return lab_fail(context, FOLIOT__EXIT_SCENE, "%s: %s", file ? file : options->simulation,
                        problem);
    }
    uint32_t players = terms.player_limit < PLAYERS_DEFAULT ? terms.player_limit : PLAYERS_DEFAULT;
    config.kind = &module->kind;
    config.setup = setup;
    config.ticks = options->ticks ? options->ticks : TICKS_DEFAULT;
    config.seed = options->seed;
    config.players = options->players_given ? (uint32_t)options->players : players;
    lab_synctest_source from = {0};
    int code = config.players > terms.player_limit
                   ? foliot__options_wrong(context->program, context->arguments,
                                           "--players %" PRIu32 ": the simulation takes %" PRIu32,
                                           config.players, terms.player_limit)
                   : lab_synctest_configure(context, options, &config);
    if (code == 0)
        code = open_files(context, options, terms.player_limit, &config, &from);
    if (code == 0)
        code = run_harness(context, options, &config, &from);
    if (from.inputs)
        lab_inputs_close(from.inputs);
    lab_commands_close(from.commands);
    free(setup);
    return code;
}
