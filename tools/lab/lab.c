// SPDX-License-Identifier: MIT
// lab.c: functions that all commands share (lab.h).
#include "lab.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/watchdog.h"

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
    foliot_error error;
    foliot_status status = foliot_scene_read(file, scene, &error);
    if (status == FOLIOT_STATUS_IO)
        return lab_fail(context, FOLIOT__EXIT_SCENE, "%s", error.text);
    if (status != FOLIOT_STATUS_OK) {
        fprintf(stderr, "%s\n", error.text);
        return status == FOLIOT_STATUS_MEMORY ? FOLIOT__EXIT_ERROR : FOLIOT__EXIT_SCENE;
    }
    if (lab_scene_change(*scene, id, dt, &error) == FOLIOT_STATUS_OK)
        return FOLIOT__EXIT_FINE;
    foliot_scene_destroy(*scene);
    *scene = NULL;
    return lab_fail(context, FOLIOT__EXIT_SCENE, "%s: %s", file, error.text);
}

bool lab_ticks(double time, double dt, uint64_t *ticks)
{
    double count = round(time / dt);
    *ticks = count > 0 ? (uint64_t)fmin(count, 0x1p53) : 0;
    // The tolerance covers the rounding of T, of dt and of their ratio.
    return count <= 0x1p53 && fabs(count * dt - time) <= 1e-12 * fabs(time);
}

// -- the process

// A signal ends the run after the current step, and the results so far are reported.
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
