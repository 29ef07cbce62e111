// SPDX-License-Identifier: MIT
// Goal: a file that may not grow any more (RLIMIT_FSIZE) is an error of the call that writes, and
// never the end of the process: a recording that opens, one that is written without a thread, one
// that is compacted, what a resumption keeps, a pair of keys, a file of used tokens. Method: each
// is done in a child with a low limit, whose signals are as they come, and again with room.
#include "check.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/secure.h"
#include "recording/recording.h"
#include "recording_fixture.h"
#include "status.h"

#define FILE_NAME "limit.foliot"

static foliot_status record(uint64_t ticks)
{
    recording_fixture fixture;
    foliot_recording *recording;
    foliot_recording_config config = recording_fixture_config(5, 10);
    config.threaded = false;
    recording_fixture_init(&fixture, 6, 2, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 7);
    foliot_world *world = recording_fixture_world(&fixture);
    foliot_status status = foliot_recording_open(FILE_NAME, WORLD_SIMULATION(world, &fixture.scene),
                                                 &config, &recording);
    if (status != FOLIOT_STATUS_OK) {
        foliot_world_destroy(world);
        recording_fixture_free(&fixture);
        return status;
    }
    for (uint64_t i = 0; i < ticks; i++) {
        demand(foliot_world_step(world, NULL, 0, NULL));
        allow_failure(
            foliot_recording_append(recording, WORLD_SIMULATION(world, NULL), NULL, NULL, 0));
        allow_failure(foliot_recording_drain(recording));
    }
    status = foliot_recording_close(recording, NULL);
    foliot_world_destroy(world);
    recording_fixture_free(&fixture);
    return status;
}

static foliot_status open_alone(void)
{
    return record(0);
}

static foliot_status record_on(void)
{
    return record(2000);
}

static foliot_status compact(void)
{
    return foliot__recording_compact(FILE_NAME, 60, NULL);
}

static foliot_status write_keys(void)
{
    unlink("limit.key");
    unlink("limit.key.pub");
    return foliot_signer_write_new("limit.key", NULL);
}

static foliot_status open_tokens(void)
{
    foliot_used_tokens *tokens;
    foliot_status status = foliot_used_tokens_open("limit.tokens", 4096, &tokens);
    if (status == FOLIOT_STATUS_OK)
        foliot_used_tokens_close(tokens);
    return status;
}

// In a child that may write files of `bytes` at most: its status, with the signal as it comes and
// as a host may have set it.
static int under_limit(foliot_status (*run)(void), rlim_t bytes, bool blocked)
{
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {bytes, bytes};
        sigset_t one, now;
        sigemptyset(&one);
        sigaddset(&one, SIGXFSZ);
        signal(SIGXFSZ, SIG_DFL);
        sigprocmask(blocked ? SIG_BLOCK : SIG_UNBLOCK, &one, NULL);
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
            _exit(99);
        foliot_status status = run();
        // The host's signals are as they were.
        sigprocmask(SIG_BLOCK, NULL, &now);
        struct sigaction action;
        sigaction(SIGXFSZ, NULL, &action);
        if (sigismember(&now, SIGXFSZ) != blocked || action.sa_handler != SIG_DFL)
            _exit(98);
        _exit(-status);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        print_message("ended by signal %d\n", WTERMSIG(status));
    assert_true(WIFEXITED(status));
    return -WEXITSTATUS(status);
}

TEST(a_file_that_may_not_grow_is_an_error)
{
    static const struct {
        const char *name;
        foliot_status (*run)(void);
        rlim_t bytes;
    } writers[] = {{"open", open_alone, 100},   {"open, start alone", open_alone, 16},
                   {"record", record_on, 4096}, {"compact", compact, 2000},
                   {"keys", write_keys, 10},    {"tokens", open_tokens, 1000}};
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
        for (int blocked = 0; blocked < 2; blocked++) {
            print_message("%s%s\n", writers[i].name, blocked ? ", blocked" : "");
            if (writers[i].run == compact)
                demand(record(2000));
            assert_int_equal(under_limit(writers[i].run, writers[i].bytes, blocked),
                             FOLIOT_STATUS_IO);
            unlink("limit.tokens");
            unlink(FILE_NAME);
            if (writers[i].run == compact)
                demand(record(2000));
            assert_int_equal(under_limit(writers[i].run, RLIM_INFINITY, blocked), FOLIOT_STATUS_OK);
            unlink("limit.tokens");
        }
}

int main(void)
{
    char folder[] = "/tmp/foliot-limit-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    int failed = check_run(NULL, NULL);
    static const char *const files[] = {FILE_NAME, "limit.key", "limit.key.pub", "limit.tokens"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(files[i]);
    return chdir("/") != 0 || rmdir(folder) != 0 ? 1 : failed;
}
