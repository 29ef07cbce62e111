// SPDX-License-Identifier: MIT
// Goal: a client outlives every server: one that comes back with another scene or in another mode,
// one whose numbers make no sense, one that asks about a divergence twice. The client keeps data of
// an earlier connection only where it is the same. Method: the real client against servers of the
// test's own, over ENet on loopback and over memory, and against real servers that are restarted
// with another scene.
#include "check.h"

#include <malloc.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "fake_server.h"
#include "foliot/server.h"
#include "recording/keyframe_codec.h"
#include "status.h"
#include "wire/lockstep_message.h"
#include "wire/session_state.h"

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
    assert_int_equal(foliot_client_get_kind(s->client) == FOLIOT_PEER_STEPPER, lockstep);
    foliot_client_statistics before = foliot_client_get_statistics(s->client);
    uint64_t inputs = foliot_server_get_counters(server)->inputs;
    const int8_t axes[FOLIOT_AXIS_COUNT] = {push};
    foliot_client_set_input(s->client, axes, 0);
    run(s, server, 1);
    foliot_client_statistics after = foliot_client_get_statistics(s->client);
    check_gt(after.newest_tick, before.newest_tick + 20);
    check_gt(foliot_server_get_counters(server)->inputs, inputs); // more arrive
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

// -- hostile memory: Goal: a server that sends few bytes which stand for gigabytes, or that lies
// about lengths, takes no more of a client's memory and time than what came is worth. Method: the
// real client against a server of the test's own. Memory is what malloc has given out.

#define MIB ((size_t)1 << 20)

size_t __sanitizer_get_current_allocated_bytes(void)
    __attribute__((weak)); // where there is a sanitizer

static size_t memory_in_use(void)
{
    if (__sanitizer_get_current_allocated_bytes)
        return __sanitizer_get_current_allocated_bytes();
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

// A snapshot of empty slots, all at once: 200 bytes for half a million.
static void send_empty_slots(fake_server *s, foliot_snapshot_coder *coder,
                             foliot_snapshot_pieces *pieces, foliot_snapshot *slots)
{
    uint8_t bytes[FOLIOT_PACKET_BYTES_MAX] = {FOLIOT__SNAPSHOT_PACKET};
    assert_int_equal(foliot_snapshot_encode(coder, slots, NULL, pieces), FOLIOT_STATUS_OK);
    assert_int_equal(pieces->count, 1);
    size_t length = pieces->offsets[1];
    check_below((double)length, 400);
    memcpy(bytes + 1, pieces->bytes, length);
    allow_failure(
        foliot_transport_send(s->host, s->peer, FOLIOT_DELIVERY_RELIABLE, bytes, length + 1));
}

TEST(small_packets_do_not_become_gigabytes_of_snapshots)
{
    enum { SLOTS = 1 << 19, SNAPSHOTS = 14 };
    fake_server s = fake_server_open(false);
    foliot__message m = fake_server_welcome(0, SLOTS, false);
    foliot_snapshot slots = {
        .count = SLOTS, .capacity = SLOTS, .bodies = calloc(SLOTS, sizeof(foliot_snapshot_body))};
    foliot_snapshot_coder *coder;
    foliot_snapshot_pieces pieces = {0};
    assert_non_null(slots.bodies);
    assert_int_equal(foliot_snapshot_coder_create(&m.as.welcome.format, &coder), FOLIOT_STATUS_OK);
    size_t before = memory_in_use();
    fake_server_send(&s, &m);
    for (slots.tick = 1; slots.tick <= SNAPSHOTS; slots.tick++) {
        send_empty_slots(&s, coder, &pieces, &slots);
        fake_server_run(&s, 0.02);
    }
    size_t taken = memory_in_use() - before;
    check_below((double)taken / (double)MIB, 96);
    check_gt(foliot_client_get_statistics(s.client).snapshots_too_large, 0);
    free(slots.bodies);
    foliot_snapshot_pieces_destroy(&pieces);
    foliot_snapshot_coder_destroy(coder);
    fake_server_close(&s);
}

// A scene of one ball and a number that asks for 6 or 12 GiB.
static void check_refused_for_memory(uint32_t bodies_max, uint32_t joints_max)
{
    fake_scene *m = fake_scene_create("vast", 1);
    m->scene.bodies_max = bodies_max;
    m->scene.joints_max = joints_max;
    m->scene.commands_max = joints_max > 0;
    m->bodies[0].shape.kind = FOLIOT_SHAPE_SPHERE;
    m->bodies[0].shape.radius = 1;
    assert_int_equal(foliot_scene_encode(&m->scene, m->bytes, sizeof m->bytes, &m->length),
                     FOLIOT_STATUS_OK);
    assert_int_equal(foliot_scene_check(&m->scene, NULL), FOLIOT_STATUS_OK);
    fake_server s = fake_server_open(false);
    foliot__message in = fake_server_welcome((uint32_t)m->length, 1 << 20, true);
    size_t before = memory_in_use();
    fake_server_send(&s, &in);
    fake_server_send_scene(&s, m->bytes, m->length, m->length);
    check_below((double)(memory_in_use() - before) / (double)MIB, 96);
    assert_int_equal(foliot_client_get_state(s.client), FOLIOT_CLIENT_LOST);
    assert_non_null(strstr(foliot_client_get_reason(s.client), "memory"));
    fake_server_close(&s);
    fake_scene_destroy(m);
}

TEST(a_scene_of_some_bytes_does_not_become_a_world_of_gigabytes)
{
    check_refused_for_memory(1 << 20, 0);
    check_refused_for_memory(0, FOLIOT_CONSTRAINTS_MAX);
}

// A state of zeros: a few kilobytes hold 64 MiB of them, and the world has some.
TEST(a_state_of_some_bytes_does_not_become_gigabytes)
{
    enum { CLAIMED = 64 << 20 };
    fake_scene *m = fake_scene_create("small", 2);
    foliot__keyframe_encoder encoder = {0};
    uint8_t *zeros = calloc(1, CLAIMED);
    assert_non_null(zeros);
    size_t length = foliot__keyframe_compress(&encoder, zeros, CLAIMED);
    free(zeros);
    assert_in_range(length, 1, FOLIOT__SCENE_PART_BYTES);
    fake_server s = fake_server_open(false);
    foliot__message in = fake_server_welcome((uint32_t)m->length, 4, true),
                    part = {.kind = FOLIOT__KEYFRAME_PART};
    part.as.keyframe_part = (foliot__keyframe_part){.players = m->scene.players.limit,
                                                    .total = (uint32_t)length,
                                                    .state_bytes = CLAIMED,
                                                    .bytes = encoder.packed,
                                                    .length = (uint32_t)length};
    fake_server_send(&s, &in);
    fake_server_send_scene(&s, m->bytes, m->length, m->length);
    struct rusage before, after;
    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    fake_server_send(&s, &part);
    fake_server_run(&s, 0.1);
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    check_below((double)(after.ru_minflt - before.ru_minflt), 4096); // pages: 16 MiB
    assert_int_equal(foliot_client_get_state(s.client), FOLIOT_CLIENT_REFUSED);
    assert_non_null(strstr(foliot_client_get_reason(s.client), "does not fit"));
    fake_server_close(&s);
    foliot__keyframe_encoder_free(&encoder);
    fake_scene_destroy(m);
}

TEST(a_scene_that_is_announced_takes_no_memory_before_it_comes)
{
    fake_server s = fake_server_open(false);
    foliot__message in = fake_server_welcome(64u << 20, 30, false);
    size_t before = memory_in_use();
    fake_server_send(&s, &in);
    fake_server_run(&s, 0.1);
    check_below((double)(memory_in_use() - before) / (double)MIB, 8);
    fake_server_close(&s);
}

// Honest ones are not refused: all of a large world comes before anything else does.
TEST(a_world_of_a_hundred_thousand_bodies_is_shown)
{
    enum { BODIES = 100000 };
    fake_server s = fake_server_open(false);
    foliot__message m = fake_server_welcome(0, BODIES, false);
    foliot_snapshot_body *bodies = calloc(BODIES, sizeof *bodies);
    foliot_snapshot world = {.tick = 10, .count = BODIES, .capacity = BODIES, .bodies = bodies};
    foliot_snapshot_coder *coder;
    foliot_snapshot_pieces pieces = {0};
    foliot_sample sample;
    uint8_t bytes[FOLIOT_PACKET_BYTES_MAX] = {FOLIOT__SNAPSHOT_PACKET};
    assert_non_null(bodies);
    for (int32_t i = 0; i < BODIES; i++)
        bodies[i] = (foliot_snapshot_body){.position = {i % 317 * 500, i / 317 * 500},
                                           .flags = FOLIOT_SNAPSHOT_ALIVE};
    assert_int_equal(foliot_snapshot_coder_create(&m.as.welcome.format, &coder), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_snapshot_encode(coder, &world, NULL, &pieces), FOLIOT_STATUS_OK);
    fake_server_send(&s, &m);
    for (uint32_t i = 0; i < pieces.count; i++) {
        size_t length = pieces.offsets[i + 1] - pieces.offsets[i];
        memcpy(bytes + 1, pieces.bytes + pieces.offsets[i], length);
        allow_failure(
            foliot_transport_send(s.host, s.peer, FOLIOT_DELIVERY_RELIABLE, bytes, length + 1));
        fake_server_run(&s, 0.005);
    }
    fake_server_run(&s, 0.2);
    assert_int_equal(foliot_client_sample(s.client, s.now_ns, &sample), FOLIOT_STATUS_OK);
    assert_int_equal(sample.count, BODIES);
    check_near(sample.bodies[BODIES - 1].position[0], (BODIES - 1) % 317 * 500 * 0x1p-9, 1e-9);
    free(bodies);
    foliot_snapshot_pieces_destroy(&pieces);
    foliot_snapshot_coder_destroy(coder);
    fake_server_close(&s);
}

static void count_and_send(void *user, const uint8_t *bytes, size_t length)
{
    foliot__message m = {.kind = FOLIOT__UPDATE,
                         .as.update = {.tick = 500, .bytes = bytes, .length = (uint32_t)length}};
    fake_server_send(user, &m);
}

// Updates of ticks that are far off wait to be shown; with too many the oldest are shown early.
// Joints far apart take a page each.
TEST(updates_that_wait_take_bounded_memory)
{
    static foliot__update_writer writer;
    fake_server s = fake_server_open(false);
    foliot__message m = fake_server_welcome(0, 8, false);
    foliot_snapshot_body body = {.flags = FOLIOT_SNAPSHOT_ALIVE};
    foliot_snapshot one = {.tick = 10, .count = 1, .capacity = 1, .bodies = &body};
    foliot_snapshot_coder *coder;
    foliot_snapshot_pieces pieces = {0};
    foliot_sample sample;
    foliot_var var = {.key = "k", .type = FOLIOT_VAR_TEXT};
    assert_int_equal(foliot_snapshot_coder_create(&m.as.welcome.format, &coder), FOLIOT_STATUS_OK);
    fake_server_send(&s, &m);
    send_empty_slots(&s, coder, &pieces, &one);
    fake_server_run(&s, 0.1);
    assert_int_equal(foliot_client_sample(s.client, s.now_ns, &sample), FOLIOT_STATUS_OK);
    size_t before = memory_in_use();
    memset(var.text, 'x', sizeof var.text - 1);
    foliot__update_begin(&writer, 8, count_and_send, &s);
    for (int i = 0; i < 60000; i++) {
        var.text[0] = (char)('a' + i % 26);
        foliot__update_var(&writer, &var);
        if (i % 300 == 0)
            fake_server_run(&s, 0.005);
    }
    fake_server_run(&s, 0.1);
    check_gt((double)foliot_client_get_statistics(s.client).update_bytes / (double)MIB, 14);
    check_below((double)(memory_in_use() - before) / (double)MIB, 4);
    assert_true(foliot_client_get_var(s.client, "k", &var)); // an older one, early
    for (uint32_t i = 0; i < FOLIOT_CONSTRAINTS_MAX; i += 64)
        foliot__update_joint_broken(&writer, i);
    foliot__update_finish(&writer, false);
    fake_server_run(&s, 0.3);
    check_below((double)(memory_in_use() - before) / (double)MIB, 28);
    assert_int_equal(foliot_client_get_state(s.client), FOLIOT_CLIENT_PLAYING);
    foliot_snapshot_pieces_destroy(&pieces);
    foliot_snapshot_coder_destroy(coder);
    fake_server_close(&s);
}

TEST(a_piece_claims_no_more_bodies_than_its_bytes_can_carry)
{
    const uint8_t lie[] = {9, 0, 0, 0, 1, 0x80, 0x80, 0x40, 0, 0, 0, 0}; // 2^20 slots, four bytes
    const uint8_t true_one[] = {9, 0, 0, 0, 1, 0x85, 0x07, 0, 0, 0, 0};  // 901 slots
    foliot_snapshot_head head;
    assert_int_equal(foliot_snapshot_decode_head(lie, sizeof lie, 0, &head), FOLIOT_STATUS_CORRUPT);
    assert_int_equal(foliot_snapshot_decode_head(true_one, sizeof true_one, 0, &head),
                     FOLIOT_STATUS_OK);
    assert_int_equal(head.count, 901);
}

TEST(one_update_does_a_bounded_amount_of_work)
{
    enum { SLOTS = 1 << 19, SNAPSHOTS = 12 };
    fake_server s = fake_server_open(false);
    foliot__message m = fake_server_welcome(0, SLOTS, false);
    foliot_snapshot slots = {
        .count = SLOTS, .capacity = SLOTS, .bodies = calloc(SLOTS, sizeof(foliot_snapshot_body))};
    foliot_snapshot_coder *coder;
    foliot_snapshot_pieces pieces = {0};
    assert_non_null(slots.bodies);
    assert_int_equal(foliot_snapshot_coder_create(&m.as.welcome.format, &coder), FOLIOT_STATUS_OK);
    fake_server_send(&s, &m);
    fake_server_run(&s, 0.1);
    for (slots.tick = 1; slots.tick <= SNAPSHOTS; slots.tick++)
        send_empty_slots(&s, coder, &pieces, &slots);
    foliot_transport_flush(s.host, s.now_ns);
    s.now_ns += 100000000; // all of them are here
    foliot_client_update(s.client, s.now_ns);
    check_below((double)foliot_client_get_statistics(s.client).pieces_received, SNAPSHOTS);
    check_le(foliot_client_get_wake_ns(s.client), s.now_ns); // it goes on at once
    fake_server_run(&s, 0.1);
    assert_int_equal(foliot_client_get_statistics(s.client).pieces_received, SNAPSHOTS);
    free(slots.bodies);
    foliot_snapshot_pieces_destroy(&pieces);
    foliot_snapshot_coder_destroy(coder);
    fake_server_close(&s);
}
