// SPDX-License-Identifier: MIT
// Goal: a body that falls asleep keeps its potential energy in foliot_world_get_invariants. Method:
// boxes at rest in every field that has a potential; between the last tick awake and the first
// asleep the sum may change only by what friction takes.
#include "check.h"

#include <math.h>

#include "foliot/world.h"
#include "scene_builder.h"

static uint32_t count_sleepers(const foliot_world *world)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < foliot_world_get_body_count(world); i++)
        count += (foliot_world_get_body_state(world, i).flags & FOLIOT_BODY_ASLEEP) != 0;
    return count;
}

// Steps until `count` bodies sleep, and compares the energy before and after.
static void falls_asleep_without_a_jump(scene_builder *y, uint32_t count)
{
    foliot_world *world = builder_create_world(y);
    foliot_invariants before = foliot_world_get_invariants(world, NULL), now = before;
    for (int tick = 0; tick < 300 && count_sleepers(world) < count; tick++) {
        before = now;
        run_ticks(world, 1);
        now = foliot_world_get_invariants(world, NULL);
    }
    assert_int_equal(count_sleepers(world), count);
    check_gt(fabs(before.potential), 1);
    check_near(now.potential, before.potential, 1e-3 * fabs(before.potential));
    foliot_world_destroy(world);
}

static scene_builder boxes_on_a_floor(void)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    y.scene.sleep = true;
    y.scene.gravity[2] = -9.81;
    builder_add_plane(&y, 0, 0, 1, 0);
    builder_add_box(&y, 8, 0.1, 0.1, 0.1, 3, 0, 0.1);
    builder_add_box(&y, 5, 0.1, 0.1, 0.1, 6, 0, 0.1);
    builder_set_material(&y, 0.9, 0);
    return y;
}

TEST(sleepers_keep_their_weight)
{
    scene_builder y = boxes_on_a_floor();
    falls_asleep_without_a_jump(&y, 2);
    builder_free(&y);
}

TEST(sleepers_keep_their_own_constant_force)
{
    scene_builder y = boxes_on_a_floor();
    y.bodies[1].force[0] = 9;
    falls_asleep_without_a_jump(&y, 2);
    builder_free(&y);
}

TEST(the_frozen_and_the_static_have_none)
{
    scene_builder y = boxes_on_a_floor();
    y.scene.sleep = false;
    for (int i = 1; i < 3; i++)
        y.bodies[i].is_static = true;
    foliot_world *world = builder_create_world(&y);
    foliot_invariants now = foliot_world_get_invariants(world, NULL);
    check_eq(now.kinetic, 0);
    check_eq(now.potential, 0);
    foliot_world_destroy(world);
    builder_free(&y);
}
