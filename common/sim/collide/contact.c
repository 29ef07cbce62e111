// SPDX-License-Identifier: MIT
// contact.c: the stages `collide` and `solve` of a step.
#include "sim/contact.h"

size_t foliot__contact_workspace_bytes(const foliot_world_config *config)
{
    (void)config;
    return 0;
}

void foliot__contact_prepare(foliot_world *world)
{
    (void)world;
}

void foliot__contact_begin(const foliot__step *step)
{
    (void)step;
}

void foliot__collide(const foliot__step *step)
{
    (void)step;
}

void foliot__solve_contacts(const foliot__step *step)
{
    (void)step;
}

void foliot__contact_forget(foliot_world *world, uint32_t slot)
{
    const uint64_t *key = foliot__contact_key(world);
    for (uint32_t i = 0; i < world->contact_count; i++)
        if (key[i] >> 32 == slot || (uint32_t)key[i] == slot) {
            foliot__contact_impulse_x(world)[i] = 0;
            foliot__contact_impulse_y(world)[i] = 0;
            foliot__contact_impulse_z(world)[i] = 0;
        }
}
