// SPDX-License-Identifier: MIT
// sweep.h: the path of a body through the substep, and how it turns on it.
#ifndef FOLIOT_SIM_COLLIDE_SWEEP_H
#define FOLIOT_SIM_COLLIDE_SWEEP_H

#include "sim/collide/shape.h"

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

// The body where its path begins. As long as that path does not change.
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

// An approach slower than that is the beginning of rest.
double foliot__rest_of(const foliot__collider *c, uint32_t a, uint32_t b);
// How far an approach must go in what is left of the step.
double foliot__way_of(const foliot__collider *c, uint32_t a, uint32_t b);

// Radius of a ball inside the body; infinite for a plane.
double foliot__core(const foliot_world *world, uint32_t body);
// How far its surface is turned through space by a unit of angle, at most.
double foliot__swing(const foliot_world *world, uint32_t body);

#endif
