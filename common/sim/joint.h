// SPDX-License-Identifier: MIT
// joint.h: ball, hinge, weld and anchored distance joints, as the contact solver calls them: before its
// contacts in every phase of every substep. What a joint pushed is truth, and where the next step starts.
#ifndef FOLIOT_SIM_JOINT_H
#define FOLIOT_SIM_JOINT_H

#include "sim/collide/collide.h"

bool foliot__has_joints(const foliot_world *world);
// When the contacts were found: frames and masses at the present poses, from which movers[].moved and
// .turned count. Once a tick, and again within it where a body went too far; what is accumulated stays.
void foliot__joints_prepare(foliot__collider *c);
// After every prepare, once: adds what is accumulated to the movers, which start from 0. (The following
// substeps of the tick start from all that each body was given in the last one.)
void foliot__joints_warm(foliot__collider *c);
// In every substep of length h: visits every joint once, with the soft pull towards zero error (`soft`;
// moved and turned are those at the substep's start) or without it (relaxing, when they have moved).
void foliot__joints_solve(foliot__collider *c, float h, bool soft);
// Once a tick, at its end: keeps the impulses, breaks what pulled more than its break force.
void foliot__joints_finish(foliot__collider *c);

#endif
