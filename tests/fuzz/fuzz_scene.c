// SPDX-License-Identifier: MIT
// fuzz_scene.c: any bytes as a scene's text. Either a sound scene comes out, or a fault with a
// place.
#include "try_scene.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    foliot_scene *scene = NULL;
    foliot_error error;
    memset(&error, 0, sizeof error);
    foliot_status status =
        foliot_scene_parse((const char *)data, size, "fuzz", NULL, &scene, &error);
    if (status == FOLIOT_STATUS_OK) {
        try_scene(scene, true);
        try_bytes(scene, NULL, 0);
        foliot_scene_destroy(scene);
        return 0;
    }
    FOLIOT_ASSERT(!scene);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_INVALID || status == FOLIOT_STATUS_REFUSED);
    FOLIOT_ASSERT(strncmp(error.text, "fuzz:", 5) == 0);
    FOLIOT_ASSERT(error.line >= 1 && error.column >= 1);
    for (const char *at = error.text; *at; at++)
        FOLIOT_ASSERT((unsigned char)*at >= 0x20 && *at != 0x7f);
    return 0;
}
