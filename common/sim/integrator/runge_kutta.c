// SPDX-License-Identifier: MIT
// runge_kutta.c: the schemes that evaluate slopes and add them: Euler's, the two of second order,
// the classic one, and two predictor-correctors. None is symplectic; they are here to be compared
// and, the classic one apart, to show why others are better. No contacts between stages, no rods.
//
// Slopes are those of everything (foliot__force_total), velocity-dependent forces at the stage's
// velocity.
#include "sim/integrator/scheme.h"

#include "sim/state/lanes.h"

// x and v both with the slopes at t. On the oscillator the energy grows by (w dt)^2 a step.
void foliot__advance_explicit_euler(const foliot__step *step)
{
    foliot_world *world = step->world;
    uint32_t rows = foliot__lanes(world);
    foliot__v3 x = foliot__position(world), v = foliot__velocity(world);
    foliot__v3 a = foliot__scratch_vector(world, 0);
    foliot__force_total(step, x, v, step->time, a);
    foliot__add_scaled(x, v, step->dt, rows);
    foliot__add_scaled(v, a, step->dt, rows);
    world->acceleration_valid = 0;
}

// x += dt (v + v') / 2 with v' = v + dt a: the trapezoid written so that it is exact for constant
// a.
void foliot__advance_improved_euler(const foliot__step *step)
{
    foliot_world *world = step->world;
    uint32_t rows = foliot__lanes(world);
    foliot__v3 x = foliot__position(world), v = foliot__velocity(world);
    foliot__v3 a = foliot__scratch_vector(world, 0);
    foliot__force_total(step, x, v, step->time, a);
    foliot__add_scaled(x, v, step->dt / 2, rows);
    foliot__add_scaled(v, a, step->dt, rows);
    foliot__add_scaled(x, v, step->dt / 2, rows);
    world->acceleration_valid = 0;
}

// Predicts x, takes the mean of a(t) and a(predicted) into v, and moves with that v from where it
// was.
void foliot__advance_velocity_verlet_corrected(const foliot__step *step)
{
    foliot_world *world = step->world;
    uint32_t rows = foliot__lanes(world);
    double dt = step->dt;
    foliot__v3 x = foliot__position(world), v = foliot__velocity(world);
    foliot__v3 a = foliot__scratch_vector(world, 0), later = foliot__scratch_vector(world, 1);
    foliot__v3 x1 = foliot__scratch_vector(world, 2), v1 = foliot__scratch_vector(world, 3);
    foliot__force_total(step, x, v, step->time, a);
    foliot__moved(x1, x, v, dt, rows);
    foliot__add_scaled(x1, a, dt * dt / 2, rows);
    foliot__moved(v1, v, a, dt, rows);
    foliot__force_total(step, x1, v1, step->time_end, later);
    foliot__add_scaled(v, a, dt / 2, rows);
    foliot__add_scaled(v, later, dt / 2, rows);
    foliot__add_scaled(x, v, dt, rows);
    world->acceleration_valid = 0;
}

void foliot__advance_midpoint(const foliot__step *step)
{
    foliot_world *world = step->world;
    uint32_t rows = foliot__lanes(world);
    double half = step->dt / 2;
    foliot__v3 x = foliot__position(world), v = foliot__velocity(world);
    foliot__v3 a = foliot__scratch_vector(world, 0);
    foliot__v3 xm = foliot__scratch_vector(world, 1), vm = foliot__scratch_vector(world, 2);
    foliot__force_total(step, x, v, step->time, a);
    foliot__moved(xm, x, v, half, rows);
    foliot__moved(vm, v, a, half, rows);
    foliot__force_total(step, xm, vm, step->time + half, a);
    foliot__add_scaled(x, vm, step->dt, rows);
    foliot__add_scaled(v, a, step->dt, rows);
    world->acceleration_valid = 0;
}

void foliot__advance_heun(const foliot__step *step)
{
    foliot_world *world = step->world;
    uint32_t rows = foliot__lanes(world);
    double dt = step->dt;
    foliot__v3 x = foliot__position(world), v = foliot__velocity(world);
    foliot__v3 a = foliot__scratch_vector(world, 0), later = foliot__scratch_vector(world, 1);
    foliot__v3 x1 = foliot__scratch_vector(world, 2), v1 = foliot__scratch_vector(world, 3);
    foliot__force_total(step, x, v, step->time, a);
    foliot__moved(x1, x, v, dt, rows);
    foliot__moved(v1, v, a, dt, rows);
    foliot__force_total(step, x1, v1, step->time_end, later);
    foliot__add_scaled(x, v, dt / 2, rows);
    foliot__add_scaled(x, v1, dt / 2, rows);
    foliot__add_scaled(v, a, dt / 2, rows);
    foliot__add_scaled(v, later, dt / 2, rows);
    world->acceleration_valid = 0;
}

void foliot__rk4_slopes(const foliot__step *step, uint32_t scratch, foliot__v3 *dx, foliot__v3 *dv)
{
    static const double ahead[4] = {0.5, 0.5, 1, 0}, weight[4] = {1, 2, 2, 1};
    foliot_world *world = step->world;
    uint32_t rows = foliot__lanes(world);
    foliot__v3 x = foliot__position(world), v = foliot__velocity(world);
    foliot__v3 a = foliot__scratch_vector(world, scratch);
    foliot__v3 xs = foliot__scratch_vector(world, scratch + 1);
    foliot__v3 vs = foliot__scratch_vector(world, scratch + 2);
    *dx = foliot__scratch_vector(world, scratch + 3);
    *dv = foliot__scratch_vector(world, scratch + 4);
    foliot__copy(xs, x, rows);
    foliot__copy(vs, v, rows);
    double time = step->time;
    for (int s = 0; s < 4; s++) {
        foliot__force_total(step, xs, vs, time, a);
        if (s == 0) {
            foliot__copy(*dx, vs, rows);
            foliot__copy(*dv, a, rows);
        } else {
            foliot__add_scaled(*dx, vs, weight[s], rows);
            foliot__add_scaled(*dv, a, weight[s], rows);
        }
        // The next stage starts from t again, along this one's slopes.
        foliot__moved(xs, x, vs, ahead[s] * step->dt, rows);
        foliot__moved(vs, v, a, ahead[s] * step->dt, rows);
        time = s < 2 ? step->time + step->dt / 2 : step->time_end;
    }
}

void foliot__advance_rk4(const foliot__step *step)
{
    foliot_world *world = step->world;
    uint32_t rows = foliot__lanes(world);
    foliot__v3 dx, dv;
    foliot__rk4_slopes(step, 0, &dx, &dv);
    foliot__add_scaled(foliot__position(world), dx, step->dt / 6, rows);
    foliot__add_scaled(foliot__velocity(world), dv, step->dt / 6, rows);
    world->acceleration_valid = 0;
}
