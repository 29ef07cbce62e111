// SPDX-License-Identifier: MIT
// test_joint_fast.c: fast joints: nets, chains and hubs of any size stay together and gain no
// energy; every kind holds what the exact solver holds, within millimetres; the state has all that
// the next tick needs.
#include "joint_world.h"

#include "base/rng.h"
#include "task_pool.h"

static void begin_with(const char *solver, const char *integrator, int substeps, double gravity)
{
    begin(integrator, 1.0 / 60, substeps, gravity);
    char *bodies = strstr(text, "bodies:\n");
    sprintf(bodies, "joints: %s\nbodies:\n", solver);
}

static joint_world net(const char *solver, int side)
{
    foliot_scene scene = foliot_scene_default();
    uint32_t count = (uint32_t)(side * side), joints = 0;
    foliot_body_definition *bodies = calloc(count, sizeof *bodies);
    foliot_constraint_definition *links = calloc(2 * count, sizeof *links);
    for (int i = 0; i < side * side; i++) {
        bodies[i] = foliot_body_definition_default();
        bodies[i].shape = (foliot_shape){.kind = FOLIOT_SHAPE_SPHERE, .radius = 0.4};
        bodies[i].position[0] = i % side;
        bodies[i].position[2] = -i / side;
        bodies[i].is_static = i < side;
        bodies[i].mask = 0;
        for (int k = 0; k < 2; k++) {
            bool there = k ? i / side + 1 < side : i % side + 1 < side && i >= side;
            if (!there)
                continue;
            foliot_constraint_definition *d = &links[joints++];
            *d = foliot_constraint_definition_default(FOLIOT_CONSTRAINT_BALL);
            d->a = (uint32_t)i;
            d->b = (uint32_t)(k ? i + side : i + 1);
            d->anchor_a[k ? 2 : 0] = k ? -0.5 : 0.5;
            d->anchor_b[k ? 2 : 0] = k ? 0.5 : -0.5;
        }
    }
    scene.name = "net";
    scene.dt = 1.0 / 60;
    scene.gravity[1] = -G / 4; // across the net, which falls like a curtain
    scene.gravity[2] = -G;
    scene.bodies = bodies;
    scene.body_count = count;
    scene.constraints = links;
    scene.constraint_count = joints;
    scene.joint_solver = strcmp(solver, "exact") == 0  ? FOLIOT_JOINT_SOLVER_EXACT
                         : strcmp(solver, "fast") == 0 ? FOLIOT_JOINT_SOLVER_FAST
                                                       : FOLIOT_JOINT_SOLVER_AUTO;
    joint_world y;
    size_t length = 0;
    assert_int_equal(foliot_scene_encode(&scene, NULL, 0, &length), FOLIOT_STATUS_OK);
    uint8_t *bytes = malloc(length);
    assert_int_equal(foliot_scene_encode(&scene, bytes, length, &length), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_scene_decode(bytes, length, &y.scene), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_world_create(y.scene, &y.world, NULL), FOLIOT_STATUS_OK);
    free(bytes);
    free(bodies);
    free(links);
    return y;
}

TEST(a_net_hangs_together)
{
    joint_world y = net("auto", 32);
    double start = energy(&y), most = start, worst = 0;
    for (int t = 0; t < 300; t++) {
        step(&y);
        worst = fmax(worst, worst_gap(&y));
        most = fmax(most, energy(&y));
    }
    printf("net of 32 x 32: gap at most %.3g m, energy %.4g to %.4g, at most %.4g\n", worst, start,
           energy(&y), most);
    check_below(worst, 0.02);
    check_below(most, start + 1e-6 * fabs(start));
    end(&y);
}

TEST(a_large_island_is_fast_and_a_small_one_exact)
{
    // 4 x 4 has 21 joints, 7 x 7 has 78.
    for (int side = 4; side <= 7; side += 3) {
        joint_world some = net("auto", side), exact = net("exact", side), fast = net("fast", side);
        for (int t = 0; t < 30; t++) {
            step(&some);
            step(&exact);
            step(&fast);
        }
        joint_world *same = side == 4 ? &exact : &fast;
        foliot_body_state a = slot_state(some.world, 9), b = slot_state(same->world, 9);
        assert_memory_equal(&a, &b, sizeof a);
        check_below(worst_gap(&exact), 1e-8);
        check_below(worst_gap(&fast), 5e-3);
        assert_true(worst_gap(&fast) > 1e-8);
        end(&some);
        end(&exact);
        end(&fast);
    }
}

// More joints at one body than there are colours.
TEST(a_hub_holds_seventy_spokes)
{
    begin_with("fast", "semi-implicit-euler", 4, 0);
    add("  - {name: hub, mass: 50, inertia: [5, 5, 5], angular_velocity: [0, 0, 3]}\n");
    for (int i = 0; i < 70; i++) {
        double x = cos(2 * PI * i / 70), z = sin(2 * PI * i / 70);
        add("  - {name: s%d, mass: 0.1, inertia: [0.01, 0.01, 0.01], position: [%.3f, %.3f, 0], "
            "velocity: [%.3f, %.3f, 0], angular_velocity: [0, 0, 3]}\n",
            i, x, z, -3 * z, 3 * x);
    }
    add("constraints:\n");
    for (int i = 0; i < 70; i++)
        add("  - {kind: ball, a: hub, b: s%d, anchor: [%.3f, %.3f, 0]}\n", i,
            0.9 * cos(2 * PI * i / 70), 0.9 * sin(2 * PI * i / 70));
    joint_world y = make();
    double start = energy(&y), worst = 0;
    foliot_invariants before = foliot_world_get_invariants(y.world, NULL);
    for (int t = 0; t < 300; t++) {
        step(&y);
        worst = fmax(worst, worst_gap(&y));
    }
    foliot_invariants after = foliot_world_get_invariants(y.world, NULL);
    printf("a hub with 70 spokes: gap at most %.3g m, energy %.6g to %.6g\n", worst, start,
           energy(&y));
    check_below(worst, 2e-3);
    check_below(fabs(after.angular_momentum[2] / before.angular_momentum[2] - 1), 2e-3);
    check_below(energy(&y), start * (1 + 1e-6));
    check_below(0.95 * start, energy(&y));
    end(&y);
}

// -- kinds

static foliot_joint joint_of(const joint_world *y, uint32_t index)
{
    foliot_joint joint;
    foliot_joint_id id = foliot_world_get_joint_id(y->world, index);
    assert_int_equal(foliot_world_get_joint(y->world, id, &joint), FOLIOT_STATUS_OK);
    return joint;
}

static double angle_after(const char *joint, int ticks)
{
    begin_with("fast", "semi-implicit-euler", 4, G);
    add("  - {name: arm, mass: 2, position: [1, 0, 0], inertia: [0.5, 0.5, 0.5]}\n"
        "constraints:\n  - {kind: hinge, a: arm, anchor: [0, 0, 0], axis: [0, 1, 0], %s}\n",
        joint);
    joint_world y = make();
    for (int t = 0; t < ticks; t++)
        step(&y);
    double angle = angle_y(&y, "arm");
    check_below(gap(&y, 0), 5e-3);
    end(&y);
    return angle;
}

TEST(hinges_have_limits_and_motors)
{
    // The arm falls to its limit, and rests there; a motor lifts it to the other one. Its
    // own turn is that of the world against it with the other sign.
    check_near(angle_after("limits: [-0.3, 0.4]", 300), 0.3, 5e-3);
    check_near(angle_after("limits: [-0.3, 0.4], motor: {speed: 2, torque: 60}", 300), -0.4, 5e-3);
    check_near(angle_after("motor: {speed: 0.5, torque: 60}", 60), -0.5, 1e-2);
    check_near(angle_after("motor: {speed: 0, torque: 60}", 300), 0, 5e-3); // a brake
}

TEST(welds_and_ropes_hold_a_load)
{
    begin_with("fast", "semi-implicit-euler", 4, G);
    add("  - {name: load, mass: 3, position: [0.5, 0, 0], inertia: [0.1, 0.1, 0.1]}\n"
        "  - {name: bob, mass: 3, position: [5, 0, -1], inertia: [0.1, 0.1, 0.1]}\n"
        "constraints:\n  - {kind: weld, a: load, anchor: [0, 0, 0]}\n"
        "  - {kind: distance, a: bob, anchor_a: [0.1, 0, 0], anchor: [5.1, 0, 1], length: 2, "
        "length_min: 0}\n");
    joint_world y = make();
    double pull = 0; // in the mean, while the bob rocks below the rope
    for (int t = 0; t < 600; t++) {
        step(&y);
        pull += joint_of(&y, 1).force / 600;
    }
    foliot_body_state load = state_of(&y, "load"), bob = state_of(&y, "bob");
    double arm[3] = {0.1, 0, 0}, end_of_rope[3];
    point_of(&bob, arm, end_of_rope);
    check_near(load.position[2], 0, 5e-3);
    check_near(hypot(end_of_rope[0] - 5.1, end_of_rope[2] - 1), 2, 5e-3);
    check_near(joint_of(&y, 0).force, 3 * G, 0.02 * 3 * G);
    check_near(pull, 3 * G, 0.02 * 3 * G);
    end(&y);
}

static bool breaks(double force)
{
    begin_with("fast", "semi-implicit-euler", 4, G);
    add("  - {name: load, mass: 3, position: [0, 0, 0], inertia: [0.1, 0.1, 0.1]}\n"
        "constraints:\n  - {kind: ball, a: load, anchor: [0, 0, 0], break_force: %g}\n",
        force);
    joint_world y = make();
    for (int t = 0; t < 120; t++)
        step(&y);
    bool broken = joint_of(&y, 0).broken;
    end(&y);
    return broken;
}

TEST(joints_break_at_their_force)
{
    assert_false(breaks(3 * G * 1.05));
    assert_true(breaks(3 * G * 0.95));
}

// The anchor is in the world, where binary32 has steps of 8 mm.
TEST(a_pendulum_far_away_swings_as_one_at_home)
{
    double at[2];
    for (int far = 0; far < 2; far++) {
        double x = far ? 131072 : 0;
        begin_with("fast", "velocity-verlet", 4, G);
        add("  - {name: bob, mass: 1, position: [%.17g, 0, 0], inertia: [0.1, 0.1, 0.1]}\n"
            "constraints:\n  - {kind: ball, a: bob, anchor: [%.17g, 0, 0]}\n",
            x + 1, x);
        joint_world y = make();
        for (int t = 0; t < 120; t++)
            step(&y);
        at[far] = state_of(&y, "bob").position[0] - x;
        end(&y);
    }
    check_near(at[1], at[0], 1e-6);
}

// Unequal moments, welded: the intermediate axis. Energy and momentum may fall and never grow.
TEST(a_thrown_weld_gains_nothing)
{
    static const char *const schemes[] = {"semi-implicit-euler", "velocity-verlet", "leapfrog"};
    for (int n = 0; n < 3; n++) {
        begin_with("fast", schemes[n], 4, 0);
        add("  - {name: bar, mass: 1, inertia: [0.05, 0.002, 0.05], angular_velocity: [8, 0.02, "
            "0]}\n"
            "  - {name: stem, mass: 0.5, position: [0.15, 0, 0], inertia: [0.001, 0.004, 0.004],"
            " angular_velocity: [8, 0.02, 0], velocity: [0, 0, -0.003]}\n"
            "constraints:\n  - {kind: weld, a: bar, b: stem}\n");
        joint_world y = make();
        double start = energy(&y), most = 0;
        for (int t = 0; t < 1200; t++) {
            step(&y);
            most = fmax(most, energy(&y));
        }
        printf("%s: a thrown weld: energy %.4g to %.4g, at most %.4g\n", schemes[n], start,
               energy(&y), most);
        check_below(most, start * 1.005);
        check_below(0.9 * start, energy(&y));
        end(&y);
    }
}

// A pendulum of two rods keeps its exact solver, and its bits, next to a chain that is fast.
TEST(both_solvers_work_in_one_world)
{
    static const char pendulum[] =
        "  - {name: rod, mass: 1, position: [0.5, 5, 0], inertia: [0.01, 0.08, 0.09]}\n"
        "  - {name: end, mass: 2, position: [1.5, 5, 0], inertia: [0.01, 0.08, 0.09]}\n",
                      joints[] = "  - {kind: hinge, a: rod, anchor: [0, 5, 0], axis: [0, 1, 0]}\n"
                                 "  - {kind: ball, a: rod, b: end, anchor: [1, 5, 0]}\n";
    begin_with("auto", "velocity-verlet", 4, G);
    add("%sconstraints:\n%s", pendulum, joints);
    joint_world alone = make();
    begin_with("auto", "velocity-verlet", 4, G);
    add("%s  - {name: link, mass: 1, position: [0.1, 0, 0], inertia: [0.003, 0.003, 0.003],"
        " grid: {columns: 70, right: [0.2, 0, 0]}}\nconstraints:\n"
        "  - {kind: ball, a: link.0.0, anchor: [0, 0, 0]}\n  - {kind: ball, grid: link}\n%s",
        pendulum, joints);
    joint_world both = make();
    for (int t = 0; t < 240; t++) {
        step(&alone);
        step(&both);
        foliot_body_state a = state_of(&alone, "end"), b = state_of(&both, "end");
        assert_memory_equal(a.position, b.position, sizeof a.position);
        assert_memory_equal(a.velocity, b.velocity, sizeof a.velocity);
        assert_memory_equal(a.orientation, b.orientation, sizeof a.orientation);
    }
    check_below(worst_gap(&both), 0.02);
    assert_true(worst_gap(&both) > 1e-8);
    end(&alone);
    end(&both);
}

// -- determinism

static void same_future(bool collides, const foliot_host *host)
{
    joint_world y[2];
    for (int k = 0; k < 2; k++) {
        begin_with("fast", "velocity-verlet", 3, G);
        if (collides)
            add("  - {name: floor, static: true, shape: {kind: plane, normal: [0, 0, 1], offset: "
                "-2}}\n");
        add("  - {name: link, mass: 1, position: [0.1, 0, 0], inertia: [0.0034, 0.0034, 0.0002],"
            " shape: {kind: sphere, radius: 0.05}, grid: {columns: 40, right: [0.2, 0, 0]}}\n"
            "  - {name: bob, mass: 3, position: [0, 3, 0], inertia: [0.1, 0.2, 0.1]}\n"
            "constraints:\n"
            "  - {kind: hinge, a: link.0.0, anchor: [0, 0, 0], axis: [0, 1, 0]}\n"
            "  - {kind: hinge, grid: link, axis: [0, 1, 0], limits: [-0.6, 0.5], break_force: "
            "900}\n"
            "  - {kind: weld, a: bob, anchor: [0, 3, 1], break_torque: 40}\n"
            "  - {kind: distance, a: bob, b: link.0.20, anchor_a: [0.1, 0, 0], anchor_b: "
            "[0, 0.1, 0], length: 5, length_min: 1}\n");
        y[k] = make();
    }
    size_t length = 0;
    static uint8_t bytes[1 << 20];
    for (int t = 0; t < 240; t++) {
        assert_int_equal(foliot_world_step(y[0].world, NULL, 0, host), FOLIOT_STATUS_OK);
        if (t % 3 == 0)
            foliot_world_copy(y[1].world, y[0].world);
        if (t % 3 == 1) {
            assert_int_equal(foliot_world_capture(y[0].world, bytes, sizeof bytes, &length),
                             FOLIOT_STATUS_OK);
            assert_int_equal(foliot_world_restore(y[1].world, bytes, length), FOLIOT_STATUS_OK);
        }
        if (t % 3 == 2)
            step(&y[1]);
        foliot_digest a = foliot_world_get_digest(y[0].world),
                      b = foliot_world_get_digest(y[1].world);
        assert_memory_equal(&a, &b, sizeof a);
    }
    end(&y[0]);
    end(&y[1]);
}

TEST(a_restored_world_has_the_same_future)
{
    same_future(false, NULL);
    same_future(true, NULL);
}

TEST(threads_change_no_bit)
{
    task_pool *pool = task_pool_create(3);
    const foliot_host host = {
        .threads = 3, .run = task_pool_run, .yield = task_pool_yield, .run_user = pool};
    joint_world alone = net("auto", 24), shared = net("auto", 24);
    for (int t = 0; t < 60; t++) {
        step(&alone);
        assert_int_equal(foliot_world_step(shared.world, NULL, 0, &host), FOLIOT_STATUS_OK);
        foliot_digest a = foliot_world_get_digest(alone.world),
                      b = foliot_world_get_digest(shared.world);
        assert_memory_equal(&a, &b, sizeof a);
    }
    check_gt(task_pool_tasks(pool), 0);
    end(&alone);
    end(&shared);
    task_pool_destroy(pool);
}

// Words of a captured net that a restore refuses if they are the bits of an infinite f32.
static uint32_t refused_words(const char *solver, uint32_t *joints)
{
    static const uint8_t infinite[4] = {0, 0, 0x80, 0x7f};
    joint_world y = net(solver, 3);
    for (int t = 0; t < 5; t++)
        step(&y);
    size_t length = 0;
    uint32_t refused = 0;
    static uint8_t bytes[1 << 16], forged[1 << 16];
    assert_int_equal(foliot_world_capture(y.world, bytes, sizeof bytes, &length), FOLIOT_STATUS_OK);
    foliot_digest before = foliot_world_get_digest(y.world);
    for (size_t at = 0; at + 4 <= length; at += 4) {
        memcpy(forged, bytes, length);
        memcpy(forged + at, infinite, 4);
        if (foliot_world_restore(y.world, forged, length) == FOLIOT_STATUS_OK) {
            for (int t = 0; t < 3; t++)
                step(&y);
            assert_int_equal(foliot_world_restore(y.world, bytes, length), FOLIOT_STATUS_OK);
        } else {
            refused++;
        }
        foliot_digest after = foliot_world_get_digest(y.world);
        assert_memory_equal(&before, &after, sizeof before);
    }
    *joints = y.scene->constraint_count;
    end(&y);
    return refused;
}

// Impulses that no step can have left. A world with exact joints has neither them nor their count.
TEST(forged_impulses_are_refused)
{
    uint32_t joints;
    uint32_t exact = refused_words("exact", &joints), fast = refused_words("fast", &joints);
    check_eq(fast - exact, 8 * joints + 1);
}

// -- commands

#define HAS FOLIOT_COMMAND_HAS
#define LINKS 70
#define AGO 6   // ticks that a world goes back
#define DRAWN 4 // commands in a tick, at most

static foliot_body_id drawn_body(const foliot_world *world, foliot__rng *rng)
{
    return foliot_world_get_body_id(world,
                                    foliot__rng_below(rng, foliot_world_get_body_count(world)));
}

static foliot_command drawn_joint(const foliot_world *world, foliot__rng *rng)
{
    static const foliot_constraint_kind kinds[] = {FOLIOT_CONSTRAINT_DISTANCE,
                                                   FOLIOT_CONSTRAINT_BALL, FOLIOT_CONSTRAINT_HINGE,
                                                   FOLIOT_CONSTRAINT_WELD};
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_joint);
    c.fields = HAS(joint, kind) | HAS(joint, a) | HAS(joint, b);
    c.as.joint.kind = kinds[foliot__rng_below(rng, 4)];
    c.as.joint.a = drawn_body(world, rng);
    c.as.joint.b = drawn_body(world, rng);
    if (foliot__rng_below(rng, 2) && c.as.joint.kind == FOLIOT_CONSTRAINT_HINGE) {
        c.fields |= HAS(joint, angle_min) | HAS(joint, angle_max) | HAS(joint, motor_speed) |
                    HAS(joint, motor_torque);
        c.as.joint.angle_min = -0.5f;
        c.as.joint.angle_max = 0.7f;
        c.as.joint.motor_speed = 1;
        c.as.joint.motor_torque = 0.5f;
    }
    return c;
}

// A chain breaks and is joined again, so its islands cross the bound of 64 joints.
static foliot_command drawn_command(const foliot_world *world, foliot__rng *rng)
{
    uint32_t kind = foliot__rng_below(rng, 16);
    foliot_command c;
    if (kind < 6)
        return drawn_joint(world, rng);
    if (kind < 9) {
        c = foliot_command_default(FOLIOT_COMMAND_break_joint);
        c.fields = HAS(break_joint, joint);
        uint32_t joints = foliot_world_get_joint_count(world);
        c.as.break_joint.joint = foliot_world_get_joint_id(
            world, foliot__rng_below(rng, 2) ? joints - 1 - foliot__rng_below(rng, 4)
                                             : foliot__rng_below(rng, joints));
        return c;
    }
    if (kind < 12) {
        c = foliot_command_default(FOLIOT_COMMAND_set_body);
        c.fields = HAS(set_body, body) | HAS(set_body, motion);
        c.as.set_body.body = drawn_body(world, rng);
        c.as.set_body.motion = foliot__rng_below(rng, 3)   ? FOLIOT_MOTION_DYNAMIC
                               : foliot__rng_below(rng, 2) ? FOLIOT_MOTION_STATIC
                                                           : FOLIOT_MOTION_KINEMATIC;
        return c;
    }
    if (kind < 13) {
        c = foliot_command_default(FOLIOT_COMMAND_despawn);
        c.fields = HAS(despawn, body);
        c.as.despawn.body = drawn_body(world, rng);
        return c;
    }
    if (kind < 14) {
        c = foliot_command_default(FOLIOT_COMMAND_impulse);
        c.fields = HAS(impulse, body) | HAS(impulse, linear);
        c.as.impulse.body = drawn_body(world, rng);
        c.as.impulse.linear[0] = 2;
        return c;
    }
    c = foliot_command_default(FOLIOT_COMMAND_spawn);
    c.fields = HAS(spawn, prototype) | HAS(spawn, position);
    c.as.spawn.position[0] = foliot__rng_below(rng, 14);
    c.as.spawn.position[2] = foliot__rng_below(rng, 3);
    return c;
}

static joint_world commanded_world(const char *solver, bool collides)
{
    begin_with(solver, "semi-implicit-euler", 2, G);
    char *bodies = strstr(text, "bodies:\n");
    sprintf(bodies,
            "sleep: true\nlimits: {commands_max: 8, joints_max: 40, bodies_max: 100}\n"
            "prototypes:\n  - {name: crate, mass: 2, inertia: [0.1, 0.2, 0.15]%s}\nbodies:\n",
            collides ? ", shape: {kind: box, half: [0.2, 0.1, 0.3]}" : "");
    if (collides)
        add("  - {name: floor, static: true, shape: {kind: plane, normal: [0, 0, 1], offset: "
            "-1}}\n");
    add("  - {name: link, mass: 1, position: [0.1, 0, 0], inertia: [0.0034, 0.0034, 0.0002],"
        " grid: {columns: %d, right: [0.2, 0, 0]}%s}\n"
        "constraints:\n  - {kind: ball, grid: link, break_force: 3000}\n",
        LINKS, collides ? ", shape: {kind: sphere, radius: 0.05}" : "");
    return make();
}

static void step_commands(foliot_world *world, const foliot_command *commands, uint32_t count)
{
    const foliot_tick_inputs tick = {.commands = commands, .command_count = count};
    assert_int_equal(foliot_world_step_tick(world, &tick, NULL), FOLIOT_STATUS_OK);
}

// A world that is brought back to an earlier tick, from bytes and from a copy in turn, and takes
// the commands since then once more.
static void replays_alike(const char *solver, bool collides, uint64_t seed)
{
    static uint8_t bytes[1 << 20];
    joint_world y = commanded_world(solver, collides), again = commanded_world(solver, collides),
                kept = commanded_world(solver, collides);
    foliot__rng rng = foliot__rng_seeded(seed);
    foliot_command commands[AGO][DRAWN];
    uint32_t counts[AGO], sequence = 0;
    size_t length = 0;
    for (uint32_t t = 0; t < 900; t++) {
        uint32_t at = t % AGO;
        if (at == 0) {
            foliot_world_copy(kept.world, y.world);
            assert_int_equal(foliot_world_capture(y.world, bytes, sizeof bytes, &length),
                             FOLIOT_STATUS_OK);
        }
        counts[at] = t % 300 < 200 ? foliot__rng_below(&rng, DRAWN + 1) : 0; // then some sleep
        for (uint32_t k = 0; k < counts[at]; k++) {
            commands[at][k] = drawn_command(y.world, &rng);
            commands[at][k].sequence = ++sequence;
        }
        step_commands(y.world, commands[at], counts[at]);
        step_commands(again.world, commands[at], counts[at]);
        for (int twice = 0; twice < 2; twice++) {
            assert_true(foliot_digest_equal(foliot_world_get_digest(y.world),
                                            foliot_world_get_digest(again.world)));
            if (at < AGO - 1)
                break;
            if (t / AGO % 2)
                foliot_world_copy(again.world, kept.world);
            else
                assert_int_equal(foliot_world_restore(again.world, bytes, length),
                                 FOLIOT_STATUS_OK);
            for (uint32_t k = 0; k < AGO; k++)
                step_commands(again.world, commands[k], counts[k]);
        }
        assert_true(foliot_digest_equal(foliot_world_get_digest(y.world),
                                        foliot_world_get_digest(again.world)));
    }
    end(&y);
    end(&again);
    end(&kept);
}

TEST(replayed_commands_give_the_same_joints)
{
    uint64_t seed = check_seed(7);
    for (uint32_t k = 0; k < 2; k++) {
        replays_alike("auto", k, seed);
        replays_alike("fast", k, seed + 1);
    }
}

// -- masses of every size

// A binary order of magnitude more or less mass changes no bit of the motion.
static void tumble(double scale, foliot_body_state *arm, foliot_body_state *load, double *worst)
{
    begin_with("fast", "semi-implicit-euler", 4, G);
    add("  - {name: arm, mass: %.17g, position: [0.3, 0.1, 0], inertia: [%.17g, %.17g, %.17g]}\n"
        "  - {name: load, mass: %.17g, position: [0.7, 0.1, 0.1], inertia: [%.17g, %.17g, %.17g]}\n"
        "  - {name: bob, mass: %.17g, position: [0.7, 0.1, -1], inertia: [%.17g, %.17g, %.17g]}\n"
        "constraints:\n  - {kind: hinge, a: arm, anchor: [0, 0, 0], axis: [0, 1, 0], limits: "
        "[-0.7, 0.5]}\n"
        "  - {kind: weld, a: arm, b: load, anchor: [0.5, 0, 0]}\n"
        "  - {kind: ball, a: load, b: bob, anchor: [0.7, 0.1, -0.5]}\n",
        scale, 0.01 * scale, 0.02 * scale, 0.025 * scale, 2 * scale, 0.01 * scale, 0.02 * scale,
        0.025 * scale, scale / 4, 0.01 * scale, 0.01 * scale, 0.015 * scale);
    joint_world y = make();
    *worst = 0;
    for (int t = 0; t < 240; t++) {
        step(&y);
        *worst = fmax(*worst, worst_gap(&y));
    }
    *arm = state_of(&y, "arm");
    *load = state_of(&y, "load");
    end(&y);
}

TEST(grains_and_planets_are_joined_alike)
{
    foliot_body_state arm[2], load[2];
    double worst;
    tumble(1, &arm[0], &load[0], &worst);
    check_below(worst, 0.02);
    static const double scales[] = {0x1p-60, 0x1p-40, 0x1p40, 0x1p80};
    for (int k = 0; k < 4; k++) {
        tumble(scales[k], &arm[1], &load[1], &worst);
        assert_memory_equal(&arm[0], &arm[1], sizeof arm[0]);
        assert_memory_equal(&load[0], &load[1], sizeof load[0]);
    }
}

// The angle by which a body has turned from an orientation.
static double turned_from(const foliot_body_state *body, const double q[4])
{
    double dot = 0, length = 0;
    for (int k = 0; k < 4; k++) {
        dot += body->orientation[k] * q[k];
        length += q[k] * q[k];
    }
    return 2 * acos(fmin(fabs(dot) / sqrt(length), 1));
}

// A beam of thin rods that lies skew to the world's axes: what bends it has a hundred-thousandth
// of the response of what twists it, and its own axes are those of no entry.
TEST(a_beam_of_thin_rods_stays_straight)
{
    static const double q[4] = {0.8, 0.2, 0.4, 0.4}; // turns x to (0.36, 0.8, -0.48)
    for (double thin = 1e-1; thin > 1e-9; thin /= 10) {
        begin_with("fast", "semi-implicit-euler", 4, G);
        for (int i = 0; i < 3; i++)
            add("  - {name: r%d, mass: 1, position: [%.17g, %.17g, %.17g], orientation: [0.8, 0.2, "
                "0.4, 0.4], inertia: [%.17g, 0.08, 0.08]}\n",
                i, i * 0.36, i * 0.8, i * -0.48, 0.08 * thin);
        add("constraints:\n  - {kind: weld, a: r0, anchor: [-0.18, -0.4, 0.24]}\n"
            "  - {kind: weld, a: r0, b: r1, anchor: [0.18, 0.4, -0.24]}\n"
            "  - {kind: weld, a: r1, b: r2, anchor: [0.54, 1.2, -0.72]}\n");
        joint_world y = make();
        double start = energy(&y), most = start, turned = 0, worst = 0;
        for (int t = 0; t < 600; t++) {
            step(&y);
            foliot_body_state last = state_of(&y, "r2");
            most = fmax(most, energy(&y));
            turned = fmax(turned, turned_from(&last, q));
            worst = fmax(worst, worst_gap(&y));
        }
        printf("rods %.0e thin: turned by %.3g, gap %.3g m, energy %.4g, at most %.4g\n", thin,
               turned, worst, start, most);
        check_below(turned, 0.05);
        check_below(worst, 0.01);
        check_below(most, start + 1e-3);
        end(&y);
    }
}

// The bar is welded to the hub by the 65th joint, which has no colour: unequal moments again.
TEST(a_weld_without_a_colour_gains_nothing)
{
    begin_with("fast", "semi-implicit-euler", 4, 0);
    add("  - {name: hub, mass: 0.5, inertia: [0.004, 0.004, 0.004], angular_velocity: [8, 0.02, "
        "0]}\n"
        "  - {name: bar, mass: 1, position: [0.15, 0, 0], inertia: [0.05, 0.002, 0.05], "
        "angular_velocity: [8, 0.02, 0], velocity: [0, 0, -0.003]}\n"
        "  - {name: s, mass: 0.0001, inertia: [0.0001, 0.0001, 0.0001], grid: {columns: 64, right: "
        "[0, 0, 0]}}\n"
        "constraints:\n");
    for (int i = 0; i < 64; i++)
        add("  - {kind: ball, a: hub, b: s.0.%d, anchor: [0, 0, 0]}\n", i);
    add("  - {kind: weld, a: hub, b: bar}\n");
    joint_world y = make();
    double start = energy(&y), most = 0;
    for (int t = 0; t < 1200; t++) {
        step(&y);
        most = fmax(most, energy(&y));
    }
    printf("a weld without a colour: energy %.4g to %.4g, at most %.4g\n", start, energy(&y), most);
    check_below(most, start * 1.005);
    check_below(0.9 * start, energy(&y));
    end(&y);
}
