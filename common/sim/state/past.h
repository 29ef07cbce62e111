// SPDX-License-Identifier: MIT
// past.h: orientations in a view of a history (history/history.c). They are computed when they are
// asked for, since a query looks closely at a few bodies only. In a view a body's velocity is 0,
// and the tables of velocities hold what its orientation is computed from: x and y two packed
// orientations, z the share of the second. A share below 0: it stands in its own tables.
#ifndef FOLIOT_SIM_STATE_PAST_H
#define FOLIOT_SIM_STATE_PAST_H

#include "sim/state/state.h"

#include <string.h>

#include "sim/math/vec3.h"

#define FOLIOT__PAST_UNIT 32767.0

typedef struct foliot__packed_orientation {
    int16_t part[4]; // w, x, y, z in units of 1 / FOLIOT__PAST_UNIT
} foliot__packed_orientation;
_Static_assert(sizeof(foliot__packed_orientation) == sizeof(double), "stands in a double's place");

// The chord between the two, stretched to length one. In a tick a body turns so little that the arc
// goes the same way.
static inline void foliot__past_orientation(const foliot_world *view, uint32_t slot, double q[4])
{
    foliot__packed_orientation from, to;
    double chord[4], share = foliot__velocity_z(view)[slot];
    int64_t dot = 0;
    memcpy(&from, &foliot__velocity_x(view)[slot], sizeof from);
    memcpy(&to, &foliot__velocity_y(view)[slot], sizeof to);
    for (int k = 0; k < 4; k++)
        dot += (int64_t)from.part[k] * to.part[k];
    double other = dot < 0 ? -share : share;
    for (int k = 0; k < 4; k++)
        chord[k] = (1 - share) * from.part[k] + other * to.part[k];
    foliot__quat_normalise(chord, q);
}

// For any world.
static inline void foliot__orientation_in(const foliot_world *world, uint32_t slot, double q[4])
{
    if (world->past && foliot__velocity_z(world)[slot] >= 0) {
        foliot__past_orientation(world, slot, q);
        return;
    }
    q[0] = foliot__orientation_w(world)[slot];
    q[1] = foliot__orientation_x(world)[slot];
    q[2] = foliot__orientation_y(world)[slot];
    q[3] = foliot__orientation_z(world)[slot];
}

#endif
