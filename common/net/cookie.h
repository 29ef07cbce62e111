// SPDX-License-Identifier: MIT
// cookie.h: proof that whoever asks can receive at the address that he asks from, without remembering
// him: a keyed hash of address and time. Forged addresses never see it.
#ifndef FOLIOT_NET_COOKIE_H
#define FOLIOT_NET_COOKIE_H

#include <stdbool.h>
#include <stdint.h>

#define FOLIOT__COOKIE_EPOCH_NS 30000000000u // it is good for this long, and up to twice

// Before a connection: the asker sends HELLO (padded, so that the answer is the smaller one), the host
// answers with COOKIE, and the asker puts the cookie into ENet's connect data.
#define FOLIOT__HELLO "foliot?1"
#define FOLIOT__COOKIE "foliot!1"
#define FOLIOT__HELLO_BYTES 32
#define FOLIOT__COOKIE_BYTES 12 // and its four bytes, little-endian

// What shows that a token is the right one without being it: a recording may be handed around, and holds this.
// Never 0.
uint64_t foliot__token_proof(uint64_t token);

uint32_t foliot__cookie(uint64_t secret, uint32_t address, uint16_t port, uint64_t epoch);
bool foliot__cookie_good(uint64_t secret, uint32_t address, uint16_t port, uint64_t now_ns, uint32_t cookie);

#endif
