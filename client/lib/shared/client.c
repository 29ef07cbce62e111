// SPDX-License-Identifier: MIT
// client.c: creates a client, hands what arrives to the file that reads it, and updates the rest in
// order. One update does a bounded amount of work. It keeps no protocol state of its own.
#include "internal.h"
#include "sim/selftest/fingerprint.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// How much one update does, so that it returns however much has come: one unit for each body that
// is decoded, EVENT_WORK for each event, and more for what costs more (internal.h). The rest waits
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

static bool prediction_valid(const foliot_client_config *config)
{
    return !config->predicts || (config->input_delay < 256 && config->rollback_ticks_max > 0 &&
                                 config->rollback_ticks_max <= FOLIOT__PREDICTED_TICKS_MAX &&
                                 config->rollback_steps > 0);
}

foliot_status foliot_client_create(const foliot_client_config *config, uint64_t now_ns,
                                   foliot_client **client)
{
    if (!config->transport || !config->address || !config->session || !config->name ||
        strlen(config->session) >= FOLIOT_NAME_BYTES || strlen(config->name) >= FOLIOT_NAME_BYTES ||
        strlen(config->address) >= sizeof((foliot_client *)0)->host ||
        !(config->starved_share > 0) || !(config->connect_timeout_ms >= 0) ||
        config->catch_up_ticks == 0 || !prediction_valid(config) ||
        config->kind > FOLIOT_PEER_STEPPER ||
        (config->simulation && !foliot_simulation_kind_valid(config->simulation)))
        return FOLIOT_STATUS_INVALID;
    foliot_client *c = calloc(1, sizeof *c);
    if (!c)
        return FOLIOT_STATUS_MEMORY;
    c->config = *config;
    strcpy(c->host, config->address);
    strcpy(c->session, config->session);
    strcpy(c->name, config->name);
    c->now_ns = c->began_ns = c->connection.progress_ns = now_ns;
    c->simulation.kind = config->simulation ? *config->simulation : foliot_world_kind;
    c->simulation.fingerprint = config->fingerprint;
    if ((c->simulation.fingerprint.high | c->simulation.fingerprint.low) == 0)
        c->simulation.fingerprint =
            config->forces || config->simulation
                ? foliot_simulation_kind_get_fingerprint(&c->simulation.kind)
                : foliot__fingerprint_base(); // the rest is compared with the scene
    if (config->step_host)
        c->simulation.host = *config->step_host;
    c->controls.next_sequence = 1;
    c->outgoing.acknowledged = FOLIOT__NO_TICK;
    c->role.asked = c->role.preferred = (foliot__kind)config->kind;
    if (config->steps_if_cheap && config->kind == FOLIOT_PEER_ANY && !config->spectates)
        c->role.preferred = FOLIOT__KIND_STEPPER;
    c->updates.players = calloc(FOLIOT__PLAYER_NAMES, sizeof *c->updates.players);
    foliot_status status = c->updates.players ? foliot__connection_open(c) : FOLIOT_STATUS_MEMORY;
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
    foliot__predict_end(client);
    foliot__tracks_destroy(client->tracks);
    foliot__lockstep_client_destroy(client->lockstep);
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

// -- events

// Copies of what is said at the join and of a change of kind, and messages that need not arrive.
static bool reads_unreliably(const foliot_client *c, const foliot_transport_event *e)
{
    return foliot__message_is_control(e->bytes, e->length) &&
           (c->connection.state == FOLIOT_CLIENT_JOINING ||
            (foliot__client_welcomed_here(c) && e->length > 1 &&
             (e->bytes[1] == FOLIOT__MESSAGE || e->bytes[1] == FOLIOT__KIND)));
}

static void receive_bytes(foliot_client *c, const foliot_transport_event *e)
{
    if (e->length > 1 &&
        (e->bytes[0] == FOLIOT__SNAPSHOT_PACKET || e->bytes[0] == FOLIOT__PARTIAL_PACKET))
        foliot__stream_receive_piece(c, e->bytes, e->length);
    else if (e->delivery == FOLIOT_DELIVERY_RELIABLE || reads_unreliably(c, e))
        foliot__client_receive_control(c, e->bytes, e->length);
    else if (foliot__client_welcomed(c) && e->length > 0 && e->bytes[0] == FOLIOT__STATUS_PACKET)
        foliot__stream_receive_status(c, e->bytes, e->length);
    else if (foliot__client_in_lockstep(c) && e->length > 0 &&
             (e->bytes[0] == FOLIOT__RELAY_PACKET || e->bytes[0] == FOLIOT__RELAY_COMMANDS_PACKET))
        foliot__predict_receive_relay(c, e->bytes, e->length);
    else if (foliot__client_in_lockstep(c) && e->length > 0 &&
             e->bytes[0] == FOLIOT__LOCKSTEP_STATUS_PACKET)
        foliot__lockstep_client_receive_status(c->lockstep, e->bytes, e->length, c->now_ns,
                                               foliot__client_tick_ns(c));
    else if (foliot__client_in_lockstep(c) && e->length > 0 && e->bytes[0] == FOLIOT__EARLY_PACKET)
        foliot__predict_receive_early(c, e->bytes, e->length);
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
    } else if (!foliot__connection_is_over(c)) { // what ended stays ended
        uint64_t decoded = c->buffer.decoded + (c->tracks ? c->tracks->decoded : 0);
        receive_bytes(c, e);
        bool relay = e->length > 0 && (e->bytes[0] == FOLIOT__RELAY_PACKET ||
                                       e->bytes[0] == FOLIOT__RELAY_COMMANDS_PACKET ||
                                       e->bytes[0] == FOLIOT__EARLY_PACKET);
        c->work += relay ? FOLIOT__TICKS_WORK : 0;
        uint64_t now = c->buffer.decoded + (c->tracks ? c->tracks->decoded : 0);
        c->work += EVENT_WORK + (now > decoded ? now - decoded : 0);
    }
}

// A process that was stopped, or a machine that slept: that time says nothing of anybody's speed or
// patience.
static void forgive_pause(foliot_client *c, uint64_t now_ns)
{
    uint64_t passed = now_ns - c->now_ns;
    if (passed <= PAUSE_NS)
        return;
    c->connection.progress_ns += passed;
    c->connection.lost_ns += c->connection.reconnect != FOLIOT__RECONNECT_NONE ? passed : 0;
    foliot__kind_paused(c, passed);
}

void foliot_client_update(foliot_client *client, uint64_t now_ns)
{
    foliot_transport_event event;
    forgive_pause(client, now_ns);
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
    if (foliot__client_in_lockstep(client) && !foliot__client_stands_still(client) &&
        foliot__lockstep_client_ready(client->lockstep))
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
    if (foliot__client_welcomed(client) &&
        foliot__predict_leads(client)) { // its own tick, or what else is due
        uint64_t tick = foliot__predict_wake_ns(client), soonest = next - period / 2;
        next = tick < soonest ? soonest : tick < next + period ? tick : next + period;
    }
    return client->connection.state == FOLIOT_CLIENT_PLAYING && next < wake ? next : wake;
}
