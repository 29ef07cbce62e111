// SPDX-License-Identifier: MIT
// hostile.c: how late foliot-server closes its ticks under attack, against the same server without,
// in the same run; with eight honest players each time. Real programs, and hostile peers over ENet
// from this process (tests/support/hostile.h). Lateness is noisy where others use the machine:
// `updates` measures what the server's updates take of its thread's processor time instead, steps
// included, with all peers in one process over ENet. Usage: hostile [liars|silent|storm|holders|all
// [SECONDS [REPEATS [SCENE]]]]; hostile updates [SECONDS [SCENE]]
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "foliot/client.h"
#include "foliot/scene.h"
#include "foliot/server.h"
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
    {"none", HOSTILE_SILENT, 0, true},      {"liars", HOSTILE_LIAR, 8, true},
    {"silent", HOSTILE_SILENT, 64, true},   {"storm", HOSTILE_STORM, 1, true},
    {"holders", HOSTILE_TRICKLE, 64, true},
};

typedef struct outcome {
    double p50, p99, late, ticks, cpu, searches, lines, relays, refused;
} outcome;

static char build[512];

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
        execl(program, program, scene, "--mode", "lockstep", "--port", "0", "--no-record",
              "--ticks", ticks, NULL);
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
        execl(program, program, address, "--bot", "random", "--clients", count, "--seconds", span,
              NULL);
        _exit(1);
    }
    return child;
}

static void let_attack(const attack *a, unsigned port, double seconds)
{
    static hostile peers[PEERS_MAX];
    foliot_transport_config config = foliot_transport_config_default();
    uint64_t now = clock_now_ns(), end = now + (uint64_t)(seconds * 1e9);
    uint32_t here = 0;
    uint64_t welcomes = 0, come_ns = now;
    while ((now = clock_now_ns()) < end) {
        for (; here < a->peers && now >= come_ns;
             here++, come_ns += COME_EVERY_NS) { // each at another tick
            foliot_transport *wire;
            if (foliot_transport_create_enet(&config, now, &wire) != FOLIOT_STATUS_OK)
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
    printf("{\"bench\":\"hostile\",\"case\":\"%s: "
           "%s\",\"value\":%.6g,\"unit\":\"%s\",\"opponent\":\"without\","
           "\"opponent_value\":%.6g,\"ratio\":%.4g}\n",
           name, what, value, unit, without, without > 0 ? value / without : 0);
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

// -- what an update takes

#define UPDATES_MAX 100000

typedef struct cost {
    double p50, p99, most, all;
} cost;

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void check(bool fine)
{
    if (!fine) {
        fprintf(stderr, "hostile: something is not to be had\n");
        exit(1);
    }
}

static foliot_transport *client_wire(void)
{
    foliot_transport_config config = foliot_transport_config_default();
    foliot_transport *wire;
    check(foliot_transport_create_enet(&config, clock_now_ns(), &wire) == FOLIOT_STATUS_OK);
    return wire;
}

static cost cost_of(const attack *a, const char *file, unsigned seconds)
{
    static hostile peers[PEERS_MAX];
    static double took[UPDATES_MAX];
    foliot_scene *scene;
    foliot_error error;
    foliot_transport *host, *wires[HONEST];
    foliot_server *hosting;
    foliot_client *clients[HONEST];
    foliot_transport_config config = foliot_transport_config_default();
    config.bind = "127.0.0.1";
    config.peers_max = 96;
    check(foliot_scene_read(file, &scene, &error) == FOLIOT_STATUS_OK);
    check(foliot_transport_create_enet(&config, clock_now_ns(), &host) == FOLIOT_STATUS_OK);
    foliot_server_config serving = foliot_server_config_default();
    serving.transport = host;
    check(foliot_server_create(&serving, clock_now_ns(), &hosting) == FOLIOT_STATUS_OK);
    foliot_session_config session = {.name = "main",
                                     .scene = scene,
                                     .pace_hz = 60,
                                     .mode = FOLIOT_SESSION_LOCKSTEP,
                                     .input_delay = 3};
    check(foliot_world_create(scene, &session.world, NULL) == FOLIOT_STATUS_OK);
    check(foliot_server_add_session(hosting, &session, clock_now_ns()) == FOLIOT_STATUS_OK);
    foliot_client_config joining = foliot_client_config_default();
    joining.port = foliot_transport_get_port(host);
    for (int i = 0; i < HONEST; i++) {
        joining.transport = wires[i] = client_wire();
        check(foliot_client_create(&joining, clock_now_ns(), &clients[i]) == FOLIOT_STATUS_OK);
    }
    uint64_t begun = clock_now_ns(), now, next_ns = 0;
    uint32_t here = 0, count = 0;
    foliot_server_event event;
    foliot_divergence_report found;
    while ((now = clock_now_ns()) < begun + seconds * (uint64_t)1000000000u &&
           count < UPDATES_MAX) {
        double before = 1e6 * clock_thread_s();
        foliot_server_update(hosting, now);
        if (now > begun + 1000000000u) // the honest have come
            took[count++] = 1e6 * clock_thread_s() - before;
        while (foliot_server_poll(hosting, &event) ||
               foliot_server_poll_divergence(hosting, &found)) {
        }
        for (int i = 0; i < HONEST; i++)
            foliot_client_update(clients[i], now);
        for (; here < a->peers && now > begun + 1000000000u && now >= next_ns;
             next_ns = now + COME_EVERY_NS)
            hostile_begin(&peers[here++], a->kind, a->spectates, client_wire(),
                          foliot_transport_get_port(host), now);
        for (uint32_t i = 0; i < here; i++) {
            hostile_update(&peers[i], now);
            if (peers[i].gone && a->kind != HOSTILE_LIAR && a->kind != HOSTILE_STORM)
                hostile_begin(&peers[i], a->kind, a->spectates, peers[i].wire,
                              foliot_transport_get_port(host), now);
        }
        struct timespec pause = {.tv_nsec = 1000000};
        nanosleep(&pause, NULL);
    }
    for (uint32_t i = 0; i < here; i++)
        hostile_end(&peers[i]);
    for (int i = 0; i < HONEST; i++) {
        foliot_client_destroy(clients[i]);
        foliot_transport_destroy(wires[i]);
    }
    foliot_server_destroy(hosting);
    foliot_transport_destroy(host);
    foliot_scene_destroy(scene);
    cost c = {0};
    for (uint32_t i = 0; i < count; i++)
        c.all += took[i];
    qsort(took, count, sizeof took[0], by_size);
    c.all /= 10000.0 * (seconds - 1); // percent
    c.p50 = took[count / 2];
    c.p99 = took[(uint64_t)count * 99 / 100];
    c.most = took[count - 1];
    return c;
}

static void compare_costs(const char *scene, unsigned seconds)
{
    cost without = cost_of(&attacks[0], scene, seconds);
    for (size_t i = 1; i < sizeof attacks / sizeof attacks[0]; i++) {
        cost with = cost_of(&attacks[i], scene, seconds);
        row(attacks[i].name, "an update's time, p99", "us", with.p99, without.p99);
        row(attacks[i].name, "an update's time, longest", "us", with.most, without.most);
        row(attacks[i].name, "all updates", "%", with.all, without.all);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "updates") == 0) {
        compare_costs(argc > 3 ? argv[3] : "scenes/spacewar.yaml",
                      argc > 2 ? (unsigned)atoi(argv[2]) : 8);
        return 0;
    }
    const char *which = argc > 1 ? argv[1] : "all",
               *scene = argc > 4 ? argv[4] : "scenes/spacewar.yaml";
    unsigned seconds = argc > 2 ? (unsigned)atoi(argv[2]) : 8,
             repeats = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
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
