// SPDX-License-Identifier: MIT
// lattice.c: bodies onto the lattice of reversible-leapfrog.
#include "sim/state/lattice.h"

#include "base/assert.h"

void foliot__lattice_enter(foliot_world *world, uint32_t slot)
{
    if (world->scheme.integrator != FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG)
        return;
    foliot__v3 x = foliot__position(world), v = foliot__velocity(world);
    double *const from[6] = {x.x, x.y, x.z, v.x, v.y, v.z};
    int64_t *const to[6] = {foliot__lattice_position_x(world), foliot__lattice_position_y(world),
                            foliot__lattice_position_z(world), foliot__lattice_velocity_x(world),
                            foliot__lattice_velocity_y(world), foliot__lattice_velocity_z(world)};
    for (int k = 0; k < 6; k++) {
        to[k][slot] = 0;
        bool inside =
            foliot__lattice_add(&to[k][slot], from[k][slot] * FOLIOT__LATTICE_PER_UNIT, false);
        FOLIOT_ASSERT(inside); // the scene check and the freezing of bodies ensure it
        from[k][slot] = foliot__lattice_nearest(to[k][slot]);
    }
}
