// SPDX-License-Identifier: MIT
// interest_records.c: a watcher's records of bodies and joints: tags, prototypes, joints that were
// made or broke. It gets only those of bodies within `far`, when they change or come near.
// Invariant: no record names a body that is farther away, nor a joint of two such bodies.
#include "interest_view.h"

#include <stdlib.h>
#include <string.h>

#include "wire/session_state.h"

#define WORD_BITS 64u
#define JOINT_WORDS_FIRST 4u

typedef struct foliot__interest_news interest_news;

static bool has_bit(const uint64_t *words, uint32_t i)
{
    return words[i / WORD_BITS] >> (i % WORD_BITS) & 1;
}

static void set_bit(uint64_t *words, uint32_t i)
{
    words[i / WORD_BITS] |= (uint64_t)1 << (i % WORD_BITS);
}

static void clear_bit(uint64_t *words, uint32_t i)
{
    words[i / WORD_BITS] &= ~((uint64_t)1 << (i % WORD_BITS));
}

// -- news

void foliot__interest_note_body(foliot__interest_map *m, bool behind, uint32_t slot, bool tag_alone)
{
    interest_news *n = &m->changes.news[behind];
    if (slot >= m->format.bodies_max)
        return;
    set_bit(tag_alone ? n->tags : n->slots, slot);
    n->any = true;
}

static bool grow_bits(uint64_t **words, uint32_t from, uint32_t to)
{
    uint64_t *grown = realloc(*words, to * sizeof *grown);
    if (!grown)
        return false;
    memset(grown + from, 0, (to - from) * sizeof *grown);
    *words = grown;
    return true;
}

// Room for a joint, at least doubled.
static bool reserve_joint(foliot__interest_map *m, uint32_t index)
{
    uint32_t words = m->changes.joint_words ? m->changes.joint_words : JOINT_WORDS_FIRST;
    while (words * WORD_BITS <= index)
        words *= 2;
    if (words == m->changes.joint_words)
        return true;
    struct foliot__joint_ends *ends = realloc(m->changes.ends, words * WORD_BITS * sizeof *ends);
    if (!ends)
        return false;
    m->changes.ends = ends;
    for (uint32_t i = m->changes.joint_words * WORD_BITS; i < words * WORD_BITS; i++)
        ends[i] = (struct foliot__joint_ends){FOLIOT_NO_BODY, FOLIOT_NO_BODY};
    if (!grow_bits(&m->changes.renamed, m->changes.joint_words, words) ||
        !grow_bits(&m->changes.news[0].joints, m->changes.joint_words, words) ||
        !grow_bits(&m->changes.news[1].joints, m->changes.joint_words, words))
        return false;
    m->changes.joint_words = words;
    return true;
}

void foliot__interest_note_joint(foliot__interest_map *m, bool behind, uint32_t index,
                                 const foliot__known_joint *joint)
{
    if (!reserve_joint(m, index)) // without memory no watcher gets a record
        return;
    set_bit(m->changes.news[behind].joints, index);
    m->changes.news[behind].any = true;
    if (behind || joint->state != FOLIOT__JOINT_MADE)
        return;
    struct foliot__joint_ends *ends = &m->changes.ends[index];
    if (ends->a != FOLIOT_NO_BODY && (ends->a != joint->a || ends->b != joint->b))
        set_bit(m->changes.renamed, index);
    *ends = (struct foliot__joint_ends){joint->a, joint->b};
}

void foliot__interest_clear_news(foliot__interest_map *m)
{
    for (int i = 0; i < 2; i++) {
        interest_news *n = &m->changes.news[i];
        if (!n->any)
            continue;
        memset(n->slots, 0, m->changes.slot_words * sizeof *n->slots);
        memset(n->tags, 0, m->changes.slot_words * sizeof *n->tags);
        if (m->changes.joint_words > 0)
            memset(n->joints, 0, m->changes.joint_words * sizeof *n->joints);
        n->any = false;
    }
}

// -- a watcher

static bool reserve_joints(const foliot__interest_map *m, foliot__interest_view *v)
{
    uint32_t words = m->changes.joint_words;
    if (words <= v->joint_words)
        return true;
    if (!grow_bits(&v->joints_stale, v->joint_words, words) ||
        !grow_bits(&v->joints_sent, v->joint_words, words))
        return false;
    v->held += 2 * (words - v->joint_words) * sizeof *v->joints_sent;
    v->joint_words = words;
    return true;
}

void foliot__interest_begin_records(foliot__interest_map *m, foliot__interest_view *v,
                                    const foliot__session_state *known)
{
    for (uint32_t slot = 0; slot < known->slot_count; slot++)
        if (known->tags[slot] != 0 || known->prototypes[slot] != FOLIOT_NO_BODY)
            v->of[slot].state |= STALE;
    if (known->joint_end == 0 || !reserve_joint(m, known->joint_end - 1) || !reserve_joints(m, v))
        return;
    for (uint32_t i = 0; i < known->joint_end; i++) {
        const foliot__known_joint *joint = foliot__session_state_joint(known, i);
        if (!joint)
            continue;
        set_bit(v->joints_stale, i);
        if (joint->state == FOLIOT__JOINT_MADE && m->changes.ends[i].a == FOLIOT_NO_BODY)
            m->changes.ends[i] = (struct foliot__joint_ends){joint->a, joint->b};
    }
}

typedef struct record_writing {
    foliot__interest_map *m;
    foliot__interest_view *v;
    const foliot__interest_look *look;
    const foliot_snapshot *before; // NULL: not kept
    const foliot__session_state *known;
    const interest_news *news;
    uint32_t phase, joints_sent;
} record_writing;

static bool sees(const record_writing *t, uint32_t slot)
{
    return is_visible(t->m, t->v, body_at(t->look->snapshot, slot), t->m->interest.far);
}

// Whether it is gone, and was in the watcher's sight before.
static bool has_gone(const record_writing *t, uint32_t slot)
{
    return !(body_at(t->look->snapshot, slot)->flags & FOLIOT_SNAPSHOT_ALIVE) && t->before &&
           is_visible(t->m, t->v, body_at(t->before, slot), t->m->interest.far);
}

static bool is_full(const record_writing *t)
{
    return t->m->changes.body_count >= RECORDS_MAX;
}

static void add_body(record_writing *t, struct foliot__body_record body)
{
    t->m->changes.bodies[t->m->changes.body_count++] = body;
    if (!body.tag_alone)
        t->v->of[body.slot].state &= (uint16_t)~STALE;
}

// Chooses the bodies whose records are written: those with news, a part of all others each time,
// and those that the watcher's packet is about to show.
static void choose_bodies(record_writing *t, bool packed)
{
    foliot__interest_map *m = t->m;
    foliot__interest_view *v = t->v;
    for (uint32_t w = 0; t->news->any && w < m->changes.slot_words; w++)
        for (uint64_t bits = t->news->slots[w] | t->news->tags[w]; bits; bits &= bits - 1) {
            uint32_t slot = w * WORD_BITS + (uint32_t)__builtin_ctzll(bits);
            uint16_t *state = &v->of[slot].state;
            bool tag_alone = !has_bit(t->news->slots, slot) && !(*state & STALE),
                 seen = sees(t, slot), gone = !seen && has_gone(t, slot);
            if (is_full(t) || !(seen || gone))
                *state |= STALE;
            else
                add_body(t, (struct foliot__body_record){slot, tag_alone, gone});
        }
    for (uint32_t slot = t->phase; slot < t->known->slot_count && !is_full(t); slot += SWEEPS)
        if ((v->of[slot].state & STALE) && sees(t, slot))
            add_body(t, (struct foliot__body_record){.slot = slot});
    for (uint32_t i = 0; packed && i < m->packing.item_count; i++) {
        const foliot__partial_item *item = &m->packing.items[i];
        if (!item->leaves && (v->of[item->slot].state & STALE))
            add_body(t, (struct foliot__body_record){.slot = item->slot});
    }
}

static int by_slot(const void *a, const void *b)
{
    uint32_t x = ((const struct foliot__body_record *)a)->slot,
             y = ((const struct foliot__body_record *)b)->slot;
    return x < y ? -1 : x > y;
}

static void write_bodies(const record_writing *t, foliot__update_writer *w)
{
    const foliot__interest_map *m = t->m;
    qsort(m->changes.bodies, m->changes.body_count, sizeof *m->changes.bodies, by_slot);
    for (uint32_t i = 0; i < m->changes.body_count; i++) {
        uint32_t slot = m->changes.bodies[i].slot,
                 prototype = foliot__session_state_prototype(t->known, slot);
        uint16_t *state = &t->v->of[slot].state;
        if (m->changes.bodies[i].tag_alone)
            continue;
        if (prototype != FOLIOT_NO_BODY)
            foliot__update_spawned(w, slot, t->known->generations[slot], prototype);
        else if (m->changes.bodies[i].gone || (*state & SPAWNED))
            foliot__update_despawned(w, slot);
        *state &= (uint16_t)~SPAWNED;
        *state |= prototype != FOLIOT_NO_BODY ? SPAWNED : 0;
    }
    for (uint32_t i = 0; i < m->changes.body_count; i++)
        foliot__update_tag(w, m->changes.bodies[i].slot,
                           foliot__session_state_tag(t->known, m->changes.bodies[i].slot));
}

// -- joints

// A broken joint is reported only to a watcher that can know the joint.
static void write_joint(record_writing *t, foliot__update_writer *w, uint32_t index)
{
    foliot__interest_view *v = t->v;
    const foliot_scene *scene = t->m->scene;
    const foliot__known_joint *joint = foliot__session_state_joint(t->known, index);
    bool sent = has_bit(v->joints_sent, index);
    if (!joint) {
        clear_bit(v->joints_stale, index);
        return;
    }
    bool broken = joint->state == FOLIOT__JOINT_BROKEN;
    struct foliot__joint_ends ends = {joint->a, joint->b};
    if (broken && index < scene->constraint_count)
        ends =
            (struct foliot__joint_ends){scene->constraints[index].a, scene->constraints[index].b};
    else if (broken) // a broken joint is known by its index alone
        ends = t->m->changes.ends[index];
    bool seen = sees(t, ends.a) || sees(t, ends.b) || has_gone(t, ends.a) || has_gone(t, ends.b),
         renamed = sent && has_bit(t->m->changes.renamed, index); // it may show the one of before
    if (!seen && !renamed)
        return;
    t->joints_sent++;
    if (seen)
        clear_bit(v->joints_stale, index);
    if (!broken && seen) {
        foliot__update_joint_made(w, index, joint);
        set_bit(v->joints_sent, index);
    } else if (sent || index < scene->constraint_count) {
        foliot__update_joint_broken(w, index);
        clear_bit(v->joints_sent, index);
    }
}

// -- all of it

void foliot__interest_write_records(foliot__interest_map *m, foliot__interest_view *v,
                                    const foliot__interest_look *look, bool packed, bool behind,
                                    const foliot__session_state *known, foliot__update_writer *w)
{
    uint64_t tick = look->snapshot->tick;
    record_writing t = {
        m, v, look, NULL, known, &m->changes.news[behind], (uint32_t)(tick / m->every % SWEEPS), 0};
    if (!t.news->any && known->slot_count == 0 && known->joint_end == 0)
        return;
    if (t.news->any && tick >= m->every)
        t.before = look->find(look->user, tick - m->every);
    m->changes.body_count = 0;
    choose_bodies(&t, packed);
    write_bodies(&t, w);
    bool roomy = reserve_joints(m, v);
    for (uint32_t word = 0; roomy && word < v->joint_words; word++) {
        uint64_t fresh = word < m->changes.joint_words ? t.news->joints[word] : 0;
        v->joints_stale[word] |= fresh;
        uint64_t bits = v->joints_stale[word] & (word % SWEEPS == t.phase ? UINT64_MAX : fresh);
        for (; bits && t.joints_sent < RECORDS_MAX; bits &= bits - 1)
            write_joint(&t, w, word * WORD_BITS + (uint32_t)__builtin_ctzll(bits));
    }
    foliot__update_finish(w, false);
}

void foliot__interest_keep_news(const foliot__interest_map *m, foliot__interest_view *v,
                                bool behind)
{
    const interest_news *n = &m->changes.news[behind];
    if (!n->any)
        return;
    for (uint32_t w = 0; w < m->changes.slot_words; w++)
        for (uint64_t bits = n->slots[w] | n->tags[w]; bits; bits &= bits - 1)
            v->of[w * WORD_BITS + (uint32_t)__builtin_ctzll(bits)].state |= STALE;
    if (reserve_joints(m, v))
        for (uint32_t w = 0; w < m->changes.joint_words; w++)
            v->joints_stale[w] |= n->joints[w];
}
