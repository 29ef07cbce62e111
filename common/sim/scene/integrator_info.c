// SPDX-License-Identifier: MIT
// integrator_info.c: the properties of every integrator: its row of data and the search for its
// name. Scenes, recordings, the lab and the library all read these rows. Nothing here runs an
// integrator: the functions are in integrator/scheme.c.
//
// The claims (order, symplectic, reversible, evaluations) are measured in tests/unit/test_order.c
// and its neighbours, which loop over these rows.
#include "foliot/scene.h"

#include <string.h>

#include "base/text.h"

// Columns: orders (position forces, damped oscillator, free rotation) and evaluations a step. An
// order_damped of 0: the scheme refuses damping; a rotation_order of 0: nothing rotates.
static const foliot_integrator_info rows[FOLIOT_INTEGRATOR_COUNT] = {
    [FOLIOT_INTEGRATOR_EXPLICIT_EULER] = {.id = FOLIOT_INTEGRATOR_EXPLICIT_EULER,
                                          .name = "explicit-euler",
                                          .aliases = "forward-euler",
                                          .order = 1,
                                          .order_damped = 1,
                                          .rotation_order = 2,
                                          .evaluations = 1,
                                          .contacts = true,
                                          .summary =
                                              "Position and velocity both advanced from the state "
                                              "at t; gains energy; kept as a bad example."},
    [FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER] =
        {.id = FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER,
         .name = "semi-implicit-euler",
         .aliases = "symplectic-euler euler-cromer",
         .order = 1,
         .order_damped = 1,
         .rotation_order = 2,
         .symplectic = true,
         .evaluations = 1,
         .contacts = true,
         .rods = true,
         .summary = "Velocity first, then position with the new velocity. The default."},
    [FOLIOT_INTEGRATOR_IMPLICIT_EULER] =
        {.id = FOLIOT_INTEGRATOR_IMPLICIT_EULER,
         .name = "implicit-euler",
         .aliases = "backward-euler",
         .order = 1,
         .order_damped = 1,
         .rotation_order = 2,
         .contacts = true,
         .summary = "Velocity and position at t + 1 by Newton's method; stable at any "
                    "stiffness, loses energy."},
    [FOLIOT_INTEGRATOR_VERLET] =
        {.id = FOLIOT_INTEGRATOR_VERLET,
         .name = "verlet",
         .aliases = "stormer-verlet central-difference",
         .order = 2,
         .order_damped = 2,
         .rotation_order = 2,
         .symplectic = true,
         .reversible = FOLIOT_REVERSIBILITY_ROUNDED,
         .evaluations = 1,
         .contacts = true,
         .summary = "Positions of two ticks give the third; velocity is their central "
                    "difference."},
    [FOLIOT_INTEGRATOR_TIME_CORRECTED_VERLET] =
        {.id = FOLIOT_INTEGRATOR_TIME_CORRECTED_VERLET,
         .name = "time-corrected-verlet",
         .aliases = "",
         .order = 2,
         .order_damped = 2,
         .rotation_order = 2,
         .evaluations = 1,
         .contacts = true,
         .lab_only = true,
         .summary = "Verlet for a changing dt; equals verlet where dt is constant."},
    [FOLIOT_INTEGRATOR_VELOCITY_VERLET] =
        {.id = FOLIOT_INTEGRATOR_VELOCITY_VERLET,
         .name = "velocity-verlet",
         .aliases = "",
         .order = 2,
         .order_damped = 2,
         .rotation_order = 2,
         .symplectic = true,
         .reversible = FOLIOT_REVERSIBILITY_ROUNDED,
         .evaluations = 1,
         .contacts = true,
         .rods = true,
         .summary = "Kick-drift-kick; exact for constant acceleration at any dt."},
    [FOLIOT_INTEGRATOR_VELOCITY_VERLET_CORRECTED] =
        {.id = FOLIOT_INTEGRATOR_VELOCITY_VERLET_CORRECTED,
         .name = "velocity-verlet-corrected",
         .aliases = "",
         .order = 1,
         .order_damped = 1,
         .rotation_order = 2,
         .evaluations = 2,
         .summary = "Predicts the position, averages both accelerations into the "
                    "velocity, then moves with it; loses energy; kept for comparison."},
    [FOLIOT_INTEGRATOR_LEAPFROG] =
        {.id = FOLIOT_INTEGRATOR_LEAPFROG,
         .name = "leapfrog",
         .aliases = "newton-stormer-verlet position-verlet",
         .order = 2,
         .order_damped = 2,
         .rotation_order = 2,
         .symplectic = true,
         .reversible = FOLIOT_REVERSIBILITY_ROUNDED,
         .evaluations = 1,
         .contacts = true,
         .rods = true,
         .summary = "Drift-kick-drift: half a step forward, the forces there, half a step."},
    [FOLIOT_INTEGRATOR_MIDPOINT] = {.id = FOLIOT_INTEGRATOR_MIDPOINT,
                                    .name = "midpoint",
                                    .aliases = "",
                                    .order = 2,
                                    .order_damped = 2,
                                    .rotation_order = 2,
                                    .evaluations = 2,
                                    .summary =
                                        "Explicit midpoint rule: the slope half a step ahead."},
    [FOLIOT_INTEGRATOR_HEUN] =
        {.id = FOLIOT_INTEGRATOR_HEUN,
         .name = "heun",
         .aliases = "",
         .order = 2,
         .order_damped = 2,
         .rotation_order = 2,
         .evaluations = 2,
         .summary = "True Heun: the slopes at both ends averaged, in position as well."},
    [FOLIOT_INTEGRATOR_IMPROVED_EULER] =
        {.id = FOLIOT_INTEGRATOR_IMPROVED_EULER,
         .name = "improved-euler",
         .aliases = "",
         .order = 1,
         .order_damped = 1,
         .rotation_order = 2,
         .evaluations = 1,
         .contacts = true,
         .summary = "Forward velocity, trapezoid position: first order in spite of its "
                    "name."},
    [FOLIOT_INTEGRATOR_RK4] = {.id = FOLIOT_INTEGRATOR_RK4,
                               .name = "rk4",
                               .aliases = "",
                               .order = 4,
                               .order_damped = 4,
                               .rotation_order = 4,
                               .evaluations = 4,
                               .summary =
                                   "Classic Runge-Kutta of order four; loses energy slowly."},
    [FOLIOT_INTEGRATOR_IMPLICIT_MIDPOINT] =
        {.id = FOLIOT_INTEGRATOR_IMPLICIT_MIDPOINT,
         .name = "implicit-midpoint",
         .aliases = "",
         .order = 2,
         .order_damped = 2,
         .rotation_order = 2,
         .symplectic = true,
         .reversible = FOLIOT_REVERSIBILITY_ROUNDED,
         .contacts = true,
         .summary = "The midpoint rule solved by Newton's method; symplectic; stable on "
                    "linear springs of any stiffness."},
    [FOLIOT_INTEGRATOR_KINEMATIC] =
        {.id = FOLIOT_INTEGRATOR_KINEMATIC,
         .name = "kinematic",
         .aliases = "",
         .order = 1,
         .order_damped = 1,
         .rotation_order = 2,
         .evaluations = 1,
         .contacts = true,
         .summary = "Every force adds its own exact motion; exact for one constant or "
                    "one spring force, order 2 for several undamped ones."},
    [FOLIOT_INTEGRATOR_KINEMATIC_AVERAGE] =
        {.id = FOLIOT_INTEGRATOR_KINEMATIC_AVERAGE,
         .name = "kinematic-average",
         .aliases = "",
         .order = 1,
         .order_damped = 1,
         .rotation_order = 2,
         .evaluations = 1,
         .contacts = true,
         .summary = "Kinematic with the average velocity; order 2 where every force has "
                    "a closed form and none is damped."},
    [FOLIOT_INTEGRATOR_KINEMATIC_STRANG] =
        {.id = FOLIOT_INTEGRATOR_KINEMATIC_STRANG,
         .name = "kinematic-strang",
         .aliases = "",
         .order = 2,
         .order_damped = 2,
         .rotation_order = 2,
         .symplectic = true,
         .reversible = FOLIOT_REVERSIBILITY_ROUNDED,
         .evaluations = 1,
         .contacts = true,
         .summary = "Kicks around the exact motion under drift, constant forces, linear "
                    "drag and anchored springs summed."},
    [FOLIOT_INTEGRATOR_YOSHIDA4] = {.id = FOLIOT_INTEGRATOR_YOSHIDA4,
                                    .name = "yoshida4",
                                    .aliases = "forest-ruth",
                                    .order = 4,
                                    .order_damped = 4,
                                    .rotation_order = 4,
                                    .symplectic = true,
                                    .reversible = FOLIOT_REVERSIBILITY_ROUNDED,
                                    .evaluations = 3,
                                    .rods = true,
                                    .summary = "Three leapfrog steps composed to order four."},
    [FOLIOT_INTEGRATOR_PEFRL4] =
        {.id = FOLIOT_INTEGRATOR_PEFRL4,
         .name = "pefrl4",
         .aliases = "",
         .order = 4,
         .order_damped = 4,
         .rotation_order = 2,
         .symplectic = true,
         .reversible = FOLIOT_REVERSIBILITY_ROUNDED,
         .evaluations = 4,
         .summary = "Position-extended Forest-Ruth-like: order four with an error 36 "
                    "times smaller than yoshida4's."},
    [FOLIOT_INTEGRATOR_YOSHIDA6] = {.id = FOLIOT_INTEGRATOR_YOSHIDA6,
                                    .name = "yoshida6",
                                    .aliases = "",
                                    .order = 6,
                                    .order_damped = 6,
                                    .rotation_order = 6,
                                    .symplectic = true,
                                    .reversible = FOLIOT_REVERSIBILITY_ROUNDED,
                                    .evaluations = 7,
                                    .rods = true,
                                    .summary = "Seven leapfrog steps composed to order six."},
    [FOLIOT_INTEGRATOR_BLANES_MOAN6] =
        {.id = FOLIOT_INTEGRATOR_BLANES_MOAN6,
         .name = "blanes-moan6",
         .aliases = "",
         .order = 6,
         .order_damped = 4,
         .rotation_order = 2,
         .symplectic = true,
         .reversible = FOLIOT_REVERSIBILITY_ROUNDED,
         .evaluations = 11,
         .summary = "Runge-Kutta-Nystrom splitting of order six; order four with drag."},
    [FOLIOT_INTEGRATOR_KAHAN_LI8] = {.id = FOLIOT_INTEGRATOR_KAHAN_LI8,
                                     .name = "kahan-li8",
                                     .aliases = "",
                                     .order = 8,
                                     .order_damped = 8,
                                     .rotation_order = 8,
                                     .symplectic = true,
                                     .reversible = FOLIOT_REVERSIBILITY_ROUNDED,
                                     .evaluations = 17,
                                     .rods = true,
                                     .summary =
                                         "Seventeen leapfrog steps composed to order eight."},
    [FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG] =
        {.id = FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG,
         .name = "reversible-leapfrog",
         .aliases = "",
         .order = 2,
         .order_damped = 0,
         .rotation_order = 0,
         .symplectic = true,
         .reversible = FOLIOT_REVERSIBILITY_EXACT,
         .evaluations = 1,
         .summary = "Leapfrog on a lattice of 2^-40: running backwards restores the same bits."},
};

// The n-th word of a row: its name, then its aliases. Its length, 0 where there are no more.
static size_t word_of(const foliot_integrator_info *info, unsigned n, const char **word)
{
    if (n == 0) {
        *word = info->name;
        return strlen(info->name);
    }
    const char *at = info->aliases;
    for (;; n--) {
        at += strspn(at, " ");
        size_t length = strcspn(at, " ");
        if (n == 1 || length == 0) {
            *word = at;
            return length;
        }
        at += length;
    }
}

const foliot_integrator_info *foliot_integrator_get_info(foliot_integrator id)
{
    if ((int)id <= FOLIOT_INTEGRATOR_NONE || (int)id >= FOLIOT_INTEGRATOR_COUNT)
        return NULL;
    return &rows[id];
}

foliot_integrator foliot_integrator_find(const char *name)
{
    size_t bytes = name != NULL ? strlen(name) : 0;
    for (int id = FOLIOT_INTEGRATOR_NONE + 1; id < FOLIOT_INTEGRATOR_COUNT && bytes > 0; id++) {
        const char *word;
        size_t length;
        for (unsigned n = 0; (length = word_of(&rows[id], n, &word)) > 0; n++)
            if (length == bytes && memcmp(word, name, bytes) == 0)
                return (foliot_integrator)id;
    }
    return FOLIOT_INTEGRATOR_NONE;
}

const char *foliot_integrator_find_nearest(const char *name)
{
    const char *nearest = NULL;
    uint32_t distance_min = UINT32_MAX;
    for (int id = FOLIOT_INTEGRATOR_NONE + 1; id < FOLIOT_INTEGRATOR_COUNT && name && *name; id++) {
        const char *word;
        size_t length;
        for (unsigned n = 0; (length = word_of(&rows[id], n, &word)) > 0; n++) {
            char known[FOLIOT__WORD_MAX] = ""; // an alias has no separate string
            memcpy(known, word, length < sizeof known ? length : sizeof known - 1);
            uint32_t distance = foliot__word_distance(name, known);
            if (distance < distance_min) {
                distance_min = distance;
                nearest = rows[id].name;
            }
        }
    }
    return nearest && foliot__word_close(name, distance_min) ? nearest : NULL;
}
