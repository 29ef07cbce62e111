// SPDX-License-Identifier: MIT
// client.h: joins a session as a player or a spectator, sends inputs, and gives the state to draw.
//
// A client that watches keeps a playout buffer of snapshots and interpolates between two of them,
// at a render time that adapts to the network. One that steps runs the world itself. A client may
// switch between the two during a session.
//
// The client is passive like the server: time is an argument, in nanoseconds of a clock that never
// goes back, the transport's. A client is used by one thread at a time. examples/snapshot_session.c
// shows one.
#ifndef FOLIOT_CLIENT_H
#define FOLIOT_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/command.h"
#include "foliot/divergence.h"
#include "foliot/rules.h"
#include "foliot/scene.h"
#include "foliot/simulation.h"
#include "foliot/status.h"
#include "foliot/transport.h"
#include "foliot/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct foliot_client foliot_client;

// A watcher receives snapshots and interpolates between two. A stepper runs the world itself, from
// inputs alone: it needs less of the network, and more of the processor.
typedef enum foliot_peer_kind {
    FOLIOT_PEER_ANY, // as the session's mode says
    FOLIOT_PEER_WATCHER,
    FOLIOT_PEER_STEPPER,
} foliot_peer_kind;

typedef struct foliot_client_config {
    foliot_transport *transport; // lent; one connection of it is used
    const char *address;         // name or IP address of the server; copied
    uint16_t port;
    const char *session; // "": the server's first; copied
    const char *name;    // the player's; copied
    bool spectates;      // joins without a player
    // Milliseconds without a welcome until the client is LOST; default 30000. 0: only the
    // transport's limit applies.
    double connect_timeout_ms;
    bool reconnects;      // after a lost connection, as the same player, and where a server is busy
    double starved_share; // share of samples that may lack a newer snapshot; decides the delay; > 0
    double delay_ms_min, delay_ms_max; // bounds of the interpolation delay
    // Maximum input packets per second; 0: one per tick. A spectator of whole snapshots sends up to
    // 30.
    double input_hz;
    foliot_digest fingerprint; // of this build, if the host has it; zero: computed, in milliseconds
    foliot_peer_kind kind;     // requested; the server may assign another (foliot_client_get_kind)
    // With kind ANY: the client steps after the join if it can and if a step takes less than a
    // quarter of a tick by `clock`; otherwise it watches. A stepper that could not keep up watches
    // for a while in any case, and retries at growing intervals.
    bool steps_if_cheap;
    // For steppers:
    bool force_stepping;                      // asks to step even if the fingerprints differ
    uint32_t catch_up_ticks;                  // maximum ticks that one update steps; > 0
    const foliot_simulation_kind *simulation; // what to step; copied; NULL: foliot_world_kind
    const foliot_host *step_host;             // for the steps of a world; copied; or NULL
    // Client-side prediction: a player's own inputs act at once in a world that runs ahead of the
    // closed ticks, and wrong guesses are stepped again. It takes the memory of two more worlds.
    bool predicts;
    uint32_t input_delay;        // minimum ticks until own inputs are shown; below 256
    uint32_t rollback_ticks_max; // predicted ticks, 1 to 32; beyond them the input delay grows.
                                 // Packet loss may exceed it by an eighth for moments
    uint32_t rollback_steps;     // approximate number of ticks stepped again in one update; > 0
    // Clock in nanoseconds to measure steps: if a step takes more than a quarter of a tick, the
    // client does not predict. NULL: steps count as cheap enough.
    uint64_t (*clock)(void *user);
    void *clock_user;
} foliot_client_config;
// 127.0.0.1, FOLIOT_PORT_DEFAULT, the first session, "player", 30 s to connect, reconnects; a
// starved share of 0.001, delays of 0 to 1500 ms, 16 ticks to catch up; no prediction; with
// prediction, no input delay, at most 16 predicted ticks and 3 steps. The caller sets the
// transport.
foliot_client_config foliot_client_config_default(void);

// Begins to connect. FOLIOT_STATUS_INVALID: no transport, a text that is missing or too long, or a
// number out of range; FOLIOT_STATUS_NOT_FOUND: the server's name has no address;
// FOLIOT_STATUS_FULL: the transport has no free peer; FOLIOT_STATUS_MEMORY.
FOLIOT_MUST_CHECK foliot_status foliot_client_create(const foliot_client_config *config,
                                                     uint64_t now_ns, foliot_client **client);
void foliot_client_destroy(foliot_client *client);

typedef enum foliot_client_state {
    FOLIOT_CLIENT_CONNECTING,
    FOLIOT_CLIENT_JOINING, // connected, not yet welcome
    FOLIOT_CLIENT_PLAYING, // welcome
    FOLIOT_CLIENT_REFUSED, // foliot_client_get_reason says why
    FOLIOT_CLIENT_CLOSED,  // the server or this client ended it
    FOLIOT_CLIENT_LOST,    // the connection ended and will not be resumed
} foliot_client_state;

// Receives, decodes, acknowledges, sends inputs; in lockstep, steps.
void foliot_client_update(foliot_client *client, uint64_t now_ns);
// The latest time for the next call of foliot_client_update.
uint64_t foliot_client_get_wake_ns(const foliot_client *client);
foliot_client_state foliot_client_get_state(const foliot_client *client);
// A sentence about the state, "" if there is none. Valid until the next update.
const char *foliot_client_get_reason(const foliot_client *client);
// Whether a refused join may succeed later.
bool foliot_client_get_retryable(const foliot_client *client);
// Whether a join was refused because this build computes differently, and there are no snapshots.
bool foliot_client_get_fingerprint_refused(const foliot_client *client);
// Leaves; the state becomes CLOSED when the server has acknowledged it.
void foliot_client_leave(foliot_client *client, uint64_t now_ns);

// Sets the controls that hold until they are set again (command.h). Rules that look back evaluate a
// change at the tick that the last sample showed: sample first, then set.
void foliot_client_set_input(foliot_client *client, const int8_t axes[FOLIOT_AXIS_COUNT],
                             uint16_t buttons);

// -- orders of players and messages of the game

// Sends an order to the session's rules: at most FOLIOT_ORDER_BYTES_MAX bytes, reliable and in
// order, at most FOLIOT_ORDERS_PER_SECOND_MAX per second. The order is copied, and sent again after
// a reconnection until the server has it. Like a change of controls, it is evaluated at the tick
// that the last sample showed. FOLIOT_ORDER_CHAT is text for all. *sequence may be NULL.
// FOLIOT_STATUS_INVALID: too long, another kind, a spectator, or chat that is not UTF-8;
// FOLIOT_STATUS_AGAIN: not PLAYING yet; FOLIOT_STATUS_FULL: too many in a second, or too many that
// the server has not acknowledged.
FOLIOT_MUST_CHECK foliot_status foliot_client_order(foliot_client *client, foliot_order_kind kind,
                                                    const void *bytes, size_t length,
                                                    uint32_t *sequence);

typedef enum foliot_client_event_kind {
    FOLIOT_CLIENT_JOINED, // player; text: its name. Also reported for players who joined before
                          // this client
    FOLIOT_CLIENT_LEFT,   // player; text: its name
    // A command spawned the body, or, in a session with interest, the body came into range after
    // its spawn. slot; value: index of the prototype in the scene.
    FOLIOT_CLIENT_SPAWNED,
    FOLIOT_CLIENT_DESPAWNED,    // slot
    FOLIOT_CLIENT_JOINT_MADE,   // value: index of the joint
    FOLIOT_CLIENT_JOINT_BROKEN, // value: index of the joint
    FOLIOT_CLIENT_MESSAGE,      // from the game; bytes
    FOLIOT_CLIENT_CHAT,         // player; bytes: text
    FOLIOT_CLIENT_VAR,   // text: its key; value: foliot_var_type of the new value, 0: removed
    FOLIOT_CLIENT_ENDED, // a command ended the session; text: the reason
    FOLIOT_CLIENT_HIT,   // to clients that predict: two bodies collided; slot, value: their slots
    FOLIOT_CLIENT_CANCELLED, // a predicted event did not happen; identity: that event's
} foliot_client_event_kind;
typedef struct foliot_client_event {
    foliot_client_event_kind kind;
    uint64_t tick;   // the state in which the event holds
    uint32_t player; // FOLIOT_NO_PLAYER: about none
    uint32_t slot;   // of a body; FOLIOT_NO_BODY: about none
    uint32_t value;
    const uint8_t *bytes; // a text ends with a zero, which is not counted. The game and players
                          // write it; only names are known to be printable
    size_t length;        // of bytes
    // The event comes from the predicted world. Its confirmation is not reported, so that each
    // sound is played once. If the closed ticks do not contain the event, CANCELLED follows.
    bool predicted;
    uint64_t identity; // of an event that was or may be predicted; 0: any other event
} foliot_client_event;
// Takes the next event; false if there is none. Where samples are taken, an event comes when the
// render time reaches its tick. Its pointers are valid until the next call and update. Events that
// are not polled are dropped, the oldest first, and counted in statistics.events_dropped.
bool foliot_client_poll(foliot_client *client, foliot_client_event *event);

// The session's state besides poses, at the render time: it matches the last sample, and changes
// with the events of the same tick. Without samples it is the state of the newest update; in
// lockstep, of the newest tick that was stepped. The functions below read it. Session variables,
// ordered by key.
uint32_t foliot_client_get_var_count(const foliot_client *client);
// The key is "" for an index beyond the last one.
foliot_var foliot_client_get_var_at(const foliot_client *client, uint32_t index);
// False if no variable has that key; then *var is unchanged.
bool foliot_client_get_var(const foliot_client *client, const char *key, foliot_var *var);
// The tag of the body in a slot, 0 if there is none.
uint32_t foliot_client_get_tag(const foliot_client *client, uint32_t slot);
// The prototype that the body in a slot was spawned from: its index in the scene, FOLIOT_NO_BODY if
// it is the scene's or a player's.
uint32_t foliot_client_get_prototype(const foliot_client *client, uint32_t slot);
// The scene's constraints and the joints that commands made: an upper bound of their indices.
uint32_t foliot_client_get_joint_count(const foliot_client *client);
// Kind, bodies (slots of a sample) and anchors of a joint, enough to draw it. If a command made the
// joint, its anchors are rounded to binary32 and the other members have the kind's defaults. False
// if there is no such joint, or it has broken; then *joint is unchanged.
bool foliot_client_get_joint(const foliot_client *client, uint32_t index,
                             foliot_constraint_definition *joint);
// The shape of the body in a slot; false if it is not known.
bool foliot_client_get_shape(const foliot_client *client, uint32_t slot, foliot_shape *shape);
// The name of a player who has joined; NULL: no such player. Valid until the next update.
const char *foliot_client_get_name(const foliot_client *client, uint32_t player);

// The terms of the join; valid in the state PLAYING.
uint32_t foliot_client_get_player(const foliot_client *client); // FOLIOT_NO_PLAYER: a spectator
double foliot_client_get_dt(const foliot_client *client);       // of a tick, in the scene's unit
double foliot_client_get_pace_hz(const foliot_client *client);  // ticks in a real second
const char *foliot_client_get_scene_name(const foliot_client *client);
// NULL until the whole scene has been received. Valid until the next update, which may replace it
// after a reconnection.
const foliot_scene *foliot_client_get_scene(const foliot_client *client);
// The name of the player whose body is in that slot; NULL if none. Valid until the next update.
const char *foliot_client_get_player_name(const foliot_client *client, uint32_t slot);

// Whether the session uses interest management (server.h). Then *far is the distance beyond which
// bodies are not known here; their flags are 0.
bool foliot_client_get_interest(const foliot_client *client, double *near, double *far);
// Sets the point that a spectator of such a session looks at: the bodies around it are sent. The
// server accepts a new point at most every 100 ms. A player's point is its own body.
void foliot_client_set_focus(foliot_client *client, const double position[3]);

// The client's present kind; ANY before the welcome. Three clients watch even if they asked to
// step: one whose build computes differently, one that cannot keep up, and one that has diverged
// and not yet received the server's state. In a session without snapshots all clients step.
foliot_peer_kind foliot_client_get_kind(const foliot_client *client);
// Requests that kind from now on, for later connections too. The client keeps its present kind
// until it has enough data to show as the other; no input is lost or acts twice. Requests are sent
// at most every two seconds; the last one counts. FOLIOT_STATUS_INVALID: no such kind, or ANY;
// FOLIOT_STATUS_UNSUPPORTED: the session has no snapshots to watch.
FOLIOT_MUST_CHECK foliot_status foliot_client_set_kind(foliot_client *client,
                                                       foliot_peer_kind kind);
// The simulation that the client steps, valid until the next update. NULL: it watches, or no state
// has been received.
const foliot_simulation *foliot_client_get_simulation(const foliot_client *client);

typedef enum foliot_prediction {
    FOLIOT_PREDICTION_OFF,   // not asked for, not in lockstep, or a spectator
    FOLIOT_PREDICTION_WAITS, // until state and clock are known and the client has caught up
    FOLIOT_PREDICTION_ON,
    FOLIOT_PREDICTION_SLOW,   // not possible: a step takes more than a quarter of a tick
    FOLIOT_PREDICTION_MEMORY, // not possible: the worlds are too large, or cannot be copied
} foliot_prediction;
foliot_prediction foliot_client_get_prediction(const foliot_client *client);
// The predicted simulation, ahead of foliot_client_get_simulation, valid until the next update.
// NULL: there is none now. Its state is a guess: do not use it in digests, reports or files.
const foliot_simulation *foliot_client_get_predicted(const foliot_client *client);

// Takes the next report of the server on digests of this client that differ from the server's;
// false if there is none. Call it after each update: the pointers in *found are valid until the
// next update.
bool foliot_client_poll_divergence(foliot_client *client, foliot_divergence_report *found);

// The bodies at the render time: all slots of the newest snapshot; flags 0 where there is no body.
// While predicting: at the predicted time, at which own inputs act immediately.
typedef struct foliot_sample {
    double render_tick; // in ticks, fractional, never falling
    uint32_t count;
    const foliot_body_state *bodies; // valid until the next call of sample or update. Angular
                                     // velocities follow from two orientations
    bool starved; // no snapshot beyond the render time: extrapolated, for a bounded time
} foliot_sample;
// FOLIOT_STATUS_AGAIN before the first complete snapshot, and in lockstep before the first state;
// FOLIOT_STATUS_UNSUPPORTED in lockstep with a simulation that is not a world
// (foliot_client_sample_simulation).
FOLIOT_MUST_CHECK foliot_status foliot_client_sample(foliot_client *client, uint64_t now_ns,
                                                     foliot_sample *sample);

// In lockstep, for any simulation: the two states between which the render time lies. The adaptive
// delay is that of foliot_client_sample; either drives the same render time. To draw in between,
// keep two instances of the same setup (foliot_client_get_simulation), restore each from the bytes
// of its tick (foliot_simulation_restore), and interpolate between them by `fraction`.
typedef struct foliot_simulation_sample {
    double render_tick;            // in ticks, fractional, never falling: tick + fraction
    uint64_t tick;                 // the state at or before the render time
    double fraction;               // of the way to the state after it, 0 <= fraction < 1
    const uint8_t *before, *after; // captured states of `tick` and `tick` + 1, valid until the next
                                   // update. NULL: not kept. Up to 8 MiB of states are kept, at
                                   // most 1,024, and none if fewer than about 20 fit
    size_t before_bytes, after_bytes;
    bool starved; // no state beyond the render time: it waits at the newest one, and `after` is
                  // NULL
} foliot_simulation_sample;
// FOLIOT_STATUS_AGAIN before the first step; FOLIOT_STATUS_UNSUPPORTED: not in lockstep.
FOLIOT_MUST_CHECK foliot_status foliot_client_sample_simulation(foliot_client *client,
                                                                uint64_t now_ns,
                                                                foliot_simulation_sample *sample);

// Counts since the client was made, and measurements. X(type, name)
// clang-format off
#define FOLIOT_CLIENT_STATISTICS(X)                                                                \
    X(uint64_t, snapshots_received)        /* complete */                                          \
    X(uint64_t, snapshots_used)            /* newer than all before, or still of use in between */ \
    X(uint64_t, snapshots_stale)           /* arrived too late, or twice */                        \
    X(uint64_t, snapshots_without_baseline) /* not decoded: the baseline was gone */               \
    X(uint64_t, snapshots_too_large)       /* dropped: more bodies than the bytes can hold */      \
    X(uint64_t, snapshots_expected)        /* that the server says it sent, or stepped here */     \
    X(uint64_t, pieces_received)                                                                   \
    X(uint64_t, pieces_malformed)                                                                  \
    X(uint64_t, bytes_received)                                                                    \
    X(uint64_t, samples)                                                                           \
    X(uint64_t, samples_starved)                                                                   \
    X(uint64_t, snaps)                     /* jumps of the render time beyond ten ticks */         \
    X(uint64_t, inputs_sent)                                                                       \
    X(uint64_t, inputs_late)               /* as the server counted */                             \
    X(uint64_t, reconnects)                /* that succeeded */                                    \
    X(uint64_t, orders_sent)               /* without those that were sent again */                \
    X(uint64_t, orders_waiting)            /* that the server has not acknowledged */              \
    X(uint64_t, updates_received)                                                                  \
    X(uint64_t, update_bytes)                                                                      \
    X(uint64_t, events_dropped)                                                                    \
    X(double, loss)                        /* share of expected snapshots that never came */       \
    X(double, jitter_ms)                   /* standard deviation of their lateness */              \
    X(double, round_trip_ms)                                                                       \
    X(double, delay_ms)                    /* of interpolation, now */                             \
    X(double, delay_mean_ms)                                                                       \
    X(double, snapshot_bytes_mean)                                                                 \
    X(double, join_ms)                     /* from connecting to the first complete snapshot */    \
    X(uint64_t, ticks_stepped)             /* lockstep, here and below: by this client */          \
    X(uint64_t, ticks_compared)            /* whose digests equal the server's */                  \
    X(uint64_t, ticks_behind)              /* received and not stepped yet */                      \
    X(uint64_t, divergences)                                                                       \
    X(uint64_t, stalls)                    /* a tick was missing while later ones had come */      \
    X(uint64_t, inputs_missing)            /* ticks closed without our input packet */             \
    X(double, relay_bytes_mean)            /* packets of closed ticks */                           \
    X(double, relay_bytes_p99)                                                                     \
    X(double, relay_bytes_max)                                                                     \
    X(uint64_t, kind_changes)              /* that the server gave */                              \
    X(uint64_t, heals)                     /* states that it was given after a divergence */       \
    X(double, input_bytes_mean)            /* packets that this client sent */                     \
    X(double, input_bytes_p99)                                                                     \
    X(double, input_bytes_max)                                                                     \
    X(uint64_t, rollbacks)                 /* prediction, here and below: wrong guesses */         \
    X(uint64_t, corrections)               /* that moved a body by more than a millimetre */       \
    X(uint64_t, corrections_own)           /* that moved the player's own */                       \
    X(uint64_t, ticks_predicted)           /* stepped in predicted worlds */                       \
    X(uint64_t, early_received)            /* inputs before their tick was closed */               \
    X(uint64_t, early_dropped)             /* of them not kept: far away, or too many */           \
    X(uint64_t, events_cancelled)                                                                  \
    X(double, prediction_ticks)            /* that the shown tick is ahead of the closed ones */   \
    X(double, input_delay_ticks)           /* now */                                               \
    X(double, key_to_screen_ms)            /* from new controls to their first frame; mean */      \
    X(double, key_to_screen_max_ms)                                                                \
    X(double, step_us)                     /* by the config's clock, recent mean of at most a tick */
// clang-format on
typedef struct foliot_client_statistics {
#define FOLIOT_CLIENT_STATISTIC_FIELD(type, name) type name;
    FOLIOT_CLIENT_STATISTICS(FOLIOT_CLIENT_STATISTIC_FIELD)
#undef FOLIOT_CLIENT_STATISTIC_FIELD
    uint64_t newest_tick; // of a complete snapshot; in lockstep, stepped
    foliot_digest digest; // of that snapshot's quantised bodies; in lockstep, of that tick
} foliot_client_statistics;
foliot_client_statistics foliot_client_get_statistics(const foliot_client *client);

#ifdef __cplusplus
}
#endif

#endif
