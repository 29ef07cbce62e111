// SPDX-License-Identifier: MIT
// enet_six.c: IPv6 for an ENet that knows IPv4 only. ENet's socket is replaced by one end of a
// pair. ENet's sends fail with EAGAIN because the pair's buffer is kept full; the datagram has
// already been sent to the real address. Datagrams from the network are inspected first, and ENet's
// own are passed to it through the other end. ENet sees an alias in place of each address: the
// number of the slot, and of its use.
#include "net/enet_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"

#define BATCH 32u
#define DATAGRAMS_A_READ 4096u // a flood must not hold the loop: the socket keeps the rest
#define WAITING_MAX 4096u      // datagrams for ENet; beyond, the socket is not read
#define ALIAS_BYTES 8u // before each datagram for ENet: host and port of the alias, and zeros
#define ALIAS_HOST 0xf0000000u // addresses that nobody has (RFC 1112, class E)
#define ALIAS_HOST_MASK 0x00ffffffu

// A peer of ENet's may outlive its slot while it disconnects.
typedef struct real_address {
    ENetAddress alias;
    foliot__net_address address;
} real_address;

struct foliot__six {
    int feed; // ENet receives what is written here
    uint64_t read_ns;
    real_address *real; // of ENet's peers, by their index
    foliot__inbox waiting;
    struct mmsghdr messages[BATCH];
    struct iovec parts[BATCH];
    foliot__socket_address from[BATCH];
    uint8_t bytes[BATCH][FOLIOT__SEALED_BYTES_MAX];
};

// -- sockets

static foliot_status why_not_bound(void)
{
    return errno == EADDRNOTAVAIL || errno == EAFNOSUPPORT || errno == ENODEV
               ? FOLIOT_STATUS_NOT_FOUND
           : errno == EACCES     ? FOLIOT_STATUS_REFUSED
           : errno == EADDRINUSE ? FOLIOT_STATUS_BUSY
                                 : FOLIOT_STATUS_AGAIN;
}

// The network's socket gets the descriptor number of ENet's, which may have been given out.
static foliot_status open_network(enet_transport *t, const foliot__net_address *address)
{
    foliot__socket_address at;
    socklen_t bytes = foliot__net_address_to_socket(address, &at);
    int only = t->head.config.bind != NULL,
        fd = socket(AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return why_not_bound();
    foliot_status status = FOLIOT_STATUS_OK;
    if (setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only) != 0 ||
        bind(fd, &at.any, bytes) != 0 || getsockname(fd, &at.any, &bytes) != 0)
        status = why_not_bound();
    else
        t->host->address.port = ntohs(at.six.sin6_port);
    if (status == FOLIOT_STATUS_OK && dup3(fd, t->socket, O_CLOEXEC) < 0)
        status = FOLIOT_STATUS_IO;
    close(fd);
    return status;
}

// Fills the buffer from ENet, which nobody reads. It sends with an address, as ENet does: false if
// the system honours the address or returns any error but EAGAIN.
static bool fill(int fd)
{
    struct sockaddr_in nobody = {.sin_family = AF_INET};
    struct iovec part = {(void *)"", 1};
    const struct msghdr message = {
        .msg_name = &nobody, .msg_namelen = sizeof nobody, .msg_iov = &part, .msg_iovlen = 1};
    for (int i = 0; i < 65536; i++)
        if (sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            return errno == EAGAIN;
    return false;
}

foliot_status foliot__six_open(enet_transport *t, const foliot__net_address *address)
{
    int ends[2], small = 1;
    foliot__six *six = calloc(1, sizeof *six);
    real_address *real = calloc(t->host->peerCount, sizeof *real);
    foliot_status status = six && real ? FOLIOT_STATUS_OK : FOLIOT_STATUS_MEMORY;
    if (status == FOLIOT_STATUS_OK &&
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
        status = FOLIOT_STATUS_IO;
    if (status != FOLIOT_STATUS_OK) {
        free(six);
        free(real);
        return status;
    }
    setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    status = fill(ends[0]) ? open_network(t, address) : FOLIOT_STATUS_UNSUPPORTED;
    if (status != FOLIOT_STATUS_OK) {
        close(ends[0]);
        close(ends[1]);
        free(six);
        free(real);
        return status;
    }
    t->host->socket = ends[0];
    six->feed = ends[1];
    six->real = real;
    t->six = six;
    return FOLIOT_STATUS_OK;
}

void foliot__six_close(enet_transport *t)
{
    if (!t->six)
        return;
    close(t->socket);
    close(t->six->feed);
    foliot__inbox_close(&t->six->waiting);
    free(t->six->real);
    free(t->six);
    t->six = NULL;
}

// -- aliases

ENetAddress foliot__six_alias(const enet_transport *t, const slot *s)
{
    return (ENetAddress){.host = ALIAS_HOST | (uint32_t)(s - t->slots),
                         .port = (enet_uint16)s->generation};
}

slot *foliot__six_slot(enet_transport *t, const ENetAddress *alias)
{
    uint32_t index = alias->host & ALIAS_HOST_MASK;
    if (index >= t->head.config.peers_max)
        return NULL;
    slot *s = &t->slots[index];
    return (enet_uint16)s->generation == alias->port ? s : NULL;
}

// The real address is learned while the slot exists: ENet sends something as soon as it has a peer.
// NULL: unknown.
static foliot__net_address *real_of(enet_transport *t, const ENetPeer *peer)
{
    real_address *real = &t->six->real[peer - t->host->peers];
    const slot *s = foliot__six_slot(t, &peer->address);
    if (peer->address.host == 0)
        return NULL;
    if (real->alias.host != peer->address.host || real->alias.port != peer->address.port) {
        if (!s)
            return NULL;
        *real = (real_address){peer->address, s->address};
    }
    return &real->address;
}

void foliot__six_moved(enet_transport *t, const slot *s)
{
    foliot__net_address *real = s->peer ? real_of(t, s->peer) : NULL;
    if (real)
        *real = s->address;
}

// -- what comes

static ENetPeer *peer_by_connection(const enet_transport *t, uint32_t connection)
{
    for (size_t i = 0; i < t->host->peerCount; i++)
        if (t->host->peers[i].state != ENET_PEER_STATE_DISCONNECTED &&
            t->host->peers[i].connectID == connection)
            return &t->host->peers[i];
    return NULL;
}

// Whether an address has its limit of ENet peers, including those that disconnect.
static bool has_too_many(enet_transport *t, const foliot__net_address *from)
{
    uint64_t host = foliot__net_address_host_key(from);
    uint32_t count = 0;
    for (size_t i = 0; i < t->host->peerCount; i++) {
        const ENetPeer *peer = &t->host->peers[i];
        const foliot__net_address *real =
            peer->state == ENET_PEER_STATE_DISCONNECTED ? NULL : real_of(t, peer);
        count += real && foliot__net_address_host_key(real) == host;
    }
    return count >= t->admission.per_address_max;
}

// The alias that ENet gets for the sender of a datagram; false: the datagram is dropped. It has
// passed the filter: its sender knows the connect id.
static bool alias_of(enet_transport *t, const foliot__net_address *from, const uint8_t *bytes,
                     size_t length, ENetAddress *alias)
{
    int32_t index = foliot__packet_filter_peer(bytes, length);
    if (index < 0) { // a connect, which may have come before
        uint32_t connection = foliot__enet_connection_of(bytes, length, 0);
        const ENetPeer *peer = peer_by_connection(t, connection);
        const slot *s = foliot__slot_by_connection(t, from, connection);
        if (peer)
            *alias = peer->address;
        else if (s && !has_too_many(t, from))
            *alias = foliot__six_alias(t, s);
        return peer || s;
    }
    const ENetPeer *peer = &t->host->peers[index];
    const foliot__net_address *real = real_of(t, peer);
    *alias = peer->address;
    return real && foliot__net_address_same(real, from);
}

static void receive(enet_transport *t, foliot__six_taker *take_datagram,
                    const foliot__socket_address *socket, const uint8_t *bytes, size_t length)
{
    uint8_t fed[ALIAS_BYTES + FOLIOT__SEALED_BYTES_MAX] = {0};
    ENetAddress alias = {0};
    foliot__net_address from = foliot__net_address_of_socket(socket);
    const uint8_t *left = take_datagram(t, &from, bytes, &length);
    if (!left)
        return;
    if (!alias_of(t, &from, left, length, &alias) || alias.host == 0) {
        t->head.counters.datagrams_dropped_unproven++;
        return;
    }
    memcpy(fed, &alias.host, 4);
    memcpy(fed + 4, &alias.port, 2);
    memcpy(fed + ALIAS_BYTES, left, length);
    // Without memory it is lost, as on any network.
    (void)foliot__inbox_push(&t->six->waiting, (foliot_peer_id){0}, fed, length + ALIAS_BYTES,
                             t->now_ns);
}

static int read_batch(enet_transport *t, foliot__six_taker *take_datagram)
{
    foliot__six *six = t->six;
    for (uint32_t i = 0; i < BATCH; i++) {
        six->parts[i] = (struct iovec){six->bytes[i], sizeof six->bytes[i]};
        six->messages[i].msg_hdr = (struct msghdr){.msg_name = &six->from[i],
                                                   .msg_namelen = sizeof six->from[i],
                                                   .msg_iov = &six->parts[i],
                                                   .msg_iovlen = 1};
    }
    int got = recvmmsg(t->socket, six->messages, BATCH, MSG_DONTWAIT, NULL);
    for (int i = 0; i < got; i++) {
        const struct msghdr *head = &six->messages[i].msg_hdr;
        if (head->msg_flags & MSG_TRUNC)
            t->head.counters.datagrams_dropped_malformed++;
        else if (head->msg_namelen >= sizeof six->from[i].six && six->messages[i].msg_len > 0)
            receive(t, take_datagram, &six->from[i], six->bytes[i], six->messages[i].msg_len);
    }
    return got;
}

void foliot__six_read(enet_transport *t, foliot__six_taker *take_datagram)
{
    foliot__six *six = t->six;
    if (six->read_ns == t->now_ns)
        return;
    six->read_ns = t->now_ns;
    for (uint32_t all = 0; all < DATAGRAMS_A_READ;) {
        int got = six->waiting.count - six->waiting.first < WAITING_MAX
                      ? read_batch(t, take_datagram)
                      : 0;
        if (got < (int)BATCH)
            return;
        all += BATCH;
    }
}

bool foliot__six_waits(const enet_transport *t)
{
    return t->six->waiting.first < t->six->waiting.count;
}

bool foliot__six_feed(enet_transport *t)
{
    foliot__inbox *waiting = &t->six->waiting;
    bool fed = false;
    while (foliot__six_waits(t)) {
        const foliot__inbox_entry *first = &waiting->entries[waiting->first];
        if (send(t->six->feed, waiting->bytes + first->at, first->length,
                 MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
            return fed;
        fed = true;
        waiting->first++;
    }
    return fed;
}

void foliot__six_unwrap(enet_transport *t)
{
    ENetHost *host = t->host;
    FOLIOT_ASSERT(host->receivedDataLength > ALIAS_BYTES); // nobody else writes there
    memcpy(&host->receivedAddress.host, host->receivedData, 4);
    memcpy(&host->receivedAddress.port, host->receivedData + 4, 2);
    host->receivedData += ALIAS_BYTES;
    host->receivedDataLength -= ALIAS_BYTES;
}

// -- what leaves

void foliot__six_send(enet_transport *t, const uint8_t *bytes, size_t length, uint32_t connection)
{
    ENetHost *host = t->host;
    const foliot__secure_peer *keys = t->secure ? foliot__secure_find(t->secure, connection) : NULL;
    const ENetPeer *peer = keys ? NULL : peer_by_connection(t, connection);
    const foliot__net_address *to = keys ? &keys->address : peer ? real_of(t, peer) : NULL;
    if (host->bufferCount == 1 && host->buffers[0].data == t->sealed) { // sealed in the meantime
        bytes = t->sealed;
        length = host->buffers[0].dataLength;
    }
    if (to && length > 0)
        foliot__send_raw(t, to, bytes, length);
    host->buffers[0] = (ENetBuffer){.data = t->sealed, .dataLength = 0};
    host->bufferCount = 1;
}
