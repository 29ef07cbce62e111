// SPDX-License-Identifier: MIT
// session.h: a session and the server that it is of. Each file calls only files above its own:
//   rate_adaptation.c              how many snapshots a peer is sent
//   interest_map.c, interest_records.c, interest.c  what of a big world a watcher is sent
//   peer.c, schedule.c             a peer: its messages, its budgets, its end; when ticks are due
//   input.c, stream.c              inputs of a player until their tick: changes; lockstep
//   record.c                       the recording of a session
//   player.c                       players, their tokens, and what happens to them without a peer
//   keyframe.c, late_join.c        saved states; what newcomers are sent in quantity
//   desync.c, lockstep.c           divergences; closed ticks
//   fanout.c                       snapshots to peers
//   updates.c, orders.c, commands.c  messages and what changed; orders; commands and rules
//   kind.c                         watchers and steppers, and how one becomes the other
//   join.c, session.c, step.c      letting in; a session's beginning and end; its ticks
//   server.c, admin.c              the host's side
#ifndef FOLIOT_SERVER_LIB_SESSION_H
#define FOLIOT_SERVER_LIB_SESSION_H

#include <stdatomic.h>

#include "foliot/server.h"
#include "foliot/snapshot.h"
#include "game.h"
#include "interest.h"
#include "lockstep.h"
#include "peer.h"
#include "player.h"

#define FOLIOT__EVENTS_HELD (256 + 2 * FOLIOT_SESSIONS_MAX) // all sessions may end at once
#define FOLIOT__LAG_WINDOW_NS 1000000000u
#define FOLIOT__LATENESS_BINS 1000
#define FOLIOT__LATENESS_BIN_US 10

// A set of sessions, by their indices: an update visits only those that have something to do.
#define FOLIOT__SET_WORDS ((FOLIOT_SESSIONS_MAX + 63) / 64)
static inline void foliot__set_add(uint64_t *set, uint32_t index)
{
    set[index / 64] |= (uint64_t)1 << (index % 64);
}
static inline void foliot__set_remove(uint64_t *set, uint32_t index)
{
    set[index / 64] &= ~((uint64_t)1 << (index % 64));
}

// schedule.c: when ticks are due, and how late they are closed.
typedef struct foliot__session_clock {
    double pace_hz;
    uint64_t first_tick, last_tick; // last: UINT64_MAX without end
    uint64_t base_ns;               // when the first tick began
    uint64_t worst_late_ns,
        late_again_ns;    // of ticks since the last event; the next one from there on
    bool running_late;    // a tick was stepped when the next was due already
    uint64_t newest_late; // snapshot of such a tick
    // The least lateness of a tick in this window and in the last one.
    uint64_t lag_ns, lag_before_ns, lag_window_ns;
} foliot__session_clock;

// fanout.c: data for watchers. Created when the first one comes.
typedef struct foliot__session_snapshots {
    uint32_t every; // ticks
    foliot_snapshot_format format;
    foliot_snapshot_coder *coder;
    foliot_snapshot_pieces pieces;
    foliot_snapshot_pieces complete; // of the snapshot of tick `complete_tick` against no baseline
    uint64_t complete_tick;          // FOLIOT__NO_TICK: there is none
    foliot_snapshot *ring;           // by tick / every
    uint32_t kept;
    uint64_t newest;       // tick; valid if there are snapshots
    uint64_t broadcast_ns; // when one was sent last
} foliot__session_snapshots;

typedef enum foliot__session_phase {
    FOLIOT__SESSION_OPEN,
    FOLIOT__SESSION_ENDED,
    FOLIOT__SESSION_RETIRED, // it has ended and is empty: only its name is left
} foliot__session_phase;

// Work that waits until no step runs: bits of a set.
typedef enum foliot__pending {
    FOLIOT__PENDING_WELCOMES = 1, // some peers wait for their welcome
    FOLIOT__PENDING_ROLES = 2,    // some peers wait for another kind
} foliot__pending;

// admin.c: whether it is paused, and who may join.
typedef struct foliot__session_life {
    foliot__session_phase phase;
    bool closed; // nobody new is let in
    bool paused;
    uint64_t paused_ns, notice_ns; // since; when its peers are sent the next sign of life
    bool follows_next;
    uint64_t next_until_ns; // it has ended, and newcomers wait until then for the next one; 0: not
} foliot__session_life;

// step.c: the step that runs, or has run and its results wait.
typedef struct foliot__session_step {
    foliot_input *inputs;
    uint32_t input_count, input_capacity;
    uint64_t began_ns;
    bool running;                    // until its results are read
    bool captures;                   // a snapshot too
    foliot_status stepped, captured; // of the last step
    foliot_status failed;            // ended the session; FOLIOT_STATUS_OK: none did
    uint64_t frozen_reported;
} foliot__session_step;

// record.c: the state of the recording.
typedef struct foliot__session_record {
    foliot_status status; // the first that was not fine
    bool reported;
    bool writes_out;     // the block with the next tick, since it has a token
    uint64_t ticks_lost; // of those that are counted as unrecorded
} foliot__session_record;

// kind.c: the kinds of its peers.
typedef struct foliot__session_roles {
    foliot_session_mode mode; // of peers that ask for no kind
    bool refuses_forced;
    foliot_digest fingerprint;    // of the scene or the simulation; zero: not computed yet
    uint64_t stepped_ns, rest_ns; // when there last was a stepper; when that was checked
} foliot__session_roles;

struct foliot__session {
    foliot_server *server;
    uint32_t index;      // in the server
    foliot__peer *peers; // in the order of their indices; some may have ended
    char name[FOLIOT_NAME_BYTES];
    const foliot_scene *scene;
    foliot_world *world;          // NULL: another simulation
    foliot_simulation simulation; // that is stepped; its setup is `setup`
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
    uint32_t pending;           // foliot__pending
    foliot__lockstep *lockstep; // for steppers; NULL: there was none yet
    foliot__game game;
    foliot__step_events step_events;
};

static inline bool foliot__session_has_ended(const foliot__session *session)
{
    return session->life.phase != FOLIOT__SESSION_OPEN;
}

// An event to be polled. Its session may be gone by then.
typedef struct foliot__held_event {
    foliot_server_event event; // except the session's name
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

// late_join.c: the budget of bulk data.
typedef struct foliot__server_bulk {
    foliot__bucket budget; // bytes that may go
    uint64_t turn;         // so far
    bool waits;            // something does
} foliot__server_bulk;

// desync.c: how many searches may begin.
typedef struct foliot__server_searches {
    foliot__bucket bucket;
    bool found; // by some session, since the host last polled all
} foliot__server_searches;

// server.c: how it stops.
typedef struct foliot__server_stop {
    bool stopping;
    bool silent; // no reason is sent: clients try again
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
    uint64_t ran_since_ns; // without a long break
    uint64_t watched[32];  // counts at which watch_counters reports, by its lists
    uint64_t cookies_seen, connects_seen, cookies_beyond; // see cookies_beyond_joins
    uint64_t arrived_ns;                                  // the packet that is being read
    foliot_digest fingerprint, fingerprint_base;
    foliot__server_stop stop;
    foliot__server_admission admission;
    foliot__address addresses[FOLIOT__ADDRESSES];
    foliot__server_searches searches;
    foliot__server_bulk bulk;
    foliot__server_events events;
};

// schedule.c
uint32_t foliot__session_ticks(const foliot__session *session,
                               double seconds); // at least 1, at most a million
uint64_t foliot__session_due_ns(const foliot__session *session, uint64_t tick); // when it is closed
// When the first tick of a session that is added now begins: ticks of many sessions are spread over
// a few moments, so that none waits for all others.
uint64_t foliot__session_base_ns(foliot_server *server, uint32_t index, double pace_hz);
void foliot__schedule_begin(foliot_server *server); // each update: the first one does something
// The next tick's time, for the server; UINT64_MAX while it steps, and once it has ended.
void foliot__session_schedule(const foliot__session *session);
uint64_t foliot__schedule_wake_ns(const foliot_server *server); // of the first tick that is due
// Adds the sessions whose tick is due.
void foliot__schedule_due(const foliot_server *server, uint64_t set[FOLIOT__SET_WORDS]);
void foliot__session_note_lag(foliot__session *session); // a step has finished
// When the tick will be closed, if steps take longer than their period: the deadline of inputs.
uint64_t foliot__session_closes_ns(const foliot__session *session, uint64_t tick);
void foliot__session_count_late(foliot__session *session); // the tick that is about to be closed
// The delay of spectators that step, in ticks. A world has no such spectators: they watch.
static inline uint32_t foliot__stepper_delay(const foliot__session *session)
{
    return session->world ? 0 : session->delay_ticks;
}
uint64_t foliot__lockstep_shown(const foliot__session *session,
                                bool spectates); // ticks before are for all such peers to see
uint64_t foliot__lockstep_visible(const foliot__session *session,
                                  const foliot__peer *peer); // the same, for one

// session.c
foliot_status foliot__session_create(foliot_server *server, const foliot_session_config *config,
                                     uint32_t index, foliot__session **session);
void foliot__session_destroy(foliot__session *session); // and those before it
void foliot__session_retire(foliot__session *session);  // it has ended, and nobody is in it
// The session in that slot has ended and has no peer any more.
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

// admin.c
void foliot__session_rest(foliot__session *session); // each update: while it is paused

// late_join.c
void foliot__bulk_update(foliot_server *server);
uint64_t foliot__bulk_wake_ns(const foliot_server *server); // UINT64_MAX: nothing waits

// record.c
void foliot__record_begin(foliot__session *session);
void foliot__record_player(foliot__session *session, uint32_t player); // who joins with this tick
void foliot__record_token(foliot__session *session, uint32_t player);  // news of its token
// Whether a server that dies now would know the player's token again.
bool foliot__record_has_token(const foliot__session *session, const foliot__player_slot *player);
// On the worker that has stepped.
void foliot__record_tick(foliot__session *session, const foliot_tick_inputs *tick);
void foliot__record_stepped(foliot__session *session); // the step has finished
void foliot__record_report(foliot__session *session);  // to the host: that the recording stopped
// The block in progress goes to the disk now, not when it is full.
void foliot__record_write_out(foliot__session *session);
// A message is kept until the step has finished.
void foliot__record_message(foliot__session *session, uint32_t to, const uint8_t *bytes,
                            size_t length, bool reliable);
void foliot__record_messages(foliot__session *session); // those sent so far

#endif
