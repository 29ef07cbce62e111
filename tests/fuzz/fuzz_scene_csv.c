// SPDX-License-Identifier: MIT
// fuzz_scene_csv.c: any bytes as a CSV file of bodies. The file is in memory and is read by way of
// /proc.
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "try_scene.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int file = memfd_create("fuzz", MFD_CLOEXEC);
    FOLIOT_ASSERT(file >= 0 && write(file, data, size) == (ssize_t)size);
    char text[128];
    snprintf(text, sizeof text,
             "foliot: 1\nname: csv\ntick_hz: 60\nbodies: [{csv: '%d', mass: 2}]\n", file);
    foliot_scene *scene = NULL;
    foliot_error error;
    foliot_status status =
        foliot_scene_parse(text, strlen(text), "fuzz", "/proc/self/fd", &scene, &error);
    close(file);
    if (status == FOLIOT_STATUS_OK) {
        FOLIOT_ASSERT(scene->body_count > 0);
        try_scene(scene, true);
        foliot_scene_destroy(scene);
        return 0;
    }
    FOLIOT_ASSERT(status == FOLIOT_STATUS_INVALID || status == FOLIOT_STATUS_REFUSED);
    FOLIOT_ASSERT(strncmp(error.text, "fuzz:", 5) == 0 && error.line >= 1 && error.column >= 1);
    return 0;
}
