// SPDX-License-Identifier: MIT
// solver_lanes.h: the kernel for vectors of four doubles. Included once by each file that defines
// SOLVER_KERNEL. Compilers split the vectors where the machine has narrower ones: the bits are the
// same.
#include "sim/collide/solver_kernel.h"

typedef double lanes __attribute__((vector_size(32), may_alias, aligned(8)));
typedef int64_t marks __attribute__((vector_size(32), may_alias, aligned(8)));

// Macros where a function would pass vectors that the base ABI has no registers for.
#if defined(__AVX2__)
#include <immintrin.h>
#define TAKE_ROOT(v) ((v) = (lanes)_mm256_sqrt_pd((__m256d)(v)))
#else
#define TAKE_ROOT(v)                                                                               \
    do {                                                                                           \
        for (int l = 0; l < FOLIOT__BLOCK; l++)                                                    \
            (v)[l] = foliot__sqrt((v)[l]);                                                       \
    } while (0)
#endif

#define LOAD(row) (*(const lanes *)(row))
#define KEEP(row, value) (*(lanes *)(row) = (value))
// `yes` where the mark is set, else `no`.
#define CHOOSE(mark, yes, no) ((lanes)(((mark) & (marks)(yes)) | (~(mark) & (marks)(no))))

#define GATHER(index, field)                                                                       \
    ((lanes){movers[(index)[0]].field, movers[(index)[1]].field, movers[(index)[2]].field,         \
             movers[(index)[3]].field})
#define SCATTER(index, field, value)                                                               \
    do {                                                                                           \
        movers[(index)[0]].field = (value)[0];                                                     \
        movers[(index)[1]].field = (value)[1];                                                     \
        movers[(index)[2]].field = (value)[2];                                                     \
        movers[(index)[3]].field = (value)[3];                                                     \
    } while (0)

static inline void visit_block(foliot__block *t, foliot__old_mover *movers)
{
    lanes nx = LOAD(t->normal[0]), ny = LOAD(t->normal[1]), nz = LOAD(t->normal[2]);
    lanes vax = GATHER(t->a, v[0]), vay = GATHER(t->a, v[1]), vaz = GATHER(t->a, v[2]);
    lanes vbx = GATHER(t->b, v[0]), vby = GATHER(t->b, v[1]), vbz = GATHER(t->b, v[2]);
    lanes wax = GATHER(t->a, w[0]), way = GATHER(t->a, w[1]), waz = GATHER(t->a, w[2]);
    lanes wbx = GATHER(t->b, w[0]), wby = GATHER(t->b, w[1]), wbz = GATHER(t->b, w[2]);
    lanes vx = vbx - vax, vy = vby - vay, vz = vbz - vaz;
    lanes arm_a = LOAD(t->arm_a), arm_b = LOAD(t->arm_b);
    lanes sx = arm_a * wax + arm_b * wbx, sy = arm_a * way + arm_b * wby;
    lanes sz = arm_a * waz + arm_b * wbz;

    lanes apart = (vx * nx + vy * ny) + vz * nz;
    lanes before = LOAD(t->push);
    lanes push = before + (LOAD(t->target) - apart) * LOAD(t->mass);
    push = (lanes)((marks)push & (push > 0));
    lanes along = push - before;
    KEEP(t->push, push);

    // Sliding of the surfaces: v across the normal, less (arms of the spins) x normal.
    lanes mass = LOAD(t->mass_tangent);
    lanes dx0 = LOAD(t->drag[0]), dy0 = LOAD(t->drag[1]), dz0 = LOAD(t->drag[2]);
    lanes dx = dx0 - mass * ((vx - apart * nx) - (sy * nz - sz * ny));
    lanes dy = dy0 - mass * ((vy - apart * ny) - (sz * nx - sx * nz));
    lanes dz = dz0 - mass * ((vz - apart * nz) - (sx * ny - sy * nx));
    lanes drag2 = (dx * dx + dy * dy) + dz * dz, limit = LOAD(t->friction) * push;
    marks slides = drag2 > limit * limit;
    lanes one = {1, 1, 1, 1};
    lanes sliding = CHOOSE(slides, drag2, one);
    TAKE_ROOT(sliding);
    lanes scale = CHOOSE(slides, limit / sliding, one);
    dx *= scale;
    dy *= scale;
    dz *= scale;
    KEEP(t->drag[0], dx);
    KEEP(t->drag[1], dy);
    KEEP(t->drag[2], dz);
    dx -= dx0;
    dy -= dy0;
    dz -= dz0;

    lanes px = along * nx + dx, py = along * ny + dy, pz = along * nz + dz;
    lanes ma = LOAD(t->inverse_mass_a), mb = LOAD(t->inverse_mass_b);
    SCATTER(t->a, v[0], vax - ma * px);
    SCATTER(t->a, v[1], vay - ma * py);
    SCATTER(t->a, v[2], vaz - ma * pz);
    SCATTER(t->b, v[0], vbx + mb * px);
    SCATTER(t->b, v[1], vby + mb * py);
    SCATTER(t->b, v[2], vbz + mb * pz);
    lanes tx = ny * dz - nz * dy, ty = nz * dx - nx * dz, tz = nx * dy - ny * dx;
    lanes ia = LOAD(t->ease_a), ib = LOAD(t->ease_b);
    SCATTER(t->a, w[0], wax - ia * tx);
    SCATTER(t->a, w[1], way - ia * ty);
    SCATTER(t->a, w[2], waz - ia * tz);
    SCATTER(t->b, w[0], wbx - ib * tx);
    SCATTER(t->b, w[1], wby - ib * ty);
    SCATTER(t->b, w[2], wbz - ib * tz);
}

static inline void push_block(const foliot__block *t, foliot__old_mover *movers, double share)
{
    lanes nx = LOAD(t->normal[0]), ny = LOAD(t->normal[1]), nz = LOAD(t->normal[2]);
    lanes ax = GATHER(t->a, v[0]), ay = GATHER(t->a, v[1]), az = GATHER(t->a, v[2]);
    lanes bx = GATHER(t->b, v[0]), by = GATHER(t->b, v[1]), bz = GATHER(t->b, v[2]);
    lanes gap = LOAD(t->gap) + (((bx - ax) * nx + (by - ay) * ny) + (bz - az) * nz);
    lanes overlap = -gap - LOAD(t->slop);
    marks open = (gap > 0) & (LOAD(t->push) > 0);
    lanes way = (lanes)((marks)CHOOSE(open, -gap, overlap) & (open | (overlap > 0))) * share;
    lanes limit = LOAD(t->way_max);
    way = CHOOSE(way > limit, limit, way);
    lanes moved = way * LOAD(t->mass);
    lanes ma = moved * LOAD(t->inverse_mass_a), mb = moved * LOAD(t->inverse_mass_b);
    SCATTER(t->a, v[0], ax - ma * nx);
    SCATTER(t->a, v[1], ay - ma * ny);
    SCATTER(t->a, v[2], az - ma * nz);
    SCATTER(t->b, v[0], bx + mb * nx);
    SCATTER(t->b, v[1], by + mb * ny);
    SCATTER(t->b, v[2], bz + mb * nz);
}

static void visit(foliot__block *blocks, uint32_t count, foliot__old_mover *movers)
{
    for (uint32_t k = 0; k < count; k++)
        visit_block(&blocks[k], movers);
}

static void push_out(const foliot__block *blocks, uint32_t count, foliot__old_mover *movers,
                     double share)
{
    for (uint32_t k = 0; k < count; k++)
        push_block(&blocks[k], movers, share);
}

const foliot__solver_kernel SOLVER_KERNEL = {visit, push_out};
