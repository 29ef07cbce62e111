// SPDX-License-Identifier: MIT
// address_validation.h: how much may be sent to an address. A datagram's source can be forged.
// Until an address has echoed something that only it could receive, it gets at most three times the
// bytes that came from it (RFC 9000, section 8). All transports over UDP count here: greetings and
// moved peers (enet_secure.c, enet_socket.c), and data channels (server/rtc).
#ifndef FOLIOT_NET_ADDRESS_VALIDATION_H
#define FOLIOT_NET_ADDRESS_VALIDATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
