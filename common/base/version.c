// SPDX-License-Identifier: MIT
// version.c: what this build is, for people.
#include "foliot/version.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

#if defined(__clang__)
#define COMPILER                                                                                   \
    "clang " TEXT(__clang_major__) "." TEXT(__clang_minor__) "." TEXT(__clang_patchlevel__)
#else
#define COMPILER "gcc " TEXT(__GNUC__) "." TEXT(__GNUC_MINOR__) "." TEXT(__GNUC_PATCHLEVEL__)
#endif

#if defined(__x86_64__)
#define ISA "x86_64"
#elif defined(__i386__)
#define ISA "i686"
#elif defined(__aarch64__)
#define ISA "aarch64"
#elif defined(__arm__) && defined(__ARM_PCS_VFP)
#define ISA "armhf"
#elif defined(__arm__)
#define ISA "armel"
#elif defined(__riscv)
#define ISA "riscv64"
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
#define ISA "ppc64el"
#elif defined(__powerpc64__)
#define ISA "ppc64"
#elif defined(__powerpc__)
#define ISA "powerpc"
#elif defined(__s390x__)
#define ISA "s390x"
#elif defined(__mips64)
#define ISA "mips64el"
#elif defined(__mips__)
#define ISA "mips"
#elif defined(__sparc__)
#define ISA "sparc64"
#elif defined(__hppa__)
#define ISA "hppa"
#elif defined(__wasm__)
#define ISA "wasm32"
#else
#define ISA "unknown"
#endif

const char *foliot_get_version(void)
{
    return FOLIOT_VERSION;
}

const char *foliot_get_build(void)
{
    return COMPILER " " ISA;
}
