// SPDX-License-Identifier: MIT
// config.h: --config FILE: a YAML mapping whose keys are the options' names. The command line goes
// before the file, and the file before the defaults.
#ifndef FOLIOT_SERVER_CONFIG_H
#define FOLIOT_SERVER_CONFIG_H

#include "base/options.h"

// Where the arguments name a file: *argc and *argv are then those of the file and the command line
// together. Returns an exit code, and prints what is wrong with its place.
int foliot__config_read(const foliot__program *program, int *argc, char ***argv);
// The file's `scene`, where the command line names none.
void foliot__config_apply_scene(foliot__arguments *arguments);
// Every option of the first command with its value and where it comes from.
void foliot__config_print(const foliot__program *program);

#endif
