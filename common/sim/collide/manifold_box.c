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

static void set_body(uint32_t l, quat q, vec3 half, double to_q[4][FOLIOT__BOX_LANES],
                     double to_half[3][FOLIOT__BOX_LANES])
{
    to_q[0][l] = q.w;
    to_q[1][l] = q.x;
    to_q[2][l] = q.y;
    to_q[3][l] = q.z;
    to_half[0][l] = half.x;
    to_half[1][l] = half.y;
    to_half[2][l] = half.z;
}

static void set_offset(uint32_t l, vec3 d, double distance_max, foliot__box_batch *batch)
{
    batch->d[0][l] = d.x;
    batch->d[1][l] = d.y;
    batch->d[2][l] = d.z;
    batch->distance_max[l] = distance_max;
}

static vec3 half_of(const foliot_world *world, uint32_t slot)
{
    return (vec3){foliot__half_x(world)[slot], foliot__half_y(world)[slot],
                  foliot__half_z(world)[slot]};
}

static bool of_like_sizes(const foliot_world *world, uint32_t a, uint32_t b)
{
    vec3 ha = half_of(world, a), hb = half_of(world, b);
    double low = foliot__smaller(foliot__smaller(ha.x, ha.y), ha.z);
    double high = foliot__larger(foliot__larger(ha.x, ha.y), ha.z);
    low = foliot__smaller(foliot__smaller(foliot__smaller(low, hb.x), hb.y), hb.z);
    high = foliot__larger(foliot__larger(foliot__larger(high, hb.x), hb.y), hb.z);
    return high <= SIZE_RATIO_MAX * low;
}

static void gather_pair(const foliot_world *world, const float *speculative_distance,
                        batch_of_pairs *to, foliot__manifold *m)
{
    foliot__v3 x = foliot__position(world);
    uint32_t a = m->a, b = m->b, l = to->count++;
    foliot__box_batch *batch = &to->batch;
    set_body(l, foliot__quat_get(world, a), half_of(world, a), batch->q_a, batch->half_a);
    set_body(l, foliot__quat_get(world, b), half_of(world, b), batch->q_b, batch->half_b);
    set_offset(l, vec3_sub(foliot__v3_get(x, b), foliot__v3_get(x, a)),
               (double)speculative_distance[a] + (double)speculative_distance[b], batch);
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

void foliot__collide_boxes(const foliot_world *world, const uint32_t *which, uint32_t count,
                           const float *speculative_distance, foliot__manifold *out)
{
    batch_of_pairs coarse, fine;
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

void foliot__collide_box_pair(quat q_a, const double half_a[3], quat q_b, const double half_b[3],
                              vec3 d, double distance_max, foliot__manifold *out)
{
    foliot__box_batch batch;
    foliot__manifold *to[FOLIOT__BOX_LANES] = {out};
    for (uint32_t l = 0; l < FOLIOT__BOX_LANES; l++) {
        set_body(l, q_a, vec3_of(half_a), batch.q_a, batch.half_a);
        set_body(l, q_b, vec3_of(half_b), batch.q_b, batch.half_b);
        set_offset(l, d, distance_max, &batch);
    }
    FOLIOT__KERNEL_OF_CPU(foliot__boxes_fine)(&batch, 1, to);
}
