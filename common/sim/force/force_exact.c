// SPDX-License-Identifier: MIT
// force_exact.c: which forces a kinematic scheme moves by their own exact motion. Decides from
// definitions alone and keeps no state.

#include "sim/force/force_exact.h"

static bool body_is_static(const foliot_world *world, uint32_t body)
{
    return body == FOLIOT_NO_BODY || (foliot__flags(world)[body] & FOLIOT_BODY_STATIC) != 0;
}

static bool is_there(const foliot_world *world, uint32_t body)
{
    return body == FOLIOT_NO_BODY || (foliot__flags(world)[body] & FOLIOT_BODY_ALIVE) != 0;
}

bool foliot__spring_holds(const foliot_world *world, const foliot_force_definition *spring)
{
    return is_there(world, spring->a) && is_there(world, spring->b);
}

bool foliot__scheme_moves_constants(const foliot_world *world)
{
    return world->scheme.integrator == FOLIOT_INTEGRATOR_KINEMATIC ||
           world->scheme.integrator == FOLIOT_INTEGRATOR_KINEMATIC_AVERAGE ||
           world->scheme.integrator == FOLIOT_INTEGRATOR_KINEMATIC_STRANG;
}

bool foliot__scheme_moves_force(const foliot_world *world, const foliot_force_definition *force)
{
    // kinematic-strang sums its forces body by body: no force that couples two, and none that is
    // not linear.
    bool summed = world->scheme.integrator == FOLIOT_INTEGRATOR_KINEMATIC_STRANG;
    if (!foliot__scheme_moves_constants(world))
        return false;
    switch (force->kind) {
    case FOLIOT_FORCE_UNIFORM:
    case FOLIOT_FORCE_CONSTANT:
        return true;
    case FOLIOT_FORCE_DRAG:
        return !summed || force->as.drag.quadratic == 0.0;
    case FOLIOT_FORCE_SPRING:
        // A spring of length 0 whose damper does not depend on its direction is linear: an
        // oscillator with a closed form.
        return (force->as.spring.length == 0.0 &&
                (force->as.spring.damping == 0.0 ||
                 force->as.spring.damping_kind == FOLIOT_DAMPING_ISOTROPIC)) &&
               foliot__spring_holds(world, force) &&
               (!summed || body_is_static(world, force->a) || body_is_static(world, force->b));
    default:
        return false;
    }
}
