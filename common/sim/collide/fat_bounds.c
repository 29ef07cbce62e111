// SPDX-License-Identifier: MIT
// fat_bounds.c: how far bodies may go before pairs are found anew. Pairs are found once a tick for
// the displacement that every body's velocity promises; a margin allows for what changes it.
#include "sim/collide/collide.h"

void foliot__fat_bounds_reset(const foliot__collider *c, uint32_t i)
{
    const foliot_world *world = c->world;
    foliot__v3 x = foliot__position(world), v = foliot__velocity(world);
    double left = c->step->left;
    foliot__fat_bounds *fat = &c->fat_bounds[i];
    *fat = (foliot__fat_bounds){.at = {x.x[i], x.y[i], x.z[i]}, .margin = FOLIOT__FAR};
    if (foliot__inverse_mass(world)[i] == 0 || !foliot__is_solid(world, i))
        return;
    const double speed[3] = {v.x[i], v.y[i], v.z[i]};
    for (int k = 0; k < 3; k++)
        fat->displacement[k] = (float)(speed[k] * left);
    fat->margin = c->inradius[i] * (float)FOLIOT__FAT_MARGIN +
                  (float)(c->paths.restitution_threshold[i] * left);
}

static void reset_range(void *context, uint32_t begin, uint32_t end)
{
    for (uint32_t i = begin; i < end; i++)
        foliot__fat_bounds_reset(context, i);
}

void foliot__fat_bounds_reset_all(foliot__collider *c)
{
    foliot__parallel_run(c->workers, 0, c->step->count, FOLIOT__GRAIN_BODIES, reset_range, c);
}

typedef struct search {
    const foliot__collider *c;
    _Atomic(bool) left;
} search;

static bool some_left(const foliot__collider *c, uint32_t begin, uint32_t end)
{
    foliot__v3 x = foliot__position(c->world);
    for (uint32_t i = begin; i < end; i++) {
        const foliot__fat_bounds *fat = &c->fat_bounds[i];
        const float d[3] = {(float)(x.x[i] - fat->at[0]), (float)(x.y[i] - fat->at[1]),
                            (float)(x.z[i] - fat->at[2])};
        for (int k = 0; k < 3; k++) {
            float low = fat->displacement[k] < 0 ? fat->displacement[k] : 0;
            float high = fat->displacement[k] > 0 ? fat->displacement[k] : 0;
            if (!(d[k] >= low - fat->margin && d[k] <= high + fat->margin))
                return true;
        }
    }
    return false;
}

static void search_range(void *context, uint32_t begin, uint32_t end)
{
    search *s = context;
    if (some_left(s->c, begin, end))
        atomic_store_explicit(&s->left, true, memory_order_relaxed);
}

bool foliot__fat_bounds_left(foliot__collider *c)
{
    search s = {.c = c};
    foliot__parallel_run(c->workers, 0, c->step->count, FOLIOT__GRAIN_BODIES, search_range, &s);
    return s.left;
}
