// SPDX-License-Identifier: MIT
// solver_columns.h: the kernel, for blocks of eight columns and of one. Included once by each file
// that defines SOLVER_KERNEL.
#include "sim/collide/solver_kernel.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define COLUMNS 8
#define LANE_NAME(name) name##_8
#include "sim/collide/solver_lanes.h"

#define COLUMNS 1
#define LANE_NAME(name) name##_1
#include "sim/collide/solver_lanes.h"

// Calls the function of the block's width.
#define EACH_BLOCK(call)                                                                           \
    for (uint32_t k = begin; k < end; k++) {                                                       \
        const foliot__block *block = &c->blocks[k];                                                \
        void *t = c->arena + block->at;                                                            \
        if (block->columns == 8)                                                                   \
            call(8);                                                                               \
        else                                                                                       \
            call(1);                                                                               \
    }

static void prepare(const foliot__collider *c, uint32_t begin, uint32_t end)
{
#define CALL(n) prepare_one_##n(t, c, block->points)
    EACH_BLOCK(CALL)
#undef CALL
}

static void warm(const foliot__collider *c, uint32_t begin, uint32_t end)
{
#define CALL(n) warm_one_##n(t, c, block->points)
    EACH_BLOCK(CALL)
#undef CALL
}

static void visit(const foliot__collider *c, const foliot__phase *phase, uint32_t begin, uint32_t end)
{
#define CALL(n) visit_one_##n(t, c, phase, block->points)
    EACH_BLOCK(CALL)
#undef CALL
}

static void keep(const foliot__collider *c, uint32_t begin, uint32_t end)
{
#define CALL(n) keep_one_##n(t, c, block->points)
    EACH_BLOCK(CALL)
#undef CALL
}

const foliot__solver_kernel SOLVER_KERNEL = {prepare, warm, visit, keep};
