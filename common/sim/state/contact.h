// SPDX-License-Identifier: MIT
// contact.h: the stages `collide` and `solve` as the step sees them.
#ifndef FOLIOT_SIM_CONTACT_H
#define FOLIOT_SIM_CONTACT_H

#include "sim/state/state.h"

// Bytes of the table `contact_workspace`, and its preparation at init and restore.
size_t foliot__contact_workspace_bytes(const foliot_world_config *config);
void foliot__contact_prepare(foliot_world *world);

// Called before the integrator moves anything: remembers what continuous collision needs.
void foliot__contact_begin(const foliot__step *step);
// Finds contacts of the moved bodies (impacts on the way included).
void foliot__collide(const foliot__step *step);
// Applies impulses and position corrections. Clears world->acceleration_valid if a position
// changed.
void foliot__solve_contacts(const foliot__step *step);

// A slot was emptied: what its contacts pushed is no business of the body that comes next.
void foliot__contact_forget(foliot_world *world, uint32_t slot);

// Whether the body pushed on some other in the last step.
bool foliot__contact_touches(const foliot_world *world, uint32_t slot);

#endif
