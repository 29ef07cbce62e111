// SPDX-License-Identifier: MIT
// commands.c: what commands cost: 10,000 impulses in one tick of scenes/pile.yaml, 100 bodies
// spawned and removed in every tick, all bodies of a lattice removed in one, a world that may be
// given commands and gets none; their bytes in recordings and on the wire; and how long a siege of
// one hour takes to be resumed. Ticks of two worlds are run in turns, so that a busy machine slows
// both. The limits are the issue's.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "bench.h"
#include "clock.h"
#include "foliot/foliot.h"
#include "foliot/rules.h"
#include "foliot/scene.h"
#include "divergence/divergence.h"
#include "wire/session_state.h"
#include "world_simulation.h"
#include "slots.h"

#define IMPULSES 10000
#define CHANGED 100 // bodies a tick
#define ROUNDS 60
#define PAIRS 400
#define RECORDED 600 // ticks of the recordings that are weighed
#define HOUR (3600 * 60)
#define PLAYERS 3
#define SIDE 22 // of the lattice whose bodies are all removed

#define LIMIT_IMPULSES_MS 2.0
#define LIMIT_CHANGED 1.2
#define LIMIT_UNUSED 1.01
#define LIMIT_REMOVED_MS 10.0
#define LIMIT_RESUME_S 1.0

static void demand(bool fine, const char *what)
{
    if (fine)
        return;
    fprintf(stderr, "commands: %s\n", what);
    exit(1);
}

static foliot_scene *read_scene(const char *file)
{
    foliot_scene *scene;
    foliot_error error;
    if (foliot_scene_read(file, &scene, &error) != FOLIOT_STATUS_OK)
        demand(false, error.text);
    return scene;
}

// A pile that may be given commands, with a small ball as prototype and room for it.
static foliot_world *make_pile(uint32_t commands_max)
{
    static foliot_body_definition ball;
    foliot_scene *pile = read_scene("scenes/pile.yaml");
    foliot_scene scene = *pile;
    foliot_world *world;
    ball = foliot_body_definition_default();
    ball.name = "ball";
    ball.shape = (foliot_shape){.kind = FOLIOT_SHAPE_SPHERE, .radius = 0.05};
    scene.commands_max = commands_max;
    if (commands_max) {
        scene.prototypes = &ball;
        scene.prototype_count = 1;
        scene.bodies_max = scene.body_count + 4 * CHANGED;
    }
    demand(foliot_world_create(&scene, &world, NULL) == FOLIOT_STATUS_OK, "a pile");
    foliot_scene_destroy(pile);
    return world;
}

static double step_ms(foliot_world *world, const foliot_command *commands, uint32_t count)
{
    const foliot_tick_inputs in = {NULL, 0, commands, count};
    double start = 1e3 * clock_thread_s();
    demand(foliot_world_step_tick(world, &in, NULL) == FOLIOT_STATUS_OK, "a step");
    return 1e3 * clock_thread_s() - start;
}

static void settle(foliot_world *world, uint32_t ticks)
{
    for (uint32_t i = 0; i < ticks; i++)
        step_ms(world, NULL, 0);
}

// -- time

// Impulses of nothing, so that both worlds stay equal.
static double measure_impulses(void)
{
    static foliot_command commands[IMPULSES];
    static double extra[ROUNDS];
    foliot_world *with = make_pile(IMPULSES), *without = make_pile(IMPULSES);
    uint32_t sequence = 0, bodies = foliot_world_get_body_count(with);
    settle(with, 60);
    settle(without, 60);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < IMPULSES; i++) {
            foliot_command *c = &commands[i];
            *c = foliot_command_default(FOLIOT_COMMAND_impulse);
            c->fields = FOLIOT_COMMAND_HAS(impulse, body) | FOLIOT_COMMAND_HAS(impulse, linear);
            c->as.impulse.body = foliot_world_get_body_id(with, 1 + i % (bodies - 1));
            c->sequence = ++sequence;
        }
        double base = step_ms(without, NULL, 0);
        extra[round] = step_ms(with, commands, IMPULSES) - base;
    }
    foliot_world_destroy(with);
    foliot_world_destroy(without);
    return bench_median(extra, ROUNDS);
}

// The first half: bodies above the pile, far from each other. The second: those of the tick before.
static void change_bodies(foliot_world *world, foliot_command commands[2 * CHANGED],
                          uint32_t *sequence, uint32_t *count)
{
    uint32_t slots = foliot_world_get_body_count(world);
    *count = 0;
    for (uint32_t slot = 0; slot < slots; slot++) {
        if (!slot_alive(world, slot) || slot_body(world, slot).prototype == FOLIOT_NO_BODY ||
            *count == CHANGED)
            continue;
        foliot_command *c = &commands[(*count)++];
        *c = foliot_command_default(FOLIOT_COMMAND_despawn);
        c->fields = FOLIOT_COMMAND_HAS(despawn, body);
        c->as.despawn.body = foliot_world_get_body_id(world, slot);
        c->sequence = ++*sequence;
    }
    for (uint32_t i = 0; i < CHANGED; i++) {
        foliot_command *c = &commands[(*count)++];
        *c = foliot_command_default(FOLIOT_COMMAND_spawn);
        c->fields = FOLIOT_COMMAND_HAS(spawn, prototype) | FOLIOT_COMMAND_HAS(spawn, position);
        c->as.spawn.position[0] = (float)(i % 10) - 4.5f;
        c->as.spawn.position[1] = (float)(i / 10) - 4.5f;
        c->as.spawn.position[2] = 60;
        c->sequence = ++*sequence;
    }
}

// The median tick with, of the one without.
static double measure_changed(double *base_ms)
{
    static foliot_command commands[2 * CHANGED];
    static double with_ms[ROUNDS], without_ms[ROUNDS];
    foliot_world *with = make_pile(2 * CHANGED), *without = make_pile(2 * CHANGED);
    uint32_t sequence = 0, count;
    settle(with, 120);
    settle(without, 120);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        without_ms[round] = step_ms(without, NULL, 0);
        change_bodies(with, commands, &sequence, &count);
        with_ms[round] = step_ms(with, commands, count);
    }
    demand(foliot_world_get_counters(with)->commands_refused == 0, "a refused spawn");
    foliot_world_destroy(with);
    foliot_world_destroy(without);
    *base_ms = bench_median(without_ms, ROUNDS);
    return bench_median(with_ms, ROUNDS) / *base_ms;
}

// Medians of ticks in turns, the order of the two changing.
static double measure_unused(void)
{
    static double ratio[PAIRS];
    foliot_world *takes = make_pile(IMPULSES), *none = make_pile(0);
    settle(takes, 60);
    settle(none, 60);
    for (uint32_t i = 0; i < PAIRS; i++) {
        double a = i % 2 ? step_ms(takes, NULL, 0) : 0;
        double b = step_ms(none, NULL, 0);
        a = i % 2 ? a : step_ms(takes, NULL, 0);
        ratio[i] = a / b;
    }
    foliot_world_destroy(takes);
    foliot_world_destroy(none);
    return bench_median(ratio, PAIRS);
}

// Balls that touch their neighbours, on a floor.
static foliot_world *make_lattice(void)
{
    enum { BALLS = SIDE * SIDE * SIDE };
    foliot_body_definition *bodies = calloc(1 + BALLS, sizeof *bodies);
    foliot_world *world;
    demand(bodies != NULL, "memory");
    for (uint32_t i = 0; i <= BALLS; i++) {
        uint32_t k = i - 1;
        bodies[i] = foliot_body_definition_default();
        bodies[i].shape = (foliot_shape){.kind = FOLIOT_SHAPE_SPHERE, .radius = 0.5};
        bodies[i].position[0] = 0.999 * (k % SIDE);
        bodies[i].position[1] = 0.999 * (k / SIDE % SIDE);
        bodies[i].position[2] = 0.5 + 0.999 * (k / SIDE / SIDE);
    }
    bodies[0].is_static = true;
    bodies[0].shape = (foliot_shape){.kind = FOLIOT_SHAPE_PLANE, .normal = {0, 0, 1}};
    bodies[0].position[0] = bodies[0].position[1] = bodies[0].position[2] = 0;
    foliot_scene scene = foliot_scene_default();
    scene.name = "lattice";
    scene.integrator = FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER;
    scene.dt = 1.0 / 60;
    scene.gravity[2] = -9.81;
    scene.bodies = bodies;
    scene.body_count = 1 + BALLS;
    scene.commands_max = BALLS;
    demand(foliot_world_create(&scene, &world, NULL) == FOLIOT_STATUS_OK, "a lattice");
    free(bodies);
    return world;
}

// The tick in which all of them go.
static double measure_removed(void)
{
    foliot_world *world = make_lattice();
    uint32_t count = foliot_world_get_body_count(world) - 1;
    foliot_command *commands = calloc(count, sizeof *commands);
    demand(commands != NULL, "memory");
    settle(world, 10);
    for (uint32_t i = 0; i < count; i++) {
        commands[i] = foliot_command_default(FOLIOT_COMMAND_despawn);
        commands[i].fields = FOLIOT_COMMAND_HAS(despawn, body);
        commands[i].as.despawn.body = foliot_world_get_body_id(world, 1 + i);
        commands[i].sequence = 1 + i;
    }
    double ms = step_ms(world, commands, count);
    demand(foliot_world_get_counters(world)->commands_refused == 0, "a refused despawn");
    free(commands);
    foliot_world_destroy(world);
    return ms;
}

// -- bytes

static char file[] = P_tmpdir "/foliot-commands-XXXXXX";

// Size of a recording in which every tick has one command that `make` made, less that of one
// without.
static double recorded_bytes(void (*make)(foliot_command *command, uint64_t tick))
{
    double bytes[2];
    for (int given = 0; given < 2; given++) {
        foliot_scene *scene = read_scene("games/siege/siege.yaml");
        foliot_recording *recording;
        foliot_recording_config config = foliot_recording_config_default();
        foliot_world *world;
        foliot_recording_state state;
        config.keyframe_ticks = 0;
        config.threaded = false;
        demand(foliot_world_create(scene, &world, NULL) == FOLIOT_STATUS_OK, "a world");
        demand(foliot_recording_open(file, WORLD_SIMULATION(world, scene), &config, &recording) ==
                   FOLIOT_STATUS_OK,
               "a recording");
        for (uint64_t tick = 0; tick < RECORDED; tick++) {
            foliot_command command;
            make(&command, tick);
            command.sequence = (uint32_t)tick + 1;
            const foliot_tick_inputs in = {NULL, 0, &command, (uint32_t)given};
            demand(foliot_world_step_tick(world, &in, NULL) == FOLIOT_STATUS_OK, "a step");
            demand(foliot_recording_append(recording, WORLD_SIMULATION(world, NULL), &in, NULL,
                                           0) == FOLIOT_STATUS_OK &&
                       foliot_recording_drain(recording) == FOLIOT_STATUS_OK,
                   "a recorded tick");
        }
        demand(foliot_recording_close(recording, &state) == FOLIOT_STATUS_OK, "the end");
        bytes[given] = (double)state.input_bytes;
        foliot_world_destroy(world);
        foliot_scene_destroy(scene);
    }
    return (bytes[1] - bytes[0]) / RECORDED;
}

static void make_impulse(foliot_command *command, uint64_t tick)
{
    *command = foliot_command_default(FOLIOT_COMMAND_impulse);
    command->fields = FOLIOT_COMMAND_HAS(impulse, body) | FOLIOT_COMMAND_HAS(impulse, linear);
    command->as.impulse.body.value = (1ull << 32) + tick % 40;
    for (int k = 0; k < 3; k++)
        command->as.impulse.linear[k] = (float)(tick % 97) * 0.37f + (float)k;
}

static void make_spawn(foliot_command *command, uint64_t tick)
{
    *command = foliot_command_default(FOLIOT_COMMAND_spawn);
    command->fields = FOLIOT_COMMAND_HAS(spawn, prototype) | FOLIOT_COMMAND_HAS(spawn, position);
    for (int k = 0; k < 3; k++)
        command->as.spawn.position[k] = (float)(tick % 89) * 0.41f + 3 * (float)k;
}

static void count_bytes(void *user, const uint8_t *bytes, size_t length)
{
    (void)bytes;
    *(size_t *)user += length;
}

// Bytes of a changed tag in a katamari of 900 cubes and four players, where that many change in a
// tick, at random.
static double tag_bytes(uint32_t at_once)
{
    static foliot__update_writer writer;
    size_t total = 0;
    foliot__rng rng = foliot__rng_seeded(7);
    foliot__update_begin(&writer, 917, count_bytes, &total);
    for (int tick = 0; tick < 1000; tick++) {
        uint32_t left = at_once;
        for (uint32_t slot = 1; slot < 901; slot++) // each choice of slots is as likely
            if (foliot__rng_below(&rng, 901 - slot) < left) {
                foliot__update_tag(&writer, slot, foliot__rng_below(&rng, 5));
                left--;
            }
        foliot__update_finish(&writer, false);
    }
    return (double)total / 1000 / at_once;
}

// -- an hour of siege

typedef struct siege {
    foliot_scene *scene;
    foliot_world *world;
    foliot_rules *rules;
    foliot_recording_rules recorded;
} siege;

static foliot_status save(void *user, void *bytes, size_t capacity, size_t *length)
{
    return foliot_rules_save(((siege *)user)->rules, bytes, capacity, length);
}

static foliot_status restore(void *user, const void *bytes, size_t length)
{
    return foliot_rules_restore(((siege *)user)->rules, bytes, length);
}

static foliot_status tick_again(void *user, const foliot_rules_view *view)
{
    return foliot_rules_tick(((siege *)user)->rules, view);
}

static void make_rules(siege *s)
{
    char problem[400] = "";
    foliot_lua_limits limits = foliot_lua_limits_default();
    limits.time_us = 0;
    if (foliot_rules_create_lua(s->scene->script.text, s->scene->script.bytes, "siege.lua", &limits,
                                s->scene, &s->rules, problem, sizeof problem) != FOLIOT_STATUS_OK)
        demand(false, problem);
    s->recorded = (foliot_recording_rules){.name = "siege.lua",
                                           .text = s->scene->script.text,
                                           .text_bytes = s->scene->script.bytes,
                                           .save = save,
                                           .restore = restore,
                                           .tick = tick_again,
                                           .user = s};
}

// As foliot-server has it, with the rules' end left out, so that it lasts.
static foliot_recording_config config_of(const siege *s)
{
    foliot_recording_config config = foliot_recording_config_default();
    config.block_ticks = 3;
    config.threaded = false;
    config.rules = &s->recorded;
    return config;
}

static void play_tick(siege *s, foliot__harness_players *players, foliot_recording *recording,
                      uint32_t *sequence)
{
    foliot_input inputs[64];
    foliot_command commands[256];
    const foliot_command_list *list = foliot_rules_get_commands(s->rules);
    foliot_tick_inputs in = {.inputs = inputs, .commands = commands};
    uint64_t now = foliot_world_get_tick(s->world);
    in.input_count = foliot__harness_players_draw(players, now, inputs, 64);
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->commands[i].kind == FOLIOT_COMMAND_end)
            continue;
        commands[in.command_count] = list->commands[i];
        commands[in.command_count++].sequence = ++*sequence;
    }
    demand(foliot_world_step_tick(s->world, &in, NULL) == FOLIOT_STATUS_OK, "a step");
    const foliot_rules_view view = {.scene = s->scene,
                                    .world = s->world,
                                    .tick = now + 1,
                                    .inputs = inputs,
                                    .input_count = in.input_count};
    demand(foliot_rules_tick(s->rules, &view) == FOLIOT_STATUS_OK, "a tick of the rules");
    demand(foliot_recording_append(recording, WORLD_SIMULATION(s->world, NULL), &in, NULL, 0) ==
                   FOLIOT_STATUS_OK &&
               foliot_recording_drain(recording) == FOLIOT_STATUS_OK,
           "a recorded tick");
}

static void record_hour(siege *s, uint32_t ticks)
{
    foliot_recording *recording;
    foliot_recording_config config = config_of(s);
    foliot__harness_players *players = foliot__harness_players_create(PLAYERS, 5);
    uint32_t sequence = 0;
    demand(players && foliot_recording_open(file, WORLD_SIMULATION(s->world, s->scene), &config,
                                            &recording) == FOLIOT_STATUS_OK,
           "a recording");
    for (uint32_t tick = 0; tick < ticks; tick++)
        play_tick(s, players, recording, &sequence);
    demand(foliot_recording_wait(recording, false) == FOLIOT_STATUS_OK, "the last block");
    foliot_recording_abandon(recording);
    free(players);
}

// Seconds from the file to a world that goes on, its rules too.
static double measure_resume(uint32_t ticks, double *megabytes)
{
    siege s = {.scene = read_scene("games/siege/siege.yaml")}, again = {.scene = s.scene};
    foliot_recording *recording;
    foliot_scene *scene;
    struct stat about;
    foliot_error error = {.text = ""};
    demand(foliot_world_create(s.scene, &s.world, NULL) == FOLIOT_STATUS_OK, "a siege");
    make_rules(&s);
    record_hour(&s, ticks);
    demand(stat(file, &about) == 0, "the file");
    *megabytes = 1e-6 * (double)about.st_size;
    double start = bench_now();
    make_rules(&again);
    foliot_recording_config config = config_of(&again);
    if (resume_world(file, &config, &recording, &scene, &again.world, &error) != FOLIOT_STATUS_OK)
        demand(false, error.text);
    double seconds = bench_now() - start;
    demand(foliot_world_get_tick(again.world) + 60 > ticks, "it went on too early");
    foliot_recording_abandon(recording);
    foliot_rules_destroy(s.rules);
    foliot_rules_destroy(again.rules);
    foliot_world_destroy(s.world);
    foliot_world_destroy(again.world);
    foliot_scene_destroy(scene);
    foliot_scene_destroy(s.scene);
    return seconds;
}

int main(int argc, char **argv)
{
    uint32_t ticks = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : HOUR;
    double base, megabytes, impulses = measure_impulses(), changed = measure_changed(&base);
    double unused = measure_unused();
    close(mkstemp(file));
    bench_report("commands", "10,000 impulses in a tick, beside the step", impulses, "ms", "limit",
                 LIMIT_IMPULSES_MS);
    bench_report("commands", "100 spawned and removed a tick, of a tick without", changed, "",
                 "limit", LIMIT_CHANGED);
    double removed = measure_removed();
    bench_report("commands", "a tick that removes 10,648 bodies", removed, "ms", "limit",
                 LIMIT_REMOVED_MS);
    bench_report("commands", "a tick of the pile", base, "ms", NULL, 0);
    bench_report("commands", "none given, of a scene that takes none", unused, "", "limit",
                 LIMIT_UNUSED);
    bench_report("commands", "an impulse in a recording", recorded_bytes(make_impulse), "B", NULL,
                 0);
    bench_report("commands", "a spawn at rest in a recording", recorded_bytes(make_spawn), "B",
                 NULL, 0);
    bench_report("commands", "a changed tag on the wire, 113 of 900", tag_bytes(113), "B", NULL, 0);
    bench_report("commands", "a changed tag on the wire, alone", tag_bytes(1), "B", NULL, 0);
    bench_report("commands", "a changed tag on the wire, one of four", tag_bytes(4), "B", NULL, 0);
    double resume = measure_resume(ticks, &megabytes);
    bench_report("commands", "resuming an hour of siege", resume, "s", "limit", LIMIT_RESUME_S);
    bench_report("commands", "its file", megabytes, "MB", NULL, 0);
    unlink(file);
    return impulses > LIMIT_IMPULSES_MS || changed > LIMIT_CHANGED || removed > LIMIT_REMOVED_MS ||
           resume > LIMIT_RESUME_S;
}
