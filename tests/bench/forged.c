// SPDX-License-Identifier: MIT
// forged.c: foliot-server with eight honest players while 30,000 forged and garbage datagrams a
// second come, against the same server without: processor time that the flood takes, and what the
// honest players lose. Real programs; the flood is of this process, from several ports. Usage:
// forged [SECONDS [DATAGRAMS-A-SECOND]]
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "bench.h"
#include "clock.h"

#define HONEST 8
#define SOCKETS 8
#define SLICE_NS 1000000u // of the flood
#define JOIN_SECONDS 2
#define FORGED_BYTES_MAX 400

static char build[512], folder[] = "/tmp/foliot-forged-XXXXXX";

typedef struct outcome {
    double cpu_seconds, seconds, expected, received, reconnects, sent;
} outcome;

static void die(const char *what)
{
    fprintf(stderr, "forged: %s\n", what);
    exit(1);
}

static void sleep_until(uint64_t ns)
{
    struct timespec t = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

// A program with its output in a pipe.
static FILE *start(const char *const *arguments, pid_t *pid)
{
    int ends[2];
    if (pipe(ends) != 0 || (*pid = fork()) < 0)
        die("no process");
    if (*pid == 0) {
        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        if (!freopen("/dev/null", "w", stderr))
            _exit(127);
        execv(arguments[0], (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
    close(ends[1]);
    return fdopen(ends[0], "r");
}

// One of what a stranger can make: noise, sealed datagrams of made-up connections, questions, and
// openings whose cookie is wrong.
static size_t forge(foliot__rng *rng, uint8_t *bytes)
{
    static const char *const marks[] = {"foliot?k", "foliot>k", "foliot>1"};
    uint32_t kind = (uint32_t)(8 * foliot__rng_unit(rng));
    size_t length = 20 + (size_t)((FORGED_BYTES_MAX - 20) * foliot__rng_unit(rng));
    for (size_t i = 0; i < length; i++)
        bytes[i] = (uint8_t)(256 * foliot__rng_unit(rng));
    if (kind < 3) {
        bytes[0] = (uint8_t)(0x68 + kind);
    } else if (kind < 6) {
        memcpy(bytes, marks[kind - 3], 8);
        length = kind == 3 ? 64 : length;
    } else if (kind == 6) {
        bytes[0] = 0x67;
    }
    return length;
}

static double flood(uint16_t port, double seconds, unsigned rate)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    foliot__rng rng = foliot__rng_seeded(1);
    int sockets[SOCKETS];
    uint64_t sent = 0, began = clock_read_ns(CLOCK_MONOTONIC), due = began;
    for (int i = 0; i < SOCKETS; i++)
        sockets[i] = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    while ((double)(due - began) < seconds * 1e9) {
        uint64_t wanted = (uint64_t)((double)(due - began) * 1e-9 * rate);
        for (; sent < wanted; sent++) {
            uint8_t bytes[FORGED_BYTES_MAX];
            size_t length = forge(&rng, bytes);
            (void)!sendto(sockets[sent % SOCKETS], bytes, length, MSG_DONTWAIT,
                          (const struct sockaddr *)&to, sizeof to);
        }
        sleep_until(due += SLICE_NS);
    }
    for (int i = 0; i < SOCKETS; i++)
        close(sockets[i]);
    return (double)sent;
}

static double field(const char *line, const char *name)
{
    char key[64];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr(line, key);
    return at ? strtod(at + strlen(key), NULL) : 0;
}

static outcome run_once(double seconds, unsigned rate)
{
    char program[600], other[600], password[600], line[8192], address[64], clients[16], play[32];
    outcome o = {0};
    pid_t server, players;
    int port = 0, status;
    struct rusage used;
    snprintf(program, sizeof program, "%s/foliot-server", build);
    snprintf(other, sizeof other, "%s/foliot-client", build);
    snprintf(password, sizeof password, "%s/password", folder);
    const char *const serve[] = {program,       "scenes/spacewar.yaml", "--port", "0",
                                 "--no-record", "--password",           password, NULL};
    FILE *said = start(serve, &server);
    while (fgets(line, sizeof line, said)) {
        sscanf(line, "listening on 127.0.0.1:%d", &port);
        if (strncmp(line, "join with", 9) == 0)
            break;
    }
    if (!port)
        die("the server did not begin");
    snprintf(address, sizeof address, "127.0.0.1:%d", port);
    snprintf(clients, sizeof clients, "%d", HONEST);
    snprintf(play, sizeof play, "%g", seconds + JOIN_SECONDS);
    const char *const join[] = {other,       address, "--password", password, "--bot",  "random",
                                "--clients", clients, "--seconds",  play,     "--json", NULL};
    uint64_t began = clock_read_ns(CLOCK_MONOTONIC);
    FILE *played = start(join, &players);
    sleep_until(began + (uint64_t)(JOIN_SECONDS * 0.75 * 1e9));
    o.sent = rate ? flood((uint16_t)port, seconds, rate) : 0;
    while (fgets(line, sizeof line, played)) {
        o.expected += field(line, "snapshots_expected");
        o.received += field(line, "snapshots_received");
        o.reconnects += field(line, "reconnects");
    }
    fclose(played);
    waitpid(players, &status, 0);
    kill(server, SIGTERM);
    while (fgets(line, sizeof line, said)) {
    }
    fclose(said);
    wait4(server, &status, 0, &used);
    o.seconds = (double)(clock_read_ns(CLOCK_MONOTONIC) - began) * 1e-9;
    o.cpu_seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                    (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
    return o;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 6;
    unsigned rate = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 30000;
    char file[600], name[96];
    signal(SIGPIPE, SIG_IGN);
    snprintf(build, sizeof build, "%s", argv[0]);
    for (int i = 0; i < 2; i++) // build/bench/forged
        if (strrchr(build, '/'))
            *strrchr(build, '/') = 0;
    if (!mkdtemp(folder))
        die("no folder");
    snprintf(file, sizeof file, "%s/password", folder);
    FILE *out = fopen(file, "w");
    if (!out || fchmod(fileno(out), 0600) != 0 || fputs("a night in may\n", out) < 0 ||
        fclose(out) != 0)
        die("no password");
    outcome calm = run_once(seconds, 0), flooded = run_once(seconds, rate);
    unlink(file);
    rmdir(folder);
    snprintf(name, sizeof name, "%u datagrams/s: more of a core", rate);
    bench_report("forged", name, 100 * (flooded.cpu_seconds - calm.cpu_seconds) / seconds, "%",
                 NULL, 0);
    bench_report("forged", "a datagram",
                 (flooded.cpu_seconds - calm.cpu_seconds) * 1e6 / flooded.sent, "us", NULL, 0);
    bench_report("forged", "without: snapshots that honest players lost",
                 calm.expected - calm.received, "", NULL, 0);
    bench_report("forged", "with: snapshots that honest players lost",
                 flooded.expected - flooded.received, "", NULL, 0);
    bench_report("forged", "with: connections that were lost", flooded.reconnects, "", NULL, 0);
    return 0;
}
