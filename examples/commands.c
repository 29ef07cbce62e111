// SPDX-License-Identifier: MIT
// commands.c: custom logic in addition to the step. The host spawns a crate every second; rules in
// C count the objects on the floor and publish the score as a session variable.
//
//     commands
//
// A server does the same: foliot_server_command gives the host's commands, and
// foliot_session_config.rules names the rules.
#include <stdio.h>
#include <stdlib.h>

#include <foliot/foliot.h>

#define SECONDS 5

static void must(foliot_status status, const char *what)
{
    if (status == FOLIOT_STATUS_OK)
        return;
    fprintf(stderr, "%s: %s\n", what, foliot_status_get_text(status));
    exit(1);
}

static const foliot_body_definition *floor_and_crate(void)
{
    static foliot_body_definition bodies[2];
    bodies[0] = bodies[1] = foliot_body_definition_default();
    bodies[0].name = "floor";
    bodies[0].is_static = true;
    bodies[0].shape = (foliot_shape){.kind = FOLIOT_SHAPE_PLANE, .normal = {0, 0, 1}};
    bodies[1].name = "crate";
    bodies[1].shape = (foliot_shape){.kind = FOLIOT_SHAPE_BOX, .half = {0.5, 0.5, 0.5}};
    return bodies;
}

// -- rules: a table of functions. Their whole state is one number.

typedef struct counter {
    uint32_t landed;
} counter;

static foliot_status counter_create(void *user, const foliot_scene *scene, foliot_rules *rules,
                                    void **self, char *problem, size_t problem_bytes)
{
    (void)user, (void)scene, (void)rules, (void)problem, (void)problem_bytes;
    *self = calloc(1, sizeof(counter));
    return *self ? FOLIOT_STATUS_OK : FOLIOT_STATUS_MEMORY;
}

static foliot_status counter_tick(void *self, const foliot_rules_view *view, foliot_rules *rules,
                                  char *problem, size_t problem_bytes)
{
    counter *c = self;
    foliot_contact_event contacts[64];
    uint32_t count = foliot_world_get_contact_events(view->world, contacts, 64), before = c->landed;
    (void)problem, (void)problem_bytes;
    for (uint32_t i = 0; i < count && i < 64; i++) // slot 0 is the floor
        c->landed += foliot_body_id_get_slot(contacts[i].a) == 0 &&
                     contacts[i].change == FOLIOT_CONTACT_BEGIN;
    if (c->landed == before)
        return FOLIOT_STATUS_OK;
    foliot_command score = foliot_command_default(FOLIOT_COMMAND_var);
    score.fields = FOLIOT_COMMAND_HAS(var, key) | FOLIOT_COMMAND_HAS(var, integer);
    score.as.var.key = "landed";
    score.as.var.integer = c->landed;
    return foliot_rules_command(rules, &score);
}

static size_t counter_save(const void *self, void *bytes, size_t capacity, char *problem,
                           size_t problem_bytes)
{
    const counter *c = self;
    (void)problem, (void)problem_bytes;
    for (unsigned k = 0; k < 4 && capacity >= 4; k++) // little-endian, on every machine
        ((uint8_t *)bytes)[k] = (uint8_t)(c->landed >> (8 * k));
    return 4;
}

static foliot_status counter_restore(void *self, const void *bytes, size_t length)
{
    const uint8_t *b = bytes;
    if (length != 4)
        return FOLIOT_STATUS_CORRUPT;
    ((counter *)self)->landed =
        (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    return FOLIOT_STATUS_OK;
}

static const foliot_rules_kind counter_kind = {.name = "counter",
                                               .version = 1,
                                               .create = counter_create,
                                               .destroy = free,
                                               .tick = counter_tick,
                                               .save = counter_save,
                                               .restore = counter_restore};

// -- the host

static foliot_command crate_at(double x)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_spawn);
    c.fields = FOLIOT_COMMAND_HAS(spawn, prototype) | FOLIOT_COMMAND_HAS(spawn, position);
    c.as.spawn.prototype = 0;
    c.as.spawn.position[0] = (float)x;
    c.as.spawn.position[2] = 3;
    return c;
}

// All commands of one tick: the host's, then those of the rules from the last step.
static void step(foliot_world *world, foliot_rules *rules, const foliot_scene *scene,
                 uint32_t *sequence)
{
    foliot_command_list list = {0};
    uint64_t tick = foliot_world_get_tick(world);
    const foliot_command_list *given = foliot_rules_get_commands(rules);
    foliot_command crate = crate_at((double)tick / 30);
    if (tick % 60 == 0)
        must(foliot_command_list_append(&list, &crate), "command");
    for (uint32_t i = 0; i < given->count; i++)
        must(foliot_command_list_append(&list, &given->commands[i]), "command");
    for (uint32_t i = 0; i < list.count; i++)
        list.commands[i].sequence = ++*sequence;
    const foliot_tick_inputs in = {.commands = list.commands, .command_count = list.count};
    must(foliot_world_step_tick(world, &in, NULL), "step");
    foliot_command_list_destroy(&list);
    const foliot_rules_view view = {.scene = scene, .world = world, .tick = tick + 1};
    must(foliot_rules_tick(rules, &view), "rules");
}

int main(void)
{
    const foliot_body_definition *bodies = floor_and_crate();
    foliot_scene scene = foliot_scene_default();
    scene.name = "crates";
    scene.dt = 1.0 / 60;
    scene.gravity[2] = -9.81;
    scene.bodies = bodies;
    scene.body_count = 1;
    scene.prototypes = bodies + 1;
    scene.prototype_count = 1;
    scene.bodies_max = 64;
    scene.commands_max = 16;

    char problem[160];
    uint32_t sequence = 0;
    foliot_world *world = NULL;
    foliot_rules *rules = NULL;
    must(foliot_world_create(&scene, &world, NULL), "world");
    must(foliot_rules_create(&counter_kind, &scene, &rules, problem, sizeof problem), "rules");
    for (int tick = 0; tick < SECONDS * 60; tick++)
        step(world, rules, &scene, &sequence);

    foliot_var landed = {.integer = 0};
    foliot_world_get_var(world, "landed", &landed);
    char digest[FOLIOT_DIGEST_TEXT_BYTES];
    foliot_digest_print(foliot_world_get_digest(world), digest);
    printf("%u bodies, %lld crates have landed, digest %s\n", foliot_world_get_body_count(world),
           (long long)landed.integer, digest);
    foliot_rules_destroy(rules);
    foliot_world_destroy(world);
    return 0;
}
