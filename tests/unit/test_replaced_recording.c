// SPDX-License-Identifier: MIT
// Goal: whoever may write to a recording writes to the file that has its name. Method: a process
// replaces the file again and again under its lock, as a compaction does, while this one opens it;
// a file that was locked here and has no name any more would be lost with all that is written.
#include "check.h"
#include "recording/recording.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRIES 30000
#define PATH_BYTES 64

static int open_locked(const char *file, int flags)
{
    int descriptor = open(file, flags, 0600);
    if (descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        return descriptor;
    if (descriptor >= 0)
        close(descriptor);
    return -1;
}

static _Noreturn void replace_forever(const char *file, const char *beside)
{
    for (;;) {
        struct stat ours, named;
        int old = open_locked(file, O_WRONLY);
        if (old < 0)
            continue;
        bool same =
            fstat(old, &ours) == 0 && stat(file, &named) == 0 && ours.st_ino == named.st_ino;
        int new = same ? open_locked(beside, O_WRONLY | O_CREAT) : -1;
        if (new >= 0 && rename(beside, file) != 0)
            _exit(1);
        if (new >= 0)
            close(new);
        close(old);
    }
}

TEST(a_replaced_file_is_not_written_to)
{
    char folder[PATH_BYTES], file[2 * PATH_BYTES], beside[2 * PATH_BYTES], command[2 * PATH_BYTES];
    int locked = 0, lost = 0;
    snprintf(folder, sizeof folder, "%s", P_tmpdir "/foliot-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/a", folder);
    snprintf(beside, sizeof beside, "%s/b", folder);
    int made = open(file, O_WRONLY | O_CREAT, 0600);
    check_ge(made, 0);
    close(made);
    pid_t child = fork();
    check_ge(child, 0);
    if (child == 0)
        replace_forever(file, beside);
    for (int i = 0; i < TRIES; i++) {
        foliot_recording_sink sink;
        struct stat about;
        foliot_status status = foliot__file_sink(file, i % 2, &sink);
        if (status != FOLIOT_STATUS_OK) {
            assert_int_equal(status, FOLIOT_STATUS_AGAIN);
            continue;
        }
        assert_int_equal(fstat(*(int *)sink.user, &about), 0);
        locked++;
        lost += about.st_nlink == 0;
        sink.close(sink.user);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    print_message("locked %d times of %d\n", locked, TRIES);
    check_gt(locked, 0);
    assert_int_equal(lost, 0);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}
