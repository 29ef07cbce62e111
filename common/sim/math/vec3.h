// SPDX-License-Identifier: MIT
// vec3.h: vectors, quaternions and 3 x 3 matrices of doubles, as plain arrays. Every sum has a
// fixed order, written out by parentheses: the order decides bits, so changing it changes every
// digest. Vectors are x, y, z. Quaternions are w, x, y, z and of unit length where nothing else is
// said. Matrices are m[row][column]. An `out` may be one of the arguments.
#ifndef FOLIOT_SIM_MATH_VEC3_H
#define FOLIOT_SIM_MATH_VEC3_H

#include "sim/math/floating_point.h"

static inline double foliot__vec3_dot(const double a[3], const double b[3])
{
    return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2];
}

static inline double foliot__vec3_length(const double v[3])
{
    return foliot__sqrt(foliot__vec3_dot(v, v));
}

static inline void foliot__vec3_cross(const double a[3], const double b[3], double out[3])
{
    double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
    out[0] = x;
    out[1] = y;
}

// m v. The columns of m are added from left to right.
static inline void foliot__mat3_apply(const double m[3][3], const double v[3], double out[3])
{
    double x = foliot__vec3_dot(m[0], v), y = foliot__vec3_dot(m[1], v);
    out[2] = foliot__vec3_dot(m[2], v);
    out[0] = x;
    out[1] = y;
}

// x := m^-1 x, m symmetric and positive definite.
static inline void foliot__mat3_solve_symmetric(const double m[3][3], double x[3])
{
    double l10 = m[1][0] / m[0][0], l20 = m[2][0] / m[0][0];
    double d1 = m[1][1] - l10 * m[1][0], c = m[2][1] - l20 * m[1][0], l21 = c / d1;
    double d2 = (m[2][2] - l20 * m[2][0]) - l21 * c;
    double y1 = x[1] - l10 * x[0], y2 = (x[2] - l20 * x[0]) - l21 * y1;
    x[2] = y2 / d2;
    x[1] = y1 / d1 - l21 * x[2];
    x[0] = (x[0] / m[0][0] - l10 * x[1]) - l20 * x[2];
}

// The length of any quaternion, and the quaternion divided by it.
static inline double foliot__quat_length(const double q[4])
{
    return foliot__sqrt((q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]));
}

static inline void foliot__quat_normalise(const double q[4], double out[4])
{
    double length = foliot__quat_length(q);
    for (int k = 0; k < 4; k++)
        out[k] = q[k] / length;
}

static inline void foliot__quat_conjugate(const double q[4], double out[4])
{
    out[0] = q[0];
    for (int k = 1; k < 4; k++)
        out[k] = -q[k];
}

// p q: the rotation q, then p.
static inline void foliot__quat_multiply(const double p[4], const double q[4], double out[4])
{
    double w = p[0] * q[0] - foliot__vec3_dot(p + 1, q + 1), c[3], r[3];
    foliot__vec3_cross(p + 1, q + 1, c);
    for (int k = 0; k < 3; k++)
        r[k] = (p[0] * q[1 + k] + q[0] * p[1 + k]) + c[k];
    for (int k = 0; k < 3; k++)
        out[1 + k] = r[k];
    out[0] = w;
}

// v turned by q, from the body's axes into the world's: v + 2 (w c + r x c), c = r x v, where r is
// the vector part of q.
static inline void foliot__quat_rotate(const double q[4], const double v[3], double out[3])
{
    double c[3], d[3];
    foliot__vec3_cross(q + 1, v, c);
    foliot__vec3_cross(q + 1, c, d);
    for (int k = 0; k < 3; k++)
        out[k] = v[k] + 2 * (q[0] * c[k] + d[k]);
}

// The same with the factor of 2 in c: v + (w c + r x c), c = 2 r x v. The bits differ from
// foliot__quat_rotate where a product is subnormal, so a caller of one may not change to the other.
static inline void foliot__quat_rotate_by_doubles(const double q[4], const double v[3],
                                                  double out[3])
{
    double c[3], d[3];
    foliot__vec3_cross(q + 1, v, c);
    for (int k = 0; k < 3; k++)
        c[k] *= 2;
    foliot__vec3_cross(q + 1, c, d);
    for (int k = 0; k < 3; k++)
        out[k] = v[k] + (q[0] * c[k] + d[k]);
}

// The rotation matrix of q: column k is the body's axis k in world axes.
static inline void foliot__quat_matrix(const double q[4], double m[3][3])
{
    double w = q[0], x = q[1], y = q[2], z = q[3];
    m[0][0] = 1 - 2 * (y * y + z * z);
    m[0][1] = 2 * (x * y - w * z);
    m[0][2] = 2 * (x * z + w * y);
    m[1][0] = 2 * (x * y + w * z);
    m[1][1] = 1 - 2 * (x * x + z * z);
    m[1][2] = 2 * (y * z - w * x);
    m[2][0] = 2 * (x * z - w * y);
    m[2][1] = 2 * (y * z + w * x);
    m[2][2] = 1 - 2 * (x * x + y * y);
}

// Its transpose: row k is the body's axis k in world axes.
static inline void foliot__quat_axes(const double q[4], double axis[3][3])
{
    double w = q[0], x = q[1], y = q[2], z = q[3];
    axis[0][0] = 1 - 2 * (y * y + z * z);
    axis[0][1] = 2 * (x * y + w * z);
    axis[0][2] = 2 * (x * z - w * y);
    axis[1][0] = 2 * (x * y - w * z);
    axis[1][1] = 1 - 2 * (x * x + z * z);
    axis[1][2] = 2 * (y * z + w * x);
    axis[2][0] = 2 * (x * z + w * y);
    axis[2][1] = 2 * (y * z - w * x);
    axis[2][2] = 1 - 2 * (x * x + y * y);
}

#endif
