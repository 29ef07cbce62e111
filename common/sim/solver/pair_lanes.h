// SPDX-License-Identifier: MIT
// pair_lanes.h: vectors of COLUMNS pairs of bodies: 8, or 1 for pairs without a colour, or 16; how
// their velocities are fetched and put back, and what an impulse does to them. A block of 16 is two
// consecutive blocks of 8 that are of one kind and share no body. Included by solver_lanes.h for
// contacts, and by joint_simd.c. Sums have a fixed order and nothing is fused, so the bits are the
// same with vectors of any width.
//
// `side` is the kind of the first body of every pair. A static one is left out; a kinematic one is
// read and not written.

#ifndef UNROLL
// Written out, so that arrays of vectors stay in registers. Where a vector is eight scalars, there
// are not enough registers for that.
#if FOLIOT__VECTORS
#define UNROLL FOLIOT__UNROLL(16)
#else
#define UNROLL
#endif
#define EACH(k, n) UNROLL for (int k = 0; k < (n); k++)
// The points of a block are rows in memory. Their loop is written out, once for each number of
// points, except where the program is downloaded (in browsers): there one loop serves any number.
#if FOLIOT__VECTORS && !defined(__wasm__)
#define POINTS_WRITTEN_OUT 1
#define EACH_POINT(k, n) EACH (k, n)
#else
#define POINTS_WRITTEN_OUT 0
#define EACH_POINT(k, n) for (int k = 0; k < (n); k++)
#endif
#endif

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
