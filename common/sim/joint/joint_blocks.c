// SPDX-License-Identifier: MIT
// joint_blocks.c: which colour and block a fast joint has, and what it keeps from one tick to the
// next: its impulses, from which the next tick starts.
//
// The order is total: by colour, then by kind, then by index. Colours are given in ascending order
// of the index: each joint gets the lowest colour that no earlier joint of its moving bodies has.
#include "sim/joint/joint_block.h"

#include "sim/constraint/constraint.h"
#include "sim/joint/joint_internal.h"

#include <string.h>

#define UNCOLOURED FOLIOT__JOINT_COLOURS
#define COLOURS FOLIOT__JOINT_COLOUR_COUNT
#define FAR 1e9f // a bound that is nowhere near

static const uint8_t parts_of[FOLIOT__JOINT_KINDS] = {
    [FOLIOT__JOINT_BALL] = FOLIOT__JOINT_POINT,
    [FOLIOT__JOINT_WELD] = FOLIOT__JOINT_POINT | FOLIOT__JOINT_TURN,
    [FOLIOT__JOINT_HINGE] = FOLIOT__JOINT_POINT | FOLIOT__JOINT_TURN,
    [FOLIOT__JOINT_BOUNDED] = FOLIOT__JOINT_POINT | FOLIOT__JOINT_TURN | FOLIOT__JOINT_LIMIT,
    [FOLIOT__JOINT_LENGTH] = FOLIOT__JOINT_LIMIT,
};

static uint32_t bytes_of(unsigned parts)
{
    size_t bytes = sizeof(foliot__joint_head);
    bytes += parts & FOLIOT__JOINT_POINT ? sizeof(foliot__joint_point) : 0;
    bytes += parts & FOLIOT__JOINT_TURN ? sizeof(foliot__joint_turn) : 0;
    bytes += parts & FOLIOT__JOINT_LIMIT ? sizeof(foliot__joint_limit_row) : 0;
    return (uint32_t)bytes;
}

foliot__joint_blocks foliot__joint_blocks_of(const foliot_world *world)
{
    if (!foliot__may_have_fast_joints(world))
        return (foliot__joint_blocks){.count = 0};
    foliot__joint_fast f = foliot__joints_of(world).fast;
    return (foliot__joint_blocks){.blocks = f.blocks,
                                  .colour_begin = f.colour_begin,
                                  .arena = f.arena,
                                  .taken = f.taken,
                                  .spin = f.spin,
                                  .count = f.colour_begin[COLOURS]};
}

// -- colours and blocks

static foliot__joint_kind kind_of(const foliot__joint *joint)
{
    switch (joint->kind) {
    case FOLIOT_CONSTRAINT_DISTANCE:
        return FOLIOT__JOINT_LENGTH;
    case FOLIOT_CONSTRAINT_HINGE:
        return joint->limit.present ? FOLIOT__JOINT_BOUNDED : FOLIOT__JOINT_HINGE;
    case FOLIOT_CONSTRAINT_WELD:
        return FOLIOT__JOINT_WELD;
    default:
        return FOLIOT__JOINT_BALL;
    }
}

static bool moves(const foliot_world *world, uint32_t slot)
{
    return slot != FOLIOT_NO_BODY && foliot__inverse_mass(world)[slot] > 0;
}

static uint32_t colour_of(const foliot_world *world, foliot__joint_fast *f, uint32_t a, uint32_t b)
{
    bool a_moves = moves(world, a), b_moves = moves(world, b);
    uint64_t taken = (a_moves ? f->taken[a] : 0) | (b_moves ? f->taken[b] : 0);
    // Without a colour it takes the last one from both, so that either is seen to have a joint.
    uint32_t colour = taken == UINT64_MAX ? UNCOLOURED : (uint32_t)__builtin_ctzll(~taken);
    uint64_t bit = (uint64_t)1 << (colour == UNCOLOURED ? UNCOLOURED - 1 : colour);
    if (a_moves)
        f->taken[a] |= bit;
    if (b_moves)
        f->taken[b] |= bit;
    return colour;
}

static void store3(foliot__joint_row rows[3], uint32_t column, vec3 v)
{
    rows[0][column] = (float)v.x;
    rows[1][column] = (float)v.y;
    rows[2][column] = (float)v.z;
}

// The rows that stay the same as long as the joint is there.
static void fill_column(const foliot_world *world, foliot__joint_head *t, unsigned kind,
                        uint32_t column, const foliot__joint *joint)
{
    uint32_t spare = world->capacity.slots;
    t->a[column] = joint->slot_a;
    t->b[column] = joint->slot_b == FOLIOT_NO_BODY ? spare : joint->slot_b;
    t->constraint[column] = joint->index;
    const foliot__joint_frame *frame = &joint->frame;
    if (parts_of[kind] & FOLIOT__JOINT_POINT) {
        foliot__joint_point *point = foliot__joint_point_of(t);
        store3(point->anchor_a, column, frame->anchor_a);
        if (joint->slot_b != FOLIOT_NO_BODY) // else it is read in full
            store3(point->anchor_b, column, frame->anchor_b);
    }
    if (!(parts_of[kind] & FOLIOT__JOINT_TURN))
        return;
    foliot__joint_turn *turn = foliot__joint_turn_of(t);
    if (kind == FOLIOT__JOINT_WELD) {
        const double q[4] = {frame->start.w, frame->start.x, frame->start.y, frame->start.z};
        for (int k = 0; k < 4; k++)
            turn->own[k][column] = (float)q[k];
        return;
    }
    store3(turn->own, column, frame->axis);
    store3(turn->own + 3, column, frame->side[0]);
    store3(turn->own + 6, column, frame->axis_b);
}

void foliot__joint_blocks_make(const foliot_world *world, foliot__joints *j)
{
    foliot__joint_fast *f = &j->fast;
    uint32_t sizes[COLOURS][FOLIOT__JOINT_KINDS], first[COLOURS][FOLIOT__JOINT_KINDS];
    uint32_t count = *f->count, blocks = 0, at = 0, limits = 0;
    memset(sizes, 0, sizeof sizes);
    memset(f->taken, 0, world->capacity.slots * sizeof *f->taken);
    for (uint32_t i = 0; i < count; i++) {
        foliot__joint joint;
        foliot__joint_define(world, f->index[i], &joint);
        f->kind[i] = (uint8_t)kind_of(&joint);
        f->colour[i] = (uint8_t)colour_of(world, f, joint.slot_a, joint.slot_b);
        sizes[f->colour[i]][f->kind[i]]++;
    }
    for (uint32_t c = 0; c < COLOURS; c++) {
        f->colour_begin[c] = blocks;
        for (uint32_t k = 0; k < FOLIOT__JOINT_KINDS; k++) {
            first[c][k] = blocks;
            uint32_t needed = (sizes[c][k] + FOLIOT__JOINT_COLUMNS - 1) / FOLIOT__JOINT_COLUMNS;
            for (uint32_t n = 0; n < needed; n++) {
                foliot__joint_block *block = &f->blocks[blocks++];
                *block = (foliot__joint_block){
                    .at = at, .kind = (uint8_t)k, .parts = parts_of[k], .alone = c == UNCOLOURED};
                foliot__joint_head *t = (void *)(f->arena + at);
                memset(t, 0, bytes_of(parts_of[k]));
                for (uint32_t l = 0; l < FOLIOT__JOINT_COLUMNS; l++) {
                    t->joint[l] = FOLIOT__NONE;
                    t->a[l] = t->b[l] = world->capacity.slots;
                }
                at += bytes_of(parts_of[k]);
            }
        }
    }
    f->colour_begin[COLOURS] = blocks;
    memset(sizes, 0, sizeof sizes);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t c = f->colour[i], k = f->kind[i], rank = sizes[c][k]++;
        foliot__joint_block *block = &f->blocks[first[c][k] + rank / FOLIOT__JOINT_COLUMNS];
        foliot__joint_head *t = (void *)(f->arena + block->at);
        uint32_t column = rank % FOLIOT__JOINT_COLUMNS;
        // The records of joints that are not fast fill the table from its start, these from its
        // end.
        foliot__joint local, *joint = &local;
        f->limit[i] = FOLIOT__NONE;
        if (parts_of[k] & FOLIOT__JOINT_LIMIT) {
            f->limit[i] = world->capacity.joints - 1 - limits++;
            joint = &j->joints[f->limit[i]];
        }
        foliot__joint_define(world, f->index[i], joint);
        t->joint[column] = i;
        fill_column(world, t, k, column, joint);
    }
}

// -- a tick

// Three words of a row of the table, from `first` on.
static void load3(foliot__joint_row rows[3], uint32_t column, const foliot__joint_warm *from,
                  unsigned first)
{
    float words[FOLIOT__JOINT_IMPULSES];
    memcpy(words, from, sizeof words);
    for (unsigned k = 0; k < 3; k++)
        rows[k][column] = words[first + k];
}

// Starts a tick with the impulses of the last one.
void foliot__joint_blocks_begin(foliot_world *world, foliot__joints *j)
{
    foliot__joint_blocks all = foliot__joint_blocks_of(world);
    for (uint32_t k = 0; k < all.count; k++) {
        foliot__joint_head *t = foliot__joint_head_of(&all, k);
        unsigned parts = all.blocks[k].parts;
        foliot__joint_point *point = foliot__joint_point_of(t);
        foliot__joint_turn *turn = foliot__joint_turn_of(t);
        foliot__joint_limit_row *limit = foliot__joint_limit_of(t, parts);
        for (uint32_t l = 0; l < FOLIOT__JOINT_COLUMNS && t->joint[l] != FOLIOT__NONE; l++) {
            const foliot__joint_warm *from =
                &foliot__joint_impulse(world)[j->fast.index[t->joint[l]]];
            if (parts & FOLIOT__JOINT_POINT)
                load3(point->impulse, l, from, 0);
            if (parts & FOLIOT__JOINT_TURN)
                load3(turn->impulse, l, from, 3);
            if (parts & FOLIOT__JOINT_LIMIT) {
                limit->impulse[l] = from->bound;
                limit->drive[l] = from->motor;
                foliot__joint_begin_angle(world, &j->joints[j->fast.limit[t->joint[l]]]);
            }
        }
        if (parts & FOLIOT__JOINT_POINT)
            memset(point->sum, 0, sizeof point->sum);
        if (parts & FOLIOT__JOINT_TURN)
            memset(turn->sum, 0, sizeof turn->sum);
        if (parts & FOLIOT__JOINT_LIMIT)
            memset(limit->sum, 0, sizeof limit->sum);
    }
}

// The inverse inertia of a body about a vector, in world axes.
static vec3 inverse_inertia_times(const foliot_world *world, uint32_t slot, vec3 v)
{
    if (!moves(world, slot))
        return (vec3){0, 0, 0};
    quat q = foliot__quat_get(world, slot);
    vec3 own = quat_rotate(quat_conjugate(q), v);
    return quat_rotate(q, vec3_multiply(foliot__v3_get(foliot__inverse_inertia(world), slot), own));
}

static void measure_limit(const foliot_world *world, foliot__joint *joint,
                          foliot__joint_limit_row *limit, uint32_t l, double h)
{
    foliot__pose a = foliot__pose_of(world, joint->slot_a);
    foliot__pose b = foliot__pose_of(world, joint->slot_b);
    foliot__joint_linearise(joint, &a, &b);
    foliot__joint_measure(joint, &a, &b);
    const foliot__joint_limit *bound = &joint->limit;
    bool turns = joint->kind == FOLIOT_CONSTRAINT_HINGE;
    const double *ja = joint->ja[turns ? 5 : 0], *jb = joint->jb[turns ? 5 : 0];
    vec3 turn_a = vec3_negate(vec3_of(ja + 3)), turn_b = vec3_of(jb + 3);
    double weight = vec3_dot(turn_a, inverse_inertia_times(world, joint->slot_a, turn_a)) +
                    vec3_dot(turn_b, inverse_inertia_times(world, joint->slot_b, turn_b));
    double mass_a = moves(world, joint->slot_a) ? foliot__inverse_mass(world)[joint->slot_a] : 0;
    double mass_b = moves(world, joint->slot_b) ? foliot__inverse_mass(world)[joint->slot_b] : 0;
    weight += turns ? 0 : mass_a + mass_b;
    store3(limit->along, l, turns ? (vec3){0, 0, 0} : vec3_of(jb));
    store3(limit->turn_a, l, turn_a);
    store3(limit->turn_b, l, turn_b);
    limit->mass[l] = weight > 0 ? (float)(1 / weight) : 0;
    double below = bound->value - bound->least, above = bound->greatest - bound->value;
    float side = bound->least == bound->greatest ? 0 : below <= above ? 1 : -1;
    double gap = side < 0 ? above : below;
    if (!(gap < (double)FAR)) // no limits, or a body that is about to be frozen
        gap = (double)FAR;
    // An impulse at the other bound is over.
    if (side * limit->impulse[l] < 0)
        limit->impulse[l] = 0;
    limit->side[l] = side;
    limit->gap[l] = (float)gap;
    limit->speed[l] = (float)bound->speed;
    limit->strength[l] = (float)(bound->strength * h);
}

void foliot__joint_limits_measure(foliot_world *world, double h)
{
    foliot__joint_blocks all = foliot__joint_blocks_of(world);
    foliot__joints j = foliot__joints_of(world);
    for (uint32_t k = 0; k < all.count; k++) {
        if (!(all.blocks[k].parts & FOLIOT__JOINT_LIMIT))
            continue;
        foliot__joint_head *t = foliot__joint_head_of(&all, k);
        foliot__joint_limit_row *limit = foliot__joint_limit_of(t, all.blocks[k].parts);
        for (uint32_t l = 0; l < FOLIOT__JOINT_COLUMNS && t->joint[l] != FOLIOT__NONE; l++)
            measure_limit(world, &j.joints[j.fast.limit[t->joint[l]]], limit, l, h);
    }
}

// The length of the sum of a tick's impulses, the last substep's included.
static double sum_of(const foliot__joint_row sum[3], const foliot__joint_row last[3],
                     uint32_t column)
{
    return vec3_length((vec3){(double)(sum[0][column] + last[0][column]),
                              (double)(sum[1][column] + last[1][column]),
                              (double)(sum[2][column] + last[2][column])});
}

// A row as the state may hold it: what has grown beyond all bounds is forgotten.
static float in_range(float impulse)
{
    return impulse >= -FOLIOT__IMPULSE_MAX && impulse <= FOLIOT__IMPULSE_MAX ? impulse : 0;
}

// Stores the impulses, and breaks what was pulled too hard over the tick.
void foliot__joint_blocks_end(foliot_world *world, foliot__joints *j, double duration)
{
    foliot__joint_blocks all = foliot__joint_blocks_of(world);
    for (uint32_t k = 0; k < all.count; k++) {
        foliot__joint_head *t = foliot__joint_head_of(&all, k);
        unsigned parts = all.blocks[k].parts;
        const foliot__joint_point *point = foliot__joint_point_of(t);
        const foliot__joint_turn *turn = foliot__joint_turn_of(t);
        const foliot__joint_limit_row *limit = foliot__joint_limit_of(t, parts);
        for (uint32_t l = 0; l < FOLIOT__JOINT_COLUMNS && t->joint[l] != FOLIOT__NONE; l++) {
            uint32_t index = j->fast.index[t->joint[l]];
            foliot__joint_warm row = {0};
            double force = 0, torque = 0;
            if (parts & FOLIOT__JOINT_POINT) {
                row.force_x = in_range(point->impulse[0][l]);
                row.force_y = in_range(point->impulse[1][l]);
                row.force_z = in_range(point->impulse[2][l]);
                force = sum_of(point->sum, point->impulse, l) / duration;
            }
            if (parts & FOLIOT__JOINT_TURN) {
                row.torque_x = in_range(turn->impulse[0][l]);
                row.torque_y = in_range(turn->impulse[1][l]);
                row.torque_z = in_range(turn->impulse[2][l]);
                torque = sum_of(turn->sum, turn->impulse, l) / duration;
            }
            if (parts & FOLIOT__JOINT_LIMIT) {
                row.bound = in_range(limit->impulse[l]);
                row.motor = in_range(limit->drive[l]);
                double held = (double)(limit->sum[l] + limit->impulse[l]) / duration;
                if (parts & FOLIOT__JOINT_TURN)
                    torque = foliot__sqrt(torque * torque + held * held);
                else
                    force = held < 0 ? -held : held;
                foliot__joint_end_angle(world, &j->joints[j->fast.limit[t->joint[l]]]);
            } else if (foliot__constraint_state(world)[index] != 0) {
                // It had limits, and counts no turns since a command has taken them away.
                foliot__constraint_state(world)[index] = 0;
                world->digests.definition_dirty = 1;
            }
            const foliot_constraint_definition *d = &foliot__constraint(world)[index];
            bool torn = force > d->break_force, twisted = torque > d->break_torque;
            foliot__constraint_force(world)[index] = twisted && !torn ? torque : force;
            foliot__joint_impulse(world)[index] = torn || twisted ? (foliot__joint_warm){0} : row;
            if (!torn && !twisted)
                continue;
            foliot__constraint_break(world, index, torn ? FOLIOT_BREAK_FORCE : FOLIOT_BREAK_TORQUE);
            foliot__joints_changed(world);
        }
    }
}
