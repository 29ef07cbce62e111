// SPDX-License-Identifier: MIT
// integrator.h: the integrators (time-stepping schemes), by number and by name, with what each can
// do.
//
// Scenes, the lab and the library share this one table. docs/explanation/integrators.md gives the
// formulas and their sources. All of it is constant data; any thread may read it.
#ifndef FOLIOT_INTEGRATOR_H
#define FOLIOT_INTEGRATOR_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The value is the integrator's number in canonical scenes and recordings: never reuse one.
typedef enum foliot_integrator {
    FOLIOT_INTEGRATOR_NONE = 0,
    FOLIOT_INTEGRATOR_EXPLICIT_EULER = 1,
    FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER = 2,
    FOLIOT_INTEGRATOR_IMPLICIT_EULER = 3,
    FOLIOT_INTEGRATOR_VERLET = 4,
    FOLIOT_INTEGRATOR_TIME_CORRECTED_VERLET = 5,
    FOLIOT_INTEGRATOR_VELOCITY_VERLET = 6,
    FOLIOT_INTEGRATOR_VELOCITY_VERLET_CORRECTED = 7,
    FOLIOT_INTEGRATOR_LEAPFROG = 8,
    FOLIOT_INTEGRATOR_MIDPOINT = 9,
    FOLIOT_INTEGRATOR_HEUN = 10,
    FOLIOT_INTEGRATOR_IMPROVED_EULER = 11,
    FOLIOT_INTEGRATOR_RK4 = 12,
    FOLIOT_INTEGRATOR_IMPLICIT_MIDPOINT = 13,
    FOLIOT_INTEGRATOR_KINEMATIC = 14,
    FOLIOT_INTEGRATOR_KINEMATIC_AVERAGE = 15,
    FOLIOT_INTEGRATOR_KINEMATIC_STRANG = 16,
    FOLIOT_INTEGRATOR_YOSHIDA4 = 17,
    FOLIOT_INTEGRATOR_PEFRL4 = 18,
    FOLIOT_INTEGRATOR_YOSHIDA6 = 19,
    FOLIOT_INTEGRATOR_BLANES_MOAN6 = 20,
    FOLIOT_INTEGRATOR_KAHAN_LI8 = 21,
    FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG = 22,
    FOLIOT_INTEGRATOR_COUNT
} foliot_integrator;

typedef enum foliot_reversibility {
    FOLIOT_REVERSIBILITY_NONE,
    FOLIOT_REVERSIBILITY_ROUNDED, // as a map, up to rounding
    FOLIOT_REVERSIBILITY_EXACT,   // backward steps return to the same bits
} foliot_reversibility;

// What an integrator is.
typedef struct foliot_integrator_info {
    foliot_integrator id;
    const char *name;       // "velocity-verlet"
    const char *aliases;    // separated by blanks, may be empty
    uint8_t order;          // of the global error in position, under smooth forces of position
    uint8_t order_damped;   // on the damped oscillator x'' = -k x - b v; 0: damping is refused
    uint8_t rotation_order; // of free rigid-body rotation; 0: bodies do not rotate
    bool symplectic;
    foliot_reversibility reversible;
    uint8_t evaluations; // of all forces in a step; 0: as many as its solver needs
    bool contacts;       // admitted in a scene with contacts or position-level constraints
    bool rods;           // admitted in a scene with rods
    bool lab_only;       // needs a varying dt: foliot_world_step_dt alone steps it
    const char *summary; // one sentence
} foliot_integrator_info;

// NULL for a number that names no integrator.
const foliot_integrator_info *foliot_integrator_get_info(foliot_integrator id);
// By name or alias; FOLIOT_INTEGRATOR_NONE if it is unknown.
foliot_integrator foliot_integrator_find(const char *name);
// The known name of which `name` is a likely misspelling, for error messages; NULL if none is
// close.
const char *foliot_integrator_find_nearest(const char *name);

#ifdef __cplusplus
}
#endif

#endif
