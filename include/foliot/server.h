// SPDX-License-Identifier: MIT
// server.h: hosts sessions. Passive: the host calls foliot_server_update with the time, and sleeps
// until foliot_server_get_wake_ns or until the transport's descriptor is readable. No clock, no
// loop, no thread of its own, so that the same server runs in a program, in a game, and in a
// simulation on a virtual clock.
#ifndef FOLIOT_SERVER_H
#define FOLIOT_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/lockstep.h"
#include "foliot/recording.h"
#include "foliot/scene.h"
#include "foliot/simulation.h"
#include "foliot/status.h"
#include "foliot/transport.h"
#include "foliot/world.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FOLIOT_SESSIONS_MAX 64
// An update costs some time for every peer, though one datagram has come: after one that received
// something a host may let what comes next wait so long. Inputs act when their tick is closed, and
// so lose nothing.
#define FOLIOT_SERVER_REST_NS 750000u

typedef struct foliot_server foliot_server;

typedef struct foliot_server_config {
    foliot_transport *transport; // lent; the host destroys it after the server
    // Lends a worker: must call run(job) once, on any thread, and then have foliot_server_update
    // called soon. NULL: steps run inside foliot_server_update, and the network waits for them.
    void (*start)(void *user, void (*run)(void *job), void *job);
    void *start_user;
    double snapshot_hz;      // at most; 0: every tick
    uint32_t reconnect_ms;   // a player whose peer was lost is kept for so long
    uint32_t catch_up_ticks; // at most so many late ticks in one update
    // One address has at most so many places of players in a session, those kept for who may come
    // back included. 0: a quarter, at least 2. A host that all reach from one address (the
    // loopback) wants FOLIOT_PLAYERS_MAX here.
    uint32_t players_per_address_max;
    foliot_digest fingerprint; // of this build, if the host knows it; zero: asked for, which takes
                               // milliseconds
    // Where tokens come from: fills bytes with random ones that nobody can guess. NULL: the system.
    // Another one is for simulations from a seed alone: who can guess a token can take a player
    // over.
    void (*random)(void *user, void *bytes, size_t count);
    void *random_user;
} foliot_server_config;
foliot_server_config foliot_server_config_default(void);

foliot_status foliot_server_create(const foliot_server_config *config, uint64_t now_ns,
                                   foliot_server **server);
// Waits for running steps; closes nothing that it was lent.
void foliot_server_destroy(foliot_server *server);

typedef enum foliot_session_mode {
    FOLIOT_SESSION_SNAPSHOTS, // the server steps, clients are shown
    FOLIOT_SESSION_LOCKSTEP,  // everybody steps the same inputs; the server is the judge
} foliot_session_mode;

typedef struct foliot_session_config {
    const char *name;          // unique, copied
    const foliot_scene *scene; // lent until the server is destroyed; NULL with a simulation
    foliot_world
        *world; // at the tick to go on from; the server owns it afterwards; NULL with a simulation
    foliot_recording *recording; // begun on that world; lent; NULL: none
    double pace_hz;              // ticks a real second, > 0
    uint64_t ticks;              // ends after so many, 0: never
    const foliot_host *host;     // for the steps; lent; NULL: none
    foliot_session_mode mode;
    double
        spectator_delay_s; // spectators are shown what was so long ago; states of so long are kept
    // Lockstep alone:
    foliot_simulation
        *simulation;       // instead of a world: any other; lent, with its setup. NULL: the world
    uint32_t player_limit; // of such a simulation
    uint32_t input_delay;  // ticks between an input and its effect that all players have who can
                           // keep to it
    bool refuses_forced;   // clients of another fingerprint stay out though they ask with force
} foliot_session_config;
// Name "main", 60 ticks a second, snapshots, an input delay of 3 ticks. The caller sets scene and
// world, or the simulation. The all-zero config is invalid.
foliot_session_config foliot_session_config_default(void);
// FOLIOT_STATUS_FULL, FOLIOT_STATUS_INVALID (name taken or empty, pace not positive, a simulation
// without lockstep). Its first tick is closed one period later.
foliot_status foliot_server_add_session(foliot_server *server, const foliot_session_config *config,
                                        uint64_t now_ns);

// Receives, closes due ticks, starts due steps, sends what is finished.
void foliot_server_update(foliot_server *server, uint64_t now_ns);
uint64_t foliot_server_get_wake_ns(const foliot_server *server);
// Tells every peer why, and takes no more. The host goes on updating until foliot_server_get_done.
void foliot_server_stop(foliot_server *server, const char *why, uint64_t now_ns);
// All sessions have ended and nothing runs any more.
bool foliot_server_get_done(const foliot_server *server);

// What happened, for logs; polled. `text` until the next poll; made printable.
typedef enum foliot_server_event_kind {
    FOLIOT_SERVER_JOINED,  // player `player` of session `session`; text: name and address
    FOLIOT_SERVER_RESUMED, // the same player came back
    FOLIOT_SERVER_LOST,    // its peer is gone, it is kept for reconnect_ms
    FOLIOT_SERVER_LEFT,
    FOLIOT_SERVER_REFUSED, // text: why
    FOLIOT_SERVER_DROPPED, // a peer that went on sending nonsense or lies; text: who, and why
    FOLIOT_SERVER_LATE,    // ticks that were caught up; count in `value`
    FOLIOT_SERVER_FROZEN,  // body `value` left the numbers
    FOLIOT_SERVER_RECORDING_STOPPED,
    FOLIOT_SERVER_ENDED,     // the session reached its last tick
    FOLIOT_SERVER_VIOLATION, // lockstep: a peer said what no honest one says; text: who and what;
                             // `value`: how often
    FOLIOT_SERVER_DIVERGED,  // lockstep: a peer's digests differ from ours after tick `tick`; text:
                             // who
    FOLIOT_SERVER_FOUND, // lockstep: where a divergence is: foliot_server_poll_divergence; `value`:
                         // its tick
    FOLIOT_SERVER_BEHIND,   // lockstep: a peer fell so far behind that it was given a new state
    FOLIOT_SERVER_SPENT,    // somebody came with a token that was replaced: the player's, or a
                            // thief's; text: the player's name
    FOLIOT_SERVER_REFUSALS, // what a hostile network does was refused; text: the counter; `value`:
                            // how often so far
} foliot_server_event_kind;
#define FOLIOT_SERVER_EVENT_KINDS (FOLIOT_SERVER_REFUSALS + 1)
typedef struct foliot_server_event {
    foliot_server_event_kind kind;
    const char *session;
    uint32_t player; // UINT32_MAX: a spectator
    uint64_t tick, value;
    char text[160];
} foliot_server_event;
bool foliot_server_poll(foliot_server *server, foliot_server_event *event);

// A divergence that was searched for and found since the last call; false: none. To be taken after
// each update: what it points to lasts until the next one.
bool foliot_server_poll_divergence(foliot_server *server, foliot_divergence_report *found);

#define FOLIOT_SERVER_COUNTERS(X)                                                                  \
    X(ticks)                                                                                       \
    X(ticks_late) /* closed after the next one was due */                                          \
    X(inputs)                                                                                      \
    X(inputs_late) /* counted in a later tick than they were meant for */                          \
    X(inputs_repeated)                                                                             \
    X(inputs_refused)   /* too far ahead, or more than a player may hold */                        \
    X(inputs_abandoned) /* their player left before their tick was closed */                       \
    X(joins)                                                                                       \
    X(resumes)                                                                                     \
    X(leaves)                                                                                      \
    X(refusals)                                                                                    \
    X(byes)                                                                                        \
    X(peers_lost)                                                                                  \
    X(peers_superseded) /* their player came back through another */                               \
    X(tokens_rotated)                                                                              \
    X(tokens_spent)          /* that somebody came with though they had been replaced */           \
    X(refusals_over_address) /* players, whose address has all the places that it may */           \
    X(refusals_reserved)     /* newcomers, while connections are kept for players who may come     \
                                back */                                                            \
    X(input_packets)                                                                               \
    X(answers)          /* to what lockstep asks or sends */                                       \
    X(messages_ignored) /* later copies of a hello, and what peers that were dismissed sent */     \
    X(messages_malformed)                                                                          \
    X(messages_unexpected) X(peers_dropped) X(snapshots_sent)                                      \
        X(snapshots_complete) /* against no baseline */ X(snapshot_pieces_sent)                    \
            X(snapshots_superseded) /* not sent: late ticks were being made up for, and a          \
                                       newer one was due */                                        \
        X(snapshots_thinned)        /* not sent to a peer whose network does not take them all */  \
        X(snapshot_bytes_sent) X(snapshot_encodes) X(events_dropped) X(ticks_unrecorded)           \
            FOLIOT_SERVER_LOCKSTEP_COUNTERS(X)
// What no honest client does; each is told as FOLIOT_SERVER_VIOLATION, and counted: inputs for
// another player; others for a tick than before; for a tick closed long ago; acknowledged what was
// never sent; a divergence that its own answers deny; more packets than anyone needs.
#define FOLIOT_SERVER_VIOLATIONS(X)                                                                \
    X(violations_other_player)                                                                     \
    X(violations_contradicted)                                                                     \
    X(violations_long_ago) X(violations_unclosed) X(violations_digests) X(violations_flood)
#define FOLIOT_SERVER_LOCKSTEP_COUNTERS(X)                                                         \
    X(relays_sent)                                                                                 \
    X(relay_bytes_sent)                                                                            \
    X(relay_encodes)                                                                               \
    X(holes_filled) /* ticks sent again, for they were missed */                                   \
    X(holes_put_off)                                                                               \
    /* to a later tick: so much work is done in one */ X(                                          \
        ticks_too_large) /* for a packet: sent reliably */                                         \
    X(relays_spared)     /* not sent to a peer that says nothing */                                \
    X(ticks_missing)     /* closed without a word of a player: he holds what he held */            \
    X(inputs_superseded) /* so late that a newer one had been played */                            \
    X(inputs_stale)      /* for a tick that is remembered no more */                               \
    X(keyframes_saved)                                                                             \
    X(keyframes_unsaved)                                                                           \
    /* all places were in use */ X(keyframes_sent)                                                 \
    X(keyframes_taken_back) /* overwritten while they were sent: whom they were for begin          \
                               anew */                                                             \
    X(keyframes_stalled)    /* peers that acknowledged next to nothing of one, and were dropped    \
                             */                                                                    \
    X(keyframe_bytes_sent)                                                                         \
    X(behind)       /* peers that were given a new state */                                        \
    X(peers_silent) /* dropped, for they said nothing though their transport answered */           \
    X(ticks_compared)                                                                              \
    /* digests of clients, that is */ X(divergences) X(searches)                                   \
        X(search_steps) /* taken again for them */ X(                                              \
            searches_put_off) /* no budget was left, until later */                                \
        X(searches_refused)   /* over a peer's, or too late */                                     \
        FOLIOT_SERVER_VIOLATIONS(X)
typedef struct foliot_server_counters {
#define FOLIOT_SERVER_COUNTER_FIELD(name) uint64_t name;
    FOLIOT_SERVER_COUNTERS(FOLIOT_SERVER_COUNTER_FIELD)
#undef FOLIOT_SERVER_COUNTER_FIELD
} foliot_server_counters;
const foliot_server_counters *foliot_server_get_counters(const foliot_server *server);

// How many there are now.
typedef struct foliot_server_presence {
    uint32_t peers;   // connections that have not been dismissed
    uint32_t players; // of all sessions, those who are kept for a while included
    uint32_t absent;  // of them: their peer is gone
    uint32_t inputs;  // that wait for their tick
} foliot_server_presence;
foliot_server_presence foliot_server_get_presence(const foliot_server *server);

// How late ticks were closed after their deadline, in us: the quantile `share` (0..1) over all so
// far, to 10 us, at most 10,000. What was late by whole ticks is in ticks_late.
double foliot_server_get_lateness_us(const foliot_server *server, double share);

// The world of a session, between updates; NULL: no such session, none of ours, or a step is
// running.
const foliot_world *foliot_server_get_world(const foliot_server *server, const char *session);

#ifdef __cplusplus
}
#endif

#endif
