// SPDX-License-Identifier: MIT
// splitting.c: every scheme that alternates drifts (x += c dt v) and kicks (v := flow of the forces
// over d dt, x held) is a table of (c, d), run by one loop. It knows nothing of contacts.
//
// Invariant: a kick is the flow of all forces at fixed positions, the velocity-dependent ones
// included, and every table reads the same from both ends. So a scheme keeps its order with drag
// (blanes-moan6, a Nystrom scheme, has 4 then), and stage times advance with the drifts as if time
// were a coordinate.
//
// Coefficients with their sources: composition.h and below. Rods: RATTLE (Andersen 1983), that is
// SHAKE after every drift and the velocities projected at the end; the compositions then take whole
// kick-drift-kick steps with neighbouring kicks unmerged, because merged ones fall to order 2.

#include "sim/integrator/scheme.h"

#include "base/assert.h"
#include "sim/constraint/constraint.h"
#include "sim/integrator/composition.h"
#include "sim/state/lanes.h"

// A drift by c dt, then a kick by d dt. Zero leaves one out. The drifts of a table sum to 1, the
// kicks too.
typedef struct stage {
    double c, d;
} stage;

typedef struct table {
    const stage *stages;
    uint32_t count;
} table;

#define TABLE(stages)                                                                              \
    {                                                                                              \
        stages, sizeof(stages) / sizeof((stages)[0])                                               \
    }

static const stage semi_implicit_euler[] = {{0, 1}, {1, 0}};
static const stage velocity_verlet[] = {{0, 0.5}, {1, 0.5}};
static const stage leapfrog[] = {{0.5, 1}, {0.5, 0}};

// Composition of drift-kick-drift steps, neighbouring drifts merged.
#define W1 FOLIOT__YOSHIDA4_W1
#define W2 FOLIOT__YOSHIDA4_W2
static const stage yoshida4[] = {
    {W1 / 2, W1}, {(W1 + W2) / 2, W2}, {(W2 + W1) / 2, W1}, {W1 / 2, 0}};
#undef W1
#undef W2

#define W1 FOLIOT__YOSHIDA6_W1
#define W2 FOLIOT__YOSHIDA6_W2
#define W3 FOLIOT__YOSHIDA6_W3
#define W4 FOLIOT__YOSHIDA6_W4
static const stage yoshida6[] = {{W1 / 2, W1},        {(W1 + W2) / 2, W2}, {(W2 + W3) / 2, W3},
                                 {(W3 + W4) / 2, W4}, {(W4 + W3) / 2, W3}, {(W3 + W2) / 2, W2},
                                 {(W2 + W1) / 2, W1}, {W1 / 2, 0}};
#undef W1
#undef W2
#undef W3
#undef W4

#define W1 FOLIOT__KAHAN_LI8_W1
#define W2 FOLIOT__KAHAN_LI8_W2
#define W3 FOLIOT__KAHAN_LI8_W3
#define W4 FOLIOT__KAHAN_LI8_W4
#define W5 FOLIOT__KAHAN_LI8_W5
#define W6 FOLIOT__KAHAN_LI8_W6
#define W7 FOLIOT__KAHAN_LI8_W7
#define W8 FOLIOT__KAHAN_LI8_W8
#define W9 FOLIOT__KAHAN_LI8_W9
static const stage kahan_li8[] = {{W1 / 2, W1},        {(W1 + W2) / 2, W2}, {(W2 + W3) / 2, W3},
                                  {(W3 + W4) / 2, W4}, {(W4 + W5) / 2, W5}, {(W5 + W6) / 2, W6},
                                  {(W6 + W7) / 2, W7}, {(W7 + W8) / 2, W8}, {(W8 + W9) / 2, W9},
                                  {(W9 + W8) / 2, W8}, {(W8 + W7) / 2, W7}, {(W7 + W6) / 2, W6},
                                  {(W6 + W5) / 2, W5}, {(W5 + W4) / 2, W4}, {(W4 + W3) / 2, W3},
                                  {(W3 + W2) / 2, W2}, {(W2 + W1) / 2, W1}, {W1 / 2, 0}};
#undef W1
#undef W2
#undef W3
#undef W4
#undef W5
#undef W6
#undef W7
#undef W8
#undef W9

// Omelyan, Mryglod and Folk 2002, Comput. Phys. Commun. 146, 188, restored to 32 digits from the
// order conditions (at most 3e-17 from the printed ones).
#define XI 0.17861789584480906705990376708119
#define CHI -0.066264582669818496278015621764603
#define C3 0.77529337365001885843622370936682
#define D1 0.71234183106260540383189045806884
#define LAMBDA -0.21234183106260540383189045806884
static const stage pefrl4[] = {{XI, D1}, {CHI, LAMBDA}, {C3, LAMBDA}, {CHI, D1}, {XI, 0}};
#undef XI
#undef CHI
#undef C3
#undef D1
#undef LAMBDA

// Blanes and Moan 2002, J. Comput. Appl. Math. 142, 313, table 3: SRKN_11^b, restored likewise.
#define B1 0.041464998518262412991134196128026
#define B2 0.1981286719180658042877849252816
#define B3 -0.040006192104153175470170759198942
#define B4 0.075253984301580742434760635669866
#define B5 -0.011511387420687696468107971075713
#define B6 0.23666992478693191222459897319517
#define A1 0.12322977594627021389093597878871
#define A2 0.29055379779955831227998293241034
#define A3 -0.12704921262541598992453047598535
#define A4 -0.24633176106207609584979765425634
#define A5 0.35720887279592751090175480833639
#define A6 0.20477705429147209740330882141253
static const stage blanes_moan6[] = {{0, B1},  {A1, B2}, {A2, B3}, {A3, B4}, {A4, B5}, {A5, B6},
                                     {A6, B6}, {A5, B5}, {A4, B4}, {A3, B3}, {A2, B2}, {A1, B1}};
#undef B1
#undef B2
#undef B3
#undef B4
#undef B5
#undef B6
#undef A1
#undef A2
#undef A3
#undef A4
#undef A5
#undef A6

// With rods: whole kick-drift-kick steps. Neighbouring kicks share the acceleration of one place.
#define WHOLE_STEP(w) {0, (w) / 2}, {(w), (w) / 2},
static const stage yoshida4_rods[] = {FOLIOT__YOSHIDA4(WHOLE_STEP)};
static const stage yoshida6_rods[] = {FOLIOT__YOSHIDA6(WHOLE_STEP)};
static const stage kahan_li8_rods[] = {FOLIOT__KAHAN_LI8(WHOLE_STEP)};
#undef WHOLE_STEP

static const table tables[FOLIOT_INTEGRATOR_COUNT] = {
    [FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER] = TABLE(semi_implicit_euler),
    [FOLIOT_INTEGRATOR_VELOCITY_VERLET] = TABLE(velocity_verlet),
    [FOLIOT_INTEGRATOR_LEAPFROG] = TABLE(leapfrog),
    [FOLIOT_INTEGRATOR_YOSHIDA4] = TABLE(yoshida4),
    [FOLIOT_INTEGRATOR_PEFRL4] = TABLE(pefrl4),
    [FOLIOT_INTEGRATOR_YOSHIDA6] = TABLE(yoshida6),
    [FOLIOT_INTEGRATOR_BLANES_MOAN6] = TABLE(blanes_moan6),
    [FOLIOT_INTEGRATOR_KAHAN_LI8] = TABLE(kahan_li8),
};

static const table rod_tables[FOLIOT_INTEGRATOR_COUNT] = {
    [FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER] = TABLE(semi_implicit_euler),
    [FOLIOT_INTEGRATOR_VELOCITY_VERLET] = TABLE(velocity_verlet),
    [FOLIOT_INTEGRATOR_LEAPFROG] = TABLE(leapfrog),
    [FOLIOT_INTEGRATOR_YOSHIDA4] = TABLE(yoshida4_rods),
    [FOLIOT_INTEGRATOR_YOSHIDA6] = TABLE(yoshida6_rods),
    [FOLIOT_INTEGRATOR_KAHAN_LI8] = TABLE(kahan_li8_rods),
};

// Positions move along the velocities. Rods hold again afterwards, and velocities agree with them
// where a force will look at velocities.
static void drift(const foliot__step *step, double duration, bool rods)
{
    foliot_world *world = step->world;
    uint32_t rows = foliot__lanes(world);
    foliot__v3 x = foliot__position(world), v = foliot__velocity(world);
    foliot__v3 before = foliot__scratch_vector(world, 0);
    if (rods)
        foliot__copy(before, x, rows);
    foliot__add_scaled(x, v, duration, rows);
    world->acceleration_valid = 0;
    if (rods) {
        foliot__shake(step, before, x, v, duration);
        if (foliot__force_has_velocity_part(step))
            foliot__rattle(step, x, v);
    }
}

// Dampers and quadratic drag make a kick symmetric of order 2 and not exact. The compositions of
// whole steps raise its order with the rest. In the two schemes that are not compositions the kick
// itself is composed to order 4, which costs no evaluation of the position part, because positions
// do not change.
static bool kicks_by_three(const foliot__step *step)
{
    uint32_t id = step->world->scheme.integrator;
    return (id == FOLIOT_INTEGRATOR_PEFRL4 || id == FOLIOT_INTEGRATOR_BLANES_MOAN6) &&
           foliot__force_has_velocity_part(step);
}

static void kick(const foliot__step *step, double time, double duration, bool by_three)
{
    static const double once[] = {1};
    static const double three[] = {FOLIOT__YOSHIDA4_W1, FOLIOT__YOSHIDA4_W2, FOLIOT__YOSHIDA4_W1};
    foliot_world *world = step->world;
    foliot__v3 a = foliot__acceleration_now(step, time);
    for (int k = 0; k < (by_three ? 3 : 1); k++)
        foliot__force_kick(step, foliot__position(world), foliot__velocity(world), a, time,
                           (by_three ? three : once)[k] * duration, FOLIOT__KICK_EXACT);
}

void foliot__advance_splitting(const foliot__step *step)
{
    foliot_world *world = step->world;
    bool rods = foliot__has_rods(world);
    const table *scheme =
        rods ? &rod_tables[world->scheme.integrator] : &tables[world->scheme.integrator];
    FOLIOT_ASSERT(scheme->count > 0);
    bool by_three = kicks_by_three(step);
    double drifted = 0;
    for (uint32_t i = 0; i < scheme->count; i++) {
        const stage *now = &scheme->stages[i];
        if (now->c != 0) {
            drift(step, now->c * step->dt, rods);
            drifted += now->c;
        }
        if (now->d == 0)
            continue;
        // The ends are exact, so that the last acceleration is the next step's first.
        double time = drifted == 0             ? step->time
                      : i == scheme->count - 1 ? step->time_end
                                               : step->time + drifted * step->dt;
        kick(step, time, now->d * step->dt, by_three);
    }
    if (rods)
        foliot__rattle(step, foliot__position(world), foliot__velocity(world));
}
