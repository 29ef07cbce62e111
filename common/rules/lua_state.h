// SPDX-License-Identifier: MIT
// lua_state.h (internal): one Lua state in its sandbox, shared by the files of the sandbox.
//
// Whatever runs in a state is charged for: Lua's instructions by a hook, library functions by
// foliot__lua_charge before they do the work, memory by the allocator.
//
// Units are the same in every run. A callback that has used up its units ends with an error that
// nothing in the script can catch, and the state continues.
//
// Memory and time are not the same in every run. A callback that exceeds them in a tick ends in the
// same way, but only at the next check, which is a place that every run counts alike. So that place
// is recorded, and a tick that is run again drops there and nowhere else.
//
// If a stop cannot wait for a check, the state is abandoned: control leaves Lua by longjmp, past
// every pcall, and the state is never entered again. Functions that may do so are called only
// within foliot__lua_run.
//
// Invariant: no string of a state contains a zero byte. Lua compares strings with zeros bytewise in
// steps that no hook sees.
#ifndef FOLIOT_RULES_LUA_STATE_H
#define FOLIOT_RULES_LUA_STATE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "foliot/query.h"
#include "foliot/rules.h"

#define FOLIOT__LUA_STRING_MAX 65536 // bytes of one string
#define FOLIOT__LUA_VALUES_MAX 250   // that a library function returns at once
#define FOLIOT__LUA_FOUND_MAX 4096u  // bodies that a query gives
// Lua handles the parts of a table, and marks all objects that it has not seen yet, in one piece
// that nothing interrupts. These two bound it to a millisecond.
#define FOLIOT__LUA_BLOCK_MAX (1u << 20) // bytes of one part of a table
#define FOLIOT__LUA_BLOCKS_MAX 32768u    // texts, functions, tables and their parts
#define FOLIOT__LUA_BYTES_PER_UNIT 16    // that may be allocated
#define FOLIOT__LUA_STACK_MAX 41200      // bytes: 2,565 values and what Lua keeps free
#define FOLIOT__LUA_PROBLEM_BYTES 512
#define FOLIOT__LUA_STATE_DEPTH_MAX 16

// The functions that a script may define, in the order of this list where one tick calls several.
// X(name, arguments, text)
#define FOLIOT__LUA_CALLBACKS(X)                                                                   \
    X(on_init, "", "once, when the session starts")                                                \
    X(on_join, "player, name", "a player joined; false and a reason dismiss it")                   \
    X(on_leave, "player, reason", "a player went")                                                 \
    X(on_order, "player, text", "a player's game sent this")                                       \
    X(on_chat, "player, text", "a player wrote this; false hides it, a string replaces it")        \
    X(on_spawn, "body, ticket", "a body was spawned, by a command or (ticket 0) by a join")        \
    X(on_despawn, "body", "a body was removed")                                                    \
    X(on_joint, "joint, ticket", "a command made a joint")                                         \
    X(on_break, "joint", "a joint broke")                                                          \
    X(on_refused, "sequence, reason", "a command was refused")                                     \
    X(on_sensor, "sensor, body, entered", "a body entered or left a sensor")                       \
    X(on_hit, "a, b, impulse, x, y, z", "two bodies collided, at a point")                         \
    X(on_contact, "a, b, change, event", "a contact began or ended")                               \
    X(on_touch, "a, b, event", "a contact persists")                                               \
    X(on_tick, "", "after every step, last")

enum {
#define FOLIOT__LUA_CALLBACK_ENUM(name, arguments, text) FOLIOT__LUA_##name,
    FOLIOT__LUA_CALLBACKS(FOLIOT__LUA_CALLBACK_ENUM)
#undef FOLIOT__LUA_CALLBACK_ENUM
        FOLIOT__LUA_CALLBACK_COUNT
};

typedef struct foliot__lua_block foliot__lua_block;

// The code that runs at present. Only a callback may be dropped.
typedef enum foliot__lua_stage {
    FOLIOT__LUA_STARTING, // the main part, on_init or a restore; or nothing runs
    FOLIOT__LUA_TICKING,  // a tick, between callbacks
    FOLIOT__LUA_CALLING,  // a callback of a tick
    FOLIOT__LUA_DROPPING, // the callback ends, for the units or the host
    FOLIOT__LUA_SAVING,
    FOLIOT__LUA_ABANDONED, // nothing ever runs again
} foliot__lua_stage;

// The allocator's.
typedef struct foliot__lua_heap {
    foliot__lua_block *blocks;
    size_t used_bytes;
    uint32_t block_count;
    bool finding_stack;
    bool collect;       // the next tick or save begins with a whole collection
    const void *stack;  // the block that is Lua's stack
    const void *newest; // the one that was allocated last
    size_t newest_bytes;
    void *reserve; // memory for what runs until the next check, where the host has no more
} foliot__lua_heap;

// The budget of the running call.
typedef struct foliot__lua_budget {
    uint64_t units, bytes; // that are left
    bool of_player;        // they are a player's share, for an order
    bool players_reserved; // they had the units that joins and leaves have in reserve
    uint64_t unlooked;     // units since the clock was last looked at
    uint64_t looked_ns, spent_ns, allowed_ns, cpu_start_ns;
    uint64_t orders_ns; // of the tick, after which no order begins or continues
    uint64_t player_ns; // after which none of the player's does whose order runs
    uint64_t tick_ns;   // that the last tick took; its save adds to it
} foliot__lua_budget;

// Drops by the host's clock and memory in the tick that runs.
typedef struct foliot__lua_host {
    uint64_t checks;     // of this tick so far: charges, and callbacks that begin
    uint64_t check_at;   // from this check on foliot__lua_check looks whether to drop
    uint64_t drop_at;    // a tick that is run again drops at this check; UINT64_MAX: nowhere
    const char *why;     // the next check drops what runs; NULL: it need not
    uint64_t scope;      // of that drop: FOLIOT__RULES_ALONE, FOLIOT__RULES_ORDERS, or 0
    uint64_t drop_scope; // of the one at drop_at
    bool late;           // something was dropped with all that follows in its part of the tick
    bool orders_late;    // no order follows in this tick
    bool players_only;   // of the rest of this part, only joins and leaves are called
    bool reruns;         // the tick is run again
} foliot__lua_host;

// The players as lua_events.c knows them; saved.
typedef struct foliot__lua_players {
    char (*names)[FOLIOT_NAME_BYTES]; // `max` of them
    bool *joined;
    uint32_t max;
} foliot__lua_players;

// Buffers and counts of lua_events.c.
typedef struct foliot__lua_events {
    foliot_contact_event *contacts;
    foliot_sensor_event *sensors;
    uint32_t contact_capacity, sensor_capacity;
    uint32_t chats; // that were passed on in this tick
} foliot__lua_events;

typedef struct foliot__lua {
    lua_State *L;
    const char *name; // of the script
    const foliot_scene *scene;
    foliot_rules *rules;
    foliot_lua_limits limits;
    const foliot_rules_view *view; // NULL outside of a tick
    foliot__lua_stage stage;
    bool loaded;  // globals are fixed, and commands may be given
    bool by_host; // abandoned for memory or time, which differ from run to run
    jmp_buf *out; // where control goes when the state is abandoned; NULL outside of foliot__lua_run
    char problem[FOLIOT__LUA_PROBLEM_BYTES];
    foliot__lua_heap heap;
    foliot__lua_budget budget;
    foliot__lua_host host;
    foliot__lua_players players;
    foliot__lua_events events;
    int callbacks[FOLIOT__LUA_CALLBACK_COUNT];      // references; LUA_NOREF: not defined
    uint8_t parameters[FOLIOT__LUA_CALLBACK_COUNT]; // how many it takes
    foliot_body_id found[FOLIOT__LUA_FOUND_MAX];    // of a query
} foliot__lua;

static inline foliot__lua *foliot__lua_of(lua_State *L)
{
    return *(foliot__lua **)lua_getextraspace(L);
}

// -- lua_state.c

// An empty state. NULL: no memory.
foliot__lua *foliot__lua_create(const char *name, const foliot_lua_limits *limits,
                                const foliot_scene *scene);
void foliot__lua_destroy(foliot__lua *lua); // NULL is allowed
// Calls `body`, a C function, with `context` as light userdata, within `units` and what belongs to
// them. False: lua->problem says why; the state may be abandoned.
bool foliot__lua_run(foliot__lua *lua, uint64_t units, lua_CFunction body, void *context);
// The same with `allowed_us` of the processor. It includes `before_ns`, which were spent already.
bool foliot__lua_run_timed(foliot__lua *lua, foliot__lua_stage stage, uint64_t units,
                           uint64_t allowed_us, uint64_t before_ns, lua_CFunction body,
                           void *context);
// Leaves foliot__lua_run, and abandons the state. The running line is put before the text.
_Noreturn void foliot__lua_abandon(foliot__lua *lua, const char *text);
// Reads the clock. If too much time has passed, the next check drops the running callback.
void foliot__lua_look(foliot__lua *lua);
// The host has no memory: frees the reserve, and the next check drops the running code. False: the
// reserve is used up.
bool foliot__lua_free_reserve(foliot__lua *lua);
// Charges our own work between two callbacks: no callback is dropped for it.
void foliot__lua_spend(foliot__lua *lua, uint64_t units);
_Noreturn void foliot__lua_exceed(foliot__lua *lua); // the units
// Before a tick or a save, after a tick that had too little memory.
void foliot__lua_recover_memory(foliot__lua *lua);
// A part of a tick begins, in which the host may drop something; a rerun drops at `drop_at`, which
// is as foliot__rules_get_next_drop gives it.
void foliot__lua_begin_part(foliot__lua *lua, uint64_t drop_at);
// Before a callback: a check. False: the host drops it, or has dropped one of this tick.
bool foliot__lua_begin_callback(foliot__lua *lua);
// Calls the function below its arguments as lua_call does. False: it was dropped, and gave nil for
// every result; lua->problem says where and why.
bool foliot__lua_call_droppable(lua_State *L, int arguments, int results);
// The same for a player's order. Its end is a check, so that no callback behind it pays for it.
bool foliot__lua_call_order(lua_State *L, int arguments, int results);
// Behind an order, however it ended: no callback of somebody else is dropped for what it was about
// to be dropped for.
void foliot__lua_end_order(foliot__lua *lua);
// A check within a callback, after it was counted.
void foliot__lua_check(foliot__lua *lua);
// The table of globals, on the top of the stack: pops it and keeps it, or pushes it.
void foliot__lua_set_globals(lua_State *L);
void foliot__lua_push_globals(lua_State *L);

static inline void foliot__lua_charge(foliot__lua *lua, uint64_t units)
{
    if (units > lua->budget.units)
        foliot__lua_exceed(lua);
    lua->budget.units -= units;
    lua->budget.unlooked += units;
    if (++lua->host.checks >= lua->host.check_at || lua->budget.unlooked >= 256)
        foliot__lua_check(lua);
}

// -- the libraries: each pushes its table, or sets its functions in the table on the stack's top

void foliot__lua_push_string_library(lua_State *L); // strings get it as their methods too
void foliot__lua_push_table_library(lua_State *L);
void foliot__lua_push_math_library(lua_State *L);
void foliot__lua_push_utf8_library(lua_State *L);
void foliot__lua_push_world_library(lua_State *L);
void foliot__lua_push_command_library(lua_State *L);
void foliot__lua_push_history_library(lua_State *L);
void foliot__lua_set_base_functions(lua_State *L);
void foliot__lua_set_game_functions(lua_State *L); // message, kick, set_var

// A string of at most FOLIOT__LUA_STRING_MAX bytes; a normal error of Lua beyond that.
void foliot__lua_check_length(lua_State *L, uint64_t bytes);
// Whether a script has set a metatable for the table at `index`.
bool foliot__lua_has_metatable(lua_State *L, int index);
// Makes a number at `index` that is not one the text "nan".
void foliot__lua_name_nan(lua_State *L, int index);
// luaL_checklstring, with that text for a NaN.
const char *foliot__lua_check_text(lua_State *L, int index, size_t *length);
// The value at `index` as the text that tostring gives, pushed.
const char *foliot__lua_push_text(lua_State *L, int index, size_t *length);
// An id from the stack: an integer.
foliot_body_id foliot__lua_check_body(lua_State *L, int index);
void foliot__lua_push_body(lua_State *L, foliot_body_id id);
// The player at `index`; raises an error if it is not one.
uint32_t foliot__lua_check_player(lua_State *L, int index);

// -- lua_pairs.c: the order of a table's keys

// pairs and next, as functions of Lua.
int foliot__lua_pairs(lua_State *L);
int foliot__lua_next(lua_State *L);
// Whether the table has the keys 1 to *count, in the order in which Lua iterates over them. It may
// return false for a table with these keys, but never true for one without them.
bool foliot__lua_is_sequence(lua_State *L, int index, uint32_t *count);
// Pushes a table with the keys of the table at `index` in their order, and returns how many there
// are. Keys without an order give 0 and *bad, the name of their type; then nothing is pushed. They
// are left out where `bad` is NULL.
uint32_t foliot__lua_push_sorted_keys(lua_State *L, int index, const char **bad);

// -- lua_match.c: patterns

#define FOLIOT__LUA_CAPTURES_MAX 32
typedef struct foliot__lua_capture {
    const char *start;
    ptrdiff_t length; // or one of two marks of lua_match.c
} foliot__lua_capture;
typedef struct foliot__lua_matcher {
    lua_State *L;
    foliot__lua *lua;
    const char *text, *text_end, *pattern_end;
    int depth, level;
    foliot__lua_capture captures[FOLIOT__LUA_CAPTURES_MAX];
} foliot__lua_matcher;
// The end of the match that starts at `text`; NULL if there is none.
const char *foliot__lua_match(foliot__lua_matcher *m, const char *text, const char *pattern);
// Pushes the captures, or the whole match if there are none; returns how many.
int foliot__lua_push_captures(foliot__lua_matcher *m, const char *start, const char *end);
void foliot__lua_push_capture(foliot__lua_matcher *m, int index, const char *start,
                              const char *end);

// -- lua_save.c: `state` and what belongs to it, as bytes

// The bytes of `state` and of the players; as snprintf. SIZE_MAX: `problem` says why.
size_t foliot__lua_save(foliot__lua *lua, void *bytes, size_t capacity, char *problem,
                        size_t problem_bytes);
// Into a state that has been loaded and not run.
foliot_status foliot__lua_restore(foliot__lua *lua, const void *bytes, size_t length);
// Remembers the tables that globals lead to, and finds one that has changed since. Called with the
// table of globals on the top of the stack, within foliot__lua_run.
void foliot__lua_remember_globals(lua_State *L);

// -- lua_load.c: a script becomes a state that is ready to run

// Compiles the script, runs its main part and fixes its globals. on_init is not run.
bool foliot__lua_load(foliot__lua *lua, const char *script, size_t length);
// Puts the column into a problem of a script that does not compile ("game.lua:12: ... near 'x'"
// becomes "game.lua:12:5: ..."). Any other problem stays.
void foliot__lua_add_column(const char *script, size_t length, const char *name, char *problem,
                            size_t problem_bytes);

// -- lua_events.c

// Calls the callbacks for what lua->view shows.
bool foliot__lua_tick(foliot__lua *lua);

#endif
