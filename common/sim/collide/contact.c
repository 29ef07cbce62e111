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
