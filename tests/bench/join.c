// SPDX-License-Identifier: MIT
// join.c: from connect to the first complete state, over ENet on loopback with a round trip of 100 ms and 5 % of all
// datagrams lost each way; and what a session and a client cost in memory.
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "foliot/client.h"
#include "foliot/scene_reader.h"
#include "foliot/server.h"

#define AT_ONCE 20
#define ROUNDS 15

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void row(const char *name, double value, const char *unit)
{
    printf("{\"bench\":\"join\",\"case\":\"%s\",\"value\":%.6g,\"unit\":\"%s\",\"opponent\":null,\"opponent_value\":null,"
           "\"ratio\":null}\n", name, value, unit);
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
    return foliot_transport_enet(config, now_ns(), &t) == FOLIOT_OK ? t : NULL;
}

// Joins of one round, until all have a complete state or four seconds have passed.
static int join_round(foliot_server *server, uint16_t port, int round, double *join_ms)
{
    foliot_transport *wires[AT_ONCE];
    foliot_client *clients[AT_ONCE];
    int joined = 0;
    for (int i = 0; i < AT_ONCE; i++) {
        foliot_transport_config config = foliot_transport_config_default();
        foliot_impairment_parse("delay=50ms,loss=5%", &config.send, NULL, 0);
        config.receive = config.send;
        config.send.seed = (uint64_t)(1000 * round + 2 * i);
        config.receive.seed = config.send.seed + 1;
        wires[i] = wire(&config);
        foliot_client_config client = foliot_client_config_default();
        client.transport = wires[i];
        client.port = port;
        client.spectates = true;
        foliot_client_create(&client, now_ns(), &clients[i]);
    }
    for (uint64_t end = now_ns() + 4000000000u; now_ns() < end && joined < AT_ONCE;) {
        foliot_server_update(server, now_ns());
        joined = 0;
        for (int i = 0; i < AT_ONCE; i++) {
            foliot_client_update(clients[i], now_ns());
            joined += foliot_client_statistics_now(clients[i]).snapshots_received > 0;
        }
        struct timespec pause = {.tv_nsec = 500000};
        nanosleep(&pause, NULL);
    }
    for (int i = 0; i < AT_ONCE; i++) {
        foliot_client_statistics s = foliot_client_statistics_now(clients[i]);
        join_ms[i] = s.snapshots_received ? s.join_ms : 4000;
        foliot_client_destroy(clients[i]);
        foliot_transport_destroy(wires[i]);
    }
    return joined;
}

int main(void)
{
    foliot_scene *scene;
    foliot_scene_error error;
    if (foliot_scene_read("scenes/marbles.yaml", &scene, &error) != FOLIOT_OK)
        return fail(error.message);
    foliot_transport_config config = foliot_transport_config_default();
    config.bind = "127.0.0.1";
    config.peers_max = AT_ONCE * (ROUNDS + 1); // those who left, and were not heard to, hold theirs for a while
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    foliot_transport *host = wire(&config);
    foliot_server_config server_config = foliot_server_config_default();
    foliot_server *server;
    server_config.transport = host;
    if (!host || foliot_server_create(&server_config, now_ns(), &server) != FOLIOT_OK)
        return fail("no server");
    foliot_session_config session = {.name = "main", .scene = scene, .pace_hz = 60};
    if (foliot_world_create(scene, &session.world) != FOLIOT_OK ||
        foliot_server_add_session(server, &session, now_ns()) != FOLIOT_OK)
        return fail("no session");
    row("memory of a session, 437 bodies", (double)(mallinfo2().uordblks + mallinfo2().hblkhd - before) / 1024, "KiB");
    static double join_ms[AT_ONCE * ROUNDS];
    int joined = 0;
    for (int round = 0; round < ROUNDS; round++)
        joined += join_round(server, foliot_transport_port(host), round, join_ms + AT_ONCE * round);
    qsort(join_ms, AT_ONCE * ROUNDS, sizeof join_ms[0], by_size);
    row("round trip 100 ms, loss 5 %: p50", join_ms[AT_ONCE * ROUNDS / 2], "ms");
    row("round trip 100 ms, loss 5 %: p95", join_ms[AT_ONCE * ROUNDS * 95 / 100], "ms");
    row("round trip 100 ms, loss 5 %: slowest", join_ms[AT_ONCE * ROUNDS - 1], "ms");
    row("round trip 100 ms, loss 5 %: joined", 100.0 * joined / (AT_ONCE * ROUNDS), "%");
    foliot_server_destroy(server);
    foliot_transport_destroy(host);
    foliot_scene_destroy(scene);
    return 0;
}
