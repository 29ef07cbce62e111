// SPDX-License-Identifier: MIT
// joint.h: ball, hinge, weld and anchored distance joints, as the contact solver calls them: before its
// contacts in every phase of every substep. What a joint pushed is truth, and where the next step starts.
#ifndef FOLIOT_SIM_JOINT_H
#define FOLIOT_SIM_JOINT_H

#include "sim/collide/collide.h"

bool foliot__has_joints(const foliot_world *world);
// Once a tick, when the tick's contacts are found: frames, masses, the kept impulses.
void foliot__joints_prepare(foliot__collider *c);
// In every substep of length h: `warm` applies what is accumulated; `solve` visits every joint once, with
// the soft pull towards zero error (`soft`, before positions move) or without it (relaxing, after).
void foliot__joints_warm(foliot__collider *c, float h);
void foliot__joints_solve(foliot__collider *c, float h, bool soft);
// Once a tick, at its end: keeps the impulses, breaks what pulled more than its break force.
void foliot__joints_finish(foliot__collider *c);

#endif
