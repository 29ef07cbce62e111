// SPDX-License-Identifier: MIT
// fuzz_scene_bytes.c: any bytes as a canonical scene. Bytes that decode encode to the same bytes,
// and a scene that passes the check makes a world.
#include "try_scene.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    foliot_scene *scene = NULL;
    foliot_status status = foliot_scene_decode(data, size, &scene);
    if (status != FOLIOT_STATUS_OK) {
        FOLIOT_ASSERT(status == FOLIOT_STATUS_TRUNCATED || status == FOLIOT_STATUS_CORRUPT ||
                      status == FOLIOT_STATUS_NEWER);
        FOLIOT_ASSERT(!scene);
        return 0;
    }
    try_bytes(scene, data, size);
    try_scene(scene, false);
    foliot_scene_destroy(scene);
    return 0;
}
