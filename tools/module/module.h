// SPDX-License-Identifier: MIT
// module.h: loads shared objects for the programs: rules, and simulations other than worlds
// (foliot/simulation.h). Nothing is unloaded. A module's description of itself is checked before it
// is used; its code is not: it runs with all rights of the program.
#ifndef FOLIOT_TOOLS_MODULE_H
#define FOLIOT_TOOLS_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/simulation.h"

// Ticks in a real second that a module may ask for.
#define FOLIOT__MODULE_PACE_HZ_MIN 0.01
#define FOLIOT__MODULE_PACE_HZ_MAX 100000

// The object `entry` of the shared object, or NULL and a sentence. `bytes`: its least size. A name
// without a folder is a file of the working folder, never of the system's.
const void *foliot__module_open(const char *file, const char *entry, size_t bytes, char *problem,
                                size_t problem_bytes);

typedef struct foliot__module {
    foliot_simulation_kind kind; // with a fingerprint
    const foliot_simulation_module *entry;
} foliot__module;

// The simulation of a module; one per process. NULL and a sentence. Lives until the process ends.
const foliot__module *foliot__module_load(const char *file, char *problem, size_t problem_bytes);
// The current tick of the known-answer run of foliot__module_load, for signal handlers.
uint64_t foliot__module_get_answer_tick(void);
// A configuration's setup; `file` NULL: the default. The caller frees *setup. False and a sentence.
bool foliot__module_configure(const foliot__module *module, const char *file, uint8_t **setup,
                              size_t *setup_bytes, char *problem, size_t problem_bytes);
// False and a sentence; impossible terms are refused.
bool foliot__module_describe(const foliot__module *module, const void *setup, size_t setup_bytes,
                             foliot_simulation_terms *terms, char *problem, size_t problem_bytes);
// The state as lines of text, to be freed: the module's picture, or parts and fields; NULL: no
// memory.
char *foliot__module_draw(const foliot__module *module, const void *self, uint32_t columns,
                          uint32_t rows);
// All fields of a part, to be freed; NULL without memory.
foliot_simulation_field *foliot__part_fields(const foliot_simulation_kind *kind, const void *self,
                                             uint32_t part, foliot_simulation_part *about);
// A field's bits as a number.
#define FOLIOT__FIELD_TEXT_BYTES 40
const char *foliot__field_text(const foliot_simulation_field *field,
                               char text[FOLIOT__FIELD_TEXT_BYTES]);

// -- a chosen fault in a module's simulation, to test that it is found: --perturb
// TICK:PART:FIELD:N, or TICK:byte:OFFSET:N of the captured bytes

#define FOLIOT__MODULE_PERTURB_FORM "TICK:PART:FIELD:N"

// The module's kind with the fault in the state of that tick, in every instance that steps to it;
// one per process. NULL, and *wrong is the error in the text.
const foliot_simulation_kind *foliot__module_perturb(const foliot__module *module, const char *text,
                                                     const char **wrong);
// How often this thread applied it since foliot__module_perturb_begin, and why it did not.
void foliot__module_perturb_begin(void);
uint64_t foliot__module_perturb_count(void);
const char *foliot__module_perturb_problem(void); // NULL: nothing was in its way

#endif
