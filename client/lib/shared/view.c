// SPDX-License-Identifier: MIT
// view.c: the caller's queries: samples, players, statistics. Receives and sends nothing.
#include "foliot/digest.h"
#include "internal.h"

#include <math.h>
#include <string.h>

#define EXTRAPOLATE_MS 250.0

// Static bodies have their place from the scene, where it is not rounded: in a wide floor an error
// of a quarter of a degree is visible.
static void place_static(const foliot_client *client, const foliot_sample *sample,
                         foliot_body_state *bodies)
{
    const foliot_scene *scene = client->scene;
    double near = 2 * client->welcome.format.position_step;
    for (uint32_t i = 0; scene && i < scene->body_count && i < sample->count; i++) {
        foliot_body_state *body = &bodies[i];
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

static foliot_status sample_buffer(foliot_client *client, uint64_t now_ns, foliot_sample *sample)
{
    // The render time never goes back, neither for a late snapshot nor after a reconnect.
    double tick = fmax(foliot__playout_render(&client->playout, now_ns), client->shown_tick);
    double extrapolate = EXTRAPOLATE_MS * 1e6 / foliot__client_tick_ns(client);
    foliot_status status =
        client->tracks
            ? foliot__tracks_sample(client->tracks, client->scene, tick, extrapolate, sample)
            : foliot__buffer_sample(foliot__client_buffer(client), tick, extrapolate, sample);
    if (status != FOLIOT_STATUS_OK)
        return status;
    place_static(client, sample,
                 client->tracks ? client->tracks->bodies
                                : foliot__client_buffer_now(client)->bodies);
    client->latency.delay_sum_ms += foliot__playout_delay_ms(&client->playout);
    client->latency.delay_count++;
    return FOLIOT_STATUS_OK;
}

void foliot__client_count_sample(foliot_client *c, uint64_t now_ns, double tick, bool starved)
{
    c->statistics.samples++;
    c->statistics.samples_starved += starved;
    if (c->latency.key != FOLIOT__KEY_DECIDED || tick <= (double)c->latency.key_tick)
        return;
    // The latency of the oldest change of controls that was not shown.
    double ms = now_ns > c->latency.key_ns ? (double)(now_ns - c->latency.key_ns) * 1e-6 : 0;
    c->latency.key = FOLIOT__KEY_NONE;
    c->latency.key_sum_ms += ms;
    c->latency.key_count++;
    c->statistics.key_to_screen_ms = c->latency.key_sum_ms / (double)c->latency.key_count;
    c->statistics.key_to_screen_max_ms = fmax(c->statistics.key_to_screen_max_ms, ms);
}

foliot_status foliot_client_sample(foliot_client *client, uint64_t now_ns, foliot_sample *sample)
{
    foliot_status status =
        client->stepper ? client->stepper->sample(client, now_ns, sample) : FOLIOT_STATUS_AGAIN;
    bool predicted = status == FOLIOT_STATUS_OK;
    if (!predicted && status != FOLIOT_STATUS_AGAIN)
        return status;
    if (!foliot__client_welcomed(client) || !client->playout.started)
        return FOLIOT_STATUS_AGAIN;
    if (!predicted)
        status = sample_buffer(client, now_ns, sample);
    if (status != FOLIOT_STATUS_OK)
        return status;
    client->shown_tick = sample->render_tick = fmax(sample->render_tick, client->shown_tick);
    foliot__updates_show(client);
    if (!predicted) { // bodies come and go in the tick in which they did, not with a snapshot
        const foliot__session_state *s = &client->updates.shown;
        foliot__buffer_show_changes(foliot__client_buffer(client), s->changed, s->changed_newest,
                                    s->prototypes, s->slot_count, sample);
    }
    foliot__client_count_sample(client, now_ns, sample->render_tick, sample->starved);
    return FOLIOT_STATUS_OK;
}

foliot_client_state foliot_client_get_state(const foliot_client *client)
{
    return client->connection.state;
}

const char *foliot_client_get_reason(const foliot_client *client)
{
    return client->connection.reason;
}

bool foliot_client_get_retryable(const foliot_client *client)
{
    return client->connection.try_again;
}

bool foliot_client_get_fingerprint_refused(const foliot_client *client)
{
    return client->connection.refusal == FOLIOT__REFUSE_FINGERPRINT ||
           client->connection.refusal == FOLIOT__REFUSE_SIMULATION;
}

uint32_t foliot_client_get_player(const foliot_client *client)
{
    return foliot__client_welcomed(client) ? client->welcome.player : FOLIOT_NO_PLAYER;
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
        if (client->updates.players[p].here && client->updates.players[p].slot == slot)
            return client->updates.players[p].name;
    return NULL;
}

bool foliot_client_get_interest(const foliot_client *client, double *near, double *far)
{
    *near = client->welcome.near;
    *far = client->welcome.far;
    return client->tracks != NULL;
}

void foliot_client_set_focus(foliot_client *client, const double position[3])
{
    client->outgoing.has_focus = true;
    for (int k = 0; k < 3; k++)
        client->outgoing.focus[k] = foliot_clamp(position[k], -1e300, 1e300);
}

foliot_peer_kind foliot_client_get_kind(const foliot_client *client)
{
    return !foliot__client_welcomed(client) ? FOLIOT_PEER_ANY
           : foliot__client_steps(client)   ? FOLIOT_PEER_STEPPER
                                            : FOLIOT_PEER_WATCHER;
}

// A snapshot that the server never sent, at rest or on a full network, does not count as lost.
static uint64_t lost_here(const foliot_client *client)
{
    return client->loss.counted > client->loss.arrived_counted
               ? client->loss.counted - client->loss.arrived_counted
               : 0;
}

void foliot__client_keep_figures(foliot_client *client)
{
    client->loss.lost_before += lost_here(client);
    client->loss.snaps_before += client->playout.snaps;
    client->loss.too_large_before += client->buffer.dropped;
}

foliot_client_statistics foliot_client_get_statistics(const foliot_client *client)
{
    foliot_client_statistics s = client->statistics;
    if (!foliot__client_welcomed(client))
        return s;
    const foliot_snapshot *newest = foliot__buffer_newest(foliot__client_buffer_now(client));
    if (newest) {
        s.newest_tick = newest->tick;
        s.digest = foliot__buffer_digest(foliot__client_buffer_now(client));
    } else if (client->tracks) {
        s.newest_tick = client->tracks->newest;
    }
    s.snapshots_expected = s.snapshots_received + client->loss.lost_before + lost_here(client);
    if (s.snapshots_expected > s.snapshots_received)
        s.loss = 1 - (double)s.snapshots_received / (double)s.snapshots_expected;
    s.jitter_ms = foliot__playout_jitter_ms(&client->playout);
    s.delay_ms = foliot__playout_delay_ms(&client->playout);
    s.delay_mean_ms = client->latency.delay_count
                          ? client->latency.delay_sum_ms / (double)client->latency.delay_count
                          : 0;
    s.snapshot_bytes_mean =
        s.snapshots_received ? (double)s.bytes_received / (double)s.snapshots_received : 0;
    s.snaps = client->loss.snaps_before + client->playout.snaps;
    s.snapshots_too_large = client->loss.too_large_before + client->buffer.dropped;
    if (client->stepper)
        client->stepper->count(client, &s);
    return s;
}
