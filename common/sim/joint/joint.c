// SPDX-License-Identifier: MIT
// joint.c: the joints' part of a tick. Every substep solves two systems, as SHAKE and RATTLE do
// (rattle.c). Impulses along the rows of the substep's start move positions to where the joints
// hold at its end. Then velocities that violate the joints are removed, with the rows of its end.
//
// A world with joints and no contacts keeps the properties of its scheme: energy does not drift,
// and momentum is exact to rounding.
#include "sim/joint/joint_internal.h"

#include "sim/constraint/constraint.h"
#include "sim/integrator/scheme.h"
#include "sim/scene/scene.h"

#include <string.h>

#define CORRECTIONS 2     // of positions in a substep: the second removes rotation's error
#define CORRECTIONS_MAX 8 // while errors are not below SHARP
#define SHARP 1e-9        // error, as a share of the arms
#define ROUGH 1e-3        // beyond this error the fallback solves positions
#define GAIN_MAX 0.01   // of kinetic energy in a substep, before velocities are solved differently
#define DRIFT_MAX 0.001 // likewise where no contact pushes

// -- each substep

static void get_velocity(const foliot_world *world, uint32_t slot, double out[6])
{
    vec3_store(foliot__v3_get(foliot__velocity(world), slot), out);
    vec3_store(foliot__v3_get(foliot__angular_velocity(world), slot), out + 3);
}

void foliot__joints_begin(const foliot__step *step, bool first)
{
    foliot_world *world = step->world;
    if (!foliot__has_joints(world))
        return;
    foliot__joints j = foliot__joints_of(world);
    if (first && !world->joints_ready) {
        foliot__joints_find_islands(world, &j);
        if (foliot__may_have_fast_joints(world))
            foliot__joint_blocks_make(world, &j);
    }
    if (first && foliot__may_have_fast_joints(world)) {
        foliot__joint_blocks_begin(world, &j);
        foliot__joint_limits_measure(world, step->dt);
    }
    for (uint32_t i = 0; first && i < j.table.counts[FOLIOT__JOINTS_COUNT]; i++)
        foliot__joint_begin_angle(world, &j.joints[i]);
    // Without contacts, later substeps start from the rows that the last one ended with.
    for (uint32_t i = 0;
         (first || world->scene.collides) && i < j.table.counts[FOLIOT__JOINTS_ISLANDS]; i++)
        foliot__island_linearise(&j, world, &j.islands[i], 0);
    for (uint32_t i = 0; i < j.table.counts[FOLIOT__JOINTS_COUNT]; i++) {
        foliot__joint *joint = &j.joints[i];
        if (first) { // a tick starts from the present state alone
            joint->limit.state = joint->limit.value <= joint->limit.least      ? FOLIOT__LIMIT_LOW
                                 : joint->limit.value >= joint->limit.greatest ? FOLIOT__LIMIT_HIGH
                                 : joint->limit.strength > 0 ? FOLIOT__LIMIT_DRIVEN
                                                             : FOLIOT__LIMIT_FREE;
            joint->force = joint->torque = (vec3){0, 0, 0};
        }
        joint->limit.value_before = joint->limit.value;
        memset(joint->impulse_sum, 0, sizeof joint->impulse_sum);
    }
    for (uint32_t i = 0; i < j.table.counts[FOLIOT__JOINTS_BODIES]; i++) {
        foliot__joint_body *body = &j.bodies[i];
        memset(body->moved, 0, sizeof body->moved);
        body->start = foliot__pose_of(world, body->slot);
        body->free = false;
        get_velocity(world, body->slot, body->given);
        body->inertia_start = body->inertia;
        body->spin = mat3_apply(body->inertia, vec3_of(body->given + 3));
    }
    for (uint32_t i = 0; i < j.table.counts[FOLIOT__JOINTS_ISLANDS]; i++) {
        j.islands[i].damped = j.islands[i].touches = false;
        memset(j.islands[i].carried, 0, sizeof j.islands[i].carried);
    }
}

static void clear_friction(foliot__joints *j, foliot__island *island)
{
    for (uint32_t i = 0; i < island->joints; i++) {
        foliot__joint *joint = &j->joints[island->joint + i];
        island->unfactored |= joint->friction.moment > 0;
        joint->friction.moment = 0;
        memset(joint->friction.sum, 0, sizeof joint->friction.sum);
    }
}

// -- without contacts

static void put_velocity(foliot_world *world, uint32_t slot, const double in[6])
{
    foliot__v3_put(foliot__velocity(world), slot, vec3_of(in));
    if (world->scene.rotates && foliot__inverse_inertia_x(world)[slot] > 0)
        foliot__v3_put(foliot__angular_velocity(world), slot, vec3_of(in + 3));
    foliot__velocity_changed(world, slot);
}

// Moves a body by the solution. Rotation changes its angular momentum, because its moments of
// inertia rotate with it. Adds twice the kinetic energy that the scheme left it with, and twice the
// energy that it must have after the substep.
static void move_body(foliot_world *world, const foliot__island *island, foliot__joint_body *body,
                      double h, double *kinetic2, double *goal2)
{
    double velocity[6];
    foliot__pose pose = foliot__pose_of(world, body->slot);
    get_velocity(world, body->slot, velocity);
    vec3 gained = mat3_apply(body->inertia, vec3_of(body->moved + 3));
    foliot__joint_body_set_mass(world, body, &pose);
    vec3 spin = mat3_apply(body->inertia, vec3_of(velocity + 3));
    *kinetic2 += foliot__joint_body_energy(island, body, velocity, 0.5);
    *goal2 += foliot__joint_body_energy(island, body, velocity, foliot__response(world)) +
              2 * foliot__dot6(body->given, body->moved);
    foliot__pose_move(&pose, body->moved, h);
    if (body->free)
        pose.q = foliot__joint_body_rotate(world, body, h);
    foliot__joint_body_set_mass(world, body, &pose);
    vec3_store(vec3_add(vec3_of(velocity), vec3_of(body->moved)), velocity);
    vec3_store(mat3_solve_symmetric(body->inertia, vec3_add(spin, gained)), velocity + 3);
    if (island->rough)
        memcpy(velocity, body->taken, sizeof velocity);
    get_velocity(world, body->slot, body->taken);
    foliot__v3_put(foliot__position(world), body->slot, pose.x);
    if (world->scene.rotates)
        foliot__quat_put(world, body->slot, pose.q);
    put_velocity(world, body->slot, velocity);
}

// Positions move along the rows of the substep's start, as in SHAKE, which neither adds nor removes
// energy. The fallback handles a substep that turns too far for that. Velocities then receive no
// correction, so energy can be removed and never added.
static void find_positions(foliot__joints *j, const foliot_world *world, foliot__island *island,
                           double h)
{
    for (uint32_t i = 0; i < island->bodies; i++)
        memcpy(j->bodies[island->body + i].taken, j->bodies[island->body + i].moved,
               sizeof j->bodies->taken);
    double worst = foliot__island_target_positions(j, world, island, h);
    for (int k = 0; k < CORRECTIONS || (k < CORRECTIONS_MAX && worst > SHARP); k++) {
        foliot__island_solve(j, island, h);
        // The first solve of a substep gives the forces, which determine the damping.
        if (!island->damped && foliot__island_damp(j, island, h, foliot__response(world))) {
            foliot__island_clear_impulses(j, island);
            island->unfactored = true;
            foliot__island_solve(j, island, h);
        }
        island->damped = true;
        for (uint32_t i = 0; i < 6 * island->bodies; i++)
            j->bodies[island->body + i / 6].moved[i % 6] +=
                j->bodies[island->body + i / 6].change[i % 6];
        worst = foliot__island_target_positions(j, world, island, h);
    }
    island->rough = !(worst <= ROUGH);
    if (!island->rough)
        return;
    for (uint32_t i = 0; i < island->bodies; i++)
        j->bodies[island->body + i].free = false;
    foliot__island_clear_impulses(j, island);
    clear_friction(j, island);
    for (uint32_t i = 0; i < island->bodies; i++)
        memcpy(j->bodies[island->body + i].moved, j->bodies[island->body + i].taken,
               sizeof j->bodies->moved);
    foliot__island_solve_fallback(j, world, island, h);
    foliot__island_clear_impulses(j, island);
}

static void find_velocities(foliot__joints *j, foliot_world *world, foliot__island *island,
                            double h)
{
    for (uint32_t i = 0; i < island->bodies; i++)
        get_velocity(world, j->bodies[island->body + i].slot, j->bodies[island->body + i].change);
    foliot__island_target_velocities(j, world, island, h);
    foliot__island_solve(j, island, h);
    for (uint32_t i = 0; i < island->bodies; i++) {
        foliot__joint_body *body = &j->bodies[island->body + i];
        double velocity[6];
        get_velocity(world, body->slot, velocity);
        for (int k = 0; k < 6; k++)
            velocity[k] += body->change[k];
        put_velocity(world, body->slot, velocity);
    }
}

static bool has_motor(const foliot__joints *j, const foliot__island *island)
{
    for (uint32_t i = 0; i < island->joints; i++)
        if (j->joints[island->joint + i].limit.strength > 0)
            return true;
    return false;
}

// The scheme's velocities, minus the part that violates the joints, in `taken`. They never hold
// more energy. The impulses of the substep stay those of the first solution. Returns twice the
// energy.
static double project_scheme(foliot__joints *j, foliot_world *world, foliot__island *island,
                             double h)
{
    double energy2 = 0;
    for (uint32_t i = 0; i < island->bodies; i++)
        put_velocity(world, j->bodies[island->body + i].slot, j->bodies[island->body + i].taken);
    find_velocities(j, world, island, h);
    for (uint32_t i = 0; i < island->bodies; i++) {
        foliot__joint_body *body = &j->bodies[island->body + i];
        get_velocity(world, body->slot, body->taken);
        energy2 += foliot__joint_body_energy(island, body, body->taken, foliot__response(world));
    }
    for (uint32_t i = 0; i < island->joints; i++) {
        foliot__joint *joint = &j->joints[island->joint + i];
        for (uint32_t r = 0; r < joint->active; r++)
            joint->impulse_sum[r] -= joint->impulse[r];
    }
    return energy2;
}

// Joints do no work. In a whip or where a chain becomes taut, a substep may add or take a large
// share of the energy. If it adds some, the joints' impulses on positions are left out of the
// velocities in part; if that is not enough, the motion within the island becomes slower. If it
// takes some, that motion becomes faster. Impacts at limits take energy. `goal2` is twice the
// energy that the island must have, give or take `allowed2`: a smooth motion is left to the scheme,
// which does not drift.
static void keep_energy(foliot__joints *j, foliot_world *world, foliot__island *island, double h,
                        double allowed2, double goal2)
{
    double share = foliot__response(world), energy2 = 0, outside2;
    for (uint32_t i = 0; i < island->bodies; i++) {
        foliot__joint_body *body = &j->bodies[island->body + i];
        get_velocity(world, body->slot, body->smooth);
        energy2 += foliot__joint_body_energy(island, body, body->smooth, share);
    }
    if (!foliot__island_outside_work(j, world, island, &outside2))
        return;
    goal2 += outside2;
    bool gains = energy2 - goal2 > allowed2, loses = goal2 - energy2 > allowed2;
    for (uint32_t i = 0; i < island->joints && loses; i++) {
        const foliot__joint *joint = &j->joints[island->joint + i];
        loses =
            !joint->limit.present || (joint->limit.state < FOLIOT__LIMIT_LOW &&
                                      joint->impulse_sum[joint->rows] == 0); // no impact at a limit
    }
    if (!gains && !loses)
        return;
    bool slower = gains && project_scheme(j, world, island, h) > goal2;
    for (uint32_t i = 0; i < island->bodies && slower; i++)
        memcpy(j->bodies[island->body + i].smooth, j->bodies[island->body + i].taken,
               sizeof j->bodies->smooth);
    if ((slower || loses) && !foliot__island_move_as_one(j, world, island))
        return;
    foliot__island_blend(j, island, share, goal2);
    for (uint32_t i = 0; i < island->bodies; i++)
        put_velocity(world, j->bodies[island->body + i].slot, j->bodies[island->body + i].change);
}

static void step_island(foliot__joints *j, foliot_world *world, foliot__island *island, double h)
{
    double kinetic2 = 0, goal2 = 0;
    foliot__island_find_frame(j, world, island);
    // The rotation of the scheme will be replaced by one from the substep's start.
    for (uint32_t i = 0; i < island->bodies; i++) {
        foliot__joint_body *body = &j->bodies[island->body + i];
        vec3 v = foliot__v3_get(foliot__velocity(world), body->slot), none = {0, 0, 0};
        vec3 w = foliot__v3_get(foliot__angular_velocity(world), body->slot);
        foliot__pose pose = foliot__pose_of(world, body->slot);
        vec3_store(vec3_scale(vec3_sub(v, vec3_of(body->given)), body->mass), body->given);
        vec3_store(none, body->given + 3);
        body->free = world->scene.rotates && foliot__inverse_inertia_x(world)[body->slot] > 0;
        if (!body->free)
            continue;
        foliot__joint_body now = *body;
        foliot__joint_body_set_mass(world, &now, &pose);
        vec3 gained = vec3_sub(mat3_apply(now.inertia, w), body->spin);
        vec3_store(gained, body->given + 3);
        body->spin = vec3_add(body->spin, vec3_divide(gained, 2));
    }
    find_positions(j, world, island, h);
    for (uint32_t i = 0; i < island->bodies; i++)
        move_body(world, island, &j->bodies[island->body + i], h, &kinetic2, &goal2);
    clear_friction(j, island);
    bool smooth = !island->unfactored && !island->rough; // without friction, too
    foliot__island_linearise(j, world, island, 0);
    find_velocities(j, world, island, h);
    if (!has_motor(j, island))
        keep_energy(j, world, island, h, smooth ? DRIFT_MAX * kinetic2 : 0, goal2);
}

void foliot__joints_alone(const foliot__step *step)
{
    foliot_world *world = step->world;
    if (!foliot__has_joints(world))
        return;
    foliot__joints j = foliot__joints_of(world);
    for (uint32_t i = 0; i < j.table.counts[FOLIOT__JOINTS_ISLANDS]; i++)
        if (!j.islands[i].touches)
            step_island(&j, world, &j.islands[i], step->dt);
    world->acceleration_valid = 0;
}

// -- with contacts

static void read_body(const foliot__solver_body *bodies, uint32_t slot, double out[6])
{
    const foliot__solver_body *m = &bodies[slot];
    for (int k = 0; k < 3; k++) {
        out[k] = (double)m->v[k];
        out[3 + k] = (double)m->w[k];
    }
}

static void write_body(foliot__solver_body *bodies, uint32_t slot, const double base[6],
                       const double more[6])
{
    foliot__solver_body *m = &bodies[slot];
    for (int k = 0; k < 3; k++) {
        m->v[k] = (float)(base[k] + more[k]);
        m->w[k] = (float)(base[3 + k] + more[3 + k]);
    }
}

void foliot__joints_remember_smooth(const foliot_world *world, const foliot__solver_body *bodies,
                                    const uint64_t *touched)
{
    if (!foliot__has_joints(world))
        return;
    foliot__joints j = foliot__joints_of(world);
    for (uint32_t i = 0; i < j.table.counts[FOLIOT__JOINTS_ISLANDS]; i++)
        for (uint32_t k = 0; k < j.islands[i].bodies && !j.islands[i].touches; k++)
            j.islands[i].touches = touched[j.bodies[j.islands[i].body + k].slot] != 0;
    for (uint32_t i = 0; i < j.table.counts[FOLIOT__JOINTS_BODIES]; i++)
        read_body(bodies, j.bodies[i].slot, j.bodies[i].smooth);
    j.table.counts[FOLIOT__JOINTS_RELAXING] = 0;
}

static void solve_positions(const foliot_world *world, foliot__solver_body *bodies,
                            foliot__joints *j, foliot__island *island, double h)
{
    for (uint32_t i = 0; i < island->bodies; i++) {
        foliot__joint_body *body = &j->bodies[island->body + i];
        read_body(bodies, body->slot, body->moved);
        for (int k = 0; k < 6; k++)
            body->moved[k] -= body->smooth[k];
    }
    find_positions(j, world, island, h);
    for (uint32_t i = 0; i < island->bodies; i++) {
        foliot__joint_body *body = &j->bodies[island->body + i];
        write_body(bodies, body->slot, body->smooth, body->moved);
    }
}

// `taken` := the velocity that the solver has without what the joints added in the soft phase.
static void save_velocity_without_joints(foliot__joints *j, const foliot__solver_body *bodies,
                                         const foliot__island *island)
{
    for (uint32_t i = 0; i < island->bodies; i++) {
        foliot__joint_body *body = &j->bodies[island->body + i];
        memset(body->impulse_in, 0, sizeof body->impulse_in);
        read_body(bodies, body->slot, body->taken);
    }
    for (uint32_t i = 0; i < island->joints; i++) {
        const foliot__joint *joint = &j->joints[island->joint + i];
        for (uint32_t r = 0; r < FOLIOT__ROWS; r++) {
            bool ends = r >= joint->rows + joint->limit.present;
            double push = ends ? 0 : joint->impulse_sum[r];
            if (r >= joint->rows && joint->friction.moment > 0)
                push += joint->friction.sum[r];
            for (int k = 0; k < 6 && push != 0; k++) {
                if (joint->a != FOLIOT__NONE)
                    j->bodies[joint->a].impulse_in[k] += push * joint->ja[r][k];
                if (joint->b != FOLIOT__NONE)
                    j->bodies[joint->b].impulse_in[k] += push * joint->jb[r][k];
            }
        }
    }
    for (uint32_t i = 0; i < island->bodies; i++) {
        foliot__joint_body *body = &j->bodies[island->body + i];
        double *in = body->impulse_in, *taken = body->taken;
        vec3 v = vec3_divide(vec3_of(in), body->mass);
        vec3 w = mat3_solve_symmetric(body->inertia, vec3_of(in + 3));
        vec3_store(vec3_sub(vec3_of(taken), v), taken);
        vec3_store(vec3_sub(vec3_of(taken + 3), w), taken + 3);
        memset(in, 0, sizeof body->impulse_in);
    }
}

static void project_velocities(const foliot_world *world, foliot__joints *j, foliot__island *island,
                               double h)
{
    for (uint32_t i = 0; i < island->bodies; i++) {
        foliot__joint_body *body = &j->bodies[island->body + i];
        memcpy(body->change, body->smooth, sizeof body->change);
    }
    foliot__island_target_velocities(j, world, island, h);
    foliot__island_solve(j, island, h);
}

// `smooth`, which the relaxing phase needs no more, holds the velocities before.
static void solve_velocities(const foliot_world *world, foliot__solver_body *bodies,
                             foliot__joints *j, foliot__island *island, double h)
{
    if (!j->table.counts[FOLIOT__JOINTS_RELAXING]) {
        // Linearises again after the positions have moved.
        static const double none[6];
        if (!island->rough)
            save_velocity_without_joints(j, bodies, island);
        clear_friction(j, island);
        for (uint32_t k = 0; k < island->bodies && island->rough; k++)
            write_body(bodies, j->bodies[island->body + k].slot, j->bodies[island->body + k].taken,
                       none);
        foliot__island_linearise(j, world, island, 0);
        island->unchecked = !island->rough && !has_motor(j, island);
    }
    double before = 0, after = 0, v[6];
    for (uint32_t i = 0; i < island->bodies; i++)
        read_body(bodies, j->bodies[island->body + i].slot, j->bodies[island->body + i].smooth);
    project_velocities(world, j, island, h);
    for (uint32_t i = 0; i < island->bodies && island->unchecked; i++) {
        const foliot__joint_body *body = &j->bodies[island->body + i];
        for (int k = 0; k < 6; k++)
            v[k] = body->smooth[k] + body->change[k];
        after += foliot__joint_body_energy(island, body, v, 0.5);
        before += foliot__joint_body_energy(island, body, body->taken, 0.5);
    }
    // Joints do no work, as in step_island.
    if (island->unchecked && after > before * (1 + GAIN_MAX)) {
        for (uint32_t i = 0; i < island->bodies; i++) {
            foliot__joint_body *body = &j->bodies[island->body + i];
            memcpy(body->smooth, body->taken, sizeof body->smooth);
        }
        project_velocities(world, j, island, h);
    }
    island->unchecked = false;
    for (uint32_t i = 0; i < island->bodies; i++) {
        const foliot__joint_body *body = &j->bodies[island->body + i];
        write_body(bodies, body->slot, body->smooth, body->change);
    }
}

void foliot__joints_solve(const foliot_world *world, foliot__solver_body *bodies, float h,
                          bool soft)
{
    if (!foliot__has_joints(world))
        return;
    foliot__joints j = foliot__joints_of(world);
    for (uint32_t i = 0; i < j.table.counts[FOLIOT__JOINTS_ISLANDS]; i++) {
        if (!j.islands[i].touches)
            continue;
        if (soft)
            solve_positions(world, bodies, &j, &j.islands[i], (double)h);
        else
            solve_velocities(world, bodies, &j, &j.islands[i], (double)h);
    }
    j.table.counts[FOLIOT__JOINTS_RELAXING] = !soft;
}

// -- the tick's end

void foliot__joints_finish(const foliot__step *step)
{
    foliot_world *world = step->world;
    if (!foliot__has_joints(world))
        return;
    foliot__joints j = foliot__joints_of(world);
    // Adds the substep's impulses to the tick's force and torque on b, for breaking.
    for (uint32_t i = 0; i < j.table.counts[FOLIOT__JOINTS_COUNT]; i++) {
        foliot__joint *joint = &j.joints[i];
        for (uint32_t r = 0; r < joint->rows + joint->limit.present; r++) {
            double push = joint->impulse_sum[r], motor = joint->limit.strength * step->dt;
            if (r == joint->rows && joint->kind == FOLIOT_CONSTRAINT_HINGE)
                push = push > motor ? push - motor : push < -motor ? push + motor : 0;
            bool along = r < 3 || joint->kind == FOLIOT_CONSTRAINT_DISTANCE;
            vec3 *sum = along ? &joint->force : &joint->torque;
            vec3 direction = vec3_of(along ? joint->jb[r] : joint->jb[r] + 3);
            *sum = vec3_add(*sum, vec3_scale(direction, push));
        }
    }
    if (!step->last)
        return;
    double duration = step->dt * world->scene.substeps;
    if (foliot__may_have_fast_joints(world))
        foliot__joint_blocks_end(world, &j, duration);
    for (uint32_t i = 0; i < j.table.counts[FOLIOT__JOINTS_COUNT]; i++) {
        foliot__joint *joint = &j.joints[i];
        const foliot_constraint_definition *d = &foliot__constraint(world)[joint->index];
        foliot__joint_end_angle(world, joint);
        double force = vec3_length(joint->force) / duration,
               torque = vec3_length(joint->torque) / duration;
        bool torn = force > d->break_force, twisted = torque > d->break_torque;
        foliot__constraint_force(world)[joint->index] = twisted && !torn ? torque : force;
        if (!torn && !twisted)
            continue;
        foliot__constraint_break(world, joint->index,
                                 torn ? FOLIOT_BREAK_FORCE : FOLIOT_BREAK_TORQUE);
        foliot__joints_changed(world);
    }
}
