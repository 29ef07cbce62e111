// SPDX-License-Identifier: MIT
// rng.h: the one random generator: xoshiro256** (Blackman and Vigna 2018, public domain), seeded
// through splitmix64. Never two draws in one argument list: compilers evaluate them in opposite
// order.
#ifndef FOLIOT_BASE_RNG_H
#define FOLIOT_BASE_RNG_H

#include <stdint.h>

typedef struct foliot__rng {
    uint64_t state[4];
} foliot__rng;

static inline uint64_t foliot__splitmix64(uint64_t *seed)
{
    uint64_t z = (*seed += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline foliot__rng foliot__rng_seeded(uint64_t seed)
{
    foliot__rng rng;
    for (int i = 0; i < 4; i++)
        rng.state[i] = foliot__splitmix64(&seed);
    return rng;
}

static inline uint64_t foliot__rng_u64(foliot__rng *rng)
{
    uint64_t *s = rng->state;
    uint64_t product = s[1] * 5;
    uint64_t result = ((product << 7) | (product >> 57)) * 9;
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = (s[3] << 45) | (s[3] >> 19);
    return result;
}

// Uniform in [0, 1), a multiple of 2^-53.
static inline double foliot__rng_unit(foliot__rng *rng)
{
    return (double)(foliot__rng_u64(rng) >> 11) * 0x1p-53;
}

// Uniform in [0, bound), bound > 0; without bias (Lemire 2019, by rejection).
static inline uint32_t foliot__rng_below(foliot__rng *rng, uint32_t bound)
{
    uint32_t threshold = (uint32_t)(-bound) % bound;
    for (;;) {
        uint64_t product = (foliot__rng_u64(rng) >> 32) * bound;
        if ((uint32_t)product >= threshold)
            return (uint32_t)(product >> 32);
    }
}

#endif
