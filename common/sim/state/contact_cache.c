// SPDX-License-Identifier: MIT
// contact_cache.c: looks up and drops rows of the table `contact`. Knows nothing of shapes or
// manifolds; the solver fills the table (solver/warm_start.c).
#include "sim/state/contact_cache.h"

static uint64_t key_of(const foliot__contact_row *row)
{
    return (uint64_t)row->a << 32 | row->b;
}

// A binary search without branches, because its branches cannot be predicted.
uint32_t foliot__contact_lower_bound(const foliot_world *world, uint32_t a, uint32_t b)
{
    const foliot__contact_row *row = foliot__contact(world);
    uint64_t key = (uint64_t)a << 32 | b;
    uint32_t count = world->contact_count;
    if (count == 0)
        return 0;
    while (count > 1) {
        uint32_t half = count / 2;
        row += key_of(&row[half - 1]) < key ? half : 0;
        count -= half;
    }
    return (uint32_t)(row - foliot__contact(world)) + (key_of(row) < key);
}

bool foliot__contact_was_active(const foliot_world *world, uint32_t a, uint32_t b)
{
    uint32_t at = foliot__contact_lower_bound(world, a, b);
    const foliot__contact_row *row = &foliot__contact(world)[at];
    return at < world->contact_count && row->a == a && row->b == b;
}

bool foliot__contact_any_active(const foliot_world *world, uint32_t slot)
{
    const foliot__contact_row *rows = foliot__contact(world);
    for (uint32_t i = 0; i < world->contact_count; i++)
        if (rows[i].a == slot || rows[i].b == slot)
            return true;
    return false;
}

void foliot__contact_forget(foliot_world *world, uint32_t slot)
{
    foliot__contact_row *rows = foliot__contact(world);
    uint32_t kept = 0; // rows before the first that goes stay where they are
    while (kept < world->contact_count && rows[kept].a != slot && rows[kept].b != slot)
        kept++;
    for (uint32_t i = kept; i < world->contact_count; i++)
        if (rows[i].a != slot && rows[i].b != slot)
            rows[kept++] = rows[i];
    world->contact_count = kept;
}
