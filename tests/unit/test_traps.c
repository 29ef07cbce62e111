// SPDX-License-Identifier: MIT
// test_traps.c: ENet's traps, each shown closed: forged connects, oversized datagrams, hostile
// fragments, source port 0, an hour of snapshots with losses, an hour's step of the wall clock. An
// attacker is a plain socket that writes ENet's datagrams by hand.
#include "check.h"
#include "clock.h"

#include <arpa/inet.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "foliot/transport.h"
#include "net/admission.h"
#include "net/raw_datagram.h"
#include "net/packet_filter.h"
#include "status.h"

// The wall clock that ENet sees: ours, so that it can be put forward.
static int64_t wall_step_s;
int gettimeofday(struct timeval *restrict at, void *restrict zone)
{
    struct timespec t;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &t);
    at->tv_sec = t.tv_sec + wall_step_s;
    at->tv_usec = t.tv_nsec / 1000;
    return 0;
}

static void rest(void)
{
    struct timespec t = {.tv_nsec = 1000000};
    nanosleep(&t, NULL);
}

static foliot_transport *listening(uint32_t peers)
{
    foliot_transport_config config = foliot_transport_config_default();
    foliot_transport *t;
    config.bind = "127.0.0.1";
    config.peers_max = peers;
    assert_int_equal(foliot_transport_create_enet(&config, clock_now_ns(), &t), FOLIOT_STATUS_OK);
    return t;
}

typedef struct tally {
    unsigned connected, disconnected, received;
    foliot_peer_id peer;
} tally;

static void drain(foliot_transport *t, tally *seen)
{
    foliot_transport_event e;
    while (foliot_transport_poll(t, clock_now_ns(), &e)) {
        seen->connected += e.kind == FOLIOT_TRANSPORT_CONNECTED;
        seen->disconnected += e.kind == FOLIOT_TRANSPORT_DISCONNECTED;
        seen->received += e.kind == FOLIOT_TRANSPORT_RECEIVED;
        if (e.kind == FOLIOT_TRANSPORT_CONNECTED)
            seen->peer = e.peer;
    }
    foliot_transport_flush(t, clock_now_ns());
}

// A client of ours, connected.
static foliot_transport *connected(foliot_transport *host, tally *at_host, tally *at_client,
                                   const char *impairment)
{
    foliot_transport_config config = foliot_transport_config_default();
    foliot_transport *client;
    foliot_peer_id peer;
    assert_int_equal(foliot_impairment_parse(impairment, &config.send, NULL), FOLIOT_STATUS_OK);
    config.receive = config.send;
    assert_int_equal(foliot_transport_create_enet(&config, clock_now_ns(), &client),
                     FOLIOT_STATUS_OK);
    assert_int_equal(foliot_transport_connect(client, "127.0.0.1", foliot_transport_get_port(host),
                                              clock_now_ns(), &peer),
                     FOLIOT_STATUS_OK);
    for (int i = 0; i < 5000 && !(at_host->connected && at_client->connected); i++) {
        drain(host, at_host);
        drain(client, at_client);
        rest();
    }
    assert_int_equal(at_host->connected, 1);
    return client;
}

// -- the attacker

static int attacker(const foliot_transport *host)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), bytes = 4 << 20;
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(foliot_transport_get_port(host)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

static size_t received_bytes(int fd)
{
    uint8_t bytes[4096];
    size_t total = 0;
    ssize_t length;
    while ((length = recv(fd, bytes, sizeof bytes, 0)) >= 0)
        total += (size_t)length;
    return total;
}

static uint8_t *put(uint8_t *at, uint64_t value, int bytes)
{
    for (int i = bytes; i-- > 0;)
        *at++ = (uint8_t)(value >> (8 * i));
    return at;
}

// Puts the checksum of a datagram into its place: what the connect id is in until then.
static void seal(uint8_t *bytes, size_t length, uint32_t connect_id)
{
    size_t at = foliot__packet_filter_checksum_at(bytes, length);
    check_gt(at, 0);
    memcpy(bytes + at, &connect_id, 4);
    uint32_t sum = foliot__packet_filter_checksum(bytes, length);
    memcpy(bytes + at, &sum, 4);
}

// ENet's CONNECT, as its protocol.h lays it out. The connect id is big-endian on the wire of these
// tests.
static size_t write_connect(uint8_t *bytes, uint32_t connect_id)
{
    uint8_t *at = put(bytes, 0x8fff, 2);
    at = put(at, 0, 2);                          // sent time
    at = put(at, 0, 4);                          // checksum
    at = put(at, 0x82, 1);                       // CONNECT, acknowledge
    at = put(put(at, 0xff, 1), 1, 2);            // channel, reliable sequence number
    at = put(put(at, 0, 2), 0xffff, 2);          // outgoing peer, session ids
    at = put(put(at, 1400, 4), 65536, 4);        // mtu, window
    at = put(at, 2, 4);                          // channels
    at = put(put(at, 0, 4), 0, 4);               // bandwidths
    at = put(put(put(at, 5000, 4), 2, 4), 2, 4); // throttle
    at = put(put(at, connect_id, 4), 0, 4);
    seal(bytes, (size_t)(at - bytes), 0);
    return (size_t)(at - bytes);
}

static size_t write_question(uint8_t *bytes, uint32_t connect_id)
{
    memset(bytes, 0, FOLIOT__QUESTION_BYTES);
    memcpy(bytes, FOLIOT__QUESTION_MARK, 8);
    put(bytes + 8, connect_id, 4);
    return FOLIOT__QUESTION_BYTES;
}

// The cookie of that connection, its bytes.
static void ask(int fd, foliot_transport *host, tally *seen, uint32_t connect_id, uint8_t cookie[8])
{
    uint8_t bytes[256];
    assert_int_equal(send(fd, bytes, write_question(bytes, connect_id), 0), FOLIOT__QUESTION_BYTES);
    for (int i = 0; i < 20; i++, rest())
        drain(host, seen);
    assert_int_equal(recv(fd, bytes, sizeof bytes, 0), FOLIOT__COOKIE_BYTES);
    assert_memory_equal(bytes, FOLIOT__COOKIE_MARK, 8);
    memcpy(cookie, bytes + 12, 8);
}

// An opening of a connection, followed by a packet of one byte.
static size_t write_early(uint8_t *bytes, const uint8_t cookie[8], uint32_t connect_id,
                          uint8_t byte)
{
    memcpy(bytes, FOLIOT__EARLY, 8);
    put(bytes + 8, connect_id, 4);
    memcpy(bytes + 12, cookie, 8);
    return (size_t)(put(put(bytes + FOLIOT__EARLY_HEAD_BYTES, 0x0100, 2), byte, 1) - bytes);
}

#define BY_HAND_ID 77u
static const uint32_t by_hand_seed = __builtin_bswap32(BY_HAND_ID); // as it lies in memory

// Asks for its cookie and connects with it: what a hostile client does before it turns hostile. The
// peer number that datagrams must name, with its session bits.
static uint32_t connect_by_hand(int fd, foliot_transport *host, tally *seen)
{
    uint8_t bytes[256], cookie[8];
    ask(fd, host, seen, BY_HAND_ID, cookie);
    assert_int_equal(send(fd, bytes, write_early(bytes, cookie, BY_HAND_ID, 7), 0),
                     FOLIOT__EARLY_HEAD_BYTES + 3);
    size_t length = write_connect(bytes, BY_HAND_ID);
    assert_int_equal(send(fd, bytes, length, 0), length);
    for (int i = 0; i < 20; i++, rest())
        drain(host, seen);
    ssize_t got = 0;
    uint32_t peer = 0, session = 0;
    uint16_t sequence = 0, sent = 0;
    while ((got = recv(fd, bytes, sizeof bytes, 0)) > 0) {
        uint8_t *at = bytes + 2;
        assert_true(foliot__packet_filter_proven(bytes, (size_t)got, by_hand_seed));
        if (bytes[0] & 0x80) {
            sent = (uint16_t)(bytes[2] << 8 | bytes[3]);
            at += 2;
        }
        at += FOLIOT__CHECKSUM_BYTES;
        for (; at < bytes + got;) {
            if ((at[0] & 0x0f) == 3) { // VERIFY_CONNECT
                sequence = (uint16_t)(at[2] << 8 | at[3]);
                peer = (uint32_t)(at[4] << 8 | at[5]);
                session = at[6];
                at += 44;
            } else {
                at += 8; // ACKNOWLEDGE
            }
        }
    }
    uint32_t head = peer | (session & 3) << 12;
    uint8_t *at = put(put(put(bytes, head, 2), 0, 4), 1, 1); // ACKNOWLEDGE of it
    at = put(put(put(put(at, 0xff, 1), 0, 2), sequence, 2), sent, 2);
    seal(bytes, (size_t)(at - bytes), by_hand_seed);
    assert_int_equal(send(fd, bytes, (size_t)(at - bytes), 0), at - bytes);
    for (int i = 0; i < 20; i++, rest())
        drain(host, seen);
    assert_int_equal(seen->connected, 1);
    return head;
}

// -- the traps

TEST(forged_connects_take_no_slot_and_get_less_than_they_send)
{
    foliot_transport *host = listening(8);
    int fd = attacker(host);
    tally seen = {0};
    size_t sent = 0, back = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        uint8_t bytes[256];
        size_t length = write_connect(bytes, i);
        if (i % 4 == 1) { // some send packets ahead of it, to a cookie that is none of theirs
            memset(bytes, 0, sizeof bytes);
            write_early(bytes, (const uint8_t *)"nocookie", i, 0);
            bytes[FOLIOT__EARLY_HEAD_BYTES] = 200 - FOLIOT__EARLY_HEAD_BYTES - 2;
            bytes[FOLIOT__EARLY_HEAD_BYTES + 1] = 0;
            length = 200;
        }
        if (i % 4 == 3) // some only ask
            length = write_question(bytes, i);
        if (send(fd, bytes, length, 0) > 0)
            sent += length;
        if (i % 64 == 0) {
            drain(host, &seen);
            back += received_bytes(fd);
        }
    }
    drain(host, &seen);
    back += received_bytes(fd);
    assert_int_equal(seen.connected, 0);
    check_gt(foliot_transport_get_counters(host)->datagrams_dropped_cookie, 10000);
    print_message("%zu bytes sent, %zu came back\n", sent, back);
    check_gt(back, 0);
    check_lt(back, sent / 2);
    tally at_host = {0}, at_client = {0}; // and there is still room for an honest one
    foliot_transport *client = connected(host, &at_host, &at_client, "loss=0%");
    foliot_transport_destroy(client);
    close(fd);
    foliot_transport_destroy(host);
}

TEST(packets_ahead_of_enet_need_the_cookie_and_end_with_the_connection)
{
    foliot_transport *host = listening(2);
    int fd = attacker(host);
    tally seen = {0};
    uint8_t bytes[256], cookie[8];
    ask(fd, host, &seen, 5, cookie);
    cookie[0] ^= 1;
    (void)!send(fd, bytes, write_early(bytes, cookie, 5, 7), 0);
    cookie[0] ^= 1;
    (void)!send(fd, bytes, write_early(bytes, cookie, 6, 7),
                0); // good for the other connection alone
    for (int i = 0; i < 20; i++, rest())
        drain(host, &seen);
    assert_int_equal(seen.connected, 0);
    for (int i = 0; i < 3; i++)
        (void)!send(fd, bytes, write_early(bytes, cookie, 5, 7), 0);
    for (int i = 0; i < 20; i++, rest())
        drain(host, &seen);
    assert_int_equal(seen.connected, 1);
    assert_int_equal(seen.received, 3);
    allow_failure(foliot_transport_send(host, seen.peer, FOLIOT_DELIVERY_RELIABLE, bytes,
                                        100)); // waits for ENet, which never connects
    allow_failure(foliot_transport_send(host, seen.peer, FOLIOT_DELIVERY_UNRELIABLE, bytes, 100));
    foliot_transport_flush(host, clock_now_ns());
    rest();
    assert_int_equal(received_bytes(fd), FOLIOT__EARLY_HEAD_BYTES + 2 + 100);
    foliot_transport_event e = {0};
    assert_true(foliot_transport_poll(host, clock_now_ns() + 5100000000u, &e));
    assert_int_equal(e.kind, FOLIOT_TRANSPORT_DISCONNECTED);
    (void)!send(fd, bytes, write_early(bytes, cookie, 5, 7), 0); // a late copy
    for (int i = 0; i < 20; i++, rest())
        drain(host, &seen);
    assert_int_equal(seen.connected, 1);
    close(fd);
    foliot_transport_destroy(host);
}

// Everything that is sent as soon as a side hears that it is connected, of either kind, in both
// directions.
TEST(what_is_sent_ahead_of_enet_arrives)
{
    foliot_transport *host = listening(8), *client;
    foliot_transport_config config = foliot_transport_config_default();
    demand(foliot_impairment_parse("delay=20ms", &config.send, NULL));
    config.receive = config.send;
    assert_int_equal(foliot_transport_create_enet(&config, clock_now_ns(), &client),
                     FOLIOT_STATUS_OK);
    foliot_peer_id peer;
    demand(foliot_transport_connect(client, "127.0.0.1", foliot_transport_get_port(host),
                                    clock_now_ns(), &peer));
    foliot_transport *sides[2] = {host, client};
    tally seen[2] = {{0}, {0}};
    bool sent[2] = {false, false};
    static uint8_t bytes[5000];
    for (int i = 0; i < 1000 && (seen[0].received < 2 || seen[1].received < 2); i++, rest())
        for (int k = 0; k < 2; k++) {
            drain(sides[k], &seen[k]);
            if (!seen[k].connected || sent[k])
                continue;
            sent[k] = true;
            allow_failure(foliot_transport_send(sides[k], seen[k].peer, FOLIOT_DELIVERY_RELIABLE,
                                                bytes, sizeof bytes));
            allow_failure(foliot_transport_send(sides[k], seen[k].peer, FOLIOT_DELIVERY_UNRELIABLE,
                                                bytes, 1200));
        }
    for (int k = 0; k < 2; k++) {
        assert_int_equal(seen[k].connected, 1);
        assert_int_equal(seen[k].received, 2);
        assert_int_equal(seen[k].disconnected, 0);
    }
    foliot_transport_destroy(client);
    foliot_transport_destroy(host);
}

// ENet gives a connection up when it hears of another one's; a port may have been somebody else's a
// moment ago.
TEST(the_answer_to_another_connect_is_ignored)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)},
                       from;
    socklen_t length = sizeof at;
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    getsockname(fd, (struct sockaddr *)&at, &length);
    foliot_transport_config config = foliot_transport_config_default();
    foliot_transport *client;
    foliot_peer_id peer;
    tally seen = {0};
    uint32_t connect_id = 0;
    assert_int_equal(foliot_transport_create_enet(&config, clock_now_ns(), &client),
                     FOLIOT_STATUS_OK);
    demand(
        foliot_transport_connect(client, "127.0.0.1", ntohs(at.sin_port), clock_now_ns(), &peer));
    for (int i = 0; i < 60; i++, rest()) {
        uint8_t bytes[256];
        drain(client, &seen);
        ssize_t got = recvfrom(fd, bytes, sizeof bytes, 0, (struct sockaddr *)&from, &length);
        if (got == FOLIOT__QUESTION_BYTES) {
            memcpy(&connect_id, bytes + 8, 4);
            memcpy(bytes, FOLIOT__COOKIE_MARK "....mine...", FOLIOT__COOKIE_BYTES);
            memcpy(bytes + 8, &connect_id, 4);
            (void)!sendto(fd, bytes, FOLIOT__COOKIE_BYTES, 0, (struct sockaddr *)&from, length);
        } else if (got == 56) { // a connect: verify one that is not it
            uint8_t answer[64], *put_at = put(answer, 0x8000, 2);
            put_at = put(put(put(put_at, 0, 2), 0, 4), 0x83, 1);
            put_at = put(put(put(put_at, 0xff, 1), 1, 2), 0, 2);
            put_at = put(put(put(put_at, 0, 2), 1400, 4), 65536, 4);
            put_at = put(put(put(put_at, 2, 4), 0, 4), 0, 4);
            put_at = put(put(put(put(put_at, 5000, 4), 2, 4), 2, 4), 12345, 4);
            seal(answer, (size_t)(put_at - answer), connect_id);
            (void)!sendto(fd, answer, (size_t)(put_at - answer), 0, (struct sockaddr *)&from,
                          length);
        }
    }
    assert_int_equal(seen.disconnected, 0);
    check_gt(foliot_transport_get_counters(client)->datagrams_dropped_malformed, 0);
    close(fd);
    foliot_transport_destroy(client);
}

TEST(an_oversized_datagram_is_survived)
{
    foliot_transport *host = listening(8);
    tally at_host = {0}, at_client = {0};
    foliot_transport *client = connected(host, &at_host, &at_client, "loss=0%");
    int fd = attacker(host);
    static uint8_t bytes[20000];
    for (int i = 0; i < 100; i++) {
        (void)!send(fd, bytes, sizeof bytes, 0);
        drain(host, &at_host);
    }
    check_gt(foliot_transport_get_counters(host)->service_errors, 0);
    allow_failure(
        foliot_transport_send(client, at_client.peer, FOLIOT_DELIVERY_UNRELIABLE, bytes, 100));
    for (int i = 0; i < 50 && at_host.received == 0; i++, rest()) {
        drain(client, &at_client);
        drain(host, &at_host);
    }
    assert_int_equal(at_host.received, 1);
    assert_int_equal(at_host.disconnected, 0);
    close(fd);
    foliot_transport_destroy(client);
    foliot_transport_destroy(host);
}

// Fragments that claim a million pieces, or sequence numbers far ahead, in every way that ENet
// would take.
TEST(hostile_fragments_hold_no_memory)
{
    foliot_transport *host = listening(8);
    int fd = attacker(host);
    tally seen = {0};
    uint32_t head = connect_by_hand(fd, host, &seen);
    size_t before = mallinfo2().uordblks;
    for (uint32_t i = 0; i < 40000; i++) {
        uint8_t bytes[1400] = {0}, *at = put(put(bytes, head, 2), 0, 4);
        bool reliable = i % 2;
        uint32_t total = i % 3 == 0 ? 65536 : 1048576, count = i % 5 == 0 ? 40 : 1000000;
        if (i % 7 == 6) { // small reliable packets, each one beyond a hole
            at = put(put(put(at, 0x86, 1), 1, 1), (i / 7 + 2) & 0xffff, 2);
            at = put(put(at, 4, 2), 0, 4);
        } else {
            at = put(put(put(at, reliable ? 0x88 : 0x0c, 1), 1, 1), (i + 2) & 0xffff, 2);
            at = put(put(at, i & 0xffff, 2), 4, 2);
            at = put(put(put(put(at, count, 4), 1, 4), total, 4), 4, 4);
            at = put(at, 0, 4);
        }
        seal(bytes, (size_t)(at - bytes), by_hand_seed);
        (void)!send(fd, bytes, (size_t)(at - bytes), 0);
        if (i % 64 == 0)
            drain(host, &seen);
    }
    drain(host, &seen);
    size_t held = mallinfo2().uordblks - before;
    print_message(
        "%zu bytes held, %llu fragments dropped\n", held,
        (unsigned long long)foliot_transport_get_counters(host)->datagrams_dropped_fragment);
    check_gt(foliot_transport_get_counters(host)->datagrams_dropped_fragment, 10000);
    check_lt(held, 1048576);
    close(fd);
    foliot_transport_destroy(host);
}

// Packets that come as fast as they are taken: what one time of the host's clock takes is bounded,
// so that ticks are closed.
TEST(a_flood_of_packets_does_not_hold_an_update)
{
    foliot_transport *host = listening(2);
    int fd = attacker(host);
    tally seen = {0};
    uint8_t bytes[256], cookie[8];
    ask(fd, host, &seen, 5, cookie);
    size_t length = write_early(bytes, cookie, 5, 7);
    foliot_transport_event e;
    uint64_t now = clock_now_ns();
    uint32_t taken = 0, sent = 0;
    for (; sent < 8; sent++)
        (void)!send(fd, bytes, length, 0);
    for (; sent < 40000 && foliot_transport_poll(host, now, &e); taken++)
        for (int i = 0; i < 2; i++, sent++)
            (void)!send(fd, bytes, length, 0);
    print_message("%u events at one time, %u datagrams sent\n", taken, sent);
    check_gt(taken, 8);
    check_lt(sent, 40000);
    seen.received = 0; // what waited comes at a later time
    drain(host, &seen);
    check_gt(seen.received, 0);
    close(fd);
    foliot_transport_destroy(host);
}

TEST(source_port_0_is_dropped)
{
    int fd = socket(AF_INET, SOCK_RAW, IPPROTO_UDP);
    if (fd < 0) {
        print_message("skipped: raw sockets need root\n");
        return;
    }
    foliot_transport *host = listening(8);
    tally seen = {0};
    uint8_t bytes[8 + 256];
    size_t length = write_connect(bytes + 8, 1);
    put(put(put(put(bytes, 0, 2), foliot_transport_get_port(host), 2), 8 + length, 2), 0, 2);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (int i = 0; i < 10; i++)
        (void)!sendto(fd, bytes, 8 + length, 0, (struct sockaddr *)&to, sizeof to);
    for (int i = 0; i < 20; i++, rest())
        drain(host, &seen);
    assert_int_equal(foliot_transport_get_counters(host)->datagrams_dropped_source, 10);
    close(fd);
    foliot_transport_destroy(host);
}

TEST(an_hour_of_snapshots_with_losses_leaves_no_deaf_peer)
{
    foliot_transport *host = listening(8);
    tally at_host = {0}, at_client = {0};
    foliot_transport *client = connected(host, &at_host, &at_client, "loss=5%,seed=11");
    static uint8_t bytes[200];
    unsigned last_tenth = 0, sent = 216000;
    for (unsigned i = 0; i < sent; i++) {
        if (i == sent - sent / 10)
            last_tenth = at_client.received;
        allow_failure(foliot_transport_send(host, at_host.peer, FOLIOT_DELIVERY_UNRELIABLE, bytes,
                                            sizeof bytes));
        if (i % 16 == 15) {
            foliot_transport_flush(host, clock_now_ns());
            drain(client, &at_client);
            drain(host, &at_host);
        }
    }
    for (int i = 0; i < 50; i++, rest()) {
        drain(client, &at_client);
        drain(host, &at_host);
    }
    last_tenth = at_client.received - last_tenth;
    print_message("%u of %u came, %u of the last %u\n", at_client.received, sent, last_tenth,
                  sent / 10);
    assert_int_equal(at_client.disconnected, 0);
    check_near(at_client.received, 0.95 * sent, 0.01 * sent);
    check_near(last_tenth, 0.095 * sent, 0.004 * sent);
    foliot_transport_destroy(client);
    foliot_transport_destroy(host);
}

TEST(a_step_of_the_wall_clock_drops_nobody)
{
    foliot_transport *host = listening(8);
    tally at_host = {0}, at_client = {0};
    foliot_transport *client = connected(host, &at_host, &at_client, "loss=0%");
    uint8_t byte = 1;
    for (int i = 0; i < 400; i++, rest()) {
        if (i == 100)
            wall_step_s = 3600;
        if (i == 200)
            wall_step_s = -3600;
        allow_failure(foliot_transport_send(
            client, at_client.peer, i % 2 ? FOLIOT_DELIVERY_RELIABLE : FOLIOT_DELIVERY_UNRELIABLE,
            &byte, 1));
        drain(client, &at_client);
        drain(host, &at_host);
    }
    wall_step_s = 0;
    for (int i = 0; i < 100; i++, rest()) {
        drain(client, &at_client);
        drain(host, &at_host);
    }
    assert_int_equal(at_host.disconnected + at_client.disconnected, 0);
    assert_int_equal(at_host.received, 400);
    foliot_transport_destroy(client);
    foliot_transport_destroy(host);
}
