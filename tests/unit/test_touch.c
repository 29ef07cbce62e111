// SPDX-License-Identifier: MIT
// test_touch.c: what a step tells of contacts. Forces are compared with weights, speeds and times
// with the formulas of falling, impulses with the change of every body's momentum; and the lists of
// copied, restored and many-threaded worlds with those of the first.
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene_builder.h"
#include "status.h"
#include "slots.h"

#define G 9.81
#define TOUCHES 512

static uint32_t touches_of(const foliot_world *world, foliot_contact_event touches[TOUCHES])
{
    memset(touches, 0, TOUCHES * sizeof *touches);
    uint32_t count = foliot_world_get_contact_events(world, touches, TOUCHES);
    check_le(count, TOUCHES);
    for (uint32_t i = 0; i < count; i++) {
        const foliot_contact_event *t = &touches[i];
        uint64_t a = t->a.value, b = t->b.value;
        uint64_t a_before = i > 0 ? t[-1].a.value : 0, b_before = i > 0 ? t[-1].b.value : 0;
        check_lt(a, b);
        bool same = a_before == a && b_before == b; // began and ended within the step
        assert_true(!same ||
                    (t[-1].change == FOLIOT_CONTACT_BEGIN && t->change == FOLIOT_CONTACT_END));
        assert_true(same || a_before < a || (a_before == a && b_before < b));
        if (t->change == FOLIOT_CONTACT_END) {
            assert_int_equal(t->points, 0);
            continue;
        }
        double n2 = 0;
        for (int k = 0; k < 3; k++)
            n2 += t->normal[k] * t->normal[k];
        check_near(n2, 1, 1e-12);
        check_ge(t->points, 1);
        check_le(t->points, 4);
        check_gt(t->force, 0);
    }
    return count;
}

// -- touches

TEST(what_rests_presses_with_its_weight)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    y.scene.gravity[2] = -G;
    builder_add_box(&y, 2.5, 0.4, 0.3, 0.2, 0.7, -0.1, 0.2);
    builder_add_plane(&y, 0, 0, 1, 0);
    builder_add_ball(&y, 1.5, 0.25, -2, 1, 0.25);
    builder_add_capsule(&y, 0.7, 0.2, 0.5, 3, 0, 0.2);
    builder_turn(&y, 0, 1, 0, M_PI / 2);
    builder_set_material(&y, 0.5, 0);
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, 120);
    foliot_contact_event t[TOUCHES];
    assert_int_equal(touches_of(world, t), 3);
    const uint32_t a[3] = {0, 1, 1}, b[3] = {1, 2, 3}, points[3] = {4, 1, 2};
    const double mass[3] = {2.5, 1.5, 0.7}, x[3] = {0.7, -2, 3}, up[3] = {-1, 1, 1};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(foliot_body_id_get_slot(t[i].a), a[i]);
        assert_int_equal(foliot_body_id_get_slot(t[i].b), b[i]);
        assert_int_equal(t[i].change, FOLIOT_CONTACT_PERSIST);
        assert_int_equal(t[i].points, points[i]);
        check_near(t[i].force, mass[i] * G, 1e-3 * mass[i] * G);
        check_near(t[i].normal[2], up[i], 1e-6);
        check_near(t[i].point[0], x[i], 1e-4);
        check_near(t[i].point[2], 0, 1e-2);
        check_bits(t[i].speed, 0);
    }
    foliot_world_destroy(world);
    builder_free(&y);
}

TEST(friction_holds_a_box_on_a_slope)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    double angle = 0.3, s = sin(angle), c = cos(angle);
    y.scene.gravity[2] = -G;
    builder_add_plane(&y, -s, 0, c, 0); // rises along x
    builder_add_box(&y, 2, 0.3, 0.3, 0.2, -0.2 * s, 0, 0.2 * c);
    builder_turn(&y, 0, 1, 0, -angle);
    builder_set_material(&y, 0.8, 0);
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, 120);
    foliot_contact_event t[TOUCHES];
    assert_int_equal(touches_of(world, t), 1);
    check_near(t[0].force, 2 * G * c, 2e-2);
    check_near(t[0].friction[0], 2 * G * s * c, 2e-2);
    check_near(t[0].friction[2], 2 * G * s * s, 2e-2);
    foliot_world_destroy(world);
    builder_free(&y);
}

TEST(a_touch_begins_lasts_and_ends)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    y.scene.gravity[2] = -G;
    builder_add_box(&y, 0, 1, 1, 0.5, 0, 0, -0.5); // a table
    builder_add_ball(&y, 1, 0.2, 0, 0, 0.2 + 0.1); // falls on it, and is lifted after a second
    foliot_force_definition lift = foliot_force_definition_default(FOLIOT_FORCE_CONSTANT);
    lift.a = 1;
    lift.as.constant.force[2] = 2 * G;
    lift.as.constant.start = 1;
    y.scene.forces = &lift;
    y.scene.force_count = 1;
    foliot_world *world = builder_create_world(&y);
    foliot_contact_event t[TOUCHES];
    uint32_t begun = 0, lasted = 0, ended = 0;
    for (int tick = 0; tick < 150; tick++) {
        run_ticks(world, 1);
        uint32_t count = touches_of(world, t);
        check_le(count, 1);
        if (count == 0)
            continue;
        if (t[0].change == FOLIOT_CONTACT_BEGIN)
            check_near(t[0].speed, sqrt(2 * G * 0.1), 0.17); // a tick of gravity
        // None is reported twice, and none out of order.
        assert_int_equal(begun, t[0].change != FOLIOT_CONTACT_BEGIN);
        assert_int_equal(ended, 0);
        begun += t[0].change == FOLIOT_CONTACT_BEGIN;
        lasted += t[0].change == FOLIOT_CONTACT_PERSIST;
        ended += t[0].change == FOLIOT_CONTACT_END;
    }
    assert_int_equal(begun, 1);
    assert_int_equal(ended, 1);
    assert_in_range(lasted, 49, 51);
    foliot_world_destroy(world);
    builder_free(&y);
}

TEST(sleepers_go_on_touching)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    y.scene.gravity[2] = -G;
    y.scene.sleep = true;
    builder_add_plane(&y, 0, 0, 1, 0);
    builder_add_box(&y, 1, 0.3, 0.3, 0.3, 0, 0, 0.3);
    builder_add_box(&y, 1, 0.3, 0.3, 0.3, 0, 0, 0.9);
    builder_set_material(&y, 0.5, 0);
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, 200);
    assert_true(slot_state(world, 2).flags & FOLIOT_BODY_ASLEEP);
    foliot_contact_event t[TOUCHES];
    assert_int_equal(touches_of(world, t), 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(t[i].change, FOLIOT_CONTACT_PERSIST);
    check_near(t[0].force, 2 * G, 1e-2);
    foliot_world_destroy(world);
    builder_free(&y);
}

TEST(a_short_list_is_the_beginning_of_the_whole)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    y.scene.gravity[2] = -G;
    builder_add_plane(&y, 0, 0, 1, 0);
    for (int i = 0; i < 9; i++)
        builder_add_ball(&y, 1, 0.2, 0.5 * i, 0, 0.2);
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, 30);
    foliot_contact_event all[TOUCHES], few[4];
    memset(few, 0xee, sizeof few);
    assert_int_equal(touches_of(world, all), 9);
    assert_int_equal(foliot_world_get_contact_events(world, few, 3), 9);
    assert_memory_equal(few, all, 3 * sizeof *few);
    assert_int_equal(few[3].change, 0xeeeeeeee);
    assert_int_equal(foliot_world_get_contact_events(world, NULL, 0), 9);
    foliot_world_destroy(world);
    builder_free(&y);
}

// -- impacts

TEST(a_bouncing_ball_strikes_when_and_as_it_should)
{
    const double radius = 0.2, height = 1.3, e = 0.7, mass = 1.9;
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_VELOCITY_VERLET);
    y.scene.gravity[2] = -G;
    builder_add_ball(&y, mass, radius, 0.3, 0.4, radius + height);
    builder_add_plane(&y, 0, 0, 1, 0);
    builder_set_material(&y, 0, e);
    foliot_world *world = builder_create_world(&y);
    double speed = sqrt(2 * G * height), when = speed / G;
    uint32_t struck = 0, count;
    for (int tick = 0; tick < 90; tick++) {
        run_ticks(world, 1);
        const foliot_hit_event *impact = foliot_world_get_hit_events(world, &count);
        check_le(count, 1);
        if (count == 0)
            continue;
        check_near(tick / 60.0 + impact->time, when, 1e-6);
        check_near(impact->speed, speed, 1e-6 * speed);
        check_near(impact->impulse, (1 + e) * mass * speed, 1e-5);
        assert_int_equal(foliot_body_id_get_slot(impact->a), 0);
        assert_int_equal(foliot_body_id_get_slot(impact->b), 1);
        check_near(impact->normal[2], -1, 1e-15);
        check_near(impact->point[0], 0.3, 1e-12);
        check_near(impact->point[2], 0, 1e-6);
        speed *= e;
        when += 2 * speed / G;
        struck++;
    }
    assert_int_equal(struck, 2);
    foliot_world_destroy(world);
    builder_free(&y);
}

static scene_builder gas(uint32_t balls, double speed)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    for (uint32_t i = 0; i < balls; i++) {
        double x = -1 + 0.5 * (i % 5), z = -1 + 0.5 * (i / 5 % 5), h = -1 + 0.5 * (i / 25);
        if (i % 3 == 2)
            builder_add_box(&y, 1 + 0.1 * (i % 4), 0.1, 0.13, 0.09, x, h, z);
        else
            builder_add_ball(&y, 1 + 0.1 * (i % 4), 0.15, x, h, z);
        builder_set_velocity(&y, speed * sin(i + 1), speed * sin(2.3 * i), speed * cos(3.1 * i));
    }
    for (int k = 0; k < 6; k++)
        builder_add_plane(&y,
                          k == 0   ? 1
                          : k == 1 ? -1
                                   : 0,
                          k == 2   ? 1
                          : k == 3 ? -1
                                   : 0,
                          k == 4   ? 1
                          : k == 5 ? -1
                                   : 0,
                          -1.5);
    builder_set_material(&y, 0, 1);
    return y;
}

TEST(impulses_are_all_that_changes_momentum)
{
    enum { BODIES = 40 };
    scene_builder y = gas(BODIES, 20);
    y.scene.substeps = 1; // so that no push of the solver goes untold
    foliot_world *world = builder_create_world(&y);
    uint32_t total = 0;
    for (int tick = 0; tick < 60; tick++) {
        double p[BODIES][3];
        for (uint32_t i = 0; i < BODIES; i++)
            memcpy(p[i], slot_state(world, i).velocity, sizeof p[i]);
        run_ticks(world, 1);
        uint32_t count;
        const foliot_hit_event *impact = foliot_world_get_hit_events(world, &count);
        for (uint32_t n = 0; n < count; n++) {
            const foliot_hit_event *at = &impact[n];
            uint32_t a = foliot_body_id_get_slot(at->a), b = foliot_body_id_get_slot(at->b);
            check_lt(a, b);
            check_gt(at->speed, 0);
            check_gt(at->impulse, 0);
            check_ge(at->time, (n ? at[-1].time : 0));
            check_le(at->time, 1.0 / 60);
            for (int k = 0; k < 3; k++) {
                p[a][k] -= at->impulse * at->normal[k] / y.bodies[a].mass;
                if (b < BODIES)
                    p[b][k] += at->impulse * at->normal[k] / y.bodies[b].mass;
            }
        }
        foliot_contact_event t[TOUCHES];
        bool pressed = false; // a second corner of a box, within the step
        for (uint32_t i = 0, all = touches_of(world, t); i < all; i++) {
            bool brief =
                i + 1 < all && t[i].a.value == t[i + 1].a.value && t[i].b.value == t[i + 1].b.value;
            pressed |= !brief;
            i += brief;
        }
        for (uint32_t i = 0; i < BODIES && !pressed; i++)
            for (int k = 0; k < 3; k++)
                check_near(slot_state(world, i).velocity[k], p[i][k], 1e-11);
        total += pressed ? 0 : count;
    }
    printf("%u impacts\n", total);
    check_gt(total, 500);
    assert_int_equal(foliot_world_get_counters(world)->events_dropped, 0);
    foliot_world_destroy(world);
    builder_free(&y);
}

TEST(impacts_beyond_the_table_are_counted)
{
    scene_builder y = gas(3, 900);
    foliot_world *world = builder_create_world(&y);
    uint32_t count, most = 0;
    for (int tick = 0; tick < 20; tick++) {
        run_ticks(world, 1);
        foliot_world_get_hit_events(world, &count);
        most = count > most ? count : most;
    }
    printf("%u in a step\n", most);
    check_gt(most, 30);
    foliot_world_destroy(world);
    builder_free(&y);
    y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER); // an elastic ball in a slit
    builder_add_plane(&y, 0, 0, 1, -0.101);
    builder_add_plane(&y, 0, 0, -1, -0.101);
    builder_add_ball(&y, 1, 0.1, 0, 0, 0);
    builder_set_velocity(&y, 0, 0, 200);
    builder_set_material(&y, 0, 1);
    world = builder_create_world(&y);
    run_ticks(world, 1);
    foliot_world_get_hit_events(world, &count);
    assert_int_equal(count, 88); // contacts_max
    check_gt(foliot_world_get_counters(world)->events_dropped, 1000);
    foliot_world_destroy(world);
    builder_free(&y);
}

// Cubes that graze each other's corners press in a step's last substep and are past each other at
// its end: the faces that met then do not face each other any more. Every touch has a normal and a
// place none the less.
TEST(grazing_corners_have_a_place)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    for (int i = 0; i < 400; i++) { // pairs, each by itself
        double x = 4 * (i / 2 % 20), h = 4 * (i / 40), off = i % 2 ? 0.5 + 0.1 * sin(2.9 * i) : 0;
        builder_add_box(&y, 1, 0.2, 0.2, 0.2, x - (i % 2 ? 0.9 : 0), h + off, off * sin(1.3 * i));
        builder_turn(&y, sin(i), cos(i), 0, 7.7 * i);
        builder_set_velocity(&y, i % 2 ? 3 + sin(i) : 0, 0, 0);
    }
    builder_set_material(&y, 0.3, 0);
    foliot_world *world = builder_create_world(&y);
    uint32_t seen = 0;
    for (int tick = 0; tick < 60; tick++) {
        run_ticks(world, 1);
        foliot_contact_event t[TOUCHES];
        uint32_t count = touches_of(world, t);
        for (uint32_t n = 0; n < count; n++)
            for (int k = 0; k < 3 && t[n].change != FOLIOT_CONTACT_END; k++, seen++)
                for (int side = 0; side < 2; side++) {
                    foliot_body_state s =
                        foliot_world_get_body_state(world, side ? t[n].b : t[n].a);
                    check_below(fabs(t[n].point[k] - s.position[k]), 0.2 * sqrt(3) + 0.02);
                }
    }
    printf("%u places\n", seen / 3);
    check_gt(seen, 3 * 50);
    foliot_world_destroy(world);
    builder_free(&y);
}

// -- the same everywhere

static scene_builder heap(void)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    y.scene.gravity[2] = -G;
    builder_add_plane(&y, 0, 0, 1, 0);
    for (int i = 0; i < 60; i++) {
        double x = 0.4 * (i % 4), h = 0.4 * (i / 4 % 4), z = 0.4 + 0.5 * (i / 16);
        if (i % 3 == 0)
            builder_add_box(&y, 1, 0.15, 0.12, 0.18, x, h, z);
        else if (i % 3 == 1)
            builder_add_capsule(&y, 1, 0.1, 0.1, x, h, z);
        else
            builder_add_ball(&y, 1, 0.17, x, h, z);
        builder_turn(&y, 0.6, 0, 0.8, 0.3 * i);
        builder_set_velocity(&y, sin(i), cos(i), -1);
    }
    builder_set_material(&y, 0.4, 0);
    for (uint32_t i = 1; i < 60; i += 7)
        y.bodies[i].restitution = 0.6;
    return y;
}

static void same_lists(const foliot_world *one, const foliot_world *other)
{
    foliot_contact_event t[TOUCHES], u[TOUCHES];
    uint32_t count = touches_of(one, t);
    assert_int_equal(touches_of(other, u), count);
    assert_memory_equal(t, u, count * sizeof *t);
    uint32_t here, there;
    const foliot_hit_event *p = foliot_world_get_hit_events(one, &here),
                           *q = foliot_world_get_hit_events(other, &there);
    assert_int_equal(here, there);
    assert_memory_equal(p, q, here * sizeof *p);
}

TEST(a_restored_and_a_copied_world_tell_the_same)
{
    scene_builder y = heap();
    foliot_world *world = builder_create_world(&y), *restored = builder_create_world(&y),
                 *copied = builder_create_world(&y);
    run_ticks(world, 40);
    run_ticks(restored, 90); // what it reported before does not matter
    size_t length = 0;
    demand(foliot_world_capture(world, NULL, 0, &length));
    uint8_t *bytes = malloc(length);
    assert_int_equal(foliot_world_capture(world, bytes, length, &length), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_world_restore(restored, bytes, length), FOLIOT_STATUS_OK);
    foliot_world_copy(copied, world);
    same_lists(world, copied);
    foliot_contact_event t[TOUCHES];
    uint32_t count;
    for (uint32_t n = touches_of(restored, t); n > 0; n--)
        assert_int_equal(t[n - 1].change, FOLIOT_CONTACT_PERSIST);
    foliot_world_get_hit_events(restored, &count);
    assert_int_equal(count, 0);
    uint32_t seen[3] = {0, 0, 0}, impacts = 0;
    for (int tick = 0; tick < 60; tick++) {
        run_ticks(world, 1);
        run_ticks(restored, 1);
        run_ticks(copied, 1);
        same_lists(world, restored);
        same_lists(world, copied);
        for (uint32_t n = touches_of(world, t); n > 0; n--)
            seen[t[n - 1].change]++;
        foliot_world_get_hit_events(world, &count);
        impacts += count;
    }
    printf("%u begin, %u last, %u end; %u impacts\n", seen[0], seen[1], seen[2], impacts);
    check_gt(seen[0], 20);
    check_gt(seen[1], 1000);
    check_gt(seen[2], 20);
    check_gt(impacts, 5);
    free(bytes);
    foliot_world_destroy(world);
    foliot_world_destroy(restored);
    foliot_world_destroy(copied);
    builder_free(&y);
}

// Tasks in the reverse order, each as if on a separate thread.
static void run_backwards(void *user, uint32_t count, void (*task)(void *context, uint32_t index),
                          void *context)
{
    (void)user;
    for (uint32_t i = count; i-- > 0;)
        task(context, i);
}

TEST(the_order_of_tasks_does_not_tell)
{
    scene_builder y = heap();
    foliot_world *world = builder_create_world(&y), *shared = builder_create_world(&y);
    const foliot_host host = {.run = run_backwards, .threads = 4};
    for (int tick = 0; tick < 60; tick++) {
        run_ticks(world, 1);
        assert_int_equal(foliot_world_step(shared, NULL, 0, &host), FOLIOT_STATUS_OK);
        same_lists(world, shared);
    }
    foliot_world_destroy(world);
    foliot_world_destroy(shared);
    builder_free(&y);
}
