// SPDX-License-Identifier: MIT
// view.c: what the caller reads: samples at the render time, players, statistics. Receives and
// sends nothing.
#include "foliot/math.h"
#include "internal.h"

#include <math.h>
#include <string.h>

#define EXTRAPOLATE_MS 250.0

// Static bodies take their place from the scene, where it is not rounded: a wide floor that is off
// by a quarter of a degree is visible.
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

// Bodies come and go in the tick in which they did, not with the next snapshot.
static void show_spawns(foliot_client *client, foliot_sample *sample)
{
    const foliot__session_state *s = &client->updates.shown;
    foliot__buffer_show_changes(foliot__client_buffer(client), s->changed, s->changed_newest,
                                s->prototypes, s->slot_count, sample);
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

// How long the oldest change of controls that was not shown has taken.
static void time_key(foliot_client *c, uint64_t now_ns, double tick)
{
    if (c->latency.key != FOLIOT__KEY_DECIDED || tick <= (double)c->latency.key_tick)
        return;
    double ms = now_ns > c->latency.key_ns ? (double)(now_ns - c->latency.key_ns) * 1e-6 : 0;
    c->latency.key = FOLIOT__KEY_NONE;
    c->latency.key_sum_ms += ms;
    c->latency.key_count++;
    c->statistics.key_to_screen_ms = c->latency.key_sum_ms / (double)c->latency.key_count;
    c->statistics.key_to_screen_max_ms = fmax(c->statistics.key_to_screen_max_ms, ms);
}

foliot_status foliot_client_sample(foliot_client *client, uint64_t now_ns, foliot_sample *sample)
{
    if (foliot__client_steps(client) && client->simulation.kind.create != foliot_world_kind.create)
        return FOLIOT_STATUS_UNSUPPORTED;
    if (!foliot__client_welcomed(client) || !client->playout.started)
        return FOLIOT_STATUS_AGAIN;
    bool predicted = foliot__predict_sample(client, now_ns, sample);
    foliot_status status = predicted ? FOLIOT_STATUS_OK : sample_buffer(client, now_ns, sample);
    if (status != FOLIOT_STATUS_OK)
        return status;
    client->shown_tick = sample->render_tick = fmax(sample->render_tick, client->shown_tick);
    foliot__updates_show(client);
    if (!predicted)
        show_spawns(client, sample);
    client->statistics.samples++;
    client->statistics.samples_starved += sample->starved;
    time_key(client, now_ns, sample->render_tick);
    return FOLIOT_STATUS_OK;
}

foliot_status foliot_client_sample_simulation(foliot_client *client, uint64_t now_ns,
                                              foliot_simulation_sample *sample)
{
    const foliot__lockstep_client *l = client->lockstep;
    if (foliot__client_welcomed(client) && !foliot__client_steps(client))
        return FOLIOT_STATUS_UNSUPPORTED;
    if (!foliot__client_welcomed(client) || !l->begun || !client->playout.started)
        return FOLIOT_STATUS_AGAIN;
    double wanted = fmax(foliot__playout_render(&client->playout, now_ns), client->shown_tick);
    // Behind a new state by a restart of the server: the newest tick is all that there is.
    double tick = fmax(fmin(wanted, (double)l->tick), client->shown_tick);
    *sample = (foliot_simulation_sample){.render_tick = tick, .tick = (uint64_t)tick};
    sample->fraction = tick - (double)sample->tick;
    sample->starved = wanted > (double)l->tick;
    sample->before = foliot__lockstep_client_state_of(l, sample->tick, &sample->before_bytes);
    sample->after = foliot__lockstep_client_state_of(l, sample->tick + 1, &sample->after_bytes);
    client->shown_tick = tick;
    client->statistics.samples++;
    client->statistics.samples_starved += sample->starved;
    const foliot_simulation *predicted = foliot_client_get_predicted(client);
    double shown = predicted ? (double)foliot_simulation_get_tick(predicted) : 0;
    time_key(client, now_ns, fmax(shown, tick));
    client->latency.delay_sum_ms += foliot__playout_delay_ms(&client->playout);
    client->latency.delay_count++;
    return FOLIOT_STATUS_OK;
}

uint64_t foliot__client_shown(const foliot_client *client)
{
    double tick = client->shown_tick;
    if (foliot__client_steps(client) && client->lockstep->begun && !foliot__predict_leads(client))
        tick = fmin(tick, (double)client->lockstep->tick); // beyond it nothing is shown but guesses
    double parts = tick * FOLIOT_AIM_PARTS;
    return parts > 0 && parts < 0x1p53 ? (uint64_t)(parts + 0.5) : 0;
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
    return foliot__client_welcomed(client) ? client->welcome.player : FOLIOT__NO_PLAYER;
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

bool foliot_client_get_lockstep(const foliot_client *client)
{
    return foliot__client_steps(client);
}

foliot_peer_kind foliot_client_get_kind(const foliot_client *client)
{
    return !foliot__client_welcomed(client) ? FOLIOT_PEER_ANY
           : foliot__client_steps(client)   ? FOLIOT_PEER_STEPPER
                                            : FOLIOT_PEER_WATCHER;
}

const foliot_simulation *foliot_client_get_simulation(const foliot_client *client)
{
    return foliot__client_steps(client) && client->lockstep->begun ? &client->lockstep->simulation
                                                                   : NULL;
}

bool foliot_client_poll_divergence(foliot_client *client, foliot_divergence_report *found)
{
    foliot__lockstep_client *l = client->lockstep;
    if (!l || !l->search.has_report)
        return false;
    l->search.has_report = false;
    *found = l->search.found;
    found->session = client->welcome.session;
    found->player = client->welcome.player;
    found->name = client->name;
    found->kind = &l->kind;
    found->setup = l->simulation.setup;
    found->setup_bytes = l->simulation.setup_bytes;
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
    s->ticks_stepped = l->counts.ticks_stepped;
    s->ticks_behind = foliot__lockstep_client_backlog(l);
    uint64_t differed = s->heals + l->diverged;
    s->divergences = l->search.divergences > differed ? l->search.divergences : differed;
    s->stalls = l->counts.stalls;
    s->inputs_late += l->deadline.late;
    s->inputs_missing = l->deadline.missing;
    s->pieces_malformed += l->counts.malformed;
    if (steps)
        s->round_trip_ms = l->deadline.round_trip_ns * 1e-6;
    s->relay_bytes_mean = l->counts.relay_packets
                              ? (double)l->counts.relay_bytes / (double)l->counts.relay_packets
                              : 0;
    s->relay_bytes_p99 = size_quantile(l->counts.relay_sizes, l->counts.relay_packets, 0.99);
    s->relay_bytes_max = size_quantile(l->counts.relay_sizes, l->counts.relay_packets, 1);
    s->input_bytes_mean = l->counts.input_packets
                              ? (double)l->counts.input_bytes / (double)l->counts.input_packets
                              : 0;
    s->input_bytes_p99 = size_quantile(l->counts.input_sizes, l->counts.input_packets, 0.99);
    s->input_bytes_max = size_quantile(l->counts.input_sizes, l->counts.input_packets, 1);
    if (steps)
        s->snapshot_bytes_mean = s->relay_bytes_mean;
}

// A snapshot that the server never sent, since it stood still or the network was full, is no loss.
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
    if (client->lockstep)
        add_lockstep(client->lockstep, foliot__client_steps(client), &s);
    foliot__predict_count(client, &s);
    return s;
}
