// SPDX-License-Identifier: MIT
// force_spring.c: the elastic part of springs, summed into accelerations one spring after another
// in the scene's order.
//
// A batch of springs goes in three sweeps, because each alone keeps a different part of a core
// busy: ends are gathered into lanes, forces are computed in lanes, forces are added to the ends
// one by one. A spring's arithmetic does not depend on its lane, so batches change no bits.
#include "base/cpu.h"
#include "sim/force/force_simd.h"
#include "sim/force/force_workspace.h"

// Two ends in one place have no direction: the spring pushes them apart along x. The distance that
// stands for 0 there is too short to change a force.
static inline double least_distance(double length)
{
    return length > 0 ? 0x1p-400 : 0;
}

static inline void gather_springs(const foliot__spring *spring, uint32_t count, foliot__v3 x,
                                  foliot__springs_batch *to)
{
    for (uint32_t n = 0; n < count; n++) {
        uint32_t a = spring[n].a, b = spring[n].b;
        to->dx[n] = x.x[b] - x.x[a];
        to->dy[n] = x.y[b] - x.y[a];
        to->dz[n] = x.z[b] - x.z[a];
        if (to->dx[n] == 0 && to->dy[n] == 0 && to->dz[n] == 0)
            to->dx[n] = least_distance(spring[n].length);
        to->stiffness[n] = spring[n].stiffness;
        to->length[n] = spring[n].length;
    }
}

// The row of `a` stays in registers while springs share it: as their memory would pass the sum on,
// but without the wait for it.
static inline void scatter_forces(const foliot__spring *spring, uint32_t count,
                                  const foliot__springs_batch *force, const double *inverse,
                                  foliot__v3 out)
{
    uint32_t a = spring[0].a;
    double ax = out.x[a], ay = out.y[a], az = out.z[a];
    for (uint32_t n = 0; n < count; n++) {
        uint32_t b = spring[n].b;
        if (spring[n].a != a) {
            out.x[a] = ax;
            out.y[a] = ay;
            out.z[a] = az;
            a = spring[n].a;
            ax = out.x[a];
            ay = out.y[a];
            az = out.z[a];
        }
        double fx = force->dx[n], fy = force->dy[n], fz = force->dz[n];
        ax += fx * inverse[a];
        ay += fy * inverse[a];
        az += fz * inverse[a];
        out.x[b] -= fx * inverse[b];
        out.y[b] -= fy * inverse[b];
        out.z[b] -= fz * inverse[b];
    }
    out.x[a] = ax;
    out.y[a] = ay;
    out.z[a] = az;
}

void foliot__springs_add(const foliot_world *world, uint32_t first, uint32_t count, foliot__v3 x,
                         foliot__v3 a)
{
    const foliot__spring *spring = foliot__forces_springs(foliot__forces_of(world)) + first;
    const double *inverse = foliot__inverse_mass(world);
    foliot__springs_kernel *pull = FOLIOT__KERNEL_OF_CPU(foliot__springs_pull);
    foliot__springs_batch b __attribute__((aligned(64)));
    for (uint32_t n = 0; n < FOLIOT__SPRINGS_BATCH; n++)
        b.dx[n] = b.dy[n] = b.dz[n] = b.stiffness[n] = b.length[n] = 0;
    for (uint32_t at = 0; at < count; at += FOLIOT__SPRINGS_BATCH) {
        uint32_t some = count - at < FOLIOT__SPRINGS_BATCH ? count - at : FOLIOT__SPRINGS_BATCH;
        gather_springs(spring + at, some, x, &b);
        pull(&b, some);
        scatter_forces(spring + at, some, &b, inverse, a);
    }
}

void foliot__tethers_add(const foliot_world *world, uint32_t first, uint32_t count, foliot__v3 x,
                         foliot__v3 out)
{
    const foliot__tether *tether = foliot__forces_tethers(foliot__forces_of(world)) + first;
    const double *inverse = foliot__inverse_mass(world);
    for (const foliot__tether *end = tether + count; tether < end; tether++) {
        uint32_t a = tether->a;
        const double *p = tether->point;
        double dx = p[0] - x.x[a], dy = p[1] - x.y[a], dz = p[2] - x.z[a];
        if (dx == 0 && dy == 0 && dz == 0)
            dx = least_distance(tether->length);
        double r = foliot__sqrt(((dx * dx + FOLIOT__SPRING_TINY) + dy * dy) + dz * dz);
        double s = tether->stiffness - tether->stiffness * tether->length / r;
        out.x[a] += s * dx * inverse[a];
        out.y[a] += s * dy * inverse[a];
        out.z[a] += s * dz * inverse[a];
    }
}
