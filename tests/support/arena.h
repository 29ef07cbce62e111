// SPDX-License-Identifier: MIT
// arena.h: a lockstep session in one process, over the transport in memory and a virtual clock.
// Clients are bots that change their controls as people do.
#ifndef FOLIOT_TESTS_ARENA_H
#define FOLIOT_TESTS_ARENA_H

#include "base/rng.h"
#include "foliot/client.h"
#include "foliot/foliot.h"
#include "foliot/rules.h"
#include "foliot/server.h"

#define ARENA_CLIENTS 128
#define ARENA_SERVER ARENA_CLIENTS
#define ARENA_BODIES 6
#define ARENA_HISTORY 8192 // ticks

typedef struct arena_options {
    uint32_t players; // 0: 4
    uint32_t input_delay;
    double spectator_delay_s;
    bool refuses_forced;
    bool snapshots;                     // clients watch unless they wish to step
    uint64_t first_tick;                // of our world
    bool clock;                         // clients sample, every 16 ms
    const char *record;                 // NULL: no recording
    const char *server_network;         // NULL: none
    const foliot_simulation_kind *kind; // instead of our world, made of no setup
    const foliot_scene *scene;          // instead of its own; lent
    foliot_interest interest;           // of sessions of snapshots
    const foliot_rules_kind *rules;     // with them the scene has a prototype and takes commands
    // Everything that anyone sends, before it is lost: `from` is a client, or ARENA_SERVER. NULL:
    // none.
    void (*tap)(void *user, unsigned from, foliot_delivery delivery, const uint8_t *bytes,
                size_t length);
    void *tap_user;
} arena_options;

typedef struct arena_tap {
    const arena_options *options;
    unsigned from;
} arena_tap;

typedef struct arena {
    arena_options options;
    arena_tap taps[ARENA_CLIENTS + 1];
    foliot_hub *hub;
    foliot_scene scene;
    foliot_body_definition bodies[ARENA_BODIES];
    foliot_force_definition forces[ARENA_BODIES + 1];
    foliot_body_definition prototype;
    foliot_rules *rules;
    foliot_transport *host, *wires[ARENA_CLIENTS];
    foliot_server *server;
    foliot_digest fingerprint;
    foliot_recording *recording;
    foliot_client *clients[ARENA_CLIENTS];
    bool bots[ARENA_CLIENTS];
    bool asleep[ARENA_CLIENTS];         // is not updated
    uint64_t most_steps[ARENA_CLIENTS]; // in one update
    foliot_simulation simulation;       // the server's, if it is not our world
    uint64_t sampled_ns;
    double shown[ARENA_CLIENTS];     // render ticks
    uint64_t unshown[ARENA_CLIENTS]; // samples that there were not, after the first
    uint64_t backwards;              // samples before the one before
    uint64_t next_ns[ARENA_CLIENTS]; // when the bot changes its mind
    foliot__rng rng;
    unsigned client_count;
    foliot_digest history[ARENA_HISTORY]; // of the server's state, by tick
    foliot_digest snapshots[ARENA_HISTORY];
    uint64_t seen_tick;
    uint64_t now_ns, step_ns;
    uint64_t told[FOLIOT_SERVER_EVENT_KINDS]; // events of the server, by kind
    foliot_divergence_report found;           // the last
    unsigned found_count;
    foliot_server_event last[FOLIOT_SERVER_EVENT_KINDS];
} arena;

arena *arena_create(const arena_options *options);
void arena_destroy(arena *a);
// The config that arena_join takes; `network` as in foliot_impairment_parse, both ways.
unsigned arena_join(arena *a, const char *network, const foliot_client_config *config);
unsigned arena_bot(arena *a, const char *network);
unsigned arena_kind(arena *a, const char *network, foliot_peer_kind kind); // a bot
unsigned arena_spectator(arena *a, const char *network);
void arena_run(arena *a, double seconds);
foliot_client_statistics arena_seen(const arena *a, unsigned client);
// Arbitrary bytes from that client's connection: it has had one so far.
void arena_inject(arena *a, unsigned client, const uint8_t *bytes, size_t length);
uint64_t arena_tick(const arena *a); // the server's
const foliot_server_counters *arena_counted(const arena *a);
// The server has heard no lie, no nonsense, and of no divergence.
bool arena_is_honest(const arena *a);
// Whether the client's newest snapshot is what the server's state was.
bool arena_watches(const arena *a, unsigned client);
// Whether the client's state equals the server's at that tick.
bool arena_agrees(const arena *a, unsigned client);

#endif
