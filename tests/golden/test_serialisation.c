// SPDX-License-Identifier: MIT
// Goal: a world has no hidden state. Method: in every case a second world is restored from a
// capture of the first before each tick and stepped along with it; a third is a copy of its block.
// All digests are equal at every tick, and captures of the three are the same bytes.
#include "../support/check.h"

#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "slots.h"

static uint8_t *captured(const foliot_world *world, size_t *length)
{
    assert_int_equal(foliot_world_capture(world, NULL, 0, length), FOLIOT_STATUS_OK);
    uint8_t *bytes = malloc(*length);
    assert_non_null(bytes);
    assert_int_equal(foliot_world_capture(world, bytes, *length, length), FOLIOT_STATUS_OK);
    return bytes;
}

static void restore_from(foliot_world *world, const foliot_world *from)
{
    size_t length = 0;
    uint8_t *bytes = captured(from, &length);
    assert_int_equal(foliot_world_restore(world, bytes, length), FOLIOT_STATUS_OK);
    free(bytes);
}

static void check_equal(const foliot_world *a, const foliot_world *b, const foliot_scene *scene,
                        const char *what)
{
    if (foliot_digest_equal(foliot_world_get_digest(a), foliot_world_get_digest(b)))
        return;
    print_error("%s %s: %s differs at tick %llu\n", scene->name,
                foliot_integrator_get_info(foliot_world_get_integrator(a))->name, what,
                (unsigned long long)foliot_world_get_tick(a));
    for (uint32_t slot = 0; slot < foliot_world_get_body_count(a); slot++)
        for (unsigned f = 0; f < FOLIOT_FIELD_COUNT; f++)
            if (slot_field(a, slot, (foliot_field)f) != slot_field(b, slot, (foliot_field)f)) {
                print_error("first: body %u %s\n", slot, foliot_field_get_name((foliot_field)f));
                fail();
            }
    fail();
}

static void run_case(foliot_scene *scene, foliot_integrator integrator)
{
    foliot_world *world = cases_world(scene, integrator);
    if (!world)
        return;
    foliot_world *restored = cases_world(scene, integrator);
    foliot_world *copy = aligned_alloc(FOLIOT_WORLD_ALIGNMENT, foliot_world_get_bytes(world));
    assert_non_null(copy);
    memset(copy, 0x5a,
           foliot_world_get_bytes(world)); // what is left out of a copy must not be read
    uint64_t ticks = cases_ticks(scene);
    for (uint64_t tick = 0; tick < ticks; tick++) {
        restore_from(restored, world);
        foliot_world_copy(copy, world);
        check_equal(world, restored, scene, "the restored world");
        cases_step(world, scene);
        cases_step(restored, scene);
        cases_step(copy, scene);
        check_equal(world, restored, scene, "the restored world's future");
        check_equal(world, copy, scene, "the copy's future");
    }
    foliot_world_destroy(world);
    foliot_world_destroy(restored);
    free(copy);
}

TEST(a_restored_world_has_the_same_future)
{
    for (unsigned s = 0; s < cases_scene_count(); s++) {
        foliot_scene *scene = cases_scene(s);
        for (int id = 1; id < FOLIOT_INTEGRATOR_COUNT; id++)
            run_case(scene, (foliot_integrator)id);
        foliot_scene_destroy(scene);
    }
}

// The other end of the same promise: a keyframe of a later tick, put into a world that has lived on
// or has never been stepped, brings both to the same bits.
TEST(any_world_of_the_scene_can_be_restored)
{
    for (unsigned s = 0; s < cases_scene_count(); s++) {
        foliot_scene *scene = cases_scene(s);
        foliot_world *world = cases_world(scene, scene->integrator);
        if (world) {
            foliot_world *fresh = cases_world(scene, scene->integrator);
            foliot_world *older = cases_world(scene, scene->integrator);
            for (int tick = 0; tick < 11; tick++)
                cases_step(world, scene);
            for (int tick = 0; tick < 29; tick++)
                cases_step(older, scene);
            restore_from(fresh, world);
            restore_from(older, world);
            for (int tick = 0; tick < 20; tick++) {
                cases_step(world, scene);
                cases_step(fresh, scene);
                cases_step(older, scene);
                check_equal(world, fresh, scene, "the fresh world");
                check_equal(world, older, scene, "the older world");
            }
            foliot_world_destroy(fresh);
            foliot_world_destroy(older);
            foliot_world_destroy(world);
        }
        foliot_scene_destroy(scene);
    }
}
