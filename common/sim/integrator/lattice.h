// SPDX-License-Identifier: MIT
// lattice.h: reversible-leapfrog's integers, as the world's other parts see them.
#ifndef FOLIOT_SIM_INTEGRATOR_LATTICE_H
#define FOLIOT_SIM_INTEGRATOR_LATTICE_H

#include "sim/state/state.h"

#define FOLIOT__LATTICE_UNIT 0x1p-40
// Coordinates and velocities beyond it are a fault. Two of them add up without overflow.
#define FOLIOT__LATTICE_MAX 0x1p22

// Puts a body onto the lattice: the integers nearest to its position and velocity, and those two
// made equal to the integers. Where a body is written or frozen. Does nothing in worlds of other
// schemes.
void foliot__lattice_enter(foliot_world *world, uint32_t slot);

#endif
