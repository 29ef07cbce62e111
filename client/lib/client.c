// SPDX-License-Identifier: MIT
// client.c: the connection of one player: begins, is kept alive, comes back after a loss, ends.
// What is said over it is join.c's and stream.c's.
#include "internal.h"
#include "sim/selftest/fingerprint.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECONNECT_EVERY_NS 500000000u
#define RECONNECT_FOR_NS 10000000000u
// A server that says nothing for so long, and for so many snapshots, has died or is out of reach: a
// new connection is tried long before the transport gives the old one up.
#define SILENCE_NS 1000000000u
#define SILENCE_SNAPSHOTS 5
#define ATTEMPT_NS 2000000000u // for one, and four round trips
// What one update does of what has come, so that it returns however much comes: a unit for a body
// that is decoded, so many for anything that comes at all, and more for what costs more
// (internal.h). The rest waits for the next.
#define UPDATE_WORK_MAX (1u << 21)
#define EVENT_WORK 64

foliot_client_config foliot_client_config_default(void)
{
    return (foliot_client_config){.address = "127.0.0.1",
                                  .port = FOLIOT_PORT_DEFAULT,
                                  .session = "",
                                  .name = "player",
                                  .reconnects = true,
                                  .starved_share = 0.001,
                                  .delay_ms_min = 0,
                                  .delay_ms_max = 1500,
                                  .catch_up_ticks = 16};
}

static foliot_status connect(foliot_client *c)
{
    c->tried_ns = c->now_ns;
    c->welcomed_here = false; // what comes now is not of the connection before
    c->kept_count = 0;
    return foliot_transport_connect(c->config.transport, c->host, c->config.port, c->now_ns,
                                    &c->peer);
}

foliot_status foliot_client_create(const foliot_client_config *config, uint64_t now_ns,
                                   foliot_client **client)
{
    if (!config->transport || !config->address || !config->session || !config->name ||
        strlen(config->session) >= FOLIOT_NAME_BYTES || strlen(config->name) >= FOLIOT_NAME_BYTES ||
        strlen(config->address) >= sizeof((foliot_client *)0)->host || !(config->starved_share > 0) ||
        config->catch_up_ticks == 0 ||
        (config->simulation && !foliot_simulation_kind_valid(config->simulation)))
        return FOLIOT_STATUS_INVALID;
    foliot_client *c = calloc(1, sizeof *c);
    if (!c)
        return FOLIOT_STATUS_MEMORY;
    c->config = *config;
    strcpy(c->host, config->address);
    strcpy(c->session, config->session);
    strcpy(c->name, config->name);
    c->now_ns = c->began_ns = now_ns;
    c->kind = config->simulation ? *config->simulation : foliot_world_kind;
    c->fingerprint = config->fingerprint;
    if ((c->fingerprint.high | c->fingerprint.low) == 0)
        c->fingerprint = config->forces || config->simulation
                             ? foliot_simulation_kind_get_fingerprint(&c->kind)
                             : foliot__fingerprint_base(); // the rest is compared with the scene
    if (config->step_host)
        c->step_host = *config->step_host;
    c->next_sequence = 1;
    c->players = calloc(FOLIOT__PLAYER_NAMES, sizeof *c->players);
    foliot_status status = c->players ? connect(c) : FOLIOT_STATUS_MEMORY;
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
    if (client->peer.value)
        foliot_transport_disconnect(client->config.transport, client->peer, 0, true);
    if (client->welcomed)
        foliot__buffer_close(&client->buffer);
    foliot__lockstep_client_destroy(client->lockstep);
    foliot_scene_destroy(client->scene);
    free(client->setup);
    free(client->scene_bytes);
    free(client->players);
    free(client->kept);
    free(client);
}

double foliot__client_tick_ns(const foliot_client *c)
{
    return 1e9 / c->welcome.pace_hz;
}

void foliot__client_end(foliot_client *c, foliot_client_state state, const char *reason)
{
    c->state = state;
    snprintf(c->reason, sizeof c->reason, "%s", reason);
}

// -- events

static void take_bytes(foliot_client *c, const foliot_transport_event *e)
{
    if (e->length > 1 && e->bytes[0] == FOLIOT__SNAPSHOT_PACKET)
        foliot__stream_take_piece(c, e->bytes, e->length);
    else if (e->delivery == FOLIOT_DELIVERY_RELIABLE ||
             (c->state == FOLIOT_CLIENT_JOINING && foliot__message_is_control(e->bytes, e->length)))
        foliot__client_take_control(c, e->bytes, e->length);
    else if (c->welcomed && e->length > 0 && e->bytes[0] == FOLIOT__STATUS_PACKET)
        foliot__stream_take_status(c, e->bytes, e->length);
    else if (c->lockstep && e->length > 0 && e->bytes[0] == FOLIOT__RELAY_PACKET)
        foliot__lockstep_client_take_relay(c->lockstep, e->bytes, e->length);
    else if (c->lockstep && e->length > 0 && e->bytes[0] == FOLIOT__LOCKSTEP_STATUS_PACKET)
        foliot__lockstep_client_take_status(c->lockstep, e->bytes, e->length, c->now_ns,
                                            foliot__client_tick_ns(c));
}

static bool over(const foliot_client *c)
{
    return c->state == FOLIOT_CLIENT_REFUSED || c->state == FOLIOT_CLIENT_CLOSED ||
           c->state == FOLIOT_CLIENT_LOST;
}

// Why the server wants no more of us; NULL: it is something else.
static const char *dropped_for(uint32_t reason)
{
    return reason == FOLIOT__DISCONNECT_REFUSED + FOLIOT__REFUSE_MALFORMED
               ? "dropped by the server: what came from here was no message"
           : reason == FOLIOT__DISCONNECT_REFUSED + FOLIOT__REFUSE_LIED
               ? "dropped by the server: no honest client says what came from here"
               : NULL;
}

static void connection_ended(foliot_client *c, uint32_t reason)
{
    c->peer = (foliot_peer_id){0};
    if (over(c))
        return;
    if (c->leaving) {
        foliot__client_end(c, FOLIOT_CLIENT_CLOSED, "left");
    } else if (dropped_for(reason)) {
        foliot__client_end(c, FOLIOT_CLIENT_REFUSED, dropped_for(reason));
    } else if (c->welcomed && c->config.reconnects) {
        if (!c->reconnecting)
            c->lost_ns = c->now_ns;
        c->reconnecting = true;
        c->state = FOLIOT_CLIENT_CONNECTING;
    } else if (reason == FOLIOT_DISCONNECT_FULL) {
        c->try_again = true;
        foliot__client_end(
            c, FOLIOT_CLIENT_REFUSED,
            "the server has no room for another connection, or none for more from this address");
    } else if (reason == FOLIOT_DISCONNECT_PROTOCOL) {
        foliot__client_end(
            c, FOLIOT_CLIENT_REFUSED,
            "the server speaks another version of the protocol: one of the two is older");
    } else {
        char why[FOLIOT__SENTENCE_BYTES];
        snprintf(why, sizeof why, "no answer from %.100s, port %u: is a server running there?",
                 c->host, c->config.port);
        c->try_again = true;
        foliot__client_end(c, FOLIOT_CLIENT_LOST,
                           c->state == FOLIOT_CLIENT_CONNECTING ? why : "the connection was lost");
    }
}

static void take_event(foliot_client *c, const foliot_transport_event *e)
{
    if (e->peer.value != c->peer.value)
        return;
    c->heard_ns = c->now_ns;
    c->bytes_heard += e->kind == FOLIOT_TRANSPORT_RECEIVED ? e->length : 0;
    c->buffer.received = c->bytes_heard;
    if (e->kind == FOLIOT_TRANSPORT_CONNECTED) {
        if (over(c))
            return;
        c->state = FOLIOT_CLIENT_JOINING;
        foliot__client_say_hello(c);
    } else if (e->kind == FOLIOT_TRANSPORT_DISCONNECTED) {
        connection_ended(c, e->reason);
    } else if (!over(c)) { // what ended stays ended
        uint64_t decoded = c->buffer.decoded;
        take_bytes(c, e);
        c->work += e->length > 0 && e->bytes[0] == FOLIOT__RELAY_PACKET ? FOLIOT__TICKS_WORK : 0;
        c->work += EVENT_WORK + (c->buffer.decoded > decoded ? c->buffer.decoded - decoded : 0);
    }
}

static bool given_up(const foliot_client *c)
{
    double patience = ATTEMPT_NS + 4e6 * c->statistics.round_trip_ms;
    if (c->state != FOLIOT_CLIENT_PLAYING)
        return c->reconnecting && (double)(c->now_ns - c->tried_ns) > patience;
    double snapshots = SILENCE_SNAPSHOTS * 1e9 / c->welcome.snapshot_hz;
    return (double)(c->now_ns - c->heard_ns) > SILENCE_NS + snapshots;
}

static void break_silence(foliot_client *c)
{
    if (!c->config.reconnects || !c->welcomed || !c->peer.value || c->leaving || over(c) ||
        !given_up(c))
        return;
    foliot_transport_disconnect(c->config.transport, c->peer, 0, true);
    connection_ended(c, FOLIOT_DISCONNECT_TIMEOUT);
}

static void reconnect(foliot_client *c)
{
    if (!c->reconnecting || c->peer.value || c->now_ns - c->tried_ns < RECONNECT_EVERY_NS)
        return;
    if (c->now_ns - c->lost_ns > RECONNECT_FOR_NS) {
        c->try_again = true;
        foliot__client_end(c, FOLIOT_CLIENT_LOST,
                           "the connection was lost, and reconnecting did not help");
        return;
    }
    c->statistics.reconnects++;
    if (connect(c) != FOLIOT_STATUS_OK)
        c->peer = (foliot_peer_id){0};
}

void foliot_client_update(foliot_client *client, uint64_t now_ns)
{
    foliot_transport_event event;
    client->now_ns = now_ns;
    client->work = 0;
    while (client->work < UPDATE_WORK_MAX &&
           foliot_transport_poll(client->config.transport, now_ns, &event))
        take_event(client, &event);
    break_silence(client);
    reconnect(client);
    foliot__client_repeat_hello(client);
    foliot__stream_update(client);
    foliot_transport_flush(client->config.transport, now_ns);
}

uint64_t foliot_client_get_wake_ns(const foliot_client *client)
{
    uint64_t wake = foliot_transport_get_wake_ns(client->config.transport);
    if (client->work >= UPDATE_WORK_MAX)
        return client->now_ns; // more has come
    if (client->lockstep && foliot__lockstep_client_backlog(client->lockstep) > 0)
        return client->now_ns; // it catches up
    uint64_t next =
        client->input_sent_ns + (client->welcomed ? foliot__stream_period_ns(client) : 10000000u);
    return client->state == FOLIOT_CLIENT_PLAYING && next < wake ? next : wake;
}

void foliot_client_leave(foliot_client *client, uint64_t now_ns)
{
    foliot__message m = {.kind = FOLIOT__BYE};
    client->now_ns = now_ns;
    client->leaving = true;
    if (over(client))
        return;
    if (!client->peer.value) {
        foliot__client_end(client, FOLIOT_CLIENT_CLOSED, "left");
        return;
    }
    snprintf(m.as.bye.sentence, sizeof m.as.bye.sentence, "leaving");
    foliot__client_send(client, &m);
    foliot_transport_flush(client->config.transport, now_ns);
}
