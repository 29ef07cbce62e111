// SPDX-License-Identifier: MIT
// recordings.c: see recordings.h. Whether a recording is finished is read from the file, never from
// its name. The helper process that runs the command is forked early: it keeps the system calls
// that the server gives up, and receives nothing but names of files. With each name it gets a lock
// of the file, so that no budget deletes a recording that waits for its command.
#include "recordings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exit_code.h"
#include "base/file.h"
#include "foliot/replay.h"
#include "program/app.h"
#include "program/process.h"
#include "program/options/arguments.h"
#include "program/report/report.h"
#include "program/sandbox/sandbox.h"
#include "recording/replay.h"

#define SUFFIX ".foliot"

// -- the command

static struct {
    int socket; // -1: no command
    pid_t helper;
} helper = {.socket = -1};

// Ends with the server: its socket closes then. Signals that are meant for the server also reach
// this process, since it is in its group.
static _Noreturn void help(int socket, const char *command)
{
    char file[PATH_MAX];
    int lock;
    if (foliot__sandbox_drop() != 0)
        _exit(1);
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    for (;;) {
        ssize_t length = foliot__descriptor_receive(socket, file, sizeof file - 1, &lock);
        if (length <= 0)
            _exit(0);
        file[length] = 0;
        // One at a time: a slow command delays the next ones, not the server.
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            signal(SIGINT, SIG_DFL);
            signal(SIGTERM, SIG_DFL);
            signal(SIGHUP, SIG_DFL);
            signal(SIGPIPE, SIG_DFL);
            signal(SIGXFSZ, SIG_DFL);
            execl("/bin/sh", "sh", "-c", command, "sh", file, (char *)NULL);
            _exit(127);
        }
        if (child < 0)
            fprintf(stderr, "foliot-server: --on-recording %s: %s\n", file, strerror(errno));
        while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
        if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) != 0)
            fprintf(stderr,
                    "foliot-server: --on-recording %s: the command ended with exit code %d\n", file,
                    WEXITSTATUS(status));
        else if (child > 0 && WIFSIGNALED(status))
            fprintf(stderr,
                    "foliot-server: --on-recording %s: the command was ended by signal %d\n", file,
                    WTERMSIG(status));
        if (lock >= 0)
            close(lock);
    }
}

int foliot__recordings_open(const char *command)
{
    int ends[2];
    if (!command)
        return 0;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        fprintf(stderr, "foliot-server: --on-recording: %s\n", strerror(errno));
        return FOLIOT__EXIT_AGAIN;
    }
    helper.helper = fork();
    if (helper.helper == 0) {
        close(ends[0]);
        help(ends[1], command);
    }
    close(ends[1]);
    if (helper.helper < 0) {
        close(ends[0]);
        fprintf(stderr, "foliot-server: --on-recording: no process: %s\n", strerror(errno));
        return FOLIOT__EXIT_AGAIN;
    }
    helper.socket = ends[0];
    return 0;
}

static bool send_name(const char *file, int lock)
{
    return foliot__descriptor_send(helper.socket, file, strlen(file), lock, MSG_DONTWAIT);
}

void foliot__recordings_finished(const char *file)
{
    char path[PATH_MAX], note[PATH_MAX + 96];
    if (helper.socket < 0)
        return;
    if (!realpath(file, path))
        snprintf(path, sizeof path, "%s", file);
    int lock = foliot__file_open(path);
    if (lock >= 0)
        (void)flock(lock, LOCK_SH | LOCK_NB);
    // Too many descriptors may be in flight: then only the name is sent.
    bool sent = send_name(path, lock) || (errno == ETOOMANYREFS && send_name(path, -1));
    int why = errno;
    if (lock >= 0)
        close(lock);
    errno = why;
    if (sent)
        return;
    snprintf(note, sizeof note, "--on-recording: %s: %s", path,
             errno == EAGAIN
                 ? "too many recordings wait for the command; it is not run for this one"
                 : strerror(errno));
    foliot__log_note("on-recording", note);
}

void foliot__recordings_end_commands(uint32_t wait_ms)
{
    if (helper.socket < 0)
        return;
    close(helper.socket);
    helper.socket = -1;
    for (uint32_t waited = 0; waitpid(helper.helper, NULL, WNOHANG) == 0; waited += 20) {
        if (waited >= wait_ms) {
            fprintf(stderr, "foliot-server: --on-recording: the command still runs; it is left to "
                            "end by itself\n");
            return;
        }
        poll(NULL, 0, 20);
    }
}

// -- the files of the folder

typedef struct listed {
    char *path;
    uint64_t bytes;
    struct timespec changed;
} listed;

static int by_age(const void *a, const void *b)
{
    const listed *one = a, *other = b;
    if (one->changed.tv_sec != other->changed.tv_sec)
        return one->changed.tv_sec < other->changed.tv_sec ? -1 : 1;
    if (one->changed.tv_nsec != other->changed.tv_nsec)
        return one->changed.tv_nsec < other->changed.tv_nsec ? -1 : 1;
    return strcmp(one->path, other->path);
}

static bool look_at(const char *folder, const char *name, listed *entry)
{
    struct stat about;
    size_t length = strlen(name), tail = sizeof SUFFIX - 1;
    if ((length <= tail || name[0] == '.' || strcmp(name + length - tail, SUFFIX) != 0) ||
        asprintf(&entry->path, "%s/%s", folder, name) < 0)
        return false;
    if (lstat(entry->path, &about) != 0 || !S_ISREG(about.st_mode)) {
        free(entry->path);
        return false;
    }
    entry->bytes = (uint64_t)about.st_size;
    entry->changed = about.st_mtim;
    return true;
}

static void free_list(listed *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(list[i].path);
    free(list);
}

// The oldest first. NULL and errno.
static listed *list_folder(const char *folder, uint32_t *count)
{
    uint32_t capacity = 64;
    DIR *directory = opendir(folder);
    if (!directory)
        return NULL;
    listed *list = malloc(capacity * sizeof *list);
    *count = 0;
    for (struct dirent *entry; list && (entry = readdir(directory));) {
        if (*count == FOLIOT__RECORDINGS_LISTED_MAX ||
            !look_at(folder, entry->d_name, &list[*count]))
            continue;
        if (++*count < capacity)
            continue;
        listed *larger = realloc(list, (capacity *= 2) * sizeof *list);
        if (!larger) {
            free_list(list, *count);
            errno = ENOMEM;
        }
        list = larger;
    }
    closedir(directory);
    if (list)
        qsort(list, *count, sizeof *list, by_age);
    return list;
}

// A descriptor that locks the file, if no process writes to it and it has ended as `closed` states;
// otherwise -1. *damage: why it cannot be read; FOLIOT_STATUS_AGAIN if a process writes to it.
// *empty (may be NULL): whether it is a part without a tick, which a crash left while the part
// before it had no end either (rotation.c).
static int lock_idle(const char *file, bool closed, foliot_damage *damage, bool *empty)
{
    foliot_replay *replay;
    *damage = (foliot_damage){0};
    int descriptor = foliot__file_open(file);
    if (descriptor < 0) {
        damage->status = FOLIOT_STATUS_IO;
        snprintf(damage->text, sizeof damage->text, "%s", foliot__file_problem(errno));
        return -1;
    }
    // The helper locks a finished recording that waits for its command, to read it: see above.
    bool idle = flock(descriptor, (closed ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0;
    if (!idle) {
        damage->status = FOLIOT_STATUS_AGAIN;
        snprintf(damage->text, sizeof damage->text, "it is being written to");
    }
    if (idle && foliot__replay_look(file, &replay, damage) == FOLIOT_STATUS_OK) {
        *damage = (foliot_damage){0};
        const foliot_replay_summary *about = foliot_replay_get_summary(replay);
        bool fits = about->closed == closed;
        if (empty)
            *empty = about->first_tick > 0 && about->last_tick == about->first_tick;
        foliot_replay_close(replay);
        if (fits)
            return descriptor;
    }
    close(descriptor);
    return -1;
}

char **foliot__recordings_unfinished(const char *folder, uint32_t *count, uint32_t *empty_count)
{
    uint32_t all, found = 0, empties = 0;
    listed *list = list_folder(folder, &all);
    if (!list)
        return NULL;
    char **files = calloc(all + 1, sizeof *files);
    for (uint32_t i = all; files && i-- > 0;) {
        foliot_damage damage;
        bool empty = false;
        int descriptor = lock_idle(list[i].path, false, &damage, &empty);
        if (descriptor < 0 && damage.status != FOLIOT_STATUS_OK && list[i].bytes > 0)
            fprintf(stderr, "foliot-server: %s cannot be continued, and is left as it is: %s\n",
                    list[i].path, damage.text);
        if (descriptor < 0)
            continue;
        close(descriptor);
        files[empty ? all - ++empties : found++] = list[i].path;
        list[i].path = NULL;
    }
    free_list(list, all);
    if (files)
        memmove(files + found, files + all - empties, empties * sizeof *files);
    *count = found;
    *empty_count = empties;
    return files;
}

typedef struct trim_result {
    uint64_t bytes;   // that remain
    uint32_t deleted; // files
    int error;        // errno of the first deletion or look that failed; 0: none
} trim_result;

static trim_result trim_folder(const char *folder, uint64_t bytes_max)
{
    trim_result kept = {0};
    uint32_t count;
    listed *list = list_folder(folder, &count);
    if (!list) {
        kept.error = errno;
        return kept;
    }
    for (uint32_t i = 0; i < count; i++)
        kept.bytes += list[i].bytes;
    for (uint32_t i = 0; i < count && kept.bytes > bytes_max; i++) {
        foliot_damage damage;
        int descriptor = lock_idle(list[i].path, true, &damage, NULL);
        if (descriptor < 0)
            continue;
        if (unlink(list[i].path) == 0) {
            kept.bytes -= list[i].bytes;
            kept.deleted++;
        } else if (!kept.error) {
            kept.error = errno;
        }
        close(descriptor);
    }
    free_list(list, count);
    return kept;
}

static const char *folder(const foliot__app *a)
{
    return foliot__recordings_folder(a->choices) ? foliot__recordings_folder(a->choices) : ".";
}

typedef struct trimming {
    uv_work_t work;
    const foliot__app *app;
    trim_result kept;
} trimming;

static void note_trimmed(const foliot__app *a, const trim_result *kept)
{
    char note[256];
    if (kept->error)
        snprintf(note, sizeof note, "--recordings-max-bytes: %s: %s", folder(a),
                 strerror(kept->error));
    else if (kept->deleted)
        snprintf(note, sizeof note, "%u old recordings were deleted; %llu bytes remain",
                 kept->deleted, (unsigned long long)kept->bytes);
    else
        return;
    foliot__log_note("old-recordings", note);
}

static void trim(uv_work_t *work)
{
    trimming *t = work->data;
    t->kept = trim_folder(folder(t->app), t->app->choices->recording.bytes_max);
}

static void trimmed(uv_work_t *work, int status)
{
    trimming *t = work->data;
    (void)status;
    note_trimmed(t->app, &t->kept);
    free(t);
}

void foliot__recordings_trim_soon(foliot__app *a)
{
    trimming *t = a->choices->recording.bytes_max ? calloc(1, sizeof *t) : NULL;
    if (!t)
        return;
    t->work.data = t;
    t->app = a;
    if (uv_queue_work(&a->loop, &t->work, trim, trimmed) != 0)
        free(t);
}

void foliot__recordings_trim_last(foliot__app *a)
{
    if (!a->choices->recording.bytes_max)
        return;
    trim_result kept = trim_folder(folder(a), a->choices->recording.bytes_max);
    note_trimmed(a, &kept);
}

// -- the end of a recording

// The file is whole without it, only longer.
static void compact_recording(const foliot__hosted *hosted)
{
    char why[640];
    foliot_status status = foliot_recording_compact(hosted->recording);
    if (status == FOLIOT_STATUS_OK)
        return;
    snprintf(why, sizeof why, "%s is complete, but was not compacted: %s", hosted->recording_file,
             foliot_status_get_text(status));
    foliot__log_warning("not-compacted", hosted->name, why, status);
}

// Reports the content of the recording, and what to do with a whole one.
static void tell_ticks(const foliot__hosted *hosted, foliot_status status,
                       const foliot_recording_state *state, const char *then)
{
    printf("recording %s: ticks %llu to %llu", hosted->recording_file,
           (unsigned long long)state->first_tick, (unsigned long long)state->written_tick);
    if (status == FOLIOT_STATUS_OK)
        printf("; %s %s%s\n", then, hosted->recording_file,
               hosted->simulation_module ? " --simulation FILE" : "");
    else
        printf("; it stopped early (%s), %llu ticks are not in it\n",
               state->stopped_errno ? strerror(state->stopped_errno)
                                    : foliot_status_get_text(status),
               (unsigned long long)state->ticks_lost);
}

// All ticks are in the file, and it has no end.
static int suspend_recording(const foliot__hosted *hosted)
{
    (void)!foliot_recording_flush(hosted->recording);
    foliot_status status = foliot_recording_wait(hosted->recording, true);
    foliot_recording_state state = foliot_recording_get_state(hosted->recording);
    foliot_recording_abandon(hosted->recording);
    tell_ticks(hosted, status, &state, "continue it: foliot-server --resume");
    return status == FOLIOT_STATUS_OK ? 0 : FOLIOT__EXIT_AGAIN;
}

static int close_recording(const foliot__hosted *hosted)
{
    foliot_recording_state state;
    if (hosted->suspended)
        return suspend_recording(hosted);
    if (foliot_recording_end(hosted->recording) == FOLIOT_STATUS_OK)
        compact_recording(hosted);
    foliot_status status = foliot_recording_close(hosted->recording, &state);
    tell_ticks(hosted, status, &state, "check it: foliot-replay verify");
    if (status == FOLIOT_STATUS_OK)
        foliot__recordings_finished(hosted->recording_file);
    return status == FOLIOT_STATUS_OK ? 0 : FOLIOT__EXIT_AGAIN;
}

int foliot__hosted_end_recording(foliot__hosted *hosted)
{
    int code = hosted->recording ? close_recording(hosted) : 0;
    hosted->recording = NULL;
    return code;
}

void foliot__hosted_end_all(foliot__hosted *hosted, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) // their threads write at the same time
        if (hosted[i].recording)
            (void)!foliot_recording_flush(hosted[i].recording);
    for (uint32_t i = 0; i < count; i++)
        if (hosted[i].recording)
            (void)!(hosted[i].suspended ? foliot_recording_wait(hosted[i].recording, true)
                                        : foliot_recording_end(hosted[i].recording));
}

// The recording of a session that has ended, while others continue.
typedef struct closing {
    foliot__app *app;
    foliot__hosted hosted; // of which the name and the recording are meant
} closing;

static void end_item(void *item)
{
    closing *c = item;
    (void)!foliot_recording_end(c->hosted.recording); // close reports the cause of a stop
}

static void compact_item(void *item)
{
    closing *c = item;
    (void)!foliot_recording_compact(c->hosted.recording); // logged by the loop's thread
}

static void close_item(void *item)
{
    closing *c = item;
    c->app->failed |= foliot__hosted_end_recording(&c->hosted) != 0;
    fflush(stdout);
    if (!c->app->over)
        foliot__recordings_trim_soon(c->app);
    free(c);
}

void foliot__recordings_close_taken(foliot__app *a, foliot__hosted *h)
{
    closing *c = calloc(1, sizeof *c);
    if (c) {
        c->app = a;
        c->hosted.recording = h->recording;
        memcpy(c->hosted.name, h->name, sizeof h->name);
        memcpy(c->hosted.recording_file, h->recording_file, sizeof h->recording_file);
    }
    if (!a->closings.loop) // workers read the functions from the first item on
        a->closings = (foliot__closings){
            .loop = &a->loop, .end = end_item, .compact = compact_item, .closed = close_item};
    (void)!foliot_recording_flush(h->recording); // its thread writes until a worker is free
    if (c && foliot__closings_add(&a->closings, c)) {
        h->recording = NULL;
        return;
    }
    free(c);
    a->failed |= foliot__hosted_end_recording(h) != 0; // here: no memory is no reason to lose it
}

void foliot__recordings_close(foliot__app *a, foliot__hosted *h)
{
    if (h->recording && foliot_server_release_recording(a->server, h->name) == FOLIOT_STATUS_OK)
        foliot__recordings_close_taken(a, h); // else it is closed at the end
}
