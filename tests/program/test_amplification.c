// SPDX-License-Identifier: MIT
// Goal: a server sends to an address that has not echoed anything at most three times the bytes
// that came from it. Method: for every kind of peer, datagrams are sent in the name of a victim.
// The victim is a socket that counts and never answers. The far end of a channel is another
// process. Tier: test

#include "check.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "far_end.h"
#include "base/rng.h"
#include "clock.h"
#include "net/admission.h"
#include "net/raw_datagram.h"
#include "net/secure.h"
#include "rtc/dtls.h"
#include "rtc/rtc.h"
#include "secure_stage.h"
#include "status.h"
#include "web_site.h"

#define DATAGRAMS 60 // in the victim's name, of one kind
#define PACKET_BYTES 1000

typedef struct account {
    uint64_t sent, came;
} account;

static int open_victim(uint16_t port)
{
    struct sockaddr_in own = {.sin_family = AF_INET}, to = own;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), room = 1 << 22;
    inet_pton(AF_INET, "127.0.0.3", &own.sin_addr);
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    assert_int_equal(bind(fd, (struct sockaddr *)&own, sizeof own), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

static void send_as(int victim, account *a, const uint8_t *bytes, size_t length)
{
    ssize_t sent = send(victim, bytes, length, 0);
    a->sent += sent > 0 ? (uint64_t)sent : 0;
}

static void count_what_came(int victim, account *a)
{
    uint8_t bytes[2048];
    for (ssize_t got; (got = recv(victim, bytes, sizeof bytes, MSG_DONTWAIT)) >= 0;)
        a->came += (uint64_t)got;
}

static void check_factor(const char *kind, const account *a)
{
    print_message("%-44s %7llu bytes sent, %7llu came: %.2f\n", kind, (unsigned long long)a->sent,
                  (unsigned long long)a->came, (double)a->came / (double)a->sent);
    check_gt(a->sent, 0u);
    check_le(a->came, FOLIOT__AMPLIFICATION_MAX * a->sent);
}

TEST(an_address_gets_three_times_what_it_sent)
{
    foliot__address_validation a = {0};
    assert_false(foliot__address_may_send(&a, 1));
    foliot__address_received(&a, 100);
    assert_true(foliot__address_may_send(&a, 200));
    assert_false(foliot__address_may_send(&a, 101));
    assert_true(foliot__address_may_send(&a, 100));
    assert_false(foliot__address_may_send(&a, 1));
    foliot__address_validate(&a);
    assert_true(foliot__address_may_send(&a, 1 << 30));
}

// -- UDP, before a connection

typedef struct greeting_kind {
    const char *name, *mark;
    size_t length;
    bool pads; // with zeros; otherwise random bytes follow the mark
} greeting_kind;

static const greeting_kind greetings[] = {
    {"question", FOLIOT__QUESTION_MARK, FOLIOT__QUESTION_BYTES, true},
    {"question of another version", "foliot?9", FOLIOT__QUESTION_BYTES, true},
    {"opening without a good cookie", FOLIOT__EARLY, 200, false},
    {"question with keys", FOLIOT__SECURE_QUESTION_MARK, FOLIOT__SECURE_QUESTION_BYTES, true},
    {"opening with keys, without a good cookie", FOLIOT__SECURE_OPENING_MARK,
     FOLIOT__SECURE_OPENING_BYTES_MIN, false},
    {"raw datagram", "\x67", 40, false},
    {"sealed datagram", "\x68", 60, false},
    {"sealed datagram of ENet's", "\x69", 60, false},
    {"sealed answer to a challenge", "\x6a", 34, false},
    {"connect of ENet's", "\x8f\xff", 60, false},
    {"short ones", "f", 1, false},
};

static void host_with(foliot_security security, uint16_t *port, foliot_transport **host)
{
    foliot_transport_config config = foliot_transport_config_default();
    config.bind = "0.0.0.0";
    config.security = security;
    assert_int_equal(foliot_transport_create_enet(&config, clock_now_ns(), host), FOLIOT_STATUS_OK);
    *port = foliot_transport_get_port(*host);
}

static void pump(foliot_transport *host, unsigned ms)
{
    foliot_transport_event event;
    for (uint64_t end = clock_now_ns() + ms * (SECOND / 1000); clock_now_ns() < end;) {
        while (foliot_transport_poll(host, clock_now_ns(), &event))
            fail_msg("a peer has connected");
        foliot_transport_flush(host, clock_now_ns());
        poll(NULL, 0, 1);
    }
}

TEST(greetings_amplify_nothing)
{
    static const foliot_security securities[] = {FOLIOT_SECURITY_CLEAR, FOLIOT_SECURITY_ANONYMOUS};
    for (size_t i = 0; i < 2; i++) {
        foliot_transport *host;
        uint16_t port;
        foliot__rng rng = foliot__rng_seeded(i + 1);
        host_with(securities[i], &port, &host);
        uint64_t all = 0;
        for (size_t k = 0; k < sizeof greetings / sizeof greetings[0]; k++) {
            const greeting_kind *kind = &greetings[k];
            uint8_t bytes[256] = {0};
            account a = {0};
            int victim = open_victim(port);
            for (int n = 0; n < DATAGRAMS; n++) {
                for (size_t b = 0; b < kind->length; b++)
                    bytes[b] = kind->pads && b >= 12 ? 0 : (uint8_t)foliot__rng_u64(&rng);
                memcpy(bytes, kind->mark,
                       strlen(kind->mark) < kind->length ? strlen(kind->mark) : kind->length);
                send_as(victim, &a, bytes, kind->length);
            }
            pump(host, 30);
            count_what_came(victim, &a);
            check_factor(kind->name, &a);
            all += a.came;
            close(victim);
        }
        check_gt(all, 0u); // questions are answered
        foliot_transport_destroy(host);
    }
}

// -- UDP, a connection that seems to have moved

TEST(a_sealed_connection_that_seems_to_move_amplifies_nothing)
{
    stage *s = stage_open_with_token();
    foliot__net_address at;
    account a = {0};
    stage_expect_talk(s);
    int victim = stage_open_socket(0, &at), back = s->back;
    for (int i = 0; i < DATAGRAMS; i++) {
        size_t before = s->caught_count;
        s->back = victim;
        allow_failure(foliot_transport_send(s->client, s->at_client, FOLIOT_DELIVERY_UNRELIABLE,
                                            (const uint8_t *)STAGE_PHRASE, sizeof STAGE_PHRASE));
        foliot_transport_flush(s->client, clock_now_ns());
        stage_pump(s);
        s->back = back;
        for (size_t c = before; c < s->caught_count; c++)
            a.sent += s->caught[c].to_host ? s->caught[c].length : 0;
        stage_run(s, 20);
        // The server sends much meanwhile.
        for (int k = 0; k < 30; k++)
            allow_failure(foliot_transport_send(s->host, s->at_host, FOLIOT_DELIVERY_UNRELIABLE,
                                                (const uint8_t *)STAGE_PHRASE,
                                                sizeof STAGE_PHRASE));
        foliot_transport_flush(s->host, clock_now_ns());
        count_what_came(victim, &a);
    }
    check_factor("sealed datagrams from elsewhere", &a);
    check_gt(a.came, 0u); // the server asks the victim
    close(victim);
    stage_close(s);
}

// -- data channels

static rtc_answer offer_channel(int fd, const uint8_t *print)
{
    char message[2048] = "\2\3", text[2048];
    web_frame frame;
    rtc_answer answer;
    rtc_write_offer("mine", "active", print, message + 2, sizeof message - 2);
    web_send(fd, 0x82, message, 2 + strlen(message + 2));
    do
        assert_true(web_receive(fd, 10000, &frame));
    while (frame.opcode != 2);
    memcpy(text, frame.bytes + 2, frame.length - 2);
    text[frame.length - 2] = 0;
    assert_true(rtc_read_answer(text, "127.0.0.1", &answer));
    return answer;
}

typedef struct wire { // of a client of DTLS
    int fd;
    size_t length; // of the last datagram
    uint8_t bytes[2048];
} wire;

static void on_datagram(void *user, const uint8_t *bytes, size_t length)
{
    wire *w = user;
    w->length = length;
    memcpy(w->bytes, bytes, length);
}

static void on_content(void *user, const uint8_t *bytes, size_t length)
{
    (void)user, (void)bytes, (void)length;
}

static size_t next_dtls(int fd, uint8_t bytes[2048])
{
    for (uint64_t end = clock_now_ns() + 10 * SECOND; clock_now_ns() < end; poll(NULL, 0, 1)) {
        ssize_t got = recv(fd, bytes, 2048, MSG_DONTWAIT);
        if (got > 0 && bytes[0] >= 20)
            return (size_t)got;
    }
    fail_msg("no handshake");
    return 0;
}

// The attacker begins a handshake at its own address, and continues in the victim's name.
TEST(a_handshake_amplifies_nothing)
{
    static const foliot__dtls_hook hook = {on_datagram, on_content};
    site s = open_channel_site();
    int web = web_open(s.port), victim = open_victim(s.channel_port);
    foliot__dtls_context *context = foliot__dtls_context_create();
    rtc_answer answer = offer_channel(web, foliot__dtls_context_get_fingerprint(context));
    wire w = {.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    uint8_t request[256], got[2048];
    account early = {0}, late = {0};
    assert_int_equal(connect(w.fd, (struct sockaddr *)&answer.address, sizeof answer.address), 0);
    foliot__dtls *dtls = foliot__dtls_create(context, true, answer.fingerprint, &hook, &w);
    foliot__dtls_start(dtls);
    size_t length = rtc_write_request("mine", answer.ufrag, answer.password, true, request);
    assert_true(send(w.fd, request, length, 0) > 0);
    assert_true(send(w.fd, w.bytes, w.length, 0) > 0);
    length = next_dtls(w.fd, got);
    foliot__dtls_receive(dtls, got, length); // the cookie: the second hello is in `w` now
    length = rtc_write_request("mine", answer.ufrag, answer.password, true, request);
    send_as(victim, &early, request, length);
    send_as(victim, &early, w.bytes, w.length);
    poll(NULL, 0, 3500); // a flight is repeated twice in this time
    count_what_came(victim, &early);
    for (int i = 0; i < DATAGRAMS; i++) {
        length = rtc_write_request("mine", answer.ufrag, answer.password, true, request);
        if (i % 3 == 0)
            send_as(victim, &late, request, length);
        send_as(victim, &late, w.bytes, w.length);
        poll(NULL, 0, 5);
        count_what_came(victim, &late);
    }
    poll(NULL, 0, 100);
    count_what_came(victim, &late);
    check_factor("a handshake's beginning", &early);
    check_factor("its repetition", &late);
    check_gt(early.came, 0u); // the server asks the victim
    foliot__dtls_destroy(dtls);
    foliot__dtls_context_destroy(context);
    close(w.fd);
    close(victim);
    close(web);
    close_site(&s);
}

// In the process of the far end. After a 'v' it sends requests in the victim's name for half a
// second, and then reports the account.
static void ask_as_victim(const far_turn *turn)
{
    static int victim = -1;
    static account a;
    static uint64_t until_ns, asked_ns;
    if (turn->order == 'v') {
        victim = open_victim(turn->channel_port);
        until_ns = turn->now_ns + SECOND / 2;
    }
    if (victim < 0)
        return;
    const rtc_answer *answer = rtc_peer_get_answer(turn->peer);
    if (answer && turn->now_ns - asked_ns > SECOND / 8) {
        uint8_t request[256];
        asked_ns = turn->now_ns;
        send_as(victim, &a, request,
                rtc_write_request("peer", answer->ufrag, answer->password, true, request));
    }
    count_what_came(victim, &a);
    if (turn->now_ns > until_ns) {
        victim = -1;
        if (write(turn->report, &a, sizeof a) != sizeof a)
            _exit(1);
    }
}

// The server sends a packet every 2 ms until `count` of them have come back by the channel, or,
// with `a`, until the far end has reported.
static bool stream(site *s, foliot_peer_id peer, const far_end *f, int count, account *a)
{
    static const uint8_t packet[PACKET_BYTES];
    foliot_transport_event event;
    for (uint64_t end = clock_now_ns() + 30 * SECOND; clock_now_ns() < end; poll(NULL, 0, 2)) {
        struct pollfd report = {.fd = f->report, .events = POLLIN};
        allow_failure(foliot_transport_send(s->transport, peer, FOLIOT_DELIVERY_UNRELIABLE, packet,
                                            sizeof packet));
        foliot_transport_flush(s->transport, clock_now_ns());
        foliot__web_flush(s->web);
        while (foliot_transport_poll(s->transport, clock_now_ns(), &event)) {
            assert_int_equal(event.kind, FOLIOT_TRANSPORT_RECEIVED);
            count -= event.bytes[0] == 1;
        }
        if (a && poll(&report, 1, 0) == 1)
            return read(f->report, a, sizeof *a) == sizeof *a;
        if (!a && count <= 0)
            return true;
    }
    return false;
}

TEST(an_open_channel_that_seems_to_move_amplifies_nothing)
{
    far_end far = far_end_start(ask_as_victim);
    site s = open_channel_site();
    foliot_transport_event event;
    foliot_peer_id peer = {0};
    account a = {0};
    far_end_connect(&far, s.port, s.channel_port, FAR_PATH_BYTES);
    for (uint64_t end = clock_now_ns() + 20 * SECOND; !peer.value && clock_now_ns() < end;
         poll(NULL, 0, 5))
        if (foliot_transport_poll(s.transport, clock_now_ns(), &event))
            peer = event.peer;
    assert_true(stream(&s, peer, &far, 50, NULL));
    send_reliable(&s, peer, "v");
    assert_true(stream(&s, peer, &far, 0, &a));
    check_factor("an open channel in another's name", &a);
    check_gt(a.came, 0u);                          // the server asks the victim
    assert_true(stream(&s, peer, &far, 50, NULL)); // it stays at its address
    send_reliable(&s, peer, "m"); // the server follows a peer that answers elsewhere
    assert_true(stream(&s, peer, &far, 200, NULL));
    far_end_stop(&far);
    close_site(&s);
}
