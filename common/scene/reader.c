// SPDX-License-Identifier: MIT
// reader.c: from a file to a checked scene in one heap block. Either the whole scene is valid, or
// nothing comes out but the first fault and its place. Knows no keys: keys.c does.
#include "foliot/scene.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "scene/assembly.h"

// -- the place of a problem that the check reports

// The node at `path` ("shape.half[1]") below `node`, or the innermost that exists on the way.
static const foliot__node *node_at_path(const foliot__node *node, const char *path)
{
    while (*path) {
        char key[64] = "";
        const foliot__node *next = NULL;
        if (*path == '[') {
            unsigned long index = strtoul(path + 1, NULL, 10);
            next = node->kind == FOLIOT__SEQUENCE ? node->as.first : NULL;
            for (; next && index > 0; index--)
                next = next->next;
            path += strcspn(path, "]") + 1;
        } else {
            size_t length = strcspn(path, ".[");
            snprintf(key, sizeof key, "%.*s", (int)(length < 63 ? length : 63), path);
            next = foliot__value_of(node, key);
            path += length;
        }
        if (!next)
            break;
        node = next;
        path += *path == '.';
    }
    return node;
}

// The origin of the item that "bodies[17].mass" names; *rest is what follows, "mass".
static const foliot__origin *origin_of(const foliot__assembly *assembly, const char *path,
                                       const char **list_name, const char **rest)
{
    const struct {
        const char *name;
        const foliot__list *list;
    } lists[] = {{"bodies", &assembly->bodies},
                 {"prototypes", &assembly->prototypes},
                 {"forces", &assembly->forces},
                 {"constraints", &assembly->constraints}};
    for (unsigned i = 0; i < sizeof lists / sizeof *lists; i++) {
        size_t length = strlen(lists[i].name);
        if (strncmp(path, lists[i].name, length) != 0 || path[length] != '[')
            continue;
        char *end;
        unsigned long index = strtoul(path + length + 1, &end, 10);
        *list_name = lists[i].name;
        *rest = end[1] == '.' ? end + 2 : end + 1;
        return index < lists[i].list->count ? &lists[i].list->origins[index] : NULL;
    }
    return NULL;
}

static void report_problem(foliot__assembly *assembly, const foliot__node *top,
                           const foliot_error *error)
{
    const char *sentence = error->text + (*error->path ? strlen(error->path) + 2 : 0);
    const char *list_name, *rest;
    const foliot__origin *origin = origin_of(assembly, error->path, &list_name, &rest);
    foliot__reading *reading = &assembly->source.reading;
    if (!origin) {
        foliot__fault_text(reading, error->status, node_at_path(top, error->path)->place,
                           error->path, sentence);
        return;
    }
    if (origin->csv) {
        foliot__csv_fault(assembly, origin, rest, error->status, sentence);
        return;
    }
    char path[sizeof error->path + 32];
    snprintf(path, sizeof path, "%s[%u]%s%s", list_name, (unsigned)origin->item_index,
             *rest ? "." : "", rest);
    foliot__fault_text(reading, error->status, node_at_path(origin->item, rest)->place, path,
                       sentence);
}

// -- the whole

// Copies the scene into one block that owns everything, by way of its canonical bytes.
static void copy_out(foliot__assembly *assembly, foliot_scene **scene)
{
    size_t length = 0;
    foliot_status status = foliot_scene_encode(&assembly->scene, NULL, 0, &length);
    uint8_t *bytes = status == FOLIOT_STATUS_OK ? malloc(length) : NULL;
    if (status == FOLIOT_STATUS_OK)
        status = bytes ? foliot_scene_encode(&assembly->scene, bytes, length, &length)
                       : FOLIOT_STATUS_MEMORY;
    const foliot_scene *from = &assembly->scene;
    size_t name_bytes = from->script.name ? strlen(from->script.name) + 1 : 0;
    char *spare = NULL;
    if (status == FOLIOT_STATUS_OK)
        status = foliot__scene_decode_into(bytes, length, name_bytes + from->script.bytes + 1,
                                           scene, &spare);
    free(bytes);
    if (status == FOLIOT_STATUS_OK && from->script.kind != FOLIOT_SCRIPT_NONE) {
        (*scene)->script.kind = from->script.kind;
        (*scene)->script.bytes = from->script.bytes;
        (*scene)->script.name = memcpy(spare, from->script.name, name_bytes);
        (*scene)->script.text = memcpy(spare + name_bytes, from->script.text, from->script.bytes);
    }
    if (status != FOLIOT_STATUS_OK)
        foliot__fault(&assembly->source.reading, status, (foliot__text_place){1, 1}, NULL, "%s",
                      foliot_status_get_text(status));
}

static void read_scene_text(foliot__assembly *assembly, const char *text, size_t length,
                            foliot_scene **scene)
{
    foliot__reading *reading = &assembly->source.reading;
    foliot_error error;
    const foliot__node *top = foliot__document_of(reading, text, length);
    if (top)
        foliot__read_scene_keys(assembly, top);
    if (reading->status != FOLIOT_STATUS_OK)
        return;
    foliot__assembly_finish_lists(assembly);
    if (foliot_scene_check(&assembly->scene, &error) != FOLIOT_STATUS_OK)
        report_problem(assembly, top, &error);
    else
        copy_out(assembly, scene);
}

foliot_status foliot_scene_parse(const char *text, size_t length, const char *name,
                                 const char *folder, foliot_scene **scene, foliot_error *error)
{
    foliot__assembly assembly;
    foliot__assembly_open(&assembly, name, folder, error);
    if (assembly.source.reading.status == FOLIOT_STATUS_OK)
        read_scene_text(&assembly, text, length, scene);
    return foliot__assembly_close(&assembly);
}

foliot_status foliot_scene_read(const char *file, foliot_scene **scene, foliot_error *error)
{
    foliot__assembly assembly;
    foliot__assembly_open(&assembly, file, ".", error);
    foliot__reading *reading = &assembly.source.reading;
    const char *slash = strrchr(file, '/');
    if (slash)
        reading->folder = foliot__reading_copy_text(reading, file, (size_t)(slash - file));
    if (slash == file)
        reading->folder = "/";
    size_t length = 0;
    int descriptor = reading->status == FOLIOT_STATUS_OK ? foliot__file_open(file) : -1;
    char *text = descriptor >= 0 ? foliot__file_text(reading, descriptor, &length) : NULL;
    if (text)
        read_scene_text(&assembly, text, length, scene);
    else
        foliot__fault(reading, FOLIOT_STATUS_IO, (foliot__text_place){0, 0}, NULL,
                      descriptor < 0 ? "cannot be opened: %s" : "cannot be read: %s",
                      foliot__file_problem(errno));
    return foliot__assembly_close(&assembly);
}
