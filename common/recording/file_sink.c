// SPDX-License-Identifier: MIT
// file_sink.c: a recording's sink that is a file.
#define _FILE_OFFSET_BITS 64
#include "recording/recording.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int descriptor(void *user)
{
    return *(int *)user;
}

static int64_t file_write(void *user, const void *bytes, size_t count)
{
    int64_t taken = foliot__file_write(descriptor(user), bytes, count);
    return taken < 0 ? -errno : taken;
}

// A pipe or a device cannot be synced and returns EINVAL: that is not a failure of the recording.
static int file_sync(void *user)
{
    return fdatasync(descriptor(user)) == 0 || errno == EINVAL || errno == EROFS ? 0 : -errno;
}

static int file_truncate(void *user, uint64_t length)
{
    if (ftruncate(descriptor(user), (off_t)length) != 0)
        return -errno;
    return lseek(descriptor(user), (off_t)length, SEEK_SET) < 0 ? -errno : 0;
}

static void file_close(void *user)
{
    close(descriptor(user));
    free(user);
}

// Does not wait for a reader of a pipe. A recording that is resumed must be a regular file.
static int open_writing(const char *file, bool create)
{
    struct stat about;
    int opened =
        open(file, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (create ? O_CREAT : 0), 0666);
    if (opened < 0 && !create && errno == ENXIO) // a pipe that nobody reads
        errno = ENOTSUP;
    if (opened < 0)
        return -1;
    int error = fstat(opened, &about) != 0           ? errno
                : !create && !S_ISREG(about.st_mode) ? ENOTSUP
                                                     : 0;
    int flags = fcntl(opened, F_GETFL);
    if (error == 0 && flags >= 0 && fcntl(opened, F_SETFL, flags & ~O_NONBLOCK) == 0)
        return opened;
    close(opened);
    errno = error ? error : EINVAL;
    return -1;
}

foliot_status foliot__file_sink(const char *file, bool create, foliot_recording_sink *sink)
{
    int *user = malloc(sizeof *user);
    if (!user)
        return FOLIOT_STATUS_MEMORY;
    *user = open_writing(file, create);
    foliot_status status = *user < 0 ? FOLIOT_STATUS_IO : FOLIOT_STATUS_OK;
    // One writer for each file. The lock ends with the process, however that ends; some file
    // systems have no locks. A compaction may have replaced the file after it was opened and before
    // it was locked.
    struct stat ours, named;
    if (status == FOLIOT_STATUS_OK &&
        ((flock(*user, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) ||
         (fstat(*user, &ours) == 0 && S_ISREG(ours.st_mode) &&
          (stat(file, &named) != 0 || named.st_dev != ours.st_dev ||
           named.st_ino != ours.st_ino)))) {
        close(*user);
        status = FOLIOT_STATUS_AGAIN;
    }
    if (status != FOLIOT_STATUS_OK) {
        int error = errno;
        free(user);
        errno = error;
        return status;
    }
    // A new recording starts with an empty file, one that is resumed at its end. A pipe or a device
    // is written as it is: it cannot be emptied, and returns EINVAL.
    if (!(create ? ftruncate(*user, 0) == 0 || errno == EINVAL : lseek(*user, 0, SEEK_END) >= 0)) {
        int error = errno;
        close(*user);
        free(user);
        errno = error;
        return FOLIOT_STATUS_IO;
    }
    *sink = (foliot_recording_sink){.write = file_write,
                                    .sync = file_sync,
                                    .truncate = file_truncate,
                                    .close = file_close,
                                    .user = user};
    return FOLIOT_STATUS_OK;
}

char *foliot__file_sink_path(const foliot_recording_sink *sink, const char *file)
{
    struct stat about;
    bool regular = fstat(descriptor(sink->user), &about) == 0 && S_ISREG(about.st_mode);
    return regular ? realpath(file, NULL) : NULL;
}

bool foliot__file_sink_is(const foliot_recording_sink *sink, const char *file)
{
    struct stat ours, named;
    return fstat(descriptor(sink->user), &ours) == 0 && lstat(file, &named) == 0 &&
           S_ISREG(named.st_mode) && ours.st_dev == named.st_dev && ours.st_ino == named.st_ino &&
           named.st_nlink == 1; // another name would keep the file as it was
}
