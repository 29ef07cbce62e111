// SPDX-License-Identifier: MIT
// step.c: the ticks of a session: a due tick is closed with the inputs that wait for it, stepped on
// a worker and taken in again. While a step runs, nothing here touches the world.
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "admission.h"
#include "fanout.h"
#include "game.h"
#include "lockstep.h"
#include "peer.h"
#include "player.h"
#include "session.h"

// -- closing

static void announce(foliot__session *session, uint32_t player, bool joined)
{
    foliot__player_slot *p = &session->players[player];
    foliot__message m = {.kind = FOLIOT__PLAYER};
    m.as.player.player = player;
    m.as.player.joined = joined;
    m.as.player.slot = FOLIOT_NO_BODY;
    if (!session->step.running && joined && session->world)
        m.as.player.slot = foliot_world_get_player_body(session->world, player);
    memcpy(m.as.player.name, p->name, sizeof m.as.player.name);
    foliot__session_send(session, &m);
    p->announced = joined;
    p->announced_body = m.as.player.slot;
}

static void add_input(foliot__session *session, uint32_t player, uint32_t sequence,
                      foliot_input input)
{
    FOLIOT_ASSERT(session->step.input_count < session->step.input_capacity);
    input.player = player;
    input.sequence = session->players[player].input.sequence = sequence;
    session->step.inputs[session->step.input_count++] = input;
}

// An input acts in its turn. One that came the other way than a newer one that has acted, as
// happens where a player became a watcher or a stepper in between, would undo that: it is too late.
static bool give_input(foliot__session *session, uint32_t p, const foliot__queued_input *queued)
{
    foliot__player_input *input = &session->players[p].input;
    bool changes = queued->way == FOLIOT__INPUT_BY_CHANGE;
    if (changes && queued->tick < session->tick) {
        input->late_changes++;
        session->server->counters.inputs_late++;
    }
    if (queued->tick < input->newest_meant && queued->way != input->newest_way) {
        session->server->counters.inputs_superseded++;
        return false;
    }
    if (queued->tick >= input->newest_meant) {
        input->newest_meant = queued->tick;
        input->newest_way = queued->way;
    }
    // Where there are steppers, who count, sequences have no holes.
    uint32_t next = input->sequence + 1, sequence = input->join_sequence + queued->input.sequence;
    add_input(session, p, !changes || session->lockstep || sequence < next ? next : sequence,
              queued->input);
    return true;
}

// Controls that came by change and by tick. True if there were any; then *shown is what the player
// saw when the last of them was made.
static bool collect_controls(foliot__session *session, uint32_t p, uint64_t *shown)
{
    bool changed = false;
    foliot__queued_input queued;
    if (session->lockstep)
        foliot__stream_close(session, p);
    while (foliot__input_queue_pop(&session->players[p].input.queue, session->tick, &queued))
        if (give_input(session, p, &queued)) {
            *shown = queued.shown;
            changed = true;
        }
    return changed;
}

// What the player saw when its controls changed in this tick; what it sees while it holds a button.
static void aim_controls(foliot__session *session, uint32_t p, bool changed, uint64_t shown)
{
    const foliot__player_slot *player = &session->players[p];
    if (!session->game.looks_back || player->state != FOLIOT__PLAYER_IN_WORLD)
        return;
    if (changed)
        foliot__orders_close_aimed(session, p, shown, false);
    else if (foliot_world_get_player_controls(session->world, p).buttons)
        foliot__orders_close_aimed(
            session, p, foliot__shown_of(session->tick, player->input.shown_before), true);
}

// The first status that is not fine says why the recording is not whole.
static void note_recorded(foliot__session *s, foliot_status status)
{
    s->record.status = s->record.status == FOLIOT_STATUS_OK ? status : s->record.status;
}

static void join_world(foliot__session *session, uint32_t p)
{
    foliot__player_slot *player = &session->players[p];
    if (session->recording)
        note_recorded(session,
                      foliot_recording_note_player(session->recording, p, player->name,
                                                   player->token.rotated ? player->token.before
                                                                         : player->token.proof));
    foliot__orders_close_joined(session, p);
    player->input.join_sequence = player->input.sequence + 1;
    add_input(session, p, player->input.join_sequence, (foliot_input){.kind = FOLIOT_INPUT_JOIN});
    player->state = FOLIOT__PLAYER_IN_WORLD;
}

// What became of its token, in order: one that was heard is, before another follows it.
static void note_token(foliot__session *session, uint32_t p)
{
    foliot__player_slot *player = &session->players[p];
    if (session->recording && player->token.acknowledged)
        note_recorded(session, foliot_recording_note_acknowledged(session->recording, p));
    if (session->recording && player->token.rotated) {
        note_recorded(session,
                      foliot_recording_note_token(session->recording, p, player->token.proof));
        player->token.noted_tick = session->tick + 1;
        player->token.noted_ns = session->server->now_ns;
        session->step.notes_tokens = true;
    }
    player->token.rotated = player->token.acknowledged = false;
}

// What one player does in the tick that is closed now, in order.
static void collect_inputs(foliot__session *session, uint32_t p)
{
    foliot__player_slot *player = &session->players[p];
    if (player->state == FOLIOT__PLAYER_ENTERING)
        join_world(session, p);
    note_token(session, p);
    uint64_t shown = 0;
    bool changed = player->state == FOLIOT__PLAYER_IN_WORLD && collect_controls(session, p, &shown);
    aim_controls(session, p, changed, shown);
    foliot__orders_close(session, p, player->state == FOLIOT__PLAYER_LEAVING);
    if (player->state == FOLIOT__PLAYER_LEAVING) {
        foliot__orders_close_left(session, p);
        add_input(session, p, player->input.sequence + 1,
                  (foliot_input){.kind = FOLIOT_INPUT_LEAVE});
        foliot__server_event(session->server, FOLIOT_SERVER_LEFT, session, p, 0, player->name);
        session->server->counters.leaves++;
        announce(session, p, false);
        session->server->counters.inputs_abandoned +=
            player->input.queue.counts[FOLIOT__INPUT_BY_CHANGE];
        foliot__input_queue_drop(&player->input.queue, FOLIOT__INPUT_BY_CHANGE);
        player->state = FOLIOT__PLAYER_NONE;
        session->players_here--;
    }
}

// -- stepping

static foliot_tick_inputs inputs_of(const foliot__session *s)
{
    return (foliot_tick_inputs){s->step.inputs, s->step.input_count, s->game.commands.commands,
                                s->game.commands.count};
}

static foliot_status step_simulation(foliot__session *s)
{
    foliot_tick_inputs tick = inputs_of(s);
    if (s->lockstep && s->lockstep->lost_commands)
        return FOLIOT_STATUS_MEMORY;
    return foliot_simulation_step_tick(&s->simulation, &tick);
}

// Orders are recorded where something can come of them: of a world that takes commands or has
// rules, and of another simulation that turns them into commands.
static foliot_status append_step(foliot__session *s)
{
    const foliot__game *game = &s->game;
    foliot_tick_inputs tick = inputs_of(s);
    bool with_orders =
        s->world ? game->commands_max > 0 || game->rules : s->simulation.kind->order != NULL;
    return foliot_recording_append(s->recording, &s->simulation, &tick, game->orders,
                                   with_orders ? game->order_count : 0);
}

// Once stopped, a recording counts what is missing.
static void record_step(foliot__session *s)
{
    if (s->recording)
        note_recorded(s, append_step(s));
}

// On a worker, or inline: the world is this function's until `finished`.
static void run_step(void *job)
{
    foliot__session *s = job;
    s->step.stepped = step_simulation(s);
    s->step.captured = FOLIOT_STATUS_OK;
    if (s->step.stepped == FOLIOT_STATUS_OK)
        foliot__rules_run(s);
    if (s->step.stepped == FOLIOT_STATUS_OK && s->lockstep) {
        s->lockstep->digest = foliot_simulation_get_digest(&s->simulation);
        foliot__keyframe_save(s);
    }
    if (s->step.stepped == FOLIOT_STATUS_OK)
        record_step(s);
    if (s->step.stepped == FOLIOT_STATUS_OK && s->step.captures)
        s->step.captured = foliot_snapshot_quantise(&s->snapshots.format, s->world,
                                                    foliot__fanout_next(s, s->tick + 1));
    // The last thing that is done with the session here: it may be gone right after.
    atomic_fetch_or_explicit(&s->server->schedule.finished[s->index / 64],
                             (uint64_t)1 << (s->index % 64), memory_order_release);
}

static void start_step(foliot__session *s)
{
    foliot_server *server = s->server;
    s->step.input_count = s->game.order_count = 0;
    if (s->players_here)
        foliot__players_expire(s);
    foliot__commands_close(s);
    for (uint32_t p = 0; s->players_here && p < s->player_limit; p++)
        collect_inputs(s, p);
    foliot__commands_apply_orders(s);
    if (s->lockstep)
        foliot__lockstep_closed(s);
    s->step.running = true;
    s->step.began_ns = server->now_ns;
    s->step.captures = foliot__session_is_watched(s) && (s->tick + 1) % s->snapshots.every == 0;
    if (server->config.start)
        server->config.start(server->config.start_user, run_step, s);
    else
        run_step(s);
}

// -- taking in

// Who joined, and whose body is another one since: a game may give players theirs, and take them.
static void announce_players(foliot__session *s)
{
    bool bodiless = s->scene && s->scene->players.bodiless;
    for (uint32_t p = 0; s->players_here && p < s->player_limit; p++) {
        const foliot__player_slot *player = &s->players[p];
        if (player->state != FOLIOT__PLAYER_IN_WORLD)
            continue;
        uint32_t body = foliot_world_get_player_body(s->world, p);
        if (player->announced ? body != player->announced_body : bodiless || body != FOLIOT_NO_BODY)
            announce(s, p, true);
    }
}

static void report_world(foliot__session *s)
{
    const foliot_world_counters *world = foliot_world_get_counters(s->world);
    if (world->frozen_bodies > s->step.frozen_reported) {
        s->step.frozen_reported = world->frozen_bodies;
        foliot__server_event(s->server, FOLIOT_SERVER_FROZEN, s, FOLIOT__NO_PLAYER,
                             world->first_frozen_body, "");
    }
    announce_players(s);
}

// Worlds and own simulations alike.
static void report_recording(foliot__session *s)
{
    foliot_server *server = s->server;
    if (s->recording && s->record.status != FOLIOT_STATUS_OK) {
        foliot_recording_state state = foliot_recording_get_state(s->recording);
        server->counters.ticks_unrecorded += state.ticks_lost - s->record.ticks_lost;
        s->record.ticks_lost = state.ticks_lost;
        if (!s->record.reported)
            foliot__server_event(server, FOLIOT_SERVER_RECORDING_STOPPED, s, FOLIOT__NO_PLAYER, 0,
                                 state.stopped_errno ? strerror(state.stopped_errno)
                                                     : foliot_status_get_text(s->record.status));
        s->record.reported = true;
    }
}

// Those who joined in this step. A simulation that is no world has no slots to name.
static void announce_joined(foliot__session *s)
{
    for (uint32_t i = 0; i < s->step.input_count; i++)
        if (s->step.inputs[i].kind == FOLIOT_INPUT_JOIN)
            announce(s, s->step.inputs[i].player, true);
}

// Where ticks are made up for, the next snapshot is due already: sending both to all would only
// make the host later still. Once in a period one is sent all the same, however late the host is.
static bool snapshot_superseded(const foliot__session *s)
{
    uint64_t now = s->server->now_ns,
             next = foliot__session_due_ns(s, s->tick + s->snapshots.every - 1);
    return s->tick < s->clock.last_tick && now >= next &&
           (double)(now - s->snapshots.broadcast_ns) < 1e9 * s->snapshots.every / s->clock.pace_hz;
}

static void send_snapshot(foliot__session *s)
{
    uint64_t before = s->snapshots.newest;
    s->snapshots.newest = s->tick;
    foliot__fanout_captured(s, before);
    if (snapshot_superseded(s)) {
        s->server->counters.snapshots_superseded++;
        return;
    }
    s->snapshots.broadcast_ns = s->server->now_ns;
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
    if (!s->step.notes_tokens)
        return;
    s->step.notes_tokens = false;
    write_block(s);
}

// A tick that could not be stepped or shown ends the session: what was recorded is whole, and all
// peers are told.
static void fail_session(foliot__session *s, foliot_status status)
{
    char why[FOLIOT__SENTENCE_BYTES];
    s->life.phase = FOLIOT__SESSION_ENDED;
    s->step.failed = status;
    if (s->recording)
        write_block(s);
    snprintf(why, sizeof why, "the step of tick %llu failed: %s", (unsigned long long)s->tick,
             foliot_status_get_text(status));
    foliot__server_event(s->server, FOLIOT_SERVER_STEP_FAILED, s, FOLIOT__NO_PLAYER, 0, why);
    foliot__session_dismiss(s, why);
}

// A command said so: everybody is told, and the recording is whole.
static void end_game(foliot__session *s)
{
    char why[FOLIOT__SENTENCE_BYTES];
    const char *next = "", *reason = foliot_world_get_end(s->world, &next);
    s->life.phase = FOLIOT__SESSION_ENDED;
    if (s->recording)
        write_block(s);
    snprintf(why, sizeof why, "%s", *reason ? reason : "the game has ended");
    foliot__server_event(s->server, FOLIOT_SERVER_GAME_ENDED, s, FOLIOT__NO_PLAYER,
                         s->tick - s->clock.first_tick, why);
    if (!s->life.follows_next || !next || !*next) {
        foliot__session_dismiss(s, why);
        return;
    }
    s->life.next_until_ns = s->server->now_ns + FOLIOT_SERVER_NEXT_MS * 1000000ull;
    foliot__session_call_back(s);
}

// Strict rules failed: no tick is played without them.
static void end_for_rules(foliot__session *s, const char *problem)
{
    char why[FOLIOT__SENTENCE_BYTES];
    s->life.phase = FOLIOT__SESSION_ENDED;
    if (s->recording)
        write_block(s);
    snprintf(why, sizeof why, "the rules failed: %s", problem);
    foliot__server_event(s->server, FOLIOT_SERVER_GAME_ENDED, s, FOLIOT__NO_PLAYER,
                         s->tick - s->clock.first_tick, why);
    foliot__session_dismiss(s, why);
}

// Takes in a step that has finished.
static void finish_step(foliot__session *s)
{
    s->step.running = false;
    atomic_fetch_and_explicit(&s->server->schedule.finished[s->index / 64],
                              ~((uint64_t)1 << (s->index % 64)), memory_order_relaxed);
    if (s->step.stepped != FOLIOT_STATUS_OK) {
        fail_session(s, s->step.stepped);
        return;
    }
    s->tick++;
    write_tokens(s);
    s->server->counters.ticks++;
    foliot__session_note_lag(s);
    if (s->lockstep) {
        foliot__keyframe_saved(s);
        foliot__desync_check_step(s);
    }
    report_recording(s);
    if (s->world) {
        foliot__step_events_append(s);
        report_world(s);
    } else {
        announce_joined(s);
    }
    foliot__updates_step(s);
    foliot__rules_apply_results(s);
    foliot__messages_record(s);
    foliot__orders_acknowledge(s);
    if (s->step.captured != FOLIOT_STATUS_OK) {
        fail_session(s, s->step.captured);
        return;
    }
    if (s->step.captures)
        send_snapshot(s);
    if (foliot__rules_end_session(s)) {
        end_for_rules(s, foliot__rules_end_session(s));
        return;
    }
    if (s->world && foliot_world_get_end(s->world, NULL)) {
        end_game(s);
    } else if (s->tick >= s->clock.last_tick) {
        s->life.phase = FOLIOT__SESSION_ENDED;
        foliot__server_event(s->server, FOLIOT_SERVER_ENDED, s, FOLIOT__NO_PLAYER,
                             s->tick - s->clock.first_tick, "");
    }
}

static void update(foliot__session *s)
{
    foliot_server *server = s->server;
    for (uint32_t i = 0; i <= server->config.catch_up_ticks; i++) {
        if (s->step.running && !foliot__session_has_stepped(s))
            return;
        if (s->step.running)
            finish_step(s);
        foliot__session_welcome_awaiting(s);
        foliot__kinds_update(s);
        if (foliot__session_has_ended(s) || s->life.paused || server->stop.stopping ||
            i == server->config.catch_up_ticks ||
            server->now_ns < foliot__session_due_ns(s, s->tick))
            return;
        foliot__session_count_late(s);
        start_step(s);
    }
}

void foliot__session_update(foliot__session *s)
{
    update(s);
    foliot__session_schedule(s);
    if (s->pending || (s->lockstep && s->lockstep->early.count > 0))
        foliot__set_add(s->server->schedule.touched, s->index); // some of it waits for a time
    else
        foliot__set_remove(s->server->schedule.touched, s->index);
}
