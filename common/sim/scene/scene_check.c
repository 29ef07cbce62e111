// SPDX-License-Identifier: MIT
// scene_check.c: the one check of a scene's ranges and combinations. Knows nothing of text; the
// paths of problems are written as the keys of docs/reference/scenes.md, so that a reader of text
// can say where. A scene that passes holds no NaN, no index out of range and nothing that a world
// would silently ignore. Bodies, and what links them, are in scene_check_bodies.c and
// scene_check_links.c.
#include "sim/math/floating_point.h"

#include "sim/scene/scene_rules.h"

#include "foliot/command.h"

#define ITERATIONS_MAX 1000

// -- players

#define CONTROLS(member, key) FOLIOT__RULE(foliot_players_definition, member, key, 1, NOT_NEGATIVE)
static const foliot__rule controls_rules[] = {
    CONTROLS(force, "controls.force"),
    CONTROLS(torque, "controls.torque"),
    CONTROLS(reach, "controls.reach"),
    CONTROLS(pull, "controls.pull"),
    CONTROLS(push, "controls.push"),
    CONTROLS(jump, "controls.jump"),
    FOLIOT__RULE_END,
};

static void check_players(foliot__checker *c)
{
    const foliot_players_definition *players = &c->scene->players;
    const foliot__scene_place at = {"players", FOLIOT__NOWHERE};
    if (players->limit == 0)
        return;
    if (players->limit > FOLIOT_PLAYERS_MAX)
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "limit", "must lie between 1 and %d",
                         FOLIOT_PLAYERS_MAX);
    foliot__check_body(c, (foliot__scene_place){"players.spawn", FOLIOT__NOWHERE}, &players->body);
    if (players->body.is_static || players->body.is_kinematic)
        foliot__complain(c, FOLIOT_STATUS_INVALID, at,
                         players->body.is_static ? "spawn.static" : "spawn.kinematic",
                         "a player's body must be able to move");
    if (!players->bodiless && (players->position_count == 0 || !players->positions))
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "spawn.positions",
                         "needs one position at least");
    if (players->position_count && !players->positions)
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "spawn.positions", "is NULL");
    if (players->position_count > FOLIOT_BODIES_MAX)
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "spawn.positions",
                         "has more than %u positions", FOLIOT_BODIES_MAX);
    for (uint32_t i = 0; c->status == FOLIOT_STATUS_OK && i < players->position_count; i++)
        for (unsigned k = 0; k < 3; k++)
            if (!foliot__in_range(FOLIOT__COORDINATE, players->positions[i][k]))
                foliot__complain(c, FOLIOT_STATUS_INVALID,
                                 (foliot__scene_place){"players.spawn.positions", i}, "", "%s",
                                 foliot__range_text(FOLIOT__COORDINATE));
    if (players->bodiless && c->scene->commands_max == 0)
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "bodiless",
                         "nothing gives players their bodies: the scene has no "
                         "`limits.commands_max`");
    if (players->control > FOLIOT_CONTROL_VESSEL)
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "controls.kind", "names no controls");
    foliot__check_rules(c, at, controls_rules, players);
    bool reaches = players->pull > 0 || players->push > 0;
    if (reaches && !(players->reach > 0))
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "controls.reach",
                         "must be greater than 0: `pull` and `push` act on bodies that are nearer");
    if (players->reach > 0 && !reaches)
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "controls.reach",
                         "is used by `pull` and `push` only");
    if (players->control == FOLIOT_CONTROL_NONE && (reaches || players->jump > 0))
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "controls.kind", "`none` has no buttons");
    if (players->jump > 0 && !foliot__scene_collides(c->scene))
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "controls.jump",
                         "no player can jump if no two shapes can touch");
    if (players->torque > 0 && !players->bodiless && !foliot__body_rotates(&players->body))
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "controls.torque",
                         "a point does not turn: give `spawn` a shape or an inertia");
}

// -- the whole

#define SCENE(member, key, count, kind) FOLIOT__RULE(foliot_scene, member, key, count, kind)
static const foliot__rule scene_rules[] = {
    SCENE(dt, "dt", 1, POSITIVE),
    SCENE(pace_hz, "pace_hz", 1, NOT_NEGATIVE),
    SCENE(tolerance, "integrator.tolerance", 1, FRACTION),
    SCENE(gravity, "gravity", 3, FINITE),
    FOLIOT__RULE_END,
};

static void check_count(foliot__checker *c, const char *key, uint32_t value, uint32_t low,
                        uint32_t high)
{
    if (value < low || value > high)
        foliot__complain(c, FOLIOT_STATUS_INVALID, FOLIOT__AT_TOP, key,
                         "must lie between %u and %u", (unsigned)low, (unsigned)high);
}

static void check_label(foliot__checker *c, const char *key, const char *text)
{
    const char *fault = text ? foliot__name_fault(text) : "must not be NULL";
    if (fault)
        foliot__complain(c, FOLIOT_STATUS_INVALID, FOLIOT__AT_TOP, key, "%s", fault);
}

static void check_top(foliot__checker *c)
{
    const foliot_scene *scene = c->scene;
    check_label(c, "name", scene->name);
    if (scene->name && !*scene->name)
        foliot__complain(c, FOLIOT_STATUS_INVALID, FOLIOT__AT_TOP, "name", "must not be empty");
    check_label(c, "units.length", scene->units.length);
    check_label(c, "units.time", scene->units.time);
    check_label(c, "units.mass", scene->units.mass);
    foliot__check_rules(c, FOLIOT__AT_TOP, scene_rules, scene);
    if (scene->substeps != FOLIOT_SUBSTEPS_AUTO)
        check_count(c, "substeps", scene->substeps, 1, FOLIOT_SUBSTEPS_MAX);
    check_count(c, "integrator.start", scene->start, 0, 1);
    check_count(c, "integrator.form", scene->form, 0, 1);
    check_count(c, "integrator.iterations", scene->iterations_max, 1, ITERATIONS_MAX);
    check_count(c, "constraint_iterations", scene->constraint_iterations, 1, ITERATIONS_MAX);
    check_count(c, "joints", scene->joint_solver, 0, FOLIOT_JOINT_SOLVER_FAST);
    if (!(scene->speed_max > 0)) // may be infinite
        foliot__complain(c, FOLIOT_STATUS_INVALID, FOLIOT__AT_TOP, "limits.speed_max",
                         "must be greater than 0");
    if (scene->body_count == 0 && scene->players.limit == 0)
        foliot__complain(c, FOLIOT_STATUS_INVALID, FOLIOT__AT_TOP, "bodies",
                         "a scene needs bodies or players");
}

static void check_capacity(foliot__checker *c)
{
    const foliot_scene *scene = c->scene;
    uint64_t least = (uint64_t)scene->body_count + scene->players.limit;
    if (least > FOLIOT_BODIES_MAX)
        foliot__complain(c, FOLIOT_STATUS_INVALID, FOLIOT__AT_TOP, "players.limit",
                         "bodies and players together are more than the %u that a world holds",
                         FOLIOT_BODIES_MAX);
    if (scene->bodies_max && (scene->bodies_max < least || scene->bodies_max > FOLIOT_BODIES_MAX))
        foliot__complain(c, FOLIOT_STATUS_INVALID, FOLIOT__AT_TOP, "limits.bodies_max",
                         "must lie between %u (bodies and players of this scene) and %u",
                         (unsigned)least, FOLIOT_BODIES_MAX);
}

static void check_commands(foliot__checker *c)
{
    const foliot_scene *scene = c->scene;
    check_count(c, "limits.commands_max", scene->commands_max, 0, FOLIOT_COMMANDS_MAX);
    check_count(c, "limits.joints_max", scene->joints_max, 0,
                FOLIOT_CONSTRAINTS_MAX - scene->constraint_count);
    if ((scene->script.digest.low || scene->script.digest.high) && scene->commands_max == 0)
        foliot__complain(c, FOLIOT_STATUS_INVALID, FOLIOT__AT_TOP, "script",
                         "its rules can change nothing: the scene has no `limits.commands_max`");
    if (scene->joints_max && scene->commands_max == 0)
        foliot__complain(c, FOLIOT_STATUS_INVALID, FOLIOT__AT_TOP, "limits.joints_max",
                         "nothing makes them: the scene has no `limits.commands_max`");
}

static void check_history(foliot__checker *c)
{
    const foliot_scene *scene = c->scene;
    uint32_t least = scene->body_count + scene->players.limit;
    uint32_t bodies = scene->bodies_max > least ? scene->bodies_max : least;
    if (scene->script.history_ticks == 0)
        return;
    check_count(c, "script.history", scene->script.history_ticks, FOLIOT_HISTORY_TICKS_MIN,
                FOLIOT_HISTORY_TICKS_MAX);
    if (c->status == FOLIOT_STATUS_OK &&
        bodies > FOLIOT_HISTORY_POSES_MAX / scene->script.history_ticks)
        foliot__complain(c, FOLIOT_STATUS_INVALID, FOLIOT__AT_TOP, "script.history",
                         "must be at most %u for %u bodies: a history holds %u poses",
                         (unsigned)(FOLIOT_HISTORY_POSES_MAX / bodies), (unsigned)bodies,
                         (unsigned)FOLIOT_HISTORY_POSES_MAX);
}

static void check_integrator(foliot__checker *c)
{
    const foliot_scene *scene = c->scene;
    const foliot_integrator_info *info = foliot_integrator_get_info(scene->integrator);
    if (!info) {
        foliot__complain(c, FOLIOT_STATUS_INVALID, FOLIOT__AT_TOP, "integrator",
                         "names no integrator");
        return;
    }
    const char *what = foliot__scene_objection(scene, scene->integrator);
    if (!what)
        return;
    char fitting[FOLIOT_INTEGRATOR_COUNT * 32];
    foliot__scene_fitting(scene, fitting, sizeof fitting);
    foliot__complain(c, FOLIOT_STATUS_REFUSED, FOLIOT__AT_TOP, "integrator",
                     "%s does not admit %s; these fit the scene: %s", info->name, what, fitting);
}

foliot_status foliot_scene_check(const foliot_scene *scene, foliot_error *error)
{
    foliot__checker c = {scene, error, FOLIOT_STATUS_OK};
    check_top(&c);
    foliot__check_bodies(&c);
    foliot__check_prototypes(&c);
    check_players(&c);
    if (c.status == FOLIOT_STATUS_OK) {
        foliot__check_forces(&c);
        foliot__check_constraints(&c);
        check_capacity(&c);
    }
    if (c.status == FOLIOT_STATUS_OK)
        check_commands(&c);
    if (c.status == FOLIOT_STATUS_OK)
        check_history(&c);
    if (c.status == FOLIOT_STATUS_OK) {
        // A sleeping body does not check whether forces from afar have changed.
        for (uint32_t i = 0; c.scene->sleep && i < c.scene->force_count; i++) {
            uint32_t kind = c.scene->forces[i].kind;
            if (kind == FOLIOT_FORCE_NEWTON || kind == FOLIOT_FORCE_CALLBACK)
                foliot__complain(&c, FOLIOT_STATUS_REFUSED, FOLIOT__AT_TOP, "sleep",
                                 "bodies cannot sleep under `%s`, which changes with every motion",
                                 kind == FOLIOT_FORCE_NEWTON ? "newton" : "callback");
        }
    }
    if (c.status == FOLIOT_STATUS_OK)
        check_integrator(&c);
    return c.status;
}
