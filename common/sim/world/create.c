// SPDX-License-Identifier: MIT
// create.c: a world on the heap, for programs. A step never creates or destroys a world, and never
// allocates; foliot_world_init takes a block from the caller instead.
#include <stdint.h>
#include <stdlib.h>

#include "sim/scene/scene.h"
#include "sim/state/state.h"
#include "sim/world/layout.h"

// A few bytes of a scene or a header can request gigabytes of capacity. calloc returns pages that
// cost nothing until they are written, and a world writes only to the rows that it uses. calloc
// aligns to 16 bytes: the pointer to free is kept right before the block.
static void *allocate_zeroed(size_t bytes)
{
    if (bytes > SIZE_MAX - 2 * FOLIOT_WORLD_ALIGNMENT)
        return NULL;
    char *memory = calloc(1, bytes + 2 * FOLIOT_WORLD_ALIGNMENT);
    if (!memory)
        return NULL;
    uintptr_t room = FOLIOT_WORLD_ALIGNMENT + sizeof(void *);
    char *block = memory + room - ((uintptr_t)memory + room) % FOLIOT_WORLD_ALIGNMENT;
    ((void **)(void *)block)[-1] = memory;
    return block;
}

static void free_zeroed(void *block)
{
    if (block)
        free(((void **)block)[-1]);
}

foliot_status foliot__world_create(const foliot_world_config *config, const foliot_scene *scene,
                                   foliot_world **world)
{
    size_t bytes = foliot_world_config_get_bytes(config);
    if (bytes == 0) // no such capacities, or more than the machine addresses
        return FOLIOT_STATUS_INVALID;
    void *block = allocate_zeroed(bytes);
    if (!block)
        return FOLIOT_STATUS_MEMORY;
    foliot_status status = foliot__world_init_zeroed(block, bytes, config, scene, world);
    if (status != FOLIOT_STATUS_OK)
        free_zeroed(block);
    return status;
}

foliot_status foliot_world_create(const foliot_scene *scene, foliot_world **world,
                                  foliot_error *error)
{
    foliot_status status = foliot_scene_check(scene, error);
    if (status != FOLIOT_STATUS_OK)
        return status;
    foliot_world_config config = foliot_world_config_default(scene);
    if (foliot_world_config_get_bytes(&config) == 0) // the scene is valid: it is the machine
        status = FOLIOT_STATUS_MEMORY;
    else
        status = foliot__world_create(&config, scene, world);
    if (status != FOLIOT_STATUS_OK)
        foliot_error_set(error, status, "%s", foliot_status_get_text(status));
    return status;
}

void foliot_world_destroy(foliot_world *world)
{
    free_zeroed(world);
}
