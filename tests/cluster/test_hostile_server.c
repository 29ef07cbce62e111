// SPDX-License-Identifier: MIT
// Goal: a client outlives every server: one that comes back with another scene or in another mode,
// one whose numbers make no sense, one that asks about a divergence twice. The client keeps data of
// an earlier connection only where it is the same. Method: the real client against servers of the
// test's own, over ENet on loopback and over memory, and against real servers that are restarted
// with another scene.
#include "check.h"

#include <stdlib.h>

#include "fake_server.h"
#include "foliot/server.h"
#include "wire/lockstep_message.h"

// -- the scene after a reconnect

// A hostile server goes on where the first connection ended, before it begins again.
static void come_back_with(bool real, size_t first_bytes, bool hostile)
{
    fake_scene *small = fake_scene_create("small", 2), *large = fake_scene_create("large", 900);
    fake_server s = fake_server_open(real);
    foliot__message m = fake_server_welcome((uint32_t)small->length, 8, false);
    fake_server_send(&s, &m);
    fake_server_send_scene(
        &s, small->bytes, first_bytes < small->length ? first_bytes : small->length, small->length);
    if (first_bytes >= small->length)
        fake_scene_check(&s, small);
    fake_server_drop_client(&s);
    m = fake_server_welcome((uint32_t)large->length, 1000, false);
    fake_server_send(&s, &m);
    for (size_t at = first_bytes; hostile && at < large->length; at += FOLIOT__SCENE_PART_BYTES)
        fake_server_send_scene_part(&s, large->bytes, large->length, at, large->length);
    fake_server_send_scene(&s, large->bytes, large->length, large->length);
    fake_scene_check(&s, large);
    assert_int_equal(foliot_client_get_state(s.client), FOLIOT_CLIENT_PLAYING);
    fake_server_close(&s);
    fake_scene_destroy(small);
    fake_scene_destroy(large);
}

TEST(a_larger_scene_after_a_reconnect_is_the_one_that_the_client_has)
{
    come_back_with(true, SIZE_MAX, false);
    come_back_with(false, SIZE_MAX, false);
}

TEST(a_larger_scene_after_one_that_was_cut_off_is_the_one_that_the_client_has)
{
    come_back_with(true, 0,
                   false); // no malice: the first server died between its welcome and its scene
    come_back_with(false, 0, false);
    come_back_with(false, 40, false);
    come_back_with(true, 40, true);
    come_back_with(false, 40, true);
}

TEST(the_same_scene_after_a_reconnect_stays_where_it_is)
{
    fake_scene *scene = fake_scene_create("same", 20);
    fake_server s = fake_server_open(false);
    foliot__message m = fake_server_welcome((uint32_t)scene->length, 30, false);
    fake_server_send(&s, &m);
    fake_server_send_scene(&s, scene->bytes, scene->length, scene->length);
    const foliot_scene *before = foliot_client_get_scene(s.client);
    fake_server_drop_client(&s);
    fake_server_send(&s, &m);
    fake_server_run(&s, 0.1);
    assert_ptr_equal(foliot_client_get_scene(s.client), before); // it is shown while it comes again
    fake_server_send_scene(&s, scene->bytes, scene->length, scene->length);
    assert_ptr_equal(foliot_client_get_scene(s.client), before);
    fake_server_close(&s);
    fake_scene_destroy(scene);
}

TEST(players_that_left_while_the_client_was_away_are_not_named_any_more)
{
    fake_server s = fake_server_open(false);
    foliot__message m = fake_server_welcome(0, 30, false), ada = {.kind = FOLIOT__PLAYER};
    ada.as.player = (foliot__player_message){.player = 1, .joined = true, .slot = 3, .name = "ada"};
    fake_server_send(&s, &m);
    fake_server_send(&s, &ada);
    fake_server_run(&s, 0.1);
    assert_string_equal(foliot_client_get_player_name(s.client, 3), "ada");
    fake_server_drop_client(&s);
    fake_server_send(&s, &m);
    fake_server_run(&s, 0.1);
    assert_null(foliot_client_get_player_name(s.client, 3));
    fake_server_close(&s);
}

TEST(a_welcome_whose_numbers_make_no_sense_ends_the_client)
{
    const double paces[] = {1e-300, 1e290};
    for (int i = 0; i < 2; i++) {
        fake_server s = fake_server_open(false);
        foliot__message m = fake_server_welcome(0, 30, false);
        m.as.welcome.pace_hz = paces[i];
        fake_server_send(&s, &m);
        fake_server_run(&s, 0.1);
        assert_int_equal(foliot_client_get_state(s.client), FOLIOT_CLIENT_LOST);
        assert_non_null(strstr(foliot_client_get_reason(s.client), "welcome"));
        fake_server_close(&s);
    }
}

// -- real servers, restarted

static foliot_server *serve(fake_server *s, const fake_scene *m, bool lockstep)
{
    foliot_server *server;
    foliot_server_config config = foliot_server_config_default();
    foliot_session_config session = {.name = "main",
                                     .scene = &m->scene,
                                     .pace_hz = 50,
                                     .mode = lockstep ? FOLIOT_SESSION_LOCKSTEP
                                                      : FOLIOT_SESSION_SNAPSHOTS};
    s->host = fake_server_open_wire(s, true);
    config.transport = s->host;
    config.fingerprint = (foliot_digest){1, 2};
    assert_int_equal(foliot_server_create(&config, s->now_ns, &server), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_world_create(&m->scene, &session.world, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_server_add_session(server, &session, s->now_ns), FOLIOT_STATUS_OK);
    return server;
}

static void run(fake_server *s, foliot_server *server, double seconds)
{
    foliot_server_event event;
    for (uint64_t end = s->now_ns + (uint64_t)(seconds * 1e9); s->now_ns < end;) {
        s->now_ns += FAKE_SERVER_STEP_NS;
        foliot_server_update(server, s->now_ns);
        while (foliot_server_poll(server, &event)) {
        }
        foliot_client_update(s->client, s->now_ns);
    }
}

static void stop(fake_server *s, foliot_server *server)
{
    foliot_server_destroy(server);
    foliot_transport_destroy(s->host);
    s->host = NULL;
}

static void check_plays(fake_server *s, foliot_server *server, const fake_scene *m, bool lockstep,
                        int8_t push)
{
    run(s, server, 6);
    assert_int_equal(foliot_client_get_state(s->client), FOLIOT_CLIENT_PLAYING);
    fake_scene_check(s, m);
    assert_int_equal(foliot_client_get_lockstep(s->client), lockstep);
    foliot_client_statistics before = foliot_client_get_statistics(s->client);
    uint64_t heard = foliot_server_get_counters(server)->inputs;
    const int8_t axes[FOLIOT_AXIS_COUNT] = {push};
    foliot_client_set_input(s->client, axes, 0);
    run(s, server, 1);
    foliot_client_statistics after = foliot_client_get_statistics(s->client);
    check_gt(after.newest_tick, before.newest_tick + 20);
    check_gt(foliot_server_get_counters(server)->inputs, heard); // and its inputs arrive
    if (lockstep) {
        assert_int_equal(after.divergences, 0);
        assert_non_null(foliot_client_get_simulation(s->client));
    } else {
        foliot_sample sample;
        assert_null(foliot_client_get_simulation(s->client));
        assert_int_equal(foliot_client_sample(s->client, s->now_ns, &sample), FOLIOT_STATUS_OK);
        assert_int_equal(sample.count >= m->scene.body_count, true);
    }
}

TEST(a_server_that_comes_back_with_another_scene_or_mode_is_played_on)
{
    static const struct {
        bool lockstep;
        int scene;
    } runs[] = {{true, 0}, {true, 1}, {false, 1}, {true, 1}, {false, 0}, {false, 1}, {true, 0}};
    fake_scene *scenes[2] = {fake_scene_create("small", 2), fake_scene_create("large", 300)};
    fake_server s = {.now_ns = 1000000000u};
    assert_int_equal(foliot_hub_create(&s.hub), FOLIOT_STATUS_OK);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        foliot_server *server = serve(&s, scenes[runs[i].scene], runs[i].lockstep);
        if (i == 0)
            fake_server_open_client(&s, FAKE_SERVER_PORT);
        check_plays(&s, server, scenes[runs[i].scene], runs[i].lockstep, (int8_t)(10 + i));
        stop(&s, server);
    }
    fake_server_close(&s);
    fake_scene_destroy(scenes[0]);
    fake_scene_destroy(scenes[1]);
}

TEST(what_was_refused_stays_refused)
{
    fake_server s = fake_server_open(false);
    foliot__message no = {.kind = FOLIOT__REFUSE}, m = fake_server_welcome(0, 30, false);
    no.as.refuse.reason = FOLIOT__REFUSE_FULL;
    strcpy(no.as.refuse.sentence, "no");
    fake_server_send(&s, &no);
    fake_server_send(&s, &m);
    fake_server_run(&s, 0.1);
    assert_int_equal(foliot_client_get_state(s.client), FOLIOT_CLIENT_REFUSED);
    assert_string_equal(foliot_client_get_reason(s.client), "no");
    fake_server_close(&s);
}

// -- an incomplete divergence report

static void search(fake_server *s, foliot__message_kind kind, uint64_t tick)
{
    uint8_t question[9] = {'L'};
    foliot__message m = {.kind = kind};
    for (int i = 0; i < 8; i++)
        question[1 + i] = (uint8_t)(tick >> 8 * i);
    if (kind == FOLIOT__SEARCH_REQUEST)
        m.as.search =
            (foliot__search_message){.number = 1, .bytes = question, .length = sizeof question};
    else
        m.as.diverged.tick = tick;
    fake_server_send(s, &m);
}

// States and inputs of what was found lie in what goes back in time for questions. The next
// question in the same update let go of them, and the host wrote what lay there then into a file.
TEST(what_a_divergence_lends_does_not_outlast_the_next_question)
{
    enum { TICKS = 60 };
    static foliot__block block;
    fake_scene *scene = fake_scene_create("found", 2);
    fake_server s = fake_server_open(false);
    foliot_world *world;
    uint8_t saved[65536], coded[FOLIOT__SCENE_PART_BYTES];
    size_t length, head = 4 * (size_t)scene->scene.players.limit;
    foliot__message m = fake_server_welcome((uint32_t)scene->length, 4, true),
                    part = {.kind = FOLIOT__KEYFRAME_PART}, ticks = {.kind = FOLIOT__TICKS_PART};
    memset(saved, 0, sizeof saved);
    assert_int_equal(foliot_world_create(&scene->scene, &world, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_world_capture(world, saved + head, sizeof saved - head, &length),
                     FOLIOT_STATUS_OK);
    length += head;
    fake_server_send(&s, &m);
    fake_server_send_scene(&s, scene->bytes, scene->length, scene->length);
    part.as.keyframe_part = (foliot__keyframe_part){.players = scene->scene.players.limit,
                                                    .total = (uint32_t)length,
                                                    .bytes = saved,
                                                    .state_bytes = (uint32_t)length};
    for (size_t at = 0; at < length; at += part.as.keyframe_part.length) {
        part.as.keyframe_part.offset = (uint32_t)at;
        part.as.keyframe_part.bytes = saved + at;
        part.as.keyframe_part.length =
            (uint32_t)(length - at < FOLIOT__SCENE_PART_BYTES ? length - at
                                                              : FOLIOT__SCENE_PART_BYTES);
        fake_server_send(&s, &part);
    }
    block.ticks = block.count = TICKS;
    for (uint32_t i = 0; i < TICKS; i++) {
        block.ages[i] = i;
        block.inputs[i] = (foliot_input){.kind = i ? FOLIOT_INPUT_CONTROL : FOLIOT_INPUT_JOIN,
                                         .axes = {i ? (int8_t)(i % 50) : 0}};
    }
    ticks.as.ticks_part = (foliot__ticks_part){.ticks = TICKS, .block = coded};
    ticks.as.ticks_part.length = (uint32_t)foliot__block_encode(&block, coded, sizeof coded);
    fake_server_send(&s, &ticks);
    fake_server_run(&s, 0.2);
    assert_non_null(foliot_client_get_simulation(s.client));
    assert_int_equal(foliot_simulation_get_tick(foliot_client_get_simulation(s.client)), TICKS);
    foliot_divergence_report found;
    search(&s, FOLIOT__SEARCH_REQUEST, 3);
    fake_server_run(&s, 0.1);
    search(&s, FOLIOT__DIVERGED, 3);
    fake_server_run(&s, 0.1);
    assert_true(foliot_client_poll_divergence(s.client, &found)); // reported at once: all is there
    check_gt(found.before_bytes, 0);
    check_gt(found.after_bytes, 0);
    assert_int_equal(found.input_count, 1);
    search(&s, FOLIOT__DIVERGED, 3);
    search(&s, FOLIOT__SEARCH_REQUEST, TICKS);
    fake_server_run(&s, 0.1);
    assert_true(foliot_client_poll_divergence(s.client, &found));
    assert_int_equal(found.divergence.tick, 3);
    assert_int_equal(found.before_bytes + found.after_bytes + found.input_count, 0);
    foliot_world_destroy(world);
    fake_server_close(&s);
    fake_scene_destroy(scene);
}
