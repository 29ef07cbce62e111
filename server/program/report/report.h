// SPDX-License-Identifier: MIT
// report.h: divergences of lockstep clients, as reports in the log and as files. Whoever diverges
// on purpose fills neither the log nor the disk, and no tick waits for a file.
#ifndef FOLIOT_SERVER_REPORT_H
#define FOLIOT_SERVER_REPORT_H

#include <uv.h>

#include "foliot/lockstep.h"

#define FOLIOT__REPORTS_MAX 256               // that one run tells in full
#define FOLIOT__REPORT_FILES_MAX 64           // that one run writes ...
#define FOLIOT__REPORT_BYTES_MAX (256u << 20) // ... of so many bytes of states

// In the log, as text or one JSON object, and our state into a file in the working folder, which a
// worker of the loop writes: one at a time, the others are left out. `scene` gives bodies their
// names; may be NULL.
void foliot__report_divergence(const foliot_divergence_report *found, const foliot_scene *scene,
                               bool json, uv_loop_t *loop);

#endif
