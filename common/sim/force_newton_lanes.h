// SPDX-License-Identifier: MIT
// force_newton_lanes.h: pairwise gravity in virtual lanes of 8 doubles, for a vector of WIDTH of them.
// Included once by each file that defines NEWTON_KERNEL, WIDTH and ROWS (rows that share a pass).
//
// The order of sums, which every width keeps: row i has 8 partial sums, one a lane; lane l takes the
// bodies 8 b + l in order of b, starting with i's own block, and the 8 are added as a tree at the end.
// Body j of a later block takes the opposite of each force in order of i. A pair's force is computed once
// and used twice, so that momentum is kept to rounding of the sums.
//
// 1 / r^3 without a division of doubles: y = 1 / sqrt(r^2) in binary32, correctly rounded like all else
// and therefore the same everywhere, and then (r^2)^(-3/2) = y^3 (1 - h)^(-3/2) with h = 1 - r^2 y^2, which
// is below 4e-7, by the first three terms of its series (the next is below 2e-19).
//
// The loop runs one block ahead with r^2 and y, because their long chain of dependent operations does
// not fit into the window in which a core reorders instructions.
#include "sim/force_newton.h"

typedef double lanes __attribute__((vector_size(8 * WIDTH), may_alias));
typedef float halves __attribute__((vector_size(4 * WIDTH), may_alias));

#if WIDTH == 8 && defined(__AVX512F__)
#include <immintrin.h>
#define ROOT(v) ((halves)_mm256_sqrt_ps((__m256)(v)))
#define WIDEN(v) ((lanes)_mm512_cvtps_pd((__m256)(v)))
#elif WIDTH == 4 && defined(__AVX2__)
#include <immintrin.h>
#define ROOT(v) ((halves)_mm_sqrt_ps((__m128)(v)))
#define WIDEN(v) ((lanes)_mm256_cvtps_pd((__m128)(v)))
#elif WIDTH == 4 && defined(__SSE2__)
#include <emmintrin.h>
#define ROOT(v) ((halves)_mm_sqrt_ps((__m128)(v)))
#define WIDEN(v) __builtin_convertvector(v, lanes)
#else
#define WIDEN(v) __builtin_convertvector(v, lanes)
#endif

#define LOAD(array, index) (*(const lanes *)((array) + (index)))
#define STORE(array, index, value) (*(lanes *)((array) + (index)) = (value))

// y := 1 / sqrt(r2) in binary32.
#ifdef ROOT
#define SEED(y, r2)                                                                                \
    do {                                                                                           \
        halves root_ = __builtin_convertvector(r2, halves);                                        \
        (y) = 1.0f / ROOT(root_);                                                                  \
    } while (0)
#else
#define SEED(y, r2)                                                                                \
    do {                                                                                           \
        halves root_ = __builtin_convertvector(r2, halves);                                        \
        for (int l_ = 0; l_ < WIDTH; l_++)                                                         \
            root_[l_] = __builtin_sqrtf(root_[l_]);                                                \
        (y) = 1.0f / root_;                                                                        \
    } while (0)
#endif

// Distances of ROWS rows from the bodies at index `at`, and the seeds of their inverses.
#define APPROACH(at)                                                                               \
    do {                                                                                           \
        lanes xj_ = LOAD(b->x, at), yj_ = LOAD(b->y, at), zj_ = LOAD(b->z, at);                    \
        _Pragma("GCC unroll 8") for (int k = 0; k < ROWS; k++)                                     \
        {                                                                                          \
            dx[k] = xj_ - xi[k];                                                                   \
            dy[k] = yj_ - yi[k];                                                                   \
            dz[k] = zj_ - zi[k];                                                                   \
            r2[k] = ((dx[k] * dx[k] + softening2) + dy[k] * dy[k]) + dz[k] * dz[k];                \
            SEED(seed[k], r2[k]);                                                                  \
        }                                                                                          \
    } while (0)

// Turns dx, dy, dz of a row into the force on it.
#define ATTRACT(k, dx, dy, dz, r2, seed, mj)                                                       \
    do {                                                                                           \
        lanes y_ = WIDEN(seed), s_ = y_ * y_, h_ = 1.0 - (r2) * s_;                                \
        lanes f_ = ((y_ * s_) * ((1.875 * h_ + 1.5) * h_ + 1.0)) * ((mj) * mi[k]);                 \
        (dx) = (dx) * f_;                                                                          \
        (dy) = (dy) * f_;                                                                          \
        (dz) = (dz) * f_;                                                                          \
    } while (0)

static inline double tree(const double l[8])
{
    return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]));
}

void NEWTON_KERNEL(const foliot__newton_bodies *b, uint32_t block, foliot__v3 force)
{
    const lanes zero = {0}, softening2 = b->softening2 + zero;
    const uint32_t end = 8 * b->blocks;
    for (uint32_t i = 8 * block; i < 8 * block + 8; i += ROWS) {
        double sums[ROWS][3][8] __attribute__((aligned(64)));
        lanes xi[ROWS], yi[ROWS], zi[ROWS], mi[ROWS];
        for (int k = 0; k < ROWS; k++) {
            xi[k] = b->x[i + (uint32_t)k] + zero;
            yi[k] = b->y[i + (uint32_t)k] + zero;
            zi[k] = b->z[i + (uint32_t)k] + zero;
            mi[k] = b->mass[i + (uint32_t)k] + zero;
        }
        for (uint32_t part = 0; part < 8; part += WIDTH) {
            lanes dx[ROWS], dy[ROWS], dz[ROWS], r2[ROWS], ax[ROWS], ay[ROWS], az[ROWS];
            halves seed[ROWS];
            uint32_t j = 8 * block + part;
            lanes mj = LOAD(b->mass, j);
            APPROACH(j);
            // The own block: every pair is met from both sides, a body meets itself at distance 0.
            _Pragma("GCC unroll 8") for (int k = 0; k < ROWS; k++)
            {
                ax[k] = dx[k];
                ay[k] = dy[k];
                az[k] = dz[k];
                ATTRACT(k, ax[k], ay[k], az[k], r2[k], seed[k], mj);
            }
            j += 8;
            APPROACH(j);
            for (; j < end; j += 8) {
                lanes px[ROWS], py[ROWS], pz[ROWS], q2[ROWS];
                halves now[ROWS];
                _Pragma("GCC unroll 8") for (int k = 0; k < ROWS; k++)
                {
                    px[k] = dx[k];
                    py[k] = dy[k];
                    pz[k] = dz[k];
                    q2[k] = r2[k];
                    now[k] = seed[k];
                }
                APPROACH(j + 8);
                mj = LOAD(b->mass, j);
                lanes fx = LOAD(force.x, j), fy = LOAD(force.y, j), fz = LOAD(force.z, j);
                _Pragma("GCC unroll 8") for (int k = 0; k < ROWS; k++)
                {
                    ATTRACT(k, px[k], py[k], pz[k], q2[k], now[k], mj);
                    ax[k] += px[k];
                    ay[k] += py[k];
                    az[k] += pz[k];
                    fx -= px[k];
                    fy -= py[k];
                    fz -= pz[k];
                }
                STORE(force.x, j, fx);
                STORE(force.y, j, fy);
                STORE(force.z, j, fz);
            }
            for (int k = 0; k < ROWS; k++) {
                STORE(sums[k][0], part, ax[k]);
                STORE(sums[k][1], part, ay[k]);
                STORE(sums[k][2], part, az[k]);
            }
        }
        for (uint32_t k = 0; k < ROWS; k++) {
            force.x[i + k] += tree(sums[k][0]);
            force.y[i + k] += tree(sums[k][1]);
            force.z[i + k] += tree(sums[k][2]);
        }
    }
}
