// SPDX-License-Identifier: MIT
// synctest.c: runs a scene, its rules, or a simulation from a module through the harness: it shows
// whether the simulation, as this build computes it, is fit for lockstep, replay and rollback.
#include "lab.h"

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

typedef struct rules_test {
    bool passed;
    uint64_t checks, first_bad_tick;
    char text[512];             // what failed; "" if passed
    uint64_t ticks;             // that `lists` has
    foliot_command_list *lists; // all commands of each tick, for a run without the rules
} rules_test;

// Inputs and commands of each tick from files or rules, for a foliot_harness_config.
typedef struct synctest_source {
    lab_inputs *inputs;
    lab_commands *commands;
    lab_orders *orders;      // for the rules
    const rules_test *rules; // NULL: the scene has none
    const char *problem;     // a file has ended in damage: the sentence
} synctest_source;

// -- the rules of a scene

// Tests whether the saved state of a script's rules is complete. Before every tick a second
// instance is created and restored from the saved state of the first. It must give the same
// commands and messages, and save the same bytes: it lacks any variables outside of `state`.
typedef struct check {
    const lab_context *context;
    const foliot_scene *scene;
    foliot_world *world;
    foliot_rules *rules;
    lab_said said;
    uint32_t sequence;
    rules_test *test;
} check;

// -- comparing

static bool same_command(const foliot_command *a, const foliot_command *b)
{
    size_t length = foliot_command_encode(a, NULL, 0);
    bool same = false;
    uint8_t *bytes = malloc(2 * length + 1);
    if (bytes && foliot_command_encode(b, NULL, 0) == length) {
        foliot_command_encode(a, bytes, length);
        foliot_command_encode(b, bytes + length, length);
        same = memcmp(bytes, bytes + length, length) == 0;
    }
    free(bytes);
    return same;
}

static void differ(check *c, const char *what)
{
    c->test->passed = false;
    c->test->first_bad_tick = foliot_world_get_tick(c->world);
    snprintf(c->test->text, sizeof c->test->text, "tick %" PRIu64 ": %s", c->test->first_bad_tick,
             what);
}

static void compare_messages(check *c, foliot_rules *other)
{
    foliot_rules_message_out a, b;
    for (uint32_t i = 0; c->test->passed; i++) {
        bool more = foliot_rules_get_message(c->rules, i, &a);
        if (foliot_rules_get_message(other, i, &b) != more)
            differ(c, "the number of messages differs from that of restored rules");
        else if (!more)
            return;
        else if (a.player != b.player || a.reliable != b.reliable || a.length != b.length ||
                 memcmp(a.bytes, b.bytes, a.length) != 0)
            differ(c, "a message differs from that of restored rules");
    }
}

// The saved bytes, which the caller frees; NULL if there are none.
static uint8_t *save(foliot_rules *rules, size_t *length)
{
    uint8_t *bytes = NULL;
    if (foliot_rules_save(rules, NULL, 0, length) == FOLIOT_STATUS_OK)
        bytes = malloc(*length + 1);
    if (bytes && foliot_rules_save(rules, bytes, *length, length) == FOLIOT_STATUS_OK)
        return bytes;
    free(bytes);
    return NULL;
}

// -- running

// A new instance with the state of the running one. NULL with the test failed, or *code.
static foliot_rules *make_restored(check *c, int *code)
{
    size_t length;
    foliot_rules *other = NULL;
    uint8_t *bytes = save(c->rules, &length);
    if (!bytes) {
        differ(c, foliot_rules_get_problem(c->rules));
        return NULL;
    }
    *code = lab_rules_make(c->context, c->scene, &other);
    if (*code == 0 && foliot_rules_restore(other, bytes, length) != FOLIOT_STATUS_OK) {
        differ(c, "rules refuse their own saved state");
        foliot_rules_destroy(other);
        other = NULL;
    }
    free(bytes);
    return other;
}

static foliot_status step(check *c, const foliot_tick_inputs *in, foliot_command_list *list)
{
    // The commands of the rules, after the commands of a file. Kept for the harness.
    const foliot_command_list *given = foliot_rules_get_commands(c->rules);
    foliot_status status = FOLIOT_STATUS_OK;
    for (uint32_t i = 0; i < in->command_count + given->count; i++) {
        foliot_command command =
            i < in->command_count ? in->commands[i] : given->commands[i - in->command_count];
        if (list->count == c->scene->commands_max)
            break; // no room: as a server
        command.sequence = ++c->sequence;
        status = foliot_command_list_append(list, &command);
        if (status != FOLIOT_STATUS_OK)
            break;
    }
    foliot_tick_inputs all = {in->inputs, in->input_count, list->commands, list->count};
    return status == FOLIOT_STATUS_OK ? foliot_world_step_tick(c->world, &all, NULL) : status;
}

static int run_tick(check *c, const foliot_tick_inputs *in, const foliot_order *orders,
                    uint32_t order_count, foliot_command_list *list)
{
    int code = 0;
    foliot_rules *other = c->test->passed ? make_restored(c, &code) : NULL;
    foliot_status status = code ? FOLIOT_STATUS_OK : step(c, in, list);
    if (status != FOLIOT_STATUS_OK)
        code = lab_fail(c->context, FOLIOT__EXIT_ERROR, "the step from tick %" PRIu64 ": %s",
                        foliot_world_get_tick(c->world), foliot_status_get_text(status));
    const foliot_rules_view view = {.scene = c->scene,
                                    .world = c->world,
                                    .tick = foliot_world_get_tick(c->world),
                                    .inputs = in->inputs,
                                    .input_count = in->input_count,
                                    .orders = orders,
                                    .order_count = order_count,
                                    .recorded = true}; // alike for both
    if (code == 0) {
        status = foliot_rules_tick(c->rules, &view);
        if (status != FOLIOT_STATUS_OK && c->test->passed)
            differ(c, foliot_rules_get_problem(c->rules));
    }
    if (code == 0 && other && c->test->passed) {
        status = foliot_rules_tick(other, &view);
        const foliot_command_list *a = foliot_rules_get_commands(c->rules);
        const foliot_command_list *b = foliot_rules_get_commands(other);
        for (uint32_t i = 0; c->test->passed && (i < a->count || i < b->count); i++) {
            const foliot_command *left = i < a->count ? &a->commands[i] : NULL;
            const foliot_command *right = i < b->count ? &b->commands[i] : NULL;
            if (!left || !right || !same_command(left, right)) {
                char mine[160] = "no more", restored[160] = "no more", text[400];
                if (left)
                    foliot_command_print_json(left, mine, sizeof mine);
                if (right)
                    foliot_command_print_json(right, restored, sizeof restored);
                snprintf(text, sizeof text, "command %u: %s, and of restored rules %s",
                         (unsigned)i + 1, mine, restored);
                differ(c, text);
            }
        }
        compare_messages(c, other);
        size_t own_bytes = 0, saved_bytes = 0;
        uint8_t *own = save(c->rules, &own_bytes), *saved = save(other, &saved_bytes);
        if (c->test->passed && (!own || !saved))
            differ(c, foliot_rules_get_problem(own ? other : c->rules));
        else if (c->test->passed &&
                 (own_bytes != saved_bytes || memcmp(own, saved, own_bytes) != 0))
            differ(c, "the saved state differs from that of restored rules");
        free(own);
        free(saved);
        c->test->checks++;
    }
    foliot_rules_destroy(other);
    return code;
}

// Runs the scene with its rules, and a restored copy of them at every tick. 0, or the exit code
// after a sentence; rules_test_end frees the lists in any case.
static int rules_test_run(const lab_context *context, const foliot_scene *scene, lab_inputs *inputs,
                          lab_commands *commands, lab_orders *orders, uint64_t ticks,
                          rules_test *test)
{
    check c = {.context = context, .scene = scene, .test = test};
    const char *problem = "";
    *test = (rules_test){.passed = true, .lists = calloc(ticks + 1, sizeof *test->lists)};
    test->ticks = test->lists ? ticks : 0;
    int code = lab_rules_make(context, scene, &c.rules);
    if (code == 0 &&
        (!test->lists || foliot_world_create(scene, &c.world, NULL) != FOLIOT_STATUS_OK))
        code = lab_fail(context, FOLIOT__EXIT_ERROR, "no memory");
    for (uint64_t tick = 0; tick < ticks && code == 0; tick++) {
        foliot_tick_inputs in;
        const foliot_order *said;
        uint32_t said_count;
        if (lab_inputs_at(inputs, tick, &in.inputs, &in.input_count, &problem) &&
            lab_commands_at(commands, tick, &in, &problem) &&
            lab_orders_at(orders, tick, &said, &said_count, &problem))
            code = lab_say(&c.said, orders ? NULL : scene, tick + 1, &in, said, said_count)
                       ? run_tick(&c, &in, c.said.orders, c.said.count, &test->lists[tick])
                       : lab_fail(context, FOLIOT__EXIT_ERROR, "no memory");
        else
            code = lab_fail(context, FOLIOT__EXIT_CORRUPT, "%s", problem);
    }
    foliot_world_destroy(c.world);
    foliot_rules_destroy(c.rules);
    lab_said_free(&c.said);
    return code;
}

static void free_lists(rules_test *test)
{
    for (uint64_t tick = 0; test->lists && tick < test->ticks; tick++)
        foliot_command_list_destroy(&test->lists[tick]);
    free(test->lists);
    test->lists = NULL;
}

// -- inputs and commands for the harness

static uint32_t inputs_of_tick(void *user, uint64_t tick, foliot_input *inputs, uint32_t capacity)
{
    synctest_source *s = user;
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

static foliot_status commands_of_tick(void *user, uint64_t tick, foliot_command_list *list)
{
    synctest_source *s = user;
    foliot_tick_inputs in;
    foliot_status status = FOLIOT_STATUS_OK;
    if (s->rules) {
        in.commands = tick < s->rules->ticks ? s->rules->lists[tick].commands : NULL;
        in.command_count = tick < s->rules->ticks ? s->rules->lists[tick].count : 0;
    } else if (!lab_commands_at(s->commands, tick, &in, &s->problem)) {
        return FOLIOT_STATUS_CORRUPT;
    }
    for (uint32_t i = 0; i < in.command_count && status == FOLIOT_STATUS_OK; i++)
        status = foliot_command_list_append(list, &in.commands[i]);
    return status;
}

// -- the tests

// Whether --test leaves the rules out, or names them.
static bool wants_rules(const lab_synctest_options *options)
{
    return !options->test || strcmp(options->test, "rules") == 0;
}

// Distances of rollbacks: "1,2,8".
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

// Reads the options of the tests into *config. 0, or the exit code after a sentence.
static int configure_harness(const lab_context *context, const lab_synctest_options *options,
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
    for (int i = 0; i < FOLIOT_HARNESS_TEST_COUNT && options->test; i++)
        if (strcmp(options->test, foliot_harness_test_get_name((foliot_harness_test)i)) != 0)
            config->skipped |= 1u << i;
    return 0;
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

// Uses only functions that a signal handler may call: the simulation may have corrupted the heap.
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
    char digits[24] = {0}, *at = digits + sizeof digits - 1;
    uint64_t tick = r ? r->ticks : foliot__module_get_answer_tick();
    do
        *--at = (char)('0' + tick % 10);
    while (tick /= 10);
    append(line, &length, at);
    append(line, &length, watched.json ? "}\n" : "\n");
    (void)!write(watched.json ? STDOUT_FILENO : STDERR_FILENO, line, length);
    // Returns into the fault, for the debugger, the sanitizer, or the core dump.
    sigaction(number, &watched.before[number], NULL);
    if (!about || about->si_code <= 0)
        raise(number);
}

#define CRASH_STACK_BYTES 65536 // a simulation may have used up its own

static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

// From now on a crash ends the program by its signal after a line that names the tick and the test,
// or the loader's known-answer run.
static void watch_crashes(const lab_synctest_options *options)
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

// Runs the harness with this crash handler. 0 and the result, or the exit code after a sentence.
static int run_watched(const lab_context *context, const lab_synctest_options *options,
                       const foliot_harness_config *config, const synctest_source *from,
                       foliot_harness_result *result)
{
    watched.result = result;
    watch_crashes(options);
    foliot_status status = foliot_harness_run(config, result);
    watched.on = false;
    for (size_t i = 0; i < sizeof crash_signals / sizeof *crash_signals; i++)
        sigaction(crash_signals[i], &watched.before[crash_signals[i]], NULL);
    if (from->problem)
        return lab_fail(context, FOLIOT__EXIT_CORRUPT, "%s", from->problem);
    if (status != FOLIOT_STATUS_OK)
        return lab_fail(context, FOLIOT__EXIT_ERROR, "%s", result->error.text);
    return 0;
}

// -- scenes

static uint32_t players_of(const lab_synctest_options *options, const foliot_scene *scene)
{
    if (options->players_given)
        return (uint32_t)options->players;
    return scene->players.limit < PLAYERS_DEFAULT ? scene->players.limit : PLAYERS_DEFAULT;
}

static int run_harness(const lab_context *context, const lab_synctest_options *options,
                       const foliot_scene *scene, synctest_source *from)
{
    foliot_harness_result result;
    foliot_harness_config config = foliot_harness_config_default();
    foliot_status status = foliot_scene_encode(scene, NULL, 0, &config.setup_bytes);
    uint8_t *setup = status == FOLIOT_STATUS_OK ? malloc(config.setup_bytes + 1) : NULL;
    if (!setup || foliot_scene_encode(scene, setup, config.setup_bytes, &config.setup_bytes) !=
                      FOLIOT_STATUS_OK) {
        free(setup);
        return lab_fail(context, FOLIOT__EXIT_ERROR, "no memory");
    }
    config.kind = &foliot_world_kind;
    config.setup = setup;
    config.ticks = options->ticks ? options->ticks : TICKS_DEFAULT;
    config.seed = options->seed;
    config.players = players_of(options, scene);
    if (from->inputs) {
        config.inputs = inputs_of_tick;
        config.inputs_user = from;
    }
    if (from->commands || from->rules) {
        config.commands = commands_of_tick;
        config.commands_user = from;
    }
    int code = configure_harness(context, options, &config);
    code = code ? code : run_watched(context, options, &config, from, &result);
    free(setup);
    if (code)
        return code;
    const rules_test *rules = wants_rules(options) ? from->rules : NULL;
    char *text = malloc(TEXT_BYTES);
    if (!text)
        return lab_fail(context, FOLIOT__EXIT_ERROR, "no memory");
    if (!options->json)
        printf("%s, %s\n", scene->name ? scene->name : "scene",
               foliot_integrator_get_info(scene->integrator)->name);
    (options->json ? foliot_harness_print_json : foliot_harness_print_text)(&result, text,
                                                                            TEXT_BYTES);
    if (options->json && rules) {
        // One member more of the object that the harness has printed.
        text[strlen(text) - 1] = 0; // its closing brace
        printf("%s,\"rules\":", text);
        foliot__json out = foliot__json_to(stdout);
        foliot__json_object(&out, NULL);
        foliot__json_bool(&out, "passed", rules->passed);
        foliot__json_count(&out, "checks", rules->checks);
        foliot__json_text(&out, "text", rules->passed ? NULL : rules->text);
        if (!rules->passed)
            foliot__json_count(&out, "first_bad_tick", rules->first_bad_tick);
        foliot__json_close(&out);
        printf("}\n");
    } else {
        printf("%s%s", text, options->json ? "\n" : "");
    }
    if (!options->json && rules) {
        if (rules->passed)
            printf("%-14s passed %9" PRIu64 " checks  restored rules give the same\n", "rules",
                   rules->checks);
        else
            printf("%-14s FAILED %9" PRIu64 " checks  %s\n", "rules", rules->checks, rules->text);
    }
    free(text);
    return result.passed && (!rules || rules->passed) ? FOLIOT__EXIT_FINE : FOLIOT__EXIT_DIVERGED;
}

// With separate inputs: the harness asks for them again.
static int test_rules(const lab_context *context, const lab_synctest_options *options,
                      const foliot_scene *scene, synctest_source *from, rules_test *test)
{
    lab_inputs *inputs;
    int code = options->inputs ? lab_inputs_open(context, options->inputs, scene, &inputs)
                               : lab_inputs_draw(context, players_of(options, scene), options->seed,
                                                 scene, &inputs);
    if (code == 0)
        code = rules_test_run(context, scene, inputs, from->commands, from->orders,
                              options->ticks ? options->ticks : TICKS_DEFAULT, test);
    lab_inputs_close(inputs);
    return code;
}

int lab_synctest(const lab_context *context, const char *file, const lab_synctest_options *options)
{
    foliot_scene *scene;
    synctest_source from = {0};
    rules_test rules = {0};
    foliot_harness_config unused = foliot_harness_config_default();
    int code = configure_harness(context, options, &unused); // before anything runs
    if (code == 0)
        code = lab_scene_open(context, file, options->integrator, 0, &scene);
    if (code)
        return code;
    if (options->test && wants_rules(options) && (!scene->script.name || options->no_rules))
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
    if (code == 0 && scene->script.name && !options->no_rules) {
        code = test_rules(context, options, scene, &from, &rules);
        from.rules = &rules;
    }
    if (code == 0)
        code = run_harness(context, options, scene, &from);
    free_lists(&rules);
    if (from.inputs)
        lab_inputs_close(from.inputs);
    lab_commands_close(from.commands);
    lab_orders_close(from.orders);
    foliot_scene_destroy(scene);
    return code;
}

// -- simulations from modules

// The name of a requested option that only worlds have; NULL: none is requested.
static const char *of_worlds(const lab_synctest_options *options)
{
    return options->integrator                                    ? "integrator"
           : options->no_rules                                    ? "no-rules"
           : options->test && strcmp(options->test, "rules") == 0 ? "test rules"
                                                                  : NULL;
}

static int run_module_harness(const lab_context *context, const lab_synctest_options *options,
                              const foliot_harness_config *config, const synctest_source *from)
{
    foliot_harness_result result;
    int code = run_watched(context, options, config, from, &result);
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

// Appends the commands that an order becomes. As on a server, a command that is invalid, or for
// which the tick has no room, is left out.
static void take_order(const foliot_simulation *simulation, const foliot_order *order,
                       uint32_t *sequence, foliot_command_list *list)
{
    foliot_command commands[FOLIOT_ORDER_COMMANDS_MAX] = {0};
    uint32_t count =
        simulation->kind->order(simulation->self, order, commands, FOLIOT_ORDER_COMMANDS_MAX);
    for (uint32_t i = 0; i < count && i < FOLIOT_ORDER_COMMANDS_MAX; i++) {
        commands[i].sequence = *sequence + 1;
        commands[i].source = FOLIOT_COMMAND_SOURCE_RULES;
        if (foliot_command_valid(&commands[i], NULL) && list->count < FOLIOT_COMMANDS_MAX &&
            list->encoded_bytes + foliot_command_encode(&commands[i], NULL, 0) <=
                FOLIOT_COMMAND_TICK_BYTES_MAX &&
            foliot_command_list_append(list, &commands[i]) == FOLIOT_STATUS_OK)
            ++*sequence;
    }
}

// Runs the simulation once to turn orders into commands: all commands of each tick go into
// `played`. A recording's own commands from orders are left out.
static int play_orders(const lab_context *context, const foliot_harness_config *config,
                       lab_inputs *inputs, synctest_source *from, rules_test *played)
{
    foliot_simulation simulation;
    uint32_t sequence = 0;
    const char *problem = "";
    played->lists = calloc(config->ticks, sizeof *played->lists);
    if (!played->lists || foliot_simulation_create(config->kind, config->setup, config->setup_bytes,
                                                   &simulation) != FOLIOT_STATUS_OK)
        return lab_fail(context, FOLIOT__EXIT_ERROR, "no memory");
    int code = 0;
    for (; played->ticks < config->ticks && code == 0; played->ticks++) {
        foliot_command_list *list = &played->lists[played->ticks];
        foliot_tick_inputs in;
        const foliot_order *orders;
        uint32_t count;
        if (!lab_inputs_at(inputs, played->ticks, &in.inputs, &in.input_count, &problem) ||
            !lab_commands_at(from->commands, played->ticks, &in, &problem) ||
            !lab_orders_at(from->orders, played->ticks, &orders, &count, &problem)) {
            code = lab_fail(context, FOLIOT__EXIT_CORRUPT, "%s", problem);
            break;
        }
        foliot_status status = FOLIOT_STATUS_OK;
        for (uint32_t i = 0; i < in.command_count && status == FOLIOT_STATUS_OK; i++)
            if (in.commands[i].source != FOLIOT_COMMAND_SOURCE_RULES) {
                status = foliot_command_list_append(list, &in.commands[i]);
                if (status == FOLIOT_STATUS_OK)
                    list->commands[list->count - 1].sequence = ++sequence;
            }
        for (uint32_t i = 0; i < count; i++)
            take_order(&simulation, &orders[i], &sequence, list);
        in.commands = list->commands;
        in.command_count = list->count;
        if (status == FOLIOT_STATUS_OK)
            status = foliot_simulation_step_tick(&simulation, &in);
        if (status != FOLIOT_STATUS_OK)
            code = lab_fail(context, FOLIOT__EXIT_ERROR, "the step from tick %" PRIu64 ": %s",
                            played->ticks, foliot_status_get_text(status));
    }
    foliot_simulation_destroy(&simulation);
    return code;
}

// Orders of a file become commands; the inputs are those of the harness.
static int open_orders(const lab_context *context, const lab_synctest_options *options,
                       const foliot_scene *limits, foliot_harness_config *config,
                       synctest_source *from, rules_test *played)
{
    lab_inputs *inputs = NULL;
    if (!options->orders)
        return 0;
    if (!config->kind->order)
        return lab_fail(context, FOLIOT__EXIT_SCENE, "%s: the simulation takes no orders",
                        options->orders);
    int code = lab_orders_open(context, options->orders, limits, &from->orders);
    if (code == 0)
        code = options->inputs
                   ? lab_inputs_open(context, options->inputs, limits, &inputs)
                   : lab_inputs_draw(context, config->players, config->seed, limits, &inputs);
    if (code == 0)
        code = play_orders(context, config, inputs, from, played);
    lab_inputs_close(inputs);
    from->rules = played;
    config->commands = commands_of_tick;
    config->commands_user = from;
    return code;
}

// Inputs, commands and orders from files. The readers ask a scene for its limits.
static int open_files(const lab_context *context, const lab_synctest_options *options,
                      uint32_t player_limit, foliot_harness_config *config, synctest_source *from,
                      rules_test *played)
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
        config->inputs = inputs_of_tick;
        config->inputs_user = from;
    }
    if (from->commands) {
        config->commands = commands_of_tick;
        config->commands_user = from;
    }
    return code ? code : open_orders(context, options, &limits, config, from, played);
}

int lab_synctest_module(const lab_context *context, const char *file,
                        const lab_synctest_options *options)
{
    char problem[512];
    uint8_t *setup = NULL;
    foliot_simulation_terms terms;
    foliot_harness_config config = foliot_harness_config_default();
    if (of_worlds(options))
        return foliot__options_wrong(
            context->program, context->arguments,
            "--%s is for worlds, and --simulation names another simulation: commands of a "
            "simulation are given with --commands",
            of_worlds(options));
    watch_crashes(options);
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
    synctest_source from = {0};
    rules_test played = {0};
    int code = config.players > terms.player_limit
                   ? foliot__options_wrong(context->program, context->arguments,
                                           "--players %" PRIu32 ": the simulation takes %" PRIu32,
                                           config.players, terms.player_limit)
                   : configure_harness(context, options, &config);
    if (code == 0)
        code = open_files(context, options, terms.player_limit, &config, &from, &played);
    if (code == 0)
        code = run_module_harness(context, options, &config, &from);
    if (from.inputs)
        lab_inputs_close(from.inputs);
    lab_commands_close(from.commands);
    lab_orders_close(from.orders);
    free_lists(&played);
    free(setup);
    return code;
}
