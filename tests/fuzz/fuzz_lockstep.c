// SPDX-License-Identifier: MIT
// fuzz_lockstep.c: any bytes as what a peer of a lockstep session says, before, between and after
// honest packets, and as what a server says to a client. Whatever comes, every due tick is closed,
// and an honest player's world stays the server's. Records of the input: what to do, a length, so
// many bytes.
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "foliot/client.h"
#include "foliot/foliot.h"
#include "foliot/server.h"
#include "net/transport.h"
#include "status.h"

#define PORT 7777
#define TICK_NS 20000000u
#define HISTORY 1024
#define RUN_TICKS_MAX 400

enum { HONEST, HOSTILE, CLIENTS };

typedef struct game {
    foliot_hub *hub;
    foliot_transport *host, *wires[CLIENTS];
    foliot_server *server;
    foliot_client *clients[CLIENTS];
    uint64_t now_ns, ticks;
    foliot_digest history[HISTORY];
} game;

static foliot_body_definition bodies[2];
static foliot_force_definition spring;
static foliot_scene scene;
static foliot_digest fingerprint;

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count;
    (void)arguments;
    fingerprint = foliot_get_fingerprint(); // once: it takes milliseconds
    bodies[0] = bodies[1] = foliot_body_definition_default();
    bodies[1].position[0] = 1.3;
    spring = foliot_force_definition_default(FOLIOT_FORCE_SPRING);
    spring.a = 0;
    spring.b = 1;
    spring.as.spring.stiffness = 7.1;
    scene = foliot_scene_default();
    scene.name = "fuzz";
    scene.dt = 0.02;
    scene.integrator = FOLIOT_INTEGRATOR_VELOCITY_VERLET;
    scene.bodies = bodies;
    scene.body_count = 2;
    scene.forces = &spring;
    scene.force_count = 1;
    scene.players.limit = 3;
    scene.players.force = 1.7;
    return 0;
}

static void add_client(game *g, int i)
{
    foliot_transport_config wire = foliot_transport_config_default();
    demand(foliot_transport_create_memory(g->hub, &wire, g->now_ns, &g->wires[i]));
    foliot_client_config config = foliot_client_config_default();
    config.transport = g->wires[i];
    config.port = PORT;
    config.fingerprint = fingerprint;
    config.reconnects = false;
    config.predicts = true;
    demand(foliot_client_create(&config, g->now_ns, &g->clients[i]));
}

static void begin(game *g)
{
    foliot_transport_config wire = foliot_transport_config_default();
    foliot_server_config config = foliot_server_config_default();
    foliot_session_config session = {
        .name = "main", .scene = &scene, .pace_hz = 50, .mode = FOLIOT_SESSION_LOCKSTEP};
    *g = (game){.now_ns = 1000000000};
    wire.bind = "127.0.0.1";
    wire.port = PORT;
    wire.peers_max = 4;
    demand(foliot_hub_create(&g->hub));
    demand(foliot_transport_create_memory(g->hub, &wire, g->now_ns, &g->host));
    config.transport = g->host;
    config.fingerprint = fingerprint;
    demand(foliot_server_create(&config, g->now_ns, &g->server));
    demand(foliot_world_create(&scene, &session.world, NULL));
    demand(foliot_server_add_session(g->server, &session, g->now_ns));
    for (int i = 0; i < CLIENTS; i++)
        add_client(g, i);
}

static void end(game *g)
{
    for (int i = 0; i < CLIENTS; i++) {
        foliot_client_destroy(g->clients[i]);
        foliot_transport_destroy(g->wires[i]);
    }
    foliot_server_destroy(g->server);
    foliot_transport_destroy(g->host);
    foliot_hub_destroy(g->hub);
}

static void pass(game *g, uint32_t ticks)
{
    foliot_server_event event;
    foliot_divergence_report found;
    foliot_client_event told;
    foliot_sample sample;
    for (; ticks > 0 && g->ticks < RUN_TICKS_MAX; ticks--) {
        g->now_ns += TICK_NS;
        g->ticks++;
        foliot_server_update(g->server, g->now_ns);
        const foliot_world *world = foliot_server_get_world(g->server, "main");
        FOLIOT_ASSERT(foliot_world_get_tick(world) == g->ticks);
        g->history[g->ticks % HISTORY] = foliot_world_get_digest(world);
        while (foliot_server_poll(g->server, &event) ||
               foliot_server_poll_divergence(g->server, &found)) {
        }
        const int8_t axes[FOLIOT_AXIS_COUNT] = {(int8_t)(g->ticks / 7 % 3 * 60)};
        for (int i = 0; i < CLIENTS; i++) {
            foliot_client_set_input(g->clients[i], axes, 0);
            foliot_client_update(g->clients[i], g->now_ns);
            allow_failure(foliot_client_sample(g->clients[i], g->now_ns, &sample));
            while (foliot_client_poll(g->clients[i], &told)) {
            }
        }
    }
}

static void say(game *g, uint8_t what, const uint8_t *bytes, size_t length)
{
    foliot_delivery delivery = what & 1 ? FOLIOT_DELIVERY_RELIABLE : FOLIOT_DELIVERY_UNRELIABLE;
    foliot_transport *from = what & 2 ? g->host : g->wires[HOSTILE];
    allow_failure(foliot_transport_send(from, foliot__peer_id(what & 2 ? HOSTILE : 0, 1), delivery,
                                        bytes,
                                        length)); // or it is gone
    foliot_transport_flush(from, g->now_ns);
}

static void check_honest(game *g)
{
    pass(g, 20);
    FOLIOT_ASSERT(foliot_client_get_state(g->clients[HONEST]) == FOLIOT_CLIENT_PLAYING);
    const foliot_simulation *own = foliot_client_get_simulation(g->clients[HONEST]);
    FOLIOT_ASSERT(own);
    uint64_t tick = foliot_simulation_get_tick(own);
    FOLIOT_ASSERT(tick + 4 > g->ticks);
    FOLIOT_ASSERT(
        foliot_digest_equal(foliot_simulation_get_digest(own), g->history[tick % HISTORY]));
    FOLIOT_ASSERT(foliot_client_get_statistics(g->clients[HONEST]).divergences == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static game g;
    begin(&g);
    pass(&g, 10);
    while (size >= 2) {
        size_t length = data[1] < size - 2 ? data[1] : size - 2;
        if ((data[0] & 7) == 4)
            pass(&g, data[1] % 16);
        else
            say(&g, data[0], data + 2, length);
        if ((data[0] & 7) == 4)
            length = 0;
        data += 2 + length;
        size -= 2 + length;
    }
    if (g.ticks < RUN_TICKS_MAX - 20)
        check_honest(&g);
    end(&g);
    return 0;
}
