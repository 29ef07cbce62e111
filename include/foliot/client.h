// SPDX-License-Identifier: MIT
// client.h: joins a session, keeps a snapshot buffer, and samples between two snapshots at a render
// time that adapts to the network. Passive like the server: time is an argument.
#ifndef FOLIOT_CLIENT_H
#define FOLIOT_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/input.h"
#include "foliot/lockstep.h"
#include "foliot/scene.h"
#include "foliot/simulation.h"
#include "foliot/status.h"
#include "foliot/transport.h"
#include "foliot/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct foliot_client foliot_client;

typedef struct foliot_client_config {
    foliot_transport *transport; // lent; one connection of it is used
    const char *address;         // copied
    uint16_t port;
    const char *session, *name; // copied; session "" is the server's first
    bool spectates;
    bool reconnects;      // after a lost connection, as the same player
    double starved_share; // of samples that may lack a newer snapshot: decides the delay; 0.001
    double delay_ms_min, delay_ms_max; // bounds of the interpolation delay
    double input_hz;                   // input packets a second at most; 0: one a tick
    foliot_digest fingerprint; // of this build, if the host knows it; zero: asked for, which takes
                               // milliseconds
    // Lockstep, where the server's session is one:
    bool forces;             // joins though the fingerprints differ, and will be found out
    uint32_t catch_up_ticks; // steps at most so many ticks in one update
    const foliot_simulation_kind *simulation; // that it steps; copied; NULL: our world
    const foliot_host *step_host;             // for the steps of our world; copied; NULL: none
} foliot_client_config;
foliot_client_config foliot_client_config_default(void);

foliot_status foliot_client_create(const foliot_client_config *config, uint64_t now_ns,
                                   foliot_client **client);
void foliot_client_destroy(foliot_client *client);

typedef enum foliot_client_state {
    FOLIOT_CLIENT_CONNECTING,
    FOLIOT_CLIENT_JOINING, // connected, not yet welcome
    FOLIOT_CLIENT_PLAYING, // welcome; foliot_client_sample has something once a snapshot was
                           // complete
    FOLIOT_CLIENT_REFUSED, // foliot_client_get_reason says why
    FOLIOT_CLIENT_CLOSED,  // the server said goodbye, or we did
    FOLIOT_CLIENT_LOST,    // the connection ended and is not to be resumed
} foliot_client_state;

// Receives, decodes, acknowledges, sends inputs.
void foliot_client_update(foliot_client *client, uint64_t now_ns);
uint64_t
foliot_client_get_wake_ns(const foliot_client *client); // when to call it again at the latest
foliot_client_state foliot_client_get_state(const foliot_client *client);
const char *
foliot_client_get_reason(const foliot_client *client); // a sentence; "" if there is nothing to say
bool foliot_client_get_retryable(const foliot_client *client); // refused, but later makes sense
bool foliot_client_get_fingerprint_refused(
    const foliot_client *client); // refused in lockstep, for its fingerprint
// Says goodbye; CLOSED follows when the server heard it.
void foliot_client_leave(foliot_client *client, uint64_t now_ns);

// Controls from now on, until changed.
void foliot_client_set_input(foliot_client *client, const int8_t axes[FOLIOT_AXIS_COUNT],
                             uint16_t buttons);

// What was agreed at the join; valid while PLAYING.
uint32_t foliot_client_get_player(const foliot_client *client); // UINT32_MAX: a spectator
double foliot_client_get_dt(const foliot_client *client);
double foliot_client_get_pace_hz(const foliot_client *client);
const char *foliot_client_get_scene_name(const foliot_client *client);
// NULL until all of it has come. Until the next update: a server that comes back may bring another.
const foliot_scene *foliot_client_get_scene(const foliot_client *client);
// Name of the player whose body is in that slot; NULL if none.
const char *foliot_client_get_player_name(const foliot_client *client, uint32_t slot);

bool foliot_client_get_lockstep(const foliot_client *client);
// What it steps itself, until the next update; NULL: not in lockstep, or no state has come yet.
const foliot_simulation *foliot_client_get_simulation(const foliot_client *client);

// What the server found when our digests differed from its own, since the last call; false:
// nothing. To be taken after each update: what it points to lasts until the next one.
bool foliot_client_poll_divergence(foliot_client *client, foliot_divergence_report *found);

// The bodies at the render time. All slots of the newest snapshot; flags 0 where there is no body.
typedef struct foliot_sample {
    double render_tick; // in ticks, fractional, never falling
    uint32_t count;
    const foliot_body_state *bodies; // their spins are told from how they turned
    bool starved; // no snapshot beyond the render time: extrapolated, for a bounded time
} foliot_sample;
// FOLIOT_STATUS_AGAIN before the first complete snapshot.
foliot_status foliot_client_sample(foliot_client *client, uint64_t now_ns, foliot_sample *sample);

// What it saw.
#define FOLIOT_CLIENT_STATISTICS(X)                                                                \
    X(uint64_t, snapshots_received) /* complete */                                                 \
    X(uint64_t, snapshots_used)     /* and newer than all before or still of use in between */     \
    X(uint64_t, snapshots_stale)    /* came after their time, or twice */                          \
    X(uint64_t, snapshots_without_baseline) /* could not be decoded: the baseline was gone */      \
    X(uint64_t,                                                                                    \
      snapshots_too_large) /* dropped or not shown: more bodies than what came stands for */       \
    X(uint64_t, snapshots_expected) /* that the server sent, as far as their ticks tell */         \
    X(uint64_t, pieces_received)                                                                   \
    X(uint64_t, pieces_malformed)                                                                  \
    X(uint64_t, bytes_received)                                                                    \
    X(uint64_t, samples)                                                                           \
    X(uint64_t, samples_starved)                                                                   \
    X(uint64_t, snaps) /* jumps of the render time beyond ten ticks */                             \
    X(uint64_t, inputs_sent)                                                                       \
    X(uint64_t, inputs_late) /* as the server counted */                                           \
    X(uint64_t, reconnects)                                                                        \
    X(double, loss)      /* share of snapshots expected that never came */                         \
    X(double, jitter_ms) /* standard deviation of their lateness */                                \
    X(double, round_trip_ms)                                                                       \
    X(double, delay_ms) /* of interpolation, now */                                                \
    X(double, delay_mean_ms)                                                                       \
    X(double, snapshot_bytes_mean)                                                                 \
    X(double, join_ms)          /* from connect to the first complete snapshot */                  \
    X(uint64_t, ticks_stepped)  /* lockstep, here and below: by ourselves */                       \
    X(uint64_t, ticks_compared) /* with the server's digests, and equal */                         \
    X(uint64_t, ticks_behind)   /* closed and here, and not stepped yet */                         \
    X(uint64_t, divergences)                                                                       \
    X(uint64_t, stalls)         /* a closed tick was missing when later ones were here */          \
    X(uint64_t, inputs_missing) /* ticks closed without our word */                                \
    X(double, relay_bytes_mean) /* packets of closed ticks */                                      \
    X(double, relay_bytes_p99)                                                                     \
    X(double, relay_bytes_max)                                                                     \
    X(double, input_bytes_mean) /* packets that we sent */                                         \
    X(double, input_bytes_p99)                                                                     \
    X(double, input_bytes_max)
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
