// SPDX-License-Identifier: MIT
// create.c: a world on the heap. A step never allocates; foliot_world_init takes a block of the
// caller's instead.
#include <stdlib.h>

#include "sim/scene/scene.h"
#include "sim/state/state.h"

foliot_status foliot_world_create(const foliot_scene *scene, foliot_world **world)
{
    foliot_status status = foliot_scene_check(scene, NULL);
    if (status != FOLIOT_STATUS_OK)
        return status;
    foliot_world_config config = foliot_world_config_default(scene);
    size_t bytes = foliot_world_config_get_bytes(&config);
    void *block = bytes ? aligned_alloc(FOLIOT_WORLD_ALIGNMENT, bytes) : NULL;
    if (!block) // 0 bytes: more than the machine addresses, since the scene is valid
        return FOLIOT_STATUS_MEMORY;
    status = foliot_world_init(block, bytes, &config, scene, world);
    if (status != FOLIOT_STATUS_OK)
        free(block);
    return status;
}

void foliot_world_destroy(foliot_world *world)
{
    free(world);
}
