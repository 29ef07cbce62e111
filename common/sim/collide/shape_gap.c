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
typedef struct box_axes {
    couple way[3][AXES / 2 + 1], length[AXES / 2 + 1];
    couple along[AXES / 2 + 1]; // of the way between the centres
    couple gap[AXES / 2 + 1];
} box_axes;

static void set_axes(const foliot__solid *a, const foliot__solid *b, box_axes *x)
{
    for (int k = 0; k <= AXES; k++) {
        double way[3];
        if (k < 6 || k == AXES)
            memcpy(way, k == AXES ? a->axis[0] : k < 3 ? a->axis[k] : b->axis[k - 3], sizeof way);
        else
            foliot__cross(a->axis[(k - 6) / 3], b->axis[k % 3], way);
        for (int i = 0; i < 3; i++)
            x->way[i][k / 2][k % 2] = way[i];
    }
}

static inline couple extent_along(const foliot__solid *box, couple x, couple y, couple z)
{
    couple sum = {0, 0};
    for (int k = 0; k < 3; k++) {
        const double *axis = box->axis[k];
        couple along = (axis[0] * x + axis[1] * y) + axis[2] * z;
        for (int l = 0; l < 2; l++)
            along[l] = foliot__absolute(along[l]);
        sum += box->half[k] * along;
    }
    return sum;
}

static void find_gaps(const foliot__solid *a, const foliot__solid *b, const double d[3], box_axes *axes)
{
    for (int k = 0; k <= AXES / 2; k++) {
        couple x = axes->way[0][k], y = axes->way[1][k], z = axes->way[2][k];
        couple length2 = (x * x + y * y) + z * z, along = (d[0] * x + d[1] * y) + d[2] * z, apart = along, length;
        for (int l = 0; l < 2; l++) {
            apart[l] = foliot__absolute(along[l]);
            length[l] = length2[l] < 0x1p-20 ? 0 : foliot__sqrt(length2[l]);
        }
        axes->along[k] = along;
        axes->length[k] = length;
        for (int l = 0; l < 2; l++) // parallel edges: the faces say it all
            length[l] = length[l] > 0 ? length[l] : 1;
        axes->gap[k] = (apart - extent_along(a, x, y, z) - extent_along(b, x, y, z)) / length;
    }
}

// The greatest separation among the fifteen axes of two boxes; exact where they touch.
double foliot__gap_of_boxes(const foliot__solid *a, const foliot__solid *b, const double d[3],
                            double n[3])
{
    box_axes x;
    set_axes(a, b, &x);
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
