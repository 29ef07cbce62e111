// SPDX-License-Identifier: MIT
// impairment_proxy.c: sessions of two sockets, with a link each way. "Near" is ENet's side, "far"
// the network's.
#include "net/impairment_proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define DATAGRAM_BYTES_MAX 4096

typedef struct session {
    int near_fd, far_fd; // one of them is the relay's shared one
    struct sockaddr_in near, far;
} session;

struct foliot__relay {
    bool listens;
    int shared_fd, epoll_fd;
    struct sockaddr_in address; // of shared_fd
    struct sockaddr_in near;    // ENet's, where it is known beforehand
    foliot__link outward, inward;
    session sessions[FOLIOT__RELAY_SESSIONS_MAX];
    uint32_t session_count;
};

static int open_socket(const struct sockaddr_in *bind_to)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), bytes = 1 << 20;
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    if (bind(fd, (const struct sockaddr *)bind_to, sizeof *bind_to) == 0)
        return fd;
    close(fd);
    return -1;
}

static bool watch(foliot__relay *relay, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};
    return epoll_ctl(relay->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static foliot_status open_relay(const struct sockaddr_in *address, const foliot_impairment *send,
                                const foliot_impairment *receive,
                                foliot_transport_counters *counters, foliot__relay **out)
{
    foliot__relay *relay = calloc(1, sizeof *relay);
    if (!relay)
        return FOLIOT_STATUS_MEMORY;
    relay->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    relay->shared_fd = open_socket(address);
    foliot_impairment inward = *receive;
    inward.seed ^= 0x5deece66du; // two directions of one seed are not the same stream
    foliot__link_init(&relay->outward, send, counters);
    foliot__link_init(&relay->inward, &inward, counters);
    if (relay->epoll_fd < 0 || relay->shared_fd < 0 || !watch(relay, relay->shared_fd)) {
        foliot_status status = errno == EADDRINUSE ? FOLIOT_STATUS_AGAIN : FOLIOT_STATUS_IO;
        foliot__relay_close(relay);
        return status;
    }
    socklen_t length = sizeof relay->address;
    getsockname(relay->shared_fd, (struct sockaddr *)&relay->address, &length);
    *out = relay;
    return FOLIOT_STATUS_OK;
}

static const struct sockaddr_in *any_loopback(void)
{
    static struct sockaddr_in address;
    address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return &address;
}

foliot_status foliot__relay_listen(const struct sockaddr_in *public_address,
                                   const struct sockaddr_in *near, const foliot_impairment *send,
                                   const foliot_impairment *receive,
                                   foliot_transport_counters *counters, foliot__relay **relay)
{
    foliot_status status = open_relay(public_address, send, receive, counters, relay);
    if (status != FOLIOT_STATUS_OK)
        return status;
    (*relay)->listens = true;
    (*relay)->near = *near;
    return FOLIOT_STATUS_OK;
}

foliot_status foliot__relay_connect(const struct sockaddr_in *far, const foliot_impairment *send,
                                    const foliot_impairment *receive,
                                    foliot_transport_counters *counters, foliot__relay **relay)
{
    foliot_status status = open_relay(any_loopback(), send, receive, counters, relay);
    if (status != FOLIOT_STATUS_OK)
        return status;
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    session *s = &(*relay)->sessions[0];
    *s = (session){.near_fd = (*relay)->shared_fd, .far_fd = open_socket(&any), .far = *far};
    (*relay)->session_count = 1;
    if (s->far_fd >= 0 && watch(*relay, s->far_fd))
        return FOLIOT_STATUS_OK;
    foliot__relay_close(*relay);
    return FOLIOT_STATUS_IO;
}

void foliot__relay_close(foliot__relay *relay)
{
    if (!relay)
        return;
    for (uint32_t i = 0; i < relay->session_count; i++) {
        int own = relay->listens ? relay->sessions[i].near_fd : relay->sessions[i].far_fd;
        if (own >= 0)
            close(own);
    }
    if (relay->shared_fd >= 0)
        close(relay->shared_fd);
    if (relay->epoll_fd >= 0)
        close(relay->epoll_fd);
    foliot__link_close(&relay->outward);
    foliot__link_close(&relay->inward);
    free(relay);
}

static bool same(const struct sockaddr_in *a, const struct sockaddr_in *b)
{
    return a->sin_addr.s_addr == b->sin_addr.s_addr && a->sin_port == b->sin_port;
}

bool foliot__relay_leads_to(const foliot__relay *relay, const struct sockaddr_in *far)
{
    return !relay->listens && same(&relay->sessions[0].far, far);
}

// The session of a far address, made at its first datagram. Linear: impairment is for tests and
// trials.
static session *session_of(foliot__relay *relay, const struct sockaddr_in *far)
{
    for (uint32_t i = 0; i < relay->session_count; i++)
        if (same(&relay->sessions[i].far, far))
            return &relay->sessions[i];
    if (relay->session_count == FOLIOT__RELAY_SESSIONS_MAX)
        return NULL;
    session *s = &relay->sessions[relay->session_count];
    *s = (session){.near_fd = open_socket(any_loopback()),
                   .far_fd = relay->shared_fd,
                   .near = relay->near,
                   .far = *far};
    if (s->near_fd < 0 || !watch(relay, s->near_fd))
        return NULL;
    relay->session_count++;
    return s;
}

static void receive_from(foliot__relay *relay, int fd, session *s, bool inward, uint64_t now_ns)
{
    uint8_t bytes[DATAGRAM_BYTES_MAX];
    for (;;) {
        struct sockaddr_in from;
        socklen_t from_bytes = sizeof from;
        ssize_t length =
            recvfrom(fd, bytes, sizeof bytes, 0, (struct sockaddr *)&from, &from_bytes);
        if (length < 0)
            return;
        session *to = s ? s : session_of(relay, &from);
        if (!to)
            continue;
        if (!inward && !relay->listens)
            to->near = from; // the client's ENet shows its port with the first datagram
        foliot__link *link = inward ? &relay->inward : &relay->outward;
        if (foliot__link_push(link, now_ns, (uint64_t)(to - relay->sessions), bytes,
                              (size_t)length) != FOLIOT_STATUS_OK)
            link->counters->packets_lost++; // no memory: as a network loses one
    }
}

static void send_due(foliot__relay *relay, foliot__link *link, bool inward, uint64_t now_ns)
{
    foliot__packet packet;
    while (foliot__link_pop(link, now_ns, &packet)) {
        const session *s = &relay->sessions[packet.tag];
        const struct sockaddr_in *to = inward ? &s->near : &s->far;
        // What the socket does not take is lost, as on any network.
        (void)!sendto(inward ? s->near_fd : s->far_fd, packet.bytes, packet.length, 0,
                      (const struct sockaddr *)to, sizeof *to);
        free(packet.bytes);
    }
}

void foliot__relay_pump(foliot__relay *relay, uint64_t now_ns)
{
    receive_from(relay, relay->shared_fd, relay->listens ? NULL : &relay->sessions[0],
                 relay->listens, now_ns);
    for (uint32_t i = 0; i < relay->session_count; i++) {
        session *s = &relay->sessions[i];
        receive_from(relay, relay->listens ? s->near_fd : s->far_fd, s, !relay->listens, now_ns);
    }
    send_due(relay, &relay->outward, false, now_ns);
    send_due(relay, &relay->inward, true, now_ns);
}

void foliot__relay_drain(foliot__relay *relay, uint64_t now_ns)
{
    foliot__relay_pump(relay, now_ns);
    send_due(relay, &relay->outward, false, UINT64_MAX);
}

uint64_t foliot__relay_wake_ns(const foliot__relay *relay)
{
    uint64_t out = foliot__link_next_ns(&relay->outward), in = foliot__link_next_ns(&relay->inward);
    return out < in ? out : in;
}

int foliot__relay_descriptor(const foliot__relay *relay)
{
    return relay->epoll_fd;
}

struct sockaddr_in foliot__relay_address(const foliot__relay *relay)
{
    return relay->address;
}
