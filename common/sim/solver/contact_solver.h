// SPDX-License-Identifier: MIT
// contact_solver.h: the stages `collide` and `solve` as the step sees them.
#ifndef FOLIOT_SIM_SOLVER_CONTACT_SOLVER_H
#define FOLIOT_SIM_SOLVER_CONTACT_SOLVER_H

#include "sim/state/state.h"

// Bytes of the table `contact_workspace`, and its preparation at init and restore.
uint64_t foliot__contact_workspace_bytes(const foliot_world_config *config);
void foliot__contact_prepare(foliot_world *world);

// Before the integrator moves anything: stores the data that continuous collision needs.
void foliot__contact_begin(const foliot__step *step);
// Finds contacts of the moved bodies, including impacts on their paths.
void foliot__collide(const foliot__step *step);
// Applies impulses and position corrections. Clears world->acceleration_valid if a position
// changed.
void foliot__solve_contacts(const foliot__step *step);

#endif
