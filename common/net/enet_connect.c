// SPDX-License-Identifier: MIT
// enet_connect.c: how a connection begins. A client asks for a cookie, opens the connection with it
// and connects ENet; a host gives up connections that ENet never completed.
#include "net/enet_internal.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/assert.h"

#define FOLIOT__HOST_BYTES 256
#define HELLO_EVERY_NS 20000000u // hellos are small, and a lost one costs a whole interval
#define HEAD_START_NS 250000000u // RFC 8305, section 5: of one address before the other
#define REFUSED_NS 250000000u    // a refusal is not authenticated: the real host may still answer
#define EARLY_NS 5000000000u     // how long a host waits for ENet to connect

void foliot__enet_set_clock(enet_transport *t, uint64_t now_ns)
{
    // ENet takes milliseconds from the wall clock; this sets it to the monotonic clock each time.
    if (now_ns == t->now_ns)
        return;
    t->now_ns = now_ns;
    enet_time_set((enet_uint32)(now_ns / 1000000u));
}

// The first address of each family, in the system's order (RFC 6724), which puts a family last that
// the machine has no route for. Returns how many.
static uint32_t look_up(const char *name, int family, uint16_t port, foliot__net_address address[2])
{
    struct addrinfo hints = {.ai_family = family, .ai_socktype = SOCK_DGRAM}, *found;
    foliot__socket_address one;
    uint32_t count = 0;
    if (getaddrinfo(name, NULL, &hints, &found) != 0)
        return 0;
    for (const struct addrinfo *at = found; at && count < 2; at = at->ai_next) {
        if (at->ai_family != AF_INET && at->ai_family != AF_INET6)
            continue;
        memcpy(&one, at->ai_addr, at->ai_addrlen < sizeof one ? at->ai_addrlen : sizeof one);
        address[count] = foliot__net_address_of_socket(&one);
        address[count].port = port;
        count += count == 0 ||
                 foliot__net_address_is_ip4(&address[0]) != foliot__net_address_is_ip4(&address[1]);
    }
    freeaddrinfo(found);
    return count;
}

// An address needs no lookup. A name in brackets stands for its IPv6 address.
static uint32_t resolve(const char *name, uint16_t port, foliot__net_address address[2])
{
    char inner[FOLIOT__HOST_BYTES];
    size_t length = strlen(name);
    bool bracketed = length > 2 && name[0] == '[' && name[length - 1] == ']';
    if (bracketed && length - 2 < sizeof inner) {
        memcpy(inner, name + 1, length - 2);
        inner[length - 2] = 0;
        if (foliot__net_address_read(inner, port, address) && !foliot__net_address_is_ip4(address))
            return 1;
        return look_up(inner, AF_INET6, port, address);
    }
    if (foliot__net_address_read(name, port, address))
        return 1;
    return look_up(name, AF_UNSPEC, port, address);
}

foliot_status foliot__enet_watch_proxy(enet_transport *t)
{
    struct epoll_event event = {.events = EPOLLIN};
    t->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (t->epoll_fd < 0 ||
        epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, (int)t->host->socket, &event) != 0 ||
        epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, foliot__impairment_proxy_descriptor(t->proxy),
                  &event) != 0)
        return FOLIOT_STATUS_IO;
    return FOLIOT_STATUS_OK;
}

bool foliot__enet_impaired(const enet_transport *t)
{
    return !foliot__impairment_none(&t->head.config.send) ||
           !foliot__impairment_none(&t->head.config.receive);
}

// The first connection creates the proxy. Later ones to the same address use it again.
static foliot_status connect_through_proxy(enet_transport *t, foliot__net_address *address)
{
    foliot_status status = FOLIOT_STATUS_OK;
    if (t->proxy && !foliot__impairment_proxy_leads_to(t->proxy, address))
        return FOLIOT_STATUS_UNSUPPORTED;
    if (!t->proxy) {
        status = foliot__impairment_proxy_connect(
            address, &t->head.config.send, &t->head.config.receive, &t->head.counters, &t->proxy);
        if (status == FOLIOT_STATUS_OK)
            status = foliot__enet_watch_proxy(t);
    }
    if (status == FOLIOT_STATUS_OK)
        *address = foliot__impairment_proxy_address(t->proxy);
    return status;
}

// Keeps of two addresses only the one of IPv4, or of IPv6.
static void keep_one(foliot__net_address address[2], uint32_t *count, bool four)
{
    if (*count == 2 && foliot__net_address_is_ip4(&address[1]) == four)
        address[0] = address[1];
    *count = 1;
}

static foliot_status choose_addresses(enet_transport *t, foliot__net_address address[2],
                                      uint32_t *count)
{
    if (!foliot__enet_impaired(t)) {
        // The first connection chooses the socket: IPv4 alone, or both families.
        // Addresses that it cannot reach are left out.
        foliot__net_address any = {.port = 0};
        bool four = false, six = false;
        for (uint32_t i = 0; i < *count; i++) {
            four = four || foliot__net_address_is_ip4(&address[i]);
            six = six || !foliot__net_address_is_ip4(&address[i]);
        }
        if (t->six || !six)
            return FOLIOT_STATUS_OK;
        foliot_status status =
            t->slots_used > 0 ? FOLIOT_STATUS_UNSUPPORTED : foliot__six_open(t, &any);
        if (status == FOLIOT_STATUS_OK || !four)
            return status;
        keep_one(address, count, true);
        return FOLIOT_STATUS_OK;
    }
    keep_one(address, count, true); // the proxy leads to one
    return connect_through_proxy(t, address);
}

foliot_status foliot__enet_connect(foliot_transport *transport, const char *host, uint16_t port,
                                   uint64_t now_ns, foliot_peer_id *peer)
{
    enet_transport *t = (enet_transport *)transport;
    foliot__net_address address[2];
    foliot__enet_set_clock(t, now_ns);
    uint32_t count = resolve(host, port, address);
    if (count == 0)
        return FOLIOT_STATUS_NOT_FOUND;
    foliot_status status = choose_addresses(t, address, &count);
    if (status != FOLIOT_STATUS_OK)
        return status;
    slot *s = foliot__slot_reserve(t);
    if (!s)
        return FOLIOT_STATUS_FULL;
    foliot__system_random(NULL, &s->seed, sizeof s->seed);
    // Finds the connect id that ENet derives from the slot's seed. Versions of ENet derive it
    // differently, so a connection is begun and reset before anything is sent.
    const ENetAddress nobody = {.host = htonl(INADDR_LOOPBACK), .port = 1};
    t->host->randomSeed = s->seed;
    ENetPeer *its_peer = enet_host_connect(t->host, &nobody, FOLIOT__CHANNELS, 0);
    if (!its_peer)
        return FOLIOT_STATUS_FULL;
    foliot__slot_set_connect_id(t, s, its_peer->connectID);
    enet_peer_reset(its_peer); // before anything was sent
    s->state = SLOT_ASKING;
    s->address = address[0];
    s->opening.asked_ns = s->began_ns;
    s->opening.has_other = count == 2;
    if (s->opening.has_other)
        s->opening.other = address[1];
    *peer = foliot__slot_id(t, s);
    return FOLIOT_STATUS_OK;
}

// Repeats the request for a cookie, or the opening: either may be lost.
static void advance_connect(enet_transport *t, slot *s)
{
    bool due = s->opening.hello_ns == 0 || t->now_ns - s->opening.hello_ns >= HELLO_EVERY_NS;
    if (s->opening.refused)
        return;
    if (s->state == SLOT_CONNECTING && due) {
        foliot__send_opening(t, s);
    } else if (s->state == SLOT_ASKING && s->opening.has_cookie) {
        // The cookie opens the connection at the host just before ENet's connect arrives.
        t->host->randomSeed = s->seed;
        ENetAddress at = {.host = foliot__net_address_get_ip4(&s->address),
                          .port = s->address.port};
        if (t->six)
            at = foliot__six_alias(t, s);
        s->peer = enet_host_connect(t->host, &at, FOLIOT__CHANNELS, 0);
        t->service.unsent = true;
        if (s->peer) {
            FOLIOT_ASSERT(s->peer->connectID == s->connect_id);
            s->peer->data = s;
            foliot__slot_set(t, s, SLOT_CONNECTING);
            foliot__expect_round_trip(s->peer);
            enet_peer_timeout(s->peer, 0, t->head.config.timeout_ms, t->head.config.timeout_ms);
            foliot__send_opening(t, s);
            foliot__inbox_push(&t->inbox, foliot__slot_id(t, s), NULL, 0, t->now_ns);
        }
    } else if (s->state == SLOT_ASKING && due) {
        // Both address families of a name are tried, the first with a head start (Happy Eyeballs,
        // RFC 8305), unless there is no route at all. A question is enough to see which one
        // answers: the host keeps no state for it.
        uint8_t question[FOLIOT__SECURE_QUESTION_BYTES] = {0};
        bool keys = foliot__enet_needs_keys(t);
        size_t length = keys ? sizeof question : FOLIOT__QUESTION_BYTES;
        memcpy(question, keys ? FOLIOT__SECURE_QUESTION_MARK : FOLIOT__QUESTION_MARK, 8);
        memcpy(question + 8, &s->connect_id, 4);
        bool leads = foliot__send_raw(t, &s->address, question, length);
        if (s->opening.has_other && (!leads || t->now_ns - s->began_ns >= HEAD_START_NS)) {
            s->opening.other_ns = s->opening.other_ns ? s->opening.other_ns : t->now_ns;
            (void)foliot__send_raw(t, &s->opening.other, question, length);
        }
        s->opening.hello_ns = t->now_ns;
    }
}

// A slot that timed out, or was refused, becomes an event.
bool foliot__enet_advance_connects(enet_transport *t, foliot_transport_event *event)
{
    uint64_t timeout_ns = (uint64_t)t->head.config.timeout_ms * 1000000u;
    for (uint32_t i = 0; !t->head.config.bind && i < t->head.config.peers_max; i++) {
        slot *s = &t->slots[i];
        if (s->state != SLOT_ASKING && s->state != SLOT_CONNECTING)
            continue;
        // An open connection takes no refusal, nor does one whose host may still open it.
        bool refused;
        if (!s->opening.refused || !foliot__enet_needs_keys(t))
            refused = s->opening.refused;
        else
            refused = !(s->secure && s->secure->confirmed) &&
                      t->now_ns - s->opening.refused_ns >= REFUSED_NS;
        if (refused && t->secure)
            foliot__secure_refused(t->secure, s->reason);
        if (refused || (s->state == SLOT_ASKING && t->now_ns - s->began_ns >= timeout_ns)) {
            *event = (foliot_transport_event){
                .kind = FOLIOT_TRANSPORT_DISCONNECTED,
                .peer = foliot__slot_id(t, s),
                .reason = (refused ? s->reason : FOLIOT_DISCONNECT_TIMEOUT)};
            if (s->peer) {
                s->peer->data = NULL;
                enet_peer_reset(s->peer);
            }
            foliot__slot_set(t, s, SLOT_FREE);
            return true;
        }
        advance_connect(t, s);
    }
    return false;
}

// Frees host slots that ENet never connected.
bool foliot__enet_expire_early(enet_transport *t, foliot_transport_event *event)
{
    for (uint32_t i = 0; t->early_slots > 0 && i < t->head.config.peers_max; i++) {
        slot *s = &t->slots[i];
        bool early = s->state == SLOT_EARLY;
        if ((!early && s->state != SLOT_CLOSING) || t->now_ns - s->began_ns < EARLY_NS)
            continue;
        foliot__slot_set(t, s, SLOT_FREE);
        *event = (foliot_transport_event){.kind = FOLIOT_TRANSPORT_DISCONNECTED,
                                          .peer = foliot__slot_id(t, s),
                                          .reason = FOLIOT_DISCONNECT_TIMEOUT};
        if (early)
            return true;
    }
    return false;
}
