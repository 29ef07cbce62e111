// SPDX-License-Identifier: MIT
// cluster.h: a server, clients and hostile peers in one process, with the network between them, the
// recording that the server writes, and the time. A test is a script over it. Time is virtual: it
// passes in cluster_run alone, also where packets go over ENet.
#ifndef FOLIOT_TESTS_CLUSTER_H
#define FOLIOT_TESTS_CLUSTER_H

#include "base/rng.h"
#include "foliot/transport.h"
#include "foliot/client.h"
#include "foliot/foliot.h"
#include "foliot/rules.h"
#include "foliot/server.h"
#include "hostile.h"
#include "raw_client.h"

#define CLUSTER_CLIENTS 128
#define CLUSTER_SERVER CLUSTER_CLIENTS // in a tap
#define CLUSTER_HOSTILE 32
#define CLUSTER_RAW 16
#define CLUSTER_BRIDGED 8
#define CLUSTER_BODIES 12
#define CLUSTER_HISTORY 8192 // ticks
#define CLUSTER_PORT 7777    // of the server, in memory

typedef enum cluster_world {
    CLUSTER_CHAIN,   // six bodies on springs and in air: a build that rounds otherwise differs soon
    CLUSTER_SPRINGS, // twelve spinning balls on springs, sent as snapshots; errors are measured
    CLUSTER_EMPTY,   // no server and no session: the test opens them
} cluster_world;

typedef struct cluster_options {
    cluster_world world;
    const foliot_scene *scene;          // instead of the cluster's; borrowed
    const foliot_simulation_kind *kind; // instead of a world, made of the setup "\7"
    uint32_t players;                   // 0: 4
    // With a game, the scene has a prototype and takes commands. `rules` imply it.
    bool game;
    const foliot_rules_kind *rules;
    uint32_t history_ticks;
    bool bodiless; // the players
    // The session.
    bool snapshots; // clients watch unless they wish to step
    uint32_t input_delay;
    double pace_hz; // 0: 60
    double spectator_delay_s, snapshot_hz;
    bool refuses_forced;
    uint64_t first_tick; // of a world
    foliot_interest interest;
    const char *record;                                           // NULL: no recording
    uint32_t reconnect_ms;                                        // 0: the server's default
    void (*start)(void *user, void (*run)(void *job), void *job); // the server's; user: NULL
    // The network.
    bool enet;                  // on loopback; else in memory
    bool bridged;               // clients of odd numbers reach the server over queues
    const char *server_network; // NULL: unimpaired
    double joins_per_second;    // 0: the transport's default
    uint64_t step_ns;           // of the time; 0: 1 ms
    // Every packet that a client or the server (CLUSTER_SERVER) sends, before it is lost.
    void (*tap)(void *user, unsigned from, foliot_delivery delivery, const uint8_t *bytes,
                size_t length);
    void *tap_user;
    // A raw client has received a welcome, in this moment.
    void (*welcomed)(void *user);
    void *welcomed_user;
    // The peers.
    bool idle;    // players press nothing; else those of CLUSTER_CHAIN press keys as people do
    bool samples; // clients sample every 16 ms, as those of CLUSTER_SPRINGS do
    bool returns; // a hostile peer that was dropped comes back at once
} cluster_options;

typedef struct cluster_tap {
    const cluster_options *options;
    unsigned from;
} cluster_tap;

// The distance of the first client's samples from the server's state at their render ticks, m and
// degrees.
typedef struct cluster_errors {
    double positions[CLUSTER_HISTORY][CLUSTER_BODIES][3];
    double orientations[CLUSTER_HISTORY][CLUSTER_BODIES][4];
    double last[CLUSTER_BODIES][3];
    bool has_last;
    double square, max, jump_max, turn_square;
    uint64_t count;
    float *distances, *turns; // for the quantiles
} cluster_errors;

// A network between a transport in memory, which clients reach, and queues, which a server has:
// what a web server does between its sockets and a server, on the same virtual clock.
typedef struct cluster_bridge {
    foliot_queues *queues;
    foliot_transport *listener;
    foliot_peer_id near[CLUSTER_BRIDGED], far[CLUSTER_BRIDGED]; // in the queues; of the listener
    bool stopped[CLUSTER_BRIDGED]; // it takes nothing: a page that hangs
    unsigned count;
    // For those that connect from now on; 0, NULL: as the listener has them.
    uint64_t address_key;
    const foliot_peer_identity *identity;
} cluster_bridge;

typedef struct cluster {
    cluster_options options;
    uint64_t now_ns, step_ns;
    foliot__rng rng;
    // The scene.
    foliot_scene scene;
    foliot_body_definition bodies[CLUSTER_BODIES];
    foliot_force_definition forces[CLUSTER_BODIES + 1];
    foliot_body_definition prototype;
    // The server.
    foliot_hub *hub;
    foliot_transport *host;
    cluster_bridge bridge;
    foliot_server *server;
    foliot_digest fingerprint;
    foliot_simulation simulation; // the server's, where options.kind is set
    foliot_rules *rules;
    foliot_recording *recording;
    foliot_recording_rules recorded_rules;
    foliot_scene *resumed_scene;
    uint64_t events[FOLIOT_SERVER_EVENT_KINDS]; // counts
    foliot_server_event last[FOLIOT_SERVER_EVENT_KINDS];
    foliot_divergence_report found; // the last
    unsigned found_count;
    uint64_t seen_tick;
    foliot_digest history[CLUSTER_HISTORY]; // of the server's state, by tick
    foliot_digest snapshots[CLUSTER_HISTORY];
    // The clients.
    unsigned client_count;
    foliot_transport *wires[CLUSTER_CLIENTS];
    foliot_client *clients[CLUSTER_CLIENTS];
    bool bots[CLUSTER_CLIENTS];
    bool asleep[CLUSTER_CLIENTS];         // is not updated
    uint64_t most_steps[CLUSTER_CLIENTS]; // in one update
    uint64_t next_ns[CLUSTER_CLIENTS];    // when the bot changes its mind
    uint64_t sampled_ns;
    double shown[CLUSTER_CLIENTS];     // render ticks
    uint64_t unshown[CLUSTER_CLIENTS]; // samples that there were not, after the first
    uint64_t backwards;                // samples before the one before
    cluster_errors *errors;            // of CLUSTER_SPRINGS
    cluster_tap taps[CLUSTER_CLIENTS + 1];
    unsigned hostile_count;
    hostile hostile[CLUSTER_HOSTILE];
    unsigned raw_count;
    raw_client raw[CLUSTER_RAW];
} cluster;

cluster *cluster_create(const cluster_options *options); // NULL: all of them zero
void cluster_destroy(cluster *c);
void cluster_run(cluster *c, double seconds);
void cluster_update(cluster *c); // one moment, at c->now_ns

// A transport on the cluster's network; NULL: the default config. The caller owns it.
foliot_transport *cluster_open_wire(cluster *c, const foliot_transport_config *config);
// The server of a cluster that has none. A config's transport is set here; NULL: the default.
void cluster_serve(cluster *c, const foliot_server_config *config,
                   const foliot_transport_config *wire);
// Adds a session. Without a world or a simulation it gets a world of its scene.
void cluster_host(cluster *c, const foliot_session_config *session);
void cluster_stop(cluster *c); // destroys the server and its transport
// The server dies, and another resumes its recording `down_s` later. Clients stay.
void cluster_crash(cluster *c, double down_s);
// The session is followed by the next one, of the same scene with new rules.
void cluster_follow(cluster *c);

// One more client. Its number is returned. `network`: an impairment both ways; NULL: none.
// `config`: its transport and port are set here; NULL: the default.
unsigned cluster_join(cluster *c, const char *network, const foliot_client_config *config);
unsigned cluster_player(cluster *c, const char *network);
unsigned cluster_kind(cluster *c, const char *network, foliot_peer_kind kind); // a player
unsigned cluster_spectator(cluster *c, const char *network);
void cluster_leave(cluster *c, unsigned client); // destroys it and its transport
void cluster_impair(cluster *c, unsigned client, const char *network);
// Arbitrary bytes from that client's first connection.
void cluster_inject(cluster *c, unsigned client, const uint8_t *bytes, size_t length);
hostile *cluster_add_hostile(cluster *c, hostile_kind kind, bool spectates);
// The same peer over the same wire, as another kind perhaps.
void cluster_restart_hostile(cluster *c, unsigned i, hostile_kind kind);

// Clients that send the protocol's bytes themselves (raw_client.h). One that has connected.
raw_client *cluster_connect_raw(cluster *c);
// One that has its welcome, after a hello with that token.
raw_client *cluster_join_raw(cluster *c, foliot__token token);
void cluster_acknowledge_raw(cluster *c, raw_client *raw); // its welcome
void cluster_leave_raw(cluster *c, raw_client *raw);
void cluster_drop_raw(raw_client *raw); // destroys its transport; a test need not

uint64_t cluster_get_tick(const cluster *c); // the server's, in the session "main"
const foliot_server_counters *cluster_get_counters(const cluster *c);
foliot_client_statistics cluster_get_statistics(const cluster *c, unsigned client);
// The server counted no violation, no malformed message and no divergence.
bool cluster_is_honest(const cluster *c);
// Whether the client's newest snapshot equals the server's state at its tick.
bool cluster_watches(const cluster *c, unsigned client);
// Whether the client's state equals the server's at its tick.
bool cluster_agrees(const cluster *c, unsigned client);

double cluster_error_rms(const cluster *c);
double cluster_error_quantile(cluster *c, double share);
double cluster_turn_rms(const cluster *c);
double cluster_turn_quantile(cluster *c, double share);

// cluster_scenes.c and cluster_errors.c, for cluster.c.
void cluster_make_scene(cluster *c);
void cluster_make_rules(cluster *c);
foliot_recording_config cluster_recording_config(cluster *c);
void cluster_errors_open(cluster *c);
void cluster_errors_close(cluster *c);
void cluster_errors_remember(cluster *c, uint64_t tick);
void cluster_errors_compare(cluster *c, const foliot_sample *sample);

#endif
