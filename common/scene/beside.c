// SPDX-License-Identifier: MIT
// beside.c: files that a scene names: tables of bodies and scripts. Only files beside or below the
// scene, and no symbolic links: a foreign scene must not read other files.
#include "scene/key_tables.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"

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
                      reading->folder ? "must be a file beside the scene or in a folder below it"
                                      : "a scene that is no file cannot name one");
        return NULL;
    }
    char *text =
        foliot__file_text(reading, foliot__file_open_below(reading->folder, *name), length);
    if (!text)
        foliot__fault(reading, FOLIOT_STATUS_INVALID, node->place, path,
                      "cannot read the file `%s`: %s", *name, foliot__file_problem(errno));
    else if (memchr(text, 0, *length))
        foliot__fault(reading, FOLIOT_STATUS_INVALID, node->place, path, "`%s` is no text file",
                      *name);
    return foliot__source_is_fine(source) ? text : NULL;
}
