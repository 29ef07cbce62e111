// SPDX-License-Identifier: MIT
// scene_check.c: the one check of a scene's ranges and combinations. Knows nothing of text; the
// paths of problems are written as the keys of docs/SCENES.md, so that a reader of text can say
// where. A scene that passes holds no NaN, no index out of range and nothing that a world would
// silently ignore.
#include "sim/floating_point.h"

#include "sim/scene.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foliot/input.h"
#include "foliot/world.h"

#define INFINITE ((double)__builtin_inf())
#define ITERATIONS_MAX 1000

static double norm2(const double *v, unsigned count)
{
    double sum = 0;
    for (unsigned k = 0; k < count; k++)
        sum += v[k] * v[k];
    return sum;
}

// -- problems ------------------------------------------------------------------------------------

// Where in the scene a value stands: list[index].key, list.key where index is NOWHERE, or key
// alone.
#define NOWHERE UINT32_MAX
typedef struct place {
    const char *list;
    uint32_t index;
} place;
static const place at_top = {NULL, NOWHERE};

typedef struct checker {
    const foliot_scene *scene;
    foliot_scene_problem *problem;
    foliot_status status; // sticky: the first problem stays
} checker;

__attribute__((format(printf, 5, 6))) static void
complain(checker *c, foliot_status status, place at, const char *key, const char *format, ...)
{
    if (c->status != FOLIOT_OK)
        return;
    c->status = status;
    if (!c->problem)
        return;
    foliot_scene_problem *p = c->problem;
    const char *dot = at.list && *key ? "." : "";
    if (at.list && at.index != NOWHERE)
        snprintf(p->path, sizeof p->path, "%s[%u]%s%s", at.list, (unsigned)at.index, dot, key);
    else
        snprintf(p->path, sizeof p->path, "%s%s%s", at.list ? at.list : "", dot, key);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->text, sizeof p->text, format, arguments);
    va_end(arguments);
}

// -- ranges, as tables ---------------------------------------------------------------------------

// X(kind, condition on x, sentence)
#define RANGE_LIST(X)                                                                              \
    X(FINITE, true, "must be a finite number")                                                     \
    X(COORDINATE, x >= -FOLIOT_POSITION_MAX && x <= FOLIOT_POSITION_MAX,                           \
      "must lie between -2^40 and 2^40")                                                           \
    X(POSITIVE, x > 0, "must be a finite number greater than 0")                                   \
    X(NOT_NEGATIVE, x >= 0, "must be a finite number, 0 or greater")                               \
    X(UNIT, x >= 0 && x <= 1, "must lie between 0 and 1")                                          \
    X(SHARE, x > 0 && x <= 1, "must be greater than 0 and at most 1")                              \
    X(FRACTION, x > 0 && x < 1, "must be greater than 0 and less than 1")

typedef enum range {
#define RANGE_ENUM(kind, condition, text) kind,
    RANGE_LIST(RANGE_ENUM)
#undef RANGE_ENUM
} range;

static bool is_finite(double x)
{
    return x - x == 0;
}

static bool in_range(range kind, double x)
{
    if (!is_finite(x))
        return false;
    switch (kind) {
#define RANGE_CASE(kind_, condition, text)                                                         \
    case kind_:                                                                                    \
        return condition;
        RANGE_LIST(RANGE_CASE)
#undef RANGE_CASE
    }
    return false;
}

static const char *range_text(range kind)
{
    static const char *const texts[] = {
#define RANGE_TEXT(kind_, condition, text) text,
        RANGE_LIST(RANGE_TEXT)
#undef RANGE_TEXT
    };
    return texts[kind];
}

// `count` doubles at `offset` of a definition.
typedef struct rule {
    const char *key;
    size_t offset;
    unsigned count;
    range kind;
} rule;

// clang-format off
#define RULE(type, member, key, count, kind) {key, offsetof(type, member), count, kind}
#define RULE_END {NULL, 0, 0, FINITE}
// clang-format on

static void check_rules(checker *c, place at, const rule *rules, const void *definition)
{
    for (const rule *r = rules; r->key && c->status == FOLIOT_OK; r++) {
        const double *values = (const double *)(const void *)((const char *)definition + r->offset);
        for (unsigned k = 0; k < r->count; k++) {
            if (in_range(r->kind, values[k]))
                continue;
            char key[48];
            snprintf(key, sizeof key, r->count > 1 ? "%s[%u]" : "%s", r->key, k);
            complain(c, FOLIOT_INVALID, at, key, "%s", range_text(r->kind));
        }
    }
}

// -- strings -------------------------------------------------------------------------------------

// Length in bytes of the UTF-8 character at `s` whose code is put into *code; 0 if it is none.
static unsigned utf8_next(const unsigned char *s, uint32_t *code)
{
    if (s[0] < 0x80) {
        *code = s[0];
        return 1;
    }
    unsigned count = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 0;
    *code = s[0] & (0x7fu >> count);
    for (unsigned k = 1; k < count; k++) {
        if ((s[k] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (s[k] & 0x3fu);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    bool surrogate = *code >= 0xd800 && *code <= 0xdfff;
    return *code < least[count] || *code > 0x10ffff || surrogate ? 0 : count;
}

// NULL where the name may be shown on a terminal and fits; else what is wrong with it.
static const char *name_fault(const char *name)
{
    size_t length = 0;
    while (length < FOLIOT_NAME_BYTES && name[length])
        length++;
    if (length == FOLIOT_NAME_BYTES)
        return "must be at most 63 bytes long";
    for (const unsigned char *at = (const unsigned char *)name; *at;) {
        uint32_t code;
        unsigned bytes = utf8_next(at, &code);
        if (bytes == 0)
            return "must be UTF-8";
        if (code < 0x20 || (code >= 0x7f && code < 0xa0))
            return "must not contain control characters";
        at += bytes;
    }
    return NULL;
}

static void check_label(checker *c, const char *key, const char *text)
{
    const char *fault = text ? name_fault(text) : "must not be NULL";
    if (fault)
        complain(c, FOLIOT_INVALID, at_top, key, "%s", fault);
}

// -- bodies --------------------------------------------------------------------------------------

#define BODY(member, key, count, kind) RULE(foliot_body_definition, member, key, count, kind)
static const rule body_rules[] = {
    BODY(inertia, "inertia", 3, NOT_NEGATIVE),
    BODY(position, "position", 3, COORDINATE),
    BODY(velocity, "velocity", 3, COORDINATE),
    BODY(orientation, "orientation", 4, FINITE),
    BODY(angular_velocity, "angular_velocity", 3, COORDINATE),
    BODY(force, "force", 3, FINITE),
    BODY(friction, "friction", 1, NOT_NEGATIVE),
    BODY(restitution, "restitution", 1, UNIT),
    RULE_END,
};
static const rule mass_rules[] = {BODY(mass, "mass", 1, POSITIVE), RULE_END};
static const rule point_rules[] = {RULE_END};
static const rule sphere_rules[] = {BODY(shape.radius, "shape.radius", 1, POSITIVE), RULE_END};
static const rule plane_rules[] = {
    BODY(shape.normal, "shape.normal", 3, FINITE),
    BODY(shape.offset, "shape.offset", 1, COORDINATE),
    RULE_END,
};
static const rule box_rules[] = {BODY(shape.half, "shape.half", 3, POSITIVE), RULE_END};
static const rule capsule_rules[] = {
    BODY(shape.radius, "shape.radius", 1, POSITIVE),
    BODY(shape.half[2], "shape.half_length", 1, NOT_NEGATIVE),
    RULE_END,
};
static const rule *const shape_rules[] = {point_rules, sphere_rules, plane_rules, box_rules,
                                          capsule_rules};
#define SHAPE_COUNT (sizeof shape_rules / sizeof *shape_rules)

static void check_shape(checker *c, place at, const foliot_body_definition *body)
{
    const foliot_shape *shape = &body->shape;
    if (shape->kind >= SHAPE_COUNT) {
        complain(c, FOLIOT_INVALID, at, "shape.kind", "names no shape");
        return;
    }
    check_rules(c, at, shape_rules[shape->kind], body);
    if (shape->kind != FOLIOT_SHAPE_PLANE)
        return;
    double length2 = norm2(shape->normal, 3);
    if (!(length2 > 1 - 1e-9 && length2 < 1 + 1e-9))
        complain(c, FOLIOT_INVALID, at, "shape.normal", "must have length 1");
    if (!body->is_static)
        complain(c, FOLIOT_INVALID, at, "shape.kind", "a plane must be static: add `static: true`");
}

// Principal moments of a real body: none is greater than the sum of the other two (a flat plate
// reaches it, hence the allowance for rounding).
static void check_inertia(checker *c, place at, const foliot_body_definition *body)
{
    const double *i = body->inertia;
    if (i[0] == 0 && i[1] == 0 && i[2] == 0)
        return;
    if (!(i[0] > 0 && i[1] > 0 && i[2] > 0))
        complain(c, FOLIOT_INVALID, at, "inertia", "needs three moments greater than 0");
    double slack = 1 + 1e-9;
    if (i[0] > (i[1] + i[2]) * slack || i[1] > (i[2] + i[0]) * slack ||
        i[2] > (i[0] + i[1]) * slack)
        complain(c, FOLIOT_INVALID, at, "inertia",
                 "no body has a principal moment greater than the sum of the other two");
}

static void check_motion(checker *c, place at, const foliot_body_definition *body)
{
    if (body->is_static && norm2(body->velocity, 3) > 0)
        complain(c, FOLIOT_INVALID, at, "velocity", "a static body never moves");
    if (body->is_static && norm2(body->angular_velocity, 3) > 0)
        complain(c, FOLIOT_INVALID, at, "angular_velocity", "a static body never turns");
    if (body->is_static && norm2(body->force, 3) > 0)
        complain(c, FOLIOT_INVALID, at, "force", "a static body never moves");
    if (!foliot__body_rotates(body) && norm2(body->angular_velocity, 3) > 0)
        complain(c, FOLIOT_INVALID, at, "angular_velocity",
                 "a point does not turn: give the body a shape or an inertia");
    double length2 = norm2(body->orientation, 4);
    if (!(length2 > 1e-12 && length2 < 1e12))
        complain(c, FOLIOT_INVALID, at, "orientation",
                 "must be a quaternion (w, x, y, z) whose length lies between 1e-6 and 1e6");
}

static void check_body(checker *c, place at, const foliot_body_definition *body)
{
    const char *fault = body->name ? name_fault(body->name) : NULL;
    if (fault)
        complain(c, FOLIOT_INVALID, at, "name", "%s", fault);
    if (!body->is_static)
        check_rules(c, at, mass_rules, body);
    check_rules(c, at, body_rules, body);
    check_shape(c, at, body);
    check_inertia(c, at, body);
    check_motion(c, at, body);
}

static void check_names_unique(checker *c, foliot__name_entry *entries)
{
    const foliot_scene *scene = c->scene;
    uint32_t count = 0;
    for (uint32_t i = 0; i < scene->body_count; i++) {
        const char *name = scene->bodies[i].name;
        if (name && *name)
            entries[count++] = (foliot__name_entry){foliot__name_hash(name), name, i};
    }
    foliot__names_sort(entries, entries + scene->body_count, count);
    uint32_t second = NOWHERE; // the earliest one that comes too late
    for (uint32_t k = 1; k < count; k++) {
        const foliot__name_entry *a = &entries[k - 1], *b = &entries[k];
        if (a->hash == b->hash && b->index < second && strcmp(a->name, b->name) == 0)
            second = b->index;
    }
    if (second != NOWHERE)
        complain(c, FOLIOT_INVALID, (place){"bodies", second}, "name",
                 "another body is called `%s` already", scene->bodies[second].name);
}

static void check_bodies(checker *c)
{
    const foliot_scene *scene = c->scene;
    if (scene->body_count && !scene->bodies) {
        complain(c, FOLIOT_INVALID, at_top, "bodies", "is NULL");
        return;
    }
    if (scene->body_count > FOLIOT_BODIES_MAX) {
        complain(c, FOLIOT_INVALID, at_top, "bodies", "a world has at most %u bodies",
                 FOLIOT_BODIES_MAX);
        return;
    }
    for (uint32_t i = 0; i < scene->body_count && c->status == FOLIOT_OK; i++)
        check_body(c, (place){"bodies", i}, &scene->bodies[i]);
    if (c->status != FOLIOT_OK || scene->body_count < 2)
        return;
    foliot__name_entry *entries = malloc(2 * (size_t)scene->body_count * sizeof *entries);
    if (!entries) {
        complain(c, FOLIOT_MEMORY, at_top, "bodies", "no memory to compare the names");
        return;
    }
    check_names_unique(c, entries);
    free(entries);
}

// -- forces --------------------------------------------------------------------------------------

#define FORCE(member, key, count, kind) RULE(foliot_force_definition, as.member, key, count, kind)
static const rule uniform_rules[] = {
    FORCE(uniform.acceleration, "acceleration", 3, FINITE),
    RULE_END,
};
static const rule constant_rules[] = {
    FORCE(constant.force, "force", 3, FINITE),
    FORCE(constant.start, "start", 1, FINITE),
    RULE_END,
};
static const rule spring_rules[] = {
    FORCE(spring.point, "anchor", 3, COORDINATE),
    FORCE(spring.stiffness, "stiffness", 1, NOT_NEGATIVE),
    FORCE(spring.damping, "damping", 1, NOT_NEGATIVE),
    FORCE(spring.length, "length", 1, NOT_NEGATIVE),
    RULE_END,
};
static const rule drag_rules[] = {
    FORCE(drag.linear, "linear", 1, NOT_NEGATIVE),
    FORCE(drag.quadratic, "quadratic", 1, NOT_NEGATIVE),
    RULE_END,
};
static const rule newton_rules[] = {
    FORCE(newton.constant, "constant", 1, FINITE),
    FORCE(newton.softening, "softening", 1, NOT_NEGATIVE),
    RULE_END,
};
static const rule attractor_rules[] = {
    FORCE(attractor.point, "position", 3, COORDINATE),
    FORCE(attractor.strength, "strength", 1, FINITE),
    RULE_END,
};
static const rule callback_rules[] = {RULE_END};
static const rule *const force_rules[] = {uniform_rules, constant_rules,  spring_rules,  drag_rules,
                                          newton_rules,  attractor_rules, callback_rules};
#define FORCE_KINDS (sizeof force_rules / sizeof *force_rules)

static bool is_static(const foliot_scene *scene, uint32_t index)
{
    return index == FOLIOT_NO_BODY || scene->bodies[index].is_static;
}

static bool check_reference(checker *c, place at, const char *key, uint32_t index, bool optional)
{
    if (index < c->scene->body_count || (optional && index == FOLIOT_NO_BODY))
        return true;
    complain(c, FOLIOT_INVALID, at, key, "names no body");
    return false;
}

// Two ends, of which one moves: springs and constraints.
static void check_ends(checker *c, place at, uint32_t a, uint32_t b)
{
    if (!check_reference(c, at, "a", a, false) || !check_reference(c, at, "b", b, true))
        return;
    if (a == b)
        complain(c, FOLIOT_INVALID, at, "b", "must be another body than `a`");
    if (is_static(c->scene, a) && is_static(c->scene, b))
        complain(c, FOLIOT_INVALID, at, "a", "neither end of it can move");
}

static void check_force(checker *c, place at, const foliot_force_definition *force)
{
    if (force->kind >= FORCE_KINDS) {
        complain(c, FOLIOT_INVALID, at, "kind", "names no force");
        return;
    }
    check_rules(c, at, force_rules[force->kind], force);
    if (force->kind == FOLIOT_FORCE_SPRING) {
        check_ends(c, at, force->a, force->b);
        if (force->as.spring.damping_kind > FOLIOT_DAMPING_ISOTROPIC)
            complain(c, FOLIOT_INVALID, at, "damping", "is damping of no known kind");
    } else if (force->kind == FOLIOT_FORCE_CONSTANT) {
        if (check_reference(c, at, "body", force->a, false) && is_static(c->scene, force->a))
            complain(c, FOLIOT_INVALID, at, "body", "a static body never moves");
        if (!(force->as.constant.end > force->as.constant.start)) // may be infinite
            complain(c, FOLIOT_INVALID, at, "end", "must be later than `start`");
    } else if (force->kind == FOLIOT_FORCE_CALLBACK) {
        if (force->as.callback.callback >= FOLIOT_CALLBACKS_MAX)
            complain(c, FOLIOT_INVALID, at, "callback", "must be less than %d",
                     FOLIOT_CALLBACKS_MAX);
    }
}

static void check_forces(checker *c)
{
    const foliot_scene *scene = c->scene;
    if (scene->force_count > FOLIOT_FORCES_MAX)
        complain(c, FOLIOT_INVALID, at_top, "forces", "a world has at most %u forces",
                 FOLIOT_FORCES_MAX);
    else if (scene->force_count && !scene->forces)
        complain(c, FOLIOT_INVALID, at_top, "forces", "is NULL");
    for (uint32_t i = 0; c->status == FOLIOT_OK && i < scene->force_count; i++)
        check_force(c, (place){"forces", i}, &scene->forces[i]);
}

// -- constraints ---------------------------------------------------------------------------------

#define CONSTRAINT(member, key, count, kind)                                                       \
    RULE(foliot_constraint_definition, member, key, count, kind)
static const rule distance_rules[] = {
    CONSTRAINT(length, "length", 1, POSITIVE),
    CONSTRAINT(length_min, "length_min", 1, NOT_NEGATIVE),
    CONSTRAINT(stiffness, "stiffness", 1, SHARE),
    CONSTRAINT(anchor_a, "anchor_a", 3, COORDINATE),
    RULE_END,
};
static const rule ball_rules[] = {
    CONSTRAINT(anchor_a, "anchor_a", 3, COORDINATE),
    RULE_END,
};
static const rule hinge_rules[] = {
    CONSTRAINT(anchor_a, "anchor_a", 3, COORDINATE),
    CONSTRAINT(axis, "axis", 3, FINITE),
    CONSTRAINT(angle_min, "limits[0]", 1, FINITE),
    CONSTRAINT(angle_max, "limits[1]", 1, FINITE),
    CONSTRAINT(motor_speed, "motor.speed", 1, FINITE),
    CONSTRAINT(motor_torque, "motor.torque", 1, NOT_NEGATIVE),
    RULE_END,
};
static const rule anchor_rules[] = {CONSTRAINT(anchor_b, "anchor", 3, COORDINATE), RULE_END};
static const rule anchor_b_rules[] = {CONSTRAINT(anchor_b, "anchor_b", 3, COORDINATE), RULE_END};
static const rule *const constraint_rules[] = {distance_rules, distance_rules, ball_rules,
                                               hinge_rules, ball_rules};
#define CONSTRAINT_KINDS (sizeof constraint_rules / sizeof *constraint_rules)

// RATTLE keeps a rod at its length, it does not bring it there: the bodies must start that far
// apart.
static void check_rod(checker *c, place at, const foliot_constraint_definition *rod)
{
    if (norm2(rod->anchor_a, 3) != 0 || (rod->b != FOLIOT_NO_BODY && norm2(rod->anchor_b, 3) != 0))
        complain(c, FOLIOT_REFUSED, at, "anchor_a",
                 "a rod holds bodies at their centres only: a `distance` may be off-centre");
    const double *a = c->scene->bodies[rod->a].position;
    const double *b = rod->b == FOLIOT_NO_BODY ? rod->anchor_b : c->scene->bodies[rod->b].position;
    double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    double error = foliot__sqrt(norm2(d, 3)) - rod->length;
    if (error > 1e-6 * rod->length || error < -1e-6 * rod->length)
        complain(c, FOLIOT_INVALID, at, "length",
                 "a rod must have its length when the world starts (to 1 part in 10^6): move the "
                 "bodies, or leave `length` out");
}

static void check_joint(checker *c, place at, const foliot_constraint_definition *joint)
{
    const char *key, *fault = foliot__joint_fault(c->scene, joint, &key);
    if (fault)
        complain(c, FOLIOT_INVALID, at, key, "%s", fault);
}

static void check_constraint(checker *c, place at, const foliot_constraint_definition *constraint)
{
    if (constraint->kind >= CONSTRAINT_KINDS) {
        complain(c, FOLIOT_INVALID, at, "kind", "names no constraint");
        return;
    }
    check_ends(c, at, constraint->a, constraint->b);
    check_rules(c, at, constraint_rules[constraint->kind], constraint);
    check_rules(c, at, constraint->b == FOLIOT_NO_BODY ? anchor_rules : anchor_b_rules, constraint);
    if (constraint->kind <= FOLIOT_CONSTRAINT_ROD && constraint->length_min > constraint->length)
        complain(c, FOLIOT_INVALID, at, "length_min", "must not be greater than `length`");
    if (!(constraint->break_force > 0)) // may be infinite
        complain(c, FOLIOT_INVALID, at, "break_force", "must be greater than 0");
    if (!(constraint->break_torque > 0))
        complain(c, FOLIOT_INVALID, at, "break_torque", "must be greater than 0");
    if (c->status != FOLIOT_OK)
        return;
    if (constraint->kind == FOLIOT_CONSTRAINT_ROD)
        check_rod(c, at, constraint);
    else if (foliot__constraint_is_joint(constraint))
        check_joint(c, at, constraint);
}

static void check_constraints(checker *c)
{
    const foliot_scene *scene = c->scene;
    if (scene->constraint_count > FOLIOT_CONSTRAINTS_MAX)
        complain(c, FOLIOT_INVALID, at_top, "constraints", "a world has at most %u constraints",
                 FOLIOT_CONSTRAINTS_MAX);
    else if (scene->constraint_count && !scene->constraints)
        complain(c, FOLIOT_INVALID, at_top, "constraints", "is NULL");
    for (uint32_t i = 0; c->status == FOLIOT_OK && i < scene->constraint_count; i++)
        check_constraint(c, (place){"constraints", i}, &scene->constraints[i]);
}

// -- players -------------------------------------------------------------------------------------

#define CONTROLS(member, key) RULE(foliot_players_definition, member, key, 1, NOT_NEGATIVE)
static const rule controls_rules[] = {
    CONTROLS(force, "controls.force"), CONTROLS(torque, "controls.torque"),
    CONTROLS(reach, "controls.reach"), CONTROLS(pull, "controls.pull"),
    CONTROLS(push, "controls.push"),   CONTROLS(jump, "controls.jump"),
    RULE_END,
};

static void check_buttons(checker *c, place at, const foliot_players_definition *players)
{
    bool reaches = players->pull > 0 || players->push > 0;
    if (reaches && !(players->reach > 0))
        complain(c, FOLIOT_INVALID, at, "controls.reach",
                 "must be greater than 0: `pull` and `push` act on bodies that are nearer");
    if (players->reach > 0 && !reaches)
        complain(c, FOLIOT_INVALID, at, "controls.reach", "is looked at by `pull` and `push` alone");
    if (players->control == FOLIOT_CONTROL_NONE && (reaches || players->jump > 0))
        complain(c, FOLIOT_INVALID, at, "controls.kind", "`none` has no buttons");
    if (players->jump > 0 && !foliot__scene_collides(c->scene))
        complain(c, FOLIOT_INVALID, at, "controls.jump",
                 "nobody can jump where no two shapes can touch");
}

static void check_players(checker *c)
{
    const foliot_players_definition *players = &c->scene->players;
    const place at = {"players", NOWHERE};
    if (players->limit == 0)
        return;
    if (players->limit > FOLIOT_PLAYERS_MAX)
        complain(c, FOLIOT_INVALID, at, "limit", "must lie between 1 and %d", FOLIOT_PLAYERS_MAX);
    check_body(c, (place){"players.spawn", NOWHERE}, &players->body);
    if (players->body.is_static)
        complain(c, FOLIOT_INVALID, at, "spawn.static", "a player's body must be able to move");
    if (players->position_count == 0 || !players->positions)
        complain(c, FOLIOT_INVALID, at, "spawn.positions", "needs one position at least");
    if (players->position_count > FOLIOT_BODIES_MAX)
        complain(c, FOLIOT_INVALID, at, "spawn.positions", "has more than %u positions",
                 FOLIOT_BODIES_MAX);
    for (uint32_t i = 0; c->status == FOLIOT_OK && i < players->position_count; i++)
        for (unsigned k = 0; k < 3; k++)
            if (!in_range(COORDINATE, players->positions[i][k]))
                complain(c, FOLIOT_INVALID, (place){"players.spawn.positions", i}, "", "%s",
                         range_text(COORDINATE));
    if (players->control > FOLIOT_CONTROL_VESSEL)
        complain(c, FOLIOT_INVALID, at, "controls.kind", "names no controls");
    check_rules(c, at, controls_rules, players);
    check_buttons(c, at, players);
    if (players->torque > 0 && !foliot__body_rotates(&players->body))
        complain(c, FOLIOT_INVALID, at, "controls.torque",
                 "a point does not turn: give `spawn` a shape or an inertia");
}

// -- the whole -----------------------------------------------------------------------------------

#define SCENE(member, key, count, kind) RULE(foliot_scene, member, key, count, kind)
static const rule scene_rules[] = {
    SCENE(dt, "dt", 1, POSITIVE),
    SCENE(pace_hz, "pace_hz", 1, NOT_NEGATIVE),
    SCENE(tolerance, "integrator.tolerance", 1, FRACTION),
    SCENE(gravity, "gravity", 3, FINITE),
    RULE_END,
};

static void check_count(checker *c, const char *key, uint32_t value, uint32_t low, uint32_t high)
{
    if (value < low || value > high)
        complain(c, FOLIOT_INVALID, at_top, key, "must lie between %u and %u", (unsigned)low,
                 (unsigned)high);
}

static void check_top(checker *c)
{
    const foliot_scene *scene = c->scene;
    check_label(c, "name", scene->name);
    if (scene->name && !*scene->name)
        complain(c, FOLIOT_INVALID, at_top, "name", "must not be empty");
    check_label(c, "units.length", scene->unit_length);
    check_label(c, "units.time", scene->unit_time);
    check_label(c, "units.mass", scene->unit_mass);
    check_rules(c, at_top, scene_rules, scene);
    if (scene->substeps != FOLIOT_SUBSTEPS_FITTING)
        check_count(c, "substeps", scene->substeps, 1, FOLIOT_SUBSTEPS_MAX);
    check_count(c, "integrator.start", scene->start, 0, 1);
    check_count(c, "integrator.form", scene->form, 0, 1);
    check_count(c, "integrator.iterations", scene->iterations_max, 1, ITERATIONS_MAX);
    check_count(c, "constraint_iterations", scene->constraint_iterations, 1, ITERATIONS_MAX);
    if (!(scene->speed_max > 0)) // may be infinite
        complain(c, FOLIOT_INVALID, at_top, "limits.speed_max", "must be greater than 0");
    if (scene->body_count == 0 && scene->players.limit == 0)
        complain(c, FOLIOT_INVALID, at_top, "bodies", "a scene needs bodies or players");
}

static void check_capacity(checker *c)
{
    const foliot_scene *scene = c->scene;
    uint64_t least = (uint64_t)scene->body_count + scene->players.limit;
    if (least > FOLIOT_BODIES_MAX)
        complain(c, FOLIOT_INVALID, at_top, "players.limit",
                 "bodies and players together are more than the %u that a world holds",
                 FOLIOT_BODIES_MAX);
    if (scene->bodies_max && (scene->bodies_max < least || scene->bodies_max > FOLIOT_BODIES_MAX))
        complain(c, FOLIOT_INVALID, at_top, "limits.bodies_max",
                 "must lie between %u (bodies and players of this scene) and %u", (unsigned)least,
                 FOLIOT_BODIES_MAX);
}

// What sleeps does not look whether forces from afar have changed.
static void check_sleep(checker *c)
{
    for (uint32_t i = 0; c->scene->sleep && i < c->scene->force_count; i++) {
        uint32_t kind = c->scene->forces[i].kind;
        if (kind == FOLIOT_FORCE_NEWTON || kind == FOLIOT_FORCE_CALLBACK)
            complain(c, FOLIOT_REFUSED, at_top, "sleep",
                     "bodies cannot sleep under `%s`, which changes with every motion",
                     kind == FOLIOT_FORCE_NEWTON ? "newton" : "callback");
    }
}

static void check_integrator(checker *c)
{
    const foliot_scene *scene = c->scene;
    const foliot_integrator_info *info = foliot_integrator_describe(scene->integrator);
    if (!info) {
        complain(c, FOLIOT_INVALID, at_top, "integrator", "names no integrator");
        return;
    }
    const char *what = foliot__scene_objection(scene, scene->integrator);
    if (!what)
        return;
    char fitting[FOLIOT_INTEGRATOR_COUNT * 32];
    foliot__scene_fitting(scene, fitting, sizeof fitting);
    complain(c, FOLIOT_REFUSED, at_top, "integrator",
             "%s does not admit %s; these fit the scene: %s", info->name, what, fitting);
}

foliot_status foliot_scene_check(const foliot_scene *scene, foliot_scene_problem *problem)
{
    checker c = {scene, problem, FOLIOT_OK};
    check_top(&c);
    check_bodies(&c);
    check_players(&c);
    if (c.status == FOLIOT_OK) {
        check_forces(&c);
        check_constraints(&c);
        check_capacity(&c);
    }
    if (c.status == FOLIOT_OK)
        check_sleep(&c);
    if (c.status == FOLIOT_OK)
        check_integrator(&c);
    return c.status;
}
