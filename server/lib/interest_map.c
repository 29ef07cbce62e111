// SPDX-License-Identifier: MIT
// interest_map.c: the bodies of a session, for all its watchers (interest.h): when each one
// changed, and the recently changed ones by cell of a grid. The grid only gives candidates;
// distances decide.
#include "interest_view.h"

#include "foliot/digest.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define REST_TICKS 64 // after which the state of a body that stood still is remembered
#define CELLS_TO_FAR 4.0
#define BUCKETS_LEAST 64
#define BODIES_A_BUCKET 4
#define NEAR_TURN 0.99999 // cosine of half an angle that an orientation is rounded by

// How much a body may differ from the known state and look the same, from near and from far:
// position steps, and units of an orientation's numbers.
static const int tremble_steps[DISTANCES] = {1, 2}, tremble_turns[DISTANCES] = {2, 12};

bool foliot_interest_valid(const foliot_interest *interest)
{
    const foliot_interest *i = interest;
    return i->far > 0 && i->far <= 1e9 && i->near > 0 && i->near <= i->far &&
           i->budget_kbit >= FOLIOT_INTEREST_KBIT_MIN && i->budget_kbit <= FOLIOT_INTEREST_KBIT_MAX;
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
    m->grid.per_cell = CELLS_TO_FAR * format->position_step / interest->far;
    for (m->grid.buckets = BUCKETS_LEAST; m->grid.buckets < n / BODIES_A_BUCKET;
         m->grid.buckets *= 2) {
    }
    m->bodies.changed = calloc(n, sizeof *m->bodies.changed);
    bool whole = true;
    for (int i = 0; i < DISTANCES; i++) {
        m->bodies.seen[i].moved = calloc(n, sizeof *m->bodies.seen[i].moved);
        m->bodies.seen[i].anchor = calloc(n, sizeof *m->bodies.seen[i].anchor);
        whole = whole && m->bodies.seen[i].moved && m->bodies.seen[i].anchor;
    }
    m->bodies.assumed = calloc(n, sizeof *m->bodies.assumed);
    m->bodies.rest = calloc(n, sizeof *m->bodies.rest);
    m->bodies.rest_since = calloc(n, sizeof *m->bodies.rest_since);
    m->bodies.rest_until = calloc(n, sizeof *m->bodies.rest_until);
    m->grid.bucket_start = calloc(m->grid.buckets + 1, sizeof *m->grid.bucket_start);
    m->grid.next = calloc(m->grid.buckets, sizeof *m->grid.next);
    m->grid.bucket_of = calloc(n, sizeof *m->grid.bucket_of);
    m->grid.candidates = calloc(n, sizeof *m->grid.candidates);
    m->grid.groups = calloc(n, sizeof *m->grid.groups);
    m->packing.claims = calloc(n, sizeof *m->packing.claims);
    m->packing.chosen = calloc(ITEMS_MAX, sizeof *m->packing.chosen);
    m->packing.chosen_bits = calloc((n + 63) / 64, sizeof *m->packing.chosen_bits);
    m->packing.items = calloc(ITEMS_MAX, sizeof *m->packing.items);
    m->packing.bases = calloc(ITEMS_MAX, sizeof *m->packing.bases);
    m->bodies.homes = calloc(scene->body_count ? scene->body_count : 1, sizeof *m->bodies.homes);
    m->changes.bodies = calloc(ITEMS_MAX + RECORDS_MAX, sizeof *m->changes.bodies);
    m->changes.slot_words = (uint32_t)(n + 63) / 64;
    for (int i = 0; i < 2; i++) {
        m->changes.news[i].slots = calloc(m->changes.slot_words, sizeof *m->changes.news[i].slots);
        m->changes.news[i].tags = calloc(m->changes.slot_words, sizeof *m->changes.news[i].tags);
        whole = whole && m->changes.news[i].slots && m->changes.news[i].tags;
    }
    whole = whole && m->bodies.changed && m->bodies.assumed && m->bodies.rest &&
            m->bodies.rest_since && m->bodies.rest_until && m->grid.bucket_start && m->grid.next &&
            m->grid.bucket_of && m->grid.candidates && m->grid.groups && m->packing.claims &&
            m->packing.chosen && m->packing.chosen_bits && m->packing.items && m->packing.bases &&
            m->bodies.homes && m->changes.bodies;
    if (!whole || foliot__partial_coder_create(format, &m->coder) != FOLIOT_STATUS_OK) {
        foliot__interest_map_destroy(m);
        return FOLIOT_STATUS_MEMORY;
    }
    for (uint32_t slot = 0; slot < scene->body_count; slot++)
        for (int k = 0; k < 3; k++)
            m->bodies.homes[slot][k] = (int32_t)foliot_clamp(
                scene->bodies[slot].position[k] / format->position_step, -INT32_MAX, INT32_MAX);
    *out = m;
    return FOLIOT_STATUS_OK;
}

void foliot__interest_map_destroy(foliot__interest_map *m)
{
    if (!m)
        return;
    foliot__partial_coder_destroy(m->coder);
    free(m->bodies.changed);
    for (int i = 0; i < DISTANCES; i++) {
        free(m->bodies.seen[i].moved);
        free(m->bodies.seen[i].anchor);
    }
    free(m->bodies.assumed);
    free(m->bodies.rest);
    free(m->bodies.rest_since);
    free(m->bodies.rest_until);
    free(m->grid.bucket_start);
    free(m->grid.next);
    free(m->grid.bucket_of);
    free(m->grid.candidates);
    free(m->grid.groups);
    free(m->packing.claims);
    free(m->packing.chosen);
    free(m->packing.chosen_bits);
    free(m->packing.items);
    free(m->packing.bases);
    free(m->bodies.homes);
    free(m->changes.bodies);
    for (int i = 0; i < 2; i++) {
        free(m->changes.news[i].slots);
        free(m->changes.news[i].tags);
        free(m->changes.news[i].joints);
    }
    free(m->changes.ends);
    free(m->changes.renamed);
    free(m);
}

const foliot_interest *foliot__interest_map_get(const foliot__interest_map *m)
{
    return &m->interest;
}

// Compares in words of eight bytes, the last two overlapping: this runs for every body each time.
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

// Whether a body is at its place in the scene, within the resolution of snapshots.
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

// Whether two states of a body look alike: stacked bodies jitter.
static bool looks_same(const foliot_snapshot_body *a, const foliot_snapshot_body *b, int distance)
{
    for (int k = 0; k < 3; k++) // most bodies differ here
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
    m->bodies.changed[slot] = tick;
    for (int i = 0; i < DISTANCES; i++)
        if (!looks_same(&m->bodies.seen[i].anchor[slot], body, i)) {
            m->bodies.seen[i].anchor[slot] = *body;
            m->bodies.seen[i].moved[slot] = tick;
        }
    if (slot < m->scene->body_count)
        m->bodies.assumed[slot] = is_as_in_scene(m, slot, body) ? ASSUMED : DIFFERS;
}

// Hashes the cell of a position.
static uint32_t bucket_of_position(const foliot__interest_grid *grid, const int32_t position[3])
{
    int64_t cell[3];
    for (int k = 0; k < 3; k++) {
        double at = position[k] * grid->per_cell;
        cell[k] = (int64_t)at;
        cell[k] -= at < (double)cell[k];
    }
    uint64_t h = (uint64_t)cell[0] * 0x9e3779b97f4a7c15u ^ (uint64_t)cell[1] * 0xc2b2ae3d27d4eb4fu ^
                 (uint64_t)cell[2] * 0x165667b19e3779f9u;
    h ^= h >> 29;
    return (uint32_t)(h * 0xbf58476d1ce4e5b9u >> 40) & (grid->buckets - 1);
}

// Sorts the present bodies that changed lately by bucket, and computes the bounds of each bucket.
static void fill_grid(foliot__interest_map *m, const foliot_snapshot *s)
{
    foliot__interest_grid *g = &m->grid;
    memset(g->bucket_start, 0, (g->buckets + 1) * sizeof *g->bucket_start);
    for (uint32_t i = 0; i < m->count; i++) { // those of a bucket are counted in front of it
        const foliot_snapshot_body *body = body_at(s, i);
        bool active = (body->flags & FOLIOT_SNAPSHOT_ALIVE) &&
                      s->tick - m->bodies.changed[i] <= (uint64_t)ACTIVE * m->every;
        g->bucket_of[i] = active ? bucket_of_position(g, body->position) : g->buckets;
        if (active)
            g->bucket_start[g->bucket_of[i] + 1]++;
    }
    for (uint32_t b = 0; b < g->buckets; b++)
        g->bucket_start[b + 1] += g->bucket_start[b];
    memcpy(g->next, g->bucket_start, g->buckets * sizeof *g->next);
    for (uint32_t i = 0; i < m->count; i++)
        if (g->bucket_of[i] < g->buckets)
            g->candidates[g->next[g->bucket_of[i]]++] = candidate_of(m, i, body_at(s, i));
    g->group_count = 0;
    for (uint32_t b = 0; b < g->buckets; b++) {
        if (g->bucket_start[b] == g->bucket_start[b + 1])
            continue;
        foliot__group *group = &g->groups[g->group_count++];
        *group = (foliot__group){
            .begin = g->bucket_start[b], .end = g->bucket_start[b + 1], .bucket = b};
        const foliot__candidate *first = &g->candidates[group->begin];
        memcpy(group->low, first->position, sizeof group->low);
        memcpy(group->high, first->position, sizeof group->high);
        for (uint32_t i = group->begin + 1; i < group->end; i++)
            for (int k = 0; k < 3; k++) {
                double at = g->candidates[i].position[k];
                group->low[k] = at < group->low[k] ? at : group->low[k];
                group->high[k] = at > group->high[k] ? at : group->high[k];
            }
    }
    g->tick = s->tick;
}

void foliot__interest_map_update(foliot__interest_map *m, const foliot_snapshot *snapshot,
                                 const foliot_snapshot *before)
{
    uint32_t count = snapshot->count > m->count ? snapshot->count : m->count;
    count = count < m->format.bodies_max ? count : m->format.bodies_max;
    for (uint32_t i = before ? m->count : 0; i < count; i++) {
        for (int k = 0; k < DISTANCES; k++)
            m->bodies.seen[k].anchor[i] = (foliot_snapshot_body){0};
        note_change(m, i, body_at(snapshot, i), snapshot->tick);
    }
    m->count = count;
    for (uint32_t i = 0; before && i < count; i++) {
        const foliot_snapshot_body *was = body_at(before, i);
        if (same_body(was, body_at(snapshot, i)))
            continue;
        if (before->tick - m->bodies.changed[i] >= (uint64_t)REST_TICKS * m->every) {
            m->bodies.rest[i] = *was;
            m->bodies.rest_since[i] = m->bodies.changed[i];
            m->bodies.rest_until[i] = before->tick;
        }
        note_change(m, i, body_at(snapshot, i), snapshot->tick);
    }
    fill_grid(m, snapshot);
}

// The state of a body at a tick; NULL: it is not known any more.
const foliot_snapshot_body *foliot__interest_body_then(const foliot__interest_map *m,
                                                       const foliot__interest_look *look,
                                                       uint32_t slot, uint64_t tick)
{
    if (m->bodies.changed[slot] <= tick)
        return body_at(look->snapshot, slot);
    if (m->bodies.rest_since[slot] <= tick && tick <= m->bodies.rest_until[slot])
        return &m->bodies.rest[slot];
    const foliot_snapshot *s = look->find(look->user, tick);
    return s ? body_at(s, slot) : NULL;
}
