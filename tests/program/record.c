// SPDX-License-Identifier: MIT
// record.c FILE TICKS [streams|session [order|message]]: a recording of a seeded scene with
// players, for the tests of the program. `session`: with random commands, orders, messages and the
// state of rules, too. `order`, `message`: one of them is another one than without.
#include "recording_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "status.h"

static foliot_status save_rules(void *user, void *bytes, size_t capacity, size_t *length)
{
    const foliot_world *world = user;
    char text[300]; // long enough that compressing it pays
    memset(text, 'r', sizeof text);
    snprintf(text, sizeof text, "tick %u", (unsigned)foliot_world_get_tick(world));
    *length = sizeof text;
    if (bytes && capacity >= sizeof text)
        memcpy(bytes, text, sizeof text);
    return FOLIOT_STATUS_OK;
}

// The orders and messages of one tick: every third has an order, every tenth a message.
static void say(foliot_recording *recording, uint64_t tick, const char *other, foliot_order *order,
                uint32_t *count)
{
    const char *text = tick == 310 && strcmp(other, "message") == 0 ? "help!" : "hello";
    *count = tick % 3 == 0;
    *order = (foliot_order){.player = (uint32_t)(tick % 5),
                            .sequence = (uint32_t)(tick * tick),
                            .kind = (uint8_t)(tick % 4),
                            .length = (uint8_t)(tick % 200)};
    memset(order->bytes, (int)tick, sizeof order->bytes);
    if (tick == 303 && strcmp(other, "order") == 0)
        order->bytes[7] = '!';
    if (tick % 10 == 0)
        demand(foliot_recording_note_message(recording, (uint32_t)tick, tick % 20 == 0, text, 5));
}

static void record_session(recording_fixture *fixture, const foliot_recording_config *base,
                           uint64_t ticks, const char *other, recording_memory *memory)
{
    foliot_recording_sink sink = recording_memory_sink(memory);
    foliot_recording_config config = *base;
    foliot_recording *recording;
    foliot__rng rng = foliot__rng_seeded(9);
    foliot_command_list list = {0};
    uint32_t sequence = 0;
    fixture->scene.commands_max = 8;
    foliot_world *world = recording_fixture_world(fixture);
    const foliot_recording_rules rules = {.name = "replay test",
                                          .version = 3,
                                          .text = "-- none",
                                          .text_bytes = 7,
                                          .build = "record.c",
                                          .save = save_rules,
                                          .user = world};
    config.rules = &rules;
    demand(foliot_recording_open_sink(&sink, WORLD_SIMULATION(world, &fixture->scene), &config,
                                      &recording));
    for (uint64_t tick = 0; tick < ticks; tick++) {
        foliot_input inputs[FOLIOT_PLAYERS_MAX];
        foliot_order order;
        foliot_tick_inputs in = {.inputs = inputs};
        uint32_t orders;
        in.input_count = recording_fixture_inputs(fixture, tick, true, inputs);
        foliot_command_list_clear(&list);
        for (uint64_t i = foliot__rng_u64(&rng) % 4; i > 1; i--) {
            uint64_t kind = foliot__rng_u64(&rng) % FOLIOT_COMMAND_end; // all but the end
            foliot_command command = draw_command(&rng, (uint32_t)kind);
            command.sequence = ++sequence;
            demand(foliot_command_list_append(&list, &command));
        }
        in.commands = list.commands;
        in.command_count = list.count;
        demand(foliot_world_step_tick(world, &in, NULL));
        if (tick % 150 == 100 || tick % 150 == 99) {
            char name[FOLIOT_NAME_BYTES];
            snprintf(name, sizeof name, "noted %u.", (unsigned)tick);
            demand(foliot_recording_note_session(recording, name, false));
            demand(foliot_recording_flush(recording)); // it ends its block
        }
        say(recording, tick, other, &order, &orders);
        demand(
            foliot_recording_append(recording, WORLD_SIMULATION(world, NULL), &in, &order, orders));
        demand(foliot_recording_drain(recording));
    }
    demand(foliot_recording_close(recording, NULL));
    foliot_command_list_destroy(&list);
    foliot_world_destroy(world);
}

int main(int argc, char **argv)
{
    recording_fixture fixture;
    recording_memory memory = {0};
    foliot_recording_config config = recording_fixture_config(25, 100);
    if (argc < 3)
        return 2;
    recording_fixture_init(&fixture, 6, 5, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 42);
    fixture.streams = argc > 3 && strcmp(argv[3], "streams") == 0;
    uint64_t ticks = strtoull(argv[2], NULL, 10);
    if (argc > 3 && strcmp(argv[3], "session") == 0)
        record_session(&fixture, &config, ticks, argc > 4 ? argv[4] : "", &memory);
    else
        recording_fixture_record(&fixture, &config, ticks, &memory, NULL);
    FILE *out = fopen(argv[1], "wb");
    bool fine = out && fwrite(memory.bytes, 1, memory.length, out) == memory.length;
    fine = out && fclose(out) == 0 && fine;
    recording_memory_free(&memory);
    recording_fixture_free(&fixture);
    return fine ? 0 : 1;
}
