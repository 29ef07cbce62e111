// SPDX-License-Identifier: MIT
// truth.h: which part of a world is truth, as digests and keyframes see it.
#ifndef FOLIOT_SIM_TRUTH_H
#define FOLIOT_SIM_TRUTH_H

#include "sim/state.h"

// Bit f: field f of FOLIOT_BODY_TRUTH is truth in this world. Rotation is where something rotates,
// `previous` in the Verlet schemes, the lattice in reversible-leapfrog; elsewhere they stay constant.
uint32_t foliot__truth_fields(const foliot_world *world);

// Brings world->definition_digest up to date if definition_dirty is set.
void foliot__definition_refresh(foliot_world *world);

#endif
