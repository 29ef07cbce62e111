// SPDX-License-Identifier: MIT
// seed_run.h: one run of the whole-system simulation: a server and its clients in one process on
// one virtual clock, after the plan of a seed, and what must hold in it and after it. seed_run.c:
// time; seed_server.c: the server, its death and its return; seed_client.c: clients and the
// hostile; seed_check.c: what is looked at afterwards.
#ifndef FOLIOT_TESTS_SEED_RUN_H
#define FOLIOT_TESTS_SEED_RUN_H

#include "foliot/client.h"
#include "foliot/foliot.h"
#include "foliot/server.h"
#include "foliot/snapshot.h"
#include "seed_plan.h"
#include "seed_wire.h"
#include "wire/message.h"

#define SEED_CAPTURES 64 // packets kept for the hostile
#define SEED_WHY_BYTES 400
#define SEED_PLAYERS 8    // of a session, at most
#define SEED_LINKS 40     // of a foe, at most
#define SEED_FOCI 64      // peers whose focus is looked at
#define SEED_TOKENS 16    // that a foe remembers
#define SEED_VARS_HELD 64 // values of variables that a session remembers
#define SEED_ERAS (SEED_CRASHES + SEED_ENDS + 1)
#define SEED_CONTROLS 256 // controls that a player remembers to have set

// Read and computed once a process.
typedef struct seed_resources {
    foliot_scene *scenes[16];
    foliot_digest fingerprint;
} seed_resources;
bool seed_resources_open(seed_resources *resources,
                         const char *root); // of the sources; false: reported on stderr
void seed_resources_close(seed_resources *resources);

// Figures of a run, to be summed.
#define SEED_TALLY(X)                                                                              \
    X(ticks)                                                                                       \
    X(clients)                                                                                     \
    X(joins)                                                                                       \
    X(refused)                                                                                     \
    X(lost)                                                                                        \
    X(left)                                                                                        \
    X(crashed)                                                                                     \
    X(reconnects)                                                                                  \
    X(resumes)                                                                                     \
    X(snapshots)                                                                                   \
    X(undecodable)                                                                                 \
    X(claims)                                                                                      \
    X(samples)                                                                                     \
    X(starved)                                                                                     \
    X(inputs)                                                                                      \
    X(late)                                                                                        \
    X(hostile_packets)                                                                             \
    X(damaged)                                                                                     \
    X(malformed)                                                                                   \
    X(server_crashes)                                                                              \
    X(ticks_lost)                                                                                  \
    X(recordings_stopped)                                                                          \
    X(packets)                                                                                     \
    X(packets_lost)                                                                                \
    X(events)                                                                                      \
    X(foes)                                                                                        \
    X(foe_links)                                                                                   \
    X(foe_joins)                                                                                   \
    X(foe_lies)                                                                                    \
    X(swaps)                                                                                       \
    X(storages)                                                                                    \
    X(unresumable)                                                                                 \
    X(games)                                                                                       \
    X(commands)                                                                                    \
    X(orders)                                                                                      \
    X(orders_again)                                                                                \
    X(ends)                                                                                        \
    X(dies_ending)                                                                                 \
    X(follows)                                                                                     \
    X(messages)                                                                                    \
    X(vars)                                                                                        \
    X(rules_again)                                                                                 \
    X(kind_changes)                                                                                \
    X(interest_states)                                                                             \
    X(foci)                                                                                        \
    X(heals)
typedef struct seed_tally {
#define SEED_TALLY_FIELD(name) uint64_t name;
    SEED_TALLY(SEED_TALLY_FIELD)
#undef SEED_TALLY_FIELD
    double simulated_s;
    size_t bytes_max; // of memory
} seed_tally;

typedef struct seed_result {
    bool passed;
    char why[SEED_WHY_BYTES]; // the first thing that did not hold
    foliot_digest digest;     // of everything that happened
    seed_tally tally;
} seed_result;
// `log` NULL: none. The same plan gives the same result to the bit.
seed_result seed_run_plan(const seed_resources *resources, const seed_plan *plan, FILE *log);

// -- shared by the files of a run

// Digests of the state at each tick of an era: from one start of the server, or of the session, to
// the next. Outside of lockstep the state is quantised first; `others` are in lockstep.
typedef struct seed_digests {
    uint64_t base;
    size_t count, capacity;
    foliot_digest *digests, *others;
    bool lockstep; // what `digests` are
} seed_digests;

typedef struct seed_recording_bytes { // where a recording goes
    uint8_t *bytes;
    size_t length, capacity;
} seed_recording_bytes;

typedef struct seed_owner { // to whom a player was given last
    bool known;
    uint32_t client, life;
} seed_owner;

typedef struct seed_link { // a foe's connection
    foliot_peer_id peer;   // 0: none
    bool connected, greeted, in, told;
    uint64_t began_ns, said_ns;
    uint32_t player, question;
    uint64_t keyframe_tick, end; // end: of the ticks that it was sent
    uint32_t keyframe_total, keyframe_have, heard;
} seed_link;

// Variables that only grow in a session, and are in no other one's way.
#define SEED_VARS(X)                                                                               \
    X(score)                                                                                       \
    X(wrong)                                                                                       \
    X(joined)                                                                                      \
    X(left)                                                                                        \
    X(fired)                                                                                       \
    X(clock)                                                                                       \
    X(born)                                                                                        \
    X(host)
typedef struct seed_vars { // at a time; -1: there is none
#define SEED_VARS_FIELD(name) int64_t name;
    SEED_VARS(SEED_VARS_FIELD)
#undef SEED_VARS_FIELD
    uint64_t at_ns;
} seed_vars;

typedef struct seed_host { // a session's runtime
    const seed_session *plan;
    foliot_scene scene;               // borrowed parts
    foliot_scene *resumed;            // owned, after a crash
    foliot_body_definition prototype; // of a game, here and below
    foliot_rules *rules;
    foliot_recording_rules recorded_rules;
    foliot_world *world; // the server's
    foliot_recording *recording;
    seed_recording_bytes written;
    int held; // the recording as a file that only this process has, however it ends; 0: it is in
              // memory
    char file[64]; // where such a file is found: under /proc, or by a name where storage does harm
    foliot_snapshot_format format;
    foliot_snapshot snapshot; // scratch
    seed_digests trace[SEED_ERAS];
    uint32_t era;           // of its trace
    uint32_t anew;          // the last era that knew nothing of the one before it; 0: none
    uint64_t up_ns;         // since when the era is there
    uint64_t anew_ns;       // and the last one that knew nothing
    uint32_t ends_done;     // that were followed, or were for good
    bool end_given, over;   // by the host; it ended for good
    char asks;              // an order that a player shall give; 0: none
    uint32_t said, counted; // numbers of the host's messages, and of its variable
    uint64_t command_ns;    // when the host gives the next command
    foliot__rng rng;        // that it draws from
    seed_vars vars[SEED_VARS_HELD];
    uint32_t vars_count;             // of this era so far
    uint64_t vars_ns;                // when the next ones are kept
    seed_owner owners[SEED_PLAYERS]; // by player
    uint64_t drain_ns, last_tick;
    foliot_status recorded;
    uint64_t ticks_lost; // as the recording reports
} seed_host;

typedef struct seed_control { // controls, and when others took their place (0: not yet)
    int8_t axes[FOLIOT_AXIS_COUNT];
    uint16_t buttons;
    uint64_t over_ns;
} seed_control;

typedef struct seed_caller { // a client's runtime
    const seed_client *plan;
    uint32_t index;
    foliot__rng rng;
    foliot_transport *wire;
    foliot_client *client;
    seed_clock clock;
    uint32_t life; // of the plan, the next to begin or the one that runs
    bool alive, leaving, cut_off, done, unrest; // unrest: something may excuse what this life lost
    uint64_t next_ns, joined_ns, leaving_ns, think_ns;
    uint64_t predicted_tick, rollbacks; // a state that it predicts; 0: none
    foliot_digest predicted;
    double render_tick;
    uint64_t looked_tick;              // of what interest sent it
    uint64_t claimed_tick, claim_tick; // the last, and one that waits for the server's own step
    foliot_digest claim;
    uint32_t claim_era;
    bool claims, claim_steps; // of what it steps
    uint64_t kind_ns;         // of its next wish
    bool faulted;             // a bit has flipped, and it has not been healed yet
    uint64_t faulted_ns, heals, kind_changes, settled_ns;
    uint32_t player; // it plays; UINT32_MAX: none
    uint64_t player_tick, playing_ns,
        look_ns;          // plays that one since, plays since; the next look at how it is served
    uint64_t undecodable; // snapshots so far
    bool playing;
    seed_control controls[SEED_CONTROLS];
    uint32_t control_count; // ever
    foliot_peer_id peer;    // of the hostile
    bool connected;
    uint32_t serial;            // of its transport in the hub
    uint64_t reconnects_before; // of its client, when the server died last
    uint64_t reconnects_stale;  // up to this one it may have reconnected to the server that died
    // A player whose JOIN was durable when the server died: it is this client's until then.
    uint32_t kept_player; // UINT32_MAX: none
    uint64_t kept_until_ns;
    seed_link links[SEED_LINKS]; // of a foe, here and below
    foliot__welcome tokens[SEED_TOKENS];
    uint32_t token_count, turn;
    uint64_t order_ns;               // when the next order is given
    uint32_t order_sequence, number; // of the last one; of the last that has a number
    uint32_t heard;                  // the number of the host's last message
    uint64_t heard_ns, followed_ns;  // when that was; when it was to follow, 0: it has
} seed_caller;

typedef struct seed_capture {
    foliot_delivery delivery;
    uint16_t length;
    uint8_t bytes[1200];
} seed_capture;

typedef struct seed_job { // away on a worker
    void (*run)(void *job);
    void *job;
    uint64_t done_ns;
} seed_job;

typedef struct seed_run {
    const seed_resources *resources;
    const seed_plan *plan;
    FILE *log;
    uint64_t now_ns, end_ns;
    foliot_hub *hub;
    foliot_transport *host;
    foliot_server *server;
    seed_clock clock;
    uint32_t generation; // how often the server has crashed
    foliot__rng tokens;  // what its server draws
    uint64_t dies_ns;    // 0: when the plan says
    bool back;           // it may have forgotten more than what was not written yet
    bool stopping, closing, failed;
    uint64_t server_next_ns, step_done_ns;
    seed_job jobs[2 * SEED_SESSIONS]; // a step, and one that is taken again to see where a client
                                      // went astray
    uint32_t job_count;
    seed_host hosts[SEED_SESSIONS];
    seed_caller callers[SEED_COMERS];
    uint32_t serial;                // of transports made so far
    foliot_server_counters counted; // of the servers before this one
    uint64_t received;              // by their transports
    struct seed_focus {             // of a peer of the server
        uint64_t peer, changed_ns;
    } foci[SEED_FOCI];
    seed_capture captures[SEED_CAPTURES];
    uint32_t capture_count;
    uint64_t mixed[2];
    seed_result result;
} seed_run;

// Limits of lockstep in the present run: a program that runs seeds gives the library these.
extern foliot__lockstep_limits seed_limits;

void seed_fail(seed_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
void seed_log(seed_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
void seed_mix(seed_run *run, uint64_t value);
void seed_check_interest(seed_run *run, seed_caller *c);
// The spectators' focus does not change more often than it may.
void seed_check_foci(seed_run *run, uint32_t session);
uint64_t seed_after_gaps(const seed_gap *gaps, uint32_t count,
                         uint64_t at_ns); // the next time outside of all

// seed_server.c
void seed_server_open(seed_run *run);
void seed_server_act(seed_run *run);
// With another world than the one before.
void seed_server_begin_anew(seed_run *run, seed_host *host, const seed_session *plan);
void seed_server_add(seed_run *run, uint32_t session); // to the server, with the host's world
void seed_server_end_recording(seed_run *run, seed_host *host);
void seed_server_crash(seed_run *run);
void seed_server_resume(seed_run *run);
void seed_server_close(seed_run *run); // in order; the recordings too
foliot_digest seed_state_digest(seed_run *run, seed_host *host,
                                const foliot_world *world); // as clients should have it
bool seed_state_matches(const seed_host *host, uint64_t tick, bool steps, foliot_digest digest);

// seed_client.c
void seed_client_open(seed_run *run, uint32_t index);
void seed_client_act(seed_run *run, seed_caller *caller);
void seed_client_close(seed_run *run, seed_caller *caller);
void seed_client_mark(seed_caller *caller); // its session or server ends
// Of the client that a server's event is about; NULL: of none that lives.
seed_caller *seed_client_find(seed_run *run, const char *text);

// seed_noise.c
void seed_noise_act(seed_run *run, seed_caller *caller);

// seed_foe.c
void seed_foe_act(seed_run *run, seed_caller *caller);
void seed_foe_begin(seed_caller *caller);

// seed_game.c: rules, what a host says and does, ends of sessions, and what their clients know
void seed_game_make(seed_run *run, seed_host *host); // rules for its scene, where it allows them
void seed_game_act(seed_run *run);                   // before the server does
void seed_game_ended(seed_run *run, uint32_t session);
void seed_game_hear(seed_run *run, seed_caller *caller); // events of the client
void seed_game_check_vars(seed_run *run, const seed_caller *caller);
// Gives the recording's ticks to separate rules, which must give what was recorded: NULL, or begun
// for a replay at its first tick.
foliot_rules *seed_game_begin_again(seed_run *run, const seed_host *host, foliot_replay *replay);
void seed_game_tick_again(seed_run *run, const seed_host *host, foliot_rules *rules,
                          foliot_replay *replay);

// seed_check.c
void seed_note_kept(seed_run *run, seed_caller *caller);               // the server is about to die
void seed_check_kept(seed_run *run, const foliot_server_event *event); // it joined or was resumed
void seed_check_hub(seed_run *run);
void seed_check_game(seed_run *run, uint32_t session);      // orders came once and in order
void seed_check_recording(seed_run *run, uint32_t session); // that has been closed
void seed_check_gone(seed_run *run);                        // all have left
void seed_check_recordings(seed_run *run);
void seed_check_counters(seed_run *run);

#endif
