// SPDX-License-Identifier: MIT
// fake_server.h: the real client against a server of the test's own, which sends whatever messages
// the test wants, over ENet on loopback or over memory on a clock of the test's own.
#ifndef FOLIOT_TESTS_FAKE_SERVER_H
#define FOLIOT_TESTS_FAKE_SERVER_H

#include "foliot/client.h"
#include "foliot/foliot.h"
#include "wire/message.h"

#define FAKE_SERVER_PORT 7777 // in memory
#define FAKE_SERVER_STEP_NS 5000000u
#define FAKE_SCENE_BYTES_MAX (64u << 10)

typedef struct fake_server {
    bool real; // ENet, else memory
    foliot_hub *hub;
    foliot_transport *host, *wire;
    foliot_client *client;
    uint64_t now_ns;
    foliot_peer_id peer;
    bool hello;        // of this connection
    uint64_t received; // packets of inputs, of either mode
} fake_server;

// A scene of points in a row, three apart, and its bytes.
typedef struct fake_scene {
    foliot_scene scene;
    foliot_body_definition *bodies;
    uint8_t bytes[FAKE_SCENE_BYTES_MAX];
    size_t length;
} fake_scene;

// With a client that has connected and sent its hello.
fake_server fake_server_open(bool real);
void fake_server_close(fake_server *s);
foliot_transport *fake_server_open_wire(fake_server *s, bool listens);
void fake_server_open_client(fake_server *s, uint16_t port);
void fake_server_run(fake_server *s, double seconds);
// Ends the connection, and waits for the client's next hello.
void fake_server_drop_client(fake_server *s);

void fake_server_send(fake_server *s, const foliot__message *m);
foliot__message fake_server_welcome(uint32_t scene_bytes, uint32_t bodies_max, bool lockstep);
void fake_server_send_scene_part(fake_server *s, const uint8_t *bytes, size_t length, size_t at,
                                 size_t total);
// The first `length` bytes of `total`.
void fake_server_send_scene(fake_server *s, const uint8_t *bytes, size_t length, size_t total);

fake_scene *fake_scene_create(const char *name, uint32_t bodies);
void fake_scene_destroy(fake_scene *m);
// The client has this one.
void fake_scene_check(const fake_server *s, const fake_scene *m);

#endif
