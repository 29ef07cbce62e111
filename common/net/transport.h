// SPDX-License-Identifier: MIT
// transport.h (net): the functions that an implementation of a transport provides. See
// include/foliot/transport.h for their meaning.
#ifndef FOLIOT_NET_TRANSPORT_H
#define FOLIOT_NET_TRANSPORT_H

#include "foliot/transport.h"

// The option --impair of the programs that have one (base/options.h).
#define FOLIOT__IMPAIR_OPTION(target)                                                              \
    {                                                                                              \
        "impair", "SPEC", FOLIOT__OPTION_TEXT, target,                                             \
            .help = "simulates a bad network, both ways: loss=5%,jitter=0-100ms,...",              \
            .details = "SPEC lists parts, separated by commas, each at most once: `loss=5%`, "     \
                       "`delay=50ms`, "                                                            \
                       "`jitter=0-100ms`, `duplicate=1%`, `reorder=2%`, `rate=1mbit`, "            \
                       "`queue=64k`, `burst=3`, "                                                  \
                       "`jitter-kind=uniform`, `mtu=1100` and `seed=7`. `burst` is the mean "      \
                       "length of a run of "                                                       \
                       "losses. `jitter-kind` is uniform, normal or correlated; correlated "       \
                       "jitter is that of "                                                        \
                       "queues that fill and drain. `queue` is the number of bytes that wait in "  \
                       "front of a "                                                               \
                       "`rate`; packets beyond it are lost. With `mtu` larger datagrams are "      \
                       "lost; the headers "                                                        \
                       "of IP and UDP do not count."                                               \
    }

typedef struct foliot__transport_maker {
    void (*destroy)(foliot_transport *transport);
    foliot_status (*connect)(foliot_transport *transport, const char *host, uint16_t port,
                             uint64_t now_ns, foliot_peer_id *peer);
    void (*disconnect)(foliot_transport *transport, foliot_peer_id peer, uint32_t reason,
                       bool at_once);
    bool (*poll)(foliot_transport *transport, uint64_t now_ns, foliot_transport_event *event);
    uint32_t (*send)(foliot_transport *transport, const foliot_peer_id *peers, uint32_t count,
                     foliot_delivery delivery, const uint8_t *bytes, size_t length);
    void (*flush)(foliot_transport *transport, uint64_t now_ns);
    uint64_t (*wake_ns)(const foliot_transport *transport);
    int (*descriptor)(const foliot_transport *transport);
    uint16_t (*port)(const foliot_transport *transport);
    void (*peer_address)(const foliot_transport *transport, foliot_peer_id peer, char *text,
                         size_t bytes);
    uint64_t (*peer_host)(const foliot_transport *transport, foliot_peer_id peer);
    uint64_t (*round_trip_ns)(const foliot_transport *transport, foliot_peer_id peer);
    void (*impair)(foliot_transport *transport, const foliot_impairment *send,
                   const foliot_impairment *receive); // may be NULL
    // Reliable pieces that the peer has not acknowledged. May be NULL: it is not known.
    uint32_t (*backlog)(const foliot_transport *transport, foliot_peer_id peer);
    // Brings the head's counters up to date. May be NULL: they always are.
    void (*count)(foliot_transport *transport);
    // May be NULL: nobody proves anything.
    bool (*peer_identity)(const foliot_transport *transport, foliot_peer_id peer,
                          foliot_peer_identity *identity);
    // Checks the credentials of a peer of another network: a token with its return secret, or a
    // password. From any thread. May be NULL: it requires none.
    uint32_t (*show_token)(foliot_transport *transport, const char *text,
                           const uint8_t *return_secret, uint64_t now_s, uint64_t now_ns,
                           foliot_peer_identity *identity);
    uint32_t (*show_password)(foliot_transport *transport, const char *password,
                              foliot_peer_identity *identity);
    // See foliot__transport_overhead. May be NULL: FOLIOT__TRANSPORT_OVERHEAD.
    uint32_t (*overhead)(const foliot_transport *transport, foliot_peer_id peer);
    // A peer that a token admitted is gone. NULL if show_token is NULL.
    void (*end_shown)(foliot_transport *transport, const foliot_peer_identity *identity);
    // From any thread. May be NULL: it requires no tokens.
    void (*set_keys)(foliot_transport *transport, const uint8_t *keys, uint32_t count);
    // See foliot__transport_count_leaving. May be NULL: none.
    uint32_t (*count_leaving)(foliot_transport *transport);
} foliot__transport_maker;

// Equal for peers of one IP address, whatever their ports; 0: unknown.
uint64_t foliot__transport_get_peer_address_key(const foliot_transport *transport,
                                                foliot_peer_id peer);
// Credentials of peers of another network (queues.h), such as browsers: they are checked like
// those of this transport's own peers. Callable from any thread, until the transport is destroyed.
// The functions return 0 and the peer's identity, or a foliot_disconnect_reason.
//
// Checks the text of a connect token, which is then used up, for peers of this transport as well.
// The peer draws a secret that is not zero; with the same secret the same token is accepted again,
// up to an hour after it has expired. `now_s`: seconds since 1970; `now_ns`: as for a poll.
//
// It counts as a connection of the token's client, like one of this transport, until
// foliot__transport_end_shown; FOLIOT_DISCONNECT_FULL: that client has reached its limit. The same
// token shown again is the same connection: the caller ends the earlier one.
FOLIOT_MUST_CHECK uint32_t
foliot__transport_show_token(foliot_transport *transport, const char *text,
                             const uint8_t return_secret[FOLIOT_RETURN_SECRET_BYTES],
                             uint64_t now_s, uint64_t now_ns, foliot_peer_identity *identity);
// Reports the end of a connection that a token admitted. An identity of another kind is ignored,
// and so is one whose token has been shown again since.
void foliot__transport_end_shown(foliot_transport *transport, const foliot_peer_identity *identity);
// Checks a password, ended by a zero, that was received over a confidential channel. The caller
// limits the rate of attempts.
FOLIOT_MUST_CHECK uint32_t foliot__transport_show_password(foliot_transport *transport,
                                                           const char *password,
                                                           foliot_peer_identity *identity);
// The credentials that peers must show: ANONYMOUS and CLEAR admit everybody.
foliot_security foliot__transport_get_security(const foliot_transport *transport);

// The number of disconnected peers that have not acknowledged it yet. Each has some seconds.
uint32_t foliot__transport_count_leaving(foliot_transport *transport);

// Overhead in bytes of an unreliable packet to the peer, from the network layer's header on. (A
// packet that shares a datagram has less.)
#define FOLIOT__TRANSPORT_OVERHEAD 48 // where it is not known
#define FOLIOT__UDP_BYTES 8
#define FOLIOT__IP4_BYTES 20
#define FOLIOT__IP6_BYTES 40
uint32_t foliot__transport_overhead(const foliot_transport *transport, foliot_peer_id peer);

// The head of every transport.
struct foliot_transport {
    const foliot__transport_maker *maker;
    foliot_transport_config config;
    foliot_transport_counters counters;
    // When the host polls in any case; packets that can wait are useless before. 0: not set.
    uint64_t tick_ns;
};

// Accounts for every packet sent through a hub, including messages of connections. At any time
// posted - unposted packets made attempts; attempts + duplicated = lost + scheduled; and scheduled
// = delivered + gone + waiting.
typedef struct foliot__hub_ledger {
    uint64_t posted, unposted; // unposted: the receiver did not exist
    uint64_t attempts;         // a reliable packet makes more than one
    uint64_t duplicated, lost; // by impairments
    uint64_t given_up;         // reliable packets that never got through: their connections end
    uint64_t scheduled, delivered, waiting;
    uint64_t gone;        // arrived where the connection was no more, or found no slot
    uint64_t connections; // slots in use now, at both ends
} foliot__hub_ledger;
foliot__hub_ledger foliot__hub_account(const foliot_hub *hub);

// Peer ids: index of a slot and a count of its uses.
static inline foliot_peer_id foliot__peer_id(uint32_t index, uint32_t generation)
{
    return (foliot_peer_id){(uint64_t)generation << 32 | (index + 1)};
}

static inline uint32_t foliot__peer_index(foliot_peer_id peer)
{
    return (uint32_t)peer.value - 1;
}

static inline uint32_t foliot__peer_generation(foliot_peer_id peer)
{
    return (uint32_t)(peer.value >> 32);
}

#endif
