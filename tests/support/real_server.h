// SPDX-License-Identifier: MIT
// real_server.h: for benches: a foliot-server in a separate process that hosts spacewar N times,
// and players of a child process: clients that are awake 60 times a second, spread over the period.
#ifndef FOLIOT_TESTS_REAL_SERVER_H
#define FOLIOT_TESTS_REAL_SERVER_H

#include <stdio.h>
#include <sys/types.h>

typedef struct real_server {
    pid_t pid;
    FILE *out;
    unsigned port;
    double begun_s; // processor time until it listened
} real_server;

typedef struct real_counters {
    double ticks, late, p50_us, p99_us;
} real_counters;

// Where the programs are: two folders above a bench.
void real_server_build(const char *program, char build[512]);
void real_pause_s(double seconds);
// `options` ends with NULL.
real_server real_server_start(const char *build, unsigned sessions, const char *const *options);
// By SIGTERM; reads what it prints until it has ended.
real_counters real_server_stop(real_server *server);
// Processor seconds so far, and the memory (may be NULL).
double real_server_used_s(pid_t pid, double *bytes);
// One in each of the first `count` sessions. Returns when all play; they are killed with the bench.
pid_t real_players_start(unsigned port, unsigned count);

#endif
