// SPDX-License-Identifier: MIT
// fingerprint.h: the parts of the known-answer run, for `make golden` and for tests.
#ifndef FOLIOT_SIM_FINGERPRINT_H
#define FOLIOT_SIM_FINGERPRINT_H

#include <stdint.h>

// Runs part number `part`: its name and *word; NULL beyond the last one.
const char *foliot__fingerprint_part(unsigned part, uint64_t *word);

#endif
