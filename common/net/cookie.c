// SPDX-License-Identifier: MIT
// cookie.c: SipHash-2-4 (Aumasson and Bernstein 2012) over address and epoch, cut to 32 bits.
#include "net/cookie.h"

static uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static void rounds(uint64_t v[4], int count)
{
    while (count-- > 0) {
        v[0] += v[1];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[0] = rotate(v[0], 32);
        v[2] += v[3];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] += v[3];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] += v[1];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[2] = rotate(v[2], 32);
    }
}

// Two words of message; the last word is SipHash's own, the length.
static uint64_t siphash(uint64_t key0, uint64_t key1, const uint64_t message[2])
{
    uint64_t v[4] = {key0 ^ 0x736f6d6570736575u, key1 ^ 0x646f72616e646f6du,
                     key0 ^ 0x6c7967656e657261u, key1 ^ 0x7465646279746573u};
    const uint64_t words[3] = {message[0], message[1], (uint64_t)16 << 56};
    for (int i = 0; i < 3; i++) {
        v[3] ^= words[i];
        rounds(v, 2);
        v[0] ^= words[i];
    }
    v[2] ^= 0xff;
    rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t foliot__token_proof(uint64_t token)
{
    const uint64_t message[2] = {token, 0x666f6c696f742131u};
    uint64_t proof = siphash(token, ~token, message);
    return proof ? proof : 1;
}

uint32_t foliot__cookie(uint64_t secret, uint32_t address, uint16_t port, uint64_t epoch)
{
    const uint64_t message[2] = {(uint64_t)address << 16 | port, epoch};
    return (uint32_t)siphash(secret, ~secret, message);
}

bool foliot__cookie_good(uint64_t secret, uint32_t address, uint16_t port, uint64_t now_ns, uint32_t cookie)
{
    uint64_t epoch = now_ns / FOLIOT__COOKIE_EPOCH_NS;
    return cookie == foliot__cookie(secret, address, port, epoch) ||
           (epoch > 0 && cookie == foliot__cookie(secret, address, port, epoch - 1));
}
