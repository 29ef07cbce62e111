// SPDX-License-Identifier: MIT
// impact.h: continuous collision: impacts within a substep. Its arrays follow the collider's in
// the table `contact_workspace`.
//
//   impact.c          finds and applies impacts in the order of time
//   time_of_impact.c  when two rotating shapes come into contact
//   restitution.c     which approaches bounce, and the impulses with which they do
#ifndef FOLIOT_SIM_CCD_IMPACT_H
#define FOLIOT_SIM_CCD_IMPACT_H

#include "sim/collide/sweep.h"

#define FOLIOT__CONTACT_GAP 0x1p-9 // of the smaller inradius: a smaller gap is contact

// An impact that waits in the queue.
typedef struct foliot__impact {
    double time; // after the step's start
    uint32_t a, b;
    uint32_t revision_a, revision_b; // of the paths that it was computed from
} foliot__impact;

typedef struct foliot__ccd_counts {
    uint32_t changed;
    uint32_t remembered; // of the changed: since an earlier substep
    uint32_t queued;
    uint32_t stopped; // bodies stopped for the rest of the step
    uint32_t lost;    // impacts for which the queue had no room
} foliot__ccd_counts;

typedef struct foliot__ccd {
    foliot__collider collider;
    foliot__ccd_counts *counts;
    uint32_t *stopped_in; // 1 + the tick's last substep in which an impact stopped the body for the
                          // rest; 0: none
    uint32_t *changed;    // bodies whose path an impact has changed
    uint32_t *changed_at; // and where each stands in that list
    foliot__bounds *changed_bounds;
    foliot__impact *queue; // `contacts` entries
} foliot__ccd;

// Where and how two bodies meet.
typedef struct foliot__toi {
    double time;
    vec3 normal;       // from a to b
    vec3 arm_a, arm_b; // from the centres to the point of impact
    double speed;      // of approach there
    bool unresolved;   // the search ran out of steps: the bodies are stopped
} foliot__toi;

void foliot__ccd_carve(foliot__ccd *ccd, foliot__carver *from, size_t slots, size_t contacts);
foliot__ccd foliot__ccd_of(const foliot__step *step);

// impact.c: the stage `collide`. Finds the pairs that the moved bodies make, and applies impacts on
// their paths.
void foliot__collide(const foliot__step *step);
// Its first part: sizes and paths of all bodies.
void foliot__find_paths(foliot__collider *c);
// Finds and applies impacts until the step's end.
void foliot__run_impacts(foliot__ccd *ccd);
// Whether the body's path has changed in this substep. Pairs of those that changed before are
// there already.
bool foliot__path_changed_now(const foliot__ccd *ccd, uint32_t body);

// time_of_impact.c: the first time after `since` at which two bodies of any shape have an impact:
// they are in contact, they approach faster than foliot__impact_speed_min, and at that speed they
// would move by foliot__impact_displacement_min in the remainder of the step. `since` is the later
// of the two times at which their paths begin. False if there is none in this step.
bool foliot__time_of_impact(const foliot__collider *c, uint32_t a, uint32_t b, double since,
                            foliot__toi *toi);

// restitution.c: a slower approach is the beginning of rest, and no impact.
double foliot__impact_speed_min(const foliot__collider *c, uint32_t a, uint32_t b);
// How far an approach must go in what is left of the step to be an impact.
double foliot__impact_displacement_min(const foliot__collider *c, uint32_t a, uint32_t b);

// An approach that is slower is rounding. `most`: the greatest closing speed.
double foliot__approach_min(const foliot__collider *c, double contact_gap, double most);
// Whether a point of two bodies in contact that approaches at `speed` is left to an impact, which
// throws it back faster than bodies that push each other come to rest.
bool foliot__will_rebound(const foliot__collider *c, uint32_t a, uint32_t b, double speed);

// Applies the impulses of an impact to both bodies, from its time on. The caller restarts their
// rotation.
void foliot__collision_impulse(foliot__collider *c, uint32_t a, uint32_t b, const foliot__toi *toi);

#endif
