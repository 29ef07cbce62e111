// SPDX-License-Identifier: MIT
// cpu.h: which vector unit this machine has. Every path gives the same bits; the choice is about
// speed and size.
#ifndef FOLIOT_BASE_CPU_H
#define FOLIOT_BASE_CPU_H

// Whether the compiler was told of any vector unit. Without one it splits every operation on lanes
// into scalar ones, and unrolled loops of them become functions of hundreds of kilobytes: longer
// than some machines can call out of (docs/explanation/determinism.md, "Machines without vectors").
// FOLIOT_SCALAR shows on x86-64 what those do.
#if (defined(__SSE2__) && !defined(FOLIOT_SCALAR)) || defined(__AVX2__) || defined(__ARM_NEON) ||  \
    defined(__ALTIVEC__) || defined(__VX__) || defined(__mips_msa) || defined(__riscv_vector) ||   \
    defined(__wasm_simd128__) || defined(__loongarch_sx)
#define FOLIOT__VECTORS 1
#else
#define FOLIOT__VECTORS 0
#endif

typedef enum foliot__simd {
    FOLIOT__SIMD_BASE, // what the compiler was told to use
    FOLIOT__SIMD_AVX2,
    FOLIOT__SIMD_AVX512, // F, DQ, VL and BW
} foliot__simd;

// The widest that machine and operating system support. Cheap: a load and a test.
foliot__simd foliot__cpu_simd(void);

#endif
