// SPDX-License-Identifier: MIT
// seed_wire.h: a transport around the one in memory: its owner may have another clock, skewed and
// drifting, while packets travel by the true one; it can be silenced, as by a crash; it shows what
// is sent to whoever wants to misuse it, and it can damage bytes.
#ifndef FOLIOT_TESTS_SEED_WIRE_H
#define FOLIOT_TESTS_SEED_WIRE_H

#include "base/rng.h"
#include "net/transport.h"

// True time, and what one's own clock makes of it.
typedef struct seed_clock {
    const uint64_t *now_ns; // true
    uint64_t origin_ns;
    int64_t skew_ns;
    double drift;
} seed_clock;
uint64_t seed_clock_local(const seed_clock *clock); // now, by this clock
uint64_t seed_clock_true(const seed_clock *clock,
                         uint64_t local_ns); // never early; UINT64_MAX stays

typedef struct seed_wire_config {
    seed_clock clock;
    double damage; // share of packets, either way, in which something is changed
    uint64_t seed;
    void (*tap)(void *user, foliot_delivery delivery, const uint8_t *bytes,
                size_t length); // NULL: none
    void *tap_user;
} seed_wire_config;
// Owns `inner`.
foliot_transport *seed_wire_create(foliot_transport *inner, const seed_wire_config *config);
void seed_wire_mute(foliot_transport *wire); // from now on nothing goes out, not even a goodbye
foliot_transport *seed_wire_inner(foliot_transport *wire);
uint64_t seed_wire_damaged(const foliot_transport *wire); // packets

// A change of the kind that bytes suffer: bits turned, cut short, grown, parts moved. The new
// length.
size_t seed_wire_mutate(foliot__rng *rng, uint8_t *bytes, size_t length, size_t capacity);

#endif
