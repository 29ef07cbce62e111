// SPDX-License-Identifier: MIT
// sign.h: Ed25519 signatures and a chain of hashes, by libsodium.
#ifndef FOLIOT_CRYPTO_SIGN_H
#define FOLIOT_CRYPTO_SIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLIOT__HASH_BYTES 32
#define FOLIOT__PUBLIC_KEY_BYTES 32
#define FOLIOT__SECRET_KEY_BYTES 32 // the seed of RFC 8032, of which the rest is made
#define FOLIOT__SIGNATURE_BYTES 64

typedef struct foliot__signing_key { // as libsodium wants it: the seed, then the public key
    uint8_t bytes[FOLIOT__SECRET_KEY_BYTES + FOLIOT__PUBLIC_KEY_BYTES];
} foliot__signing_key;

void foliot__signing_key_of(foliot__signing_key *key, const uint8_t seed[FOLIOT__SECRET_KEY_BYTES]);
const uint8_t *foliot__signing_key_public(const foliot__signing_key *key);

// BLAKE2b of 256 bits over `before` and the bytes: `hash` may be `before`.
void foliot__hash_chain(uint8_t hash[FOLIOT__HASH_BYTES], const uint8_t before[FOLIOT__HASH_BYTES],
                        const void *bytes, size_t count);

void foliot__sign(const foliot__signing_key *key, const void *bytes, size_t count,
                  uint8_t signature[FOLIOT__SIGNATURE_BYTES]);
bool foliot__signature_fits(const uint8_t public_key[FOLIOT__PUBLIC_KEY_BYTES], const void *bytes,
                            size_t count, const uint8_t signature[FOLIOT__SIGNATURE_BYTES]);

#endif
