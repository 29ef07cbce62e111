// SPDX-License-Identifier: MIT
// manifold_box.c: gathers pairs of boxes into columns, by the precision that they need.
#include "sim/collide/manifold_box.h"

#include "base/cpu.h"
#include "sim/collide/shape.h"

// In binary32 a gap is good to 2^-22 of the largest extent; this keeps it to 2^-17 of the smallest.
#define SIZE_RATIO_MAX 32

typedef struct batch_of_pairs {
    foliot__box_batch batch;
    foliot__manifold *out[FOLIOT__BOX_LANES];
    uint32_t count;
    foliot__box_kernel *kernel;
} batch_of_pairs;

static void gather_body(const foliot_world *world, uint32_t slot, uint32_t l,
                        double q[4][FOLIOT__BOX_LANES], double half[3][FOLIOT__BOX_LANES])
{
    q[0][l] = foliot__orientation_w(world)[slot];
    q[1][l] = foliot__orientation_x(world)[slot];
    q[2][l] = foliot__orientation_y(world)[slot];
    q[3][l] = foliot__orientation_z(world)[slot];
    half[0][l] = foliot__half_x(world)[slot];
    half[1][l] = foliot__half_y(world)[slot];
    half[2][l] = foliot__half_z(world)[slot];
}

static bool of_like_sizes(const foliot_world *world, uint32_t a, uint32_t b)
{
    const double half[6] = {foliot__half_x(world)[a], foliot__half_y(world)[a],
                            foliot__half_z(world)[a], foliot__half_x(world)[b],
                            foliot__half_y(world)[b], foliot__half_z(world)[b]};
    double low = half[0], high = half[0];
    for (int k = 1; k < 6; k++) {
        low = foliot__smaller(low, half[k]);
        high = foliot__larger(high, half[k]);
    }
    return high <= SIZE_RATIO_MAX * low;
}

static void gather_pair(const foliot_world *world, const float *speculative_distance,
                        batch_of_pairs *to, foliot__manifold *m)
{
    foliot__v3 x = foliot__position(world);
    uint32_t a = m->a, b = m->b, l = to->count++;
    foliot__box_batch *batch = &to->batch;
    gather_body(world, a, l, batch->q_a, batch->half_a);
    gather_body(world, b, l, batch->q_b, batch->half_b);
    batch->d[0][l] = x.x[b] - x.x[a];
    batch->d[1][l] = x.y[b] - x.y[a];
    batch->d[2][l] = x.z[b] - x.z[a];
    batch->distance_max[l] = (double)speculative_distance[a] + (double)speculative_distance[b];
    to->out[l] = m;
}

static void run_batch(const foliot_world *world, const float *speculative_distance,
                      batch_of_pairs *g)
{
    uint32_t count = g->count;
    if (count == 0)
        return;
    while (g->count < FOLIOT__BOX_LANES)
        gather_pair(world, speculative_distance, g, g->out[0]);
    g->kernel(&g->batch, count, g->out);
    g->count = 0;
}

void foliot__collide_boxes(const foliot_world *world, const foliot__body_pair *pairs,
                           const uint32_t *which, uint32_t count, const float *speculative_distance,
                           foliot__manifold *out)
{
    batch_of_pairs coarse, fine;
    (void)pairs;
    coarse.kernel = FOLIOT__KERNEL_OF_CPU(foliot__boxes);
    fine.kernel = FOLIOT__KERNEL_OF_CPU(foliot__boxes_fine);
    coarse.count = fine.count = 0;
    for (uint32_t k = 0; k < count; k++) {
        foliot__manifold *m = &out[which[k]];
        batch_of_pairs *to = of_like_sizes(world, m->a, m->b) ? &coarse : &fine;
        gather_pair(world, speculative_distance, to, m);
        if (to->count == FOLIOT__BOX_LANES)
            run_batch(world, speculative_distance, to);
    }
    run_batch(world, speculative_distance, &coarse);
    run_batch(world, speculative_distance, &fine);
}

void foliot__collide_box_pair(const double q_a[4], const double half_a[3], const double q_b[4],
                              const double half_b[3], const double d[3], double distance_max,
                              foliot__manifold *out)
{
    foliot__box_batch batch;
    foliot__manifold *to[FOLIOT__BOX_LANES] = {out};
    for (uint32_t l = 0; l < FOLIOT__BOX_LANES; l++) {
        for (int k = 0; k < 4; k++) {
            batch.q_a[k][l] = q_a[k];
            batch.q_b[k][l] = q_b[k];
        }
        for (int k = 0; k < 3; k++) {
            batch.half_a[k][l] = half_a[k];
            batch.half_b[k][l] = half_b[k];
            batch.d[k][l] = d[k];
        }
        batch.distance_max[l] = distance_max;
    }
    FOLIOT__KERNEL_OF_CPU(foliot__boxes_fine)(&batch, 1, to);
}
