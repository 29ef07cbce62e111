// SPDX-License-Identifier: MIT
// lua_command.c: the actions of a script: `command` with one function for each kind of
// foliot/command.h, which takes a table of the kind's fields; set_var, message and kick.
#ifndef FOLIOT_NO_LUA
#include "rules/lua_state.h"

#include <math.h>
#include <string.h>

#include "command/command.h"

typedef const foliot_command_kind_info kind_info;
typedef const foliot_command_field field_info;

static foliot_rules *rules_of(lua_State *L, const char *what)
{
    foliot__lua *lua = foliot__lua_of(L);
    if (!lua->loaded)
        luaL_error(L, "%s: not while the script is loaded; in on_init or later", what);
    return lua->rules;
}

// An error with the name of the command and of its field. Returns for its callers to return.
static int field_error(lua_State *L, kind_info *kind, field_info *field, const char *wanted)
{
    return luaL_error(L, "command.%s: %s is %s, not a %s", kind->name, field->name, wanted,
                      luaL_typename(L, -1));
}

// -- the value on the top of the stack as one field

static void read_integer(lua_State *L, kind_info *kind, field_info *field, lua_Integer low,
                         lua_Integer high, lua_Integer *value)
{
    int fits;
    *value = lua_tointegerx(L, -1, &fits);
    if (lua_type(L, -1) != LUA_TNUMBER || !fits)
        field_error(L, kind, field, "an integer");
    if (*value < low || *value > high)
        luaL_error(L, "command.%s: %s is out of range", kind->name, field->name);
}

// A word, a flag or the name of a prototype for its number. False if the value is none of these.
static bool read_word(lua_State *L, uint32_t kind, kind_info *info, field_info *field,
                      uint32_t *value)
{
    if (lua_type(L, -1) == LUA_TBOOLEAN && foliot__command_is_flag(kind, field)) {
        *value = (uint32_t)lua_toboolean(L, -1);
        return true;
    }
    if (lua_type(L, -1) != LUA_TSTRING)
        return false;
    const char *word = lua_tostring(L, -1);
    const char *const *words = foliot__command_words(kind, field);
    if (kind == FOLIOT_COMMAND_spawn && strcmp(field->name, "prototype") == 0) {
        *value = foliot_scene_find_prototype(foliot__lua_of(L)->scene, word);
        if (*value == FOLIOT_NO_BODY)
            luaL_error(L, "command.spawn: the scene has no prototype '%s'", word);
        return true;
    }
    for (uint32_t i = 0; words && words[i]; i++)
        if (strcmp(words[i], word) == 0) {
            *value = i;
            return true;
        }
    if (words)
        luaL_error(L, "command.%s: %s cannot be '%s'", info->name, field->name, word);
    return false;
}

// The number on the stack, as the field's type has it.
static void read_real(lua_State *L, kind_info *kind, field_info *field, void *values, uint32_t i)
{
    if (lua_type(L, -1) != LUA_TNUMBER)
        field_error(L, kind, field, "a number");
    double x = lua_tonumber(L, -1);
    bool narrow = field->type == FOLIOT_COMMAND_TYPE_f32;
    if (!isfinite(narrow ? (double)(float)x : x))
        luaL_error(L, "command.%s: %s is not finite", kind->name, field->name);
    if (narrow)
        ((float *)values)[i] = (float)x;
    else
        ((double *)values)[i] = x;
}

static void read_reals(lua_State *L, kind_info *kind, field_info *field, void *values)
{
    if (field->count == 1) {
        read_real(L, kind, field, values, 0);
        return;
    }
    if (lua_type(L, -1) != LUA_TTABLE || lua_rawlen(L, -1) != field->count)
        luaL_error(L, "command.%s: %s is a list of %d numbers", kind->name, field->name,
                   (int)field->count);
    for (uint32_t i = 0; i < field->count; i++) {
        lua_rawgeti(L, -1, (lua_Integer)i + 1);
        read_real(L, kind, field, values, i);
        lua_pop(L, 1);
    }
}

static void read_text(lua_State *L, uint32_t kind, kind_info *info, field_info *field,
                      const char **text)
{
    size_t length, room = foliot__command_text_bytes(kind, field);
    if (lua_type(L, -1) != LUA_TSTRING)
        field_error(L, info, field, "a text");
    *text = lua_tolstring(L, -1, &length); // the table keeps it
    if (length >= room)
        luaL_error(L, "command.%s: %s has %d bytes; at most %d", info->name, field->name,
                   (int)length, (int)room - 1);
}

static void read_field(lua_State *L, uint32_t number, kind_info *kind, field_info *field,
                       foliot_command *command)
{
    void *room = foliot__command_room(command, field);
    lua_Integer n;
    switch (field->type) {
    case FOLIOT_COMMAND_TYPE_u32:
        if (!read_word(L, number, kind, field, room)) {
            read_integer(L, kind, field, 0, UINT32_MAX, &n);
            *(uint32_t *)room = (uint32_t)n;
        }
        break;
    case FOLIOT_COMMAND_TYPE_i32:
        read_integer(L, kind, field, INT32_MIN, INT32_MAX, &n);
        *(int32_t *)room = (int32_t)n;
        break;
    case FOLIOT_COMMAND_TYPE_i64:
        read_integer(L, kind, field, LUA_MININTEGER, LUA_MAXINTEGER, &n);
        *(int64_t *)room = n;
        break;
    case FOLIOT_COMMAND_TYPE_f32:
    case FOLIOT_COMMAND_TYPE_real:
        read_reals(L, kind, field, room);
        break;
    case FOLIOT_COMMAND_TYPE_f64:
        if (lua_type(L, -1) != LUA_TNUMBER)
            field_error(L, kind, field, "a number");
        *(double *)room = lua_tonumber(L, -1);
        break;
    case FOLIOT_COMMAND_TYPE_body:
        read_integer(L, kind, field, LUA_MININTEGER, LUA_MAXINTEGER, &n);
        ((foliot_body_id *)room)->value = (uint64_t)n;
        break;
    case FOLIOT_COMMAND_TYPE_joint:
        read_integer(L, kind, field, LUA_MININTEGER, LUA_MAXINTEGER, &n);
        ((foliot_joint_id *)room)->value = (uint64_t)n;
        break;
    case FOLIOT_COMMAND_TYPE_text:
        read_text(L, number, kind, field, room);
        break;
    }
}

// -- a command

static bool has_field(kind_info *kind, const char *name)
{
    for (uint32_t i = 0; i < kind->field_count; i++)
        if (strcmp(kind->fields[i].name, name) == 0)
            return true;
    return false;
}

// Raises an error if the table at 1 has keys that are not fields. It names the first of them in the
// order of pairs.
static void check_fields(lua_State *L, kind_info *kind, uint32_t known)
{
    const char *bad;
    uint32_t count = 0;
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        foliot__lua_charge(foliot__lua_of(L), 1);
        count++;
    }
    if (count == known)
        return;
    count = foliot__lua_push_sorted_keys(L, 1, &bad);
    for (uint32_t i = 1; i <= count; i++) {
        lua_rawgeti(L, -1, i);
        if (lua_type(L, -1) != LUA_TSTRING)
            break;
        if (!has_field(kind, lua_tostring(L, -1)))
            luaL_error(L, "command.%s has no field '%s'", kind->name, lua_tostring(L, -1));
        lua_pop(L, 1);
    }
    luaL_error(L, "command.%s takes a table of named fields", kind->name);
}

// Returns true; or false and "full", if the tick has no room for another one.
static int give(lua_State *L, const char *name, const foliot_command *command)
{
    foliot_command_reason reason;
    if (!foliot_command_valid(command, &reason))
        return luaL_error(L, "command.%s: %s", name, foliot_command_reason_get_text(reason));
    foliot_status status = foliot_rules_command(rules_of(L, "command"), command);
    if (status == FOLIOT_STATUS_MEMORY)
        foliot__lua_abandon(foliot__lua_of(L), "there is no memory");
    lua_pushboolean(L, status == FOLIOT_STATUS_OK);
    if (status == FOLIOT_STATUS_OK)
        return 1;
    lua_pushliteral(L, "full");
    return 2;
}

// Upvalue 1: the number of the kind.
static int run_command(lua_State *L)
{
    uint32_t number = (uint32_t)lua_tointeger(L, lua_upvalueindex(1));
    kind_info *kind = foliot_command_kind_get_info(number);
    foliot_command command = foliot_command_default((foliot_command_kind)number);
    rules_of(L, "command");
    if (lua_gettop(L) == 0)
        lua_newtable(L); // of a command without required fields
    luaL_checktype(L, 1, LUA_TTABLE);
    foliot__lua_charge(foliot__lua_of(L), 30);
    uint32_t known = 0;
    for (uint32_t i = 0; i < kind->field_count; i++) {
        lua_pushstring(L, kind->fields[i].name);
        if (lua_rawget(L, 1) != LUA_TNIL) {
            read_field(L, number, kind, &kind->fields[i], &command);
            command.fields |= 1u << i;
            known++;
        }
        lua_settop(L, 1); // the table keeps texts
    }
    check_fields(L, kind, known);
    uint32_t missing = kind->required & ~command.fields;
    for (uint32_t i = 0; i < kind->field_count; i++)
        if (missing & (1u << i))
            return luaL_error(L, "command.%s: %s is missing", kind->name, kind->fields[i].name);
    return give(L, kind->name, &command);
}

void foliot__lua_push_command_library(lua_State *L)
{
    lua_createtable(L, 0, FOLIOT_COMMAND_KIND_COUNT);
    for (uint32_t i = 0; foliot_command_kind_get_info(i); i++) {
        lua_pushinteger(L, i);
        lua_pushcclosure(L, run_command, 1);
        lua_setfield(L, -2, foliot_command_kind_get_info(i)->name);
    }
}

// -- shorthands, and functions that are not commands

static int set_var(lua_State *L)
{
    size_t length;
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_var);
    rules_of(L, "set_var");
    c.fields = FOLIOT_COMMAND_HAS(var, key);
    c.as.var.key = foliot__lua_check_text(L, 1, &length);
    luaL_argcheck(L, 1 <= length && length < FOLIOT_VAR_KEY_BYTES, 1, "a key has 1 to 63 bytes");
    foliot__lua_charge(foliot__lua_of(L), 20);
    switch (lua_type(L, 2)) {
    case LUA_TNONE:
    case LUA_TNIL:
        break;
    case LUA_TNUMBER:
        c.fields |= lua_isinteger(L, 2) ? FOLIOT_COMMAND_HAS(var, integer)
                                        : FOLIOT_COMMAND_HAS(var, number);
        if (lua_isinteger(L, 2))
            c.as.var.integer = lua_tointeger(L, 2);
        else
            c.as.var.number = lua_tonumber(L, 2);
        break;
    default:
        c.fields |= FOLIOT_COMMAND_HAS(var, text);
        c.as.var.text = foliot__lua_check_text(L, 2, &length);
        luaL_argcheck(L, length < FOLIOT_VAR_TEXT_BYTES, 2, "a text has at most 255 bytes");
        break;
    }
    return give(L, "var", &c);
}

// end_session(reason, next): `end` is a reserved word of Lua.
static int end_session(lua_State *L)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_end);
    foliot__lua_name_nan(L, 1);
    foliot__lua_name_nan(L, 2);
    const char *const texts[2] = {luaL_optstring(L, 1, NULL), luaL_optstring(L, 2, NULL)};
    rules_of(L, "end_session");
    for (int i = 0; i < 2; i++)
        luaL_argcheck(L, !texts[i] || strlen(texts[i]) < FOLIOT_VAR_TEXT_BYTES, i + 1,
                      "a text has at most 255 bytes");
    c.fields = (texts[0] ? FOLIOT_COMMAND_HAS(end, reason) : 0) |
               (texts[1] ? FOLIOT_COMMAND_HAS(end, next) : 0);
    c.as.end.reason = texts[0];
    c.as.end.next = texts[1];
    return give(L, "end", &c);
}

// message(player or nil, text, unreliable)
static int message(lua_State *L)
{
    size_t length;
    foliot_rules *rules = rules_of(L, "message");
    uint32_t player = lua_isnoneornil(L, 1) ? FOLIOT_TO_ALL : foliot__lua_check_player(L, 1);
    const char *text = foliot__lua_check_text(L, 2, &length);
    luaL_argcheck(L, length <= FOLIOT_MESSAGE_BYTES_MAX, 2, "a message has at most 1000 bytes");
    foliot__lua_charge(foliot__lua_of(L), 20);
    foliot_status status = foliot_rules_message(rules, player, text, length, !lua_toboolean(L, 3));
    lua_pushboolean(L, status == FOLIOT_STATUS_OK);
    if (status == FOLIOT_STATUS_OK)
        return 1;
    lua_pushliteral(L, "full");
    return 2;
}

static int kick(lua_State *L)
{
    foliot_rules *rules = rules_of(L, "kick");
    uint32_t player = foliot__lua_check_player(L, 1);
    foliot__lua_charge(foliot__lua_of(L), 20);
    foliot_rules_kick(rules, player,
                      lua_isnoneornil(L, 2) ? "dismissed by the rules"
                                            : foliot__lua_check_text(L, 2, NULL));
    return 0;
}

void foliot__lua_set_game_functions(lua_State *L)
{
    static const luaL_Reg functions[] = {{"end_session", end_session},
                                         {"kick", kick},
                                         {"message", message},
                                         {"set_var", set_var},
                                         {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
#endif
