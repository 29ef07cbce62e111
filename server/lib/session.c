// SPDX-License-Identifier: MIT
// session.c: one world being hosted: its players, its clock, its recording. Receiving enqueues, the
// tick acts: inputs wait here until their tick is closed. While a step runs, nothing here touches
// the world.
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "crypto/crypto.h"

#define PLAYERS_SHARE 4             // an address may have a quarter of a session's places,
#define PLAYERS_MIN 2               // and so many at least
#define RECORDED_NS_MAX 1000000000u // that a welcome waits for a slow disk

static const foliot_player_proof no_proof; // all zero

uint32_t foliot__session_ticks(const foliot__session *session, double seconds)
{
    double ticks = session->pace_hz * seconds;
    return ticks < 1 ? 1 : ticks > 1e6 ? 1000000 : (uint32_t)ticks;
}

static uint32_t every(const foliot_server *server, double pace_hz)
{
    double hz = server->config.snapshot_hz;
    if (!(hz > 0) || hz >= pace_hz)
        return 1;
    return (uint32_t)(pace_hz / hz + 0.5);
}

// What newcomers are sent to make a world or another simulation of: canonical bytes of the scene,
// or its setup.
static foliot_status keep_setup(foliot__session *s, const foliot_session_config *config)
{
    if (config->simulation) {
        s->scene_length = config->simulation->setup_bytes;
        s->scene_bytes = malloc(s->scene_length + 1);
        if (s->scene_bytes && s->scene_length)
            memcpy(s->scene_bytes, config->simulation->setup, s->scene_length);
        return s->scene_bytes ? FOLIOT_STATUS_OK : FOLIOT_STATUS_MEMORY;
    }
    foliot_status status = foliot_scene_encode(s->scene, NULL, 0, &s->scene_length);
    if (status == FOLIOT_STATUS_OK)
        s->scene_bytes = malloc(s->scene_length);
    if (status == FOLIOT_STATUS_OK && s->scene_bytes)
        status = foliot_scene_encode(s->scene, s->scene_bytes, s->scene_length, &s->scene_length);
    return status == FOLIOT_STATUS_OK && !s->scene_bytes ? FOLIOT_STATUS_MEMORY : status;
}

static foliot_status open_mode(foliot__session *s, const foliot_session_config *config)
{
    if (config->mode == FOLIOT_SESSION_LOCKSTEP) {
        s->format = s->scene ? foliot_snapshot_format_default(s->scene)
                             : (foliot_snapshot_format){1, 1, {0}, 1 << 16, 0, 0, 0};
        return foliot__lockstep_create(s, config);
    }
    foliot_status status = foliot__fanout_init(s);
    if (status != FOLIOT_STATUS_OK)
        return status;
    // The world as it is now is the first that newcomers are given.
    s->newest_snapshot = s->tick;
    return foliot_snapshot_quantise(&s->format, s->world, foliot__fanout_next(s, s->tick));
}

// Players who were there when the server that wrote this recording died: their places are kept as
// after a lost peer.
static void keep_players(foliot__session *s)
{
    const foliot_resumption *resumed = s->recording ? foliot_recording_get_resumption(s->recording) : NULL;
    for (uint32_t p = 0; p < s->player_limit; p++) {
        s->players[p].peer = -1;
        if (!s->world || foliot_world_get_player_body(s->world, p) == FOLIOT_NO_BODY)
            continue;
        s->players[p].state = FOLIOT__PLAYER_IN_WORLD; // though nobody may know it again
        s->players[p].lost_ns = s->server->now_ns;
        s->players[p].next_sequence = 1;
    }
    for (uint32_t i = 0; resumed && i < resumed->player_count; i++) {
        const foliot_recorded_player *r = &resumed->players[i];
        if (r->player >= s->player_limit)
            continue;
        foliot__player_slot *player = &s->players[r->player];
        player->state = FOLIOT__PLAYER_IN_WORLD;
        player->lost_ns = s->server->now_ns;
        if (r->join_sequence) {
            player->proof = r->proof;
            player->before = r->before;
            player->same = true;
        }
        player->join_sequence = r->join_sequence;
        player->input_sequence = r->sequence;
        player->next_sequence = r->sequence - r->join_sequence + 1;
        player->gap = true;
        memcpy(player->name, r->name, sizeof player->name);
    }
}

foliot_status foliot__session_create(foliot_server *server, const foliot_session_config *config,
                                     foliot__session **out)
{
    foliot__session *s = calloc(1, sizeof *s);
    if (!s)
        return FOLIOT_STATUS_MEMORY;
    s->server = server;
    snprintf(s->name, sizeof s->name, "%s", config->name);
    s->scene = config->simulation ? NULL : config->scene;
    s->world = config->simulation ? NULL : config->world;
    s->recording = config->recording;
    s->host = config->host;
    s->pace_hz = config->pace_hz;
    s->tick = s->first_tick = config->simulation ? foliot_simulation_get_tick(config->simulation)
                                                 : foliot_world_get_tick(config->world);
    s->last_tick = config->ticks ? s->first_tick + config->ticks : UINT64_MAX;
    s->base_ns = server->now_ns;
    s->snapshot_every = every(server, config->pace_hz);
    s->delay_ticks =
        config->spectator_delay_s > 0 ? foliot__session_ticks(s, config->spectator_delay_s) : 0;
    s->player_limit =
        config->simulation ? config->player_limit : foliot_world_get_players_max(config->world);
    s->input_capacity = s->player_limit * (FOLIOT__CHANGES_HELD + 2) + 1;
    s->players = calloc(s->player_limit ? s->player_limit : 1, sizeof *s->players);
    s->inputs = calloc(s->input_capacity, sizeof *s->inputs);
    foliot_status status = s->players && s->inputs ? keep_setup(s, config) : FOLIOT_STATUS_MEMORY;
    if (status == FOLIOT_STATUS_OK)
        status = open_mode(s, config);
    if (status != FOLIOT_STATUS_OK) {
        s->world = NULL; // stays the caller's
        foliot__session_destroy(s);
        return status;
    }
    keep_players(s);
    if (s->recording)
        s->recorded = foliot_recording_note_session(s->recording, s->name, s->lockstep != NULL);
    *out = s;
    return FOLIOT_STATUS_OK;
}

void foliot__session_destroy(foliot__session *session)
{
    if (!session)
        return;
    foliot__fanout_close(session);
    foliot__lockstep_destroy(session);
    foliot_world_destroy(session->world);
    free(session->players);
    free(session->inputs);
    free(session->scene_bytes);
    free(session);
}

// Integer multiples of the period, rounded once: no drift however long it runs.
uint64_t foliot__session_due_ns(const foliot__session *session, uint64_t tick)
{
    double ticks = (double)(int64_t)(tick + 1 - session->first_tick);
    return session->base_ns + (uint64_t)(int64_t)(ticks * 1e9 / session->pace_hz);
}

// A pause that is caught up is none of a player's business; a world that is always late is: the
// least of a window counts.
static void note_lag(foliot__session *s)
{
    uint64_t now = s->server->now_ns, due = foliot__session_due_ns(s, s->tick),
             lag = now > due ? now - due : 0;
    if (now - s->lag_window_ns > FOLIOT__LAG_WINDOW_NS) {
        s->lag_before_ns = s->lag_ns;
        s->lag_ns = lag;
        s->lag_window_ns = now;
    }
    if (lag < s->lag_ns)
        s->lag_ns = lag;
}

uint64_t foliot__session_closes_ns(const foliot__session *session, uint64_t tick)
{
    uint64_t lag =
        session->lag_ns < session->lag_before_ns ? session->lag_ns : session->lag_before_ns;
    return foliot__session_due_ns(session, tick) + lag;
}

// -- players

static foliot_player_proof proof_of(const foliot__token *token)
{
    foliot_player_proof proof = {{0}};
    if (!foliot__token_is_none(token))
        foliot__one_way(token, sizeof *token, proof.bytes);
    return proof;
}

static bool same_proof(const foliot_player_proof *a, const foliot_player_proof *b)
{
    return foliot__secrets_equal(a, b, sizeof *a);
}

static void give_token(const foliot_server *server, foliot__player_slot *player)
{
    foliot__random_source *random =
        server->config.random ? server->config.random : foliot__system_random;
    do
        random(server->config.random_user, &player->token, sizeof player->token);
    while (foliot__token_is_none(&player->token));
    player->proof = proof_of(&player->token);
}

static void announce(foliot__session *session, uint32_t player, bool joined)
{
    foliot__message m = {.kind = FOLIOT__PLAYER};
    m.as.player.player = player;
    m.as.player.joined = joined;
    m.as.player.slot = FOLIOT_NO_BODY;
    if (!session->running && joined && session->world)
        m.as.player.slot = foliot_world_get_player_body(session->world, player);
    memcpy(m.as.player.name, session->players[player].name, sizeof m.as.player.name);
    foliot__server_tell(session, &m);
}

// Whose player comes back: who has its token, or who was given it but has not heard so, and asks
// again with the one that he had before. Looks at all of them whichever it is.
static uint32_t find_player(const foliot__session *session, const foliot__token *token)
{
    uint32_t found = FOLIOT__NO_PLAYER;
    foliot_player_proof proof = proof_of(token);
    if (foliot__token_is_none(token))
        return found;
    for (uint32_t p = 0; p < session->player_limit; p++) {
        const foliot__player_slot *player = &session->players[p];
        bool here =
            player->state == FOLIOT__PLAYER_ENTERING || player->state == FOLIOT__PLAYER_IN_WORLD;
        bool is_new = same_proof(&player->proof, &proof),
             is_before = same_proof(&player->before, &proof);
        if (here && !player->leaves && (is_new || is_before))
            found = p;
    }
    return found;
}

bool foliot__session_knows(const foliot__session *session, const foliot__token *token)
{
    return find_player(session, token) != FOLIOT__NO_PLAYER;
}

// The token that he came with holds until he shows that he has heard the new one.
static void resume(foliot__session *session, foliot__player_slot *player,
                   const foliot__token *token, uint32_t peer)
{
    foliot_player_proof proof = proof_of(token);
    if (same_proof(&player->proof,
                   &proof)) { // so its welcome was heard, though no input may have said so yet
        if (player->same && !same_proof(&player->before, &no_proof))
            player->spent = player->before;
        player->same = player->heard = true;
    }
    player->before = proof;
    give_token(session->server, player);
    player->rotated = true;
    session->server->counters.tokens_rotated++;
    if (player->peer >= 0 && player->peer != (int64_t)peer)
        foliot__server_supersede(session->server, (uint32_t)player->peer);
    player->peer = peer;
}

// A token that was replaced, and whose owner had heard so: he lost the new one, or somebody has
// stolen it.
static void tell_spent(foliot__session *session, const foliot__token *token)
{
    foliot_player_proof proof = proof_of(token);
    for (uint32_t p = 0; !foliot__token_is_none(token) && p < session->player_limit; p++) {
        const foliot__player_slot *player = &session->players[p];
        if (player->state == FOLIOT__PLAYER_NONE || !same_proof(&player->spent, &proof))
            continue;
        session->server->counters.tokens_spent++;
        foliot__server_event(session->server, FOLIOT_SERVER_SPENT, session, p, 0, player->name);
    }
}

static uint32_t free_player(const foliot__session *session)
{
    for (uint32_t p = 0; p < session->player_limit; p++)
        if (session->players[p].state == FOLIOT__PLAYER_NONE)
            return p;
    return FOLIOT__NO_PLAYER;
}

bool foliot__session_over_address(const foliot__session *session, uint64_t host)
{
    uint32_t most = session->server->config.players_per_address_max, held = 0;
    if (most == 0)
        most = session->player_limit / PLAYERS_SHARE < PLAYERS_MIN
                   ? PLAYERS_MIN
                   : session->player_limit / PLAYERS_SHARE;
    for (uint32_t p = 0; p < session->player_limit; p++)
        held +=
            session->players[p].state != FOLIOT__PLAYER_NONE && session->players[p].host == host;
    return host != 0 && held >= most;
}

uint32_t foliot__session_enter(foliot__session *session, const foliot__hello_message *hello,
                               uint32_t peer, bool *resumed)
{
    uint64_t host = foliot_transport_get_peer_address_key(session->server->config.transport,
                                               session->server->peers[peer].id);
    uint32_t found = find_player(session, &hello->token);
    *resumed = found != FOLIOT__NO_PLAYER;
    if (*resumed) {
        resume(session, &session->players[found], &hello->token, peer);
        session->players[found].host = host;
        return found;
    }
    tell_spent(session, &hello->token);
    found = free_player(session);
    if (found == FOLIOT__NO_PLAYER)
        return found;
    foliot__player_slot *player = &session->players[found];
    uint32_t input_sequence = player->input_sequence;
    memset(player, 0, sizeof *player);
    player->state = FOLIOT__PLAYER_ENTERING;
    player->peer = peer;
    player->host = host;
    give_token(session->server, player);
    player->before = proof_of(&hello->token); // of a player that is gone
    player->next_sequence = 1;
    player->input_sequence = input_sequence;
    if (session->lockstep) // of who had the place before
        foliot__stream_restart(&session->lockstep->streams[found]);
    memcpy(player->name, hello->name, sizeof player->name);
    if (!*player->name) // others want to call him something
        snprintf(player->name, sizeof player->name, "player-%u", found);
    return found;
}

void foliot__session_heard(foliot__session *session, const foliot__peer *peer)
{
    foliot__player_slot *player =
        peer->player == FOLIOT__NO_PLAYER ? NULL : &session->players[peer->player];
    if (!player || foliot__token_is_none(&player->token))
        return;
    if (player->same)
        player->spent = player->before;
    player->heard = !same_proof(&player->before, &no_proof); // to be noted
    player->before = no_proof;
    foliot__forget(&player->token, sizeof player->token);
}

void foliot__session_peer_lost(foliot__session *session, uint32_t index, bool for_good)
{
    foliot__player_slot *player = &session->players[index];
    player->peer = -1;
    player->lost_ns = session->server->now_ns;
    if (for_good && player->state == FOLIOT__PLAYER_ENTERING)
        player->leaves = true; // after it has come, so that what is recorded has both
    else if (for_good && player->state != FOLIOT__PLAYER_NONE)
        player->state = FOLIOT__PLAYER_LEAVING;
}

static void expire_lost_players(foliot__session *session)
{
    uint64_t keep_ns = (uint64_t)session->server->config.reconnect_ms * 1000000u;
    for (uint32_t p = 0; p < session->player_limit; p++) {
        foliot__player_slot *player = &session->players[p];
        bool over = player->leaves || session->server->now_ns - player->lost_ns >= keep_ns;
        if (player->state == FOLIOT__PLAYER_IN_WORLD && player->peer < 0 && over)
            player->state = FOLIOT__PLAYER_LEAVING;
    }
}

// -- inputs

static void hold_change(foliot__session *session, foliot__player_slot *player,
                        const foliot__change *change)
{
    foliot_server_counters *counters = &session->server->counters;
    if (player->change_count == FOLIOT__CHANGES_HELD ||
        (int64_t)change->tick - (int64_t)session->tick > FOLIOT__TICKS_AHEAD_MAX) {
        counters->inputs_refused++;
        player->next_sequence++; // it is dropped, counted, and not asked for again
        return;
    }
    uint32_t at = (player->change_first + player->change_count++) % FOLIOT__CHANGES_HELD;
    player->changes[at] = *change;
    player->next_sequence++;
    counters->inputs++;
}

// After a server's death the oldest change that a client still has may not be the next one.
static bool skips_gap(foliot__player_slot *player, const foliot__change *change)
{
    if (!player->gap || change->sequence - player->next_sequence > FOLIOT__GAP_MAX)
        return false;
    player->next_sequence = change->sequence;
    return true;
}

void foliot__session_take_input(foliot__session *session, foliot__peer *peer,
                                const foliot__input_packet *packet)
{
    foliot_server *server = session->server;
    if (peer->heard_ns == 0) // it has heard the welcome, which went ahead of all snapshots
        foliot__thinning_begin(&peer->thinning, server->arrived_ns - peer->greeted_ns);
    bool newer = peer->heard_ns == 0 || (int32_t)(packet->sent_us - peer->echo_us) > 0;
    if (newer) {
        peer->heard_ns = server->arrived_ns;
        peer->echo_us = packet->sent_us;
        peer->newest_tick = packet->tick;
    }
    if (packet->newest_snapshot != FOLIOT__NO_TICK &&
        packet->newest_snapshot <= foliot__fanout_shown(session, peer) &&
        (!peer->acknowledged || packet->newest_snapshot > peer->baseline_tick) &&
        foliot__fanout_find(session, packet->newest_snapshot)) {
        if (peer->acknowledged) // of the first there were several copies
            foliot__fanout_heard(session, peer, packet->newest_snapshot);
        peer->acknowledged = peer->has_baseline = true;
        peer->baseline_tick = packet->newest_snapshot;
    }
    if (peer->player == FOLIOT__NO_PLAYER)
        return;
    foliot__player_slot *player = &session->players[peer->player];
    for (uint32_t i = 0; i < packet->count; i++) {
        const foliot__change *change = &packet->changes[i];
        if (change->sequence < player->next_sequence)
            server->counters.inputs_repeated++;
        else if (change->sequence == player->next_sequence || skips_gap(player, change))
            hold_change(session, player, change);
        player->gap = false;
    }
}

static void give(foliot__session *session, uint32_t player, uint32_t sequence, foliot_input input)
{
    FOLIOT_ASSERT(session->input_count < session->input_capacity);
    input.player = player;
    input.sequence = session->players[player].input_sequence = sequence;
    session->inputs[session->input_count++] = input;
}

static void collect_stream(foliot__session *session, uint32_t p)
{
    foliot_input inputs[FOLIOT__STREAM_INPUTS_MAX];
    uint32_t count = foliot__stream_close(session, p, inputs);
    for (uint32_t i = 0; i < count; i++)
        give(session, p, session->players[p].input_sequence + 1, inputs[i]);
}

// The first status that is not fine says why the recording is not whole.
static void note_recorded(foliot__session *s, foliot_status status)
{
    s->recorded = s->recorded == FOLIOT_STATUS_OK ? status : s->recorded;
}

static void enter(foliot__session *session, uint32_t p)
{
    foliot__player_slot *player = &session->players[p];
    if (session->recording)
        note_recorded(session, foliot_recording_note_player(session->recording, p, player->name,
                                                            player->rotated ? player->before
                                                                            : player->proof));
    player->join_sequence = player->input_sequence + 1;
    give(session, p, player->join_sequence, (foliot_input){.kind = FOLIOT_INPUT_JOIN});
    player->state = FOLIOT__PLAYER_IN_WORLD;
}

// What became of its token, in order: one that was heard is, before another follows it.
static void note_token(foliot__session *session, uint32_t p)
{
    foliot__player_slot *player = &session->players[p];
    if (session->recording && player->heard)
        note_recorded(session, foliot_recording_note_acknowledged(session->recording, p));
    if (session->recording && player->rotated) {
        note_recorded(session, foliot_recording_note_token(session->recording, p, player->proof));
        player->noted_tick = session->tick + 1;
        player->noted_ns = session->server->now_ns;
        session->notes_tokens = true;
    }
    player->rotated = player->heard = false;
}

// What one player does in the tick that is closed now, in order.
static void collect(foliot__session *session, uint32_t p)
{
    foliot__player_slot *player = &session->players[p];
    if (player->state == FOLIOT__PLAYER_ENTERING)
        enter(session, p);
    note_token(session, p);
    if (player->state == FOLIOT__PLAYER_IN_WORLD && session->lockstep)
        collect_stream(session, p);
    while (player->state == FOLIOT__PLAYER_IN_WORLD && player->change_count > 0) {
        const foliot__change *change = &player->changes[player->change_first];
        if (change->tick > session->tick)
            break;
        if (change->tick < session->tick) {
            player->late_changes++;
            session->server->counters.inputs_late++;
        }
        foliot_input input = {.kind = FOLIOT_INPUT_CONTROL, .buttons = change->buttons};
        memcpy(input.axes, change->axes, sizeof input.axes);
        give(session, p, player->join_sequence + change->sequence, input);
        player->change_first = (player->change_first + 1) % FOLIOT__CHANGES_HELD;
        player->change_count--;
    }
    if (player->state == FOLIOT__PLAYER_LEAVING) {
        give(session, p, player->input_sequence + 1, (foliot_input){.kind = FOLIOT_INPUT_LEAVE});
        foliot__server_event(session->server, FOLIOT_SERVER_LEFT, session, p, 0, player->name);
        session->server->counters.leaves++;
        announce(session, p, false);
        session->server->counters.inputs_abandoned += player->change_count;
        player->change_count = 0;
        player->state = FOLIOT__PLAYER_NONE;
    }
}

// -- ticks

static foliot_status step_simulation(foliot__session *s)
{
    return s->world ? foliot_world_step(s->world, s->inputs, s->input_count, s->host)
                    : foliot_simulation_step(&s->lockstep->simulation, s->inputs, s->input_count);
}

// Once stopped, a recording counts what is missing.
static void record_step(foliot__session *s)
{
    if (!s->recording)
        return;
    note_recorded(
        s, s->world ? foliot_recording_append(s->recording, s->world, s->inputs, s->input_count)
                    : foliot_recording_append_simulation(s->recording, &s->lockstep->simulation,
                                                         s->inputs, s->input_count));
}

// On a worker, or inline: the world is this function's until `finished`.
static void run_step(void *job)
{
    foliot__session *s = job;
    s->stepped = step_simulation(s);
    s->captured = FOLIOT_STATUS_OK;
    if (s->stepped == FOLIOT_STATUS_OK && s->lockstep) {
        s->lockstep->digest = foliot_simulation_get_digest(&s->lockstep->simulation);
        foliot__keyframe_save(s);
    }
    if (s->stepped == FOLIOT_STATUS_OK)
        record_step(s);
    if (s->stepped == FOLIOT_STATUS_OK && s->step_snapshot)
        s->captured =
            foliot_snapshot_quantise(&s->format, s->world, foliot__fanout_next(s, s->tick + 1));
    atomic_store_explicit(&s->finished, true, memory_order_release);
}

static void start_step(foliot__session *s)
{
    foliot_server *server = s->server;
    s->input_count = 0;
    expire_lost_players(s);
    for (uint32_t p = 0; p < s->player_limit; p++)
        collect(s, p);
    if (s->lockstep)
        foliot__lockstep_closed(s);
    s->running = true;
    s->step_snapshot = !s->lockstep && (s->tick + 1) % s->snapshot_every == 0;
    atomic_store_explicit(&s->finished, false, memory_order_relaxed);
    if (server->config.start)
        server->config.start(server->config.start_user, run_step, s);
    else
        run_step(s);
}

static void tell_what_happened(foliot__session *s)
{
    foliot_server *server = s->server;
    const foliot_world_counters *world = foliot_world_get_counters(s->world);
    if (world->frozen_bodies > s->frozen_told) {
        s->frozen_told = world->frozen_bodies;
        foliot__server_event(server, FOLIOT_SERVER_FROZEN, s, FOLIOT__NO_PLAYER,
                             world->first_frozen_body, "");
    }
    if (s->recording && s->recorded != FOLIOT_STATUS_OK) {
        foliot_recording_state state = foliot_recording_get_state(s->recording);
        server->counters.ticks_unrecorded += state.ticks_lost - s->ticks_lost;
        s->ticks_lost = state.ticks_lost;
        if (!s->recording_told)
            foliot__server_event(server, FOLIOT_SERVER_RECORDING_STOPPED, s, FOLIOT__NO_PLAYER, 0,
                                 state.stopped_errno ? strerror(state.stopped_errno)
                                                     : foliot_status_get_text(s->recorded));
        s->recording_told = true;
    }
    uint32_t count;
    const foliot_event *events = foliot_world_get_events(s->world, &count);
    for (uint32_t i = 0; i < count; i++)
        if (events[i].kind == FOLIOT_EVENT_SPAWN && events[i].b < s->player_limit)
            announce(s, events[i].b, true);
}

// Where ticks are made up for, the next snapshot is due already: sending both to all would only
// make the host later still. Once in a period one is sent all the same, however late the host is.
static bool superseded(const foliot__session *s)
{
    uint64_t now = s->server->now_ns,
             next = foliot__session_due_ns(s, s->tick + s->snapshot_every - 1);
    return s->tick < s->last_tick && now >= next &&
           (double)(now - s->broadcast_ns) < 1e9 * s->snapshot_every / s->pace_hz;
}

static void send_snapshot(foliot__session *s)
{
    s->newest_snapshot = s->tick;
    if (superseded(s)) {
        s->server->counters.snapshots_superseded++;
        return;
    }
    s->broadcast_ns = s->server->now_ns;
    foliot__fanout_broadcast(s);
    foliot_transport_flush(s->server->config.transport, s->server->now_ns);
}

// The block in progress goes to the disk now, not when it is full.
static void write_block(foliot__session *s)
{
    note_recorded(s, foliot_recording_flush(s->recording));
    note_recorded(s, foliot_recording_drain(s->recording));
}

// The notes of this step are safe as soon as can be.
static void write_tokens(foliot__session *s)
{
    if (!s->notes_tokens)
        return;
    s->notes_tokens = false;
    write_block(s);
}

// A server that died right after a welcome must know the token that it gave.
static bool token_recorded(const foliot__session *s, const foliot__player_slot *player)
{
    if (!s->recording || s->ended)
        return true;
    if (player->rotated)
        return false;
    foliot_recording_state state = foliot_recording_get_state(s->recording);
    return state.stopped != FOLIOT_STATUS_OK || state.written_tick >= player->noted_tick ||
           s->server->now_ns - player->noted_ns >= RECORDED_NS_MAX;
}

void foliot__session_welcome_awaiting(foliot__session *s)
{
    foliot_server *server = s->server;
    bool any = s->awaiting;
    s->awaiting = false;
    for (uint32_t i = 0; any && i < server->peers_max; i++) {
        foliot__peer *peer = &server->peers[i];
        if (peer->state != FOLIOT__PEER_AWAITING || peer->session != s)
            continue;
        if (token_recorded(s, &s->players[peer->player]))
            foliot__server_welcome(server, peer);
        else
            s->awaiting = true;
    }
}

// A tick that could not be stepped or shown ends the session: what was recorded is whole, and all
// peers are told.
static void fail(foliot__session *s, foliot_status status)
{
    char why[FOLIOT__SENTENCE_BYTES];
    s->ended = true;
    s->failed = status;
    if (s->recording)
        write_block(s);
    snprintf(why, sizeof why, "the step of tick %llu failed: %s", (unsigned long long)s->tick,
             foliot_status_get_text(status));
    foliot__server_event(s->server, FOLIOT_SERVER_STEP_FAILED, s, FOLIOT__NO_PLAYER, 0, why);
    foliot__server_dismiss(s, why);
}

// Takes in a step that has finished.
static void finish_step(foliot__session *s)
{
    s->running = false;
    if (s->stepped != FOLIOT_STATUS_OK) {
        fail(s, s->stepped);
        return;
    }
    s->tick++;
    write_tokens(s);
    s->server->counters.ticks++;
    note_lag(s);
    if (s->lockstep) {
        foliot__keyframe_saved(s);
        foliot__judge_stepped(s);
    }
    if (s->world)
        tell_what_happened(s);
    if (s->captured != FOLIOT_STATUS_OK) {
        fail(s, s->captured);
        return;
    }
    if (s->step_snapshot)
        send_snapshot(s);
    if (s->tick >= s->last_tick) {
        s->ended = true;
        foliot__server_event(s->server, FOLIOT_SERVER_ENDED, s, FOLIOT__NO_PLAYER,
                             s->tick - s->first_tick, "");
    }
}

static void count_late(foliot__session *s)
{
    uint64_t now = s->server->now_ns, next = foliot__session_due_ns(s, s->tick + 1);
    bool late = now >= next;
    uint64_t bin = (now - foliot__session_due_ns(s, s->tick)) / 1000 / FOLIOT__LATENESS_BIN_US;
    s->server->lateness[bin < FOLIOT__LATENESS_BINS ? bin : FOLIOT__LATENESS_BINS - 1]++;
    if (late)
        s->server->counters.ticks_late++;
    if (late && !s->running_late)
        foliot__server_event(
            s->server, FOLIOT_SERVER_LATE, s, FOLIOT__NO_PLAYER,
            (uint64_t)((double)(now - foliot__session_due_ns(s, s->tick)) * 1e-9 * s->pace_hz), "");
    s->running_late = late;
}

void foliot__session_update(foliot__session *s)
{
    foliot_server *server = s->server;
    for (uint32_t i = 0; i <= server->config.catch_up_ticks; i++) {
        if (s->running && !atomic_load_explicit(&s->finished, memory_order_acquire))
            return;
        if (s->running)
            finish_step(s);
        foliot__session_welcome_awaiting(s);
        if (s->ended || server->stopping || i == server->config.catch_up_ticks ||
            server->now_ns < foliot__session_due_ns(s, s->tick))
            return;
        count_late(s);
        start_step(s);
    }
}
