// SPDX-License-Identifier: MIT
// test_sensor.c: who enters and leaves sensors: every shape against every shape by an independent
// test, order, filters, sleepers, slots that are used again, worlds restored between two steps, and
// what passes within a step.
#include "text_world.h"

#include <stdio.h>

#include "sim/state/body.h"
#include "sim/state/state.h"

#define HEAD "foliot: 1\nname: t\ntick_hz: 60\n"
#define BALL "shape: {kind: sphere, radius: 0.2}"
#define EVENTS 64

static uint32_t sensed(const foliot_world *world, foliot_sensor_event events[EVENTS])
{
    uint32_t count = foliot_world_get_sensor_events(world, events, EVENTS);
    assert_true(count <= EVENTS);
    return count;
}

static void check_event(const foliot_sensor_event *event, uint32_t sensor, uint32_t body,
                        foliot_sensor_change change)
{
    assert_int_equal(foliot_body_id_get_slot(event->sensor), sensor);
    assert_int_equal(foliot_body_id_get_slot(event->body), body);
    assert_int_equal(event->change, change);
}

// A ball at 6 m/s reaches a gate of half width 1 at x = 10 after 8.8 m: 88 ticks. It goes on as if
// there were nothing.
TEST(a_body_that_passes_enters_once_and_leaves_once)
{
    foliot_world *world =
        text_world(HEAD "bodies:\n"
                        "  - {static: true, sensor: true, position: [10, 0, 0],\n"
                        "     shape: {kind: box, half: [1, 1, 1]}}\n"
                        "  - {velocity: [6, 0, 0], " BALL "}\n"
                        "  - {position: [10, 0, 0]}\n"
                        "  - {static: true, position: [10, 0.7, 0], " BALL "}\n"
                        "  - {static: true, sensor: true, position: [10, 0, 0], " BALL "}\n"
                        "  - {static: true, sensor: true, position: [50, 0, 0], " BALL "}\n");
    uint32_t entered = 0, left = 0;
    for (uint32_t t = 1; t <= 160; t++) {
        foliot_sensor_event events[EVENTS];
        step_ticks(world, 1);
        for (uint32_t k = 0, count = sensed(world, events); k < count; k++) {
            if (foliot_body_id_get_slot(events[k].sensor) !=
                0) // the one within, which senses for itself
                continue;
            assert_int_equal(foliot_body_id_get_slot(events[k].body), 1);
            if (events[k].change == FOLIOT_SENSOR_ENTER)
                entered = t;
            else
                left = t;
        }
    }
    assert_true(entered >= 88 && entered <= 89);
    assert_true(left >= 112 && left <= 113);
    check_near(state_of(world, 1).position[0], 16, 1e-12);
    assert_int_equal(foliot_world_get_contact_events(world, NULL, 0), 0);
    foliot_world_destroy(world);
}

// Every sensor at every gap: overlap begins where the shapes meet.
static void check_shapes(const char *sensor, const char *visitor, double meet)
{
    char text[512];
    snprintf(text, sizeof text,
             HEAD "limits: {commands_max: 1}\nbodies:\n"
                  "  - {kinematic: true, sensor: true, %s}\n"
                  "  - {kinematic: true, position: [0, 0, 9], velocity: [0, 0, -6], %s}\n",
             sensor, visitor);
    foliot_world *world = text_world(text);
    for (int t = 1; t < 90; t++) {
        foliot_sensor_event events[EVENTS];
        step_ticks(world, 1);
        double height = state_of(world, 1).position[2];
        if (sensed(world, events) > 0) {
            check_event(&events[0], 0, 1, FOLIOT_SENSOR_ENTER);
            check_near(height, meet - 0.05, 0.051);
            foliot_world_destroy(world);
            return;
        }
        check_gt(height, meet);
    }
    fail();
}

TEST(all_shapes_are_sensed)
{
    static const struct {
        const char *shape;
        double half;
    } shapes[] = {{"shape: {kind: sphere, radius: 0.72}", 0.72},
                  {"shape: {kind: box, half: [2, 1, 0.53]}", 0.53},
                  {"shape: {kind: capsule, radius: 0.31, half_length: 0.84}", 1.15}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            check_shapes(shapes[i].shape, shapes[j].shape, shapes[i].half + shapes[j].half);
}

TEST(a_plane_senses_what_is_below)
{
    foliot_world *world = text_world(
        HEAD "gravity: [0, 0, -10]\nbodies:\n"
             "  - {static: true, sensor: true, shape: {kind: plane, offset: -5}}\n"
             "  - {" BALL "}\n  - {position: [1e4, 0, -4.9], gravity_scale: 0, " BALL "}\n");
    foliot_sensor_event events[EVENTS];
    uint32_t entered = 0;
    for (uint32_t t = 1; t <= 90; t++) {
        step_ticks(world, 1);
        if (sensed(world, events)) {
            check_event(&events[0], 0, 1, FOLIOT_SENSOR_ENTER);
            assert_int_equal(entered, 0);
            entered = t;
        }
    }
    assert_true(entered >= 57 && entered <= 60); // 4.8 m of fall: 0.98 s
    foliot_world_destroy(world);
}

TEST(filters_and_kinds_decide_who_is_sensed)
{
    foliot_world *world = text_world(
        HEAD "bodies:\n"
             "  - {kinematic: true, sensor: true, velocity: [60, 0, 0], " BALL
             ", filter: {mask: 4}}\n"
             "  - {position: [1, 0, 0], " BALL ", filter: {category: 4}}\n"
             "  - {position: [1, 0, 0], " BALL ", filter: {category: 8}}\n"
             "  - {position: [1, 0, 0], kinematic: true, " BALL ", filter: {category: 12}}\n"
             "  - {position: [1, 0, 0], static: true, " BALL ", filter: {category: 4}}\n"
             "  - {position: [1, 0, 0], sensor: true, " BALL ", filter: {category: 4}}\n"
             "  - {position: [1, 0, 0], " BALL ", filter: {category: 4, mask: 2}}\n");
    foliot_sensor_event events[EVENTS];
    step_ticks(world, 1);
    bool one = false, three = false, others = false;
    for (uint32_t k = 0, count = sensed(world, events); k < count; k++)
        if (foliot_body_id_get_slot(events[k].sensor) == 0) {
            one |= foliot_body_id_get_slot(events[k].body) == 1;
            three |= foliot_body_id_get_slot(events[k].body) == 3;
            others |= foliot_body_id_get_slot(events[k].body) != 1 &&
                      foliot_body_id_get_slot(events[k].body) != 3;
        }
    assert_true(one && three && !others);
    foliot_world_destroy(world);
}

static const char crowd[] = HEAD
    "gravity: [0, 0, -9.81]\nsleep: true\nbodies:\n"
    "  - {static: true, shape: {kind: plane}}\n"
    "  - {kinematic: true, sensor: true, position: [-3, 0, 0.5], velocity: [1.5, 0, 0],\n"
    "     shape: {kind: box, half: [1, 3, 1]}}\n"
    "  - {position: [-2, -2, 0.2], " BALL
    ", grid: {rows: 5, columns: 6, right: [0.8, 0, 0], down: [0, 0.8, 0]}}\n"
    "  - {static: true, sensor: true, position: [1, 0, 0.3], shape: {kind: sphere, radius: 1}}\n";

// Ascending, in turns: who leaves was there, who enters was not. Sleepers are sensed.
TEST(lists_ascend_and_add_up)
{
    foliot_world *world = text_world(crowd);
    uint32_t slots = foliot_world_get_body_count(world), last = slots - 1, total = 0, sleeping = 0;
    bool inside[2][64] = {{false}};
    for (uint32_t i = 0; i < slots; i++) { // as the scene starts: by another way
        const double *at = state_of(world, i).position;
        double dx = at[0] - 1, dz = at[2] - 0.3;
        inside[1][i] = i >= 2 && i < last && dx * dx + at[1] * at[1] + dz * dz <= 1.44;
        inside[0][i] = i >= 2 && i < last && at[0] <= -1.8;
    }
    for (uint32_t t = 0; t < 300; t++) {
        foliot_sensor_event events[EVENTS];
        step_ticks(world, 1);
        uint32_t count = sensed(world, events);
        uint64_t before = 0;
        for (uint32_t k = 0; k < count; k++, total++) {
            const foliot_sensor_event *e = &events[k];
            uint32_t sensor = foliot_body_id_get_slot(e->sensor);
            uint32_t body = foliot_body_id_get_slot(e->body);
            uint64_t pair = (uint64_t)sensor << 32 | body;
            assert_true(k == 0 || before < pair);
            before = pair;
            bool *is = &inside[sensor == last][body];
            assert_int_equal(*is, e->change == FOLIOT_SENSOR_LEAVE);
            *is = e->change == FOLIOT_SENSOR_ENTER;
            sleeping += (state_of(world, body).flags & FOLIOT_BODY_ASLEEP) != 0;
        }
        assert_int_equal(foliot_world_get_sensor_events(world, NULL, 0), count);
    }
    check_gt(total, 40);
    check_gt(sleeping, 10);
    foliot_world_destroy(world);
}

TEST(a_restored_world_produces_the_same_lists)
{
    foliot_world *world = text_world(crowd);
    for (uint32_t t = 0; t < 200; t++) {
        foliot_sensor_event events[EVENTS], again[EVENTS];
        foliot_world *other = restored(world, crowd);
        assert_int_equal(foliot_world_get_sensor_events(other, NULL, 0), 0);
        step_ticks(world, 1);
        step_ticks(other, 1);
        uint32_t count = sensed(world, events);
        assert_int_equal(sensed(other, again), count);
        if (count)
            assert_memory_equal(events, again, count * sizeof *events);
        check_same_digest(world, other);
        foliot_world_destroy(other);
    }
    foliot_world_destroy(world);
}

// ... also one that has gone on meanwhile and knows other overlaps.
TEST(a_world_that_goes_back_produces_the_same_lists)
{
    foliot_world *world = text_world(crowd);
    step_ticks(world, 50);
    foliot_world *past = restored(world, crowd);
    foliot_sensor_event first[EVENTS], again[EVENTS];
    uint32_t counts[20], total = 0;
    for (int t = 0; t < 20; t++) {
        step_ticks(world, 1);
        counts[t] = sensed(world, first);
        total += counts[t];
    }
    check_gt(total, 0);
    step_ticks(world, 100);
    size_t length;
    assert_int_equal(foliot_world_capture(past, NULL, 0, &length), FOLIOT_STATUS_OK);
    uint8_t *bytes = malloc(length);
    assert_int_equal(foliot_world_capture(past, bytes, length, &length), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_world_restore(world, bytes, length), FOLIOT_STATUS_OK);
    assert_int_equal(sensed(world, again), 0);
    for (int t = 0; t < 20; t++) {
        step_ticks(world, 1);
        assert_int_equal(sensed(world, again), counts[t]);
    }
    free(bytes);
    foliot_world_destroy(past);
    foliot_world_destroy(world);
}

TEST(a_copied_world_has_the_lists_of_its_original)
{
    foliot_world *world = text_world(crowd), *copy = text_world(crowd);
    for (uint32_t t = 0; t < 60; t++) {
        foliot_sensor_event events[EVENTS], again[EVENTS];
        step_ticks(world, 1);
        foliot_world_copy(copy, world);
        uint32_t count = sensed(world, events);
        assert_int_equal(sensed(copy, again), count);
        if (count)
            assert_memory_equal(events, again, count * sizeof *events);
    }
    foliot_world_destroy(world);
    foliot_world_destroy(copy);
}

// A player's slot that is emptied and filled in one tick: the one has left, the other entered.
TEST(a_slot_that_is_used_again_is_another_body)
{
    foliot_world *world =
        text_world(HEAD "bodies: [{static: true, sensor: true, shape: {kind: sphere, radius: 3}}]\n"
                        "players: {limit: 2, spawn: {" BALL "}}\n");
    const foliot_input join = {.player = 1, .kind = FOLIOT_INPUT_JOIN, .sequence = 1};
    const foliot_input change[2] = {{.player = 0, .kind = FOLIOT_INPUT_JOIN, .sequence = 1},
                                    {.player = 1, .kind = FOLIOT_INPUT_LEAVE, .sequence = 2}};
    const foliot_input back[2] = {{.player = 0, .kind = FOLIOT_INPUT_LEAVE, .sequence = 2},
                                  {.player = 1, .kind = FOLIOT_INPUT_JOIN, .sequence = 3}};
    foliot_sensor_event events[EVENTS];
    assert_int_equal(foliot_world_step(world, &join, 1, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(sensed(world, events), 1);
    check_event(&events[0], 0, 1, FOLIOT_SENSOR_ENTER);
    assert_int_equal(foliot_world_step(world, change, 2, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(sensed(world, events), 2);
    check_event(&events[0], 0, 1, FOLIOT_SENSOR_LEAVE);
    check_event(&events[1], 0, 2, FOLIOT_SENSOR_ENTER);
    assert_int_equal(foliot_world_step(world, back, 2, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(sensed(world, events), 2);
    check_event(&events[0], 0, 1, FOLIOT_SENSOR_ENTER);
    check_event(&events[1], 0, 2, FOLIOT_SENSOR_LEAVE);
    foliot_input swap[2] = {{.player = 1, .kind = FOLIOT_INPUT_LEAVE, .sequence = 4},
                            {.player = 1, .kind = FOLIOT_INPUT_JOIN, .sequence = 5}};
    assert_int_equal(foliot_world_step(world, swap, 2, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(sensed(world, events), 2);
    check_event(&events[0], 0, 1, FOLIOT_SENSOR_LEAVE);
    check_event(&events[1], 0, 1, FOLIOT_SENSOR_ENTER);
    foliot_world_destroy(world);
}

// A body in a sensor as the scene starts has not entered it; worlds without sensors have no
// table.
TEST(nothing_has_entered_before_the_first_step)
{
    foliot_world *world = text_world(crowd), *plain = text_world(HEAD "bodies: [{tag: 1}]\n");
    foliot_sensor_event events[EVENTS];
    assert_int_equal(sensed(world, events), 0);
    step_ticks(plain, 1);
    assert_int_equal(sensed(plain, events), 0);
    assert_int_equal(plain->capacity.sensed, 0);
    foliot_world_destroy(world);
    foliot_world_destroy(plain);
}

// Counts, in one step, how often the body entered and left the sensor, in this order.
static void count_passes(const foliot_world *world, uint32_t body, uint32_t *entered,
                         uint32_t *left)
{
    foliot_sensor_event events[EVENTS];
    for (uint32_t k = 0, count = sensed(world, events); k < count; k++) {
        assert_int_equal(foliot_body_id_get_slot(events[k].body), body);
        assert_int_equal(events[k].change == FOLIOT_SENSOR_ENTER, *entered == *left);
        *entered += events[k].change == FOLIOT_SENSOR_ENTER;
        *left += events[k].change == FOLIOT_SENSOR_LEAVE;
    }
}

// A ball of 5 mm at 100 m/s moves 1.67 m a tick, and meets a sensor of 1 cm for 0.2 ms of it.
TEST(a_bullet_is_sensed_at_every_phase)
{
    for (int phase = 0; phase < 100; phase++)
        for (int moves = 0; moves < 2; moves++) { // the bullet, or the sensor
            char text[512];
            double x = -5 - 100.0 / 60 * phase / 100;
            snprintf(text, sizeof text,
                     HEAD "limits: {commands_max: 1}\nbodies:\n"
                          "  - {kinematic: true, sensor: true, position: [%.17g, 0, 0],\n"
                          "     velocity: [%d, 0, 0], shape: {kind: box, half: [0.005, 1, 1]}}\n"
                          "  - {position: [%.17g, 0.3, 0], velocity: [%d, 0, 0],\n"
                          "     shape: {kind: sphere, radius: 0.005}}\n",
                     moves ? x : 0, moves ? 100 : 0, moves ? 0 : x, moves ? 0 : 100);
            foliot_world *world = text_world(text);
            uint32_t entered = 0, left = 0;
            for (int t = 1; t <= 12; t++) {
                step_ticks(world, 1);
                count_passes(world, 1, &entered, &left);
                double way = t * 100.0 / 60 + x; // of the centre, from that of the sensor
                if (way < -0.0101 || way > 0.0101) {
                    assert_int_equal(entered, way > 0);
                    assert_int_equal(left, way > 0);
                }
            }
            assert_int_equal(left, 1);
            foliot_world_destroy(world);
        }
}

// Many of them, with other bodies between: each is entered once and left once, by what passes up to
// 83 in a tick.
TEST(a_bullet_is_sensed_by_any_number_of_sensors)
{
    for (uint32_t sensors = 63; sensors <= 100; sensors += sensors == 65 ? 35 : 1) {
        static char text[32768];
        static foliot_sensor_event events[512];
        uint32_t entered[256] = {0}, left[256] = {0};
        int length =
            snprintf(text, sizeof text,
                     HEAD "bodies:\n  - {position: [-0.5, 0.3, 0], velocity: [100, 0, 0],\n"
                          "     shape: {kind: sphere, radius: 0.002}}\n");
        for (uint32_t k = 0; k < sensors; k++)
            length += snprintf(text + length, sizeof text - (size_t)length,
                               "  - {static: true, sensor: true, position: [%.2f, 0, 0],\n"
                               "     shape: {kind: box, half: [0.005, 1, 1]}}\n"
                               "  - {static: true, position: [%.2f, 9, 0], " BALL "}\n",
                               0.02 * k, 0.02 * k);
        foliot_world *world = text_world(text);
        for (int t = 0; t < 6; t++) {
            step_ticks(world, 1);
            uint32_t count = foliot_world_get_sensor_events(world, events, 512);
            for (uint32_t k = 0; k < count; k++) {
                assert_int_equal(foliot_body_id_get_slot(events[k].body), 0);
                (events[k].change == FOLIOT_SENSOR_ENTER
                     ? entered
                     : left)[foliot_body_id_get_slot(events[k].sensor)]++;
            }
        }
        for (uint32_t k = 0; k < sensors; k++) {
            assert_int_equal(entered[1 + 2 * k], 1);
            assert_int_equal(left[1 + 2 * k], 1);
        }
        foliot_world_destroy(world);
    }
}

// A ball that flies past a ball-shaped sensor at a distance: sensed if and only if that is less
// than both radii.
TEST(a_near_miss_is_not_sensed)
{
    const double distance[] = {0.299, 0.29999, 0.30001, 0.301, 0.42};
    for (int k = 0; k < 5; k++)
        for (int phase = 0; phase < 20; phase++) {
            char text[512];
            snprintf(text, sizeof text,
                     HEAD "bodies:\n"
                          "  - {static: true, sensor: true, shape: {kind: sphere, radius: 0.1}}\n"
                          "  - {position: [%.17g, %.17g, 0], velocity: [100, 0, 0], " BALL "}\n",
                     -5 - 100.0 / 60 * phase / 20, distance[k]);
            foliot_world *world = text_world(text);
            uint32_t entered = 0, left = 0;
            for (int t = 1; t <= 12; t++) {
                step_ticks(world, 1);
                count_passes(world, 1, &entered, &left);
            }
            assert_int_equal(entered, distance[k] < 0.3);
            assert_int_equal(left, distance[k] < 0.3);
            foliot_world_destroy(world);
        }
}

// A sensor before a wall: the bullet passes it on its way there and back within a tick.
TEST(a_bullet_that_bounces_is_sensed)
{
    for (int phase = 0; phase < 50; phase++) {
        char text[512];
        snprintf(text, sizeof text,
                 HEAD
                 "bodies:\n"
                 "  - {static: true, sensor: true, position: [-0.1, 0, 0],\n"
                 "     shape: {kind: box, half: [0.005, 1, 1]}}\n"
                 "  - {position: [%.17g, 0, 0], velocity: [100, 0, 0], restitution: 1,\n"
                 "     shape: {kind: sphere, radius: 0.01}}\n"
                 "  - {static: true, position: [1, 0, 0], shape: {kind: box, half: [1, 1, 1]}}\n",
                 -5 - 100.0 / 60 * phase / 50);
        foliot_world *world = text_world(text);
        uint32_t entered = 0, left = 0;
        for (int t = 1; t <= 12; t++) {
            step_ticks(world, 1);
            count_passes(world, 1, &entered, &left);
        }
        check_lt(state_of(world, 1).velocity[0], -99);
        assert_true(entered >= 1 && entered <= 2); // 1: both within one tick
        assert_int_equal(left, entered);
        foliot_world_destroy(world);
    }
}

// A thin bar that turns by 57 degrees a tick sweeps over a small ball that rests near its ends'
// way. The ball is sensed in every half turn, and one that lies beyond the bar's reach never.
TEST(a_turning_sensor_sweeps)
{
    for (int beyond = 0; beyond < 2; beyond++) {
        char text[512];
        snprintf(text, sizeof text,
                 HEAD "limits: {commands_max: 1}\nbodies:\n"
                      "  - {kinematic: true, sensor: true, angular_velocity: [0, 0, 60],\n"
                      "     shape: {kind: box, half: [1, 0.01, 0.01]}}\n"
                      "  - {position: [%.17g, 0.6, 0], shape: {kind: sphere, radius: 0.01}}\n",
                 beyond ? 0.83 : 0.6);
        foliot_world *world = text_world(text);
        uint32_t entered = 0, left = 0;
        step_ticks(world, 1);
        count_passes(world, 1, &entered, &left);
        for (int t = 1; t < 60; t++) {
            step_ticks(world, 1);
            count_passes(world, 1, &entered, &left);
        }
        assert_int_equal(entered,
                         beyond ? 0 : 19); // 60 rad, of which the first half turn at pi / 4
        assert_int_equal(left, entered);
        foliot_world_destroy(world);
    }
}
