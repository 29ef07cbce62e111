// SPDX-License-Identifier: MIT
// join.c: from connect to the first complete state, over ENet on loopback with a round trip of 100
// ms and 5 % of all datagrams lost each way; and what a session and a client cost in memory.
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "clock.h"
#include "foliot/client.h"
#include "foliot/scene.h"
#include "foliot/server.h"
#include "status.h"

#define JOINS 400
#define EVERY_NS 20000000u
#define PATIENCE_MS 4000.0

static void row(const char *name, double value, const char *unit)
{
    printf("{\"bench\":\"join\",\"case\":\"%s\",\"value\":%.6g,\"unit\":\"%s\",\"opponent\":null,"
           "\"opponent_value\":null,"
           "\"ratio\":null}\n",
           name, value, unit);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static int fail(const char *what)
{
    fprintf(stderr, "join: %s\n", what);
    return 1;
}

static foliot_transport *wire(const foliot_transport_config *config)
{
    foliot_transport *t = NULL;
    return foliot_transport_create_enet(config, clock_now_ns(), &t) == FOLIOT_STATUS_OK ? t : NULL;
}

typedef struct joiner {
    foliot_transport *wire;
    foliot_client *client;
    uint64_t began_ns;
} joiner;

static foliot_digest fingerprint; // of this build: as a program with many clients does, found once

static void begin(joiner *j, uint16_t port, int index)
{
    foliot_transport_config config = foliot_transport_config_default();
    demand(foliot_impairment_parse("delay=50ms,loss=5%", &config.send, NULL));
    config.receive = config.send;
    config.send.seed = (uint64_t)(2 * index);
    config.receive.seed = config.send.seed + 1;
    j->wire = wire(&config);
    foliot_client_config client = foliot_client_config_default();
    client.transport = j->wire;
    client.port = port;
    client.spectates = true;
    client.fingerprint = fingerprint;
    j->began_ns = clock_now_ns();
    demand(foliot_client_create(&client, j->began_ns, &j->client));
}

static void end(joiner *j)
{
    foliot_client_destroy(j->client);
    foliot_transport_destroy(j->wire);
    j->client = NULL;
}

// True when it has ended: with a complete state, or in vain.
static bool advance(joiner *j, double *join_ms, int *joined)
{
    foliot_client_update(j->client, clock_now_ns());
    foliot_client_statistics s = foliot_client_get_statistics(j->client);
    bool in = s.snapshots_received > 0;
    if (!in && clock_now_ns() - j->began_ns < (uint64_t)(PATIENCE_MS * 1e6))
        return false;
    *join_ms = in ? s.join_ms : PATIENCE_MS;
    *joined += in;
    return true;
}

// One after the other, and many at a time. Returns how many have joined.
static int join_all(foliot_server *server, uint16_t port, double *join_ms)
{
    static joiner joiners[JOINS];
    int begun = 0, ended = 0, joined = 0;
    for (uint64_t next = clock_now_ns(); ended < JOINS;) {
        foliot_server_update(server, clock_now_ns());
        if (begun < JOINS && clock_now_ns() >= next) {
            begin(&joiners[begun], port, begun);
            begun++;
            next += EVERY_NS;
        }
        for (int i = 0; i < begun; i++)
            if (joiners[i].client && advance(&joiners[i], &join_ms[i], &joined)) {
                end(&joiners[i]);
                ended++;
            }
        struct timespec pause = {.tv_nsec = 500000};
        nanosleep(&pause, NULL);
    }
    return joined;
}

int main(void)
{
    foliot_scene *scene;
    foliot_error error;
    if (foliot_scene_read("scenes/marbles.yaml", &scene, &error) != FOLIOT_STATUS_OK)
        return fail(error.text);
    foliot_transport_config config = foliot_transport_config_default();
    config.bind = "127.0.0.1";
    config.peers_max = JOINS + 20; // peers whose goodbye was lost hold theirs for a while
    config.peers_per_address_max =
        2 * config.peers_max;        // all are of one address, leave before ENet has connected,
    config.joins_per_second = JOINS; // and come fast
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    foliot_transport *host = wire(&config);
    foliot_server_config server_config = foliot_server_config_default();
    foliot_server *server;
    server_config.transport = host;
    if (!host || foliot_server_create(&server_config, clock_now_ns(), &server) != FOLIOT_STATUS_OK)
        return fail("no server");
    foliot_session_config session = {.name = "main", .scene = scene, .pace_hz = 60};
    if (foliot_world_create(scene, &session.world, NULL) != FOLIOT_STATUS_OK ||
        foliot_server_add_session(server, &session, clock_now_ns()) != FOLIOT_STATUS_OK)
        return fail("no session");
    row("memory of a session, 437 bodies",
        (double)(mallinfo2().uordblks + mallinfo2().hblkhd - before) / 1024, "KiB");
    static double join_ms[JOINS];
    fingerprint = foliot_get_fingerprint();
    int joined = join_all(server, foliot_transport_get_port(host), join_ms);
    qsort(join_ms, JOINS, sizeof join_ms[0], by_size);
    row("round trip 100 ms, loss 5 %: p50", join_ms[JOINS / 2], "ms");
    row("round trip 100 ms, loss 5 %: p95", join_ms[JOINS * 95 / 100], "ms");
    row("round trip 100 ms, loss 5 %: slowest", join_ms[JOINS - 1], "ms");
    row("round trip 100 ms, loss 5 %: joined", 100.0 * joined / JOINS, "%");
    foliot_server_destroy(server);
    foliot_transport_destroy(host);
    foliot_scene_destroy(scene);
    return 0;
}
