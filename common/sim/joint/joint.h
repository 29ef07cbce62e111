// SPDX-License-Identifier: MIT
// joint.h: ball, hinge, weld and anchored distance joints. Solved directly (joint/joint_solve.c),
// so they carry nothing from one tick to the next. The only state is whether a joint is broken.
//
// foliot__joints_alone does a whole substep of every island that no contact may push. For the
// others the contact solver calls foliot__joints_remember_smooth and foliot__joints_solve before
// its own iterations.
#ifndef FOLIOT_SIM_JOINT_JOINT_H
#define FOLIOT_SIM_JOINT_JOINT_H

#include "sim/state/solver_body.h"
#include "sim/state/state.h"

uint64_t foliot__joint_workspace_bytes(const foliot_world_config *config);
// At init: remembers the orientations of joined bodies relative to each other.
void foliot__joint_starts(foliot_world *world);
// step.c: at a substep's start, before the scheme moves anything; `first` of the tick.
void foliot__joints_begin(const foliot__step *step, bool first);
// After the scheme and, where shapes can touch, the contact solver: the whole substep of the
// islands that it has not solved.
void foliot__joints_alone(const foliot__step *step);
// step.c: at a substep's end. At the tick's end a joint breaks if its mean force or torque over the
// tick exceeds its limit.
void foliot__joints_finish(const foliot__step *step);

// Called by the contact solver in every substep. Stores the scheme's mean velocities, which the
// solver bodies hold at that time. Positions move by what is added to these later.
// Islands of which no slot is `touched` (not 0) are left to foliot__joints_alone.
void foliot__joints_remember_smooth(const foliot_world *world, const foliot__solver_body *bodies,
                                    const uint64_t *touched);
// One iteration over all joints in a substep of length h. `soft`: corrects positions before they
// move. Otherwise (relaxing, after the poses have moved): velocities alone.
void foliot__joints_solve(const foliot_world *world, foliot__solver_body *bodies, float h,
                          bool soft);

#endif
