// SPDX-License-Identifier: MIT
// tick_jitter.c: how late foliot-server starts its ticks, idle, next to a busy core and with 256
// clients, against a bare timerfd loop in the same run; and how soon it answers while a heavy step
// runs. Real programs. Usage: tick_jitter [answers]
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "../../server/program/step_workers.c" // who asks must not be the one who is late

#define TICKS 600
#define SCENE "scenes/spacewar.yaml"

static char build[512];

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// Late starts of a loop that does nothing else: the opponent.
static void bare_timer(double *p50, double *p99)
{
    static double late[TICKS];
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    uint64_t base = clock_now_ns(), expirations;
    for (int i = 0; i < TICKS; i++) {
        uint64_t due = base + (uint64_t)((i + 1) * 1e9 / 60);
        struct itimerspec at = {
            .it_value = {(time_t)(due / 1000000000u), (long)(due % 1000000000u)}};
        timerfd_settime(fd, TFD_TIMER_ABSTIME, &at, NULL);
        (void)!read(fd, &expirations, sizeof expirations);
        late[i] = (double)(clock_now_ns() - due) * 1e-3;
    }
    close(fd);
    qsort(late, TICKS, sizeof late[0], by_size);
    *p50 = late[TICKS / 2];
    *p99 = late[TICKS * 99 / 100];
}

static pid_t busy_core(void)
{
    pid_t child = fork();
    if (child == 0)
        for (volatile unsigned i = 0;; i++) {
        }
    return child;
}

static void end_process(pid_t child)
{
    if (child > 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
}

typedef struct server {
    FILE *out;
    unsigned port;
} server;

static server start_server(const char *scene, int ticks)
{
    char command[1200], line[512];
    server s = {0};
    snprintf(command, sizeof command,
             "%s/foliot-server %s --port 0 --no-record --ticks %d 2>/dev/null", build, scene,
             ticks);
    s.out = popen(command, "r");
    while (s.out && !s.port && fgets(line, sizeof line, s.out))
        sscanf(line, "listening on 127.0.0.1:%u", &s.port);
    return s;
}

static double counter(const char *line, const char *name)
{
    size_t length = strlen(name);
    return strncmp(line, name, length) == 0 && line[length] == ' ' ? atof(line + length) : -1;
}

static void row(const char *name, const char *unit, double value, const char *opponent,
                double opponent_value)
{
    printf("{\"bench\":\"tick_jitter\",\"case\":\"%s\",\"value\":%.6g,\"unit\":\"%s\",", name,
           value, unit);
    if (opponent)
        printf("\"opponent\":\"%s\",\"opponent_value\":%.6g,\"ratio\":%.4g}\n", opponent,
               opponent_value, value / opponent_value);
    else
        printf("\"opponent\":null,\"opponent_value\":null,\"ratio\":null}\n");
    fflush(stdout);
}

static void measure(const char *name, bool busy, int clients)
{
    char text[160], line[512], command[1200];
    double p50 = 0, p99 = 0, late = 0, ticks = 0, bare50, bare99, value;
    pid_t burner = busy ? busy_core() : 0;
    bare_timer(&bare50, &bare99);
    server s = start_server(SCENE, TICKS);
    if (clients) {
        snprintf(
            command, sizeof command,
            "%s/foliot-client 127.0.0.1:%u --bot idle --clients %d --seconds 8 >/dev/null 2>&1 &",
            build, s.port, clients);
        (void)!system(command);
    }
    while (s.out && fgets(line, sizeof line, s.out)) {
        p50 = (value = counter(line, "tick_start_us_p50")) >= 0 ? value : p50;
        p99 = (value = counter(line, "tick_start_us_p99")) >= 0 ? value : p99;
        late = (value = counter(line, "ticks_late")) >= 0 ? value : late;
        ticks = (value = counter(line, "ticks")) >= 0 ? value : ticks;
    }
    if (s.out)
        pclose(s.out);
    end_process(burner);
    snprintf(text, sizeof text, "%s: p50", name);
    row(text, "us", p50, "bare timerfd", bare50);
    snprintf(text, sizeof text, "%s: p99", name);
    row(text, "us", p99, "bare timerfd", bare99);
    snprintf(text, sizeof text, "%s: ticks late by a tick", name);
    row(text, "ticks", late, NULL, 0);
    snprintf(text, sizeof text, "%s: ticks skipped", name);
    row(text, "ticks", TICKS - ticks, NULL, 0);
}

// Answers to a stateless question while the server's steps take about 10 ms each.
static void answers_during_heavy_steps(void)
{
    char file[] = "/tmp/foliot-heavy-XXXXXX";
    int made = mkstemp(file);
    FILE *scene = made >= 0 ? fdopen(made, "w") : NULL;
    if (!scene)
        return;
    fprintf(scene, "foliot: 1\nname: heavy\ntick_hz: 30\nforces:\n  - {kind: newton, constant: "
                   "1.0e-3, softening: 0.1}\nbodies:\n");
    for (int i = 0; i < 4000; i++)
        fprintf(scene, "  - {mass: 1, position: [%d, %d, %d]}\n", i % 20, i / 20 % 20, i / 400);
    fclose(scene);
    server s = start_server(file, 120);
    foliot__priority_loop();
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)s.port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    (void)!connect(fd, (struct sockaddr *)&to, sizeof to);
    static double wait_us[2000];
    int count = 0;
    for (int i = 0; i < 1500; i++) {
        uint8_t hello[32] = "foliot?1", answer[64];
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        uint64_t sent = clock_now_ns();
        (void)!send(fd, hello, sizeof hello, 0);
        if (poll(&ready, 1, 200) == 1 && recv(fd, answer, sizeof answer, 0) > 0)
            wait_us[count++] = (double)(clock_now_ns() - sent) * 1e-3;
        struct timespec pause = {.tv_nsec = 2000000};
        nanosleep(&pause, NULL);
    }
    close(fd);
    char line[512];
    while (s.out && fgets(line, sizeof line, s.out)) {
    }
    if (s.out)
        pclose(s.out);
    unlink(file);
    qsort(wait_us, (size_t)count, sizeof wait_us[0], by_size);
    row("answer while heavy steps run: p50", "us", count ? wait_us[count / 2] : -1, NULL, 0);
    row("answer while heavy steps run: p99", "us", count ? wait_us[count * 99 / 100] : -1, NULL, 0);
}

int main(int argc, char **argv)
{
    bool answers_only = argc == 2 && strcmp(argv[1], "answers") == 0;
    snprintf(build, sizeof build, "%s", argv[0]);
    for (int i = 0; i < 2; i++) { // build/bench/tick_jitter: programs are in build
        char *slash = strrchr(build, '/');
        if (slash)
            *slash = 0;
    }
    if (answers_only) {
        answers_during_heavy_steps();
        return 0;
    }
    measure("idle", false, 0);
    measure("beside a busy core", true, 0);
    measure("with 256 clients", false, 256);
    answers_during_heavy_steps();
    return 0;
}
