// SPDX-License-Identifier: MIT
// fanout.c: processor time that the server spends on one client and snapshot over ENet on loopback,
// all in: encoding, sending, status, receiving what clients answer, and waiting as
// foliot-server does; the world's own steps and the capture of their snapshots are reported
// separately. Against bare sendto of as many bytes, heads included, to as many sockets, sixty times
// a second, in turn with it; and against sendto and recvfrom, where each client answers as ours do.
// Sockets are bound as the server's and the clients' are.
//
// The opponent has no disadvantage by its call: to 64 and to 1,000 sockets, sendmmsg from 8 to
// 1,000 buffers and sendto from one differed by less than the noise, 7 %. It receives nothing and
// wakes up once a tick. The difference is the inputs, 0.65 us each at 1,000 clients and 1.1 us
// at 64 for recvmmsg alone, and our own code. Where anything else runs on the machine, both sides
// slow down, and not alike: measure alone.
//
// The clients are in a child process, spread over the period as real ones are: spectators, which
// acknowledge every second snapshot, and where the case says players, such that send a packet in
// every tick, as players do. Usage: fanout [SCENE CLIENTS [sealed] [players]]
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "clock.h"
#include "foliot/scene.h"
#include "foliot/server.h"
#include "crypto/sealed.h"
#include "net/raw_datagram.h"
#include "wire/message.h"
#include "status.h"

#define HZ 60
#define PERIOD_NS (1000000000u / HZ)
#define SLICES 16 // of a period, in each of which a share of the clients is awake
#define ROUNDS 9
#define ROUNDS_FEW 15 // with few clients a round differs from the next by a third
#define FEW 64
#define WARM_SECONDS 0.4
#define WARMS_MAX 6
#define SERVER_SECONDS 0.8
#define BARE_SECONDS 0.5
#define LENGTH_BYTES 2 // before each packet of a datagram
#define INPUT_BYTES 16 // of a client that presses nothing
#define JOIN_SECONDS 40.0
#define CHILD_SECONDS 150.0 // it ends by itself
#define DATAGRAM_BYTES_MAX 1400
#define NEVER FOLIOT__NO_TICK

static uint64_t now_ns(void)
{
    return clock_read_ns(CLOCK_MONOTONIC);
}

static void sleep_until(uint64_t ns)
{
    struct timespec t = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void die(const char *what)
{
    fprintf(stderr, "fanout: %s\n", what);
    exit(1);
}

// -- the child: clients

typedef struct listener {
    int bare; // takes what the opponent sends
    foliot_transport *wire;
    foliot_peer_id peer;
    uint64_t tick, have; // a snapshot on its way, and its pieces
    uint64_t newest;     // complete
    uint64_t acknowledged;
} listener;

typedef struct crowd {
    listener *all;
    uint32_t count, complete;
    uint16_t port; // of the server; 0: not yet
    char turn;     // whose, as in a command
    bool sealed, players;
    int commands, answers;
} crowd;

typedef struct command {
    char what; // J: join, S: the server's turn, B: the opponent's, R: the one's who receives too;
               // the end of the pipe: the end
    uint16_t port;
} command;

static void hello(listener *l)
{
    foliot__message m = {.kind = FOLIOT__HELLO_MESSAGE};
    uint8_t bytes[FOLIOT__CONTROL_BYTES_MAX];
    size_t length;
    m.as.hello.protocol = FOLIOT_PROTOCOL;
    m.as.hello.spectates = true;
    strcpy(m.as.hello.name, "listener");
    if (foliot__message_encode(&m, bytes, sizeof bytes, &length) == FOLIOT_STATUS_OK)
        allow_failure(
            foliot_transport_send(l->wire, l->peer, FOLIOT_DELIVERY_RELIABLE, bytes, length));
}

static void take_piece(crowd *c, listener *l, const uint8_t *bytes, size_t length)
{
    foliot_snapshot_head head;
    if (foliot_snapshot_decode_head(bytes, length, l->tick, &head) != FOLIOT_STATUS_OK ||
        head.pieces > 64)
        return;
    if (head.tick != l->tick)
        l->have = 0;
    l->tick = head.tick;
    l->have |= (uint64_t)1 << head.piece;
    if (l->have != UINT64_MAX >> (64 - head.pieces))
        return;
    c->complete += l->newest == NEVER;
    l->newest = head.tick;
}

static void talk(crowd *c, listener *l)
{
    foliot_transport_event event;
    uint64_t now = now_ns();
    while (foliot_transport_poll(l->wire, now, &event)) {
        if (event.kind == FOLIOT_TRANSPORT_CONNECTED)
            hello(l);
        if (event.kind == FOLIOT_TRANSPORT_RECEIVED && event.length > 1 &&
            event.bytes[0] == FOLIOT__SNAPSHOT_PACKET)
            take_piece(c, l, event.bytes + 1, event.length - 1);
    }
    // As of the client library, at 60 snapshots a second.
    bool due = c->players || l->newest / 2 != l->acknowledged / 2;
    if (l->newest != NEVER && due) {
        uint8_t bytes[FOLIOT_SNAPSHOT_PIECE_BYTES];
        foliot__input_packet packet = {
            .newest_snapshot = l->newest, .tick = l->newest + 3, .sent_us = (uint32_t)(now / 1000)};
        size_t length = foliot__input_packet_encode(&packet, bytes);
        allow_failure(
            foliot_transport_send(l->wire, l->peer, FOLIOT_DELIVERY_UNRELIABLE, bytes, length));
        l->acknowledged = l->newest;
    }
    foliot_transport_flush(l->wire, now);
}

static void join(crowd *c, listener *l)
{
    foliot_transport_config config = foliot_transport_config_default();
    config.security = c->sealed ? FOLIOT_SECURITY_ANONYMOUS : FOLIOT_SECURITY_CLEAR;
    if (foliot_transport_create_enet(&config, now_ns(), &l->wire) != FOLIOT_STATUS_OK ||
        foliot_transport_connect(l->wire, "127.0.0.1", c->port, now_ns(), &l->peer) !=
            FOLIOT_STATUS_OK)
        die("a client cannot connect");
}

static void hear_bare(const crowd *c, const listener *l)
{
    char bytes[DATAGRAM_BYTES_MAX];
    struct sockaddr_in from;
    socklen_t length = sizeof from;
    uint32_t got = 0;
    while (recvfrom(l->bare, bytes, sizeof bytes, 0, (struct sockaddr *)&from, &length) >= 0)
        got++;
    size_t head = c->sealed ? FOLIOT__SEAL_BYTES : FOLIOT__SHORT_HEAD_BYTES;
    size_t answer = head + LENGTH_BYTES + INPUT_BYTES;
    if (c->turn == 'R' && got > 0)
        allow_failure(sendto(l->bare, bytes, answer, 0, (struct sockaddr *)&from, length) < 0);
}

static void listener_awake(crowd *c, listener *l)
{
    if (c->turn == 'B' || c->turn == 'R')
        hear_bare(c, l);
    else if (c->port && !l->wire)
        join(c, l);
    else if (l->wire)
        talk(c, l);
}

static bool obey(crowd *c)
{
    command got;
    ssize_t n = read(c->commands, &got, sizeof got);
    if (n == 0)
        return false;
    if (n == (ssize_t)sizeof got) {
        c->turn = got.what;
        if (got.what == 'J')
            c->port = got.port;
    }
    return true;
}

static void crowd_run(crowd *c)
{
    bool told = false;
    uint64_t begin = now_ns(), due = begin;
    for (uint32_t slice = 0; (double)(due - begin) < CHILD_SECONDS * 1e9 && obey(c);
         slice = (slice + 1) % SLICES) {
        uint32_t first = slice * c->count / SLICES, end = (slice + 1) * c->count / SLICES;
        for (uint32_t i = first; i < end; i++)
            listener_awake(c, &c->all[i]);
        if (!told && c->complete == c->count)
            told = write(c->answers, "", 1) == 1;
        due += PERIOD_NS / SLICES;
        if (now_ns() > due + PERIOD_NS)
            due = now_ns(); // it cannot keep up: fewer inputs, and the figures show it
        sleep_until(due);
    }
}

static void child(crowd c)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    c.all = calloc(c.count, sizeof *c.all);
    for (uint32_t i = 0; i < c.count; i++) {
        struct sockaddr_in at = {.sin_family = AF_INET};
        socklen_t length = sizeof at;
        c.all[i].newest = c.all[i].acknowledged = NEVER;
        c.all[i].bare = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
        if (c.all[i].bare < 0 || bind(c.all[i].bare, (struct sockaddr *)&at, sizeof at) != 0 ||
            getsockname(c.all[i].bare, (struct sockaddr *)&at, &length) != 0 ||
            write(c.answers, &at.sin_port, sizeof at.sin_port) != (ssize_t)sizeof at.sin_port)
            die("no sockets for the clients");
    }
    fcntl(c.commands, F_SETFL, O_NONBLOCK);
    crowd_run(&c);
    _exit(0);
}

// -- the parent: the server, and the opponent

typedef struct bench_case {
    const char *scene_name;
    uint32_t clients;
    bool sealed;  // with keys
    bool players; // clients that send a packet in every tick
    pid_t child;
    int commands, answers;
    struct sockaddr_in *bare;
    foliot_scene *scene;
    foliot_transport *wire;
    foliot_server *server;
    uint64_t step_ns, received;
    double memory;
} bench_case;

// Figures of one round, for each client and snapshot.
typedef struct figures {
    double network_us, step_us, bare_us, both_us, bytes, inputs, late, encodes, updates, served;
} figures;

static bench_case *stepping; // run_here's

static void run_here(void *user, void (*run)(void *job), void *job)
{
    uint64_t began = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
    (void)user;
    run(job);
    stepping->step_ns += clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - began;
}

static void say(const bench_case *b, char what)
{
    command c;
    memset(&c, 0, sizeof c);
    c.what = what;
    c.port = foliot_transport_get_port(b->wire);
    if (write(b->commands, &c, sizeof c) != (ssize_t)sizeof c)
        die("the clients are gone");
}

static void begin_child(bench_case *b)
{
    int commands[2], answers[2];
    if (pipe2(commands, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0 ||
        (b->child = fork()) < 0)
        die("no child");
    if (b->child == 0) {
        close(commands[1]);
        close(answers[0]);
        child((crowd){.count = b->clients,
                      .sealed = b->sealed,
                      .players = b->players,
                      .commands = commands[0],
                      .answers = answers[1]});
    }
    close(commands[0]);
    close(answers[1]);
    b->commands = commands[1];
    b->answers = answers[0];
    b->bare = calloc(b->clients, sizeof *b->bare);
    for (uint32_t i = 0; i < b->clients; i++) {
        in_port_t *port = &b->bare[i].sin_port;
        b->bare[i].sin_family = AF_INET;
        b->bare[i].sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (read(b->answers, port, sizeof *port) != (ssize_t)sizeof *port)
            die("the clients did not begin");
    }
    fcntl(b->answers, F_SETFL, O_NONBLOCK);
}

static double memory_now(void)
{
    return (double)(mallinfo2().uordblks + mallinfo2().hblkhd);
}

static void begin_server(bench_case *b)
{
    char file[256];
    foliot_error error;
    snprintf(file, sizeof file, "scenes/%s.yaml", b->scene_name);
    if (foliot_scene_read(file, &b->scene, &error) != FOLIOT_STATUS_OK)
        die(error.text);
    foliot_transport_config wire = foliot_transport_config_default();
    foliot_server_config config = foliot_server_config_default();
    wire.bind = "127.0.0.1";
    wire.peers_max = b->clients;
    wire.peers_per_address_max = b->clients; // all of one address
    wire.batches = true;
    wire.security = b->sealed ? FOLIOT_SECURITY_ANONYMOUS : FOLIOT_SECURITY_CLEAR;
    config.start = run_here;
    b->memory = -memory_now();
    if (foliot_transport_create_enet(&wire, now_ns(), &b->wire) != FOLIOT_STATUS_OK)
        die("no transport");
    config.transport = b->wire;
    foliot_session_config session = {.name = "main", .scene = b->scene, .pace_hz = HZ};
    if (foliot_server_create(&config, now_ns(), &b->server) != FOLIOT_STATUS_OK)
        die("no server");
    double before = memory_now();
    if (foliot_world_create(b->scene, &session.world, NULL) != FOLIOT_STATUS_OK ||
        foliot_server_add_session(b->server, &session, now_ns()) != FOLIOT_STATUS_OK)
        die("no session");
    b->memory -= memory_now() - before; // the session's own is not the clients'
}

// As foliot-server does: when a datagram has come, or a tick is due, and with its rests. Returns
// the number of updates; 0 where clients should join and did not all in time.
static uint64_t serve(bench_case *b, double seconds, bool until_joined)
{
    uint64_t begin = now_ns(), updates = 0;
    struct pollfd wait = {.fd = foliot_transport_get_descriptor(b->wire), .events = POLLIN};
    foliot_server_event event;
    char joined;
    for (uint64_t now = begin; (double)(now - begin) < seconds * 1e9; now = now_ns(), updates++) {
        foliot_server_update(b->server, now);
        while (foliot_server_poll(b->server, &event)) {
        }
        if (until_joined && read(b->answers, &joined, 1) == 1)
            return updates;
        uint64_t wake = foliot_server_get_wake_ns(b->server), after = now_ns(),
                 received = b->received;
        const foliot_transport_counters *counted = foliot_transport_get_counters(b->wire);
        b->received =
            counted->packets_received - counted->packets_batched + counted->datagrams_alone;
        if (b->received != received) {
            sleep_until(wake < after + FOLIOT_SERVER_REST_NS ? wake
                                                             : after + FOLIOT_SERVER_REST_NS);
            continue;
        }
        struct timespec left = {.tv_nsec = wake > after ? (long)(wake - after) : 0};
        ppoll(&wait, 1, &left, NULL);
    }
    return until_joined ? 0 : updates;
}

static void receive_bare(int fd)
{
    char bytes[DATAGRAM_BYTES_MAX];
    struct sockaddr_in from;
    socklen_t length = sizeof from;
    while (recvfrom(fd, bytes, sizeof bytes, MSG_DONTWAIT, (struct sockaddr *)&from, &length) >= 0)
        length = sizeof from;
}

static double bare_us(const bench_case *b, double bytes, char turn)
{
    static const char zeros[DATAGRAM_BYTES_MAX];
    const struct sockaddr_in own = {.sin_family = AF_INET,
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_DGRAM, 0), room = 4 << 20;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&own, sizeof own) != 0)
        die("no socket for the opponent");
    say(b, turn);
    sleep_until(now_ns() + 2 * PERIOD_NS);
    uint64_t ticks = (uint64_t)(BARE_SECONDS * HZ), began = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID),
             due = now_ns();
    for (uint64_t tick = 0; tick < ticks; tick++, sleep_until(due += PERIOD_NS)) {
        if (turn == 'R')
            receive_bare(fd);
        for (uint32_t i = 0; i < b->clients; i++)
            for (size_t left = (size_t)(bytes + 0.5); left > 0;) {
                size_t length = left < sizeof zeros ? left : sizeof zeros;
                sendto(fd, zeros, length, 0, (const struct sockaddr *)&b->bare[i],
                       sizeof b->bare[i]);
                left -= length;
            }
    }
    double spent = (double)(clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - began);
    close(fd);
    return spent * 1e-3 / (double)(ticks * b->clients);
}

// After the opponent's turn the server is late; its ticks must be punctual again.
static void warm(bench_case *b)
{
    const foliot_server_counters *s = foliot_server_get_counters(b->server);
    uint64_t late = UINT64_MAX;
    for (int i = 0; i < WARMS_MAX && s->ticks_late != late; i++) {
        late = s->ticks_late;
        serve(b, WARM_SECONDS, false);
    }
}

static figures round_of(bench_case *b)
{
    say(b, 'S');
    warm(b);
    foliot_server_counters server = *foliot_server_get_counters(b->server);
    foliot_transport_counters wire = *foliot_transport_get_counters(b->wire);
    uint64_t began = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
    b->step_ns = 0;
    uint64_t updates = serve(b, SERVER_SECONDS, false);
    double spent = (double)(clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - began);
    const foliot_server_counters *s = foliot_server_get_counters(b->server);
    const foliot_transport_counters *t = foliot_transport_get_counters(b->wire);
    double sent = (double)(s->snapshots_sent - server.snapshots_sent),
           snapshots = sent > 0 ? sent : 1, ticks = (double)(s->ticks - server.ticks);
    figures f = {.network_us = (spent - (double)b->step_ns) * 1e-3 / snapshots,
                 .step_us = (double)b->step_ns * 1e-3 / ticks,
                 .bytes = (double)(t->bytes_sent - wire.bytes_sent +
                                   LENGTH_BYTES * (t->packets_sent - wire.packets_sent)) /
                              snapshots +
                          (b->sealed ? FOLIOT__SEAL_BYTES : FOLIOT__SHORT_HEAD_BYTES),
                 .inputs = (double)(t->packets_received - wire.packets_received) / snapshots,
                 .late = 100 * (double)(s->ticks_late - server.ticks_late) / ticks,
                 .encodes = (double)(s->snapshot_encodes - server.snapshot_encodes) / ticks,
                 .updates = (double)updates / ticks,
                 .served = 100 * snapshots / ticks / b->clients};
    f.bare_us = bare_us(b, f.bytes, 'B');
    f.both_us = bare_us(b, f.bytes, 'R');
    return f;
}

static int rounds_of(const bench_case *b)
{
    return b->clients <= FEW ? ROUNDS_FEW : ROUNDS;
}

static void report(const bench_case *b, const figures *rounds)
{
    double network[ROUNDS_FEW], step[ROUNDS_FEW], bare[ROUNDS_FEW], both[ROUNDS_FEW];
    char name[128];
    int count = rounds_of(b);
    for (int i = 0; i < count; i++) {
        network[i] = rounds[i].network_us;
        step[i] = rounds[i].step_us;
        bare[i] = rounds[i].bare_us;
        both[i] = rounds[i].both_us;
    }
    const figures *last = &rounds[count - 1];
#define ROW(what, value, unit, opponent, opponent_value)                                           \
    snprintf(name, sizeof name, "%s, %u %s%s: %s", b->scene_name, b->clients,                      \
             b->players ? "players" : "clients", b->sealed ? ", sealed" : "", what);               \
    bench_report("fanout", name, value, unit, opponent, opponent_value)
    ROW("a client and snapshot", bench_median(network, count), "us", "bare sendto",
        bench_median(bare, count));
    ROW("the same, beside one who receives too", bench_median(network, count), "us",
        "sendto and recvfrom", bench_median(both, count));
    ROW("step and capture, once a tick", bench_median(step, count), "us", NULL, 0);
    ROW("bytes a client and snapshot", last->bytes, "B", NULL, 0);
    ROW("inputs a client and snapshot", last->inputs, "", NULL, 0);
    ROW("late ticks", last->late, "%", NULL, 0);
    ROW("snapshots sent, of all", last->served, "%", NULL, 0);
    ROW("encodes a tick", last->encodes, "", NULL, 0);
    ROW("updates a tick", last->updates, "", NULL, 0);
    ROW("memory a client", b->memory / b->clients / 1024, "KiB", NULL, 0);
#undef ROW
}

static void run_case(const char *scene, uint32_t clients, bool sealed, bool players)
{
    bench_case b = {.scene_name = scene, .clients = clients, .sealed = sealed, .players = players};
    figures rounds[ROUNDS_FEW];
    stepping = &b;
    begin_child(&b);
    begin_server(&b);
    say(&b, 'J');
    bool joined = serve(&b, JOIN_SECONDS, true) > 0;
    serve(&b, WARM_SECONDS, false);
    b.memory += memory_now();
    if (joined)
        (void)round_of(&b); // caches, and the clocks of a processor that had nothing to do
    for (int i = 0; joined && i < rounds_of(&b); i++)
        rounds[i] = round_of(&b);
    if (joined)
        report(&b, rounds);
    else
        fprintf(stderr, "fanout: %s with %u clients is left out: not all joined in time\n", scene,
                clients);
    close(b.commands);
    close(b.answers);
    waitpid(b.child, NULL, 0);
    foliot_server_destroy(b.server);
    foliot_transport_destroy(b.wire);
    foliot_scene_destroy(b.scene);
    free(b.bare);
}

int main(int argc, char **argv)
{
    static const uint32_t counts[] = {16, 64, 256, 1000};
    struct rlimit files;
    signal(SIGPIPE, SIG_IGN);
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    if (argc >= 3) {
        bool sealed = argc > 3 && strcmp(argv[3], "sealed") == 0;
        run_case(argv[1], (uint32_t)strtoul(argv[2], NULL, 10), sealed, argc > 3 + sealed);
        return 0;
    }
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        for (int kind = 0; kind < 4; kind++)
            run_case("spacewar", counts[i], kind % 2, kind / 2);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        run_case("marbles", counts[i], false, false);
    return 0;
}
