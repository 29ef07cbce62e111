// SPDX-License-Identifier: MIT
// interpolation.h: a body between two of its states, by Hermite and slerp. Knows no snapshots.
#ifndef FOLIOT_CLIENT_LIB_INTERPOLATION_H
#define FOLIOT_CLIENT_LIB_INTERPOLATION_H

#include "foliot/snapshot.h"
#include "foliot/world.h"

// Whether the two are states of one body without a jump, so that it can be interpolated.
bool foliot__is_continuous(const foliot_snapshot_format *format, const foliot_snapshot_body *a,
                           const foliot_snapshot_body *b, double ticks);
// The state at the share `u` of the `ticks` between a and b, whose states are `from` and `to`.
// `from` if they are not continuous.
foliot_body_state foliot__interpolate_body(const foliot_snapshot_format *format, double dt,
                                           const foliot_snapshot_body *a,
                                           const foliot_snapshot_body *b,
                                           const foliot_body_state *from,
                                           const foliot_body_state *to, double ticks, double u);
// The constant angular velocity from one rotation to the other, in world axes, the shorter way.
void foliot__spin_between(const double from[4], const double to[4], double time, double spin[3]);
void foliot__rotate_by_spin(double q[4], const double spin[3], double time);

#endif
