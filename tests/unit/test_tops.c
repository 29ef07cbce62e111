// SPDX-License-Identifier: MIT
// test_tops.c: thrown bodies on which no torque acts, compared with their closed forms: a symmetric
// top, whose axis goes round its angular momentum at an even rate, and a T-handle, which turns over
// time and again (Landau and Lifshitz, Mechanics, sections 35 and 37). A minute at 60 Hz, every
// scheme that turns bodies.
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "problems.h"
#include "text_world.h"
#include "slots.h"

#define TICKS 3600
#define DT (1.0 / 60)

// Share of the energy that a scheme whose rotation is of that order may lose.
static const double energy_lost[9] = {[2] = 7e-4, [4] = 7e-6, [6] = 2e-9, [8] = 1e-10};
#define MOMENTUM_LOST 5e-13

typedef struct flight {
    problem p;
    foliot_world *world;
    double inertia[3];
    double energy, momentum[3], length; // of rotation, at the start; momentum in the world
    double energy_off, momentum_off;    // largest so far, as shares
} flight;

typedef struct pose {
    double axis[3][3]; // the body's, in the world
    double spin[3];    // about them
    double energy, momentum[3];
} pose;

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static pose pose_of(const flight *f)
{
    foliot_body_state s = slot_state(f->world, 0);
    const double *q = s.orientation;
    pose now = {.energy = 0};
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        now.axis[k][k] =
            q[0] * q[0] + q[1 + k] * q[1 + k] - q[1 + i] * q[1 + i] - q[1 + j] * q[1 + j];
        now.axis[k][i] = 2 * (q[1 + k] * q[1 + i] + q[0] * q[1 + j]);
        now.axis[k][j] = 2 * (q[1 + k] * q[1 + j] - q[0] * q[1 + i]);
        now.spin[k] = dot(now.axis[k], s.angular_velocity);
        now.energy += f->inertia[k] * now.spin[k] * now.spin[k] / 2;
        for (int n = 0; n < 3; n++)
            now.momentum[n] += f->inertia[k] * now.spin[k] * now.axis[k][n];
    }
    return now;
}

// Thrown upwards, so that it flies for that minute.
static void throw_it(flight *f, foliot_integrator id, const double inertia[3], const double spin[3])
{
    problem_body(&f->p, id, DT);
    f->p.scene.gravity[2] = -9.81;
    foliot_body_definition *b = &f->p.bodies[0];
    memcpy(b->inertia, inertia, sizeof b->inertia);
    memcpy(f->inertia, inertia, sizeof f->inertia);
    memcpy(b->angular_velocity, spin, sizeof b->angular_velocity);
    b->velocity[2] = 294.3;
    f->world = problem_world(&f->p);
    pose start = pose_of(f);
    f->energy = start.energy;
    memcpy(f->momentum, start.momentum, sizeof f->momentum);
    f->length = sqrt(dot(start.momentum, start.momentum));
    f->energy_off = f->momentum_off = 0;
}

static pose fly_on(flight *f)
{
    problem_step(&f->p, f->world, 1);
    pose now = pose_of(f);
    double off[3];
    for (int k = 0; k < 3; k++)
        off[k] = now.momentum[k] - f->momentum[k];
    f->energy_off = fmax(f->energy_off, fabs(now.energy / f->energy - 1));
    f->momentum_off = fmax(f->momentum_off, sqrt(dot(off, off)) / f->length);
    return now;
}

static void land(flight *f, const foliot_integrator_info *info, const char *what)
{
    print_message("%s, %-26s energy off by %.1e, angular momentum by %.1e\n", what, info->name,
                  f->energy_off, f->momentum_off);
    check_below(f->energy_off, energy_lost[info->rotation_order]);
    check_below(f->momentum_off, MOMENTUM_LOST);
    foliot_world_destroy(f->world);
}

typedef void scheme_test(const foliot_integrator_info *info);
static void with_every_scheme(scheme_test *test)
{
    for (int i = 1; i < FOLIOT_INTEGRATOR_COUNT; i++) {
        const foliot_integrator_info *info = foliot_integrator_get_info((foliot_integrator)i);
        if (info->reversible != FOLIOT_REVERSIBILITY_EXACT) // nothing turns there
            test(info);
    }
}

// -- a symmetric top

// Angle of the axis about the momentum m, from `from`, both perpendicular parts taken.
static double turned_about(const double m[3], const double from[3], const double to[3])
{
    double length = sqrt(dot(m, m)), u[3], v[3], across[3];
    for (int k = 0; k < 3; k++) {
        u[k] = from[k] - dot(from, m) / (length * length) * m[k];
        v[k] = to[k] - dot(to, m) / (length * length) * m[k];
    }
    for (int k = 0; k < 3; k++)
        across[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
    return atan2(dot(across, m) / length, dot(u, v));
}

static void top(const foliot_integrator_info *info)
{
    static const double inertia[3] = {1.2, 1.2, 2}, spin[3] = {0.8, 0, 3};
    flight f;
    throw_it(&f, info->id, inertia, spin);
    double begin[3] = {0, 0, 1}, before[3] = {0, 0, 1}, angle = 0;
    double lean = dot(begin, f.momentum), nod = 0;
    for (int t = 0; t < TICKS; t++) {
        pose now = fly_on(&f);
        angle += turned_about(f.momentum, before, now.axis[2]);
        nod = fmax(nod, fabs(dot(now.axis[2], f.momentum) - lean) / f.length);
        memcpy(before, now.axis[2], sizeof before);
    }
    double expected =
        f.length / inertia[0] * TICKS * DT; // L / I1 a second, and the axis does not nod
    double per_turn = fabs(angle / expected - 1);
    if (info->rotation_order == 8) {
        print_message("the axis goes round %.1f times, off by %.1e of it, and nods by %.1e\n",
                      angle / (2 * M_PI), per_turn, nod);
        check_below(per_turn, 1e-10);
        check_below(nod, 1e-10);
    }
    check_below(per_turn, 2e-3);
    check_below(nod, 2e-3);
    land(&f, info, "top");
}

TEST(a_top_goes_round_its_momentum)
{
    with_every_scheme(top);
}

// -- a T-handle

// Bar of mass 2 and length 0.3 along y, stem of mass 1 and length 0.2 along x from its middle, 2 cm
// thick.
static void handle_inertia(double inertia[3])
{
    double centre = 0.1 / 3, bar = 2 * 0.3 * 0.3 / 12, stem = 0.2 * 0.2 / 12,
           thick = 0.02 * 0.02 / 12;
    inertia[0] = bar + 6 * thick;
    inertia[1] = stem + 2 * centre * centre + (0.1 - centre) * (0.1 - centre) + 6 * thick;
    inertia[2] = inertia[0] + inertia[1] - 6 * thick;
}

// Complete elliptic integral of the first kind by the arithmetic-geometric mean.
static double elliptic(double k2)
{
    double a = 1, g = sqrt(1 - k2);
    for (int n = 0; n < 30; n++) {
        double mean = (a + g) / 2;
        g = sqrt(a * g);
        a = mean;
    }
    return M_PI / (2 * a);
}

// Seconds from one turning over to the next.
static double time_between(const double inertia[3], const double spin[3])
{
    double i1 = inertia[1], i2 = inertia[0],
           i3 = inertia[2]; // ascending: it spins about the middle one
    double twice = i1 * spin[1] * spin[1] + i2 * spin[0] * spin[0] + i3 * spin[2] * spin[2];
    double square =
        i1 * i1 * spin[1] * spin[1] + i2 * i2 * spin[0] * spin[0] + i3 * i3 * spin[2] * spin[2];
    double k2 = (i2 - i1) * (twice * i3 - square) / ((i3 - i2) * (square - twice * i1));
    return 2 * elliptic(k2) * sqrt(i1 * i2 * i3 / ((i3 - i2) * (square - twice * i1)));
}

static void handle(const foliot_integrator_info *info)
{
    static const double spin[3] = {3, 0, 0.003};
    double inertia[3];
    handle_inertia(inertia);
    flight f;
    throw_it(&f, info->id, inertia, spin);
    double last = spin[0], first_time = 0, last_time = 0, expected = time_between(inertia, spin);
    int turns = 0;
    for (int t = 1; t <= TICKS; t++) {
        double now = fly_on(&f).spin[0];
        if (now * last < 0) {
            last_time = (t - 1 + last / (last - now)) * DT;
            first_time = turns++ == 0 ? last_time : first_time;
        }
        last = now;
    }
    double between = (last_time - first_time) / (turns - 1);
    assert_int_equal(turns, floor(TICKS * DT / expected + 0.5));
    check_near(between, expected, (info->rotation_order > 2 ? 1e-4 : 0.01) * expected);
    if (info->rotation_order == 8)
        print_message(
            "a T-handle turns over %d times, every %.5f s; by the elliptic integral %.5f s\n",
            turns, between, expected);
    land(&f, info, "T-handle");
}

TEST(a_thrown_t_handle_turns_over_when_it_should)
{
    with_every_scheme(handle);
}

// -- turntable: Goal: a body that static friction holds on a turning, moving or tilting one stays
// where it is, at every number of substeps. Method: closed forms. Its place in the frame of the
// other is constant; a ball that rolls runs on a circle at 2/7 of the table's speed.

#define TABLE                                                                                      \
    "  - {name: table, kinematic: true, angular_velocity: [0, 0, 2], position: [0, 0, -0.1],"      \
    " shape: {kind: box, half: [5, 5, 0.1]}}\n"
#define HEAVY_TABLE                                                                                \
    "  - {name: table, mass: 1e6, angular_velocity: [0, 0, 2], position: [0, 0, -0.1],"            \
    " shape: {kind: box, half: [5, 5, 0.1]}}\n"
#define PIVOT "constraints:\n  - {kind: hinge, a: table, anchor: [0, 0, -0.1], axis: [0, 0, 1]}\n"
#define CUBE                                                                                       \
    "  - {name: box, mass: 1, position: [0.5, 0, 0.05], velocity: [0, 1, 0],"                      \
    " angular_velocity: [0, 0, 2], shape: {kind: box, half: [0.05, 0.05, 0.05]}}\n"
// Its contact is off its centre: it lies on the table's edge.
#define OVERHANGING                                                                                \
    "  - {name: plank, mass: 1, position: [0.5, 0, 0.05], velocity: [0, 1, 0],"                    \
    " angular_velocity: [0, 0, 2], shape: {kind: box, half: [0.3, 0.1, 0.05]}}\n"
#define SMALL_TABLE                                                                                \
    "  - {name: table, kinematic: true, angular_velocity: [0, 0, 2], position: [0, 0, -0.1],"      \
    " shape: {kind: box, half: [0.6, 5, 0.1]}}\n"

#define PLATFORM                                                                                   \
    "  - {name: platform, kinematic: true, velocity: [0.5, 0.1, 0.2],"                             \
    " angular_velocity: [0, 0, 1], position: [0, 0, -0.1], shape: {kind: box, half: [5, 5, "       \
    "0.1]}}\n"                                                                                     \
    "  - {name: box, mass: 1, position: [0.5, 0, 0.05], velocity: [0.5, 0.6, 0.2],"                \
    " angular_velocity: [0, 0, 1], shape: {kind: box, half: [0.05, 0.05, 0.05]}}\n"
#define LIFT                                                                                       \
    "  - {name: lift, kinematic: true, velocity: [1, 0.3, 0.5], position: [0, 0, -0.1],"           \
    " shape: {kind: box, half: [5, 5, 0.1]}}\n"                                                    \
    "  - {name: box, mass: 1, position: [0.5, 0, 0.05], velocity: [1, 0.3, 0.5],"                  \
    " shape: {kind: box, half: [0.05, 0.05, 0.05]}}\n"
#define TILTING                                                                                    \
    "  - {name: plank, kinematic: true, angular_velocity: [0, 0.005, 0], position: [0, 0, -0.1],"  \
    " shape: {kind: box, half: [5, 5, 0.1]}}\n"                                                    \
    "  - {name: box, mass: 1, position: [0.5, 0, 0.05], shape: {kind: box, half: [0.05, 0.05, "    \
    "0.05]}}\n"
#define STANDING                                                                                   \
    "  - {name: floor, static: true, shape: {kind: plane}}\n"                                      \
    "  - {name: box, mass: 1, position: [0.5, 0, 0.05], shape: {kind: box, half: [0.05, 0.05, "    \
    "0.05]}}\n"

static foliot_world *world_under(uint32_t substeps, double gravity_x, const char *bodies)
{
    char text[2048];
    snprintf(text, sizeof text,
             "foliot: 1\nname: turntable\ntick_hz: 60\nsubsteps: %u\ngravity: [%g, 0, -9.81]\n"
             "bodies:\n%s",
             substeps, gravity_x, bodies);
    return text_world(text);
}

static foliot_world *world_of(uint32_t substeps, const char *bodies)
{
    return world_under(substeps, 0, bodies);
}

// Where body 1 is in the frame of body 0, and how far it has turned there about that body's z.
typedef struct place {
    double x, y, z, turned;
} place;

static place place_on_table(const foliot_world *world)
{
    foliot_body_state t = state_of(world, 0), b = state_of(world, 1);
    const double *q = t.orientation, *p = b.orientation;
    double angle = 2 * atan2(q[3], q[0]), d[3]; // it turns about z alone
    for (int k = 0; k < 3; k++)
        d[k] = b.position[k] - t.position[k];
    double w = (q[0] * p[0] + q[1] * p[1]) + (q[2] * p[2] + q[3] * p[3]);
    double z = (q[0] * p[3] - q[1] * p[2]) + (q[2] * p[1] - q[3] * p[0]);
    return (place){d[0] * cos(angle) + d[1] * sin(angle), d[1] * cos(angle) - d[0] * sin(angle),
                   d[2], 2 * atan2(z, w)};
}

// A minute, of 19 turns for the table. The body settles into the table in the first second, by up
// to `settles`, and creeps nowhere afterwards.
static void stays_in_place(uint32_t substeps, const char *bodies, double settles)
{
    foliot_world *world = world_of(substeps, bodies);
    place begin = place_on_table(world), settled = begin;
    for (int k = 0; k < 60; k++) {
        step_ticks(world, 60);
        place now = place_on_table(world);
        settled = k == 0 ? now : settled;
        check_near(now.x, begin.x, settles);
        check_near(now.y, begin.y, 1e-3);
        check_near(now.z, begin.z, 5e-3);
        check_near(now.x, settled.x, 0.15e-3);
        check_near(now.y, settled.y, 0.15e-3);
        check_near(remainder(now.turned - begin.turned, 2 * acos(-1)), 0, 0.5e-3);
    }
    foliot_world_destroy(world);
}

TEST(a_box_stays_in_place_at_every_number_of_substeps)
{
    for (uint32_t substeps = 1; substeps <= 16; substeps++)
        stays_in_place(substeps, TABLE CUBE, 1e-3);
}

TEST(a_plank_that_overhangs_stays_in_place)
{
    for (uint32_t substeps = 1; substeps <= 16; substeps *= 2)
        stays_in_place(substeps, SMALL_TABLE OVERHANGING, 1e-3);
}

TEST(a_table_that_turns_by_itself_carries_as_well)
{
    for (uint32_t substeps = 1; substeps <= 16; substeps *= 2)
        stays_in_place(substeps, HEAVY_TABLE CUBE PIVOT, substeps == 2 ? 1.2e-3 : 1e-3);
}

TEST(a_box_stays_on_a_platform_that_moves_and_turns)
{
    for (uint32_t substeps = 1; substeps <= 16; substeps *= 2) {
        stays_in_place(substeps, PLATFORM, 1e-3);
        stays_in_place(substeps, LIFT, 1e-3);
    }
}

// Its friction holds up to a slope of 0.5; gravity along x is that of a slope of 0.3.
TEST(a_box_creeps_down_no_slope)
{
    for (uint32_t substeps = 1; substeps <= 16; substeps *= 2) {
        foliot_world *world = world_under(substeps, 3, STANDING);
        step_ticks(world, 3600);
        check_near(state_of(world, 1).position[0], 0.5, 0.1e-3);
        check_near(state_of(world, 1).position[1], 0, 0.01e-3);
        foliot_world_destroy(world);
    }
}

// A plank tilts by 0.3 radians in a minute, about y.
TEST(a_box_stays_in_place_on_a_plank_that_tilts)
{
    for (uint32_t substeps = 1; substeps <= 16; substeps *= 2) {
        foliot_world *world = world_of(substeps, TILTING);
        step_ticks(world, 3600);
        foliot_body_state box = state_of(world, 1);
        const double *p = box.position, tilt = 0.005 * 60;
        check_near(p[0] * cos(tilt) - (p[2] + 0.1) * sin(tilt), 0.5, 0.1e-3);
        check_near(p[1], 0, 0.01e-3);
        foliot_world_destroy(world);
    }
}

// Its velocity turns at 2/7 of the table's speed: half a circle takes 7 pi / 4 s.
TEST(a_ball_rolls_on_a_circle)
{
    for (uint32_t substeps = 4; substeps <= 16; substeps *= 2) {
        foliot_world *world = world_of(
            substeps, TABLE "  - {name: ball, mass: 1, position: [0.5, 0, 0.1], friction: 1,"
                            " velocity: [0, 0.2, 0], angular_velocity: [8, 0, 0],"
                            " shape: {kind: sphere, radius: 0.1}}\n");
        step_ticks(world, 330);
        foliot_body_state s = state_of(world, 1);
        double turned = 4. / 7 * 5.5;
        check_near(s.position[0], 0.15 + 0.35 * cos(turned), 2e-3);
        check_near(s.position[1], 0.35 * sin(turned), 2e-3);
        foliot_world_destroy(world);
    }
}
