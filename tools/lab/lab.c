// SPDX-License-Identifier: MIT
// lab.c: what all commands share (lab.h).
#include "lab.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "base/watchdog.h"
#include "foliot/harness.h"
#include "foliot/replay.h"
#include "recording/format.h"
#include "recording/replay.h"
#include "divergence/harness_inputs.h"
#include "simulation/input_script.h"

#define GRACE_SECONDS 10.0 // for a step to end after a signal: the run is then reported

int lab_fail(const lab_context *context, int code, const char *format, ...)
{
    fprintf(stderr, "%s %s: ", context->program->name, context->arguments->command->name);
    va_list list;
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    return code;
}

int lab_cannot_write(const lab_context *context, const char *file)
{
    int reason = errno;
    return lab_fail(context,
                    reason == ENOSPC || reason == EDQUOT ? FOLIOT__EXIT_AGAIN : FOLIOT__EXIT_ERROR,
                    "cannot write %s: %s", file, strerror(reason));
}

int lab_scene_open(const lab_context *context, const char *file, const char *integrator, double dt,
                   foliot_scene **scene)
{
    foliot_integrator id = FOLIOT_INTEGRATOR_NONE;
    char message[256];
    if (integrator && !lab_integrator(integrator, &id, message, sizeof message))
        return lab_fail(context, FOLIOT__EXIT_USAGE, "%s", message);
    foliot_scene_error error;
    foliot_status status = foliot_scene_read(file, scene, &error);
    if (status == FOLIOT_STATUS_IO)
        return lab_fail(context, FOLIOT__EXIT_SCENE, "%s", error.message);
    if (status != FOLIOT_STATUS_OK) {
        fprintf(stderr, "%s\n", error.message);
        return status == FOLIOT_STATUS_MEMORY ? FOLIOT__EXIT_ERROR : FOLIOT__EXIT_SCENE;
    }
    foliot_scene_problem problem;
    if (lab_scene_change(*scene, id, dt, &problem) == FOLIOT_STATUS_OK)
        return FOLIOT__EXIT_FINE;
    foliot_scene_destroy(*scene);
    *scene = NULL;
    return lab_fail(context, FOLIOT__EXIT_SCENE, "%s: %s: %s", file, problem.path, problem.text);
}

bool lab_ticks(double time, double dt, uint64_t *ticks)
{
    double count = round(time / dt);
    *ticks = count > 0 ? (uint64_t)fmin(count, 0x1p53) : 0;
    // The tolerance covers the rounding of T, of dt and of their ratio.
    return count <= 0x1p53 && fabs(count * dt - time) <= 1e-12 * fabs(time);
}

// -- inputs

// Either a script, or a recording that runs beside the lab's world for its inputs.
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

static int open_script(const lab_context *context, const char *file, const foliot_scene *scene,
                       lab_inputs *inputs)
{
    char message[512];
    foliot_status status =
        foliot__input_script_read(file, &inputs->script, message, sizeof message);
    if (status != FOLIOT_STATUS_OK)
        return lab_fail(context,
                        status == FOLIOT_STATUS_INVALID ? FOLIOT__EXIT_SCENE : FOLIOT__EXIT_ERROR,
                        "%s", message);
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

static bool recorded_at(lab_inputs *inputs, uint64_t tick, const foliot_input **list,
                        uint32_t *count, const char **message)
{
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

bool lab_inputs_at(lab_inputs *inputs, uint64_t tick, const foliot_input **list, uint32_t *count,
                   const char **message)
{
    *count = 0;
    *list = NULL;
    if (inputs && inputs->replay)
        return recorded_at(inputs, tick, list, count, message);
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

// -- the process

// A signal ends the run after the current step, and what was computed so far is reported.
void lab_catch_signals(void)
{
    const foliot__watchdog_config watchdog = {.program = "foliot-lab",
                                              .work = "a step of the scene",
                                              .lost = "nothing was reported",
                                              .grace_seconds = GRACE_SECONDS};
    foliot__watchdog_start(&watchdog);
}

bool lab_interrupted(void)
{
    return foliot__watchdog_stop_requested();
}

uint64_t lab_now_ns(void)
{
    return foliot__clock_now_ns();
}
