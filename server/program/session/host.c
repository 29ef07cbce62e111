// SPDX-License-Identifier: MIT
// host.c: creates the parts of a session from files. Refuses with a sentence and an exit code.
#include "host.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/exit_code.h"
#include "base/file.h"
#include "base/text.h"
#include "program/complain.h"
#include "foliot/scene.h"
#include "foliot/replay.h"
#include "recording/format.h"
#include "recording/replay.h"
#include "recordings.h"
#include "scene/assembly.h"
#include "sim/selftest/fingerprint.h"

// -- fingerprints of scenes

#define KEPT_MAX 64 // kinds of scenes; others are computed each time

static struct {
    pthread_mutex_t mutex;
    unsigned count;
    struct {
        uint64_t scope;
        foliot_digest fingerprint;
    } kept[KEPT_MAX];
} cache = {.mutex = PTHREAD_MUTEX_INITIALIZER};

// Fingerprints of scenes, which take ten milliseconds each, computed once for all scenes with the
// same inputs of the fingerprint. Any thread may ask.
static foliot_digest find_fingerprint(const foliot_scene *scene)
{
    uint64_t scope = foliot__fingerprint_scope(scene);
    foliot_digest found = {0};
    bool known = false;
    pthread_mutex_lock(&cache.mutex);
    for (unsigned i = 0; i < cache.count && !known; i++) {
        known = cache.kept[i].scope == scope;
        found = cache.kept[i].fingerprint;
    }
    pthread_mutex_unlock(&cache.mutex);
    if (known)
        return found;
    found = foliot__fingerprint_of_scene(scene);
    pthread_mutex_lock(&cache.mutex);
    if (cache.count < KEPT_MAX && foliot__fingerprint_is_known(found)) {
        cache.kept[cache.count].scope = scope;
        cache.kept[cache.count++].fingerprint = found;
    }
    pthread_mutex_unlock(&cache.mutex);
    return found;
}

// -- sessions

// The name of a scene or of a file becomes the name of a session: it is shown, logged, sent.
static void copy_name(foliot__hosted *hosted, const char *name)
{
    foliot__text_clean(hosted->name, sizeof hosted->name, name);
}

// NAME-DATE.foliot in the folder; "-2" and so on if that file exists. False: too long.
static bool name_recording(foliot__hosted *hosted, const char *folder)
{
    char name[FOLIOT_NAME_BYTES], date[32], *file = hosted->recording_file;
    const size_t bytes = sizeof hosted->recording_file;
    const char *gap = folder ? "/" : "";
    time_t now = time(NULL);
    struct tm tm;
    snprintf(name, sizeof name, "%s", hosted->name);
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
            *c = '-';
    localtime_r(&now, &tm);
    strftime(date, sizeof date, "%Y%m%d-%H%M%S", &tm);
    folder = folder ? folder : "";
    int length = snprintf(file, bytes, "%s%s%s-%s.foliot", folder, gap, name, date);
    for (int i = 2; access(file, F_OK) == 0 && i < 1000; i++)
        length = snprintf(file, bytes, "%s%s%s-%s-%d.foliot", folder, gap, name, date, i);
    return length >= 0 && (size_t)length < bytes;
}

static int apply_options(foliot__hosted *hosted, const char *file,
                         const foliot__host_options *options)
{
    foliot_scene *scene = hosted->scene;
    char why_pace[96];
    if (options->integrator) {
        foliot_integrator id = foliot_integrator_find(options->integrator);
        char why[160];
        const char *meant = foliot_integrator_find_nearest(options->integrator);
        snprintf(why, sizeof why,
                 meant ? "there is no integrator '%s'; did you mean '%s'?"
                       : "there is no integrator '%s'; 'foliot-lab integrators' lists them",
                 options->integrator, meant);
        if (id == FOLIOT_INTEGRATOR_NONE)
            return foliot__host_complain(FOLIOT__EXIT_USAGE, "--integrator", why);
        scene->integrator = id;
    }
    if (options->tick_hz > 0) {
        // Ticks in a real second. If the unit of time is the second, a tick lasts until the next
        // one; otherwise (days, periods) the scene's own step stays.
        char note[192];
        scene->pace_hz = options->tick_hz;
        if (foliot__time_in_seconds(scene->units.time)) {
            scene->dt = 1 / options->tick_hz;
        } else {
            snprintf(note, sizeof note, "--tick-hz sets the pace alone; a tick stays %g %s",
                     scene->dt, *scene->units.time ? scene->units.time : "units of its time");
            foliot__host_complain(0, file, note);
        }
    }
    if (!(scene->pace_hz > 0))
        return foliot__host_complain(
            FOLIOT__EXIT_SCENE, file,
            "its time is not in seconds, so it needs pace_hz (or --tick-hz) to be hosted");
    foliot_error error;
    if (foliot_scene_check(scene, &error) != FOLIOT_STATUS_OK)
        return foliot__host_complain(FOLIOT__EXIT_SCENE, file, error.text);
    if (scene->pace_hz < FOLIOT__PACE_HZ_MIN || scene->pace_hz > FOLIOT__PACE_HZ_MAX) {
        snprintf(why_pace, sizeof why_pace, "a host runs %g to %d ticks in a second, not %g",
                 FOLIOT__PACE_HZ_MIN, FOLIOT__PACE_HZ_MAX, scene->pace_hz);
        return foliot__host_complain(FOLIOT__EXIT_SCENE, file, why_pace);
    }
    hosted->pace_hz = scene->pace_hz;
    return 0;
}

static foliot_recording_config recording_config(double pace_hz, const foliot_signer *signer)
{
    foliot_recording_config config = foliot_recording_config_default();
    config.block_ticks = pace_hz < 20 ? 1 : (uint32_t)(pace_hz / 20); // 50 ms at most are lost
    config.compact_ticks = pace_hz < 1 ? 1 : (uint32_t)pace_hz;       // a second, once it is closed
    config.signer = signer;
    return config;
}

// The file may be a key, a scene or bans, for example, that somebody named by mistake.
static bool something_else(const char *file)
{
    uint8_t bytes[FOLIOT__RECORDING_MAGIC_BYTES] = {0};
    int descriptor = foliot__file_open(file);
    ssize_t length = descriptor < 0 ? 0 : pread(descriptor, bytes, sizeof bytes, 0);
    if (descriptor >= 0)
        close(descriptor);
    return length > 0 && memcmp(bytes, FOLIOT__RECORDING_MAGIC, sizeof bytes) != 0;
}

// Renames a recording that a crash left without an end: --resume may still need it.
int foliot__host_keep_unfinished(const char *file)
{
    char kept[544], told[600];
    if (something_else(file))
        return foliot__host_complain(FOLIOT__EXIT_SCENE, file,
                                     "exists already, and is not a recording");
    // A recording without an end that no process is writing to.
    foliot_replay *replay;
    int descriptor = foliot__file_open(file);
    bool idle = descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    if (descriptor >= 0)
        close(descriptor);
    if (!idle || foliot__replay_look(file, &replay, NULL) != FOLIOT_STATUS_OK)
        return 0;
    bool closed = foliot_replay_get_summary(replay)->closed;
    foliot_replay_close(replay);
    if (closed)
        return 0;
    snprintf(kept, sizeof kept, "%s.unfinished", file);
    for (int i = 2; access(kept, F_OK) == 0 && i < 1000; i++)
        snprintf(kept, sizeof kept, "%s.unfinished-%d", file, i);
    if (rename(file, kept) != 0)
        return foliot__host_complain(FOLIOT__EXIT_ERROR, kept, strerror(errno));
    snprintf(told, sizeof told, "was an unfinished recording; it is kept as %s", kept);
    return foliot__host_complain(0, file, told);
}

int foliot__hosted_record(foliot__hosted *hosted, const foliot__host_options *options)
{
    if (options->no_record || hosted->resumed)
        return 0;
    if (options->record && strlen(options->record) >= sizeof hosted->recording_file)
        return foliot__host_complain(FOLIOT__EXIT_USAGE, "--record",
                                     "the file's name has more than 511 bytes");
    if (options->record)
        snprintf(hosted->recording_file, sizeof hosted->recording_file, "%s", options->record);
    else if (!name_recording(hosted, options->folder))
        return foliot__host_complain(FOLIOT__EXIT_USAGE, "--recordings",
                                     "the folder's name is too long");
    int code = foliot__host_keep_unfinished(hosted->recording_file);
    if (code)
        return code;
    foliot_recording_config config = recording_config(hosted->pace_hz, options->signer);
    config.rules = foliot__hosted_recorded_rules(hosted);
    if (hosted->scene)
        config.fingerprint = find_fingerprint(hosted->scene);
    errno = 0;
    foliot_hosted_world world = {.world = hosted->world, .scene = hosted->scene};
    const foliot_simulation of_world = {.kind = &foliot_world_kind, .self = &world};
    foliot_status status = foliot_recording_open(hosted->recording_file,
                                                 hosted->scene ? &of_world : &hosted->simulation,
                                                 &config, &hosted->recording);
    if (status == FOLIOT_STATUS_OK)
        return 0;
    if (status == FOLIOT_STATUS_IO && errno)
        return foliot__host_complain(foliot__host_exit_for(errno), hosted->recording_file,
                                     strerror(errno));
    return foliot__host_complain(FOLIOT__EXIT_AGAIN, hosted->recording_file,
                                 status == FOLIOT_STATUS_AGAIN ? "another process is writing to it"
                                                               : foliot_status_get_text(status));
}

int foliot__hosted_open(foliot__hosted *hosted, const char *name, const char *file,
                        const foliot__host_options *options)
{
    foliot_error error;
    memset(hosted, 0, sizeof *hosted);
    if (options->simulation) {
        int opened = foliot__hosted_open_simulation(hosted, file, options);
        copy_name(hosted, name ? name : *hosted->terms.name ? hosted->terms.name : "main");
        return opened;
    }
    foliot_status status = foliot_scene_read(file, &hosted->scene, &error);
    if (status != FOLIOT_STATUS_OK) {
        return foliot__host_complain(FOLIOT__EXIT_SCENE, NULL, error.text);
    }
    copy_name(hosted, name ? name : hosted->scene->name);
    snprintf(hosted->scene_file, sizeof hosted->scene_file, "%s", file);
    int code = apply_options(hosted, file, options);
    if (code)
        return code;
    code = foliot__hosted_make_rules(hosted, hosted->scene, options);
    if (code)
        return code;
    status = foliot_world_create(hosted->scene, &hosted->world, NULL);
    if (status != FOLIOT_STATUS_OK)
        return foliot__host_complain(FOLIOT__EXIT_ERROR, file, foliot_status_get_text(status));
    (void)find_fingerprint(hosted->scene); // a recording may begin in the middle
    return 0;
}

// The end of a long name makes room for the number; characters are not split.
void foliot__hosted_number(foliot__hosted *hosted, uint64_t number)
{
    char name[FOLIOT_NAME_BYTES], digits[24];
    int length = snprintf(digits, sizeof digits, "-%llu", (unsigned long long)number);
    size_t kept = strnlen(hosted->name, sizeof hosted->name - 1 - (size_t)length);
    while (kept > 0 && ((unsigned char)hosted->name[kept] & 0xc0) == 0x80)
        kept--;
    snprintf(name, sizeof name, "%.*s%s", (int)kept, hosted->name, digits);
    memcpy(hosted->name, name, sizeof name);
}

static int resume_exit(foliot_status status)
{
    switch (status) {
    case FOLIOT_STATUS_DIVERGED:
        return FOLIOT__EXIT_DIVERGED;
    case FOLIOT_STATUS_CORRUPT:
    case FOLIOT_STATUS_TRUNCATED:
        return FOLIOT__EXIT_CORRUPT;
    case FOLIOT_STATUS_UNSUPPORTED:
    case FOLIOT_STATUS_NEWER:
        return FOLIOT__EXIT_NOT_VERIFIABLE;
    case FOLIOT_STATUS_AGAIN:
        return FOLIOT__EXIT_AGAIN;
    default:
        return FOLIOT__EXIT_ERROR;
    }
}

static double pace_of(const foliot_scene *scene)
{
    return scene->pace_hz > 0 ? scene->pace_hz : 1 / scene->dt;
}

// Reads name, mode and file of the session that is resumed.
static void apply_resumption(foliot__hosted *hosted, const char *file)
{
    const foliot_resumption *about = foliot_recording_get_resumption(hosted->recording);
    const char *name = hosted->scene ? hosted->scene->name : hosted->terms.name;
    // Reports the bytes after the last whole block, and what happened to them.
    unsigned long long tick = about->tick, bytes = about->cut_bytes;
    if (about->was_closed)
        fprintf(stderr,
                "foliot-server: %s had ended in order at tick %llu; it continues from there\n",
                file, tick);
    else if (bytes == 0)
        fprintf(stderr,
                "foliot-server: %s ends with a whole block at tick %llu; nothing was cut off\n",
                file, tick);
    else
        fprintf(stderr,
                "foliot-server: %s is whole up to tick %llu; %llu bytes after it were cut off%s%s: "
                "%s\n",
                file, tick, bytes, *about->kept_in ? " and kept in " : "", about->kept_in,
                about->damage);
    copy_name(hosted, *about->session ? about->session : *name ? name : "main");
    snprintf(hosted->recording_file, sizeof hosted->recording_file, "%s", file);
    hosted->resumed = true;
    hosted->lockstep = about->lockstep;
}

static int resume_simulation(foliot__hosted *hosted, const char *file,
                             const foliot__host_options *options)
{
    char problem[320];
    int code = foliot__hosted_open_recorded(hosted, file, options);
    if (code)
        return code;
    foliot_recording_config config = recording_config(hosted->pace_hz, options->signer);
    foliot_status status = foliot_recording_resume(file, &config, &hosted->simulation,
                                                   &hosted->recording, problem, sizeof problem);
    if (status != FOLIOT_STATUS_OK)
        return foliot__host_complain(resume_exit(status), file, problem);
    apply_resumption(hosted, file);
    return 0;
}

int foliot__hosted_resume(foliot__hosted *hosted, const char *file,
                          const foliot__host_options *options)
{
    char problem[320];
    int code = 0;
    memset(hosted, 0, sizeof *hosted);
    if (access(file, R_OK) != 0)
        return foliot__host_complain(foliot__host_exit_for(errno), file, strerror(errno));
    if (options->simulation)
        return resume_simulation(hosted, file, options);
    // The pace is in the file, and decides how many ticks a block may have.
    foliot_replay *replay = NULL;
    foliot_recording_config config = foliot_recording_config_default();
    if (foliot_replay_open(file, &foliot_world_kind, &replay, NULL) == FOLIOT_STATUS_OK) {
        config =
            recording_config(pace_of(foliot_replay_get_summary(replay)->scene), options->signer);
        code = foliot__hosted_resume_rules(hosted, foliot_replay_get_summary(replay), options);
        config.rules = foliot__hosted_recorded_rules(hosted);
        foliot_replay_close(replay);
    }
    if (code)
        return code;
    foliot_hosted_world resumed = {0};
    foliot_simulation simulation = {.kind = &foliot_world_kind, .self = &resumed};
    foliot_status status = foliot_recording_resume(file, &config, &simulation, &hosted->recording,
                                                   problem, sizeof problem);
    if (status != FOLIOT_STATUS_OK)
        return foliot__host_complain(resume_exit(status), file, problem);
    hosted->scene = resumed.scene;
    hosted->world = resumed.world;
    apply_resumption(hosted, file);
    (void)find_fingerprint(hosted->scene);
    hosted->pace_hz = pace_of(hosted->scene);
    return 0;
}

uint32_t foliot__hosted_player_limit(const foliot__hosted *hosted)
{
    return hosted->scene ? hosted->scene->players.limit : hosted->terms.player_limit;
}

int foliot__hosted_close(foliot__hosted *hosted, uint32_t count)
{
    int code = 0;
    foliot__hosted_end_all(hosted, count);
    for (uint32_t i = 0; i < count; i++) {
        int closed = foliot__hosted_end_recording(&hosted[i]);
        code = code ? code : closed;
        if (!hosted[i].served)
            foliot_world_destroy(hosted[i].world);
        foliot__hosted_destroy_rules(&hosted[i]);
        foliot__hosted_destroy_simulation(&hosted[i]);
        foliot_scene_destroy(hosted[i].scene);
        memset(&hosted[i], 0, sizeof hosted[i]);
    }
    return code;
}
