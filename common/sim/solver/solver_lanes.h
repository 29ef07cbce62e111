// SPDX-License-Identifier: MIT
// solver_lanes.h: impulses of blocks of COLUMNS pairs: 8, or 1 for pairs without a colour, or 16. A
// block of 16 is two consecutive blocks of 8 that are of one kind and share no body. Included by
// solver_simd.c. Sums have a fixed order and nothing is fused, so the bits are the same with
// vectors of any width.
//
// `side` is the kind of the first body of every pair. A static one is left out; a kinematic one is
// read and not written.

#if COLUMNS == 1
typedef float LANE_NAME(lanes);
typedef int32_t LANE_NAME(marks);
#define LANES float
#define MARKS int32_t
#define CHOOSE(mark, yes, no) ((mark) ? (yes) : (no))
#define ANY(mark) (mark)
#define MARK(marks, l) (marks)
#else
typedef float LANE_NAME(lanes) FOLIOT__SIMD(float, COLUMNS);
typedef int32_t LANE_NAME(marks) FOLIOT__SIMD(int32_t, COLUMNS);
#define LANES LANE_NAME(lanes)
#define MARKS LANE_NAME(marks)
#define CHOOSE(mark, yes, no) FOLIOT__SELECT(LANES, mark, yes, no)
#define ANY(mark) LANE_NAME(any)(&(mark))
#define MARK(marks, l) (marks)[l]
#endif
#define SPLAT(x) ((LANES){0} + (x))
#define LARGER(a, b) CHOOSE((a) > (b), a, b)
#define DOT(p, q) ((p).x * (q).x + (p).y * (q).y + (p).z * (q).z)

typedef struct {
    LANES x, y, z;
} LANE_NAME(vec);
#define VEC LANE_NAME(vec)

typedef struct {
    LANES xx, yy, zz, xy, xz, yz;
} LANE_NAME(inertia);
#define INERTIA LANE_NAME(inertia)

// The offset of the second block of 16 columns: that many bytes after the first.
#if COLUMNS == 16
#define ROWS lanes_8
#define HEAD head_8
#define POINT point_8
static inline LANES join_halves(const lanes_8 *row, size_t next)
{
    const lanes_8 *other = (const lanes_8 *)(const void *)((const char *)row + next);
    return (LANES)_mm512_insertf32x8(_mm512_castps256_ps512((__m256)*row), (__m256)*other, 1);
}
static inline void split_halves(lanes_8 *row, size_t next, LANES v)
{
    *row = (lanes_8)_mm512_castps512_ps256((__m512)v);
    *(lanes_8 *)(void *)((char *)row + next) = (lanes_8)_mm512_extractf32x8_ps((__m512)v, 1);
}
#define GET(row) join_halves(&(row), next)
#define PUT(row, v) split_halves(&(row), next, v)
#define SLOT(t, side, l)                                                                           \
    ((l) < 8 ? (t)->side[(l)&7]                                                                    \
             : ((const HEAD *)(const void *)((const char *)(t) + next))->side[(l)&7])
#else
#define ROWS LANES
#define GET(row) ((void)next, (row))
#define PUT(row, v) ((void)next, (row) = (v))
#define SLOT(t, side, l) (t)->side[l]
#define ROW(name, rows) LANES name[rows];
typedef struct {
    uint32_t manifold[COLUMNS], a[COLUMNS], b[COLUMNS];
    FOLIOT__BLOCK_HEAD(ROW)
} LANE_NAME(head);
#define HEAD LANE_NAME(head)
typedef struct {
    FOLIOT__BLOCK_POINT(ROW)
} LANE_NAME(point);
#define POINT LANE_NAME(point)
#undef ROW
_Static_assert(sizeof(HEAD) == 4 * COLUMNS * FOLIOT__HEAD_ROWS, "rows of a block's head");
_Static_assert(sizeof(POINT) == 4 * COLUMNS * FOLIOT__POINT_ROWS, "rows of a point");
#endif

#define TWIST_MIN 0x1p-4f // of a twist's weight that friction leaves, at least
#define SWINGS 0x1p-12f   // radians about the normal in half a substep
#define APART 0.25f       // of that rate: two bodies that differ by less turn together
#define IN static inline __attribute__((always_inline)) void
// Inlined, except where eight columns are hundreds of scalar operations.
#if COLUMNS == 8 && !FOLIOT__VECTORS
#define LEAF static __attribute__((noinline)) void
#else
#define LEAF IN
#endif

#if COLUMNS == 8 && defined(__AVX2__)
static inline bool any_8(const marks_8 *marks)
{
    return !_mm256_testz_si256((__m256i)*marks, (__m256i)*marks);
}
#elif COLUMNS == 16
static inline bool any_16(const marks_16 *marks)
{
    return _mm512_test_epi32_mask((__m512i)*marks, (__m512i)*marks) != 0;
}
#elif COLUMNS == 8
static inline bool any_8(const marks_8 *marks)
{
    const uint64_t *two = (const uint64_t *)(const void *)marks;
    return ((two[0] | two[1]) | (two[2] | two[3])) != 0;
}
#endif

IN LANE_NAME(load_vec)(const LANES rows[3], VEC *v)
{
    v->x = rows[0];
    v->y = rows[1];
    v->z = rows[2];
}

IN LANE_NAME(store_vec)(LANES rows[3], const VEC *v)
{
    rows[0] = v->x;
    rows[1] = v->y;
    rows[2] = v->z;
}

IN LANE_NAME(get_vec)(const ROWS rows[3], size_t next, VEC *v)
{
    v->x = GET(rows[0]);
    v->y = GET(rows[1]);
    v->z = GET(rows[2]);
}

IN LANE_NAME(get_inertia)(const ROWS rows[6], size_t next, INERTIA *e)
{
    e->xx = GET(rows[0]);
    e->yy = GET(rows[1]);
    e->zz = GET(rows[2]);
    e->xy = GET(rows[3]);
    e->xz = GET(rows[4]);
    e->yz = GET(rows[5]);
}

// out := inertia v
LEAF LANE_NAME(turned)(const INERTIA *e, const VEC *v, VEC *out)
{
    LANES x = e->xx * v->x + e->xy * v->y + e->xz * v->z;
    LANES y = e->xy * v->x + e->yy * v->y + e->yz * v->z;
    LANES z = e->xz * v->x + e->yz * v->y + e->zz * v->z;
    out->x = x;
    out->y = y;
    out->z = z;
}

LEAF LANE_NAME(cross)(const VEC *p, const VEC *q, VEC *out)
{
    LANES x = p->y * q->z - p->z * q->y;
    LANES y = p->z * q->x - p->x * q->z;
    LANES z = p->x * q->y - p->y * q->x;
    out->x = x;
    out->y = y;
    out->z = z;
}

// to += scale * v
LEAF LANE_NAME(add)(VEC *to, const LANES *scale, const VEC *v)
{
    to->x += *scale * v->x;
    to->y += *scale * v->y;
    to->z += *scale * v->z;
}

LEAF LANE_NAME(subtract)(VEC *to, const LANES *scale, const VEC *v)
{
    to->x -= *scale * v->x;
    to->y -= *scale * v->y;
    to->z -= *scale * v->z;
}

LEAF LANE_NAME(root)(LANES *v)
{
    FOLIOT__SIMD_SQRT_F32(*v);
}

// -- rows of eight floats, COLUMNS of them, to lanes and back
//
// row[l] points at eight floats, aligned to 32 bytes; out[k] holds the k-th of each row. Rows that
// are not `there` are left as they are.

#if COLUMNS == 8 && defined(__AVX2__)
IN LANE_NAME(transpose)(__m256 r[8])
{
    __m256 t0 = _mm256_unpacklo_ps(r[0], r[1]), t1 = _mm256_unpackhi_ps(r[0], r[1]);
    __m256 t2 = _mm256_unpacklo_ps(r[2], r[3]), t3 = _mm256_unpackhi_ps(r[2], r[3]);
    __m256 t4 = _mm256_unpacklo_ps(r[4], r[5]), t5 = _mm256_unpackhi_ps(r[4], r[5]);
    __m256 t6 = _mm256_unpacklo_ps(r[6], r[7]), t7 = _mm256_unpackhi_ps(r[6], r[7]);
    __m256 u0 = _mm256_shuffle_ps(t0, t2, 0x44), u1 = _mm256_shuffle_ps(t0, t2, 0xee);
    __m256 u2 = _mm256_shuffle_ps(t1, t3, 0x44), u3 = _mm256_shuffle_ps(t1, t3, 0xee);
    __m256 u4 = _mm256_shuffle_ps(t4, t6, 0x44), u5 = _mm256_shuffle_ps(t4, t6, 0xee);
    __m256 u6 = _mm256_shuffle_ps(t5, t7, 0x44), u7 = _mm256_shuffle_ps(t5, t7, 0xee);
    r[0] = _mm256_permute2f128_ps(u0, u4, 0x20);
    r[1] = _mm256_permute2f128_ps(u1, u5, 0x20);
    r[2] = _mm256_permute2f128_ps(u2, u6, 0x20);
    r[3] = _mm256_permute2f128_ps(u3, u7, 0x20);
    r[4] = _mm256_permute2f128_ps(u0, u4, 0x31);
    r[5] = _mm256_permute2f128_ps(u1, u5, 0x31);
    r[6] = _mm256_permute2f128_ps(u2, u6, 0x31);
    r[7] = _mm256_permute2f128_ps(u3, u7, 0x31);
}

LEAF LANE_NAME(gather)(const float *const row[COLUMNS], LANES out[8])
{
    __m256 r[8];
    EACH (l, 8)
        r[l] = _mm256_load_ps(row[l]);
    LANE_NAME(transpose)(r);
    EACH (l, 8)
        out[l] = (LANES)r[l];
}

LEAF LANE_NAME(scatter)(float *const row[COLUMNS], const bool there[COLUMNS], const LANES in[8])
{
    __m256 r[8];
    EACH (l, 8)
        r[l] = (__m256)in[l];
    LANE_NAME(transpose)(r);
    EACH (l, 8)
        if (there[l])
            _mm256_store_ps(row[l], r[l]);
}
#elif COLUMNS == 16
IN gather_16(const float *const row[16], LANES out[8])
{
    lanes_8 low[8], high[8];
    gather_8(row, low);
    gather_8(row + 8, high);
    EACH (k, 8)
        out[k] =
            (LANES)_mm512_insertf32x8(_mm512_castps256_ps512((__m256)low[k]), (__m256)high[k], 1);
}

IN scatter_16(float *const row[16], const bool there[16], const LANES in[8])
{
    lanes_8 low[8], high[8];
    EACH (k, 8) {
        low[k] = (lanes_8)_mm512_castps512_ps256((__m512)in[k]);
        high[k] = (lanes_8)_mm512_extractf32x8_ps((__m512)in[k], 1);
    }
    scatter_8(row, there, low);
    scatter_8(row + 8, there + 8, high);
}
#else
#if COLUMNS == 1
#define AT(v, l) (v)
#else
#define AT(v, l) (v)[l]
#endif
LEAF LANE_NAME(gather)(const float *const row[COLUMNS], LANES out[8])
{
    EACH (k, 8)
        EACH (l, COLUMNS)
            AT(out[k], l) = row[l][k];
}

LEAF LANE_NAME(scatter)(float *const row[COLUMNS], const bool there[COLUMNS], const LANES in[8])
{
    EACH (l, COLUMNS)
        if (there[l])
            EACH (k, 8)
                row[l][k] = AT(in[k], l);
}
#undef AT
#endif

// Velocities of the bodies of one side; those of the spare solver body are 0.
IN LANE_NAME(gather_velocities)(const foliot__solver_body *bodies, const uint32_t *slot, VEC *v,
                                VEC *w)
{
    const float *row[COLUMNS];
    LANES out[8];
    EACH (l, COLUMNS)
        row[l] = bodies[slot[l]].v;
    LANE_NAME(gather)(row, out);
    LANE_NAME(load_vec)(out, v);
    LANE_NAME(load_vec)(out + 3, w);
}

IN LANE_NAME(gather_displacements)(const foliot__solver_body *bodies, const uint32_t *slot,
                                   VEC *moved, VEC *turned, LANES *follows)
{
    const float *row[COLUMNS];
    LANES out[8];
    EACH (l, COLUMNS)
        row[l] = bodies[slot[l]].moved;
    LANE_NAME(gather)(row, out);
    LANE_NAME(load_vec)(out, moved);
    LANE_NAME(load_vec)(out + 3, turned);
    *follows = out[6];
}

IN LANE_NAME(scatter_velocities)(foliot__solver_body *bodies, const uint32_t *slot, uint32_t spare,
                                 const VEC *v, const VEC *w)
{
    float *row[COLUMNS];
    bool there[COLUMNS];
    const LANES in[8] = {v->x, v->y, v->z, w->x, w->y, w->z, SPLAT(0), SPLAT(0)};
    EACH (l, COLUMNS) {
        row[l] = (float *)(void *)&bodies[slot[l]]; // v, w, unused
        there[l] = slot[l] != spare;
    }
    LANE_NAME(scatter)(row, there, in);
}

// -- impulses

// The two bodies of every column; the first is left out if it is static.
typedef struct {
    uint32_t a[COLUMNS], b[COLUMNS]; // slots
    VEC va, wa, vb, wb;
    LANES mass_a, mass_b;
    INERTIA inertia_a, inertia_b;
} LANE_NAME(pair);
#define PAIR LANE_NAME(pair)

IN LANE_NAME(load_pair)(const HEAD *t, size_t next, const foliot__solver_body *bodies,
                        const foliot__side side, PAIR *p)
{
    EACH (l, COLUMNS) {
        p->a[l] = SLOT(t, a, l);
        p->b[l] = SLOT(t, b, l);
    }
    p->va = p->wa = (VEC){.x = SPLAT(0)};
    p->mass_a = SPLAT(0);
    p->inertia_a = (INERTIA){.xx = SPLAT(0)};
    if (side != FOLIOT__SIDE_STILL)
        LANE_NAME(gather_velocities)(bodies, p->a, &p->va, &p->wa);
    if (side == FOLIOT__SIDE_MOVES) {
        p->mass_a = GET(t->mass_a[0]);
        LANE_NAME(get_inertia)(t->inertia_a, next, &p->inertia_a);
    }
    LANE_NAME(gather_velocities)(bodies, p->b, &p->vb, &p->wb);
    p->mass_b = GET(t->mass_b[0]);
    LANE_NAME(get_inertia)(t->inertia_b, next, &p->inertia_b);
}

IN LANE_NAME(store_pair)(foliot__solver_body *bodies, uint32_t spare, const foliot__side side,
                         const PAIR *p)
{
    if (side == FOLIOT__SIDE_MOVES)
        LANE_NAME(scatter_velocities)(bodies, p->a, spare, &p->va, &p->wa);
    LANE_NAME(scatter_velocities)(bodies, p->b, spare, &p->vb, &p->wb);
}

// Applies an impulse of `size` along `direction` to b and against it to a, with the directions of
// the torques.
IN LANE_NAME(apply_impulse)(PAIR *p, const foliot__side side, const LANES *size,
                            const VEC *direction, const VEC *turn_a, const VEC *turn_b)
{
    LANES b = *size * p->mass_b;
    VEC tb;
    LANE_NAME(add)(&p->vb, &b, direction);
    LANE_NAME(turned)(&p->inertia_b, turn_b, &tb);
    LANE_NAME(add)(&p->wb, size, &tb);
    if (side == FOLIOT__SIDE_MOVES) {
        LANES a = *size * p->mass_a;
        VEC ta;
        LANE_NAME(subtract)(&p->va, &a, direction);
        LANE_NAME(turned)(&p->inertia_a, turn_a, &ta);
        LANE_NAME(subtract)(&p->wa, size, &ta);
    }
}

// Applies the friction impulse at the middle of the points.
IN LANE_NAME(apply_friction)(PAIR *p, const foliot__side side, const VEC *impulse, const VEC *arm_a,
                             const VEC *arm_b)
{
    VEC turn, change;
    const LANES one = SPLAT(1);
    LANE_NAME(add)(&p->vb, &p->mass_b, impulse);
    LANE_NAME(cross)(arm_b, impulse, &turn);
    LANE_NAME(turned)(&p->inertia_b, &turn, &change);
    LANE_NAME(add)(&p->wb, &one, &change);
    if (side == FOLIOT__SIDE_MOVES) {
        LANE_NAME(subtract)(&p->va, &p->mass_a, impulse);
        LANE_NAME(cross)(arm_a, impulse, &turn);
        LANE_NAME(turned)(&p->inertia_a, &turn, &change);
        LANE_NAME(subtract)(&p->wa, &one, &change);
    }
}

IN LANE_NAME(apply_twist)(PAIR *p, const foliot__side side, const LANES *size, const VEC *normal)
{
    VEC change;
    LANE_NAME(turned)(&p->inertia_b, normal, &change);
    LANE_NAME(add)(&p->wb, size, &change);
    if (side == FOLIOT__SIDE_MOVES) {
        LANE_NAME(turned)(&p->inertia_a, normal, &change);
        LANE_NAME(subtract)(&p->wa, size, &change);
    }
}

// The relative velocity of two points, that of b less that of a.
IN LANE_NAME(slip_of)(const PAIR *p, const foliot__side side, const VEC *arm_a, const VEC *arm_b,
                      VEC *slip)
{
    VEC ta, tb;
    LANE_NAME(cross)(&p->wb, arm_b, &tb);
    slip->x = p->vb.x + tb.x;
    slip->y = p->vb.y + tb.y;
    slip->z = p->vb.z + tb.z;
    if (side != FOLIOT__SIDE_STILL) {
        LANE_NAME(cross)(&p->wa, arm_a, &ta);
        slip->x -= p->va.x + ta.x;
        slip->y -= p->va.y + ta.y;
        slip->z -= p->va.z + ta.z;
    }
}

// to := b - a, or b
IN LANE_NAME(differ)(const foliot__side side, const VEC *b, const VEC *a, VEC *to)
{
    *to = *b;
    if (side != FOLIOT__SIDE_STILL) {
        to->x -= a->x;
        to->y -= a->y;
        to->z -= a->z;
    }
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
