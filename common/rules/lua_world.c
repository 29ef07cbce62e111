// SPDX-License-Identifier: MIT
// lua_world.c: the libraries by which a script reads the world: `world`, and `history`, the world
// as it was shown to a player when it last pressed something or gave an order. Neither changes
// anything. Bodies and joints are ids, integers; for a body that is gone the functions return nil.
#ifndef FOLIOT_NO_LUA
#include "rules/lua_state.h"

#include <math.h>
#include <string.h>

#include "foliot/query.h"

// The view of the tick; raises an error in on_init, when there is no world yet.
static const foliot_rules_view *view_of(lua_State *L)
{
    const foliot_rules_view *view = foliot__lua_of(L)->view;
    if (!view)
        luaL_error(L, "there is no world before the first tick");
    return view;
}

// Rules with the host's own simulation have no world.
static const foliot_world *world_of(lua_State *L)
{
    const foliot_world *world = view_of(L)->world;
    if (!world)
        luaL_error(L, "this simulation has no world");
    return world;
}

foliot_body_id foliot__lua_check_body(lua_State *L, int index)
{
    return (foliot_body_id){(uint64_t)luaL_checkinteger(L, index)};
}

void foliot__lua_push_body(lua_State *L, foliot_body_id id)
{
    lua_pushinteger(L, (lua_Integer)id.value);
}

uint32_t foliot__lua_check_player(lua_State *L, int index)
{
    lua_Integer player = luaL_checkinteger(L, index);
    luaL_argcheck(L, 0 <= player && player < (lua_Integer)foliot__lua_of(L)->players.max, index,
                  "no such player");
    return (uint32_t)player;
}

// False if the body is gone.
static bool find_body(lua_State *L, const foliot_world *world, int index, foliot_body_id *body)
{
    *body = foliot__lua_check_body(L, index);
    return foliot_world_get_body_state(world, *body).flags != 0;
}

// The properties of the body that the first argument names. False if it is gone.
static bool get_body(lua_State *L, foliot_body *body)
{
    foliot_body_id id = foliot__lua_check_body(L, 1);
    return foliot_world_get_body(world_of(L), id, body) == FOLIOT_STATUS_OK;
}

static int push_vector(lua_State *L, const double *v, int count)
{
    for (int i = 0; i < count; i++)
        lua_pushnumber(L, v[i]);
    return count;
}

// -- time

static int world_tick(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)view_of(L)->tick);
    return 1;
}

static int world_time(lua_State *L)
{
    lua_pushnumber(L, foliot_world_get_time(world_of(L)));
    return 1;
}

static int world_dt(lua_State *L)
{
    lua_pushnumber(L, foliot__lua_of(L)->scene->dt);
    return 1;
}

static int world_gravity(lua_State *L)
{
    double gravity[3];
    foliot_world_get_gravity(world_of(L), gravity);
    return push_vector(L, gravity, 3);
}

// -- bodies

static int world_alive(lua_State *L)
{
    foliot_body_id body;
    lua_pushboolean(L, find_body(L, world_of(L), 1, &body));
    return 1;
}

static int world_bodies(lua_State *L)
{
    const foliot_world *world = world_of(L);
    uint32_t count = foliot_world_get_body_count(world);
    lua_Integer n = 0;
    foliot__lua_charge(foliot__lua_of(L), 4 + 2 * (uint64_t)count);
    lua_newtable(L);
    for (uint32_t slot = 0; slot < count; slot++)
        if (foliot_world_get_body_id(world, slot).value != 0) {
            foliot__lua_push_body(L, foliot_world_get_body_id(world, slot));
            lua_rawseti(L, -2, ++n);
        }
    return 1;
}

static int world_body_count(lua_State *L)
{
    const foliot_world *world = world_of(L);
    uint32_t slots = foliot_world_get_body_count(world);
    lua_Integer count = 0;
    foliot__lua_charge(foliot__lua_of(L), 4 + slots / 8);
    for (uint32_t slot = 0; slot < slots; slot++)
        count += foliot_world_get_body_id(world, slot).value != 0;
    lua_pushinteger(L, count);
    return 1;
}

static int world_position(lua_State *L)
{
    foliot_body_id body;
    if (!find_body(L, world_of(L), 1, &body))
        return 0;
    return push_vector(L, foliot_world_get_body_state(world_of(L), body).position, 3);
}

static int world_velocity(lua_State *L)
{
    foliot_body_id body;
    if (!find_body(L, world_of(L), 1, &body))
        return 0;
    return push_vector(L, foliot_world_get_body_state(world_of(L), body).velocity, 3);
}

static int world_orientation(lua_State *L)
{
    foliot_body_id body;
    if (!find_body(L, world_of(L), 1, &body))
        return 0;
    return push_vector(L, foliot_world_get_body_state(world_of(L), body).orientation, 4);
}

static int world_angular_velocity(lua_State *L)
{
    foliot_body_id body;
    if (!find_body(L, world_of(L), 1, &body))
        return 0;
    return push_vector(L, foliot_world_get_body_state(world_of(L), body).angular_velocity, 3);
}

static int world_mass(lua_State *L)
{
    foliot_body body;
    if (!get_body(L, &body))
        return 0;
    lua_pushnumber(L, body.mass);
    return 1;
}

static int world_motion(lua_State *L)
{
    foliot_body_id body;
    if (!find_body(L, world_of(L), 1, &body))
        return 0;
    uint32_t flags = foliot_world_get_body_state(world_of(L), body).flags;
    lua_pushstring(L, flags & FOLIOT_BODY_STATIC      ? "static"
                      : flags & FOLIOT_BODY_KINEMATIC ? "kinematic"
                                                      : "dynamic");
    return 1;
}

static int world_asleep(lua_State *L)
{
    foliot_body_id body;
    if (!find_body(L, world_of(L), 1, &body))
        return 0;
    lua_pushboolean(
        L, (foliot_world_get_body_state(world_of(L), body).flags & FOLIOT_BODY_ASLEEP) != 0);
    return 1;
}

// The kind, and its measures.
static int world_shape(lua_State *L)
{
    foliot_body body;
    if (!get_body(L, &body))
        return 0;
    const foliot_shape shape = body.shape;
    switch (shape.kind) {
    case FOLIOT_SHAPE_SPHERE:
        lua_pushliteral(L, "sphere");
        return 1 + push_vector(L, &shape.radius, 1);
    case FOLIOT_SHAPE_BOX:
        lua_pushliteral(L, "box");
        return 1 + push_vector(L, shape.half, 3);
    case FOLIOT_SHAPE_CAPSULE:
        lua_pushliteral(L, "capsule");
        push_vector(L, &shape.radius, 1);
        return 2 + push_vector(L, &shape.half[2], 1);
    case FOLIOT_SHAPE_PLANE:
        lua_pushliteral(L, "plane");
        push_vector(L, shape.normal, 3);
        return 4 + push_vector(L, &shape.offset, 1);
    default:
        lua_pushliteral(L, "point");
        return 1;
    }
}

static int world_tag(lua_State *L)
{
    foliot_body body;
    if (!get_body(L, &body))
        return 0;
    lua_pushinteger(L, body.tag);
    return 1;
}

static int push_name(lua_State *L, const char *name)
{
    if (!name || !name[0])
        return 0;
    lua_pushstring(L, name);
    return 1;
}

// The id that the scene's own body in that slot has, while it is there.
static foliot_body_id scene_body(uint32_t slot)
{
    return (foliot_body_id){(uint64_t)1 << 32 | slot};
}

// The name of a body that the scene defines.
static int world_name(lua_State *L)
{
    const foliot_rules_view *view = view_of(L);
    foliot_body_id body;
    if (!find_body(L, world_of(L), 1, &body))
        return 0;
    uint32_t slot = foliot_body_id_get_slot(body);
    if (slot >= view->scene->body_count || body.value != scene_body(slot).value)
        return 0;
    return push_name(L, view->scene->bodies[slot].name);
}

static int world_find(lua_State *L)
{
    const foliot_rules_view *view = view_of(L);
    const char *name = foliot__lua_check_text(L, 1, NULL);
    foliot__lua_charge(foliot__lua_of(L), 4 + view->scene->body_count / 4);
    uint32_t slot = foliot_scene_find_body(view->scene, name);
    if (slot == FOLIOT_NO_BODY ||
        foliot_world_get_body_id(world_of(L), slot).value != scene_body(slot).value)
        return 0;
    foliot__lua_push_body(L, scene_body(slot));
    return 1;
}

// The name of the prototype that a command spawned the body from.
static int world_prototype(lua_State *L)
{
    const foliot_rules_view *view = view_of(L);
    foliot_body body;
    if (!get_body(L, &body) || body.prototype >= view->scene->prototype_count)
        return 0;
    return push_name(L, view->scene->prototypes[body.prototype].name);
}

// -- joints

static bool find_joint(lua_State *L, foliot_joint *joint)
{
    foliot_joint_id id = {(uint64_t)luaL_checkinteger(L, 1)};
    return foliot_world_get_joint(world_of(L), id, joint) == FOLIOT_STATUS_OK;
}

static int world_joint_broken(lua_State *L)
{
    foliot_joint joint;
    lua_pushboolean(L, !find_joint(L, &joint) || joint.broken);
    return 1;
}

static int world_joint_force(lua_State *L)
{
    foliot_joint joint;
    if (!find_joint(L, &joint))
        return 0;
    lua_pushnumber(L, joint.force);
    return 1;
}

// The id of a constraint of the scene, counted from 1.
static int world_joint(lua_State *L)
{
    const foliot_world *world = world_of(L);
    lua_Integer index = luaL_checkinteger(L, 1);
    if (index < 1 || index > (lua_Integer)foliot_world_get_joint_count(world))
        return 0;
    lua_pushinteger(L, (lua_Integer)foliot_world_get_joint_id(world, (uint32_t)index - 1).value);
    return 1;
}

// -- players

static int world_players(lua_State *L)
{
    const foliot__lua *lua = foliot__lua_of(L);
    lua_Integer n = 0;
    foliot__lua_charge(foliot__lua_of(L), 4 + lua->players.max);
    lua_newtable(L);
    for (uint32_t p = 0; p < lua->players.max; p++)
        if (lua->players.joined[p]) {
            lua_pushinteger(L, p);
            lua_rawseti(L, -2, ++n);
        }
    return 1;
}

static int world_player_name(lua_State *L)
{
    uint32_t player = foliot__lua_check_player(L, 1);
    const foliot__lua *lua = foliot__lua_of(L);
    if (!lua->players.joined[player])
        return 0;
    lua_pushstring(L, lua->players.names[player]);
    return 1;
}

static int world_player_body(lua_State *L)
{
    const foliot_world *world = world_of(L);
    foliot_body_id body = foliot_world_get_player_body(world, foliot__lua_check_player(L, 1));
    if (body.value == 0)
        return 0;
    foliot__lua_push_body(L, body);
    return 1;
}

// Four axes and the buttons.
static int world_controls(lua_State *L)
{
    foliot_input input =
        foliot_world_get_player_controls(world_of(L), foliot__lua_check_player(L, 1));
    for (int i = 0; i < FOLIOT_AXIS_COUNT; i++)
        lua_pushinteger(L, input.axes[i]);
    lua_pushinteger(L, input.buttons);
    return FOLIOT_AXIS_COUNT + 1;
}

// -- queries

static bool is_other(void *user, foliot_body_id body)
{
    return body.value != ((const foliot_body_id *)user)->value;
}

static double check_real(lua_State *L, int index)
{
    double x = luaL_checknumber(L, index);
    luaL_argcheck(L, fabs(x) <= FOLIOT_POSITION_MAX, index, "out of range");
    return x;
}

static void check_vector(lua_State *L, int index, double v[3])
{
    for (int i = 0; i < 3; i++)
        v[i] = check_real(L, index + i);
}

// The body to leave out; zero if none is named.
static foliot_body_id opt_body(lua_State *L, int index)
{
    return lua_isnoneornil(L, index) ? (foliot_body_id){0} : foliot__lua_check_body(L, index);
}

static void charge_query(lua_State *L, const foliot_world *world)
{
    foliot__lua_charge(foliot__lua_of(L), 50 + foliot_world_get_body_count(world));
}

// Body, distance, point and normal.
static int push_hit(lua_State *L, const foliot_query_hit *hit)
{
    foliot__lua_push_body(L, hit->body);
    lua_pushnumber(L, hit->distance);
    push_vector(L, hit->point, 3);
    push_vector(L, hit->normal, 3);
    return 8;
}

static int query_raycast(lua_State *L, const foliot_world *world, int at)
{
    double from[3], direction[3];
    foliot_query_hit hit;
    check_vector(L, at, from);
    check_vector(L, at + 3, direction);
    double distance = check_real(L, at + 6);
    foliot_body_id ignored = opt_body(L, at + 7);
    double length =
        direction[0] * direction[0] + direction[1] * direction[1] + direction[2] * direction[2];
    luaL_argcheck(L, length > 1e-30, at + 3, "the direction has no length");
    luaL_argcheck(L, distance >= 0, at + 6, "the distance is negative");
    charge_query(L, world);
    foliot_query_filter filter = {.accepts = is_other, .user = &ignored};
    if (!foliot_world_cast_ray(world, from, direction, distance, &filter, &hit))
        return 0;
    return push_hit(L, &hit);
}

static int query_nearest(lua_State *L, const foliot_world *world, int at)
{
    double from[3];
    foliot_query_hit hit;
    check_vector(L, at, from);
    double distance = check_real(L, at + 3);
    foliot_body_id ignored = opt_body(L, at + 4);
    luaL_argcheck(L, distance >= 0, at + 3, "the distance is negative");
    charge_query(L, world);
    foliot_query_filter filter = {.accepts = is_other, .user = &ignored};
    if (!foliot_world_find_nearest(world, from, distance, &filter, &hit))
        return 0;
    return push_hit(L, &hit);
}

static int query_overlap_sphere(lua_State *L, const foliot_world *world, int at)
{
    static const double upright[4] = {1, 0, 0, 0};
    double centre[3];
    check_vector(L, at, centre);
    foliot_shape sphere = {.kind = FOLIOT_SHAPE_SPHERE, .radius = check_real(L, at + 3)};
    luaL_argcheck(L, sphere.radius > 0, at + 3, "the radius is not greater than 0");
    charge_query(L, world);
    foliot_body_id *bodies = foliot__lua_of(L)->found;
    uint32_t count = foliot_world_overlap_shape(world, &sphere, centre, upright, NULL, bodies,
                                                FOLIOT__LUA_FOUND_MAX);
    count = count < FOLIOT__LUA_FOUND_MAX ? count : FOLIOT__LUA_FOUND_MAX;
    lua_createtable(L, (int)count, 0);
    for (uint32_t i = 0; i < count; i++) {
        foliot__lua_push_body(L, bodies[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static int world_raycast(lua_State *L)
{
    return query_raycast(L, world_of(L), 1);
}

static int world_nearest(lua_State *L)
{
    return query_nearest(L, world_of(L), 1);
}

static int world_overlap_sphere(lua_State *L)
{
    return query_overlap_sphere(L, world_of(L), 1);
}

// -- session variables

static int world_var(lua_State *L)
{
    foliot_var var;
    if (!foliot_world_get_var(world_of(L), foliot__lua_check_text(L, 1, NULL), &var))
        return 0;
    if (var.type == FOLIOT_VAR_INTEGER)
        lua_pushinteger(L, var.integer);
    else if (var.type == FOLIOT_VAR_NUMBER)
        lua_pushnumber(L, var.number);
    else
        lua_pushstring(L, var.text);
    return 1;
}

void foliot__lua_push_world_library(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"alive", world_alive},
        {"angular_velocity", world_angular_velocity},
        {"asleep", world_asleep},
        {"bodies", world_bodies},
        {"body_count", world_body_count},
        {"controls", world_controls},
        {"dt", world_dt},
        {"find", world_find},
        {"gravity", world_gravity},
        {"joint", world_joint},
        {"joint_broken", world_joint_broken},
        {"joint_force", world_joint_force},
        {"mass", world_mass},
        {"motion", world_motion},
        {"name", world_name},
        {"nearest", world_nearest},
        {"orientation", world_orientation},
        {"overlap_sphere", world_overlap_sphere},
        {"player_body", world_player_body},
        {"player_name", world_player_name},
        {"players", world_players},
        {"position", world_position},
        {"prototype", world_prototype},
        {"raycast", world_raycast},
        {"shape", world_shape},
        {"tag", world_tag},
        {"tick", world_tick},
        {"time", world_time},
        {"var", world_var},
        {"velocity", world_velocity},
        {NULL, NULL},
    };
    luaL_newlib(L, functions);
}

// -- history: each function has the player first, then the parameters of its namesake in `world`

// The player at 1; raises an error if the scene has no history.
static double aimed_tick(lua_State *L)
{
    const foliot__lua *lua = foliot__lua_of(L);
    uint32_t player = foliot__lua_check_player(L, 1);
    if (!lua->view)
        luaL_error(L, "there is no world before the first tick");
    if (!lua->view->history)
        luaL_error(L, "the scene keeps no history: `script: {lua: ..., history: 60}`");
    return foliot_rules_get_aimed_tick(lua->rules, player);
}

// A view of a past tick costs as much as a query.
static const foliot_world *past_of(lua_State *L)
{
    double tick = aimed_tick(L);
    const foliot__lua *lua = foliot__lua_of(L);
    foliot__lua_charge(foliot__lua_of(L), foliot_world_get_body_count(lua->view->world));
    return foliot_history_view(lua->view->history, tick); // this tick is in it
}

static bool find_past_body(lua_State *L, const foliot_world **past, foliot_body_id *body)
{
    *past = past_of(L);
    return find_body(L, *past, 2, body);
}

static int history_tick(lua_State *L)
{
    lua_pushnumber(L, aimed_tick(L));
    return 1;
}

static int history_alive(lua_State *L)
{
    const foliot_world *past;
    foliot_body_id body;
    lua_pushboolean(L, find_past_body(L, &past, &body));
    return 1;
}

static int history_position(lua_State *L)
{
    const foliot_world *past;
    foliot_body_id body;
    if (!find_past_body(L, &past, &body))
        return 0;
    foliot_body_state state = foliot_world_get_body_state(past, body);
    for (int k = 0; k < 3; k++)
        lua_pushnumber(L, state.position[k]);
    return 3;
}

static int history_orientation(lua_State *L)
{
    const foliot_world *past;
    foliot_body_id body;
    if (!find_past_body(L, &past, &body))
        return 0;
    foliot_body_state state = foliot_world_get_body_state(past, body);
    for (int k = 0; k < 4; k++)
        lua_pushnumber(L, state.orientation[k]);
    return 4;
}

static int history_raycast(lua_State *L)
{
    return query_raycast(L, past_of(L), 2);
}

static int history_nearest(lua_State *L)
{
    return query_nearest(L, past_of(L), 2);
}

static int history_overlap_sphere(lua_State *L)
{
    return query_overlap_sphere(L, past_of(L), 2);
}

void foliot__lua_push_history_library(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"alive", history_alive},
        {"nearest", history_nearest},
        {"orientation", history_orientation},
        {"overlap_sphere", history_overlap_sphere},
        {"position", history_position},
        {"raycast", history_raycast},
        {"tick", history_tick},
        {NULL, NULL},
    };
    luaL_newlib(L, functions);
}
#endif
