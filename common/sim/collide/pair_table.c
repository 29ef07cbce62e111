// SPDX-License-Identifier: MIT
// pair_table.c: the table of body pairs that the broad phase fills. Its room is fixed: a pair
// without room is dropped and counted. Invariant: after foliot__order_pairs, pairs ascend by (a, b)
// and each is there once.
#include "sim/collide/collide.h"

#include <string.h>

// One pass of a counting sort by member a (0) or b (1). `begin` holds how many pairs each slot has.
// Stable.
static void count_sort_pairs(const foliot__collider *c, const foliot__body_pair *from,
                             uint32_t member, uint32_t *begin, foliot__body_pair *to)
{
    const uint32_t *key = (const uint32_t *)(const void *)from + member, count = c->counts->pairs;
    for (uint32_t i = 0, sum = 0; i < c->step->count; i++) {
        uint32_t n = begin[i];
        begin[i] = sum;
        sum += n;
    }
    for (uint32_t k = 0; k < count; k++)
        to[begin[key[2 * k]]++] = from[k];
}

void foliot__sort_pairs(foliot__collider *c)
{
    uint32_t *of_a = c->grid.pairs_of_a, *of_b = c->grid.pairs_of_b, count = c->counts->pairs;
    memset(of_a, 0, sizeof *of_a * c->step->count);
    memset(of_b, 0, sizeof *of_b * c->step->count);
    for (uint32_t k = 0; k < count; k++) {
        of_a[c->pairs[k].a]++;
        of_b[c->pairs[k].b]++;
    }
    count_sort_pairs(c, c->pairs, 1, of_b, c->pairs_spare);
    count_sort_pairs(c, c->pairs_spare, 0, of_a, c->pairs);
}

static void drop_repeats(foliot__collider *c)
{
    uint32_t count = c->counts->pairs, kept = 0;
    for (uint32_t k = 0; k < count; k++) {
        foliot__body_pair pair = c->pairs[k];
        if (kept == 0 || c->pairs[kept - 1].a != pair.a || c->pairs[kept - 1].b != pair.b)
            c->pairs[kept++] = pair;
    }
    c->counts->pairs = kept;
}

void foliot__order_pairs(foliot__collider *c)
{
    foliot__sort_pairs(c);
    drop_repeats(c);
}

void foliot__add_pair(foliot__collider *c, uint32_t a, uint32_t b)
{
    uint32_t *count = &c->counts->pairs, most = c->world->capacity.contacts;
    if (*count == most && !c->counts->full) { // repeats may fill it
        foliot__order_pairs(c);
        c->counts->full = *count > most - most / 16;
    }
    if (*count == most) {
        c->world->counters.contacts_dropped++;
        return;
    }
    c->pairs[(*count)++] = a < b ? (foliot__body_pair){a, b} : (foliot__body_pair){b, a};
}
