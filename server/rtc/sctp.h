// SPDX-License-Identifier: MIT
// sctp.h: one SCTP association over packets that the caller sends and receives, for one data
// channel: stream 0, unordered, never retransmitted (RFC 8831). usrsctp has one instance per
// process, on one thread, which belongs to the module that starts it.
#ifndef FOLIOT_SERVER_RTC_SCTP_H
#define FOLIOT_SERVER_RTC_SCTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rtc/dtls.h"

#define FOLIOT__SCTP_PORT 5000
#define FOLIOT__SCTP_MESSAGE_BYTES 16384 // that the other side may send at once
#define FOLIOT__SCTP_PACKET_BYTES 1228   // of a packet that is sent: holds a packet of channel 0
// A datagram of DTLS that holds it. Where a path carries no more than FOLIOT__PATH_BYTES_MAX,
// messages go in two pieces.
#define FOLIOT__SCTP_DATAGRAM_BYTES (FOLIOT__SCTP_PACKET_BYTES + FOLIOT__DTLS_OVER_BYTES)

typedef struct foliot__sctp foliot__sctp;

typedef struct foliot__sctp_hook {
    void (*send)(void *user, const uint8_t *packet, size_t length);
    void (*received)(void *user, const uint8_t *message, size_t length);
} foliot__sctp_hook;

typedef enum foliot__sctp_state {
    FOLIOT__SCTP_OPENING,
    FOLIOT__SCTP_OPEN,
    FOLIOT__SCTP_OVER
} foliot__sctp_state;

bool foliot__sctp_start(uint32_t associations_max); // false: another module has started it
void foliot__sctp_stop(void);
void foliot__sctp_tick(uint32_t elapsed_ms); // timers of all associations

// Begins the association. `datagram_bytes`: FOLIOT__PATH_BYTES_MIN to FOLIOT__SCTP_DATAGRAM_BYTES;
// no datagram of DTLS becomes larger. `hook` is lent. NULL: no memory.
foliot__sctp *foliot__sctp_create(uint16_t peer_port, uint32_t datagram_bytes,
                                  const foliot__sctp_hook *hook, void *user);
void foliot__sctp_destroy(foliot__sctp *sctp); // aborts; not within a hook; NULL is allowed
foliot__sctp_state foliot__sctp_get_state(const foliot__sctp *sctp);
void foliot__sctp_receive(foliot__sctp *sctp, const uint8_t *packet, size_t length);
// Called every 20 ms or so: probes for the largest packet that arrives (RFC 8899, section 6.2).
// Packets are no larger than one that has arrived. True: a probe was sent.
bool foliot__sctp_probe(foliot__sctp *sctp, uint64_t now_ns);
void foliot__sctp_move(foliot__sctp *sctp);                         // the path has changed
uint32_t foliot__sctp_get_datagram_bytes(const foliot__sctp *sctp); // that have arrived

typedef enum foliot__sctp_sent {
    FOLIOT__SCTP_SENT,
    FOLIOT__SCTP_WAITS, // queued until the network accepts it: until then send nothing more
    FOLIOT__SCTP_NOT_SENT
} foliot__sctp_sent;
foliot__sctp_sent foliot__sctp_send(foliot__sctp *sctp, const uint8_t *message, size_t length,
                                    uint64_t now_ns);
bool foliot__sctp_is_clogged(const foliot__sctp *sctp); // a queued message still waits
// Since when the other side has acknowledged nothing that was sent; 0: nothing waits for it.
uint64_t foliot__sctp_get_silent_ns(const foliot__sctp *sctp);

// -- checks an SCTP packet (RFC 9260) before usrsctp sees it, and removes chunks that it does not
// need. Its own checks have holes: a parameter of length 0 in an INIT makes it loop for ever, and a
// SACK of 480 long gap blocks costs 6 ms. Pure functions of untrusted bytes.

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

// Writes the part of a packet that usrsctp may see. A packet with anything malformed or out of
// order is dropped. Chunks and parameters that a data channel does not need are left out: then the
// checksum is no longer right. Returns the length, a multiple of 4; 0: nothing is left.
size_t foliot__sctp_filter(foliot__sctp_due *due, const uint8_t *packet, size_t length,
                           uint8_t kept[FOLIOT__SCTP_FILTER_BYTES_MAX]);
// The first chunk of this type in a packet; NULL: there is none.
const uint8_t *foliot__sctp_find_chunk(const uint8_t *packet, size_t length, uint8_t type);

#endif
