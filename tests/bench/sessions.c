// SPDX-License-Identifier: MIT
// sessions.c: what sessions cost foliot-server at 60 Hz, recording off: processor time and memory
// of 1,000 that nobody plays, the time until they are there, and lateness and processor time of 250
// with a player each. Real programs; the players are clients of a child process, awake 60 times a
// second, spread over the period. Processor time alone decides where it can: others use the machine
// too. Usage: sessions [SESSIONS PLAYERS]
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "clock.h"
#include "foliot/client.h"
#include "status.h"

#define SCENE "scenes/spacewar.yaml"
#define HZ 60
#define EMPTY 1000
#define PLAYED 250
#define SETTLE_S 1
#define MEASURE_S 5
#define JOIN_S 30
#define SLICES 16
#define FAILED 1

static char build[512];

static void die(const char *what)
{
    fprintf(stderr, "sessions: %s\n", what);
    exit(FAILED);
}

static void pause_s(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&t, &t) != 0 && errno == EINTR) {
    }
}

// -- the server

typedef struct server {
    pid_t pid;
    FILE *out;
    unsigned port;
    double begun_s; // processor time until it listened
} server;

// Processor seconds of a process so far, and the memory that it has, in bytes.
static double used_s(pid_t pid, double *bytes)
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

static server start_server(unsigned sessions)
{
    char program[600], count[16], line[512];
    int pipes[2];
    server s = {0};
    snprintf(program, sizeof program, "%s/foliot-server", build);
    snprintf(count, sizeof count, "%u", sessions);
    if (pipe2(pipes, O_CLOEXEC) != 0)
        die("no pipe");
    s.pid = fork();
    if (s.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(pipes[1], STDOUT_FILENO);
        if (freopen("/dev/null", "w", stderr))
            execl(program, program, SCENE, "--sessions", count, "--port", "0", "--no-record",
                  (char *)NULL);
        _exit(127);
    }
    close(pipes[1]);
    s.out = fdopen(pipes[0], "r");
    while (s.out && s.port == 0 && fgets(line, sizeof line, s.out))
        if (sscanf(line, "listening on 127.0.0.1:%u", &s.port) == 1)
            s.begun_s = used_s(s.pid, NULL);
    for (unsigned i = 0; s.port && i <= sessions && fgets(line, sizeof line, s.out); i++)
        if (strncmp(line, "join with", 9) == 0)
            break;
    if (!s.port)
        die("the server does not start");
    return s;
}

typedef struct counters {
    double ticks, late, p50_us, p99_us;
} counters;

static void read_counter(const char *line, const char *name, double *value)
{
    size_t length = strlen(name);
    if (strncmp(line, name, length) == 0 && line[length] == ' ')
        *value = atof(line + length);
}

static counters stop_server(server *s)
{
    char line[512];
    counters c = {0};
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

static pid_t start_players(unsigned port, unsigned count)
{
    int pipes[2];
    char byte;
    if (pipe2(pipes, O_CLOEXEC) != 0)
        die("no pipe");
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(JOIN_S + SETTLE_S + MEASURE_S + 10);
        play(port, count, pipes[1]);
        _exit(FAILED);
    }
    close(pipes[1]);
    if (read(pipes[0], &byte, 1) != 1)
        die("the clients do not join");
    close(pipes[0]);
    return child;
}

// -- figures

static void empty_sessions(unsigned count)
{
    char name[96];
    double bytes, before, alone_bytes;
    server one = start_server(1);
    pause_s(SETTLE_S);
    used_s(one.pid, &alone_bytes);
    double one_s = one.begun_s;
    stop_server(&one);
    server s = start_server(count);
    pause_s(SETTLE_S);
    before = used_s(s.pid, &bytes);
    uint64_t begun = clock_now_ns();
    pause_s(MEASURE_S);
    double spent = used_s(s.pid, NULL) - before, elapsed = (double)(clock_now_ns() - begun) * 1e-9;
    counters c = stop_server(&s);
    snprintf(name, sizeof name, "%u sessions without players: share of a core each", count);
    bench_report("sessions", name, 100 * spent / elapsed / count, "%", NULL, 0);
    snprintf(name, sizeof name, "%u sessions without players: memory each", count);
    bench_report("sessions", name, (bytes - alone_bytes) / (count - 1) / 1e6, "MB", NULL, 0);
    snprintf(name, sizeof name, "%u sessions: creation of one", count);
    bench_report("sessions", name, 1e3 * (s.begun_s - one_s) / (count - 1), "ms", NULL, 0);
    snprintf(name, sizeof name, "%u sessions without players: lateness p99", count);
    bench_report("sessions", name, c.p99_us * 1e-3, "ms", NULL, 0);
}

static void played_sessions(unsigned count)
{
    char name[96];
    server s = start_server(count);
    pid_t players = start_players(s.port, count);
    pause_s(SETTLE_S);
    double before = used_s(s.pid, NULL);
    uint64_t begun = clock_now_ns();
    pause_s(MEASURE_S);
    double spent = used_s(s.pid, NULL) - before, elapsed = (double)(clock_now_ns() - begun) * 1e-9;
    counters c = stop_server(&s);
    kill(players, SIGKILL);
    waitpid(players, NULL, 0);
    snprintf(name, sizeof name, "%u sessions with a player: share of a core each", count);
    bench_report("sessions", name, 100 * spent / elapsed / count, "%", NULL, 0);
    snprintf(name, sizeof name, "%u sessions with a player: lateness p99", count);
    bench_report("sessions", name, c.p99_us * 1e-3, "ms", NULL, 0);
    snprintf(name, sizeof name, "%u sessions with a player: ticks late by a tick", count);
    bench_report("sessions", name, c.ticks > 0 ? 100 * c.late / c.ticks : -1, "%", NULL, 0);
}

int main(int argc, char **argv)
{
    snprintf(build, sizeof build, "%s", argv[0]);
    for (int i = 0; i < 2; i++) { // build/bench/sessions: programs are in build
        char *slash = strrchr(build, '/');
        if (slash)
            *slash = 0;
    }
    empty_sessions(argc == 3 ? (unsigned)atoi(argv[1]) : EMPTY);
    played_sessions(argc == 3 ? (unsigned)atoi(argv[2]) : PLAYED);
    return 0;
}
