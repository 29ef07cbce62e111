// SPDX-License-Identifier: MIT
// interest_view.h: shared by the files of interest (interest.h): a session's map and a watcher's
// view. interest_map.c maintains the map, interest_records.c writes records of bodies and joints,
// interest.c chooses and packs states.
#ifndef FOLIOT_SERVER_LIB_INTEREST_VIEW_H
#define FOLIOT_SERVER_LIB_INTEREST_VIEW_H

#include "base/bucket.h"
#include "interest.h"

#define ITEMS_MAX 1024 // of a packet
#define ACTIVE 64      // snapshots since it changed, in which a body is looked at each time
#define SWEEPS 16      // snapshots in which all others are looked at
#define RECORDS_MAX                                                                                \
    128 // bodies, and joints, with records at a time, apart from bodies of the packet

// How closely states are compared, since stacked bodies jitter: from near and from far.
enum { SEEN_NEAR, SEEN_FAR, DISTANCES };

// A watcher's state of a body, 16 bits: the number of packets that held it, modulo 64; the number
// since its baseline; and flags. BASED alone: a body of the scene, known to be gone.
enum {
    COUNT = 0x3f,
    SINCE = 0x7c0, // and this means: too many
    SINCE_ONE = 0x40,
    BASED = 0x800,    // `baseline` is valid
    KNOWN = 0x1000,   // it was sent something of the body, and none that it left
    LEAVING = 0x2000, // it was sent that the body left, and has not acknowledged it
    STALE = 0x4000,   // it lacks records of the body
    SPAWNED = 0x8000, // it was sent a prototype
    RECORD_BITS = STALE | SPAWNED,
};
// `sent`: the snapshot in which it was sent last, low bits; and whether its baseline is coarse.
enum { SENT = 0x7fff, COARSE_BASE = 0x8000 };
_Static_assert(COUNT >= FOLIOT__INTEREST_PACKETS - 1, "each packet has another count");
_Static_assert(SINCE / SINCE_ONE >= FOLIOT__PARTIAL_BASELINES - 1, "SINCE counts all baselines");

// A watcher shows bodies of the scene at their places there, until it is sent something else.
enum { NOT_ASSUMED, ASSUMED, DIFFERS };

// The fields of a body that claims read, next to each other. Positions in steps; ticks in
// snapshots, low bits.
typedef struct foliot__candidate {
    double position[3];
    uint32_t slot, changed, moved[DISTANCES];
    bool rests;
} foliot__candidate;

typedef struct foliot__group {
    double low[3], high[3];
    uint32_t begin, end; // of candidates
    uint32_t bucket;
} foliot__group;

// interest_map.c: the known state of each body, by slot.
typedef struct foliot__interest_bodies {
    uint8_t *assumed;
    int32_t (*homes)[3]; // where the scene has the body, position steps
    uint64_t *changed;   // tick since which the body is as it is now
    // The same without barely visible changes, near and far: since when it is near `anchor`.
    struct {
        uint64_t *moved;
        foliot_snapshot_body *anchor;
    } seen[DISTANCES];
    // The last long rest of a body: its state, and its first and last tick.
    foliot_snapshot_body *rest;
    uint64_t *rest_since, *rest_until;
} foliot__interest_bodies;

// interest_map.c: bodies that changed lately, of the newest snapshot, by cell of a grid. Cells are
// hashed into buckets, and a bucket that is not empty is a group with bounds.
typedef struct foliot__interest_grid {
    double per_cell; // 1 / its width in position steps
    uint64_t tick;
    uint32_t buckets, *bucket_start, *bucket_of, *next; // by bucket; by slot; scratch
    foliot__candidate *candidates;
    foliot__group *groups;
    uint32_t group_count;
} foliot__interest_grid;

// interest.c: the packet that is being packed. Scratch, except for the items of the last packet.
typedef struct foliot__interest_packing {
    struct claim {
        float weight;
        uint32_t slot;
    } * claims;
    uint32_t claim_count, chosen_count, *chosen; // by slot
    uint64_t *chosen_bits;
    foliot__partial_item *items;
    foliot_snapshot_body *bases; // coarse baselines of its items
    uint32_t item_count;
} foliot__interest_packing;

// interest_records.c: changes of bodies and joints, other than states, that watchers were not sent
// yet: all watchers, and delayed ones.
typedef struct foliot__interest_changes {
    struct foliot__interest_news {
        uint64_t *slots, *tags, *joints; // bits: slots; slots of which the tag alone did; joints
        bool any;
    } news[2];
    struct foliot__joint_ends {
        uint32_t a, b;
    } * ends;                         // of joints, by index, as of the last news
    uint64_t *renamed;                // bits of joints: the index has been another joint's
    uint32_t slot_words, joint_words; // of 64 bits
    struct foliot__body_record {
        uint32_t slot;
        bool tag_alone, gone;
    } * bodies; // scratch
    uint32_t body_count;
} foliot__interest_changes;

struct foliot__interest_map {
    foliot_interest interest;
    foliot_snapshot_format format;
    foliot__partial_coder *coder;
    uint32_t every, count; // slots
    double pace_hz;
    const foliot_scene *scene;
    foliot__interest_bodies bodies;
    foliot__interest_grid grid;
    foliot__interest_packing packing;
    foliot__interest_changes changes;
};

// The items of a packet, each the gap from the slot before, as a varint; then the COUNT with
// this packet, and the item's fate.
typedef struct sent_packet {
    uint8_t *items;
    uint32_t sequence;   // 0: acknowledged, or none
    uint16_t low;        // snapshot, low bits
    uint16_t bytes : 15, // at most ITEM_BYTES_MAX an item
        lost : 1;        // taken to be
} sent_packet;
#define ITEM_BYTES_MAX 4
enum {
    ITEM_COUNT = COUNT,
    ITEM_FATE = 0xc0, // one of these
    ITEM_FINE = 0,
    ITEM_LEAVES = 0x40, // the body leaves
    ITEM_COARSE = 0x80,
};
_Static_assert(FOLIOT_BODIES_MAX <= 1u << 21, "a gap fits three bytes");
_Static_assert(ITEMS_MAX *ITEM_BYTES_MAX < 1u << 15, "items fit a packet's count of bytes");

struct foliot__interest_view {
    struct {
        uint16_t sent, baseline; // snapshots, low bits
        uint16_t state;
        // Packets that held it since it last left or appeared, FOLIOT__INTEREST_PACKETS at most.
        // Earlier ones are no longer valid.
        uint16_t since_turn;
    } * of; // by slot
    sent_packet packets[FOLIOT__INTEREST_PACKETS];
    uint64_t packed; // tick of the newest packet
    uint32_t next_sequence;
    foliot__bucket budget; // bytes that may be sent
    uint32_t sweep;
    double body_bytes;                 // of a body in the last packets, mean
    int32_t focus[3], wanted_focus[3]; // wanted: the last one that it asked for
    bool focus_waits;                  // it is another one
    uint64_t focus_ns;                 // when it changed last
    // Joints whose newest record it lacks, and joints that it was sent: bits.
    uint64_t *joints_stale, *joints_sent;
    uint32_t joint_words;
    size_t held;
};

static inline const foliot_snapshot_body *body_at(const foliot_snapshot *s, uint32_t slot)
{
    static const foliot_snapshot_body none;
    return slot < s->count ? &s->bodies[slot] : &none;
}

// Converts a tick to a count of snapshots. Mostly every tick has one, and a division is expensive.
static inline uint64_t in_snapshots(const foliot__interest_map *m, uint64_t tick)
{
    return m->every == 1 ? tick : tick / m->every;
}

static inline uint32_t sent_ago(const foliot__interest_view *v, uint32_t slot, uint32_t now)
{
    return (now - v->of[slot].sent) & SENT;
}

static inline void set_sent(foliot__interest_view *v, uint32_t slot, uint32_t snapshot)
{
    v->of[slot].sent = (uint16_t)((v->of[slot].sent & COARSE_BASE) | (snapshot & SENT));
}

// The state of a body at a tick; NULL: it is not known any more.
const foliot_snapshot_body *foliot__interest_body_then(const foliot__interest_map *map,
                                                       const foliot__interest_look *look,
                                                       uint32_t slot, uint64_t tick);

static inline foliot__candidate candidate_of(const foliot__interest_map *m, uint32_t slot,
                                             const foliot_snapshot_body *body)
{
    foliot__candidate c = {.slot = slot,
                           .changed = (uint32_t)in_snapshots(m, m->bodies.changed[slot])};
    for (int k = 0; k < 3; k++)
        c.position[k] = body->position[k];
    for (int i = 0; i < DISTANCES; i++)
        c.moved[i] = (uint32_t)in_snapshots(m, m->bodies.seen[i].moved[slot]);
    c.rests = !(body->velocity[0] | body->velocity[1] | body->velocity[2]);
    return c;
}

static inline double distance_squared(const foliot__interest_map *m, const int32_t focus[3],
                                      const int32_t position[3])
{
    double sum = 0, step = m->format.position_step;
    for (int k = 0; k < 3; k++) {
        double d = ((double)position[k] - focus[k]) * step;
        sum += d * d;
    }
    return sum;
}

static inline bool is_visible(const foliot__interest_map *m, const foliot__interest_view *v,
                              const foliot_snapshot_body *body, double far)
{
    return (body->flags & FOLIOT_SNAPSHOT_ALIVE) &&
           distance_squared(m, v->focus, body->position) <= far * far;
}

#endif
