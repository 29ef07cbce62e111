// SPDX-License-Identifier: MIT
// shape.c: contacts of capsules with each other, with boxes and with planes, and of boxes with
// planes; and how far apart two solids of any kinds are, and where they are nearest. A sphere is a
// capsule of length 0. Binary64, one pair at a time.
//
// A capsule parallel to another capsule, to a face or to an edge gets two points, at the ends of
// the part that they share. Otherwise there is one point, where the two are nearest.
#include "sim/collide/shape.h"
#include "sim/collide/manifold_box.h"
#include "sim/math/simd.h"

#define PARALLEL_SINE2 0x1p-7 // squared sine below which two segments are parallel (5 degrees)
#define SHARED_MIN 0x1p-8     // of a radius: a shorter shared part gives one point
#define MISS_MAX 0x1p-6       // of a radius: a point that the normal misses by more is dropped
#define LENGTH_MIN 0x1p-40    // of the size: a shorter vector gives no direction
#define NOWHERE 0x1p100
#define PREFERENCE 0x1p-8 // of a radius: an edge must be better than a face by this

static double half_length(const foliot__solid *s)
{
    return s->kind == FOLIOT_SHAPE_CAPSULE ? s->half[2] : 0;
}

// -- capsule and capsule

typedef struct segment_pair {
    vec3 u, v, d;        // directions; from the middle of the first to that of the second
    double la, lb;       // half lengths
    double cosine, f, g; // u.v, u.d, v.d
} segment_pair;

static double nearest_on_b(const segment_pair *p, double s)
{
    return foliot__clamp(p->cosine * s - p->g, -p->lb, p->lb);
}

// From the first's point s to the second's point t.
static vec3 difference_of(const segment_pair *p, double s, double t)
{
    return vec3_sub(vec3_add(p->d, vec3_scale(p->v, t)), vec3_scale(p->u, s));
}

static uint32_t end_feature(double s, double half)
{
    return s <= -half ? 1 : s >= half ? 2 : 0;
}

// The normal of two segments that intersect, or nearly do.
static vec3 crossing_normal(const segment_pair *p)
{
    vec3 across = vec3_cross(p->u, p->v);
    double sine2 = vec3_dot(across, across);
    if (p->la > 0 && p->lb > 0 && sine2 > LENGTH_MIN)
        return vec3_scale(across, (vec3_dot(across, p->d) < 0 ? -1 : 1) / foliot__sqrt(sine2));
    if (!(p->la > 0 || p->lb > 0))
        return (vec3){0, 0, 1};
    // Across the segment and the axis that it is farthest from.
    vec3 u = p->la > 0 ? p->u : p->v;
    double x = foliot__absolute(u.x), y = foliot__absolute(u.y), z = foliot__absolute(u.z);
    const vec3 axis = {x <= y && x <= z ? 1 : 0, y < x && y <= z ? 1 : 0, z < x && z < y ? 1 : 0};
    vec3 n = vec3_cross(u, axis);
    return vec3_divide(n, vec3_length(n));
}

static void add_capsule_point(const segment_pair *p, double s, double radius_a, double gap,
                              uint32_t feature, foliot__shape_contact *t)
{
    vec3 at = vec3_add(vec3_scale(p->u, s), vec3_scale(t->normal, radius_a + gap / 2));
    t->point[t->count++] = (foliot__shape_contact_point){at, gap, feature};
}

// Adds the two ends of the part that both segments share, measured along the first. False if that
// part is too short for two points.
static bool add_shared_ends(const segment_pair *p, double radius_a, double radius_b,
                            double distance_max, foliot__shape_contact *t)
{
    double span_b = p->lb * foliot__absolute(p->cosine), sum = radius_a + radius_b;
    double low = foliot__larger(-p->la, p->f - span_b);
    double high = foliot__smaller(p->la, p->f + span_b);
    if (!(high - low > SHARED_MIN * foliot__smaller(radius_a, radius_b)))
        return false;
    const double ends[2] = {low, high};
    for (int e = 0; e < 2; e++) {
        double s = ends[e];
        vec3 w = difference_of(p, s, nearest_on_b(p, s));
        double along = vec3_dot(w, t->normal), gap = along - sum;
        if (along > 0 && vec3_length(w) - along > MISS_MAX * sum) {
            t->count = 0;
            return false;
        }
        bool own = e == 0 ? s == -p->la : s == p->la;
        bool forward = (e == 0) == (p->cosine > 0); // the low end is the first end of b
        uint32_t feature = own ? 1 + (uint32_t)e : forward ? 4 : 8;
        if (gap <= distance_max)
            add_capsule_point(p, s, radius_a, gap, feature, t);
    }
    return t->count > 0;
}

void foliot__collide_capsules(const foliot__solid *a, const foliot__solid *b, vec3 d,
                              double distance_max, foliot__shape_contact *t)
{
    segment_pair p = {.u = a->axis.row[2], .v = b->axis.row[2], .d = d};
    p.la = half_length(a);
    p.lb = half_length(b);
    p.cosine = vec3_dot(p.u, p.v);
    p.f = vec3_dot(p.u, d);
    p.g = vec3_dot(p.v, d);
    double sine2 = 1 - p.cosine * p.cosine, sum = a->radius + b->radius;
    // The nearest points s and s_b (Ericson, Real-Time Collision Detection, 5.1.9).
    double s = 0;
    if (sine2 > LENGTH_MIN)
        s = foliot__clamp((p.f - p.cosine * p.g) / sine2, -p.la, p.la);
    double s_b = nearest_on_b(&p, s);
    s = foliot__clamp(p.f + p.cosine * s_b, -p.la, p.la);
    vec3 w = difference_of(&p, s, s_b);
    double distance2 = vec3_dot(w, w);
    if (!(distance2 <= (sum + distance_max) * (sum + distance_max)))
        return;
    double distance = foliot__sqrt(distance2);
    t->normal = distance > (sum + p.la + p.lb) * LENGTH_MIN ? vec3_divide(w, distance)
                                                            : crossing_normal(&p);
    double along_normal = vec3_dot(t->normal, p.u);
    if (sine2 < PARALLEL_SINE2 && along_normal * along_normal < PARALLEL_SINE2 &&
        add_shared_ends(&p, a->radius, b->radius, distance_max, t))
        return;
    uint32_t feature = end_feature(s, p.la) | end_feature(s_b, p.lb) << 2;
    add_capsule_point(&p, s, a->radius, distance - sum, feature, t);
}

// -- capsule and box

// The segment of the capsule in the axes of the box: p + t e, |t| <= half.
typedef struct rod {
    double p[3], e[3], half;
    const double *box; // half extents
} rod;

// From the nearest point of the box to the rod's point t.
static vec3 excess_at(const rod *r, double t)
{
    const double *h = r->box;
    vec3 x = vec3_add(vec3_of(r->p), vec3_scale(vec3_of(r->e), t));
    return (vec3){x.x - foliot__clamp(x.x, -h[0], h[0]), x.y - foliot__clamp(x.y, -h[1], h[1]),
                  x.z - foliot__clamp(x.z, -h[2], h[2])};
}

// Two points of the rod at once: where it crosses the planes of two opposite faces, or its ends if
// it does not cross them.
typedef double two FOLIOT__SIMD(double, 2);
typedef int64_t marks FOLIOT__SIMD(int64_t, 2);

#define SELECT(which, yes, no) FOLIOT__SELECT(two, which, yes, no)

static two distance_slopes(const rod *r, two t)
{
    two along[3];
    for (int k = 0; k < 3; k++) {
        const two low = {-r->box[k], -r->box[k]}, high = {r->box[k], r->box[k]};
        two x = r->p[k] + t * r->e[k], inside = SELECT(x > high, high, x);
        along[k] = (x - SELECT(x < low, low, inside)) * r->e[k];
    }
    return (along[0] + along[1]) + along[2];
}

// The rod's point nearest to the box. Half the derivative of the squared distance is piecewise
// linear and increasing. It passes 0 there, between the last crossing at which it is negative and
// the first at which it is not.
static double nearest_on_rod(const rod *r)
{
    double first = vec3_dot(excess_at(r, -r->half), vec3_of(r->e));
    double last = vec3_dot(excess_at(r, r->half), vec3_of(r->e));
    if (first >= 0)
        return -r->half;
    if (!(last >= 0))
        return r->half;
    const two begin = {-r->half, -r->half}, end = {r->half, r->half};
    two low = begin, high = end, before = {first, first}, after = {last, last};
    for (int k = 0; k < 3; k++) {
        two t = begin;
        if (r->e[k] != 0) {
            t = ((two){-r->box[k], r->box[k]} - r->p[k]) / r->e[k];
            t = SELECT(t > begin, t, begin);
            t = SELECT(t < end, t, end);
        }
        two here = distance_slopes(r, t);
        marks below = here < 0, later = below & (t > low), sooner = ~below & (t < high);
        low = SELECT(later, t, low);
        before = SELECT(later, here, before);
        high = SELECT(sooner, t, high);
        after = SELECT(sooner, here, after);
    }
    int l = low[1] > low[0], h = high[1] < high[0];
    return low[l] + (high[h] - low[l]) * (-before[l] / (after[h] - before[l]));
}

// A direction out of the box, in the box's axes, and the separation of the rod along it.
typedef struct exit_direction {
    double n[3], gap;
    int face; // axis, or 3 for the edge along `edge`
    int edge;
} exit_direction;

// The direction of least overlap. An edge must be better than the faces by the preference.
static exit_direction exit_from_box(const rod *r, double preference)
{
    exit_direction best = {.face = 3};
    for (int k = 0; k < 3; k++) {
        double gap = foliot__absolute(r->p[k]) - foliot__absolute(r->e[k]) * r->half - r->box[k];
        if (best.face < 3 && !(gap > best.gap))
            continue;
        best = (exit_direction){.gap = gap, .face = k};
        best.n[k] = r->p[k] < 0 ? -1 : 1;
    }
    for (int k = 0; k < 3 && r->half > 0; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        double ni = -r->e[j], nj = r->e[i], length = foliot__sqrt(ni * ni + nj * nj);
        if (!(length > 0x1p-10))
            continue;
        ni /= length;
        nj /= length;
        double along = r->p[i] * ni + r->p[j] * nj, sign = along < 0 ? -1 : 1;
        double gap =
            along * sign - (r->box[i] * foliot__absolute(ni) + r->box[j] * foliot__absolute(nj));
        if (!(gap > best.gap + preference))
            continue;
        best = (exit_direction){.gap = gap, .face = 3, .edge = k};
        best.n[i] = ni * sign;
        best.n[j] = nj * sign;
    }
    return best;
}

// The part of the rod over the box along the axes of `mask`. False if there is none.
static bool clip_rod(const rod *r, unsigned mask, double t[2], uint32_t feature[2])
{
    t[0] = -r->half;
    t[1] = r->half;
    feature[0] = 0;
    feature[1] = 1;
    for (int k = 0; k < 3; k++) {
        if (!(mask >> k & 1))
            continue;
        if (foliot__absolute(r->e[k]) < 0x1p-30) {
            if (foliot__absolute(r->p[k]) > r->box[k])
                return false;
            continue;
        }
        double sign = r->e[k] < 0 ? -1 : 1;
        double in = (-sign * r->box[k] - r->p[k]) / r->e[k];
        double out = (sign * r->box[k] - r->p[k]) / r->e[k];
        if (in > t[0]) {
            t[0] = in;
            feature[0] = 2 + 2 * (uint32_t)k + (sign > 0 ? 0 : 1);
        }
        if (out < t[1]) {
            t[1] = out;
            feature[1] = 2 + 2 * (uint32_t)k + (sign > 0 ? 1 : 0);
        }
    }
    return t[1] > t[0];
}

// Where a rod that pierces the box near an edge is nearest to that edge's line.
static double nearest_to_edge(const rod *r, const exit_direction *exit)
{
    double ee = 1 - r->e[exit->edge] * r->e[exit->edge], along = 0;
    for (int k = 0; k < 3; k++)
        if (k != exit->edge)
            along += r->e[k] * ((exit->n[k] < 0 ? -r->box[k] : r->box[k]) - r->p[k]);
    return ee > 0x1p-20 ? foliot__clamp(along / ee, -r->half, r->half) : 0;
}

typedef struct rod_contact {
    const foliot__solid *capsule;
    rod r;
    double n[3]; // out of the box, in its axes
    double distance_max;
    foliot__shape_contact *t;
} rod_contact;

// The rod's point s, `height` above the surface of the box along the normal.
static void add_rod_point(rod_contact *w, double s, double height, uint32_t feature)
{
    double radius = w->capsule->radius, gap = height - radius;
    if (!(gap <= w->distance_max))
        return;
    vec3 at = vec3_add(vec3_scale(w->capsule->axis.row[2], s),
                       vec3_scale(w->t->normal, radius + gap / 2));
    w->t->point[w->t->count++] = (foliot__shape_contact_point){at, gap, feature};
}

// Adds two points if the rod is parallel to a face or to an edge.
static bool add_two_points(rod_contact *w, unsigned mask)
{
    const rod *r = &w->r;
    double s[2];
    uint32_t feature[2];
    if (!clip_rod(r, mask, s, feature) || !(s[1] - s[0] > SHARED_MIN * w->capsule->radius))
        return false;
    for (int e = 0; e < 2; e++) {
        double height = 0; // above the vertex, edge or face that the normal points to
        for (int k = 0; k < 3; k++)
            if (w->n[k] != 0)
                height +=
                    w->n[k] * (r->p[k] + s[e] * r->e[k] - (w->n[k] < 0 ? -r->box[k] : r->box[k]));
        if (height > 0 &&
            vec3_length(excess_at(r, s[e])) - height > MISS_MAX * w->capsule->radius) {
            w->t->count = 0;
            return false;
        }
        add_rod_point(w, s[e], height, feature[e]);
    }
    return w->t->count > 0;
}

static bool is_parallel(const rod_contact *w, unsigned mask)
{
    if (w->r.half == 0)
        return false;
    double along_normal = foliot__vec3_dot(w->n, w->r.e);
    if (mask == 1 || mask == 2 || mask == 4) { // an edge along that axis
        double e = w->r.e[mask == 1 ? 0 : mask == 2 ? 1 : 2];
        return 1 - e * e < PARALLEL_SINE2;
    }
    return along_normal * along_normal < 0.25 && (mask == 3 || mask == 5 || mask == 6);
}

// Numbers the rod's end, or the part of the box that it is nearest to.
static uint32_t rod_feature(const rod_contact *w, double s)
{
    if (s <= -w->r.half)
        return 0;
    if (s >= w->r.half)
        return 1;
    uint32_t mark = 0;
    for (int k = 0; k < 3; k++)
        mark = mark * 3 + (w->n[k] < 0 ? 1 : w->n[k] > 0 ? 2 : 0);
    return 16 + mark;
}

void foliot__collide_capsule_box(const foliot__solid *capsule, const foliot__solid *box, vec3 d,
                                 double distance_max, foliot__shape_contact *t)
{
    rod_contact w = {.capsule = capsule, .distance_max = distance_max, .t = t};
    vec3_store(vec3_negate(mat3_apply(box->axis, d)), w.r.p);
    vec3_store(mat3_apply(box->axis, capsule->axis.row[2]), w.r.e);
    w.r.half = half_length(capsule);
    w.r.box = box->half;
    double s = nearest_on_rod(&w.r), radius = capsule->radius;
    vec3 excess = excess_at(&w.r, s);
    double distance2 = vec3_dot(excess, excess);
    if (!(distance2 <= (radius + distance_max) * (radius + distance_max)))
        return;
    double distance = foliot__sqrt(distance2);
    if (distance > LENGTH_MIN * (radius + w.r.half)) {
        vec3_store(vec3_divide(excess, distance), w.n);
    } else {
        exit_direction exit = exit_from_box(&w.r, PREFERENCE * radius);
        vec3_store(vec3_of(exit.n), w.n);
        distance = exit.gap;
        double along_normal = foliot__vec3_dot(w.n, w.r.e);
        s = exit.face < 3 ? (along_normal > 0   ? -w.r.half
                             : along_normal < 0 ? w.r.half
                                                : 0)
                          : nearest_to_edge(&w.r, &exit);
    }
    t->normal = vec3_negate(mat3_apply_transposed(box->axis, vec3_of(w.n)));
    unsigned across = (w.n[0] == 0) | (unsigned)(w.n[1] == 0) << 1 | (unsigned)(w.n[2] == 0) << 2;
    if (is_parallel(&w, across) && add_two_points(&w, across))
        return;
    add_rod_point(&w, s, distance, rod_feature(&w, s));
}

// -- planes

static void add_plane_point(const foliot__solid *plane, double centre, vec3 from, double radius,
                            double distance_max, uint32_t feature, foliot__shape_contact *t)
{
    vec3 n = vec3_of(plane->half);
    double gap = (centre + vec3_dot(n, from)) - radius;
    if (!(gap <= distance_max))
        return;
    vec3 at = vec3_sub(from, vec3_scale(n, radius + gap / 2));
    t->point[t->count++] = (foliot__shape_contact_point){at, gap, feature};
}

// Adds the four corners of the lowest face. Bit k of a corner's number is the sign of its axis k.
static void collide_box_plane(const foliot__solid *box, const foliot__solid *plane, double centre,
                              double distance_max, foliot__shape_contact *t)
{
    double rise[3];
    uint32_t lowest = 0; // corner
    int face = 0;
    for (int k = 0; k < 3; k++) {
        double along = vec3_dot(box->axis.row[k], vec3_of(plane->half)) * box->half[k];
        rise[k] = foliot__absolute(along);
        lowest |= (along > 0 ? 0u : 1u) << k;
        face = rise[k] > rise[face] ? k : face;
    }
    if (!(centre - (rise[0] + rise[1] + rise[2]) <= distance_max))
        return;
    for (uint32_t corner = 0; corner < 8; corner++) {
        if ((corner ^ lowest) >> face & 1)
            continue;
        vec3 from = {0, 0, 0};
        for (int k = 0; k < 3; k++) {
            double side = corner >> k & 1 ? box->half[k] : -box->half[k];
            from = vec3_add(from, vec3_scale(box->axis.row[k], side));
        }
        add_plane_point(plane, centre, from, 0, distance_max, corner, t);
    }
}

void foliot__collide_plane(const foliot__solid *solid, const foliot__solid *plane,
                           double distance_max, foliot__shape_contact *t)
{
    double centre = vec3_dot(vec3_of(plane->half), solid->x) - plane->offset;
    t->normal = vec3_negate(vec3_of(plane->half));
    if (solid->kind == FOLIOT_SHAPE_BOX) {
        collide_box_plane(solid, plane, centre, distance_max, t);
        return;
    }
    double half = half_length(solid);
    for (uint32_t e = 0; e < (half == 0 ? 1 : 2); e++) {
        vec3 from = vec3_scale(solid->axis.row[2], e == 0 ? -half : half);
        add_plane_point(plane, centre, from, solid->radius, distance_max, e, t);
    }
}

// -- gaps

// The greatest separation so far, and its axis: 0 to 2 a's, 3 to 5 b's, from 6 on their products.
typedef struct box_verdict {
    double gap, length, along;
    int axis;
} box_verdict;

static inline void keep_largest_gap(box_verdict *best, double gap, double length, double along,
                                    int axis)
{
    if (gap > best->gap)
        *best = (box_verdict){gap, length, along, axis};
}

// The greatest separation among the fifteen axes of two boxes (Gottschalk, Lin and Manocha 1996);
// exact where they touch.
double foliot__gap_of_boxes(const foliot__solid *a, const foliot__solid *b, vec3 d, vec3 *n)
{
    const double *ha = a->half, *hb = b->half;
    double da[3], db[3];         // from centre to centre along the axes of each
    double c[3][3], c_abs[3][3]; // a's axes along b's
    box_verdict best = {.gap = -NOWHERE};
    for (int i = 0; i < 3; i++) {
        da[i] = vec3_dot(d, a->axis.row[i]);
        db[i] = vec3_dot(d, b->axis.row[i]);
        for (int j = 0; j < 3; j++) {
            c[i][j] = vec3_dot(a->axis.row[i], b->axis.row[j]);
            c_abs[i][j] = foliot__absolute(c[i][j]);
        }
    }
    for (int k = 0; k < 3; k++) {
        double extent = (c_abs[k][0] * hb[0] + c_abs[k][1] * hb[1]) + c_abs[k][2] * hb[2];
        keep_largest_gap(&best, foliot__absolute(da[k]) - ha[k] - extent, 1, da[k], k);
    }
    for (int k = 0; k < 3; k++) {
        double extent = (c_abs[0][k] * ha[0] + c_abs[1][k] * ha[1]) + c_abs[2][k] * ha[2];
        keep_largest_gap(&best, foliot__absolute(db[k]) - hb[k] - extent, 1, db[k], 3 + k);
    }
    FOLIOT__UNROLL(3)
    for (int i = 0; i < 3; i++) // the products of a's axis i and b's axes
        for (int j = 0; j < 3; j++) {
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
            int j1 = j == 2 ? 0 : j + 1, j2 = j == 0 ? 2 : j - 1;
            double sine2 = 1 - c_abs[i][j] * c_abs[i][j];
            double along = da[i2] * c[i1][j] - da[i1] * c[i2][j];
            double extent = (ha[i1] * c_abs[i2][j] + ha[i2] * c_abs[i1][j]) +
                            (hb[j1] * c_abs[i][j2] + hb[j2] * c_abs[i][j1]);
            if (sine2 < 0x1p-20) // parallel edges: the faces decide
                continue;
            double sine = foliot__sqrt(sine2);
            keep_largest_gap(&best, (foliot__absolute(along) - extent) / sine, sine, along,
                             6 + 3 * i + j);
        }
    double sign = best.along < 0 ? -1 : 1;
    vec3 axis = best.axis < 3   ? a->axis.row[best.axis]
                : best.axis < 6 ? b->axis.row[best.axis - 3]
                                : vec3_cross(a->axis.row[(best.axis - 6) / 3],
                                             b->axis.row[(best.axis - 6) % 3]);
    *n = vec3_divide(vec3_scale(axis, sign), best.length);
    return best.gap;
}

bool foliot__collide_two(const foliot__solid *a, const foliot__solid *b, vec3 d,
                         double distance_max, foliot__shape_contact *t)
{
    bool swapped = a->kind == FOLIOT_SHAPE_PLANE ||
                   (a->kind == FOLIOT_SHAPE_BOX && b->kind != FOLIOT_SHAPE_PLANE);
    const foliot__solid *first = swapped ? b : a, *second = swapped ? a : b;
    vec3 offset = swapped ? vec3_negate(d) : d;
    t->count = 0;
    if (second->kind == FOLIOT_SHAPE_PLANE)
        foliot__collide_plane(first, second, distance_max, t);
    else if (second->kind == FOLIOT_SHAPE_BOX)
        foliot__collide_capsule_box(first, second, offset, distance_max, t);
    else
        foliot__collide_capsules(first, second, offset, distance_max, t);
    return swapped;
}

uint32_t foliot__near_points(const foliot__solid *a, quat qa, const foliot__solid *b, quat qb,
                             vec3 d, double distance_max, vec3 *n,
                             foliot__near_point points[FOLIOT__POINTS])
{
    if (a->kind == FOLIOT_SHAPE_BOX && b->kind == FOLIOT_SHAPE_BOX) {
        foliot__manifold m;
        foliot__collide_box_pair(qa, a->half, qb, b->half, d, distance_max, &m);
        // Binary32 decides which points; that they are the same for both, and the length of the
        // normal, are exact.
        if (m.count > 0) {
            vec3 normal = {(double)m.normal[0], (double)m.normal[1], (double)m.normal[2]};
            *n = vec3_divide(normal, vec3_length(normal));
        }
        for (uint32_t i = 0; i < m.count; i++) {
            const float *arm = m.point[i].arm_a;
            points[i].gap = (double)m.point[i].gap;
            points[i].arm_a = (vec3){(double)arm[0], (double)arm[1], (double)arm[2]};
            points[i].arm_b = vec3_sub(points[i].arm_a, d);
        }
        return m.count;
    }
    foliot__shape_contact t;
    bool swapped = foliot__collide_two(a, b, d, distance_max, &t);
    for (uint32_t i = 0; i < t.count; i++) {
        vec3 at = t.point[i].at;
        points[i].gap = t.point[i].gap;
        points[i].arm_a = swapped ? vec3_add(at, d) : at;
        points[i].arm_b = swapped ? at : vec3_sub(at, d);
    }
    if (t.count > 0)
        *n = swapped ? vec3_negate(t.normal) : t.normal;
    return t.count;
}

double foliot__gap_of(const foliot__solid *a, const foliot__solid *b, vec3 d, vec3 *n)
{
    if (a->kind == FOLIOT_SHAPE_BOX && b->kind == FOLIOT_SHAPE_BOX)
        return foliot__gap_of_boxes(a, b, d, n);
    foliot__shape_contact t;
    bool swapped = foliot__collide_two(a, b, d, NOWHERE, &t);
    double gap = NOWHERE;
    for (uint32_t i = 0; i < t.count; i++)
        gap = foliot__smaller(gap, t.point[i].gap);
    *n = swapped ? vec3_negate(t.normal) : t.normal;
    return gap;
}
