// SPDX-License-Identifier: MIT
// version.c: names the version, the compiler and the instruction set of this build.
#include "foliot/status.h"

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

// Made of the numbers, so that comparing it with FOLIOT_VERSION compares the two.
const char *foliot_get_version(void)
{
    return TEXT(FOLIOT_VERSION_MAJOR) "." TEXT(FOLIOT_VERSION_MINOR) "." TEXT(FOLIOT_VERSION_PATCH);
}

const char *foliot_get_build(void)
{
    return COMPILER " " ISA;
}
