// SPDX-License-Identifier: MIT
// joint_jacobian.c: the constraints of a joint as rows of a Jacobian. The speed at which an error
// grows is ja . velocity of a + jb . velocity of b (linear, then angular, world axes).
//
// Ball: three rows, which keep the anchors together. Hinge: two more, which keep its axis as seen
// from b; its angle is the limit row. Weld: three more, no rotation at all. Distance: one row
// along the line between the anchors, limited where it is a rope.
#include "sim/joint/joint_internal.h"

#include "foliot/digest.h"
#include "sim/state/state.h"

#include <string.h>

#define PI 0x1.921fb54442d18p+1
#define INFINITE ((double)__builtin_inf())

foliot__pose foliot__pose_of(const foliot_world *world, uint32_t slot)
{
    if (slot == FOLIOT_NO_BODY)
        return (foliot__pose){{0, 0, 0}, {1, 0, 0, 0}};
    return (foliot__pose){foliot__v3_get(foliot__position(world), slot),
                          foliot__quat_get(world, slot)};
}

// Rotates by the angle whose half has the tangent |w| h / 2, as in rotation.c.
void foliot__pose_move(foliot__pose *pose, const double velocity[6], double h)
{
    vec3 half = vec3_scale(vec3_of(velocity + 3), h / 2);
    pose->x = vec3_add(pose->x, vec3_scale(vec3_of(velocity), h));
    pose->q = quat_normalise(quat_multiply((quat){1, half.x, half.y, half.z}, pose->q));
}

void foliot__pose_velocity(const foliot__pose *from, const foliot__pose *to, double h,
                           double velocity[6])
{
    quat turn = quat_multiply(to->q, quat_conjugate(from->q));
    // Half turns have no tangent, so the result is limited to what one radian gives.
    double w = turn.w < 0 ? -turn.w : turn.w, sign = turn.w < 0 ? -1 : 1;
    double scale = 2 * sign / (h * (w > 0.5 ? w : 0.5));
    vec3_store(vec3_divide(vec3_sub(to->x, from->x), h), velocity);
    vec3_store(vec3_scale(quat_vector(turn), scale), velocity + 3);
}

// -- the orientation of a body at a substep's end if the joints' impulses act at its
// start, as RATTLE requires. It is the free rotation of rotation.c, where the splitting and its
// sources are described, for one body. A rotation on top of the scheme's own would cost a tenth of
// a tumbling body's energy a minute.

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
    if (e[0] == e[1] && e[1] == e[2]) { // one turn about the momentum
        const double half = h / 2;
        vec3 s = {m[0] * e[0] * half, m[1] * e[0] * half, m[2] * e[0] * half};
        return quat_normalise((quat){q[0] - ((q[1] * s.x + q[2] * s.y) + q[3] * s.z),
                                     q[1] + q[0] * s.x + (q[2] * s.z - q[3] * s.y),
                                     q[2] + q[0] * s.y + (q[3] * s.x - q[1] * s.z),
                                     q[3] + q[0] * s.z + (q[1] * s.y - q[2] * s.x)});
    }
    rotate_about_axis(q, m, e[0], h / 4, 0, 1, 2);
    rotate_about_axis(q, m, e[1], h / 4, 1, 2, 0);
    rotate_about_axis(q, m, e[2], h / 2, 2, 0, 1);
    rotate_about_axis(q, m, e[1], h / 4, 1, 2, 0);
    rotate_about_axis(q, m, e[0], h / 4, 0, 1, 2);
    return quat_normalise(quat_of(q));
}

// -- definitions

void foliot__joint_define(const foliot_world *world, uint32_t index, foliot__joint *joint)
{
    const foliot_constraint_definition *d = &foliot__constraint(world)[index];
    memset(joint, 0, sizeof *joint);
    joint->index = index;
    joint->kind = d->kind;
    joint->slot_a = d->a;
    joint->slot_b = d->b;
    joint->a = joint->b = joint->child = joint->parent = FOLIOT__NONE;
    joint->frame.anchor_a = vec3_of(d->anchor_a);
    joint->frame.anchor_b = vec3_of(d->anchor_b);
    joint->frame.start = quat_of(foliot__joint_start(world) + 4 * (size_t)index);
    joint->frame.arm_length = vec3_length(joint->frame.anchor_a);
    if (d->b != FOLIOT_NO_BODY)
        joint->frame.arm_length += vec3_length(joint->frame.anchor_b);
    if (d->kind == FOLIOT_CONSTRAINT_HINGE) {
        vec3 axis = joint->frame.axis = vec3_of(d->axis);
        // Two directions that make a right-handed frame with the axis.
        double x = axis.x < 0 ? -axis.x : axis.x, y = axis.y < 0 ? -axis.y : axis.y;
        double z = axis.z < 0 ? -axis.z : axis.z;
        bool least_x = x <= y && x <= z, least_y = !least_x && y <= z;
        vec3 across = vec3_cross(axis, (vec3){least_x, least_y, !least_x && !least_y});
        joint->frame.side[0] = vec3_divide(across, vec3_length(across));
        joint->frame.side[1] = vec3_cross(axis, joint->frame.side[0]);
        joint->frame.axis_b = quat_rotate(quat_conjugate(joint->frame.start), joint->frame.axis);
        bool limited = d->angle_min <= d->angle_max;
        joint->rows = 5;
        joint->limit.present = limited || d->motor_torque > 0;
        joint->limit.least = limited ? d->angle_min : -INFINITE;
        joint->limit.greatest = limited ? d->angle_max : INFINITE;
        joint->limit.counted = limited && (d->angle_min < -PI || d->angle_max > PI);
        joint->limit.speed = d->motor_speed;
        joint->limit.strength = d->motor_torque;
    } else if (d->kind == FOLIOT_CONSTRAINT_DISTANCE) {
        joint->limit.present = d->length_min < d->length;
        joint->rows = !joint->limit.present;
        joint->limit.least = d->length_min;
        joint->limit.greatest = d->length;
        joint->frame.arm_length = d->length;
    } else {
        joint->rows = d->kind == FOLIOT_CONSTRAINT_WELD ? 6 : 3;
    }
}

void foliot__joint_starts(foliot_world *world)
{
    for (uint32_t i = 0; world->scene.joints && i < world->constraint_count; i++) {
        const foliot_constraint_definition *d = &foliot__constraint(world)[i];
        foliot__pose a = foliot__pose_of(world, d->a), b = foliot__pose_of(world, d->b);
        quat_store(quat_multiply(quat_conjugate(a.q), b.q),
                   foliot__joint_start(world) + 4 * (size_t)i);
    }
}

// -- rows

// From the bodies' centres to the joint's anchors, and from a's anchor to b's.
typedef struct arms {
    vec3 a, b, apart;
} arms;

static arms arms_of(const foliot__joint *joint, const foliot__pose *a, const foliot__pose *b)
{
    arms arm = {.a = quat_rotate(a->q, joint->frame.anchor_a),
                .b = quat_rotate(b->q, joint->frame.anchor_b)};
    arm.apart = vec3_add(vec3_sub(b->x, a->x), vec3_sub(arm.b, arm.a));
    return arm;
}

// Row r: the speed of b's anchor against a's along a unit vector.
static void row_along(foliot__joint *joint, uint32_t r, vec3 along, const arms *arm)
{
    vec3_store(vec3_negate(along), joint->ja[r]);
    vec3_store(along, joint->jb[r]);
    vec3_store(vec3_negate(vec3_cross(arm->a, along)), joint->ja[r] + 3);
    vec3_store(vec3_cross(arm->b, along), joint->jb[r] + 3);
}

// Row r: the rotation of b against a about a unit vector.
static void row_about(foliot__joint *joint, uint32_t r, vec3 about)
{
    static const vec3 none;
    vec3_store(none, joint->ja[r]);
    vec3_store(none, joint->jb[r]);
    vec3_store(vec3_negate(about), joint->ja[r] + 3);
    vec3_store(about, joint->jb[r] + 3);
}

static const vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

void foliot__joint_linearise(foliot__joint *joint, const foliot__pose *a, const foliot__pose *b)
{
    arms arm = arms_of(joint, a, b);
    if (joint->kind == FOLIOT_CONSTRAINT_DISTANCE) {
        double length = vec3_length(arm.apart);
        // Two ends in one place are held along x.
        row_along(joint, 0, length > 0 ? vec3_divide(arm.apart, length) : axes[0], &arm);
        return;
    }
    for (uint32_t r = 0; r < 3; r++)
        row_along(joint, r, axes[r], &arm);
    if (joint->kind != FOLIOT_CONSTRAINT_HINGE) {
        for (uint32_t r = 0; r < 3; r++) // of a ball: for friction
            row_about(joint, 3 + r, axes[r]);
        return;
    }
    for (uint32_t r = 0; r < 2; r++)
        row_about(joint, 3 + r, quat_rotate(a->q, joint->frame.side[r]));
    row_about(joint, 5, quat_rotate(a->q, joint->frame.axis));
}

// b's orientation against a's, less what it was as the scene started, in a's axes.
static quat turn_since_start(const foliot__joint *joint, const foliot__pose *a,
                             const foliot__pose *b)
{
    quat apart = quat_multiply(quat_conjugate(a->q), b->q);
    return quat_multiply(apart, quat_conjugate(joint->frame.start));
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

void foliot__joint_begin_angle(const foliot_world *world, foliot__joint *joint)
{
    joint->limit.followed = false;
    if (joint->limit.counted) {
        uint8_t state = foliot__constraint_state(world)[joint->index];
        joint->limit.value = PI * (state < 128 ? state / 2 : state / 2 - 128);
    }
}

void foliot__joint_end_angle(foliot_world *world, foliot__joint *joint)
{
    uint8_t *state = &foliot__constraint_state(world)[joint->index], now = 0;
    if (joint->limit.counted) {
        foliot__pose a = foliot__pose_of(world, joint->slot_a);
        foliot__pose b = foliot__pose_of(world, joint->slot_b);
        foliot__joint_measure(joint, &a, &b);
        if (joint->limit.value !=
            joint->limit.value) // a body is about to be frozen: the count stays
            return;
        const double most = FOLIOT_HALF_TURNS_MAX + 2;
        _Static_assert(2 * (FOLIOT_HALF_TURNS_MAX + 2) < 128, "twice the half turns fill a byte");
        double turns = foliot_clamp(joint->limit.value / PI, -most, most);
        now = (uint8_t)(2 * (int)(turns + (turns < 0 ? -0.5 : 0.5)));
    }
    world->digests.definition_dirty |= now != *state;
    *state = now;
}

void foliot__joint_measure(foliot__joint *joint, const foliot__pose *a, const foliot__pose *b)
{
    vec3 apart = arms_of(joint, a, b).apart;
    if (joint->kind == FOLIOT_CONSTRAINT_DISTANCE) {
        joint->limit.value = vec3_length(apart);
        joint->error[0] = joint->limit.value - joint->limit.greatest;
        return;
    }
    vec3_store(apart, joint->error);
    if (joint->kind == FOLIOT_CONSTRAINT_WELD) {
        quat turn = turn_since_start(joint, a, b);
        double twice = turn.w < 0 ? -2 : 2;
        vec3_store(vec3_scale(quat_rotate(a->q, quat_vector(turn)), twice), joint->error + 3);
    }
    if (joint->kind != FOLIOT_CONSTRAINT_HINGE)
        return;
    const foliot__joint_frame *frame = &joint->frame;
    foliot__joint_limit *limit = &joint->limit;
    vec3 off = vec3_cross(quat_rotate(a->q, frame->axis), quat_rotate(b->q, frame->axis_b));
    for (int r = 0; r < 2; r++)
        joint->error[3 + r] = vec3_dot(quat_rotate(a->q, frame->side[r]), off);
    if (!limit->present)
        return;
    // Once measured in a tick an angle is followed without jumps. The first one is measured from
    // the middle of the limits, so that neither limit is near the jump from pi to -pi.
    quat turn = turn_since_start(joint, a, b);
    double angle = 2 * foliot_atan2(vec3_dot(quat_vector(turn), frame->axis), turn.w);
    if (!limit->counted) {
        double middle = limit->least > -INFINITE ? (limit->least + limit->greatest) / 2 : 0;
        angle -= middle;
        if (angle > PI)
            angle -= 2 * PI;
        else if (angle < -PI)
            angle += 2 * PI;
        angle = angle < -PI ? angle + 2 * PI + middle : angle + middle;
    }
    if (limit->counted || limit->followed)
        angle = nearest_angle(angle, limit->value);
    limit->value = angle;
    limit->followed = true;
}

double foliot__joint_error_max(const foliot__joint *joint)
{
    double worst = 0;
    for (uint32_t r = 0; r < joint->rows; r++) {
        bool length = r < 3 && joint->frame.arm_length > 0;
        double error = joint->error[r] < 0 ? -joint->error[r] : joint->error[r];
        double share = length ? error / joint->frame.arm_length : r < 3 ? 0 : error;
        worst = share > worst ? share : worst;
    }
    return worst;
}

// -- masses

// A body that does not rotate gets moments of 1: no row uses its rotation.
void foliot__joint_body_set_mass(const foliot_world *world, foliot__joint_body *body,
                                 const foliot__pose *pose)
{
    bool turns = foliot__inverse_inertia(world).x[body->slot] > 0;
    vec3 moment = turns ? foliot__v3_get(foliot__inertia(world), body->slot) : (vec3){1, 1, 1};
    vec3 axis[3];
    for (int k = 0; k < 3; k++)
        axis[k] = quat_rotate(pose->q, axes[k]);
    body->mass = foliot__mass(world)[body->slot];
    mat3 part = mat3_transpose((mat3){{axis[0], axis[1], axis[2]}});
    for (int i = 0; i < 3; i++) {
        vec3 factor = vec3_multiply(moment, part.row[i]);
        body->inertia.row[i] =
            vec3_add(vec3_add(vec3_scale(axis[0], factor.x), vec3_scale(axis[1], factor.y)),
                     vec3_scale(axis[2], factor.z));
    }
}

// -- goals: the speeds that the rows of an island must gain, for positions and for velocities

static foliot__pose pose_now(const foliot__joints *j, const foliot_world *world, uint32_t slot,
                             uint32_t body, double h)
{
    foliot__pose pose = foliot__pose_of(world, slot);
    if (body == FOLIOT__NONE || !(h > 0))
        return pose;
    foliot__pose_move(&pose, j->bodies[body].moved, h);
    if (j->bodies[body].free)
        pose.q = foliot__joint_body_rotate(world, &j->bodies[body], h);
    return pose;
}

void foliot__island_linearise(foliot__joints *j, const foliot_world *world, foliot__island *island,
                              double h)
{
    for (uint32_t i = 0; i < island->bodies; i++) {
        foliot__joint_body *body = &j->bodies[island->body + i];
        foliot__pose pose = pose_now(j, world, body->slot, island->body + i, h);
        foliot__joint_body_set_mass(world, body, &pose);
    }
    for (uint32_t i = 0; i < island->joints; i++) {
        foliot__joint *joint = &j->joints[island->joint + i];
        foliot__pose a = pose_now(j, world, joint->slot_a, joint->a, h);
        foliot__pose b = pose_now(j, world, joint->slot_b, joint->b, h);
        foliot__joint_linearise(joint, &a, &b);
        foliot__joint_measure(joint, &a, &b);
    }
    island->unfactored = true;
}

const double *foliot__joint_outside_velocity(const foliot_world *world, uint32_t slot,
                                             double out[6])
{
    if (world->counts.kinematic == 0 || slot == FOLIOT_NO_BODY ||
        !foliot__is_kinematic(world, slot))
        return NULL;
    foliot__v3 v = foliot__velocity(world), w = foliot__angular_velocity(world);
    const double all[6] = {v.x[slot], v.y[slot], v.z[slot], w.x[slot], w.y[slot], w.z[slot]};
    memcpy(out, all, sizeof all);
    return out;
}

static double speed_of(const foliot__joint *joint, uint32_t row, const double *a, const double *b)
{
    return (a ? foliot__dot6(joint->ja[row], a) : 0) + (b ? foliot__dot6(joint->jb[row], b) : 0);
}

// The rotation speed of b against a along a row: the scheme's, and what was moved since.
static double turning_of(const foliot__joints *j, const foliot_world *world,
                         const foliot__joint *joint, uint32_t row)
{
    foliot__v3 w = foliot__angular_velocity(world);
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        uint32_t body = side ? joint->b : joint->a, slot = side ? joint->slot_b : joint->slot_a;
        const double *direction = (side ? joint->jb[row] : joint->ja[row]) + 3;
        double outside[6];
        const double *carried =
            body == FOLIOT__NONE ? foliot__joint_outside_velocity(world, slot, outside) : NULL;
        if (carried)
            sum += vec3_dot(vec3_of(direction), vec3_of(carried + 3));
        if (body == FOLIOT__NONE)
            continue;
        vec3 spin = vec3_add(foliot__v3_get(w, slot), vec3_of(j->bodies[body].moved + 3));
        sum += vec3_dot(vec3_of(direction), spin);
    }
    return sum;
}

double foliot__island_target_positions(foliot__joints *j, const foliot_world *world,
                                       const foliot__island *island, double h)
{
    const double infinite = __builtin_inf();
    double worst = 0;
    for (uint32_t i = 0; i < island->joints; i++) {
        foliot__joint *joint = &j->joints[island->joint + i];
        foliot__pose a = pose_now(j, world, joint->slot_a, joint->a, h);
        foliot__pose b = pose_now(j, world, joint->slot_b, joint->b, h);
        foliot__joint_measure(joint, &a, &b);
        double error = foliot__joint_error_max(joint);
        worst = error > worst ? error : worst;
        for (uint32_t r = 0; r < joint->rows; r++)
            joint->goal[r] = -joint->error[r] / h;
        joint->limit.low = (joint->limit.least - joint->limit.value) / h;
        joint->limit.high = (joint->limit.greatest - joint->limit.value) / h;
        joint->limit.drive =
            joint->limit.strength > 0
                ? joint->limit.speed - (joint->limit.value - joint->limit.value_before) / h
                : infinite;
        for (uint32_t r = joint->rows;
             r < FOLIOT__ROWS && joint->kind != FOLIOT_CONSTRAINT_DISTANCE; r++)
            joint->friction.goal[r] = -turning_of(j, world, joint, r);
    }
    return worst;
}

void foliot__island_target_velocities(foliot__joints *j, const foliot_world *world,
                                      const foliot__island *island, double h)
{
    const double infinite = __builtin_inf();
    for (uint32_t i = 0; i < island->joints; i++) {
        foliot__joint *joint = &j->joints[island->joint + i];
        double outside_a[6], outside_b[6];
        const double *a = joint->a == FOLIOT__NONE
                              ? foliot__joint_outside_velocity(world, joint->slot_a, outside_a)
                              : j->bodies[joint->a].change;
        const double *b = joint->b == FOLIOT__NONE
                              ? foliot__joint_outside_velocity(world, joint->slot_b, outside_b)
                              : j->bodies[joint->b].change;
        for (uint32_t r = 0; r < joint->rows; r++)
            joint->goal[r] = -speed_of(joint, r, a, b);
        if (!joint->limit.present)
            continue;
        double speed = speed_of(joint, joint->rows, a, b);
        double below = (joint->limit.least - joint->limit.value) / h,
               above = (joint->limit.greatest - joint->limit.value) / h;
        joint->limit.low = (below < 0 ? below : 0) - speed;
        joint->limit.high = (above > 0 ? above : 0) - speed;
        joint->limit.drive = joint->limit.strength > 0 ? joint->limit.speed - speed : infinite;
    }
}
