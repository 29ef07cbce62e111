// SPDX-License-Identifier: MIT
// sessions.c: what sessions cost foliot-server at 60 Hz, recording off: processor time and memory
// of 1,000 that nobody plays, the time until they are there, and lateness and processor time of 250
// with a player each. Real programs; the players are clients of a child process, awake 60 times a
// second, spread over the period. Processor time alone decides where it can: others use the machine
// too. Usage: sessions [SESSIONS PLAYERS]
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "bench.h"
#include "clock.h"
#include "real_server.h"

#define EMPTY 1000
#define PLAYED 250
#define SETTLE_S 1
#define MEASURE_S 5

static char build[512];
static const char *const options[] = {"--no-record", NULL};

static void empty_sessions(unsigned count)
{
    char name[96];
    double bytes, before, alone_bytes;
    real_server one = real_server_start(build, 1, options);
    real_pause_s(SETTLE_S);
    real_server_used_s(one.pid, &alone_bytes);
    double one_s = one.begun_s;
    real_server_stop(&one);
    real_server s = real_server_start(build, count, options);
    real_pause_s(SETTLE_S);
    before = real_server_used_s(s.pid, &bytes);
    uint64_t begun = clock_now_ns();
    real_pause_s(MEASURE_S);
    double spent = real_server_used_s(s.pid, NULL) - before,
           elapsed = (double)(clock_now_ns() - begun) * 1e-9;
    real_counters c = real_server_stop(&s);
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
    real_server s = real_server_start(build, count, options);
    pid_t players = real_players_start(s.port, count);
    real_pause_s(SETTLE_S);
    double before = real_server_used_s(s.pid, NULL);
    uint64_t begun = clock_now_ns();
    real_pause_s(MEASURE_S);
    double spent = real_server_used_s(s.pid, NULL) - before,
           elapsed = (double)(clock_now_ns() - begun) * 1e-9;
    real_counters c = real_server_stop(&s);
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
    real_server_build(argv[0], build);
    empty_sessions(argc == 3 ? (unsigned)atoi(argv[1]) : EMPTY);
    played_sessions(argc == 3 ? (unsigned)atoi(argv[2]) : PLAYED);
    return 0;
}
