// SPDX-License-Identifier: MIT
// host.c: creates the parts of a session from files. Refuses with a sentence and an exit code.
#include "host.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "program/app.h"
#include "base/clock.h"
#include "program/report/report.h"
#include "program/options/arguments.h"
#include "base/exit_code.h"
#include "base/file.h"
#include "base/text.h"
#include "foliot/replay.h"
#include "foliot/scene.h"
#include "program/process.h"
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

// -- simulations other than a world: a module, a configuration in place of a scene, and the data of
// both in a recording

#define PROBLEM_BYTES 512

static int complain(const char *what, const char *why)
{
    return foliot__host_complain(FOLIOT__EXIT_SCENE, what, why);
}

// All sessions of a process step the simulation of one module.
static int load(foliot__hosted *h, const foliot__host_options *options)
{
    static const foliot__module *module;
    char problem[PROBLEM_BYTES];
    if (!options->allows_modules)
        return complain(options->simulation,
                        "a module runs with all rights of this server: --allow-modules permits it");
    if (!module)
        module = foliot__module_load(options->simulation, problem, sizeof problem);
    h->simulation_module = module;
    return module ? 0 : complain(options->simulation, problem);
}

// From a setup that `h` has.
static int create(foliot__hosted *h, const char *file, const foliot__host_options *options)
{
    char problem[PROBLEM_BYTES];
    const foliot__module *module = h->simulation_module;
    if (!foliot__module_describe(module, h->setup, h->setup_bytes, &h->terms, problem,
                                 sizeof problem))
        return complain(file, problem);
    foliot_status status =
        foliot_simulation_create(&module->kind, h->setup, h->setup_bytes, &h->simulation);
    if (status != FOLIOT_STATUS_OK)
        return complain(file, foliot_status_get_text(status));
    h->pace_hz = options->tick_hz > 0 ? options->tick_hz : h->terms.pace_hz;
    return 0;
}

static int open_simulation(foliot__hosted *h, const char *file, const foliot__host_options *options)
{
    char problem[PROBLEM_BYTES];
    int code = load(h, options);
    if (code)
        return code;
    if (!foliot__module_configure(h->simulation_module, file, &h->setup, &h->setup_bytes, problem,
                                  sizeof problem))
        return complain(file ? file : options->simulation, problem);
    return create(h, file ? file : options->simulation, options);
}

// The setup in the recording, if the recording is of this simulation.
static int copy_setup(foliot__hosted *h, const char *file)
{
    foliot_replay *replay = NULL;
    foliot_damage damage = {0};
    foliot_status status = foliot_replay_open(file, &h->simulation_module->kind, &replay, &damage);
    if (status != FOLIOT_STATUS_OK)
        return complain(file, *damage.text ? damage.text : foliot_status_get_text(status)),
               status == FOLIOT_STATUS_CORRUPT || status == FOLIOT_STATUS_TRUNCATED
                   ? FOLIOT__EXIT_CORRUPT
               : status == FOLIOT_STATUS_UNSUPPORTED ? FOLIOT__EXIT_SCENE
                                                     : FOLIOT__EXIT_ERROR;
    const foliot_replay_summary *about = foliot_replay_get_summary(replay);
    h->setup_bytes = about->setup_bytes;
    h->setup = malloc(h->setup_bytes + 1);
    if (h->setup && h->setup_bytes)
        memcpy(h->setup, about->setup, h->setup_bytes);
    foliot_replay_close(replay);
    return h->setup ? 0 : complain(file, foliot_status_get_text(FOLIOT_STATUS_MEMORY));
}

void foliot__hosted_destroy_simulation(foliot__hosted *h)
{
    foliot_simulation_destroy(&h->simulation);
    free(h->setup);
    h->setup = NULL;
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
            snprintf(note, sizeof note, "--tick-hz sets only the pace; a tick stays %g %s",
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

// Renames a recording that a crash left without an end: --resume may still need it.
int foliot__host_keep_unfinished(const char *file)
{
    char kept[544], message[600];
    // The file may be a key, a scene or bans, for example, that somebody named by mistake.
    uint8_t bytes[FOLIOT__RECORDING_MAGIC_BYTES] = {0};
    int descriptor = foliot__file_open(file);
    ssize_t length = descriptor < 0 ? 0 : pread(descriptor, bytes, sizeof bytes, 0);
    bool idle = descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    if (descriptor >= 0)
        close(descriptor);
    if (length > 0 && memcmp(bytes, FOLIOT__RECORDING_MAGIC, sizeof bytes) != 0)
        return foliot__host_complain(FOLIOT__EXIT_SCENE, file,
                                     "exists already, and is not a recording");
    // A recording without an end that no process is writing to.
    foliot_replay *replay;
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
    snprintf(message, sizeof message, "was an unfinished recording; it is kept as %s", kept);
    return foliot__host_complain(0, file, message);
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
        int opened = open_simulation(hosted, file, options);
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

// The text of the error begins with the name of the file, as a complaint does.
static int complain_resume(foliot_status status, const char *file, const foliot_error *error)
{
    size_t place = strlen(file) + 2;
    const char *why = strlen(error->text) > place ? error->text + place : error->text;
    return foliot__host_complain(resume_exit(status), file, why);
}

static int resume_simulation(foliot__hosted *hosted, const char *file,
                             const foliot__host_options *options)
{
    foliot_error error;
    int code = load(hosted, options);
    if (code == 0)
        code = copy_setup(hosted, file);
    if (code == 0)
        code = create(hosted, file, options);
    if (code)
        return code;
    foliot_recording_config config = recording_config(hosted->pace_hz, options->signer);
    foliot_status status =
        foliot_recording_resume(file, &config, &hosted->simulation, &hosted->recording, &error);
    if (status != FOLIOT_STATUS_OK)
        return complain_resume(status, file, &error);
    apply_resumption(hosted, file);
    return 0;
}

int foliot__hosted_resume(foliot__hosted *hosted, const char *file,
                          const foliot__host_options *options)
{
    foliot_error error;
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
    foliot_status status =
        foliot_recording_resume(file, &config, &simulation, &hosted->recording, &error);
    if (status != FOLIOT_STATUS_OK)
        return complain_resume(status, file, &error);
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

// -- rotation. The state between two ticks is the last of one recording and the first of the next,
// so no tick is lost. It rotates one session at a time: beginning a recording costs the loop's
// thread a capture of its world. A recording is examined between two steps of its session, since a
// worker appends to it during a step.

#define NS_PER_MINUTE 60e9
#define AGAIN_NS 60000000000u // if the next one could not begin
#define LOOK_NS 100000000u
#define LOOKS_MAX 32 // at sessions by their names, after one update

static void note_failure(const foliot__hosted *h, const char *why)
{
    char note[1100];
    snprintf(note, sizeof note, "--recordings-minutes: %s continues: %s", h->recording_file, why);
    foliot__log_warning("not-rotated", h->name, note, FOLIOT_STATUS_IO);
}

static bool has_ticks(const foliot_recording *recording)
{
    foliot_recording_state state = foliot_recording_get_state(recording);
    return state.written_tick > state.first_tick;
}

static bool has_stopped(const foliot_recording *recording)
{
    return foliot_recording_get_state(recording).stopped != FOLIOT_STATUS_OK;
}

void foliot__rotation_finish(foliot__app *a, foliot__hosted *h)
{
    if (!h->former)
        return;
    if (h->recording && !has_ticks(h->recording) && (h->suspended || has_stopped(h->recording))) {
        foliot_recording_abandon(h->former); // it is the one to resume
        h->former = NULL;
    } else {
        // The previous part ends when this one has ticks, and with them the list of players. Until
        // then a crash leaves both without an end, and the previous part is resumed.
        foliot__hosted former = {.recording = h->former};
        memcpy(former.name, h->name, sizeof former.name);
        memcpy(former.recording_file, h->former_file, sizeof former.recording_file);
        h->former = NULL;
        foliot__recordings_close_taken(a, &former);
    }
}

static void rotate(foliot__app *a, foliot__hosted *h, uint64_t now)
{
    char why[512];
    foliot__host_options options = {.folder = foliot__recordings_folder(a->choices),
                                    .signer = a->signer};
    foliot__hosted next = *h;
    next.recording = NULL;
    next.resumed = false; // its file is another
    h->recorded_ns = now + AGAIN_NS - (uint64_t)(a->choices->recording.minutes * NS_PER_MINUTE);
    foliot__host_complain_into(why, sizeof why);
    int code = foliot__hosted_record(&next, &options);
    foliot__host_complain_into(NULL, 0);
    if (code) {
        note_failure(h, why);
        return;
    }
    if (foliot_server_set_recording(a->server, h->name, next.recording) != FOLIOT_STATUS_OK) {
        foliot_recording_abandon(next.recording);
        unlink(next.recording_file); // nobody has used it
        note_failure(h, "the next one could not begin");
        return;
    }
    (void)!foliot_recording_flush(h->recording);
    h->former = h->recording;
    memcpy(h->former_file, h->recording_file, sizeof h->former_file);
    h->recording = next.recording;
    h->recorded_ns = now;
    snprintf(h->recording_file, sizeof h->recording_file, "%s", next.recording_file);
}

void foliot__rotation_update(foliot__app *a)
{
    uint64_t now = foliot__clock_now_ns();
    if (!(a->choices->recording.minutes > 0) || a->ending || now < a->rotates_ns)
        return;
    uint32_t first = a->rotates_first, looks = 0;
    bool steps = false;
    for (uint32_t i = 0; i < a->hosted_count; i++) {
        uint32_t at = (first + i) % a->hosted_count;
        foliot__hosted *h = &a->hosted[at];
        // Whether there is a part to end or to begin, as soon as no step runs.
        uint64_t age_ns = (uint64_t)(a->choices->recording.minutes * NS_PER_MINUTE);
        if (!h->served || h->ended || !h->recording || !h->world) {
            h->recorded_ns = 0;
            foliot__rotation_finish(a, h);
            continue;
        }
        if (h->recorded_ns == 0)
            h->recorded_ns = now;
        if (!h->former && !((int64_t)(now - h->recorded_ns) >= (int64_t)age_ns))
            continue;
        a->rotates_first = at + 1;
        if (!foliot_server_get_world(a->server, h->name)) {
            steps = true;
            if (++looks == LOOKS_MAX)
                return;
            continue;
        }
        if (!h->former) {
            rotate(a, h, now);
            return; // the next session after the next update
        }
        if (has_ticks(h->recording) || has_stopped(h->recording))
            foliot__rotation_finish(a, h);
    }
    if (!steps) // else after the next update, which may take the step in
        a->rotates_ns = now + LOOK_NS;
}
