// SPDX-License-Identifier: MIT
// Goal: a server sends nothing to an address that has not proven that it receives; a connection can
// be ended only with its connect id; and no address locks the others out. A forged cookie made the
// server send 2,168 times what it received. 112,928 forged datagrams of 13 bytes, sent in 1.6 s,
// evicted a player. One cookie opened any number of connections, so that 6 kB a second kept
// everybody else away. Method: a real server on the loopback, honest clients at 127.0.0.1, and
// attackers at 127.0.0.2 and .3 with plain and raw sockets. The attackers write the datagrams of
// docs/reference/protocol.md, section 1, by hand.
#include "check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cluster.h"
#include "net/admission.h"
#include "net/raw_datagram.h"
#include "wire/message.h"

#define PEERS 32
#define HONEST 6
#define BODIES 200 // a complete snapshot is worth some kilobytes

static cluster *open_cluster(void)
{
    static const double spawn[1][3] = {{0, 5, 0}};
    static foliot_body_definition bodies[BODIES];
    static foliot_scene scene;
    foliot_transport_config wire = foliot_transport_config_default();
    foliot_server_config config = foliot_server_config_default();
    cluster *c = cluster_create(&(cluster_options){.world = CLUSTER_EMPTY, .enet = true});
    for (int b = 0; b < BODIES; b++) {
        bodies[b] = foliot_body_definition_default();
        bodies[b].mass = 1;
        bodies[b].position[0] = 1.5 * b;
        bodies[b].position[1] = (b * 37 % BODIES) * 0.77;
        bodies[b].velocity[2] = 0.1 * (b % 13);
    }
    scene = foliot_scene_default();
    scene.name = "many";
    scene.dt = 1.0 / 60;
    scene.bodies = bodies;
    scene.body_count = BODIES;
    scene.players.limit = 16;
    scene.players.body = bodies[0];
    scene.players.positions = spawn;
    scene.players.position_count = 1;
    wire.bind = "0.0.0.0"; // so that all of the loopback reaches it
    wire.peers_max = PEERS;
    config.players_per_address_max = HONEST;
    cluster_serve(c, &config, &wire);
    cluster_host(c, &(foliot_session_config){.name = "main", .scene = &scene, .pace_hz = 60});
    return c;
}

static const foliot_transport_counters *host_counters(const cluster *c)
{
    return foliot_transport_get_counters(c->host);
}

static bool playing(const foliot_client *client)
{
    return foliot_client_get_state(client) == FOLIOT_CLIENT_PLAYING;
}

// One more honest client plays within that time.
static bool joins_within(cluster *c, double seconds)
{
    unsigned i = cluster_player(c, NULL);
    for (uint64_t end = c->now_ns + (uint64_t)(seconds * 1e9);
         c->now_ns < end && !playing(c->clients[i]);)
        cluster_run(c, 0.001);
    return playing(c->clients[i]);
}

// -- attackers

static int attacker(const cluster *c, const char *address)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), bytes = 4 << 20;
    struct sockaddr_in from = {.sin_family = AF_INET},
                       to = {.sin_family = AF_INET,
                             .sin_port = htons(foliot_transport_get_port(c->host))};
    inet_pton(AF_INET, address, &from.sin_addr);
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof from), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

static size_t received_bytes(int fd)
{
    uint8_t bytes[4096];
    size_t total = 0;
    for (ssize_t length; (length = recv(fd, bytes, sizeof bytes, 0)) >= 0;)
        total += (size_t)length;
    return total;
}

static size_t write_question(uint8_t *bytes, uint32_t connect_id)
{
    memset(bytes, 0, FOLIOT__QUESTION_BYTES);
    memcpy(bytes, FOLIOT__QUESTION_MARK, 8);
    memcpy(bytes + 8, &connect_id, 4);
    return FOLIOT__QUESTION_BYTES;
}

// The cookie of a connection of this socket's address.
static uint64_t request_cookie(cluster *c, int fd, uint32_t connect_id)
{
    uint8_t bytes[256];
    uint64_t cookie = 0;
    (void)!send(fd, bytes, write_question(bytes, connect_id), 0);
    for (int tries = 0; tries < 200; tries++) {
        cluster_run(c, 0.001);
        ssize_t length = recv(fd, bytes, sizeof bytes, 0);
        uint32_t of = 0;
        memcpy(&of, bytes + 8, 4);
        if (length == FOLIOT__COOKIE_BYTES && memcmp(bytes, FOLIOT__COOKIE_MARK, 8) == 0 &&
            of == connect_id)
            break;
    }
    for (int k = 0; k < 8; k++)
        cookie |= (uint64_t)bytes[12 + k] << (8 * k);
    return cookie;
}

// Opens a connection and says hello with it: what makes a server send the most.
static size_t write_hello(uint8_t *bytes, uint64_t cookie, uint32_t connect_id)
{
    foliot__message m = {.kind = FOLIOT__HELLO_MESSAGE};
    size_t length;
    m.as.hello.protocol = FOLIOT_PROTOCOL;
    m.as.hello.spectates = true;
    strcpy(m.as.hello.name, "mallory");
    foliot__raw_datagram_early_head(cookie, connect_id, bytes);
    uint8_t *packet = bytes + FOLIOT__EARLY_HEAD_BYTES;
    assert_int_equal(foliot__message_encode(&m, packet + 2, 1000, &length), FOLIOT_STATUS_OK);
    packet[0] = (uint8_t)length;
    packet[1] = (uint8_t)(length >> 8);
    return FOLIOT__EARLY_HEAD_BYTES + 2 + length;
}

// -- amplification

TEST(an_address_that_has_echoed_nothing_gets_less_than_it_sends)
{
    cluster *c = open_cluster();
    int own = attacker(c, "127.0.0.2"), victim = attacker(c, "127.0.0.3");
    foliot__rng rng = foliot__rng_seeded(1);
    size_t sent = 0;
    for (uint32_t k = 0; k < 400; k++) {
        uint8_t bytes[1400];
        size_t length;
        uint64_t cookie = request_cookie(c, own, k); // valid at the attacker's own address
        if (k % 4 == 0)
            length = write_question(bytes, k);
        else if (k % 4 == 1)
            length = write_hello(bytes, cookie, k);
        else if (k % 4 == 2)
            length = write_hello(bytes, foliot__rng_u64(&rng), k);
        else
            for (length = 8 + foliot__rng_below(&rng, 100), bytes[0] = 0;
                 bytes[0] == 0 || length == 0;)
                for (size_t b = 0; b < length; b++)
                    bytes[b] = (uint8_t)foliot__rng_u64(&rng);
        if (k % 8 == 4)
            bytes[7] = '9'; // of a version that is none of ours
        sent += send(victim, bytes, length, 0) > 0 ? length : 0;
    }
    cluster_run(c, 0.3);
    size_t back = received_bytes(victim);
    print_message("%zu bytes sent in the victim's name, %zu came to it\n", sent, back);
    check_gt(back, 0);
    check_lt(back, sent / 2);
    assert_int_equal(cluster_get_counters(c)->joins, 0);
    check_ge(host_counters(c)->datagrams_dropped_cookie, 200);
    // The same hello where its cookie is good: the server has much to say.
    uint8_t bytes[1400];
    size_t length = write_hello(bytes, request_cookie(c, own, 1), 1);
    received_bytes(own);
    (void)!send(own, bytes, length, 0);
    cluster_run(c, 0.3);
    check_gt(received_bytes(own), 3 * length);
    close(own);
    close(victim);
    cluster_destroy(c);
}

// Joins over a lossy path send some datagrams before they have a cookie. The log has nothing of
// them, and names those that no joins explain.
TEST(only_many_bad_cookies_are_reported)
{
    cluster *c = open_cluster();
    int fd = attacker(c, "127.0.0.2");
    uint8_t bytes[1400];
    for (int k = 0; k < 4; k++) // earlier joins excuse nothing that comes later
        assert_true(joins_within(c, 3));
    cluster_run(c, 1.5);
    for (uint32_t k = 0; k < 12; k++)
        (void)!send(fd, bytes, write_hello(bytes, 7, k), 0);
    cluster_run(c, 1.5);
    check_eq(host_counters(c)->datagrams_dropped_cookie, 12);
    check_eq(c->events[FOLIOT_SERVER_REFUSALS], 0);
    for (uint32_t k = 0; k < 60; k++)
        (void)!send(fd, bytes, write_hello(bytes, 7, k), 0);
    cluster_run(c, 1.5);
    check_ge(host_counters(c)->datagrams_dropped_cookie, 60);
    check_eq(c->events[FOLIOT_SERVER_REFUSALS], 1);
    assert_string_equal(c->last[FOLIOT_SERVER_REFUSALS].text, "datagrams_dropped_cookie");
    close(fd);
    cluster_destroy(c);
}

// -- eviction

static void forge(int raw, uint16_t from, uint16_t to, const uint8_t *payload, size_t length)
{
    uint8_t bytes[64];
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const uint16_t head[4] = {htons(from), htons(to), htons((uint16_t)(8 + length)), 0};
    memcpy(bytes, head, 8);
    memcpy(bytes + 8, payload, length);
    (void)!sendto(raw, bytes, 8 + length, 0, (struct sockaddr *)&at, sizeof at);
}

// A disconnect for that peer number and session, with a guess at the checksum or, as before there
// was one, without it.
static size_t write_disconnect(uint8_t *bytes, uint32_t peer, uint32_t session, uint32_t sequence,
                               const uint32_t *checksum)
{
    uint32_t head = peer | session << 12;
    uint8_t *at = bytes;
    *at++ = (uint8_t)(head >> 8);
    *at++ = (uint8_t)head;
    if (checksum) {
        memcpy(at, checksum, 4);
        at += 4;
    }
    *at++ = 0x84; // DISCONNECT, acknowledge
    *at++ = sequence % 2 ? 0xff : 1;
    *at++ = (uint8_t)(sequence >> 8);
    *at++ = (uint8_t)sequence;
    memset(at, 0, 4);
    return (size_t)(at + 4 - bytes);
}

TEST(forged_datagrams_end_no_connection)
{
    int raw = socket(AF_INET, SOCK_RAW, IPPROTO_UDP);
    if (raw < 0) {
        print_message("skipped: raw sockets need root\n");
        return;
    }
    cluster *c = open_cluster();
    foliot__rng rng = foliot__rng_seeded(2);
    assert_true(joins_within(c, 5));
    const foliot_client *client = c->clients[0];
    cluster_run(c, 0.2); // until ENet has connected too
    struct sockaddr_in own;
    socklen_t own_length = sizeof own;
    assert_int_equal(getsockname(foliot_transport_get_descriptor(c->wires[0]),
                                 (struct sockaddr *)&own, &own_length),
                     0);
    uint16_t port = ntohs(own.sin_port), host = foliot_transport_get_port(c->host);
    for (uint32_t k = 0; k < 112928; k++) {
        uint8_t bytes[32];
        uint32_t guess = (uint32_t)foliot__rng_u64(&rng), peer = k / 4 % PEERS;
        bool to_server = k % 8 != 0;
        size_t length = write_disconnect(bytes, to_server ? peer : 0, k % 4, k / (4 * PEERS) + 1,
                                         k % 3 ? &guess : NULL);
        forge(raw, to_server ? port : host, to_server ? host : port, bytes, length);
        if (k % 64 == 0)
            cluster_run(c, 0.001);
    }
    cluster_run(c, 0.5);
    assert_true(playing(client));
    assert_int_equal(foliot_client_get_statistics(client).reconnects, 0);
    assert_int_equal(foliot_server_get_presence(c->server).players, 1);
    assert_int_equal(cluster_get_counters(c)->peers_lost, 0);
    const foliot_transport_counters *at_host = host_counters(c),
                                    *at_client = foliot_transport_get_counters(c->wires[0]);
    print_message("%llu dropped by the server, %llu by the client\n",
                  (unsigned long long)(at_host->datagrams_dropped_unproven +
                                       at_host->datagrams_dropped_malformed),
                  (unsigned long long)(at_client->datagrams_dropped_unproven +
                                       at_client->datagrams_dropped_malformed));
    check_gt(at_host->datagrams_dropped_unproven, 10000);
    check_gt(at_client->datagrams_dropped_unproven, 1000);
    close(raw);
    cluster_destroy(c);
}

// -- locking out

// Connections without end, from one cookie each and from one cookie for all, each opened again as
// soon as it is given up.
TEST(one_address_locks_nobody_out)
{
    cluster *c = open_cluster();
    int fd = attacker(c, "127.0.0.2");
    uint64_t cookies[4 * PEERS];
    for (uint32_t k = 0; k < 4 * PEERS; k++)
        cookies[k] = request_cookie(c, fd, k);
    for (int round = 0; round < 20; round++) {
        for (uint32_t k = 0; k < 4 * PEERS; k++) {
            uint8_t bytes[1400];
            bool hello = k % 2;
            size_t length = write_hello(bytes, cookies[round % 2 ? k : 0], k);
            (void)!send(fd, bytes, hello ? length : FOLIOT__EARLY_HEAD_BYTES, 0);
        }
        cluster_run(c, 0.005);
    }
    uint32_t held = foliot_server_get_presence(c->server).peers;
    print_message("%u of %u connections held by one address\n", held, PEERS);
    check_ge(held, 4);
    check_le(held, PEERS / 4);
    for (int k = 0; k < HONEST; k++)
        assert_true(joins_within(c, 3));
    check_gt(host_counters(c)->connects_over_address, 0);
    check_gt(host_counters(c)->datagrams_dropped_cookie, 0);
    close(fd);
    cluster_destroy(c);
}

// Comes and goes as fast as it can: what it may open is soon used up, and comes back slowly.
TEST(an_address_that_storms_is_put_off)
{
    cluster *c = open_cluster();
    foliot_transport *storm = cluster_open_wire(c, NULL);
    int opened = 0;
    uint64_t end = c->now_ns + 1500000000u, opened_ns = 0;
    foliot_peer_id peer = {0};
    while (c->now_ns < end) {
        foliot_transport_event event;
        if (peer.value == 0)
            assert_int_equal(foliot_transport_connect(storm, "127.0.0.1",
                                                      foliot_transport_get_port(c->host), c->now_ns,
                                                      &peer),
                             FOLIOT_STATUS_OK);
        while (foliot_transport_poll(storm, c->now_ns, &event))
            if (event.kind == FOLIOT_TRANSPORT_DISCONNECTED)
                peer.value = 0;
        foliot_transport_flush(storm, c->now_ns);
        cluster_run(c, 0.001);
        if ((int)host_counters(c)->connects > opened) {
            opened++;
            opened_ns = c->now_ns;
        }
        if (opened_ns &&
            c->now_ns - opened_ns > 10000000u) { // ENet has connected: it can say goodbye
            foliot_transport_disconnect(storm, peer, 0, true);
            peer.value = opened_ns = 0;
        }
    }
    print_message("%d connections opened in 1.5 s, put off %llu times\n", opened,
                  (unsigned long long)host_counters(c)->connects_too_fast);
    check_ge(opened, 4);
    check_le(opened, 24);
    check_gt(host_counters(c)->connects_too_fast, 0);
    foliot_transport_destroy(storm);
    cluster_destroy(c);
}
