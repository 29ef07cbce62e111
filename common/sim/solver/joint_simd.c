// SPDX-License-Identifier: MIT
// joint_simd.c: fast joints, eight at a time (joint/joint_block.h), for one instruction set. Sums
// have a fixed order and nothing is fused.
//
// A joint is a soft constraint (Catto, "Soft Constraints", GDC 2011): the soft phase removes a
// share of its error at the substep's start, and the relaxing phase, with the geometry of the
// substep's end, the speed that this has left. Impulses of the substep before are applied first.
#include "sim/solver/solver_kernel.h"

#include <string.h>

#include "sim/math/simd.h"

#define COLUMNS 8
#define LANE_NAME(name) name##_8
#include "sim/solver/pair_lanes.h"

// Inlined, except where eight columns are hundreds of scalar operations, and where the program is
// downloaded.
#if FOLIOT__VECTORS && !defined(__wasm__)
#define JOINT_LEAF IN
#else
#define JOINT_LEAF static __attribute__((noinline)) void
#endif
#define ROW8(row) (*(lanes_8 *)(void *)&(row))
#define ROWS8(row) ((lanes_8 *)(void *)(row))
#define DOT8(p, q) ((p).x * (q).x + (p).y * (q).y + (p).z * (q).z)

// Which columns of a block are solved at once: all, or one where they share bodies.
IN joint_columns(const foliot__joint_block *block, int column, marks_8 *mine)
{
    const marks_8 numbers = {0, 1, 2, 3, 4, 5, 6, 7};
    *mine = (marks_8){0} - 1;
    if (block->alone)
        *mine = numbers == column;
}

JOINT_LEAF load_joint_pair(const foliot__joint_head *t, const foliot__solver_body *bodies,
                           pair_8 *p)
{
    EACH (l, 8) {
        p->a[l] = t->a[l];
        p->b[l] = t->b[l];
    }
    gather_velocities_8(bodies, p->a, &p->va, &p->wa);
    gather_velocities_8(bodies, p->b, &p->vb, &p->wb);
    p->mass_a = ROW8(t->mass_a);
    p->mass_b = ROW8(t->mass_b);
    get_inertia_8(ROWS8(t->inertia_a), 0, &p->inertia_a);
    get_inertia_8(ROWS8(t->inertia_b), 0, &p->inertia_b);
}

// A body that no impulse moves may be shared by all columns: it is not written.
JOINT_LEAF store_joint_side(foliot__solver_body *bodies, const uint32_t *slot, const marks_8 *there,
                            const vec_8 *v, const vec_8 *w)
{
    float *row[8];
    bool written[8];
    const lanes_8 in[8] = {v->x, v->y, v->z, w->x, w->y, w->z, (lanes_8){0}, (lanes_8){0}};
    EACH (l, 8) {
        row[l] = (float *)(void *)&bodies[slot[l]]; // v, w, unused
        written[l] = (*there)[l] != 0;
    }
    scatter_8(row, written, in);
}

IN store_joint_pair(foliot__solver_body *bodies, const marks_8 *mine, const pair_8 *p)
{
    const marks_8 a = (p->mass_a > 0) & *mine, b = (p->mass_b > 0) & *mine;
    store_joint_side(bodies, p->a, &a, &p->va, &p->wa);
    store_joint_side(bodies, p->b, &b, &p->vb, &p->wb);
}

// out := matrix v; the matrix is symmetric, xx yy zz xy xz yz.
JOINT_LEAF times_symmetric(const lanes_8 m[6], const vec_8 *v, vec_8 *out)
{
    inertia_8 e;
    get_inertia_8(m, 0, &e);
    turned_8(&e, v, out);
}

JOINT_LEAF turn_bodies(pair_8 *p, const vec_8 *impulse)
{
    const lanes_8 one = (lanes_8){0} + 1;
    vec_8 change;
    turned_8(&p->inertia_b, impulse, &change);
    add_8(&p->wb, &one, &change);
    turned_8(&p->inertia_a, impulse, &change);
    subtract_8(&p->wa, &one, &change);
}

JOINT_LEAF push_limit(pair_8 *p, const foliot__joint_limit_row *limit, const lanes_8 *size)
{
    vec_8 along, turn, change;
    load_vec_8(ROWS8(limit->along), &along);
    lanes_8 a = *size * p->mass_a, b = *size * p->mass_b;
    add_8(&p->vb, &b, &along);
    subtract_8(&p->va, &a, &along);
    load_vec_8(ROWS8(limit->turn_b), &turn);
    turned_8(&p->inertia_b, &turn, &change);
    add_8(&p->wb, size, &change);
    load_vec_8(ROWS8(limit->turn_a), &turn);
    turned_8(&p->inertia_a, &turn, &change);
    subtract_8(&p->wa, size, &change);
}

// `sums`: first adds the impulses, which are those of the substep before, to the tick's.
static void warm_joint_block(foliot__joint_head *t, const foliot__joint_block *block,
                             foliot__solver_body *bodies, const marks_8 *mine, bool sums)
{
    pair_8 p;
    load_joint_pair(t, bodies, &p);
    if (block->parts & FOLIOT__JOINT_POINT) {
        foliot__joint_point *point = foliot__joint_point_of(t);
        vec_8 arm_a, arm_b, impulse;
        EACH (k, 3)
            if (sums)
                ROW8(point->sum[k]) += ROW8(point->impulse[k]);
        load_vec_8(ROWS8(point->arm_a), &arm_a);
        load_vec_8(ROWS8(point->arm_b), &arm_b);
        load_vec_8(ROWS8(point->impulse), &impulse);
        apply_friction_8(&p, FOLIOT__SIDE_MOVES, &impulse, &arm_a, &arm_b);
    }
    if (block->parts & FOLIOT__JOINT_TURN) {
        foliot__joint_turn *turn = foliot__joint_turn_of(t);
        vec_8 impulse;
        EACH (k, 3)
            if (sums)
                ROW8(turn->sum[k]) += ROW8(turn->impulse[k]);
        load_vec_8(ROWS8(turn->impulse), &impulse);
        turn_bodies(&p, &impulse);
    }
    if (block->parts & FOLIOT__JOINT_LIMIT) {
        foliot__joint_limit_row *limit = foliot__joint_limit_of(t, block->parts);
        if (sums)
            ROW8(limit->sum) += ROW8(limit->impulse);
        lanes_8 size = ROW8(limit->impulse) + ROW8(limit->drive);
        push_limit(&p, limit, &size);
    }
    store_joint_pair(bodies, mine, &p);
}

// The new impulse of three rows whose bodies differ in speed by `speed`.
JOINT_LEAF solve_three(const lanes_8 mass[6], const lanes_8 error[3], lanes_8 impulse[3],
                       const foliot__phase *phase, const marks_8 *mine, vec_8 *speed, vec_8 *change)
{
    const foliot__softness *soft = &phase->joint;
    lanes_8 share = (lanes_8){0} + 1, leak = {0};
    if (phase->soft) {
        lanes_8 rate = (lanes_8){0} + soft->rate;
        vec_8 off;
        load_vec_8(error, &off);
        add_8(speed, &rate, &off);
        share *= soft->mass;
        leak += soft->leak;
    }
    vec_8 push;
    times_symmetric(mass, speed, &push);
    lanes_8 out[3] = {push.x, push.y, push.z};
    EACH (k, 3) {
        out[k] = -share * out[k] - leak * impulse[k];
        out[k] = (lanes_8)((marks_8)out[k] & *mine);
        impulse[k] += out[k];
    }
    load_vec_8(out, change);
}

JOINT_LEAF solve_point(foliot__joint_point *point, pair_8 *p, const foliot__phase *phase,
                       const marks_8 *mine)
{
    vec_8 arm_a, arm_b, across_a, across_b, speed, change;
    const lanes_8 one = (lanes_8){0} + 1;
    load_vec_8(ROWS8(point->arm_a), &arm_a);
    load_vec_8(ROWS8(point->arm_b), &arm_b);
    cross_8(&p->wa, &arm_a, &across_a);
    cross_8(&p->wb, &arm_b, &across_b);
    speed = p->vb;
    add_8(&speed, &one, &across_b);
    subtract_8(&speed, &one, &p->va);
    subtract_8(&speed, &one, &across_a);
    solve_three(ROWS8(point->mass), ROWS8(point->error), ROWS8(point->impulse), phase, mine, &speed,
                &change);
    apply_friction_8(p, FOLIOT__SIDE_MOVES, &change, &arm_a, &arm_b);
}

JOINT_LEAF solve_turn(foliot__joint_turn *turn, pair_8 *p, const foliot__phase *phase,
                      const marks_8 *mine)
{
    vec_8 speed = p->wb, change;
    const lanes_8 one = (lanes_8){0} + 1;
    subtract_8(&speed, &one, &p->wa);
    solve_three(ROWS8(turn->mass), ROWS8(turn->error), ROWS8(turn->impulse), phase, mine, &speed,
                &change);
    turn_bodies(p, &change);
}

JOINT_LEAF limit_speed(const foliot__joint_limit_row *limit, const pair_8 *p, lanes_8 *speed)
{
    const lanes_8 one = (lanes_8){0} + 1;
    vec_8 along, turn_a, turn_b, apart = p->vb;
    load_vec_8(ROWS8(limit->along), &along);
    load_vec_8(ROWS8(limit->turn_a), &turn_a);
    load_vec_8(ROWS8(limit->turn_b), &turn_b);
    subtract_8(&apart, &one, &p->va);
    *speed = DOT8(along, apart) + (DOT8(turn_b, p->wb) - DOT8(turn_a, p->wa));
}

// The motor, and then the bound, whose impulse has one sign.
JOINT_LEAF solve_limit(foliot__joint_limit_row *limit, pair_8 *p, const foliot__phase *phase,
                       const marks_8 *mine)
{
    const lanes_8 zero = {0}, one = zero + 1;
    lanes_8 speed, mass = ROW8(limit->mass), most = ROW8(limit->strength),
                   before = ROW8(limit->drive);
    limit_speed(limit, p, &speed);
    lanes_8 after = before - mass * (speed - ROW8(limit->speed));
    after = FOLIOT__SELECT(lanes_8, after > most, most, after);
    after = FOLIOT__SELECT(lanes_8, after < -most, -most, after);
    lanes_8 change = (lanes_8)((marks_8)(after - before) & *mine);
    ROW8(limit->drive) = before + change;
    push_limit(p, limit, &change);

    const foliot__softness *soft = &phase->joint;
    const lanes_8 side = ROW8(limit->side), gap = ROW8(limit->gap);
    const marks_8 both = side == 0, ahead = ~both & (gap > 0);
    const lanes_8 toward = FOLIOT__SELECT(lanes_8, both, one, side);
    const float rate = phase->soft ? soft->rate : 0, share = phase->soft ? soft->mass : 1,
                leak = phase->soft ? soft->leak : 0;
    limit_speed(limit, p, &speed);
    lanes_8 bias = FOLIOT__SELECT(lanes_8, ahead, gap * phase->per_h, gap * rate);
    lanes_8 weight = mass * FOLIOT__SELECT(lanes_8, ahead, one, zero + share);
    before = toward * ROW8(limit->impulse);
    after = before - weight * (toward * speed + bias) -
            FOLIOT__SELECT(lanes_8, ahead, zero, zero + leak) * before;
    after = FOLIOT__SELECT(lanes_8, ~both & (after < 0), zero, after);
    change = (lanes_8)((marks_8)(toward * (after - before)) & *mine);
    ROW8(limit->impulse) += change;
    push_limit(p, limit, &change);
}

static void solve_joint_block(foliot__joint_head *t, const foliot__joint_block *block,
                              foliot__solver_body *bodies, const foliot__phase *phase,
                              const marks_8 *mine)
{
    pair_8 p;
    load_joint_pair(t, bodies, &p);
    if (block->parts & FOLIOT__JOINT_LIMIT)
        solve_limit(foliot__joint_limit_of(t, block->parts), &p, phase, mine);
    if (block->parts & FOLIOT__JOINT_TURN)
        solve_turn(foliot__joint_turn_of(t), &p, phase, mine);
    if (block->parts & FOLIOT__JOINT_POINT)
        solve_point(foliot__joint_point_of(t), &p, phase, mine);
    store_joint_pair(bodies, mine, &p);
}

// -- geometry

typedef struct joint_quat {
    lanes_8 w;
    vec_8 v;
} joint_quat;

JOINT_LEAF rotate_lanes(const joint_quat *q, const vec_8 *v, vec_8 *out)
{
    vec_8 across, twice;
    const lanes_8 two = (lanes_8){0} + 2, w2 = q->w * 2;
    cross_8(&q->v, v, &across);
    cross_8(&q->v, &across, &twice);
    *out = *v;
    add_8(out, &w2, &across);
    add_8(out, &two, &twice);
}

// Orientations of one side; the world's is upright.
JOINT_LEAF load_turns(double *const q[4], const uint32_t *slot, uint32_t spare, joint_quat *out)
{
    lanes_8 row[4];
    for (int l = 0; l < 8; l++) {
        uint32_t i = slot[l];
        EACH (k, 4)
            row[k][l] = i == spare ? (float)(k == 0) : (float)q[k][i];
    }
    out->w = row[0];
    load_vec_8(row + 1, &out->v);
}

// From a's centre to b's, or to the anchor in the world.
JOINT_LEAF load_apart(const foliot__joint_geometry *g, const foliot__joint_head *t,
                      lanes_8 apart[3])
{
    const foliot_world *world = g->solver->s->world;
    uint32_t spare = world->capacity.slots;
    double *const x[3] = {g->x.x, g->x.y, g->x.z};
    for (int l = 0; l < 8; l++) {
        uint32_t a = t->a[l], b = t->b[l];
        EACH (k, 3) {
            double to = a == spare   ? 0
                        : b == spare ? foliot__constraint(world)[t->constraint[l]].anchor_b[k]
                                     : x[k][b];
            apart[k][l] = (float)(a == spare ? 0 : to - x[k][a]);
        }
    }
}

// A matrix is inverted at a trace of 1 to 2: `down` is the power of two that brings it there.
// Without it, products leave the range of binary32 for the moments of a grain of sand or of a ship.
JOINT_LEAF scale_of_trace(const lanes_8 *trace, lanes_8 *down)
{
    const marks_8 one = (marks_8){0} + 0x00800000, least = one, most = 253 * one;
    marks_8 exponent = (marks_8)*trace & 0x7f800000;
    exponent = FOLIOT__SELECT(marks_8, exponent < least, least, exponent);
    exponent = FOLIOT__SELECT(marks_8, exponent > most, most, exponent);
    *down = (lanes_8)(254 * one - exponent);
}

// The entries below are rounded, so an eigenvalue below SLACK of the trace may have either sign. It
// is raised by as much: such a direction is solved in small steps and not in the wrong direction.
#define DEFINITE 0x1p-20f // the determinant of a matrix that binary32 inverts
#define SLACK 0x1p-18

static void invert_nearly_singular(const lanes_8 m[6], int l, lanes_8 out[6])
{
    double xx = (double)m[0][l] + SLACK, yy = (double)m[1][l] + SLACK, zz = (double)m[2][l] + SLACK,
           xy = (double)m[3][l], xz = (double)m[4][l], yz = (double)m[5][l];
    double c0 = yy * zz - yz * yz, c1 = xz * yz - xy * zz, c2 = xy * yz - yy * xz,
           det = xx * c0 + (xy * c1 + xz * c2);
    const double inverse[6] = {c0, xx * zz - xz * xz, xx * yy - xy * xy, c1, c2, xy * xz - xx * yz};
    for (int k = 0; k < 6; k++)
        out[k][l] = det > 0 ? (float)(inverse[k] / det) : 0;
}

// The inverse of a symmetric matrix that has no negative eigenvalue; 0 of 0.
JOINT_LEAF invert_symmetric(const lanes_8 k[6], lanes_8 out[6])
{
    lanes_8 trace = k[0] + k[1] + k[2], down, m[6];
    scale_of_trace(&trace, &down);
    EACH (i, 6)
        m[i] = k[i] * down;
    lanes_8 c0 = m[1] * m[2] - m[5] * m[5], c1 = m[4] * m[5] - m[3] * m[2],
            c2 = m[3] * m[5] - m[1] * m[4], det = m[0] * c0 + (m[3] * c1 + m[4] * c2);
    const lanes_8 zero = {0}, one = zero + 1;
    marks_8 there = det > DEFINITE, hard = ~there & (trace > 0);
    lanes_8 scale =
        FOLIOT__SELECT(lanes_8, there, one / FOLIOT__SELECT(lanes_8, there, det, one), zero);
    out[0] = c0 * scale;
    out[1] = (m[0] * m[2] - m[4] * m[4]) * scale;
    out[2] = (m[0] * m[1] - m[3] * m[3]) * scale;
    out[3] = c1 * scale;
    out[4] = c2 * scale;
    out[5] = (m[3] * m[4] - m[0] * m[5]) * scale;
    for (int l = 0; l < 8; l++)
        if (hard[l])
            invert_nearly_singular(m, l, out);
    EACH (i, 6)
        out[i] *= down;
}

// Adds to k what the arm r of a body with this inverse inertia gives: -[r] inertia [r].
JOINT_LEAF add_arm(const inertia_8 *e, const vec_8 *r, lanes_8 k[6])
{
    // Columns of inertia [r], [r] the matrix of the cross product with r.
    vec_8 c0 = {.x = e->xy * r->z - e->xz * r->y,
                .y = e->yy * r->z - e->yz * r->y,
                .z = e->yz * r->z - e->zz * r->y};
    vec_8 c1 = {.x = e->xz * r->x - e->xx * r->z,
                .y = e->yz * r->x - e->xy * r->z,
                .z = e->zz * r->x - e->xz * r->z};
    vec_8 c2 = {.x = e->xx * r->y - e->xy * r->x,
                .y = e->xy * r->y - e->yy * r->x,
                .z = e->xz * r->y - e->yz * r->x};
    k[0] += c0.y * r->z - c0.z * r->y;
    k[1] += c1.z * r->x - c1.x * r->z;
    k[2] += c2.x * r->y - c2.y * r->x;
    k[3] += c1.y * r->z - c1.z * r->y;
    k[4] += c2.y * r->z - c2.z * r->y;
    k[5] += c2.z * r->x - c2.x * r->z;
}

JOINT_LEAF prepare_point(foliot__joint_point *point, const foliot__joint_head *t,
                         const joint_quat *qa, const joint_quat *qb, const lanes_8 apart[3])
{
    vec_8 anchor, arm_a, arm_b, error;
    inertia_8 ia, ib;
    const lanes_8 one = (lanes_8){0} + 1;
    load_vec_8(ROWS8(point->anchor_a), &anchor);
    rotate_lanes(qa, &anchor, &arm_a);
    load_vec_8(ROWS8(point->anchor_b), &anchor);
    rotate_lanes(qb, &anchor, &arm_b);
    load_vec_8(apart, &error);
    vec_8 between = arm_b;
    subtract_8(&between, &one, &arm_a);
    add_8(&error, &one, &between);
    store_vec_8(ROWS8(point->arm_a), &arm_a);
    store_vec_8(ROWS8(point->arm_b), &arm_b);
    store_vec_8(ROWS8(point->error), &error);
    lanes_8 mass = ROW8(t->mass_a) + ROW8(t->mass_b);
    lanes_8 k[6] = {mass, mass, mass};
    get_inertia_8(ROWS8(t->inertia_a), 0, &ia);
    get_inertia_8(ROWS8(t->inertia_b), 0, &ib);
    add_arm(&ia, &arm_a, k);
    add_arm(&ib, &arm_b, k);
    invert_symmetric(k, ROWS8(point->mass));
}

JOINT_LEAF multiply_turns(const joint_quat *p, const joint_quat *q, joint_quat *out)
{
    vec_8 across;
    cross_8(&p->v, &q->v, &across);
    out->w = p->w * q->w - DOT8(p->v, q->v);
    out->v = across;
    add_8(&out->v, &p->w, &q->v);
    add_8(&out->v, &q->w, &p->v);
}

JOINT_LEAF conjugate_turn(joint_quat *q)
{
    q->v = (vec_8){-q->v.x, -q->v.y, -q->v.z};
}

// A weld: no rotation since it was made.
JOINT_LEAF prepare_weld(foliot__joint_turn *turn, const inertia_8 *both, const joint_quat *qa,
                        const joint_quat *qb)
{
    joint_quat start, a = *qa, apart, since;
    const lanes_8 *own = ROWS8(turn->own);
    start.w = own[0];
    load_vec_8(own + 1, &start.v);
    conjugate_turn(&a);
    conjugate_turn(&start);
    multiply_turns(&a, qb, &apart);
    multiply_turns(&apart, &start, &since);
    vec_8 error;
    rotate_lanes(qa, &since.v, &error);
    const lanes_8 two = (lanes_8){0} + 2, twice = FOLIOT__SELECT(lanes_8, since.w < 0, -two, two);
    vec_8 off = {twice * error.x, twice * error.y, twice * error.z};
    store_vec_8(ROWS8(turn->error), &off);
    const lanes_8 k[6] = {both->xx, both->yy, both->zz, both->xy, both->xz, both->yz};
    invert_symmetric(k, ROWS8(turn->mass));
}

// A hinge: the two directions across its axis. An impulse of the substep before may not turn about
// the axis, which has moved since.
JOINT_LEAF prepare_hinge(foliot__joint_turn *turn, const inertia_8 *both, const joint_quat *qa,
                         const joint_quat *qb)
{
    vec_8 own, axis, other, side[2], weight[2], error, impulse;
    const lanes_8 zero = {0}, one = zero + 1;
    load_vec_8(ROWS8(turn->own), &own);
    rotate_lanes(qa, &own, &axis);
    load_vec_8(ROWS8(turn->own) + 3, &own);
    rotate_lanes(qa, &own, &side[0]);
    load_vec_8(ROWS8(turn->own) + 6, &own);
    rotate_lanes(qb, &own, &other);
    cross_8(&axis, &side[0], &side[1]);
    cross_8(&axis, &other, &error);
    store_vec_8(ROWS8(turn->error), &error);
    load_vec_8(ROWS8(turn->impulse), &impulse);
    lanes_8 along = DOT8(axis, impulse);
    subtract_8(&impulse, &along, &axis);
    store_vec_8(ROWS8(turn->impulse), &impulse);
    turned_8(both, &side[0], &weight[0]);
    turned_8(both, &side[1], &weight[1]);
    lanes_8 k00 = DOT8(side[0], weight[0]), k01 = DOT8(side[0], weight[1]),
            k11 = DOT8(side[1], weight[1]), trace = k00 + k11, down;
    scale_of_trace(&trace, &down);
    k00 *= down;
    k01 *= down;
    k11 *= down;
    lanes_8 det = k00 * k11 - k01 * k01;
    const lanes_8 slack = FOLIOT__SELECT(lanes_8, det > DEFINITE, zero, zero + (float)SLACK);
    k00 += slack;
    k11 += slack;
    det = k00 * k11 - k01 * k01;
    marks_8 there = (det > 0) & (trace > 0);
    lanes_8 scale =
        FOLIOT__SELECT(lanes_8, there, down / FOLIOT__SELECT(lanes_8, there, det, one), zero);
    // The columns of sides times the inverse of that matrix.
    vec_8 m0 = {k11 * side[0].x - k01 * side[1].x, k11 * side[0].y - k01 * side[1].y,
                k11 * side[0].z - k01 * side[1].z};
    vec_8 m1 = {k00 * side[1].x - k01 * side[0].x, k00 * side[1].y - k01 * side[0].y,
                k00 * side[1].z - k01 * side[0].z};
    lanes_8 *mass = ROWS8(turn->mass);
    mass[0] = scale * (m0.x * side[0].x + m1.x * side[1].x);
    mass[1] = scale * (m0.y * side[0].y + m1.y * side[1].y);
    mass[2] = scale * (m0.z * side[0].z + m1.z * side[1].z);
    mass[3] = scale * (m0.x * side[0].y + m1.x * side[1].y);
    mass[4] = scale * (m0.x * side[0].z + m1.x * side[1].z);
    mass[5] = scale * (m0.y * side[0].z + m1.y * side[1].z);
}

JOINT_LEAF load_joint_masses(const foliot__solver *s, const uint32_t *slot, foliot__joint_row *mass,
                             foliot__joint_row inertia[6])
{
    const float *row[8];
    lanes_8 out[8];
    EACH (l, 8)
        row[l] = &s->masses[slot[l]].inverse_mass;
    gather_8(row, out);
    ROW8(*mass) = out[0];
    EACH (k, 6)
        ROW8(inertia[k]) = out[1 + k];
}

static void prepare_joint_block(foliot__joint_head *t, const foliot__joint_block *block,
                                const foliot__joint_geometry *g)
{
    uint32_t spare = g->solver->s->world->capacity.slots;
    joint_quat qa, qb;
    load_joint_masses(g->solver->s, t->a, &t->mass_a, t->inertia_a);
    load_joint_masses(g->solver->s, t->b, &t->mass_b, t->inertia_b);
    if (!(block->parts & (FOLIOT__JOINT_POINT | FOLIOT__JOINT_TURN)))
        return;
    load_turns(g->q, t->a, spare, &qa);
    load_turns(g->q, t->b, spare, &qb);
    lanes_8 apart[3];
    load_apart(g, t, apart);
    prepare_point(foliot__joint_point_of(t), t, &qa, &qb, apart);
    if (!(block->parts & FOLIOT__JOINT_TURN))
        return;
    inertia_8 ia, ib;
    get_inertia_8(ROWS8(t->inertia_a), 0, &ia);
    get_inertia_8(ROWS8(t->inertia_b), 0, &ib);
    const inertia_8 both = {ia.xx + ib.xx, ia.yy + ib.yy, ia.zz + ib.zz,
                            ia.xy + ib.xy, ia.xz + ib.xz, ia.yz + ib.yz};
    if (block->kind == FOLIOT__JOINT_WELD)
        prepare_weld(foliot__joint_turn_of(t), &both, &qa, &qb);
    else
        prepare_hinge(foliot__joint_turn_of(t), &both, &qa, &qb);
}

// -- blocks [begin, end)

static void prepare_joints(void *context, uint32_t begin, uint32_t end)
{
    const foliot__joint_geometry *g = context;
    const foliot__joint_blocks *all = &g->solver->joints;
    for (uint32_t k = begin; k < end; k++)
        prepare_joint_block(foliot__joint_head_of(all, k), &all->blocks[k], g);
}

static void warm_joints(void *context, uint32_t begin, uint32_t end)
{
    const foliot__joint_solver *solver = context;
    for (uint32_t k = begin; k < end; k++) {
        const foliot__joint_block *block = &solver->joints.blocks[k];
        for (int column = 0; column < (block->alone ? 8 : 1); column++) {
            marks_8 mine;
            joint_columns(block, column, &mine);
            warm_joint_block(foliot__joint_head_of(&solver->joints, k), block, solver->s->bodies,
                             &mine, solver->s->step->index > 0 && column == 0);
        }
    }
}

static void iterate_joints(void *context, uint32_t begin, uint32_t end)
{
    const foliot__joint_solver *solver = context;
    for (uint32_t k = begin; k < end; k++) {
        const foliot__joint_block *block = &solver->joints.blocks[k];
        for (int column = 0; column < (block->alone ? 8 : 1); column++) {
            marks_8 mine;
            joint_columns(block, column, &mine);
            solve_joint_block(foliot__joint_head_of(&solver->joints, k), block, solver->s->bodies,
                              solver->phase, &mine);
        }
    }
}

const foliot__joint_kernel FOLIOT__KERNEL(foliot__joints) = {prepare_joints, warm_joints,
                                                             iterate_joints};
