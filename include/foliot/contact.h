// SPDX-License-Identifier: MIT
// contact.h: which bodies touched, which struck each other and which met a sensor in the last step.
//
// Contact events say which pairs pressed on each other: begin, persist, end. Hit events say which
// pairs collided within the step, with their impulse. Both lists have a total order that is the
// same on every machine and with any number of threads.
//
// The lists describe the last step alone, like the events of world.h. They are no part of the state
// and not in the digest. A world restored from bytes produces the same lists as the captured one
// from the next step on; before that step it has no hit events, and all its contacts persist.
//
// Bodies are named by slot. Positions and directions are in world axes; lengths, times and masses
// are in the units of the scene.
#ifndef FOLIOT_CONTACT_H
#define FOLIOT_CONTACT_H

#include <stdint.h>

#include "foliot/world.h"

#ifdef __cplusplus
extern "C" {
#endif

// A collision. Either it was resolved at its time of impact: the two met within the step and
// bounced, or one was so fast that it would have passed the other by half its size. Or the solver
// resolved it: two that were not in contact before began to press, and approached faster than a
// step's acceleration gives (and than 1/512 of the smaller body's inradius in a step). The list is
// ordered by time; at one instant by cause and effect; independent ones by (a, b), those of the
// solver last.
typedef struct foliot_hit_event {
    uint32_t a, b; // slots, a < b
    double time;   // since the start of the step; of the solver's, the end of the first substep in
                   // which they press
    double point[3];  // of contact
    double normal[3]; // unit length, from a to b
    double speed;     // of approach at that point along the normal, as they meet; > 0
    double impulse; // mass times speed along the normal, on b; -impulse on a. Without friction. Of
                    // the solver's, all of the step, and what will end an approach that is left
} foliot_hit_event;

// Of one step, or contacts_max if that is less. Further ones are counted in
// counters.events_dropped.
#define FOLIOT_HIT_EVENTS_MAX 1024

// Owned by the world, valid until its next step.
const foliot_hit_event *foliot_world_get_hit_events(const foliot_world *world, uint32_t *count);

// Two bodies are in contact after a step if they press on each other in its last substep. Two that
// are neither after the step nor after the one before, and met in between, have both events, begin
// and end, one after the other. A bounce is such a contact.
typedef enum foliot_contact_change {
    FOLIOT_CONTACT_BEGIN,   // not in contact in the step before
    FOLIOT_CONTACT_PERSIST, // in contact in both
    FOLIOT_CONTACT_END,     // in contact in the step before alone. One of the two may be gone and
                            // its slot hold another body
} foliot_contact_change;

typedef struct foliot_contact_event {
    uint32_t a, b;    // slots, a < b
    uint32_t change;  // foliot_contact_change
    uint32_t points;  // that press, 1 to 4. At END this and all below is 0
    double point[3];  // the mean of these points
    double normal[3]; // unit length, from a to b
    double force;     // on b along the normal, -force on a; mean over the last substep, or over the
                      // step where the contact has ended
    double friction[3]; // force on b, -friction on a; 0 where the contact has ended
    double speed; // at BEGIN: of approach of the two centres along the normal, at the start of the
                  // step; may be negative
} foliot_contact_event;

// All contacts of the last step, ascending by (a, b), a begin before its end. Writes the first
// `capacity` (`events` may be NULL if it is 0) and returns how many there are. Sleeping bodies stay
// in contact. A pair that lands is reported once, in the first step that ends while it presses.
// Contacts within the step beyond FOLIOT_HIT_EVENTS_MAX are counted in counters.events_dropped.
uint32_t foliot_world_get_contact_events(const foliot_world *world, foliot_contact_event *events,
                                         uint32_t capacity);

// A body began or ceased to overlap a sensor (scene.h) in the last step. Sensors sense dynamic and
// kinematic bodies with a shape, sleeping ones too, that their filter admits; no static ones and no
// other sensors. A body that passes within a step has entered and left in it. The way is straight
// between two substeps and bends at impacts; a body that leaves and returns within one step stays
// inside. A body that overlaps a sensor as the scene starts has not entered it.
typedef enum foliot_sensor_change {
    FOLIOT_SENSOR_ENTER,
    FOLIOT_SENSOR_LEAVE, // one of the two may be gone and its slot hold another body
} foliot_sensor_change;

typedef struct foliot_sensor_event {
    uint32_t sensor, body; // slots
    uint32_t change;       // foliot_sensor_change
} foliot_sensor_event;

// All changes of the last step, ascending by (sensor, body); where one slot had two bodies in turn,
// those of the first come first. Writes the first `capacity` (`events` may be NULL if it is 0) and
// returns how many there are. None before the
// first step after a restore; overlaps beyond contacts_max are counted in counters.events_dropped.
uint32_t foliot_world_get_sensor_events(const foliot_world *world, foliot_sensor_event *events,
                                        uint32_t capacity);

#ifdef __cplusplus
}
#endif

#endif
