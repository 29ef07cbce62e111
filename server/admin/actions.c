// SPDX-License-Identifier: MIT
// actions.c: the actions of the admin API, one table entry each. `act` runs on the loop's thread
// and only reads, copies and calls functions that do not wait.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "program/app.h"
#include "program/options/arguments.h"
#include "program/report/report.h"
#include "admin.h"
#include "base/clock.h"
#include "base/text.h"
#include "foliot/status.h"

#define BAN_SECONDS_MAX 3153600000u // a hundred years

// -- looking

static foliot__outcome no_session(foliot__call *c)
{
    return foliot__call_fail(c, 404, "there is no session '%.100s' here", c->body.session);
}

static foliot__outcome list_sessions(foliot__call *c)
{
    const foliot_server *server = c->app->server;
    uint32_t count = foliot_server_get_session_count(server);
    foliot_session_info *items = calloc(count ? count : 1, sizeof *items);
    if (!items)
        return foliot__call_fail(c, 503, "no memory");
    for (uint32_t i = 0; i < count; i++)
        if (foliot_server_get_session_info(server, i, &items[c->count]) == FOLIOT_STATUS_OK)
            c->count++;
    c->items = items;
    return FOLIOT__CALL_DONE;
}

static foliot__outcome get_session(foliot__call *c)
{
    uint32_t index;
    foliot_session_info *info = calloc(1, sizeof *info);
    c->items = info;
    if (!info)
        return foliot__call_fail(c, 503, "no memory");
    if (foliot_server_find_session(c->app->server, c->body.session, &index) != FOLIOT_STATUS_OK ||
        foliot_server_get_session_info(c->app->server, index, info) != FOLIOT_STATUS_OK)
        return no_session(c);
    return FOLIOT__CALL_DONE;
}

static void print_session_keys(const foliot_session_info *s, foliot__json *j)
{
    foliot__json_text(j, "name", s->name);
    foliot__json_text(j, "mode", s->mode == FOLIOT_SESSION_LOCKSTEP ? "lockstep" : "snapshot");
    foliot__json_text(j, "state", s->ended ? "ended" : s->paused ? "paused" : "running");
    foliot__json_bool(j, "draining", s->closed);
    foliot__json_bool(j, "recording", s->records);
    foliot__json_count(j, "tick", s->tick);
    foliot__json_real(j, "tick_hz", s->pace_hz);
    foliot__json_count(j, "bodies", s->body_count);
    foliot__json_count(j, "player_limit", s->player_limit);
    foliot__json_count(j, "players", s->players);
    foliot__json_count(j, "absent", s->absent);
    foliot__json_count(j, "spectators", s->spectators);
}

static void print_sessions(const foliot__call *c, foliot__json *j)
{
    const foliot_session_info *items = c->items;
    foliot__json_array(j, "sessions");
    for (uint32_t i = 0; i < c->count; i++) {
        foliot__json_object(j, NULL);
        print_session_keys(&items[i], j);
        foliot__json_close(j);
    }
    foliot__json_close(j);
}

static void print_session(const foliot__call *c, foliot__json *j)
{
    print_session_keys(c->items, j);
}

static foliot__outcome list_players(foliot__call *c)
{
    foliot_player_info *items = calloc(FOLIOT_PLAYERS_MAX, sizeof *items);
    c->items = items;
    if (!items)
        return foliot__call_fail(c, 503, "no memory");
    if (foliot_server_get_players(c->app->server, c->body.session, items, FOLIOT_PLAYERS_MAX,
                                  &c->count) != FOLIOT_STATUS_OK)
        return no_session(c);
    return FOLIOT__CALL_DONE;
}

static void print_players(const foliot__call *c, foliot__json *j)
{
    const foliot_player_info *items = c->items;
    foliot__json_array(j, "players");
    for (uint32_t i = 0; i < c->count; i++) {
        foliot__json_object(j, NULL);
        foliot__json_count(j, "player", items[i].player);
        foliot__json_text(j, "name", items[i].name);
        foliot__json_text(j, "address", *items[i].address ? items[i].address : NULL);
        foliot__json_bool(j, "present", items[i].present);
        foliot__json_text(j, "kind", items[i].steps ? "step" : "watch");
        foliot__json_decimals(j, "round_trip_ms", (double)items[i].round_trip_ns * 1e-6, 3);
        foliot__json_close(j);
    }
    foliot__json_close(j);
}

static foliot__outcome look_at_server(foliot__call *c)
{
    struct {
        foliot_server_presence presence;
        uint64_t ticks, late;
    } *now = calloc(1, sizeof *now);
    c->items = now;
    if (!now)
        return foliot__call_fail(c, 503, "no memory");
    now->presence = foliot_server_get_presence(c->app->server);
    foliot_session_info info;
    for (uint32_t i = 0; i < foliot_server_get_session_count(c->app->server); i++)
        if (foliot_server_get_session_info(c->app->server, i, &info) == FOLIOT_STATUS_OK)
            c->count += !info.ended;
    now->ticks = foliot_server_get_counters(c->app->server)->ticks;
    now->late = foliot_server_get_counters(c->app->server)->ticks_late;
    c->body.seconds = (foliot__clock_now_ns() - c->app->admin.begun_ns) / 1000000000u;
    c->body.record = foliot__app_drains(c->app);
    c->body.player = foliot_transport_get_port(c->app->transport);
    return FOLIOT__CALL_DONE;
}

static void print_server(const foliot__call *c, foliot__json *j)
{
    const struct {
        foliot_server_presence presence;
        uint64_t ticks, late;
    } *now = c->items;
    foliot__json_text(j, "version", FOLIOT_VERSION);
    foliot__json_count(j, "port", c->body.player);
    foliot__json_count(j, "uptime_seconds", c->body.seconds);
    foliot__json_bool(j, "draining", c->body.record);
    foliot__json_count(j, "sessions", c->count);
    foliot__json_count(j, "peers", now->presence.peers);
    foliot__json_count(j, "players", now->presence.players);
    foliot__json_count(j, "absent", now->presence.absent);
    foliot__json_count(j, "ticks", now->ticks);
    foliot__json_count(j, "ticks_late", now->late);
}

static foliot__outcome list_vars(foliot__call *c)
{
    uint32_t index;
    foliot_session_info info;
    if (foliot_server_find_session(c->app->server, c->body.session, &index) != FOLIOT_STATUS_OK ||
        foliot_server_get_session_info(c->app->server, index, &info) != FOLIOT_STATUS_OK)
        return no_session(c);
    if (info.body_count == 0 && info.mode == FOLIOT_SESSION_LOCKSTEP)
        return foliot__call_fail(c, 409, "the session hosts no world: it has no variables");
    const foliot_world *world = foliot_server_get_world(c->app->server, c->body.session);
    if (!world)
        return FOLIOT__CALL_AGAIN;
    foliot_var *vars = calloc(FOLIOT_VARS_MAX, sizeof *vars);
    c->items = vars;
    if (!vars)
        return foliot__call_fail(c, 503, "no memory");
    c->count = 0;
    while (c->count < FOLIOT_VARS_MAX && foliot_world_get_var_at(world, c->count, &vars[c->count]))
        c->count++;
    return FOLIOT__CALL_DONE;
}

static void print_vars(const foliot__call *c, foliot__json *j)
{
    const foliot_var *vars = c->items;
    foliot__json_object(j, "vars");
    for (uint32_t i = 0; i < c->count; i++)
        if (vars[i].type == FOLIOT_VAR_INTEGER)
            foliot__json_integer(j, vars[i].key, vars[i].integer);
        else if (vars[i].type == FOLIOT_VAR_NUMBER)
            foliot__json_real(j, vars[i].key, vars[i].number);
        else
            foliot__json_text(j, vars[i].key, vars[i].text);
    foliot__json_close(j);
}

// -- sessions

static foliot__outcome of_status(foliot__call *c, foliot_status status)
{
    switch (status) {
    case FOLIOT_STATUS_OK:
        return FOLIOT__CALL_DONE;
    case FOLIOT_STATUS_AGAIN:
        return FOLIOT__CALL_AGAIN;
    case FOLIOT_STATUS_NOT_FOUND:
        return no_session(c);
    case FOLIOT_STATUS_INVALID:
        return foliot__call_fail(c, 409, "the session '%.100s' has ended", c->body.session);
    default:
        return foliot__call_fail(c, 503, "%s", foliot_status_get_text(status));
    }
}

static void note_of(const char *what, const char *whom)
{
    char line[400], clean[200];
    snprintf(line, sizeof line, "%s%s%s", what, *whom ? " " : "",
             foliot__text_clean(clean, sizeof clean, whom));
    foliot__log_admin(line);
}

static void note(const foliot__call *c, const char *what)
{
    note_of(what, c->body.session);
}

static foliot__outcome set_paused(foliot__call *c, bool paused)
{
    foliot_status status = foliot_server_pause_session(c->app->server, c->body.session, paused,
                                                       foliot__clock_now_ns());
    if (status == FOLIOT_STATUS_OK)
        note(c, paused ? "pauses" : "resumes");
    return of_status(c, status);
}

static foliot__outcome pause_session(foliot__call *c)
{
    return set_paused(c, true);
}

static foliot__outcome resume_session(foliot__call *c)
{
    return set_paused(c, false);
}

static foliot__outcome end_session(foliot__call *c)
{
    char why[FOLIOT__CALL_TEXT_BYTES];
    foliot_status status = foliot_server_end_session(
        c->app->server, c->body.session, foliot__text_clean(why, sizeof why, c->body.reason),
        foliot__clock_now_ns());
    if (status == FOLIOT_STATUS_OK)
        note(c, "ends");
    return of_status(c, status);
}

static foliot__outcome drain_session(foliot__call *c)
{
    foliot_status status = foliot_server_close_session(c->app->server, c->body.session, true);
    if (status == FOLIOT_STATUS_OK)
        note(c, "drains");
    return *c->body.session ? of_status(c, status) : no_session(c);
}

static foliot__outcome drain_server(foliot__call *c)
{
    c->app->drained = true;
    note(c, "drains the server");
    return of_status(c, foliot_server_close_session(c->app->server, "", true));
}

static foliot__outcome undrain_server(foliot__call *c)
{
    if (c->app->ending || c->app->life.drains_until_ns)
        return foliot__call_fail(c, 409, "the server is stopping after a signal");
    c->app->drained = false;
    note(c, "admits new players again");
    return of_status(c, foliot_server_close_session(c->app->server, "", false));
}

// -- players

// By number, 3 or #3, or by name: a name is never a number.
static bool find_player(const foliot__call *c, foliot_player_info *found)
{
    static foliot_player_info players[FOLIOT_PLAYERS_MAX];
    uint32_t count;
    uint64_t number;
    bool numeric = foliot__parse_count(c->body.subject + (c->body.subject[0] == '#'), &number);
    if (foliot_server_get_players(c->app->server, c->body.session, players, FOLIOT_PLAYERS_MAX,
                                  &count) != FOLIOT_STATUS_OK)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (numeric ? players[i].player == number : strcmp(players[i].name, c->body.subject) == 0) {
            *found = players[i];
            return true;
        }
    return false;
}

static foliot__outcome no_player(foliot__call *c)
{
    return foliot__call_fail(c, 404, "there is no player '%.100s' in a session '%.100s' here",
                             c->body.subject, c->body.session);
}

static foliot__outcome kick(foliot__call *c)
{
    foliot_player_info player;
    char why[FOLIOT__CALL_TEXT_BYTES];
    if (!find_player(c, &player) ||
        foliot_server_kick(c->app->server, c->body.session, player.player,
                           foliot__text_clean(why, sizeof why, c->body.reason)) != FOLIOT_STATUS_OK)
        return no_player(c);
    note(c, "kicks a player of");
    return FOLIOT__CALL_DONE;
}

// Copies the bans for the worker, since the loop continues.
static foliot__outcome keep_bans(foliot__call *c)
{
    const foliot__bans *bans = &c->app->admin.bans;
    if (!c->app->choices->web.bans)
        return FOLIOT__CALL_DONE;
    c->count = bans->count;
    c->items = malloc((bans->count + 1) * sizeof *bans->items);
    if (!c->items)
        return foliot__call_fail(c, 503, "no memory to write the bans");
    if (bans->count)
        memcpy(c->items, bans->items, bans->count * sizeof *bans->items);
    return FOLIOT__CALL_SLOW;
}

static void write_bans(foliot__call *c)
{
    if (!foliot__bans_write(c->items, c->count, c->app->choices->web.bans))
        foliot__call_fail(c, 507, "the ban is in force, but it could not be written to %s",
                          c->app->choices->web.bans);
}

static foliot__outcome add_ban(foliot__call *c, foliot__ban ban)
{
    snprintf(ban.reason, sizeof ban.reason, "%.127s", c->body.reason);
    foliot__text_mend(ban.reason);
    if (c->body.seconds > BAN_SECONDS_MAX)
        return foliot__call_fail(c, 400,
                                 "a ban lasts at most %u seconds, or without 'seconds' for ever",
                                 BAN_SECONDS_MAX);
    ban.until = c->body.seconds ? time(NULL) + (int64_t)c->body.seconds : 0;
    foliot__bans_forget_over(&c->app->admin.bans, time(NULL));
    if (!foliot__bans_add(&c->app->admin.bans, &ban))
        return foliot__call_fail(c, 507, "there are %d bans, and no room for more",
                                 FOLIOT__BANS_MAX);
    c->app->admin.bans_changes++;
    note_of("bans", *ban.address ? ban.address : *ban.client ? ban.client : ban.name);
    return keep_bans(c);
}

static foliot__outcome ban_player(foliot__call *c)
{
    foliot_player_info player;
    if (c->stage) // it was written
        return FOLIOT__CALL_DONE;
    if (!find_player(c, &player))
        return no_player(c);
    foliot__ban ban = {0};
    char why[FOLIOT__CALL_TEXT_BYTES];
    if (!foliot__ban_of_peer(&ban, player.address))
        snprintf(ban.name, sizeof ban.name, "%s", player.name);
    foliot__outcome outcome = add_ban(c, ban);
    if (c->status == 200)
        (void)!foliot_server_kick(c->app->server, c->body.session, player.player,
                                  foliot__text_clean(why, sizeof why, c->body.reason));
    return outcome;
}

static foliot__outcome ban(foliot__call *c)
{
    if (c->stage)
        return FOLIOT__CALL_DONE;
    foliot__ban ban = {0};
    if (!!*c->body.address + !!*c->body.name + !!*c->body.client != 1)
        return foliot__call_fail(c, 400, "a ban names an address, a name or a client");
    if (strlen(c->body.address) >= FOLIOT_ADDRESS_BYTES ||
        strlen(c->body.name) >= FOLIOT_NAME_BYTES)
        return foliot__call_fail(c, 400, "names and addresses have at most 63 bytes");
    snprintf(ban.address, sizeof ban.address, "%.63s", c->body.address);
    snprintf(ban.name, sizeof ban.name, "%.63s", c->body.name);
    snprintf(ban.client, sizeof ban.client, "%s", c->body.client);
    if (!foliot__ban_normalise(&ban))
        return foliot__call_fail(c, 400,
                                 *c->body.client
                                     ? "'%.100s' is not a client: give a number, 1 or greater"
                                     : "'%.100s' is not an address or a network",
                                 *c->body.client ? c->body.client : c->body.address);
    return add_ban(c, ban);
}

static foliot__outcome unban(foliot__call *c)
{
    if (c->stage)
        return FOLIOT__CALL_DONE;
    char whom[sizeof c->body.session + sizeof c->body.subject + 2]; // a network is in both {}
    snprintf(whom, sizeof whom, "%s%s%s", c->body.session, *c->body.subject ? "/" : "",
             c->body.subject);
    if (!foliot__bans_remove(&c->app->admin.bans, whom))
        return foliot__call_fail(c, 404, "there is no ban of '%.100s'", whom);
    c->app->admin.bans_changes++;
    note_of("lifts the ban of", whom);
    return keep_bans(c);
}

static foliot__outcome list_bans(foliot__call *c)
{
    foliot__bans *bans = &c->app->admin.bans;
    foliot__bans_forget_over(bans, time(NULL));
    c->count = bans->count;
    c->items = malloc((bans->count + 1) * sizeof *bans->items);
    if (!c->items)
        return foliot__call_fail(c, 503, "no memory");
    if (bans->count)
        memcpy(c->items, bans->items, bans->count * sizeof *bans->items);
    return FOLIOT__CALL_DONE;
}

static void print_bans(const foliot__call *c, foliot__json *j)
{
    const foliot__ban *items = c->items;
    foliot__json_array(j, "bans");
    for (uint32_t i = 0; i < c->count; i++) {
        foliot__json_object(j, NULL);
        foliot__json_text(j, "address", *items[i].address ? items[i].address : NULL);
        foliot__json_text(j, "name", *items[i].name ? items[i].name : NULL);
        foliot__json_text(j, "client", *items[i].client ? items[i].client : NULL);
        foliot__json_text(j, "reason", items[i].reason);
        foliot__json_integer(j, "until", items[i].until);
        foliot__json_close(j);
    }
    foliot__json_close(j);
}

// -- the game

static foliot__outcome give_command(foliot__call *c)
{
    foliot_command *command = &c->body.command->command;
    uint32_t sequence = 0;
    command->source = FOLIOT_COMMAND_SOURCE_ADMIN;
    foliot_status status =
        foliot_server_command(c->app->server, c->body.session, command, &sequence);
    c->sequence = sequence;
    if (status == FOLIOT_STATUS_UNSUPPORTED)
        return foliot__call_fail(c, 409, "the scene of '%.100s' takes no commands",
                                 c->body.session);
    if (status == FOLIOT_STATUS_AGAIN)
        return foliot__call_fail(c, 409, "the session '%.100s' has ended", c->body.session);
    if (status == FOLIOT_STATUS_INVALID)
        return foliot__call_fail(c, 400, "the command is not valid");
    return of_status(c, status);
}

static void print_command(const foliot__call *c, foliot__json *j)
{
    foliot__json_count(j, "sequence", c->sequence);
}

static foliot__outcome give_message(foliot__call *c)
{
    uint32_t to = c->body.has_player ? (uint32_t)c->body.player : FOLIOT_TO_ALL;
    if (!*c->body.text)
        return foliot__call_fail(c, 400, "'text' is missing");
    if (c->body.has_player && c->body.player >= FOLIOT_PLAYERS_MAX)
        return foliot__call_fail(c, 404, "there is no such player");
    foliot_status status = foliot_server_message(c->app->server, c->body.session, to, c->body.text,
                                                 strlen(c->body.text), true);
    if (status == FOLIOT_STATUS_INVALID)
        return foliot__call_fail(c, 404, "there is no such player");
    return of_status(c, status);
}

#define SESSION "/v1/sessions/{}"
#define PLAYER SESSION "/players/{}"
const foliot__action foliot__actions[] = {
    {"GET", "/v1/server", "", look_at_server, NULL, print_server},
    {"POST", "/v1/drain", "", drain_server, NULL, NULL},
    {"DELETE", "/v1/drain", "", undrain_server, NULL, NULL},
    {"GET", "/v1/sessions", "", list_sessions, NULL, print_sessions},
    {"POST", "/v1/sessions", "name scene record ", foliot__act_create, foliot__work_create,
     foliot__print_created},
    {"GET", SESSION, "", get_session, NULL, print_session},
    {"POST", SESSION "/pause", "", pause_session, NULL, NULL},
    {"POST", SESSION "/resume", "", resume_session, NULL, NULL},
    {"POST", SESSION "/drain", "", drain_session, NULL, NULL},
    {"POST", SESSION "/end", "reason ", end_session, NULL, NULL},
    {"POST", SESSION "/commands", NULL, give_command, NULL, print_command},
    {"POST", SESSION "/messages", "text player ", give_message, NULL, NULL},
    {"GET", SESSION "/vars", "", list_vars, NULL, print_vars},
    {"POST", SESSION "/recording", "file ", foliot__act_record, foliot__work_record,
     foliot__print_recording},
    {"DELETE", SESSION "/recording", "", foliot__act_stop_recording, foliot__work_stop_recording,
     foliot__print_recording},
    {"GET", SESSION "/players", "", list_players, NULL, print_players},
    {"POST", PLAYER "/kick", "reason ", kick, NULL, NULL},
    {"POST", PLAYER "/ban", "reason seconds ", ban_player, write_bans, NULL},
    {"GET", "/v1/bans", "", list_bans, NULL, print_bans},
    {"POST", "/v1/bans", "address name client reason seconds ", ban, write_bans, NULL},
    {"DELETE", "/v1/bans/{}", "", unban, write_bans, NULL},
    {"DELETE", "/v1/bans/{}/{}", "", unban, write_bans, NULL},
    {0}};
