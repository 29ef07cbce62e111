// SPDX-License-Identifier: MIT
// snapshot_session.c: a server and a client in one program. The server steps a world and sends
// snapshots; the client joins as a player, pushes its ball, and samples the positions that it would
// draw.
//
//     snapshot_session          packets through memory, on a virtual clock: the same at every run
//     snapshot_session --udp    packets through UDP on the loopback, in real time
//
// In your own program the server and the client are two processes. Each calls its update function
// when its transport has something, at the latest at its wake time, once a frame otherwise.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <foliot/foliot.h>

#define SECONDS 3

static void must(foliot_status status, const char *what)
{
    if (status == FOLIOT_STATUS_OK)
        return;
    fprintf(stderr, "%s: %s\n", what, foliot_status_get_text(status));
    exit(1);
}

// Time is an argument of every call, in nanoseconds of a clock that never goes back.
static uint64_t next_millisecond(bool udp, uint64_t now_ns)
{
    if (!udp)
        return now_ns + 1000000;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// A transport carries packets. `hub` NULL: UDP; otherwise memory, through a network that delays and
// loses packets.
static foliot_transport *open_transport(foliot_hub *hub, bool listens, uint64_t now_ns)
{
    foliot_transport_config config = foliot_transport_config_default();
    config.bind = listens ? "127.0.0.1" : NULL;
    config.port = 0; // any free one; foliot_transport_get_port says which
    config.peers_max = listens ? 16 : 1;
    if (hub)
        must(foliot_impairment_parse("delay=20ms,jitter=0-10ms,loss=2%", &config.send, NULL),
             "impairment");
    foliot_transport *transport = NULL;
    must(hub ? foliot_transport_create_memory(hub, &config, now_ns, &transport)
             : foliot_transport_create_enet(&config, now_ns, &transport),
         "transport");
    return transport;
}

// A floor and a crate; a player is a ball that axis 0 pushes along x.
static void describe_scene(foliot_scene *scene, foliot_body_definition bodies[2])
{
    static const double places[1][3] = {{-3, 0, 0.5}};
    bodies[0] = bodies[1] = foliot_body_definition_default();
    bodies[0].name = "floor";
    bodies[0].is_static = true;
    bodies[0].shape = (foliot_shape){.kind = FOLIOT_SHAPE_PLANE, .normal = {0, 0, 1}};
    bodies[1].name = "crate";
    bodies[1].position[2] = 0.5;
    bodies[1].shape = (foliot_shape){.kind = FOLIOT_SHAPE_BOX, .half = {0.5, 0.5, 0.5}};

    *scene = foliot_scene_default();
    scene->name = "crate";
    scene->dt = 1.0 / 60;
    scene->gravity[2] = -9.81;
    scene->bodies = bodies;
    scene->body_count = 2;
    scene->players.limit = 4;
    scene->players.body.shape = (foliot_shape){.kind = FOLIOT_SHAPE_SPHERE, .radius = 0.5};
    scene->players.positions = places;
    scene->players.position_count = 1;
    scene->players.control = FOLIOT_CONTROL_THRUST;
    scene->players.force = 10;
}

// The server owns the world from here on; the scene and the transport stay lent.
static foliot_server *host_session(const foliot_scene *scene, foliot_transport *transport,
                                   uint64_t now_ns)
{
    foliot_world *world = NULL;
    must(foliot_world_create(scene, &world, NULL), "world");
    foliot_server_config config = foliot_server_config_default();
    config.transport = transport;
    foliot_server *server = NULL;
    must(foliot_server_create(&config, now_ns, &server), "server");
    foliot_session_config session = foliot_session_config_default();
    session.scene = scene;
    session.world = world;
    session.ticks = SECONDS * 60; // ends by itself
    must(foliot_server_add_session(server, &session, now_ns), "session");
    return server;
}

static foliot_client *join_session(foliot_transport *transport, uint16_t port, uint64_t now_ns)
{
    foliot_client_config config = foliot_client_config_default();
    config.transport = transport;
    config.address = "127.0.0.1";
    config.port = port;
    config.name = "alice";
    foliot_client *client = NULL;
    must(foliot_client_create(&config, now_ns, &client), "client");
    return client;
}

// A game does this once a frame: it gets every body's position, interpolated between two snapshots.
static void draw(foliot_client *client, uint64_t now_ns)
{
    foliot_sample sample;
    if (foliot_client_sample(client, now_ns, &sample) != FOLIOT_STATUS_OK)
        return; // FOLIOT_STATUS_AGAIN: no snapshot has come yet
    const foliot_scene *scene = foliot_client_get_scene(client);
    printf("tick %6.2f", sample.render_tick);
    for (uint32_t slot = 0; slot < sample.count; slot++) {
        const foliot_body_state *body = &sample.bodies[slot];
        if (!(body->flags & FOLIOT_BODY_ALIVE) || (body->flags & FOLIOT_BODY_STATIC))
            continue;
        const char *player = foliot_client_get_player_name(client, slot);
        bool in_scene = scene && slot < scene->body_count;
        printf("  %s at x %.2f m",
               player     ? player
               : in_scene ? scene->bodies[slot].name
                          : "?",
               body->position[0]);
    }
    printf("\n");
}

static void print_events(foliot_server *server)
{
    foliot_server_event event;
    while (foliot_server_poll(server, &event))
        if (event.kind == FOLIOT_SERVER_JOINED || event.kind == FOLIOT_SERVER_LEFT)
            printf("server: player %u %s: %s\n", event.player,
                   event.kind == FOLIOT_SERVER_JOINED ? "joined" : "left", event.text);
}

int main(int count, char **arguments)
{
    bool udp = count > 1 && strcmp(arguments[1], "--udp") == 0;
    uint64_t now_ns = next_millisecond(udp, 1000000000u), frame_ns = 0;
    foliot_hub *hub = NULL; // where transports through memory find each other
    if (!udp)
        must(foliot_hub_create(&hub), "hub");
    foliot_scene scene;
    foliot_body_definition bodies[2];
    describe_scene(&scene, bodies);
    foliot_transport *server_side = open_transport(hub, true, now_ns);
    foliot_transport *client_side = open_transport(hub, false, now_ns);
    foliot_server *server = host_session(&scene, server_side, now_ns);
    foliot_client *client =
        join_session(client_side, foliot_transport_get_port(server_side), now_ns);

    const int8_t push[FOLIOT_AXIS_COUNT] = {127};
    while (!foliot_server_get_done(server)) {
        foliot_server_update(server, now_ns);
        print_events(server);
        foliot_client_set_input(client, push, 0); // held until it is changed
        foliot_client_update(client, now_ns);
        if (now_ns >= frame_ns) {
            draw(client, now_ns);
            frame_ns = now_ns + 250000000u; // a game: 60 frames a second and more
        }
        now_ns = next_millisecond(udp, now_ns);
    }
    foliot_client_statistics seen = foliot_client_get_statistics(client);
    printf("%llu snapshots, %.0f bytes each, shown %.0f ms late\n",
           (unsigned long long)seen.snapshots_received, seen.snapshot_bytes_mean, seen.delay_ms);
    foliot_client_destroy(client);
    foliot_server_destroy(server);
    foliot_transport_destroy(client_side);
    foliot_transport_destroy(server_side);
    if (hub)
        foliot_hub_destroy(hub);
    return 0;
}
