// SPDX-License-Identifier: MIT
// constraint.h: distance constraints by position correction (Jakobsen 2001), rods by SHAKE/RATTLE.
#ifndef FOLIOT_SIM_CONSTRAINT_CONSTRAINT_H
#define FOLIOT_SIM_CONSTRAINT_CONSTRAINT_H

#include "sim/state/state.h"

uint64_t foliot__constraint_workspace_bytes(const foliot_world_config *config);
void foliot__constraint_prepare(foliot_world *world);
void foliot__constraint_copy(foliot_world *to, const foliot_world *from);

// The stage `solve`, part one: sweeps of position correction over the distance constraints, in
// index order, then velocities (and verlet's `previous`) made to agree, then breaks. After the
// integrator.
void foliot__solve_distances(const foliot__step *step);

// Rods, called by the integrators that admit them. Positions x were reached from x_before (where
// the rods held) in `duration`: moves x along the rods' directions at x_before until they hold
// (SHAKE), and adds the same displacement / duration to v.
bool foliot__has_rods(const foliot_world *world);
void foliot__shake(const foliot__step *step, foliot__v3 x_before, foliot__v3 x, foliot__v3 v,
                   double duration);
// Takes the relative velocity along every rod out of v (the second half of RATTLE).
void foliot__rattle(const foliot__step *step, foliot__v3 x, foliot__v3 v);

#endif
