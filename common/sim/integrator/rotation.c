// SPDX-License-Identifier: MIT
// rotation.c: free rotation of rigid bodies by splitting (Dullweber, Leimkuhler and McLachlan 1997,
// J. Chem. Phys. 107, 5840) with Cayley maps for the elementary rotations; what it is composed of,
// and which kernel does it (rotation_simd.c). Knows nothing of contacts.
//
// The energy of rotation is a sum over the body's axes, m1^2/2I1 + m2^2/2I2 + m3^2/2I3 (m: the
// angular momentum in the body's axes). Under one summand alone the body turns about that axis at
// the constant rate m1/I1, and m turns back by as much. The angle of such a turn is taken by its
// half's tangent, s = m1/I1 t/2: that is the exact flow of a slightly different function of m1, so
// the map stays symplectic, symmetric and of order 2, and needs neither sine nor cosine. The order
// x/2 y/2 z y/2 x/2 is a palindrome: whole steps compose to higher orders as those of translation
// do (composition.h).
//
// A torque is constant over the step in world axes and kicks m between. Where all three moments are
// equal the angular velocity stays as it is in world axes, and one turn about it does for all five.
#include "sim/integrator/rotation.h"

#include "base/assert.h"
#include "base/cpu.h"
#include "sim/state/parallel_for.h"
#include "sim/integrator/composition.h"

#define GRAIN 8 // lanes that go at once

typedef foliot__rotation_weights weights;

#define WEIGHT(w) w,
static weights weights_of(unsigned order)
{
    static const double strang[] = {1};
    static const double yoshida4[] = {FOLIOT__YOSHIDA4(WEIGHT)};
    static const double yoshida6[] = {FOLIOT__YOSHIDA6(WEIGHT)};
    static const double kahan_li8[] = {FOLIOT__KAHAN_LI8(WEIGHT)};
    switch (order) {
    case 2:
        return (weights){strang, 1};
    case 4:
        return (weights){yoshida4, 3};
    case 6:
        return (weights){yoshida6, 7};
    default:
        FOLIOT_ASSERT(order == 8);
        return (weights){kahan_li8, 17};
    }
}
#undef WEIGHT

typedef struct turning {
    foliot_world *world;
    weights composed;
    double dt;
    foliot__rotation_kernel *kernel;
} turning;

static void rotate_part(void *context, uint32_t begin, uint32_t end)
{
    const turning *t = context;
    t->kernel(t->world, &t->composed, t->dt, begin * FOLIOT__LANES, end * FOLIOT__LANES);
}

void foliot__rotate(const foliot__step *step, unsigned order)
{
    if (!step->world->scene.rotates || order == 0)
        return;
    turning t = {step->world, weights_of(order), step->dt, FOLIOT__KERNEL_OF_CPU(foliot__rotate)};
    foliot__parallel_run(step->workers, 0, foliot__lanes(step->world) / FOLIOT__LANES, GRAIN,
                         rotate_part, &t);
}
