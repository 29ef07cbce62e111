// SPDX-License-Identifier: MIT
// test_input_queue.c: inputs of one player that came by change and by tick. Goal: they act in the
// order in which two lists would be merged by hand: what came one way in its own order, of one tick
// changes first, nothing before its tick. Method: random inputs, against such a merge.
#include "check.h"

#include "../../server/lib/player.h"
#include "base/rng.h"

static foliot__queued_input by(foliot__input_way way, uint64_t tick, uint32_t number)
{
    return (foliot__queued_input){.tick = tick, .way = way, .input = {.sequence = number}};
}

// The changes that wait, in their order; and what came by tick for this one or before it.
typedef struct two_lists {
    foliot__queued_input changes[FOLIOT__CHANGES_HELD];
    foliot__queued_input ticks[FOLIOT__LATE_HELD + FOLIOT__INPUTS_A_TICK];
    uint32_t change_first, change_count, tick_count;
} two_lists;

static uint32_t merge(two_lists *l, uint64_t now, foliot__queued_input *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < l->tick_count || l->change_count > 0;) {
        foliot__queued_input *change = &l->changes[l->change_first];
        bool due = l->change_count > 0 && change->tick <= now;
        if (due && (i == l->tick_count || change->tick <= l->ticks[i].tick)) {
            out[count++] = *change;
            l->change_first = (l->change_first + 1) % FOLIOT__CHANGES_HELD;
            l->change_count--;
        } else if (i < l->tick_count) {
            out[count++] = l->ticks[i++];
        } else {
            break;
        }
    }
    l->tick_count = 0;
    return count;
}

static void add_changes(foliot__input_queue *queue, two_lists *l, foliot__rng *rng, uint64_t now,
                        uint32_t *number)
{
    for (uint32_t n = foliot__rng_below(rng, 4); n > 0; n--) {     // ticks of changes may go back
        uint32_t ahead = foliot__rng_below(rng, 64) == 0 ? 20 : 6; // one that waits keeps the rest
        foliot__queued_input change =
            by(FOLIOT__INPUT_BY_CHANGE, now - 5 + foliot__rng_below(rng, ahead), ++*number);
        bool fits = l->change_count < FOLIOT__CHANGES_HELD;
        assert_int_equal(foliot__input_queue_add(queue, &change), fits);
        if (fits)
            l->changes[(l->change_first + l->change_count++) % FOLIOT__CHANGES_HELD] = change;
    }
}

static void add_ticks(foliot__input_queue *queue, two_lists *l, foliot__rng *rng, uint64_t now,
                      uint32_t *number)
{
    uint64_t late = now - foliot__rng_below(rng, 6);
    for (uint64_t tick = late; tick <= now; tick++) {
        foliot__queued_input streamed = by(FOLIOT__INPUT_BY_TICK, tick, ++*number);
        assert_true(foliot__input_queue_add(queue, &streamed));
        l->ticks[l->tick_count++] = streamed;
    }
}

TEST(inputs_act_as_two_lists_merged_by_hand)
{
    static two_lists lists;
    static foliot__input_queue queue;
    static foliot__queued_input want[FOLIOT__INPUTS_QUEUED];
    foliot__rng rng = foliot__rng_seeded(5);
    uint32_t number = 0, acted = 0;
    for (uint64_t now = 10; now < 5000; now++) {
        bool first = foliot__rng_below(&rng, 2) == 0;
        if (first)
            add_changes(&queue, &lists, &rng, now, &number);
        add_ticks(&queue, &lists, &rng, now, &number);
        if (!first)
            add_changes(&queue, &lists, &rng, now, &number);
        uint32_t count = merge(&lists, now, want);
        foliot__queued_input got;
        for (uint32_t i = 0; i < count; i++) {
            assert_true(foliot__input_queue_pop(&queue, now, &got));
            assert_int_equal(got.input.sequence, want[i].input.sequence);
        }
        assert_false(foliot__input_queue_pop(&queue, now, &got));
        acted += count;
    }
    check_gt(acted, 10000);
}

// A peer that changes its role may send both ways: all of that may act in one tick.
TEST(each_way_has_its_own_limit)
{
    static foliot__input_queue queue;
    foliot__queued_input input, got;
    uint32_t count = 0;
    for (uint32_t i = 0; i < 2 * FOLIOT__INPUTS_QUEUED; i++) {
        input = by(i % 2 ? FOLIOT__INPUT_BY_TICK : FOLIOT__INPUT_BY_CHANGE, 7, i);
        count += foliot__input_queue_add(&queue, &input);
    }
    assert_int_equal(count, FOLIOT__INPUTS_QUEUED);
    foliot__input_queue_drop(&queue, FOLIOT__INPUT_BY_TICK);
    assert_int_equal(queue.count, FOLIOT__CHANGES_HELD);
    assert_false(foliot__input_queue_pop(&queue, 6, &got));
    for (uint32_t i = 0; i < FOLIOT__CHANGES_HELD; i++) {
        assert_true(foliot__input_queue_pop(&queue, 7, &got));
        assert_int_equal(got.input.sequence, 2 * i);
    }
    assert_int_equal(queue.count, 0);
}
