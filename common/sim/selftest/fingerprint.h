// SPDX-License-Identifier: MIT
// fingerprint.h: the known-answer run in parts: all of them (foliot_get_fingerprint), those that
// every scene uses, and those that one scene uses.
#ifndef FOLIOT_SIM_SELFTEST_FINGERPRINT_H
#define FOLIOT_SIM_SELFTEST_FINGERPRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "foliot/digest.h"
#include "foliot/scene.h"

// Runs part number `part`: its name and *word; NULL beyond the last one.
const char *foliot__fingerprint_part(unsigned part, uint64_t *word);

// Fingerprint of arithmetic, mathematical functions and the hash. No integrator, force or contact
// changes it.
foliot_digest foliot__fingerprint_base(void);

// Fingerprint of all that a world of this scene computes with: the base, its integrator, and probes
// with it for the kinds of forces, contacts, joints and rods that the scene has. Builds that differ
// in what the scene does not use agree here. Zero: there is no memory for the probes.
foliot_digest foliot__fingerprint_of_scene(const foliot_scene *scene);

// The parts that foliot__fingerprint_of_scene covers: scenes of one scope have the same
// fingerprint.
uint64_t foliot__fingerprint_scope(const foliot_scene *scene);

// This build's fingerprint as digits, for --version.
void foliot__fingerprint_print(char text[FOLIOT_DIGEST_TEXT_BYTES]);

// No build has zero: it stands for one that is not known.
static inline bool foliot__fingerprint_is_known(foliot_digest fingerprint)
{
    return (fingerprint.high | fingerprint.low) != 0;
}

// Whether a build that gave this digest computes as this one does: it is that of the scene (may be
// NULL), or of everything.
bool foliot__fingerprint_fits(const foliot_scene *scene, foliot_digest theirs);

#endif
