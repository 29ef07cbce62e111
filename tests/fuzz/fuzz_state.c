// SPDX-License-Identifier: MIT
// fuzz_state.c: true saved states of small scenes with every integrator, patched, restored and
// stepped. A state that is refused leaves the world as it was. One that is accepted is kept to the
// bit, goes on alike in a world with another past and in a fresh one, and every state that it leads
// to is accepted too; a step takes a bounded time whatever the state is.
//
// The input: scene, integrator, tick of the state, ticks to step, salt of the inputs; then patches
// of PATCH_BYTES.
#include <float.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "foliot/query.h"
#include "foliot/foliot.h"
#include "foliot/snapshot.h"
#include "sim/selftest/probe.h"
#include "status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STATE_HEAD_BYTES 5
#define STATE_PATCH_BYTES 12 // what, which array, which row (2), eight of value
#define STATE_PATCHES_MAX 32
#define STATE_STEPS_MAX 12
#define STATE_CHECK_STEPS 4 // between two captures on the way
#define STATE_STEP_NS_MAX                                                                          \
    1000000000 // processor time of one step, sanitizers included: true ones take a thousandth
#define STATE_GROWTH_MAX 4096

// Where the parts of a state lie (docs/reference/state.md).
#define STATE_COUNT_AT 56
#define STATE_FIELDS_AT 60
#define STATE_ARRAYS_AT 64
#define STATE_PLAYER_BYTES 12
#define STATE_CONTACT_BYTES 56
#define STATE_TAGS_AT 552 // in the session section

// A body's definition: the width of each array.
static const unsigned state_definition[] = {8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8,
                                            8, 8, 4, 4, 8, 8, 8, 4, 4, 4, 4};
#define STATE_DEFINITION_BYTES 160 // their sum

static const uint64_t state_ticks[] = {0, 1, 9, 31, 70};
enum { STATE_TICKS = sizeof state_ticks / sizeof *state_ticks };

typedef struct state_bytes {
    uint8_t *bytes;
    size_t length, capacity;
} state_bytes;

typedef struct state_case {
    bool tried;
    state_bytes at[STATE_TICKS];
} state_case;

typedef struct state_parts {
    size_t field[FOLIOT_FIELD_COUNT]; // where its array begins; 0: not there
    size_t players, contacts, definitions, broken, session;
    uint32_t count, player_count, contact_count;
} state_parts;

static foliot__probe state_probes[FOLIOT__PROBE_COUNT];
static unsigned state_admitted[FOLIOT__PROBE_COUNT][FOLIOT_INTEGRATOR_COUNT],
    state_admitted_count[FOLIOT__PROBE_COUNT];
static state_case state_cases[FOLIOT__PROBE_COUNT][FOLIOT_INTEGRATOR_COUNT];

static const double state_doubles[] = {
    0,
    -0.0,
    1,
    -1,
    0x1p-1074,
    -0x1p-1074,
    0x1p-1022,
    1e-300,
    0x1p-40,
    0x1p-20,
    1e-9,
    0.5,
    2,
    1e3,
    -1e3,
    1e6,
    -1e6,
    0x1p30,
    0x1p39,
    0x1p40,
    -0x1p40,
    0x1p41,
    0x1.fffffffffffffp39,
    1e100,
    -1e100,
    1e200,
    DBL_MAX,
    -DBL_MAX,
    1.0 / 3,
    -1.0 / 3,
};
static const uint64_t state_words[] = {
    0x7ff8000000000000u,
    0xfff8000000000000u,
    0x7ff0000000000000u,
    0xfff0000000000000u,
    0x7ff0000000000001u, // not numbers
    0,
    1,
    2,
    3,
    7,
    63,
    64,
    65,
    0xff,
    0x7fffffff,
    0x80000000u,
    0xfffffffeu,
    0xffffffffu,
    UINT64_MAX,
    UINT64_MAX - 1,
    UINT64_C(1) << 62,
    UINT64_C(1) << 63,
    (UINT64_C(1) << 62) - 1,
    0u - (UINT64_C(1) << 62),
    (UINT64_C(1) << 53) + 1,
};
static const uint32_t state_floats[] = {
    0,           0x80000000u, 0x3f800000u, 0xbf800000u, 1,           0x7f7fffffu,
    0x7f800000u, 0x7fc00000u, 0xff800000u, 0x49742400u, 0x5d000000u, 0xdd000000u,
};
#define STATE_PICK(table, n) ((table)[(n) % (sizeof(table) / sizeof *(table))])

static void state_must(foliot_status status)
{
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK);
}

static uint64_t state_get(const uint8_t *bytes, unsigned width)
{
    uint64_t value = 0;
    for (unsigned k = 0; k < width; k++)
        value |= (uint64_t)bytes[k] << (8 * k);
    return value;
}

static void state_put(uint8_t *bytes, unsigned width, uint64_t value)
{
    for (unsigned k = 0; k < width; k++)
        bytes[k] = (uint8_t)(value >> (8 * k));
}

// -- true states

static foliot_world *state_world(foliot__probe *probe, unsigned integrator)
{
    foliot_world *world = NULL;
    probe->scene.integrator = (foliot_integrator)integrator;
    state_must(foliot_world_create(&probe->scene, &world, NULL));
    return world;
}

static void state_capture(const foliot_world *world, state_bytes *to)
{
    size_t length = 0;
    state_must(foliot_world_capture(world, NULL, 0, &length));
    to->bytes = malloc(length);
    FOLIOT_ASSERT(to->bytes);
    to->capacity = length;
    state_must(foliot_world_capture(world, to->bytes, length, &to->length));
}

static void state_step(foliot_world *world, const foliot_scene *scene, uint64_t script)
{
    foliot_input inputs[FOLIOT__PROBE_INPUTS];
    struct timespec begin, end;
    uint32_t count = foliot__probe_inputs(scene, script, inputs);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    state_must(foliot_world_step(world, inputs, count, NULL));
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    FOLIOT_ASSERT((end.tv_sec - begin.tv_sec) * 1000000000 + (end.tv_nsec - begin.tv_nsec) <
                  STATE_STEP_NS_MAX);
}

// The integrators that the scene admits.
static void state_prepare_scene(unsigned kind)
{
    foliot__probe *probe = &state_probes[kind];
    foliot__probe_make(probe, (foliot__probe_kind)kind);
    for (unsigned id = 1; id < FOLIOT_INTEGRATOR_COUNT; id++) {
        probe->scene.integrator = (foliot_integrator)id;
        if (foliot_integrator_get_info((foliot_integrator)id) &&
            foliot_scene_check(&probe->scene, NULL) == FOLIOT_STATUS_OK)
            state_admitted[kind][state_admitted_count[kind]++] = id;
    }
    FOLIOT_ASSERT(state_admitted_count[kind] > 0);
}

static void state_prepare(state_case *c, foliot__probe *probe, unsigned integrator)
{
    c->tried = true;
    foliot_world *world = state_world(probe, integrator);
    uint64_t tick = 0;
    for (int i = 0; i < STATE_TICKS; i++) {
        for (; tick < state_ticks[i]; tick++)
            state_step(world, &probe->scene, tick);
        state_capture(world, &c->at[i]);
    }
    foliot_world_destroy(world);
}

// -- patches

static bool state_parts_of(const foliot_scene *scene, const state_bytes *s, state_parts *p)
{
    static const unsigned widths[] = {
#define STATE_WIDTH(type, name, text) STATE_WIDTH_##type,
#define STATE_WIDTH_f64 8
#define STATE_WIDTH_i64 8
#define STATE_WIDTH_u32 4
        FOLIOT_BODY_STATE(STATE_WIDTH)};
    *p = (state_parts){0};
    if (s->length < STATE_ARRAYS_AT)
        return false;
    p->count = (uint32_t)state_get(s->bytes + STATE_COUNT_AT, 4);
    uint64_t fields = state_get(s->bytes + STATE_FIELDS_AT, 4);
    size_t at = STATE_ARRAYS_AT;
    for (unsigned f = 0; f < FOLIOT_FIELD_COUNT; f++)
        if (fields >> f & 1) {
            p->field[f] = at;
            at += (size_t)widths[f] * p->count;
        }
    p->players = at + 4;
    if (p->count > 65536 || at + 4 > s->length)
        return false;
    p->player_count = (uint32_t)state_get(s->bytes + at, 4);
    p->contacts = p->players + STATE_PLAYER_BYTES * (size_t)p->player_count + 4;
    if (p->player_count > 65536 || p->contacts > s->length)
        return false;
    p->contact_count = (uint32_t)state_get(s->bytes + p->contacts - 4, 4);
    p->definitions = p->contacts + STATE_CONTACT_BYTES * (size_t)p->contact_count;
    p->broken = p->definitions + STATE_DEFINITION_BYTES * (size_t)p->count + 4;
    p->session = p->broken + scene->constraint_count;
    return p->count > 0 && p->session + STATE_TAGS_AT + 4 * (size_t)p->count <= s->length;
}

static void state_reserve(state_bytes *s, size_t capacity)
{
    if (capacity <= s->capacity)
        return;
    s->bytes = realloc(s->bytes, capacity);
    FOLIOT_ASSERT(s->bytes);
    s->capacity = capacity;
}

// Opens a gap of `bytes` zeros at `at`, or closes one.
static void state_shift(state_bytes *s, size_t at, size_t bytes, bool opens)
{
    if (opens) {
        state_reserve(s, s->length + bytes);
        memmove(s->bytes + at + bytes, s->bytes + at, s->length - at);
        memset(s->bytes + at, 0, bytes);
        s->length += bytes;
    } else if (at + bytes <= s->length) {
        memmove(s->bytes + at, s->bytes + at + bytes, s->length - at - bytes);
        s->length -= bytes;
    }
}

enum {
    STATE_BYTE,
    STATE_WORD,
    STATE_NUMBER,
    STATE_NUMBER_RAW,
    STATE_SCALE,
    STATE_FLAG,
    STATE_COPY_ROW,
    STATE_HEAD,
    STATE_PLAYER,
    STATE_CONTACT_FLOAT,
    STATE_CONTACT_WORD,
    STATE_CONTACT_ADD,
    STATE_CONTACT_DROP,
    STATE_BROKEN,
    STATE_LENGTH,
    STATE_SLOT_ADD,
    STATE_ALL_ROWS,
    STATE_KINDS,
};

typedef struct state_patch {
    unsigned kind, which;
    uint32_t row;
    const uint8_t *value; // eight bytes
} state_patch;

// A field that is there, counted over those that are.
static unsigned state_field(const state_parts *p, unsigned which)
{
    unsigned there = 0;
    for (unsigned f = 0; f < FOLIOT_FIELD_COUNT; f++)
        there += p->field[f] != 0;
    for (unsigned f = 0, n = which % (there ? there : 1); f < FOLIOT_FIELD_COUNT; f++)
        if (p->field[f] != 0 && n-- == 0)
            return f;
    return FOLIOT_FIELD_flags;
}

static void state_patch_number(uint8_t *number, const state_patch *h)
{
    uint64_t raw = state_get(h->value, 8);
    double special = STATE_PICK(state_doubles, h->value[0]);
    if (h->kind == STATE_NUMBER || h->kind == STATE_ALL_ROWS)
        state_put(number, 8,
                  h->value[1] & 1 ? STATE_PICK(state_words, h->value[0])
                                  : foliot__f64_bits(special));
    else if (h->kind == STATE_NUMBER_RAW)
        state_put(number, 8, raw);
    else // by a power of two: the exponent alone
        state_put(number, 8, state_get(number, 8) + ((uint64_t)(int64_t)(int8_t)h->value[0] << 52));
}

static void state_patch_body(state_bytes *s, const state_parts *p, const state_patch *h)
{
    unsigned f = h->kind == STATE_FLAG ? FOLIOT_FIELD_flags : state_field(p, h->which);
    uint32_t row = h->row % p->count;
    unsigned width = f == FOLIOT_FIELD_flags ? 4 : 8;
    uint8_t *at = s->bytes + p->field[f] + (size_t)width * row;
    if (h->kind == STATE_COPY_ROW)
        for (unsigned k = 0; k < FOLIOT_FIELD_flags; k++) { // two bodies in the same place
            if (p->field[k])
                memcpy(s->bytes + p->field[k] + 8 * (size_t)row,
                       s->bytes + p->field[k] + 8 * (size_t)(h->value[0] % p->count), 8);
        }
    else if (h->kind == STATE_ALL_ROWS && width == 8)
        for (uint32_t i = 0; i < p->count; i++)
            state_patch_number(s->bytes + p->field[f] + 8 * (size_t)i, h);
    else if (f == FOLIOT_FIELD_flags)
        state_put(at, 4,
                  state_get(at, 4) ^ (h->value[1] & 1 ? state_get(h->value + 2, 4)
                                                      : UINT64_C(1) << h->value[0] % 32));
    else
        state_patch_number(at, h);
}

static void state_patch_contact(state_bytes *s, const state_parts *p, const state_patch *h)
{
    uint32_t row = p->contact_count ? h->row % p->contact_count : 0;
    uint8_t *at = s->bytes + p->contacts + STATE_CONTACT_BYTES * (size_t)row;
    uint8_t *word = at + 4 * (h->which % (STATE_CONTACT_BYTES / 4));
    if (h->kind == STATE_CONTACT_ADD &&
        s->length < p->broken + STATE_GROWTH_MAX) { // a pair that does not touch, say
        uint8_t own[STATE_CONTACT_BYTES];
        memset(own, 0xff, 24); // no features
        memset(own + 24, 0, sizeof own - 24);
        state_put(own, 4, h->value[0] % p->count);
        state_put(own + 4, 4, h->value[1] % p->count);
        for (unsigned k = 0; k < (h->value[2] & 3u); k++) {
            state_put(own + 8 + 4 * k, 4, k + h->value[3]);
            state_put(own + 24 + 4 * k, 4, STATE_PICK(state_floats, h->value[4 + k]));
        }
        state_put(s->bytes + p->contacts - 4, 4, p->contact_count + 1);
        size_t place =
            p->contacts +
            STATE_CONTACT_BYTES * (size_t)(p->contact_count ? h->row % (p->contact_count + 1) : 0);
        state_shift(s, place, STATE_CONTACT_BYTES, true);
        memcpy(s->bytes + place, own, sizeof own);
    } else if (h->kind == STATE_CONTACT_DROP && p->contact_count) {
        state_put(s->bytes + p->contacts - 4, 4, p->contact_count - 1);
        state_shift(s, (size_t)(at - s->bytes), STATE_CONTACT_BYTES, false);
    } else if (p->contact_count && h->kind == STATE_CONTACT_FLOAT) {
        state_put(at + 24 + 4 * (h->which % 8), 4, STATE_PICK(state_floats, h->value[0]));
    } else if (p->contact_count && h->kind == STATE_CONTACT_WORD) {
        state_put(word, 4, state_get(h->value, 4));
    }
}

// One slot more, empty: a row of zeros at the end of every array.
static void state_patch_slot(state_bytes *s, const state_parts *p)
{
    if (p->count >= 256)
        return;
    // From behind, so that the places before stay where they are.
    state_shift(s, p->session + STATE_TAGS_AT + 4 * (size_t)p->count, 4, true);
    size_t at = p->broken - 4;
    for (unsigned k = sizeof state_definition / sizeof *state_definition; k-- > 0;) {
        state_shift(s, at, state_definition[k], true);
        at -= (size_t)state_definition[k] * p->count;
    }
    for (unsigned f = FOLIOT_FIELD_COUNT; f-- > 0;)
        if (p->field[f]) {
            size_t width = f == FOLIOT_FIELD_flags ? 4 : 8;
            state_shift(s, p->field[f] + width * p->count, width, true);
        }
    state_put(s->bytes + STATE_COUNT_AT, 4, p->count + 1);
}

static void state_patch_head(state_bytes *s, const state_patch *h)
{
    uint8_t *at = s->bytes + 8 * (h->which % 8); // tick, generator, lab_time, lab_dt, counts
    uint64_t word = STATE_PICK(state_words, h->value[0]),
             number = foliot__f64_bits(STATE_PICK(state_doubles, h->value[0]));
    state_put(at, 8, h->value[1] & 1 ? state_get(h->value, 8) : h->value[1] & 2 ? word : number);
}

static void state_patch_one(state_bytes *s, const foliot_scene *scene, const state_patch *h)
{
    state_parts p;
    size_t at = s->length ? (state_get(h->value + 4, 3) << 2 | h->which) % s->length : 0;
    if (!state_parts_of(scene, s, &p)) // broken already: bytes alone
        p.count = 0;
    if (s->length == 0)
        return;
    if (h->kind == STATE_BYTE || (p.count == 0 && h->kind != STATE_LENGTH)) {
        s->bytes[at] = h->value[0];
    } else if (h->kind == STATE_WORD) {
        unsigned width = h->value[1] & 1 ? 8 : 4;
        at = at / 4 * 4;
        if (at + width <= s->length)
            state_put(s->bytes + at, width, STATE_PICK(state_words, h->value[0]));
    } else if (h->kind == STATE_HEAD) {
        state_patch_head(s, h);
    } else if (h->kind == STATE_PLAYER && p.player_count) {
        size_t player = p.players + STATE_PLAYER_BYTES * (size_t)(h->row % p.player_count);
        s->bytes[player + h->which % STATE_PLAYER_BYTES] = h->value[0];
    } else if (h->kind >= STATE_CONTACT_FLOAT && h->kind <= STATE_CONTACT_DROP) {
        state_patch_contact(s, &p, h);
    } else if (h->kind == STATE_BROKEN && scene->constraint_count) {
        s->bytes[p.broken + h->row % scene->constraint_count] ^= h->value[0] ? h->value[0] : 1;
    } else if (h->kind == STATE_SLOT_ADD) {
        state_patch_slot(s, &p);
    } else if (h->kind == STATE_LENGTH && h->value[0] & 1 && s->length < STATE_GROWTH_MAX * 16) {
        state_shift(s, at, h->value[1], true);
    } else if (h->kind == STATE_LENGTH) {
        s->length = at;
    } else if (p.count) {
        state_patch_body(s, &p, h);
    }
}

static void state_patch_all(state_bytes *s, const foliot_scene *scene, const uint8_t *data,
                            size_t size)
{
    for (int i = 0; i < STATE_PATCHES_MAX && size >= STATE_PATCH_BYTES; i++) {
        const state_patch patch = {data[0] % STATE_KINDS, data[1], (uint32_t)state_get(data + 2, 2),
                                   data + 4};
        state_patch_one(s, scene, &patch);
        data += STATE_PATCH_BYTES;
        size -= STATE_PATCH_BYTES;
    }
}

// -- what must hold

static bool state_equal(const foliot_world *a, const foliot_world *b)
{
    return foliot_digest_equal(foliot_world_get_digest(a), foliot_world_get_digest(b));
}

// Everything that reads a world: a snapshot for clients, its energy, contacts, and queries.
static void state_look(const foliot_world *world, const foliot_scene *scene)
{
    foliot_snapshot_format format = foliot_snapshot_format_default(scene);
    foliot_snapshot snapshot = {.capacity = format.bodies_max};
    foliot_contact_event touches[16];
    foliot_query_hit hit;
    const double from[3] = {0.1, -0.2, 9}, down[3] = {0.01, 0.02, -1};
    snapshot.bodies = calloc(format.bodies_max + 1, sizeof *snapshot.bodies);
    FOLIOT_ASSERT(snapshot.bodies);
    state_must(foliot_snapshot_quantise(&format, world, &snapshot));
    for (uint32_t i = 0; i < snapshot.count; i++)
        foliot_snapshot_dequantise(&format, &snapshot.bodies[i], scene->dt);
    free(snapshot.bodies);
    foliot_world_get_invariants(world, NULL);
    foliot_world_get_contact_events(world, touches, 16);
    foliot_world_cast_ray(world, from, down, 100, NULL, &hit);
    foliot_world_find_nearest(world, from, 100, NULL, &hit);
}

// The world's state goes into a fresh one, to the bit.
static foliot_world *state_follow(foliot__probe *probe, unsigned integrator,
                                  const foliot_world *world)
{
    state_bytes now = {0}, again = {0};
    foliot_world *fresh = state_world(probe, integrator);
    state_capture(world, &now);
    state_must(foliot_world_restore(fresh, now.bytes, now.length));
    state_capture(fresh, &again);
    FOLIOT_ASSERT(now.length == again.length && memcmp(now.bytes, again.bytes, now.length) == 0);
    FOLIOT_ASSERT(state_equal(world, fresh));
    free(now.bytes);
    free(again.bytes);
    return fresh;
}

static void state_go_on(foliot__probe *probe, unsigned integrator, foliot_world *world,
                        unsigned steps, uint64_t script)
{
    foliot_world *fresh = state_follow(probe, integrator, world);
    state_look(world, &probe->scene);
    for (unsigned i = 0; i < steps; i++) {
        state_step(world, &probe->scene, script + i);
        state_step(fresh, &probe->scene, script + i);
        FOLIOT_ASSERT(state_equal(world, fresh));
        if ((i + 1) % STATE_CHECK_STEPS == 0 || i + 1 == steps) {
            foliot_world_destroy(fresh);
            fresh = state_follow(probe, integrator, world);
        }
    }
    state_look(world, &probe->scene);
    if (foliot_integrator_get_info((foliot_integrator)integrator)->reversible)
        allow_failure(foliot_world_step_back(fresh, NULL, 0, NULL)); // or it is refused
    foliot_world_destroy(fresh);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < STATE_HEAD_BYTES)
        return 0;
    unsigned kind = data[0] % FOLIOT__PROBE_COUNT;
    foliot__probe *probe = &state_probes[kind];
    if (!state_admitted_count[kind])
        state_prepare_scene(kind);
    unsigned integrator = state_admitted[kind][data[1] % state_admitted_count[kind]];
    state_case *c = &state_cases[kind][integrator];
    if (!c->tried)
        state_prepare(c, probe, integrator);
    const state_bytes *true_state = &c->at[data[2] % STATE_TICKS];
    state_bytes s = {malloc(true_state->length), true_state->length, true_state->length};
    FOLIOT_ASSERT(s.bytes);
    memcpy(s.bytes, true_state->bytes, s.length);
    state_patch_all(&s, &probe->scene, data + STATE_HEAD_BYTES, size - STATE_HEAD_BYTES);
    s.bytes = realloc(s.bytes, s.length ? s.length : 1); // sanitizers see a byte too far
    FOLIOT_ASSERT(s.bytes);

    foliot_world *world = state_world(probe, integrator);
    uint64_t script = data[4] * UINT64_C(7);
    for (int i = 0; i < 3; i++) // another past
        state_step(world, &probe->scene, script + 31u * (unsigned)i);
    foliot_digest before = foliot_world_get_digest(world);
    foliot_status status = foliot_world_restore(world, s.bytes, s.length);
    if (status == FOLIOT_STATUS_OK)
        state_go_on(probe, integrator, world, 1 + data[3] % STATE_STEPS_MAX, script);
    else
        FOLIOT_ASSERT((status == FOLIOT_STATUS_CORRUPT || status == FOLIOT_STATUS_TRUNCATED) &&
                      foliot_digest_equal(before, foliot_world_get_digest(world)));
    foliot_world_destroy(world);
    free(s.bytes);
    return 0;
}
