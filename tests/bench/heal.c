// SPDX-License-Identifier: MIT
// heal.c: what it takes to step the cubes exactly: to join them in play, at 2 Mbit/s, and to be
// healed after a bit has flipped, at 1 Mbit/s; both with a round trip of 100 ms and 5 % of all
// packets lost each way. The clock is virtual, so that only the network takes time.
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "bench.h"
#include "foliot/client.h"
#include "foliot/foliot.h"
#include "foliot/scene.h"
#include "foliot/server.h"
#include "status.h"
#include "slots.h"

#define JOINS 60
#define HEALS 40
#define PLAYERS 2
#define AT_ONCE 4 // who joins while others do
#define STEP_NS 1000000u
#define LIMIT_MS 10000.0

typedef struct peer {
    foliot_transport *wire;
    foliot_client *client;
    uint64_t began_ns;
} peer;

static foliot_hub *hub;
static foliot_transport *host;
static foliot_server *server;
static foliot_digest fingerprint;
static foliot__rng rng;
static uint64_t now = 1000000000u;
static peer players[PLAYERS];
static uint64_t thinks_ns;

static void open_peer(peer *p, const char *network, uint64_t seed, bool plays)
{
    foliot_transport_config wire = foliot_transport_config_default();
    demand(foliot_impairment_parse(network, &wire.send, NULL));
    wire.receive = wire.send;
    wire.send.seed = 2 * seed + 1000;
    wire.receive.seed = 2 * seed + 1001;
    demand(foliot_transport_create_memory(hub, &wire, now, &p->wire));
    foliot_client_config config = foliot_client_config_default();
    config.transport = p->wire;
    config.port = 7777;
    config.spectates = !plays;
    config.kind = plays ? FOLIOT_PEER_WATCHER : FOLIOT_PEER_STEPPER;
    config.fingerprint = fingerprint;
    p->began_ns = now;
    demand(foliot_client_create(&config, now, &p->client));
}

static void close_peer(peer *p)
{
    foliot_client_destroy(p->client);
    foliot_transport_destroy(p->wire);
    p->client = NULL;
}

static void think(void)
{
    if (now < thinks_ns)
        return;
    thinks_ns = now + 400000000u;
    for (int i = 0; i < PLAYERS; i++) {
        int8_t axes[FOLIOT_AXIS_COUNT];
        for (int k = 0; k < FOLIOT_AXIS_COUNT; k++)
            axes[k] = (int8_t)(127 * ((int)foliot__rng_below(&rng, 3) - 1));
        foliot_client_set_input(players[i].client, axes, 0);
    }
}

static void turn(peer *others, unsigned count)
{
    foliot_server_event event;
    foliot_divergence_report found;
    now += STEP_NS;
    think();
    foliot_server_update(server, now);
    while (foliot_server_poll(server, &event)) {
    }
    (void)foliot_server_poll_divergence(server, &found);
    for (int i = 0; i < PLAYERS; i++)
        foliot_client_update(players[i].client, now);
    for (unsigned i = 0; i < count; i++)
        if (others[i].client)
            foliot_client_update(others[i].client, now);
}

static bool is_exact(const peer *p)
{
    const foliot_simulation *s = foliot_client_get_simulation(p->client);
    return s && foliot_client_get_statistics(p->client).ticks_behind <= 2;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void measure_joins(void)
{
    static double ms[JOINS];
    peer joiners[AT_ONCE] = {{0}};
    unsigned begun = 0, ended = 0;
    uint64_t bytes = foliot_server_get_counters(server)->keyframe_bytes_sent,
             sent = foliot_server_get_counters(server)->keyframes_sent;
    for (uint64_t next = now; ended < JOINS;) {
        for (unsigned i = 0; i < AT_ONCE && begun < JOINS && now >= next; i++)
            if (!joiners[i].client) {
                open_peer(&joiners[i], "delay=50ms,loss=5%,rate=2000kbit", begun++, false);
                next = now + 333000000u;
            }
        turn(joiners, AT_ONCE);
        for (unsigned i = 0; i < AT_ONCE; i++) {
            double waited = (double)(now - joiners[i].began_ns) * 1e-6;
            if (!joiners[i].client || (!is_exact(&joiners[i]) && waited < LIMIT_MS))
                continue;
            ms[ended++] = waited;
            close_peer(&joiners[i]);
        }
    }
    bytes = foliot_server_get_counters(server)->keyframe_bytes_sent - bytes;
    sent = foliot_server_get_counters(server)->keyframes_sent - sent;
    qsort(ms, JOINS, sizeof ms[0], by_size);
    bench_report("heal", "exact join to cubes in play: state", (double)bytes / (double)sent / 1000,
                 "kB", NULL, 0);
    bench_report("heal", "exact join, 2 Mbit/s, loss 5 %: p50", ms[JOINS / 2], "ms", NULL, 0);
    bench_report("heal", "exact join, 2 Mbit/s, loss 5 %: p95", ms[JOINS * 95 / 100], "ms", NULL,
                 0);
}

static void flip_a_bit(const peer *p)
{
    const foliot_hosted_world *hosted = foliot_client_get_simulation(p->client)->self;
    uint64_t bits = slot_field(hosted->world, 0, FOLIOT_FIELD_position_x);
    (void)!slot_set_field(hosted->world, 0, FOLIOT_FIELD_position_x, bits ^ 1u << 20);
}

static void measure_heals(void)
{
    static double watched[HEALS], healed[HEALS];
    for (unsigned i = 0; i < HEALS; i++) {
        peer p;
        open_peer(&p, "delay=50ms,loss=5%,rate=1000kbit", 5000 + i, false);
        for (int ms = 0; ms < 4000 + 37 * (int)i; ms++)
            turn(&p, 1);
        flip_a_bit(&p);
        uint64_t begun = now;
        while (foliot_client_get_kind(p.client) != FOLIOT_PEER_WATCHER &&
               (double)(now - begun) * 1e-6 < LIMIT_MS)
            turn(&p, 1);
        watched[i] = (double)(now - begun) * 1e-6;
        while (foliot_client_get_statistics(p.client).heals == 0 &&
               (double)(now - begun) * 1e-6 < LIMIT_MS)
            turn(&p, 1);
        healed[i] = (double)(now - begun) * 1e-6;
        close_peer(&p);
    }
    qsort(watched, HEALS, sizeof watched[0], by_size);
    qsort(healed, HEALS, sizeof healed[0], by_size);
    bench_report("heal", "a bit flips, 1 Mbit/s, loss 5 %: watches, p95", watched[HEALS * 95 / 100],
                 "ms", NULL, 0);
    bench_report("heal", "a bit flips, 1 Mbit/s, loss 5 %: steps again, p50", healed[HEALS / 2],
                 "ms", NULL, 0);
    bench_report("heal", "a bit flips, 1 Mbit/s, loss 5 %: steps again, p95",
                 healed[HEALS * 95 / 100], "ms", NULL, 0);
}

int main(void)
{
    foliot_scene *scene;
    foliot_error error;
    if (foliot_scene_read("scenes/cubes.yaml", &scene, &error) != FOLIOT_STATUS_OK) {
        fprintf(stderr, "heal: %s\n", error.text);
        return 1;
    }
    rng = foliot__rng_seeded(1);
    foliot_transport_config wire = foliot_transport_config_default();
    wire.bind = "127.0.0.1";
    wire.port = 7777;
    wire.peers_max = 64;
    demand(foliot_hub_create(&hub));
    demand(foliot_transport_create_memory(hub, &wire, now, &host));
    foliot_server_config config = foliot_server_config_default();
    config.transport = host;
    config.fingerprint = fingerprint = foliot_get_fingerprint();
    demand(foliot_server_create(&config, now, &server));
    foliot_session_config session = foliot_session_config_default();
    session.scene = scene;
    demand(foliot_world_create(scene, &session.world, NULL));
    demand(foliot_server_add_session(server, &session, now));
    for (int i = 0; i < PLAYERS; i++)
        open_peer(&players[i], "delay=20ms", 90 + (uint64_t)i, true);
    for (int ms = 0; ms < 10000; ms++)
        turn(NULL, 0);
    measure_joins();
    measure_heals();
    for (int i = 0; i < PLAYERS; i++)
        close_peer(&players[i]);
    foliot_server_destroy(server);
    foliot_transport_destroy(host);
    foliot_hub_destroy(hub);
    foliot_scene_destroy(scene);
    return 0;
}
