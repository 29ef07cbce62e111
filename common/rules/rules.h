// SPDX-License-Identifier: MIT
// rules.h: what rules in Lua need of the runner beside foliot/rules.h.
#ifndef FOLIOT_RULES_RULES_H
#define FOLIOT_RULES_RULES_H

#include "foliot/rules.h"

// Lends the text that the instance runs, until it is destroyed.
void foliot__rules_set_script(foliot_rules *rules, const char *script, size_t length);

#endif
