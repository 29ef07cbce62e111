// SPDX-License-Identifier: MIT
// beads.h: a small simulation that is not our world: beads on a ring of integers, pushed by
// players. With faults of every kind that a harness must find, to be planted by name.
#ifndef FOLIOT_TESTS_BEADS_H
#define FOLIOT_TESTS_BEADS_H

#include "foliot/foliot.h"

#define BEADS_COUNT 12
#define BEADS_STAGES 2 // "push", "move"

typedef enum beads_fault {
    BEADS_SOUND,
    BEADS_GLOBAL,     // a counter outside of the instance decides a step now and then
    BEADS_FORGETS,    // save leaves out the wind, restore leaves it standing
    BEADS_HIDDEN,     // a count of steps since the last restore decides
    BEADS_UNDIGESTED, // the digest leaves out the heat of bead 5
    BEADS_PADDING,    // saved bytes hold what was there before
    BEADS_POINTER,    // the digest depends on where the instance lies
    BEADS_STALE_TICK, // restore forgets the tick
    BEADS_REFUSES,    // restore refuses every 50th tick
} beads_fault;

typedef struct beads {
    uint64_t tick, random;
    int32_t place[BEADS_COUNT], speed[BEADS_COUNT];
    uint32_t heat[BEADS_COUNT];
    uint32_t wind;
    uint16_t buttons[8];
    uint32_t lived; // not truth
    void (*after_stage)(void *user, uint32_t stage);
    void *stage_user;
} beads;

// The setup is one byte: a seed. `fault` holds for all instances made from now on. With parts and
// fields, or without (then the digest is of the saved bytes too).
const foliot_simulation_kind *beads_kind(beads_fault fault);
const foliot_simulation_kind *beads_kind_plain(void);

#endif
