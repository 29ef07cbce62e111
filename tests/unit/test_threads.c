// SPDX-License-Identifier: MIT
// test_threads.c: threads inside one step. A heap of boxes, balls and capsules, thrown together,
// with bounces, with joints, asleep at last, or with too little room for its contacts, has the same
// digest at every tick with any number of threads, and where the host runs the tasks one after the
// other, backwards.
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "sim/state/parallel_for.h"
#include "task_pool.h"
#include "scene_builder.h"
#include "slots.h"

#define TICKS 300
#define BODIES 260

static double between(foliot__rng *rng, double low, double high)
{
    return low + (high - low) * foliot__rng_unit(rng);
}

// A heap of bodies, and what happens to it.
typedef struct lot {
    double restitution;
    bool joined;   // every sixth to the one before
    bool sleeps;   // nothing that rolls, then
    uint32_t room; // for contacts; 0: enough
} lot;

static foliot_world *open(scene_builder *y, uint32_t room)
{
    y->scene.bodies = y->bodies;
    y->scene.constraints = y->constraints;
    foliot_world_config config = foliot_world_config_default(&y->scene);
    config.contacts_max = room ? room : config.contacts_max;
    size_t bytes = (foliot_world_config_get_bytes(&config) + FOLIOT_WORLD_ALIGNMENT - 1) /
                   FOLIOT_WORLD_ALIGNMENT * FOLIOT_WORLD_ALIGNMENT;
    foliot_world *world = NULL;
    assert_int_equal(foliot_world_init(aligned_alloc(FOLIOT_WORLD_ALIGNMENT, bytes), bytes, &config,
                                       &y->scene, &world),
                     FOLIOT_STATUS_OK);
    return world; // which is where its block begins
}

static void shape_of(foliot_shape *shape, int k)
{
    if (k % 4 == 3) {
        shape->kind = FOLIOT_SHAPE_CAPSULE;
        shape->half[2] = 0.2;
    } else if (k % 4) {
        shape->kind = FOLIOT_SHAPE_BOX;
        shape->half[0] = 0.15, shape->half[1] = 0.2, shape->half[2] = 0.25;
    }
}

static foliot_world *heap(const lot *l)
{
    foliot__rng rng = foliot__rng_seeded(7);
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    y.scene.gravity[2] = -9.81;
    y.scene.sleep = l->sleeps;
    builder_add_plane(&y, 0, 0, 1, 0);
    for (int k = 0; k < BODIES; k++) {
        double px = between(&rng, -1.5, 1.5), py = between(&rng, -1.5, 1.5),
               pz = between(&rng, 0.3, 4);
        uint32_t i = builder_add_ball(&y, between(&rng, 0.5, 3), 0.2, px, py, pz);
        shape_of(&y.bodies[i].shape, l->sleeps ? 1 : k);
        if (!l->joined || k % 6 != 5)
            continue;
        const double *from = y.bodies[i - 1].position, at[3] = {from[0] + 0.5, from[1], from[2]};
        memcpy(y.bodies[i].position, at, sizeof at);
        uint32_t joint = builder_add_link(&y, FOLIOT_CONSTRAINT_BALL, i - 1, i, NULL);
        y.constraints[joint].anchor_a[0] = 0.25;
        y.constraints[joint].anchor_b[0] = -0.25;
    }
    builder_set_material(&y, 0.5, l->restitution);
    foliot_world *world = open(&y, l->room);
    builder_free(&y);
    return world;
}

static void backwards(void *user, uint32_t count, void (*task)(void *context, uint32_t index),
                      void *context)
{
    (void)user;
    for (uint32_t i = count; i-- > 0;)
        task(context, i);
}

static bool some_sleep(const foliot_world *world)
{
    for (uint32_t i = 0; i <= BODIES; i++)
        if (slot_state(world, i).flags & FOLIOT_BODY_ASLEEP)
            return true;
    return false;
}

static void agree(const foliot_host *host, const lot *l, uint32_t ticks)
{
    foliot_world *alone = heap(l), *many = heap(l);
    for (uint32_t t = 0; t < ticks; t++) {
        assert_int_equal(foliot_world_step(alone, NULL, 0, NULL), FOLIOT_STATUS_OK);
        assert_int_equal(foliot_world_step(many, NULL, 0, host), FOLIOT_STATUS_OK);
        assert_true(
            foliot_digest_equal(foliot_world_get_digest(alone), foliot_world_get_digest(many)));
    }
    check_eq((foliot_world_get_counters(many)->contacts_dropped > 0), (l->room > 0));
    assert_true(some_sleep(many) || !l->sleeps || ticks < TICKS);
    free(many);
    free(alone);
}

static const lot lots[] = {
    {.restitution = 0}, {.restitution = 0.4}, {.joined = true}, {.sleeps = true}, {.room = 500},
};

TEST(any_number_of_threads_gives_the_same_bits)
{
    enum { LOTS = sizeof lots / sizeof *lots };
    for (uint32_t threads = 1; threads <= 16; threads++) {
        task_pool *pool = task_pool_create(threads);
        foliot_host host = {
            .run = task_pool_run, .run_user = pool, .yield = task_pool_yield, .threads = threads};
        for (unsigned l = 0; l < LOTS; l++) {
            bool all = threads == 2 && (l == 0 || lots[l].sleeps);
            bool every = threads <= 4 || threads == 16; // the others have a lot each
            if (every || l == threads % LOTS)
                agree(&host, &lots[l], all ? TICKS : TICKS / 15);
        }
        task_pool_destroy(pool);
    }
}

TEST(tasks_one_after_the_other_give_the_same_bits)
{
    foliot_host host = {.run = backwards, .threads = 5};
    for (unsigned l = 0; l < sizeof lots / sizeof *lots; l++)
        agree(&host, &lots[l], TICKS / 10);
}

// -- parallel loops

#define LOOPS 400
#define CELLS 1000

typedef struct tally {
    uint32_t cells[CELLS];
    uint32_t loop;
} tally;

// Every cell counts the loops before it: a chunk that runs twice, early or never shows.
static void count_one(void *context, uint32_t begin, uint32_t end)
{
    tally *t = context;
    for (uint32_t i = begin; i < end; i++)
        t->cells[i] = t->cells[i] == t->loop ? t->loop + 1 : UINT32_MAX / 2;
}

static void count_all(foliot__workers *workers, void *context)
{
    tally *t = context;
    for (t->loop = 0; t->loop < LOOPS; t->loop++)
        foliot__parallel_run(workers, 0, CELLS, 1 + t->loop % 37, count_one, t);
}

TEST(every_chunk_runs_once_and_in_its_loop)
{
    for (uint32_t threads = 1; threads <= 6; threads++) {
        task_pool *pool = task_pool_create(threads);
        foliot_host host = {
            .run = task_pool_run, .run_user = pool, .yield = task_pool_yield, .threads = threads};
        for (int round = 0; round < 20; round++) {
            static tally t;
            t = (tally){.loop = 0};
            foliot__workers_run(&host, count_all, &t);
            for (uint32_t i = 0; i < CELLS; i++)
                assert_int_equal(t.cells[i], LOOPS);
        }
        task_pool_destroy(pool);
    }
}

#define STAGES 230 // more than a batch has room for

typedef struct mixing {
    uint32_t from[CELLS], to[CELLS];
    struct mixing *next; // has the same tables the other way round
    const uint32_t *in;
    uint32_t *out;
} mixing;

// Every cell depends on two of the loop before, one of them far away.
static void mix(void *context, uint32_t begin, uint32_t end)
{
    const mixing *m = context;
    for (uint32_t i = begin; i < end; i++)
        m->out[i] = m->in[i] * 3 + m->in[(i + CELLS / 2 + 1) % CELLS] + i;
}

static void mix_all(foliot__workers *workers, void *context)
{
    mixing *m = context;
    for (uint32_t stage = 0; stage < STAGES; stage++, m = m->next)
        foliot__parallel_enqueue(workers, 0, CELLS, 1 + stage % 37, mix, m);
    foliot__parallel_wait(workers);
}

static void mixed(uint32_t threads, mixing *m)
{
    static mixing back;
    task_pool *pool = task_pool_create(threads);
    foliot_host host = {
        .run = task_pool_run, .run_user = pool, .yield = task_pool_yield, .threads = threads};
    *m = (mixing){.from = {1}, .next = &back, .in = m->from, .out = m->to};
    back = (mixing){.next = m, .in = m->to, .out = m->from};
    foliot__workers_run(&host, mix_all, m);
    task_pool_destroy(pool);
}

TEST(no_loop_of_a_batch_begins_before_the_last_one_is_done)
{
    static mixing alone, shared;
    mixed(1, &alone);
    for (uint32_t threads = 2; threads <= 6; threads++)
        for (int round = 0; round < 20; round++) {
            mixed(threads, &shared);
            assert_memory_equal(shared.from, alone.from, sizeof alone.from);
            assert_memory_equal(shared.to, alone.to, sizeof alone.to);
        }
}
