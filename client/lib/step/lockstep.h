// SPDX-License-Identifier: MIT
// lockstep.h: the simulation of a lockstep client. It starts from a saved state, steps every tick
// that the server has closed, and reports digests. Knows no transport: stream.c carries its
// packets. Invariant: it never steps a tick whose inputs are not closed.
#ifndef FOLIOT_CLIENT_LIB_LOCKSTEP_H
#define FOLIOT_CLIENT_LIB_LOCKSTEP_H

#include "foliot/client.h"
#include "foliot/simulation.h"
#include "base/pack.h"
#include "divergence/rewind.h"
#include "wire/lockstep_message.h"
#include "wire/message.h"
#include "wire/tick_log.h"

#define FOLIOT__CLIENT_TICKS 4096   // closed ticks that are kept
#define FOLIOT__CLIENT_INPUTS 16384 // in these ticks
#define FOLIOT__OWN_TICKS 1024      // of this client's own inputs
#define FOLIOT__CHECKPOINT_TICKS 128
#define FOLIOT__CLIENT_COMMAND_BYTES ((size_t)64 << 20) // of closed ticks
#define FOLIOT__HELD_BYTES (8u << 20)                   // for the saved states of the last ticks

typedef struct foliot__checkpoint {
    bool valid;
    uint64_t tick;
    foliot__buffer state;
} foliot__checkpoint;

// A state that arrives in parts.
typedef struct foliot__lockstep_state {
    bool expected;
    bool pending; // one that diverged is kept until this is whole
    uint64_t tick;
    uint32_t players;
    uint8_t *bytes;
    uint32_t capacity;
    size_t total, have, acked;
    size_t unpacked; // length when it is decompressed; total: it is as it is
} foliot__lockstep_state;

// Saved states of the last ticks, each at tick % ticks.
typedef struct foliot__kept_states {
    uint8_t *bytes; // NULL: too large
    uint32_t ticks;
    size_t stride;
    size_t lengths[FOLIOT__CLIENT_TICKS]; // 0: the state did not fit
} foliot__kept_states;

// This client's own inputs.
typedef struct foliot__own_ticks {
    foliot__tick_log log;
    bool begun;
    uint64_t acked;
    foliot__tick_acks acks;
    uint64_t hole_ns;
} foliot__own_ticks;

// The local time at which inputs for tick 0 would have had to be sent to arrive just in time,
// estimated from the server's status packets.
typedef struct foliot__input_deadline {
    bool known;
    double ns, deviation_ns, late_margin_ns, round_trip_ns;
    uint32_t late, missing;
} foliot__input_deadline;

// The inputs and commands of the last step.
typedef struct foliot__given_step {
    foliot_command_list commands;
    foliot_input inputs[FOLIOT__BLOCK_INPUTS_MAX]; // at its front
    uint32_t input_count;
} foliot__given_step;

// Relay packets received and input packets sent, by size; and counts of events.
typedef struct foliot__lockstep_counts {
    uint64_t relay_packets, relay_bytes, relay_sizes[FOLIOT_PACKET_BYTES_MAX + 1];
    uint64_t input_packets, input_bytes, input_sizes[FOLIOT_PACKET_BYTES_MAX + 1];
    uint64_t ticks_stepped, stalls, malformed;
    bool stalled;
} foliot__lockstep_counts;

// The server's current request in its search for a divergence, and the divergence found.
typedef struct foliot__lockstep_search {
    foliot__rewind rewind;
    bool going_back;
    uint32_t number, request_bytes;
    uint64_t request_first;
    uint8_t request[FOLIOT_SEARCH_REQUEST_BYTES_MAX];
    uint64_t chain[FOLIOT__CLIENT_TICKS];
    foliot_divergence_report found;
    foliot__diverged found_names; // holds the texts that `found` points to
    bool has_report;
    uint64_t divergences;
} foliot__lockstep_search;

typedef struct foliot__lockstep_client {
    foliot_simulation_kind kind; // a copy of the caller's; its `user` is `host`
    foliot_host host;
    foliot_simulation simulation;
    bool made, begun; // `simulation` exists; it is at a tick of the session
    bool setup_here;  // it was created from the setup of this connection
    bool unfit;       // the server's state does not fit the simulation
    foliot__lockstep_state state;
    // Closed ticks, and the results of their steps.
    foliot__tick_log log;
    foliot__command_log commands;
    foliot__given_step step;
    uint64_t tick;                          // the simulation's
    uint32_t sequences[FOLIOT_PLAYERS_MAX]; // of the last inputs, by player
    uint64_t start, digests;
    foliot_digest history[FOLIOT__CLIENT_TICKS]; // by tick
    foliot__checkpoint base, next; // base: at or before the last tick that the server compared
    uint64_t checked;
    bool diverged;
    foliot__kept_states kept;
    foliot__own_ticks own;
    foliot__input_deadline deadline;
    foliot__block block; // scratch
    uint64_t begins;     // states that it began with, so far
    uint64_t shown;      // now, or when the controls changed, in 1 / FOLIOT_AIM_PARTS; 0: nothing
    foliot__lockstep_counts counts;
    foliot__lockstep_search search;
} foliot__lockstep_client;

// `kind` NULL: the world of this library, with the callbacks of `host` (may be NULL).
foliot_status foliot__lockstep_client_create(const foliot_simulation_kind *kind,
                                             const foliot_host *host,
                                             foliot__lockstep_client **out);
void foliot__lockstep_client_destroy(foliot__lockstep_client *l);
// Discards the state: another one will arrive.
void foliot__lockstep_client_restart(foliot__lockstep_client *l);
// Discards the state and the setup: a new connection sends both again.
void foliot__lockstep_client_reconnect(foliot__lockstep_client *l);
// Destroys the simulation, after which the setup's bytes may be freed.
void foliot__lockstep_client_forget(foliot__lockstep_client *l);
// Creates the simulation from a complete setup, or keeps one that was created from the same bytes
// at the same address.
foliot_status foliot__lockstep_client_setup(foliot__lockstep_client *l, const uint8_t *setup,
                                            size_t length);
const foliot_world *
foliot__lockstep_client_world(const foliot__lockstep_client *l); // NULL: none yet, or another kind

// A part of a state. True if the received length should be acknowledged now.
bool foliot__lockstep_client_receive_state(foliot__lockstep_client *l,
                                           const foliot__keyframe_part *part);
void foliot__lockstep_client_receive_ticks(foliot__lockstep_client *l,
                                           const foliot__ticks_part *part);
// Commands of a closed tick. A tick is stepped when its inputs and all its commands have arrived.
void foliot__lockstep_client_receive_commands(foliot__lockstep_client *l,
                                              const foliot__commands_part *part);
void foliot__lockstep_client_receive_relay(foliot__lockstep_client *l, const uint8_t *bytes,
                                           size_t length);
void foliot__lockstep_client_receive_status(foliot__lockstep_client *l, const uint8_t *bytes,
                                            size_t length, uint64_t now_ns, double tick_ns);
// Steps one closed tick. False if the next one has not arrived.
bool foliot__lockstep_client_step(foliot__lockstep_client *l);
bool foliot__lockstep_client_ready(const foliot__lockstep_client *l); // it has
// The captured state of a tick that was stepped lately; NULL: it is not kept.
const uint8_t *foliot__lockstep_client_state_of(const foliot__lockstep_client *l, uint64_t tick,
                                                size_t *length);
uint64_t
foliot__lockstep_client_backlog(const foliot__lockstep_client *l); // closed ticks not stepped yet

// -- response.c
// The length of the response to a request. SIZE_MAX: foliot__lockstep_client_go_back must be called
// first, until it is done; each call takes at most `steps` steps.
size_t foliot__lockstep_client_respond(foliot__lockstep_client *l,
                                       const foliot__search_message *request,
                                       uint8_t response[FOLIOT_SEARCH_RESPONSE_BYTES_MAX]);
size_t foliot__lockstep_client_go_back(foliot__lockstep_client *l, uint32_t steps,
                                       uint8_t response[FOLIOT_SEARCH_RESPONSE_BYTES_MAX]);
void foliot__lockstep_client_receive_diverged(foliot__lockstep_client *l,
                                              const foliot__diverged *found);
void foliot__lockstep_client_drop_case(
    foliot__lockstep_client *l); // frees the states of a case that nobody read

// When inputs sent now should take effect, in ticks. False: the server has not sent enough yet.
bool foliot__lockstep_client_input_time(const foliot__lockstep_client *l, uint64_t now_ns,
                                        double tick_ns, uint32_t input_delay, double *tick);
// The first tick that inputs sent now can be for.
uint64_t foliot__lockstep_client_undecided(const foliot__lockstep_client *l);
// The tick that inputs sent now should be for.
uint64_t foliot__lockstep_client_input_tick(const foliot__lockstep_client *l, uint64_t now_ns,
                                            double tick_ns, uint32_t input_delay);
// Writes a packet with acknowledgements, digests and own inputs up to `tick`, and returns its
// length (0: nothing to send yet). `controls` (may be NULL) change with that tick; *decided is
// false if an earlier packet had decided the tick already.
typedef enum foliot__own_inputs {
    FOLIOT__OWN_NONE,     // a spectator
    FOLIOT__OWN_REPEATED, // those that the server may lack, and no new ones
    FOLIOT__OWN_NEW,
} foliot__own_inputs;
size_t foliot__lockstep_client_packet(foliot__lockstep_client *l, uint64_t now_ns, uint64_t tick,
                                      foliot__own_inputs own, const foliot_input *controls,
                                      bool *decided, uint8_t bytes[FOLIOT_PACKET_BYTES_MAX]);
// Whether the server has all of them.
bool foliot__lockstep_client_own_known(const foliot__lockstep_client *l);
// Writes a packet that repeats the inputs that the server has missed; 0: there are none.
size_t foliot__lockstep_client_repeat(foliot__lockstep_client *l, uint64_t now_ns,
                                      uint8_t bytes[FOLIOT_PACKET_BYTES_MAX]);

#endif
