// SPDX-License-Identifier: MIT
// contact.h: which bodies touched and struck each other in the last step. Two lists, both in a
// total order that is the same on every machine and with any number of threads. They tell what a
// step has done, as its events do (world.h): kept until the next one, no part of the truth, and not
// in the digest.
//
// A world that was restored from bytes goes on with the same lists as the one that was captured,
// from the next step on; before it, nothing has struck and all that touches lasts.
#ifndef FOLIOT_CONTACT_H
#define FOLIOT_CONTACT_H

#include <stdint.h>

#include "foliot/world.h"

#ifdef __cplusplus
extern "C" {
#endif

// A blow: two bodies that came to touch within the step and bounced, or were so fast that one would
// have gone by half the size of the other. The order is that in which they happened: by time; at
// one instant as each caused the next, and (a, b) where neither did.
typedef struct foliot_hit_event {
    uint32_t a, b;    // slots, a < b
    double time;      // after the step's start, in the scene's unit of time
    double point[3];  // where it struck
    double normal[3]; // unit, from a to b
    double speed;     // with which the two approached there, along the normal; greater than 0
    double impulse; // along the normal on b, and the opposite on a: mass times speed; friction's is
                    // apart
} foliot_hit_event;
#define FOLIOT_HIT_EVENTS_MAX                                                                      \
    1024 // a step, or contacts_max if that is less; more are counted in counters.events_dropped

const foliot_hit_event *foliot_world_get_hit_events(const foliot_world *world, uint32_t *count);

// Two bodies touch in a step if they press on each other at its end (in its last substep).
typedef enum foliot_contact_change {
    FOLIOT_CONTACT_BEGIN, // not so in the step before
    FOLIOT_CONTACT_PERSIST,
    FOLIOT_CONTACT_END, // so in the step before; one of the two may be gone, and its slot another's
} foliot_contact_change;

typedef struct foliot_contact_event {
    uint32_t a, b;      // slots, a < b
    uint32_t change;    // foliot_contact_change
    uint32_t points;    // that press, 1 to 4. Of a touch that ends it and all below is 0
    double point[3];    // the middle of where they touch now
    double normal[3];   // unit, from a to b
    double force;       // along the normal on b, and the opposite on a; mean of the last substep
    double friction[3]; // force on b, and the opposite on a
    double speed; // of a touch that begins: with which the two centres approached at the step's
                  // start, along the normal; may be negative
} foliot_contact_event;

// All of the last step, ascending (a, b). Writes the first `capacity` and returns how many there
// are. Bodies asleep go on touching. A touch that begins and ends within one step is not among
// them; if it was a blow, it is an impact.
uint32_t foliot_world_get_contact_events(const foliot_world *world, foliot_contact_event *touches,
                                         uint32_t capacity);

#ifdef __cplusplus
}
#endif

#endif
