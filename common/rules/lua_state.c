// SPDX-License-Identifier: MIT
// lua_state.c: the memory, the budget and the clock of one Lua state. It knows nothing of what
// runs.
//
// The instructions are counted in steps of HOOK_STEP. Neither they nor the charges of library
// functions bound the time of a tick by themselves: one instruction may print a number, or copy
// 2,500 values, or be the one in which Lua collects. So there is a clock beside them, which stops
// what takes longer than limits.time_us of the processor, collector and save included. A host that
// was interrupted is no reason: the thread's own clock decides.
#ifndef FOLIOT_NO_LUA
#include "rules/lua_state.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HOOK_STEP 64      // instructions
#define BYTES_PER_UNIT 16 // that may be allocated
#define BIG_BLOCK 65536u
#define STEP_NS_MAX 1000000u  // a longer step asks the thread's own clock
#define STRING_HEADER_MAX 64u // beside the bytes of a string, in its block

struct foliot__lua_block {
    foliot__lua_block *next, *before;
    // Lua's memory follows, aligned as malloc aligns.
};

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// -- globals

static const char globals_key; // of the registry

void foliot__lua_set_globals(lua_State *L)
{
    lua_rawsetp(L, LUA_REGISTRYINDEX, &globals_key);
}

void foliot__lua_push_globals(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &globals_key);
}

// -- leaving

// "game.lua:12: " of the innermost function that is a script's.
static void print_place(foliot__lua *lua, char *text, size_t capacity)
{
    lua_Debug at;
    for (int level = 0; lua_getstack(lua->L, level, &at); level++) {
        lua_getinfo(lua->L, "l", &at);
        if (at.currentline > 0) {
            snprintf(text, capacity, "%s:%d: ", lua->name, at.currentline);
            return;
        }
    }
    snprintf(text, capacity, "%s: ", lua->name);
}

void foliot__lua_abandon(foliot__lua *lua, const char *text)
{
    char place[FOLIOT_NAME_BYTES + 16];
    print_place(lua, place, sizeof place);
    snprintf(lua->problem, sizeof lua->problem, "%s%s", place, text);
    lua->abandoned = true;
    longjmp(*lua->out, 1);
}

static void count_hook(lua_State *L, lua_Debug *at)
{
    (void)at;
    foliot__lua *lua = foliot__lua_of(L);
    foliot__lua_look(lua);
    foliot__lua_charge(lua, HOOK_STEP);
}

static void abandon_by_host(foliot__lua *lua, const char *text)
{
    lua->by_host = true;
    foliot__lua_abandon(lua, text);
}

// From here on every instruction asks again, so that no __close goes on in an error's place.
void foliot__lua_exceed(foliot__lua *lua)
{
    if (!lua->droppable)
        foliot__lua_abandon(lua, lua->saving
                                     ? "state: it has more values than a save has time for"
                                     : "the script uses more instructions than its start has");
    if (!lua->exceeded) {
        char place[FOLIOT_NAME_BYTES + 16];
        print_place(lua, place, sizeof place);
        snprintf(lua->problem, sizeof lua->problem,
                 "%sthe script uses more instructions than a tick has", place);
        lua_sethook(lua->L, count_hook, LUA_MASKCOUNT, 1);
    }
    lua->exceeded = true;
    lua->units = 0;
    lua_pushlightuserdata(lua->L, lua);
    lua_error(lua->L);
    abort();
}

void foliot__lua_look(foliot__lua *lua)
{
    lua->unlooked = 0;
    if (lua->allowed_ns == 0)
        return;
    uint64_t now = now_ns(CLOCK_MONOTONIC), step = now - lua->looked_ns;
    lua->looked_ns = now;
    lua->spent_ns += step;
    if (step < STEP_NS_MAX && lua->spent_ns <= lua->allowed_ns)
        return;
    uint64_t cpu = now_ns(CLOCK_THREAD_CPUTIME_ID) - lua->cpu_start_ns;
    if (cpu > lua->allowed_ns)
        abandon_by_host(lua, "the script takes more time than a tick has");
    lua->spent_ns = cpu;
}

void foliot__lua_spend(foliot__lua *lua, uint64_t units)
{
    lua->units -= units < lua->units ? units : lua->units;
    lua->unlooked += units;
    if (lua->unlooked >= 256)
        foliot__lua_look(lua);
}

// -- memory

static void link_block(foliot__lua *lua, foliot__lua_block *block)
{
    block->before = NULL;
    block->next = lua->blocks;
    if (block->next)
        block->next->before = block;
    lua->blocks = block;
}

static void unlink_block(foliot__lua *lua, foliot__lua_block *block)
{
    if (block->before)
        block->before->next = block->next;
    else
        lua->blocks = block->next;
    if (block->next)
        block->next->before = block->before;
}

static const char stack_overflow[] = "the calls are nested too deeply (stack overflow)";

// A table that grows moves all that it holds, which takes longer than its new block does.
static size_t cost_of(size_t bytes)
{
    return bytes > BIG_BLOCK ? 2 * bytes : bytes;
}

// Why `bytes` may not be had; NULL if they may.
static const char *refusal(foliot__lua *lua, const void *old, size_t kind, size_t bytes,
                           size_t more)
{
    if (!old && kind == LUA_TSTRING && bytes > FOLIOT__LUA_STRING_MAX + STRING_HEADER_MAX)
        return "a string has more than 65536 bytes";
    if (old && old == lua->stack && bytes > FOLIOT__LUA_STACK_MAX)
        return stack_overflow;
    if (bytes > FOLIOT__LUA_BLOCK_MAX)
        return "a table or a function is too large";
    if (!old && lua->block_count >= FOLIOT__LUA_BLOCKS_MAX)
        return "the script holds more objects than it may";
    if (more > lua->limits.memory_bytes - lua->memory_bytes)
        return "the script uses more memory than it has";
    if (cost_of(bytes) > lua->bytes)
        return "the script allocates more memory than a tick has";
    return NULL;
}

static void *grow_block(foliot__lua *lua, void *old, size_t kind, size_t old_bytes, size_t bytes)
{
    if (lua->out) {
        const char *why = refusal(lua, old, kind, bytes, bytes - old_bytes);
        if (why)
            abandon_by_host(lua, why);
        lua->bytes -= cost_of(bytes);
        if (bytes > BIG_BLOCK)
            foliot__lua_look(lua);
    }
    foliot__lua_block *block = old ? (foliot__lua_block *)old - 1 : NULL;
    if (block)
        unlink_block(lua, block);
    foliot__lua_block *grown = realloc(block, sizeof *grown + bytes);
    if (!grown) {
        if (block)
            link_block(lua, block);
        if (lua->out)
            abandon_by_host(lua, "there is no memory");
        return NULL;
    }
    link_block(lua, grown);
    lua->memory_bytes += bytes - old_bytes;
    lua->block_count += !old;
    if (old && (lua->finding_stack || old == lua->stack))
        lua->stack = grown + 1;
    lua->newest = grown + 1;
    lua->newest_bytes = bytes;
    return grown + 1;
}

static void *shrink_block(foliot__lua *lua, void *old, size_t old_bytes, size_t bytes)
{
    foliot__lua_block *block = (foliot__lua_block *)old - 1;
    unlink_block(lua, block);
    foliot__lua_block *shrunk = realloc(block, sizeof *shrunk + bytes);
    if (!shrunk)
        shrunk = block; // Lua counts on this never failing
    link_block(lua, shrunk);
    lua->memory_bytes -= old_bytes - bytes;
    if (old == lua->stack)
        lua->stack = shrunk + 1;
    return shrunk + 1;
}

// Lua 5.4 grows its stack in place, or (5.4.3 and later) takes a new block and then frees the old
// one, whose successor is the block that was allocated last.
static void free_block(foliot__lua *lua, void *old, size_t old_bytes)
{
    unlink_block(lua, (foliot__lua_block *)old - 1);
    free((foliot__lua_block *)old - 1);
    lua->memory_bytes -= old_bytes;
    lua->block_count--;
    if (old != lua->stack && !lua->finding_stack)
        return;
    lua->stack = lua->newest;
    if (lua->out && lua->newest_bytes > FOLIOT__LUA_STACK_MAX)
        abandon_by_host(lua, stack_overflow);
}

// As Lua wants it: `old_bytes` is the kind of object if there is no old block.
static void *allocate(void *user, void *old, size_t old_bytes, size_t bytes)
{
    foliot__lua *lua = user;
    if (bytes == 0) {
        if (old)
            free_block(lua, old, old_bytes);
        return NULL;
    }
    if (old && bytes <= old_bytes)
        return shrink_block(lua, old, old_bytes, bytes);
    return grow_block(lua, old, old_bytes, old ? old_bytes : 0, bytes);
}

// -- life

static int panic(lua_State *L)
{
    foliot__lua_abandon(foliot__lua_of(L), "Lua failed outside of a call");
}

foliot__lua *foliot__lua_create(const char *name, const foliot_lua_limits *limits,
                                const foliot_scene *scene)
{
    foliot__lua *lua = calloc(1, sizeof *lua);
    if (!lua)
        return NULL;
    lua->name = name;
    lua->limits = *limits;
    lua->scene = scene;
    lua->players_max = scene->players.limit;
    lua->player_names = calloc(lua->players_max + 1, sizeof *lua->player_names);
    lua->player_joined = calloc(lua->players_max + 1, sizeof *lua->player_joined);
    for (int i = 0; i < FOLIOT__LUA_CALLBACK_COUNT; i++)
        lua->callbacks[i] = LUA_NOREF;
    if (lua->player_names && lua->player_joined)
        lua->L = lua_newstate(allocate, lua);
    if (!lua->L) {
        foliot__lua_destroy(lua);
        return NULL;
    }
    *(foliot__lua **)lua_getextraspace(lua->L) = lua;
    lua_atpanic(lua->L, panic);
    lua->finding_stack = true;
    bool grown = lua_checkstack(lua->L, 100); // moves one block, the stack
    lua->finding_stack = false;
    if (!grown) {
        foliot__lua_destroy(lua);
        return NULL;
    }
    lua_gc(lua->L, LUA_GCINC, 150, 200, 0);
    return lua;
}

// Not by lua_close: there is nothing to finalize, and the state may be abandoned.
void foliot__lua_destroy(foliot__lua *lua)
{
    if (!lua)
        return;
    while (lua->blocks) {
        foliot__lua_block *block = lua->blocks;
        lua->blocks = block->next;
        free(block);
    }
    free(lua->player_names);
    free(lua->player_joined);
    free(lua->contacts);
    free(lua->sensors);
    free(lua);
}

// -- calls

static void start_budget(foliot__lua *lua, uint64_t units, uint64_t allowed_us, uint64_t before_ns)
{
    lua->units = units;
    lua->bytes = units > UINT64_MAX / BYTES_PER_UNIT ? UINT64_MAX : units * BYTES_PER_UNIT;
    lua->unlooked = 0;
    lua->spent_ns = before_ns;
    lua->allowed_ns = 1000 * allowed_us;
    if (lua->allowed_ns) {
        lua->looked_ns = now_ns(CLOCK_MONOTONIC);
        lua->cpu_start_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
    }
}

// What the error object on the stack says.
static void read_error(foliot__lua *lua)
{
    const char *text = lua_type(lua->L, -1) == LUA_TSTRING ? lua_tostring(lua->L, -1) : NULL;
    size_t length = strlen(lua->name);
    if (!text)
        snprintf(lua->problem, sizeof lua->problem, "%s: the error is a %s, not a text", lua->name,
                 luaL_typename(lua->L, -1));
    else if (strncmp(text, lua->name, length) == 0 && text[length] == ':')
        snprintf(lua->problem, sizeof lua->problem, "%s", text);
    else
        snprintf(lua->problem, sizeof lua->problem, "%s: %s", lua->name, text);
}

bool foliot__lua_call_droppable(lua_State *L, int arguments, int results)
{
    foliot__lua *lua = foliot__lua_of(L);
    int base = lua_gettop(L) - arguments - 1;
    lua->droppable = true;
    int status = lua_pcall(L, arguments, results, 0);
    lua->droppable = false;
    if (!lua->exceeded) {
        if (status != LUA_OK)
            lua_error(L);
        return true;
    }
    lua->exceeded = false;
    lua_sethook(L, count_hook, LUA_MASKCOUNT, HOOK_STEP);
    lua_settop(L, base);
    lua_settop(L, base + results);
    return false;
}

static bool call_body(foliot__lua *lua, lua_CFunction body, void *context)
{
    lua_pushcfunction(lua->L, body);
    lua_pushlightuserdata(lua->L, context);
    lua_sethook(lua->L, count_hook, LUA_MASKCOUNT, HOOK_STEP);
    bool fine = lua_pcall(lua->L, 1, 0, 0) == LUA_OK;
    if (!fine)
        read_error(lua);
    lua_settop(lua->L, 0);
    foliot__lua_look(lua); // the last collection was not looked at
    return fine;
}

// In proportion where a call has more units than a tick.
bool foliot__lua_run(foliot__lua *lua, uint64_t units, lua_CFunction body, void *context)
{
    double scale = (double)units / (double)lua->limits.instructions;
    return foliot__lua_run_timed(lua, units, (uint64_t)((double)lua->limits.time_us * scale), 0,
                                 body, context);
}

bool foliot__lua_run_timed(foliot__lua *lua, uint64_t units, uint64_t allowed_us,
                           uint64_t before_ns, lua_CFunction body, void *context)
{
    if (lua->abandoned)
        return false;
    // Numbers are printed and texts compared as in the locale "C", whatever the program set.
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain) {
        snprintf(lua->problem, sizeof lua->problem, "%s: there is no memory", lua->name);
        return false;
    }
    locale_t before = uselocale(plain);
    jmp_buf out;
    volatile bool fine = false;
    lua->problem[0] = 0;
    start_budget(lua, units, allowed_us, before_ns);
    lua->out = &out;
    if (setjmp(out) == 0)
        fine = call_body(lua, body, context);
    lua->out = NULL;
    lua->droppable = lua->exceeded = false;
    lua->run_ns = lua->allowed_ns ? now_ns(CLOCK_THREAD_CPUTIME_ID) - lua->cpu_start_ns : 0;
    uselocale(before);
    freelocale(plain);
    return fine;
}
#endif
