// SPDX-License-Identifier: MIT
// shape_gap.c: how far two solids are apart and where they are nearest, whatever their kinds. Binary64.
#include "sim/collide/shape.h"

#include "sim/collide/manifold_box.h"

#include <string.h>

#define NOWHERE 0x1p100

// The fifteen axes of two boxes that may separate them, and one more so that they come in couples: two at a time go
// through a vector.
#define AXES 15
typedef double couple __attribute__((vector_size(16)));
typedef int64_t marks __attribute__((vector_size(16)));
typedef struct box_axes {
    couple way[3][AXES / 2 + 1], length[AXES / 2 + 1];
    couple along[AXES / 2 + 1]; // of the way between the centres
    couple gap[AXES / 2 + 1];
} box_axes;

static void set_faces(box_axes *x, int k, const double first[3], const double second[3])
{
    for (int i = 0; i < 3; i++)
        x->way[i][k] = (couple){first[i], second[i]};
}

static void set_crosses(box_axes *x, int k, const foliot__solid *a, const foliot__solid *b)
{
    int from = 2 * k - 6, to = from < 8 ? from + 1 : from; // of the nine
    const double *u0 = a->axis[from / 3], *u1 = a->axis[to / 3], *v0 = b->axis[from % 3], *v1 = b->axis[to % 3];
    const couple u[3] = {{u0[0], u1[0]}, {u0[1], u1[1]}, {u0[2], u1[2]}};
    const couple v[3] = {{v0[0], v1[0]}, {v0[1], v1[1]}, {v0[2], v1[2]}};
    x->way[0][k] = u[1] * v[2] - u[2] * v[1];
    x->way[1][k] = u[2] * v[0] - u[0] * v[2];
    x->way[2][k] = u[0] * v[1] - u[1] * v[0];
}

// A box, every number of it twice.
typedef struct box_couples {
    couple axis[3][3], half[3];
} box_couples;

static void set_couples(const foliot__solid *box, box_couples *to)
{
    for (int k = 0; k < 3; k++) {
        to->half[k] = (couple){box->half[k], box->half[k]};
        for (int i = 0; i < 3; i++)
            to->axis[k][i] = (couple){box->axis[k][i], box->axis[k][i]};
    }
}

static inline couple extent_of(const couple axis[3], couple half, couple x, couple y, couple z)
{
    return half * (couple)((marks)((axis[0] * x + axis[1] * y) + axis[2] * z) & INT64_MAX);
}

static inline couple extent_along(const box_couples *box, couple x, couple y, couple z)
{
    return (extent_of(box->axis[0], box->half[0], x, y, z) + extent_of(box->axis[1], box->half[1], x, y, z)) +
           extent_of(box->axis[2], box->half[2], x, y, z);
}

static void find_gaps(const foliot__solid *a, const foliot__solid *b, const double d[3], box_axes *axes)
{
    const couple one = {1, 1};
    box_couples first, second;
    set_couples(a, &first);
    set_couples(b, &second);
    for (int k = 0; k <= AXES / 2; k++) {
        couple x = axes->way[0][k], y = axes->way[1][k], z = axes->way[2][k];
        couple length2 = (x * x + y * y) + z * z, along = (d[0] * x + d[1] * y) + d[2] * z;
        marks none = length2 < 0x1p-20; // parallel edges: the faces say it all
        couple length = {foliot__sqrt(length2[0]), foliot__sqrt(length2[1])};
        couple reach = (couple)((marks)along & INT64_MAX) - extent_along(&first, x, y, z);
        axes->along[k] = along;
        axes->length[k] = (couple)(~none & (marks)length);
        axes->gap[k] = (reach - extent_along(&second, x, y, z)) / (couple)((none & (marks)one) | (~none & (marks)length));
    }
}

// The greatest separation among the fifteen axes of two boxes; exact where they touch.
double foliot__gap_of_boxes(const foliot__solid *a, const foliot__solid *b, const double d[3],
                            double n[3])
{
    box_axes x;
    set_faces(&x, 0, a->axis[0], a->axis[1]);
    set_faces(&x, 1, a->axis[2], b->axis[0]);
    set_faces(&x, 2, b->axis[1], b->axis[2]);
    for (int k = 3; k <= AXES / 2; k++)
        set_crosses(&x, k, a, b);
    find_gaps(a, b, d, &x);
    double best = -NOWHERE;
    int at = 0;
    for (int k = 0; k < AXES; k++) {
        if (x.length[k / 2][k % 2] > 0 && x.gap[k / 2][k % 2] > best) {
            best = x.gap[k / 2][k % 2];
            at = k;
        }
    }
    double sign = x.along[at / 2][at % 2] < 0 ? -1 : 1;
    for (int i = 0; i < 3; i++)
        n[i] = x.way[i][at / 2][at % 2] * sign / x.length[at / 2][at % 2];
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
        return foliot__gap_of_boxes(a, b, d, n);
    foliot__touch t;
    bool swapped = foliot__touch_two(a, b, d, NOWHERE, &t);
    double gap = NOWHERE;
    for (uint32_t i = 0; i < t.count; i++)
        gap = foliot__smaller(gap, t.point[i].gap);
    for (int k = 0; k < 3; k++)
        n[k] = swapped ? -t.normal[k] : t.normal[k];
    return gap;
}
