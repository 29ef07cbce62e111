// SPDX-License-Identifier: MIT
// joint.c: the joints' part of a tick. Every substep solves two systems, as SHAKE and RATTLE do
// (rattle.c). Impulses along the rows of the substep's start move positions to where the joints
// hold at its end. Then, with the rows of its end, velocities that violate the joints are removed.
//
// A world with joints and no contacts keeps the properties of its scheme: energy does not drift,
// and momentum is exact to rounding.
#include "sim/joint/joint_internal.h"

#include "sim/math/vec3.h"

#include "sim/constraint/constraint_links.h"
#include "sim/integrator/response.h"
#include "sim/scene/scene.h"

#include <string.h>

#define CORRECTIONS 2     // of positions in a substep: the second removes rotation's error
#define CORRECTIONS_MAX 8 // while errors are not below SHARP
#define SHARP 1e-9        // error, as a share of the arms
#define ROUGH 1e-3        // beyond this error the fallback solves positions
#define GAIN_MAX 0.01 // of kinetic energy in a substep, before velocities are solved differently

// -- each substep

static void linearise_all(foliot__joints *j, const foliot_world *world)
{
    for (uint32_t i = 0; i < j->table.counts[FOLIOT__JOINTS_ISLANDS]; i++)
        foliot__island_linearise(j, world, &j->islands[i], 0);
}

// A tick starts from the present state alone.
static void guess_state(foliot__joint *joint)
{
    joint->state = joint->value <= joint->least      ? FOLIOT__BOUND_LOW
                   : joint->value >= joint->greatest ? FOLIOT__BOUND_HIGH
                   : joint->strength > 0             ? FOLIOT__BOUND_DRIVEN
                                                     : FOLIOT__BOUND_FREE;
    memset(joint->force, 0, sizeof joint->force);
    memset(joint->torque, 0, sizeof joint->torque);
}

static void get_velocity(const foliot_world *world, uint32_t slot, double out[6])
{
    foliot__v3 v = foliot__velocity(world), w = foliot__angular_velocity(world);
    const double all[6] = {v.x[slot], v.y[slot], v.z[slot], w.x[slot], w.y[slot], w.z[slot]};
    memcpy(out, all, sizeof all);
}

static void remember_spin(const foliot_world *world, foliot__joint_body *body)
{
    double v[6];
    get_velocity(world, body->slot, v);
    memcpy(body->inertia_start, body->inertia, sizeof body->inertia);
    foliot__mat3_apply((const double(*)[3])body->inertia, v + 3, body->spin);
}

void foliot__joints_begin(const foliot__step *step, bool first)
{
    foliot_world *world = step->world;
    if (!foliot__has_joints(world))
        return;
    foliot__joints j = foliot__joints_of(world);
    if (first && !world->joints_ready)
        foliot__joints_find_islands(world, &j);
    for (uint32_t i = 0; first && i < j.table.counts[FOLIOT__JOINTS_COUNT]; i++)
        foliot__joint_begin_angle(world, &j.joints[i]);
    // Without contacts, later substeps start from the rows that the last one ended with.
    if (first || world->collides)
        linearise_all(&j, world);
    for (uint32_t i = 0; i < j.table.counts[FOLIOT__JOINTS_COUNT]; i++) {
        foliot__joint *joint = &j.joints[i];
        if (first)
            guess_state(joint);
        joint->value_before = joint->value;
        memset(joint->impulse_sum, 0, sizeof joint->impulse_sum);
    }
    for (uint32_t i = 0; i < j.table.counts[FOLIOT__JOINTS_BODIES]; i++) {
        memset(j.bodies[i].moved, 0, sizeof j.bodies[i].moved);
        j.bodies[i].start = foliot__pose_of(world, j.bodies[i].slot);
        j.bodies[i].free = false;
        remember_spin(world, &j.bodies[i]);
    }
    for (uint32_t i = 0; i < j.table.counts[FOLIOT__JOINTS_ISLANDS]; i++)
        j.islands[i].damped = j.islands[i].touches = false;
}

static void clear_impulses(foliot__joints *j, const foliot__island *island)
{
    for (uint32_t k = 0; k < island->joints; k++)
        memset(j->joints[island->joint + k].impulse_sum, 0, sizeof j->joints->impulse_sum);
}

static void clear_friction(foliot__joints *j, foliot__island *island)
{
    for (uint32_t i = 0; i < island->joints; i++) {
        foliot__joint *joint = &j->joints[island->joint + i];
        island->unfactored |= joint->friction > 0;
        joint->friction = 0;
        memset(joint->friction_sum, 0, sizeof joint->friction_sum);
    }
}

// The first solve of a substep. It gives the forces, which determine the damping.
static void solve_first(foliot__joints *j, const foliot_world *world, foliot__island *island,
                        double h)
{
    foliot__island_solve(j, island, h);
    if (!foliot__island_damp(j, island, h, foliot__response(world)))
        return;
    clear_impulses(j, island);
    island->unfactored = true;
    foliot__island_solve(j, island, h);
}

static void add_change(foliot__joints *j, const foliot__island *island)
{
    for (uint32_t i = 0; i < island->bodies; i++)
        for (int k = 0; k < 6; k++)
            j->bodies[island->body + i].moved[k] += j->bodies[island->body + i].change[k];
}

// Adds the substep's impulses to the tick's force and torque on b, for breaking.
static void sum_tick_impulses(foliot__joints *j, double h)
{
    for (uint32_t i = 0; i < j->table.counts[FOLIOT__JOINTS_COUNT]; i++) {
        foliot__joint *joint = &j->joints[i];
        for (uint32_t r = 0; r < joint->rows + joint->bounded; r++) {
            double push = joint->impulse_sum[r], motor = joint->strength * h;
            if (r == joint->rows && joint->kind == FOLIOT_CONSTRAINT_HINGE)
                push = push > motor ? push - motor : push < -motor ? push + motor : 0;
            bool along = r < 3 && joint->kind != FOLIOT_CONSTRAINT_DISTANCE;
            double *sum =
                along || joint->kind == FOLIOT_CONSTRAINT_DISTANCE ? joint->force : joint->torque;
            const double *direction = sum == joint->force ? joint->jb[r] : joint->jb[r] + 3;
            for (int k = 0; k < 3; k++)
                sum[k] += push * direction[k];
        }
    }
}

// -- without contacts

// x := m^-1 x, m symmetric and positive definite.
static void solve_symmetric(const double m[3][3], double x[3])
{
    double l10 = m[1][0] / m[0][0], l20 = m[2][0] / m[0][0];
    double d1 = m[1][1] - l10 * m[1][0], c = m[2][1] - l20 * m[1][0], l21 = c / d1;
    double d2 = (m[2][2] - l20 * m[2][0]) - l21 * c;
    double y1 = x[1] - l10 * x[0], y2 = (x[2] - l20 * x[0]) - l21 * y1;
    x[2] = y2 / d2;
    x[1] = y1 / d1 - l21 * x[2];
    x[0] = (x[0] / m[0][0] - l10 * x[1]) - l20 * x[2];
}

static void put_pose(foliot_world *world, uint32_t slot, const foliot__pose *pose)
{
    foliot__v3 x = foliot__position(world);
    x.x[slot] = pose->x[0];
    x.y[slot] = pose->x[1];
    x.z[slot] = pose->x[2];
    if (!world->rotates)
        return;
    foliot__orientation_w(world)[slot] = pose->q[0];
    foliot__orientation_x(world)[slot] = pose->q[1];
    foliot__orientation_y(world)[slot] = pose->q[2];
    foliot__orientation_z(world)[slot] = pose->q[3];
}

static void put_velocity(foliot_world *world, uint32_t slot, const double in[6])
{
    foliot__v3 v = foliot__velocity(world), w = foliot__angular_velocity(world);
    v.x[slot] = in[0];
    v.y[slot] = in[1];
    v.z[slot] = in[2];
    if (world->rotates && foliot__inverse_inertia_x(world)[slot] > 0) {
        w.x[slot] = in[3];
        w.y[slot] = in[4];
        w.z[slot] = in[5];
    }
    foliot__velocity_changed(world, slot);
}

// Moves a body by the solution. Rotation changes its angular momentum, because its moments of
// inertia rotate with it. Returns twice the kinetic energy that the scheme left it with.
static double move_body(foliot_world *world, foliot__joint_body *body, double h, bool rough)
{
    double velocity[6], spin[3], gained[3];
    foliot__pose pose = foliot__pose_of(world, body->slot);
    get_velocity(world, body->slot, velocity);
    foliot__mat3_apply((const double(*)[3])body->inertia, body->moved + 3, gained);
    foliot__joint_body_set_mass(world, body, &pose);
    foliot__mat3_apply((const double(*)[3])body->inertia, velocity + 3, spin);
    double energy2 =
        body->mass * foliot__vec3_dot(velocity, velocity) + foliot__vec3_dot(velocity + 3, spin);
    foliot__pose_move(&pose, body->moved, h);
    if (body->free)
        foliot__joint_body_rotate(world, body, h, pose.q);
    foliot__joint_body_set_mass(world, body, &pose);
    for (int k = 0; k < 3; k++) {
        velocity[k] += body->moved[k];
        velocity[3 + k] = spin[k] + gained[k];
    }
    solve_symmetric((const double(*)[3])body->inertia, velocity + 3);
    if (rough)
        memcpy(velocity, body->taken, sizeof velocity);
    get_velocity(world, body->slot, body->taken);
    put_pose(world, body->slot, &pose);
    put_velocity(world, body->slot, velocity);
    return energy2;
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
        if (!island->damped)
            solve_first(j, world, island, h);
        else
            foliot__island_solve(j, island, h);
        island->damped = true;
        add_change(j, island);
        worst = foliot__island_target_positions(j, world, island, h);
    }
    island->rough = !(worst <= ROUGH);
    if (!island->rough)
        return;
    for (uint32_t i = 0; i < island->bodies; i++)
        j->bodies[island->body + i].free = false;
    clear_impulses(j, island);
    clear_friction(j, island);
    for (uint32_t i = 0; i < island->bodies; i++)
        memcpy(j->bodies[island->body + i].moved, j->bodies[island->body + i].taken,
               sizeof j->bodies->moved);
    foliot__island_solve_fallback(j, world, island, h);
    clear_impulses(j, island);
}

// Twice the kinetic energy of the island.
static double twice_kinetic_energy(const foliot__joints *j, const foliot_world *world,
                                   const foliot__island *island)
{
    double sum = 0;
    for (uint32_t i = 0; i < island->bodies; i++) {
        const foliot__joint_body *body = &j->bodies[island->body + i];
        double v[6], spin[3];
        get_velocity(world, body->slot, v);
        foliot__mat3_apply((const double(*)[3])body->inertia, v + 3, spin);
        sum += body->mass * foliot__vec3_dot(v, v) + foliot__vec3_dot(v + 3, spin);
    }
    return sum;
}

// The rotation of the scheme will be replaced by one from the substep's start.
static void set_free(const foliot_world *world, foliot__joint_body *body)
{
    double v[6], spin[3];
    foliot__pose pose = foliot__pose_of(world, body->slot);
    body->free = world->rotates && foliot__inverse_inertia_x(world)[body->slot] > 0;
    if (!body->free)
        return;
    foliot__joint_body now = *body;
    foliot__joint_body_set_mass(world, &now, &pose);
    get_velocity(world, body->slot, v);
    foliot__mat3_apply((const double(*)[3])now.inertia, v + 3, spin);
    for (int k = 0; k < 3; k++)
        body->spin[k] = body->spin[k] + (spin[k] - body->spin[k]) / 2;
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
        if (j->joints[island->joint + i].strength > 0)
            return true;
    return false;
}

static void step_island(foliot__joints *j, foliot_world *world, foliot__island *island, double h)
{
    double before = 0;
    for (uint32_t i = 0; i < island->bodies; i++)
        set_free(world, &j->bodies[island->body + i]);
    find_positions(j, world, island, h);
    for (uint32_t i = 0; i < island->bodies; i++)
        before += move_body(world, &j->bodies[island->body + i], h, island->rough);
    clear_friction(j, island);
    foliot__island_linearise(j, world, island, 0);
    find_velocities(j, world, island, h);
    if (has_motor(j, island) || twice_kinetic_energy(j, world, island) <= before * (1 + GAIN_MAX))
        return;
    // Joints do no work. Removing the velocities that violate the joints never adds energy.
    for (uint32_t i = 0; i < island->bodies; i++)
        put_velocity(world, j->bodies[island->body + i].slot, j->bodies[island->body + i].taken);
    find_velocities(j, world, island, h);
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

static bool is_touched(const foliot__joints *j, const foliot__island *island,
                       const uint64_t *touched)
{
    for (uint32_t i = 0; i < island->bodies; i++)
        if (touched[j->bodies[island->body + i].slot])
            return true;
    return false;
}

void foliot__joints_remember_smooth(const foliot_world *world, const foliot__solver_body *bodies,
                                    const uint64_t *touched)
{
    if (!foliot__has_joints(world))
        return;
    foliot__joints j = foliot__joints_of(world);
    for (uint32_t i = 0; i < j.table.counts[FOLIOT__JOINTS_ISLANDS]; i++)
        j.islands[i].touches = is_touched(&j, &j.islands[i], touched);
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
static void take_velocity_without_joints(foliot__joints *j, const foliot__solver_body *bodies,
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
            bool ends = r >= joint->rows + joint->bounded;
            double push = ends ? 0 : joint->impulse_sum[r];
            if (r >= joint->rows && joint->friction > 0)
                push += joint->friction_sum[r];
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
        double *in = body->impulse_in;
        solve_symmetric((const double(*)[3])body->inertia, in + 3);
        for (int k = 0; k < 3; k++) {
            body->taken[k] -= in[k] / body->mass;
            body->taken[3 + k] -= in[3 + k];
        }
        memset(in, 0, sizeof body->impulse_in);
    }
}

// Linearises again after the positions have moved.
static void begin_velocities(const foliot_world *world, foliot__solver_body *bodies,
                             foliot__joints *j, foliot__island *island)
{
    static const double none[6];
    if (!island->rough)
        take_velocity_without_joints(j, bodies, island);
    clear_friction(j, island);
    for (uint32_t k = 0; k < island->bodies && island->rough; k++)
        write_body(bodies, j->bodies[island->body + k].slot, j->bodies[island->body + k].taken,
                   none);
    foliot__island_linearise(j, world, island, 0);
    island->unchecked = !island->rough && !has_motor(j, island);
}

static double twice_energy_of(const foliot__joint_body *body, const double v[6])
{
    double spin[3];
    foliot__mat3_apply((const double(*)[3])body->inertia, v + 3, spin);
    return body->mass * foliot__vec3_dot(v, v) + foliot__vec3_dot(v + 3, spin);
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
    if (!j->table.counts[FOLIOT__JOINTS_RELAXING])
        begin_velocities(world, bodies, j, island);
    double before = 0, after = 0, v[6];
    for (uint32_t i = 0; i < island->bodies; i++)
        read_body(bodies, j->bodies[island->body + i].slot, j->bodies[island->body + i].smooth);
    project_velocities(world, j, island, h);
    for (uint32_t i = 0; i < island->bodies && island->unchecked; i++) {
        const foliot__joint_body *body = &j->bodies[island->body + i];
        for (int k = 0; k < 6; k++)
            v[k] = body->smooth[k] + body->change[k];
        after += twice_energy_of(body, v);
        before += twice_energy_of(body, body->taken);
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
    sum_tick_impulses(&j, step->dt);
    if (!step->last)
        return;
    double duration = step->dt * world->substeps;
    for (uint32_t i = 0; i < j.table.counts[FOLIOT__JOINTS_COUNT]; i++) {
        foliot__joint *joint = &j.joints[i];
        const foliot_constraint_definition *d = &foliot__constraint(world)[joint->index];
        foliot__joint_end_angle(world, joint);
        double force = foliot__vec3_length(joint->force) / duration,
               torque = foliot__vec3_length(joint->torque) / duration;
        bool torn = force > d->break_force, twisted = torque > d->break_torque;
        foliot__constraint_force(world)[joint->index] = twisted && !torn ? torque : force;
        if (!torn && !twisted)
            continue;
        foliot__constraint_break(world, joint->index,
                                 torn ? FOLIOT_BREAK_FORCE : FOLIOT_BREAK_TORQUE);
        foliot__joints_changed(world);
    }
}
