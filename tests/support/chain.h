// SPDX-License-Identifier: MIT
// chain.h: a small simulation that is not our world: links on a ring of integers, pushed by
// players. With faults of every kind that a harness must find, to be planted by name.
#ifndef FOLIOT_TESTS_CHAIN_H
#define FOLIOT_TESTS_CHAIN_H

#include "foliot/foliot.h"

#define CHAIN_COUNT 12
#define CHAIN_STAGES 2 // "push", "move"

typedef enum chain_fault {
    CHAIN_NO_FAULT,
    CHAIN_GLOBAL,     // a counter outside of the instance decides a step now and then
    CHAIN_FORGETS,    // save leaves out the wind, restore leaves it standing
    CHAIN_HIDDEN,     // a count of steps since the last restore decides
    CHAIN_UNDIGESTED, // the digest leaves out the heat of link 5
    CHAIN_PADDING,    // saved bytes hold what was there before
    CHAIN_POINTER,    // the digest depends on where the instance is in memory
    CHAIN_STALE_TICK, // restore forgets the tick
    CHAIN_REFUSES,    // restore refuses every 50th tick
} chain_fault;

typedef struct chain_state {
    uint64_t tick, random;
    int32_t place[CHAIN_COUNT], speed[CHAIN_COUNT];
    uint32_t heat[CHAIN_COUNT];
    uint32_t wind;
    uint16_t buttons[8];
    uint32_t lived; // not part of the state
    void (*after_stage)(void *user, uint32_t stage);
    void *stage_user;
} chain_state;

// The setup is one byte: a seed. `fault` holds for all instances made from now on. With parts and
// fields, or without (then the digest is of the saved bytes too).
const foliot_simulation_kind *chain_kind(chain_fault fault);
const foliot_simulation_kind *chain_kind_plain(void);

#endif
