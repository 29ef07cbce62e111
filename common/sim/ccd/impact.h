// SPDX-License-Identifier: MIT
// impact.h: what impact.c, ride.c, time_of_impact.c and blow.c tell each other: the path of a body
// through the step, and where two of them meet.
#ifndef FOLIOT_SIM_COLLIDE_IMPACT_H
#define FOLIOT_SIM_COLLIDE_IMPACT_H

#include "sim/collide/shape.h"

typedef struct foliot__meeting {
    double time;
    double normal[3];          // from a to b
    double arm_a[3], arm_b[3]; // from the centres to the point that strikes
    double speed;              // of approach there
    bool endless;              // they are so near for so long that nothing more is known: stop them
} foliot__meeting;

// How a body turns on its path.
typedef enum foliot__turning {
    FOLIOT__STILL,
    FOLIOT__BLENDED, // between the orientations that the scheme went from and to
    FOLIOT__FREELY,  // about its spin, on from where an impact let it go
    FOLIOT__FAST,    // about its spin, back from where the scheme left it: too far for the shortest
                     // way
} foliot__turning;

// A body somewhere on its path. What is asked of every pair comes first.
typedef struct foliot__ride {
    foliot__solid solid;
    double v[3];  // there
    double sweep; // of its surface by turning, at most, as a speed
    double core;
    uint32_t body;
    foliot__turning turning;
    double q[4]; // there; of boxes and capsules alone
    double from[4], to[4], spin[3];
    double own[3]; // spin in its own axes, which it keeps on the way where it precesses
    bool precesses;
} __attribute__((aligned(64))) foliot__ride;

// ride.c: the body where its path begins. As long as that path does not change.
const foliot__ride *foliot__ride_of(const foliot__collider *c, uint32_t body);
// The same body at another time.
void foliot__ride_on(const foliot__collider *c, foliot__ride *ride, double time);
// Position and velocity on the path.
void foliot__path_at(const foliot__collider *c, uint32_t body, double time, double x[3],
                     double w[3]);
// Orientation (w, x, y, z) there.
void foliot__turned_at(const foliot__collider *c, uint32_t body, double time, double q[4]);
// Angular velocity there, where it has the orientation q.
void foliot__spin_at(const foliot__ride *ride, const double q[4], double w[3]);
// And where the body's axes are these.
void foliot__spin_along(const foliot__ride *ride, const double axis[3][3], double w[3]);
// q turned by the angular velocity w for `duration`, which may be negative.
void foliot__turn_on(double q[4], const double w[3], double duration);

// impact.c: an approach slower than that is the beginning of rest.
double foliot__rest_of(const foliot__collider *c, uint32_t a, uint32_t b);
// How far an approach must go in what is left of the step.
double foliot__way_of(const foliot__collider *c, uint32_t a, uint32_t b);

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

// Radius of a ball inside the body; infinite for a plane.
double foliot__core(const foliot_world *world, uint32_t body);
// How far its surface is turned through space by a unit of angle, at most.
double foliot__swing(const foliot_world *world, uint32_t body);

#endif
