// SPDX-License-Identifier: MIT
// transport.h: carries packets between peers: through UDP (ENet), through memory, or through queues
// that the caller's own network (such as a web server) fills and empties.
//
// The first two can impair the network by a seeded model of loss, delay, jitter, duplication,
// reordering and rate. A transport does not interpret the bytes.
//
// Time is an argument, in nanoseconds, and never goes back. With ENet it is CLOCK_MONOTONIC's; with
// memory it is any clock of the caller's, so that a network of many peers can be simulated on a
// virtual clock.
//
// Threads: a transport, and all transports of one hub, are used by one thread at a time. The far
// side of queues (foliot_queues) is used by any number of threads.
#ifndef FOLIOT_TRANSPORT_H
#define FOLIOT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/status.h"
#include "foliot/token.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FOLIOT_PACKET_BYTES_MAX                                                                    \
    1200 // of an unreliable packet: larger ones are refused, never fragmented
#define FOLIOT_RELIABLE_BYTES_MAX (1u << 20) // of a reliable one; it is cut into pieces inside
#define FOLIOT_MTU_MIN 576
#define FOLIOT_MTU_MAX 1280
#define FOLIOT_PEERS_MAX 4000
#define FOLIOT_PORT_DEFAULT 7777
#define FOLIOT_PASSWORD_BYTES_MAX 256
#define FOLIOT_RETURN_SECRET_BYTES 32

typedef struct foliot_transport foliot_transport;

// Names a connection while it lasts. Zero is null; no value is used twice.
typedef struct foliot_peer_id {
    uint64_t value;
} foliot_peer_id;

typedef enum foliot_delivery {
    FOLIOT_DELIVERY_UNRELIABLE, // may be lost, repeated or reordered
    FOLIOT_DELIVERY_RELIABLE,   // arrives once and in order, on a separate channel
} foliot_delivery;

// Why the transport ended a connection. Reasons that a peer gives are 256 and more.
enum foliot_disconnect_reason {
    FOLIOT_DISCONNECT_NONE = 0,
    FOLIOT_DISCONNECT_TIMEOUT = 1,       // the peer is silent, or never answered
    FOLIOT_DISCONNECT_FULL = 2,          // no slot, or none left for this address
    FOLIOT_DISCONNECT_PROTOCOL = 3,      // the peers speak different versions of the protocol
    FOLIOT_DISCONNECT_SLOW = 4,          // queues: too much reliable data was sent and not read
    FOLIOT_DISCONNECT_SECURITY = 5,      // the host requires another foliot_security
    FOLIOT_DISCONNECT_TOKEN = 6,         // not made with the host's key, or for other hosts
    FOLIOT_DISCONNECT_TOKEN_EXPIRED = 7, // or not valid yet
    FOLIOT_DISCONNECT_TOKEN_USED = 8,
    FOLIOT_DISCONNECT_PASSWORD = 9, // not the host's
};

// How the peers of a connection authenticate each other. The comments name who can read and change
// their traffic (docs/SECURITY.md). All but the first encrypt and authenticate every datagram.
typedef enum foliot_security {
    FOLIOT_SECURITY_CLEAR,     // everybody on the path; a CLEAR host accepts ANONYMOUS too
    FOLIOT_SECURITY_ANONYMOUS, // an attacker on the path during the handshake, nobody later
    FOLIOT_SECURITY_PASSWORD,  // nobody without the password, which cannot be guessed offline
    FOLIOT_SECURITY_TOKEN,     // nobody: the client has a connect token (foliot/token.h)
} foliot_security;

// The proven identity of a peer.
typedef struct foliot_peer_identity {
    foliot_security security;
    foliot_token token; // of TOKEN; else zero: a player of any session
    uint64_t shown;     // 0; the server's own networks count uses of tokens by it
} foliot_peer_identity;

typedef enum foliot_transport_event_kind {
    FOLIOT_TRANSPORT_CONNECTED,
    FOLIOT_TRANSPORT_DISCONNECTED, // reason: foliot_disconnect_reason or what the peer gave
    FOLIOT_TRANSPORT_RECEIVED,
} foliot_transport_event_kind;

typedef struct foliot_transport_event {
    foliot_transport_event_kind kind;
    uint32_t path; // RECEIVED: which path of its connection; 0 if there is only one
    foliot_peer_id peer;
    uint32_t reason;
    foliot_delivery delivery;
    const uint8_t *bytes; // belong to the transport, until its next poll
    size_t length;
    uint64_t arrived_ns; // RECEIVED: when it came, at most the now_ns of the poll
} foliot_transport_event;

// The impairment of packets in one direction. All zero: none.
typedef enum foliot_jitter_kind {
    FOLIOT_JITTER_UNIFORM,    // delay + U(jitter_min, jitter_max)
    FOLIOT_JITTER_NORMAL,     // delay + |N(jitter_min, jitter_max - jitter_min)|
    FOLIOT_JITTER_CORRELATED, // a random walk within the bounds: packets keep their order
} foliot_jitter_kind;
typedef struct foliot_impairment {
    double loss;      // 0..1, share of packets
    double burst;     // mean length of a run of losses (Gilbert model); <= 1: independent
    double duplicate; // 0..1
    double reorder;   // 0..1: share of packets held back until the next two have passed
    double delay_ms, jitter_ms_min, jitter_ms_max;
    foliot_jitter_kind jitter_kind;
    double rate_bits;     // a second; 0: unlimited
    double mtu_bytes;     // larger datagrams (without the UDP header) are lost; 0: none. ENet only
    uint32_t queue_bytes; // before the rate limit; packets that do not fit are lost. 0: 64 KiB
    uint64_t seed;
} foliot_impairment;

// Reads "loss=5%,delay=50ms,jitter=0-100ms,duplicate=1%,reorder=2%,rate=1mbit,queue=64k,burst=3,
// jitter-kind=uniform|normal|correlated,mtu=1100,seed=7"; all parts may be left out.
// FOLIOT_STATUS_INVALID.
FOLIOT_MUST_CHECK foliot_status foliot_impairment_parse(const char *text,
                                                        foliot_impairment *impairment,
                                                        foliot_error *error);

// Counts since the transport was made: X(name, what is counted, as a sentence).
#define FOLIOT_TRANSPORT_COUNTERS(X)                                                               \
    X(packets_sent, "Packets given to the transport.")                                             \
    X(bytes_sent, "Bytes of packets given to the transport.")                                      \
    X(packets_received, "Packets received.")                                                       \
    X(bytes_received, "Bytes of packets received.")                                                \
    X(packets_batched, "Packets received together with others, without a wake-up.")                \
    X(packets_refused, "Packets larger than the limit, or to a peer that is gone.")                \
    X(packets_lost, "Packets lost by the impairment, or by a network in memory.")                  \
    X(packets_duplicated, "Packets duplicated by the impairment.")                                 \
    X(packets_reordered, "Packets reordered by the impairment.")                                   \
    X(packets_queue_full, "Packets dropped: the impairment's queue was full.")                     \
    X(datagrams_dropped_source, "Datagrams from port 0, or from no peer and no valid request.")    \
    X(datagrams_dropped_cookie, "Datagrams that asked to connect without proof of their address.") \
    X(datagrams_dropped_ended, "Datagrams for a connection that is over.")                         \
    X(datagrams_dropped_unproven, "Datagrams with a wrong connect id.")                            \
    X(datagrams_unsent, "Datagrams that the system refused to send.")                              \
    X(datagrams_dropped_malformed, "Datagrams that do not fit the protocol.")                      \
    X(datagrams_dropped_fragment, "Datagrams with fragments too large, or of a kind not in use.")  \
    X(service_errors, "Failures of the transport's service that were survived.")                   \
    X(connects_refused, "Connections refused: there was no slot.")                                 \
    X(connects, "Connections.")                                                                    \
    X(disconnects, "Connections ended.")                                                           \
    X(connects_over_address, "Connections refused: the address held all that it may.")             \
    X(connects_over_client, "Connections refused: the token's client held or opened too many.")    \
    X(connects_too_fast, "Connections delayed: the address opened too many in too short a time.")  \
    X(connects_unproven, "Connections refused: no valid token or password.")                       \
    X(datagrams_dropped_forged, "Datagrams sealed, but not by their peer.")                        \
    X(datagrams_dropped_repeated, "Datagrams sealed by their peer, and received before.")          \
    X(datagrams_dropped_clear, "Datagrams not sealed, where all must be.")                         \
    X(migrations, "Clients that continued from another address.")                                  \
    X(path_probes, "Datagrams sent to find how large others may be.")                              \
    X(datagrams_alone, "Datagrams received, invalid ones too: each can wake the host.")
typedef struct foliot_transport_counters {
#define FOLIOT_COUNTER_FIELD(name, help) uint64_t name;
    FOLIOT_TRANSPORT_COUNTERS(FOLIOT_COUNTER_FIELD)
#undef FOLIOT_COUNTER_FIELD
} foliot_transport_counters;

// The tokens that were used at a server, for all of its transports together. With a file, a
// restarted server still knows them, and lets their own clients come back. It also limits each
// client, by the client number in its tokens: 8 connections held at this server, and one opened per
// second after a burst of 16; client 0 has no limit.
typedef struct foliot_used_tokens foliot_used_tokens;
// `file` NULL: in memory. `capacity`: number of tokens, each kept until it expires; a file never
// shrinks. FOLIOT_STATUS_AGAIN: another process uses the file; FOLIOT_STATUS_REFUSED: users other
// than its owner may open it; FOLIOT_STATUS_CORRUPT: it is not such a file; FOLIOT_STATUS_INVALID:
// the capacity is 0 or beyond 2^20; FOLIOT_STATUS_IO; FOLIOT_STATUS_MEMORY.
FOLIOT_MUST_CHECK foliot_status foliot_used_tokens_open(const char *file, uint32_t capacity,
                                                        foliot_used_tokens **tokens);
void foliot_used_tokens_close(foliot_used_tokens *tokens); // after the transports; may be NULL

#define FOLIOT_OWN_ADDRESSES_MAX 64 // of a host; a token names fewer

typedef struct foliot_transport_config {
    const char *bind; // address to listen on, "127.0.0.1"; NULL: does not listen
    uint16_t port;    // 0: any free one
    uint32_t peers_max;
    uint32_t timeout_ms; // a peer that is silent for this long is disconnected
    // ENet: maximum size of network packets, headers included: FOLIOT_MTU_MIN and up. 0, or more
    // than FOLIOT_MTU_MAX: FOLIOT_MTU_MAX. Probes find the size that a path supports.
    uint32_t mtu;
    foliot_impairment send, receive;
    // Limits for one IP address, whatever its ports: how many connections it holds, and how many it
    // opens per second after a burst of the first limit, at least 16. 0 gives a quarter of
    // peers_max, at least 8, and 4 per second; for a host on the loopback, which is reached from a
    // single address, all and 32.
    uint32_t peers_per_address_max;
    double joins_per_second;
    // ENet, listening: an unreliable packet of a connected peer does not make the descriptor
    // readable, but waits for the next poll, due at foliot_transport_get_wake_ns. For hosts that
    // use these packets only at their ticks.
    bool batches;
    // ENet only. Secrets are copied, and kept out of core dumps.
    foliot_security security;
    const uint8_t *key;   // of FOLIOT_KEY_BYTES: listening, TOKEN
    const char *token;    // the token's text: connecting, TOKEN
    const char *password; // 1 .. FOLIOT_PASSWORD_BYTES_MAX bytes: PASSWORD
    // Listening, TOKEN: tokens that name other addresses are refused. A port of 0 is the
    // transport's. None: no token is refused for that. At most FOLIOT_OWN_ADDRESSES_MAX.
    const foliot_token_address *own_addresses;
    uint32_t own_address_count;
    // Listening, TOKEN: shared with other transports. NULL: a private one, in memory.
    foliot_used_tokens *used_tokens;
} foliot_transport_config;
foliot_transport_config foliot_transport_config_default(void);

// UDP by ENet. FOLIOT_STATUS_BUSY: the port is in use; FOLIOT_STATUS_AGAIN: no descriptor is left;
// FOLIOT_STATUS_INVALID: `bind` is not an address, or data that `security` needs is missing;
// FOLIOT_STATUS_CORRUPT: the token is not valid text; FOLIOT_STATUS_NOT_FOUND: not an address of
// this machine; FOLIOT_STATUS_REFUSED: the port is privileged; FOLIOT_STATUS_IO;
// FOLIOT_STATUS_MEMORY.
FOLIOT_MUST_CHECK foliot_status foliot_transport_create_enet(const foliot_transport_config *config,
                                                             uint64_t now_ns,
                                                             foliot_transport **transport);

// In memory: transports of one hub reach each other by their listening port; the address is
// ignored.
typedef struct foliot_hub foliot_hub;
FOLIOT_MUST_CHECK foliot_status foliot_hub_create(foliot_hub **hub);
void foliot_hub_destroy(foliot_hub *hub); // after its transports
FOLIOT_MUST_CHECK foliot_status
foliot_transport_create_memory(foliot_hub *hub, const foliot_transport_config *config,
                               uint64_t now_ns, foliot_transport **transport);

// Listening, TOKEN: from now on only tokens made with one of these keys, each of FOLIOT_KEY_BYTES,
// are accepted, also from clients that come back; open connections continue. Callable from any
// thread. FOLIOT_STATUS_INVALID: the transport requires no tokens, or `count` is not in 1 ..
// FOLIOT_KEYS_MAX.
FOLIOT_MUST_CHECK foliot_status foliot_transport_set_keys(foliot_transport *transport,
                                                          const uint8_t *keys, uint32_t count);
// Changes the impairment from now on; packets in flight are not affected. FOLIOT_STATUS_UNSUPPORTED
// with ENet.
FOLIOT_MUST_CHECK foliot_status foliot_transport_set_impairment(foliot_transport *transport,
                                                                const foliot_impairment *send,
                                                                const foliot_impairment *receive);
void foliot_transport_destroy(foliot_transport *transport);

// Combines two transports, so that the peers of both share one server. Both belong to the new one
// from then on. It connects through the first, whose port and configuration it reports.
// FOLIOT_STATUS_INVALID: more than FOLIOT_PEERS_MAX peers together; FOLIOT_STATUS_IO: no
// descriptor; FOLIOT_STATUS_MEMORY; then both are still the caller's.
FOLIOT_MUST_CHECK foliot_status foliot_transport_create_both(foliot_transport *first,
                                                             foliot_transport *second,
                                                             foliot_transport **transport);

// Begins to connect to a host name or address; an event CONNECTED or DISCONNECTED follows. A name
// with IPv6 and IPv4 addresses is tried by both, the system's first choice 250 ms before the other
// (RFC 8305), and the first to answer is used; a name in brackets is tried by IPv6 only.
// FOLIOT_STATUS_NOT_FOUND: the name has no address; FOLIOT_STATUS_FULL: all peers_max are in use.
FOLIOT_MUST_CHECK foliot_status foliot_transport_connect(foliot_transport *transport,
                                                         const char *host, uint16_t port,
                                                         uint64_t now_ns, foliot_peer_id *peer);
// Disconnects and sends the peer the reason: at once, or after all reliable packets have arrived.
void foliot_transport_disconnect(foliot_transport *transport, foliot_peer_id peer, uint32_t reason,
                                 bool at_once);
// Takes the next event that has arrived by `now_ns`; false if there is none.
bool foliot_transport_poll(foliot_transport *transport, uint64_t now_ns,
                           foliot_transport_event *event);
// Copies the bytes. FOLIOT_STATUS_FULL: larger than the limit, or too much is waiting for this
// peer; FOLIOT_STATUS_NOT_FOUND: no such peer. Both are counted in packets_refused.
FOLIOT_MUST_CHECK foliot_status foliot_transport_send(foliot_transport *transport,
                                                      foliot_peer_id peer, foliot_delivery delivery,
                                                      const uint8_t *bytes, size_t length);
// Sends the same bytes to many peers and copies them once. Returns for how many peers that
// succeeded.
uint32_t foliot_transport_send_many(foliot_transport *transport, const foliot_peer_id *peers,
                                    uint32_t count, foliot_delivery delivery, const uint8_t *bytes,
                                    size_t length);
// Transmits everything sent since the last flush. Call it once after a tick's broadcast.
void foliot_transport_flush(foliot_transport *transport, uint64_t now_ns);
// The latest time for the next poll if nothing arrives: for impairment and time-outs.
uint64_t foliot_transport_get_wake_ns(const foliot_transport *transport);
// A descriptor that is readable when something has arrived; -1 for memory. It stays the
// transport's.
int foliot_transport_get_descriptor(const foliot_transport *transport);
uint16_t foliot_transport_get_port(const foliot_transport *transport);
// Writes "127.0.0.1:40312", for people.
void foliot_transport_get_peer_address(const foliot_transport *transport, foliot_peer_id peer,
                                       char *text, size_t bytes);
// The identity of a peer, on the side that listens. False: no such peer.
bool foliot_transport_get_peer_identity(const foliot_transport *transport, foliot_peer_id peer,
                                        foliot_peer_identity *identity);

// The round-trip time to a peer as the transport measures it; 0: unknown.
uint64_t foliot_transport_get_round_trip_ns(const foliot_transport *transport, foliot_peer_id peer);
// Pieces of reliable packets, of at most 1,400 bytes each, that the peer has not acknowledged. They
// stay in memory: check this before sending more than a peer acknowledges. At most 65,535. Also 0
// if it is not known.
uint32_t foliot_transport_get_backlog(const foliot_transport *transport, foliot_peer_id peer);
// Belong to the transport and stay current.
const foliot_transport_counters *foliot_transport_get_counters(const foliot_transport *transport);

// -- queues: peers of the caller's own network
//
// One thread uses the transport, in a server; other threads use the foliot_queues and move packets
// between it and a network. The network calls join when a connection begins, put for each packet
// that it receives, next and read for packets to send, and leave when the connection is over. No
// call waits: packets that do not fit are dropped or refused, and counted.
typedef struct foliot_queues foliot_queues;

typedef struct foliot_queues_config {
    uint32_t peers_max;
    uint32_t peers_per_address_max; // these two: as in foliot_transport_config
    double joins_per_second;
    // Bounds for one peer. Packets put and not polled: further ones are refused.
    uint32_t put_bytes_max, put_packets_max;
    // Reliable packets sent and not read: a peer with more is disconnected, FOLIOT_DISCONNECT_SLOW.
    // One packet may always wait.
    uint32_t reliable_bytes_max;
    // Unreliable packets: beyond these bounds the oldest are dropped, and those that waited longer.
    uint32_t unreliable_bytes_max, unreliable_age_ms;
} foliot_queues_config;
// 64 peers; 256 KiB and 1,024 packets; 1 MiB; 64 KiB and 100 ms.
foliot_queues_config foliot_queues_config_default(void);

// Transport and queues are freed separately, in either order, with foliot_transport_destroy and
// foliot_queues_close: when one side is gone, its peers are disconnected. The transport does not
// connect. FOLIOT_STATUS_INVALID: a limit is 0, or peers_max beyond FOLIOT_PEERS_MAX;
// FOLIOT_STATUS_IO: no descriptors; FOLIOT_STATUS_MEMORY.
FOLIOT_MUST_CHECK foliot_status foliot_transport_create_queues(const foliot_queues_config *config,
                                                               foliot_transport **transport,
                                                               foliot_queues **queues);
void foliot_queues_close(foliot_queues *queues); // no other thread may use it any more

// Reports a new peer. `address` is text for people, the port is optional; `address_key` is equal
// for peers of one IP address and not 0. `identity` is what the peer has proved; NULL: nothing.
// FOLIOT_STATUS_FULL: no place, or none left for this address; FOLIOT_STATUS_AGAIN: the address
// joins too fast; FOLIOT_STATUS_REFUSED: the transport is gone; FOLIOT_STATUS_INVALID;
// FOLIOT_STATUS_MEMORY.
FOLIOT_MUST_CHECK foliot_status foliot_queues_join(foliot_queues *queues, const char *address,
                                                   uint64_t address_key,
                                                   const foliot_peer_identity *identity,
                                                   uint64_t now_ns, foliot_peer_id *peer);
// Passes a packet from the peer; copies the bytes. FOLIOT_STATUS_FULL: larger than the limit, or
// too much waits to be polled: an unreliable packet is then lost; after a reliable one the caller
// should end the connection; FOLIOT_STATUS_NOT_FOUND: the transport has disconnected the peer;
// FOLIOT_STATUS_MEMORY.
FOLIOT_MUST_CHECK foliot_status foliot_queues_put(foliot_queues *queues, foliot_peer_id peer,
                                                  foliot_delivery delivery, const uint8_t *bytes,
                                                  size_t length, uint64_t now_ns);
// Reports the end of the connection; packets put before are still polled. Also required after an
// `ended` packet was read: only then the peer's slot is free.
void foliot_queues_leave(foliot_queues *queues, foliot_peer_id peer, uint32_t reason);
// Sets the round-trip time that the network measured, for foliot_transport_get_round_trip_ns.
void foliot_queues_set_round_trip(foliot_queues *queues, foliot_peer_id peer, uint64_t ns);

// Readable while foliot_queues_next would name a peer, from the transport's flush on.
int foliot_queues_get_descriptor(const foliot_queues *queues);
// Returns a peer for which something was sent since it was last returned; id 0: none. Read until
// nothing is left, at once or whenever its connection is writable.
foliot_peer_id foliot_queues_next(foliot_queues *queues);

typedef struct foliot_queues_packet {
    bool ended;      // no packet: the transport has disconnected the peer, and this is the last
    uint32_t reason; // of the end
    foliot_delivery delivery;
    const uint8_t *bytes; // until foliot_queues_release
    size_t length;
    void *owner;
} foliot_queues_packet;
// Reads the next packet for the peer. False: none waits. Reliable packets come in order, and in
// turn with unreliable ones.
bool foliot_queues_read(foliot_queues *queues, foliot_peer_id peer, uint64_t now_ns,
                        foliot_queues_packet *packet);
void foliot_queues_release(foliot_queues_packet *packet);

#ifdef __cplusplus
}
#endif

#endif
