// SPDX-License-Identifier: MIT
// seed_plan.h: all that happens in one run of the whole-system simulation, drawn from its seed
// before it begins: scenes, networks, clocks, who comes and goes how, what breaks when. The plan
// also tells which losses are explained.
#ifndef FOLIOT_TESTS_SEED_PLAN_H
#define FOLIOT_TESTS_SEED_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/rng.h"
#include "foliot/transport.h"
#include "wire/lockstep_message.h"

#define SEED_CLIENTS 8 // that are honest, sick or make noise
#define SEED_FOES 3    // besides them: three states pinned leave one to save the next in
#define SEED_COMERS (SEED_CLIENTS + SEED_FOES)
#define SEED_LIVES 3
#define SEED_GAPS 2
#define SEED_SESSIONS 2
#define SEED_CRASHES 2
#define SEED_ENDS 2 // of a session
#define SEED_SECOND 1000000000u
#define SEED_BEGIN_NS SEED_SECOND // true time when a run begins

typedef enum seed_client_kind {
    SEED_PLAYER,
    SEED_SPECTATOR,
    SEED_SICK,    // a client whose packets are damaged, both ways
    SEED_HOSTILE, // no client at all
    SEED_FOE,     // speaks the protocol well, and means harm
} seed_client_kind;

// The aim of a foe; each has its own address. seed_foe.c says how.
#define SEED_SCHEMES(X)                                                                            \
    X(withholds) /* is let in, and acknowledges nothing */                                         \
    X(pins)      /* hears nothing of the saved states that it is sent */                           \
    X(crawls)    /* or says that it has one more byte of them */                                   \
    X(lies)      /* in lockstep: digests that differ, plausible answers, and again */              \
    X(storms)    /* comes and goes as fast as it can */                                            \
    X(holds)     /* connections open, and says nothing */                                          \
    X(replays)   /* tokens that were its own once, and such with bits turned */                    \
    X(guesses)   /* others' tokens from its own */                                                 \
    X(orders)    /* too many, too large, forged, before its welcome and while it watches */        \
    X(changes)   /* to watch and to step in turn, and asks to be healed, both without end */       \
    X(looks)     /* somewhere else all the time, with twelve spectators who acknowledge nothing */
typedef enum seed_scheme {
#define SEED_SCHEME_ENUM(name) SEED_##name,
    SEED_SCHEMES(SEED_SCHEME_ENUM)
#undef SEED_SCHEME_ENUM
        SEED_SCHEME_COUNT,
    SEED_SCHEMES_DRAWN = SEED_looks // of any session; those who look need one with interest
} seed_scheme;

// Damage that the storage of a server that died may have done to its recording.
typedef enum seed_storage {
    SEED_STORAGE_SOUND,
    SEED_STORAGE_UNSYNCED,    // reported bytes as written that were not: the end is missing
    SEED_STORAGE_ZEROED,      // or is there as zeros
    SEED_STORAGE_FLIPPED,     // bits are turned, anywhere
    SEED_STORAGE_MISDIRECTED, // a part lies where another should be
    SEED_STORAGE_COUNT
} seed_storage;

typedef enum seed_exit { SEED_STAYS, SEED_LEAVES, SEED_CRASHES_DOWN } seed_exit;

typedef struct seed_gap { // in time
    uint64_t begin_ns, end_ns;
} seed_gap;

typedef struct seed_life {
    uint64_t join_ns, end_ns;
    seed_exit exit;
} seed_life;

typedef struct seed_client {
    seed_client_kind kind;
    uint32_t session; // SEED_SESSIONS: one that is not there
    seed_life lives[SEED_LIVES];
    uint32_t life_count;
    foliot_impairment send, receive;
    seed_gap outages[SEED_GAPS], pauses[SEED_GAPS]; // of its network, of its loop
    uint32_t outage_count, pause_count;
    uint64_t frame_ns;
    int64_t skew_ns;
    double drift, changes_hz, damage, input_hz;
    bool reconnects, predicts;
    uint32_t input_delay; // where it predicts
    // Of the hostile: shares of what it sends.
    double random, mutated, replayed;
    double packets_hz;
    seed_scheme scheme; // of a foe
    // A foliot_peer_kind, how often it wishes to be the other, and when a bit of its memory flips.
    uint32_t peer_kind;
    double kind_hz;
    uint64_t fault_ns;
} seed_client;

typedef struct seed_session {
    uint32_t scene; // index of seed_scenes
    double tick_hz; // 0: the scene's
    uint32_t block_ticks, keyframe_ticks;
    size_t queue_bytes;
    double drain_hz; // how often the recording is written out
    bool lockstep;
    uint32_t input_delay;
    double spectator_delay_s;
    bool game;           // has rules and takes commands; its players give orders
    double interest_far; // 0: everybody is sent all
    uint32_t interest_kbit;
} seed_session;

// A command ends the session; its peers follow to the next one, or go.
typedef struct seed_end {
    uint64_t at_ns;
    bool by_rules, follows;
    seed_session next;
} seed_end;

typedef struct seed_plan {
    uint64_t seed;
    uint64_t run_ns; // of play, before all leave
    seed_session sessions[SEED_SESSIONS];
    uint32_t session_count, client_count;
    seed_client clients[SEED_COMERS]; // foes last
    double snapshot_hz, server_drift;
    int64_t server_skew_ns;
    uint64_t server_poll_ns,
        step_ns; // step_ns: how long a step is away on its worker, 0: runs at once
    seed_gap server_pauses[SEED_GAPS];
    uint32_t server_pause_count;
    uint64_t crash_ns[SEED_CRASHES],
        down_ns[SEED_CRASHES]; // of the server, and how long it stays down
    uint32_t crash_count;
    seed_storage storage[SEED_CRASHES];
    bool swaps[SEED_CRASHES]; // afterwards another server is there, with other scenes and modes
    seed_session swapped[SEED_CRASHES][SEED_SESSIONS];
    seed_end ends[SEED_SESSIONS][SEED_ENDS];
    uint32_t end_count[SEED_SESSIONS];
    // The server dies so long after a session has ended, if that is before crash_ns. 0: before the
    // next scene is there; UINT64_MAX: at crash_ns alone.
    uint64_t end_crash_ns[SEED_CRASHES];
    foliot__lockstep_limits limits;
    uint32_t timeout_ms, reconnect_ms, peers_max;
    bool small_queue;
    bool mixed;     // its clients watch and step, whatever the sessions' modes
    bool faults;    // some of them will diverge
    bool unchecked; // neither states nor recordings are compared: for a bench of the run alone
} seed_plan;

typedef struct seed_scene {
    const char *file; // below the root of the sources, without its .yaml
    uint32_t weight;  // how often it is drawn, against the others
    bool heavy;       // costs so much that its runs are short
} seed_scene;
extern const seed_scene seed_scenes[];
extern const uint32_t seed_scene_count;

seed_plan seed_plan_draw(uint64_t seed);
void seed_plan_print(const seed_plan *plan, FILE *out);

// Whether a client can be held to its promises: its network is never too bad except in its gaps; no
// gaps either; nor a crash of the server.
bool seed_plan_fair(const seed_plan *plan, const seed_client *client);
bool seed_plan_audible(const seed_plan *plan, const seed_client *client);
bool seed_plan_calm(const seed_plan *plan, const seed_client *client);
uint32_t seed_plan_foes(const seed_plan *plan, seed_scheme scheme); // SEED_SCHEME_COUNT: of any
bool seed_plan_in_lockstep(const seed_plan *plan);                  // any session
bool seed_plan_has(const seed_plan *plan, seed_client_kind kind);

#endif
