// SPDX-License-Identifier: MIT
// rattle.c: rods by SHAKE/RATTLE.
#include "sim/constraint.h"

bool foliot__has_rods(const foliot_world *world)
{
    (void)world;
    return false;
}

void foliot__shake(const foliot__step *step, foliot__v3 x_before, foliot__v3 x, foliot__v3 v,
                   double duration)
{
    (void)step, (void)x_before, (void)x, (void)v, (void)duration;
}

void foliot__rattle(const foliot__step *step, foliot__v3 x, foliot__v3 v)
{
    (void)step, (void)x, (void)v;
}
