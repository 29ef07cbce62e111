// SPDX-License-Identifier: MIT
// tally.h: the smallest simulation that takes commands: a number that every input and every command
// changes. For tests of what carries commands.
#ifndef FOLIOT_TESTS_TALLY_H
#define FOLIOT_TESTS_TALLY_H

#include "foliot/simulation.h"

// `takes` false: the same without step_tick.
const foliot_simulation_kind *tally_kind(bool takes);

#endif
