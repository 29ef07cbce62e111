// SPDX-License-Identifier: MIT
// interest_map.c: what is known of a session's bodies for all its watchers (interest.h): when each
// changed, and which changed lately by cell of a grid. The grid makes candidates only; distances
// decide.
#include "interest_view.h"

#include "foliot/math.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define REST_TICKS 64 // a body that stood still for so long is remembered as it stood
#define CELLS_TO_FAR 4.0
#define BUCKETS_LEAST 64
#define BODIES_A_BUCKET 4
#define NEAR_TURN 0.99999 // cosine of half an angle that an orientation is rounded by

// By how much a body may differ from what is known and look the same, from near and from far:
// position steps, and units of an orientation's numbers.
static const int tremble_steps[DISTANCES] = {1, 2}, tremble_turns[DISTANCES] = {2, 12};

bool foliot_interest_valid(const foliot_interest *interest)
{
    const foliot_interest *i = interest;
    return i->far > 0 && i->far <= 1e9 && i->near > 0 && i->near <= i->far &&
           i->budget_kbit >= FOLIOT_INTEREST_KBIT_MIN && i->budget_kbit <= FOLIOT_INTEREST_KBIT_MAX;
}

static void find_homes(foliot__interest_map *m)
{
    for (uint32_t slot = 0; slot < m->scene->body_count; slot++)
        for (int k = 0; k < 3; k++)
            m->homes[slot][k] =
                (int32_t)foliot_clamp(m->scene->bodies[slot].position[k] / m->format.position_step,
                                      -INT32_MAX, INT32_MAX);
}

foliot_status foliot__interest_map_create(const foliot_interest *interest,
                                          const foliot_scene *scene,
                                          const foliot_snapshot_format *format, double pace_hz,
                                          uint32_t every, foliot__interest_map **out)
{
    if (!foliot_interest_valid(interest))
        return FOLIOT_STATUS_INVALID;
    foliot__interest_map *m = calloc(1, sizeof *m);
    if (!m)
        return FOLIOT_STATUS_MEMORY;
    size_t n = format->bodies_max ? format->bodies_max : 1;
    m->interest = *interest;
    m->scene = scene;
    m->format = *format;
    m->pace_hz = pace_hz;
    m->every = every;
    m->per_cell = CELLS_TO_FAR * format->position_step / interest->far;
    for (m->buckets = BUCKETS_LEAST; m->buckets < n / BODIES_A_BUCKET; m->buckets *= 2) {
    }
    m->changed = calloc(n, sizeof *m->changed);
    bool whole = true;
    for (int i = 0; i < DISTANCES; i++) {
        m->seen[i].moved = calloc(n, sizeof *m->seen[i].moved);
        m->seen[i].anchor = calloc(n, sizeof *m->seen[i].anchor);
        whole = whole && m->seen[i].moved && m->seen[i].anchor;
    }
    m->assumed = calloc(n, sizeof *m->assumed);
    m->rest = calloc(n, sizeof *m->rest);
    m->rest_since = calloc(n, sizeof *m->rest_since);
    m->rest_until = calloc(n, sizeof *m->rest_until);
    m->bucket_start = calloc(m->buckets + 1, sizeof *m->bucket_start);
    m->next = calloc(m->buckets, sizeof *m->next);
    m->bucket_of = calloc(n, sizeof *m->bucket_of);
    m->candidates = calloc(n, sizeof *m->candidates);
    m->groups = calloc(n, sizeof *m->groups);
    m->claims = calloc(n, sizeof *m->claims);
    m->chosen = calloc(ITEMS_MAX, sizeof *m->chosen);
    m->chosen_bits = calloc((n + 63) / 64, sizeof *m->chosen_bits);
    m->items = calloc(ITEMS_MAX, sizeof *m->items);
    m->bases = calloc(ITEMS_MAX, sizeof *m->bases);
    m->homes = calloc(scene->body_count ? scene->body_count : 1, sizeof *m->homes);
    m->told = calloc(ITEMS_MAX + TOLD_MAX, sizeof *m->told);
    m->slot_words = (uint32_t)(n + 63) / 64;
    for (int i = 0; i < 2; i++) {
        m->news[i].slots = calloc(m->slot_words, sizeof *m->news[i].slots);
        m->news[i].tags = calloc(m->slot_words, sizeof *m->news[i].tags);
        whole = whole && m->news[i].slots && m->news[i].tags;
    }
    whole = whole && m->changed && m->assumed && m->rest && m->rest_since && m->rest_until &&
            m->bucket_start && m->next && m->bucket_of && m->candidates && m->groups && m->claims &&
            m->chosen && m->chosen_bits && m->items && m->bases && m->homes && m->told;
    if (!whole || foliot__partial_coder_create(format, &m->coder) != FOLIOT_STATUS_OK) {
        foliot__interest_map_destroy(m);
        return FOLIOT_STATUS_MEMORY;
    }
    find_homes(m);
    *out = m;
    return FOLIOT_STATUS_OK;
}

void foliot__interest_map_destroy(foliot__interest_map *m)
{
    if (!m)
        return;
    foliot__partial_coder_destroy(m->coder);
    free(m->changed);
    for (int i = 0; i < DISTANCES; i++) {
        free(m->seen[i].moved);
        free(m->seen[i].anchor);
    }
    free(m->assumed);
    free(m->rest);
    free(m->rest_since);
    free(m->rest_until);
    free(m->bucket_start);
    free(m->next);
    free(m->bucket_of);
    free(m->candidates);
    free(m->groups);
    free(m->claims);
    free(m->chosen);
    free(m->chosen_bits);
    free(m->items);
    free(m->bases);
    free(m->homes);
    free(m->told);
    for (int i = 0; i < 2; i++) {
        free(m->news[i].slots);
        free(m->news[i].tags);
        free(m->news[i].joints);
    }
    free(m->ends);
    free(m->renamed);
    free(m);
}

const foliot_interest *foliot__interest_map_get(const foliot__interest_map *m)
{
    return &m->interest;
}

// In words of eight bytes, of which the last two overlap: this is asked of every body each time.
static inline bool same_body(const foliot_snapshot_body *a, const foliot_snapshot_body *b)
{
    enum { BYTES = offsetof(foliot_snapshot_body, generation) + 1, WORDS = (BYTES + 7) / 8 };
    const uint8_t *of_a = (const uint8_t *)a, *of_b = (const uint8_t *)b;
    uint64_t differs = 0;
    for (size_t i = 0; i < WORDS; i++) {
        uint64_t x, y;
        size_t at = i + 1 < WORDS ? 8 * i : BYTES - 8;
        memcpy(&x, of_a + at, 8);
        memcpy(&y, of_b + at, 8);
        differs |= x ^ y;
    }
    return differs == 0;
}

// Whether a body is where the scene has it, as far as a snapshot tells.
static bool is_as_in_scene(const foliot__interest_map *m, uint32_t slot,
                           const foliot_snapshot_body *body)
{
    const foliot_body_definition *scene = &m->scene->bodies[slot];
    bool still = scene->is_static == ((body->flags & FOLIOT_SNAPSHOT_STATIC) != 0) &&
                 (body->flags & FOLIOT_SNAPSHOT_ALIVE) &&
                 !(body->velocity[0] | body->velocity[1] | body->velocity[2]);
    if (!still)
        return false;
    foliot_body_state now = foliot_snapshot_dequantise(&m->format, body, 1);
    double dot = 0, length = 0, most = scene->is_static ? 2 : 1;
    for (int k = 0; k < 3; k++)
        still =
            still && fabs(now.position[k] - scene->position[k]) <= most * m->format.position_step;
    for (int i = 0; i < 4; i++) {
        dot += now.orientation[i] * scene->orientation[i];
        length += scene->orientation[i] * scene->orientation[i];
    }
    return still &&
           (scene->is_static || !m->format.rotates || dot * dot >= NEAR_TURN * NEAR_TURN * length);
}

static void note_assumed(foliot__interest_map *m, uint32_t slot, const foliot_snapshot_body *body)
{
    if (slot < m->scene->body_count)
        m->assumed[slot] = is_as_in_scene(m, slot, body) ? ASSUMED : DIFFERS;
}

// Whether two states of a body look alike: bodies that rest on others tremble.
static bool looks_same(const foliot_snapshot_body *a, const foliot_snapshot_body *b, int distance)
{
    for (int k = 0; k < 3; k++) // mostly this tells them apart
        if (llabs((int64_t)a->position[k] - b->position[k]) > tremble_steps[distance])
            return false;
    bool same = a->generation == b->generation && a->largest == b->largest &&
                ((a->flags ^ b->flags) & ~FOLIOT_SNAPSHOT_ASLEEP) == 0;
    for (int k = 0; k < 3; k++)
        same = same && abs(a->orientation[k] - b->orientation[k]) <= tremble_turns[distance];
    return same;
}

static void note_change(foliot__interest_map *m, uint32_t slot, const foliot_snapshot_body *body,
                        uint64_t tick)
{
    m->changed[slot] = tick;
    for (int i = 0; i < DISTANCES; i++)
        if (!looks_same(&m->seen[i].anchor[slot], body, i)) {
            m->seen[i].anchor[slot] = *body;
            m->seen[i].moved[slot] = tick;
        }
    note_assumed(m, slot, body);
}

static void note_changes(foliot__interest_map *m, const foliot_snapshot *now,
                         const foliot_snapshot *before)
{
    for (uint32_t i = 0; i < m->count; i++) {
        const foliot_snapshot_body *was = body_at(before, i);
        if (same_body(was, body_at(now, i)))
            continue;
        if (before->tick - m->changed[i] >= (uint64_t)REST_TICKS * m->every) {
            m->rest[i] = *was;
            m->rest_since[i] = m->changed[i];
            m->rest_until[i] = before->tick;
        }
        note_change(m, i, body_at(now, i), now->tick);
    }
}

static uint32_t bucket_of_cell(const foliot__interest_map *m, const int64_t cell[3])
{
    uint64_t h = (uint64_t)cell[0] * 0x9e3779b97f4a7c15u ^ (uint64_t)cell[1] * 0xc2b2ae3d27d4eb4fu ^
                 (uint64_t)cell[2] * 0x165667b19e3779f9u;
    h ^= h >> 29;
    return (uint32_t)(h * 0xbf58476d1ce4e5b9u >> 40) & (m->buckets - 1);
}

static void cell_of(const foliot__interest_map *m, const int32_t position[3], int64_t cell[3])
{
    for (int k = 0; k < 3; k++) {
        double at = position[k] * m->per_cell;
        cell[k] = (int64_t)at;
        cell[k] -= at < (double)cell[k];
    }
}

// Bodies that are there and changed lately; those of a cell are counted in front of its bucket.
static void find_buckets(foliot__interest_map *m, const foliot_snapshot *s)
{
    memset(m->bucket_start, 0, (m->buckets + 1) * sizeof *m->bucket_start);
    for (uint32_t i = 0; i < m->count; i++) {
        const foliot_snapshot_body *body = body_at(s, i);
        int64_t cell[3];
        m->bucket_of[i] = m->buckets;
        if (!(body->flags & FOLIOT_SNAPSHOT_ALIVE) ||
            s->tick - m->changed[i] > (uint64_t)ACTIVE * m->every)
            continue;
        cell_of(m, body->position, cell);
        m->bucket_of[i] = bucket_of_cell(m, cell);
        m->bucket_start[m->bucket_of[i] + 1]++;
    }
    for (uint32_t b = 0; b < m->buckets; b++)
        m->bucket_start[b + 1] += m->bucket_start[b];
}

static void bound_group(const foliot__interest_map *m, foliot__group *group)
{
    const foliot__candidate *c = &m->candidates[group->begin];
    memcpy(group->low, c->position, sizeof group->low);
    memcpy(group->high, c->position, sizeof group->high);
    for (uint32_t i = group->begin + 1; i < group->end; i++)
        for (int k = 0; k < 3; k++) {
            double at = m->candidates[i].position[k];
            group->low[k] = at < group->low[k] ? at : group->low[k];
            group->high[k] = at > group->high[k] ? at : group->high[k];
        }
}

static void fill_grid(foliot__interest_map *m, const foliot_snapshot *s)
{
    find_buckets(m, s);
    memcpy(m->next, m->bucket_start, m->buckets * sizeof *m->next);
    for (uint32_t i = 0; i < m->count; i++)
        if (m->bucket_of[i] < m->buckets)
            m->candidates[m->next[m->bucket_of[i]]++] = candidate_of(m, i, body_at(s, i));
    m->group_count = 0;
    for (uint32_t b = 0; b < m->buckets; b++) {
        if (m->bucket_start[b] == m->bucket_start[b + 1])
            continue;
        foliot__group *group = &m->groups[m->group_count++];
        *group = (foliot__group){
            .begin = m->bucket_start[b], .end = m->bucket_start[b + 1], .bucket = b};
        bound_group(m, group);
    }
    m->grid_tick = s->tick;
}

void foliot__interest_map_update(foliot__interest_map *m, const foliot_snapshot *snapshot,
                                 const foliot_snapshot *before)
{
    uint32_t count = snapshot->count > m->count ? snapshot->count : m->count;
    count = count < m->format.bodies_max ? count : m->format.bodies_max;
    for (uint32_t i = before ? m->count : 0; i < count; i++) {
        for (int k = 0; k < DISTANCES; k++)
            m->seen[k].anchor[i] = (foliot_snapshot_body){0};
        note_change(m, i, body_at(snapshot, i), snapshot->tick);
    }
    m->count = count;
    if (before)
        note_changes(m, snapshot, before);
    fill_grid(m, snapshot);
}

// What a body was at a tick, if that is still known.
const foliot_snapshot_body *foliot__interest_body_then(const foliot__interest_map *m,
                                                       const foliot__interest_look *look,
                                                       uint32_t slot, uint64_t tick)
{
    if (m->changed[slot] <= tick)
        return body_at(look->snapshot, slot);
    if (m->rest_since[slot] <= tick && tick <= m->rest_until[slot])
        return &m->rest[slot];
    const foliot_snapshot *s = look->find(look->user, tick);
    return s ? body_at(s, slot) : NULL;
}
