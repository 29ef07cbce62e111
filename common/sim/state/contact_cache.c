// SPDX-License-Identifier: MIT
// contact_cache.c: looks up and drops rows of the table `contact`, and keeps what events need.
// Knows nothing of shapes or manifolds; the solver fills the table (solver/solver_prepare.c).
#include "sim/state/contact_cache.h"

#include <string.h>

#define SEARCHES_MAX 8 // of the whole table, before lists are made

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

// -- rows of one body

// False: a tool for divergences wrote into the row.
static bool names_slots(const foliot_world *world, const foliot__contact_row *row)
{
    return row->a < world->capacity.slots && row->b < world->capacity.slots;
}

// Lists the rows of every body, by counting.
static void list_rows(foliot_world *world)
{
    const foliot__contact_row *rows = foliot__contact(world);
    uint32_t *begin = foliot__listed_begin(world), *list = foliot__listed_rows(world);
    uint32_t slots = world->capacity.slots, sum = 0;
    memset(begin, 0, (slots + 1) * sizeof *begin);
    for (uint32_t i = 0; i < world->contact_count; i++) {
        if (!names_slots(world, &rows[i]))
            continue;
        begin[rows[i].a]++;
        begin[rows[i].b]++;
    }
    for (uint32_t slot = 0; slot <= slots; slot++)
        begin[slot] = sum += begin[slot];
    // Filled from behind: each entry of `begin` comes down from its list's end to its beginning.
    for (uint32_t i = world->contact_count; i-- > 0;) {
        if (!names_slots(world, &rows[i]))
            continue;
        list[--begin[rows[i].a]] = i;
        list[--begin[rows[i].b]] = i;
    }
    world->input.contacts_listed = 1;
}

// The rows of one body, or the whole table.
typedef struct search {
    const uint32_t *list; // NULL: `from` and `to` are rows
    uint32_t from, to;
} search;

static search search_of(foliot_world *world, uint32_t slot)
{
    bool lists = world->capacity.listed_rows > 0;
    if (lists && !world->input.contacts_listed && ++world->input.contact_searches > SEARCHES_MAX)
        list_rows(world);
    if (!world->input.contacts_listed)
        return (search){NULL, 0, world->contact_count};
    const uint32_t *begin = foliot__listed_begin(world);
    return (search){foliot__listed_rows(world), begin[slot], begin[slot + 1]};
}

void foliot__contact_visit(foliot_world *world, uint32_t slot,
                           void (*visit)(foliot_world *world, uint32_t other))
{
    search s = search_of(world, slot);
    for (uint32_t k = s.from; k < s.to; k++) {
        foliot__contact_row row = foliot__contact(world)[s.list ? s.list[k] : k];
        if (row.a == slot || row.b == slot)
            visit(world, row.a == slot ? row.b : row.a);
    }
}

static void drop_rows(foliot_world *world, uint32_t slot)
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

void foliot__contact_forget(foliot_world *world, uint32_t slot)
{
    if (world->contact_count == 0)
        return;
    search s = search_of(world, slot);
    if (!s.list) {
        drop_rows(world, slot);
        return;
    }
    foliot__contact_row *rows = foliot__contact(world);
    for (uint32_t k = s.from; k < s.to; k++) // the numbers of rows stay until all are done
        if (rows[s.list[k]].a == slot || rows[s.list[k]].b == slot)
            rows[s.list[k]].a = rows[s.list[k]].b = FOLIOT_NO_BODY;
}

void foliot__contact_end_changes(foliot_world *world)
{
    if (world->input.contacts_listed)
        drop_rows(world, FOLIOT_NO_BODY);
    world->input.contacts_listed = world->input.contact_searches = 0;
}

// -- what a step reports of contacts

// A slot beyond the last one: a tool for divergences wrote into the row.
static foliot_body_id party_of(const foliot_world *world, uint32_t slot)
{
    return slot < world->capacity.slots ? foliot__body_id(world, slot) : (foliot_body_id){slot};
}

void foliot__contact_events_begin(foliot_world *world)
{
    const foliot__contact_row *row = foliot__contact(world);
    foliot__contact_before *before = foliot__contacts_before(world);
    for (uint32_t i = 0; i < world->contact_count; i++)
        before[i] = (foliot__contact_before){party_of(world, row[i].a), party_of(world, row[i].b)};
    world->reported.contacts_before_count = world->contact_count;
    world->reported.impact_count = world->reported.brief_count = 0;
}

void foliot__hit_event(foliot_world *world, const foliot_hit_event *impact)
{
    if (world->reported.impact_count == world->capacity.impacts) {
        world->counters.events_dropped++;
        return;
    }
    foliot__impacts(world)[world->reported.impact_count++] = *impact;
}
