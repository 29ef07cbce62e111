// SPDX-License-Identifier: MIT
// test_recording_rules.c: sessions of a world with commands and rules: recorded, verified, stepped
// back, continued after a crash with the state of the rules. Method: rules that count what they saw
// and spawn, push and remove bodies by that count, so that one forgotten tick gives other commands.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "command/command.h"
#include "foliot/foliot.h"
#include "recording/replay.h"
#include "recording_fixture.h"
#include "status.h"

#define TICKS 250
#define STATE_BYTES 16
#define FOREIGN (UINT64_C(1) << 63) // in `seen`: the host stopped them

// The rules: all that they know.
typedef struct counting {
    uint64_t ticks, seen;
    uint32_t sequence; // of the host's commands
    uint32_t restored, ran;
    uint64_t forged; // the tick whose saved state is changed; 0: none
    uint32_t late;   // saves that take too long, from now on
    bool stopped;    // saved as stopped by the host, which is not what the tick gave
    foliot_command commands[4];
    uint32_t command_count;
} counting;

static foliot_status save(void *user, void *bytes, size_t capacity, size_t *length)
{
    counting *c = user;
    if (c->late > 0) {
        c->late--;
        return FOLIOT_STATUS_AGAIN;
    }
    *length = STATE_BYTES;
    if (bytes && capacity >= STATE_BYTES) {
        foliot__writer w = foliot__writer_of(bytes, capacity);
        bool forged = c->forged && c->ticks == c->forged;
        foliot__write_u64(&w, c->ticks);
        foliot__write_u64(&w, c->seen + (forged ? 1 + FOREIGN * c->stopped : 0));
    }
    return FOLIOT_STATUS_OK;
}

static foliot_status restore(void *user, const void *bytes, size_t length)
{
    counting *c = user;
    foliot__reader r = foliot__reader_of(bytes, length);
    c->ticks = foliot__read_u64(&r);
    c->seen = foliot__read_u64(&r);
    c->seen &= ~FOREIGN;
    c->restored++;
    return length == STATE_BYTES ? FOLIOT_STATUS_OK : FOLIOT_STATUS_CORRUPT;
}

static foliot_status tick(void *user, const foliot_rules_view *view)
{
    counting *c = user;
    check_eq(view->tick, c->ticks + 1);
    check_eq(view->tick, foliot_world_get_tick(view->world));
    c->ticks = view->tick;
    c->ran++;
    for (uint32_t i = 0; i < view->order_count; i++)
        c->seen += view->orders[i].bytes[0] + view->orders[i].sequence;
    c->seen += foliot_world_get_body_count(view->world) + view->input_count;
    return FOLIOT_STATUS_OK;
}

static bool stopped_by_host(void *user, const void *bytes, size_t length)
{
    (void)user;
    return length == STATE_BYTES && (((const uint8_t *)bytes)[STATE_BYTES - 1] & 0x80) != 0;
}

static foliot_recording_rules rules_of(counting *c)
{
    return (foliot_recording_rules){.name = "counting",
                                    .version = 2,
                                    .save = save,
                                    .restore = restore,
                                    .tick = tick,
                                    .stopped_by_host = stopped_by_host,
                                    .user = c};
}

typedef struct session {
    foliot_scene *scene;
    foliot_world *world;
    foliot_recording *recording;
    counting counting;
    foliot_digest digests[TICKS + 1];
    uint64_t seen[TICKS + 1];
    char file[40];
} session;

static session *s;

// A box above a floor, and balls to spawn.
static foliot_scene *make_scene(void)
{
    foliot_body_definition bodies[2] = {foliot_body_definition_default(),
                                        foliot_body_definition_default()};
    foliot_body_definition ball = bodies[0];
    bodies[0].name = "box";
    bodies[0].position[2] = 3;
    bodies[0].shape = (foliot_shape){.kind = FOLIOT_SHAPE_BOX, .half = {0.5, 0.5, 0.5}};
    bodies[1].name = "floor";
    bodies[1].is_static = true;
    bodies[1].shape = (foliot_shape){.kind = FOLIOT_SHAPE_PLANE, .normal = {0, 0, 1}};
    ball.name = "ball";
    ball.shape = (foliot_shape){.kind = FOLIOT_SHAPE_SPHERE, .radius = 0.3};
    foliot_scene scene = foliot_scene_default();
    scene.name = "session";
    scene.dt = 1.0 / 60;
    scene.gravity[2] = -9.81;
    scene.bodies = bodies;
    scene.body_count = 2;
    scene.bodies_max = 32;
    scene.commands_max = 8;
    scene.prototypes = &ball;
    scene.prototype_count = 1;
    foliot_scene *copy;
    size_t length;
    assert_int_equal(foliot_scene_encode(&scene, NULL, 0, &length), FOLIOT_STATUS_OK);
    uint8_t *bytes = malloc(length);
    assert_int_equal(foliot_scene_encode(&scene, bytes, length, &length), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_scene_decode(bytes, length, &copy), FOLIOT_STATUS_OK);
    free(bytes);
    return copy;
}

static int begin(void **state)
{
    (void)state;
    s = calloc(1, sizeof *s);
    s->scene = make_scene();
    snprintf(s->file, sizeof s->file, "/tmp/foliot-rules-XXXXXX");
    close(mkstemp(s->file));
    return foliot_world_create(s->scene, &s->world, NULL) == FOLIOT_STATUS_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    unlink(s->file);
    foliot_world_destroy(s->world);
    foliot_scene_destroy(s->scene);
    free(s);
    return 0;
}

static void open_recording(void)
{
    foliot_recording_config config = recording_fixture_config(10, 60);
    const foliot_recording_rules rules = rules_of(&s->counting);
    config.rules = &rules;
    assert_int_equal(foliot_recording_open(s->file, WORLD_SIMULATION(s->world, s->scene), &config,
                                           &s->recording),
                     FOLIOT_STATUS_OK);
}

static foliot_command *give(uint32_t kind)
{
    counting *c = &s->counting;
    foliot_command *command = &c->commands[c->command_count++];
    *command = foliot_command_default((foliot_command_kind)kind);
    command->source = FOLIOT_COMMAND_SOURCE_RULES;
    command->sequence = ++c->sequence;
    return command;
}

// The rules' decisions for the next step, by what they have seen.
static void decide(void)
{
    counting *c = &s->counting;
    c->command_count = 0;
    if (c->ticks % 9 == 2) {
        foliot_command *spawn = give(FOLIOT_COMMAND_spawn);
        spawn->fields = FOLIOT_COMMAND_HAS(spawn, prototype) | FOLIOT_COMMAND_HAS(spawn, position);
        spawn->as.spawn.position[0] = (float)(c->seen % 17) - 8;
        spawn->as.spawn.position[1] = (float)(c->seen % 13) - 6;
        spawn->as.spawn.position[2] = 6;
    }
    if (c->ticks % 4 == 1) {
        foliot_command *impulse = give(FOLIOT_COMMAND_impulse);
        impulse->fields = FOLIOT_COMMAND_HAS(impulse, body) | FOLIOT_COMMAND_HAS(impulse, linear);
        impulse->as.impulse.body.value = foliot__command_id((uint32_t)(c->seen % 5), 0);
        impulse->as.impulse.linear[2] = 0.5f;
    }
    if (c->ticks % 40 == 30) { // some of them are refused: the slot may be empty
        foliot_command *despawn = give(FOLIOT_COMMAND_despawn);
        despawn->fields = FOLIOT_COMMAND_HAS(despawn, body);
        despawn->as.despawn.body.value = foliot__command_id(2 + (uint32_t)(c->seen % 4), 0);
    }
}

static void play_tick(void)
{
    counting *c = &s->counting;
    uint64_t now = foliot_world_get_tick(s->world);
    foliot_order orders[2] = {{.player = 1, .sequence = (uint32_t)now, .length = 3, .bytes = "go"},
                              {.player = 4, .sequence = 2 * (uint32_t)now, .kind = 1, .length = 1}};
    uint32_t order_count = now % 3 == 0 ? 2 : 0;
    decide();
    const foliot_tick_inputs in = {.commands = c->commands, .command_count = c->command_count};
    assert_int_equal(foliot_world_step_tick(s->world, &in, NULL), FOLIOT_STATUS_OK);
    const foliot_rules_view view = {.scene = s->scene,
                                    .world = s->world,
                                    .tick = now + 1,
                                    .orders = orders,
                                    .order_count = order_count};
    assert_int_equal(tick(c, &view), FOLIOT_STATUS_OK);
    foliot_digest digest = foliot_world_get_digest(s->world);
    if (s->digests[now + 1].low) // played before, without a crash
        assert_true(foliot_digest_equal(digest, s->digests[now + 1]));
    s->digests[now + 1] = digest;
    s->seen[now + 1] = c->seen;
    if (s->recording)
        assert_int_equal(foliot_recording_append(s->recording, WORLD_SIMULATION(s->world, NULL),
                                                 &in, orders, order_count),
                         FOLIOT_STATUS_OK);
    if (s->recording)
        assert_int_equal(foliot_recording_drain(s->recording), FOLIOT_STATUS_OK);
}

static foliot_replay *open_file(void)
{
    foliot_replay *replay;
    foliot_damage damage = {0};
    if (foliot_replay_open(s->file, &foliot_world_kind, &replay, &damage) != FOLIOT_STATUS_OK)
        fail_msg("%s", damage.text);
    return replay;
}

// The past that players aimed at is kept if rules look back.
TEST_BETWEEN(rules_are_features, begin, end)
{
    for (uint32_t looks_back = 0; looks_back < 2; looks_back++) {
        foliot_order order = {.player = 1, .sequence = 1, .kind = FOLIOT_ORDER_AIMED, .length = 2};
        const foliot_tick_inputs in = {.input_count = 0};
        s->scene->script.history_ticks = looks_back ? 10 : 0;
        open_recording();
        assert_int_equal(foliot_world_step(s->world, NULL, 0, NULL), FOLIOT_STATUS_OK);
        order.length = 3;
        assert_int_equal(
            foliot_recording_append(s->recording, WORLD_SIMULATION(s->world, NULL), &in, &order, 1),
            FOLIOT_STATUS_INVALID);
        order.length = 2;
        assert_int_equal(
            foliot_recording_append(s->recording, WORLD_SIMULATION(s->world, NULL), &in, &order, 1),
            looks_back ? FOLIOT_STATUS_OK : FOLIOT_STATUS_INVALID);
        assert_int_equal(foliot_recording_close(s->recording, NULL), FOLIOT_STATUS_OK);
        foliot_replay *replay = open_file();
        const foliot_order *orders;
        uint32_t count = 0;
        check_eq(foliot_replay_get_summary(replay)->features,
                 FOLIOT_RECORDING_RULES | (looks_back ? FOLIOT_RECORDING_HISTORY : 0));
        foliot_status status =
            foliot_replay_get_orders(replay, foliot_world_get_tick(s->world) - 1, &orders, &count);
        check_eq(count, looks_back);
        assert_true(!looks_back || (status == FOLIOT_STATUS_OK &&
                                    orders[0].kind == FOLIOT_ORDER_AIMED && orders[0].length == 2));
        foliot_replay_close(replay);
    }
    s->recording = NULL;
}

// A session may have rules that its recording does not name: the orders that they alone read are
// left out, and the ticks stay.
TEST_BETWEEN(orders_for_rules_stay_out_of_a_recording_without, begin, end)
{
    foliot_recording_config config = recording_fixture_config(10, 60);
    assert_int_equal(foliot_recording_open(s->file, WORLD_SIMULATION(s->world, s->scene), &config,
                                           &s->recording),
                     FOLIOT_STATUS_OK);
    const foliot_tick_inputs in = {.input_count = 0};
    foliot_order orders[4] = {
        {.player = 1, .sequence = 3, .kind = FOLIOT_ORDER_AIMED, .length = 2},
        {.player = 1, .sequence = 4, .length = 2, .bytes = "go"},
        {.player = FOLIOT_PLAYERS_MAX, .kind = FOLIOT_ORDER_DROPPED, .length = 8},
        {.player = FOLIOT_PLAYERS_MAX, .sequence = 1, .kind = FOLIOT_ORDER_DROPPED, .length = 8}};
    for (int i = 0; i < 30; i++) {
        assert_int_equal(foliot_world_step(s->world, NULL, 0, NULL), FOLIOT_STATUS_OK);
        assert_int_equal(
            foliot_recording_append(s->recording, WORLD_SIMULATION(s->world, NULL), &in, orders, 4),
            FOLIOT_STATUS_OK);
    }
    orders[3].length = 7; // is malformed there, too
    assert_int_equal(foliot_world_step(s->world, NULL, 0, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(
        foliot_recording_append(s->recording, WORLD_SIMULATION(s->world, NULL), &in, orders, 4),
        FOLIOT_STATUS_INVALID);
    assert_int_equal(foliot_recording_close(s->recording, NULL), FOLIOT_STATUS_OK);
    foliot_verdict verdict;
    foliot_replay *replay = open_file();
    assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_OK);
    check_eq(verdict.status, FOLIOT_STATUS_OK);
    check_eq(verdict.ticks, 30);
    const foliot_order *found;
    uint32_t count = 0;
    assert_int_equal(foliot_replay_get_orders(replay, 29, &found, &count), FOLIOT_STATUS_OK);
    check_eq(count, 1);
    check_eq(found[0].sequence, 4);
    assert_memory_equal(found[0].bytes, "go", 2);
    foliot_replay_close(replay);
}

// A tick that was refused and never came cannot be made up for: the recording says so.
TEST_BETWEEN(a_recording_that_misses_a_tick_has_stopped, begin, end)
{
    open_recording();
    for (int i = 0; i < 15; i++)
        play_tick();
    const foliot_order wrong = {.player = 1, .length = FOLIOT_ORDER_BYTES_MAX + 1};
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(foliot_world_step(s->world, NULL, 0, NULL), FOLIOT_STATUS_OK);
        check_eq(foliot_recording_append(s->recording, WORLD_SIMULATION(s->world, NULL), NULL,
                                         &wrong, i == 0),
                 FOLIOT_STATUS_INVALID);
        const foliot_recording_state now = foliot_recording_get_state(s->recording);
        check_eq(now.stopped, (i == 0 ? FOLIOT_STATUS_OK : FOLIOT_STATUS_INVALID));
        check_eq(now.ticks_lost, (i == 0 ? 0u : i + 1u));
    }
    foliot_recording_state last;
    assert_int_equal(foliot_recording_close(s->recording, &last), FOLIOT_STATUS_INVALID);
    check_eq(last.written_tick, 15);
    foliot_verdict verdict;
    foliot_replay *replay = open_file();
    assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_OK);
    check_eq(verdict.status, FOLIOT_STATUS_TRUNCATED);
    check_eq(verdict.ticks, 15);
    foliot_replay_close(replay);
}

TEST_BETWEEN(a_session_verifies_without_its_rules, begin, end)
{
    open_recording();
    while (foliot_world_get_tick(s->world) < TICKS)
        play_tick();
    check_gt(foliot_world_get_counters(s->world)->commands_refused, 0);
    check_gt(foliot_world_get_body_count(s->world), 10);
    assert_int_equal(foliot_recording_close(s->recording, NULL), FOLIOT_STATUS_OK);
    foliot_verdict verdict;
    foliot_replay *replay = open_file();
    check_eq(foliot_replay_get_summary(replay)->features, FOLIOT_RECORDING_RULES);
    assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_OK);
    check_eq(verdict.status, FOLIOT_STATUS_OK);
    check_eq(verdict.ticks, TICKS);
    static const uint64_t places[] = {200, 13, 61, 60, 59, TICKS};
    for (uint32_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        assert_int_equal(foliot_replay_seek(replay, places[i]), FOLIOT_STATUS_OK);
        assert_true(foliot_digest_equal(foliot_world_get_digest(foliot_replay_get_world(replay)),
                                        s->digests[places[i]]));
    }
    for (uint64_t at = TICKS; at > TICKS - 70; at--) {
        assert_int_equal(foliot_replay_step_back(replay), FOLIOT_STATUS_OK);
        assert_true(foliot_digest_equal(foliot_world_get_digest(foliot_replay_get_world(replay)),
                                        s->digests[at - 1]));
    }
    foliot_replay_close(replay);
}

TEST_BETWEEN(scenes_that_take_commands_have_no_feature, begin, end)
{
    foliot_recording_config config = recording_fixture_config(10, 60);
    assert_int_equal(foliot_recording_open(s->file, WORLD_SIMULATION(s->world, s->scene), &config,
                                           &s->recording),
                     FOLIOT_STATUS_OK);
    assert_int_equal(foliot_recording_close(s->recording, NULL), FOLIOT_STATUS_OK);
    foliot_replay *replay = open_file();
    check_eq(foliot_replay_get_summary(replay)->features, 0);
    assert_string_equal(foliot_replay_get_summary(replay)->rules_name, "");
    foliot_replay_close(replay);
}

// Without a crash first; then once more with one, which must not be seen in any state.
TEST_BETWEEN(rules_go_on_after_a_crash, begin, end)
{
    while (foliot_world_get_tick(s->world) < TICKS)
        play_tick();
    uint64_t seen = s->counting.seen;
    foliot_world_destroy(s->world);
    assert_int_equal(foliot_world_create(s->scene, &s->world, NULL), FOLIOT_STATUS_OK);
    s->counting = (counting){0};
    open_recording();
    while (foliot_world_get_tick(s->world) < 150)
        play_tick();
    foliot_recording_abandon(s->recording);
    foliot_world_destroy(s->world);
    foliot_scene_destroy(s->scene);

    uint32_t sequence = s->counting.sequence;
    foliot_error error = {.text = ""};
    foliot_recording_config config = recording_fixture_config(10, 60);
    s->counting = (counting){.sequence = sequence};
    foliot_recording_rules rules = rules_of(&s->counting);
    config.rules = &rules;
    rules.version = 3;
    check_eq(resume_world(s->file, &config, &s->recording, &s->scene, &s->world, &error),
             FOLIOT_STATUS_UNSUPPORTED);
    assert_int_equal(error.status, FOLIOT_STATUS_UNSUPPORTED);
    assert_string_equal(error.file, s->file);
    assert_true(strncmp(error.text, s->file, strlen(s->file)) == 0);
    assert_string_equal(error.text + strlen(s->file),
                        ": it was recorded with version 2 of the rules counting, and these are "
                        "version 3 of counting");
    rules.version = 2;
    if (resume_world(s->file, &config, &s->recording, &s->scene, &s->world, &error) !=
        FOLIOT_STATUS_OK)
        fail_msg("%s", error.text);
    check_eq(s->counting.restored, 1);
    check_eq(s->counting.ran, 90); // from the keyframe of tick 60, so that that of 120 is checked
    check_eq(s->counting.ticks, 150);
    check_eq(s->counting.seen, s->seen[150]);
    while (foliot_world_get_tick(s->world) < TICKS)
        play_tick();
    check_eq(s->counting.seen, seen);
    assert_int_equal(foliot_recording_close(s->recording, NULL), FOLIOT_STATUS_OK);

    size_t length = 0;
    foliot_replay *replay = open_file();
    const uint8_t *bytes = foliot_replay_get_rules_state(replay, 150, &length);
    check_eq(length, STATE_BYTES);
    foliot__reader r = foliot__reader_of(bytes, length);
    check_eq(foliot__read_u64(&r), 150);
    check_eq(foliot__read_u64(&r), s->seen[150]);
    foliot_verdict verdict;
    assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_OK);
    check_eq(verdict.status, FOLIOT_STATUS_OK);
    foliot_replay_close(replay);
}

// Saves `late` times too late at the start, and goes on after a crash at tick 90.
static void late_first_saves(uint32_t late, uint64_t first_state)
{
    s->counting.late = late;
    open_recording();
    while (foliot_world_get_tick(s->world) < 90)
        play_tick();
    foliot_recording_abandon(s->recording);
    s->recording = NULL;
    size_t length;
    uint64_t tick = 0;
    foliot_replay *replay = open_file();
    while (tick < 90 && !foliot_replay_get_rules_state(replay, tick, &length))
        tick++;
    check_eq(tick, first_state);
    foliot_replay_close(replay);
    foliot_world_destroy(s->world);
    foliot_scene_destroy(s->scene);
    foliot_error error = {.text = ""};
    foliot_recording_config config = recording_fixture_config(10, 60);
    foliot_recording_rules rules = rules_of(&s->counting);
    config.rules = &rules;
    s->counting = (counting){0};
    if (resume_world(s->file, &config, &s->recording, &s->scene, &s->world, &error) !=
        FOLIOT_STATUS_OK)
        fail_msg("%s", error.text);
    uint64_t last = foliot_world_get_tick(s->world); // of the last whole block
    check_gt(last, 79);
    check_eq(s->counting.seen, s->seen[last]);
    check_eq(s->counting.ran, last - (first_state < 60 ? first_state : 0));
    assert_int_equal(foliot_recording_close(s->recording, NULL), FOLIOT_STATUS_OK);
}

// The first save has a second try at once, and then one in each of the next ticks.
TEST_BETWEEN(a_late_first_save_is_tried_again, begin, end)
{
    late_first_saves(1, 0);
}

TEST_BETWEEN(a_late_first_save_is_tried_again_in_the_next_ticks, begin, end)
{
    late_first_saves(5, 2);
}

// Rules are run from tick 0 as they were created where no keyframe has their state.
TEST_BETWEEN(a_session_without_a_state_of_rules_goes_on, begin, end)
{
    late_first_saves(1000, 90);
}

// Played up to tick 150 with a state that is changed under right digests, and resumed.
static foliot_status resume_forged(uint64_t forged, bool stopped, foliot_error *error)
{
    s->recording = NULL;
    foliot_world_destroy(s->world);
    assert_int_equal(foliot_world_create(s->scene, &s->world, NULL), FOLIOT_STATUS_OK);
    s->counting = (counting){.forged = forged, .stopped = stopped};
    open_recording();
    while (foliot_world_get_tick(s->world) < 150)
        play_tick();
    foliot_recording_abandon(s->recording);
    s->recording = NULL;
    uint64_t seen = s->counting.seen;
    s->counting = (counting){0};
    foliot_recording_config config = recording_fixture_config(10, 60);
    foliot_recording_rules rules = rules_of(&s->counting);
    config.rules = &rules;
    foliot_recording *recording;
    foliot_scene *scene;
    foliot_world *world;
    foliot_status status = resume_world(s->file, &config, &recording, &scene, &world, error);
    if (status == FOLIOT_STATUS_OK) {
        check_eq(s->counting.seen, seen + stopped);
        assert_int_equal(foliot_recording_close(recording, NULL), FOLIOT_STATUS_OK);
        foliot_scene_destroy(scene);
        foliot_world_destroy(world);
    }
    return status;
}

TEST_BETWEEN(a_forged_state_is_not_gone_on_from, begin, end)
{
    foliot_error error = {.text = ""};
    check_eq(resume_forged(120, false, &error), FOLIOT_STATUS_DIVERGED);
    assert_non_null(strstr(error.text, " tick 120 "));
    check_eq(resume_forged(60, false, &error), FOLIOT_STATUS_DIVERGED);
    assert_non_null(strstr(error.text, " tick 120 "));
    error.text[0] = 0;
    check_eq(resume_forged(0, false, &error), FOLIOT_STATUS_OK);
    assert_string_equal(error.text, "");
}

// A stop by the host need not recur when the rules are run again.
TEST_BETWEEN(what_the_host_stopped_goes_on_as_it_was_stored, begin, end)
{
    foliot_error error = {.text = ""};
    check_eq(resume_forged(120, true, &error), FOLIOT_STATUS_OK);
}

// A file that was resumed right behind a keyframe has two of that tick.
TEST_BETWEEN(the_later_keyframe_of_a_tick_counts, begin, end)
{
    open_recording();
    while (foliot_world_get_tick(s->world) < 120)
        play_tick();
    foliot_recording_abandon(s->recording);
    s->recording = NULL;
    foliot_world_destroy(s->world);
    foliot_scene_destroy(s->scene);
    foliot_recording_config config = recording_fixture_config(10, 60);
    foliot_recording_rules rules = rules_of(&s->counting);
    foliot_error error = {.text = ""};
    config.rules = &rules;
    rules.tick = NULL; // the state of tick 120 is believed
    uint64_t seen = s->counting.seen;
    s->counting = (counting){.forged = 120};
    if (resume_world(s->file, &config, &s->recording, &s->scene, &s->world, &error) !=
        FOLIOT_STATUS_OK)
        fail_msg("%s", error.text);
    check_eq(s->counting.seen, seen);
    assert_int_equal(foliot_recording_close(s->recording, NULL), FOLIOT_STATUS_OK);
    size_t length = 0;
    foliot_replay *replay = open_file();
    const uint8_t *bytes = foliot_replay_get_rules_state(replay, 120, &length);
    check_eq(length, STATE_BYTES);
    foliot__reader r = foliot__reader_of(bytes, length);
    check_eq(foliot__read_u64(&r), 120);
    check_eq(foliot__read_u64(&r), seen + 1);
    foliot_replay_close(replay);
}

// Whoever reads them adds an offset to the pointer.
TEST_BETWEEN(empty_messages_have_a_pointer_to_bytes, begin, end)
{
    open_recording();
    assert_int_equal(foliot_recording_note_message(s->recording, 0, true, "", 0), FOLIOT_STATUS_OK);
    play_tick();
    assert_int_equal(foliot_recording_close(s->recording, NULL), FOLIOT_STATUS_OK);
    foliot_replay *replay = open_file();
    assert_int_equal(foliot_replay_step(replay), FOLIOT_STATUS_OK);
    check_eq(replay->content.messages.count, 1);
    assert_non_null(replay->content.messages.payload.bytes);
    foliot_replay_close(replay);
}

static foliot_status draw_commands(void *user, uint64_t now, foliot_command_list *commands)
{
    (void)user;
    s->counting.ticks = now;
    s->counting.seen = now * 7;
    decide();
    for (uint32_t i = 0; i < s->counting.command_count; i++)
        assert_int_equal(foliot_command_list_append(commands, &s->counting.commands[i]),
                         FOLIOT_STATUS_OK);
    return FOLIOT_STATUS_OK;
}

TEST_BETWEEN(the_harness_gives_commands, begin, end)
{
    foliot_harness_result result;
    foliot_harness_config config = foliot_harness_config_default();
    size_t length;
    assert_int_equal(foliot_scene_encode(s->scene, NULL, 0, &length), FOLIOT_STATUS_OK);
    uint8_t *setup = malloc(length);
    assert_int_equal(foliot_scene_encode(s->scene, setup, length, &length), FOLIOT_STATUS_OK);
    config.kind = &foliot_world_kind;
    config.setup = setup;
    config.setup_bytes = length;
    config.ticks = 100;
    config.players = 0;
    config.commands = draw_commands;
    assert_int_equal(foliot_harness_run(&config, &result), FOLIOT_STATUS_OK);
    for (int i = 0; i < FOLIOT_HARNESS_TEST_COUNT; i++)
        if (!result.row[i].passed)
            fail_msg("%s", result.row[i].text);
    check_gt(result.commands, 30);
    free(setup);
}
