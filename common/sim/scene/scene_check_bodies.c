// SPDX-License-Identifier: MIT
// scene_check_bodies.c: ranges and combinations of a scene's bodies, and that no two have one name.
#include "sim/math/floating_point.h"

#include "sim/scene/scene_rules.h"

#include <stdlib.h>
#include <string.h>

#define BODY(member, key, count, kind)                                                             \
    FOLIOT__RULE(foliot_body_definition, member, key, count, kind)
static const foliot__rule body_rules[] = {
    BODY(inertia, "inertia", 3, NOT_NEGATIVE),
    BODY(position, "position", 3, COORDINATE),
    BODY(velocity, "velocity", 3, COORDINATE),
    BODY(orientation, "orientation", 4, FINITE),
    BODY(angular_velocity, "angular_velocity", 3, COORDINATE),
    BODY(force, "force", 3, FINITE),
    BODY(friction, "friction", 1, NOT_NEGATIVE),
    BODY(restitution, "restitution", 1, UNIT),
    BODY(gravity_scale, "gravity_scale", 1, FINITE),
    BODY(linear_damping, "linear_damping", 1, NOT_NEGATIVE),
    BODY(angular_damping, "angular_damping", 1, NOT_NEGATIVE),
    FOLIOT__RULE_END,
};
static const foliot__rule mass_rules[] = {BODY(mass, "mass", 1, POSITIVE), FOLIOT__RULE_END};
static const foliot__rule free_mass_rules[] = {BODY(mass, "mass", 1, NOT_NEGATIVE),
                                               FOLIOT__RULE_END};
static const foliot__rule point_rules[] = {FOLIOT__RULE_END};
static const foliot__rule sphere_rules[] = {BODY(shape.radius, "shape.radius", 1, POSITIVE),
                                            FOLIOT__RULE_END};
static const foliot__rule plane_rules[] = {
    BODY(shape.normal, "shape.normal", 3, FINITE),
    BODY(shape.offset, "shape.offset", 1, COORDINATE),
    FOLIOT__RULE_END,
};
static const foliot__rule box_rules[] = {BODY(shape.half, "shape.half", 3, POSITIVE),
                                         FOLIOT__RULE_END};
static const foliot__rule capsule_rules[] = {
    BODY(shape.radius, "shape.radius", 1, POSITIVE),
    BODY(shape.half[2], "shape.half_length", 1, NOT_NEGATIVE),
    FOLIOT__RULE_END,
};
static const foliot__rule *const shape_rules[] = {point_rules, sphere_rules, plane_rules, box_rules,
                                                  capsule_rules};
#define SHAPE_COUNT (sizeof shape_rules / sizeof *shape_rules)

static void check_shape(foliot__checker *c, foliot__scene_place at,
                        const foliot_body_definition *body)
{
    const foliot_shape *shape = &body->shape;
    if (shape->kind >= SHAPE_COUNT) {
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "shape.kind", "names no shape");
        return;
    }
    foliot__check_rules(c, at, shape_rules[shape->kind], body);
    if (shape->kind != FOLIOT_SHAPE_PLANE)
        return;
    double length2 = foliot__norm2(shape->normal, 3);
    if (!(length2 > 1 - 1e-9 && length2 < 1 + 1e-9))
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "shape.normal", "must have length 1");
    if (!body->is_static)
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "shape.kind",
                         "a plane must be static: add `static: true`");
}

// Principal moments of a real body: none is greater than the sum of the other two (a flat plate
// reaches it, hence the allowance for rounding).
static void check_inertia(foliot__checker *c, foliot__scene_place at,
                          const foliot_body_definition *body)
{
    const double *i = body->inertia;
    if (i[0] == 0 && i[1] == 0 && i[2] == 0)
        return;
    if (!(i[0] > 0 && i[1] > 0 && i[2] > 0))
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "inertia",
                         "needs three moments greater than 0");
    double tolerance = 1 + 1e-9;
    if (i[0] > (i[1] + i[2]) * tolerance || i[1] > (i[2] + i[0]) * tolerance ||
        i[2] > (i[0] + i[1]) * tolerance)
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "inertia",
                         "no body has a principal moment greater than the sum of the other two");
}

void foliot__check_body(foliot__checker *c, foliot__scene_place at,
                        const foliot_body_definition *body)
{
    const char *fault = body->name ? foliot__name_fault(body->name) : NULL;
    if (fault)
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "name", "%s", fault);
    if (!body->is_static)
        foliot__check_rules(c, at, body->is_kinematic ? free_mass_rules : mass_rules, body);
    foliot__check_rules(c, at, body_rules, body);
    check_shape(c, at, body);
    check_inertia(c, at, body);
    if (body->is_static && foliot__norm2(body->velocity, 3) > 0)
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "velocity", "a static body never moves");
    if (body->is_static && foliot__norm2(body->angular_velocity, 3) > 0)
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "angular_velocity",
                         "a static body never turns");
    if (body->is_static && foliot__norm2(body->force, 3) > 0)
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "force", "a static body never moves");
    if (!foliot__body_rotates(body) && foliot__norm2(body->angular_velocity, 3) > 0)
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "angular_velocity",
                         "a point does not turn: give the body a shape or an inertia");
    double length2 = foliot__norm2(body->orientation, 4);
    if (!(length2 > 1e-12 && length2 < 1e12))
        foliot__complain(
            c, FOLIOT_STATUS_INVALID, at, "orientation",
            "must be a quaternion (w, x, y, z) whose length lies between 1e-6 and 1e6");
    // How it moves, and what it meets.
    if (body->is_static && body->is_kinematic)
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "kinematic",
                         "a body is static or kinematic, not both");
    if (body->is_kinematic && foliot__norm2(body->force, 3) > 0)
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "force", "no force moves a kinematic body");
    if (body->is_sensor && body->shape.kind == FOLIOT_SHAPE_POINT)
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "sensor",
                         "a point senses nothing: give the body a shape");
    if (body->category == 0)
        foliot__complain(c, FOLIOT_STATUS_INVALID, at, "filter.category",
                         "must have one bit at least");
}

static void compare_names(foliot__checker *c, const char *list,
                          const foliot_body_definition *bodies, uint32_t body_count,
                          foliot__name_entry *entries)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < body_count; i++) {
        const char *name = bodies[i].name;
        if (name && *name)
            entries[count++] = (foliot__name_entry){foliot__name_hash(name), name, i};
    }
    foliot__names_sort(entries, entries + body_count, count);
    uint32_t second = FOLIOT__NOWHERE; // the earliest one that comes too late
    for (uint32_t k = 1; k < count; k++) {
        const foliot__name_entry *a = &entries[k - 1], *b = &entries[k];
        if (a->hash == b->hash && b->index < second && strcmp(a->name, b->name) == 0)
            second = b->index;
    }
    if (second != FOLIOT__NOWHERE)
        foliot__complain(c, FOLIOT_STATUS_INVALID, (foliot__scene_place){list, second}, "name",
                         "another %s is called `%s` already",
                         bodies == c->scene->bodies ? "body" : "prototype", bodies[second].name);
}

static void check_names_unique(foliot__checker *c, const char *list,
                               const foliot_body_definition *bodies, uint32_t count)
{
    if (c->status != FOLIOT_STATUS_OK || count < 2)
        return;
    // From the heap, since a scene may have more names than a stack holds. A scene is checked
    // before it becomes a world, never in a step.
    foliot__name_entry *entries = malloc(2 * (size_t)count * sizeof *entries);
    if (!entries) {
        foliot__complain(c, FOLIOT_STATUS_MEMORY, FOLIOT__AT_TOP, list,
                         "no memory to compare the names");
        return;
    }
    compare_names(c, list, bodies, count, entries);
    free(entries);
}

void foliot__check_bodies(foliot__checker *c)
{
    const foliot_scene *scene = c->scene;
    if (scene->body_count && !scene->bodies) {
        foliot__complain(c, FOLIOT_STATUS_INVALID, FOLIOT__AT_TOP, "bodies", "is NULL");
        return;
    }
    if (scene->body_count > FOLIOT_BODIES_MAX) {
        foliot__complain(c, FOLIOT_STATUS_INVALID, FOLIOT__AT_TOP, "bodies",
                         "a world has at most %u bodies", FOLIOT_BODIES_MAX);
        return;
    }
    for (uint32_t i = 0; i < scene->body_count && c->status == FOLIOT_STATUS_OK; i++)
        foliot__check_body(c, (foliot__scene_place){"bodies", i}, &scene->bodies[i]);
    check_names_unique(c, "bodies", scene->bodies, scene->body_count);
}

// The command that spawns a prototype sets its position.
void foliot__check_prototypes(foliot__checker *c)
{
    const foliot_scene *scene = c->scene;
    if (scene->prototype_count > FOLIOT_PROTOTYPES_MAX)
        foliot__complain(c, FOLIOT_STATUS_INVALID, FOLIOT__AT_TOP, "prototypes",
                         "a scene has at most %u prototypes", FOLIOT_PROTOTYPES_MAX);
    else if (scene->prototype_count && !scene->prototypes)
        foliot__complain(c, FOLIOT_STATUS_INVALID, FOLIOT__AT_TOP, "prototypes", "is NULL");
    if (scene->prototype_count && scene->commands_max == 0)
        foliot__complain(c, FOLIOT_STATUS_INVALID, FOLIOT__AT_TOP, "prototypes",
                         "nothing spawns them: the scene has no `limits.commands_max`");
    for (uint32_t i = 0; c->status == FOLIOT_STATUS_OK && i < scene->prototype_count; i++) {
        const foliot_body_definition *body = &scene->prototypes[i];
        const foliot__scene_place at = {"prototypes", i};
        if (!body->name || !*body->name)
            foliot__complain(c, FOLIOT_STATUS_INVALID, at, "name",
                             "a prototype needs a name, by which commands find it");
        foliot__check_body(c, at, body);
    }
    check_names_unique(c, "prototypes", scene->prototypes, scene->prototype_count);
}
