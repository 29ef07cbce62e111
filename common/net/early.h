// SPDX-License-Identifier: MIT
// early.h: unreliable packets that need not wait until ENet has connected: one to a datagram, behind proof of the
// address (the cookie) and the number by which ENet will know the connection. Towards the host and back alike.
#ifndef FOLIOT_NET_EARLY_H
#define FOLIOT_NET_EARLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/transport.h"

#define FOLIOT__EARLY "foliot>1"
#define FOLIOT__EARLY_HEAD_BYTES 16 // FOLIOT__EARLY, cookie (little-endian), connect id (as in ENet's connect)
#define FOLIOT__EARLY_BYTES_MAX (FOLIOT__EARLY_HEAD_BYTES + FOLIOT_PACKET_BYTES_MAX)

typedef struct foliot__early {
    uint32_t cookie, connect_id;
    const uint8_t *bytes; // of the packet
    size_t length;
} foliot__early;

void foliot__early_head(uint32_t cookie, uint32_t connect_id, uint8_t bytes[FOLIOT__EARLY_HEAD_BYTES]);
// False: it is no early datagram, or one without a packet, or with one that is too large.
bool foliot__early_parse(const uint8_t *bytes, size_t length, foliot__early *early);

// What the gate has taken out of a service of ENet's, until it is polled. First in, first out.
typedef struct foliot__early_entry {
    foliot_peer_id peer;
    uint8_t *bytes; // owned; NULL: the connection itself has come
    size_t length;
} foliot__early_entry;
typedef struct foliot__early_queue {
    foliot__early_entry *entries;
    size_t first, count, capacity;
} foliot__early_queue;

// Takes a copy; false where there is no memory for it.
bool foliot__early_push(foliot__early_queue *queue, foliot_peer_id peer, const uint8_t *bytes, size_t length);
bool foliot__early_pop(foliot__early_queue *queue, foliot__early_entry *entry); // its bytes are the caller's then
void foliot__early_close(foliot__early_queue *queue);

#endif
