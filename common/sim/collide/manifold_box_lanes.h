// SPDX-License-Identifier: MIT
// manifold_box_lanes.h: eight pairs of boxes in vectors of FINE ? binary64 : binary32. Included
// once by each file that defines BOX_KERNEL and FINE. Compilers split the vectors on machines with
// narrower ones; without vectors the pairs are computed one by one. The bits are the same.
//
// 1. The fifteen separating axes (Gottschalk, Lin and Manocha 1996). The axis of greatest
// separation wins. A face of b must beat the faces of a by a tolerance, and an edge must beat the
// faces, so that the choice is stable while the boxes rest.
// 2. For a face: the incident face is the face of the other box most opposed to the winning
// (reference) face. It is projected on the reference face. The corners of their common polygon are
// among the four incident corners, the four reference corners and the sixteen edge crossings. All
// 24 are computed, and those that are not corners are masked out. If a corner is on an edge within
// a tolerance, the corner counts and the crossing does not, so that flush faces keep their points.
// 3. For an edge: the nearest points of the two edges.
#include "sim/collide/manifold_box.h"

#include <string.h>

#include "base/cpu.h"
#include "sim/math/simd.h"

#if FINE
typedef double real;
typedef int64_t mark;
#else
typedef float real;
typedef int32_t mark;
#endif
#if FOLIOT__VECTORS
#define LANES FOLIOT__BOX_LANES // at once
#else
#define LANES 1
#endif
// Aligned to 8 bytes at most, since columns of the batch begin anywhere.
#define ALIGNMENT (LANES * sizeof(real) < 8 ? LANES * sizeof(real) : 8)
typedef real lanes FOLIOT__SIMD_ALIGNED(real, LANES, ALIGNMENT);
typedef mark marks FOLIOT__SIMD_ALIGNED(mark, LANES, ALIGNMENT);
typedef double doubles FOLIOT__SIMD_ALIGNED(double, LANES, 8);

#define TIMES(k, n) FOLIOT__UNROLL(4) for (int k = 0; k < (n); k++)
#define CHOOSE(which, yes, no) FOLIOT__SELECT(lanes, which, yes, no)
#define ABSOLUTE(v) ((lanes)((marks)(v) & ~(marks)signs))
#define DOT(a, b) (((a)[0] * (b)[0] + (a)[1] * (b)[1]) + (a)[2] * (b)[2])
#define LOAD(row) (*(const doubles *)((row) + first)) // from column `first` on

#if FINE
#define TAKE_ROOT(v) FOLIOT__SIMD_SQRT_F64(v)
#else
#define TAKE_ROOT(v) FOLIOT__SIMD_SQRT_F32(v)
#endif

#define PREFERENCE                                                                                 \
    ((real)0x1p-7)               // of the smallest half extent: another axis must be better by this
#define PARALLEL ((real)0x1p-12) // squared sine under which two edges give no axis
#define FLUSH ((real)0x1p-8) // of the smallest half extent: a corner this near to an edge is on it
#define CANDIDATES 24

#if FOLIOT__VECTORS
static const lanes signs = {-(real)0, -(real)0, -(real)0, -(real)0,
                            -(real)0, -(real)0, -(real)0, -(real)0};
static const lanes ones = {1, 1, 1, 1, 1, 1, 1, 1};
#else
static const lanes signs = {-(real)0}, ones = {1};
#endif

typedef struct boxes {
    lanes a[3][3], b[3][3]; // axes, in world axes
    lanes c[3][3];          // a's axes along b's
    lanes ha[3], hb[3], d[3], da[3], db[3];
    lanes distance_max, smallest;
} boxes;

// The axis of greatest separation.
typedef struct axis_choice {
    lanes gap;
    marks by_b;         // a face of b; else of a
    marks axis1, axis2; // of that face: 1, 2; else 0
    marks by_edge;      // no face, but the edges numbered 3 i + j
    marks edge;
    lanes edge_gap; // of the best pair of edges, whether it won or not
} axis_choice;

// The reference face's axes are (out, u, v), and the incident box's likewise.
typedef struct faces {
    lanes ref[3], inc[3];          // half extents
    lanes side, facing;            // +-1: which face of the reference, of the incident box
    lanes centre[3], e1[3], e2[3]; // incident face along the reference's axes; [0] is the gap
    marks inc1, inc2;              // incident axis is 1, 2
    lanes u[CANDIDATES], v[CANDIDATES], gap[CANDIDATES];
    marks valid; // bit k: candidate k is a corner
} faces;

static inline void set_axes(const lanes q[4], lanes axis[3][3])
{
    const real two = 2;
    lanes w = q[0], x = q[1], y = q[2], z = q[3];
    axis[0][0] = ones - two * (y * y + z * z);
    axis[0][1] = two * (x * y + w * z);
    axis[0][2] = two * (x * z - w * y);
    axis[1][0] = two * (x * y - w * z);
    axis[1][1] = ones - two * (x * x + z * z);
    axis[1][2] = two * (y * z + w * x);
    axis[2][0] = two * (x * z + w * y);
    axis[2][1] = two * (y * z - w * x);
    axis[2][2] = ones - two * (x * x + y * y);
}

static inline void load_boxes(const foliot__box_batch *in, uint32_t first, boxes *s)
{
    lanes qa[4], qb[4];
    TIMES(k, 4)
    {
        qa[k] = __builtin_convertvector(LOAD(in->q_a[k]), lanes);
        qb[k] = __builtin_convertvector(LOAD(in->q_b[k]), lanes);
    }
    set_axes(qa, s->a);
    set_axes(qb, s->b);
    s->distance_max = __builtin_convertvector(LOAD(in->distance_max), lanes);
    TIMES(k, 3)
    {
        s->d[k] = __builtin_convertvector(LOAD(in->d[k]), lanes);
        s->ha[k] = __builtin_convertvector(LOAD(in->half_a[k]), lanes);
        s->hb[k] = __builtin_convertvector(LOAD(in->half_b[k]), lanes);
    }
    lanes smallest = s->ha[0];
    TIMES(k, 3)
    {
        smallest = CHOOSE(s->ha[k] < smallest, s->ha[k], smallest);
        smallest = CHOOSE(s->hb[k] < smallest, s->hb[k], smallest);
    }
    s->smallest = smallest;
    TIMES(i, 3)
    {
        s->da[i] = DOT(s->a[i], s->d);
        s->db[i] = DOT(s->b[i], s->d);
        TIMES(j, 3)
        s->c[i][j] = DOT(s->a[i], s->b[j]);
    }
}

static inline void find_face_axis(const boxes *s, lanes c[3][3], axis_choice *best)
{
    lanes gap_a[3], gap_b[3];
    TIMES(k, 3)
    {
        gap_a[k] = ABSOLUTE(s->da[k]) - s->ha[k] - DOT(c[k], s->hb);
        lanes extent = (c[0][k] * s->ha[0] + c[1][k] * s->ha[1]) + c[2][k] * s->ha[2];
        gap_b[k] = ABSOLUTE(s->db[k]) - s->hb[k] - extent;
    }
    marks a1 = gap_a[1] > gap_a[0], b1 = gap_b[1] > gap_b[0];
    lanes a01 = CHOOSE(a1, gap_a[1], gap_a[0]), b01 = CHOOSE(b1, gap_b[1], gap_b[0]);
    marks a2 = gap_a[2] > a01, b2 = gap_b[2] > b01;
    lanes of_a = CHOOSE(a2, gap_a[2], a01), of_b = CHOOSE(b2, gap_b[2], b01);
    marks by_b = of_b > of_a + PREFERENCE * s->smallest;
    best->by_b = by_b;
    best->gap = CHOOSE(by_b, of_b, of_a);
    best->axis2 = (by_b & b2) | (~by_b & a2);
    best->axis1 = ((by_b & b1) | (~by_b & a1)) & ~best->axis2;
}

static inline void find_edge_axis(const boxes *s, lanes c[3][3], axis_choice *best)
{
    lanes edge_gap = ones * -(real)0x1p100;
    marks edge = (marks){0};
    TIMES(i, 3)
    TIMES(j, 3)
    {
        int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
        lanes sine2 = ones - s->c[i][j] * s->c[i][j];
        marks askew = sine2 > PARALLEL;
        sine2 = CHOOSE(askew, sine2, ones);
        TAKE_ROOT(sine2);
        lanes apart = s->da[i2] * s->c[i1][j] - s->da[i1] * s->c[i2][j];
        lanes extent = (s->ha[i1] * c[i2][j] + s->ha[i2] * c[i1][j]) +
                       (s->hb[j1] * c[i][j2] + s->hb[j2] * c[i][j1]);
        lanes gap = (ABSOLUTE(apart) - extent) / sine2;
        marks better = askew & (gap > edge_gap);
        edge_gap = CHOOSE(better, gap, edge_gap);
        edge = (better & (3 * i + j)) | (~better & edge);
    }
    best->edge = edge;
    best->edge_gap = edge_gap;
    best->by_edge = edge_gap > best->gap + PREFERENCE * s->smallest;
    best->gap = CHOOSE(best->by_edge, edge_gap, best->gap);
}

static inline void find_axis(const boxes *s, axis_choice *best)
{
    lanes c[3][3];
    TIMES(i, 3)
    TIMES(j, 3)
    c[i][j] = ABSOLUTE(s->c[i][j]);
    find_face_axis(s, c, best);
    find_edge_axis(s, c, best);
}

// out[k] := the k-th of three, counted from the marked one.
static inline void cycle_axes(const lanes in[3], const marks *axis1, const marks *axis2,
                              lanes out[3])
{
    TIMES(k, 3)
    {
        lanes first = CHOOSE(*axis1, in[(k + 1) % 3], in[k]);
        out[k] = CHOOSE(*axis2, in[(k + 2) % 3], first);
    }
}

// The two faces, in the reference's axes.
static inline void set_faces(const boxes *s, const axis_choice *best, faces *f)
{
    lanes c[3][3], ref[3], inc[3], d[3], t[3], column[3][3];
    marks by_b = best->by_b;
    TIMES(k, 3)
    {
        ref[k] = CHOOSE(by_b, s->hb[k], s->ha[k]);
        inc[k] = CHOOSE(by_b, s->ha[k], s->hb[k]);
        t[k] = CHOOSE(by_b, -s->db[k], s->da[k]);
    }
    cycle_axes(ref, &best->axis1, &best->axis2, f->ref);
    cycle_axes(t, &best->axis1, &best->axis2, d);
    TIMES(j, 3)
    { // column[j][k]: the incident axis j along the reference's k
        TIMES(k, 3)
        c[j][k] = CHOOSE(by_b, s->c[j][k], s->c[k][j]);
        cycle_axes(c[j], &best->axis1, &best->axis2, column[j]);
    }
    lanes look0 = ABSOLUTE(column[0][0]), look1 = ABSOLUTE(column[1][0]);
    lanes look2 = ABSOLUTE(column[2][0]);
    f->inc2 = (look2 > look0) & (look2 > look1);
    f->inc1 = (look1 > look0) & ~f->inc2;
    cycle_axes(inc, &f->inc1, &f->inc2, f->inc);
    f->side = CHOOSE(d[0] < 0, -ones, ones);
    lanes look[3];
    TIMES(k, 3)
    {
        TIMES(j, 3)
        t[j] = column[j][k];
        cycle_axes(t, &f->inc1, &f->inc2, look);
        if (k == 0)
            f->facing = CHOOSE(look[0] * f->side > 0, -ones, ones);
        f->centre[k] = d[k] + f->facing * f->inc[0] * look[0];
        f->e1[k] = f->inc[1] * look[1];
        f->e2[k] = f->inc[2] * look[2];
    }
    f->centre[0] = f->side * f->centre[0] - f->ref[0];
    f->e1[0] *= f->side;
    f->e2[0] *= f->side;
}

static inline void add_candidate(faces *f, int k, lanes *uvg, const marks *valid,
                                 const lanes *distance_max)
{
    f->u[k] = uvg[0];
    f->v[k] = uvg[1];
    f->gap[k] = uvg[2];
    f->valid |= *valid & (uvg[2] <= *distance_max) & ((mark)1 << k);
}

static inline void add_incident_corners(faces *f, const lanes *flush, const lanes *distance_max)
{
    TIMES(k, 4)
    {
        const real alpha = k & 1 ? 1 : -1, beta = k & 2 ? 1 : -1;
        lanes u = (f->centre[1] + alpha * f->e1[1]) + beta * f->e2[1];
        lanes v = (f->centre[2] + alpha * f->e1[2]) + beta * f->e2[2];
        lanes gap = (f->centre[0] + alpha * f->e1[0]) + beta * f->e2[0];
        marks inside = (ABSOLUTE(u) <= f->ref[1] + *flush) & (ABSOLUTE(v) <= f->ref[2] + *flush);
        lanes uvg[3] = {u, v, gap};
        add_candidate(f, k, uvg, &inside, distance_max);
    }
}

// The reference's corners, in units of the incident face's sides. The determinant is at least 0.57,
// because the incident axis is the one most opposed to the reference face.
static inline void add_reference_corners(faces *f, const lanes *flush, const lanes *distance_max)
{
    lanes scale = ones / (f->e1[1] * f->e2[2] - f->e1[2] * f->e2[1]);
    lanes a_high = ones + (real)0.5 * *flush / f->inc[1], a_low = (real)2 * ones - a_high;
    lanes b_high = ones + (real)0.5 * *flush / f->inc[2], b_low = (real)2 * ones - b_high;
    TIMES(k, 4)
    {
        lanes u = k & 1 ? f->ref[1] : -f->ref[1], v = k & 2 ? f->ref[2] : -f->ref[2];
        lanes du = u - f->centre[1], dv = v - f->centre[2];
        lanes alpha = (du * f->e2[2] - dv * f->e2[1]) * scale;
        lanes beta = (dv * f->e1[1] - du * f->e1[2]) * scale;
        lanes a = ABSOLUTE(alpha), b = ABSOLUTE(beta);
        marks inside = (a <= a_high) & (b <= b_high);
        marks corner =
            (a > a_low) & (b > b_low); // at a corner of the other face: that corner counts
        lanes gap = (f->centre[0] + alpha * f->e1[0]) + beta * f->e2[0];
        lanes uvg[3] = {u, v, gap};
        inside &= ~corner;
        add_candidate(f, 4 + k, uvg, &inside, distance_max);
    }
}

// Incident edge number `edge` (fixed side +-1 of e1, or of e2) with the reference's four lines.
static inline void add_crossings(faces *f, int edge, const lanes *flush, const lanes *distance_max)
{
    const lanes *fixed = edge < 2 ? f->e1 : f->e2, *along = edge < 2 ? f->e2 : f->e1;
    const real sign = edge & 1 ? 1 : -1;
    lanes margin = (real)0.25 * *flush, from[3];
    TIMES(k, 3)
    from[k] = f->centre[k] + sign * fixed[k];
    TIMES(line, 4)
    {
        int k = line < 2 ? 1 : 2, other = 3 - k;
        lanes at = line & 1 ? f->ref[k] : -f->ref[k], step = at - from[k];
        lanes t = step / along[k], across = from[other] + t * along[other];
        marks inside = (ABSOLUTE(along[k]) - ABSOLUTE(step) > margin) &
                       (ABSOLUTE(across) < f->ref[other] - margin);
        lanes gap = from[0] + t * along[0];
        lanes uvg[3] = {k == 1 ? at : across, k == 1 ? across : at, gap};
        add_candidate(f, 8 + 4 * edge + line, uvg, &inside, distance_max);
    }
}

static inline void find_corners(const boxes *s, faces *f)
{
    lanes flush = FLUSH * s->smallest, distance_max = s->distance_max;
    f->valid = (marks){0};
    add_incident_corners(f, &flush, &distance_max);
    add_reference_corners(f, &flush, &distance_max);
    TIMES(edge, 4)
    add_crossings(f, edge, &flush, &distance_max);
}

// -- which corners become contact points, and the numbers of the features that meet there

// Which features meet: a corner of b on a face of a, a corner of a on a face of b, or two edges. A
// corner is its three signs; a face its axis and sign; an edge its axis and the other two signs.
enum { CORNER_OF_B = 0 << 8, CORNER_OF_A = 1 << 8, EDGES = 2 << 8 };

typedef struct frame {
    uint32_t axis[3], positive[3]; // in order out, u, v; signs of the face: [0]
} frame;

static inline uint32_t corner_of(const frame *f, uint32_t p1, uint32_t p2)
{
    return f->positive[0] << f->axis[0] | p1 << f->axis[1] | p2 << f->axis[2];
}

static inline uint32_t face_of(const frame *f)
{
    return f->axis[0] << 1 | f->positive[0];
}

// The edge at the side p of axis[1] (side 1) or axis[2] (side 2).
static inline uint32_t edge_of(const frame *f, int side, uint32_t p)
{
    return side == 1 ? f->axis[2] << 2 | f->positive[0] | p << 1
                     : f->axis[1] << 2 | p | f->positive[0] << 1;
}

static inline uint32_t feature_of(const frame *ref, const frame *inc, bool by_b, uint32_t k)
{
    uint32_t of_ref, of_inc, kind;
    if (k < 4) {
        of_ref = face_of(ref);
        of_inc = corner_of(inc, k & 1, k >> 1 & 1);
        kind = by_b ? CORNER_OF_A : CORNER_OF_B;
    } else if (k < 8) {
        of_ref = corner_of(ref, k & 1, k >> 1 & 1);
        of_inc = face_of(inc);
        kind = by_b ? CORNER_OF_B : CORNER_OF_A;
    } else {
        uint32_t edge = (k - 8) >> 2, line = k & 3;
        of_ref = edge_of(ref, line < 2 ? 1 : 2, line & 1);
        of_inc = edge_of(inc, edge < 2 ? 1 : 2, edge & 1);
        kind = EDGES;
    }
    return kind | (by_b ? of_inc << 4 | of_ref : of_ref << 4 | of_inc);
}

typedef struct corner {
    real u, v, gap;
    uint32_t k;
} corner;

static inline real twice_area(const corner *p, const corner *q, const corner *r)
{
    return (q->u - p->u) * (r->v - p->v) - (q->v - p->v) * (r->u - p->u);
}

// Keeps four of the corners: one of the deepest, the one farthest from it, and those that span the
// largest triangle on either side. A later corner replaces an earlier one only if it is better by a
// margin, so that equal ones do not alternate.
static uint32_t keep_four(const corner *in, uint32_t count, real margin)
{
    const real more = (real)(1 + 0x1p-6);
    uint32_t deepest = 0, far = 0, left = 0, right = 0;
    for (uint32_t i = 1; i < count; i++)
        if (in[i].gap < in[deepest].gap - margin)
            deepest = i;
    real best = 0, best_left = 0, best_right = 0;
    for (uint32_t i = 0; i < count; i++) {
        real du = in[i].u - in[deepest].u, dv = in[i].v - in[deepest].v;
        real away2 = du * du + dv * dv;
        if (away2 > best * more) {
            best = away2;
            far = i;
        }
    }
    left = right = far;
    for (uint32_t i = 0; i < count; i++) {
        real area = twice_area(&in[deepest], &in[far], &in[i]);
        if (area > best_left * more) {
            best_left = area;
            left = i;
        }
        if (-area > best_right * more) {
            best_right = -area;
            right = i;
        }
    }
    return 1u << deepest | 1u << far | 1u << left | 1u << right;
}

#define SWAP_IF(i, j)                                                                              \
    do {                                                                                           \
        uint32_t low = key[i] < key[j] ? key[i] : key[j];                                          \
        key[j] = key[i] < key[j] ? key[j] : key[i];                                                \
        key[i] = low;                                                                              \
    } while (0)

// The corners of lane l as feature << 5 | candidate, ascending. Returns how many.
static inline uint32_t choose_corners(const faces *f, int l, const frame *ref, const frame *inc,
                                      bool by_b, real margin, uint32_t key[4])
{
    uint32_t bits = (uint32_t)f->valid[l], count = 0;
    if (__builtin_popcount(bits) > 4) {
        corner all[CANDIDATES] = {{0, 0, 0, 0}};
        uint32_t n = 0, left = bits;
        for (; left; left &= left - 1, n++) {
            uint32_t k = (uint32_t)__builtin_ctz(left);
            all[n] = (corner){f->u[k][l], f->v[k][l], f->gap[k][l], k};
        }
        uint32_t kept = keep_four(all, n, margin);
        for (bits = 0; kept; kept &= kept - 1)
            bits |= 1u << all[__builtin_ctz(kept)].k;
    }
    key[0] = key[1] = key[2] = key[3] = UINT32_MAX;
    for (; bits; bits &= bits - 1) {
        uint32_t k = (uint32_t)__builtin_ctz(bits);
        key[count++] = feature_of(ref, inc, by_b, k) << 5 | k;
    }
    SWAP_IF(0, 1);
    SWAP_IF(2, 3);
    SWAP_IF(0, 2);
    SWAP_IF(1, 3);
    SWAP_IF(1, 2);
    return count;
}

// The nearest points of edge i of a and edge j of b, whose axes give the normal.
static void collide_edges(const boxes *s, int l, mark edge, foliot__manifold *m)
{
    int i = (int)edge / 3, j = (int)edge % 3;
    real a[3][3], b[3][3], d[3], n[3], pa[3], pb[3], from[3], length2 = 0, toward = 0;
    for (int k = 0; k < 3; k++) {
        d[k] = s->d[k][l];
        for (int x = 0; x < 3; x++) {
            a[k][x] = s->a[k][x][l];
            b[k][x] = s->b[k][x][l];
        }
    }
    for (int k = 0; k < 3; k++) {
        n[k] = a[i][(k + 1) % 3] * b[j][(k + 2) % 3] - a[i][(k + 2) % 3] * b[j][(k + 1) % 3];
        length2 += n[k] * n[k];
        toward += n[k] * d[k];
    }
    real scale = (toward < 0 ? -1 : 1) / (real)__builtin_sqrt((double)length2);
    uint32_t edge_a = (uint32_t)i << 2, edge_b = (uint32_t)j << 2;
    for (int k = 0; k < 3; k++) {
        n[k] *= scale;
        pa[k] = 0;
        pb[k] = d[k];
    }
    for (int k = 1; k < 3; k++) {
        int ka = (i + k) % 3, kb = (j + k) % 3;
        bool out_a = DOT(n, a[ka]) > 0, out_b = !(DOT(n, b[kb]) > 0);
        real ha = out_a ? s->ha[ka][l] : -s->ha[ka][l], hb = out_b ? s->hb[kb][l] : -s->hb[kb][l];
        edge_a |= (uint32_t)out_a << (k - 1);
        edge_b |= (uint32_t)out_b << (k - 1);
        for (int x = 0; x < 3; x++) {
            pa[x] += ha * a[ka][x];
            pb[x] += hb * b[kb][x];
        }
    }
    for (int k = 0; k < 3; k++)
        from[k] = pb[k] - pa[k];
    real cosine = s->c[i][j][l], along_a = DOT(a[i], from), along_b = DOT(b[j], from);
    real sine2 = 1 - cosine * cosine, ha = s->ha[i][l], hb = s->hb[j][l];
    real at_a = (along_a - cosine * along_b) / sine2;
    at_a = at_a < -ha ? -ha : at_a > ha ? ha : at_a;
    real at_b = cosine * at_a - along_b;
    at_b = at_b < -hb ? -hb : at_b > hb ? hb : at_b;
    real gap = DOT(from, n);
    for (int k = 0; k < 3; k++) {
        pa[k] += at_a * a[i][k];
        pb[k] += at_b * b[j][k];
        from[k] = pb[k] - pa[k];
    }
    real apart = (real)__builtin_sqrt((double)DOT(from, from));
    if (gap > 0 &&
        apart > gap * (real)(1 + 0x1p-10)) { // beyond an end: the corners miss each other
        gap = apart;
        for (int k = 0; k < 3; k++)
            n[k] = from[k] / apart;
    }
    if (!(gap <= s->distance_max[l]))
        return;
    m->count = 1;
    m->point[0].gap = (float)gap;
    m->point[0].feature = EDGES | edge_a << 4 | edge_b;
    for (int k = 0; k < 3; k++) {
        real at = (pa[k] + pb[k]) / 2;
        m->normal[k] = (float)n[k];
        m->point[0].arm_a[k] = (float)at;
        m->point[0].arm_b[k] = (float)(at - d[k]);
    }
}

// -- all of them

typedef struct slots {
    lanes u[FOLIOT__POINTS], v[FOLIOT__POINTS], gap[FOLIOT__POINTS];
} slots;

static inline frame frame_of(mark axis1, mark axis2, real side)
{
    uint32_t first = axis2 ? 2 : axis1 ? 1 : 0, positive = side > 0;
    return (frame){{first, first == 2 ? 0 : first + 1, first == 0 ? 2 : first - 1},
                   {positive, 0, 0}};
}

// Chooses the points of one pair. Their places in the world are computed for all pairs at once.
static inline void choose_points(const boxes *s, const axis_choice *best, const faces *f, int l,
                                 slots *p, foliot__manifold *m)
{
    bool by_b = best->by_b[l] != 0;
    frame ref = frame_of(best->axis1[l], best->axis2[l], f->side[l]);
    frame inc = frame_of(f->inc1[l], f->inc2[l], f->facing[l]);
    uint32_t key[4];
    m->count = choose_corners(f, l, &ref, &inc, by_b, FLUSH * s->smallest[l], key);
    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t k = key[i] & 31;
        p->u[i][l] = f->u[k][l];
        p->v[i][l] = f->v[k][l];
        p->gap[i][l] = f->gap[k][l];
        m->point[i].feature = key[i] >> 5;
    }
}

static inline void place_points(const boxes *s, const axis_choice *best, const faces *f,
                                const slots *p, uint32_t count, const marks *by_face,
                                foliot__manifold *const *out)
{
    lanes axis[3][3], from[3], arm[2][3];
    TIMES(x, 3)
    {
        lanes of[3], turned[3];
        TIMES(k, 3)
        of[k] = CHOOSE(best->by_b, s->b[k][x], s->a[k][x]);
        cycle_axes(of, &best->axis1, &best->axis2, turned);
        axis[0][x] = turned[0] * f->side;
        axis[1][x] = turned[1];
        axis[2][x] = turned[2];
        from[x] = CHOOSE(best->by_b, -s->d[x], s->d[x]);
        lanes normal = CHOOSE(best->by_b, -axis[0][x], axis[0][x]);
        for (uint32_t l = 0; l < count; l++)
            if ((*by_face)[l])
                out[l]->normal[x] = (float)normal[l];
    }
    TIMES(i, FOLIOT__POINTS)
    {
        lanes high = f->ref[0] + (real)0.5 * p->gap[i];
        TIMES(x, 3)
        {
            lanes at = (axis[0][x] * high + axis[1][x] * p->u[i]) + axis[2][x] * p->v[i];
            lanes other = at - from[x];
            arm[0][x] = CHOOSE(best->by_b, other, at);
            arm[1][x] = CHOOSE(best->by_b, at, other);
        }
        for (uint32_t l = 0; l < count; l++) {
            if (!(*by_face)[l] || (uint32_t)i >= out[l]->count)
                continue;
            foliot__manifold_point *to = &out[l]->point[i];
            TIMES(x, 3)
            {
                to->arm_a[x] = (float)arm[0][x][l];
                to->arm_b[x] = (float)arm[1][x][l];
            }
            to->gap = (float)p->gap[i][l];
        }
    }
}

static inline bool any_set(const marks *which)
{
    mark all = 0;
    TIMES(l, LANES)
    all |= (*which)[l];
    return all != 0;
}

// `count` pairs, LANES at most, from column `first` on.
static inline __attribute__((always_inline)) void collide_columns(const foliot__box_batch *in,
                                                                  uint32_t first, uint32_t count,
                                                                  foliot__manifold *const *out)
{
    boxes s;
    axis_choice best;
    faces f;
    slots p;
    memset(&p, 0, sizeof p);
    load_boxes(in, first, &s);
    find_axis(&s, &best);
    marks near = best.gap <= s.distance_max, by_face = near & ~best.by_edge;
    for (uint32_t l = 0; l < count; l++)
        out[l]->count = 0;
    if (any_set(&by_face)) {
        set_faces(&s, &best, &f);
        find_corners(&s, &f);
        for (uint32_t l = 0; l < count; l++)
            if (by_face[l])
                choose_points(&s, &best, &f, (int)l, &p, out[l]);
        place_points(&s, &best, &f, &p, count, &by_face, out);
    }
    // Edges, and boxes that overlap at a corner that is not above the face.
    for (uint32_t l = 0; l < count; l++) {
        bool hidden = by_face[l] && out[l]->count == 0 && best.gap[l] <= 0 &&
                      best.edge_gap[l] > -(real)0x1p99;
        if ((near[l] && best.by_edge[l]) || hidden)
            collide_edges(&s, (int)l, best.edge[l], out[l]);
    }
}

void BOX_KERNEL(const foliot__box_batch *in, uint32_t count, foliot__manifold *const *out)
{
#if FOLIOT__VECTORS
    collide_columns(in, 0, count, out);
#else
    for (uint32_t k = 0; k < count; k++)
        collide_columns(in, k, 1, out + k);
#endif
}
