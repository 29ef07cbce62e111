// SPDX-License-Identifier: MIT
// document.h: a YAML (or JSON) text as a tree. Strict: one document; no anchors, aliases, tags or
// directives; keys are plain text. document.c alone uses libyaml.
#ifndef FOLIOT_SCENE_DOCUMENT_H
#define FOLIOT_SCENE_DOCUMENT_H

#include <locale.h>
#include <stdbool.h>
#include <stdint.h>

#include "foliot/scene.h"

// -- reading.c: the state of reading one scene: the first fault, places in the text, and an arena
// that lives as long as the reading. Invariant: after the first fault the status never changes.

// Memory in chunks that is freed all at once. Blocks never move before that.
typedef struct foliot__arena {
    struct foliot__arena_chunk *newest; // NULL: empty; an all-zero arena is empty
} foliot__arena;
void foliot__arena_free(foliot__arena *arena);

// The way to a value: a key, or an index where `key` is NULL. The top has no step: NULL.
typedef struct foliot__path {
    const struct foliot__path *up;
    const char *key;
    uint32_t index;
} foliot__path;

// A place in the text, from 1.
typedef struct foliot__text_place {
    uint32_t line, column;
} foliot__text_place;

typedef struct foliot__reading {
    const char *file;   // its name in messages
    const char *folder; // of CSV files; NULL: there are none
    foliot_error *error;
    foliot_status status;
    foliot__arena arena;
    size_t file_bytes; // read so far, of all its files
    locale_t numbers;  // the C locale, whatever the program's is
} foliot__reading;

// Keeps the first fault: "file:line:column: path: sentence". Without "path: " if path is NULL, and
// without line and column if the line is 0 (a fault of the file as a whole).
// Control characters, which a hostile text may contain, become question marks.
__attribute__((format(printf, 5, 6))) void
foliot__fault(foliot__reading *reading, foliot_status status, foliot__text_place place,
              const foliot__path *path, const char *format, ...);
// As foliot__fault, with a path in words already.
void foliot__fault_text(foliot__reading *reading, foliot_status status, foliot__text_place place,
                        const char *path, const char *sentence);
// The steps as "bodies[3].shape.radius".
void foliot__path_text(const foliot__path *path, char *text, size_t bytes);

// Memory from the arena; a fault and NULL if there is none.
void *foliot__reading_allocate(foliot__reading *reading, size_t bytes);
const char *foliot__reading_copy_text(foliot__reading *reading, const char *text, size_t length);

// The word of `words` that `written` is a likely slip of; NULL if none is close.
const char *foliot__nearest(const char *written, const char *const *words, uint32_t count);

typedef enum foliot__number_fault {
    FOLIOT__NUMBER_OK,
    FOLIOT__NUMBER_NONE,     // no number at all
    FOLIOT__NUMBER_INFINITE, // an infinity or a NaN by name
    FOLIOT__NUMBER_LARGE,    // beyond binary64
    FOLIOT__NUMBER_SMALL,    // not 0, but below the range of binary64
} foliot__number_fault;

// Decimal or hexadecimal, correctly rounded. The whole text must be the number.
foliot__number_fault foliot__number_of(const foliot__reading *reading, const char *text,
                                       double *number);
// Digits, or 0x and hexadecimal digits; false if there is anything else or it is beyond 64 bits.
bool foliot__whole_of(const char *text, uint64_t *number);
const char *foliot__number_fault_text(foliot__number_fault fault);

// -- document.c: the text as a tree

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
