// SPDX-License-Identifier: MIT
// partial_snapshot.h: packets of some bodies of one tick, each against its own baseline
// (docs/reference/protocol.md, section 4). Where a session has interest, a watcher is sent these:
// the bodies that matter to it, as many as its budget allows. Every decoder takes hostile bytes.
#ifndef FOLIOT_WIRE_PARTIAL_SNAPSHOT_H
#define FOLIOT_WIRE_PARTIAL_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/snapshot.h"
#include "foliot/status.h"
#include "foliot/transport.h"
#include "wire/range_coder.h"

#define FOLIOT__PARTIAL_PACKET 27             // server, unreliable
#define FOLIOT__PARTIAL_ACKNOWLEDGE_PACKET 28 // client, unreliable
#define FOLIOT__PARTIAL_AGE_MAX 65535         // ticks from a baseline
// The receiver keeps the states of a body from this number of its latest packets; the sender refers
// to none older.
#define FOLIOT__PARTIAL_BASELINES 32
// Maximum bodies per byte of a packet: it bounds a receiver's memory by the bytes that it receives.
#define FOLIOT__PARTIAL_BODIES_A_BYTE 2
#define FOLIOT__PARTIAL_BODY_ROOM 48 // bytes that a packet keeps free at its end for one more

typedef struct foliot__partial_head {
    uint32_t sequence; // of the packet, to this peer: 1 more each
    uint32_t tick;     // low bits of the tick that the states are of
} foliot__partial_head;

typedef struct foliot__partial_item {
    uint32_t slot;
    bool leaves;  // the receiver forgets the body, with all baselines: nothing else is coded
    bool newest;  // the baseline is the newest state before this tick that the receiver has
    bool coarse;  // foliot__body_coarsen was used on the body
    uint32_t age; // ticks since its baseline; 0: there is none
    const foliot_snapshot_body *base; // NULL: none
    foliot_snapshot_body body;
} foliot__partial_item;

// Scratch memory. One for each thread.
typedef struct foliot__partial_coder foliot__partial_coder;
foliot_status foliot__partial_coder_create(const foliot_snapshot_format *format,
                                           foliot__partial_coder **coder);
void foliot__partial_coder_destroy(foliot__partial_coder *coder);

// Encodes items, in ascending order of slots, until `capacity` (at most FOLIOT_PACKET_BYTES_MAX) is
// used up; *coded says how many. Returns the length; 0 if not even the first fits. A packet may
// have none.
size_t foliot__partial_encode(foliot__partial_coder *coder, const foliot__partial_head *head,
                              const foliot__partial_item *items, uint32_t count, uint8_t *bytes,
                              size_t capacity, uint32_t *coded);

// Decoding: begin, then for each item `next`, and, unless it leaves, `body` with the baseline that
// item->age names; of one that is the newest, the receiver sets item->age. A receiver that lacks
// the baseline stops: nothing after it can be read.
foliot_status foliot__partial_begin(foliot__partial_coder *coder, const uint8_t *bytes,
                                    size_t length, foliot__partial_head *head);
typedef enum foliot__partial_step {
    FOLIOT__PARTIAL_ITEM,
    FOLIOT__PARTIAL_END,
    FOLIOT__PARTIAL_CORRUPT,
} foliot__partial_step;
// `slots`: those of the item are below.
foliot__partial_step foliot__partial_next(foliot__partial_coder *coder, uint32_t slots,
                                          foliot__partial_item *item);
foliot_status foliot__partial_body(foliot__partial_coder *coder, foliot__partial_item *item);

// The received packets of a stream: `newest` and, bit by bit, the 64 before it.
typedef struct foliot__partial_acknowledge {
    uint32_t newest;  // 0: none
    uint64_t before;  // bit i: newest - 1 - i has come
    bool has_focus;   // a spectator sets the point that it looks at
    int32_t focus[3]; // position steps
} foliot__partial_acknowledge;
#define FOLIOT__PARTIAL_ACKNOWLEDGE_BYTES 26
size_t foliot__partial_acknowledge_encode(const foliot__partial_acknowledge *packet,
                                          uint8_t bytes[FOLIOT__PARTIAL_ACKNOWLEDGE_BYTES]);
foliot_status foliot__partial_acknowledge_decode(const uint8_t *bytes, size_t length,
                                                 foliot__partial_acknowledge *packet);

#endif
