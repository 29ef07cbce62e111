// SPDX-License-Identifier: MIT
// lua_events.c: a tick of a script: joins, leaves and orders, then events of the world, hits,
// contacts, and on_tick. A callback that the script does not define costs nothing.
//
// A tick has three separate budgets of units. A player's messages and orders are charged to that
// player's share; all other callbacks share `instructions`; on_tick has a quarter of them even if
// the callbacks before it have used up all. A callback that exceeds its budget is dropped at that
// point, and later callbacks without budget are not called.
//
// The memory that a player's orders may allocate is a share, too. It cannot be counted equally in
// every run, so the place at which an order exceeds it is recorded.
//
// All other time and memory have one budget each. A callback that exceeds one is dropped at a place
// that is recorded, and with it all later callbacks of its part of the tick. Joins and leaves
// behind it are the second part, and on_tick is the last one: each has a reserve of time, of new
// memory and of units. Orders have half of the time, and each player a part of what is left of it.
// Behind that the rest of the orders is dropped, and nothing else.
#ifndef FOLIOT_NO_LUA
#include "rules/lua_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "rules/rules.h"

#define UNITS_PER_CALL 10
#define ORDERS_PART 4      // 1 / this of `instructions` is for the orders of all players in a tick
#define ORDERS_TIME_PART 2 // 1 / this of the time, too
#define ORDERS_PLAYER_PART 16   // and at most 1 / this for those of one
#define ORDER_BYTES_PER_UNIT 64 // of one player's most, that its orders may allocate
#define LAST_PART 4             // 1 / this of `instructions` is on_tick's at least
#define LAST_TIME_PART 8        // and 1 / this of the time, as have joins and leaves
#define PLAYERS_PART 8          // 1 / this of `instructions` is for joins and leaves at least
#define CHATS_MAX 32            // in a tick, of the 64 messages
#define CONTACT_UNITS 40        // of the tables that describe a contact: some 700 bytes

// At least that part of the units of a tick and the new memory that belongs to it.
static void reserve_units(foliot__lua *lua, uint64_t units)
{
    const uint64_t bytes = units * FOLIOT__LUA_BYTES_PER_UNIT;
    lua->budget.units = lua->budget.units > units ? lua->budget.units : units;
    lua->budget.bytes = lua->budget.bytes > bytes ? lua->budget.bytes : bytes;
}

// Joins and leaves are called even where the first part of the tick has ended.
static void reserve_for_players(foliot__lua *lua)
{
    const uint64_t units = lua->limits.instructions / PLAYERS_PART;
    if (lua->budget.units < UNITS_PER_CALL && !lua->budget.players_reserved) {
        reserve_units(lua, units);
        lua->budget.players_reserved = true;
    }
    if (!lua->host.late || lua->host.players_only)
        return;
    reserve_units(lua, units);
    if (lua->budget.allowed_ns)
        lua->budget.allowed_ns =
            1000 * (lua->limits.time_us - lua->limits.time_us / LAST_TIME_PART);
    foliot__lua_begin_part(lua, foliot__rules_get_next_drop(lua->rules));
    lua->host.players_only = true;
}

// Pushes the callback; false if the script has none, or if it is dropped.
static bool push_callback(lua_State *L, int callback)
{
    foliot__lua *lua = foliot__lua_of(L);
    const bool of_players = callback == FOLIOT__LUA_on_join || callback == FOLIOT__LUA_on_leave;
    if (lua->callbacks[callback] == LUA_NOREF)
        return false;
    if (of_players)
        reserve_for_players(lua);
    if ((lua->host.players_only && !of_players) || lua->budget.units < UNITS_PER_CALL ||
        !foliot__lua_begin_callback(lua)) {
        foliot_rules_drop(lua->rules, lua->problem);
        lua->problem[0] = 0;
        return false;
    }
    foliot__lua_spend(lua, UNITS_PER_CALL);
    lua_rawgeti(L, LUA_REGISTRYINDEX, lua->callbacks[callback]);
    return true;
}

static bool call(lua_State *L, int arguments, int results)
{
    foliot__lua *lua = foliot__lua_of(L);
    if (foliot__lua_call_droppable(L, arguments, results))
        return true;
    foliot_rules_drop(lua->rules, lua->problem);
    lua->problem[0] = 0;
    return false;
}

static bool is_defined(const foliot__lua *lua, int callback)
{
    return lua->callbacks[callback] != LUA_NOREF;
}

// -- players and what they send

// Texts from outside: up to a first zero byte, which no string of a script has.
static void push_bytes(lua_State *L, const uint8_t *bytes, size_t length)
{
    lua_pushlstring(L, (const char *)bytes, strnlen((const char *)bytes, length));
}

static const char busy[] = "the rules had no time to admit you; please join again";

// False: on_join was dropped, so the player is dismissed. It has not joined where it was not
// called.
static bool join(lua_State *L, uint32_t player, const char *name)
{
    foliot__lua *lua = foliot__lua_of(L);
    if (lua->players.joined[player])
        return true;
    lua->players.joined[player] = true;
    foliot__text_clean(lua->players.names[player], sizeof lua->players.names[player], name);
    if (!is_defined(lua, FOLIOT__LUA_on_join))
        return true;
    if (!push_callback(L, FOLIOT__LUA_on_join)) {
        lua->players.joined[player] = false;
        lua->players.names[player][0] = 0;
        foliot__rules_dismiss(lua->rules, player, busy);
        return false;
    }
    lua_pushinteger(L, player);
    lua_pushstring(L, lua->players.names[player]);
    bool called = call(L, 2, 2);
    if (!called)
        foliot__rules_dismiss(lua->rules, player, busy);
    if (lua_isboolean(L, -2) && !lua_toboolean(L, -2))
        foliot_rules_kick(lua->rules, player,
                          lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1)
                                                         : "the rules do not admit you");
    lua_pop(L, 2);
    return called;
}

static void leave(lua_State *L, uint32_t player, const uint8_t *reason, size_t length)
{
    foliot__lua *lua = foliot__lua_of(L);
    if (!lua->players.joined[player])
        return;
    if (push_callback(L, FOLIOT__LUA_on_leave)) {
        lua_pushinteger(L, player);
        push_bytes(L, reason, length);
        call(L, 2, 0);
    }
    lua->players.joined[player] = false;
    lua->players.names[player][0] = 0;
}

// Sends a player's chat to all, after its name. Chat beyond a tick's limit is left out, which
// leaves the script room for messages.
static void pass_on(foliot__lua *lua, uint32_t player, const char *text)
{
    if (lua->events.chats == CHATS_MAX)
        return;
    lua->events.chats++;
    char line[FOLIOT_NAME_BYTES + FOLIOT_MESSAGE_BYTES_MAX];
    const char *name = lua->players.names[player];
    int length = name[0] ? snprintf(line, sizeof line, "%s: %s", name, text)
                         : snprintf(line, sizeof line, "player %u: %s", (unsigned)player, text);
    if (length > FOLIOT_MESSAGE_BYTES_MAX)
        length = FOLIOT_MESSAGE_BYTES_MAX;
    foliot_status status =
        foliot_rules_message(lua->rules, FOLIOT_TO_ALL, line, (size_t)length, true);
    (void)status;
}

// False if the callback was dropped: then the message goes to nobody.
static bool chat(lua_State *L, const foliot_order *order)
{
    foliot__lua *lua = foliot__lua_of(L);
    char text[FOLIOT_ORDER_BYTES_MAX + 1];
    snprintf(text, sizeof text, "%.*s", (int)order->length, (const char *)order->bytes);
    if (!is_defined(lua, FOLIOT__LUA_on_chat)) {
        pass_on(lua, order->player, text);
        return true;
    }
    if (!foliot__lua_begin_callback(lua))
        return false;
    lua_rawgeti(L, LUA_REGISTRYINDEX, lua->callbacks[FOLIOT__LUA_on_chat]);
    lua_pushinteger(L, order->player);
    lua_pushstring(L, text);
    if (!foliot__lua_call_order(L, 2, 1)) {
        lua_pop(L, 1);
        return false;
    }
    if (lua_type(L, -1) == LUA_TSTRING)
        pass_on(lua, order->player, lua_tostring(L, -1));
    else if (!lua_isboolean(L, -1) || lua_toboolean(L, -1))
        pass_on(lua, order->player, text);
    lua_pop(L, 1);
    return true;
}

// The rest of a player's budget of a tick for its messages and orders.
typedef struct share {
    uint64_t units, bytes;
} share;

// Hands a player's message or order to the script, at that player's cost. A callback that exceeds
// the share is dropped; later orders of the player are not handed over. An order that the host
// drops with the rest of the tick is not counted against its player.
static void call_speech(lua_State *L, const foliot_order *order, share *left)
{
    foliot__lua *lua = foliot__lua_of(L);
    const uint64_t game_units = lua->budget.units, game_bytes = lua->budget.bytes;
    const bool late = lua->host.late || lua->host.players_only,
               calls = is_defined(lua, order->kind == FOLIOT_ORDER_CHAT ? FOLIOT__LUA_on_chat
                                                                        : FOLIOT__LUA_on_order);
    bool taken = left->units >= UNITS_PER_CALL && (!calls || (!late && !lua->host.orders_late));
    if (taken) {
        lua->budget.units = left->units - UNITS_PER_CALL;
        lua->budget.bytes = left->bytes;
        lua->budget.of_player = true;
        if (order->kind == FOLIOT_ORDER_CHAT) {
            taken = chat(L, order);
        } else if (calls) {
            taken = foliot__lua_begin_callback(lua);
            if (taken) {
                lua_rawgeti(L, LUA_REGISTRYINDEX, lua->callbacks[FOLIOT__LUA_on_order]);
                lua_pushinteger(L, order->player);
                push_bytes(L, order->bytes, order->length);
                taken = foliot__lua_call_order(L, 2, 0);
            }
        }
        *left = (share){lua->budget.units, lua->budget.bytes};
        foliot__lua_end_order(lua);
        lua->budget.of_player = false;
    }
    lua->budget.units = game_units;
    lua->budget.bytes = game_bytes;
    if (!taken && (late || lua->host.late))
        foliot_rules_drop(lua->rules, lua->problem);
    else if (!taken)
        foliot_rules_refuse_order(lua->rules, order->player);
    lua->problem[0] = 0;
}

// The share of each player with a message or an order in this tick. Orders are sorted by player.
static share share_of_players(const foliot__lua *lua, const foliot_rules_view *view,
                              uint32_t *players)
{
    uint32_t speakers = 0, last = UINT32_MAX;
    for (uint32_t i = 0; i < view->order_count; i++) {
        const foliot_order *order = &view->orders[i];
        bool speaks = order->kind == FOLIOT_ORDER_GAME || order->kind == FOLIOT_ORDER_CHAT;
        if (!speaks || order->player == last)
            continue;
        last = order->player;
        speakers++;
    }
    *players = speakers;
    uint64_t most = lua->limits.instructions / ORDERS_PLAYER_PART;
    uint64_t units = speakers ? lua->limits.instructions / ORDERS_PART / speakers : 0;
    return (share){units < most ? units : most, ORDER_BYTES_PER_UNIT * most};
}

// A player's part of the time that is left for orders. Those behind it have what it does not use.
static void give_time(foliot__lua *lua, uint32_t players)
{
    foliot__lua_budget *b = &lua->budget;
    const uint64_t left = b->orders_ns > b->spent_ns ? b->orders_ns - b->spent_ns : 0;
    b->player_ns = b->spent_ns + left / players;
}

// Orders first: they have the names. Without orders, inputs give joins and leaves without names.
static void call_players(lua_State *L, const foliot_rules_view *view)
{
    foliot__lua *lua = foliot__lua_of(L);
    uint32_t players = 0, speaker = UINT32_MAX;
    const share whole = share_of_players(lua, view, &players);
    share left = {0};
    bool dismissed[FOLIOT_PLAYERS_MAX] = {false}; // in this tick: the script sees no more of them
    for (uint32_t i = 0; i < view->order_count; i++) {
        const foliot_order *order = &view->orders[i];
        char name[FOLIOT_ORDER_BYTES_MAX + 1];
        if (i == 0 || order->player != view->orders[i - 1].player)
            left = whole;
        if (order->player >= lua->players.max || order->length > FOLIOT_ORDER_BYTES_MAX)
            continue;
        foliot_rules_aim(lua->rules, order);
        switch (order->kind) {
        case FOLIOT_ORDER_GAME:
        case FOLIOT_ORDER_CHAT:
            if (order->player != speaker)
                give_time(lua, players--);
            speaker = order->player;
            if (!dismissed[order->player])
                call_speech(L, order, &left);
            break;
        case FOLIOT_ORDER_JOINED:
            snprintf(name, sizeof name, "%.*s", (int)order->length, (const char *)order->bytes);
            dismissed[order->player] |= !join(L, order->player, name);
            break;
        case FOLIOT_ORDER_LEFT:
            leave(L, order->player, order->bytes, order->length);
            break;
        default:
            break;
        }
    }
    for (uint32_t i = 0; i < view->input_count; i++) {
        const foliot_input *input = &view->inputs[i];
        if (input->player >= lua->players.max)
            continue;
        if (input->kind == FOLIOT_INPUT_JOIN && !dismissed[input->player])
            join(L, input->player, "");
        else if (input->kind == FOLIOT_INPUT_LEAVE)
            leave(L, input->player, (const uint8_t *)"", 0);
    }
}

// -- the world

static void call_events(lua_State *L, const foliot_world *world)
{
    uint32_t count;
    const foliot_event *events = foliot_world_get_events(world, &count);
    for (uint32_t i = 0; i < count; i++) {
        const foliot_event *e = &events[i];
        bool is_joint = e->kind == FOLIOT_EVENT_JOINT_MADE;
        switch (e->kind) {
        case FOLIOT_EVENT_SPAWNED:
        case FOLIOT_EVENT_DESPAWNED:
            if (!push_callback(L, e->kind == FOLIOT_EVENT_SPAWNED ? FOLIOT__LUA_on_spawn
                                                                  : FOLIOT__LUA_on_despawn))
                break;
            foliot__lua_push_body(L, e->body);
            if (e->kind == FOLIOT_EVENT_SPAWNED)
                lua_pushinteger(L, e->ticket);
            call(L, e->kind == FOLIOT_EVENT_SPAWNED ? 2 : 1, 0);
            break;
        case FOLIOT_EVENT_JOINT_MADE:
        case FOLIOT_EVENT_JOINT_BROKEN:
            if (!push_callback(L, is_joint ? FOLIOT__LUA_on_joint : FOLIOT__LUA_on_break))
                break;
            lua_pushinteger(L, (lua_Integer)e->joint.value);
            if (is_joint)
                lua_pushinteger(L, e->ticket);
            call(L, is_joint ? 2 : 1, 0);
            break;
        case FOLIOT_EVENT_COMMAND_REFUSED:
            if (!push_callback(L, FOLIOT__LUA_on_refused))
                break;
            lua_pushinteger(L, e->sequence);
            lua_pushstring(L, foliot_command_reason_get_text((foliot_command_reason)e->reason));
            call(L, 2, 0);
            break;
        default:
            break;
        }
    }
}

// -- sensors, hits and contacts

// Room for `count` values of `bytes` bytes in an array that lasts.
static void make_room(foliot__lua *lua, void *array, uint32_t *capacity, uint32_t count,
                      size_t bytes)
{
    size_t room = 2 * (size_t)count;
    if (!foliot__array_reserve(array, capacity, count, room, bytes) &&
        !(foliot__lua_free_reserve(lua) &&
          foliot__array_reserve(array, capacity, count, room, bytes)))
        foliot__lua_abandon(lua, "there is no memory");
}

static void call_sensors(lua_State *L, const foliot_world *world)
{
    foliot__lua *lua = foliot__lua_of(L);
    if (!is_defined(lua, FOLIOT__LUA_on_sensor))
        return;
    uint32_t count = foliot_world_get_sensor_events(world, NULL, 0);
    make_room(lua, &lua->events.sensors, &lua->events.sensor_capacity, count,
              sizeof *lua->events.sensors);
    foliot_world_get_sensor_events(world, lua->events.sensors, count);
    for (uint32_t i = 0; i < count; i++) {
        if (!push_callback(L, FOLIOT__LUA_on_sensor))
            continue;
        bool entered = lua->events.sensors[i].change == FOLIOT_SENSOR_ENTER;
        foliot__lua_push_body(L, lua->events.sensors[i].sensor);
        foliot__lua_push_body(L, lua->events.sensors[i].body);
        lua_pushboolean(L, entered);
        call(L, 3, 0);
    }
}

static void call_hits(lua_State *L, const foliot_world *world)
{
    uint32_t count;
    if (!is_defined(foliot__lua_of(L), FOLIOT__LUA_on_hit))
        return;
    const foliot_hit_event *hits = foliot_world_get_hit_events(world, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (!push_callback(L, FOLIOT__LUA_on_hit))
            continue;
        foliot__lua_push_body(L, hits[i].a);
        foliot__lua_push_body(L, hits[i].b);
        lua_pushnumber(L, hits[i].impulse);
        for (int k = 0; k < 3; k++)
            lua_pushnumber(L, hits[i].point[k]);
        call(L, 6, 0);
    }
}

static void push_vector(lua_State *L, const char *name, const double v[3])
{
    lua_createtable(L, 3, 0);
    for (int k = 0; k < 3; k++) {
        lua_pushnumber(L, v[k]);
        lua_rawseti(L, -2, k + 1);
    }
    lua_setfield(L, -2, name);
}

static void call_contacts(lua_State *L, const foliot_world *world)
{
    foliot__lua *lua = foliot__lua_of(L);
    foliot__lua_events *events = &lua->events;
    if (!is_defined(lua, FOLIOT__LUA_on_contact) && !is_defined(lua, FOLIOT__LUA_on_touch))
        return;
    uint32_t count =
        foliot_world_get_contact_events(world, events->contacts, events->contact_capacity);
    if (count > events->contact_capacity) {
        make_room(lua, &events->contacts, &events->contact_capacity, count,
                  sizeof *events->contacts);
        count = foliot_world_get_contact_events(world, events->contacts, events->contact_capacity);
    }
    for (uint32_t i = 0; i < count; i++) {
        const foliot_contact_event *contact = &events->contacts[i];
        bool persists = contact->change == FOLIOT_CONTACT_PERSIST;
        int callback = persists ? FOLIOT__LUA_on_touch : FOLIOT__LUA_on_contact;
        if (!push_callback(L, callback))
            continue;
        foliot__lua_push_body(L, contact->a);
        foliot__lua_push_body(L, contact->b);
        int arguments = persists ? 2 : 3;
        if (!persists)
            lua_pushstring(L, contact->change == FOLIOT_CONTACT_BEGIN ? "begin" : "end");
        if (lua->parameters[callback] > arguments) {
            foliot__lua_spend(lua, CONTACT_UNITS); // before the memory of a tick is used up
            lua_createtable(L, 0, 6);
            lua_pushinteger(L, contact->points);
            lua_setfield(L, -2, "points");
            lua_pushnumber(L, contact->force);
            lua_setfield(L, -2, "force");
            lua_pushnumber(L, contact->speed);
            lua_setfield(L, -2, "speed");
            push_vector(L, "point", contact->point);
            push_vector(L, "normal", contact->normal);
            push_vector(L, "friction", contact->friction);
            arguments++;
        }
        call(L, arguments, 0);
    }
}

static int tick_body(lua_State *L)
{
    foliot__lua *lua = foliot__lua_of(L);
    const foliot_rules_view *view = lua->view;
    foliot__lua_recover_memory(lua);
    call_players(L, view);
    if (view->world) {
        call_events(L, view->world);
        call_sensors(L, view->world);
        call_hits(L, view->world);
        call_contacts(L, view->world);
    }
    reserve_units(lua, lua->limits.instructions / LAST_PART);
    if (lua->budget.allowed_ns)
        lua->budget.allowed_ns = 1000 * lua->limits.time_us;
    foliot__lua_begin_part(lua, foliot__rules_get_next_drop(lua->rules));
    if (push_callback(L, FOLIOT__LUA_on_tick))
        call(L, 0, 0);
    return 0;
}

bool foliot__lua_tick(foliot__lua *lua)
{
    const uint64_t time_us = lua->limits.time_us;
    lua->host.reruns = foliot__rules_reruns(lua->rules);
    lua->host.checks = 0;
    lua->host.orders_late = lua->budget.players_reserved = false;
    lua->events.chats = 0;
    lua->budget.orders_ns = 1000 * time_us / ORDERS_TIME_PART;
    foliot__lua_begin_part(lua, foliot__rules_get_next_drop(lua->rules));
    bool fine = foliot__lua_run_timed(
        lua, FOLIOT__LUA_TICKING, lua->limits.instructions,
        lua->host.reruns ? 0 : time_us - 2 * (time_us / LAST_TIME_PART), 0, tick_body, NULL);
    lua->budget.tick_ns = lua->budget.spent_ns;
    return fine;
}
#endif
