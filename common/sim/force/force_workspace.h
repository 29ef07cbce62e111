// SPDX-License-Identifier: MIT
// force_workspace.h: the compact form of a world's forces, for the files force*.c alone. It is
// cache: made from the definitions by foliot__force_prepare, and without pointers like the rest of
// the block.
//
// Forces are kept as runs of one kind in the scene's order, so that each run is one tight loop. The
// loops read separate records per spring: elastic parts and dampers are separate, and so are
// springs of two bodies (24 bytes) and springs to a fixed point (48 bytes).
#ifndef FOLIOT_SIM_FORCE_FORCE_WORKSPACE_H
#define FOLIOT_SIM_FORCE_FORCE_WORKSPACE_H

#include "sim/force/force.h"
#include "sim/force/force_simd.h"
#include "sim/state/lanes.h"
#include "sim/state/state.h"

#define FOLIOT__NEWTON_TASKS 8 // partial sums of a gravity evaluation at most, whatever the threads

typedef struct foliot__spring {
    uint32_t a, b;
    double stiffness, length;
} foliot__spring;

typedef struct foliot__tether {
    uint32_t a, unused;
    double stiffness, length, point[3];
} foliot__tether;

// All dampers that are not a plain -c v of one body: those join `isotropic`.
typedef struct foliot__damper {
    uint32_t a, b; // b may be FOLIOT_NO_BODY: then the other end is `point`
    double damping, point[3];
    uint32_t along, unused;
} foliot__damper;

enum {
    FOLIOT__RUN_UNIFORM,   // first, count: in the table `force`
    FOLIOT__RUN_CONSTANT,  // likewise
    FOLIOT__RUN_SPRING,    // first, count: in `springs`
    FOLIOT__RUN_TETHER,    // in `tethers`
    FOLIOT__RUN_NEWTON,    // in the table `force`
    FOLIOT__RUN_ATTRACTOR, // likewise
    FOLIOT__RUN_CALLBACK,  // likewise; with its velocity part, which is known at the step only
};

typedef struct foliot__run {
    uint32_t kind, first, count;
} foliot__run;

typedef struct foliot__forces {
    uint32_t run_count, damper_count, callback_count;
    uint32_t has_isotropic;             // some entry of the table `isotropic` is not 0
    uint32_t moved_constants;           // the scheme moves gravity and the applied part itself
    double drag_linear, drag_quadratic; // sums over the drag forces
    size_t runs, springs, tethers, dampers, isotropic, gravity, callbacks; // offsets from here
} foliot__forces;

static inline foliot__forces *foliot__forces_of(const foliot_world *world)
{
    return (foliot__forces *)(void *)foliot__force_workspace(world);
}

#define FORCES_TABLE(type, name)                                                                   \
    static inline type *foliot__forces_##name(const foliot__forces *forces)                        \
    {                                                                                              \
        return (type *)(void *)((char *)(uintptr_t)forces + forces->name);                         \
    }
FORCES_TABLE(foliot__run, runs)
FORCES_TABLE(foliot__spring, springs)
FORCES_TABLE(foliot__tether, tethers)
FORCES_TABLE(foliot__damper, dampers)
FORCES_TABLE(double, isotropic) // per slot: sum of c over its tethers' isotropic dampers
FORCES_TABLE(double, gravity)   // newton's scaled bodies and partial sums
FORCES_TABLE(double, callbacks) // vector fields
#undef FORCES_TABLE

// Doubles of one gravity array: the slots, and those that its loops read ahead.
static inline size_t foliot__gravity_stride(const foliot_world *world)
{
    return (size_t)world->capacity.slots + FOLIOT__NEWTON_AHEAD * FOLIOT__LANES;
}

// Vector field k of the callbacks' scratch; field 0 is always zero.
#define FOLIOT__CALLBACK_VECTORS 7
static inline foliot__v3 foliot__callback_vector(const foliot_world *world, uint32_t k)
{
    size_t slots = world->capacity.slots;
    double *x = foliot__forces_callbacks(foliot__forces_of(world)) + 3 * slots * k;
    return (foliot__v3){x, x + slots, x + 2 * slots};
}

// The host's callback of a force, NULL if it lent none by that number.
static inline const foliot_callback *foliot__callback_of(const foliot_host *host,
                                                         const foliot_force_definition *force)
{
    uint32_t k = force->as.callback.callback;
    return host && k < host->callback_count && host->callbacks[k].acceleration ? &host->callbacks[k]
                                                                               : NULL;
}

// out := sum of the host's callbacks, of those that depend on velocity or of the others, rows of
// bodies that do not move set to 0. Those declared independent of velocity receive velocities of 0,
// so that a wrong declaration cannot change bits.
void foliot__callbacks_sum(const foliot__step *step, foliot__v3 x, foliot__v3 v, double time,
                           bool velocity_dependent, foliot__v3 out);
bool foliot__callbacks_any(const foliot__step *step, bool velocity_dependent);

// a += the elastic part of springs first .. first + count - 1 at x (force_spring.c); of tethers
// likewise.
void foliot__springs_add(const foliot_world *world, uint32_t first, uint32_t count, foliot__v3 x,
                         foliot__v3 a);
void foliot__tethers_add(const foliot_world *world, uint32_t first, uint32_t count, foliot__v3 x,
                         foliot__v3 a);

// a += pairwise gravity of one force of the table at x (force_newton.c).
void foliot__newton_add(const foliot__step *step, const foliot_force_definition *force,
                        foliot__v3 x, foliot__v3 a);

static inline void foliot__v3_clear(foliot__v3 a, uint32_t rows)
{
    foliot__clear(a, rows);
}

static inline void foliot__lanes_mask(double *restrict a, const double *restrict inverse,
                                      uint32_t rows)
{
    FOLIOT__FOR_LANES (rows, i)
        a[i] = inverse[i] > 0 ? a[i] : 0;
}

// Rows of bodies that do not move become 0, whatever was added to them.
static inline void foliot__v3_mask(const foliot_world *world, foliot__v3 a)
{
    const double *inverse = foliot__inverse_mass(world);
    uint32_t rows = foliot__lanes(world);
    foliot__lanes_mask(a.x, inverse, rows);
    foliot__lanes_mask(a.y, inverse, rows);
    foliot__lanes_mask(a.z, inverse, rows);
}

#endif
