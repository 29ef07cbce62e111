// SPDX-License-Identifier: MIT
// registry.c: the functions that run each integrator. The properties of an integrator are in its
// row of scene/integrator_info.c.
#include "sim/integrator/scheme.h"

static const foliot__scheme schemes[FOLIOT_INTEGRATOR_COUNT] = {
    [FOLIOT_INTEGRATOR_EXPLICIT_EULER] = {1, foliot__advance_explicit_euler, NULL},
    [FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER] = {1, foliot__advance_splitting, NULL},
    [FOLIOT_INTEGRATOR_IMPLICIT_EULER] = {12, foliot__advance_implicit_euler, NULL},
    [FOLIOT_INTEGRATOR_VERLET] = {8, foliot__advance_verlet, NULL},
    [FOLIOT_INTEGRATOR_TIME_CORRECTED_VERLET] = {8, foliot__advance_time_corrected_verlet, NULL},
    [FOLIOT_INTEGRATOR_VELOCITY_VERLET] = {1, foliot__advance_splitting, NULL},
    [FOLIOT_INTEGRATOR_VELOCITY_VERLET_CORRECTED] = {4, foliot__advance_velocity_verlet_corrected,
                                                     NULL},
    [FOLIOT_INTEGRATOR_LEAPFROG] = {1, foliot__advance_splitting, NULL},
    [FOLIOT_INTEGRATOR_MIDPOINT] = {3, foliot__advance_midpoint, NULL},
    [FOLIOT_INTEGRATOR_HEUN] = {4, foliot__advance_heun, NULL},
    [FOLIOT_INTEGRATOR_IMPROVED_EULER] = {1, foliot__advance_improved_euler, NULL},
    [FOLIOT_INTEGRATOR_RK4] = {5, foliot__advance_rk4, NULL},
    [FOLIOT_INTEGRATOR_IMPLICIT_MIDPOINT] = {12, foliot__advance_implicit_midpoint, NULL},
    [FOLIOT_INTEGRATOR_KINEMATIC] = {3, foliot__advance_kinematic, NULL},
    [FOLIOT_INTEGRATOR_KINEMATIC_AVERAGE] = {3, foliot__advance_kinematic_average, NULL},
    [FOLIOT_INTEGRATOR_KINEMATIC_STRANG] = {2, foliot__advance_kinematic_strang, NULL},
    [FOLIOT_INTEGRATOR_YOSHIDA4] = {1, foliot__advance_splitting, NULL},
    [FOLIOT_INTEGRATOR_PEFRL4] = {1, foliot__advance_splitting, NULL},
    [FOLIOT_INTEGRATOR_YOSHIDA6] = {1, foliot__advance_splitting, NULL},
    [FOLIOT_INTEGRATOR_BLANES_MOAN6] = {1, foliot__advance_splitting, NULL},
    [FOLIOT_INTEGRATOR_KAHAN_LI8] = {1, foliot__advance_splitting, NULL},
    [FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG] = {2, foliot__advance_lattice, foliot__retreat_lattice},
};

const foliot__scheme *foliot__scheme_of(foliot_integrator id)
{
    return foliot_integrator_get_info(id) ? &schemes[id] : NULL;
}
