// SPDX-License-Identifier: MIT
// siege.h: a lockstep server of the bulky simulation with hostile peers (hostile.h) and honest
// clients, on a clock of the test's own, so that minutes pass in a second.
#ifndef FOLIOT_TESTS_SIEGE_H
#define FOLIOT_TESTS_SIEGE_H

#include "foliot/client.h"
#include "foliot/server.h"
#include "hostile.h"

#define SIEGE_HOSTILE_MAX 32
#define SIEGE_HONEST_MAX 8

typedef struct siege_config {
    bool enet;    // on loopback; else in memory
    bool returns; // a hostile peer that was dropped comes back at once
    uint64_t step_ns;
    double pace_hz;
    uint32_t player_limit;
    uint32_t reconnect_ms;   // 0: the server's default
    double joins_per_second; // that the transport admits; 0: its default
} siege_config;

typedef struct siege {
    siege_config config;
    foliot_hub *hub;
    foliot_transport *host;
    foliot_server *server;
    foliot_simulation simulation;
    uint64_t now_ns;
    hostile hostile[SIEGE_HOSTILE_MAX];
    unsigned hostile_count;
    foliot_transport *wires[SIEGE_HONEST_MAX];
    foliot_client *clients[SIEGE_HONEST_MAX];
    unsigned client_count;
    uint64_t events[FOLIOT_SERVER_EVENT_KINDS]; // of the server, by kind
} siege;

siege *siege_open(siege_config config);
void siege_close(siege *s);
hostile *siege_add_hostile(siege *s, hostile_kind kind, bool spectates);
// The same peer anew, over the same wire, as another kind perhaps.
void siege_restart_hostile(siege *s, unsigned i, hostile_kind kind);
// Returns its index. `network`: an impairment both ways, over ENet; NULL: none.
unsigned siege_add_client(siege *s, const char *network, bool spectates);
void siege_run(siege *s, double seconds);
const foliot_server_counters *siege_get_counters(const siege *s);

#endif
