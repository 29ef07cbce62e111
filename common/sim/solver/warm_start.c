// SPDX-License-Identifier: MIT
// warm_start.c: what the manifolds pushed goes to the table `contact` at a substep's end, and from
// there to the manifolds of the next one. Points are matched by feature.
#include "sim/solver/solver_kernel.h"

#include <string.h>

#include "sim/state/contact_cache.h"

static bool pushes(const foliot__warm *warm)
{
    const float *p = warm->impulse;
    return p[0] > 0 || p[1] > 0 || p[2] > 0 || p[3] > 0;
}

// Whether the body was stopped in this substep or the one before. What a contact pushed then took
// away the speed with which it had been stopped, at one stroke: no guess of what is needed next.
static bool was_held(const foliot__collider *c, uint32_t i)
{
    return c->held[i] > 0 && c->held[i] >= c->step->index;
}

static void keep_one(const foliot__collider *c, uint32_t k, foliot__contact_row *row)
{
    const foliot__manifold *m = &c->manifolds[k];
    bool cold = was_held(c, m->a) || was_held(c, m->b);
    row->a = m->a;
    row->b = m->b;
    uint32_t *feature = &row->feature_0;
    for (uint32_t p = 0; p < FOLIOT__POINTS; p++)
        feature[p] = p >= m->count ? FOLIOT__NO_FEATURE
                     : cold        ? FOLIOT__COLD_FEATURE + p
                                   : m->point[p].feature;
    memcpy(&row->push_0, c->warm[k].impulse, sizeof c->warm[k].impulse);
}

// The live in stretches: first how many rows each makes, then where they begin, then the rows.
static uint32_t stretch_end(const foliot__collider *c, uint32_t stretch)
{
    uint32_t live = c->counts[FOLIOT__COUNT_LIVE], end = (stretch + 1) * FOLIOT__GRAIN_PAIRS;
    return end < live ? end : live;
}

static void count_part(void *context, uint32_t begin, uint32_t last)
{
    const foliot__collider *c = context;
    for (uint32_t s = begin; s < last; s++) {
        uint32_t rows = 0;
        for (uint32_t n = s * FOLIOT__GRAIN_PAIRS; n < stretch_end(c, s); n++)
            rows += pushes(&c->warm[c->live[n]]);
        c->pairs_spare[s].a = rows;
    }
}

static void keep_part(void *context, uint32_t begin, uint32_t last)
{
    const foliot__collider *c = context;
    foliot__contact_row *rows = foliot__contact(c->world);
    for (uint32_t s = begin; s < last; s++) {
        uint32_t at = c->pairs_spare[s].a;
        for (uint32_t n = s * FOLIOT__GRAIN_PAIRS; n < stretch_end(c, s); n++)
            if (pushes(&c->warm[c->live[n]]))
                keep_one(c, c->live[n], &rows[at++]);
    }
}

void foliot__keep_contacts(foliot__collider *c)
{
    uint32_t live = c->counts[FOLIOT__COUNT_LIVE], kept = 0;
    uint32_t stretches = (live + FOLIOT__GRAIN_PAIRS - 1) / FOLIOT__GRAIN_PAIRS;
    foliot__parallel_run(c->workers, 0, stretches, 1, count_part, c);
    for (uint32_t s = 0; s < stretches; s++) {
        uint32_t rows = c->pairs_spare[s].a;
        c->pairs_spare[s].a = kept;
        kept += rows;
    }
    foliot__parallel_run(c->workers, 0, stretches, 1, keep_part, c);
    c->world->contact_count = kept;
}

// Points of the same feature take over what they pushed; friction is the pair's.
static void match(const foliot__manifold *m, const foliot__contact_row *row, foliot__warm *warm)
{
    const uint32_t *feature = &row->feature_0;
    const float *push = &row->push_0;
    uint32_t from = 0;
    for (uint32_t p = 0; p < m->count; p++) {
        while (from < FOLIOT__POINTS && feature[from] < m->point[p].feature)
            from++;
        if (from < FOLIOT__POINTS && feature[from] == m->point[p].feature)
            warm->impulse[p] = push[from];
    }
    if (feature[0] < FOLIOT__COLD_FEATURE)
        memcpy(&warm->impulse[4], &row->drag_x, 4 * sizeof(float));
}

void foliot__match_contacts(foliot__collider *c, uint32_t begin, uint32_t end)
{
    const foliot__contact_row *rows = foliot__contact(c->world);
    const foliot__manifold *first = &c->manifolds[c->live[begin]];
    uint32_t at = foliot__contact_lower_bound(c->world, first->a, first->b),
             count = c->world->contact_count;
    for (uint32_t n = begin; n < end; n++) {
        uint32_t k = c->live[n];
        const foliot__manifold *m = &c->manifolds[k];
        c->warm[k] = (foliot__warm){.impulse = {0}};
        while (at < count && (rows[at].a < m->a || (rows[at].a == m->a && rows[at].b < m->b)))
            at++;
        if (at < count && rows[at].a == m->a && rows[at].b == m->b)
            match(m, &rows[at], &c->warm[k]);
    }
}
