// SPDX-License-Identifier: MIT
// rotation.h: rotation of rigid bodies, next to the translation of every scheme.
//
// Free rotation is the splitting of Dullweber, Leimkuhler and McLachlan (1997) into rotations about
// the body's axes, x/2 y/2 z y/2 x/2, each by a Cayley map, so that + - * / and sqrt are enough.
// Torque is constant over a tick (world axes) and kicks the angular momentum between.
#ifndef FOLIOT_SIM_INTEGRATOR_ROTATION_H
#define FOLIOT_SIM_INTEGRATOR_ROTATION_H

#include "sim/state/state.h"

// Rotation of every body over step->dt, torque kicks between free turns, composed to `order` (2, 4,
// 6 or 8) with the weights of yoshida4, yoshida6, kahan-li8. Does nothing for order 0 (the lattice)
// and in a world in which no body rotates.
void foliot__rotate(const foliot__step *step, unsigned order);

// The composition of a step: shares of its time that sum to 1.
typedef struct foliot__rotation_weights {
    const double *w;
    uint32_t count;
} foliot__rotation_weights;

// Rotation of the bodies in slots [begin, end), whole lanes, over dt. All kernels give the same
// bits.
typedef void foliot__rotation_kernel(foliot_world *world, const foliot__rotation_weights *composed,
                                     double dt, uint32_t begin, uint32_t end);
foliot__rotation_kernel foliot__rotate_base;
foliot__rotation_kernel foliot__rotate_avx2, foliot__rotate_avx512; // x86-64 alone

#endif
