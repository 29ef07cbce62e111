// SPDX-License-Identifier: MIT
// crypto.c: secrets and MACs, by libsodium (crypto.h).
#include "crypto/crypto.h"

#include <sodium.h>
#include <sys/mman.h>

#include "base/assert.h"

void foliot__system_random(void *user, void *bytes, size_t count)
{
    (void)user;
    FOLIOT_ASSERT(sodium_init() >= 0); // cheap after the first time, and safe on several threads
    randombytes_buf(bytes, count);
}

uint64_t foliot__mac(const foliot__mac_key *key, const void *bytes, size_t count)
{
    uint8_t mac[crypto_shorthash_BYTES];
    uint64_t value = 0;
    _Static_assert(crypto_shorthash_KEYBYTES == sizeof key->bytes && sizeof mac == sizeof value,
                   "SipHash-2-4");
    crypto_shorthash(mac, bytes, count, key->bytes);
    for (int i = 0; i < 8; i++)
        value |= (uint64_t)mac[i] << (8 * i);
    return value;
}

void foliot__one_way(const void *secret, size_t count, uint8_t hash[16])
{
    int failed = crypto_generichash(hash, 16, secret, count, NULL, 0);
    FOLIOT_ASSERT(failed == 0);
}

bool foliot__secrets_equal(const void *a, const void *b, size_t count)
{
    return sodium_memcmp(a, b, count) == 0;
}

void foliot__forget(void *secret, size_t count)
{
    sodium_memzero(secret, count);
}

void *foliot__secret_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, bytes, MADV_DONTDUMP);
    return memory;
}

void foliot__secret_memory_free(void *memory, size_t bytes)
{
    if (!memory)
        return;
    foliot__forget(memory, bytes);
    munmap(memory, bytes);
}

// -- signatures

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
