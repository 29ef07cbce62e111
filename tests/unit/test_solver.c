// SPDX-License-Identifier: MIT
// test_solver.c: the solver's kernel, on the manifolds of a heap of balls and boxes under way. It
// gives the same bits with every vector width, and what eight pairs of a block do together is what
// each does alone; pushes never pull, and friction stays within its cone.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/rng.h"
#include "sim/solver/solver.h"
#include "sim/solver/solver_kernel.h"
#include "scene_builder.h"

static const foliot_host no_host;

typedef struct heap {
    scene_builder y;
    foliot_world *world;
    foliot__step step;
    foliot__solver s;
} heap;

static double between(foliot__rng *rng, double low, double high)
{
    return low + (high - low) * foliot__rng_unit(rng);
}

// Thrown together, and solved for some ticks, so that its table holds blocks that push.
static void make(heap *h, uint64_t seed)
{
    foliot__rng rng = foliot__rng_seeded(seed);
    h->y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    h->y.scene.gravity[2] = -9.81;
    builder_add_plane(&h->y, 0, 0, 1, 0);
    for (int k = 0; k < 60; k++) {
        double px = between(&rng, -0.8, 0.8), py = between(&rng, -0.8, 0.8);
        double pz = between(&rng, 0.3, 1.5);
        uint32_t i = builder_add_ball(&h->y, between(&rng, 0.5, 3), 0.2, px, py, pz);
        if (k % 2) {
            foliot_shape *shape = &h->y.bodies[i].shape;
            shape->kind = FOLIOT_SHAPE_BOX;
            shape->half[0] = 0.15, shape->half[1] = 0.2, shape->half[2] = 0.25;
        }
    }
    // Last, so that it is the second body of its pairs.
    h->y.bodies[builder_add_ball(&h->y, 1, 0.3, 0, 0, 0.1)].is_static = true;
    foliot_body_definition *stirrer = &h->y.bodies[builder_add_ball(&h->y, 1, 0.3, 0.4, 0, 0.2)];
    stirrer->is_kinematic = true;
    stirrer->velocity[1] = 0.5;
    stirrer->angular_velocity[2] = 3;
    builder_set_material(&h->y, 0.5, 0);
    h->world = builder_create_world(&h->y);
    run_ticks(h->world, 30);
    h->step = (foliot__step){.world = h->world,
                             .host = &no_host,
                             .dt = 1.0 / 240,
                             .count = foliot_world_get_body_count(h->world)};
    h->s = foliot__solver_of(&h->step);
    check_gt(h->s.counts->live, 60);
    bool still = false, swapped = false, followed = false, carried = false;
    for (uint32_t k = 0; k < h->s.counts->blocks; k++) {
        still |= h->s.blocks[k].side == FOLIOT__SIDE_STILL && !h->s.blocks[k].swapped;
        carried |= h->s.blocks[k].side == FOLIOT__SIDE_CARRIES;
        swapped |= h->s.blocks[k].swapped;
        followed |= h->s.blocks[k].followed;
    }
    assert_true(still);
    assert_true(carried);
    assert_true(swapped);
    assert_true(followed);
}

static void drop(heap *h)
{
    foliot_world_destroy(h->world);
    builder_free(&h->y);
}

static const foliot__phase phases[2] = {
    {.h = 1.0f / 240,
     .per_h = 240,
     .soft = true,
     .moving = {9, 0.9f, 0.1f},
     .still = {18, 0.95f, 0.05f}},
    {.h = 1.0f / 240, .per_h = 240, .moving = {9, 0.9f, 0.1f}, .still = {18, 0.95f, 0.05f}},
};

static void run(foliot__solver *s, const foliot__solver_kernel *kernel)
{
    uint32_t blocks = s->counts->blocks;
    foliot__iteration iterations[2] = {{s, phases[0]}, {s, phases[1]}};
    kernel->prepare(s, 0, blocks);
    kernel->warm(s, 0, blocks);
    for (int k = 0; k < 6; k++)
        kernel->iterate(&iterations[k % 2], 0, blocks);
    kernel->store_impulses(s, 0, blocks);
}

static uint32_t arena_used(const foliot__solver *s)
{
    const foliot__solver_block *last = &s->blocks[s->counts->blocks - 1];
    return last->at + foliot__block_words(last->points, last->columns);
}

#if defined(__x86_64__)
static void same_bits_from(const foliot__solver_kernel *kernel)
{
    heap one, other;
    make(&one, 1);
    make(&other, 1);
    run(&one.s, &foliot__solver_base);
    run(&other.s, kernel);
    assert_memory_equal(one.s.bodies, other.s.bodies, one.step.count * sizeof *one.s.bodies);
    assert_memory_equal(one.s.arena, other.s.arena, 4 * arena_used(&one.s));
    for (uint32_t n = 0; n < one.s.counts->live; n++) {
        uint32_t k = one.s.live[n];
        assert_memory_equal(&one.s.warm[k], &other.s.warm[k], sizeof one.s.warm[k]);
    }
    drop(&one);
    drop(&other);
}
#endif

TEST(every_vector_width_gives_the_same_bits)
{
#if defined(__x86_64__)
    if (foliot__cpu_simd() == FOLIOT__SIMD_BASE)
        skip();
    same_bits_from(&foliot__solver_avx2);
    if (foliot__cpu_simd() == FOLIOT__SIMD_AVX512)
        same_bits_from(&foliot__solver_avx512);
#else
    skip();
#endif
}

// Every pair of every block in a block of one column, in the same order.
static void take_apart(foliot__solver *s)
{
    uint32_t live = s->counts->live, count = 0, at = 0;
    foliot__solver_block *blocks = calloc(live, sizeof *blocks);
    uint32_t *arena = calloc(live, 4 * foliot__block_words(FOLIOT__POINTS, 1));
    foliot__solver apart = *s;
    apart.blocks = blocks;
    apart.arena = arena;
    for (uint32_t k = 0; k < s->counts->blocks; k++) {
        const foliot__solver_block *block = &s->blocks[k];
        for (uint32_t l = 0; l < block->columns; l++) {
            uint32_t manifold = foliot__block_names(s, block)[l];
            if (manifold == FOLIOT__NOTHING)
                continue;
            blocks[count] = *block;
            blocks[count].at = at;
            blocks[count].columns = 1;
            blocks[count].followed = false;
            at += foliot__block_words(block->points, 1);
            foliot__block_names(&apart, &blocks[count++])[0] = manifold;
        }
    }
    assert_int_equal(count, live);
    s->counts->blocks = count;
    s->blocks = blocks;
    s->arena = arena;
}

TEST(pairs_of_a_block_do_not_see_each_other)
{
    heap together, apart;
    make(&together, 2);
    make(&apart, 2);
    take_apart(&apart.s);
    run(&together.s, foliot__solver_of_cpu());
    run(&apart.s, foliot__solver_of_cpu());
    assert_memory_equal(together.s.bodies, apart.s.bodies,
                        together.step.count * sizeof *together.s.bodies);
    for (uint32_t n = 0; n < apart.s.counts->live; n++) {
        uint32_t k = apart.s.live[n];
        assert_memory_equal(&together.s.warm[k], &apart.s.warm[k], sizeof apart.s.warm[k]);
    }
    free(apart.s.blocks);
    free(apart.s.arena);
    drop(&together);
    drop(&apart);
}

TEST(pushes_do_not_pull_and_friction_has_its_limit)
{
    heap h;
    make(&h, 3);
    run(&h.s, foliot__solver_of_cpu());
    uint32_t pushing = 0, sliding = 0;
    for (uint32_t n = 0; n < h.s.counts->live; n++) {
        const float *p = h.s.warm[h.s.live[n]].impulse;
        double pushed = 0, drag2 = 0;
        for (int k = 0; k < 4; k++) {
            check_ge(p[k], 0);
            pushed += (double)p[k];
        }
        for (int k = 4; k < 7; k++)
            drag2 += (double)p[k] * (double)p[k];
        check_below(drag2, 0.25 * pushed * pushed * (1 + 1e-5) + 1e-20);
        pushing += pushed > 0;
        sliding += pushed > 0 && drag2 > 0.25 * pushed * pushed * (1 - 1e-5);
    }
    check_gt(pushing, 40);
    check_gt(sliding, 3);
    drop(&h);
}
