// SPDX-License-Identifier: MIT
// Goal: whatever arrives at a socket, a server and its clients stay up, and a client whose own path
// is unharmed plays on. Method: a real server with a session of each mode, and clients that reach
// it through UDP proxies, over the real ENet transport on loopback and a virtual clock. The proxies
// keep the datagrams of both directions, and 100,000 mutated ones go to the server and the clients:
// from the addresses of two victims, from those of strangers, and in a second test with the forged
// address of the honest. Nothing here knows the format: bytes in, bytes out. SEED= repeats a run.
#include "../support/check.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/rng.h"
#include "foliot/client.h"
#include "foliot/foliot.h"
#include "foliot/server.h"
#include "status.h"

#define SECOND_NS 1000000000u
#define STEP_NS 1000000u
#define MUTATED 100000
#define FORGED 20000
#define A_STEP 20 // mutated datagrams
#define DATAGRAM_BYTES 2048
#define KEPT 4096 // datagrams: the first ones of all connections stay, the others are replaced
#define KEPT_FIRST 1024
#define STRANGERS 3
#define PEERS 24
#define REBORN_NS                                                                                  \
    (700 * (uint64_t)STEP_NS) // a victim leaves and comes back: there are handshakes to be captured
#define ENDED_NS (200 * (uint64_t)STEP_NS) // no sooner, though it was refused at once
#define KEPT_MS 300                        // a player whose victim is gone
#define AMPLIFIED 3 // times what a stranger sent, who echoes nothing: as in QUIC

enum { HONEST_SNAPSHOTS, HONEST_LOCKSTEP, VICTIM_SNAPSHOTS, VICTIM_LOCKSTEP, NEWCOMER, PATHS };

// A client behind a proxy with its own address: 127.0.0.10 and so on at the server's side.
typedef struct path {
    int front, back; // what the client talks to, what the server talks to
    struct sockaddr_in near;
    bool known; // the client's address is
    foliot_transport *wire;
    foliot_client *client;
    uint64_t born_ns, ended;
} path;

typedef struct capture {
    uint32_t path, length;
    bool to_server;
    uint8_t bytes[DATAGRAM_BYTES];
} capture;

typedef struct rig {
    foliot_scene scene;
    foliot_body_definition bodies[3];
    foliot_transport *host;
    foliot_server *server;
    struct sockaddr_in address;
    path paths[PATHS];
    int strangers[STRANGERS];
    uint64_t stranger_sent, stranger_got; // bytes
    capture *kept;
    uint32_t kept_count;
    uint64_t seen, now_ns, to_server, to_clients, from_strangers;
    foliot__rng rng;
    foliot_digest fingerprint;
    foliot_transport_counters before;
} rig;

static struct sockaddr_in loopback(unsigned last, uint16_t port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons(port),
                                .sin_addr.s_addr = htonl(0x7f000000u + last)};
}

static int open_socket(unsigned last)
{
    struct sockaddr_in address = loopback(last, 0);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    check_ge(fd, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static uint16_t port_of(int fd)
{
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    return ntohs(address.sin_port);
}

// -- clients

static bool honest(uint32_t index)
{
    return index != VICTIM_SNAPSHOTS && index != VICTIM_LOCKSTEP;
}

static void come(rig *r, uint32_t index)
{
    path *p = &r->paths[index];
    foliot_transport_config wire = foliot_transport_config_default();
    wire.peers_max = 1;
    assert_int_equal(foliot_transport_create_enet(&wire, r->now_ns, &p->wire), FOLIOT_STATUS_OK);
    foliot_client_config config = foliot_client_config_default();
    config.transport = p->wire;
    config.port = port_of(p->front);
    config.session =
        index == HONEST_LOCKSTEP || index == VICTIM_LOCKSTEP ? "lockstep" : "snapshots";
    config.fingerprint = r->fingerprint;
    assert_int_equal(foliot_client_create(&config, r->now_ns, &p->client), FOLIOT_STATUS_OK);
    p->known = false;
    p->born_ns = r->now_ns;
}

static void go(path *p)
{
    foliot_client_destroy(p->client);
    foliot_transport_destroy(p->wire);
    p->client = NULL;
    p->wire = NULL;
}

static void open_path(rig *r, uint32_t index)
{
    r->paths[index].front = open_socket(1);
    r->paths[index].back = open_socket(10 + index);
}

// -- the proxies

static void keep(rig *r, uint32_t index, bool to_server, const uint8_t *bytes, size_t length)
{
    uint32_t at = r->kept_count;
    if (at == KEPT)
        at = KEPT_FIRST + foliot__rng_below(&r->rng, KEPT - KEPT_FIRST);
    else
        r->kept_count++;
    capture *c = &r->kept[at];
    c->path = index;
    c->to_server = to_server;
    c->length = (uint32_t)length;
    memcpy(c->bytes, bytes, length);
    r->seen++;
}

static void send_to(int fd, const struct sockaddr_in *to, const uint8_t *bytes, size_t length)
{
    (void)!sendto(fd, bytes, length, 0, (const struct sockaddr *)to,
                  sizeof *to); // what is not taken is lost
}

static void pump(rig *r, uint32_t index)
{
    path *p = &r->paths[index];
    uint8_t bytes[DATAGRAM_BYTES];
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    for (ssize_t n;
         (n = recvfrom(p->front, bytes, sizeof bytes, 0, (struct sockaddr *)&from, &size)) >= 0;) {
        p->near = from;
        p->known = true;
        keep(r, index, true, bytes, (size_t)n);
        send_to(p->back, &r->address, bytes, (size_t)n);
    }
    for (ssize_t n; (n = recv(p->back, bytes, sizeof bytes, 0)) >= 0;) {
        keep(r, index, false, bytes, (size_t)n);
        if (p->known)
            send_to(p->front, &p->near, bytes, (size_t)n);
    }
}

// -- mutations

static uint32_t below(rig *r, uint32_t bound)
{
    return foliot__rng_below(&r->rng, bound);
}

static const capture *draw(rig *r)
{
    return &r->kept[below(r, r->kept_count)];
}

static size_t flip(rig *r, uint8_t *bytes, size_t length)
{
    for (uint32_t n = 1 + below(r, 8); n > 0 && length > 0; n--)
        bytes[below(r, (uint32_t)length)] ^= (uint8_t)(1u << below(r, 8));
    return length;
}

static size_t grow(rig *r, uint8_t *bytes, size_t length)
{
    size_t more = 1 + below(r, 200);
    if (length + more > DATAGRAM_BYTES)
        more = DATAGRAM_BYTES - length;
    for (size_t i = 0; i < more; i++)
        bytes[length + i] = (uint8_t)foliot__rng_u64(&r->rng);
    return length + more;
}

// The head of one, the tail of another.
static size_t splice(rig *r, uint8_t *bytes, size_t length)
{
    const capture *other = draw(r);
    size_t head = below(r, (uint32_t)length + 1), from = below(r, other->length + 1),
           tail = other->length - from;
    if (head + tail > DATAGRAM_BYTES)
        tail = DATAGRAM_BYTES - head;
    memcpy(bytes + head, other->bytes + from, tail);
    return head + tail;
}

// Where protocols keep numbers of peers and kinds.
static size_t renumber(rig *r, uint8_t *bytes, size_t length)
{
    uint32_t at = below(r, 2) ? 0 : below(r, 24), wide = 1 + below(r, 4);
    bool small = below(r, 2);
    for (uint32_t i = at; i < at + wide && i < length; i++)
        bytes[i] = (uint8_t)(small ? below(r, PEERS) : foliot__rng_u64(&r->rng));
    return length;
}

static size_t to_extreme(rig *r, uint8_t *bytes, size_t length)
{
    uint32_t wide = 1u << below(r, 4), at = below(r, (uint32_t)length + 1);
    uint8_t with = below(r, 2) ? 0xff : 0;
    for (uint32_t i = at; i < at + wide && i < length; i++)
        bytes[i] = with;
    return length;
}

static size_t mutate(rig *r, const capture *c, uint8_t bytes[DATAGRAM_BYTES])
{
    size_t length = c->length;
    memcpy(bytes, c->bytes, length);
    switch (below(r, 8)) {
    case 0:
        return length; // again, and out of turn
    case 1:
        return below(r, (uint32_t)length + 1);
    case 2:
        return grow(r, bytes, length);
    case 3:
        return splice(r, bytes, length);
    case 4:
        return renumber(r, bytes, length);
    case 5:
        return to_extreme(r, bytes, length);
    default:
        return flip(r, bytes, length);
    }
}

static int stranger(rig *r, size_t length)
{
    r->stranger_sent += length;
    r->from_strangers++;
    return r->strangers[below(r, STRANGERS)];
}

// From where a victim is, or from where nobody is.
static void inject(rig *r)
{
    uint8_t bytes[DATAGRAM_BYTES];
    const capture *c = draw(r);
    size_t length = mutate(r, c, bytes);
    bool to_server = below(r, 8) ? c->to_server : !c->to_server;
    if (to_server) {
        uint32_t from = honest(c->path) ? VICTIM_SNAPSHOTS + below(r, 2) : c->path;
        send_to(below(r, 3) ? r->paths[from].back : stranger(r, length), &r->address, bytes,
                length);
        r->to_server++;
        return;
    }
    path *to = &r->paths[honest(c->path) || below(r, 4) == 0 ? below(r, 4) : c->path];
    if (to->known)
        send_to(honest((uint32_t)(to - r->paths)) || below(r, 3) == 0 ? stranger(r, 0) : to->front,
                &to->near, bytes, length);
    r->to_clients++;
}

// An attacker that can forge addresses, and sees other connections than the targeted one.
static void forge(rig *r)
{
    uint8_t bytes[DATAGRAM_BYTES];
    const capture *c = draw(r);
    uint32_t to = below(r, 2);
    while (c->path == to)
        c = draw(r);
    size_t length = mutate(r, c, bytes);
    path *p = &r->paths[to];
    if (c->to_server)
        send_to(p->back, &r->address, bytes, length);
    else
        send_to(p->front, &p->near, bytes, length);
}

// -- time

static bool is_over(const foliot_client *client)
{
    foliot_client_state state = foliot_client_get_state(client);
    return state == FOLIOT_CLIENT_REFUSED || state == FOLIOT_CLIENT_CLOSED ||
           state == FOLIOT_CLIENT_LOST;
}

static void act(rig *r, uint32_t index)
{
    path *p = &r->paths[index];
    foliot_sample sample;
    if (!p->client)
        return;
    uint64_t age_ns = r->now_ns - p->born_ns;
    if (!honest(index) && (age_ns > REBORN_NS || (is_over(p->client) && age_ns > ENDED_NS))) {
        p->ended += is_over(p->client);
        go(p);
        come(r, index);
    }
    foliot_client_update(p->client, r->now_ns);
    allow_failure(foliot_client_sample(p->client, r->now_ns, &sample));
}

static void hear_strangers(rig *r)
{
    uint8_t bytes[DATAGRAM_BYTES];
    for (int i = 0; i < STRANGERS; i++)
        for (ssize_t n; (n = recv(r->strangers[i], bytes, sizeof bytes, 0)) >= 0;)
            r->stranger_got += (uint64_t)n;
}

static void step(rig *r, uint32_t injected, void (*attack)(rig *r))
{
    foliot_server_event event;
    foliot_divergence_report found;
    r->now_ns += STEP_NS;
    for (uint32_t i = 0; i < injected; i++)
        attack(r);
    for (uint32_t i = 0; i < PATHS; i++)
        pump(r, i);
    foliot_server_update(r->server, r->now_ns);
    while (foliot_server_poll(r->server, &event) ||
           foliot_server_poll_divergence(r->server, &found)) {
    }
    for (uint32_t i = 0; i < PATHS; i++) {
        pump(r, i);
        act(r, i);
    }
    hear_strangers(r);
}

static void let_pass(rig *r, double seconds)
{
    for (uint64_t end = r->now_ns + (uint64_t)(seconds * 1e9); r->now_ns < end;)
        step(r, 0, NULL);
}

// -- what must hold

static void assert_plays(rig *r, uint32_t index)
{
    const path *p = &r->paths[index];
    foliot_client_statistics seen = foliot_client_get_statistics(p->client);
    const foliot_world *world =
        foliot_server_get_world(r->server, index == HONEST_LOCKSTEP ? "lockstep" : "snapshots");
    if (foliot_client_get_state(p->client) != FOLIOT_CLIENT_PLAYING)
        print_error("client %u at %.3f s: state %d, '%s'\n", index, 1e-9 * (double)r->now_ns,
                    foliot_client_get_state(p->client), foliot_client_get_reason(p->client));
    assert_int_equal(foliot_client_get_state(p->client), FOLIOT_CLIENT_PLAYING);
    assert_int_equal(seen.reconnects, 0);
    assert_int_equal(seen.divergences, 0);
    assert_int_equal(seen.pieces_malformed, 0);
    check_gt(seen.newest_tick + 30, foliot_world_get_tick(world));
}

static void assert_heard(rig *r, uint32_t index, int8_t axis)
{
    const foliot_world *world =
        foliot_server_get_world(r->server, index == HONEST_LOCKSTEP ? "lockstep" : "snapshots");
    uint32_t player = foliot_client_get_player(r->paths[index].client);
    assert_int_not_equal(player, UINT32_MAX);
    foliot_input has = foliot_world_get_player_controls(world, player);
    assert_int_equal(has.axes[0], axis);
}

static void play(rig *r, uint32_t index, int8_t axis)
{
    const int8_t axes[FOLIOT_AXIS_COUNT] = {axis};
    foliot_client_set_input(r->paths[index].client, axes, 0);
}

// All counters of dropped datagrams, whatever there are.
static uint64_t dropped(const foliot_transport_counters *c)
{
    uint64_t sum = 0;
#define ADD(name, help) sum += strncmp(#name, "datagrams_dropped", 17) == 0 ? c->name : 0;
    FOLIOT_TRANSPORT_COUNTERS(ADD)
#undef ADD
    return sum;
}

// -- a run

static void make_scene(rig *r)
{
    static const double spawns[2][3] = {{0, 0, 0}, {5, 0, 0}};
    r->scene = foliot_scene_default();
    r->scene.name = "wire";
    r->scene.dt = 1.0 / 60;
    r->scene.integrator = FOLIOT_INTEGRATOR_VELOCITY_VERLET;
    for (int i = 0; i < 3; i++) {
        r->bodies[i] = foliot_body_definition_default();
        r->bodies[i].position[0] = 3 * i;
        r->bodies[i].velocity[1] = 1 + i;
    }
    r->scene.bodies = r->bodies;
    r->scene.body_count = 3;
    r->scene.players.limit = 6;
    r->scene.players.body = foliot_body_definition_default();
    r->scene.players.positions = spawns;
    r->scene.players.position_count = 2;
    r->scene.players.control = FOLIOT_CONTROL_THRUST;
    r->scene.players.force = 5;
}

static void add_session(rig *r, const char *name, foliot_session_mode mode)
{
    foliot_session_config session = {.name = name, .scene = &r->scene, .pace_hz = 60, .mode = mode};
    assert_int_equal(foliot_world_create(&r->scene, &session.world, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_server_add_session(r->server, &session, r->now_ns), FOLIOT_STATUS_OK);
}

static rig *rig_open(void)
{
    uint64_t seed = check_seed(1);
    rig *r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->kept = calloc(KEPT, sizeof *r->kept);
    assert_non_null(r->kept);
    r->rng = foliot__rng_seeded(seed);
    r->now_ns = SECOND_NS;
    r->fingerprint = foliot_get_fingerprint();
    make_scene(r);
    foliot_transport_config wire = foliot_transport_config_default();
    wire.bind = "127.0.0.1";
    wire.peers_max = PEERS;
    wire.batches = true;
    assert_int_equal(foliot_transport_create_enet(&wire, r->now_ns, &r->host), FOLIOT_STATUS_OK);
    r->address = loopback(1, foliot_transport_get_port(r->host));
    foliot_server_config config = foliot_server_config_default();
    config.transport = r->host;
    config.fingerprint = r->fingerprint;
    config.reconnect_ms = KEPT_MS;
    assert_int_equal(foliot_server_create(&config, r->now_ns, &r->server), FOLIOT_STATUS_OK);
    add_session(r, "snapshots", FOLIOT_SESSION_SNAPSHOTS);
    add_session(r, "lockstep", FOLIOT_SESSION_LOCKSTEP);
    for (uint32_t i = 0; i < PATHS; i++)
        open_path(r, i);
    for (int i = 0; i < STRANGERS; i++)
        r->strangers[i] = open_socket(2 + (unsigned)i);
    for (uint32_t i = 0; i < NEWCOMER; i++)
        come(r, i);
    let_pass(r, 1.5);
    for (uint32_t i = 0; i < 2; i++)
        assert_plays(r, i);
    r->before = *foliot_transport_get_counters(r->host);
    return r;
}

static void rig_close(rig *r)
{
    for (uint32_t i = 0; i < PATHS; i++) {
        if (r->paths[i].client)
            go(&r->paths[i]);
        close(r->paths[i].front);
        close(r->paths[i].back);
    }
    for (int i = 0; i < STRANGERS; i++)
        close(r->strangers[i]);
    foliot_server_destroy(r->server);
    foliot_transport_destroy(r->host);
    free(r->kept);
    free(r);
}

static void storm(rig *r, uint32_t datagrams, void (*attack)(rig *r))
{
    for (uint32_t i = 0; i < datagrams; i += A_STEP) {
        int8_t axis = (int8_t)(i / 2000 % 100 + 1);
        for (uint32_t h = 0; h < 2; h++)
            play(r, h, axis);
        step(r, A_STEP, attack);
        for (uint32_t h = 0; h < 2; h++)
            assert_plays(r, h);
    }
    let_pass(r, 1); // what a victim had on its way
    for (uint32_t h = 0; h < 2; h++)
        play(r, h, 101);
    let_pass(r, 1);
    for (uint32_t h = 0; h < 2; h++) {
        assert_plays(r, h);
        assert_heard(r, h, 101);
    }
}

TEST(a_hundred_thousand_mutated_datagrams_harm_nobody_else)
{
    rig *r = rig_open();
    storm(r, MUTATED, inject);
    const foliot_transport_counters *after = foliot_transport_get_counters(r->host);
    const foliot_server_counters *server = foliot_server_get_counters(r->server);
    print_message("%llu seen, %llu to the server (%llu from strangers both ways), %llu to clients; "
                  "%llu dropped by the server; "
                  "%llu malformed, %llu refused, %llu peers dropped; victims ended %llu and %llu "
                  "times; strangers sent %llu "
                  "bytes and got %llu\n",
                  (unsigned long long)r->seen, (unsigned long long)r->to_server,
                  (unsigned long long)r->from_strangers, (unsigned long long)r->to_clients,
                  (unsigned long long)(dropped(after) - dropped(&r->before)),
                  (unsigned long long)server->messages_malformed,
                  (unsigned long long)server->refusals, (unsigned long long)server->peers_dropped,
                  (unsigned long long)r->paths[VICTIM_SNAPSHOTS].ended,
                  (unsigned long long)r->paths[VICTIM_LOCKSTEP].ended,
                  (unsigned long long)r->stranger_sent, (unsigned long long)r->stranger_got);
    assert_int_equal(r->to_server + r->to_clients, MUTATED);
    // A third of what the server got was a stranger's, and hardly any of that asked for a
    // connection.
    check_gt(dropped(after) - dropped(&r->before), r->to_server / 4);
    check_le(r->stranger_got, AMPLIFIED * r->stranger_sent);
    rig_close(r);
}

TEST(who_comes_afterwards_is_let_in)
{
    rig *r = rig_open();
    storm(r, MUTATED / 10, inject);
    come(r, NEWCOMER);
    let_pass(r, 3);
    foliot_client_state now = foliot_client_get_state(r->paths[NEWCOMER].client);
    if (now != FOLIOT_CLIENT_PLAYING)
        print_error("state %d after 3 s, '%s'\n", now,
                    foliot_client_get_reason(r->paths[NEWCOMER].client));
    assert_int_equal(now, FOLIOT_CLIENT_PLAYING);
    rig_close(r);
}

TEST(what_others_said_under_a_forged_address_evicts_nobody)
{
    rig *r = rig_open();
    storm(r, FORGED, forge);
    rig_close(r);
}
