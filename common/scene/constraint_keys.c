// SPDX-License-Identifier: MIT
// constraint_keys.c: the items of `constraints`. A scene gives anchors and axes in the world's axes
// at the start; a definition has them in the axes of the bodies.
#include "scene/key_tables.h"

#include <string.h>

foliot__ends foliot__link_ends(foliot__scene_source *source, const foliot__node *node,
                               const foliot__path *path, bool beside)
{
    foliot__ends e = {.grid = foliot__value_of(node, "grid"),
                      .length = foliot__value_of(node, "length")};
    bool a = foliot__value_of(node, "a"), b = foliot__value_of(node, "b");
    bool anchor = foliot__value_of(node, "anchor");
    if (e.grid && (a || b || anchor))
        foliot__fault_at_key(source, node, path,
                             a   ? "a"
                             : b ? "b"
                                 : "anchor",
                             "cannot be combined with `grid`, which names all the bodies");
    else if (!e.grid && foliot__value_of(node, "links"))
        foliot__fault_at_key(source, node, path, "links", "needs `grid`");
    else if (!e.grid && !a)
        foliot__fault_at_key(source, node, path, "a", "this key is required (or `grid`)");
    else if (!e.grid && !b && !anchor)
        foliot__fault_at_key(source, node, path, "b", "this key is required (or `anchor`)");
    else if (b && anchor && !beside)
        foliot__fault_at_key(source, node, path, "anchor",
                             "cannot be combined with `b`: it is the other end");
    return e;
}

double foliot__distance_at_start(const foliot__assembly *assembly, uint32_t a, uint32_t b,
                                 const double anchor[3])
{
    const double *from = foliot__body_at(assembly, a)->position;
    const double *to = b == FOLIOT_NO_BODY ? anchor : foliot__body_at(assembly, b)->position;
    double d[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
    return __builtin_sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

// -- tables

static const char *const constraint_words[] = {"distance", "rod", "ball", "hinge", "weld", NULL};

static void read_motor(foliot__scene_source *source, const foliot__node *node,
                       const foliot__path *path, void *target);

// clang-format off
#define CONSTRAINT(member) as.constraint.member
#define CONSTRAINT_ENDS                                                                            \
    SKIP("kind"),                                                                                  \
    BODY("a", foliot__link_item, CONSTRAINT(a)), BODY("b", foliot__link_item, CONSTRAINT(b)),      \
    VECTOR("anchor", foliot__link_item, CONSTRAINT(anchor_b), 3), SKIP("grid"),                    \
    CHOICE("links", foliot__link_item, links, foliot__grid_links_words),                           \
    NUMBER("break_force", foliot__link_item, CONSTRAINT(break_force))
#define ANCHORS                                                                                    \
    VECTOR("anchor_a", foliot__link_item, CONSTRAINT(anchor_a), 3),                                \
    VECTOR("anchor_b", foliot__link_item, CONSTRAINT(anchor_b), 3)
#define LENGTH NUMBER("length", foliot__link_item, CONSTRAINT(length))
#define COLLIDE FLAG("collide", foliot__link_item, CONSTRAINT(collides))
#define BREAK_TORQUE NUMBER("break_torque", foliot__link_item, CONSTRAINT(break_torque))
// clang-format on

static const foliot__key distance_keys[] = {
    CONSTRAINT_ENDS,
    ANCHORS,
    LENGTH,
    NUMBER("length_min", foliot__link_item, CONSTRAINT(length_min)),
    NUMBER("stiffness", foliot__link_item, CONSTRAINT(stiffness)),
    END,
};
static const foliot__key rod_keys[] = {CONSTRAINT_ENDS, LENGTH, END};
static const foliot__key ball_keys[] = {CONSTRAINT_ENDS, ANCHORS, COLLIDE, END};
static const foliot__key hinge_keys[] = {
    CONSTRAINT_ENDS,
    ANCHORS,
    COLLIDE,
    BREAK_TORQUE,
    REQUIRED("axis", FOLIOT__VECTOR, foliot__link_item, CONSTRAINT(axis), 3),
    VECTOR("limits", foliot__link_item, CONSTRAINT(angle_min), 2), // and angle_max
    NESTED("motor", foliot__link_item, as.constraint, read_motor),
    END,
};
_Static_assert(offsetof(foliot_constraint_definition, angle_max) ==
                   offsetof(foliot_constraint_definition, angle_min) + sizeof(double),
               "`limits` is read into both");
static const foliot__key weld_keys[] = {CONSTRAINT_ENDS, ANCHORS, COLLIDE, BREAK_TORQUE, END};
static const foliot__key *const constraint_keys[] = {distance_keys, rod_keys, ball_keys, hinge_keys,
                                                     weld_keys};

static const foliot__key motor_keys[] = {
    REQUIRED("speed", FOLIOT__NUMBER, foliot_constraint_definition, motor_speed, 1),
    REQUIRED("torque", FOLIOT__NUMBER, foliot_constraint_definition, motor_torque, 1),
    END,
};

static void read_motor(foliot__scene_source *source, const foliot__node *node,
                       const foliot__path *path, void *target)
{
    const foliot_constraint_definition *hinge = target;
    foliot__read_mapping(source, node, path, motor_keys, target);
    if (foliot__source_is_fine(source) && hinge->motor_torque == 0)
        foliot__fault_at_key(source, node, path, "torque",
                             "must be greater than 0: leave `motor` out where there is none");
}

// -- where a joint holds its bodies

// The joint's place in the world: `anchor`, `anchor_a` or `anchor_b`, or else the middle between
// the bodies. Anchors that are not given follow from it.
static void place_joint(const foliot__assembly *assembly, const foliot__node *node,
                        foliot_constraint_definition *joint)
{
    const foliot_body_definition *a = foliot__body_at(assembly, joint->a), *b = NULL;
    if (joint->b != FOLIOT_NO_BODY)
        b = foliot__body_at(assembly, joint->b);
    bool given_a = foliot__value_of(node, "anchor_a"), given_b = foliot__value_of(node, "anchor_b");
    double point[3];
    if (foliot__value_of(node, "anchor"))
        memcpy(point, joint->anchor_b, sizeof point);
    else if (given_a)
        foliot__body_to_world(a, joint->anchor_a, point);
    else if (given_b)
        foliot__body_to_world(b, joint->anchor_b, point);
    else
        for (unsigned k = 0; k < 3; k++)
            point[k] = a->position[k] + (b->position[k] - a->position[k]) / 2;
    if (!given_a)
        foliot__world_to_body(a, point, joint->anchor_a);
    if (b && !given_b)
        foliot__world_to_body(b, point, joint->anchor_b);
    if (joint->kind == FOLIOT_CONSTRAINT_HINGE) {
        double axis[3];
        foliot__direction_to_body(a, joint->axis, axis);
        foliot__normalise(axis); // a rotation changes its length by rounding
        memcpy(joint->axis, axis, sizeof axis);
    }
}

// -- items

static void append_link(foliot__assembly *assembly, uint32_t a, uint32_t b, void *context)
{
    const foliot__grid_context *grid = context;
    foliot_constraint_definition link = grid->item.as.constraint;
    link.a = a;
    link.b = b;
    if (link.kind > FOLIOT_CONSTRAINT_ROD) {
        place_joint(assembly, grid->node, &link);
    } else if (!grid->ends.length) {
        foliot_scene bodies = {.bodies = foliot__body_at(assembly, 0)};
        link.length = foliot__constraint_is_joint(&link)
                          ? foliot__joint_span(&bodies, &link)
                          : foliot__distance_at_start(assembly, a, b, link.anchor_b);
    }
    foliot__list_append(assembly, &assembly->constraints, &link, grid->origin, grid->path);
}

static void append_constraint(foliot__assembly *assembly, const foliot__node *node,
                              const foliot__path *path, const foliot__link_item *item)
{
    foliot__scene_source *source = &assembly->source;
    bool joint = item->as.constraint.kind > FOLIOT_CONSTRAINT_ROD;
    foliot__origin origin = {.item = node, .item_index = path->index};
    foliot__grid_context context = {*item, foliot__link_ends(source, node, path, joint), &origin,
                                    path, node};
    if (foliot__source_is_fine(source)) {
        // Which anchors may be given together.
        bool anchor = foliot__value_of(node, "anchor"), b = foliot__value_of(node, "b");
        bool given_a = foliot__value_of(node, "anchor_a"),
             given_b = foliot__value_of(node, "anchor_b");
        if (given_b && !b && !context.ends.grid)
            foliot__fault_at_key(
                source, node, path, "anchor_b",
                "needs `b`; where the other end is the world, `anchor` is its place");
        else if (item->as.constraint.kind > FOLIOT_CONSTRAINT_ROD && anchor && (given_a || given_b))
            foliot__fault_at_key(source, node, path, given_a ? "anchor_a" : "anchor_b",
                                 "cannot be combined with `anchor`: both set the anchors");
    }
    if (!foliot__source_is_fine(source))
        return;
    if (!context.ends.grid) {
        append_link(assembly, item->as.constraint.a, item->as.constraint.b, &context);
        return;
    }
    const foliot__node *name = foliot__value_of(node, "grid");
    const foliot__grid *grid = foliot__grid_named(assembly, name, &(foliot__path){path, "grid", 0});
    if (grid)
        foliot__each_link(assembly, grid, item->links, append_link, &context);
}

void foliot__read_constraint_item(foliot__scene_source *source, const foliot__node *node,
                                  const foliot__path *path, void *target)
{
    foliot__link_item item;
    uint32_t kind;
    memset(&item, 0, sizeof item);
    if (!foliot__read_kind(source, node, path, "kind", constraint_words, &kind))
        return;
    item.as.constraint = foliot_constraint_definition_default((foliot_constraint_kind)kind);
    foliot__read_mapping(source, node, path, constraint_keys[kind], &item);
    if (foliot__source_is_fine(source) && kind == FOLIOT_CONSTRAINT_HINGE) {
        if (!foliot__normalise(item.as.constraint.axis))
            foliot__fault_at_key(source, node, path, "axis", "must not be the zero vector");
        if (foliot__value_of(node, "limits") &&
            item.as.constraint.angle_min > item.as.constraint.angle_max)
            foliot__fault_at_key(source, node, path, "limits",
                                 "must be [least, greatest], in this order");
    }
    if (foliot__source_is_fine(source))
        append_constraint(target, node, path, &item);
}
