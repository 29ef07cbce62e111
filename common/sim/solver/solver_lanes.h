// SPDX-License-Identifier: MIT
// solver_lanes.h: contact impulses of blocks of COLUMNS pairs (pair_lanes.h). Included by
// solver_simd.c.
#include "sim/solver/pair_lanes.h"

LEAF LANE_NAME(root)(LANES *v)
{
    FOLIOT__SIMD_SQRT_F32(*v);
}

// The twist impulse about the normal: at most what the points can hold at their distances from the
// middle.
IN LANE_NAME(solve_twist)(HEAD *t, size_t next, PAIR *p, const foliot__side side, const VEC *n,
                          const LANES *most)
{
    VEC spin;
    LANE_NAME(differ)(side, &p->wb, &p->wa, &spin);
    LANES before = GET(t->twist_impulse[0]), after = before - GET(t->twist_mass[0]) * DOT(spin, *n);
    after = CHOOSE(after > *most, *most, after);
    after = CHOOSE(after < -*most, -*most, after);
    PUT(t->twist_impulse[0], after);
    LANES change = after - before;
    LANE_NAME(apply_twist)(p, side, &change, n);
}

// The friction impulses that stop sliding along and across; the two directions are coupled.
IN LANE_NAME(weigh_slip)(const HEAD *t, size_t next, const LANES *along, const LANES *across,
                         LANES *e0, LANES *e1)
{
    LANES cross_mass = GET(t->friction_mass[1]);
    *e0 = GET(t->friction_mass[0]) * *along + cross_mass * *across;
    *e1 = cross_mass * *along + GET(t->friction_mass[2]) * *across;
}

// The friction impulse, limited by Coulomb's cone over the sum of the normal impulses.
IN LANE_NAME(solve_friction)(HEAD *t, size_t next, PAIR *p, const foliot__side side, const VEC *n,
                             const VEC *arm_a, const VEC *arm_b, const LANES *limit)
{
    VEC s, q, slip, impulse;
    LANE_NAME(get_vec)(t->tangent, next, &s);
    LANE_NAME(cross)(n, &s, &q);
    LANE_NAME(slip_of)(p, side, arm_a, arm_b, &slip);
    LANES along = DOT(slip, s), across = DOT(slip, q), e0, e1;
    LANES d0 = GET(t->friction_impulse[0]), d1 = GET(t->friction_impulse[1]);
    LANE_NAME(weigh_slip)(t, next, &along, &across, &e0, &e1);
    e0 = d0 - e0;
    e1 = d1 - e1;
    LANES length2 = e0 * e0 + e1 * e1, one = SPLAT(1);
    MARKS slides = length2 > *limit * *limit;
    LANES length = CHOOSE(slides, length2, one);
    LANE_NAME(root)(&length);
    LANES scale = CHOOSE(slides, *limit / length, one);
    e0 *= scale;
    e1 *= scale;
    PUT(t->friction_impulse[0], e0);
    PUT(t->friction_impulse[1], e1);
    e0 -= d0;
    e1 -= d1;
    impulse.x = e0 * s.x + e1 * q.x;
    impulse.y = e0 * s.y + e1 * q.y;
    impulse.z = e0 * s.z + e1 * q.z;
    LANE_NAME(apply_friction)(p, side, &impulse, arm_a, arm_b);
}

// The place of contact now.
typedef struct {
    VEC displacement;       // of b against a since the contacts were found
    VEC turned_a, turned_b; // since then
    VEC arm_a, arm_b;       // of friction
    VEC gain_a, gain_b;     // what the torque arm of a unit of normal impulse gains
    MARKS follows;          // whether it must follow the bodies
} LANE_NAME(place);
#define PLACE LANE_NAME(place)

// to := v + w, where marked
IN LANE_NAME(shift)(const MARKS *marks, const VEC *v, const VEC *w, VEC *to)
{
    to->x = CHOOSE(*marks, v->x + w->x, v->x);
    to->y = CHOOSE(*marks, v->y + w->y, v->y);
    to->z = CHOOSE(*marks, v->z + w->z, v->z);
}

// to := v x w, where marked; else 0
IN LANE_NAME(cross_where)(const MARKS *marks, const VEC *v, const VEC *w, VEC *to)
{
    const LANES zero = {0};
    LANE_NAME(cross)(v, w, to);
    to->x = CHOOSE(*marks, to->x, zero);
    to->y = CHOOSE(*marks, to->y, zero);
    to->z = CHOOSE(*marks, to->z, zero);
}

// Limits the displacement of a contact point on a body. The effective masses of the rows were
// computed where the contact was found, and a longer arm has a smaller one. If the displacement
// added more inverse effective mass than the linear part has, iterations would overshoot without
// converging: a grain slides by many radii in a tick.
IN LANE_NAME(bound_shift)(const INERTIA *inertia, const LANES *mass, VEC *shift)
{
    const LANES one = SPLAT(1);
    LANES eased = DOT(*shift, *shift) * ((inertia->xx + inertia->yy) + inertia->zz);
    MARKS far = eased > *mass;
    LANES scale = CHOOSE(far, *mass / CHOOSE(far, eased, one), one);
    shift->x *= scale;
    shift->y *= scale;
    shift->z *= scale;
}

// The place of contact on one body slides by `share` of `slid` and is turned by `turned`: the arm
// of friction, and what the torque arm of a unit of normal impulse gains. `moves`: the body has a
// mass.
IN LANE_NAME(follow_body)(const INERTIA *inertia, const LANES *mass, const bool moves,
                          const VEC *slid, const LANES *share, const VEC *turned, const VEC *n,
                          const MARKS *follows, VEC *arm, VEC *gain)
{
    const LANES one = SPLAT(1);
    VEC shift = {*share * slid->x, *share * slid->y, *share * slid->z};
    if (moves)
        LANE_NAME(bound_shift)(inertia, mass, &shift);
    LANE_NAME(cross_where)(follows, &shift, n, gain);
    LANE_NAME(add)(&shift, &one, turned);
    if (moves)
        LANE_NAME(bound_shift)(inertia, mass, &shift);
    LANE_NAME(shift)(follows, arm, &shift, arm);
}

// The contact point as it has moved on both bodies. Within the soft phase it is the point in the
// middle of the substep: a body on a turning table then stays on its circle, as by the implicit
// midpoint rule.
IN LANE_NAME(follow)(const HEAD *t, size_t next, const PAIR *p, const foliot__side side,
                     const float time, const VEC *n, PLACE *place)
{
    VEC slid, turn, once, twice;
    const LANES ahead = SPLAT(time), half = SPLAT(0.5f), one = SPLAT(1);
    LANES share = GET(t->share_a[0]), flat = GET(t->flat[0]), rest = share - one;
    LANE_NAME(differ)(side, &p->vb, &p->va, &slid);
    slid.x = place->displacement.x + ahead * slid.x;
    slid.y = place->displacement.y + ahead * slid.y;
    slid.z = place->displacement.z + ahead * slid.z;
    turn.x = place->turned_b.x + ahead * p->wb.x;
    turn.y = place->turned_b.y + ahead * p->wb.y;
    turn.z = place->turned_b.z + ahead * p->wb.z;
    LANES about = (one - flat) * DOT(turn, *n); // a round body turns its contact only about n
    turn.x = flat * turn.x + about * n->x;
    turn.y = flat * turn.y + about * n->y;
    turn.z = flat * turn.z + about * n->z;
    LANE_NAME(cross)(&turn, &place->arm_b, &once);
    LANE_NAME(cross)(&turn, &once, &twice);
    LANE_NAME(add)(&once, &half, &twice);
    if (side != FOLIOT__SIDE_STILL)
        LANE_NAME(follow_body)
    (&p->inertia_a, &p->mass_a, side == FOLIOT__SIDE_MOVES, &slid, &share, &once, n,
     &place->follows, &place->arm_a, &place->gain_a);
    LANE_NAME(follow_body)
    (&p->inertia_b, &p->mass_b, true, &slid, &rest, &once, n, &place->follows, &place->arm_b,
     &place->gain_b);
}

// Sets where the contact is after the time `ahead`.
IN LANE_NAME(load_place)(const HEAD *t, size_t next, const PAIR *p,
                         const foliot__solver_body *bodies, const foliot__side side,
                         const float ahead, const VEC *n, PLACE *place)
{
    VEC moved_a, moved_b;
    LANES of_a, of_b;
    LANE_NAME(gather_displacements)(bodies, p->b, &moved_b, &place->turned_b, &of_b);
    if (side != FOLIOT__SIDE_STILL) {
        LANE_NAME(gather_displacements)(bodies, p->a, &moved_a, &place->turned_a, &of_a);
        of_b += of_a;
    }
    LANE_NAME(differ)(side, &moved_b, &moved_a, &place->displacement);
    place->follows = of_b > 0;
    place->arm_a = place->gain_a = place->gain_b = (VEC){.x = SPLAT(0)};
    if (side != FOLIOT__SIDE_STILL)
        LANE_NAME(get_vec)(t->arm_a, next, &place->arm_a);
    LANE_NAME(get_vec)(t->arm_b, next, &place->arm_b);
    if (ANY(place->follows))
        LANE_NAME(follow)(t, next, p, side, ahead, n, place);
}

// -- bodies carried by turning ones

// The rate at which the place of contact turns about the normal. Marks flat shapes that turn
// together.
IN LANE_NAME(swing_of)(const HEAD *t, size_t next, const PAIR *p, const foliot__side side,
                       const float ahead, const VEC *n, LANES *rate, MARKS *together)
{
    VEC spin;
    const LANES least = SPLAT(SWINGS), half = SPLAT(ahead), apart = SPLAT(APART);
    LANES share = GET(t->share_a[0]), rest = SPLAT(1) - share;
    LANE_NAME(differ)(side, &p->wb, &p->wa, &spin);
    *rate = share * DOT(p->wa, *n) + rest * DOT(p->wb, *n);
    LANES rate2 = *rate * *rate;
    *together = (GET(t->flat[0]) > 0) & (half * half * rate2 > least * least) &
                (DOT(spin, spin) < apart * apart * rate2);
}

// The coupling of friction and twist of a contact.
typedef struct {
    LANES swing;  // speed across that a unit of friction causes: it moves the place of contact
    LANES k0, k1; // spin about the normal that a unit of friction causes
    LANES m0, m1; // their weight in friction
    LANES twist;  // inverse of what remains for the twist impulse
} LANE_NAME(grip);
#define GRIP LANE_NAME(grip)

IN LANE_NAME(find_grip)(const HEAD *t, size_t next, const PAIR *p, const foliot__side side,
                        const VEC *n, const VEC *s, const VEC *q, const VEC *arm_a,
                        const VEC *arm_b, GRIP *g)
{
    VEC turn, across;
    const LANES one = SPLAT(1), least = SPLAT(TWIST_MIN);
    LANE_NAME(turned)(&p->inertia_b, n, &turn);
    LANE_NAME(cross)(&turn, arm_b, &across);
    g->k0 = DOT(across, *s);
    g->k1 = DOT(across, *q);
    if (side == FOLIOT__SIDE_MOVES) {
        LANE_NAME(turned)(&p->inertia_a, n, &turn);
        LANE_NAME(cross)(&turn, arm_a, &across);
        g->k0 += DOT(across, *s);
        g->k1 += DOT(across, *q);
    }
    LANE_NAME(weigh_slip)(t, next, &g->k0, &g->k1, &g->m0, &g->m1);
    LANES mass = GET(t->twist_mass[0]), left = one - mass * (g->k0 * g->m0 + g->k1 * g->m1);
    g->twist = mass / LARGER(left, least);
}

// The friction impulse that ends the sliding while a twist impulse keeps the spin as it is.
IN LANE_NAME(weigh_held)(const HEAD *t, size_t next, const GRIP *g, const LANES *along,
                         const LANES *across, LANES *e0, LANES *e1)
{
    LANE_NAME(weigh_slip)(t, next, along, across, e0, e1);
    LANES spin = (g->k0 * *e0 + g->k1 * *e1) * g->twist;
    *e0 += spin * g->m0;
    *e1 += spin * g->m1;
}

// Solves friction and twist together, in the soft phase, for bodies that static friction holds on a
// turning body. Solved one after the other, they leave a part of the sliding that is the same in
// every substep, and the body creeps. Friction also moves the contact point on the turning body,
// and so its velocity. Columns whose twist or friction is at its limit, or that do not turn, are
// left as they are.
#if COLUMNS == 8 && !FOLIOT__VECTORS
static void hold_8(head_8 *t, size_t next, const foliot__phase *phase, foliot__solver_body *bodies,
                   uint32_t spare, const foliot__side side, const lanes_8 *limit,
                   const lanes_8 *most); // solver_simd.c
#else
static __attribute__((noinline)) void
LANE_NAME(hold)(HEAD *t, size_t next, const foliot__phase *phase, foliot__solver_body *bodies,
                uint32_t spare, const foliot__side side, const LANES *limit, const LANES *most)
{
    PAIR p;
    GRIP grip;
    PLACE place;
    VEC n, s, q, slip, spin, impulse;
    LANES rate;
    MARKS held;
    LANE_NAME(load_pair)(t, next, bodies, side, &p);
    LANE_NAME(get_vec)(t->normal, next, &n);
    LANE_NAME(get_vec)(t->tangent, next, &s);
    LANE_NAME(cross)(&n, &s, &q);
    LANE_NAME(load_place)(t, next, &p, bodies, side, phase->ahead, &n, &place);
    LANE_NAME(swing_of)(t, next, &p, side, phase->ahead, &n, &rate, &held);
    grip.swing = SPLAT(phase->ahead) * rate * (p.mass_a + p.mass_b);
    LANE_NAME(find_grip)(t, next, &p, side, &n, &s, &q, &place.arm_a, &place.arm_b, &grip);
    LANE_NAME(slip_of)(&p, side, &place.arm_a, &place.arm_b, &slip);
    LANE_NAME(differ)(side, &p.wb, &p.wa, &spin);
    LANES twist_mass = GET(t->twist_mass[0]), stop = twist_mass * DOT(spin, n), e0, e1;
    LANES along = DOT(slip, s) - grip.k0 * stop, across = DOT(slip, q) - grip.k1 * stop;
    LANE_NAME(weigh_held)(t, next, &grip, &along, &across, &e0, &e1);
    along -= grip.swing * e1;
    across += grip.swing * e0;
    LANE_NAME(weigh_held)(t, next, &grip, &along, &across, &e0, &e1);
    LANES d0 = GET(t->friction_impulse[0]), d1 = GET(t->friction_impulse[1]);
    LANES twist = GET(t->twist_impulse[0]),
          change = twist_mass * (grip.k0 * e0 + grip.k1 * e1) - stop, turns = twist + change;
    LANES f0 = d0 - e0, f1 = d1 - e1;
    held &= place.follows & (turns <= *most) & (turns >= -*most);
    held &= f0 * f0 + f1 * f1 <= *limit * *limit;
    PUT(t->friction_impulse[0], CHOOSE(held, f0, d0));
    PUT(t->friction_impulse[1], CHOOSE(held, f1, d1));
    PUT(t->twist_impulse[0], CHOOSE(held, turns, twist));
    impulse.x = -(e0 * s.x + e1 * q.x);
    impulse.y = -(e0 * s.y + e1 * q.y);
    impulse.z = -(e0 * s.z + e1 * q.z);
    LANE_NAME(apply_friction)(&p, side, &impulse, &place.arm_a, &place.arm_b);
    LANE_NAME(apply_twist)(&p, side, &change, &n);
    EACH (l, COLUMNS)
        if (!MARK(held, l))
            p.a[l] = p.b[l] = spare;
    LANE_NAME(store_pair)(bodies, spare, side, &p);
}
#endif

// -- iterations

IN LANE_NAME(iterate_block)(HEAD *t, size_t next, const foliot__phase *phase,
                            foliot__solver_body *bodies, uint32_t spare, const int points,
                            const foliot__side side)
{
    POINT *point = (POINT *)(void *)(t + 1);
    const foliot__softness *soft = side == FOLIOT__SIDE_MOVES ? &phase->moving : &phase->still;
    PAIR p;
    PLACE place;
    VEC n;
    LANE_NAME(load_pair)(t, next, bodies, side, &p);
    LANE_NAME(get_vec)(t->normal, next, &n);
    LANES pushed = {0}, levered = {0};
    LANE_NAME(load_place)(t, next, &p, bodies, side, phase->ahead, &n, &place);
    const bool moves = ANY(place.follows);
    LANES opened = DOT(place.displacement, n);
    const LANES zero = {0}, per_h = SPLAT(phase->per_h), one = SPLAT(1);
    const LANES rate = SPLAT(soft->rate), share = SPLAT(soft->mass), leak = SPLAT(soft->leak);
    LANES fastest = -GET(t->push_max[0]);
    EACH_POINT (k, points) {
        VEC turn_a, turn_b, slip;
        LANE_NAME(get_vec)(point[k].turn_b, next, &turn_b);
        LANE_NAME(add)(&turn_b, &one, &place.gain_b);
        LANE_NAME(differ)(side, &p.vb, &p.va, &slip);
        LANES turned = DOT(place.turned_b, turn_b), spin = DOT(p.wb, turn_b);
        if (side != FOLIOT__SIDE_STILL) {
            LANE_NAME(get_vec)(point[k].turn_a, next, &turn_a);
            LANE_NAME(add)(&turn_a, &one, &place.gain_a);
            turned -= DOT(place.turned_a, turn_a);
            spin -= DOT(p.wa, turn_a);
        }
        LANES gap = GET(point[k].gap[0]) + opened + turned, apart = DOT(slip, n) + spin;
        LANES before = GET(point[k].normal_impulse[0]), mass = GET(point[k].mass[0]), after;
        MARKS open = gap > 0;
        if (phase->soft) {
            LANES bias = CHOOSE(open, gap * per_h, LARGER(gap * rate, fastest));
            LANES given = mass * CHOOSE(open, one, share) * (apart + bias);
            after = before - given - CHOOSE(open, zero, leak * before);
        } else {
            after = before - mass * (apart + CHOOSE(open, gap * per_h, zero));
        }
        after = LARGER(after, zero);
        LANES change = after - before;
        PUT(point[k].normal_impulse[0], after);
        pushed += after;
        if (points > 1)
            levered += after * GET(point[k].lever[0]);
        LANE_NAME(apply_impulse)(&p, side, &change, &n, &turn_a, &turn_b);
    }
    LANES friction = GET(t->friction[0]), limit = friction * pushed, most = friction * levered;
    if (points > 1)
        LANE_NAME(solve_twist)(t, next, &p, side, &n, &most);
    LANE_NAME(solve_friction)(t, next, &p, side, &n, &place.arm_a, &place.arm_b, &limit);
    LANE_NAME(store_pair)(bodies, spare, side, &p);
    if (points > 1 && side != FOLIOT__SIDE_STILL && phase->soft && moves) {
        LANES about, copies[2] = {limit, most};
        MARKS together;
        LANE_NAME(swing_of)(t, next, &p, side, phase->ahead, &n, &about, &together);
        if (ANY(together))
            LANE_NAME(hold)(t, next, phase, bodies, spare, side, &copies[0], &copies[1]);
    }
}

IN LANE_NAME(warm_block)(const HEAD *t, size_t next, foliot__solver_body *bodies, uint32_t spare,
                         const int points, const foliot__side side)
{
    const POINT *point = (const POINT *)(const void *)(t + 1);
    PAIR p;
    PLACE place;
    VEC n, s, q, turn_a, turn_b, impulse;
    const LANES one = SPLAT(1);
    LANE_NAME(load_pair)(t, next, bodies, side, &p);
    LANE_NAME(get_vec)(t->normal, next, &n);
    LANE_NAME(load_place)(t, next, &p, bodies, side, 0, &n, &place);
    EACH_POINT (k, points) {
        LANES push = GET(point[k].normal_impulse[0]);
        if (side == FOLIOT__SIDE_MOVES) {
            LANE_NAME(get_vec)(point[k].turn_a, next, &turn_a);
            LANE_NAME(add)(&turn_a, &one, &place.gain_a);
        }
        LANE_NAME(get_vec)(point[k].turn_b, next, &turn_b);
        LANE_NAME(add)(&turn_b, &one, &place.gain_b);
        LANE_NAME(apply_impulse)(&p, side, &push, &n, &turn_a, &turn_b);
    }
    LANES twist = GET(t->twist_impulse[0]), d0 = GET(t->friction_impulse[0]),
          d1 = GET(t->friction_impulse[1]);
    LANE_NAME(apply_twist)(&p, side, &twist, &n);
    LANE_NAME(get_vec)(t->tangent, next, &s);
    LANE_NAME(cross)(&n, &s, &q);
    impulse.x = d0 * s.x + d1 * q.x;
    impulse.y = d0 * s.y + d1 * q.y;
    impulse.z = d0 * s.z + d1 * q.z;
    LANE_NAME(apply_friction)(&p, side, &impulse, &place.arm_a, &place.arm_b);
    LANE_NAME(store_pair)(bodies, spare, side, &p);
}

// One function for each side, and for each number of points where their loop is written out.
// Without vectors one function serves all blocks: eight scalars each, three copies are too large
// for the calls of some machines.
#if !FOLIOT__VECTORS
#define ON_KIND(block, call) call((block)->points, (block)->side);
#elif !POINTS_WRITTEN_OUT
#define ON_KIND(block, call)                                                                       \
    if ((block)->side == FOLIOT__SIDE_STILL)                                                       \
        call((block)->points, FOLIOT__SIDE_STILL);                                                 \
    else if ((block)->side == FOLIOT__SIDE_MOVES)                                                  \
        call((block)->points, FOLIOT__SIDE_MOVES);                                                 \
    else                                                                                           \
        call((block)->points, FOLIOT__SIDE_CARRIES);
#else
#define ON_POINTS_AND(side, block, call)                                                           \
    case 1 << 2 | (side):                                                                          \
        call(1, side);                                                                             \
        break;                                                                                     \
    case 2 << 2 | (side):                                                                          \
        call(2, side);                                                                             \
        break;                                                                                     \
    case 4 << 2 | (side):                                                                          \
        call(4, side);                                                                             \
        break;
#define ON_KIND(block, call)                                                                       \
    switch ((block)->points << 2 | (block)->side) {                                                \
        ON_POINTS_AND(FOLIOT__SIDE_MOVES, block, call)                                             \
        ON_POINTS_AND(FOLIOT__SIDE_STILL, block, call)                                             \
        ON_POINTS_AND(FOLIOT__SIDE_CARRIES, block, call)                                           \
    default:                                                                                       \
        break;                                                                                     \
    }
#endif

static void LANE_NAME(warm_one)(const HEAD *t, const foliot__solver *s,
                                const foliot__solver_block *block)
{
    uint32_t spare = s->world->capacity.slots;
    size_t next = sizeof(HEAD) + block->points * sizeof(POINT);
#define CALL(n, side) LANE_NAME(warm_block)(t, next, s->bodies, spare, n, side)
    ON_KIND(block, CALL)
#undef CALL
}

static void LANE_NAME(iterate_one)(HEAD *t, const foliot__solver *s, const foliot__phase *phase,
                                   const foliot__solver_block *block)
{
    uint32_t spare = s->world->capacity.slots;
    size_t next = sizeof(HEAD) + block->points * sizeof(POINT);
#define CALL(n, side) LANE_NAME(iterate_block)(t, next, phase, s->bodies, spare, n, side)
    ON_KIND(block, CALL)
#undef CALL
}
