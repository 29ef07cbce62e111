// SPDX-License-Identifier: MIT
// integrator_claims.c: claims about integrators, measured. docs/explanation/integrators.md
// quotes these figures. Not a matter of speed: a bench because it prints figures, and the same ones
// on every machine but for the last digits.
//
//     integrator_claims            what the literature gets wrong, and the kinematic schemes at one
//     stiffness and dt integrator_claims kinematic  these on two springs, over stiffness, dt and
//     time
#include "../support/bench.h"
#include "../support/problems.h"
#include "status.h"
#include "slots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BENCH "integrator_claims"
#define HOURS (3 * 3600.0)

static void figure(const char *name, double value, const char *unit)
{
    bench_report(BENCH, name, value, unit, NULL, 0);
}

// -- an oscillator, by any scheme

typedef struct state {
    double x, v;
} state;

static state state_of(const foliot_world *world)
{
    foliot_body_state body = slot_state(world, 0);
    return (state){body.position[0], body.velocity[0]};
}

// A body of mass 1 on `springs` springs of stiffness k each.
static foliot_world *oscillator(foliot_integrator id, double dt, double k, int springs, state from)
{
    static problem p; // large
    problem_body(&p, id, dt);
    p.bodies[0].position[0] = from.x;
    p.bodies[0].velocity[0] = from.v;
    for (int i = 0; i < springs; i++) {
        foliot_force_definition *spring = problem_force(&p, FOLIOT_FORCE_SPRING);
        spring->a = 0;
        spring->as.spring.stiffness = k;
    }
    return problem_world(&p);
}

static void steps(foliot_world *world, uint64_t count)
{
    for (uint64_t n = 0; n < count; n++)
        demand(foliot_world_step(world, NULL, 0, NULL));
}

// Determinant of one step on the oscillator of w = 1, less 1: what it does to phase space, and to
// energy.
static double growth(foliot_integrator id, double theta)
{
    state column[2];
    for (int j = 0; j < 2; j++) {
        foliot_world *world = oscillator(id, theta, 1, 1, (state){j == 0, j == 1});
        steps(world, 1);
        column[j] = state_of(world);
        foliot_world_destroy(world);
    }
    return column[0].x * column[1].v - column[1].x * column[0].v - 1;
}

// x(2) for x(0) = 1, v(0) = 0.3, w = 1, and its error. `careless` starts Verlet from x(-dt) = x - v
// dt.
static double error_of(foliot_integrator id, int count, bool careless)
{
    double dt = 2.0 / count;
    state from = {1, 0.3};
    if (careless)
        from.v += 0.5 * dt; // takes the first step's a dt^2 / 2 away: a = -1
    foliot_world *world = oscillator(id, dt, 1, 1, from);
    steps(world, (uint64_t)count);
    state to = state_of(world);
    foliot_world_destroy(world);
    return to.x - (cos(2) + 0.3 * sin(2));
}

static double order_of(foliot_integrator id, bool careless)
{
    return log2(error_of(id, 500, careless) / error_of(id, 1000, careless));
}

// -- what the literature gets wrong

// Velocity out of Verlet's positions: central over 2 dt, or backward over dt. Its error at t = 2.
static double difference_error(int count, bool central)
{
    double dt = 2.0 / count, before[2] = {1, 1};
    foliot_world *world = oscillator(FOLIOT_INTEGRATOR_VERLET, dt, 1, 1, (state){1, 0.3});
    for (int n = 0; n < count; n++) {
        before[0] = before[1];
        before[1] = state_of(world).x;
        steps(world, 1);
    }
    double now = state_of(world).x, backward = (now - before[1]) / dt;
    steps(world, 1);
    double both = (state_of(world).x - before[1]) / (2 * dt);
    foliot_world_destroy(world);
    return (central ? both : backward) - (-sin(2) + 0.3 * cos(2));
}

// The error of time-corrected Verlet at t = 2 where dt alternates between 1.5 and 0.5 of its mean.
static double uneven_error(int count, uint32_t form)
{
    double dt = 2.0 / count;
    static problem p;
    problem_oscillator(&p, FOLIOT_INTEGRATOR_TIME_CORRECTED_VERLET, dt, 1, 1);
    p.bodies[0].velocity[0] = 0.3;
    p.scene.form = form;
    foliot_world *world = problem_world(&p);
    for (int n = 0; n < count; n++)
        demand(foliot_world_step_dt(world, n % 2 == 0 ? 1.5 * dt : 0.5 * dt, NULL));
    double x = state_of(world).x;
    foliot_world_destroy(world);
    return x - (cos(2) + 0.3 * sin(2));
}

// One step on w = 1 of a scheme that averages accelerations into v', and moves by
//   AVERAGED  the average of the predicted and the corrected position x + dt v',
//   HALVED    dt (v + v') / 2.
typedef enum correction { AVERAGED, HALVED } correction;

static state corrected_step(correction rule, double dt, state s)
{
    double predicted = s.x + dt * s.v - 0.5 * dt * dt * s.x;
    double v = s.v - 0.5 * dt * (s.x + predicted);
    double corrected = s.x + dt * v;
    double x = rule == AVERAGED ? 0.5 * (predicted + corrected) : s.x + 0.5 * dt * (s.v + v);
    return (state){x, v};
}

static double corrected_growth(correction rule, double dt)
{
    state a = corrected_step(rule, dt, (state){1, 0}), b = corrected_step(rule, dt, (state){0, 1});
    return a.x * b.v - b.x * a.v - 1;
}

static double corrected_order(correction rule)
{
    double error[2];
    for (int fine = 0; fine < 2; fine++) {
        int count = fine ? 1000 : 500;
        state s = {1, 0.3};
        for (int n = 0; n < count; n++)
            s = corrected_step(rule, 2.0 / count, s);
        error[fine] = s.x - (cos(2) + 0.3 * sin(2));
    }
    return log2(error[0] / error[1]);
}

// The largest error in energy, relative, of a scheme on w = 1 at dt = 0.1 in steps [begin, end).
static double energy_error(foliot_integrator id, int begin, int end)
{
    foliot_world *world = oscillator(id, 0.1, 1, 1, (state){1, 0});
    double worst = 0;
    for (int n = 0; n < end; n++) {
        steps(world, 1);
        state s = state_of(world);
        if (n >= begin)
            worst = fmax(worst, fabs(s.x * s.x + s.v * s.v - 1));
    }
    foliot_world_destroy(world);
    return worst;
}

// A double pendulum on springs of length 1 that the step does not resolve, 60 Hz, gravity, let go
// level with 0 J.
typedef struct stiff {
    double highest, last; // energy
    uint64_t failures;    // of the solver
} stiff;

static stiff stiff_pendulum(foliot_integrator id, double k, double seconds)
{
    static problem p;
    problem_body(&p, id, 1.0 / 60);
    p.scene.gravity[2] = -9.81;
    p.bodies[1] = p.bodies[0];
    p.scene.body_count = 2;
    p.bodies[0].position[0] = 1;
    p.bodies[1].position[0] = 2;
    for (uint32_t i = 0; i < 2; i++) {
        foliot_force_definition *spring = problem_force(&p, FOLIOT_FORCE_SPRING);
        spring->a = i;
        spring->b = i == 1 ? 0 : FOLIOT_NO_BODY;
        spring->as.spring.stiffness = k;
        spring->as.spring.length = 1;
    }
    foliot_world *world = problem_world(&p);
    stiff r = {0};
    for (uint64_t n = 0; n < (uint64_t)(seconds * 60); n++) {
        steps(world, 1);
        r.last = problem_energy(&p, world);
        r.highest = fmax(r.highest, r.last);
    }
    r.failures = foliot_world_get_counters(world)->solver_failures;
    foliot_world_destroy(world);
    return r;
}

static void stiff_claims(void)
{
    static const double stiffness[] = {1e3, 1e4, 1e5, 1e6, 1e7};
    static const foliot_integrator ids[] = {FOLIOT_INTEGRATOR_IMPLICIT_EULER,
                                            FOLIOT_INTEGRATOR_IMPLICIT_MIDPOINT};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 5; k++) {
            char name[96];
            stiff r = stiff_pendulum(ids[i], stiffness[k], 60);
            const char *scheme = foliot_integrator_get_info(ids[i])->name;
            snprintf(name, sizeof name, "%s k=%g, energy after 60 s", scheme, stiffness[k]);
            figure(name, r.last, "J");
            snprintf(name, sizeof name, "%s k=%g, highest energy in 60 s", scheme, stiffness[k]);
            figure(name, r.highest, "J");
            snprintf(name, sizeof name, "%s k=%g, failures in 60 s", scheme, stiffness[k]);
            figure(name, (double)r.failures, "of 3600 steps");
        }
}

static void claims(void)
{
    double theta = 0.01, theta2 = theta * theta;
    figure("semi-implicit-euler order", order_of(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER, false),
           "order");
    figure("improved-euler order", order_of(FOLIOT_INTEGRATOR_IMPROVED_EULER, false), "order");
    figure("improved-euler growth/theta^2",
           growth(FOLIOT_INTEGRATOR_IMPROVED_EULER, theta) / theta2, "a step");
    figure("velocity-verlet order", order_of(FOLIOT_INTEGRATOR_VELOCITY_VERLET, false), "order");
    figure("velocity-verlet growth/theta^2",
           growth(FOLIOT_INTEGRATOR_VELOCITY_VERLET, theta) / theta2, "a step");
    figure("heun order", order_of(FOLIOT_INTEGRATOR_HEUN, false), "order");
    figure("verlet order", order_of(FOLIOT_INTEGRATOR_VERLET, false), "order");
    figure("verlet order, careless start", order_of(FOLIOT_INTEGRATOR_VERLET, true), "order");
    figure("verlet energy error, steps 0-1e4", energy_error(FOLIOT_INTEGRATOR_VERLET, 0, 10000),
           "relative");
    figure("verlet energy error, steps 9.9e5-1e6",
           energy_error(FOLIOT_INTEGRATOR_VERLET, 990000, 1000000), "relative");
    figure("verlet velocity, central, order",
           log2(difference_error(500, true) / difference_error(1000, true)), "order");
    figure("verlet velocity, backward, order",
           log2(difference_error(500, false) / difference_error(1000, false)), "order");
    figure("time-corrected dt (dt+dt_prev)/2, order",
           log2(uneven_error(500, 0) / uneven_error(1000, 0)), "order");
    figure("time-corrected dt^2, order", log2(uneven_error(500, 1) / uneven_error(1000, 1)),
           "order");
    figure("velocity-verlet-corrected order",
           order_of(FOLIOT_INTEGRATOR_VELOCITY_VERLET_CORRECTED, false), "order");
    figure("velocity-verlet-corrected growth/theta^2",
           growth(FOLIOT_INTEGRATOR_VELOCITY_VERLET_CORRECTED, theta) / theta2, "a step");
    figure("position averaged, order", corrected_order(AVERAGED), "order");
    figure("position averaged, growth/theta^2", corrected_growth(AVERAGED, theta) / theta2,
           "a step");
    figure("position halved, order", corrected_order(HALVED), "order");
    figure("position halved, growth/theta^4", corrected_growth(HALVED, 0.1) / 1e-4, "a step");
    stiff_claims();
}

// -- the kinematic schemes

typedef struct run {
    double error;  // largest distance from the exact position
    double energy; // at the end, as a share of the energy at the start
} run;

static run two_springs(foliot_integrator id, double k, double rate, double seconds, double v)
{
    foliot_world *world = oscillator(id, 1 / rate, k, 2, (state){1, v});
    double w = sqrt(2 * k);
    uint64_t count = (uint64_t)(seconds * rate + 0.5);
    run r = {0};
    for (uint64_t n = 1; n <= count; n++) {
        double phase = w * (double)n / rate;
        steps(world, 1);
        r.error = fmax(r.error, fabs(state_of(world).x - (cos(phase) + v / w * sin(phase))));
    }
    state s = state_of(world);
    r.energy = (s.x * s.x + s.v * s.v / (w * w)) / (1 + v * v / (w * w));
    foliot_world_destroy(world);
    return r;
}

// Let go at rest where v is 0, else pushed.
static void compare(const foliot_integrator *ids, int count, double k, double rate, double seconds,
                    double v)
{
    run euler = two_springs(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER, k, rate, seconds, v);
    for (int i = 0; i < count; i++) {
        char name[96];
        run r = two_springs(ids[i], k, rate, seconds, v);
        const char *scheme = foliot_integrator_get_info(ids[i])->name;
        snprintf(name, sizeof name, "k=%g dt=1/%g v=%g %gs %s", k, rate, v, seconds, scheme);
        bench_report(BENCH, name, r.error, "m", "semi-implicit-euler", euler.error);
        if (seconds == HOURS) {
            snprintf(name, sizeof name, "k=%g dt=1/%g energy left %s", k, rate, scheme);
            figure(name, r.energy, "of its start");
        }
    }
}

static const foliot_integrator compared[] = {
    FOLIOT_INTEGRATOR_KINEMATIC, FOLIOT_INTEGRATOR_KINEMATIC_AVERAGE,
    FOLIOT_INTEGRATOR_KINEMATIC_STRANG, FOLIOT_INTEGRATOR_RK4, FOLIOT_INTEGRATOR_YOSHIDA4};

static void kinematic_in_short(void)
{
    compare(compared, 5, 3.46, 60, 60, 0);
    compare(compared, 3, 3.46, 60, HOURS, 0);
}

static void kinematic_at_length(void)
{
    static const double stiffness[] = {0.1, 1, 3.46, 15, 100, 1000},
                        rates[] = {10, 30, 60, 120, 1000};
    static const double hours_stiffness[] = {1, 3.46, 15};
    for (int k = 0; k < 6; k++)
        for (int r = 0; r < 5; r++) {
            if (!(2 * stiffness[k] <
                  rates[r] * rates[r])) // semi-implicit Euler's limit is twice that
                continue;
            compare(compared, 3, stiffness[k], rates[r], 1, 0);
            compare(compared, 5, stiffness[k], rates[r], 60, 0);
            compare(compared, 3, stiffness[k], rates[r], 60, 1);
        }
    for (int k = 0; k < 3; k++)
        for (int r = 1; r < 4; r++)
            compare(compared, 3, hours_stiffness[k], rates[r], HOURS, 0);
}

int main(int count, char **arguments)
{
    if (count > 1 && strcmp(arguments[1], "kinematic") == 0) {
        kinematic_at_length();
        return 0;
    }
    claims();
    kinematic_in_short();
    return 0;
}
