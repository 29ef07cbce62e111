// SPDX-License-Identifier: MIT
// state_layers.c: one side's trace at one tick, as numbers with names, stage by stage, and what two
// of them differ in. Knows nothing of files and peers.
#include "divergence/state_layers.h"

#include "base/array.h"
#include "base/rng.h"
#include "simulation/simulation.h"

#include <stdlib.h>
#include <string.h>

#define ROW_WORDS 8 // a part, where a simulation names none: 64 saved bytes

foliot_status foliot_step_trace_create(foliot_step_trace **trace)
{
    *trace = calloc(1, sizeof **trace);
    return *trace ? FOLIOT_STATUS_OK : FOLIOT_STATUS_MEMORY;
}

void foliot_step_trace_destroy(foliot_step_trace *trace)
{
    if (!trace)
        return;
    for (uint32_t i = 0; i < FOLIOT__LAYERS_MAX; i++) {
        free(trace->layer[i].parts);
        free(trace->layer[i].bits);
    }
    free(trace->names);
    free(trace->row);
    foliot__buffer_free(&trace->saved);
    free(trace);
}

void foliot_step_trace_reset(foliot_step_trace *trace, uint64_t tick)
{
    trace->tick = tick;
    trace->kind = NULL;
    trace->stage_count = 0;
    trace->status = FOLIOT_STATUS_OK;
    trace->name_count = 0;
    trace->list_count = 0;
    for (uint32_t i = 0; i < FOLIOT__LAYERS_MAX; i++) {
        foliot__trace_layer *layer = &trace->layer[i];
        layer->taken = false;
        layer->part_count = 0;
        layer->field_count = 0;
    }
}

uint64_t foliot_step_trace_get_tick(const foliot_step_trace *trace)
{
    return trace->tick;
}

// -- taking

// Grown by an eighth at a time: a layer of a large world has megabytes.
static bool reserve_bits(foliot__trace_layer *layer, uint32_t more)
{
    size_t needed = layer->field_count + more;
    if (needed <= layer->field_capacity)
        return true;
    size_t capacity = needed + needed / 8 + 64;
    if (!foliot__array_resize(&layer->bits, capacity, sizeof *layer->bits))
        return false;
    layer->field_capacity = capacity;
    return true;
}

// Room for a part's fields, all zeros.
static bool prepare_row(foliot_step_trace *trace, uint32_t count)
{
    if (!foliot__array_reserve(&trace->row, &trace->row_capacity, count, count, sizeof *trace->row))
        return false;
    if (count)
        memset(trace->row, 0, sizeof *trace->row * count);
    return true;
}

static bool names_row(const foliot_step_trace *trace, const struct foliot__field_list *list,
                      uint32_t count)
{
    const foliot__field_name *names = trace->names + list->name;
    for (uint32_t i = 0; list->count == count && i < count; i++)
        if (names[i].name != trace->row[i].name || names[i].type != trace->row[i].type)
            return false;
    return list->count == count;
}

// Where the names of the fields in the row are; of the parts before, mostly.
static bool find_names(foliot_step_trace *trace, uint32_t count, size_t *name)
{
    uint32_t lists =
        trace->list_count < FOLIOT__FIELD_LISTS ? trace->list_count : FOLIOT__FIELD_LISTS;
    *name = 0;
    if (count == 0)
        return true;
    for (uint32_t i = 1; i <= lists; i++) {
        const struct foliot__field_list *list =
            &trace->lists[(trace->list_count - i) % FOLIOT__FIELD_LISTS];
        *name = list->name;
        if (names_row(trace, list, count))
            return true;
    }
    *name = trace->name_count;
    if (trace->name_count + count > trace->name_capacity) {
        size_t capacity = 2 * trace->name_capacity + count;
        if (!foliot__array_resize(&trace->names, capacity, sizeof *trace->names))
            return false;
        trace->name_capacity = capacity;
    }
    for (uint32_t i = 0; i < count; i++)
        trace->names[trace->name_count++] =
            (foliot__field_name){trace->row[i].name, trace->row[i].type};
    trace->lists[trace->list_count++ % FOLIOT__FIELD_LISTS] =
        (struct foliot__field_list){*name, count};
    return true;
}

// A part, whose fields are in the row.
static bool add_part(foliot_step_trace *trace, foliot__trace_layer *layer,
                     const foliot_simulation_part *about)
{
    size_t name;
    if (!reserve_bits(layer, about->field_count) || !find_names(trace, about->field_count, &name))
        return false;
    layer->parts[layer->part_count++] =
        (foliot__state_part){.group = about->group ? about->group : "part",
                             .index = about->index,
                             .field = layer->field_count,
                             .name = name,
                             .field_count = about->field_count};
    for (uint32_t i = 0; i < about->field_count; i++)
        layer->bits[layer->field_count++] = trace->row[i].bits;
    return true;
}

static bool capture_parts(foliot_step_trace *trace, foliot__trace_layer *layer,
                          const foliot_simulation *simulation)
{
    const foliot_simulation_kind *kind = simulation->kind;
    uint32_t count = kind->part_count(simulation->self);
    if (!foliot__array_reserve(&layer->parts, &layer->part_capacity, count, count,
                               sizeof *layer->parts))
        return false;
    for (uint32_t part = 0; part < count; part++) {
        foliot_simulation_part about = {.index = part};
        kind->part(simulation->self, part, &about);
        if (!prepare_row(trace, about.field_count))
            return false;
        kind->fields(simulation->self, part, trace->row);
        if (!add_part(trace, layer, &about))
            return false;
    }
    return true;
}

// Rows of 64 saved bytes, named by their offsets, in words of eight, little-endian.
static bool capture_bytes(foliot_step_trace *trace, foliot__trace_layer *layer,
                          const uint8_t *bytes, size_t length)
{
    size_t words = (length + 7) / 8;
    uint32_t rows = (uint32_t)((words + ROW_WORDS - 1) / ROW_WORDS);
    if (!foliot__array_reserve(&layer->parts, &layer->part_capacity, rows, rows,
                               sizeof *layer->parts))
        return false;
    for (uint32_t row = 0; row < rows; row++) {
        size_t first = (size_t)row * ROW_WORDS;
        uint32_t count = words - first < ROW_WORDS ? (uint32_t)(words - first) : ROW_WORDS;
        const foliot_simulation_part about = {"saved bytes from", first * 8, count};
        if (!prepare_row(trace, count))
            return false;
        for (size_t word = first; word < first + count; word++) {
            uint64_t bits = 0;
            for (size_t k = 0; k < 8 && word * 8 + k < length; k++)
                bits |= (uint64_t)bytes[word * 8 + k] << (8 * k);
            trace->row[word - first] =
                (foliot_simulation_field){.type = FOLIOT_VALUE_U64, .bits = bits};
        }
        if (!add_part(trace, layer, &about))
            return false;
    }
    return true;
}

static foliot_status capture_layer(foliot_step_trace *trace, uint32_t index,
                                   const foliot_simulation *simulation)
{
    foliot__trace_layer *layer = &trace->layer[index];
    bool complete;
    trace->kind = simulation->kind;
    layer->part_count = 0;
    layer->field_count = 0;
    if (simulation->kind->part_count) {
        complete = capture_parts(trace, layer, simulation);
    } else {
        complete = foliot__simulation_save(simulation, &trace->saved) == FOLIOT_STATUS_OK &&
                   capture_bytes(trace, layer, trace->saved.bytes, trace->saved.length);
    }
    layer->taken = complete;
    if (!complete)
        trace->status = FOLIOT_STATUS_MEMORY;
    return trace->status;
}

foliot_status foliot_step_trace_capture_stage(foliot_step_trace *trace, uint32_t stage,
                                              const foliot_simulation *simulation)
{
    trace->stage_count = foliot_simulation_kind_get_stage_count(simulation->kind);
    if (stage >= trace->stage_count)
        return FOLIOT_STATUS_INVALID;
    return capture_layer(trace, stage, simulation);
}

foliot_status foliot_step_trace_capture_held(foliot_step_trace *trace,
                                             const foliot_simulation *simulation)
{
    return capture_layer(trace, FOLIOT__LAYERS_MAX - 1, simulation);
}

typedef struct watching {
    foliot_step_trace *trace;
    const foliot_simulation *simulation;
    foliot_status status;
} watching;

static void after_stage(void *user, uint32_t stage)
{
    watching *w = user;
    if (w->status == FOLIOT_STATUS_OK &&
        stage < foliot_simulation_kind_get_stage_count(w->simulation->kind))
        w->status = foliot_step_trace_capture_stage(w->trace, stage, w->simulation);
}

foliot_status foliot_step_trace_step(foliot_step_trace *trace, foliot_simulation *simulation,
                                     const foliot_tick_inputs *tick)
{
    const foliot_simulation_kind *kind = simulation->kind;
    watching w = {trace, simulation, FOLIOT_STATUS_OK};
    if (kind->watch)
        kind->watch(simulation->self, after_stage, &w);
    foliot_status status = foliot_simulation_step_tick(simulation, tick);
    if (kind->watch)
        kind->watch(simulation->self, NULL, NULL);
    else if (status == FOLIOT_STATUS_OK)
        w.status = foliot_step_trace_capture_stage(trace, 0, simulation);
    return status != FOLIOT_STATUS_OK ? status : w.status;
}

// -- hashes

static uint64_t mix_word(uint64_t hash, uint64_t value)
{
    uint64_t seed = hash ^ value;
    return foliot__splitmix64(&seed);
}

uint64_t foliot_digest_chain(uint64_t before, foliot_digest digest)
{
    return mix_word(mix_word(before, digest.high), digest.low);
}

static uint64_t part_hash(uint64_t hash, const foliot__trace_layer *layer,
                          const foliot__state_part *part)
{
    const uint64_t *bits = layer->bits + part->field;
    hash = mix_word(hash, part->field_count);
    for (uint32_t i = 0; i < part->field_count; i++)
        hash = mix_word(hash, bits[i]);
    return hash;
}

uint32_t foliot__layer_entries(const foliot__trace_layer *layer, uint32_t part)
{
    if (part == FOLIOT__ALL_PARTS)
        return layer->part_count;
    return part < layer->part_count ? layer->parts[part].field_count : 0;
}

uint64_t foliot__layer_hash(const foliot__trace_layer *layer, uint32_t part, uint32_t first,
                            uint32_t count)
{
    uint32_t entries = foliot__layer_entries(layer, part);
    uint64_t hash = 1;
    if (part == FOLIOT__ALL_PARTS) {
        for (uint32_t i = first; i - first < count && i < entries; i++)
            hash = part_hash(hash, layer, &layer->parts[i]);
        return hash;
    }
    const uint64_t *bits = part < layer->part_count ? layer->bits + layer->parts[part].field : NULL;
    if (count == 1)
        return first < entries ? bits[first] : 0;
    for (uint32_t i = first; i - first < count && i < entries; i++)
        hash = mix_word(hash, bits[i]);
    return hash;
}

uint64_t foliot__layer_bits(const foliot__trace_layer *layer, uint32_t part, uint32_t field)
{
    return layer->bits[layer->parts[part].field + field];
}

uint64_t foliot__layer_digest(const foliot__trace_layer *layer)
{
    return mix_word(foliot__layer_hash(layer, FOLIOT__ALL_PARTS, 0, UINT32_MAX),
                    layer->taken ? layer->part_count : UINT64_MAX);
}

uint32_t foliot__tree_group(uint32_t count)
{
    uint64_t group = 1;
    while ((count + group - 1) / group > FOLIOT__TREE_FANOUT)
        group *= FOLIOT__TREE_FANOUT;
    return (uint32_t)group;
}

// -- naming a place

void foliot__divergence_stage(foliot_divergence *d, const foliot_step_trace *trace, uint32_t layer)
{
    d->stage_known = layer < trace->stage_count;
    d->stage = layer;
    d->stage_name =
        d->stage_known ? foliot_simulation_kind_get_stage_name(trace->kind, layer) : NULL;
}

void foliot__divergence_part(foliot_divergence *d, const foliot_step_trace *trace, uint32_t layer,
                             uint32_t part)
{
    const foliot__trace_layer *at = &trace->layer[layer];
    d->part_known = true;
    d->part = part;
    d->group = part < at->part_count ? at->parts[part].group : "part";
    d->index = part < at->part_count ? at->parts[part].index : part;
    bool body = trace->kind && strcmp(trace->kind->name, foliot_world_kind.name) == 0 &&
                strcmp(d->group, "body") == 0;
    d->body = body ? (uint32_t)d->index : FOLIOT_NO_BODY;
}

void foliot__divergence_field(foliot_divergence *d, const foliot_step_trace *trace, uint32_t layer,
                              uint32_t field, uint64_t expected, uint64_t actual)
{
    const foliot__trace_layer *at = &trace->layer[layer];
    static const foliot__field_name nameless;
    const foliot__field_name *value =
        d->part < at->part_count && field < at->parts[d->part].field_count
            ? &trace->names[at->parts[d->part].name + field]
            : &nameless;
    d->field_known = true;
    d->field = field;
    d->field_name = value->name;
    d->type = value->type;
    d->expected = expected;
    d->actual = actual;
    d->ulps = foliot_value_get_distance(value->type, expected, actual);
}

// -- comparing two at hand

static bool bits_at(const foliot__trace_layer *layer, uint32_t part, uint32_t field, uint64_t *bits)
{
    bool there = field < foliot__layer_entries(layer, part);
    *bits = there ? foliot__layer_bits(layer, part, field) : 0;
    return there;
}

// How many fields of a part differ; the first of them into *first.
static uint32_t count_differing_fields(const foliot__trace_layer *a, const foliot__trace_layer *b,
                                       uint32_t part, uint32_t *first)
{
    uint32_t of_a = foliot__layer_entries(a, part), of_b = foliot__layer_entries(b, part);
    uint32_t count = 0;
    for (uint32_t field = of_a > of_b ? of_a : of_b; field-- > 0;) {
        uint64_t x, y;
        bool there = bits_at(a, part, field, &x), here = bits_at(b, part, field, &y);
        if (there == here && x == y)
            continue;
        *first = field;
        count++;
    }
    return count;
}

static bool compare_layer(const foliot_step_trace *expected, const foliot_step_trace *actual,
                          uint32_t index, foliot_divergence *d)
{
    const foliot__trace_layer *a = &expected->layer[index], *b = &actual->layer[index];
    uint32_t parts = a->part_count > b->part_count ? a->part_count : b->part_count;
    bool found = false;
    for (uint32_t part = 0; part < parts; part++) {
        uint32_t field = 0, fields = count_differing_fields(a, b, part, &field);
        if (fields == 0)
            continue;
        if (!found) {
            const foliot_step_trace *whole = part < a->part_count ? expected : actual;
            uint64_t x, y;
            bits_at(a, part, field, &x);
            bits_at(b, part, field, &y);
            d->parts = d->fields = 0;
            foliot__divergence_stage(d, expected, index);
            foliot__divergence_part(d, whole, index, part);
            foliot__divergence_field(d, whole, index, field, x, y);
        }
        found = true;
        d->parts++;
        d->fields += fields;
    }
    return found;
}

bool foliot_step_trace_compare(const foliot_step_trace *expected, const foliot_step_trace *actual,
                               foliot_divergence *divergence)
{
    for (uint32_t layer = 0; layer < FOLIOT__LAYERS_MAX; layer++)
        if (expected->layer[layer].taken && actual->layer[layer].taken &&
            compare_layer(expected, actual, layer, divergence))
            return true;
    return false;
}
