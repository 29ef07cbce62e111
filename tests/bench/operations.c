// SPDX-License-Identifier: MIT
// operations.c: what running a server costs its players: the end of 64 sessions that are played,
// scrapes of /metrics with 1,000 sessions, ticks during calls of the admin API, and the beginning
// of a recording in mid-session. Real programs; a time is that of whoever asks, on a machine that
// does other things too. Usage: operations [SESSIONS PLAYED]
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "foliot/foliot.h"
#include "foliot/replay.h"
#include "real_server.h"
#include "world_simulation.h"

#define SCRAPED 1000
#define PLAYED 64
#define SCRAPES 50
#define CALLS_S 8 // with calls, and as long without
#define CALL_EVERY_S 0.02
#define DRAIN_S 30
#define ANSWER_BYTES (1 << 20)
#define FILES_MAX 1024

static char build[512], folder[64], answer[ANSWER_BYTES];

static void die(const char *what)
{
    fprintf(stderr, "operations: %s\n", what);
    exit(1);
}

static const char *in_folder(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

// -- HTTP

static int connect_tcp(unsigned port)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof to) == 0 ? fd : -1;
}

static int connect_unix(void)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    snprintf(to.sun_path, sizeof to.sun_path, "%s/admin", folder);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof to) == 0 ? fd : -1;
}

// Into `answer`. Returns the seconds that it took.
static double ask(int fd, const char *method, const char *path, const char *body)
{
    char text[512];
    size_t length = 0;
    ssize_t got;
    double begun = bench_now();
    int wrote = snprintf(text, sizeof text,
                         "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                         "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                         method, path, strlen(body), body);
    if (fd < 0 || write(fd, text, (size_t)wrote) != wrote)
        die("no connection");
    while ((got = read(fd, answer + length, sizeof answer - 1 - length)) > 0)
        length += (size_t)got;
    answer[length] = 0;
    close(fd);
    return bench_now() - begun;
}

static bool answered_well(void)
{
    return atoi(answer + strcspn(answer, " ")) / 100 == 2;
}

static unsigned http_port(real_server *s)
{
    char line[512];
    unsigned port = 0;
    while (port == 0 && fgets(line, sizeof line, s->out))
        (void)!sscanf(line, "http on 127.0.0.1:%u", &port);
    if (port == 0)
        die("no port for HTTP");
    return port;
}

// -- scrapes

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double figure(const char *name)
{
    const char *at = strstr(answer, name);
    if (!at)
        die("a figure is missing in /metrics");
    return atof(at + strlen(name));
}

// Wall time is that of whoever asks, on a machine where 1,000 sessions take half of the processors;
// the server counts the processor time itself.
static void scrape(unsigned sessions)
{
    static const char *const options[] = {"--no-record", "--http", "0", NULL};
    char name[96];
    double took[SCRAPES], copies[SCRAPES], answers[SCRAPES];
    real_server s = real_server_start(build, sessions, options);
    unsigned port = http_port(&s);
    real_pause_s(2);
    for (int i = 0; i < SCRAPES; i++) {
        took[i] = 1e3 * ask(connect_tcp(port), "GET", "/metrics", "");
        if (!answered_well())
            die("/metrics does not answer");
        copies[i] = 1e3 * figure("\nfoliot_metrics_copy_seconds ");
        answers[i] = 1e3 * figure("\nfoliot_metrics_answer_seconds ");
        real_pause_s(0.05);
    }
    real_server_stop(&s);
    qsort(took, SCRAPES, sizeof took[0], by_value);
    snprintf(name, sizeof name, "%u sessions: a scrape of /metrics, median", sessions);
    bench_report("operations", name, took[SCRAPES / 2], "ms", NULL, 0);
    snprintf(name, sizeof name, "%u sessions: a scrape of /metrics, p95", sessions);
    bench_report("operations", name, took[SCRAPES * 95 / 100], "ms", NULL, 0);
    snprintf(name, sizeof name, "%u sessions: processor time of an answer, median", sessions);
    bench_report("operations", name, bench_median(answers, SCRAPES), "ms", NULL, 0);
    snprintf(name, sizeof name, "%u sessions: of the loop, for a copy a second, median", sessions);
    bench_report("operations", name, bench_median(copies, SCRAPES), "ms", NULL, 0);
}

// -- admin calls

typedef struct lateness {
    double ticks, sum_s, late; // late: by more than 4 ms
} lateness;

static lateness lateness_now(unsigned port)
{
    real_pause_s(1.1); // figures are a second old at most
    ask(connect_tcp(port), "GET", "/metrics", "");
    lateness now = {.ticks = figure("\nfoliot_tick_lateness_seconds_count "),
                    .sum_s = figure("\nfoliot_tick_lateness_seconds_sum ")};
    now.late = now.ticks - figure("\nfoliot_tick_lateness_seconds_bucket{le=\"0.004\"} ");
    return now;
}

// The questions of a panel, a message, a recording, and a session that comes and goes. Returns how
// many.
static unsigned call_all(void)
{
    static const struct {
        const char *method, *path, *body;
    } asked[] = {{"GET", "/v1/sessions", ""},
                 {"POST", "/v1/sessions", "{\"name\":\"guest\",\"scene\":\"spacewar\"}"},
                 {"GET", "/v1/sessions/spacewar-1/players", ""},
                 {"POST", "/v1/sessions/spacewar-2/recording", "{}"},
                 {"POST", "/v1/sessions/spacewar-1/messages", "{\"text\":\"hello\"}"},
                 {"DELETE", "/v1/sessions/spacewar-2/recording", ""},
                 {"POST", "/v1/sessions/guest/end", "{}"},
                 {"GET", "/v1/server", ""}};
    unsigned calls = 0, refused = 0;
    double end = bench_now() + CALLS_S;
    for (; bench_now() < end; calls++) {
        unsigned i = calls % (sizeof asked / sizeof asked[0]);
        ask(connect_unix(), asked[i].method, asked[i].path, asked[i].body);
        refused += !answered_well();
        real_pause_s(CALL_EVERY_S);
    }
    if (refused > calls / 4)
        die("the admin API refuses what is asked");
    return calls;
}

static void report_lateness(const char *when, lateness from, lateness to)
{
    char name[96];
    double ticks = to.ticks - from.ticks;
    snprintf(name, sizeof name, "ticks %s: lateness, mean", when);
    bench_report("operations", name, 1e3 * (to.sum_s - from.sum_s) / ticks, "ms", NULL, 0);
    snprintf(name, sizeof name, "ticks %s: late by more than 4 ms", when);
    bench_report("operations", name, 100 * (to.late - from.late) / ticks, "%", NULL, 0);
}

static void call_beside(unsigned count)
{
    char name[96], admin[128];
    snprintf(admin, sizeof admin, "%s", in_folder("admin"));
    const char *const options[] = {"--no-record", "--http",   "0",      "--admin-socket",
                                   admin,         "--scenes", "scenes", "--recordings",
                                   folder,        NULL};
    real_server s = real_server_start(build, count, options);
    unsigned port = http_port(&s);
    pid_t players = real_players_start(s.port, count);
    lateness before = lateness_now(port);
    real_pause_s(CALLS_S);
    lateness between = lateness_now(port);
    unsigned calls = call_all();
    lateness after = lateness_now(port);
    kill(players, SIGKILL);
    waitpid(players, NULL, 0);
    kill(s.pid, SIGKILL); // it stays for sessions to come
    real_server_stop(&s);
    snprintf(name, sizeof name, "%u sessions with a player: admin calls a second", count);
    bench_report("operations", name, (double)calls / CALLS_S, "1/s", NULL, 0);
    report_lateness("without admin calls", before, between);
    report_lateness("beside admin calls", between, after);
    double alone = (between.sum_s - before.sum_s) / (between.ticks - before.ticks),
           beside = (after.sum_s - between.sum_s) / (after.ticks - between.ticks);
    bench_report("operations", "what admin calls add to the lateness of a tick, mean",
                 1e3 * (beside - alone), "ms", NULL, 0);
}

// -- the drain

static bool is_closed(const char *file)
{
    foliot_replay *replay;
    if (foliot_replay_open(file, NULL, &replay, NULL) != FOLIOT_STATUS_OK)
        return false;
    bool closed = foliot_replay_get_summary(replay)->closed;
    foliot_replay_close(replay);
    return closed;
}

static void remove_files(const char *what)
{
    char command[192];
    snprintf(command, sizeof command, "rm -rf %s%s", folder, what);
    if (system(command) != 0)
        die(command);
}

static unsigned list_recordings(char files[][256])
{
    char command[128];
    unsigned count = 0;
    snprintf(command, sizeof command, "ls %s/*.foliot", folder);
    FILE *out = popen(command, "r");
    while (out && count < FILES_MAX && fgets(files[count], sizeof files[0], out)) {
        files[count][strcspn(files[count], "\n")] = 0;
        count++;
    }
    if (out)
        pclose(out);
    return count;
}

static void drain(unsigned count)
{
    static char files[FILES_MAX][256];
    char name[96];
    const char *const options[] = {"--recordings", folder, NULL};
    real_server s = real_server_start(build, count, options);
    pid_t players = real_players_start(s.port, count);
    real_pause_s(5);
    unsigned found = list_recordings(files), at = 0;
    if (found != count)
        die("recordings are missing");
    double begun = bench_now();
    kill(s.pid, SIGTERM); // the last tick is the one that runs
    while (at < count && bench_now() - begun < DRAIN_S)
        if (is_closed(files[at]))
            at++;
        else
            real_pause_s(0.005);
    double closed = bench_now() - begun;
    if (at < count)
        die("a recording is not closed");
    real_server_stop(&s);
    double ended = bench_now() - begun;
    kill(players, SIGKILL);
    waitpid(players, NULL, 0);
    snprintf(name, sizeof name, "%u sessions with a player: last tick to the last end", count);
    bench_report("operations", name, closed, "s", NULL, 0);
    snprintf(name, sizeof name, "%u sessions with a player: SIGTERM to exit", count);
    bench_report("operations", name, ended, "s", NULL, 0);
}

// -- a recording that begins

static void begin_recording(const char *file, const char *what)
{
    enum { TIMES = 9 };
    char name[96];
    double took[TIMES];
    foliot_scene *scene;
    foliot_error error;
    foliot_world *world;
    if (foliot_scene_read(file, &scene, &error) != FOLIOT_STATUS_OK ||
        foliot_world_create(scene, &world, NULL) != FOLIOT_STATUS_OK)
        die("no scene");
    foliot_recording_config config = foliot_recording_config_default();
    config.fingerprint = foliot_get_fingerprint(); // as a server, which has it
    for (int i = 0; i < TIMES; i++) {
        foliot_recording *recording;
        double begun = bench_now();
        if (foliot_recording_open(in_folder("begun.foliot"), WORLD_SIMULATION(world, scene),
                                  &config, &recording) != FOLIOT_STATUS_OK)
            die("no recording");
        took[i] = 1e3 * (bench_now() - begun);
        (void)!foliot_recording_close(recording, NULL);
    }
    foliot_world_destroy(world);
    foliot_scene_destroy(scene);
    snprintf(name, sizeof name, "%s: a recording begins in mid-session", what);
    bench_report("operations", name, bench_median(took, TIMES), "ms", NULL, 0);
}

int main(int argc, char **argv)
{
    unsigned sessions = argc == 3 ? (unsigned)atoi(argv[1]) : SCRAPED,
             played = argc == 3 ? (unsigned)atoi(argv[2]) : PLAYED;
    real_server_build(argv[0], build);
    snprintf(folder, sizeof folder, "/tmp/foliot-bench-%d", (int)getpid());
    if (mkdir(folder, 0700) != 0)
        die("no folder");
    begin_recording("scenes/spacewar.yaml", "spacewar");
    begin_recording("scenes/city.yaml", "10,000 bodies");
    scrape(sessions);
    call_beside(played);
    remove_files("/*.foliot");
    drain(played);
    remove_files("");
    return 0;
}
