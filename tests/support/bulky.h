// SPDX-License-Identifier: MIT
// bulky.h: a simulation that costs next to nothing a step and has a large state to save: what
// newcomers to a lockstep session are sent. The state's first bytes are its tick and a sum of all
// inputs; the rest never changes.
#ifndef FOLIOT_TESTS_BULKY_H
#define FOLIOT_TESTS_BULKY_H

#include "foliot/simulation.h"

#define BULKY_BYTES 400000u

const foliot_simulation_kind *bulky_kind(void);
// From now on no state can be saved, or again.
void bulky_refuses_to_save(bool refuses);

#endif
