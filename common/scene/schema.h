// SPDX-License-Identifier: MIT
// schema.h: reads a mapping by a table of its keys. A key that is unknown, repeated or missing, or
// has a value of another type, is a fault. Ranges are checked by foliot_scene_check.
#ifndef FOLIOT_SCENE_SCHEMA_H
#define FOLIOT_SCENE_SCHEMA_H

#include "scene/document.h"
#include "sim/scene/scene.h"

// The names of the bodies, once they are read.
typedef struct foliot__names {
    const foliot__name_entry *entries; // sorted
    uint32_t count;
} foliot__names;

typedef struct foliot__scene_source {
    foliot__reading reading; // first member: a source is a reading
    foliot__names names;
} foliot__scene_source;

typedef enum foliot__type {
    FOLIOT__NUMBER, // double
    FOLIOT__VECTOR, // `count` doubles
    FOLIOT__WHOLE,  // uint32_t
    FOLIOT__SEED,   // uint64_t
    FOLIOT__FLAG,   // bool
    FOLIOT__TEXT,   // const char *
    FOLIOT__CHOICE, // uint32_t: the index among `words`
    FOLIOT__BODY,   // uint32_t: the index of the body of that name
    FOLIOT__NESTED, // `read` does it
    FOLIOT__SKIP,   // allowed here, read elsewhere
} foliot__type;

typedef struct foliot__key {
    const char *name; // NULL ends a table
    foliot__type type;
    size_t offset; // in the target
    bool required;
    uint32_t count;           // of a vector
    const char *const *words; // of a choice, NULL at the end
    void (*read)(foliot__scene_source *source, const foliot__node *node, const foliot__path *path,
                 void *target);
} foliot__key;

void foliot__read_mapping(foliot__scene_source *source, const foliot__node *node,
                          const foliot__path *path, const foliot__key *keys, void *target);
// Calls `item` for every item of a sequence, with its path.
typedef void foliot__item_reader(foliot__scene_source *source, const foliot__node *node,
                                 const foliot__path *path, void *target);
void foliot__read_sequence(foliot__scene_source *source, const foliot__node *node,
                           const foliot__path *path, foliot__item_reader *item, void *target);

// Single values, as a table's types read them. False with a fault.
bool foliot__read_number(foliot__scene_source *source, const foliot__node *node,
                         const foliot__path *path, double *number);
bool foliot__read_vector(foliot__scene_source *source, const foliot__node *node,
                         const foliot__path *path, uint32_t count, double *numbers);
bool foliot__read_whole(foliot__scene_source *source, const foliot__node *node,
                        const foliot__path *path, uint32_t *number);
bool foliot__read_text(foliot__scene_source *source, const foliot__node *node,
                       const foliot__path *path, const char **text);
bool foliot__read_choice(foliot__scene_source *source, const foliot__node *node,
                         const foliot__path *path, const char *const *words, uint32_t *choice);
// The choice that stands at `key` of a mapping, which decides what other keys it may have.
bool foliot__read_kind(foliot__scene_source *source, const foliot__node *node,
                       const foliot__path *path, const char *key, const char *const *words,
                       uint32_t *choice);

#endif
