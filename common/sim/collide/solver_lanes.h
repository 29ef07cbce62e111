// SPDX-License-Identifier: MIT
// solver_lanes.h: the kernel for blocks of COLUMNS pairs (8, or 1 for those that found no colour).
// Included by solver_columns.h. Compilers split the vectors where the machine has narrower ones, sums
// have a fixed order, and nothing is fused: the bits are the same everywhere.

#if COLUMNS == 1
typedef float LANE_NAME(lanes);
typedef int32_t LANE_NAME(marks);
#define LANES float
#define MARKS int32_t
#define CHOOSE(mark, yes, no) ((mark) ? (yes) : (no))
#else
typedef float LANE_NAME(lanes) __attribute__((vector_size(4 * COLUMNS), may_alias, aligned(4 * COLUMNS)));
typedef int32_t LANE_NAME(marks) __attribute__((vector_size(4 * COLUMNS), may_alias, aligned(4 * COLUMNS)));
#define LANES LANE_NAME(lanes)
#define MARKS LANE_NAME(marks)
// `yes` where the mark is set, else `no`.
#define CHOOSE(mark, yes, no)                                                                      \
    ((LANES)(((MARKS)(mark) & (MARKS)(yes)) | (~(MARKS)(mark) & (MARKS)(no))))
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
} LANE_NAME(ease);
#define EASE LANE_NAME(ease)

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

#define IN static inline __attribute__((always_inline)) void

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

IN LANE_NAME(load_ease)(const LANES rows[6], EASE *e)
{
    e->xx = rows[0];
    e->yy = rows[1];
    e->zz = rows[2];
    e->xy = rows[3];
    e->xz = rows[4];
    e->yz = rows[5];
}

// out := ease v
IN LANE_NAME(turned)(const EASE *e, const VEC *v, VEC *out)
{
    LANES x = e->xx * v->x + e->xy * v->y + e->xz * v->z;
    LANES y = e->xy * v->x + e->yy * v->y + e->yz * v->z;
    LANES z = e->xz * v->x + e->yz * v->y + e->zz * v->z;
    out->x = x;
    out->y = y;
    out->z = z;
}

IN LANE_NAME(cross)(const VEC *p, const VEC *q, VEC *out)
{
    LANES x = p->y * q->z - p->z * q->y;
    LANES y = p->z * q->x - p->x * q->z;
    LANES z = p->x * q->y - p->y * q->x;
    out->x = x;
    out->y = y;
    out->z = z;
}

// to += scale * v
IN LANE_NAME(add)(VEC *to, const LANES *scale, const VEC *v)
{
    to->x += *scale * v->x;
    to->y += *scale * v->y;
    to->z += *scale * v->z;
}

IN LANE_NAME(take)(VEC *to, const LANES *scale, const VEC *v)
{
    to->x -= *scale * v->x;
    to->y -= *scale * v->y;
    to->z -= *scale * v->z;
}

IN LANE_NAME(root)(LANES *v)
{
#if COLUMNS == 1
    *v = (float)foliot__sqrt(*v);
#elif defined(__AVX2__)
    *v = (LANES)_mm256_sqrt_ps((__m256)*v);
#else
    for (int l = 0; l < COLUMNS; l++)
        (*v)[l] = (float)foliot__sqrt((*v)[l]); // rounded twice is as good as once: 53 >= 2 * 24 + 2
#endif
}

// -- rows of eight floats, COLUMNS of them, to lanes and back --------------------------------------
// row[l] points at eight floats of 32 bytes; out[k] is their k-th.

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

IN LANE_NAME(gather)(const float *const row[COLUMNS], LANES out[8])
{
    __m256 r[8];
    for (int l = 0; l < 8; l++)
        r[l] = _mm256_load_ps(row[l]);
    LANE_NAME(transpose)(r);
    for (int l = 0; l < 8; l++)
        out[l] = (LANES)r[l];
}

IN LANE_NAME(scatter)(float *const row[COLUMNS], const LANES in[8])
{
    __m256 r[8];
    for (int l = 0; l < 8; l++)
        r[l] = (__m256)in[l];
    LANE_NAME(transpose)(r);
    for (int l = 0; l < 8; l++)
        if (row[l])
            _mm256_store_ps(row[l], r[l]);
}
#else
#if COLUMNS == 1
#define AT(v, l) (v)
#else
#define AT(v, l) (v)[l]
#endif
IN LANE_NAME(gather)(const float *const row[COLUMNS], LANES out[8])
{
    for (int k = 0; k < 8; k++)
        for (int l = 0; l < COLUMNS; l++)
            AT(out[k], l) = row[l][k];
}

IN LANE_NAME(scatter)(float *const row[COLUMNS], const LANES in[8])
{
    for (int l = 0; l < COLUMNS; l++)
        if (row[l])
            for (int k = 0; k < 8; k++)
                row[l][k] = AT(in[k], l);
}
#undef AT
#endif

// Velocities of the bodies of one side; those of the spare mover are 0.
IN LANE_NAME(gather_speeds)(const foliot__mover *movers, const uint32_t *slot, VEC *v, VEC *w)
{
    const float *row[COLUMNS];
    LANES out[8];
    for (int l = 0; l < COLUMNS; l++)
        row[l] = movers[slot[l]].v;
    LANE_NAME(gather)(row, out);
    LANE_NAME(load_vec)(out, v);
    LANE_NAME(load_vec)(out + 3, w);
}

IN LANE_NAME(gather_ways)(const foliot__mover *movers, const uint32_t *slot, VEC *moved, VEC *turned)
{
    const float *row[COLUMNS];
    LANES out[8];
    for (int l = 0; l < COLUMNS; l++)
        row[l] = movers[slot[l]].moved;
    LANE_NAME(gather)(row, out);
    LANE_NAME(load_vec)(out, moved);
    LANE_NAME(load_vec)(out + 3, turned);
}

IN LANE_NAME(scatter_speeds)(foliot__mover *movers, const uint32_t *slot, uint32_t spare, const VEC *v,
                             const VEC *w)
{
    float *row[COLUMNS];
    const LANES in[8] = {v->x, v->y, v->z, w->x, w->y, w->z, SPLAT(0), SPLAT(0)};
    for (int l = 0; l < COLUMNS; l++)
        row[l] = slot[l] == spare ? NULL : movers[slot[l]].v;
    LANE_NAME(scatter)(row, in);
}

// -- impulses --------------------------------------------------------------------------------------

// The two bodies of every column.
typedef struct {
    VEC va, wa, vb, wb;
    LANES mass_a, mass_b;
    EASE ease_a, ease_b;
} LANE_NAME(couple);
#define COUPLE LANE_NAME(couple)

IN LANE_NAME(load_couple)(const HEAD *t, const foliot__mover *movers, COUPLE *p)
{
    LANE_NAME(gather_speeds)(movers, t->a, &p->va, &p->wa);
    LANE_NAME(gather_speeds)(movers, t->b, &p->vb, &p->wb);
    p->mass_a = t->mass_a[0];
    p->mass_b = t->mass_b[0];
    LANE_NAME(load_ease)(t->ease_a, &p->ease_a);
    LANE_NAME(load_ease)(t->ease_b, &p->ease_b);
}

IN LANE_NAME(store_couple)(const HEAD *t, foliot__mover *movers, uint32_t spare, const COUPLE *p)
{
    LANE_NAME(scatter_speeds)(movers, t->a, spare, &p->va, &p->wa);
    LANE_NAME(scatter_speeds)(movers, t->b, spare, &p->vb, &p->wb);
}

// An impulse `size` along `direction` on b, and against it on a, with the torques' own directions.
IN LANE_NAME(strike)(COUPLE *p, const LANES *size, const VEC *direction, const VEC *turn_a,
                     const VEC *turn_b)
{
    LANES a = *size * p->mass_a, b = *size * p->mass_b;
    VEC ta, tb;
    LANE_NAME(take)(&p->va, &a, direction);
    LANE_NAME(add)(&p->vb, &b, direction);
    LANE_NAME(turned)(&p->ease_a, turn_a, &ta);
    LANE_NAME(turned)(&p->ease_b, turn_b, &tb);
    LANE_NAME(take)(&p->wa, size, &ta);
    LANE_NAME(add)(&p->wb, size, &tb);
}

// Friction's impulse, at the middle of the points.
IN LANE_NAME(drag)(COUPLE *p, const VEC *impulse, const VEC *arm_a, const VEC *arm_b)
{
    VEC turn_a, turn_b, ta, tb;
    const LANES one = SPLAT(1);
    LANE_NAME(take)(&p->va, &p->mass_a, impulse);
    LANE_NAME(add)(&p->vb, &p->mass_b, impulse);
    LANE_NAME(cross)(arm_a, impulse, &turn_a);
    LANE_NAME(cross)(arm_b, impulse, &turn_b);
    LANE_NAME(turned)(&p->ease_a, &turn_a, &ta);
    LANE_NAME(turned)(&p->ease_b, &turn_b, &tb);
    LANE_NAME(take)(&p->wa, &one, &ta);
    LANE_NAME(add)(&p->wb, &one, &tb);
}

IN LANE_NAME(twist)(COUPLE *p, const LANES *size, const VEC *normal)
{
    VEC ta, tb;
    LANE_NAME(turned)(&p->ease_a, normal, &ta);
    LANE_NAME(turned)(&p->ease_b, normal, &tb);
    LANE_NAME(take)(&p->wa, size, &ta);
    LANE_NAME(add)(&p->wb, size, &tb);
}

// Coulomb's cone over the sum of the pushes; the twist's limit is what the points can hold at their
// distances from the middle.
IN LANE_NAME(visit_friction)(HEAD *t, COUPLE *p, const VEC *n, const LANES *pushed,
                             const LANES *levered, bool twists)
{
    VEC s, q, arm_a, arm_b, ta, tb, slip, impulse;
    LANES friction = t->friction[0], limit = friction * *pushed;
    LANE_NAME(load_vec)(t->slide, &s);
    LANE_NAME(cross)(n, &s, &q);
    if (twists) {
        LANES before = t->twist[0], most = friction * *levered;
        slip.x = p->wb.x - p->wa.x;
        slip.y = p->wb.y - p->wa.y;
        slip.z = p->wb.z - p->wa.z;
        LANES after = before - t->twist_mass[0] * DOT(slip, *n);
        after = CHOOSE(after > most, most, after);
        after = CHOOSE(after < -most, -most, after);
        t->twist[0] = after;
        LANES change = after - before;
        LANE_NAME(twist)(p, &change, n);
    }
    LANE_NAME(load_vec)(t->arm_a, &arm_a);
    LANE_NAME(load_vec)(t->arm_b, &arm_b);
    LANE_NAME(cross)(&p->wa, &arm_a, &ta);
    LANE_NAME(cross)(&p->wb, &arm_b, &tb);
    slip.x = (p->vb.x + tb.x) - (p->va.x + ta.x);
    slip.y = (p->vb.y + tb.y) - (p->va.y + ta.y);
    slip.z = (p->vb.z + tb.z) - (p->va.z + ta.z);
    LANES along = DOT(slip, s), across = DOT(slip, q);
    LANES d0 = t->drag[0], d1 = t->drag[1];
    LANES e0 = d0 - (t->drag_mass[0] * along + t->drag_mass[1] * across);
    LANES e1 = d1 - (t->drag_mass[1] * along + t->drag_mass[2] * across);
    LANES length2 = e0 * e0 + e1 * e1, one = SPLAT(1);
    MARKS slides = length2 > limit * limit;
    LANES length = CHOOSE(slides, length2, one);
    LANE_NAME(root)(&length);
    LANES scale = CHOOSE(slides, limit / length, one);
    e0 *= scale;
    e1 *= scale;
    t->drag[0] = e0;
    t->drag[1] = e1;
    e0 -= d0;
    e1 -= d1;
    impulse.x = e0 * s.x + e1 * q.x;
    impulse.y = e0 * s.y + e1 * q.y;
    impulse.z = e0 * s.z + e1 * q.z;
    LANE_NAME(drag)(p, &impulse, &arm_a, &arm_b);
}

IN LANE_NAME(visit_block)(HEAD *t, const foliot__phase *phase, foliot__mover *movers, uint32_t spare,
                          const int points)
{
    POINT *point = (POINT *)(void *)(t + 1);
    COUPLE p;
    VEC n, moved_a, turned_a, moved_b, turned_b, way;
    LANE_NAME(load_couple)(t, movers, &p);
    LANE_NAME(gather_ways)(movers, t->a, &moved_a, &turned_a);
    LANE_NAME(gather_ways)(movers, t->b, &moved_b, &turned_b);
    LANE_NAME(load_vec)(t->normal, &n);
    way.x = moved_b.x - moved_a.x;
    way.y = moved_b.y - moved_a.y;
    way.z = moved_b.z - moved_a.z;
    LANES opened = DOT(way, n), pushed = {0}, levered = {0};
    const LANES zero = {0}, per_h = SPLAT(phase->per_h), one = SPLAT(1);
    MARKS still = (MARKS)(p.mass_a == 0) | (MARKS)(p.mass_b == 0);
    LANES rate = CHOOSE(still, SPLAT(phase->still.rate), SPLAT(phase->moving.rate));
    LANES share = CHOOSE(still, SPLAT(phase->still.mass), SPLAT(phase->moving.mass));
    LANES hold = CHOOSE(still, SPLAT(phase->still.hold), SPLAT(phase->moving.hold));
    LANES fastest = -t->push_max[0];
    for (int k = 0; k < points; k++) {
        VEC turn_a, turn_b, slip;
        LANE_NAME(load_vec)(point[k].turn_a, &turn_a);
        LANE_NAME(load_vec)(point[k].turn_b, &turn_b);
        LANES gap = point[k].gap[0] + opened + (DOT(turned_b, turn_b) - DOT(turned_a, turn_a));
        slip.x = p.vb.x - p.va.x;
        slip.y = p.vb.y - p.va.y;
        slip.z = p.vb.z - p.va.z;
        LANES apart = DOT(slip, n) + (DOT(p.wb, turn_b) - DOT(p.wa, turn_a));
        LANES before = point[k].push[0], mass = point[k].mass[0], after;
        MARKS open = gap > 0;
        if (phase->soft) {
            LANES bias = CHOOSE(open, gap * per_h, LARGER(gap * rate, fastest));
            LANES given = mass * CHOOSE(open, one, share) * (apart + bias);
            after = before - given - CHOOSE(open, zero, hold * before);
        } else {
            after = before - mass * (apart + CHOOSE(open, gap * per_h, zero));
        }
        after = LARGER(after, zero);
        LANES change = after - before;
        point[k].push[0] = after;
        pushed += after;
        if (points > 1)
            levered += after * point[k].lever[0];
        LANE_NAME(strike)(&p, &change, &n, &turn_a, &turn_b);
    }
    LANE_NAME(visit_friction)(t, &p, &n, &pushed, &levered, points > 1);
    LANE_NAME(store_couple)(t, movers, spare, &p);
}

IN LANE_NAME(warm_block)(const HEAD *t, foliot__mover *movers, uint32_t spare, const int points)
{
    const POINT *point = (const POINT *)(const void *)(t + 1);
    COUPLE p;
    VEC n, s, q, arm_a, arm_b, impulse;
    LANE_NAME(load_couple)(t, movers, &p);
    LANE_NAME(load_vec)(t->normal, &n);
    for (int k = 0; k < points; k++) {
        VEC turn_a, turn_b;
        LANE_NAME(load_vec)(point[k].turn_a, &turn_a);
        LANE_NAME(load_vec)(point[k].turn_b, &turn_b);
        LANE_NAME(strike)(&p, &point[k].push[0], &n, &turn_a, &turn_b);
    }
    LANE_NAME(twist)(&p, &t->twist[0], &n);
    LANE_NAME(load_vec)(t->slide, &s);
    LANE_NAME(cross)(&n, &s, &q);
    LANE_NAME(load_vec)(t->arm_a, &arm_a);
    LANE_NAME(load_vec)(t->arm_b, &arm_b);
    impulse.x = t->drag[0] * s.x + t->drag[1] * q.x;
    impulse.y = t->drag[0] * s.y + t->drag[1] * q.y;
    impulse.z = t->drag[0] * s.z + t->drag[1] * q.z;
    LANE_NAME(drag)(&p, &impulse, &arm_a, &arm_b);
    LANE_NAME(store_couple)(t, movers, spare, &p);
}

// -- filling in and taking out -----------------------------------------------------------------------

IN LANE_NAME(load_side)(const foliot__ease *eases, const uint32_t *slot, LANES *mass, LANES ease[6])
{
    const float *row[COLUMNS];
    LANES out[8];
    for (int l = 0; l < COLUMNS; l++)
        row[l] = &eases[slot[l]].inverse_mass;
    LANE_NAME(gather)(row, out);
    *mass = out[0];
    for (int k = 0; k < 6; k++)
        ease[k] = out[1 + k];
}

// 1 / x, and 0 for what weighs nothing.
IN LANE_NAME(invert)(const LANES *x, LANES *out)
{
    const LANES zero = {0}, one = SPLAT(1);
    MARKS weighs = *x > 0;
    LANES safe = CHOOSE(weighs, *x, one);
    *out = CHOOSE(weighs, one / safe, zero);
}

// What an impulse along n with these torques meets.
IN LANE_NAME(resistance)(const LANES *masses, const EASE *ease_a, const VEC *turn_a, const EASE *ease_b,
                         const VEC *turn_b, LANES *out)
{
    VEC ta, tb;
    LANE_NAME(turned)(ease_a, turn_a, &ta);
    LANE_NAME(turned)(ease_b, turn_b, &tb);
    *out = *masses + (DOT(ta, *turn_a) + DOT(tb, *turn_b));
}

IN LANE_NAME(prepare_friction)(HEAD *t, const VEC *n, const LANES *masses, const EASE *ea,
                               const EASE *eb, const LANES warm[8])
{
    VEC s, q, arm_a, arm_b, sa, sb, qa, qb, ta, tb;
    const LANES zero = {0};
    // Across the normal and in a plane of two axes, away from the axis that is nearest to the normal.
    LANES ax = CHOOSE(n->x < 0, -n->x, n->x), az = CHOOSE(n->z < 0, -n->z, n->z);
    MARKS flat = ax > az;
    s.x = CHOOSE(flat, -n->y, zero);
    s.y = CHOOSE(flat, n->x, -n->z);
    s.z = CHOOSE(flat, zero, n->y);
    LANES length = DOT(s, s);
    LANE_NAME(root)(&length);
    LANE_NAME(invert)(&length, &length);
    s.x *= length;
    s.y *= length;
    s.z *= length;
    LANE_NAME(cross)(n, &s, &q);
    LANE_NAME(store_vec)(t->slide, &s);
    LANE_NAME(load_vec)(t->arm_a, &arm_a);
    LANE_NAME(load_vec)(t->arm_b, &arm_b);
    LANE_NAME(cross)(&arm_a, &s, &sa);
    LANE_NAME(cross)(&arm_b, &s, &sb);
    LANE_NAME(cross)(&arm_a, &q, &qa);
    LANE_NAME(cross)(&arm_b, &q, &qb);
    LANES k00, k11, k01;
    LANE_NAME(resistance)(masses, ea, &sa, eb, &sb, &k00);
    LANE_NAME(resistance)(masses, ea, &qa, eb, &qb, &k11);
    LANE_NAME(turned)(ea, &sa, &ta);
    LANE_NAME(turned)(eb, &sb, &tb);
    k01 = DOT(ta, qa) + DOT(tb, qb);
    LANES determinant = k00 * k11 - k01 * k01;
    LANE_NAME(invert)(&determinant, &determinant);
    t->drag_mass[0] = k11 * determinant;
    t->drag_mass[1] = -k01 * determinant;
    t->drag_mass[2] = k00 * determinant;
    LANES none = {0}, turning;
    LANE_NAME(resistance)(&none, ea, n, eb, n, &turning);
    LANE_NAME(invert)(&turning, &t->twist_mass[0]);
    t->drag[0] = warm[4] * s.x + warm[5] * s.y + warm[6] * s.z;
    t->drag[1] = warm[4] * q.x + warm[5] * q.y + warm[6] * q.z;
    t->twist[0] = warm[7];
}

IN LANE_NAME(prepare_point)(POINT *point, const foliot__manifold *const manifold[COLUMNS], int k,
                            const VEC *n, const LANES *masses, const EASE *ea, const EASE *eb,
                            VEC *arm_a, VEC *arm_b, LANES *used)
{
    const float *row[COLUMNS];
    LANES out[8], weight;
    VEC turn_a, turn_b;
    const LANES zero = {0}, far = SPLAT(FOLIOT__FAR), one = SPLAT(1);
    LANES count = {0};
    for (int l = 0; l < COLUMNS; l++) {
        row[l] = manifold[l]->point[k].arm_a;
        ((float *)&count)[l] = (float)manifold[l]->count;
    }
    LANE_NAME(gather)(row, out);
    MARKS there = count > (float)k;
    for (int i = 0; i < 6; i++)
        out[i] = CHOOSE(there, out[i], zero);
    LANE_NAME(load_vec)(out, arm_a);
    LANE_NAME(load_vec)(out + 3, arm_b);
    LANE_NAME(cross)(arm_a, n, &turn_a);
    LANE_NAME(cross)(arm_b, n, &turn_b);
    LANE_NAME(store_vec)(point->turn_a, &turn_a);
    LANE_NAME(store_vec)(point->turn_b, &turn_b);
    LANE_NAME(resistance)(masses, ea, &turn_a, eb, &turn_b, &weight);
    LANE_NAME(invert)(&weight, &weight);
    point->mass[0] = CHOOSE(there, weight, zero);
    point->gap[0] = CHOOSE(there, out[6], far);
    *used += CHOOSE(there, one, zero);
}

IN LANE_NAME(prepare_block)(HEAD *t, const foliot__collider *c, const int points)
{
    static const foliot__manifold nothing;
    static const foliot__warm cold;
    POINT *point = (POINT *)(void *)(t + 1);
    const foliot__manifold *manifold[COLUMNS];
    const float *row[COLUMNS];
    LANES out[8], warm[8];
    uint32_t spare = c->world->capacity.slots;
    for (int l = 0; l < COLUMNS; l++) {
        uint32_t m = t->manifold[l];
        bool there = m != FOLIOT__NOTHING;
        manifold[l] = there ? &c->manifolds[m] : &nothing;
        uint32_t a = there ? manifold[l]->a : spare, b = there ? manifold[l]->b : spare;
        t->a[l] = c->eases[a].inverse_mass > 0 ? a : spare;
        t->b[l] = c->eases[b].inverse_mass > 0 ? b : spare;
        ((float *)&t->push_max[0])[l] = there ? foliot__push_max(c, a, b) : 0;
        ((float *)&t->friction[0])[l] = c->eases[a].friction * c->eases[b].friction;
        row[l] = there ? c->warm[m].impulse : cold.impulse;
    }
    LANE_NAME(gather)(row, warm);
    for (int l = 0; l < COLUMNS; l++)
        row[l] = (const float *)(const void *)manifold[l];
    LANE_NAME(gather)(row, out);
    VEC n, middle_a, middle_b, arm_a[4], arm_b[4];
    middle_a.x = middle_a.y = middle_a.z = middle_b.x = middle_b.y = middle_b.z = SPLAT(0);
    EASE ea, eb;
    LANE_NAME(load_vec)(out + 3, &n);
    LANE_NAME(store_vec)(t->normal, &n);
    LANE_NAME(load_side)(c->eases, t->a, &t->mass_a[0], t->ease_a);
    LANE_NAME(load_side)(c->eases, t->b, &t->mass_b[0], t->ease_b);
    LANE_NAME(load_ease)(t->ease_a, &ea);
    LANE_NAME(load_ease)(t->ease_b, &eb);
    LANES masses = t->mass_a[0] + t->mass_b[0], used = {0}, share;
    const LANES one = SPLAT(1);
    for (int k = 0; k < points; k++) {
        LANE_NAME(prepare_point)(&point[k], manifold, k, &n, &masses, &ea, &eb, &arm_a[k], &arm_b[k],
                                 &used);
        point[k].push[0] = warm[k];
        LANE_NAME(add)(&middle_a, &one, &arm_a[k]);
        LANE_NAME(add)(&middle_b, &one, &arm_b[k]);
    }
    LANE_NAME(invert)(&used, &share);
    middle_a.x *= share;
    middle_a.y *= share;
    middle_a.z *= share;
    middle_b.x *= share;
    middle_b.y *= share;
    middle_b.z *= share;
    LANE_NAME(store_vec)(t->arm_a, &middle_a);
    LANE_NAME(store_vec)(t->arm_b, &middle_b);
    for (int k = 0; k < points; k++) {
        // Of the body that moves: a plane's arms are 0.
        VEC d;
        MARKS mine = t->mass_a[0] > 0;
        d.x = CHOOSE(mine, arm_a[k].x - middle_a.x, arm_b[k].x - middle_b.x);
        d.y = CHOOSE(mine, arm_a[k].y - middle_a.y, arm_b[k].y - middle_b.y);
        d.z = CHOOSE(mine, arm_a[k].z - middle_a.z, arm_b[k].z - middle_b.z);
        LANES along = DOT(d, n), length = LARGER(DOT(d, d) - along * along, (LANES){0});
        LANE_NAME(root)(&length);
        point[k].lever[0] = length;
    }
    LANE_NAME(prepare_friction)(t, &n, &masses, &ea, &eb, warm);
}

IN LANE_NAME(keep_block)(const HEAD *t, const foliot__collider *c, const int points)
{
    const POINT *point = (const POINT *)(const void *)(t + 1);
    float *row[COLUMNS];
    LANES out[8];
    for (int k = 0; k < 8; k++)
        out[k] = SPLAT(0);
    VEC n, s, q;
    LANE_NAME(load_vec)(t->normal, &n);
    LANE_NAME(load_vec)(t->slide, &s);
    LANE_NAME(cross)(&n, &s, &q);
    for (int k = 0; k < points; k++)
        out[k] = point[k].push[0];
    out[4] = t->drag[0] * s.x + t->drag[1] * q.x;
    out[5] = t->drag[0] * s.y + t->drag[1] * q.y;
    out[6] = t->drag[0] * s.z + t->drag[1] * q.z;
    out[7] = t->twist[0];
    for (int l = 0; l < COLUMNS; l++)
        row[l] = t->manifold[l] == FOLIOT__NOTHING ? NULL : c->warm[t->manifold[l]].impulse;
    LANE_NAME(scatter)(row, out);
}

// One function a number of points, so that its loops are unrolled.
#define ON_KIND(points, call)                                                                      \
    switch (points) {                                                                              \
    case 1:                                                                                        \
        call(1);                                                                                   \
        break;                                                                                     \
    case 2:                                                                                        \
        call(2);                                                                                   \
        break;                                                                                     \
    default:                                                                                       \
        call(4);                                                                                   \
        break;                                                                                     \
    }

static void LANE_NAME(prepare_one)(HEAD *t, const foliot__collider *c, uint32_t points)
{
#define CALL(n) LANE_NAME(prepare_block)(t, c, n)
    ON_KIND(points, CALL)
#undef CALL
}

static void LANE_NAME(warm_one)(const HEAD *t, const foliot__collider *c, uint32_t points)
{
    uint32_t spare = c->world->capacity.slots;
#define CALL(n) LANE_NAME(warm_block)(t, c->movers, spare, n)
    ON_KIND(points, CALL)
#undef CALL
}

static void LANE_NAME(visit_one)(HEAD *t, const foliot__collider *c, const foliot__phase *phase,
                                 uint32_t points)
{
    uint32_t spare = c->world->capacity.slots;
#define CALL(n) LANE_NAME(visit_block)(t, phase, c->movers, spare, n)
    ON_KIND(points, CALL)
#undef CALL
}

static void LANE_NAME(keep_one)(const HEAD *t, const foliot__collider *c, uint32_t points)
{
#define CALL(n) LANE_NAME(keep_block)(t, c, n)
    ON_KIND(points, CALL)
#undef CALL
}

#undef ON_KIND
#undef LANES
#undef MARKS
#undef CHOOSE
#undef SPLAT
#undef LARGER
#undef DOT
#undef VEC
#undef EASE
#undef HEAD
#undef POINT
#undef COUPLE
#undef IN
#undef COLUMNS
#undef LANE_NAME
