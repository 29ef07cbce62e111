// SPDX-License-Identifier: MIT
// fast_joints.c: the part of fast joints in a substep of the contact solver (joint/joint_block.h).
// Their geometry is that of the substep's start in the soft phase and that of its end in the
// relaxing phase, as RATTLE has it. Their impulses move positions in full under every scheme.
#include "sim/solver/solver_kernel.h"

// -- blocks

static const foliot__joint_kernel *joint_kernel(void)
{
    return FOLIOT__KERNEL_OF_CPU(&foliot__joints);
}

// Enqueues `part` on all blocks of fast joints, colour after colour.
static void plan_joints(foliot__joint_solver *solver, foliot__loop_body *part)
{
    const uint32_t *first = solver->joints.colour_begin;
    foliot__workers *workers = solver->s->workers;
    uint32_t count = solver->joints.count;
    if (count == 0)
        return;
    if (!workers || workers->helpers == 0) {
        part(solver, 0, count);
        return;
    }
    for (uint32_t colour = 0; colour < FOLIOT__JOINT_COLOURS; colour++)
        foliot__parallel_enqueue(workers, first[colour], first[colour + 1], FOLIOT__GRAIN_BLOCKS,
                                 part, solver);
    if (count > first[FOLIOT__JOINT_COLOURS])
        foliot__parallel_enqueue(workers, first[FOLIOT__JOINT_COLOURS], count,
                                 count - first[FOLIOT__JOINT_COLOURS], part, solver);
}

// -- bodies that have unequal moments. Their inertia turns with them, and their
// angular momentum does not: without that, a spinning body would gain energy at a joint.

static bool has_unequal_moments(const foliot__joint_solver *fast, uint32_t i)
{
    if (fast->joints.taken[i] == 0 || !(fast->s->masses[i].inverse_mass > 0))
        return false;
    foliot__v3 inverse = foliot__inverse_inertia(fast->s->world);
    return inverse.x[i] != inverse.y[i] || inverse.y[i] != inverse.z[i];
}

// The moments of which foliot__solver_inverse_moments has the inverse.
static vec3 moments_of(const foliot_world *world, uint32_t i)
{
    vec3 own = foliot__v3_get(foliot__inertia(world), i),
         inverse = foliot__v3_get(foliot__inverse_inertia(world), i),
         used = foliot__solver_inverse_moments(world, i);
    return (vec3){used.x < inverse.x ? 1 / used.x : own.x, used.y < inverse.y ? 1 / used.y : own.y,
                  used.z < inverse.z ? 1 / used.z : own.z};
}

// A vector in world axes times the moments in the axes of q.
static vec3 times_moments(quat q, vec3 moment, vec3 v)
{
    return quat_rotate(q, vec3_multiply(moment, quat_rotate(quat_conjugate(q), v)));
}

static void set_start_inertias(void *context, uint32_t begin, uint32_t end)
{
    const foliot__joint_solver *fast = context;
    const foliot__solver *s = fast->s;
    double *const *start = s->ccd.collider.paths.start_orientation;
    for (uint32_t i = begin; i < end; i++)
        if (has_unequal_moments(fast, i))
            foliot__solver_set_inertia(s->world, i,
                                       (quat){start[0][i], start[1][i], start[2][i], start[3][i]},
                                       &s->masses[i]);
}

static void remember_spins(void *context, uint32_t begin, uint32_t end)
{
    const foliot__joint_solver *fast = context;
    const foliot_world *world = fast->s->world;
    for (uint32_t i = begin; i < end; i++)
        if (has_unequal_moments(fast, i))
            fast->joints.spin[i] =
                times_moments(foliot__quat_get(world, i), moments_of(world, i),
                              foliot__v3_get(foliot__angular_velocity(world), i));
}

// After the bodies were moved. The impulses were given at the inertia of the substep's start.
static void turn_inertias(void *context, uint32_t begin, uint32_t end)
{
    const foliot__joint_solver *fast = context;
    const foliot__solver *s = fast->s;
    const foliot_world *world = s->world;
    double *const *start = s->ccd.collider.paths.start_orientation;
    for (uint32_t i = begin; i < end; i++) {
        if (!has_unequal_moments(fast, i))
            continue;
        quat q = foliot__quat_get(world, i),
             before = {start[0][i], start[1][i], start[2][i], start[3][i]};
        vec3 inverse = foliot__solver_inverse_moments(world, i);
        vec3 w = times_moments(q, inverse, fast->joints.spin[i]);
        float(*given)[8] = s->given[i / 8].row, (*begun)[8] = s->begun[i / 8].row;
        vec3 pushed = {(double)given[3][i % 8], (double)given[4][i % 8], (double)given[5][i % 8]};
        pushed = times_moments(before, moments_of(world, i), pushed);
        double own[3], all[3];
        vec3_store(w, own);
        vec3_store(times_moments(q, inverse, pushed), all);
        foliot__v3_put(foliot__angular_velocity(world), i, w);
        for (int k = 0; k < 3; k++) {
            given[3 + k][i % 8] = (float)all[k];
            s->bodies[i].w[k] = begun[3 + k][i % 8] = (float)own[k] + (float)all[k];
        }
        foliot__solver_set_inertia(world, i, q, &s->masses[i]);
    }
}

static void run_on_bodies(foliot__joint_solver *fast, foliot__loop_body *part)
{
    foliot__parallel_run(fast->s->workers, 0, fast->s->step->count, FOLIOT__GRAIN_BODIES, part,
                         fast);
}

static void prepare_joints(foliot__joint_solver *solver, foliot__v3 x, double *const q[4])
{
    foliot__joint_geometry g = {solver, x, {q[0], q[1], q[2], q[3]}};
    foliot__parallel_run(solver->s->workers, 0, solver->joints.count, FOLIOT__GRAIN_BLOCKS,
                         joint_kernel()->prepare, &g);
}

void foliot__fast_joints_begin(foliot__joint_solver *fast)
{
    const foliot__collider *c = &fast->s->ccd.collider;
    if (fast->joints.count == 0)
        return;
    if (fast->s->counts->found_now)
        run_on_bodies(fast, set_start_inertias);
    run_on_bodies(fast, remember_spins);
    if (fast->s->step->index == 0) // later, the last one has left them
        prepare_joints(fast, c->paths.start, c->paths.start_orientation);
}

void foliot__fast_joints_warm(foliot__joint_solver *fast)
{
    plan_joints(fast, joint_kernel()->warm);
}

void foliot__fast_joints_iterate(foliot__joint_solver *fast, const foliot__phase *phase)
{
    fast->phase = phase;
    plan_joints(fast, joint_kernel()->iterate);
}

void foliot__fast_joints_move(foliot__joint_solver *fast)
{
    foliot_world *world = fast->s->world;
    if (fast->joints.count == 0)
        return;
    run_on_bodies(fast, turn_inertias);
    double *const q[4] = {foliot__orientation_w(world), foliot__orientation_x(world),
                          foliot__orientation_y(world), foliot__orientation_z(world)};
    prepare_joints(fast, foliot__position(world), q);
    foliot__joint_limits_measure(world, fast->s->step->dt);
}
