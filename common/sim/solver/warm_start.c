// SPDX-License-Identifier: MIT
// warm_start.c: the manifolds' impulses go to the table `contact` at a tick's end, and from there
// to the next manifolds. Points are matched by feature.
#include "sim/solver/solver.h"

#include <string.h>

#include "sim/state/contact_cache.h"

#define SOONER 1.5f // than the present speeds say: bodies may still gain some

static bool pushes(const foliot__warm *warm)
{
    const float *p = warm->impulse;
    return p[0] > 0 || p[1] > 0 || p[2] > 0 || p[3] > 0;
}

// Whether an impact stopped the body in this substep or the one before. The contact's impulse then
// removed the whole speed at once, so it does not predict the next impulse.
static bool was_stopped(const foliot__solver *s, uint32_t i)
{
    const uint32_t *stopped_in = s->ccd.stopped_in;
    return stopped_in[i] > 0 && stopped_in[i] >= s->step->index;
}

static void store_row(const foliot__solver *s, uint32_t k, foliot__contact_row *row)
{
    const foliot__manifold *m = &s->manifolds[k];
    bool cold = was_stopped(s, m->a) || was_stopped(s, m->b);
    row->a = m->a;
    row->b = m->b;
    uint32_t *feature = &row->feature_0;
    for (uint32_t p = 0; p < FOLIOT__POINTS; p++)
        feature[p] = p >= m->count ? FOLIOT__NO_FEATURE
                     : cold        ? FOLIOT__COLD_FEATURE + p
                                   : m->point[p].feature;
    memcpy(&row->normal_impulse_0, s->warm[k].impulse, sizeof s->warm[k].impulse);
}

// The live are taken in chunks: first how many rows each makes, then where they begin, then the
// rows.
static uint32_t chunk_end(const foliot__solver *s, uint32_t chunk)
{
    uint32_t live = s->counts->live, end = (chunk + 1) * FOLIOT__GRAIN_PAIRS;
    return end < live ? end : live;
}

static void count_rows(void *context, uint32_t begin, uint32_t last)
{
    const foliot__solver *s = context;
    for (uint32_t k = begin; k < last; k++) {
        uint32_t rows = 0;
        for (uint32_t n = k * FOLIOT__GRAIN_PAIRS; n < chunk_end(s, k); n++)
            rows += pushes(&s->warm[s->live[n]]);
        s->first_row[k] = rows;
    }
}

static void store_rows(void *context, uint32_t begin, uint32_t last)
{
    const foliot__solver *s = context;
    foliot__contact_row *rows = foliot__contact(s->world);
    for (uint32_t k = begin; k < last; k++) {
        uint32_t at = s->first_row[k];
        for (uint32_t n = k * FOLIOT__GRAIN_PAIRS; n < chunk_end(s, k); n++)
            if (pushes(&s->warm[s->live[n]]))
                store_row(s, s->live[n], &rows[at++]);
    }
}

void foliot__store_contacts(foliot__solver *s)
{
    uint32_t stored = 0;
    uint32_t chunks = (s->counts->live + FOLIOT__GRAIN_PAIRS - 1) / FOLIOT__GRAIN_PAIRS;
    foliot__parallel_run(s->workers, 0, chunks, 1, count_rows, s);
    for (uint32_t k = 0; k < chunks; k++) {
        uint32_t rows = s->first_row[k];
        s->first_row[k] = stored;
        stored += rows;
    }
    foliot__parallel_run(s->workers, 0, chunks, 1, store_rows, s);
    s->world->contact_count = stored;
}

// Points of the same feature inherit their impulses; friction belongs to the pair.
static void match_points(const foliot__manifold *m, const foliot__contact_row *row,
                         foliot__warm *warm)
{
    const uint32_t *feature = &row->feature_0;
    const float *push = &row->normal_impulse_0;
    uint32_t from = 0;
    for (uint32_t p = 0; p < m->count; p++) {
        while (from < FOLIOT__POINTS && feature[from] < m->point[p].feature)
            from++;
        if (from < FOLIOT__POINTS && feature[from] == m->point[p].feature)
            warm->impulse[p] = push[from];
    }
    if (feature[0] < FOLIOT__COLD_FEATURE)
        memcpy(&warm->impulse[4], &row->friction_impulse_x, 4 * sizeof(float));
}

// The live [begin, end), which are of one chunk.
static uint32_t match_chunk(foliot__solver *s, uint32_t begin, uint32_t end, uint32_t at)
{
    const foliot__contact_row *rows = foliot__contact(s->world);
    uint32_t count = s->world->contact_count;
    foliot__approach *idle = &s->watched[begin];
    bool known = s->counts->known > 0;
    for (uint32_t n = begin; n < end; n++) {
        uint32_t k = s->live[n];
        const foliot__manifold *m = &s->manifolds[k];
        s->warm[k] = (foliot__warm){.impulse = {0}};
        while (at < count && (rows[at].a < m->a || (rows[at].a == m->a && rows[at].b < m->b)))
            at++;
        bool pressed = at < count && rows[at].a == m->a && rows[at].b == m->b;
        if (pressed)
            match_points(m, &rows[at], &s->warm[k]);
        if (pressed && !known)
            continue;
        uint32_t brief = known ? foliot__brief_of(s, m->a, m->b) : FOLIOT__NOT_BRIEF;
        if (pressed && brief == FOLIOT__NOT_BRIEF)
            continue;
        bool near = brief != FOLIOT__NOT_BRIEF ||
                    foliot__least_gap(m) <= SOONER * (s->travel[m->a] + s->travel[m->b]);
        *idle++ = (foliot__approach){.manifold = n, .columns = near, .brief = brief};
    }
    s->first_row[begin / FOLIOT__GRAIN_PAIRS] = (uint32_t)(idle - &s->watched[begin]);
    return at;
}

void foliot__match_contacts(foliot__solver *s, uint32_t begin, uint32_t end)
{
    const foliot__manifold *first = &s->manifolds[s->live[begin]];
    uint32_t at = foliot__contact_lower_bound(s->world, first->a, first->b);
    for (uint32_t from = begin; from < end; from += FOLIOT__GRAIN_PAIRS) {
        uint32_t to = from + FOLIOT__GRAIN_PAIRS;
        at = match_chunk(s, from, to < end ? to : end, at);
    }
}
