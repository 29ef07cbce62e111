// SPDX-License-Identifier: MIT
// fat_bounds.c: how far bodies may go before pairs are found again. Pairs are found once a tick for
// the displacement that every body's velocity promises; a margin allows for what changes it.
#include "sim/collide/collide.h"

void foliot__fat_bounds_reset(const foliot__collider *c, uint32_t i)
{
    const foliot_world *world = c->world;
    double left = c->step->left;
    foliot__fat_bounds *fat = &c->fat_bounds[i];
    *fat = (foliot__fat_bounds){.at = foliot__v3_get(foliot__position(world), i),
                                .margin = FOLIOT__FAR};
    if (foliot__inverse_mass(world)[i] == 0 || !foliot__is_solid(world, i))
        return;
    vec3 displacement = vec3_scale(foliot__v3_get(foliot__velocity(world), i), left);
    fat->displacement[0] = (float)displacement.x;
    fat->displacement[1] = (float)displacement.y;
    fat->displacement[2] = (float)displacement.z;
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

static inline bool is_within(float d, float displacement, float margin)
{
    float low = displacement < 0 ? displacement : 0, high = displacement > 0 ? displacement : 0;
    return d >= low - margin && d <= high + margin;
}

static bool some_left(const foliot__collider *c, uint32_t begin, uint32_t end)
{
    foliot__v3 x = foliot__position(c->world);
    for (uint32_t i = begin; i < end; i++) {
        const foliot__fat_bounds *fat = &c->fat_bounds[i];
        vec3 d = vec3_sub(foliot__v3_get(x, i), fat->at);
        if (!is_within((float)d.x, fat->displacement[0], fat->margin) ||
            !is_within((float)d.y, fat->displacement[1], fat->margin) ||
            !is_within((float)d.z, fat->displacement[2], fat->margin))
            return true;
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
