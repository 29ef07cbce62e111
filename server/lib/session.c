// SPDX-License-Identifier: MIT
// session.c: creates the parts of a session: players, inputs, the data for newcomers, its snapshots
// or its lockstep. step.c runs it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admission.h"
#include "fanout.h"
#include "game.h"
#include "lockstep.h"
#include "player.h"
#include "session.h"

static void set_simulation(foliot__session *s, const foliot_session_config *config)
{
    if (config->simulation) {
        s->simulation = *config->simulation;
        return;
    }
    s->scene = config->scene;
    s->world = config->world;
    s->hosted = (foliot_hosted_world){.world = config->world};
    if (config->host)
        s->hosted.host = *config->host;
    s->simulation = (foliot_simulation){.kind = &foliot_world_kind, .self = &s->hosted};
}

// Encodes the setup for newcomers: a scene's canonical bytes, or another simulation's setup.
static foliot_status keep_setup(foliot__session *s)
{
    foliot_status status = FOLIOT_STATUS_OK;
    s->setup.length = s->simulation.setup_bytes;
    if (s->scene)
        status = foliot_scene_encode(s->scene, NULL, 0, &s->setup.length);
    if (status == FOLIOT_STATUS_OK && !(s->setup.bytes = malloc(s->setup.length + 1)))
        status = FOLIOT_STATUS_MEMORY;
    if (status == FOLIOT_STATUS_OK && s->scene)
        status = foliot_scene_encode(s->scene, s->setup.bytes, s->setup.length, &s->setup.length);
    else if (status == FOLIOT_STATUS_OK && s->setup.length > 0)
        memcpy(s->setup.bytes, s->simulation.setup, s->setup.length);
    s->simulation.setup = s->setup.bytes;
    s->simulation.setup_bytes = s->setup.length;
    return status;
}

static foliot_status create_game(foliot__session *session, const foliot_session_config *config)
{
    foliot__game *game = &session->game;
    if (config->rules && !session->world)
        return FOLIOT_STATUS_INVALID; // they see a world
    game->rules = config->rules;
    game->strict = config->strict_rules;
    game->looks_back = config->rules && session->scene->script.history_ticks > 0;
    game->commands_max = session->scene                        ? session->scene->commands_max
                         : config->simulation->kind->step_tick ? FOLIOT_COMMANDS_MAX
                                                               : 0;
    foliot__session_state_init(&game->now, session->snapshots.format.bodies_max);
    foliot__session_state_init(&game->shown, session->snapshots.format.bodies_max);
    return FOLIOT_STATUS_OK;
}

static void destroy_game(foliot__session *session)
{
    foliot__game *game = &session->game;
    foliot_command_list_destroy(&game->queued);
    foliot_command_list_destroy(&game->commands);
    foliot__updates_end(session);
    foliot__buffer_free(&game->packed);
    foliot__buffer_free(&game->messages);
    free(game->waiting);
    free(game->orders);
}

// Creates the machinery of steppers, if peers step by default; and that of watchers, if it needs
// the past. Otherwise it is created when the first watcher comes: a session that nobody watches
// keeps no snapshots.
static foliot_status open_mode(foliot__session *s, const foliot_session_config *config)
{
    bool steps = s->roles.mode == FOLIOT_SESSION_LOCKSTEP;
    foliot_status status =
        steps ? foliot__kind_make_machinery(s, FOLIOT__KIND_STEPPER) : FOLIOT_STATUS_OK;
    bool keeps = s->world && (s->delay_ticks > 0 || config->interest.far > 0);
    if (status == FOLIOT_STATUS_OK && keeps)
        status = foliot__kind_make_machinery(s, FOLIOT__KIND_WATCHER);
    if (status == FOLIOT_STATUS_OK && config->interest.far > 0)
        status = foliot__interest_map_create(&config->interest, s->scene, &s->snapshots.format,
                                             s->clock.pace_hz, s->snapshots.every, &s->interest);
    if (status == FOLIOT_STATUS_OK && s->interest)
        foliot__interest_map_update(s->interest, foliot__fanout_find(s, s->tick), NULL);
    return status;
}

foliot_status foliot__session_create(foliot_server *server, const foliot_session_config *config,
                                     uint32_t index, foliot__session **out)
{
    foliot__session *s = calloc(1, sizeof *s);
    if (!s)
        return FOLIOT_STATUS_MEMORY;
    s->server = server;
    s->index = index;
    snprintf(s->name, sizeof s->name, "%s", config->name);
    set_simulation(s, config);
    s->roles.mode = config->mode;
    s->input_delay = config->input_delay;
    s->roles.refuses_forced = config->refuses_forced;
    s->snapshots.format = s->scene ? foliot_snapshot_format_default(s->scene)
                                   : (foliot_snapshot_format){1, 1, {0}, 1 << 16, 0, 0, 0};
    s->recording = config->recording;
    s->life.follows_next = config->follows_next;
    s->snapshots.complete_tick = FOLIOT__NO_TICK;
    s->clock.pace_hz = config->pace_hz;
    s->tick = s->clock.first_tick = foliot_simulation_get_tick(&s->simulation);
    s->clock.last_tick = config->ticks ? s->clock.first_tick + config->ticks : UINT64_MAX;
    s->clock.base_ns = foliot__session_base_ns(server, index, config->pace_hz);
    double hz = server->config.snapshot_hz; // 0: of every tick
    s->snapshots.every =
        hz > 0 && hz < config->pace_hz ? (uint32_t)(config->pace_hz / hz + 0.5) : 1;
    s->delay_ticks =
        config->spectator_delay_s > 0 ? foliot__session_ticks(s, config->spectator_delay_s) : 0;
    s->player_limit =
        config->simulation ? config->player_limit : foliot_world_get_players_max(config->world);
    s->step.input_capacity = s->player_limit * (FOLIOT__INPUTS_QUEUED + 2) + 1;
    s->players = calloc(s->player_limit ? s->player_limit : 1, sizeof *s->players);
    s->step.inputs = calloc(s->step.input_capacity, sizeof *s->step.inputs);
    foliot_status status = s->players && s->step.inputs ? keep_setup(s) : FOLIOT_STATUS_MEMORY;
    if (status == FOLIOT_STATUS_OK)
        status = create_game(s, config);
    if (status == FOLIOT_STATUS_OK)
        status = foliot__step_events_create(s, config);
    if (status == FOLIOT_STATUS_OK)
        status = open_mode(s, config);
    if (status != FOLIOT_STATUS_OK) {
        s->world = NULL; // stays the caller's
        foliot__session_destroy(s);
        return status;
    }
    foliot__players_keep(s);
    foliot__record_begin(s);
    *out = s;
    return FOLIOT_STATUS_OK;
}

// All but the name.
static void empty_session(foliot__session *session)
{
    destroy_game(session);
    foliot__step_events_destroy(&session->step_events);
    foliot__fanout_close(session);
    foliot__lockstep_destroy(session);
    foliot_world_destroy(session->world);
    free(session->players);
    free(session->step.inputs);
    free(session->setup.bytes);
}

void foliot__session_destroy(foliot__session *session)
{
    if (session && session->life.phase != FOLIOT__SESSION_RETIRED)
        empty_session(session);
    free(session);
}

// Keeps its slot in the server, until another session takes it.
void foliot__session_retire(foliot__session *session)
{
    foliot__session empty = {.server = session->server,
                             .index = session->index,
                             .life.phase = FOLIOT__SESSION_RETIRED,
                             .clock.pace_hz = session->clock.pace_hz};
    empty_session(session);
    memcpy(empty.name, session->name, sizeof empty.name);
    memcpy(session, &empty, sizeof *session);
}

void foliot__session_replace(foliot__session **place, foliot__session *session)
{
    foliot__session_destroy(*place);
    *place = session;
}
