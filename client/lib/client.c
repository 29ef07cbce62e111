// SPDX-License-Identifier: MIT
// client.c: the connection of one player: joins, acknowledges, sends inputs, comes back. What is shown when is
// playout.c's, what came is buffer.c's.
#include "foliot/client.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "foliot/version.h"
#include "lockstep.h"
#include "playout.h"
#include "wire/message.h"

#define CHANGES_HELD FOLIOT__INPUTS_A_PACKET // not yet acknowledged
#define EXTRAPOLATE_MS 250.0
#define RECONNECT_EVERY_NS 500000000u
#define RECONNECT_FOR_NS 10000000000u
// A server that says nothing for so long, and for so many snapshots, has died or is out of reach: a new connection
// is tried long before the transport gives the old one up.
#define SILENCE_NS 1000000000u
#define SILENCE_SNAPSHOTS 5
#define ATTEMPT_NS 2000000000u // for one, and four round trips
#define PLAYER_NAMES 1024
#define PIECES_KEPT 64
#define HELLO_EVERY_NS 20000000u // unreliably, beside the reliable one, until welcome
#define SHOWN_AHEAD_TICKS 600 // that a server which died may have lost, and be waited for
#define SLACK_TICKS 1.5     // inputs should come so long before their tick is closed
#define SLACK_GAIN 0.15

typedef struct player_name {
    uint32_t slot;
    bool here;
    char name[FOLIOT_NAME_BYTES];
} player_name;

struct foliot_client {
    foliot_client_config config;
    char host[256], session[FOLIOT_NAME_BYTES], name[FOLIOT_NAME_BYTES];
    foliot_client_state state;
    char reason[FOLIOT__SENTENCE_BYTES];
    bool try_again, leaving;
    uint32_t refusal;
    foliot_peer_id peer;
    uint64_t now_ns, began_ns, lost_ns, tried_ns;
    uint64_t heard_ns; // anything from the server
    bool reconnecting, welcomed;
    bool welcomed_here; // by this connection: later copies of the welcome are ignored
    uint64_t hello_ns;
    // Pieces that overtook the welcome, which says how to read them.
    uint8_t (*kept)[FOLIOT_PACKET_BYTES_MAX];
    uint16_t kept_lengths[PIECES_KEPT];
    uint32_t kept_count;
    foliot_digest fingerprint; // ours: it takes milliseconds, so once
    foliot_simulation_kind kind;
    foliot_host step_host;
    foliot__welcome welcome;
    foliot__snapshot_buffer buffer;
    foliot__playout playout;
    uint8_t *scene_bytes;
    uint32_t scene_have;
    foliot_scene *scene;
    foliot__lockstep_client *lockstep; // NULL: the session is none of lockstep
    player_name *players;
    // Inputs. `input_offset_ns`: local time less the time of the tick that inputs made now are for.
    int8_t axes[FOLIOT_AXES];
    uint16_t buttons;
    bool changed;
    foliot__change changes[CHANGES_HELD];
    uint32_t change_count, next_sequence;
    double input_offset_ns, jitter_slack_ns;
    bool clock_set; // at once and by much, when `clock_set_us` was
    uint32_t clock_set_us;
    uint64_t input_sent_ns;
    uint64_t first_snapshot;
    double delay_sum;
    uint64_t delay_count;
    double shown_tick; // of the last sample
    foliot_client_statistics statistics;
};

foliot_client_config foliot_client_config_default(void)
{
    return (foliot_client_config){.host = "127.0.0.1", .port = FOLIOT_PORT_DEFAULT, .session = "",
                                  .name = "player", .reconnects = true, .starved_share = 0.001,
                                  .delay_min_ms = 0, .delay_max_ms = 1500, .catch_up_ticks = 16};
}

static foliot_status connect(foliot_client *c)
{
    c->tried_ns = c->now_ns;
    return foliot_transport_connect(c->config.transport, c->host, c->config.port, c->now_ns, &c->peer);
}

foliot_status foliot_client_create(const foliot_client_config *config, uint64_t now_ns, foliot_client **client)
{
    if (!config->transport || !config->host || !config->session || !config->name ||
        strlen(config->session) >= FOLIOT_NAME_BYTES || strlen(config->name) >= FOLIOT_NAME_BYTES ||
        strlen(config->host) >= sizeof((foliot_client *)0)->host || !(config->starved_share > 0) ||
        config->catch_up_ticks == 0 || (config->simulation && !foliot_simulation_kind_valid(config->simulation)))
        return FOLIOT_INVALID;
    foliot_client *c = calloc(1, sizeof *c);
    if (!c)
        return FOLIOT_MEMORY;
    c->config = *config;
    strcpy(c->host, config->host);
    strcpy(c->session, config->session);
    strcpy(c->name, config->name);
    c->now_ns = c->began_ns = now_ns;
    c->kind = config->simulation ? *config->simulation : foliot_world_kind;
    c->fingerprint = config->fingerprint;
    if ((c->fingerprint.high | c->fingerprint.low) == 0)
        c->fingerprint = foliot_simulation_fingerprint(&c->kind);
    if (config->step_host)
        c->step_host = *config->step_host;
    c->next_sequence = 1;
    c->players = calloc(PLAYER_NAMES, sizeof *c->players);
    foliot_status status = c->players ? connect(c) : FOLIOT_MEMORY;
    if (status != FOLIOT_OK) {
        foliot_client_destroy(c);
        return status;
    }
    *client = c;
    return FOLIOT_OK;
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
    free(client->scene_bytes);
    free(client->players);
    free(client->kept);
    free(client);
}

static void send_control(foliot_client *c, const foliot__message *message)
{
    uint8_t bytes[FOLIOT__CONTROL_BYTES_MAX];
    size_t length;
    if (foliot__message_encode(message, bytes, sizeof bytes, &length) == FOLIOT_OK)
        foliot_transport_send(c->config.transport, c->peer, FOLIOT_RELIABLE, bytes, length);
}

static void write_hello(const foliot_client *c, foliot__message *m)
{
    m->kind = FOLIOT__HELLO_MESSAGE;
    foliot__hello_message *h = &m->as.hello;
    h->protocol = FOLIOT_PROTOCOL;
    strcpy(h->session, c->session);
    strcpy(h->name, c->name);
    h->spectates = c->config.spectates;
    h->token = c->welcomed ? c->welcome.token : 0;
    h->fingerprint = c->fingerprint;
    snprintf(h->build, sizeof h->build, "%s", foliot_build());
    h->forces = c->config.forces;
    snprintf(h->simulation, sizeof h->simulation, "%s", c->kind.name);
    h->rules = c->kind.version;
}

static void say_hello(foliot_client *c)
{
    foliot__message m = {0};
    write_hello(c, &m);
    send_control(c, &m);
    c->hello_ns = 0;
}

// Copies of the hello that need not wait for a resend.
static void repeat_hello(foliot_client *c)
{
    uint8_t bytes[FOLIOT__CONTROL_BYTES_MAX];
    size_t length;
    foliot__message m = {0};
    if (c->state != FOLIOT_CLIENT_JOINING || c->now_ns - c->hello_ns < HELLO_EVERY_NS)
        return;
    c->hello_ns = c->now_ns;
    write_hello(c, &m);
    if (foliot__message_encode(&m, bytes, sizeof bytes, &length) == FOLIOT_OK)
        foliot_transport_send(c->config.transport, c->peer, FOLIOT_UNRELIABLE, bytes, length);
}

// -- what the server says -----------------------------------------------------------------------------

static double tick_ns(const foliot_client *c)
{
    return 1e9 / c->welcome.pace_hz;
}

static void end(foliot_client *c, foliot_client_state state, const char *reason)
{
    c->state = state;
    snprintf(c->reason, sizeof c->reason, "%s", reason);
}

// All of the setup is here: something to step can be made of it.
static void make_simulation(foliot_client *c)
{
    foliot_status status = foliot__lockstep_client_setup(c->lockstep, c->scene_bytes, c->scene_have);
    if (status != FOLIOT_OK)
        end(c, FOLIOT_CLIENT_LOST, foliot_status_text(status));
}

static bool enter_lockstep(foliot_client *c, const foliot__welcome *w)
{
    if (w->lockstep && !c->lockstep &&
        foliot__lockstep_client_create(c->config.simulation ? &c->kind : NULL, &c->step_host, &c->lockstep) != FOLIOT_OK)
        return false;
    if (c->lockstep)
        foliot__lockstep_client_restart(c->lockstep);
    if (w->lockstep && w->scene_bytes == 0)
        make_simulation(c);
    return true;
}

static void read_kept(foliot_client *c);

static void take_welcome(foliot_client *c, const foliot__welcome *w)
{
    if (c->welcomed_here)
        return;
    c->welcomed_here = true;
    bool again = c->welcomed && w->token == c->welcome.token && w->token != 0;
    if (c->welcomed)
        foliot__buffer_close(&c->buffer);
    c->welcomed = false;
    c->welcome = *w;
    if (foliot__buffer_init(&c->buffer, &w->format, w->dt) != FOLIOT_OK || !enter_lockstep(c, w)) {
        foliot__buffer_close(&c->buffer);
        c->state = FOLIOT_CLIENT_LOST;
        snprintf(c->reason, sizeof c->reason, "%s", foliot_status_text(FOLIOT_MEMORY));
        return;
    }
    c->welcomed = true;
    foliot__playout_init(&c->playout, tick_ns(c), c->config.starved_share, c->config.delay_min_ms * 1e6,
                         c->config.delay_max_ms * 1e6);
    c->state = FOLIOT_CLIENT_PLAYING;
    c->reconnecting = false;
    c->first_snapshot = 0;
    if ((double)w->tick + SHOWN_AHEAD_TICKS < c->shown_tick)
        c->shown_tick = 0; // another run of the session
    if (!again) {
        c->next_sequence = 1;
        c->change_count = 0;
    }
    // A first guess: half a round trip each way, and what jitter may add; the server's slack corrects it.
    double round_trip = (double)foliot_transport_round_trip_ns(c->config.transport, c->peer);
    double ahead = round_trip + 2 * tick_ns(c);
    c->input_offset_ns = (double)c->now_ns - ahead - (double)w->tick * tick_ns(c);
    c->clock_set = false;
    c->changed = true; // what is held goes out once more
    if (w->scene_bytes && w->scene_bytes <= (64u << 20) && !c->scene_bytes)
        c->scene_bytes = malloc(w->scene_bytes);
    read_kept(c);
}

static void take_scene_part(foliot_client *c, const foliot__scene_part *part)
{
    if (!c->scene_bytes || c->scene || part->total != c->welcome.scene_bytes || part->offset > part->total ||
        part->length > part->total - part->offset || part->offset != c->scene_have)
        return;
    memcpy(c->scene_bytes + part->offset, part->bytes, part->length);
    c->scene_have += part->length;
    if (c->scene_have == part->total &&
        foliot_scene_decode(c->scene_bytes, c->scene_have, &c->scene) != FOLIOT_OK)
        c->scene = NULL;
    if (c->scene_have == part->total && c->lockstep)
        make_simulation(c);
}

static void take_player(foliot_client *c, const foliot__player_message *m)
{
    if (m->player >= PLAYER_NAMES)
        return;
    c->players[m->player].here = m->joined;
    c->players[m->player].slot = m->slot;
    memcpy(c->players[m->player].name, m->name, sizeof m->name);
}

static void take_state(foliot_client *c, const foliot__keyframe_part *part)
{
    foliot__message m = {.kind = FOLIOT__KEYFRAME_HEARD};
    bool tells = foliot__lockstep_client_take_state(c->lockstep, part);
    if (c->lockstep->unfit) {
        foliot_client_leave(c, c->now_ns);
        c->refusal = FOLIOT__REFUSE_SIMULATION;
        end(c, FOLIOT_CLIENT_REFUSED, "the server's state does not fit what this build makes of its setup: the two compute otherwise");
        return;
    }
    m.as.keyframe_heard.tick = part->tick;
    if (!tells)
        return;
    m.as.keyframe_heard.offset = part->offset + part->length;
    send_control(c, &m);
}

static void send_answer(foliot_client *c, const uint8_t *bytes, size_t length)
{
    foliot__message m = {.kind = FOLIOT__ANSWER};
    if (length == SIZE_MAX)
        return; // not yet
    m.as.search.number = c->lockstep->number;
    m.as.search.bytes = bytes;
    m.as.search.length = (uint32_t)length;
    send_control(c, &m);
}

static void take_question(foliot_client *c, const foliot__search_message *question)
{
    uint8_t answer[FOLIOT_ANSWER_BYTES_MAX];
    send_answer(c, answer, foliot__lockstep_client_answer(c->lockstep, question, answer));
}

static void take_control(foliot_client *c, const uint8_t *bytes, size_t length)
{
    foliot__message m;
    if (foliot__message_decode(bytes, length, &m) != FOLIOT_OK) {
        c->statistics.pieces_malformed++;
        return;
    }
    switch (m.kind) {
    case FOLIOT__WELCOME:
        take_welcome(c, &m.as.welcome);
        break;
    case FOLIOT__REFUSE:
        c->try_again = m.as.refuse.again;
        c->refusal = m.as.refuse.reason;
        end(c, FOLIOT_CLIENT_REFUSED, m.as.refuse.sentence);
        break;
    case FOLIOT__SCENE_PART:
        take_scene_part(c, &m.as.scene_part);
        break;
    case FOLIOT__PLAYER:
        take_player(c, &m.as.player);
        break;
    case FOLIOT__BYE:
        end(c, FOLIOT_CLIENT_CLOSED, m.as.bye.sentence);
        break;
    case FOLIOT__KEYFRAME_PART:
    case FOLIOT__TICKS_PART:
        if (c->lockstep && m.kind == FOLIOT__KEYFRAME_PART)
            take_state(c, &m.as.keyframe_part);
        else if (c->lockstep)
            foliot__lockstep_client_take_ticks(c->lockstep, &m.as.ticks_part);
        break;
    case FOLIOT__QUESTION:
        if (c->lockstep)
            take_question(c, &m.as.search);
        break;
    case FOLIOT__DIVERGED:
        if (c->lockstep)
            foliot__lockstep_client_take_diverged(c->lockstep, &m.as.diverged);
        break;
    default:
        c->statistics.pieces_malformed++;
    }
}

static void snapshot_complete(foliot_client *c, uint64_t tick)
{
    foliot_client_statistics *s = &c->statistics;
    if (s->snapshots_received++ == 0)
        s->join_ms = (double)(c->now_ns - c->began_ns) * 1e-6;
    if (c->first_snapshot == 0 || tick < c->first_snapshot)
        c->first_snapshot = tick;
    if (c->playout.started && (double)tick < c->playout.render_tick)
        s->snapshots_stale++;
    else
        s->snapshots_used++;
    foliot__playout_arrived(&c->playout, c->now_ns, tick);
}

static void read_piece(foliot_client *c, const uint8_t *bytes, size_t length)
{
    foliot_client_statistics *s = &c->statistics;
    uint64_t tick = 0;
    switch (foliot__buffer_take(&c->buffer, bytes + 1, length - 1, &tick)) {
    case FOLIOT__TAKEN_SNAPSHOT:
        snapshot_complete(c, tick);
        break;
    case FOLIOT__TAKEN_STALE:
        s->snapshots_stale++;
        break;
    case FOLIOT__TAKEN_NO_BASELINE:
        s->snapshots_without_baseline++;
        break;
    case FOLIOT__TAKEN_MALFORMED:
        s->pieces_malformed++;
        break;
    case FOLIOT__TAKEN_PIECE:
    default:
        break;
    }
}

static void keep_piece(foliot_client *c, const uint8_t *bytes, size_t length)
{
    if (!c->kept)
        c->kept = malloc(PIECES_KEPT * sizeof *c->kept);
    if (!c->kept || c->kept_count == PIECES_KEPT || length > sizeof *c->kept) {
        c->statistics.snapshots_without_baseline++;
        return;
    }
    memcpy(c->kept[c->kept_count], bytes, length);
    c->kept_lengths[c->kept_count++] = (uint16_t)length;
}

static void read_kept(foliot_client *c)
{
    for (uint32_t i = 0; i < c->kept_count; i++)
        read_piece(c, c->kept[i], c->kept_lengths[i]);
    free(c->kept);
    c->kept = NULL;
    c->kept_count = 0;
}

static void take_piece(foliot_client *c, const uint8_t *bytes, size_t length)
{
    c->statistics.pieces_received++;
    c->statistics.bytes_received += length;
    if (c->welcomed_here && c->welcomed)
        read_piece(c, bytes, length);
    else
        keep_piece(c, bytes, length);
}

// The server tells how early the newest inputs came: too early is latency, too late is lost control.
static void take_status(foliot_client *c, const uint8_t *bytes, size_t length)
{
    foliot__status_packet status;
    if (foliot__status_packet_decode(bytes, length, &status) != FOLIOT_OK) {
        c->statistics.pieces_malformed++;
        return;
    }
    while (c->change_count > 0 && c->changes[0].sequence <= status.sequence)
        memmove(&c->changes[0], &c->changes[1], --c->change_count * sizeof c->changes[0]);
    c->statistics.inputs_late = status.late_changes;
    double round_trip_us = (double)(uint32_t)((uint32_t)(c->now_ns / 1000) - status.echo_us) - status.held_us;
    if (round_trip_us >= 0 && round_trip_us < 60e6) {
        double *ms = &c->statistics.round_trip_ms;
        *ms += (*ms > 0 ? 0.1 : 1) * (round_trip_us * 1e-3 - *ms);
    }
    // Of packets from before the clock was set the slack has been seen to: setting it twice would overshoot.
    if (c->clock_set && (int32_t)(status.echo_us - c->clock_set_us) < 0)
        return;
    double slack_ns = status.slack_us * 1e3, wanted = SLACK_TICKS * tick_ns(c) + c->jitter_slack_ns;
    double off = slack_ns - wanted;
    if (fabs(off) > 30 * tick_ns(c)) {
        c->input_offset_ns += off;
        c->clock_set = true;
        c->clock_set_us = (uint32_t)(c->now_ns / 1000);
    } else {
        c->input_offset_ns += off * SLACK_GAIN;
    }
    // Packets that came late ask for a larger margin, which goes down again slowly.
    c->jitter_slack_ns = slack_ns < 0 ? fmin(c->jitter_slack_ns - slack_ns * 0.5, 1e9) : c->jitter_slack_ns * 0.99;
}

static void take_bytes(foliot_client *c, const foliot_transport_event *e)
{
    if (e->length > 1 && e->bytes[0] == FOLIOT__SNAPSHOT_PACKET)
        take_piece(c, e->bytes, e->length);
    else if (e->delivery == FOLIOT_RELIABLE ||
             (c->state == FOLIOT_CLIENT_JOINING && foliot__message_is_control(e->bytes, e->length)))
        take_control(c, e->bytes, e->length);
    else if (c->welcomed && e->length > 0 && e->bytes[0] == FOLIOT__STATUS_PACKET)
        take_status(c, e->bytes, e->length);
    else if (c->lockstep && e->length > 0 && e->bytes[0] == FOLIOT__RELAY_PACKET)
        foliot__lockstep_client_take_relay(c->lockstep, e->bytes, e->length);
    else if (c->lockstep && e->length > 0 && e->bytes[0] == FOLIOT__LOCKSTEP_STATUS_PACKET)
        foliot__lockstep_client_take_status(c->lockstep, e->bytes, e->length, c->now_ns, tick_ns(c));
}

static bool over(const foliot_client *c)
{
    return c->state == FOLIOT_CLIENT_REFUSED || c->state == FOLIOT_CLIENT_CLOSED || c->state == FOLIOT_CLIENT_LOST;
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
        end(c, FOLIOT_CLIENT_CLOSED, "left");
    } else if (dropped_for(reason)) {
        end(c, FOLIOT_CLIENT_REFUSED, dropped_for(reason));
    } else if (c->welcomed && c->config.reconnects) {
        if (!c->reconnecting)
            c->lost_ns = c->now_ns;
        c->reconnecting = true;
        c->state = FOLIOT_CLIENT_CONNECTING;
    } else if (reason == FOLIOT_DISCONNECT_FULL) {
        c->try_again = true;
        end(c, FOLIOT_CLIENT_REFUSED, "the server has no room for another connection");
    } else {
        c->try_again = true;
        end(c, FOLIOT_CLIENT_LOST, c->state == FOLIOT_CLIENT_CONNECTING ? "no answer" : "the connection was lost");
    }
}

static void take_event(foliot_client *c, const foliot_transport_event *e)
{
    if (e->peer.value != c->peer.value)
        return;
    c->heard_ns = c->now_ns;
    if (e->kind == FOLIOT_TRANSPORT_CONNECTED) {
        c->state = FOLIOT_CLIENT_JOINING;
        c->welcomed_here = false;
        say_hello(c);
    } else if (e->kind == FOLIOT_TRANSPORT_DISCONNECTED) {
        connection_ended(c, e->reason);
    } else {
        take_bytes(c, e);
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
    if (!c->config.reconnects || !c->welcomed || !c->peer.value || c->leaving || over(c) || !given_up(c))
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
        end(c, FOLIOT_CLIENT_LOST, "the connection was lost, and reconnecting did not help");
        return;
    }
    c->statistics.reconnects++;
    if (connect(c) != FOLIOT_OK)
        c->peer = (foliot_peer_id){0};
}

// -- inputs -----------------------------------------------------------------------------------------------

static uint32_t input_tick(const foliot_client *c)
{
    double tick = ((double)c->now_ns - c->input_offset_ns) / tick_ns(c);
    return tick < 0 ? 0 : tick > 4e9 ? UINT32_MAX - 1 : (uint32_t)tick;
}

void foliot_client_input(foliot_client *client, const int8_t axes[FOLIOT_AXES], uint16_t buttons)
{
    if (memcmp(client->axes, axes, FOLIOT_AXES) == 0 && client->buttons == buttons)
        return;
    memcpy(client->axes, axes, FOLIOT_AXES);
    client->buttons = buttons;
    client->changed = true;
}

static void note_change(foliot_client *c, uint32_t tick)
{
    if (!c->changed || c->change_count == CHANGES_HELD)
        return; // the newest controls wait until the server has caught up
    foliot__change *change = &c->changes[c->change_count++];
    *change = (foliot__change){.sequence = c->next_sequence++, .tick = tick, .buttons = c->buttons};
    memcpy(change->axes, c->axes, sizeof change->axes);
    if (c->change_count > 1 && change->tick < change[-1].tick)
        change->tick = change[-1].tick;
    c->changed = false;
}

static uint64_t input_period_ns(const foliot_client *c)
{
    double hz = c->config.input_hz > 0 ? c->config.input_hz : fmin(c->welcome.pace_hz, 60);
    return (uint64_t)(1e9 / hz);
}

static void send_inputs(foliot_client *c)
{
    if (c->state != FOLIOT_CLIENT_PLAYING || c->now_ns - c->input_sent_ns < input_period_ns(c))
        return;
    foliot__input_packet packet = {.tick = input_tick(c), .sent_us = (uint32_t)(c->now_ns / 1000)};
    if (!c->config.spectates)
        note_change(c, packet.tick);
    packet.newest_snapshot = c->buffer.has_newest ? (uint32_t)c->buffer.newest : FOLIOT__NO_TICK;
    packet.count = c->change_count;
    memcpy(packet.changes, c->changes, sizeof c->changes[0] * c->change_count);
    uint8_t bytes[FOLIOT_SNAPSHOT_PIECE_BYTES];
    size_t length = foliot__input_packet_encode(&packet, bytes);
    foliot_transport_send(c->config.transport, c->peer, FOLIOT_UNRELIABLE, bytes, length);
    c->statistics.inputs_sent++;
    c->input_sent_ns = c->now_ns;
}

// -- lockstep -----------------------------------------------------------------------------------------------

// What is here is stepped, but for a bounded number of ticks at once, and remembered to be shown.
static bool step(foliot_client *c)
{
    uint32_t steps = 0;
    uint8_t answer[FOLIOT_ANSWER_BYTES_MAX];
    send_answer(c, answer, foliot__lockstep_client_go_back(c->lockstep, c->config.catch_up_ticks, answer));
    while (steps < c->config.catch_up_ticks && foliot__lockstep_client_step(c->lockstep)) {
        const foliot_world *world = foliot__lockstep_client_world(c->lockstep);
        steps++;
        if (foliot__lockstep_client_backlog(c->lockstep) < FOLIOT__BUFFER_ENTRIES / 2 && world &&
            foliot__buffer_put(&c->buffer, world))
            snapshot_complete(c, c->lockstep->tick);
    }
    return steps > 0;
}

static void send_packet(foliot_client *c, const uint8_t *bytes, size_t length)
{
    if (length == 0)
        return;
    foliot_transport_send(c->config.transport, c->peer, FOLIOT_UNRELIABLE, bytes, length);
    c->statistics.inputs_sent++;
}

// Once a tick, and at once when one was stepped: the sooner the server hears of a digest, the better.
static void send_lockstep(foliot_client *c, bool stepped)
{
    uint8_t bytes[FOLIOT_PACKET_BYTES_MAX];
    uint64_t period = input_period_ns(c), since = c->now_ns - c->input_sent_ns;
    bool decided, plays = c->welcome.player != FOLIOT__NO_PLAYER;
    if (c->state != FOLIOT_CLIENT_PLAYING || (since < period && !(stepped && since >= period / 2)))
        return;
    foliot_input controls = {.player = c->welcome.player, .buttons = c->buttons};
    for (int k = 0; k < FOLIOT_AXES; k++)
        controls.axes[k] = c->axes[k] < -127 ? -127 : c->axes[k];
    uint64_t tick = foliot__lockstep_client_input_tick(c->lockstep, c->now_ns, tick_ns(c), c->welcome.input_delay);
    size_t length = foliot__lockstep_client_packet(c->lockstep, c->now_ns, tick, plays, c->changed ? &controls : NULL,
                                                   &decided, bytes);
    c->changed &= !decided;
    send_packet(c, bytes, length);
    send_packet(c, bytes, foliot__lockstep_client_repeat(c->lockstep, c->now_ns, bytes));
    c->input_sent_ns = c->now_ns;
}

void foliot_client_update(foliot_client *client, uint64_t now_ns)
{
    foliot_transport_event event;
    client->now_ns = now_ns;
    while (foliot_transport_poll(client->config.transport, now_ns, &event))
        take_event(client, &event);
    break_silence(client);
    reconnect(client);
    repeat_hello(client);
    if (client->lockstep)
        send_lockstep(client, step(client));
    else
        send_inputs(client);
    foliot_transport_flush(client->config.transport, now_ns);
}

uint64_t foliot_client_wake_ns(const foliot_client *client)
{
    uint64_t wake = foliot_transport_wake_ns(client->config.transport);
    if (client->lockstep && foliot__lockstep_client_backlog(client->lockstep) > 0)
        return client->now_ns; // it catches up
    uint64_t next = client->input_sent_ns + (client->welcomed ? input_period_ns(client) : 10000000u);
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
        end(client, FOLIOT_CLIENT_CLOSED, "left");
        return;
    }
    snprintf(m.as.bye.sentence, sizeof m.as.bye.sentence, "leaving");
    send_control(client, &m);
    foliot_transport_flush(client->config.transport, now_ns);
}

// -- looking ------------------------------------------------------------------------------------------------

foliot_status foliot_client_sample(foliot_client *client, uint64_t now_ns, foliot_sample *sample)
{
    if (!client->welcomed || !client->playout.started)
        return FOLIOT_AGAIN;
    // What was shown once is not taken back: not for a snapshot that comes late, nor after a reconnect.
    double tick = fmax(foliot__playout_render(&client->playout, now_ns), client->shown_tick);
    double extrapolate = EXTRAPOLATE_MS * 1e6 / tick_ns(client);
    foliot_status status = foliot__buffer_sample(&client->buffer, tick, extrapolate, sample);
    if (status != FOLIOT_OK)
        return status;
    client->shown_tick = sample->render_tick = fmax(sample->render_tick, client->shown_tick);
    client->statistics.samples++;
    client->statistics.samples_starved += sample->starved;
    client->delay_sum += foliot__playout_delay_ms(&client->playout);
    client->delay_count++;
    return FOLIOT_OK;
}

foliot_client_state foliot_client_now(const foliot_client *client)
{
    return client->state;
}

const char *foliot_client_reason(const foliot_client *client)
{
    return client->reason;
}

bool foliot_client_try_again(const foliot_client *client)
{
    return client->try_again;
}

bool foliot_client_computes_otherwise(const foliot_client *client)
{
    return client->refusal == FOLIOT__REFUSE_FINGERPRINT || client->refusal == FOLIOT__REFUSE_SIMULATION;
}

uint32_t foliot_client_player(const foliot_client *client)
{
    return client->welcomed ? client->welcome.player : FOLIOT__NO_PLAYER;
}

double foliot_client_dt(const foliot_client *client)
{
    return client->welcome.dt;
}

double foliot_client_pace_hz(const foliot_client *client)
{
    return client->welcome.pace_hz;
}

const char *foliot_client_scene_name(const foliot_client *client)
{
    return client->welcome.scene;
}

const foliot_scene *foliot_client_scene(const foliot_client *client)
{
    return client->scene;
}

const char *foliot_client_player_name(const foliot_client *client, uint32_t slot)
{
    for (uint32_t p = 0; p < PLAYER_NAMES; p++)
        if (client->players[p].here && client->players[p].slot == slot)
            return client->players[p].name;
    return NULL;
}

bool foliot_client_in_lockstep(const foliot_client *client)
{
    return client->lockstep != NULL;
}

const foliot_simulation *foliot_client_simulation(const foliot_client *client)
{
    return client->lockstep && client->lockstep->begun ? &client->lockstep->simulation : NULL;
}

bool foliot_client_divergence(foliot_client *client, foliot_divergence_case *found)
{
    foliot__lockstep_client *l = client->lockstep;
    if (!l || !l->has_case)
        return false;
    l->has_case = false;
    *found = l->found;
    found->session = client->welcome.session;
    found->player = client->welcome.player;
    found->name = client->name;
    return true;
}

static double size_quantile(const uint64_t *sizes, uint64_t total, double share)
{
    uint64_t seen = 0;
    for (uint32_t i = 0; i <= FOLIOT_PACKET_BYTES_MAX; i++) {
        seen += sizes[i];
        if (total && (double)seen >= share * (double)total)
            return i;
    }
    return 0;
}

static void add_lockstep(const foliot__lockstep_client *l, foliot_client_statistics *s)
{
    if (l->begun) {
        s->newest_tick = l->tick;
        s->digest = l->history[l->tick % FOLIOT__CLIENT_TICKS];
        s->ticks_compared = l->checked - l->start;
    }
    s->ticks_stepped = l->ticks_stepped;
    s->ticks_behind = foliot__lockstep_client_backlog(l);
    s->divergences = l->divergences > l->diverged ? l->divergences : l->diverged;
    s->stalls = l->stalls;
    s->inputs_late = l->late;
    s->inputs_missing = l->missing;
    s->pieces_malformed += l->malformed;
    s->round_trip_ms = l->round_trip_ns * 1e-6;
    s->relay_bytes_mean = l->relay_packets ? (double)l->relay_bytes / (double)l->relay_packets : 0;
    s->relay_bytes_p99 = size_quantile(l->relay_sizes, l->relay_packets, 0.99);
    s->relay_bytes_max = size_quantile(l->relay_sizes, l->relay_packets, 1);
    s->input_bytes_mean = l->input_packets ? (double)l->input_bytes / (double)l->input_packets : 0;
    s->input_bytes_p99 = size_quantile(l->input_sizes, l->input_packets, 0.99);
    s->input_bytes_max = size_quantile(l->input_sizes, l->input_packets, 1);
    s->snapshot_bytes_mean = s->relay_bytes_mean;
}

foliot_client_statistics foliot_client_statistics_now(const foliot_client *client)
{
    foliot_client_statistics s = client->statistics;
    if (!client->welcomed)
        return s;
    const foliot_snapshot *newest = foliot__buffer_newest(&client->buffer);
    double every = client->welcome.pace_hz / client->welcome.snapshot_hz;
    if (newest) {
        s.newest_tick = newest->tick;
        s.digest = foliot__buffer_digest(&client->buffer);
        s.snapshots_expected = (uint64_t)((double)(newest->tick - client->first_snapshot) / every + 1.5);
    }
    if (s.snapshots_expected > s.snapshots_received)
        s.loss = 1 - (double)s.snapshots_received / (double)s.snapshots_expected;
    s.jitter_ms = foliot__playout_jitter_ms(&client->playout);
    s.delay_ms = foliot__playout_delay_ms(&client->playout);
    s.delay_mean_ms = client->delay_count ? client->delay_sum / (double)client->delay_count : 0;
    s.snapshot_bytes_mean = s.snapshots_received ? (double)s.bytes_received / (double)s.snapshots_received : 0;
    s.snaps = client->playout.snaps;
    if (client->lockstep)
        add_lockstep(client->lockstep, &s);
    return s;
}
