// SPDX-License-Identifier: MIT
// fake_server.c: see fake_server.h.
#include "check.h"
#include "clock.h"
#include "fake_server.h"

#include <stdlib.h>

#include "wire/lockstep_message.h"

static void receive_packets(fake_server *s)
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

void fake_server_run(fake_server *s, double seconds)
{
    for (uint64_t end = s->now_ns + (uint64_t)(seconds * 1e9); s->now_ns < end;) {
        const struct timespec nap = {.tv_nsec = 1000000};
        if (s->real)
            nanosleep(&nap, NULL);
        s->now_ns = s->real ? clock_now_ns() : s->now_ns + FAKE_SERVER_STEP_NS;
        receive_packets(s);
        foliot_client_update(s->client, s->now_ns);
    }
}

foliot_transport *fake_server_open_wire(fake_server *s, bool listens)
{
    foliot_transport_config config = foliot_transport_config_default();
    foliot_transport *wire = NULL;
    if (listens) {
        config.bind = "127.0.0.1";
        config.port = s->real ? 0 : FAKE_SERVER_PORT;
        config.peers_max = 4;
    }
    foliot_status status = s->real
                               ? foliot_transport_create_enet(&config, s->now_ns, &wire)
                               : foliot_transport_create_memory(s->hub, &config, s->now_ns, &wire);
    assert_int_equal(status, FOLIOT_STATUS_OK);
    return wire;
}

void fake_server_open_client(fake_server *s, uint16_t port)
{
    foliot_client_config config = foliot_client_config_default();
    s->wire = fake_server_open_wire(s, false);
    config.transport = s->wire;
    config.port = port;
    config.fingerprint = (foliot_digest){1, 2}; // nobody looks
    assert_int_equal(foliot_client_create(&config, s->now_ns, &s->client), FOLIOT_STATUS_OK);
}

static void wait_for_hello(fake_server *s)
{
    for (int i = 0; i < 400 && !s->hello; i++)
        fake_server_run(s, 0.01);
    assert_true(s->hello);
}

fake_server fake_server_open(bool real)
{
    fake_server s = {.real = real, .now_ns = real ? clock_now_ns() : 1000000000u};
    if (!real)
        assert_int_equal(foliot_hub_create(&s.hub), FOLIOT_STATUS_OK);
    s.host = fake_server_open_wire(&s, true);
    fake_server_open_client(&s, foliot_transport_get_port(s.host));
    wait_for_hello(&s);
    return s;
}

void fake_server_close(fake_server *s)
{
    foliot_client_destroy(s->client);
    foliot_transport_destroy(s->wire);
    if (s->host)
        foliot_transport_destroy(s->host);
    if (s->hub)
        foliot_hub_destroy(s->hub);
}

void fake_server_send(fake_server *s, const foliot__message *m)
{
    uint8_t bytes[FOLIOT__CONTROL_BYTES_MAX];
    size_t length;
    assert_int_equal(foliot__message_encode(m, bytes, sizeof bytes, &length), FOLIOT_STATUS_OK);
    assert_int_equal(
        foliot_transport_send(s->host, s->peer, FOLIOT_DELIVERY_RELIABLE, bytes, length),
        FOLIOT_STATUS_OK);
}

foliot__message fake_server_welcome(uint32_t scene_bytes, uint32_t bodies_max, bool lockstep)
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

void fake_server_send_scene_part(fake_server *s, const uint8_t *bytes, size_t length, size_t at,
                                 size_t total)
{
    foliot__message m = {.kind = FOLIOT__SCENE_PART};
    size_t left = length - at;
    m.as.scene_part.offset = (uint32_t)at;
    m.as.scene_part.total = (uint32_t)total;
    m.as.scene_part.bytes = bytes + at;
    m.as.scene_part.length =
        (uint32_t)(left < FOLIOT__SCENE_PART_BYTES ? left : FOLIOT__SCENE_PART_BYTES);
    fake_server_send(s, &m);
}

void fake_server_send_scene(fake_server *s, const uint8_t *bytes, size_t length, size_t total)
{
    for (size_t at = 0; at < length; at += FOLIOT__SCENE_PART_BYTES)
        fake_server_send_scene_part(s, bytes, length, at, total);
    fake_server_run(s, 0.1);
}

void fake_server_drop_client(fake_server *s)
{
    s->hello = false;
    foliot_transport_disconnect(s->host, s->peer, 0, true);
    wait_for_hello(s);
}

fake_scene *fake_scene_create(const char *name, uint32_t bodies)
{
    fake_scene *m = calloc(1, sizeof *m);
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

void fake_scene_destroy(fake_scene *m)
{
    free(m->bodies);
    free(m);
}

void fake_scene_check(const fake_server *s, const fake_scene *m)
{
    const foliot_scene *scene = foliot_client_get_scene(s->client);
    assert_non_null(scene);
    assert_string_equal(scene->name, m->scene.name);
    assert_int_equal(scene->body_count, m->scene.body_count);
    check_eq(scene->bodies[m->scene.body_count - 1].position[0], 3.0 * (m->scene.body_count - 1));
}
