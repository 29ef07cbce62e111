// SPDX-License-Identifier: MIT
// manifold_box_features.h: which corners of two boxes' common polygon become contact points, and
// the numbers of the features that meet there. Included by manifold_box_lanes.h, one pair at a
// time.

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
