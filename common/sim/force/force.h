// SPDX-License-Identifier: MIT
// force.h: the forces as integrators evaluate them. The forces of a world fall in three parts:
//
//   position part: a(x, t): uniform, constant with its times, springs' elastic part, newton,
//                  attractor, callbacks that do not depend on velocity. May be reused at the same
//                  x and t.
//   applied part:  the tables `applied` and `torque`: constant over a tick (own constant force,
//                  thrust).
//   velocity part: drag, springs' dampers, callbacks with velocity_dependent set.
//
// Within the position part forces are summed in the scene's order. In the velocity part drag comes
// first, all coefficients summed (with the isotropic dampers of springs to a fixed point), then the
// other dampers, then the callbacks, each in the scene's order. Rows of static, frozen and dead
// bodies come out 0, and such bodies do not attract.
//
// The kinematic schemes move some forces by their own exact motion: what foliot__scheme_moves_force
// names (gravity and the applied part among it) is left out of every function below but
// foliot__force_potential in their worlds.
#ifndef FOLIOT_SIM_FORCE_FORCE_H
#define FOLIOT_SIM_FORCE_FORCE_H

#include "sim/state/state.h"

// Bytes of the table `force_workspace`, and its preparation from the table `force` (compact
// springs, runs of equal kind, sums of drag coefficients). Called at init and again at restore.
uint64_t foliot__force_workspace_bytes(const foliot_world_config *config);
void foliot__force_prepare(foliot_world *world);
// A body that forces may name is gone, or moves in another way (foliot__body_set_motion): they are
// prepared again before the next step. Springs and pushes on what is gone do nothing.
void foliot__forces_body_gone(foliot_world *world);

// The factors by which a uniform force acts on bodies; NULL: it acts on all alike. Force 0 is the
// scene's gravity.
static inline const double *foliot__gravity_scales(const foliot_world *world,
                                                   const foliot_force_definition *uniform)
{
    bool scaled = world->counts.scaled > 0 && uniform == foliot__force(world);
    return scaled ? foliot__gravity_scale(world) : NULL;
}

// Everything: a := a(x, v, t), the three parts together. `a` must not alias x or v. Counts one
// evaluation.
void foliot__force_total(const foliot__step *step, foliot__v3 x, foliot__v3 v, double time,
                         foliot__v3 a);

// a := position part at x, t. Counts one evaluation.
void foliot__force_position(const foliot__step *step, foliot__v3 x, double time, foliot__v3 a);

// The table `acceleration` holds the position part at the world's positions and `time` afterwards;
// computed (and counted) only if it does not already. Code that moves a body sets
// world->acceleration_valid = 0.
foliot__v3 foliot__acceleration_now(const foliot__step *step, double time);

// False where a force names a callback that the host has not lent: the step refuses at its door.
// (Everything else here takes a callback that is missing for no force at all.)
bool foliot__force_callbacks_present(const foliot_world *world, const foliot_host *host);

// a += applied * inverse_mass.
void foliot__force_add_applied(const foliot__step *step, foliot__v3 a);
// a += velocity part at x, v, t.
void foliot__force_add_velocity_part(const foliot__step *step, foliot__v3 x, foliot__v3 v,
                                     double time, foliot__v3 a);
bool foliot__force_has_velocity_part(const foliot__step *step);

// The kick: v := the flow of dv/dt = a + applied/m + velocity part(x, v) over `duration` (which may
// be negative), x held. `a` is the position part at x.
//   FOLIOT__KICK_EXACT: exact exponential for linear and isotropic anchored drag; the rest
//     (dampers of pairs and along springs, quadratic drag, callbacks) by a symmetric composition of
//     exact or implicit-midpoint flows around it: exact where drag alone is present, else symmetric
//     and of order 2 (docs/explanation/forces.md).
//   FOLIOT__KICK_CAYLEY: the same with the implicit midpoint rule in v for every exponential (what
//     central differences imply).
typedef enum foliot__kick_rule { FOLIOT__KICK_EXACT, FOLIOT__KICK_CAYLEY } foliot__kick_rule;
void foliot__force_kick(const foliot__step *step, foliot__v3 x, foliot__v3 v, foliot__v3 a,
                        double time, double duration, foliot__kick_rule rule);

// Derivatives for Newton's method: da := (da/dx) dx + (da/dv) dv at x, v, t. Exact for the forces
// of the table; callbacks by one-sided differences.
void foliot__force_jacobian_apply(const foliot__step *step, foliot__v3 x, foliot__v3 v, double time,
                                  foliot__v3 dx, foliot__v3 dv, foliot__v3 da);

// Potential energy at the world's positions, summed in force order. *complete as foliot_invariants.
double foliot__force_potential(const foliot_world *world, const foliot_host *host, bool *complete);

// -- which forces a kinematic scheme moves by their own exact motion (kinematic.c)

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
