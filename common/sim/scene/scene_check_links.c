// SPDX-License-Identifier: MIT
// scene_check_links.c: ranges and combinations of a scene's forces and constraints, and what they
// name. The bodies are checked already.
#include "sim/math/floating_point.h"

#include "sim/scene/scene_rules.h"

#include "foliot/world.h"

// -- forces

#define FORCE(member, key, count, kind)                                                            \
    FOLIOT__RULE(foliot_force_definition, as.member, key, count, kind)
static const foliot__rule uniform_rules[] = {
    FORCE(uniform.acceleration, "acceleration", 3, FINITE),
    FOLIOT__RULE_END,
};
static const foliot__rule constant_rules[] = {
    FORCE(constant.force, "force", 3, FINITE),
    FORCE(constant.start, "start", 1, FINITE),
    FOLIOT__RULE_END,
};
static const foliot__rule spring_rules[] = {
    FORCE(spring.point, "anchor", 3, COORDINATE),
    FORCE(spring.stiffness, "stiffness", 1, NOT_NEGATIVE),
    FORCE(spring.damping, "damping", 1, NOT_NEGATIVE),
    FORCE(spring.length, "length", 1, NOT_NEGATIVE),
    FOLIOT__RULE_END,
};
static const foliot__rule drag_rules[] = {
    FORCE(drag.linear, "linear", 1, NOT_NEGATIVE),
    FORCE(drag.quadratic, "quadratic", 1, NOT_NEGATIVE),
    FOLIOT__RULE_END,
};
static const foliot__rule newton_rules[] = {
    FORCE(newton.constant, "constant", 1, FINITE),
    FORCE(newton.softening, "softening", 1, NOT_NEGATIVE),
    FOLIOT__RULE_END,
};
static const foliot__rule attractor_rules[] = {
    FORCE(attractor.point, "position", 3, COORDINATE),
    FORCE(attractor.strength, "strength", 1, FINITE),
    FOLIOT__RULE_END,
};
static const foliot__rule callback_rules[] = {FOLIOT__RULE_END};
static const foliot__rule *const force_rules[] = {uniform_rules, constant_rules, spring_rules,
                                                  drag_rules,    newton_rules,   attractor_rules,
                                                  callback_rules};
#define FORCE_KINDS (sizeof force_rules / sizeof *force_rules)

// Nothing can ever move it but its own velocity. A command may make another body of a kinematic
// one.
static bool is_unmoved(const foliot_scene *scene, uint32_t index)
{
    return index == FOLIOT_NO_BODY || scene->bodies[index].is_static ||
           (scene->bodies[index].is_kinematic && scene->commands_max == 0);
}

static bool check_reference(foliot__checker *c, foliot__scene_place at, const char *key,
                            uint32_t index, bool optional)
{
    if (index < c->scene->body_count || (optional && index == FOLIOT_NO_BODY))
        return true;
    foliot__complain(c, FOLIOT_STATUS_INVALID, at, key, "names no body");
    return false;
}

// Two ends, of which one moves: springs and constraints.
static void check_ends(foliot__checker *c, foliot__scene_place at, uint32_t a, uint32_t b)
{
    if (!check_reference(c, at, "a", a, false) || !check_reference(c, at, "b", b, true))
        return;
    if (a == b)
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "b", "must be another body than `a`");
    if (is_unmoved(c->scene, a) && is_unmoved(c->scene, b))
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "a", "neither end of it can move");
}

static void check_force(foliot__checker *c, foliot__scene_place at,
                        const foliot_force_definition *force)
{
    if (force->kind >= FORCE_KINDS) {
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "kind", "names no force");
        return;
    }
    foliot__check_rules(c, at, force_rules[force->kind], force);
    if (force->kind == FOLIOT_FORCE_SPRING) {
        check_ends(c, at, force->a, force->b);
        if (force->as.spring.damping_kind > FOLIOT_DAMPING_ISOTROPIC)
            foliot__complain(c, FOLIOT_STATUS_INVALID, at, "damping",
                             "is not a known kind of damping");
    } else if (force->kind == FOLIOT_FORCE_CONSTANT) {
        if (check_reference(c, at, "body", force->a, false) && is_unmoved(c->scene, force->a))
            foliot__complain(c, FOLIOT_STATUS_INVALID, at, "body", "%s",
                             c->scene->bodies[force->a].is_static
                                 ? "a static body never moves"
                                 : "no force moves a kinematic body");
        if (!(force->as.constant.end > force->as.constant.start)) // may be infinite
            foliot__complain(c, FOLIOT_STATUS_INVALID, at, "end", "must be later than `start`");
    } else if (force->kind == FOLIOT_FORCE_CALLBACK) {
        if (force->as.callback.callback >= FOLIOT_CALLBACKS_MAX)
            foliot__complain(c, FOLIOT_STATUS_INVALID, at, "callback", "must be less than %d",
                             FOLIOT_CALLBACKS_MAX);
    }
}

void foliot__check_forces(foliot__checker *c)
{
    const foliot_scene *scene = c->scene;
    if (scene->force_count > FOLIOT_FORCES_MAX)
        foliot__complain(c, FOLIOT_STATUS_INVALID, FOLIOT__AT_TOP, "forces",
                         "a world has at most %u forces", FOLIOT_FORCES_MAX);
    else if (scene->force_count && !scene->forces)
        foliot__complain(c, FOLIOT_STATUS_INVALID, FOLIOT__AT_TOP, "forces", "is NULL");
    for (uint32_t i = 0; c->status == FOLIOT_STATUS_OK && i < scene->force_count; i++)
        check_force(c, (foliot__scene_place){"forces", i}, &scene->forces[i]);
}

// -- constraints

#define CONSTRAINT(member, key, count, kind)                                                       \
    FOLIOT__RULE(foliot_constraint_definition, member, key, count, kind)
static const foliot__rule distance_rules[] = {
    CONSTRAINT(length, "length", 1, POSITIVE),
    CONSTRAINT(length_min, "length_min", 1, NOT_NEGATIVE),
    CONSTRAINT(stiffness, "stiffness", 1, SHARE),
    CONSTRAINT(anchor_a, "anchor_a", 3, COORDINATE),
    FOLIOT__RULE_END,
};
static const foliot__rule ball_rules[] = {
    CONSTRAINT(anchor_a, "anchor_a", 3, COORDINATE),
    FOLIOT__RULE_END,
};
static const foliot__rule hinge_rules[] = {
    CONSTRAINT(anchor_a, "anchor_a", 3, COORDINATE),
    CONSTRAINT(axis, "axis", 3, FINITE),
    CONSTRAINT(angle_min, "limits[0]", 1, FINITE),
    CONSTRAINT(angle_max, "limits[1]", 1, FINITE),
    CONSTRAINT(motor_speed, "motor.speed", 1, FINITE),
    CONSTRAINT(motor_torque, "motor.torque", 1, NOT_NEGATIVE),
    FOLIOT__RULE_END,
};
static const foliot__rule anchor_rules[] = {CONSTRAINT(anchor_b, "anchor", 3, COORDINATE),
                                            FOLIOT__RULE_END};
static const foliot__rule anchor_b_rules[] = {CONSTRAINT(anchor_b, "anchor_b", 3, COORDINATE),
                                              FOLIOT__RULE_END};
static const foliot__rule *const constraint_rules[] = {distance_rules, distance_rules, ball_rules,
                                                       hinge_rules, ball_rules};
#define CONSTRAINT_KINDS (sizeof constraint_rules / sizeof *constraint_rules)

static void check_joint(foliot__checker *c, foliot__scene_place at,
                        const foliot_constraint_definition *joint)
{
    const char *key, *fault = foliot__joint_fault(c->scene, joint, &key);
    if (fault)
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, key, "%s", fault);
}

static void check_constraint(foliot__checker *c, foliot__scene_place at,
                             const foliot_constraint_definition *constraint)
{
    if (constraint->kind >= CONSTRAINT_KINDS) {
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "kind", "names no constraint");
        return;
    }
    check_ends(c, at, constraint->a, constraint->b);
    foliot__check_rules(c, at, constraint_rules[constraint->kind], constraint);
    foliot__check_rules(c, at, constraint->b == FOLIOT_NO_BODY ? anchor_rules : anchor_b_rules,
                        constraint);
    if (constraint->kind <= FOLIOT_CONSTRAINT_ROD && constraint->length_min > constraint->length)
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "length_min",
                         "must not be greater than `length`");
    if (!(constraint->break_force > 0)) // may be infinite
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "break_force", "must be greater than 0");
    if (!(constraint->break_torque > 0))
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "break_torque", "must be greater than 0");
    if (c->status != FOLIOT_STATUS_OK)
        return;
    if (constraint->kind == FOLIOT_CONSTRAINT_ROD) {
        // RATTLE keeps a rod at its length, it does not bring it there: the bodies must start that
        // far apart.
        if (foliot__norm2(constraint->anchor_a, 3) != 0 ||
            (constraint->b != FOLIOT_NO_BODY && foliot__norm2(constraint->anchor_b, 3) != 0))
            foliot__complain(
                c, FOLIOT_STATUS_REFUSED, at, "anchor_a",
                "a rod holds bodies at their centres only: a `distance` may be off-centre");
        const double *a = c->scene->bodies[constraint->a].position;
        const double *b = constraint->b == FOLIOT_NO_BODY
                              ? constraint->anchor_b
                              : c->scene->bodies[constraint->b].position;
        double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
        double error = foliot__sqrt(foliot__norm2(d, 3)) - constraint->length;
        if (error > 1e-6 * constraint->length || error < -1e-6 * constraint->length)
            foliot__complain(c, FOLIOT_STATUS_INVALID, at, "length",
                             "a rod must have its length when the world starts (to 1 part "
                             "in 10^6): move the "
                             "bodies, or leave `length` out");
    } else if (foliot__constraint_is_joint(constraint))
        check_joint(c, at, constraint);
}

void foliot__check_constraints(foliot__checker *c)
{
    const foliot_scene *scene = c->scene;
    if (scene->constraint_count > FOLIOT_CONSTRAINTS_MAX)
        foliot__complain(c, FOLIOT_STATUS_INVALID, FOLIOT__AT_TOP, "constraints",
                         "a world has at most %u constraints", FOLIOT_CONSTRAINTS_MAX);
    else if (scene->constraint_count && !scene->constraints)
        foliot__complain(c, FOLIOT_STATUS_INVALID, FOLIOT__AT_TOP, "constraints", "is NULL");
    for (uint32_t i = 0; c->status == FOLIOT_STATUS_OK && i < scene->constraint_count; i++)
        check_constraint(c, (foliot__scene_place){"constraints", i}, &scene->constraints[i]);
}
