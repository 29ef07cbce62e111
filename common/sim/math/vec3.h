// SPDX-License-Identifier: MIT
// vec3.h: vectors, quaternions and 3 x 3 matrices of doubles, as values. Every sum has a fixed
// order, written out by parentheses: the order decides bits, so changing it changes every digest.
// Quaternions have unit length unless stated. Functions of foliot__ take arrays:
// x, y, z; w, x, y, z; m[row][column]. An `out` may be one of the arguments.
#ifndef FOLIOT_SIM_MATH_VEC3_H
#define FOLIOT_SIM_MATH_VEC3_H

#include "sim/math/floating_point.h"

typedef struct vec3 {
    double x, y, z;
} vec3;
typedef struct quat {
    double w, x, y, z;
} quat;
typedef struct mat3 {
    vec3 row[3];
} mat3;

// -- numbers

static inline double foliot__larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double foliot__smaller(double a, double b)
{
    return a < b ? a : b;
}

static inline double foliot__absolute(double x)
{
    return __builtin_fabs(x);
}

static inline double foliot__clamp(double x, double low, double high)
{
    return foliot__smaller(foliot__larger(x, low), high); // no branch
}

// -- from arrays and back

static inline vec3 vec3_of(const double a[3])
{
    return (vec3){a[0], a[1], a[2]};
}

static inline void vec3_store(vec3 v, double out[3])
{
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
}

static inline quat quat_of(const double q[4])
{
    return (quat){q[0], q[1], q[2], q[3]};
}

static inline void quat_store(quat q, double out[4])
{
    out[0] = q.w;
    out[1] = q.x;
    out[2] = q.y;
    out[3] = q.z;
}

static inline mat3 mat3_of(const double m[3][3])
{
    return (mat3){{vec3_of(m[0]), vec3_of(m[1]), vec3_of(m[2])}};
}

// -- vectors

static inline vec3 vec3_add(vec3 a, vec3 b)
{
    return (vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline vec3 vec3_sub(vec3 a, vec3 b)
{
    return (vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline vec3 vec3_negate(vec3 v)
{
    return (vec3){-v.x, -v.y, -v.z};
}

static inline vec3 vec3_scale(vec3 v, double s)
{
    return (vec3){v.x * s, v.y * s, v.z * s};
}

// Component by component.
static inline vec3 vec3_multiply(vec3 a, vec3 b)
{
    return (vec3){a.x * b.x, a.y * b.y, a.z * b.z};
}

static inline vec3 vec3_divide(vec3 v, double s)
{
    return (vec3){v.x / s, v.y / s, v.z / s};
}

static inline double vec3_dot(vec3 a, vec3 b)
{
    return (a.x * b.x + a.y * b.y) + a.z * b.z;
}

static inline double vec3_length(vec3 v)
{
    return foliot__sqrt(vec3_dot(v, v));
}

static inline vec3 vec3_cross(vec3 a, vec3 b)
{
    return (vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// m v. The columns of m are added from left to right.
static inline vec3 mat3_apply(mat3 m, vec3 v)
{
    return (vec3){vec3_dot(m.row[0], v), vec3_dot(m.row[1], v), vec3_dot(m.row[2], v)};
}

// m^T v, the rows of m added from top to bottom.
static inline vec3 mat3_apply_transposed(mat3 m, vec3 v)
{
    return vec3_add(vec3_add(vec3_scale(m.row[0], v.x), vec3_scale(m.row[1], v.y)),
                    vec3_scale(m.row[2], v.z));
}

static inline mat3 mat3_transpose(mat3 m)
{
    vec3 a = m.row[0], b = m.row[1], c = m.row[2];
    return (mat3){{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
}

// The inverse of a positive definite matrix, by its factors L D L^t.
static inline mat3 mat3_invert_symmetric(mat3 m)
{
    vec3 m0 = m.row[0], m1 = m.row[1], m2 = m.row[2];
    double d0 = 1 / m0.x, l1 = m1.x * d0, l2 = m2.x * d0;
    double d1 = 1 / (m1.y - l1 * m1.x), s = m2.y - l2 * m1.x, l3 = s * d1;
    double d2 = 1 / ((m2.z - l2 * m2.x) - l3 * s);
    double c = l1 * l3 - l2; // (L^-1)[2][0]
    double xy = -l1 * d1 - l3 * c * d2, xz = c * d2, yz = -l3 * d2;
    return (mat3){
        {{(d0 + l1 * l1 * d1) + c * c * d2, xy, xz}, {xy, d1 + l3 * l3 * d2, yz}, {xz, yz, d2}}};
}

static inline mat3 mat3_multiply(mat3 a, mat3 b)
{
    mat3 out;
    for (int i = 0; i < 3; i++)
        out.row[i] =
            vec3_add(vec3_add(vec3_scale(b.row[0], a.row[i].x), vec3_scale(b.row[1], a.row[i].y)),
                     vec3_scale(b.row[2], a.row[i].z));
    return out;
}

// m^-1 b, m symmetric and positive definite.
static inline vec3 mat3_solve_symmetric(mat3 m, vec3 b)
{
    vec3 m0 = m.row[0], m1 = m.row[1], m2 = m.row[2], x;
    double l10 = m1.x / m0.x, l20 = m2.x / m0.x;
    double d1 = m1.y - l10 * m1.x, c = m2.y - l20 * m1.x, l21 = c / d1;
    double d2 = (m2.z - l20 * m2.x) - l21 * c;
    double y1 = b.y - l10 * b.x, y2 = (b.z - l20 * b.x) - l21 * y1;
    x.z = y2 / d2;
    x.y = y1 / d1 - l21 * x.z;
    x.x = (b.x / m0.x - l10 * x.y) - l20 * x.z;
    return x;
}

// -- quaternions

// The vector part.
static inline vec3 quat_vector(quat q)
{
    return (vec3){q.x, q.y, q.z};
}

// The length of any quaternion, and the quaternion divided by it.
static inline double quat_length(quat q)
{
    return foliot__sqrt((q.w * q.w + q.x * q.x) + (q.y * q.y + q.z * q.z));
}

static inline quat quat_normalise(quat q)
{
    double length = quat_length(q);
    return (quat){q.w / length, q.x / length, q.y / length, q.z / length};
}

static inline quat quat_conjugate(quat q)
{
    return (quat){q.w, -q.x, -q.y, -q.z};
}

// p q: the rotation q, then p.
static inline quat quat_multiply(quat p, quat q)
{
    vec3 u = quat_vector(p), v = quat_vector(q), c = vec3_cross(u, v);
    double w = p.w * q.w - vec3_dot(u, v);
    vec3 r = vec3_add(vec3_add(vec3_scale(v, p.w), vec3_scale(u, q.w)), c);
    return (quat){w, r.x, r.y, r.z};
}

// v turned by q, from the body's axes into the world's: v + 2 (w c + r x c), c = r x v, where r is
// the vector part of q.
static inline vec3 quat_rotate(quat q, vec3 v)
{
    vec3 r = quat_vector(q), c = vec3_cross(r, v), d = vec3_cross(r, c);
    return vec3_add(v, vec3_scale(vec3_add(vec3_scale(c, q.w), d), 2));
}

// The same with the factor of 2 in c: v + (w c + r x c), c = 2 r x v. The bits differ from
// quat_rotate where a product is subnormal, so a caller of one may not change to the other.
static inline vec3 quat_rotate_by_doubles(quat q, vec3 v)
{
    vec3 r = quat_vector(q), c = vec3_scale(vec3_cross(r, v), 2), d = vec3_cross(r, c);
    return vec3_add(v, vec3_add(vec3_scale(c, q.w), d));
}

// The body's axes in world axes: row k is axis k. The transpose of the rotation matrix of q.
static inline mat3 quat_axes(quat q)
{
    double w = q.w, x = q.x, y = q.y, z = q.z;
    return (mat3){{{1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)},
                   {2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)},
                   {2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)}}};
}

// -- the same of arrays

static inline double foliot__vec3_dot(const double a[3], const double b[3])
{
    return vec3_dot(vec3_of(a), vec3_of(b));
}

static inline double foliot__vec3_length(const double v[3])
{
    return vec3_length(vec3_of(v));
}

static inline void foliot__vec3_cross(const double a[3], const double b[3], double out[3])
{
    vec3_store(vec3_cross(vec3_of(a), vec3_of(b)), out);
}

static inline void foliot__mat3_apply(const double m[3][3], const double v[3], double out[3])
{
    vec3_store(mat3_apply(mat3_of(m), vec3_of(v)), out);
}

static inline void foliot__quat_normalise(const double q[4], double out[4])
{
    quat_store(quat_normalise(quat_of(q)), out);
}

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
