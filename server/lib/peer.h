// SPDX-License-Identifier: MIT
// peer.h: one peer: its role, what it is sent and what it sent last. peer.c sends to it and ends
// it, counts violations, and remembers the addresses of peers.
#ifndef FOLIOT_SERVER_LIB_PEER_H
#define FOLIOT_SERVER_LIB_PEER_H

#include "foliot/server.h"
#include "lockstep.h"
#include "interest.h"
#include "wire/message.h"

#define FOLIOT__MALFORMED_MAX 32 // messages, before the peer is dropped
#define FOLIOT__DISCONNECT_SUPERSEDED 300
// Token bucket for changes of a peer's kind: burst, refill interval, minimum gap.
#define FOLIOT__KIND_CHANGES_AT_ONCE 4.0
#define FOLIOT__KIND_CHANGE_EVERY_NS 2e9
#define FOLIOT__KIND_CHANGE_LEAST_NS 1000000000u
#define FOLIOT__HEAL_LEAST_NS 10000000000u // between two heals of one peer
#define FOLIOT__ADDRESSES 256              // that are remembered, the last ones
#define FOLIOT__RATE_WINDOWS 40            // lags, one per half second

typedef struct foliot__session foliot__session;

typedef enum foliot__peer_state {
    FOLIOT__PEER_NONE,
    FOLIOT__PEER_GREETING,       // connected, has sent no hello
    FOLIOT__PEER_AWAITING_TOKEN, // let in; the recording lacks its player's new token
    FOLIOT__PEER_AWAITING,       // let in; the machinery of its kind is not ready
    FOLIOT__PEER_IN,
    FOLIOT__PEER_ENDED, // marked: its place is freed when the update ends
} foliot__peer_state;

// Its traffic: peer.c has a table of it, and of the transitions.
typedef enum foliot__peer_role {
    FOLIOT__PEER_ROLE_NONE,
    FOLIOT__PEER_WATCHER,     // snapshots, and updates
    FOLIOT__PEER_STEPPER,     // a state and the ticks since: `lockstep` is valid
    FOLIOT__PEER_CATCHING_UP, // a watcher that is to step: both
    FOLIOT__PEER_CLOSING,     // a stepper that is to watch: both, until it is ready or `close_ns`
    FOLIOT__PEER_DIVERGED,    // a stepper that is to have another state
    FOLIOT__PEER_HEALING,     // the same, and watches until it has that
} foliot__peer_role;

typedef enum foliot__baseline {
    FOLIOT__BASELINE_NONE,
    FOLIOT__BASELINE_SENT, // a complete snapshot, and again and again: deltas are sent against it
    FOLIOT__BASELINE_ACKNOWLEDGED,
} foliot__baseline;

// The rules of its build, as stated in its hello.
typedef enum foliot__peer_rules {
    FOLIOT__RULES_OTHER,
    FOLIOT__RULES_SAME,
    FOLIOT__RULES_SAME_FORCED, // and it steps whatever its fingerprint is
} foliot__peer_rules;

// How a peer ended.
typedef struct foliot__departure {
    bool for_good; // its player leaves; else it may come back through another peer
    bool lost;     // by the transport; else we disconnect it, with `code`
    bool at_once;  // without waiting for queued data
    uint32_t code;
} foliot__departure;

// fanout.c: the snapshots that it is sent and has. Fields that every snapshot touches come first.
typedef struct foliot__peer_snapshots {
    foliot__baseline baseline;
    uint32_t sent;          // snapshots of different ticks; its client tells losses by them
    uint64_t sent_tick;     // the newest that was sent to it, valid if `sent` is not 0
    uint64_t baseline_tick; // the newest snapshot that it has whole, or a complete one that is on
                            // its way
    uint64_t status_ns;
    uint64_t complete_tick, complete_ns,
        complete_every_ns;  // which, when the last copy did, and the next one will
    bool complete_reliable; // one of them went reliably
    uint64_t greeted_ns;
} foliot__peer_snapshots;

// rate_adaptation.c: the share of snapshots that the peer is sent.
typedef struct foliot__rate_adaptation {
    uint32_t level;          // index of the share that is sent
    uint64_t next_tick;      // that is sent
    uint64_t window_ns;      // when the window began; 0: there was none
    uint64_t least_ns;       // lag in the window; UINT64_MAX: none was measured
    uint64_t rests_until_ns; // the last change has no effect before
    uint64_t changed_ns;     // when the level was changed last
    uint64_t patience_ns;    // at one level, before more is tried
    uint32_t past_count, past_next;
    uint64_t past_ns[FOLIOT__RATE_WINDOWS]; // least of each window
} foliot__rate_adaptation;

// input.c: its newest input packet.
typedef struct foliot__peer_input {
    uint64_t tick;
    uint32_t echo_us;
    uint64_t arrived_ns;
} foliot__peer_input;

// kind.c: from watcher to stepper, and back.
typedef struct foliot__peer_change {
    uint32_t count;     // of changes so far
    uint64_t reopen_ns; // when to send its kind again: it reported ready for another; 0: no
    foliot__kind kind;
    foliot__kind wanted; // as soon as no step runs; ANY: what it is
    foliot__kind_reason wanted_reason;
    uint64_t close_ns, healed_ns, unhealed_ns, reopened_ns;
    foliot__bucket bucket; // changes that it may still make; filled with the last one
} foliot__peer_change;

// join.c: the build that it reported, in case it wishes to step.
typedef struct foliot__peer_build {
    foliot_digest fingerprint;
    foliot__peer_rules rules;
} foliot__peer_build;

typedef struct foliot__peer {
    // Fields that every input and every snapshot touches come first, so that they share cache
    // lines: with a thousand peers, the next input of a peer finds none of its data in the cache.
    foliot_peer_id id;
    foliot__peer_state state;
    uint32_t player;                    // FOLIOT_NO_PLAYER: a spectator
    foliot__session *session;           // NULL: none yet
    struct foliot__peer *next, *before; // of the session
    foliot__peer_role role;
    foliot__peer_input input;
    size_t scene_sent; // bytes
    foliot__peer_snapshots snapshots;
    foliot__rate_adaptation rate; // read first for every snapshot
    foliot__departure departure;  // valid once it has ended
    char name[FOLIOT_NAME_BYTES];
    foliot__peer_change change;
    foliot__peer_build build;
    uint32_t malformed;
    uint64_t connected_ns; // or sent a hello that has to wait
    uint64_t received_ns;  // when its last packet arrived
    uint64_t welcomed_ns;
    uint64_t stepper_input_ns, stepper_status_ns; // of its lockstep packets
    foliot__lockstep_peer lockstep;
    foliot__misbehaviour misbehaviour;
    foliot__interest_view *interest; // NULL: not in such a session
    uint64_t bulk_turn;              // when it was sent something in bulk
    uint32_t address;                // index, a hint
} foliot__peer;

// Budgets and counts of all peers of one address, without port, or of one client of tokens.
typedef struct foliot__address {
    uint64_t host; // foliot__transport_get_peer_address_key, or the client
    bool by_client;
    uint64_t used_ns;
    uint64_t bulk_turn;   // when one of them was sent something in bulk
    uint64_t pinned_tick; // the newest state that one of them is being sent, when last counted
    uint64_t divergences, found;                   // so far
    foliot__bucket searches;                       // for divergences that it may still cause
    uint32_t found_stage, found_part, found_field; // where the last one was
} foliot__address;

// peer.c
typedef struct foliot__role_traffic {
    bool watches, steps;
    uint32_t next; // the roles that may follow
} foliot__role_traffic;
void foliot__server_event(foliot_server *server, foliot_server_event_kind kind,
                          const foliot__session *session, uint32_t player, uint64_t value,
                          const char *text);
// Does not send to a peer that the transport has lost: a DISCONNECTED event is on its way.
void foliot__server_send_packet(foliot_server *server, foliot_peer_id peer,
                                foliot_delivery delivery, const uint8_t *bytes, size_t length);
void foliot__server_send(foliot_server *server, foliot_peer_id peer,
                         const foliot__message *message);
// The same, unreliably and twice: the copy that arrives first counts.
void foliot__server_send_twice(foliot_server *server, foliot_peer_id peer,
                               const foliot__message *message);
void foliot__session_send(foliot__session *session, const foliot__message *message); // to all peers
// Sends goodbye to a peer, and to all peers of a session that has ended.
void foliot__peer_dismiss(foliot_server *server, foliot__peer *peer, const foliot__message *bye);
void foliot__session_dismiss(foliot__session *session, const char *why);
void foliot__session_call_back(foliot__session *session); // all peers: another scene follows
static inline bool foliot__peer_is_here(const foliot__peer *peer)
{
    return peer->state != FOLIOT__PEER_NONE && peer->state != FOLIOT__PEER_ENDED;
}
static inline bool foliot__peer_is_admitted(const foliot__peer *peer) // welcomed or about to be
{
    return peer->state >= FOLIOT__PEER_AWAITING_TOKEN && peer->state <= FOLIOT__PEER_IN;
}
extern const foliot__role_traffic foliot__role_traffics[];
static inline bool foliot__peer_watches(const foliot__peer *peer)
{
    return foliot__role_traffics[peer->role].watches;
}
static inline bool foliot__peer_steps(const foliot__peer *peer)
{
    return foliot__role_traffics[peer->role].steps;
}
static inline bool foliot__peer_is_stepper(const foliot__peer *peer) // and is to stay one
{
    return foliot__peer_steps(peer) && peer->role != FOLIOT__PEER_CLOSING;
}
static inline bool foliot__peer_is_healing(const foliot__peer *peer)
{
    return peer->role == FOLIOT__PEER_DIVERGED || peer->role == FOLIOT__PEER_HEALING;
}
void foliot__peer_change_role(foliot__peer *peer,
                              foliot__peer_role role); // the table must allow it
// Each session has a list of its peers, so that it never scans those of others.
void foliot__peer_enter_session(foliot__peer *peer, foliot__session *session);
void foliot__peer_leave_session(foliot__peer *peer);
// Iterates over the list once, from the first peer whose index is at least `index`; NULL: end.
foliot__peer *foliot__session_peer_from(const foliot__session *session, uint32_t index);
foliot__peer *foliot__session_peer_after(const foliot__session *session, const foliot__peer *peer,
                                         const foliot__peer *first);
// Marks the peer; server.c frees its place when the update ends, and no handler before.
void foliot__peer_end(foliot__peer *peer, foliot__departure departure);
// The peer's player returned through another peer, so this one is a ghost.
void foliot__peer_supersede(foliot_server *server, uint32_t peer);
// Ends the peer, and its player leaves: for good, unless the peer was only slow or silent.
void foliot__peer_drop(foliot_server *server, foliot__peer *peer, foliot__refusal reason,
                       const char *why);
// Malformed messages are forgiven for a while, and counted. This may end the peer.
void foliot__peer_offended(foliot_server *server, foliot__peer *peer);
void foliot__peer_malformed(foliot_server *server, foliot__peer *peer);

// The peer is to change its kind as soon as no step runs; kind.c does it.
void foliot__peer_want(foliot__peer *peer, foliot__kind kind, foliot__kind_reason reason);
// Its lockstep traffic is over: `lockstep` is no longer valid.
void foliot__peer_close_lockstep(foliot__peer *peer);

// Counts and reports a violation. This may end the peer: one that continues is dropped.
void foliot__peer_violated(foliot__session *session, foliot__peer *peer,
                           foliot__violation violation);
bool foliot__peer_floods(foliot__session *session,
                         foliot__peer *peer); // a packet too many, to be left unread

// The peer's address; never NULL. Valid until the next call.
foliot__address *foliot__address_of(foliot_server *server, foliot__peer *peer);

// rate_adaptation.c
// The round trip before any snapshot was in flight: queues at that time are not caused by us.
void foliot__rate_adaptation_begin(foliot__rate_adaptation *rate, uint64_t round_trip_ns);
// The peer has received a new snapshot `lag_ns` after it was sent. `period_ns`: of snapshots.
void foliot__rate_adaptation_acknowledge(foliot__rate_adaptation *rate, uint64_t now_ns,
                                         uint64_t lag_ns, uint64_t period_ns);
// Whether this tick's snapshot is sent, if one in `every` ticks is made; then later ones wait.
bool foliot__rate_adaptation_sends(foliot__rate_adaptation *rate, uint64_t tick, uint32_t every);

#endif
