// SPDX-License-Identifier: MIT
// join.c: reads control messages: welcome, scene, players, states of lockstep, goodbye. Trusts no
// length or number of the server: impossible values are counted and end the client.
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define SHOWN_AHEAD_TICKS 600 // that a restarted server may be behind; the client waits for it

// -- the setup

static void drop_scene(foliot_client *c)
{
    if (c->stepper)
        c->stepper->forget_setup(c);
    foliot_scene_destroy(c->scene);
    free(c->setup.bytes);
    c->scene = NULL;
    c->setup.bytes = NULL;
    c->setup.length = 0;
}

static bool is_between(double x, double low, double high)
{
    return x >= low && x <= high;
}

// Whether clocks and positions can be computed with these numbers. Scenes of atoms and of galaxies
// are far inside the bounds.
static bool welcome_sensible(const foliot__welcome *w)
{
    return is_between(w->dt, 1e-30, 1e30) && is_between(w->pace_hz, 1e-6, 1e6) &&
           is_between(w->snapshot_hz, 1e-6, 1e6) &&
           is_between(w->format.position_step, 1e-15, 1e15) &&
           is_between(w->format.velocity_step, 1e-15, 1e15) && w->tick <= FOLIOT__TICK_MAX &&
           (w->scene_bytes <= FOLIOT__SCENE_BYTES_MAX || !w->lockstep);
}

static void apply_welcome(foliot_client *c, const foliot__welcome *w)
{
    if (foliot__client_welcomed_here(c))
        return;
    if (!welcome_sensible(w)) {
        c->statistics.pieces_malformed++;
        foliot__connection_end(
            c, FOLIOT_CLIENT_LOST,
            "the server's welcome is invalid: a pace, a step, a tick or a scene is out of range");
        return;
    }
    // State that this connection sends again is discarded. A scene that may be unchanged stays, and
    // is shown, until the new one is complete.
    foliot__updates_forget_players(c);
    free(c->setup.parts);
    c->setup.parts = NULL;
    c->setup.parts_length = c->setup.parts_capacity = 0;
    c->setup.complete = false;
    if (w->scene_bytes != c->setup.length)
        drop_scene(c);
    bool again = foliot__client_welcomed(c) && w->resumed;
    bool takes_over = !foliot__client_welcomed(c) && w->resumed && c->join.takes_over_sequence > 0;
    if (foliot__client_welcomed(c)) {
        foliot__client_keep_figures(c);
        foliot__buffer_close(&c->buffer);
        foliot__buffer_close(&c->stepped);
    }
    foliot__tracks_destroy(c->tracks);
    c->tracks = NULL;
    if (c->statistics.reconnects == 0 && c->connection.reconnect == FOLIOT__RECONNECT_NONE)
        c->connection.progress_ns = c->now_ns;
    c->join.state = FOLIOT__WELCOME_READ;
    c->welcome = *w;
    foliot_status status = foliot__buffer_init(&c->buffer, &w->format, w->dt, w->tick);
    if (status == FOLIOT_STATUS_OK)
        status = foliot__buffer_init(&c->stepped, &w->format, w->dt, w->tick);
    if (status == FOLIOT_STATUS_OK && !w->lockstep && w->far > 0)
        status = foliot__tracks_create(&w->format, w->dt, w->tick, &c->tracks);
    if (c->tracks)
        c->tracks->received = c->connection.received_bytes;
    if (status != FOLIOT_STATUS_OK || foliot__kind_enter(c, w) != FOLIOT_STATUS_OK) {
        foliot__buffer_close(&c->buffer);
        foliot__buffer_close(&c->stepped);
        c->connection.state = FOLIOT_CLIENT_LOST;
        snprintf(c->connection.reason, sizeof c->connection.reason, "%s",
                 foliot_status_get_text(FOLIOT_STATUS_MEMORY));
        return;
    }
    c->join.state = FOLIOT__WELCOME_PRESENT;
    c->join.welcomed_ns = c->now_ns;
    c->loss.arrived = c->loss.arrived_counted = c->loss.counted_tick = c->loss.counted = 0;
    foliot__updates_reset(c);
    if (c->connection.state == FOLIOT_CLIENT_LOST)
        return; // nothing to step can be made
    c->buffer.received = c->stepped.received = c->connection.received_bytes;
    c->stepped.capacity = FOLIOT__BUFFER_ENTRIES_STEPPED;
    foliot__playout_init(&c->playout, foliot__client_tick_ns(c), c->config.starved_share,
                         c->config.delay_ms_min * 1e6, c->config.delay_ms_max * 1e6);
    c->connection.state = FOLIOT_CLIENT_PLAYING;
    if (c->connection.reconnect == FOLIOT__RECONNECT_NEXT ||
        (double)w->tick + SHOWN_AHEAD_TICKS < c->shown_tick) {
        c->shown_tick = 0; // another run of the session
        foliot__events_release(c);
    }
    c->statistics.reconnects += c->connection.reconnect != FOLIOT__RECONNECT_NONE;
    c->connection.reconnect = FOLIOT__RECONNECT_NONE;
    if (!again) {
        c->controls.next_sequence = takes_over ? c->join.takes_over_sequence : 1;
        c->controls.change_count = 0;
    }
    foliot__orders_resume(c, w->orders, again);
    // A first guess: half a round trip each way, and a margin for jitter; slack corrects it.
    double round_trip =
        (double)foliot_transport_get_round_trip_ns(c->config.transport, c->connection.peer);
    double ahead = round_trip + 2 * foliot__client_tick_ns(c);
    c->outgoing.offset_ns = (double)c->now_ns - ahead - (double)w->tick * foliot__client_tick_ns(c);
    c->outgoing.clock_set = false;
    c->controls.changed = true; // held controls are sent once more
    c->latency.key = FOLIOT__KEY_NONE;
    foliot__stream_read_kept(c);
}

// The scene is complete. If it is unchanged, no reference to it changes.
static void finish_scene(foliot_client *c)
{
    c->setup.complete = true;
    bool same = c->setup.bytes && c->setup.length == c->setup.parts_length &&
                memcmp(c->setup.bytes, c->setup.parts, c->setup.parts_length) == 0;
    if (!same) {
        drop_scene(c);
        c->setup.bytes = c->setup.parts;
        c->setup.length = c->setup.parts_length;
        c->setup.parts = NULL;
        // A scene that fails its check is not shown: its names and sizes are not trusted.
        if (foliot_scene_decode(c->setup.bytes, c->setup.length, &c->scene) != FOLIOT_STATUS_OK) {
            c->scene = NULL; // another simulation's setup, or newer than us
        } else if (foliot_scene_check(c->scene, NULL) != FOLIOT_STATUS_OK) {
            foliot_scene_destroy(c->scene);
            c->scene = NULL;
            c->statistics.pieces_malformed++;
        }
    }
    free(c->setup.parts);
    c->setup.parts = NULL;
    c->setup.parts_capacity = 0;
    if (foliot__client_in_lockstep(c))
        c->stepper->create_simulation(c);
}

static void receive_scene_part(foliot_client *c, const foliot__scene_part *part)
{
    uint32_t total = foliot__client_welcomed_here(c) ? c->welcome.scene_bytes : 0;
    if (c->setup.complete || total > FOLIOT__SCENE_BYTES_MAX || part->total != total ||
        part->offset != c->setup.parts_length || part->length == 0 ||
        part->length > total - c->setup.parts_length)
        return;
    uint32_t wanted = c->setup.parts_length + part->length;
    // Room for these alone: the rest may never arrive.
    if (!foliot__array_reserve(&c->setup.parts, &c->setup.parts_capacity, wanted,
                               wanted < total / 2 ? 2 * wanted : total, 1))
        return;
    memcpy(c->setup.parts + c->setup.parts_length, part->bytes, part->length);
    c->setup.parts_length = wanted;
    if (wanted == total)
        finish_scene(c);
}

void foliot__client_receive_control(foliot_client *c, const uint8_t *bytes, size_t length)
{
    foliot__message m;
    if (foliot__message_decode(bytes, length, &m) != FOLIOT_STATUS_OK) {
        c->statistics.pieces_malformed++;
        return;
    }
    switch (m.kind) {
    case FOLIOT__WELCOME:
        apply_welcome(c, &m.as.welcome);
        break;
    case FOLIOT__REFUSE:
        foliot__connection_refused(c, &m.as.refuse);
        break;
    case FOLIOT__SCENE_PART:
        c->connection.progress_ns = c->now_ns;
        receive_scene_part(c, &m.as.scene_part);
        break;
    case FOLIOT__PLAYER:
        foliot__updates_receive_player(c, &m.as.player);
        break;
    case FOLIOT__ORDER_ACKNOWLEDGE:
        foliot__orders_acknowledged(c, m.as.order_acknowledge.sequence);
        break;
    case FOLIOT__MESSAGE:
        foliot__updates_receive_message(c, &m.as.message);
        break;
    case FOLIOT__UPDATE:
        foliot__updates_receive(c, &m.as.update);
        break;
    case FOLIOT__KIND:
        c->work += FOLIOT__REQUEST_WORK; // it may make a world
        foliot__kind_apply(c, &m.as.kind);
        break;
    case FOLIOT__BYE:
        foliot__connection_end(c, FOLIOT_CLIENT_CLOSED, m.as.bye.sentence);
        break;
    case FOLIOT__KEYFRAME_PART:
    case FOLIOT__TICKS_PART:
        c->connection.progress_ns = c->now_ns;
        c->work += FOLIOT__TICKS_WORK;
        // fall through
    case FOLIOT__COMMANDS:
    case FOLIOT__SEARCH_REQUEST:
    case FOLIOT__DIVERGED:
        if (c->stepper)
            c->stepper->receive_message(c, &m);
        break;
    default:
        c->statistics.pieces_malformed++;
    }
}
