// SPDX-License-Identifier: MIT
// siege.c: see siege.h.
#include "check.h"
#include "siege.h"

#include <stdlib.h>

#include "bulky.h"

#define PORT 7777 // in memory

static foliot_transport *open_wire(siege *s, const char *network)
{
    foliot_transport *t;
    foliot_transport_config config = foliot_transport_config_default();
    if (network)
        assert_int_equal(foliot_impairment_parse(network, &config.send, NULL, 0), FOLIOT_STATUS_OK);
    config.receive = config.send;
    foliot_status status = s->config.enet
                               ? foliot_transport_create_enet(&config, s->now_ns, &t)
                               : foliot_transport_create_memory(s->hub, &config, s->now_ns, &t);
    assert_int_equal(status, FOLIOT_STATUS_OK);
    return t;
}

static void open_host(siege *s)
{
    foliot_transport_config config = foliot_transport_config_default();
    config.bind = "127.0.0.1";
    config.peers_max = SIEGE_HOSTILE_MAX + SIEGE_HONEST_MAX + 8;
    if (s->config.joins_per_second > 0)
        config.joins_per_second = s->config.joins_per_second;
    config.port = s->config.enet ? 0 : PORT;
    assert_int_equal(foliot_hub_create(&s->hub), FOLIOT_STATUS_OK);
    foliot_status status =
        s->config.enet ? foliot_transport_create_enet(&config, s->now_ns, &s->host)
                       : foliot_transport_create_memory(s->hub, &config, s->now_ns, &s->host);
    assert_int_equal(status, FOLIOT_STATUS_OK);
}

siege *siege_open(siege_config config)
{
    siege *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->config = config;
    s->now_ns = 1000000000u;
    open_host(s);
    foliot_server_config server = foliot_server_config_default();
    server.transport = s->host;
    if (config.reconnect_ms)
        server.reconnect_ms = config.reconnect_ms;
    assert_int_equal(foliot_server_create(&server, s->now_ns, &s->server), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_simulation_create(bulky_kind(), "", 0, &s->simulation),
                     FOLIOT_STATUS_OK);
    foliot_session_config session = {.name = "main",
                                     .pace_hz = config.pace_hz,
                                     .mode = FOLIOT_SESSION_LOCKSTEP,
                                     .simulation = &s->simulation,
                                     .player_limit = config.player_limit};
    assert_int_equal(foliot_server_add_session(s->server, &session, s->now_ns), FOLIOT_STATUS_OK);
    return s;
}

void siege_close(siege *s)
{
    for (unsigned i = 0; i < s->hostile_count; i++)
        hostile_end(&s->hostile[i]);
    for (unsigned i = 0; i < s->client_count; i++) {
        foliot_client_destroy(s->clients[i]);
        foliot_transport_destroy(s->wires[i]);
    }
    foliot_server_destroy(s->server);
    foliot_simulation_destroy(&s->simulation);
    foliot_transport_destroy(s->host);
    foliot_hub_destroy(s->hub);
    free(s);
}

static void start_hostile(siege *s, hostile *h, hostile_kind kind, bool spectates,
                          foliot_transport *wire)
{
    hostile_begin(h, kind, spectates, wire, foliot_transport_get_port(s->host), s->now_ns);
    h->stepped = bulky_kind();
}

hostile *siege_add_hostile(siege *s, hostile_kind kind, bool spectates)
{
    check_lt(s->hostile_count, SIEGE_HOSTILE_MAX);
    hostile *h = &s->hostile[s->hostile_count++];
    start_hostile(s, h, kind, spectates, open_wire(s, NULL));
    return h;
}

void siege_restart_hostile(siege *s, unsigned i, hostile_kind kind)
{
    hostile *h = &s->hostile[i];
    start_hostile(s, h, kind, h->spectates, h->wire);
}

unsigned siege_add_client(siege *s, const char *network, bool spectates)
{
    unsigned i = s->client_count++;
    check_lt(i, SIEGE_HONEST_MAX);
    s->wires[i] = open_wire(s, network);
    foliot_client_config config = foliot_client_config_default();
    config.transport = s->wires[i];
    config.port = foliot_transport_get_port(s->host);
    config.simulation = bulky_kind();
    config.spectates = spectates;
    assert_int_equal(foliot_client_create(&config, s->now_ns, &s->clients[i]), FOLIOT_STATUS_OK);
    return i;
}

void siege_run(siege *s, double seconds)
{
    foliot_server_event event;
    for (uint64_t stop = s->now_ns + (uint64_t)(seconds * 1e9); s->now_ns < stop;
         s->now_ns += s->config.step_ns) {
        foliot_server_update(s->server, s->now_ns);
        while (foliot_server_poll(s->server, &event))
            s->events[event.kind]++;
        for (unsigned i = 0; i < s->hostile_count; i++) {
            hostile_update(&s->hostile[i], s->now_ns);
            if (s->hostile[i].gone && s->config.returns)
                siege_restart_hostile(s, i, s->hostile[i].kind);
        }
        for (unsigned i = 0; i < s->client_count; i++)
            foliot_client_update(s->clients[i], s->now_ns);
    }
}

const foliot_server_counters *siege_get_counters(const siege *s)
{
    return foliot_server_get_counters(s->server);
}
