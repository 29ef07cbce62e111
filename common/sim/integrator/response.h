// SPDX-License-Identifier: MIT
// response.h: how a scheme lets an acceleration act on the position within one step.
#ifndef FOLIOT_SIM_INTEGRATOR_RESPONSE_H
#define FOLIOT_SIM_INTEGRATOR_RESPONSE_H

#include "sim/state/state.h"

// c in x1 = x0 + v0 dt + c a dt^2 under constant acceleration.
static inline double foliot__response(const foliot_world *world)
{
    switch ((foliot_integrator)world->scheme.integrator) {
    case FOLIOT_INTEGRATOR_EXPLICIT_EULER:
        return 0;
    case FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER:
        return 1;
    case FOLIOT_INTEGRATOR_IMPLICIT_EULER:
        return 1;
    default:
        return 0.5;
    }
}

#endif
