// SPDX-License-Identifier: MIT
// crypto.h: secrets and MACs, by libsodium. Nothing else in the project makes a secret, compares
// one or computes a MAC. Never used by the simulation: its random numbers are seeded (base/rng.h).
#ifndef FOLIOT_CRYPTO_CRYPTO_H
#define FOLIOT_CRYPTO_CRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The source of secrets. Fills `bytes` with `count` unpredictable bytes.
typedef void foliot__random_source(void *user, void *bytes, size_t count);
// Random bytes from the system (getrandom). Ends the process if the system has none: there is no
// safe way to continue.
void foliot__system_random(void *user, void *bytes, size_t count);

// SipHash-2-4 (Aumasson and Bernstein 2012): a MAC of 64 bits under a key of 128.
typedef struct foliot__mac_key {
    uint8_t bytes[16];
} foliot__mac_key;
uint64_t foliot__mac(const foliot__mac_key *key, const void *bytes, size_t count);

// 128 bits of BLAKE2b: shows that a secret is the right one without being it.
void foliot__one_way(const void *secret, size_t count, uint8_t hash[16]);

// In a time that does not depend on where they differ.
bool foliot__secrets_equal(const void *a, const void *b, size_t count);
void foliot__forget(void *secret, size_t count); // overwrites it

// Zeroed memory for long-lived secrets, excluded from core dumps. NULL: no memory.
void *foliot__secret_memory(size_t bytes);
void foliot__secret_memory_free(void *memory, size_t bytes); // overwrites it; may be NULL

// -- Ed25519 signatures and a chain of hashes

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
