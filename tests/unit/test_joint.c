// SPDX-License-Identifier: MIT
// test_joint.c: joints in worlds without contacts, against what mechanics says: chains that do not
// stretch, a double pendulum with the order of its scheme, loops; momentum and energy; the same
// future from a copy and from captured bytes.
#include "joint_world.h"

// -- chains

// Fifty links of 0.2 m, level at the start, with a ball at the end.
static joint_world chain(const char *integrator, const char *joint, double ratio)
{
    begin(integrator, 1.0 / 60, 4, G);
    add("  - {name: link, mass: 1, position: [0.1, 0, 0], inertia: [0.0034, 0.0034, 0.0002],"
        " grid: {columns: 50, right: [0.2, 0, 0]}}\n");
    add("  - {name: ball, mass: %g, position: [10.3, 0, 0], inertia: [%g, %g, %g]}\n", ratio,
        0.036 * ratio, 0.036 * ratio, 0.036 * ratio);
    add("constraints:\n  - {%s, a: link.0.0, anchor: [0, 0, 0]}\n  - {%s, grid: link}\n"
        "  - {%s, a: link.0.49, b: ball, anchor: [10, 0, 0]}\n",
        joint, joint, joint);
    return make();
}

// The velocities of semi-implicit Euler are those of half a substep before the positions.
static double energy_in_time(const joint_world *y, const char *integrator)
{
    bool late = strcmp(integrator, "semi-implicit-euler") == 0;
    foliot_invariants now = foliot_world_get_invariants(y->world, NULL);
    return energy(y) - (late ? now.momentum[2] * G / 60 / 4 / 2 : 0);
}

static void check_chain(const char *integrator, const char *joint, double ratio, double seconds)
{
    joint_world y = chain(integrator, joint, ratio);
    double worst = 0, most = 0, least = 0, drop = ratio * G * 10.3;
    for (int t = 0; t < 60 * seconds; t++) {
        step(&y);
        worst = fmax(worst, worst_gap(&y));
        most = fmax(most, energy_in_time(&y, integrator));
        least = fmin(least, energy_in_time(&y, integrator));
    }
    printf("%s, %s, end %g x a link: gap at most %.2g of a link, energy %+.2g to %+.2g\n",
           integrator, joint, ratio, worst / 0.2, least / drop, most / drop);
    check_below(worst, 0.2 * 0.002); // a hundredth is asked for
    check_below(most, (ratio > 1 ? 0.01 : 0.05) * drop);
    check_below(-least, 0.05 * drop);
    end(&y);
}

TEST(a_chain_of_fifty_does_not_stretch)
{
    static const char hinge[] = "kind: hinge, axis: [0, 1, 0]";
    check_chain("semi-implicit-euler", hinge, 50, 12);
    check_chain("velocity-verlet", hinge, 50, 12);
    check_chain("semi-implicit-euler", hinge, 1000, 12);
    check_chain("velocity-verlet", "kind: ball", 1000, 12);
    check_chain("semi-implicit-euler", "kind: ball", 1, 5);
}

// -- a double pendulum

#define ROD 0.8

static joint_world double_pendulum(const char *integrator, double dt)
{
    const double angle = 1.9, x = sin(angle) * ROD, z = -cos(angle) * ROD, i = ROD * ROD / 12;
    begin(integrator, dt, 1, G);
    for (int k = 0; k < 2; k++)
        add("  - {name: rod%d, mass: 1, position: [%.17g, 0, %.17g], inertia: [%.17g, %.17g, "
            "0.001],"
            " orientation: [%.17g, 0, %.17g, 0]}\n",
            k, (0.5 + k) * x, (0.5 + k) * z, i, i, cos(angle / 2), -sin(angle / 2));
    add("constraints:\n  - {kind: hinge, a: rod0, anchor: [0, 0, 0], axis: [0, 1, 0]}\n"
        "  - {kind: hinge, a: rod0, b: rod1, anchor: [%.17g, 0, %.17g], axis: [0, 1, 0]}\n",
        x, z);
    return make();
}

// Two uniform rods by Lagrange's equations; y: angles from straight down, and their speeds.
static void slopes(const double y[4], double dy[4])
{
    double c = cos(y[0] - y[1]), s = sin(y[0] - y[1]);
    double b0 = -0.5 * s * y[3] * y[3] - 1.5 * G / ROD * sin(y[0]);
    double b1 = 0.5 * s * y[2] * y[2] - 0.5 * G / ROD * sin(y[1]);
    double m00 = 4.0 / 3, m01 = 0.5 * c, m11 = 1.0 / 3, det = m00 * m11 - m01 * m01;
    dy[0] = y[2];
    dy[1] = y[3];
    dy[2] = (m11 * b0 - m01 * b1) / det;
    dy[3] = (m00 * b1 - m01 * b0) / det;
}

static void reference(double duration, double y[4])
{
    const int steps = 40000;
    double h = duration / steps;
    for (int n = 0; n < steps; n++) {
        double k[4][4], at[4];
        slopes(y, k[0]);
        for (int s = 1; s < 4; s++) {
            for (int i = 0; i < 4; i++)
                at[i] = y[i] + h * (s == 3 ? 1 : 0.5) * k[s - 1][i];
            slopes(at, k[s]);
        }
        for (int i = 0; i < 4; i++)
            y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
}

static double pendulum_error(const char *integrator, double dt, const double exact[4])
{
    joint_world y = double_pendulum(integrator, dt);
    for (int t = 0; t < (int)(1.5 / dt + 0.5); t++)
        step(&y);
    foliot_body_state s = state_of(&y, "rod0");
    double x = s.position[0] - ROD / 2 * sin(exact[0]), z = s.position[2] + ROD / 2 * cos(exact[0]);
    check_below(worst_gap(&y), 1e-9);
    end(&y);
    return sqrt(x * x + z * z);
}

TEST(a_double_pendulum_has_the_order_of_its_scheme)
{
    static const struct {
        const char *name;
        double order;
    } schemes[] = {{"semi-implicit-euler", 1}, {"velocity-verlet", 2}, {"leapfrog", 2}};
    double exact[4] = {1.9, 1.9, 0, 0};
    reference(1.5, exact);
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        double coarse = pendulum_error(schemes[i].name, 1.0 / 480, exact);
        double fine = pendulum_error(schemes[i].name, 1.0 / 960, exact);
        printf("%s: error %.3g m, at half the step %.3g m\n", schemes[i].name, coarse, fine);
        check_below(fine, 0.05);
        check_near(log2(coarse / fine), schemes[i].order, 0.25);
    }
}

// -- loops

// A bridge held at both ends; a net held at two corners.
static joint_world net(const char *integrator, int rows, int columns)
{
    begin(integrator, 1.0 / 60, 4, G);
    add("  - {name: knot, mass: 0.1, position: [0, 0, 5], inertia: [0.001, 0.001, 0.001],"
        " grid: {rows: %d, columns: %d, right: [0.5, 0, 0], down: [0, 0.5, 0], pins: [[0, 0], [0, "
        "%d]]}}\n"
        "constraints:\n  - {kind: ball, grid: knot}\n",
        rows, columns, columns - 1);
    return make();
}

static void check_net(const char *integrator, int rows, int columns)
{
    joint_world y = net(integrator, rows, columns);
    double start = energy(&y), most = start, worst = 0;
    for (int t = 0; t < 180; t++) {
        step(&y);
        most = fmax(most, energy(&y));
        worst = fmax(worst, worst_gap(&y));
    }
    printf("%s, net of %d x %d: gap at most %.2g, energy %.4g -> %.4g, at most %.4g\n", integrator,
           rows, columns, worst, start, energy(&y), most);
    check_below(most - start, 0.02 * fabs(start));
    check_below(worst, 0.005);
    end(&y);
}

TEST(energy_never_grows_in_a_hanging_net)
{
    check_net("semi-implicit-euler", 1, 20);
    check_net("velocity-verlet", 1, 20);
    check_net("semi-implicit-euler", 4, 4);
    check_net("velocity-verlet", 4, 4);
}

// Four hinges in a plane: three rows too many.
TEST(a_ring_of_hinges_moves_as_one)
{
    begin("velocity-verlet", 1.0 / 60, 4, G);
    add("  - {name: left, mass: 1, position: [0, 0, 0.5], inertia: [0.1, 0.1, 0.1]}\n"
        "  - {name: top, mass: 1, position: [1, 0, 1], inertia: [0.4, 0.4, 0.4]}\n"
        "  - {name: right, mass: 1, position: [2, 0, 0.5], inertia: [0.1, 0.1, 0.1], velocity: [0, "
        "0, 0]}\n"
        "constraints:\n  - {kind: hinge, axis: [0, 1, 0], a: left, anchor: [0, 0, 0]}\n"
        "  - {kind: hinge, axis: [0, 1, 0], a: left, b: top, anchor: [0, 0, 1]}\n"
        "  - {kind: hinge, axis: [0, 1, 0], a: top, b: right, anchor: [2, 0, 1]}\n"
        "  - {kind: hinge, axis: [0, 1, 0], a: right, anchor: [2, 0, 0], motor: {speed: 1, torque: "
        "4}}\n");
    joint_world y = make();
    double most = 0;
    for (int t = 0; t < 600; t++) {
        step(&y);
        check_below(worst_gap(&y), 1e-5);
        most = fmax(most, fabs(angle_y(&y, "right")));
        if (most < 0.5) // before it lies flat, where a ring may fold either way
            check_near(angle_y(&y, "left"), angle_y(&y, "right"), 1e-5);
        check_near(angle_y(&y, "top"), 0, most < 0.5 ? 1e-5 : 10);
    }
    check_below(0.5, most);
    end(&y);
}

// -- what mechanics keeps

static joint_world tumbling(const char *integrator)
{
    begin(integrator, 1.0 / 60, 4, 0);
    add("  - {name: a, mass: 1.3, position: [0, 0, 0], inertia: [0.2, 0.3, 0.4], angular_velocity: "
        "[1, 2, -1]}\n"
        "  - {name: b, mass: 0.7, position: [1, 0.2, 0], inertia: [0.1, 0.1, 0.15], velocity: [0, "
        "1, 0.3]}\n"
        "  - {name: c, mass: 2.1, position: [2, 0, 0.3], inertia: [0.3, 0.4, 0.5], orientation: "
        "[1, 2, 3, 4]}\n"
        "constraints:\n  - {kind: ball, a: a, b: b, anchor: [0.4, 0.1, 0.2]}\n"
        "  - {kind: hinge, a: c, b: b, anchor: [1.6, 0.2, 0], axis: [1, 1, 0.3]}\n");
    return make();
}

TEST(momentum_is_kept_without_anchors)
{
    static const char *const names[] = {"semi-implicit-euler", "velocity-verlet", "leapfrog"};
    for (int i = 0; i < 3; i++) {
        joint_world y = tumbling(names[i]);
        step(&y); // what does not fit the joints at the start is gone
        foliot_invariants before = foliot_world_get_invariants(y.world, NULL);
        double kinetic = before.kinetic, worst = 0;
        for (int t = 0; t < 3600; t++) {
            step(&y);
            worst =
                fmax(worst, fabs(foliot_world_get_invariants(y.world, NULL).kinetic / kinetic - 1));
        }
        foliot_invariants after = foliot_world_get_invariants(y.world, NULL);
        double turned = 0;
        for (int k = 0; k < 3; k++) {
            check_near(after.momentum[k], before.momentum[k], 1e-11);
            turned = fmax(turned, fabs(after.angular_momentum[k] - before.angular_momentum[k]));
        }
        printf("%s, a minute of tumbling: angular momentum off by %.2g, energy by %.2g\n", names[i],
               turned, worst);
        check_below(turned, 1e-8);
        check_below(worst, 1e-3);
        end(&y);
    }
}

// Two capsules' moments welded to a T, thrown: it turns over time and again (the intermediate
// axis).
TEST(a_thrown_t_handle_turns_over)
{
    begin("velocity-verlet", 1.0 / 60, 4, 0);
    add("  - {name: bar, mass: 1, inertia: [0.05, 0.002, 0.05], angular_velocity: [8, 0.02, 0]}\n"
        "  - {name: stem, mass: 0.5, position: [0.15, 0, 0], inertia: [0.001, 0.004, 0.004],"
        " angular_velocity: [8, 0.02, 0], velocity: [0, 0, -0.003]}\n"
        "constraints:\n  - {kind: weld, a: bar, b: stem}\n");
    joint_world y = make();
    step(&y);
    foliot_invariants before = foliot_world_get_invariants(y.world, NULL);
    double worst = 0, off = 0;
    int turns = 0;
    bool up = true;
    for (int t = 0; t < 3600; t++) {
        step(&y);
        foliot_invariants now = foliot_world_get_invariants(y.world, NULL);
        worst = fmax(worst, fabs(now.kinetic / before.kinetic - 1));
        off = fmax(off, fabs(now.angular_momentum[0] - before.angular_momentum[0]));
        foliot_body_state s = state_of(&y, "bar");
        double axis[3], arm[3] = {1, 0, 0};
        point_of(&s, arm, axis);
        bool above = axis[0] - s.position[0] > 0;
        turns += above != up;
        up = above;
    }
    printf(
        "a T-handle: turns over %d times a minute, energy off by %.2g, angular momentum by %.2g\n",
        turns, worst, off);
    check_below(worst, 3e-3); // the scheme's own, of order 2; it does not drift
    check_below(off, 1e-9);
    check_below(gap(&y, 0), 1e-9);
    check_ge(turns, 4);
    end(&y);
}

// -- determinism

TEST(a_restored_world_has_the_same_future)
{
    joint_world y =
        chain("semi-implicit-euler",
              "kind: hinge, axis: [0, 1, 0], limits: [-0.6, 0.5], break_force: 9e4", 300);
    joint_world other =
        chain("semi-implicit-euler",
              "kind: hinge, axis: [0, 1, 0], limits: [-0.6, 0.5], break_force: 9e4", 300);
    size_t length = 0;
    static uint8_t bytes[1 << 20];
    for (int t = 0; t < 240; t++) {
        step(&y);
        foliot_world_copy(other.world, y.world);
        if (t % 2)
            assert_int_equal(foliot_world_capture(y.world, bytes, sizeof bytes, &length),
                             FOLIOT_STATUS_OK);
        if (t % 2)
            assert_int_equal(foliot_world_restore(other.world, bytes, length), FOLIOT_STATUS_OK);
        step(&y);
        step(&other);
        foliot_digest a = foliot_world_get_digest(y.world),
                      b = foliot_world_get_digest(other.world);
        assert_memory_equal(&a, &b, sizeof a);
    }
    end(&y);
    end(&other);
}

TEST(every_scheme_that_admits_contacts_holds_joints)
{
    for (int id = 1; id < FOLIOT_INTEGRATOR_COUNT; id++) {
        const foliot_integrator_info *info = foliot_integrator_get_info((foliot_integrator)id);
        if (!info || !info->contacts || info->reversible == FOLIOT_REVERSIBILITY_EXACT)
            continue;
        joint_world y = double_pendulum(info->name, 1.0 / 240);
        double start = energy(&y), worst = 0, off = 0;
        for (int t = 0; t < 1200; t++) {
            step(&y);
            worst = fmax(worst, worst_gap(&y));
            off = fmax(off, fabs(energy(&y) - start));
        }
        printf("%s: gap at most %.2g, energy off by %.2g J\n", info->name, worst, off);
        check_below(worst, 1e-6);
        check_chain(info->name, "kind: hinge, axis: [0, 1, 0]", 50, 4);
        if (id != FOLIOT_INTEGRATOR_EXPLICIT_EULER) // which gains energy without joints, too
            check_below(off, 1.5);
        end(&y);
    }
}
