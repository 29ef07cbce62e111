// SPDX-License-Identifier: MIT
// server.h: hosts sessions: takes inputs from clients, steps worlds, sends snapshots or relays
// inputs.
//
// The server is passive: it has no clock, no loop and no thread. The host (the program that embeds
// it) calls foliot_server_update with the time, and sleeps until foliot_server_get_wake_ns or until
// the transport's descriptor is readable. So the same server runs in a program, in a game, and on a
// virtual clock. examples/snapshot_session.c shows one.
//
// Time is nanoseconds of a clock that never goes back, the transport's. A server is used by one
// thread at a time; it may step worlds on a worker that the host lends.
#ifndef FOLIOT_SERVER_H
#define FOLIOT_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/command.h"
#include "foliot/divergence.h"
#include "foliot/query.h"
#include "foliot/recording.h"
#include "foliot/rules.h"
#include "foliot/scene.h"
#include "foliot/simulation.h"
#include "foliot/status.h"
#include "foliot/transport.h"
#include "foliot/world.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FOLIOT_SESSIONS_MAX 1024
// After an update that received something, a host may let further packets wait for this long: an
// update costs time for every peer, even for a single datagram. The wait does not delay inputs,
// which act when their tick is closed.
#define FOLIOT_SERVER_REST_NS 750000u

typedef struct foliot_server foliot_server;

typedef struct foliot_server_config {
    foliot_transport *transport; // lent; the host destroys it after the server
    // Lends a worker: calls run(job) once, on any thread, and makes sure that foliot_server_update
    // is called soon after. NULL: worlds are stepped inside foliot_server_update, and the network
    // waits.
    void (*start)(void *user, void (*run)(void *job), void *job);
    void *start_user;
    double snapshot_hz; // maximum rate to each client; 0: every tick
    // How long the slot of a player whose peer was lost is kept. In a full session a newcomer gets
    // the slot that long after the player's last packet.
    uint32_t reconnect_ms;
    uint32_t catch_up_ticks; // maximum number of late ticks that one update closes
    // Staggers sessions: each begins at one of 16 offsets within a period (or a sixtieth of a
    // second if that is shorter) after it was added, so that the ticks of many sessions do not fall
    // together. Sessions added before the first update begin with that update, since creating many
    // takes time.
    bool spreads_ticks;
    // Maximum player slots in a session that one IP address may hold, including slots kept for a
    // reconnection. 0: a quarter, at least 2. A host that is reached from a single address
    // (the loopback) sets FOLIOT_PLAYERS_MAX.
    uint32_t players_per_address_max;
    foliot_digest fingerprint; // of this build, if the host has it; zero: computed, in milliseconds
    // The source of tokens: fills bytes with random ones that nobody can guess. NULL: the system's
    // source. Set it only for simulations from a seed: whoever guesses a token can take over the
    // player.
    void (*random)(void *user, void *bytes, size_t count);
    void *random_user;
} foliot_server_config;
// Slots are kept for 10 s; 16 ticks to catch up. The caller sets the transport.
foliot_server_config foliot_server_config_default(void);

// FOLIOT_STATUS_INVALID: no transport, or catch_up_ticks 0; FOLIOT_STATUS_MEMORY.
FOLIOT_MUST_CHECK foliot_status foliot_server_create(const foliot_server_config *config,
                                                     uint64_t now_ns, foliot_server **server);
// Waits for steps that are running. Frees the server and its worlds; what is lent (transport,
// scenes, recordings, simulations) stays the host's.
void foliot_server_destroy(foliot_server *server);

// The default for clients that request no kind (foliot_client_config.kind). A session serves both
// kinds; a simulation that is not a world has no snapshots, so all clients step it.
typedef enum foliot_session_mode {
    FOLIOT_SESSION_SNAPSHOTS, // the server steps; clients receive snapshots and interpolate
    FOLIOT_SESSION_LOCKSTEP,  // they step the same inputs; the server compares digests
} foliot_session_mode;

// Interest management for big worlds. A watcher receives only bodies within `far` of its body,
// near ones more often, as many as its budget allows. It receives nothing about bodies beyond (no
// states, tags, prototypes or joints) except what the scene contains. A spectator sets the point
// that it looks at (foliot_client_set_focus) freely. A client cannot change its budget.
typedef struct foliot_interest {
    double near; // length units: within it all bodies have the same share; beyond it, a body's
                 // share falls with the square of its distance. 0 < near <= far
    double far;  // length units. 0: no interest management, everybody receives everything
    uint32_t
        budget_kbit; // kbit/s of snapshots to one watcher in any second, including each packet's
                     // overhead (network headers and seal): FOLIOT_INTEREST_KBIT_MIN .. _MAX
} foliot_interest;
#define FOLIOT_INTEREST_KBIT_MIN 32
#define FOLIOT_INTEREST_KBIT_MAX 100000
bool foliot_interest_valid(const foliot_interest *interest);

typedef struct foliot_session_config {
    const char *name;          // unique in the server, 1 .. FOLIOT_NAME_BYTES - 1 bytes; copied
    const foliot_scene *scene; // lent until the server is destroyed; NULL with a simulation
    foliot_world *world;       // at the tick to start from; the server's if the session is added;
                               // NULL with a simulation
    foliot_recording
        *recording;          // opened on that world; lent until the server is destroyed; or NULL
    double pace_hz;          // ticks in a real second, > 0
    uint64_t ticks;          // the session ends after this many; 0: never
    const foliot_host *host; // for the steps of a world; copied; or NULL
    foliot_session_mode mode;
    double spectator_delay_s; // spectators see the session this much later, and a world's only
                              // watch; states of that time are kept in memory
    foliot_interest interest; // far 0: none. Not with lockstep: all of its peers watch
    // The rules that run after every step; lent until the server is destroyed. They were created or
    // restored with the world at its present tick. NULL: no rules; then chat passes to all. Not
    // with a simulation.
    foliot_rules *rules;
    bool strict_rules; // the session ends where it would otherwise continue without its rules, or
                       // without a callback that was dropped
    // The host will follow a command that ends the session and names a next scene: peers are asked
    // to reconnect instead of being dismissed, and find the session of the same name that the host
    // adds.
    bool follows_next;
    // The events of steps that are kept for foliot_server_poll_step: bits of enum
    // foliot_step_event_set; 0: none. step_events_max: how many are kept until they are polled; 0:
    // 1024. Each takes 128 bytes. Not with a simulation.
    uint32_t step_events;
    uint32_t step_events_max;
    // For clients that step:
    foliot_simulation *simulation; // instead of a world; lent, with its setup; or NULL
    uint32_t player_limit;         // of that simulation
    uint32_t input_delay; // ticks between an input and its effect, for all players whose connection
                          // allows it
    bool refuses_forced;  // clients with another fingerprint do not step even if they ask to
                          // (`force_stepping`)
} foliot_session_config;
// Name "main", 60 ticks a second, snapshots, an input delay of 3 ticks. The caller sets scene and
// world, or the simulation. The all-zero config is invalid.
foliot_session_config foliot_session_config_default(void);
// The session's first tick is closed one period after `now_ns` (see spreads_ticks). The name of a
// session that has ended may be used again: the new one takes its place, and its world is
// destroyed. On an error the world stays the caller's. FOLIOT_STATUS_INVALID: the name is empty,
// too long or in use; the pace is not positive; there is neither a simulation nor a world with its
// scene; a simulation without lockstep; or an interest that is not foliot_interest_valid, or with
// lockstep. FOLIOT_STATUS_FULL: FOLIOT_SESSIONS_MAX; FOLIOT_STATUS_MEMORY. A session whose step
// fails ends: FOLIOT_SERVER_STEP_FAILED.
FOLIOT_MUST_CHECK foliot_status foliot_server_add_session(foliot_server *server,
                                                          const foliot_session_config *config,
                                                          uint64_t now_ns);

// Receives, closes ticks that are due, starts steps, sends what is ready.
void foliot_server_update(foliot_server *server, uint64_t now_ns);
// The latest time for the next call of foliot_server_update.
uint64_t foliot_server_get_wake_ns(const foliot_server *server);
// Ends all sessions and reports the reason to every peer. The host continues to update until
// foliot_server_get_done: for one second, or three if a peer has not acknowledged. `why` NULL:
// peers are disconnected without a reason; clients that reconnect then look for the server that
// resumes their session.
void foliot_server_stop(foliot_server *server, const char *why, uint64_t now_ns);
// Whether all sessions have ended and no step is running.
bool foliot_server_get_done(const foliot_server *server);
// The age of the oldest step whose result has not been collected yet; 0: no step is running. For
// watchdogs, and for a host that is about to end recordings.
uint64_t foliot_server_get_step_age_ns(const foliot_server *server, uint64_t now_ns);
// Returns the session's recording to the host; the session continues without one.
// FOLIOT_STATUS_NOT_FOUND: no such session; FOLIOT_STATUS_AGAIN: a step of it is running.
FOLIOT_MUST_CHECK foliot_status foliot_server_release_recording(foliot_server *server,
                                                                const char *session);

// Gives the session a command for the next tick that is closed. It acts after all commands given
// earlier, and before those of the rules. Copied; its source is HOST or ADMIN. *sequence (may be
// NULL) is what FOLIOT_EVENT_COMMAND_REFUSED names. FOLIOT_STATUS_NOT_FOUND: no such session;
// FOLIOT_STATUS_INVALID: not foliot_command_valid, or its source is RULES;
// FOLIOT_STATUS_UNSUPPORTED: the scene's commands_max is 0; FOLIOT_STATUS_FULL: more than that, or
// than FOLIOT_COMMAND_TICK_BYTES_MAX, with what the rules gave; FOLIOT_STATUS_AGAIN: the session
// has ended; FOLIOT_STATUS_MEMORY.
FOLIOT_MUST_CHECK foliot_status foliot_server_command(foliot_server *server, const char *session,
                                                      const foliot_command *command,
                                                      uint32_t *sequence);
// Sends a message to one player or FOLIOT_TO_ALL, at once. A player without a connection at that
// moment misses it. FOLIOT_STATUS_NOT_FOUND: no such session; FOLIOT_STATUS_INVALID: longer than
// FOLIOT_MESSAGE_BYTES_MAX, or no such player.
FOLIOT_MUST_CHECK foliot_status foliot_server_message(foliot_server *server, const char *session,
                                                      uint32_t player, const void *bytes,
                                                      size_t length, bool reliable);
// Sets *next to the next scene that the command which ended the session named; may be "". False if
// no command ended it. Valid until the server is destroyed.
bool foliot_server_get_next(const foliot_server *server, const char *session, const char **next);
// Declares that the next scene of a session with follows_next will not be hosted. Clients that come
// back then receive the reason that the session is ending. Until this call, and for at most
// FOLIOT_SERVER_NEXT_MS after the end, a client that asks for the session waits for its answer, so
// that the host has time to open the scene. Does nothing to a session that has not ended or does
// not exist.
#define FOLIOT_SERVER_NEXT_MS 10000
void foliot_server_give_up_next(foliot_server *server, const char *session);

// Events for logs and for the host.
typedef enum foliot_server_event_kind {
    FOLIOT_SERVER_JOINED,  // a player joined; text: name and address
    FOLIOT_SERVER_RESUMED, // the same player came back
    FOLIOT_SERVER_LOST,    // its peer is gone; its slot is kept for reconnect_ms
    FOLIOT_SERVER_LEFT,    // a player left for good
    FOLIOT_SERVER_REFUSED, // a join was refused; text: why
    FOLIOT_SERVER_DROPPED, // a peer that kept violating the protocol; text: who, and why
    // Ticks are late, once a second at most; value: the most ticks behind since the last such
    // event; text: the same in milliseconds, "120 ms"
    FOLIOT_SERVER_LATE,
    FOLIOT_SERVER_FROZEN,            // a body's state was not finite or out of range; value: slot
    FOLIOT_SERVER_RECORDING_STOPPED, // the recording accepts no more ticks
    FOLIOT_SERVER_ENDED,             // the session reached its last tick
    FOLIOT_SERVER_VIOLATION, // lockstep: a protocol violation; text: who, and what; value: how
                             // often
    FOLIOT_SERVER_DIVERGED,  // lockstep: a peer's digests differ after tick `tick`; text: who
    FOLIOT_SERVER_FOUND,     // lockstep: the place of a divergence is known
                             // (foliot_server_poll_divergence); value: its tick
    FOLIOT_SERVER_BEHIND,    // lockstep: a peer fell so far behind that it was sent a new state
    FOLIOT_SERVER_SPENT,    // a token came that had been replaced: from the player, or from someone
                            // who stole it; text: the player's name
    FOLIOT_SERVER_REFUSALS, // hostile traffic was refused; text: the counter; value: how often
    // The step of tick `tick` failed with `status`, and the session ended before it: its peers were
    // dismissed, and its recording ends with the last whole tick. text: why.
    FOLIOT_SERVER_STEP_FAILED,
    FOLIOT_SERVER_RULES_STOPPED, // the session continues without its rules; text: why
    // A command ended the session after `value` ticks; text: its reason. The next scene that it
    // names is foliot_server_get_next's.
    FOLIOT_SERVER_GAME_ENDED,
    FOLIOT_SERVER_KIND,   // a peer watches or steps from now on; value: foliot_peer_kind; text: why
    FOLIOT_SERVER_HEALED, // a peer that had diverged steps again, from the server's state of tick
                          // `value`; text: who
    // Both at counts 1, 10, 100 ... `value`: the count so far.
    FOLIOT_SERVER_RULES_DROPPED,  // the rules dropped a callback of a tick; text: why
    FOLIOT_SERVER_ORDERS_REFUSED, // orders of the player cost more than it has; text: its name
} foliot_server_event_kind;
#define FOLIOT_SERVER_EVENT_KINDS (FOLIOT_SERVER_ORDERS_REFUSED + 1)
typedef struct foliot_server_event {
    foliot_server_event_kind kind;
    const char *session; // name, "": of none; valid until the next poll
    uint32_t player;     // FOLIOT_NO_PLAYER: a spectator, or the event is about no player
    uint64_t tick, value;
    foliot_status status; // of STEP_FAILED; else FOLIOT_STATUS_OK
    char text[160];       // printable
} foliot_server_event;
// Takes the next event; false if there is none.
bool foliot_server_poll(foliot_server *server, foliot_server_event *event);

// -- what happened in the steps of a session

// foliot_server_get_world after an update shows the events of the last step only, and one update
// closes several ticks if the host is slow or late: at 20 frames per second, three of 60 Hz. The
// events selected in the session config are queued here for every tick: in the order of ticks;
// within a tick first in the order of world.h, then contacts, hits and sensors.
enum foliot_step_event_set {
    FOLIOT_STEP_EVENTS_BODIES = 1u << 0, // bodies, joints and refused commands
    FOLIOT_STEP_EVENTS_CONTACTS = 1u << 1,
    FOLIOT_STEP_EVENTS_HITS = 1u << 2,
    FOLIOT_STEP_EVENTS_SENSORS = 1u << 3,
};

typedef enum foliot_step_event_kind {
    FOLIOT_STEP_EVENT,   // as.event: bodies, joints and refused commands (world.h)
    FOLIOT_STEP_CONTACT, // as.contact: it begins or ends
    FOLIOT_STEP_HIT,     // as.hit
    FOLIOT_STEP_SENSOR,  // as.sensor
} foliot_step_event_kind;

typedef struct foliot_step_event {
    foliot_step_event_kind kind;
    uint64_t tick; // foliot_world_get_tick after that step
    union {
        foliot_event event;
        foliot_contact_event contact; // in units of the scene, see query.h
        foliot_hit_event hit;
        foliot_sensor_event sensor;
    } as;
} foliot_step_event;

// Moves the oldest events of a session into `events`, at most `capacity`, and returns how many.
// Call it after each update until it returns less than `capacity`. *dropped (may be NULL) is how
// many have been lost since the session was added: the newest are dropped when there is no room
// here or in the world. After a session ends its events can be polled until it is removed or
// replaced. Returns 0 if there is no such session, or it keeps no events. examples/step_events.c
// shows it.
uint32_t foliot_server_poll_step(foliot_server *server, const char *session,
                                 foliot_step_event *events, uint32_t capacity, uint64_t *dropped);

// Takes the report of the next divergence that was found; false if there is none. Call it after
// each update: the pointers in *found are valid until the next update.
bool foliot_server_poll_divergence(foliot_server *server, foliot_divergence_report *found);

// Counts since the server was made: X(name, what is counted, as a sentence).
// clang-format off
#define FOLIOT_SERVER_COUNTERS(X)                                                                  \
    X(ticks, "Ticks closed, of all sessions.")                                                     \
    X(ticks_late, "Ticks closed after the next one was due.")                                      \
    X(inputs, "Inputs received, each counted once.")                                               \
    X(inputs_late, "Inputs applied in a later tick than intended.")                                \
    X(inputs_repeated, "Inputs received again: clients repeat them until they are acknowledged.")  \
    X(inputs_refused, "Inputs too far ahead, or more than a player may hold.")                     \
    X(inputs_abandoned, "Inputs whose player left before their tick was closed.")                  \
    X(joins, "Players and spectators admitted for the first time.")                                \
    X(resumes, "Players who came back to their slot.")                                             \
    X(leaves, "Players gone for good.")                                                            \
    X(refusals, "Joins refused, whatever the reason.")                                             \
    X(byes, "Clients that left with a goodbye.")                                                   \
    X(peers_lost, "Connections of players that ended without a goodbye.")                          \
    X(peers_superseded, "Connections whose player came back through another.")                     \
    X(tokens_rotated, "Rejoin tokens replaced by new ones.")                                       \
    X(tokens_spent, "Rejoin tokens presented after they had been replaced.")                       \
    X(refusals_over_address, "Joins refused: the address holds all the slots that it may.")        \
    X(refusals_reserved, "Joins refused: connections are kept for players who may come back.")     \
    X(input_packets, "Packets with inputs received.")                                              \
    X(answers, "Answers of clients about searches, keyframes and kinds.")                          \
    X(messages_ignored, "Repeated hellos; messages of dropped peers.")                             \
    X(messages_malformed, "Messages that are not valid in the protocol.")                          \
    X(messages_unexpected, "Messages that are valid, but not at that time.")                       \
    X(peers_dropped, "Connections that the server ended.")                                         \
    X(snapshots_sent, "Snapshots sent, once for each client.")                                     \
    X(snapshots_complete, "Snapshots sent without a baseline.")                                    \
    X(snapshot_pieces_sent, "Packets that snapshots took.")                                        \
    X(snapshots_superseded, "Snapshots not sent: a newer one was due.")                            \
    X(snapshots_thinned, "Snapshots not sent: the connection was given a lower rate.")             \
    X(snapshot_bytes_sent, "Bytes of snapshots sent.")                                             \
    X(snapshot_encodes, "Encodings of snapshots: clients with equal baselines share one.")         \
    X(interest_packets_sent, "Packets to clients in sessions with interest.")                      \
    X(interest_bytes_sent, "Bytes of packets to clients in sessions with interest.")               \
    X(interest_acknowledgements, "Acknowledgements of clients in sessions with interest.")         \
    X(events_dropped, "Events that the host did not take in time.")                                \
    X(step_events_dropped, "Events of steps that the host did not poll in time.")                  \
    X(commands, "Commands of closed ticks.")                                                       \
    X(commands_refused, "Commands dropped: their tick had no room.")                               \
    X(orders, "Orders of players received.")                                                       \
    X(orders_refused, "Orders: too many, too large, of a spectator, or out of order.")             \
    X(orders_repeated, "Orders received again.")                                                   \
    X(orders_abandoned, "Orders lost for lack of memory when their tick was closed.")              \
    X(aims, "Ticks that players were shown, for rules that look back.")                            \
    X(aims_clamped, "Shown ticks replaced: in the future, not acknowledged, or too old.")          \
    X(messages, "Messages of rules, host and chat.")                                               \
    X(messages_missed, "Messages to a player without a connection.")                               \
    X(messages_unrecorded, "Messages that are not in the recording.")                              \
    X(updates, "Parts of updates sent: variables, messages, players.")                             \
    X(update_bytes, "Bytes of updates sent.")                                                      \
    X(updates_dropped, "Updates for spectators who are behind: no memory.")                        \
    X(places_yielded, "Silent players whose slots newcomers got.")                                 \
    X(players_dismissed, "Players dismissed by the rules.")                                        \
    X(kind_changes, "Changes of clients between watching and stepping.")                           \
    X(kind_changes_refused, "Requests to step or watch refused: too frequent, or not possible.")   \
    X(rules_stopped, "Rules stopped because they failed.")                                         \
    X(rules_dropped, "Callbacks of rules that exceeded the budget of their tick.")                 \
    X(orders_over_budget, "Orders that exceeded their player's budget of a tick.")                 \
    X(ticks_unrecorded, "Ticks that are not in the recording.")                                    \
    FOLIOT_SERVER_LOCKSTEP_COUNTERS(X)
#define FOLIOT_SERVER_LOCKSTEP_COUNTERS(X)                                                         \
    X(relays_sent, "Packets of inputs sent to clients that step.")                                 \
    X(relay_bytes_sent, "Bytes of such packets.")                                                  \
    X(relay_encodes, "Times that such a packet was encoded.")                                      \
    X(command_parts_sent, "Parts of commands sent to clients that step.")                          \
    X(holes_filled, "Missed ticks that were sent again.")                                          \
    X(holes_put_off, "Missed ticks postponed to a later tick: the work of one is bounded.")        \
    X(ticks_too_large, "Ticks too large for a packet: sent reliably.")                             \
    X(relays_spared, "Packets of inputs not sent to a silent client.")                             \
    X(early_asked, "Packets that ask for inputs before their tick is closed.")                     \
    X(early_sent, "Packets of inputs sent before their tick is closed.")                           \
    X(early_bytes_sent, "Bytes of such packets.")                                                  \
    X(early_dropped, "Inputs not sent before their tick is closed: too many waited.")              \
    X(ticks_missing, "Ticks closed without an input packet of some player.")                       \
    X(inputs_superseded, "Inputs so late that a newer one had acted.")                             \
    X(inputs_stale, "Inputs for a tick that is no longer kept.")                                   \
    X(keyframes_saved, "States kept for clients that join or heal.")                               \
    X(keyframes_unsaved, "States not kept: all places were in use.")                               \
    X(keyframes_sent, "States sent to clients that step.")                                         \
    X(keyframes_taken_back, "States overwritten while being sent: sent again.")                    \
    X(keyframes_stalled, "Clients dropped for not acknowledging a state.")                         \
    X(keyframe_bytes_sent, "Bytes of states sent.")                                                \
    X(behind, "Clients so far behind that they were sent a new state.")                            \
    X(peers_silent, "Clients dropped: the transport answered, the client did not.")                \
    X(ticks_compared, "Digests of clients compared with the server's.")                            \
    X(divergences, "Digests of clients that differed.")                                            \
    X(searches, "Searches for the step and field of a divergence.")                                \
    X(search_steps, "Steps repeated for searches.")                                                \
    X(searches_put_off, "Searches postponed: the budget was used up.")                             \
    X(searches_refused, "Searches beyond the budget of a client, or too late.")                    \
    X(heals, "Clients that stepped again after a divergence.")                                     \
    FOLIOT_SERVER_VIOLATIONS(X)
// Packets that no correct client sends; each is counted, and reported as FOLIOT_SERVER_VIOLATION.
#define FOLIOT_SERVER_VIOLATIONS(X)                                                                \
    X(violations_other_player, "Violations: inputs for another player.")                           \
    X(violations_contradicted, "Violations: other inputs for a tick than before.")                 \
    X(violations_long_ago, "Violations: inputs for a tick closed long ago.")                       \
    X(violations_unclosed, "Violations: acknowledgements of data that was never sent.")            \
    X(violations_digests, "Violations: divergences that the client's own answers contradict.")     \
    X(violations_flood, "Violations: more packets than needed.")                                   \
    X(violations_kinds, "Violations: repeated requests to step or to watch.")
// clang-format on
typedef struct foliot_server_counters {
#define FOLIOT_SERVER_COUNTER_FIELD(name, help) uint64_t name;
    FOLIOT_SERVER_COUNTERS(FOLIOT_SERVER_COUNTER_FIELD)
#undef FOLIOT_SERVER_COUNTER_FIELD
} foliot_server_counters;
// Belong to the server and stay current.
const foliot_server_counters *foliot_server_get_counters(const foliot_server *server);

// How many there are now.
typedef struct foliot_server_presence {
    uint32_t peers;   // connections that have not been dropped
    uint32_t players; // of all sessions, kept places included where the session continues
    uint32_t absent;  // of these: their peer is gone, and their session continues
    uint32_t inputs;  // that wait for their tick
} foliot_server_presence;
foliot_server_presence foliot_server_get_presence(const foliot_server *server);

// How late ticks were closed after their deadlines, in microseconds: the quantile `share` (0..1) of
// all so far, in steps of 10 us, at most 10,000. Delays of whole ticks are in ticks_late.
double foliot_server_get_lateness_us(const foliot_server *server, double share);
// How many ticks were closed at most `within_us` after their deadlines, in the same steps;
// INFINITY: all. *sum_us (may be NULL) is how late all of them were together.
uint64_t foliot_server_get_lateness_count(const foliot_server *server, double within_us,
                                          double *sum_us);

// The world of a session, to read between updates. NULL: no such session, it runs a simulation of
// another kind, or a step is running.
const foliot_world *foliot_server_get_world(const foliot_server *server, const char *session);

// -- sessions and players, for the host
//
// The host's view of its sessions and players, and its actions on them: pause, end, close, kick,
// refuse, record. No call waits: if it would disturb a step that is running, it returns
// FOLIOT_STATUS_AGAIN, and the host calls again after the next update.
//
// Call all of these from the thread that uses the server. Times are those of server.h.

#define FOLIOT_ADDRESS_BYTES 64 // of an address as text, with its closing zero

typedef struct foliot_session_info {
    char name[FOLIOT_NAME_BYTES];
    foliot_session_mode mode;
    bool ended, paused, closed; // closed: nobody new is let in
    bool records;               // has a recording that takes ticks
    uint64_t first_tick, tick;  // the next to close
    double pace_hz;
    uint32_t body_count; // of the scene; 0: a simulation that is not a world
    uint32_t player_limit, players, absent, spectators;
} foliot_session_info;

typedef struct foliot_player_info {
    uint32_t player;
    char name[FOLIOT_NAME_BYTES];
    char address[FOLIOT_ADDRESS_BYTES]; // "127.0.0.1:40312"; "": its connection is gone
    bool present;                       // has a connection
    bool steps;                         // computes the session itself; else it watches
    uint64_t round_trip_ns;             // 0: unknown
} foliot_player_info;

uint32_t foliot_server_get_session_count(const foliot_server *server);
// By index. FOLIOT_STATUS_NOT_FOUND: beyond the last, or it was removed.
FOLIOT_MUST_CHECK foliot_status foliot_server_get_session_info(const foliot_server *server,
                                                               uint32_t index,
                                                               foliot_session_info *info);
// FOLIOT_STATUS_NOT_FOUND: no such session.
FOLIOT_MUST_CHECK foliot_status foliot_server_find_session(const foliot_server *server,
                                                           const char *session, uint32_t *index);
// Fills at most `capacity`; *count is how many there are. FOLIOT_STATUS_NOT_FOUND: no such session.
FOLIOT_MUST_CHECK foliot_status foliot_server_get_players(const foliot_server *server,
                                                          const char *session,
                                                          foliot_player_info *players,
                                                          uint32_t capacity, uint32_t *count);

// While a session is paused none of its ticks is due, and its peers stay connected. Afterwards it
// continues at its pace; the time between is not made up for. FOLIOT_STATUS_NOT_FOUND: no such
// session; FOLIOT_STATUS_INVALID: it has ended.
FOLIOT_MUST_CHECK foliot_status foliot_server_pause_session(foliot_server *server,
                                                            const char *session, bool paused,
                                                            uint64_t now_ns);
// Ends one session with FOLIOT_SERVER_GAME_ENDED: its peers receive `why`, and its recording is
// complete up to the last tick. FOLIOT_STATUS_AGAIN: a step runs; FOLIOT_STATUS_INVALID: it has
// ended already.
FOLIOT_MUST_CHECK foliot_status foliot_server_end_session(foliot_server *server,
                                                          const char *session, const char *why,
                                                          uint64_t now_ns);
// Removes a session that has ended and destroys its world; its name and place are free. Objects
// lent for it belong to the host again. FOLIOT_STATUS_AGAIN: a peer is still in it;
// FOLIOT_STATUS_INVALID: it has not ended; FOLIOT_STATUS_NOT_FOUND.
FOLIOT_MUST_CHECK foliot_status foliot_server_remove_session(foliot_server *server,
                                                             const char *session);
// Lets no new players or spectators in; players with a place keep it, and may come back to it.
// `session` "": all present and future sessions.
FOLIOT_MUST_CHECK foliot_status foliot_server_close_session(foliot_server *server,
                                                            const char *session, bool closed);
// The player leaves for good and receives `why`. FOLIOT_STATUS_NOT_FOUND: no such session or
// player.
FOLIOT_MUST_CHECK foliot_status foliot_server_kick(foliot_server *server, const char *session,
                                                   uint32_t player, const char *why);

// Sets a callback that decides on each newcomer before a place is looked for, from its name, its
// address as above and its proven identity. False refuses it with the sentence in `why`. NULL: all
// may enter. Called inside foliot_server_update.
void foliot_server_set_admission(foliot_server *server,
                                 bool (*admit)(void *user, const char *session, const char *name,
                                               const char *address,
                                               const foliot_peer_identity *identity, char why[160]),
                                 void *user);

// Replaces the session's recording by another one, opened on its world at the present tick, or by
// NULL for none. The previous one is no longer lent. Present players are noted in the new one, so
// that it can be resumed like a recording from the start. FOLIOT_STATUS_AGAIN: a step runs;
// FOLIOT_STATUS_INVALID: the session has ended; or what the notes returned.
FOLIOT_MUST_CHECK foliot_status foliot_server_set_recording(foliot_server *server,
                                                            const char *session,
                                                            foliot_recording *recording);

#ifdef __cplusplus
}
#endif

#endif
