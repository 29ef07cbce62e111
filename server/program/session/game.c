// SPDX-License-Identifier: MIT
// game.c: the rules of a hosted session: from a script or a module, or for a resumption from the
// script in its recording; and the data about them that a recording stores.
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit_code.h"
#include "base/file.h"
#include "program/process.h"
#include "host.h"
#include "rules/rules.h"

#define PROBLEM_BYTES 512

static int complain(const char *what, const char *why)
{
    return foliot__host_complain(FOLIOT__EXIT_SCENE, what, why);
}

// A copy that lives as long as the rules, which may be created before the world is resumed.
static foliot_scene *copy_scene(const foliot_scene *scene)
{
    size_t length = 0;
    foliot_scene *copy = NULL;
    uint8_t *bytes = NULL;
    if (foliot_scene_encode(scene, NULL, 0, &length) == FOLIOT_STATUS_OK)
        bytes = malloc(length);
    if (!bytes || foliot_scene_encode(scene, bytes, length, &length) != FOLIOT_STATUS_OK ||
        foliot_scene_decode(bytes, length, &copy) != FOLIOT_STATUS_OK)
        copy = NULL;
    free(bytes);
    return copy;
}

// -- scripts

static int make_script(foliot__hosted *h, const char *name)
{
    char problem[PROBLEM_BYTES];
    foliot_status status = foliot__rules_create_script(
        h->script, h->script_bytes, name, true, h->rules_scene, &h->rules, problem, sizeof problem);
    return status == FOLIOT_STATUS_OK ? 0 : complain("rules", problem);
}

// Copies the text.
static int copy_script(foliot__hosted *h, const char *text, size_t length, const char *name)
{
    h->script = malloc(length + 1);
    if (!h->script)
        return complain(name, foliot_status_get_text(FOLIOT_STATUS_MEMORY));
    memcpy(h->script, text, length);
    h->script[length] = 0;
    h->script_bytes = length;
    return make_script(h, name);
}

// -- modules

static const char *module_problem(const foliot_rules_module *module)
{
    if (module->abi != FOLIOT_RULES_ABI || module->module_bytes != sizeof *module ||
        module->kind_bytes != sizeof(foliot_rules_kind) ||
        module->view_bytes != sizeof(foliot_rules_view) ||
        module->command_bytes != sizeof(foliot_command) ||
        module->order_bytes != sizeof(foliot_order))
        return "it was built for another ABI of rules: build it again with this version's "
               "headers";
    const foliot_rules_kind *kind = module->kind;
    return kind && kind->name && kind->create && kind->destroy && kind->tick && kind->save &&
                   kind->restore
               ? NULL
               : "its kind lacks a name or a function";
}

// -- making

int foliot__hosted_make_rules(foliot__hosted *h, const foliot_scene *scene,
                              const foliot__host_options *options)
{
    const char *file = options->rules ? options->rules : scene->script.name;
    if (!file)
        return 0;
    h->rules_scene = copy_scene(scene);
    if (!h->rules_scene)
        return complain(file, foliot_status_get_text(FOLIOT_STATUS_MEMORY));
    int opened = options->rules ? foliot__file_open(file) : -1;
    if (options->rules && opened < 0) // before all that is wrong with the scene
        return complain(file, foliot__file_problem(errno));
    if (opened >= 0)
        close(opened);
    if (scene->commands_max == 0)
        return complain(file, "the scene takes no commands: it lacks limits: {commands_max}");
    if (!options->rules && scene->script.kind == FOLIOT_SCRIPT_LUA)
        return copy_script(h, scene->script.text, scene->script.bytes, file);
    size_t length = strlen(file);
    if (options->rules && (length < 3 || strcmp(file + length - 3, ".so") != 0)) {
        errno = 0;
        h->script = foliot__file_slurp_text(file, FOLIOT_RULES_SCRIPT_BYTES_MAX, &h->script_bytes);
        if (!h->script)
            return complain(file, errno && errno != EFBIG
                                      ? foliot__file_problem(errno)
                                      : "a script has at most 1 MiB (1,048,576 bytes)");
        if (h->script_bytes == 0)
            return complain(file, "the file is empty");
        return make_script(h, file);
    }
    if (!options->allows_modules)
        return complain(file,
                        "a module runs with all rights of this server: --allow-modules permits it");
    char problem[PROBLEM_BYTES] = "";
    const foliot_rules_module *module =
        foliot__module_open(file, "foliot_rules_entry", offsetof(foliot_rules_module, kind_bytes),
                            problem, sizeof problem);
    if (!module)
        return complain(file, problem);
    if (module_problem(module))
        return complain(file, module_problem(module));
    h->rules_version = module->kind->version;
    foliot_status status =
        foliot_rules_create(module->kind, h->rules_scene, &h->rules, problem, sizeof problem);
    if (status == FOLIOT_STATUS_OK)
        return 0;
    return complain(file, *problem ? problem : foliot_status_get_text(status));
}

int foliot__hosted_resume_rules(foliot__hosted *h, const foliot_replay_summary *about,
                                const foliot__host_options *options)
{
    if (options->rules)
        return foliot__hosted_make_rules(h, about->scene, options);
    if (!*about->rules_name)
        return 0;
    if (!about->rules_text)
        return complain(about->rules_name, "the recording's rules are a module: name it with "
                                           "--rules FILE --allow-modules");
    h->rules_scene = copy_scene(about->scene);
    if (!h->rules_scene)
        return complain(about->rules_name, foliot_status_get_text(FOLIOT_STATUS_MEMORY));
    return copy_script(h, about->rules_text, about->rules_text_bytes, about->rules_name);
}

void foliot__hosted_destroy_rules(foliot__hosted *h)
{
    foliot_rules_destroy(h->rules);
    foliot_scene_destroy(h->rules_scene);
    free(h->script);
    h->rules = NULL;
    h->rules_scene = NULL;
    h->script = NULL;
}

// -- recordings

static foliot_status save_rules(void *user, void *bytes, size_t capacity, size_t *length)
{
    return foliot_rules_save(user, bytes, capacity, length);
}

static foliot_status restore_rules(void *user, const void *bytes, size_t length)
{
    return foliot_rules_restore(user, bytes, length);
}

// The recorded rules had stopped too, and the session continued.
static foliot_status tick_rules(void *user, const foliot_rules_view *view)
{
    foliot_status status = foliot_rules_tick(user, view);
    return status == FOLIOT_STATUS_MEMORY ? status : FOLIOT_STATUS_OK;
}

static bool stopped_by_host(void *user, const void *bytes, size_t length)
{
    return foliot__rules_saved_by_host(user, bytes, length);
}

const foliot_recording_rules *foliot__hosted_recorded_rules(foliot__hosted *h)
{
    if (!h->rules)
        return NULL;
    h->recorded_rules = (foliot_recording_rules){.name = foliot_rules_get_name(h->rules),
                                                 .version = h->rules_version,
                                                 .text = h->script,
                                                 .text_bytes = h->script_bytes,
                                                 .save = save_rules,
                                                 .restore = restore_rules,
                                                 .tick = tick_rules,
                                                 .stopped_by_host = stopped_by_host,
                                                 .user = h->rules};
    return &h->recorded_rules;
}
