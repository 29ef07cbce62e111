// SPDX-License-Identifier: MIT
// rules.h: game logic outside the step: scores, rounds, spawns, damage, messages.
//
// Rules run after every step, on the world as the step left it. Their commands act in the next
// step. Rules see the world read-only, so that every decision is a command, a message or a kick;
// commands are recorded, and a recording replays without its rules.
//
// Rules are written in C as a table of functions (foliot_rules_kind), or in Lua
// (foliot_rules_create_lua). Both save their state as bytes. Keyframes store it with the world's
// state, so that a resumed session continues with its scores, clocks and cooldowns, and a recorded
// session's rules can be run again and compared (`foliot-replay verify --rules`).
//
// Rules must give the same commands for the same views and saved state: they read no clock, draw
// random numbers only from foliot_rules_draw, and keep no state that `save` leaves out.
//
// Threads: one instance is used by one thread at a time, the one that steps the world.
#ifndef FOLIOT_RULES_H
#define FOLIOT_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/command.h"
#include "foliot/digest.h"
#include "foliot/query.h"
#include "foliot/scene.h"
#include "foliot/status.h"
#include "foliot/world.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FOLIOT_ORDER_BYTES_MAX 240
#define FOLIOT_ORDERS_PER_SECOND_MAX 32 // of a player
#define FOLIOT_MESSAGE_BYTES_MAX 1000
#define FOLIOT_RULES_STATE_BYTES_MAX 262144 // that rules may save
#define FOLIOT_RULES_SCRIPT_BYTES_MAX FOLIOT_SCRIPT_BYTES_MAX
#define FOLIOT_TO_ALL UINT32_MAX // a message to every peer of the session

// Input of the rules from outside the world. Recordings contain the value: never reuse one.
typedef enum foliot_order_kind {
    FOLIOT_ORDER_GAME = 0,   // bytes; the game defines their meaning
    FOLIOT_ORDER_CHAT = 1,   // UTF-8 text. Rules that define no chat handler let it pass to all
    FOLIOT_ORDER_JOINED = 2, // from the server: the player joined; bytes: its name
    FOLIOT_ORDER_LEFT = 3,   // from the server: the player left; bytes: the reason, may be empty
    // From the server, if the rules look back: the time at which the player aimed its controls of
    // this step and its orders after this one. Bytes: u16, little-endian: how far the shown state
    // lies before the state after the step, in 1 / FOLIOT_AIM_PARTS of a tick.
    FOLIOT_ORDER_AIMED = 4,
    // From the host, for recorded ticks: the place in this tick where its clock or memory dropped a
    // callback, or where an order ended that exceeded its player's memory. Bytes: u64,
    // little-endian, from foliot_rules_get_drops. Its player is FOLIOT_PLAYERS_MAX, so that it
    // sorts after the orders of players. Rules do not see it.
    FOLIOT_ORDER_DROPPED = 5,
} foliot_order_kind;
#define FOLIOT_ORDER_AIMED_BYTES 2
#define FOLIOT_ORDER_DROPPED_BYTES 8
#define FOLIOT_ORDERS_DROPPED_MAX 64 // in a tick
#define FOLIOT_AIM_PARTS 256

// Closed with a tick: reliable, in order, never given to the step.
typedef struct foliot_order {
    uint32_t player;
    uint32_t sequence; // of the player, growing by one from order to order
    uint8_t kind;      // foliot_order_kind
    uint8_t length;    // of `bytes`, at most FOLIOT_ORDER_BYTES_MAX
    uint8_t bytes[FOLIOT_ORDER_BYTES_MAX];
} foliot_order;

// The view that rules have of a tick. Everything is lent for one call.
typedef struct foliot_rules_view {
    const foliot_scene *scene;
    const foliot_world *world;  // after the step: state, events, contacts, queries
    uint64_t tick;              // of the world
    const foliot_input *inputs; // of the step, joins and leaves among them
    uint32_t input_count;
    const foliot_order *orders; // closed with the step, ordered by (player, sequence)
    uint32_t order_count;
    // The tick comes from a recording and is run again: callbacks are dropped where the orders say
    // so, and never because of this host's clock or memory.
    bool recorded;
    // The last ticks, this one included, where the scene has history_ticks; else NULL. The runner
    // of the rules owns and sets it.
    foliot_history *history;
} foliot_rules_view;

typedef struct foliot_rules foliot_rules; // an instance

// -- actions of rules, from within `create` or `tick`

// Copied. FOLIOT_STATUS_INVALID: not foliot_command_valid; FOLIOT_STATUS_FULL: beyond the scene's
// commands_max or FOLIOT_COMMAND_TICK_BYTES_MAX; FOLIOT_STATUS_MEMORY.
FOLIOT_MUST_CHECK foliot_status foliot_rules_command(foliot_rules *rules,
                                                     const foliot_command *command);
// To one player or FOLIOT_TO_ALL; copied. FOLIOT_STATUS_INVALID: longer than
// FOLIOT_MESSAGE_BYTES_MAX; FOLIOT_STATUS_FULL: more than 64 in a tick.
FOLIOT_MUST_CHECK foliot_status foliot_rules_message(foliot_rules *rules, uint32_t player,
                                                     const void *bytes, size_t length,
                                                     bool reliable);
// The server dismisses the player after this tick. The reason is a sentence for the player.
void foliot_rules_kick(foliot_rules *rules, uint32_t player, const char *reason);
// Reports that an order of the player exceeded the player's budget of a tick, and was dropped or
// not read. The host counts it.
void foliot_rules_refuse_order(foliot_rules *rules, uint32_t player);
// Reports that a part of this tick was left out because the tick's budget is used up. `why` is a
// sentence; the host reports the first one of a tick.
void foliot_rules_drop(foliot_rules *rules, const char *why);
// The next number of the rules' own random stream, 64 bits; it is part of the saved state.
uint64_t foliot_rules_draw(foliot_rules *rules);
// The tick that the player's client showed when it last pressed or released something, or gave an
// order, for foliot_history_view. It is at most this tick, and at least the oldest one kept. While
// iterating over the `orders` of a view, pass each FOLIOT_ORDER_AIMED to foliot_rules_aim first, so
// that the value applies to the orders after it.
double foliot_rules_get_aimed_tick(const foliot_rules *rules, uint32_t player);
void foliot_rules_aim(foliot_rules *rules, const foliot_order *order);

// -- rules in C

typedef struct foliot_rules_kind {
    const char *name; // "siege"; part of recordings
    uint32_t version; // changes when the same views may give other commands
    // Makes an instance for a session of `scene`. It may issue commands already: they act in the
    // first step. `problem` receives a sentence for people.
    foliot_status (*create)(void *user, const foliot_scene *scene, foliot_rules *rules, void **self,
                            char *problem, size_t problem_bytes);
    void (*destroy)(void *self);
    // Called after every step. An error stops the rules: the session continues without them.
    foliot_status (*tick)(void *self, const foliot_rules_view *view, foliot_rules *rules,
                          char *problem, size_t problem_bytes);
    // Writes the complete state as bytes that are the same on every machine. As snprintf; SIZE_MAX:
    // the state cannot be saved, and `problem` says why, which stops the rules.
    size_t (*save)(const void *self, void *bytes, size_t capacity, char *problem,
                   size_t problem_bytes);
    // Hostile bytes give a status and leave the instance as it was.
    foliot_status (*restore)(void *self, const void *bytes, size_t length);
    void *user; // given to `create`
} foliot_rules_kind;

// -- rules in C as a module: a shared object that foliot-server loads with --allow-modules. It
// exports one object:
//     const foliot_rules_module foliot_rules_entry = FOLIOT_RULES_MODULE(&my_kind);
// and is linked with the libfoliot of the same ABI.

#define FOLIOT_RULES_ABI 3u // grows with every change of what modules share with their host
typedef struct foliot_rules_module {
    uint32_t abi;                                                              // FOLIOT_RULES_ABI
    uint32_t module_bytes, kind_bytes, view_bytes, command_bytes, order_bytes; // sizeof
    const foliot_rules_kind *kind;
} foliot_rules_module;
#define FOLIOT_RULES_MODULE(rules_kind)                                                            \
    {                                                                                              \
        .abi = FOLIOT_RULES_ABI, .module_bytes = sizeof(foliot_rules_module),                      \
        .kind_bytes = sizeof(foliot_rules_kind), .view_bytes = sizeof(foliot_rules_view),          \
        .command_bytes = sizeof(foliot_command), .order_bytes = sizeof(foliot_order),              \
        .kind = (rules_kind)                                                                       \
    }

// -- instances, for programs that host or replay a session

// `problem` receives a sentence if the rules refuse the scene. The kind and the scene must outlive
// the instance.
FOLIOT_MUST_CHECK foliot_status foliot_rules_create(const foliot_rules_kind *kind,
                                                    const foliot_scene *scene, foliot_rules **rules,
                                                    char *problem, size_t problem_bytes);

// Resource limits of a script. The all-zero limits are invalid.
typedef struct foliot_lua_limits {
    // Instructions of a tick, library functions included. A callback that exceeds them is dropped.
    // The orders of all players together have an additional quarter, each player at most a
    // sixteenth.
    uint64_t instructions;
    uint64_t init_instructions; // while the script is loaded, and again while on_init runs
    size_t memory_bytes;
    // Processor time of a tick in microseconds, garbage collection and save included; the start has
    // proportionally more. Beyond it the callback is dropped, and those after it in the tick; a
    // piece that Lua does not interrupt adds up to a millisecond. Orders have half of it; joins and
    // leaves, and on_tick, have a reserve. 0: no limit. Compilation always has 2 seconds.
    uint64_t time_us;
} foliot_lua_limits;
foliot_lua_limits foliot_lua_limits_default(void); // 200,000; 20,000,000; 16 MiB; 4,000
// Rules in Lua 5.4. `script` is text, not bytecode; `name` appears in messages ("game.lua:12:
// ..."). FOLIOT_STATUS_INVALID: it does not compile, or on_init failed; `problem` has file, line
// and reason, for a syntax error also the column ("game.lua:12:5: ..."). FOLIOT_STATUS_UNSUPPORTED:
// this build has no Lua.
FOLIOT_MUST_CHECK foliot_status foliot_rules_create_lua(
    const char *script, size_t length, const char *name, const foliot_lua_limits *limits,
    const foliot_scene *scene, foliot_rules **rules, char *problem, size_t problem_bytes);
// Like foliot_rules_create_lua, but keeps no instance; it also saves the state once.
FOLIOT_MUST_CHECK foliot_status foliot_rules_check_lua(const char *script, size_t length,
                                                       const char *name,
                                                       const foliot_lua_limits *limits,
                                                       const foliot_scene *scene, char *problem,
                                                       size_t problem_bytes);
void foliot_rules_destroy(foliot_rules *rules); // NULL is allowed

// Runs the rules on the state after the last step. The results below belong to this call until the
// next one. A failure stops the rules permanently: later calls do nothing and give no commands.
FOLIOT_MUST_CHECK foliot_status foliot_rules_tick(foliot_rules *rules,
                                                  const foliot_rules_view *view);
// For the next step; their sequences are 0 and their source is RULES.
const foliot_command_list *foliot_rules_get_commands(const foliot_rules *rules);

typedef struct foliot_rules_message_out {
    uint32_t player; // or FOLIOT_TO_ALL
    bool reliable;
    const uint8_t *bytes;
    size_t length;
} foliot_rules_message_out;
// False beyond the last one.
bool foliot_rules_get_message(const foliot_rules *rules, uint32_t index,
                              foliot_rules_message_out *message);
// The player to dismiss, and the reason (lent); false beyond the last one.
bool foliot_rules_get_kick(const foliot_rules *rules, uint32_t index, uint32_t *player,
                           const char **reason);
// A player whose orders were refused, and how many; false beyond the last one.
bool foliot_rules_get_refused(const foliot_rules *rules, uint32_t index, uint32_t *player,
                              uint32_t *count);
// Parts of the last tick that were left out. Rules for which the host's clock or memory drops
// something in 100 ticks in a row are stopped.
typedef struct foliot_rules_drops {
    uint32_t count;  // parts that were left out
    const char *why; // reason of the first one; ""
    // Drops caused by the host's clock or memory, or of orders for their time or memory, which
    // foliot_rules_get_refused counts. Record these orders after all others of the tick: without
    // them a rerun does not reach the same decisions.
    uint32_t order_count;
    foliot_order orders[FOLIOT_ORDERS_DROPPED_MAX];
} foliot_rules_drops;
const foliot_rules_drops *foliot_rules_get_drops(const foliot_rules *rules);
// The reason why the rules were stopped; "" while they run.
const char *foliot_rules_get_problem(const foliot_rules *rules);
// Name and version of the kind; rules in Lua have the name of the script, and version 0.
const char *foliot_rules_get_name(const foliot_rules *rules);
uint32_t foliot_rules_get_version(const foliot_rules *rules);
// The text of rules in Lua, lent; NULL for rules in C.
const char *foliot_rules_get_script(const foliot_rules *rules, size_t *length);

// Writes the complete state of the rules: their own state, the random stream, the commands that
// wait for the next step, and whether they were stopped. `bytes` NULL asks for the length alone.
// FOLIOT_STATUS_FULL if `capacity` is too small; FOLIOT_STATUS_AGAIN if it took more time than the
// tick had left: a save in a later tick may succeed, and one more in the same tick takes the time
// that it needs, up to some 50 ms; FOLIOT_STATUS_INVALID if the state cannot be saved,
// which stops the rules.
FOLIOT_MUST_CHECK foliot_status foliot_rules_save(foliot_rules *rules, void *bytes, size_t capacity,
                                                  size_t *length);
// Hostile bytes give FOLIOT_STATUS_TRUNCATED or FOLIOT_STATUS_CORRUPT.
FOLIOT_MUST_CHECK foliot_status foliot_rules_restore(foliot_rules *rules, const void *bytes,
                                                     size_t length);

#ifdef __cplusplus
}
#endif

#endif
