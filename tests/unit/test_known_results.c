// SPDX-License-Identifier: MIT
// test_known_results.c: published and exact results of the integrators on problems of mechanics:
// what the oscillator gains and loses, where the outer planets are after 548 years, how energy
// behaves over a million steps. References: Hairer, Lubich and Wanner, Geometric Numerical
// Integration, and binary128 runs.
#include "check.h"
#include "pace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "problems.h"
#include "slots.h"

static double oscillator_energy(const foliot_world *world, double k)
{
    foliot_body_state b = slot_state(world, 0);
    double x = b.position[0], v = b.velocity[0];
    return (v * v + k * x * x) / 2;
}

// -- the damped oscillator k = 15, b = 0.1, x0 = 1000

TEST(explicit_euler_grows_where_the_damped_oscillator_decays)
{
    problem p;
    problem_damped_oscillator(&p, FOLIOT_INTEGRATOR_EXPLICIT_EULER, 0.01, 15, 0.1, 1000);
    foliot_world *world = problem_world(&p);
    double start = oscillator_energy(world, 15);
    problem_step(&p, world, 9000);
    // 1 + (w dt)^2 - b dt a step, to leading order: (1 + 0.0005)^9000 = 90.
    double grown = oscillator_energy(world, 15) / start;
    foliot_world_destroy(world);
    check_gt(grown, 80);
    check_lt(grown, 100);

    problem_damped_oscillator(&p, FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER, 0.01, 15, 0.1, 1000);
    world = problem_world(&p);
    problem_step(&p, world, 9000);
    double velocity, exact = damped_oscillator_exact(15, 0.1, 1000, 90, &velocity);
    double left = (velocity * velocity + 15 * exact * exact) / 2;
    check_near(oscillator_energy(world, 15) / left, 1, 0.05);
    foliot_world_destroy(world);
}

// -- the oscillator k = 15 over 90 s at dt = 0.25

TEST(energies_of_the_coarse_oscillator)
{
    static const struct {
        foliot_integrator id;
        uint64_t steps;
        double least, most, end; // of the starting energy
    } rows[] = {{FOLIOT_INTEGRATOR_RK4, 360, 0, 1.0000000001, 0.0258},
                {FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER, 1000000, 0.67, 1.94, NAN},
                {FOLIOT_INTEGRATOR_VELOCITY_VERLET, 1000000, 0.765, 1.0000000001, NAN},
                {FOLIOT_INTEGRATOR_VERLET, 1000000, 0.765, 1.0000000001, NAN}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        problem p;
        problem_oscillator(&p, rows[i].id, 0.25, 15, 1000);
        foliot_world *world = problem_world(&p);
        double start = oscillator_energy(world, 15), least = start, most = start;
        for (uint64_t n = 0; n < rows[i].steps; n++) {
            problem_step(&p, world, 1);
            least = fmin(least, oscillator_energy(world, 15));
            most = fmax(most, oscillator_energy(world, 15));
        }
        double end = oscillator_energy(world, 15);
        foliot_world_destroy(world);
        check_gt(least / start, rows[i].least);
        check_lt(most / start, rows[i].most);
        if (isnan(rows[i].end)) {
            // The whole range is visited, so that the bounds are those of the scheme.
            check_below(least / start, rows[i].least * 1.01);
            check_gt(most / start, rows[i].most * 0.99);
        } else {
            check_near(end / start, rows[i].end, 0.00005);
        }
    }
}

// Semi-implicit Euler turns by acos(1 - (w dt)^2 / 2) a step on an ellipse, a little too far each
// time.
static double phase_gained(double dt)
{
    const double k = 15, w = sqrt(k);
    problem p;
    problem_oscillator(&p, FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER, dt, k, 1);
    foliot_world *world = problem_world(&p);
    int count = (int)(90 / dt + 0.5);
    double theta = w * dt, total = 0, last = 0;
    for (int n = 0; n < count; n++) {
        problem_step(&p, world, 1);
        foliot_body_state b = slot_state(world, 0);
        double q = b.position[0], v = b.velocity[0] / w;
        double angle = atan2(-v * sqrt(1 - theta * theta / 4), q - theta * v / 2);
        double turned = angle - last;
        total += turned < 0 ? turned + 2 * M_PI : turned;
        last = angle;
    }
    foliot_world_destroy(world);
    return total - w * 90;
}

TEST(semi_implicit_euler_gains_phase)
{
    check_near(phase_gained(0.1), 2.22, 0.005);
    check_near(phase_gained(0.25), 15.3, 0.05);
    check_near(phase_gained(0.01), 0.0218, 0.0001);
}

// -- discrete invariants of the oscillator, h = 0.1, over 1e5 steps

typedef double invariant(double q, double p, double h);

static double kick_drift(double q, double p, double h)
{
    return p * p + q * q - h * p * q;
}

static double kick_drift_kick(double q, double p, double h)
{
    return p * p + q * q * (1 - h * h / 4);
}

static double drift_kick_drift(double q, double p, double h)
{
    return p * p * (1 - h * h / 4) + q * q;
}

static double worst_deviation(foliot_integrator id, invariant *kept)
{
    const double h = 0.1;
    problem p;
    problem_oscillator(&p, id, h, 1, 1);
    foliot_world *world = problem_world(&p);
    double start = kept(1, 0, h), worst = 0;
    for (int n = 0; n < 100000; n++) {
        problem_step(&p, world, 1);
        foliot_body_state b = slot_state(world, 0);
        worst = fmax(worst, fabs(kept(b.position[0], b.velocity[0], h) - start));
    }
    foliot_world_destroy(world);
    return worst;
}

TEST(discrete_invariants_are_kept)
{
    check_below(worst_deviation(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER, kick_drift), 1e-12);
    check_below(worst_deviation(FOLIOT_INTEGRATOR_VELOCITY_VERLET, kick_drift_kick), 1e-12);
    check_below(worst_deviation(FOLIOT_INTEGRATOR_VERLET, kick_drift_kick), 1e-12);
    check_below(worst_deviation(FOLIOT_INTEGRATOR_LEAPFROG, drift_kick_drift), 1e-12);
    // And they are each scheme's own.
    check_gt(worst_deviation(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER, kick_drift_kick), 1e-3);
}

TEST(verlet_is_a_cosine)
{
    const double h = 0.1, theta = acos(1 - h * h / 2);
    problem p;
    problem_oscillator(&p, FOLIOT_INTEGRATOR_VELOCITY_VERLET, h, 1, 1);
    foliot_world *world = problem_world(&p);
    for (int n = 1; n <= 1000; n++) {
        problem_step(&p, world, 1);
        check_near(slot_state(world, 0).position[0], cos(n * theta), 1e-12);
    }
    foliot_world_destroy(world);
}

// -- orbits

static double planets_off(foliot_integrator id, double dt)
{
    problem p;
    problem_outer_solar_system(&p, id, dt);
    foliot_world *world = problem_world(&p);
    problem_step(&p, world, (uint64_t)(200000 / dt + 0.5));
    double worst = 0;
    for (uint32_t i = 0; i < 6; i++) {
        foliot_body_state b = slot_state(world, i);
        double sum = 0;
        for (int k = 0; k < 3; k++)
            sum += pow(b.position[k] - outer_solar_system_200000[i][k], 2);
        worst = fmax(worst, sqrt(sum));
    }
    foliot_world_destroy(world);
    print_message("%-20s dt = %g: %.1e AU off\n", foliot_integrator_get_info(id)->name, dt, worst);
    return worst;
}

TEST(the_outer_planets_after_200000_days)
{
    check_below(planets_off(FOLIOT_INTEGRATOR_KAHAN_LI8, 50), 1e-9);
    check_below(planets_off(FOLIOT_INTEGRATOR_PEFRL4, 10), 5e-6);
    check_below(planets_off(FOLIOT_INTEGRATOR_LEAPFROG, 10), 0.2);
    check_below(planets_off(FOLIOT_INTEGRATOR_BLANES_MOAN6, 50), 2e-8);
    check_below(planets_off(FOLIOT_INTEGRATOR_YOSHIDA6, 20), 2e-7);
}

static double eight_off(foliot_integrator id, int count)
{
    problem p;
    problem_figure_eight(&p, id, FIGURE_EIGHT_PERIOD / count);
    foliot_world *world = problem_world(&p);
    problem_step(&p, world, (uint64_t)count);
    double worst = 0;
    for (uint32_t i = 0; i < 3; i++) {
        foliot_body_state b = slot_state(world, i);
        for (int k = 0; k < 3; k++)
            worst = fmax(worst, fabs(b.position[k] - p.bodies[i].position[k]));
    }
    foliot_world_destroy(world);
    return worst;
}

TEST(the_figure_eight_closes)
{
    check_below(eight_off(FOLIOT_INTEGRATOR_KAHAN_LI8, 200), 1e-12);
    check_below(eight_off(FOLIOT_INTEGRATOR_BLANES_MOAN6, 400), 2e-12);
    check_below(eight_off(FOLIOT_INTEGRATOR_YOSHIDA6, 1000), 5e-12);
    check_below(eight_off(FOLIOT_INTEGRATOR_PEFRL4, 1000), 5e-9);
    check_below(eight_off(FOLIOT_INTEGRATOR_LEAPFROG, 1000), 5e-4);
}

static double kepler_energy(const foliot_world *world)
{
    foliot_body_state b = slot_state(world, 0);
    double v2 = b.velocity[0] * b.velocity[0] + b.velocity[1] * b.velocity[1];
    return v2 / 2 - 1 / hypot(b.position[0], b.position[1]);
}

// Energy error over 100 turns of the orbit e = 0.3 at 60 steps a unit of time.
static double kepler_energy_error(foliot_integrator id)
{
    problem p;
    problem_kepler(&p, id, 1.0 / 60, 0.3);
    foliot_world *world = problem_world(&p);
    double worst = 0;
    for (int n = 0; n < 37700; n++) {
        problem_step(&p, world, 1);
        worst = fmax(worst, fabs(kepler_energy(world) + 0.5) / 0.5);
    }
    foliot_world_destroy(world);
    print_message("%-20s |dE/E| %.1e\n", foliot_integrator_get_info(id)->name, worst);
    return worst;
}

TEST(keplers_energy_over_100_turns)
{
    check_below(kepler_energy_error(FOLIOT_INTEGRATOR_KAHAN_LI8), 1e-12);
    check_below(kepler_energy_error(FOLIOT_INTEGRATOR_BLANES_MOAN6), 1e-12);
    check_below(kepler_energy_error(FOLIOT_INTEGRATOR_YOSHIDA6), 1e-11);
    check_below(kepler_energy_error(FOLIOT_INTEGRATOR_PEFRL4), 1e-8);
    check_below(kepler_energy_error(FOLIOT_INTEGRATOR_LEAPFROG), 1e-4);
}

// -- a million steps

typedef struct trend {
    double largest;     // |E - E0| / |E0| over all steps
    double early, late; // its mean (with sign) over the first and the last quarter
} trend;

#define MILLION (PACE_SLOW ? 20000 : 1000000) // sanitizers see what a step does, and see no trend

static trend energy_trend(foliot_integrator id, double dt)
{
    problem p;
    problem_kepler(&p, id, dt, 0.2);
    foliot_world *world = problem_world(&p);
    trend t = {0, 0, 0};
    for (int n = 0; n < MILLION; n++) {
        problem_step(&p, world, 1);
        double error = (kepler_energy(world) + 0.5) / 0.5;
        t.largest = fmax(t.largest, fabs(error));
        t.early += n < MILLION / 4 ? error / (MILLION / 4) : 0;
        t.late += n >= MILLION / 4 * 3 ? error / (MILLION / 4) : 0;
    }
    foliot_world_destroy(world);
    return t;
}

// Kepler's orbit e = 0.2, 62 to 12 steps a turn, 16,000 to 80,000 turns. The rest of a trend is
// rounding: plain sums walk by 1e-16 a kick, the lattice by 1e-12 and Newton's method by its
// tolerance.
TEST(the_energy_of_symplectic_schemes_has_no_trend)
{
    for (int i = 1; i < FOLIOT_INTEGRATOR_COUNT; i++) {
        const foliot_integrator_info *info = foliot_integrator_get_info((foliot_integrator)i);
        if (!info->symplectic)
            continue;
        double dt = info->order <= 2 ? 0.1 : info->order == 4 ? 0.2 : 0.3;
        trend t = energy_trend(info->id, dt);
        print_message("%-20s largest %.1e, mean early %+.3e late %+.3e\n", info->name, t.largest,
                      t.early, t.late);
        static const double bound[9] = {
            [1] = 0.06, [2] = 0.005, [4] = 2e-2, [6] = 1e-3, [8] = 1e-5};
        check_below(t.largest, bound[info->order]);
        bool lattice = info->reversible == FOLIOT_REVERSIBILITY_EXACT;
        if (!PACE_SLOW)
            check_below(fabs(t.late - t.early), 1e-12 + t.largest * 1e-4 + (lattice ? 1e-8 : 0));
    }
}
