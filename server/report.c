// SPDX-License-Identifier: MIT
// report.c: see report.h.
#include "report.h"

#include <stdio.h>

void foliot__report_divergence(const foliot_divergence_case *found, const foliot_scene *scene, bool json, unsigned *files)
{
    char text[2048], file[256];
    (json ? foliot_divergence_case_json : foliot_divergence_case_text)(found, scene, text, sizeof text);
    fprintf(stderr, "%s%s", text, json ? "\n" : "");
    if (!json)
        fprintf(stderr, "  %-10s %u bytes of questions and answers\n", "searched", found->exchanged);
    if (*files == FOLIOT__REPORT_FILES_MAX)
        return;
    foliot_divergence_file(found, "server", file, sizeof file);
    foliot_status status = foliot_divergence_write(found, scene, file);
    if (status != FOLIOT_OK)
        fprintf(stderr, "foliot-server: no file of our state: %s\n", foliot_status_text(status));
    else if (!json)
        fprintf(stderr, "  %-10s %s\n", "our state", file);
    *files += status == FOLIOT_OK;
}
