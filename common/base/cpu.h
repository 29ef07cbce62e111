// SPDX-License-Identifier: MIT
// cpu.h: which vector unit this machine has. Every path gives the same bits; the choice is about speed.
#ifndef FOLIOT_BASE_CPU_H
#define FOLIOT_BASE_CPU_H

typedef enum foliot__simd {
    FOLIOT__SIMD_BASE, // what the compiler was told to use
    FOLIOT__SIMD_AVX2,
    FOLIOT__SIMD_AVX512, // F, DQ, VL and BW
} foliot__simd;

// The widest that machine and operating system support. Cheap: a load and a test.
foliot__simd foliot__cpu_simd(void);

#endif
