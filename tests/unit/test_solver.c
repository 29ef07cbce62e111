// SPDX-License-Identifier: MIT
// test_solver.c: the solver's kernel. Random blocks of contacts give the same bits with every
// vector width, and what four contacts of a block do together is what each does alone.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/rng.h"
#include "sim/collide/solver_kernel.h"

#define BLOCKS 50
#define MOVERS 40

typedef struct pool {
    foliot__block blocks[BLOCKS];
    foliot__mover movers[MOVERS + 1];
} pool;

static double between(foliot__rng *rng, double low, double high)
{
    return low + (high - low) * foliot__rng_unit(rng);
}

static void fill(pool *p, foliot__rng *rng)
{
    memset(p, 0, sizeof *p);
    for (int i = 0; i < MOVERS; i++) {
        foliot__mover *m = &p->movers[i];
        for (int k = 0; k < 3; k++) {
            m->v[k] = between(rng, -3, 3);
            m->w[k] = between(rng, -9, 9);
        }
        m->inverse_mass = between(rng, 0.1, 3);
        m->inverse_inertia = between(rng, 1, 30);
    }
    for (int n = 0; n < BLOCKS; n++) {
        foliot__block *b = &p->blocks[n];
        uint32_t first = foliot__rng_below(rng, MOVERS);
        for (uint32_t l = 0; l < FOLIOT__BLOCK; l++) {
            bool used = foliot__rng_below(rng, 5) > 0;
            b->a[l] = used ? (first + l) % MOVERS : MOVERS; // eight different bodies
            b->b[l] = used ? (first + l + 7) % MOVERS : MOVERS;
            if (!used)
                continue;
            double n0 = between(rng, -1, 1), n1 = between(rng, -1, 1), n2 = between(rng, 0.2, 1);
            double length = foliot__sqrt(n0 * n0 + n1 * n1 + n2 * n2);
            b->normal[0][l] = n0 / length;
            b->normal[1][l] = n1 / length;
            b->normal[2][l] = n2 / length;
            const foliot__mover *ma = &p->movers[b->a[l]], *mb = &p->movers[b->b[l]];
            b->arm_a[l] = between(rng, 0.1, 0.5);
            b->arm_b[l] = between(rng, 0.1, 0.5);
            b->inverse_mass_a[l] = ma->inverse_mass;
            b->inverse_mass_b[l] = mb->inverse_mass;
            b->ease_a[l] = b->arm_a[l] * ma->inverse_inertia;
            b->ease_b[l] = b->arm_b[l] * mb->inverse_inertia;
            double ease = ma->inverse_mass + mb->inverse_mass;
            b->mass[l] = 1 / ease;
            b->mass_tangent[l] =
                1 / (ease + b->arm_a[l] * b->ease_a[l] + b->arm_b[l] * b->ease_b[l]);
            b->friction[l] = between(rng, 0, 1);
            b->target[l] = between(rng, -1, 1);
            b->gap[l] = between(rng, -0.02, 0.01);
            b->slop[l] = 1e-4;
            b->way_max[l] = 0.003;
        }
    }
}

static void run(const foliot__solver_kernel *kernel, pool *p)
{
    for (int sweep = 0; sweep < 5; sweep++)
        kernel->visit(p->blocks, BLOCKS, p->movers);
    for (int sweep = 0; sweep < 3; sweep++)
        kernel->push_out(p->blocks, BLOCKS, p->movers, 0.25);
}

static foliot__rng seeded(void)
{
    const char *text = getenv("SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : 11;
    printf("SEED=%llu\n", (unsigned long long)seed);
    return foliot__rng_seeded(seed);
}

static void every_vector_width_gives_the_same_bits(void **state)
{
    (void)state;
#if defined(__x86_64__)
    if (foliot__cpu_simd() == FOLIOT__SIMD_BASE)
        skip();
    foliot__rng rng = seeded();
    static pool base, wide;
    for (int round = 0; round < 20; round++) {
        fill(&base, &rng);
        wide = base;
        run(&foliot__solver_base, &base);
        run(&foliot__solver_avx2, &wide);
        assert_memory_equal(&base, &wide, sizeof base);
    }
#else
    skip();
#endif
}

// The same contacts in blocks of one: column l of a block becomes a block with that column alone.
static void contacts_of_a_block_do_not_see_each_other(void **state)
{
    (void)state;
    foliot__rng rng = seeded();
    static pool together, alone;
    fill(&together, &rng);
    alone = together;
    foliot__solver_base.visit(together.blocks, BLOCKS, together.movers);
    for (int n = 0; n < BLOCKS; n++)
        for (uint32_t l = 0; l < FOLIOT__BLOCK; l++) {
            foliot__block one = alone.blocks[n];
            for (uint32_t other = 0; other < FOLIOT__BLOCK; other++)
                if (other != l)
                    one.a[other] = one.b[other] = MOVERS;
            foliot__solver_base.visit(&one, 1, alone.movers);
            memset(&alone.movers[MOVERS], 0, sizeof alone.movers[MOVERS]);
            check_bits(one.push[l], together.blocks[n].push[l]);
        }
    assert_memory_equal(together.movers, alone.movers, sizeof together.movers[0] * MOVERS);
}

// A contact ends as it should: apart at the speed asked for, or not pushed; drag within the cone.
static void a_visit_meets_its_demand(void **state)
{
    (void)state;
    foliot__rng rng = seeded();
    static pool p;
    fill(&p, &rng);
    int pushed = 0, sliding = 0;
    for (int n = 0; n < BLOCKS; n++) {
        foliot__block *b = &p.blocks[n];
        foliot__solver_base.visit(b, 1, p.movers);
        for (uint32_t l = 0; l < FOLIOT__BLOCK; l++) {
            if (b->a[l] == MOVERS)
                continue;
            const double *va = p.movers[b->a[l]].v, *vb = p.movers[b->b[l]].v;
            double apart = 0, drag2 = 0;
            for (int k = 0; k < 3; k++) {
                apart += (vb[k] - va[k]) * b->normal[k][l];
                drag2 += b->drag[k][l] * b->drag[k][l];
            }
            double limit = b->friction[l] * b->push[l];
            assert_true(b->push[l] >= 0);
            check_below(drag2, limit * limit * (1 + 1e-12) + 1e-300);
            sliding += b->push[l] > 0 && drag2 > limit * limit * (1 - 1e-9);
            if (b->push[l] > 0) {
                check_near(apart, b->target[l], 1e-12);
                pushed++;
            } else {
                check_below(b->target[l], apart + 1e-12);
            }
        }
    }
    assert_true(pushed > 20 && sliding > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_vector_width_gives_the_same_bits),
        cmocka_unit_test(contacts_of_a_block_do_not_see_each_other),
        cmocka_unit_test(a_visit_meets_its_demand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
