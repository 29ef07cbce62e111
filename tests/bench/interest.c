// SPDX-License-Identifier: MIT
// interest.c: a city of 10,000 bodies and watchers who are sent what is around them, on a virtual
// clock: how stale what they see is, by distance; what they are sent in any second; and, in
// processor time, what a watcher costs. Usage: interest [WATCHERS SECONDS SCENE]
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../client/lib/shared/internal.h"
#undef FOLIOT__CHANGES_HELD // both sides hold changes
#include "../../server/lib/fanout.h"
#include "../../server/lib/session.h"
#include "bench.h"
#include "foliot/foliot.h"
#include "foliot/scene.h"
#include "status.h"
#include "slots.h"

#define WATCHERS_MAX 64
#define BUDGET_KBIT 256
#define FAR 35.0
#define NEAR 5.0
#define RING_COUNT 3
#define AGES 512
#define SEEN 0.01 // metres: what moved by less does not count ...
#define WITHIN 10 // ... in this number of ticks
#define BODIES_MAX 16384
#define WATCHED 8 // one in this number of watchers is measured
#define WARM_SECONDS 4.0

static const double rings[RING_COUNT] = {6, 12, 35};

typedef struct city {
    foliot_hub *hub;
    foliot_scene *scene;
    foliot_transport *host, *wires[WATCHERS_MAX];
    foliot_server *server;
    foliot_client *clients[WATCHERS_MAX];
    uint32_t watchers;
    uint64_t now_ns, tick;
    double step_seconds, send_seconds;
    uint64_t wrong[WATCHERS_MAX / WATCHED][BODIES_MAX]; // since which tick; 0: right
    uint64_t ages[RING_COUNT][AGES];
    uint64_t looks;                    // of watchers whose ages were measured
    uint64_t sent[WATCHERS_MAX][1024]; // bytes in each of the last ticks
    uint64_t most[WATCHERS_MAX];       // in any second
} city;

// Processor time of this thread, seconds.
static double spent_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run_timed(void *user, void (*run)(void *job), void *job)
{
    city *c = user;
    double begin = spent_now();
    run(job);
    c->step_seconds += spent_now() - begin;
}

static city *city_create(const char *file, uint32_t watchers)
{
    city *c = calloc(1, sizeof *c);
    foliot_error error;
    foliot_world *world;
    FOLIOT_ASSERT(c);
    c->now_ns = 1000000000u;
    c->watchers = watchers;
    if (foliot_scene_read(file, &c->scene, &error) != FOLIOT_STATUS_OK) {
        fprintf(stderr, "interest: %s cannot be read\n", file);
        exit(2);
    }
    demand(foliot_hub_create(&c->hub));
    demand(foliot_world_create(c->scene, &world, NULL));
    foliot_transport_config wire = foliot_transport_config_default();
    wire.bind = "127.0.0.1";
    wire.port = 7777;
    wire.peers_max = WATCHERS_MAX;
    demand(foliot_transport_create_memory(c->hub, &wire, c->now_ns, &c->host));
    foliot_server_config config = foliot_server_config_default();
    config.transport = c->host;
    config.players_per_address_max = FOLIOT_PLAYERS_MAX;
    config.start = run_timed;
    config.start_user = c;
    demand(foliot_server_create(&config, c->now_ns, &c->server));
    foliot_session_config session = foliot_session_config_default();
    session.scene = c->scene;
    session.world = world;
    session.interest = (foliot_interest){NEAR, FAR, BUDGET_KBIT};
    demand(foliot_server_add_session(c->server, &session, c->now_ns));
    for (uint32_t i = 0; i < watchers; i++) {
        foliot_transport_config end = foliot_transport_config_default();
        demand(foliot_impairment_parse("loss=5%,delay=25ms,jitter=0-20ms", &end.send, NULL));
        end.send.seed = 1 + i;
        end.receive = end.send;
        end.receive.seed += 1000;
        demand(foliot_transport_create_memory(c->hub, &end, c->now_ns, &c->wires[i]));
        foliot_client_config joins = foliot_client_config_default();
        joins.transport = c->wires[i];
        joins.port = 7777;
        demand(foliot_client_create(&joins, c->now_ns, &c->clients[i]));
    }
    return c;
}

static void city_destroy(city *c)
{
    for (uint32_t i = 0; i < c->watchers; i++) {
        foliot_client_destroy(c->clients[i]);
        foliot_transport_destroy(c->wires[i]);
    }
    foliot_server_destroy(c->server);
    foliot_transport_destroy(c->host);
    foliot_hub_destroy(c->hub);
    foliot_scene_destroy(c->scene);
    free(c);
}

// They walk about, each its own way: a second of every three, and grab now and then.
static void steer(city *c)
{
    for (uint32_t i = 0; i < c->watchers; i++) {
        uint64_t phase = c->tick / 60 + 7 * i;
        int8_t axes[FOLIOT_AXIS_COUNT] = {0};
        if (phase % 3 == 0)
            axes[phase / 3 % 2] = (phase / 6) % 2 ? 60 : -60;
        foliot_client_set_input(c->clients[i], axes, phase % 10 == 5 ? 1 : 0);
    }
}

static double distance(const foliot__session *s, const int32_t a[3], const int32_t b[3])
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        double d = ((double)a[k] - b[k]) * s->snapshots.format.position_step;
        sum += d * d;
    }
    return sqrt(sum);
}

// Whether what a watcher has of a body is right to a centimetre; of a body that was never sent to
// it, that is what the scene says.
static bool shows_right(const city *c, const foliot__session *s, const foliot__tracks *t,
                        uint32_t body, const foliot_snapshot_body *is)
{
    const foliot__track *track = body < t->capacity ? &t->tracks[body] : NULL;
    if (track && track->count > 0)
        return distance(s, track->states[track->count - 1].body.position, is->position) <= SEEN;
    if ((track && track->told) || body >= c->scene->body_count)
        return false;
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        double d = is->position[k] * s->snapshots.format.position_step -
                   c->scene->bodies[body].position[k];
        sum += d * d;
    }
    return sqrt(sum) <= SEEN;
}

// For how long what watchers have of bodies around them has been wrong, as of their newest packet.
static void measure_ages(city *c, const foliot_world *world)
{
    const foliot__session *s = c->server->sessions[0];
    for (uint32_t i = 0; i < c->watchers; i += WATCHED) {
        const foliot__tracks *t = c->clients[i]->tracks;
        uint32_t own = player_slot(world, foliot_client_get_player(c->clients[i]));
        const foliot_snapshot *then = t && t->has_newest ? foliot__fanout_find(s, t->newest) : NULL,
                              *before = then ? foliot__fanout_find(s, then->tick - WITHIN) : NULL;
        if (!before || own >= before->count)
            continue;
        c->looks++;
        for (uint32_t b = 0; b < before->count && b < BODIES_MAX; b++) {
            const foliot_snapshot_body *is = &then->bodies[b];
            uint64_t *wrong = &c->wrong[i / WATCHED][b];
            double d = distance(s, is->position, then->bodies[own].position);
            bool moves = distance(s, is->position, before->bodies[b].position) > SEEN,
                 right = d > FAR || !(is->flags & FOLIOT_SNAPSHOT_ALIVE) || b == own ||
                         shows_right(c, s, t, b, is);
            uint64_t has = foliot__tracks_newest_of(t, b);
            *wrong = right ? 0 : *wrong ? *wrong : then->tick;
            if (!right && has != UINT64_MAX && has >= *wrong) // it was right then
                *wrong = has + 1;
            uint64_t age = right ? 0 : then->tick - *wrong + 1;
            for (int r = 0; r < RING_COUNT && (moves || !right) && b != own; r++)
                if (d <= rings[r] && (r == 0 || d > rings[r - 1]))
                    c->ages[r][age < AGES ? age : AGES - 1]++;
        }
    }
}

static void run(city *c, double seconds, bool measures)
{
    uint64_t end = c->now_ns + (uint64_t)(seconds * 1e9);
    for (; c->now_ns < end; c->now_ns += 1000000) {
        double before = c->step_seconds, begin = spent_now();
        foliot_server_update(c->server, c->now_ns);
        double spent = spent_now() - begin - (c->step_seconds - before);
        const foliot_world *world = foliot_server_get_world(c->server, "main");
        bool ticked = foliot_world_get_tick(world) > c->tick;
        c->tick = foliot_world_get_tick(world);
        if (measures)
            c->send_seconds += spent;
        if (ticked)
            steer(c);
        for (uint32_t i = 0; i < c->watchers; i++) {
            uint64_t had = foliot_client_get_statistics(c->clients[i]).bytes_received;
            foliot_client_update(c->clients[i], c->now_ns);
            uint64_t has = foliot_client_get_statistics(c->clients[i]).bytes_received;
            c->sent[i][c->now_ns / 1000000 % 1000] = has - had;
            uint64_t sum = 0;
            if (measures && c->now_ns / 1000000 % 10 == 0) {
                for (int k = 0; k < 1000; k++)
                    sum += c->sent[i][k];
                c->most[i] = sum > c->most[i] ? sum : c->most[i];
            }
        }
        if (ticked && measures)
            measure_ages(c, world);
    }
}

static double quantile(const uint64_t *ages, double share)
{
    uint64_t total = 0, seen = 0;
    for (int i = 0; i < AGES; i++)
        total += ages[i];
    for (int i = 0; i < AGES; i++) {
        seen += ages[i];
        if (total > 0 && (double)seen >= share * (double)total)
            return i;
    }
    return -1;
}

static void row(const char *name, double value, const char *unit)
{
    bench_report("interest", name, value, unit, NULL, 0);
}

int main(int argc, char **argv)
{
    uint32_t watchers = argc > 1 ? (uint32_t)atoi(argv[1]) : 64;
    double seconds = argc > 2 ? atof(argv[2]) : 20;
    city *c = city_create(argc > 3 ? argv[3] : "scenes/city.yaml",
                          watchers < WATCHERS_MAX ? watchers : WATCHERS_MAX);
    run(c, WARM_SECONDS, false);
    uint64_t packets = foliot_server_get_counters(c->server)->interest_packets_sent,
             bytes = foliot_server_get_counters(c->server)->interest_bytes_sent, tick = c->tick;
    double steps = c->step_seconds;
    run(c, seconds, true);
    const foliot_server_counters *n = foliot_server_get_counters(c->server);
    packets = n->interest_packets_sent - packets;
    bytes = n->interest_bytes_sent - bytes;
    row("staleness of what moves within 6 m, p99", quantile(c->ages[0], 0.99), "ticks");
    row("staleness of what moves within 12 m, p99", quantile(c->ages[1], 0.99), "ticks");
    row("staleness of what moves within 35 m, p99", quantile(c->ages[2], 0.99), "ticks");
    for (int r = 0; r < RING_COUNT; r++) {
        uint64_t all = 0;
        char name[64];
        for (int i = 0; i < AGES; i++)
            all += c->ages[r][i];
        snprintf(name, sizeof name, "bodies that move, %g to %g m from a watcher",
                 r > 0 ? rings[r - 1] : 0, rings[r]);
        row(name, c->looks ? (double)all / (double)c->looks : 0, "bodies");
    }
    uint64_t most = 0, memory = 0;
    for (uint32_t i = 0; i < c->watchers; i++) {
        most = c->most[i] > most ? c->most[i] : most;
        const foliot__interest_view *v = c->server->peers[i].interest;
        uint64_t held = v ? foliot__interest_view_get_bytes(v) : 0;
        memory = held > memory ? held : memory;
    }
    row("budget of a watcher", BUDGET_KBIT, "kbit/s");
    row("most that a watcher received in a second", (double)most * 8e-3, "kbit/s");
    row("bytes a packet", packets ? (double)bytes / (double)packets : 0, "B");
    row("a watcher and packet, all of the server but the step",
        1e6 * c->send_seconds / (double)(packets ? packets : 1), "us");
    row("a tick, all of the server but the step", 1e3 * c->send_seconds / (double)(c->tick - tick),
        "ms");
    row("a step", 1e3 * (c->step_seconds - steps) / (double)(c->tick - tick), "ms");
    row("memory of a watcher beyond what is shared", (double)memory / 1024, "KiB");
    city_destroy(c);
    return 0;
}
