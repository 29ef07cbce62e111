// SPDX-License-Identifier: MIT
// document.h: a YAML (or JSON) text as a tree. Strict: one document; no anchors, aliases, tags or
// directives; keys are plain text. document.c alone uses libyaml.
#ifndef FOLIOT_SCENE_DOCUMENT_H
#define FOLIOT_SCENE_DOCUMENT_H

#include "scene/reading.h"

typedef enum foliot__node_kind {
    FOLIOT__SCALAR,
    FOLIOT__SEQUENCE,
    FOLIOT__MAPPING, // its children are key, value, key, value ...
} foliot__node_kind;

typedef struct foliot__node {
    union {
        const char *text;           // scalar; no zero bytes but the closing one
        struct foliot__node *first; // child
    } as;
    struct foliot__node *next; // sibling
    foliot__text_place place;
    uint32_t count; // of children, keys and values both counted
    uint8_t kind;   // foliot__node_kind
    bool plain;     // scalar without quotes: may be a number
} foliot__node;

// The document's top node; NULL with a fault in `reading` if the text has none.
foliot__node *foliot__document_of(foliot__reading *reading, const char *text, size_t length);

// The value of a key of a mapping; NULL if there is none.
const foliot__node *foliot__value_of(const foliot__node *mapping, const char *key);

#endif
