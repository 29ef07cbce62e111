// SPDX-License-Identifier: MIT
// joints.c: nets, chains and dolls of joints, next to Bullet on the same bodies and joints. Engines
// run in turn, a few ticks each, sleeping off, each at its defaults: CPU ms a tick on one thread,
// the median of the whole run. One function measures both engines' results from poses and
// velocities after every turn: how far anchors come apart, and how much energy there is beyond that
// of the start, since joints and contacts give none.
//
//     joints [--scene NAME] [--ticks N] [--substeps N] [--exact | --fast] [--alone]
//
// One scene, fewer ticks, other substeps than the default, one joint solver for all, no opponent.
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "foliot/foliot.h"
#include "opponent.h"
#include "opponents/joints_problem.h"
#include "opponents/rigid_problem.h"
#include "slots.h"

#define TURN 5 // ticks that an engine runs before the next one does

static const char *const scene_names[] = {"joint_grid", "net_32",      "chains_70",
                                          "chain_1000", "chain_10000", "ragdolls_20"};

typedef struct options {
    const char *scene; // NULL: all
    uint32_t ticks, substeps;
    foliot_joint_solver solver;
    bool alone;
    char opponent[600]; // its program
} options;

// Measurements of an engine's bodies so far. Distances in m, energies in J.
typedef struct quality {
    double gap, worst_gap;
    double start_energy, most_energy;
    uint32_t looks;
} quality;

static bool failed; // some row is missing

// -- ours

static foliot_body_definition body_of(const joints_body *row, bool collides)
{
    static const uint32_t kinds[] = {[JOINTS_SPHERE] = FOLIOT_SHAPE_SPHERE,
                                     [JOINTS_BOX] = FOLIOT_SHAPE_BOX,
                                     [JOINTS_CAPSULE] = FOLIOT_SHAPE_CAPSULE,
                                     [JOINTS_FLOOR] = FOLIOT_SHAPE_PLANE};
    foliot_body_definition b = foliot_body_definition_default();
    b.is_static = row->mass == 0;
    b.mass = b.is_static ? 1 : row->mass;
    b.friction = JOINTS_FRICTION;
    b.mask = collides ? b.mask : 0;
    b.shape.kind = kinds[row->shape];
    b.shape.radius = row->radius;
    memcpy(b.shape.normal, (double[]){0, 1, 0}, sizeof b.shape.normal);
    memcpy(b.shape.half, row->half, sizeof b.shape.half);
    memcpy(b.position, row->position, sizeof b.position);
    memcpy(b.orientation, row->orientation, sizeof b.orientation);
    return b;
}

static foliot_constraint_definition joint_of(const joints_joint *row)
{
    foliot_constraint_definition d = foliot_constraint_definition_default(
        row->is_hinge ? FOLIOT_CONSTRAINT_HINGE : FOLIOT_CONSTRAINT_BALL);
    d.a = row->a;
    d.b = row->b;
    memcpy(d.anchor_a, row->anchor_a, sizeof d.anchor_a);
    memcpy(d.anchor_b, row->anchor_b, sizeof d.anchor_b);
    if (row->is_hinge) {
        memcpy(d.axis, row->axis, sizeof d.axis);
        d.angle_min = row->angle_min;
        d.angle_max = row->angle_max;
    }
    return d;
}

static foliot_world *world_of(const char *name, const joints_problem *p, const options *o)
{
    foliot_body_definition *bodies = malloc(p->body_count * sizeof *bodies);
    foliot_constraint_definition *joints = malloc(p->joint_count * sizeof *joints);
    for (uint32_t i = 0; i < p->body_count; i++)
        bodies[i] = body_of(&p->bodies[i], p->collide);
    for (uint32_t i = 0; i < p->joint_count; i++)
        joints[i] = joint_of(&p->joints[i]);
    foliot_scene scene = foliot_scene_default();
    scene.name = name;
    scene.dt = JOINTS_DT;
    scene.gravity[1] = -JOINTS_GRAVITY;
    scene.bodies = bodies;
    scene.body_count = p->body_count;
    scene.constraints = joints;
    scene.constraint_count = p->joint_count;
    scene.joint_solver = o->solver;
    if (o->substeps)
        scene.substeps = o->substeps;
    foliot_error fault;
    foliot_world *world = NULL;
    if (foliot_scene_check(&scene, &fault) != FOLIOT_STATUS_OK)
        fprintf(stderr, "joints: %s: foliot refuses it: %s: %s\n", name, fault.path, fault.text);
    else if (foliot_world_create(&scene, &world, NULL) != FOLIOT_STATUS_OK)
        fprintf(stderr, "joints: %s: no memory\n", name);
    failed |= !world;
    free(bodies);
    free(joints);
    return world;
}

static void our_step(foliot_world *world, uint32_t ticks, double *ms)
{
    for (uint32_t t = 0; t < ticks && world; t++) {
        double begin = rigid_cpu_now();
        if (foliot_world_step(world, NULL, 0, NULL) != FOLIOT_STATUS_OK)
            abort();
        ms[t] = (rigid_cpu_now() - begin) * 1e3;
    }
}

static void our_look(const foliot_world *world, uint32_t count, rigid_state *states)
{
    for (uint32_t i = 0; i < count; i++) {
        foliot_body_state s = slot_state(world, i);
        memcpy(states[i].position, s.position, sizeof s.position);
        memcpy(states[i].orientation, s.orientation, sizeof s.orientation);
        memcpy(states[i].velocity, s.velocity, sizeof s.velocity);
        memcpy(states[i].angular_velocity, s.angular_velocity, sizeof s.angular_velocity);
    }
}

// -- quality

static double energy_of(const joints_problem *p, const rigid_state *states)
{
    double sum = 0;
    for (uint32_t i = 0; i < p->body_count; i++) {
        const joints_body *row = &p->bodies[i];
        sum += row->mass * JOINTS_GRAVITY * states[i].position[1] +
               rigid_kinetic(row->mass, row->moments, &states[i]);
    }
    return sum;
}

static double gap_of(const joints_problem *p, const rigid_state *states)
{
    double worst = 0;
    for (uint32_t i = 0; i < p->joint_count; i++) {
        const joints_joint *row = &p->joints[i];
        const rigid_state *a = &states[row->a], *b = &states[row->b];
        double arm_a[3], arm_b[3], square = 0;
        joints_rotate(a->orientation, row->anchor_a, arm_a);
        joints_rotate(b->orientation, row->anchor_b, arm_b);
        for (int k = 0; k < 3; k++) {
            double apart = b->position[k] + arm_b[k] - a->position[k] - arm_a[k];
            square += apart * apart;
        }
        worst = fmax(worst, sqrt(square));
    }
    return worst;
}

static void inspect(quality *q, const joints_problem *p, const rigid_state *states)
{
    double energy = energy_of(p, states);
    q->gap = gap_of(p, states);
    q->worst_gap = fmax(q->worst_gap, q->gap);
    if (q->looks++ == 0)
        q->start_energy = q->most_energy = energy;
    q->most_energy = fmax(q->most_energy, energy);
}

// -- one scene

typedef struct race {
    foliot_world *world;
    opponent other;
    double *ms, *other_ms;
    quality mine, its;
} race;

static void inspect_both(race *r, const joints_problem *p, rigid_state *states)
{
    if (r->world) {
        our_look(r->world, p->body_count, states);
        inspect(&r->mine, p, states);
    }
    if (opponent_look(&r->other, p->body_count * RIGID_STATE_VALUES, states->position))
        inspect(&r->its, p, states);
}

static void run_in_turn(race *r, const joints_problem *p, uint32_t all_ticks)
{
    rigid_state *states = calloc(p->body_count, sizeof *states);
    inspect_both(r, p, states);
    for (uint32_t t = 0; t < all_ticks; t += TURN) {
        uint32_t ticks = all_ticks - t < TURN ? all_ticks - t : TURN;
        our_step(r->world, ticks, r->ms + t);
        opponent_step(&r->other, ticks, r->other_ms + t);
        inspect_both(r, p, states);
    }
    free(states);
}

static void report_energy(const char *scene, const char *engine, const quality *q, uint32_t bodies)
{
    char name[96];
    snprintf(name, sizeof name, "%s energy gained, %s", scene, engine);
    bench_report("joints", name, (q->most_energy - q->start_energy) / bodies, "J a body", NULL, 0);
}

static void report(const char *scene, const joints_problem *p, race *r, const options *o)
{
    const char *other = r->other.to ? "bullet" : NULL;
    char name[96];
    if (!other && !o->alone)
        fprintf(stderr, "joints: %s: no answer from bullet\n", scene);
    bench_report("joints", scene, bench_median(r->ms, o->ticks), "ms/tick, CPU", other,
                 other ? bench_median(r->other_ms, o->ticks) : 0);
    snprintf(name, sizeof name, "%s gap, end", scene);
    bench_report("joints", name, r->mine.gap, "m", other, r->its.gap);
    snprintf(name, sizeof name, "%s gap, worst", scene);
    bench_report("joints", name, r->mine.worst_gap, "m", other, r->its.worst_gap);
    report_energy(scene, "foliot", &r->mine, p->body_count);
    if (other)
        report_energy(scene, other, &r->its, p->body_count);
    if (foliot_world_get_counters(r->world)->frozen_bodies)
        fprintf(stderr, "joints: %s: bodies froze\n", scene);
}

static void run_scene(const char *name, const options *o)
{
    joints_problem p;
    if (!joints_make(name, &p))
        abort();
    race r = {.world = world_of(name, &p, o)};
    r.ms = calloc(2 * (size_t)o->ticks, sizeof *r.ms);
    r.other_ms = r.ms + o->ticks;
    if (!o->alone)
        r.other = opponent_start(o->opponent, name);
    if (r.world) {
        run_in_turn(&r, &p, o->ticks);
        report(name, &p, &r, o);
    }
    opponent_stop(&r.other);
    foliot_world_destroy(r.world);
    free(r.ms);
    joints_free(&p);
}

// -- options

static bool read_options(int argc, char **argv, options *o)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--alone") == 0)
            o->alone = true;
        else if (strcmp(argv[i], "--exact") == 0)
            o->solver = FOLIOT_JOINT_SOLVER_EXACT;
        else if (strcmp(argv[i], "--fast") == 0)
            o->solver = FOLIOT_JOINT_SOLVER_FAST;
        else if (strcmp(argv[i], "--scene") == 0)
            o->scene = argv[++i] ? value : NULL;
        else if (strcmp(argv[i], "--ticks") == 0 && argv[++i])
            o->ticks = (uint32_t)atoi(value);
        else if (strcmp(argv[i], "--substeps") == 0 && argv[++i])
            o->substeps = (uint32_t)atoi(value);
        else
            return false;
    }
    return o->ticks > 0 &&
           (!o->scene ||
            bench_knows(scene_names, sizeof scene_names / sizeof *scene_names, o->scene));
}

int main(int argc, char **argv)
{
    options o = {.ticks = 600};
    const char *slash = strrchr(argv[0], '/');
    snprintf(o.opponent, sizeof o.opponent, "%.*s/opponents/bullet_joints",
             slash ? (int)(slash - argv[0]) : 1, slash ? argv[0] : ".");
    if (!read_options(argc, argv, &o)) {
        fprintf(stderr, "usage: joints [--scene joint_grid|net_32|chains_70|chain_1000|chain_10000|"
                        "ragdolls_20] [--ticks N] [--substeps N] [--exact | --fast] [--alone]\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < sizeof scene_names / sizeof *scene_names; i++)
        if (!o.scene || strcmp(o.scene, scene_names[i]) == 0)
            run_scene(scene_names[i], &o);
    return failed;
}
