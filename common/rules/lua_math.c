// SPDX-License-Identifier: MIT
// lua_math.c: math and utf8. The functions of math are those of foliot/digest.h and what follows
// from them and from exact operations, so that they give the same bits on every machine. Random
// numbers come from the rules' own stream.
#ifndef FOLIOT_NO_LUA
#include "rules/lua_state.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "foliot/digest.h"

#define PI 3.141592653589793238462643383279502884

// As an integer where it is one that fits.
static int push_whole(lua_State *L, double x)
{
    lua_Integer n;
    if (lua_numbertointeger(x, &n))
        lua_pushinteger(L, n);
    else
        lua_pushnumber(L, x);
    return 1;
}

static int math_floor(lua_State *L)
{
    if (lua_isinteger(L, 1)) {
        lua_settop(L, 1);
        return 1;
    }
    return push_whole(L, foliot_floor(luaL_checknumber(L, 1)));
}

static int math_ceil(lua_State *L)
{
    if (lua_isinteger(L, 1)) {
        lua_settop(L, 1);
        return 1;
    }
    return push_whole(L, -foliot_floor(-luaL_checknumber(L, 1)));
}

static int math_abs(lua_State *L)
{
    if (lua_isinteger(L, 1)) {
        lua_Integer n = lua_tointeger(L, 1);
        lua_pushinteger(L, n < 0 ? (lua_Integer)(0u - (lua_Unsigned)n) : n);
        return 1;
    }
    double x = luaL_checknumber(L, 1);
    lua_pushnumber(L, x < 0 ? -x : x + 0.0);
    return 1;
}

// The least (order -1) or greatest of the arguments, as it was given.
static int pick(lua_State *L, int from, int to)
{
    int count = lua_gettop(L), best = 1;
    luaL_checknumber(L, 1);
    for (int i = 2; i <= count; i++) {
        luaL_checknumber(L, i);
        if (from < to ? lua_compare(L, i, best, LUA_OPLT) : lua_compare(L, best, i, LUA_OPLT))
            best = i;
    }
    lua_pushvalue(L, best);
    return 1;
}

static int math_min(lua_State *L)
{
    return pick(L, 0, 1);
}

static int math_max(lua_State *L)
{
    return pick(L, 1, 0);
}

static int math_clamp(lua_State *L)
{
    luaL_checknumber(L, 1);
    luaL_checknumber(L, 2);
    luaL_checknumber(L, 3);
    lua_pushvalue(L, lua_compare(L, 1, 2, LUA_OPLT) ? 2 : lua_compare(L, 3, 1, LUA_OPLT) ? 3 : 1);
    return 1;
}

static int math_sqrt(lua_State *L)
{
    lua_pushnumber(L, foliot_sqrt(luaL_checknumber(L, 1)));
    return 1;
}

static int math_sin(lua_State *L)
{
    lua_pushnumber(L, foliot_sin(luaL_checknumber(L, 1)));
    return 1;
}

static int math_cos(lua_State *L)
{
    lua_pushnumber(L, foliot_cos(luaL_checknumber(L, 1)));
    return 1;
}

static int math_tan(lua_State *L)
{
    double x = luaL_checknumber(L, 1);
    lua_pushnumber(L, foliot_sin(x) / foliot_cos(x));
    return 1;
}

static int math_asin(lua_State *L)
{
    double x = luaL_checknumber(L, 1);
    lua_pushnumber(L, foliot_atan2(x, foliot_sqrt((1 - x) * (1 + x))));
    return 1;
}

static int math_acos(lua_State *L)
{
    double x = luaL_checknumber(L, 1);
    lua_pushnumber(L, foliot_atan2(foliot_sqrt((1 - x) * (1 + x)), x));
    return 1;
}

static int math_atan(lua_State *L)
{
    double y = luaL_checknumber(L, 1);
    lua_pushnumber(L, foliot_atan2(y, luaL_optnumber(L, 2, 1)));
    return 1;
}

static int math_exp(lua_State *L)
{
    lua_pushnumber(L, foliot_exp(luaL_checknumber(L, 1)));
    return 1;
}

static int math_log(lua_State *L)
{
    double x = foliot_log(luaL_checknumber(L, 1));
    if (!lua_isnoneornil(L, 2))
        x /= foliot_log(luaL_checknumber(L, 2));
    lua_pushnumber(L, x);
    return 1;
}

// Whole powers by squaring, others through the logarithm.
static double power(double x, double y)
{
    if (y == foliot_floor(y) && y >= -0x1p31 && y <= 0x1p31) {
        double result = 1, square = x;
        for (uint64_t n = (uint64_t)(y < 0 ? -y : y); n; n >>= 1) {
            if (n & 1)
                result *= square;
            square *= square;
        }
        return y < 0 ? 1 / result : result;
    }
    if (x == 0)
        return y > 0 ? 0 : HUGE_VAL;
    return foliot_exp(y * foliot_log(x)); // of a negative x: NaN
}

static int math_pow(lua_State *L)
{
    double x = luaL_checknumber(L, 1), y = luaL_checknumber(L, 2);
    lua_pushnumber(L, power(x, y));
    return 1;
}

// Exact in IEEE-754; the sign is that of the first one.
static int math_fmod(lua_State *L)
{
    double x = luaL_checknumber(L, 1), y = luaL_checknumber(L, 2);
    lua_pushnumber(L, fmod(x, y));
    return 1;
}

static int math_modf(lua_State *L)
{
    double x = luaL_checknumber(L, 1);
    double whole = x < 0 ? -foliot_floor(-x) : foliot_floor(x);
    lua_pushnumber(L, whole);
    lua_pushnumber(L, x == whole ? 0.0 : x - whole);
    return 2;
}

static int math_tointeger(lua_State *L)
{
    int fits;
    lua_Integer n = lua_tointegerx(L, 1, &fits);
    if (fits && lua_type(L, 1) == LUA_TNUMBER)
        lua_pushinteger(L, n);
    else
        lua_pushnil(L);
    return 1;
}

static int math_type(lua_State *L)
{
    luaL_checkany(L, 1);
    if (lua_type(L, 1) == LUA_TNUMBER)
        lua_pushstring(L, lua_isinteger(L, 1) ? "integer" : "float");
    else
        lua_pushnil(L);
    return 1;
}

static int math_ult(lua_State *L)
{
    lua_Integer a = luaL_checkinteger(L, 1), b = luaL_checkinteger(L, 2);
    lua_pushboolean(L, (lua_Unsigned)a < (lua_Unsigned)b);
    return 1;
}

static uint64_t draw(lua_State *L)
{
    foliot__lua *lua = foliot__lua_of(L);
    if (!lua->loaded)
        luaL_error(L, "math.random: not while the script is loaded; in on_init or later");
    foliot__lua_charge(lua, 2);
    return foliot_rules_draw(lua->rules);
}

static int math_random(lua_State *L)
{
    lua_Integer low = 1, high;
    switch (lua_gettop(L)) {
    case 0:
        lua_pushnumber(L, (double)(draw(L) >> 11) * 0x1p-53);
        return 1;
    case 1:
        high = luaL_checkinteger(L, 1);
        if (high == 0) { // an integer of 64 random bits
            lua_pushinteger(L, (lua_Integer)draw(L));
            return 1;
        }
        break;
    case 2:
        low = luaL_checkinteger(L, 1);
        high = luaL_checkinteger(L, 2);
        break;
    default:
        return luaL_error(L, "wrong number of arguments");
    }
    luaL_argcheck(L, low <= high, lua_gettop(L) == 1 ? 1 : 2, "interval is empty");
    uint64_t range = (uint64_t)high - (uint64_t)low + 1; // 0: all of them
    uint64_t value = draw(L), limit = range ? UINT64_MAX - UINT64_MAX % range : 0;
    while (range && value >= limit) // the last, incomplete range would favour some
        value = draw(L);
    lua_pushinteger(L, (lua_Integer)((uint64_t)low + (range ? value % range : value)));
    return 1;
}

void foliot__lua_push_math_library(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"abs", math_abs},     {"acos", math_acos},
        {"asin", math_asin},   {"atan", math_atan},
        {"ceil", math_ceil},   {"clamp", math_clamp},
        {"cos", math_cos},     {"exp", math_exp},
        {"floor", math_floor}, {"fmod", math_fmod},
        {"log", math_log},     {"max", math_max},
        {"min", math_min},     {"modf", math_modf},
        {"pow", math_pow},     {"random", math_random},
        {"sin", math_sin},     {"sqrt", math_sqrt},
        {"tan", math_tan},     {"tointeger", math_tointeger},
        {"type", math_type},   {"ult", math_ult},
        {NULL, NULL},
    };
    luaL_newlib(L, functions);
    lua_pushnumber(L, PI);
    lua_setfield(L, -2, "pi");
    lua_pushnumber(L, HUGE_VAL);
    lua_setfield(L, -2, "huge");
    lua_pushinteger(L, LUA_MAXINTEGER);
    lua_setfield(L, -2, "maxinteger");
    lua_pushinteger(L, LUA_MININTEGER);
    lua_setfield(L, -2, "mininteger");
}

// -- utf8

static int utf8_char(lua_State *L)
{
    int count = lua_gettop(L);
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    for (int i = 1; i <= count; i++) {
        lua_Integer c = luaL_checkinteger(L, i);
        luaL_argcheck(L, 1 <= c && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff), i,
                      "value out of range");
        lua_pushfstring(L, "%U", (long)c);
        luaL_addvalue(&b);
    }
    luaL_pushresult(&b);
    return 1;
}

// How many characters there are; nil and a position where the text is not UTF-8.
static int utf8_len(lua_State *L)
{
    size_t length;
    const char *s = foliot__lua_check_text(L, 1, &length);
    lua_Integer count = 0;
    uint32_t character;
    foliot__lua_charge(foliot__lua_of(L), length / 4);
    for (size_t at = 0; at < length; count++) {
        size_t taken = foliot__utf8_decode(s + at, &character);
        if (taken == 0) {
            lua_pushnil(L);
            lua_pushinteger(L, (lua_Integer)at + 1);
            return 2;
        }
        at += taken;
    }
    lua_pushinteger(L, count);
    return 1;
}

// The character at a byte position, and the position behind it.
static int utf8_codepoint(lua_State *L)
{
    size_t length;
    const char *s = foliot__lua_check_text(L, 1, &length);
    lua_Integer at = luaL_optinteger(L, 2, 1);
    uint32_t character;
    luaL_argcheck(L, 1 <= at && at <= (lua_Integer)length, 2, "out of bounds");
    size_t taken = foliot__utf8_decode(s + at - 1, &character);
    if (taken == 0)
        return luaL_error(L, "invalid UTF-8 code");
    lua_pushinteger(L, character);
    lua_pushinteger(L, at + (lua_Integer)taken);
    return 2;
}

void foliot__lua_push_utf8_library(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"char", utf8_char}, {"codepoint", utf8_codepoint}, {"len", utf8_len}, {NULL, NULL}};
    luaL_newlib(L, functions);
}
#endif
