// SPDX-License-Identifier: MIT
// joint.h: ball, hinge, weld and anchored distance joints. Solved directly (joint/joint_tree.c), so
// they carry nothing from one tick to the next: truth is only whether they are broken.
//
// In a world without contacts foliot__joints_alone is all of it. With contacts the contact solver
// calls smooth and solve, before its contacts in every phase of every substep.
#ifndef FOLIOT_SIM_JOINT_H
#define FOLIOT_SIM_JOINT_H

#include "sim/state/solver_body.h"
#include "sim/state/state.h"

size_t foliot__joint_workspace_bytes(const foliot_world_config *config);
// At init, when the bodies stand as the scene starts: how they are turned against each other.
void foliot__joint_starts(foliot_world *world);
// step.c: at a substep's start, before the scheme moves anything; `first` of the tick.
void foliot__joints_begin(const foliot__step *step, bool first);
// step.c: after the scheme, where no contact solver runs: the whole substep.
void foliot__joints_alone(const foliot__step *step);
// step.c: at a substep's end. At the tick's, what pulled more than its break force in the mean of
// it breaks.
void foliot__joints_finish(const foliot__step *step);

// The contact solver, in every substep of length h.
// When the bodies hold the scheme's mean velocities and nothing else yet; the tables hold the poses
// that these led to. What the bodies hold beyond them later is what positions move on by.
void foliot__joints_smooth(const foliot_world *world, const foliot__solver_body *bodies);
// Visits every joint once: `soft` with positions brought back, before they move; else (relaxing,
// after the tables hold the moved poses) velocities alone.
void foliot__joints_solve(const foliot_world *world, foliot__solver_body *bodies, float h,
                          bool soft);

#endif
