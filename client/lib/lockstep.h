// SPDX-License-Identifier: MIT
// lockstep.h: lockstep.c: a client's own simulation: begins with a saved state, steps what the
// server closed, as soon as it is here and whatever is drawn, and says what came of it. Knows no
// transport: client.c carries its packets.
#ifndef FOLIOT_CLIENT_LIB_LOCKSTEP_H
#define FOLIOT_CLIENT_LIB_LOCKSTEP_H

#include "foliot/client.h"
#include "foliot/simulation.h"
#include "recording/rewind.h"
#include "wire/lockstep_message.h"
#include "wire/message.h"

#define FOLIOT__CLIENT_TICKS 4096   // closed ones that are held
#define FOLIOT__CLIENT_INPUTS 16384 // in them
#define FOLIOT__OWN_TICKS 1024      // of our own inputs
#define FOLIOT__CHECKPOINT_TICKS 128
#define FOLIOT__HELD_BYTES (8u << 20) // of the states of the last ticks, as they were

typedef struct foliot__checkpoint {
    bool valid;
    uint64_t tick;
    uint8_t *bytes;
    size_t length, capacity;
} foliot__checkpoint;

typedef struct foliot__lockstep_client {
    foliot_simulation_kind kind; // a copy of the host's, with the host of its steps
    foliot_host host;
    foliot_simulation simulation;
    bool made, begun; // it is there; it is at some tick of the session
    bool setup_here;  // what it was made of is what the server of this connection sent
    bool unfit;       // what the server's state is of, this build makes otherwise
    // The state that comes in parts.
    bool expected;
    uint64_t state_tick;
    uint32_t state_players;
    uint8_t *state;
    size_t state_total, state_have, state_capacity, state_heard;
    // What was closed, and what came of it.
    foliot__tick_log log;
    uint64_t tick;                          // the simulation's
    uint32_t sequences[FOLIOT_PLAYERS_MAX]; // of inputs so far
    uint64_t start, digests;
    foliot_digest history[FOLIOT__CLIENT_TICKS]; // by tick
    foliot__checkpoint base, next; // base: at or before all that the server has compared
    uint64_t checked;
    bool diverged;
    uint8_t *
        held; // saved states of the last ticks, each at tick % held_ticks; NULL: they are too large
    uint32_t held_ticks;
    size_t held_stride;
    size_t held_length[FOLIOT__CLIENT_TICKS]; // 0: it did not fit
    // What is ours.
    foliot__tick_log own;
    bool own_begun;
    uint64_t own_acked;
    foliot__tick_acks own_acks;
    uint64_t hole_ns;
    // Local time at which inputs for tick 0 would have to be sent to come just in time, by the
    // server's word.
    bool deadline_known;
    double deadline_ns, deadline_deviation_ns, late_margin_ns, round_trip_ns;
    uint32_t late, missing;
    foliot__block block; // scratch
    foliot_input inputs[FOLIOT__BLOCK_INPUTS_MAX];
    // Of relay packets that came and input packets that went, by their bytes.
    uint64_t relay_packets, relay_bytes, relay_sizes[FOLIOT_PACKET_BYTES_MAX + 1];
    uint64_t input_packets, input_bytes, input_sizes[FOLIOT_PACKET_BYTES_MAX + 1];
    uint64_t ticks_stepped, stalls, malformed;
    bool stalled;
    // What the server asks in search of a divergence, and what it found.
    foliot__rewind rewind;
    bool going_back;
    uint32_t number, question_bytes;
    uint64_t question_first;
    uint8_t question[FOLIOT_SEARCH_REQUEST_BYTES_MAX];
    uint64_t chain[FOLIOT__CLIENT_TICKS];
    foliot_divergence_report found;
    foliot__diverged found_names; // where its texts are
    bool has_case;
    uint64_t divergences;
} foliot__lockstep_client;

// `kind` NULL: our world, whose steps `host` (NULL: nothing) serves.
foliot_status foliot__lockstep_client_create(const foliot_simulation_kind *kind,
                                             const foliot_host *host,
                                             foliot__lockstep_client **out);
void foliot__lockstep_client_destroy(foliot__lockstep_client *l);
// What was there is outdated, a state will come.
void foliot__lockstep_client_restart(foliot__lockstep_client *l);
// A new connection: and a setup, before it.
void foliot__lockstep_client_reconnect(foliot__lockstep_client *l);
// Without what was made of a setup, whose bytes may go then.
void foliot__lockstep_client_forget(foliot__lockstep_client *l);
// All of the setup is here; what was made of the same bytes in the same place is kept. FOLIOT_STATUS_OK,
// or why it cannot be made.
foliot_status foliot__lockstep_client_setup(foliot__lockstep_client *l, const uint8_t *setup,
                                            size_t length);
const foliot_world *foliot__lockstep_client_world(
    const foliot__lockstep_client *l); // NULL: there is none yet, or another

// A part of a state. True if the server wants to hear how much is here.
bool foliot__lockstep_client_take_state(foliot__lockstep_client *l,
                                        const foliot__keyframe_part *part);
void foliot__lockstep_client_take_ticks(foliot__lockstep_client *l, const foliot__ticks_part *part);
void foliot__lockstep_client_take_relay(foliot__lockstep_client *l, const uint8_t *bytes,
                                        size_t length);
void foliot__lockstep_client_take_status(foliot__lockstep_client *l, const uint8_t *bytes,
                                         size_t length, uint64_t now_ns, double tick_ns);
// One closed tick, if the next one is here.
bool foliot__lockstep_client_step(foliot__lockstep_client *l);
uint64_t
foliot__lockstep_client_backlog(const foliot__lockstep_client *l); // ticks here and not stepped

// -- answer.c -- The answer to a question, if it can be given at once: its length; SIZE_MAX: after
// some foliot__lockstep_client_go_back, each of at most so many steps.
size_t foliot__lockstep_client_answer(foliot__lockstep_client *l,
                                      const foliot__search_message *question,
                                      uint8_t answer[FOLIOT_SEARCH_RESPONSE_BYTES_MAX]);
size_t foliot__lockstep_client_go_back(foliot__lockstep_client *l, uint32_t steps,
                                       uint8_t answer[FOLIOT_SEARCH_RESPONSE_BYTES_MAX]);
void foliot__lockstep_client_take_diverged(foliot__lockstep_client *l,
                                           const foliot__diverged *found);
void foliot__lockstep_client_drop_case(
    foliot__lockstep_client *l); // that nobody took: its states go

// The tick that inputs made now are for.
uint64_t foliot__lockstep_client_input_tick(const foliot__lockstep_client *l, uint64_t now_ns,
                                            double tick_ns, uint32_t input_delay);
// A packet: what is here, what came of it, and with `controls` (NULL: none) what changes with that
// tick; false if they were decided before. The bytes are written, the length is returned; 0:
// nothing to say yet.
size_t foliot__lockstep_client_packet(foliot__lockstep_client *l, uint64_t now_ns, uint64_t tick,
                                      bool plays, const foliot_input *controls, bool *decided,
                                      uint8_t bytes[FOLIOT_PACKET_BYTES_MAX]);
// A packet that says again what the server missed; 0: nothing.
size_t foliot__lockstep_client_repeat(foliot__lockstep_client *l, uint64_t now_ns,
                                      uint8_t bytes[FOLIOT_PACKET_BYTES_MAX]);

#endif
