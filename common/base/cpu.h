// SPDX-License-Identifier: MIT
// cpu.h: which vector unit this machine has, and which kernel uses it. Every path computes the same
// bits: the choice affects speed and size only.
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

// A file NAME_simd.c holds kernels. It is compiled once for each instruction set, with FOLIOT__ISA
// defined as base, avx2 or avx512 (the Makefile's ISAS): the last two for x86-64 alone.
#ifndef FOLIOT__ISA
#define FOLIOT__ISA base
#endif
#define FOLIOT__PASTE(name, isa) name##_##isa
#define FOLIOT__NAME_OF_ISA(name, isa) FOLIOT__PASTE(name, isa)
// The name of a kernel in the file that defines it: foliot__newton_avx2.
#define FOLIOT__KERNEL(name) FOLIOT__NAME_OF_ISA(name, FOLIOT__ISA)

// The kernel for the widest vectors of this machine: name_base, name_avx2 or name_avx512. A table
// of kernels takes &name.
#if defined(__x86_64__) && FOLIOT__VECTORS
#define FOLIOT__KERNEL_OF_CPU(name)                                                                \
    (foliot__cpu_simd() == FOLIOT__SIMD_AVX512 ? name##_avx512                                     \
     : foliot__cpu_simd() == FOLIOT__SIMD_AVX2 ? name##_avx2                                       \
                                               : name##_base)
#else
#define FOLIOT__KERNEL_OF_CPU(name) name##_base
#endif

#endif
