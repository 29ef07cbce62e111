// SPDX-License-Identifier: MIT
// assembly.h: a scene under construction. Every item keeps the place in the text that it came from,
// so that a later check can name the place.
#ifndef FOLIOT_SCENE_ASSEMBLY_H
#define FOLIOT_SCENE_ASSEMBLY_H

#include "scene/document.h"
#include "sim/scene/scene.h"

// -- schema.c: reads a mapping by a table of its keys. A key that is unknown, repeated or missing,
// or has a value of another type, is a fault. Ranges are checked by foliot_scene_check.

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

// -- assembly.c: the scene under construction

// A CSV file in memory: its header and where it was named.
typedef struct foliot__csv foliot__csv;

// A rectangle of bodies, rows from top to bottom: body (row, column) is number first + row *
// columns + column.
typedef struct foliot__grid {
    uint32_t rows, columns, first;
} foliot__grid;

// Where a body, force or constraint was written.
typedef struct foliot__origin {
    const foliot__node *item; // of the list `bodies`, `prototypes`, `forces` or `constraints`
    uint32_t item_index;
    uint32_t csv_line;        // 0: not from a CSV file
    const foliot__csv *csv;   // NULL likewise
    const foliot__grid *grid; // that a body belongs to, or NULL
} foliot__origin;

typedef struct foliot__list {
    char *items; // heap
    foliot__origin *origins;
    size_t item_bytes;
    uint32_t count, capacity, count_max;
} foliot__list;

typedef struct foliot__assembly {
    foliot__scene_source source; // first member: an assembly is a source
    foliot_scene scene;          // its lists are set at the end
    double tick_hz;              // 0: not given
    foliot__list bodies, prototypes, forces, constraints;
} foliot__assembly;

// An empty assembly of the file called `name`; CSV files are looked for in `folder` (NULL: there
// are none). `error` receives the first fault. Without memory it begins with a fault.
void foliot__assembly_open(foliot__assembly *assembly, const char *name, const char *folder,
                           foliot_error *error);
// Frees it and returns the status of the reading.
foliot_status foliot__assembly_close(foliot__assembly *assembly);
// Points the scene's lists at the assembly's items.
void foliot__assembly_finish_lists(foliot__assembly *assembly);
// file_text.c: the whole file in the reading's arena, with a zero behind it. NULL and errno if it
// cannot be read. Closes the descriptor.
char *foliot__file_text(foliot__reading *reading, int descriptor, size_t *length);
// Appends a copy; false with a fault where the list is full.
bool foliot__list_append(foliot__assembly *assembly, foliot__list *list, const void *item,
                         const foliot__origin *origin, const foliot__path *path);

// keys.c: reads the whole document into the assembly.
// Whether units.time names the second.
bool foliot__time_in_seconds(const char *unit);
void foliot__read_scene_keys(foliot__assembly *assembly, const foliot__node *top);

// The text of a file that the value of `node` names, with a zero behind it; *name is that
// name. NULL with a fault.
char *foliot__read_beside(foliot__assembly *assembly, const foliot__node *node,
                          const foliot__path *path, const char **name, size_t *length);

// csv.c: appends the bodies of a file; `body` has the values for which there is no column.
void foliot__read_csv(foliot__assembly *assembly, const foliot__node *node,
                      const foliot__path *path, const foliot_body_definition *body,
                      const foliot__origin *origin);
// A fault at the cell that the body's value `key` ("position[1]") came from.
void foliot__csv_fault(foliot__assembly *assembly, const foliot__origin *origin, const char *key,
                       foliot_status status, const char *sentence);

// grid.c: appends the bodies of a grid; and one force or constraint for each of its links.
typedef enum foliot__grid_links {
    FOLIOT__LINKS_STRAIGHT,
    FOLIOT__LINKS_DIAGONAL,
    FOLIOT__LINKS_SECOND
} foliot__grid_links;
extern const char *const foliot__grid_links_words[];
void foliot__read_grid(foliot__assembly *assembly, const foliot__node *node,
                       const foliot__path *path, const foliot_body_definition *body,
                       const foliot__origin *origin);
// Calls `link` for every pair of linked bodies that are not both static, in a fixed order.
void foliot__each_link(foliot__assembly *assembly, const foliot__grid *grid, uint32_t links,
                       void (*link)(foliot__assembly *assembly, uint32_t a, uint32_t b,
                                    void *context),
                       void *context);
// The grid that `node` names; NULL with a fault.
const foliot__grid *foliot__grid_named(foliot__assembly *assembly, const foliot__node *node,
                                       const foliot__path *path);

static inline foliot_body_definition *foliot__body_at(const foliot__assembly *assembly,
                                                      uint32_t index)
{
    return (foliot_body_definition *)(void *)assembly->bodies.items + index;
}

#endif
