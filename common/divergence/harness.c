// SPDX-License-Identifier: MIT
// harness.c: runs one undisturbed simulation, and next to it instances that are recreated, rolled
// back, restored and perturbed. Invariant checked: at every tick all instances have the same state.
#include "foliot/divergence.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "divergence/divergence.h"
#include "simulation/input_log.h"
#include "simulation/simulation.h"

typedef struct saved {
    foliot__buffer state;
    foliot_digest digest;
} saved;

typedef struct harness {
    const foliot_harness_config *config;
    foliot_harness_result *result;
    foliot__input_log log;
    foliot_command_list *commands;    // of the last ticks, by tick; as long as `ring`
    foliot__harness_players *players; // of the seeded inputs
    foliot__rng rng;
    foliot_simulation run, again, restored, disturbed, rolled[FOLIOT_HARNESS_DISTANCES];
    saved *ring; // the undisturbed states of the last ticks, by tick
    uint32_t ring_size;
    saved other, flipped; // of the instance that is compared
    foliot_step_trace *expected, *actual;
    foliot_input inputs[FOLIOT_HARNESS_INPUTS_MAX];
} harness;

foliot_harness_config foliot_harness_config_default(void)
{
    return (foliot_harness_config){.ticks = 600,
                                   .players = 4,
                                   .seed = 1,
                                   .distances = {1, 2, 8},
                                   .perturb_every = 20,
                                   .perturbations = 256};
}

// -- saving and comparing

static foliot_status save_state(const foliot_simulation *simulation, saved *to)
{
    to->digest = foliot_simulation_get_digest(simulation);
    return foliot__simulation_save(simulation, &to->state);
}

static saved *state_at(harness *h, uint64_t tick)
{
    return &h->ring[tick % h->ring_size];
}

static foliot_harness_row *row_of(harness *h, foliot_harness_test test)
{
    return &h->result->row[test];
}

static void record_failure(harness *h, foliot_harness_test test, uint64_t tick, const char *text)
{
    foliot_harness_row *row = row_of(h, test);
    row->passed = false;
    row->divergence = (foliot_divergence){.tick = tick, .body = FOLIOT_NO_BODY};
    snprintf(row->text, sizeof row->text, "%s", text);
}

// Names the part and the field in which `actual` differs from the undisturbed run. False: no part
// differs, or the states cannot be captured, which *captured says.
static bool find_difference(harness *h, const foliot_simulation *actual, uint64_t tick,
                            foliot_divergence *divergence, bool *captured)
{
    foliot_step_trace_reset(h->expected, tick);
    foliot_step_trace_reset(h->actual, tick);
    *captured = foliot_step_trace_capture_held(h->expected, &h->run) == FOLIOT_STATUS_OK &&
                foliot_step_trace_capture_held(h->actual, actual) == FOLIOT_STATUS_OK;
    return *captured && foliot_step_trace_compare(h->expected, h->actual, divergence);
}

// Names part and field if the kind names parts; else the first saved byte that differs.
static void explain_difference(harness *h, foliot_harness_row *row, const foliot_simulation *actual,
                               const saved *expected, const saved *got)
{
    size_t used = strlen(row->text), byte = 0;
    bool captured;
    if (find_difference(h, actual, row->divergence.tick, &row->divergence, &captured) || !captured)
        return;
    while (byte < expected->state.length && byte < got->state.length &&
           expected->state.bytes[byte] == got->state.bytes[byte])
        byte++;
    if (byte < expected->state.length || byte < got->state.length)
        snprintf(row->text + used, sizeof row->text - used,
                 "; no part differs, but saved byte %zu of %zu does", byte, expected->state.length);
}

// `actual` must be what the undisturbed run is now.
static void compare_to_run(harness *h, foliot_harness_test test, const foliot_simulation *actual,
                           const char *text)
{
    foliot_harness_row *row = row_of(h, test);
    uint64_t tick = foliot_simulation_get_tick(&h->run);
    const saved *expected = state_at(h, tick);
    row->checks++;
    foliot_status status = save_state(actual, &h->other);
    if (status != FOLIOT_STATUS_OK) {
        record_failure(h, test, tick, "its state cannot be saved");
        return;
    }
    bool digests = foliot_digest_equal(expected->digest, h->other.digest);
    if (digests && expected->state.length == h->other.state.length &&
        memcmp(expected->state.bytes, h->other.state.bytes, expected->state.length) == 0)
        return;
    record_failure(h, test, tick, text);
    if (digests) {
        size_t used = strlen(row->text);
        snprintf(row->text + used, sizeof row->text - used,
                 "; the digests agree, the saved bytes do not");
    }
    explain_difference(h, row, actual, expected, &h->other);
}

// -- one tick of each

static foliot_status step_instance(harness *h, foliot_simulation *simulation)
{
    uint64_t tick = foliot_simulation_get_tick(simulation);
    const foliot_command_list *commands = &h->commands[tick % h->ring_size];
    foliot_tick_inputs in = {.commands = commands->commands, .command_count = commands->count};
    if (!foliot__input_log_at(&h->log, tick, &in.inputs, &in.input_count))
        return FOLIOT_STATUS_NOT_FOUND;
    return foliot_simulation_step_tick(simulation, &in);
}

// Every instance must take a step that the undisturbed run took.
static bool step_or_fail(harness *h, foliot_harness_test test, foliot_simulation *simulation)
{
    foliot_status status = step_instance(h, simulation);
    if (status == FOLIOT_STATUS_OK)
        return true;
    char text[128];
    snprintf(text, sizeof text, "it refuses a step that the first run took (%s)",
             foliot_status_get_name(status));
    record_failure(h, test, foliot_simulation_get_tick(&h->run), text);
    return false;
}

// Restores the undisturbed run's state at `tick`. Tick and digest must match it.
static bool restore_run_state(harness *h, foliot_harness_test test, foliot_simulation *simulation,
                              uint64_t tick)
{
    const saved *from = state_at(h, tick);
    foliot_status status =
        foliot_simulation_restore(simulation, from->state.bytes, from->state.length);
    char text[128] = "";
    if (status != FOLIOT_STATUS_OK)
        snprintf(text, sizeof text, "it refuses its own saved bytes (%s)",
                 foliot_status_get_name(status));
    else if (foliot_simulation_get_tick(simulation) != tick)
        snprintf(text, sizeof text, "restored to tick %" PRIu64 ", it reports tick %" PRIu64, tick,
                 foliot_simulation_get_tick(simulation));
    else if (!foliot_digest_equal(foliot_simulation_get_digest(simulation), from->digest))
        snprintf(text, sizeof text, "restored, it does not have the digest of what was saved");
    if (!text[0])
        return true;
    record_failure(h, test, tick, text);
    if (status == FOLIOT_STATUS_OK && tick == foliot_simulation_get_tick(&h->run) &&
        save_state(simulation, &h->other) == FOLIOT_STATUS_OK)
        explain_difference(h, row_of(h, test), simulation, from, &h->other);
    return false;
}

// Takes a step. At every multiple of its distance it rolls back by that distance and steps again.
static void test_sync(harness *h, uint32_t i)
{
    foliot_simulation *rolled = &h->rolled[i];
    uint64_t tick = foliot_simulation_get_tick(&h->run);
    uint32_t distance = h->config->distances[i];
    char text[96];
    if (!step_or_fail(h, FOLIOT_HARNESS_sync, rolled))
        return;
    if (tick % distance == 0) {
        if (!restore_run_state(h, FOLIOT_HARNESS_sync, rolled, tick - distance))
            return;
        for (uint32_t k = 0; k < distance; k++)
            if (!step_or_fail(h, FOLIOT_HARNESS_sync, rolled))
                return;
    }
    snprintf(text, sizeof text, "rolled back by %" PRIu32 " tick%s, it does not repeat", distance,
             distance == 1 ? "" : "s");
    compare_to_run(h, FOLIOT_HARNESS_sync, rolled, text);
}

// -- disturbing

// Changes random numbers of random parts by one unit, as many as the configuration demands. False:
// the digest does not notice one of them.
static bool disturb_numbers(harness *h)
{
    const foliot_simulation_kind *kind = h->config->kind;
    foliot_harness_row *row = row_of(h, FOLIOT_HARNESS_perturbation);
    uint64_t tick = foliot_simulation_get_tick(&h->run);
    void *self = h->disturbed.self;
    uint32_t parts = kind->part_count(self), capacity = 0;
    foliot_simulation_field *values = NULL;
    bool fine = true;
    for (uint32_t i = 0; i < h->config->perturbations && parts > 0 && fine; i++) {
        uint32_t part = foliot__rng_below(&h->rng, parts);
        foliot_simulation_part about = {.index = part};
        kind->part(self, part, &about);
        if (about.field_count > capacity) {
            free(values);
            capacity = about.field_count;
            values = malloc(sizeof *values * capacity);
        }
        if (!values || about.field_count == 0)
            continue;
        memset(values, 0, sizeof *values * about.field_count);
        kind->fields(self, part, values);
        uint32_t field = foliot__rng_below(&h->rng, about.field_count);
        const foliot_simulation_field *value = &values[field];
        if (value->undigested)
            continue;
        kind->set_field(self, part, field, foliot_value_advance(value->type, value->bits, 1));
        row->checks++;
        if (foliot_digest_equal(foliot_simulation_get_digest(&h->disturbed),
                                state_at(h, tick)->digest)) {
            bool captured;
            record_failure(h, FOLIOT_HARNESS_perturbation, tick,
                           "the digest does not notice another value");
            // A count or a constant cannot be set: then nothing differs, and that is not a failure.
            fine =
                !find_difference(h, &h->disturbed, tick, &row->divergence, &captured) && captured;
            row->passed = fine;
            if (fine)
                row->text[0] = 0;
        }
        kind->set_field(self, part, field, value->bits);
    }
    free(values);
    return fine;
}

// Flips random bits of the saved bytes. Restoring must refuse them, or the digest must differ.
static bool disturb_bits(harness *h)
{
    foliot_harness_row *row = row_of(h, FOLIOT_HARNESS_perturbation);
    uint64_t tick = foliot_simulation_get_tick(&h->run);
    saved *flipped = &h->flipped;
    if (save_state(&h->run, flipped) != FOLIOT_STATUS_OK)
        return true;
    size_t bits = flipped->state.length * 8;
    for (uint32_t i = 0; i < h->config->perturbations && bits > 0; i++) {
        size_t bit = (size_t)(foliot__rng_u64(&h->rng) % bits);
        char text[96];
        bool captured;
        row->checks++;
        flipped->state.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        bool accepted =
            foliot_simulation_restore(&h->disturbed, flipped->state.bytes, flipped->state.length) ==
                FOLIOT_STATUS_OK &&
            save_state(&h->disturbed, &h->other) == FOLIOT_STATUS_OK &&
            h->other.state.length == flipped->state.length &&
            memcmp(h->other.state.bytes, flipped->state.bytes, flipped->state.length) == 0;
        flipped->state.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (!accepted || !foliot_digest_equal(h->other.digest, state_at(h, tick)->digest))
            continue;
        snprintf(text, sizeof text, "the digest does not notice bit %zu of saved byte %zu", bit % 8,
                 bit / 8);
        record_failure(h, FOLIOT_HARNESS_perturbation, tick, text);
        find_difference(h, &h->disturbed, tick, &row->divergence, &captured);
        return false;
    }
    return restore_run_state(h, FOLIOT_HARNESS_perturbation, &h->disturbed, tick);
}

static void test_perturbation(harness *h)
{
    uint64_t tick = foliot_simulation_get_tick(&h->run);
    if (tick % h->config->perturb_every != 0 && tick != h->config->ticks)
        return;
    if (!restore_run_state(h, FOLIOT_HARNESS_perturbation, &h->disturbed, tick))
        return;
    if (h->config->kind->set_field && h->config->kind->part_count && !disturb_numbers(h))
        return;
    disturb_bits(h);
}

// -- the whole

// Draws inputs and commands of the tick.
static foliot_status append_inputs(harness *h, uint64_t tick)
{
    const foliot_harness_config *config = h->config;
    uint32_t count =
        config->inputs
            ? config->inputs(config->inputs_user, tick, h->inputs, FOLIOT_HARNESS_INPUTS_MAX)
            : foliot__harness_players_draw(h->players, tick, h->inputs, FOLIOT_HARNESS_INPUTS_MAX);
    foliot_status status =
        count <= FOLIOT_HARNESS_INPUTS_MAX ? FOLIOT_STATUS_OK : FOLIOT_STATUS_INVALID;
    for (uint32_t i = 0; i < count && status == FOLIOT_STATUS_OK; i++)
        status = foliot__input_log_append(&h->log, &h->inputs[i]);
    if (status == FOLIOT_STATUS_OK)
        status = foliot__input_log_close_tick(&h->log);
    h->result->inputs += count;
    if (status != FOLIOT_STATUS_OK)
        return status;
    foliot_command_list *list = &h->commands[tick % h->ring_size];
    foliot_command_list_clear(list);
    if (config->commands)
        status = config->commands(config->commands_user, tick, list);
    h->result->commands += list->count;
    return status;
}

// Whether a test has not failed yet. Then it is the one that runs.
static bool begin_test(harness *h, foliot_harness_test test)
{
    bool runs = row_of(h, test)->passed && !row_of(h, test)->skipped;
    if (runs)
        h->result->running = test;
    return runs;
}

static foliot_status run_tick(harness *h)
{
    uint64_t tick = foliot_simulation_get_tick(&h->run);
    foliot_status status = append_inputs(h, tick);
    if (begin_test(h, FOLIOT_HARNESS_serialisation)) {
        // Before the undisturbed run takes its step: restores its state into another instance.
        restore_run_state(h, FOLIOT_HARNESS_serialisation, &h->restored,
                          foliot_simulation_get_tick(&h->run));
    }
    if (status == FOLIOT_STATUS_OK) {
        h->result->running = FOLIOT_HARNESS_TEST_COUNT;
        status = step_instance(h, &h->run);
    }
    if (status == FOLIOT_STATUS_MISCOUNTED)
        foliot_error_set(&h->result->error, status, FOLIOT__MISCOUNTED, tick,
                         foliot_simulation_get_tick(&h->run), tick + 1);
    if (status == FOLIOT_STATUS_OK)
        status = save_state(&h->run, state_at(h, tick + 1));
    if (status != FOLIOT_STATUS_OK)
        return status;
    const saved *now = state_at(h, tick + 1);
    h->result->ticks++;
    if (now->state.length > h->result->saved_bytes)
        h->result->saved_bytes = now->state.length;
    if (begin_test(h, FOLIOT_HARNESS_replay)) {
        if (step_or_fail(h, FOLIOT_HARNESS_replay, &h->again))
            compare_to_run(h, FOLIOT_HARNESS_replay, &h->again,
                           "a second run from the start differs");
    }
    for (uint32_t i = 0; i < FOLIOT_HARNESS_DISTANCES; i++)
        if (h->config->distances[i] && begin_test(h, FOLIOT_HARNESS_sync))
            test_sync(h, i);
    if (begin_test(h, FOLIOT_HARNESS_serialisation)) {
        if (step_or_fail(h, FOLIOT_HARNESS_serialisation, &h->restored)) {
            compare_to_run(h, FOLIOT_HARNESS_serialisation, &h->restored,
                           "a copy restored one tick before has another future");
            // One more step without inputs: anything that the next restore does not replace is then
            // wrong.
            foliot_status further = foliot_simulation_step(&h->restored, NULL, 0);
            (void)further; // if it fails, the copy is as it was, and the next restore has less to
                           // replace
        }
    }
    if (begin_test(h, FOLIOT_HARNESS_perturbation))
        test_perturbation(h);
    h->result->running = FOLIOT_HARNESS_TEST_COUNT;
    return FOLIOT_STATUS_OK;
}

static foliot_status create_instance(harness *h, foliot_simulation *simulation)
{
    const foliot_harness_config *config = h->config;
    return foliot_simulation_create(config->kind, config->setup, config->setup_bytes, simulation);
}

static foliot_status create_instances(harness *h)
{
    const foliot_harness_config *config = h->config;
    uint32_t farthest = 1;
    foliot_status status = create_instance(h, &h->run);
    for (int i = 0; i < FOLIOT_HARNESS_DISTANCES && status == FOLIOT_STATUS_OK; i++) {
        if (config->distances[i])
            status = create_instance(h, &h->rolled[i]);
        farthest = config->distances[i] > farthest ? config->distances[i] : farthest;
    }
    if (status == FOLIOT_STATUS_OK)
        status = create_instance(h, &h->again);
    if (status == FOLIOT_STATUS_OK)
        status = create_instance(h, &h->restored);
    if (status == FOLIOT_STATUS_OK)
        status = create_instance(h, &h->disturbed);
    h->ring_size = farthest + 1;
    h->ring = calloc(h->ring_size, sizeof *h->ring);
    h->commands = calloc(h->ring_size, sizeof *h->commands);
    h->players = foliot__harness_players_create(config->players, config->seed);
    h->rng = foliot__rng_seeded(config->seed ^ 0x6861726e657373);
    if (status == FOLIOT_STATUS_OK && (!h->ring || !h->commands || !h->players ||
                                       foliot_step_trace_create(&h->expected) != FOLIOT_STATUS_OK ||
                                       foliot_step_trace_create(&h->actual) != FOLIOT_STATUS_OK))
        status = FOLIOT_STATUS_MEMORY;
    if (status != FOLIOT_STATUS_OK)
        return status;
    uint64_t first = foliot_simulation_get_tick(&h->run);
    foliot__input_log_init(&h->log, first);
    return save_state(&h->run, state_at(h, first));
}

foliot_status foliot_harness_run(const foliot_harness_config *config, foliot_harness_result *result)
{
    bool valid = true;
    memset(result, 0, sizeof *result);
    for (int i = 0; i < FOLIOT_HARNESS_DISTANCES; i++)
        valid = valid && config->distances[i] <= FOLIOT_HARNESS_DISTANCE_MAX;
    if (!valid || !config->kind || !foliot_simulation_kind_valid(config->kind) ||
        config->ticks == 0 || config->perturb_every == 0 || config->players > FOLIOT_PLAYERS_MAX)
        return foliot_error_set(&result->error, FOLIOT_STATUS_INVALID,
                                "the config or the kind is not valid");
    harness *h = calloc(1, sizeof *h);
    if (!h)
        return foliot_error_set(&result->error, FOLIOT_STATUS_MEMORY, "%s",
                                foliot_status_get_text(FOLIOT_STATUS_MEMORY));
    h->config = config;
    h->result = result;
    result->kind = config->kind;
    result->running = FOLIOT_HARNESS_TEST_COUNT;
    for (int i = 0; i < FOLIOT_HARNESS_TEST_COUNT; i++) {
        result->row[i].passed = true;
        result->row[i].skipped = config->skipped >> i & 1;
    }
    foliot_status status = create_instances(h);
    while (status == FOLIOT_STATUS_OK && result->ticks < config->ticks)
        status = run_tick(h);
    if (h->run.self)
        result->digest = foliot_simulation_get_digest(&h->run);
    if (status != FOLIOT_STATUS_OK && result->error.status == FOLIOT_STATUS_OK)
        foliot_error_set(&result->error, status, "the step from tick %" PRIu64 ": %s",
                         result->ticks, foliot_status_get_text(status));
    result->passed = status == FOLIOT_STATUS_OK;
    for (int i = 0; i < FOLIOT_HARNESS_TEST_COUNT; i++)
        result->passed = result->passed && result->row[i].passed;
    foliot_simulation *all[] = {&h->run, &h->again, &h->restored, &h->disturbed};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        foliot_simulation_destroy(all[i]);
    for (int i = 0; i < FOLIOT_HARNESS_DISTANCES; i++)
        foliot_simulation_destroy(&h->rolled[i]);
    for (uint32_t i = 0; h->ring && i < h->ring_size; i++)
        foliot__buffer_free(&h->ring[i].state);
    for (uint32_t i = 0; h->commands && i < h->ring_size; i++)
        foliot_command_list_destroy(&h->commands[i]);
    free(h->ring);
    free(h->commands);
    foliot__buffer_free(&h->other.state);
    foliot__buffer_free(&h->flipped.state);
    free(h->players);
    foliot_step_trace_destroy(h->expected);
    foliot_step_trace_destroy(h->actual);
    foliot__input_log_free(&h->log);
    free(h);
    return status;
}

// -- players

// Random players from a seed. They join one after the other, press and release buttons, sometimes
// twice in a tick, leave and join again.

#define CHANGE_EVERY 6  // ticks, on average
#define LEAVE_EVERY 150 // of the players present
#define RETURN_EVERY 40

typedef struct drawn_player {
    uint32_t sequence;
    bool joined, was_here;
} drawn_player;

struct foliot__harness_players {
    foliot__rng rng;
    uint32_t count;
    drawn_player player[];
};

foliot__harness_players *foliot__harness_players_create(uint32_t count, uint64_t seed)
{
    foliot__harness_players *players =
        calloc(1, sizeof *players + (count + 1) * sizeof players->player[0]);
    if (players) {
        players->rng = foliot__rng_seeded(seed);
        players->count = count;
    }
    return players;
}

static bool chance(foliot__rng *rng, uint32_t one_in)
{
    return foliot__rng_below(rng, one_in) == 0;
}

static foliot_input control(foliot__rng *rng)
{
    foliot_input input = {.kind = FOLIOT_INPUT_CONTROL};
    for (int i = 0; i < FOLIOT_AXIS_COUNT; i++)
        input.axes[i] = (int8_t)((int)foliot__rng_below(rng, 255) - 127);
    input.buttons = (uint16_t)foliot__rng_below(rng, 65536);
    return input;
}

uint32_t foliot__harness_players_draw(foliot__harness_players *players, uint64_t tick,
                                      foliot_input *inputs, uint32_t capacity)
{
    foliot__rng *rng = &players->rng;
    uint32_t count = 0;
    for (uint32_t p = 0; p < players->count && count + 2 <= capacity; p++) {
        drawn_player *player = &players->player[p];
        uint32_t first = count;
        if (!player->joined) {
            bool comes = player->was_here ? chance(rng, RETURN_EVERY) : tick >= 1 + 3 * (uint64_t)p;
            if (!comes)
                continue;
            inputs[count++] = (foliot_input){.kind = FOLIOT_INPUT_JOIN};
            player->joined = player->was_here = true;
        } else if (chance(rng, LEAVE_EVERY)) {
            inputs[count++] = (foliot_input){.kind = FOLIOT_INPUT_LEAVE};
            player->joined = false;
        } else if (chance(rng, CHANGE_EVERY)) {
            inputs[count++] = control(rng);
            if (chance(rng, 10))
                inputs[count++] = control(rng);
        }
        for (uint32_t i = first; i < count; i++) {
            inputs[i].player = p;
            inputs[i].sequence = player->sequence++;
        }
    }
    return count;
}

// -- the result as a text table and as JSON

static const struct {
    const char *name, *text;
} tests[] = {
#define ROW(name, text) {#name, text},
    FOLIOT_HARNESS_TESTS(ROW)
#undef ROW
};

const char *foliot_harness_test_get_name(foliot_harness_test test)
{
    return (unsigned)test < FOLIOT_HARNESS_TEST_COUNT ? tests[test].name : "none";
}

static const foliot_divergence_labels names = {.unknown = "here"};

static void put_text(FILE *out, const void *what)
{
    const foliot_harness_result *result = what;
    char digest[FOLIOT_DIGEST_TEXT_BYTES];
    foliot_digest_print(result->digest, digest);
    fprintf(out,
            "%s version %" PRIu32 ": %" PRIu64 " ticks, %" PRIu64 " inputs, %zu bytes saved, "
            "digest %s\n",
            result->kind ? result->kind->name : "no simulation",
            result->kind ? result->kind->version : 0, result->ticks, result->inputs,
            result->saved_bytes, digest);
    for (int i = 0; i < FOLIOT_HARNESS_TEST_COUNT; i++) {
        const foliot_harness_row *row = &result->row[i];
        fprintf(out, "%-14s %-7s %8" PRIu64 " checks  %s\n", tests[i].name,
                row->skipped  ? "skipped"
                : row->passed ? "passed"
                              : "FAILED",
                row->checks,
                row->skipped  ? ""
                : row->passed ? tests[i].text
                              : "");
        if (!row->passed) {
            char text[1024];
            fprintf(out, "  %s\n", row->text);
            foliot_divergence_print_text(&row->divergence, &names, text, sizeof text);
            for (const char *line = text; *line;) {
                size_t length = strcspn(line, "\n");
                fprintf(out, "    %.*s\n", (int)length, line);
                line += length + (line[length] == '\n');
            }
        }
    }
}

static void put_json(FILE *out, const void *what)
{
    const foliot_harness_result *result = what;
    char digest[FOLIOT_DIGEST_TEXT_BYTES];
    foliot_digest_print(result->digest, digest);
    foliot__json json = foliot__json_to(out);
    foliot__json_object(&json, NULL);
    foliot__json_text(&json, "kind", result->kind ? result->kind->name : NULL);
    foliot__json_count(&json, "version", result->kind ? result->kind->version : 0);
    foliot__json_bool(&json, "passed", result->passed);
    foliot__json_count(&json, "ticks", result->ticks);
    foliot__json_count(&json, "inputs", result->inputs);
    foliot__json_count(&json, "saved_bytes", result->saved_bytes);
    foliot__json_text(&json, "digest", digest);
    foliot__json_array(&json, "tests");
    for (int i = 0; i < FOLIOT_HARNESS_TEST_COUNT; i++) {
        const foliot_harness_row *row = &result->row[i];
        const foliot_divergence *d = row->passed ? NULL : &row->divergence;
        foliot__json_object(&json, NULL);
        foliot__json_text(&json, "test", tests[i].name);
        foliot__json_bool(&json, "passed", row->passed);
        foliot__json_count(&json, "checks", row->checks);
        foliot__json_bool(&json, "skipped", row->skipped);
        foliot__json_text(&json, "text", row->passed ? NULL : row->text);
        foliot__divergence_put(&json, d, &names);
        foliot__divergence_put_bits(&json, d, &names);
        foliot__json_close(&json);
    }
    foliot__json_close(&json);
    foliot__json_close(&json);
}

size_t foliot_harness_print_text(const foliot_harness_result *result, char *text, size_t capacity)
{
    return foliot__print_stream(put_text, result, text, capacity);
}

size_t foliot_harness_print_json(const foliot_harness_result *result, char *text, size_t capacity)
{
    return foliot__print_stream(put_json, result, text, capacity);
}
