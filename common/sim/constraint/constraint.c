// SPDX-License-Identifier: MIT
// constraint.c: ropes, sticks and cloth: distances held by moving positions (Jakobsen, "Advanced
// character physics", GDC 2001), and the breaking of every kind. Rods are rattle.c's.
//
// Constraints are solved one after the other, each seeing what the former have moved: the order is
// part of the result, so it is total and the scene's own: index order, the same in every sweep.
// With positions moved by d in a step the velocities gain d / dt; verlet's `previous` stays, since
// its difference to the moved position is that same velocity.
#include "sim/constraint/constraint.h"

#include "sim/scene/scene.h"
#include "sim/state/state.h"

#include <string.h>

#define ROD_VECTORS 8

static uint64_t align64(uint64_t bytes)
{
    return (bytes + 63) & ~(uint64_t)63;
}

// The parts that a copy needs: counts, links and impulses.
static uint64_t kept_bytes(uint64_t constraints)
{
    return 64 + align64(constraints * sizeof(foliot__distance_link)) +
           align64(constraints * sizeof(double));
}

// A tree with n >= 2 links has at most n + 1 nodes, and one link more is looked at.
static uint64_t nodes_max(uint64_t constraints)
{
    return constraints + constraints / 2 + 2;
}

uint64_t foliot__constraint_workspace_bytes(const foliot_world_config *config)
{
    uint64_t n = config->constraints_max,
             slots = (config->bodies_max + FOLIOT__LANES - 1) / FOLIOT__LANES * FOLIOT__LANES;
    if (n == 0)
        return 0;
    return kept_bytes(n) + ROD_VECTORS * align64(n * sizeof(double)) + 3 * slots * sizeof(double) +
           align64(nodes_max(n) * sizeof(foliot__tree_node)) +
           2 * align64(slots * sizeof(uint32_t)) + align64(2 * n * sizeof(uint32_t));
}

void foliot__constraint_copy(foliot_world *to, const foliot_world *from)
{
    if (from->capacity.constraints == 0)
        return;
    memcpy(foliot__constraint_workspace(to), foliot__constraint_workspace(from),
           kept_bytes(from->capacity.constraints));
    foliot__links_of(to).counts[3] = false;
}

foliot__links foliot__links_of(const foliot_world *world)
{
    uint64_t n = world->capacity.constraints;
    size_t slots = world->capacity.slots;
    char *at = (char *)foliot__constraint_workspace(world);
    foliot__links links = {.counts = (uint32_t *)(void *)at};
    at += 64;
    links.distances = (foliot__distance_link *)(void *)at;
    links.rods = links.distances + links.counts[0];
    at += align64(n * sizeof(foliot__distance_link));
    links.impulse = (double *)(void *)at;
    at += align64(n * sizeof(double));
    for (int i = 0; i < ROD_VECTORS; i++) {
        links.rod[i] = (double *)(void *)at;
        at += align64(n * sizeof(double));
    }
    double *x = (double *)(void *)at;
    links.body = (foliot__v3){x, x + slots, x + 2 * slots};
    at += 3 * slots * sizeof(double);
    links.nodes = (foliot__tree_node *)(void *)at;
    at += align64(nodes_max(n) * sizeof(foliot__tree_node));
    links.head = (uint32_t *)(void *)at;
    at += align64(slots * sizeof(uint32_t));
    links.reached = (uint32_t *)(void *)at;
    at += align64(slots * sizeof(uint32_t));
    links.next = (uint32_t *)(void *)at;
    return links;
}

static uint32_t gather_links(const foliot_world *world, uint32_t kind, foliot__distance_link *links)
{
    const foliot_constraint_definition *definition = foliot__constraint(world);
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->constraint_count; i++) {
        const foliot_constraint_definition *c = &definition[i];
        if (c->kind != kind || foliot__constraint_is_broken(world, i) ||
            foliot__constraint_is_joint(c))
            continue;
        links[count++] =
            (foliot__distance_link){.a = c->a,
                                    .b = c->b,
                                    .index = i,
                                    .length = c->length,
                                    .length_min = c->length_min,
                                    .stiffness = c->stiffness,
                                    .anchor = {c->anchor_b[0], c->anchor_b[1], c->anchor_b[2]}};
    }
    return count;
}

void foliot__constraint_prepare(foliot_world *world)
{
    if (world->capacity.constraints == 0)
        return;
    foliot__links links = foliot__links_of(world);
    links.counts[0] = gather_links(world, FOLIOT_CONSTRAINT_DISTANCE, links.distances);
    links.counts[1] = gather_links(world, FOLIOT_CONSTRAINT_ROD, links.distances + links.counts[0]);
    links.counts[3] = false;
    memset(links.impulse, 0, world->capacity.constraints * sizeof(double));
}

void foliot__constraint_break(foliot_world *world, uint32_t index, foliot_break cause)
{
    foliot__constraint_state(world)[index] = FOLIOT__CONSTRAINT_BROKEN;
    world->digests.definition_dirty = 1;
    foliot__event(world, FOLIOT_EVENT_BREAK, index, cause);
}

// Removes `stiffness` of the error, moving each end by its share of the inverse mass.
// Returns what it moved, in mass times length, positive where the link pulled.
static double solve_link(const foliot__distance_link *link, foliot__v3 x,
                         const double *inverse_mass)
{
    uint32_t a = link->a, b = link->b;
    bool anchored = b == FOLIOT_NO_BODY;
    double wa = inverse_mass[a], wb = anchored ? 0 : inverse_mass[b], w = wa + wb;
    double dx = (anchored ? link->anchor[0] : x.x[b]) - x.x[a];
    double dy = (anchored ? link->anchor[1] : x.y[b]) - x.y[a];
    double dz = (anchored ? link->anchor[2] : x.z[b]) - x.z[a];
    double distance = foliot__sqrt((dx * dx + dy * dy) + dz * dz);
    double error = distance > link->length       ? distance - link->length
                   : distance < link->length_min ? distance - link->length_min
                                                 : 0;
    if (error == 0 || !(w > 0))
        return 0;
    if (!(distance > 0)) // two ends in one place are pushed apart along x
        dx = 1;
    double moved = error * link->stiffness / w, scale = moved / (distance > 0 ? distance : 1);
    double sx = scale * dx, sy = scale * dy, sz = scale * dz;
    x.x[a] += wa * sx;
    x.y[a] += wa * sy;
    x.z[a] += wa * sz;
    if (!anchored) {
        x.x[b] -= wb * sx;
        x.y[b] -= wb * sy;
        x.z[b] -= wb * sz;
    }
    return moved;
}

// v += (x - before) / dt
static void add_displacement_rate(double *restrict v, const double *restrict x,
                                  const double *restrict before, uint32_t rows, double dt)
{
    for (uint32_t i = 0; i < rows; i++)
        v[i] += (x[i] - before[i]) / dt;
}

void foliot__solve_distances(const foliot__step *step)
{
    if (step->world->capacity.constraints == 0)
        return;
    foliot__links links = foliot__links_of(step->world);
    if (foliot__distance_count(&links) > 0) {
        foliot_world *world = step->world;
        const double *inverse_mass = foliot__inverse_mass(world);
        foliot__v3 x = foliot__position(world), v = foliot__velocity(world), before = links.body;
        uint32_t rows = foliot__lanes(world), count = foliot__distance_count(&links);
        memcpy(before.x, x.x, rows * sizeof(double));
        memcpy(before.y, x.y, rows * sizeof(double));
        memcpy(before.z, x.z, rows * sizeof(double));
        foliot__trees_solve(world, &links, x);
        for (uint32_t k = 0; k < world->scheme.constraint_iterations; k++)
            for (uint32_t i = 0; i < count; i++)
                if (!links.distances[i].solved)
                    links.impulse[i] += solve_link(&links.distances[i], x, inverse_mass);
        add_displacement_rate(v.x, x.x, before.x, rows, step->dt);
        add_displacement_rate(v.y, x.y, before.y, rows, step->dt);
        add_displacement_rate(v.z, x.z, before.z, rows, step->dt);
        // A distance held by force f moves a mass m by f dt^2 / m in every step.
        for (uint32_t i = 0; i < count; i++)
            links.impulse[i] /= step->dt;
        world->acceleration_valid = 0;
    }
    if (foliot__distance_count(&links) + foliot__rod_count(&links) > 0) {
        // Turns impulses of the step into forces, breaks what they exceed, and forgets them.
        foliot_world *world = step->world;
        double *force = foliot__constraint_force(world);
        uint32_t count = foliot__distance_count(&links) + foliot__rod_count(&links);
        bool broke = false;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t index = links.distances[i].index; // rods follow the distances
            double f = links.impulse[i] / step->dt;
            links.impulse[i] = 0;
            force[index] = f < 0 ? -f : f;
            if (force[index] > foliot__constraint(world)[index].break_force) {
                foliot__constraint_break(world, index, FOLIOT_BREAK_FORCE);
                broke = true;
            }
        }
        if (broke)
            foliot__constraint_prepare(world);
    }
}
