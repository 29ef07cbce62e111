// SPDX-License-Identifier: MIT
// joint_islands.c: where the tables of joints lie, and which bodies are joined. An island is a tree
// with parents before children, and the joints that close loops. The result is a function of the
// scene, of which joints are broken and of which bodies move, in index order.
#include "sim/joint/joint_internal.h"

#include "sim/scene/scene.h"
#include "sim/state/workspace.h"

#include <string.h>

#define OF_BLOCKS (FOLIOT__NONE - 1) // `body_of` a body whose joints are fast

// -- the arrays of the table `joint_workspace`; its first part is foliot__joint_table

static void lay_out_fast(foliot__joint_fast *f, foliot__carver *from, size_t slots, size_t joints)
{
    uint64_t most =
        joints / FOLIOT__JOINT_COLUMNS + (uint64_t)FOLIOT__JOINT_COLOUR_COUNT * FOLIOT__JOINT_KINDS;
    most = most < joints ? most : joints;
    FOLIOT__CARVE(from, f->count, 1);
    FOLIOT__CARVE(from, f->index, joints);
    FOLIOT__CARVE(from, f->limit, joints);
    FOLIOT__CARVE(from, f->kind, joints);
    FOLIOT__CARVE(from, f->colour, joints);
    FOLIOT__CARVE(from, f->taken, slots);
    FOLIOT__CARVE(from, f->spin, slots);
    FOLIOT__CARVE(from, f->blocks, most);
    FOLIOT__CARVE(from, f->colour_begin, FOLIOT__JOINT_COLOUR_COUNT + 1);
    f->arena = foliot__carve(from, most, FOLIOT__JOINT_BLOCK_BYTES);
}

static uint64_t lay_out(foliot__joints *j, char *base, size_t slots, size_t count, bool fast)
{
    foliot__carver from = {base, 0};
    size_t bodies = slots < 2 * count ? slots : 2 * count;
    j->table = foliot__joint_table_carve(&from, count);
    FOLIOT__CARVE(&from, j->joints, count);
    FOLIOT__CARVE(&from, j->bodies, bodies);
    FOLIOT__CARVE(&from, j->islands, bodies);
    FOLIOT__CARVE(&from, j->body_of, slots);
    FOLIOT__CARVE(&from, j->head, slots);
    FOLIOT__CARVE(&from, j->next, 2 * count);
    FOLIOT__CARVE(&from, j->listed, count);
    FOLIOT__CARVE(&from, j->taken, count);
    FOLIOT__CARVE(&from, j->waiting, count);
    for (int i = 0; i < 5; i++)
        FOLIOT__CARVE(&from, j->loop[i], count * FOLIOT__ROWS);
    if (fast)
        lay_out_fast(&j->fast, &from, slots, count);
    return from.at;
}

uint64_t foliot__joint_workspace_bytes(const foliot_world_config *config)
{
    foliot__joints j;
    size_t slots = foliot__slots_of(config->bodies_max);
    return config->joints_max ? lay_out(&j, NULL, slots, config->joints_max, config->fast_joints)
                              : 0;
}

foliot__joints foliot__joints_of(const foliot_world *world)
{
    foliot__joints j;
    lay_out(&j, (char *)foliot__joint_workspace(world), world->capacity.slots,
            world->capacity.joints, world->capacity.joint_impulses > 0);
    return j;
}

// -- lists

static bool body_moves(const foliot_world *world, uint32_t slot)
{
    return slot != FOLIOT_NO_BODY && foliot__inverse_mass(world)[slot] > 0;
}

static const foliot_constraint_definition *definition_of(const foliot_world *world,
                                                         const foliot__joints *j, uint32_t listed)
{
    return &foliot__constraint(world)[j->listed[listed]];
}

// Side 2 i of listed joint i is its a, 2 i + 1 its b.
static void link_side(foliot__joints *j, uint32_t side, uint32_t slot)
{
    j->next[side] = j->head[slot];
    j->head[slot] = side;
}

// Lists the joints that hold something, in ascending order, and for each body its own joints.
static uint32_t list_joints(const foliot_world *world, foliot__joints *j)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->constraint_count; i++) {
        const foliot_constraint_definition *d = &foliot__constraint(world)[i];
        if (foliot__constraint_is_broken(world, i) || !foliot__constraint_is_joint(d))
            continue;
        if (body_moves(world, d->a) || body_moves(world, d->b))
            j->listed[count++] = i;
    }
    memset(j->head, 0xff, world->capacity.slots * sizeof *j->head);
    for (uint32_t i = count; i-- > 0;) {
        const foliot_constraint_definition *d = definition_of(world, j, i);
        if (body_moves(world, d->b))
            link_side(j, 2 * i + 1, d->b);
        if (body_moves(world, d->a))
            link_side(j, 2 * i, d->a);
    }
    return count;
}

// -- the search

// Joint `listed` gets the next place.
static uint32_t place_joint(const foliot_world *world, foliot__joints *j, uint32_t listed)
{
    uint32_t at = j->table.counts[FOLIOT__JOINTS_COUNT]++;
    foliot__joint_define(world, j->listed[listed], &j->joints[at]);
    j->taken[listed] = 1;
    return at;
}

static void add_body(foliot__joints *j, uint32_t slot, uint32_t joint)
{
    uint32_t row = j->table.counts[FOLIOT__JOINTS_BODIES]++;
    j->body_of[slot] = row;
    j->bodies[row].slot = slot;
    j->bodies[row].joint = joint;
}

// Adds the joints of one body. A joint that leads to a new body belongs to the tree; the others are
// added as loops later.
static void add_neighbours(const foliot_world *world, foliot__joints *j, uint32_t row,
                           uint32_t *waiting)
{
    for (uint32_t side = j->head[j->bodies[row].slot]; side != FOLIOT__NONE; side = j->next[side]) {
        uint32_t i = side / 2;
        const foliot_constraint_definition *d = definition_of(world, j, i);
        if (j->taken[i])
            continue;
        uint32_t other = side % 2 ? d->a : d->b;
        if (body_moves(world, other) && j->body_of[other] == FOLIOT__NONE) {
            add_body(j, other, place_joint(world, j, i));
        } else {
            j->taken[i] = 1;
            j->waiting[(*waiting)++] = i;
        }
    }
}

// Takes the last island back: its joints are fast.
static void leave_to_blocks(foliot__joints *j, const foliot__island *island)
{
    for (uint32_t i = 0; i < island->bodies; i++)
        j->body_of[j->bodies[island->body + i].slot] = OF_BLOCKS;
    j->table.counts[FOLIOT__JOINTS_BODIES] = island->body;
    j->table.counts[FOLIOT__JOINTS_COUNT] = island->joint;
    j->table.counts[FOLIOT__JOINTS_ISLANDS]--;
}

// Finds the island of the body in `slot`, which listed joint `root` holds to what does not move (or
// FOLIOT__NONE).
static void add_island(const foliot_world *world, foliot__joints *j, uint32_t slot, uint32_t root)
{
    foliot__island *island = &j->islands[j->table.counts[FOLIOT__JOINTS_ISLANDS]++];
    uint32_t waiting = 0;
    *island = (foliot__island){.body = j->table.counts[FOLIOT__JOINTS_BODIES],
                               .joint = j->table.counts[FOLIOT__JOINTS_COUNT]};
    add_body(j, slot, root == FOLIOT__NONE ? root : place_joint(world, j, root));
    for (uint32_t row = island->body; row < j->table.counts[FOLIOT__JOINTS_BODIES]; row++)
        add_neighbours(world, j, row, &waiting);
    for (uint32_t i = 0; i < waiting; i++)
        place_joint(world, j, j->waiting[i]);
    island->bodies = j->table.counts[FOLIOT__JOINTS_BODIES] - island->body;
    island->joints = j->table.counts[FOLIOT__JOINTS_COUNT] - island->joint;
    island->loops = waiting;
    bool large = island->joints > FOLIOT_EXACT_JOINTS_MAX || waiting > FOLIOT_EXACT_LOOPS_MAX;
    if (world->scene.fast_joints == FOLIOT__FAST_JOINTS_ALL ||
        (world->scene.fast_joints == FOLIOT__FAST_JOINTS_LARGE && large))
        leave_to_blocks(j, island);
}

static void find_islands(const foliot_world *world, foliot__joints *j, uint32_t count)
{
    memset(j->taken, 0, count * sizeof *j->taken);
    memset(j->body_of, 0xff, world->capacity.slots * sizeof *j->body_of);
    // Islands that hang on a fixed body come first, so that most of their joints belong to the
    // tree.
    for (uint32_t i = 0; i < count; i++) {
        const foliot_constraint_definition *d = definition_of(world, j, i);
        bool a = body_moves(world, d->a), b = body_moves(world, d->b);
        uint32_t slot = a ? d->a : d->b;
        if (a != b && j->body_of[slot] == FOLIOT__NONE)
            add_island(world, j, slot, i);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = definition_of(world, j, i)->a;
        if (body_moves(world, slot) && j->body_of[slot] == FOLIOT__NONE)
            add_island(world, j, slot, FOLIOT__NONE);
    }
}

static uint32_t row_of(const foliot__joints *j, uint32_t slot)
{
    return slot == FOLIOT_NO_BODY ? FOLIOT__NONE : j->body_of[slot];
}

void foliot__joints_find_islands(foliot_world *world, foliot__joints *j)
{
    bool fast = foliot__may_have_fast_joints(world);
    memset(j->table.counts, 0, FOLIOT__JOINTS_COUNTS * sizeof *j->table.counts);
    if (fast)
        *j->fast.count = 0;
    uint32_t count = list_joints(world, j);
    find_islands(world, j, count);
    if (fast) {
        // An exact joint carries nothing from one tick to the next.
        for (uint32_t i = 0; i < j->table.counts[FOLIOT__JOINTS_COUNT]; i++)
            foliot__joint_impulse(world)[j->joints[i].index] = (foliot__joint_warm){0};
        for (uint32_t i = 0; i < count; i++) {
            const foliot_constraint_definition *d = definition_of(world, j, i);
            if (j->body_of[body_moves(world, d->a) ? d->a : d->b] == OF_BLOCKS)
                j->fast.index[(*j->fast.count)++] = j->listed[i];
        }
    }
    for (uint32_t i = 0; i < j->table.counts[FOLIOT__JOINTS_COUNT]; i++) {
        j->joints[i].a = row_of(j, j->joints[i].slot_a);
        j->joints[i].b = row_of(j, j->joints[i].slot_b);
    }
    for (uint32_t row = 0; row < j->table.counts[FOLIOT__JOINTS_BODIES]; row++) {
        if (j->bodies[row].joint == FOLIOT__NONE)
            continue;
        foliot__joint *joint = &j->joints[j->bodies[row].joint];
        joint->child = row;
        joint->parent = joint->a == row ? joint->b : joint->a;
    }
    // Pairs that do not collide.
    uint32_t separate = 0;
    for (uint32_t i = 0; i < count; i++) {
        const foliot_constraint_definition *d = definition_of(world, j, i);
        if (d->kind > FOLIOT_CONSTRAINT_ROD && !d->collides && d->b != FOLIOT_NO_BODY)
            j->table.separate[separate++] = foliot__joint_pair_key(d->a, d->b);
    }
    foliot__sort_keys(j->table.separate, separate);
    j->table.counts[FOLIOT__JOINTS_SEPARATE] = separate;
    world->joints_ready = 1;
}
