// SPDX-License-Identifier: MIT
// verlet.c: Stoermer-Verlet, in which two positions make the third, and its form for a changing dt.
//
// The state is x(t) and `previous` = x(t - dt). The velocity u = (x - previous) / dt of the step
// before is kicked by everything at x, and x moves with it:
//
//     x(t + dt) = x + dt (u + a dt)                       = 2 x - previous + a dt^2, and with drag
//     b x(t + dt) = (2 x - previous (1 - b dt/2) + a dt^2) / (1 + b dt/2),
//
// which is the implicit midpoint rule for u (the Cayley kick), so that all forces that depend on
// velocity see the central difference. The reported velocity is that difference, (x(t + dt) - x(t -
// dt)) / 2 dt, at the tick it is reported with: the step ends by looking one kick ahead with the
// acceleration that the next step begins with, and a player's push as it was in this one.
//
// A body without FOLIOT_BODY_STARTED (new, or its velocity was changed by a contact or a clamp)
// starts from its velocity by Taylor's formula, which keeps order 2; tick 0 may start by the
// classic Runge-Kutta rule. Whoever moves a position and leaves `previous` changes the velocity by
// as much, as Jakobsen wants it.
#include "sim/integrator/scheme.h"

#include "sim/state/state.h"
#include "sim/state/lanes.h"

// Scratch vectors: velocities of the step before, of this one, of the next; and five for the start.
enum { BEFORE, MEAN, AHEAD, RK4 };

static bool is_moving(const foliot_world *world, uint32_t i)
{
    return foliot__inverse_mass(world)[i] > 0;
}

static bool has_started(const foliot_world *world, uint32_t i)
{
    return (foliot__flags(world)[i] & FOLIOT_BODY_STARTED) != 0;
}

static bool all_started(const foliot__step *step)
{
    for (uint32_t i = 0; i < step->count; i++)
        if (is_moving(step->world, i) && !has_started(step->world, i))
            return false;
    return true;
}

// Bodies that have no `previous`: the u from which a kick by `duration` makes v + a dt / 2.
static void start_by_taylor(const foliot__step *step, double duration, foliot__v3 u)
{
    foliot_world *world = step->world;
    foliot__v3 x = foliot__position(world), v = foliot__velocity(world);
    foliot__v3 a = foliot__scratch_vector(world, AHEAD);
    foliot__copy(a, foliot__acceleration_now(step, step->time), foliot__lanes(world));
    foliot__force_add_applied(step, a);
    foliot__force_add_velocity_part(step, x, v, step->time, a);
    double back = duration - step->dt / 2;
    for (uint32_t i = 0; i < step->count; i++) {
        if (!is_moving(world, i) || has_started(world, i))
            continue;
        u.x[i] = v.x[i] - back * a.x[i];
        u.y[i] = v.y[i] - back * a.y[i];
        u.z[i] = v.z[i] - back * a.z[i];
    }
}

// The same bodies, once u is kicked: the classic rule's mean velocity instead.
static void start_by_rk4(const foliot__step *step, foliot__v3 u)
{
    foliot_world *world = step->world;
    foliot__v3 dx, dv;
    foliot__rk4_slopes(step, RK4, &dx, &dv);
    for (uint32_t i = 0; i < step->count; i++) {
        if (!is_moving(world, i) || has_started(world, i))
            continue;
        u.x[i] = dx.x[i] / 6;
        u.y[i] = dx.y[i] / 6;
        u.z[i] = dx.z[i] / 6;
    }
}

// x += the displacement of the step before, scaled to this dt, and what the kick from u0 to u adds.
// Not dt u: dividing a displacement by dt and multiplying it again rounds with a bias, which at dt
// = 0.1 loses 4e-12 of an oscillator's energy in 1e5 steps; this keeps it to 1e-13.
static void move_positions(const foliot__step *step, double dt_before, foliot__v3 u0, foliot__v3 u)
{
    foliot_world *world = step->world;
    const double dt = step->dt, ratio = dt / dt_before;
    const uint32_t *flags = foliot__flags(world);
    double *const x[3] = {foliot__position(world).x, foliot__position(world).y,
                          foliot__position(world).z};
    double *const p[3] = {foliot__previous(world).x, foliot__previous(world).y,
                          foliot__previous(world).z};
    const double *const from[3] = {u0.x, u0.y, u0.z}, *const to[3] = {u.x, u.y, u.z};
    for (int k = 0; k < 3; k++)
        for (uint32_t i = 0; i < step->count; i++) {
            double before =
                flags[i] & FOLIOT_BODY_STARTED ? (x[k][i] - p[k][i]) * ratio : dt * from[k][i];
            double by = before + dt * (to[k][i] - from[k][i]);
            p[k][i] = x[k][i];
            x[k][i] += by;
        }
    for (uint32_t i = 0; i < step->count; i++)
        if (is_moving(world, i))
            foliot__flags(world)[i] |= FOLIOT_BODY_STARTED;
    world->acceleration_valid = 0;
}

static void kick_velocity(const foliot__step *step, foliot__v3 u, double time, double duration)
{
    foliot__v3 a = foliot__acceleration_now(step, time);
    foliot__force_kick(step, foliot__position(step->world), u, a, time, duration,
                       FOLIOT__KICK_CAYLEY);
}

// v := the mean of the velocities before and after the place where the body is.
static void report_velocity(const foliot__step *step, foliot__v3 u)
{
    foliot_world *world = step->world;
    uint32_t rows = foliot__lanes(world);
    foliot__v3 v = foliot__velocity(world), next = foliot__scratch_vector(world, AHEAD);
    foliot__copy(next, u, rows);
    kick_velocity(step, next, step->time_end, step->dt);
    FOLIOT__FOR_LANES (rows, i) {
        v.x[i] = (u.x[i] + next.x[i]) / 2;
        v.y[i] = (u.y[i] + next.y[i]) / 2;
        v.z[i] = (u.z[i] + next.z[i]) / 2;
    }
}

// `duration`: how long the forces at x act, between the middles of the step before and of this one.
static void advance_verlet(const foliot__step *step, double dt_before, double duration)
{
    foliot_world *world = step->world;
    foliot__v3 u = foliot__scratch_vector(world, MEAN), u0 = foliot__scratch_vector(world, BEFORE);
    bool all = all_started(step);
    // u := (x - previous) / dt_before; bodies that do not move have none.
    foliot__v3 x = foliot__position(world), p = foliot__previous(world);
    const double *inverse_mass = foliot__inverse_mass(world);
    uint32_t rows = foliot__lanes(world);
    FOLIOT__FOR_LANES (rows, i) {
        u.x[i] = inverse_mass[i] > 0 ? (x.x[i] - p.x[i]) / dt_before : 0;
        u.y[i] = inverse_mass[i] > 0 ? (x.y[i] - p.y[i]) / dt_before : 0;
        u.z[i] = inverse_mass[i] > 0 ? (x.z[i] - p.z[i]) / dt_before : 0;
    }
    // Dampers see kinematic bodies move.
    foliot__v3 v = foliot__velocity(world);
    for (uint32_t i = 0; world->counts.kinematic > 0 && i < step->count; i++)
        if (foliot__is_kinematic(world, i)) {
            u.x[i] = v.x[i];
            u.y[i] = v.y[i];
            u.z[i] = v.z[i];
        }
    if (!all)
        start_by_taylor(step, duration, u);
    foliot__copy(u0, u, foliot__lanes(world));
    kick_velocity(step, u, step->time, duration);
    if (!all && world->scheme.start == 1 && world->tick == 0)
        start_by_rk4(step, u);
    move_positions(step, dt_before, u0, u);
    report_velocity(step, u);
}

void foliot__advance_verlet(const foliot__step *step)
{
    advance_verlet(step, step->dt, step->dt);
}

// x + (x - previous) (dt / dt_before) + a dt (dt + dt_before) / 2, or with a dt^2 as many write it,
// which is of order 1 where dt changes. The same bits as verlet where it does not.
void foliot__advance_time_corrected_verlet(const foliot__step *step)
{
    foliot_world *world = step->world;
    double dt_before = world->lab.dt > 0 ? world->lab.dt : step->dt;
    double duration = world->scheme.form == 1 ? step->dt : (step->dt + dt_before) / 2;
    advance_verlet(step, dt_before, duration);
    world->lab.dt = step->dt;
}
