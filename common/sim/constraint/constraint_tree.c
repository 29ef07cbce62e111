// SPDX-License-Identifier: MIT
// constraint_tree.c: distances that form trees, solved together: ropes and mobiles whose loads are
// far heavier than their links. A sweep hands a load on from link to link by a part of the ratio of
// their masses; here the ratio does not count.
//
// Looks for the positions x that obey all lengths and lie nearest to the integrator's, weighted by
// mass. Newton's method on the conditions of that minimum: multipliers, the bodies' displacements,
// and how a tight link resists being turned (geometric stiffness: Tournier, Nesme, Gilles and
// Faure, "Stable constrained dynamics", 2015), without which a light body between two tight links
// overshoots. A tree is eliminated from its leaves in blocks of 3 x 3, without fill. Ropes pull and
// never push: links that would push are left out, and those that became too long are put in.
#include "sim/constraint/constraint.h"

#include "sim/math/vec3.h"

#include <string.h>

#define NONE UINT32_MAX
#define INFINITE __builtin_inf()
#define NEWTON_MAX 40
#define RATIO_MIN 8      // lighter loads are left to the sweeps
#define RATIO_MAX 0x1p50 // more than binary64 resolves
// Mass of a further fixed end, in those of the heaviest body: ropes that are too short have a
// solution.
#define GROUND_MASS 0x1p12
#define TAUT (1 - 0x1p-8)        // of its length: such a link probably pulls
#define LENGTH_TOLERANCE 0x1p-40 // of a link's length
#define PLACE_TOLERANCE 0x1p-50  // of its distance from the origin: rounding
#define MOVE_TOLERANCE 0x1p-20   // of a link's length: Newton's next step leaves its square

typedef struct tree {
    foliot__tree_node *nodes; // parents before children
    uint32_t count;
    const foliot__distance_link *links;
    foliot__v3 x; // where the integrator left the bodies
} tree;

// -- which links are solved here

static uint32_t end_of(const foliot__distance_link *link, uint32_t slot)
{
    return link->a == slot ? link->b : link->a;
}

static bool moves(const double *inverse_mass, uint32_t slot)
{
    return slot != FOLIOT_NO_BODY && inverse_mass[slot] > 0;
}

// Lists of the links of each body that moves, ascending.
static void list_links(const foliot__links *l, const double *inverse_mass)
{
    uint32_t count = foliot__distance_count(l);
    for (uint32_t i = 0; i < count; i++) {
        foliot__distance_link *link = &l->distances[i];
        l->head[link->a] = l->reached[link->a] = NONE;
        if (link->b != FOLIOT_NO_BODY)
            l->head[link->b] = l->reached[link->b] = NONE;
    }
    for (uint32_t i = count; i-- > 0;) {
        foliot__distance_link *link = &l->distances[i];
        const uint32_t ends[2] = {link->a, link->b};
        link->solved = false;
        for (uint32_t k = 0; k < 2; k++) {
            link->inverse_mass[k] = ends[k] == FOLIOT_NO_BODY ? 0 : inverse_mass[ends[k]];
            if (!moves(inverse_mass, ends[k]))
                continue;
            l->next[2 * i + k] = l->head[ends[k]];
            l->head[ends[k]] = 2 * i + k;
        }
    }
}

// The bodies that links tie to each other by way of bodies that move.
typedef struct component {
    uint32_t bodies, ties, fixed_ends; // ties: ends of links between bodies that move
    uint32_t root, root_link;          // a body tied to a fixed end, or the first
    double total, heaviest, lightest;
    bool stiff;
} component;

static component find_component(const foliot__links *l, const double *inverse_mass, uint32_t start,
                                uint32_t first)
{
    component c = {.bodies = 1, .root = start, .root_link = NONE, .stiff = true};
    l->nodes[first].slot = start;
    l->reached[start] = first;
    for (uint32_t i = first; i < first + c.bodies; i++) {
        uint32_t slot = l->nodes[i].slot;
        double mass = 1 / inverse_mass[slot];
        c.total += mass;
        c.heaviest = mass > c.heaviest ? mass : c.heaviest;
        c.lightest = i == first || mass < c.lightest ? mass : c.lightest;
        for (uint32_t k = l->head[slot]; k != NONE; k = l->next[k]) {
            const foliot__distance_link *link = &l->distances[k / 2];
            uint32_t other = end_of(link, slot);
            c.stiff &= link->stiffness == 1;
            if (!moves(inverse_mass, other)) {
                c.fixed_ends++;
                c.root = k / 2 < c.root_link ? slot : c.root;
                c.root_link = k / 2 < c.root_link ? k / 2 : c.root_link;
                continue;
            }
            c.ties++;
            if (l->reached[other] != NONE)
                continue;
            l->reached[other] = first + c.bodies;
            l->nodes[first + c.bodies++].slot = other;
        }
    }
    return c;
}

// Nodes in the order of the search from the root: parents first.
static uint32_t lay_out_tree(const foliot__links *l, const double *inverse_mass, const component *c,
                             uint32_t first)
{
    foliot__tree_node *nodes = l->nodes;
    uint32_t end = first + 1;
    nodes[first] = (foliot__tree_node){.slot = c->root, .parent = NONE, .link = c->root_link};
    for (uint32_t i = first; i < end; i++) {
        if (nodes[i].slot == FOLIOT_NO_BODY)
            continue;
        nodes[i].mass = 1 / inverse_mass[nodes[i].slot] / c->heaviest;
        for (uint32_t k = l->head[nodes[i].slot]; k != NONE; k = l->next[k]) {
            uint32_t other = end_of(&l->distances[k / 2], nodes[i].slot);
            l->distances[k / 2].solved = true;
            if (k / 2 == nodes[i].link)
                continue;
            bool ends = !moves(inverse_mass, other);
            nodes[end++] = (foliot__tree_node){.slot = ends ? FOLIOT_NO_BODY : other,
                                               .parent = i - first,
                                               .link = k / 2,
                                               .mass = GROUND_MASS};
        }
    }
    nodes[first].count = end - first;
    nodes[first].scale = c->heaviest;
    return end;
}

// Sleep, commands and breaks change what moves and how heavy it is.
static bool is_current(const foliot__links *l, const double *inverse_mass)
{
    if (!l->counts[3])
        return false;
    for (uint32_t i = 0; i < foliot__distance_count(l); i++) {
        const foliot__distance_link *link = &l->distances[i];
        double of_b = link->b == FOLIOT_NO_BODY ? 0 : inverse_mass[link->b];
        if (link->inverse_mass[0] != inverse_mass[link->a] || link->inverse_mass[1] != of_b)
            return false;
    }
    return true;
}

// -- the links as they are now

static void place_of(const tree *t, const foliot__tree_node *node, double place[3])
{
    place[0] = t->x.x[node->slot] + node->u[0];
    place[1] = t->x.y[node->slot] + node->u[1];
    place[2] = t->x.z[node->slot] + node->u[2];
}

// The two ends of a node's link: its own, and the parent's or a fixed one.
static void ends_of(const tree *t, const foliot__tree_node *node, double own[3], double far[3])
{
    const foliot__distance_link *link = &t->links[node->link];
    const foliot__tree_node *body = node->slot == FOLIOT_NO_BODY ? &t->nodes[node->parent] : node;
    uint32_t other = end_of(link, body->slot);
    double *fixed = body == node ? far : own;
    place_of(t, body, body == node ? own : far);
    if (body == node && node->parent != NONE) {
        place_of(t, &t->nodes[node->parent], far);
    } else if (other == FOLIOT_NO_BODY) {
        memcpy(fixed, link->anchor, sizeof link->anchor);
    } else {
        fixed[0] = t->x.x[other];
        fixed[1] = t->x.y[other];
        fixed[2] = t->x.z[other];
    }
    for (int k = 0; k < 3 && body != node; k++)
        own[k] += node->u[k];
}

static double magnitude(double x)
{
    return x < 0 ? -x : x;
}

// Fills direction and error, and puts links in that are too long or too short by more than
// rounding; `first`: also those that are tight. Returns the largest error, as a multiple of what
// rounding may leave; infinite where a place is not a number.
static double measure_links(const tree *t, bool first)
{
    double worst = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        foliot__tree_node *node = &t->nodes[i];
        if (node->link == NONE)
            continue;
        const foliot__distance_link *link = &t->links[node->link];
        double own[3], far[3];
        ends_of(t, node, own, far);
        for (int k = 0; k < 3; k++)
            node->d[k] = far[k] - own[k];
        double distance = foliot__vec3_length(node->d);
        node->distance = distance;
        double far_out = (magnitude(own[0]) + magnitude(own[1])) + magnitude(own[2]);
        double tolerance = link->length * LENGTH_TOLERANCE + far_out * PLACE_TOLERANCE;
        double limit = first ? link->length * TAUT : link->length + tolerance;
        if (distance > limit || link->length_min == link->length)
            node->mode = FOLIOT__LINK_PULLS;
        else if (distance < link->length_min - tolerance)
            node->mode = FOLIOT__LINK_PUSHES;
        if (!(distance > 0))
            node->d[0] = distance = 1;
        for (int k = 0; k < 3; k++)
            node->d[k] /= distance;
        bool pushes = node->mode == FOLIOT__LINK_PUSHES;
        node->error = node->distance - (pushes ? link->length_min : link->length);
        bool holds = node->distance <= link->length && node->distance >= link->length_min;
        double size = holds ? 0 : magnitude(node->error) / tolerance;
        if (!(size <= worst))
            worst = size < INFINITE ? size : INFINITE;
    }
    return worst;
}

// -- first multipliers

// As if the directions of the links could not change: a bound for how hard they pull. Each body
// follows its parent; a tree that floats keeps its centre of mass.
static void guess_multipliers(const tree *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        foliot__tree_node *node = &t->nodes[i];
        bool tied = node->mode != FOLIOT__LINK_SLACK;
        for (int k = 0; k < 3; k++) {
            double from = node->parent == NONE || !tied ? 0 : t->nodes[node->parent].move[k];
            node->move[k] = tied ? from + node->error * node->d[k] : 0;
            node->sum[k] = node->mass * node->move[k];
        }
        node->weight = node->mass;
    }
    for (uint32_t i = t->count; i-- > 0;) {
        foliot__tree_node *node = &t->nodes[i], *parent = &t->nodes[node->parent];
        if (node->parent == NONE || node->mode == FOLIOT__LINK_SLACK)
            continue;
        parent->weight += node->weight;
        for (int k = 0; k < 3; k++)
            parent->sum[k] += node->sum[k];
    }
    for (uint32_t i = 0; i < t->count; i++) {
        foliot__tree_node *node = &t->nodes[i];
        bool tied = node->mode != FOLIOT__LINK_SLACK;
        for (int k = 0; k < 3; k++)
            node->move[k] = !tied                  ? -node->sum[k] / node->weight
                            : node->parent == NONE ? 0
                                                   : t->nodes[node->parent].move[k];
        double pull = foliot__vec3_dot(node->sum, node->d) +
                      node->weight * foliot__vec3_dot(node->move, node->d);
        node->lambda = tied && pull > 0 ? pull : 0;
    }
}

// -- one step of Newton's method

// The inverse of a positive definite matrix, by its factors L D L^t.
static void invert(const double m[3][3], double out[3][3])
{
    double d0 = 1 / m[0][0], l1 = m[1][0] * d0, l2 = m[2][0] * d0;
    double d1 = 1 / (m[1][1] - l1 * m[1][0]), s = m[2][1] - l2 * m[1][0], l3 = s * d1;
    double d2 = 1 / ((m[2][2] - l2 * m[2][0]) - l3 * s);
    double c = l1 * l3 - l2; // (L^-1)[2][0]
    out[2][2] = d2;
    out[2][1] = out[1][2] = -l3 * d2;
    out[2][0] = out[0][2] = c * d2;
    out[1][1] = d1 + l3 * l3 * d2;
    out[1][0] = out[0][1] = -l1 * d1 - l3 * c * d2;
    out[0][0] = (d0 + l1 * l1 * d1) + c * c * d2;
}

static void multiply(const double a[3][3], const double b[3][3], double out[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            out[i][k] = (a[i][0] * b[0][k] + a[i][1] * b[1][k]) + a[i][2] * b[2][k];
}

// For a link that is tight: how the child's subtree is felt by the parent.
static void pass_up(const tree *t, foliot__tree_node *node)
{
    double stiffness = node->lambda > 0 && node->distance > 0 ? node->lambda / node->distance : 0;
    double across = foliot__sqrt(stiffness), product[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            double along = node->d[i] * node->d[k];
            node->turn[i][k] = along + across * ((i == k) - along);
        }
    multiply(node->turn, node->mobility, product);
    double z[3][3];
    multiply(product, node->turn, z);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            z[i][k] += (i == k) - node->d[i] * node->d[k];
    invert(z, node->z);
    if (node->parent == NONE)
        return;
    foliot__tree_node *parent = &t->nodes[node->parent];
    double felt[3][3], free[3], pull[3];
    multiply(node->turn, node->z, product);
    multiply(product, node->turn, felt);
    foliot__mat3_apply(node->mobility, node->push, free);
    foliot__mat3_apply(felt, free, free);
    foliot__mat3_apply(product, node->d, pull);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            parent->felt[i][k] += felt[i][k];
        parent->push[i] += free[i] - node->error * pull[i];
    }
}

static void eliminate(const tree *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        foliot__tree_node *node = &t->nodes[i];
        for (int k = 0; k < 3; k++) {
            for (int l = 0; l < 3; l++)
                node->felt[k][l] = k == l ? node->mass : 0;
            node->push[k] = node->lambda * node->d[k] - node->mass * node->u[k];
        }
        for (int k = 0; k < 3 && node->parent != NONE; k++)
            t->nodes[node->parent].push[k] -= node->lambda * node->d[k];
    }
    for (uint32_t i = t->count; i-- > 0;) {
        foliot__tree_node *node = &t->nodes[i];
        invert(node->felt, node->mobility);
        if (node->mode != FOLIOT__LINK_SLACK)
            pass_up(t, node);
    }
}

// The multiplier and the move of a link that is tight. False if it pulled and would push.
static bool solve_link(const tree *t, foliot__tree_node *node)
{
    const foliot__distance_link *link = &t->links[node->link];
    double y[3], force[3];
    for (int k = 0; k < 3; k++)
        y[k] = (node->parent == NONE ? 0 : t->nodes[node->parent].move[k]) - node->move[k];
    foliot__mat3_apply(node->turn, y, y);
    for (int k = 0; k < 3; k++)
        y[k] += node->error * node->d[k];
    foliot__mat3_apply(node->z, y, y);
    foliot__mat3_apply(node->turn, y, force);
    foliot__mat3_apply(node->mobility, force, force);
    for (int k = 0; k < 3; k++)
        node->move[k] += force[k];
    node->lambda += foliot__vec3_dot(node->d, y);
    bool pulls = node->mode == FOLIOT__LINK_PULLS;
    return link->length_min == link->length || (pulls ? node->lambda >= 0 : node->lambda <= 0);
}

// Moves the bodies, parents first, and lets links go that would do the opposite of what they may.
// True if there was none and nothing moved far.
static bool substitute(const tree *t)
{
    bool settled = true;
    for (uint32_t i = 0; i < t->count; i++) {
        foliot__tree_node *node = &t->nodes[i];
        foliot__mat3_apply(node->mobility, node->push, node->move);
        if (node->mode != FOLIOT__LINK_SLACK && !solve_link(t, node)) {
            node->mode = FOLIOT__LINK_SLACK;
            node->lambda = 0;
            settled = false;
        }
        for (int k = 0; k < 3; k++)
            node->u[k] += node->move[k];
        double length = t->links[node->link != NONE ? node->link : t->nodes[1].link].length;
        settled &= foliot__vec3_length(node->move) <= MOVE_TOLERANCE * length;
    }
    return settled;
}

// Moves to the positions that are looked for, or some way there: then `solved` is false.
static void solve_tree(const tree *t, bool *solved)
{
    for (uint32_t i = 0; i < t->count; i++) {
        foliot__tree_node *node = &t->nodes[i];
        node->lambda = 0;
        node->mode = FOLIOT__LINK_SLACK;
        memset(node->u, 0, sizeof node->u);
        memset(node->d, 0, sizeof node->d);
    }
    double before = measure_links(t, true), worst = before;
    if (worst > 1)
        guess_multipliers(t);
    *solved = worst <= 1;
    for (int k = 0; k < NEWTON_MAX && !*solved; k++) {
        eliminate(t);
        bool settled = substitute(t);
        worst = measure_links(t, false);
        *solved = settled && worst <= 1;
    }
    for (uint32_t i = 0; i < t->count && !*solved && !(worst < before); i++) {
        t->nodes[i].lambda = 0;
        memset(t->nodes[i].u, 0, sizeof t->nodes[i].u);
    }
}

void foliot__trees_solve(const foliot_world *world, const foliot__links *l, foliot__v3 x)
{
    const double *inverse_mass = foliot__inverse_mass(world);
    if (!is_current(l, inverse_mass)) {
        uint32_t end = 0, count = foliot__distance_count(l);
        list_links(l, inverse_mass);
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t ends[2] = {l->distances[i].a, l->distances[i].b};
            for (uint32_t k = 0; k < 2; k++) {
                if (!moves(inverse_mass, ends[k]) || l->reached[ends[k]] != NONE)
                    continue;
                component c = find_component(l, inverse_mass, ends[k], end);
                // Light ropes between two fixed ends are left to the sweeps, which give way where
                // they are too short.
                double load = c.fixed_ends > 1 ? c.heaviest : c.total;
                if (c.stiff && c.ties / 2 == c.bodies - 1 && c.bodies + c.fixed_ends > 2 &&
                    load > RATIO_MIN * c.lightest && load < RATIO_MAX * c.lightest)
                    end = lay_out_tree(l, inverse_mass, &c, end);
            }
        }
        l->counts[2] = end;
        l->counts[3] = true;
    }
    for (uint32_t first = 0; first < l->counts[2];) {
        // A node's parent is counted within its tree.
        tree t = {l->nodes + first, l->nodes[first].count, l->distances, x};
        bool solved;
        solve_tree(&t, &solved);
        for (uint32_t i = 0; i < t.count; i++) {
            const foliot__tree_node *node = &t.nodes[i];
            if (node->link != NONE) {
                l->distances[node->link].solved = solved;
                l->impulse[node->link] += node->lambda * t.nodes[0].scale;
            }
            if (node->slot == FOLIOT_NO_BODY)
                continue;
            x.x[node->slot] += node->u[0];
            x.y[node->slot] += node->u[1];
            x.z[node->slot] += node->u[2];
        }
        first += t.count;
    }
}
