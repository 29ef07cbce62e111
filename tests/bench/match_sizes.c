// SPDX-License-Identifier: MIT
// match_sizes.c: what commands take in the recordings of whole matches: siege and katamari with
// three players each, who are drawn and throw stones. A command's bytes are its own and its share
// of the run that it stands in. Once a second the host pushes a stone, as an administrator would:
// that breaks the rules' sequence, which costs more than any game does by itself.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "bench.h"
#include "slots.h"
#include "foliot/foliot.h"
#include "foliot/rules.h"
#include "foliot/scene.h"
#include "divergence/divergence.h"
#include "recording/encoder.h"
#include "wire/session_state.h"

#define SECONDS 120
#define PLAYERS 3
#define BLOCK_TICKS 60
#define KEYFRAME_TICKS 300
#define COMMANDS_MAX 1024 // of a tick

#define LIMIT_IMPULSE 24.0
#define LIMIT_SPAWN 40.0

typedef struct mean {
    double bytes;
    uint32_t count;
} mean;

typedef struct match {
    foliot_scene *scene;
    foliot_world *world;
    foliot_rules *rules;
    foliot__harness_players *players;
    foliot__rng rng;
    foliot__session_encoder encoder;
    uint32_t sequence, order_sequence;
    mean impulse, spawn, other; // in a recording; a spawn is one at rest
    mean tag, tag_on_wire;
    uint32_t tags[FOLIOT_BODIES_MAX];
} match;

static void demand(bool fine, const char *what)
{
    if (fine)
        return;
    fprintf(stderr, "match_sizes: %s\n", what);
    exit(1);
}

static void add(mean *m, double bytes, uint32_t count)
{
    m->bytes += bytes;
    m->count += count;
}

static double get_mean(const mean *m)
{
    demand(m->count > 0, "nothing to measure");
    return m->bytes / m->count;
}

static void begin(match *m, const char *file)
{
    char problem[400] = "";
    foliot_error error;
    foliot_lua_limits limits = foliot_lua_limits_default();
    limits.time_us = 0;
    *m = (match){.rng = foliot__rng_seeded(7),
                 .players = foliot__harness_players_create(PLAYERS, 7)};
    if (foliot_scene_read(file, &m->scene, &error) != FOLIOT_STATUS_OK)
        demand(false, error.text);
    if (foliot_rules_create_lua(m->scene->script.text, m->scene->script.bytes, "match.lua", &limits,
                                m->scene, &m->rules, problem, sizeof problem) != FOLIOT_STATUS_OK)
        demand(false, problem);
    demand(m->players && foliot_world_create(m->scene, &m->world, NULL) == FOLIOT_STATUS_OK,
           "a world");
}

static void end(match *m)
{
    foliot_rules_destroy(m->rules);
    foliot_world_destroy(m->world);
    foliot_scene_destroy(m->scene);
    foliot__session_encoder_free(&m->encoder);
    free(m->players);
}

// -- one tick

// A body that a command spawned last, if there is one.
static foliot_body_id newest_body(const match *m)
{
    foliot_body_id id = {0};
    for (uint32_t slot = 0; slot < foliot_world_get_body_count(m->world); slot++)
        if (slot_alive(m->world, slot) && slot_body(m->world, slot).prototype != FOLIOT_NO_BODY)
            id = foliot_world_get_body_id(m->world, slot);
    return id;
}

static uint32_t take_commands(match *m, foliot_command commands[COMMANDS_MAX])
{
    const foliot_command_list *list = foliot_rules_get_commands(m->rules);
    uint64_t now = foliot_world_get_tick(m->world);
    foliot_body_id body = newest_body(m);
    uint32_t count = 0;
    if (now % 60 == 59 && body.value) {
        commands[count] = foliot_command_default(FOLIOT_COMMAND_impulse);
        commands[count].fields =
            FOLIOT_COMMAND_HAS(impulse, body) | FOLIOT_COMMAND_HAS(impulse, linear);
        commands[count].as.impulse.body = body;
        for (int k = 0; k < 3; k++)
            commands[count].as.impulse.linear[k] = (float)foliot__rng_unit(&m->rng);
        commands[count++].source = FOLIOT_COMMAND_SOURCE_ADMIN;
    }
    for (uint32_t i = 0; i < list->count; i++)
        if (list->commands[i].kind != FOLIOT_COMMAND_end) // the match goes on
            commands[count++] = list->commands[i];
    demand(count < COMMANDS_MAX, "too many commands");
    for (uint32_t i = 0; i < count; i++)
        commands[i].sequence = ++m->sequence;
    return count;
}

static uint32_t take_orders(match *m, foliot_order orders[1])
{
    uint64_t now = foliot_world_get_tick(m->world);
    if (now % 20 != 19)
        return 0;
    orders[0] =
        (foliot_order){.player = (uint32_t)(now / 20 % PLAYERS), .sequence = ++m->order_sequence};
    orders[0].length =
        (uint8_t)snprintf((char *)orders[0].bytes, FOLIOT_ORDER_BYTES_MAX, "throw %.2f %.2f 0.5",
                          foliot__rng_unit(&m->rng) - 0.5, foliot__rng_unit(&m->rng) - 0.5);
    return 1;
}

static bool is_at_rest(const foliot_command *command)
{
    const uint32_t moves =
        FOLIOT_COMMAND_HAS(spawn, velocity) | FOLIOT_COMMAND_HAS(spawn, angular_velocity);
    return command->kind == FOLIOT_COMMAND_spawn && !(command->fields & moves);
}

// Encodes the tick as a recording does, and gives each command its share.
static void weigh(match *m, const foliot__recorded_tick *recorded)
{
    const foliot_tick_inputs *in = &recorded->inputs;
    uint64_t now = foliot_world_get_tick(m->world);
    if (now % KEYFRAME_TICKS == 0)
        memset(&m->encoder.known, 0, sizeof m->encoder.known);
    if (now % BLOCK_TICKS == 0)
        foliot__session_encoder_begin(&m->encoder, now);
    size_t before = m->encoder.commands.length;
    foliot__session_encode_tick(&m->encoder, now, recorded);
    double beside = (double)(m->encoder.commands.length - before);
    for (uint32_t i = 0; i < in->command_count; i++)
        beside -= (double)foliot_command_encode(&in->commands[i], NULL, 0);
    for (uint32_t i = 0; i < in->command_count; i++) {
        const foliot_command *c = &in->commands[i];
        double bytes = (double)foliot_command_encode(c, NULL, 0) + beside / in->command_count;
        add(c->kind == FOLIOT_COMMAND_impulse ? &m->impulse
            : is_at_rest(c)                   ? &m->spawn
            : c->kind == FOLIOT_COMMAND_set_body &&
                    c->fields ==
                        (FOLIOT_COMMAND_HAS(set_body, body) | FOLIOT_COMMAND_HAS(set_body, tag))
                ? &m->tag
                : &m->other,
            bytes, 1);
    }
}

static void count_bytes(void *user, const uint8_t *bytes, size_t length)
{
    (void)bytes;
    *(size_t *)user += length;
}

// Adds the tags of this tick's update.
static void weigh_tags(match *m)
{
    static foliot__update_writer writer;
    size_t bytes = 0;
    uint32_t changes = 0;
    uint32_t slots = foliot_world_get_body_count(m->world);
    foliot__update_begin(&writer, slots, count_bytes, &bytes);
    for (uint32_t slot = 0; slot < slots; slot++) {
        uint32_t tag = slot_body(m->world, slot).tag;
        if (tag == m->tags[slot])
            continue;
        foliot__update_tag(&writer, slot, m->tags[slot] = tag);
        changes++;
    }
    foliot__update_finish(&writer, false);
    if (changes)
        add(&m->tag_on_wire, (double)bytes, changes);
}

static void play_tick(match *m)
{
    foliot_input inputs[64];
    foliot_command commands[COMMANDS_MAX];
    foliot_order orders[1];
    uint64_t now = foliot_world_get_tick(m->world);
    foliot__recorded_tick recorded = {{inputs, 0, commands, 0}, orders, take_orders(m, orders)};
    foliot_tick_inputs *in = &recorded.inputs;
    in->input_count = foliot__harness_players_draw(m->players, now, inputs, 64);
    in->command_count = take_commands(m, commands);
    weigh(m, &recorded);
    demand(foliot_world_step_tick(m->world, in, NULL) == FOLIOT_STATUS_OK, "a step");
    const foliot_rules_view view = {.scene = m->scene,
                                    .world = m->world,
                                    .tick = now + 1,
                                    .inputs = inputs,
                                    .input_count = in->input_count,
                                    .orders = orders,
                                    .order_count = recorded.order_count};
    demand(foliot_rules_tick(m->rules, &view) == FOLIOT_STATUS_OK,
           foliot_rules_get_problem(m->rules));
    weigh_tags(m);
}

static void play(match *m, const char *file)
{
    begin(m, file);
    uint64_t ticks = (uint64_t)(SECONDS / m->scene->dt + 0.5);
    for (uint64_t tick = 0; tick < ticks; tick++)
        play_tick(m);
    demand(foliot_world_get_counters(m->world)->commands_refused < m->impulse.count + ticks / 10,
           "most commands are refused");
}

int main(void)
{
    static match m;
    play(&m, "games/siege/siege.yaml");
    double impulse = get_mean(&m.impulse), spawn = get_mean(&m.spawn);
    bench_report("match_sizes", "siege: an impulse in a recording", impulse, "B", "limit",
                 LIMIT_IMPULSE);
    bench_report("match_sizes", "siege: a spawn at rest in a recording", spawn, "B", "limit",
                 LIMIT_SPAWN);
    bench_report("match_sizes", "siege: any other command in a recording", get_mean(&m.other), "B",
                 NULL, 0);
    end(&m);
    play(&m, "games/katamari/katamari.yaml");
    bench_report("match_sizes", "katamari: a changed tag in a recording", get_mean(&m.tag), "B",
                 NULL, 0);
    bench_report("match_sizes", "katamari: a changed tag on the wire", get_mean(&m.tag_on_wire),
                 "B", NULL, 0);
    end(&m);
    return impulse > LIMIT_IMPULSE || spawn > LIMIT_SPAWN;
}
