// SPDX-License-Identifier: MIT
// netcode.c: what a client shows under each of ten networks, against the server's exact states at
// the rendered times. The whole runs on a virtual clock: the figures are the same on every machine
// (docs/explanation/netcode.md).
#include <stdio.h>

#include "cluster.h"

#define SECONDS 120.0
#define SEEDS 10
#define MANY_SEEDS "loss 5 %, jitter 0-100 ms, ten seeds"

static const struct {
    const char *name, *impairment;
    const char *later; // after half of the time; NULL: the same
} networks[] = {
    {"lan", "delay=0.2ms", NULL},
    {"loss 2 %", "loss=2%,delay=20ms,seed=2", NULL},
    {"loss 5 %", "loss=5%,delay=20ms,seed=3", NULL},
    {"loss 5 %, jitter 0-100 ms", "loss=5%,jitter=0-100ms,seed=4", NULL},
    {"bursts of 3, loss 5 %", "loss=5%,burst=3,delay=20ms,seed=5", NULL},
    {"correlated queueing 0-80 ms",
     "loss=1%,delay=10ms,jitter=0-80ms,jitter-kind=correlated,seed=6", NULL},
    {"delay steps from 10 to 60 ms", "loss=1%,delay=10ms,seed=7", "loss=1%,delay=60ms,seed=7"},
    {"reordering 20 %", "reorder=20%,delay=20ms,seed=8", NULL},
    {"duplicates 20 %", "duplicate=20%,delay=20ms,jitter=0-10ms,seed=9", NULL},
    {"1 Mbit/s, deep buffer", "rate=1mbit,queue=256k,delay=20ms,loss=1%,seed=10", NULL},
};

static void row(const char *network, const char *measure, double value, const char *unit)
{
    printf("{\"bench\":\"netcode\",\"case\":\"%s: "
           "%s\",\"value\":%.6g,\"unit\":\"%s\",\"opponent\":null,"
           "\"opponent_value\":null,\"ratio\":null}\n",
           network, measure, value, unit);
}

// One network, as chance deals it: seed by seed.
static void many_seeds(void)
{
    double delay = 0, starved = 0, delay_worst = 0, starved_worst = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
        char impairment[64];
        snprintf(impairment, sizeof impairment, "loss=5%%,jitter=0-100ms,seed=%d", 100 + seed);
        cluster *s = cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS});
        cluster_spectator(s, impairment);
        cluster_run(s, SECONDS);
        foliot_client_statistics seen = foliot_client_get_statistics(s->clients[0]);
        double share = 100.0 * (double)seen.samples_starved / (double)seen.samples;
        delay += seen.delay_mean_ms / SEEDS;
        starved += share / SEEDS;
        delay_worst = seen.delay_mean_ms > delay_worst ? seen.delay_mean_ms : delay_worst;
        starved_worst = share > starved_worst ? share : starved_worst;
        cluster_destroy(s);
    }
    row(MANY_SEEDS, "delay", delay, "ms");
    row(MANY_SEEDS, "starved", starved, "%");
    row(MANY_SEEDS, "delay, worst seed", delay_worst, "ms");
    row(MANY_SEEDS, "starved, worst seed", starved_worst, "%");
}

int main(void)
{
    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++) {
        cluster *s = cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS});
        cluster_spectator(s, networks[i].impairment);
        cluster_run(s, SECONDS / 2);
        if (networks[i].later)
            cluster_impair(s, 0, networks[i].later);
        cluster_run(s, SECONDS / 2);
        foliot_client_statistics seen = foliot_client_get_statistics(s->clients[0]);
        row(networks[i].name, "error rms", 1e3 * cluster_error_rms(s), "mm");
        row(networks[i].name, "error p99", 1e3 * cluster_error_quantile(s, 0.99), "mm");
        row(networks[i].name, "orientation error rms", cluster_turn_rms(s), "degrees");
        row(networks[i].name, "orientation error p99", cluster_turn_quantile(s, 0.99), "degrees");
        row(networks[i].name, "largest jump", 1e3 * s->errors->jump_max, "mm");
        row(networks[i].name, "starved",
            100.0 * (double)seen.samples_starved / (double)seen.samples, "%");
        row(networks[i].name, "delay", seen.delay_mean_ms, "ms");
        row(networks[i].name, "snapshots used",
            100.0 * (double)seen.snapshots_used / (double)seen.snapshots_expected, "%");
        cluster_destroy(s);
    }
    many_seeds();
    return 0;
}
