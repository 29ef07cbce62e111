// SPDX-License-Identifier: MIT
// link.h: one direction of a bad network: packets go in, and come out later, twice, out of order or
// not at all, as a seeded foliot_impairment says. Knows nothing of sockets; time is an argument.
#ifndef FOLIOT_NET_LINK_H
#define FOLIOT_NET_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "foliot/transport.h"

#define FOLIOT__HELD_MAX 8 // packets held back at once by reordering

typedef struct foliot__packet {
    uint64_t due_ns;
    uint64_t order; // of arrival: decides among equal times
    uint64_t tag;   // the owner's: sender or receiver
    size_t length;
    uint8_t *bytes;
} foliot__packet;

typedef struct foliot__impaired_link {
    foliot_impairment impairment;
    foliot__rng rng;
    foliot__packet *heap; // by (due_ns, order)
    uint32_t count, capacity;
    uint64_t order;
    uint64_t busy_until_ns; // of the rate limit
    bool in_burst;          // of the Gilbert model
    double walk;            // correlated jitter, 0..1
    uint64_t last_due_ns;   // correlated jitter keeps order
    foliot__packet held[FOLIOT__HELD_MAX];
    uint8_t held_left[FOLIOT__HELD_MAX]; // packets still to pass each
    unsigned held_count;
    foliot_transport_counters *counters; // packets_lost and its kin
} foliot__impaired_link;

void foliot__impaired_link_init(foliot__impaired_link *link, const foliot_impairment *impairment,
                                foliot_transport_counters *counters);
void foliot__impaired_link_close(foliot__impaired_link *link);
bool foliot__impairment_none(const foliot_impairment *impairment);
// Takes a copy. FOLIOT_STATUS_MEMORY, else FOLIOT_STATUS_OK, whatever becomes of it.
foliot_status foliot__impaired_link_push(foliot__impaired_link *link, uint64_t now_ns, uint64_t tag,
                                         const uint8_t *bytes, size_t length);
// When a packet that is pushed at `at_ns`, now or later, would arrive, and whether at all; draws as
// a push does. For the in-memory transport's reliable packets, which are sent again after a loss.
bool foliot__impaired_link_fate(foliot__impaired_link *link, uint64_t now_ns, uint64_t at_ns,
                                size_t length, uint64_t *due_ns);
// Puts a packet of known fate into the queue.
foliot_status foliot__impaired_link_schedule(foliot__impaired_link *link, uint64_t due_ns,
                                             uint64_t tag, const uint8_t *bytes, size_t length);
// The next packet that is due; the caller frees its bytes.
bool foliot__impaired_link_pop(foliot__impaired_link *link, uint64_t now_ns,
                               foliot__packet *packet);
// When the next one is due; UINT64_MAX if there is none.
uint64_t foliot__impaired_link_next_ns(const foliot__impaired_link *link);

#endif
