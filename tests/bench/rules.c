// SPDX-License-Identifier: MIT
// rules.c: what a tick of rules costs in addition to the step: 901 cubes, 200 of which touch the
// floor and are looked at every tick, as in a game in which what is touched changes its owner. Once
// in Lua and once in C; both give the same commands.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "clock.h"
#include "foliot/foliot.h"
#include "foliot/rules.h"
#include "scene_builder.h"
#include "slots.h"

#define CUBES 901
#define TOUCHING 200
#define TICKS 2000

static const char script[] =
    "state.owned = {}\n"
    "function on_touch(a, b)\n"
    "  local owner, tag = world.tag(a), world.tag(b)\n"
    "  if owner == 7 and tag ~= 7 and (world.tick() + b) % 200 == 0 then\n"
    "    command.set_body{body = b, tag = 8}\n"
    "    state.owned[tag] = (state.owned[tag] or 0) + 1\n"
    "  end\n"
    "end\n"
    "function on_tick()\n"
    "  if world.tick() % 60 == 0 then set_var('score', state.owned[8] or 0) end\n"
    "end\n";

// The same with the numbers of each contact.
static const char script_of_events[] =
    "state.force = 0.0\n"
    "function on_touch(a, b, event)\n"
    "  local owner, tag = world.tag(a), world.tag(b)\n"
    "  if owner == 7 and tag ~= 7 and event.normal[3] > 0.5 then\n"
    "    state.force = state.force + event.force\n"
    "  end\n"
    "end\n";

typedef struct game {
    foliot_contact_event contacts[2 * CUBES];
    uint64_t owned;
} game;

static foliot_status create(void *user, const foliot_scene *scene, foliot_rules *rules, void **self,
                            char *problem, size_t problem_bytes)
{
    (void)scene;
    (void)rules;
    (void)problem;
    (void)problem_bytes;
    *self = user;
    return FOLIOT_STATUS_OK;
}

static foliot_status tick(void *self, const foliot_rules_view *view, foliot_rules *rules,
                          char *problem, size_t problem_bytes)
{
    game *g = self;
    foliot_status status = FOLIOT_STATUS_OK;
    uint32_t count = foliot_world_get_contact_events(view->world, g->contacts, 2 * CUBES);
    (void)problem;
    (void)problem_bytes;
    for (uint32_t i = 0; i < count && status == FOLIOT_STATUS_OK; i++) {
        const foliot_contact_event *c = &g->contacts[i];
        foliot_body a = {.tag = 0}, other = {.tag = 0};
        (void)!foliot_world_get_body(view->world, c->a, &a);
        (void)!foliot_world_get_body(view->world, c->b, &other);
        if (a.tag != 7 || other.tag == 7 || (view->tick + c->b.value) % 200 != 0)
            continue;
        foliot_command command = foliot_command_default(FOLIOT_COMMAND_set_body);
        command.fields = FOLIOT_COMMAND_HAS(set_body, body) | FOLIOT_COMMAND_HAS(set_body, tag);
        command.as.set_body.body = c->b;
        command.as.set_body.tag = 8;
        status = foliot_rules_command(rules, &command);
        g->owned++;
    }
    return status;
}

// The floor, 200 cubes on it and 701 far above that never come down in time.
static foliot_world *make_world(scene_builder *y)
{
    foliot_world *world;
    *y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    y->scene.gravity[2] = -10;
    y->scene.commands_max = 1000;
    builder_add_plane(y, 0, 0, 1, 0);
    y->bodies[0].tag = 7;
    for (uint32_t i = 0; i < CUBES; i++)
        builder_add_box(y, 1, 0.2, 0.2, 0.2, i % 30, i / 30.0, i < TOUCHING ? 0.2 : 1e6 + i);
    y->scene.bodies = y->bodies;
    if (foliot_world_create(&y->scene, &world, NULL) != FOLIOT_STATUS_OK)
        return NULL;
    for (int i = 0; i < 30; i++)
        if (foliot_world_step(world, NULL, 0, NULL) != FOLIOT_STATUS_OK)
            return NULL;
    return world;
}

// The median tick in ms, and how many commands came in all.
static double measure(foliot_rules *rules, const scene_builder *y, const foliot_world *world,
                      uint64_t *commands)
{
    static double ms[TICKS];
    *commands = 0;
    for (uint32_t i = 0; i < TICKS; i++) {
        foliot_rules_view view = {.scene = &y->scene, .world = world, .tick = i};
        double start = 1e3 * clock_thread_s();
        if (foliot_rules_tick(rules, &view) != FOLIOT_STATUS_OK) {
            fprintf(stderr, "rules: %s\n", foliot_rules_get_problem(rules));
            exit(1);
        }
        ms[i] = 1e3 * clock_thread_s() - start;
        *commands += foliot_rules_get_commands(rules)->count;
    }
    return bench_median(ms, TICKS);
}

static double measure_lua(const char *text, const scene_builder *y, const foliot_world *world,
                          uint64_t *commands)
{
    char problem[256];
    foliot_rules *rules;
    foliot_lua_limits limits = foliot_lua_limits_default();
    if (foliot_rules_create_lua(text, strlen(text), "bench.lua", &limits, &y->scene, &rules,
                                problem, sizeof problem) != FOLIOT_STATUS_OK) {
        fprintf(stderr, "rules: %s\n", problem);
        exit(1);
    }
    double ms = measure(rules, y, world, commands);
    foliot_rules_destroy(rules);
    return ms;
}

int main(void)
{
    static game g;
    const foliot_rules_kind kind = {.name = "bench", .create = create, .tick = tick, .user = &g};
    scene_builder y;
    foliot_world *world = make_world(&y);
    foliot_rules *rules;
    char problem[256];
    uint64_t by_lua, by_c, none;
    if (!world ||
        foliot_rules_create(&kind, &y.scene, &rules, problem, sizeof problem) != FOLIOT_STATUS_OK)
        return 1;
    uint32_t contacts = foliot_world_get_contact_events(world, NULL, 0);
    double c = measure(rules, &y, world, &by_c);
    double lua = measure_lua(script, &y, world, &by_lua);
    double events = measure_lua(script_of_events, &y, world, &none);
    bench_report("rules", "contacts that are looked at", contacts, "", NULL, 0);
    bench_report("rules", "lua, tags", lua, "ms", NULL, 0);
    bench_report("rules", "lua, tags and events", events, "ms", NULL, 0);
    bench_report("rules", "c, tags", c, "ms", NULL, 0);
    foliot_rules_destroy(rules);
    foliot_world_destroy(world);
    builder_free(&y);
    return contacts != TOUCHING || by_c == 0 || by_lua <= by_c;
}
