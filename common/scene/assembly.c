// SPDX-License-Identifier: MIT
// assembly.c: the growing lists of a scene and their memory. Knows no keys, no files and no CSV.
// Invariant: list->count <= list->capacity, and each item has an origin.
#include "scene/assembly.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "scene/key_tables.h"

// -- lists

static bool grow_list(foliot__list *list)
{
    uint32_t capacity = list->capacity ? 2 * list->capacity : 64;
    if (!foliot__array_resize(&list->items, capacity, list->item_bytes) ||
        !foliot__array_resize(&list->origins, capacity, sizeof *list->origins))
        return false;
    list->capacity = capacity;
    return true;
}

bool foliot__list_append(foliot__assembly *assembly, foliot__list *list, const void *item,
                         const foliot__origin *origin, const foliot__path *path)
{
    foliot__reading *reading = &assembly->source.reading;
    if (reading->status != FOLIOT_STATUS_OK)
        return false;
    if (list->count == list->count_max)
        foliot__fault(reading, FOLIOT_STATUS_INVALID, origin->item->place, path,
                      "this is one more than the %u that a world holds", (unsigned)list->count_max);
    else if (list->count == list->capacity && !grow_list(list))
        foliot__fault(reading, FOLIOT_STATUS_MEMORY, origin->item->place, path,
                      "no memory for a scene of this size");
    if (reading->status != FOLIOT_STATUS_OK)
        return false;
    memcpy(list->items + list->count * list->item_bytes, item, list->item_bytes);
    list->origins[list->count++] = *origin;
    return true;
}

void foliot__assembly_finish_lists(foliot__assembly *assembly)
{
    foliot_scene *scene = &assembly->scene;
    scene->bodies = (const foliot_body_definition *)(const void *)assembly->bodies.items;
    scene->body_count = assembly->bodies.count;
    scene->prototypes = (const foliot_body_definition *)(const void *)assembly->prototypes.items;
    scene->prototype_count = assembly->prototypes.count;
    scene->forces = (const foliot_force_definition *)(const void *)assembly->forces.items;
    scene->force_count = assembly->forces.count;
    scene->constraints =
        (const foliot_constraint_definition *)(const void *)assembly->constraints.items;
    scene->constraint_count = assembly->constraints.count;
}

// -- the whole

void foliot__assembly_open(foliot__assembly *assembly, const char *name, const char *folder,
                           foliot_error *error)
{
    memset(assembly, 0, sizeof *assembly);
    foliot__reading *reading = &assembly->source.reading;
    reading->file = name;
    reading->folder = folder;
    reading->error = error;
    reading->numbers = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    assembly->scene = foliot_scene_default();
    assembly->bodies.item_bytes = sizeof(foliot_body_definition);
    assembly->bodies.count_max = FOLIOT_BODIES_MAX;
    assembly->prototypes.item_bytes = sizeof(foliot_body_definition);
    assembly->prototypes.count_max = FOLIOT_PROTOTYPES_MAX;
    assembly->forces.item_bytes = sizeof(foliot_force_definition);
    assembly->forces.count_max = FOLIOT_FORCES_MAX;
    assembly->constraints.item_bytes = sizeof(foliot_constraint_definition);
    assembly->constraints.count_max = FOLIOT_CONSTRAINTS_MAX;
    if (!reading->numbers)
        foliot__fault(reading, FOLIOT_STATUS_MEMORY, (foliot__text_place){1, 1}, NULL, "no memory");
}

static void free_list(foliot__list *list)
{
    free(list->items);
    free(list->origins);
}

foliot_status foliot__assembly_close(foliot__assembly *assembly)
{
    free_list(&assembly->bodies);
    free_list(&assembly->prototypes);
    free_list(&assembly->forces);
    free_list(&assembly->constraints);
    foliot__arena_free(&assembly->source.reading.arena);
    if (assembly->source.reading.numbers)
        freelocale(assembly->source.reading.numbers);
    return assembly->source.reading.status;
}

// -- files that a scene names: tables of bodies and scripts. Only files next to or below the scene,
// and no symbolic links: a foreign scene must not read other files.

static bool is_inside(const char *name)
{
    if (!*name || name[0] == '/')
        return false;
    for (const char *at = name; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || !at[2]))
            return false;
    return true;
}

char *foliot__read_beside(foliot__assembly *assembly, const foliot__node *node,
                          const foliot__path *path, const char **name, size_t *length)
{
    foliot__scene_source *source = &assembly->source;
    foliot__reading *reading = &source->reading;
    if (!foliot__read_text(source, node, path, name))
        return NULL;
    if (!reading->folder || !is_inside(*name)) {
        foliot__fault(reading, FOLIOT_STATUS_INVALID, node->place, path,
                      reading->folder ? "must be a file in the scene's folder or in one below it"
                                      : "a scene that is not a file cannot name one");
        return NULL;
    }
    char *text =
        foliot__file_text(reading, foliot__file_open_below(reading->folder, *name), length);
    if (!text)
        foliot__fault(reading, FOLIOT_STATUS_INVALID, node->place, path,
                      "cannot read the file `%s`: %s", *name, foliot__file_problem(errno));
    else if (memchr(text, 0, *length))
        foliot__fault(reading, FOLIOT_STATUS_INVALID, node->place, path, "`%s` is not a text file",
                      *name);
    return foliot__source_is_fine(source) ? text : NULL;
}
