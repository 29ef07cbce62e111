// SPDX-License-Identifier: MIT
// crypto.c: see crypto.h.
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
