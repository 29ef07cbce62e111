// SPDX-License-Identifier: MIT
// force_exact.h: which forces a kinematic scheme moves by their own exact motion (kinematic.c). The
// functions of force.h leave these out in a world of such a scheme, so that nothing is counted
// twice; only foliot__force_potential counts all forces in every world.
#ifndef FOLIOT_SIM_FORCE_FORCE_EXACT_H
#define FOLIOT_SIM_FORCE_FORCE_EXACT_H

#include "sim/state/state.h"

// False for a spring of which one end is gone.
bool foliot__spring_holds(const foliot_world *world, const foliot_force_definition *spring);

// True in worlds of kinematic, kinematic-average and kinematic-strang. There gravity and the
// applied part (own constant force, thrust) are the scheme's too.
bool foliot__scheme_moves_constants(const foliot_world *world);

// True if the world's scheme moves this force itself. Depends on definitions alone (never on a body
// being frozen), so that it may be asked once, when forces are prepared. Always false for other
// schemes.
bool foliot__scheme_moves_force(const foliot_world *world, const foliot_force_definition *force);

#endif
