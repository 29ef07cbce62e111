// SPDX-License-Identifier: MIT
// cluster_scenes.c: the scenes of a cluster, and the rules and recordings of its games.
#include "cluster.h"

#include "status.h"

#define CHAIN_BODIES 6

static const double chain_spawns[4][3] = {{0, 0, 0}, {5, 0.1, 0}, {0.3, 7, 0}, {4, 4, 4.7}};
static const double springs_spawns[2][3] = {{0, 0, 0}, {5, 0, 0}};

// Numbers that do not come out even: a build that rounds otherwise is found out at once.
static void make_chain(cluster *c)
{
    c->scene.name = "arena";
    for (int i = 0; i < CHAIN_BODIES; i++) {
        c->bodies[i] = foliot_body_definition_default();
        c->bodies[i].mass = 1 + 0.37 * i;
        c->bodies[i].position[0] = 2.1 * i;
        c->bodies[i].velocity[1] = 3.3;
        c->bodies[i].velocity[2] = -0.7;
        c->forces[i] = foliot_force_definition_default(FOLIOT_FORCE_SPRING);
        c->forces[i].a = (uint32_t)i;
        c->forces[i].b = i ? (uint32_t)i - 1 : FOLIOT_NO_BODY;
        c->forces[i].as.spring.stiffness = 10.3 + i;
        c->forces[i].as.spring.length = 0.7;
    }
    c->forces[CHAIN_BODIES] = foliot_force_definition_default(FOLIOT_FORCE_DRAG);
    c->forces[CHAIN_BODIES].as.drag.linear = 0.137;
    c->scene.body_count = CHAIN_BODIES;
    c->scene.force_count = CHAIN_BODIES + 1;
    c->scene.players.positions = chain_spawns;
    c->scene.players.position_count = 4;
    c->scene.players.force = 5.1;
}

static void make_springs(cluster *c)
{
    c->scene.name = "springs";
    for (int i = 0; i < CLUSTER_BODIES; i++) {
        c->bodies[i] = foliot_body_definition_default();
        c->bodies[i].mass = 1 + 0.1 * i;
        c->bodies[i].position[0] = 2 * i;
        c->bodies[i].velocity[1] = 3;
        c->bodies[i].shape.kind = FOLIOT_SHAPE_SPHERE;
        c->bodies[i].shape.radius = 0.2;
        c->bodies[i].angular_velocity[i % 3] = 1 + 0.5 * i; // rad/s
        c->forces[i] = foliot_force_definition_default(FOLIOT_FORCE_SPRING);
        c->forces[i].a = (uint32_t)i;
        c->forces[i].b = FOLIOT_NO_BODY;
        c->forces[i].as.spring.point[0] = 2 * i;
        c->forces[i].as.spring.stiffness = 10 + i;
    }
    c->scene.body_count = CLUSTER_BODIES;
    c->scene.force_count = CLUSTER_BODIES;
    c->scene.players.positions = springs_spawns;
    c->scene.players.position_count = 2;
    c->scene.players.force = 5;
}

// Springs pull the scene's bodies; spawned ones fly freely.
static void make_game(cluster *c)
{
    c->prototype = foliot_body_definition_default();
    c->prototype.name = "ball";
    if (c->options.world == CLUSTER_SPRINGS) {
        c->prototype.shape.kind = FOLIOT_SHAPE_SPHERE;
        c->prototype.shape.radius = 0.25;
        c->scene.joints_max = 8;
    }
    c->scene.commands_max = 64;
    c->scene.bodies_max = 200;
    c->scene.prototypes = &c->prototype;
    c->scene.prototype_count = 1;
}

void cluster_make_scene(cluster *c)
{
    if (c->options.scene) {
        c->scene = *c->options.scene;
    } else {
        c->scene = foliot_scene_default();
        c->scene.dt = 1.0 / 60;
        c->scene.integrator = FOLIOT_INTEGRATOR_VELOCITY_VERLET;
        c->scene.bodies = c->bodies;
        c->scene.forces = c->forces;
        c->scene.players.limit = c->options.players ? c->options.players : 4;
        c->scene.players.body = foliot_body_definition_default();
        c->scene.players.control = FOLIOT_CONTROL_THRUST;
        c->scene.players.bodiless = c->options.bodiless;
        c->scene.script.history_ticks = c->options.history_ticks;
        if (c->options.world == CLUSTER_SPRINGS)
            make_springs(c);
        else
            make_chain(c);
    }
    if (c->options.game || c->options.rules)
        make_game(c);
}

void cluster_make_rules(cluster *c)
{
    char problem[256];
    if (c->options.rules)
        demand(
            foliot_rules_create(c->options.rules, &c->scene, &c->rules, problem, sizeof problem));
}

static foliot_status save_rules(void *user, void *bytes, size_t capacity, size_t *length)
{
    cluster *c = user;
    return foliot_rules_save(c->rules, bytes, capacity, length);
}

static foliot_status restore_rules(void *user, const void *bytes, size_t length)
{
    cluster *c = user;
    return foliot_rules_restore(c->rules, bytes, length);
}

static foliot_status tick_rules(void *user, const foliot_rules_view *view)
{
    cluster *c = user;
    return foliot_rules_tick(c->rules, view);
}

foliot_recording_config cluster_recording_config(cluster *c)
{
    foliot_recording_config config = foliot_recording_config_default();
    config.threaded = false;
    if (!c->rules)
        return config;
    config.keyframe_ticks = 90; // the last one is seldom where the server dies
    config.block_ticks = 20;
    c->recorded_rules = (foliot_recording_rules){.name = c->options.rules->name,
                                                 .version = c->options.rules->version,
                                                 .save = save_rules,
                                                 .restore = restore_rules,
                                                 .tick = tick_rules,
                                                 .user = c};
    config.rules = &c->recorded_rules;
    return config;
}
