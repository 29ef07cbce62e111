// SPDX-License-Identifier: MIT
// lockstep.c: what lockstep costs on the wire at 60 Hz. Bots that change their controls 1.6 times a
// second, as foliot-client's do, on a virtual clock: the same figures on every machine. Payload is
// what we send; the other figure adds ENet's 12 bytes a packet and 28 of UDP and IPv4, though
// packets that go out together share them.
#include <stdio.h>

#include "cluster.h"
#include "bench.h"
#include "status.h"

#define SECONDS 60
#define OVERHEAD_BYTES (12 + 28)

typedef struct traffic {
    double bytes, packets, down;
} traffic;

static traffic both_ways(const cluster *a)
{
    const foliot_transport_counters *c = foliot_transport_get_counters(a->host);
    return (traffic){(double)(c->bytes_sent + c->bytes_received),
                     (double)(c->packets_sent + c->packets_received), (double)c->bytes_sent};
}

static void report(uint32_t players, const char *what, double value, const char *unit)
{
    char name[64];
    snprintf(name, sizeof name, "%u players, %s", players, what);
    bench_report("lockstep", name, value, unit, NULL, 0);
}

static void measure(uint32_t players)
{
    cluster_options options = {.players = players, .input_delay = 3};
    cluster *a = cluster_create(&options);
    for (uint32_t i = 0; i < players; i++)
        cluster_player(a, "delay=10ms,loss=1%,seed=3");
    cluster_run(a, 5);
    traffic before = both_ways(a);
    cluster_run(a, SECONDS);
    traffic after = both_ways(a);
    double bytes = (after.bytes - before.bytes) / players / SECONDS;
    double packets = (after.packets - before.packets) / players / SECONDS;
    report(players, "payload down, status too", (after.down - before.down) / players / SECONDS,
           "B/player/s");
    report(players, "closed ticks, down", 60 * cluster_get_statistics(a, 0).relay_bytes_mean,
           "B/player/s");
    report(players, "payload", bytes, "B/player/s");
    report(players, "on the wire", bytes + packets * OVERHEAD_BYTES, "B/player/s");
    report(players, "closed ticks", cluster_get_statistics(a, 0).relay_bytes_mean, "B/packet");
    report(players, "inputs", cluster_get_statistics(a, 0).input_bytes_mean, "B/packet");
    cluster_destroy(a);
}

// Samples, sixty times a second. Stalled: there was no newer state to show, and it was
// guessed.
static void watch(cluster *a, double seconds)
{
    foliot_sample sample;
    for (int frame = 0; frame < seconds * 60; frame++) {
        cluster_run(a, 1.0 / 60);
        for (unsigned i = 0; i < a->client_count; i++)
            allow_failure(foliot_client_sample(a->clients[i], a->now_ns, &sample));
    }
}

static void report_of(const char *network, const char *what, double value, const char *unit)
{
    char name[96];
    snprintf(name, sizeof name, "%s, %s", network, what);
    bench_report("lockstep", name, value, unit, NULL, 0);
}

// Four players behind the same bad network, both ways.
static void measure_network(const char *network, const char *impairment, double seconds)
{
    cluster *a = cluster_create(NULL);
    double mean = 0, most = 0, starved = 0, samples = 0, delay = 0;
    a->step_ns = 4000000;
    for (unsigned i = 0; i < 4; i++)
        cluster_player(a, impairment);
    watch(a, seconds);
    for (unsigned i = 0; i < 4; i++) {
        foliot_client_statistics seen = cluster_get_statistics(a, i);
        mean += seen.relay_bytes_mean / 4;
        delay += seen.delay_mean_ms / 4;
        most = seen.relay_bytes_max > most ? seen.relay_bytes_max : most;
        most = seen.input_bytes_max > most ? seen.input_bytes_max : most;
        starved += (double)seen.samples_starved;
        samples += (double)seen.samples;
    }
    const foliot_server_counters *counted = foliot_server_get_counters(a->server);
    report_of(network, "closed ticks, mean", mean, "B/packet");
    report_of(network, "any packet, most", most, "B/packet");
    report_of(network, "stalled frames", 100 * starved / samples, "%");
    report_of(network, "shown behind the newest", delay, "ms");
    report_of(network, "inputs late", 100 * (double)counted->inputs_late / (double)counted->inputs,
              "%");
    report_of(network, "divergences", (double)counted->divergences, "");
    cluster_destroy(a);
}

int main(void)
{
    static const uint32_t players[] = {2, 8, 16};
    for (int i = 0; i < 3; i++)
        measure(players[i]);
    measure_network("1 ms each way", "delay=1ms,seed=11", 120);
    measure_network("30-70 ms each way, 5 % lost", "delay=30ms,loss=5%,jitter=0-40ms,seed=11", 120);
    measure_network("200 ms each way, 10 % lost", "delay=200ms,loss=10%,seed=11", 120);
    measure_network("2 s each way, 25 % lost", "delay=2000ms,loss=25%,seed=11", 600);
    return 0;
}
