// SPDX-License-Identifier: MIT
// force_newton_simd.c: pairwise gravity in virtual lanes of 8 doubles, of which a vector holds
// WIDTH, for one instruction set (base/cpu.h).
//
// The order of sums, which every width keeps: row i has 8 partial sums, one a lane; lane l takes
// the bodies 8 b + l in order of b, starting with i's own block, and the 8 are added as a tree at
// the end. Body j of a later block takes the opposite of each force in order of i. A pair's force
// is computed once and used twice, so that momentum is kept to rounding of the sums.
//
// 1 / r^3 without a division of doubles: y = 1 / sqrt(r^2) in binary32, correctly rounded like all
// else and therefore the same everywhere, and then (r^2)^(-3/2) = y^3 (1 - h)^(-3/2) with h = 1 -
// r^2 y^2, which is below 4e-7, by the first three terms of its series (the next is below 2e-19).
//
// The chain of dependent operations of one pair (about 110 cycles) is longer than the window in
// which a core reorders instructions. So the loop works on two blocks at once, or on three where
// the registers reach (STAGES 3): forces of one, inverse distances of the next, distances of the
// one after it.
#include "sim/force/force_simd.h"

#include "base/cpu.h"
#include "sim/math/simd.h"

#define NEWTON_KERNEL FOLIOT__KERNEL(foliot__newton)
#define WIDTH FOLIOT__SIMD_DOUBLES
#if defined(__AVX2__)
#define ROWS 2 // that share a pass
#define STAGES 3
#else
#define ROWS 1
#define STAGES 2
#endif
typedef double lanes FOLIOT__SIMD(double, WIDTH);
typedef float halves FOLIOT__SIMD(float, WIDTH);

#define LOAD(array, index) FOLIOT__SIMD_AT(const lanes, array, index)
#define STORE(array, index, value) (FOLIOT__SIMD_AT(lanes, array, index) = (value))
#define EACH_ROW FOLIOT__UNROLL(8) for (int k = 0; k < ROWS; k++)

// Intermediate results for the pairs of ROWS rows with one vector of bodies, stage by stage.
typedef struct near {
    lanes dx[ROWS], dy[ROWS], dz[ROWS], r2[ROWS];
    halves seed[ROWS]; // r2, then 1 / sqrt(r2)
} near;

typedef struct rows {
    lanes x[ROWS], y[ROWS], z[ROWS], mass[ROWS], softening2;
    lanes ax[ROWS], ay[ROWS], az[ROWS]; // forces on them
} rows;

// Stage one: distances.
static inline __attribute__((always_inline)) void find_distances(const foliot__newton_bodies *b,
                                                                 const rows *i, uint32_t j, near *n)
{
    lanes xj = LOAD(b->x, j), yj = LOAD(b->y, j), zj = LOAD(b->z, j);
    EACH_ROW {
        lanes dx = xj - i->x[k], dy = yj - i->y[k], dz = zj - i->z[k];
        n->r2[k] = ((dx * dx + i->softening2) + dy * dy) + dz * dz;
        n->seed[k] = FOLIOT__SIMD_NARROW(halves, n->r2[k]);
        n->dx[k] = dx;
        n->dy[k] = dy;
        n->dz[k] = dz;
    }
}

// Stage two: inverse distances in binary32.
static inline __attribute__((always_inline)) void invert_distances(near *n)
{
    EACH_ROW {
        FOLIOT__SIMD_SQRT_F32(n->seed[k]);
        n->seed[k] = 1.0f / n->seed[k];
    }
}

// Stage three, one row: dx, dy, dz become the force on it.
static inline __attribute__((always_inline)) void find_forces(const rows *i, int k, const lanes *mj,
                                                              near *n)
{
    lanes y = FOLIOT__SIMD_WIDEN(lanes, n->seed[k]), s = y * y, h = 1.0 - n->r2[k] * s;
    lanes f = ((y * s) * ((1.875 * h + 1.5) * h + 1.0)) * (*mj * i->mass[k]);
    n->dx[k] = n->dx[k] * f;
    n->dy[k] = n->dy[k] * f;
    n->dz[k] = n->dz[k] * f;
}

// The rows' own block: every pair is met from both sides, a body meets itself at distance 0.
static inline __attribute__((always_inline)) void meet_own_block(const foliot__newton_bodies *b,
                                                                 rows *i, uint32_t j)
{
    near own;
    lanes mj = LOAD(b->mass, j);
    find_distances(b, i, j, &own);
    invert_distances(&own);
    EACH_ROW {
        find_forces(i, k, &mj, &own);
        i->ax[k] = own.dx[k];
        i->ay[k] = own.dy[k];
        i->az[k] = own.dz[k];
    }
}

// A later block: the force on the rows, and its opposite on the block.
static inline __attribute__((always_inline)) void
meet_block(const foliot__newton_bodies *b, rows *i, uint32_t j, near *n, const foliot__v3 *force)
{
    lanes mj = LOAD(b->mass, j);
    lanes fx = LOAD(force->x, j), fy = LOAD(force->y, j), fz = LOAD(force->z, j);
    EACH_ROW {
        find_forces(i, k, &mj, n);
        i->ax[k] += n->dx[k];
        i->ay[k] += n->dy[k];
        i->az[k] += n->dz[k];
        fx -= n->dx[k];
        fy -= n->dy[k];
        fz -= n->dz[k];
    }
    STORE(force->x, j, fx);
    STORE(force->y, j, fy);
    STORE(force->z, j, fz);
}

static inline double sum_tree(const double l[8])
{
    return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]));
}

void NEWTON_KERNEL(const foliot__newton_bodies *b, uint32_t block, foliot__v3 force)
{
    const lanes zero = {0};
    const uint32_t end = 8 * b->blocks;
    for (uint32_t first = 8 * block; first < 8 * block + 8; first += ROWS) {
        double sums[ROWS][3][8] __attribute__((aligned(64)));
        rows i;
        i.softening2 = b->softening2 + zero;
        EACH_ROW {
            i.x[k] = b->x[first + (uint32_t)k] + zero;
            i.y[k] = b->y[first + (uint32_t)k] + zero;
            i.z[k] = b->z[first + (uint32_t)k] + zero;
            i.mass[k] = b->mass[first + (uint32_t)k] + zero;
        }
        for (uint32_t part = 0; part < 8; part += WIDTH) {
            uint32_t j = 8 * block + part;
            near now, next;
#if STAGES == 3
            near after;
#endif
            meet_own_block(b, &i, j);
            j += 8;
            find_distances(b, &i, j, &now);
            invert_distances(&now);
#if STAGES == 3
            find_distances(b, &i, j + 8, &next);
            for (; j < end; j += 8) {
                invert_distances(&next);
                find_distances(b, &i, j + 16, &after);
                meet_block(b, &i, j, &now, &force);
                now = next;
                next = after;
            }
#else
            for (; j < end; j += 8) {
                find_distances(b, &i, j + 8, &next);
                invert_distances(&next);
                meet_block(b, &i, j, &now, &force);
                now = next;
            }
#endif
            EACH_ROW {
                STORE(sums[k][0], part, i.ax[k]);
                STORE(sums[k][1], part, i.ay[k]);
                STORE(sums[k][2], part, i.az[k]);
            }
        }
        for (uint32_t k = 0; k < ROWS; k++) {
            force.x[first + k] += sum_tree(sums[k][0]);
            force.y[first + k] += sum_tree(sums[k][1]);
            force.z[first + k] += sum_tree(sums[k][2]);
        }
    }
#if defined(__AVX__)
    __builtin_ia32_vzeroupper(); // or all SSE code that runs later is slower; compilers forget it
                                 // at times
#endif
}
