// SPDX-License-Identifier: MIT
// native_positions.c PORT SLOT: a spectator by UDP on the loopback that prints where it shows a
// body, "TICK X Y Z" a line, many times a frame, for a page's picture to be compared with; until
// SIGTERM or a minute is over.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "foliot/client.h"

#define MINUTE_NS 60000000000u

static volatile sig_atomic_t ended;

static void on_end(int number)
{
    (void)number;
    ended = 1;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
    static const struct timespec moment = {.tv_nsec = 2000000};
    foliot_transport_config wire = foliot_transport_config_default();
    foliot_client_config config = foliot_client_config_default();
    foliot_transport *transport;
    foliot_client *client;
    uint64_t began_ns = now_ns();
    if (argc != 3 || foliot_transport_create_enet(&wire, began_ns, &transport) != FOLIOT_STATUS_OK)
        return 2;
    uint32_t slot = (uint32_t)atoi(argv[2]);
    config.transport = transport;
    config.port = (uint16_t)atoi(argv[1]);
    config.spectates = true;
    config.kind = FOLIOT_PEER_WATCHER;
    if (foliot_client_create(&config, began_ns, &client) != FOLIOT_STATUS_OK)
        return 2;
    signal(SIGTERM, on_end);
    setvbuf(stdout, NULL, _IOLBF, 0);
    while (!ended && now_ns() - began_ns < MINUTE_NS) {
        foliot_sample sample;
        foliot_client_update(client, now_ns());
        if (foliot_client_sample(client, now_ns(), &sample) == FOLIOT_STATUS_OK &&
            slot < sample.count)
            printf("%.6f %.9f %.9f %.9f\n", sample.render_tick, sample.bodies[slot].position[0],
                   sample.bodies[slot].position[1], sample.bodies[slot].position[2]);
        nanosleep(&moment, NULL);
    }
    foliot_client_destroy(client);
    foliot_transport_destroy(transport);
    return 0;
}
