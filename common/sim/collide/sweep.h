// SPDX-License-Identifier: MIT
// sweep.h (collider.c): the path of a body through the substep, and how it turns on it.
#ifndef FOLIOT_SIM_COLLIDE_SWEEP_H
#define FOLIOT_SIM_COLLIDE_SWEEP_H

#include "sim/collide/collide.h"
#include "sim/collide/shape.h"

// How a body turns on its path.
typedef enum foliot__turning {
    FOLIOT__TURNING_NONE,
    FOLIOT__TURNING_BLENDED, // between the orientations that the scheme went from and to
    FOLIOT__TURNING_FREE,    // about its spin, onward from where an impact let it go
    FOLIOT__TURNING_FAST,    // about its spin, backward from where the scheme left it: too far for
                             // the shortest arc
} foliot__turning;

// A body somewhere on its path. The fields that every pair reads come first.
typedef struct foliot__sweep {
    foliot__solid solid;
    vec3 v;               // there
    double surface_speed; // of its surface by turning, at most
    double inradius;
    uint32_t body;
    foliot__turning turning;
    quat q; // there; of boxes and capsules alone
    quat from, to;
    vec3 spin;
    vec3 own; // spin in its own axes, which is constant on the path where it precesses
    bool precesses;
} __attribute__((aligned(64))) foliot__sweep;

// The body where its path begins. Valid as long as that path does not change.
const foliot__sweep *foliot__sweep_of(const foliot__collider *c, uint32_t body);
// Moves the sweep to another time.
void foliot__sweep_move(const foliot__collider *c, foliot__sweep *sweep, double time);
// Position and velocity on the path.
typedef struct foliot__motion {
    vec3 x, v;
} foliot__motion;
foliot__motion foliot__path_at(const foliot__collider *c, uint32_t body, double time);
// Orientation there.
quat foliot__orientation_at(const foliot__collider *c, const foliot__sweep *sweep, double time);
// Angular velocity where the body has these axes.
vec3 foliot__spin_along(const foliot__sweep *sweep, const mat3 *axis);
// q turned by the angular velocity w for `duration`, which may be negative.
quat foliot__turn_on(quat q, vec3 w, double duration);
// Scales the spin of a body down to `most`, which it exceeds. In worlds with contacts, a body with
// unequal moments spins no faster than a substep can follow. Beyond that, an integrator mistakes
// the tumbling of a needle for a spin about its length, up to 256 times as fast. The next contact
// turns that spin into faster tumbling, without end. Clamping removes energy and never adds any.
// False: its spin stays, since its moments are equal or it is kinematic.
bool foliot__clamp_spin(const foliot_world *world, uint32_t slot, double most);

// Radius of the largest centred ball inside the body; infinite for a plane.
double foliot__inradius(const foliot_world *world, uint32_t body);
// How far its surface moves for a unit of angle, at most.
double foliot__turning_radius(const foliot_world *world, uint32_t body);

#endif
