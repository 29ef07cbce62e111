// SPDX-License-Identifier: MIT
// hostile.h: peers that do in a lockstep session what no honest client does. They speak the
// protocol's bytes over any transport, and step nothing. For regression tests and the bench of a
// server under attack.
#ifndef FOLIOT_TESTS_HOSTILE_H
#define FOLIOT_TESTS_HOSTILE_H

#include "foliot/simulation.h"
#include "foliot/transport.h"
#include "wire/message.h"

typedef enum hostile_kind {
    HOSTILE_SILENT,  // joins, and never says a word again; its transport answers as ever
    HOSTILE_TRICKLE, // the same, but acknowledges a byte more of the saved state now and then
    HOSTILE_DEAF,    // goes on speaking, and acknowledges no tick after its state
    HOSTILE_LIAR, // reports false digests, answers every question plausibly, and comes back when it
                  // was found out or is not asked
    HOSTILE_CRAMMER, // decides controls for as many ticks ahead as there are, two for each
    HOSTILE_HOARDER, // once a second gives as many inputs too late as are taken, all at once
    HOSTILE_STORM,   // leaves as soon as it is welcome, and comes back at once
} hostile_kind;

typedef struct hostile {
    hostile_kind kind;
    bool spectates;
    foliot_transport *wire;
    foliot_peer_id peer;
    uint16_t port;
    foliot_digest fingerprint;
    const foliot_simulation_kind
        *stepped; // what it says that it steps: our world, unless another is put here
    bool connected, greeted, welcomed, gone;
    uint64_t said_ns, trickled_ns, asked_ns, burst;
    foliot__welcome welcome;
    // The saved state, and the ticks since.
    uint64_t state_tick, next;
    uint32_t state_bytes, state_have, state_said;
    bool state_whole;
    uint64_t salt;
    // Results.
    uint64_t welcomes, ends, questions, answered, found, packets, bytes, state_parts, states_whole;
    foliot__refuse refused; // the last
} hostile;

// Takes a separate transport, and connects. Its wire is destroyed with it.
void hostile_begin(hostile *h, hostile_kind kind, bool spectates, foliot_transport *wire,
                   uint16_t port, uint64_t now_ns);
void hostile_update(hostile *h, uint64_t now_ns);
void hostile_leave(hostile *h, uint64_t now_ns); // at once
void hostile_end(hostile *h);

#endif
