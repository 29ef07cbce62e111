// SPDX-License-Identifier: MIT
// enet_internal.h: shared by the files of the transport over ENet. enet_slots.c: connections.
// enet_socket.c: single datagrams past ENet. enet_six.c: IPv6, which ENet does not know.
// enet_filter.c: datagrams before ENet sees them. enet_secure.c: the same for sealed ones, and how
// ENet's own are sealed. enet_connect.c, enet_send.c, enet_transport.c: the transport.
#ifndef FOLIOT_NET_ENET_INTERNAL_H
#define FOLIOT_NET_ENET_INTERNAL_H

#include <enet/enet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/address.h"
#include "net/admission.h"
#include "net/link.h"
#include "net/packet_filter.h"
#include "net/path_mtu.h"
#include "net/raw_datagram.h"
#include "net/secure.h"
#include "net/transport.h"

// -- impairment_proxy.c

// An impaired network between ENet's socket and the real one, datagram by
// datagram and in both directions, so that ENet's own handshakes, acknowledgements and resends
// suffer too.

#define FOLIOT__PROXY_SESSIONS_MAX 1024 // far addresses at once

typedef struct foliot__impairment_proxy foliot__impairment_proxy;

// In front of a host: datagrams to `public_address` go to ENet at `near` (loopback), each far
// address through a separate socket. FOLIOT_STATUS_BUSY: the port is in use.
foliot_status foliot__impairment_proxy_listen(const foliot__net_address *public_address,
                                              const struct sockaddr_in *near,
                                              const foliot_impairment *send,
                                              const foliot_impairment *receive,
                                              foliot_transport_counters *counters,
                                              foliot__impairment_proxy **proxy);
// In front of a client: ENet connects to foliot__impairment_proxy_address, datagrams go to `far`.
foliot_status foliot__impairment_proxy_connect(const foliot__net_address *far,
                                               const foliot_impairment *send,
                                               const foliot_impairment *receive,
                                               foliot_transport_counters *counters,
                                               foliot__impairment_proxy **proxy);
bool foliot__impairment_proxy_leads_to(const foliot__impairment_proxy *proxy,
                                       const foliot__net_address *far);
void foliot__impairment_proxy_close(foliot__impairment_proxy *proxy);
// Sends on what ENet gave so far, due or not: for the last words before an end.
void foliot__impairment_proxy_drain(foliot__impairment_proxy *proxy, uint64_t now_ns);
// Moves whatever has arrived and is due.
void foliot__impairment_proxy_pump(foliot__impairment_proxy *proxy, uint64_t now_ns);
uint64_t foliot__impairment_proxy_wake_ns(const foliot__impairment_proxy *proxy);
int foliot__impairment_proxy_descriptor(
    const foliot__impairment_proxy *proxy); // readable when there is something to pump
foliot__net_address foliot__impairment_proxy_address(const foliot__impairment_proxy *proxy);

// -- batched_socket.c

// Datagrams that can wait, read many at a time: a second socket on a host's port, into which the
// kernel sorts the datagrams that begin with one of two marks. It never causes a wake-up. Inputs
// take effect when their tick is closed: reading them sooner gains nothing, and a wake-up for each
// costs more than processing it.

typedef struct foliot__batched_socket foliot__batched_socket;

// `arrived_ns`: at most now_ns, by the kernel's account.
typedef void foliot__batch_receiver(void *user, const foliot__net_address *from,
                                    const uint8_t *bytes, size_t length, uint64_t arrived_ns);

// Opens the second socket of a bound socket. NULL if the system does not support it: then all
// datagrams arrive at the bound socket.
foliot__batched_socket *foliot__batched_socket_open(int host_fd, uint8_t mark, uint8_t other_mark);
void foliot__batched_socket_close(foliot__batched_socket *batched);
// Reads all datagrams, with `length` at most FOLIOT__RAW_DATAGRAM_BYTES_MAX + 1 (longer ones are
// truncated). A second call with the same now_ns does nothing.
void foliot__batched_socket_read(foliot__batched_socket *batched, uint64_t now_ns,
                                 foliot__batch_receiver *take, void *user);
// The latest time for the next read: the socket's buffer does not fill up, and no wake-up serves
// only a few datagrams.
uint64_t foliot__batched_socket_wake_ns(const foliot__batched_socket *batched);
// Whether the traffic is so low that twice the interval would suffice.
bool foliot__batched_socket_is_calm(const foliot__batched_socket *batched);

enum {
    SLOT_FREE,
    SLOT_ASKING,     // for a cookie
    SLOT_CONNECTING, // with one: unreliable packets go ahead of ENet's connection, reliable ones
                     // wait for it
    SLOT_EARLY,      // the same at the host: opened by a cookie; ENet's connect has not come yet
    SLOT_CLOSING,    // given up before ENet has connected; the end is sent when it has
    SLOT_CONNECTED,
};

// enet_connect.c: how a client opens its connection.
typedef struct slot_opening {
    uint64_t hello_ns; // when it last asked for its cookie, or showed it
    // The other address of a name with addresses of both families, asked a moment later. The first
    // one to answer is used.
    foliot__net_address other;
    bool has_other;
    uint64_t asked_ns, other_ns; // when it first asked at `address` and at `other`; 0: not yet
    uint64_t cookie;
    bool has_cookie;
    bool refused; // for the slot's reason, by a host that would not open it
    uint64_t refused_ns;
} slot_opening;

typedef struct slot {
    // First the members that every datagram uses.
    uint32_t generation, state;
    foliot__net_address
        address;         // of its peer; with connect_id it names the connection, also after the end
    uint32_t connect_id; // drawn by the client; proves that a packet belongs to the connection
    uint32_t datagram, flush; // its datagram in the outbox, if that has not been flushed since; 0:
                              // it has had none
    uint16_t path_bytes;      // that a datagram to it may have: path.bytes
    bool sent_large;          // lately
    ENetPeer *peer;
    foliot__secure_peer *secure; // its keys; NULL: in clear
    uint32_t seed;               // from which its ENet makes the connect id
    uint64_t began_ns, round_trip_ns;
    slot_opening opening;
    uint32_t reason;      // to end with, while SLOT_CLOSING
    bool replaced;        // its client has come back on another one: it ends
    ENetPacket **waiting; // reliable packets, until ENet has connected
    uint32_t waiting_count;
    foliot__path_mtu path;
    uint16_t divided_bytes;         // of ENet's datagrams, for which a packet is divided now
    uint64_t answered_ns;           // when a probe of its path was answered
    uint32_t resend_ms;             // on ENet's clock: when something may have to be sent again
    uint32_t acknowledged_ms;       // when something had been acknowledged, as of the latest look
    uint8_t fragmented;             // packets that went in fragments: their number
    foliot__reassembly *reassembly; // NULL: no fragment has come
} slot;

// The answer to a probe, until something is sent. Answers beyond this number are dropped: probes
// come again.
#define FOLIOT__PATH_ANSWERS_MAX 64
#define FOLIOT__PATH_ANSWER_BYTES 5 // its kind, the probe's number, bytes of its datagram
enum { FOLIOT__PATH_PROBE = 1, FOLIOT__PATH_ANSWER = 2 };
typedef struct foliot__path_answer {
    uint32_t slot, connect_id;
    uint8_t item[FOLIOT__PATH_ANSWER_BYTES];
} foliot__path_answer;

typedef struct foliot__six foliot__six; // enet_six.c

// Every service and flush of ENet's walks all peers, so it is left out where it would find nothing.
typedef struct enet_service {
    uint32_t datagrams;   // of the service that runs
    uint64_t services_ns; // when ENet was served, and how often at that time
    uint32_t services;
    uint64_t idle_ns;    // when it last found nothing to do
    bool drained;        // the last one emptied the socket, and acknowledged
    bool unsent;         // something waits for a flush
    uint64_t resends_ns; // when ENet's timers were checked
} enet_service;

typedef struct enet_transport {
    foliot_transport head;
    ENetHost *host;
    foliot__impairment_proxy *proxy;
    foliot__batched_socket *batched; // NULL: none
    int socket;                      // the network's: ENet's own, but with IPv6
    foliot__six *six;                // NULL: IPv4, or behind the proxy
    slot *slots;
    uint32_t *connect_ids; // of the slots, contiguous: guesses by an attacker must not be expensive
    uint32_t slots_used;   // slots from this index on were never taken
    uint32_t packet_bytes_max;
    foliot__cookie_keys keys; // of a host
    foliot__admission admission;
    foliot__address_validation sender; // of the datagram that is handled, by which it is answered
    uint64_t now_ns;
    ENetPacket *delivered; // of the last event
    int epoll_fd;          // -1, or ENet's socket and the proxy's together
    foliot__inbox inbox;
    foliot__outbox outbox;
    foliot__secure *secure; // NULL: a client in clear
    uint8_t plain[FOLIOT__SEALED_BYTES_MAX], sealed[FOLIOT__SEALED_BYTES_MAX];
    uint32_t early_slots; // SLOT_EARLY or SLOT_CLOSING
    bool replaced;        // some slot is
    enet_service service;
    uint64_t paths_ns; // when some path may be due for a probe
    foliot__path_answer path_answers[FOLIOT__PATH_ANSWERS_MAX];
    uint32_t path_answers_count;
} enet_transport;

// ENet's intercept function cannot tell for which host it is called; it is called only within our
// own calls, which set this.
extern _Thread_local enet_transport *foliot__servicing;

// The largest datagram that the configured MTU allows.
static inline uint32_t foliot__enet_most_bytes(const enet_transport *t)
{
    uint32_t mtu = t->head.config.mtu, most = FOLIOT__PATH_BYTES_MAX + FOLIOT__PATH_HEADS_BYTES;
    return (mtu == 0 || mtu > most ? most : mtu) - FOLIOT__PATH_HEADS_BYTES;
}
// Before anything is known of a path.
static inline uint16_t foliot__enet_first_bytes(const enet_transport *t)
{
    uint32_t most = foliot__enet_most_bytes(t);
    return (uint16_t)(most < FOLIOT__PATH_BYTES_START ? most : FOLIOT__PATH_BYTES_START);
}

static inline bool foliot__enet_needs_keys(const enet_transport *t)
{
    return t->head.config.security != FOLIOT_SECURITY_CLEAR;
}

// enet_slots.c
slot *foliot__slot_of(enet_transport *t, foliot_peer_id peer); // NULL: gone
foliot_peer_id foliot__slot_id(const enet_transport *t, const slot *s);
slot *foliot__slot_reserve(enet_transport *t); // a free one, NULL if there is none
void foliot__slot_set_connect_id(enet_transport *t, slot *s, uint32_t connect_id);
// A free slot still knows its last connection: late datagrams for it do not open a new one.
slot *foliot__slot_by_connection(enet_transport *t, const foliot__net_address *address,
                                 uint32_t connect_id);
// A client's: the host that answers. Its address is then this one and no other.
slot *foliot__slot_answered(enet_transport *t, const foliot__net_address *address,
                            uint32_t connect_id);
// Passes waiting reliable packets to ENet, or drops them.
void foliot__slot_release(slot *s, ENetPeer *to);
void foliot__slot_set(enet_transport *t, slot *s, uint32_t state);
// A slot for a proven address, within the address's limits, or the reason why not. Hosts only.
slot *foliot__slot_admit(enet_transport *t, const foliot__net_address *address,
                         foliot__admitted *why);

// enet_socket.c
void foliot__send_refusal(enet_transport *t, const foliot__net_address *to, uint32_t connect_id,
                          uint32_t reason);
// Answers the sender of the datagram that is handled, whose address may be forged.
void foliot__send_answer(enet_transport *t, const foliot__net_address *to, const uint8_t *bytes,
                         size_t length);
// Sends a datagram larger than FOLIOT__PATH_BYTES_MIN before the path is known: IP may fragment it.
void foliot__send_undivided(enet_transport *t, const foliot__net_address *to, const uint8_t *bytes,
                            size_t length);
// False: the system has no route there.
bool foliot__send_raw(enet_transport *t, const foliot__net_address *to, const uint8_t *bytes,
                      size_t length);

// The connection of a datagram that ENet sends: the connect id as the checksum, or in a connect.
uint32_t foliot__enet_connection_of(const uint8_t *bytes, size_t length, uint32_t in_checksum);

// enet_secure.c Whether the datagram is sealed. Then it has been handled, or it is ENet's: *bytes
// and *length are its content, and *peer is its sender.
typedef enum foliot__sealed_verdict {
    FOLIOT__NOT_SEALED,
    FOLIOT__SEALED_TAKEN,
    FOLIOT__SEALED_FOR_ENET,
} foliot__sealed_verdict;
foliot__sealed_verdict foliot__enet_unseal(enet_transport *t, const foliot__net_address *from,
                                           const uint8_t **bytes, size_t *length,
                                           uint64_t arrived_ns, foliot__secure_peer **peer);
// Handles questions, answers and openings of connections with keys; false: it is none of these.
bool foliot__enet_secure_greeting(enet_transport *t, const foliot__net_address *from,
                                  const uint8_t *bytes, size_t length);
// ENet is about to send a datagram with the checksum `in_checksum`: replaces it by the sealed one.
void foliot__enet_seal(enet_transport *t, const uint8_t *bytes, size_t length,
                       uint32_t in_checksum);
// Seals the datagrams of the outbox that are for slots with keys.
void foliot__enet_seal_outbox(enet_transport *t);
bool foliot__enet_identity(const foliot_transport *transport, foliot_peer_id peer,
                           foliot_peer_identity *identity);
// From any thread, these.
void foliot__enet_set_keys(foliot_transport *transport, const uint8_t *keys, uint32_t count);
uint32_t foliot__enet_show_token(foliot_transport *transport, const char *text,
                                 const uint8_t *return_secret, uint64_t now_s, uint64_t now_ns,
                                 foliot_peer_identity *identity);
void foliot__enet_end_shown(foliot_transport *transport, const foliot_peer_identity *identity);
uint32_t foliot__enet_show_password(foliot_transport *transport, const char *password,
                                    foliot_peer_identity *identity);

// enet_six.c Makes the transport use IPv6 on a socket of that address; a descriptor that was given
// out keeps its number. The port is then the host's. A client's socket supports IPv4 as well.
foliot_status foliot__six_open(enet_transport *t, const foliot__net_address *address);
void foliot__six_close(enet_transport *t);
typedef const uint8_t *foliot__six_taker(enet_transport *t, foliot__net_address *from,
                                         const uint8_t *bytes, size_t *length);
// Reads the received datagrams, up to a bound, once for each time. ENet gets those that
// take_datagram, which is foliot__enet_receive, returns.
void foliot__six_read(enet_transport *t, foliot__six_taker *take_datagram);
// Passes ENet some of its datagrams, to be received by its next service. False: none were waiting.
bool foliot__six_feed(enet_transport *t);
bool foliot__six_waits(const enet_transport *t); // whether some still wait
void foliot__six_unwrap(enet_transport *t);      // the one that ENet has just received
// Handles a datagram of ENet's that is about to be sent; ENet's own send then has no effect.
void foliot__six_send(enet_transport *t, const uint8_t *bytes, size_t length, uint32_t connection);
// The alias by which ENet knows a slot's address.
ENetAddress foliot__six_alias(const enet_transport *t, const slot *s);
slot *foliot__six_slot(enet_transport *t, const ENetAddress *alias); // NULL: gone
void foliot__six_moved(enet_transport *t, const slot *s);            // its address has changed

// enet_filter.c Handles a datagram before ENet. Returns the bytes for ENet, and the source address
// that ENet is to see; NULL: nothing.
const uint8_t *foliot__enet_receive(enet_transport *t, foliot__net_address *from,
                                    const uint8_t *bytes, size_t *length);
void foliot__send_opening(enet_transport *t, slot *s); // shows the cookie, without a packet
void foliot__expect_round_trip(ENetPeer *peer);
enet_uint32 ENET_CALLBACK foliot__enet_checksum(const ENetBuffer *buffers, size_t count);
foliot__batch_receiver foliot__enet_receive_batched;
int ENET_CALLBACK foliot__enet_intercept(ENetHost *host, ENetEvent *event);

// enet_connect.c
bool foliot__enet_impaired(const enet_transport *t);
foliot_status foliot__enet_watch_proxy(enet_transport *t); // together with ENet's socket
foliot_status foliot__enet_connect(foliot_transport *transport, const char *host, uint16_t port,
                                   uint64_t now_ns, foliot_peer_id *peer);
// Both end at most one connection, with that event, and are called until they return false.
bool foliot__enet_advance_connects(enet_transport *t, foliot_transport_event *event);
bool foliot__enet_expire_early(enet_transport *t, foliot_transport_event *event);

// enet_send.c
void foliot__enet_flush_datagrams(enet_transport *t);
size_t foliot__enet_head_bytes(const slot *s); // of a raw datagram to it
// Starts a new datagram with a packet that the outbox keeps; false: flush first.
bool foliot__enet_add_datagram(enet_transport *t, slot *s, const uint8_t *kept, size_t length);
void foliot__enet_advance_paths(enet_transport *t); // sends the probes and answers that are due
void foliot__enet_time_resends(enet_transport *t);  // of what is not acknowledged in time
uint32_t foliot__enet_send(foliot_transport *transport, const foliot_peer_id *peers, uint32_t count,
                           foliot_delivery delivery, const uint8_t *bytes, size_t length);
uint32_t foliot__enet_overhead(const foliot_transport *transport, foliot_peer_id peer);

// enet_path.c: the size of datagrams (path_mtu.h), and the items in them
void foliot__enet_open_path(enet_transport *t, slot *s); // or it leads elsewhere now
void foliot__enet_set_sizes(slot *s);                    // as its path has them now
// Handles item `i` of a datagram of `bytes`: a packet, a fragment or a probe.
void foliot__enet_receive_item(enet_transport *t, slot *s, const foliot__raw_datagram *datagram,
                               uint32_t i, size_t bytes, uint64_t arrived_ns);

// enet_transport.c
void foliot__enet_set_clock(enet_transport *t, uint64_t now_ns);

#endif
