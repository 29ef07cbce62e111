// SPDX-License-Identifier: MIT
// game.c: what a session holds beside its world: commands that wait, orders, and what was
// announced.
#include <stdlib.h>

#include "game.h"
#include "session.h"

foliot_status foliot__game_create(foliot__session *session, const foliot_session_config *config)
{
    foliot__game *game = &session->game;
    if (config->rules && !session->world)
        return FOLIOT_STATUS_INVALID; // they see a world
    game->rules = config->rules;
    game->strict = config->strict_rules;
    game->looks_back = config->rules && session->scene->history_ticks > 0;
    game->commands_max = session->scene                        ? session->scene->commands_max
                         : config->simulation->kind->step_tick ? FOLIOT_COMMANDS_MAX
                                                               : 0;
    foliot__session_state_init(&game->now, session->snapshots.format.bodies_max);
    foliot__session_state_init(&game->shown, session->snapshots.format.bodies_max);
    return FOLIOT_STATUS_OK;
}

void foliot__game_destroy(foliot__session *session)
{
    foliot__game *game = &session->game;
    foliot_command_list_destroy(&game->queued);
    foliot_command_list_destroy(&game->commands);
    foliot__updates_end(session);
    foliot__buffer_free(&game->packed);
    foliot__buffer_free(&game->said);
    free(game->waiting);
    free(game->orders);
}
