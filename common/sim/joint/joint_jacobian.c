// SPDX-License-Identifier: MIT
// joint_jacobian.c: the constraints of a joint as rows of a Jacobian. The speed at which an error
// grows is ja . velocity of a + jb . velocity of b (linear, then angular, world axes).
//
// Ball: three rows, which keep the anchors together. Hinge: two more, which keep its axis as seen
// from b; its angle is the bounded row. Weld: three more, no rotation at all. Distance: one row
// along the line between the anchors, bounded where it is a rope.
#include "sim/joint/joint_internal.h"

#include "sim/math/vec3.h"

#include "foliot/math.h"

#include <string.h>

#define PI 0x1.921fb54442d18p+1
#define INFINITE ((double)__builtin_inf())

foliot__pose foliot__pose_of(const foliot_world *world, uint32_t slot)
{
    if (slot == FOLIOT_NO_BODY)
        return (foliot__pose){{0, 0, 0}, {1, 0, 0, 0}};
    foliot__v3 x = foliot__position(world);
    return (foliot__pose){{x.x[slot], x.y[slot], x.z[slot]},
                          {foliot__orientation_w(world)[slot], foliot__orientation_x(world)[slot],
                           foliot__orientation_y(world)[slot], foliot__orientation_z(world)[slot]}};
}

// Rotates by the angle whose half has the tangent |w| h / 2, as in rotation.c.
void foliot__pose_move(foliot__pose *pose, const double velocity[6], double h)
{
    const double turn[4] = {1, velocity[3] * (h / 2), velocity[4] * (h / 2), velocity[5] * (h / 2)};
    double q[4];
    for (int k = 0; k < 3; k++)
        pose->x[k] += h * velocity[k];
    foliot__quat_multiply(turn, pose->q, q);
    double norm = foliot__sqrt((q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]));
    for (int k = 0; k < 4; k++)
        pose->q[k] = q[k] / norm;
}

void foliot__pose_velocity(const foliot__pose *from, const foliot__pose *to, double h,
                           double velocity[6])
{
    double back[4], turn[4];
    foliot__quat_conjugate(from->q, back);
    foliot__quat_multiply(to->q, back, turn);
    // Half turns have no tangent, so the result is limited to what one radian gives.
    double w = turn[0] < 0 ? -turn[0] : turn[0], sign = turn[0] < 0 ? -1 : 1;
    double scale = 2 * sign / (h * (w > 0.5 ? w : 0.5));
    for (int k = 0; k < 3; k++) {
        velocity[k] = (to->x[k] - from->x[k]) / h;
        velocity[3 + k] = scale * turn[1 + k];
    }
}

// -- definitions

// Sets two directions that make a right-handed frame with the unit vector.
static void frame_of(const double axis[3], double side[2][3])
{
    double x = axis[0] < 0 ? -axis[0] : axis[0], y = axis[1] < 0 ? -axis[1] : axis[1];
    double z = axis[2] < 0 ? -axis[2] : axis[2];
    const double least[3] = {x <= y && x <= z, !(x <= y && x <= z) && y <= z,
                             !(x <= y && x <= z) && !(y <= z)};
    foliot__vec3_cross(axis, least, side[0]);
    double length = foliot__sqrt(foliot__vec3_dot(side[0], side[0]));
    for (int k = 0; k < 3; k++)
        side[0][k] /= length;
    foliot__vec3_cross(axis, side[0], side[1]);
}

static void define_hinge(const foliot_constraint_definition *d, foliot__joint *joint)
{
    double back[4];
    memcpy(joint->axis, d->axis, sizeof joint->axis);
    frame_of(joint->axis, joint->side);
    foliot__quat_conjugate(joint->start, back);
    foliot__quat_rotate(back, joint->axis, joint->axis_b);
    bool limited = d->angle_min <= d->angle_max;
    joint->rows = 5;
    joint->bounded = limited || d->motor_torque > 0;
    joint->least = limited ? d->angle_min : -INFINITE;
    joint->greatest = limited ? d->angle_max : INFINITE;
    joint->counted = limited && (d->angle_min < -PI || d->angle_max > PI);
    joint->speed = d->motor_speed;
    joint->strength = d->motor_torque;
}

void foliot__joint_define(const foliot_world *world, uint32_t index, foliot__joint *joint)
{
    const foliot_constraint_definition *d = &foliot__constraint(world)[index];
    memset(joint, 0, sizeof *joint);
    joint->index = index;
    joint->kind = d->kind;
    joint->slot_a = d->a;
    joint->slot_b = d->b;
    joint->a = joint->b = joint->child = joint->parent = FOLIOT__NONE;
    memcpy(joint->anchor_a, d->anchor_a, sizeof joint->anchor_a);
    memcpy(joint->anchor_b, d->anchor_b, sizeof joint->anchor_b);
    memcpy(joint->start, foliot__joint_start(world) + 4 * (size_t)index, sizeof joint->start);
    joint->arm_length = foliot__vec3_length(d->anchor_a);
    if (d->b != FOLIOT_NO_BODY)
        joint->arm_length += foliot__vec3_length(d->anchor_b);
    if (d->kind == FOLIOT_CONSTRAINT_HINGE) {
        define_hinge(d, joint);
    } else if (d->kind == FOLIOT_CONSTRAINT_DISTANCE) {
        joint->bounded = d->length_min < d->length;
        joint->rows = !joint->bounded;
        joint->least = d->length_min;
        joint->greatest = d->length;
        joint->arm_length = d->length;
    } else {
        joint->rows = d->kind == FOLIOT_CONSTRAINT_WELD ? 6 : 3;
    }
}

void foliot__joint_starts(foliot_world *world)
{
    for (uint32_t i = 0; world->joints && i < world->constraint_count; i++) {
        const foliot_constraint_definition *d = &foliot__constraint(world)[i];
        foliot__pose a = foliot__pose_of(world, d->a), b = foliot__pose_of(world, d->b);
        double back[4];
        foliot__quat_conjugate(a.q, back);
        foliot__quat_multiply(back, b.q, foliot__joint_start(world) + 4 * (size_t)i);
    }
}

// -- rows

static void arms_of(const foliot__joint *joint, const foliot__pose *a, const foliot__pose *b,
                    double arm_a[3], double arm_b[3], double apart[3])
{
    foliot__quat_rotate(a->q, joint->anchor_a, arm_a);
    foliot__quat_rotate(b->q, joint->anchor_b, arm_b);
    for (int k = 0; k < 3; k++)
        apart[k] = (b->x[k] - a->x[k]) + (arm_b[k] - arm_a[k]);
}

// Row r: the speed of b's anchor against a's along a unit vector.
static void row_along(foliot__joint *joint, uint32_t r, const double along[3],
                      const double arm_a[3], const double arm_b[3])
{
    double turn[3];
    for (int k = 0; k < 3; k++) {
        joint->ja[r][k] = -along[k];
        joint->jb[r][k] = along[k];
    }
    foliot__vec3_cross(arm_a, along, turn);
    for (int k = 0; k < 3; k++)
        joint->ja[r][3 + k] = -turn[k];
    foliot__vec3_cross(arm_b, along, joint->jb[r] + 3);
}

// Row r: the rotation of b against a about a unit vector.
static void row_about(foliot__joint *joint, uint32_t r, const double about[3])
{
    for (int k = 0; k < 3; k++) {
        joint->ja[r][k] = joint->jb[r][k] = 0;
        joint->ja[r][3 + k] = -about[k];
        joint->jb[r][3 + k] = about[k];
    }
}

void foliot__joint_linearise(foliot__joint *joint, const foliot__pose *a, const foliot__pose *b)
{
    static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double arm_a[3], arm_b[3], apart[3], axis[3];
    arms_of(joint, a, b, arm_a, arm_b, apart);
    if (joint->kind == FOLIOT_CONSTRAINT_DISTANCE) {
        double length = foliot__vec3_length(apart);
        for (int k = 0; k < 3; k++) // two ends in one place are held along x
            apart[k] = length > 0 ? apart[k] / length : k == 0;
        row_along(joint, 0, apart, arm_a, arm_b);
        return;
    }
    for (uint32_t r = 0; r < 3; r++)
        row_along(joint, r, axes[r], arm_a, arm_b);
    if (joint->kind != FOLIOT_CONSTRAINT_HINGE) {
        for (uint32_t r = 0; r < 3; r++) // of a ball: for friction
            row_about(joint, 3 + r, axes[r]);
        return;
    }
    for (uint32_t r = 0; r < 2; r++) {
        foliot__quat_rotate(a->q, joint->side[r], axis);
        row_about(joint, 3 + r, axis);
    }
    foliot__quat_rotate(a->q, joint->axis, axis);
    row_about(joint, 5, axis);
}

// b's orientation against a's, less what it was as the scene started, in a's axes.
static void turn_since_start(const foliot__joint *joint, const foliot__pose *a,
                             const foliot__pose *b, double turn[4])
{
    double back[4], apart[4];
    foliot__quat_conjugate(a->q, back);
    foliot__quat_multiply(back, b->q, apart);
    foliot__quat_conjugate(joint->start, back);
    foliot__quat_multiply(apart, back, turn);
}

// The angle that lies nearest to another one, whole turns apart. NaN stays NaN: machines convert it
// to different integers.
static double nearest_angle(double angle, double other)
{
    double turns = (other - angle) / (2 * PI);
    if (turns != turns)
        return turns;
    turns += turns < 0 ? -0.5 : 0.5;
    return angle + 2 * PI * (double)(int64_t)turns;
}

// Once measured in a tick an angle is followed without jumps. The first one is measured from the
// middle of the limits, so that neither limit is near the jump from pi to -pi.
static double angle_of(const foliot__joint *joint, const double turn[4])
{
    bool limited = joint->least > -INFINITE;
    double middle = limited ? (joint->least + joint->greatest) / 2 : 0;
    double angle = 2 * foliot_atan2(foliot__vec3_dot(turn + 1, joint->axis), turn[0]);
    if (joint->counted)
        return nearest_angle(angle, joint->value);
    angle -= middle;
    if (angle > PI)
        angle -= 2 * PI;
    else if (angle < -PI)
        angle += 2 * PI;
    angle = angle < -PI ? angle + 2 * PI + middle : angle + middle;
    return joint->followed ? nearest_angle(angle, joint->value) : angle;
}

void foliot__joint_begin_angle(const foliot_world *world, foliot__joint *joint)
{
    joint->followed = false;
    if (joint->counted) {
        uint8_t state = foliot__constraint_state(world)[joint->index];
        joint->value = PI * (state < 128 ? state / 2 : state / 2 - 128);
    }
}

void foliot__joint_end_angle(foliot_world *world, foliot__joint *joint)
{
    uint8_t *state = &foliot__constraint_state(world)[joint->index], now = 0;
    if (joint->counted) {
        foliot__pose a = foliot__pose_of(world, joint->slot_a);
        foliot__pose b = foliot__pose_of(world, joint->slot_b);
        foliot__joint_measure(joint, &a, &b);
        if (joint->value != joint->value) // a body is about to be frozen: the count stays
            return;
        const double most = FOLIOT_HALF_TURNS_MAX + 2;
        _Static_assert(2 * (FOLIOT_HALF_TURNS_MAX + 2) < 128, "twice the half turns fill a byte");
        double turns = foliot_clamp(joint->value / PI, -most, most);
        now = (uint8_t)(2 * (int)(turns + (turns < 0 ? -0.5 : 0.5)));
    }
    world->definition_dirty |= now != *state;
    *state = now;
}

static void measure_hinge(foliot__joint *joint, const foliot__pose *a, const foliot__pose *b)
{
    double turn[4], axis_a[3], axis_b[3], off[3], side[3];
    foliot__quat_rotate(a->q, joint->axis, axis_a);
    foliot__quat_rotate(b->q, joint->axis_b, axis_b);
    foliot__vec3_cross(axis_a, axis_b, off);
    for (int r = 0; r < 2; r++) {
        foliot__quat_rotate(a->q, joint->side[r], side);
        joint->error[3 + r] = foliot__vec3_dot(side, off);
    }
    if (!joint->bounded)
        return;
    turn_since_start(joint, a, b, turn);
    joint->value = angle_of(joint, turn);
    joint->followed = true;
}

static void measure_weld(foliot__joint *joint, const foliot__pose *a, const foliot__pose *b)
{
    double turn[4], off[3];
    turn_since_start(joint, a, b, turn);
    double twice = turn[0] < 0 ? -2 : 2;
    foliot__quat_rotate(a->q, turn + 1, off);
    for (int k = 0; k < 3; k++)
        joint->error[3 + k] = twice * off[k];
}

void foliot__joint_measure(foliot__joint *joint, const foliot__pose *a, const foliot__pose *b)
{
    double arm_a[3], arm_b[3], apart[3];
    arms_of(joint, a, b, arm_a, arm_b, apart);
    if (joint->kind == FOLIOT_CONSTRAINT_DISTANCE) {
        joint->value = foliot__vec3_length(apart);
        joint->error[0] = joint->value - joint->greatest;
        return;
    }
    memcpy(joint->error, apart, sizeof apart);
    if (joint->kind == FOLIOT_CONSTRAINT_HINGE)
        measure_hinge(joint, a, b);
    else if (joint->kind == FOLIOT_CONSTRAINT_WELD)
        measure_weld(joint, a, b);
}

double foliot__joint_error_max(const foliot__joint *joint)
{
    double worst = 0;
    for (uint32_t r = 0; r < joint->rows; r++) {
        bool length = r < 3 && joint->arm_length > 0;
        double error = joint->error[r] < 0 ? -joint->error[r] : joint->error[r];
        double share = length ? error / joint->arm_length : r < 3 ? 0 : error;
        worst = share > worst ? share : worst;
    }
    return worst;
}

// -- masses

// A body that does not rotate gets moments of 1: no row uses its rotation.
void foliot__joint_body_set_mass(const foliot_world *world, foliot__joint_body *body,
                                 const foliot__pose *pose)
{
    foliot__v3 inertia = foliot__inertia(world), inverse = foliot__inverse_inertia(world);
    bool turns = inverse.x[body->slot] > 0;
    const double moment[3] = {turns ? inertia.x[body->slot] : 1, turns ? inertia.y[body->slot] : 1,
                              turns ? inertia.z[body->slot] : 1};
    double axis[3][3];
    for (int k = 0; k < 3; k++) {
        const double unit[3] = {k == 0, k == 1, k == 2};
        foliot__quat_rotate(pose->q, unit, axis[k]);
    }
    body->mass = foliot__mass(world)[body->slot];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            body->inertia[i][k] =
                (moment[0] * axis[0][i] * axis[0][k] + moment[1] * axis[1][i] * axis[1][k]) +
                moment[2] * axis[2][i] * axis[2][k];
}
