// SPDX-License-Identifier: MIT
// step.c: the ticks of a session. A due tick is closed with the inputs queued for it and stepped on
// a worker; its results are read once it has finished. Nothing here touches the world meanwhile.
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
        m.as.player.slot =
            foliot_body_id_get_slot(foliot_world_get_player_body(session->world, player));
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

// Controls by change and by tick, in the order in which they act. Rules that look back get the tick
// that the player saw when it made the last of them, or sees while it holds a button.
static void collect_controls(foliot__session *session, uint32_t p)
{
    foliot__player_input *input = &session->players[p].input;
    bool changed = false;
    uint64_t shown = 0;
    foliot__queued_input queued;
    if (session->lockstep)
        foliot__stream_close(session, p);
    while (foliot__input_queue_pop(&input->queue, session->tick, &queued)) {
        bool by_change = queued.way == FOLIOT__INPUT_BY_CHANGE;
        if (by_change && queued.tick < session->tick) {
            input->late_changes++;
            session->server->counters.inputs_late++;
        }
        // A player that became a watcher or a stepper has inputs of both ways in flight. An input
        // that would undo a newer one of the other way is too late.
        if (queued.tick < input->newest_meant && queued.way != input->newest_way) {
            session->server->counters.inputs_superseded++;
            continue;
        }
        if (queued.tick >= input->newest_meant) {
            input->newest_meant = queued.tick;
            input->newest_way = queued.way;
        }
        // Steppers count inputs: where there are any, sequences have no holes.
        uint32_t next = input->sequence + 1, own = input->join_sequence + queued.input.sequence;
        bool has_hole = by_change && !session->lockstep && own > next;
        add_input(session, p, has_hole ? own : next, queued.input);
        shown = queued.shown;
        changed = true;
    }
    if (!session->game.looks_back)
        return;
    if (changed)
        foliot__orders_close_aimed(session, p, shown, false);
    else if (foliot_world_get_player_controls(session->world, p).buttons)
        foliot__orders_close_aimed(session, p, foliot__shown_of(session->tick, input->shown_before),
                                   true);
}

// Collects the inputs of one player for the tick that is closed now, in order.
static void collect_inputs(foliot__session *session, uint32_t p)
{
    foliot__player_slot *player = &session->players[p];
    if (player->state == FOLIOT__PLAYER_ENTERING) {
        foliot__record_player(session, p);
        foliot__orders_close_joined(session, p);
        player->input.join_sequence = player->input.sequence + 1;
        add_input(session, p, player->input.join_sequence,
                  (foliot_input){.kind = FOLIOT_INPUT_JOIN});
        player->state = FOLIOT__PLAYER_IN_WORLD;
    }
    foliot__record_token(session, p);
    if (player->state == FOLIOT__PLAYER_IN_WORLD)
        collect_controls(session, p);
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

// On a worker, or inline: this function owns the world until `finished`.
static void run_step(void *job)
{
    foliot__session *s = job;
    const foliot__game *game = &s->game;
    const foliot_tick_inputs tick = {s->step.inputs, s->step.input_count, game->commands.commands,
                                     game->commands.count};
    s->step.captured = FOLIOT_STATUS_OK;
    s->step.stepped = s->lockstep && s->lockstep->lost_commands
                          ? FOLIOT_STATUS_MEMORY
                          : foliot_simulation_step_tick(&s->simulation, &tick);
    if (s->step.stepped == FOLIOT_STATUS_OK) {
        foliot__rules_run(s);
        if (s->lockstep) {
            s->lockstep->digest = foliot_simulation_get_digest(&s->simulation);
            foliot__keyframe_save(s);
        }
        foliot__record_tick(s, &tick);
        if (s->step.captures)
            s->step.captured = foliot_snapshot_quantise(&s->snapshots.format, s->world,
                                                        foliot__fanout_next(s, s->tick + 1));
    }
    // The last access to the session here: it may be gone right after.
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

// -- finishing

// Reports a step to the host and the peers, apart from snapshots: a recording that stopped,
// events and frozen bodies, and players who joined or have another body since.
static void report_step(foliot__session *s)
{
    foliot_server *server = s->server;
    foliot__record_report(s);
    if (!s->world) { // it has no bodies to name
        for (uint32_t i = 0; i < s->step.input_count; i++)
            if (s->step.inputs[i].kind == FOLIOT_INPUT_JOIN)
                announce(s, s->step.inputs[i].player, true);
        return;
    }
    foliot__step_events_append(s);
    const foliot_world_counters *world = foliot_world_get_counters(s->world);
    if (world->frozen_bodies > s->step.frozen_reported) {
        s->step.frozen_reported = world->frozen_bodies;
        foliot__server_event(server, FOLIOT_SERVER_FROZEN, s, FOLIOT_NO_PLAYER,
                             foliot_body_id_get_slot(world->first_frozen_body), "");
    }
    // A game may give players their bodies, and take them away again.
    bool bodiless = s->scene && s->scene->players.bodiless;
    for (uint32_t p = 0; s->players_here && p < s->player_limit; p++) {
        const foliot__player_slot *player = &s->players[p];
        if (player->state != FOLIOT__PLAYER_IN_WORLD)
            continue;
        uint32_t body = foliot_body_id_get_slot(foliot_world_get_player_body(s->world, p));
        if (player->announced ? body != player->announced_body : bodiless || body != FOLIOT_NO_BODY)
            announce(s, p, true);
    }
}

static void send_snapshot(foliot__session *s)
{
    uint64_t before = s->snapshots.newest, now = s->server->now_ns;
    s->snapshots.newest = s->tick;
    foliot__fanout_captured(s, before);
    // While the host catches up, the next snapshot is due already: sending both would only make it
    // later. Still, one is sent in each period, however late the host is.
    if (s->tick < s->clock.last_tick &&
        now >= foliot__session_due_ns(s, s->tick + s->snapshots.every - 1) &&
        (double)(now - s->snapshots.broadcast_ns) < 1e9 * s->snapshots.every / s->clock.pace_hz) {
        s->server->counters.snapshots_superseded++;
        return;
    }
    s->snapshots.broadcast_ns = now;
    foliot__fanout_broadcast(s);
    foliot_transport_flush(s->server->config.transport, now);
}

// Ends the recording. The peers are still there: they are dismissed or called back.
static void end_session(foliot__session *s, foliot_server_event_kind kind, const char *why)
{
    s->life.phase = FOLIOT__SESSION_ENDED;
    foliot__record_write_out(s);
    foliot__server_event(s->server, kind, s, FOLIOT_NO_PLAYER,
                         kind == FOLIOT_SERVER_GAME_ENDED ? s->tick - s->clock.first_tick : 0, why);
}

// A tick that could not be stepped or captured ends the session.
static void fail_session(foliot__session *s, foliot_status status)
{
    char why[FOLIOT__SENTENCE_BYTES];
    s->step.failed = status;
    snprintf(why, sizeof why, "the step of tick %llu failed: %s", (unsigned long long)s->tick,
             foliot_status_get_text(status));
    end_session(s, FOLIOT_SERVER_STEP_FAILED, why);
    foliot__session_dismiss(s, why);
}

// Ends the session if strict rules failed, a command ended the game, or this was its last tick.
static void end_if_over(foliot__session *s)
{
    char why[FOLIOT__SENTENCE_BYTES];
    const char *problem = foliot__rules_end_session(s), *next = "";
    const char *reason = s->world ? foliot_world_get_end(s->world, &next) : NULL;
    if (problem) {
        snprintf(why, sizeof why, "the rules failed: %s", problem);
        end_session(s, FOLIOT_SERVER_GAME_ENDED, why);
        foliot__session_dismiss(s, why);
    } else if (reason) {
        snprintf(why, sizeof why, "%s", *reason ? reason : "the game has ended");
        end_session(s, FOLIOT_SERVER_GAME_ENDED, why);
        if (s->life.follows_next && next && *next) {
            s->life.next_until_ns = s->server->now_ns + FOLIOT_SERVER_NEXT_MS * 1000000ull;
            foliot__session_call_back(s);
        } else {
            foliot__session_dismiss(s, why);
        }
    } else if (s->tick >= s->clock.last_tick) {
        s->life.phase = FOLIOT__SESSION_ENDED;
        foliot__server_event(s->server, FOLIOT_SERVER_ENDED, s, FOLIOT_NO_PLAYER,
                             s->tick - s->clock.first_tick, "");
    }
}

// Reads the results of a finished step, and sends them.
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
    foliot__record_stepped(s);
    s->server->counters.ticks++;
    foliot__session_note_lag(s);
    if (s->lockstep) {
        foliot__keyframe_saved(s);
        foliot__desync_check_step(s);
    }
    report_step(s);
    foliot__updates_step(s);
    foliot__rules_apply_results(s);
    foliot__record_messages(s);
    foliot__orders_acknowledge(s);
    if (s->step.captured != FOLIOT_STATUS_OK) {
        fail_session(s, s->step.captured);
        return;
    }
    if (s->step.captures)
        send_snapshot(s);
    end_if_over(s);
}

void foliot__session_update(foliot__session *s)
{
    const foliot_server *server = s->server;
    for (uint32_t i = 0; !s->step.running || foliot__session_has_stepped(s); i++) {
        if (s->step.running)
            finish_step(s);
        foliot__session_welcome_awaiting(s);
        foliot__kinds_update(s);
        if (foliot__session_has_ended(s) || s->life.paused || server->stop.stopping ||
            i == server->config.catch_up_ticks ||
            server->now_ns < foliot__session_due_ns(s, s->tick))
            break;
        foliot__session_count_late(s);
        start_step(s);
    }
    foliot__session_schedule(s);
    if (s->pending || (s->lockstep && s->lockstep->early.count > 0))
        foliot__set_add(s->server->schedule.touched, s->index); // some of it waits for a time
    else
        foliot__set_remove(s->server->schedule.touched, s->index);
}
