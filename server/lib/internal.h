// SPDX-License-Identifier: MIT
// internal.h: what the files of the server library share. Each calls only files above its own:
//   address.c, rate_adaptation.c   what an address has had; how many snapshots a peer is sent
//   interest_map.c, interest_told.c, interest.c  what of a big world a watcher is sent
//   peer.c, schedule.c             a peer's messages and its end; when ticks are due
//   misbehaviour.c, stream.c       what no honest client says; inputs of a player in lockstep
//   player.c                       players, their tokens, and what happens to them without a peer
//   keyframe.c, late_join.c        saved states, and who is sent one
//   divergence_search.c, desync_check.c, lockstep.c
//   fanout.c, input.c              snapshots to peers, and inputs from them
//   updates.c, orders.c, commands.c  messages and what changed; orders; commands and rules
//   kind.c                         watchers and steppers, and how one becomes the other
//   welcome.c, session.c, hello.c  letting in
//   step.c, bulk.c, watch.c        ticks; what goes out in quantity; what is refused
//   server.c, admin.c              the host's side
#ifndef FOLIOT_SERVER_LIB_INTERNAL_H
#define FOLIOT_SERVER_LIB_INTERNAL_H

#include <stdatomic.h>

#include "foliot/server.h"
#include "foliot/snapshot.h"
#include "game.h"
#include "interest.h"
#include "lockstep.h"
#include "rate_adaptation.h"
#include "wire/message.h"

#define FOLIOT__SNAPSHOTS_KEPT                                                                     \
    128 // that may still be somebody's baseline, beside those not yet shown to spectators
#define FOLIOT__CHANGES_HELD 128    // of one player, for ticks to come
#define FOLIOT__TICKS_AHEAD_MAX 600 // that an input may be meant for
#define FOLIOT__SHOWN_TICKS 32      // of a player in lockstep, for which it is known what was shown
#define FOLIOT__GAP_MAX 65536       // changes that a server's death may have lost of one player
#define FOLIOT__MALFORMED_MAX 32    // messages, before the peer is dropped
#define FOLIOT__EVENTS_HELD (256 + 2 * FOLIOT_SESSIONS_MAX) // all sessions may end at once
#define FOLIOT__STATUS_EVERY_NS 100000000u
// A newcomer gets the same complete snapshot again and again, at first after this time, then after
// twice as much and so on, until it acknowledges any; a newer one once the first is old, and a
// reliable copy if all that took too long.
#define FOLIOT__COMPLETE_FIRST_NS 12000000u
#define FOLIOT__COMPLETE_EVERY_NS_MAX 200000000u
#define FOLIOT__COMPLETE_OLD_NS 120000000u
#define FOLIOT__COMPLETE_SHARED_NS 50000000u // several newcomers get the same one
#define FOLIOT__COMPLETE_RELIABLE_NS 600000000u
#define FOLIOT__COMPLETE_PIECES_MAX                                                                \
    32 // of a snapshot that is sent so: larger ones go reliably at once
#define FOLIOT__DISCONNECT_SUPERSEDED 300
// A peer may change its kind so often at once, and then once in such a time; never twice within the
// least time.
#define FOLIOT__KIND_CHANGES_AT_ONCE 4.0
#define FOLIOT__KIND_CHANGE_EVERY_NS 2e9
#define FOLIOT__KIND_CHANGE_LEAST_NS 1000000000u
#define FOLIOT__HEAL_LEAST_NS 10000000000u // between two heals of one peer
#define FOLIOT__ADDRESSES 256              // that are remembered, the last ones
#define FOLIOT__LAG_WINDOW_NS 1000000000u
#define FOLIOT__LATENESS_BINS 1000
#define FOLIOT__LATENESS_BIN_US 10

typedef struct foliot__session foliot__session;

// A set of sessions, by their indices: an update looks at those that have something to do, not at
// all.
#define FOLIOT__SET_WORDS ((FOLIOT_SESSIONS_MAX + 63) / 64)
static inline void foliot__set_add(uint64_t *set, uint32_t index)
{
    set[index / 64] |= (uint64_t)1 << (index % 64);
}
static inline void foliot__set_remove(uint64_t *set, uint32_t index)
{
    set[index / 64] &= ~((uint64_t)1 << (index % 64));
}

typedef enum foliot__peer_state {
    FOLIOT__PEER_NONE,
    FOLIOT__PEER_GREETING,       // connected, has not said hello
    FOLIOT__PEER_AWAITING_TOKEN, // let in; the recording lacks its player's new token
    FOLIOT__PEER_AWAITING,       // let in; what its kind needs is not there
    FOLIOT__PEER_IN,
    FOLIOT__PEER_ENDED, // marked: its place is freed when the update ends
} foliot__peer_state;

// Its traffic: peer.c has a table of it and of the changes.
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

// The rules of its build, as the hello says.
typedef enum foliot__peer_rules {
    FOLIOT__RULES_OTHER,
    FOLIOT__RULES_SAME,
    FOLIOT__RULES_SAME_FORCED, // and it steps whatever its fingerprint is
} foliot__peer_rules;

// How a peer ended.
typedef struct foliot__departure {
    bool for_good; // its player leaves; else it may come back through another peer
    bool lost;     // by the transport; else we disconnect it, with `code`
    bool at_once;  // without waiting for what was sent to it
    uint32_t code;
} foliot__departure;

// fanout.c: snapshots that it is sent, and what it has of them. First what every snapshot touches.
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

// input.c: its newest input packet.
typedef struct foliot__peer_input {
    uint64_t tick;
    uint32_t echo_us;
    uint64_t arrived_ns;
} foliot__peer_input;

// kind.c: from watcher to stepper, and back.
typedef struct foliot__peer_change {
    uint32_t count; // of changes so far
    bool reopens;   // it reported ready for what it is not, and is to know so
    foliot__kind kind;
    foliot__kind wanted; // as soon as no step runs; ANY: what it is
    foliot__kind_reason wanted_reason;
    uint64_t close_ns, since_ns, healed_ns, unhealed_ns, reopened_ns;
    double tokens; // of changes that it may still make, as of since_ns
} foliot__peer_change;

// hello.c: what it said of its build, in case it wants to step.
typedef struct foliot__peer_build {
    foliot_digest fingerprint;
    foliot__peer_rules rules;
} foliot__peer_build;

typedef struct foliot__peer {
    // First what every input and every snapshot touches, so that it shares cache lines: at a
    // thousand peers nothing of a peer is in the cache any more when its next input comes.
    foliot_peer_id id;
    foliot__peer_state state;
    uint32_t player;                    // FOLIOT__NO_PLAYER: a spectator
    foliot__session *session;           // NULL: none yet
    struct foliot__peer *next, *before; // of the session
    foliot__peer_role role;
    foliot__peer_input input;
    size_t scene_sent; // bytes
    foliot__peer_snapshots snapshots;
    foliot__rate_adaptation rate; // what it reads for every snapshot first
    foliot__departure departure;  // valid once it has ended
    char name[FOLIOT_NAME_BYTES];
    foliot__peer_change change;
    foliot__peer_build build;
    uint32_t malformed;
    uint64_t connected_ns; // or said a hello that has to wait
    uint64_t welcomed_ns;
    uint64_t stepper_input_ns, stepper_status_ns; // of its lockstep packets
    foliot__lockstep_peer lockstep;
    foliot__misbehaviour misbehaviour;
    foliot__interest_view *interest; // NULL: not in such a session
    uint64_t bulk_turn;              // when it was sent something in bulk
    uint32_t address;                // index, a hint
} foliot__peer;

// What the peers of one address, ports ignored, or of one client of tokens, have had so far; it
// outlasts them.
typedef struct foliot__address {
    uint64_t host; // foliot_transport_get_peer_address_key, or the client
    bool by_client;
    uint64_t used_ns;
    uint64_t bulk_turn;   // when one of them was sent something in bulk
    uint64_t pinned_tick; // the newest state that one of them is being sent, when last counted
    uint64_t divergences, found;                   // so far
    double searches;                               // for divergences that it may still cause ...
    uint64_t searches_ns;                          // ... as of
    uint32_t found_stage, found_part, found_field; // where the last one was
} foliot__address;

typedef enum foliot__player_state {
    FOLIOT__PLAYER_NONE,
    FOLIOT__PLAYER_ENTERING, // joins the world with the next tick
    FOLIOT__PLAYER_IN_WORLD,
    FOLIOT__PLAYER_LEAVING,
} foliot__player_state;

// player.c: its token, which is another one for every connection. The one that it was asked for
// with holds as well until its owner has shown, by a packet, that the new one arrived; that one is
// forgotten then, but for its proof.
typedef struct foliot__player_token {
    foliot__token current;
    foliot_player_proof proof, before, spent; // spent: of the last one that holds no more
    bool same;                     // `before` was of this player; else of one that was gone
    bool rotated, acknowledged;    // to be noted in the recording, with the next tick
    uint64_t noted_tick, noted_ns; // that its block has, and when it was given to the recording
} foliot__player_token;

// input.c, stream.c: what it plays, and what its client shows meanwhile.
typedef struct foliot__player_input {
    uint32_t next_sequence; // of the change expected next
    bool gap; // changes that the server acknowledged may have died with it: the next may be later
    // Of inputs given to the world: changes follow the JOIN by their own sequences.
    uint32_t sequence, join_sequence;
    uint64_t late_changes;
    // Of the newest input given to the world: which tick it was meant for, and how it came.
    uint64_t newest_meant;
    bool newest_streamed;
    foliot__change changes[FOLIOT__CHANGES_HELD]; // ring, by sequence
    uint32_t change_count, change_first;
    // What its client shows: how long before the tick that its newest packet is for, in
    // 1 / FOLIOT_AIM_PARTS of a tick.
    uint16_t shown_before;
    // The same in lockstep, of the packet that was the first for a tick: it has what changed then.
    struct foliot__shown_at {
        uint64_t tick;
        uint16_t before;
    } shown_at[FOLIOT__SHOWN_TICKS];
} foliot__player_input;

typedef struct foliot__player_slot {
    foliot__player_state state;
    char name[FOLIOT_NAME_BYTES];
    foliot__player_token token;
    uint64_t host;           // address of its last peer, to count by; 0: unknown
    bool leaves;             // said goodbye before its first tick
    bool announced;          // everybody knows of it,
    uint32_t announced_body; // and of this body
    int64_t peer;            // index, -1: its peer is gone
    uint64_t lost_ns;
    foliot__player_input input;
    uint32_t aim; // what the rules know that its client shows; UINT32_MAX: nothing
    foliot__order_book orders;
    char leave_reason[FOLIOT__LEAVE_REASON_BYTES]; // a sentence for the rules, may be ""
} foliot__player_slot;

// schedule.c: when ticks are due, and how late they are closed.
typedef struct foliot__session_clock {
    double pace_hz;
    uint64_t first_tick, last_tick; // last: UINT64_MAX without end
    uint64_t base_ns;               // when the first tick began
    uint64_t worst_late_ns,
        late_again_ns;    // of ticks since the last event; the next one from there on
    bool running_late;    // a tick was stepped when the next was due already
    uint64_t newest_late; // snapshot of such a tick
    // How far behind their deadlines ticks are closed at least, in this window and the last one.
    uint64_t lag_ns, lag_before_ns, lag_window_ns;
} foliot__session_clock;

// fanout.c: what watchers are sent. Made when the first one comes.
typedef struct foliot__session_snapshots {
    uint32_t every; // ticks
    foliot_snapshot_format format;
    foliot_snapshot_coder *coder;
    foliot_snapshot_pieces pieces;
    foliot_snapshot_pieces complete; // of the snapshot of tick `complete_tick` against no baseline
    bool has_complete;
    uint64_t complete_tick;
    foliot_snapshot *ring; // by tick / every
    uint32_t kept;
    uint64_t newest;       // tick; valid if there are snapshots
    uint64_t broadcast_ns; // when one was sent last
} foliot__session_snapshots;

// admin.c: whether it goes on, and who may come.
typedef struct foliot__session_life {
    bool ended;
    bool retired; // it has ended and is empty: only its name is left
    bool closed;  // nobody new is let in
    bool paused;
    uint64_t paused_ns, notice_ns; // since; when its peers are told next that it lives
    bool follows_next;
    uint64_t next_until_ns; // it has ended, and who comes waits so long for what follows; 0: not
} foliot__session_life;

// step.c: the step that runs, or has run and its results wait.
typedef struct foliot__session_step {
    foliot_input *inputs;
    uint32_t input_count, input_capacity;
    uint64_t began_ns;
    bool running;                    // until its results are read
    bool captures;                   // a snapshot too
    bool notes_tokens;               // its block is written out at once
    foliot_status stepped, captured; // of the last step
    foliot_status failed;            // what ended the session; FOLIOT_STATUS_OK: nothing did
    uint64_t frozen_reported;
} foliot__session_step;

// step.c: what became of the recording.
typedef struct foliot__session_record {
    foliot_status status; // the first that was not fine
    bool reported;
    uint64_t ticks_lost; // of those that are counted as unrecorded
} foliot__session_record;

// kind.c: which kinds its peers are.
typedef struct foliot__session_roles {
    foliot_session_mode mode; // of peers that ask for no kind
    bool refuses_forced;
    foliot_digest fingerprint; // of the scene or the simulation; valid if has_fingerprint
    bool has_fingerprint;
    bool wanted;                  // some peers wait for another kind
    uint64_t stepped_ns, rest_ns; // when there was a stepper last; when that was looked at
} foliot__session_roles;

struct foliot__session {
    foliot_server *server;
    uint32_t index;      // in the server
    foliot__peer *peers; // in the order of their indices; some may have ended
    char name[FOLIOT_NAME_BYTES];
    const foliot_scene *scene;
    foliot_world *world;          // NULL: another simulation
    foliot_simulation simulation; // what is stepped; its setup is `setup`
    foliot_hosted_world hosted;   // its `self`, where it is a world
    foliot_recording *recording;
    uint64_t tick;        // the next to close
    uint32_t delay_ticks; // that spectators are behind
    uint32_t input_delay;
    foliot__session_clock clock;
    foliot__session_step step;
    foliot__session_record record;
    foliot__session_life life;
    foliot__session_roles roles;
    foliot__session_snapshots snapshots;
    foliot__interest_map *interest; // NULL: everybody is sent everything
    struct {
        uint8_t *bytes;
        size_t length;
    } setup; // the scene, or the setup of another simulation
    foliot__player_slot *players;
    uint32_t player_limit;
    uint32_t players_here;      // whose place is not free
    bool awaiting;              // some peers wait for their welcome
    foliot__lockstep *lockstep; // what steppers need; NULL: there was none yet
    foliot__game game;
    foliot__step_events step_events;
};

// Waits to be polled. Its session may be gone by then.
typedef struct foliot__held_event {
    foliot_server_event event; // but for the session's name
    char session[FOLIOT_NAME_BYTES];
} foliot__held_event;

// schedule.c: which sessions an update looks at, and how late ticks were closed.
typedef struct foliot__schedule {
    // Sessions that were sent something or wait for something, those whose next tick is due
    // (UINT64_MAX: not by time), and those whose step has finished, as workers report.
    uint64_t touched[FOLIOT__SET_WORDS], due_ns[FOLIOT_SESSIONS_MAX];
    _Atomic uint64_t finished[FOLIOT__SET_WORDS];
    bool begun;        // there was an update
    uint64_t epoch_ns; // when the first session was added: ticks are spread from there
    uint64_t lateness[FOLIOT__LATENESS_BINS]; // ticks, by how late they were closed
    double lateness_sum_us;
} foliot__schedule;

// peer.c: events that the host has not polled.
typedef struct foliot__server_events {
    foliot__held_event ring[FOLIOT__EVENTS_HELD];
    uint32_t first, count;
    char session[FOLIOT_NAME_BYTES]; // of the event that was polled last
} foliot__server_events;

// bulk.c: what goes out in quantity.
typedef struct foliot__server_bulk {
    double bytes; // that may go, as of a time
    uint64_t ns;
    uint64_t turn; // so far
    bool waits;    // something does
} foliot__server_bulk;

// divergence_search.c: how many searches may begin.
typedef struct foliot__server_searches {
    double tokens; // as of a time
    uint64_t tokens_ns;
    bool found; // by some session, since the host last polled all
} foliot__server_searches;

// server.c: how it stops.
typedef struct foliot__server_stop {
    bool stopping;
    bool silent; // it says nothing: whoever comes is to come again
    uint64_t ns;
    char why[FOLIOT__SENTENCE_BYTES];
} foliot__server_stop;

// admin.c: who is let in.
typedef struct foliot__server_admission {
    bool closed; // as of a session
    bool (*admit)(void *user, const char *session, const char *name, const char *address,
                  const foliot_peer_identity *identity,
                  char why[160]); // NULL: all
    void *user;
} foliot__server_admission;

struct foliot_server {
    foliot_server_config config;
    foliot_server_counters counters;
    foliot__session *sessions[FOLIOT_SESSIONS_MAX];
    uint32_t session_count;
    uint32_t lockstep_count; // sessions in lockstep, ended ones too
    foliot__schedule schedule;
    foliot__peer *peers;            // by the transport's index
    uint32_t peers_max, peers_used; // used: none of those after is
    foliot_peer_id *group;          // scratch of the fan-out
    uint32_t *order;
    uint64_t now_ns, expire_ns, watch_ns;
    uint64_t watched[32]; // counts at which watch.c reports something, by its lists
    uint64_t arrived_ns;  // the packet that is being read
    foliot_digest fingerprint, fingerprint_base;
    foliot__server_stop stop;
    foliot__server_admission admission;
    foliot__address addresses[FOLIOT__ADDRESSES];
    foliot__server_searches searches;
    foliot__server_bulk bulk;
    foliot__server_events events;
};

// peer.c
typedef struct foliot__role_traffic {
    bool watches, steps;
    uint32_t next; // the roles that may follow
} foliot__role_traffic;
void foliot__server_event(foliot_server *server, foliot_server_event_kind kind,
                          const foliot__session *session, uint32_t player, uint64_t value,
                          const char *text);
// To a peer that the transport has lost it is not sent: a DISCONNECTED event is on its way.
void foliot__server_send_packet(foliot_server *server, foliot_peer_id peer,
                                foliot_delivery delivery, const uint8_t *bytes, size_t length);
void foliot__server_send(foliot_server *server, foliot_peer_id peer,
                         const foliot__message *message);
// The same, unreliably and twice: whichever copy comes first is taken.
void foliot__server_send_twice(foliot_server *server, foliot_peer_id peer,
                               const foliot__message *message);
void foliot__session_send(foliot__session *session, const foliot__message *message); // to all peers
// Goodbye to a peer, and to all of a session that has ended.
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
// The peers of a session are a list of its own, so that it never looks at those of others.
void foliot__peer_enter_session(foliot__peer *peer, foliot__session *session);
void foliot__peer_leave_session(foliot__peer *peer);
// Round the list once, from the first peer whose index is at least so: NULL at its end.
foliot__peer *foliot__session_peer_from(const foliot__session *session, uint32_t index);
foliot__peer *foliot__session_peer_after(const foliot__session *session, const foliot__peer *peer,
                                         const foliot__peer *first);
// Marks the peer; server.c frees its place when the update ends, and no handler before.
void foliot__peer_end(foliot__peer *peer, foliot__departure departure);
// The peer's player came back through another one, so that this one is a ghost.
void foliot__peer_supersede(foliot_server *server, uint32_t peer);
// The peer has ended afterwards, and its player leaves: for good, unless the peer was only slow or
// silent.
void foliot__peer_drop(foliot_server *server, foliot__peer *peer, foliot__refusal reason,
                       const char *why);
// Nonsense is forgiven for a while, and counted. The peer may have ended afterwards.
void foliot__peer_offended(foliot_server *server, foliot__peer *peer);
void foliot__peer_malformed(foliot_server *server, foliot__peer *peer);

// The peer is to be of another kind as soon as no step runs; kind.c sees to it.
void foliot__peer_want(foliot__peer *peer, foliot__kind kind, foliot__kind_reason reason);
// Its lockstep traffic is over: `lockstep` is void.
void foliot__peer_close_lockstep(foliot__peer *peer);

// schedule.c
uint32_t foliot__session_ticks(const foliot__session *session,
                               double seconds); // at least 1, at most a million
uint64_t foliot__session_due_ns(const foliot__session *session, uint64_t tick); // when it is closed
// When the first tick of a session begins that is added now: ticks of many sessions are spread over
// a few moments, so that none waits for all others.
uint64_t foliot__session_base_ns(foliot_server *server, uint32_t index, double pace_hz);
void foliot__schedule_begin(foliot_server *server); // each update: the first one does something
// The next tick's time, for the server; UINT64_MAX while it steps, and once it has ended.
void foliot__session_schedule(const foliot__session *session);
uint64_t foliot__schedule_wake_ns(const foliot_server *server); // of the first tick that is due
// Adds the sessions whose tick is due.
void foliot__schedule_due(const foliot_server *server, uint64_t set[FOLIOT__SET_WORDS]);
void foliot__session_note_lag(foliot__session *session); // a step was taken in
// When the tick will be closed, where steps take longer than there is time for: what inputs must
// keep to.
uint64_t foliot__session_closes_ns(const foliot__session *session, uint64_t tick);
void foliot__session_count_late(foliot__session *session); // the tick that is about to be closed
// Ticks that spectators who step are behind. Of a world there are none: they watch.
static inline uint32_t foliot__stepper_delay(const foliot__session *session)
{
    return session->world ? 0 : session->delay_ticks;
}
uint64_t foliot__lockstep_shown(const foliot__session *session,
                                bool spectates); // ticks before are for all such peers to see
uint64_t foliot__lockstep_visible(const foliot__session *session,
                                  const foliot__peer *peer); // the same, for one

// player.c
// Players who were there when the server that wrote the recording died.
void foliot__players_keep(foliot__session *session);
// A player for a newcomer, or the one that the token names. FOLIOT__NO_PLAYER if there is no room.
uint32_t foliot__player_enter(foliot__session *session, const foliot__hello_message *hello,
                              uint32_t peer, bool *resumed);
// Whether the address has all the places of players that it may have.
bool foliot__players_over_address(const foliot__session *session, uint64_t host);
// Whether somebody may come back to that player with the token.
bool foliot__player_known(const foliot__session *session, const foliot__token *token);
void foliot__player_acknowledge_token(foliot__session *session,
                                      const foliot__peer *peer); // its welcome, as it plays
// The peer has ended. Whether its player was its own still, and has no peer now.
bool foliot__player_peer_lost(foliot__session *session, const foliot__peer *peer);
void foliot__players_expire(foliot__session *session); // those whose peers do not come back

// input.c
void foliot__input_receive(foliot__session *session, foliot__peer *peer,
                           const foliot__input_packet *packet);

// updates.c
foliot_status foliot__updates_begin(foliot__session *session);
void foliot__updates_end(foliot__session *session);
void foliot__updates_step(foliot__session *session); // a step was taken in
void foliot__updates_greet(foliot__session *session, const foliot__peer *peer); // all so far
// To one player or FOLIOT_TO_ALL; `from` is a player or FOLIOT__NO_PLAYER.
void foliot__session_message(foliot__session *session, uint32_t to, uint32_t from,
                             const uint8_t *bytes, size_t length, bool reliable);

void foliot__messages_record(foliot__session *session); // those said so far

// orders.c
void foliot__orders_receive(foliot__session *session, foliot__peer *peer,
                            const foliot__order_message *message);
void foliot__orders_enter(foliot__order_book *book, uint64_t now_ns); // a new player
// One who was there when the server that wrote the recording died; `sequence` is of his last order.
void foliot__orders_keep(foliot__order_book *book, uint32_t sequence, uint32_t aims,
                         uint64_t now_ns);
// Those of a player that the tick which is closed now takes; `all`: he leaves.
void foliot__orders_close(foliot__session *session, uint32_t player, bool all);
// For rules that look back: what the player was shown, bounded, before what it did then. `steady`:
// it does nothing new, and small changes are left out.
void foliot__orders_close_aimed(foliot__session *session, uint32_t player, uint64_t shown,
                                bool steady);
void foliot__orders_close_joined(foliot__session *session, uint32_t player);
void foliot__orders_close_left(foliot__session *session, uint32_t player);
void foliot__orders_acknowledge(foliot__session *session);

// commands.c
foliot_status foliot__game_create(foliot__session *session, const foliot_session_config *config);
void foliot__game_destroy(foliot__session *session);
void foliot__commands_close(foliot__session *session); // of the tick that is closed now
// Of a simulation that is no world: what the orders closed with that tick become.
void foliot__commands_take_orders(foliot__session *session);
void foliot__rules_run(foliot__session *session);          // after its step, on the same thread
void foliot__rules_take_results(foliot__session *session); // when the step is taken in
// Why the session ends because of its rules, as it was configured to; NULL: it does not.
const char *foliot__rules_end_session(const foliot__session *session);

// step_events.c
foliot_status foliot__step_events_create(foliot__session *session,
                                         const foliot_session_config *config);
void foliot__step_events_destroy(foliot__step_events *events);
void foliot__step_events_take(foliot__session *session); // a step was taken in
uint32_t foliot__step_events_poll(foliot__step_events *step_events, foliot_step_event *events,
                                  uint32_t capacity);

// kind.c
// The kind that a newcomer is given. ANY: it is refused, since it could only step, and computes
// differently.
foliot__kind foliot__kind_of_newcomer(foliot__session *session, foliot__peer *peer,
                                      const foliot__hello_message *hello,
                                      foliot__kind_reason *reason);
foliot_digest foliot__session_fingerprint(foliot__session *session);
const foliot_simulation_kind *foliot__session_steps(const foliot__session *session);
// Whether what peers of that kind are sent is there. If not it can be made while no step runs.
bool foliot__kind_has_machinery(const foliot__session *session, foliot__kind kind);
foliot_status foliot__kind_make_machinery(foliot__session *session, foliot__kind kind);
void foliot__kind_open(foliot__session *session, foliot__peer *peer, foliot__kind kind);
// A client wishes to be another kind, or is ready.
void foliot__kind_receive(foliot__session *session, foliot__peer *peer,
                          const foliot__kind_message *message);
void foliot__kinds_update(foliot__session *session); // no step runs
bool foliot__session_is_watched(const foliot__session *session);

// welcome.c
void foliot__peer_welcome(foliot_server *server, foliot__peer *peer);
void foliot__peer_welcome_again(foliot_server *server, foliot__peer *peer);
// A step was taken in, or nothing is recorded any more: peers whose player's token is safe are
// welcomed.
void foliot__session_welcome_awaiting(foliot__session *session);

// hello.c
void foliot__server_hello(foliot_server *server, foliot__peer *peer,
                          const foliot__hello_message *hello);

// admin.c
void foliot__session_rest(foliot__session *session); // each update: while it is paused

// session.c
foliot_status foliot__session_create(foliot_server *server, const foliot_session_config *config,
                                     uint32_t index, foliot__session **session);
void foliot__session_destroy(foliot__session *session); // and those before it
void foliot__session_retire(foliot__session *session);  // it has ended, and nobody is in it
// The session there has ended and no peer is in it any more.
void foliot__session_replace(foliot__session **place, foliot__session *session);
foliot__session *foliot__session_find(const foliot_server *server,
                                      const char *name); // "": the first; NULL: none

// step.c
static inline bool foliot__session_has_stepped(const foliot__session *session) // its step
{
    uint64_t word = atomic_load_explicit(&session->server->schedule.finished[session->index / 64],
                                         memory_order_acquire);
    return (word >> (session->index % 64)) & 1;
}
void foliot__session_update(foliot__session *session);

// lockstep.c
foliot_status foliot__lockstep_create(foliot__session *session); // no step runs
void foliot__lockstep_destroy(foliot__session *session);
void foliot__lockstep_closed(foliot__session *session); // the tick whose step is about to start
void foliot__lockstep_take(foliot__session *session, foliot__peer *peer,
                           const foliot__lockstep_input *packet);

// watch.c
void foliot__watch_update(foliot_server *server);

// misbehaviour.c
// Counted and reported. The peer may have ended afterwards: one that goes on is dropped.
void foliot__peer_violated(foliot__session *session, foliot__peer *peer,
                           foliot__violation violation);
bool foliot__peer_floods(foliot__session *session,
                         foliot__peer *peer); // a packet too many, to be left unread

// early.c
void foliot__early_ask(foliot__session *session, foliot__peer *peer); // it predicts
// Inputs that came in time for a tick that is not closed.
void foliot__early_add(foliot__session *session, uint64_t tick, const foliot_input *inputs,
                       uint32_t count);
void foliot__early_update(foliot__session *session); // hands them on
// So many bytes of closed ticks were sent.
void foliot__early_allow(foliot__session *session, size_t bytes);

// stream.c
void foliot__stream_restart(foliot__stream *stream);
void foliot__stream_take(foliot__session *session, foliot__peer *peer, const foliot__block *block,
                         uint64_t first);
// The inputs of the tick that is closed now, at most FOLIOT__STREAM_INPUTS_MAX, and the ticks that
// they were meant for.
#define FOLIOT__STREAM_INPUTS_MAX (FOLIOT__LATE_HELD + FOLIOT__INPUTS_A_TICK)
uint32_t foliot__stream_close(foliot__session *session, uint32_t player, foliot_input *inputs,
                              uint64_t *meant);

// keyframe.c
void foliot__keyframe_prepare(foliot__session *session, foliot__keyframe *keyframe);
void foliot__keyframe_choose(foliot__session *session);
void foliot__keyframe_save(foliot__session *session);
bool foliot__keyframe_saved(foliot__session *session);
// The newest of a tick not after `tick`, whose ticks since are known. NULL: none.
const foliot__keyframe *foliot__keyframe_before(const foliot__session *session, uint64_t tick);
// The peer's state, or what follows it, is not kept any more: it begins anew. It may have
// ended afterwards: too many times are its end.
void foliot__keyframe_withdraw(foliot__session *session, foliot__peer *peer);

// late_join.c
bool foliot__late_join_possible(const foliot__session *session, bool spectates);
// Whether the peer is to be sent something of the state or the ticks since; and some of that. The
// number of bytes; 0: not now.
bool foliot__late_join_wants(const foliot__session *session, const foliot__peer *peer);
size_t foliot__late_join_send(foliot__session *session, foliot__peer *peer);
// Every tick: who lacks what is forgotten begins anew, and who stands still is dropped. The peer
// may have ended afterwards.
void foliot__late_join_check(foliot__session *session, foliot__peer *peer);
void foliot__late_join_acknowledge(foliot__session *session, foliot__peer *peer,
                                   const foliot__keyframe_acknowledge *heard);

// bulk.c
void foliot__bulk_update(foliot_server *server);
uint64_t foliot__bulk_wake_ns(const foliot_server *server); // UINT64_MAX: nothing waits

// address.c
// Of the peer's address; never NULL. Lasts until the next call.
foliot__address *foliot__address_of(foliot_server *server, foliot__peer *peer);

// desync_check.c
void foliot__desync_check_report(foliot__session *session, foliot__peer *peer, uint64_t stepped,
                                 uint64_t digests);
void foliot__desync_check_step(foliot__session *session); // a step was taken in
bool foliot__is_logged(uint64_t count); // the first few, and then 10, 100, 1000, ...

// divergence_search.c
bool foliot__divergence_search_begin(foliot__session *session,
                                     foliot__peer *peer); // false: another one is on
void foliot__divergence_search_update(foliot__session *session);
void foliot__divergence_search_response(foliot__session *session, const foliot__peer *peer,
                                        const foliot__search_message *answer);
bool foliot__divergence_search_running(const foliot__session *session); // on a worker

// fanout.c
foliot_status foliot__fanout_init(foliot__session *session); // no step runs
// The world as it is now is the newest snapshot, where none of a recent tick is. No step runs.
foliot_status foliot__fanout_refresh(foliot__session *session);
bool foliot__fanout_is_recent(const foliot__session *session);
void foliot__fanout_close(foliot__session *session);
foliot_snapshot *foliot__fanout_next(foliot__session *session, uint64_t tick); // where to capture
// The tick of the newest snapshot that the peer may see.
uint64_t foliot__fanout_shown(const foliot__session *session, const foliot__peer *peer);
// A snapshot was captured; `before` is the tick of the one before it.
void foliot__fanout_captured(foliot__session *session, uint64_t before);
// What it has of the bodies that it is interested in.
void foliot__fanout_take_partial(foliot__session *session, foliot__peer *peer,
                                 const foliot__partial_acknowledge *packet);
// It has acknowledged a snapshot that it had not before.
void foliot__fanout_acknowledge(const foliot__session *session, foliot__peer *peer, uint64_t tick);
// The snapshot of that tick; NULL if it is not kept any more.
const foliot_snapshot *foliot__fanout_find(const foliot__session *session, uint64_t tick);
void foliot__fanout_broadcast(foliot__session *session);
// A recent snapshot complete in itself: the first baseline of a newcomer.
void foliot__fanout_greet(foliot__session *session, foliot__peer *peer);

#endif
