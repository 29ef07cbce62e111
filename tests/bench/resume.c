// SPDX-License-Identifier: MIT
// resume.c: how long a match is away when its server dies. The journal of an hour (256 bodies with
// springs and drag, 8 players) is made at full speed; the real server goes on with it, is killed
// with kill -9 while a client plays, and is started again at once. Times are from the kill to a
// tick of the new life in the hands of a client.
#include "bench.h"
#include "recording_fixture.h"

#include "foliot/client.h"
#include "status.h"

#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BODIES 256
#define PLAYERS 8
#define HOUR (3600 * 60)
#define ROUNDS 7
#define WAIT_S 15.0

static char folder[] = P_tmpdir "/foliot-bench-XXXXXX", file[300], program[PATH_MAX + 32];

static uint64_t now_ns(void)
{
    return (uint64_t)(bench_now() * 1e9);
}

static int report_failure(const char *what)
{
    fprintf(stderr, "resume: %s\n", what);
    return 1;
}

static bool make_hour(void)
{
    recording_fixture fixture;
    recording_fixture_init(&fixture, BODIES, PLAYERS, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 1);
    fixture.scene.players.limit = PLAYERS + 8; // room for the client
    foliot_world *world = recording_fixture_world(&fixture);
    foliot_recording_config config = foliot_recording_config_default();
    foliot_recording *recording;
    config.block_ticks = 3; // as foliot-server has it
    if (foliot_recording_open(file, WORLD_SIMULATION(world, &fixture.scene), &config, &recording) !=
        FOLIOT_STATUS_OK)
        return false;
    fixture.scene.players.limit = PLAYERS; // who send inputs
    bool fine = true;
    for (uint64_t tick = 0; fine && tick < HOUR; tick++) {
        foliot_input inputs[FOLIOT_PLAYERS_MAX];
        uint32_t count = recording_fixture_inputs(&fixture, tick, false, inputs);
        fine = foliot_world_step(world, inputs, count, NULL) == FOLIOT_STATUS_OK &&
               foliot_recording_append(recording, WORLD_SIMULATION(world, NULL),
                                       TICK_INPUTS(inputs, count), NULL, 0) == FOLIOT_STATUS_OK;
        if (tick % 1000 == 999)
            fine = fine && foliot_recording_wait(recording, false) == FOLIOT_STATUS_OK;
    }
    demand(foliot_recording_wait(recording, false));
    foliot_recording_abandon(recording);
    foliot_world_destroy(world);
    recording_fixture_free(&fixture);
    return fine;
}

// -- the server

typedef struct child {
    pid_t pid;
    FILE *out;
    unsigned port;
    unsigned long long tick; // that it went on from
} child;

static bool start_server(child *c, unsigned port)
{
    int ends[2];
    char number[16], line[512];
    snprintf(number, sizeof number, "%u", port);
    if (pipe(ends) != 0 || (c->pid = fork()) < 0)
        return false;
    if (c->pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(ends[1], 1);
        dup2(null, 2);
        close(ends[0]);
        execl(program, program, "--resume", file, "--port", number, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    c->out = fdopen(ends[0], "r");
    c->port = 0;
    while (fgets(line, sizeof line, c->out)) {
        sscanf(line, "listening on 127.0.0.1:%u", &c->port);
        if (sscanf(line, "resumed at tick %llu", &c->tick) == 1)
            return c->port > 0;
    }
    return false;
}

// Processor time of all its threads: the share of the time that a busy machine does not change.
static double cpu_ms(pid_t pid)
{
    char path[64 + NAME_MAX];
    double sum = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        unsigned long long ns = 0;
        snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", (int)pid, task->d_name);
        FILE *stat = *task->d_name == '.' ? NULL : fopen(path, "r");
        if (stat && fscanf(stat, "%llu", &ns) == 1)
            sum += 1e-6 * (double)ns;
        if (stat)
            fclose(stat);
    }
    if (tasks)
        closedir(tasks);
    return sum;
}

static void kill_server(child *c)
{
    kill(c->pid, SIGKILL);
    waitpid(c->pid, NULL, 0);
    fclose(c->out);
}

// -- clients

typedef struct client {
    foliot_transport *wire;
    foliot_client *client;
} client;

static bool connect_client(client *g, unsigned port, bool spectates)
{
    foliot_transport_config wire = foliot_transport_config_default();
    foliot_client_config config = foliot_client_config_default();
    if (foliot_transport_create_enet(&wire, now_ns(), &g->wire) != FOLIOT_STATUS_OK)
        return false;
    config.transport = g->wire;
    config.port = (uint16_t)port;
    config.spectates = spectates;
    return foliot_client_create(&config, now_ns(), &g->client) == FOLIOT_STATUS_OK;
}

static void disconnect_client(client *g)
{
    foliot_client_destroy(g->client);
    foliot_transport_destroy(g->wire);
}

static void update_client(client *g)
{
    foliot_client_update(g->client, now_ns());
    struct timespec pause = {.tv_nsec = 300000};
    nanosleep(&pause, NULL);
}

// Waits until this number of snapshots has come, in all or since. Returns the time, or a negative
// one.
static double seconds_until_snapshots(client *g, uint64_t snapshots)
{
    double begin = bench_now();
    while (foliot_client_get_statistics(g->client).snapshots_received < snapshots) {
        if (bench_now() - begin > WAIT_S)
            return -1;
        update_client(g);
    }
    return bench_now();
}

typedef struct round_result {
    double newcomer_ms, player_ms, lost_ms, server_ms, cpu_ms;
    bool same_player;
} round_result;

// One death. The player is connected before, and stays so.
static bool kill_and_resume(child *server, client *player, round_result *r)
{
    client newcomer;
    unsigned port = server->port;
    uint32_t was = foliot_client_get_player(player->client);
    foliot_client_statistics seen = foliot_client_get_statistics(player->client);
    double killed = bench_now(), at;
    kill_server(server);
    if (!start_server(server, port))
        return false;
    r->server_ms = 1e3 * (bench_now() - killed);
    r->cpu_ms = cpu_ms(server->pid);
    if (!connect_client(&newcomer, port, true))
        return false;
    at = seconds_until_snapshots(
        &newcomer,
        2); // the first is of the tick that it went on from, the second one was stepped after that
    r->newcomer_ms = 1e3 * (at - killed);
    disconnect_client(&newcomer);
    double again = seconds_until_snapshots(player, seen.snapshots_received + 2);
    r->player_ms = 1e3 * (again - killed);
    r->lost_ms = seen.newest_tick > server->tick
                     ? (double)(seen.newest_tick - server->tick) * 1000.0 / 60
                     : 0;
    r->same_player = foliot_client_get_player(player->client) == was;
    return at > 0 && again > 0;
}

static double largest_of(const double *values)
{
    double most = values[0];
    for (int i = 1; i < ROUNDS; i++)
        most = values[i] > most ? values[i] : most;
    return most;
}

static int run_bench(void)
{
    child server;
    client player;
    double newcomer[ROUNDS], played[ROUNDS], lost[ROUNDS], listening[ROUNDS], cpu[ROUNDS];
    struct stat about;
    if (!make_hour() || stat(file, &about) != 0)
        return report_failure("no journal");
    bench_report("resume", "journal of an hour, 256 bodies", (double)about.st_size / 1048576, "MiB",
                 NULL, 0);
    if (!start_server(&server, 0) || !connect_client(&player, server.port, false))
        return report_failure("the server does not go on with the journal");
    srand(1);
    bool same = true;
    for (int i = 0; i < ROUNDS; i++) {
        round_result r;
        uint64_t before = foliot_client_get_statistics(player.client).snapshots_received;
        if (seconds_until_snapshots(&player, before + 20 + (uint64_t)(rand() % 30)) < 0 ||
            !kill_and_resume(&server, &player, &r))
            return report_failure("nobody was served again");
        newcomer[i] = r.newcomer_ms;
        played[i] = r.player_ms;
        lost[i] = r.lost_ms;
        listening[i] = r.server_ms;
        cpu[i] = r.cpu_ms;
        same = same && r.same_player;
    }
    disconnect_client(&player);
    kill_server(&server);
    double slowest = largest_of(newcomer), most = largest_of(lost);
    bench_report("resume", "kill -9 until it listens again", bench_median(listening, ROUNDS), "ms",
                 NULL, 0);
    bench_report("resume", "processor time of that", bench_median(cpu, ROUNDS), "ms", NULL, 0);
    bench_report("resume", "kill -9 to a tick served", bench_median(newcomer, ROUNDS), "ms", NULL,
                 0);
    bench_report("resume", "kill -9 to a tick served, slowest", slowest, "ms", NULL, 0);
    bench_report("resume", "kill -9 to a tick at the player's", bench_median(played, ROUNDS), "ms",
                 NULL, 0);
    bench_report("resume", "time lost that was seen, most", most, "ms", NULL, 0);
    return same ? 0 : report_failure("the player came back as another one");
}

int main(void)
{
    char self[PATH_MAX] = "";
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0 || !mkdtemp(folder))
        return report_failure("no folder");
    snprintf(program, sizeof program, "%s/foliot-server", dirname(dirname(self)));
    snprintf(file, sizeof file, "%s/hour.foliot", folder);
    int code = run_bench();
    unlink(file);
    rmdir(folder);
    return code;
}
