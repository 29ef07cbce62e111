// SPDX-License-Identifier: MIT
// hostile.c: how late foliot-server closes its ticks under attack, against the same server without, in the same run; with
// eight honest players each time. Real programs, and hostile peers over ENet from this process (tests/support/hostile.h).
// Usage: hostile [liars|silent|storm|all [SECONDS [REPEATS [SCENE]]]]
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hostile.h"

#define HONEST 8
#define PEERS_MAX 64
#define COME_EVERY_NS 30000000u

typedef struct attack {
    const char *name;
    hostile_kind kind;
    uint32_t peers;
    bool spectates;
} attack;

static const attack attacks[] = {
    {"none", HOSTILE_SILENT, 0, true},
    {"liars", HOSTILE_LIAR, 8, true},
    {"silent", HOSTILE_SILENT, 64, true},
    {"storm", HOSTILE_STORM, 1, true},
    {"holders", HOSTILE_TRICKLE, 64, true},
};

typedef struct outcome {
    double p50, p99, late, ticks, cpu, searches, lines, relays, refused;
} outcome;

static char build[512];

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

typedef struct server {
    FILE *out;
    unsigned port;
    pid_t pid;
} server;

static server start_server(const char *scene, unsigned seconds, const char *folder)
{
    char line[512], program[600], ticks[32];
    int ends[2];
    server s = {0};
    snprintf(program, sizeof program, "%s/foliot-server", build);
    snprintf(ticks, sizeof ticks, "%u", 60 * (seconds + 3));
    if (pipe(ends) != 0)
        exit(1);
    s.pid = fork();
    if (s.pid == 0) {
        char log[600];
        snprintf(log, sizeof log, "%s/log", folder);
        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        if (!freopen(log, "w", stderr) || (strncmp(scene, "/", 1) == 0 && chdir(folder) != 0))
            _exit(1);
        execl(program, program, scene, "--mode", "lockstep", "--port", "0", "--no-record", "--ticks", ticks, NULL);
        _exit(1);
    }
    close(ends[1]);
    s.out = fdopen(ends[0], "r");
    while (s.out && !s.port && fgets(line, sizeof line, s.out))
        sscanf(line, "listening on 127.0.0.1:%u", &s.port);
    return s;
}

static pid_t start_clients(unsigned port, unsigned seconds)
{
    char program[600], address[64], span[32], count[16];
    snprintf(program, sizeof program, "%s/foliot-client", build);
    snprintf(address, sizeof address, "127.0.0.1:%u", port);
    snprintf(span, sizeof span, "%u", seconds + 2);
    snprintf(count, sizeof count, "%d", HONEST);
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
            _exit(1);
        execl(program, program, address, "--bot", "random", "--clients", count, "--seconds", span, NULL);
        _exit(1);
    }
    return child;
}

static void let_attack(const attack *a, unsigned port, double seconds)
{
    static hostile peers[PEERS_MAX];
    foliot_transport_config config = foliot_transport_config_default();
    uint64_t now = now_ns(), end = now + (uint64_t)(seconds * 1e9);
    uint32_t here = 0;
    uint64_t welcomes = 0, come_ns = now;
    while ((now = now_ns()) < end) {
        for (; here < a->peers && now >= come_ns; here++, come_ns += COME_EVERY_NS) { // each at a tick of its own
            foliot_transport *wire;
            if (foliot_transport_enet(&config, now, &wire) != FOLIOT_OK)
                exit(1);
            hostile_begin(&peers[here], a->kind, a->spectates, wire, (uint16_t)port, now);
        }
        for (uint32_t i = 0; i < here; i++) {
            hostile_update(&peers[i], now);
            if (peers[i].gone && a->kind != HOSTILE_LIAR && a->kind != HOSTILE_STORM) { // once more
                foliot_transport *wire = peers[i].wire;
                welcomes += peers[i].welcomes;
                hostile_begin(&peers[i], a->kind, a->spectates, wire, (uint16_t)port, now);
            }
        }
        struct timespec pause = {.tv_nsec = 1000000};
        nanosleep(&pause, NULL);
    }
    for (uint32_t i = 0; i < here; i++) {
        welcomes += peers[i].welcomes;
        hostile_end(&peers[i]);
    }
    fprintf(stderr, "# %s: %llu times welcome\n", a->name, (unsigned long long)welcomes);
}

static double counter(const char *line, const char *name)
{
    size_t length = strlen(name);
    return strncmp(line, name, length) == 0 && line[length] == ' ' ? atof(line + length) : -1;
}

static double lines_of(const char *folder)
{
    char name[600];
    double lines = 0;
    snprintf(name, sizeof name, "%s/log", folder);
    FILE *log = fopen(name, "r");
    for (int c; log && (c = fgetc(log)) != EOF;)
        lines += c == '\n';
    if (log)
        fclose(log);
    return lines;
}

static outcome run(const attack *a, const char *scene, unsigned seconds)
{
    char line[512], folder[] = "/tmp/foliot-hostile-XXXXXX", command[700];
    outcome o = {0};
    struct rusage usage;
    int status;
    if (!mkdtemp(folder))
        exit(1);
    server s = start_server(scene, seconds, folder);
    pid_t honest = start_clients(s.port, seconds);
    let_attack(a, s.port, seconds);
    while (s.out && fgets(line, sizeof line, s.out)) {
        double value;
#define TAKE(field, name) o.field = (value = counter(line, name)) >= 0 ? value : o.field
        TAKE(p50, "tick_start_us_p50");
        TAKE(p99, "tick_start_us_p99");
        TAKE(late, "ticks_late");
        TAKE(ticks, "ticks");
        TAKE(searches, "searches");
        TAKE(relays, "relay_encodes");
        TAKE(refused, "refusals");
#undef TAKE
    }
    wait4(s.pid, &status, 0, &usage);
    o.cpu = (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
            1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    o.cpu *= 100.0 / (seconds + 3);
    kill(honest, SIGKILL);
    waitpid(honest, NULL, 0);
    fclose(s.out);
    o.lines = lines_of(folder);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    (void)!system(command);
    return o;
}

static void row(const char *name, const char *what, const char *unit, double value, double without)
{
    printf("{\"bench\":\"hostile\",\"case\":\"%s: %s\",\"value\":%.6g,\"unit\":\"%s\",\"opponent\":\"without\","
           "\"opponent_value\":%.6g,\"ratio\":%.4g}\n", name, what, value, unit, without, without > 0 ? value / without : 0);
    fflush(stdout);
}

static void compare(const attack *a, const char *scene, unsigned seconds)
{
    outcome without = run(&attacks[0], scene, seconds), with = run(a, scene, seconds);
    row(a->name, "p50", "us", with.p50, without.p50);
    row(a->name, "p99", "us", with.p99, without.p99);
    row(a->name, "ticks late by a tick", "ticks", with.late, without.late);
    row(a->name, "ticks", "ticks", with.ticks, without.ticks);
    row(a->name, "processor", "%", with.cpu, without.cpu);
    row(a->name, "searches", "", with.searches, without.searches);
    row(a->name, "relay encodes", "", with.relays, without.relays);
    row(a->name, "log lines", "", with.lines, without.lines);
}

int main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "all", *scene = argc > 4 ? argv[4] : "scenes/spacewar.yaml";
    unsigned seconds = argc > 2 ? (unsigned)atoi(argv[2]) : 8, repeats = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
    snprintf(build, sizeof build, "%s", argv[0]);
    for (int i = 0; i < 2; i++) { // build/bench/hostile: programs are in build
        char *slash = strrchr(build, '/');
        if (slash)
            *slash = 0;
    }
    signal(SIGPIPE, SIG_IGN);
    for (unsigned r = 0; r < repeats; r++)
        for (size_t i = 1; i < sizeof attacks / sizeof attacks[0]; i++)
            if (strcmp(which, "all") == 0 || strcmp(which, attacks[i].name) == 0)
                compare(&attacks[i], scene, seconds);
    return 0;
}
