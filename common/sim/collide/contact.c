// SPDX-License-Identifier: MIT
// contact.c: the stages `collide` and `solve` of a step, and the table that they work in.
#include "sim/collide/collide.h"
#include "sim/collide/solver_kernel.h"

#include "sim/integrator/response.h"

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

static size_t lay_out(foliot__collider *c, char *base, size_t slots, size_t contacts)
{
    carver from = {base, 0};
    c->counts = carve(&from, 16, sizeof *c->counts);
    c->start = carve_field(&from, slots);
    c->acceleration = carve_field(&from, slots);
    c->path = carve_field(&from, slots);
    c->since = carve(&from, slots, sizeof *c->since);
    c->rest = carve(&from, slots, sizeof *c->rest);
    c->age = carve(&from, slots, sizeof *c->age);
    c->changed = carve(&from, slots, sizeof *c->changed);
    c->changed_at = carve(&from, slots, sizeof *c->changed_at);
    c->changed_bounds = carve(&from, slots, sizeof *c->changed_bounds);
    c->bounds = carve(&from, slots, sizeof *c->bounds);
    c->sorted = carve(&from, slots, sizeof *c->sorted);
    c->keys = carve(&from, slots, sizeof *c->keys);
    c->keys_spare = carve(&from, slots, sizeof *c->keys_spare);
    c->order = carve(&from, slots, sizeof *c->order);
    c->order_spare = carve(&from, slots, sizeof *c->order_spare);
    c->planes = carve(&from, slots, sizeof *c->planes);
    c->levels = carve(&from, FOLIOT__LEVELS, sizeof *c->levels);
    c->movers = carve(&from, slots + 1, sizeof *c->movers);
    c->eases = carve(&from, slots + 1, sizeof *c->eases);
    c->old_movers = carve(&from, slots + 1, sizeof *c->old_movers);
    c->pairs = carve(&from, contacts, sizeof *c->pairs);
    c->pairs_spare = carve(&from, contacts, sizeof *c->pairs_spare);
    c->impacts = carve(&from, contacts, sizeof *c->impacts);
    c->contacts = carve(&from, contacts, sizeof *c->contacts);
    c->blocks = carve(&from, contacts / FOLIOT__BLOCK + FOLIOT__COLOURS + 1, sizeof *c->blocks);
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
    return c;
}

void foliot__contact_prepare(foliot_world *world)
{
    (void)world; // everything is made anew in every step
}

static void copy_field(foliot__v3 to, foliot__v3 from, uint32_t count)
{
    memcpy(to.x, from.x, count * sizeof(double));
    memcpy(to.y, from.y, count * sizeof(double));
    memcpy(to.z, from.z, count * sizeof(double));
}

void foliot__contact_begin(const foliot__step *step)
{
    if (!step->world->collides)
        return;
    foliot__collider c = foliot__collider_of(step);
    copy_field(c.start, foliot__position(step->world), step->count);
    copy_field(c.acceleration, foliot__velocity(step->world), step->count);
}

// Velocities at the start become mean accelerations; the paths end as the positions tell
// (impact.c).
void foliot__find_paths(foliot__collider *c)
{
    foliot_world *world = c->world;
    foliot__v3 v = foliot__velocity(world), a = c->acceleration, path = c->path;
    double dt = c->step->dt, response = foliot__response(world), lag = (response - 0.5) * dt;
    // Positions that do not feel the force of their own step fall for one step more before they
    // rest.
    double steps = response > 0 ? 1 : 2;
    for (uint32_t i = 0; i < c->step->count; i++) {
        double ax = (v.x[i] - a.x[i]) / dt, ay = (v.y[i] - a.y[i]) / dt;
        double az = (v.z[i] - a.z[i]) / dt;
        path.x[i] = v.x[i] + ax * lag;
        path.y[i] = v.y[i] + ay * lag;
        path.z[i] = v.z[i] + az * lag;
        a.x[i] = ax;
        a.y[i] = ay;
        a.z[i] = az;
        c->rest[i] = steps * dt * foliot__sqrt((ax * ax + ay * ay) + az * az);
        c->since[i] = 0;
        c->age[i] = 0;
    }
}

void foliot__collide(const foliot__step *step)
{
    if (!step->world->collides)
        return;
    foliot__collider c = foliot__collider_of(step);
    foliot__find_paths(&c);
    foliot__find_pairs(&c);
    foliot__run_impacts(&c);
}

void foliot__solve_contacts(const foliot__step *step)
{
    if (!step->world->collides)
        return;
    foliot__collider c = foliot__collider_of(step);
    foliot__make_contacts(&c);
    foliot__solve(&c);
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

bool foliot__contact_touches(const foliot_world *world, uint32_t slot)
{
    const uint64_t *key = foliot__contact_key(world);
    for (uint32_t i = 0; i < world->contact_count; i++)
        if (key[i] >> 32 == slot || (uint32_t)key[i] == slot)
            return true;
    return false;
}
