// SPDX-License-Identifier: MIT
// raw_datagram.h: unreliable packets in separate datagrams that bypass ENet. They need not wait
// until ENet has connected, many are sent in one system call, and ENet does not walk its peers for
// them. Reliable packets stay with ENet.
//
// A datagram is a head followed by packets, each after its length. The early head proves the
// address by the cookie and opens the connection, even without a packet; the short head names a
// connection that ENet has made.
//
// A packet that is too large for its path goes in up to four fragments. The highest bits of a
// length give the kind of what follows.
#ifndef FOLIOT_NET_RAW_DATAGRAM_H
#define FOLIOT_NET_RAW_DATAGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "foliot/transport.h"
#include "net/address.h"
#include "net/admission.h"

#define FOLIOT__EARLY FOLIOT__PROTOCOL_MARK("foliot>", FOLIOT_PROTOCOL)
#define FOLIOT__EARLY_HEAD_BYTES                                                                   \
    20 // FOLIOT__EARLY, connect id (as in ENet's connect), cookie (little-endian)
#define FOLIOT__SHORT_MARK 0x67 // no datagram of ENet's begins so: it would be compressed
#define FOLIOT__SHORT_HEAD_BYTES                                                                   \
    7 // the mark, connect id, the receiver's number of the peer (little-endian)
#define FOLIOT__RAW_DATAGRAM_PACKETS_MAX 4 // in a datagram
#define FOLIOT__RAW_LENGTH_BYTES 2         // in front of each
#define FOLIOT__RAW_FRAGMENT 0x8000u       // added to a length: a fragment of a packet
#define FOLIOT__RAW_PATH 0x4000u           // ... a probe of the path, or its answer: no packet
#define FOLIOT__RAW_FRAGMENTS_MAX 4
#define FOLIOT__RAW_FRAGMENT_HEAD_BYTES 4 // number, index + 16 * count, bytes of the packet
#define FOLIOT__RAW_DATAGRAM_BYTES_MAX (FOLIOT__EARLY_HEAD_BYTES + FOLIOT_PACKET_BYTES_MAX + 40)
// The longest head that a datagram begins with, a seal's parts included.
#define FOLIOT__RAW_HEAD_BYTES_MAX 24

typedef struct foliot__raw_datagram {
    bool early;
    uint64_t cookie; // of an early one
    uint32_t connect_id;
    uint16_t peer; // of a short one
    uint32_t count;
    const uint8_t *packets[FOLIOT__RAW_DATAGRAM_PACKETS_MAX];
    uint16_t lengths[FOLIOT__RAW_DATAGRAM_PACKETS_MAX];
    uint16_t kinds[FOLIOT__RAW_DATAGRAM_PACKETS_MAX]; // 0: a packet
} foliot__raw_datagram;

bool foliot__raw_datagram_is(const uint8_t *bytes, size_t length); // by its first bytes
// False: its head or its lengths are not right.
bool foliot__raw_datagram_parse(const uint8_t *bytes, size_t length,
                                foliot__raw_datagram *datagram);
bool foliot__raw_datagram_parse_packets(const uint8_t *bytes, size_t length,
                                        foliot__raw_datagram *datagram); // what follows a head
void foliot__raw_datagram_early_head(uint64_t cookie, uint32_t connect_id,
                                     uint8_t head[FOLIOT__EARLY_HEAD_BYTES]);
void foliot__raw_datagram_short_head(uint32_t connect_id, uint16_t peer,
                                     uint8_t head[FOLIOT__EARLY_HEAD_BYTES]);

// The received fragments of two packets; with more, the oldest are lost.
typedef struct foliot__reassembly {
    struct foliot__partial_packet {
        uint8_t number, count, have; // bits of those that are here
        uint16_t total;
        uint8_t bytes[FOLIOT_PACKET_BYTES_MAX];
    } packets[2];
    uint32_t newest;
} foliot__reassembly;

// The number of fragments of a packet if each datagram has that much room for one, including its
// head; 0: too many.
uint32_t foliot__fragment_count(size_t length, size_t room);
// Writes the i-th of `count` fragments; returns its length.
size_t foliot__fragment_write(const uint8_t *packet, size_t length, uint8_t number, uint32_t i,
                              uint32_t count, uint8_t fragment[FOLIOT_PACKET_BYTES_MAX]);
// False: it is malformed. If it completes a packet, *packet is set, until the next call; otherwise
// it is NULL.
bool foliot__fragment_read(foliot__reassembly *reassembly, const uint8_t *fragment, size_t length,
                           const uint8_t **packet, size_t *packet_length);

// Received packets until they are polled: first in, first out. Bytes lie in one block, which is
// reused when the queue is empty.
typedef struct foliot__inbox_entry {
    foliot_peer_id peer;
    size_t at, length; // length 0: the connection itself has come
    uint64_t arrived_ns;
} foliot__inbox_entry;
typedef struct foliot__inbox {
    foliot__inbox_entry *entries;
    size_t first, used;
    uint32_t count, capacity;
    uint8_t *bytes;
    uint32_t room;
} foliot__inbox;

bool foliot__inbox_push(foliot__inbox *inbox, foliot_peer_id peer, const uint8_t *bytes,
                        size_t length, uint64_t arrived_ns);
// *bytes are valid until the next push. False: there is none.
bool foliot__inbox_pop(foliot__inbox *inbox, foliot__inbox_entry *entry, const uint8_t **bytes);
void foliot__inbox_close(foliot__inbox *inbox);

// Packets for the next flush. Several packets to one receiver share a datagram.
typedef struct foliot__outbox {
    uint32_t capacity, count; // datagrams
    uint32_t flushes;         // how often it was emptied, counting from 1; 0 is none
    struct mmsghdr *messages;
    struct iovec (*parts)[FOLIOT__RAW_DATAGRAM_PACKETS_MAX + 1];
    foliot__socket_address *addresses;
    uint8_t (*heads)[FOLIOT__RAW_HEAD_BYTES_MAX];
    uint16_t *sizes;
    void **owners;  // the caller's to note, from foliot__outbox_add on
    uint8_t *bytes; // of packets
    size_t used, room;
    uint8_t *whole; // the datagrams as they leave, sealed or put together, one behind another
    size_t whole_used;
} foliot__outbox;

bool foliot__outbox_init(foliot__outbox *outbox, uint32_t receivers);
void foliot__outbox_close(foliot__outbox *outbox);
// Room for `length` bytes, where a packet is kept with its length in front; NULL: flush first.
uint8_t *foliot__outbox_keep(foliot__outbox *outbox, const uint8_t *bytes, size_t length);
// The same for what is not a packet, by its kind.
uint8_t *foliot__outbox_keep_other(foliot__outbox *outbox, uint16_t kind, const uint8_t *bytes,
                                   size_t length);
// A new datagram with a kept packet; its index, UINT32_MAX: flush first. The caller writes the
// head.
uint32_t foliot__outbox_add(foliot__outbox *outbox, const foliot__net_address *address,
                            size_t head_bytes, const uint8_t *kept, size_t length);
// Appends to a queued datagram, which may grow to `bytes_max`; false: it is full.
bool foliot__outbox_append(foliot__outbox *outbox, uint32_t index, const uint8_t *kept,
                           size_t length, size_t bytes_max);
// Room for a datagram as it leaves.
uint8_t *foliot__outbox_whole(foliot__outbox *outbox, size_t length);
// Returns how many of the datagrams the socket did not take.
uint32_t foliot__outbox_flush(foliot__outbox *outbox, int fd);

#endif
