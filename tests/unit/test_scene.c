// SPDX-License-Identifier: MIT
// test_scene.c: scenes as values: the check refuses whatever is outside its range and says where,
// and canonical bytes are exact, unique and safe to decode, whatever they are. Broken scenes are
// made from sound ones by one change each; broken bytes by cutting and flipping.
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "foliot/foliot.h"
#include "sim/scene/scene.h"

#define BODIES 4
#define FORCES 7
#define LINKS 4

typedef struct fixture {
    foliot_body_definition bodies[BODIES];
    foliot_force_definition forces[FORCES];
    foliot_constraint_definition links[LINKS];
    double positions[2][3];
    foliot_scene scene;
} fixture;

// A scene with one of everything that can stand in one scene.
static void make(fixture *f)
{
    memset(f, 0, sizeof *f);
    for (int i = 0; i < BODIES; i++) {
        f->bodies[i] = foliot_body_definition_default();
        f->bodies[i].position[0] = 3.0 * i;
    }
    f->bodies[0].name = "ball";
    f->bodies[0].mass = 1.1;
    f->bodies[0].shape =
        (foliot_shape){.kind = FOLIOT_SHAPE_SPHERE, .radius = 0.3, .normal = {0, 0, 1}};
    f->bodies[0].angular_velocity[2] = 0.7;
    f->bodies[1].name = "floor";
    f->bodies[1].is_static = true;
    f->bodies[1].shape.kind = FOLIOT_SHAPE_PLANE;
    f->bodies[1].shape.offset = -2;
    f->bodies[2].name = "d\303\251j\303\240";
    f->bodies[2].force[1] = 0x1.8p-7;
    for (int kind = 0; kind < FORCES; kind++)
        f->forces[kind] = foliot_force_definition_default((foliot_force_kind)kind);
    f->forces[FOLIOT_FORCE_CONSTANT].a = 2;
    f->forces[FOLIOT_FORCE_SPRING].a = 0;
    f->forces[FOLIOT_FORCE_SPRING].b = 2;
    f->forces[FOLIOT_FORCE_SPRING].as.spring.stiffness = 15;
    for (int i = 0; i < LINKS; i++) {
        f->links[i] = foliot_constraint_definition_default((foliot_constraint_kind)i);
        f->links[i].a = 2;
        f->links[i].b = 3;
        f->links[i].length = 3;
    }
    // A ball off the centre of what turns, at the centre of a point; a hinge to the world.
    f->links[2].a = 0;
    f->links[2].anchor_a[0] = 9;
    f->links[3].a = 0;
    f->links[3].b = FOLIOT_NO_BODY;
    f->links[3].angle_min = -1;
    f->links[3].angle_max = 2;
    f->positions[1][2] = 4;
    f->scene = foliot_scene_default();
    f->scene.name = "everything";
    f->scene.dt = 1.0 / 60;
    f->scene.bodies = f->bodies;
    f->scene.body_count = BODIES;
    f->scene.forces = f->forces;
    f->scene.force_count = FORCES;
    f->scene.constraints = f->links;
    f->scene.constraint_count = LINKS;
    f->scene.players.limit = 3;
    f->scene.players.positions = (const double(*)[3])f->positions;
    f->scene.players.position_count = 2;
}

// -- the check

// A change of one value, and the path that the check must name.
typedef struct breakage {
    const char *path;
    size_t offset; // in fixture
    double number;
} breakage;

#define BREAK(member, path, number)                                                                \
    {                                                                                              \
        path, offsetof(fixture, member), number                                                    \
    }
static const breakage breakages[] = {
    BREAK(scene.dt, "dt", 0),
    BREAK(scene.dt, "dt", -1),
    BREAK(scene.dt, "dt", NAN),
    BREAK(scene.dt, "dt", INFINITY),
    BREAK(scene.pace_hz, "pace_hz", -1),
    BREAK(scene.tolerance, "integrator.tolerance", 1),
    BREAK(scene.gravity[1], "gravity[1]", NAN),
    BREAK(scene.speed_max, "limits.speed_max", 0),
    BREAK(scene.speed_max, "limits.speed_max", NAN),
    BREAK(bodies[0].mass, "bodies[0].mass", 0),
    BREAK(bodies[2].mass, "bodies[2].mass", -1),
    BREAK(bodies[3].mass, "bodies[3].mass", INFINITY),
    BREAK(bodies[0].inertia[0], "bodies[0].inertia", 1),
    BREAK(bodies[0].inertia[2], "bodies[0].inertia[2]", -1),
    BREAK(bodies[0].position[2], "bodies[0].position[2]", 0x1.1p40),
    BREAK(bodies[0].velocity[0], "bodies[0].velocity[0]", NAN),
    BREAK(bodies[1].velocity[0], "bodies[1].velocity", 1),
    BREAK(bodies[1].angular_velocity[0], "bodies[1].angular_velocity", 1),
    BREAK(bodies[2].angular_velocity[0], "bodies[2].angular_velocity", 1),
    BREAK(bodies[1].force[0], "bodies[1].force", 1),
    BREAK(bodies[0].orientation[0], "bodies[0].orientation", 0),
    BREAK(bodies[0].friction, "bodies[0].friction", -1),
    BREAK(bodies[0].restitution, "bodies[0].restitution", 1.5),
    BREAK(bodies[0].shape.radius, "bodies[0].shape.radius", 0),
    BREAK(bodies[1].shape.normal[2], "bodies[1].shape.normal", 0.5),
    BREAK(bodies[1].shape.offset, "bodies[1].shape.offset", NAN),
    BREAK(forces[0].as.uniform.acceleration[0], "forces[0].acceleration[0]", NAN),
    BREAK(forces[1].as.constant.force[2], "forces[1].force[2]", INFINITY),
    BREAK(forces[1].as.constant.start, "forces[1].start", -INFINITY),
    BREAK(forces[1].as.constant.end, "forces[1].end", 0),
    BREAK(forces[1].as.constant.end, "forces[1].end", NAN),
    BREAK(forces[2].as.spring.stiffness, "forces[2].stiffness", -1),
    BREAK(forces[2].as.spring.damping, "forces[2].damping", -1),
    BREAK(forces[2].as.spring.length, "forces[2].length", -1),
    BREAK(forces[2].as.spring.point[0], "forces[2].anchor[0]", NAN),
    BREAK(forces[3].as.drag.linear, "forces[3].linear", -1),
    BREAK(forces[3].as.drag.quadratic, "forces[3].quadratic", NAN),
    BREAK(forces[4].as.newton.constant, "forces[4].constant", NAN),
    BREAK(forces[4].as.newton.softening, "forces[4].softening", -1),
    BREAK(forces[5].as.attractor.point[1], "forces[5].position[1]", NAN),
    BREAK(forces[5].as.attractor.strength, "forces[5].strength", INFINITY),
    BREAK(links[0].length, "constraints[0].length", 0),
    BREAK(links[0].length_min, "constraints[0].length_min", 3.5),
    BREAK(links[0].stiffness, "constraints[0].stiffness", 0),
    BREAK(links[0].break_force, "constraints[0].break_force", 0),
    BREAK(links[0].anchor_a[1], "constraints[0].anchor_a[1]", NAN),
    BREAK(links[0].anchor_a[1], "constraints[0].a", 1), // a point
    BREAK(links[0].anchor_b[1], "constraints[0].b", 1),
    BREAK(links[1].anchor_a[0], "constraints[1].anchor_a", 1),
    BREAK(links[2].anchor_a[0], "constraints[2].anchor_b", 9.001), // apart
    BREAK(links[2].anchor_b[2], "constraints[2].anchor_b[2]", INFINITY),
    BREAK(links[2].break_force, "constraints[2].break_force", -1),
    BREAK(links[3].anchor_b[1], "constraints[3].anchor[1]", NAN),
    BREAK(links[3].axis[0], "constraints[3].axis[0]", NAN),
    BREAK(links[3].axis[2], "constraints[3].axis", 0),
    BREAK(links[3].angle_min, "constraints[3].limits[0]", NAN),
    BREAK(links[3].angle_max, "constraints[3].limits[1]", INFINITY),
    BREAK(links[3].angle_min, "constraints[3].limits", 0.5),
    BREAK(links[3].angle_max, "constraints[3].limits", 189),
    BREAK(links[3].motor_speed, "constraints[3].motor.speed", NAN),
    BREAK(links[3].motor_torque, "constraints[3].motor.torque", -1),
    BREAK(links[3].break_torque, "constraints[3].break_torque", 0),
    BREAK(links[1].length, "constraints[1].length", 3.1),
    BREAK(scene.players.body.mass, "players.spawn.mass", 0),
    BREAK(scene.players.force, "players.controls.force", NAN),
    BREAK(scene.players.torque, "players.controls.torque", 1),
    BREAK(positions[1][0], "players.spawn.positions[1]", NAN),
};

static const struct {
    const char *path;
    size_t offset;
    uint32_t number;
} index_breakages[] = {
    BREAK(scene.substeps, "substeps", 0),
    BREAK(scene.start, "integrator.start", 2),
    BREAK(scene.form, "integrator.form", 2),
    BREAK(scene.iterations_max, "integrator.iterations", 0),
    BREAK(scene.constraint_iterations, "constraint_iterations", 0),
    BREAK(scene.integrator, "integrator", FOLIOT_INTEGRATOR_COUNT),
    BREAK(scene.integrator, "integrator", 0),
    BREAK(scene.bodies_max, "limits.bodies_max", BODIES + 2),
    BREAK(scene.players.limit, "players.limit", FOLIOT_PLAYERS_MAX + 1),
    BREAK(scene.players.position_count, "players.spawn.positions", 0),
    BREAK(scene.players.control, "players.controls.kind", 3),
    BREAK(bodies[3].shape.kind, "bodies[3].shape.kind", 5),
    BREAK(forces[1].a, "forces[1].body", BODIES),
    BREAK(forces[1].a, "forces[1].body", 1),
    BREAK(forces[2].a, "forces[2].a", FOLIOT_NO_BODY),
    BREAK(forces[2].b, "forces[2].b", BODIES),
    BREAK(forces[2].b, "forces[2].b", 0),
    BREAK(forces[2].as.spring.damping_kind, "forces[2].damping", 2),
    BREAK(forces[6].as.callback.callback, "forces[6].callback", FOLIOT_CALLBACKS_MAX),
    BREAK(forces[6].kind, "forces[6].kind", 7),
    BREAK(links[0].a, "constraints[0].a", BODIES),
    BREAK(links[0].b, "constraints[0].b", 2),
    BREAK(links[0].kind, "constraints[0].a", FOLIOT_CONSTRAINT_HINGE), // points do not turn
    BREAK(links[0].kind, "constraints[0].a", FOLIOT_CONSTRAINT_WELD),
    BREAK(links[1].kind, "constraints[1].anchor_b", FOLIOT_CONSTRAINT_BALL),
    BREAK(links[3].a, "constraints[3].a", 2),
    BREAK(links[0].kind, "constraints[0].kind", 5),
};

static void expect_problem(const fixture *f, const char *path)
{
    foliot_error problem = {.text = ""};
    foliot_status status = foliot_scene_check(&f->scene, &problem);
    assert_true(status == FOLIOT_STATUS_INVALID || status == FOLIOT_STATUS_REFUSED);
    assert_string_equal(problem.path, path);
    assert_int_equal(problem.status, status);
    assert_memory_equal(problem.text, path, strlen(path));
    check_gt(strlen(problem.text), strlen(path) + 5);
    assert_int_equal(foliot_scene_check(&f->scene, NULL), status);
}

TEST(a_scene_with_everything_is_sound)
{
    fixture f;
    foliot_error problem = {.text = ""};
    make(&f);
    int status = foliot_scene_check(&f.scene, &problem);
    if (status != FOLIOT_STATUS_OK)
        print_error("%s\n", problem.text);
    assert_int_equal(status, FOLIOT_STATUS_OK);
}

TEST(every_number_out_of_range_is_named)
{
    for (size_t i = 0; i < sizeof breakages / sizeof *breakages; i++) {
        fixture f;
        make(&f);
        memcpy((char *)&f + breakages[i].offset, &breakages[i].number, sizeof(double));
        expect_problem(&f, breakages[i].path);
    }
}

TEST(every_index_out_of_range_is_named)
{
    for (size_t i = 0; i < sizeof index_breakages / sizeof *index_breakages; i++) {
        fixture f;
        make(&f);
        memcpy((char *)&f + index_breakages[i].offset, &index_breakages[i].number,
               sizeof(uint32_t));
        expect_problem(&f, index_breakages[i].path);
    }
}

TEST(no_moment_is_above_the_sum_of_the_others)
{
    for (int k = 0; k < 3; k++) {
        fixture f;
        make(&f);
        double *inertia = f.bodies[0].inertia;
        inertia[0] = inertia[1] = inertia[2] = 0.1;
        inertia[k] = 0.1 + 0.1; // a flat plate
        assert_int_equal(foliot_scene_check(&f.scene, NULL), FOLIOT_STATUS_OK);
        inertia[k] = 0.201;
        expect_problem(&f, "bodies[0].inertia");
    }
}

TEST(an_all_zero_scene_is_invalid)
{
    fixture f;
    memset(&f, 0, sizeof f);
    assert_int_equal(foliot_scene_check(&f.scene, NULL), FOLIOT_STATUS_INVALID);
    f.scene = foliot_scene_default(); // has no name, no dt, no bodies yet
    assert_int_equal(foliot_scene_check(&f.scene, NULL), FOLIOT_STATUS_INVALID);
}

TEST(names_are_short_printable_and_unique)
{
    static const char *const bad[] = {
        "\033[31m",
        "a\nb",
        "\177",
        "\302\205", // a C1 control
        "\300\200",
        "\355\240\200",
        "\364\220\200\200",
        "\303",
        "0123456789012345678901234567890123456789012345678901234567890123", // 64 bytes
    };
    fixture f;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        make(&f);
        f.bodies[3].name = bad[i];
        expect_problem(&f, "bodies[3].name");
        make(&f);
        f.scene.units.mass = bad[i];
        expect_problem(&f, "units.mass");
    }
    make(&f);
    f.bodies[3].name = "ball";
    expect_problem(&f, "bodies[3].name");
    make(&f);
    f.scene.name = "";
    expect_problem(&f, "name");
    f.scene.name = NULL;
    expect_problem(&f, "name");
}

TEST(lists_that_are_missing_are_named)
{
    fixture f;
    make(&f);
    f.scene.bodies = NULL;
    expect_problem(&f, "bodies");
    make(&f);
    f.scene.forces = NULL;
    expect_problem(&f, "forces");
    make(&f);
    f.scene.constraints = NULL;
    expect_problem(&f, "constraints");
    make(&f);
    f.scene.body_count = FOLIOT_BODIES_MAX + 1;
    expect_problem(&f, "bodies");
    make(&f);
    f.scene.force_count = 0;
    f.scene.constraint_count = 0;
    f.scene.body_count = 0;
    f.scene.players.limit = 0;
    expect_problem(&f, "bodies");
}

TEST(refusals_name_the_integrators_that_fit)
{
    fixture f;
    foliot_error problem;
    make(&f);
    f.scene.integrator = FOLIOT_INTEGRATOR_PEFRL4;
    assert_int_equal(foliot_scene_check(&f.scene, &problem), FOLIOT_STATUS_REFUSED);
    assert_string_equal(problem.path, "integrator");
    // Contacts, a distance constraint and a rod together.
    assert_string_equal(problem.text,
                        "integrator: pefrl4 does not admit contacts; these fit the scene: "
                        "semi-implicit-euler, velocity-verlet, leapfrog");
}

// Whatever the check says of an integrator agrees with the registry's row.
TEST(the_check_and_the_registry_agree)
{
    for (int id = 1; id < FOLIOT_INTEGRATOR_COUNT; id++) {
        const foliot_integrator_info *info = foliot_integrator_get_info((foliot_integrator)id);
        fixture f;
        make(&f);
        f.scene.integrator = (foliot_integrator)id;
        f.scene.players.limit = f.scene.force_count = f.scene.constraint_count = 0;
        f.bodies[0].angular_velocity[2] = 0;
        int contacts = foliot_scene_check(&f.scene, NULL);
        assert_int_equal(contacts, info->contacts ? FOLIOT_STATUS_OK : FOLIOT_STATUS_REFUSED);
        f.bodies[1].shape.kind = FOLIOT_SHAPE_POINT; // nothing to touch any more
        assert_int_equal(foliot_scene_check(&f.scene, NULL), FOLIOT_STATUS_OK);
        f.scene.constraint_count = 1;
        int distances = foliot_scene_check(&f.scene, NULL);
        assert_int_equal(distances, info->contacts ? FOLIOT_STATUS_OK : FOLIOT_STATUS_REFUSED);
        f.scene.constraints = f.links + 1;
        int rods = foliot_scene_check(&f.scene, NULL);
        assert_int_equal(rods, info->rods ? FOLIOT_STATUS_OK : FOLIOT_STATUS_REFUSED);
        f.scene.constraint_count = 0;
        f.scene.speed_max = 32;
        int clamp = foliot_scene_check(&f.scene, NULL);
        bool to_bits = info->reversible == FOLIOT_REVERSIBILITY_EXACT;
        assert_int_equal(clamp, to_bits ? FOLIOT_STATUS_REFUSED : FOLIOT_STATUS_OK);
    }
}

TEST(scenes_that_touch_have_four_substeps_unless_they_say)
{
    fixture f;
    make(&f);
    f.bodies[3].shape.kind = FOLIOT_SHAPE_BOX;
    f.bodies[3].shape.half[0] = f.bodies[3].shape.half[1] = f.bodies[3].shape.half[2] = 1;
    f.bodies[3].angular_velocity[0] = 1;
    assert_int_equal(foliot_scene_check(&f.scene, NULL), FOLIOT_STATUS_OK);
    f.scene.substeps = FOLIOT_SUBSTEPS_AUTO;
    assert_int_equal(foliot__scene_substeps(&f.scene), 4);
    f.scene.substeps = 2;
    assert_int_equal(foliot__scene_substeps(&f.scene), 2);
    f.bodies[0].shape.kind = f.bodies[1].shape.kind = FOLIOT_SHAPE_POINT;
    f.scene.players.limit = 0;
    f.scene.constraint_count = 0;
    f.scene.substeps = FOLIOT_SUBSTEPS_AUTO;
    assert_int_equal(foliot__scene_substeps(&f.scene), 1); // only one shape is left
}

TEST(bodies_are_found_by_name)
{
    fixture f;
    make(&f);
    assert_int_equal(foliot_scene_find_body(&f.scene, "floor"), 1);
    assert_int_equal(foliot_scene_find_body(&f.scene, "flo"), FOLIOT_NO_BODY);
    assert_int_equal(foliot_scene_find_body(&f.scene, ""), FOLIOT_NO_BODY);
    assert_int_equal(foliot_scene_find_body(&f.scene, NULL), FOLIOT_NO_BODY);
}

TEST(sorted_names_find_the_first_of_each)
{
    enum { COUNT = 3000 };
    static char names[COUNT][16];
    static foliot__name_entry entries[COUNT], spare[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "n%u",
                 (unsigned)(i % 2000)); // the last 1000 come again
        entries[i] = (foliot__name_entry){foliot__name_hash(names[i]), names[i], i};
    }
    for (uint32_t count = 0; count < COUNT; count = count * 2 + 1) {
        foliot__name_entry some[COUNT];
        memcpy(some, entries, sizeof some);
        foliot__names_sort(some, spare, count);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(foliot__names_find(some, count, names[i]), i % 2000);
        assert_int_equal(foliot__names_find(some, count, "n2000"), FOLIOT_NO_BODY);
    }
}

// -- canonical bytes

static uint8_t *encoded(const foliot_scene *scene, size_t *length)
{
    size_t again = 0;
    assert_int_equal(foliot_scene_encode(scene, NULL, 0, length), FOLIOT_STATUS_OK);
    uint8_t *bytes = malloc(*length);
    assert_int_equal(foliot_scene_encode(scene, bytes, *length, &again), FOLIOT_STATUS_OK);
    assert_int_equal(*length, again);
    return bytes;
}

static void expect_same_bytes(const foliot_scene *scene, const uint8_t *bytes, size_t length)
{
    size_t again;
    uint8_t *copy = encoded(scene, &again);
    assert_int_equal(again, length);
    assert_memory_equal(copy, bytes, length);
    free(copy);
}

static void expect_same_body(const foliot_body_definition *a, const foliot_body_definition *b)
{
    assert_string_equal(a->name ? a->name : "", b->name ? b->name : "");
    foliot_body_definition x = *a, y = *b;
    x.name = y.name = NULL;
    check_bits(x.mass, y.mass);
    for (int k = 0; k < 3; k++) {
        check_bits(x.inertia[k], y.inertia[k]);
        check_bits(x.position[k], y.position[k]);
        check_bits(x.velocity[k], y.velocity[k]);
        check_bits(x.angular_velocity[k], y.angular_velocity[k]);
        check_bits(x.force[k], y.force[k]);
        check_bits(x.shape.half[k], y.shape.half[k]);
        check_bits(x.shape.normal[k], y.shape.normal[k]);
    }
    for (int k = 0; k < 4; k++)
        check_bits(x.orientation[k], y.orientation[k]);
    check_bits(x.friction, y.friction);
    check_bits(x.restitution, y.restitution);
    check_bits(x.shape.radius, y.shape.radius);
    check_bits(x.shape.offset, y.shape.offset);
    assert_int_equal(x.shape.kind, y.shape.kind);
    assert_int_equal(x.is_static, y.is_static);
}

// Random bits in every value of every body: what comes back is the same to the bit, -0 included.
TEST(scenes_come_back_to_the_bit)
{
    foliot__rng rng = foliot__rng_seeded(check_seed(20));
    for (int round = 0; round < 200; round++) {
        fixture f;
        make(&f);
        for (int i = 0; i < BODIES; i++)
            for (int k = 0; k < 3; k++) {
                uint64_t bits = foliot__rng_u64(&rng);
                if ((bits & 0x7ff0000000000000u) == 0x7ff0000000000000u)
                    bits = 0x8000000000000000u; // no NaN; -0
                memcpy(&f.bodies[i].position[k], &bits, sizeof bits);
                f.bodies[i].shape.half[k] = f.bodies[i].position[k] / 3;
                f.bodies[i].is_static = bits & 1;
            }
        f.scene.seed = foliot__rng_u64(&rng);
        size_t length;
        uint8_t *bytes = encoded(&f.scene, &length);
        foliot_scene *scene;
        assert_int_equal(foliot_scene_decode(bytes, length, &scene), FOLIOT_STATUS_OK);
        for (int i = 0; i < BODIES; i++)
            expect_same_body(&scene->bodies[i], &f.bodies[i]);
        check_eq(scene->seed, f.scene.seed);
        assert_string_equal(scene->name, "everything");
        assert_int_equal(scene->force_count, FORCES);
        assert_int_equal(scene->forces[FOLIOT_FORCE_SPRING].b, 2);
        check_bits(scene->forces[FOLIOT_FORCE_SPRING].as.spring.stiffness, 15);
        assert_true(isinf(scene->forces[FOLIOT_FORCE_CONSTANT].as.constant.end));
        assert_int_equal(scene->constraints[1].kind, FOLIOT_CONSTRAINT_ROD);
        assert_int_equal(scene->players.position_count, 2);
        check_bits(scene->players.positions[1][2], 4);
        expect_same_bytes(scene, bytes, length);
        foliot_scene_destroy(scene);
        free(bytes);
    }
}

TEST(known_scenes_have_known_bytes)
{
    static const uint8_t expected[] = {
        'F', 'S', 'C', 'N', 1, 0,            // magic, format
        1, 'x', 1, 'm', 1, 's', 2, 'k', 'g', // name, units
        1, 0, 0, 0, 0, 0, 0, 0,              // of the top, dt alone differs from the default
        0, 0, 0, 0, 0, 0, 0xe0, 0x3f,        // 0.5
        2, 0, 0, 0,                          // bodies
        1, 'a', 1, 0, 0, 0, 0, 0, 0, 0,      // its mass differs from the default
        0, 0, 0, 0, 0, 0, 0, 0x40,           // 2
        0, 0, 0, 0x40, 0, 0, 0, 0, 0,        // no name; bit 22: static, as the one before
                                             // was not
        1, 0, 0, 0,                          // forces
        3, 1, 0, 0, 0, 0, 0, 0, 0,           // drag, its linear coefficient
        0, 0, 0, 0, 0, 0, 0xf0, 0x3f,        // 1
        0, 0, 0, 0,                          // constraints
        0, 0, 0, 0,                          // players
    };
    foliot_body_definition bodies[2] = {foliot_body_definition_default(),
                                        foliot_body_definition_default()};
    foliot_force_definition drag = foliot_force_definition_default(FOLIOT_FORCE_DRAG);
    foliot_scene scene = foliot_scene_default();
    scene.name = "x";
    scene.dt = 0.5;
    scene.bodies = bodies;
    scene.body_count = 2;
    scene.forces = &drag;
    scene.force_count = 1;
    bodies[0].name = "a";
    bodies[0].mass = bodies[1].mass = 2;
    bodies[1].is_static = true;
    drag.as.drag.linear = 1;
    size_t length;
    uint8_t *bytes = encoded(&scene, &length);
    assert_int_equal(length, sizeof expected);
    assert_memory_equal(bytes, expected, length);
    free(bytes);
}

TEST(a_buffer_that_is_too_small_is_told)
{
    fixture f;
    make(&f);
    size_t length, unchanged = 17;
    uint8_t *bytes = encoded(&f.scene, &length);
    for (size_t capacity = 0; capacity < length; capacity++)
        assert_int_equal(foliot_scene_encode(&f.scene, bytes, capacity, &unchanged),
                         FOLIOT_STATUS_FULL);
    assert_int_equal(unchanged, 17);
    free(bytes);
}

TEST(bytes_cut_anywhere_are_truncated)
{
    fixture f;
    make(&f);
    size_t length;
    uint8_t *bytes = encoded(&f.scene, &length);
    for (size_t cut = 0; cut < length; cut++) {
        uint8_t *exact =
            malloc(cut ? cut : 1); // its own block, so that sanitizers see one byte too far
        memcpy(exact, bytes, cut);
        foliot_scene *scene = NULL;
        assert_int_equal(foliot_scene_decode(exact, cut, &scene), FOLIOT_STATUS_TRUNCATED);
        assert_null(scene);
        free(exact);
    }
    free(bytes);
}

TEST(flipped_bits_are_refused_or_are_another_scene)
{
    fixture f;
    make(&f);
    size_t length, refused = 0;
    uint8_t *bytes = encoded(&f.scene, &length);
    for (size_t bit = 0; bit < 8 * length; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        foliot_scene *scene = NULL;
        foliot_status status = foliot_scene_decode(bytes, length, &scene);
        if (status == FOLIOT_STATUS_OK) {
            expect_same_bytes(scene, bytes, length); // one scene, one encoding
            foliot_scene_destroy(scene);
        } else {
            assert_true(status == FOLIOT_STATUS_TRUNCATED || status == FOLIOT_STATUS_CORRUPT ||
                        status == FOLIOT_STATUS_NEWER);
            assert_null(scene);
            refused++;
        }
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    check_gt(refused, length);
    free(bytes);
}

TEST(what_is_not_canonical_is_refused)
{
    static const uint8_t start[] = {'F', 'S', 'C', 'N', 1, 0, 1, 'x', 1, 'm', 1, 's', 2, 'k', 'g'};
    uint8_t bytes[128] = {0};
    foliot_scene *scene = NULL;
    memcpy(bytes, start, sizeof start);
    size_t top = sizeof start, least = top + 8 + 4 * 4; // an empty mask and four empty lists
    assert_int_equal(foliot_scene_decode(bytes, least, &scene), FOLIOT_STATUS_OK);
    foliot_scene_destroy(scene);
    assert_int_equal(foliot_scene_decode(bytes, least + 1, &scene),
                     FOLIOT_STATUS_CORRUPT); // a byte behind
    bytes[top] = 4;                          // substeps, flagged as other than 1 ...
    bytes[top + 8] = 1;
    assert_int_equal(foliot_scene_decode(bytes, least + 4, &scene),
                     FOLIOT_STATUS_CORRUPT); // ... but 1
    bytes[top + 8] = 2;
    assert_int_equal(foliot_scene_decode(bytes, least + 4, &scene), FOLIOT_STATUS_OK);
    assert_int_equal(scene->substeps, 2);
    foliot_scene_destroy(scene);
    memset(bytes + top + 8, 0xff,
           4); // FOLIOT_SUBSTEPS_AUTO: a wish, and the encoder writes what it came to
    assert_int_equal(foliot_scene_decode(bytes, least + 4, &scene), FOLIOT_STATUS_CORRUPT);
    bytes[top] = 1; // dt, a NaN
    memset(bytes + top + 8, 0xff, 8);
    assert_int_equal(foliot_scene_decode(bytes, least + 8, &scene), FOLIOT_STATUS_CORRUPT);
    bytes[top] = 0;
    bytes[top + 7] = 0x80; // a value that this format has not
    assert_int_equal(foliot_scene_decode(bytes, sizeof bytes, &scene), FOLIOT_STATUS_NEWER);
    bytes[4] = 2; // a newer format
    assert_int_equal(foliot_scene_decode(bytes, sizeof bytes, &scene), FOLIOT_STATUS_NEWER);
    bytes[4] = 0; // there was none before 1
    assert_int_equal(foliot_scene_decode(bytes, sizeof bytes, &scene), FOLIOT_STATUS_CORRUPT);
}

// A count of a billion in a few bytes must not become a billion bytes of memory.
TEST(counts_are_held_against_the_bytes_present)
{
    static const uint8_t start[] = {'F', 'S', 'C', 'N', 1, 0, 1, 'x', 1, 'm', 1, 's', 2, 'k', 'g'};
    for (unsigned list = 0; list < 3; list++) {
        uint8_t bytes[64] = {0};
        foliot_scene *scene = NULL;
        memcpy(bytes, start, sizeof start);
        uint8_t *count = bytes + sizeof start + 8 + 4 * list;
        count[2] = 0x0f; // 983,040 of them
        assert_int_equal(foliot_scene_decode(bytes, sizeof bytes, &scene), FOLIOT_STATUS_TRUNCATED);
        count[3] = 0xff;
        assert_int_equal(foliot_scene_decode(bytes, sizeof bytes, &scene), FOLIOT_STATUS_CORRUPT);
    }
}
