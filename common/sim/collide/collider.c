// SPDX-License-Identifier: MIT
// collider.c: where the collider's arrays lie, and what it remembers before a substep.
#include "sim/collide/collide.h"

#include <string.h>

#include "sim/collide/sweep.h"

static void carve_paths(foliot__paths *p, foliot__carver *from, size_t slots)
{
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
}

static void carve_grid(foliot__body_grid *g, foliot__carver *from, size_t slots)
{
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
}

void foliot__collider_carve(foliot__collider *c, foliot__carver *from, size_t slots,
                            size_t contacts)
{
    FOLIOT__CARVE(from, c->counts, 1);
    FOLIOT__CARVE(from, c->inradius, slots + 1);
    FOLIOT__CARVE(from, c->bounding_radius, slots);
    carve_paths(&c->paths, from, slots);
    carve_grid(&c->grid, from, slots);
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

void foliot__paths_begin(foliot__collider *c)
{
    foliot__parallel_run(c->workers, 0, c->step->count, FOLIOT__GRAIN_BODIES, begin_range, c);
}
