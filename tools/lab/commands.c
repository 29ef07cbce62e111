// SPDX-License-Identifier: MIT
// commands.c: the commands of a run, from lines of JSON or from a recording. Reads them; the world
// decides what they do.
#include "lab.h"

#include <inttypes.h>
#include <stdlib.h>

#include "command/command_script.h"

struct lab_commands {
    uint32_t most; // in a tick
    foliot__command_script script;
    foliot_command_list list; // of the tick that was asked for last
    foliot_replay *replay;
    bool ended; // the recording holds no more ticks
    char message[256];
};

static int open_source(const lab_context *context, const char *file, lab_commands *commands)
{
    char message[512];
    if (lab_is_recording(file))
        return lab_recording_open(context, file, &commands->replay);
    foliot_status status =
        foliot__command_script_read(file, &commands->script, message, sizeof message);
    if (status == FOLIOT_STATUS_OK)
        return FOLIOT__EXIT_FINE;
    return lab_fail(context,
                    status == FOLIOT_STATUS_INVALID ? FOLIOT__EXIT_SCENE : FOLIOT__EXIT_ERROR, "%s",
                    message);
}

int lab_commands_open(const lab_context *context, const char *file, const foliot_scene *scene,
                      lab_commands **out)
{
    *out = NULL;
    if (!file)
        return FOLIOT__EXIT_FINE;
    if (scene->commands_max == 0)
        return lab_fail(context, FOLIOT__EXIT_SCENE,
                        "%s: the scene takes no commands; it wants limits: {commands_max: 64}",
                        file);
    lab_commands *commands = calloc(1, sizeof *commands);
    if (!commands)
        return lab_fail(context, FOLIOT__EXIT_ERROR, "no memory");
    commands->most = scene->commands_max;
    int code = open_source(context, file, commands);
    if (code)
        lab_commands_close(commands);
    else
        *out = commands;
    return code;
}

static foliot_status recorded_at(lab_commands *commands, uint64_t tick, foliot_tick_inputs *in)
{
    foliot_replay *replay = commands->replay;
    foliot_status status = FOLIOT_STATUS_OK;
    // A recording that starts later has nothing for the ticks before it.
    if (!commands->ended && tick >= foliot_replay_get_summary(replay)->first_tick)
        status = foliot_replay_get_commands(replay, tick, &in->commands, &in->command_count);
    commands->ended |= status == FOLIOT_STATUS_NOT_FOUND;
    return status == FOLIOT_STATUS_NOT_FOUND ? FOLIOT_STATUS_OK : status;
}

static foliot_status scripted_at(lab_commands *commands, uint64_t tick, foliot_tick_inputs *in)
{
    foliot_status status = foliot__command_script_at(&commands->script, tick, &commands->list);
    in->commands = commands->list.commands;
    in->command_count = commands->list.count;
    return status;
}

bool lab_commands_at(lab_commands *commands, uint64_t tick, foliot_tick_inputs *in,
                     const char **message)
{
    in->commands = NULL;
    in->command_count = 0;
    if (!commands)
        return true;
    foliot_status status =
        commands->replay ? recorded_at(commands, tick, in) : scripted_at(commands, tick, in);
    if (status == FOLIOT_STATUS_OK && in->command_count <= commands->most)
        return true;
    if (status == FOLIOT_STATUS_OK) {
        snprintf(commands->message, sizeof commands->message,
                 "tick %" PRIu64 " has %" PRIu32 " commands, and the scene's commands_max is "
                 "%" PRIu32,
                 tick, in->command_count, commands->most);
    } else {
        const foliot_damage *damage =
            commands->replay ? foliot_replay_get_damage(commands->replay) : NULL;
        snprintf(commands->message, sizeof commands->message, "commands of tick %" PRIu64 ": %s",
                 tick, damage && damage->text[0] ? damage->text : foliot_status_get_text(status));
    }
    *message = commands->message;
    return false;
}

void lab_commands_close(lab_commands *commands)
{
    if (!commands)
        return;
    if (commands->replay)
        foliot_replay_close(commands->replay);
    foliot__command_script_free(&commands->script);
    foliot_command_list_destroy(&commands->list);
    free(commands);
}
