// SPDX-License-Identifier: MIT
// impairment_proxy.c: sessions of two sockets, with a link each way. "Near" is ENet's side, "far"
// the network's.
#include "net/enet_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define DATAGRAM_BYTES_MAX 4096

typedef struct session {
    int near_fd, far_fd; // one of them is the proxy's shared one
    struct sockaddr_in near;
    foliot__net_address far;
} session;

struct foliot__impairment_proxy {
    bool listens;
    int shared_fd, epoll_fd;
    foliot__socket_address address; // of shared_fd
    struct sockaddr_in near;        // ENet's, where it is known beforehand
    foliot__impaired_link outward, inward;
    session sessions[FOLIOT__PROXY_SESSIONS_MAX];
    uint32_t session_count;
};

static int open_socket(const foliot__net_address *bind_to)
{
    foliot__socket_address at;
    socklen_t at_bytes = foliot__net_address_to_socket(bind_to, &at);
    int fd = socket(at.any.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int bytes = 1 << 20, on = 1;
    if (fd < 0)
        return -1;
    if (at.any.sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    if (bind(fd, &at.any, at_bytes) == 0)
        return fd;
    close(fd);
    return -1;
}

static bool watch(foliot__impairment_proxy *proxy, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};
    return epoll_ctl(proxy->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static foliot_status open_relay(const foliot__net_address *address, const foliot_impairment *send,
                                const foliot_impairment *receive,
                                foliot_transport_counters *counters, foliot__impairment_proxy **out)
{
    foliot__impairment_proxy *proxy = calloc(1, sizeof *proxy);
    if (!proxy)
        return FOLIOT_STATUS_MEMORY;
    proxy->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    proxy->shared_fd = open_socket(address);
    foliot_impairment inward = *receive;
    inward.seed ^= 0x5deece66du; // two directions of one seed are not the same stream
    foliot__impaired_link_init(&proxy->outward, send, counters);
    foliot__impaired_link_init(&proxy->inward, &inward, counters);
    if (proxy->epoll_fd < 0 || proxy->shared_fd < 0 || !watch(proxy, proxy->shared_fd)) {
        foliot_status status = errno == EADDRINUSE ? FOLIOT_STATUS_BUSY : FOLIOT_STATUS_IO;
        foliot__impairment_proxy_close(proxy);
        return status;
    }
    socklen_t length = sizeof proxy->address;
    getsockname(proxy->shared_fd, &proxy->address.any, &length);
    *out = proxy;
    return FOLIOT_STATUS_OK;
}

// Where ENet is.
static foliot__net_address any_loopback(void)
{
    return foliot__net_address_of_ip4(htonl(INADDR_LOOPBACK), 0);
}

foliot_status foliot__impairment_proxy_listen(const foliot__net_address *public_address,
                                              const struct sockaddr_in *near,
                                              const foliot_impairment *send,
                                              const foliot_impairment *receive,
                                              foliot_transport_counters *counters,
                                              foliot__impairment_proxy **proxy)
{
    foliot_status status = open_relay(public_address, send, receive, counters, proxy);
    if (status != FOLIOT_STATUS_OK)
        return status;
    (*proxy)->listens = true;
    (*proxy)->near = *near;
    return FOLIOT_STATUS_OK;
}

foliot_status foliot__impairment_proxy_connect(const foliot__net_address *far,
                                               const foliot_impairment *send,
                                               const foliot_impairment *receive,
                                               foliot_transport_counters *counters,
                                               foliot__impairment_proxy **proxy)
{
    foliot__net_address near = any_loopback(), any = {.port = 0};
    foliot_status status = open_relay(&near, send, receive, counters, proxy);
    if (status != FOLIOT_STATUS_OK)
        return status;
    if (foliot__net_address_is_ip4(far))
        any = foliot__net_address_of_ip4(htonl(INADDR_ANY), 0);
    session *s = &(*proxy)->sessions[0];
    *s = (session){.near_fd = (*proxy)->shared_fd, .far_fd = open_socket(&any), .far = *far};
    (*proxy)->session_count = 1;
    if (s->far_fd >= 0 && watch(*proxy, s->far_fd))
        return FOLIOT_STATUS_OK;
    foliot__impairment_proxy_close(*proxy);
    return FOLIOT_STATUS_IO;
}

void foliot__impairment_proxy_close(foliot__impairment_proxy *proxy)
{
    if (!proxy)
        return;
    for (uint32_t i = 0; i < proxy->session_count; i++) {
        int own = proxy->listens ? proxy->sessions[i].near_fd : proxy->sessions[i].far_fd;
        if (own >= 0)
            close(own);
    }
    if (proxy->shared_fd >= 0)
        close(proxy->shared_fd);
    if (proxy->epoll_fd >= 0)
        close(proxy->epoll_fd);
    foliot__impaired_link_close(&proxy->outward);
    foliot__impaired_link_close(&proxy->inward);
    free(proxy);
}

bool foliot__impairment_proxy_leads_to(const foliot__impairment_proxy *proxy,
                                       const foliot__net_address *far)
{
    return !proxy->listens && foliot__net_address_same(&proxy->sessions[0].far, far);
}

// The session of a far address, made at its first datagram. Linear: impairment is for tests and
// trials.
static session *session_of(foliot__impairment_proxy *proxy, const foliot__net_address *far)
{
    for (uint32_t i = 0; i < proxy->session_count; i++)
        if (foliot__net_address_same(&proxy->sessions[i].far, far))
            return &proxy->sessions[i];
    if (proxy->session_count == FOLIOT__PROXY_SESSIONS_MAX)
        return NULL;
    session *s = &proxy->sessions[proxy->session_count];
    foliot__net_address loopback = any_loopback();
    *s = (session){.near_fd = open_socket(&loopback),
                   .far_fd = proxy->shared_fd,
                   .near = proxy->near,
                   .far = *far};
    if (s->near_fd < 0 || !watch(proxy, s->near_fd))
        return NULL;
    proxy->session_count++;
    return s;
}

static void receive_from(foliot__impairment_proxy *proxy, int fd, session *s, bool inward,
                         uint64_t now_ns)
{
    uint8_t bytes[DATAGRAM_BYTES_MAX];
    for (;;) {
        foliot__socket_address from;
        socklen_t from_bytes = sizeof from;
        ssize_t length = recvfrom(fd, bytes, sizeof bytes, 0, &from.any, &from_bytes);
        if (length < 0)
            return;
        foliot__net_address far = foliot__net_address_of_socket(&from);
        session *to = s ? s : session_of(proxy, &far);
        if (!to)
            continue;
        if (!inward && !proxy->listens)
            to->near = from.four; // the client's ENet shows its port with the first datagram
        foliot__impaired_link *link = inward ? &proxy->inward : &proxy->outward;
        double mtu = link->impairment.mtu_bytes;
        if (mtu > 0 && (double)length > mtu)
            link->counters->packets_lost++;
        else if (foliot__impaired_link_push(link, now_ns, (uint64_t)(to - proxy->sessions), bytes,
                                            (size_t)length) != FOLIOT_STATUS_OK)
            link->counters->packets_lost++; // no memory: as a network loses one
    }
}

static void send_due(foliot__impairment_proxy *proxy, foliot__impaired_link *link, bool inward,
                     uint64_t now_ns)
{
    foliot__packet packet;
    while (foliot__impaired_link_pop(link, now_ns, &packet)) {
        const session *s = &proxy->sessions[packet.tag];
        foliot__socket_address to = {.four = s->near};
        socklen_t to_bytes = inward ? sizeof to.four : foliot__net_address_to_socket(&s->far, &to);
        // A datagram that the socket does not accept is lost, as on any network.
        (void)!sendto(inward ? s->near_fd : s->far_fd, packet.bytes, packet.length, 0, &to.any,
                      to_bytes);
        free(packet.bytes);
    }
}

void foliot__impairment_proxy_pump(foliot__impairment_proxy *proxy, uint64_t now_ns)
{
    receive_from(proxy, proxy->shared_fd, proxy->listens ? NULL : &proxy->sessions[0],
                 proxy->listens, now_ns);
    for (uint32_t i = 0; i < proxy->session_count; i++) {
        session *s = &proxy->sessions[i];
        receive_from(proxy, proxy->listens ? s->near_fd : s->far_fd, s, !proxy->listens, now_ns);
    }
    send_due(proxy, &proxy->outward, false, now_ns);
    send_due(proxy, &proxy->inward, true, now_ns);
}

void foliot__impairment_proxy_drain(foliot__impairment_proxy *proxy, uint64_t now_ns)
{
    foliot__impairment_proxy_pump(proxy, now_ns);
    send_due(proxy, &proxy->outward, false, UINT64_MAX);
}

uint64_t foliot__impairment_proxy_wake_ns(const foliot__impairment_proxy *proxy)
{
    uint64_t out = foliot__impaired_link_next_ns(&proxy->outward),
             in = foliot__impaired_link_next_ns(&proxy->inward);
    return out < in ? out : in;
}

int foliot__impairment_proxy_descriptor(const foliot__impairment_proxy *proxy)
{
    return proxy->epoll_fd;
}

foliot__net_address foliot__impairment_proxy_address(const foliot__impairment_proxy *proxy)
{
    return foliot__net_address_of_socket(&proxy->address);
}
