// SPDX-License-Identifier: MIT
// odeint_nbody.cpp N SOFTENING DT STEPS RUNS OUT: Boost.odeint's velocity Verlet on the bench's N
// bodies. Prints the median nanoseconds a step over RUNS runs, and writes positions after STEPS
// steps to OUT as raw doubles.
#include <boost/numeric/odeint.hpp>
#include <boost/version.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

extern "C" {
#include "nbody_problem.h"
}

namespace odeint = boost::numeric::odeint;
typedef std::vector<double> state; // x0 y0 z0 x1 ...

static std::vector<double> mass;
static double softening2;

// As in odeint's own solar system example: a function of positions and velocities gives
// accelerations.
static void accelerate(const state &x, const state &, state &a, double)
{
    const std::size_t n = mass.size();
    std::fill(a.begin(), a.end(), 0.0);
    for (std::size_t i = 0; i < n; i++)
        for (std::size_t j = i + 1; j < n; j++) {
            const double dx = x[3 * j] - x[3 * i], dy = x[3 * j + 1] - x[3 * i + 1];
            const double dz = x[3 * j + 2] - x[3 * i + 2];
            const double r2 = dx * dx + dy * dy + dz * dz + softening2;
            const double f = 1 / (r2 * std::sqrt(r2)), fi = mass[j] * f, fj = mass[i] * f;
            a[3 * i] += fi * dx;
            a[3 * i + 1] += fi * dy;
            a[3 * i + 2] += fi * dz;
            a[3 * j] -= fj * dx;
            a[3 * j + 1] -= fj * dy;
            a[3 * j + 2] -= fj * dz;
        }
}

int main(int argc, char **argv)
{
    if (argc != 7)
        return 2;
    const unsigned n = std::atoi(argv[1]), steps = std::atoi(argv[4]), runs = std::atoi(argv[5]);
    softening2 = std::atof(argv[2]) * std::atof(argv[2]);
    const double dt = std::atof(argv[3]);
    std::vector<double> times;
    state x(3 * n), v(3 * n);
    mass.resize(n);
    for (unsigned run = 0; run < runs; run++) {
        for (unsigned i = 0; i < n; i++)
            nbody_problem_body(n, i, &mass[i], &x[3 * i], &v[3 * i]);
        odeint::velocity_verlet<state> stepper;
        const auto begin = std::chrono::steady_clock::now();
        std::pair<state &, state &> both(x, v);
        double t = 0;
        for (unsigned s = 0; s < steps; s++, t += dt)
            stepper.do_step(accelerate, both, t, dt);
        const std::chrono::duration<double, std::nano> took =
            std::chrono::steady_clock::now() - begin;
        times.push_back(took.count() / steps);
    }
    std::sort(times.begin(), times.end());
    std::printf("%.17g %d\n", times[times.size() / 2], BOOST_VERSION);
    std::FILE *out = std::fopen(argv[6], "wb");
    if (!out || std::fwrite(x.data(), sizeof(double), x.size(), out) != x.size() ||
        std::fclose(out) != 0)
        return 1;
    return 0;
}
