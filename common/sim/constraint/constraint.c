// SPDX-License-Identifier: MIT
// constraint.c: ropes, sticks and cloth: distances held by moving positions (Jakobsen, "Advanced
// character physics", GDC 2001), and the breaking of every kind. Rods are rattle.c's.
//
// Constraints are solved one after the other, each seeing what the former have moved: the order is
// part of the result, so it is total and the scene's own: index order, the same in every iteration.
// With positions moved by d in a step the velocities gain d / dt; verlet's `previous` stays, since
// its difference to the moved position is that same velocity.
#include "sim/constraint/constraint.h"

#include "sim/scene/scene.h"
#include "sim/state/state.h"

#include <string.h>

#define ROD_VECTORS 8
#define NONE UINT32_MAX
#define INFINITE __builtin_inf()
#define NEWTON_MAX 40
#define RATIO_MIN 8      // lighter loads are left to the iterations
#define RATIO_MAX 0x1p50 // more than binary64 resolves
// Mass of a further fixed end, in those of the heaviest body: ropes that are too short have a
// solution.
#define GROUND_MASS 0x1p12
#define TAUT (1 - 0x1p-8)        // of its length: such a link probably pulls
#define LENGTH_TOLERANCE 0x1p-40 // of a link's length
#define PLACE_TOLERANCE 0x1p-50  // of its distance from the origin: rounding
#define MOVE_TOLERANCE 0x1p-20   // of a link's length: Newton's next step leaves its square

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
    if (world->scene.fast_joints)
        foliot__joint_impulse(world)[index] = (foliot__joint_warm){0};
    world->digests.definition_dirty = 1;
    foliot__event(world, &(foliot_event){.kind = FOLIOT_EVENT_JOINT_BROKEN,
                                         .player = FOLIOT_NO_PLAYER,
                                         .joint = foliot_world_get_joint_id(world, index),
                                         .reason = cause});
}

// -- distances that form trees
//
// Distances that form trees are solved together: ropes and mobiles whose loads are
// far heavier than their links. An iteration hands a load on from link to link by a part of the
// ratio of their masses; here the ratio does not count.
//
// Looks for the positions x that obey all lengths and lie nearest to the integrator's, weighted by
// mass. Newton's method on the conditions of that minimum: multipliers, the bodies' displacements,
// and how a tight link resists being turned (geometric stiffness: Tournier, Nesme, Gilles and
// Faure, "Stable constrained dynamics", 2015), without which a light body between two tight links
// overshoots. A tree is eliminated from its leaves in blocks of 3 x 3, without fill. Ropes pull and
// never push: links that would push are left out, and those that became too long are put in.

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

static vec3 place_of(const tree *t, const foliot__tree_node *node)
{
    return vec3_add(foliot__v3_get(t->x, node->slot), node->u);
}

// The two ends of a node's link: its own, and the parent's or a fixed one.
static void ends_of(const tree *t, const foliot__tree_node *node, vec3 *own, vec3 *far)
{
    const foliot__distance_link *link = &t->links[node->link];
    bool leaf = node->slot == FOLIOT_NO_BODY; // that stands for a fixed end
    const foliot__tree_node *body = leaf ? &t->nodes[node->parent] : node;
    uint32_t other = end_of(link, body->slot);
    vec3 place = place_of(t, body), fixed;
    if (!leaf && node->parent != NONE)
        fixed = place_of(t, &t->nodes[node->parent]);
    else
        fixed = other == FOLIOT_NO_BODY ? vec3_of(link->anchor) : foliot__v3_get(t->x, other);
    *own = leaf ? vec3_add(fixed, node->u) : place;
    *far = leaf ? place : fixed;
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
        vec3 own, far;
        ends_of(t, node, &own, &far);
        node->d = vec3_sub(far, own);
        double distance = vec3_length(node->d);
        node->distance = distance;
        double far_out =
            (foliot__absolute(own.x) + foliot__absolute(own.y)) + foliot__absolute(own.z);
        double tolerance = link->length * LENGTH_TOLERANCE + far_out * PLACE_TOLERANCE;
        double limit = first ? link->length * TAUT : link->length + tolerance;
        if (distance > limit || link->length_min == link->length)
            node->mode = FOLIOT__LINK_PULLS;
        else if (distance < link->length_min - tolerance)
            node->mode = FOLIOT__LINK_PUSHES;
        if (!(distance > 0))
            node->d.x = distance = 1;
        node->d = vec3_divide(node->d, distance);
        bool pushes = node->mode == FOLIOT__LINK_PUSHES;
        node->error = node->distance - (pushes ? link->length_min : link->length);
        bool holds = node->distance <= link->length && node->distance >= link->length_min;
        double size = holds ? 0 : foliot__absolute(node->error) / tolerance;
        if (!(size <= worst))
            worst = size < INFINITE ? size : INFINITE;
    }
    return worst;
}

// -- first multipliers

static const vec3 none = {0, 0, 0};

static vec3 parent_move(const tree *t, const foliot__tree_node *node)
{
    return node->parent == NONE ? none : t->nodes[node->parent].move;
}

// As if the directions of the links could not change: a bound for how hard they pull. Each body
// follows its parent; a tree that floats keeps its centre of mass.
static void guess_multipliers(const tree *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        foliot__tree_node *node = &t->nodes[i];
        bool tied = node->mode != FOLIOT__LINK_SLACK;
        node->move = tied ? vec3_add(parent_move(t, node), vec3_scale(node->d, node->error)) : none;
        node->sum = vec3_scale(node->move, node->mass);
        node->weight = node->mass;
    }
    for (uint32_t i = t->count; i-- > 0;) {
        foliot__tree_node *node = &t->nodes[i], *parent = &t->nodes[node->parent];
        if (node->parent == NONE || node->mode == FOLIOT__LINK_SLACK)
            continue;
        parent->weight += node->weight;
        parent->sum = vec3_add(parent->sum, node->sum);
    }
    for (uint32_t i = 0; i < t->count; i++) {
        foliot__tree_node *node = &t->nodes[i];
        bool tied = node->mode != FOLIOT__LINK_SLACK;
        node->move =
            tied ? parent_move(t, node) : vec3_divide(vec3_negate(node->sum), node->weight);
        double pull = vec3_dot(node->sum, node->d) + node->weight * vec3_dot(node->move, node->d);
        node->lambda = tied && pull > 0 ? pull : 0;
    }
}

// -- one step of Newton's method

// For a link that is tight: how the child's subtree is felt by the parent.
static void pass_up(const tree *t, foliot__tree_node *node)
{
    static const mat3 unit = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    double stiffness = node->lambda > 0 && node->distance > 0 ? node->lambda / node->distance : 0;
    double across = foliot__sqrt(stiffness);
    const double part[3] = {node->d.x, node->d.y, node->d.z};
    mat3 rest; // across the link
    for (int i = 0; i < 3; i++) {
        vec3 along = vec3_scale(node->d, part[i]);
        rest.row[i] = vec3_sub(unit.row[i], along);
        node->turn.row[i] = vec3_add(along, vec3_scale(rest.row[i], across));
    }
    mat3 z = mat3_multiply(mat3_multiply(node->turn, node->mobility), node->turn);
    for (int i = 0; i < 3; i++)
        z.row[i] = vec3_add(z.row[i], rest.row[i]);
    node->z = mat3_invert_symmetric(z);
    if (node->parent == NONE)
        return;
    foliot__tree_node *parent = &t->nodes[node->parent];
    mat3 product = mat3_multiply(node->turn, node->z), felt = mat3_multiply(product, node->turn);
    vec3 free = mat3_apply(felt, mat3_apply(node->mobility, node->push));
    vec3 pull = mat3_apply(product, node->d);
    for (int i = 0; i < 3; i++)
        parent->felt.row[i] = vec3_add(parent->felt.row[i], felt.row[i]);
    parent->push = vec3_add(parent->push, vec3_sub(free, vec3_scale(pull, node->error)));
}

static void eliminate(const tree *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        foliot__tree_node *node = &t->nodes[i];
        vec3 tension = vec3_scale(node->d, node->lambda);
        node->felt = (mat3){{{node->mass, 0, 0}, {0, node->mass, 0}, {0, 0, node->mass}}};
        node->push = vec3_sub(tension, vec3_scale(node->u, node->mass));
        if (node->parent != NONE)
            t->nodes[node->parent].push = vec3_sub(t->nodes[node->parent].push, tension);
    }
    for (uint32_t i = t->count; i-- > 0;) {
        foliot__tree_node *node = &t->nodes[i];
        node->mobility = mat3_invert_symmetric(node->felt);
        if (node->mode != FOLIOT__LINK_SLACK)
            pass_up(t, node);
    }
}

// Moves the bodies, parents first, and lets links go that would do the opposite of what they may.
// True if there was none and nothing moved far.
static bool substitute(const tree *t)
{
    bool settled = true;
    for (uint32_t i = 0; i < t->count; i++) {
        foliot__tree_node *node = &t->nodes[i];
        node->move = mat3_apply(node->mobility, node->push);
        if (node->mode != FOLIOT__LINK_SLACK) {
            // The multiplier and the move of a link that is tight. One that pulled and would push
            // is let go.
            const foliot__distance_link *link = &t->links[node->link];
            vec3 y = mat3_apply(node->turn, vec3_sub(parent_move(t, node), node->move));
            y = mat3_apply(node->z, vec3_add(y, vec3_scale(node->d, node->error)));
            node->move =
                vec3_add(node->move, mat3_apply(node->mobility, mat3_apply(node->turn, y)));
            node->lambda += vec3_dot(node->d, y);
            bool pulls = node->mode == FOLIOT__LINK_PULLS;
            if (link->length_min != link->length &&
                !(pulls ? node->lambda >= 0 : node->lambda <= 0)) {
                node->mode = FOLIOT__LINK_SLACK;
                node->lambda = 0;
                settled = false;
            }
        }
        node->u = vec3_add(node->u, node->move);
        double length = t->links[node->link != NONE ? node->link : t->nodes[1].link].length;
        settled &= vec3_length(node->move) <= MOVE_TOLERANCE * length;
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
        node->u = node->d = none;
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
        t->nodes[i].u = none;
    }
}

static void solve_trees(const foliot_world *world, const foliot__links *l, foliot__v3 x)
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
                // Light ropes between two fixed ends are left to the iterations, which give way
                // where they are too short.
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
            foliot__v3_add(x, node->slot, node->u);
        }
        first += t.count;
    }
}

// -- distances one by one

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
        solve_trees(world, &links, x);
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
