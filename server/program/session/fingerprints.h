// SPDX-License-Identifier: MIT
// fingerprints.h: fingerprints of scenes, which take ten milliseconds each, computed once for all
// scenes that compute with the same. Any thread may ask.
#ifndef FOLIOT_SERVER_FINGERPRINTS_H
#define FOLIOT_SERVER_FINGERPRINTS_H

#include "foliot/digest.h"
#include "foliot/scene.h"

foliot_digest foliot__fingerprints_find(const foliot_scene *scene);

#endif
