// SPDX-License-Identifier: MIT
// test_filter.c: which bodies let each other through: by category, mask and group, in contacts, in
// impacts of fast bodies, against planes, when sleepers wake, and in queries.
#include "text_world.h"

#include <stdio.h>

#define HEAD "foliot: 1\nname: t\ntick_hz: 60\ngravity: [0, 0, -9.81]\n"
#define BALL "shape: {kind: sphere, radius: 0.2}"
#define SLAB "shape: {kind: box, half: [2, 2, 0.1]}"

// A ball above a slab: whether it has come to rest on it.
static bool rests(const char *of_slab, const char *of_ball)
{
    char text[512];
    snprintf(text, sizeof text,
             HEAD "bodies:\n"
                  "  - {static: true, position: [0, 0, -9], " SLAB "}\n"
                  "  - {static: true, " SLAB ", filter: {%s}}\n"
                  "  - {position: [0, 0, 0.4], " BALL ", filter: {%s}}\n",
             of_slab, of_ball);
    foliot_world *world = text_world(text);
    step_ticks(world, 60);
    bool on_top = state_of(world, 2).position[2] > 0;
    foliot_world_destroy(world);
    return on_top;
}

TEST(both_masks_must_admit_the_other)
{
    assert_true(rests("", ""));
    assert_true(rests("category: 2", "category: 4"));
    assert_true(rests("category: 2, mask: 4", "category: 4, mask: 2"));
    assert_true(rests("category: 6, mask: 12", "category: 8, mask: 2"));
    assert_false(rests("category: 2, mask: 4", "category: 1, mask: 2"));
    assert_false(rests("category: 2, mask: 1", "category: 1, mask: 4"));
    assert_false(rests("mask: 0", ""));
    assert_false(rests("category: 0x80000000", "mask: 0x7fffffff"));
}

TEST(a_group_decides_before_the_masks)
{
    assert_true(rests("mask: 0, group: 3", "mask: 0, group: 3"));
    assert_false(rests("group: -3", "group: -3"));
    assert_true(rests("group: -3", "group: -4"));
    assert_true(rests("group: 3", "group: -3"));
    assert_false(rests("mask: 0, group: 3", "group: 4"));
    assert_false(rests("group: -2147483648", "group: -2147483648"));
}

// Sixteen balls on one place above a floor, of which pairs of one parity meet.
TEST(pairs_of_dynamic_bodies_and_planes_are_filtered)
{
    foliot_world *world =
        text_world(HEAD "bodies:\n"
                        "  - {static: true, shape: {kind: plane}, filter: {category: 1, mask: 1}}\n"
                        "  - {position: [0, 0, 0.2], " BALL "}\n"
                        "  - {position: [0, 0, 0.2], " BALL ", filter: {category: 3, mask: 1}}\n"
                        "  - {position: [5, 0, 0.2], " BALL ", filter: {category: 2, mask: 2}}\n"
                        "  - {position: [9, 0, 0.2], " BALL ", filter: {category: 3, mask: 1}}\n"
                        "  - {position: [9, 0, 0.7], " BALL ", filter: {category: 2, mask: 2}}\n");
    step_ticks(world, 60);
    check_near(state_of(world, 3).position[2], 0.2 - 9.81 / 2, 0.1); // through the floor
    check_near(state_of(world, 4).position[2], 0.2, 0.01);           // on it
    check_near(state_of(world, 5).position[2], 0.7 - 9.81 / 2, 0.1); // through both
    foliot_world_destroy(world);
}

// Whether a bullet at 600 m/s is stopped by a thin wall.
static bool stopped(const char *of_bullet)
{
    char text[512];
    snprintf(text, sizeof text,
             "foliot: 1\nname: t\ntick_hz: 60\nbodies:\n"
             "  - {static: true, shape: {kind: box, half: [0.01, 2, 2]}, filter: {category: 2}}\n"
             "  - {position: [-5, 0, 0], velocity: [600, 0, 0], " BALL ", filter: {%s}}\n",
             of_bullet);
    foliot_world *world = text_world(text);
    uint32_t hits = 0, count;
    for (int t = 0; t < 4; t++) {
        step_ticks(world, 1);
        foliot_world_get_hit_events(world, &count);
        hits += count;
    }
    bool before = state_of(world, 1).position[0] < 0;
    assert_int_equal(before, hits > 0);
    foliot_world_destroy(world);
    return before;
}

TEST(impacts_are_filtered_too)
{
    assert_true(stopped(""));
    assert_true(stopped("mask: 2"));
    assert_false(stopped("mask: 1"));
}

// A ball that bounces off a wall finds what it may meet on its new path: the near pair only.
TEST(new_paths_after_an_impact_are_filtered)
{
    foliot_world *world = text_world(
        "foliot: 1\nname: t\ntick_hz: 60\nbodies:\n"
        "  - {static: true, position: [2, 0, 0], shape: {kind: box, half: [0.1, 2, 2]}}\n"
        "  - {position: [1, 0, 0], velocity: [240, 0, 0], restitution: 1, friction: 0, " BALL "}\n"
        "  - {static: true, position: [0, 0, 0], shape: {kind: box, half: [0.1, 2, 2]},\n"
        "     filter: {category: 2, mask: 2}}\n");
    step_ticks(world, 1);
    check_near(state_of(world, 1).velocity[0], -240, 1e-6);
    check_near(state_of(world, 1).position[0], 1.7 - (4 - 0.7), 1e-3);
    foliot_world_destroy(world);
}

TEST(what_passes_through_a_sleeper_does_not_wake_it)
{
    foliot_world *world =
        text_world(HEAD "sleep: true\nbodies:\n"
                        "  - {static: true, shape: {kind: plane}, filter: {category: 3}}\n"
                        "  - {position: [0, 0, 0.2], " BALL ", filter: {category: 1, mask: 1}}\n"
                        "  - {position: [0, 0, 30], " BALL ", filter: {category: 2, mask: 2}}\n");
    for (int t = 0; t < 240; t++) {
        step_ticks(world, 1);
        bool asleep = state_of(world, 1).flags & FOLIOT_BODY_ASLEEP;
        assert_true(t < 60 || asleep);
    }
    assert_true(state_of(world, 2).position[2] < 0.25); // it came down to where the sleeper is
    foliot_world_destroy(world);
}

static bool odd(void *user, uint32_t slot)
{
    ++*(uint32_t *)user;
    return slot % 2;
}

static uint32_t overlapping(const foliot_world *world, const foliot_query_filter *filter)
{
    static const double place[3], upright[4] = {1, 0, 0, 0};
    static const foliot_shape all = {.kind = FOLIOT_SHAPE_SPHERE, .radius = 5};
    return foliot_world_overlap_shape(world, &all, place, upright, filter, NULL, 0);
}

TEST(queries_ask_by_category_and_mask)
{
    foliot_world *world = text_world(HEAD "bodies:\n"
                                          "  - {" BALL "}\n"
                                          "  - {" BALL ", filter: {category: 2}}\n"
                                          "  - {" BALL ", filter: {category: 6, mask: 1}}\n"
                                          "  - {" BALL ", sensor: true, filter: {category: 2}}\n");
    foliot_query_filter filter = {.mask = 0};
    assert_int_equal(overlapping(world, NULL), 3);
    assert_int_equal(overlapping(world, &filter), 3);
    filter.sensors = true;
    assert_int_equal(overlapping(world, &filter), 4);
    filter.mask = 2;
    assert_int_equal(overlapping(world, &filter), 3);
    filter.sensors = false;
    assert_int_equal(overlapping(world, &filter), 2);
    filter.category = 2; // which the third does not admit
    assert_int_equal(overlapping(world, &filter), 1);
    filter.category = 1;
    assert_int_equal(overlapping(world, &filter), 2);
    uint32_t asked = 0;
    filter.accepts = odd;
    filter.user = &asked;
    assert_int_equal(overlapping(world, &filter), 1);
    assert_int_equal(asked, 2); // of those that the masks admit
    foliot_query_hit hit;
    static const double from[3] = {-9, 0, 0}, direction[3] = {1, 0, 0};
    filter = (foliot_query_filter){.mask = 4};
    assert_true(foliot_world_cast_ray(world, from, direction, 20, &filter, &hit));
    assert_int_equal(hit.body, 2);
    filter.mask = 8;
    assert_false(foliot_world_cast_ray(world, from, direction, 20, &filter, &hit));
    foliot_world_destroy(world);
}

// Bodies of a world without filters have category 1.
TEST(queries_of_plain_worlds_have_the_defaults)
{
    foliot_world *world = text_world(HEAD "bodies: [{" BALL "}]\n");
    foliot_query_filter filter = {.mask = 1, .category = 8};
    assert_int_equal(overlapping(world, &filter), 1);
    filter.mask = 2;
    assert_int_equal(overlapping(world, &filter), 0);
    foliot_world_destroy(world);
}
