// SPDX-License-Identifier: MIT
// shape_gap.c: how far apart two solids of any kinds are, and where they are nearest. Binary64.
#include "sim/collide/shape.h"

#include "sim/collide/manifold_box.h"
#include "sim/math/simd.h"

#define NOWHERE 0x1p100

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
