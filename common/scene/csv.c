// SPDX-License-Identifier: MIT
// csv.c: bodies from a file of comma-separated values, a header line first. No quotes, no comments;
// spaces around a value are ignored, and an empty cell keeps the item's value. A fault has the
// place in the scene and, in its sentence, the place in the file.
#include "scene/assembly.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

#define COLUMNS_MAX 40

typedef enum cell_type {
    CELL_NUMBER,
    CELL_WHOLE,
    CELL_NAME,
    CELL_FLAG,
    CELL_SHAPE,
} cell_type;

// `path` is the value's path inside a body, as foliot_scene_check writes it.
typedef struct column {
    const char *name, *path;
    size_t offset;
    cell_type type;
} column;

// clang-format off
#define PLAIN(name, path, member, type) {name, path, offsetof(foliot_body_definition, member), type}
#define AXES(name, path, member) \
    PLAIN(name ".x", path "[0]", member[0], CELL_NUMBER), \
    PLAIN(name ".y", path "[1]", member[1], CELL_NUMBER), \
    PLAIN(name ".z", path "[2]", member[2], CELL_NUMBER)
static const column columns[] = {
    PLAIN("name", "name", name, CELL_NAME),
    PLAIN("static", "static", is_static, CELL_FLAG),
    PLAIN("kinematic", "kinematic", is_kinematic, CELL_FLAG),
    PLAIN("sensor", "sensor", is_sensor, CELL_FLAG),
    PLAIN("tag", "tag", tag, CELL_WHOLE),
    PLAIN("category", "filter.category", category, CELL_WHOLE),
    PLAIN("mask", "filter.mask", mask, CELL_WHOLE),
    PLAIN("gravity_scale", "gravity_scale", gravity_scale, CELL_NUMBER),
    PLAIN("linear_damping", "linear_damping", linear_damping, CELL_NUMBER),
    PLAIN("angular_damping", "angular_damping", angular_damping, CELL_NUMBER),
    PLAIN("mass", "mass", mass, CELL_NUMBER),
    AXES("inertia", "inertia", inertia),
    AXES("position", "position", position),
    AXES("velocity", "velocity", velocity),
    PLAIN("orientation.w", "orientation[0]", orientation[0], CELL_NUMBER),
    PLAIN("orientation.x", "orientation[1]", orientation[1], CELL_NUMBER),
    PLAIN("orientation.y", "orientation[2]", orientation[2], CELL_NUMBER),
    PLAIN("orientation.z", "orientation[3]", orientation[3], CELL_NUMBER),
    AXES("angular_velocity", "angular_velocity", angular_velocity),
    AXES("force", "force", force),
    PLAIN("friction", "friction", friction, CELL_NUMBER),
    PLAIN("restitution", "restitution", restitution, CELL_NUMBER),
    PLAIN("shape", "shape.kind", shape.kind, CELL_SHAPE),
    PLAIN("radius", "shape.radius", shape.radius, CELL_NUMBER),
    AXES("half", "shape.half", shape.half),
    PLAIN("half_length", "shape.half_length", shape.half[2], CELL_NUMBER),
};
// clang-format on
#define COLUMN_KINDS (sizeof columns / sizeof *columns)

struct foliot__csv {
    const char *name;         // as the scene writes it
    const foliot__node *node; // where
    const char *path;         // of that place: "bodies[3].csv"
    const char *text;
    const column *header[COLUMNS_MAX];
    uint32_t count;
};

// A cell without the spaces around it. `column` is its first character's, from 1.
typedef struct cell {
    const char *text;
    size_t length;
    uint32_t column;
} cell;

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

// The cell that starts at *at, which moves behind its comma; false at the end of the line.
static bool next_cell(const char *line, const char **at, const char *end, cell *c)
{
    if (*at > end)
        return false;
    const char *stop = memchr(*at, ',', (size_t)(end - *at));
    const char *first = *at, *last = stop ? stop : end;
    *at = stop ? stop + 1 : end + 1;
    while (first < last && is_space(*first))
        first++;
    while (last > first && is_space(last[-1]))
        last--;
    *c = (cell){first, (size_t)(last - first), 1};
    for (const char *i = line; i < first; i++)
        c->column += ((unsigned char)*i & 0xc0) != 0x80;
    return true;
}

static void fault_in_csv(foliot__reading *reading, const foliot__csv *csv, foliot_status status,
                         uint32_t line, uint32_t column_number, const char *sentence)
{
    char text[800];
    snprintf(text, sizeof text, "%s:%u:%u: %s", csv->name, (unsigned)line, (unsigned)column_number,
             sentence);
    foliot__fault_text(reading, status, csv->node->place, csv->path, text);
}

static void fault_in_cell(foliot__reading *reading, const foliot__csv *csv, uint32_t line,
                          const cell *c, const column *kind, const char *sentence)
{
    char text[200];
    snprintf(text, sizeof text, "%s: %s", kind->name, sentence);
    fault_in_csv(reading, csv, FOLIOT_STATUS_INVALID, line, c->column, text);
}

// -- the header

static const column *column_named(const cell *c)
{
    for (unsigned i = 0; i < COLUMN_KINDS; i++)
        if (strlen(columns[i].name) == c->length &&
            memcmp(columns[i].name, c->text, c->length) == 0)
            return &columns[i];
    return NULL;
}

static void refuse_column(foliot__reading *reading, const foliot__csv *csv, uint32_t line,
                          const cell *c)
{
    const char *names[COLUMN_KINDS];
    char written[65], text[200];
    for (unsigned i = 0; i < COLUMN_KINDS; i++)
        names[i] = columns[i].name;
    snprintf(written, sizeof written, "%.*s", c->length < 64 ? (int)c->length : 64, c->text);
    const char *meant = foliot__nearest(written, names, COLUMN_KINDS);
    // A file that is not a table may be a private file that a foreign scene names: nothing of it is
    // shown.
    if (meant && foliot__word_close(written, foliot__word_distance(written, meant)))
        snprintf(text, sizeof text, "no column is called `%s`; did you mean `%s`?", written, meant);
    else
        snprintf(text, sizeof text,
                 "this column is not a field of a body (name, mass, position.x ...)");
    fault_in_csv(reading, csv, FOLIOT_STATUS_INVALID, line, c->column, text);
}

static void read_header(foliot__reading *reading, foliot__csv *csv, const char *text,
                        const char *end, uint32_t line)
{
    const char *at = text;
    cell c;
    while (reading->status == FOLIOT_STATUS_OK && next_cell(text, &at, end, &c)) {
        const column *kind = column_named(&c);
        if (!kind) {
            refuse_column(reading, csv, line, &c);
            return;
        }
        for (uint32_t i = 0; i < csv->count; i++)
            if (csv->header[i] == kind)
                fault_in_cell(reading, csv, line, &c, kind, "this column is given twice");
        if (reading->status == FOLIOT_STATUS_OK) // each kind once: there is room
            csv->header[csv->count++] = kind;
    }
}
_Static_assert(COLUMN_KINDS <= COLUMNS_MAX, "every column fits");

// -- rows

static const char *read_number_cell(foliot__reading *reading, const char *text, double *number)
{
    foliot__number_fault wrong = foliot__number_of(reading, text, number);
    return wrong == FOLIOT__NUMBER_OK ? NULL : foliot__number_fault_text(wrong);
}

static const char *read_whole_cell(const char *text, uint32_t *number)
{
    uint64_t wide;
    if (!foliot__whole_of(text, &wide) || wide > UINT32_MAX)
        return "must be a whole number, 0 or greater";
    *number = (uint32_t)wide;
    return NULL;
}

static const char *read_flag_cell(const char *text, bool *flag)
{
    *flag = strcmp(text, "true") == 0;
    return *flag || strcmp(text, "false") == 0 ? NULL : "must be true or false";
}

static const char *read_shape_cell(const char *text, uint32_t *kind)
{
    static const char *const words[] = {"point", "sphere", NULL, "box", "capsule"};
    for (*kind = 0; *kind < sizeof words / sizeof *words; ++*kind)
        if (words[*kind] && strcmp(words[*kind], text) == 0)
            return NULL;
    return "must be point, sphere, box or capsule";
}

static void read_cell(foliot__reading *reading, const foliot__csv *csv, uint32_t line,
                      const cell *c, const column *kind, foliot_body_definition *body)
{
    void *target = (char *)body + kind->offset;
    const char *sentence = NULL;
    char text[128];
    if (c->length == 0)
        return;
    snprintf(text, sizeof text, "%.*s", c->length < 128 ? (int)c->length : 127, c->text);
    if (kind->type == CELL_NAME)
        *(const char **)target = foliot__reading_copy_text(reading, c->text, c->length);
    else if (c->length >= sizeof text)
        sentence = "is too long";
    else if (kind->type == CELL_NUMBER)
        sentence = read_number_cell(reading, text, target);
    else if (kind->type == CELL_WHOLE)
        sentence = read_whole_cell(text, target);
    else if (kind->type == CELL_FLAG)
        sentence = read_flag_cell(text, target);
    else
        sentence = read_shape_cell(text, target);
    if (sentence)
        fault_in_cell(reading, csv, line, c, kind, sentence);
}

static void read_row(foliot__assembly *assembly, const foliot__csv *csv, const char *text,
                     const char *end, const foliot_body_definition *standard,
                     const foliot__origin *origin)
{
    foliot__reading *reading = &assembly->source.reading;
    foliot_body_definition body = *standard;
    const char *at = text;
    uint32_t count = 0;
    cell c;
    for (;
         reading->status == FOLIOT_STATUS_OK && count < csv->count && next_cell(text, &at, end, &c);
         count++)
        read_cell(reading, csv, origin->csv_line, &c, csv->header[count], &body);
    for (; at <= end; count++) { // cells beyond the header are counted only
        const char *stop = memchr(at, ',', (size_t)(end - at));
        at = stop ? stop + 1 : end + 1;
    }
    if (reading->status == FOLIOT_STATUS_OK && count != csv->count) {
        char sentence[80];
        snprintf(sentence, sizeof sentence, "the header has %u cells, this line has %u",
                 (unsigned)csv->count, (unsigned)count);
        fault_in_csv(reading, csv, FOLIOT_STATUS_INVALID, origin->csv_line, 1, sentence);
    }
    foliot__list_append(assembly, &assembly->bodies, &body, origin, NULL);
}

static void read_lines(foliot__assembly *assembly, foliot__csv *csv, size_t length,
                       const foliot_body_definition *body, foliot__origin origin)
{
    foliot__reading *reading = &assembly->source.reading;
    const char *at = csv->text, *stop = csv->text + length;
    uint32_t before = assembly->bodies.count;
    origin.csv = csv;
    for (origin.csv_line = 1; at < stop && reading->status == FOLIOT_STATUS_OK; origin.csv_line++) {
        const char *newline = memchr(at, '\n', (size_t)(stop - at));
        const char *end = newline ? newline : stop;
        const char *text = at;
        while (text < end && is_space(*text))
            text++;
        if (text != end) {
            if (csv->count == 0)
                read_header(reading, csv, at, end, origin.csv_line);
            else
                read_row(assembly, csv, at, end, body, &origin);
        }
        at = end + 1;
    }
    if (assembly->bodies.count == before)
        fault_in_csv(reading, csv, FOLIOT_STATUS_INVALID, origin.csv_line, 1,
                     csv->count ? "there is no body in this file" : "the file is empty");
}

// -- the file

void foliot__read_csv(foliot__assembly *assembly, const foliot__node *node,
                      const foliot__path *path, const foliot_body_definition *body,
                      const foliot__origin *origin)
{
    foliot__reading *reading = &assembly->source.reading;
    const char *name;
    char path_text[64];
    size_t length = 0;
    char *text = foliot__read_beside(assembly, node, path, &name, &length);
    if (!text)
        return;
    foliot__csv *csv = foliot__reading_allocate(reading, sizeof *csv);
    foliot__path_text(path, path_text, sizeof path_text);
    if (!csv)
        return;
    *csv = (foliot__csv){.name = name, .node = node, .text = text};
    csv->path = foliot__reading_copy_text(reading, path_text, strlen(path_text));
    read_lines(assembly, csv, length, body, *origin);
}

// The start of line `number`, which exists.
static const char *line_at(const char *text, uint32_t number)
{
    while (--number)
        text = strchr(text, '\n') + 1;
    return text;
}

void foliot__csv_fault(foliot__assembly *assembly, const foliot__origin *origin, const char *key,
                       foliot_status status, const char *sentence)
{
    const foliot__csv *csv = origin->csv;
    const char *line = line_at(csv->text, origin->csv_line), *at = line, *end = strchr(line, '\n');
    char text[740];
    size_t length = strlen(key);
    cell c = {line, 0, 1};
    const char *name = key;
    for (uint32_t i = 0; i < csv->count; i++) {
        next_cell(line, &at, end ? end : line + strlen(line), &c);
        const char *column_path = csv->header[i]->path;
        bool part = strncmp(column_path, key, length) == 0 &&
                    (!column_path[length] || column_path[length] == '[');
        if (part) {
            name = csv->header[i]->name;
            break;
        }
        c.column = 1; // the fault is in no single column
    }
    snprintf(text, sizeof text, "%s: %s", name, sentence);
    fault_in_csv(&assembly->source.reading, csv, status, origin->csv_line, c.column, text);
}
