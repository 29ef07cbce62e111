// SPDX-License-Identifier: MIT
// contact_solver.c: the stages `collide` and `solve` of a substep, and the table that they work in.
// Pairs and manifolds are found once a tick, and again within it where an impact changed a path or
// a body left its fat bounds.
#include "sim/solver/contact_solver.h"

#include <string.h>

#include "sim/collide/contact_event.h"
#include "sim/solver/solver_kernel.h"

// At worst every pair is a block of one column, and every colour has a block that is not full of
// every kind.
static uint64_t spare_blocks(uint64_t contacts)
{
    uint64_t kinds = FOLIOT__KINDS + FOLIOT__KINDS_CARRIED;
    uint64_t most = FOLIOT__COLOURS * FOLIOT__REGIONS * kinds;
    return contacts < most ? contacts : most;
}

static uint64_t arena_words(uint64_t contacts)
{
    return contacts * foliot__block_words(FOLIOT__POINTS, 1) +
           spare_blocks(contacts) * foliot__block_words(FOLIOT__POINTS, FOLIOT__BLOCK);
}

static void carve_bodies(foliot__solver *s, foliot__carver *from, size_t slots)
{
    s->found = foliot__carve_v3(from, slots);
    FOLIOT__CARVE(from, s->bodies, slots + 1);
    FOLIOT__CARVE(from, s->masses, slots + 1);
    FOLIOT__CARVE(from, s->given, slots / 8);
    FOLIOT__CARVE(from, s->begun, slots / 8);
    FOLIOT__CARVE(from, s->active, slots / 8);
    FOLIOT__CARVE(from, s->speculative_distance, slots);
    FOLIOT__CARVE(from, s->travel, slots);
    FOLIOT__CARVE(from, s->load, slots);
    FOLIOT__CARVE(from, s->colours_taken, slots);
}

static void carve_manifolds(foliot__solver *s, foliot__carver *from, uint64_t contacts)
{
    FOLIOT__CARVE(from, s->manifolds, contacts);
    FOLIOT__CARVE(from, s->warm, contacts);
    FOLIOT__CARVE(from, s->kind, contacts);
    FOLIOT__CARVE(from, s->live, contacts);
    FOLIOT__CARVE(from, s->colour, contacts);
    FOLIOT__CARVE(from, s->rank, contacts);
    FOLIOT__CARVE(from, s->first_row, contacts / FOLIOT__GRAIN_PAIRS + 1);
    FOLIOT__CARVE(from, s->blocks, contacts + spare_blocks(contacts));
    FOLIOT__CARVE(from, s->arena, arena_words(contacts));
    FOLIOT__CARVE(from, s->colour_begin, FOLIOT__COLOURS + 2);
    FOLIOT__CARVE(from, s->watched, contacts);
    uint64_t hits = contacts < FOLIOT_HIT_EVENTS_MAX ? contacts : FOLIOT_HIT_EVENTS_MAX;
    FOLIOT__CARVE(from, s->brief, hits);
    FOLIOT__CARVE(from, s->keys, 2 * hits);
    FOLIOT__CARVE(from, s->buckets, 1u << FOLIOT__BRIEF_BUCKET_BITS);
}

static uint64_t lay_out(foliot__solver *s, char *base, size_t slots, uint64_t contacts)
{
    foliot__carver from = {base, 0};
    foliot__ccd_carve(&s->ccd, &from, slots, contacts);
    FOLIOT__CARVE(&from, s->counts, 1);
    carve_bodies(s, &from, slots);
    carve_manifolds(s, &from, contacts);
    return from.at;
}

uint64_t foliot__contact_workspace_bytes(const foliot_world_config *config)
{
    foliot__solver s;
    return lay_out(&s, NULL, foliot__slots_of(config->bodies_max), config->contacts_max);
}

foliot__solver foliot__solver_of(const foliot__step *step)
{
    foliot_world *world = step->world;
    foliot__solver s;
    lay_out(&s, (char *)foliot__contact_workspace(world), world->capacity.slots,
            world->capacity.contacts);
    s.ccd.collider.world = s.world = world;
    s.ccd.collider.step = s.step = step;
    s.ccd.collider.workers = s.workers = step->workers;
    return s;
}

void foliot__contact_prepare(foliot_world *world)
{
    foliot__contact_events_begin(world); // all else is made anew in every tick
}

// -- stages

void foliot__contact_begin(const foliot__step *step)
{
    if (!step->world->scene.collides)
        return;
    foliot__collider c = foliot__collider_of(step);
    foliot__paths_begin(&c);
}

void foliot__find_paths(foliot__collider *c)
{
    foliot__parallel_run(c->workers, 0, c->step->count, FOLIOT__GRAIN_BODIES,
                         foliot__solver_of_cpu()->find_paths, c);
}

void foliot__collide(const foliot__step *step)
{
    if (!step->world->scene.collides)
        return;
    foliot__ccd ccd = foliot__ccd_of(step);
    foliot__collider *c = &ccd.collider;
    foliot__find_paths(c);
    if (step->index == 0)
        memset(ccd.stopped_in, 0, step->count * sizeof *ccd.stopped_in);
    c->counts->stale = step->index == 0 || foliot__fat_bounds_left(c);
    if (c->counts->stale) {
        foliot__find_pairs(c);
        if (step->left > 0)
            foliot__fat_bounds_reset_all(c);
    }
    foliot__run_impacts(&ccd);
    // Pairs of their new paths were added, if there was an impact.
    for (uint32_t k = 0; k < ccd.counts->changed && c->counts->stale; k++)
        if (foliot__path_changed_now(&ccd, ccd.changed[k]))
            foliot__fat_bounds_reset(c, ccd.changed[k]);
}

void foliot__solve_contacts(const foliot__step *step)
{
    if (!step->world->scene.collides)
        return;
    foliot__solver s = foliot__solver_of(step);
    foliot__solve(&s);
}
