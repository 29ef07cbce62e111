// SPDX-License-Identifier: MIT
// test_scene_extended.c: the parts of a scene that came with commands: what their keys mean, value
// by value, that they come back from canonical bytes, and that bytes of scenes without them are
// those of format 1. The wrong ones are in bad_scenes.txt.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foliot/foliot.h"
#include "sim/scene/scene.h"

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

#define HEAD "foliot: 1\nname: t\ntick_hz: 60\n"

// Every new key, once.
static const char every_key[] =
    HEAD "limits: {bodies_max: 64, commands_max: 512, joints_max: 9}\n"
         "bodies:\n"
         "  - {name: lift, kinematic: true, velocity: [0, 0, 1], angular_velocity: [0, 1, 0],\n"
         "     shape: {kind: box, half: [1, 1, 0.1]}, filter: {category: 2, mask: 0xfffffffd}}\n"
         "  - {name: gate, static: true, sensor: true, shape: {kind: sphere, radius: 2}}\n"
         "  - {name: leaf, gravity_scale: -0.25, linear_damping: 0.5, angular_damping: 1.5,\n"
         "     filter: {group: -7}, tag: 0xdeadbeef}\n"
         "prototypes:\n"
         "  - {name: shot, mass: 3, shape: {kind: sphere, radius: 0.1}, velocity: [9, 0, 0]}\n"
         "  - {name: floor, static: true, shape: {kind: plane}}\n"
         "  - {name: door, kinematic: true, sensor: true, shape: {kind: sphere, radius: 1},\n"
         "     filter: {category: 4, mask: 5, group: 6}, tag: 7}\n"
         "players: {limit: 3, bodiless: true, controls: {kind: vessel, torque: 3}}\n";

static void check_every_key(const foliot_scene *s)
{
    assert_int_equal(s->commands_max, 512);
    assert_int_equal(s->joints_max, 9);
    assert_int_equal(s->body_count, 3);
    const foliot_body_definition *lift = &s->bodies[0], *gate = &s->bodies[1],
                                 *leaf = &s->bodies[2];
    assert_true(lift->is_kinematic && !lift->is_static && !lift->is_sensor);
    assert_int_equal(lift->category, 2);
    assert_int_equal(lift->mask, 0xfffffffd);
    assert_true(gate->is_static && gate->is_sensor && !gate->is_kinematic);
    check_bits(gate->gravity_scale, 1);
    assert_int_equal(gate->category, 1);
    assert_int_equal(gate->mask, UINT32_MAX);
    check_bits(leaf->gravity_scale, -0.25);
    check_bits(leaf->linear_damping, 0.5);
    check_bits(leaf->angular_damping, 1.5);
    assert_int_equal(leaf->group, -7);
    assert_int_equal(leaf->tag, 0xdeadbeef);
    assert_int_equal(s->prototype_count, 3);
    assert_string_equal(s->prototypes[0].name, "shot");
    check_bits(s->prototypes[0].velocity[0], 9);
    assert_true(s->prototypes[1].is_static);
    const foliot_body_definition *door = &s->prototypes[2];
    assert_true(door->is_kinematic && door->is_sensor);
    assert_int_equal(door->category, 4);
    assert_int_equal(door->mask, 5);
    assert_int_equal(door->group, 6);
    assert_int_equal(door->tag, 7);
    assert_int_equal(foliot_scene_find_prototype(s, "door"), 2);
    assert_int_equal(foliot_scene_find_prototype(s, "lift"), FOLIOT_NO_BODY);
    assert_true(s->players.bodiless);
    assert_int_equal(s->players.limit, 3);
}

TEST(every_key_means_what_it_says)
{
    foliot_scene *s = parsed(every_key);
    check_every_key(s);
    foliot_scene_destroy(s);
}

static uint8_t *encoded(const foliot_scene *scene, size_t *length)
{
    assert_int_equal(foliot_scene_encode(scene, NULL, 0, length), FOLIOT_STATUS_OK);
    uint8_t *bytes = malloc(*length);
    assert_int_equal(foliot_scene_encode(scene, bytes, *length, length), FOLIOT_STATUS_OK);
    return bytes;
}

// Scenes whose rules do not look back have the bytes that they had before there was the key.
TEST(how_far_rules_look_back_is_kept)
{
    static const char text[] = HEAD "limits: {commands_max: 8}\nbodies: [{mass: 1}]\n"
                                    "script: {module: ./game.so%s}\n";
    char with[200], without[200];
    size_t lengths[2];
    snprintf(with, sizeof with, text, ", history: 250");
    snprintf(without, sizeof without, text, "");
    foliot_scene *a = parsed(with), *b = parsed(without), *back = NULL;
    assert_int_equal(a->script.history_ticks, 250);
    assert_int_equal(b->script.history_ticks, 0);
    uint8_t *longer = encoded(a, &lengths[0]), *shorter = encoded(b, &lengths[1]);
    assert_int_equal(lengths[0], lengths[1] + 4);
    assert_int_equal(foliot_scene_decode(longer, lengths[0], &back), FOLIOT_STATUS_OK);
    assert_int_equal(back->script.history_ticks, 250);
    back->script.history_ticks = 251;
    foliot_error problem;
    assert_int_equal(foliot_scene_check(back, &problem), FOLIOT_STATUS_INVALID);
    assert_string_equal(problem.path, "script.history");
    free(longer);
    free(shorter);
    foliot_scene_destroy(a);
    foliot_scene_destroy(b);
    foliot_scene_destroy(back);
}

TEST(they_come_back_from_canonical_bytes)
{
    foliot_scene *s = parsed(every_key), *back = NULL;
    s->script.digest = (foliot_digest){0x0123456789abcdefu, 0xfedcba9876543210u};
    size_t length, again;
    uint8_t *bytes = encoded(s, &length);
    assert_int_equal(foliot_scene_decode(bytes, length, &back), FOLIOT_STATUS_OK);
    check_every_key(back);
    assert_true(back->script.digest.low == s->script.digest.low &&
                back->script.digest.high == s->script.digest.high);
    uint8_t *copy = encoded(back, &again);
    assert_int_equal(again, length);
    assert_memory_equal(copy, bytes, length);
    assert_int_equal(bytes[4], FOLIOT_SCENE_BYTES_FORMAT);
    for (size_t cut = 0; cut < length; cut++) {
        foliot_scene *part = NULL;
        check_ne(foliot_scene_decode(bytes, cut, &part), FOLIOT_STATUS_OK);
        assert_null(part);
    }
    free(copy);
    free(bytes);
    foliot_scene_destroy(back);
    foliot_scene_destroy(s);
}

// Their number is a value of the scene's record, which a scene without any leaves out.
TEST(the_number_of_prototypes_is_checked)
{
    static const char with[] = HEAD "limits: {commands_max: 1}\n"
                                    "bodies: [{mass: 1}]\nprototypes: [{name: a, mass: 1}]\n";
    static const char without[] = HEAD "limits: {commands_max: 1}\nbodies: [{mass: 1}]\n";
    foliot_scene *s = parsed(with), *t = parsed(without), *back = NULL;
    size_t length, shorter;
    uint8_t *bytes = encoded(s, &length), *plain = encoded(t, &shorter);
    const size_t prototype = 1 + 1 + 8; // its name "a" and a record that differs in nothing
    check_eq(length, shorter + 4 + prototype);
    assert_int_equal(foliot_scene_decode(bytes, length - prototype, &back),
                     FOLIOT_STATUS_TRUNCATED);
    bytes[4] = 2;
    assert_int_equal(foliot_scene_decode(bytes, length, &back), FOLIOT_STATUS_NEWER);
    uint8_t *more = malloc(shorter + prototype);
    memcpy(more, plain, shorter);
    memcpy(more + shorter, bytes + length - prototype, prototype);
    assert_int_equal(foliot_scene_decode(more, shorter + prototype, &back), FOLIOT_STATUS_CORRUPT);
    free(more);
    free(bytes);
    free(plain);
    foliot_scene_destroy(s);
    foliot_scene_destroy(t);
}

static void expect_problem(const foliot_scene *scene, const char *path)
{
    foliot_error problem;
    check_ne(foliot_scene_check(scene, &problem), FOLIOT_STATUS_OK);
    assert_string_equal(problem.path, path);
}

// Values that the text cannot have, because its reader fills them in or knows no such key.
TEST(values_of_programs_are_checked_too)
{
    foliot_scene *s = parsed(every_key);
    foliot_body_definition bodies[3], prototypes[3];
    memcpy(bodies, s->bodies, sizeof bodies);
    memcpy(prototypes, s->prototypes, sizeof prototypes);
    foliot_scene changed = *s;
    changed.bodies = bodies;
    changed.prototypes = prototypes;
    assert_int_equal(foliot_scene_check(&changed, NULL), FOLIOT_STATUS_OK);

    bodies[2].gravity_scale = (double)__builtin_nanf("");
    expect_problem(&changed, "bodies[2].gravity_scale");
    bodies[2] = s->bodies[2];
    prototypes[1].category = 0;
    expect_problem(&changed, "prototypes[1].filter.category");
    prototypes[1] = s->prototypes[1];
    prototypes[0].name = NULL;
    expect_problem(&changed, "prototypes[0].name");
    prototypes[0] = s->prototypes[0];
    changed.prototypes = NULL;
    expect_problem(&changed, "prototypes");
    changed.prototypes = prototypes;
    changed.prototype_count = FOLIOT_PROTOTYPES_MAX + 1;
    expect_problem(&changed, "prototypes");
    changed.prototype_count = 3;
    changed.players.bodiless = false;
    changed.players.torque = 0;
    changed.players.position_count = 0;
    expect_problem(&changed, "players.spawn.positions");
    static const double at[1][3];
    changed.players.positions = at;
    changed.players.position_count = 1;
    changed.players.body = foliot_body_definition_default();
    assert_int_equal(foliot_scene_check(&changed, NULL), FOLIOT_STATUS_OK);
    changed.players.body.is_kinematic = true;
    expect_problem(&changed, "players.spawn.kinematic");
    foliot_scene_destroy(s);
}

// A prototype may meet others of its kind; joints may come; a sensor meets nothing.
TEST(what_may_come_decides_substeps_and_contacts)
{
    static const struct {
        const char *text;
        bool collides, joins;
    } cases[] = {
        {"bodies: [{shape: {kind: sphere, radius: 1}}]\n", false, false},
        {"bodies: [{}]\nlimits: {commands_max: 1, joints_max: 1}\n", false, true},
        {"bodies: [{}]\nlimits: {commands_max: 1}\n"
         "prototypes: [{name: a, shape: {kind: sphere, radius: 1}}]\n",
         true, false},
        {"bodies: [{shape: {kind: sphere, radius: 1}},\n"
         "  {static: true, sensor: true, shape: {kind: plane}}]\n",
         false, false},
        {"bodies: [{kinematic: true, shape: {kind: sphere, radius: 1}},\n"
         "  {static: true, shape: {kind: plane}}]\n",
         false, false},
        {"limits: {commands_max: 1}\n"
         "bodies: [{kinematic: true, shape: {kind: sphere, radius: 1}},\n"
         "  {static: true, shape: {kind: plane}}]\n",
         true, false},
        {"limits: {commands_max: 1}\nplayers: {bodiless: true}\n"
         "bodies: [{shape: {kind: sphere, radius: 1}}]\n",
         false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text, HEAD "%s", cases[i].text);
        foliot_scene *s = parsed(text);
        assert_int_equal(foliot__scene_collides(s), cases[i].collides);
        assert_int_equal(foliot__scene_joins(s), cases[i].joins);
        assert_int_equal(s->substeps, cases[i].collides || cases[i].joins ? 4 : 1);
        foliot_scene_destroy(s);
    }
}
