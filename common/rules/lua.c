// SPDX-License-Identifier: MIT
// lua.c: rules in Lua as a kind of rules: an instance is a script and one Lua state that runs it.
// Restoring makes a new state from the script, so that only the saved bytes carry over.
#include "rules/rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

foliot_lua_limits foliot_lua_limits_default(void)
{
    return (foliot_lua_limits){200000, 20000000, 16u << 20, 4000};
}

#ifndef FOLIOT_NO_LUA
#include "rules/lua_state.h"

typedef struct script_rules {
    foliot_rules_kind kind;
    foliot_lua_limits limits;
    const foliot_scene *scene;
    foliot_rules *rules;
    foliot__lua *lua;
    char name[FOLIOT_NAME_BYTES];
    size_t length;
    char script[];
} script_rules;

static void report(const foliot__lua *lua, char *problem, size_t problem_bytes)
{
    if (lua && lua->by_host)
        foliot__rules_stop_by_host(lua->rules);
    snprintf(problem, problem_bytes, "%s", lua ? lua->problem : "there is no memory");
}

// A state that has loaded the script; NULL with a problem.
static foliot__lua *load(script_rules *s, foliot_status *status, char *problem,
                         size_t problem_bytes)
{
    foliot__lua *lua = foliot__lua_create(s->name, &s->limits, s->scene);
    *status = FOLIOT_STATUS_MEMORY;
    if (lua) {
        lua->rules = s->rules;
        if (foliot__lua_load(lua, s->script, s->length))
            return lua;
        *status = FOLIOT_STATUS_INVALID;
    }
    report(lua, problem, problem_bytes);
    foliot__lua_destroy(lua);
    return NULL;
}

static int init_body(lua_State *L)
{
    const foliot__lua *lua = foliot__lua_of(L);
    if (lua->callbacks[FOLIOT__LUA_on_init] != LUA_NOREF) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, lua->callbacks[FOLIOT__LUA_on_init]);
        lua_call(L, 0, 0);
    }
    return 0;
}

static foliot_status script_create(void *user, const foliot_scene *scene, foliot_rules *rules,
                                   void **self, char *problem, size_t problem_bytes)
{
    script_rules *s = user;
    foliot_status status;
    s->scene = scene;
    s->rules = rules;
    s->lua = load(s, &status, problem, problem_bytes);
    if (!s->lua) {
        foliot__lua_add_column(s->script, s->length, s->name, problem, problem_bytes);
        return status;
    }
    if (!foliot__lua_run(s->lua, s->limits.init_instructions, init_body, NULL)) {
        report(s->lua, problem, problem_bytes);
        foliot__lua_destroy(s->lua);
        return FOLIOT_STATUS_INVALID;
    }
    foliot__rules_set_script(rules, s->script, s->length);
    *self = s;
    return FOLIOT_STATUS_OK;
}

static void script_destroy(void *self)
{
    script_rules *s = self;
    foliot__lua_destroy(s->lua);
    free(s);
}

static foliot_status script_tick(void *self, const foliot_rules_view *view, foliot_rules *rules,
                                 char *problem, size_t problem_bytes)
{
    script_rules *s = self;
    (void)rules;
    s->lua->view = view;
    bool fine = foliot__lua_tick(s->lua);
    s->lua->view = NULL;
    if (fine)
        return FOLIOT_STATUS_OK;
    report(s->lua, problem, problem_bytes);
    return FOLIOT_STATUS_INVALID;
}

static size_t script_save(const void *self, void *bytes, size_t capacity, char *problem,
                          size_t problem_bytes)
{
    const script_rules *s = self;
    size_t length = foliot__lua_save(s->lua, bytes, capacity, problem, problem_bytes);
    if (length == SIZE_MAX)
        report(s->lua, problem, problem_bytes);
    return length;
}

static foliot_status script_restore(void *self, const void *bytes, size_t length)
{
    script_rules *s = self;
    char problem[FOLIOT__LUA_PROBLEM_BYTES];
    foliot_status status;
    foliot__lua *lua = load(s, &status, problem, sizeof problem);
    if (!lua)
        return status;
    status = foliot__lua_restore(lua, bytes, length);
    if (status != FOLIOT_STATUS_OK) {
        foliot__lua_destroy(lua);
        return status;
    }
    foliot__lua_destroy(s->lua);
    s->lua = lua;
    return FOLIOT_STATUS_OK;
}

static foliot_status check_arguments(size_t length, const char *name,
                                     const foliot_lua_limits *limits, char *problem,
                                     size_t problem_bytes)
{
    size_t name_length = strlen(name);
    if (limits->instructions == 0 || limits->init_instructions == 0 || limits->memory_bytes == 0)
        snprintf(problem, problem_bytes, "%s: a limit is 0", name);
    else if (name_length == 0 || name_length >= FOLIOT_NAME_BYTES)
        snprintf(problem, problem_bytes, "%s: the name of a script has 1 to %d bytes", name,
                 FOLIOT_NAME_BYTES - 1);
    else if (length > FOLIOT_RULES_SCRIPT_BYTES_MAX)
        snprintf(problem, problem_bytes, "%s: the script has %zu bytes; at most %u", name, length,
                 (unsigned)FOLIOT_RULES_SCRIPT_BYTES_MAX);
    else
        return FOLIOT_STATUS_OK;
    return FOLIOT_STATUS_INVALID;
}

foliot_status foliot_rules_create_lua(const char *script, size_t length, const char *name,
                                      const foliot_lua_limits *limits, const foliot_scene *scene,
                                      foliot_rules **rules, char *problem, size_t problem_bytes)
{
    if (problem_bytes)
        problem[0] = 0;
    foliot_status status = check_arguments(length, name, limits, problem, problem_bytes);
    if (status != FOLIOT_STATUS_OK)
        return status;
    script_rules *s = calloc(1, sizeof *s + length + 1);
    if (!s)
        return FOLIOT_STATUS_MEMORY;
    snprintf(s->name, sizeof s->name, "%s", name);
    memcpy(s->script, script, length);
    s->length = length;
    s->limits = *limits;
    s->kind = (foliot_rules_kind){.name = s->name,
                                  .create = script_create,
                                  .destroy = script_destroy,
                                  .tick = script_tick,
                                  .save = script_save,
                                  .restore = script_restore,
                                  .user = s};
    status = foliot_rules_create(&s->kind, scene, rules, problem, problem_bytes);
    if (status != FOLIOT_STATUS_OK)
        free(s);
    return status;
}
#else
foliot_status foliot_rules_create_lua(const char *script, size_t length, const char *name,
                                      const foliot_lua_limits *limits, const foliot_scene *scene,
                                      foliot_rules **rules, char *problem, size_t problem_bytes)
{
    (void)script;
    (void)length;
    (void)limits;
    (void)scene;
    (void)rules;
    snprintf(problem, problem_bytes, "%s: this build has no Lua", name);
    return FOLIOT_STATUS_UNSUPPORTED;
}
#endif

foliot_status foliot__rules_create_script(const char *text, size_t length, const char *file,
                                          bool timed, const foliot_scene *scene,
                                          foliot_rules **rules, char *problem, size_t problem_bytes)
{
    const char *slash = strrchr(file, '/');
    foliot_lua_limits limits = foliot_lua_limits_default();
    if (!timed)
        limits.time_us = 0;
    foliot_status status = foliot_rules_create_lua(text, length, slash ? slash + 1 : file, &limits,
                                                   scene, rules, problem, problem_bytes);
    if (status != FOLIOT_STATUS_OK && !problem[0])
        snprintf(problem, problem_bytes, "%s", foliot_status_get_text(status));
    return status;
}

foliot_status foliot_rules_check_lua(const char *script, size_t length, const char *name,
                                     const foliot_lua_limits *limits, const foliot_scene *scene,
                                     char *problem, size_t problem_bytes)
{
    foliot_rules *rules;
    size_t bytes;
    foliot_status status = foliot_rules_create_lua(script, length, name, limits, scene, &rules,
                                                   problem, problem_bytes);
    if (status != FOLIOT_STATUS_OK)
        return status;
    status = foliot_rules_save(rules, NULL, 0, &bytes);
    if (status == FOLIOT_STATUS_AGAIN)
        snprintf(problem, problem_bytes,
                 "%s: `state` cannot be saved within %" PRIu64 " us and %zu bytes: %s; keep less "
                 "in it",
                 name, limits->time_us, limits->memory_bytes, foliot__rules_why_save_late(rules));
    else if (status != FOLIOT_STATUS_OK)
        snprintf(problem, problem_bytes, "%s", foliot_rules_get_problem(rules));
    foliot_rules_destroy(rules);
    return status;
}
