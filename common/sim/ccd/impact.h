// SPDX-License-Identifier: MIT
// impact.h: what impact.c, ride.c, time_of_impact.c and blow.c tell each other: the path of a body
// through the step, and where two of them meet.
#ifndef FOLIOT_SIM_COLLIDE_IMPACT_H
#define FOLIOT_SIM_COLLIDE_IMPACT_H

#include "sim/collide/sweep.h"

typedef struct foliot__meeting {
    double time;
    double normal[3];          // from a to b
    double arm_a[3], arm_b[3]; // from the centres to the point that strikes
    double speed;              // of approach there
    bool endless;              // they are so near for so long that nothing more is known: stop them
} foliot__meeting;

// The next time from `since`, the later of their paths' begins, on at which the two, of whatever
// shape, touch and approach each other faster than foliot__rest_of, and so that they would go by
// foliot__way_of in what is left of the step. False if there is none in this step.
bool foliot__time_of_impact(const foliot__collider *c, uint32_t a, uint32_t b, double since,
                            foliot__meeting *m);

// impact.c: whether the body's path has changed in this substep. Pairs of those that changed before
// are there already.
bool foliot__changed_now(const foliot__collider *c, uint32_t body);

// blow.c: what the meeting gives to both, from its time on. Their turning is the caller's to begin
// anew.
void foliot__blow(foliot__collider *c, uint32_t a, uint32_t b, const foliot__meeting *m);

#endif
