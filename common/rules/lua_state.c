// SPDX-License-Identifier: MIT
// lua_state.c: the memory, the budget and the clock of one Lua state. It knows nothing of the code
// that runs.
//
// The instructions are counted in steps of HOOK_STEP. Neither they nor the charges of library
// functions bound the time of a tick by themselves: one instruction may print a number, or copy
// 2,500 values, or be the one in which Lua collects. So there is a clock, too, which ends a tick
// that takes more processor time than limits.time_us, collector and save included.
//
// An interruption of the thread does not count. The thread's own clock excludes other threads, but
// includes some of the time that a hypervisor gives to other machines. So a single step counts no
// more than PIECE_NS_MAX, which is as long as Lua works in one piece, while the thread's clock is
// within INTERRUPTED_TIMES the limit.
#ifndef FOLIOT_NO_LUA
#include "rules/lua_state.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rules/rules.h"

#define HOOK_STEP 64 // instructions
#define BIG_BLOCK 65536u
#define PIECE_NS_MAX 1000000u
#define INTERRUPTED_TIMES 3
#define STRING_HEADER_MAX 64u // overhead of a string in its block
#define RESERVE_BYTES (FOLIOT__LUA_BLOCK_MAX + 65536u)
// Until its next check a tick may hold half as much again as the limits of memory and of blocks. A
// tick that is run again is not dropped for them, and its collector may be in arrears.
#define SLACK_PART 2
#define RERUN_TIMES 4

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
    lua->stage = FOLIOT__LUA_ABANDONED;
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

// Ends the callback that runs. From here on every instruction asks again, so that no __close
// continues after the error.
static _Noreturn void drop_callback(foliot__lua *lua, const char *why)
{
    if (lua->stage != FOLIOT__LUA_DROPPING) {
        char place[FOLIOT_NAME_BYTES + 16];
        print_place(lua, place, sizeof place);
        snprintf(lua->problem, sizeof lua->problem, "%s%s", place, why);
        lua_sethook(lua->L, count_hook, LUA_MASKCOUNT, 1);
    }
    lua->stage = FOLIOT__LUA_DROPPING;
    lua->budget.units = 0;
    lua_pushlightuserdata(lua->L, lua);
    lua_error(lua->L);
    abort();
}

void foliot__lua_exceed(foliot__lua *lua)
{
    if (lua->stage != FOLIOT__LUA_CALLING && lua->stage != FOLIOT__LUA_DROPPING)
        foliot__lua_abandon(lua, lua->stage == FOLIOT__LUA_SAVING
                                     ? "state: it has more values than a save has time for"
                                     : "the script uses more instructions than its start has");
    drop_callback(lua, "the script uses more instructions than a tick has");
}

// -- drops by the host

// The next check drops the running code. A script that is starting cannot lose a part.
static void drop_next(foliot__lua *lua, const char *why)
{
    if (lua->stage == FOLIOT__LUA_STARTING)
        abandon_by_host(lua, why);
    if (lua->host.reruns || (lua->host.why && !lua->host.scope))
        return;
    lua->host.why = why;
    lua->host.scope = 0;
    lua->host.check_at = 0;
}

// The next check ends the order that runs: alone, for its player's bytes or time, or with all other
// orders of the tick, for their time. Where an order alone cannot be recorded, it continues.
static void drop_order_next(foliot__lua *lua, uint64_t scope, const char *why)
{
    const bool alone = scope == FOLIOT__RULES_ALONE;
    if (lua->host.reruns || (lua->host.why && (alone || lua->host.scope != FOLIOT__RULES_ALONE)) ||
        (alone && !foliot__rules_may_drop_alone(lua->rules)))
        return;
    lua->host.why = why;
    lua->host.scope = scope;
    lua->host.check_at = 0;
}

static void expect_drop(foliot__lua_host *host, uint64_t drop_at)
{
    const uint64_t scopes = FOLIOT__RULES_ALONE | FOLIOT__RULES_ORDERS;
    host->drop_scope = drop_at == UINT64_MAX ? 0 : drop_at & scopes;
    host->drop_at = drop_at == UINT64_MAX ? drop_at : drop_at & ~scopes;
    host->check_at = host->drop_at;
}

// Why the running code is dropped at this check; NULL: it is not.
static const char *read_drop(foliot__lua *lua)
{
    foliot__lua_host *host = &lua->host;
    const char *why = host->why;
    uint64_t scope = host->scope;
    if (host->checks == host->drop_at) {
        why = "the host dropped it";
        scope = lua->budget.of_player ? host->drop_scope : 0;
    }
    if (!why) {
        host->check_at = host->checks < host->drop_at ? host->drop_at : UINT64_MAX;
        return NULL;
    }
    host->late = scope == 0;
    host->orders_late |= (scope & FOLIOT__RULES_ORDERS) != 0;
    foliot__rules_drop_at(lua->rules, host->checks | scope);
    if (scope) {
        host->why = NULL;
        host->scope = 0;
        lua->budget.units = 0; // none of this player's orders follows
        expect_drop(host, foliot__rules_get_next_drop(lua->rules));
    }
    return why;
}

void foliot__lua_check(foliot__lua *lua)
{
    if (lua->budget.unlooked >= 256)
        foliot__lua_look(lua);
    if (lua->host.checks < lua->host.check_at)
        return;
    if (lua->stage == FOLIOT__LUA_SAVING && lua->host.why)
        luaL_error(lua->L, "state: %s", lua->host.why);
    const char *why = lua->stage == FOLIOT__LUA_CALLING ? read_drop(lua) : NULL;
    if (why)
        drop_callback(lua, why);
}

bool foliot__lua_begin_callback(foliot__lua *lua)
{
    if (lua->host.late)
        return false;
    if (++lua->host.checks < lua->host.check_at)
        return true;
    const char *why = read_drop(lua);
    if (!why)
        return true;
    snprintf(lua->problem, sizeof lua->problem, "%s: %s", lua->name, why);
    return false;
}

void foliot__lua_look(foliot__lua *lua)
{
    lua->budget.unlooked = 0;
    if (lua->budget.allowed_ns == 0)
        return;
    uint64_t now = now_ns(CLOCK_MONOTONIC), step = now - lua->budget.looked_ns;
    lua->budget.looked_ns = now;
    lua->budget.spent_ns += step < PIECE_NS_MAX ? step : PIECE_NS_MAX;
    const uint64_t limit = lua->budget.of_player ? lua->budget.player_ns : lua->budget.allowed_ns;
    if (step < PIECE_NS_MAX && lua->budget.spent_ns <= limit)
        return;
    uint64_t cpu = now_ns(CLOCK_THREAD_CPUTIME_ID) - lua->budget.cpu_start_ns;
    if (cpu < lua->budget.spent_ns || cpu > INTERRUPTED_TIMES * lua->budget.allowed_ns)
        lua->budget.spent_ns = cpu;
    if (lua->budget.spent_ns > limit && lua->budget.of_player)
        drop_order_next(lua,
                        lua->budget.spent_ns > lua->budget.orders_ns ? FOLIOT__RULES_ORDERS
                                                                     : FOLIOT__RULES_ALONE,
                        "orders take more time than they have in a tick");
    else if (lua->budget.spent_ns > limit)
        drop_next(lua, "the script takes more time than a tick has");
}

void foliot__lua_spend(foliot__lua *lua, uint64_t units)
{
    lua->budget.units -= units < lua->budget.units ? units : lua->budget.units;
    lua->budget.unlooked += units;
    if (lua->budget.unlooked >= 256)
        foliot__lua_look(lua);
}

// -- memory

static void unlink_block(foliot__lua *lua, foliot__lua_block *block)
{
    if (block->before)
        block->before->next = block->next;
    else
        lua->heap.blocks = block->next;
    if (block->next)
        block->next->before = block->before;
}

static const char stack_overflow[] = "the calls are nested too deeply (stack overflow)";

// A table that grows moves all that it holds, which takes longer than its new block does.
static size_t cost_of(size_t bytes)
{
    return bytes > BIG_BLOCK ? 2 * bytes : bytes;
}

static const char no_memory[] = "there is no memory";
static const char much_memory[] = "the script uses more memory than it has";
static const char many_blocks[] = "the script holds more objects than it may";

// Why `bytes` may not be allocated; NULL if they may.
static const char *refusal(foliot__lua *lua, const void *old, size_t kind, size_t bytes,
                           size_t more)
{
    size_t memory_max = lua->limits.memory_bytes;
    uint64_t blocks_max = FOLIOT__LUA_BLOCKS_MAX;
    if (lua->host.reruns) {
        memory_max = memory_max < SIZE_MAX / RERUN_TIMES ? memory_max * RERUN_TIMES : SIZE_MAX;
        blocks_max *= RERUN_TIMES;
    } else {
        const size_t slack = memory_max / SLACK_PART;
        memory_max = memory_max < SIZE_MAX - slack ? memory_max + slack : SIZE_MAX;
        blocks_max += blocks_max / SLACK_PART;
    }
    if (!old && kind == LUA_TSTRING && bytes > FOLIOT__LUA_STRING_MAX + STRING_HEADER_MAX)
        return "a string has more than 65536 bytes";
    if (old && old == lua->heap.stack && bytes > FOLIOT__LUA_STACK_MAX)
        return stack_overflow;
    if (bytes > FOLIOT__LUA_BLOCK_MAX)
        return "a table or a function is too large";
    if (!old && lua->heap.block_count >= blocks_max)
        return many_blocks;
    const size_t used = lua->heap.used_bytes; // a rerun may have left more than the limit
    return used >= memory_max || more > memory_max - used ? much_memory : NULL;
}

// Charges for `bytes` that may be allocated. Beyond a limit, the next check drops the callback.
static void charge_memory(foliot__lua *lua, const void *old, size_t bytes, size_t more)
{
    const char *why = NULL;
    if (cost_of(bytes) > lua->budget.bytes && lua->budget.of_player)
        drop_order_next(lua, FOLIOT__RULES_ALONE,
                        "the order allocates more memory than its player has");
    else if (cost_of(bytes) > lua->budget.bytes)
        why = "the script allocates more memory than a tick has";
    if (more > lua->limits.memory_bytes || lua->heap.used_bytes > lua->limits.memory_bytes - more)
        why = much_memory;
    if (!old && lua->heap.block_count >= FOLIOT__LUA_BLOCKS_MAX)
        why = many_blocks;
    if (why)
        drop_next(lua, why);
    if (why && !lua->host.reruns)
        lua->heap.collect = true;
    lua->budget.bytes -= cost_of(bytes) < lua->budget.bytes ? cost_of(bytes) : lua->budget.bytes;
    if (bytes > BIG_BLOCK)
        foliot__lua_look(lua);
}

bool foliot__lua_free_reserve(foliot__lua *lua)
{
    if (!lua->heap.reserve)
        return false;
    free(lua->heap.reserve);
    lua->heap.reserve = NULL;
    lua->heap.collect = true;
    drop_next(lua, no_memory);
    return true;
}

static foliot__lua_block *resize_block(foliot__lua *lua, foliot__lua_block *block, size_t bytes)
{
    if (block)
        unlink_block(lua, block);
    foliot__lua_block *resized = realloc(block, sizeof *resized + bytes);
    block = resized ? resized : block;
    if (!block)
        return NULL;
    block->before = NULL;
    block->next = lua->heap.blocks;
    if (block->next)
        block->next->before = block;
    lua->heap.blocks = block;
    return resized;
}

static void *grow_block(foliot__lua *lua, void *old, size_t kind, size_t old_bytes, size_t bytes)
{
    if (lua->out) {
        const char *why = refusal(lua, old, kind, bytes, bytes - old_bytes);
        if (why)
            abandon_by_host(lua, why);
        charge_memory(lua, old, bytes, bytes - old_bytes);
    }
    foliot__lua_block *block = old ? (foliot__lua_block *)old - 1 : NULL;
    foliot__lua_block *grown = resize_block(lua, block, bytes);
    if (!grown && lua->out && foliot__lua_free_reserve(lua))
        grown = resize_block(lua, block, bytes);
    if (!grown) {
        if (lua->out)
            abandon_by_host(lua, no_memory);
        return NULL;
    }
    lua->heap.used_bytes += bytes - old_bytes;
    lua->heap.block_count += !old;
    if (old && (lua->heap.finding_stack || old == lua->heap.stack))
        lua->heap.stack = grown + 1;
    lua->heap.newest = grown + 1;
    lua->heap.newest_bytes = bytes;
    return grown + 1;
}

// As Lua wants it: `old_bytes` is the kind of object if there is no old block.
static void *allocate(void *user, void *old, size_t old_bytes, size_t bytes)
{
    foliot__lua *lua = user;
    foliot__lua_heap *heap = &lua->heap;
    foliot__lua_block *block = old ? (foliot__lua_block *)old - 1 : NULL;
    if (bytes == 0 && !old)
        return NULL;
    if (bytes == 0) {
        unlink_block(lua, block);
        free(block);
        heap->used_bytes -= old_bytes;
        heap->block_count--;
        // Lua 5.4 grows its stack in place, or (5.4.3 and later) takes a new block and then frees
        // the old one, whose successor is the block that was allocated last.
        if (old != heap->stack && !heap->finding_stack)
            return NULL;
        heap->stack = heap->newest;
        if (lua->out && heap->newest_bytes > FOLIOT__LUA_STACK_MAX)
            abandon_by_host(lua, stack_overflow);
        return NULL;
    }
    if (old && bytes <= old_bytes) {
        foliot__lua_block *shrunk = resize_block(lua, block, bytes);
        if (!shrunk)
            shrunk = block; // Lua counts on this never failing
        heap->used_bytes -= old_bytes - bytes;
        if (old == heap->stack)
            heap->stack = shrunk + 1;
        return shrunk + 1;
    }
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
    lua->players.max = scene->players.limit;
    lua->players.names = calloc(lua->players.max + 1, sizeof *lua->players.names);
    lua->players.joined = calloc(lua->players.max + 1, sizeof *lua->players.joined);
    for (int i = 0; i < FOLIOT__LUA_CALLBACK_COUNT; i++)
        lua->callbacks[i] = LUA_NOREF;
    if (lua->players.names && lua->players.joined)
        lua->L = lua_newstate(allocate, lua);
    if (!lua->L) {
        foliot__lua_destroy(lua);
        return NULL;
    }
    *(foliot__lua **)lua_getextraspace(lua->L) = lua;
    lua_atpanic(lua->L, panic);
    lua->heap.finding_stack = true;
    bool grown = lua_checkstack(lua->L, 100); // moves one block, the stack
    lua->heap.finding_stack = false;
    if (!grown) {
        foliot__lua_destroy(lua);
        return NULL;
    }
    lua_gc(lua->L, LUA_GCINC, 150, 200, 0);
    lua->host.check_at = lua->host.drop_at = UINT64_MAX;
    lua->heap.reserve = malloc(RESERVE_BYTES);
    return lua;
}

// Not by lua_close: there is nothing to finalize, and the state may be abandoned.
void foliot__lua_destroy(foliot__lua *lua)
{
    if (!lua)
        return;
    while (lua->heap.blocks) {
        foliot__lua_block *block = lua->heap.blocks;
        lua->heap.blocks = block->next;
        free(block);
    }
    free(lua->players.names);
    free(lua->players.joined);
    free(lua->events.contacts);
    free(lua->events.sensors);
    free(lua->heap.reserve);
    free(lua);
}

// -- calls

// A new part of a tick, in which something may be dropped: `drop_at` is where a rerun drops.
void foliot__lua_begin_part(foliot__lua *lua, uint64_t drop_at)
{
    lua->host.why = NULL;
    lua->host.scope = 0;
    lua->host.late = lua->host.players_only = false;
    expect_drop(&lua->host, drop_at);
}

void foliot__lua_end_order(foliot__lua *lua)
{
    if (!lua->host.why || !lua->host.scope)
        return;
    lua->host.why = NULL;
    lua->host.scope = 0;
    lua->host.check_at = lua->host.checks < lua->host.drop_at ? lua->host.drop_at : UINT64_MAX;
}

// No script sees a collection.
void foliot__lua_recover_memory(foliot__lua *lua)
{
    const bool too_much = !lua->host.reruns && lua->heap.used_bytes > lua->limits.memory_bytes;
    if (!lua->heap.collect && !too_much)
        return;
    lua->heap.collect = false;
    lua_gc(lua->L, LUA_GCCOLLECT, 0);
    if (!lua->heap.reserve)
        lua->heap.reserve = malloc(RESERVE_BYTES);
}

bool foliot__lua_call_droppable(lua_State *L, int arguments, int results)
{
    foliot__lua *lua = foliot__lua_of(L);
    int base = lua_gettop(L) - arguments - 1;
    lua->stage = FOLIOT__LUA_CALLING;
    int status = lua_pcall(L, arguments, results, 0);
    bool dropped = lua->stage == FOLIOT__LUA_DROPPING;
    lua->stage = FOLIOT__LUA_TICKING;
    if (!dropped) {
        if (status != LUA_OK)
            lua_error(L);
        return true;
    }
    lua_sethook(L, count_hook, LUA_MASKCOUNT, HOOK_STEP);
    lua_settop(L, base);
    lua_settop(L, base + results);
    return false;
}

bool foliot__lua_call_order(lua_State *L, int arguments, int results)
{
    return foliot__lua_call_droppable(L, arguments, results) &&
           foliot__lua_begin_callback(foliot__lua_of(L));
}

static bool call_body(foliot__lua *lua, lua_CFunction body, void *context)
{
    lua_pushcfunction(lua->L, body);
    lua_pushlightuserdata(lua->L, context);
    lua_sethook(lua->L, count_hook, LUA_MASKCOUNT, HOOK_STEP);
    bool fine = lua_pcall(lua->L, 1, 0, 0) == LUA_OK;
    if (!fine) { // an error that is not text has none to show
        const char *text = lua_type(lua->L, -1) == LUA_TSTRING ? lua_tostring(lua->L, -1) : NULL;
        size_t length = strlen(lua->name);
        bool placed = text && strncmp(text, lua->name, length) == 0 && text[length] == ':';
        if (!text)
            snprintf(lua->problem, sizeof lua->problem, "%s: the error is a %s, not a text",
                     lua->name, luaL_typename(lua->L, -1));
        else
            snprintf(lua->problem, sizeof lua->problem, "%s%s%s", placed ? "" : lua->name,
                     placed ? "" : ": ", text);
    }
    lua_settop(lua->L, 0);
    foliot__lua_look(lua); // the last collection was not looked at
    return fine;
}

// In proportion where a call has more units than a tick.
bool foliot__lua_run(foliot__lua *lua, uint64_t units, lua_CFunction body, void *context)
{
    double scale = (double)units / (double)lua->limits.instructions;
    return foliot__lua_run_timed(lua, FOLIOT__LUA_STARTING, units,
                                 (uint64_t)((double)lua->limits.time_us * scale), 0, body, context);
}

bool foliot__lua_run_timed(foliot__lua *lua, foliot__lua_stage stage, uint64_t units,
                           uint64_t allowed_us, uint64_t before_ns, lua_CFunction body,
                           void *context)
{
    if (lua->stage == FOLIOT__LUA_ABANDONED)
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
    lua->budget.of_player = false;
    lua->budget.units = units;
    lua->budget.bytes = units > UINT64_MAX / FOLIOT__LUA_BYTES_PER_UNIT
                            ? UINT64_MAX
                            : units * FOLIOT__LUA_BYTES_PER_UNIT;
    lua->budget.unlooked = 0;
    lua->budget.spent_ns = before_ns;
    lua->budget.allowed_ns = 1000 * allowed_us;
    if (lua->budget.allowed_ns) {
        lua->budget.looked_ns = now_ns(CLOCK_MONOTONIC);
        lua->budget.cpu_start_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
    }
    lua->out = &out;
    lua->stage = stage;
    if (setjmp(out) == 0)
        fine = call_body(lua, body, context);
    lua->out = NULL;
    if (lua->stage != FOLIOT__LUA_ABANDONED)
        lua->stage = FOLIOT__LUA_STARTING;
    uselocale(before);
    freelocale(plain);
    return fine;
}
#endif
