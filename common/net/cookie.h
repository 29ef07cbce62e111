// SPDX-License-Identifier: MIT
// cookie.h: how a connection is opened (docs/reference/protocol.md, section 1). A cookie proves
// that a client receives what is sent to its address. The host keeps no state of a client that has
// not returned its cookie. A cookie is a MAC over address, port and connect id, under keys that are
// replaced from time to time, and is valid for that one connection.
#ifndef FOLIOT_NET_COOKIE_H
#define FOLIOT_NET_COOKIE_H

#include <stdbool.h>
#include <stdint.h>

#include "crypto/crypto.h"
#include "foliot/status.h"
#include "net/address.h"

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
