// SPDX-License-Identifier: MIT
// interest.h: packs the bodies of a big world that matter most to a watcher, within its budget,
// each against a state of that body that the watcher is known to have. A body beyond `far` is never
// sent. Knows snapshots, and no peer or transport: fanout.c sends the packets. Invariant: a body is
// coded against a tick only if an acknowledged packet held that body's state of that tick.
#ifndef FOLIOT_SERVER_LIB_INTEREST_H
#define FOLIOT_SERVER_LIB_INTEREST_H

#include "foliot/server.h"
#include "foliot/snapshot.h"
#include "wire/partial_snapshot.h"
#include "wire/session_state.h"

#define FOLIOT__INTEREST_PACKETS 64 // of one watcher that may still be acknowledged

// The bodies of a session, for all its watchers: when each one changed, and its position.
typedef struct foliot__interest_map foliot__interest_map;
// `every`: ticks between snapshots. FOLIOT_STATUS_INVALID: the interest is not
// foliot_interest_valid. `scene` is lent.
foliot_status foliot__interest_map_create(const foliot_interest *interest,
                                          const foliot_scene *scene,
                                          const foliot_snapshot_format *format, double pace_hz,
                                          uint32_t every, foliot__interest_map **map);
void foliot__interest_map_destroy(foliot__interest_map *map);
const foliot_interest *foliot__interest_map_get(const foliot__interest_map *map);
// Applies the next snapshot; `before` is the one before it, NULL for the first.
void foliot__interest_map_update(foliot__interest_map *map, const foliot_snapshot *snapshot,
                                 const foliot_snapshot *before);

// The snapshot of a tick; NULL: it is not kept.
typedef const foliot_snapshot *foliot__interest_find(const void *user, uint64_t tick);

// One watcher.
typedef struct foliot__interest_view foliot__interest_view;
foliot_status foliot__interest_view_create(const foliot__interest_map *map,
                                           foliot__interest_view **view);
void foliot__interest_view_destroy(foliot__interest_view *view);
size_t foliot__interest_view_get_bytes(const foliot__interest_view *view); // of memory

typedef struct foliot__interest_look {
    const foliot_snapshot *snapshot; // that is shown to the watcher
    uint32_t own;                    // slot of its body, FOLIOT_NO_BODY: none
    uint32_t overhead;               // bytes that a packet costs in addition
    uint64_t now_ns, round_trip_ns;
    foliot__interest_find *find;
    const void *user;
} foliot__interest_look;
void foliot__interest_look_at(foliot__interest_view *view, const foliot__interest_look *look);
// Writes the watcher's packet of this tick, after foliot__interest_look_at. Its length; 0: there is
// no budget, or no news.
size_t foliot__interest_pack(foliot__interest_map *map, foliot__interest_view *view,
                             const foliot__interest_look *look,
                             uint8_t bytes[FOLIOT_PACKET_BYTES_MAX]);
// Returns the newest tick that the watcher had not acknowledged before; UINT64_MAX: none.
uint64_t foliot__interest_acknowledge(const foliot__interest_map *map, foliot__interest_view *view,
                                      const foliot__partial_acknowledge *packet);
// Sets the focus of a watcher without a body, in position steps. It takes effect at the first
// update at least 100 ms after the last change.
void foliot__interest_focus(foliot__interest_view *view, const int32_t focus[3]);
// Counts other bytes that the watcher was sent.
void foliot__interest_charge(foliot__interest_view *view, size_t bytes);

// -- records: tags and prototypes of bodies, and joints. `behind`: for spectators with a delay.

// Notes the changes. Each watcher then gets records of the news, or keeps the news for later.
void foliot__interest_note_body(foliot__interest_map *map, bool behind, uint32_t slot,
                                bool tag_alone);
void foliot__interest_note_joint(foliot__interest_map *map, bool behind, uint32_t index,
                                 const foliot__known_joint *joint);
void foliot__interest_clear_news(foliot__interest_map *map); // all watchers have them
// A watcher that was sent no record yet; `known` holds all records.
void foliot__interest_begin_records(foliot__interest_map *map, foliot__interest_view *view,
                                    const foliot__session_state *known);
// Writes records that the watcher lacks: of bodies and joints within `far`, a bounded number at a
// time; and, if a packet was `packed` just now, of all bodies in it. The records are sent before
// the packet.
void foliot__interest_write_records(foliot__interest_map *map, foliot__interest_view *view,
                                    const foliot__interest_look *look, bool packed, bool behind,
                                    const foliot__session_state *known,
                                    foliot__update_writer *writer);
void foliot__interest_keep_news(const foliot__interest_map *map, foliot__interest_view *view,
                                bool behind);

#endif
