// SPDX-License-Identifier: MIT
// sctp_filter.h: what an SCTP packet (RFC 9260) must look like before usrsctp sees it, and what of
// it usrsctp sees. Its own checks have holes: a parameter of length 0 in an INIT makes
// it loop for ever, and a SACK of 480 long gap blocks costs 6 ms. Pure functions of bytes that
// anybody may have sent.
#ifndef FOLIOT_SERVER_RTC_SCTP_FILTER_H
#define FOLIOT_SERVER_RTC_SCTP_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLIOT__SCTP_HEAD_BYTES 12
#define FOLIOT__SCTP_FILTER_BYTES_MAX 2048 // of a packet; longer ones are refused
#define FOLIOT__SCTP_HANDSHAKES_MAX 64     // INIT, INIT-ACK and COOKIE-ECHO of one association

enum { // types of chunks
    FOLIOT__CHUNK_DATA = 0,
    FOLIOT__CHUNK_INIT = 1,
    FOLIOT__CHUNK_INIT_ACK = 2,
    FOLIOT__CHUNK_SACK = 3,
    FOLIOT__CHUNK_HEARTBEAT = 4,
    FOLIOT__CHUNK_HEARTBEAT_ACK = 5,
    FOLIOT__CHUNK_ABORT = 6,
    FOLIOT__CHUNK_SHUTDOWN = 7,
    FOLIOT__CHUNK_SHUTDOWN_ACK = 8,
    FOLIOT__CHUNK_COOKIE_ECHO = 10,
    FOLIOT__CHUNK_COOKIE_ACK = 11,
    FOLIOT__CHUNK_SHUTDOWN_COMPLETE = 14,
    FOLIOT__CHUNK_FORWARD_TSN = 192
};

// The packets that the other side of one association may send now.
typedef struct foliot__sctp_due {
    uint16_t source, destination; // ports of what it sends
    bool opening;                 // the handshake is not over
    uint32_t handshakes;          // chunks of it that passed
    uint64_t cookie;              // hash of the last one that passed while it was not
} foliot__sctp_due;

// Writes what usrsctp may see of a packet. A packet with anything malformed, or out of its place,
// is dropped as a whole. Chunks and parameters that are of no use to a data channel are left out:
// then the checksum is no longer right. Returns the length, a multiple of 4; 0: nothing is left.
size_t foliot__sctp_filter(foliot__sctp_due *due, const uint8_t *packet, size_t length,
                           uint8_t kept[FOLIOT__SCTP_FILTER_BYTES_MAX]);
// The first chunk of this type in a packet; NULL: there is none.
const uint8_t *foliot__sctp_find_chunk(const uint8_t *packet, size_t length, uint8_t type);

#endif
