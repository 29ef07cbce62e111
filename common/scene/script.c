// SPDX-License-Identifier: MIT
// script.c: the key `script`: where the rules of a session are. The text of a script is carried
// beside the scene; the scene itself has its digest, which peers and recordings compare.
#include "scene/key_tables.h"

#include <string.h>

#include "sim/math/hash.h"

static foliot_digest digest_of(const char *text, size_t length)
{
    const foliot__span span = {text, length, 1};
    return foliot__hash(&span, 1);
}

static void read_lua(foliot__scene_source *source, const foliot__node *node,
                     const foliot__path *path, void *target)
{
    foliot__assembly *assembly = foliot__assembly_of(source);
    foliot_scene *scene = target;
    const char *name;
    size_t length = 0;
    char *text = foliot__read_beside(assembly, node, path, &name, &length);
    if (!text)
        return;
    if (length > FOLIOT_SCRIPT_BYTES_MAX || length == 0) {
        foliot__fault(&source->reading, FOLIOT_STATUS_INVALID, node->place, path,
                      length ? "`%s` is larger than a script may be: 1 MiB" : "`%s` is empty",
                      name);
        return;
    }
    scene->script_kind = FOLIOT_SCRIPT_LUA;
    scene->script_name = name;
    scene->script_text = text;
    scene->script_bytes = length;
    scene->script = digest_of(text, length);
}

// A module is machine code, another file on every machine: its name stands for it.
static void read_module(foliot__scene_source *source, const foliot__node *node,
                        const foliot__path *path, void *target)
{
    foliot_scene *scene = target;
    const char *name;
    if (!foliot__read_text(source, node, path, &name))
        return;
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    if (!*base) {
        foliot__fault(&source->reading, FOLIOT_STATUS_INVALID, node->place, path,
                      "must be the path of a shared library");
        return;
    }
    scene->script_kind = FOLIOT_SCRIPT_MODULE;
    scene->script_name = name;
    scene->script_text = "";
    scene->script = digest_of(base, strlen(base));
}

static const foliot__key script_keys[] = {
    {"lua", FOLIOT__NESTED, 0, false, 1, NULL, read_lua},
    {"module", FOLIOT__NESTED, 0, false, 1, NULL, read_module},
    WHOLE("history", foliot_scene, history_ticks),
    END,
};

void foliot__read_script(foliot__scene_source *source, const foliot__node *node,
                         const foliot__path *path, void *target)
{
    foliot__read_mapping(source, node, path, script_keys, target);
    if (!foliot__source_is_fine(source))
        return;
    bool lua = foliot__value_of(node, "lua"), module = foliot__value_of(node, "module");
    if (lua == module)
        foliot__fault(&source->reading, FOLIOT_STATUS_INVALID, node->place, path,
                      "needs one key: `lua`, a file, or `module`, a shared library");
}
