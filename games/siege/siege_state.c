// SPDX-License-Identifier: MIT
// siege_state.c: the state of siege's rules, as bytes that are the same on every machine.
//
// u64 tick; u8 over; u64 over_at; two f64 as their bits and two u64: health and kings; u32 and that
// many (u32 ticket - 1001, u64 body); u32 and that many (u64 body, u64 tick); u32 and that many
// players: u32 number, u8 ammo, u8 reload, u64 thrown, the name's 64 bytes. All little-endian.
#include "siege.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool siege_add_stone(siege_state *t, uint64_t body, uint64_t goes)
{
    uint32_t at = t->stone_count;
    while (at > 0 && t->stones[at - 1].body >= body)
        at--;
    if (at == t->stone_count || t->stones[at].body != body) {
        if (t->stone_count == t->stone_capacity) {
            uint32_t capacity = t->stone_capacity ? 2 * t->stone_capacity : 32;
            siege_stone *stones = realloc(t->stones, capacity * sizeof *stones);
            if (!stones)
                return false;
            t->stones = stones;
            t->stone_capacity = capacity;
        }
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

static void write_value(cursor *c, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++, c->at++)
        if (c->at < c->length)
            c->bytes[c->at] = (uint8_t)(value >> 8 * i);
}

static uint64_t read_value(cursor *c, int bytes)
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

size_t siege_save(const void *self, void *bytes, size_t capacity, char *problem,
                  size_t problem_bytes)
{
    const siege *s = self;
    const siege_state *t = &s->state;
    cursor c = {.bytes = bytes, .length = bytes ? capacity : 0};
    uint32_t beams = 0;
    (void)problem, (void)problem_bytes;
    write_value(&c, t->tick, 8);
    write_value(&c, t->over, 1);
    write_value(&c, t->over_at, 8);
    for (int i = 0; i < 2; i++) {
        uint64_t bits;
        memcpy(&bits, &t->health[i], sizeof bits);
        write_value(&c, bits, 8);
        write_value(&c, t->kings[i], 8);
    }
    for (uint32_t i = 0; i < BEAM_TICKETS; i++)
        beams += t->beams[i] != 0;
    write_value(&c, beams, 4);
    for (uint32_t i = 0; i < BEAM_TICKETS; i++)
        if (t->beams[i]) {
            write_value(&c, i, 4);
            write_value(&c, t->beams[i], 8);
        }
    write_value(&c, t->stone_count, 4);
    for (uint32_t i = 0; i < t->stone_count; i++) {
        write_value(&c, t->stones[i].body, 8);
        write_value(&c, t->stones[i].goes, 8);
    }
    uint32_t players = 0;
    for (uint32_t id = 0; id < s->players_max; id++)
        players += t->players[id].joined;
    write_value(&c, players, 4);
    for (uint32_t id = 0; id < s->players_max; id++) {
        const siege_player *p = &t->players[id];
        if (!p->joined)
            continue;
        write_value(&c, id, 4);
        write_value(&c, p->ammo, 1);
        write_value(&c, p->reload, 1);
        write_value(&c, (uint64_t)p->thrown, 8);
        for (int i = 0; i < FOLIOT_NAME_BYTES; i++)
            write_value(&c, (uint8_t)p->name[i], 1);
    }
    return c.at;
}

// Every loop ends at the end of the bytes.
static void read_state(cursor *c, const siege *s, siege_state *t)
{
    t->tick = read_value(c, 8);
    t->over = (uint8_t)read_value(c, 1);
    t->over_at = read_value(c, 8);
    c->bad |= t->over == 1 || t->over > 5 || t->over_at > t->tick;
    for (int i = 0; i < 2; i++) {
        uint64_t bits = read_value(c, 8);
        memcpy(&t->health[i], &bits, sizeof bits);
        t->kings[i] = read_value(c, 8);
        c->bad |= !isfinite(t->health[i]);
    }
    c->bad |= t->tick > INT64_MAX / 2;
    for (uint64_t count = read_value(c, 4); count > 0 && !c->bad; count--) {
        uint64_t ticket = read_value(c, 4);
        c->bad |= ticket >= BEAM_TICKETS;
        if (!c->bad)
            t->beams[ticket] = read_value(c, 8);
    }
    for (uint64_t count = read_value(c, 4); count > 0 && !c->bad; count--) {
        uint64_t body = read_value(c, 8), goes = read_value(c, 8);
        bool ascends = t->stone_count == 0 || t->stones[t->stone_count - 1].body < body;
        c->bad |= !ascends || !siege_add_stone(t, body, goes);
    }
    for (uint64_t count = read_value(c, 4); count > 0 && !c->bad; count--) {
        uint64_t id = read_value(c, 4);
        if (id >= s->players_max || t->players[id].joined) {
            c->bad = true;
            return;
        }
        siege_player *p = &t->players[id];
        p->joined = true;
        p->ammo = (uint8_t)read_value(c, 1);
        p->reload = (uint8_t)read_value(c, 1);
        p->thrown = (int64_t)read_value(c, 8);
        for (int i = 0; i < FOLIOT_NAME_BYTES; i++)
            p->name[i] = (char)read_value(c, 1);
        c->bad |= p->ammo > AMMO_MAX || p->reload >= RELOAD_TICKS ||
                  p->name[FOLIOT_NAME_BYTES - 1] || p->thrown < -THROW_TICKS ||
                  p->thrown > (int64_t)t->tick;
    }
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
    read_state(&c, s, &t);
    if (c.bad || c.at != length) {
        siege_free_state(&t);
        return FOLIOT_STATUS_CORRUPT;
    }
    siege_free_state(&s->state);
    s->state = t;
    return FOLIOT_STATUS_OK;
}
