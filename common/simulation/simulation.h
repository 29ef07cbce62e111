// SPDX-License-Identifier: MIT
// simulation.h: what the library does with any simulation beyond include/foliot/simulation.h.
#ifndef FOLIOT_SIMULATION_SIMULATION_H
#define FOLIOT_SIMULATION_SIMULATION_H

#include "base/pack.h"
#include "foliot/simulation.h"

// Captures the state into a buffer, which keeps its memory for the next time.
foliot_status foliot__simulation_save(const foliot_simulation *simulation, foliot__buffer *state);

#endif
