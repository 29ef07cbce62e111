// SPDX-License-Identifier: MIT
// stream.c: the unreliable traffic of a client that plays: snapshots and input acknowledgements
// arrive, inputs and lockstep packets are sent. join.c reads control messages.
#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLACK_TICKS 1.5 // inputs should arrive so long before their tick is closed
#define SLACK_GAIN 0.15
#define TICK_MAX 0x1p60         // as in a welcome
#define SPECTATOR_HZ 30.0       // snapshots a second that a spectator acknowledges
#define SPECTATOR_PERIODS_MAX 3 // of input packets, without a snapshot to acknowledge

// -- snapshots

void foliot__stream_complete(foliot_client *c, uint64_t tick)
{
    foliot_client_statistics *s = &c->statistics;
    if (s->snapshots_received++ == 0)
        s->join_ms = (double)(c->now_ns - c->began_ns) * 1e-6;
    if (c->playout.started && (double)tick < c->playout.render_tick)
        s->snapshots_stale++;
    else
        s->snapshots_used++;
    // After the welcome, in the same update, time stands still while the world is prepared.
    foliot__playout_arrived(&c->playout, c->now_ns, tick, c->now_ns != c->join.welcomed_ns,
                            c->connection.path);
}

// Counts an arrived snapshot, whole or partial.
static void count_arrived(foliot_client *c, uint64_t tick)
{
    c->loss.arrived++;
    c->loss.arrived_counted += tick <= c->loss.counted_tick;
}

static void read_partial(foliot_client *c, const uint8_t *bytes, size_t length)
{
    foliot_client_statistics *s = &c->statistics;
    uint64_t tick = 0;
    switch (foliot__tracks_receive(c->tracks, bytes, length, &tick)) {
    case FOLIOT__TRACKS_TAKEN:
        count_arrived(c, tick);
        foliot__stream_complete(c, tick);
        break;
    case FOLIOT__TRACKS_STALE:
        s->snapshots_stale++;
        break;
    case FOLIOT__TRACKS_NO_BASELINE:
        s->snapshots_without_baseline++;
        break;
    case FOLIOT__TRACKS_MALFORMED:
    default:
        s->pieces_malformed++;
    }
}

static void read_piece(foliot_client *c, const uint8_t *bytes, size_t length)
{
    if ((bytes[0] == FOLIOT__PARTIAL_PACKET) != (c->tracks != NULL)) {
        c->statistics.pieces_malformed++; // of another kind than the welcome's
        return;
    }
    if (c->tracks) {
        read_partial(c, bytes, length);
        return;
    }
    foliot_client_statistics *s = &c->statistics;
    uint64_t tick = 0;
    switch (foliot__buffer_receive(&c->buffer, bytes + 1, length - 1, &tick)) {
    case FOLIOT__TAKEN_SNAPSHOT:
        count_arrived(c, tick);
        if (!foliot__client_steps(c))
            foliot__stream_complete(c, tick);
        break;
    case FOLIOT__TAKEN_STALE:
        s->snapshots_stale++;
        break;
    case FOLIOT__TAKEN_NO_BASELINE:
        s->snapshots_without_baseline +=
            foliot__client_watches(c); // else of the time when it was a watcher
        break;
    case FOLIOT__TAKEN_MALFORMED:
        s->pieces_malformed++;
        break;
    case FOLIOT__TAKEN_PIECE:
        c->connection.progress_ns = c->now_ns;
        break;
    default:
        break;
    }
}

void foliot__stream_read_kept(foliot_client *c)
{
    for (uint32_t i = 0; i < c->join.piece_count; i++)
        read_piece(c, c->join.pieces[i], c->join.piece_lengths[i]);
    free(c->join.pieces);
    c->join.pieces = NULL;
    c->join.piece_count = 0;
}

void foliot__stream_receive_piece(foliot_client *c, const uint8_t *bytes, size_t length)
{
    c->statistics.pieces_received++;
    c->statistics.bytes_received += length;
    if (c->join.state == FOLIOT__WELCOME_PRESENT) {
        read_piece(c, bytes, length);
        return;
    }
    // It is kept for the welcome.
    if (!c->join.pieces)
        c->join.pieces = malloc(FOLIOT__PIECES_KEPT * sizeof *c->join.pieces);
    if (!c->join.pieces || c->join.piece_count == FOLIOT__PIECES_KEPT ||
        length > sizeof *c->join.pieces) {
        c->statistics.snapshots_without_baseline++;
        return;
    }
    memcpy(c->join.pieces[c->join.piece_count], bytes, length);
    c->join.piece_lengths[c->join.piece_count++] = (uint16_t)length;
}

// The server reports how early the newest inputs arrived. Too early adds latency; too late, and
// they are not applied in time.
void foliot__stream_receive_status(foliot_client *c, const uint8_t *bytes, size_t length)
{
    foliot__status_packet status;
    if (foliot__status_packet_decode(bytes, length, &status) != FOLIOT_STATUS_OK) {
        c->statistics.pieces_malformed++;
        return;
    }
    if ((int32_t)(status.sent - c->loss.counted) >= 0) { // no later status has overtaken it
        c->loss.counted = status.sent;
        c->loss.counted_tick =
            foliot__tick_near(status.tick, c->tracks ? c->tracks->newest : c->buffer.newest);
        c->loss.arrived_counted = c->loss.arrived; // except for a few, if a status was overtaken
    }
    while (c->controls.change_count > 0 && c->controls.changes[0].sequence <= status.sequence)
        memmove(&c->controls.changes[0], &c->controls.changes[1],
                --c->controls.change_count * sizeof c->controls.changes[0]);
    c->statistics.inputs_late = status.late_changes;
    double round_trip_us =
        (double)(uint32_t)((uint32_t)(c->now_ns / 1000) - status.echo_us) - status.held_us;
    if (round_trip_us >= 0 && round_trip_us < 60e6) {
        double *ms = &c->statistics.round_trip_ms;
        *ms += (*ms > 0 ? 0.1 : 1) * (round_trip_us * 1e-3 - *ms);
    }
    // Packets sent before the clock jumped report the old slack, which is corrected already.
    if (c->outgoing.clock_set && (int32_t)(status.echo_us - c->outgoing.clock_set_us) < 0)
        return;
    double slack_ns = status.slack_us * 1e3,
           wanted = SLACK_TICKS * foliot__client_tick_ns(c) + c->outgoing.jitter_slack_ns;
    double off = slack_ns - wanted;
    if (fabs(off) > 30 * foliot__client_tick_ns(c)) {
        c->outgoing.offset_ns += off;
        c->outgoing.clock_set = true;
        c->outgoing.clock_set_us = (uint32_t)(c->now_ns / 1000);
    } else {
        c->outgoing.offset_ns += off * SLACK_GAIN;
    }
    // Late packets raise the margin, which decays slowly.
    c->outgoing.jitter_slack_ns = slack_ns < 0
                                      ? fmin(c->outgoing.jitter_slack_ns - slack_ns * 0.5, 1e9)
                                      : c->outgoing.jitter_slack_ns * 0.99;
}

// -- inputs

static uint64_t input_tick(const foliot_client *c)
{
    double tick = ((double)c->now_ns - c->outgoing.offset_ns) / foliot__client_tick_ns(c);
    return tick < 0 ? 0 : tick > TICK_MAX ? (uint64_t)TICK_MAX : (uint64_t)tick;
}

void foliot_client_set_input(foliot_client *client, const int8_t axes[FOLIOT_AXIS_COUNT],
                             uint16_t buttons)
{
    if (memcmp(client->controls.axes, axes, FOLIOT_AXIS_COUNT) == 0 &&
        client->controls.buttons == buttons)
        return;
    memcpy(client->controls.axes, axes, FOLIOT_AXIS_COUNT);
    client->controls.buttons = buttons;
    client->controls.aimed = foliot__client_shown(client);
    client->controls.changed = true;
    if (client->latency.key != FOLIOT__KEY_NONE)
        return;
    client->latency.key = FOLIOT__KEY_UNDECIDED;
    client->latency.key_ns = client->now_ns;
}

void foliot__stream_key_decided(foliot_client *c, uint64_t tick)
{
    if (c->latency.key != FOLIOT__KEY_UNDECIDED)
        return;
    c->latency.key = FOLIOT__KEY_DECIDED;
    c->latency.key_tick = tick;
}

static void append_change(foliot_client *c, uint64_t tick)
{
    if (!c->controls.changed || c->controls.change_count == FOLIOT__CHANGES_HELD)
        return; // wait for acknowledgements; the newest controls are sent then
    foliot__change *change = &c->controls.changes[c->controls.change_count++];
    *change = (foliot__change){
        .sequence = c->controls.next_sequence++, .tick = tick, .buttons = c->controls.buttons};
    memcpy(change->axes, c->controls.axes, sizeof change->axes);
    if (change->tick < c->controls.least_meant)
        change->tick = c->controls.least_meant;
    if (c->controls.change_count > 1 && change->tick < change[-1].tick)
        change->tick = change[-1].tick;
    change->shown = foliot__shown_before(change->tick, c->controls.aimed);
    c->controls.last_meant = change->tick;
    c->controls.changed = false;
    foliot__stream_key_decided(c, change->tick);
}

uint64_t foliot__stream_period_ns(const foliot_client *c)
{
    double hz = c->config.input_hz > 0 ? c->config.input_hz : fmin(c->welcome.pace_hz, 60);
    return (uint64_t)(1e9 / hz);
}

static void acknowledge_partial(foliot_client *c)
{
    foliot__partial_acknowledge packet = {.has_focus =
                                              c->outgoing.has_focus && c->config.spectates};
    uint8_t bytes[FOLIOT__PARTIAL_ACKNOWLEDGE_BYTES];
    foliot__tracks_acknowledge(c->tracks, &packet);
    for (int k = 0; k < 3; k++)
        packet.focus[k] = (int32_t)fmax(
            fmin(c->outgoing.focus[k] / c->welcome.format.position_step, INT32_MAX), -INT32_MAX);
    if (packet.newest == 0 && !packet.has_focus)
        return;
    size_t length = foliot__partial_acknowledge_encode(&packet, bytes);
    foliot__connection_send_packet(c, FOLIOT_DELIVERY_UNRELIABLE, bytes, length);
}

// The thirtieth of a second that a tick is in. A spectator acknowledges the first snapshot in each:
// all spectators the same ones, so that the server has few baselines to encode against.
static uint64_t thirtieth_of(const foliot_client *c, uint64_t tick)
{
    return (uint64_t)((double)tick * fmin(SPECTATOR_HZ / c->welcome.pace_hz, 1));
}

uint64_t foliot__stream_inputs_due_ns(const foliot_client *c)
{
    uint64_t newest = c->buffer.newest, period = foliot__stream_period_ns(c);
    bool waits = c->config.spectates && !c->tracks && c->buffer.has_newest &&
                 c->outgoing.acknowledged != FOLIOT__NO_TICK &&
                 thirtieth_of(c, newest) == thirtieth_of(c, c->outgoing.acknowledged);
    return c->outgoing.inputs_ns + (waits ? SPECTATOR_PERIODS_MAX * period : period);
}

static void send_inputs(foliot_client *c)
{
    if (c->connection.state != FOLIOT_CLIENT_PLAYING || c->now_ns < foliot__stream_inputs_due_ns(c))
        return;
    foliot__input_packet packet = {.tick = input_tick(c), .sent_us = (uint32_t)(c->now_ns / 1000)};
    if (packet.tick < c->controls.least_meant) // ages of changes count from it
        packet.tick = c->controls.least_meant;
    packet.shown = foliot__shown_before(packet.tick, foliot__client_shown(c));
    if (!c->config.spectates && !c->controls.by_ticks)
        append_change(c, packet.tick);
    packet.newest_snapshot = c->buffer.has_newest ? c->buffer.newest : FOLIOT__NO_TICK;
    packet.count = c->controls.change_count;
    memcpy(packet.changes, c->controls.changes,
           sizeof c->controls.changes[0] * c->controls.change_count);
    uint8_t bytes[FOLIOT_SNAPSHOT_PIECE_BYTES];
    size_t length = foliot__input_packet_encode(&packet, bytes);
    foliot__connection_send_packet(c, FOLIOT_DELIVERY_UNRELIABLE, bytes, length);
    c->statistics.inputs_sent++;
    c->outgoing.inputs_ns = c->now_ns;
    c->outgoing.acknowledged = packet.newest_snapshot;
    if (c->tracks)
        acknowledge_partial(c);
}

void foliot__stream_update(foliot_client *c)
{
    if (foliot__client_in_lockstep(c))
        c->stepper->advance(c);
    if (foliot__client_watches(c))
        send_inputs(c);
}
