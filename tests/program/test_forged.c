// SPDX-License-Identifier: MIT
// test_forged.c: recordings of a game whose commands or rules' state were changed, with right
// checksums: what `foliot-replay verify` sees, and what it sees with --rules. Method: siege is
// recorded, and one tick is given to the recording, or also to the world, different from that of
// the rules.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../tools/replay/checks.h"
#include "../fuzz/mend_recording.h"
#include "base/file.h"
#include "foliot/foliot.h"
#include "foliot/scene.h"
#include "recording_fixture.h"

#define TICKS 90
#define FORGED 40    // the tick that is changed
#define KEYFRAME 30  // ticks from one to the next
#define COMMANDS 256 // of a tick

#define DROPPED 50

typedef enum forgery {
    NOTHING,
    RECORDED, // the command is changed in the recording alone
    PLAYED,   // in the world, too
    ADDED,    // one more that the rules have not given
    LEFT_OUT, // one less
    STATE,    // a byte of the rules' state in the keyframe of tick 60
    BYTES,    // the same, of the file that was written
} forgery;

typedef struct host {
    foliot_scene *scene;
    foliot_world *world;
    foliot_rules *rules;
    forgery forgery;
    uint32_t sequence;
    char file[40];
    const char *script;   // another one than the scene's, in the recording
    bool stopped;         // by the host: its limits are not those of a replay
    uint32_t dropped;     // places at which it dropped a callback
    uint64_t starts;      // the recording, at this tick
    uint32_t late;        // saves that take too long, from its start on
    uint32_t false_drops; // that are recorded after tick DROPPED
    uint8_t *saved;       // in the keyframe of tick 60
    size_t saved_bytes;
    rules_allowance allowance;
    foliot_verdict verdict;
    rules_result result; // with --rules
    char said[1024];
    rules_counts counts;
} host;

static foliot_status save(void *user, void *bytes, size_t capacity, size_t *length)
{
    host *h = user;
    if (h->late > 0) {
        h->late--;
        return FOLIOT_STATUS_AGAIN;
    }
    foliot_status status = foliot_rules_save(h->rules, bytes, capacity, length);
    if (bytes && h->forgery == STATE && foliot_world_get_tick(h->world) == 2 * KEYFRAME)
        ((uint8_t *)bytes)[*length - 1] ^= 1;
    if (bytes && status == FOLIOT_STATUS_OK && h->forgery == BYTES &&
        foliot_world_get_tick(h->world) == 2 * KEYFRAME) {
        h->saved = realloc(h->saved, *length);
        h->saved_bytes = *length;
        memcpy(h->saved, bytes, *length);
    }
    return status;
}

static void begin(host *h, forgery how)
{
    foliot_error error;
    char problem[400] = "";
    foliot_lua_limits limits = foliot_lua_limits_default();
    limits.time_us = 0;
    *h = (host){.forgery = how, .allowance = RULES_ALLOWANCE_DEFAULT};
    snprintf(h->file, sizeof h->file, "/tmp/foliot-forged-XXXXXX");
    close(mkstemp(h->file));
    if (foliot_scene_read("games/siege/siege.yaml", &h->scene, &error) != FOLIOT_STATUS_OK)
        fail_msg("%s", error.text);
    foliot_status status =
        foliot_rules_create_lua(h->scene->script.text, h->scene->script.bytes, "siege.lua", &limits,
                                h->scene, &h->rules, problem, sizeof problem);
    if (status == FOLIOT_STATUS_UNSUPPORTED)
        skip();
    if (status != FOLIOT_STATUS_OK)
        fail_msg("%s", problem);
    assert_int_equal(foliot_world_create(h->scene, &h->world, NULL), FOLIOT_STATUS_OK);
}

// Something to change in that tick: the rules give nothing there by themselves.
static uint32_t take_orders(const host *h, foliot_order orders[2])
{
    static const char *const texts[2] = {"eve", "throw 1 0 0.5"};
    uint64_t now = foliot_world_get_tick(h->world);
    if (now != 20 && now != FORGED - 1)
        return 0;
    const char *text = texts[now != 20];
    orders[0] = (foliot_order){.sequence = now == 20 ? 1 : 2};
    orders[0].kind = now == 20 ? FOLIOT_ORDER_JOINED : FOLIOT_ORDER_GAME;
    orders[0].length = (uint8_t)strlen(text);
    memcpy(orders[0].bytes, text, strlen(text));
    return 1;
}

static uint32_t take_commands(host *h, foliot_command commands[COMMANDS])
{
    const foliot_command_list *list = foliot_rules_get_commands(h->rules);
    for (uint32_t i = 0; i < list->count; i++) {
        commands[i] = list->commands[i];
        commands[i].sequence = ++h->sequence;
    }
    return list->count;
}

static uint32_t forge(host *h, foliot_command commands[COMMANDS], uint32_t count)
{
    assert_in_range(count, 2, COMMANDS - 2); // the ammunition and a stone
    check_eq(commands[1].kind, FOLIOT_COMMAND_spawn);
    if (h->forgery == RECORDED || h->forgery == PLAYED)
        commands[1].as.spawn.velocity[0] += 1;
    if (h->forgery == ADDED) {
        commands[count] = foliot_command_default(FOLIOT_COMMAND_gravity);
        commands[count].fields = FOLIOT_COMMAND_HAS(gravity, acceleration);
        commands[count].source = FOLIOT_COMMAND_SOURCE_RULES;
        commands[count].sequence = ++h->sequence;
        return count + 1;
    }
    return h->forgery == LEFT_OUT ? count - 1 : count;
}

static void play_tick(host *h, foliot_recording *recording)
{
    foliot_command commands[COMMANDS], told[COMMANDS];
    foliot_order orders[2 + FOLIOT_ORDERS_DROPPED_MAX];
    foliot_input joins = {.kind = FOLIOT_INPUT_JOIN};
    uint64_t now = foliot_world_get_tick(h->world);
    uint32_t order_count = take_orders(h, orders), count = take_commands(h, commands);
    uint32_t told_count = count;
    memcpy(told, commands, sizeof told);
    if (now == FORGED && h->forgery != NOTHING)
        told_count = forge(h, told, count);
    foliot_tick_inputs record = {&joins, now == 20, told, told_count};
    foliot_tick_inputs real = record;
    if (h->forgery == RECORDED)
        real = (foliot_tick_inputs){&joins, now == 20, commands, count};
    assert_int_equal(foliot_world_step_tick(h->world, &real, NULL), FOLIOT_STATUS_OK);
    foliot_rules_view view = {.scene = h->scene,
                              .world = h->world,
                              .tick = now + 1,
                              .inputs = &joins,
                              .input_count = now == 20,
                              .orders = orders,
                              .order_count = order_count};
    foliot_status status = foliot_rules_tick(h->rules, &view);
    assert_true(status == FOLIOT_STATUS_OK || h->stopped);
    if (status != FOLIOT_STATUS_OK)
        foliot_recording_want_keyframe(recording);
    const foliot_rules_drops *drops = foliot_rules_get_drops(h->rules);
    for (uint32_t i = 0; i < drops->order_count; i++)
        orders[order_count++] = drops->orders[i];
    h->dropped += drops->order_count;
    for (uint32_t i = 0; now == DROPPED && i < h->false_drops; i++)
        orders[order_count++] = (foliot_order){.player = FOLIOT_PLAYERS_MAX,
                                               .sequence = i,
                                               .kind = FOLIOT_ORDER_DROPPED,
                                               .length = FOLIOT_ORDER_DROPPED_BYTES,
                                               .bytes = {0, 0, 0, (uint8_t)(1 + i)}};
    if (!recording)
        return;
    assert_int_equal(foliot_recording_append(recording, WORLD_SIMULATION(h->world, NULL), &record,
                                             orders, order_count),
                     FOLIOT_STATUS_OK);
    assert_int_equal(foliot_recording_drain(recording), FOLIOT_STATUS_OK);
}

static void record(host *h)
{
    foliot_recording *recording;
    foliot_recording_config config = recording_fixture_config(10, KEYFRAME);
    foliot_recording_rules rules = {.name = "siege.lua",
                                    .text = h->script ? h->script : h->scene->script.text,
                                    .text_bytes =
                                        h->script ? strlen(h->script) : h->scene->script.bytes,
                                    .save = save,
                                    .user = h};
    config.rules = &rules;
    while (foliot_world_get_tick(h->world) < h->starts)
        play_tick(h, NULL);
    assert_int_equal(
        foliot_recording_open(h->file, WORLD_SIMULATION(h->world, h->scene), &config, &recording),
        FOLIOT_STATUS_OK);
    while (foliot_world_get_tick(h->world) < TICKS)
        play_tick(h, recording);
    assert_int_equal(foliot_recording_close(recording, NULL), FOLIOT_STATUS_OK);
}

static void verify(host *h)
{
    foliot_replay *replay;
    foliot_damage damage;
    if (foliot_replay_open(h->file, &foliot_world_kind, &replay, &damage) != FOLIOT_STATUS_OK)
        fail_msg("%s", damage.text);
    check_eq(damage.text[0], 0); // all checksums are right
    assert_int_equal(foliot_replay_verify(replay, NULL, &h->verdict), FOLIOT_STATUS_OK);
    h->result = rules_verify(replay, h->allowance, h->said, sizeof h->said, &h->counts);
    foliot_replay_close(replay);
}

static void end(host *h)
{
    unlink(h->file);
    free(h->saved);
    foliot_rules_destroy(h->rules);
    foliot_world_destroy(h->world);
    foliot_scene_destroy(h->scene);
}

static void run(host *h, forgery how)
{
    begin(h, how);
    record(h);
    verify(h);
    end(h);
}

static void says(const host *h, const char *text)
{
    check_eq(h->result, RULES_DIFFER);
    if (!strstr(h->said, text))
        fail_msg("it says: %s", h->said);
}

TEST(an_honest_recording_matches)
{
    host h;
    run(&h, NOTHING);
    check_eq(h.verdict.status, FOLIOT_STATUS_OK);
    check_eq(h.result, RULES_MATCH);
    check_gt(h.counts.commands, 40);
}

TEST(a_changed_command_diverges_and_is_named)
{
    host h;
    run(&h, RECORDED);
    check_eq(h.verdict.status, FOLIOT_STATUS_DIVERGED);
    check_eq(h.verdict.divergence.tick, FORGED + 1);
    says(&h, "tick 40, command 2, field velocity: recorded {");
    assert_non_null(strstr(h.said, ", given now {\"command\": \"spawn\""));
}

// The world has taken it, so that all digests are right: only the rules know.
TEST(a_command_that_was_played_is_named)
{
    host h;
    run(&h, PLAYED);
    check_eq(h.verdict.status, FOLIOT_STATUS_OK);
    says(&h, "tick 40, command 2, field velocity: recorded {");
}

TEST(commands_too_many_and_too_few_are_named)
{
    host h;
    run(&h, ADDED);
    check_eq(h.verdict.status, FOLIOT_STATUS_OK);
    says(&h, "tick 40, command 3: gravity was recorded, and the rules give none now");
    run(&h, LEFT_OUT);
    check_eq(h.verdict.status, FOLIOT_STATUS_OK);
    says(&h, "tick 40, command 2: spawn is given now, and none was recorded");
}

TEST(a_changed_state_is_named)
{
    host h;
    run(&h, STATE);
    check_eq(h.verdict.status, FOLIOT_STATUS_OK);
    says(&h, "tick 60: the saved state of the rules differs at byte ");
}

// Whoever changes the file can make its checksums right. The digest is another matter.
TEST(a_state_that_was_changed_in_the_file_is_damage)
{
    host h;
    begin(&h, BYTES);
    record(&h);
    size_t length;
    recording_memory memory = {.bytes = (uint8_t *)foliot__file_slurp(h.file, 1u << 30, &length)};
    assert_non_null(memory.bytes);
    assert_non_null(h.saved);
    memory.length = length;
    recording_memory_unpack(&memory);
    uint8_t *at = memmem(memory.bytes, memory.length, h.saved, h.saved_bytes);
    assert_non_null(at);
    at[h.saved_bytes - 1] ^= 1; // the health of a king
    mend(memory.bytes, memory.length);
    FILE *out = fopen(h.file, "wb");
    assert_non_null(out);
    check_eq(fwrite(memory.bytes, 1, memory.length, out), memory.length);
    fclose(out);
    verify(&h);
    check_eq(h.verdict.status, FOLIOT_STATUS_CORRUPT);
    check_eq(h.verdict.ticks, 2 * KEYFRAME);
    foliot_recording *recording;
    foliot_scene *scene;
    foliot_world *world;
    assert_int_equal(resume_world(h.file, NULL, &recording, &scene, &world, NULL),
                     FOLIOT_STATUS_CORRUPT);
    recording_memory_free(&memory);
    end(&h);
}

// Its memory, and its clock, are not in the recording; what it dropped or stopped is.
TEST(what_the_host_dropped_or_stopped_is_so_when_it_is_run_again)
{
    // One with more memory than the host of the recording has, and one whose calls are nested: how
    // deep they may be is a matter of the collector.
    static const char *const scripts[] = {
        "state.n = 0 function on_tick() state.n = state.n + 1 set_var('n', state.n)\n"
        "if state.n == 40 then local t = {} for i = 1, 5000 do t[i] = {i} end end end",
        "state.n = 0 local function f() return 1 + f() end\n"
        "function on_tick() state.n = state.n + 1 set_var('n', state.n)\n"
        "if state.n == 40 then f() end end"};
    host h;
    for (int run = 0; run < 3; run++) {
        const char *script = scripts[run == 2];
        begin(&h, NOTHING);
        foliot_rules_destroy(h.rules);
        foliot_lua_limits limits = foliot_lua_limits_default();
        limits.time_us = 0;
        limits.memory_bytes = run == 1 ? 300000 : limits.memory_bytes;
        assert_int_equal(foliot_rules_create_lua(script, strlen(script), "siege.lua", &limits,
                                                 h.scene, &h.rules, h.said, sizeof h.said),
                         FOLIOT_STATUS_OK);
        h.script = script;
        h.stopped = run == 2;
        record(&h);
        check_eq(*foliot_rules_get_problem(h.rules) != 0, h.stopped);
        check_eq(h.dropped, run == 1);
        verify(&h);
        check_eq(h.verdict.status, FOLIOT_STATUS_OK);
        if (h.result != RULES_MATCH)
            fail_msg("it says: %s", h.said);
        check_eq(strstr(h.said, "tick 40") != NULL, run == 1);
        check_eq(h.counts.commands, h.stopped ? 39 : 89);
        check_eq(h.counts.drops, run == 1);
        end(&h);
    }
}

// Checks that the tick does not have, and more than a host drops.
TEST(drops_that_no_host_makes_are_named)
{
    host h;
    for (uint32_t drops = 0; drops <= 3; drops++) {
        begin(&h, NOTHING);
        h.false_drops = drops;
        record(&h);
        verify(&h);
        check_eq(h.verdict.status, FOLIOT_STATUS_OK);
        check_eq(h.result, (drops ? RULES_DIFFER : RULES_MATCH));
        check_eq(strstr(h.said, "tick 51:") != NULL, drops > 0);
        end(&h);
    }
}

// A part of a session may begin without a state of its rules: they are compared behind it.
TEST(rules_are_compared_from_their_first_state_on)
{
    static const struct {
        uint64_t starts;
        uint32_t late;
        rules_result result;
        uint64_t first_tick;
    } cases[] = {{25, 0, RULES_MATCH, 25},
                 {25, 3, RULES_PART, 26},
                 {25, 1000, RULES_NOT_COMPARABLE, 0},
                 {0, 1000, RULES_MATCH, 0}};
    host h;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin(&h, NOTHING);
        h.starts = cases[i].starts;
        h.late = cases[i].late;
        record(&h);
        verify(&h);
        check_eq(h.verdict.status, FOLIOT_STATUS_OK);
        check_eq(h.result, cases[i].result);
        check_eq(h.counts.first_tick, cases[i].first_tick);
        check_eq(strstr(h.said, "tick 26") != NULL, (h.result == RULES_PART));
        end(&h);
    }
}

static uint64_t cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

// A stranger's recording in which the script is another one than what was played by, and slow.
static void verify_with(host *h, const char *script)
{
    begin(h, NOTHING);
    h->allowance = (rules_allowance){100000000u, 1000u}; // a tenth of a second, and next to nothing
    foliot_rules_destroy(h->rules);
    foliot_lua_limits limits = foliot_lua_limits_default();
    static const char quiet[] = "function on_tick() end";
    assert_int_equal(foliot_rules_create_lua(quiet, strlen(quiet), "siege.lua", &limits, h->scene,
                                             &h->rules, h->said, sizeof h->said),
                     FOLIOT_STATUS_OK);
    h->script = script;
    record(h);
    verify(h);
    end(h);
    check_eq(h->verdict.status, FOLIOT_STATUS_OK);
    check_eq(h->result, RULES_NOT_COMPARABLE);
}

TEST(a_script_that_takes_long_is_left)
{
    host h;
    verify_with(&h, "function on_tick()\n"
                    "for i = 1, 2900 do local s = string.format('%99.99f', 1e308) end end");
    if (!strstr(h.said, "not comparable: after tick ") || !strstr(h.said, "more than a session"))
        fail_msg("it says: %s", h.said);
}

TEST(a_script_that_compiles_slowly_is_left)
{
    host h;
    char *script = malloc(FOLIOT_RULES_SCRIPT_BYTES_MAX + 1);
    size_t length = (size_t)sprintf(script, "x = a");
    while (length + 6 <= FOLIOT_RULES_SCRIPT_BYTES_MAX)
        length += (size_t)sprintf(script + length, " or a");
    uint64_t start = cpu_ms();
    verify_with(&h, script);
    check_lt(cpu_ms() - start, 20000); // it took a minute
    assert_non_null(strstr(h.said, "takes more than 2 seconds to compile"));
    free(script);
}
