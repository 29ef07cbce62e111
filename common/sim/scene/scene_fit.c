// SPDX-License-Identifier: MIT
// scene_fit.c: which integrators support which scenes. The capabilities of a scheme are in its row
// of the registry; the needs of a scene are collected here, the only place that compares the two.
#include "sim/math/floating_point.h"

#include "sim/state/state.h"
#include "sim/scene/scene.h"

#include <string.h>

#define INFINITE ((double)__builtin_inf())

typedef struct needs {
    bool contacts, distances, joints, rods;
    bool velocity; // drag or a damper
    bool clamp;    // speed_max
    bool turns;    // a body that turns from the start, or a player who can turn
    bool grips;    // players who pull and push bodies, or jump
    bool sleep;
    bool far;        // a place or a speed beyond reversible-leapfrog's lattice
    bool long_steps; // whose sum time-corrected-verlet could not keep
    bool commands, kinematic, sensors, scales; // scales: a gravity scale
    bool damps;                                // a body's own damping
} needs;

static bool force_damps(const foliot_force_definition *force)
{
    if (force->kind == FOLIOT_FORCE_DRAG)
        return force->as.drag.linear > 0 || force->as.drag.quadratic > 0;
    return force->kind == FOLIOT_FORCE_SPRING && force->as.spring.damping > 0;
}

static bool beyond_lattice(const double v[3])
{
    for (unsigned k = 0; k < 3; k++)
        if (!(v[k] > -FOLIOT__LATTICE_MAX && v[k] < FOLIOT__LATTICE_MAX))
            return true;
    return false;
}

static void add_body(needs *n, const foliot_body_definition *body)
{
    n->turns |= foliot__norm2(body->angular_velocity, 3) > 0;
    n->far |= beyond_lattice(body->velocity);
    n->kinematic |= body->is_kinematic;
    n->sensors |= body->is_sensor;
    n->scales |= body->gravity_scale != 1;
    n->damps |= body->linear_damping > 0 || body->angular_damping > 0;
}

static needs needs_of(const foliot_scene *scene)
{
    needs n = {.contacts = foliot__scene_collides(scene), .clamp = scene->speed_max < INFINITE};
    const foliot_players_definition *players = &scene->players;
    n.turns = players->limit && players->torque > 0;
    n.grips = players->limit && (players->reach > 0 || players->jump > 0);
    n.sleep = scene->sleep;
    n.commands = scene->commands_max > 0;
    n.joints = scene->joints_max > 0;
    for (uint32_t i = 0; i < scene->body_count; i++) {
        add_body(&n, &scene->bodies[i]);
        n.far |= beyond_lattice(scene->bodies[i].position);
    }
    for (uint32_t i = 0; i < scene->prototype_count; i++)
        add_body(&n, &scene->prototypes[i]);
    for (uint32_t i = 0; players->limit && i < players->position_count; i++)
        n.far |= beyond_lattice(players->positions[i]);
    if (foliot__scene_spawns(scene))
        add_body(&n, &players->body);
    for (uint32_t i = 0; i < scene->constraint_count; i++) {
        const foliot_constraint_definition *c = &scene->constraints[i];
        bool joint = foliot__constraint_is_joint(c);
        n.joints |= joint;
        n.rods |= c->kind == FOLIOT_CONSTRAINT_ROD;
        n.distances |= c->kind == FOLIOT_CONSTRAINT_DISTANCE && !joint;
    }
    for (uint32_t i = 0; i < scene->force_count; i++)
        n.velocity |= force_damps(&scene->forces[i]);
    n.long_steps = scene->dt >= FOLIOT_POSITION_MAX;
    return n;
}

// NULL where the integrator admits the scene, else what it does not admit.
static const char *objection(const foliot_integrator_info *info, const needs *n, bool players)
{
    bool to_bits = info->reversible == FOLIOT_REVERSIBILITY_EXACT;
    if (n->commands && (to_bits || info->lab_only))
        return "commands";
    if (n->kinematic && to_bits)
        return "kinematic bodies";
    if (n->sensors && to_bits)
        return "sensors";
    if (n->scales && to_bits)
        return "a gravity scale";
    if (n->damps && to_bits)
        return "damping of bodies";
    if (n->contacts && (!info->contacts || to_bits))
        return "contacts";
    if (n->distances && (!info->contacts || to_bits))
        return "distance constraints";
    if (n->joints && (!info->contacts || to_bits))
        return "joints";
    if (n->rods && (!info->rods || to_bits))
        return "rods";
    if (n->velocity && to_bits)
        return "drag and dampers";
    if (n->clamp && to_bits)
        return "limits.speed_max";
    if (n->grips && to_bits)
        return "players who pull, push or jump";
    if (n->sleep && to_bits)
        return "sleep";
    if (n->turns && to_bits)
        return "bodies that turn";
    if (n->far && to_bits)
        return "positions and speeds of 2^22 and beyond";
    if (players && info->lab_only)
        return "players";
    if (n->long_steps && info->lab_only)
        return "steps of 2^40 and longer";
    return NULL;
}

const char *foliot__scene_objection(const foliot_scene *scene, foliot_integrator integrator)
{
    needs n = needs_of(scene);
    return objection(foliot_integrator_get_info(integrator), &n, scene->players.limit > 0);
}

// As much of `more` as fits.
static void append_text(char *text, size_t bytes, const char *more)
{
    size_t used = strlen(text), length = strlen(more), room = bytes - used - 1;
    length = length < room ? length : room;
    memcpy(text + used, more, length);
    text[used + length] = 0;
}

void foliot__scene_fitting(const foliot_scene *scene, char *text, size_t bytes)
{
    needs n = needs_of(scene);
    bool players = scene->players.limit > 0;
    text[0] = 0;
    for (int id = 1; id < FOLIOT_INTEGRATOR_COUNT; id++) {
        const foliot_integrator_info *info = foliot_integrator_get_info((foliot_integrator)id);
        if (!info || info->lab_only || objection(info, &n, players))
            continue;
        append_text(text, bytes, text[0] ? ", " : "");
        append_text(text, bytes, info->name);
    }
    if (!text[0])
        append_text(text, bytes, "none");
}
