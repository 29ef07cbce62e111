// SPDX-License-Identifier: MIT
// solver_kernel.h: contacts four at a time. The four of a block share no body that can move, so
// each does what it would do alone, and the order in which blocks are visited is the order of the
// solver.
#ifndef FOLIOT_SIM_COLLIDE_SOLVER_KERNEL_H
#define FOLIOT_SIM_COLLIDE_SOLVER_KERNEL_H

#include "sim/collide/collide.h"

#define FOLIOT__BLOCK 4

// One row a quantity, one column a contact. A column out of use has zero masses and names the spare
// mover.
typedef struct foliot__block {
    uint32_t a[FOLIOT__BLOCK], b[FOLIOT__BLOCK];
    double normal[3][FOLIOT__BLOCK];
    double arm_a[FOLIOT__BLOCK], arm_b[FOLIOT__BLOCK];
    double inverse_mass_a[FOLIOT__BLOCK], inverse_mass_b[FOLIOT__BLOCK];
    double ease_a[FOLIOT__BLOCK], ease_b[FOLIOT__BLOCK]; // arm * inverse inertia
    double mass[FOLIOT__BLOCK], mass_tangent[FOLIOT__BLOCK];
    double friction[FOLIOT__BLOCK], target[FOLIOT__BLOCK];
    double push[FOLIOT__BLOCK], drag[3][FOLIOT__BLOCK];
    double gap[FOLIOT__BLOCK];     // before anything moved
    double slop[FOLIOT__BLOCK];    // overlap that is left alone
    double way_max[FOLIOT__BLOCK]; // of one visit
} foliot__block;

typedef struct foliot__solver_kernel {
    // Impulses: movers' v and w are velocities.
    void (*visit)(foliot__block *blocks, uint32_t count, foliot__old_mover *movers);
    // Positions: movers' v are displacements. Removes `share` of what overlaps, or of what rests
    // open.
    void (*push_out)(const foliot__block *blocks, uint32_t count, foliot__old_mover *movers,
                     double share);
} foliot__solver_kernel;

extern const foliot__solver_kernel foliot__solver_base;
extern const foliot__solver_kernel foliot__solver_avx2; // x86-64 alone

#endif
