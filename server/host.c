// SPDX-License-Identifier: MIT
// host.c: from files to what a session needs. Refuses with a sentence and the exit code that it means.
#include "host.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/exit_code.h"
#include "foliot/integrator.h"
#include "foliot/scene_reader.h"

static int complain(int code, const char *what, const char *why)
{
    fprintf(stderr, "foliot-server: %s: %s\n", what, why);
    return code;
}

// NAME-DATE.foliot, in the working folder; "-2" and so on if that is there already.
static void name_recording(foliot__hosted *hosted)
{
    char name[FOLIOT_NAME_BYTES], date[32];
    time_t now = time(NULL);
    struct tm tm;
    snprintf(name, sizeof name, "%s", hosted->name);
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
            *c = '-';
    localtime_r(&now, &tm);
    strftime(date, sizeof date, "%Y%m%d-%H%M%S", &tm);
    snprintf(hosted->recording_file, sizeof hosted->recording_file, "%s-%s.foliot", name, date);
    for (int i = 2; access(hosted->recording_file, F_OK) == 0 && i < 1000; i++)
        snprintf(hosted->recording_file, sizeof hosted->recording_file, "%s-%s-%d.foliot", name, date, i);
}

static int apply_options(foliot__hosted *hosted, const char *file, const foliot__host_options *options)
{
    foliot_scene *scene = hosted->scene;
    if (options->integrator) {
        foliot_integrator id = foliot_integrator_find(options->integrator);
        char why[160];
        snprintf(why, sizeof why, "there is no integrator '%s'; the nearest is '%s'", options->integrator,
                 foliot_integrator_nearest(options->integrator));
        if (id == FOLIOT_INTEGRATOR_NONE)
            return complain(FOLIOT__EXIT_USAGE, "--integrator", why);
        scene->integrator = id;
    }
    if (options->tick_hz > 0) {
        scene->dt = 1 / options->tick_hz;
        scene->pace_hz = options->tick_hz;
    }
    if (!(scene->pace_hz > 0))
        return complain(FOLIOT__EXIT_SCENE, file,
                        "its time is not in seconds, so it needs pace_hz (or --tick-hz) to be hosted");
    foliot_scene_problem problem;
    if (foliot_scene_check(scene, &problem) != FOLIOT_OK) {
        char why[sizeof problem.path + sizeof problem.text + 4];
        snprintf(why, sizeof why, "%s: %s", problem.path, problem.text);
        return complain(FOLIOT__EXIT_SCENE, file, why);
    }
    hosted->pace_hz = scene->pace_hz;
    return 0;
}

static int open_recording(foliot__hosted *hosted, const foliot__host_options *options)
{
    if (options->no_record)
        return 0;
    if (options->record)
        snprintf(hosted->recording_file, sizeof hosted->recording_file, "%s", options->record);
    else
        name_recording(hosted);
    foliot_recording_config config = foliot_recording_default();
    config.block_ticks = hosted->pace_hz < 20 ? 1 : (uint32_t)(hosted->pace_hz / 20); // 50 ms at most are lost
    foliot_status status = foliot_recording_create(hosted->recording_file, hosted->scene, NULL, hosted->world,
                                                   &config, &hosted->recording);
    if (status == FOLIOT_OK)
        return 0;
    return complain(FOLIOT__EXIT_AGAIN, hosted->recording_file, foliot_status_text(status));
}

int foliot__hosted_open(foliot__hosted *hosted, const char *name, const char *file,
                        const foliot__host_options *options)
{
    foliot_scene_error error;
    memset(hosted, 0, sizeof *hosted);
    foliot_status status = foliot_scene_read(file, &hosted->scene, &error);
    if (status != FOLIOT_OK) {
        fprintf(stderr, "%s\n", error.message);
        return FOLIOT__EXIT_SCENE;
    }
    snprintf(hosted->name, sizeof hosted->name, "%s", name ? name : hosted->scene->name);
    int code = apply_options(hosted, file, options);
    if (code)
        return code;
    status = foliot_world_create(hosted->scene, &hosted->world);
    if (status != FOLIOT_OK)
        return complain(FOLIOT__EXIT_ERROR, file, foliot_status_text(status));
    return open_recording(hosted, options);
}

int foliot__hosted_resume(foliot__hosted *hosted, const char *file)
{
    memset(hosted, 0, sizeof *hosted);
    foliot_recording_config config = foliot_recording_default();
    foliot_status status =
        foliot_recording_resume(file, &config, &hosted->recording, &hosted->scene, &hosted->world);
    if (status == FOLIOT_DIVERGED)
        return complain(FOLIOT__EXIT_DIVERGED, file, "this build does not replay it to the same bits");
    if (status == FOLIOT_CORRUPT || status == FOLIOT_TRUNCATED)
        return complain(FOLIOT__EXIT_CORRUPT, file, "not even its first keyframe is whole");
    if (status == FOLIOT_UNSUPPORTED || status == FOLIOT_NEWER)
        return complain(FOLIOT__EXIT_NOT_VERIFIABLE, file, foliot_status_text(status));
    if (status != FOLIOT_OK)
        return complain(FOLIOT__EXIT_ERROR, file, foliot_status_text(status));
    snprintf(hosted->name, sizeof hosted->name, "%s", hosted->scene->name);
    snprintf(hosted->recording_file, sizeof hosted->recording_file, "%s", file);
    hosted->pace_hz = hosted->scene->pace_hz > 0 ? hosted->scene->pace_hz : 1 / hosted->scene->dt;
    hosted->resumed = true;
    return 0;
}

int foliot__hosted_close(foliot__hosted *hosted)
{
    foliot_recording_state state;
    int code = 0;
    if (hosted->recording) {
        foliot_status status = foliot_recording_close(hosted->recording, &state);
        printf("recording %s: ticks %llu to %llu", hosted->recording_file, (unsigned long long)state.first_tick,
               (unsigned long long)state.written_tick);
        if (status == FOLIOT_OK)
            printf("; check it: foliot-replay verify %s\n", hosted->recording_file);
        else
            printf("; it stopped early (%s), %llu ticks are not in it\n", foliot_status_text(status),
                   (unsigned long long)state.ticks_lost);
        code = status == FOLIOT_OK ? 0 : FOLIOT__EXIT_AGAIN;
    }
    foliot_scene_destroy(hosted->scene);
    memset(hosted, 0, sizeof *hosted);
    return code;
}
