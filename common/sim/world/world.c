// SPDX-License-Identifier: MIT
// world.c: makes a world from a scene, and reads it. Time advances in step.c; bytes are
// state_io.c's.
#include "sim/state/body.h"
#include "sim/constraint/constraint.h"
#include "sim/solver/solver.h"
#include "sim/state/workspace.h"
#include "sim/force/force.h"
#include "sim/joint/joint.h"
#include "sim/world/layout.h"
#include "sim/world/stage.h"
#include "sim/scene/scene.h"
#include "sim/state/contact_cache.h"
#include "sim/state/past.h"
#include "sim/state/state.h"
#include "sim/world/state_io.h"

#include <string.h>

static void copy_settings(foliot_world *world, const foliot_scene *scene)
{
    world->scene.dt = scene->dt;
    memcpy(world->gravity, scene->gravity, sizeof world->gravity);
    world->scene.speed_max = scene->speed_max;
    world->scheme.tolerance = scene->tolerance;
    world->scene.substeps = foliot__scene_substeps(scene);
    world->scheme.start = scene->start;
    world->scheme.form = scene->form;
    world->scheme.iterations_max = scene->iterations_max;
    world->scheme.constraint_iterations = scene->constraint_iterations;
    world->rng = foliot__rng_seeded(scene->seed);
    world->player.limit = scene->players.limit;
    world->player.control = scene->players.control;
    world->player.force = scene->players.force;
    world->player.torque = scene->players.torque;
    world->player.reach = scene->players.reach;
    world->player.pull = scene->players.pull;
    world->player.push = scene->players.push;
    world->player.jump = scene->players.jump;
    world->player.spawn = scene->players.body;
    world->player.spawn.name = NULL;
    world->scene.sleeps = scene->sleep;
    world->scene.collides = foliot__scene_collides(scene);
    world->scene.commands_max = scene->commands_max;
    world->scene.prototype_count = scene->prototype_count;
    world->player.bodiless = scene->players.bodiless;
    memcpy(world->session.gravity, scene->gravity, sizeof scene->gravity);
    for (uint32_t i = 0; i < scene->constraint_count; i++)
        world->scene.joints += foliot__constraint_is_joint(&scene->constraints[i]);
    world->scene.joints += scene->joints_max;
    world->scene.fast_joints = foliot__scene_fast_joints(scene);
    world->scene.rotates = foliot__scene_rotates(scene);
    // Its steps back return to the same bits; rotation has no such scheme, so nothing rotates
    // there.
    if (scene->integrator == FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG)
        world->scene.rotates = 0;
    world->scene.state_fields = foliot__state_fields(world);
}

// Whether a world of these capacities has room for the scene.
static foliot_status check_config(const foliot_world_config *config, const foliot_scene *scene)
{
    foliot_status status = foliot_scene_check(scene, NULL);
    if (status != FOLIOT_STATUS_OK)
        return status;
    foliot_world_config needed = foliot_world_config_default(scene);
    if (config->integrator != scene->integrator || config->bodies_max < needed.bodies_max ||
        config->forces_max < needed.forces_max ||
        config->constraints_max < needed.constraints_max ||
        config->players_max < needed.players_max || config->spawns_max < needed.spawns_max ||
        config->springs_max < needed.springs_max || config->joints_max < needed.joints_max ||
        config->gravitates < needed.gravitates || config->calls_back < needed.calls_back ||
        config->sleeps < needed.sleeps || config->commands_max < needed.commands_max ||
        config->joints_added_max < needed.joints_added_max ||
        config->prototypes_max < needed.prototypes_max || config->senses < needed.senses ||
        config->fast_joints < needed.fast_joints)
        return FOLIOT_STATUS_INVALID;
    return FOLIOT_STATUS_OK;
}

foliot_status foliot__world_outline(foliot_world *outline, const foliot_world_config *config,
                                    const foliot_scene *scene)
{
    foliot_status status = check_config(config, scene);
    if (status == FOLIOT_STATUS_OK)
        status = foliot__head_init(outline, config);
    if (status != FOLIOT_STATUS_OK)
        return status;
    copy_settings(outline, scene);
    outline->scene.body_count = outline->body_count = scene->body_count;
    outline->scene.constraint_count = outline->constraint_count = scene->constraint_count;
    return FOLIOT_STATUS_OK;
}

static foliot_status init_world(void *block, size_t bytes, const foliot_world_config *config,
                                const foliot_scene *scene, bool zeroed, foliot_world **out)
{
    foliot_status status = check_config(config, scene);
    if (status == FOLIOT_STATUS_OK)
        status = foliot__block_init(block, bytes, config, zeroed);
    if (status != FOLIOT_STATUS_OK)
        return status;
    foliot_world *world = block;
    copy_settings(world, scene);
    foliot_force_definition gravity = foliot_force_definition_default(FOLIOT_FORCE_UNIFORM);
    memcpy(gravity.as.uniform.acceleration, scene->gravity, sizeof scene->gravity);
    foliot__force(world)[0] = gravity;
    world->force_count = 1 + scene->force_count;
    if (scene->force_count)
        memcpy(foliot__force(world) + 1, scene->forces, sizeof *scene->forces * scene->force_count);
    world->scene.constraint_count = world->constraint_count = scene->constraint_count;
    if (scene->constraint_count)
        memcpy(foliot__constraint(world), scene->constraints,
               sizeof *scene->constraints * scene->constraint_count);
    world->player.spawn_count = scene->players.limit ? scene->players.position_count : 0;
    if (world->player.spawn_count)
        memcpy(foliot__spawn_position(world), scene->players.positions,
               sizeof *scene->players.positions * world->player.spawn_count);
    for (uint32_t p = 0; p < world->player.limit; p++)
        foliot__players(world)[p].body = foliot__driven(world)[p] = FOLIOT_NO_BODY;
    for (uint32_t i = 0; i < scene->prototype_count; i++) {
        foliot__prototypes(world)[i] = scene->prototypes[i];
        foliot__prototypes(world)[i].name = NULL; // a block holds no pointers
    }
    world->scene.body_count = world->body_count = scene->body_count;
    for (uint32_t i = 0; i < scene->body_count; i++)
        foliot__body_write(world, i, &scene->bodies[i], scene->bodies[i].position, 0);
    foliot__joint_starts(world);
    foliot__world_prepare(world);
    world->digests.definition_dirty = world->digests.session_dirty = 1;
    foliot__definition_refresh(world);
    *out = world;
    return FOLIOT_STATUS_OK;
}

foliot_status foliot_world_init(void *block, size_t bytes, const foliot_world_config *config,
                                const foliot_scene *scene, foliot_world **out)
{
    return init_world(block, bytes, config, scene, false, out);
}

foliot_status foliot__world_init_zeroed(void *block, size_t bytes,
                                        const foliot_world_config *config,
                                        const foliot_scene *scene, foliot_world **out)
{
    return init_world(block, bytes, config, scene, true, out);
}

// -- the cache: data of a world besides its state. Results do not depend on it.

void foliot__world_prepare(foliot_world *world)
{
    for (uint32_t i = 0; i < world->body_count; i++)
        foliot__body_refresh(world, i);
    foliot__bodies_count(world);
    foliot__force_prepare(world);
    foliot__contact_prepare(world);
    foliot__constraint_prepare(world);
    foliot__joints_changed(world);
    world->acceleration_valid = world->sensors.valid = 0;
    world->reported.event_count = 0;
    world->input.links_changed = world->input.forces_changed = 0;
}

void foliot__world_prepare_changed(foliot_world *world)
{
    foliot__contact_end_changes(world);
    if (world->digests.definition_dirty)
        foliot__bodies_count(world);
    if (world->input.links_changed)
        foliot__constraint_prepare(world);
    if (world->input.forces_changed)
        foliot__force_prepare(world);
    world->input.links_changed = world->input.forces_changed = 0;
}

// -- reading

uint64_t foliot_world_get_tick(const foliot_world *world)
{
    return world->tick;
}

double foliot_world_get_dt(const foliot_world *world)
{
    return world->scene.dt;
}

uint32_t foliot_world_get_body_count(const foliot_world *world)
{
    return world->body_count;
}

foliot_body_id foliot_world_get_body_id(const foliot_world *world, uint32_t slot)
{
    bool here = slot < world->body_count && (foliot__flags(world)[slot] & FOLIOT_BODY_ALIVE);
    return here ? foliot__body_id(world, slot) : (foliot_body_id){0};
}

foliot_body_state foliot_world_get_body_state(const foliot_world *world, foliot_body_id body)
{
    uint32_t slot = foliot__body_slot(world, body);
    if (slot == FOLIOT_NO_BODY)
        return (foliot_body_state){.flags = 0};
    foliot__v3 x = foliot__position(world), v = foliot__velocity(world);
    foliot__v3 w = foliot__angular_velocity(world);
    foliot_body_state state = {
        .position = {x.x[slot], x.y[slot], x.z[slot]},
        .velocity = {v.x[slot], v.y[slot], v.z[slot]},
        .angular_velocity = {w.x[slot], w.y[slot], w.z[slot]},
        .flags = foliot__flags(world)[slot],
    };
    foliot__orientation_in(world, slot, state.orientation);
    if (world->past) // there the table has another content
        memset(state.velocity, 0, sizeof state.velocity);
    return state;
}

foliot_status foliot_world_get_body(const foliot_world *world, foliot_body_id id, foliot_body *body)
{
    uint32_t slot = foliot__body_slot(world, id);
    if (slot == FOLIOT_NO_BODY)
        return FOLIOT_STATUS_NOT_FOUND;
    bool still = foliot__flags(world)[slot] & FOLIOT_BODY_STATIC;
    uint32_t prototype = foliot__prototype(world)[slot];
    *body = (foliot_body){
        .shape = {.kind = foliot__shape_kind(world)[slot],
                  .radius = foliot__radius(world)[slot],
                  .offset = foliot__plane_offset(world)[slot]},
        .mass = still ? 0 : foliot__mass(world)[slot], // one that became static keeps its own
        .category = foliot__category(world)[slot],
        .mask = foliot__mask(world)[slot],
        .group = (int32_t)foliot__group(world)[slot],
        .prototype = prototype ? prototype - 1 : FOLIOT_NO_BODY,
        .tag = foliot__tag(world)[slot],
    };
    const double extent[3] = {foliot__half_x(world)[slot], foliot__half_y(world)[slot],
                              foliot__half_z(world)[slot]};
    foliot_shape *shape = &body->shape;
    memcpy(shape->kind == FOLIOT_SHAPE_PLANE ? shape->normal : shape->half, extent, sizeof extent);
    return FOLIOT_STATUS_OK;
}

foliot_body_id foliot_world_get_player_body(const foliot_world *world, uint32_t player)
{
    uint32_t slot =
        player < world->player.limit ? foliot__player_body(world, player) : FOLIOT_NO_BODY;
    return foliot_world_get_body_id(world, slot);
}

uint32_t foliot_world_get_players_max(const foliot_world *world)
{
    return world->player.limit;
}

foliot_input foliot_world_get_player_controls(const foliot_world *world, uint32_t player)
{
    foliot_input input = {.player = player, .kind = FOLIOT_INPUT_CONTROL};
    if (player < world->player.limit) {
        memcpy(input.axes, foliot__players(world)[player].axes, sizeof input.axes);
        input.buttons = foliot__players(world)[player].buttons;
    }
    return input;
}

foliot_integrator foliot_world_get_integrator(const foliot_world *world)
{
    return (foliot_integrator)world->scheme.integrator;
}

const foliot_world_counters *foliot_world_get_counters(const foliot_world *world)
{
    return &world->counters;
}
