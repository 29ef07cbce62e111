// SPDX-License-Identifier: MIT
// aead.h: ChaCha20-Poly1305 (RFC 8439) under a nonce of 96 bits, the same bytes as libsodium's,
// faster for the few dozen bytes of most datagrams. Keeps no state; whoever calls it never uses a
// nonce twice under a key.
#ifndef FOLIOT_CRYPTO_AEAD_H
#define FOLIOT_CRYPTO_AEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLIOT__AEAD_KEY_BYTES 32
#define FOLIOT__AEAD_NONCE_BYTES 12
#define FOLIOT__AEAD_TAG_BYTES 16
#define FOLIOT__AEAD_HEAD_BYTES_MAX 16

// What goes in clear beside the text, and is authenticated with it.
typedef struct foliot__aead_head {
    const uint8_t *bytes;
    size_t length; // at most FOLIOT__AEAD_HEAD_BYTES_MAX
} foliot__aead_head;

// Writes length + FOLIOT__AEAD_TAG_BYTES to `sealed`, which may not overlap with `plain`.
void foliot__aead_seal(const uint8_t key[FOLIOT__AEAD_KEY_BYTES],
                       const uint8_t nonce[FOLIOT__AEAD_NONCE_BYTES], foliot__aead_head head,
                       const uint8_t *plain, size_t length, uint8_t *sealed);
// `length` is that of the text, without its tag. False: it, or its head, is not of this key and
// nonce; `plain` may not overlap with `sealed`, and says nothing then.
bool foliot__aead_open(const uint8_t key[FOLIOT__AEAD_KEY_BYTES],
                       const uint8_t nonce[FOLIOT__AEAD_NONCE_BYTES], foliot__aead_head head,
                       const uint8_t *sealed, size_t length, uint8_t *plain);

#endif
