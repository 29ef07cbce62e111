// SPDX-License-Identifier: MIT
// joint_damping.c: damping of light bodies under large forces. A link of moment I between two
// forces F at arms r swings back with the stiffness K = F . r about the axes across the arm (the
// part along it of the geometric stiffness of Tournier et al., "Stable constrained dynamics",
// SIGGRAPH 2015). With the weight of a thousand links at a chain's end, its swing is faster than
// any substep, and an explicit step blows up where h^2 K > 4 I. Swings that a substep h cannot
// resolve are damped: two such neighbours get a friction in their joint, implicit in their relative
// rotation, that makes the step stable (with semi-implicit Euler and a moment W of friction where 2
// W > h^2 K - 4 I). It acts neither on the whole chain's swing nor on momentum. Slower swings have
// none.
#include "sim/joint/joint_internal.h"

// The arm, read from the rows: the rows of a point in world axes are unit vectors and arm x unit
// vector.
static vec3 arm_of(const double rows[FOLIOT__ROWS][6], double sign)
{
    return (vec3){sign * (rows[1][5] - rows[2][4]) / 2, sign * (rows[2][3] - rows[0][5]) / 2,
                  sign * (rows[0][4] - rows[1][3]) / 2};
}

static void add_stiffness(foliot__joint_body *body, vec3 force, vec3 arm)
{
    static const vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const double part[3] = {arm.x, arm.y, arm.z};
    double along = vec3_dot(force, arm), length2 = vec3_dot(arm, arm);
    if (!(along > 0 && length2 > 0)) // a force that pushes is unstable: there is no swing
        return;
    for (int i = 0; i < 3; i++) {
        vec3 across = vec3_sub(axes[i], vec3_divide(vec3_scale(arm, part[i]), length2));
        body->stiffness.row[i] = vec3_add(body->stiffness.row[i], vec3_scale(across, along));
    }
}

static void find_swing(foliot__joint_body *body, double h)
{
    const vec3 *k = body->stiffness.row;
    double trace = (k[0].x + k[1].y) + k[2].z, weighed = 0;
    for (int i = 0; i < 3; i++)
        weighed += vec3_dot(k[i], body->inertia.row[i]);
    // The moment about the axes of the stiffness, and the least moment that a substep can resolve.
    double moment = trace > 0 ? weighed / trace : 0, least = h * h * trace / 2;
    body->swing = least > moment ? least - moment : 0;
}

static bool set_friction(const foliot__joints *j, foliot__joint *joint)
{
    bool both = joint->a != FOLIOT__NONE && joint->b != FOLIOT__NONE;
    bool turns = joint->kind == FOLIOT_CONSTRAINT_BALL || joint->kind == FOLIOT_CONSTRAINT_HINGE;
    joint->friction.moment = 0;
    if (!both || !turns)
        return false;
    double a = j->bodies[joint->a].swing, b = j->bodies[joint->b].swing;
    joint->friction.moment = (a < b ? a : b) / 2;
    return joint->friction.moment > 0;
}

bool foliot__island_damp(foliot__joints *j, const foliot__island *island, double h, double share)
{
    bool any = false;
    double scale = 1 / (h * (share > 0 ? share : 1));
    for (uint32_t i = 0; i < island->bodies; i++)
        j->bodies[island->body + i].stiffness = (mat3){0};
    for (uint32_t i = 0; i < island->joints; i++)
        if (j->joints[island->joint + i].kind != FOLIOT_CONSTRAINT_DISTANCE) {
            const foliot__joint *joint = &j->joints[island->joint + i];
            vec3 force = vec3_scale(vec3_of(joint->impulse_sum), scale);
            if (joint->b != FOLIOT__NONE)
                add_stiffness(&j->bodies[joint->b], force,
                              arm_of((const double(*)[6])joint->jb, 1));
            if (joint->a != FOLIOT__NONE)
                add_stiffness(&j->bodies[joint->a], vec3_negate(force),
                              arm_of((const double(*)[6])joint->ja, -1));
        }
    for (uint32_t i = 0; i < island->bodies; i++)
        find_swing(&j->bodies[island->body + i], h);
    for (uint32_t i = 0; i < island->joints; i++)
        any |= set_friction(j, &j->joints[island->joint + i]);
    return any;
}
