// SPDX-License-Identifier: MIT
// joint_rotation.c: the orientation of a body at a substep's end if the joints' impulses act at its
// start, as RATTLE requires. It is the free rotation of rotation.c, where the splitting and its
// sources are described, for one body. A rotation on top of the scheme's own would cost a tenth of
// a tumbling body's energy a minute.
#include "sim/joint/joint_internal.h"

// The turn about axis a of the body over twice `half`, with momentum m in the body's axes.
static void rotate_about_axis(double q[4], double m[3], double inverse, double half, int a, int b,
                              int c)
{
    double s = m[a] * inverse * half, sine = 2 * s / (1 + s * s), mb = m[b], mc = m[c];
    m[b] = mb + sine * (mc - s * mb);
    m[c] = mc - sine * (mb + s * mc);
    double w = q[0], qa = q[1 + a], qb = q[1 + b], qc = q[1 + c];
    q[0] = w - s * qa;
    q[1 + a] = qa + s * w;
    q[1 + b] = qb + s * qc;
    q[1 + c] = qc - s * qb;
}

// One turn about the momentum, for a body that has the same moment about every axis.
static void turn_even(double q[4], const double m[3], double inverse, double half)
{
    double s[3] = {m[0] * inverse * half, m[1] * inverse * half, m[2] * inverse * half}, out[4];
    out[0] = q[0] - ((q[1] * s[0] + q[2] * s[1]) + q[3] * s[2]);
    out[1] = q[1] + q[0] * s[0] + (q[2] * s[2] - q[3] * s[1]);
    out[2] = q[2] + q[0] * s[1] + (q[3] * s[0] - q[1] * s[2]);
    out[3] = q[3] + q[0] * s[2] + (q[1] * s[1] - q[2] * s[0]);
    for (int k = 0; k < 4; k++)
        q[k] = out[k];
}

quat foliot__joint_body_rotate(const foliot_world *world, const foliot__joint_body *body, double h)
{
    foliot__v3 inverse = foliot__inverse_inertia(world);
    const double e[3] = {inverse.x[body->slot], inverse.y[body->slot], inverse.z[body->slot]};
    vec3 moved = mat3_apply(body->inertia_start, vec3_of(body->moved + 3));
    double q[4], m[3];
    quat_store(body->start.q, q);
    // The momentum in the body's axes.
    vec3 v = vec3_add(body->spin, moved);
    double c[3] = {2 * (q[3] * v.y - q[2] * v.z), 2 * (q[1] * v.z - q[3] * v.x),
                   2 * (q[2] * v.x - q[1] * v.y)};
    m[0] = v.x + (q[0] * c[0] + (q[3] * c[1] - q[2] * c[2]));
    m[1] = v.y + (q[0] * c[1] + (q[1] * c[2] - q[3] * c[0]));
    m[2] = v.z + (q[0] * c[2] + (q[2] * c[0] - q[1] * c[1]));
    if (e[0] == e[1] && e[1] == e[2]) {
        turn_even(q, m, e[0], h / 2);
    } else {
        rotate_about_axis(q, m, e[0], h / 4, 0, 1, 2);
        rotate_about_axis(q, m, e[1], h / 4, 1, 2, 0);
        rotate_about_axis(q, m, e[2], h / 2, 2, 0, 1);
        rotate_about_axis(q, m, e[1], h / 4, 1, 2, 0);
        rotate_about_axis(q, m, e[0], h / 4, 0, 1, 2);
    }
    return quat_normalise(quat_of(q));
}
