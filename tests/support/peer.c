// SPDX-License-Identifier: MIT
// peer.c: see peer.h. It shares DTLS and SCTP with the server, which each of its tests against a
// browser checks independently.

#include "peer.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"
#include "clock.h"
#include "net/transport.h"
#include "rtc/dtls.h"
#include "rtc/sctp.h"
#include "rtc/ice.h"
#include "web_socket.h"

#define ASK_NS 500000000u // between two binding requests
#define UFRAG "peer"
#define PASSWORD "0123456789abcdef0123456789abcdef"

struct rtc_peer {
    foliot_transport head;
    const char *host;
    bool wants, flows;
    size_t path_bytes;     // larger datagrams are lost
    foliot_transport *web; // its WebSocket
    foliot_peer_id peer;
    int udp, watched; // an epoll of both
    rtc_answer answer;
    bool answered;
    foliot__dtls *dtls;
    foliot__sctp *sctp;
    uint64_t asked_ns, now_ns, received[2];
    struct {
        size_t length;
        uint8_t bytes[FOLIOT_PACKET_BYTES_MAX];
    } waiting[64]; // messages of the channel
    uint32_t first, count;
};

static foliot__dtls_context *own;

void rtc_start(uint32_t peers)
{
    own = foliot__dtls_context_create();
    bool started = foliot__sctp_start(peers);
    FOLIOT_ASSERT(own && started);
}

void rtc_stop(void)
{
    foliot__sctp_stop();
    foliot__dtls_context_destroy(own);
}

void rtc_tick(uint32_t elapsed_ms)
{
    foliot__sctp_tick(elapsed_ms);
}

// -- texts and requests

typedef struct caught {
    uint8_t *bytes;
    size_t length;
} caught;

static void catch_datagram(void *user, const uint8_t *bytes, size_t length)
{
    caught *c = user;
    FOLIOT_ASSERT(length <= 256);
    memcpy(c->bytes, bytes, length);
    c->length = length;
}

size_t rtc_write_hello(uint8_t bytes[256])
{
    static const uint8_t print[32];
    static const foliot__dtls_hook hook = {catch_datagram, NULL};
    caught c = {bytes, 0};
    foliot__dtls_context *context = foliot__dtls_context_create();
    FOLIOT_ASSERT(context);
    foliot__dtls *dtls = foliot__dtls_create(context, true, print, &hook, &c);
    FOLIOT_ASSERT(dtls);
    foliot__dtls_start(dtls);
    foliot__dtls_destroy(dtls);
    foliot__dtls_context_destroy(context);
    return c.length;
}

void rtc_write_offer(const char *ufrag, const char *setup, const uint8_t *print, char *text,
                     size_t bytes)
{
    char hex[97];
    for (int i = 0; i < 32; i++)
        snprintf(hex + 3 * i, 4, "%02X:", print[i]);
    hex[95] = 0;
    snprintf(text, bytes,
             "v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n"
             "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\nc=IN IP4 0.0.0.0\r\n"
             "a=ice-ufrag:%s\r\na=ice-pwd:" PASSWORD "\r\n"
             "a=fingerprint:sha-256 %s\r\na=setup:%s\r\na=mid:0\r\na=sctp-port:5000\r\n",
             ufrag, hex, setup);
}

static bool read_word(const char *text, const char *name, char *word, size_t bytes)
{
    const char *at = strstr(text, name);
    if (!at)
        return false;
    at += strlen(name);
    snprintf(word, bytes, "%.*s", (int)strcspn(at, " \r\n"), at);
    return true;
}

bool rtc_read_answer(const char *text, const char *host, rtc_answer *answer)
{
    char print[100], port[16];
    const char *section = strstr(text, "m=application ");
    if (!section || !read_word(text, "a=ice-ufrag:", answer->ufrag, sizeof answer->ufrag) ||
        !read_word(text, "a=ice-pwd:", answer->password, sizeof answer->password) ||
        !read_word(text, "a=fingerprint:sha-256 ", print, sizeof print) ||
        !read_word(text, "m=application ", port, sizeof port) || strlen(print) != 95)
        return false;
    for (int i = 0; i < 32; i++)
        answer->fingerprint[i] = (uint8_t)strtoul(print + 3 * i, NULL, 16);
    answer->address = (struct sockaddr_in){.sin_family = AF_INET};
    answer->address.sin_port = htons((uint16_t)strtoul(port, NULL, 10));
    return inet_pton(AF_INET, host, &answer->address.sin_addr) == 1;
}

size_t rtc_write_request(const char *ours, const char *theirs, const char *password, bool use,
                         uint8_t bytes[256])
{
    char name[128];
    size_t length = (size_t)snprintf(name, sizeof name, "%s:%s", theirs, ours);
    size_t padded = (length + 3) / 4 * 4;
    memset(bytes, 0, 256);
    memcpy(bytes, "\0\1\0\0\x21\x12\xa4\x42", 8);
    uint64_t now = clock_now_ns();
    memcpy(bytes + 8, &now, sizeof now);
    memcpy(bytes + 20, "\0\6\0", 3);
    bytes[23] = (uint8_t)length;
    memcpy(bytes + 24, name, length);
    length = 24 + padded;
    memcpy(bytes + length, "\0\x24\0\4\x6e\0\1\xff", 8);
    length += 8;
    if (use) {
        memcpy(bytes + length, "\0\x25\0\0", 4);
        length += 4;
    }
    return foliot__stun_close(bytes, length, password, strlen(password));
}

// -- the channel

static void send_datagram(void *user, const uint8_t *bytes, size_t length)
{
    rtc_peer *p = user;
    if (length <= p->path_bytes)
        sendto(p->udp, bytes, length, MSG_DONTWAIT, (struct sockaddr *)&p->answer.address,
               sizeof p->answer.address);
}

static void take_packet(void *user, const uint8_t *bytes, size_t length)
{
    rtc_peer *p = user;
    if (p->sctp)
        foliot__sctp_receive(p->sctp, bytes, length);
}

static void send_packet(void *user, const uint8_t *bytes, size_t length)
{
    rtc_peer *p = user;
    foliot__dtls_send(p->dtls, bytes, length);
}

static void take_message(void *user, const uint8_t *bytes, size_t length)
{
    rtc_peer *p = user;
    FOLIOT_ASSERT(length <= FOLIOT_PACKET_BYTES_MAX);
    p->flows = true;
    p->received[1]++;
    if (p->count == 64)
        return;
    uint32_t at = (p->first + p->count++) % 64;
    p->waiting[at].length = length;
    memcpy(p->waiting[at].bytes, bytes, length);
}

static const foliot__dtls_hook below = {send_datagram, take_packet};
static const foliot__sctp_hook above = {send_packet, take_message};

static void read_signal(void *user, const web_frame *frame)
{
    rtc_peer *p = user;
    char text[2048];
    FOLIOT_ASSERT(frame->bytes[0] == 2 && frame->length > 2 && frame->length < sizeof text);
    memcpy(text, frame->bytes + 2, frame->length - 2);
    text[frame->length - 2] = 0;
    p->answered = frame->bytes[1] == 4 && rtc_read_answer(text, p->host, &p->answer);
    if (!p->answered)
        return;
    p->dtls = foliot__dtls_create(own, false, p->answer.fingerprint, &below, p);
    FOLIOT_ASSERT(p->dtls);
}

static void take_datagram(rtc_peer *p, const uint8_t *bytes, size_t length)
{
    foliot__stun_message m;
    if (foliot__rtc_protocol_of(bytes, length) == FOLIOT__RTC_DTLS) {
        foliot__dtls_receive(p->dtls, bytes, length);
        if (!p->sctp && foliot__dtls_get_state(p->dtls) == FOLIOT__DTLS_OPEN)
            p->sctp = foliot__sctp_create(5000, FOLIOT__SCTP_DATAGRAM_BYTES, &above, p);
        return;
    }
    if (!foliot__stun_read(bytes, length, &m))
        return;
    if (m.type == FOLIOT__STUN_BINDING_REQUEST &&
        foliot__stun_authentic(bytes, &m, PASSWORD, strlen(PASSWORD))) {
        uint8_t answer[FOLIOT__STUN_ANSWER_BYTES];
        send_datagram(p, answer,
                      foliot__stun_answer(&m, (const struct sockaddr *)&p->answer.address, PASSWORD,
                                          strlen(PASSWORD), answer));
    }
}

void rtc_peer_pump(rtc_peer *p, uint64_t now_ns)
{
    uint8_t bytes[2048];
    p->now_ns = now_ns;
    if (!p->answered)
        return;
    if (now_ns - p->asked_ns > ASK_NS) {
        p->asked_ns = now_ns;
        size_t length = rtc_write_request(UFRAG, p->answer.ufrag, p->answer.password, true, bytes);
        send_datagram(p, bytes, length);
    }
    for (ssize_t got; (got = recv(p->udp, bytes, sizeof bytes, MSG_DONTWAIT)) > 0;)
        if ((size_t)got <= p->path_bytes)
            take_datagram(p, bytes, (size_t)got);
    foliot__dtls_tick(p->dtls);
}

bool rtc_peer_is_open(const rtc_peer *peer)
{
    return peer->sctp && foliot__sctp_get_state(peer->sctp) == FOLIOT__SCTP_OPEN;
}

uint64_t rtc_peer_get_received(const rtc_peer *peer, bool by_channel)
{
    return peer->received[by_channel];
}

void rtc_peer_narrow(rtc_peer *peer, size_t bytes)
{
    peer->path_bytes = bytes;
}

const rtc_answer *rtc_peer_get_answer(const rtc_peer *peer)
{
    return peer->answered ? &peer->answer : NULL;
}

// -- the transport

static void close_all(rtc_peer *p)
{
    foliot__sctp_destroy(p->sctp);
    foliot__dtls_destroy(p->dtls);
    foliot_transport_disconnect(p->web, p->peer, 0, true);
    if (p->udp >= 0)
        close(p->udp);
    p->sctp = NULL;
    p->dtls = NULL;
    p->udp = -1;
    p->answered = p->flows = false;
    p->count = 0;
    p->peer = (foliot_peer_id){0};
}

static void peer_destroy(foliot_transport *transport)
{
    rtc_peer *p = (rtc_peer *)transport;
    close_all(p);
    foliot_transport_destroy(p->web);
    close(p->watched);
    free(p);
}

static void watch(const rtc_peer *p, int fd)
{
    struct epoll_event readable = {.events = EPOLLIN};
    epoll_ctl(p->watched, EPOLL_CTL_ADD, fd, &readable);
}

void rtc_peer_move(rtc_peer *peer)
{
    close(peer->udp);
    peer->udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    watch(peer, peer->udp);
    peer->asked_ns = 0;
}

static foliot_status peer_connect(foliot_transport *transport, const char *host, uint16_t port,
                                  uint64_t now_ns, foliot_peer_id *peer)
{
    char message[2048] = "\2\3";
    rtc_peer *p = (rtc_peer *)transport;
    (void)host;
    foliot_status status = foliot_transport_connect(p->web, p->host, port, now_ns, &p->peer);
    if (status != FOLIOT_STATUS_OK)
        return status;
    p->udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    watch(p, foliot_transport_get_descriptor(p->web));
    watch(p, p->udp);
    *peer = p->peer;
    if (p->wants) {
        rtc_write_offer(UFRAG, "actpass", foliot__dtls_context_get_fingerprint(own), message + 2,
                        sizeof message - 2);
        web_send(foliot_transport_get_descriptor(p->web), 0x82, message, 2 + strlen(message + 2));
    }
    return FOLIOT_STATUS_OK;
}

static void peer_disconnect(foliot_transport *transport, foliot_peer_id peer, uint32_t reason,
                            bool at_once)
{
    rtc_peer *p = (rtc_peer *)transport;
    (void)reason;
    (void)at_once;
    if (peer.value && peer.value == p->peer.value)
        close_all(p);
}

static bool poll_channel(rtc_peer *p, foliot_transport_event *event)
{
    if (p->count == 0)
        return false;
    event->kind = FOLIOT_TRANSPORT_RECEIVED;
    event->delivery = FOLIOT_DELIVERY_UNRELIABLE;
    event->path = 1;
    event->bytes = p->waiting[p->first].bytes;
    event->length = p->waiting[p->first].length;
    p->first = (p->first + 1) % 64;
    p->count--;
    return true;
}

static bool poll_socket(rtc_peer *p, uint64_t now_ns, foliot_transport_event *event)
{
    if (!foliot_transport_poll(p->web, now_ns, event))
        return false;
    if (event->kind == FOLIOT_TRANSPORT_DISCONNECTED)
        close_all(p);
    if (event->kind == FOLIOT_TRANSPORT_RECEIVED && event->delivery == FOLIOT_DELIVERY_UNRELIABLE) {
        p->flows = false;
        p->received[0]++;
    }
    return true;
}

static bool peer_poll(foliot_transport *transport, uint64_t now_ns, foliot_transport_event *event)
{
    rtc_peer *p = (rtc_peer *)transport;
    if (!p->peer.value)
        return false;
    *event = (foliot_transport_event){.peer = p->peer, .arrived_ns = now_ns};
    rtc_peer_pump(p, now_ns);
    return poll_channel(p, event) || poll_socket(p, now_ns, event);
}

static uint32_t peer_send(foliot_transport *transport, const foliot_peer_id *peers, uint32_t count,
                          foliot_delivery delivery, const uint8_t *bytes, size_t length)
{
    rtc_peer *p = (rtc_peer *)transport;
    if (count != 1 || peers[0].value == 0 || peers[0].value != p->peer.value)
        return 0;
    if (delivery == FOLIOT_DELIVERY_UNRELIABLE && p->flows) {
        foliot__sctp_send(p->sctp, bytes, length, p->now_ns);
        return 1;
    }
    return foliot_transport_send(p->web, peers[0], delivery, bytes, length) == FOLIOT_STATUS_OK;
}

static int peer_descriptor(const foliot_transport *transport)
{
    return ((const rtc_peer *)transport)->watched;
}

rtc_peer *rtc_peer_create(const char *host, bool channel, foliot_transport **transport)
{
    static const foliot__transport_maker maker = {.destroy = peer_destroy,
                                                  .connect = peer_connect,
                                                  .disconnect = peer_disconnect,
                                                  .poll = peer_poll,
                                                  .send = peer_send,
                                                  .descriptor = peer_descriptor,
                                                  WEB_LONE_PEER};
    rtc_peer *p = calloc(1, sizeof *p);
    FOLIOT_ASSERT(p);
    p->head.maker = &maker;
    p->head.config = foliot_transport_config_default();
    p->host = host;
    p->wants = channel;
    p->path_bytes = SIZE_MAX;
    p->udp = -1;
    p->web = web_transport_create(read_signal, p);
    p->watched = epoll_create1(EPOLL_CLOEXEC);
    *transport = &p->head;
    return p;
}
