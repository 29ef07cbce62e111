// SPDX-License-Identifier: MIT
// open.c: the rules that a scene's `script` names: a script in Lua, or a shared library. A library
// is machine code with all rights of the program that loads it, so it takes the host's permission.
#include "foliot/rules.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static foliot_status refuse(char *problem, size_t bytes, foliot_status status, const char *format,
                            ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem, bytes, format, arguments);
    va_end(arguments);
    return status;
}

// The library stays loaded until the program ends: instances and their kind may outlive a session.
static foliot_status open_module(const foliot_scene *scene, foliot_rules **rules, char *problem,
                                 size_t problem_bytes)
{
    const char *file = scene->script_name;
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return refuse(problem, problem_bytes, FOLIOT_STATUS_NOT_FOUND, "%s", dlerror());
    const foliot_rules_module *(*entry)(void);
    void *symbol = dlsym(library, "foliot_rules_entry");
    memcpy(&entry, &symbol, sizeof entry); // ISO C has no cast between the two
    if (!symbol)
        return refuse(problem, problem_bytes, FOLIOT_STATUS_INVALID,
                      "%s: has no foliot_rules_entry: it is no module of rules", file);
    const foliot_rules_module *module = entry();
    if (!module || module->abi != FOLIOT_RULES_ABI)
        return refuse(problem, problem_bytes, FOLIOT_STATUS_UNSUPPORTED,
                      "%s: was built for ABI %u of rules; this build has %u", file,
                      module ? (unsigned)module->abi : 0u, FOLIOT_RULES_ABI);
    if (module->kind_bytes != sizeof(foliot_rules_kind) ||
        module->view_bytes != sizeof(foliot_rules_view) ||
        module->command_bytes != sizeof(foliot_command) ||
        module->order_bytes != sizeof(foliot_order))
        return refuse(problem, problem_bytes, FOLIOT_STATUS_UNSUPPORTED,
                      "%s: was built with other headers of foliot: build it anew", file);
    return foliot_rules_create(module->kind, scene, rules, problem, problem_bytes);
}

foliot_status foliot_rules_open(const foliot_scene *scene, const foliot_lua_limits *limits,
                                bool allow_modules, foliot_rules **rules, char *problem,
                                size_t problem_bytes)
{
    foliot_lua_limits standard = foliot_lua_limits_default();
    *rules = NULL;
    switch (scene->script_kind) {
    case FOLIOT_SCRIPT_NONE:
        return FOLIOT_STATUS_OK;
    case FOLIOT_SCRIPT_LUA:
        return foliot_rules_create_lua(scene->script_text, scene->script_bytes, scene->script_name,
                                       limits ? limits : &standard, scene, rules, problem,
                                       problem_bytes);
    case FOLIOT_SCRIPT_MODULE:
        if (allow_modules)
            return open_module(scene, rules, problem, problem_bytes);
        return refuse(problem, problem_bytes, FOLIOT_STATUS_REFUSED,
                      "%s: a module is machine code that may do all that this program may: "
                      "allow it with --allow-modules",
                      scene->script_name);
    default:
        return refuse(problem, problem_bytes, FOLIOT_STATUS_INVALID, "script: of unknown kind");
    }
}
