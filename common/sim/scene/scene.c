// SPDX-License-Identifier: MIT
// scene.c: defaults of a scene, and the one check of all its ranges and combinations. Knows nothing
// of text; paths in problems are written as the keys of docs/reference/scenes.md, so that a reader
// of text can say where. A scene that passes holds no NaN, no index out of range and nothing that a
// world would ignore.
#include "sim/math/floating_point.h"

#include "sim/scene/scene.h"

#include <string.h>

#define INFINITE ((double)__builtin_inf())

// -- defaults

static const double origin[1][3] = {{0, 0, 0}};

foliot_scene foliot_scene_default(void)
{
    return (foliot_scene){
        .name = "",
        .units = {.length = "m", .time = "s", .mass = "kg"},
        .substeps = FOLIOT_SUBSTEPS_AUTO,
        .integrator = FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER,
        .tolerance = 1e-12,
        .iterations_max = 50,
        .constraint_iterations = 8,
        .seed = 1,
        .speed_max = INFINITE,
        .players = foliot_players_definition_default(),
    };
}

foliot_body_definition foliot_body_definition_default(void)
{
    return (foliot_body_definition){
        .mass = 1,
        .orientation = {1, 0, 0, 0},
        .friction = 0.5,
        .gravity_scale = 1,
        .category = 1,
        .mask = UINT32_MAX,
        .shape = {.kind = FOLIOT_SHAPE_POINT, .normal = {0, 0, 1}},
    };
}

foliot_players_definition foliot_players_definition_default(void)
{
    return (foliot_players_definition){
        .body = foliot_body_definition_default(),
        .positions = origin,
        .position_count = 1,
        .control = FOLIOT_CONTROL_THRUST,
        .force = 10,
    };
}

foliot_force_definition foliot_force_definition_default(foliot_force_kind kind)
{
    foliot_force_definition force;
    memset(&force, 0, sizeof force);
    force.kind = kind;
    force.a = force.b = FOLIOT_NO_BODY;
    if (kind == FOLIOT_FORCE_CONSTANT)
        force.as.constant.end = INFINITE;
    return force;
}

foliot_constraint_definition foliot_constraint_definition_default(foliot_constraint_kind kind)
{
    return (foliot_constraint_definition){
        .kind = kind,
        .a = FOLIOT_NO_BODY,
        .b = FOLIOT_NO_BODY,
        .stiffness = 1,
        .break_force = INFINITE,
        .axis = {0, 0, 1},
        .angle_min = 1,
        .angle_max = -1,
        .break_torque = INFINITE,
    };
}

// -- names

uint64_t foliot__name_hash(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (const unsigned char *at = (const unsigned char *)name; *at; at++)
        hash = (hash ^ *at) * 0x100000001b3u;
    return hash;
}

static bool entry_before(const foliot__name_entry *a, const foliot__name_entry *b)
{
    if (a->hash != b->hash)
        return a->hash < b->hash;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order < 0 : a->index < b->index;
}

static void merge_runs(const foliot__name_entry *from, uint32_t begin, uint32_t middle,
                       uint32_t end, foliot__name_entry *to)
{
    uint32_t left = begin, right = middle;
    for (uint32_t k = begin; k < end; k++) {
        bool take_right =
            right < end && (left >= middle || entry_before(&from[right], &from[left]));
        to[k] = take_right ? from[right++] : from[left++];
    }
}

void foliot__names_sort(foliot__name_entry *entries, foliot__name_entry *spare, uint32_t count)
{
    foliot__name_entry *from = entries, *to = spare;
    for (uint64_t width = 1; width < count; width *= 2) {
        for (uint64_t begin = 0; begin < count; begin += 2 * width) {
            uint64_t middle = begin + width < count ? begin + width : count;
            uint64_t end = begin + 2 * width < count ? begin + 2 * width : count;
            merge_runs(from, (uint32_t)begin, (uint32_t)middle, (uint32_t)end, to);
        }
        foliot__name_entry *swap = from;
        from = to;
        to = swap;
    }
    if (from != entries && count)
        memcpy(entries, from, count * sizeof *entries);
}

uint32_t foliot__names_find(const foliot__name_entry *entries, uint32_t count, const char *name)
{
    foliot__name_entry key = {foliot__name_hash(name), name, 0};
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (entry_before(&entries[middle], &key))
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < count && entries[low].hash == key.hash && !strcmp(entries[low].name, name);
    return found ? entries[low].index : FOLIOT_NO_BODY;
}

static uint32_t find_name(const foliot_body_definition *bodies, uint32_t count, const char *name)
{
    for (uint32_t i = 0; name && *name && i < count; i++)
        if (bodies[i].name && strcmp(bodies[i].name, name) == 0)
            return i;
    return FOLIOT_NO_BODY;
}

uint32_t foliot_scene_find_body(const foliot_scene *scene, const char *name)
{
    return find_name(scene->bodies, scene->body_count, name);
}

uint32_t foliot_scene_find_prototype(const foliot_scene *scene, const char *name)
{
    return find_name(scene->prototypes, scene->prototype_count, name);
}

// -- what bodies can do

static bool collidable(const foliot_body_definition *body)
{
    return body->shape.kind != FOLIOT_SHAPE_POINT && !body->is_sensor;
}

// Dynamic, or a command may make it so: a body that starts static has no mass.
static bool pushable(const foliot_scene *scene, const foliot_body_definition *body)
{
    bool lasting = body->is_static || (body->is_kinematic && scene->commands_max == 0);
    return !lasting && body->mass > 0;
}

bool foliot__body_rotates(const foliot_body_definition *body)
{
    bool given = body->inertia[0] > 0 && body->inertia[1] > 0 && body->inertia[2] > 0;
    return !body->is_static && (given || body->shape.kind != FOLIOT_SHAPE_POINT);
}

bool foliot__scene_rotates(const foliot_scene *scene)
{
    bool rotates = foliot__scene_spawns(scene) && foliot__body_rotates(&scene->players.body);
    for (uint32_t i = 0; i < scene->body_count && !rotates; i++) {
        foliot_body_definition body = scene->bodies[i];
        if (scene->commands_max > 0 && body.shape.kind != FOLIOT_SHAPE_PLANE)
            body.is_static = false; // a command may make it kinematic
        rotates = foliot__body_rotates(&body);
    }
    for (uint32_t i = 0; i < scene->prototype_count && !rotates; i++) {
        foliot_body_definition body = scene->prototypes[i];
        body.is_static = body.shape.kind == FOLIOT_SHAPE_PLANE;
        rotates = foliot__body_rotates(&body);
    }
    return rotates;
}

bool foliot__scene_spawns(const foliot_scene *scene)
{
    return scene->players.limit > 0 && !scene->players.bodiless;
}

bool foliot__constraint_is_joint(const foliot_constraint_definition *constraint)
{
    if (constraint->kind != FOLIOT_CONSTRAINT_DISTANCE)
        return constraint->kind > FOLIOT_CONSTRAINT_ROD;
    bool off_centre = false;
    for (unsigned k = 0; k < 3; k++)
        off_centre |= constraint->anchor_a[k] != 0 ||
                      (constraint->b != FOLIOT_NO_BODY && constraint->anchor_b[k] != 0);
    return off_centre;
}

bool foliot__scene_senses(const foliot_scene *scene)
{
    bool senses = foliot__scene_spawns(scene) && scene->players.body.is_sensor;
    for (uint32_t i = 0; i < scene->body_count && !senses; i++)
        senses = scene->bodies[i].is_sensor;
    for (uint32_t i = 0; i < scene->prototype_count && !senses; i++)
        senses = scene->prototypes[i].is_sensor;
    return senses;
}

bool foliot__scene_joins(const foliot_scene *scene)
{
    for (uint32_t i = 0; i < scene->constraint_count; i++)
        if (foliot__constraint_is_joint(&scene->constraints[i]))
            return true;
    return scene->joints_max > 0;
}

foliot__fast_joints foliot__scene_fast_joints(const foliot_scene *scene)
{
    uint64_t joints = scene->joints_max;
    for (uint32_t i = 0; i < scene->constraint_count; i++)
        joints += foliot__constraint_is_joint(&scene->constraints[i]);
    bool all = scene->joint_solver == FOLIOT_JOINT_SOLVER_FAST,
         some = scene->joint_solver == FOLIOT_JOINT_SOLVER_AUTO && joints > FOLIOT_EXACT_JOINTS_MAX;
    return joints == 0 ? FOLIOT__FAST_JOINTS_NONE
           : all       ? FOLIOT__FAST_JOINTS_ALL
           : some      ? FOLIOT__FAST_JOINTS_LARGE
                       : FOLIOT__FAST_JOINTS_NONE;
}

bool foliot__scene_collides(const foliot_scene *scene)
{
    uint64_t shapes = 0, moving = 0;
    for (uint32_t i = 0; i < scene->body_count; i++)
        if (collidable(&scene->bodies[i])) {
            shapes++;
            moving += pushable(scene, &scene->bodies[i]);
        }
    for (uint32_t i = 0; i < scene->prototype_count; i++)
        if (collidable(&scene->prototypes[i])) {
            shapes += 2; // of one prototype there may be several
            moving += pushable(scene, &scene->prototypes[i]);
        }
    if (foliot__scene_spawns(scene) && collidable(&scene->players.body)) {
        shapes += scene->players.limit;
        moving += scene->players.limit;
    }
    return moving >= 1 && shapes >= 2;
}

#define SUBSTEPS_OF_CONTACTS 4 // stacks of ten stand, and a contact costs two visits each

uint32_t foliot__scene_substeps(const foliot_scene *scene)
{
    if (scene->substeps != FOLIOT_SUBSTEPS_AUTO)
        return scene->substeps;
    bool needed = foliot__scene_joins(scene) || foliot__scene_collides(scene);
    return needed ? SUBSTEPS_OF_CONTACTS : 1;
}
