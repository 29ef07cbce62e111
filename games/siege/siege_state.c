// SPDX-License-Identifier: MIT
// siege_state.c: what siege's rules know, as bytes that are the same on every machine.
//
// u64 tick; u8 over; u64 over_at; two f64 as their bits and two u64: health and kings; u32 and that
// many (u32 ticket - 1001, u64 body); u32 and that many (u64 body, u64 tick); u32 and that many
// players: u32 number, u8 ammo, u8 reload, u64 thrown, the name's 64 bytes. All little-endian.
#include "siege.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool grow(siege_state *t)
{
    uint32_t capacity = t->stone_capacity ? 2 * t->stone_capacity : 32;
    siege_stone *stones = realloc(t->stones, capacity * sizeof *stones);
    if (!stones)
        return false;
    t->stones = stones;
    t->stone_capacity = capacity;
    return true;
}

bool siege_add_stone(siege_state *t, uint64_t body, uint64_t goes)
{
    uint32_t at = t->stone_count;
    while (at > 0 && t->stones[at - 1].body >= body)
        at--;
    if (at == t->stone_count || t->stones[at].body != body) {
        if (t->stone_count == t->stone_capacity && !grow(t))
            return false;
        if (at < t->stone_count)
            memmove(&t->stones[at + 1], &t->stones[at], (t->stone_count - at) * sizeof *t->stones);
        t->stone_count++;
    }
    t->stones[at] = (siege_stone){body, goes};
    return true;
}

typedef struct cursor {
    uint8_t *bytes; // NULL: counts
    size_t at, length;
    bool bad;
} cursor;

static void put(cursor *c, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++, c->at++)
        if (c->at < c->length)
            c->bytes[c->at] = (uint8_t)(value >> 8 * i);
}

static uint64_t take(cursor *c, int bytes)
{
    uint64_t value = 0;
    if (c->bad || c->length - c->at < (size_t)bytes) {
        c->bad = true;
        return 0;
    }
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)c->bytes[c->at++] << 8 * i;
    return value;
}

static void put_players(cursor *c, const siege *s)
{
    uint32_t count = 0;
    for (uint32_t id = 0; id < s->players_max; id++)
        count += s->state.players[id].joined;
    put(c, count, 4);
    for (uint32_t id = 0; id < s->players_max; id++) {
        const siege_player *p = &s->state.players[id];
        if (!p->joined)
            continue;
        put(c, id, 4);
        put(c, p->ammo, 1);
        put(c, p->reload, 1);
        put(c, (uint64_t)p->thrown, 8);
        for (int i = 0; i < FOLIOT_NAME_BYTES; i++)
            put(c, (uint8_t)p->name[i], 1);
    }
}

size_t siege_save(const void *self, void *bytes, size_t capacity, char *problem,
                  size_t problem_bytes)
{
    const siege *s = self;
    const siege_state *t = &s->state;
    cursor c = {.bytes = bytes, .length = bytes ? capacity : 0};
    uint32_t beams = 0;
    (void)problem, (void)problem_bytes;
    put(&c, t->tick, 8);
    put(&c, t->over, 1);
    put(&c, t->over_at, 8);
    for (int i = 0; i < 2; i++) {
        uint64_t bits;
        memcpy(&bits, &t->health[i], sizeof bits);
        put(&c, bits, 8);
        put(&c, t->kings[i], 8);
    }
    for (uint32_t i = 0; i < BEAM_TICKETS; i++)
        beams += t->beams[i] != 0;
    put(&c, beams, 4);
    for (uint32_t i = 0; i < BEAM_TICKETS; i++)
        if (t->beams[i]) {
            put(&c, i, 4);
            put(&c, t->beams[i], 8);
        }
    put(&c, t->stone_count, 4);
    for (uint32_t i = 0; i < t->stone_count; i++) {
        put(&c, t->stones[i].body, 8);
        put(&c, t->stones[i].goes, 8);
    }
    put_players(&c, s);
    return c.at;
}

static void take_player(cursor *c, const siege *s, siege_state *t)
{
    uint64_t id = take(c, 4);
    if (id >= s->players_max || t->players[id].joined) {
        c->bad = true;
        return;
    }
    siege_player *p = &t->players[id];
    p->joined = true;
    p->ammo = (uint8_t)take(c, 1);
    p->reload = (uint8_t)take(c, 1);
    p->thrown = (int64_t)take(c, 8);
    for (int i = 0; i < FOLIOT_NAME_BYTES; i++)
        p->name[i] = (char)take(c, 1);
    if (p->ammo > AMMO_MAX || p->reload >= RELOAD_TICKS || p->name[FOLIOT_NAME_BYTES - 1] ||
        p->thrown < -THROW_TICKS || p->thrown > (int64_t)t->tick)
        c->bad = true;
}

// Every loop ends at the end of the bytes.
static void take_state(cursor *c, const siege *s, siege_state *t)
{
    t->tick = take(c, 8);
    t->over = (uint8_t)take(c, 1);
    t->over_at = take(c, 8);
    c->bad |= t->over == 1 || t->over > 5 || t->over_at > t->tick;
    for (int i = 0; i < 2; i++) {
        uint64_t bits = take(c, 8);
        memcpy(&t->health[i], &bits, sizeof bits);
        t->kings[i] = take(c, 8);
        c->bad |= !isfinite(t->health[i]);
    }
    c->bad |= t->tick > INT64_MAX / 2;
    for (uint64_t count = take(c, 4); count > 0 && !c->bad; count--) {
        uint64_t ticket = take(c, 4);
        c->bad |= ticket >= BEAM_TICKETS;
        if (!c->bad)
            t->beams[ticket] = take(c, 8);
    }
    for (uint64_t count = take(c, 4); count > 0 && !c->bad; count--) {
        uint64_t body = take(c, 8), goes = take(c, 8);
        bool ascends = t->stone_count == 0 || t->stones[t->stone_count - 1].body < body;
        c->bad |= !ascends || !siege_add_stone(t, body, goes);
    }
    for (uint64_t count = take(c, 4); count > 0 && !c->bad; count--)
        take_player(c, s, t);
}

void siege_free_state(siege_state *t)
{
    free(t->stones);
    free(t->players);
}

foliot_status siege_restore(void *self, const void *bytes, size_t length)
{
    siege *s = self;
    siege_state t = {.players = calloc(s->players_max + 1, sizeof *t.players)};
    cursor c = {.bytes = (uint8_t *)bytes, .length = length}; // only read
    if (!t.players)
        return FOLIOT_STATUS_MEMORY;
    take_state(&c, s, &t);
    if (c.bad || c.at != length) {
        siege_free_state(&t);
        return FOLIOT_STATUS_CORRUPT;
    }
    siege_free_state(&s->state);
    s->state = t;
    return FOLIOT_STATUS_OK;
}
