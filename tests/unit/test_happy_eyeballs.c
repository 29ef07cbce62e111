// SPDX-License-Identifier: MIT
// Goal: a client that is given a name joins by whichever family the host answers, the first of the
// name's addresses having a head start (RFC 8305), and comes back by the other one. Method: hosts
// over ENet on loopback, of one family each; getaddrinfo of this program answers what a test says.
#include "check.h"
#include "clock.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "foliot/transport.h"
#include "loopback.h"
#include "net/address.h"
#include "status.h"

#define HEAD_START_MS 250
#define PATIENCE_MS 8000

// -- the resolver

static const char *const *answers; // texts of addresses, in order, up to NULL
static int families_asked;

typedef struct answer {
    struct addrinfo info;
    foliot__socket_address at;
} answer;

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **found)
{
    struct addrinfo *first = NULL, **last = &first;
    (void)name;
    (void)service;
    families_asked = hints->ai_family;
    for (uint32_t i = 0; answers[i]; i++) {
        foliot__net_address address;
        assert_true(foliot__net_address_read(answers[i], 0, &address));
        int family = foliot__net_address_is_ip4(&address) ? AF_INET : AF_INET6;
        if (hints->ai_family != AF_UNSPEC && hints->ai_family != family)
            continue;
        answer *a = calloc(1, sizeof *a);
        assert_non_null(a);
        a->info.ai_family = family;
        a->info.ai_addrlen = foliot__net_address_to_socket(&address, &a->at);
        a->info.ai_addr = &a->at.any;
        *last = &a->info;
        last = &a->info.ai_next;
    }
    *found = first;
    return first ? 0 : EAI_NONAME;
}

void freeaddrinfo(struct addrinfo *found)
{
    for (struct addrinfo *next; found; found = next) {
        next = found->ai_next;
        free(found);
    }
}

// -- hosts and clients

static foliot_transport *open_host(const char *bind, uint16_t port, foliot_security security)
{
    foliot_transport_config config = foliot_transport_config_default();
    foliot_transport *host = NULL;
    config.bind = bind;
    config.port = port;
    config.peers_max = 4;
    config.security = security;
    assert_int_equal(foliot_transport_create_enet(&config, clock_now_ns(), &host),
                     FOLIOT_STATUS_OK);
    return host;
}

static foliot_transport *open_client(foliot_security security)
{
    foliot_transport_config config = foliot_transport_config_default();
    foliot_transport *client = NULL;
    config.peers_max = 2;
    config.security = security;
    assert_int_equal(foliot_transport_create_enet(&config, clock_now_ns(), &client),
                     FOLIOT_STATUS_OK);
    return client;
}

typedef struct met {
    bool connected, received; // received: a reliable packet came through, both ways
    uint64_t after_ms;
    char at[64]; // the host's address, as the client sees it
} met;

static void serve(foliot_transport *host, uint64_t now)
{
    foliot_transport_event e;
    while (host && foliot_transport_poll(host, now, &e))
        if (e.kind == FOLIOT_TRANSPORT_RECEIVED)
            allow_failure(foliot_transport_send(host, e.peer, FOLIOT_DELIVERY_RELIABLE,
                                                (const uint8_t *)"b", 1));
    if (host)
        foliot_transport_flush(host, now);
}

static met join(foliot_transport *client, uint16_t port, foliot_transport *one,
                foliot_transport *two)
{
    met m = {.connected = false};
    foliot_transport_event e;
    foliot_peer_id peer;
    uint64_t begun = clock_now_ns();
    assert_int_equal(foliot_transport_connect(client, "a.name", port, begun, &peer),
                     FOLIOT_STATUS_OK);
    for (uint64_t now = begun; now - begun < PATIENCE_MS * 1000000ull && !m.received;
         now = clock_now_ns()) {
        while (foliot_transport_poll(client, now, &e)) {
            if (e.kind == FOLIOT_TRANSPORT_CONNECTED) {
                m.connected = true;
                m.after_ms = (now - begun) / 1000000;
                allow_failure(foliot_transport_send(client, peer, FOLIOT_DELIVERY_RELIABLE,
                                                    (const uint8_t *)"a", 1));
            }
            m.received = m.received || e.kind == FOLIOT_TRANSPORT_RECEIVED;
        }
        foliot_transport_flush(client, now);
        serve(one, now);
        serve(two, now);
        poll(NULL, 0, 1);
    }
    foliot_transport_get_peer_address(client, peer, m.at, sizeof m.at);
    foliot_transport_disconnect(client, peer, 0, true);
    return m;
}

static const foliot_security securities[] = {FOLIOT_SECURITY_CLEAR, FOLIOT_SECURITY_ANONYMOUS};

static void check_met(const char *const *name, const char *bind, const char *at, uint64_t least_ms)
{
    answers = name;
    for (int i = 0; i < 2; i++) {
        foliot_transport *host = open_host(bind, 0, securities[i]);
        foliot_transport *client = open_client(securities[i]);
        met m = join(client, foliot_transport_get_port(host), host, NULL);
        assert_true(m.connected && m.received);
        assert_memory_equal(m.at, at, strlen(at));
        check_ge(m.after_ms, least_ms);
        foliot_transport_destroy(client);
        foliot_transport_destroy(host);
    }
    assert_int_equal(families_asked, AF_UNSPEC);
}

static const char *const six_first[] = {"::1", "127.0.0.1", NULL},
                         *const four_first[] = {"127.0.0.1", "::1", NULL},
                         *const no_way[] = {"2001:db8::1", "127.0.0.1", NULL},
                         *const four_alone[] = {"127.0.0.1", "127.0.0.2", NULL},
                         *const six_alone[] = {"::1", NULL};

TEST(a_host_of_the_second_family_is_found)
{
    check_met(six_first, "127.0.0.1", "127.0.0.1:", HEAD_START_MS);
    check_met(four_first, "::1", "[::1]:", HEAD_START_MS);
}

TEST(the_first_family_has_a_head_start)
{
    check_met(six_first, "::1", "[::1]:", 0);
    check_met(four_first, "127.0.0.1", "127.0.0.1:", 0);
    answers = six_first;
    foliot_transport *six = open_host("::1", 0, FOLIOT_SECURITY_CLEAR);
    uint16_t port = foliot_transport_get_port(six);
    foliot_transport *four = open_host("127.0.0.1", port, FOLIOT_SECURITY_CLEAR);
    foliot_transport *client = open_client(FOLIOT_SECURITY_CLEAR);
    met m = join(client, port, six, four);
    assert_true(m.received);
    assert_memory_equal(m.at, "[::1]:", 6);
    assert_int_equal(foliot_transport_get_counters(four)->connects, 0);
    foliot_transport_destroy(client);
    foliot_transport_destroy(four);
    foliot_transport_destroy(six);
}

TEST(a_name_of_one_family_is_as_before)
{
    check_met(four_alone, "127.0.0.1", "127.0.0.1:", 0);
    check_met(six_alone, "::1", "[::1]:", 0);
}

// Where the system says that there is no way, nobody waits for it. Where it believes that there is
// one, the head start is lost.
TEST(an_address_that_leads_nowhere_holds_up_nobody)
{
    check_met(no_way, "127.0.0.1", "127.0.0.1:", 0);
}

// The client's network, or the host, has changed: the same transport comes back by what there is.
TEST(a_client_comes_back_by_the_other_family)
{
    answers = six_first;
    foliot_transport *host = open_host("::1", 0, FOLIOT_SECURITY_ANONYMOUS);
    uint16_t port = foliot_transport_get_port(host);
    foliot_transport *client = open_client(FOLIOT_SECURITY_ANONYMOUS);
    for (int i = 0; i < 4; i++) {
        bool six = i % 2 == 0;
        met m = join(client, port, host, NULL);
        assert_true(m.received);
        assert_memory_equal(m.at, six ? "[::1]:" : "127.0.0.1:", six ? 6 : 10);
        foliot_transport_destroy(host);
        host = open_host(six ? "127.0.0.1" : "::1", port, FOLIOT_SECURITY_ANONYMOUS);
    }
    foliot_transport_destroy(client);
    foliot_transport_destroy(host);
}

// The round trip is that of the address that answered: the head start is no part of it.
TEST(the_head_start_is_no_round_trip)
{
    bool seen = false;
    answers = six_first;
    for (int i = 0; i < 20 && !seen; i++) { // a busy machine may hold us up
        foliot_transport *host = open_host("127.0.0.1", 0, FOLIOT_SECURITY_CLEAR);
        foliot_transport *client = open_client(FOLIOT_SECURITY_CLEAR);
        foliot_transport_event e;
        foliot_peer_id peer;
        bool connected = false;
        uint64_t begun = clock_now_ns();
        assert_int_equal(foliot_transport_connect(client, "a.name", foliot_transport_get_port(host),
                                                  begun, &peer),
                         FOLIOT_STATUS_OK);
        for (uint64_t now = begun; now - begun < PATIENCE_MS * 1000000ull && !connected;
             now = clock_now_ns()) {
            serve(host, now);
            while (!connected && foliot_transport_poll(client, now, &e))
                connected = e.kind == FOLIOT_TRANSPORT_CONNECTED;
            poll(NULL, 0, 1);
        }
        assert_true(connected);
        seen = foliot_transport_get_round_trip_ns(client, peer) < HEAD_START_MS / 2 * 1000000u;
        foliot_transport_destroy(client);
        foliot_transport_destroy(host);
    }
    assert_true(seen);
}

int main(void)
{
    if (!loopback_use_six()) {
        print_message("skip: this machine has no IPv6\n");
        return 0;
    }
    return check_run(NULL, NULL);
}
