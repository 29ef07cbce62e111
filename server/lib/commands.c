// SPDX-License-Identifier: MIT
// commands.c: the commands of a session and its rules. A tick is closed with the commands that the
// host and administrators gave, by arrival, and then those that the rules gave after the last step.
// Rules run on the thread that steps, right after the step.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "game.h"
#include "peer.h"
#include "rules/rules.h"
#include "session.h"

// -- giving commands

// Commands of the rules count too. While a step runs they are not known yet.
static bool has_room(const foliot__session *session, const foliot_command *command)
{
    const foliot__game *game = &session->game;
    const foliot_command_list *rules =
        game->rules && !session->step.running ? foliot_rules_get_commands(game->rules) : NULL;
    size_t count = game->queued.count + 1, bytes = game->queued.encoded_bytes;
    bytes += foliot_command_encode(command, NULL, 0) + (rules ? rules->encoded_bytes : 0);
    count += rules ? rules->count : 0;
    return count <= game->commands_max && bytes <= FOLIOT_COMMAND_TICK_BYTES_MAX;
}

foliot_status foliot_server_command(foliot_server *server, const char *session,
                                    const foliot_command *command, uint32_t *sequence)
{
    foliot__session *s = foliot__session_find(server, session);
    if (!s)
        return FOLIOT_STATUS_NOT_FOUND;
    if (!foliot_command_valid(command, NULL) || command->source == FOLIOT_COMMAND_SOURCE_RULES ||
        command->source > FOLIOT_COMMAND_SOURCE_RULES)
        return FOLIOT_STATUS_INVALID;
    if (s->game.commands_max == 0)
        return FOLIOT_STATUS_UNSUPPORTED;
    if (foliot__session_has_ended(s) || server->stop.stopping)
        return FOLIOT_STATUS_AGAIN;
    if (!has_room(s, command)) {
        server->counters.commands_refused++;
        return FOLIOT_STATUS_FULL;
    }
    foliot_status status = foliot_command_list_append(&s->game.queued, command);
    if (status == FOLIOT_STATUS_OK && sequence) // it heads the next tick's, behind those before it
        *sequence = s->game.sequence + s->game.queued.count;
    return status;
}

// -- closing

// Adds a command to the tick's, with the next sequence. False: there is no room.
static bool close_command(foliot__session *session, foliot_command *command)
{
    foliot__game *game = &session->game;
    size_t bytes = foliot_command_encode(command, NULL, 0);
    command->sequence = game->sequence + 1;
    if (game->commands.count == game->commands_max ||
        game->commands.encoded_bytes + bytes > FOLIOT_COMMAND_TICK_BYTES_MAX ||
        foliot_command_list_append(&game->commands, command) != FOLIOT_STATUS_OK)
        return false;
    game->sequence++;
    session->server->counters.commands++;
    return true;
}

static void close_list(foliot__session *session, const foliot_command_list *list,
                       foliot_command_source source)
{
    for (uint32_t i = 0; i < list->count; i++) {
        foliot_command command = list->commands[i];
        if (source == FOLIOT_COMMAND_SOURCE_RULES)
            command.source = source;
        if (!close_command(session, &command)) {
            session->server->counters.commands_refused += list->count - i;
            return;
        }
    }
}

void foliot__commands_close(foliot__session *session)
{
    foliot__game *game = &session->game;
    foliot_command_list_clear(&game->commands);
    if (game->commands_max == 0)
        return;
    close_list(session, &game->queued, FOLIOT_COMMAND_SOURCE_HOST);
    foliot_command_list_clear(&game->queued);
    if (game->rules)
        close_list(session, foliot_rules_get_commands(game->rules), FOLIOT_COMMAND_SOURCE_RULES);
}

// -- orders to a simulation that is not a world

void foliot__commands_apply_orders(foliot__session *session)
{
    const foliot__game *game = &session->game;
    const foliot_simulation *simulation = &session->simulation;
    if (session->world)
        return;
    for (uint32_t i = 0; i < game->order_count; i++) {
        if (!simulation->kind->order) {
            session->server->counters.orders_refused += game->orders[i].kind == FOLIOT_ORDER_GAME;
            continue;
        }
        foliot_command commands[FOLIOT_ORDER_COMMANDS_MAX] = {0};
        uint32_t count = simulation->kind->order(simulation->self, &game->orders[i], commands,
                                                 FOLIOT_ORDER_COMMANDS_MAX);
        for (uint32_t k = 0; k < count && k < FOLIOT_ORDER_COMMANDS_MAX; k++) {
            commands[k].sequence = game->sequence + 1;
            commands[k].source = FOLIOT_COMMAND_SOURCE_RULES;
            session->server->counters.commands_refused +=
                !foliot_command_valid(&commands[k], NULL) || !close_command(session, &commands[k]);
        }
    }
}

// -- rules

void foliot__rules_run(foliot__session *session)
{
    foliot__game *game = &session->game;
    if (!game->rules)
        return;
    game->view = (foliot_rules_view){.scene = session->scene,
                                     .world = session->world,
                                     .tick = foliot_world_get_tick(session->world),
                                     .inputs = session->step.inputs,
                                     .input_count = session->step.input_count,
                                     .order_count = game->order_count};
    // Drops by the host are recorded. Nothing is dropped where there is no room for that.
    game->view.recorded = !foliot__orders_reserve(session, FOLIOT_ORDERS_DROPPED_MAX);
    game->view.orders = game->orders;
    foliot_status status = foliot_rules_tick(game->rules, &game->view);
    (void)status; // foliot__rules_apply_results asks why they were stopped
    const foliot_rules_drops *drops = foliot_rules_get_drops(game->rules);
    for (uint32_t i = 0; i < drops->order_count && !game->view.recorded; i++)
        game->orders[game->order_count++] = drops->orders[i];
    if (!*foliot_rules_get_problem(game->rules) || game->stop_recorded)
        return;
    game->stop_recorded = true;
    if (session->recording)
        foliot_recording_want_keyframe(session->recording);
}

// For good, or for a reason that passes: then its client comes back as a newcomer.
static void dismiss_player(foliot__session *session, uint32_t p, bool passes, const char *reason)
{
    foliot_server *server = session->server;
    foliot__message m = {.kind = passes ? FOLIOT__REFUSE : FOLIOT__BYE};
    char *sentence = passes ? m.as.refuse.sentence : m.as.bye.sentence;
    if (p >= session->player_limit)
        return;
    foliot__player_slot *player = &session->players[p];
    bool here =
        player->state == FOLIOT__PLAYER_ENTERING || player->state == FOLIOT__PLAYER_IN_WORLD;
    if (!here || player->leaves)
        return;
    server->counters.players_dismissed++;
    snprintf(sentence, FOLIOT__SENTENCE_BYTES, "%s", reason);
    if (passes) {
        m.as.refuse.reason = FOLIOT__REFUSE_BUSY;
        m.as.refuse.again = true;
        foliot__orders_forget(session, p); // the rules may not know the player
    }
    snprintf(player->leave_reason, sizeof player->leave_reason, "%s", reason);
    if (player->peer >= 0 && foliot__peer_is_here(&server->peers[player->peer])) {
        foliot__peer *peer = &server->peers[player->peer];
        foliot__server_send(server, peer->id, &m);
        foliot__peer_end(peer, (foliot__departure){.for_good = true,
                                                   .code = passes ? FOLIOT__DISCONNECT_REFUSED +
                                                                        FOLIOT__REFUSE_BUSY
                                                                  : 0});
    } else if (player->state == FOLIOT__PLAYER_ENTERING) {
        player->leaves = true;
    } else {
        player->state = FOLIOT__PLAYER_LEAVING;
    }
}

static bool is_power_of_ten(uint64_t count)
{
    while (count >= 10 && count % 10 == 0)
        count /= 10;
    return count == 1;
}

// Counts the drops of the rules in this tick, and logs counts 1, 10, 100, ...
static void report_refusals(foliot__session *session)
{
    foliot__game *game = &session->game;
    foliot_server *server = session->server;
    uint32_t player, count;
    for (uint32_t i = 0; foliot_rules_get_refused(game->rules, i, &player, &count); i++) {
        server->counters.orders_over_budget += count;
        if (player >= session->player_limit)
            continue;
        foliot__player_slot *slot = &session->players[player];
        for (; count > 0; count--)
            if (is_power_of_ten(++slot->orders.over_budget))
                foliot__server_event(server, FOLIOT_SERVER_ORDERS_REFUSED, session, player,
                                     slot->orders.over_budget, slot->name);
    }
    const foliot_rules_drops *drops = foliot_rules_get_drops(game->rules);
    server->counters.rules_dropped += drops->count;
    for (uint32_t i = 0; i < drops->count; i++)
        if (is_power_of_ten(++game->rules_dropped))
            foliot__server_event(server, FOLIOT_SERVER_RULES_DROPPED, session, FOLIOT_NO_PLAYER,
                                 game->rules_dropped, drops->why);
}

const char *foliot__rules_end_session(const foliot__session *session)
{
    const foliot__game *game = &session->game;
    if (!game->rules || !game->strict)
        return NULL;
    if (*foliot_rules_get_problem(game->rules))
        return foliot_rules_get_problem(game->rules);
    const foliot_rules_drops *drops = foliot_rules_get_drops(game->rules);
    return drops->count > 0 ? drops->why : NULL;
}

void foliot__rules_apply_results(foliot__session *session)
{
    foliot__game *game = &session->game;
    foliot_rules_message_out out;
    uint32_t player;
    const char *reason;
    bool stopped = game->rules && *foliot_rules_get_problem(game->rules);
    for (uint32_t i = 0; (!game->rules || stopped) && i < game->order_count; i++)
        if (game->orders[i].kind == FOLIOT_ORDER_CHAT)
            foliot__session_message(session, FOLIOT_TO_ALL, game->orders[i].player,
                                    game->orders[i].bytes, game->orders[i].length, true);
    if (!game->rules)
        return;
    report_refusals(session);
    for (uint32_t i = 0; foliot_rules_get_message(game->rules, i, &out); i++)
        foliot__session_message(session, out.player, FOLIOT_NO_PLAYER, out.bytes, out.length,
                                out.reliable);
    for (uint32_t i = 0; foliot_rules_get_kick(game->rules, i, &player, &reason); i++)
        dismiss_player(session, player, foliot__rules_kick_passes(game->rules, i), reason);
    if (!stopped || game->rules_reported)
        return;
    game->rules_reported = true;
    session->server->counters.rules_stopped++;
    foliot__server_event(session->server, FOLIOT_SERVER_RULES_STOPPED, session, FOLIOT_NO_PLAYER, 0,
                         foliot_rules_get_problem(game->rules));
}

foliot_status foliot_server_message(foliot_server *server, const char *session, uint32_t player,
                                    const void *bytes, size_t length, bool reliable)
{
    foliot__session *s = foliot__session_find(server, session);
    if (!s)
        return FOLIOT_STATUS_NOT_FOUND;
    if (length > FOLIOT_MESSAGE_BYTES_MAX || (player != FOLIOT_TO_ALL && player >= s->player_limit))
        return FOLIOT_STATUS_INVALID;
    foliot__session_message(s, player, FOLIOT_NO_PLAYER, bytes, length, reliable);
    return FOLIOT_STATUS_OK;
}
