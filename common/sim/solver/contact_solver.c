// SPDX-License-Identifier: MIT
// contact_solver.c: the stages `collide` and `solve` of a substep, the table that they work in, and
// what is kept from one substep to the next. Pairs and manifolds are found once a tick; again
// within it where an impact changed a path or a body went further than the search had thought.
#include "sim/solver/contact_solver.h"

#include "sim/ccd/impact.h"
#include "sim/collide/manifold.h"
#include "sim/solver/solver_kernel.h"
#include "sim/collide/contact_event.h"

#include <string.h>

// Hands out parts of the table one after the other, each aligned to a cache line.
typedef struct carver {
    char *base;
    size_t at;
} carver;

static void *carve(carver *from, size_t entries, size_t size)
{
    void *part = from->base ? from->base + from->at : NULL;
    from->at += (entries * size + 63) & ~(size_t)63;
    return part;
}

static foliot__v3 carve_field(carver *from, size_t slots)
{
    double *x = carve(from, slots, sizeof *x);
    double *y = carve(from, slots, sizeof *y);
    double *z = carve(from, slots, sizeof *z);
    return (foliot__v3){x, y, z};
}

// At worst every pair is a block of one column, and every colour has a block that is not full of
// every kind.
static size_t spare_blocks(size_t contacts)
{
    size_t most = FOLIOT__COLOURS * FOLIOT__REGIONS * FOLIOT__KINDS;
    return contacts < most ? contacts : most;
}

static size_t arena_words(size_t contacts)
{
    return contacts * foliot__block_words(FOLIOT__POINTS, 1) +
           spare_blocks(contacts) * foliot__block_words(FOLIOT__POINTS, FOLIOT__BLOCK);
}

static size_t lay_out(foliot__collider *c, char *base, size_t slots, size_t contacts)
{
    carver from = {base, 0};
    c->counts = carve(&from, 16, sizeof *c->counts);
    c->start = carve_field(&from, slots);
    for (int k = 0; k < 4; k++)
        c->begin_q[k] = carve(&from, slots, sizeof *c->begin_q[k]);
    c->acceleration = carve_field(&from, slots);
    c->path = carve_field(&from, slots);
    c->since = carve(&from, slots, sizeof *c->since);
    c->rest = carve(&from, slots, sizeof *c->rest);
    c->age = carve(&from, slots, sizeof *c->age);
    c->held = carve(&from, slots, sizeof *c->held);
    c->riding = carve(&from, slots, sizeof *c->riding);
    c->rides = carve(&from, slots, sizeof *c->rides);
    c->changed = carve(&from, slots, sizeof *c->changed);
    c->changed_at = carve(&from, slots, sizeof *c->changed_at);
    c->changed_bounds = carve(&from, slots, sizeof *c->changed_bounds);
    c->bounds = carve(&from, slots, sizeof *c->bounds);
    c->sorted = carve(&from, slots, sizeof *c->sorted);
    for (int axis = 0; axis < 3; axis++) {
        c->low[axis] = carve(&from, slots + FOLIOT__LANES, sizeof(float));
        c->high[axis] = carve(&from, slots + FOLIOT__LANES, sizeof(float));
    }
    c->keys = carve(&from, slots, sizeof *c->keys);
    c->keys_spare = carve(&from, slots, sizeof *c->keys_spare);
    c->order = carve(&from, slots, sizeof *c->order);
    c->order_spare = carve(&from, slots, sizeof *c->order_spare);
    c->planes = carve(&from, slots, sizeof *c->planes);
    c->levels = carve(&from, FOLIOT__LEVELS, sizeof *c->levels);
    c->way = carve(&from, slots, sizeof *c->way);
    c->core = carve(&from, slots + 1, sizeof *c->core);
    c->extent = carve(&from, slots, sizeof *c->extent);
    c->reach = carve(&from, slots, sizeof *c->reach);
    c->roam = carve(&from, slots, sizeof *c->roam);
    c->found = carve_field(&from, slots);
    c->movers = carve(&from, slots + 1, sizeof *c->movers);
    c->eases = carve(&from, slots + 1, sizeof *c->eases);
    c->given = carve(&from, slots / 8, sizeof *c->given);
    c->begun = carve(&from, slots / 8, sizeof *c->begun);
    c->touched = carve(&from, slots / 8, sizeof *c->touched);
    c->pairs = carve(&from, contacts, sizeof *c->pairs);
    c->pairs_spare = carve(&from, contacts, sizeof *c->pairs_spare);
    c->impacts = carve(&from, contacts, sizeof *c->impacts);
    c->manifolds = carve(&from, contacts, sizeof *c->manifolds);
    c->warm = carve(&from, contacts, sizeof *c->warm);
    c->live = carve(&from, contacts, sizeof *c->live);
    c->colour = carve(&from, contacts, sizeof *c->colour);
    c->kind = carve(&from, contacts, sizeof *c->kind);
    c->blocks = carve(&from, contacts + spare_blocks(contacts), sizeof *c->blocks);
    c->arena = carve(&from, arena_words(contacts), sizeof *c->arena);
    c->colours = carve(&from, FOLIOT__COLOURS + 2, sizeof *c->colours);
    return from.at;
}

size_t foliot__contact_workspace_bytes(const foliot_world_config *config)
{
    foliot__collider c;
    size_t slots = (config->bodies_max + FOLIOT__LANES - 1) / FOLIOT__LANES * FOLIOT__LANES;
    return lay_out(&c, NULL, slots, config->contacts_max);
}

foliot__collider foliot__collider_of(const foliot__step *step)
{
    foliot_world *world = step->world;
    foliot__collider c;
    lay_out(&c, (char *)foliot__contact_workspace(world), world->capacity.slots,
            world->capacity.contacts);
    c.world = world;
    c.step = step;
    c.workers = step->workers;
    return c;
}

void foliot__contact_prepare(foliot_world *world)
{
    foliot__touches_begin(world); // all else is made anew in every tick
}

// -- stages

static void copy_field(foliot__v3 to, foliot__v3 from, uint32_t begin, uint32_t end)
{
    size_t bytes = (end - begin) * sizeof(double);
    memcpy(to.x + begin, from.x + begin, bytes);
    memcpy(to.y + begin, from.y + begin, bytes);
    memcpy(to.z + begin, from.z + begin, bytes);
}

static void copy_part(void *context, uint32_t begin, uint32_t end)
{
    const foliot__collider *c = context;
    const foliot_world *world = c->world;
    copy_field(c->start, foliot__position(world), begin, end);
    copy_field(c->acceleration, foliot__velocity(world), begin, end);
    const double *const q[4] = {foliot__orientation_w(world), foliot__orientation_x(world),
                                foliot__orientation_y(world), foliot__orientation_z(world)};
    for (int k = 0; k < 4; k++)
        memcpy(c->begin_q[k] + begin, q[k] + begin, (end - begin) * sizeof *q[k]);
}

void foliot__contact_begin(const foliot__step *step)
{
    if (!step->world->collides)
        return;
    foliot__collider c = foliot__collider_of(step);
    foliot__parallel_run(c.workers, 0, step->count, FOLIOT__GRAIN_BODIES, copy_part, &c);
}

static void find_paths_part(void *context, uint32_t begin, uint32_t end)
{
    const foliot__collider *c = context;
    const foliot__solver_kernel *kernel = foliot__solver_of_cpu();
    if (c->step->index == 0) {
        kernel->measure(c, begin, end);
        memset(&c->held[begin], 0, (end - begin) * sizeof *c->held);
    }
    kernel->find_paths(c, begin, end);
    memset(&c->riding[begin], 0, (end - begin) * sizeof *c->riding);
}

void foliot__find_paths(foliot__collider *c)
{
    foliot__parallel_run(c->workers, 0, c->step->count, FOLIOT__GRAIN_BODIES, find_paths_part, c);
}

// Body i may go on as it does now: its pairs are those of this way.
static void let_roam(const foliot__collider *c, uint32_t i)
{
    const foliot_world *world = c->world;
    foliot__v3 x = foliot__position(world), v = foliot__velocity(world);
    double left = c->step->left;
    foliot__roam *roam = &c->roam[i];
    *roam = (foliot__roam){.at = {x.x[i], x.y[i], x.z[i]}, .slack = FOLIOT__FAR};
    if (foliot__inverse_mass(world)[i] == 0 || !foliot__is_solid(world, i))
        return;
    const double speed[3] = {v.x[i], v.y[i], v.z[i]};
    for (int k = 0; k < 3; k++)
        roam->way[k] = (float)(speed[k] * left);
    roam->slack = c->core[i] * (float)FOLIOT__SLACK + (float)(c->rest[i] * left);
}

typedef struct wandering {
    const foliot__collider *c;
    _Atomic(bool) far;
} wandering;

static bool went_far(const foliot__collider *c, uint32_t begin, uint32_t end)
{
    foliot__v3 x = foliot__position(c->world);
    for (uint32_t i = begin; i < end; i++) {
        const foliot__roam *roam = &c->roam[i];
        const float d[3] = {(float)(x.x[i] - roam->at[0]), (float)(x.y[i] - roam->at[1]),
                            (float)(x.z[i] - roam->at[2])};
        for (int k = 0; k < 3; k++) {
            float low = roam->way[k] < 0 ? roam->way[k] : 0;
            float high = roam->way[k] > 0 ? roam->way[k] : 0;
            if (!(d[k] >= low - roam->slack && d[k] <= high + roam->slack))
                return true;
        }
    }
    return false;
}

static void went_far_part(void *context, uint32_t begin, uint32_t end)
{
    wandering *w = context;
    if (went_far(w->c, begin, end))
        atomic_store_explicit(&w->far, true, memory_order_relaxed);
}

// Whether some body went further than the search for contacts had thought.
static bool some_went_far(const foliot__collider *c)
{
    wandering w = {.c = c};
    foliot__parallel_run(c->workers, 0, c->step->count, FOLIOT__GRAIN_BODIES, went_far_part, &w);
    return w.far;
}

static void let_roam_part(void *context, uint32_t begin, uint32_t end)
{
    for (uint32_t i = begin; i < end; i++)
        let_roam(context, i);
}

void foliot__collide(const foliot__step *step)
{
    if (!step->world->collides)
        return;
    foliot__collider c = foliot__collider_of(step);
    foliot__find_paths(&c);
    bool stale = step->index == 0 || some_went_far(&c);
    c.counts[FOLIOT__COUNT_STALE] = stale;
    if (stale) {
        foliot__find_pairs(&c);
        if (step->left > 0)
            foliot__parallel_run(c.workers, 0, step->count, FOLIOT__GRAIN_BODIES, let_roam_part, &c);
    }
    foliot__run_impacts(&c);
    // Pairs of their new paths were added, if there was an impact.
    for (uint32_t k = 0; k < c.counts[FOLIOT__COUNT_CHANGED] && c.counts[FOLIOT__COUNT_STALE]; k++)
        if (foliot__changed_now(&c, c.changed[k]))
            let_roam(&c, c.changed[k]);
}

void foliot__solve_contacts(const foliot__step *step)
{
    if (!step->world->collides)
        return;
    foliot__collider c = foliot__collider_of(step);
    foliot__solve(&c);
}
