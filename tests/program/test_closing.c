// SPDX-License-Identifier: MIT
// Goal: what is closed in two parts has all first parts behind it before a second one begins, also
// those that come while others are compacted; and nothing is lost. Method: items whose parts count
// and look at each other, on libuv's real pool.
#include "check.h"

#include <stdatomic.h>

#include "../../server/program/session/closing.h"

#define ITEMS 40
#define WAIT_MS 20000 // a machine may be busy

static struct {
    uv_loop_t loop;
    foliot__closings closings;
    atomic_uint ended, compacting, early, beside;
    atomic_bool go; // the second parts may go on
    unsigned added, closed, wanted;
    int closes[ITEMS];
    int items[ITEMS];
} test;

static void wait_until_go(void)
{
    for (int i = 0; i < WAIT_MS && !atomic_load(&test.go); i++)
        uv_sleep(1);
}

static void end(void *item)
{
    uv_sleep(*(int *)item % 3);
    atomic_fetch_add(&test.ended, 1);
}

static void compact(void *item)
{
    (void)item;
    atomic_fetch_add(&test.early, atomic_load(&test.ended) < test.wanted);
    atomic_fetch_add(&test.beside, atomic_fetch_add(&test.compacting, 1) > 0);
    wait_until_go();
    atomic_fetch_sub(&test.compacting, 1);
}

static void closed(void *item)
{
    test.closes[*(int *)item]++;
    test.closed++;
}

static void begin(void)
{
    uv_loop_init(&test.loop);
    test.closings =
        (foliot__closings){.loop = &test.loop, .end = end, .compact = compact, .closed = closed};
    atomic_store(&test.ended, 0);
    atomic_store(&test.early, 0);
    atomic_store(&test.beside, 0);
    atomic_store(&test.go, false);
    test.added = test.closed = 0;
    for (int i = 0; i < ITEMS; i++) {
        test.items[i] = i;
        test.closes[i] = 0;
    }
}

static void add(unsigned count)
{
    for (unsigned i = 0; i < count; i++, test.added++)
        assert_true(foliot__closings_add(&test.closings, &test.items[test.added]));
}

static void finish(void)
{
    uv_run(&test.loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&test.loop), 0);
    assert_int_equal(test.closed, ITEMS);
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(test.closes[i], 1);
    assert_int_equal(atomic_load(&test.beside), 0);
}

TEST(all_ends_go_before_the_first_compaction)
{
    begin();
    test.wanted = ITEMS;
    atomic_store(&test.go, true);
    add(ITEMS);
    finish();
    assert_int_equal(atomic_load(&test.early), 0);
}

TEST(ends_that_come_in_a_compaction_go_before_the_next)
{
    begin();
    test.wanted = 1;
    add(1);
    for (int i = 0; i < WAIT_MS && atomic_load(&test.compacting) == 0; i++) {
        uv_run(&test.loop, UV_RUN_NOWAIT);
        uv_sleep(1);
    }
    assert_int_equal(atomic_load(&test.compacting), 1);
    test.wanted = ITEMS;
    add(ITEMS - 1);
    for (int i = 0; i < WAIT_MS && atomic_load(&test.ended) < ITEMS; i++)
        uv_sleep(1);
    assert_int_equal(atomic_load(&test.ended), ITEMS); // though the first compaction goes on
    atomic_store(&test.go, true);
    finish();
    assert_int_equal(atomic_load(&test.early), 0);
}
