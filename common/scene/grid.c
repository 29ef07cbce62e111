// SPDX-License-Identifier: MIT
// grid.c: rectangles of equal bodies and the links between them, for cloth, nets, chains and jelly.
// A grid is shorthand: it expands to plain bodies, springs and constraints, in a fixed order.
#include "scene/assembly.h"

#include <stdio.h>
#include <string.h>

const char *const foliot__grid_links_words[] = {"straight", "diagonal", "second", NULL};

// The keys of `grid`.
typedef struct grid_item {
    uint32_t rows, columns;
    double right[3], down[3];
    const foliot__node *pins;
    foliot__path pins_path;
    const foliot__path *path;
} grid_item;

static void keep_pins(foliot__scene_source *source, const foliot__node *node,
                      const foliot__path *path, void *target)
{
    (void)source, (void)path;
    *(const foliot__node **)target = node;
}

static const foliot__key grid_keys[] = {
    {"rows", FOLIOT__WHOLE, offsetof(grid_item, rows), false, 1, NULL, NULL},
    {"columns", FOLIOT__WHOLE, offsetof(grid_item, columns), true, 1, NULL, NULL},
    {"right", FOLIOT__VECTOR, offsetof(grid_item, right), true, 3, NULL, NULL},
    {"down", FOLIOT__VECTOR, offsetof(grid_item, down), false, 3, NULL, NULL},
    {"pins", FOLIOT__NESTED, offsetof(grid_item, pins), false, 1, NULL, keep_pins},
    {NULL, FOLIOT__SKIP, 0, false, 0, NULL, NULL},
};

static bool check_size(foliot__scene_source *source, const foliot__node *node,
                       const foliot__path *path, const grid_item *item)
{
    uint64_t count = (uint64_t)item->rows * item->columns;
    if (count < 1 || count > FOLIOT_BODIES_MAX)
        foliot__fault(&source->reading, FOLIOT_STATUS_INVALID, node->place, path,
                      "must have between 1 and %u bodies: `rows` times `columns`",
                      FOLIOT_BODIES_MAX);
    return source->reading.status == FOLIOT_STATUS_OK;
}

static const char *name_of(foliot__scene_source *source, const char *name, uint32_t row,
                           uint32_t column)
{
    char text[2 * FOLIOT_NAME_BYTES + 32];
    if (!name || !*name)
        return NULL;
    snprintf(text, sizeof text, "%.100s.%u.%u", name, (unsigned)row, (unsigned)column);
    return foliot__reading_copy_text(&source->reading, text, strlen(text));
}

static void append_bodies(foliot__assembly *assembly, const grid_item *item,
                          const foliot_body_definition *body, const foliot__origin *origin,
                          const foliot__path *path)
{
    for (uint32_t row = 0; row < item->rows; row++)
        for (uint32_t column = 0; column < item->columns; column++) {
            foliot_body_definition one = *body;
            one.name = name_of(&assembly->source, body->name, row, column);
            for (unsigned k = 0; k < 3; k++)
                one.position[k] += column * item->right[k] + row * item->down[k];
            if (!foliot__list_append(assembly, &assembly->bodies, &one, origin, path))
                return;
        }
}

// A pin makes a body static.
static void pin_body(foliot__scene_source *source, const foliot__node *node,
                     const foliot__path *path, void *target)
{
    const foliot__grid *grid = target;
    foliot__assembly *assembly = (foliot__assembly *)(void *)source;
    uint32_t at[2] = {0, 0};
    if (node->kind != FOLIOT__SEQUENCE || node->count != 2) {
        foliot__fault(&source->reading, FOLIOT_STATUS_INVALID, node->place, path,
                      "must be a row and a column: [0, 0] is the first body");
        return;
    }
    foliot__path step = {path, NULL, 0};
    for (const foliot__node *value = node->as.first; value; value = value->next, step.index++)
        if (!foliot__read_whole(source, value, &step, &at[step.index]))
            return;
    if (at[0] >= grid->rows || at[1] >= grid->columns) {
        foliot__fault(&source->reading, FOLIOT_STATUS_INVALID, node->place, path,
                      "lies outside the grid of %u rows and %u columns", (unsigned)grid->rows,
                      (unsigned)grid->columns);
        return;
    }
    foliot_body_definition *body =
        foliot__body_at(assembly, grid->first + at[0] * grid->columns + at[1]);
    body->is_static = true;
    memset(body->velocity, 0, sizeof body->velocity);
    memset(body->angular_velocity, 0, sizeof body->angular_velocity);
    memset(body->force, 0, sizeof body->force);
}

void foliot__read_grid(foliot__assembly *assembly, const foliot__node *node,
                       const foliot__path *path, const foliot_body_definition *body,
                       const foliot__origin *origin)
{
    foliot__scene_source *source = &assembly->source;
    grid_item item = {.rows = 1, .path = path};
    foliot__read_mapping(source, node, path, grid_keys, &item);
    if (source->reading.status != FOLIOT_STATUS_OK || !check_size(source, node, path, &item))
        return;
    foliot__grid *grid = foliot__reading_allocate(&source->reading, sizeof *grid);
    if (!grid)
        return;
    *grid = (foliot__grid){item.rows, item.columns, assembly->bodies.count};
    foliot__origin with_grid = *origin;
    with_grid.grid = grid;
    append_bodies(assembly, &item, body, &with_grid, path);
    if (item.pins && source->reading.status == FOLIOT_STATUS_OK)
        foliot__read_sequence(source, item.pins, &(foliot__path){path, "pins", 0}, pin_body, grid);
}

const foliot__grid *foliot__grid_named(foliot__assembly *assembly, const foliot__node *node,
                                       const foliot__path *path)
{
    foliot__scene_source *source = &assembly->source;
    const char *name;
    if (!foliot__read_text(source, node, path, &name))
        return NULL;
    const char *first = name_of(source, name, 0, 0);
    uint32_t index = FOLIOT_NO_BODY;
    if (first)
        index = foliot__names_find(source->names.entries, source->names.count, first);
    const foliot__grid *grid = NULL;
    if (index != FOLIOT_NO_BODY)
        grid = assembly->bodies.origins[index].grid;
    if (!grid)
        foliot__fault(&source->reading, FOLIOT_STATUS_INVALID, node->place, path,
                      "no grid is called `%.64s`", name);
    return grid;
}

// The offsets (rows, columns) from a body to those that it is linked with.
static const int8_t link_steps[][2][2] = {
    [FOLIOT__LINKS_STRAIGHT] = {{0, 1}, {1, 0}},
    [FOLIOT__LINKS_DIAGONAL] = {{1, 1}, {1, -1}},
    [FOLIOT__LINKS_SECOND] = {{0, 2}, {2, 0}},
};

void foliot__each_link(foliot__assembly *assembly, const foliot__grid *grid, uint32_t links,
                       void (*link)(foliot__assembly *assembly, uint32_t a, uint32_t b,
                                    void *context),
                       void *context)
{
    uint32_t count = grid->rows * grid->columns;
    for (uint32_t i = 0; i < 2 * count; i++) {
        const int8_t *step = link_steps[links][i % 2];
        int64_t row = i / 2 / grid->columns + step[0];
        int64_t column = (int64_t)(i / 2 % grid->columns) + step[1];
        if (row >= grid->rows || column < 0 || column >= grid->columns)
            continue;
        uint32_t a = grid->first + i / 2,
                 b = grid->first + (uint32_t)(row * grid->columns + column);
        if (foliot__body_at(assembly, a)->is_static && foliot__body_at(assembly, b)->is_static)
            continue;
        link(assembly, a, b, context);
        if (assembly->source.reading.status != FOLIOT_STATUS_OK)
            return;
    }
}
