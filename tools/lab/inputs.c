// SPDX-License-Identifier: MIT
// inputs.c: the data of a run for each tick: inputs, commands and orders, from scripts or from a
// recording. It reads them; the world and the rules apply them.
#include "lab.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/file.h"
#include "command/command_json.h"
#include "foliot/divergence.h"
#include "foliot/replay.h"
#include "recording/format.h"
#include "divergence/divergence.h"
#include "simulation/input_script.h"
#include "recording/session_log.h"
#include "recording/replay.h"

// -- inputs

// Either a script, or a recording that is replayed along with the lab's world for its inputs.
struct lab_inputs {
    foliot__input_script script;
    foliot_replay *replay;
    bool ended; // the recording holds no more ticks
    foliot__harness_players *players;
    foliot_input drawn[FOLIOT_HARNESS_INPUTS_MAX]; // of the tick that was asked for last
    char message[256];
};

bool lab_is_recording(const char *file)
{
    FILE *in = foliot__file_stream(file);
    bool is = in && fgetc(in) == (unsigned char)FOLIOT__RECORDING_MAGIC[0];
    if (in)
        fclose(in);
    return is;
}

int lab_recording_open(const lab_context *context, const char *file, foliot_replay **replay)
{
    foliot_damage damage;
    foliot_status status = foliot__replay_look(file, replay, &damage); // of any simulation
    if (status == FOLIOT_STATUS_OK)
        return FOLIOT__EXIT_FINE;
    int code = status == FOLIOT_STATUS_IO ? FOLIOT__EXIT_ERROR
               : status == FOLIOT_STATUS_NEWER || status == FOLIOT_STATUS_UNSUPPORTED
                   ? FOLIOT__EXIT_NOT_VERIFIABLE
                   : FOLIOT__EXIT_CORRUPT;
    return lab_fail(context, code, "%s: %s", file,
                    damage.text[0] ? damage.text : foliot_status_get_text(status));
}

// The exit code for a script that was read with that status.
static int script_read(const lab_context *context, foliot_status status, const char *message)
{
    if (status == FOLIOT_STATUS_OK)
        return FOLIOT__EXIT_FINE;
    return lab_fail(context,
                    status == FOLIOT_STATUS_INVALID ? FOLIOT__EXIT_SCENE : FOLIOT__EXIT_ERROR, "%s",
                    message);
}

static int open_script(const lab_context *context, const char *file, const foliot_scene *scene,
                       lab_inputs *inputs)
{
    char message[512];
    foliot_status status =
        foliot__input_script_read(file, &inputs->script, message, sizeof message);
    if (status != FOLIOT_STATUS_OK)
        return script_read(context, status, message);
    for (uint32_t i = 0; i < inputs->script.count; i++)
        if (inputs->script.inputs[i].player >= scene->players.limit)
            return lab_fail(context, FOLIOT__EXIT_SCENE,
                            "%s: player %u does not exist: the scene's limit is %u", file,
                            (unsigned)inputs->script.inputs[i].player,
                            (unsigned)scene->players.limit);
    return FOLIOT__EXIT_FINE;
}

int lab_inputs_open(const lab_context *context, const char *file, const foliot_scene *scene,
                    lab_inputs **out)
{
    *out = NULL;
    if (!file)
        return FOLIOT__EXIT_FINE;
    if (scene->players.limit == 0)
        return lab_fail(context, FOLIOT__EXIT_SCENE, "%s: the scene has no players to steer", file);
    lab_inputs *inputs = calloc(1, sizeof *inputs);
    if (!inputs)
        return lab_fail(context, FOLIOT__EXIT_ERROR, "no memory");
    int code = lab_is_recording(file) ? lab_recording_open(context, file, &inputs->replay)
                                      : open_script(context, file, scene, inputs);
    if (code)
        lab_inputs_close(inputs);
    else
        *out = inputs;
    return code;
}

int lab_inputs_draw(const lab_context *context, uint32_t players, uint64_t seed,
                    const foliot_scene *scene, lab_inputs **out)
{
    *out = NULL;
    if (players > scene->players.limit)
        return foliot__options_wrong(context->program, context->arguments,
                                     "--players %u: the scene takes %u", (unsigned)players,
                                     (unsigned)scene->players.limit);
    lab_inputs *inputs = calloc(1, sizeof *inputs);
    if (inputs)
        inputs->players = foliot__harness_players_create(players, seed);
    if (!inputs || !inputs->players) {
        free(inputs);
        return lab_fail(context, FOLIOT__EXIT_ERROR, "no memory");
    }
    *out = inputs;
    return FOLIOT__EXIT_FINE;
}

bool lab_inputs_at(lab_inputs *inputs, uint64_t tick, const foliot_input **list, uint32_t *count,
                   const char **message)
{
    *count = 0;
    *list = NULL;
    if (inputs && inputs->replay) {
        foliot_replay *replay = inputs->replay;
        const foliot_replay_summary *about = foliot_replay_get_summary(replay);
        foliot_status status = FOLIOT_STATUS_OK;
        // A recording that starts later has nothing for the ticks before it.
        if (!inputs->ended && tick >= about->first_tick)
            status = foliot_replay_get_inputs(replay, tick, list, count);
        inputs->ended |= status == FOLIOT_STATUS_NOT_FOUND;
        if (status == FOLIOT_STATUS_OK || status == FOLIOT_STATUS_NOT_FOUND)
            return true;
        const foliot_damage *damage = foliot_replay_get_damage(replay);
        snprintf(inputs->message, sizeof inputs->message, "inputs of tick %llu: %s",
                 (unsigned long long)tick,
                 damage->text[0] ? damage->text : foliot_status_get_text(status));
        *message = inputs->message;
        return false;
    }
    if (inputs && inputs->players) {
        *count = foliot__harness_players_draw(inputs->players, tick, inputs->drawn,
                                              FOLIOT_HARNESS_INPUTS_MAX);
        *list = inputs->drawn;
    } else if (inputs) {
        *count = foliot__input_script_at(&inputs->script, tick, list);
    }
    return true;
}

void lab_inputs_close(lab_inputs *inputs)
{
    if (!inputs)
        return;
    if (inputs->replay)
        foliot_replay_close(inputs->replay);
    free(inputs->players);
    foliot__input_script_free(&inputs->script);
    free(inputs);
}

// -- commands

struct lab_commands {
    uint32_t most; // in a tick
    foliot__command_script script;
    foliot_command_list list; // of the tick that was asked for last
    foliot_replay *replay;
    bool ended; // the recording holds no more ticks
    char message[256];
};

int lab_commands_open(const lab_context *context, const char *file, const foliot_scene *scene,
                      lab_commands **out)
{
    *out = NULL;
    if (!file)
        return FOLIOT__EXIT_FINE;
    if (scene->commands_max == 0)
        return lab_fail(context, FOLIOT__EXIT_SCENE,
                        "%s: the scene takes no commands; it needs limits: {commands_max: 64}",
                        file);
    lab_commands *commands = calloc(1, sizeof *commands);
    if (!commands)
        return lab_fail(context, FOLIOT__EXIT_ERROR, "no memory");
    commands->most = scene->commands_max;
    char message[512];
    int code = lab_is_recording(file)
                   ? lab_recording_open(context, file, &commands->replay)
                   : script_read(context,
                                 foliot__command_script_read(file, &commands->script, message,
                                                             sizeof message),
                                 message);
    if (code)
        lab_commands_close(commands);
    else
        *out = commands;
    return code;
}

static foliot_status recorded_commands_at(lab_commands *commands, uint64_t tick,
                                          foliot_tick_inputs *in)
{
    foliot_replay *replay = commands->replay;
    foliot_status status = FOLIOT_STATUS_OK;
    // A recording that starts later has nothing for the ticks before it.
    if (!commands->ended && tick >= foliot_replay_get_summary(replay)->first_tick)
        status = foliot_replay_get_commands(replay, tick, &in->commands, &in->command_count);
    commands->ended |= status == FOLIOT_STATUS_NOT_FOUND;
    return status == FOLIOT_STATUS_NOT_FOUND ? FOLIOT_STATUS_OK : status;
}

bool lab_commands_at(lab_commands *commands, uint64_t tick, foliot_tick_inputs *in,
                     const char **message)
{
    in->commands = NULL;
    in->command_count = 0;
    if (!commands)
        return true;
    foliot_status status;
    if (commands->replay) {
        status = recorded_commands_at(commands, tick, in);
    } else {
        status = foliot__command_script_at(&commands->script, tick, &commands->list);
        in->commands = commands->list.commands;
        in->command_count = commands->list.count;
    }
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

// -- orders

struct lab_orders {
    foliot__order_script script;
    foliot_replay *replay;
    bool ended; // the recording holds no more ticks
    char message[256];
};

int lab_orders_open(const lab_context *context, const char *file, const foliot_scene *scene,
                    lab_orders **out)
{
    *out = NULL;
    if (!file)
        return FOLIOT__EXIT_FINE;
    if (scene->commands_max == 0)
        return lab_fail(context, FOLIOT__EXIT_SCENE,
                        "%s: orders are for rules, and the scene takes no commands from them; it "
                        "needs limits: {commands_max: 64}",
                        file);
    lab_orders *orders = calloc(1, sizeof *orders);
    if (!orders)
        return lab_fail(context, FOLIOT__EXIT_ERROR, "no memory");
    char message[512];
    int code =
        lab_is_recording(file)
            ? lab_recording_open(context, file, &orders->replay)
            : script_read(context,
                          foliot__order_script_read(file, scene->players.limit, &orders->script,
                                                    message, sizeof message),
                          message);
    if (code)
        lab_orders_close(orders);
    else
        *out = orders;
    return code;
}

static foliot_status recorded_orders_at(lab_orders *orders, uint64_t tick,
                                        const foliot_order **list, uint32_t *count)
{
    foliot_status status = FOLIOT_STATUS_OK;
    // A recording that starts later has nothing for the ticks before it.
    if (!orders->ended && tick >= foliot_replay_get_summary(orders->replay)->first_tick)
        status = foliot_replay_get_orders(orders->replay, tick, list, count);
    orders->ended |= status == FOLIOT_STATUS_NOT_FOUND;
    return status == FOLIOT_STATUS_NOT_FOUND ? FOLIOT_STATUS_OK : status;
}

bool lab_orders_at(lab_orders *orders, uint64_t tick, const foliot_order **list, uint32_t *count,
                   const char **message)
{
    *list = NULL;
    *count = 0;
    if (!orders)
        return true;
    foliot_status status = orders->replay
                               ? recorded_orders_at(orders, tick, list, count)
                               : foliot__order_script_at(&orders->script, tick, list, count);
    if (status == FOLIOT_STATUS_OK)
        return true;
    const foliot_damage *damage = orders->replay ? foliot_replay_get_damage(orders->replay) : NULL;
    snprintf(orders->message, sizeof orders->message, "orders of tick %" PRIu64 ": %s", tick,
             damage && damage->text[0] ? damage->text : foliot_status_get_text(status));
    *message = orders->message;
    return false;
}

void lab_orders_close(lab_orders *orders)
{
    if (!orders)
        return;
    if (orders->replay)
        foliot_replay_close(orders->replay);
    foliot__order_script_free(&orders->script);
    free(orders);
}
