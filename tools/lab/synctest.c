// SPDX-License-Identifier: MIT
// synctest.c: runs one scene through the harness: whether it is fit for lockstep, replay and
// rollback as this build computes it.
#include "synctest.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "module/module.h"

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

// -- what is tested

bool lab_synctest_wants_rules(const lab_synctest_options *options)
{
    return !options->test || strcmp(options->test, "rules") == 0;
}

// Distances of rolling back: "1,2,8".
static bool parse_distances(const char *text, uint32_t distances[FOLIOT_HARNESS_DISTANCES])
{
    memset(distances, 0, sizeof *distances * FOLIOT_HARNESS_DISTANCES);
    for (int i = 0; i < FOLIOT_HARNESS_DISTANCES; i++) {
        char *end;
        unsigned long value = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
        if (value < 1 || value > FOLIOT_HARNESS_DISTANCE_MAX || (*end && *end != ','))
            return false;
        distances[i] = (uint32_t)value;
        if (!*end)
            return true;
        text = end + 1;
    }
    return false;
}

int lab_synctest_configure(const lab_context *context, const lab_synctest_options *options,
                           foliot_harness_config *config)
{
    if (options->distances && !parse_distances(options->distances, config->distances))
        return foliot__options_wrong(context->program, context->arguments,
                                     "--distances %s: %d numbers of 1 to %d at most, as 1,2,8",
                                     options->distances, FOLIOT_HARNESS_DISTANCES,
                                     FOLIOT_HARNESS_DISTANCE_MAX);
    if (options->perturbations_given)
        config->perturbations = (uint32_t)options->perturbations;
    if (options->perturb_every)
        config->perturb_every = (uint32_t)options->perturb_every;
    bool known = lab_synctest_wants_rules(options);
    for (int i = 0; i < FOLIOT_HARNESS_TEST_COUNT && options->test; i++) {
        bool named =
            strcmp(options->test, foliot_harness_test_get_name((foliot_harness_test)i)) == 0;
        known |= named;
        config->skipped |= named ? 0 : 1u << i;
    }
    return known ? 0
                 : foliot__options_wrong(context->program, context->arguments,
                                         "--test %s: the tests are replay, sync, serialisation, "
                                         "perturbation and rules",
                                         options->test);
}

// -- crashes

// For the handler alone.
static struct {
    const foliot_harness_result *result; // of the harness that runs; NULL: the module is loaded
    bool on, json;
    struct sigaction before[NSIG];
} watched;

static void append(char *line, size_t *length, const char *text)
{
    while (*text && *length < 255)
        line[(*length)++] = *text++;
}

static void append_number(char *line, size_t *length, uint64_t number)
{
    char digits[24] = {0}, *at = digits + sizeof digits - 1;
    do
        *--at = (char)('0' + number % 10);
    while (number /= 10);
    append(line, length, at);
}

// Nothing but what a handler may call: the simulation may have broken the heap.
static void crashed(int number, siginfo_t *about, void *context)
{
    const volatile foliot_harness_result *r = watched.result;
    const char *name = number == SIGSEGV  ? "SIGSEGV"
                       : number == SIGBUS ? "SIGBUS"
                       : number == SIGFPE ? "SIGFPE"
                       : number == SIGILL ? "SIGILL"
                                          : "SIGABRT";
    const char *test = !r ? "known-answer run"
                       : r->running < FOLIOT_HARNESS_TEST_COUNT
                           ? foliot_harness_test_get_name(r->running)
                           : "undisturbed run";
    char line[256];
    size_t length = 0;
    (void)context;
    append(line, &length,
           watched.json ? "{\"crashed\":\"" : "foliot-lab synctest: the simulation crashed (");
    append(line, &length, name);
    append(line, &length, watched.json ? "\",\"test\":\"" : ") in the test \"");
    append(line, &length, test);
    append(line, &length, watched.json ? "\",\"tick\":" : "\", tick ");
    append_number(line, &length, r ? r->ticks : foliot__module_get_answer_tick());
    append(line, &length, watched.json ? "}\n" : "\n");
    (void)!write(watched.json ? STDOUT_FILENO : STDERR_FILENO, line, length);
    // Back into the fault, for the debugger, the sanitizer, or the core that waits for it.
    sigaction(number, &watched.before[number], NULL);
    if (!about || about->si_code <= 0)
        raise(number);
}

#define CRASH_STACK_BYTES 65536 // a simulation may have used up its own

static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

void lab_synctest_watch(const lab_synctest_options *options)
{
    static uint8_t stack[CRASH_STACK_BYTES];
    struct sigaction action = {.sa_sigaction = crashed, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    if (watched.on)
        return;
    watched.on = true;
    watched.json = options->json;
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    for (size_t i = 0; i < sizeof crash_signals / sizeof *crash_signals; i++)
        sigaction(crash_signals[i], &action, &watched.before[crash_signals[i]]);
}

static void end_watch(void)
{
    watched.on = false;
    for (size_t i = 0; i < sizeof crash_signals / sizeof *crash_signals; i++)
        sigaction(crash_signals[i], &watched.before[crash_signals[i]], NULL);
}

int lab_synctest_run(const lab_context *context, const lab_synctest_options *options,
                     const foliot_harness_config *config, const lab_synctest_source *from,
                     foliot_harness_result *result)
{
    watched.result = result;
    lab_synctest_watch(options);
    foliot_status status = foliot_harness_run(config, result);
    end_watch();
    if (from->problem)
        return lab_fail(context, FOLIOT__EXIT_CORRUPT, "%s", from->problem);
    if (status != FOLIOT_STATUS_OK && result->problem[0])
        return lab_fail(context, FOLIOT__EXIT_ERROR, "%s", result->problem);
    if (status != FOLIOT_STATUS_OK)
        return lab_fail(context, FOLIOT__EXIT_ERROR, "the step from tick %" PRIu64 ": %s",
                        result->ticks, foliot_status_get_text(status));
    return 0;
}

// -- scenes

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
    int code = lab_synctest_configure(context, options, &config);
    code = code ? code : lab_synctest_run(context, options, &config, from, &result);
    free(setup);
    if (code)
        return code;
    return print_result(context, scene, &result,
                        lab_synctest_wants_rules(options) ? from->rules : NULL, options->json);
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
    foliot_harness_config unused = foliot_harness_config_default();
    int code = lab_synctest_configure(context, options, &unused); // before anything runs
    if (code == 0)
        code = lab_scene_open(context, file, options->integrator, 0, &scene);
    if (code)
        return code;
    if (options->test && lab_synctest_wants_rules(options) &&
        (!scene->script_name || options->no_rules))
        code = foliot__options_wrong(context->program, context->arguments,
                                     "--test rules: there are none to test");
    else if (options->players_given && options->players > scene->players.limit)
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
