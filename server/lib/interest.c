// SPDX-License-Identifier: MIT
// interest.c: which bodies a watcher is sent (interest.h). A body's claim grows with the time since
// it was sent last and falls with the square of its distance, so that what is near comes often and
// nothing that changed waits for ever. The grid makes candidates only; distances decide.
#include "interest.h"

#include "foliot/math.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS_PER_SIDE 5 // cells along an axis that may hold something within `far`
#define REST_TICKS 64      // a body that stood still for so long is remembered as it stood
#define AGE_OLD 30000      // snapshots: a baseline is given up before its low bits come again
#define ACTIVE 64          // snapshots since it changed, in which a body is looked at each time
#define SWEEPS 8           // snapshots in which all others are looked at
#define RATE_SHARE 0.95    // of the budget; the rest may come in one burst
#define BURST_S 0.045
#define PACKET_LEAST 64
#define NEAR_TURN 0.99999 // cosine of half an angle that an orientation is rounded by
#define CAME_TO_REST 2.0  // claim of what has come to rest, against what moves
#define TREMBLES 0.03     // claim of what changed and is hardly seen
#define DISTANCES 2
#define FAR_FROM 4.0         // squared, in units of `near`
#define ON_ITS_WAY 0.6       // claim of what was sent and is not acknowledged
#define WITHIN_NEAR 3.0      // claim within `near`, against what is just beyond
#define NEAR_ENDS 1.25       // where that is, in units of `near`
#define OWN 1e30             // claim of the watcher's own body ...
#define LEAVER 1e20          // ... and of what has left
#define FAR_SLACK 1.05       // how much farther than `far` a body must be to have left
#define NEVER_SENT 120.0     // claim of what the watcher does not know, in ticks of waiting
#define BODY_BYTES_FIRST 9.0 // before anything was measured
#define ITEMS_MAX 1024
#define OVERTAKEN 3    // later packets, after which one counts as lost
#define LOST_WAITED 30 // snapshots that a body counts as having waited for, whose first state was

// By how much a body may differ from what is known and look the same, from near and from far:
// position steps, and units of an orientation's numbers.
static const int tremble_steps[DISTANCES] = {1, 2}, tremble_turns[DISTANCES] = {2, 12};

// What a watcher has of a body, 16 bits: packets that held it, counted modulo 128; how many since
// its baseline; and flags. BASED alone: a body of the scene that the watcher knows to be gone.
enum {
    COUNT = 0x7f,
    SINCE = 0x1f80, // and this means: too many
    SINCE_ONE = 0x80,
    BASED = 0x2000,   // `baseline` is valid
    KNOWN = 0x4000,   // it was sent something of the body, and was not told to forget it
    LEAVING = 0x8000, // it was told to, and has not acknowledged that
};

// Bodies of the scene are shown by a watcher where the scene has them, until it is told otherwise.
enum { NOT_ASSUMED, ASSUMED, DIFFERS };

struct foliot__interest_map {
    foliot_interest interest;
    foliot_snapshot_format format;
    foliot__partial_coder *coder;
    uint32_t every, count; // slots
    double pace_hz;
    const foliot_scene *scene;
    uint8_t *assumed;  // by slot
    uint64_t *changed; // by slot: tick since which the body is as it is now
    // The same but for what is hardly seen, from near and from far: since when it is near `anchor`.
    struct {
        uint64_t *moved;
        foliot_snapshot_body *anchor;
    } seen[DISTANCES];
    // The last time that a body stood still for long: how it stood, from when to when.
    foliot_snapshot_body *rest;
    uint64_t *rest_since, *rest_until;
    // Slots of bodies that changed lately by cell of the grid, hashed into buckets.
    double cell; // position steps
    uint32_t buckets, *bucket_start, *bucket_of, *slots, *stamps, stamp;
    // Scratch.
    struct claim {
        float weight;
        uint32_t slot;
    } * claims;
    uint32_t claim_count;
    foliot__partial_item *items;
};

typedef struct sent_packet {
    uint64_t tick;
    uint32_t *items;   // what it held: SLOT, COUNT with this packet, and flags
    uint32_t sequence; // 0: acknowledged, or none
    uint16_t count;    // at most ITEMS_MAX
    bool lost;         // taken to be
} sent_packet;
#define LEAVES 0x80000000u // it says that the body leaves
#define VOID 0x40000000u   // what it says has been overtaken
#define SLOT (FOLIOT_BODIES_MAX - 1)
#define COUNT_SHIFT 20
_Static_assert(FOLIOT_BODIES_MAX <= 1u << COUNT_SHIFT, "slots are below counts");

struct foliot__interest_view {
    uint32_t count;
    uint16_t *sent, *baseline; // snapshots, low bits
    uint16_t *state;
    sent_packet packets[FOLIOT__INTEREST_PACKETS];
    uint32_t next_sequence;
    double tokens; // bytes that may be sent, as of a time
    uint64_t tokens_ns;
    uint32_t sweep;
    double body_bytes; // of a body in the last packets, mean
    bool has_focus;
    int32_t focus[3];
    size_t held;
};

bool foliot_interest_valid(const foliot_interest *interest)
{
    const foliot_interest *i = interest;
    return i->far > 0 && i->far <= 1e9 && i->near > 0 && i->near <= i->far &&
           i->budget_kbit >= FOLIOT_INTEREST_KBIT_MIN && i->budget_kbit <= FOLIOT_INTEREST_KBIT_MAX;
}

// -- the map

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
    m->cell = interest->far / 2 / format->position_step;
    for (m->buckets = 64; m->buckets < n; m->buckets *= 2) {
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
    m->stamps = calloc(m->buckets, sizeof *m->stamps);
    m->bucket_of = calloc(n, sizeof *m->bucket_of);
    m->slots = calloc(n, sizeof *m->slots);
    m->claims = calloc(n, sizeof *m->claims);
    m->items = calloc(ITEMS_MAX, sizeof *m->items);
    whole = whole && m->changed && m->assumed && m->rest && m->rest_since && m->rest_until &&
            m->bucket_start && m->stamps && m->bucket_of && m->slots && m->claims && m->items;
    if (!whole || foliot__partial_coder_create(format, &m->coder) != FOLIOT_STATUS_OK) {
        foliot__interest_map_destroy(m);
        return FOLIOT_STATUS_MEMORY;
    }
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
    free(m->stamps);
    free(m->bucket_of);
    free(m->slots);
    free(m->claims);
    free(m->items);
    free(m);
}

const foliot_interest *foliot__interest_map_get(const foliot__interest_map *m)
{
    return &m->interest;
}

static const foliot_snapshot_body no_body;

static const foliot_snapshot_body *body_at(const foliot_snapshot *s, uint32_t slot)
{
    return slot < s->count ? &s->bodies[slot] : &no_body;
}

static bool same_body(const foliot_snapshot_body *a, const foliot_snapshot_body *b)
{
    return memcmp(a, b, offsetof(foliot_snapshot_body, generation) + 1) == 0;
}

// Whether a body is where the scene has it, as far as a snapshot tells.
static bool is_as_in_scene(const foliot__interest_map *m, uint32_t slot,
                           const foliot_snapshot_body *body)
{
    const foliot_body_definition *scene = &m->scene->bodies[slot];
    bool still = scene->is_static == ((body->flags & FOLIOT_SNAPSHOT_STATIC) != 0) &&
                 (body->flags & FOLIOT_SNAPSHOT_ALIVE) &&
                 !(body->velocity[0] | body->velocity[1] | body->velocity[2]);
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
    bool same = a->generation == b->generation && a->largest == b->largest &&
                ((a->flags ^ b->flags) & ~FOLIOT_SNAPSHOT_ASLEEP) == 0;
    for (int k = 0; k < 3; k++)
        same = same && llabs((int64_t)a->position[k] - b->position[k]) <= tremble_steps[distance] &&
               abs(a->orientation[k] - b->orientation[k]) <= tremble_turns[distance];
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
    for (int k = 0; k < 3; k++)
        cell[k] = (int64_t)floor(position[k] / m->cell);
}

static void fill_grid(foliot__interest_map *m, const foliot_snapshot *s)
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
    memcpy(m->stamps, m->bucket_start, m->buckets * sizeof *m->stamps);
    for (uint32_t i = 0; i < m->count; i++)
        if (m->bucket_of[i] < m->buckets)
            m->slots[m->stamps[m->bucket_of[i]]++] = i;
    memset(m->stamps, 0, m->buckets * sizeof *m->stamps);
    m->stamp = 0;
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
static const foliot_snapshot_body *body_then(const foliot__interest_map *m,
                                             const foliot__interest_look *look, uint32_t slot,
                                             uint64_t tick)
{
    if (m->changed[slot] <= tick)
        return body_at(look->snapshot, slot);
    if (m->rest_since[slot] <= tick && tick <= m->rest_until[slot])
        return &m->rest[slot];
    const foliot_snapshot *s = look->find(look->user, tick);
    return s ? body_at(s, slot) : NULL;
}

// -- a watcher

foliot_status foliot__interest_view_create(const foliot__interest_map *map,
                                           foliot__interest_view **out)
{
    foliot__interest_view *v = calloc(1, sizeof *v);
    if (!v)
        return FOLIOT_STATUS_MEMORY;
    size_t n = map->format.bodies_max ? map->format.bodies_max : 1;
    v->count = map->format.bodies_max;
    v->sent = calloc(n, sizeof *v->sent);
    v->baseline = calloc(n, sizeof *v->baseline);
    v->state = calloc(n, sizeof *v->state);
    v->next_sequence = 1;
    v->body_bytes = BODY_BYTES_FIRST;
    v->held = sizeof *v + n * (sizeof *v->sent + sizeof *v->baseline + sizeof *v->state);
    if (!v->sent || !v->baseline || !v->state) {
        foliot__interest_view_destroy(v);
        return FOLIOT_STATUS_MEMORY;
    }
    *out = v;
    return FOLIOT_STATUS_OK;
}

static void forget_packet(foliot__interest_view *v, sent_packet *p)
{
    v->held -= p->count * sizeof *p->items;
    free(p->items);
    *p = (sent_packet){0};
}

void foliot__interest_view_destroy(foliot__interest_view *v)
{
    if (!v)
        return;
    for (int i = 0; i < FOLIOT__INTEREST_PACKETS; i++)
        forget_packet(v, &v->packets[i]);
    free(v->sent);
    free(v->baseline);
    free(v->state);
    free(v);
}

size_t foliot__interest_view_get_bytes(const foliot__interest_view *v)
{
    return v->held;
}

// Ticks since one whose low bits these are, in snapshots.
static uint32_t ago(const foliot__interest_map *m, uint64_t tick, uint16_t low)
{
    return (uint16_t)((uint16_t)(tick / m->every) - low);
}

static uint64_t tick_of(const foliot__interest_map *m, uint64_t tick, uint16_t low)
{
    return tick - tick % m->every - (uint64_t)ago(m, tick, low) * m->every;
}

// -- claims

static double distance_squared(const foliot__interest_map *m, const int32_t focus[3],
                               const int32_t position[3])
{
    double sum = 0, step = m->format.position_step;
    for (int k = 0; k < 3; k++) {
        double d = ((double)position[k] - focus[k]) * step;
        sum += d * d;
    }
    return sum;
}

static bool is_visible(const foliot__interest_map *m, const foliot__interest_view *v,
                       const foliot_snapshot_body *body, double far)
{
    return (body->flags & FOLIOT_SNAPSHOT_ALIVE) &&
           distance_squared(m, v->focus, body->position) <= far * far;
}

// For how long the watcher has lacked the body's state, in snapshots, weighted; 0: it has it.
static double lack_of(const foliot__interest_map *m, foliot__interest_view *v,
                      const foliot__interest_look *look, uint32_t slot, int distance)
{
    const foliot_snapshot_body *body = body_at(look->snapshot, slot);
    uint64_t tick = look->snapshot->tick;
    uint16_t *state = &v->state[slot];
    if (!(*state & KNOWN)) {
        if (m->assumed[slot] == ASSUMED && !(*state & (BASED | LEAVING)))
            return 0;
        if (*state == 0) { // it waits from now on
            *state = 1;
            v->sent[slot] = (uint16_t)(tick / m->every);
        }
        return NEVER_SENT + (*state == 1 ? ago(m, tick, v->sent[slot]) : 0);
    }
    uint32_t waited = ago(m, tick, v->sent[slot]);
    uint64_t has = *state & BASED ? tick_of(m, tick, v->baseline[slot]) : 0,
             sent = tick_of(m, tick, v->sent[slot]);
    if (waited == 0 || ((*state & BASED) && m->changed[slot] <= has))
        return 0;
    double share = m->seen[distance].moved[slot] > has || !(*state & BASED) ? 1 : TREMBLES;
    if (m->changed[slot] <= sent)
        share *= ON_ITS_WAY;
    if (!(body->velocity[0] | body->velocity[1] | body->velocity[2]))
        share *= CAME_TO_REST;
    return waited * share;
}

static void add_claim(foliot__interest_map *m, double weight, uint32_t slot)
{
    if (weight > 0 && m->claim_count < m->format.bodies_max)
        m->claims[m->claim_count++] = (struct claim){(float)weight, slot};
}

static void claim_body(foliot__interest_map *m, foliot__interest_view *v,
                       const foliot__interest_look *look, uint32_t slot)
{
    const foliot_snapshot_body *body = body_at(look->snapshot, slot);
    double d = distance_squared(m, v->focus, body->position), near = m->interest.near;
    if (d > m->interest.far * m->interest.far || !(body->flags & FOLIOT_SNAPSHOT_ALIVE))
        return;
    double lack = lack_of(m, v, look, slot, d > FAR_FROM * near * near);
    double beyond = fmax(sqrt(d) / near - NEAR_ENDS, 0);
    lack *= beyond > 0 ? 1 : WITHIN_NEAR;
    add_claim(m, slot == look->own && lack > 0 ? OWN : lack / (1 + beyond * beyond), slot);
}

// All that may be within `far`, a bucket once even if two cells share it.
static void collect_claims(foliot__interest_map *m, foliot__interest_view *v,
                           const foliot__interest_look *look)
{
    enum { SIDE = BUCKETS_PER_SIDE };
    int64_t centre[3];
    m->stamp++;
    cell_of(m, v->focus, centre);
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
        int64_t cell[3] = {centre[0] + i % SIDE - SIDE / 2, centre[1] + i / SIDE % SIDE - SIDE / 2,
                           centre[2] + i / (SIDE * SIDE) - SIDE / 2};
        uint32_t b = bucket_of_cell(m, cell);
        if (m->stamps[b] == m->stamp)
            continue;
        m->stamps[b] = m->stamp;
        for (uint32_t j = m->bucket_start[b]; j < m->bucket_start[b + 1]; j++)
            claim_body(m, v, look, m->slots[j]);
    }
}

// Whether the watcher shows the body though it may not, or though it is gone.
static bool is_shown_wrongly(const foliot__interest_map *m, const foliot__interest_view *v,
                             const foliot__interest_look *look, uint32_t slot)
{
    const foliot_snapshot_body *body = body_at(look->snapshot, slot);
    uint16_t state = v->state[slot];
    if (state == BASED || is_visible(m, v, body, m->interest.far * FAR_SLACK))
        return false;
    if (state & (KNOWN | LEAVING))
        return true;
    if (m->assumed[slot] != DIFFERS)
        return false;
    // Where the scene has it is in sight, and it is there no more.
    foliot_snapshot_body there = {.flags = FOLIOT_SNAPSHOT_ALIVE};
    for (int k = 0; k < 3; k++)
        there.position[k] = (int32_t)foliot_clamp(
            m->scene->bodies[slot].position[k] / m->format.position_step, -INT32_MAX, INT32_MAX);
    return is_visible(m, v, &there, m->interest.far) || !(body->flags & FOLIOT_SNAPSHOT_ALIVE);
}

// A part of all bodies each time: those that the watcher shows and that are gone, or too far, of
// which it is told again and again until it acknowledges; and those that stand still, and that it
// lacks because it came near, or because a packet was lost.
static void sweep(foliot__interest_map *m, foliot__interest_view *v,
                  const foliot__interest_look *look, uint32_t patience)
{
    uint64_t tick = look->snapshot->tick;
    v->sweep = (v->sweep + 1) % SWEEPS;
    for (uint32_t slot = v->sweep; slot < m->count; slot += SWEEPS) {
        uint16_t *state = &v->state[slot];
        if (*state == 0 && m->assumed[slot] == ASSUMED)
            continue;
        if ((*state & KNOWN) && (*state & BASED)) {
            if (m->changed[slot] <= tick_of(m, tick, v->baseline[slot]) && // it has the newest ...
                !is_shown_wrongly(m, v, look, slot)) {
                if (ago(m, tick, v->baseline[slot]) > AGE_OLD)
                    *state &= (uint16_t)~BASED;
                continue;
            }
        }
        if (!is_shown_wrongly(m, v, look, slot)) {
            if (m->bucket_of[slot] == m->buckets)
                claim_body(m, v, look, slot);
        } else if (!(*state & LEAVING) || ago(m, tick, v->sent[slot]) >= patience) {
            add_claim(m, LEAVER, slot);
        }
    }
}

// -- packing

static bool is_less(const struct claim *a, const struct claim *b)
{
    return a->weight < b->weight || (a->weight == b->weight && a->slot > b->slot);
}

static void sift_down(struct claim *heap, uint32_t count, uint32_t i)
{
    for (uint32_t child; (child = 2 * i + 1) < count; i = child) {
        child += child + 1 < count && is_less(&heap[child + 1], &heap[child]);
        if (!is_less(&heap[child], &heap[i]))
            return;
        struct claim swap = heap[i];
        heap[i] = heap[child];
        heap[child] = swap;
    }
}

static int by_slot(const void *a, const void *b)
{
    uint32_t x = ((const struct claim *)a)->slot, y = ((const struct claim *)b)->slot;
    return x < y ? -1 : x > y;
}

// The greatest claims, by slot, at most `wanted` of them.
static uint32_t choose(foliot__interest_map *m, uint32_t wanted)
{
    uint32_t count = m->claim_count < wanted ? m->claim_count : wanted;
    for (uint32_t i = count / 2; i-- > 0;)
        sift_down(m->claims, count, i);
    for (uint32_t i = count; count > 0 && i < m->claim_count; i++)
        if (is_less(&m->claims[0], &m->claims[i])) {
            m->claims[0] = m->claims[i];
            sift_down(m->claims, count, 0);
        }
    qsort(m->claims, count, sizeof *m->claims, by_slot);
    return count;
}

static void fill_item(const foliot__interest_map *m, const foliot__interest_view *v,
                      const foliot__interest_look *look, uint32_t slot, foliot__partial_item *item)
{
    const foliot_snapshot_body *body = body_at(look->snapshot, slot);
    uint64_t tick = look->snapshot->tick, then = tick_of(m, tick, v->baseline[slot]);
    *item = (foliot__partial_item){.slot = slot};
    item->leaves = !is_visible(m, v, body, m->interest.far);
    item->body = *body;
    if (item->leaves || !(v->state[slot] & KNOWN) || !(v->state[slot] & BASED) ||
        (v->state[slot] & SINCE) >= (FOLIOT__PARTIAL_BASELINES - 1) * SINCE_ONE ||
        tick - then > FOLIOT__PARTIAL_AGE_MAX || then >= tick)
        return;
    item->base = body_then(m, look, slot, then);
    item->age = item->base ? (uint32_t)(tick - then) : 0;
}

// Earlier packets say nothing any more that would be true.
static void overtake(foliot__interest_view *v, uint32_t slot)
{
    for (int i = 0; i < FOLIOT__INTEREST_PACKETS; i++) {
        sent_packet *p = &v->packets[i];
        uint32_t low = 0, high = p->sequence ? p->count : 0;
        while (low < high) {
            uint32_t middle = (low + high) / 2;
            if ((p->items[middle] & SLOT) < slot)
                low = middle + 1;
            else
                high = middle;
        }
        if (p->sequence && low < p->count && (p->items[low] & SLOT) == slot)
            p->items[low] |= VOID;
    }
}

static void note_sent(const foliot__interest_map *m, foliot__interest_view *v, uint64_t tick,
                      const foliot__partial_item *item)
{
    uint16_t *state = &v->state[item->slot];
    if (item->leaves || !(*state & KNOWN)) {
        if (*state & (KNOWN | LEAVING))
            overtake(v, item->slot);
        *state = item->leaves ? LEAVING : KNOWN;
    }
    *state = (uint16_t)((*state & ~COUNT) | ((*state + 1) & COUNT));
    if ((*state & SINCE) < SINCE)
        *state = (uint16_t)(*state + SINCE_ONE);
    if (item->age == 0) // it takes the place of what the watcher had
        *state &= (uint16_t)~BASED;
    v->sent[item->slot] = (uint16_t)(tick / m->every);
}

static bool keep_packet(const foliot__interest_map *m, foliot__interest_view *v, uint64_t tick,
                        uint32_t count)
{
    sent_packet *p = &v->packets[v->next_sequence % FOLIOT__INTEREST_PACKETS];
    forget_packet(v, p);
    p->items = malloc(count * sizeof *p->items);
    if (!p->items) {
        forget_packet(v, p);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const foliot__partial_item *item = &m->items[i];
        note_sent(m, v, tick, item);
        p->items[i] = item->slot | (v->state[item->slot] & COUNT) << COUNT_SHIFT |
                      (item->leaves ? LEAVES : 0);
    }
    p->sequence = v->next_sequence++;
    v->next_sequence += v->next_sequence == 0;
    p->tick = tick;
    p->count = (uint16_t)count;
    v->held += count * sizeof *p->items;
    return true;
}

static void refill(const foliot__interest_map *m, foliot__interest_view *v, uint64_t now_ns)
{
    double budget = m->interest.budget_kbit * 125.0, burst = budget * BURST_S,
           s = (double)(now_ns - v->tokens_ns) * 1e-9;
    v->tokens = v->tokens_ns ? fmin(v->tokens + s * budget * RATE_SHARE, burst) : burst;
    v->tokens_ns = now_ns;
}

static void look_at(foliot__interest_view *v, const foliot__interest_look *look)
{
    const foliot_snapshot_body *own =
        look->own == FOLIOT_NO_BODY ? &no_body : body_at(look->snapshot, look->own);
    if (own->flags & FOLIOT_SNAPSHOT_ALIVE)
        memcpy(v->focus, own->position, sizeof v->focus);
}

size_t foliot__interest_pack(foliot__interest_map *m, foliot__interest_view *v,
                             const foliot__interest_look *look,
                             uint8_t bytes[FOLIOT_PACKET_BYTES_MAX])
{
    refill(m, v, look->now_ns);
    double room = fmin(v->tokens - FOLIOT__INTEREST_OVERHEAD, FOLIOT_PACKET_BYTES_MAX);
    if (room < PACKET_LEAST)
        return 0;
    double ticks = (double)look->round_trip_ns * 1e-9 * m->pace_hz / m->every;
    uint32_t patience = (uint32_t)fmin(ticks * 1.5 + 3, 120), coded;
    look_at(v, look);
    m->claim_count = 0;
    collect_claims(m, v, look);
    sweep(m, v, look, patience);
    uint32_t count = choose(m, (uint32_t)fmin(room / v->body_bytes + 1, ITEMS_MAX));
    if (count == 0)
        return 0;
    for (uint32_t i = 0; i < count; i++)
        fill_item(m, v, look, m->claims[i].slot, &m->items[i]);
    foliot__partial_head head = {v->next_sequence, (uint32_t)look->snapshot->tick};
    size_t length =
        foliot__partial_encode(m->coder, &head, m->items, count, bytes, (size_t)room, &coded);
    if (length == 0 || !keep_packet(m, v, look->snapshot->tick, coded))
        return 0;
    v->body_bytes += 0.1 * (fmax((double)length / coded, 1) - v->body_bytes);
    v->tokens -= (double)length + FOLIOT__INTEREST_OVERHEAD;
    return length;
}

void foliot__interest_charge(foliot__interest_view *v, size_t bytes)
{
    v->tokens -= (double)bytes;
}

void foliot__interest_focus(foliot__interest_view *v, const int32_t focus[3])
{
    memcpy(v->focus, focus, sizeof v->focus);
}

// -- acknowledgements

static void take_item(const foliot__interest_map *m, foliot__interest_view *v, const sent_packet *p,
                      uint32_t i)
{
    uint32_t slot = p->items[i] & SLOT;
    uint16_t *state = &v->state[slot], low = (uint16_t)(p->tick / m->every);
    if (p->items[i] & VOID)
        return;
    if (p->items[i] & LEAVES) {
        if (*state & LEAVING)
            *state = m->assumed[slot] ? BASED : 0;
        return;
    }
    uint16_t since = (uint16_t)((*state - (p->items[i] >> COUNT_SHIFT)) & COUNT);
    bool newer = !(*state & BASED) || (uint16_t)(low - v->baseline[slot]) < 0x8000;
    if (!(*state & KNOWN) || !newer || since >= FOLIOT__PARTIAL_BASELINES)
        return;
    v->baseline[slot] = low;
    *state = (uint16_t)((*state & ~SINCE) | BASED | since * SINCE_ONE);
}

// What was in packets that later ones have overtaken is lost, most likely: it is as if it had not
// been sent, so that it is sent soon. (An acknowledgement that comes late counts all the same.)
static void give_up_lost(const foliot__interest_map *m, foliot__interest_view *v, uint32_t newest)
{
    for (int i = 0; i < FOLIOT__INTEREST_PACKETS; i++) {
        sent_packet *p = &v->packets[i];
        uint32_t back = newest - p->sequence;
        if (p->sequence == 0 || p->lost || back < OVERTAKEN || back > UINT32_MAX / 2)
            continue;
        p->lost = true;
        uint16_t low = (uint16_t)(p->tick / m->every);
        for (uint32_t j = 0; j < p->count; j++) {
            uint32_t slot = p->items[j] & SLOT;
            if (v->sent[slot] == low && (v->state[slot] & (KNOWN | LEAVING)))
                v->sent[slot] =
                    v->state[slot] & BASED ? v->baseline[slot] : (uint16_t)(low - LOST_WAITED);
        }
    }
}

uint64_t foliot__interest_acknowledge(const foliot__interest_map *m, foliot__interest_view *v,
                                      const foliot__partial_acknowledge *packet)
{
    uint64_t newest = UINT64_MAX;
    for (int i = 0; i < FOLIOT__INTEREST_PACKETS; i++) {
        sent_packet *p = &v->packets[i];
        uint32_t back = packet->newest - p->sequence;
        if (p->sequence == 0 || packet->newest == 0 ||
            (back > 0 && (back > 64 || !(packet->before >> (back - 1) & 1))))
            continue;
        for (uint32_t j = 0; j < p->count; j++)
            take_item(m, v, p, j);
        newest = newest == UINT64_MAX || p->tick > newest ? p->tick : newest;
        forget_packet(v, p);
    }
    give_up_lost(m, v, packet->newest);
    return newest;
}
