// SPDX-License-Identifier: MIT
// file.c: opening files (file.h). open() never blocks (O_NONBLOCK), and only regular files are
// read.
#define _FILE_OFFSET_BITS 64
#include "base/file.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#ifndef __wasm__ // which has none
#include <pthread.h>
#include <signal.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOT_REGULAR ENOTSUP // no call below has this errno
#define DESCRIPTORS_MAX 64
#ifndef O_NOCTTY
#define O_NOCTTY 0
#endif
#define READING (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
#ifdef O_PATH // a folder on the way need not be listed
#define PASSING (O_PATH | O_DIRECTORY | O_CLOEXEC)
#else
#define PASSING (O_RDONLY | O_DIRECTORY | O_CLOEXEC)
#endif

const char *foliot__file_problem(int error)
{
    return error == NOT_REGULAR ? "it is not a regular file"
           : error == ELOOP     ? "it is a symbolic link"
                                : strerror(error);
}

static int close_and_fail(int descriptor, int error)
{
    if (descriptor >= 0)
        close(descriptor);
    errno = error;
    return -1;
}

// Returns the descriptor if it is a regular file, and makes reads block from here on.
static int require_regular(int descriptor)
{
    struct stat about;
    if (descriptor < 0)
        return close_and_fail(-1, errno == ENXIO || errno == ENODEV
                                      ? NOT_REGULAR
                                      : errno); // a socket, a device without driver
    if (fstat(descriptor, &about) != 0)
        return close_and_fail(descriptor, errno);
    if (!S_ISREG(about.st_mode))
        return close_and_fail(descriptor, S_ISDIR(about.st_mode) ? EISDIR : NOT_REGULAR);
    int flags = fcntl(descriptor, F_GETFL);
    if (flags >= 0)
        (void)fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK);
    return descriptor;
}

int foliot__file_open(const char *file)
{
    return require_regular(open(file, READING));
}

FILE *foliot__file_stream(const char *file)
{
    int descriptor = foliot__file_open(file);
    FILE *stream = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL;
    if (descriptor >= 0 && !stream)
        close_and_fail(descriptor, errno);
    return stream;
}

// Into *text, which doubles as the file is read. An errno, or 0.
static int read_all(FILE *in, size_t most, char **text, size_t *length)
{
    for (size_t capacity = 65536, at = 0;; capacity *= 2) {
        char *more = realloc(*text, capacity);
        if (!more)
            return ENOMEM;
        *text = more;
        size_t got = fread(more + at, 1, capacity - at, in);
        at += got;
        *length = at;
        if (ferror(in))
            return errno ? errno : EIO;
        if (at < capacity)
            return at > most ? EFBIG : 0;
        if (capacity > most)
            return EFBIG;
    }
}

char *foliot__file_slurp(const char *file, size_t most, size_t *length)
{
    FILE *in = foliot__file_stream(file);
    char *text = NULL;
    if (!in)
        return NULL;
    struct stat about;
    bool too_large = fstat(fileno(in), &about) == 0 && (uint64_t)about.st_size > most;
    int error = too_large ? EFBIG : read_all(in, most, &text, length);
    fclose(in);
    if (!error)
        return text;
    free(text);
    errno = error;
    return NULL;
}

char *foliot__file_slurp_text(const char *file, size_t most, size_t *length)
{
    char *text = foliot__file_slurp(file, most, length);
    if (text) {
        *length = foliot__text_plain(text, *length);
        text[*length] = 0; // there is room for it behind what was read
    }
    return text;
}

char *foliot__file_slurp_message(const char *file, size_t most, size_t *length, char *message,
                                 size_t message_bytes)
{
    char *text = foliot__file_slurp_text(file, most, length);
    if (!text)
        snprintf(message, message_bytes, "%s: %s", file, foliot__file_problem(errno));
    return text;
}

// One component after the other, so that no link on the way leads elsewhere.
int foliot__file_open_below(const char *folder, const char *name)
{
    char part[256];
    if (!*name || *name == '/')
        return close_and_fail(-1, EACCES);
    int at = open(folder, PASSING);
    while (at >= 0) {
        size_t length = strcspn(name, "/");
        const char *rest = name + length + strspn(name + length, "/");
        if (length == 0 || length >= sizeof part)
            return close_and_fail(at, length ? ENAMETOOLONG : EISDIR);
        memcpy(part, name, length);
        part[length] = 0;
        if (strcmp(part, "..") == 0)
            return close_and_fail(at, EACCES);
        bool last = name[length] == 0;
        int next = openat(at, part, O_NOFOLLOW | (last ? READING : PASSING));
        int error = errno;
        struct stat about;
        if (next < 0 && !last && error == ENOTDIR &&
            fstatat(at, part, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(about.st_mode))
            error = ELOOP;
        close(at);
        errno = error;
        if (last)
            return require_regular(next);
        at = next;
        name = rest;
        if (!*name)
            return close_and_fail(at, EISDIR);
    }
    return -1;
}

bool foliot__folder_usable(const char *folder, bool writes)
{
    struct stat about;
    if (stat(folder, &about) != 0)
        return false;
    errno = ENOTDIR;
    return S_ISDIR(about.st_mode) && access(folder, writes ? W_OK | X_OK : R_OK | X_OK) == 0;
}

bool foliot__file_writable(const char *file)
{
    char folder[4096];
    struct stat about;
    const char *slash = strrchr(file, '/');
    size_t length = slash ? (size_t)(slash - file) + 1 : 0;
    bool exists = stat(file, &about) == 0;
    errno = !exists ? EISDIR : S_ISDIR(about.st_mode) ? EISDIR : NOT_REGULAR;
    if (exists ? !S_ISREG(about.st_mode) : !*file || (slash && !slash[1]))
        return false;
    errno = ENAMETOOLONG;
    if (length >= sizeof folder)
        return false;
    memcpy(folder, slash ? file : ".", slash ? length : 1);
    folder[slash ? length : 1] = 0;
    return foliot__folder_usable(folder, true);
}

#if !defined(__wasm__) && defined(SIGXFSZ)
void foliot__file_guard_begin(foliot__file_guard *guard)
{
    struct sigaction action;
    sigset_t one, before;
    _Static_assert(sizeof before <= sizeof guard->before, "room for a set of signals");
    guard->blocked = false;
    if (sigaction(SIGXFSZ, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
        return;
    sigemptyset(&one);
    sigaddset(&one, SIGXFSZ);
    if (pthread_sigmask(SIG_BLOCK, &one, &before) != 0)
        return;
    guard->blocked = !sigismember(&before, SIGXFSZ); // else it stays blocked
    memcpy(guard->before, &before, sizeof before);
}

// The signal is this thread's own: where it waits, the write has raised it.
void foliot__file_guard_end(const foliot__file_guard *guard)
{
    int error = errno, number;
    sigset_t one, before, waiting;
    if (!guard->blocked)
        return;
    sigemptyset(&one);
    sigaddset(&one, SIGXFSZ);
    if (sigpending(&waiting) == 0 && sigismember(&waiting, SIGXFSZ))
        sigwait(&one, &number);
    memcpy(&before, guard->before, sizeof before);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
}
#else
void foliot__file_guard_begin(foliot__file_guard *guard)
{
    guard->blocked = false;
}

void foliot__file_guard_end(const foliot__file_guard *guard)
{
    (void)guard;
}
#endif

int64_t foliot__file_write(int descriptor, const void *bytes, size_t count)
{
    foliot__file_guard guard;
    foliot__file_guard_begin(&guard);
    ssize_t written = write(descriptor, bytes, count);
    foliot__file_guard_end(&guard);
    return written;
}

bool foliot__standard_open(void)
{
#if !defined(__wasm__) // whose host decides what they are
#ifdef SIGXFSZ
    signal(SIGXFSZ, SIG_IGN);
#endif
    for (int descriptor = 0; descriptor < 3; descriptor++) {
        if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF)
            continue;
        int null = open("/dev/null", O_RDWR);
        if (null != descriptor) {
            if (null >= 0)
                close(null);
            return false;
        }
    }
#endif
    return true;
}

bool foliot__descriptors_left(uint32_t count)
{
#if !defined(__wasm__)
    int taken[DESCRIPTORS_MAX];
    uint32_t got = 0;
    if (count > DESCRIPTORS_MAX)
        count = DESCRIPTORS_MAX;
    while (got < count && (taken[got] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)) >= 0)
        got++;
    for (uint32_t i = 0; i < got; i++)
        close(taken[i]);
    return got == count;
#else
    (void)count;
    return true;
#endif
}

#if !defined(__wasm__)
static void *wait_for_all(void *all)
{
    pthread_mutex_lock(all);
    pthread_mutex_unlock(all);
    return NULL;
}

bool foliot__threads_left(uint32_t count, size_t stack_bytes)
{
    pthread_mutex_t all = PTHREAD_MUTEX_INITIALIZER;
    pthread_attr_t attributes;
    pthread_t *threads = calloc(count ? count : 1, sizeof *threads);
    uint32_t started = 0;
    if (!threads || pthread_attr_init(&attributes) != 0) {
        free(threads);
        return false;
    }
    pthread_mutex_lock(&all);
    if (pthread_attr_setstacksize(&attributes, stack_bytes) == 0)
        while (started < count &&
               pthread_create(&threads[started], &attributes, wait_for_all, &all) == 0)
            started++;
    pthread_mutex_unlock(&all);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_attr_destroy(&attributes);
    free(threads);
    return started == count;
}
#endif
