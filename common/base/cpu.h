// SPDX-License-Identifier: MIT
// cpu.h: which vector unit this machine has. Every path computes the same bits: the choice affects
// speed and size only.
#ifndef FOLIOT_BASE_CPU_H
#define FOLIOT_BASE_CPU_H

// Whether the compiler may use a vector unit. Without one it splits every vector operation into
// scalar ones, and unrolled loops become functions of hundreds of kilobytes, beyond the call range
// of some machines (docs/explanation/determinism.md, "Machines without vectors"). FOLIOT_SCALAR
// selects that path on x86-64.
#if (defined(__SSE2__) && !defined(FOLIOT_SCALAR)) || defined(__AVX2__) || defined(__ARM_NEON) ||  \
    defined(__ALTIVEC__) || defined(__VX__) || defined(__mips_msa) || defined(__riscv_vector) ||   \
    defined(__wasm_simd128__) || defined(__loongarch_sx)
#define FOLIOT__VECTORS 1
#else
#define FOLIOT__VECTORS 0
#endif

typedef enum foliot__simd {
    FOLIOT__SIMD_BASE, // what the compiler targets
    FOLIOT__SIMD_AVX2,
    FOLIOT__SIMD_AVX512, // F, DQ, VL and BW
} foliot__simd;

// The widest that machine and operating system support. Cheap: a load and a test.
foliot__simd foliot__cpu_simd(void);

#endif
