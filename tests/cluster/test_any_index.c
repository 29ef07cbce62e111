// SPDX-License-Identifier: MIT
// test_any_index.c: a slot or an index that is not there. Goal: no public function that is given
// one ends the host or reads beyond a table; it says that there is nothing, or returns a status.
// Method: every such function, with numbers just beyond the end and far beyond it; under the
// address sanitizer as well.
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "status.h"
#include "slots.h"

static const uint32_t beyond[] = {0, 1, 2, 63, 1000000, 0x7fffffff, 0x80000000, UINT32_MAX};
#define BEYOND (sizeof beyond / sizeof beyond[0])

static foliot_body_definition ball;
static foliot_constraint_definition rod;

static foliot_scene two_balls(void)
{
    static foliot_body_definition bodies[2];
    foliot_scene scene = foliot_scene_default();
    ball = foliot_body_definition_default();
    ball.name = "ball";
    ball.shape = (foliot_shape){.kind = FOLIOT_SHAPE_SPHERE, .radius = 0.5};
    bodies[0] = bodies[1] = ball;
    bodies[0].name = "one";
    bodies[1].name = "other";
    bodies[1].position[0] = 2;
    rod = foliot_constraint_definition_default(FOLIOT_CONSTRAINT_DISTANCE);
    rod.a = 0;
    rod.b = 1;
    rod.length = 2;
    scene.name = "two";
    scene.dt = 1.0 / 60;
    scene.bodies = bodies;
    scene.body_count = 2;
    scene.constraints = &rod;
    scene.constraint_count = 1;
    scene.bodies_max = 8;
    scene.commands_max = 4;
    scene.prototypes = &ball;
    scene.prototype_count = 1;
    return scene;
}

static foliot_world *world_of(const foliot_scene *scene)
{
    foliot_world *world = NULL;
    foliot_error problem = {.path = ""};
    (void)!foliot_scene_check(scene, &problem);
    assert_string_equal(problem.text, "");
    assert_int_equal(foliot_world_create(scene, &world, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_world_step(world, NULL, 0, NULL), FOLIOT_STATUS_OK);
    return world;
}

TEST(of_a_world)
{
    foliot_scene scene = two_balls();
    foliot_world *world = world_of(&scene);
    foliot_digest digest = foliot_world_get_digest(world);
    for (size_t i = 0; i < BEYOND; i++) {
        uint32_t n = foliot_world_get_body_count(world) + beyond[i];
        uint32_t slot = n < beyond[i] ? beyond[i] : n;
        assert_false(slot_alive(world, slot));
        foliot_body_state body = slot_state(world, slot);
        check_eq(body.flags, 0u);
        assert_true(body.position[0] == 0 && body.orientation[0] == 0);
        assert_true(slot_body(world, slot).mass == 0);
        check_eq(slot_body(world, slot).shape.kind, (unsigned)FOLIOT_SHAPE_POINT);
        check_eq(foliot_world_get_body_id(world, slot).value, 0u);
        foliot_body_id id = {1ull << 32 | slot}; // as of one that was there first
        foliot_body unchanged = {.tag = 77};
        check_eq(foliot_world_get_body_state(world, id).flags, 0u);
        assert_int_equal(foliot_world_get_body(world, id, &unchanged), FOLIOT_STATUS_NOT_FOUND);
        check_eq(unchanged.tag, 77u);
        assert_true(foliot_world_get_field(world, id, FOLIOT_FIELD_flags) == 0);
        assert_int_equal(foliot_world_set_field(world, id, FOLIOT_FIELD_flags, 1),
                         FOLIOT_STATUS_NOT_FOUND);
        check_eq(slot_body(world, slot).prototype, FOLIOT_NO_BODY);
        check_eq(slot_body(world, slot).tag, 0u);
        check_eq(player_slot(world, slot), FOLIOT_NO_BODY);
        check_eq(foliot_world_get_player_controls(world, slot).buttons, 0u);
        assert_true(index_joint(world, slot).broken);
        assert_true(index_joint(world, slot).force == 0);
        foliot_joint joint;
        assert_int_equal(
            foliot_world_get_joint(world, (foliot_joint_id){1ull << 32 | slot}, &joint),
            FOLIOT_STATUS_NOT_FOUND);
        check_eq(foliot_world_get_joint_id(world, slot).value, 0u);
        foliot_var var;
        assert_false(foliot_world_get_var_at(world, slot, &var));
        for (unsigned field = 0; field <= FOLIOT_FIELD_COUNT; field++) {
            assert_true(slot_field(world, slot, (foliot_field)field) == 0);
            assert_int_equal(slot_set_field(world, slot, (foliot_field)field, 1),
                             FOLIOT_STATUS_NOT_FOUND);
        }
        assert_true(slot_field(world, 0, (foliot_field)(FOLIOT_FIELD_COUNT + slot)) == 0 ||
                    FOLIOT_FIELD_COUNT + slot < FOLIOT_FIELD_COUNT);
    }
    assert_int_equal(slot_set_field(world, 0, FOLIOT_FIELD_COUNT, 1), FOLIOT_STATUS_INVALID);
    assert_true(foliot_digest_equal(digest, foliot_world_get_digest(world)));
    foliot_world_destroy(world);
}

// Commands name bodies, joints, prototypes and players: the world refuses them.
TEST(of_commands)
{
    foliot_scene scene = two_balls();
    foliot_world *world = world_of(&scene);
    uint64_t refused = 0;
    for (size_t i = 0; i < BEYOND; i++) {
        uint32_t n = beyond[i] < UINT32_MAX - 2 ? 2 + beyond[i] : beyond[i];
        foliot_command c[4];
        c[0] = foliot_command_default(FOLIOT_COMMAND_despawn);
        c[0].fields = FOLIOT_COMMAND_HAS(despawn, body);
        c[0].as.despawn.body.value = 1ull << 32 | n;
        c[1] = foliot_command_default(FOLIOT_COMMAND_break_joint);
        c[1].fields = FOLIOT_COMMAND_HAS(break_joint, joint);
        c[1].as.break_joint.joint.value = 1ull << 32 | n;
        c[2] = foliot_command_default(FOLIOT_COMMAND_spawn);
        c[2].fields = FOLIOT_COMMAND_HAS(spawn, prototype) | FOLIOT_COMMAND_HAS(spawn, position);
        c[2].as.spawn.prototype = n;
        c[3] = foliot_command_default(FOLIOT_COMMAND_control);
        c[3].fields = FOLIOT_COMMAND_HAS(control, player);
        c[3].as.control.player = n;
        for (uint32_t k = 0; k < 4; k++)
            c[k].sequence = k + 1;
        const foliot_tick_inputs tick = {.commands = c, .command_count = 4};
        assert_int_equal(foliot_world_step_tick(world, &tick, NULL), FOLIOT_STATUS_OK);
        refused += 4;
        check_eq(foliot_world_get_counters(world)->commands_refused, refused);
    }
    check_eq(foliot_world_get_body_count(world), 2u);
    foliot_world_destroy(world);
}

TEST(of_a_server_and_a_client)
{
    foliot_scene scene = two_balls();
    cluster *c = cluster_create(&(cluster_options){.world = CLUSTER_EMPTY, .step_ns = 5000000});
    cluster_serve(c, NULL, NULL);
    foliot_session_config session = foliot_session_config_default();
    session.scene = &scene;
    cluster_host(c, &session);
    foliot_client *client = c->clients[cluster_spectator(c, NULL)];
    foliot_server *server = c->server;
    for (int step = 0; step < 100; step++) {
        if (step == 0 || step == 99) // before it is in the session, and as it is
            for (size_t i = 0; i < BEYOND; i++) {
                uint32_t n = beyond[i] < UINT32_MAX - 2 ? beyond[i] + 2 : beyond[i];
                foliot_constraint_definition joint;
                foliot_shape shape;
                foliot_session_info info;
                assert_string_equal(foliot_client_get_var_at(client, n).key, "");
                check_eq(foliot_client_get_tag(client, n), 0u);
                check_eq(foliot_client_get_prototype(client, n), FOLIOT_NO_BODY);
                assert_false(foliot_client_get_joint(client, n, &joint));
                (void)foliot_client_get_shape(client, n, &shape);
                assert_null(foliot_client_get_name(client, n));
                (void)foliot_client_get_player_name(client, n);
                assert_int_equal(foliot_server_get_session_info(server, n, &info),
                                 FOLIOT_STATUS_NOT_FOUND);
                assert_int_equal(foliot_server_kick(server, "main", n, ""),
                                 FOLIOT_STATUS_NOT_FOUND);
                if (n != FOLIOT_TO_ALL)
                    assert_int_equal(foliot_server_message(server, "main", n, "x", 1, true),
                                     FOLIOT_STATUS_INVALID);
            }
        cluster_run(c, 0.005);
    }
    assert_int_equal(foliot_client_get_state(client), FOLIOT_CLIENT_PLAYING);
    cluster_destroy(c);
}

// A scene that is out of range is refused with the field and its range.
TEST(of_a_scene)
{
    foliot_scene scene = two_balls();
    foliot_error problem = {.path = ""};
    foliot_world *world = NULL;
    scene.dt = -1;
    assert_int_equal(foliot_world_create(&scene, &world, &problem), FOLIOT_STATUS_INVALID);
    assert_string_equal(problem.path, "dt");
    assert_true(strlen(problem.text) > 0);
    scene = two_balls();
    rod.b = 7;
    assert_int_equal(foliot_world_create(&scene, &world, &problem), FOLIOT_STATUS_INVALID);
    assert_non_null(strstr(problem.path, "constraints[0]"));
    assert_null(world);
}

TEST(of_lists)
{
    for (size_t i = 0; i < BEYOND; i++) {
        uint32_t n = beyond[i] < UINT32_MAX - 1000 ? beyond[i] + 1000 : beyond[i];
        char text[64];
        foliot_command c = foliot_command_default((foliot_command_kind)n);
        assert_string_equal(foliot_stage_get_name((foliot_stage)n), "none");
        assert_string_equal(foliot_field_get_name((foliot_field)n), "none");
        assert_null(foliot_integrator_get_info((foliot_integrator)n));
        if (n != UINT32_MAX) // -1 is INVALID
            assert_string_equal(foliot_status_get_name((foliot_status)n), "UNKNOWN");
        assert_non_null(foliot_status_get_text((foliot_status)n));
        assert_non_null(foliot_command_reason_get_text((foliot_command_reason)n));
        assert_null(foliot_command_kind_get_info(n));
        assert_false(foliot_command_valid(&c, NULL));
        check_eq(foliot_command_encode(&c, NULL, 0), 0u);
        check_eq(foliot_command_print_json(&c, text, sizeof text), strlen(text));
        assert_non_null(foliot_harness_test_get_name((foliot_harness_test)n));
        assert_non_null(foliot_role_get_name((foliot_role)n));
        (void)foliot_force_definition_default((foliot_force_kind)n);
        (void)foliot_constraint_definition_default((foliot_constraint_kind)n);
    }
}

// -- bodiless players: Goal: everybody knows who plays and whose body is whose, where a game gives
// players their bodies. Players without bodies were once reported only to newcomers, never to
// clients that were there, and nobody learned whose body it was. Method: clients of a real server
// that is given the commands.

static void control(cluster *s, uint32_t player, uint32_t slot)
{
    const foliot_world *world = foliot_server_get_world(s->server, "main");
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_control);
    c.as.control.player = player;
    if (slot != FOLIOT_NO_BODY) {
        c.fields |= FOLIOT_COMMAND_HAS(control, body);
        c.as.control.body = foliot_world_get_body_id(world, slot);
    }
    c.fields |= FOLIOT_COMMAND_HAS(control, player);
    demand(foliot_server_command(s->server, "main", &c, NULL));
    cluster_run(s, 0.5);
}

static unsigned count(foliot_client *client, foliot_client_event_kind kind)
{
    foliot_client_event e;
    unsigned found = 0;
    while (foliot_client_poll(client, &e))
        found += e.kind == kind;
    return found;
}

static void check_names(const cluster *s, uint32_t slot, bool has)
{
    for (unsigned c = 0; c < s->client_count; c++)
        if (has)
            assert_string_equal(foliot_client_get_player_name(s->clients[c], slot), "player");
        else
            assert_null(foliot_client_get_player_name(s->clients[c], slot));
}

TEST(everybody_is_told_of_players_and_of_their_bodies)
{
    cluster *s = cluster_create(
        &(cluster_options){.world = CLUSTER_SPRINGS, .game = true, .bodiless = true});
    cluster_player(s, "delay=5ms");
    cluster_run(s, 1);
    cluster_player(s, "delay=5ms");
    cluster_spectator(s, "delay=5ms");
    cluster_run(s, 1);
    for (unsigned c = 0; c < 3; c++) {
        assert_non_null(foliot_client_get_name(s->clients[c], 0));
        assert_non_null(foliot_client_get_name(s->clients[c], 1));
        assert_int_equal(count(s->clients[c], FOLIOT_CLIENT_JOINED), 2);
    }
    control(s, 0, 3);
    check_names(s, 3, true);
    control(s, 0, 5); // another body
    check_names(s, 3, false);
    check_names(s, 5, true);
    cluster_spectator(s, "delay=5ms"); // late
    cluster_run(s, 1);
    check_names(s, 5, true);
    control(s, 0, FOLIOT_NO_BODY);
    check_names(s, 5, false);
    for (unsigned c = 0; c < 3; c++) { // and nobody has come or gone
        assert_non_null(foliot_client_get_name(s->clients[c], 0));
        assert_int_equal(count(s->clients[c], FOLIOT_CLIENT_JOINED), 0);
    }
    cluster_destroy(s);
}
