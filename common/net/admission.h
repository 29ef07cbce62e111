// SPDX-License-Identifier: MIT
// admission.h: how many connections an address may hold, and how fast it may open new ones, so that
// no address can lock the others out. Addresses are proven before they are counted here; ports are
// ignored. Knows nothing of sockets.
#ifndef FOLIOT_NET_ADMISSION_H
#define FOLIOT_NET_ADMISSION_H

#include <stdint.h>

#include "base/bucket.h"
#include "foliot/transport.h"

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

#endif
