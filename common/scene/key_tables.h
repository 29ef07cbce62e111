// SPDX-License-Identifier: MIT
// key_tables.h: how the tables of keys are written, and what their readers share.
#ifndef FOLIOT_SCENE_KEY_TABLES_H
#define FOLIOT_SCENE_KEY_TABLES_H

#include "scene/assembly.h"

#define END                                                                                        \
    {                                                                                              \
        NULL, FOLIOT__SKIP, 0, false, 0, NULL, NULL                                                \
    }

// clang-format off
#define NUMBER(name, structure, member) {name, FOLIOT__NUMBER, offsetof(structure, member), false, 1, NULL, NULL}
#define VECTOR(name, structure, member, count) {name, FOLIOT__VECTOR, offsetof(structure, member), false, count, NULL, NULL}
#define WHOLE(name, structure, member) {name, FOLIOT__WHOLE, offsetof(structure, member), false, 1, NULL, NULL}
#define FLAG(name, structure, member) {name, FOLIOT__FLAG, offsetof(structure, member), false, 1, NULL, NULL}
#define TEXT(name, structure, member) {name, FOLIOT__TEXT, offsetof(structure, member), false, 1, NULL, NULL}
#define CHOICE(name, structure, member, words) {name, FOLIOT__CHOICE, offsetof(structure, member), false, 1, words, NULL}
#define BODY(name, structure, member) {name, FOLIOT__BODY, offsetof(structure, member), false, 1, NULL, NULL}
#define NESTED(name, structure, member, read) {name, FOLIOT__NESTED, offsetof(structure, member), false, 1, NULL, read}
#define SKIP(name) {name, FOLIOT__SKIP, 0, false, 1, NULL, NULL}
#define REQUIRED(name, type, structure, member, count) {name, type, offsetof(structure, member), true, count, NULL, NULL}
// clang-format on

static inline foliot__assembly *foliot__assembly_of(foliot__scene_source *source)
{
    return (foliot__assembly *)(void *)source;
}

static inline bool foliot__source_is_fine(const foliot__scene_source *source)
{
    return source->reading.status == FOLIOT_STATUS_OK;
}

// A fault at the value of `key` in the mapping `node`, or at the mapping's start if there is none.
static inline void foliot__fault_at_key(foliot__scene_source *source, const foliot__node *node,
                                        const foliot__path *path, const char *key,
                                        const char *sentence)
{
    foliot__path step = {path, key, 0};
    const foliot__node *value = node->kind == FOLIOT__MAPPING ? foliot__value_of(node, key) : NULL;
    foliot__fault(&source->reading, FOLIOT_STATUS_INVALID, value ? value->place : node->place,
                  &step, "%s", sentence);
}

// False for the zero vector.
static inline bool foliot__normalise(double v[3])
{
    double length = __builtin_sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (unsigned k = 0; k < 3 && length > 0; k++)
        v[k] /= length;
    return length > 0;
}

// -- springs and constraints: from `a` to `b` or to an anchor, or along a grid's links

// The contents of an item of `forces` and `constraints`: the definition and its links.
typedef struct foliot__link_item {
    union {
        foliot_force_definition force;
        foliot_constraint_definition constraint;
    } as;
    uint32_t links; // foliot__grid_links
} foliot__link_item;

typedef struct foliot__ends {
    bool grid;   // along a grid
    bool length; // the key is given
} foliot__ends;

// The data to create one link of a grid from the item's definition.
typedef struct foliot__grid_context {
    foliot__link_item item;
    foliot__ends ends;
    const foliot__origin *origin;
    const foliot__path *path;
    const foliot__node *node;
} foliot__grid_context;

// constraint_keys.c: which of `a`, `b`, the anchor and `grid` are given. Exactly one of three forms
// is allowed. If the last argument is true, an anchor may be given together with `b`.
foliot__ends foliot__link_ends(foliot__scene_source *source, const foliot__node *node,
                               const foliot__path *path, bool beside);
double foliot__distance_at_start(const foliot__assembly *assembly, uint32_t a, uint32_t b,
                                 const double anchor[3]);
// One item of the list `constraints`; `target` is the assembly.
void foliot__read_constraint_item(foliot__scene_source *source, const foliot__node *node,
                                  const foliot__path *path, void *target);

#endif
