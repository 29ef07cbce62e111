// SPDX-License-Identifier: MIT
// Goal: a client outlives every server: one that lies about lengths, one that comes back with
// another scene or in another mode, and one that sends few bytes which stand for gigabytes. What
// the client kept of an earlier connection is kept only where it is the same, and the memory that
// it takes grows with what came. Method: the real client against servers of the test's own, which
// speak messages over ENet on loopback and over memory, and against real servers that are restarted
// with another scene. Memory is what malloc has given out.
#include "../support/check.h"
#include "clock.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "foliot/client.h"
#include "foliot/foliot.h"
#include "foliot/server.h"
#include "wire/lockstep_message.h"
#include "wire/message.h"
#include "status.h"

#define PORT 7777
#define STEP_NS 5000000u
#define SCENE_BYTES_MAX (64u << 10)
#define MIB ((size_t)1 << 20)

// -- a server of the test's own

typedef struct stage {
    bool real; // ENet, else memory
    foliot_hub *hub;
    foliot_transport *host, *wire;
    foliot_client *client;
    uint64_t now_ns;
    foliot_peer_id peer;
    bool hello;        // of this connection
    uint64_t received; // packets of inputs, of either mode
} stage;

static void hear(stage *s)
{
    foliot_transport_event event;
    foliot__message m;
    while (foliot_transport_poll(s->host, s->now_ns, &event)) {
        if (event.kind == FOLIOT_TRANSPORT_CONNECTED) {
            s->peer = event.peer;
            s->hello = false;
        } else if (event.kind == FOLIOT_TRANSPORT_RECEIVED) {
            s->peer = event.peer;
            s->received += event.bytes[0] == FOLIOT__INPUT_PACKET ||
                           event.bytes[0] == FOLIOT__LOCKSTEP_INPUT_PACKET;
            s->hello |= foliot__message_decode(event.bytes, event.length, &m) == FOLIOT_STATUS_OK &&
                        m.kind == FOLIOT__HELLO_MESSAGE;
        }
    }
    foliot_transport_flush(s->host, s->now_ns);
}

static void pass(stage *s, double seconds)
{
    for (uint64_t end = s->now_ns + (uint64_t)(seconds * 1e9); s->now_ns < end;) {
        const struct timespec nap = {.tv_nsec = 1000000};
        if (s->real)
            nanosleep(&nap, NULL);
        s->now_ns = s->real ? clock_now_ns() : s->now_ns + STEP_NS;
        hear(s);
        foliot_client_update(s->client, s->now_ns);
    }
}

static foliot_transport *open_wire(stage *s, bool listens)
{
    foliot_transport_config config = foliot_transport_config_default();
    foliot_transport *wire = NULL;
    if (listens) {
        config.bind = "127.0.0.1";
        config.port = s->real ? 0 : PORT;
        config.peers_max = 4;
    }
    foliot_status status = s->real
                               ? foliot_transport_create_enet(&config, s->now_ns, &wire)
                               : foliot_transport_create_memory(s->hub, &config, s->now_ns, &wire);
    assert_int_equal(status, FOLIOT_STATUS_OK);
    return wire;
}

static void open_client(stage *s, uint16_t port)
{
    foliot_client_config config = foliot_client_config_default();
    s->wire = open_wire(s, false);
    config.transport = s->wire;
    config.port = port;
    config.fingerprint = (foliot_digest){1, 2}; // nobody looks
    assert_int_equal(foliot_client_create(&config, s->now_ns, &s->client), FOLIOT_STATUS_OK);
}

static void wait_for_hello(stage *s)
{
    for (int i = 0; i < 400 && !s->hello; i++)
        pass(s, 0.01);
    assert_true(s->hello);
}

static stage open_stage(bool real)
{
    stage s = {.real = real, .now_ns = real ? clock_now_ns() : 1000000000u};
    if (!real)
        assert_int_equal(foliot_hub_create(&s.hub), FOLIOT_STATUS_OK);
    s.host = open_wire(&s, true);
    open_client(&s, foliot_transport_get_port(s.host));
    wait_for_hello(&s);
    return s;
}

static void close_stage(stage *s)
{
    foliot_client_destroy(s->client);
    foliot_transport_destroy(s->wire);
    if (s->host)
        foliot_transport_destroy(s->host);
    if (s->hub)
        foliot_hub_destroy(s->hub);
}

static void say(stage *s, const foliot__message *m)
{
    uint8_t bytes[FOLIOT__CONTROL_BYTES_MAX];
    size_t length;
    assert_int_equal(foliot__message_encode(m, bytes, sizeof bytes, &length), FOLIOT_STATUS_OK);
    assert_int_equal(
        foliot_transport_send(s->host, s->peer, FOLIOT_DELIVERY_RELIABLE, bytes, length),
        FOLIOT_STATUS_OK);
}

static foliot__message welcome(uint32_t scene_bytes, uint32_t bodies_max, bool lockstep)
{
    foliot__message m = {.kind = FOLIOT__WELCOME};
    foliot__welcome *w = &m.as.welcome;
    w->protocol = FOLIOT_PROTOCOL;
    strcpy(w->session, "main");
    strcpy(w->scene, "scene");
    w->dt = 0.02;
    w->pace_hz = w->snapshot_hz = 50;
    w->format = (foliot_snapshot_format){.position_step = 0x1p-9,
                                         .velocity_step = 0x1p-11,
                                         .damping = 1 << 16,
                                         .bodies_max = bodies_max};
    w->scene_bytes = scene_bytes;
    w->lockstep = lockstep;
    w->fingerprint = foliot_get_fingerprint();
    return m;
}

static void send_scene_part(stage *s, const uint8_t *bytes, size_t length, size_t at, size_t total)
{
    foliot__message m = {.kind = FOLIOT__SCENE_PART};
    size_t left = length - at;
    m.as.scene_part.offset = (uint32_t)at;
    m.as.scene_part.total = (uint32_t)total;
    m.as.scene_part.bytes = bytes + at;
    m.as.scene_part.length =
        (uint32_t)(left < FOLIOT__SCENE_PART_BYTES ? left : FOLIOT__SCENE_PART_BYTES);
    say(s, &m);
}

// The first `length` bytes of `total`.
static void send_scene(stage *s, const uint8_t *bytes, size_t length, size_t total)
{
    for (size_t at = 0; at < length; at += FOLIOT__SCENE_PART_BYTES)
        send_scene_part(s, bytes, length, at, total);
    pass(s, 0.1);
}

static void drop_client(stage *s)
{
    s->hello = false;
    foliot_transport_disconnect(s->host, s->peer, 0, true);
    wait_for_hello(s);
}

// -- scenes

typedef struct made_scene {
    foliot_scene scene;
    foliot_body_definition *bodies;
    uint8_t bytes[SCENE_BYTES_MAX];
    size_t length;
} made_scene;

static made_scene *make_scene(const char *name, uint32_t bodies)
{
    made_scene *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->bodies = calloc(bodies, sizeof *m->bodies);
    assert_non_null(m->bodies);
    for (uint32_t i = 0; i < bodies; i++) {
        m->bodies[i] = foliot_body_definition_default();
        m->bodies[i].position[0] = 3.0 * i;
    }
    m->scene = foliot_scene_default();
    m->scene.name = name;
    m->scene.dt = 0.02;
    m->scene.integrator = FOLIOT_INTEGRATOR_VELOCITY_VERLET;
    m->scene.bodies = m->bodies;
    m->scene.body_count = bodies;
    m->scene.players.limit = 2;
    assert_int_equal(foliot_scene_encode(&m->scene, m->bytes, sizeof m->bytes, &m->length),
                     FOLIOT_STATUS_OK);
    return m;
}

static void drop_scene(made_scene *m)
{
    free(m->bodies);
    free(m);
}

static void check_scene(const stage *s, const made_scene *m)
{
    const foliot_scene *scene = foliot_client_get_scene(s->client);
    assert_non_null(scene);
    assert_string_equal(scene->name, m->scene.name);
    assert_int_equal(scene->body_count, m->scene.body_count);
    check_eq(scene->bodies[m->scene.body_count - 1].position[0], 3.0 * (m->scene.body_count - 1));
}

// -- the scene after a reconnect

// A hostile server goes on where the first connection ended, before it begins anew.
static void come_back_with(bool real, size_t first_bytes, bool hostile)
{
    made_scene *small = make_scene("small", 2), *large = make_scene("large", 900);
    stage s = open_stage(real);
    foliot__message m = welcome((uint32_t)small->length, 8, false);
    say(&s, &m);
    send_scene(&s, small->bytes, first_bytes < small->length ? first_bytes : small->length,
               small->length);
    if (first_bytes >= small->length)
        check_scene(&s, small);
    drop_client(&s);
    m = welcome((uint32_t)large->length, 1000, false);
    say(&s, &m);
    for (size_t at = first_bytes; hostile && at < large->length; at += FOLIOT__SCENE_PART_BYTES)
        send_scene_part(&s, large->bytes, large->length, at, large->length);
    send_scene(&s, large->bytes, large->length, large->length);
    check_scene(&s, large);
    assert_int_equal(foliot_client_get_state(s.client), FOLIOT_CLIENT_PLAYING);
    close_stage(&s);
    drop_scene(small);
    drop_scene(large);
}

static void a_larger_scene_after_a_reconnect_is_the_one_that_the_client_has(void **state)
{
    (void)state;
    come_back_with(true, SIZE_MAX, false);
    come_back_with(false, SIZE_MAX, false);
}

static void a_larger_scene_after_one_that_was_cut_off_is_the_one_that_the_client_has(void **state)
{
    (void)state;
    come_back_with(true, 0,
                   false); // no malice: the first server died between its welcome and its scene
    come_back_with(false, 0, false);
    come_back_with(false, 40, false);
    come_back_with(true, 40, true);
    come_back_with(false, 40, true);
}

static void the_same_scene_after_a_reconnect_stays_where_it_is(void **state)
{
    (void)state;
    made_scene *scene = make_scene("same", 20);
    stage s = open_stage(false);
    foliot__message m = welcome((uint32_t)scene->length, 30, false);
    say(&s, &m);
    send_scene(&s, scene->bytes, scene->length, scene->length);
    const foliot_scene *before = foliot_client_get_scene(s.client);
    drop_client(&s);
    say(&s, &m);
    pass(&s, 0.1);
    assert_ptr_equal(foliot_client_get_scene(s.client), before); // it is shown while it comes again
    send_scene(&s, scene->bytes, scene->length, scene->length);
    assert_ptr_equal(foliot_client_get_scene(s.client), before);
    close_stage(&s);
    drop_scene(scene);
}

static void players_that_left_while_the_client_was_away_are_not_named_any_more(void **state)
{
    (void)state;
    stage s = open_stage(false);
    foliot__message m = welcome(0, 30, false), ada = {.kind = FOLIOT__PLAYER};
    ada.as.player = (foliot__player_message){.player = 1, .joined = true, .slot = 3, .name = "ada"};
    say(&s, &m);
    say(&s, &ada);
    pass(&s, 0.1);
    assert_string_equal(foliot_client_get_player_name(s.client, 3), "ada");
    drop_client(&s);
    say(&s, &m);
    pass(&s, 0.1);
    assert_null(foliot_client_get_player_name(s.client, 3));
    close_stage(&s);
}

static void a_welcome_whose_numbers_make_no_sense_ends_the_client(void **state)
{
    (void)state;
    const double paces[] = {1e-300, 1e290};
    for (int i = 0; i < 2; i++) {
        stage s = open_stage(false);
        foliot__message m = welcome(0, 30, false);
        m.as.welcome.pace_hz = paces[i];
        say(&s, &m);
        pass(&s, 0.1);
        assert_int_equal(foliot_client_get_state(s.client), FOLIOT_CLIENT_LOST);
        assert_non_null(strstr(foliot_client_get_reason(s.client), "welcome"));
        close_stage(&s);
    }
}

// -- real servers, restarted

static foliot_server *serve(stage *s, const made_scene *m, bool lockstep)
{
    foliot_server *server;
    foliot_server_config config = foliot_server_config_default();
    foliot_session_config session = {.name = "main",
                                     .scene = &m->scene,
                                     .pace_hz = 50,
                                     .mode = lockstep ? FOLIOT_SESSION_LOCKSTEP
                                                      : FOLIOT_SESSION_SNAPSHOTS};
    s->host = open_wire(s, true);
    config.transport = s->host;
    config.fingerprint = (foliot_digest){1, 2};
    assert_int_equal(foliot_server_create(&config, s->now_ns, &server), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_world_create(&m->scene, &session.world), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_server_add_session(server, &session, s->now_ns), FOLIOT_STATUS_OK);
    return server;
}

static void run(stage *s, foliot_server *server, double seconds)
{
    foliot_server_event event;
    for (uint64_t end = s->now_ns + (uint64_t)(seconds * 1e9); s->now_ns < end;) {
        s->now_ns += STEP_NS;
        foliot_server_update(server, s->now_ns);
        while (foliot_server_poll(server, &event)) {
        }
        foliot_client_update(s->client, s->now_ns);
    }
}

static void stop(stage *s, foliot_server *server)
{
    foliot_server_destroy(server);
    foliot_transport_destroy(s->host);
    s->host = NULL;
}

static void check_plays(stage *s, foliot_server *server, const made_scene *m, bool lockstep,
                        int8_t push)
{
    run(s, server, 6);
    assert_int_equal(foliot_client_get_state(s->client), FOLIOT_CLIENT_PLAYING);
    check_scene(s, m);
    assert_int_equal(foliot_client_get_lockstep(s->client), lockstep);
    foliot_client_statistics before = foliot_client_get_statistics(s->client);
    uint64_t heard = foliot_server_get_counters(server)->inputs;
    const int8_t axes[FOLIOT_AXIS_COUNT] = {push};
    foliot_client_set_input(s->client, axes, 0);
    run(s, server, 1);
    foliot_client_statistics after = foliot_client_get_statistics(s->client);
    check_gt(after.newest_tick, before.newest_tick + 20);
    check_gt(foliot_server_get_counters(server)->inputs, heard); // and it is heard
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

static void a_server_that_comes_back_with_another_scene_or_mode_is_played_on(void **state)
{
    (void)state;
    static const struct {
        bool lockstep;
        int scene;
    } runs[] = {{true, 0}, {true, 1}, {false, 1}, {true, 1}, {false, 0}, {false, 1}, {true, 0}};
    made_scene *scenes[2] = {make_scene("small", 2), make_scene("large", 300)};
    stage s = {.now_ns = 1000000000u};
    assert_int_equal(foliot_hub_create(&s.hub), FOLIOT_STATUS_OK);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        foliot_server *server = serve(&s, scenes[runs[i].scene], runs[i].lockstep);
        if (i == 0)
            open_client(&s, PORT);
        check_plays(&s, server, scenes[runs[i].scene], runs[i].lockstep, (int8_t)(10 + i));
        stop(&s, server);
    }
    close_stage(&s);
    drop_scene(scenes[0]);
    drop_scene(scenes[1]);
}

// -- few bytes that stand for much

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
static void send_empty_slots(stage *s, foliot_snapshot_coder *coder, foliot_snapshot_pieces *pieces,
                             foliot_snapshot *slots)
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

static void small_packets_do_not_become_gigabytes_of_snapshots(void **state)
{
    (void)state;
    enum { SLOTS = 1 << 19, SNAPSHOTS = 14 };
    stage s = open_stage(false);
    foliot__message m = welcome(0, SLOTS, false);
    foliot_snapshot slots = {
        .count = SLOTS, .capacity = SLOTS, .bodies = calloc(SLOTS, sizeof(foliot_snapshot_body))};
    foliot_snapshot_coder *coder;
    foliot_snapshot_pieces pieces = {0};
    assert_non_null(slots.bodies);
    assert_int_equal(foliot_snapshot_coder_create(&m.as.welcome.format, &coder), FOLIOT_STATUS_OK);
    size_t before = memory_in_use();
    say(&s, &m);
    for (slots.tick = 1; slots.tick <= SNAPSHOTS; slots.tick++) {
        send_empty_slots(&s, coder, &pieces, &slots);
        pass(&s, 0.02);
    }
    size_t taken = memory_in_use() - before;
    check_below((double)taken / (double)MIB, 96);
    check_gt(foliot_client_get_statistics(s.client).snapshots_too_large, 0);
    free(slots.bodies);
    foliot_snapshot_pieces_destroy(&pieces);
    foliot_snapshot_coder_destroy(coder);
    close_stage(&s);
}

static void a_scene_of_some_bytes_does_not_become_a_world_of_gigabytes(void **state)
{
    (void)state;
    made_scene *m = make_scene("vast", 1);
    m->scene.bodies_max = 1 << 20;
    m->bodies[0].shape.kind = FOLIOT_SHAPE_SPHERE;
    m->bodies[0].shape.radius = 1;
    assert_int_equal(foliot_scene_encode(&m->scene, m->bytes, sizeof m->bytes, &m->length),
                     FOLIOT_STATUS_OK);
    assert_int_equal(foliot_scene_check(&m->scene, NULL), FOLIOT_STATUS_OK);
    stage s = open_stage(false);
    foliot__message in = welcome((uint32_t)m->length, 1 << 20, true);
    size_t before = memory_in_use();
    say(&s, &in);
    send_scene(&s, m->bytes, m->length, m->length);
    check_below((double)(memory_in_use() - before) / (double)MIB, 96);
    assert_int_equal(foliot_client_get_state(s.client), FOLIOT_CLIENT_LOST);
    assert_non_null(strstr(foliot_client_get_reason(s.client), "memory"));
    close_stage(&s);
    drop_scene(m);
}

static void a_scene_that_is_announced_takes_no_memory_before_it_comes(void **state)
{
    (void)state;
    stage s = open_stage(false);
    foliot__message in = welcome(64u << 20, 30, false);
    size_t before = memory_in_use();
    say(&s, &in);
    pass(&s, 0.1);
    check_below((double)(memory_in_use() - before) / (double)MIB, 8);
    close_stage(&s);
}

// Honest ones are not refused: all of a large world comes before anything else does.
static void a_world_of_a_hundred_thousand_bodies_is_shown(void **state)
{
    (void)state;
    enum { BODIES = 100000 };
    stage s = open_stage(false);
    foliot__message m = welcome(0, BODIES, false);
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
    say(&s, &m);
    for (uint32_t i = 0; i < pieces.count; i++) {
        size_t length = pieces.offsets[i + 1] - pieces.offsets[i];
        memcpy(bytes + 1, pieces.bytes + pieces.offsets[i], length);
        allow_failure(
            foliot_transport_send(s.host, s.peer, FOLIOT_DELIVERY_RELIABLE, bytes, length + 1));
        pass(&s, 0.005);
    }
    pass(&s, 0.2);
    assert_int_equal(foliot_client_sample(s.client, s.now_ns, &sample), FOLIOT_STATUS_OK);
    assert_int_equal(sample.count, BODIES);
    check_near(sample.bodies[BODIES - 1].position[0], (BODIES - 1) % 317 * 500 * 0x1p-9, 1e-9);
    free(bodies);
    foliot_snapshot_pieces_destroy(&pieces);
    foliot_snapshot_coder_destroy(coder);
    close_stage(&s);
}

static void a_piece_claims_no_more_bodies_than_its_bytes_can_carry(void **state)
{
    (void)state;
    const uint8_t lie[] = {9, 0, 0, 0, 1, 0x80, 0x80, 0x40, 0, 0, 0, 0}; // 2^20 slots, four bytes
    const uint8_t true_one[] = {9, 0, 0, 0, 1, 0x85, 0x07, 0, 0, 0, 0};  // 901 slots
    foliot_snapshot_head head;
    assert_int_equal(foliot_snapshot_decode_head(lie, sizeof lie, &head), FOLIOT_STATUS_CORRUPT);
    assert_int_equal(foliot_snapshot_decode_head(true_one, sizeof true_one, &head),
                     FOLIOT_STATUS_OK);
    assert_int_equal(head.count, 901);
}

static void one_update_does_a_bounded_amount_of_work(void **state)
{
    (void)state;
    enum { SLOTS = 1 << 19, SNAPSHOTS = 12 };
    stage s = open_stage(false);
    foliot__message m = welcome(0, SLOTS, false);
    foliot_snapshot slots = {
        .count = SLOTS, .capacity = SLOTS, .bodies = calloc(SLOTS, sizeof(foliot_snapshot_body))};
    foliot_snapshot_coder *coder;
    foliot_snapshot_pieces pieces = {0};
    assert_non_null(slots.bodies);
    assert_int_equal(foliot_snapshot_coder_create(&m.as.welcome.format, &coder), FOLIOT_STATUS_OK);
    say(&s, &m);
    pass(&s, 0.1);
    for (slots.tick = 1; slots.tick <= SNAPSHOTS; slots.tick++)
        send_empty_slots(&s, coder, &pieces, &slots);
    foliot_transport_flush(s.host, s.now_ns);
    s.now_ns += 100000000; // all of them are here
    foliot_client_update(s.client, s.now_ns);
    check_below((double)foliot_client_get_statistics(s.client).pieces_received, SNAPSHOTS);
    check_le(foliot_client_get_wake_ns(s.client), s.now_ns); // it goes on at once
    pass(&s, 0.1);
    assert_int_equal(foliot_client_get_statistics(s.client).pieces_received, SNAPSHOTS);
    free(slots.bodies);
    foliot_snapshot_pieces_destroy(&pieces);
    foliot_snapshot_coder_destroy(coder);
    close_stage(&s);
}

static void what_was_refused_stays_refused(void **state)
{
    (void)state;
    stage s = open_stage(false);
    foliot__message no = {.kind = FOLIOT__REFUSE}, m = welcome(0, 30, false);
    no.as.refuse.reason = FOLIOT__REFUSE_FULL;
    strcpy(no.as.refuse.sentence, "no");
    say(&s, &no);
    say(&s, &m);
    pass(&s, 0.1);
    assert_int_equal(foliot_client_get_state(s.client), FOLIOT_CLIENT_REFUSED);
    assert_string_equal(foliot_client_get_reason(s.client), "no");
    close_stage(&s);
}

// -- a divergence that is half told

static void search(stage *s, foliot__message_kind kind, uint64_t tick)
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
    say(s, &m);
}

// States and inputs of what was found lie in what goes back in time for questions. The next
// question in the same update let go of them, and the host wrote what lay there then into a file.
static void what_a_divergence_lends_does_not_outlast_the_next_question(void **state)
{
    (void)state;
    enum { TICKS = 60 };
    static foliot__block block;
    made_scene *scene = make_scene("found", 2);
    stage s = open_stage(false);
    foliot_world *world;
    uint8_t saved[65536], coded[FOLIOT__SCENE_PART_BYTES];
    size_t length, head = 4 * (size_t)scene->scene.players.limit;
    foliot__message m = welcome((uint32_t)scene->length, 4, true),
                    part = {.kind = FOLIOT__KEYFRAME_PART}, ticks = {.kind = FOLIOT__TICKS_PART};
    memset(saved, 0, sizeof saved);
    assert_int_equal(foliot_world_create(&scene->scene, &world), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_world_capture(world, saved + head, sizeof saved - head, &length),
                     FOLIOT_STATUS_OK);
    length += head;
    say(&s, &m);
    send_scene(&s, scene->bytes, scene->length, scene->length);
    part.as.keyframe_part = (foliot__keyframe_part){
        .players = scene->scene.players.limit, .total = (uint32_t)length, .bytes = saved};
    for (size_t at = 0; at < length; at += part.as.keyframe_part.length) {
        part.as.keyframe_part.offset = (uint32_t)at;
        part.as.keyframe_part.bytes = saved + at;
        part.as.keyframe_part.length =
            (uint32_t)(length - at < FOLIOT__SCENE_PART_BYTES ? length - at
                                                              : FOLIOT__SCENE_PART_BYTES);
        say(&s, &part);
    }
    block.ticks = block.count = TICKS;
    for (uint32_t i = 0; i < TICKS; i++) {
        block.ages[i] = i;
        block.inputs[i] = (foliot_input){.kind = i ? FOLIOT_INPUT_CONTROL : FOLIOT_INPUT_JOIN,
                                         .axes = {i ? (int8_t)(i % 50) : 0}};
    }
    ticks.as.ticks_part = (foliot__ticks_part){.ticks = TICKS, .block = coded};
    ticks.as.ticks_part.length = (uint32_t)foliot__block_encode(&block, coded, sizeof coded);
    say(&s, &ticks);
    pass(&s, 0.2);
    assert_non_null(foliot_client_get_simulation(s.client));
    assert_int_equal(foliot_simulation_get_tick(foliot_client_get_simulation(s.client)), TICKS);
    foliot_divergence_report found;
    search(&s, FOLIOT__SEARCH_REQUEST, 3);
    pass(&s, 0.1);
    search(&s, FOLIOT__DIVERGED, 3);
    pass(&s, 0.1);
    assert_true(foliot_client_poll_divergence(s.client, &found)); // told at once: all is there
    check_gt(found.before_bytes, 0);
    check_gt(found.after_bytes, 0);
    assert_int_equal(found.input_count, 1);
    search(&s, FOLIOT__DIVERGED, 3);
    search(&s, FOLIOT__SEARCH_REQUEST, TICKS);
    pass(&s, 0.1);
    assert_true(foliot_client_poll_divergence(s.client, &found));
    assert_int_equal(found.divergence.tick, 3);
    assert_int_equal(found.before_bytes + found.after_bytes + found.input_count, 0);
    foliot_world_destroy(world);
    close_stage(&s);
    drop_scene(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_larger_scene_after_a_reconnect_is_the_one_that_the_client_has),
        cmocka_unit_test(a_larger_scene_after_one_that_was_cut_off_is_the_one_that_the_client_has),
        cmocka_unit_test(the_same_scene_after_a_reconnect_stays_where_it_is),
        cmocka_unit_test(players_that_left_while_the_client_was_away_are_not_named_any_more),
        cmocka_unit_test(a_welcome_whose_numbers_make_no_sense_ends_the_client),
        cmocka_unit_test(a_server_that_comes_back_with_another_scene_or_mode_is_played_on),
        cmocka_unit_test(small_packets_do_not_become_gigabytes_of_snapshots),
        cmocka_unit_test(a_scene_of_some_bytes_does_not_become_a_world_of_gigabytes),
        cmocka_unit_test(a_scene_that_is_announced_takes_no_memory_before_it_comes),
        cmocka_unit_test(a_world_of_a_hundred_thousand_bodies_is_shown),
        cmocka_unit_test(a_piece_claims_no_more_bodies_than_its_bytes_can_carry),
        cmocka_unit_test(one_update_does_a_bounded_amount_of_work),
        cmocka_unit_test(what_was_refused_stays_refused),
        cmocka_unit_test(what_a_divergence_lends_does_not_outlast_the_next_question),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
