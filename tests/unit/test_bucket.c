// SPDX-License-Identifier: MIT
// test_bucket.c: a token bucket lets a burst through at once, then exactly its rate, at every time
// that a clock may show.
#include "check.h"

#include "base/bucket.h"

#define BURST 4
#define EVERY_NS 1e9

static uint32_t spent_at(foliot__bucket *b, uint64_t now_ns)
{
    uint32_t count = 0;
    while (count < 100 && foliot__bucket_spend(b, BURST, EVERY_NS, now_ns))
        count++;
    return count;
}

static void a_burst_and_then_the_rate(void **state)
{
    (void)state;
    foliot__bucket b = {0};
    assert_int_equal(spent_at(&b, 5000000000), BURST);
    assert_int_equal(spent_at(&b, 5999999999), 0);
    assert_int_equal(spent_at(&b, 6000000000), 1);
    assert_int_equal(spent_at(&b, 8500000000), 2);
    assert_int_equal(spent_at(&b, 9000000000), 1); // half a token was left
    assert_int_equal(spent_at(&b, 1000000000000), BURST);
}

static void clocks_at_zero_and_backwards(void **state)
{
    (void)state;
    foliot__bucket b = {0};
    assert_int_equal(spent_at(&b, 0), BURST);
    assert_int_equal(spent_at(&b, 0), 0); // full once, not at every look
    assert_int_equal(spent_at(&b, 2000000001), 2);
    assert_int_equal(spent_at(&b, 1000000000), 0); // another thread's clock
    assert_int_equal(spent_at(&b, 2000000000), 0);
    assert_int_equal(spent_at(&b, 3000000001), 1);
}

static void fractions_add_up(void **state)
{
    (void)state;
    foliot__bucket b = {0};
    uint32_t count = 0;
    for (uint64_t ms = 1; ms <= 10000; ms++) // 3 a second for 10 seconds
        count += foliot__bucket_spend(&b, BURST, 1e9 / 3, ms * 1000000);
    assert_in_range(count, BURST + 29, BURST + 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_burst_and_then_the_rate),
        cmocka_unit_test(clocks_at_zero_and_backwards),
        cmocka_unit_test(fractions_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
