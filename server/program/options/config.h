// SPDX-License-Identifier: MIT
// config.h: --config FILE: a YAML mapping whose keys are the options' names. The command line takes
// precedence over the file, and the file over the defaults.
#ifndef FOLIOT_SERVER_CONFIG_H
#define FOLIOT_SERVER_CONFIG_H

#include "base/options.h"

// If the arguments name a file, *argc and *argv become those of the file and the command line
// together. Returns an exit code, and prints errors with their place.
int foliot__config_read(const foliot__program *program, int *argc, char ***argv);
// The file's `scene`, if the command line names none.
void foliot__config_apply_scene(foliot__arguments *arguments);
// Prints every option of the first command with its value and its source.
void foliot__config_print(const foliot__program *program);

#endif
