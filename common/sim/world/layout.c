// SPDX-License-Identifier: MIT
// layout.c: the layout of a world's block. Knows sizes and offsets, nothing of physics.
#include "sim/constraint/constraint.h"
#include "sim/solver/solver.h"
#include "sim/force/force.h"
#include "sim/joint/joint.h"
#include "sim/scene/scene.h"
#include "sim/integrator/scheme.h"
#include "sim/world/layout.h"
#include "sim/island/sleep.h"
#include "sim/state/workspace.h"
#include "sim/state/state.h"

#include <string.h>

static uint64_t align64(uint64_t bytes)
{
    return (bytes + 63) & ~(uint64_t)63;
}

foliot_world_config foliot_world_config_default(const foliot_scene *scene)
{
    uint32_t needed = scene->body_count + scene->players.limit;
    uint32_t bodies = scene->bodies_max > needed ? scene->bodies_max : needed;
    foliot_world_config config = {
        .bodies_max = bodies,
        .forces_max = scene->force_count + 1, // the scene's gravity is one
        .constraints_max = scene->constraint_count,
        .contacts_max = bodies * 8 + 64,
        .players_max = scene->players.limit,
        .spawns_max = scene->players.limit ? scene->players.position_count : 0,
        .sleeps = scene->sleep,
        .commands_max = scene->commands_max,
        .joints_added_max = scene->joints_max,
        .prototypes_max = scene->prototype_count,
        .senses = foliot__scene_senses(scene),
        .fast_joints = foliot__scene_fast_joints(scene) != FOLIOT__FAST_JOINTS_NONE,
        .integrator = scene->integrator,
    };
    config.constraints_max += config.joints_added_max;
    config.joints_max += config.joints_added_max;
    for (uint32_t k = 0; k < scene->force_count; k++) {
        config.springs_max += scene->forces[k].kind == FOLIOT_FORCE_SPRING;
        config.gravitates |= scene->forces[k].kind == FOLIOT_FORCE_NEWTON;
        config.calls_back |= scene->forces[k].kind == FOLIOT_FORCE_CALLBACK;
    }
    for (uint32_t k = 0; k < scene->constraint_count; k++)
        config.joints_max += foliot__constraint_is_joint(&scene->constraints[k]);
    return config;
}

foliot_world_config foliot__world_capacities(const foliot_world *world)
{
    const foliot__capacity *capacity = &world->capacity;
    return (foliot_world_config){.bodies_max = world->bodies_max,
                                 .forces_max = capacity->forces,
                                 .constraints_max = capacity->constraints,
                                 .contacts_max = capacity->contacts,
                                 .players_max = capacity->players,
                                 .spawns_max = capacity->spawns / 3};
}

static bool capacity_of(const foliot_world_config *config, foliot__capacity *capacity)
{
    const foliot__scheme *scheme = foliot__scheme_of(config->integrator);
    if (!scheme || config->bodies_max > FOLIOT_BODIES_MAX || config->bodies_max == 0 ||
        config->forces_max > FOLIOT_FORCES_MAX + 1 ||
        config->constraints_max > FOLIOT_CONSTRAINTS_MAX ||
        config->joints_max > config->constraints_max || config->players_max > FOLIOT_PLAYERS_MAX ||
        config->spawns_max > FOLIOT_BODIES_MAX || config->springs_max > config->forces_max ||
        config->commands_max > FOLIOT_COMMANDS_MAX ||
        config->joints_added_max > config->joints_max ||
        config->prototypes_max > FOLIOT_PROTOTYPES_MAX)
        return false;
    uint32_t slots = (uint32_t)foliot__slots_of(config->bodies_max);
    *capacity = (foliot__capacity){
        .slots = slots,
        .forces = config->forces_max,
        .constraints = config->constraints_max,
        .contacts = config->contacts_max,
        .players = config->players_max,
        .spawns = 3 * config->spawns_max,
        .joints = config->joints_max,
        .joint_starts = config->joints_max ? 4 * config->constraints_max : 0,
        .joint_impulses = config->fast_joints ? config->constraints_max : 0,
        .events = FOLIOT_EVENTS_MAX,
        .impacts = config->contacts_max < FOLIOT_HIT_EVENTS_MAX ? config->contacts_max
                                                                : FOLIOT_HIT_EVENTS_MAX,
        .briefs = 2 * (config->contacts_max < FOLIOT_HIT_EVENTS_MAX ? config->contacts_max
                                                                    : FOLIOT_HIT_EVENTS_MAX),
        .scratch = (uint64_t)3 * slots * scheme->scratch_vectors,
        .force_workspace_bytes = foliot__force_workspace_bytes(config),
        .contact_workspace_bytes = foliot__contact_workspace_bytes(config),
        .constraint_workspace_bytes = foliot__constraint_workspace_bytes(config),
        .joint_workspace_bytes = foliot__joint_workspace_bytes(config),
        .sleep_workspace_bytes = foliot__sleep_workspace_bytes(config),
    };
    // The events of all commands of a tick fit: each makes one event and may break joints.
    if (config->commands_max)
        capacity->events += 2 * config->commands_max + config->constraints_max;
    uint32_t vars = config->commands_max ? FOLIOT_VARS_MAX : 0;
    capacity->vars = vars;
    capacity->var_key_bytes = vars * FOLIOT_VAR_KEY_BYTES;
    capacity->var_text_bytes = vars * FOLIOT_VAR_TEXT_BYTES;
    capacity->joints_added = config->joints_added_max;
    capacity->joint_record_bytes = config->joints_added_max * FOLIOT__JOINT_RECORD_BYTES;
    capacity->targets = config->commands_max ? FOLIOT__TARGET_DOUBLES * slots : 0;
    capacity->prototypes = config->prototypes_max;
    capacity->sensed = config->senses ? config->contacts_max : 0;
    capacity->sensed_paths = config->senses ? slots : 0;
    if (config->commands_max && config->contacts_max <= UINT32_MAX / 2) {
        capacity->listed_begins = slots + 1;
        capacity->listed_rows = 2 * config->contacts_max;
    }
    return true;
}

// Fills offsets; returns the size of the whole block, which the machine may not be able to address.
static uint64_t lay_out(const foliot__capacity *capacity, uint64_t offset[FOLIOT__TABLE_COUNT])
{
    uint64_t at = align64(sizeof(foliot_world));
#define PLACE(type, name, entries)                                                                 \
    offset[FOLIOT__TABLE_##name] = at;                                                             \
    at += align64(sizeof(type) * (uint64_t)(entries));
#define PLACE_STATE(type, name, text) PLACE(foliot__##type, name, capacity->slots)
#define PLACE_BODY(type, name) PLACE(foliot__##type, name, capacity->slots)
#define PLACE_OTHER(type, name, entries) PLACE(type, name, capacity->entries)
    FOLIOT_BODY_STATE(PLACE_STATE)
    FOLIOT__BODY_DEFINITION(PLACE_BODY)
    FOLIOT__BODY_CACHE(PLACE_BODY)
    FOLIOT__OTHER_TABLES(PLACE_OTHER)
#undef PLACE
#undef PLACE_STATE
#undef PLACE_BODY
#undef PLACE_OTHER
    return at;
}

size_t foliot_world_config_get_bytes(const foliot_world_config *config)
{
    foliot__capacity capacity;
    uint64_t offset[FOLIOT__TABLE_COUNT];
    uint64_t bytes = capacity_of(config, &capacity) ? lay_out(&capacity, offset) : 0;
    return (size_t)bytes == bytes ? (size_t)bytes : 0;
}

static void fill_head(foliot_world *world, const foliot_world_config *config,
                      const foliot__capacity *capacity)
{
    world->magic = FOLIOT__BLOCK_MAGIC;
    world->capacity = *capacity;
    world->bodies_max = config->bodies_max;
    world->scheme.integrator = config->integrator;
    world->scheme.scratch_vectors = foliot__scheme_of(config->integrator)->scratch_vectors;
    world->scheme.sums_time = foliot_integrator_get_info(config->integrator)->lab_only;
    world->scheme.rotation_order = foliot_integrator_get_info(config->integrator)->rotation_order;
}

foliot_status foliot__block_init(void *block, size_t bytes, const foliot_world_config *config,
                                 bool zeroed)
{
    foliot__capacity capacity;
    if ((uintptr_t)block % FOLIOT_WORLD_ALIGNMENT != 0 || !capacity_of(config, &capacity))
        return FOLIOT_STATUS_INVALID;
    uint64_t offset[FOLIOT__TABLE_COUNT];
    uint64_t needed = lay_out(&capacity, offset);
    if (bytes < needed)
        return FOLIOT_STATUS_FULL;
    if (!zeroed)
        memset(block, 0, (size_t)needed);
    foliot_world *world = block;
    fill_head(world, config, &capacity);
    world->block_bytes = needed;
    memcpy(world->offset, offset, sizeof offset);
    return FOLIOT_STATUS_OK;
}

foliot_status foliot__head_init(foliot_world *head, const foliot_world_config *config)
{
    foliot__capacity capacity;
    if (!capacity_of(config, &capacity))
        return FOLIOT_STATUS_INVALID;
    memset(head, 0, sizeof *head);
    fill_head(head, config, &capacity);
    return FOLIOT_STATUS_OK;
}

size_t foliot_world_get_bytes(const foliot_world *world)
{
    return world->block_bytes;
}

// Tables that a step fills before it reads them are left out, and so are unused rows: of a world
// with contacts that is most of the block.
void foliot_world_copy(void *block, const foliot_world *from)
{
    const foliot__capacity *capacity = &from->capacity;
    char *to = block;
    const char *base = (const char *)from;
    memcpy(to, base, sizeof *from);
#define COPY(type, name, entries)                                                                  \
    memcpy(to + from->offset[FOLIOT__TABLE_##name], base + from->offset[FOLIOT__TABLE_##name],     \
           sizeof(type) * (size_t)(entries));
#define COPY_STATE(type, name, text) COPY(foliot__##type, name, capacity->slots)
#define COPY_BODY(type, name) COPY(foliot__##type, name, capacity->slots)
    FOLIOT_BODY_STATE(COPY_STATE)
    FOLIOT__BODY_DEFINITION(COPY_BODY)
    FOLIOT__BODY_CACHE(COPY_BODY)
    COPY(uint32_t, tag, capacity->slots)
    COPY(uint32_t, driven, capacity->players)
    COPY(char, var_key, FOLIOT_VAR_KEY_BYTES * from->session.var_count)
    COPY(char, var_text, FOLIOT_VAR_TEXT_BYTES * from->session.var_count)
    COPY(uint32_t, var_type, from->session.var_count)
    COPY(uint32_t, var_changed, from->session.var_count)
    COPY(uint64_t, var_value, from->session.var_count)
    COPY(uint8_t, joint_bytes, FOLIOT__JOINT_RECORD_BYTES * from->session.joint_count)
    COPY(foliot_body_definition, prototypes, capacity->prototypes)
    // Not `target`, `sensed_paths` and the lists of contacts, which a tick sets before it reads
    // them, nor `scratch` and the workspaces of contacts, joints and sleep.
    COPY(foliot_force_definition, force, from->force_count)
    COPY(foliot_constraint_definition, constraint, from->constraint_count)
    COPY(uint8_t, constraint_state, from->constraint_count)
    COPY(double, constraint_force, from->constraint_count)
    COPY(double, joint_start, capacity->joint_starts)
    COPY(foliot__joint_warm, joint_impulse, capacity->joint_impulses ? from->constraint_count : 0)
    COPY(foliot__player, players, capacity->players)
    COPY(double, spawn_position, capacity->spawns)
    COPY(foliot__contact_row, contact, from->contact_count)
    COPY(foliot__sensed_pair, sensed, from->sensors.count)
    COPY(foliot__sensed_pair, sensed_before, from->sensors.before_count)
    COPY(foliot__sensed_pair, sensed_passed, from->sensors.passed_count)
    COPY(foliot_event, events, from->reported.event_count)
    COPY(foliot_hit_event, impacts, from->reported.impact_count)
    COPY(foliot__contact_before, contacts_before, from->reported.contacts_before_count)
    COPY(foliot__brief_contact, brief_contacts, from->reported.brief_count)
    COPY(uint8_t, force_workspace, capacity->force_workspace_bytes)
#undef COPY
#undef COPY_STATE
#undef COPY_BODY
    foliot__constraint_copy(block, from);
    ((foliot_world *)block)->joints_ready = 0;
}
// A table that is added must be copied above, or declared to be rebuilt.
_Static_assert(FOLIOT__TABLE_COUNT == FOLIOT__TABLE_scratch + 35,
               "foliot_world_copy knows every table");
