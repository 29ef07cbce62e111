// SPDX-License-Identifier: MIT
// view.c: what the caller reads: samples at the render time, players, statistics. Receives and
// sends nothing.
#include "internal.h"

#include <math.h>
#include <string.h>

#define EXTRAPOLATE_MS 250.0

// Static bodies take their place from the scene, where it is not rounded: a wide floor that is off
// by a quarter of a degree is visible.
static void place_static(const foliot_client *client, const foliot_sample *sample)
{
    const foliot_scene *scene = client->scene;
    double near = 2 * client->welcome.format.position_step;
    for (uint32_t i = 0; scene && i < scene->body_count && i < sample->count; i++) {
        foliot_body_state *body = &foliot__client_shows(client)->bodies[i];
        const foliot_body_definition *known = &scene->bodies[i];
        bool there = known->is_static && (body->flags & FOLIOT_BODY_STATIC);
        double length = 0;
        for (int k = 0; k < 3; k++)
            there = there && fabs(body->position[k] - known->position[k]) < near;
        if (!there)
            continue;
        memcpy(body->position, known->position, sizeof body->position);
        for (int k = 0; k < 4; k++)
            length += known->orientation[k] * known->orientation[k];
        for (int k = 0; k < 4; k++)
            body->orientation[k] =
                known->orientation[k] / sqrt(length); // scenes need not have them of length one
    }
}

foliot_status foliot_client_sample(foliot_client *client, uint64_t now_ns, foliot_sample *sample)
{
    if (!client->welcomed || !client->playout.started)
        return FOLIOT_STATUS_AGAIN;
    // The render time never goes back, neither for a late snapshot nor after a reconnect.
    double tick = fmax(foliot__playout_render(&client->playout, now_ns), client->shown_tick);
    double extrapolate = EXTRAPOLATE_MS * 1e6 / foliot__client_tick_ns(client);
    foliot_status status =
        foliot__buffer_sample(foliot__client_shown(client), tick, extrapolate, sample);
    if (status != FOLIOT_STATUS_OK)
        return status;
    place_static(client, sample);
    client->shown_tick = sample->render_tick = fmax(sample->render_tick, client->shown_tick);
    client->statistics.samples++;
    client->statistics.samples_starved += sample->starved;
    client->delay_sum += foliot__playout_delay_ms(&client->playout);
    client->delay_count++;
    return FOLIOT_STATUS_OK;
}

foliot_client_state foliot_client_get_state(const foliot_client *client)
{
    return client->state;
}

const char *foliot_client_get_reason(const foliot_client *client)
{
    return client->reason;
}

bool foliot_client_get_retryable(const foliot_client *client)
{
    return client->try_again;
}

bool foliot_client_get_fingerprint_refused(const foliot_client *client)
{
    return client->refusal == FOLIOT__REFUSE_FINGERPRINT ||
           client->refusal == FOLIOT__REFUSE_SIMULATION;
}

uint32_t foliot_client_get_player(const foliot_client *client)
{
    return client->welcomed ? client->welcome.player : FOLIOT__NO_PLAYER;
}

double foliot_client_get_dt(const foliot_client *client)
{
    return client->welcome.dt;
}

double foliot_client_get_pace_hz(const foliot_client *client)
{
    return client->welcome.pace_hz;
}

const char *foliot_client_get_scene_name(const foliot_client *client)
{
    return client->welcome.scene;
}

const foliot_scene *foliot_client_get_scene(const foliot_client *client)
{
    return client->scene;
}

const char *foliot_client_get_player_name(const foliot_client *client, uint32_t slot)
{
    for (uint32_t p = 0; p < FOLIOT__PLAYER_NAMES; p++)
        if (client->players[p].here && client->players[p].slot == slot)
            return client->players[p].name;
    return NULL;
}

bool foliot_client_get_lockstep(const foliot_client *client)
{
    return client->steps;
}

foliot_peer_kind foliot_client_get_kind(const foliot_client *client)
{
    return !client->welcomed ? FOLIOT_PEER_ANY
           : client->steps   ? FOLIOT_PEER_STEPPER
                             : FOLIOT_PEER_WATCHER;
}

const foliot_simulation *foliot_client_get_simulation(const foliot_client *client)
{
    return client->steps && client->lockstep->begun ? &client->lockstep->simulation : NULL;
}

bool foliot_client_poll_divergence(foliot_client *client, foliot_divergence_report *found)
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

static void add_lockstep(const foliot__lockstep_client *l, bool steps, foliot_client_statistics *s)
{
    if (l->begun && steps) {
        s->newest_tick = l->tick;
        s->digest = l->history[l->tick % FOLIOT__CLIENT_TICKS];
        s->ticks_compared = l->checked - l->start;
    }
    s->ticks_stepped = l->ticks_stepped;
    s->ticks_behind = foliot__lockstep_client_backlog(l);
    uint64_t differed = s->heals + l->diverged;
    s->divergences = l->divergences > differed ? l->divergences : differed;
    s->stalls = l->stalls;
    s->inputs_late += l->late;
    s->inputs_missing = l->missing;
    s->pieces_malformed += l->malformed;
    if (steps)
        s->round_trip_ms = l->round_trip_ns * 1e-6;
    s->relay_bytes_mean = l->relay_packets ? (double)l->relay_bytes / (double)l->relay_packets : 0;
    s->relay_bytes_p99 = size_quantile(l->relay_sizes, l->relay_packets, 0.99);
    s->relay_bytes_max = size_quantile(l->relay_sizes, l->relay_packets, 1);
    s->input_bytes_mean = l->input_packets ? (double)l->input_bytes / (double)l->input_packets : 0;
    s->input_bytes_p99 = size_quantile(l->input_sizes, l->input_packets, 0.99);
    s->input_bytes_max = size_quantile(l->input_sizes, l->input_packets, 1);
    if (steps)
        s->snapshot_bytes_mean = s->relay_bytes_mean;
}

static uint64_t expected_here(const foliot_client *client)
{
    const foliot_snapshot *newest = foliot__buffer_newest(foliot__client_shows(client));
    double every = client->welcome.pace_hz / client->welcome.snapshot_hz;
    double expected = newest && client->first_snapshot
                          ? (double)(newest->tick - client->first_snapshot) / every + 1.5
                          : 0;
    return (uint64_t)fmin(expected, 0x1p53); // the server's numbers may be anything
}

void foliot__client_keep_figures(foliot_client *client)
{
    client->expected_before += expected_here(client);
    client->snaps_before += client->playout.snaps;
    client->too_large_before += client->buffer.dropped;
}

foliot_client_statistics foliot_client_get_statistics(const foliot_client *client)
{
    foliot_client_statistics s = client->statistics;
    if (!client->welcomed)
        return s;
    const foliot_snapshot *newest = foliot__buffer_newest(foliot__client_shows(client));
    if (newest) {
        s.newest_tick = newest->tick;
        s.digest = foliot__buffer_digest(foliot__client_shows(client));
    }
    s.snapshots_expected = client->expected_before + expected_here(client);
    if (s.snapshots_expected > s.snapshots_received)
        s.loss = 1 - (double)s.snapshots_received / (double)s.snapshots_expected;
    s.jitter_ms = foliot__playout_jitter_ms(&client->playout);
    s.delay_ms = foliot__playout_delay_ms(&client->playout);
    s.delay_mean_ms = client->delay_count ? client->delay_sum / (double)client->delay_count : 0;
    s.snapshot_bytes_mean =
        s.snapshots_received ? (double)s.bytes_received / (double)s.snapshots_received : 0;
    s.snaps = client->snaps_before + client->playout.snaps;
    s.snapshots_too_large = client->too_large_before + client->buffer.dropped;
    if (client->lockstep)
        add_lockstep(client->lockstep, client->steps, &s);
    return s;
}
