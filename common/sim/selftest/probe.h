// SPDX-License-Identifier: MIT
// probe.h: small scenes that reach every arithmetic path of a step, with numbers that are not
// round: a body that falls from rest has the same bits with and without fused multiply-add, these
// have not.
#ifndef FOLIOT_SIM_SELFTEST_PROBE_H
#define FOLIOT_SIM_SELFTEST_PROBE_H

#include "foliot/command.h"
#include "foliot/scene.h"

#define FOLIOT__PROBE_BODIES 64
#define FOLIOT__PROBE_LINKS 24
#define FOLIOT__PROBE_INPUTS 8

// Name, and what it reaches.
#define FOLIOT__PROBE_LIST(X)                                                                      \
    X(tangle)  /* every force that depends on velocity, rotation, pulses */                        \
    X(crew)    /* the same with players that steer, join and leave */                              \
    X(orbits)  /* pairwise gravity, attractor, springs at rest length 0: conservative */           \
    X(tops)    /* free rotation of unequal moments */                                              \
    X(balls)   /* spheres and planes in contact, friction, players */                              \
    X(net)     /* distance constraints, of which some break */                                     \
    X(rods)    /* a chain of rods */                                                               \
    X(crates)  /* boxes, capsules and spheres that fall on each other; players pull, push, jump */ \
    X(nap)     /* bodies that fall asleep and are woken */                                         \
    X(slope)   /* fast and spinning solids on an oblique floor, far from the origin */             \
    X(drowse)  /* bodies on the border of being still */                                           \
    X(linkage) /* every joint, without contacts */                                                 \
    X(limbs)   /* joints with contacts */                                                          \
    X(soft_linkage) /* both with fast joints */                                                    \
    X(soft_limbs)

typedef enum foliot__probe_kind {
#define FOLIOT__PROBE_ENUM(name) FOLIOT__PROBE_##name,
    FOLIOT__PROBE_LIST(FOLIOT__PROBE_ENUM)
#undef FOLIOT__PROBE_ENUM
        FOLIOT__PROBE_COUNT
} foliot__probe_kind;

// `scene` points into the rest: not to be copied.
typedef struct foliot__probe {
    foliot_body_definition bodies[FOLIOT__PROBE_BODIES];
    foliot_force_definition forces[FOLIOT__PROBE_LINKS];
    foliot_constraint_definition constraints[FOLIOT__PROBE_LINKS];
    double spawns[3][3];
    foliot_scene scene;
} foliot__probe;

// Fills *probe; the integrator is the default one. The caller sets another and asks
// foliot_scene_check.
void foliot__probe_make(foliot__probe *probe, foliot__probe_kind kind);

// The script of a scene with players: the players that join, steer and leave in the step from
// `tick`.
uint32_t foliot__probe_inputs(const foliot_scene *scene, uint64_t tick,
                              foliot_input inputs[FOLIOT__PROBE_INPUTS]);

#endif
