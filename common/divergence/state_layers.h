// SPDX-License-Identifier: MIT
// state_layers.h: a step trace, as search.c and state_layers.c share it.
#ifndef FOLIOT_DIVERGENCE_STATE_LAYERS_H
#define FOLIOT_DIVERGENCE_STATE_LAYERS_H

#include "base/pack.h"
#include "foliot/divergence.h"

#define FOLIOT__LAYERS_MAX (FOLIOT_SIMULATION_STAGES_MAX + 1) // every stage, and what was held
#define FOLIOT__TREE_FANOUT 16u

typedef struct foliot__state_part {
    const char *group;
    uint64_t index;
    size_t field; // the first, in `bits`
    size_t name;  // the first, in the trace's `names`
    uint32_t field_count;
} foliot__state_part;

typedef struct foliot__trace_layer {
    bool taken;
    uint32_t part_count, part_capacity;
    foliot__state_part *parts;
    size_t field_count, field_capacity;
    uint64_t *bits; // of fields
} foliot__trace_layer;

// A field without its bits. Parts with the same fields share them: a trace of a large world
// holds half a million fields.
typedef struct foliot__field_name {
    const char *name;
    foliot_value_type type;
} foliot__field_name;
#define FOLIOT__FIELD_LISTS 16 // of names, that the next part may share

struct foliot_step_trace {
    uint64_t tick;
    const foliot_simulation_kind *kind; // of what was taken; NULL before
    uint32_t stage_count;
    foliot__trace_layer layer[FOLIOT__LAYERS_MAX]; // the stages', then the held one
    foliot__field_name *names;
    size_t name_count, name_capacity;
    struct foliot__field_list {
        size_t name;
        uint32_t count;
    } lists[FOLIOT__FIELD_LISTS]; // the last ones, in turn
    uint32_t list_count;
    foliot_simulation_field *row; // scratch: of a part
    uint32_t row_capacity;
    foliot__buffer saved; // the state of a simulation without parts
    foliot_status status; // FOLIOT_STATUS_MEMORY: something is missing
};

// Entries are the parts of a layer (`part` FOLIOT__ALL_PARTS), or the fields of one part.
#define FOLIOT__ALL_PARTS UINT32_MAX
uint32_t foliot__layer_entries(const foliot__trace_layer *layer, uint32_t part);
// Hash of the entries [first, first + count), the same on every machine. One field: its bits.
uint64_t foliot__layer_hash(const foliot__trace_layer *layer, uint32_t part, uint32_t first,
                            uint32_t count);
// A field of a part, both of which there are.
uint64_t foliot__layer_bits(const foliot__trace_layer *layer, uint32_t part, uint32_t field);
// A hash of the whole layer and of its count of parts.
uint64_t foliot__layer_digest(const foliot__trace_layer *layer);
// The smallest power of the fan-out by which `count` entries make at most that many groups.
uint32_t foliot__tree_group(uint32_t count);

// Whether the other side has taken the step in question again: it needs its other states no more.
bool foliot__search_has_layers(const foliot_search *search);

// The report's description of a place. `layer` may lack it.
void foliot__divergence_stage(foliot_divergence *divergence, const foliot_step_trace *trace,
                              uint32_t layer);
void foliot__divergence_part(foliot_divergence *divergence, const foliot_step_trace *trace,
                             uint32_t layer, uint32_t part);
void foliot__divergence_field(foliot_divergence *divergence, const foliot_step_trace *trace,
                              uint32_t layer, uint32_t field, uint64_t expected, uint64_t actual);

#endif
