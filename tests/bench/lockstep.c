// SPDX-License-Identifier: MIT
// lockstep.c: what lockstep costs on the wire at 60 Hz. Bots that change their controls 1.6 times a second, as
// foliot-client's do, on a virtual clock: the same figures on every machine. Payload is what we send; the other
// figure adds ENet's 12 bytes a packet and 28 of UDP and IPv4, though packets that go out together share them.
#include <stdio.h>

#include "arena.h"
#include "bench.h"

#define SECONDS 60
#define OVERHEAD_BYTES (12 + 28)

typedef struct traffic {
    double bytes, packets;
} traffic;

static traffic both_ways(const arena *a)
{
    const foliot_transport_counters *c = foliot_transport_counted(a->host);
    return (traffic){(double)(c->bytes_sent + c->bytes_received), (double)(c->packets_sent + c->packets_received)};
}

static void report(uint32_t players, const char *what, double value, const char *unit)
{
    char name[64];
    snprintf(name, sizeof name, "%u players, %s", players, what);
    bench_report("lockstep", name, value, unit, NULL, 0);
}

static void measure(uint32_t players)
{
    arena_options options = {.players = players, .input_delay = 3};
    arena *a = arena_create(&options);
    for (uint32_t i = 0; i < players; i++)
        arena_bot(a, "delay=10ms,loss=1%,seed=3");
    arena_run(a, 5);
    traffic before = both_ways(a);
    arena_run(a, SECONDS);
    traffic after = both_ways(a);
    double bytes = (after.bytes - before.bytes) / players / SECONDS;
    double packets = (after.packets - before.packets) / players / SECONDS;
    report(players, "payload", bytes, "B/player/s");
    report(players, "on the wire", bytes + packets * OVERHEAD_BYTES, "B/player/s");
    report(players, "closed ticks", arena_seen(a, 0).relay_bytes_mean, "B/packet");
    report(players, "inputs", arena_seen(a, 0).input_bytes_mean, "B/packet");
    arena_destroy(a);
}

// Two seconds each way, a quarter lost, ten minutes.
static void measure_far(void)
{
    arena *a = arena_create(NULL);
    double mean = 0, most = 0;
    a->step_ns = 4000000;
    for (uint32_t i = 0; i < 4; i++)
        arena_bot(a, "delay=2000ms,loss=25%,seed=11");
    arena_run(a, 600);
    for (uint32_t i = 0; i < 4; i++) {
        foliot_client_statistics seen = arena_seen(a, i);
        mean += seen.relay_bytes_mean / 4;
        most = seen.relay_bytes_max > most ? seen.relay_bytes_max : most;
        most = seen.input_bytes_max > most ? seen.input_bytes_max : most;
    }
    bench_report("lockstep", "2 s each way, 25 % lost, mean", mean, "B/packet", NULL, 0);
    bench_report("lockstep", "2 s each way, 25 % lost, most", most, "B/packet", NULL, 0);
    bench_report("lockstep", "2 s each way, divergences", (double)foliot_server_counted(a->server)->divergences, "", NULL, 0);
    arena_destroy(a);
}

int main(void)
{
    static const uint32_t players[] = {2, 8, 16};
    for (int i = 0; i < 3; i++)
        measure(players[i]);
    measure_far();
    return 0;
}
