// SPDX-License-Identifier: MIT
// solver_simd.c: the kernel for blocks of eight columns and of one, for one instruction set
// (base/cpu.h). Two blocks of eight are solved at once where the machine has vectors of sixteen
// floats.
#include "sim/solver/solver_kernel.h"

#include <string.h>

#include "sim/math/simd.h"

// Written out, so that arrays of vectors stay in registers. Where a vector is eight scalars, there
// are not enough registers for that.
#if FOLIOT__VECTORS
#define UNROLL FOLIOT__UNROLL(16)
#else
#define UNROLL
#endif
#define EACH(k, n) UNROLL for (int k = 0; k < (n); k++)
// The points of a block are rows in memory. Their loop is written out, once for each number of
// points, but where the program is downloaded: there one loop serves any number.
#if FOLIOT__VECTORS && !defined(__wasm__)
#define POINTS_WRITTEN_OUT 1
#define EACH_POINT(k, n) EACH (k, n)
#else
#define POINTS_WRITTEN_OUT 0
#define EACH_POINT(k, n) for (int k = 0; k < (n); k++)
#endif

#define COLUMNS 8
#define LANE_NAME(name) name##_8
#include "sim/solver/solver_lanes.h"
#include "sim/solver/solver_fill.h"

#define COLUMNS 1
#define LANE_NAME(name) name##_1
#include "sim/solver/solver_lanes.h"
#include "sim/solver/solver_fill.h"

#if !FOLIOT__VECTORS
// One column after the other: eight at once are 20 kB of scalar operations. Heads are rows of 32
// bits.
static void hold_8(head_8 *t, size_t next, const foliot__phase *phase, foliot__solver_body *bodies,
                   uint32_t spare, const foliot__side side, const lanes_8 *limit,
                   const lanes_8 *most)
{
    (void)next;
    for (int l = 0; l < 8; l++) {
        head_1 column;
        for (int row = 0; row < FOLIOT__HEAD_ROWS; row++)
            memcpy((char *)&column + 4 * row, (const char *)t + 4 * (8 * row + l), 4);
        const float limit_1 = (*limit)[l], most_1 = (*most)[l];
        hold_1(&column, 0, phase, bodies, spare, side, &limit_1, &most_1);
        t->friction_impulse[0][l] = column.friction_impulse[0];
        t->friction_impulse[1][l] = column.friction_impulse[1];
        t->twist_impulse[0][l] = column.twist_impulse[0];
    }
}
#endif

#if defined(__AVX512F__)
#define COLUMNS 16
#define LANE_NAME(name) name##_16
#include "sim/solver/solver_lanes.h"
#include "sim/solver/solver_fill.h"
#define AT_ONCE(call)                                                                              \
    if (block->followed && k + 1 < end) {                                                          \
        call(16);                                                                                  \
        k++;                                                                                       \
    } else
#else
#define AT_ONCE(call)
#endif

#define ONE_BY_ONE(call)

// Calls the function of the block's width.
#define EACH_BLOCK(call, at_once)                                                                  \
    for (uint32_t k = begin; k < end; k++) {                                                       \
        const foliot__solver_block *block = &s->blocks[k];                                         \
        void *t = s->arena + block->at;                                                            \
        at_once(call) if (block->columns == 8) call(8);                                            \
        else call(1);                                                                              \
    }

static void prepare(void *context, uint32_t begin, uint32_t end)
{
    const foliot__solver *s = context;
#define CALL(n) prepare_one_##n(t, s, block)
    EACH_BLOCK(CALL, ONE_BY_ONE)
#undef CALL
}

static void warm(void *context, uint32_t begin, uint32_t end)
{
    const foliot__solver *s = context;
#define CALL(n) warm_one_##n(t, s, block)
    EACH_BLOCK(CALL, AT_ONCE)
#undef CALL
}

static void iterate(void *context, uint32_t begin, uint32_t end)
{
    const foliot__iteration *iteration = context;
    const foliot__solver *s = iteration->solver;
    const foliot__phase *phase = &iteration->phase;
#define CALL(n) iterate_one_##n(t, s, phase, block)
    EACH_BLOCK(CALL, AT_ONCE)
#undef CALL
}

static void store_impulses(void *context, uint32_t begin, uint32_t end)
{
    const foliot__solver *s = context;
#define CALL(n) store_one_##n(t, s, block)
    EACH_BLOCK(CALL, ONE_BY_ONE)
#undef CALL
}

#include "sim/solver/solver_bodies.h"

const foliot__solver_kernel FOLIOT__KERNEL(foliot__solver) = {
    prepare,    warm, iterate,    store_impulses, find_paths, remember_given,
    begin_tick, load, begin_soft, load_and_begin, advance,    store};
