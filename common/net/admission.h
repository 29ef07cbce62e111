// SPDX-License-Identifier: MIT
// admission.h: which address may open a connection. How many connections an address may hold, and
// how fast it may open new ones, so that no address can lock the others out; how much may be sent
// to an address that is not proven; the cookies that prove it. Ports are ignored where connections
// are counted. Knows nothing of sockets.
#ifndef FOLIOT_NET_ADMISSION_H
#define FOLIOT_NET_ADMISSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bucket.h"
#include "crypto/crypto.h"
#include "foliot/status.h"
#include "foliot/transport.h"
#include "net/address.h"

#define FOLIOT__ADDRESSES_REMEMBERED                                                               \
    256 // beyond those that hold connections: how fast they opened them

typedef struct foliot__admission_entry {
    uint64_t host; // 0: free
    uint32_t connections;
    foliot__bucket opens; // connections that it may open now
} foliot__admission_entry;

typedef struct foliot__admission {
    foliot__admission_entry *addresses; // Linear scan on purpose: few connections a second, and no
                                        // hash that an attacker could degrade.
    uint32_t capacity, per_address_max;
    double burst, every_ns; // of connections that an address opens
} foliot__admission;

typedef enum foliot__admitted {
    FOLIOT__ADMITTED,
    FOLIOT__ADMITTED_NOT_MORE, // the address holds all that it may
    FOLIOT__ADMITTED_NOT_YET,  // it opened too many in too short a time
} foliot__admitted;

foliot_status foliot__admission_init(foliot__admission *admission,
                                     const foliot_transport_config *config);
void foliot__admission_close(foliot__admission *admission);
// A connection of that host, not 0, is about to open. FOLIOT__ADMITTED: it counts until it is
// released.
foliot__admitted foliot__admit(foliot__admission *admission, uint64_t host, uint64_t now_ns);
// Whether its rate would let one more be admitted.
bool foliot__admission_allows(foliot__admission *admission, uint64_t host, uint64_t now_ns);
void foliot__admission_release(foliot__admission *admission, uint64_t host);
// One that was released by mistake counts again, whatever the limits are.
void foliot__admission_restore(foliot__admission *admission, uint64_t host, uint64_t now_ns);

// -- bytes to an address that is not proven

// A datagram's source can be forged. Until an address has echoed something that only it could
// receive, it gets at most three times the bytes that came from it (RFC 9000, section 8). All
// transports over UDP count here: greetings and moved peers (enet_secure.c, enet_send.c), and data
// channels (server/rtc).

#define FOLIOT__AMPLIFICATION_MAX 3

typedef struct foliot__address_validation {
    bool validated;
    uint64_t received, sent; // bytes, while it is not
} foliot__address_validation;

static inline void foliot__address_received(foliot__address_validation *a, size_t bytes)
{
    a->received += bytes;
}

// Whether that number of bytes may be sent now; if so, they count as sent.
static inline bool foliot__address_may_send(foliot__address_validation *a, size_t bytes)
{
    if (a->validated)
        return true;
    if (a->sent + bytes > FOLIOT__AMPLIFICATION_MAX * a->received)
        return false;
    a->sent += bytes;
    return true;
}

static inline void foliot__address_validate(foliot__address_validation *a)
{
    *a = (foliot__address_validation){.validated = true};
}

// -- cookies

// How a connection is opened (docs/reference/protocol.md, section 1). A cookie proves that a client
// receives what is sent to its address. The host keeps no state of a client that has not returned
// its cookie. A cookie is a MAC over address, port and connect id, under keys that are replaced
// from time to time, and is valid for that one connection.

#define FOLIOT__COOKIE_EPOCH_NS                                                                    \
    30000000000u // a key makes cookies for so long, and they are good for as long again

// Datagrams before a connection. Numbers are little-endian, the connect id as ENet writes it.
// A mark is seven characters and the protocol's version, which is one digit.
#define FOLIOT__DIGIT(number) #number
#define FOLIOT__PROTOCOL_MARK(text, number) text FOLIOT__DIGIT(number)
// Connect id, zeros: longer than any answer to it.
#define FOLIOT__QUESTION_MARK FOLIOT__PROTOCOL_MARK("foliot?", FOLIOT_PROTOCOL)
#define FOLIOT__QUESTION_BYTES 32
#define FOLIOT__QUESTION_MARK_BYTES 7 // without the version, so that another version gets an answer
#define FOLIOT__COOKIE_MARK FOLIOT__PROTOCOL_MARK("foliot!", FOLIOT_PROTOCOL) // connect id, cookie
#define FOLIOT__COOKIE_BYTES 20
#define FOLIOT__REFUSAL_MARK "foliot!0" // connect id, foliot_disconnect_reason (4)
#define FOLIOT__REFUSAL_BYTES 16

typedef struct foliot__cookie_keys {
    foliot__mac_key now, before;
    uint64_t drawn_ns;
} foliot__cookie_keys;

void foliot__cookie_keys_draw(foliot__cookie_keys *keys, uint64_t now_ns);
// Draws a new key where the time has come. To be called before the two below.
void foliot__cookie_keys_rotate(foliot__cookie_keys *keys, uint64_t now_ns);
uint64_t foliot__cookie(const foliot__cookie_keys *keys, const foliot__net_address *address,
                        uint32_t connect_id);
bool foliot__cookie_good(const foliot__cookie_keys *keys, const foliot__net_address *address,
                         uint32_t connect_id, uint64_t cookie);

#endif
