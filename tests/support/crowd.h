// SPDX-License-Identifier: MIT
// crowd.h: worlds of many bodies for benches: spheres that settle on a plane, a cluster, tumbling
// solids.
#ifndef FOLIOT_TESTS_CROWD_H
#define FOLIOT_TESTS_CROWD_H

#include "foliot/foliot.h"

// `count` spheres in a heap above a plane (and the plane), semi-implicit Euler at 60 Hz.
foliot_world *crowd_spheres(uint32_t count);
// `count` bodies that attract one another, velocity-verlet.
foliot_world *crowd_cluster(uint32_t count);
// `count` solids of unequal moments that tumble freely: 13 doubles of state each.
foliot_world *crowd_tumbling(uint32_t count);

#endif
