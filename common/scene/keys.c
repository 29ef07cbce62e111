// SPDX-License-Identifier: MIT
// keys.c: all keys of a scene as tables; docs/reference/scenes.md describes them in the same order.
// Rules beyond a table (one of two keys, a default that depends on others) are in the functions
// between.
#include <stdio.h>
#include <string.h>

#include "foliot/command.h"
#include "scene/key_tables.h"
#include "sim/math/hash.h"

#define PLAYERS_LIMIT_DEFAULT 16

// -- shapes

static const char *const shape_words[] = {"point", "sphere", "plane", "box", "capsule", NULL};

static const foliot__key point_keys[] = {SKIP("kind"), END};
static const foliot__key sphere_keys[] = {
    SKIP("kind"),
    REQUIRED("radius", FOLIOT__NUMBER, foliot_shape, radius, 1),
    END,
};
static const foliot__key plane_keys[] = {
    SKIP("kind"),
    VECTOR("normal", foliot_shape, normal, 3),
    NUMBER("offset", foliot_shape, offset),
    END,
};
static const foliot__key box_keys[] = {
    SKIP("kind"),
    REQUIRED("half", FOLIOT__VECTOR, foliot_shape, half, 3),
    END,
};
static const foliot__key capsule_keys[] = {
    SKIP("kind"),
    REQUIRED("radius", FOLIOT__NUMBER, foliot_shape, radius, 1),
    REQUIRED("half_length", FOLIOT__NUMBER, foliot_shape, half[2], 1),
    END,
};
static const foliot__key *const shape_keys[] = {point_keys, sphere_keys, plane_keys, box_keys,
                                                capsule_keys};

static void read_shape(foliot__scene_source *source, const foliot__node *node,
                       const foliot__path *path, void *target)
{
    foliot_shape *shape = target;
    uint32_t kind;
    if (!foliot__read_kind(source, node, path, "kind", shape_words, &kind))
        return;
    *shape = foliot_body_definition_default().shape;
    shape->kind = kind;
    foliot__read_mapping(source, node, path, shape_keys[kind], shape);
    if (foliot__source_is_fine(source) && kind == FOLIOT_SHAPE_PLANE &&
        !foliot__normalise(shape->normal))
        foliot__fault_at_key(source, node, path, "normal", "must not be the zero vector");
}

// -- bodies

static void read_group(foliot__scene_source *source, const foliot__node *node,
                       const foliot__path *path, void *target)
{
    double number;
    if (!foliot__read_number(source, node, path, &number))
        return;
    if (number >= INT32_MIN && number <= INT32_MAX && number == (int32_t)number)
        *(int32_t *)target = (int32_t)number;
    else
        foliot__fault(&source->reading, FOLIOT_STATUS_INVALID, node->place, path,
                      "must be a whole number from -2^31 to 2^31 - 1");
}

static const foliot__key filter_keys[] = {
    WHOLE("category", foliot_body_definition, category),
    WHOLE("mask", foliot_body_definition, mask),
    NESTED("group", foliot_body_definition, group, read_group),
    END,
};

// `target` is the body.
static void read_filter(foliot__scene_source *source, const foliot__node *node,
                        const foliot__path *path, void *target)
{
    foliot__read_mapping(source, node, path, filter_keys, target);
}
_Static_assert(offsetof(foliot_body_definition, name) == 0, "a body begins with its name");

// The keys of a body at `at` (a member and a dot, or nothing) inside `structure`.
// clang-format off
#define BODY_KEYS(structure, at)                                                                   \
    NUMBER("mass", structure, at mass),                                                            \
    VECTOR("inertia", structure, at inertia, 3),                                                   \
    VECTOR("velocity", structure, at velocity, 3),                                                 \
    VECTOR("orientation", structure, at orientation, 4),                                           \
    VECTOR("angular_velocity", structure, at angular_velocity, 3),                                 \
    VECTOR("force", structure, at force, 3),                                                       \
    NUMBER("friction", structure, at friction),                                                    \
    NUMBER("restitution", structure, at restitution),                                              \
    NUMBER("gravity_scale", structure, at gravity_scale),                                          \
    NUMBER("linear_damping", structure, at linear_damping),                                        \
    NUMBER("angular_damping", structure, at angular_damping),                                      \
    FLAG("sensor", structure, at is_sensor),                                                       \
    NESTED("filter", structure, at name, read_filter),                                             \
    WHOLE("tag", structure, at tag),                                                               \
    NESTED("shape", structure, at shape, read_shape)
// clang-format on

static const foliot__key body_keys[] = {
    TEXT("name", foliot_body_definition, name),
    FLAG("static", foliot_body_definition, is_static),
    FLAG("kinematic", foliot_body_definition, is_kinematic),
    VECTOR("position", foliot_body_definition, position, 3),
    BODY_KEYS(foliot_body_definition, ),
    SKIP("csv"),
    SKIP("grid"),
    END,
};

static const foliot__key prototype_keys[] = {
    REQUIRED("name", FOLIOT__TEXT, foliot_body_definition, name, 1),
    FLAG("static", foliot_body_definition, is_static),
    FLAG("kinematic", foliot_body_definition, is_kinematic),
    BODY_KEYS(foliot_body_definition, ),
    END,
};

static void read_body_item(foliot__scene_source *source, const foliot__node *node,
                           const foliot__path *path, void *target)
{
    foliot__assembly *assembly = target;
    foliot_body_definition body = foliot_body_definition_default();
    foliot__origin origin = {.item = node, .item_index = path->index};
    foliot__read_mapping(source, node, path, body_keys, &body);
    if (!foliot__source_is_fine(source))
        return;
    const foliot__node *csv = foliot__value_of(node, "csv"), *grid = foliot__value_of(node, "grid");
    if (csv && grid)
        foliot__fault_at_key(source, node, path, "grid",
                             "a body list is from a CSV file or a grid, not both");
    else if (csv && body.name)
        foliot__fault_at_key(source, node, path, "name",
                             "the CSV file's column `name` names its bodies");
    else if (csv)
        foliot__read_csv(assembly, csv, &(foliot__path){path, "csv", 0}, &body, &origin);
    else if (grid)
        foliot__read_grid(assembly, grid, &(foliot__path){path, "grid", 0}, &body, &origin);
    else
        foliot__list_append(assembly, &assembly->bodies, &body, &origin, path);
}

static void read_bodies(foliot__scene_source *source, const foliot__node *node,
                        const foliot__path *path, void *target)
{
    (void)target;
    foliot__read_sequence(source, node, path, read_body_item, foliot__assembly_of(source));
}

static void read_prototype_item(foliot__scene_source *source, const foliot__node *node,
                                const foliot__path *path, void *target)
{
    foliot__assembly *assembly = target;
    foliot_body_definition body = foliot_body_definition_default();
    foliot__origin origin = {.item = node, .item_index = path->index};
    foliot__read_mapping(source, node, path, prototype_keys, &body);
    foliot__list_append(assembly, &assembly->prototypes, &body, &origin, path);
}

static void read_prototypes(foliot__scene_source *source, const foliot__node *node,
                            const foliot__path *path, void *target)
{
    (void)target;
    foliot__read_sequence(source, node, path, read_prototype_item, foliot__assembly_of(source));
}

// -- forces

static const char *const damping_words[] = {"along", "isotropic", NULL};
static const char *const force_words[] = {"uniform", "constant",  "spring", "drag",
                                          "newton",  "attractor", NULL};

static void read_damping(foliot__scene_source *source, const foliot__node *node,
                         const foliot__path *path, void *target)
{
    if (node->kind == FOLIOT__SCALAR && strcmp(node->as.text, "isotropic") == 0)
        foliot__fault(&source->reading, FOLIOT_STATUS_INVALID, node->place, path,
                      "must be a number; `damping_kind: isotropic` is a separate key");
    else
        foliot__read_number(source, node, path, target);
}

#define FORCE(member) as.force.as.member
static const foliot__key uniform_keys[] = {
    SKIP("kind"),
    REQUIRED("acceleration", FOLIOT__VECTOR, foliot__link_item, FORCE(uniform.acceleration), 3),
    END,
};
static const foliot__key constant_keys[] = {
    SKIP("kind"),
    REQUIRED("body", FOLIOT__BODY, foliot__link_item, as.force.a, 1),
    REQUIRED("force", FOLIOT__VECTOR, foliot__link_item, FORCE(constant.force), 3),
    NUMBER("start", foliot__link_item, FORCE(constant.start)),
    NUMBER("end", foliot__link_item, FORCE(constant.end)),
    END,
};
static const foliot__key spring_keys[] = {
    SKIP("kind"),
    BODY("a", foliot__link_item, as.force.a),
    BODY("b", foliot__link_item, as.force.b),
    VECTOR("anchor", foliot__link_item, FORCE(spring.point), 3),
    SKIP("grid"),
    CHOICE("links", foliot__link_item, links, foliot__grid_links_words),
    REQUIRED("stiffness", FOLIOT__NUMBER, foliot__link_item, FORCE(spring.stiffness), 1),
    NESTED("damping", foliot__link_item, FORCE(spring.damping), read_damping),
    CHOICE("damping_kind", foliot__link_item, FORCE(spring.damping_kind), damping_words),
    NUMBER("length", foliot__link_item, FORCE(spring.length)),
    END,
};
static const foliot__key drag_keys[] = {
    SKIP("kind"),
    NUMBER("linear", foliot__link_item, FORCE(drag.linear)),
    NUMBER("quadratic", foliot__link_item, FORCE(drag.quadratic)),
    END,
};
static const foliot__key newton_keys[] = {
    SKIP("kind"),
    REQUIRED("constant", FOLIOT__NUMBER, foliot__link_item, FORCE(newton.constant), 1),
    NUMBER("softening", foliot__link_item, FORCE(newton.softening)),
    END,
};
static const foliot__key attractor_keys[] = {
    SKIP("kind"),
    VECTOR("position", foliot__link_item, FORCE(attractor.point), 3),
    REQUIRED("strength", FOLIOT__NUMBER, foliot__link_item, FORCE(attractor.strength), 1),
    END,
};
static const foliot__key *const force_keys[] = {uniform_keys, constant_keys, spring_keys,
                                                drag_keys,    newton_keys,   attractor_keys};

static void append_spring(foliot__assembly *assembly, uint32_t a, uint32_t b, void *context)
{
    const foliot__grid_context *grid = context;
    foliot_force_definition spring = grid->item.as.force;
    spring.a = a;
    spring.b = b;
    if (!grid->ends.length)
        spring.as.spring.length = foliot__distance_at_start(assembly, a, b, NULL);
    foliot__list_append(assembly, &assembly->forces, &spring, grid->origin, grid->path);
}

static void append_force(foliot__assembly *assembly, const foliot__node *node,
                         const foliot__path *path, const foliot__link_item *item)
{
    foliot__scene_source *source = &assembly->source;
    foliot__origin origin = {.item = node, .item_index = path->index};
    foliot__ends e = {false, false};
    if (item->as.force.kind == FOLIOT_FORCE_SPRING)
        e = foliot__link_ends(source, node, path, false);
    if (!foliot__source_is_fine(source))
        return;
    if (!e.grid) {
        foliot__list_append(assembly, &assembly->forces, &item->as.force, &origin, path);
        return;
    }
    foliot__grid_context context = {*item, e, &origin, path, node};
    const foliot__node *name = foliot__value_of(node, "grid");
    const foliot__grid *grid = foliot__grid_named(assembly, name, &(foliot__path){path, "grid", 0});
    if (grid)
        foliot__each_link(assembly, grid, item->links, append_spring, &context);
}

static void read_force_item(foliot__scene_source *source, const foliot__node *node,
                            const foliot__path *path, void *target)
{
    foliot__link_item item;
    uint32_t kind;
    memset(&item, 0, sizeof item);
    if (!foliot__read_kind(source, node, path, "kind", force_words, &kind))
        return;
    item.as.force = foliot_force_definition_default((foliot_force_kind)kind);
    foliot__read_mapping(source, node, path, force_keys[kind], &item);
    if (foliot__source_is_fine(source))
        append_force(target, node, path, &item);
}

// -- players

static const char *const control_words[] = {"none", "thrust", "vessel", NULL};

static const foliot__key controls_keys[] = {
    CHOICE("kind", foliot_players_definition, control, control_words),
    NUMBER("force", foliot_players_definition, force),
    NUMBER("torque", foliot_players_definition, torque),
    NUMBER("reach", foliot_players_definition, reach),
    NUMBER("pull", foliot_players_definition, pull),
    NUMBER("push", foliot_players_definition, push),
    NUMBER("jump", foliot_players_definition, jump),
    END,
};

static void read_controls(foliot__scene_source *source, const foliot__node *node,
                          const foliot__path *path, void *target)
{
    foliot__read_mapping(source, node, path, controls_keys, target);
}

static void read_position(foliot__scene_source *source, const foliot__node *node,
                          const foliot__path *path, void *target)
{
    double(*positions)[3] = target;
    foliot__read_vector(source, node, path, 3, positions[path->index]);
}

static void read_positions(foliot__scene_source *source, const foliot__node *node,
                           const foliot__path *path, void *target)
{
    foliot_players_definition *players = target;
    double(*positions)[3] =
        foliot__reading_allocate(&source->reading, (node->count + (size_t)1) * 24);
    if (!positions)
        return;
    foliot__read_sequence(source, node, path, read_position, positions);
    players->positions = (const double(*)[3])positions;
    players->position_count = node->count;
}

static const foliot__key spawn_keys[] = {
    {"positions", FOLIOT__NESTED, 0, false, 1, NULL, read_positions},
    BODY_KEYS(foliot_players_definition, body.),
    END,
};

static void read_spawn(foliot__scene_source *source, const foliot__node *node,
                       const foliot__path *path, void *target)
{
    foliot__read_mapping(source, node, path, spawn_keys, target);
}

// Nested readers of these tables get the players' definition itself, hence the offsets of 0.
static const foliot__key players_keys[] = {
    SKIP("limit"),
    FLAG("bodiless", foliot_players_definition, bodiless),
    {"spawn", FOLIOT__NESTED, 0, false, 1, NULL, read_spawn},
    {"controls", FOLIOT__NESTED, 0, false, 1, NULL, read_controls},
    END,
};

static void read_players(foliot__scene_source *source, const foliot__node *node,
                         const foliot__path *path, void *target)
{
    foliot_players_definition *players = target;
    players->limit = PLAYERS_LIMIT_DEFAULT;
    foliot__read_mapping(source, node, path, players_keys, players);
    if (foliot__source_is_fine(source) && players->bodiless && foliot__value_of(node, "spawn"))
        foliot__fault_at_key(source, node, path, "spawn",
                             "`bodiless` players have no body: this key has no effect");
    const foliot__node *limit =
        foliot__source_is_fine(source) ? foliot__value_of(node, "limit") : NULL;
    foliot__path step = {path, "limit", 0};
    if (limit && foliot__read_whole(source, limit, &step, &players->limit) && players->limit == 0)
        foliot__fault(&source->reading, FOLIOT_STATUS_INVALID, limit->place, &step,
                      "must lie between 1 and %d", FOLIOT_PLAYERS_MAX);
}

// -- the rules of a session. The text of a script is carried outside the scene; the scene itself
// has its digest, which peers and recordings compare.

static foliot_digest digest_of(const char *text, size_t length)
{
    const foliot__span span = {text, length, 1};
    return foliot__hash(&span, 1);
}

static void read_lua(foliot__scene_source *source, const foliot__node *node,
                     const foliot__path *path, void *target)
{
    foliot__assembly *assembly = foliot__assembly_of(source);
    foliot_scene *scene = target;
    const char *name;
    size_t length = 0;
    char *text = foliot__read_beside(assembly, node, path, &name, &length);
    if (!text)
        return;
    if (length > FOLIOT_SCRIPT_BYTES_MAX || length == 0) {
        foliot__fault(&source->reading, FOLIOT_STATUS_INVALID, node->place, path,
                      length ? "`%s` is larger than a script may be: 1 MiB" : "`%s` is empty",
                      name);
        return;
    }
    scene->script.kind = FOLIOT_SCRIPT_LUA;
    scene->script.name = name;
    scene->script.text = text;
    scene->script.bytes = length;
    scene->script.digest = digest_of(text, length);
}

// A module is machine code, another file on every machine: its name stands for it.
static void read_module(foliot__scene_source *source, const foliot__node *node,
                        const foliot__path *path, void *target)
{
    foliot_scene *scene = target;
    const char *name;
    if (!foliot__read_text(source, node, path, &name))
        return;
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    if (!*base) {
        foliot__fault(&source->reading, FOLIOT_STATUS_INVALID, node->place, path,
                      "must be the path of a shared library");
        return;
    }
    scene->script.kind = FOLIOT_SCRIPT_MODULE;
    scene->script.name = name;
    scene->script.text = "";
    scene->script.digest = digest_of(base, strlen(base));
}

static const foliot__key script_keys[] = {
    {"lua", FOLIOT__NESTED, 0, false, 1, NULL, read_lua},
    {"module", FOLIOT__NESTED, 0, false, 1, NULL, read_module},
    WHOLE("history", foliot_scene, script.history_ticks),
    END,
};

static void read_script(foliot__scene_source *source, const foliot__node *node,
                        const foliot__path *path, void *target)
{
    foliot__read_mapping(source, node, path, script_keys, target);
    if (!foliot__source_is_fine(source))
        return;
    bool lua = foliot__value_of(node, "lua"), module = foliot__value_of(node, "module");
    if (lua == module)
        foliot__fault(&source->reading, FOLIOT_STATUS_INVALID, node->place, path,
                      "needs one key: `lua`, a file, or `module`, a shared library");
}

// -- the top

static const char *const start_words[] = {"taylor", "rk4", NULL};
static const char *const form_words[] = {"corrected", "plain", NULL};

static void read_integrator_name(foliot__scene_source *source, const foliot__node *node,
                                 const foliot__path *path, void *target)
{
    const char *name;
    if (!foliot__read_text(source, node, path, &name))
        return;
    foliot_integrator found = foliot_integrator_find(name);
    *(foliot_integrator *)target = found;
    if (found != FOLIOT_INTEGRATOR_NONE)
        return;
    const char *meant = foliot_integrator_find_nearest(name);
    foliot__fault(&source->reading, FOLIOT_STATUS_INVALID, node->place, path,
                  meant ? "no integrator is called `%.64s`; did you mean `%s`?"
                        : "no integrator is called `%.64s`",
                  name, meant);
}

static const foliot__key integrator_keys[] = {
    {"name", FOLIOT__NESTED, offsetof(foliot_scene, integrator), true, 1, NULL,
     read_integrator_name},
    CHOICE("start", foliot_scene, start, start_words),
    CHOICE("form", foliot_scene, form, form_words),
    NUMBER("tolerance", foliot_scene, tolerance),
    WHOLE("iterations", foliot_scene, iterations_max),
    END,
};

// An option that the scheme does not use is a mistake.
static void check_integrator_option(foliot__scene_source *source, const foliot__node *node,
                                    const foliot__path *path, const char *key, bool fits,
                                    const char *which)
{
    foliot__path step = {path, key, 0};
    const foliot__node *value = foliot__value_of(node, key);
    if (value && !fits)
        foliot__fault(&source->reading, FOLIOT_STATUS_INVALID, value->place, &step,
                      "only %s this key", which);
}

static void read_integrator(foliot__scene_source *source, const foliot__node *node,
                            const foliot__path *path, void *target)
{
    foliot_scene *scene = target;
    if (node->kind != FOLIOT__MAPPING) {
        read_integrator_name(source, node, path, &scene->integrator);
        return;
    }
    foliot__read_mapping(source, node, path, integrator_keys, scene);
    if (!foliot__source_is_fine(source))
        return;
    foliot_integrator id = scene->integrator;
    bool solves =
        id == FOLIOT_INTEGRATOR_IMPLICIT_EULER || id == FOLIOT_INTEGRATOR_IMPLICIT_MIDPOINT;
    bool starts = id == FOLIOT_INTEGRATOR_VERLET || id == FOLIOT_INTEGRATOR_TIME_CORRECTED_VERLET;
    check_integrator_option(source, node, path, "start", starts,
                            "verlet and time-corrected-verlet have");
    check_integrator_option(source, node, path, "form",
                            id == FOLIOT_INTEGRATOR_TIME_CORRECTED_VERLET,
                            "time-corrected-verlet has");
    check_integrator_option(source, node, path, "tolerance", solves,
                            "implicit-euler and implicit-midpoint have");
    check_integrator_option(source, node, path, "iterations", solves,
                            "implicit-euler and implicit-midpoint have");
}

static const foliot__key units_keys[] = {
    TEXT("length", foliot_scene, units.length),
    TEXT("time", foliot_scene, units.time),
    TEXT("mass", foliot_scene, units.mass),
    END,
};
static const foliot__key limits_keys[] = {
    NUMBER("speed_max", foliot_scene, speed_max),
    WHOLE("bodies_max", foliot_scene, bodies_max),
    WHOLE("commands_max", foliot_scene, commands_max),
    WHOLE("joints_max", foliot_scene, joints_max),
    END,
};

static void read_units(foliot__scene_source *source, const foliot__node *node,
                       const foliot__path *path, void *target)
{
    foliot__read_mapping(source, node, path, units_keys, target);
}

static void read_limits(foliot__scene_source *source, const foliot__node *node,
                        const foliot__path *path, void *target)
{
    foliot__read_mapping(source, node, path, limits_keys, target);
}

static const char *const joint_solver_words[] = {"auto", "exact", "fast", NULL};

#define SCENE(member) scene.member
static const foliot__key top_keys[] = {
    SKIP("foliot"),
    REQUIRED("name", FOLIOT__TEXT, foliot__assembly, SCENE(name), 1),
    NESTED("units", foliot__assembly, scene, read_units),
    NUMBER("dt", foliot__assembly, SCENE(dt)),
    NUMBER("tick_hz", foliot__assembly, tick_hz),
    NUMBER("pace_hz", foliot__assembly, SCENE(pace_hz)),
    WHOLE("substeps", foliot__assembly, SCENE(substeps)),
    NESTED("integrator", foliot__assembly, scene, read_integrator),
    WHOLE("constraint_iterations", foliot__assembly, SCENE(constraint_iterations)),
    CHOICE("joints", foliot__assembly, SCENE(joint_solver), joint_solver_words),
    FLAG("sleep", foliot__assembly, SCENE(sleep)),
    {"seed", FOLIOT__SEED, offsetof(foliot__assembly, SCENE(seed)), false, 1, NULL, NULL},
    VECTOR("gravity", foliot__assembly, SCENE(gravity), 3),
    NESTED("limits", foliot__assembly, scene, read_limits),
    SKIP("forces"), // once the bodies' names are known
    NESTED("bodies", foliot__assembly, bodies, read_bodies),
    NESTED("prototypes", foliot__assembly, prototypes, read_prototypes),
    NESTED("script", foliot__assembly, scene, read_script),
    SKIP("constraints"), // likewise
    NESTED("players", foliot__assembly, SCENE(players), read_players),
    END,
};

bool foliot__time_in_seconds(const char *unit)
{
    static const char *const words[] = {"s", "sec", "second", "seconds"};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(unit, words[i]) == 0)
            return true;
    return false;
}

// Computes dt and pace from the two or three keys that determine them.
static void decide_time_step(foliot__assembly *assembly, const foliot__node *top)
{
    foliot__scene_source *source = &assembly->source;
    foliot_scene *scene = &assembly->scene;
    bool dt = foliot__value_of(top, "dt"), tick_hz = foliot__value_of(top, "tick_hz");
    if (dt == tick_hz) {
        foliot__fault_at_key(source, top, NULL, dt ? "tick_hz" : "dt",
                             dt ? "cannot be combined with `dt`: both set the step"
                                : "this key is required (or `tick_hz`)");
        return;
    }
    if (tick_hz) {
        scene->dt = 1 / assembly->tick_hz;
        if (!(scene->dt > 0) || scene->dt - scene->dt != 0)
            foliot__fault_at_key(source, top, NULL, "tick_hz",
                                 "must be a finite number greater than 0");
    }
    if (!foliot__value_of(top, "pace_hz") && foliot__time_in_seconds(scene->units.time) &&
        scene->dt > 0)
        scene->pace_hz = tick_hz ? assembly->tick_hz : 1 / scene->dt;
    const foliot__node *pace = foliot__value_of(top, "pace_hz");
    if (pace && !(scene->pace_hz > 0))
        foliot__fault_at_key(source, top, NULL, "pace_hz",
                             "must be a finite number greater than 0");
}

void foliot__read_scene_keys(foliot__assembly *assembly, const foliot__node *top)
{
    foliot__scene_source *source = &assembly->source;
    foliot__path path = {NULL, "foliot", 0};
    uint32_t format;
    if (top->kind != FOLIOT__MAPPING) {
        foliot__fault(&source->reading, FOLIOT_STATUS_INVALID, top->place, NULL,
                      "a scene is a mapping of keys and starts with `foliot: 1`");
        return;
    }
    const foliot__node *value = foliot__value_of(top, "foliot");
    if (!value || strcmp(top->as.first->as.text, "foliot") != 0) {
        foliot__fault(&source->reading, FOLIOT_STATUS_INVALID, top->place, &path,
                      value ? "this key must be the first"
                            : "this key is required, as the first: `foliot: 1`");
        return;
    }
    if (foliot__read_whole(source, value, &path, &format) && format != FOLIOT_SCENE_FORMAT)
        foliot__fault(&source->reading, FOLIOT_STATUS_INVALID, value->place, &path,
                      "this version reads scenes of format %d", FOLIOT_SCENE_FORMAT);
    if (!foliot__source_is_fine(source))
        return;
    foliot__read_mapping(source, top, NULL, top_keys, assembly);
    if (!foliot__source_is_fine(source))
        return;
    decide_time_step(assembly, top);
    if (!foliot__value_of(top, "bodies") && !foliot__value_of(top, "players"))
        foliot__fault_at_key(source, top, NULL, "bodies", "this key is required (or `players`)");
    // Sorts the names of the bodies, by which forces and constraints find them.
    uint32_t count = 0;
    size_t bytes = (assembly->bodies.count + (size_t)1) * sizeof(foliot__name_entry);
    foliot__name_entry *entries = foliot__reading_allocate(&assembly->source.reading, bytes);
    foliot__name_entry *spare = foliot__reading_allocate(&assembly->source.reading, bytes);
    if (entries && spare) {
        for (uint32_t i = 0; i < assembly->bodies.count; i++) {
            const char *name = foliot__body_at(assembly, i)->name;
            if (name && *name)
                entries[count++] = (foliot__name_entry){foliot__name_hash(name), name, i};
        }
        foliot__names_sort(entries, spare, count);
        assembly->source.names = (foliot__names){entries, count};
    }
    const foliot__node *forces = foliot__value_of(top, "forces");
    const foliot__node *constraints = foliot__value_of(top, "constraints");
    if (forces && foliot__source_is_fine(source))
        foliot__read_sequence(source, forces, &(foliot__path){NULL, "forces", 0}, read_force_item,
                              assembly);
    if (constraints && foliot__source_is_fine(source))
        foliot__read_sequence(source, constraints, &(foliot__path){NULL, "constraints", 0},
                              foliot__read_constraint_item, assembly);
}
