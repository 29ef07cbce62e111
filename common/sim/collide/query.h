// SPDX-License-Identifier: MIT
// query.h: a query that the simulation itself asks. foliot/query.h has those of the host.
#ifndef FOLIOT_SIM_COLLIDE_QUERY_H
#define FOLIOT_SIM_COLLIDE_QUERY_H

#include "foliot/query.h"

// Whether any body is found by foliot_world_overlap_shape. It stops at the first.
bool foliot__shape_overlaps(const foliot_world *world, const foliot_shape *shape,
                            const double position[3], const double orientation[4],
                            const foliot_query_filter *filter);

#endif
