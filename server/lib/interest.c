// SPDX-License-Identifier: MIT
// interest.c: chooses the bodies that a watcher is sent (interest.h). A body's claim grows with the
// time since it was last sent and falls with the square of its distance, so that near bodies are
// sent often and no changed body waits for ever.
#include "interest_view.h"

#include "wire/partial_body.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AGE_OLD 30000   // snapshots: a baseline is given up before its low bits come again
#define RATE_SHARE 0.95 // of the budget; the rest may come in one burst
#define BURST_S 0.045
#define PACKET_LEAST 64
#define QUIET 4 // snapshots without news, after which an empty packet keeps the watcher's clock
#define CAME_TO_REST 2.0f    // claim of a body that came to rest, against a moving one
#define TREMBLES 0.03f       // claim of a barely visible change
#define FAR_FROM 4.0         // squared, in units of `near`
#define FARTHER 3.0          // squared, in units of that
#define ON_ITS_WAY 0.6f      // claim of a state that is sent and not acknowledged
#define WITHIN_NEAR 2.0f     // claim within `near`, against bodies just beyond
#define NEAR_ENDS 1.25f      // where that is, in units of `near`
#define OWN 1e7f             // claim of the watcher's own body ...
#define LEAVER 1e6f          // ... and of a body that has left: no other claim grows this large
#define FAR_SLACK 1.05       // how much farther than `far` a body must be to have left
#define NEVER_SENT 120.0f    // claim of a body unknown to the watcher, in ticks of waiting
#define BODY_BYTES_FIRST 9.0 // before anything was measured
#define BODIES_MEASURED 8    // a packet of fewer is not a measure of their size
#define SPREAD_BYTES 72      // by which packets are larger than their bodies' mean size lets expect
#define CLASS_SHIFT 20       // a class is an eighth of a power of two wide
#define CLASSES 1280         // to beyond OWN
#define CUT_SHARE 8          // share of the chosen bodies that are left out if not all fit
#define OVERTAKEN 3          // later packets, after which one counts as lost
#define TOO_LATE 16          // ... and after which it is forgotten
#define FOCUS_EVERY_NS 100000000u // between two changes of a spectator's focus
#define LOST_WAITED 30 // snapshots that a body counts as having waited for, whose first state was

// -- a watcher

foliot_status foliot__interest_view_create(const foliot__interest_map *map,
                                           foliot__interest_view **out)
{
    foliot__interest_view *v = calloc(1, sizeof *v);
    if (!v)
        return FOLIOT_STATUS_MEMORY;
    size_t n = map->format.bodies_max ? map->format.bodies_max : 1;
    v->of = calloc(n, sizeof *v->of);
    v->next_sequence = 1;
    v->body_bytes = BODY_BYTES_FIRST;
    v->held = sizeof *v + n * sizeof *v->of;
    if (!v->of) {
        foliot__interest_view_destroy(v);
        return FOLIOT_STATUS_MEMORY;
    }
    *out = v;
    return FOLIOT_STATUS_OK;
}

static void forget_packet(foliot__interest_view *v, sent_packet *p)
{
    v->held -= p->bytes;
    free(p->items);
    *p = (sent_packet){0};
}

void foliot__interest_view_destroy(foliot__interest_view *v)
{
    if (!v)
        return;
    for (int i = 0; i < FOLIOT__INTEREST_PACKETS; i++)
        forget_packet(v, &v->packets[i]);
    free(v->of);
    free(v->joints_stale);
    free(v->joints_sent);
    free(v);
}

size_t foliot__interest_view_get_bytes(const foliot__interest_view *v)
{
    return v->held;
}

// The tick whose snapshot has these low bits, at most 65535 snapshots before `tick`.
static uint64_t tick_of(const foliot__interest_map *m, uint64_t tick, uint16_t low)
{
    uint64_t now = in_snapshots(m, tick);
    return (now - (uint16_t)((uint16_t)now - low)) * m->every;
}

// -- claims

// The inputs of claims. Ticks are counted in snapshots.
typedef struct claiming {
    foliot__interest_map *m;
    foliot__interest_view *v;
    const foliot_snapshot *snapshot;
    uint32_t own, now;
    double focus[3], far, near_far; // steps; squares: of `far`, and of where less is seen
    float per_near;                 // 1 / near
} claiming;

static inline double square(double x)
{
    return x * x;
}

static inline double steps_squared(const double a[3], const double b[3])
{
    return square(a[0] - b[0]) + square(a[1] - b[1]) + square(a[2] - b[2]);
}

// How long the watcher has lacked the body's state, in snapshots, weighted; 0: it has it.
static float lack_of(const claiming *c, const foliot__candidate *body, int distance)
{
    foliot__interest_view *v = c->v;
    uint32_t slot = body->slot;
    uint16_t *state = &v->of[slot].state;
    if (!(*state & KNOWN)) { // it was sent nothing of the body, or it has forgotten it
        uint16_t has = *state & (uint16_t)~RECORD_BITS;
        if (c->m->bodies.assumed[slot] == ASSUMED && !(has & (BASED | LEAVING)))
            return 0;
        if (has == 0) { // it waits from now on
            *state |= has = 1;
            set_sent(v, slot, c->now);
        }
        return NEVER_SENT + (has == 1 ? (float)sent_ago(v, slot, c->now) : 0);
    }
    uint32_t waited = sent_ago(v, slot, c->now);
    bool based = *state & BASED;
    uint32_t has = based ? c->now - (uint16_t)(c->now - v->of[slot].baseline) : 0;
    if (waited == 0 ||
        (based && (int32_t)(body->changed - has) <= 0 && !(v->of[slot].sent & COARSE_BASE)))
        return 0;
    float lack = (float)waited;
    if (based && (int32_t)(body->moved[distance] - has) <= 0)
        lack *= TREMBLES;
    if ((int32_t)(body->changed - (c->now - waited)) <= 0)
        lack *= ON_ITS_WAY;
    return body->rests ? lack * CAME_TO_REST : lack;
}

static void add_claim(foliot__interest_map *m, float weight, uint32_t slot)
{
    if (weight > 0 && m->packing.claim_count < m->format.bodies_max)
        m->packing.claims[m->packing.claim_count++] = (struct claim){weight, slot};
}

static inline void claim_body(const claiming *c, const foliot__candidate *body)
{
    double d = steps_squared(c->focus, body->position);
    if (d > c->far)
        return;
    float lack = lack_of(c, body, d > c->near_far ? SEEN_FAR : SEEN_NEAR);
    if (lack <= 0)
        return;
    float beyond = sqrtf((float)d) * c->per_near - NEAR_ENDS;
    lack = beyond > 0 ? lack / (1 + beyond * beyond) : lack * WITHIN_NEAR;
    add_claim(c->m, body->slot == c->own ? OWN : lack, body->slot);
}

static inline double distance_of(const claiming *c, const int32_t position[3])
{
    const double at[3] = {position[0], position[1], position[2]};
    return steps_squared(c->focus, at);
}

// A lower bound of a group's distance, squared.
static double distance_to_group(const double focus[3], const foliot__group *group)
{
    double nearest[3];
    for (int k = 0; k < 3; k++)
        nearest[k] = focus[k] < group->low[k]    ? group->low[k]
                     : focus[k] > group->high[k] ? group->high[k]
                                                 : focus[k];
    return steps_squared(focus, nearest);
}

// Computes the claims of all bodies that changed lately and may be within `far`. Groups beyond the
// range of most detail take turns. Groups are those of the newest snapshot: bodies of another one
// are looked up.
static void collect_claims(const claiming *c)
{
    const foliot__interest_grid *grid = &c->m->grid;
    bool newest = grid->tick == c->snapshot->tick;
    for (uint32_t i = 0; i < grid->group_count; i++) {
        const foliot__group *group = &grid->groups[i];
        double d = newest ? distance_to_group(c->focus, group) : 0;
        uint32_t turns = d > FARTHER * c->near_far ? 4 : d > c->near_far ? 2 : 1;
        if (d > c->far || (group->bucket + c->now) % turns != 0)
            continue;
        for (uint32_t j = group->begin; j < group->end; j++) {
            if (newest) {
                claim_body(c, &grid->candidates[j]);
                continue;
            }
            uint32_t slot = grid->candidates[j].slot;
            const foliot_snapshot_body *body = body_at(c->snapshot, slot);
            foliot__candidate candidate = candidate_of(c->m, slot, body);
            if (body->flags & FOLIOT_SNAPSHOT_ALIVE)
                claim_body(c, &candidate);
        }
    }
}

// Whether the watcher shows the body, although it is too far away or gone.
static bool is_shown_wrongly(const claiming *c, uint32_t slot, double distance)
{
    uint32_t state = c->v->of[slot].state;
    if (distance <= c->far * (FAR_SLACK * FAR_SLACK) ||
        (state & (uint16_t)~RECORD_BITS) == BASED) // of the scene, and known to be gone
        return false;
    // Otherwise it may have left its place in the scene, which is in sight.
    return (state & (KNOWN | LEAVING)) || (c->m->bodies.assumed[slot] == DIFFERS &&
                                           distance_of(c, c->m->bodies.homes[slot]) <= c->far);
}

// Checks part of all bodies each time: bodies that the watcher shows and that are gone or too far
// away, which are sent as leaving until it acknowledges; and bodies at rest that it lacks because
// it came near, or because a packet was lost.
static void sweep(const claiming *c, uint32_t patience)
{
    const foliot__interest_map *m = c->m;
    foliot__interest_view *v = c->v;
    v->sweep = (v->sweep + 1) % SWEEPS;
    uint32_t part = (m->count + SWEEPS - 1) / SWEEPS, begin = v->sweep * part,
             end = begin + part < m->count ? begin + part : m->count;
    for (uint32_t slot = begin; slot < end; slot++) {
        uint16_t *state = &v->of[slot].state;
        if ((*state & ~RECORD_BITS) == 0 && m->bodies.assumed[slot] == ASSUMED)
            continue;
        const foliot_snapshot_body *body = body_at(c->snapshot, slot);
        double distance =
            body->flags & FOLIOT_SNAPSHOT_ALIVE ? distance_of(c, body->position) : HUGE_VAL;
        if (is_shown_wrongly(c, slot, distance)) {
            if (!(*state & LEAVING) || sent_ago(v, slot, c->now) >= patience)
                add_claim(c->m, LEAVER, slot);
            continue;
        }
        bool based = (*state & (KNOWN | BASED)) == (KNOWN | BASED);
        if (distance <= c->far && m->grid.bucket_of[slot] == m->grid.buckets) {
            // lack_of also detects that the watcher has the body exactly, but is slower.
            bool has_newest =
                based && !(v->of[slot].sent & COARSE_BASE) &&
                m->bodies.changed[slot] <= tick_of(m, c->snapshot->tick, v->of[slot].baseline);
            foliot__candidate candidate = candidate_of(c->m, slot, body);
            if (!has_newest)
                claim_body(c, &candidate);
        }
        // Old low bits would be mistaken for new ones.
        if (based && (uint16_t)(c->now - v->of[slot].baseline) > AGE_OLD)
            *state &= (uint16_t)~BASED;
    }
}

// -- packing

// Classes of weights: a float's bits are in the order of its value.
static inline uint32_t class_of(float weight)
{
    uint32_t bits;
    memcpy(&bits, &weight, sizeof bits);
    return bits >> CLASS_SHIFT;
}

// Moves the greatest claims, at most `wanted` of them, to the front, and lists their slots in
// order. Some claims of the last class may be left out.
static void choose(foliot__interest_map *m, uint32_t wanted)
{
    foliot__interest_packing *p = &m->packing;
    uint32_t room = UINT32_MAX, last = 0, count = 0, words = (m->count + 63) / 64;
    wanted = wanted < ITEMS_MAX ? wanted : ITEMS_MAX;
    if (p->claim_count > wanted) {
        // The class that fits only in part, and how many of its claims fit.
        uint32_t counts[CLASSES] = {0}, end = 0;
        for (uint32_t i = 0; i < p->claim_count; i++) {
            uint32_t class = class_of(p->claims[i].weight);
            counts[class]++;
            end = class >= end ? class + 1 : end;
        }
        for (room = wanted; end > 0 && counts[end - 1] <= room; end--)
            room -= counts[end - 1];
        last = end > 0 ? end - 1 : 0;
    }
    for (uint32_t i = 0; i < p->claim_count; i++) {
        struct claim claim = p->claims[i];
        uint32_t class = class_of(claim.weight);
        if (class < last || (class == last && room == 0))
            continue;
        room -= class == last;
        p->claims[count++] = claim;
        p->chosen_bits[claim.slot / 64] |= (uint64_t)1 << (claim.slot % 64);
    }
    p->claim_count = count;
    p->chosen_count = 0;
    for (uint32_t w = 0; w < words; w++) {
        for (uint64_t bits = p->chosen_bits[w]; bits; bits &= bits - 1)
            p->chosen[p->chosen_count++] = w * 64 + (uint32_t)__builtin_ctzll(bits);
        p->chosen_bits[w] = 0;
    }
}

static void fill_item(const foliot__interest_map *m, const foliot__interest_view *v,
                      const foliot__interest_look *look, uint32_t slot, uint32_t index)
{
    const foliot_snapshot_body *body = body_at(look->snapshot, slot);
    foliot__partial_item *item = &m->packing.items[index];
    uint64_t tick = look->snapshot->tick, then = tick_of(m, tick, v->of[slot].baseline);
    double distance = distance_squared(m, v->focus, body->position);
    item->slot = slot;
    item->leaves = !(body->flags & FOLIOT_SNAPSHOT_ALIVE) ||
                   distance > m->interest.far * m->interest.far; // is_visible
    item->newest = false;
    // A far body that moves is sent coarsely; one at rest is sent exactly, once there is room.
    bool has =
        (v->of[slot].state & (KNOWN | BASED)) == (KNOWN | BASED) && m->bodies.changed[slot] <= then;
    item->coarse =
        !item->leaves && !has && distance > FAR_FROM * m->interest.near * m->interest.near;
    item->age = 0;
    item->base = NULL;
    item->body = *body;
    if (item->coarse)
        foliot__body_coarsen(&m->format, &item->body);
    if (item->leaves || !(v->of[slot].state & KNOWN) || !(v->of[slot].state & BASED) ||
        (v->of[slot].state & SINCE) >= (FOLIOT__PARTIAL_BASELINES - 1) * SINCE_ONE ||
        tick - then > FOLIOT__PARTIAL_AGE_MAX || then >= tick)
        return;
    item->base = foliot__interest_body_then(m, look, slot, then);
    item->age = item->base ? (uint32_t)(tick - then) : 0;
    item->newest = !(v->of[slot].state & SINCE);
    if (item->base && (v->of[slot].sent & COARSE_BASE)) {
        m->packing.bases[index] = *item->base;
        foliot__body_coarsen(&m->format, &m->packing.bases[index]);
        item->base = &m->packing.bases[index];
    }
}

// -- items of packets

// The item behind the one whose slot is `slot` (of the first, UINT32_MAX). NULL: there is none.
static uint8_t *next_item(const sent_packet *p, uint32_t *at, uint32_t *slot)
{
    uint32_t gap = 0;
    if (*at >= p->bytes)
        return NULL;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = p->items[(*at)++];
        gap |= (uint32_t)(byte & 127) << shift;
        if (byte < 128)
            break;
    }
    *slot += gap + 1;
    return &p->items[(*at)++];
}

static void note_sent(const foliot__interest_map *m, foliot__interest_view *v, uint64_t tick,
                      const foliot__partial_item *item)
{
    uint16_t *state = &v->of[item->slot].state;
    if (item->leaves || !(*state & KNOWN)) {
        v->of[item->slot].since_turn = 0;
        *state = (uint16_t)((item->leaves ? LEAVING : KNOWN) | (*state & RECORD_BITS));
    }
    *state = (uint16_t)((*state & ~COUNT) | ((*state + 1) & COUNT));
    v->of[item->slot].since_turn += v->of[item->slot].since_turn < FOLIOT__INTEREST_PACKETS;
    if ((*state & SINCE) < SINCE)
        *state = (uint16_t)(*state + SINCE_ONE);
    if (item->age == 0) // it replaces the watcher's state
        *state &= (uint16_t)~BASED;
    set_sent(v, item->slot, (uint32_t)in_snapshots(m, tick));
}

static void keep_packet(const foliot__interest_map *m, foliot__interest_view *v, uint64_t tick,
                        uint32_t count)
{
    sent_packet *p = &v->packets[v->next_sequence % FOLIOT__INTEREST_PACKETS];
    uint8_t items[ITEMS_MAX * ITEM_BYTES_MAX];
    uint32_t bytes = 0, next = 0;
    forget_packet(v, p);
    for (uint32_t i = 0; i < count; i++) {
        const foliot__partial_item *item = &m->packing.items[i];
        note_sent(m, v, tick, item);
        uint32_t gap = item->slot - next;
        unsigned fate = item->leaves ? ITEM_LEAVES : item->coarse ? ITEM_COARSE : ITEM_FINE;
        for (; gap >= 128; gap >>= 7)
            items[bytes++] = (uint8_t)(gap | 128);
        items[bytes++] = (uint8_t)gap;
        items[bytes++] = (uint8_t)((v->of[item->slot].state & COUNT) | fate);
        next = item->slot + 1;
    }
    p->items = malloc(bytes ? bytes : 1);
    if (!p->items) // nobody can acknowledge it
        bytes = 0;
    else
        memcpy(p->items, items, bytes);
    p->sequence = v->next_sequence++;
    v->next_sequence += v->next_sequence == 0;
    p->low = (uint16_t)in_snapshots(m, tick);
    p->bytes = (uint16_t)(bytes & 0x7fff);
    v->packed = tick;
    v->held += bytes;
}

void foliot__interest_look_at(foliot__interest_view *v, const foliot__interest_look *look)
{
    const foliot_snapshot_body *own = body_at(look->snapshot, look->own);
    if (v->focus_waits && look->now_ns - v->focus_ns >= FOCUS_EVERY_NS) {
        memcpy(v->focus, v->wanted_focus, sizeof v->focus);
        v->focus_waits = false;
        v->focus_ns = look->now_ns;
    }
    if (own->flags & FOLIOT_SNAPSHOT_ALIVE)
        memcpy(v->focus, own->position, sizeof v->focus);
}

static size_t encode_chosen(foliot__interest_map *m, const foliot__interest_view *v,
                            const foliot__interest_look *look, uint32_t count, uint8_t *bytes,
                            size_t room, uint32_t *coded)
{
    foliot__partial_head head = {v->next_sequence, (uint32_t)look->snapshot->tick};
    for (uint32_t i = 0; i < count; i++)
        fill_item(m, v, look, m->packing.chosen[i], i);
    return foliot__partial_encode(m->coder, &head, m->packing.items, count, bytes, room, coded);
}

size_t foliot__interest_pack(foliot__interest_map *m, foliot__interest_view *v,
                             const foliot__interest_look *look,
                             uint8_t bytes[FOLIOT_PACKET_BYTES_MAX])
{
    double bytes_a_second = m->interest.budget_kbit * 125.0;
    foliot__bucket_fill(&v->budget, bytes_a_second * BURST_S, 1e9 / (bytes_a_second * RATE_SHARE),
                        look->now_ns);
    m->packing.item_count = 0;
    double room = fmin(v->budget.tokens - look->overhead, FOLIOT_PACKET_BYTES_MAX);
    if (room < PACKET_LEAST)
        return 0;
    double ticks = (double)look->round_trip_ns * 1e-9 * m->pace_hz / m->every;
    uint32_t patience = (uint32_t)fmin(ticks * 1.5 + 3, 120), coded;
    double steps = 1 / m->format.position_step, far = m->interest.far * steps,
           near = m->interest.near * steps;
    claiming c = {.m = m,
                  .v = v,
                  .snapshot = look->snapshot,
                  .own = look->own,
                  .now = (uint32_t)in_snapshots(m, look->snapshot->tick),
                  .focus = {v->focus[0], v->focus[1], v->focus[2]},
                  .far = far * far,
                  .near_far = FAR_FROM * near * near,
                  .per_near = (float)(1 / near)};
    m->packing.claim_count = 0;
    collect_claims(&c);
    sweep(&c, patience);
    double bodies = (room - FOLIOT__PARTIAL_BODY_ROOM - SPREAD_BYTES) / v->body_bytes;
    choose(m, (uint32_t)fmin(fmax(bodies, 1), ITEMS_MAX));
    uint32_t count = m->packing.chosen_count;
    if (count == 0 && look->snapshot->tick - v->packed < (uint64_t)QUIET * m->every)
        return 0;
    size_t length = encode_chosen(m, v, look, count, bytes, (size_t)room, &coded);
    if (coded < count && coded > 0) { // the greatest slots do not fit, whatever they claim
        choose(m, coded - coded / CUT_SHARE);
        length = encode_chosen(m, v, look, m->packing.chosen_count, bytes, (size_t)room, &coded);
    }
    if (length == 0)
        return 0;
    keep_packet(m, v, look->snapshot->tick, coded);
    m->packing.item_count = coded;
    if (coded >= BODIES_MEASURED)
        v->body_bytes += 0.1 * (fmax((double)length / coded, 1) - v->body_bytes);
    v->budget.tokens -= (double)length + look->overhead;
    return length;
}

void foliot__interest_charge(foliot__interest_view *v, size_t bytes)
{
    v->budget.tokens -= (double)bytes;
}

void foliot__interest_focus(foliot__interest_view *v, const int32_t focus[3])
{
    v->focus_waits = memcmp(focus, v->focus, sizeof v->focus) != 0;
    memcpy(v->wanted_focus, focus, sizeof v->wanted_focus);
}

// -- acknowledgements

static void acknowledge_item(const foliot__interest_map *m, foliot__interest_view *v, uint16_t low,
                             uint32_t slot, unsigned item)
{
    uint16_t *state = &v->of[slot].state;
    unsigned fate = item & ITEM_FATE;
    uint16_t since = (uint16_t)((*state - item) & COUNT);
    if (since >= v->of[slot].since_turn)
        return; // it has left, or come back, since
    if (fate == ITEM_LEAVES) {
        if (*state & LEAVING)
            *state = (uint16_t)((m->bodies.assumed[slot] ? BASED : 0) | (*state & RECORD_BITS));
        return;
    }
    bool newer = !(*state & BASED) || (uint16_t)(low - v->of[slot].baseline) < 0x8000;
    if (!(*state & KNOWN) || !newer || since >= FOLIOT__PARTIAL_BASELINES)
        return;
    v->of[slot].baseline = low;
    v->of[slot].sent =
        (uint16_t)((v->of[slot].sent & SENT) | (fate == ITEM_COARSE ? COARSE_BASE : 0));
    *state = (uint16_t)((*state & ~SINCE) | BASED | since * SINCE_ONE);
}

// Packets that later ones have overtaken are most likely lost. Their bodies count as not sent, so
// that they are sent soon. (A late acknowledgement still counts.)
static void give_up_lost(foliot__interest_view *v, uint32_t newest)
{
    for (int i = 0; i < FOLIOT__INTEREST_PACKETS; i++) {
        sent_packet *p = &v->packets[i];
        uint32_t back = newest - p->sequence;
        if (p->sequence == 0 || back < OVERTAKEN || back > UINT32_MAX / 2)
            continue;
        if (p->lost) {
            if (back > TOO_LATE)
                forget_packet(v, p);
            continue;
        }
        p->lost = true;
        uint16_t low = p->low;
        for (uint32_t at = 0, slot = UINT32_MAX; next_item(p, &at, &slot);) {
            if (sent_ago(v, slot, low) == 0 && (v->of[slot].state & (KNOWN | LEAVING)))
                set_sent(v, slot,
                         v->of[slot].state & BASED ? v->of[slot].baseline
                                                   : (uint32_t)low - LOST_WAITED);
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
        const uint8_t *item;
        for (uint32_t at = 0, slot = UINT32_MAX; (item = next_item(p, &at, &slot));)
            acknowledge_item(m, v, p->low, slot, *item);
        uint64_t tick = tick_of(m, v->packed, p->low);
        newest = newest == UINT64_MAX || tick > newest ? tick : newest;
        forget_packet(v, p);
    }
    give_up_lost(v, packet->newest);
    return newest;
}
