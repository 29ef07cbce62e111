// SPDX-License-Identifier: MIT
// constraint_links.h: the table `constraint_workspace`: the unbroken constraints in a form for
// speed. Cache: rebuilt from the definitions at init, at restore and whenever one breaks.
#ifndef FOLIOT_SIM_CONSTRAINT_CONSTRAINT_LINKS_H
#define FOLIOT_SIM_CONSTRAINT_CONSTRAINT_LINKS_H

#include "sim/constraint/constraint.h"

// A constraint between the centres of two bodies, or of a body and a point of the world.
typedef struct foliot__distance_link {
    uint32_t a, b;  // b FOLIOT_NO_BODY: `anchor`
    uint32_t index; // in the table `constraint`
    uint32_t unused;
    double length, length_min, stiffness;
    double anchor[3];
} foliot__distance_link;

typedef struct foliot__links {
    uint32_t *counts;                 // distances, rods
    foliot__distance_link *distances; // in solving order
    foliot__distance_link *rods;      // in index order
    double *impulse;                  // one a link of its kind: what the step has applied so far
    double *rod[8];                   // of rods: for the solver (rattle.c)
    foliot__v3 body;                  // a vector a body
} foliot__links;

foliot__links foliot__links_of(const foliot_world *world);

// Breaks constraint `index`: it is never looked at again. The links must be rebuilt.
void foliot__constraint_break(foliot_world *world, uint32_t index, foliot_break cause);

static inline uint32_t foliot__distance_count(const foliot__links *links)
{
    return links->counts[0];
}
static inline uint32_t foliot__rod_count(const foliot__links *links)
{
    return links->counts[1];
}

#endif
