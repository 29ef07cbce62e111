// SPDX-License-Identifier: MIT
// test_joint_contact.c: joints with contacts: chains and dolls that come to rest, the wrecking
// ball; copies, restores and tasks in another order give the same bits.
#include "joint_world.h"
#include "slots.h"

// -- with contacts

static double speed_of(const joint_world *y)
{
    double most = 0;
    for (uint32_t i = 0; i < foliot_world_get_body_count(y->world); i++) {
        foliot_body_state s = slot_state(y->world, i);
        for (int k = 0; k < 3; k++)
            most = fmax(most, fabs(s.velocity[k]));
    }
    return most;
}

TEST(a_chain_on_the_floor_comes_to_rest)
{
    static const char *const joints[] = {
        "kind: ball", "kind: hinge, axis: [0, 1, 0], limits: [-0.5, 0.5]", "kind: weld"};
    for (int i = 0; i < 3; i++) {
        begin("semi-implicit-euler", 1.0 / 60, 4, G);
        add("  - {name: floor, static: true, shape: {kind: plane}}\n"
            "  - {name: link, mass: 0.5, position: [0, 0, 0.3], orientation: [1, 0, 1, 0],"
            " shape: {kind: capsule, radius: 0.05, half_length: 0.1}, grid: {columns: 10, right: "
            "[0.3, 0, 0.02]}}\n"
            "constraints:\n  - {%s, grid: link}\n",
            joints[i]);
        joint_world y = make();
        double worst = 0;
        for (int t = 0; t < 600; t++) {
            step(&y);
            worst = fmax(worst, worst_gap(&y));
        }
        printf("%s: gap at most %.2g, speed at last %.2g\n", joints[i], worst, speed_of(&y));
        check_below(worst, 0.05 * 0.3); // while it hits the floor
        check_below(worst_gap(&y), 1e-3 * 0.3);
        check_below(speed_of(&y), 0.005);
        end(&y);
    }
}

TEST(joined_bodies_touch_only_where_they_are_asked_to)
{
    for (int collide = 0; collide < 2; collide++) {
        begin("semi-implicit-euler", 1.0 / 60, 4, 0);
        add("  - {name: a, shape: {kind: box, half: [0.5, 0.5, 0.5]}}\n"
            "  - {name: b, position: [0.8, 0, 0], shape: {kind: box, half: [0.5, 0.5, 0.5]}}\n"
            "constraints:\n  - {kind: ball, a: a, b: b, anchor_a: [0, 0, 0.2], collide: %s}\n",
            collide ? "true" : "false");
        joint_world y = make();
        for (int t = 0; t < 60; t++)
            step(&y);
        double apart = fabs(state_of(&y, "b").position[0] - state_of(&y, "a").position[0]);
        if (collide)
            assert_true(fabs(apart - 0.8) > 1e-4 || speed_of(&y) > 0);
        else
            check_bits(apart, 0.8);
        end(&y);
    }
}

TEST(the_wrecking_ball_hangs_on)
{
    joint_world y = open_joint_world("scenes/wrecking-ball.yaml");
    double worst = 0, start = energy(&y);
    for (int t = 0; t < 600; t++) {
        step(&y);
        worst = fmax(worst, worst_gap(&y));
        check_below(energy(&y), 1.01 * start);
    }
    printf("wrecking-ball: gap at most %.2g m\n", worst);
    check_below(worst, 0.005); // a link has 0.5 m
    end(&y);
}

// Five of a doll's joints: a trunk that lies on light limbs, which is what is hard: a touch moves a
// limb of 2 kg, and the trunk takes most of it back.
static joint_world dropped_doll(double turn)
{
    begin("semi-implicit-euler", 1.0 / 60, 4, G);
    add("  - {name: floor, static: true, shape: {kind: plane}, friction: 0.7}\n"
        "  - {name: chest, mass: 22, position: [0, 0, 1], friction: 0.6, angular_velocity: [%g, 1, "
        "0.3],"
        " shape: {kind: box, half: [0.11, 0.18, 0.2]}}\n"
        "  - {name: pelvis, mass: 11, position: [0, 0, 0.65], shape: {kind: box, half: [0.1, 0.15, "
        "0.08]}, friction: 0.6}\n",
        turn);
    for (int side = -1; side < 2; side += 2)
        add("  - {name: arm%d, mass: 2.5, position: [0, %g, 1], shape: {kind: capsule, radius: "
            "0.055, half_length: 0.12},"
            " friction: 0.6}\n"
            "  - {name: leg%d, mass: 8, position: [0, %g, 0.3], shape: {kind: capsule, radius: "
            "0.08, half_length: 0.14},"
            " friction: 0.6}\n",
            side, side * 0.27, side, side * 0.1);
    add("constraints:\n  - {kind: hinge, a: pelvis, b: chest, axis: [0, 1, 0], anchor: [0, 0, "
        "0.76], limits: [-0.3, 1.1],"
        " motor: {speed: 0, torque: 8}}\n");
    for (int side = -1; side < 2; side += 2)
        add("  - {kind: ball, a: chest, b: arm%d, anchor: [0, %g, 1.15]}\n"
            "  - {kind: hinge, a: pelvis, b: leg%d, axis: [0, 1, 0], anchor: [0, %g, 0.5], limits: "
            "[-1.9, 0.5],"
            " motor: {speed: 0, torque: 5}}\n",
            side, side * 0.22, side, side * 0.1);
    return make();
}

// Energy of the parts that bear the weight: arms may dangle.
static double trunk_energy(const joint_world *y)
{
    static const struct {
        const char *name;
        double mass;
    } parts[] = {{"chest", 22}, {"pelvis", 11}, {"leg-1", 8}, {"leg1", 8}};
    double sum = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        foliot_body_state s = state_of(y, parts[i].name);
        for (int k = 0; k < 3; k++)
            sum += parts[i].mass / 2 * s.velocity[k] * s.velocity[k];
    }
    return sum;
}

TEST(a_doll_comes_to_rest)
{
    for (int way = 0; way < 3; way++) {
        joint_world y = dropped_doll(2.0 * way - 2);
        for (int t = 0; t < 1200; t++)
            step(&y);
        foliot_body_state from = state_of(&y, "chest");
        double kinetic = 0, start = energy(&y);
        for (int t = 0; t < 600; t++) {
            step(&y);
            kinetic += trunk_energy(&y) / 600;
            check_below(energy(&y),
                        start +
                            0.5); // of 350 J; an arm that rolls on the floor gains and loses some
        }
        foliot_body_state to = state_of(&y, "chest");
        double moved =
            hypot(hypot(to.position[0] - from.position[0], to.position[1] - from.position[1]),
                  to.position[2] - from.position[2]);
        printf(
            "a doll, dropped: after 20 s %.2g J in the mean, its chest moves by %.2g m in 10 s\n",
            kinetic, moved);
        check_below(kinetic, 1e-4);
        check_below(moved, 0.002);
        end(&y);
    }
}

static void backwards(void *user, uint32_t count, void (*task)(void *context, uint32_t index),
                      void *context)
{
    (void)user;
    for (uint32_t i = count; i-- > 0;)
        task(context, i);
}

// Copied and restored every few ticks, and its tasks run in another order: the same bits.
TEST(ragdolls_have_one_future)
{
    joint_world y = open_joint_world("scenes/ragdolls.yaml"), other = y;
    static uint8_t bytes[1 << 20];
    size_t length = 0;
    foliot_host host = {.run = backwards};
    assert_int_equal(foliot_world_create(y.scene, &other.world, NULL), FOLIOT_STATUS_OK);
    for (int t = 0; t < 150; t++) {
        if (t % 7 == 3) {
            assert_int_equal(foliot_world_capture(y.world, bytes, sizeof bytes, &length),
                             FOLIOT_STATUS_OK);
            assert_int_equal(foliot_world_restore(other.world, bytes, length), FOLIOT_STATUS_OK);
        }
        step(&y);
        assert_int_equal(foliot_world_step(other.world, NULL, 0, &host), FOLIOT_STATUS_OK);
        foliot_digest a = foliot_world_get_digest(y.world),
                      b = foliot_world_get_digest(other.world);
        assert_memory_equal(&a, &b, sizeof a);
    }
    foliot_world_destroy(other.world);
    end(&y);
}
