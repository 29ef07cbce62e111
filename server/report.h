// SPDX-License-Identifier: MIT
// report.h: divergences of lockstep clients, as reports and files.
#ifndef FOLIOT_SERVER_REPORT_H
#define FOLIOT_SERVER_REPORT_H

#include "foliot/lockstep.h"

#define FOLIOT__REPORT_FILES_MAX 64 // that one run writes: whoever diverges on purpose shall not fill the disk

// On stderr, as text or one JSON object, and our state into a file in the working folder.
void foliot__report_divergence(const foliot_divergence_case *found, const foliot_scene *scene, bool json, unsigned *files);

#endif
