// SPDX-License-Identifier: MIT
// sign.c: see sign.h.
#include "crypto/sign.h"

#include <sodium.h>

#include "base/assert.h"

_Static_assert(crypto_sign_SEEDBYTES == FOLIOT__SECRET_KEY_BYTES &&
                   crypto_sign_PUBLICKEYBYTES == FOLIOT__PUBLIC_KEY_BYTES &&
                   crypto_sign_SECRETKEYBYTES == sizeof(foliot__signing_key) &&
                   crypto_sign_BYTES == FOLIOT__SIGNATURE_BYTES,
               "Ed25519");

void foliot__signing_key_of(foliot__signing_key *key, const uint8_t seed[FOLIOT__SECRET_KEY_BYTES])
{
    uint8_t public_key[FOLIOT__PUBLIC_KEY_BYTES];
    int failed = crypto_sign_seed_keypair(public_key, key->bytes, seed);
    FOLIOT_ASSERT(failed == 0);
}

const uint8_t *foliot__signing_key_public(const foliot__signing_key *key)
{
    return key->bytes + FOLIOT__SECRET_KEY_BYTES;
}

void foliot__hash_chain(uint8_t hash[FOLIOT__HASH_BYTES], const uint8_t before[FOLIOT__HASH_BYTES],
                        const void *bytes, size_t count)
{
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, FOLIOT__HASH_BYTES);
    crypto_generichash_update(&state, before, FOLIOT__HASH_BYTES);
    crypto_generichash_update(&state, bytes, count);
    crypto_generichash_final(&state, hash, FOLIOT__HASH_BYTES);
}

void foliot__sign(const foliot__signing_key *key, const void *bytes, size_t count,
                  uint8_t signature[FOLIOT__SIGNATURE_BYTES])
{
    int failed = crypto_sign_detached(signature, NULL, bytes, count, key->bytes);
    FOLIOT_ASSERT(failed == 0);
}

bool foliot__signature_fits(const uint8_t public_key[FOLIOT__PUBLIC_KEY_BYTES], const void *bytes,
                            size_t count, const uint8_t signature[FOLIOT__SIGNATURE_BYTES])
{
    return crypto_sign_verify_detached(signature, bytes, count, public_key) == 0;
}
