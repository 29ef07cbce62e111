// SPDX-License-Identifier: MIT
// shape_gap.c: how far apart two solids of any kinds are, and where they are nearest. Binary64.
#include "sim/collide/shape.h"

#include "sim/collide/manifold_box.h"

#include <string.h>

#define NOWHERE 0x1p100

// Two boxes in terms of the fifteen axes that may separate them (Gottschalk, Lin and Manocha 1996).
typedef struct box_view {
    double da[3], db[3];            // from centre to centre along the axes of each
    double c[3][3], absolute[3][3]; // a's axes along b's
    const double *ha, *hb;
} box_view;

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

static void judge_faces(const box_view *x, box_verdict *best)
{
    const double(*r)[3] = x->absolute;
    for (int k = 0; k < 3; k++) {
        double extent = (r[k][0] * x->hb[0] + r[k][1] * x->hb[1]) + r[k][2] * x->hb[2];
        keep_largest_gap(best, foliot__absolute(x->da[k]) - x->ha[k] - extent, 1, x->da[k], k);
    }
    for (int k = 0; k < 3; k++) {
        double extent = (r[0][k] * x->ha[0] + r[1][k] * x->ha[1]) + r[2][k] * x->ha[2];
        keep_largest_gap(best, foliot__absolute(x->db[k]) - x->hb[k] - extent, 1, x->db[k], 3 + k);
    }
}

// The product of a's axis i with b's axes.
static void judge_edges(const box_view *x, int i, box_verdict *best)
{
    int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
    const double *r = x->absolute[i], *r1 = x->absolute[i1], *r2 = x->absolute[i2];
    for (int j = 0; j < 3; j++) {
        int j1 = j == 2 ? 0 : j + 1, j2 = j == 0 ? 2 : j - 1;
        double sine2 = 1 - r[j] * r[j], along = x->da[i2] * x->c[i1][j] - x->da[i1] * x->c[i2][j];
        double extent =
            (x->ha[i1] * r2[j] + x->ha[i2] * r1[j]) + (x->hb[j1] * r[j2] + x->hb[j2] * r[j1]);
        if (sine2 < 0x1p-20) // parallel edges: the faces say it all
            continue;
        double sine = foliot__sqrt(sine2);
        keep_largest_gap(best, (foliot__absolute(along) - extent) / sine, sine, along,
                         6 + 3 * i + j);
    }
}

// The greatest separation among the fifteen axes of two boxes; exact where they touch.
double foliot__gap_of_boxes(const foliot__solid *a, const foliot__solid *b, const double d[3],
                            double n[3])
{
    box_view x = {.ha = a->half, .hb = b->half};
    box_verdict best = {.gap = -NOWHERE};
    for (int i = 0; i < 3; i++) {
        x.da[i] = foliot__vec3_dot(d, a->axis[i]);
        x.db[i] = foliot__vec3_dot(d, b->axis[i]);
        for (int j = 0; j < 3; j++) {
            x.c[i][j] = foliot__vec3_dot(a->axis[i], b->axis[j]);
            x.absolute[i][j] = foliot__absolute(x.c[i][j]);
        }
    }
    judge_faces(&x, &best);
    judge_edges(&x, 0, &best);
    judge_edges(&x, 1, &best);
    judge_edges(&x, 2, &best);
    double sign = best.along < 0 ? -1 : 1;
    if (best.axis < 6)
        memcpy(n, best.axis < 3 ? a->axis[best.axis] : b->axis[best.axis - 3], 3 * sizeof *n);
    else
        foliot__vec3_cross(a->axis[(best.axis - 6) / 3], b->axis[(best.axis - 6) % 3], n);
    for (int i = 0; i < 3; i++)
        n[i] = n[i] * sign / best.length;
    return best.gap;
}

bool foliot__collide_two(const foliot__solid *a, const foliot__solid *b, const double d[3],
                         double distance_max, foliot__shape_contact *t)
{
    bool swapped = a->kind == FOLIOT_SHAPE_PLANE ||
                   (a->kind == FOLIOT_SHAPE_BOX && b->kind != FOLIOT_SHAPE_PLANE);
    const foliot__solid *first = swapped ? b : a, *second = swapped ? a : b;
    const double offset[3] = {swapped ? -d[0] : d[0], swapped ? -d[1] : d[1],
                              swapped ? -d[2] : d[2]};
    t->count = 0;
    if (second->kind == FOLIOT_SHAPE_PLANE)
        foliot__collide_plane(first, second, distance_max, t);
    else if (second->kind == FOLIOT_SHAPE_BOX)
        foliot__collide_capsule_box(first, second, offset, distance_max, t);
    else
        foliot__collide_capsules(first, second, offset, distance_max, t);
    return swapped;
}

static uint32_t near_points_of_boxes(const foliot__solid *a, const double qa[4],
                                     const foliot__solid *b, const double qb[4], const double d[3],
                                     double distance_max, double n[3], foliot__near_point *points)
{
    foliot__manifold m;
    foliot__collide_box_pair(qa, a->half, qb, b->half, d, distance_max, &m);
    // Binary32 decides which points; that they are the same for both, and the length of the normal,
    // are exact.
    double length2 = 0;
    for (int k = 0; k < 3 && m.count > 0; k++) {
        n[k] = (double)m.normal[k];
        length2 += n[k] * n[k];
    }
    for (int k = 0; k < 3 && m.count > 0; k++)
        n[k] /= foliot__sqrt(length2);
    for (uint32_t i = 0; i < m.count; i++) {
        points[i].gap = (double)m.point[i].gap;
        for (int k = 0; k < 3; k++) {
            points[i].arm_a[k] = (double)m.point[i].arm_a[k];
            points[i].arm_b[k] = points[i].arm_a[k] - d[k];
        }
    }
    return m.count;
}

uint32_t foliot__near_points(const foliot__solid *a, const double qa[4], const foliot__solid *b,
                             const double qb[4], const double d[3], double distance_max,
                             double n[3], foliot__near_point points[FOLIOT__POINTS])
{
    if (a->kind == FOLIOT_SHAPE_BOX && b->kind == FOLIOT_SHAPE_BOX)
        return near_points_of_boxes(a, qa, b, qb, d, distance_max, n, points);
    foliot__shape_contact t;
    bool swapped = foliot__collide_two(a, b, d, distance_max, &t);
    for (uint32_t i = 0; i < t.count; i++) {
        points[i].gap = t.point[i].gap;
        for (int k = 0; k < 3; k++) {
            double at = t.point[i].at[k];
            points[i].arm_a[k] = swapped ? at + d[k] : at;
            points[i].arm_b[k] = swapped ? at : at - d[k];
        }
    }
    for (int k = 0; k < 3 && t.count > 0; k++)
        n[k] = swapped ? -t.normal[k] : t.normal[k];
    return t.count;
}

double foliot__gap_of(const foliot__solid *a, const foliot__solid *b, const double d[3],
                      double n[3])
{
    if (a->kind == FOLIOT_SHAPE_BOX && b->kind == FOLIOT_SHAPE_BOX)
        return foliot__gap_of_boxes(a, b, d, n);
    foliot__shape_contact t;
    bool swapped = foliot__collide_two(a, b, d, NOWHERE, &t);
    double gap = NOWHERE;
    for (uint32_t i = 0; i < t.count; i++)
        gap = foliot__smaller(gap, t.point[i].gap);
    for (int k = 0; k < 3; k++)
        n[k] = swapped ? -t.normal[k] : t.normal[k];
    return gap;
}
