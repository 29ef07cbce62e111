// SPDX-License-Identifier: MIT
// shape_gap.c: how far two solids are apart and where they are nearest, whatever their kinds. Binary64.
#include "sim/collide/shape.h"

#include "sim/collide/manifold_box.h"

#include <string.h>

#define NOWHERE 0x1p100

static double extent_along(const foliot__solid *box, const double n[3])
{
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += box->half[k] * foliot__absolute(foliot__dot(box->axis[k], n));
    return sum;
}

// The greatest separation among the fifteen axes of two boxes; exact where they touch.
static double gap_of_boxes(const foliot__solid *a, const foliot__solid *b, const double d[3],
                           double n[3])
{
    double best = -NOWHERE;
    for (int k = 0; k < 15; k++) {
        double way[3];
        if (k < 6)
            memcpy(way, k < 3 ? a->axis[k] : b->axis[k - 3], sizeof way);
        else
            foliot__cross(a->axis[(k - 6) / 3], b->axis[k % 3], way);
        double length2 = foliot__dot(way, way);
        if (length2 < 0x1p-20) // parallel edges: the faces say it all
            continue;
        double length = foliot__sqrt(length2), along = foliot__dot(d, way);
        double sign = along < 0 ? -1 : 1;
        double gap = (along * sign - extent_along(a, way) - extent_along(b, way)) / length;
        if (!(gap > best))
            continue;
        best = gap;
        for (int i = 0; i < 3; i++)
            n[i] = way[i] * sign / length;
    }
    return best;
}

bool foliot__touch_two(const foliot__solid *a, const foliot__solid *b, const double d[3],
                       double reach, foliot__touch *t)
{
    bool swapped = a->kind == FOLIOT_SHAPE_PLANE ||
                   (a->kind == FOLIOT_SHAPE_BOX && b->kind != FOLIOT_SHAPE_PLANE);
    const foliot__solid *first = swapped ? b : a, *second = swapped ? a : b;
    const double way[3] = {swapped ? -d[0] : d[0], swapped ? -d[1] : d[1], swapped ? -d[2] : d[2]};
    t->count = 0;
    if (second->kind == FOLIOT_SHAPE_PLANE)
        foliot__touch_plane(first, second, reach, t);
    else if (second->kind == FOLIOT_SHAPE_BOX)
        foliot__touch_capsule_box(first, second, way, reach, t);
    else
        foliot__touch_capsules(first, second, way, reach, t);
    return swapped;
}

static uint32_t near_points_of_boxes(const foliot__solid *a, const double qa[4], const foliot__solid *b,
                                     const double qb[4], const double d[3], double reach, double n[3],
                                     foliot__near_point *points)
{
    foliot__manifold m;
    foliot__touch_box_pair(qa, a->half, qb, b->half, d, reach, &m);
    // Binary32 says which point; that it is one and the same for both, and the length of the normal,
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
                             const double qb[4], const double d[3], double reach, double n[3],
                             foliot__near_point points[FOLIOT__POINTS])
{
    if (a->kind == FOLIOT_SHAPE_BOX && b->kind == FOLIOT_SHAPE_BOX)
        return near_points_of_boxes(a, qa, b, qb, d, reach, n, points);
    foliot__touch t;
    bool swapped = foliot__touch_two(a, b, d, reach, &t);
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
        return gap_of_boxes(a, b, d, n);
    foliot__touch t;
    bool swapped = foliot__touch_two(a, b, d, NOWHERE, &t);
    double gap = NOWHERE;
    for (uint32_t i = 0; i < t.count; i++)
        gap = foliot__smaller(gap, t.point[i].gap);
    for (int k = 0; k < 3; k++)
        n[k] = swapped ? -t.normal[k] : t.normal[k];
    return gap;
}
