// SPDX-License-Identifier: MIT
// simd.h: vectors of several doubles or floats, masks, selection and square roots, for the kernels
// that compute several bodies, pairs or springs at once. Compilers split a vector where the machine
// has narrower ones. Every lane is computed alone and nothing is fused, so a width never changes a
// bit.
//
// A mask is a vector of integers as wide as the values: -1 in a lane that is set, 0 in the others.
// Comparisons of vectors give masks. Vectors are not passed by value between functions that are
// not inlined: that ABI depends on the machine.
#ifndef FOLIOT_SIM_MATH_SIMD_H
#define FOLIOT_SIM_MATH_SIMD_H

#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"
#include "sim/math/floating_point.h"

#if defined(__AVX2__) && defined(__x86_64__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

// Doubles in the widest vector that this file is compiled for; 4 where there is none, which
// compilers split.
#if defined(__AVX512F__)
#define FOLIOT__SIMD_DOUBLES 8
#else
#define FOLIOT__SIMD_DOUBLES 4
#endif

// Attributes of a vector of `count` elements of `type`, aligned to its own size, or to `bytes`:
//     typedef double lanes FOLIOT__SIMD(double, 4);
#define FOLIOT__SIMD(type, count)                                                                  \
    __attribute__((vector_size((count) * sizeof(type)), may_alias, aligned((count) * sizeof(type))))
#define FOLIOT__SIMD_ALIGNED(type, count, bytes)                                                   \
    __attribute__((vector_size((count) * sizeof(type)), may_alias, aligned(bytes)))

// The vector at `slot` of an array, which is aligned as the vector's type asks.
#define FOLIOT__SIMD_AT(vector, array, slot) (*(vector *)(void *)&(array)[slot])

// `yes` where the mask is set, else `no`; both are of the vector type.
#define FOLIOT__SELECT(vector, mask, yes, no)                                                      \
    ((vector)(((mask) & (__typeof__(mask))(yes)) | (~(mask) & (__typeof__(mask))(no))))

// A loop of constant length, written out so that arrays of vectors stay in registers. clang decides
// for itself.
#if defined(__clang__)
#define FOLIOT__UNROLL(times)
#else
#define FOLIOT__PRAGMA(text) _Pragma(#text)
#define FOLIOT__UNROLL(times) FOLIOT__PRAGMA(GCC unroll times)
#endif

// The correctly rounded roots of `count` values, in place.
static inline __attribute__((always_inline)) void foliot__simd_sqrt_f64(double *v, size_t count)
{
    size_t k = 0;
#if defined(__AVX512F__)
    FOLIOT__UNROLL(8)
    for (; k + 8 <= count; k += 8)
        _mm512_storeu_pd(v + k, _mm512_sqrt_pd(_mm512_loadu_pd(v + k)));
#endif
#if defined(__AVX2__)
    FOLIOT__UNROLL(8)
    for (; k + 4 <= count; k += 4)
        _mm256_storeu_pd(v + k, _mm256_sqrt_pd(_mm256_loadu_pd(v + k)));
#endif
#if FOLIOT__VECTORS && defined(__SSE2__)
    FOLIOT__UNROLL(8)
    for (; k + 2 <= count; k += 2)
        _mm_storeu_pd(v + k, _mm_sqrt_pd(_mm_loadu_pd(v + k)));
#endif
    FOLIOT__UNROLL(8)
    for (; k < count; k++)
        v[k] = foliot__sqrt(v[k]);
}

static inline __attribute__((always_inline)) void foliot__simd_sqrt_f32(float *v, size_t count)
{
    size_t k = 0;
#if defined(__AVX512F__)
    FOLIOT__UNROLL(8)
    for (; k + 16 <= count; k += 16)
        _mm512_storeu_ps(v + k, _mm512_sqrt_ps(_mm512_loadu_ps(v + k)));
#endif
#if defined(__AVX2__)
    FOLIOT__UNROLL(8)
    for (; k + 8 <= count; k += 8)
        _mm256_storeu_ps(v + k, _mm256_sqrt_ps(_mm256_loadu_ps(v + k)));
#endif
#if FOLIOT__VECTORS && defined(__SSE2__)
    FOLIOT__UNROLL(8)
    for (; k + 4 <= count; k += 4)
        _mm_storeu_ps(v + k, _mm_sqrt_ps(_mm_loadu_ps(v + k)));
#endif
    FOLIOT__UNROLL(8)
    for (; k < count; k++) // rounded twice is as good as once: 53 >= 2 * 24 + 2
        v[k] = (float)foliot__sqrt((double)v[k]);
}

// The same for a vector variable.
#define FOLIOT__SIMD_SQRT_F64(v)                                                                   \
    foliot__simd_sqrt_f64((double *)(void *)&(v), sizeof(v) / sizeof(double))
#define FOLIOT__SIMD_SQRT_F32(v)                                                                   \
    foliot__simd_sqrt_f32((float *)(void *)&(v), sizeof(v) / sizeof(float))

// Between vectors of FOLIOT__SIMD_DOUBLES floats and doubles, and their masks. `to` is the type of
// the result. gcc 12 takes __builtin_convertvector apart, value by value, for some widths.
#if defined(__AVX512F__)
#define FOLIOT__SIMD_WIDEN(to, v) ((to)_mm512_cvtps_pd((__m256)(v)))
#define FOLIOT__SIMD_NARROW(to, v) ((to)_mm512_cvtpd_ps((__m512d)(v)))
#define FOLIOT__SIMD_WIDEN_MASK(to, v) ((to)_mm512_cvtepi32_epi64((__m256i)(v)))
#elif defined(__AVX2__)
#define FOLIOT__SIMD_WIDEN(to, v) ((to)_mm256_cvtps_pd((__m128)(v)))
#define FOLIOT__SIMD_NARROW(to, v) ((to)_mm256_cvtpd_ps((__m256d)(v)))
#define FOLIOT__SIMD_WIDEN_MASK(to, v) ((to)_mm256_cvtepi32_epi64((__m128i)(v)))
#else
#define FOLIOT__SIMD_WIDEN(to, v) __builtin_convertvector(v, to)
#define FOLIOT__SIMD_NARROW(to, v) __builtin_convertvector(v, to)
#define FOLIOT__SIMD_WIDEN_MASK(to, v) __builtin_convertvector(v, to)
#endif

#endif
