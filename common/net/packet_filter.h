// SPDX-License-Identifier: MIT
// packet_filter.h: validates a datagram before ENet reads it. enet.h's own checks have gaps, which
// were measured: forged connects take slots, fragments claim memory, out-of-order commands
// accumulate.
#ifndef FOLIOT_NET_PACKET_FILTER_H
#define FOLIOT_NET_PACKET_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLIOT__CHANNEL_UNRELIABLE 0
#define FOLIOT__CHANNEL_RELIABLE 1
#define FOLIOT__CHANNELS 2
#define FOLIOT__RELIABLE_AHEAD_MAX 512 // reliable commands that may wait for one that was lost

typedef enum foliot__verdict {
    FOLIOT__PASS,
    FOLIOT__CONNECT,   // a well-formed connect: its id is in the claims
    FOLIOT__MALFORMED, // not ENet's, or a command that we never use
    FOLIOT__FRAGMENT,  // a fragment with an impossible header
} foliot__verdict;

// The claims of its commands about connections.
typedef struct foliot__claims {
    bool verifies;       // a connect has been taken: that of `connect_id`
    uint32_t connect_id; // of that, or of a connect; big-endian as it came
} foliot__claims;

// Walks the commands of a datagram. `expected_reliable` is the sequence number of the reliable
// channel's last command from the peer that the datagram names (foliot__packet_filter_peer), -1 if
// it names none. No packet may claim more than `packet_bytes_max`.
foliot__verdict foliot__packet_filter(const uint8_t *datagram, size_t length,
                                      int32_t expected_reliable, uint32_t packet_bytes_max,
                                      foliot__claims *claims);
// Peer index in the header; -1 if there is none (a connect, or not an ENet datagram).
int32_t foliot__packet_filter_peer(const uint8_t *datagram, size_t length);

// Every datagram of ENet's has a checksum behind its header (docs/reference/protocol.md, section
// 1), which is computed with the connect id in its place. Without the id no datagram can be forged
// for the connection.
#define FOLIOT__CHECKSUM_BYTES 4
#define FOLIOT__PACKET_FILTER_BYTES_MAX 4096 // of a datagram, ENet's largest
size_t foliot__packet_filter_checksum_at(const uint8_t *datagram,
                                         size_t length); // its offset; 0: there is none
// The checksum of a datagram with the connect id in its place, as it is stored in memory:
// little-endian.
uint32_t foliot__packet_filter_checksum(const uint8_t *datagram, size_t length);
bool foliot__packet_filter_proven(const uint8_t *datagram, size_t length, uint32_t connect_id);

#endif
