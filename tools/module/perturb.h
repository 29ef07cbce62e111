// SPDX-License-Identifier: MIT
// perturb.h: plants a chosen fault in a module's simulation during a step, to test that it is
// found: --perturb TICK:PART:FIELD:N, or TICK:byte:OFFSET:N of the captured bytes.
#ifndef FOLIOT_TOOLS_MODULE_PERTURB_H
#define FOLIOT_TOOLS_MODULE_PERTURB_H

#include "module/module.h"

#define FOLIOT__MODULE_PERTURB_FORM "TICK:PART:FIELD:N"

// The module's kind with the fault in the state of that tick, as every instance steps to it; one a
// process. NULL, and *wrong says what is wrong with the text.
const foliot_simulation_kind *foliot__module_perturb(const foliot__module *module, const char *text,
                                                     const char **wrong);
// How often this thread put it in since foliot__module_perturb_begin, and why it did not.
void foliot__module_perturb_begin(void);
uint64_t foliot__module_perturb_count(void);
const char *foliot__module_perturb_problem(void); // NULL: nothing was in its way

#endif
