// SPDX-License-Identifier: MIT
// commands.h: random commands of every kind, valid in form, for tests of what carries them.
#ifndef FOLIOT_TESTS_COMMANDS_H
#define FOLIOT_TESTS_COMMANDS_H

#include "base/rng.h"
#include "foliot/command.h"

// Texts of the command lie in static memory until the next call.
foliot_command draw_command(foliot__rng *rng, uint32_t kind);
// Whether both have the same canonical bytes, sequence and source.
bool commands_equal(const foliot_command *a, const foliot_command *b);

#endif
