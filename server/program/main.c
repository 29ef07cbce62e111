// SPDX-License-Identifier: MIT
// main.c: foliot-server: hosts sessions, or checks scenes.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "program/options/arguments.h"
#include "base/exit_code.h"
#include "base/file.h"
#include "base/terminal.h"
#include "base/text.h"
#include "process.h"
#include "program/report/report.h"
#include "program/session/recordings.h"
#include "program/sandbox/sandbox.h"

// libuv ends the process if it gets no descriptor for its signals, so this is checked first.
#define LOOP_DESCRIPTORS 12

static void announce(const foliot__app *a)
{
    uint16_t port = foliot_transport_get_port(a->transport);
    foliot__bind_announce(port);
    for (uint32_t i = 0; i < a->hosted_count; i++) {
        char name[FOLIOT_KIND_NAME_BYTES];
        const char *recorded = a->hosted[i].recording ? ", recorded in " : "",
                   *file = a->hosted[i].recording ? a->hosted[i].recording_file : "";
        uint32_t limit = foliot__hosted_player_limit(&a->hosted[i]);
        if (a->hosted[i].scene)
            printf("session '%s'%s: %s at %g Hz, %u bodies, room for %u players%s%s\n",
                   a->hosted[i].name, foliot__app_lockstep(a, &a->hosted[i]) ? " in lockstep" : "",
                   foliot_integrator_get_info(a->hosted[i].scene->integrator)->name,
                   a->hosted[i].pace_hz, a->hosted[i].scene->body_count, limit, recorded, file);
        else
            printf("session '%s' in lockstep: %s version %u at %g Hz, room for %u players%s%s\n",
                   a->hosted[i].name,
                   foliot__text_clean(name, sizeof name, a->hosted[i].simulation.kind->name),
                   a->hosted[i].simulation.kind->version, a->hosted[i].pace_hz, limit, recorded,
                   file);
        if (a->hosted[i].rules)
            printf("rules: %s\n", foliot_rules_get_name(a->hosted[i].rules));
        if (a->hosted[i].resumed)
            printf(
                "resumed at tick %llu\n",
                (unsigned long long)(a->hosted[i].world
                                         ? foliot_world_get_tick(a->hosted[i].world)
                                         : foliot_simulation_get_tick(&a->hosted[i].simulation)));
    }
    const foliot__hosted *named = &a->hosted[a->hosted_count > 1];
    if (a->hosted_count == 0) {
        printf("no session yet: foliotctl create NAME SCENE hosts one\n");
    } else {
        static const char plain[] =
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
        printf("join with: foliot-client ");
        foliot__bind_print_host(port);
        if (a->hosted_count > 1) { // the name as one word of a shell command
            const char *quote = named->name[strspn(named->name, plain)] == 0 ? ""
                                : strchr(named->name, '\'')                  ? "\""
                                                                             : "'";
            printf(" --session %s%s%s", quote, named->name, quote);
        }
        printf("%s%s%s\n", named->simulation_module ? " --simulation FILE" : "",
               foliot__hosted_player_limit(named) == 0 ? " --spectate" : "",
               foliot__security_client_options(a->choices));
    }
    foliot__front_announce(a);
    foliot__browser_announce(a);
    foliot__sandbox_announce();
    fflush(stdout);
    foliot__security_announce(a->choices);
}

static void print_counters(const foliot__app *a)
{
    const foliot_server_counters *s = foliot_server_get_counters(a->server);
    const foliot_transport_counters *t = foliot_transport_get_counters(a->transport);
#define PRINT_SERVER(name, help) printf("%-28s %llu\n", #name, (unsigned long long)s->name);
#define PRINT_TRANSPORT(name, help) printf("%-28s %llu\n", #name, (unsigned long long)t->name);
    if (a->choices->process.verbose) {
        FOLIOT_SERVER_COUNTERS(PRINT_SERVER)
        FOLIOT_TRANSPORT_COUNTERS(PRINT_TRANSPORT)
        printf("%-28s %.0f\n", "tick_start_us_p50", foliot_server_get_lateness_us(a->server, 0.5));
    } else {
        PRINT_SERVER(ticks, )
        PRINT_SERVER(ticks_late, )
        PRINT_SERVER(joins, )
        PRINT_SERVER(inputs, )
        PRINT_SERVER(inputs_late, )
    }
    printf("%-28s %.0f\n", "tick_start_us_p99", foliot_server_get_lateness_us(a->server, 0.99));
#undef PRINT_SERVER
#undef PRINT_TRANSPORT
}

static int host(foliot__server_choices *choices, const foliot__arguments *arguments)
{
    static foliot__app a;
    a.choices = choices;
    a.port = choices->network.port;
    if (!isatty(STDERR_FILENO)) // a reload during the start is ignored; a closed terminal ends it
        signal(SIGHUP, SIG_IGN);
    int code = foliot__sandbox_check(choices, arguments);
    if (code == 0)
        code = foliot__recordings_open(choices->recording.command);
    if (code == 0) { // the helper of --on-recording was made before
        foliot__sandbox_begin(choices, arguments);
        code = foliot__check_words(choices, arguments); // the order decides which error is reported
    }
    if (code == 0 && !foliot__log_start(choices->process.log_format))
        code = foliot__host_lacks("the memory for its log");
    if (code == 0)
        code = foliot__bind_check(choices, arguments);
    if (code == 0)
        code = foliot__security_check(choices, arguments);
    if (code == 0)
        code = foliot__check_sessions(choices, arguments,
                                      foliot__life_has_orders(choices->process.life_cycle));
    if (code)
        return code;
    foliot__host_options options = {.record = choices->recording.file,
                                    .no_record = choices->recording.off,
                                    .folder = foliot__recordings_folder(choices),
                                    .integrator = choices->sessions.integrator,
                                    .tick_hz = choices->sessions.tick_hz,
                                    .rules = choices->sessions.rules,
                                    .allows_modules = choices->sessions.allow_modules,
                                    .simulation = choices->sessions.simulation};
    code = foliot__app_read_signer(&a);
    options.signer = a.signer;
    if (code == 0)
        code = foliot__life_open(&a);
    if (code == 0)
        code = foliot__app_open_sessions(&a, arguments, &options);
    if (code == 0 && !foliot__descriptors_left(LOOP_DESCRIPTORS + a.hosted_count))
        code = foliot__host_lacks("as many open files as it needs");
    if (code == 0)
        code = foliot__app_open_transport(&a);
    if (code == 0)
        code = foliot__app_open_loop(&a);
    if (code == 0)
        code = foliot__admin_open(&a);
    if (code == 0)
        code = foliot__front_open(&a);
    if (code == 0)
        code = foliot__lobby_open(&a);
    if (code == 0)
        code = foliot__browser_start(&a);
    if (code == 0)
        code = foliot__sandbox_drop();
    // Recordings are opened last: a refused start must not leave a file.
    for (uint32_t i = 0; code == 0 && i < a.hosted_count; i++)
        code = foliot__hosted_record(&a.hosted[i], &options);
    if (code == 0)
        code = foliot__app_start_server(&a);
    if (code == 0)
        code = foliot__app_start_loop(&a);
    if (code == 0) {
        foliot__admin_start(&a);
        foliot__front_start(&a);
        foliot__lobby_start(&a);
        code = foliot__sandbox_enter(choices);
    }
    if (code == 0) {
        announce(&a);
        foliot__app_run_loop(&a);
        print_counters(&a);
        code = a.failed ? FOLIOT__EXIT_ERROR : 0;
    }
    foliot__lobby_end_calls(&a);
    foliot__admin_stop(&a);
    foliot__front_stop(&a);
    foliot__admin_destroy(&a);
    foliot__browser_stop(&a);
    foliot__lobby_stop(&a);
    foliot_server_destroy(a.server);
    int closed = foliot__hosted_close(a.hosted, a.hosted_count);
    code = code ? code : closed;
    foliot_signer_destroy(a.signer);
    foliot_transport_destroy(a.transport);
    foliot_used_tokens_close(a.used_tokens);
    foliot__step_workers_destroy(a.workers);
    foliot__pool_destroy(a.pool);
    foliot__life_close(&a);
    foliot__log_stop();
    code = foliot__stdout_done("foliot-server", code);
    if (foliot__http_is_lost()) // a thread may still run: it must not see what exit() destroys
        _exit(code);
    return code;
}

// Runs the start of the scene's rules once: this shows errors of a script.
static bool check_rules(const char *file, const foliot_scene *scene)
{
    char problem[512];
    const foliot_lua_limits limits = foliot_lua_limits_default();
    if (scene->script.kind != FOLIOT_SCRIPT_LUA)
        return true;
    foliot_status status =
        foliot_rules_check_lua(scene->script.text, scene->script.bytes, scene->script.name, &limits,
                               scene, problem, sizeof problem);
    if (status != FOLIOT_STATUS_OK)
        fprintf(stderr, "%s: script: %s\n", file, problem);
    return status == FOLIOT_STATUS_OK;
}

static int check(const foliot__arguments *arguments)
{
    int code = 0;
    for (uint32_t i = 0; i < arguments->operand_count; i++) {
        foliot_scene *scene;
        foliot_error error;
        char name[FOLIOT_NAME_BYTES];
        if (foliot_scene_read(arguments->operands[i], &scene, &error) != FOLIOT_STATUS_OK) {
            fprintf(stderr, "%s\n", error.text);
            code = FOLIOT__EXIT_SCENE;
            continue;
        }
        if (!check_rules(arguments->operands[i], scene)) {
            code = FOLIOT__EXIT_SCENE;
            foliot_scene_destroy(scene);
            continue;
        }
        printf("%s: fine: '%s', bodies: %u, forces: %u, constraints: %u, players: %u, substeps: "
               "%u, %s\n",
               arguments->operands[i], foliot__text_clean(name, sizeof name, scene->name),
               scene->body_count, scene->force_count, scene->constraint_count, scene->players.limit,
               scene->substeps, foliot_integrator_get_info(scene->integrator)->name);
        foliot_scene_destroy(scene);
    }
    return foliot__stdout_done("foliot-server", code);
}

int main(int argc, char **argv)
{
    static foliot__server_choices choices;
    foliot__arguments arguments;
    if (!foliot__standard_open())
        return FOLIOT__EXIT_ERROR;
    int code = foliot__arguments_read(argc, argv, &choices, &arguments);
    if (code >= 0)
        return code;
    if (choices.process.print_config) {
        foliot__config_print(&foliot__server_program);
        return foliot__stdout_done("foliot-server", 0);
    }
    signal(SIGPIPE, SIG_IGN);
    return strcmp(arguments.command->name, "check") == 0 ? check(&arguments)
                                                         : host(&choices, &arguments);
}
