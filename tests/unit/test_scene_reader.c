// SPDX-License-Identifier: MIT
// test_scene_reader.c: scenes as text. Valid ones mean what they should, value by value; every
// ready scene is valid; and that each of bad_scenes.txt is refused with its status, place, key and
// message.
#include "check.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foliot/foliot.h"

#define BAD_SCENES "tests/unit/bad_scenes.txt"
#define BAD_LEAST 256
#define NAMES_MAX 1024

static foliot_scene *parsed(const char *text)
{
    foliot_scene *scene = NULL;
    foliot_error error;
    int status = foliot_scene_parse(text, strlen(text), "text", NULL, &scene, &error);
    if (status != FOLIOT_STATUS_OK)
        print_error("%s\n", error.text);
    assert_int_equal(status, FOLIOT_STATUS_OK);
    return scene;
}

static void expect_error(const char *text, const char *message)
{
    foliot_scene *scene = NULL;
    foliot_error error;
    check_ne(foliot_scene_parse(text, strlen(text), "text", NULL, &scene, &error),
             FOLIOT_STATUS_OK);
    assert_null(scene);
    assert_string_equal(error.text, message);
}

#define HEAD "foliot: 1\nname: t\ntick_hz: 60\n"
#define BALL "bodies: [{name: ball}]\n"

// Every key, once.
static const char every_key[] =
    "foliot: 1\n"
    "name: outer solar system\n"
    "units: {length: AU, time: day, mass: Msun}\n"
    "dt: 10\n"
    "pace_hz: 30\n"
    "substeps: 4\n"
    "integrator: {name: backward-euler, tolerance: 1e-9, iterations: 7}\n"
    "constraint_iterations: 12\n"
    "seed: 0xffffffffffffffff\n"
    "gravity: [0, -1.5, -9.81]\n"
    "limits: {speed_max: 32, bodies_max: 1024}\n"
    "forces:\n"
    "  - {kind: newton, constant: 2.95912208286e-4, softening: 0.5}\n"
    "  - {kind: drag, linear: 0.1, quadratic: 0.2}\n"
    "  - {kind: spring, a: ball, anchor: [1, 2, 3], stiffness: 15, damping: 0.1, length: 2}\n"
    "  - {kind: spring, a: ball, b: other, stiffness: 15, damping: 1, damping_kind: isotropic}\n"
    "  - {kind: attractor, position: [4, 5, 6], strength: 1.25}\n"
    "  - {kind: constant, body: other, force: [7, 8, 9], start: 1, end: 2}\n"
    "  - {kind: uniform, acceleration: [0, 0, 1]}\n"
    "bodies:\n"
    "  - {name: ball, mass: 2, position: [1000, 0, 0], velocity: [0, 0x1.8p-1, 0],\n"
    "     shape: {kind: sphere, radius: 0.2}, friction: 0.6, restitution: 0.1, force: [1, 0, 0],\n"
    "     orientation: [0, 1, 0, 0], angular_velocity: [0, 0, 3], inertia: [2, 2, 3]}\n"
    "  - {name: floor, static: true, shape: {kind: plane, normal: [0, 0, 2], offset: -1}}\n"
    "  - {name: other, position: [1000, 3, 4]}\n"
    "constraints:\n"
    "  - {kind: distance, a: ball, b: other, length: 9, length_min: 2, stiffness: 0.5,\n"
    "     break_force: 100}\n"
    "  - {kind: distance, a: ball, anchor: [1000, 0, 2]}\n"
    "players:\n"
    "  limit: 4\n"
    "  spawn: {mass: 1.5, shape: {kind: sphere, radius: 0.4}, positions: [[0, 0, 2], [3, 0, 2]]}\n"
    "  controls: {kind: vessel, force: 20, torque: 2}\n";

static void check_top(const foliot_scene *s)
{
    assert_string_equal(s->name, "outer solar system");
    assert_string_equal(s->units.length, "AU");
    assert_string_equal(s->units.time, "day");
    assert_string_equal(s->units.mass, "Msun");
    check_bits(s->dt, 10);
    check_bits(s->pace_hz, 30);
    assert_int_equal(s->substeps, 4);
    assert_int_equal(s->integrator, FOLIOT_INTEGRATOR_IMPLICIT_EULER);
    check_bits(s->tolerance, 1e-9);
    assert_int_equal(s->iterations_max, 7);
    assert_int_equal(s->constraint_iterations, 12);
    check_eq(s->seed, UINT64_MAX);
    check_bits(s->gravity[1], -1.5);
    check_bits(s->gravity[2], -9.81);
    check_bits(s->speed_max, 32);
    assert_int_equal(s->bodies_max, 1024);
}

static void check_forces(const foliot_scene *s)
{
    assert_int_equal(s->force_count, 7);
    const foliot_force_definition *f = s->forces;
    assert_int_equal(f[0].kind, FOLIOT_FORCE_NEWTON);
    check_bits(f[0].as.newton.constant, 2.95912208286e-4);
    check_bits(f[0].as.newton.softening, 0.5);
    assert_int_equal(f[1].kind, FOLIOT_FORCE_DRAG);
    check_bits(f[1].as.drag.linear, 0.1);
    check_bits(f[1].as.drag.quadratic, 0.2);
    assert_int_equal(f[2].kind, FOLIOT_FORCE_SPRING);
    assert_int_equal(f[2].a, 0);
    assert_int_equal(f[2].b, FOLIOT_NO_BODY);
    check_bits(f[2].as.spring.point[2], 3);
    check_bits(f[2].as.spring.stiffness, 15);
    check_bits(f[2].as.spring.damping, 0.1);
    check_bits(f[2].as.spring.length, 2);
    assert_int_equal(f[2].as.spring.damping_kind, FOLIOT_DAMPING_ALONG);
    assert_int_equal(f[3].b, 2);
    check_bits(f[3].as.spring.length, 0); // not as at the start: a spring's default is 0
    assert_int_equal(f[3].as.spring.damping_kind, FOLIOT_DAMPING_ISOTROPIC);
    assert_int_equal(f[4].kind, FOLIOT_FORCE_ATTRACTOR);
    check_bits(f[4].as.attractor.point[1], 5);
    check_bits(f[4].as.attractor.strength, 1.25);
    assert_int_equal(f[5].kind, FOLIOT_FORCE_CONSTANT);
    assert_int_equal(f[5].a, 2);
    check_bits(f[5].as.constant.force[2], 9);
    check_bits(f[5].as.constant.start, 1);
    check_bits(f[5].as.constant.end, 2);
    assert_int_equal(f[6].kind, FOLIOT_FORCE_UNIFORM);
    check_bits(f[6].as.uniform.acceleration[2], 1);
}

static void check_bodies(const foliot_scene *s)
{
    assert_int_equal(s->body_count, 3);
    const foliot_body_definition *b = s->bodies;
    assert_string_equal(b[0].name, "ball");
    check_bits(b[0].mass, 2);
    check_bits(b[0].position[0], 1000);
    check_bits(b[0].velocity[1], 0.75);
    assert_int_equal(b[0].shape.kind, FOLIOT_SHAPE_SPHERE);
    check_bits(b[0].shape.radius, 0.2);
    check_bits(b[0].friction, 0.6);
    check_bits(b[0].restitution, 0.1);
    check_bits(b[0].force[0], 1);
    check_bits(b[0].orientation[1], 1);
    check_bits(b[0].angular_velocity[2], 3);
    check_bits(b[0].inertia[2], 3);
    assert_true(b[1].is_static);
    assert_int_equal(b[1].shape.kind, FOLIOT_SHAPE_PLANE);
    check_bits(b[1].shape.normal[2], 1); // normalised
    check_bits(b[1].shape.offset, -1);
    assert_int_equal(b[2].shape.kind, FOLIOT_SHAPE_POINT);
    check_bits(b[2].mass, 1);
}

static void check_constraints(const foliot_scene *s)
{
    assert_int_equal(s->constraint_count, 2);
    const foliot_constraint_definition *c = s->constraints;
    assert_int_equal(c[0].a, 0);
    assert_int_equal(c[0].b, 2);
    check_bits(c[0].length, 9);
    check_bits(c[0].length_min, 2);
    check_bits(c[0].stiffness, 0.5);
    check_bits(c[0].break_force, 100);
    assert_int_equal(c[1].b, FOLIOT_NO_BODY);
    check_bits(c[1].length, 2); // as at the start
    assert_true(isinf(c[1].break_force));
}

static void check_players(const foliot_scene *s)
{
    assert_int_equal(s->players.limit, 4);
    check_bits(s->players.body.mass, 1.5);
    assert_int_equal(s->players.position_count, 2);
    check_bits(s->players.positions[1][0], 3);
    assert_int_equal(s->players.control, FOLIOT_CONTROL_VESSEL);
    check_bits(s->players.force, 20);
    check_bits(s->players.torque, 2);
}

TEST(every_key_means_what_it_says)
{
    foliot_scene *s = parsed(every_key);
    check_top(s);
    check_forces(s);
    check_bodies(s);
    check_constraints(s);
    check_players(s);
    foliot_scene_destroy(s);
}

TEST(what_is_left_out_has_its_default)
{
    foliot_scene *s = parsed(HEAD BALL "players: {}\n");
    foliot_scene standard = foliot_scene_default();
    check_bits(s->dt, 1.0 / 60);
    check_bits(s->pace_hz, 60);
    assert_int_equal(s->integrator, FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    assert_int_equal(s->substeps, 1);
    check_eq(s->seed, 1);
    check_bits(s->gravity[2], 0);
    assert_true(isinf(s->speed_max));
    check_bits(s->tolerance, standard.tolerance);
    assert_int_equal(s->iterations_max, standard.iterations_max);
    assert_int_equal(s->constraint_iterations, standard.constraint_iterations);
    assert_string_equal(s->units.time, "s");
    assert_int_equal(s->players.limit, 16);
    assert_int_equal(s->players.position_count, 1);
    assert_int_equal(s->players.control, FOLIOT_CONTROL_THRUST);
    check_bits(s->players.force, 10);
    check_bits(s->bodies[0].orientation[0], 1);
    check_bits(s->bodies[0].friction, 0.5);
    foliot_scene_destroy(s);
}

TEST(pace_follows_from_seconds_alone)
{
    foliot_scene *s = parsed("foliot: 1\nname: t\ndt: 0.02\n" BALL);
    check_bits(s->pace_hz, 1 / 0.02);
    foliot_scene_destroy(s);
    s = parsed("foliot: 1\nname: t\ndt: 10\nunits: {time: day}\n" BALL);
    check_bits(s->pace_hz, 0);
    foliot_scene_destroy(s);
    s = parsed("foliot: 1\nname: t\ntick_hz: 3\nunits: {time: second}\n" BALL);
    check_bits(s->pace_hz, 3);
    foliot_scene_destroy(s);
}

TEST(json_is_read_as_well)
{
    foliot_scene *s =
        parsed("{\"foliot\":1,\"name\":\"j\\u00e9\",\n\t\"dt\":1e-2,\"gravity\":[0,0,-9.81],"
               "\"bodies\":[{\"name\":\"ball\",\"static\":false,\"mass\":2.5}]}");
    assert_string_equal(s->name, "j\303\251");
    check_bits(s->dt, 0.01);
    check_bits(s->bodies[0].mass, 2.5);
    foliot_scene_destroy(s);
}

static double mass_of(const char *number)
{
    char text[256];
    snprintf(text, sizeof text, HEAD "bodies: [{mass: %s}]\n", number);
    foliot_scene *s = parsed(text);
    double mass = s->bodies[0].mass;
    foliot_scene_destroy(s);
    return mass;
}

// The hard cases of correct rounding, and the forms of a number.
TEST(numbers_are_rounded_correctly)
{
    check_bits(mass_of("0.1"), 0x1.999999999999ap-4);
    check_bits(mass_of("+.5"), 0.5);
    check_bits(mass_of("5."), 5);
    check_bits(mass_of("1E+2"), 100);
    check_bits(mass_of("0x1.8p1"), 3);
    check_bits(mass_of("0X1F"), 31);
    check_bits(mass_of("0x1.fffffffffffff8p0"), 2);  // a tie, to even
    check_bits(mass_of("9007199254740993"), 0x1p53); // a tie, to even
    check_bits(mass_of("9007199254740993.00000000000001"), 0x1.0000000000001p53);
    check_bits(mass_of("2.2250738585072011e-308"),
               0x0.fffffffffffffp-1022); // PHP's and Java's loop
    check_bits(mass_of("6.929001713869936e+236"), 0x1.b3d8d3c0bad8bp+786);
    check_bits(mass_of("4.9406564584124654e-324"), 0x1p-1074);
    check_bits(mass_of("1.7976931348623157e308"), 0x1.fffffffffffffp1023);
}

TEST(what_is_no_number_is_refused)
{
    static const char *const bad[] = {"1_000", "1e",   "0x",   "0x1p", "1.2.3", ".",
                                      "+",     "0o17", "1:30", "e5",   "1f",    "0b11",
                                      "--1",   "1 2",  "true", "one",  "1e+"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[128];
        snprintf(text, sizeof text, HEAD "bodies:\n- mass: %s\n", bad[i]);
        expect_error(text, "text:5:9: bodies[0].mass: must be a number");
    }
    static const char *const infinite[] = {".inf", "-.Inf", "inf", "NaN", ".NAN", "Infinity"};
    for (size_t i = 0; i < sizeof infinite / sizeof *infinite; i++) {
        char text[128];
        snprintf(text, sizeof text, HEAD "bodies:\n- mass: %s\n", infinite[i]);
        expect_error(text, "text:5:9: bodies[0].mass: must be a finite number");
    }
}

// `sleep`, as any flag, is off unless it is true.
TEST(sleep_is_true_or_false)
{
    static const struct {
        const char *text;
        bool sleeps;
    } good[] = {{"", false}, {"sleep: true\n", true}, {"sleep: false\n", false}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char text[128];
        snprintf(text, sizeof text, HEAD "%s" BALL, good[i].text);
        foliot_scene *s = parsed(text);
        assert_int_equal(s->sleep, good[i].sleeps);
        foliot_scene_destroy(s);
    }
    static const char *const bad[] = {"yes", "on", "1", "True", "'true'", "[true]", "0.5"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[128];
        snprintf(text, sizeof text, HEAD "sleep: %s\n" BALL, bad[i]);
        foliot_scene *s = NULL;
        foliot_error error;
        check_ne(foliot_scene_parse(text, strlen(text), "text", NULL, &s, &error),
                 FOLIOT_STATUS_OK);
        assert_non_null(strstr(error.text, "sleep: must be true or false"));
    }
    expect_error(HEAD "sleep:\n" BALL, "text:4:7: sleep: has no value");
    expect_error(HEAD "sleeps: true\n" BALL,
                 "text:4:1: sleeps: unknown key; did you mean `sleep`?");
    expect_error(
        HEAD "sleep: true\nforces: [{kind: newton, constant: 1}]\n" BALL,
        "text:4:8: sleep: bodies cannot sleep under `newton`, which changes with every motion");
}

TEST(names_may_be_any_text)
{
    foliot_scene *s =
        parsed(HEAD "bodies: [{name: '12'}, {name: \"true\"}, {name: a b}, {name: \xce\xb2}]\n"
                    "forces: [{kind: spring, a: '12', b: 'true', stiffness: 1}]\n");
    assert_string_equal(s->bodies[0].name, "12");
    assert_int_equal(s->forces[0].b, 1);
    assert_int_equal(foliot_scene_find_body(s, "a b"), 2);
    foliot_scene_destroy(s);
}

TEST(grids_become_bodies_and_links)
{
    foliot_scene *s =
        parsed(HEAD "bodies:\n"
                    "  - {name: first}\n"
                    "  - {name: net, mass: 0.5, position: [1, 2, 3],\n"
                    "     grid: {rows: 2, columns: 3, right: [0.5, 0, 0], down: [0, 0, -0.25],\n"
                    "            pins: [[0, 0], [0, 2]]}}\n"
                    "forces:\n"
                    "  - {kind: spring, grid: net, stiffness: 4}\n"
                    "  - {kind: spring, grid: net, links: second, stiffness: 5, length: 0}\n"
                    "constraints:\n"
                    "  - {kind: distance, grid: net, links: diagonal, break_force: 9}\n");
    assert_int_equal(s->body_count, 7);
    assert_string_equal(s->bodies[1].name, "net.0.0");
    assert_string_equal(s->bodies[6].name, "net.1.2");
    check_bits(s->bodies[6].position[0], 2);
    check_bits(s->bodies[6].position[1], 2);
    check_bits(s->bodies[6].position[2], 2.75);
    assert_true(s->bodies[1].is_static);
    assert_true(s->bodies[3].is_static);
    assert_true(!s->bodies[2].is_static);
    // Straight links, body by body, right before down: 7; one second link spans the pins and is
    // left out.
    static const uint32_t springs[][2] = {{1, 2}, {1, 4}, {2, 3}, {2, 5},
                                          {3, 6}, {4, 5}, {5, 6}, {4, 6}};
    assert_int_equal(s->force_count, 8);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(s->forces[i].a, springs[i][0]);
        assert_int_equal(s->forces[i].b, springs[i][1]);
    }
    check_bits(s->forces[0].as.spring.length, 0.5);
    check_bits(s->forces[1].as.spring.length, 0.25);
    check_bits(s->forces[7].as.spring.length, 0);
    check_bits(s->forces[7].as.spring.stiffness, 5);
    static const uint32_t diagonals[][2] = {{1, 5}, {2, 6}, {2, 4}, {3, 5}};
    assert_int_equal(s->constraint_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(s->constraints[i].a, diagonals[i][0]);
        assert_int_equal(s->constraints[i].b, diagonals[i][1]);
        check_near(s->constraints[i].length, sqrt(0.3125), 1e-15);
        check_bits(s->constraints[i].break_force, 9);
    }
    foliot_scene_destroy(s);
}

TEST(links_two_apart_go_right_and_then_down)
{
    foliot_scene *s = parsed(
        HEAD
        "bodies: [{name: net, grid: {rows: 3, columns: 3, right: [1, 0, 0], down: [0, 0, 2]}}]\n"
        "constraints: [{kind: rod, grid: net, links: second}]\n");
    static const uint32_t rods[][2] = {{0, 2}, {0, 6}, {1, 7}, {2, 8}, {3, 5}, {6, 8}};
    assert_int_equal(s->constraint_count, 6);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(s->constraints[i].a, rods[i][0]);
        assert_int_equal(s->constraints[i].b, rods[i][1]);
        check_bits(s->constraints[i].length, rods[i][1] - rods[i][0] == 6 ? 4 : 2);
    }
    foliot_scene_destroy(s);
}

// -- files

static void write_file(const char *file, const char *text)
{
    FILE *stream = fopen(file, "w");
    assert_non_null(stream);
    fputs(text, stream);
    fclose(stream);
}

TEST(csv_files_hold_bodies)
{
    char folder[] = "/tmp/foliot-test-XXXXXX", scene_file[64], csv_file[64];
    assert_non_null(mkdtemp(folder));
    snprintf(scene_file, sizeof scene_file, "%s/pile.yaml", folder);
    snprintf(csv_file, sizeof csv_file, "%s/pile.csv", folder);
    write_file(scene_file,
               HEAD "bodies:\n  - {csv: pile.csv, mass: 7, friction: 0.25}\n  - {name: z}\n"
                    "forces: [{kind: spring, a: z, b: two, stiffness: 1}]\n");
    write_file(csv_file, "name, mass ,position.z,static,shape,radius\r\n"
                         "one,0x1p2,1.5,false,sphere,0.2\r\n"
                         "\r\n"
                         "two,, 2 ,,,\r\n"
                         ",,,true,,");
    foliot_scene *s = NULL;
    foliot_error error;
    assert_int_equal(foliot_scene_read(scene_file, &s, &error), FOLIOT_STATUS_OK);
    assert_int_equal(s->body_count, 4);
    assert_string_equal(s->bodies[0].name, "one");
    check_bits(s->bodies[0].mass, 4);
    check_bits(s->bodies[0].position[2], 1.5);
    assert_int_equal(s->bodies[0].shape.kind, FOLIOT_SHAPE_SPHERE);
    check_bits(s->bodies[0].shape.radius, 0.2);
    check_bits(s->bodies[0].friction, 0.25);
    check_bits(s->bodies[1].mass, 7);
    check_bits(s->bodies[1].position[2], 2);
    assert_true(s->bodies[2].is_static);
    assert_string_equal(s->bodies[2].name, "");
    assert_int_equal(s->forces[0].b, 1);
    foliot_scene_destroy(s);
    remove(scene_file);
    remove(csv_file);
    rmdir(folder);
}

TEST(a_scene_from_memory_names_no_files)
{
    expect_error(HEAD "bodies: [{csv: pile.csv}]\n",
                 "text:4:16: bodies[0].csv: a scene that is not a file cannot name one");
}

TEST(faults_hold_no_control_characters)
{
    expect_error(
        HEAD "\"a\\e[31m\\x07b\": 1\n" BALL,
        "text:4:1: a?[31m?b: unknown key; known here are foliot, name, units, dt, "
        "tick_hz, pace_hz, "
        "substeps, integrator, constraint_iterations, joints, sleep, seed, gravity, limits, "
        "forces, bodies, "
        "prototypes, script, constraints, players");
}

TEST(a_missing_error_is_no_fault)
{
    foliot_scene *s = NULL;
    assert_int_equal(foliot_scene_parse("a: b", 4, "text", NULL, &s, NULL), FOLIOT_STATUS_INVALID);
    assert_int_equal(foliot_scene_read("/there/is/none.yaml", &s, NULL), FOLIOT_STATUS_IO);
}

TEST(a_file_that_cannot_be_opened_has_no_place)
{
    foliot_scene *s = NULL;
    foliot_error error;
    assert_int_equal(foliot_scene_read("/there/is/none.yaml", &s, &error), FOLIOT_STATUS_IO);
    assert_string_equal(error.text,
                        "/there/is/none.yaml: cannot be opened: No such file or directory");
    assert_int_equal(error.line, 0);
}

// Names of the files in a folder that end so, in order.
static uint32_t list_files(const char *folder, const char *ending, char *names[NAMES_MAX])
{
    struct dirent **entries;
    uint32_t count = 0;
    int found = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < found; i++) {
        size_t length = strlen(entries[i]->d_name), tail = strlen(ending);
        if (count < NAMES_MAX && length > tail &&
            !strcmp(entries[i]->d_name + length - tail, ending))
            names[count++] = strdup(entries[i]->d_name);
        free(entries[i]);
    }
    if (found >= 0)
        free(entries);
    return count;
}

TEST(every_ready_scene_is_sound)
{
    char *names[NAMES_MAX];
    uint32_t count = list_files("scenes", ".yaml", names);
    check_ge(count, 10);
    for (uint32_t i = 0; i < count; i++) {
        char file[512];
        foliot_scene *scene;
        foliot_error error;
        snprintf(file, sizeof file, "scenes/%s", names[i]);
        int status = foliot_scene_read(file, &scene, &error);
        if (status != FOLIOT_STATUS_OK)
            print_error("%s\n", error.text);
        assert_int_equal(status, FOLIOT_STATUS_OK);
        names[i][strlen(names[i]) - strlen(".yaml")] = 0;
        assert_string_equal(scene->name, names[i]);
        foliot_scene_destroy(scene);
        free(names[i]);
    }
}

// The piece of YAML between `text` and `end`, made whole with what it leaves out.
static foliot_status parse_piece(const char *text, size_t length, foliot_error *error)
{
    static char whole[16384];
    char piece[8192];
    check_lt(length, sizeof piece);
    snprintf(piece, sizeof piece, "%.*s", (int)length, text);
    bool bodies = strstr(piece, "bodies:") || strstr(piece, "players:");
    snprintf(
        whole, sizeof whole, "%s%s%s%s", strstr(piece, "foliot:") ? "" : "foliot: 1\nname: piece\n",
        strstr(piece, "dt:") || strstr(piece, "tick_hz:") ? "" : "tick_hz: 60\n", piece,
        bodies ? ""
               : "bodies: [{name: ball, position: [1, 0, 0]}, {name: other}, {name: foot},\n"
                 "  {name: knee, position: [0, 0, 0.45]}, {name: bob, position: [0, 0, 1]}]\n");
    foliot_scene *scene = NULL;
    foliot_status status =
        foliot_scene_parse(whole, strlen(whole), "piece", "scenes", &scene, error);
    if (status == FOLIOT_STATUS_OK)
        foliot_scene_destroy(scene);
    return status;
}

TEST(every_example_of_the_manual_is_sound)
{
    static char manual[1 << 17];
    static const char begin[] = "```yaml\n";
    FILE *stream = fopen("docs/reference/scenes.md", "r");
    assert_non_null(stream);
    manual[fread(manual, 1, sizeof manual - 1, stream)] = 0;
    fclose(stream);
    unsigned count = 0;
    for (const char *at = strstr(manual, begin); at; at = strstr(at, begin)) {
        at += strlen(begin);
        const char *end = strstr(at, "```");
        foliot_error error;
        assert_non_null(end);
        int status = parse_piece(at, (size_t)(end - at), &error);
        if (status != FOLIOT_STATUS_OK)
            print_error("%s\nin\n%.*s", error.text, (int)(end - at), at);
        assert_int_equal(status, FOLIOT_STATUS_OK);
        at = end;
        count++;
    }
    check_ge(count, 10);
}

// A case of bad_scenes.txt, whose head has the form.
typedef struct bad_scene {
    char name[64], status[16], key[64], place[24], message[1024];
} bad_scene;

// Writes the text up to the next head into a file of that name. Returns the newline before the
// head.
static const char *write_case(const char *name, const char *at)
{
    FILE *stream = fopen(name, "w");
    assert_non_null(stream);
    while (at[1] && strncmp(at, "\n=== ", 5)) {
        unsigned byte = (uint8_t) * ++at;
        if (byte == '\\' && at[1] == 'x') {
            assert_int_equal(sscanf(at, "\\x%2x", &byte), 1);
            at += 3;
        } else if (byte == '\\') {
            byte = (uint8_t) * ++at;
        }
        fputc((int)byte, stream);
    }
    assert_int_equal(fclose(stream), 0);
    return at;
}

// Writes every file into the working folder. Returns how many of them are scenes.
static uint32_t write_bad_scenes(const char *at, bad_scene cases[NAMES_MAX])
{
    uint32_t count = 0;
    while ((at = strstr(at, "\n=== ")) != NULL) {
        bad_scene *c = &cases[count];
        check_lt(count, NAMES_MAX - 1);
        int fields =
            sscanf(at, " === %63s %15[A-Z] %23[0-9:] %63s", c->name, c->status, c->place, c->key);
        assert_true(fields == 1 || fields == 4);
        at = strchr(at + 1, '\n');
        if (fields == 4) {
            assert_int_equal(sscanf(at, " %1023[^\n]", c->message), 1);
            at = strchr(at + 1, '\n');
            count++;
        }
        at = write_case(c->name, at);
    }
    return count;
}

static void a_bad_scene_gives_its_message(void **state)
{
    const bad_scene *c = *state;
    foliot_scene *scene = NULL;
    foliot_error error;
    char place[24], whole[1280];
    foliot_status status = foliot_scene_read(c->name, &scene, &error);
    assert_string_equal(foliot_status_get_name(status), c->status);
    assert_null(scene);
    snprintf(place, sizeof place, "%u:%u", error.line, error.column);
    assert_string_equal(place, c->place);
    check_ge(error.line, 1);
    check_ge(error.column, 1);
    bool keyed = strcmp(c->key, "-");
    snprintf(whole, sizeof whole, "%s:%s: %s%s%s", c->name, c->place, keyed ? c->key : "",
             keyed ? ": " : "", c->message);
    assert_string_equal(error.text, whole);
    assert_string_equal(error.file, c->name);
    assert_string_equal(error.path, keyed ? c->key : "");
    assert_int_equal(error.status, status);
}

static int run_bad_scenes(void)
{
    static char text[1 << 17], titles[NAMES_MAX][64];
    static bad_scene cases[NAMES_MAX];
    static struct CMUnitTest tests[NAMES_MAX];
    char folder[] = "/tmp/bad-scenes-XXXXXX", command[64];
    FILE *stream = fopen(BAD_SCENES, "r");
    assert_non_null(stream);
    check_lt(fread(text, 1, sizeof text, stream), sizeof text);
    fclose(stream);
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    uint32_t count = write_bad_scenes(text, cases);
    for (uint32_t i = 0; i < count; i++) {
        snprintf(titles[i], sizeof titles[i], "%.*s", (int)strcspn(cases[i].name, "."),
                 cases[i].name);
        for (char *at = titles[i]; *at; at++)
            *at = *at == '-' ? '_' : *at;
        tests[i] =
            (struct CMUnitTest){titles[i], a_bad_scene_gives_its_message, NULL, NULL, &cases[i]};
    }
    if (count < BAD_LEAST)
        print_error("only %u bad scenes in " BAD_SCENES "\n", (unsigned)count);
    int failed = _cmocka_run_group_tests("bad scenes", tests, count, NULL, NULL);
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) || count < BAD_LEAST ? 1 : failed;
}

int main(void)
{
    int failed = check_run(NULL, NULL);
    return failed + run_bad_scenes();
}
