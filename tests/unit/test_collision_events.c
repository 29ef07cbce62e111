// SPDX-License-Identifier: MIT
// test_collision_events.c: no collision is silent, and its events say what happened. Method: a
// ball, box or capsule flies at another that rests, without gravity, at random speeds, offsets and
// restitutions. Where the other one moves afterwards, a contact must have begun, and every begin
// has its end. Impulses and speeds are compared with m v (1 + e). SEED=.
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "foliot/query.h"
#include "scene_builder.h"
#include "slots.h"

#define COLLISIONS 2900

static double between(foliot__rng *rng, double low, double high)
{
    return low + (high - low) * foliot__rng_unit(rng);
}

static void add_body(scene_builder *y, foliot__rng *rng, double x, double py, double pz)
{
    switch (foliot__rng_below(rng, 3)) {
    case 0:
        builder_add_ball(y, 1, 0.1, x, py, pz);
        break;
    case 1:
        builder_add_box(y, 1, 0.1, 0.1, 0.1, x, py, pz);
        break;
    default:
        builder_add_capsule(y, 1, 0.08, 0.1, x, py, pz);
        break;
    }
    builder_turn(y, 0, 0, 1, between(rng, 0, 3));
}

// The events of a world so far.
typedef struct tally {
    uint32_t begins, ends, hits;
    foliot_hit_event hit;       // the last one
    foliot_contact_event begin; // the last one
    bool together;              // after the last tick
} tally;

// Steps one tick. A begin and its end in one tick stand one after the other.
static void step_and_count(foliot_world *world, tally *y)
{
    uint32_t hits;
    foliot_contact_event events[8];
    run_ticks(world, 1);
    const foliot_hit_event *hit = foliot_world_get_hit_events(world, &hits);
    y->hits += hits;
    y->hit = hits ? hit[hits - 1] : y->hit;
    uint32_t count = foliot_world_get_contact_events(world, events, 8);
    check_le(count, 8);
    for (uint32_t i = 0; i < count; i++) {
        const foliot_contact_event *e = &events[i];
        assert_int_equal(e->change == FOLIOT_CONTACT_BEGIN, !y->together);
        y->together = e->change != FOLIOT_CONTACT_END;
        y->begins += e->change == FOLIOT_CONTACT_BEGIN;
        y->ends += e->change == FOLIOT_CONTACT_END;
        if (e->change == FOLIOT_CONTACT_BEGIN) {
            y->begin = *e;
            check_gt(e->force, 0);
            check_ge(e->points, 1);
        }
    }
}

// Returns whether they collided.
static bool collide(foliot__rng *rng, tally *so_far)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    add_body(&y, rng, -between(rng, 1, 3), between(rng, -0.18, 0.18), between(rng, -0.18, 0.18));
    builder_set_velocity(&y, between(rng, 2, 20), 0, 0);
    add_body(&y, rng, 0, 0, 0);
    builder_set_material(&y, 0.5, foliot__rng_below(rng, 2) ? 0 : between(rng, 0, 1));
    foliot_world *world = builder_create_world(&y);
    *so_far = (tally){0};
    for (int t = 0; t < 120; t++)
        step_and_count(world, so_far);
    foliot_body_state s = slot_state(world, 1);
    double speed = sqrt(s.velocity[0] * s.velocity[0] + s.velocity[1] * s.velocity[1] +
                        s.velocity[2] * s.velocity[2]);
    foliot_world_destroy(world);
    builder_free(&y);
    return speed > 1e-6; // less is what single precision leaves of a touch without an impulse
}

TEST(no_collision_is_silent)
{
    foliot__rng rng = foliot__rng_seeded(check_seed(29));
    uint32_t collided = 0, silent = 0, without_hit = 0;
    while (collided < COLLISIONS) {
        tally got;
        if (!collide(&rng, &got))
            continue;
        collided++;
        silent += got.begins == 0;
        without_hit += got.hits == 0;
        assert_int_equal(got.begins, got.ends + got.together);
    }
    printf("%u of %u silent, %u without a hit\n", silent, collided, without_hit);
    assert_int_equal(silent, 0);
    check_le(without_hit, COLLISIONS / 100); // some touch too slowly
}

// Two glancing balls, which the solver takes apart within a tick.
TEST(a_glancing_collision_is_one_hit_and_one_contact)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    builder_add_ball(&y, 1, 0.1, -3.444158, 0.12, 0);
    builder_set_velocity(&y, 10, 0, 0);
    builder_add_ball(&y, 1, 0.1, 0, 0, 0.02);
    builder_set_material(&y, 0.5, 0);
    foliot_world *world = builder_create_world(&y);
    tally got = {0};
    for (int t = 0; t < 60; t++)
        step_and_count(world, &got);
    assert_int_equal(got.hits, 1);
    assert_int_equal(got.begins, 1);
    assert_int_equal(got.ends, 1);
    // At most, the impulse takes the whole speed of approach from two equal masses.
    check_le(got.hit.impulse, got.hit.speed / 2 + 1e-4);
    check_gt(got.hit.impulse, 0.4 * got.hit.speed);
    check_near(got.hit.speed, 10 * got.hit.normal[0], 1e-4);
    check_near(got.begin.force, got.hit.impulse * 60, 1e-6);
    foliot_body_state b = slot_state(world, 1);
    double along = 0;
    for (int k = 0; k < 3; k++)
        along += b.velocity[k] * got.hit.normal[k];
    check_near(along, got.hit.impulse, 1e-4);
    foliot_world_destroy(world);
    builder_free(&y);
}

// Head on, at every phase of the tick: mass a strikes mass b at rest.
static void check_head_on(double e, double mass_a, double mass_b, double speed, bool boxes)
{
    for (int phase = 0; phase < 40; phase++) {
        scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
        double x = -1 - speed / 60 * phase / 40;
        if (boxes) {
            builder_add_box(&y, mass_a, 0.1, 0.1, 0.1, x, 0, 0);
            builder_set_velocity(&y, speed, 0, 0);
            builder_add_box(&y, mass_b, 0.1, 0.2, 0.2, 0, 0, 0);
        } else {
            builder_add_ball(&y, mass_a, 0.1, x, 0, 0);
            builder_set_velocity(&y, speed, 0, 0);
            builder_add_ball(&y, mass_b, 0.1, 0, 0, 0);
        }
        builder_set_material(&y, 0.5, e);
        foliot_world *world = builder_create_world(&y);
        tally got = {0};
        for (int t = 0; t < 90; t++)
            step_and_count(world, &got);
        double impulse = mass_a * mass_b / (mass_a + mass_b) * speed * (1 + e);
        // Without restitution the solver pushes overlapping faces apart, too, and what then moves
        // together may part and touch again by rounding.
        double accuracy = boxes && e == 0 ? 0.03 : 1e-5;
        assert_int_equal(got.hits, 1);
        check_ge(got.begins, 1);
        assert_true(got.begins == 1 || e == 0);
        check_near(got.hit.impulse, impulse, accuracy * impulse);
        check_near(got.hit.speed, speed, 1e-5 * speed);
        check_near(got.hit.normal[0], 1, 1e-5);
        foliot_world_destroy(world);
        builder_free(&y);
    }
}

TEST(head_on_collisions_have_the_impulse_of_the_closed_form)
{
    for (int boxes = 0; boxes < 2; boxes++) {
        check_head_on(0, 1, 1, 3, boxes);
        check_head_on(0, 2, 0.5, 1.3, boxes);
        check_head_on(0, 1, 3, 40, boxes); // CCD
        check_head_on(1, 1, 1, 3, boxes);
        check_head_on(1, 2, 0.5, 25, boxes);
    }
}

// A body that lies or is put down does not hit; one that falls does, once.
TEST(resting_contacts_do_not_hit)
{
    const double heights[] = {0, 1e-4, 0.05};
    for (int k = 0; k < 3; k++) {
        scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
        y.scene.gravity[2] = -9.81;
        builder_add_plane(&y, 0, 0, 1, 0);
        builder_add_box(&y, 3, 0.2, 0.2, 0.2, 0, 0, 0.2 + heights[k]);
        builder_set_material(&y, 0.5, 0);
        foliot_world *world = builder_create_world(&y);
        tally got = {0};
        for (int t = 0; t < 120; t++)
            step_and_count(world, &got);
        assert_int_equal(got.begins, 1);
        assert_int_equal(got.hits, k == 2);
        if (k == 2) {
            double speed = sqrt(2 * 9.81 * heights[k]); // a tick of gravity more or less
            check_near(got.hit.speed, speed, 9.81 / 60);
            check_near(got.hit.impulse, 3 * speed, 3 * 2 * 9.81 / 60);
        }
        foliot_world_destroy(world);
        builder_free(&y);
    }
}

// A body that lands without restitution begins one contact, in whichever part of a tick it meets
// the ground.
TEST(a_landing_is_one_contact)
{
    for (int k = 0; k < 120; k++) {
        scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
        double height = 0.2 + 0.01 + 0.029 * k * (k % 4);
        y.scene.gravity[2] = -9.81;
        builder_add_plane(&y, 0, 0, 1, 0);
        if (k % 2)
            builder_add_ball(&y, 2, 0.2, 0, 0, height);
        else
            builder_add_box(&y, 2, 0.2, 0.2, 0.2, 0, 0, height);
        builder_set_material(&y, 0.5, 0);
        foliot_world *world = builder_create_world(&y);
        tally seen = {0};
        for (int t = 0; t < 180; t++)
            step_and_count(world, &seen);
        assert_int_equal(seen.begins, 1);
        assert_int_equal(seen.ends, 0);
        foliot_world_destroy(world);
        builder_free(&y);
    }
}

// A body that is struck may begin and end a contact with a third one within the same tick.
TEST(who_is_struck_strikes_on)
{
    for (int phase = 0; phase < 40; phase++) {
        scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
        builder_add_ball(&y, 50, 0.2, -1 - 0.01 * phase, 0, 0);
        builder_set_velocity(&y, 8, 0, 0);
        builder_add_ball(&y, 1, 0.2, 0, 0, 0);
        builder_add_ball(&y, 1, 0.2, 0.1, 0.39, 0); // at a gap of 2.6 mm
        builder_set_material(&y, 0, 0);
        foliot_world *world = builder_create_world(&y);
        bool struck = false;
        for (int t = 0; t < 60; t++) {
            foliot_contact_event events[8];
            run_ticks(world, 1);
            uint32_t count = foliot_world_get_contact_events(world, events, 8);
            for (uint32_t i = 0; i < count; i++)
                struck |= foliot_body_id_get_slot(events[i].a) == 1 &&
                          foliot_body_id_get_slot(events[i].b) == 2;
        }
        foliot_body_state s = slot_state(world, 2);
        bool moves = fabs(s.velocity[0]) + fabs(s.velocity[1]) > 1e-6;
        assert_true(struck || !moves);
        foliot_world_destroy(world);
        builder_free(&y);
    }
}
