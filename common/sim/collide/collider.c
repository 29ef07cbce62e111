// SPDX-License-Identifier: MIT
// collider.c: where the collider's arrays lie; where paths start; the table of body pairs that the
// broad phase fills; and for how long these are valid. Pairs are found once a tick for the
// displacement that every body's velocity promises; a margin allows for what changes it.
//
// The table of pairs has a fixed room: a pair without room is dropped and counted. Invariant: after
// foliot__order_pairs, pairs ascend by (a, b) and each is there once.
#include "sim/collide/collide.h"

#include <string.h>

#include "base/cpu.h"
#include "sim/collide/sweep.h"

void foliot__collider_carve(foliot__collider *c, foliot__carver *from, size_t slots,
                            size_t contacts)
{
    foliot__paths *p = &c->paths;
    foliot__body_grid *g = &c->grid;
    FOLIOT__CARVE(from, c->counts, 1);
    FOLIOT__CARVE(from, c->inradius, slots + 1);
    FOLIOT__CARVE(from, c->bounding_radius, slots);
    p->start = foliot__carve_v3(from, slots);
    for (int k = 0; k < 4; k++)
        FOLIOT__CARVE(from, p->start_orientation[k], slots);
    p->acceleration = p->start_velocity = foliot__carve_v3(from, slots);
    p->end_velocity = foliot__carve_v3(from, slots);
    FOLIOT__CARVE(from, p->since, slots);
    FOLIOT__CARVE(from, p->restitution_threshold, slots);
    FOLIOT__CARVE(from, p->displacement_max, slots);
    FOLIOT__CARVE(from, p->revision, slots);
    FOLIOT__CARVE(from, p->sweep_valid, slots);
    FOLIOT__CARVE(from, p->struck, slots);
    FOLIOT__CARVE(from, p->sweeps, slots);
    FOLIOT__CARVE(from, g->bounds, slots);
    FOLIOT__CARVE(from, g->sorted, slots);
    for (int axis = 0; axis < 3; axis++) {
        FOLIOT__CARVE(from, g->low[axis], slots + FOLIOT__LANES);
        FOLIOT__CARVE(from, g->high[axis], slots + FOLIOT__LANES);
    }
    FOLIOT__CARVE(from, g->keys, slots);
    FOLIOT__CARVE(from, g->keys_spare, slots);
    g->pairs_of_a = FOLIOT__CARVE(from, g->order, slots);
    g->pairs_of_b = FOLIOT__CARVE(from, g->order_spare, slots);
    FOLIOT__CARVE(from, g->planes, slots);
    FOLIOT__CARVE(from, g->levels, FOLIOT__LEVELS);
    FOLIOT__CARVE(from, c->fat_bounds, slots);
    FOLIOT__CARVE(from, c->pairs, contacts);
    FOLIOT__CARVE(from, c->pairs_spare, contacts);
}

foliot__collider foliot__collider_of(const foliot__step *step)
{
    foliot_world *world = step->world;
    foliot__carver from = {(char *)foliot__contact_workspace(world), 0};
    foliot__collider c = {.world = world, .step = step, .workers = step->workers};
    foliot__collider_carve(&c, &from, world->capacity.slots, world->capacity.contacts);
    return c;
}

static void copy_v3(foliot__v3 to, foliot__v3 from, uint32_t begin, uint32_t end)
{
    size_t bytes = (end - begin) * sizeof(double);
    memcpy(to.x + begin, from.x + begin, bytes);
    memcpy(to.y + begin, from.y + begin, bytes);
    memcpy(to.z + begin, from.z + begin, bytes);
}

static void begin_range(void *context, uint32_t begin, uint32_t end)
{
    const foliot__collider *c = context;
    const foliot_world *world = c->world;
    copy_v3(c->paths.start, foliot__position(world), begin, end);
    copy_v3(c->paths.start_velocity, foliot__velocity(world), begin, end);
    const double *const q[4] = {foliot__orientation_w(world), foliot__orientation_x(world),
                                foliot__orientation_y(world), foliot__orientation_z(world)};
    for (int k = 0; k < 4; k++)
        memcpy(c->paths.start_orientation[k] + begin, q[k] + begin, (end - begin) * sizeof *q[k]);
}

void foliot__paths_begin(const foliot__step *step)
{
    if (!step->world->scene.collides)
        return;
    foliot__collider c = foliot__collider_of(step);
    foliot__parallel_run(c.workers, 0, step->count, FOLIOT__GRAIN_BODIES, begin_range, &c);
}

void foliot__find_paths(foliot__collider *c)
{
    foliot__parallel_run(c->workers, 0, c->step->count, FOLIOT__GRAIN_BODIES,
                         FOLIOT__KERNEL_OF_CPU(foliot__find_paths), c);
}

// -- pairs

// One pass of a counting sort by member a (0) or b (1). `begin` holds how many pairs each slot has.
// Stable.
static void count_sort_pairs(const foliot__collider *c, const foliot__body_pair *from,
                             uint32_t member, uint32_t *begin, foliot__body_pair *to)
{
    const uint32_t *key = (const uint32_t *)(const void *)from + member, count = c->counts->pairs;
    for (uint32_t i = 0, sum = 0; i < c->step->count; i++) {
        uint32_t n = begin[i];
        begin[i] = sum;
        sum += n;
    }
    for (uint32_t k = 0; k < count; k++)
        to[begin[key[2 * k]]++] = from[k];
}

void foliot__sort_pairs(foliot__collider *c)
{
    uint32_t *of_a = c->grid.pairs_of_a, *of_b = c->grid.pairs_of_b, count = c->counts->pairs;
    memset(of_a, 0, sizeof *of_a * c->step->count);
    memset(of_b, 0, sizeof *of_b * c->step->count);
    for (uint32_t k = 0; k < count; k++) {
        of_a[c->pairs[k].a]++;
        of_b[c->pairs[k].b]++;
    }
    count_sort_pairs(c, c->pairs, 1, of_b, c->pairs_spare);
    count_sort_pairs(c, c->pairs_spare, 0, of_a, c->pairs);
}

void foliot__order_pairs(foliot__collider *c)
{
    foliot__sort_pairs(c);
    uint32_t count = c->counts->pairs, kept = 0;
    for (uint32_t k = 0; k < count; k++) {
        foliot__body_pair pair = c->pairs[k];
        if (kept == 0 || c->pairs[kept - 1].a != pair.a || c->pairs[kept - 1].b != pair.b)
            c->pairs[kept++] = pair;
    }
    c->counts->pairs = kept;
}

void foliot__add_pair(foliot__collider *c, uint32_t a, uint32_t b)
{
    uint32_t *count = &c->counts->pairs, most = c->world->capacity.contacts;
    if (*count == most && !c->counts->full) { // repeats may fill it
        foliot__order_pairs(c);
        c->counts->full = *count > most - most / 16;
    }
    if (*count == most) {
        c->world->counters.contacts_dropped++;
        return;
    }
    c->pairs[(*count)++] = a < b ? (foliot__body_pair){a, b} : (foliot__body_pair){b, a};
}

// -- fat bounds

// The contacts of a capsule that turns by more than the first in a tick are found again after the
// second, rad. It spins in place: its centre moves slower than this part of its surface.
#define TURN_A_TICK 0.7
#define TURN_MAX 0.25
#define SPINS 0.5

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
    c->counts->found_left = c->step->left;
    foliot__parallel_run(c->workers, 0, c->step->count, FOLIOT__GRAIN_BODIES, reset_range, c);
}

typedef struct search {
    const foliot__collider *c;
    double time; // since the bounds were set
    _Atomic(bool) left;
} search;

static inline bool is_within(float d, float displacement, float margin)
{
    float low = displacement < 0 ? displacement : 0, high = displacement > 0 ? displacement : 0;
    return d >= low - margin && d <= high + margin;
}

// The place of contact on a capsule follows its axis, and not its spin. Contacts turn with the
// whole body, and keep the moments of inertia that it had: both are near enough for a part of a
// turn. A capsule that rolls needs nothing: its contacts do not turn.
static bool has_turned(const search *s, uint32_t i)
{
    const foliot_world *world = s->c->world;
    if (foliot__shape_kind(world)[i] != FOLIOT_SHAPE_CAPSULE)
        return false;
    vec3 w = foliot__v3_get(foliot__angular_velocity(world), i),
         v = foliot__v3_get(foliot__velocity(world), i);
    double tick = world->scene.dt, rate2 = vec3_dot(w, w), r = SPINS * s->c->inradius[i];
    return rate2 * (tick * tick) > TURN_A_TICK * TURN_A_TICK &&
           rate2 * (s->time * s->time) > TURN_MAX * TURN_MAX && vec3_dot(v, v) < r * r * rate2;
}

static void search_range(void *context, uint32_t begin, uint32_t end)
{
    search *s = context;
    foliot__v3 x = foliot__position(s->c->world);
    for (uint32_t i = begin; i < end; i++) {
        const foliot__fat_bounds *fat = &s->c->fat_bounds[i];
        vec3 d = vec3_sub(foliot__v3_get(x, i), fat->at);
        if (!is_within((float)d.x, fat->displacement[0], fat->margin) ||
            !is_within((float)d.y, fat->displacement[1], fat->margin) ||
            !is_within((float)d.z, fat->displacement[2], fat->margin) || has_turned(s, i)) {
            atomic_store_explicit(&s->left, true, memory_order_relaxed);
            return;
        }
    }
}

bool foliot__fat_bounds_left(foliot__collider *c)
{
    search s = {.c = c, .time = c->counts->found_left - c->step->left};
    foliot__parallel_run(c->workers, 0, c->step->count, FOLIOT__GRAIN_BODIES, search_range, &s);
    return s.left;
}
