// SPDX-License-Identifier: MIT
// real_server.c: see real_server.h. Ends the bench where something is missing.
#include "real_server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "foliot/client.h"
#include "status.h"

#define SCENE "scenes/spacewar.yaml"
#define HZ 60
#define PLAY_S 90
#define SLICES 16
#define OPTIONS_MAX 32
#define FAILED 1

static void die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(FAILED);
}

void real_pause_s(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&t, &t) != 0 && errno == EINTR) {
    }
}

// -- the server

// Processor seconds of a process so far, and the memory that it has, in bytes.
double real_server_used_s(pid_t pid, double *bytes)
{
    char name[64], text[1024];
    unsigned long user = 0, system = 0;
    long pages = 0;
    snprintf(name, sizeof name, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(name, "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[length] = 0;
    if (file)
        fclose(file);
    const char *rest = strrchr(text, ')');
    if (!rest || sscanf(rest + 2,
                        "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %*d %*d %*d %*d %*d "
                        "%*d %*u %*u %ld",
                        &user, &system, &pages) != 3)
        die("no figures of the server");
    if (bytes)
        *bytes = (double)pages * (double)sysconf(_SC_PAGESIZE);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

real_server real_server_start(const char *build, unsigned sessions, const char *const *options)
{
    char program[600], count[16], line[512];
    const char *arguments[OPTIONS_MAX] = {program, SCENE, "--sessions", count, "--port", "0"};
    int pipes[2];
    unsigned given = 6;
    real_server s = {0};
    snprintf(program, sizeof program, "%s/foliot-server", build);
    snprintf(count, sizeof count, "%u", sessions);
    for (; *options && given + 1 < OPTIONS_MAX; options++)
        arguments[given++] = *options;
    if (pipe2(pipes, O_CLOEXEC) != 0)
        die("no pipe");
    s.pid = fork();
    if (s.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(pipes[1], STDOUT_FILENO);
        if (freopen("/dev/null", "w", stderr))
            execv(program, (char *const *)arguments);
        _exit(127);
    }
    close(pipes[1]);
    s.out = fdopen(pipes[0], "r");
    while (s.out && s.port == 0 && fgets(line, sizeof line, s.out))
        if (sscanf(line, "listening on 127.0.0.1:%u", &s.port) == 1)
            s.begun_s = real_server_used_s(s.pid, NULL);
    for (unsigned i = 0; s.port && i <= 2 * sessions && fgets(line, sizeof line, s.out); i++)
        if (strncmp(line, "join with", 9) == 0)
            break;
    if (!s.port)
        die("the server does not start");
    return s;
}

static void read_counter(const char *line, const char *name, double *value)
{
    size_t length = strlen(name);
    if (strncmp(line, name, length) == 0 && line[length] == ' ')
        *value = atof(line + length);
}

real_counters real_server_stop(real_server *s)
{
    char line[512];
    real_counters c = {0};
    kill(s->pid, SIGTERM);
    while (fgets(line, sizeof line, s->out)) {
        read_counter(line, "ticks", &c.ticks);
        read_counter(line, "ticks_late", &c.late);
        read_counter(line, "tick_start_us_p50", &c.p50_us);
        read_counter(line, "tick_start_us_p99", &c.p99_us);
    }
    fclose(s->out);
    waitpid(s->pid, NULL, 0);
    return c;
}

// -- the players

static foliot_client *join(unsigned port, unsigned session)
{
    foliot_client_config config = foliot_client_config_default();
    foliot_transport_config wire = foliot_transport_config_default();
    foliot_client *client = NULL;
    char name[64];
    snprintf(name, sizeof name, "spacewar-%u", session + 1);
    if (foliot_transport_create_enet(&wire, clock_now_ns(), &config.transport) != FOLIOT_STATUS_OK)
        die("a client has no socket");
    config.port = (uint16_t)port;
    config.session = name;
    config.name = "ann";
    if (foliot_client_create(&config, clock_now_ns(), &client) != FOLIOT_STATUS_OK)
        die("a client does not begin");
    return client;
}

static bool all_play(foliot_client *const *clients, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (foliot_client_get_state(clients[i]) != FOLIOT_CLIENT_PLAYING)
            return false;
    return true;
}

// Says by one byte that all play, then goes on until it is killed.
static void play(unsigned port, unsigned count, int ready)
{
    foliot_client **clients = calloc(count, sizeof *clients);
    uint64_t slice_ns = 1000000000u / HZ / SLICES, due = clock_now_ns();
    bool playing = false;
    unsigned joined = 0;
    if (!clients)
        die("no memory");
    for (uint64_t round = 0;; round++) {
        if (joined < count && round % 2 == 0) {
            clients[joined] = join(port, joined);
            joined++;
        }
        for (unsigned i = (unsigned)(round % SLICES); i < joined; i += SLICES)
            foliot_client_update(clients[i], clock_now_ns());
        if (!playing && joined == count && all_play(clients, count)) {
            playing = true;
            (void)!write(ready, "p", 1);
        }
        due += slice_ns;
        struct timespec at = {(time_t)(due / 1000000000u), (long)(due % 1000000000u)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    }
}

pid_t real_players_start(unsigned port, unsigned count)
{
    int pipes[2];
    char byte;
    if (pipe2(pipes, O_CLOEXEC) != 0)
        die("no pipe");
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(PLAY_S);
        play(port, count, pipes[1]);
        _exit(FAILED);
    }
    close(pipes[1]);
    if (read(pipes[0], &byte, 1) != 1)
        die("the clients do not join");
    close(pipes[0]);
    return child;
}

void real_server_build(const char *program, char build[512])
{
    snprintf(build, 512, "%s", program);
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(build, '/');
        if (slash)
            *slash = 0;
    }
}
