// SPDX-License-Identifier: MIT
// parts.h: the state of a simulation that is no world, for people, as JSON and as rows. On stdout.
#ifndef FOLIOT_TOOLS_REPLAY_PARTS_H
#define FOLIOT_TOOLS_REPLAY_PARTS_H

#include "foliot/simulation.h"

void parts_print_text(const foliot_simulation *simulation);
void parts_put_json(const foliot_simulation *simulation); // one object, on one line
// Rows of tick, part, index, field, value.
void parts_put_csv(const foliot_simulation *simulation);

#endif
