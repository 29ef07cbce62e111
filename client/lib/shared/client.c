// SPDX-License-Identifier: MIT
// client.c: creates a client, passes received packets to the file that reads them, and updates the
// other parts in order. One update does a bounded amount of work. It keeps no protocol state.
#include "internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The work of one update, so that it returns however much data has arrived: one unit for each
// decoded body, EVENT_WORK for each event, and more for expensive work (internal.h). The rest waits
// for the next update.
#define UPDATE_WORK_MAX (1u << 21)
#define EVENT_WORK 64
#define PAUSE_NS 1500000000u // more than the slowest host leaves between two updates

foliot_client_config foliot_client_config_default(void)
{
    return (foliot_client_config){.address = "127.0.0.1",
                                  .port = FOLIOT_PORT_DEFAULT,
                                  .session = "",
                                  .name = "player",
                                  .connect_timeout_ms = 30000,
                                  .reconnects = true,
                                  .starved_share = 0.001,
                                  .delay_ms_min = 0,
                                  .delay_ms_max = 1500,
                                  .catch_up_ticks = 16,
                                  .rollback_ticks_max = 16,
                                  .rollback_steps = 3};
}

foliot_status foliot__client_create(const foliot_client_config *config,
                                    const foliot__stepper *stepper, uint64_t now_ns,
                                    foliot_client **client)
{
    if (!config->transport || !config->address || !config->session || !config->name ||
        strlen(config->session) >= FOLIOT_NAME_BYTES || strlen(config->name) >= FOLIOT_NAME_BYTES ||
        strlen(config->address) >= sizeof((foliot_client *)0)->host ||
        !(config->starved_share > 0) || !(config->connect_timeout_ms >= 0) ||
        config->catch_up_ticks == 0 || config->kind > FOLIOT_PEER_STEPPER)
        return FOLIOT_STATUS_INVALID;
    foliot_client *c = calloc(1, sizeof *c);
    if (!c)
        return FOLIOT_STATUS_MEMORY;
    c->stepper = stepper;
    c->config = *config;
    strcpy(c->host, config->address);
    strcpy(c->session, config->session);
    strcpy(c->name, config->name);
    c->now_ns = c->began_ns = c->connection.progress_ns = now_ns;
    // A server compares the name and the version of watchers too.
    c->simulation.kind = (foliot_simulation_kind){.name = "foliot.world", .version = 1};
    c->simulation.fingerprint = config->fingerprint;
    c->controls.next_sequence = 1;
    c->outgoing.acknowledged = FOLIOT__NO_TICK;
    c->role.asked = c->role.preferred = (foliot__kind)config->kind;
    if (config->steps_if_cheap && config->kind == FOLIOT_PEER_ANY && !config->spectates)
        c->role.preferred = FOLIOT__KIND_STEPPER;
    c->updates.players = calloc(FOLIOT__PLAYER_NAMES, sizeof *c->updates.players);
    foliot_status status = c->updates.players ? FOLIOT_STATUS_OK : FOLIOT_STATUS_MEMORY;
    if (status == FOLIOT_STATUS_OK && stepper)
        status = stepper->configure(c);
    if (status == FOLIOT_STATUS_OK)
        status = foliot__connection_open(c);
    if (status != FOLIOT_STATUS_OK) {
        foliot_client_destroy(c);
        return status;
    }
    *client = c;
    return FOLIOT_STATUS_OK;
}

void foliot_client_destroy(foliot_client *client)
{
    if (!client)
        return;
    if (client->connection.peer.value)
        foliot_transport_disconnect(client->config.transport, client->connection.peer, 0, true);
    if (foliot__client_welcomed(client)) {
        foliot__buffer_close(&client->buffer);
        foliot__buffer_close(&client->stepped);
    }
    if (client->stepper)
        client->stepper->destroy(client);
    foliot__tracks_destroy(client->tracks);
    foliot_scene_destroy(client->scene);
    free(client->setup.bytes);
    free(client->setup.parts);
    foliot__updates_free(client);
    foliot__events_free(client);
    free(client->orders.ring);
    free(client->updates.players);
    free(client->join.pieces);
    free(client);
}

static void receive_packet(foliot_client *c, const foliot_transport_event *e)
{
    uint8_t kind = e->length > 0 ? e->bytes[0] : 0, message = e->length > 1 ? e->bytes[1] : 0;
    bool partial = kind == FOLIOT__PARTIAL_PACKET;
    if (e->length > 1 && (kind == FOLIOT__SNAPSHOT_PACKET || partial)) {
        foliot__stream_receive_piece(c, e->bytes, e->length);
        return;
    }
    // Copies of data sent at joins and changes of kind, and optional messages, come unreliably.
    bool copy = foliot__message_is_control(e->bytes, e->length) &&
                (c->connection.state == FOLIOT_CLIENT_JOINING ||
                 (foliot__client_welcomed_here(c) && e->length > 1 &&
                  (message == FOLIOT__MESSAGE || message == FOLIOT__KIND)));
    if (e->delivery == FOLIOT_DELIVERY_RELIABLE || copy)
        foliot__client_receive_control(c, e->bytes, e->length);
    else if (foliot__client_welcomed(c) && e->length > 0 && kind == FOLIOT__STATUS_PACKET)
        foliot__stream_receive_status(c, e->bytes, e->length);
    else if (foliot__client_in_lockstep(c) && e->length > 0)
        c->stepper->receive_packet(c, e->bytes, e->length);
}

static void receive_event(foliot_client *c, const foliot_transport_event *e)
{
    if (e->peer.value != c->connection.peer.value)
        return;
    c->connection.received_ns = c->now_ns;
    c->connection.received_bytes += e->kind == FOLIOT_TRANSPORT_RECEIVED ? e->length : 0;
    if (e->kind == FOLIOT_TRANSPORT_RECEIVED && e->delivery == FOLIOT_DELIVERY_UNRELIABLE)
        c->connection.path = e->path;
    c->buffer.received = c->stepped.received = c->connection.received_bytes;
    if (c->tracks)
        c->tracks->received = c->connection.received_bytes;
    if (e->kind == FOLIOT_TRANSPORT_CONNECTED) {
        if (foliot__connection_is_over(c))
            return;
        c->connection.state = FOLIOT_CLIENT_JOINING;
        c->connection.round_trip_ns =
            foliot_transport_get_round_trip_ns(c->config.transport, c->connection.peer);
        foliot__connection_send_hello(c);
    } else if (e->kind == FOLIOT_TRANSPORT_DISCONNECTED) {
        foliot__connection_lost(c, e->reason);
    } else if (!foliot__connection_is_over(c)) { // an ended client stays ended
        uint64_t decoded = c->buffer.decoded + (c->tracks ? c->tracks->decoded : 0);
        receive_packet(c, e);
        bool relay = e->length > 0 && (e->bytes[0] == FOLIOT__RELAY_PACKET ||
                                       e->bytes[0] == FOLIOT__RELAY_COMMANDS_PACKET ||
                                       e->bytes[0] == FOLIOT__EARLY_PACKET);
        c->work += relay ? FOLIOT__TICKS_WORK : 0;
        uint64_t now = c->buffer.decoded + (c->tracks ? c->tracks->decoded : 0);
        c->work += EVENT_WORK + (now > decoded ? now - decoded : 0);
    }
}

void foliot_client_update(foliot_client *client, uint64_t now_ns)
{
    foliot_transport_event event;
    // The process was stopped, or the machine slept: that time counts as no silence or slowness.
    uint64_t passed = now_ns - client->now_ns;
    if (passed > PAUSE_NS) {
        client->connection.progress_ns += passed;
        client->connection.lost_ns +=
            client->connection.reconnect != FOLIOT__RECONNECT_NONE ? passed : 0;
        foliot__kind_paused(client, passed);
    }
    client->now_ns = now_ns;
    client->work = 0;
    while (client->work < UPDATE_WORK_MAX &&
           foliot_transport_poll(client->config.transport, now_ns, &event))
        receive_event(client, &event);
    foliot__connection_update(client);
    foliot__stream_update(client);
    foliot__kind_update(client);
    foliot__updates_show(client);
    foliot_transport_flush(client->config.transport, now_ns);
}

uint64_t foliot_client_get_wake_ns(const foliot_client *client)
{
    uint64_t wake = foliot_transport_get_wake_ns(client->config.transport);
    if (client->work >= UPDATE_WORK_MAX)
        return client->now_ns; // more has come
    uint64_t tick =
        foliot__client_in_lockstep(client) ? client->stepper->wake_ns(client) : UINT64_MAX;
    if (tick == 0)
        return client->now_ns; // it catches up
    uint64_t give_up_ns = client->connection.progress_ns +
                          (uint64_t)(fmin(client->config.connect_timeout_ms, 1e12) * 1e6);
    if (foliot__connection_awaits_play(client) && client->config.connect_timeout_ms > 0 &&
        give_up_ns < wake)
        wake = give_up_ns;
    uint64_t period =
        foliot__client_welcomed(client) ? foliot__stream_period_ns(client) : 10000000u;
    uint64_t next = client->outgoing.lockstep_ns + period;
    if (foliot__client_watches(client) || !foliot__client_in_lockstep(client)) {
        uint64_t inputs = foliot__client_welcomed(client) ? foliot__stream_inputs_due_ns(client)
                                                          : client->outgoing.inputs_ns + period;
        next = foliot__client_in_lockstep(client) && next < inputs ? next : inputs;
    }
    if (tick != UINT64_MAX) { // its own tick, or other due work
        uint64_t soonest = next - period / 2;
        next = tick < soonest ? soonest : tick < next + period ? tick : next + period;
    }
    return client->connection.state == FOLIOT_CLIENT_PLAYING && next < wake ? next : wake;
}
