// SPDX-License-Identifier: MIT
// scene_joint.c: the requirements of a joint on its bodies, and its anchors as the scene starts.
// Ranges of single numbers are scene_check.c's.
#include "sim/math/vec3.h"

#include "sim/scene/scene.h"

#define PI 0x1.921fb54442d18p+1
#define APART_MAX                                                                                  \
    1e-6 // of the arms: joints keep their anchors together, they do not bring them together

// v from the axes of a body into those of the world, as the scene starts.
static vec3 rotate_to_world(quat orientation, vec3 v)
{
    return quat_rotate(quat_normalise(orientation), v);
}

void foliot__body_to_world(const foliot_body_definition *body, const double arm[3], double point[3])
{
    vec3 turned = rotate_to_world(quat_of(body->orientation), vec3_of(arm));
    vec3_store(vec3_add(turned, vec3_of(body->position)), point);
}

void foliot__direction_to_body(const foliot_body_definition *body, const double v[3], double out[3])
{
    vec3_store(rotate_to_world(quat_conjugate(quat_of(body->orientation)), vec3_of(v)), out);
}

void foliot__world_to_body(const foliot_body_definition *body, const double point[3], double arm[3])
{
    double from[3];
    vec3_store(vec3_sub(vec3_of(point), vec3_of(body->position)), from);
    foliot__direction_to_body(body, from, arm);
}

static void anchors_of(const foliot_scene *scene, const foliot_constraint_definition *joint,
                       double a[3], double b[3])
{
    foliot__body_to_world(&scene->bodies[joint->a], joint->anchor_a, a);
    vec3_store(vec3_of(joint->anchor_b), b);
    if (joint->b != FOLIOT_NO_BODY)
        foliot__body_to_world(&scene->bodies[joint->b], joint->anchor_b, b);
}

double foliot__joint_span(const foliot_scene *scene, const foliot_constraint_definition *joint)
{
    double a[3], b[3];
    anchors_of(scene, joint, a, b);
    return vec3_length(vec3_sub(vec3_of(b), vec3_of(a)));
}

static bool anchors_apart(const foliot_scene *scene, const foliot_constraint_definition *joint)
{
    double a[3], b[3], arms = foliot__vec3_length(joint->anchor_a);
    anchors_of(scene, joint, a, b);
    if (joint->b != FOLIOT_NO_BODY)
        arms += foliot__vec3_length(joint->anchor_b);
    double rounding = 1e-12 * (foliot__vec3_length(a) + foliot__vec3_length(b));
    return foliot__joint_span(scene, joint) > APART_MAX * arms + rounding;
}

// A point does not turn: all that can be held of it is its centre.
static bool holds_point(const foliot_scene *scene, uint32_t body, const double anchor[3])
{
    if (body == FOLIOT_NO_BODY || scene->bodies[body].is_static)
        return false;
    return !foliot__body_rotates(&scene->bodies[body]) && foliot__vec3_length(anchor) > 0;
}

static bool holds_direction(const foliot_scene *scene, uint32_t body)
{
    return body == FOLIOT_NO_BODY || scene->bodies[body].is_static ||
           foliot__body_rotates(&scene->bodies[body]);
}

static const char *hinge_fault(const foliot_constraint_definition *hinge, const char **key)
{
    double length = foliot__vec3_length(hinge->axis);
    *key = "axis";
    if (!(length > 1 - 1e-9 && length < 1 + 1e-9))
        return "must have length 1";
    *key = "limits";
    if (hinge->angle_min > hinge->angle_max)
        return NULL; // none
    if (hinge->angle_min < -PI * FOLIOT_HALF_TURNS_MAX ||
        hinge->angle_max > PI * FOLIOT_HALF_TURNS_MAX)
        return "must lie between -60 pi and 60 pi: 30 turns";
    if (hinge->angle_min > 0 || hinge->angle_max < 0)
        return "must have 0 between them: the angle as the scene starts";
    return NULL;
}

const char *foliot__joint_fault(const foliot_scene *scene,
                                const foliot_constraint_definition *joint, const char **key)
{
    bool stiff = joint->kind == FOLIOT_CONSTRAINT_HINGE || joint->kind == FOLIOT_CONSTRAINT_WELD;
    *key = "a";
    if (stiff && !holds_direction(scene, joint->a))
        return "a point does not turn, so nothing can hold its direction: give it a shape or an "
               "inertia";
    if (holds_point(scene, joint->a, joint->anchor_a))
        return "a point does not turn and can be held at its centre only: give it a shape or an "
               "inertia, or use a `rod`";
    *key = "b";
    if (stiff && !holds_direction(scene, joint->b))
        return "a point does not turn, so nothing can hold its direction: give it a shape or an "
               "inertia";
    if (holds_point(scene, joint->b, joint->anchor_b))
        return "a point does not turn and can be held at its centre only: give it a shape or an "
               "inertia, or use a `rod`";
    const char *fault = joint->kind == FOLIOT_CONSTRAINT_HINGE ? hinge_fault(joint, key) : NULL;
    if (fault)
        return fault;
    *key = "anchor_b";
    if (joint->kind != FOLIOT_CONSTRAINT_DISTANCE && anchors_apart(scene, joint))
        return "the two anchors must be one place as the scene starts (to 1 part in 10^6 of their "
               "arms): "
               "leave one of them out and it is computed";
    return NULL;
}
